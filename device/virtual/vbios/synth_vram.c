/* synth_vram.c - VRAM_Info with one memory module. Layout: atombios.md 10.3. */
#include "device/virtual/vbios/synth_priv.h"

#define MODULE      20
#define PART        "VIRTUAL"
#define MODULE_SIZE (0x2C + sizeof(PART))
#define TILES       4

/* the memory clocks whose register values differ, 10 kHz */
static const uint32_t clocks[] = {30000, 60000, 100000, 150000, 200000};
static const uint16_t patch_regs[] = {/* MC_SEQ registers of the clock patch: atombios.md 10.3 */
        0x0A2F, 0x0AD5, 0x0A2C, 0x0A28, 0x0A29, 0x0A2A, 0x0A2B, 0x0A81, 0x0A8B, 0x0A5F, 0x09DD,
        0x09DE};

#define PATCH_REGS   (ARRAY_SIZE(patch_regs) + 1) /* one repeats the value before it */
#define BLOCK_SIZE   (4 + 4 * ARRAY_SIZE(patch_regs))
#define PATCH_SIZE   (4 + 3 * (PATCH_REGS + 1) + ARRAY_SIZE(clocks) * BLOCK_SIZE + 4)
#define ONE_REG_SIZE (4 + 2 * 3 + 8 + 4) /* a register block of one register and one value */
#define REMAP_SIZE   (TILES * 34)

static void module(uint8_t *m, uint32_t vram_mb)
{
	put_le32(m, 0x76543210); /* channel map: straight */
	put_le16(m + 4, MODULE_SIZE);
	put_le16(m + 6, vram_mb > 4096 ? 0x60A2 : 0x6062); /* MC_ARB_RAMCFG: atombios.md 10.3 */
	put_le16(m + 8, 0x00FF);
	m[0x0B] = 0x50; /* GDDR5 */
	m[0x0C] = 3;    /* 8 channels of 32 bits */
	m[0x0D] = 5;
	m[0x0E] = vram_mb > 4096 ? 0x63 : 0x53; /* density */
	m[0x0F] = 0x0A;                         /* 16 banks, 10 column bits */
	m[0x10] = 4;
	put_le16(m + 0x14, (uint16_t)vram_mb);
	m[0x17] = 11;
	m[0x1C] = 0x01;
	m[0x1D] = 2;
	memcpy(m + 0x2C, PART, sizeof(PART));
}

static uint8_t *entry(uint8_t *p, unsigned reg, unsigned code)
{
	put_le16(p, (uint16_t)reg);
	p[2] = (uint8_t)code;
	return p + 3;
}

/* clock_patch - values rise with the clock, so that a reader can tell blocks and registers apart.
 */
static void clock_patch(uint8_t *p)
{
	put_le16(p, 3 * (PATCH_REGS + 1));
	put_le16(p + 2, BLOCK_SIZE);
	p = entry(p + 4, patch_regs[0], 4);
	p = entry(p, 0x0A30, 0); /* the same value as the one before */
	for (size_t i = 1; i < ARRAY_SIZE(patch_regs); i++)
		p = entry(p, patch_regs[i],
		        i < 10 ? 4 : 0x84); /* the arbiter's timings end the list */
	p = entry(p, 0xFFFF, 0);
	for (size_t b = 0; b < ARRAY_SIZE(clocks); b++) {
		put_le32(p, clocks[b]); /* key: module 0, up to this clock */
		for (size_t i = 0; i < ARRAY_SIZE(patch_regs); i++)
			put_le32(p + 4 + 4 * i, (uint32_t)((b + 1) << 8 | i));
		p += BLOCK_SIZE;
	}
	put_le32(p, 0);
}

static void one_register(uint8_t *p, unsigned reg, uint32_t value)
{
	put_le16(p, 6);
	put_le16(p + 2, 8);
	p = entry(p + 4, reg, 4);
	p = entry(p, 0xFFFF, 0);
	put_le32(p, 0x00FFFFFF); /* every clock */
	put_le32(p + 4, value);
	put_le32(p + 8, 0);
}

/* remap - straight wiring: bit n is bit n. */
static void remap(uint8_t *p)
{
	for (unsigned i = 0; i < 8; i++)
		put_le32(p + 2 + 4 * i, 0x76543210);
}

void synth_vram_info(struct atom_asm *a, uint32_t vram_mb)
{
	const unsigned adjust = (unsigned)align_up(MODULE + MODULE_SIZE, 4);
	const unsigned patch = adjust + ONE_REG_SIZE, tile = patch + PATCH_SIZE;
	const unsigned phy = tile + ONE_REG_SIZE, wiring = phy + ONE_REG_SIZE;
	uint8_t *p = as_data(a, ATOM_DATA_VRAM_Info, 2, 2, wiring + REMAP_SIZE);

	put_le16(p + 4, (uint16_t)adjust);
	put_le16(p + 6, (uint16_t)patch);
	put_le16(p + 8, (uint16_t)tile);
	put_le16(p + 10, (uint16_t)phy);
	put_le16(p + 12, (uint16_t)wiring);
	p[16] = 1; /* modules */
	p[17] = 1; /* clock patch version */
	p[18] = 8; /* module version */
	p[19] = TILES;
	module(p + MODULE, vram_mb);
	one_register(p + adjust, 0x0A8C, 0);
	clock_patch(p + patch);
	one_register(p + tile, 0x000E, 0);
	one_register(p + phy, 0x0A99, 0);
	for (unsigned i = 0; i < TILES; i++)
		remap(p + wiring + 34 * i);
}
