/* verbs.h - command nodes: lines of words matched against a static table (9p-cmdbuf.3's idea).
 * Pure parsing; what a verb does is the table's function.
 */
#ifndef FS_VERBS_H
#define FS_VERBS_H

#include <stddef.h>

#include "fs/text.h"

#define VERBS_MAX_ARGS 8

struct verb {
	const char *words; /* "reset soft": one or two words that must match; NULL ends a table */
	int min, max;      /* arguments after them */
	/* @argv: the arguments only. Return: 0 or -errno. */
	int (*fn)(void *ctx, int argc, char **argv);
	const char *usage; /* as printed: "reset soft", "loglevel [MODULE] LEVEL" */
	const char *help;
};

/* verbs_run - execute the lines in @data in order; the last one may lack its newline. Blank lines
 * are skipped. A line is done entirely or not at all; the first bad one stops with its error, which
 * is also logged with the line quoted. Return: 0; -EINVAL unknown verb, wrong number of words, NUL
 * byte; what the verb returned. @done: bytes of the lines done before (0 the first time) and now,
 * so that a verb which has to wait can be called again.
 */
int verbs_run(const struct verb *table, void *ctx, const char *data, size_t len, size_t *done);
/* verbs_help - what reading a command node shows. */
void verbs_help(const struct verb *table, struct text *out);

#endif
