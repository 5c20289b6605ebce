/* decode.c - gfx803 machine code to struct gcn3_insn. Pure: bytes in, instruction or error out.
 * Field positions: GCN3 ISA manual, chapter 12 ("Instruction formats"); what is rejected: LLVM 19's
 * gfx803 disassembler.
 */
#include <errno.h>
#include <string.h>

#include "device/virtual/gcn3/decode_priv.h"

#define SRC_SDWA 249 /* GCN3 ISA 12.3: SRC0 codes that announce a second control word */
#define SRC_DPP  250

struct input {
	const uint8_t *code;
	size_t avail;
	uint32_t w0, w1;
};

/* native opcode to operation; 1024 is the widest opcode field (VOP3) */
static const uint16_t native[GCN3_MTBUF + 1][1024] = {
#define X(format, opcode, op) [GCN3_##format][opcode] = GCN3_##op,
#include "device/virtual/gcn3/decode.def"
#undef X
};

static uint32_t le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t bits(uint32_t word, unsigned low, unsigned count)
{
	return word >> low & ((1u << count) - 1);
}

static int second_word(struct input *in, struct gcn3_insn *i)
{
	if (in->avail < 8)
		return -ENODATA;
	in->w1 = le32(in->code + 4);
	i->size = 8;
	return 0;
}

static int set_op(struct gcn3_insn *i, enum gcn3_format format, uint32_t opcode)
{
	i->format = (uint8_t)format;
	i->op = native[format][opcode];
	return i->op == GCN3_OP_INVALID ? -EINVAL : 0;
}

static const struct gcn3_shape *shape_of(const struct gcn3_insn *i)
{
	return &gcn3_shapes[i->op];
}

/* Pairs start at an even SGPR, longer tuples at a multiple of four (GCN3 ISA 3.6); SGPRs end at
 * 101. */
static bool sgpr_ok(unsigned code, unsigned dwords)
{
	if (dwords == 1)
		return code < 128 && code != 125;
	if (code >= 102 && code < 112) /* FLAT_SCRATCH, XNACK_MASK, VCC, TBA, TMA */
		return dwords == 2 && code % 2 == 0;
	if (code == GCN3_OPERAND_EXEC)
		return dwords == 2;
	if (code % (dwords == 2 ? 2 : 4))
		return false;
	return code + dwords <= 102 || (code >= 112 && code + dwords <= 124);
}

static bool constant_ok(unsigned code)
{
	return (code >= 128 && code <= 208) || (code >= 240 && code <= 248);
}

/* VCCZ, EXECZ, SCC */
static bool flag_ok(unsigned code)
{
	return code >= 251 && code <= 253;
}

static bool vgpr_ok(unsigned code, unsigned dwords)
{
	return code >= GCN3_OPERAND_VGPR && code + dwords <= GCN3_OPERAND_VGPR + 256;
}

/* operand_ok - may @code stand in a slot of @shape? A literal is allowed here; whoever has none to
 * give checks that. */
static bool operand_ok(uint8_t shape, unsigned code)
{
	unsigned n = gcn3_dwords(shape);

	switch (GCN3_KIND(shape)) {
	case KIND_NONE: return code == GCN3_OPERAND_NONE;
	case KIND_VGPR: return vgpr_ok(code, n);
	case KIND_SGPR: return sgpr_ok(code, n);
	case KIND_CARRY: return sgpr_ok(code, n) && code != GCN3_OPERAND_EXEC;
	case KIND_SREG: return sgpr_ok(code, n) || flag_ok(code);
	case KIND_LANE: return sgpr_ok(code, n) || constant_ok(code);
	case KIND_K: return code == GCN3_OPERAND_LITERAL;
	case KIND_ANY:
		return sgpr_ok(code, n) || constant_ok(code) || flag_ok(code) || vgpr_ok(code, n) ||
		       code == GCN3_OPERAND_LITERAL;
	}
	return false;
}

/* check - all operands fit their slots; fetch the literal when one is used. */
static int check(struct input *in, struct gcn3_insn *i)
{
	const struct gcn3_shape *s = shape_of(i);
	bool literal = false;

	if (i->dst != GCN3_OPERAND_NONE && !operand_ok(s->dst, i->dst))
		return -EINVAL;
	for (unsigned k = 0; k < 3; k++) {
		if (i->src[k] == GCN3_OPERAND_NONE)
			continue;
		if (!operand_ok(s->src[k], i->src[k]))
			return -EINVAL;
		literal |= i->src[k] == GCN3_OPERAND_LITERAL;
	}
	if (!literal)
		return 0;
	if (i->size == 8) /* VOP3, SDWA and DPP have no room for one */
		return -EINVAL;
	if (second_word(in, i))
		return -ENODATA;
	i->literal = in->w1;
	return 0;
}

static int decode_sop2(struct input *in, struct gcn3_insn *i)
{
	if (set_op(i, GCN3_SOP2, bits(in->w0, 23, 7)))
		return -EINVAL;
	if (shape_of(i)->dst)
		i->dst = (uint16_t)bits(in->w0, 16, 7);
	i->src[0] = (uint16_t)bits(in->w0, 0, 8);
	i->src[1] = (uint16_t)bits(in->w0, 8, 8);
	return check(in, i);
}

static int decode_sop1(struct input *in, struct gcn3_insn *i)
{
	if (set_op(i, GCN3_SOP1, bits(in->w0, 8, 8)))
		return -EINVAL;
	if (shape_of(i)->dst)
		i->dst = (uint16_t)bits(in->w0, 16, 7);
	if (shape_of(i)->src[0])
		i->src[0] = (uint16_t)bits(in->w0, 0, 8);
	return check(in, i);
}

static int decode_sopc(struct input *in, struct gcn3_insn *i)
{
	if (set_op(i, GCN3_SOPC, bits(in->w0, 16, 7)))
		return -EINVAL;
	i->src[0] = (uint16_t)bits(in->w0, 0, 8);
	if (i->op == GCN3_S_SET_GPR_IDX_ON)
		i->imm = (int32_t)bits(in->w0, 8, 8);
	else
		i->src[1] = (uint16_t)bits(in->w0, 8, 8);
	return check(in, i);
}

static int decode_sopk(struct input *in, struct gcn3_insn *i)
{
	if (set_op(i, GCN3_SOPK, bits(in->w0, 23, 5)))
		return -EINVAL;
	i->imm = (int16_t)bits(in->w0, 0, 16);
	if (i->op == GCN3_S_SETREG_IMM32_B32) {
		if (second_word(in, i))
			return -ENODATA;
		i->literal = in->w1;
		i->src[0] = GCN3_OPERAND_LITERAL;
		return 0;
	}
	if (shape_of(i)->dst)
		i->dst = (uint16_t)bits(in->w0, 16, 7);
	else
		i->src[0] = (uint16_t)bits(in->w0, 16, 7);
	return check(in, i);
}

static int decode_sopp(struct input *in, struct gcn3_insn *i)
{
	if (set_op(i, GCN3_SOPP, bits(in->w0, 16, 7)))
		return -EINVAL;
	i->imm = (int16_t)bits(in->w0, 0, 16);
	switch (i->op) {
	case GCN3_S_WAKEUP:
	case GCN3_S_BARRIER:
	case GCN3_S_ICACHE_INV:
	case GCN3_S_TTRACEDATA:
	case GCN3_S_ENDPGM_SAVED:
	case GCN3_S_SET_GPR_IDX_OFF: return i->imm ? -EINVAL : 0; /* LLVM: SIMM16 must be zero */
	default: return 0;
	}
}

/* GCN3 ISA 12.2 (SMEM): the offset is a 20-bit immediate or an SGPR. */
static int smem_offset(struct input *in, struct gcn3_insn *i)
{
	if (bits(in->w0, 17, 1)) {
		i->imm = (int32_t)bits(in->w1, 0, 20);
		return 0;
	}
	i->soffset = (uint16_t)bits(in->w1, 0, 7);
	return sgpr_ok(i->soffset, 1) ? 0 : -EINVAL;
}

static int decode_smem(struct input *in, struct gcn3_insn *i)
{
	const struct gcn3_shape *s;

	if (set_op(i, GCN3_SMEM, bits(in->w0, 18, 8)))
		return -EINVAL;
	if (second_word(in, i))
		return -ENODATA;
	s = shape_of(i);
	if (s->dst) {
		i->dst = (uint16_t)bits(in->w0, 6, 7);
		/* loads and stores reach neither M0 nor EXEC (LLVM: SReg_32_XM0_XEXEC) */
		if (!sgpr_ok(i->dst, gcn3_dwords(s->dst)) || i->dst >= GCN3_OPERAND_M0)
			return -EINVAL;
	}
	if (!s->src[0]) /* s_memtime, s_dcache_*: no address */
		return bits(in->w0, 17, 1) ? -EINVAL : 0;
	i->sbase = (uint16_t)(bits(in->w0, 0, 6) << 1);
	if (!sgpr_ok(i->sbase, gcn3_dwords(s->src[0])))
		return -EINVAL;
	if (i->op == GCN3_S_ATC_PROBE || i->op == GCN3_S_ATC_PROBE_BUFFER)
		i->literal = bits(in->w0, 6, 7);
	else
		i->glc = bits(in->w0, 16, 1);
	return smem_offset(in, i);
}

/* abs and neg fields of a vector instruction: only on floating point sources that exist. */
static int set_modifiers(struct gcn3_insn *i, uint32_t neg, uint32_t abs)
{
	uint32_t floats = shape_of(i)->flags & (FLAG_F0 | FLAG_F1 | FLAG_F2);

	if ((neg | abs) & ~floats)
		return -EINVAL;
	i->neg = (uint8_t)neg;
	i->abs = (uint8_t)abs;
	return 0;
}

/* GCN3 ISA 12.3 (SDWA). Selects of 7 and dst_unused of 3 are reserved. */
static int decode_sdwa(struct input *in, struct gcn3_insn *i)
{
	const struct gcn3_shape *s = shape_of(i);
	uint32_t floats = s->flags & (FLAG_F0 | FLAG_F1), w;
	bool two = s->src[1] != 0;

	if (!(s->flags & FLAG_SUB))
		return -EINVAL;
	if (second_word(in, i))
		return -ENODATA;
	w = in->w1;
	i->sdwa = true;
	i->src[0] = (uint16_t)(GCN3_OPERAND_VGPR + bits(w, 0, 8));
	if (!(s->flags & FLAG_CMP)) {
		i->dst_sel = (uint8_t)bits(w, 8, 3);
		i->dst_unused = (uint8_t)bits(w, 11, 2);
	}
	i->clamp = bits(w, 13, 1);
	i->src_sel[0] = (uint8_t)bits(w, 16, 3);
	i->src_sel[1] = (uint8_t)bits(w, 24, 3);
	if (!two && bits(w, 24, 6))
		return -EINVAL;
	if (i->dst_sel == 7 || i->dst_unused == 3 || i->src_sel[0] == 7 || i->src_sel[1] == 7)
		return -EINVAL;
	i->sext = (uint8_t)(bits(w, 19, 1) | bits(w, 27, 1) << 1);
	if (i->sext & floats) /* sign extension is for integers */
		return -EINVAL;
	return set_modifiers(
	        i, bits(w, 20, 1) | bits(w, 28, 1) << 1, bits(w, 21, 1) | bits(w, 29, 1) << 1);
}

/* GCN3 ISA table "DPP_ENUM": quad_perm, row_shl/shr/ror 1..15, wave_*:1, mirrors, broadcasts. */
static bool dpp_ctrl_ok(unsigned c)
{
	if (c < 0x100)
		return true;
	if (c < 0x130)
		return c % 16 != 0;
	return c == 0x130 || c == 0x134 || c == 0x138 || c == 0x13c || (c >= 0x140 && c <= 0x143);
}

static int decode_dpp(struct input *in, struct gcn3_insn *i)
{
	const struct gcn3_shape *s = shape_of(i);
	uint32_t w;

	if (!(s->flags & FLAG_SUB) || s->flags & FLAG_CMP)
		return -EINVAL;
	if (second_word(in, i))
		return -ENODATA;
	w = in->w1;
	i->dpp = true;
	i->src[0] = (uint16_t)(GCN3_OPERAND_VGPR + bits(w, 0, 8));
	i->dpp_ctrl = (uint16_t)bits(w, 8, 9);
	i->bound_ctrl = bits(w, 19, 1);
	i->bank_mask = (uint8_t)bits(w, 24, 4);
	i->row_mask = (uint8_t)bits(w, 28, 4);
	if (!dpp_ctrl_ok(i->dpp_ctrl))
		return -EINVAL;
	return set_modifiers(
	        i, bits(w, 20, 1) | bits(w, 22, 1) << 1, bits(w, 21, 1) | bits(w, 23, 1) << 1);
}

/* source 0 of a short vector instruction, with what may follow it */
static int vector_source(struct input *in, struct gcn3_insn *i)
{
	uint16_t code = (uint16_t)bits(in->w0, 0, 9);
	int rc = 0;

	i->src[0] = code;
	if (code == SRC_SDWA)
		rc = decode_sdwa(in, i);
	else if (code == SRC_DPP)
		rc = decode_dpp(in, i);
	return rc ? rc : check(in, i);
}

static int decode_vop2(struct input *in, struct gcn3_insn *i)
{
	const struct gcn3_shape *s;
	uint16_t vsrc1 = (uint16_t)(GCN3_OPERAND_VGPR + bits(in->w0, 9, 8));

	if (set_op(i, GCN3_VOP2, bits(in->w0, 25, 6)))
		return -EINVAL;
	s = shape_of(i);
	i->dst = (uint16_t)(GCN3_OPERAND_VGPR + bits(in->w0, 17, 8));
	i->src[1] = vsrc1;
	if (s->flags & FLAG_SDST)
		i->sdst = GCN3_OPERAND_VCC;
	if (GCN3_KIND(s->src[2]) == KIND_CARRY)
		i->src[2] = GCN3_OPERAND_VCC;
	if (GCN3_KIND(s->src[1]) == KIND_K) {
		i->src[1] = GCN3_OPERAND_LITERAL;
		i->src[2] = vsrc1;
	} else if (GCN3_KIND(s->src[2]) == KIND_K) {
		i->src[2] = GCN3_OPERAND_LITERAL;
	}
	return vector_source(in, i);
}

static int decode_vop1(struct input *in, struct gcn3_insn *i)
{
	uint32_t dst = bits(in->w0, 17, 8);
	const struct gcn3_shape *s;

	if (set_op(i, GCN3_VOP1, bits(in->w0, 9, 8)))
		return -EINVAL;
	s = shape_of(i);
	if (!s->dst) /* v_nop, v_clrexcp */
		return dst ? -EINVAL : 0;
	i->dst = (uint16_t)(GCN3_KIND(s->dst) == KIND_VGPR ? GCN3_OPERAND_VGPR + dst : dst);
	return vector_source(in, i);
}

static int decode_vopc(struct input *in, struct gcn3_insn *i)
{
	if (set_op(i, GCN3_VOPC, bits(in->w0, 17, 8)))
		return -EINVAL;
	i->sdst = GCN3_OPERAND_VCC;
	i->src[1] = (uint16_t)(GCN3_OPERAND_VGPR + bits(in->w0, 9, 8));
	return vector_source(in, i);
}

static int vop3_sources(struct input *in, struct gcn3_insn *i)
{
	const struct gcn3_shape *s = shape_of(i);

	for (unsigned k = 0; k < 3; k++) {
		uint16_t code = (uint16_t)bits(in->w1, 9 * k, 9);

		if (s->src[k])
			i->src[k] = code;
		else if (code)
			return -EINVAL;
	}
	return check(in, i);
}

/* destination, second destination, abs and clamp of VOP3a and VOP3b */
static int vop3_results(struct input *in, struct gcn3_insn *i)
{
	const struct gcn3_shape *s = shape_of(i);
	uint32_t vdst = bits(in->w0, 0, 8), abs = 0;

	i->clamp = bits(in->w0, 15, 1);
	if (s->flags & FLAG_SDST)
		i->sdst = (uint16_t)bits(in->w0, 8, 7);
	else
		abs = bits(in->w0, 8, 3);
	if (s->flags & FLAG_CMP)
		i->sdst = (uint16_t)vdst;
	else if (s->dst)
		i->dst = (uint16_t)(GCN3_KIND(s->dst) == KIND_VGPR ? GCN3_OPERAND_VGPR + vdst
		                                                   : vdst);
	else if (vdst)
		return -EINVAL;
	if (i->sdst != GCN3_OPERAND_NONE && !sgpr_ok(i->sdst, 2))
		return -EINVAL;
	i->omod = (uint8_t)bits(in->w1, 27, 2);
	if ((i->clamp && !(s->flags & FLAG_CLAMP)) || (i->omod && !(s->flags & FLAG_OMOD)))
		return -EINVAL;
	return set_modifiers(i, bits(in->w1, 29, 3), abs);
}

static int decode_vop3(struct input *in, struct gcn3_insn *i)
{
	int rc;

	if (set_op(i, GCN3_VOP3, bits(in->w0, 16, 10)))
		return -EINVAL;
	if (second_word(in, i))
		return -ENODATA;
	rc = vop3_results(in, i);
	return rc ? rc : vop3_sources(in, i);
}

static int decode_vintrp(struct input *in, struct gcn3_insn *i)
{
	if (set_op(i, GCN3_VINTRP, bits(in->w0, 16, 2)))
		return -EINVAL;
	i->dst = (uint16_t)(GCN3_OPERAND_VGPR + bits(in->w0, 18, 8));
	i->imm = (int32_t)bits(in->w0, 8, 8);
	if (i->op == GCN3_V_INTERP_MOV_F32)
		i->literal = bits(in->w0, 0, 8);
	else
		i->src[0] = (uint16_t)(GCN3_OPERAND_VGPR + bits(in->w0, 0, 8));
	return 0;
}

/* set_vgpr - a VGPR field of a memory instruction; an unused one must be zero. */
static int set_vgpr(uint16_t *out, uint8_t shape, uint32_t field)
{
	if (!shape)
		return field ? -EINVAL : 0;
	*out = (uint16_t)(GCN3_OPERAND_VGPR + field);
	return vgpr_ok(*out, gcn3_dwords(shape)) ? 0 : -EINVAL;
}

static int decode_ds(struct input *in, struct gcn3_insn *i)
{
	const struct gcn3_shape *s;

	if (set_op(i, GCN3_DS, bits(in->w0, 17, 8)))
		return -EINVAL;
	if (second_word(in, i))
		return -ENODATA;
	s = shape_of(i);
	i->imm = (int32_t)bits(in->w0, 0, 16);
	i->gds = bits(in->w0, 16, 1);
	if ((i->gds && s->flags & FLAG_NO_GDS) || (!i->gds && s->flags & FLAG_GDS_ONLY))
		return -EINVAL;
	if (i->op == GCN3_DS_NOP && i->imm)
		return -EINVAL;
	if (set_vgpr(&i->vaddr, s->src[0], bits(in->w1, 0, 8)) ||
	        set_vgpr(&i->vdata, s->src[1], bits(in->w1, 8, 8)) ||
	        set_vgpr(&i->vdata1, s->src[2], bits(in->w1, 16, 8)) ||
	        set_vgpr(&i->dst, s->dst, bits(in->w1, 24, 8)))
		return -EINVAL;
	return 0;
}

static int decode_flat(struct input *in, struct gcn3_insn *i)
{
	const struct gcn3_shape *s;

	if (set_op(i, GCN3_FLAT, bits(in->w0, 18, 7)))
		return -EINVAL;
	if (second_word(in, i))
		return -ENODATA;
	s = shape_of(i);
	if (bits(in->w0, 0, 16) ||
	        bits(in->w1, 16, 7)) /* offset and SGPR base came with the next generation */
		return -EINVAL;
	i->glc = bits(in->w0, 16, 1);
	i->slc = bits(in->w0, 17, 1);
	i->tfe = bits(in->w1, 23, 1);
	if (set_vgpr(&i->vaddr, s->src[0], bits(in->w1, 0, 8)))
		return -EINVAL;
	if (s->src[1] && set_vgpr(&i->vdata, s->src[1], bits(in->w1, 8, 8)))
		return -EINVAL;
	if (s->dst && (!(s->flags & FLAG_ATOMIC) || i->glc))
		return set_vgpr(&i->dst, s->dst, bits(in->w1, 24, 8));
	return 0;
}

/* what MUBUF and MTBUF share: address, resource, offset, data */
static int buffer_operands(struct input *in, struct gcn3_insn *i)
{
	const struct gcn3_shape *s = shape_of(i);
	uint8_t data = s->dst ? s->dst : s->src[0];
	unsigned n = gcn3_dwords(data) + (i->tfe ? 1 : 0);

	i->imm = (int32_t)bits(in->w0, 0, 12);
	i->offen = bits(in->w0, 12, 1);
	i->idxen = bits(in->w0, 13, 1);
	i->glc = bits(in->w0, 14, 1);
	if (i->offen || i->idxen) {
		i->vaddr = (uint16_t)(GCN3_OPERAND_VGPR + bits(in->w1, 0, 8));
		if (!vgpr_ok(i->vaddr, i->offen && i->idxen ? 2 : 1))
			return -EINVAL;
	}
	i->sbase = (uint16_t)(bits(in->w1, 16, 5) << 2);
	i->soffset = (uint16_t)bits(in->w1, 24, 8);
	if (!sgpr_ok(i->sbase, 4))
		return -EINVAL;
	if (!sgpr_ok(i->soffset, 1) && !constant_ok(i->soffset) && !flag_ok(i->soffset))
		return -EINVAL;
	if (!data || i->lds)
		return 0;
	i->vdata = (uint16_t)(GCN3_OPERAND_VGPR + bits(in->w1, 8, 8));
	if (!vgpr_ok(i->vdata, n))
		return -EINVAL;
	if (s->dst || (s->flags & FLAG_ATOMIC && i->glc))
		i->dst = i->vdata;
	return 0;
}

static int decode_mubuf(struct input *in, struct gcn3_insn *i)
{
	const struct gcn3_shape *s;

	if (set_op(i, GCN3_MUBUF, bits(in->w0, 18, 7)))
		return -EINVAL;
	if (second_word(in, i))
		return -ENODATA;
	s = shape_of(i);
	if (i->op == GCN3_BUFFER_WBINVL1 || i->op == GCN3_BUFFER_WBINVL1_VOL)
		return bits(in->w0, 12, 5) || bits(in->w1, 23, 1) ? -EINVAL : 0;
	i->lds = bits(in->w0, 16, 1);
	i->slc = bits(in->w0, 17, 1);
	i->tfe = bits(in->w1, 23, 1);
	if (i->lds ? !(s->flags & (FLAG_LDS_OK | FLAG_LDS_ONLY)) : (s->flags & FLAG_LDS_ONLY) != 0)
		return -EINVAL;
	if (i->tfe && (i->lds || s->flags & FLAG_ATOMIC))
		return -EINVAL;
	if (s->flags & FLAG_LDS_ONLY && bits(in->w0, 12, 2)) /* no vector address */
		return -EINVAL;
	return buffer_operands(in, i);
}

static int decode_mtbuf(struct input *in, struct gcn3_insn *i)
{
	if (set_op(i, GCN3_MTBUF, bits(in->w0, 15, 4)))
		return -EINVAL;
	if (second_word(in, i))
		return -ENODATA;
	i->dfmt = (uint8_t)bits(in->w0, 19, 4);
	i->nfmt = (uint8_t)bits(in->w0, 23, 3);
	i->slc = bits(in->w1, 22, 1);
	if (bits(in->w1, 23, 1)) /* LLVM knows no TFE here */
		return -EINVAL;
	return buffer_operands(in, i);
}

/* GCN3 ISA 12 ("Microcode formats"): the leading bits choose the format. */
static int decode_any(struct input *in, struct gcn3_insn *i)
{
	uint32_t w = in->w0;

	if (!(w >> 31)) {
		if (w >> 25 == 0x3f)
			return decode_vop1(in, i);
		return w >> 25 == 0x3e ? decode_vopc(in, i) : decode_vop2(in, i);
	}
	switch (w >> 23) {
	case 0x17d: return decode_sop1(in, i);
	case 0x17e: return decode_sopc(in, i);
	case 0x17f: return decode_sopp(in, i);
	}
	if (w >> 28 == 0xb)
		return decode_sopk(in, i);
	if (w >> 30 == 2)
		return decode_sop2(in, i);
	switch (w >> 26) {
	case 0x30: return decode_smem(in, i);
	case 0x34: return decode_vop3(in, i);
	case 0x35: return decode_vintrp(in, i);
	case 0x36: return decode_ds(in, i);
	case 0x37: return decode_flat(in, i);
	case 0x38: return decode_mubuf(in, i);
	case 0x3a: return decode_mtbuf(in, i);
	}
	return -EINVAL;
}

int gcn3_decode(const uint8_t *code, size_t avail, struct gcn3_insn *out)
{
	struct input in = {.code = code, .avail = avail};
	struct gcn3_insn i;
	int rc;

	if (avail < 4)
		return -ENODATA;
	in.w0 = le32(code);
	memset(&i, 0, sizeof(i));
	i.size = 4;
	i.dst = i.sdst = i.src[0] = i.src[1] = i.src[2] = GCN3_OPERAND_NONE;
	i.vaddr = i.vdata = i.vdata1 = i.sbase = i.soffset = GCN3_OPERAND_NONE;
	rc = decode_any(&in, &i);
	if (rc)
		return rc;
	*out = i;
	return i.size;
}
