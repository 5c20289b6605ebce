/* cp_fetch.c - how packets get from memory into the command processor: ahead of execution, in
 * chunks, and they stay as they were fetched (resident-plans.md 2, 15.1).
 */
#include <errno.h>
#include <stdlib.h>

#include "device/bytes.h"
#include "device/virtual/card/card_priv.h"

#define CHUNK 256u /* dwords: resident-plans.md 15.1 */

int card_cp_stream_open(
        struct card_stream *s, uint64_t base, uint64_t size, bool ring, bool uncached)
{
	if (size > s->capacity) {
		uint32_t *data = realloc(s->data, size * sizeof(*data));

		if (!data)
			return -ENOMEM;
		s->data = data;
		s->capacity = size;
	}
	s->base = base;
	s->size = size;
	s->ring = ring;
	s->uncached = uncached;
	s->pos = s->fetched = 0;
	s->limit = ring ? 0 : size;
	return 0;
}

void card_cp_stream_free(struct card_stream *s)
{
	free(s->data);
	*s = (struct card_stream){0};
}

void card_cp_stream_refetch(struct card_stream *s)
{
	s->fetched = s->pos;
}

/* MTYPE UC fetches bypass L2; any other type is answered by L2 where it holds the page
 * (resident-plans.md 1). */
static void load(
        struct vcard *c, const struct card_stream *s, uint64_t off, uint32_t *out, uint64_t dwords)
{
	while (dwords) {
		uint64_t n = MIN(dwords, (VMEM_PAGE_SIZE - off % VMEM_PAGE_SIZE) / 4);

		if (!s->uncached && vmem_l2_present(c->mem, off))
			vmem_l2_read(c->mem, off, out, n * 4);
		else
			vmem_dram_read(c->mem, off, out, n * 4);
		off += n * 4;
		out += n;
		dwords -= n;
	}
}

/* fetch - everything up to @target, in pieces that end at chunk borders and at the ring end. */
static void fetch(struct vcard *c, struct card_stream *s, uint64_t target)
{
	while (s->fetched < target) {
		uint64_t at = s->ring ? s->fetched & (s->size - 1) : s->fetched;
		uint64_t n = MIN(CHUNK - at % CHUNK, target - s->fetched);

		n = MIN(n, s->size - at);
		load(c, s, s->base + at * 4, s->data + at, n);
		s->fetched += n;
	}
}

bool card_cp_stream_want(struct vcard *c, struct card_stream *s, uint64_t count)
{
	uint64_t end = s->pos + count;

	if (end > s->limit)
		return false;
	if (s->fetched < end) /* this chunk and one ahead */
		fetch(c, s, MIN(s->limit, align_up(end, CHUNK) + CHUNK));
	return true;
}
