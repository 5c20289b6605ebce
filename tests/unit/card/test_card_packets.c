/* test_card_packets.c - what each packet does to memory, caches and the stream; no dispatches. */
#include "device/clock.h"
#include "tests/unit/card/helper_card.h"

#define MEM  0x100000u
#define MEM2 0x200000u
#define DATA 0x300000u
#define IB   0x310000u
#define IB2  0x320000u

struct fixture {
	struct host *h;
	struct test_queue q;
};

static int setup(void **state)
{
	static struct fixture f;

	f.h = host_new(&(struct vcard_options){0});
	queue_init(&f.q, 0, 0, MEM);
	queue_start(f.h, &f.q);
	for (uint32_t i = 0; i < 1024; i++)
		vram_write(f.h, DATA + 4 * i, 0);
	hdp_flush_now(f.h);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	host_free(((struct fixture *)*state)->h);
	return 0;
}

/* finish - grant what was put and wait until the queue is through with it. */
static void finish(struct fixture *f)
{
	static uint32_t tag = 0x7A60000;

	tag++;
	PUT(f->h, &f->q, PKT3(PKT3_SET_UCONFIG_REG, 3), 0x47, tag);
	queue_grant(f->h, &f->q);
	assert_true(queue_wait_reg(f->h, &f->q, REG_SCRATCH_REG0 + 28, tag, LONG));
	assert_true(queue_wait_reg(f->h, &f->q, REG_CP_HQD_PQ_RPTR, f->q.wptr, LONG));
}

static uint32_t data(struct fixture *f, unsigned i)
{
	return vram_fresh(f->h, DATA + 4 * i);
}

#define AT(i) (DATA + 4 * (i))
#define IB_WORDS(f, at, ...)                                                                       \
	do {                                                                                       \
		const uint32_t words_[] = {__VA_ARGS__};                                           \
		vram_fill((f)->h, at, words_, sizeof(words_) / sizeof(words_[0]));                 \
	} while (0)

static void indirect_buffer_is_called_and_returns(void **state)
{
	struct fixture *f = *state;

	IB_WORDS(f, IB, WRITE_MEM(AT(0), 1), WRITE_MEM(AT(1), 2));
	PUT(f->h, &f->q, IB_CALL(IB, 10), WRITE_MEM(AT(2), 3), IB_CALL(IB, 5));
	finish(f);
	assert_int_equal(data(f, 0), 1);
	assert_int_equal(data(f, 1), 2);
	assert_int_equal(data(f, 2), 3);
	assert_no_guest_errors(f->h);
}

static void indirect_buffer_chains_at_its_end(void **state)
{
	struct fixture *f = *state;

	IB_WORDS(f, IB, WRITE_MEM(AT(0), 1), PKT3(PKT3_INDIRECT_BUFFER, 4), LO(IB2), HI(IB2),
	        IB_VALID | IB_CHAIN | 5);
	IB_WORDS(f, IB2, WRITE_MEM(AT(1), 2));
	PUT(f->h, &f->q, IB_CALL(IB, 9), WRITE_MEM(AT(2), 3));
	finish(f);
	assert_int_equal(data(f, 0), 1);
	assert_int_equal(data(f, 1), 2);
	assert_int_equal(data(f, 2), 3);
	assert_no_guest_errors(f->h);
}

static void wrong_buffers_stop_the_queue(void **state)
{
	struct fixture *f = *state;
	static const uint32_t wrong[][9] = {
	        /* a call inside (IB2); a chain that is not last; a packet across the end */
	        {PKT3(PKT3_INDIRECT_BUFFER, 4), LO(IB2), HI(IB2), IB_VALID | 5,
	                WRITE_MEM(AT(0), 1)},
	        {PKT3(PKT3_INDIRECT_BUFFER, 4), LO(IB2), HI(IB2), IB_VALID | IB_CHAIN | 5,
	                WRITE_MEM(AT(0), 1)},
	        {PM4_FILLER, PM4_FILLER, PM4_FILLER, PM4_FILLER, PM4_FILLER,
	                PKT3(PKT3_WRITE_DATA, 5), 0x00100500, LO(AT(0)), HI(AT(0))},
	};

	for (uint32_t i = 0; i < 3; i++) {
		uint64_t before = guest_errors(f->h);

		vram_fill(f->h, IB, wrong[i], 9);
		PUT(f->h, &f->q, IB_CALL(IB, 9));
		queue_grant(f->h, &f->q);
		queue_wait_error(f->h, &f->q);
		assert_int_equal(guest_errors(f->h), before + 1);
		assert_int_equal(data(f, 0), 0);
		assert_true(queue_dequeue(f->h, &f->q, 2, LONG));
		queue_start(f->h, &f->q);
	}
}

static void cond_exec_skips_on_zero(void **state)
{
	struct fixture *f = *state;

	vram_write(f->h, AT(8), 0);
	vram_write(f->h, AT(9), 1);
	IB_WORDS(f, IB, PKT3(PKT3_COND_EXEC, 5), LO(AT(8)), HI(AT(8)), 0, 5, WRITE_MEM(AT(0), 1),
	        PKT3(PKT3_COND_EXEC, 5), LO(AT(9)), HI(AT(9)), 0, 5, WRITE_MEM(AT(1), 1),
	        WRITE_MEM(AT(2), 1));
	PUT(f->h, &f->q, IB_CALL(IB, 25));
	finish(f);
	assert_int_equal(data(f, 0), 0);
	assert_int_equal(data(f, 1), 1);
	assert_int_equal(data(f, 2), 1);
	assert_no_guest_errors(f->h);
}

static void fetched_packets_stay_as_fetched_until_rewind(void **state)
{
	struct fixture *f = *state;

	for (uint32_t rewind = 0; rewind < 2; rewind++) {
		vram_write(f->h, AT(0), 0);
		IB_WORDS(f, IB, WRITE_MEM(AT(2), 1 + rewind), WAIT_MEM(AT(0), 1), PKT3(PKT3_NOP, 2),
		        0, WRITE_MEM(AT(1), 0x01D));
		if (rewind)
			IB_WORDS(f, IB + 48, PKT3(PKT3_REWIND, 2), REWIND_VALID);
		PUT(f->h, &f->q, IB_CALL(IB, 19));
		queue_grant(f->h, &f->q);
		assert_true(wait_vram(f->h, AT(2), 1 + rewind, LONG)); /* it is fetched */
		vram_write(f->h, IB + 4 * 18, 0x2E3);                  /* the word to be written */
		hdp_flush_now(f->h);
		vram_write(f->h, AT(0), 1);
		hdp_flush_now(f->h);
		finish(f);
		assert_int_equal(data(f, 1), rewind ? 0x2E3 : 0x01D);
	}
	assert_no_guest_errors(f->h);
}

static void rewind_stalls_until_memory_says_valid(void **state)
{
	struct fixture *f = *state;

	IB_WORDS(f, IB, PKT3(PKT3_REWIND, 2), 0, WRITE_MEM(AT(0), 1));
	PUT(f->h, &f->q, IB_CALL(IB, 7));
	queue_grant(f->h, &f->q);
	sleep_us(SHORT * 1000);
	assert_int_equal(data(f, 0), 0);
	vram_write(f->h, IB + 4 * 6, 2);
	hdp_flush_now(f->h);
	vram_write(f->h, IB + 4, REWIND_VALID);
	hdp_flush_now(f->h);
	finish(f);
	assert_int_equal(data(f, 0), 2);
}

static void l2_writes_need_a_write_back(void **state)
{
	struct fixture *f = *state;

	PUT(f->h, &f->q, WRITE_L2(AT(0), 5));
	finish(f);
	assert_int_equal(data(f, 0), 0);
	PUT(f->h, &f->q, ACQUIRE(TC_WB_ACTION_ENA)); /* does nothing without TC or NC */
	finish(f);
	assert_int_equal(data(f, 0), 0);
	PUT(f->h, &f->q, ACQUIRE(ACQUIRE_L2_WRITEBACK));
	finish(f);
	assert_int_equal(data(f, 0), 5);
	assert_no_guest_errors(f->h);
	PUT(f->h, &f->q, WRITE_L2(AT(1), 6), ACQUIRE(TC_ACTION_ENA)); /* drops the dirty line */
	finish(f);
	assert_int_equal(data(f, 1), 0);
	assert_int_equal(guest_errors(f->h), 1);
}

static void a_cached_wait_never_sees_the_host(void **state)
{
	struct fixture *f = *state;

	PUT(f->h, &f->q, WRITE_L2(AT(64), 0), WRITE_MEM(AT(2), 1));
	PUT(f->h, &f->q, PKT3(PKT3_WAIT_REG_MEM, 7), WAIT_MEM_EQUAL & ~WAIT_UNCACHED, LO(AT(0)),
	        HI(AT(0)), 1, 0xFFFFFFFF, 0x20);
	PUT(f->h, &f->q, WRITE_MEM(AT(1), 1));
	queue_grant(f->h, &f->q);
	assert_true(wait_vram(f->h, AT(2), 1, LONG)); /* L2 holds the page now */
	vram_write(f->h, AT(0), 1);
	hdp_flush_now(f->h);
	sleep_us(SHORT * 1000);
	assert_int_equal(data(f, 1), 0);
	assert_true(queue_dequeue(f->h, &f->q, 2, LONG));
	queue_start(f->h, &f->q);
	PUT(f->h, &f->q, WAIT_MEM(AT(0), 1), WRITE_MEM(AT(1), 1)); /* bit 10 */
	finish(f);
	assert_int_equal(data(f, 1), 1);
	assert_no_guest_errors(f->h);
}

static void release_retires_late_and_wait_orders_it(void **state)
{
	struct fixture *f = *state;

	PUT(f->h, &f->q, RELEASE(AT(0), 1));
	/* what a packet right behind it sees: the old fence */
	PUT(f->h, &f->q, PKT3(PKT3_COPY_DATA, 6), 0x00100501, LO(AT(0)), HI(AT(0)), LO(AT(1)),
	        HI(AT(1)));
	PUT(f->h, &f->q, WAIT_MEM(AT(0), 1));
	PUT(f->h, &f->q, PKT3(PKT3_COPY_DATA, 6), 0x00100501, LO(AT(0)), HI(AT(0)), LO(AT(2)),
	        HI(AT(2)));
	vram_write(f->h, AT(1), 0xFF);
	finish(f);
	assert_int_equal(data(f, 0), 1);
	assert_int_equal(data(f, 1), 0);
	assert_int_equal(data(f, 2), 1);
	PUT(f->h, &f->q,
	        RELEASE(AT(3), 7)); /* and without a wait it comes when the queue runs dry */
	finish(f);
	assert_true(wait_vram(f->h, AT(3), 7, LONG));
	assert_no_guest_errors(f->h);
}

static void release_writes_l2_back(void **state)
{
	struct fixture *f = *state;

	PUT(f->h, &f->q, WRITE_L2(AT(0), 5), RELEASE(AT(1), 1), WAIT_MEM(AT(1), 1));
	finish(f);
	assert_int_equal(data(f, 0), 5);
	assert_no_guest_errors(f->h);
}

static void release_can_write_64_bits_and_the_clock(void **state)
{
	struct fixture *f = *state;
	uint64_t clock;

	PUT(f->h, &f->q, PKT3(PKT3_RELEASE_MEM, 7), RELEASE_MEM_CACHE_FLUSH, RELEASE_MEM_WRITE_64,
	        LO(AT(2)), HI(AT(2)), 0x11, 0x22);
	PUT(f->h, &f->q, PKT3(PKT3_RELEASE_MEM, 7), RELEASE_MEM_CACHE_FLUSH,
	        RELEASE_MEM_WRITE_CLOCK, LO(AT(4)), HI(AT(4)), 0, 0);
	PUT(f->h, &f->q, PKT3(PKT3_COPY_DATA, 6), 0x00110509, 0, 0, LO(AT(6)), HI(AT(6)));
	finish(f);
	assert_true(wait_vram(f->h, AT(3), 0x22, LONG));
	assert_int_equal(data(f, 2), 0x11);
	reg_write(f->h, REG_RLC_CAPTURE_GPU_CLOCK_COUNT, 1); /* time stands still */
	clock = reg_read(f->h, REG_RLC_GPU_CLOCK_COUNT_LSB) |
	        (uint64_t)reg_read(f->h, REG_RLC_GPU_CLOCK_COUNT_MSB) << 32;
	assert_true(wait_vram(f->h, AT(5), (uint32_t)(clock >> 32), LONG));
	assert_int_equal(data(f, 4) | (uint64_t)data(f, 5) << 32, clock);
	assert_int_equal(data(f, 6) | (uint64_t)data(f, 7) << 32, clock);
	assert_no_guest_errors(f->h);
}

static void card_flushes_hdp_itself(void **state)
{
	struct fixture *f = *state;

	PUT(f->h, &f->q, PKT3(PKT3_WAIT_REG_MEM, 7), WAIT_EQUAL, RX_REG_DW(REG_SCRATCH_REG0), 0, 1,
	        0xFFFFFFFF, 0x20);
	PUT(f->h, &f->q, PKT3(PKT3_WAIT_REG_MEM, 7), WAIT_HDP_FLUSH,
	        RX_REG_DW(REG_GPU_HDP_FLUSH_REQ), RX_REG_DW(REG_GPU_HDP_FLUSH_DONE), 4, 4, 0x20);
	PUT(f->h, &f->q, PKT3(PKT3_COPY_DATA, 6), 0x00100501, LO(AT(16)), HI(AT(16)), LO(AT(32)),
	        HI(AT(32)));
	queue_grant(f->h, &f->q);
	vram_write(f->h, AT(16), 0xBEEF);
	reg_write(f->h, REG_SCRATCH_REG0, 1);
	assert_true(queue_wait_reg(f->h, &f->q, REG_CP_HQD_PQ_RPTR, f->q.wptr, LONG));
	assert_int_equal(data(f, 32), 0xBEEF);
	assert_no_guest_errors(f->h);
}

static void stream_drops_the_hdp_read_cache(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(data(f, 0), 0);
	PUT(f->h, &f->q, WRITE_MEM(AT(0), 9), WRITE_REG(REG_HDP_DEBUG0, 1));
	finish(f);
	assert_int_equal(vram_read(f->h, AT(0)), 9); /* no invalidate by the host */
	assert_no_guest_errors(f->h);
}

static void copies_and_atomics_use_the_view_they_name(void **state)
{
	struct fixture *f = *state;

	PUT(f->h, &f->q, WRITE_L2(AT(0), 40));
	PUT(f->h, &f->q, PKT3(PKT3_COPY_DATA, 6), 0x00100501, LO(AT(0)), HI(AT(0)), LO(AT(256)),
	        HI(AT(256))); /* memory */
	PUT(f->h, &f->q, PKT3(PKT3_COPY_DATA, 6), 0x00100502, LO(AT(0)), HI(AT(0)), LO(AT(257)),
	        HI(AT(257))); /* L2 */
	PUT(f->h, &f->q, PKT3(PKT3_ATOMIC_MEM, 9), TC_OP_ATOMIC_ADD_RTN_32, LO(AT(0)), HI(AT(0)), 2,
	        0, 0, 0, 0);
	PUT(f->h, &f->q, PKT3(PKT3_COPY_DATA, 6), 0x00100506, 0, 0, LO(AT(258)),
	        HI(AT(258))); /* atomic's old value */
	finish(f);
	assert_int_equal(data(f, 256), 0);
	assert_int_equal(data(f, 257), 40);
	assert_int_equal(data(f, 258), 40);
	assert_int_equal(data(f, 0), 0); /* the sum is in L2 */
	PUT(f->h, &f->q, ACQUIRE(ACQUIRE_DATA));
	finish(f);
	assert_int_equal(data(f, 0), 42);
	assert_no_guest_errors(f->h);
}

static void cond_write_writes_when_true(void **state)
{
	struct fixture *f = *state;
	const uint32_t to_memory = WAIT_EQUAL | COND_WRITE_POLL_MEMORY | 1u << COND_WRITE_DST_SHIFT;

	vram_write(f->h, AT(0), 0x1205);
	PUT(f->h, &f->q, PKT3(PKT3_COND_WRITE, 9), to_memory, LO(AT(0)), HI(AT(0)), 5, 0xFF,
	        LO(AT(1)), HI(AT(1)), 1);
	PUT(f->h, &f->q, PKT3(PKT3_COND_WRITE, 9), to_memory, LO(AT(0)), HI(AT(0)), 6, 0xFF,
	        LO(AT(2)), HI(AT(2)), 1);
	finish(f);
	assert_int_equal(data(f, 1), 1);
	assert_int_equal(data(f, 2), 0);
	assert_no_guest_errors(f->h);
}

static void dma_without_sync_finishes_late(void **state)
{
	struct fixture *f = *state;
	const uint32_t fill = DMA_DATA_SEL_DATA << DMA_DATA_SRC_SEL_SHIFT;

	PUT(f->h, &f->q, PKT3(PKT3_DMA_DATA, 7), fill, 0xF111, 0, LO(AT(16)), HI(AT(16)), 64);
	PUT(f->h, &f->q, PKT3(PKT3_COPY_DATA, 6), 0x00100501, LO(AT(16)), HI(AT(16)), LO(AT(1)),
	        HI(AT(1)));
	PUT(f->h, &f->q, PKT3(PKT3_DMA_DATA, 7), DMA_DATA_CP_SYNC, LO(AT(16)), HI(AT(16)),
	        LO(AT(64)), HI(AT(64)), 32);
	PUT(f->h, &f->q, PKT3(PKT3_COPY_DATA, 6), 0x00100501, LO(AT(71)), HI(AT(71)), LO(AT(2)),
	        HI(AT(2)));
	finish(f);
	assert_int_equal(data(f, 1), 0);
	assert_int_equal(data(f, 2), 0xF111);
	assert_int_equal(data(f, 31), 0xF111);
	assert_int_equal(data(f, 32), 0);
	assert_int_equal(data(f, 72), 0);
	assert_no_guest_errors(f->h);
}

static void acquire_of_a_range_is_refused(void **state)
{
	struct fixture *f = *state;

	PUT(f->h, &f->q, PKT3(PKT3_ACQUIRE_MEM, 7), ACQUIRE_DATA, 16, 0, 0x1000, 0, 0xA);
	queue_grant(f->h, &f->q);
	queue_wait_error(f->h, &f->q);
	assert_int_equal(guest_errors(f->h), 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
	        T(indirect_buffer_is_called_and_returns),
	        T(indirect_buffer_chains_at_its_end),
	        T(wrong_buffers_stop_the_queue),
	        T(cond_exec_skips_on_zero),
	        T(fetched_packets_stay_as_fetched_until_rewind),
	        T(rewind_stalls_until_memory_says_valid),
	        T(l2_writes_need_a_write_back),
	        T(a_cached_wait_never_sees_the_host),
	        T(release_retires_late_and_wait_orders_it),
	        T(release_writes_l2_back),
	        T(release_can_write_64_bits_and_the_clock),
	        T(card_flushes_hdp_itself),
	        T(stream_drops_the_hdp_read_cache),
	        T(copies_and_atomics_use_the_view_they_name),
	        T(cond_write_writes_when_true),
	        T(dma_without_sync_finishes_late),
	        T(acquire_of_a_range_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
