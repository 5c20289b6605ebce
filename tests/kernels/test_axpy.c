/* axpy.cl and residual.cl: exact, and nothing behind n is touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/kernels/helper_bench.h"

/* The proof of reference-run.md: 257 outputs, 63 guard values. The product is rounded before the
 * sum (v_mac_f32). */
static void axpy_changes_257_values_and_no_guard(void **state)
{
	struct bench *b = bench_new("axpy");
	struct array *x = bench_random(b, "x", 320, 1), *y = bench_random(b, "y", 320, 1);

	(void)state;
	bench_upload(b, y, false);
	RUN(b, "axpy", 2, 1, 1, A(x), A(y), F(2.5), U(257));
	bench_read(b, y);
	for (unsigned i = 0; i < 257; i++) {
		volatile float product = 2.5F * x->f[i];
		float want = product + ((const float *)y->uploaded)[i];
		expect_bits("y", &y->u[i], &want, 1);
	}
	expect_bits("guards", y->u + 257, y->uploaded + 257, 63);
	bench_free(b);
}

static void residual_add_works_in_place(void **state)
{
	struct bench *b = bench_new("residual");
	struct array *x = bench_random(b, "x", 300, 1), *y = bench_random(b, "y", 300, 1);

	(void)state;
	bench_upload(b, y, false);
	RUN(b, "residual_add", 2, 1, 1, A(x), A(y), A(y), U(299));
	bench_read(b, y);
	for (unsigned i = 0; i < 299; i++)
		assert_true(y->f[i] == x->f[i] + ((const float *)y->uploaded)[i]);
	expect_bits("behind n", y->u + 299, y->uploaded + 299, 1);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(axpy_changes_257_values_and_no_guard),
	        cmocka_unit_test(residual_add_works_in_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
