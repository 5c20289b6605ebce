/* test_buffers.c - named buffers: sizes, zeros, moves, names, pins. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "helper_card.h"

#define MIB (1ull << 20)

static const char card[] = "virtual,posted,threads=1,vram=512";

static struct rx_buffer *make(struct rx580 *rx, const char *name, uint64_t size)
{
	struct rx_buffer *b;

	assert_int_equal(rx_buffer_create(rx, name, &b), 0);
	assert_int_equal(rx_buffer_resize(rx, b, size), 0);
	assert_int_equal(rx_buffer_size(b), size);
	return b;
}

/* check - bytes [at, at + len) of @b are all @value. */
static void check(struct rx580 *rx, struct rx_buffer *b, uint64_t at, size_t len, uint8_t value)
{
	uint8_t *p = malloc(len);

	assert_non_null(p);
	assert_int_equal(rx_vram_read(rx, rx_buffer_offset(b) + at, p, len), 0);
	for (size_t i = 0; i < len; i++)
		if (p[i] != value)
			fail_msg(
			        "byte %zu is 0x%02x, expected 0x%02x", (size_t)at + i, p[i], value);
	free(p);
}

static void new_bytes_are_zero_also_after_shrinking(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);
	struct rx_buffer *b = make(rx, "a", 7);

	(void)state;
	check(rx, b, 0, 7, 0);
	assert_int_equal(
	        rx_vram_write(rx, rx_buffer_offset(b), "\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 7), 0);
	assert_int_equal(rx_buffer_resize(rx, b, 5), 0);
	assert_int_equal(rx_buffer_resize(rx, b, 300), 0);
	check(rx, b, 0, 5, 0xFF);
	check(rx, b, 5, 295, 0);
	assert_int_equal(rx_buffer_resize(rx, b, 0), 0);
	assert_int_equal(rx_buffer_resize(rx, b, 100), 0);
	check(rx, b, 0, 100, 0);
	helper_close_clean(rx);
}

static void bytes_survive_a_move(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);
	struct rx_buffer *a = make(rx, "a", 1000);
	uint64_t before = rx_buffer_offset(a);
	uint8_t bytes[1000];

	(void)state;
	make(rx, "wall", 1000); /* right behind it */
	memset(bytes, 0x5A, sizeof(bytes));
	assert_int_equal(rx_vram_write(rx, before, bytes, sizeof(bytes)), 0);
	assert_int_equal(rx_buffer_resize(rx, a, 3 * MIB), 0);
	assert_int_not_equal(rx_buffer_offset(a), before);
	check(rx, a, 0, 1000, 0x5A);
	check(rx, a, 1000, 5000, 0);
	check(rx, a, 3 * MIB - 100, 100, 0);
	helper_close_clean(rx);
}

static void steady_growth_moves_seldom(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);
	struct rx_buffer *a = make(rx, "a", 65536);
	unsigned moves = 0;

	(void)state;
	make(rx, "wall", 65536);
	for (unsigned i = 2; i <= 100; i++) { /* as cp does */
		uint64_t before = rx_buffer_offset(a);

		assert_int_equal(rx_buffer_resize(rx, a, 65536ull * i), 0);
		moves += rx_buffer_offset(a) != before;
	}
	assert_in_range(moves, 0, 2);
	helper_close_clean(rx);
}

static void no_space_leaves_the_buffer_as_it_was(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);
	struct rx_buffer *a = make(rx, "a", 100);
	struct rx_info before, after;

	(void)state;
	rx_read_info(rx, &before);
	assert_int_equal(rx_buffer_resize(rx, a, 600 * MIB), -ENOSPC);
	assert_int_equal(rx_buffer_resize(rx, a, UINT64_MAX), -ENOSPC);
	rx_read_info(rx, &after);
	assert_int_equal(rx_buffer_size(a), 100);
	assert_int_equal(after.vram_used, before.vram_used);
	check(rx, a, 0, 100, 0);
	helper_close_clean(rx);
}

static void names_are_checked(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);
	static const char *const bad[] = {"", ".hidden", "a/b", "sp ace", "\xC3\xA4",
	        "12345678901234567890123456789012345678901234567890123456789012345"};
	struct rx_buffer *b;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(rx_buffer_create(rx, bad[i], &b), -EINVAL);
	make(rx, "a-B_c.9", 1);
	assert_int_equal(rx_buffer_create(rx, "a-B_c.9", &b), -EEXIST);
	helper_close_clean(rx);
}

static void iteration_is_in_name_order(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);
	static const char *const order[] = {"a", "b", "c", "d"};
	struct rx_buffer *b = NULL;

	(void)state;
	make(rx, "c", 1);
	make(rx, "a", 1);
	make(rx, "x", 1);
	make(rx, "b", 1);
	assert_int_equal(rx_buffer_rename(rx, rx_buffer_find(rx, "x"), "d"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		b = rx_buffer_next(rx, b);
		assert_non_null(b);
		assert_string_equal(rx_buffer_name(b), order[i]);
	}
	assert_null(rx_buffer_next(rx, b));
	helper_close_clean(rx);
}

static void rename_replaces_what_is_not_pinned(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);
	struct rx_buffer *a = make(rx, "a", 10), *b = make(rx, "b", 20);

	(void)state;
	rx_buffer_pin(b);
	assert_int_equal(rx_buffer_rename(rx, a, "b"), -EBUSY);
	rx_buffer_unpin(b);
	assert_int_equal(rx_buffer_rename(rx, a, "bad name"), -EINVAL);
	assert_int_equal(rx_buffer_rename(rx, a, "b"), 0);
	assert_ptr_equal(rx_buffer_find(rx, "b"), a);
	assert_null(rx_buffer_find(rx, "a"));
	assert_int_equal(rx_buffer_size(a), 10);
	helper_close_clean(rx);
}

static void pinned_buffers_stay(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);
	struct rx_buffer *a = make(rx, "a", 10);

	(void)state;
	rx_buffer_pin(a);
	assert_int_equal(rx_buffer_pins(a), 1);
	assert_int_equal(rx_buffer_resize(rx, a, 10), 0); /* same size */
	assert_int_equal(rx_buffer_resize(rx, a, 11), -EBUSY);
	assert_int_equal(rx_buffer_remove(rx, a), -EBUSY);
	rx_buffer_unpin(a);
	assert_int_equal(rx_buffer_remove(rx, a), 0);
	assert_null(rx_buffer_find(rx, "a"));
	helper_close_clean(rx);
}

static void maps_show_who_owns_what(void **state)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);
	struct rx_buffer *a = make(rx, "weights", 10);
	struct rx_range r[16];
	uint64_t code, plan;
	bool seen_buffer = false, seen_code = false, seen_plan = false;

	(void)state;
	rx_buffer_pin(a);
	assert_int_equal(rx_alloc(rx, "kernels/k.co", 100, RX_IN_WINDOW, &code), 0);
	assert_int_equal(rx_alloc(rx, "plans/p", 100, RX_IN_WINDOW, &plan), 0);
	size_t n = rx_maps(rx, r, ARRAY_SIZE(r));

	assert_in_range(n, 5, ARRAY_SIZE(r));
	for (size_t i = 0; i < n; i++) {
		seen_buffer |= r[i].kind == 'b' && r[i].pins == 1 &&
		               !strcmp(r[i].name, "buffers/weights") &&
		               r[i].start == rx_buffer_offset(a);
		seen_code |= r[i].kind == 'k' && r[i].start == code;
		seen_plan |= r[i].kind == 'p' && r[i].start == plan;
	}
	assert_true(seen_buffer && seen_code && seen_plan);
	rx_free(rx, code);
	assert_int_equal(rx_maps(rx, NULL, 0), n - 1);
	helper_close_clean(rx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(new_bytes_are_zero_also_after_shrinking),
	        cmocka_unit_test(bytes_survive_a_move),
	        cmocka_unit_test(steady_growth_moves_seldom),
	        cmocka_unit_test(no_space_leaves_the_buffer_as_it_was),
	        cmocka_unit_test(names_are_checked),
	        cmocka_unit_test(iteration_is_in_name_order),
	        cmocka_unit_test(rename_replaces_what_is_not_pinned),
	        cmocka_unit_test(pinned_buffers_stay),
	        cmocka_unit_test(maps_show_who_owns_what),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
