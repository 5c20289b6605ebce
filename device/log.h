/* log.h - the one log of the process: one line an event, "module: text".
 * Thread safe. Sinks: stderr (or syslog after backgrounding) and an optional line callback (the
 * `log` node).
 */
#ifndef RX_LOG_H
#define RX_LOG_H

#include <stdarg.h>
#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE };

/* rx_log - write one line. @module: short lower-case tag. The text has no trailing newline. Leaves
 * errno as it was. */
void rx_log(enum log_level level, const char *module, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

/* rx_log_set_level - what is let through. @module: NULL for all, else only that module (at most 16
 * of them). Return: 0; -ENOSPC too many module filters.
 */
int rx_log_set_level(const char *module, enum log_level level);

/* rx_log_enabled - whether a line of this level would be written; guards costly arguments. */
bool rx_log_enabled(enum log_level level, const char *module);

/* rx_log_set_stderr - @on: false silences stderr (after backgrounding). Default on. */
void rx_log_set_stderr(bool on);

/* rx_log_set_sink - @fn gets every line that passes the filter, with level and text, newline
 * included. Called with the log's lock held: must not log, must not block. NULL removes it.
 */
void rx_log_set_sink(
        void (*fn)(void *ctx, enum log_level level, const char *line, int len), void *ctx);

/* rx_log_last_error - copy the newest error line (empty string when none) into @buf of @size bytes.
 */
void rx_log_last_error(char *buf, unsigned size);

/* Parse "error", "warn", "info", "debug", "trace" or 0..4. Return: level; -EINVAL. */
int rx_log_parse_level(const char *text);

#endif
