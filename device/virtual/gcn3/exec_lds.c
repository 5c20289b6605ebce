/* exec_lds.c - per-lane LDS accesses. One workgroup runs on one host thread, so LDS needs no
 * atomics. */
#include "device/bytes.h"
#include "device/virtual/gcn3/lanes.h"

uint32_t gcn3_lds_limit(const struct gcn3_wave *w)
{
	/* GCN3 ISA 11.2: DS addresses are clamped by M0 */
	return MIN(w->group->lds_bytes, w->s[GCN3_OPERAND_M0]);
}

static enum gcn3_status misaligned(struct gcn3_wave *w, uint64_t address)
{
	w->fault_address = (uint64_t)w->group->shared_aperture_hi << 32 | (address & 0xffffffff);
	return GCN3_BAD_ADDRESS;
}

/* Highest address among the active lanes, and all address bits that occur. */
GCN3_WIDE
static uint32_t survey(const uint32_t *rel, const uint32_t *lanes, uint32_t *bits)
{
	uint32_t top = 0, any = 0;

	for (unsigned l = 0; l < GCN3_LANES; l++) {
		uint32_t v = rel[l] & lanes[l];

		top = v > top ? v : top;
		any |= v;
	}
	*bits = any;
	return top;
}

static inline uint32_t read_narrow(const uint8_t *p, enum gcn3_width width)
{
	return lanes_extend(width <= GCN3_S8 ? *p : get_le16(p), width);
}

/* All active lanes are in range. */
GCN3_WIDE
static void load_in_range(struct gcn3_wave *w, const struct gcn3_access *a, const uint32_t *lanes)
{
	const uint8_t *lds = w->group->lds + a->base;
	uint32_t(*rows)[GCN3_LANES] = w->v + a->reg;
	unsigned bytes = gcn3_access_bytes(a), first = (unsigned)__builtin_ctzll(a->mask);
	enum lanes_shape shape = lanes_classify(a->rel, lanes, a->mask, bytes);

	if (a->width != GCN3_DWORDS) {
		for (uint64_t left = a->mask; left; left &= left - 1) {
			unsigned l = (unsigned)__builtin_ctzll(left);

			rows[0][l] = read_narrow(lds + a->rel[l], a->width);
		}
	} else if (shape == LANES_PACKED) {
		lanes_unpack(rows, first, (unsigned)__builtin_popcountll(a->mask),
		        lds + a->rel[first], a->dwords);
	} else if (shape == LANES_UNIFORM) {
		const uint8_t *p = lds + a->rel[first];

		for (unsigned k = 0; k < a->dwords; k++)
			lanes_broadcast(rows[k], lanes, get_le32(p + 4 * k));
	} else if (a->mask == ~UINT64_C(0) && a->dwords == 4) {
		for (unsigned l = 0; l < GCN3_LANES; l += 4)
			lanes_transpose4(rows, l, lanes_get4(lds + a->rel[l]),
			        lanes_get4(lds + a->rel[l + 1]), lanes_get4(lds + a->rel[l + 2]),
			        lanes_get4(lds + a->rel[l + 3]));
	} else if (a->mask == ~UINT64_C(0) && a->dwords == 1) {
		for (unsigned l = 0; l < GCN3_LANES; l++)
			memcpy(&rows[0][l], lds + a->rel[l], 4);
	} else {
		for (uint64_t left = a->mask; left; left &= left - 1) {
			unsigned l = (unsigned)__builtin_ctzll(left);
			const uint8_t *p = lds + a->rel[l];

			for (unsigned k = 0; k < a->dwords; k++)
				memcpy(&rows[k][l], p + 4 * k, 4);
		}
	}
}

/* The sum wraps at 32 bits: clang folds offsets into bases that are negative (LLVM hasUsableDSOffset,
 * true from GFX7 on). */
static inline uint32_t lane_address(const struct gcn3_access *a, unsigned l)
{
	return (uint32_t)(a->base + a->rel[l]);
}

/* Some lanes are out of range: they read 0. */
static void load_checked(struct gcn3_wave *w, const struct gcn3_access *a, uint32_t limit)
{
	unsigned bytes = gcn3_access_bytes(a);

	for (uint64_t left = a->mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);
		uint32_t at = lane_address(a, l);
		const uint8_t *p = w->group->lds + at;
		bool ok = range_ok(at, bytes, limit);

		if (a->width != GCN3_DWORDS)
			w->v[a->reg][l] = ok ? read_narrow(p, a->width) : 0;
		else
			for (unsigned k = 0; k < a->dwords; k++)
				w->v[a->reg + k][l] = ok ? get_le32(p + 4 * k) : 0;
	}
}

enum gcn3_status gcn3_lds_load(
        struct gcn3_wave *w, const struct gcn3_access *a, uint32_t limit, unsigned align)
{
	uint32_t space[GCN3_LANES], bits, top;
	const uint32_t *lanes;

	if (!a->mask)
		return GCN3_OK;
	lanes = gcn3_lane_masks(w, a->mask, space);
	top = survey(a->rel, lanes, &bits);
	if ((bits | a->base) & (align - 1))
		return misaligned(w, a->base + top);
	if (range_ok(a->base + top, gcn3_access_bytes(a), limit))
		load_in_range(w, a, lanes);
	else
		load_checked(w, a, limit);
	return GCN3_OK;
}

static void store_lane(
        uint8_t *p, const struct gcn3_wave *w, const struct gcn3_access *a, unsigned l)
{
	if (a->width == GCN3_DWORDS)
		for (unsigned k = 0; k < a->dwords; k++)
			memcpy(p + 4 * k, &w->v[a->reg + k][l], 4);
	else
		memcpy(p, &w->v[a->reg][l], gcn3_access_bytes(a));
}

GCN3_WIDE
static bool store_at_once(struct gcn3_wave *w, const struct gcn3_access *a, const uint32_t *lanes)
{
	unsigned first = (unsigned)__builtin_ctzll(a->mask);

	if (a->width != GCN3_DWORDS ||
	        lanes_classify(a->rel, lanes, a->mask, 4 * a->dwords) != LANES_PACKED)
		return false;
	lanes_pack(w->group->lds + a->base + a->rel[first], w->v + a->reg, first,
	        (unsigned)__builtin_popcountll(a->mask), a->dwords);
	return true;
}

enum gcn3_status gcn3_lds_store(
        struct gcn3_wave *w, const struct gcn3_access *a, uint32_t limit, unsigned align)
{
	uint32_t space[GCN3_LANES], bits, top;
	unsigned bytes = gcn3_access_bytes(a);
	const uint32_t *lanes;

	if (!a->mask)
		return GCN3_OK;
	lanes = gcn3_lane_masks(w, a->mask, space);
	top = survey(a->rel, lanes, &bits);
	if ((bits | a->base) & (align - 1))
		return misaligned(w, a->base + top);
	if (range_ok(a->base + top, bytes, limit) && store_at_once(w, a, lanes))
		return GCN3_OK;
	for (uint64_t left = a->mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);
		uint32_t at = lane_address(a, l);

		if (range_ok(at, bytes, limit))
			store_lane(w->group->lds + at, w, a, l);
	}
	return GCN3_OK;
}
