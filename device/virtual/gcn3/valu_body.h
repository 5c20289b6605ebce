/* valu_body.h - the vector executor: operands, dispatch, merge under EXEC. Private to gcn3/.
 * Included once per x86-64 level by exec_valu_<level>.c, which define VALU_EXECUTOR and
 * VALU_SHORTCUT, the names of the two functions.
 */
#include "device/virtual/gcn3/valu_math.h"

#define UNUSUAL_SINGLE 0x33u /* MODE: FP_ROUND and FP_DENORM of single precision */

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
	const bool usual = !(u->mode & UNUSUAL_SINGLE);

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

/* --- Shortcuts: one function per operation, for what training consists of: no SDWA, DPP or output
 * modifiers, usual MODE. Anything else goes through gcn3_exec_valu(). --- */

static inline bool simple(const struct gcn3_wave *w, const struct gcn3_insn *i)
{
	return !(w->mode & (UNUSUAL_SINGLE | GCN3_MODE_GPR_IDX)) && i->vgprs <= w->nvgprs;
}

/* neg and abs of source @k; hot operations have no operands with another sign bit. */
static inline uint32_t with_sign(const struct gcn3_insn *i, unsigned k, uint32_t bits)
{
	const uint32_t keep = i->abs >> k & 1 ? 0x7fffffff : ~0u;
	const uint32_t flip = i->neg >> k & 1 ? 0x80000000 : 0;

	return (bits & keep) ^ flip;
}

static inline const uint32_t *signed_row(
        const struct gcn3_insn *i, unsigned k, const uint32_t *row, uint32_t *tmp)
{
	for (unsigned l = 0; l < GCN3_LANES; l++)
		tmp[l] = with_sign(i, k, row[l]);
	return tmp;
}

/* An operand that is no plain VGPR, in @tmp. */
static __attribute__((noinline)) const uint32_t *copied_operand(const struct gcn3_wave *w,
        const struct gcn3_insn *i, unsigned k, enum gcn3_as as, uint32_t *tmp)
{
	const bool sign = as == GCN3_AS_F && (i->neg | i->abs);
	const unsigned code = i->src[k];
	uint64_t value;

	if (code >= GCN3_OPERAND_VGPR)
		return signed_row(i, k, w->v[code - GCN3_OPERAND_VGPR], tmp);
	value = gcn3_scalar(w, i, code, as);
	if (as == GCN3_AS_M) {
		expand_lanes(value, tmp);
		return tmp;
	}
	if (sign)
		value = with_sign(i, k, (uint32_t)value);
	broadcast(tmp, (uint32_t)value);
	if (gcn3_as_dwords(as) == 2)
		broadcast(tmp + GCN3_LANES, (uint32_t)(value >> 32));
	return tmp;
}

/* A row of the operand: the VGPR itself, or @tmp. */
static inline __attribute__((always_inline)) const uint32_t *operand(const struct gcn3_wave *w,
        const struct gcn3_insn *i, unsigned k, enum gcn3_as as, bool sign, uint32_t *tmp)
{
	const unsigned code = i->src[k];

	if (code < GCN3_OPERAND_VGPR || (sign && as == GCN3_AS_F))
		return copied_operand(w, i, k, as, tmp);
	return w->v[code - GCN3_OPERAND_VGPR];
}

static __attribute__((noinline)) void merge_active(struct gcn3_wave *w, const struct gcn3_insn *i,
        const uint32_t *out, enum gcn3_as as, uint64_t exec)
{
	const uint32_t *lanes = gcn3_exec_lanes(w);

	for (unsigned n = 0; n < gcn3_as_dwords(as); n++)
		merge_row(w->v[i->dst - GCN3_OPERAND_VGPR + n], out + n * GCN3_LANES, exec, lanes);
}

#define ENTER                                                                                      \
	if (!simple(w, i))                                                                         \
		return gcn3_exec_valu(w, i);                                                       \
	const uint32_t mode = w->mode, ieee = mode & GCN3_MODE_IEEE ? ~0u : 0, clamp = 0;          \
	const uint64_t exec = gcn3_exec(w);                                                        \
	(void)mode, (void)ieee, (void)clamp
#define DESTINATION                                                                                \
	TEMPORARY(d);                                                                              \
	uint32_t *d = exec == ~0ull ? w->v[i->dst - GCN3_OPERAND_VGPR] : tmpd
#define MERGE(T)                                                                                   \
	if (exec != ~0ull)                                                                         \
	merge_active(w, i, tmpd, GCN3_AS_##T, exec)
#define TEMPORARY(n) uint32_t tmp##n[2 * GCN3_LANES] __attribute__((aligned(64)))
#define ROW(k, T, p, SIGN)                                                                         \
	TEMPORARY(k);                                                                              \
	const uint32_t *p = operand(w, i, k, GCN3_AS_##T, SIGN, tmp##k)
#define VECTOR(T, SIGN) ROW(0, T, pa, SIGN)
#define SCALAR(T, SIGN) const T_##T x = cv_##T(gcn3_scalar(w, i, i->src[0], GCN3_AS_##T))

/* Forms: _v source 0 is a VGPR, _s a scalar, _m anything, with neg and abs (float sources only). */
#define SIGN_v    false
#define SIGN_s    false
#define SIGN_m    true
#define LANE_X(T) const T_##T x = ld_##T(pa, l)
#define NO_LANE_X(T)

#define FAST1(NAME, FORM, OPERAND, X, DT, AT, EXPR)                                                \
	static enum gcn3_status NAME##FORM(struct gcn3_wave *w, const struct gcn3_insn *i)         \
	{                                                                                          \
		ENTER;                                                                             \
		OPERAND(AT, SIGN##FORM);                                                           \
		DESTINATION;                                                                       \
		LANES                                                                              \
		{                                                                                  \
			X(AT);                                                                     \
			st_##DT(d, l, (EXPR));                                                     \
		}                                                                                  \
		MERGE(DT);                                                                         \
		return GCN3_OK;                                                                    \
	}
#define FAST2(NAME, FORM, OPERAND, X, DT, AT, BT, EXPR)                                            \
	static enum gcn3_status NAME##FORM(struct gcn3_wave *w, const struct gcn3_insn *i)         \
	{                                                                                          \
		ENTER;                                                                             \
		OPERAND(AT, SIGN##FORM);                                                           \
		ROW(1, BT, pb, SIGN##FORM);                                                        \
		DESTINATION;                                                                       \
		LANES                                                                              \
		{                                                                                  \
			X(AT);                                                                     \
			const T_##BT y = ld_##BT(pb, l);                                           \
			st_##DT(d, l, (EXPR));                                                     \
		}                                                                                  \
		MERGE(DT);                                                                         \
		return GCN3_OK;                                                                    \
	}
#define FAST3(NAME, FORM, OPERAND, X, THIRD, DT, AT, BT, CT, EXPR)                                 \
	static enum gcn3_status NAME##FORM(struct gcn3_wave *w, const struct gcn3_insn *i)         \
	{                                                                                          \
		ENTER;                                                                             \
		OPERAND(AT, SIGN##FORM);                                                           \
		ROW(1, BT, pb, SIGN##FORM);                                                        \
		THIRD(CT, SIGN##FORM);                                                             \
		DESTINATION;                                                                       \
		LANES                                                                              \
		{                                                                                  \
			X(AT);                                                                     \
			const T_##BT y = ld_##BT(pb, l);                                           \
			const T_##CT z = ld_##CT(pc, l);                                           \
			st_##DT(d, l, (EXPR));                                                     \
		}                                                                                  \
		MERGE(DT);                                                                         \
		return GCN3_OK;                                                                    \
	}
#define THIRD_ROW(T, SIGN)   ROW(2, T, pc, SIGN)
#define ACCUMULATOR(T, SIGN) const uint32_t *pc = w->v[i->dst - GCN3_OPERAND_VGPR]
#define FASTM2(NAME, FORM, OPERAND, X, DT, AT, BT, EXPR, BIT)                                      \
	static enum gcn3_status NAME##FORM(struct gcn3_wave *w, const struct gcn3_insn *i)         \
	{                                                                                          \
		ENTER;                                                                             \
		OPERAND(AT, SIGN##FORM);                                                           \
		ROW(1, BT, pb, SIGN##FORM);                                                        \
		DESTINATION;                                                                       \
		TEMPORARY(m);                                                                      \
		LANES                                                                              \
		{                                                                                  \
			X(AT);                                                                     \
			const T_##BT y = ld_##BT(pb, l);                                           \
			tmpm[l] = (BIT) ? ~0u : 0;                                                 \
			st_##DT(d, l, (EXPR));                                                     \
		}                                                                                  \
		gcn3_set_sgpr64(w, i->sdst, pack_lanes(tmpm) & exec);                              \
		MERGE(DT);                                                                         \
		return GCN3_OK;                                                                    \
	}
#define FASTM3(NAME, FORM, OPERAND, X, DT, AT, BT, CT, EXPR, BIT)                                  \
	static enum gcn3_status NAME##FORM(struct gcn3_wave *w, const struct gcn3_insn *i)         \
	{                                                                                          \
		ENTER;                                                                             \
		OPERAND(AT, SIGN##FORM);                                                           \
		ROW(1, BT, pb, SIGN##FORM);                                                        \
		ROW(2, CT, pc, SIGN##FORM);                                                        \
		DESTINATION;                                                                       \
		TEMPORARY(m);                                                                      \
		LANES                                                                              \
		{                                                                                  \
			X(AT);                                                                     \
			const T_##BT y = ld_##BT(pb, l);                                           \
			const T_##CT z = ld_##CT(pc, l);                                           \
			const T_##DT r = (EXPR);                                                   \
			tmpm[l] = (BIT) ? ~0u : 0;                                                 \
			st_##DT(d, l, r);                                                          \
		}                                                                                  \
		gcn3_set_sgpr64(w, i->sdst, pack_lanes(tmpm) & exec);                              \
		MERGE(DT);                                                                         \
		return GCN3_OK;                                                                    \
	}
#define FASTC(NAME, FORM, OPERAND, X, AT, BT, EXPR)                                                \
	static enum gcn3_status NAME##FORM(struct gcn3_wave *w, const struct gcn3_insn *i)         \
	{                                                                                          \
		ENTER;                                                                             \
		OPERAND(AT, SIGN##FORM);                                                           \
		ROW(1, BT, pb, SIGN##FORM);                                                        \
		TEMPORARY(m);                                                                      \
		LANES                                                                              \
		{                                                                                  \
			X(AT);                                                                     \
			const T_##BT y = ld_##BT(pb, l);                                           \
			(void)x, (void)y;                                                          \
			tmpm[l] = (EXPR) ? ~0u : 0;                                                \
		}                                                                                  \
		gcn3_set_sgpr64(w, i->sdst, pack_lanes(tmpm) & exec);                              \
		return GCN3_OK;                                                                    \
	}

/* Only operations on floats have the third form. */
#define IF_F(CODE) CODE
#define IF_U(CODE)
#define IF_I(CODE)
#define IF_L(CODE)
#define IF_J(CODE)

#define V1(NAME, FP, DT, AT, EXPR)                                                                 \
	FAST1(NAME, _v, VECTOR, LANE_X, DT, AT, EXPR)                                              \
	IF_##AT(FAST1(NAME, _m, VECTOR, LANE_X, DT, AT, EXPR))
#define V2(NAME, FP, DT, AT, BT, EXPR)                                                             \
	FAST2(NAME, _v, VECTOR, LANE_X, DT, AT, BT, EXPR)                                          \
	IF_##AT(FAST2(NAME, _m, VECTOR, LANE_X, DT, AT, BT, EXPR))
#define V3(NAME, FP, DT, AT, BT, CT, EXPR)                                                         \
	FAST3(NAME, _v, VECTOR, LANE_X, THIRD_ROW, DT, AT, BT, CT, EXPR)                           \
	IF_##AT(FAST3(NAME, _m, VECTOR, LANE_X, THIRD_ROW, DT, AT, BT, CT, EXPR))
#define V1S(NAME, FP, DT, AT, EXPR)                                                                \
	V1(NAME, FP, DT, AT, EXPR) FAST1(NAME, _s, SCALAR, NO_LANE_X, DT, AT, EXPR)
#define V2S(NAME, FP, DT, AT, BT, EXPR)                                                            \
	V2(NAME, FP, DT, AT, BT, EXPR) FAST2(NAME, _s, SCALAR, NO_LANE_X, DT, AT, BT, EXPR)
#define V3S(NAME, FP, DT, AT, BT, CT, EXPR)                                                        \
	V3(NAME, FP, DT, AT, BT, CT, EXPR)                                                         \
	FAST3(NAME, _s, SCALAR, NO_LANE_X, THIRD_ROW, DT, AT, BT, CT, EXPR)
#define A3S(NAME, FP, DT, AT, BT, CT, EXPR)                                                        \
	FAST3(NAME, _v, VECTOR, LANE_X, ACCUMULATOR, DT, AT, BT, CT, EXPR)                         \
	FAST3(NAME, _m, VECTOR, LANE_X, ACCUMULATOR, DT, AT, BT, CT, EXPR)                         \
	FAST3(NAME, _s, SCALAR, NO_LANE_X, ACCUMULATOR, DT, AT, BT, CT, EXPR)
#define M2(NAME, FP, DT, AT, BT, EXPR, BIT)                                                        \
	FASTM2(NAME, _v, VECTOR, LANE_X, DT, AT, BT, EXPR, BIT)                                    \
	FASTM2(NAME, _s, SCALAR, NO_LANE_X, DT, AT, BT, EXPR, BIT)
#define M3(NAME, FP, DT, AT, BT, CT, EXPR, BIT)                                                    \
	FASTM3(NAME, _v, VECTOR, LANE_X, DT, AT, BT, CT, EXPR, BIT)                                \
	FASTM3(NAME, _s, SCALAR, NO_LANE_X, DT, AT, BT, CT, EXPR, BIT)
#define CMP(NAME, FP, AT, BT, EXPR)                                                                \
	FASTC(CMP_##NAME, _v, VECTOR, LANE_X, AT, BT, EXPR)                                        \
	IF_##AT(FASTC(CMP_##NAME, _m, VECTOR, LANE_X, AT, BT, EXPR))                               \
	        FASTC(CMP_##NAME, _s, SCALAR, NO_LANE_X, AT, BT, EXPR)
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

static const struct {
	gcn3_executor vector, scalar, modified;
} shortcuts[GCN3_OP_COUNT] = {
#define ROW1(NAME, AT) [GCN3_##NAME] = {.vector = NAME##_v, IF_##AT(.modified = NAME##_m)},
#define ROW2(NAME, AT)                                                                             \
	[GCN3_##NAME] = {.vector = NAME##_v, .scalar = NAME##_s, IF_##AT(.modified = NAME##_m)},
#define V1(NAME, FP, DT, AT, EXPR)              ROW1(NAME, AT)
#define V2(NAME, FP, DT, AT, BT, EXPR)          ROW1(NAME, AT)
#define V3(NAME, FP, DT, AT, BT, CT, EXPR)      ROW1(NAME, AT)
#define V1S(NAME, FP, DT, AT, EXPR)             ROW2(NAME, AT)
#define V2S(NAME, FP, DT, AT, BT, EXPR)         ROW2(NAME, AT)
#define V3S(NAME, FP, DT, AT, BT, CT, EXPR)     ROW2(NAME, AT)
#define A3S(NAME, FP, DT, AT, BT, CT, EXPR)     ROW2(NAME, AT)
#define M2(NAME, FP, DT, AT, BT, EXPR, BIT)     ROW2(NAME, AT)
#define M3(NAME, FP, DT, AT, BT, CT, EXPR, BIT) ROW2(NAME, AT)
#define CMP(NAME, FP, AT, BT, EXPR)                                                                \
	[GCN3_V_CMP_##NAME] = {.vector = CMP_##NAME##_v,                                           \
	        .scalar = CMP_##NAME##_s,                                                          \
	        IF_##AT(.modified = CMP_##NAME##_m)},
#include "device/virtual/gcn3/valu_hot.def"
};

gcn3_executor VALU_SHORTCUT(const struct gcn3_insn *i)
{
	if (i->neg | i->abs)
		return shortcuts[i->op].modified;
	return i->src[0] >= GCN3_OPERAND_VGPR ? shortcuts[i->op].vector : shortcuts[i->op].scalar;
}
