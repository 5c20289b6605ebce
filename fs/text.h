/* text.h - a growing string for text nodes; running out of memory is remembered, not reported on
 * every line.
 */
#ifndef FS_TEXT_H
#define FS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *data;
	size_t len, cap;
	bool failed; /* out of memory: what is there is incomplete */
};

void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_append(struct text *t, const void *data, size_t len);
void text_free(struct text *t); /* also makes it empty again */
/* text_hash - FNV-1a of the first @len bytes: cheap "has it changed" for poll. */
uint64_t text_hash(const void *data, size_t len);

/* flat keyed lines, "KEY VALUE" (cgroup-v2.rst, "Interface Files") */
#define text_key(t, key, fmt, ...) text_printf(t, key " " fmt "\n", __VA_ARGS__)

#endif
