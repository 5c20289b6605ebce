/* valu_body.h - the vector executor: operands, dispatch, merge under EXEC. Private to gcn3/.
 * Included once per x86-64 level by exec_valu_<level>.c, which define VALU_EXECUTOR, the function's
 * name.
 */
#include "device/virtual/gcn3/valu_math.h"

#define V1(NAME, FP, DT, AT, EXPR)              FN1(NAME, DT, AT, EXPR)
#define V2(NAME, FP, DT, AT, BT, EXPR)          FN2(NAME, DT, AT, BT, EXPR)
#define V3(NAME, FP, DT, AT, BT, CT, EXPR)      FN3(NAME, DT, AT, BT, CT, EXPR)
#define V1S(NAME, FP, DT, AT, EXPR)             FN1S(NAME, DT, AT, EXPR)
#define V2S(NAME, FP, DT, AT, BT, EXPR)         FN2S(NAME, DT, AT, BT, EXPR)
#define V3S(NAME, FP, DT, AT, BT, CT, EXPR)     FN3S(NAME, DT, AT, BT, CT, EXPR)
#define A3S(NAME, FP, DT, AT, BT, CT, EXPR)     FN3S(NAME, DT, AT, BT, CT, EXPR)
#define M2(NAME, FP, DT, AT, BT, EXPR, BIT)     FNM2(NAME, DT, AT, BT, EXPR, BIT)
#define M3(NAME, FP, DT, AT, BT, CT, EXPR, BIT) FNM3(NAME, DT, AT, BT, CT, EXPR, BIT)
#define CMP(NAME, FP, AT, BT, EXPR)             FNC(CMP_##NAME, AT, BT, EXPR)
#include "device/virtual/gcn3/valu_hot.def"
#undef V1
#undef V2
#undef V3
#undef V1S
#undef V2S
#undef V3S
#undef A3S
#undef M2
#undef M3
#undef CMP

static const valu_fn hot[GCN3_OP_COUNT] = {
#define V1(NAME, FP, DT, AT, EXPR)              [GCN3_##NAME] = fn_##NAME,
#define V2(NAME, FP, DT, AT, BT, EXPR)          [GCN3_##NAME] = fn_##NAME,
#define V3(NAME, FP, DT, AT, BT, CT, EXPR)      [GCN3_##NAME] = fn_##NAME,
#define V1S(NAME, FP, DT, AT, EXPR)             [GCN3_##NAME] = fn_##NAME,
#define V2S(NAME, FP, DT, AT, BT, EXPR)         [GCN3_##NAME] = fn_##NAME,
#define V3S(NAME, FP, DT, AT, BT, CT, EXPR)     [GCN3_##NAME] = fn_##NAME,
#define A3S(NAME, FP, DT, AT, BT, CT, EXPR)     [GCN3_##NAME] = fn_##NAME,
#define M2(NAME, FP, DT, AT, BT, EXPR, BIT)     [GCN3_##NAME] = fn_##NAME,
#define M3(NAME, FP, DT, AT, BT, CT, EXPR, BIT) [GCN3_##NAME] = fn_##NAME,
#define CMP(NAME, FP, AT, BT, EXPR)                                                                \
	[GCN3_V_CMP_##NAME] = fn_CMP_##NAME, [GCN3_V_CMPX_##NAME] = fn_CMP_##NAME,
#include "device/virtual/gcn3/valu_hot.def"
};

static void broadcast(uint32_t *row, uint32_t value)
{
	for (unsigned l = 0; l < GCN3_LANES; l++)
		row[l] = value;
}

/* Rows of source @k: the VGPRs themselves, or a copy of the scalar in every lane. */
static inline const uint32_t *source(struct valu *u, unsigned k, enum gcn3_as as)
{
	const unsigned code = u->i->src[k];
	uint64_t value;

	if (code >= GCN3_OPERAND_VGPR)
		return u->w->v[code - GCN3_OPERAND_VGPR];
	value = gcn3_scalar(u->w, u->i, code, as);
	if (as == GCN3_AS_M) {
		expand_lanes(value, u->tmp[k][0]);
		return u->tmp[k][0];
	}
	broadcast(u->tmp[k][0], (uint32_t)value);
	if (gcn3_as_dwords(as) > 1)
		broadcast(u->tmp[k][1], (uint32_t)(value >> 32));
	if (as == GCN3_AS_Q) { /* no constant is that wide */
		broadcast(u->tmp[k][2], 0);
		broadcast(u->tmp[k][3], 0);
	}
	return u->tmp[k][0];
}

static inline void fetch(struct valu *u, const struct valu_info *f, bool modified)
{
	const unsigned first = u->i->src[0];

	u->scalar = f->flags & VALU_SCALAR && first < GCN3_OPERAND_VGPR && !modified;
	if (u->scalar)
		u->scalar_value = gcn3_scalar(u->w, u->i, first, f->src[0]);
	else
		u->src[0] = source(u, 0, f->src[0]);
	if (f->src[1])
		u->src[1] = source(u, 1, f->src[1]);
	if (f->flags & VALU_ACC)
		u->src[2] = u->w->v[u->i->dst - GCN3_OPERAND_VGPR];
	else if (f->src[2])
		u->src[2] = source(u, 2, f->src[2]);
	if (f->flags & VALU_VCC)
		u->vcc = gcn3_sgpr64(u->w, GCN3_OPERAND_VCC);
}

static void modify_sources(struct valu *u, const struct valu_info *f)
{
	if (u->i->dpp)
		gcn3_valu_dpp(u);
	if (u->i->sdwa)
		gcn3_valu_sdwa_sources(u, f);
	if (u->i->neg | u->i->abs)
		gcn3_valu_sign_modifiers(u, f);
}

static inline void merge_row(
        uint32_t *row, const uint32_t *out, uint64_t active, const uint32_t *lanes)
{
#if defined(__AVX512F__)
	(void)lanes;
	for (unsigned n = 0; n < 4; n++)
		_mm512_mask_storeu_epi32(row + 16 * n, (__mmask16)(active >> (16 * n)),
		        _mm512_load_si512(out + 16 * n));
#else
	(void)active;
	LANES row[l] = (out[l] & lanes[l]) | (row[l] & ~lanes[l]);
#endif
}

/* Write the result under the active lanes; all rows were computed before the first is written. */
static void merge(struct valu *u, const struct valu_info *f)
{
	uint32_t own[GCN3_LANES] __attribute__((aligned(64)));
	uint32_t *row = u->w->v[u->i->dst - GCN3_OPERAND_VGPR];
	const uint32_t *lanes = own;

	if (u->active == gcn3_exec(u->w))
		lanes = gcn3_exec_lanes(u->w);
	else
		expand_lanes(u->active, own);
	for (unsigned n = 0; n < gcn3_as_dwords(f->dst); n++)
		merge_row(row + n * GCN3_LANES, u->out[n], u->active, lanes);
}

/* Other classes than the wave's own change MXCSR around the operation. With the usual MODE
 * (nearest, single-precision denormals flushed) three classes are the same. */
static inline void compute(struct valu *u, const struct valu_info *f, valu_fn fn)
{
	const bool usual = !(u->mode & 0x33); /* FP_ROUND and FP_DENORM of single precision */

	if (f->fp <= GCN3_FP_SINGLE || (f->fp <= GCN3_FP_APPROX && usual)) {
		fn(u);
		return;
	}
	gcn3_fp_set(gcn3_fp_control(u->mode, f->fp));
	fn(u);
	gcn3_fp_set(gcn3_fp_control(u->mode, GCN3_FP_SINGLE));
}

static void finish(struct valu *u, const struct valu_info *f, bool direct)
{
	const struct gcn3_insn *i = u->i;

	if (f->dst && !direct) {
		if (i->omod || i->clamp)
			gcn3_valu_output_modifiers(u, f->dst);
		if (i->sdwa)
			gcn3_valu_sdwa_result(u, u->w->v[i->dst - GCN3_OPERAND_VGPR]);
		merge(u, f);
	}
	if (f->flags & VALU_MASK)
		gcn3_set_sgpr64(u->w, i->sdst, u->mask & u->active);
	if (f->flags & VALU_EXEC)
		gcn3_set_sgpr64(u->w, GCN3_OPERAND_EXEC, u->mask & u->active);
}

enum gcn3_status VALU_EXECUTOR(struct gcn3_wave *w, const struct gcn3_insn *i)
{
	const struct valu_info *f = &gcn3_valu_info[i->op];
	const bool modified = i->sdwa | i->dpp | i->neg | i->abs | i->omod | i->clamp;
	const valu_fn fn = hot[i->op] ? hot[i->op] : gcn3_valu_cold[i->op];
	struct valu u;
	bool direct;

	u.w = w;
	u.i = i;
	u.mode = w->mode;
	u.ieee = w->mode & GCN3_MODE_IEEE ? ~0u : 0;
	u.clamp = i->clamp;
	u.active = gcn3_exec(w);
	fetch(&u, f, modified);
	if (modified)
		modify_sources(&u, f);
	direct = !modified && u.active == ~0ull && f->dst;
	u.dst = direct ? w->v[i->dst - GCN3_OPERAND_VGPR] : u.out[0];
	compute(&u, f, fn);
	finish(&u, f, direct);
	return GCN3_OK;
}
