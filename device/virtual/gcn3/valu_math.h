/* valu_math.h - single-precision functions of the VALU in plain, vectorisable C. Private to gcn3/.
 * Approximations (v_exp_f32 and friends) are within 1 ulp and the same bits at every x86-64 level:
 * only correctly rounded operations in a fixed order. They assume MXCSR as GCN3_FP_APPROX sets it.
 */
#ifndef GCN3_VALU_MATH_H
#define GCN3_VALU_MATH_H

#include "device/virtual/gcn3/valu_ops.h"

#define F32_EXPONENT 0x7f800000u
#define F32_QUIET    0x00400000u

static inline bool nan_bits(uint32_t bits)
{
	return (bits & 0x7fffffff) > F32_EXPONENT;
}

/* Total order of non-NaN floats as integers; -0 below +0. */
static inline int32_t float_key(uint32_t bits)
{
	return (int32_t)(bits ^ ((uint32_t)((int32_t)bits >> 31) & 0x7fffffff));
}

/* v_min/v_max: a NaN loses against a number; with IEEE mode a signalling NaN wins, quieted.
 * Denormals pass whatever MODE says (engine-notes.md, "Advice for the JIT" 8). */
static inline float select_f32(float x, float y, uint32_t take_x, uint32_t ieee)
{
	const uint32_t a = float_bits(x), b = float_bits(y);
	const uint32_t nan_a = nan_bits(a) ? ~0u : 0, nan_b = nan_bits(b) ? ~0u : 0;
	const uint32_t from_a = ~nan_a & (nan_b | take_x);
	const uint32_t loud_a = a & F32_QUIET ? 0 : nan_a & ieee;
	const uint32_t loud_b = b & F32_QUIET ? 0 : nan_b & ieee & ~loud_a;
	const uint32_t r = (a & from_a) | (b & ~from_a);

	return as_float(
	        (r & ~(loud_a | loud_b)) | (loud_a & (a | F32_QUIET)) | (loud_b & (b | F32_QUIET)));
}

static inline float max_f32(float x, float y, uint32_t ieee)
{
	const bool take_x = float_key(float_bits(x)) >= float_key(float_bits(y));

	return select_f32(x, y, take_x ? ~0u : 0, ieee);
}

static inline float min_f32(float x, float y, uint32_t ieee)
{
	const bool take_x = float_key(float_bits(x)) <= float_key(float_bits(y));

	return select_f32(x, y, take_x ? ~0u : 0, ieee);
}

/* Median; with a NaN the minimum of the three (GCN3 ISA manual, V_MED3_F32). */
static inline float med3_f32(float x, float y, float z, uint32_t ieee)
{
	const bool nan = (x != x) | (y != y) | (z != z);
	const float low = min_f32(x, y, ieee), high = max_f32(x, y, ieee);
	const float lowest = min_f32(low, z, ieee);
	const float median = max_f32(low, min_f32(high, z, ieee), ieee);

	return nan ? lowest : median;
}

/* DX9 multiply: zero times anything is zero. */
static inline float mul_legacy(float x, float y)
{
	const float product = x * y;

	return ((x == 0.0f) | (y == 0.0f)) ? 0.0f : product;
}

/* Input flush for operations built on integer tricks; @mode bit 4 keeps denormals. */
static inline float flush_input(float x, uint32_t mode)
{
	const uint32_t bits = float_bits(x);
	const bool tiny = !(bits & F32_EXPONENT) & !(mode & 1u << 4);

	return as_float(tiny ? bits & 0x80000000 : bits);
}

/* Largest float below 1 bounds the result (LLVM: amdgcn.fract). */
static inline float fract_f32(float x)
{
	const float f = x - floorf(x), top = as_float(0x3f7fffff);

	return f > top ? top : f;
}

/* Polynomial for (2^f - 1) / f on [-0.5, 0.5], relative error of 2^f below 2e-9. */
static inline float exp2_f32(float x)
{
	const float low = x < -160.0f ? -160.0f : x, c = low > 160.0f ? 160.0f : low;
	const float shifter = 12582912.0f, t = c + shifter, f = c - (t - shifter); /* 1.5 * 2^23 */
	const uint32_t n = float_bits(t) - float_bits(shifter);
	const uint32_t half = (uint32_t)((int32_t)n >> 1), rest = n - half;
	float p = 0x1.41fbbcp-13f;

	p = p * f + 0x1.5f3e54p-10f;
	p = p * f + 0x1.3b2d4cp-7f;
	p = p * f + 0x1.c6aee8p-5f;
	p = p * f + 0x1.ebfbdcp-3f;
	p = fmaf(p, f, 0x1.62e430p-1f);
	p = fmaf(p, f, 1.0f);
	return p * as_float((127 + half) << 23) * as_float((127 + rest) << 23);
}

/* The root of the reciprocal, so that the first rounding error is halved; scaled where 1/x would be
 * flushed. */
static inline float rsq_f32(float x)
{
	const bool big = x >= 0x1p64f;
	const float inverse = 1.0f / (big ? x * 0x1p-64f : x);
	const float root = sqrtf(inverse) * (big ? 0x1p-32f : 1.0f);

	return x == 0.0f ? inverse : root;
}

/* 2^e * m, m in [sqrt(1/2), sqrt(2)): log2(m) = 2/ln 2 * atanh((m - 1) / (m + 1)), in double. */
static inline float log2_f32(float x)
{
	const uint32_t bits = float_bits(x), above = bits - 0x3f3504f3; /* sqrt(1/2) */
	const int32_t e = (int32_t)above >> 23;
	const double m = (double)as_float((above & 0x7fffff) + 0x3f3504f3);
	const double s = (m - 1.0) / (m + 1.0), q = s * s;
	double p = 1.0 / 13;
	float r;

	p = p * q + 1.0 / 11;
	p = p * q + 1.0 / 9;
	p = p * q + 1.0 / 7;
	p = p * q + 1.0 / 5;
	p = p * q + 1.0 / 3;
	p = p * q + 1.0;
	r = (float)((double)e + s * 2.8853900817779268 * p); /* 2 / ln 2 */
	r = bits == F32_EXPONENT ? x : r;
	r = bits > 0x80000000 ? as_float(0x7fc00000) : r;      /* negative */
	r = !(bits & F32_EXPONENT) ? as_float(0xff800000) : r; /* zero, and flushed denormals */
	return nan_bits(bits) ? as_float(bits | F32_QUIET) : r;
}

/* sin(2 pi t) for |t| <= 1/4. */
static inline float sine_quarter(double t)
{
	const double a = t * 6.283185307179586, q = a * a;
	double p = -1.0 / 1307674368000; /* 1/15!, 1/13!, ... */

	p = p * q + 1.0 / 6227020800;
	p = p * q - 1.0 / 39916800;
	p = p * q + 1.0 / 362880;
	p = p * q - 1.0 / 5040;
	p = p * q + 1.0 / 120;
	p = p * q - 1.0 / 6;
	return (float)(a + a * (q * p));
}

/* Turns beyond a whole number, in [-1/2, 1/2]; exact for |x| <= 256. */
static inline float turns(float x)
{
	const float shifter = 12582912.0f;

	return x - ((x + shifter) - shifter);
}

/* v_sin_f32: argument in turns; 0 outside [-256, 256] (GCN3 ISA manual, V_SIN_F32). */
static inline float sin_f32(float x)
{
	const double r = (double)turns(x);
	const double folded = r > 0.25 ? 0.5 - r : r < -0.25 ? -0.5 - r : r;
	const float s = sine_quarter(folded);
	const bool outside = (x > 256.0f) | (x < -256.0f);
	const bool infinite = (float_bits(x) & 0x7fffffff) == F32_EXPONENT;

	return infinite ? as_float(0x7fc00000) : outside ? 0.0f : x == 0.0f ? x : s;
}

/* v_cos_f32: 1 outside [-256, 256]. */
static inline float cos_f32(float x)
{
	const double r = (double)turns(x), positive = r < 0 ? -r : r;
	const float c = sine_quarter(0.25 - positive);
	const bool outside = (x > 256.0f) | (x < -256.0f);
	const bool infinite = (float_bits(x) & 0x7fffffff) == F32_EXPONENT;

	return infinite ? as_float(0x7fc00000) : outside ? 1.0f : c;
}

/* Conversions saturate; a NaN gives 0 (GCN3 ISA manual, V_CVT_I32_F32). */
static inline int32_t to_i32(float x)
{
	const float c = x >= -2147483648.0f ? x : -2147483648.0f;
	const int32_t r = c >= 2147483648.0f ? INT32_MAX : (int32_t)(c < 2147483648.0f ? c : 0.0f);

	return x != x ? 0 : r;
}

static inline uint32_t to_u32(float x)
{
	const float c = x > 0.0f ? x : 0.0f; /* NaN too */
	const float low = c < 2147483648.0f ? c : c - 2147483648.0f;
	const uint32_t r = (uint32_t)(int32_t)(low < 2147483648.0f ? low : 0.0f);

	return c >= 4294967296.0f ? ~0u : c < 2147483648.0f ? r : r | 0x80000000;
}

/* Both halves are exact, so the sum is rounded once. The upper one is converted as signed: the
 * compilers' sequences for unsigned give -0 for 0 when rounding down. */
static inline float from_u32(uint32_t x)
{
	const int32_t high = (int32_t)x >> 16, low = (int32_t)(x & 0xffff);
	const float wrapped = high < 0 ? 0x1p32f : 0.0f;

	return ((float)high * 65536.0f + wrapped) + (float)low;
}

/* x * 2^n rounded once: the product is exact in double. */
static inline float ldexp_f32(float x, int32_t n)
{
	const int32_t c = n < -400 ? -400 : n > 400 ? 400 : n;

	return (float)((double)x * as_double((uint64_t)(1023 + c) << 52));
}

/* v_cmp_class: bit numbers of the classes (GCN3 ISA manual, V_CMP_CLASS_F32). */
enum {
	CLASS_SNAN = 1 << 0,
	CLASS_QNAN = 1 << 1,
	CLASS_NEG_INF = 1 << 2,
	CLASS_NEG_NORMAL = 1 << 3,
	CLASS_NEG_DENORMAL = 1 << 4,
	CLASS_NEG_ZERO = 1 << 5,
	CLASS_POS_ZERO = 1 << 6,
	CLASS_POS_DENORMAL = 1 << 7,
	CLASS_POS_NORMAL = 1 << 8,
	CLASS_POS_INF = 1 << 9,
};

static inline uint32_t class_f32(float x)
{
	const uint32_t bits = float_bits(x), size = bits & 0x7fffffff;
	const uint32_t negative = size == F32_EXPONENT ? CLASS_NEG_INF
	                          : size >= 0x800000   ? CLASS_NEG_NORMAL
	                          : size               ? CLASS_NEG_DENORMAL
	                                               : CLASS_NEG_ZERO;
	const uint32_t positive = size == F32_EXPONENT ? CLASS_POS_INF
	                          : size >= 0x800000   ? CLASS_POS_NORMAL
	                          : size               ? CLASS_POS_DENORMAL
	                                               : CLASS_POS_ZERO;
	const uint32_t number = bits >> 31 ? negative : positive;

	return size > F32_EXPONENT ? (bits & F32_QUIET ? CLASS_QNAN : CLASS_SNAN) : number;
}

/* --- integers --- */

static inline uint32_t sat_add(uint32_t sum, bool carry, uint32_t clamp)
{
	return carry ? sum | clamp : sum;
}

static inline uint32_t sat_sub(uint32_t difference, bool borrow, uint32_t clamp)
{
	return borrow ? difference & ~clamp : difference;
}

static inline bool carry_of(uint32_t x, uint32_t y, uint32_t c)
{
	const uint32_t sum = x + y;

	return (sum < x) | (sum + c < sum);
}

static inline bool borrow_of(uint32_t x, uint32_t y, uint32_t b)
{
	return (x < y) | (x - y < b);
}

static inline uint32_t low_ones(uint32_t width)
{
	return (1u << (width & 31)) - 1;
}

static inline uint32_t bfe_u32(uint32_t x, uint32_t offset, uint32_t width)
{
	return x >> (offset & 31) & low_ones(width);
}

static inline int32_t bfe_i32(int32_t x, uint32_t offset, uint32_t width)
{
	const uint32_t o = offset & 31, n = width & 31;
	const uint32_t field = (uint32_t)(x >> o) & low_ones(n),
	               sign = n ? 1u << ((n - 1) & 31) : 0;

	return (int32_t)((field ^ sign) - sign);
}

static inline uint32_t med3_u32(uint32_t x, uint32_t y, uint32_t z)
{
	const uint32_t low = x < y ? x : y, high = x < y ? y : x, top = high < z ? high : z;

	return low > top ? low : top;
}

static inline int32_t med3_i32(int32_t x, int32_t y, int32_t z)
{
	const int32_t low = x < y ? x : y, high = x < y ? y : x, top = high < z ? high : z;

	return low > top ? low : top;
}

/* 24-bit operands */
static inline int32_t s24(int32_t x)
{
	return (int32_t)((uint32_t)x << 8) >> 8;
}

static inline uint32_t u24(uint32_t x)
{
	return x & 0xffffff;
}

static inline uint32_t mad_i24(int32_t x, int32_t y, uint32_t z, uint32_t clamp)
{
	const int64_t sum = (int64_t)s24(x) * s24(y) + (int32_t)z;
	const int64_t high = sum > INT32_MAX ? INT32_MAX : sum;
	const int64_t bounded = high < INT32_MIN ? INT32_MIN : high;

	return (uint32_t)(clamp ? bounded : sum);
}

static inline bool mad_carry_i64(int32_t x, int32_t y, int64_t z)
{
	const int64_t product = (int64_t)x * y;
	const uint64_t sum = (uint64_t)product + (uint64_t)z;
	const uint64_t carry =
	        sum < (uint64_t)z; /* bit 64 of the sum of both sign-extended to 65 bits */

	return (((uint64_t)product >> 63) + ((uint64_t)z >> 63) + carry) & 1;
}

static inline uint32_t reverse_u32(uint32_t v)
{
	v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
	v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
	v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
	return __builtin_bswap32(v);
}

static inline uint32_t first_high(uint32_t v)
{
	return v ? (uint32_t)__builtin_clz(v) : ~0u;
}

static inline uint32_t first_low(uint32_t v)
{
	return v ? (uint32_t)__builtin_ctz(v) : ~0u;
}

/* v_mbcnt: lanes below this one. @half 0: lanes 0..31. */
static inline uint32_t below(unsigned lane, unsigned half)
{
	const uint64_t lanes = (1ull << lane) - 1;

	return half ? (uint32_t)(lanes >> 32) : (uint32_t)lanes;
}

#endif
