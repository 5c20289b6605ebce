/* test_schedule.c - learning rate and bias corrections of a step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <math.h>

#include "trainer/schedule.h"

static void expect(double got, double want, const char *what)
{
	if (!(fabs(got - want) <= 1e-12 * fabs(want)))
		fail_msg("%s: expected %.15g, got %.15g", what, want, got);
}

static void the_rate_rises_then_follows_half_a_cosine(void **state)
{
	const struct schedule s = {.lr = 1e-3, .lr_min = 1e-4, .warmup = 10, .steps = 110};

	(void)state;
	expect(schedule_lr(&s, 0), 1e-4, "first step");
	expect(schedule_lr(&s, 9), 1e-3, "end of warm-up");
	expect(schedule_lr(&s, 10), 1e-3, "top");
	expect(schedule_lr(&s, 60), 5.5e-4, "half way");
	expect(schedule_lr(&s, 35), 1e-4 + 9e-4 * (1 + sqrt(0.5)) / 2, "quarter");
	expect(schedule_lr(&s, 110), 1e-4, "behind the end");
	for (uint64_t i = 10; i < 115; i++)
		assert_true(schedule_lr(&s, i + 1) <= schedule_lr(&s, i));
}

static void short_runs_have_a_rate_too(void **state)
{
	const struct schedule none = {.lr = 1e-3, .lr_min = 1e-4, .warmup = 0, .steps = 1};
	const struct schedule only = {.lr = 1e-3, .lr_min = 1e-4, .warmup = 5, .steps = 5};

	(void)state;
	expect(schedule_lr(&none, 0), 1e-3, "one step");
	expect(schedule_lr(&only, 4), 1e-3, "warm-up only");
	expect(schedule_lr(&only, 5), 1e-4, "behind it");
}

static void bias_corrections_are_rounded_once(void **state)
{
	const struct schedule s = {.lr = 1e-3, .lr_min = 1e-4, .warmup = 0, .steps = 100};
	float x[3];

	(void)state;
	schedule_scalars(&s, 0.9, 0.95, 0, x);
	assert_true(x[0] == 1e-3f);
	assert_true(x[1] == (float)(1 / (1 - 0.9)));
	assert_true(x[2] == (float)(1 / (1 - 0.95)));
	schedule_scalars(&s, 0.9, 0.95, 999, x);
	assert_true(x[1] == 1.0f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_rate_rises_then_follows_half_a_cosine),
	        cmocka_unit_test(short_runs_have_a_rate_too),
	        cmocka_unit_test(bias_corrections_are_rounded_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
