/* growing.h - an append-only text with real offsets: the `log` node, `loss`. Any thread; a lock of
 * its own that is never held while anything blocks, so the log's sink may append.
 */
#ifndef FS_GROWING_H
#define FS_GROWING_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct growing {
	pthread_mutex_t lock;
	char *data;
	size_t len, cap, limit; /* past @limit it starts again at 0, as a rotated log does */
};

void growing_init(struct growing *g, size_t limit);
void growing_fini(struct growing *g);
/* growing_append - without memory the line is dropped; a log must not take the daemon down. */
void growing_append(struct growing *g, const char *data, size_t len);
size_t growing_size(struct growing *g);
/* growing_read - Return: bytes copied; 0 at or past the end. */
size_t growing_read(struct growing *g, uint64_t offset, void *buf, size_t len);

#endif
