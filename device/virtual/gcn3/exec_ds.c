/* exec_ds.c - LDS instructions: reads, writes, atomics, and the cross-lane moves that share their
 * encoding. Source: GCN3 ISA manual, chapter 11 and the DS opcode list. GDS, append/consume,
 * ordered count and src2 forms are refused. Alignment: natural, 16 for b96 and b128: gfx8 has no
 * unaligned LDS access (LLVM: from GFX9).
 */
#include "device/bytes.h"
#include "device/virtual/gcn3/lanes.h"

static unsigned vgpr(uint16_t code)
{
	return code - GCN3_OPERAND_VGPR;
}

/* Reads and writes. */
struct ds_move {
	bool load, pair;
	unsigned dwords, scale; /* of a pair's offsets, in bytes */
	enum gcn3_width width;
};

static bool ds_move_of(unsigned op, struct ds_move *m)
{
	switch (op) {
	case GCN3_DS_READ_I8: *m = (struct ds_move){true, false, 1, 1, GCN3_S8}; break;
	case GCN3_DS_READ_U8: *m = (struct ds_move){true, false, 1, 1, GCN3_U8}; break;
	case GCN3_DS_READ_I16: *m = (struct ds_move){true, false, 1, 1, GCN3_S16}; break;
	case GCN3_DS_READ_U16: *m = (struct ds_move){true, false, 1, 1, GCN3_U16}; break;
	case GCN3_DS_READ_B32: *m = (struct ds_move){true, false, 1, 1, GCN3_DWORDS}; break;
	case GCN3_DS_READ_B64: *m = (struct ds_move){true, false, 2, 1, GCN3_DWORDS}; break;
	case GCN3_DS_READ_B96: *m = (struct ds_move){true, false, 3, 1, GCN3_DWORDS}; break;
	case GCN3_DS_READ_B128: *m = (struct ds_move){true, false, 4, 1, GCN3_DWORDS}; break;
	case GCN3_DS_READ2_B32: *m = (struct ds_move){true, true, 1, 4, GCN3_DWORDS}; break;
	case GCN3_DS_READ2ST64_B32: *m = (struct ds_move){true, true, 1, 256, GCN3_DWORDS}; break;
	case GCN3_DS_READ2_B64: *m = (struct ds_move){true, true, 2, 8, GCN3_DWORDS}; break;
	case GCN3_DS_READ2ST64_B64: *m = (struct ds_move){true, true, 2, 512, GCN3_DWORDS}; break;
	case GCN3_DS_WRITE_B8: *m = (struct ds_move){false, false, 1, 1, GCN3_U8}; break;
	case GCN3_DS_WRITE_B16: *m = (struct ds_move){false, false, 1, 1, GCN3_U16}; break;
	case GCN3_DS_WRITE_B32: *m = (struct ds_move){false, false, 1, 1, GCN3_DWORDS}; break;
	case GCN3_DS_WRITE_B64: *m = (struct ds_move){false, false, 2, 1, GCN3_DWORDS}; break;
	case GCN3_DS_WRITE_B96: *m = (struct ds_move){false, false, 3, 1, GCN3_DWORDS}; break;
	case GCN3_DS_WRITE_B128: *m = (struct ds_move){false, false, 4, 1, GCN3_DWORDS}; break;
	case GCN3_DS_WRITE2_B32: *m = (struct ds_move){false, true, 1, 4, GCN3_DWORDS}; break;
	case GCN3_DS_WRITE2ST64_B32: *m = (struct ds_move){false, true, 1, 256, GCN3_DWORDS}; break;
	case GCN3_DS_WRITE2_B64: *m = (struct ds_move){false, true, 2, 8, GCN3_DWORDS}; break;
	case GCN3_DS_WRITE2ST64_B64: *m = (struct ds_move){false, true, 2, 512, GCN3_DWORDS}; break;
	default: return false;
	}
	return true;
}

static enum gcn3_status ds_move(
        struct gcn3_wave *w, const struct gcn3_insn *i, const struct ds_move *m)
{
	unsigned halves = m->pair ? 2 : 1, align, limit = gcn3_lds_limit(w);
	uint32_t address[GCN3_LANES];
	struct gcn3_access a = {.mask = gcn3_exec(w), .dwords = m->dwords, .width = m->width};
	enum gcn3_status status = GCN3_OK;

	if (!gcn3_vgprs_ok(w, i->vaddr, 1) ||
	        (m->load && !gcn3_vgprs_ok(w, i->dst, m->dwords * halves)) ||
	        (!m->load && !gcn3_vgprs_ok(w, i->vdata, m->dwords)) ||
	        (!m->load && m->pair && !gcn3_vgprs_ok(w, i->vdata1, m->dwords)))
		return GCN3_BAD_OPCODE;
	align = m->width != GCN3_DWORDS ? gcn3_access_bytes(&a)
	        : m->dwords < 3         ? 4 * m->dwords
	                                : 16;
	a.rel = w->v[vgpr(i->vaddr)];
	if (m->pair) { /* the first half may overwrite the address */
		memcpy(address, a.rel, sizeof(address));
		a.rel = address;
	}
	for (unsigned h = 0; h < halves && !status; h++) {
		a.base = m->pair ? ((uint32_t)i->imm >> 8 * h & 255) * m->scale : (uint32_t)i->imm;
		if (m->load) {
			a.reg = vgpr(i->dst) + h * m->dwords;
			status = gcn3_lds_load(w, &a, limit, align);
		} else {
			a.reg = vgpr(h ? i->vdata1 : i->vdata);
			status = gcn3_lds_store(w, &a, limit, align);
		}
	}
	return status;
}

/* Atomics. */
enum ds_rule {
	DS_ADD,
	DS_SUB,
	DS_RSUB,
	DS_INC,
	DS_DEC,
	DS_MIN_I,
	DS_MAX_I,
	DS_MIN_U,
	DS_MAX_U,
	DS_AND,
	DS_OR,
	DS_XOR,
	DS_MSKOR,
	DS_WRXCHG,
	DS_CMPST,
	DS_CMPST_F,
	DS_MIN_F,
	DS_MAX_F,
	DS_ADD_F,
	DS_WRAP,
};

struct ds_atomic {
	enum ds_rule rule;
	unsigned dwords;
	bool returns, two_data;
};

/* Both widths and both forms of one operation. */
#define BOTH(NAME, T32, T64, RULE, TWO)                                                            \
	case GCN3_DS_##NAME##_##T32: *a = (struct ds_atomic){RULE, 1, false, TWO}; return true;    \
	case GCN3_DS_##NAME##_RTN_##T32: *a = (struct ds_atomic){RULE, 1, true, TWO}; return true; \
	case GCN3_DS_##NAME##_##T64: *a = (struct ds_atomic){RULE, 2, false, TWO}; return true;    \
	case GCN3_DS_##NAME##_RTN_##T64: *a = (struct ds_atomic){RULE, 2, true, TWO}; return true;

static bool ds_atomic_of(unsigned op, struct ds_atomic *a)
{
	switch (op) {
		BOTH(ADD, U32, U64, DS_ADD, false)
		BOTH(SUB, U32, U64, DS_SUB, false)
		BOTH(RSUB, U32, U64, DS_RSUB, false)
		BOTH(INC, U32, U64, DS_INC, false)
		BOTH(DEC, U32, U64, DS_DEC, false)
		BOTH(MIN, I32, I64, DS_MIN_I, false)
		BOTH(MAX, I32, I64, DS_MAX_I, false)
		BOTH(MIN, U32, U64, DS_MIN_U, false)
		BOTH(MAX, U32, U64, DS_MAX_U, false)
		BOTH(AND, B32, B64, DS_AND, false)
		BOTH(OR, B32, B64, DS_OR, false)
		BOTH(XOR, B32, B64, DS_XOR, false)
		BOTH(MSKOR, B32, B64, DS_MSKOR, true)
		BOTH(CMPST, B32, B64, DS_CMPST, true)
		BOTH(CMPST, F32, F64, DS_CMPST_F, true)
		BOTH(MIN, F32, F64, DS_MIN_F, false)
		BOTH(MAX, F32, F64, DS_MAX_F, false)
	case GCN3_DS_WRXCHG_RTN_B32:
		*a = (struct ds_atomic){DS_WRXCHG, 1, true, false};
		return true;
	case GCN3_DS_WRXCHG_RTN_B64:
		*a = (struct ds_atomic){DS_WRXCHG, 2, true, false};
		return true;
	case GCN3_DS_ADD_F32: *a = (struct ds_atomic){DS_ADD_F, 1, false, false}; return true;
	case GCN3_DS_ADD_RTN_F32: *a = (struct ds_atomic){DS_ADD_F, 1, true, false}; return true;
	case GCN3_DS_WRAP_RTN_B32: *a = (struct ds_atomic){DS_WRAP, 1, true, true}; return true;
	default: return false;
	}
}

static double as_double(uint64_t bits, unsigned dwords)
{
	uint32_t low = (uint32_t)bits;
	double d;
	float f;

	if (dwords == 2) {
		memcpy(&d, &bits, 8);
		return d;
	}
	memcpy(&f, &low, 4);
	return (double)f;
}

static uint64_t add_floats(uint64_t a, uint64_t b)
{
	float sum = (float)as_double(a, 1) + (float)as_double(b, 1);
	uint32_t bits;

	memcpy(&bits, &sum, 4);
	return bits;
}

static int64_t as_signed(uint64_t v, unsigned dwords)
{
	return dwords == 2 ? (int64_t)v : (int32_t)(uint32_t)v;
}

static uint64_t ds_apply(const struct ds_atomic *a, uint64_t old, uint64_t d0, uint64_t d1)
{
	unsigned n = a->dwords;

	switch (a->rule) {
	case DS_ADD: return old + d0;
	case DS_SUB: return old - d0;
	case DS_RSUB: return d0 - old;
	case DS_INC: return old >= d0 ? 0 : old + 1;
	case DS_DEC: return old == 0 || old > d0 ? d0 : old - 1;
	case DS_MIN_I: return as_signed(d0, n) < as_signed(old, n) ? d0 : old;
	case DS_MAX_I: return as_signed(d0, n) > as_signed(old, n) ? d0 : old;
	case DS_MIN_U: return MIN(old, d0);
	case DS_MAX_U: return MAX(old, d0);
	case DS_AND: return old & d0;
	case DS_OR: return old | d0;
	case DS_XOR: return old ^ d0;
	case DS_MSKOR: return (old & ~d0) | d1;
	case DS_WRXCHG: return d0;
	case DS_CMPST: return old == d0 ? d1 : old; /* compare value first, unlike FLAT */
	case DS_CMPST_F: return as_double(old, n) == as_double(d0, n) ? d1 : old;
	case DS_MIN_F: return as_double(d0, n) < as_double(old, n) ? d0 : old;
	case DS_MAX_F: return as_double(d0, n) > as_double(old, n) ? d0 : old;
	case DS_ADD_F: return add_floats(old, d0);
	case DS_WRAP: return old >= d0 ? old - d0 : old + d1;
	}
	return old;
}

static uint64_t value_of(const struct gcn3_wave *w, uint16_t code, unsigned lane, unsigned dwords)
{
	uint64_t v = w->v[vgpr(code)][lane];

	return dwords == 2 ? v | (uint64_t)w->v[vgpr(code) + 1][lane] << 32 : v;
}

/* Lanes in ascending order, one after the other. */
static enum gcn3_status ds_atomics(
        struct gcn3_wave *w, const struct gcn3_insn *i, const struct ds_atomic *a)
{
	unsigned bytes = 4 * a->dwords, limit = gcn3_lds_limit(w);

	if (!gcn3_vgprs_ok(w, i->vaddr, 1) || !gcn3_vgprs_ok(w, i->vdata, a->dwords) ||
	        (a->two_data && !gcn3_vgprs_ok(w, i->vdata1, a->dwords)) ||
	        (a->returns && !gcn3_vgprs_ok(w, i->dst, a->dwords)))
		return GCN3_BAD_OPCODE;
	for (uint64_t left = gcn3_exec(w); left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);
		uint64_t at = (uint32_t)(w->v[vgpr(i->vaddr)][l] + (uint32_t)i->imm), old = 0, new;

		if (at % bytes) {
			w->fault_address =
			        (uint64_t)w->group->shared_aperture_hi << 32 | (uint32_t)at;
			return GCN3_BAD_ADDRESS;
		}
		if (range_ok(at, bytes, limit)) {
			memcpy(&old, w->group->lds + at, bytes);
			new = ds_apply(a, old, value_of(w, i->vdata, l, a->dwords),
			        a->two_data ? value_of(w, i->vdata1, l, a->dwords) : 0);
			memcpy(w->group->lds + at, &new, bytes);
		}
		for (unsigned k = 0; a->returns && k < a->dwords; k++)
			w->v[vgpr(i->dst) + k][l] = (uint32_t)(old >> 32 * k);
	}
	return GCN3_OK;
}

/* Cross-lane moves: lane l receives from source_of(l); an inactive source gives 0. */
static unsigned swizzle_source(uint32_t pattern, unsigned l)
{
	if (pattern & 0x8000) /* quad permute */
		return (l & ~3u) | (pattern >> 2 * (l & 3) & 3);
	/* and, or, xor masks within 32 lanes */
	return (l & 32) |
	       ((((l & 31) & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31));
}

static enum gcn3_status cross_lane(struct gcn3_wave *w, const struct gcn3_insn *i)
{
	uint16_t from = i->op == GCN3_DS_SWIZZLE_B32 ? i->vaddr : i->vdata;
	uint32_t value[GCN3_LANES] = {0}, out[GCN3_LANES] = {0};
	uint64_t exec = gcn3_exec(w);
	const uint32_t *address;

	if (!gcn3_vgprs_ok(w, i->vaddr, 1) || !gcn3_vgprs_ok(w, from, 1) ||
	        !gcn3_vgprs_ok(w, i->dst, 1))
		return GCN3_BAD_OPCODE;
	address = w->v[vgpr(i->vaddr)];
	for (uint64_t left = exec; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);

		value[l] = w->v[vgpr(from)][l];
	}
	for (uint64_t left = exec; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);
		unsigned lane = (address[l] + (uint32_t)i->imm) / 4 % GCN3_LANES;

		if (i->op == GCN3_DS_PERMUTE_B32)
			out[lane] = value[l];
		else
			out[l] = value[i->op == GCN3_DS_BPERMUTE_B32
			                       ? lane
			                       : swizzle_source((uint32_t)i->imm, l)];
	}
	for (uint64_t left = exec; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);

		w->v[vgpr(i->dst)][l] = out[l];
	}
	return GCN3_OK;
}

enum gcn3_status gcn3_exec_ds(struct gcn3_wave *w, const struct gcn3_insn *i)
{
	struct ds_move move;
	struct ds_atomic atomic;

	if (i->gds)
		return GCN3_BAD_OPCODE;
	if (ds_move_of(i->op, &move))
		return ds_move(w, i, &move);
	if (ds_atomic_of(i->op, &atomic))
		return ds_atomics(w, i, &atomic);
	switch (i->op) {
	case GCN3_DS_SWIZZLE_B32:
	case GCN3_DS_PERMUTE_B32:
	case GCN3_DS_BPERMUTE_B32: return cross_lane(w, i);
	case GCN3_DS_NOP: return GCN3_OK;
	default: return GCN3_BAD_OPCODE;
	}
}
