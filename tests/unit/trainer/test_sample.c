/* test_sample.c - picking a token from logits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/data.h"
#include "trainer/sample.h"

static const float logits[5] = {0.0f, 2.0f, 1.0f, 2.0f, -1.0f};

static void temperature_zero_takes_the_first_largest(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(sample_pick(logits, 5, 0, 0, data_random(1, i)), 1);
}

static void frequencies_follow_the_softmax(void **state)
{
	unsigned n[5] = {0}, total = 200000;
	/* e^logit over their sum 1 + 2 e^2 + e + 1/e */
	const double want[5] = {0.0530, 0.3917, 0.1441, 0.3917, 0.0195};

	(void)state;
	for (unsigned i = 0; i < total; i++)
		n[sample_pick(logits, 5, 1, 0, data_random(3, i))]++;
	for (unsigned i = 0; i < 5; i++) {
		double got = (double)n[i] / total;
		if (got < want[i] - 0.005 || got > want[i] + 0.005)
			fail_msg("token %u: expected %.4f of all, got %.4f", i, want[i], got);
	}
}

static void top_k_leaves_out_the_rest(void **state)
{
	unsigned n[5] = {0};

	(void)state;
	for (unsigned i = 0; i < 10000; i++)
		n[sample_pick(logits, 5, 2, 2, data_random(3, i))]++;
	assert_int_equal(n[0] + n[2] + n[4], 0);
	assert_in_range(n[1], 4700, 5300);
	assert_int_equal(sample_pick(logits, 5, 1, 1, UINT64_MAX), 1);
	assert_in_range(sample_pick(logits, 5, 1, 9, UINT64_MAX), 0, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(temperature_zero_takes_the_first_largest),
	        cmocka_unit_test(frequencies_follow_the_softmax),
	        cmocka_unit_test(top_k_leaves_out_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
