/* text.c - see text.h. */
#include "fs/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(struct text *t, size_t more)
{
	if (t->failed)
		return false;
	if (t->len + more <= t->cap)
		return true;

	size_t cap = t->cap ? t->cap : 256;

	while (cap < t->len + more)
		cap *= 2;
	char *data = realloc(t->data, cap);

	if (!data) {
		t->failed = true;
		return false;
	}
	t->data = data;
	t->cap = cap;
	return true;
}

void text_append(struct text *t, const void *data, size_t len)
{
	if (!len || !reserve(t, len + 1))
		return;
	memcpy(t->data + t->len, data, len);
	t->len += len;
	t->data[t->len] = '\0';
}

void text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !reserve(t, (size_t)n + 1))
		return;
	va_start(ap, fmt);
	vsnprintf(t->data + t->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	t->len += (size_t)n;
}

void text_free(struct text *t)
{
	free(t->data);
	*t = (struct text){0};
}

uint64_t text_hash(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = 0xcbf29ce484222325u; /* offset basis and prime: FNV-1a, draft-eastlake-fnv */

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3u;
	return h;
}
