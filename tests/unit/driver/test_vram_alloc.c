/* test_vram_alloc.c - the bookkeeping of VRAM ranges. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/bytes.h"
#include "device/gmc/vram.h"

#define MIB (1ull << 20)

static struct vram *fresh(void)
{
	struct vram *v;

	assert_int_equal(vram_new(&v, 512 * MIB, 256 * MIB, 16 * MIB), 0);
	return v;
}

static uint64_t take(struct vram *v, uint64_t size, bool window_only)
{
	uint64_t offset = UINT64_MAX;

	assert_int_equal(vram_alloc(v, "x", 's', size, window_only, &offset), 0);
	assert_int_equal(offset % VRAM_GRANULE, 0);
	return offset;
}

static void reserve_is_never_given_out(void **state)
{
	struct vram *v = fresh();
	uint64_t offset;

	(void)state;
	assert_int_equal(take(v, 1, true), 16 * MIB);
	assert_int_equal(vram_alloc(v, "x", 's', 240 * MIB, true, &offset), -ENOSPC);
	assert_int_equal(vram_alloc(v, "x", 's', 0, true, &offset), -EINVAL);
	vram_release(v, 0); /* not a range of anybody */
	assert_int_equal(take(v, 1, true), 16 * MIB + 256);
	vram_free(v);
}

static void large_goes_above_the_window_and_small_below(void **state)
{
	struct vram *v = fresh();

	(void)state;
	assert_int_equal(take(v, MIB, false), 256 * MIB);
	assert_int_equal(take(v, 4096, false), 16 * MIB);
	assert_int_equal(take(v, MIB, true), 16 * MIB + 4096);
	vram_free(v);
}

static void the_other_side_is_used_when_one_is_full(void **state)
{
	struct vram *v = fresh();

	(void)state;
	take(v, 256 * MIB, false);
	assert_int_equal(take(v, 2 * MIB, false), 16 * MIB);
	assert_int_equal(vram_used(v), 258 * MIB);
	vram_free(v);
}

static void holes_are_found_again(void **state)
{
	struct vram *v = fresh();
	uint64_t a = take(v, 1000, true), b = take(v, 1000, true), c = take(v, 1000, true);

	(void)state;
	vram_release(v, b);
	assert_int_equal(vram_used(v), 2048);
	assert_int_equal(take(v, 1024, true), b);
	assert_true(a < b && b < c);
	vram_free(v);
}

static void ranges_grow_into_the_hole_behind_them(void **state)
{
	struct vram *v = fresh();
	uint64_t a = take(v, 1000, true), b = take(v, 1000, true);

	(void)state;
	assert_int_equal(vram_resize(v, a, 1024), 0);
	assert_int_equal(vram_resize(v, a, 1025), -ENOSPC);
	vram_release(v, b);
	assert_int_equal(vram_resize(v, a, 2048), 0);
	assert_int_equal(vram_resize(v, a, 256), 0);
	assert_int_equal(take(v, 256, true), a + 256);
	assert_int_equal(vram_resize(v, 12345, 1), -ENOENT);
	vram_free(v);
}

static void what_grows_gets_the_largest_hole(void **state)
{
	struct vram *v = fresh();
	uint64_t offset;

	(void)state;
	take(v, MIB, false);
	assert_int_equal(vram_alloc_roomy(v, "x", 'b', 4096, &offset), 0);
	assert_int_equal(offset, 257 * MIB);
	vram_free(v);
}

static void list_is_ascending_and_complete(void **state)
{
	struct vram *v = fresh();
	struct rx_range r[8];

	(void)state;
	take(v, 2 * MIB, false);
	uint64_t low = take(v, 256, true);

	vram_rename(v, low, "new name");
	vram_set_pins(v, low, 3);
	assert_int_equal(vram_list(v, NULL, 0), 3);
	assert_int_equal(vram_list(v, r, 8), 3);
	assert_int_equal(r[0].start, 0);
	assert_int_equal(r[0].end, 16 * MIB);
	assert_int_equal(r[1].start, low);
	assert_string_equal(r[1].name, "new name");
	assert_int_equal(r[1].pins, 3);
	assert_int_equal(r[2].start, 256 * MIB);
	vram_free(v);
}

/* Random takes and releases: ranges never overlap and nothing is lost. */
static void random_traffic_keeps_the_map_sound(void **state)
{
	struct vram *v = fresh();
	uint64_t held[64] = {0};
	struct rx_range r[80];

	(void)state;
	srand(1);
	for (int i = 0; i < 20000; i++) {
		unsigned slot = (unsigned)rand() % 64;

		if (held[slot]) {
			vram_release(v, held[slot]);
			held[slot] = 0;
		} else if (vram_alloc(v, "x", 's', 1 + (uint64_t)(unsigned)rand() % (8 * MIB),
		                   rand() % 2, &held[slot])) {
			held[slot] = 0;
		}
	}
	size_t n = vram_list(v, r, ARRAY_SIZE(r));

	for (size_t i = 1; i < n; i++)
		assert_true(r[i - 1].end <= r[i].start && r[i].start < r[i].end);
	for (unsigned i = 0; i < 64; i++)
		if (held[i])
			vram_release(v, held[i]);
	assert_int_equal(vram_used(v), 0);
	vram_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(reserve_is_never_given_out),
	        cmocka_unit_test(large_goes_above_the_window_and_small_below),
	        cmocka_unit_test(the_other_side_is_used_when_one_is_full),
	        cmocka_unit_test(holes_are_found_again),
	        cmocka_unit_test(ranges_grow_into_the_hole_behind_them),
	        cmocka_unit_test(what_grows_gets_the_largest_hole),
	        cmocka_unit_test(list_is_ascending_and_complete),
	        cmocka_unit_test(random_traffic_keeps_the_map_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
