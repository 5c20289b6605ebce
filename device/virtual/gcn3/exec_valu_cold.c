/* exec_valu_cold.c - the vector operations of valu_cold.def: double and half precision, 16-bit,
 * bytes, graphics left-overs. */
#include "device/virtual/gcn3/valu_div.h"
#include "device/virtual/gcn3/valu_half.h"

/* --- double precision --- */

static double flush_f64(double x, uint32_t mode)
{
	return denormal_f64(x) && !(mode & 1u << 6) ? copysign(0.0, x) : x;
}

static int64_t double_key(double x)
{
	uint64_t bits = double_bits(x);

	return (int64_t)(bits ^ ((uint64_t)((int64_t)bits >> 63) & 0x7fffffffffffffff));
}

static double select_f64(double x, double y, bool take_x, uint32_t ieee)
{
	if (ieee && nan_f64(x) && !(double_bits(x) & F64_QUIET))
		return as_double(double_bits(x) | F64_QUIET);
	if (ieee && nan_f64(y) && !(double_bits(y) & F64_QUIET))
		return as_double(double_bits(y) | F64_QUIET);
	if (nan_f64(x))
		return y;
	return nan_f64(y) || take_x ? x : y;
}

static double max_f64(double x, double y, uint32_t ieee)
{
	return select_f64(x, y, double_key(x) >= double_key(y), ieee);
}

static double min_f64(double x, double y, uint32_t ieee)
{
	return select_f64(x, y, double_key(x) <= double_key(y), ieee);
}

static double fract_f64(double x)
{
	const double f = x - floor(x);

	return f >= 1.0 ? 0x1.fffffffffffffp-1 : f;
}

/* Value = mantissa in [1/2, 1) times 2^exponent; zero, infinity and NaN give exponent 0 and
 * themselves. */
static int32_t frexp_exp_f64(double x)
{
	int e;

	if (x == 0.0 || nan_f64(x) || isinf(x))
		return 0;
	frexp(x, &e);
	return e;
}

static double frexp_mant_f64(double x)
{
	int e;

	if (nan_f64(x))
		return as_double(double_bits(x) | F64_QUIET);
	return isinf(x) ? x : frexp(x, &e);
}

static int32_t frexp_exp_f32(float x)
{
	return nan_bits(float_bits(x)) ? 0 : frexp_exp_f64((double)x);
}

static float frexp_mant_f32(float x)
{
	if (nan_bits(float_bits(x)))
		return as_float(float_bits(x) | F32_QUIET);
	return (float)frexp_mant_f64((double)x);
}

static int32_t double_to_i32(double x)
{
	if (nan_f64(x))
		return 0;
	return x >= 2147483647.0 ? INT32_MAX : x <= -2147483648.0 ? INT32_MIN : (int32_t)x;
}

static uint32_t double_to_u32(double x)
{
	if (nan_f64(x) || x <= 0.0)
		return 0;
	return x >= 4294967295.0 ? ~0u : (uint32_t)x;
}

/* 1201 bits of 2/pi, from the binary point on (GCN3 ISA manual, V_TRIG_PREOP_F64). */
static const uint64_t two_over_pi[20] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
        0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
        0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
        0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
        0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000, 0};

/* 53 bits of 2/pi, segment @y, shifted on by the size of x. */
static double trig_preop(double x, uint32_t y)
{
	const int exponent = exponent_f64(x);
	unsigned shift = (y & 31) * 53;
	uint64_t bits;
	int scale;

	if (exponent > 1077)
		shift += (unsigned)(exponent - 1077);
	if (shift > 1201 - 53) /* beyond the last bit */
		return 0.0;
	bits = two_over_pi[shift / 64] << (shift % 64);
	if (shift % 64)
		bits |= two_over_pi[shift / 64 + 1] >> (64 - shift % 64);
	scale = -53 - (int)shift + (exponent >= 1968 ? 128 : 0);
	return ldexp((double)(bits >> 11), scale);
}

static uint32_t class_of(bool nan, bool quiet, bool inf, bool zero, bool denormal, bool negative)
{
	if (nan)
		return quiet ? CLASS_QNAN : CLASS_SNAN;
	if (inf)
		return negative ? CLASS_NEG_INF : CLASS_POS_INF;
	if (zero)
		return negative ? CLASS_NEG_ZERO : CLASS_POS_ZERO;
	if (denormal)
		return negative ? CLASS_NEG_DENORMAL : CLASS_POS_DENORMAL;
	return negative ? CLASS_NEG_NORMAL : CLASS_POS_NORMAL;
}

static uint32_t class_f64(double x)
{
	const uint64_t bits = double_bits(x), size = bits << 1;

	return class_of(size > F64_EXPONENT << 1, bits & F64_QUIET, size == F64_EXPONENT << 1,
	        size == 0, size < F64_EXPONENT << 1 && !(bits & F64_EXPONENT), bits >> 63);
}

/* --- half precision --- */

static uint32_t class_f16(uint32_t x)
{
	const uint32_t size = x & 0x7fff;

	return class_of(size > 0x7c00, x & 0x200, size == 0x7c00, size == 0, size < 0x400, x >> 15);
}

/* Two roundings, denormals always flushed (LLVM forms v_mad_f16 only when they may be). */
static uint32_t mad_f16(uint32_t x, uint32_t y, uint32_t z, uint32_t mode)
{
	const uint32_t flush = mode & ~HALF_FLUSH;
	const uint32_t product = half_round(half_value(x, flush) * half_value(y, flush), flush);

	return half_round(half_value(product, flush) + half_value(z, flush), flush);
}

static uint32_t fract_f16(double x, uint32_t mode)
{
	const uint32_t h = half_round(x - floor(x), mode);

	return h == 0x3c00 ? 0x3bff : h; /* the largest half below 1 */
}

static double power_of_two(int32_t n)
{
	const int32_t c = n < -100 ? -100 : n > 100 ? 100 : n;

	return as_double((uint64_t)(1023 + c) << 52);
}

/* Saturating truncation; NaN gives 0. */
static double bounded(double x, double low, double high)
{
	if (nan_f64(x))
		return 0.0;
	return x < low ? low : x > high ? high : x;
}

static uint32_t pack_rtz(float x, float y, uint32_t mode)
{
	const uint32_t zero = mode | 3u << 2;

	return half_round((double)flush_input(x, mode), zero) |
	       half_round((double)flush_input(y, mode), zero) << 16;
}

/* --- integers --- */

static uint32_t sat16_wide(uint64_t v, uint32_t clamp)
{
	return clamp && v > 0xffff ? 0xffff : (uint32_t)v;
}

static uint32_t sat16(uint32_t v, uint32_t clamp)
{
	return sat16_wide(v, clamp);
}

static int32_t sat_i16(int64_t v, uint32_t clamp)
{
	if (!clamp)
		return (int32_t)v;
	return v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : (int32_t)v;
}

static uint32_t byte(uint32_t v, unsigned n)
{
	return v >> (8 * n) & 0xff;
}

static uint32_t sat_sum(uint32_t x, uint32_t y, uint32_t clamp)
{
	return sat_add(x + y, x + y < x, clamp);
}

/* Sum of absolute byte differences; with @masked, bytes whose reference y is 0 do not count. */
static uint32_t sad_u8(uint32_t x, uint32_t y, uint32_t masked)
{
	uint32_t sum = 0;

	for (unsigned n = 0; n < 4; n++) {
		uint32_t a = byte(x, n), b = byte(y, n);

		if (!masked || b)
			sum += a > b ? a - b : b - a;
	}
	return sum;
}

static uint32_t sad_u16(uint32_t x, uint32_t y)
{
	const int32_t low = (int32_t)(x & 0xffff) - (int32_t)(y & 0xffff);
	const int32_t high = (int32_t)(x >> 16) - (int32_t)(y >> 16);

	return (uint32_t)(low < 0 ? -low : low) + (uint32_t)(high < 0 ? -high : high);
}

/* Four byte sums at x, x >> 8, x >> 16, x >> 24, each added to a 16-bit field of z. */
static uint64_t quad_sad(uint64_t x, uint32_t y, uint64_t z, uint32_t masked, uint32_t clamp)
{
	uint64_t r = 0;

	for (unsigned n = 0; n < 4; n++) {
		uint32_t sum = sad_u8((uint32_t)(x >> (8 * n)), y, masked);

		sum += (uint32_t)(z >> (16 * n)) & 0xffff;
		r |= (uint64_t)(sat16(sum, clamp) & 0xffff) << (16 * n);
	}
	return r;
}

static void mqsad_u32(struct valu *u)
{
	for (unsigned l = 0; l < GCN3_LANES; l++) {
		const uint64_t x = wide(u->src[0], l);
		const uint32_t y = u->src[1][l];
		uint32_t sum[4];

		for (unsigned n = 0; n < 4; n++)
			sum[n] = sat_sum(sad_u8((uint32_t)(x >> (8 * n)), y, ~0u),
			        u->src[2][n * GCN3_LANES + l], u->clamp ? ~0u : 0);
		for (unsigned n = 0; n < 4; n++)
			u->dst[n * GCN3_LANES + l] = sum[n];
	}
}

static uint32_t lerp_u8(uint32_t x, uint32_t y, uint32_t z)
{
	uint32_t r = 0;

	for (unsigned n = 0; n < 4; n++)
		r |= ((byte(x, n) + byte(y, n) + (byte(z, n) & 1)) >> 1) << (8 * n);
	return r;
}

/* Selector bytes: 0..7 a byte of {x, y} (y low), 8..11 the sign of byte 1, 3, 5, 7, 12 zero, above
 * all ones. */
static uint32_t perm_b32(uint32_t x, uint32_t y, uint32_t z)
{
	const uint64_t data = (uint64_t)x << 32 | y;
	uint32_t r = 0;

	for (unsigned n = 0; n < 4; n++) {
		const uint32_t sel = byte(z, n);
		uint32_t v = 0xff;

		if (sel < 8)
			v = (uint32_t)(data >> (8 * sel)) & 0xff;
		else if (sel < 12)
			v = data >> (16 * (sel - 8) + 15) & 1 ? 0xff : 0;
		else if (sel == 12)
			v = 0;
		r |= v << (8 * n);
	}
	return r;
}

/* To nearest, within 0 to 255; NaN is 0. The manual says only "convert"; that hardware rounds was
 * seen on a gfx90c (x + 0.5 came out one too high), that it saturates is how AMD's own OCKL and RPP
 * libraries use it. Ties under another rounding than MODE's have not been seen. */
static uint32_t float_to_u8(float x)
{
	return x != x || x <= 0.0f ? 0 : x >= 255.0f ? 255 : (uint32_t)rintf(x);
}

static uint32_t pack_u8(float x, uint32_t y, uint32_t z)
{
	const uint32_t shift = (y & 3) * 8;

	return (z & ~(0xffu << shift)) | float_to_u8(x) << shift;
}

static void pkaccum_u8(struct valu *u)
{
	const uint32_t *old = u->w->v[u->i->dst - GCN3_OPERAND_VGPR];

	for (unsigned l = 0; l < GCN3_LANES; l++)
		u->dst[l] = pack_u8(ld_F(u->src[0], l), u->src[1][l], old[l]);
}

static uint32_t norm_i16(float x)
{
	const double v = bounded((double)x * 32767.0, -32767.0, 32767.0);

	return (uint32_t)(int32_t)rint(v) & 0xffff;
}

static uint32_t norm_u16(float x)
{
	return (uint32_t)rint(bounded((double)x * 65535.0, 0.0, 65535.0));
}

static uint32_t pack_i16(int32_t x)
{
	return (uint32_t)(x > INT16_MAX ? INT16_MAX : x < INT16_MIN ? INT16_MIN : x) & 0xffff;
}

/* --- cube maps: the axis of the largest component, z before y before x (GCN3 ISA manual,
 * V_CUBEID_F32) --- */

static char cube_axis(float x, float y, float z)
{
	const float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);

	if (az >= ax && az >= ay)
		return 'z';
	return ay >= ax ? 'y' : 'x';
}

static float cube_id(float x, float y, float z)
{
	switch (cube_axis(x, y, z)) {
	case 'z': return z < 0.0f ? 5.0f : 4.0f;
	case 'y': return y < 0.0f ? 3.0f : 2.0f;
	default: return x < 0.0f ? 1.0f : 0.0f;
	}
}

static float cube_sc(float x, float y, float z)
{
	switch (cube_axis(x, y, z)) {
	case 'z': return z < 0.0f ? -x : x;
	case 'y': return x;
	default: return x < 0.0f ? z : -z;
	}
}

static float cube_tc(float x, float y, float z)
{
	if (cube_axis(x, y, z) == 'y')
		return y < 0.0f ? -z : z;
	return -y;
}

static float cube_major(float x, float y, float z)
{
	switch (cube_axis(x, y, z)) {
	case 'z': return z;
	case 'y': return y;
	default: return x;
	}
}

/* --- the operations --- */

#define V1(NAME, FP, DT, AT, EXPR)              FN1(NAME, DT, AT, EXPR)
#define V2(NAME, FP, DT, AT, BT, EXPR)          FN2(NAME, DT, AT, BT, EXPR)
#define V3(NAME, FP, DT, AT, BT, CT, EXPR)      FN3(NAME, DT, AT, BT, CT, EXPR)
#define V3VCC(NAME, FP, DT, AT, BT, CT, EXPR)   FN3(NAME, DT, AT, BT, CT, EXPR)
#define A3S(NAME, FP, DT, AT, BT, CT, EXPR)     FN3S(NAME, DT, AT, BT, CT, EXPR)
#define M3(NAME, FP, DT, AT, BT, CT, EXPR, BIT) FNM3(NAME, DT, AT, BT, CT, EXPR, BIT)
#define CMP(NAME, FP, AT, BT, EXPR)             FNC(CMP_##NAME, AT, BT, EXPR)
#define V2FN(NAME, FP, DT, AT, BT, FUNCTION)
#define V3FN(NAME, FP, DT, AT, BT, CT, FUNCTION)
#include "device/virtual/gcn3/valu_cold.def"
#undef V1
#undef V2
#undef V3
#undef V3VCC
#undef A3S
#undef M3
#undef CMP
#undef V2FN
#undef V3FN

const valu_fn gcn3_valu_cold[GCN3_OP_COUNT] = {
#define V1(NAME, FP, DT, AT, EXPR)              [GCN3_##NAME] = fn_##NAME,
#define V2(NAME, FP, DT, AT, BT, EXPR)          [GCN3_##NAME] = fn_##NAME,
#define V3(NAME, FP, DT, AT, BT, CT, EXPR)      [GCN3_##NAME] = fn_##NAME,
#define V3VCC(NAME, FP, DT, AT, BT, CT, EXPR)   [GCN3_##NAME] = fn_##NAME,
#define A3S(NAME, FP, DT, AT, BT, CT, EXPR)     [GCN3_##NAME] = fn_##NAME,
#define M3(NAME, FP, DT, AT, BT, CT, EXPR, BIT) [GCN3_##NAME] = fn_##NAME,
#define CMP(NAME, FP, AT, BT, EXPR)                                                                \
	[GCN3_V_CMP_##NAME] = fn_CMP_##NAME, [GCN3_V_CMPX_##NAME] = fn_CMP_##NAME,
#define V2FN(NAME, FP, DT, AT, BT, FUNCTION)     [GCN3_##NAME] = FUNCTION,
#define V3FN(NAME, FP, DT, AT, BT, CT, FUNCTION) [GCN3_##NAME] = FUNCTION,
#include "device/virtual/gcn3/valu_cold.def"
};
