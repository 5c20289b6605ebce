/* Half and double precision: an exhaustive reference for halves by search, host arithmetic for
 * doubles. */
#include <math.h>

#include "tests/unit/gcn3/helper_alu.h"

static struct alu t;

/* Value of a half, from its definition. */
static double half_to_double(uint32_t h)
{
	double v;

	if ((h >> 10 & 31) == 31)
		v = h & 0x3ff ? (double)NAN : (double)INFINITY;
	else if (h >> 10 & 31)
		v = ldexp(1024 + (h & 0x3ff), (int)(h >> 10 & 31) - 25);
	else
		v = ldexp(h & 0x3ff, -24);
	return h & 0x8000 ? -v : v;
}

/* Nearest half, ties to even, by bisection over the positive halves. */
static uint32_t double_to_half(double v)
{
	uint32_t sign = signbit(v) ? 0x8000 : 0, low = 0, high = 0x7c00;

	v = fabs(v);
	if (isnan(v))
		return 0x7e00;
	if (v >= 65520.0) /* half-way between the largest half and the next power of two */
		return sign | 0x7c00;
	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;

		if (half_to_double(middle) <= v)
			low = middle;
		else
			high = middle;
	}
	if (low == 0x7bff)
		return sign | low;
	if (v - half_to_double(low) > half_to_double(high) - v ||
	        (v - half_to_double(low) == half_to_double(high) - v && low & 1))
		low = high;
	return sign | low;
}

static void every_half_converts_both_ways(void **state)
{
	struct gcn3_insn to = alu_valu(GCN3_V_CVT_F32_F16, V(0), V(1), NONE, NONE);
	struct gcn3_insn from = alu_valu(GCN3_V_CVT_F16_F32, V(2), V(0), NONE, NONE);

	(void)state;
	alu_init(&t);
	for (uint32_t h = 0; h < 0x10000; h += GCN3_LANES) {
		for (unsigned l = 0; l < GCN3_LANES; l++)
			t.v[1][l] = h + l;
		check_equal("to", 0, alu_run(&t, &to), GCN3_OK);
		check_equal("from", 0, alu_run(&t, &from), GCN3_OK);
		for (unsigned l = 0; l < GCN3_LANES; l++) {
			double want = half_to_double(h + l);

			if (isnan(want)) {
				assert_true(isnan(alu_float(t.v[0][l])));
				continue;
			}
			check_equal("v_cvt_f32_f16", h + l, t.v[0][l], alu_bits((float)want));
			check_equal("v_cvt_f16_f32", h + l, t.v[2][l], h + l);
		}
	}
}

static void check_half(enum gcn3_op op, unsigned l, double exact)
{
	uint32_t want = double_to_half(exact), got = t.v[0][l];

	if ((want & 0x7fff) > 0x7c00 && (got & 0x7fff) > 0x7c00 && got < 0x10000)
		return;
	if (got != want)
		fail_msg("%s(0x%04x, 0x%04x, 0x%04x): expected 0x%04x, got 0x%04x",
		        gcn3_op_name(op), t.v[1][l] & 0xffff, t.v[2][l] & 0xffff,
		        t.v[3][l] & 0xffff, want, got);
}

static double half_reference(enum gcn3_op op, double a, double b, double c)
{
	switch (op) {
	case GCN3_V_ADD_F16: return a + b;
	case GCN3_V_SUB_F16: return a - b;
	case GCN3_V_SUBREV_F16: return b - a;
	case GCN3_V_MUL_F16: return a * b;
	case GCN3_V_RCP_F16: return 1.0 / a;
	case GCN3_V_SQRT_F16: return sqrt(a);
	case GCN3_V_FLOOR_F16: return floor(a);
	case GCN3_V_CEIL_F16: return ceil(a);
	case GCN3_V_TRUNC_F16: return trunc(a);
	case GCN3_V_RNDNE_F16: return rint(a);
	case GCN3_V_CVT_F16_F32: return a;
	default: return (double)((long double)a * b + c); /* V_FMA_F16: 64 bits hold most sums */
	}
}

static void half_results_are_correctly_rounded(void **state)
{
	static const enum gcn3_op op[] = {GCN3_V_ADD_F16, GCN3_V_SUB_F16, GCN3_V_SUBREV_F16,
	        GCN3_V_MUL_F16, GCN3_V_RCP_F16, GCN3_V_SQRT_F16, GCN3_V_FLOOR_F16, GCN3_V_CEIL_F16,
	        GCN3_V_TRUNC_F16, GCN3_V_RNDNE_F16, GCN3_V_FMA_F16};
	uint32_t seed = 16;

	(void)state;
	for (unsigned n = 0; n < 100 * sizeof(op) / sizeof(op[0]); n++) {
		struct gcn3_insn i = alu_valu(op[n / 100], V(0), V(1), V(2), V(3));

		alu_init(&t);
		for (unsigned r = 1; r < 4; r++)
			for (unsigned l = 0; l < GCN3_LANES; l++)
				t.v[r][l] = alu_random(&seed); /* the upper half must not matter */
		check_equal("run", 0, alu_run(&t, &i), GCN3_OK);
		for (unsigned l = 0; l < GCN3_LANES; l++)
			check_half(op[n / 100], l,
			        half_reference(op[n / 100], half_to_double(t.v[1][l] & 0xffff),
			                half_to_double(t.v[2][l] & 0xffff),
			                half_to_double(t.v[3][l] & 0xffff)));
	}
}

struct known {
	enum gcn3_op op;
	uint64_t a, b, c, want;
};

static void check_all(const struct known *k, size_t n, uint32_t mode)
{
	for (size_t m = 0; m < n; m++) {
		alu_init(&t);
		t.w.mode = mode;
		check_equal(gcn3_op_name(k[m].op), m,
		        alu_op(&t, k[m].op, (uint32_t)k[m].a, (uint32_t)k[m].b, (uint32_t)k[m].c),
		        k[m].want);
	}
}

#define CHECK(table, mode) check_all(table, sizeof(table) / sizeof(table[0]), mode)

static void half_edge_cases(void **state)
{
	static const struct known k[] = {
	        {GCN3_V_MUL_F16, 0x0400, 0x3800, 0, 0x0200}, /* denormals are kept */
	        {GCN3_V_MAX_F16, 0x7e00, 0x3c00, 0, 0x3c00},
	        {GCN3_V_MAX_F16, 0x7d00, 0x3c00, 0, 0x7f00}, /* signalling, IEEE */
	        {GCN3_V_MIN_F16, 0x8000, 0x0000, 0, 0x8000},
	        {GCN3_V_MAX_F16, 0x8000, 0x0000, 0, 0x0000},
	        {GCN3_V_LDEXP_F16, 0x3c00, 0xfff1, 0, 0x0200}, /* 2^-15 */
	        {GCN3_V_LDEXP_F16, 0x3c00, 16, 0, 0x7c00}, {GCN3_V_FRACT_F16, 0x8001, 0, 0, 0x3bff},
	        {GCN3_V_FREXP_MANT_F16, 0xc800, 0, 0, 0xb800},
	        {GCN3_V_FREXP_EXP_I16_F16, 0x4800, 0, 0, 4},
	        {GCN3_V_FREXP_EXP_I16_F16, 0x0001, 0, 0, 0xffe9}, /* 2^-24 = 0.5 * 2^-23 */
	        {GCN3_V_CVT_U16_F16, 0xbc00, 0, 0, 0}, {GCN3_V_CVT_I16_F16, 0xfbff, 0, 0, 0x8000},
	        {GCN3_V_CVT_I16_F16, 0x7e00, 0, 0, 0}, {GCN3_V_CVT_F16_U16, 0xffff, 0, 0, 0x7c00},
	        {GCN3_V_CVT_F16_I16, 0xffff, 0, 0, 0xbc00},
	        {GCN3_V_CVT_F16_F32, 0x477fefff, 0, 0, 0x7bff},
	        {GCN3_V_CVT_F16_F32, 0x477ff000, 0, 0, 0x7c00},
	        {GCN3_V_CVT_F16_F32, 0x33000000, 0, 0, 0}, /* 2^-25: tie to even */
	        {GCN3_V_CVT_F16_F32, 0x33000001, 0, 0, 1}, {GCN3_V_EXP_F16, 0x4000, 0, 0, 0x4400},
	        {GCN3_V_LOG_F16, 0x4400, 0, 0, 0x4000},
	        {GCN3_V_LOG_F16, 0x0001, 0, 0, 0xce00}, /* -24 */
	        {GCN3_V_RSQ_F16, 0x4400, 0, 0, 0x3800}, {GCN3_V_SIN_F16, 0x3400, 0, 0, 0x3c00},
	        {GCN3_V_COS_F16, 0x3800, 0, 0, 0xbc00},
	        {GCN3_V_DIV_FIXUP_F16, 0x3c00, 0, 0x8000, 0xfe00},
	        {GCN3_V_DIV_FIXUP_F16, 0xbc00, 0x4000, 0x4000, 0x3c00},
	        /* 1 + 2^-10 squared = 1 + 2^-9 + 2^-20: mad loses the tail, fma keeps it */
	        {GCN3_V_MAD_F16, 0x3c01, 0x3c01, 0xbc02, 0x0000},
	        {GCN3_V_FMA_F16, 0x3c01, 0x3c01, 0xbc02, 0x0010},
	        {GCN3_V_MAD_F16, 0x0400, 0x3800, 0x0000, 0x0000}, /* always flushes */
	};
	static const struct known flushed[] = {
	        {GCN3_V_MUL_F16, 0x0400, 0x3800, 0, 0},
	        {GCN3_V_ADD_F16, 0x0200, 0x3c00, 0, 0x3c00},
	        {GCN3_V_CVT_F32_F16, 0x0200, 0, 0, 0},
	        {GCN3_V_CVT_F16_F32, 0xb3800000, 0, 0, 0x8000},
	};
	static const struct known upwards[] = {
	        {GCN3_V_ADD_F16, 0x3c00, 0x0001, 0, 0x3c01},
	        {GCN3_V_CVT_F16_F32, 0x477fffff, 0, 0, 0x7c00},
	        {GCN3_V_CVT_F16_F32, 0xc77fffff, 0, 0, 0xfbff},
	        {GCN3_V_CVT_F16_F32, 0x30000000, 0, 0, 1},
	};

	(void)state;
	CHECK(k, ALU_MODE);
	CHECK(flushed, ALU_MODE & ~0xc0u);
	CHECK(upwards, ALU_MODE | 1 << 2);
}

static void half_compares_and_classes(void **state)
{
	struct gcn3_insn i = alu_valu(GCN3_V_CMP_LT_F16, NONE, V(1), V(2), NONE);
	static const uint32_t value[10] = {
	        0x7d00, 0x7e00, 0xfc00, 0xbc00, 0x8001, 0x8000, 0, 1, 0x3c00, 0x7c00};

	(void)state;
	alu_init(&t);
	for (unsigned l = 0; l < GCN3_LANES; l++) {
		t.v[1][l] = 0xffff0000 | value[l % 10];
		t.v[2][l] = 0x3c00;
	}
	check_equal("lt", 0, alu_run(&t, &i), GCN3_OK);
	for (unsigned l = 0; l < GCN3_LANES; l++)
		check_equal("lt", l, gcn3_sgpr64(&t.w, VCC) >> l & 1, l % 10 >= 2 && l % 10 <= 7);
	for (unsigned n = 0; n < 10; n++) {
		i = alu_valu(GCN3_V_CMP_CLASS_F16, NONE, V(1), V(3), NONE);
		alu_fill(&t, 3, 1u << n);
		check_equal("class", n, alu_run(&t, &i), GCN3_OK);
		for (unsigned l = 0; l < GCN3_LANES; l++)
			check_equal("class", l, gcn3_sgpr64(&t.w, VCC) >> l & 1, l % 10 == n);
	}
}

#define D_ONE      0x3ff0000000000000
#define D_DENORMAL 0x0008000000000000

static void double_known_answers(void **state)
{
	static const struct known k[] = {
	        {GCN3_V_ADD_F64, D_ONE, D_ONE, 0, 0x4000000000000000},
	        {GCN3_V_MUL_F64, 0x0010000000000000, 0x3fe0000000000000, 0, D_DENORMAL},
	        {GCN3_V_FMA_F64, D_ONE + 1, D_ONE + 1, 0xbff0000000000002, 0x3970000000000000},
	        {GCN3_V_MAX_F64, 0x7ff8000000000000, D_ONE, 0, D_ONE},
	        {GCN3_V_MIN_F64, 0x7ff4000000000000, D_ONE, 0, 0x7ffc000000000000},
	        {GCN3_V_MIN_F64, 0, 1ull << 63, 0, 1ull << 63},
	        {GCN3_V_MAX_F64, 0xbff0000000000000, 0xc000000000000000, 0, 0xbff0000000000000},
	        {GCN3_V_LDEXP_F64, D_ONE, (uint32_t)-1023, 0, D_DENORMAL},
	        {GCN3_V_LDEXP_F64, D_ONE, 5000, 0, 0x7ff0000000000000},
	        {GCN3_V_RCP_F64, 0x4000000000000000, 0, 0, 0x3fe0000000000000},
	        {GCN3_V_RSQ_F64, 0x4010000000000000, 0, 0, 0x3fe0000000000000},
	        {GCN3_V_SQRT_F64, 0x4010000000000000, 0, 0, 0x4000000000000000},
	        {GCN3_V_TRUNC_F64, 0xbff8000000000000, 0, 0, 0xbff0000000000000},
	        {GCN3_V_FLOOR_F64, 0xbff8000000000000, 0, 0, 0xc000000000000000},
	        {GCN3_V_CEIL_F64, 0xbff8000000000000, 0, 0, 0xbff0000000000000},
	        {GCN3_V_RNDNE_F64, 0x4004000000000000, 0, 0, 0x4000000000000000},
	        {GCN3_V_FRACT_F64, 0xbc30000000000000, 0, 0, 0x3fefffffffffffff},
	        {GCN3_V_FREXP_MANT_F64, 0x4020000000000000, 0, 0, 0x3fe0000000000000},
	        {GCN3_V_FREXP_MANT_F64, D_DENORMAL, 0, 0, 0x3fe0000000000000},
	        /* bits 0..52 and 53..105 of 2/pi = 0xa2f9836e4e441529fc27... */
	        {GCN3_V_TRIG_PREOP_F64, D_ONE, 0, 0, 0x3fe45f306dc9c882},
	        {GCN3_V_TRIG_PREOP_F64, D_ONE, 1, 0, 0x3c94a7f09d5f47d4},
	};

	(void)state;
	for (size_t n = 0; n < sizeof(k) / sizeof(k[0]); n++) {
		alu_init(&t);
		check_equal(gcn3_op_name(k[n].op), n, alu_op64(&t, k[n].op, k[n].a, k[n].b, k[n].c),
		        k[n].want);
	}
}

static uint32_t narrow(enum gcn3_op op, uint64_t a)
{
	struct gcn3_insn i = alu_valu(op, V(0), V(2), NONE, NONE);

	alu_init(&t);
	alu_fill64(&t, 2, a);
	check_equal(gcn3_op_name(op), 0, alu_run(&t, &i), GCN3_OK);
	return t.v[0][3];
}

static uint64_t widen(enum gcn3_op op, uint32_t a)
{
	struct gcn3_insn i = alu_valu(op, V(0), V(2), NONE, NONE);

	alu_init(&t);
	alu_fill(&t, 2, a);
	check_equal(gcn3_op_name(op), 0, alu_run(&t, &i), GCN3_OK);
	return alu_wide(&t, 0, 3);
}

static void double_conversions(void **state)
{
	(void)state;
	check_equal("i32", 0, narrow(GCN3_V_CVT_I32_F64, alu_bits64(-1.75)), 0xffffffff);
	check_equal("i32", 1, narrow(GCN3_V_CVT_I32_F64, alu_bits64(1e10)), 0x7fffffff);
	check_equal("i32", 2, narrow(GCN3_V_CVT_I32_F64, alu_bits64(-1e10)), 0x80000000);
	check_equal("i32", 3, narrow(GCN3_V_CVT_I32_F64, 0x7ff8000000000000), 0);
	check_equal("u32", 0, narrow(GCN3_V_CVT_U32_F64, alu_bits64(4294967295.5)), 0xffffffff);
	check_equal("u32", 1, narrow(GCN3_V_CVT_U32_F64, alu_bits64(-1)), 0);
	check_equal("f32", 0, narrow(GCN3_V_CVT_F32_F64, alu_bits64(0.1)), alu_bits(0.1f));
	check_equal("f32", 1, narrow(GCN3_V_CVT_F32_F64, alu_bits64(0x1p-130)), 0);
	check_equal(
	        "exp", 0, narrow(GCN3_V_FREXP_EXP_I32_F64, alu_bits64(0x1p-1074)), (uint32_t)-1073);
	check_equal("f64", 0, widen(GCN3_V_CVT_F64_F32, alu_bits(0.1f)), alu_bits64((double)0.1f));
	check_equal("f64", 1, widen(GCN3_V_CVT_F64_F32, 1), 0); /* flushed */
	check_equal("f64", 2, widen(GCN3_V_CVT_F64_I32, 0xffffffff), alu_bits64(-1));
	check_equal("f64", 3, widen(GCN3_V_CVT_F64_U32, 0xffffffff), alu_bits64(4294967295.0));
}

static void double_constants_and_modifiers(void **state)
{
	struct gcn3_insn i = alu_valu(GCN3_V_ADD_F64, V(0), FLOAT_HALF, V(2), NONE);

	(void)state;
	alu_init(&t);
	alu_fill64(&t, 2, alu_bits64(-3));
	i.abs = 2;
	check_equal("run", 0, alu_run(&t, &i), GCN3_OK);
	check_equal("0.5 + |-3|", 0, alu_wide(&t, 0, 0), alu_bits64(3.5));
	i = alu_valu(GCN3_V_MUL_F64, V(0), S(10), V(2), NONE);
	gcn3_set_sgpr64(&t.w, 10, alu_bits64(7));
	i.neg = 1;
	check_equal("run", 1, alu_run(&t, &i), GCN3_OK);
	check_equal("-7 * -3", 0, alu_wide(&t, 0, 0), alu_bits64(21));
	i.clamp = true;
	check_equal("run", 2, alu_run(&t, &i), GCN3_OK);
	check_equal("clamped", 0, alu_wide(&t, 0, 0), alu_bits64(1));
}

static void double_arithmetic_agrees_with_the_host(void **state)
{
	static const enum gcn3_op op[3] = {GCN3_V_ADD_F64, GCN3_V_MUL_F64, GCN3_V_FMA_F64};
	uint32_t seed = 64;

	(void)state;
	for (unsigned n = 0; n < 600; n++) {
		struct gcn3_insn i = alu_valu(op[n % 3], V(0), V(2), V(4), V(6));

		alu_init(&t);
		for (unsigned r = 2; r < 8; r++)
			for (unsigned l = 0; l < GCN3_LANES; l++)
				t.v[r][l] = r & 1 ? alu_random_float(&seed) : alu_random(&seed);
		check_equal("run", 0, alu_run(&t, &i), GCN3_OK);
		for (unsigned l = 0; l < GCN3_LANES; l++) {
			double a = alu_double(alu_wide(&t, 2, l)),
			       b = alu_double(alu_wide(&t, 4, l));
			double c = alu_double(alu_wide(&t, 6, l));
			double want = n % 3 == 0 ? a + b : n % 3 == 1 ? a * b : fma(a, b, c);

			if (isnan(want))
				assert_true(isnan(alu_double(alu_wide(&t, 0, l))));
			else
				check_equal(gcn3_op_name(i.op), l, alu_wide(&t, 0, l),
				        alu_bits64(want));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_half_converts_both_ways),
	        cmocka_unit_test(half_results_are_correctly_rounded),
	        cmocka_unit_test(half_edge_cases),
	        cmocka_unit_test(half_compares_and_classes),
	        cmocka_unit_test(double_known_answers),
	        cmocka_unit_test(double_conversions),
	        cmocka_unit_test(double_constants_and_modifiers),
	        cmocka_unit_test(double_arithmetic_agrees_with_the_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
