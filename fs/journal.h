/* journal.h - syslog(3) as a second reader of the log, fed from the main thread, where blocking
 * does no harm. Apart from device/log.h because the two use the same names for levels.
 */
#ifndef FS_JOURNAL_H
#define FS_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "fs/growing.h"

struct journal {
	bool open;
	uint64_t offset; /* how much of the log it has */
};

void journal_open(struct journal *j);
/* journal_feed - send the lines that are new; nothing before journal_open. */
void journal_feed(struct journal *j, struct growing *log);

#endif
