/* The compiler's division sequence around v_div_scale, v_div_fmas and v_div_fixup gives the
 * correctly rounded quotient. */
#include <math.h>

#include "tests/unit/gcn3/helper_alu.h"

#define KEEP_ALL (ALU_MODE | ALU_KEEP_32)

static struct alu t;

static void run(enum gcn3_op op, uint16_t dst, uint16_t a, uint16_t b, uint16_t c, unsigned neg)
{
	struct gcn3_insn i = alu_valu(op, dst, a, b, c);

	i.neg = (uint8_t)neg;
	i.sdst = op == GCN3_V_DIV_SCALE_F32 || op == GCN3_V_DIV_SCALE_F64 ? S(20) : VCC;
	check_equal(gcn3_op_name(op), 0, alu_run(&t, &i), GCN3_OK);
}

/* What LLVM emits for v1 / v2 with denormals on (SITargetLowering::LowerFDIV32); result v0. */
static void divide_single(void)
{
	const uint16_t n = V(1), d = V(2), ds = V(3), ns = V(4), r = V(5), e = V(6), q = V(7);

	run(GCN3_V_DIV_SCALE_F32, ds, d, d, n, 0);
	run(GCN3_V_DIV_SCALE_F32, ns, n, d, n, 0);
	gcn3_set_sgpr64(&t.w, VCC, gcn3_sgpr64(&t.w, 20));
	run(GCN3_V_RCP_F32, r, ds, NONE, NONE, 0);
	run(GCN3_V_FMA_F32, e, ds, r, FLOAT_ONE, 1);
	run(GCN3_V_FMA_F32, r, e, r, r, 0);
	run(GCN3_V_MUL_F32, q, ns, r, NONE, 0);
	run(GCN3_V_FMA_F32, e, ds, q, ns, 1);
	run(GCN3_V_FMA_F32, q, e, r, q, 0);
	run(GCN3_V_FMA_F32, e, ds, q, ns, 1);
	run(GCN3_V_DIV_FMAS_F32, e, e, r, q, 0);
	run(GCN3_V_DIV_FIXUP_F32, V(0), e, d, n, 0);
}

/* v[2:3] / v[4:5] to v[0:1] (SITargetLowering::LowerFDIV64). */
static void divide_double(void)
{
	const uint16_t n = V(2), d = V(4), ds = V(6), ns = V(8), r = V(10), e = V(12), q = V(14);

	run(GCN3_V_DIV_SCALE_F64, ds, d, d, n, 0);
	run(GCN3_V_DIV_SCALE_F64, ns, n, d, n, 0);
	gcn3_set_sgpr64(&t.w, VCC, gcn3_sgpr64(&t.w, 20));
	run(GCN3_V_RCP_F64, r, ds, NONE, NONE, 0);
	run(GCN3_V_FMA_F64, e, ds, r, FLOAT_ONE, 1);
	run(GCN3_V_FMA_F64, r, r, e, r, 0);
	run(GCN3_V_FMA_F64, e, ds, r, FLOAT_ONE, 1);
	run(GCN3_V_FMA_F64, r, r, e, r, 0);
	run(GCN3_V_MUL_F64, q, ns, r, NONE, 0);
	run(GCN3_V_FMA_F64, e, ds, q, ns, 1);
	run(GCN3_V_DIV_FMAS_F64, e, e, r, q, 0);
	run(GCN3_V_DIV_FIXUP_F64, V(0), e, d, n, 0);
}

static uint64_t random_double(uint32_t *seed)
{
	uint64_t r = alu_random(seed) | (uint64_t)alu_random(seed) << 32;

	switch (alu_random(seed) & 3) {
	case 0: return (uint64_t)alu_random_float(seed) << 32 | (alu_random(seed) & 1);
	case 1: return r & ~(0x7ffull << 52); /* denormal */
	default: return r;
	}
}

static void single_quotients_are_correctly_rounded(void **state)
{
	uint32_t seed = 4711;

	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		alu_init(&t);
		t.w.mode = KEEP_ALL;
		for (unsigned l = 0; l < GCN3_LANES; l++) {
			t.v[1][l] = alu_random_float(&seed);
			t.v[2][l] = alu_random_float(&seed);
		}
		divide_single();
		for (unsigned l = 0; l < GCN3_LANES; l++) {
			float n = alu_float(t.v[1][l]), d = alu_float(t.v[2][l]), want = n / d;
			float got = alu_float(t.v[0][l]);

			if (isnan(want) ? !isnan(got) : alu_bits(want) != alu_bits(got))
				fail_msg("%a / %a: expected %a, got %a", (double)n, (double)d,
				        (double)want, (double)got);
		}
	}
}

static void double_quotients_are_correctly_rounded(void **state)
{
	uint32_t seed = 815;

	(void)state;
	for (unsigned round = 0; round < 1000; round++) {
		alu_init(&t);
		for (unsigned l = 0; l < GCN3_LANES; l++) {
			uint64_t n = random_double(&seed), d = random_double(&seed);

			t.v[2][l] = (uint32_t)n;
			t.v[3][l] = (uint32_t)(n >> 32);
			t.v[4][l] = (uint32_t)d;
			t.v[5][l] = (uint32_t)(d >> 32);
		}
		divide_double();
		for (unsigned l = 0; l < GCN3_LANES; l++) {
			double n = alu_double(alu_wide(&t, 2, l)),
			       d = alu_double(alu_wide(&t, 4, l));
			double want = n / d, got = alu_double(alu_wide(&t, 0, l));

			if (isnan(want) ? !isnan(got) : alu_bits64(want) != alu_bits64(got))
				fail_msg("%a / %a: expected %a, got %a", n, d, want, got);
		}
	}
}

struct scale_case {
	uint32_t scaled, denominator, numerator, want;
	bool flag;
};

/* valu_div.h [S] */
static void scaling_is_as_measured(void **state)
{
	static const struct scale_case k[] = {
	        {0x3f800000, 0x3f800000, 0x40000000, 0x3f800000, false}, /* nothing to do */
	        {0x40000000, 0x40000000, 0, 0xffc00000, true},           /* a zero: NaN */
	        {0x40000000, 0x10000000, 0, 0xffc00000, false},          /* exponents 32 apart */
	        {0, 0, 0x3f800000, 0xffc00000, true},
	        {0x0f800000, 0x0f800000, 0x3f800000, 0x2f800000, true},  /* 2^-96 below 1: 2^64 */
	        {0x3f800000, 0x0f800000, 0x3f800000, 0x3f800000, true},  /* only the denominator */
	        {0x00400000, 0x00400000, 0x00800000, 0x20000000, false}, /* denormal denominator */
	        {0x00800000, 0x00400000, 0x00800000, 0x20800000, false},
	        {0x7f000000, 0x7f000000, 0x7f000000, 0x5f000000,
	                false}, /* 1/d denormal: both down */
	        {0x7f000000, 0x7f000000, 0x3f000000, 0x5f000000, true}, /* and the quotient too */
	        {0x3f000000, 0x7f000000, 0x3f000000, 0x3f000000, true},
	        {0x02000000, 0x42000000, 0x02000000, 0x22000000, true}, /* quotient denormal */
	        {0x42000000, 0x42000000, 0x02000000, 0x42000000, true},
	        {0x0d800000, 0x3f800000, 0x0d800000, 0x2d800000, true}, /* 2^-100, not denormal */
	        {0x3f800000, 0x3f800000, 0x0d800000, 0x3f800000, true},
	        {0x10000000, 0x3f800000, 0x10000000, 0x10000000, false}, /* 2^-95 */
	        {0x7f800000, 0x7f800000, 0x3f800000, 0x7f800000, true},  /* infinities, NaNs */
	        {0x3f800000, 0x7f800000, 0x3f800000, 0x3f800000, true},
	        {0x7fa00000, 0x7fa00000, 0x7f000000, 0x7fa00000, false},
	        {0x7f000000, 0x7fa00000, 0x7f000000, 0x5f000000, false},
	        {0x0b800000, 0x0b000000, 0x0b800000, 0x2b800000, false}, /* tiny numerator */
	        {0x0c000000, 0x0b000000, 0x0c000000, 0x0c000000, false},
	};

	(void)state;
	for (size_t n = 0; n < sizeof(k) / sizeof(k[0]); n++) {
		alu_init(&t);
		check_equal("v_div_scale_f32", n,
		        alu_op(&t, GCN3_V_DIV_SCALE_F32, k[n].scaled, k[n].denominator,
		                k[n].numerator),
		        k[n].want);
		check_equal("flag", n, gcn3_sgpr64(&t.w, VCC), k[n].flag ? ~0ull : 0);
	}
}

/* valu_div.h [M], its last four [S] */
static void fixup_settles_special_quotients(void **state)
{
	static const struct {
		uint32_t quotient, denominator, numerator, want;
	} k[] = {
	        {0x3f800000, 0x7fa00000, 0x3f800000,
	                0x7fe00000}, /* NaNs quieted, numerator first */
	        {0x3f800000, 0x7fa00000, 0xffa00001, 0xffe00001},
	        {0x3f800000, 0, 0x80000000, 0xffc00000}, /* 0/0 */
	        {0x3f800000, 0x7f800000, 0xff800000, 0xffc00000},
	        {0x3f800000, 0x80000000, 0x3f800000, 0xff800000}, /* 1/-0 */
	        {0x3f800000, 0x40000000, 0xff800000, 0xff800000},
	        {0x3f800000, 0xff800000, 0x40000000, 0x80000000},
	        {0x3f800000, 0x40000000, 0x80000000, 0x80000000},
	        {0xbf800000, 0x40000000, 0x40000000, 0x3f800000}, /* sign from the operands */
	        {0x3f800000, 0x7f000000, 0x00800000, 0},          /* far below the least denormal */
	        {0x3f800000, 0xcc000000, 0x00800000, 0x80000000}, /* exponents 151 apart */
	        {0x3f800000, 0xcb800000, 0x00800000, 0xbf800000}, /* 150 */
	        {0x7fc00000, 0x3f800000, 0x40000000, 0x7f800000}, /* an estimate that overflowed */
	        {0xffc00000, 0xbf800000, 0x40000000, 0xff800000},
	};

	(void)state;
	for (size_t n = 0; n < sizeof(k) / sizeof(k[0]); n++) {
		alu_init(&t);
		check_equal("v_div_fixup_f32", n,
		        alu_op(&t, GCN3_V_DIV_FIXUP_F32, k[n].quotient, k[n].denominator,
		                k[n].numerator),
		        k[n].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(single_quotients_are_correctly_rounded),
	        cmocka_unit_test(double_quotients_are_correctly_rounded),
	        cmocka_unit_test(scaling_is_as_measured),
	        cmocka_unit_test(fixup_settles_special_quotients),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
