/* test_plan_heat.c - a card that is too hot: plans wait and go on, or stop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "device/clock.h"
#include "device/core/rx580_priv.h"
#include "helper_plan.h"

#define MANY 100000

static const char count_source[] =
        "kernel void count(global uint *n) { if (!get_global_id(0)) *n += 1; }\n";
static const char count_plan[] =
        "{\"format\":\"rx580-plan-1\",\"steps\":[{\"kernel\":\"count:count\",\"groups\":[1],"
        "\"group\":[64],\"args\":{\"n\":\"n\"}}],"
        "\"state\":[{\"name\":\"n\",\"at\":\"n\",\"dtype\":\"I32\",\"shape\":[1]}]}";

static struct plan *open_count(struct bench *b)
{
	const uint32_t zero = 0;

	bench_module(b, "count", count_source);
	bench_buffer(b, "n", 4);
	bench_write(b, "n", 0, &zero, 4);
	return bench_plan(b, "count", count_plan);
}

/* As a sample finds it. */
static void set_heat(struct bench *b, enum rx_heat heat)
{
	pthread_mutex_lock(&b->rx->lock);
	b->rx->sensors.sample++;
	b->rx->sensors.heat = heat;
	pthread_mutex_unlock(&b->rx->lock);
}

static void overheat(struct bench *b)
{
	b->rx->heat.off_c = 1; /* what it has counts as too hot */
	assert_int_equal(rx_sample(b->rx), 0);
	b->rx->heat.off_c = HEAT_OFF_C;
}

static struct plan_status status_of(struct plan *p)
{
	struct plan_status s;

	plan_read_status(p, &s);
	return s;
}

static void expect_waiting(struct plan *p)
{
	uint64_t deadline = deadline_in_ms(60000), before;

	do { /* the step under way ends */
		before = status_of(p).steps_done;
		bench_service(p, 400);
		assert_false(deadline_passed(deadline));
	} while (status_of(p).steps_done != before);
	assert_int_equal(status_of(p).state, PLAN_RUNNING);
	assert_string_equal(status_of(p).error, "");
}

static void heat_stops_a_run_at_a_boundary_and_it_goes_on_by_itself(void **state)
{
	struct bench *b = *state;
	struct plan *p = open_count(b);
	uint32_t count;

	assert_int_equal(plan_run(p, MANY), 0);
	bench_run(p, 20);
	set_heat(b, RX_HOT);
	expect_waiting(p);
	bench_read(b, "n", 0, &count, 4);
	assert_int_equal(count, status_of(p).steps_done);
	set_heat(b, RX_WARM);
	bench_run(p, 20);
	assert_int_equal(bench_stop(p), 0);
	bench_read(b, "n", 0, &count, 4);
	assert_int_equal(count, status_of(p).steps_done);
	assert_int_equal(plan_unload(p), 0);
}

static void run_asked_for_in_the_heat_starts_later(void **state)
{
	struct bench *b = *state;
	struct plan *p = open_count(b);

	set_heat(b, RX_HOT);
	assert_int_equal(plan_run(p, 5), 0);
	bench_service(p, 500);
	assert_int_equal(status_of(p).steps_done, 0);
	assert_int_equal(status_of(p).steps_queued, 5);
	set_heat(b, RX_WARM);
	bench_run(p, 5);
	assert_int_equal(plan_unload(p), 0);
}

static void waiting_plan_can_be_stopped(void **state)
{
	struct bench *b = *state;
	struct plan *p = open_count(b);

	assert_int_equal(plan_run(p, MANY), 0);
	bench_run(p, 5);
	set_heat(b, RX_HOT);
	expect_waiting(p);
	assert_int_equal(bench_stop(p), 0);
	assert_int_equal(status_of(p).state, PLAN_RESIDENT);
	assert_int_equal(plan_unload(p), 0);
}

static int note_call(void *ctx, int err)
{
	*(int *)ctx = err ? err : 1;
	return err;
}

static void snapshot_in_the_heat_does_not_end_the_wait(void **state)
{
	struct bench *b = *state;
	struct plan *p = open_count(b);
	int called = 0;

	assert_int_equal(plan_run(p, MANY), 0);
	bench_run(p, 5);
	set_heat(b, RX_HOT);
	expect_waiting(p);
	assert_int_equal(bench_boundary(p, note_call, &called), 0);
	assert_int_equal(called, 1);
	expect_waiting(p);
	set_heat(b, RX_COOL);
	bench_run(p, 5);
	assert_int_equal(bench_stop(p), 0);
	assert_int_equal(plan_unload(p), 0);
}

static void overheated_card_fails_its_plan_in_words(void **state)
{
	struct bench *b = *state;
	struct plan *p = open_count(b);

	assert_int_equal(plan_run(p, MANY), 0);
	bench_run(p, 5);
	overheat(b);
	bench_run(p, MANY);
	assert_int_equal(status_of(p).state, PLAN_FAILED);
	if (!strstr(status_of(p).error, "overheated"))
		fail_msg("expected \"overheated\", got \"%s\"", status_of(p).error);
	assert_int_equal(plan_clear(p), 0);
	assert_int_equal(plan_run(p, 1), -EIO);

	assert_int_equal(rx_sample(b->rx), 0); /* cool by now */
	assert_int_equal(rx_reset_soft(b->rx), 0);
	assert_int_equal(plan_run(p, 7), 0);
	bench_run(p, 7);
	assert_int_equal(plan_unload(p), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, bench_open, bench_close)
	const struct CMUnitTest tests[] = {
	        T(heat_stops_a_run_at_a_boundary_and_it_goes_on_by_itself),
	        T(run_asked_for_in_the_heat_starts_later),
	        T(waiting_plan_can_be_stopped),
	        T(snapshot_in_the_heat_does_not_end_the_wait),
	        T(overheated_card_fails_its_plan_in_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
