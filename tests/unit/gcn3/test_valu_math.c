/* Accuracy of the approximated functions against the host's libm in double, over a sweep of all
 * floats. */
#include <math.h>

#include "tests/unit/gcn3/helper_alu.h"

#define STEP 9973u /* prime: every exponent and many fractions */

struct function {
	enum gcn3_op op;
	double (*reference)(double);
	double ulps; /* allowed error */
	float low, high;
};

static double reciprocal(double x)
{
	return 1.0 / x;
}

static double inverse_root(double x)
{
	return 1.0 / sqrt(x);
}

/* Turns folded into [-1/4, 1/4] before 2 pi makes them inexact. */
static double sine(double x)
{
	double r = x - rint(x);

	if (fabs(r) > 0.25)
		r = copysign(0.5, r) - r;
	return sin(6.283185307179586476925 * r);
}

static double cosine(double x)
{
	return sine(0.25 - fabs(x - rint(x)));
}

/* Distance in units of the last place of the reference, at least of the smallest normal number. */
static double error_in_ulps(float got, double want)
{
	int exponent;

	frexp(want, &exponent);
	if (exponent < -125)
		exponent = -125;
	return fabs((double)got - want) / ldexp(1.0, exponent - 24);
}

static void sweep(const struct function *f)
{
	static struct alu t;
	struct gcn3_insn i = alu_valu(f->op, V(0), V(1), NONE, NONE);
	uint64_t bits = 0;
	double worst = 0;

	alu_init(&t);
	while (bits < 1ull << 32) {
		for (unsigned l = 0; l < GCN3_LANES; l++, bits += STEP)
			t.v[1][l] = (uint32_t)bits;
		check_equal("run", 0, alu_run(&t, &i), GCN3_OK);
		for (unsigned l = 0; l < GCN3_LANES; l++) {
			float x = alu_float(t.v[1][l]);
			double want, error;

			if (!(x >= f->low && x <= f->high) || fpclassify(x) == FP_SUBNORMAL)
				continue;
			want = f->reference((double)x);
			if (fabs(want) < 0x1p-126 || fabs(want) > (double)0x1.fffffep127f)
				continue; /* flushed, infinite: known answers elsewhere */
			error = error_in_ulps(alu_float(t.v[0][l]), want);
			if (error > f->ulps)
				fail_msg("%s(%a): expected %a, got %a, %g ulp", gcn3_op_name(f->op),
				        (double)x, want, (double)alu_float(t.v[0][l]), error);
			worst = fmax(worst, error);
		}
	}
	print_message("%s: worst error %.3f ulp\n", gcn3_op_name(f->op), worst);
}

static void approximations_are_within_one_ulp(void **state)
{
	static const struct function f[] = {
	        {GCN3_V_EXP_F32, exp2, 1.0, -126.0f, 128.0f},
	        {GCN3_V_LOG_F32, log2, 1.0, 0x1p-126f, 0x1.fffffep127f},
	        {GCN3_V_RCP_F32, reciprocal, 1.0, -0x1.fffffep127f, 0x1.fffffep127f},
	        {GCN3_V_RSQ_F32, inverse_root, 1.0, 0x1p-126f, 0x1.fffffep127f},
	        {GCN3_V_SQRT_F32, sqrt, 0.5, 0x1p-126f, 0x1.fffffep127f},
	};

	(void)state;
	for (size_t n = 0; n < sizeof(f) / sizeof(f[0]); n++)
		sweep(&f[n]);
}

static void sine_and_cosine_are_close_over_their_domain(void **state)
{
	static const struct function f[] = {
	        {GCN3_V_SIN_F32, sine, 1.0, -256.0f, 256.0f},
	        {GCN3_V_COS_F32, cosine, 1.0, -256.0f, 256.0f},
	};

	(void)state;
	for (size_t n = 0; n < sizeof(f) / sizeof(f[0]); n++)
		sweep(&f[n]);
}

static void nan_stays_nan(void **state)
{
	static const enum gcn3_op op[] = {GCN3_V_EXP_F32, GCN3_V_LOG_F32, GCN3_V_RCP_F32,
	        GCN3_V_RSQ_F32, GCN3_V_SQRT_F32, GCN3_V_SIN_F32, GCN3_V_COS_F32};
	static struct alu t;

	(void)state;
	for (size_t n = 0; n < sizeof(op) / sizeof(op[0]); n++) {
		alu_init(&t);
		check_equal(gcn3_op_name(op[n]), 0,
		        !!isnan(alu_float(alu_op(&t, op[n], 0xffc00001, 0, 0))), 1);
		if (op[n] == GCN3_V_LOG_F32 || op[n] == GCN3_V_RSQ_F32 || op[n] == GCN3_V_SQRT_F32)
			check_equal(gcn3_op_name(op[n]), 1,
			        !!isnan(alu_float(alu_op(&t, op[n], 0xbf800000, 0, 0))), 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(approximations_are_within_one_ulp),
	        cmocka_unit_test(sine_and_cosine_are_close_over_their_domain),
	        cmocka_unit_test(nan_stays_nan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
