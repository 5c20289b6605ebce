/* growing.c - see growing.h. */
#include "fs/growing.h"

#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"

void growing_init(struct growing *g, size_t limit)
{
	*g = (struct growing){.limit = limit};
	pthread_mutex_init(&g->lock, NULL);
}

void growing_fini(struct growing *g)
{
	pthread_mutex_destroy(&g->lock);
	free(g->data);
	*g = (struct growing){0};
}

void growing_append(struct growing *g, const char *data, size_t len)
{
	pthread_mutex_lock(&g->lock);
	if (g->len + len > g->limit)
		g->len = 0;
	if (g->len + len > g->cap) {
		size_t cap = MAX(g->cap * 2, g->len + len + 4096);
		char *p = realloc(g->data, cap);

		if (p) {
			g->data = p;
			g->cap = cap;
		}
	}
	if (g->len + len <= g->cap) {
		memcpy(g->data + g->len, data, len);
		g->len += len;
	}
	pthread_mutex_unlock(&g->lock);
}

size_t growing_size(struct growing *g)
{
	pthread_mutex_lock(&g->lock);
	size_t len = g->len;
	pthread_mutex_unlock(&g->lock);
	return len;
}

size_t growing_read(struct growing *g, uint64_t offset, void *buf, size_t len)
{
	size_t n = 0;

	pthread_mutex_lock(&g->lock);
	if (offset < g->len) {
		n = MIN(len, g->len - (size_t)offset);
		memcpy(buf, g->data + offset, n);
	}
	pthread_mutex_unlock(&g->lock);
	return n;
}
