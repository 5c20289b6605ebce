/* exec_lds.c - per-lane LDS accesses. One workgroup runs on one host thread, so LDS needs no
 * atomics. */
#include "device/bytes.h"
#include "device/virtual/gcn3/lanes.h"

uint32_t gcn3_lds_limit(const struct gcn3_wave *w)
{
	/* GCN3 ISA 11.2: DS addresses are clamped by M0 */
	return MIN(w->group->lds_bytes, w->s[GCN3_OPERAND_M0]);
}

static enum gcn3_status misaligned(struct gcn3_wave *w, uint32_t address)
{
	w->fault_address = (uint64_t)w->group->shared_aperture_hi << 32 | address;
	return GCN3_BAD_ADDRESS;
}

/* Each lane's address, in @at. The sum wraps at 32 bits: clang folds offsets into bases that are
 * negative (LLVM hasUsableDSOffset, true from GFX7 on).
 * Return: the highest among the active lanes, and all address bits that occur. */
static GCN3_INLINE uint32_t survey(
        const struct gcn3_access *a, const uint32_t *lanes, uint32_t *at, uint32_t *bits)
{
	uint32_t top = 0, any = 0, base = (uint32_t)a->base;

	for (unsigned l = 0; l < GCN3_LANES; l++) {
		uint32_t v = base + a->rel[l];

		at[l] = v;
		v &= lanes[l];
		top = v > top ? v : top;
		any |= v;
	}
	*bits = any;
	return top;
}

static GCN3_INLINE void load_lane(
        struct gcn3_wave *w, const struct gcn3_access *a, const uint8_t *p, unsigned l)
{
	switch (a->width) {
	case GCN3_U8:
	case GCN3_S8: w->v[a->reg][l] = lanes_extend(*p, a->width); return;
	case GCN3_U16:
	case GCN3_S16: w->v[a->reg][l] = lanes_extend(get_le16(p), a->width); return;
	case GCN3_DWORDS: break;
	}
	for (unsigned k = 0; k < a->dwords; k++)
		memcpy(&w->v[a->reg + k][l], p + 4 * k, 4);
}

/* All lanes, whatever their addresses. */
static GCN3_INLINE void load_all(
        uint32_t (*rows)[GCN3_LANES], const uint8_t *lds, const uint32_t *at, unsigned dwords)
{
	if (dwords == 4)
		for (unsigned l = 0; l < GCN3_LANES; l += 4)
			lanes_transpose4(rows, l, lanes_get4(lds + at[l]),
			        lanes_get4(lds + at[l + 1]), lanes_get4(lds + at[l + 2]),
			        lanes_get4(lds + at[l + 3]));
	else
		for (unsigned l = 0; l < GCN3_LANES; l++)
			for (unsigned k = 0; k < dwords; k++)
				memcpy(&rows[k][l], lds + at[l] + 4 * k, 4);
}

/* Dwords, all active lanes in range. Return: false when their pattern is none of the fast ones. */
static GCN3_INLINE bool load_at_once(
        struct gcn3_wave *w, const struct gcn3_access *a, const uint32_t *at, const uint32_t *lanes)
{
	uint32_t(*rows)[GCN3_LANES] = w->v + a->reg;
	const uint8_t *first = w->group->lds + at[__builtin_ctzll(a->mask)];

	switch (lanes_classify(at, lanes, a->mask, 4 * a->dwords)) {
	case LANES_PACKED:
		lanes_unpack(rows, (unsigned)__builtin_ctzll(a->mask),
		        (unsigned)__builtin_popcountll(a->mask), first, a->dwords);
		return true;
	case LANES_UNIFORM:
		for (unsigned k = 0; k < a->dwords; k++)
			lanes_broadcast(rows[k], lanes, get_le32(first + 4 * k));
		return true;
	case LANES_SCATTERED: break;
	}
	if (a->mask != ~UINT64_C(0))
		return false;
	load_all(rows, w->group->lds, at, a->dwords);
	return true;
}

GCN3_WIDE
enum gcn3_status gcn3_lds_load(
        struct gcn3_wave *w, const struct gcn3_access *a, uint32_t limit, unsigned align)
{
	uint32_t space[GCN3_LANES], at[GCN3_LANES], bits, top;
	unsigned bytes = gcn3_access_bytes(a);
	const uint32_t *lanes;

	if (!a->mask)
		return GCN3_OK;
	lanes = gcn3_lane_masks(w, a->mask, space);
	top = survey(a, lanes, at, &bits);
	if (bits & (align - 1))
		return misaligned(w, top);
	if (a->width == GCN3_DWORDS && range_ok(top, bytes, limit) && load_at_once(w, a, at, lanes))
		return GCN3_OK;
	for (uint64_t left = a->mask; left; left &= left - 1) {
		static const uint8_t zeros[16];
		unsigned l = (unsigned)__builtin_ctzll(left);

		load_lane(w, a, range_ok(at[l], bytes, limit) ? w->group->lds + at[l] : zeros, l);
	}
	return GCN3_OK;
}

static GCN3_INLINE void store_lane(
        uint8_t *p, const struct gcn3_wave *w, const struct gcn3_access *a, unsigned l)
{
	if (a->width == GCN3_DWORDS)
		for (unsigned k = 0; k < a->dwords; k++)
			memcpy(p + 4 * k, &w->v[a->reg + k][l], 4);
	else
		memcpy(p, &w->v[a->reg][l], gcn3_access_bytes(a));
}

/* As load_at_once(). Lanes that store to one address do so in ascending order. */
static GCN3_INLINE bool store_at_once(
        struct gcn3_wave *w, const struct gcn3_access *a, const uint32_t *at, const uint32_t *lanes)
{
	uint8_t *lds = w->group->lds;
	unsigned first = (unsigned)__builtin_ctzll(a->mask);

	if (lanes_classify(at, lanes, a->mask, 4 * a->dwords) == LANES_PACKED) {
		lanes_pack(lds + at[first], w->v + a->reg, first,
		        (unsigned)__builtin_popcountll(a->mask), a->dwords);
		return true;
	}
	if (a->mask != ~UINT64_C(0))
		return false;
	for (unsigned l = 0; l < GCN3_LANES; l++)
		for (unsigned k = 0; k < a->dwords; k++)
			memcpy(lds + at[l] + 4 * k, &w->v[a->reg + k][l], 4);
	return true;
}

GCN3_WIDE
enum gcn3_status gcn3_lds_store(
        struct gcn3_wave *w, const struct gcn3_access *a, uint32_t limit, unsigned align)
{
	uint32_t space[GCN3_LANES], at[GCN3_LANES], bits, top;
	unsigned bytes = gcn3_access_bytes(a);
	const uint32_t *lanes;

	if (!a->mask)
		return GCN3_OK;
	lanes = gcn3_lane_masks(w, a->mask, space);
	top = survey(a, lanes, at, &bits);
	if (bits & (align - 1))
		return misaligned(w, top);
	if (a->width == GCN3_DWORDS && range_ok(top, bytes, limit) &&
	        store_at_once(w, a, at, lanes))
		return GCN3_OK;
	for (uint64_t left = a->mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);

		if (range_ok(at[l], bytes, limit))
			store_lane(w->group->lds + at[l], w, a, l);
	}
	return GCN3_OK;
}
