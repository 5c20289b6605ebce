/* journal.c - see journal.h. */
#include "fs/journal.h"

#include <string.h>
#include <syslog.h>

void journal_open(struct journal *j)
{
	openlog("rx580fs", LOG_PID | LOG_NDELAY, LOG_DAEMON);
	j->open = true;
}

static int level_of(const char *line)
{
	if (strstr(line, ": error: "))
		return LOG_ERR;
	return strstr(line, ": warning: ") ? LOG_WARNING : LOG_INFO;
}

void journal_feed(struct journal *j, struct growing *log)
{
	char line[1025]; /* device/log.c writes at most 1024 bytes a line */
	size_t n;

	if (!j->open)
		return;
	if (growing_size(log) < j->offset)
		j->offset = 0; /* it was restarted */
	while ((n = growing_read(log, j->offset, line, sizeof(line) - 1)) > 0) {
		char *end = memchr(line, '\n', n);

		line[end ? (size_t)(end - line) : n] = '\0';
		j->offset += end ? (size_t)(end - line) + 1 : n;
		syslog(level_of(line), "%s", line);
	}
}
