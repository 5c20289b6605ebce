/* test_vmem.c - who sees what, and when: DRAM, L2 and first-level caches of the virtual card. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/clock.h"
#include "device/virtual/mem/vmem.h"
#include "device/virtual/mem/vmem_inline.h"

#define SIZE (UINT64_C(64) << 20)

static int setup(void **state)
{
	return vmem_new((struct vmem **)state, SIZE);
}

static int teardown(void **state)
{
	vmem_free(*state);
	return 0;
}

static uint32_t dram32(struct vmem *m, uint64_t off)
{
	uint32_t v;

	assert_int_equal(vmem_dram_read(m, off, &v, 4), 0);
	return v;
}

static uint32_t l2_32(struct vmem *m, uint64_t off)
{
	uint32_t v;

	assert_int_equal(vmem_l2_read(m, off, &v, 4), 0);
	return v;
}

static uint32_t load32(struct vmem_client *c, uint64_t off)
{
	const uint8_t *p = vmem_load_fast(c, off);

	assert_non_null(p);
	return vmem_get32(p);
}

static void dram_set(struct vmem *m, uint64_t off, uint32_t v)
{
	assert_int_equal(vmem_dram_write(m, off, &v, 4), 0);
}

static void store32(struct vmem_client *c, uint64_t off, uint32_t v)
{
	assert_int_equal(vmem_store(c, off, &v, 4), 0);
}

static void untouched_memory_is_noise_and_repeatable(void **state)
{
	struct vmem *m = *state, *again;
	uint8_t a[8192], b[8192];
	unsigned zeros = 0;

	assert_int_equal(vmem_dram_read(m, 12345, a, sizeof(a)), 0);
	assert_int_equal(vmem_new(&again, SIZE), 0);
	assert_int_equal(vmem_dram_read(again, 12345, b, sizeof(b)), 0);
	vmem_free(again);
	assert_memory_equal(a, b, sizeof(a));
	for (size_t i = 0; i < sizeof(a); i++)
		zeros += !a[i];
	assert_in_range(zeros, 8, 80); /* 32 expected of 8192 random bytes */
	assert_true(memcmp(a, a + 4096, 4096) != 0);
}

static void scramble_forgets_everything(void **state)
{
	struct vmem *m = *state;
	struct vmem_client *c = vmem_client_new(m);

	dram_set(m, 4096, 1);
	store32(c, 8192, 2);
	assert_int_equal(load32(c, 8192), 2);
	vmem_scramble(m);
	assert_int_not_equal(dram32(m, 4096), 1);
	assert_int_not_equal(load32(c, 8192), 2);
	assert_int_equal(load32(c, 8192), dram32(m, 8192));
}

static void accesses_outside_vram_fail(void **state)
{
	struct vmem *m = *state;
	struct vmem_client *c = vmem_client_new(m);
	uint64_t v = 0;

	assert_int_equal(vmem_dram_read(m, SIZE - 4, &v, 8), -EFAULT);
	assert_int_equal(vmem_dram_write(m, SIZE, &v, 1), -EFAULT);
	assert_int_equal(vmem_l2_read(m, UINT64_MAX - 3, &v, 8), -EFAULT);
	assert_int_equal(vmem_l2_write(m, SIZE - 1, &v, 2), -EFAULT);
	assert_null(vmem_load(c, SIZE));
	assert_null(vmem_load_l2(c, UINT64_MAX));
	assert_int_equal(vmem_store(c, SIZE - 2, &v, 4), -EFAULT);
	assert_int_equal(vmem_atomic(m, VMEM_ATOMIC_ADD, 4, SIZE, 1, 0, &v), -EFAULT);
	assert_int_equal(vmem_atomic(m, VMEM_ATOMIC_ADD, 8, 4, 1, 0, &v), -EFAULT);
	assert_false(vmem_l2_present(m, SIZE));
}

static void shader_stores_reach_dram_only_by_writeback(void **state)
{
	struct vmem *m = *state;
	struct vmem_client *c = vmem_client_new(m);

	dram_set(m, 4096, 11);
	store32(c, 4096, 22);
	assert_int_equal(dram32(m, 4096), 11);
	assert_int_equal(l2_32(m, 4096), 22);
	vmem_l2_writeback(m);
	assert_int_equal(dram32(m, 4096), 22);
	assert_true(vmem_l2_present(m, 4096));
}

static void writeback_moves_dirty_bytes_only(void **state)
{
	struct vmem *m = *state;
	struct vmem_client *c = vmem_client_new(m);

	dram_set(m, 4096, 0x44332211);
	vmem_store(c, 4097, "\xaa", 1);
	dram_set(m, 4096, 0x88776655); /* the host writes the same line */
	vmem_l2_writeback(m);
	assert_int_equal(dram32(m, 4096), 0x8877aa55);
	dram_set(m, 4096, 0);
	vmem_l2_writeback(m); /* clean now */
	assert_int_equal(dram32(m, 4096), 0);
}

static void dirty_ranges_of_any_shape_are_written_back(void **state)
{
	struct vmem *m = *state;
	struct vmem_client *c = vmem_client_new(m);
	uint8_t data[VMEM_PAGE_SIZE], zero[VMEM_PAGE_SIZE] = {0}, got[VMEM_PAGE_SIZE];

	memset(data, 0x5a, sizeof(data));
	for (unsigned first = 0; first < 130; first += 3)
		for (unsigned len = 1; len < 200; len += 7) {
			vmem_dram_write(m, 8192, zero, sizeof(zero));
			vmem_l2_flush(m);
			assert_int_equal(vmem_store(c, 8192 + first, data, len), 0);
			vmem_l2_writeback(m);
			vmem_dram_read(m, 8192, got, sizeof(got));
			for (unsigned i = 0; i < sizeof(got); i++)
				assert_int_equal(got[i], i >= first && i < first + len ? 0x5a : 0);
		}
	assert_int_equal(vmem_store(c, 8192, data, sizeof(data)), 0);
	vmem_l2_writeback(m);
	vmem_dram_read(m, 8192, got, sizeof(got));
	assert_memory_equal(got, data, sizeof(got));
}

static void l2_keeps_stale_data_until_invalidated(void **state)
{
	struct vmem *m = *state;
	struct vmem_client *c = vmem_client_new(m);

	dram_set(m, 4096, 1);
	assert_int_equal(load32(c, 4096), 1);
	dram_set(m, 4096, 2);
	vmem_client_invalidate(c); /* first level alone does not help */
	assert_int_equal(load32(c, 4096), 1);
	assert_int_equal(vmem_l2_invalidate(m), 0);
	assert_int_equal(load32(c, 4096), 1); /* nor does L2 alone */
	vmem_client_invalidate(c);
	assert_int_equal(load32(c, 4096), 2);
}

static void invalidate_without_writeback_loses_and_counts(void **state)
{
	struct vmem *m = *state;
	struct vmem_client *c = vmem_client_new(m);

	dram_set(m, 4096, 1);
	store32(c, 4096, 2);
	assert_int_equal(vmem_l2_invalidate(m), 4);
	assert_false(vmem_l2_present(m, 4096));
	assert_int_equal(load32(c, 4096), 1);
	vmem_l2_writeback(m);
	assert_int_equal(dram32(m, 4096), 1);
	store32(c, 4096, 3);
	vmem_l2_flush(m);
	assert_int_equal(dram32(m, 4096), 3);
	assert_int_equal(vmem_l2_invalidate(m), 0);
}

static void first_level_keeps_old_page_when_another_client_stores(void **state)
{
	struct vmem *m = *state;
	struct vmem_client *a = vmem_client_new(m), *b = vmem_client_new(m),
	                   *k = vmem_client_new(m);

	dram_set(m, 4096, 1);
	dram_set(m, 4100, 10);
	assert_int_equal(load32(b, 4100), 10);
	assert_int_equal(load32(k, 4096), 1);
	store32(a, 4096, 2);
	assert_int_equal(load32(a, 4096), 2);
	assert_int_equal(load32(b, 4096), 1);
	assert_int_equal(load32(k, 4096), 1);
	store32(a, 4096, 3);
	assert_int_equal(load32(b, 4096), 1);
	vmem_client_invalidate(b);
	assert_int_equal(load32(b, 4096), 3);
	assert_int_equal(load32(k, 4096), 1);
	vmem_client_invalidate_async(k);
	assert_int_equal(load32(k, 4096), 3);
}

static void client_sees_own_stores_in_an_old_page(void **state)
{
	struct vmem *m = *state;
	struct vmem_client *a = vmem_client_new(m), *b = vmem_client_new(m);
	uint64_t old;

	dram_set(m, 4096, 1);
	dram_set(m, 4100, 1);
	dram_set(m, 4104, 1);
	assert_int_equal(load32(b, 4096), 1);
	store32(a, 4096, 2);
	store32(b, 4100, 3);
	assert_int_equal(vmem_client_atomic(b, VMEM_ATOMIC_ADD, 4, 4104, 4, 0, &old), 0);
	assert_int_equal(load32(b, 4096), 1);
	assert_int_equal(load32(b, 4100), 3);
	assert_int_equal(load32(b, 4104), 5);
	vmem_l2_writeback(m);
	assert_int_equal(dram32(m, 4096), 2);
	assert_int_equal(dram32(m, 4100), 3);
	assert_int_equal(dram32(m, 4104), 5);
}

static void uncached_loads_see_l2(void **state)
{
	struct vmem *m = *state;
	struct vmem_client *a = vmem_client_new(m), *b = vmem_client_new(m);

	dram_set(m, 4096, 1);
	assert_int_equal(load32(b, 4096), 1);
	store32(a, 4096, 2);
	assert_int_equal(vmem_get32(vmem_load_l2(b, 4096)), 2);
	assert_int_equal(load32(b, 4096), 1);
}

static void cp_writes_to_l2_and_atomics_leave_first_level_stale(void **state)
{
	struct vmem *m = *state;
	struct vmem_client *c = vmem_client_new(m);
	uint32_t v = 7;
	uint64_t old;

	dram_set(m, 4096, 1);
	assert_int_equal(load32(c, 4096), 1);
	assert_int_equal(vmem_l2_write(m, 4096, &v, 4), 0);
	assert_int_equal(load32(c, 4096), 1);
	assert_int_equal(vmem_atomic(m, VMEM_ATOMIC_ADD, 4, 4096, 1, 0, &old), 0);
	assert_int_equal(old, 7);
	assert_int_equal(load32(c, 4096), 1);
	vmem_client_invalidate(c);
	assert_int_equal(load32(c, 4096), 8);
	assert_int_equal(dram32(m, 4096), 1);
}

static void l2_refill_does_not_leak_into_first_level(void **state)
{
	struct vmem *m = *state;
	struct vmem_client *c = vmem_client_new(m);

	dram_set(m, 4096, 1);
	assert_int_equal(load32(c, 4096), 1);
	dram_set(m, 4096, 2);
	vmem_l2_invalidate(m);
	assert_int_equal(l2_32(m, 4096), 2);
	assert_int_equal(load32(c, 4096), 1);
	store32(c, 4100, 9); /* own store into the page kept back */
	assert_int_equal(load32(c, 4096), 1);
	assert_int_equal(load32(c, 4100), 9);
}

static void epochs_wrap(void **state)
{
	struct vmem *m = *state;
	struct vmem_client *c = vmem_client_new(m);

	dram_set(m, 4096, 1);
	assert_int_equal(load32(c, 4096), 1); /* in epoch 1 */
	c->epoch = VMEM_EPOCH_LAST;
	assert_int_equal(load32(c, 8192), dram32(m, 8192));
	dram_set(m, 4096, 2);
	vmem_l2_invalidate(m);
	vmem_client_invalidate(c);
	assert_int_equal(c->epoch, 1);
	assert_int_equal(load32(c, 4096), 2);
}

static void atomics_compute_what_the_isa_says(void **state)
{
	static const struct {
		enum vmem_atomic op;
		unsigned bytes;
		uint64_t mem, data, compare, result;
	} cases[] = {
	        {VMEM_ATOMIC_SWAP, 4, 5, 9, 0, 9},
	        {VMEM_ATOMIC_CMPSWAP, 4, 5, 9, 5, 9},
	        {VMEM_ATOMIC_CMPSWAP, 4, 5, 9, 4, 5},
	        {VMEM_ATOMIC_ADD, 4, 0xffffffff, 2, 0, 1},
	        {VMEM_ATOMIC_ADD, 8, 0xffffffff, 2, 0, 0x100000001},
	        {VMEM_ATOMIC_SUB, 4, 1, 2, 0, 0xffffffff},
	        {VMEM_ATOMIC_SMIN, 4, 0xffffffff, 1, 0, 0xffffffff},
	        {VMEM_ATOMIC_SMIN, 8, 5, UINT64_MAX, 0, UINT64_MAX},
	        {VMEM_ATOMIC_UMIN, 4, 0xffffffff, 1, 0, 1},
	        {VMEM_ATOMIC_SMAX, 4, 0x80000000, 1, 0, 1},
	        {VMEM_ATOMIC_UMAX, 4, 0x80000000, 1, 0, 0x80000000},
	        {VMEM_ATOMIC_AND, 4, 0xf0f0, 0xff00, 0, 0xf000},
	        {VMEM_ATOMIC_OR, 8, 0xf0f0, UINT64_C(0xff00000000), 0, UINT64_C(0xff0000f0f0)},
	        {VMEM_ATOMIC_XOR, 4, 0xf0f0, 0xff00, 0, 0x0ff0},
	        {VMEM_ATOMIC_INC, 4, 3, 5, 0, 4},
	        {VMEM_ATOMIC_INC, 4, 5, 5, 0, 0},
	        {VMEM_ATOMIC_DEC, 4, 0, 5, 0, 5},
	        {VMEM_ATOMIC_DEC, 4, 9, 5, 0, 5},
	        {VMEM_ATOMIC_DEC, 4, 3, 5, 0, 2},
	};
	struct vmem *m = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t old = 0, got = 0, guard = ~cases[i].mem;

		vmem_l2_write(m, 4096, &cases[i].mem, 8);
		vmem_l2_write(m, 4104, &guard, 8);
		assert_int_equal(vmem_atomic(m, cases[i].op, cases[i].bytes, 4096, cases[i].data,
		                         cases[i].compare, &old),
		        0);
		assert_int_equal(old, cases[i].mem);
		vmem_l2_read(m, 4096, &got, cases[i].bytes);
		if (got != cases[i].result)
			print_error("case %zu: expected %llx, got %llx\n", i,
			        (unsigned long long)cases[i].result, (unsigned long long)got);
		assert_int_equal(got, cases[i].result);
		vmem_l2_read(m, 4104, &got, 8);
		assert_int_equal(got, guard);
	}
}

static void scatter_stores_lanes_and_names_the_bad_one(void **state)
{
	struct vmem *m = *state;
	struct vmem_client *c = vmem_client_new(m);
	static uint32_t rel[64], data[64][4];
	uint64_t bad = UINT64_C(1) << 9;

	for (uint32_t l = 0; l < 64; l++) {
		rel[l] = l * 2044; /* some lanes cross a page */
		data[l][0] = l;
		data[l][1] = ~l;
		data[l][2] = l << 8;
	}
	assert_int_equal(
	        vmem_scatter(c, 4096, rel, ~UINT64_C(0), (const uint32_t(*)[4])data, 12), 64);
	for (uint32_t l = 0; l < 64; l++) {
		assert_int_equal(l2_32(m, 4096 + rel[l]), l);
		assert_int_equal(l2_32(m, 4096 + rel[l] + 4), ~l);
		assert_int_equal(l2_32(m, 4096 + rel[l] + 8), l << 8);
	}
	rel[9] = SIZE - 4096 - 8;
	assert_int_equal(vmem_scatter(c, 4096, rel, bad, (const uint32_t(*)[4])data, 12), 9);
}

struct racer {
	struct vmem *m;
	struct vmem_client *c;
	uint32_t id;
};

/* Two clients write interleaved words of the same pages and read their own back. */
static void *race(void *arg)
{
	struct racer *r = arg;
	uint64_t wrong = 0, old;

	for (uint32_t n = 0; n < 200; n++) {
		for (uint64_t off = 4 * r->id; off < 64 * 4096; off += 200) {
			uint32_t v = n << 8 | r->id;

			vmem_store(r->c, 4096 + off, &v, 4);
			wrong += vmem_get32(vmem_load_fast(r->c, 4096 + off)) != v;
		}
		vmem_client_atomic(r->c, VMEM_ATOMIC_ADD, 4, 0, 1, 0, &old);
		if (n % 7 == r->id)
			vmem_client_invalidate(r->c);
		if (n % 5 == r->id)
			vmem_l2_flush(r->m);
	}
	return (void *)(uintptr_t)wrong;
}

static void racing_clients_keep_every_store(void **state)
{
	struct vmem *m = *state;
	struct racer r[3];
	pthread_t t[3];
	uint32_t zero = 0;

	vmem_dram_write(m, 0, &zero, 4);
	for (uint32_t i = 0; i < 3; i++) {
		r[i] = (struct racer){m, vmem_client_new(m), i};
		pthread_create(&t[i], NULL, race, &r[i]);
	}
	for (int i = 0; i < 3; i++) {
		void *wrong;

		pthread_join(t[i], &wrong);
		assert_int_equal((uintptr_t)wrong, 0);
	}
	vmem_l2_writeback(m);
	assert_int_equal(dram32(m, 0), 600);
	for (uint32_t i = 0; i < 3; i++)
		for (uint64_t off = 4 * i; off < 64 * 4096; off += 200)
			assert_int_equal(dram32(m, 4096 + off), 199 << 8 | i);
}

static void *write_later(void *arg)
{
	sleep_us(20000);
	dram_set(arg, 4096, 5);
	return NULL;
}

#define FOR_EVER_US 3600000000u /* longer than any test may take */

static void waiting_for_a_change_ends_at_the_change_or_in_time(void **state)
{
	struct vmem *m = *state;
	uint64_t seen = vmem_change_count(m), begin = now_ns();
	pthread_t t;

	vmem_wait_change(m, seen, 5000);
	assert_true(now_ns() - begin >= 5000000);
	assert_int_equal(vmem_change_count(m), seen);
	pthread_create(&t, NULL, write_later, m);
	vmem_wait_change(m, seen, FOR_EVER_US);
	assert_int_not_equal(vmem_change_count(m), seen);
	pthread_join(t, NULL);
	vmem_wait_change(m, seen, FOR_EVER_US); /* already changed */
}

static void clients_are_limited(void **state)
{
	struct vmem *m = *state;

	for (int i = 0; i < VMEM_MAX_CLIENTS; i++)
		assert_non_null(vmem_client_new(m));
	assert_null(vmem_client_new(m));
}

#define VMEM_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        VMEM_TEST(untouched_memory_is_noise_and_repeatable),
	        VMEM_TEST(scramble_forgets_everything),
	        VMEM_TEST(accesses_outside_vram_fail),
	        VMEM_TEST(shader_stores_reach_dram_only_by_writeback),
	        VMEM_TEST(writeback_moves_dirty_bytes_only),
	        VMEM_TEST(dirty_ranges_of_any_shape_are_written_back),
	        VMEM_TEST(l2_keeps_stale_data_until_invalidated),
	        VMEM_TEST(invalidate_without_writeback_loses_and_counts),
	        VMEM_TEST(first_level_keeps_old_page_when_another_client_stores),
	        VMEM_TEST(client_sees_own_stores_in_an_old_page),
	        VMEM_TEST(uncached_loads_see_l2),
	        VMEM_TEST(cp_writes_to_l2_and_atomics_leave_first_level_stale),
	        VMEM_TEST(l2_refill_does_not_leak_into_first_level),
	        VMEM_TEST(epochs_wrap),
	        VMEM_TEST(atomics_compute_what_the_isa_says),
	        VMEM_TEST(scatter_stores_lanes_and_names_the_bad_one),
	        VMEM_TEST(racing_clients_keep_every_store),
	        VMEM_TEST(waiting_for_a_change_ends_at_the_change_or_in_time),
	        VMEM_TEST(clients_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
