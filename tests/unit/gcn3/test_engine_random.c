/* test_engine_random.c - whatever a guest runs, the process and the engine survive. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/clock.h"
#include "device/log.h"
#include "device/virtual/gcn3/engine_priv.h"

#define FB    UINT64_C(0xF400000000)
#define SIZE  (UINT64_C(4) << 20)
#define WORDS 1024

static uint32_t seed = 20250731;

static uint32_t rng(void)
{
	seed ^= seed << 13; /* xorshift32, Marsaglia 2003 */
	seed ^= seed >> 17;
	return seed ^= seed << 5;
}

/* Encodings of each format, so that most words decode: GCN3 ISA manual, chapter 13. */
static uint32_t code_word(bool memory)
{
	static const uint32_t formats[] = {0x80000000, 0xb0000000, 0xbe800000, 0xbf000000,
	        0xbf800000, 0xc0000000, 0x00000000, 0x7e000000, 0x7c000000, 0xd0000000, 0xd8000000,
	        0xdc000000, 0xe0000000, 0xe8000000};
	static const uint32_t free_bits[] = {0x3fffffff, 0x0fffffff, 0x007fffff, 0x007fffff,
	        0x000f001f, 0x03ffffff, 0x7fffffff, 0x01ffffff, 0x01ffffff, 0x03ffffff, 0x03ffffff,
	        0x03ffffff, 0x03ffffff, 0x03ffffff};
	static const uint8_t quiet[] = {
	        0, 1, 2, 3, 4, 6, 7, 8, 9, 10}; /* no memory accesses but LDS */
	unsigned f = memory ? rng() % 15 : quiet[rng() % sizeof(quiet)];

	return f == 14 ? rng() : formats[f] | (rng() & free_bits[f]);
}

static void count_report(void *ctx, const struct gcn3_dispatch *d, const struct gcn3_report *r)
{
	unsigned *n = ctx;

	assert_int_equal(d->pgm, FB);
	assert_true(r->insn[0] != 0);
	__atomic_add_fetch(n, 1, __ATOMIC_SEQ_CST);
}

static struct gcn3_dispatch random_dispatch(void)
{
	struct gcn3_dispatch d = {.pgm = FB,
	        .fb_base = FB,
	        .fb_size = SIZE,
	        .sh_mem_bases = 0x20002000,
	        .groups = {1 + rng() % 3, 1, 1},
	        .threads = {1 + rng() % 300, 1, 1},
	        .last_threads = {1, 1, 1}};

	d.rsrc1 = rng() % 16 | (rng() & 0xff) << 12 | (rng() & 5) << 21;
	d.rsrc2 = (rng() & 1) | 16 << 1 | (rng() & 0xf) << 7 | rng() % 3 << 11 | rng() % 32 << 15;
	d.tmpring_size = 64 | 4 << 12;
	for (int i = 0; i < 16; i++) /* addresses, resources or anything */
		d.user_data[i] =
		        i % 2 ? (rng() % 4 ? 0xF4 : 0x20000000 + rng() % 2) : rng() % (2 * SIZE);
	if (rng() % 4 == 0)
		for (int i = 0; i < 16; i++)
			d.user_data[i] = rng();
	return d;
}

/* until_it_runs - or has ended: what is killed before is not reported. */
static void until_it_runs(struct gcn3_engine *e, uint64_t groups)
{
	uint64_t end = deadline_in_ms(60000);
	struct gcn3_counters n;

	do {
		gcn3_read_counters(e, &n);
		assert_false(deadline_passed(end));
	} while (n.groups == groups && !gcn3_idle(e, 0));
}

static void random_code_ends_or_is_killed(void **state)
{
	struct gcn3_engine *e;
	struct vmem *m;
	unsigned reports = 0, faults = 0;
	uint32_t code[WORDS];

	(void)state;
	assert_int_equal(vmem_new(&m, SIZE), 0);
	assert_int_equal(gcn3_engine_new(&e, m, 2, count_report, &reports), 0);
	for (int n = 0; n < 1500; n++) {
		struct gcn3_dispatch d = random_dispatch();
		struct gcn3_counters before;

		for (int i = 0; i < WORDS; i++)
			code[i] = code_word(n % 2);
		vmem_l2_flush(m);
		vmem_dram_write(m, 0, code, sizeof(code));
		vmem_l2_flush(m);
		gcn3_invalidate_icache(e);
		gcn3_read_counters(e, &before);
		assert_int_equal(gcn3_submit(e, &d), 0);
		until_it_runs(e, before.groups);
		uint64_t end = deadline_in_ms(5);

		while (!gcn3_idle(e, 0) && !deadline_passed(end))
			sleep_us(50);
		gcn3_kill(e, 0);
		faults += gcn3_wait_idle(e, 0) == -EIO;
	}
	gcn3_engine_free(e);
	vmem_free(m);
	assert_in_range(faults - reports, 0, 100); /* killed before a wave had started: no report */
	assert_in_range(faults, 700, 1500);        /* random code rarely ends well */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(random_code_ends_or_is_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
