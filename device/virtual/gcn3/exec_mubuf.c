/* exec_mubuf.c - buffer instructions with full resource semantics.
 * Sources: GCN3 ISA manual, 8.1 (addressing, range checks) and 8.2 (resource); num_records on GFX8:
 * bytes, but units of stride when stride and swizzle are both on; the scalar offset takes part in
 * neither check nor swizzle (LLVM, raw buffer intrinsics). Out of range loads give 0, stores and
 * atomics do nothing, dword by dword.
 */
#include "device/bytes.h"
#include "device/virtual/gcn3/lanes.h"

struct rsrc {
	uint64_t base; /* VRAM offset, scalar offset included */
	uint32_t num_records, stride;
	bool swizzle, add_tid;
	unsigned element_size, index_stride;
	unsigned dfmt, nfmt;
	uint8_t dst_sel[4];
};

struct mubuf_op {
	enum { MUBUF_BAD, MUBUF_LOAD, MUBUF_STORE, MUBUF_ATOMIC, MUBUF_INVALIDATE } kind;
	unsigned dwords; /* components; atomics: dwords of the operand */
	enum gcn3_width width;
	bool format; /* converts between registers and the resource's format */
	enum vmem_atomic atomic;
};

#define OP(...) return (struct mubuf_op)__VA_ARGS__

static struct mubuf_op mubuf_classify(unsigned op)
{
	switch (op) {
	case GCN3_BUFFER_LOAD_UBYTE: OP({MUBUF_LOAD, 1, GCN3_U8, false, 0});
	case GCN3_BUFFER_LOAD_SBYTE: OP({MUBUF_LOAD, 1, GCN3_S8, false, 0});
	case GCN3_BUFFER_LOAD_USHORT: OP({MUBUF_LOAD, 1, GCN3_U16, false, 0});
	case GCN3_BUFFER_LOAD_SSHORT: OP({MUBUF_LOAD, 1, GCN3_S16, false, 0});
	case GCN3_BUFFER_LOAD_DWORD: OP({MUBUF_LOAD, 1, GCN3_DWORDS, false, 0});
	case GCN3_BUFFER_LOAD_DWORDX2: OP({MUBUF_LOAD, 2, GCN3_DWORDS, false, 0});
	case GCN3_BUFFER_LOAD_DWORDX3: OP({MUBUF_LOAD, 3, GCN3_DWORDS, false, 0});
	case GCN3_BUFFER_LOAD_DWORDX4: OP({MUBUF_LOAD, 4, GCN3_DWORDS, false, 0});
	case GCN3_BUFFER_STORE_BYTE: OP({MUBUF_STORE, 1, GCN3_U8, false, 0});
	case GCN3_BUFFER_STORE_SHORT: OP({MUBUF_STORE, 1, GCN3_U16, false, 0});
	case GCN3_BUFFER_STORE_DWORD: OP({MUBUF_STORE, 1, GCN3_DWORDS, false, 0});
	case GCN3_BUFFER_STORE_DWORDX2: OP({MUBUF_STORE, 2, GCN3_DWORDS, false, 0});
	case GCN3_BUFFER_STORE_DWORDX3: OP({MUBUF_STORE, 3, GCN3_DWORDS, false, 0});
	case GCN3_BUFFER_STORE_DWORDX4: OP({MUBUF_STORE, 4, GCN3_DWORDS, false, 0});
	case GCN3_BUFFER_LOAD_FORMAT_X:
	case GCN3_TBUFFER_LOAD_FORMAT_X: OP({MUBUF_LOAD, 1, GCN3_DWORDS, true, 0});
	case GCN3_BUFFER_LOAD_FORMAT_XY:
	case GCN3_TBUFFER_LOAD_FORMAT_XY: OP({MUBUF_LOAD, 2, GCN3_DWORDS, true, 0});
	case GCN3_BUFFER_LOAD_FORMAT_XYZ:
	case GCN3_TBUFFER_LOAD_FORMAT_XYZ: OP({MUBUF_LOAD, 3, GCN3_DWORDS, true, 0});
	case GCN3_BUFFER_LOAD_FORMAT_XYZW:
	case GCN3_TBUFFER_LOAD_FORMAT_XYZW: OP({MUBUF_LOAD, 4, GCN3_DWORDS, true, 0});
	case GCN3_BUFFER_STORE_FORMAT_X:
	case GCN3_TBUFFER_STORE_FORMAT_X: OP({MUBUF_STORE, 1, GCN3_DWORDS, true, 0});
	case GCN3_BUFFER_STORE_FORMAT_XY:
	case GCN3_TBUFFER_STORE_FORMAT_XY: OP({MUBUF_STORE, 2, GCN3_DWORDS, true, 0});
	case GCN3_BUFFER_STORE_FORMAT_XYZ:
	case GCN3_TBUFFER_STORE_FORMAT_XYZ: OP({MUBUF_STORE, 3, GCN3_DWORDS, true, 0});
	case GCN3_BUFFER_STORE_FORMAT_XYZW:
	case GCN3_TBUFFER_STORE_FORMAT_XYZW: OP({MUBUF_STORE, 4, GCN3_DWORDS, true, 0});
	case GCN3_BUFFER_WBINVL1:
	case GCN3_BUFFER_WBINVL1_VOL: OP({MUBUF_INVALIDATE, 0, 0, false, 0});
#define ATOMIC(NAME)                                                                               \
	case GCN3_BUFFER_ATOMIC_##NAME:                                                            \
		OP({MUBUF_ATOMIC, 1, GCN3_DWORDS, false, VMEM_ATOMIC_##NAME});                     \
	case GCN3_BUFFER_ATOMIC_##NAME##_X2:                                                       \
		OP({MUBUF_ATOMIC, 2, GCN3_DWORDS, false, VMEM_ATOMIC_##NAME});
		GCN3_ATOMICS(ATOMIC)
#undef ATOMIC
	default: OP({MUBUF_BAD, 0, 0, false, 0});
	}
}

/* GCN3 ISA table "buffer resource descriptor". Return: false for what this executor does not know.
 */
static bool rsrc_read(const struct gcn3_wave *w, const struct gcn3_insn *i, struct rsrc *r)
{
	const uint32_t *words;
	uint32_t soffset = 0;

	if (i->sbase + 4u > GCN3_MAX_SGPRS)
		return false;
	words = &w->s[i->sbase];
	if (i->soffset < GCN3_MAX_SGPRS)
		soffset = w->s[i->soffset];
	else if (i->soffset >= 128 && i->soffset <= 192)
		soffset = i->soffset - 128u; /* inline integers 0 .. 64 */
	else if (i->soffset > 192 && i->soffset <= 208)
		soffset = 192u - i->soffset; /* -1 .. -16 */
	else
		return false;
	if (words[3] >> 30) /* TYPE 0 = buffer */
		return false;
	r->base = (words[0] | (uint64_t)(words[1] & 0xffff) << 32) + soffset - w->group->fb_base;
	r->num_records = words[2];
	r->add_tid = words[3] >> 23 & 1;
	r->stride = words[1] >> 16 & 0x3fff;
	if (r->add_tid) /* DATA_FORMAT holds stride[17:14] */
		r->stride |= (words[3] >> 15 & 15) << 14;
	r->swizzle = words[1] >> 31;
	r->element_size = 2u << (words[3] >> 19 & 3);
	r->index_stride = 8u << (words[3] >> 21 & 3);
	r->dfmt = i->format == GCN3_MTBUF ? i->dfmt : words[3] >> 15 & 15;
	r->nfmt = i->format == GCN3_MTBUF ? i->nfmt : words[3] >> 12 & 7;
	for (unsigned c = 0; c < 4; c++)
		r->dst_sel[c] = words[3] >> 3 * c & 7;
	return true;
}

/* Components in memory of the 32-bit formats; 0 for all others. DATA_FORMAT 4, 11, 13, 14;
 * NUM_FORMAT 4, 5, 7. */
static unsigned format_components(const struct rsrc *r)
{
	if (r->nfmt != 4 && r->nfmt != 5 && r->nfmt != 7)
		return 0;
	switch (r->dfmt) {
	case 4: return 1;
	case 11: return 2;
	case 13: return 3;
	case 14: return 4;
	default: return 0;
	}
}

/* What the address VGPRs say, copied because loads may overwrite them. */
struct lane_index {
	uint32_t index[GCN3_LANES], offset[GCN3_LANES];
};

static void read_lanes(const struct gcn3_wave *w, const struct gcn3_insn *i, const struct rsrc *r,
        struct lane_index *x)
{
	unsigned reg = i->vaddr - GCN3_OPERAND_VGPR;

	for (unsigned l = 0; l < GCN3_LANES; l++) {
		x->index[l] = (i->idxen ? w->v[reg][l] : 0) + (r->add_tid ? l : 0);
		x->offset[l] = (i->offen ? w->v[reg + i->idxen][l] : 0) + (uint32_t)i->imm;
	}
}

/* GCN3 ISA 8.1.5: buffer offset of one lane's byte @offset. */
static uint64_t buffer_offset(const struct rsrc *r, uint32_t index, uint64_t offset)
{
	uint64_t index_msb, index_lsb, offset_msb, offset_lsb;

	if (!r->swizzle)
		return offset + (uint64_t)r->stride * index;
	index_msb = index / r->index_stride;
	index_lsb = index % r->index_stride;
	offset_msb = offset / r->element_size;
	offset_lsb = offset % r->element_size;
	return (index_msb * r->stride + offset_msb * r->element_size) * r->index_stride +
	       index_lsb * r->element_size + offset_lsb;
}

/* Buffer offsets of the bytes @extra behind each lane's address. Return: the lanes of @mask that
 * are in range. */
static uint64_t place_lanes(const struct rsrc *r, const struct lane_index *x, uint64_t mask,
        unsigned extra, unsigned bytes, uint32_t *rel)
{
	bool structured = r->swizzle && r->stride;
	uint64_t in_range = 0;

	for (uint64_t left = mask; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctzll(left);
		uint64_t at = buffer_offset(r, x->index[l], (uint64_t)x->offset[l] + extra);
		bool ok = structured ? x->index[l] < r->num_records
		                     : range_ok(at, bytes, r->num_records);

		rel[l] = (uint32_t)at;
		in_range |= (uint64_t)(ok && at <= UINT32_MAX) << l;
	}
	return in_range;
}

static enum gcn3_status access_dword(
        struct gcn3_wave *w, const struct mubuf_op *op, struct gcn3_access *a, uint64_t mask)
{
	if (op->kind == MUBUF_STORE)
		return gcn3_vram_store(w, a);
	for (uint64_t left = mask & ~a->mask; left; left &= left - 1)
		w->v[a->reg][__builtin_ctzll(left)] = 0;
	return gcn3_vram_load(w, a);
}

/* Any resource, dword by dword. */
static enum gcn3_status general(struct gcn3_wave *w, const struct gcn3_insn *i,
        const struct rsrc *r, const struct mubuf_op *op)
{
	unsigned bytes = op->width == GCN3_DWORDS ? 4 : op->width <= GCN3_S8 ? 1 : 2;
	uint32_t rel[GCN3_LANES];
	struct lane_index x;
	enum gcn3_status status = GCN3_OK;

	read_lanes(w, i, r, &x);
	for (unsigned k = 0; k < op->dwords && !status; k++) {
		struct gcn3_access a = {.base = r->base,
		        .rel = rel,
		        .dwords = 1,
		        .width = op->width,
		        .glc = i->glc,
		        .reg = i->vdata - GCN3_OPERAND_VGPR + k};

		a.mask = place_lanes(r, &x, gcn3_exec(w), 4 * k, bytes, rel);
		status = access_dword(w, op, &a, gcn3_exec(w));
	}
	return status;
}

/* Component @sel of DST_SEL that does not come from memory: 0 and 1 are constants, 4 .. 7 X .. W.
 */
static uint32_t missing_component(const struct rsrc *r, unsigned sel)
{
	bool one = sel == 1 || sel == 7; /* W defaults to one */

	return !one ? 0 : r->nfmt == 7 ? 0x3f800000 : 1;
}

static enum gcn3_status formatted(struct gcn3_wave *w, const struct gcn3_insn *i,
        const struct rsrc *r, const struct mubuf_op *op)
{
	unsigned in_memory = format_components(r);
	uint32_t rel[GCN3_LANES];
	struct lane_index x;
	enum gcn3_status status = GCN3_OK;

	if (!in_memory)
		return GCN3_BAD_OPCODE;
	read_lanes(w, i, r, &x);
	for (unsigned k = 0; k < op->dwords && !status; k++) {
		struct gcn3_access a = {.base = r->base,
		        .rel = rel,
		        .dwords = 1,
		        .width = GCN3_DWORDS,
		        .glc = i->glc,
		        .reg = i->vdata - GCN3_OPERAND_VGPR + k};
		unsigned sel = op->kind == MUBUF_STORE ? 4 + k : r->dst_sel[k];

		if (sel >= 4 && sel - 4 < in_memory) {
			a.mask = place_lanes(r, &x, gcn3_exec(w), 4 * (sel - 4), 4, rel);
			status = access_dword(w, op, &a, gcn3_exec(w));
		} else if (op->kind == MUBUF_LOAD) {
			for (uint64_t left = gcn3_exec(w); left; left &= left - 1)
				w->v[a.reg][__builtin_ctzll(left)] = missing_component(r, sel);
		}
	}
	return status;
}

GCN3_WIDE
static uint32_t highest(const uint32_t *rel, const uint32_t *lanes)
{
	uint32_t top = 0;

	for (unsigned l = 0; l < GCN3_LANES; l++) {
		uint32_t v = rel[l] & lanes[l];

		top = v > top ? v : top;
	}
	return top;
}

/* The common case: a raw buffer addressed by one VGPR or none, all lanes in range. Return: false
 * when it is not that. */
static bool raw_in_range(struct gcn3_wave *w, const struct gcn3_insn *i, const struct rsrc *r,
        const struct mubuf_op *op, enum gcn3_status *status)
{
	static const uint32_t zeros[GCN3_LANES];
	struct gcn3_access a = {.base = r->base + (uint32_t)i->imm,
	        .rel = zeros,
	        .mask = gcn3_exec(w),
	        .reg = i->vdata - GCN3_OPERAND_VGPR,
	        .dwords = op->dwords,
	        .width = op->width,
	        .glc = i->glc};
	uint64_t top = (uint32_t)i->imm;

	if (i->idxen || r->add_tid || r->swizzle)
		return false;
	if (i->offen) {
		a.rel = w->v[i->vaddr - GCN3_OPERAND_VGPR];
		top += highest(a.rel, gcn3_exec_lanes(w));
	}
	if (!range_ok(top, gcn3_access_bytes(&a), r->num_records))
		return false;
	*status = op->kind == MUBUF_LOAD ? gcn3_vram_load(w, &a) : gcn3_vram_store(w, &a);
	return true;
}

/* The other common case: swizzled scratch as LLVM uses it, one offset for all lanes. */
static bool scratch_in_range(struct gcn3_wave *w, const struct gcn3_insn *i, const struct rsrc *r,
        const struct mubuf_op *op, enum gcn3_status *status)
{
	static const uint32_t lane_times_4[GCN3_LANES] = {
#define FOUR(n) 4 * (n), 4 * (n) + 4, 4 * (n) + 8, 4 * (n) + 12
	        FOUR(0), FOUR(4), FOUR(8), FOUR(12), FOUR(16), FOUR(20), FOUR(24), FOUR(28),
	        FOUR(32), FOUR(36), FOUR(40), FOUR(44), FOUR(48), FOUR(52), FOUR(56), FOUR(60)
#undef FOUR
	};
	uint64_t at = buffer_offset(r, 0, (uint32_t)i->imm);
	struct gcn3_access a = {.base = r->base + at,
	        .rel = lane_times_4,
	        .mask = gcn3_exec(w),
	        .reg = i->vdata - GCN3_OPERAND_VGPR,
	        .dwords = 1,
	        .width = GCN3_DWORDS,
	        .glc = i->glc};

	if (i->idxen || i->offen || !r->add_tid || !r->swizzle || r->stride ||
	        r->element_size != 4 || r->index_stride != 64 || op->dwords != 1 ||
	        op->width != GCN3_DWORDS || i->imm % 4 || !range_ok(at, 256, r->num_records))
		return false;
	*status = op->kind == MUBUF_LOAD ? gcn3_vram_load(w, &a) : gcn3_vram_store(w, &a);
	return true;
}

static enum gcn3_status atomics(struct gcn3_wave *w, const struct gcn3_insn *i,
        const struct rsrc *r, const struct mubuf_op *op)
{
	unsigned bytes = 4 * op->dwords, reg = i->vdata - GCN3_OPERAND_VGPR;
	uint32_t rel[GCN3_LANES];
	struct gcn3_access a = {.base = r->base, .rel = rel, .reg = reg};
	struct lane_index x;

	read_lanes(w, i, r, &x);
	a.mask = place_lanes(r, &x, gcn3_exec(w), 0, bytes, rel);
	if (i->glc)
		for (uint64_t left = gcn3_exec(w) & ~a.mask; left; left &= left - 1)
			for (unsigned k = 0; k < op->dwords; k++)
				w->v[reg + k][__builtin_ctzll(left)] = 0;
	return gcn3_vram_atomic(w, &a, op->atomic, bytes, i->glc ? (int)reg : -1);
}

enum gcn3_status gcn3_exec_mubuf(struct gcn3_wave *w, const struct gcn3_insn *i)
{
	struct mubuf_op op = mubuf_classify(i->op);
	unsigned data = op.kind == MUBUF_ATOMIC && op.atomic == VMEM_ATOMIC_CMPSWAP ? 2 * op.dwords
	                                                                            : op.dwords;
	enum gcn3_status status;
	struct rsrc r;

	if (op.kind == MUBUF_BAD || i->lds || i->tfe)
		return GCN3_BAD_OPCODE;
	if (op.kind == MUBUF_INVALIDATE) {
		vmem_client_invalidate(w->l1);
		return GCN3_OK;
	}
	if (!gcn3_vgprs_ok(w, i->vdata, data) || !rsrc_read(w, i, &r) ||
	        ((i->offen || i->idxen) &&
	                !gcn3_vgprs_ok(w, i->vaddr, (unsigned)i->offen + i->idxen)))
		return GCN3_BAD_OPCODE;
	if (op.kind == MUBUF_ATOMIC)
		return atomics(w, i, &r, &op);
	if (op.format)
		return formatted(w, i, &r, &op);
	if (raw_in_range(w, i, &r, &op, &status) || scratch_in_range(w, i, &r, &op, &status))
		return status;
	return general(w, i, &r, &op);
}
