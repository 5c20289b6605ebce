/* test_card_queue.c - life of a queue: activation, grants, waiting, dequeue, halt, reset, errors
 * contained. */
#include "device/clock.h"
#include "tests/unit/card/helper_card.h"

#define MEM  0x100000u /* queue memory */
#define MEM2 0x200000u
#define DATA 0x300000u /* words the tests watch */
#define IB   0x310000u

static struct test_queue start(struct host *h, unsigned pipe, unsigned queue, uint32_t memory)
{
	struct test_queue q;

	queue_init(&q, pipe, queue, memory);
	queue_start(h, &q);
	return q;
}

static void clear_data(struct host *h)
{
	for (uint32_t i = 0; i < 64; i++)
		vram_write(h, DATA + 4 * i, 0);
	hdp_flush_now(h);
}

static void packets_run_and_rptr_is_reported(void **state)
{
	struct host *h = *state;
	struct test_queue q = start(h, 0, 0, MEM);

	clear_data(h);
	reg_write(h, REG_SCRATCH_REG0, 0xCAFEDEAD);
	PUT(h, &q, PKT3(PKT3_SET_UCONFIG_REG, 3), 0x40, 0xDEADBEEF); /* polaris.md 6.10 */
	PUT(h, &q, WRITE_MEM(DATA, 0x1111), PM4_FILLER, PKT3(PKT3_NOP, 3), 0, 0);
	queue_grant(h, &q);
	assert_true(wait_vram(h, DATA, 0x1111, LONG));
	assert_true(queue_wait_reg(h, &q, REG_CP_HQD_PQ_RPTR, q.wptr, LONG));
	assert_int_equal(reg_read(h, REG_SCRATCH_REG0), 0xDEADBEEF);
	assert_true(wait_vram(h, q.report, q.wptr, LONG));
	assert_int_equal(queue_reg(h, &q, REG_CP_HQD_ERROR), 0);
	assert_no_guest_errors(h);
}

static void ring_wraps_with_packets_across_its_end(void **state)
{
	struct host *h = *state;
	struct test_queue q = start(h, 1, 3, MEM);

	clear_data(h);
	for (uint32_t i = 1; i <= 700;
	        i++) { /* 5 dwords a packet: 3.4 laps, never aligned to the end */
		PUT(h, &q, WRITE_MEM(DATA, i));
		if (i % 100 == 0) {
			queue_grant(h, &q);
			assert_true(wait_vram(h, DATA, i, LONG));
			assert_true(queue_wait_reg(h, &q, REG_CP_HQD_PQ_RPTR, q.wptr, LONG));
		}
	}
	assert_no_guest_errors(h);
}

static void reactivation_with_preset_wptr_grants_work(void **state)
{
	struct host *h = host_new(&(struct vcard_options){.ignore_mmio_wptr = true});
	struct test_queue q = start(h, 0, 0, MEM);

	(void)state;
	clear_data(h);
	PUT(h, &q, WRITE_MEM(DATA, 7));
	queue_grant(h, &q); /* ignored: resident-plans.md 2, G1 */
	sleep_us(SHORT * 1000);
	assert_int_equal(vram_fresh(h, DATA), 0);
	for (uint32_t i = 1; i <= 3; i++) { /* G2 */
		assert_true(queue_dequeue(h, &q, 1, LONG));
		vram_write(h, DATA, 0);
		hdp_flush_now(h);
		queue_program(h, &q, q.wptr);
		assert_true(wait_vram(h, DATA, 7, LONG));
		assert_true(queue_wait_reg(h, &q, REG_CP_HQD_PQ_RPTR, q.wptr, LONG));
	}
	assert_no_guest_errors(h);
	host_free(h);
}

static void doorbell_grants_work(void **state)
{
	struct host *h = *state;
	struct test_queue q;

	queue_init(&q, 0, 1, MEM);
	clear_data(h);
	reg_write(h, REG_BIF_DOORBELL_APER_EN, 1);
	reg_write(h, REG_CP_MEC_DOORBELL_RANGE_UPPER, 0x5C);
	reg_write(h, REG_CP_PQ_STATUS, 2);
	queue_select(h, &q);
	reg_write(h, REG_CP_HQD_PQ_DOORBELL_CONTROL, 1u << 30 | 0x10 << 2);
	queue_select(h, NULL);
	queue_start(h, &q);
	PUT(h, &q, WRITE_MEM(DATA, 8));
	hdp_flush_now(h);
	assert_int_equal(mem_write(h, BAR2_AT + 0x10 * 4, q.wptr, 0xF), VCARD_SC);
	assert_true(wait_vram(h, DATA, 8, LONG));
	assert_no_guest_errors(h);
	assert_int_equal(mem_write(h, BAR2_AT + 0x11 * 4, 0, 0xF), VCARD_SC); /* nobody's */
	assert_int_equal(guest_errors(h), 1);
}

static void a_waiting_queue_holds_its_pipe_only(void **state)
{
	struct host *h = *state;
	struct test_queue a = start(h, 0, 0, MEM), same = start(h, 0, 1, MEM2),
	                  other = start(h, 1, 0, MEM2 + 0x40000);

	clear_data(h);
	PUT(h, &a, WRITE_MEM(DATA + 16, 1), WAIT_MEM(DATA, 1), WRITE_MEM(DATA + 4, 1));
	queue_grant(h, &a);
	assert_true(wait_vram(h, DATA + 16, 1, LONG)); /* it has the pipe */
	PUT(h, &same, WRITE_MEM(DATA + 8, 1));
	queue_grant(h, &same);
	PUT(h, &other, WRITE_MEM(DATA + 12, 1));
	queue_grant(h, &other);
	assert_true(wait_vram(h, DATA + 12, 1, LONG));
	sleep_us(SHORT * 1000);
	assert_int_equal(vram_fresh(h, DATA + 4), 0);
	assert_int_equal(vram_fresh(h, DATA + 8), 0);
	assert_int_equal(reg_read(h, REG_GRBM_STATUS2), 8 | 3u << 28); /* CPC and CPF busy */
	vram_write(h, DATA, 1);
	hdp_flush_now(h);
	assert_true(wait_vram(h, DATA + 4, 1, LONG));
	assert_true(wait_vram(h, DATA + 8, 1, LONG));
	assert_no_guest_errors(h);
}

static void one_byte_of_a_word_can_be_waited_for(void **state)
{
	struct host *h = *state;
	struct test_queue q = start(h, 0, 0, MEM);

	vram_write(h, DATA, 0x00DDCCBB);
	vram_write(h, DATA + 4, 0);
	PUT(h, &q, PKT3(PKT3_WAIT_REG_MEM, 7), WAIT_MEM_EQUAL, LO(DATA), HI(DATA), 3u << 24,
	        0xFF000000, 0x20);
	PUT(h, &q, WRITE_MEM(DATA + 4, 1));
	queue_grant(h, &q);
	sleep_us(SHORT * 1000);
	assert_int_equal(vram_fresh(h, DATA + 4), 0);
	assert_int_equal(mem_write(h, BAR0_AT + DATA, 3u << 24, 0x8), VCARD_SC);
	sleep_us(SHORT * 1000);
	assert_int_equal(vram_fresh(h, DATA + 4), 0); /* still in HDP */
	hdp_flush_now(h);
	assert_true(wait_vram(h, DATA + 4, 1, LONG));
	assert_no_guest_errors(h);
}

static void dequeue_frees_a_waiting_queue(void **state)
{
	struct host *h = *state;

	for (uint32_t type = 1; type <= 2; type++) {
		struct test_queue q = start(h, 0, 0, MEM);

		clear_data(h);
		PUT(h, &q, WAIT_MEM(DATA, 1), WRITE_MEM(DATA + 4, 1));
		queue_grant(h, &q);
		sleep_us(SHORT * 1000);
		assert_int_equal(queue_reg(h, &q, REG_CP_HQD_ACTIVE), 1);
		assert_true(queue_dequeue(h, &q, type, LONG));
		assert_int_equal(queue_reg(h, &q, REG_CP_HQD_DEQUEUE_REQUEST), 0);
		vram_write(h, DATA, 1);
		hdp_flush_now(h);
		sleep_us(SHORT * 1000);
		assert_int_equal(vram_fresh(h, DATA + 4), 0);
	}
	assert_no_guest_errors(h);
}

static void dequeue_may_need_a_packet_boundary(void **state)
{
	struct host *h = host_new(&(struct vcard_options){.dequeue_needs_boundary = true});
	struct test_queue q = start(h, 0, 0, MEM);

	(void)state;
	for (int tries = 0; tries < 100; tries++) {
		clear_data(h);
		PUT(h, &q, WRITE_MEM(DATA + 8, 1), WAIT_MEM(DATA, 1), WRITE_MEM(DATA + 4, 1));
		queue_grant(h, &q);
		assert_true(wait_vram(h, DATA + 8, 1, LONG));
		if (!queue_dequeue(h, &q, 2, SHORT))
			break;
		q = start(h, 0, 0, MEM); /* it came between write and wait, which is one, too */
	}
	assert_int_equal(queue_reg(h, &q, REG_CP_HQD_ACTIVE), 1);
	vram_write(h, DATA, 1);
	hdp_flush_now(h);
	assert_true(queue_wait_reg(h, &q, REG_CP_HQD_ACTIVE, 0, LONG));
	assert_int_equal(vram_fresh(h, DATA + 4), 0); /* the boundary came before the next packet */
	host_free(h);
}

static void halted_mec_executes_nothing(void **state)
{
	struct host *h = *state;
	struct test_queue q = start(h, 0, 0, MEM);

	clear_data(h);
	reg_write(h, REG_CP_MEC_CNTL, 0x50000000);
	PUT(h, &q, WRITE_MEM(DATA, 1));
	queue_grant(h, &q);
	sleep_us(SHORT * 1000);
	assert_int_equal(vram_fresh(h, DATA), 0);
	reg_write(h, REG_CP_MEC_CNTL, 0);
	assert_true(wait_vram(h, DATA, 1, LONG));
	assert_no_guest_errors(h);
}

static void registers_of_an_active_queue_are_closed(void **state)
{
	struct host *h = *state;
	struct test_queue q = start(h, 0, 0, MEM);

	queue_select(h, &q);
	reg_write(h, REG_CP_HQD_PQ_BASE, 0x1234);
	assert_int_equal(guest_errors(h), 1);
	assert_int_not_equal(reg_read(h, REG_CP_HQD_PQ_BASE), 0x1234);
	reg_write(h, REG_CP_HQD_PQ_WPTR, 0x10000); /* beyond the ring */
	assert_int_equal(guest_errors(h), 2);
	reg_write(h, REG_CP_HQD_ACTIVE, 0);
	assert_int_equal(guest_errors(h), 3);
	assert_int_equal(reg_read(h, REG_CP_HQD_ACTIVE), 1);
}

static void activation_checks_the_queue(void **state)
{
	struct host *h = *state;
	struct test_queue q;

	queue_init(&q, 0, 0, (uint32_t)VRAM_BYTES - 0x1000); /* the ring ends outside VRAM */
	reg_write(h, REG_CP_MEC_CNTL, 0);
	queue_program(h, &q, 0);
	assert_int_equal(guest_errors(h), 1);
	assert_int_not_equal(queue_reg(h, &q, REG_CP_HQD_ERROR), 0);
	assert_true(queue_dequeue(h, &q, 2, LONG));
	q = start(h, 0, 0, MEM);
	assert_int_equal(queue_reg(h, &q, REG_CP_HQD_ERROR), 0);
}

/* Each bad stream stops its queue, says so once, and leaves the other queue working. */
static void malformed_packets_are_counted_and_contained(void **state)
{
	static const uint32_t bad[][8] = {
	        {0x00000000},                                       /* type 0: zeros fetched */
	        {PKT3(0x99, 2), 0},                                 /* unknown opcode */
	        {PKT3(PKT3_WAIT_REG_MEM, 3), 0, 0},                 /* wrong length */
	        {PKT3(PKT3_INDIRECT_BUFFER, 4), LO(IB), HI(IB), 4}, /* no VALID */
	        {PKT3(PKT3_INDIRECT_BUFFER, 4), LO(IB), HI(IB), IB_VALID},         /* size 0 */
	        {PKT3(PKT3_INDIRECT_BUFFER, 4), LO(IB) + 2, HI(IB), IB_VALID | 4}, /* unaligned */
	        {PKT3(PKT3_INDIRECT_BUFFER, 4), LO(IB), HI(IB), IB_VALID | IB_OFFLOAD_POLLING | 4},
	        {PKT3(PKT3_COND_EXEC, 5), LO(DATA), HI(DATA), 0, 1}, /* in the ring */
	        {PKT3(PKT3_RELEASE_MEM, 7), RELEASE_MEM_CACHE_FLUSH, 2u << 24 | 1u << 29, LO(DATA),
	                HI(DATA), 1, 0},
	        {PKT3(PKT3_WRITE_DATA, 5), 0x00100500, 0x1000, 0, 1}, /* host memory */
	        {PKT3(PKT3_WRITE_DATA, 5), 0x00100500, LO(VRAM_BYTES), HI(VRAM_BYTES), 1},
	        {PKT3(PKT3_WRITE_DATA, 5), 0x00100000, RX_REG_DW(REG_CP_MEC_CNTL), 0,
	                0},                                     /* a control register */
	        {PKT3(PKT3_SET_SH_REG, 3), 0x100, 0},           /* no such compute register */
	        {PKT3(PKT3_DISPATCH_DIRECT, 5), 1, 1, 1, 0x45}, /* nothing set up */
	        {PKT3(PKT3_EVENT_WRITE, 2), 0x16},              /* not modelled */
	        {PKT3(PKT3_WRITE_DATA, 200), 0},                /* longer than the grant */
	};
	struct host *h = *state;
	struct test_queue good = start(h, 1, 0, MEM2);

	clear_data(h);
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct test_queue q = start(h, 0, 0, MEM);
		uint64_t before = guest_errors(h);

		queue_put(h, &q, bad[i], 8);
		PUT(h, &q, WRITE_MEM(DATA + 4, 1));
		queue_grant(h, &q);
		queue_wait_error(h, &q);
		if (guest_errors(h) != before + 1)
			fail_msg("stream %u: %u guest errors, expected 1; the newest: %s", i,
			        (unsigned)(guest_errors(h) - before), h->last);
		assert_int_equal(vram_fresh(h, DATA + 4), 0);
		PUT(h, &good, WRITE_MEM(DATA, i + 1));
		queue_grant(h, &good);
		assert_true(wait_vram(h, DATA, i + 1, LONG));
		assert_true(queue_dequeue(h, &q, 2, LONG));
	}
}

static void soft_reset_stops_every_queue(void **state)
{
	struct host *h = *state;
	struct test_queue q = start(h, 0, 0, MEM);

	clear_data(h);
	PUT(h, &q, WAIT_MEM(DATA, 1));
	queue_grant(h, &q);
	sleep_us(SHORT * 1000);
	reg_write(h, REG_GRBM_SOFT_RESET, 0x1);
	reg_write(h, REG_GRBM_SOFT_RESET, 0);
	assert_int_equal(queue_reg(h, &q, REG_CP_HQD_ACTIVE), 0);
	assert_int_equal(reg_read(h, REG_GRBM_STATUS2), 8);
	q = start(h, 0, 0, MEM);
	PUT(h, &q, WRITE_MEM(DATA, 5));
	queue_grant(h, &q);
	assert_true(wait_vram(h, DATA, 5, LONG));
	assert_no_guest_errors(h);
}

static void card_reset_ends_waits_and_forgets(void **state)
{
	struct host *h = *state;
	struct test_queue q = start(h, 0, 0, MEM);
	uint32_t v;

	clear_data(h);
	PUT(h, &q, WAIT_MEM(DATA, 1));
	queue_grant(h, &q);
	sleep_us(SHORT * 1000);
	vcard_reset(h->card);
	assert_int_equal(mem_read(h, BAR5_AT, &v), VCARD_UR);
	host_enumerate(h);
	assert_int_equal(queue_reg(h, &q, REG_CP_HQD_ACTIVE), 0);
	assert_int_not_equal(
	        vram_fresh(h, DATA) | vram_fresh(h, DATA + 4) | vram_fresh(h, DATA + 8), 0);
	q = start(h, 0, 0, MEM);
	PUT(h, &q, WRITE_MEM(DATA, 5));
	queue_grant(h, &q);
	assert_true(wait_vram(h, DATA, 5, LONG));
}

static void free_ends_queues_that_wait(void **state)
{
	struct host *h = host_new(&(struct vcard_options){0});

	(void)state;
	clear_data(h);
	for (unsigned p = 0; p < 4; p++) {
		struct test_queue q = start(h, p, 0, MEM + p * 0x20000);

		PUT(h, &q, WAIT_MEM(DATA, 1));
		queue_grant(h, &q);
	}
	sleep_us(SHORT * 1000);
	host_free(h); /* comes back */
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, host_setup, host_teardown)
	const struct CMUnitTest tests[] = {
	        T(packets_run_and_rptr_is_reported),
	        T(ring_wraps_with_packets_across_its_end),
	        cmocka_unit_test(reactivation_with_preset_wptr_grants_work),
	        T(doorbell_grants_work),
	        T(a_waiting_queue_holds_its_pipe_only),
	        T(one_byte_of_a_word_can_be_waited_for),
	        T(dequeue_frees_a_waiting_queue),
	        cmocka_unit_test(dequeue_may_need_a_packet_boundary),
	        T(halted_mec_executes_nothing),
	        T(registers_of_an_active_queue_are_closed),
	        T(activation_checks_the_queue),
	        T(malformed_packets_are_counted_and_contained),
	        T(soft_reset_stops_every_queue),
	        T(card_reset_ends_waits_and_forgets),
	        cmocka_unit_test(free_ends_queues_that_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
