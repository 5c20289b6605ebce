/* smc.c - the SMC address space: the ROM port, and the identification values of a cold SMU. The SMU
 * itself is not modelled: it never runs, and what is not listed here does not exist
 * (polaris.md 2.1, 14.1 E1, 14.5).
 */
#include "device/bytes.h"
#include "device/virtual/card/card_priv.h"

/* polaris.md 14.5; storage with the given reset value */
static const struct {
	uint32_t index, reset;
} storage[] = {
        {0x80000000, 1},                   /* SMC_SYSCON_RESET_CNTL: rst_reg */
        {0x80000004, 1},                   /* SMC_SYSCON_CLOCK_CNTL_0: ck_disable */
        {0x80000370, 0},                   /* SMC_PC_C: stopped */
        {0xC0000004, 1u << 7},             /* RCU_UC_EVENTS: boot_seq_done */
        {0xC05001A0, 0},                   /* CG_CLKPIN_CNTL */
        {0xC05001A4, 0},                   /* CG_CLKPIN_CNTL_2 */
        {0xC05000DC, 0},                   /* CG_ACLK_CNTL: polaris.md 5.3 */
        {0xE0003088, 0},                   /* SMU_STATUS */
        {0xE00030A4, 1u << 16 | 1u << 17}, /* SMU_FIRMWARE: protected mode */
        {IX_ROM_CNTL, 0},
};

void smc_reset(struct vcard *c)
{
	c->rom_index = 0;
	for (size_t i = 0; i < ARRAY_SIZE(storage); i++)
		c->smc_value[i] = storage[i].reset;
}

static int find(uint32_t index)
{
	for (size_t i = 0; i < ARRAY_SIZE(storage); i++)
		if (storage[i].index == index)
			return (int)i;
	return -1;
}

static void complain(struct vcard *c, const char *what, uint32_t index)
{
	uint64_t bit = 1ull << (index >> 2) % 64; /* one line for each of 64 classes is enough */

	if (c->smc_complained & bit) {
		c->guest_errors++;
		return;
	}
	c->smc_complained |= bit;
	card_guest_error(c, "%s of undefined SMC register 0x%08x", what, index);
}

static uint32_t rom_next(struct vcard *c)
{
	uint32_t at = c->rom_index & ~3u;

	c->rom_index = at + 4; /* polaris.md 14.5: every read advances */
	return range_ok(at, 4, CARD_FLASH_BYTES) ? get_le32(c->flash + at) : CARD_ALL_ONES;
}

uint32_t smc_read(struct vcard *c, uint32_t index)
{
	int i;

	if (index == IX_ROM_DATA)
		return rom_next(c);
	if (index == IX_ROM_INDEX)
		return c->rom_index;
	i = find(index);
	if (i >= 0)
		return c->smc_value[i];
	complain(c, "read", index);
	return 0;
}

void smc_write(struct vcard *c, uint32_t index, uint32_t value)
{
	int i = find(index);

	if (index == IX_ROM_INDEX)
		c->rom_index = value;
	else if (i >= 0)
		c->smc_value[i] = value;
	else
		complain(c, "write", index);
}
