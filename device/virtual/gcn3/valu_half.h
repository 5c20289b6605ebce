/* valu_half.h - half precision in software: values as double, results rounded once. Private to
 * gcn3/. Denormals and rounding come from MODE [7:6] and [3:2]; MXCSR must be GCN3_FP_EXACT.
 */
#ifndef GCN3_VALU_HALF_H
#define GCN3_VALU_HALF_H

#include "device/virtual/gcn3/valu_ops.h"

#define HALF_FLUSH 0xc0u /* MODE bits to clear for operations that always flush */

static inline double half_value(uint32_t h, uint32_t mode)
{
	const uint32_t exponent = h >> 10 & 31, fraction = h & 0x3ff;
	const uint64_t sign = (uint64_t)(h >> 15 & 1) << 63;
	double tiny;

	if (exponent == 31)
		return as_double(sign | 0x7ff0000000000000 | (uint64_t)fraction << 42);
	if (exponent)
		return as_double(
		        sign | (uint64_t)(exponent + 1008) << 52 | (uint64_t)fraction << 42);
	if (!(mode & 1u << 6))
		return as_double(sign);
	tiny = (double)fraction * 0x1p-24;
	return as_double(sign | double_bits(tiny));
}

/* Does a discarded part round the magnitude up? @half: weight of the first discarded bit. */
static inline bool rounds_up(
        uint64_t kept, uint64_t rest, uint64_t half, bool negative, uint32_t mode)
{
	switch (mode >> 2 & 3) {
	case 0: return rest > half || (rest == half && kept & 1);
	case 1: return !negative && rest;
	case 2: return negative && rest;
	default: return false;
	}
}

static inline uint32_t half_overflow(bool negative, uint32_t mode)
{
	const uint32_t round = mode >> 2 & 3;
	const bool infinite = round == 0 || (round == 1 && !negative) || (round == 2 && negative);

	return infinite ? 0x7c00 : 0x7bff;
}

static inline uint32_t half_round(double value, uint32_t mode)
{
	const uint64_t bits = double_bits(value), fraction = bits & 0xfffffffffffff;
	const uint32_t sign = (uint32_t)(bits >> 48) & 0x8000,
	               field = (uint32_t)(bits >> 52) & 0x7ff;
	const int exponent = (int)field - 1023;
	uint64_t mantissa = fraction | 1ull << 52, kept, rest;
	unsigned shift = 42;
	uint32_t h;

	if (field == 0x7ff)
		return sign | 0x7c00 | (fraction ? 0x200 | (uint32_t)(fraction >> 42) : 0);
	if (field == 0)
		return sign;
	if (exponent < -14)
		shift += (unsigned)(-14 - exponent);
	if (shift > 62) { /* far below the least denormal: only its direction matters */
		shift = 62;
		mantissa = 1;
	}
	kept = mantissa >> shift;
	rest = mantissa & ((1ull << shift) - 1);
	kept += rounds_up(kept, rest, 1ull << (shift - 1), sign != 0, mode);
	if (exponent > 15)
		return sign | half_overflow(sign != 0, mode);
	h = (uint32_t)kept + (exponent < -14 ? 0 : (uint32_t)(exponent + 14) << 10);
	if (h >= 0x7c00)
		return sign | half_overflow(sign != 0, mode);
	if (h < 0x400 && !(mode & 1u << 7))
		return sign;
	return sign | h;
}

/* x * y + z with one rounding: the product is exact, the sum is made odd when it is not. */
static inline uint32_t half_fma(double x, double y, double z, uint32_t mode)
{
	const double product = x * y, sum = product + z;
	const double back = sum - product;
	const double error = (product - (sum - back)) + (z - back);
	uint64_t bits = double_bits(sum);

	if ((error > 0.0 || error < 0.0) && !(bits & 1)) /* not for infinities and NaNs */
		bits += (error > 0.0) == (sum > 0.0) ? 1 : (uint64_t)-1;
	return half_round(as_double(bits), mode);
}

static inline bool half_nan(uint32_t h)
{
	return (h & 0x7fff) > 0x7c00;
}

static inline int32_t half_key(uint32_t h)
{
	return h & 0x8000 ? -(int32_t)(h & 0x7fff) - 1 : (int32_t)h;
}

static inline uint32_t half_select(uint32_t x, uint32_t y, bool take_x, uint32_t ieee)
{
	if (ieee && half_nan(x) && !(x & 0x200))
		return x | 0x200;
	if (ieee && half_nan(y) && !(y & 0x200))
		return y | 0x200;
	if (half_nan(x))
		return y;
	return half_nan(y) || take_x ? x : y;
}

static inline uint32_t half_max(uint32_t x, uint32_t y, uint32_t ieee)
{
	return half_select(x, y, half_key(x) >= half_key(y), ieee);
}

static inline uint32_t half_min(uint32_t x, uint32_t y, uint32_t ieee)
{
	return half_select(x, y, half_key(x) <= half_key(y), ieee);
}

#endif
