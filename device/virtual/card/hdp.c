/* hdp.c - host data path: what lies between BAR0 (and MM_DATA) and VRAM.
 *
 * Write buffer: host writes stay here, by 64-byte line with a mask of the bytes written, until a
 * flush puts them into DRAM line by line in random order (resident-plans.md 15.3). When two lines
 * compete for a slot the older one drains early, as a real buffer of finite size would. Read cache:
 * a line read once is served from here until an invalidate (HDP_DEBUG0, polaris.md 3.5). Choice:
 * the host always sees its own writes. It reads the cached line overlaid with the write buffer, and
 * a write also updates the cached line, so that flushing does not bring back what was there before.
 * What stays stale for the host is only what the card wrote.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/virtual/card/card_priv.h"

#define HDP_LINE  64u
#define HDP_SLOTS 65536u /* 4 MiB each way */

struct hdp_line {
	uint64_t line; /* VRAM offset / 64 */
	uint64_t mask; /* write buffer: bytes written */
	uint8_t data[HDP_LINE];
};

struct card_hdp {
	struct vmem *mem;
	struct hdp_line *write, *read;
	uint32_t *dirty; /* slots in use of the write buffer */
	uint32_t ndirty;
	uint64_t generation; /* of the read cache; a slot's mask field holds the generation it was
	                        filled in */
	uint64_t random;
};

int card_hdp_new(struct card_hdp **out, struct vmem *mem)
{
	struct card_hdp *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->mem = mem;
	h->write = calloc(HDP_SLOTS, sizeof(*h->write));
	h->read = calloc(HDP_SLOTS, sizeof(*h->read));
	h->dirty = calloc(HDP_SLOTS, sizeof(*h->dirty));
	h->random = now_ns() | 1;
	h->generation = 1;
	if (!h->write || !h->read || !h->dirty) {
		card_hdp_free(h);
		return -ENOMEM;
	}
	*out = h;
	return 0;
}

void card_hdp_free(struct card_hdp *h)
{
	if (!h)
		return;
	free(h->write);
	free(h->read);
	free(h->dirty);
	free(h);
}

/* xorshift64: the order of a flush need only be unlike the order of the writes */
static uint64_t next_random(struct card_hdp *h)
{
	h->random ^= h->random << 13;
	h->random ^= h->random >> 7;
	h->random ^= h->random << 17;
	return h->random;
}

/* Fibonacci hashing, so that buffers a power of two apart do not compete */
static uint32_t slot_of(uint64_t line)
{
	return (uint32_t)(line * 0x9E3779B97F4A7C15u >> 48);
}

static void drain(struct card_hdp *h, struct hdp_line *l)
{
	for (unsigned i = 0; i < HDP_LINE;) {
		unsigned end = i;

		while (end < HDP_LINE && l->mask & 1ull << end)
			end++;
		if (end > i)
			vmem_dram_write(h->mem, l->line * HDP_LINE + i, l->data + i, end - i);
		i = end + 1;
	}
	l->mask = 0;
}

void card_hdp_reset(struct card_hdp *h)
{
	for (uint32_t i = 0; i < h->ndirty; i++)
		h->write[h->dirty[i]].mask = 0;
	h->ndirty = 0;
	h->generation++;
}

void card_hdp_flush(struct card_hdp *h)
{
	while (h->ndirty) {
		uint32_t i = (uint32_t)(next_random(h) % h->ndirty);

		drain(h, &h->write[h->dirty[i]]);
		h->dirty[i] = h->dirty[--h->ndirty];
	}
}

void card_hdp_invalidate(struct card_hdp *h)
{
	h->generation++;
}

int card_hdp_write(struct card_hdp *h, uint64_t off, unsigned byte_enables, uint32_t data)
{
	uint64_t line = off / HDP_LINE;
	uint32_t slot = slot_of(line);
	struct hdp_line *w = &h->write[slot], *r = &h->read[slot];
	bool cached = r->mask == h->generation && r->line == line;

	if (!range_ok(off, 4, vmem_size(h->mem)))
		return -EFAULT;
	if (!byte_enables)
		return 0;
	if (w->mask && w->line != line)
		drain(h, w);
	else if (!w->mask)
		h->dirty[h->ndirty++] = slot;
	w->line = line;
	for (unsigned i = 0; i < 4; i++) {
		unsigned at = (unsigned)(off % HDP_LINE) + i;

		if (!(byte_enables & 1u << i))
			continue;
		w->data[at] = (uint8_t)(data >> 8 * i);
		w->mask |= 1ull << at;
		if (cached)
			r->data[at] = w->data[at];
	}
	return 0;
}

int card_hdp_read(struct card_hdp *h, uint64_t off, uint32_t *data)
{
	uint64_t line = off / HDP_LINE;
	uint32_t slot = slot_of(line);
	struct hdp_line *w = &h->write[slot], *r = &h->read[slot];
	unsigned at = (unsigned)(off % HDP_LINE);

	if (!range_ok(off, 4, vmem_size(h->mem)))
		return -EFAULT;
	if (r->mask != h->generation || r->line != line) {
		vmem_dram_read(h->mem, line * HDP_LINE, r->data, HDP_LINE);
		for (unsigned i = 0; w->line == line && i < HDP_LINE; i++)
			if (w->mask & 1ull << i)
				r->data[i] = w->data[i];
		r->line = line;
		r->mask = h->generation;
	}
	*data = get_le32(r->data + at);
	return 0;
}
