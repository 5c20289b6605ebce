/* verbs.c - see verbs.h. */
#include "fs/verbs.h"

#include <string.h>

#include "device/err.h"

/* Split @line at blanks in place. Return: words found, or -1 when there are too many. */
static int split(char *line, char **words, int max)
{
	int n = 0;
	char *save = NULL;

	for (char *w = strtok_r(line, " \t\r", &save); w; w = strtok_r(NULL, " \t\r", &save)) {
		if (n == max)
			return -1;
		words[n++] = w;
	}
	return n;
}

/* How many words of the line the verb's name takes; 0 when it does not match. */
static int match(const struct verb *v, char **words, int n)
{
	const char *at = v->words;

	for (int i = 0; i < n; i++) {
		size_t len = strcspn(at, " ");

		if (strlen(words[i]) != len || memcmp(words[i], at, len) != 0)
			return 0;
		at += len;
		if (!*at)
			return i + 1;
		at++;
	}
	return 0;
}

static int run_line(const struct verb *table, void *ctx, const char *line, size_t len)
{
	RX_CLEANUP(free) char *copy = strndup(line, len);
	char *words[VERBS_MAX_ARGS + 2];

	if (!copy)
		return -ENOMEM;
	if (strlen(copy) != len)
		return rx_fail("fs", -EINVAL, "a command line contains a NUL byte");
	int n = split(copy, words, VERBS_MAX_ARGS + 2);
	if (n == 0)
		return 0;
	if (n < 0)
		return rx_fail("fs", -EINVAL, "too many words in \"%.*s\"",
		        len > 80 ? 80 : (int)len, line);
	for (const struct verb *v = table; v->words; v++) {
		int used = match(v, words, n);

		if (!used)
			continue;
		if (n - used < v->min || n - used > v->max)
			return rx_fail("fs", -EINVAL, "\"%.*s\": usage is \"%s\"", (int)len, line,
			        v->usage);
		return v->fn(ctx, n - used, words + used);
	}
	return rx_fail("fs", -EINVAL, "unknown command \"%.*s\"; read the node for the list",
	        len > 80 ? 80 : (int)len, line);
}

int verbs_run(const struct verb *table, void *ctx, const char *data, size_t len, size_t *done)
{
	while (*done < len) {
		const char *line = data + *done, *nl = memchr(line, '\n', len - *done);
		size_t n = nl ? (size_t)(nl - line) : len - *done;
		int err = run_line(table, ctx, line, n);

		if (err)
			return err;
		*done += n + (nl ? 1 : 0);
	}
	return 0;
}

void verbs_help(const struct verb *table, struct text *out)
{
	for (const struct verb *v = table; v->words; v++)
		text_printf(out, "%-28s %s\n", v->usage, v->help);
}
