/* test_card_dispatch.c - gfx803 code run by the card: results, cache staleness, overlap, faults,
 * hung kernels. The kernels are a few words of machine code each, assembled with llvm-mc
 * -mcpu=gfx803.
 */
#include "device/clock.h"
#include "tests/unit/card/helper_card.h"

#define MEM  0x100000u
#define MEM2 0x200000u
#define DATA 0x300000u
#define CODE 0x400000u

/* s[0:1] out, s2 value, s3 workgroup: out[64 * group + lane] = value + lane */
static const uint32_t store_kernel[] = {
        0x7E020203,             /* v_mov_b32 v1, s3 */
        0x24020286,             /* v_lshlrev_b32 v1, 6, v1 */
        0x32020300,             /* v_add_u32 v1, vcc, v0, v1 */
        0x24020282,             /* v_lshlrev_b32 v1, 2, v1 */
        0x7E060201,             /* v_mov_b32 v3, s1 */
        0x32040200,             /* v_add_u32 v2, vcc, s0, v1 */
        0x38060680,             /* v_addc_u32 v3, vcc, 0, v3, vcc */
        0x32080002,             /* v_add_u32 v4, vcc, s2, v0 */
        0xDC700000, 0x00000402, /* flat_store_dword v[2:3], v4 */
        0xBF8C0F70,             /* s_waitcnt vmcnt(0) */
        0xBF810000,             /* s_endpgm */
};

/* s[0:1] in, s[2:3] out: out[0] = vector load of in, out[1] = scalar load of in */
static const uint32_t copy_kernel[] = {
        0x7E040200,             /* v_mov_b32 v2, s0 */
        0x7E060201,             /* v_mov_b32 v3, s1 */
        0xDC500000, 0x04000002, /* flat_load_dword v4, v[2:3] */
        0xC0020100, 0x00000000, /* s_load_dword s4, s[0:1], 0x0 */
        0xBF8C0070,             /* s_waitcnt vmcnt(0) lgkmcnt(0) */
        0x7E040202,             /* v_mov_b32 v2, s2 */
        0x7E060203,             /* v_mov_b32 v3, s3 */
        0x7E0A0204,             /* v_mov_b32 v5, s4 */
        0xDC740000, 0x00000402, /* flat_store_dwordx2 v[2:3], v[4:5] */
        0xBF8C0F70,             /* s_waitcnt vmcnt(0) */
        0xBF810000,             /* s_endpgm */
};

/* s[0:1] flag, s[2:3] out, s4 value: wait until flag != 0 in L2, then store */
static const uint32_t spin_kernel[] = {
        0x7E040200,             /* v_mov_b32 v2, s0 */
        0x7E060201,             /* v_mov_b32 v3, s1 */
        0xE0FC0000, 0x00000000, /* again: buffer_wbinvl1_vol */
        0xDC510000, 0x04000002, /* flat_load_dword v4, v[2:3] glc */
        0xBF8C0070,             /* s_waitcnt vmcnt(0) lgkmcnt(0) */
        0x7E0A0504,             /* v_readfirstlane_b32 s5, v4 */
        0xBF068005,             /* s_cmp_eq_u32 s5, 0 */
        0xBF85FFF8,             /* s_cbranch_scc1 again */
        0x7E040202,             /* v_mov_b32 v2, s2 */
        0x7E060203,             /* v_mov_b32 v3, s3 */
        0x7E080204,             /* v_mov_b32 v4, s4 */
        0xDC700000, 0x00000402, /* flat_store_dword v[2:3], v4 */
        0xBF8C0F70,             /* s_waitcnt vmcnt(0) */
        0xBF810000,             /* s_endpgm */
};

static const uint32_t endless_kernel[] = {
        0xBF800000, /* s_nop 0 */
        0xBF82FFFE, /* s_branch -2 */
};

/* a store to address 0x1000, which is nobody's */
static const uint32_t stray_kernel[] = {
        0x7E0402FF, 0x00001000, /* v_mov_b32 v2, 0x1000 */
        0x7E060280,             /* v_mov_b32 v3, 0 */
        0xDC700000, 0x00000202, /* flat_store_dword v[2:3], v2 */
        0xBF8C0F70,             /* s_waitcnt vmcnt(0) */
        0xBF810000,             /* s_endpgm */
};

static const struct {
	const uint32_t *words;
	unsigned count;
} kernels[] = {
#define K(a) {a, sizeof(a) / 4}
        K(store_kernel),
        K(copy_kernel),
        K(spin_kernel),
        K(endless_kernel),
        K(stray_kernel),
#undef K
};
enum { STORE, COPY, SPIN, ENDLESS, STRAY };

#define AT(i) (DATA + 4 * (i))

struct fixture {
	struct host *h;
	struct test_queue q;
};

/* set_state - COMPUTE_* registers that stay the same for all kernels here. */
static void set_state(struct host *h, struct test_queue *q)
{
	PUT(h, q, PKT3(PKT3_SET_SH_REG, 5), SH_COMPUTE_START_X, 0, 0, 0);
	PUT(h, q, PKT3(PKT3_SET_SH_REG, 13), SH_COMPUTE_RESOURCE_LIMITS, 0, 0xFFFFFFFF, 0xFFFFFFFF,
	        0, 0xFFFFFFFF, 0xFFFFFFFF, 0, 0, 0, 0, 0);
	/* RSRC1: 8 VGPRs, 16 SGPRs, denormals for 16/64; RSRC2: 5 user SGPRs (polaris.md 9.1) */
	PUT(h, q, PKT3(PKT3_SET_SH_REG, 4), SH_COMPUTE_PGM_RSRC1, 0x000C0041, 5u << 1);
	PUT(h, q, PKT3(PKT3_SET_SH_REG, 5), SH_COMPUTE_NUM_THREAD_X, 64, 1, 1);
}

static void set_kernel(struct host *h, struct test_queue *q, unsigned kernel)
{
	uint64_t pgm = FB_BASE + CODE + kernel * 0x1000;

	PUT(h, q, PKT3(PKT3_SET_SH_REG, 4), SH_COMPUTE_PGM_LO, (uint32_t)(pgm >> 8),
	        (uint32_t)(pgm >> 40));
	if (kernel == STORE) /* three user SGPRs and the workgroup id */
		PUT(h, q, PKT3(PKT3_SET_SH_REG, 3), SH_COMPUTE_PGM_RSRC2, 3u << 1 | 1u << 7);
	else
		PUT(h, q, PKT3(PKT3_SET_SH_REG, 3), SH_COMPUTE_PGM_RSRC2, 5u << 1);
}

#define USER_DATA(n, ...) PKT3(PKT3_SET_SH_REG, 2 + (n)), SH_COMPUTE_USER_DATA_0, __VA_ARGS__
#define DISPATCH(x)       PKT3(PKT3_DISPATCH_DIRECT, 5), (x), 1, 1, DISPATCH_INITIATOR_PAL

static int setup_threads(void **state, unsigned threads)
{
	static struct fixture f;

	f.h = host_new(&(struct vcard_options){.threads = threads});
	reg_write(f.h, REG_SH_MEM_CONFIG, 0x338); /* polaris.md 6.2 */
	reg_write(f.h, REG_SH_MEM_BASES, 0x20002000);
	queue_init(&f.q, 0, 0, MEM);
	queue_start(f.h, &f.q);
	for (uint32_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++)
		vram_fill(f.h, CODE + k * 0x1000, kernels[k].words, kernels[k].count);
	for (uint32_t i = 0; i < 4096; i++)
		vram_write(f.h, AT(i), 0);
	hdp_flush_now(f.h);
	PUT(f.h, &f.q, ACQUIRE(ACQUIRE_DATA_CODE));
	set_state(f.h, &f.q);
	*state = &f;
	return 0;
}

static int setup(void **state)
{
	return setup_threads(state, 2);
}

static int setup_one_worker(void **state)
{
	return setup_threads(state, 1);
}

static int teardown(void **state)
{
	host_free(((struct fixture *)*state)->h);
	return 0;
}

/* finish - wait until everything ended. L2 is written back but keeps its pages, other caches stay
 * as they are. */
static void finish(struct fixture *f)
{
	static uint32_t fence = 0x100;

	fence++;
	PUT(f->h, &f->q, CS_FLUSH, ACQUIRE(ACQUIRE_L2_WRITEBACK), WRITE_MEM(AT(4095), fence));
	queue_grant(f->h, &f->q);
	if (!wait_vram(f->h, AT(4095), fence, LONG))
		fail_msg("not finished; the newest guest error: %s", f->h->last);
}

static uint32_t data(struct fixture *f, unsigned i)
{
	return vram_fresh(f->h, AT(i));
}

static void put_store(struct fixture *f, unsigned at, uint32_t value, uint32_t groups)
{
	set_kernel(f->h, &f->q, STORE);
	PUT(f->h, &f->q, USER_DATA(3, LO(AT(at)), HI(AT(at)), value));
	PUT(f->h, &f->q, DISPATCH(groups));
}

static void put_copy(struct fixture *f, unsigned from, unsigned to)
{
	set_kernel(f->h, &f->q, COPY);
	PUT(f->h, &f->q, USER_DATA(4, LO(AT(from)), HI(AT(from)), LO(AT(to)), HI(AT(to))));
	PUT(f->h, &f->q, PKT3(PKT3_SET_SH_REG, 3), SH_COMPUTE_NUM_THREAD_X, 1);
	PUT(f->h, &f->q, DISPATCH(1));
	PUT(f->h, &f->q, PKT3(PKT3_SET_SH_REG, 3), SH_COMPUTE_NUM_THREAD_X, 64);
}

static void a_kernel_writes_its_grid(void **state)
{
	struct fixture *f = *state;
	struct vcard_stats s;

	put_store(f, 0, 1000, 8);
	finish(f);
	for (uint32_t i = 0; i < 512; i++)
		assert_int_equal(data(f, i), 1000 + i % 64);
	assert_int_equal(data(f, 512), 0);
	vcard_read_stats(f->h->card, &s);
	assert_int_equal(s.dispatches, 1);
	assert_true(s.instructions >= 8 * 11);
	assert_no_guest_errors(f->h);
}

static void results_stay_in_l2_without_a_write_back(void **state)
{
	struct fixture *f = *state;

	put_store(f, 0, 1000, 1);
	PUT(f->h, &f->q, CS_FLUSH, WRITE_MEM(AT(4000), 1));
	queue_grant(f->h, &f->q);
	assert_true(wait_vram(f->h, AT(4000), 1, LONG));
	assert_int_equal(data(f, 5), 0);
	PUT(f->h, &f->q, ACQUIRE(ACQUIRE_L2_WRITEBACK), WRITE_MEM(AT(4000), 2));
	queue_grant(f->h, &f->q);
	assert_true(wait_vram(f->h, AT(4000), 2, LONG));
	assert_int_equal(data(f, 5), 1005);
	assert_no_guest_errors(f->h);
}

static void caches_stay_stale_without_an_invalidate(void **state)
{
	struct fixture *f = *state;

	vram_write(f->h, AT(0), 1);
	put_copy(f, 0, 1024);
	finish(f);
	assert_int_equal(data(f, 1024), 1);
	assert_int_equal(data(f, 1025), 1);
	/* the host changes it; L2 and the first-level caches still hold the page */
	vram_write(f->h, AT(0), 2);
	PUT(f->h, &f->q, ACQUIRE(ACQUIRE_L1_K)); /* not L2 */
	put_copy(f, 0, 1024);
	finish(f);
	assert_int_equal(data(f, 1024), 1);
	PUT(f->h, &f->q, ACQUIRE(ACQUIRE_DATA));
	put_copy(f, 0, 1024);
	finish(f);
	assert_int_equal(data(f, 1024), 2);
	assert_int_equal(data(f, 1025), 2);
	assert_no_guest_errors(f->h);
}

static void new_code_needs_an_icache_invalidate(void **state)
{
	struct fixture *f = *state;

	put_store(f, 0, 1000, 1);
	finish(f);
	vram_write(f->h, CODE, 0xBF810000); /* now s_endpgm at once */
	PUT(f->h, &f->q, ACQUIRE(ACQUIRE_DATA));
	put_store(f, 0, 2000, 1);
	finish(f);
	assert_int_equal(data(f, 0), 2000); /* the old code ran */
	PUT(f->h, &f->q, ACQUIRE(ACQUIRE_DATA_CODE));
	put_store(f, 0, 3000, 1);
	finish(f);
	assert_int_equal(data(f, 0), 2000);
	assert_no_guest_errors(f->h);
}

static void zero_sized_dispatches_do_nothing(void **state)
{
	struct fixture *f = *state;

	vram_write(f->h, AT(2000), 0);
	vram_write(f->h, AT(2001), 1);
	vram_write(f->h, AT(2002), 1);
	put_store(f, 0, 1000, 0);
	PUT(f->h, &f->q, PKT3(PKT3_DISPATCH_INDIRECT, 4), LO(AT(2000)), HI(AT(2000)),
	        DISPATCH_INITIATOR_PAL);
	finish(f);
	assert_int_equal(data(f, 0), 0);
	vram_write(f->h, AT(2000), 2);
	PUT(f->h, &f->q, PKT3(PKT3_DISPATCH_INDIRECT, 4), LO(AT(2000)), HI(AT(2000)),
	        DISPATCH_INITIATOR_PAL);
	finish(f);
	assert_int_equal(data(f, 0), 1000);
	assert_int_equal(data(f, 127), 1063);
	assert_int_equal(data(f, 128), 0);
	assert_no_guest_errors(f->h);
}

static void indirect_arguments_bypass_l2(void **state)
{
	struct fixture *f = *state;

	/* the counts are written by a kernel: (1000, 1001, 1002) would be huge; memory still holds
	 * (1, 1, 1) */
	for (uint32_t i = 0; i < 3; i++)
		vram_write(f->h, AT(2048 + i), 1);
	put_store(f, 2048, 1000, 1);
	PUT(f->h, &f->q, CS_FLUSH, ACQUIRE(ACQUIRE_L1_K));
	PUT(f->h, &f->q, USER_DATA(3, LO(AT(0)), HI(AT(0)), 5));
	PUT(f->h, &f->q, PKT3(PKT3_DISPATCH_INDIRECT, 4), LO(AT(2048)), HI(AT(2048)),
	        DISPATCH_INITIATOR_PAL);
	finish(f);
	assert_int_equal(data(f, 0), 5);
	assert_int_equal(data(f, 64), 0);
	assert_no_guest_errors(f->h);
}

/* The fence waits for the kernel, a WRITE_DATA behind it does not; CS_PARTIAL_FLUSH does. */
static void fences_wait_for_waves_and_plain_writes_do_not(void **state)
{
	struct fixture *f = *state;
	struct test_queue other;

	queue_init(&other, 1, 0, MEM2);
	queue_start(f->h, &other);
	set_kernel(f->h, &f->q, SPIN);
	PUT(f->h, &f->q, PKT3(PKT3_SET_SH_REG, 3), SH_COMPUTE_NUM_THREAD_X, 1);
	PUT(f->h, &f->q, USER_DATA(5, LO(AT(0)), HI(AT(0)), LO(AT(1024)), HI(AT(1024)), 77),
	        DISPATCH(1));
	PUT(f->h, &f->q, RELEASE(AT(2000), 1), WRITE_MEM(AT(2001), 1), CS_FLUSH,
	        WRITE_MEM(AT(2002), 1));
	queue_grant(f->h, &f->q);
	assert_true(wait_vram(f->h, AT(2001), 1, LONG));
	sleep_us(SHORT * 1000);
	assert_int_equal(data(f, 2000), 0);
	assert_int_equal(data(f, 2002), 0);
	assert_int_equal(reg_read(f->h, REG_GRBM_STATUS) >> 31, 1);
	PUT(f->h, &other,
	        WRITE_L2(AT(0), 1)); /* lets the kernel go; another pipe is free to do it */
	queue_grant(f->h, &other);
	assert_true(wait_vram(f->h, AT(2000), 1, LONG));
	assert_true(wait_vram(f->h, AT(2002), 1, LONG));
	assert_int_equal(data(f, 1024), 77);
	assert_true(queue_wait_reg(f->h, &f->q, REG_GRBM_STATUS, 0, LONG));
	assert_no_guest_errors(f->h);
}

static void dequeue_reset_kills_an_endless_kernel(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 2; i++) {
		set_kernel(f->h, &f->q, ENDLESS);
		PUT(f->h, &f->q, DISPATCH(4), WRITE_MEM(AT(2000), 1 + i), CS_FLUSH);
		queue_grant(f->h, &f->q);
		assert_true(wait_vram(f->h, AT(2000), 1 + i, LONG)); /* the kernel is on its way */
		assert_int_equal(reg_read(f->h, REG_GRBM_STATUS2), 8 | 3u << 28);
		if (i == 0)
			assert_false(
			        queue_dequeue(f->h, &f->q, 1, SHORT)); /* draining never ends */
		assert_true(queue_dequeue(f->h, &f->q, 2, LONG));
		queue_start(f->h, &f->q);
		set_state(f->h, &f->q);
		put_store(f, 0, 500, 1);
		finish(f);
		assert_int_equal(data(f, 1), 501);
	}
	assert_no_guest_errors(f->h);
}

static void sq_cmd_ends_waves_and_packets_go_on(void **state)
{
	struct fixture *f = *state;
	uint64_t end = deadline_in_ms(LONG);

	set_kernel(f->h, &f->q, ENDLESS);
	PUT(f->h, &f->q, DISPATCH(4), CS_FLUSH, WRITE_MEM(AT(0), 1));
	queue_grant(f->h, &f->q);
	sleep_us(SHORT * 1000);
	assert_int_equal(data(f, 0), 0);
	do /* repeated, as the kernel driver does */
		reg_write(f->h, REG_SQ_CMD, 0x93);
	while (!wait_vram(f->h, AT(0), 1, 2) && !deadline_passed(end));
	assert_int_equal(data(f, 0), 1);
	assert_no_guest_errors(f->h);
}

static void a_faulting_kernel_stops_its_queue_only(void **state)
{
	struct fixture *f = *state;
	struct test_queue other;

	set_kernel(f->h, &f->q, STRAY);
	PUT(f->h, &f->q, DISPATCH(1), CS_FLUSH, WRITE_MEM(AT(0), 1));
	queue_grant(f->h, &f->q);
	queue_wait_error(f->h, &f->q);
	assert_int_equal(guest_errors(f->h), 1);
	assert_non_null(strstr(f->h->last, "0x1000"));
	assert_int_equal(data(f, 0), 0);
	queue_init(&other, 1, 0, MEM2);
	queue_start(f->h, &other);
	PUT(f->h, &other, WRITE_MEM(AT(1), 1));
	queue_grant(f->h, &other);
	assert_true(wait_vram(f->h, AT(1), 1, LONG));
	assert_true(queue_dequeue(f->h, &f->q, 2, LONG));
	queue_start(f->h, &f->q);
	set_state(f->h, &f->q);
	put_store(f, 0, 500, 1);
	finish(f);
	assert_int_equal(data(f, 1), 501);
	assert_int_equal(guest_errors(f->h), 1);
}

static void partial_groups_have_fewer_lanes(void **state)
{
	struct fixture *f = *state;

	set_kernel(f->h, &f->q, STORE);
	PUT(f->h, &f->q, USER_DATA(3, LO(AT(0)), HI(AT(0)), 9));
	PUT(f->h, &f->q, PKT3(PKT3_DISPATCH_DIRECT, 5), 100, 1, 1,
	        COMPUTE_SHADER_EN | FORCE_START_AT_000 | USE_THREAD_DIMENSIONS | PARTIAL_TG_EN);
	finish(f);
	assert_int_equal(data(f, 99), 9 + 35);
	assert_int_equal(data(f, 100), 0);
	assert_no_guest_errors(f->h);
}

static void free_ends_a_kernel_that_never_ends(void **state)
{
	struct fixture *f = *state;

	set_kernel(f->h, &f->q, ENDLESS);
	for (int i = 0; i < 40; i++) /* more than the engine takes at once */
		PUT(f->h, &f->q, DISPATCH(4));
	queue_grant(f->h, &f->q);
	sleep_us(SHORT * 1000);
	host_free(f->h);                             /* comes back */
	f->h = host_new(&(struct vcard_options){0}); /* for the teardown */
}

static void reset_ends_an_endless_kernel(void **state)
{
	struct fixture *f = *state;

	set_kernel(f->h, &f->q, ENDLESS);
	PUT(f->h, &f->q, DISPATCH(4), DISPATCH(4));
	queue_grant(f->h, &f->q);
	sleep_us(SHORT * 1000);
	vcard_reset(f->h->card);
	host_enumerate(f->h);
	assert_int_equal(reg_read(f->h, REG_GRBM_STATUS), 0);
	assert_int_equal(queue_reg(f->h, &f->q, REG_CP_HQD_ACTIVE), 0);
	assert_no_guest_errors(f->h);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
	        T(a_kernel_writes_its_grid),
	        T(results_stay_in_l2_without_a_write_back),
	        T(caches_stay_stale_without_an_invalidate),
	        cmocka_unit_test_setup_teardown(
	                new_code_needs_an_icache_invalidate, setup_one_worker, teardown),
	        T(zero_sized_dispatches_do_nothing),
	        T(indirect_arguments_bypass_l2),
	        T(fences_wait_for_waves_and_plain_writes_do_not),
	        T(dequeue_reset_kills_an_endless_kernel),
	        T(sq_cmd_ends_waves_and_packets_go_on),
	        T(a_faulting_kernel_stops_its_queue_only),
	        T(partial_groups_have_fewer_lanes),
	        T(free_ends_a_kernel_that_never_ends),
	        T(reset_ends_an_endless_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
