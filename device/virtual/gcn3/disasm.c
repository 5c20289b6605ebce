/* disasm.c - struct gcn3_insn to the text LLVM 19 prints. Nothing else may depend on this text but
 * reports and tests. Wording follows LLVM's AMDGPUInstPrinter; the parts with a language of their
 * own are in disasm_fields.c.
 */
#include <stdarg.h>
#include <stdio.h>

#include "device/virtual/gcn3/disasm_priv.h"

void gcn3_put(struct gcn3_text *t, const char *format, ...)
{
	size_t left = t->size > t->len ? t->size - t->len : 0;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(left ? t->buf + t->len : NULL, left, format, ap);
	va_end(ap);
	if (n > 0)
		t->len += (size_t)n;
}

/* operand - start the next operand: a space before the first, a comma before the others. */
static void operand(struct gcn3_text *t)
{
	gcn3_put(t, t->operands++ ? ", " : " ");
}

static void put_tuple(struct gcn3_text *t, const char *file, unsigned first, unsigned dwords)
{
	if (dwords == 1)
		gcn3_put(t, "%s%u", file, first);
	else
		gcn3_put(t, "%s[%u:%u]", file, first, first + dwords - 1);
}

static void put_special(struct gcn3_text *t, unsigned code, unsigned dwords)
{
	static const char *const pairs[] = {"flat_scratch", "xnack_mask", "vcc", "tba", "tma"};
	const char *name = code >= GCN3_OPERAND_EXEC ? "exec" : pairs[(code - 102) / 2];

	if (dwords == 2)
		gcn3_put(t, "%s", name);
	else
		gcn3_put(t, "%s_%s", name, code % 2 ? "hi" : "lo");
}

static void put_register(struct gcn3_text *t, unsigned code, unsigned dwords)
{
	if (code >= GCN3_OPERAND_VGPR)
		put_tuple(t, "v", code - GCN3_OPERAND_VGPR, dwords);
	else if (code < 102)
		put_tuple(t, "s", code, dwords);
	else if (code == GCN3_OPERAND_M0)
		gcn3_put(t, "m0");
	else if (code >= 112 && code < GCN3_OPERAND_M0)
		put_tuple(t, "ttmp", code - 112, dwords);
	else
		put_special(t, code, dwords);
}

static const char *const float_names[] = {
        "0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0"};

/* Inline constants 240..248 as the bits of each type (GCN3 ISA, table of SSRC codes). */
static const uint16_t f16_bits[] = {
        0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
static const uint32_t f32_bits[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
        0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
static const uint32_t f64_high[] = {0x3fe00000, 0xbfe00000, 0x3ff00000, 0xbff00000, 0x40000000,
        0xc0000000, 0x40100000, 0xc0100000};

static void put_float_constant(struct gcn3_text *t, unsigned index, bool wide)
{
	if (index < 8)
		gcn3_put(t, "%s", float_names[index]);
	else
		gcn3_put(t, "%s", wide ? "0.15915494309189532" : "0.15915494");
}

static void put_constant(struct gcn3_text *t, uint8_t shape, unsigned code)
{
	if (code <= 192)
		gcn3_put(t, "%u", code - 128);
	else if (code <= 208)
		gcn3_put(t, "-%u", code - 192);
	else if (GCN3_TYPE(shape) == TYPE_I16)
		gcn3_put(t, "0x%x", f16_bits[code - 240]);
	else
		put_float_constant(t, code - 240, gcn3_dwords(shape) >= 2);
}

/* A literal whose value has an inline code is shown as that constant, as the bits it is. */
static void put_literal(struct gcn3_text *t, uint8_t shape, uint32_t v)
{
	enum gcn3_type type = GCN3_TYPE(shape);
	int32_t n = type == TYPE_F16 ? (int16_t)v : (int32_t)v;

	if (type == TYPE_F64) {
		for (unsigned k = 0; k < 8; k++) {
			if (v == f64_high[k]) {
				put_float_constant(t, k, true);
				return;
			}
		}
		gcn3_put(t, v ? "0x%x" : "%u", v);
		return;
	}
	if (type == TYPE_B64 ? v <= 64 : n >= -16 && n <= 64) {
		gcn3_put(t, "%d", n);
		return;
	}
	for (unsigned k = 0; k < 9; k++) {
		if (type == TYPE_F16 ? (uint16_t)v == f16_bits[k]
		                     : type != TYPE_B64 && v == f32_bits[k]) {
			put_float_constant(t, k, false);
			return;
		}
	}
	gcn3_put(t, "0x%x", type == TYPE_F16 || type == TYPE_I16 ? (uint16_t)v : v);
}

static void put_value(struct gcn3_text *t, const struct gcn3_insn *i, uint8_t shape, unsigned code)
{
	if (code == GCN3_OPERAND_LITERAL)
		put_literal(t, shape, i->literal);
	else if (code >= 251 && code <= 253)
		gcn3_put(t, "%s", code == 251 ? "src_vccz" : code == 252 ? "src_execz" : "src_scc");
	else if (code >= 128 && code < GCN3_OPERAND_VGPR)
		put_constant(t, shape, code);
	else
		put_register(t, code, gcn3_dwords(shape));
}

/* -|x|, and neg(x) where "-1" would be read as another constant */
static void put_source(struct gcn3_text *t, const struct gcn3_insn *i, unsigned k)
{
	uint8_t shape = gcn3_shapes[i->op].src[k];
	bool neg = i->neg >> k & 1, abs = i->abs >> k & 1, sext = i->sext >> k & 1;
	bool constant = i->src[k] >= 128 && i->src[k] <= 248;

	operand(t);
	if (GCN3_KIND(shape) == KIND_K) {
		gcn3_put(t, "0x%x", i->literal);
		return;
	}
	gcn3_put(t, "%s%s%s", sext ? "sext(" : "", neg ? (constant && !abs ? "neg(" : "-") : "",
	        abs ? "|" : "");
	put_value(t, i, shape, i->src[k]);
	gcn3_put(t, "%s%s%s", abs ? "|" : "", neg && constant && !abs ? ")" : "", sext ? ")" : "");
}

static void put_dst(struct gcn3_text *t, const struct gcn3_insn *i)
{
	if (i->dst == GCN3_OPERAND_NONE)
		return;
	operand(t);
	put_register(t, i->dst, gcn3_dwords(gcn3_shapes[i->op].dst));
}

static void put_sources(struct gcn3_text *t, const struct gcn3_insn *i)
{
	for (unsigned k = 0; k < 3; k++)
		if (i->src[k] != GCN3_OPERAND_NONE)
			put_source(t, i, k);
}

static void put_sopk(struct gcn3_text *t, const struct gcn3_insn *i)
{
	uint16_t imm = (uint16_t)i->imm;

	put_dst(t, i);
	switch (i->op) {
	case GCN3_S_SETREG_IMM32_B32:
		operand(t);
		gcn3_put_hwreg(t, imm);
		operand(t);
		put_literal(t, TYPE_B32, i->literal);
		return;
	case GCN3_S_SETREG_B32:
		operand(t);
		gcn3_put_hwreg(t, imm);
		put_sources(t, i);
		return;
	case GCN3_S_GETREG_B32:
		operand(t);
		gcn3_put_hwreg(t, imm);
		return;
	}
	put_sources(t, i);
	operand(t);
	gcn3_put(t, i->op == GCN3_S_CBRANCH_I_FORK ? "%u" : "0x%x", imm);
}

static void put_sopc(struct gcn3_text *t, const struct gcn3_insn *i)
{
	put_sources(t, i);
	if (i->op == GCN3_S_SET_GPR_IDX_ON) {
		operand(t);
		gcn3_put_gpr_idx(t, (unsigned)i->imm);
	}
}

static void put_smem(struct gcn3_text *t, const struct gcn3_insn *i)
{
	const struct gcn3_shape *s = &gcn3_shapes[i->op];

	if (i->op == GCN3_S_ATC_PROBE || i->op == GCN3_S_ATC_PROBE_BUFFER) {
		operand(t);
		put_literal(t, TYPE_B64, i->literal);
	}
	put_dst(t, i);
	if (i->sbase == GCN3_OPERAND_NONE)
		return;
	operand(t);
	put_register(t, i->sbase, gcn3_dwords(s->src[0]));
	operand(t);
	if (i->soffset == GCN3_OPERAND_NONE)
		gcn3_put(t, "0x%x", (unsigned)i->imm);
	else
		put_register(t, i->soffset, 1);
	gcn3_put(t, i->glc ? " glc" : "");
}

static void put_vector(struct gcn3_text *t, const struct gcn3_insn *i)
{
	static const char *const omods[] = {"", " mul:2", " mul:4", " div:2"};

	put_dst(t, i);
	if (i->sdst != GCN3_OPERAND_NONE) {
		operand(t);
		put_register(t, i->sdst, 2);
	}
	put_sources(t, i);
	gcn3_put(t, "%s%s", i->clamp ? " clamp" : "", omods[i->omod]);
	if (i->sdwa)
		gcn3_put_sdwa(t, i);
	if (i->dpp)
		gcn3_put_dpp(t, i);
}

static void put_vintrp(struct gcn3_text *t, const struct gcn3_insn *i)
{
	static const char *const params[] = {"p10", "p20", "p0"};

	put_dst(t, i);
	put_sources(t, i);
	if (i->op == GCN3_V_INTERP_MOV_F32) {
		operand(t);
		if (i->literal < 3)
			gcn3_put(t, "%s", params[i->literal]);
		else
			gcn3_put(t, "invalid_param_%u", i->literal);
	}
	operand(t);
	gcn3_put(t, "attr%u.%c", (unsigned)i->imm >> 2, "xyzw"[i->imm & 3]);
}

static void put_vgpr(struct gcn3_text *t, uint16_t code, unsigned dwords)
{
	if (code == GCN3_OPERAND_NONE)
		return;
	operand(t);
	put_register(t, code, dwords);
}

static void put_ds(struct gcn3_text *t, const struct gcn3_insn *i)
{
	const struct gcn3_shape *s = &gcn3_shapes[i->op];
	unsigned imm = (unsigned)i->imm;

	put_dst(t, i);
	put_vgpr(t, i->vaddr, gcn3_dwords(s->src[0]));
	put_vgpr(t, i->vdata, gcn3_dwords(s->src[1]));
	put_vgpr(t, i->vdata1, gcn3_dwords(s->src[2]));
	if (i->op == GCN3_DS_SWIZZLE_B32) {
		gcn3_put_swizzle(t, imm);
	} else if (s->flags & FLAG_PAIR) {
		if (imm & 255)
			gcn3_put(t, " offset0:%u", imm & 255);
		if (imm >> 8)
			gcn3_put(t, " offset1:%u", imm >> 8);
	} else if (imm) {
		gcn3_put(t, " offset:%u", imm);
	}
	gcn3_put(t, i->gds ? " gds" : "");
}

static void put_flat(struct gcn3_text *t, const struct gcn3_insn *i)
{
	const struct gcn3_shape *s = &gcn3_shapes[i->op];

	put_dst(t, i);
	put_vgpr(t, i->vaddr, 2);
	put_vgpr(t, i->vdata, gcn3_dwords(s->src[1]));
	gcn3_put(t, "%s%s", i->glc ? " glc" : "", i->slc ? " slc" : "");
}

static void put_buffer(struct gcn3_text *t, const struct gcn3_insn *i)
{
	const struct gcn3_shape *s = &gcn3_shapes[i->op];
	unsigned n = gcn3_dwords(s->dst ? s->dst : s->src[0]);

	if (i->sbase == GCN3_OPERAND_NONE) /* buffer_wbinvl1 */
		return;
	put_vgpr(t, i->vdata, n + (i->tfe ? 1 : 0));
	if (!(s->flags & FLAG_LDS_ONLY)) {
		operand(t);
		if (i->vaddr == GCN3_OPERAND_NONE)
			gcn3_put(t, "off");
		else
			put_register(t, i->vaddr, i->offen && i->idxen ? 2 : 1);
	}
	operand(t);
	put_register(t, i->sbase, 4);
	operand(t);
	put_value(t, i, TYPE_B32, i->soffset);
	if (i->format == GCN3_MTBUF)
		gcn3_put_buffer_format(t, i);
	gcn3_put(t, "%s%s", i->idxen ? " idxen" : "", i->offen ? " offen" : "");
	if (i->imm)
		gcn3_put(t, " offset:%u", (unsigned)i->imm);
	if (s->flags & FLAG_LDS_ONLY)
		gcn3_put(t, " lds");
	gcn3_put(t, "%s%s%s%s", i->glc ? " glc" : "", i->slc ? " slc" : "", i->tfe ? " tfe" : "",
	        i->lds && !(s->flags & FLAG_LDS_ONLY) ? " lds" : "");
}

/* opcodes.def lists VOP2, VOP1 and VOPC before the operations that only VOP3 has. */
static bool has_short_form(unsigned op)
{
	return op < GCN3_V_MAD_LEGACY_F32;
}

/* The suffix names the encoding where an operation has several. */
static const char *suffix(const struct gcn3_insn *i)
{
	const struct gcn3_shape *s = &gcn3_shapes[i->op];
	bool lone = s->dst == 0 && !(s->flags & FLAG_CMP);

	if (i->sdwa)
		return s->flags & FLAG_CMP ? "" : "_sdwa";
	if (i->dpp)
		return "_dpp";
	switch (i->format) {
	case GCN3_VOP2:
		return GCN3_KIND(s->src[1]) == KIND_K || GCN3_KIND(s->src[2]) == KIND_K ? ""
		                                                                        : "_e32";
	case GCN3_VOP1: return lone || i->op == GCN3_V_READFIRSTLANE_B32 ? "" : "_e32";
	case GCN3_VOPC:
	case GCN3_VINTRP: return "_e32";
	case GCN3_VOP3: return lone || !has_short_form(i->op) ? "" : "_e64";
	default: return "";
	}
}

int gcn3_disassemble(const struct gcn3_insn *i, char *buf, size_t size)
{
	struct gcn3_text t = {.buf = buf, .size = size};

	gcn3_put(&t, "%s%s", gcn3_op_name(i->op), suffix(i));
	switch (i->format) {
	case GCN3_SOP1:
	case GCN3_SOP2:
		put_dst(&t, i);
		put_sources(&t, i);
		break;
	case GCN3_SOPK: put_sopk(&t, i); break;
	case GCN3_SOPC: put_sopc(&t, i); break;
	case GCN3_SOPP: gcn3_put_sopp(&t, i); break;
	case GCN3_SMEM: put_smem(&t, i); break;
	case GCN3_VOP1:
	case GCN3_VOP2:
	case GCN3_VOPC:
	case GCN3_VOP3: put_vector(&t, i); break;
	case GCN3_VINTRP: put_vintrp(&t, i); break;
	case GCN3_DS: put_ds(&t, i); break;
	case GCN3_FLAT: put_flat(&t, i); break;
	case GCN3_MUBUF:
	case GCN3_MTBUF: put_buffer(&t, i); break;
	}
	return (int)t.len;
}
