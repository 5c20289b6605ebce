/* test_engine.c - dispatches, workgroups, faults and cache actions of the execution engine, with
 * hand-made code. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "device/clock.h"
#include "device/log.h"
#include "device/virtual/gcn3/engine_priv.h"

#define FB   UINT64_C(0xF400000000)
#define SIZE (UINT64_C(64) << 20)
#define CODE UINT64_C(0x100000) /* VRAM offset of the code under test */
#define DATA UINT64_C(0x200000)

/* Comments are what llvm-mc-19 --mcpu=gfx803 assembled. */
static const uint32_t hang[] = {0xBF82FFFF};                     /* s_branch hang */
static const uint32_t ends[] = {0xBF810000};                     /* s_endpgm */
static const uint32_t barrier_hang[] = {0xBF8A0000, 0xBF82FFFE}; /* s_barrier; s_branch */
static const uint32_t bad_in_group_5[] = {0xBF078500, 0xBF850001, 0xFFFFFFFF,
        0xBF810000}; /* s_cmp_lg_u32 s0, 5; s_cbranch_scc1; .long -1; s_endpgm */
static const uint32_t store_far[] = {0x7E040280, 0x7E0602FF, 0x55, 0xDC700000, 2,
        0xBF810000}; /* v_mov v2, 0; v_mov v3, 0x55; flat_store_dword v[2:3], v0 */
/* v_readfirstlane s3, v0; s_cmp_eq_u32 s3, 0; s_cbranch_scc1 out; s_barrier; out: s_endpgm */
static const uint32_t wave_0_skips_barrier[] = {
        0x7E060500, 0xBF068003, 0xBF850001, 0xBF8A0000, 0xBF810000};
/* n = flat_atomic_add(s[0:1], 1) in lane 0; store s2 at s[0:1] + 4 + 4 n */
static const uint32_t log_order[] = {0x7E040200, 0x7E060201, 0x7E080281, 0xBEFE0181, 0xDD090000,
        0x05000402, 0xBF8C0000, 0x240A0A82, 0x32040B02, 0x38060680, 0x7E080202, 0x32040484,
        0x38060680, 0xDC700000, 0x00000402, 0xBF810000};
/* s_dcache_inv; s_load_dword s4, s[0:1]; repeat until it is 1 */
static const uint32_t wait_flag[] = {
        0xC0800000, 0, 0xC0020100, 0, 0xBF8C007F, 0xBF068104, 0xBF84FFF9, 0xBF810000};
/* store 1 (or 7) at s[0:1] */
static const uint32_t set_flag[] = {
        0x7E040200, 0x7E060201, 0x7E080281, 0xDC700000, 0x00000402, 0xBF810000};
static const uint32_t set_7[] = {
        0x7E040200, 0x7E060201, 0x7E080287, 0xDC700000, 0x00000402, 0xBF810000};
/* copy the dword at s[0:1] to s[2]:s[1], by flat_load or s_load */
static const uint32_t copy_vector[] = {0x7E040200, 0x7E060201, 0xDC500000, 0x04000002, 0xBF8C0000,
        0x7E040202, 0xDC700000, 0x00000402, 0xBF810000};
static const uint32_t copy_scalar[] = {0xC0020100, 0, 0x7E040202, 0x7E060201, 0xBF8C0000,
        0x7E080204, 0xDC700000, 0x00000402, 0xBF810000};
static const uint32_t uses_v9[] = {0x7E120280, 0xBF810000}; /* v_mov_b32 v9, 0 */
static const uint32_t traps[] = {0xBF920002, 0xBF810000};   /* s_trap 2 */

struct card {
	struct vmem *m;
	struct gcn3_engine *e;
	struct gcn3_report last;
	unsigned reports;
};

static void on_report(void *ctx, const struct gcn3_dispatch *d, const struct gcn3_report *r)
{
	struct card *c = ctx;

	assert_int_equal(d->pgm, r->pgm);
	c->last = *r;
	__atomic_add_fetch(&c->reports, 1, __ATOMIC_SEQ_CST);
}

static int setup(void **state)
{
	static struct card c;

	memset(&c, 0, sizeof(c));
	*state = &c;
	return vmem_new(&c.m, SIZE) || gcn3_engine_new(&c.e, c.m, 2, on_report, &c);
}

static int teardown(void **state)
{
	struct card *c = *state;

	gcn3_engine_free(c->e);
	vmem_free(c->m);
	return 0;
}

static void fresh(struct card *c)
{
	vmem_l2_flush(c->m);
	gcn3_invalidate_l1(c->e);
	gcn3_invalidate_kcache(c->e);
	gcn3_invalidate_icache(c->e);
}

static void put(struct card *c, uint64_t off, const void *data, size_t len)
{
	vmem_l2_flush(c->m);
	assert_int_equal(vmem_dram_write(c->m, off, data, len), 0);
	fresh(c);
}

static uint32_t get32(struct card *c, uint64_t off)
{
	uint32_t v;

	assert_int_equal(vmem_l2_read(c->m, off, &v, 4), 0);
	return v;
}

/* @n groups of @threads items, 8 VGPRs, workgroup id x behind @user user SGPRs */
static struct gcn3_dispatch dispatch(uint32_t n, uint32_t threads, unsigned user)
{
	return (struct gcn3_dispatch){.pgm = FB + CODE,
	        .rsrc1 = 1,
	        .rsrc2 = user << 1 | 1 << 7,
	        .groups = {n, 1, 1},
	        .threads = {threads, 1, 1},
	        .last_threads = {threads, 1, 1},
	        .fb_base = FB,
	        .fb_size = SIZE,
	        .sh_mem_bases = 0x20002000,
	        .user_data = {(uint32_t)(FB + DATA), (uint32_t)((FB + DATA) >> 32)}};
}

static void submit(struct card *c, const struct gcn3_dispatch *d)
{
	assert_int_equal(gcn3_submit(c->e, d), 0);
}

static int run(struct card *c, const uint32_t *code, size_t bytes, const struct gcn3_dispatch *d)
{
	put(c, CODE, code, bytes);
	submit(c, d);
	return gcn3_wait_idle(c->e, d->queue);
}

static void wait_until_running(struct card *c, uint64_t groups)
{
	uint64_t end = deadline_in_ms(60000);
	struct gcn3_counters n;

	do {
		assert_false(deadline_passed(end));
		sleep_us(500);
		gcn3_read_counters(c->e, &n);
	} while (n.groups < groups);
}

/* Staleness without an invalidate is only certain on a worker that has seen the data before. */
static void one_worker(struct card *c)
{
	gcn3_engine_free(c->e);
	assert_int_equal(gcn3_engine_new(&c->e, c->m, 1, on_report, c), 0);
}

static void a_hung_kernel_is_killed(void **state)
{
	struct card *c = *state;
	struct gcn3_dispatch d = dispatch(100, 256, 0);

	put(c, CODE, hang, sizeof(hang));
	submit(c, &d);
	wait_until_running(c, 2);
	assert_false(gcn3_idle(c->e, 0));
	gcn3_kill(c->e, 0);
	assert_int_equal(gcn3_wait_idle(c->e, 0), -EIO);
	assert_int_equal(c->reports, 1);
	assert_int_equal(c->last.status, GCN3_KILLED);
	assert_int_equal(c->last.pc, FB + CODE);
	assert_string_equal(c->last.insn, "s_branch 65535");
	assert_int_equal(gcn3_wait_idle(c->e, 0), 0); /* the error was taken */
	assert_int_equal(run(c, ends, sizeof(ends), &d), 0);
}

static void waves_hung_at_barriers_are_killed(void **state)
{
	struct card *c = *state;
	struct gcn3_dispatch d = dispatch(8, 1024, 0);

	put(c, CODE, barrier_hang, sizeof(barrier_hang));
	submit(c, &d);
	wait_until_running(c, 2);
	gcn3_kill(c->e, 0);
	assert_int_equal(gcn3_wait_idle(c->e, 0), -EIO);
	assert_int_equal(c->last.status, GCN3_KILLED);
}

static void a_hung_queue_leaves_the_others_alive(void **state)
{
	struct card *c = *state;
	struct gcn3_dispatch bad = dispatch(100, 64, 0), good = dispatch(20, 64, 2);
	uint32_t zero = 0;

	put(c, CODE, hang, sizeof(hang));
	put(c, CODE + 4096, log_order, sizeof(log_order));
	put(c, DATA, &zero, 4);
	submit(c, &bad);
	bad.queue = 1;
	submit(c, &bad);
	wait_until_running(c, 8);
	good.pgm += 4096;
	good.queue = 2;
	submit(c, &good);
	assert_int_equal(gcn3_wait_idle(c->e, 2), 0);
	assert_int_equal(get32(c, DATA), 20);
	assert_false(gcn3_idle(c->e, 0));
	gcn3_kill(c->e, 0);
	assert_int_equal(gcn3_wait_idle(c->e, 0), -EIO);
	assert_false(gcn3_idle(c->e, 1));
	gcn3_kill(c->e, 1);
	assert_int_equal(gcn3_wait_idle(c->e, 1), -EIO);
}

static void bad_opcode_names_group_wave_pc_and_instruction(void **state)
{
	struct card *c = *state;
	struct gcn3_dispatch d = dispatch(8, 64, 0);

	assert_int_equal(run(c, bad_in_group_5, sizeof(bad_in_group_5), &d), -EIO);
	assert_int_equal(c->reports, 1);
	assert_int_equal(c->last.status, GCN3_BAD_OPCODE);
	assert_int_equal(c->last.group[0], 5);
	assert_int_equal(c->last.group[1], 0);
	assert_int_equal(c->last.wave, 0);
	assert_int_equal(c->last.pc, FB + CODE + 8);
	assert_string_equal(c->last.insn, ".long 0xffffffff");
}

static void bad_address_is_reported_once_for_all_groups(void **state)
{
	struct card *c = *state;
	struct gcn3_dispatch d = dispatch(1000, 256, 0);

	assert_int_equal(run(c, store_far, sizeof(store_far), &d), -EIO);
	assert_int_equal(c->reports, 1);
	assert_int_equal(c->last.status, GCN3_BAD_ADDRESS);
	assert_int_equal(c->last.address, UINT64_C(0x5500000000));
	assert_int_equal(c->last.pc, FB + CODE + 12);
	assert_string_equal(c->last.insn, "flat_store_dword v[2:3], v0");
}

static void registers_not_allocated_traps_and_runaway_code_are_reported(void **state)
{
	struct card *c = *state;
	struct gcn3_dispatch d = dispatch(1, 64, 0);

	assert_int_equal(run(c, uses_v9, sizeof(uses_v9), &d), -EIO);
	assert_int_equal(c->last.status, GCN3_BAD_OPCODE);
	assert_int_equal(run(c, traps, sizeof(traps), &d), -EIO);
	assert_int_equal(c->last.status, GCN3_TRAP);
	d.pgm = FB + SIZE - 256;
	for (uint32_t nop = 0xBF800000, i = 0; i < 64; i++)
		put(c, SIZE - 256 + 4 * i, &nop, 4);
	submit(c, &d);
	assert_int_equal(gcn3_wait_idle(c->e, 0), -EIO);
	assert_int_equal(c->last.status, GCN3_BAD_ADDRESS);
	assert_int_equal(c->last.pc, FB + SIZE);
}

static void an_ended_wave_counts_as_arrived(void **state)
{
	struct card *c = *state;
	struct gcn3_dispatch d = dispatch(9, 1024, 0);

	assert_int_equal(run(c, wave_0_skips_barrier, sizeof(wave_0_skips_barrier), &d), 0);
	assert_int_equal(c->reports, 0);
}

static void every_group_runs_once_in_scattered_order(void **state)
{
	enum { N = 300 };
	struct card *c = *state;
	struct gcn3_dispatch d = dispatch(N, 64, 2);
	bool seen[N] = {false};
	uint32_t zero = 0, ascending = 0, last = 0;

	put(c, DATA, &zero, 4);
	assert_int_equal(run(c, log_order, sizeof(log_order), &d), 0);
	assert_int_equal(get32(c, DATA), N);
	for (uint32_t i = 0; i < N; i++) {
		uint32_t id = get32(c, DATA + 4 + 4 * i);

		assert_true(id < N && !seen[id]);
		seen[id] = true;
		ascending += i && id == last + 1;
		last = id;
	}
	assert_in_range(ascending, 0, N / 10);
}

static void dispatches_of_one_queue_overlap(void **state)
{
	struct card *c = *state;
	struct gcn3_dispatch first = dispatch(2, 64, 2), second = dispatch(1, 64, 2);
	uint32_t zero = 0;

	put(c, DATA, &zero, 4);
	put(c, CODE, wait_flag, sizeof(wait_flag));
	put(c, CODE + 4096, set_flag, sizeof(set_flag));
	second.pgm += 4096;
	submit(c, &first); /* waits for what the second one stores */
	submit(c, &second);
	assert_int_equal(gcn3_wait_idle(c->e, 0), 0);
}

static void zero_groups_are_no_work_and_no_error(void **state)
{
	struct card *c = *state;
	struct gcn3_dispatch d = dispatch(0, 64, 0);
	struct gcn3_counters n;

	submit(c, &d);
	d = dispatch(4, 64, 0);
	d.groups[2] = 0;
	submit(c, &d);
	assert_true(gcn3_idle(c->e, 0));
	assert_int_equal(gcn3_wait_idle(c->e, 0), 0);
	gcn3_read_counters(c->e, &n);
	assert_int_equal(n.groups, 0);
}

static void impossible_registers_are_refused(void **state)
{
	struct card *c = *state;
	const struct gcn3_dispatch good = dispatch(1, 64, 0);
	struct gcn3_dispatch bad[12];

	rx_log_set_stderr(false);
	for (size_t i = 0; i < 12; i++)
		bad[i] = good;
	bad[0].rsrc2 |= 129 << 15; /* 64.5 KiB of LDS */
	bad[1].rsrc1 = 63,
	bad[1].threads[0] = bad[1].last_threads[0] = 1024; /* 16 waves of 256 VGPRs */
	bad[2].threads[0] = bad[2].last_threads[0] = 1025;
	bad[3].threads[1] = 0;
	bad[4].last_threads[0] = 65;
	bad[5].pgm = FB + SIZE;
	bad[6].pgm = FB - 256;
	bad[7].pgm += 4;
	bad[8].rsrc2 |= 17 << 1;
	bad[9].queue = GCN3_QUEUES;
	bad[10].rsrc2 |= 1, bad[10].tmpring_size = 1 << 12; /* scratch, but no wave slots */
	bad[11].groups[0] = bad[11].groups[1] = bad[11].groups[2] = UINT32_MAX;
	for (size_t i = 0; i < 12; i++)
		if (gcn3_submit(c->e, &bad[i]) != -EINVAL)
			fail_msg("case %zu was accepted", i);
	rx_log_set_stderr(true);
	assert_true(gcn3_idle(c->e, 0));
}

static void stale_code_runs_until_the_instruction_cache_is_invalidated(void **state)
{
	struct card *c = *state;
	struct gcn3_dispatch d = dispatch(8, 64, 2);
	uint32_t zero = 0;

	one_worker(c);
	put(c, DATA, &zero, 4);
	assert_int_equal(run(c, set_flag, sizeof(set_flag), &d), 0);
	assert_int_equal(get32(c, DATA), 1);
	vmem_dram_write(c->m, CODE, set_7, sizeof(set_7));
	vmem_l2_flush(c->m);
	for (int i = 0; i < 2; i++) {
		submit(c, &d);
		assert_int_equal(gcn3_wait_idle(c->e, 0), 0);
		assert_int_equal(get32(c, DATA), i ? 7 : 1);
		gcn3_invalidate_icache(c->e);
	}
}

/* After @invalidate every worker sees what was stored to L2; @code copies DATA to DATA + 8192. */
static void check_fresh(struct card *c, const uint32_t *code, size_t bytes,
        void (*invalidate)(struct gcn3_engine *))
{
	struct gcn3_dispatch d = dispatch(64, 64, 3);
	uint32_t v = 1;

	d.user_data[2] = (uint32_t)(FB + DATA + 8192);
	put(c, DATA, &v, 4);
	assert_int_equal(run(c, code, bytes, &d), 0);
	assert_int_equal(get32(c, DATA + 8192), 1);
	v = 2;
	vmem_l2_write(c->m, DATA, &v, 4);
	invalidate(c->e);
	submit(c, &d);
	assert_int_equal(gcn3_wait_idle(c->e, 0), 0);
	assert_int_equal(get32(c, DATA + 8192), 2);
}

static void first_level_invalidates_reach_all_workers(void **state)
{
	struct card *c = *state;

	check_fresh(c, copy_vector, sizeof(copy_vector), gcn3_invalidate_l1);
	check_fresh(c, copy_scalar, sizeof(copy_scalar), gcn3_invalidate_kcache);
}

static void a_single_worker_sees_stale_data_without_invalidate(void **state)
{
	struct card *c = *state;
	struct gcn3_dispatch d = dispatch(1, 64, 3);
	uint32_t v;

	one_worker(c);
	d.user_data[2] = (uint32_t)(FB + DATA + 8192);
	for (int scalar = 0; scalar < 2; scalar++) {
		v = 1;
		put(c, DATA, &v, 4);
		put(c, CODE, scalar ? copy_scalar : copy_vector, sizeof(copy_vector));
		for (uint32_t i = 1; i <= 2; i++) {
			vmem_l2_write(c->m, DATA, &i, 4);
			submit(c, &d);
			assert_int_equal(gcn3_wait_idle(c->e, 0), 0);
			assert_int_equal(get32(c, DATA + 8192), 1);
		}
	}
}

static void counters_add_up(void **state)
{
	struct card *c = *state;
	struct gcn3_dispatch d = dispatch(10, 100, 2);
	struct gcn3_counters n;

	assert_int_equal(run(c, set_flag, sizeof(set_flag), &d), 0);
	gcn3_read_counters(c->e, &n);
	assert_int_equal(n.dispatches, 1);
	assert_int_equal(n.groups, 10);
	assert_int_equal(n.waves, 20);
	assert_int_equal(n.instructions, 20 * 5);
	assert_int_equal(n.valu, 20 * 3);
	assert_int_equal(n.vmem, 20);
	assert_int_equal(n.branches, 20); /* s_endpgm */
	assert_int_equal(n.salu + n.smem + n.lds, 0);
}

static void *submit_one(void *arg)
{
	struct card *c = arg;
	struct gcn3_dispatch d = dispatch(1, 64, 0);

	return (void *)(intptr_t)gcn3_submit(c->e, &d);
}

static void submit_waits_while_32_dispatches_are_outstanding(void **state)
{
	struct card *c = *state;
	struct gcn3_dispatch d = dispatch(1, 64, 0);
	pthread_t t;
	void *result;

	put(c, CODE, hang, sizeof(hang));
	for (int i = 0; i < 32; i++)
		submit(c, &d);
	wait_until_running(c, 2);
	put(c, CODE, ends, sizeof(ends)); /* those that start now end; the running ones too, at the
	                                     invalidate */
	assert_int_equal(gcn3_wait_idle(c->e, 0), 0);
	put(c, CODE, hang, sizeof(hang));
	for (int i = 0; i < 32; i++)
		submit(c, &d);
	pthread_create(&t, NULL, submit_one, c);
	sleep_us(20000);
	gcn3_kill(c->e, 0);
	pthread_join(t, &result);
	assert_int_equal((intptr_t)result, 0);
	gcn3_kill(c->e, 0);
	assert_int_equal(gcn3_wait_idle(c->e, 0), -EIO);
}

static void few_scratch_slots_are_shared_without_deadlock(void **state)
{
	struct card *c = *state;
	struct gcn3_dispatch d = dispatch(200, 256, 2);
	uint32_t zero = 0;

	d.rsrc2 |= 1;
	d.tmpring_size = 5 | 1 << 12; /* one group's four waves and one more */
	put(c, DATA, &zero, 4);
	assert_int_equal(run(c, log_order, sizeof(log_order), &d), 0);
	assert_int_equal(get32(c, DATA), 200 * 4);
}

static struct gcn3_box *load(const struct gcn3_dispatch *d, uint32_t x, uint32_t y, uint32_t z)
{
	struct gcn3_box *b = gcn3_box_new();
	struct gcn3_shape s;

	assert_non_null(b);
	assert_int_equal(gcn3_shape_of(d, SIZE, &s), 0);
	for (uint16_t i = 0; i < GCN3_MAX_WAVES; i++)
		b->slots[i] = (uint16_t)(i + 3);
	gcn3_box_load(b, d, &s, (const uint32_t[]){x, y, z}, 99);
	return b;
}

static bool is_poison(uint32_t v)
{
	return v >> 20 == 0x7fa;
}

static void initial_scalar_registers_follow_the_enables(void **state)
{
	struct gcn3_dispatch d = dispatch(100, 256, 2);
	struct gcn3_box *b;

	(void)state;
	d.groups[1] = d.groups[2] = 10;
	d.rsrc2 = 1 | 2 << 1 | 7 << 7 | 1 << 10; /* scratch, 2 user, x y z, info */
	d.tmpring_size = 100 | 3 << 12;
	d.rsrc1 |= 0xC0 << 12 | 1 << 21 | 1 << 23;
	b = load(&d, 42, 5, 6);
	for (unsigned n = 0; n < 4; n++) {
		const uint32_t want[] = {d.user_data[0], d.user_data[1], 42, 5, 6,
		        (n == 0 ? 0x80000000u : 0) | 4, (n + 3) * 3 * 1024};

		assert_memory_equal(b->waves[n].s, want, sizeof(want));
		assert_true(is_poison(b->waves[n].s[7]));
		assert_true(is_poison(b->waves[n].s[GCN3_OPERAND_VCC]));
		assert_int_equal(b->waves[n].s[GCN3_OPERAND_M0], 0);
		assert_int_equal(b->waves[n].mode, 0x3C0);
		assert_int_equal(b->waves[n].pc, CODE);
		assert_int_equal(b->waves[n].nvgprs, 8);
		assert_int_equal(gcn3_exec(&b->waves[n]), UINT64_MAX);
	}
	gcn3_box_free(b);
	d.rsrc2 = 2 << 1 | 1 << 8; /* y only */
	b = load(&d, 42, 5, 6);
	assert_int_equal(b->waves[0].s[2], 5);
	assert_true(is_poison(b->waves[0].s[3]));
	gcn3_box_free(b);
}

static void initial_vector_registers_number_the_items(void **state)
{
	struct gcn3_dispatch d = dispatch(4, 10, 0);
	struct gcn3_box *b;

	(void)state;
	d.threads[1] = 5;
	d.threads[2] = 3;
	d.groups[1] = d.groups[2] = 2;
	memcpy(d.last_threads, d.threads, sizeof(d.threads));
	d.last_threads[0] = 7;
	d.rsrc2 |= 2 << 11;
	for (unsigned x = 2; x < 4; x++) {
		unsigned width = x == 3 ? 7 : 10, total = width * 15;

		b = load(&d, x, 1, 1);
		assert_int_equal(b->group.nwaves, (total + 63) / 64);
		for (unsigned i = 0; i < b->group.nwaves * 64; i++) {
			const struct gcn3_wave *w = &b->waves[i / 64];

			assert_int_equal(gcn3_exec(w) >> i % 64 & 1, i < total);
			if (i >= total) {
				assert_true(is_poison(w->v[0][i % 64]));
				continue;
			}
			assert_int_equal(w->v[0][i % 64], i % width);
			assert_int_equal(w->v[1][i % 64], i / width % 5);
			assert_int_equal(w->v[2][i % 64], i / width / 5);
			assert_true(is_poison(w->v[3][i % 64]));
		}
		gcn3_box_free(b);
	}
	d.rsrc2 &= ~(3u << 11); /* X only */
	b = load(&d, 0, 0, 0);
	assert_true(is_poison(b->waves[0].v[1][0]));
	gcn3_box_free(b);
}

static void lds_and_apertures_are_set_up(void **state)
{
	struct gcn3_dispatch d = dispatch(1, 64, 0);
	struct gcn3_box *b;
	uint32_t word;

	(void)state;
	d.rsrc2 |= 3 << 15;
	d.hidden_private_base = 0xF40123;
	b = load(&d, 0, 0, 0);
	assert_int_equal(b->group.lds_bytes, 1536);
	memcpy(&word, b->group.lds + 1532, 4);
	assert_true(is_poison(word));
	assert_int_equal(b->group.shared_aperture_hi, 0x20000000);
	assert_int_equal(b->group.private_aperture_hi, 0x20000001);
	assert_int_equal(b->group.private_base, UINT64_C(0xF401230000));
	gcn3_box_free(b);
}

#define ENGINE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        ENGINE_TEST(a_hung_kernel_is_killed),
	        ENGINE_TEST(waves_hung_at_barriers_are_killed),
	        ENGINE_TEST(a_hung_queue_leaves_the_others_alive),
	        ENGINE_TEST(bad_opcode_names_group_wave_pc_and_instruction),
	        ENGINE_TEST(bad_address_is_reported_once_for_all_groups),
	        ENGINE_TEST(registers_not_allocated_traps_and_runaway_code_are_reported),
	        ENGINE_TEST(an_ended_wave_counts_as_arrived),
	        ENGINE_TEST(every_group_runs_once_in_scattered_order),
	        ENGINE_TEST(dispatches_of_one_queue_overlap),
	        ENGINE_TEST(zero_groups_are_no_work_and_no_error),
	        ENGINE_TEST(impossible_registers_are_refused),
	        ENGINE_TEST(stale_code_runs_until_the_instruction_cache_is_invalidated),
	        ENGINE_TEST(first_level_invalidates_reach_all_workers),
	        ENGINE_TEST(a_single_worker_sees_stale_data_without_invalidate),
	        ENGINE_TEST(counters_add_up),
	        ENGINE_TEST(submit_waits_while_32_dispatches_are_outstanding),
	        ENGINE_TEST(few_scratch_slots_are_shared_without_deadlock),
	        cmocka_unit_test(initial_scalar_registers_follow_the_enables),
	        cmocka_unit_test(initial_vector_registers_number_the_items),
	        cmocka_unit_test(lds_and_apertures_are_set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
