/* smc.c - the SMC address space behind the index/data pairs: SMC RAM, the registers of the clock,
 * power, fuse and thermal blocks, the flash port (polaris.md 4.3, 14.5; atombios.md 14).
 *
 * ATOM tables reach it through pair 1 and touch registers that differ by image: there whole blocks
 * are storage. Drivers use pairs 0 and 11: there a register must have a name in regs.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/card/card_priv.h"

/* Blocks of storage, 0 after reset unless listed in resets[]. */
static const struct {
	uint32_t first, last; /* inclusive */
} blocks[] = {
        {0x80000000, 0x80000FFC}, /* SMC system controller */
        {0xC0000000, 0xC0000FFC}, /* RCU */
        {0xC0100000, 0xC0100FFC}, /* fuses: all 0, i.e. no AVFS (polaris.md 14.5) */
        {0xC0200000, 0xC0200FFC}, /* power management, SVI2 */
        {0xC0300000, 0xC0300FFC}, /* thermal, fan */
        {0xC0400000, 0xC0400FFC}, /* LCAC */
        {0xC0500000, 0xC0500FFC}, /* clocks */
        {0xC0600000, 0xC0600FFC}, /* ROM, pads */
        {0xE0003000, 0xE0003FFC}, /* SMU status */
};
#define FUSES_FIRST 0xC0100000u
#define FUSES_LAST  0xC0100FFCu

/* Serial busy bits and PLL status: policy E rules 3 and 4, atombios.md 14 */
#define IX_FUSE_SERIAL_0 0xC0300044u
#define IX_FUSE_SERIAL_1 0xC030004Cu
#define IX_SPLL_STATUS_0 0xC0500278u
#define IX_SPLL_STATUS_1 0xC05002F4u

struct value {
	uint32_t index, value;
};

static const struct value resets[] = {
        {IX_SMC_SYSCON_RESET_CNTL, 1},          /* rst_reg: polaris.md 14.5 */
        {IX_SMC_SYSCON_CLOCK_CNTL_0, 1},        /* ck_disable */
        {IX_RCU_UC_EVENTS, 1u << 7},            /* boot_seq_done */
        {IX_SMU_FIRMWARE, 1u << 16 | 1u << 17}, /* protected mode, SMU_SEL */
};

/* Thermal limits and fan as ASIC_Init leaves them: of the stored runs (atombios.md 14). */
static const struct value posted[] = {
        {IX_CG_THERMAL_CTRL, 0x06910002},
        {IX_CG_THERMAL_INT, 0x08006A60}, /* polaris.md 10.9: as real images have it */
        {IX_CG_CLKPIN_CNTL, 0x00000003}, /* a quarter of the reference clock: polaris.md 1.4 */
        {IX_CG_MULT_THERMAL_CTRL, 0x00000001},
        {IX_CG_FDO_CTRL0, 0x01814396},
        {IX_CG_FDO_CTRL1, 0x40092587},
        {IX_CG_FDO_CTRL2, 0x02BF1435},
        {IX_CG_TACH_CTRL, 0x00008001},
};

static const uint32_t named[] = {
#define X(name, address) address,
        RX_SMC_REGISTERS(X)
#undef X
};

static const uint32_t read_only[] = {
        IX_SMC_PC_C,
        IX_SMC_SCRATCH9,
        IX_RCU_UC_EVENTS,
        IX_SMU_FIRMWARE,
        IX_PWR_SVI2_STATUS,
        IX_CG_THERMAL_STATUS,
        IX_CG_MULT_THERMAL_STATUS,
        IX_CG_TACH_STATUS,
        IX_ROM_STATUS,
        IX_TARGET_AND_CURRENT_PROFILE_INDEX,
};

static size_t block_dwords(void)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++)
		n += (blocks[i].last - blocks[i].first) / 4 + 1;
	return n;
}

uint32_t *card_smc_storage(struct vcard *c, uint32_t index)
{
	uint32_t *p = c->smc_reg;

	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		if (index >= blocks[i].first && index <= blocks[i].last && index % 4 == 0)
			return p + (index - blocks[i].first) / 4;
		p += (blocks[i].last - blocks[i].first) / 4 + 1;
	}
	return NULL;
}

int card_smc_new(struct vcard *c)
{
	c->smc_reg = calloc(block_dwords(), sizeof(*c->smc_reg));
	return c->smc_reg ? 0 : -ENOMEM;
}

static void set(struct vcard *c, const struct value *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		*card_smc_storage(c, v[i].index) = v[i].value;
}

void card_smc_reset(struct vcard *c)
{
	c->rom_index = 0;
	memset(c->smc_reg, 0, block_dwords() * sizeof(*c->smc_reg));
	set(c, resets, ARRAY_SIZE(resets));
	if (!c->opt.cold)
		set(c, posted, ARRAY_SIZE(posted));
}

static bool in_list(const uint32_t *list, size_t n, uint32_t index)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == index)
			return true;
	return false;
}

static bool has_name(uint32_t index)
{
	return in_list(named, ARRAY_SIZE(named), index) ||
	       (index >= FUSES_FIRST && index <= FUSES_LAST) ||
	       (index >= IX_CG_FREQ_TRAN_VOTING_0 && index <= IX_CG_FREQ_TRAN_VOTING_7);
}

static bool is_read_only(uint32_t index)
{
	return in_list(read_only, ARRAY_SIZE(read_only), index) ||
	       (index >= FUSES_FIRST && index <= FUSES_LAST) || index == IX_ROM_DATA;
}

static void complain(struct vcard *c, const char *what, uint32_t index)
{
	uint64_t bit = 1ull << (index >> 2) % 64; /* one line for each of 64 classes is enough */

	if (c->smc_complained & bit) {
		c->guest_errors++;
		return;
	}
	c->smc_complained |= bit;
	card_guest_error(c, "%s SMC register 0x%08x", what, index);
}

static uint32_t rom_next(struct vcard *c)
{
	uint32_t at = c->rom_index & 0xFFFFFC; /* policy E rule 2 */

	c->rom_index += 4; /* polaris.md 14.5: every read advances */
	return range_ok(at, 4, c->flash_bytes) ? get_le32(c->flash + at) : 0;
}

/* Percentages of the fan as 0..FMAX_DUTY100, in FDO_PWM_DUTY[16:9]: polaris.md 10.9 */
static uint32_t thermal_status(struct vcard *c)
{
	uint32_t full = *card_smc_storage(c, IX_CG_FDO_CTRL1) & 0xFF;

	return (uint32_t)(c->heat.duty * (full ? full : 0xFF) + 0.5) << 9;
}

/* Temperature in CTF_TEMP[17:9] and ASIC_MAX_TEMP[8:0]: polaris.md 10.10 */
static uint32_t mult_thermal_status(struct vcard *c)
{
	bool valid = c->heat.temperature > 0 && !c->fault[VCARD_FAULT_SENSOR_DEAD];
	uint32_t t = valid ? (uint32_t)c->heat.temperature & 0x1FF : 0;

	return t << 9 | t;
}

/* 60 x 25 MHz / rpm: polaris.md 14.5; a fan that stands never ends its period */
static uint32_t tach_status(struct vcard *c)
{
	return c->heat.rpm ? 60u * 25000000u / c->heat.rpm : CARD_ALL_ONES;
}

/* The regulator reports once ASIC_Init has set it up: polaris.md 10.7 */
static uint32_t svi2_status(struct vcard *c)
{
	return card_posted(c) ? (6200 - 4 * MIN(c->smu.vddc_mv, 1550u)) / 25 : 0;
}

static uint32_t computed(struct vcard *c, uint32_t index, uint32_t stored)
{
	switch (index) {
	case IX_FUSE_SERIAL_0:
	case IX_FUSE_SERIAL_1: return stored & ~1u;
	case IX_SPLL_STATUS_0:
	case IX_SPLL_STATUS_1: return stored | 3;
	case IX_SMC_PC_C: return c->smu.state == SMU_RUNNING ? 0x20100 : 0;
	case IX_SMC_SCRATCH9: /* byte 1 is the arbiter set in use: amdgpu-oracle.md 7, additions */
		return (MAX(c->reg[REG_MC_ARB_CG / 4] & 0xFF, 0xAu)) << 8;
	case IX_CG_THERMAL_STATUS: return thermal_status(c);
	case IX_CG_MULT_THERMAL_STATUS: return mult_thermal_status(c);
	case IX_CG_TACH_STATUS: return tach_status(c);
	case IX_PWR_SVI2_STATUS: return svi2_status(c);
	case IX_TARGET_AND_CURRENT_PROFILE_INDEX: /* CURR_SCLK[20:16], CURR_MCLK[11:8]: 10.7 */
		return c->smu.sclk_level << 16 | c->smu.mclk_level << 8;
	default: return stored;
	}
}

static uint32_t read_true(struct vcard *c, uint32_t index, bool vbios)
{
	uint32_t *p;

	if (index == IX_ROM_DATA)
		return rom_next(c);
	if (index == IX_ROM_INDEX)
		return c->rom_index;
	card_smu_tick(c);
	card_heat_update(c);
	if (index < RX_SMC_RAM_BYTES && index % 4 == 0)
		return card_smu_ram_read(c, index);
	p = card_smc_storage(c, index);
	if (p && (vbios || has_name(index)))
		return computed(c, index, *p);
	complain(c, "read of undefined", index);
	return 0;
}

uint32_t card_smc_read(struct vcard *c, uint32_t index, bool vbios)
{
	return card_fault_spoil(c, true, index, read_true(c, index, vbios));
}

static void store(struct vcard *c, uint32_t index, uint32_t value, uint32_t *p)
{
	uint32_t old = *p;

	card_heat_update(c); /* with the fan as it was */
	*p = value;
	if (index == IX_SMC_SYSCON_RESET_CNTL || index == IX_SMC_SYSCON_CLOCK_CNTL_0)
		card_smu_syscon_write(c, index, value, old);
	card_heat_update(c);
}

void card_smc_write(struct vcard *c, uint32_t index, uint32_t value, bool vbios)
{
	uint32_t *p = card_smc_storage(c, index);

	card_smu_tick(c);
	if (index == IX_ROM_INDEX)
		c->rom_index = value;
	else if (index < RX_SMC_RAM_BYTES && index % 4 == 0)
		card_smu_ram_write(c, index, value);
	else if (!p || !(vbios || has_name(index)))
		complain(c, "write to undefined", index);
	else if (is_read_only(index)) {
		if (!vbios) /* ATOM tables write whole lists */
			complain(c, "write to read-only", index);
	} else
		store(c, index, value, p);
}
