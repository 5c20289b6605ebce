/* vram_test.c - does VRAM hold what is written, at every address of its own? Through BAR0 and
 * through MM_INDEX/MM_DATA: polaris.md 13.1 steps 14, 15, 3.6. And the page that tells of stray
 * accesses: 12.3.
 */
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/gmc/gmc_priv.h"
#include "device/regs/regs.h"

#define MM_INDEX_VRAM 0x80000000u /* polaris.md 3.6 */
#define MM_SPOTS      6           /* from the top down, each at half the last: any lost bit shows */
#define PAGE_BYTES    4096u

static void fill_pattern(uint8_t *pattern, size_t len, uint64_t offset)
{
	for (size_t i = 0; i < len; i += 8)
		put_le64(pattern + i,
		        ~(offset + i) ^
		                0x5258353830ull); /* address in address, not its own complement */
}

/* test_spot - what was there is put back. */
static int test_spot(struct gmc *g, uint64_t offset)
{
	uint8_t before[16], pattern[16], after[16] = {0};
	int err = gmc_hdp_invalidate(g);

	fill_pattern(pattern, sizeof(pattern), offset);
	if (!err)
		err = gmc_window_read(g, offset, before, sizeof(before));
	if (!err)
		err = gmc_window_write(g, offset, pattern, sizeof(pattern));
	if (!err)
		err = gmc_hdp_flush(g);
	if (!err)
		err = gmc_hdp_invalidate(g);
	if (!err)
		err = gmc_window_read(g, offset, after, sizeof(after));
	if (!err && memcmp(pattern, after, sizeof(after)))
		return rx_fail("gmc", -EIO,
		        "VRAM at 0x%llx does not hold what was written (0x%08x, read 0x%08x)",
		        (unsigned long long)offset, get_le32(pattern), get_le32(after));
	if (!err)
		err = gmc_window_write(g, offset, before, sizeof(before));
	return err ? err : gmc_hdp_flush(g);
}

/* test_window - step 14 */
static int test_window(struct gmc *g)
{
	const uint64_t spots[] = {0, 1u << 20, g->window_bytes - (1u << 20)};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(spots) && !err; i++)
		if (spots[i] < GMC_RESERVED_BYTES || !g->spare)
			err = test_spot(g, spots[i]);
	return err;
}

/* ---- all of VRAM, through MM_INDEX and MM_DATA ---- */

static int mm_select(struct gmc *g, uint64_t offset)
{
	int err = reg_write(g->mmio, REG_MM_INDEX_HI, (uint32_t)(offset >> 31));

	return err ? err : reg_write(g->mmio, REG_MM_INDEX, (uint32_t)offset | MM_INDEX_VRAM);
}

static int mm_read(struct gmc *g, uint64_t offset, uint32_t *value)
{
	int err = mm_select(g, offset);

	return err ? err : reg_read(g->mmio, REG_MM_DATA, value);
}

static int mm_write(struct gmc *g, uint64_t offset, uint32_t value)
{
	int err = mm_select(g, offset);

	return err ? err : reg_write(g->mmio, REG_MM_DATA, value);
}

static uint64_t mm_spot(const struct gmc *g, unsigned i)
{
	return (g->vram_bytes >> i) - 4;
}

static uint32_t mm_pattern(uint64_t offset)
{
	return (uint32_t)(offset >> 8) ^ 0x580u; /* no two spots have the same */
}

/* mm_check - one spot, and through BAR0 as well where that reaches. */
static int mm_check(struct gmc *g, uint64_t offset)
{
	uint32_t want = mm_pattern(offset), got;
	int err = mm_read(g, offset, &got);

	if (!err && got != want)
		return rx_fail("gmc", -EIO,
		        "VRAM at 0x%llx reads 0x%08x through MM_DATA, expected 0x%08x: it does not "
		        "hold data, or CONFIG_MEMSIZE (%llu MiB) is too large",
		        (unsigned long long)offset, got, want,
		        (unsigned long long)(g->vram_bytes >> 20));
	if (err || offset + 4 > g->window_bytes)
		return err;
	uint8_t bytes[4] = {0};

	err = gmc_window_read(g, offset, bytes, sizeof(bytes));
	if (!err && get_le32(bytes) != want)
		return rx_fail("gmc", -EIO,
		        "VRAM at 0x%llx reads 0x%08x through BAR0, expected 0x%08x as through "
		        "MM_DATA",
		        (unsigned long long)offset, get_le32(bytes), want);
	return err;
}

static int mm_exercise(struct gmc *g)
{
	int err = 0;

	for (unsigned i = 0; i < MM_SPOTS && !err; i++)
		err = mm_write(g, mm_spot(g, i), mm_pattern(mm_spot(g, i)));
	if (!err)
		err = gmc_hdp_flush(g);
	if (!err)
		err = gmc_hdp_invalidate(g);
	for (unsigned i = 0; i < MM_SPOTS && !err; i++)
		err = mm_check(g, mm_spot(g, i));
	return err;
}

/* test_all - what was there is put back; POST counts on nothing in MM_INDEX. */
static int test_all(struct gmc *g)
{
	uint32_t before[MM_SPOTS], high;
	int err = reg_read(g->mmio, REG_MM_INDEX_HI, &high);

	for (unsigned i = 0; i < MM_SPOTS && !err; i++)
		err = mm_read(g, mm_spot(g, i), &before[i]);
	if (!err)
		err = mm_exercise(g);
	for (unsigned i = 0; i < MM_SPOTS && !err; i++)
		err = mm_write(g, mm_spot(g, i), before[i]);
	if (!err)
		err = reg_write(g->mmio, REG_MM_INDEX_HI, high);
	return err ? err : gmc_hdp_flush(g);
}

int gmc_test_vram(struct gmc *g)
{
	int err = test_window(g);

	return err || g->spare ? err : test_all(g);
}

/* ---- the default page ---- */

static void fill_page(uint8_t page[PAGE_BYTES])
{
	for (uint32_t at = 0; at < PAGE_BYTES; at += 4)
		put_le32(page + at, 0x5A000580u | at << 12);
}

int gmc_mark_default_page(struct gmc *g)
{
	uint8_t page[PAGE_BYTES];
	int err;

	fill_page(page);
	err = gmc_window_write(g, GMC_DEFAULT_PAGE, page, sizeof(page));
	if (!err)
		err = gmc_hdp_flush(g);
	g->marked = !err;
	return err;
}

int gmc_check_default_page(struct gmc *g)
{
	uint8_t want[PAGE_BYTES], got[PAGE_BYTES];
	uint32_t at = 0;
	int err = gmc_hdp_invalidate(g);

	fill_page(want);
	if (!err)
		err = gmc_window_read(g, GMC_DEFAULT_PAGE, got, sizeof(got));
	if (err || !memcmp(want, got, sizeof(got)))
		return err;
	while (get_le32(want + at) == get_le32(got + at))
		at += 4;
	rx_log(LOG_WARN, "gmc",
	        "the default page (VRAM 0x%llx) reads 0x%08x, expected 0x%08x: the card has "
	        "written to an address outside VRAM, or somebody into the reserve",
	        (unsigned long long)GMC_DEFAULT_PAGE + at, get_le32(got + at), get_le32(want + at));
	return gmc_mark_default_page(g); /* said once each time */
}
