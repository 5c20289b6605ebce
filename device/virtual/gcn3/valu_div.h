/* valu_div.h - v_div_scale, v_div_fmas and v_div_fixup, exact, and the f64 helpers they share.
 * Private to gcn3/. Operands: x the value to scale or the quotient, y the denominator, z the
 * numerator.
 *
 * Sources: [M] the pseudo code of AMD's manuals, the same in GCN3 and "CDNA3 ISA", V_DIV_SCALE_F32,
 * V_DIV_FMAS_F32, V_DIV_FIXUP_F32 and _F64. [S] a published sweep of the f32 instructions on a
 * later chip (gfx1151), all 262144 triples of 64 operands. Where they differ for f32, [S] decides:
 * - scale: the flag is the distance of the exponents, not "the quotient is denormal" as in [M];
 * - scale: with a reciprocal that would be denormal the denominator goes down by 2^64, where [M]
 * has it go up in one case; [S] does not reach the exponents 228 to 253, there we ask the
 * reciprocal;
 * - scale: of a zero comes 0xffc00000, "NaN" in [M];
 * - fixup: a NaN quotient of ordinary operands becomes infinity, one below the least denormal zero;
 *   [M] has the constants OVERFLOW and UNDERFLOW and does not say what they are.
 * fmas by the flag is 2^32 (f64: 2^64) in [M] and was not reached by [S]; it must undo v_div_scale:
 * 2^64 (2^128) up or down by the size of the quotient estimate, which is also what tinygrad's AMD
 * emulator, compared with RDNA hardware, has in place of [M]. Nothing else makes the compiler's
 * sequence round correctly. f64 has only [M], with the same corrections but for the flag.
 */
#ifndef GCN3_VALU_DIV_H
#define GCN3_VALU_DIV_H

#include "device/virtual/gcn3/valu_math.h"

#define F64_EXPONENT 0x7ff0000000000000ull
#define F64_QUIET    0x0008000000000000ull

static inline int exponent_f32(float x)
{
	return (int)(float_bits(x) >> 23 & 0xff);
}

static inline int exponent_f64(double x)
{
	return (int)(double_bits(x) >> 52 & 0x7ff);
}

static inline bool denormal_f32(float x)
{
	return exponent_f32(x) == 0 && float_bits(x) << 1;
}

static inline bool denormal_f64(double x)
{
	return exponent_f64(x) == 0 && double_bits(x) << 1;
}

static inline bool nan_f64(double x)
{
	return (double_bits(x) << 1) > F64_EXPONENT << 1;
}

/* What v_div_scale does, decided by denominator and numerator. */
enum div_case {
	DIV_PLAIN,
	DIV_NAN,              /* a zero */
	DIV_DENOMINATOR_UP,   /* quotient near overflow; flag */
	DIV_BOTH_UP,          /* tiny operands */
	DIV_DENOMINATOR_DOWN, /* reciprocal and quotient denormal; flag */
	DIV_BOTH_DOWN,        /* reciprocal denormal */
	DIV_NUMERATOR_UP,     /* quotient denormal; flag */
};

/* How far apart the exponents are decides the flag, also for zeros, infinities and NaNs. */
static inline bool div_flag_f32(float y, float z)
{
	const int distance = exponent_f32(z) - exponent_f32(y);

	return distance >= 96 || distance <= -96;
}

static inline enum div_case div_case_f32(float y, float z)
{
	const bool flag = div_flag_f32(y, z);

	if (y == 0.0f || z == 0.0f)
		return DIV_NAN;
	if (flag && exponent_f32(z) > exponent_f32(y))
		return DIV_DENOMINATOR_UP;
	if (exponent_f32(y) == 0)
		return DIV_BOTH_UP;
	if (exponent_f32(y) >= 254 || denormal_f32(1.0f / y))
		return flag ? DIV_DENOMINATOR_DOWN : DIV_BOTH_DOWN;
	if (flag)
		return DIV_NUMERATOR_UP;
	return exponent_f32(z) <= 23 ? DIV_BOTH_UP : DIV_PLAIN;
}

static inline enum div_case div_case_f64(double y, double z)
{
	const bool inverse = denormal_f64(1.0 / y), quotient = denormal_f64(z / y);

	if (y == 0.0 || z == 0.0)
		return DIV_NAN;
	if (exponent_f64(z) - exponent_f64(y) >= 768)
		return DIV_DENOMINATOR_UP;
	if (denormal_f64(y))
		return DIV_BOTH_UP;
	if (inverse)
		return quotient ? DIV_DENOMINATOR_DOWN : DIV_BOTH_DOWN;
	if (quotient)
		return DIV_NUMERATOR_UP;
	return exponent_f64(z) <= 53 ? DIV_BOTH_UP : DIV_PLAIN;
}

static inline bool div_flag(enum div_case c)
{
	return c == DIV_DENOMINATOR_UP || c == DIV_DENOMINATOR_DOWN || c == DIV_NUMERATOR_UP;
}

/* -1, 0 or 1: the direction in which source 0 is scaled. */
static inline int div_direction(enum div_case c, bool is_denominator, bool is_numerator)
{
	switch (c) {
	case DIV_DENOMINATOR_UP: return is_denominator;
	case DIV_DENOMINATOR_DOWN: return -(int)is_denominator;
	case DIV_NUMERATOR_UP: return is_numerator;
	case DIV_BOTH_UP: return 1;
	case DIV_BOTH_DOWN: return -1;
	default: return 0;
	}
}

static inline float div_scale_f32(float x, float y, float z)
{
	const enum div_case c = div_case_f32(y, z);
	const uint32_t bits = float_bits(x);

	if (c == DIV_NAN)
		return as_float(0xffc00000);
	if (exponent_f32(x) == 255) /* a signalling NaN stays one */
		return x;
	switch (div_direction(c, bits == float_bits(y), bits == float_bits(z))) {
	case 1: return x * 0x1p64f;
	case -1: return x * 0x1p-64f;
	default: return x;
	}
}

static inline double div_scale_f64(double x, double y, double z)
{
	const enum div_case c = div_case_f64(y, z);

	if (c == DIV_NAN)
		return as_double(0xfff8000000000000);
	switch (div_direction(c, x == y, x == z)) {
	case 1: return x * 0x1p128;
	case -1: return x * 0x1p-128;
	default: return x;
	}
}

static inline bool div_flag_f64(double y, double z)
{
	return div_flag(div_case_f64(y, z));
}

/* fma(x, y, z) scaled back, rounded once: the sum is made odd in double before the final rounding.
 */
static inline float div_fmas_f32(float x, float y, float z, bool scale)
{
	const double product = (double)x * (double)y, sum = product + (double)z;
	const double back = sum - product;
	const double error = (product - (sum - back)) + ((double)z - back);
	uint64_t bits = double_bits(sum);

	if (!scale)
		return fmaf(x, y, z);
	if ((error > 0.0 || error < 0.0) && !(bits & 1)) /* not for infinities and NaNs */
		bits += (error > 0.0) == (sum > 0.0) ? 1 : (uint64_t)-1;
	return (float)(as_double(bits) * (exponent_f32(z) > 127 ? 0x1p64 : 0x1p-64));
}

/* @r * 2^-128 for a denormal result; @error is the sign of what r lacks, so that it is rounded once
 * (to nearest). */
static inline double scale_down_f64(double r, double error)
{
	const uint64_t bits = double_bits(r), sign = bits & 1ull << 63;
	const int exponent = exponent_f64(r) - 128; /* below 1: denormal */
	uint64_t m = ((bits & 0xfffffffffffff) | 1ull << 52) << 3, rest;
	unsigned shift = 4 - (unsigned)exponent;

	if (error != 0.0)
		m = (error > 0.0) == (r > 0.0) ? m | 1 : m - 1;
	if (shift > 62)
		return as_double(sign);
	rest = m & ((1ull << shift) - 1);
	m >>= shift;
	if (rest > 1ull << (shift - 1) || (rest == 1ull << (shift - 1) && m & 1))
		m++;
	return as_double(sign | m);
}

static inline double div_fmas_f64(double x, double y, double z, bool scale)
{
	const double r = fma(x, y, z);

	if (!scale)
		return r;
	if (exponent_f64(z) > 1023)
		return r * 0x1p128;
	if (exponent_f64(r) > 128 || exponent_f64(r) == 0)
		return r * 0x1p-128;
	return scale_down_f64(r, fma(x, y, z - r)); /* the correction is small: z - r is exact */
}

static inline float div_fixup_f32(float x, float y, float z)
{
	const uint32_t sign = (float_bits(y) ^ float_bits(z)) & 0x80000000;
	const bool y_inf = (float_bits(y) & 0x7fffffff) == F32_EXPONENT;
	const bool z_inf = (float_bits(z) & 0x7fffffff) == F32_EXPONENT;

	if (nan_bits(float_bits(z)))
		return as_float(float_bits(z) | F32_QUIET);
	if (nan_bits(float_bits(y)))
		return as_float(float_bits(y) | F32_QUIET);
	if ((y == 0.0f && z == 0.0f) || (y_inf && z_inf))
		return as_float(0xffc00000);
	if (y == 0.0f || z_inf)
		return as_float(sign | F32_EXPONENT);
	if (y_inf || z == 0.0f || exponent_f32(z) - exponent_f32(y) < -150)
		return as_float(sign);
	if (nan_bits(float_bits(x))) /* the estimate overflowed */
		return as_float(sign | F32_EXPONENT);
	return as_float(sign | (float_bits(x) & 0x7fffffff));
}

static inline double div_fixup_f64(double x, double y, double z)
{
	const uint64_t sign = (double_bits(y) ^ double_bits(z)) & 1ull << 63;
	const bool y_inf = double_bits(y) << 1 == F64_EXPONENT << 1;
	const bool z_inf = double_bits(z) << 1 == F64_EXPONENT << 1;

	if (nan_f64(z))
		return as_double(double_bits(z) | F64_QUIET);
	if (nan_f64(y))
		return as_double(double_bits(y) | F64_QUIET);
	if ((y == 0.0 && z == 0.0) || (y_inf && z_inf))
		return as_double(0xfff8000000000000);
	if (y == 0.0 || z_inf)
		return as_double(sign | F64_EXPONENT);
	if (y_inf || z == 0.0 || exponent_f64(z) - exponent_f64(y) < -1075)
		return as_double(sign);
	if (nan_f64(x)) /* the estimate overflowed */
		return as_double(sign | F64_EXPONENT);
	return as_double(sign | double_bits(x) << 1 >> 1);
}

static inline uint32_t div_fixup_f16(uint32_t x, uint32_t y, uint32_t z)
{
	const uint32_t sign = (y ^ z) & 0x8000, a = y & 0x7fff, b = z & 0x7fff;

	if (b > 0x7c00)
		return z | 0x200;
	if (a > 0x7c00)
		return y | 0x200;
	if ((a == 0 && b == 0) || (a == 0x7c00 && b == 0x7c00))
		return 0xfe00;
	if (a == 0 || b == 0x7c00)
		return sign | 0x7c00;
	if (a == 0x7c00 || b == 0)
		return sign;
	return sign | (x & 0x7fff);
}

#endif
