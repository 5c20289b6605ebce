/* post_regs.c - registers that only the VBIOS programs: ASIC_Init and the ATOM tables a driver runs
 * later. By block, because images differ in which registers of a block they touch and none of it
 * does anything here: storage, 0 after reset. Blocks of tables that a driver calls on a running
 * card (memory timings, clocks, voltage regulator: polaris.md 2.7) are always there; display, VGA
 * and bus blocks exist until ASIC_Init has run, so that a driver's stray access to them still
 * counts. What a board's ASIC_Init programs beyond the offsets of the stored runs (atombios.md 14)
 * lies in lists of its own (MC_InitParameter, data behind the code), so whole blocks are there:
 * their borders are from the names of Linux' asic_reg headers.
 */
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/card/card_priv.h"

#define DW(r) (REG_##r / 4)

struct block {
	uint32_t first, last; /* inclusive, bytes */
	enum reg_kind kind;
};

static const struct block blocks[] = {
        {0x002C0, 0x006AC, REG_UNPOSTED}, /* VGA, display clocks (DCCG) */
        {0x00A00, 0x00DFC, REG_UNPOSTED}, /* display memory interface (DCI, DMIF) */
        {0x00E00, 0x00FFC, REG_UNPOSTED}, /* SRBM */
        {0x01400, 0x015FC, REG_UNPOSTED}, /* VM L2, its clock gating among it */
        {0x01700, 0x0177C, REG_UNPOSTED}, /* around BIOS scratch */
        {0x02000, 0x02BFC, REG_VBIOS},    /* memory controller: hub, arbiter, sequencer */
        {0x02C00, 0x02FFC, REG_UNPOSTED}, /* HDP */
        {0x03200, 0x033FC, REG_UNPOSTED}, /* VM L1, ATC */
        {0x03500, 0x037FC, REG_UNPOSTED}, /* GMCON, memory hub */
        {0x03800, 0x03FFC, REG_UNPOSTED}, /* IH, SEM, SRBM */
        {0x05200, 0x057FC, REG_UNPOSTED}, /* BIF */
        {0x05800, 0x05BCC, REG_UNPOSTED}, /* display controller */
        {0x05BD0, 0x05BEC, REG_VBIOS},    /* GENERIC_I2C: the voltage regulator's bus */
        {0x05BF0, 0x06184, REG_UNPOSTED}, /* display controller */
        {0x06188, 0x06188, REG_VBIOS},    /* its pads, used by SetVoltage */
        {0x0618C, 0x07FFC, REG_UNPOSTED}, /* display controller, pipes 0 to 2 */
        {0x08000, 0x0CFFC, REG_UNPOSTED}, /* graphics: GRBM, CP, SQ, TCP, harvesting, DIDT */
        {0x0D000, 0x0DFFC, REG_UNPOSTED}, /* SDMA */
        {0x0E000, 0x0FFFC, REG_UNPOSTED}, /* UVD */
        {0x10000, 0x12FFC, REG_UNPOSTED}, /* display controller, pipes 3 to 5, encoders */
        {0x17000, 0x173FC, REG_UNPOSTED}, /* display PHYs */
        {0x20000, 0x20FFC, REG_UNPOSTED}, /* VCE */
        {0x26800, 0x27FFC, REG_UNPOSTED}, /* display audio */
        {0x28000, 0x28FFC, REG_UNPOSTED}, /* graphics: context registers */
        {0x30000, 0x3EFFC, REG_UNPOSTED}, /* graphics: GRBM index, CP DMA, RLC */
        {0x3F8C0, 0x3F8DC, REG_UNPOSTED}, /* an index/data pair without a public name */
};

/* Those with an effect, whatever mmio_regs.c thought of them at an already posted card. */
static const uint32_t special[] = {
        REG_PCIE_INDEX,
        REG_PCIE_DATA,
        REG_MC_SEQ_SUP_CNTL,
        REG_MC_SEQ_SUP_PGM,
        REG_MC_SEQ_MISC0,
        REG_MC_SEQ_IO_DEBUG_INDEX,
        REG_MC_SEQ_IO_DEBUG_DATA,
        REG_MC_SEQ_MISC9,
        REG_CP_DMA_PIO_COMMAND,
};

void card_post_regs_define(uint8_t kind[CARD_MMIO_DWORDS])
{
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++)
		for (uint32_t off = blocks[i].first; off <= blocks[i].last; off += 4)
			if (kind[off / 4] == REG_UNDEFINED)
				kind[off / 4] = (uint8_t)blocks[i].kind;
	for (size_t i = 0; i < ARRAY_SIZE(special); i++)
		kind[special[i] / 4] = REG_CONTROL;
}

void card_post_regs_reset(struct vcard *c)
{
	c->pcie_used = 0;
	card_mc_seq_reset(c, !c->opt.cold);
}

/* The PCIe core's registers, sparse and few: storage (polaris.md 14.3). */
static uint32_t *pcie_register(struct vcard *c)
{
	uint32_t index = c->reg[DW(PCIE_INDEX)];

	for (unsigned i = 0; i < c->pcie_used; i++)
		if (c->pcie[i].index == index)
			return &c->pcie[i].value;
	if (c->pcie_used == CARD_PCIE_CORE) {
		card_guest_error(
		        c, "PCIE_INDEX 0x%x: more than %d registers in use", index, CARD_PCIE_CORE);
		return NULL;
	}
	c->pcie[c->pcie_used].index = index;
	c->pcie[c->pcie_used].value = 0;
	return &c->pcie[c->pcie_used++].value;
}

static uint32_t *io_debug(struct vcard *c)
{
	/* IO_DEBUG_INDEX[8:0]: Linux gmc_8_1_sh_mask.h */
	return &c->mc.io_debug[c->reg[DW(MC_SEQ_IO_DEBUG_INDEX)] & (MC_IO_DEBUG_REGS - 1)];
}

bool card_post_regs_read(struct vcard *c, uint32_t off, uint32_t *value)
{
	const uint32_t *p;

	switch (off) {
	case REG_PCIE_DATA: p = pcie_register(c); break;
	case REG_MC_SEQ_IO_DEBUG_DATA: p = io_debug(c); break;
	case REG_MC_SEQ_MISC0: *value = card_mc_seq_misc0(c); return true;
	case REG_MC_SEQ_MISC9: *value = card_mc_seq_misc9(c); return true;
	case REG_MC_SEQ_SUP_PGM: *value = 0; return true;
	case REG_GENERIC_I2C_STATUS: /* done, no error: policy E rule 7, atombios.md 14 */
		*value = (c->reg[off / 4] & ~0x600u) | 0x10;
		return true;
	default: return false;
	}
	*value = p ? *p : 0;
	return true;
}

bool card_post_regs_write(struct vcard *c, uint32_t off, uint32_t value)
{
	uint32_t *p;

	switch (off) {
	case REG_PCIE_DATA: p = pcie_register(c); break;
	case REG_MC_SEQ_IO_DEBUG_DATA: p = io_debug(c); break;
	case REG_MC_SEQ_SUP_CNTL: card_mc_seq_sup_cntl(c, value); return true;
	case REG_MC_SEQ_SUP_PGM: card_mc_seq_sup_pgm(c, value); return true;
	case REG_CP_DMA_PIO_COMMAND: card_mc_seq_pio_dma(c, value); return true;
	default: return false;
	}
	if (p)
		*p = value;
	return true;
}
