/* log.c - see log.h. */
#include "device/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILTERS 16
#define MAX_LINE    1024

struct filter {
	char module[16];
	enum log_level level;
};

static const char *const level_names[] = {"error", "warn", "info", "debug", "trace"};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum log_level default_level = LOG_INFO;
static struct filter filters[MAX_FILTERS];
static int nfilters;
static bool to_stderr = true;
static void (*sink)(void *ctx, enum log_level level, const char *line, int len);
static void *sink_ctx;
static char last_error[MAX_LINE];

static bool enabled_locked(enum log_level level, const char *module)
{
	for (int i = 0; i < nfilters; i++)
		if (!strcmp(filters[i].module, module))
			return level <= filters[i].level;
	return level <= default_level;
}

bool rx_log_enabled(enum log_level level, const char *module)
{
	pthread_mutex_lock(&lock);
	bool on = enabled_locked(level, module);
	pthread_mutex_unlock(&lock);
	return on;
}

void rx_log(enum log_level level, const char *module, const char *fmt, ...)
{
	int saved = errno; /* rx_fail(module, -errno, ...) takes it after the line is written */
	char line[MAX_LINE];
	va_list ap;

	pthread_mutex_lock(&lock);
	if (!enabled_locked(level, module)) {
		pthread_mutex_unlock(&lock);
		return;
	}
	int n = snprintf(line, sizeof(line), "%s: %s", module,
	        level == LOG_ERROR ? "error: " : (level == LOG_WARN ? "warning: " : ""));
	va_start(ap, fmt);
	int m = vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, ap);
	va_end(ap);
	if (m < 0)
		m = 0;
	int len = n + m;
	if (len > (int)sizeof(line) - 2)
		len = (int)sizeof(line) - 2;
	if (level == LOG_ERROR) {
		memcpy(last_error, line, (size_t)len);
		last_error[len] = '\0';
	}
	line[len++] = '\n';
	line[len] = '\0';
	if (to_stderr)
		fwrite(line, 1, (size_t)len, stderr);
	if (sink)
		sink(sink_ctx, level, line, len);
	pthread_mutex_unlock(&lock);
	errno = saved;
}

int rx_log_set_level(const char *module, enum log_level level)
{
	int err = 0;

	pthread_mutex_lock(&lock);
	if (!module) {
		default_level = level;
		nfilters = 0;
	} else {
		int i = 0;
		while (i < nfilters && strcmp(filters[i].module, module))
			i++;
		if (i == MAX_FILTERS) {
			err = -ENOSPC;
		} else {
			if (i == nfilters)
				nfilters++;
			snprintf(filters[i].module, sizeof(filters[i].module), "%s", module);
			filters[i].level = level;
		}
	}
	pthread_mutex_unlock(&lock);
	return err;
}

void rx_log_set_stderr(bool on)
{
	pthread_mutex_lock(&lock);
	to_stderr = on;
	pthread_mutex_unlock(&lock);
}

void rx_log_set_sink(
        void (*fn)(void *ctx, enum log_level level, const char *line, int len), void *ctx)
{
	pthread_mutex_lock(&lock);
	sink = fn;
	sink_ctx = ctx;
	pthread_mutex_unlock(&lock);
}

void rx_log_last_error(char *buf, unsigned size)
{
	pthread_mutex_lock(&lock);
	snprintf(buf, size, "%s", last_error);
	pthread_mutex_unlock(&lock);
}

int rx_log_parse_level(const char *text)
{
	for (int i = 0; i < (int)(sizeof(level_names) / sizeof(level_names[0])); i++)
		if (!strcmp(text, level_names[i]) || (text[0] == '0' + i && !text[1]))
			return i;
	return -EINVAL;
}
