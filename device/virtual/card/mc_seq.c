/* mc_seq.c - the memory controller's sequencer: takes a program, starts, trains the memory. VRAM
 * exists once that is done and the size and place of it are known. polaris.md 2.5, 2.6, 3.7;
 * atombios.md 9 and rules 5 and 6 of policy E in 14.
 */
#include <string.h>

#include "device/bytes.h"
#include "device/firmware/standin.h"
#include "device/virtual/card/card_priv.h"

#define DW(r) (REG_##r / 4)

/* MC_SEQ_SUP_CNTL as ASIC_Init writes it: 8, 0x10, program, 8, 4, 1; then 5 and 1 while training */
#define SUP_RUN     0x01u
#define SUP_PROGRAM 0x10u
/* MC_SEQ_MISC0: polaris.md 2.5; the memory type is a strap (amdgpu-oracle.md 7 item 11) */
#define MISC0_RUNNING 0x80u
#define MISC0_TYPE    0xF0000000u
#define MISC0_GDDR5   0x50000000u
/* CP PIO DMA: register space on both sides, no increment, RAW wait (polaris.md 2.5) */
#define PIO_FLAGS 0x7C000000u
#define PIO_BYTES 0x001FFFFFu

void card_mc_seq_reset(struct vcard *c, bool posted)
{
	memset(&c->mc, 0, sizeof(c->mc));
	c->mc.running = c->mc.trained = c->mc.ready = posted;
	if (posted)
		c->reg[DW(MC_SEQ_SUP_CNTL)] = SUP_RUN;
}

bool card_mc_ready(struct vcard *c)
{
	uint32_t fb = c->reg[DW(MC_VM_FB_LOCATION)], mib = c->reg[DW(CONFIG_MEMSIZE)];

	/* a VBIOS that asked for no training and got to its end did without */
	bool trained = c->mc.trained || card_posted(c);

	if (!c->mc.ready && c->mc.running && trained && mib && fb >> 16 >= (fb & 0xFFFF)) {
		c->mc.ready = true;
		if ((uint64_t)mib << 20 > vmem_size(c->mem))
			card_guest_error(c,
			        "CONFIG_MEMSIZE is %u MiB, the board has %u: is this its VBIOS?",
			        mib, (unsigned)(vmem_size(c->mem) >> 20));
	}
	return c->mc.ready;
}

uint32_t card_mc_seq_misc0(struct vcard *c)
{
	uint32_t stored = c->reg[DW(MC_SEQ_MISC0)] & ~(MISC0_TYPE | MISC0_RUNNING);

	return stored | MISC0_GDDR5 | (c->mc.running ? MISC0_RUNNING : 0);
}

/* The sequencer answers a request in byte 0 by copying it to byte 1. */
uint32_t card_mc_seq_misc9(struct vcard *c)
{
	uint32_t v = c->reg[DW(MC_SEQ_MISC9)];

	if (c->fault[VCARD_FAULT_MC_DEAF])
		return v;
	if (c->mc.running && v & 0xFF)
		c->mc.trained = true;
	return (v & ~0xFF00u) | (v & 0xFF) << 8;
}

/* A program is vendor code, or a stand-in that can be checked to the last bit. */
static const char *program_wrong(struct vcard *c)
{
	struct card_mc_seq *mc = &c->mc;

	if (!mc->program_dwords)
		return "no program was loaded";
	return card_ucode_wrong(
	        (const uint8_t *)mc->program, mc->program_dwords * 4, 0, STANDIN_MC);
}

void card_mc_seq_sup_cntl(struct vcard *c, uint32_t value)
{
	struct card_mc_seq *mc = &c->mc;
	const char *why;

	c->reg[DW(MC_SEQ_SUP_CNTL)] = value;
	mc->program_mode = value & SUP_PROGRAM;
	if (mc->program_mode)
		mc->program_dwords = 0;
	if (!(value & SUP_RUN)) {
		mc->running = false;
		return;
	}
	if (mc->running)
		return;
	why = program_wrong(c);
	if (why && !mc->ready)
		card_guest_error(c, "memory sequencer started, but %s", why);
	else if (why)
		card_guest_error(c, "memory sequencer restarted, but %s", why);
	mc->running = !why;
}

void card_mc_seq_sup_pgm(struct vcard *c, uint32_t value)
{
	struct card_mc_seq *mc = &c->mc;

	if (!mc->program_mode)
		card_guest_error(c,
		        "MC_SEQ_SUP_PGM written while MC_SEQ_SUP_CNTL is 0x%x, not 0x10",
		        c->reg[DW(MC_SEQ_SUP_CNTL)]);
	else if (mc->program_dwords == MC_PROGRAM_DWORDS)
		card_guest_error(
		        c, "memory sequencer program longer than %u bytes", MC_PROGRAM_DWORDS * 4);
	else
		put_le32(&mc->program[mc->program_dwords++], value);
}

static bool smc_data_port(uint32_t off)
{
	return off == REG_SMC_IND_DATA_0 || off == REG_SMC_IND_DATA_1 || off == REG_SMC_IND_DATA_11;
}

/* The one use of it that is known: the flash's data port to the sequencer's program port. CP_STAT
 * bit 31 never shows it at work, it is done at once. */
void card_mc_seq_pio_dma(struct vcard *c, uint32_t command)
{
	uint32_t from = c->reg[DW(CP_DMA_PIO_SRC_ADDR)], to = c->reg[DW(CP_DMA_PIO_DST_ADDR)];
	uint32_t bytes = command & PIO_BYTES;

	c->reg[DW(CP_DMA_PIO_COMMAND)] = command;
	if (c->reg[DW(CP_DMA_PIO_SRC_ADDR_HI)] || c->reg[DW(CP_DMA_PIO_DST_ADDR_HI)] ||
	        (command & ~PIO_BYTES) != PIO_FLAGS || bytes % 4 || !bytes)
		card_guest_error(c, "CP PIO DMA: command 0x%08x is not a register-to-register copy",
		        command);
	else if (!smc_data_port(from) || c->reg[from / 4 - 1] != IX_ROM_DATA)
		card_guest_error(
		        c, "CP PIO DMA from 0x%05x, which is not the flash's data port", from);
	else if (to != REG_MC_SEQ_SUP_PGM)
		card_guest_error(c, "CP PIO DMA to 0x%05x, which is not MC_SEQ_SUP_PGM", to);
	else if (!c->mc.program_mode || bytes > sizeof(c->mc.program))
		card_guest_error(c, "CP PIO DMA of %u bytes, but the sequencer %s", bytes,
		        c->mc.program_mode ? "has 64 KiB" : "takes no program now");
	else
		for (uint32_t i = 0; i < bytes / 4; i++)
			card_mc_seq_sup_pgm(c, card_smc_read(c, IX_ROM_DATA, true));
}
