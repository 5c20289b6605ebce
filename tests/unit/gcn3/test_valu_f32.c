/* Single-precision vector arithmetic: known answers, and host arithmetic in double as an
 * independent reference. */
#include <math.h>

#include "tests/unit/gcn3/helper_alu.h"

#define F_QNAN     0x7fc00000u
#define F_SNAN     0x7fa00000u
#define F_INF      0x7f800000u
#define F_NEG_INF  0xff800000u
#define F_ONE      0x3f800000u
#define F_TWO      0x40000000u
#define F_DENORMAL 0x00400000u /* 2^-127 */
#define F_TINY     0x00800000u /* least normal */
#define F_HUGE     0x7f7fffffu

struct known {
	enum gcn3_op op;
	uint32_t a, b, c, want;
};

static void check_all(const struct known *k, size_t n, uint32_t mode)
{
	static struct alu t;

	for (size_t m = 0; m < n; m++) {
		alu_init(&t);
		t.w.mode = mode;
		check_equal(gcn3_op_name(k[m].op), m, alu_op(&t, k[m].op, k[m].a, k[m].b, k[m].c),
		        k[m].want);
	}
}

#define CHECK(table, mode) check_all(table, sizeof(table) / sizeof(table[0]), mode)

static void denormals_are_flushed_by_default(void **state)
{
	static const struct known k[] = {
	        {GCN3_V_ADD_F32, F_DENORMAL, F_DENORMAL, 0, 0},
	        {GCN3_V_MUL_F32, F_TINY, 0x3f000000, 0, 0},
	        {GCN3_V_MUL_F32, 0x80000000 | F_TINY, 0x3f000000, 0, 0x80000000},
	        {GCN3_V_MUL_F32, F_DENORMAL, 0x7f000000, 0, 0},
	        {GCN3_V_FMA_F32, F_DENORMAL, F_TWO, F_TINY, F_TINY},
	        {GCN3_V_FLOOR_F32, 0x80000000 | F_DENORMAL, 0, 0, 0x80000000},
	        {GCN3_V_CEIL_F32, F_DENORMAL, 0, 0, 0},
	        {GCN3_V_MAX_F32, F_DENORMAL, 0, 0, F_DENORMAL}, /* min and max ignore the mode */
	        {GCN3_V_MIN_F32, F_DENORMAL, F_TINY, 0, F_DENORMAL},
	        {GCN3_V_MOV_B32, F_DENORMAL, 0, 0, F_DENORMAL},
	        {GCN3_V_LDEXP_F32, F_TINY, (uint32_t)-1, 0, 0},
	        {GCN3_V_RCP_F32, F_DENORMAL, 0, 0, F_INF},
	        {GCN3_V_RCP_F32, 0x7e800001, 0, 0, 0}, /* 1/x below 2^-126 */
	        {GCN3_V_LOG_F32, F_DENORMAL, 0, 0, F_NEG_INF},
	        {GCN3_V_EXP_F32, 0xc3000000, 0, 0, 0}, /* 2^-128 */
	};

	(void)state;
	CHECK(k, ALU_MODE);
}

static void denormals_are_kept_when_mode_says_so(void **state)
{
	static const struct known k[] = {
	        {GCN3_V_ADD_F32, F_DENORMAL, F_DENORMAL, 0, F_TINY},
	        {GCN3_V_MUL_F32, F_TINY, 0x3f000000, 0, F_DENORMAL},
	        {GCN3_V_FMA_F32, F_DENORMAL, F_TWO, 0, F_TINY},
	        {GCN3_V_CEIL_F32, F_DENORMAL, 0, 0, F_ONE},
	        {GCN3_V_FLOOR_F32, 0x80000000 | F_DENORMAL, 0, 0, 0xbf800000},
	        {GCN3_V_LDEXP_F32, F_TINY, (uint32_t)-1, 0, F_DENORMAL},
	        /* v_mad and v_mac flush whatever the mode */
	        {GCN3_V_MAD_F32, F_DENORMAL, F_TWO, F_TINY, F_TINY},
	        {GCN3_V_MAD_F32, F_TINY, 0x3f000000, 0, 0},
	        {GCN3_V_RCP_F32, F_DENORMAL, 0, 0, F_INF},
	        {GCN3_V_EXP_F32, 0xc3000000, 0, 0, 0},
	        {GCN3_V_LOG_F32, F_DENORMAL, 0, 0, F_NEG_INF},
	        {GCN3_V_SQRT_F32, F_DENORMAL, 0, 0, 0},
	};

	(void)state;
	CHECK(k, ALU_MODE | ALU_KEEP_32);
}

static void input_and_output_flush_are_separate(void **state)
{
	static const struct known inputs_kept[] = {
	        {GCN3_V_ADD_F32, F_DENORMAL, F_DENORMAL, 0, F_TINY},
	        {GCN3_V_MUL_F32, F_TINY, 0x3f000000, 0, 0},
	};
	static const struct known outputs_kept[] = {
	        {GCN3_V_ADD_F32, F_DENORMAL, F_DENORMAL, 0, 0},
	        {GCN3_V_MUL_F32, F_TINY, 0x3f000000, 0, F_DENORMAL},
	};

	(void)state;
	CHECK(inputs_kept, ALU_MODE | 0x10);
	CHECK(outputs_kept, ALU_MODE | 0x20);
}

static void rounding_follows_mode(void **state)
{
	/* 1 + 2^-25, 1 - 2^-26 */
	static const struct known near[] = {{GCN3_V_ADD_F32, F_ONE, 0x33000000, 0, F_ONE},
	        {GCN3_V_SUB_F32, F_ONE, 0x32800000, 0, F_ONE}};
	static const struct known up[] = {{GCN3_V_ADD_F32, F_ONE, 0x33000000, 0, 0x3f800001},
	        {GCN3_V_SUB_F32, F_ONE, 0x32800000, 0, F_ONE}};
	static const struct known down[] = {{GCN3_V_ADD_F32, F_ONE, 0x33000000, 0, F_ONE},
	        {GCN3_V_SUB_F32, F_ONE, 0x32800000, 0, 0x3f7fffff}};
	/* conversions to integer values do not depend on the mode */
	static const struct known even[] = {{GCN3_V_RNDNE_F32, 0x40200000, 0, 0, F_TWO},
	        {GCN3_V_RNDNE_F32, 0x40600000, 0, 0, 0x40800000}};

	(void)state;
	CHECK(near, ALU_MODE);
	CHECK(up, ALU_MODE | 1);
	CHECK(down, ALU_MODE | 2);
	CHECK(down, ALU_MODE | 3);
	for (uint32_t round = 0; round < 4; round++)
		CHECK(even, ALU_MODE | round);
}

static void minimum_and_maximum_handle_nan_and_zero(void **state)
{
	static const struct known k[] = {
	        {GCN3_V_MAX_F32, F_QNAN, F_ONE, 0, F_ONE},
	        {GCN3_V_MAX_F32, F_ONE, F_QNAN, 0, F_ONE},
	        {GCN3_V_MIN_F32, F_QNAN, F_NEG_INF, 0, F_NEG_INF},
	        {GCN3_V_MAX_F32, F_SNAN, F_ONE, 0, F_SNAN | 0x400000},
	        {GCN3_V_MIN_F32, F_ONE, F_SNAN, 0, F_SNAN | 0x400000},
	        {GCN3_V_MAX_F32, 0x80000000, 0, 0, 0},
	        {GCN3_V_MIN_F32, 0, 0x80000000, 0, 0x80000000},
	        {GCN3_V_MAX_F32, 0xbf800000, F_TWO, 0, F_TWO},
	        {GCN3_V_MIN_F32, 0xbf800000, 0xc0000000, 0, 0xc0000000},
	        {GCN3_V_MAX3_F32, F_ONE, 0xc0000000, F_TWO, F_TWO},
	        {GCN3_V_MIN3_F32, F_ONE, 0xc0000000, F_TWO, 0xc0000000},
	        {GCN3_V_MED3_F32, F_TWO, F_ONE, 0xc0000000, F_ONE},
	        {GCN3_V_MED3_F32, 0x40400000, F_INF, F_ONE, 0x40400000},
	        {GCN3_V_MED3_F32, F_QNAN, F_TWO, F_ONE, F_ONE}, /* with a NaN: the minimum */
	        {GCN3_V_MAX3_F32, F_QNAN, F_QNAN, F_ONE, F_ONE},
	};
	static const struct known quiet[] = {
	        {GCN3_V_MAX_F32, F_SNAN, F_ONE, 0, F_ONE},
	        {GCN3_V_MIN_F32, F_ONE, F_SNAN, 0, F_ONE},
	};

	(void)state;
	CHECK(k, ALU_MODE);
	CHECK(quiet, ALU_MODE & ~ALU_IEEE);
}

static void special_values_come_out_as_the_manual_says(void **state)
{
	static const struct known k[] = {
	        {GCN3_V_RCP_F32, 0, 0, 0, F_INF},
	        {GCN3_V_RCP_F32, 0x80000000, 0, 0, F_NEG_INF},
	        {GCN3_V_RCP_F32, F_INF, 0, 0, 0},
	        {GCN3_V_RSQ_F32, 0, 0, 0, F_INF},
	        {GCN3_V_RSQ_F32, 0x40800000, 0, 0, 0x3f000000},
	        {GCN3_V_SQRT_F32, 0x40800000, 0, 0, F_TWO},
	        {GCN3_V_SQRT_F32, 0x80000000, 0, 0, 0x80000000},
	        {GCN3_V_LOG_F32, 0, 0, 0, F_NEG_INF},
	        {GCN3_V_LOG_F32, F_ONE, 0, 0, 0},
	        {GCN3_V_LOG_F32, 0x41000000, 0, 0, 0x40400000},
	        {GCN3_V_LOG_F32, F_INF, 0, 0, F_INF},
	        {GCN3_V_EXP_F32, 0, 0, 0, F_ONE},
	        {GCN3_V_EXP_F32, 0x40a00000, 0, 0, 0x42000000},
	        {GCN3_V_EXP_F32, F_NEG_INF, 0, 0, 0},
	        {GCN3_V_EXP_F32, F_INF, 0, 0, F_INF},
	        {GCN3_V_EXP_F32, 0x43000000, 0, 0, F_INF},
	        {GCN3_V_EXP_F32, 0xc2fc0000, 0, 0, F_TINY}, /* 2^-126 */
	        {GCN3_V_SIN_F32, 0x3e800000, 0, 0, F_ONE},  /* a quarter turn */
	        {GCN3_V_SIN_F32, 0x43808000, 0, 0, 0},      /* 257 */
	        {GCN3_V_COS_F32, 0x43808000, 0, 0, F_ONE},
	        {GCN3_V_COS_F32, 0x3f000000, 0, 0, 0xbf800000},
	        {GCN3_V_MUL_LEGACY_F32, 0, F_INF, 0, 0},
	        {GCN3_V_MUL_LEGACY_F32, F_QNAN, 0x80000000, 0, 0},
	        {GCN3_V_MAD_LEGACY_F32, 0, F_QNAN, F_ONE, F_ONE},
	        {GCN3_V_FRACT_F32, 0xbe800000, 0, 0, 0x3f400000},
	        {GCN3_V_FRACT_F32, 0xb0000000, 0, 0, 0x3f7fffff}, /* not 1 */
	        {GCN3_V_TRUNC_F32, 0xbfc00000, 0, 0, 0xbf800000},
	        {GCN3_V_FLOOR_F32, 0xbfc00000, 0, 0, 0xc0000000},
	        {GCN3_V_CEIL_F32, 0xbf000000, 0, 0, 0x80000000},
	        {GCN3_V_LDEXP_F32, F_ONE, 127, 0, 0x7f000000},
	        {GCN3_V_LDEXP_F32, F_ONE, 128, 0, F_INF},
	        {GCN3_V_LDEXP_F32, F_HUGE, 0x80000000, 0, 0},
	        {GCN3_V_FREXP_EXP_I32_F32, 0x41000000, 0, 0, 4},
	        {GCN3_V_FREXP_EXP_I32_F32, F_INF, 0, 0, 0},
	        {GCN3_V_FREXP_MANT_F32, 0xc1000000, 0, 0, 0xbf000000},
	        {GCN3_V_FREXP_MANT_F32, F_INF, 0, 0, F_INF},
	};

	(void)state;
	CHECK(k, ALU_MODE);
}

static void conversions_saturate(void **state)
{
	static const struct known k[] = {
	        {GCN3_V_CVT_I32_F32, 0x4f000000, 0, 0, 0x7fffffff},
	        {GCN3_V_CVT_I32_F32, 0xcf000000, 0, 0, 0x80000000},
	        {GCN3_V_CVT_I32_F32, F_NEG_INF, 0, 0, 0x80000000},
	        {GCN3_V_CVT_I32_F32, F_QNAN, 0, 0, 0},
	        {GCN3_V_CVT_I32_F32, 0xbfe00000, 0, 0, 0xffffffff}, /* -1.75 */
	        {GCN3_V_CVT_U32_F32, 0xbfe00000, 0, 0, 0},
	        {GCN3_V_CVT_U32_F32, 0x4f7fffff, 0, 0, 0xffffff00},
	        {GCN3_V_CVT_U32_F32, 0x4f000001, 0, 0, 0x80000100},
	        {GCN3_V_CVT_U32_F32, 0x4f800000, 0, 0, 0xffffffff},
	        {GCN3_V_CVT_U32_F32, F_QNAN, 0, 0, 0},
	        {GCN3_V_CVT_F32_U32, 0xffffffff, 0, 0, 0x4f800000},
	        {GCN3_V_CVT_F32_U32, 0x80000080, 0, 0, 0x4f000000}, /* tie to even */
	        {GCN3_V_CVT_F32_I32, 0xffffffff, 0, 0, 0xbf800000},
	        {GCN3_V_CVT_FLR_I32_F32, 0xbf800001, 0, 0, 0xfffffffe},
	        {GCN3_V_CVT_RPI_I32_F32, 0x40200000, 0, 0, 3},
	        {GCN3_V_CVT_F32_UBYTE0, 0x804020ff, 0, 0, 0x437f0000},
	        {GCN3_V_CVT_F32_UBYTE1, 0x804020ff, 0, 0, 0x42000000},
	        {GCN3_V_CVT_F32_UBYTE2, 0x804020ff, 0, 0, 0x42800000},
	        {GCN3_V_CVT_F32_UBYTE3, 0x804020ff, 0, 0, 0x43000000},
	        {GCN3_V_CVT_OFF_F32_I4, 0x8, 0, 0, 0xbf000000},
	        {GCN3_V_CVT_OFF_F32_I4, 0x7, 0, 0, 0x3ee00000},
	        {GCN3_V_CVT_PK_U8_F32, 0x43ff0000, 2, 0x11223344, 0x11ff3344},
	        {GCN3_V_CVT_PK_U8_F32, 0x3fc00000, 3, 0x11223344, 0x02223344}, /* 1.5 */
	        {GCN3_V_CVT_PK_U8_F32, 0x40200000, 0, 0x11223344, 0x11223302}, /* 2.5 */
	        {GCN3_V_CVT_PK_U8_F32, 0x43794000, 1, 0x11223344, 0x1122f944}, /* 249.25 */
	        {GCN3_V_CVT_PK_U8_F32, 0x4379c000, 1, 0x11223344, 0x1122fa44}, /* 249.75 */
	        {GCN3_V_CVT_PK_U8_F32, 0x437f4000, 4, 0x11223344, 0x112233ff}, /* byte 4 & 3 */
	        {GCN3_V_CVT_PK_U8_F32, 0xb77d0000, 0, 0x11223344, 0x11223300}, /* -1.5e-5 */
	        {GCN3_V_CVT_PK_U8_F32, F_NEG_INF, 0, 0x11223344, 0x11223300},
	        {GCN3_V_CVT_PK_U8_F32, F_QNAN, 0, 0x11223344, 0x11223300},
	        {GCN3_V_CVT_PKNORM_I16_F32, 0xbf800000, F_ONE, 0, 0x7fff8001},
	        {GCN3_V_CVT_PKNORM_U16_F32, 0xbf800000, F_TWO, 0, 0xffff0000},
	        {GCN3_V_CVT_PKRTZ_F16_F32, F_ONE, 0x477fffff, 0, 0x7bff3c00},
	};

	(void)state;
	CHECK(k, ALU_MODE);
}

static void class_bits_name_the_operand(void **state)
{
	static const uint32_t value[10] = {
	        F_SNAN, F_QNAN, F_NEG_INF, 0xbf800000, 0x80000001, 0x80000000, 0, 1, F_ONE, F_INF};
	static struct alu t;
	struct gcn3_insn i = alu_valu(GCN3_V_CMP_CLASS_F32, NONE, V(1), V(2), NONE);

	(void)state;
	alu_init(&t);
	for (unsigned n = 0; n < 10; n++) {
		for (unsigned l = 0; l < GCN3_LANES; l++) {
			t.v[1][l] = value[n];
			t.v[2][l] = 1u << (l % 10);
		}
		check_equal("class", n, alu_run(&t, &i), GCN3_OK);
		for (unsigned l = 0; l < GCN3_LANES; l++)
			check_equal("class bit", l, gcn3_sgpr64(&t.w, VCC) >> l & 1, l % 10 == n);
	}
}

/* Relations as sets of {less, equal, greater, unordered}: the numbering of the compare opcodes. */
static void float_compares_follow_their_numbering(void **state)
{
	static const uint16_t first[2] = {GCN3_V_CMP_F_F32, GCN3_V_CMPX_F_F32};
	static struct alu t;
	uint32_t seed = 31;

	(void)state;
	for (unsigned round = 0; round < 640; round++) {
		unsigned relation = round % 16, x = round / 16 % 2;
		struct gcn3_insn i = alu_valu(first[x] + relation, NONE, V(1), V(2), NONE);
		uint64_t want = 0;

		alu_init(&t);
		t.w.mode |= ALU_KEEP_32;
		i.sdst = S(10);
		for (unsigned l = 0; l < GCN3_LANES; l++) {
			float a, b;

			t.v[1][l] = alu_random_float(&seed);
			t.v[2][l] = l & 1 ? t.v[1][l] : alu_random_float(&seed);
			a = alu_float(t.v[1][l]);
			b = alu_float(t.v[2][l]);
			want |= (uint64_t)((relation >> (isunordered(a, b)        ? 3
			                                        : isless(a, b)    ? 0
			                                        : isgreater(a, b) ? 2
			                                                          : 1)) &
			                   1)
			        << l;
		}
		check_equal("compare", relation, alu_run(&t, &i), GCN3_OK);
		check_equal(gcn3_op_name(i.op), relation, gcn3_sgpr64(&t.w, 10), want);
		check_equal("EXEC", relation, gcn3_exec(&t.w), x ? want : ~0ull);
	}
}

static void compares_flush_denormals_with_the_mode(void **state)
{
	static struct alu t;
	struct gcn3_insn i = alu_valu(GCN3_V_CMP_EQ_F32, NONE, V(1), INT(0), NONE);

	(void)state;
	alu_init(&t);
	alu_fill(&t, 1, F_DENORMAL);
	check_equal("run", 0, alu_run(&t, &i), GCN3_OK);
	check_equal("flushed", 0, gcn3_sgpr64(&t.w, VCC), ~0ull);
	t.w.mode |= ALU_KEEP_32;
	check_equal("run", 1, alu_run(&t, &i), GCN3_OK);
	check_equal("kept", 1, gcn3_sgpr64(&t.w, VCC), 0);
}

static float flush(float f)
{
	return fpclassify(f) == FP_SUBNORMAL ? copysignf(0.0f, f) : f;
}

/* One rounding of an exact double; FTZ by magnitude after rounding, as SSE does. */
static float rounded(double exact)
{
	return flush((float)exact);
}

static void mac_rounds_the_product_and_then_the_sum(void **state)
{
	static struct alu t;
	struct gcn3_insn mac = alu_valu(GCN3_V_MAC_F32, V(3), V(1), V(2), NONE);
	struct gcn3_insn mad = alu_valu(GCN3_V_MAD_F32, V(4), V(1), V(2), V(5));
	struct gcn3_insn fused = alu_valu(GCN3_V_FMA_F32, V(6), V(1), V(2), V(5));
	uint32_t seed = 2024;
	unsigned differ = 0;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		alu_init(&t);
		for (unsigned l = 0; l < GCN3_LANES; l++) {
			t.v[1][l] = alu_random_float(&seed);
			t.v[2][l] = alu_random_float(&seed);
			t.v[3][l] = t.v[5][l] = alu_random_float(&seed);
		}
		check_equal("mac", 0, alu_run(&t, &mac), GCN3_OK);
		check_equal("mad", 0, alu_run(&t, &mad), GCN3_OK);
		check_equal("fma", 0, alu_run(&t, &fused), GCN3_OK);
		for (unsigned l = 0; l < GCN3_LANES; l++) {
			float a = flush(alu_float(t.v[1][l])), b = flush(alu_float(t.v[2][l]));
			float c = flush(alu_float(t.v[5][l]));
			float product = rounded((double)a * (double)b);
			float want = rounded((double)product + (double)c);

			if (isnan(want)) {
				assert_true(isnan(alu_float(t.v[3][l])));
				continue;
			}
			check_equal("v_mac_f32", l, t.v[3][l], alu_bits(want));
			check_equal("v_mad_f32", l, t.v[4][l], alu_bits(want));
			want = flush(fmaf(a, b, c));
			check_equal("v_fma_f32", l, t.v[6][l], alu_bits(want));
			differ += t.v[3][l] != t.v[6][l];
		}
	}
	assert_true(differ > 0);
}

static void literal_multiplies_and_adds(void **state)
{
	static struct alu t;
	struct gcn3_insn k = alu_valu(GCN3_V_MADMK_F32, V(0), V(1), LITERAL, V(2));

	(void)state;
	alu_init(&t);
	k.literal = 0x40400000; /* 3 */
	alu_fill(&t, 1, F_TWO);
	alu_fill(&t, 2, F_ONE);
	check_equal("madmk", 0, alu_run(&t, &k), GCN3_OK);
	check_equal("2 * 3 + 1", 0, t.v[0][63], 0x40e00000);
	k = alu_valu(GCN3_V_MADAK_F32, V(0), V(1), V(2), LITERAL);
	k.literal = 0x40400000;
	check_equal("madak", 0, alu_run(&t, &k), GCN3_OK);
	check_equal("2 * 1 + 3", 0, t.v[0][63], 0x40a00000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(denormals_are_flushed_by_default),
	        cmocka_unit_test(denormals_are_kept_when_mode_says_so),
	        cmocka_unit_test(input_and_output_flush_are_separate),
	        cmocka_unit_test(rounding_follows_mode),
	        cmocka_unit_test(minimum_and_maximum_handle_nan_and_zero),
	        cmocka_unit_test(special_values_come_out_as_the_manual_says),
	        cmocka_unit_test(conversions_saturate),
	        cmocka_unit_test(class_bits_name_the_operand),
	        cmocka_unit_test(float_compares_follow_their_numbering),
	        cmocka_unit_test(compares_flush_denormals_with_the_mode),
	        cmocka_unit_test(mac_rounds_the_product_and_then_the_sum),
	        cmocka_unit_test(literal_multiplies_and_adds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
