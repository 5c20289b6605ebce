/* adamw.cl and reduce.cl against double precision; the chain sum of squares, norm, clip, update as
 * a plan runs it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/kernels/helper_bench.h"

static const unsigned sizes[] = {4, 1020, 1024, 5000, 20004};
#define NSIZES (sizeof(sizes) / sizeof(sizes[0]))

static void norm_and_clip_factor_equal_double_reference(void **state)
{
	(void)state;
	for (size_t i = 0; i < NSIZES; i++)
		for (unsigned groups = 1; groups <= 300; groups += 299) {
			const unsigned n = sizes[i];
			struct bench *b = bench_new("reduce");
			struct array *grad = bench_random(b, "grad", n, 1),
			             *part = bench_output(b, "part", groups);
			struct array *norm = bench_output(b, "norm", 2);
			double squares = 0, want[2];

			for (unsigned j = 0; j < n; j++)
				squares += (double)grad->f[j] * (double)grad->f[j];
			want[0] = sqrt(squares);
			RUN(b, "grad_sumsq", groups, 1, 1, A(grad), A(part), U(n), U(groups));
			RUN(b, "grad_norm", 1, 1, 1, A(part), A(norm), U(groups), F(0.5));
			bench_read(b, norm);
			want[1] = fmin(1, 0.5 / (want[0] + 1e-6));
			expect_close("norm", norm->f, want, 1, 2e-6);
			expect_close("factor", norm->f + 1, want + 1, 1, 2e-6);
			RUN(b, "grad_norm", 1, 1, 1, A(part), A(norm), U(groups), F(0));
			bench_read(b, norm);
			assert_true(norm->f[1] == 1.0F);
			bench_free(b);
		}
}

static void norm_of_a_bad_gradient_is_not_finite(void **state)
{
	const float bad[] = {INFINITY, NAN};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct bench *b = bench_new("reduce");
		struct array *grad = bench_random(b, "grad", 5000, 1),
		             *part = bench_output(b, "part", 3);
		struct array *norm = bench_output(b, "norm", 2);

		grad->f[4321] = bad[i];
		bench_upload(b, grad, true);
		RUN(b, "grad_sumsq", 3, 1, 1, A(grad), A(part), U(5000), U(3));
		RUN(b, "grad_norm", 1, 1, 1, A(part), A(norm), U(3), F(1));
		bench_read(b, norm);
		assert_true(!isfinite(norm->f[0]));
		bench_free(b);
	}
}

static void mean_loss_equals_double_reference(void **state)
{
	static const unsigned counts[] = {1, 64, 255, 257, 1152};

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		const unsigned n = counts[i];
		struct bench *b = bench_new("reduce");
		struct array *loss = bench_random(b, "loss", n, 1),
		             *out = bench_output(b, "out", 1);
		double want = 0, magnitude = 0;

		for (unsigned j = 0; j < n; j++) {
			want += (double)loss->f[j] / n;
			magnitude += fabs((double)loss->f[j]) / n;
		}
		RUN(b, "loss_mean", 1, 1, 1, A(loss), A(out), U(n));
		bench_read(b, out);
		assert_true(fabs((double)out->f[0] - want) <= 1e-6 * magnitude);
		bench_free(b);
	}
}

static void copy_copies_exactly(void **state)
{
	(void)state;
	for (size_t i = 0; i < NSIZES; i++) {
		struct bench *b = bench_new("reduce");
		struct array *src = bench_random(b, "src", sizes[i], 1),
		             *dst = bench_output(b, "dst", sizes[i]);

		RUN(b, "copy", 3, 1, 1, A(src), A(dst), U(sizes[i]), U(3));
		bench_read(b, dst);
		expect_bits("dst", dst->u, src->u, sizes[i]);
		bench_free(b);
	}
}

struct adam {
	struct array *step, *param, *grad, *m, *v, *norm;
};

static struct adam adam_new(struct bench *b, unsigned n)
{
	static const float scalars[3] = {1e-3F, 1 / (1 - 0.9F), 1 / (1 - 0.95F)};
	const float norm[2] = {4, 0.25F};
	struct adam a = {.step = bench_step(b, scalars, 3, NULL, 0, NULL),
	        .norm = bench_words(b, "norm", norm, 2)};

	a.param = bench_random(b, "param", n, 1);
	a.grad = bench_random(b, "grad", n, 1e-2);
	a.m = bench_random(b, "m", n, 1e-3);
	a.v = bench_random(b, "v", n, 1e-5);
	for (unsigned i = 0; i < n; i++)
		a.v->f[i] = fabsf(a.v->f[i]);
	bench_upload(b, a.param, false);
	bench_upload(b, a.m, false);
	bench_upload(b, a.v, false);
	return a;
}

#define ADAMW(b, a, n, ndecay, groups, stride)                                                     \
	RUN(b, "adamw", groups, 1, 1, A((a).step), A((a).param), A((a).grad), A((a).m), A((a).v),  \
	        A((a).norm), U(n), U(ndecay), U(stride), F(0.9), F(0.95), F(1e-8), F(0.1))

static void check_adamw(unsigned n, unsigned groups)
{
	const unsigned ndecay = n / 8 * 4;
	struct bench *b = bench_new("adamw");
	struct adam a = adam_new(b, n);
	double *m = doubles(n), *v = doubles(n), *change = doubles(n);
	float *got = malloc(n * sizeof(*got)), *before = malloc(n * sizeof(*before));

	assert_non_null(got);
	assert_non_null(before);
	memcpy(before, a.param->f, n * sizeof(*before));
	for (unsigned i = 0; i < n; i++) {
		const double g = (double)a.grad->f[i] * 0.25;
		m[i] = 0.9 * (double)a.m->f[i] + 0.1 * g;
		v[i] = 0.95 * (double)a.v->f[i] + 0.05 * g * g;
		change[i] = -1e-3 * (m[i] / 0.1 / (sqrt(v[i] / 0.05) + 1e-8) +
		                            (i < ndecay ? 0.1 * (double)before[i] : 0));
	}
	ADAMW(b, a, n, ndecay, groups, groups);
	bench_read(b, a.param);
	bench_read(b, a.m);
	bench_read(b, a.v);
	expect_close("m", a.m->f, m, n, 1e-6);
	expect_close("v", a.v->f, v, n, 1e-6);
	for (unsigned i = 0; i < n;
	        i++) /* the change itself is only known to an ulp of the parameter */
		assert_true(fabs((double)a.param->f[i] - (double)before[i] - change[i]) <=
		            6e-8 + 2e-6 * fabs(change[i]));
	free(got);
	free(before);
	free(m);
	free(v);
	free(change);
	bench_free(b);
}

static void adamw_equals_double_reference(void **state)
{
	(void)state;
	for (size_t i = 0; i < NSIZES; i++)
		for (unsigned groups = 1; groups <= 9; groups += 4)
			check_adamw(sizes[i], groups);
}

static void adamw_result_does_not_depend_on_the_grid(void **state)
{
	uint32_t *first = malloc(5000 * sizeof(*first));

	(void)state;
	assert_non_null(first);
	struct bench *b = bench_new("adamw");
	struct adam a = adam_new(b, 5000);
	float *start = malloc(5000 * sizeof(*start)), *m = malloc(5000 * sizeof(*m)),
	      *v = malloc(5000 * sizeof(*v));
	assert_true(start && m && v);
	memcpy(start, a.param->f, 20000);
	memcpy(m, a.m->f, 20000);
	memcpy(v, a.v->f, 20000);
	ADAMW(b, a, 5000, 2000, 1, 1);
	bench_read(b, a.param);
	memcpy(first, a.param->u, 20000);
	memcpy(a.param->f, start, 20000);
	memcpy(a.m->f, m, 20000);
	memcpy(a.v->f, v, 20000);
	bench_upload(b, a.param, false);
	bench_upload(b, a.m, false);
	bench_upload(b, a.v, false);
	ADAMW(b, a, 5000, 2000, 7, 7);
	bench_read(b, a.param);
	expect_bits("param", a.param->u, first, 5000);
	free(start);
	free(m);
	free(v);
	free(first);
	bench_free(b);
}

static void adamw_with_no_groups_changes_nothing(void **state)
{
	struct bench *b = bench_new("adamw");
	struct adam a = adam_new(b, 5000);

	(void)state;
	ADAMW(b, a, 5000, 2000, 0, 7);
	bench_read(b, a.param);
	bench_read(b, a.m);
	bench_read(b, a.v);
	expect_bits("param", a.param->u, a.param->uploaded, 5000);
	expect_bits("m", a.m->u, a.m->uploaded, 5000);
	expect_bits("v", a.v->u, a.v->uploaded, 5000);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(norm_and_clip_factor_equal_double_reference),
	        cmocka_unit_test(norm_of_a_bad_gradient_is_not_finite),
	        cmocka_unit_test(mean_loss_equals_double_reference),
	        cmocka_unit_test(copy_copies_exactly),
	        cmocka_unit_test(adamw_equals_double_reference),
	        cmocka_unit_test(adamw_result_does_not_depend_on_the_grid),
	        cmocka_unit_test(adamw_with_no_groups_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
