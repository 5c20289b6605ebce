/* test_card_mmio.c - registers, banks, windows, and the host data path's staleness. */
#include "tests/unit/card/helper_card.h"

static void posted_state_reads_as_specified(void **state)
{
	struct host *h = *state;

	assert_int_equal(reg_read(h, REG_BIOS_SCRATCH_7) & 0x200, 0x200);
	assert_int_equal(reg_read(h, REG_MC_VM_FB_LOCATION), 0xF403F400); /* 64 MiB */
	assert_int_equal(reg_read(h, REG_MC_SEQ_MISC0), 0x50000080);
	assert_int_equal(reg_read(h, REG_BIF_FB_EN), 3);
	assert_int_equal(reg_read(h, REG_GRBM_STATUS), 0);
	assert_int_equal(reg_read(h, REG_GRBM_STATUS2), 8);
	assert_int_equal(reg_read(h, REG_GB_ADDR_CONFIG), 0x22011003);
	assert_no_guest_errors(h);
}

static void default_card_has_8_gib(void **state)
{
	struct host *h = host_new(&(struct vcard_options){.vram_bytes = 8ull << 30});

	(void)state;
	assert_int_equal(reg_read(h, REG_CONFIG_MEMSIZE), 0x2000);
	assert_int_equal(reg_read(h, REG_MC_VM_FB_LOCATION), 0xF5FFF400);
	host_free(h);
}

static void undefined_register_is_a_counted_error_and_reads_0(void **state)
{
	struct host *h = *state;

	assert_int_equal(reg_read(h, 0x3FFFC), 0);
	assert_int_equal(reg_read(h, 0x3FFFC), 0);
	reg_write(h, 0x3FFFC, 1);
	assert_int_equal(guest_errors(h), 3);
	assert_int_equal(h->errors, 1); /* said once */
	reg_write(h, REG_GRBM_STATUS, 0);
	assert_int_equal(guest_errors(h), 4);
}

static void registers_want_whole_dwords(void **state)
{
	struct host *h = *state;

	reg_write(h, REG_SCRATCH_REG0, 0x11223344);
	assert_int_equal(mem_write(h, BAR5_AT + REG_SCRATCH_REG0, 0xFF, 0x1), VCARD_SC);
	assert_int_equal(guest_errors(h), 1);
	assert_int_equal(reg_read(h, REG_SCRATCH_REG0), 0x11223344);
	assert_int_equal(mem_write(h, BAR5_AT + REG_SCRATCH_REG0, 0, 0), VCARD_SC); /* PCIe flush */
	assert_int_equal(guest_errors(h), 1);
}

static void queue_registers_are_banked(void **state)
{
	struct host *h = *state;
	struct test_queue a, b;

	queue_init(&a, 0, 0, 0);
	queue_init(&b, 2, 5, 0);
	queue_select(h, &a);
	reg_write(h, REG_CP_HQD_PQ_BASE, 0x111);
	queue_select(h, &b);
	assert_int_equal(reg_read(h, REG_CP_HQD_PQ_BASE), 0);
	reg_write(h, REG_CP_HQD_PQ_BASE, 0x222);
	queue_select(h, &a);
	assert_int_equal(reg_read(h, REG_CP_HQD_PQ_BASE), 0x111);
	assert_no_guest_errors(h);
	queue_select(h, NULL);
	assert_int_equal(reg_read(h, REG_CP_HQD_PQ_BASE), 0); /* MEID 0 has no such queue */
	assert_int_equal(guest_errors(h), 1);
}

static void sh_mem_is_banked_by_vmid(void **state)
{
	struct host *h = *state;

	for (uint32_t vmid = 0; vmid < 16; vmid++) {
		reg_write(h, REG_SRBM_GFX_CNTL, vmid << 4);
		reg_write(h, REG_SH_MEM_CONFIG, 0x300 + vmid);
		reg_write(h, REG_SH_HIDDEN_PRIVATE_BASE_VMID, vmid);
	}
	for (uint32_t vmid = 0; vmid < 16; vmid++) {
		reg_write(h, REG_SRBM_GFX_CNTL, vmid << 4);
		assert_int_equal(reg_read(h, REG_SH_MEM_CONFIG), 0x300 + vmid);
		assert_int_equal(reg_read(h, REG_SH_HIDDEN_PRIVATE_BASE_VMID), vmid);
	}
	assert_no_guest_errors(h);
}

static void there_are_36_compute_units(void **state)
{
	struct host *h = *state;
	unsigned cus = 0;

	for (uint32_t se = 0; se < 4; se++) {
		uint32_t off;

		reg_write(h, REG_GRBM_GFX_INDEX, se << 16 | 0x40000000);
		off = (reg_read(h, REG_CC_GC_SHADER_ARRAY_CONFIG) |
		              reg_read(h, REG_GC_USER_SHADER_ARRAY_CONFIG)) >>
		      16;
		cus += (unsigned)__builtin_popcount(~off & 0x1FF);
	}
	assert_int_equal(cus, 36);
}

static void clock_counts_25_mhz(void **state)
{
	struct host *h = *state;
	uint64_t c0, c1;

	reg_write(h, REG_RLC_CAPTURE_GPU_CLOCK_COUNT, 1);
	c0 = reg_read(h, REG_RLC_GPU_CLOCK_COUNT_LSB) |
	     (uint64_t)reg_read(h, REG_RLC_GPU_CLOCK_COUNT_MSB) << 32;
	vcard_advance(h->card, 20);
	assert_int_equal(reg_read(h, REG_RLC_GPU_CLOCK_COUNT_LSB), (uint32_t)c0); /* latched */
	reg_write(h, REG_RLC_CAPTURE_GPU_CLOCK_COUNT, 1);
	c1 = reg_read(h, REG_RLC_GPU_CLOCK_COUNT_LSB) |
	     (uint64_t)reg_read(h, REG_RLC_GPU_CLOCK_COUNT_MSB) << 32;
	assert_int_equal(c1 - c0, 500000); /* 20 ms */
}

static void tlb_and_fault_registers_answer(void **state)
{
	struct host *h = *state;

	reg_write(h, REG_VM_INVALIDATE_REQUEST, 1);
	assert_int_equal(reg_read(h, REG_VM_INVALIDATE_RESPONSE), 1);
	reg_write(h, REG_GPU_HDP_FLUSH_REQ, 4);
	assert_int_equal(reg_read(h, REG_GPU_HDP_FLUSH_DONE) & 4, 4);
	reg_write(h, REG_RLC_SAFE_MODE, 3);
	assert_int_equal(reg_read(h, REG_RLC_SAFE_MODE) & 1, 0);
	for (uint32_t i = 0; i < 32; i++)
		for (uint32_t j = 0; j < 5; j++)
			reg_write(h, REG_HDP_SURFACE_FIRST + 0x18 * i + 4 * j, 0);
	assert_no_guest_errors(h);
}

static void mm_window_reaches_vram_and_registers(void **state)
{
	struct host *h = host_new(&(struct vcard_options){.vram_bytes = 8ull << 30});
	const uint64_t high = (7ull << 30) + 0x1234560;

	(void)state;
	for (int i = 0; i < 2; i++) {
		reg_write(h, REG_MM_INDEX, (uint32_t)(high & 0x7FFFFFFF) | 0x80000000);
		reg_write(h, REG_MM_INDEX_HI, (uint32_t)(high >> 31));
		if (i == 0)
			reg_write(h, REG_MM_DATA, 0xCAFE0001);
		hdp_flush_now(h);
		hdp_drop(h);
	}
	assert_int_equal(reg_read(h, REG_MM_DATA), 0xCAFE0001);
	reg_write(h, REG_MM_INDEX, 0x80000040);
	reg_write(h, REG_MM_INDEX_HI, 0);
	vram_write(h, 0x40, 77);
	assert_int_equal(reg_read(h, REG_MM_DATA), 77);
	reg_write(h, REG_MM_INDEX, REG_SCRATCH_REG0);
	reg_write(h, REG_MM_DATA, 0x99);
	assert_int_equal(reg_read(h, REG_SCRATCH_REG0), 0x99);
	assert_no_guest_errors(h);
	host_free(h);
}

static void fb_enable_gates_bar0(void **state)
{
	struct host *h = *state;

	vram_write(h, 0, 1);
	hdp_flush_now(h);
	reg_write(h, REG_BIF_FB_EN, 0);
	assert_int_equal(vram_read(h, 0), 0xFFFFFFFF);
	vram_write(h, 0, 2);
	assert_int_equal(guest_errors(h), 2);
	reg_write(h, REG_BIF_FB_EN, 3);
	assert_int_equal(vram_read(h, 0), 1);
}

static void byte_writes_merge(void **state)
{
	struct host *h = *state;

	vram_write(h, 0x100, 0x44332211);
	assert_int_equal(mem_write(h, BAR0_AT + 0x100, 0xAA0000, 0x4), VCARD_SC);
	hdp_flush_now(h);
	assert_int_equal(vram_fresh(h, 0x100), 0x44AA2211);
}

/* The card copies the word at 0x2000 into SCRATCH_REG0; the packet is already in memory, only the
 * grant is new. */
static uint32_t let_card_copy(struct host *h, struct test_queue *q)
{
	q->wptr += 6;
	queue_select(h, q);
	reg_write(h, REG_CP_HQD_PQ_WPTR, q->wptr);
	queue_select(h, NULL);
	assert_true(queue_wait_reg(h, q, REG_CP_HQD_PQ_RPTR, q->wptr, LONG));
	return reg_read(h, REG_SCRATCH_REG0);
}

static void host_writes_wait_in_hdp_for_a_flush(void **state)
{
	struct host *h = *state;
	struct test_queue q;

	queue_init(&q, 0, 0, 0x100000);
	queue_start(h, &q);
	vram_write(h, 0x2000, 1);
	for (int i = 0; i < 2; i++)
		PUT(h, &q, PKT3(PKT3_COPY_DATA, 6), 0x00100001, LO(0x2000), HI(0x2000),
		        RX_REG_DW(REG_SCRATCH_REG0), 0);
	hdp_flush_now(h);
	vram_write(h, 0x2000, 2);                  /* not flushed */
	assert_int_equal(vram_read(h, 0x2000), 2); /* the host sees its own */
	q.wptr = 0;
	assert_int_equal(let_card_copy(h, &q), 1);
	hdp_flush_now(h);
	assert_int_equal(let_card_copy(h, &q), 2);
	assert_no_guest_errors(h);
}

static void host_reads_stay_stale_until_invalidated(void **state)
{
	struct host *h = *state;
	struct test_queue q;

	queue_init(&q, 0, 0, 0x100000);
	queue_start(h, &q);
	vram_write(h, 0x2000, 1);
	vram_write(h, 0x3000, 0);
	hdp_flush_now(h);
	assert_int_equal(vram_fresh(h, 0x2000), 1);
	PUT(h, &q, WRITE_MEM(0x2000, 5));
	PUT(h, &q, PKT3(PKT3_SET_UCONFIG_REG, 3), 0x40, 0xD05E);
	queue_grant(h, &q);
	assert_true(queue_wait_reg(h, &q, REG_SCRATCH_REG0, 0xD05E, LONG));
	assert_int_equal(vram_read(h, 0x2000), 1); /* from the read cache */
	vram_write(h, 0x2004, 9); /* same line: own write is seen, the rest stays stale */
	assert_int_equal(vram_read(h, 0x2004), 9);
	assert_int_equal(vram_read(h, 0x2000), 1);
	assert_int_equal(vram_fresh(h, 0x2000), 5);
	assert_no_guest_errors(h);
}

static void fresh_vram_is_not_zero(void **state)
{
	struct host *h = *state;
	unsigned zero = 0;

	for (uint32_t i = 0; i < 64; i++)
		zero += vram_read(h, 0x200000 + 4 * i) == 0;
	assert_in_range(zero, 0, 8);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, host_setup, host_teardown)
	const struct CMUnitTest tests[] = {
	        T(posted_state_reads_as_specified),
	        cmocka_unit_test(default_card_has_8_gib),
	        T(undefined_register_is_a_counted_error_and_reads_0),
	        T(registers_want_whole_dwords),
	        T(queue_registers_are_banked),
	        T(sh_mem_is_banked_by_vmid),
	        T(there_are_36_compute_units),
	        T(clock_counts_25_mhz),
	        T(tlb_and_fault_registers_answer),
	        cmocka_unit_test(mm_window_reaches_vram_and_registers),
	        T(fb_enable_gates_bar0),
	        T(byte_writes_merge),
	        T(host_writes_wait_in_hdp_for_a_flush),
	        T(host_reads_stay_stale_until_invalidated),
	        T(fresh_vram_is_not_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
