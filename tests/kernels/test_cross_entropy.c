/* cross_entropy.cl against double precision: loss of each row, and logits turned into their
 * gradient. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/kernels/helper_bench.h"

struct shape {
	unsigned b, t, v;
};

static const struct shape shapes[] = {
        {1, 64, 1}, {1, 64, 7}, {2, 64, 256}, {1, 64, 1001}, {1, 64, 3000}};
#define NSHAPES (sizeof(shapes) / sizeof(shapes[0]))

static uint16_t *random_ids(struct shape s)
{
	uint16_t *ids = malloc((size_t)s.b * (s.t + 1) * sizeof(*ids));

	assert_non_null(ids);
	for (unsigned i = 0; i < s.b * (s.t + 1); i++)
		ids[i] = (uint16_t)(random_unit() * s.v);
	return ids;
}

/* Loss of one row; @gradient receives (softmax - onehot) * scale. */
static double reference_row(
        const float *logits, unsigned v, unsigned target, double scale, double *gradient)
{
	double top = -INFINITY, sum = 0;

	for (unsigned i = 0; i < v; i++)
		top = fmax(top, (double)logits[i]);
	for (unsigned i = 0; i < v; i++)
		sum += exp((double)logits[i] - top);
	for (unsigned i = 0; i < v; i++)
		gradient[i] = (exp((double)logits[i] - top) / sum - (i == target ? 1 : 0)) * scale;
	return top + log(sum) - (double)logits[target];
}

static void loss_and_gradient_equal_double_reference(void **state)
{
	(void)state;
	for (size_t i = 0; i < NSHAPES; i++) {
		const struct shape s = shapes[i];
		const unsigned rows = s.b * s.t;
		const size_t n = (size_t)rows * s.v;
		const double scale = 1.0 / rows;
		uint16_t *ids = random_ids(s);
		struct bench *b = bench_new("cross_entropy");
		struct array *step = bench_step(b, NULL, 0, ids, (size_t)s.b * (s.t + 1), NULL);
		struct array *logits = bench_random(b, "logits", n, 8),
		             *loss = bench_output(b, "loss", rows);
		struct array *loss_only = bench_output(b, "loss only", rows);
		double *want_loss = doubles(rows), *want = doubles(n);

		for (unsigned r = 0; r < rows; r++)
			want_loss[r] = reference_row(logits->f + (size_t)r * s.v, s.v,
			        ids[r / s.t * (s.t + 1) + r % s.t + 1], scale,
			        want + (size_t)r * s.v);
		RUN(b, "cross_entropy_loss", rows, 1, 1, A(step), A(logits), A(loss_only), U(rows),
		        U(s.t), U(s.v));
		bench_upload(b, logits, false);
		RUN(b, "cross_entropy_train", rows, 1, 1, A(step), A(logits), A(loss), U(rows),
		        U(s.t), U(s.v), F(scale));
		bench_read(b, loss);
		bench_read(b, loss_only);
		bench_read(b, logits);
		for (unsigned r = 0; r < rows; r++) /* kernels.md 7: 2e-6 at a loss of 12 */
			assert_true(fabs((double)loss->f[r] - want_loss[r]) < 5e-6);
		expect_bits("loss without gradient", loss_only->u, loss->u, rows);
		expect_close("dlogits", logits->f, want, n, s.v == 1 ? 1 : 2e-5);
		for (size_t j = 0; j < n; j++)
			assert_true(fabs((double)logits->f[j] - want[j]) < 2e-6 * scale);
		free(want);
		free(want_loss);
		free(ids);
		bench_free(b);
	}
}

static void large_logits_do_not_overflow(void **state)
{
	const uint16_t ids[65] = {0};
	struct bench *b = bench_new("cross_entropy");
	struct array *step = bench_step(b, NULL, 0, ids, 65, NULL),
	             *logits = bench_random(b, "logits", 64 * 300, 1e4);
	struct array *loss = bench_output(b, "loss", 64);

	(void)state;
	RUN(b, "cross_entropy_loss", 64, 1, 1, A(step), A(logits), A(loss), U(64), U(64), U(300));
	bench_read(b, loss);
	for (unsigned r = 0; r < 64; r++)
		assert_true(isfinite(loss->f[r]) && loss->f[r] >= -0.01F);
	bench_free(b);
}

static void target_outside_the_vocabulary_gives_a_nan_loss(void **state)
{
	uint16_t ids[65] = {0};
	struct bench *b = bench_new("cross_entropy");
	struct array *step, *logits = bench_random(b, "logits", 64 * 300, 1),
	                    *loss = bench_output(b, "loss", 64);

	(void)state;
	ids[4] = 300;
	step = bench_step(b, NULL, 0, ids, 65, NULL);
	bench_upload(b, logits, false);
	RUN(b, "cross_entropy_train", 64, 1, 1, A(step), A(logits), A(loss), U(64), U(64), U(300),
	        F(1));
	bench_read(b, loss);
	for (unsigned r = 0; r < 64; r++)
		assert_int_equal(isnan(loss->f[r]) != 0, r == 3);
	bench_free(b);
}

static void a_logit_that_is_not_a_number_gives_a_nan_loss(void **state)
{
	const uint16_t ids[65] = {0};
	struct bench *b = bench_new("cross_entropy");
	struct array *step = bench_step(b, NULL, 0, ids, 65, NULL);
	struct array *logits = bench_random(b, "logits", 64 * 300, 1);
	struct array *loss = bench_output(b, "loss", 64);

	(void)state;
	logits->f[7 * 300 + 123] = NAN;
	bench_upload(b, logits, true);
	RUN(b, "cross_entropy_loss", 64, 1, 1, A(step), A(logits), A(loss), U(64), U(64), U(300));
	bench_read(b, loss);
	for (unsigned r = 0; r < 64; r++)
		assert_int_equal(isnan(loss->f[r]) != 0, r == 7);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(loss_and_gradient_equal_double_reference),
	        cmocka_unit_test(large_logits_do_not_overflow),
	        cmocka_unit_test(a_logit_that_is_not_a_number_gives_a_nan_loss),
	        cmocka_unit_test(target_outside_the_vocabulary_gives_a_nan_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
