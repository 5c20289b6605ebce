/* test_plan_run.c - resident plans on the virtual card: results, order, slots, stop, failures,
 * faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "helper_plan.h"

static const char axpy_source[] =
        "kernel void axpy(float a, global const float *x, global float *y, uint n)\n"
        "{ uint i = get_global_id(0); if (i < n) y[i] = a * x[i] + y[i]; }\n";

/* sum += scalar[0] + first id, in the update section; loss = scalar[1]. */
static const char sum_source[] =
        "#define S struct rx_step\n"
        "S { uint sequence, go; ulong scalars, ids; uint nscalars, nids, step; uint r[7]; };\n"
        "kernel void loss(global const S *step, global float *loss, global float *norm)\n"
        "{ uint spin = ((global const ushort *)step->ids)[0];\n"
        "  for (volatile uint i = 0; i < spin; i++) ;\n"
        "  *loss = ((global const float *)step->scalars)[1];\n"
        "  *norm = ((global const float *)step->scalars)[2]; }\n"
        "kernel void add(global const S *step, global float *sum, global uint *last)\n"
        "{ if (get_global_id(0)) return;\n"
        "  *sum += ((global const float *)step->scalars)[0] + ((global const ushort "
        "*)step->ids)[0];\n"
        "  *last = step->step; }\n";

static const char sum_plan[] =
        "{\"format\":\"rx580-plan-1\",\"input\":{\"scalars\":3,\"ids\":3},"
        "\"steps\":[{\"kernel\":\"sum:loss\",\"groups\":[1],\"group\":[1],"
        "\"args\":{\"step\":\"@step\",\"loss\":\"small\",\"norm\":\"small+4\"}}],"
        "\"check\":{\"loss\":\"small\",\"grad_norm\":\"small+4\"},"
        "\"update\":[{\"kernel\":\"sum:add\",\"groups\":[1],\"group\":[64],"
        "\"args\":{\"step\":\"@step\",\"sum\":\"sum\",\"last\":\"small+8\"}}],"
        "\"state\":[{\"name\":\"sum\",\"at\":\"sum\",\"dtype\":\"F32\",\"shape\":[1]}]}";

static void push(struct plan *p, float add, float loss, float norm, uint16_t id)
{
	uint8_t record[18];
	const float scalars[3] = {add, loss, norm};

	memcpy(record, scalars, sizeof(scalars));
	memset(record + 12, 0, 6);
	put_le16(record + 12, id);
	assert_int_equal(plan_push_input(p, record, sizeof(record)), 0);
}

static struct plan *open_sum(struct bench *b)
{
	const float zero = 0;

	bench_module(b, "sum", sum_source);
	bench_buffer(b, "small", 256);
	bench_buffer(b, "sum", 4);
	bench_write(b, "sum", 0, &zero, 4);
	return bench_plan(b, "sum", sum_plan);
}

static float read_sum(struct bench *b)
{
	float v;

	bench_read(b, "sum", 0, &v, 4);
	return v;
}

static void axpy_changes_its_outputs_and_nothing_else(void **state)
{
	struct bench *b = *state;
	float x[320], y[320], want;

	for (int i = 0; i < 320; i++) {
		x[i] = (float)i;
		y[i] = 1000;
	}
	bench_module(b, "axpy", axpy_source);
	bench_buffer(b, "x", sizeof(x));
	bench_buffer(b, "y", sizeof(y));
	bench_write(b, "x", 0, x, sizeof(x));
	bench_write(b, "y", 0, y, sizeof(y));
	struct plan *p = bench_plan(b, "axpy",
	        "{\"format\":\"rx580-plan-1\",\"steps\":[{\"kernel\":\"axpy:axpy\",\"groups\":[5],"
	        "\"group\":[64],"
	        "\"args\":{\"a\":2.5,\"x\":\"x\",\"y\":\"y\",\"n\":257}}]}");
	assert_int_equal(plan_run(p, 1), 0);
	bench_run(p, 1);
	bench_read(b, "y", 0, y, sizeof(y));
	for (int i = 0; i < 320; i++) {
		want = i < 257 ? 2.5f * (float)i + 1000 : 1000;
		if (memcmp(&want, &y[i], 4))
			fail_msg("y[%d]: expected %g, got %g", i, (double)want, (double)y[i]);
	}
	bench_settle(p);
	assert_int_equal(plan_unload(p), 0);
}

static void steps_take_their_inputs_in_order_over_many_laps_and_epochs(void **state)
{
	struct bench *b = *state;
	struct plan *p = open_sum(b);
	struct plan_record r[2100];
	struct plan_status s;
	uint64_t pushed = 0, total = 2000; /* more than two grants of 960 */

	assert_int_equal(plan_run(p, total), 0);
	for (plan_read_status(p, &s); s.steps_done < total; plan_read_status(p, &s)) {
		while (pushed < total && s.input_free) {
			push(p, 0.5f, (float)pushed, 1, (uint16_t)(pushed % 3));
			pushed++;
			plan_read_status(p, &s);
		}
		assert_true(plan_service(p) >= 0);
		assert_int_not_equal(s.state, PLAN_FAILED);
	}
	assert_int_equal(plan_losses(p, 0, r, 2100), total);
	for (uint64_t i = 0; i < total; i++)
		if (r[i].step != i || r[i].loss != (float)i || r[i].status)
			fail_msg("record %llu: step %llu loss %g status %u", (unsigned long long)i,
			        (unsigned long long)r[i].step, (double)r[i].loss, r[i].status);
	assert_float_equal(read_sum(b), 0.5 * 2000 + 1999, 0.01);
	bench_settle(p);
	assert_int_equal(plan_unload(p), 0);
}

static void a_step_waits_for_its_input_and_for_its_permission(void **state)
{
	struct bench *b = *state;
	struct plan *p = open_sum(b);
	struct plan_status s;

	push(p, 1, 1, 1, 0);
	bench_service(p, 30);
	plan_read_status(p, &s);
	assert_int_equal(s.steps_done, 0);
	assert_int_equal(s.state, PLAN_RESIDENT);
	assert_int_equal(plan_run(p, 2), 0);
	bench_run(p, 1);
	bench_service(p, 30);
	plan_read_status(p, &s);
	assert_int_equal(s.steps_done, 1);
	assert_int_equal(s.steps_queued, 1);
	assert_int_equal(plan_unload(p), -EBUSY);
	push(p, 1, 1, 1, 0);
	bench_run(p, 1);
	assert_float_equal(read_sum(b), 2, 0);
	bench_settle(p);
	assert_int_equal(plan_unload(p), 0);
}

static void the_seventeenth_input_is_refused_until_a_slot_is_free(void **state)
{
	struct bench *b = *state;
	struct plan *p = open_sum(b);
	uint8_t record[18] = {0};

	for (int i = 0; i < PLAN_SLOTS; i++)
		push(p, 1, 1, 1, 0);
	assert_int_equal(plan_push_input(p, record, sizeof(record)), -EAGAIN);
	assert_int_equal(plan_push_input(p, record, 17), -EINVAL);
	assert_int_equal(plan_run(p, 1), 0);
	bench_run(p, 1);
	push(p, 1, 1, 1, 0);
	bench_settle(p);
	assert_int_equal(plan_unload(p), 0);
}

static void a_loss_that_is_not_finite_changes_no_weight_and_stops_the_plan(void **state)
{
	struct bench *b = *state;
	struct plan *p = open_sum(b);
	struct plan_status s;

	push(p, 1, 1, 1, 0);
	push(p, 1, NAN, 1, 0);
	push(p, 1, 1, 1, 0);
	assert_int_equal(plan_run(p, 3), 0);
	bench_run(p, 3);
	plan_read_status(p, &s);
	assert_int_equal(s.state, PLAN_FAILED);
	assert_int_equal(s.steps_done, 1);
	assert_int_equal(s.steps_failed, 1);
	if (!strstr(s.error, "loss not finite"))
		fail_msg("expected \"loss not finite\", got \"%s\"", s.error);
	assert_float_equal(read_sum(b), 1, 0);
	assert_int_equal(plan_run(p, 1), -EIO);
	assert_int_equal(plan_clear(p), 0);
	push(p, 4, 1, 1, 0);
	assert_int_equal(plan_run(p, 1), 0);
	bench_run(p, 1);
	assert_float_equal(read_sum(b), 5, 0);
	bench_settle(p);
	assert_int_equal(plan_unload(p), 0);
}

static void an_infinite_gradient_norm_is_told_from_a_bad_loss(void **state)
{
	struct bench *b = *state;
	struct plan *p = open_sum(b);
	struct plan_status s;

	push(p, 1, 1, INFINITY, 0);
	assert_int_equal(plan_run(p, 1), 0);
	bench_run(p, 1);
	plan_read_status(p, &s);
	if (!strstr(s.error, "gradient norm"))
		fail_msg("expected \"gradient norm\", got \"%s\"", s.error);
	assert_float_equal(read_sum(b), 0, 0);
	assert_int_equal(plan_clear(p), 0);
	assert_int_equal(plan_unload(p), 0);
}

static void stop_takes_back_what_has_not_started_and_keeps_the_inputs(void **state)
{
	struct bench *b = *state;
	struct plan *p = open_sum(b);
	struct plan_status s;

	push(p, 1, 1, 1, 0);
	assert_int_equal(plan_run(p, 100), 0);
	bench_run(p, 1);
	assert_int_equal(bench_stop(p), 0);
	plan_read_status(p, &s);
	assert_int_equal(s.steps_queued, 0);
	assert_int_equal(s.state, PLAN_RESIDENT);
	push(p, 1, 1, 1, 0);
	bench_service(p, 30);
	plan_read_status(p, &s);
	assert_int_equal(s.steps_done, 1);
	assert_int_equal(plan_run(p, 1), 0);
	bench_run(p, 1);
	assert_float_equal(read_sum(b), 2, 0);
	bench_settle(p);
	assert_int_equal(plan_unload(p), 0);
}

static void a_second_plan_cannot_run_while_one_is_running(void **state)
{
	struct bench *b = *state;
	struct plan *p = open_sum(b);
	struct plan *q = bench_plan(b, "second", sum_plan);

	assert_int_equal(plan_run(p, 5), 0);
	assert_int_equal(plan_run(q, 1), -EBUSY);
	push(p, 1, 1, 1, 0);
	bench_run(p, 1);
	assert_int_equal(plan_run(q, 1), -EBUSY);
	assert_int_equal(bench_stop(p), 0);
	push(q, 2, 1, 1, 0);
	assert_int_equal(plan_run(q, 1), 0);
	bench_run(q, 1);
	assert_float_equal(read_sum(b), 3, 0);
	bench_settle(q);
	assert_int_equal(plan_unload(q), 0);
	assert_int_equal(plan_unload(p), 0);
}

struct damage {
	struct bench *b;
	struct plan *p;
	uint64_t steps_done;
};

/* At the boundary, with committed slots waiting: flip one payload byte of the next slot. */
static int damage_next_slot(void *ctx, int err)
{
	struct damage *d = ctx;
	struct rx_range maps[64];
	struct plan_status s;
	const uint8_t flipped = 0x55;
	size_t n = rx_maps(d->b->rx, maps, ARRAY_SIZE(maps));

	if (err)
		return err;
	plan_read_status(d->p, &s);
	d->steps_done = s.steps_done;
	for (size_t i = 0; i < n; i++) /* slots are the last block of the range, 16 strides of 256
	                                  bytes: plan-format.md 3 */
		if (!strcmp(maps[i].name, "plans/sum"))
			return rx_vram_write(d->b->rx,
			        maps[i].end - (PLAN_SLOTS - s.steps_done % PLAN_SLOTS) * 256 + 2,
			        &flipped, 1);
	return -ENOENT;
}

static void a_slot_damaged_on_the_card_is_found_by_its_checksum(void **state)
{
	struct bench *b = *state;
	struct plan *p = open_sum(b);
	struct damage d = {.b = b, .p = p};
	struct plan_status s;
	uint64_t pushed = 0;

	do { /* again if the pause arrived only when all was done */
		assert_int_equal(bench_stop(p), 0);
		for (int i = 0; i < 4; i++, pushed++)
			push(p, 1, 1, 1, 20000); /* the loss kernel spins on the id */
		assert_int_equal(plan_run(p, 4), 0);
		assert_true(plan_service(p) >= 0);
		assert_int_equal(bench_boundary(p, damage_next_slot, &d), 0);
	} while (d.steps_done == pushed && pushed < 400);
	bench_run(p, 4);
	plan_read_status(p, &s);
	assert_int_equal(s.state, PLAN_FAILED);
	if (!strstr(s.error, "checksum"))
		fail_msg("expected \"checksum\", got \"%s\"", s.error);
	assert_int_equal(s.steps_done, d.steps_done);
	assert_float_equal(read_sum(b), 20001.0f * (float)d.steps_done, 0);
	assert_int_equal(plan_clear(p), 0);
	assert_int_equal(plan_unload(p), 0);
}

/* A plan whose kernel never ends, at work on its first step. */
static struct plan *hang(struct bench *b, unsigned deadline_s)
{
	char json[256];

	bench_module(
	        b, "hang", "kernel void hang(global volatile uint *x) { while (*x == 0) ; }\n");
	bench_buffer(b, "zero", 256);
	snprintf(json, sizeof(json),
	        "{\"format\":\"rx580-plan-1\",\"deadline_s\":%u,\"steps\":[{\"kernel\":"
	        "\"hang:hang\",\"groups\":[2],\"group\":[64],\"args\":{\"x\":\"zero\"}}]}",
	        deadline_s);
	struct plan *p = bench_plan(b, "hang", json);

	assert_int_equal(plan_run(p, 1), 0);
	bench_service(p, 100);
	return p;
}

static void expect_failed(struct plan *p, const char *says)
{
	struct plan_status s;

	plan_read_status(p, &s);
	if (s.state != PLAN_FAILED || !strstr(s.error, says))
		fail_msg("expected a failed plan saying \"%s\", got state %d, \"%s\"", says,
		        s.state, s.error);
}

static void a_stop_does_not_keep_a_hung_kernel_past_its_deadline(void **state)
{
	struct plan *p = hang(*state, 1);

	assert_int_equal(bench_stop(p), 0);
	expect_failed(p, "deadline_s");
	assert_int_equal(plan_clear(p), 0);
	assert_int_equal(plan_unload(p), 0);
}

static void a_soft_reset_fails_the_running_plan(void **state)
{
	struct bench *b = *state;
	struct plan *p = hang(b, 3600);

	assert_int_equal(rx_reset_soft(b->rx), 0);
	bench_run(p, 1);
	expect_failed(p, "the queue was reset");
	assert_int_equal(plan_clear(p), 0);
	assert_int_equal(plan_unload(p), 0);
	axpy_changes_its_outputs_and_nothing_else(state); /* the queue works again */
}

static void a_hung_kernel_fails_the_plan_in_its_deadline_and_the_queue_recovers(void **state)
{
	struct plan *p = hang(*state, 1);

	bench_run(p, 1);
	expect_failed(p, "card fault");
	assert_int_equal(plan_clear(p), 0);
	assert_int_equal(plan_unload(p), 0);
	axpy_changes_its_outputs_and_nothing_else(state); /* the queue works again */
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, bench_open, bench_close)
	const struct CMUnitTest tests[] = {
	        T(axpy_changes_its_outputs_and_nothing_else),
	        T(steps_take_their_inputs_in_order_over_many_laps_and_epochs),
	        T(a_step_waits_for_its_input_and_for_its_permission),
	        T(the_seventeenth_input_is_refused_until_a_slot_is_free),
	        T(a_loss_that_is_not_finite_changes_no_weight_and_stops_the_plan),
	        T(an_infinite_gradient_norm_is_told_from_a_bad_loss),
	        T(stop_takes_back_what_has_not_started_and_keeps_the_inputs),
	        T(a_second_plan_cannot_run_while_one_is_running),
	        T(a_slot_damaged_on_the_card_is_found_by_its_checksum),
	        T(a_hung_kernel_fails_the_plan_in_its_deadline_and_the_queue_recovers),
	        T(a_stop_does_not_keep_a_hung_kernel_past_its_deadline),
	        T(a_soft_reset_fails_the_running_plan),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
