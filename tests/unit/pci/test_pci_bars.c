/* test_pci_bars.c - sizes and places of BARs, and the expansion ROM's. */
#include "helper_config.h"

static const struct pci_bar *bar(const struct config *c, unsigned i)
{
	return &pci_info(c->pci)->bar[i];
}

static void expect_bar(const struct config *c, unsigned i, uint64_t addr, uint64_t size)
{
	if (bar(c, i)->addr != addr || bar(c, i)->size != size)
		fail_msg("BAR%u: expected 0x%llx, 0x%llx bytes, got 0x%llx, 0x%llx", i,
		        (unsigned long long)addr, (unsigned long long)size,
		        (unsigned long long)bar(c, i)->addr, (unsigned long long)bar(c, i)->size);
}

static void sizes_are_read_with_decode_off_and_all_is_put_back(void **state)
{
	struct config *c = *state;
	uint32_t before[CONFIG_DWORDS];

	memcpy(before, c->value, sizeof(before));
	assert_int_equal(pci_start(c->pci), 0);
	expect_bar(c, 0, 0xF0000000, 256ull << 20);
	expect_bar(c, 2, 0xE0200000, 2u << 20);
	expect_bar(c, 4, 0xD0000100, 0x100);
	expect_bar(c, 5, 0xE0040000, 0x40000);
	assert_true(bar(c, 0)->memory && bar(c, 0)->wide && bar(c, 0)->prefetchable);
	assert_true(bar(c, 5)->memory && !bar(c, 5)->wide && !bar(c, 5)->prefetchable);
	assert_false(bar(c, 4)->memory);
	assert_int_equal(bar(c, 1)->size, 0); /* the upper half of BAR0 */
	assert_int_equal(c->bad_sizing, 0);
	pci_stop(c->pci);
	assert_memory_equal(c->value, before, sizeof(before));
}

static void large_and_high_bars_are_sized_as_one_number(void **state)
{
	struct config *c = *state;

	c->info.wide_start = 0x800000000;
	c->info.wide_end = 1ull << 40;
	config_bar(c, 0, 0x1000000000, 8ull << 30, 0xC); /* resized to all of VRAM */
	assert_int_equal(pci_start(c->pci), 0);
	expect_bar(c, 0, 0x1000000000, 8ull << 30);
}

static void an_io_bar_without_upper_half_is_sized_by_its_lower(void **state)
{
	struct config *c = *state;

	config_set(c, AT_BAR(4), 0xE001, 0x0000FF00); /* bridge.md 4.4: ignore the upper 16 bits */
	assert_int_equal(pci_start(c->pci), 0);
	expect_bar(c, 4, 0xE000, 0x100);
}

static void bars_that_are_no_rx580s_are_refused(void **state)
{
	struct config *c = *state;

	config_no_bar(c, 5);
	assert_int_equal(pci_start(c->pci), -ENODEV);
	config_said(c, "not an RX 580's");
	config_bar(c, 5, 0xE0040000, 0x20000, 0);
	assert_int_equal(pci_start(c->pci), -ENODEV);
	config_bar(c, 5, 0xE0040000, 0x40000, 0x4);
	assert_int_equal(pci_start(c->pci), -EIO);
	config_said(c, "BAR5 claims to be 64 bits wide");
	config_bar(c, 5, 0xE0040000, 0x40000, 0);
	config_bar(c, 0, 0xF0000000, 64u << 10, 0xC);
	assert_int_equal(pci_start(c->pci), -ENODEV);
}

static void bars_out_of_reach_or_on_each_other_are_refused(void **state)
{
	struct config *c = *state;

	config_bar(c, 2, 0x00200000, 2u << 20, 0xC); /* what the bridge answers itself */
	assert_int_equal(pci_start(c->pci), -ENOTSUP);
	config_said(c, "BAR2 at 0x200000, 0x200000 bytes, is out of this bridge's reach");
	config_bar(c, 2, 0x1E0200000, 2u << 20, 0xC); /* above 4 GiB, no window there */
	assert_int_equal(pci_start(c->pci), -ENOTSUP);
	config_bar(c, 2, 0xE0000000, 2u << 20, 0xC);
	assert_int_equal(pci_start(c->pci), -ENOTSUP);
	config_said(c, "BAR2 and BAR5 overlap");
}

static void bars_nobody_placed_are_placed_largest_first(void **state)
{
	struct config *c = *state;

	c->info.assigns_bars = false;
	config_bar(c, 0, 0, 256ull << 20, 0xC);
	config_bar(c, 2, 0, 2u << 20, 0xC);
	config_bar(c, 5, 0, 0x40000, 0);
	assert_int_equal(pci_start(c->pci), 0);
	expect_bar(c, 0, 0x20000000, 256ull << 20);
	expect_bar(c, 2, 0x30000000, 2u << 20);
	expect_bar(c, 5, 0x30200000, 0x40000);
	assert_int_equal(config_get(c, AT_BAR(0)), 0x2000000C);
	assert_int_equal(config_get(c, AT_BAR(5)), 0x30200000);
	assert_int_equal(c->bad_sizing, 0);
	pci_stop(c->pci);
	assert_int_equal(config_get(c, AT_BAR(0)), 0xC);
	assert_int_equal(config_get(c, AT_BAR(5)), 0);
}

static void no_room_is_said(void **state)
{
	struct config *c = *state;

	c->info.assigns_bars = false;
	c->info.reach_end = c->info.reach_start + (128u << 20);
	assert_int_equal(pci_start(c->pci), -ENOTSUP);
	config_said(c, "no room for BAR0, 0x10000000 bytes");
	c->info.wide_start = 0x800000000; /* a wide prefetchable one may go there */
	c->info.wide_end = 1ull << 40;
	assert_int_equal(pci_start(c->pci), 0);
	expect_bar(c, 0, 0x800000000, 256ull << 20);
	expect_bar(c, 5, 0x20200000, 0x40000);
}

static void a_bar_that_does_not_take_its_place_is_said(void **state)
{
	struct config *c = *state;

	c->info.assigns_bars = false;
	/* sizes like 256 KiB, but the address bit this place needs is stuck */
	config_set(c, AT_BAR(5), 0x80000000, 0x7FFC0000);
	assert_int_equal(pci_start(c->pci), -EIO);
	config_said(c, "BAR5 reads");
	config_said(c, "after writing 0x30200000");
}

static void a_bar_moves_only_where_it_fits(void **state)
{
	struct config *c = *state;

	assert_int_equal(pci_start(c->pci), 0);
	assert_int_equal(pci_move_bar(c->pci, 5, 0xA3200000), 0);
	assert_int_equal(config_get(c, AT_BAR(5)), 0xA3200000);
	assert_int_equal(pci_move_bar(c->pci, 5, 0xA3210000), -ENOTSUP); /* not aligned */
	assert_int_equal(pci_move_bar(c->pci, 5, 0xF0000000), -ENOTSUP); /* BAR0's */
	assert_int_equal(pci_move_bar(c->pci, 5, 0x10000000), -ENOTSUP); /* out of reach */
	assert_int_equal(pci_move_bar(c->pci, 0, 0x40000000), -ENOTSUP); /* 64 bits wide */
	assert_int_equal(pci_move_bar(c->pci, 6, 0x40000000), -ENOTSUP);
	expect_bar(c, 5, 0xA3200000, 0x40000);
	pci_stop(c->pci);
	assert_int_equal(config_get(c, AT_BAR(5)), 0xE0040000);
}

/* ---- expansion ROM: bridge.md 4.8 ---- */

static void the_rom_is_sized_placed_read_and_put_away(void **state)
{
	struct config *c = *state;
	uint8_t bytes[8];
	uint32_t size;

	assert_int_equal(pci_start(c->pci), 0);
	assert_int_equal(pci_rom_read(c->pci, 0, bytes, 8), -EINVAL); /* not open */
	assert_int_equal(pci_rom_open(c->pci, &size), 0);
	assert_int_equal(size, 0x20000);
	assert_int_equal(pci_rom_read(c->pci, size - 8, bytes, 8), 0);
	assert_int_equal(c->rom_when_read & 1, 1);
	uint64_t at = c->rom_when_read & ~1u;

	assert_int_equal(c->read_at, at + size - 8);
	assert_int_equal(at % size, 0);
	assert_true(at >= c->info.reach_start && at + size <= c->info.reach_end);
	for (unsigned i = 0; i < 6; i++)
		assert_false(bar(c, i)->memory && at < bar(c, i)->addr + bar(c, i)->size &&
		             bar(c, i)->addr < at + size);
	assert_false(c->hooks_when_read); /* nobody gets in while it is on */
	assert_int_equal(pci_rom_read(c->pci, size - 8, bytes, 9), -EINVAL);
	assert_int_equal(pci_rom_close(c->pci), 0);
	assert_int_equal(config_get(c, AT_ROM), 0);
	assert_non_null(c->bridge.hooks.yield);
	assert_int_equal(pci_rom_read(c->pci, 0, bytes, 8), -EINVAL);
}

static void every_size_of_rom_is_told(void **state)
{
	struct config *c = *state;
	uint32_t size;

	assert_int_equal(pci_start(c->pci), 0);
	for (uint32_t want = 2048; want <= 16u << 20; want *= 2) {
		config_set(c, AT_ROM, 0, ~(want - 1) | 1);
		assert_int_equal(pci_rom_open(c->pci, &size), 0);
		assert_int_equal(size, want);
		assert_int_equal(pci_rom_close(c->pci), 0);
	}
}

static void no_rom_and_no_room_are_no_data(void **state)
{
	struct config *c = *state;
	uint32_t size;

	assert_int_equal(pci_start(c->pci), 0);
	config_set(c, AT_ROM, 0, 0); /* not implemented */
	assert_int_equal(pci_rom_open(c->pci, &size), -ENODATA);
	config_set(c, AT_ROM, 0xFFFFFFFF, 0); /* nobody answers */
	assert_int_equal(pci_rom_open(c->pci, &size), -ENODATA);
	pci_stop(c->pci);
	c->info.reach_start = 0xE0000000; /* only BARs in there */
	config_set(c, AT_ROM, 0, 0xF0000001);
	assert_int_equal(pci_start(c->pci), 0);
	assert_int_equal(pci_rom_open(c->pci, &size), -ENODATA);
	assert_int_equal(config_get(c, AT_ROM), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, config_setup, config_teardown)
	const struct CMUnitTest tests[] = {
	        T(sizes_are_read_with_decode_off_and_all_is_put_back),
	        T(large_and_high_bars_are_sized_as_one_number),
	        T(an_io_bar_without_upper_half_is_sized_by_its_lower),
	        T(bars_that_are_no_rx580s_are_refused),
	        T(bars_out_of_reach_or_on_each_other_are_refused),
	        T(bars_nobody_placed_are_placed_largest_first),
	        T(no_room_is_said),
	        T(a_bar_that_does_not_take_its_place_is_said),
	        T(a_bar_moves_only_where_it_fits),
	        T(the_rom_is_sized_placed_read_and_put_away),
	        T(every_size_of_rom_is_told),
	        T(no_rom_and_no_room_are_no_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
