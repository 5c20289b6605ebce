/* Every kernel of matmul.cl against a double-precision product, on shapes with and without edges.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/kernels/helper_bench.h"

#define TOLERANCE 2e-5 /* of the rms of the result; kernels.md 7 measured 4e-6 at K <= 1280 */

struct shape {
	unsigned m, n, k, pad; /* pad: lda, ldb, ldc are larger than the rows by this */
};

static const struct shape shapes[] = {
        {1, 1, 1, 0},
        {3, 5, 2, 1},
        {64, 64, 16, 0},
        {128, 80, 32, 0},
        {80, 80, 48, 4},
        {65, 81, 17, 3},
        {130, 83, 50, 2},
        {127, 161, 15, 0},
        {256, 160, 64, 0},
        {20, 333, 100, 5},
        {33, 40, 12096, 0},
};

enum form { NN, NT, TN };

struct variant {
	const char *kernel;
	enum form form;
	unsigned rows, columns; /* tile */
};

struct problem {
	struct shape s;
	unsigned lda, ldb, ldc;
	struct array *a, *b, *c;
	double *product; /* m x n, dense */
};

static double a_at(const struct problem *p, enum form form, unsigned m, unsigned k)
{
	return form == TN ? p->a->f[k * p->lda + m] : p->a->f[m * p->lda + k];
}

static double b_at(const struct problem *p, enum form form, unsigned k, unsigned n)
{
	return form == NT ? p->b->f[n * p->ldb + k] : p->b->f[k * p->ldb + n];
}

static struct problem problem_new(struct bench *b, const struct variant *v, struct shape s)
{
	struct problem p = {.s = s};
	const unsigned a_rows = v->form == TN ? s.k : s.m, b_rows = v->form == NT ? s.n : s.k;

	p.lda = (v->form == TN ? s.m : s.k) + s.pad;
	p.ldb = (v->form == NT ? s.k : s.n) + s.pad;
	p.ldc = s.n + s.pad;
	p.a = bench_random(b, "a", (size_t)a_rows * p.lda, 1);
	p.b = bench_random(b, "b", (size_t)b_rows * p.ldb, 1);
	p.c = bench_output(b, "c", (size_t)s.m * p.ldc);
	p.product = doubles((size_t)s.m * s.n);
	for (unsigned m = 0; m < s.m; m++)
		for (unsigned n = 0; n < s.n; n++)
			for (unsigned k = 0; k < s.k; k++)
				p.product[m * s.n + n] +=
				        a_at(&p, v->form, m, k) * b_at(&p, v->form, k, n);
	return p;
}

/* c = A B by the kernel of @v; @extra: up to two more arguments, ended by one of kind ARG_UINT */
static void multiply(struct bench *b, const struct variant *v, const struct problem *p,
        const struct array *c, const struct arg *extra)
{
	struct arg args[11] = {A(p->a), A(p->b), A(c), U(p->s.m), U(p->s.n), U(p->s.k), U(p->lda),
	        U(p->ldb), U(p->ldc)};
	size_t n = 9;

	while (extra->kind == ARG_ARRAY)
		args[n++] = *extra++;
	bench_run(b, v->kernel, (p->s.n + v->columns - 1) / v->columns,
	        (p->s.m + v->rows - 1) / v->rows, 1, args, n);
}

#define MULTIPLY(v, p, c, ...) multiply(b, v, &(p), c, (const struct arg[]){__VA_ARGS__})

/* Columns 0..n-1 of every row equal @want; the padding behind each row is as it was uploaded. */
static void expect_matrix(struct bench *b, const struct problem *p, struct array *c,
        const double *want, const char *what)
{
	float *dense = malloc((size_t)p->s.m * p->s.n * sizeof(*dense));
	char name[160];

	assert_non_null(dense);
	bench_read(b, c);
	for (unsigned m = 0; m < p->s.m; m++) {
		memcpy(dense + (size_t)m * p->s.n, c->f + (size_t)m * p->ldc,
		        p->s.n * sizeof(float));
		expect_bits("padding of c", c->u + (size_t)m * p->ldc + p->s.n,
		        c->uploaded + (size_t)m * p->ldc + p->s.n, p->s.pad);
	}
	snprintf(name, sizeof(name), "%s %ux%ux%u pad %u", what, p->s.m, p->s.n, p->s.k, p->s.pad);
	expect_close(name, dense, want, (size_t)p->s.m * p->s.n, TOLERANCE);
	free(dense);
}

static void plain(const struct variant *v, struct shape s)
{
	struct bench *b = bench_new("matmul");
	struct problem p = problem_new(b, v, s);
	struct array *again = bench_output(b, "again", p.c->n);

	MULTIPLY(v, p, p.c, U(0));
	expect_matrix(b, &p, p.c, p.product, v->kernel);
	MULTIPLY(v, p, again, U(0));
	bench_read(b, again);
	for (unsigned m = 0; m < s.m; m++)
		expect_bits("second run", again->u + (size_t)m * p.ldc, p.c->u + (size_t)m * p.ldc,
		        s.n);
	free(p.product);
	bench_free(b);
}

static void add_bias(const struct problem *p, const struct array *bias)
{
	for (unsigned m = 0; m < p->s.m; m++)
		for (unsigned n = 0; n < p->s.n; n++)
			p->product[m * p->s.n + n] += (double)bias->f[n];
}

static void with_bias(const struct variant *v, struct shape s)
{
	struct bench *b = bench_new("matmul");
	struct problem p = problem_new(b, v, s);
	struct array *bias = bench_random(b, "bias", s.n, 2);

	MULTIPLY(v, p, p.c, A(bias), U(0));
	add_bias(&p, bias);
	expect_matrix(b, &p, p.c, p.product, v->kernel);
	free(p.product);
	bench_free(b);
}

/* The residual is c itself in the second run: in place. */
static void with_residual(const struct variant *v, struct shape s)
{
	struct bench *b = bench_new("matmul");
	struct problem p = problem_new(b, v, s);
	struct array *bias = bench_random(b, "bias", s.n, 2);
	struct array *residual = bench_random(b, "residual", p.c->n, 3);
	struct array *in_place = bench_output(b, "in place", p.c->n);

	MULTIPLY(v, p, p.c, A(bias), A(residual), U(0));
	add_bias(&p, bias);
	for (unsigned m = 0; m < s.m; m++)
		for (unsigned n = 0; n < s.n; n++)
			p.product[m * s.n + n] += (double)residual->f[m * p.ldc + n];
	expect_matrix(b, &p, p.c, p.product, v->kernel);
	memcpy(in_place->f, residual->f, residual->n * sizeof(float));
	bench_upload(b, in_place, false);
	MULTIPLY(v, p, in_place, A(bias), A(in_place), U(0));
	expect_matrix(b, &p, in_place, p.product, "in place");
	free(p.product);
	bench_free(b);
}

static double gelu(double u)
{
	return 0.5 * u * (1 + tanh(sqrt(2 / M_PI) * (u + 0.044715 * u * u * u)));
}

static double gelu_slope(double u)
{
	const double h = 1e-5;

	return (gelu(u + h) - gelu(u - h)) / (2 * h);
}

static void with_gelu(const struct variant *v, struct shape s)
{
	struct bench *b = bench_new("matmul");
	struct problem p = problem_new(b, v, s);
	struct array *bias = bench_random(b, "bias", s.n, 2), *u = bench_output(b, "u", p.c->n);

	MULTIPLY(v, p, p.c, A(bias), A(u), U(0));
	add_bias(&p, bias);
	expect_matrix(b, &p, u, p.product, "u");
	for (size_t i = 0; i < (size_t)s.m * s.n; i++)
		p.product[i] = gelu(p.product[i]);
	expect_matrix(b, &p, p.c, p.product, v->kernel);
	free(p.product);
	bench_free(b);
}

static void with_gelu_slope(const struct variant *v, struct shape s)
{
	struct bench *b = bench_new("matmul");
	struct problem p = problem_new(b, v, s);
	struct array *u = bench_random(b, "u", p.c->n, 5);

	MULTIPLY(v, p, p.c, A(u), U(0));
	for (unsigned m = 0; m < s.m; m++)
		for (unsigned n = 0; n < s.n; n++)
			p.product[m * s.n + n] *= gelu_slope((double)u->f[m * p.ldc + n]);
	expect_matrix(b, &p, p.c, p.product, v->kernel);
	free(p.product);
	bench_free(b);
}

static void with_column_sums(const struct variant *v, struct shape s)
{
	struct bench *b = bench_new("matmul");
	struct problem p = problem_new(b, v, s);
	struct array *dbias = bench_output(b, "dbias", s.n);
	double *sums = doubles(s.n);

	MULTIPLY(v, p, p.c, A(dbias), U(0));
	expect_matrix(b, &p, p.c, p.product, v->kernel);
	for (unsigned k = 0; k < s.k; k++)
		for (unsigned n = 0; n < s.n; n++)
			sums[n] += b_at(&p, TN, k, n);
	bench_read(b, dbias);
	expect_close("dbias", dbias->f, sums, s.n, TOLERANCE);
	free(sums);
	free(p.product);
	bench_free(b);
}

static void each_shape(void (*check)(const struct variant *, struct shape),
        const struct variant *variants, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < sizeof(shapes) / sizeof(shapes[0]); j++)
			check(&variants[i], shapes[j]);
}

#define EACH_SHAPE(check, ...)                                                                     \
	each_shape(check, (const struct variant[]){__VA_ARGS__},                                   \
	        sizeof((const struct variant[]){__VA_ARGS__}) / sizeof(struct variant))

static void plain_products_equal_double_reference(void **state)
{
	(void)state;
	EACH_SHAPE(plain, {"matmul_nn_128x80", NN, 128, 80}, {"matmul_nn_64x64", NN, 64, 64},
	        {"matmul_nt_128x80", NT, 128, 80}, {"matmul_nt_64x64", NT, 64, 64},
	        {"matmul_tn_80x80", TN, 80, 80}, {"matmul_tn_64x64", TN, 64, 64});
}

/* k ascends in one accumulator whatever the tile, so a plan may choose either. */
static void both_tiles_give_the_same_bits(void **state)
{
	static const struct variant pairs[][2] = {
	        {{"matmul_nn_128x80", NN, 128, 80}, {"matmul_nn_64x64", NN, 64, 64}},
	        {{"matmul_nt_128x80", NT, 128, 80}, {"matmul_nt_64x64", NT, 64, 64}},
	        {{"matmul_tn_80x80", TN, 80, 80}, {"matmul_tn_64x64", TN, 64, 64}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct bench *b = bench_new("matmul");
		struct problem p = problem_new(b, &pairs[i][0], (struct shape){130, 170, 77, 0});
		struct array *other = bench_output(b, "other tile", p.c->n);

		MULTIPLY(&pairs[i][0], p, p.c, U(0));
		MULTIPLY(&pairs[i][1], p, other, U(0));
		bench_read(b, p.c);
		bench_read(b, other);
		expect_bits(pairs[i][1].kernel, other->u, p.c->u, p.c->n);
		free(p.product);
		bench_free(b);
	}
}

static void bias_is_added_to_every_row(void **state)
{
	(void)state;
	EACH_SHAPE(with_bias, {"matmul_nn_bias_128x80", NN, 128, 80},
	        {"matmul_nn_bias_64x64", NN, 64, 64});
}

static void residual_is_added_also_in_place(void **state)
{
	(void)state;
	EACH_SHAPE(with_residual, {"matmul_nn_bias_residual_128x80", NN, 128, 80},
	        {"matmul_nn_bias_residual_64x64", NN, 64, 64});
}

static void gelu_epilogue_stores_both_sides(void **state)
{
	(void)state;
	EACH_SHAPE(with_gelu, {"matmul_nn_bias_gelu_128x80", NN, 128, 80},
	        {"matmul_nn_bias_gelu_64x64", NN, 64, 64});
}

static void gelu_backward_multiplies_by_the_slope(void **state)
{
	(void)state;
	EACH_SHAPE(with_gelu_slope, {"matmul_nt_dgelu_128x80", NT, 128, 80},
	        {"matmul_nt_dgelu_64x64", NT, 64, 64});
}

static void weight_gradient_also_gives_the_bias_gradient(void **state)
{
	(void)state;
	EACH_SHAPE(with_column_sums, {"matmul_tn_bias_80x80", TN, 80, 80},
	        {"matmul_tn_bias_64x64", TN, 64, 64});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(plain_products_equal_double_reference),
	        cmocka_unit_test(both_tiles_give_the_same_bits),
	        cmocka_unit_test(bias_is_added_to_every_row),
	        cmocka_unit_test(residual_is_added_also_in_place),
	        cmocka_unit_test(gelu_epilogue_stores_both_sides),
	        cmocka_unit_test(gelu_backward_multiplies_by_the_slope),
	        cmocka_unit_test(weight_gradient_also_gives_the_bias_gradient),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
