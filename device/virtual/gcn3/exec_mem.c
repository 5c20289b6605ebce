/* exec_mem.c - per-lane VRAM accesses: patterns that real kernels use are moved at once, the rest
 * lane by lane. */
#include "device/bytes.h"
#include "device/virtual/gcn3/lanes.h"

const uint32_t *gcn3_lane_masks(struct gcn3_wave *w, uint64_t mask, uint32_t *space)
{
	if (mask == gcn3_exec(w))
		return gcn3_exec_lanes(w);
	for (unsigned l = 0; l < GCN3_LANES; l++)
		space[l] = (uint32_t)0 - (uint32_t)(mask >> l & 1);
	return space;
}

static enum gcn3_status bad_address(struct gcn3_wave *w, uint64_t off)
{
	w->fault_address = off + w->group->fb_base;
	return GCN3_BAD_ADDRESS;
}

static inline const uint8_t *page_of(struct gcn3_wave *w, uint64_t off, bool glc)
{
	return glc ? vmem_load_l2(w->l1, off) : vmem_load_fast(w->l1, off);
}

/* @len bytes at @off, in place when they lie in one page, else collected in @space. The range was
 * checked. */
static const uint8_t *fetch(struct gcn3_wave *w, uint64_t off, size_t len, bool glc, uint8_t *space)
{
	size_t head = VMEM_PAGE_SIZE - (off & (VMEM_PAGE_SIZE - 1));

	if (len <= head)
		return page_of(w, off, glc);
	vmem_copy(space, page_of(w, off, glc), head);
	vmem_copy(space + head, page_of(w, off + head, glc), len - head);
	return space;
}

static inline uint32_t get_narrow(const uint8_t *p, enum gcn3_width width)
{
	uint16_t v = 0;

	vmem_copy(&v, p, width <= GCN3_S8 ? 1 : 2);
	return lanes_extend(v, width);
}

static enum gcn3_status load_scattered(struct gcn3_wave *w, const struct gcn3_access *a)
{
	unsigned bytes = gcn3_access_bytes(a);
	uint32_t(*rows)[GCN3_LANES] = w->v + a->reg;
	uint8_t space[16];

	/* rows of a matrix: without this, one host cache miss after the other */
	for (uint64_t left = a->mask; left; left &= left - 1)
		vmem_prefetch(w->l1, a->base + a->rel[__builtin_ctzll(left)]);
	for (uint64_t left = a->mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);
		uint64_t off = a->base + a->rel[l];
		const uint8_t *p;

		if (!range_ok(off, bytes, w->group->fb_size))
			return bad_address(w, off);
		p = fetch(w, off, bytes, a->glc, space);
		if (a->width != GCN3_DWORDS)
			rows[0][l] = get_narrow(p, a->width);
		else
			for (unsigned k = 0; k < a->dwords; k++)
				rows[k][l] = vmem_get32(p + 4 * k);
	}
	return GCN3_OK;
}

GCN3_WIDE
static enum gcn3_status load_uniform(
        struct gcn3_wave *w, const struct gcn3_access *a, const uint32_t *lanes)
{
	uint64_t off = a->base + a->rel[__builtin_ctzll(a->mask)];
	unsigned bytes = gcn3_access_bytes(a);
	uint8_t space[16];
	uint32_t value[4];

	if (!range_ok(off, bytes, w->group->fb_size))
		return bad_address(w, off);
	if (a->width != GCN3_DWORDS)
		value[0] = get_narrow(fetch(w, off, bytes, a->glc, space), a->width);
	else
		vmem_copy(value, fetch(w, off, bytes, a->glc, space), bytes);
	for (unsigned k = 0; k < a->dwords; k++)
		lanes_broadcast(w->v[a->reg + k], lanes, value[k]);
	return GCN3_OK;
}

GCN3_WIDE
static enum gcn3_status load_packed(struct gcn3_wave *w, const struct gcn3_access *a)
{
	unsigned first = (unsigned)__builtin_ctzll(a->mask), bytes = gcn3_access_bytes(a);
	unsigned n = (unsigned)__builtin_popcountll(a->mask);
	uint64_t off = a->base + a->rel[first];
	uint8_t space[16 * GCN3_LANES];
	const uint8_t *p;

	if (!range_ok(off, n * bytes, w->group->fb_size))
		return load_scattered(w, a); /* which names the lane */
	p = fetch(w, off, n * bytes, a->glc, space);
	if (a->width == GCN3_DWORDS)
		lanes_unpack(w->v + a->reg, first, n, p, a->dwords);
	else
		for (unsigned i = 0; i < n; i++)
			w->v[a->reg][first + i] = get_narrow(p + i * bytes, a->width);
	return GCN3_OK;
}

GCN3_WIDE
static enum lanes_shape classify(
        const uint32_t *rel, const uint32_t *lanes, uint64_t mask, uint32_t bytes)
{
	return lanes_classify(rel, lanes, mask, bytes);
}

enum gcn3_status gcn3_vram_load(struct gcn3_wave *w, const struct gcn3_access *a)
{
	uint32_t space[GCN3_LANES];
	const uint32_t *lanes;

	if (!a->mask)
		return GCN3_OK;
	lanes = gcn3_lane_masks(w, a->mask, space);
	switch (classify(a->rel, lanes, a->mask, gcn3_access_bytes(a))) {
	case LANES_UNIFORM: return load_uniform(w, a, lanes);
	case LANES_PACKED: return load_packed(w, a);
	case LANES_SCATTERED: break;
	}
	return load_scattered(w, a);
}

/* @len bytes that may run over page ends, of a range that was checked */
static void store_run(struct gcn3_wave *w, uint64_t off, const uint8_t *data, size_t len)
{
	for (size_t n; len; off += n, data += n, len -= n) {
		n = MIN(len, VMEM_PAGE_SIZE - (off & (VMEM_PAGE_SIZE - 1)));
		vmem_store(w->l1, off, data, n);
	}
}

GCN3_WIDE
static void store_packed(struct gcn3_wave *w, const struct gcn3_access *a, uint64_t off)
{
	unsigned first = (unsigned)__builtin_ctzll(a->mask), bytes = gcn3_access_bytes(a);
	unsigned n = (unsigned)__builtin_popcountll(a->mask);
	const uint32_t *row = &w->v[a->reg][first];
	uint8_t space[16 * GCN3_LANES];

	if (a->width == GCN3_DWORDS && a->dwords == 1) {
		store_run(w, off, (const uint8_t *)row, 4 * n);
		return;
	}
	if (a->width == GCN3_DWORDS)
		lanes_pack(space, w->v + a->reg, first, n, a->dwords);
	else if (bytes == 1)
		for (unsigned i = 0; i < n; i++)
			space[i] = (uint8_t)row[i];
	else
		for (unsigned i = 0; i < n; i++)
			put_le16(space + 2 * i, (uint16_t)row[i]);
	store_run(w, off, space, n * bytes);
}

static enum gcn3_status store_scattered(struct gcn3_wave *w, const struct gcn3_access *a)
{
	unsigned bytes = gcn3_access_bytes(a);
	uint32_t data[GCN3_LANES][4];

	for (uint64_t left = a->mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);

		if (!range_ok(a->base + a->rel[l], bytes, w->group->fb_size))
			return bad_address(w, a->base + a->rel[l]);
		for (unsigned k = 0; k < a->dwords; k++)
			data[l][k] = w->v[a->reg + k][l];
	}
	vmem_scatter(w->l1, a->base, a->rel, a->mask, (const uint32_t(*)[4])data, bytes);
	return GCN3_OK;
}

enum gcn3_status gcn3_vram_store(struct gcn3_wave *w, const struct gcn3_access *a)
{
	uint32_t space[GCN3_LANES];
	unsigned bytes = gcn3_access_bytes(a);
	uint64_t off;

	if (!a->mask)
		return GCN3_OK;
	off = a->base + a->rel[__builtin_ctzll(a->mask)];
	if (classify(a->rel, gcn3_lane_masks(w, a->mask, space), a->mask, bytes) != LANES_PACKED ||
	        !range_ok(off, (unsigned)__builtin_popcountll(a->mask) * bytes, w->group->fb_size))
		return store_scattered(w, a);
	store_packed(w, a, off);
	return GCN3_OK;
}

static uint64_t lane_value(const struct gcn3_wave *w, unsigned reg, unsigned lane, unsigned bytes)
{
	return bytes == 4 ? w->v[reg][lane] : w->v[reg][lane] | (uint64_t)w->v[reg + 1][lane] << 32;
}

enum gcn3_status gcn3_vram_atomic(struct gcn3_wave *w, const struct gcn3_access *a,
        enum vmem_atomic op, unsigned bytes, int old)
{
	for (uint64_t left = a->mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);
		uint64_t off = a->base + a->rel[l], before, data, compare = 0;

		data = lane_value(w, a->reg, l, bytes);
		if (op == VMEM_ATOMIC_CMPSWAP)
			compare = lane_value(w, a->reg + bytes / 4, l, bytes);
		if (!range_ok(off, bytes, w->group->fb_size) ||
		        vmem_client_atomic(w->l1, op, bytes, off, data, compare, &before))
			return bad_address(w, off);
		if (old < 0)
			continue;
		w->v[old][l] = (uint32_t)before;
		if (bytes == 8)
			w->v[old + 1][l] = (uint32_t)(before >> 32);
	}
	return GCN3_OK;
}
