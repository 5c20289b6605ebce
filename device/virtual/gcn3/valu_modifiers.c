/* valu_modifiers.c - DPP, SDWA, neg/abs and omod/clamp on whole rows; off the hot path.
 * Source: GCN3 ISA manual, "SDWA", "DPP" and "Input and output modifiers".
 */
#include "device/virtual/gcn3/valu_half.h"

/* --- DPP --- */

enum {                       /* DPP_CTRL, GCN3 ISA manual, table "DPP_CTRL" */
	DPP_ROW_SHL = 0x100, /* | 1..15 */
	DPP_ROW_SHR = 0x110,
	DPP_ROW_ROR = 0x120,
	DPP_WAVE_SHL1 = 0x130,
	DPP_WAVE_ROL1 = 0x134,
	DPP_WAVE_SHR1 = 0x138,
	DPP_WAVE_ROR1 = 0x13c,
	DPP_ROW_MIRROR = 0x140,
	DPP_ROW_HALF_MIRROR = 0x141,
	DPP_ROW_BCAST15 = 0x142,
	DPP_ROW_BCAST31 = 0x143,
};

static int within_row(int lane, int at)
{
	return at >= 0 && at < 16 ? (lane & ~15) + at : -1;
}

/* Lane that @lane reads from, -1 for none. */
static int dpp_source(unsigned control, int lane)
{
	const int at = lane & 15, count = (int)(control & 15);

	if (control < DPP_ROW_SHL) /* quad_perm: two bits a lane of the quad */
		return (lane & ~3) + (int)(control >> (2 * (lane & 3)) & 3);
	switch (control & ~15u) {
	case DPP_ROW_SHL: return within_row(lane, at + count);
	case DPP_ROW_SHR: return within_row(lane, at - count);
	case DPP_ROW_ROR: return within_row(lane, (at - count) & 15);
	default: break;
	}
	switch (control) {
	case DPP_WAVE_SHL1: return lane < 63 ? lane + 1 : -1;
	case DPP_WAVE_ROL1: return (lane + 1) & 63;
	case DPP_WAVE_SHR1: return lane - 1;
	case DPP_WAVE_ROR1: return (lane - 1) & 63;
	case DPP_ROW_MIRROR: return (lane & ~15) + 15 - at;
	case DPP_ROW_HALF_MIRROR: return (lane & ~7) + 7 - (lane & 7);
	case DPP_ROW_BCAST15: return (lane & ~15) - 1;
	case DPP_ROW_BCAST31: return lane < 32 ? -1 : 31;
	default: return -1;
	}
}

/* A lane outside row_mask or bank_mask does not run; one without a source (none there, or inactive)
 * reads 0 with bound_ctrl and does not run without. */
void gcn3_valu_dpp(struct valu *u)
{
	const struct gcn3_insn *i = u->i;
	const uint64_t exec = u->active;
	const uint32_t *from = u->src[0];
	uint32_t *to = u->tmp[0][0];

	for (int l = 0; l < GCN3_LANES; l++) {
		const int source = dpp_source(i->dpp_ctrl, l);
		const bool valid = source >= 0 && exec >> source & 1;
		const bool selected = i->row_mask >> (l / 16) & i->bank_mask >> (l / 4 % 4) & 1;

		to[l] = valid ? from[source] : 0;
		if (!selected || (!valid && !i->bound_ctrl))
			u->active &= ~(1ull << l);
	}
	u->src[0] = to;
}

/* --- SDWA --- */

enum { /* SRC_SEL and DST_SEL: 0..3 a byte, 4 and 5 a word, 6 everything */
	SEL_WORD_0 = 4,
	SEL_DWORD = 6,
	UNUSED_SEXT = 1, /* DST_UNUSED: 0 zeros, 1 sign above and zeros below, 2 keep */
	UNUSED_PRESERVE = 2,
};

static unsigned sel_shift(unsigned sel)
{
	return sel < SEL_WORD_0 ? 8 * sel : sel < SEL_DWORD ? 16 * (sel - SEL_WORD_0) : 0;
}

static uint32_t sel_mask(unsigned sel)
{
	return sel < SEL_WORD_0 ? 0xff : sel < SEL_DWORD ? 0xffff : ~0u;
}

static uint32_t select_part(uint32_t value, unsigned sel, bool sign)
{
	const uint32_t mask = sel_mask(sel), part = value >> sel_shift(sel) & mask;
	const uint32_t top = mask ^ mask >> 1;

	return sign && part & top ? part | ~mask : part;
}

void gcn3_valu_sdwa_sources(struct valu *u, const struct valu_info *f)
{
	for (unsigned k = 0; k < 2; k++) {
		const uint32_t *from = u->src[k];
		const bool sign = u->i->sext >> k & 1;

		if (f->src[k] == GCN3_AS_NONE || f->src[k] == GCN3_AS_M)
			continue;
		for (unsigned l = 0; l < GCN3_LANES; l++)
			u->tmp[k][0][l] = select_part(from[l], u->i->src_sel[k], sign);
		u->src[k] = u->tmp[k][0];
	}
}

void gcn3_valu_sdwa_result(struct valu *u, const uint32_t *old)
{
	const struct gcn3_insn *i = u->i;
	const unsigned shift = sel_shift(i->dst_sel);
	const uint32_t mask = sel_mask(i->dst_sel), top = mask ^ mask >> 1;

	for (unsigned l = 0; l < GCN3_LANES; l++) {
		const uint32_t part = u->out[0][l] & mask;
		uint32_t rest = 0;

		if (i->dst_unused == UNUSED_PRESERVE)
			rest = old[l] & ~(mask << shift);
		else if (i->dst_unused == UNUSED_SEXT && part & top)
			rest = ~mask << shift;
		u->out[0][l] = part << shift | rest;
	}
}

/* --- neg, abs --- */

static void change_sign(uint32_t *row, uint32_t sign, bool abs, bool neg)
{
	for (unsigned l = 0; l < GCN3_LANES; l++)
		row[l] = (abs ? row[l] & ~sign : row[l]) ^ (neg ? sign : 0);
}

void gcn3_valu_sign_modifiers(struct valu *u, const struct valu_info *f)
{
	for (unsigned k = 0; k < 3; k++) {
		const bool neg = u->i->neg >> k & 1, abs = u->i->abs >> k & 1;
		const unsigned dwords = gcn3_as_dwords(f->src[k]);

		if (!(neg | abs) || f->src[k] == GCN3_AS_NONE || f->src[k] == GCN3_AS_M)
			continue;
		if (u->src[k] != u->tmp[k][0])
			memcpy(u->tmp[k], u->src[k], dwords * sizeof(u->tmp[k][0]));
		u->src[k] = u->tmp[k][0];
		change_sign(u->tmp[k][dwords - 1], f->src[k] == GCN3_AS_H ? 0x8000 : 0x80000000,
		        abs, neg);
	}
}

/* --- omod, clamp --- */

static double clamp_unit(double v, bool nan_to_zero)
{
	if (v != v)
		return nan_to_zero ? 0.0 : v;
	return v > 0.0 ? (v > 1.0 ? 1.0 : v) : 0.0;
}

/* omod counts only without IEEE mode and with output denormals flushed; it turns -0 into +0. */
static double omod_factor(const struct valu *u, unsigned keeps_denormals)
{
	static const double factor[4] = {1.0, 2.0, 4.0, 0.5};

	return u->ieee || u->mode & keeps_denormals ? 1.0 : factor[u->i->omod];
}

static uint32_t modify_single(uint32_t bits, double factor, bool clamp, bool nan_to_zero)
{
	float v = as_float(bits);

	if (factor != 1.0)
		v = v * (float)factor + 0.0f;
	if (!clamp)
		return factor != 1.0 ? float_bits(v) : bits;
	return float_bits((float)clamp_unit((double)v, nan_to_zero));
}

static uint32_t modify_half(const struct valu *u, uint32_t h, double factor, bool nan_to_zero)
{
	double v = half_value(h, ~0u);

	if (factor != 1.0)
		v = v * factor + 0.0;
	if (u->i->clamp)
		v = clamp_unit(v, nan_to_zero);
	return half_round(v, u->mode);
}

static uint64_t modify_double(uint64_t bits, double factor, bool clamp, bool nan_to_zero)
{
	double v = as_double(bits);

	if (factor != 1.0)
		v = v * factor + 0.0;
	if (clamp)
		v = clamp_unit(v, nan_to_zero);
	return clamp || factor != 1.0 ? double_bits(v) : bits;
}

/* Denormal output bits of MODE: [5] single, [7] double and half. */
static void modify_result(struct valu *u, enum gcn3_as as)
{
	const bool zero = u->mode & GCN3_MODE_DX10_CLAMP, clamp = u->clamp;
	const double factor = omod_factor(u, as == GCN3_AS_F ? 1u << 5 : 1u << 7);
	uint32_t *d = u->out[0];

	for (unsigned l = 0; l < GCN3_LANES; l++) {
		if (as == GCN3_AS_F)
			d[l] = modify_single(d[l], factor, clamp, zero);
		else if (as == GCN3_AS_H)
			d[l] = modify_half(u, d[l], factor, zero);
		else
			st_L(d, l, modify_double(wide(d, l), factor, clamp, zero));
	}
}

void gcn3_valu_output_modifiers(struct valu *u, enum gcn3_as as)
{
	if (as != GCN3_AS_F && as != GCN3_AS_H && as != GCN3_AS_D)
		return; /* integer operations saturate by themselves */
	if (as != GCN3_AS_F)
		gcn3_fp_set(gcn3_fp_control(u->mode, GCN3_FP_EXACT));
	modify_result(u, as);
	gcn3_fp_set(gcn3_fp_control(u->mode, GCN3_FP_SINGLE));
}
