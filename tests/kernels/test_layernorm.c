/* layernorm.cl against double precision; widths that fill a wave, and ones that do not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/kernels/helper_bench.h"

#define TOLERANCE 1e-5
#define EPS       1e-5

struct shape {
	unsigned rows, c;
};

static const struct shape shapes[] = {{1, 16}, {3, 64}, {65, 80}, {37, 320}, {130, 48}};
#define NSHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* mean and 1/sqrt(variance + eps) of a row */
static void row_statistics(const float *x, unsigned c, double *mean, double *rstd)
{
	double sum = 0, squares = 0;

	for (unsigned i = 0; i < c; i++)
		sum += (double)x[i];
	*mean = sum / c;
	for (unsigned i = 0; i < c; i++)
		squares += ((double)x[i] - *mean) * ((double)x[i] - *mean);
	*rstd = 1 / sqrt(squares / c + EPS);
}

static double *statistics(const struct array *x, unsigned rows, unsigned c)
{
	double *stat = doubles((size_t)rows * 2);

	for (unsigned r = 0; r < rows; r++)
		row_statistics(x->f + (size_t)r * c, c, &stat[r * 2], &stat[r * 2 + 1]);
	return stat;
}

static void forward_equals_double_reference(void **state)
{
	(void)state;
	for (size_t i = 0; i < NSHAPES; i++) {
		const unsigned rows = shapes[i].rows, c = shapes[i].c;
		const size_t n = (size_t)rows * c;
		struct bench *b = bench_new("layernorm");
		struct array *x = bench_random(b, "x", n, 3),
		             *gamma = bench_random(b, "gamma", c, 1);
		struct array *beta = bench_random(b, "beta", c, 1), *y = bench_output(b, "y", n);
		struct array *stat = bench_output(b, "stat", rows * 2),
		             *again = bench_output(b, "again", n);
		double *want_stat = statistics(x, rows, c), *want = doubles(n);

		RUN(b, "layernorm_forward", (rows + 3) / 4, 1, 1, A(x), A(gamma), A(beta), A(y),
		        A(stat), U(rows), U(c));
		RUN(b, "layernorm_forward", (rows + 3) / 4, 1, 1, A(x), A(gamma), A(beta), A(again),
		        A(stat), U(rows), U(c));
		for (size_t j = 0; j < n; j++)
			want[j] = ((double)x->f[j] - want_stat[j / c * 2]) *
			                  want_stat[j / c * 2 + 1] * (double)gamma->f[j % c] +
			          (double)beta->f[j % c];
		bench_read(b, y);
		bench_read(b, stat);
		bench_read(b, again);
		expect_close("y", y->f, want, n, TOLERANCE);
		expect_close("stat", stat->f, want_stat, rows * 2, TOLERANCE);
		expect_bits("second run", again->u, y->u, n);
		free(want);
		free(want_stat);
		bench_free(b);
	}
}

/* d(LN)/dx of one row, written to @dx */
static void reference_dx(const float *x, const float *dy, const float *gamma, unsigned c,
        const double *stat, double *dx)
{
	double mean_g = 0, mean_gx = 0;

	for (unsigned j = 0; j < c; j++) {
		const double g = (double)dy[j] * (double)gamma[j];
		mean_g += g / c;
		mean_gx += g * ((double)x[j] - stat[0]) * stat[1] / c;
	}
	for (unsigned j = 0; j < c; j++)
		dx[j] = stat[1] * ((double)dy[j] * (double)gamma[j] - mean_g -
		                          ((double)x[j] - stat[0]) * stat[1] * mean_gx);
}

static struct array *float_statistics(struct bench *b, const double *stat, unsigned rows)
{
	float *words = malloc(rows * 2 * sizeof(*words));
	struct array *a;

	assert_non_null(words);
	for (unsigned i = 0; i < rows * 2; i++)
		words[i] = (float)stat[i];
	a = bench_words(b, "stat", words, rows * 2);
	free(words);
	return a;
}

static void backward_equals_double_reference(void **state)
{
	(void)state;
	for (size_t i = 0; i < NSHAPES; i++) {
		const unsigned rows = shapes[i].rows, c = shapes[i].c, groups = (rows + 3) / 4;
		const size_t n = (size_t)rows * c;
		struct bench *b = bench_new("layernorm");
		struct array *x = bench_random(b, "x", n, 3),
		             *gamma = bench_random(b, "gamma", c, 1);
		struct array *dy = bench_random(b, "dy", n, 1), *dx = bench_random(b, "dx", n, 1);
		struct array *first = bench_output(b, "first", n);
		double *stat = statistics(x, rows, c), *want = doubles(n);
		struct array *fstat = float_statistics(b, stat, rows);

		for (unsigned r = 0; r < rows; r++)
			reference_dx(x->f + r * c, dy->f + r * c, gamma->f, c, stat + r * 2,
			        want + r * c);
		RUN(b, "layernorm_backward_first", groups, 1, 1, A(x), A(fstat), A(gamma), A(dy),
		        A(first), U(rows), U(c));
		bench_read(b, first);
		expect_close("dx without residual", first->f, want, n, TOLERANCE);
		for (size_t j = 0; j < n; j++)
			want[j] += (double)dx->f[j];
		bench_upload(b, dx, false);
		RUN(b, "layernorm_backward", groups, 1, 1, A(x), A(fstat), A(gamma), A(dy), A(dx),
		        A(dx), U(rows), U(c));
		bench_read(b, dx);
		expect_close("dx added in place", dx->f, want, n, TOLERANCE);
		free(want);
		free(stat);
		bench_free(b);
	}
}

static void gradients_of_gamma_and_beta_equal_double_reference(void **state)
{
	(void)state;
	for (size_t i = 0; i < NSHAPES; i++) {
		const unsigned rows = shapes[i].rows, c = shapes[i].c, groups = (c + 63) / 64;
		const size_t n = (size_t)rows * c;
		struct bench *b = bench_new("layernorm");
		struct array *x = bench_random(b, "x", n, 3), *dy = bench_random(b, "dy", n, 1);
		struct array *dgamma = bench_output(b, "dgamma", c),
		             *dbeta = bench_output(b, "dbeta", c);
		struct array *again = bench_output(b, "dgamma again", c);
		double *stat = statistics(x, rows, c), *want_gamma = doubles(c),
		       *want_beta = doubles(c);
		struct array *fstat = float_statistics(b, stat, rows);

		for (size_t j = 0; j < n; j++) {
			want_gamma[j % c] += (double)dy->f[j] *
			                     ((double)x->f[j] - stat[j / c * 2]) *
			                     stat[j / c * 2 + 1];
			want_beta[j % c] += (double)dy->f[j];
		}
		RUN(b, "layernorm_param_grad", groups, 1, 1, A(x), A(fstat), A(dy), A(dgamma),
		        A(dbeta), U(rows), U(c));
		RUN(b, "layernorm_param_grad", groups, 1, 1, A(x), A(fstat), A(dy), A(again),
		        A(dbeta), U(rows), U(c));
		bench_read(b, dgamma);
		bench_read(b, dbeta);
		bench_read(b, again);
		expect_close("dgamma", dgamma->f, want_gamma, c, TOLERANCE);
		expect_close("dbeta", dbeta->f, want_beta, c, TOLERANCE);
		expect_bits("second run", again->u, dgamma->u, c);
		free(want_gamma);
		free(want_beta);
		free(stat);
		bench_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(forward_equals_double_reference),
	        cmocka_unit_test(backward_equals_double_reference),
	        cmocka_unit_test(gradients_of_gamma_and_beta_equal_double_reference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
