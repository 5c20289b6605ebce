/* test_queues.c - both compute queues: work, faults, hangs, recovery, re-activation. */
#include <errno.h>
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/cp/pm4.h"
#include "helper_kernel.h"

#define MIB       (1ull << 20)
#define CODE      (32 * MIB)
#define SRC       (33 * MIB)
#define DST       (34 * MIB)
#define RING      (35 * MIB)
#define FLAG      (36 * MIB)
#define RING_LOG2 8u

static const char card[] = "virtual,posted,threads=1,vram=512";

static uint64_t mc(struct rx580 *rx, uint64_t offset)
{
	struct rx_info info;

	rx_read_info(rx, &info);
	return info.fb_base + offset;
}

static uint32_t read_dword(struct rx580 *rx, uint64_t offset)
{
	uint8_t b[4];

	assert_int_equal(rx_vram_read(rx, offset, b, 4), 0);
	return get_le32(b);
}

static void write_dword(struct rx580 *rx, uint64_t offset, uint32_t value)
{
	uint8_t b[4];

	put_le32(b, value);
	assert_int_equal(rx_vram_write(rx, offset, b, 4), 0);
}

static enum rx_state state_of(struct rx580 *rx)
{
	struct rx_info info;

	rx_read_info(rx, &info);
	return info.state;
}

/* dispatch_works - the service queue runs a kernel that copies @value. */
static void dispatch_works(struct rx580 *rx, uint32_t value)
{
	uint32_t dw[64];
	struct pm4 p;

	kernel_upload_copy(rx, CODE, 0);
	write_dword(rx, SRC, value);
	write_dword(rx, DST, ~value);
	pm4_init(&p, dw, ARRAY_SIZE(dw));
	kernel_dispatch(&p, rx, CODE, SRC, DST);
	assert_false(p.overflow);
	assert_int_equal(rx_service_submit(rx, dw, p.n, 60000), 0);
	assert_int_equal(read_dword(rx, DST), value);
}

static void service_queue_runs_kernels_again_and_again(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);

	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		dispatch_works(rx, 0x1000 + i);
	helper_close_clean(rx);
}

static void ring_wraps(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);
	static uint32_t dw[7000];
	struct pm4 p;

	(void)state;
	pm4_init(&p, dw, ARRAY_SIZE(dw));
	pm4_nop(&p, ARRAY_SIZE(dw));
	for (int i = 0; i < 10; i++) /* 70,000 dwords through a ring of 16,384 */
		assert_int_equal(rx_service_submit(rx, dw, p.n, 60000), 0);
	dispatch_works(rx, 77);
	helper_close_clean(rx);
}

static void too_long_a_submission_is_refused(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);
	static uint32_t dw[9000];

	(void)state;
	assert_int_equal(rx_service_submit(rx, dw, ARRAY_SIZE(dw), 60000), -E2BIG);
	dispatch_works(rx, 78);
	helper_close_clean(rx);
}

static void bad_packet_is_noticed_quickly_and_overcome(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);
	const uint32_t bad[] = {PKT3(0xFE, 2), 0};
	uint64_t start = now_ns();

	(void)state;
	assert_int_equal(rx_service_submit(rx, bad, ARRAY_SIZE(bad), 600000), -EIO);
	assert_true(now_ns() - start < 60000000000ull); /* long before the deadline */
	assert_true(helper_guest_errors(rx) > 0);
	assert_int_equal(state_of(rx), RX_READY);
	dispatch_works(rx, 79);
	rx_close(rx);
}

static void hung_wait_times_out_and_is_overcome(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);
	uint32_t dw[16];
	struct pm4 p;

	(void)state;
	write_dword(rx, FLAG, 0);
	pm4_init(&p, dw, ARRAY_SIZE(dw));
	pm4_wait_mem(&p, mc(rx, FLAG), 1, 0xFFFFFFFF);
	assert_int_equal(rx_service_submit(rx, dw, p.n, 200), -ETIMEDOUT);
	assert_int_equal(state_of(rx), RX_READY);
	dispatch_works(rx, 80);
	helper_close_clean(rx);
}

static void hung_kernel_times_out_and_is_overcome(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);
	uint32_t dw[64];
	struct pm4 p;

	(void)state;
	kernel_upload_endless(rx, CODE);
	pm4_init(&p, dw, ARRAY_SIZE(dw));
	kernel_dispatch(&p, rx, CODE, SRC, DST);
	assert_int_equal(rx_service_submit(rx, dw, p.n, 300), -ETIMEDOUT);
	assert_int_equal(state_of(rx), RX_READY);
	dispatch_works(rx, 81);
	rx_close(rx);
}

/* ---- the plan queue ---- */

/* put_plan - a ring that waits for FLAG == @flag, then counts DST up by storing @value. Returns its
 * length. */
static uint32_t put_plan(struct rx580 *rx, uint32_t flag, uint32_t value)
{
	uint32_t dw[64];
	uint8_t bytes[sizeof(dw)];
	struct pm4 p;

	pm4_init(&p, dw, ARRAY_SIZE(dw));
	pm4_wait_mem(&p, mc(rx, FLAG), flag, 0xFFFFFFFF);
	pm4_write_data(&p, mc(rx, DST), &value, 1);
	pm4_pad(&p, 16);
	for (size_t i = 0; i < p.n; i++)
		put_le32(bytes + 4 * i, dw[i]);
	assert_int_equal(rx_vram_write(rx, RING, bytes, p.n * 4), 0);
	return (uint32_t)p.n;
}

static void wait_for_dst(struct rx580 *rx, uint32_t value)
{
	uint64_t deadline = deadline_in_ms(60000);

	while (read_dword(rx, DST) != value) {
		assert_false(deadline_passed(deadline));
		sleep_us(1000);
	}
}

static void plan_queue_runs_beside_the_service_queue(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);
	struct rx_plan_queue_state q;

	(void)state;
	write_dword(rx, FLAG, 0);
	write_dword(rx, DST, 0);
	uint32_t n = put_plan(rx, 1, 42);

	assert_int_equal(rx_plan_queue_start(rx, RING, RING_LOG2, n), 0);
	assert_int_equal(rx_plan_queue_start(rx, RING, RING_LOG2, n), -EBUSY); /* it waits */
	assert_int_equal(rx_plan_queue_read(rx, &q), 0);
	assert_true(q.active);
	assert_int_equal(q.wptr, n);
	dispatch_works(rx, 90); /* a waiting plan blocks nobody on the other pipe */
	write_dword(rx, DST, 0);
	write_dword(rx, FLAG, 1);
	wait_for_dst(rx, 42);
	assert_int_equal(rx_plan_queue_stop(rx, false), 0);
	assert_int_equal(rx_plan_queue_read(rx, &q), 0);
	assert_false(q.active);
	helper_close_clean(rx);
}

static void drained_plan_queue_is_activated_again(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);

	(void)state;
	write_dword(rx, FLAG, 1);
	for (uint32_t i = 1; i <= 5; i++) {
		uint32_t n = put_plan(rx, 1, i);

		assert_int_equal(rx_plan_queue_start(rx, RING, RING_LOG2, n), 0);
		wait_for_dst(rx, i);
	}
	assert_int_equal(rx_plan_queue_stop(rx, false), 0);
	helper_close_clean(rx);
}

static void waiting_plan_queue_can_be_killed_and_used_again(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);
	struct rx_plan_queue_state q;

	(void)state;
	write_dword(rx, FLAG, 0);
	write_dword(rx, DST, 0);
	assert_int_equal(rx_plan_queue_start(rx, RING, RING_LOG2, put_plan(rx, 1, 7)), 0);
	assert_int_equal(rx_plan_queue_stop(rx, true), 0);
	assert_int_equal(rx_plan_queue_read(rx, &q), 0);
	assert_false(q.active);
	write_dword(rx, FLAG, 1);
	assert_int_equal(rx_plan_queue_start(rx, RING, RING_LOG2, put_plan(rx, 1, 8)), 0);
	wait_for_dst(rx, 8);
	helper_close_clean(rx);
}

static void faulted_plan_queue_tells_and_starts_again(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);
	const uint32_t bad[] = {PKT3(0xFE, 2), 0};
	uint8_t bytes[64] = {0};
	struct rx_plan_queue_state q = {0};
	uint64_t deadline = deadline_in_ms(60000);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		put_le32(bytes + 4 * i, bad[i]);
	assert_int_equal(rx_vram_write(rx, RING, bytes, sizeof(bytes)), 0);
	assert_int_equal(rx_plan_queue_start(rx, RING, RING_LOG2, 2), 0);
	while (!q.error && !deadline_passed(deadline))
		assert_int_equal(rx_plan_queue_read(rx, &q), 0);
	assert_int_not_equal(q.error, 0);
	write_dword(rx, FLAG, 1);
	assert_int_equal(rx_plan_queue_start(rx, RING, RING_LOG2, put_plan(rx, 1, 9)), 0);
	wait_for_dst(rx, 9);
	rx_close(rx);
}

static void bad_rings_are_refused(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);

	(void)state;
	assert_int_equal(rx_plan_queue_start(rx, RING + 4, RING_LOG2, 16), -EINVAL);
	assert_int_equal(rx_plan_queue_start(rx, RING, 3, 4), -EINVAL);
	assert_int_equal(rx_plan_queue_start(rx, RING, RING_LOG2, 256), -EINVAL);
	assert_int_equal(rx_plan_queue_start(rx, 256 * MIB, RING_LOG2, 16), -EINVAL);
	helper_close_clean(rx);
}

static void soft_reset_ends_everything_and_counts(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);
	struct rx_plan_queue_state q;
	struct rx_info info;

	(void)state;
	write_dword(rx, FLAG, 0);
	assert_int_equal(rx_plan_queue_start(rx, RING, RING_LOG2, put_plan(rx, 1, 7)), 0);
	write_dword(rx, SRC, 0x600D);
	assert_int_equal(rx_reset_soft(rx), 0);
	assert_int_equal(rx_plan_queue_read(rx, &q), 0);
	assert_false(q.active);
	rx_read_info(rx, &info);
	assert_int_equal(info.generation, 2);
	assert_int_equal(info.state, RX_READY);
	assert_int_equal(read_dword(rx, SRC), 0x600D); /* VRAM is kept */
	dispatch_works(rx, 91);
	helper_close_clean(rx);
}

/* a job that resets the card while somebody waits for the service queue */
struct resetter {
	struct rx580 *rx;
	int calls;
};

static void reset_once(void *ctx)
{
	struct resetter *r = ctx;

	if (r->rx && ++r->calls == 3)
		assert_int_equal(rx_reset_soft(r->rx), 0);
}

static void waiter_learns_of_a_reset(void **state)
{
	struct resetter r = {0};
	struct rx580 *rx = helper_open(card, reset_once, &r);
	uint32_t dw[16];
	struct pm4 p;

	(void)state;
	write_dword(rx, FLAG, 0);
	pm4_init(&p, dw, ARRAY_SIZE(dw));
	pm4_wait_mem(&p, mc(rx, FLAG), 1, 0xFFFFFFFF);
	r.rx = rx;
	assert_int_equal(rx_service_submit(rx, dw, p.n, 60000), -ECANCELED);
	r.rx = NULL;
	dispatch_works(rx, 92);
	helper_close_clean(rx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(service_queue_runs_kernels_again_and_again),
	        cmocka_unit_test(ring_wraps),
	        cmocka_unit_test(too_long_a_submission_is_refused),
	        cmocka_unit_test(bad_packet_is_noticed_quickly_and_overcome),
	        cmocka_unit_test(hung_wait_times_out_and_is_overcome),
	        cmocka_unit_test(hung_kernel_times_out_and_is_overcome),
	        cmocka_unit_test(plan_queue_runs_beside_the_service_queue),
	        cmocka_unit_test(drained_plan_queue_is_activated_again),
	        cmocka_unit_test(waiting_plan_queue_can_be_killed_and_used_again),
	        cmocka_unit_test(faulted_plan_queue_tells_and_starts_again),
	        cmocka_unit_test(bad_rings_are_refused),
	        cmocka_unit_test(soft_reset_ends_everything_and_counts),
	        cmocka_unit_test(waiter_learns_of_a_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
