/* valu_ops.h - lane values: types, loads and stores of each operand kind, and the loop over lanes.
 * Private to gcn3/; included by the files that are compiled per x86-64 level, so everything is
 * static.
 */
#ifndef GCN3_VALU_OPS_H
#define GCN3_VALU_OPS_H

#include <math.h>
#include <string.h>

#include "device/virtual/gcn3/valu.h"

/* Lanes are independent: a lane reads its operands before it writes its result, so rows may be the
 * same or overlap. */
#ifdef __clang__
#define LANES                                                                                      \
	_Pragma("clang loop vectorize(assume_safety)") for (unsigned l = 0; l < GCN3_LANES; l++)
#pragma clang diagnostic ignored                                                                   \
        "-Wpass-failed" /* a scalar loop is fine where nothing better exists */
#else
#define LANES _Pragma("GCC ivdep") for (unsigned l = 0; l < GCN3_LANES; l++)
#endif

typedef uint32_t T_U;
typedef int32_t T_I;
typedef float T_F;
typedef uint32_t T_H; /* bits */
typedef uint32_t T_W;
typedef int32_t T_X;
typedef double T_D;
typedef uint64_t T_L;
typedef int64_t T_J;
typedef uint32_t T_M; /* 0 or ~0 */

static inline float as_float(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static inline uint32_t float_bits(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static inline double as_double(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

static inline uint64_t double_bits(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

/* cv_: from the dwords of a scalar operand */
#define cv_U(v) ((uint32_t)(v))
#define cv_I(v) ((int32_t)(uint32_t)(v))
#define cv_F(v) as_float((uint32_t)(v))
#define cv_H(v) ((uint32_t)(v) & 0xffff)
#define cv_W(v) ((uint32_t)(v) & 0xffff)
#define cv_X(v) ((int32_t)(int16_t)(v))
#define cv_D(v) as_double(v)
#define cv_L(v) (v)
#define cv_J(v) ((int64_t)(v))
#define cv_M(v) ((uint32_t)(v))

/* ld_: lane of a row; 64-bit values have their high halves in the next row */
#define wide(p, l) ((p)[l] | (uint64_t)(p)[GCN3_LANES + (l)] << 32)
#define ld_U(p, l) cv_U((p)[l])
#define ld_I(p, l) cv_I((p)[l])
#define ld_F(p, l) cv_F((p)[l])
#define ld_H(p, l) cv_H((p)[l])
#define ld_W(p, l) cv_W((p)[l])
#define ld_X(p, l) cv_X((p)[l])
#define ld_D(p, l) cv_D(wide(p, l))
#define ld_L(p, l) cv_L(wide(p, l))
#define ld_J(p, l) cv_J(wide(p, l))
#define ld_M(p, l) cv_M((p)[l])

/* st_: 16-bit results clear the upper half (GCN3 ISA manual; LLVM: zeroesHigh16BitsOfDest) */
#define st_U(d, l, v) ((d)[l] = (v))
#define st_I(d, l, v) ((d)[l] = (uint32_t)(v))
#define st_F(d, l, v) ((d)[l] = float_bits(v))
#define st_H(d, l, v) ((d)[l] = (v) & 0xffff)
#define st_W(d, l, v) ((d)[l] = (v) & 0xffff)
#define st_X(d, l, v) ((d)[l] = (uint32_t)(v) & 0xffff)
#define st_L(d, l, v)                                                                              \
	do {                                                                                       \
		const uint64_t wide_ = (v);                                                        \
		(d)[l] = (uint32_t)wide_;                                                          \
		(d)[GCN3_LANES + (l)] = (uint32_t)(wide_ >> 32);                                   \
	} while (0)
#define st_J(d, l, v) st_L(d, l, (uint64_t)(v))
#define st_D(d, l, v) st_L(d, l, double_bits(v))

/* What expressions may use besides x, y, z and l. */
#define COMMON                                                                                     \
	const uint32_t ieee = u->ieee, mode = u->mode, clamp = u->clamp ? ~0u : 0;                 \
	(void)ieee, (void)mode, (void)clamp

/* Functions from the .def files. V1..V3: one to three sources x, y, z. S: source 0 may be scalar.
 */
#define FN1(NAME, DT, AT, EXPR)                                                                    \
	static void fn_##NAME(struct valu *u)                                                      \
	{                                                                                          \
		COMMON;                                                                            \
		const uint32_t *pa = u->src[0];                                                    \
		uint32_t *d = u->dst;                                                              \
		LANES                                                                              \
		{                                                                                  \
			const T_##AT x = ld_##AT(pa, l);                                           \
			st_##DT(d, l, (EXPR));                                                     \
		}                                                                                  \
	}
#define FN2(NAME, DT, AT, BT, EXPR)                                                                \
	static void fn_##NAME(struct valu *u)                                                      \
	{                                                                                          \
		COMMON;                                                                            \
		const uint32_t *pa = u->src[0], *pb = u->src[1];                                   \
		uint32_t *d = u->dst;                                                              \
		LANES                                                                              \
		{                                                                                  \
			const T_##AT x = ld_##AT(pa, l);                                           \
			const T_##BT y = ld_##BT(pb, l);                                           \
			st_##DT(d, l, (EXPR));                                                     \
		}                                                                                  \
	}
#define FN3(NAME, DT, AT, BT, CT, EXPR)                                                            \
	static void fn_##NAME(struct valu *u)                                                      \
	{                                                                                          \
		COMMON;                                                                            \
		const uint32_t *pa = u->src[0], *pb = u->src[1], *pc = u->src[2];                  \
		uint32_t *d = u->dst;                                                              \
		LANES                                                                              \
		{                                                                                  \
			const T_##AT x = ld_##AT(pa, l);                                           \
			const T_##BT y = ld_##BT(pb, l);                                           \
			const T_##CT z = ld_##CT(pc, l);                                           \
			st_##DT(d, l, (EXPR));                                                     \
		}                                                                                  \
	}
#define FN1S(NAME, DT, AT, EXPR)                                                                   \
	static void fn_##NAME(struct valu *u)                                                      \
	{                                                                                          \
		COMMON;                                                                            \
		const uint32_t *pa = u->src[0];                                                    \
		uint32_t *d = u->dst;                                                              \
		if (u->scalar) {                                                                   \
			const T_##AT x = cv_##AT(u->scalar_value);                                 \
			LANES st_##DT(d, l, (EXPR));                                               \
			return;                                                                    \
		}                                                                                  \
		LANES                                                                              \
		{                                                                                  \
			const T_##AT x = ld_##AT(pa, l);                                           \
			st_##DT(d, l, (EXPR));                                                     \
		}                                                                                  \
	}
#define FN2S(NAME, DT, AT, BT, EXPR)                                                               \
	static void fn_##NAME(struct valu *u)                                                      \
	{                                                                                          \
		COMMON;                                                                            \
		const uint32_t *pa = u->src[0], *pb = u->src[1];                                   \
		uint32_t *d = u->dst;                                                              \
		if (u->scalar) {                                                                   \
			const T_##AT x = cv_##AT(u->scalar_value);                                 \
			LANES                                                                      \
			{                                                                          \
				const T_##BT y = ld_##BT(pb, l);                                   \
				st_##DT(d, l, (EXPR));                                             \
			}                                                                          \
			return;                                                                    \
		}                                                                                  \
		LANES                                                                              \
		{                                                                                  \
			const T_##AT x = ld_##AT(pa, l);                                           \
			const T_##BT y = ld_##BT(pb, l);                                           \
			st_##DT(d, l, (EXPR));                                                     \
		}                                                                                  \
	}
#define FN3S(NAME, DT, AT, BT, CT, EXPR)                                                           \
	static void fn_##NAME(struct valu *u)                                                      \
	{                                                                                          \
		COMMON;                                                                            \
		const uint32_t *pa = u->src[0], *pb = u->src[1], *pc = u->src[2];                  \
		uint32_t *d = u->dst;                                                              \
		if (u->scalar) {                                                                   \
			const T_##AT x = cv_##AT(u->scalar_value);                                 \
			LANES                                                                      \
			{                                                                          \
				const T_##BT y = ld_##BT(pb, l);                                   \
				const T_##CT z = ld_##CT(pc, l);                                   \
				st_##DT(d, l, (EXPR));                                             \
			}                                                                          \
			return;                                                                    \
		}                                                                                  \
		LANES                                                                              \
		{                                                                                  \
			const T_##AT x = ld_##AT(pa, l);                                           \
			const T_##BT y = ld_##BT(pb, l);                                           \
			const T_##CT z = ld_##CT(pc, l);                                           \
			st_##DT(d, l, (EXPR));                                                     \
		}                                                                                  \
	}
/* Compare: the expression is the lane's bit. */
#define FNC(NAME, AT, BT, EXPR)                                                                    \
	static void fn_##NAME(struct valu *u)                                                      \
	{                                                                                          \
		COMMON;                                                                            \
		const uint32_t *pa = u->src[0], *pb = u->src[1];                                   \
		uint32_t m[GCN3_LANES] __attribute__((aligned(64)));                               \
		if (u->scalar) {                                                                   \
			const T_##AT x = cv_##AT(u->scalar_value);                                 \
			LANES                                                                      \
			{                                                                          \
				const T_##BT y = ld_##BT(pb, l);                                   \
				(void)x, (void)y;                                                  \
				m[l] = (EXPR) ? ~0u : 0;                                           \
			}                                                                          \
		} else {                                                                           \
			LANES                                                                      \
			{                                                                          \
				const T_##AT x = ld_##AT(pa, l);                                   \
				const T_##BT y = ld_##BT(pb, l);                                   \
				(void)x, (void)y;                                                  \
				m[l] = (EXPR) ? ~0u : 0;                                           \
			}                                                                          \
		}                                                                                  \
		u->mask = pack_lanes(m);                                                           \
	}
/* Result r and a lane bit, such as a carry. */
#define FNM3(NAME, DT, AT, BT, CT, EXPR, BIT)                                                      \
	static void fn_##NAME(struct valu *u)                                                      \
	{                                                                                          \
		COMMON;                                                                            \
		const uint32_t *pa = u->src[0], *pb = u->src[1], *pc = u->src[2];                  \
		uint32_t *d = u->dst;                                                              \
		uint32_t m[GCN3_LANES] __attribute__((aligned(64)));                               \
		LANES                                                                              \
		{                                                                                  \
			const T_##AT x = ld_##AT(pa, l);                                           \
			const T_##BT y = ld_##BT(pb, l);                                           \
			const T_##CT z = ld_##CT(pc, l);                                           \
			const T_##DT r = (EXPR);                                                   \
			m[l] = (BIT) ? ~0u : 0;                                                    \
			st_##DT(d, l, r);                                                          \
		}                                                                                  \
		u->mask = pack_lanes(m);                                                           \
	}
#define FNM2(NAME, DT, AT, BT, EXPR, BIT)                                                          \
	static void fn_##NAME(struct valu *u)                                                      \
	{                                                                                          \
		COMMON;                                                                            \
		const uint32_t *pa = u->src[0], *pb = u->src[1];                                   \
		uint32_t *d = u->dst;                                                              \
		uint32_t m[GCN3_LANES] __attribute__((aligned(64)));                               \
		if (u->scalar) {                                                                   \
			const T_##AT x = cv_##AT(u->scalar_value);                                 \
			LANES                                                                      \
			{                                                                          \
				const T_##BT y = ld_##BT(pb, l);                                   \
				m[l] = (BIT) ? ~0u : 0;                                            \
				st_##DT(d, l, (EXPR));                                             \
			}                                                                          \
		} else {                                                                           \
			LANES                                                                      \
			{                                                                          \
				const T_##AT x = ld_##AT(pa, l);                                   \
				const T_##BT y = ld_##BT(pb, l);                                   \
				m[l] = (BIT) ? ~0u : 0;                                            \
				st_##DT(d, l, (EXPR));                                             \
			}                                                                          \
		}                                                                                  \
		u->mask = pack_lanes(m);                                                           \
	}

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#else
#include <emmintrin.h>
#endif

/* pack_lanes - bit l = lane l is not 0; lanes are 0 or ~0. */
static inline uint64_t pack_lanes(const uint32_t *m)
{
	uint64_t bits = 0;

#if defined(__AVX512F__)
	for (unsigned n = 0; n < 4; n++) {
		__m512i lanes = _mm512_loadu_si512(m + 16 * n);

		bits |= (uint64_t)_mm512_test_epi32_mask(lanes, lanes) << (16 * n);
	}
#elif defined(__AVX2__)
	for (unsigned n = 0; n < 8; n++) {
		__m256 lanes =
		        _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(m + 8 * n)));

		bits |= (uint64_t)(unsigned)_mm256_movemask_ps(lanes) << (8 * n);
	}
#else
	for (unsigned n = 0; n < 16; n++) {
		__m128 lanes = _mm_castsi128_ps(_mm_loadu_si128((const __m128i *)(m + 4 * n)));

		bits |= (uint64_t)(unsigned)_mm_movemask_ps(lanes) << (4 * n);
	}
#endif
	return bits;
}

/* expand_lanes - lane l = bit l ? ~0 : 0. */
static inline void expand_lanes(uint64_t bits, uint32_t *m)
{
	const uint32_t low = (uint32_t)bits, high = (uint32_t)(bits >> 32);

	for (unsigned l = 0; l < 32; l++) {
		m[l] = low & 1u << l ? ~0u : 0;
		m[l + 32] = high & 1u << l ? ~0u : 0;
	}
}

#endif
