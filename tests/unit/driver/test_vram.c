/* test_vram.c - bytes of VRAM through the window and above it, copies and fills, with other jobs
 * getting in between. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "helper_card.h"

#define MIB (1ull << 20)

static void fill_random(uint8_t *p, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		p[i] = (uint8_t)(seed >> 24);
	}
}

static void round_trip(struct rx580 *rx, uint64_t offset, size_t len)
{
	uint8_t *out = malloc(len), *in = malloc(len);

	assert_non_null(out);
	assert_non_null(in);
	fill_random(out, len, (unsigned)(offset + len));
	memset(in, 0, len);
	assert_int_equal(rx_vram_write(rx, offset, out, len), 0);
	assert_int_equal(rx_vram_read(rx, offset, in, len), 0);
	assert_memory_equal(in, out, len);
	free(out);
	free(in);
}

static void every_small_length_and_offset_survives(void **state)
{
	struct rx580 *rx = helper_open("virtual,posted,threads=1,vram=512", NULL, NULL);

	(void)state;
	for (uint64_t at = 0; at < 4; at++)
		for (size_t len = 1; len <= 9; len++) {
			round_trip(rx, 32 * MIB + 64 * len + at, len);
			round_trip(rx, 400 * MIB + 64 * len + at, len);
		}
	helper_close_clean(rx);
}

static void long_runs_survive_below_across_and_above_the_window(void **state)
{
	struct rx580 *rx = helper_open("virtual,posted,threads=1,vram=512", NULL, NULL);

	(void)state;
	round_trip(rx, 32 * MIB + 5, 20000);
	round_trip(rx, 256 * MIB - 7001, 14003); /* both sides of the border, nothing aligned */
	round_trip(rx, 300 * MIB + 1, 200001);
	round_trip(rx, 512 * MIB - 4096, 4096);
	helper_close_clean(rx);
}

static void neighbours_of_an_unaligned_write_are_kept(void **state)
{
	struct rx580 *rx = helper_open("virtual,posted,threads=1,vram=512", NULL, NULL);
	const uint64_t at[] = {40 * MIB, 440 * MIB};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		uint8_t bytes[16], expect[16];

		memset(bytes, 0x11, sizeof(bytes));
		memset(expect, 0x11, sizeof(expect));
		assert_int_equal(rx_vram_write(rx, at[i], bytes, sizeof(bytes)), 0);
		assert_int_equal(rx_vram_write(rx, at[i] + 5, "abcde", 5), 0);
		memcpy(expect + 5, "abcde", 5);
		assert_int_equal(rx_vram_read(rx, at[i], bytes, sizeof(bytes)), 0);
		assert_memory_equal(bytes, expect, sizeof(bytes));
	}
	helper_close_clean(rx);
}

static void copies_and_fills_reach_all_of_vram(void **state)
{
	struct rx580 *rx = helper_open("virtual,posted,threads=1,vram=512", NULL, NULL);
	const size_t len = 3 * MIB + 4;
	uint8_t *a = malloc(len), *b = malloc(len);

	(void)state;
	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal(rx_vram_fill(rx, 300 * MIB, 0xAABBCCDD, len), 0);
	assert_int_equal(rx_vram_write(rx, 301 * MIB, "needle", 6), 0);
	assert_int_equal(rx_vram_copy(rx, 32 * MIB, 300 * MIB, len), 0);
	for (size_t i = 0; i < len; i += 4)
		put_le32(a + i, 0xAABBCCDD);
	memcpy(a + MIB, "needle", 6);
	assert_int_equal(rx_vram_read(rx, 32 * MIB, b, 4096), 0);
	assert_memory_equal(b, a, 4096);
	assert_int_equal(rx_vram_read(rx, 33 * MIB, b, 4096), 0);
	assert_memory_equal(b, a + MIB, 4096);
	assert_int_equal(rx_vram_read(rx, 32 * MIB + len - 8, b, 8), 0);
	assert_memory_equal(b, a, 8);
	free(a);
	free(b);
	helper_close_clean(rx);
}

static void ranges_outside_vram_are_refused(void **state)
{
	struct rx580 *rx = helper_open("virtual,posted,threads=1,vram=512", NULL, NULL);
	uint8_t byte = 0;

	(void)state;
	assert_int_equal(rx_vram_read(rx, 512 * MIB, &byte, 1), -EINVAL);
	assert_int_equal(rx_vram_read(rx, UINT64_MAX, &byte, 2), -EINVAL);
	assert_int_equal(rx_vram_write(rx, 512 * MIB - 1, "ab", 2), -EINVAL);
	assert_int_equal(rx_vram_fill(rx, 512 * MIB - 4, 0, 8), -EINVAL);
	assert_int_equal(rx_vram_fill(rx, 2, 0, 8), -EINVAL);
	assert_int_equal(rx_vram_copy(rx, 32 * MIB, 32 * MIB + 4, 8), -EINVAL); /* overlap */
	assert_int_equal(rx_vram_read_raw(rx, 256 * MIB, &byte, 1), -EINVAL);
	assert_int_equal(rx_vram_write_raw(rx, 256 * MIB - 1, "ab", 2), -EINVAL);
	assert_int_equal(rx_vram_read(rx, 512 * MIB, &byte, 0), 0);
	assert_int_equal(rx_reg_read(rx, 2, &(uint32_t){0}), -EINVAL);
	assert_int_equal(rx_reg_write(rx, 0x40000, 0), -EINVAL);
	assert_int_equal(rx_cfg_read(rx, 1, 2, &(uint32_t){0}), -EINVAL);
	helper_close_clean(rx);
}

/* ---- jobs in between ---- */

struct guest {
	struct rx580 *rx;
	unsigned calls, deepest, depth;
};

/* another_job - what the owner's queue may bring: staged traffic of its own, at every yield, also
 * inside itself. */
static void another_job(void *ctx)
{
	struct guest *g = ctx;
	uint8_t in[64], out[64];

	if (!g->rx || g->depth >= 3 || g->calls >= 400)
		return;
	unsigned id = ++g->calls;

	g->depth++;
	g->deepest = g->depth > g->deepest ? g->depth : g->deepest;
	memset(out, (int)id, sizeof(out));
	assert_int_equal(rx_vram_write(g->rx, 450 * MIB + 64ull * id, out, sizeof(out)), 0);
	assert_int_equal(rx_vram_read(g->rx, 450 * MIB + 64ull * id, in, sizeof(in)), 0);
	assert_memory_equal(in, out, sizeof(in));
	g->depth--;
}

static void jobs_between_do_not_disturb_a_transfer(void **state)
{
	struct guest g = {0};
	struct rx580 *rx = helper_open("virtual,posted,threads=1,vram=512", another_job, &g);

	(void)state;
	g.rx = rx;
	round_trip(rx, 32 * MIB + 3, 30003);
	/* the service ring wraps with work outstanding */
	for (int i = 0; i < 1000 && g.calls < 400; i++) {
		assert_int_equal(rx_vram_fill(rx, 300 * MIB, 0, 4 * MIB), 0);
		round_trip(rx, 300 * MIB + 3, 10003);
	}
	assert_true(g.calls >= 400);
	assert_true(g.deepest > 1);
	g.rx = NULL;
	helper_close_clean(rx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_small_length_and_offset_survives),
	        cmocka_unit_test(long_runs_survive_below_across_and_above_the_window),
	        cmocka_unit_test(neighbours_of_an_unaligned_write_are_kept),
	        cmocka_unit_test(copies_and_fills_reach_all_of_vram),
	        cmocka_unit_test(ranges_outside_vram_are_refused),
	        cmocka_unit_test(jobs_between_do_not_disturb_a_transfer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
