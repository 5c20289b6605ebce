/* exec_flat.c - FLAT loads, stores and atomics. The high word of a lane's address decides where it
 * goes: LDS aperture, scratch aperture, else VRAM. Lanes are served in sets that share it. Source:
 * GCN3 ISA manual, chapter 9; polaris.md 9.4.
 */
#include "device/bytes.h"
#include "device/virtual/gcn3/lanes.h"

struct flat_op {
	enum { FLAT_BAD, FLAT_LOAD, FLAT_STORE, FLAT_ATOMIC } kind;
	unsigned dwords; /* loads and stores; atomics: dwords of the operand */
	enum gcn3_width width;
	enum vmem_atomic atomic;
};

static struct flat_op flat_classify(unsigned op)
{
	switch (op) {
	case GCN3_FLAT_LOAD_UBYTE: return (struct flat_op){FLAT_LOAD, 1, GCN3_U8, 0};
	case GCN3_FLAT_LOAD_SBYTE: return (struct flat_op){FLAT_LOAD, 1, GCN3_S8, 0};
	case GCN3_FLAT_LOAD_USHORT: return (struct flat_op){FLAT_LOAD, 1, GCN3_U16, 0};
	case GCN3_FLAT_LOAD_SSHORT: return (struct flat_op){FLAT_LOAD, 1, GCN3_S16, 0};
	case GCN3_FLAT_LOAD_DWORD: return (struct flat_op){FLAT_LOAD, 1, GCN3_DWORDS, 0};
	case GCN3_FLAT_LOAD_DWORDX2: return (struct flat_op){FLAT_LOAD, 2, GCN3_DWORDS, 0};
	case GCN3_FLAT_LOAD_DWORDX3: return (struct flat_op){FLAT_LOAD, 3, GCN3_DWORDS, 0};
	case GCN3_FLAT_LOAD_DWORDX4: return (struct flat_op){FLAT_LOAD, 4, GCN3_DWORDS, 0};
	case GCN3_FLAT_STORE_BYTE: return (struct flat_op){FLAT_STORE, 1, GCN3_U8, 0};
	case GCN3_FLAT_STORE_SHORT: return (struct flat_op){FLAT_STORE, 1, GCN3_U16, 0};
	case GCN3_FLAT_STORE_DWORD: return (struct flat_op){FLAT_STORE, 1, GCN3_DWORDS, 0};
	case GCN3_FLAT_STORE_DWORDX2: return (struct flat_op){FLAT_STORE, 2, GCN3_DWORDS, 0};
	case GCN3_FLAT_STORE_DWORDX3: return (struct flat_op){FLAT_STORE, 3, GCN3_DWORDS, 0};
	case GCN3_FLAT_STORE_DWORDX4: return (struct flat_op){FLAT_STORE, 4, GCN3_DWORDS, 0};
#define ATOMIC(NAME)                                                                               \
	case GCN3_FLAT_ATOMIC_##NAME:                                                              \
		return (struct flat_op){FLAT_ATOMIC, 1, GCN3_DWORDS, VMEM_ATOMIC_##NAME};          \
	case GCN3_FLAT_ATOMIC_##NAME##_X2:                                                         \
		return (struct flat_op){FLAT_ATOMIC, 2, GCN3_DWORDS, VMEM_ATOMIC_##NAME};
		GCN3_ATOMICS(ATOMIC)
#undef ATOMIC
	default: return (struct flat_op){FLAT_BAD, 0, 0, 0};
	}
}

static enum gcn3_status fault(struct gcn3_wave *w, uint64_t address)
{
	w->fault_address = address;
	return GCN3_BAD_ADDRESS;
}

/* Atomics on LDS and scratch, which only this host thread touches: @at is a lane's bytes. */
static void private_atomic(struct gcn3_wave *w, const struct gcn3_access *a,
        const struct flat_op *f, unsigned l, uint8_t *at, int old)
{
	unsigned bytes = 4 * f->dwords;
	uint64_t before = 0, data = 0, compare = 0, after;

	memcpy(&before, at, bytes);
	for (unsigned k = 0; k < f->dwords; k++) {
		data |= (uint64_t)w->v[a->reg + k][l] << 32 * k;
		if (f->atomic == VMEM_ATOMIC_CMPSWAP)
			compare |= (uint64_t)w->v[a->reg + f->dwords + k][l] << 32 * k;
	}
	after = vmem_atomic_apply(f->atomic, bytes, before, data, compare);
	memcpy(at, &after, bytes);
	for (unsigned k = 0; old >= 0 && k < f->dwords; k++)
		w->v[(unsigned)old + k][l] = (uint32_t)(before >> 32 * k);
}

static enum gcn3_status lds_atomics(
        struct gcn3_wave *w, const struct gcn3_access *a, const struct flat_op *f, int old)
{
	for (uint64_t left = a->mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);

		if (a->rel[l] % (4 * f->dwords))
			return fault(w, (uint64_t)w->group->shared_aperture_hi << 32 | a->rel[l]);
		if (range_ok(a->rel[l], 4 * f->dwords, w->group->lds_bytes))
			private_atomic(w, a, f, l, w->group->lds + a->rel[l], old);
		else if (old >= 0)
			w->v[old][l] = 0;
	}
	return GCN3_OK;
}

/* Flat LDS accesses are clamped by the allocation only; M0 belongs to DS instructions. */
static enum gcn3_status flat_lds(
        struct gcn3_wave *w, struct gcn3_access *a, const struct flat_op *f, int old)
{
	unsigned align = f->width == GCN3_DWORDS ? 4 : gcn3_access_bytes(a);

	a->base = 0;
	if (f->kind == FLAT_ATOMIC)
		return lds_atomics(w, a, f, old);
	if (f->kind == FLAT_LOAD)
		return gcn3_lds_load(w, a, w->group->lds_bytes, align);
	return gcn3_lds_store(w, a, w->group->lds_bytes, align);
}

/* Scratch is swizzled: byte x of lane l lies at (x / 4) * 256 + l * 4 + x % 4 behind the wave's
 * base (polaris.md 9.4). FLAT_SCRATCH_HI is the wave's offset in 256 bytes from the hidden private
 * base, FLAT_SCRATCH_LO the bytes a lane has. */
static enum gcn3_status flat_scratch(
        struct gcn3_wave *w, struct gcn3_access *a, const struct flat_op *f, int old)
{
	const uint32_t *lane_offsets = a->rel;
	uint32_t size = w->s[102], start[GCN3_LANES], rel[GCN3_LANES];
	unsigned bytes = gcn3_access_bytes(a), parts = f->width == GCN3_DWORDS ? f->dwords : 1;

	if (f->kind == FLAT_ATOMIC && f->dwords == 2)
		return GCN3_BAD_OPCODE; /* the two halves do not lie together */
	for (uint64_t left = a->mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);

		start[l] = lane_offsets[l];
		if (!range_ok(start[l], bytes, MIN(size, 1u << 24)) || start[l] % MIN(bytes, 4u))
			return fault(w, (uint64_t)w->group->private_aperture_hi << 32 | start[l]);
	}
	a->base = w->group->private_base + ((uint64_t)w->s[103] << 8) - w->group->fb_base;
	a->rel = rel;
	a->dwords = 1;
	for (unsigned k = 0; k < parts; k++, a->reg++) {
		enum gcn3_status status;

		for (uint64_t left = a->mask; left; left &= left - 1) {
			unsigned l = (unsigned)__builtin_ctzll(left);

			rel[l] = (start[l] / 4 + k) * 256 + l * 4 + start[l] % 4;
		}
		if (f->kind == FLAT_ATOMIC)
			status = gcn3_vram_atomic(w, a, f->atomic, 4, old);
		else
			status =
			        f->kind == FLAT_LOAD ? gcn3_vram_load(w, a) : gcn3_vram_store(w, a);
		if (status)
			return status;
	}
	return GCN3_OK;
}

static enum gcn3_status flat_vram(
        struct gcn3_wave *w, struct gcn3_access *a, const struct flat_op *f, uint32_t hi, int old)
{
	a->base = ((uint64_t)hi << 32) - w->group->fb_base;
	switch (f->kind) {
	case FLAT_LOAD: return gcn3_vram_load(w, a);
	case FLAT_STORE: return gcn3_vram_store(w, a);
	default: return gcn3_vram_atomic(w, a, f->atomic, 4 * f->dwords, old);
	}
}

/* Lanes of @mask whose address has the same high word as its first lane. */
GCN3_WIDE
static uint64_t same_high_word(const uint32_t *high, uint64_t mask)
{
	uint32_t hi = high[__builtin_ctzll(mask)], differ = 0;
	uint64_t same = 0;

	if (mask == ~UINT64_C(0)) {
		for (unsigned l = 0; l < GCN3_LANES; l++)
			differ |= high[l] ^ hi;
		if (!differ)
			return mask;
	}
	for (uint64_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);

		same |= (uint64_t)(high[l] == hi) << l;
	}
	return same;
}

enum gcn3_status gcn3_exec_flat(struct gcn3_wave *w, const struct gcn3_insn *i)
{
	struct flat_op f = flat_classify(i->op);
	unsigned data =
	        f.kind == FLAT_ATOMIC && f.atomic == VMEM_ATOMIC_CMPSWAP ? 2 * f.dwords : f.dwords;
	bool returns = f.kind == FLAT_LOAD || (f.kind == FLAT_ATOMIC && i->glc);
	const uint32_t *low, *high;
	uint64_t left = gcn3_exec(w);

	if (f.kind == FLAT_BAD || i->tfe || !gcn3_vgprs_ok(w, i->vaddr, 2) ||
	        (returns && !gcn3_vgprs_ok(w, i->dst, f.dwords)) ||
	        (f.kind != FLAT_LOAD && !gcn3_vgprs_ok(w, i->vdata, data)))
		return GCN3_BAD_OPCODE;
	low = w->v[i->vaddr - GCN3_OPERAND_VGPR];
	high = low + GCN3_LANES;
	while (left) {
		uint64_t mask = same_high_word(high, left);
		uint32_t hi = high[__builtin_ctzll(mask)];
		int old = f.kind == FLAT_ATOMIC && i->glc ? i->dst - GCN3_OPERAND_VGPR : -1;
		struct gcn3_access a = {.rel = low,
		        .mask = mask,
		        .dwords = f.dwords,
		        .width = f.width,
		        .glc = i->glc};
		enum gcn3_status status;

		a.reg = (unsigned)(f.kind == FLAT_LOAD ? i->dst : i->vdata) - GCN3_OPERAND_VGPR;
		if (hi == w->group->shared_aperture_hi)
			status = flat_lds(w, &a, &f, old);
		else if (hi == w->group->private_aperture_hi)
			status = flat_scratch(w, &a, &f, old);
		else
			status = flat_vram(w, &a, &f, hi, old);
		if (status)
			return status;
		left &= ~mask;
	}
	return GCN3_OK;
}
