/* init.cl: the stream is Philox 4x32-10 with Box-Muller and depends on seed, stream and index only.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/kernels/helper_bench.h"

static void philox(uint32_t c[4], uint32_t key0, uint32_t key1)
{
	for (int round = 0; round < 10; round++, key0 += 0x9e3779b9u, key1 += 0xbb67ae85u) {
		const uint64_t a = (uint64_t)0xd2511f53u * c[0], b = (uint64_t)0xcd9e8d57u * c[2];
		const uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ key0, (uint32_t)b,
		        (uint32_t)(a >> 32) ^ c[3] ^ key1, (uint32_t)a};
		memcpy(c, next, sizeof(next));
	}
}

/* Known answers of the authors' Random123 distribution (kat_vectors, philox4x32 10). */
static void reference_generator_gives_the_known_answers(void **state)
{
	uint32_t zero[4] = {0}, ones[4] = {~0u, ~0u, ~0u, ~0u};
	const uint32_t want_zero[4] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
	const uint32_t want_ones[4] = {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu};

	(void)state;
	philox(zero, 0, 0);
	philox(ones, ~0u, ~0u);
	assert_memory_equal(zero, want_zero, sizeof(zero));
	assert_memory_equal(ones, want_ones, sizeof(ones));
}

static void reference_normals(
        double *out, unsigned n, uint32_t seed_lo, uint32_t seed_hi, uint32_t stream)
{
	for (unsigned i = 0; i < n; i += 4) {
		uint32_t c[4] = {i / 4, stream, 0, 0};
		philox(c, seed_lo, seed_hi);
		for (unsigned pair = 0; pair < 2; pair++) {
			const double u = ((c[pair * 2] >> 8) + 0.5) / 16777216.0,
			             turn = (c[pair * 2 + 1] >> 8) / 16777216.0;
			const double r = sqrt(-2 * log(u));
			out[i + pair * 2] = r * cos(2 * M_PI * turn);
			out[i + pair * 2 + 1] = r * sin(2 * M_PI * turn);
		}
	}
}

static void normals_equal_the_reference_and_not_the_grid(void **state)
{
	static const unsigned sizes[] = {4, 1020, 20004};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		const unsigned n = sizes[i];
		struct bench *b = bench_new("init");
		struct array *x = bench_output(b, "x", n), *again = bench_output(b, "again", n);
		double *want = doubles(n);

		reference_normals(want, n, 1234, 5, 7);
		for (unsigned j = 0; j < n; j++)
			want[j] *= 0.02;
		RUN(b, "init_normal", 3, 1, 1, A(x), U(n), F(0.02), U(1234), U(5), U(7), U(3));
		RUN(b, "init_normal", 8, 1, 1, A(again), U(n), F(0.02), U(1234), U(5), U(7), U(8));
		bench_read(b, x);
		bench_read(b, again);
		expect_close("x", x->f, want, n, 1e-5);
		expect_bits("other grid", again->u, x->u, n);
		free(want);
		bench_free(b);
	}
}

static void normals_have_the_right_moments_and_streams_differ(void **state)
{
	const unsigned n = 65536;
	struct bench *b = bench_new("init");
	struct array *x = bench_output(b, "x", n), *y = bench_output(b, "y", n);
	double mean = 0, square = 0, fourth = 0, cross = 0;

	(void)state;
	RUN(b, "init_normal", 16, 1, 1, A(x), U(n), F(1), U(1), U(0), U(0), U(16));
	RUN(b, "init_normal", 16, 1, 1, A(y), U(n), F(1), U(1), U(0), U(1), U(16));
	bench_read(b, x);
	bench_read(b, y);
	for (unsigned i = 0; i < n; i++) {
		const double v = (double)x->f[i];
		mean += v / n;
		square += v * v / n;
		fourth += v * v * v * v / n;
		cross += v * (double)y->f[i] / n;
	}
	/* five standard errors of each moment of 65536 normals */
	assert_true(fabs(mean) < 5 / 256.0);
	assert_true(fabs(square - 1) < 5 * sqrt(2) / 256.0);
	assert_true(fabs(fourth - 3) < 5 * sqrt(96) / 256.0);
	assert_true(fabs(cross) < 5 / 256.0);
	bench_free(b);
}

static void constants_fill_exactly_n(void **state)
{
	struct bench *b = bench_new("init");
	struct array *x = bench_output(b, "x", 5000);

	(void)state;
	RUN(b, "init_constant", 2, 1, 1, A(x), U(4996), F(0.75), U(2));
	bench_read(b, x);
	for (unsigned i = 0; i < 4996; i++)
		assert_true(x->f[i] == 0.75F);
	expect_bits("words behind n", x->u + 4996, x->uploaded + 4996, 4);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(reference_generator_gives_the_known_answers),
	        cmocka_unit_test(normals_equal_the_reference_and_not_the_grid),
	        cmocka_unit_test(normals_have_the_right_moments_and_streams_differ),
	        cmocka_unit_test(constants_fill_exactly_n),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
