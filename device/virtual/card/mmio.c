/* mmio.c - the register file behind BAR5: what reading and writing does. polaris.md 14.4; sections
 * as noted. */
#include <errno.h>
#include <string.h>

#include "device/virtual/card/card_priv.h"

#define DW(r)         (REG_##r / 4)
#define MM_INDEX_VRAM 0x80000000u /* polaris.md 3.6 */
/* polaris.md 12.1 */
#define GUI_ACTIVE  (1u << 31)
#define CP_BUSY_BIT (1u << 29)
#define SPI_BUSY    (1u << 22)
#define GRBM2_IDLE  0x8u
/* polaris.md 12.4: CP, GFX, CPF, CPC, CPG */
#define GRBM_RESETS_CP 0x000F0001u
#define SRBM_RESETS_CP (1u << 8) /* GRBM */
#define SQ_CMD_KILL    0x3u

static void update_fb(struct vcard *c)
{
	uint32_t v = c->reg[DW(MC_VM_FB_LOCATION)];
	uint64_t base = (uint64_t)(v & 0xFFFF) << 24, top = (uint64_t)(v >> 16) << 24 | 0xFFFFFF;
	uint64_t size = v && top > base ? top - base + 1 : 0;

	c->fb_base = base;
	c->fb_size = size < vmem_size(c->mem) ? size : vmem_size(c->mem);
}

void card_mmio_reset(struct vcard *c)
{
	card_mmio_regs_reset(c);
	memset(c->sh_mem, 0, sizeof(c->sh_mem));
	memset(c->mec2_hqd, 0, sizeof(c->mec2_hqd));
	memset(c->didt, 0, sizeof(c->didt));
	c->edc_written = 0;
	c->gc_cac = 0;
	c->clock_latch = 0;
	card_smc_reset(c);
	card_post_regs_reset(c);
	card_smu_reset(c);
	if (!c->opt.cold)
		card_smu_warm(c);
	update_fb(c);
}

bool card_posted(const struct vcard *c)
{
	return c->reg[DW(BIOS_SCRATCH_7)] & 0x200; /* polaris.md 1.5 */
}

static void complain(struct vcard *c, const char *what, uint32_t off)
{
	uint8_t bit = (uint8_t)(1u << off / 4 % 8), *byte = &c->complained[off / 32];

	if (*byte & bit) { /* counted every time, said once */
		c->guest_errors++;
		return;
	}
	*byte |= bit;
	card_guest_error(c, "%s register 0x%05x", what, off);
}

static uint32_t *sh_mem_bank(struct vcard *c, uint32_t off)
{
	unsigned vmid = c->reg[DW(SRBM_GFX_CNTL)] >> 4 & 0xF; /* polaris.md 6.1 */
	unsigned i = off == REG_SH_HIDDEN_PRIVATE_BASE_VMID ? 4 : (off - REG_SH_MEM_BASES) / 4;

	return &c->sh_mem[vmid][i];
}

/* mm_offset - in VRAM; a card with a defect wires one address bit less. */
static uint64_t mm_offset(const struct vcard *c)
{
	uint64_t off =
	        (uint64_t)c->reg[DW(MM_INDEX_HI)] << 31 | (c->reg[DW(MM_INDEX)] & ~MM_INDEX_VRAM);

	return c->fault[VCARD_FAULT_VRAM_ALIAS] ? off % (vmem_size(c->mem) / 2) : off;
}

/* the window of section 3.6: VRAM through the host path, or another register */
static uint32_t mm_data_read(struct vcard *c)
{
	uint32_t index = c->reg[DW(MM_INDEX)], value = 0;
	uint64_t off = mm_offset(c);

	if (index & MM_INDEX_VRAM) {
		if (!card_vram_there(c, false, off, &value))
			return value;
		if (off % 4 || card_hdp_read(c->hdp, off, &value))
			card_guest_error(
			        c, "MM_DATA read at VRAM offset 0x%llx", (unsigned long long)off);
		return value;
	}
	if (index >= RX_MMIO_BYTES || index % 4 || index / 4 <= DW(MM_DATA)) {
		card_guest_error(c, "MM_DATA read with MM_INDEX 0x%x", index);
		return 0;
	}
	return card_mmio_read(c, index);
}

static void mm_data_write(struct vcard *c, uint32_t value)
{
	uint32_t index = c->reg[DW(MM_INDEX)];
	uint64_t off = mm_offset(c);

	if (index & MM_INDEX_VRAM) {
		if (!card_vram_there(c, true, off, &value))
			return;
		if (off % 4 || card_hdp_write(c->hdp, off, 0xF, value))
			card_guest_error(
			        c, "MM_DATA write at VRAM offset 0x%llx", (unsigned long long)off);
		return;
	}
	if (index >= RX_MMIO_BYTES || index % 4 || index / 4 <= DW(MM_DATA))
		card_guest_error(c, "MM_DATA write with MM_INDEX 0x%x", index);
	else
		card_mmio_write(c, index, value);
}

/* SMC index/data pairs: each has its own latch, all reach one space (polaris.md 14.3). @index:
 * dword of the latch. */
static void smc_advance(struct vcard *c, uint32_t index)
{
	unsigned bit = index == DW(SMC_IND_INDEX_0) ? 0 : index == DW(SMC_IND_INDEX_1) ? 1 : 11;

	if (c->reg[DW(SMC_IND_ACCESS_CNTL)] & 1u << bit)
		c->reg[index] += 4;
}

static uint32_t smc_data_read(struct vcard *c, uint32_t off)
{
	uint32_t index = off / 4 - 1;
	uint32_t value = card_smc_read(c, c->reg[index], index == DW(SMC_IND_INDEX_1));

	smc_advance(c, index);
	return value;
}

static void smc_data_write(struct vcard *c, uint32_t off, uint32_t value)
{
	uint32_t index = off / 4 - 1;

	card_smc_write(c, c->reg[index], value, index == DW(SMC_IND_INDEX_1));
	smc_advance(c, index);
}

/* ramp_register - what the current limits' index pairs show (polaris.md 1.3, 10.8): storage. NULL:
 * nothing is there. */
static uint32_t *ramp_register(struct vcard *c, uint32_t off)
{
	uint32_t index = c->reg[off / 4 - 1];

	if (off == REG_DIDT_IND_DATA && index < CARD_DIDT)
		return &c->didt[index];
	if (off == REG_GC_CAC_IND_DATA && index == 0)
		return &c->gc_cac;
	card_guest_error(c, "index 0x%x of the pair at 0x%05x", index, off - 4);
	return NULL;
}

static uint32_t ramp_read(struct vcard *c, uint32_t off)
{
	const uint32_t *p = ramp_register(c, off);

	return p ? *p : 0;
}

static void note_edc(struct vcard *c, uint32_t index)
{
	uint32_t block = index / 0x20, at = index % 0x20; /* CARD_EDC_ALL */

	if (at >= 0x13 && at <= 0x18)
		c->edc_written |= 1u << (block * 6 + at - 0x13);
}

static void ramp_write(struct vcard *c, uint32_t off, uint32_t value)
{
	uint32_t *p = ramp_register(c, off);

	if (!p)
		return;
	*p = value;
	if (off == REG_DIDT_IND_DATA)
		note_edc(c, c->reg[off / 4 - 1]);
}

/* one shader array of nine CUs in each of four engines: 36 active (polaris.md 1.4) */
static uint32_t shader_array_config(struct vcard *c)
{
	uint32_t index = c->reg[DW(GRBM_GFX_INDEX)];
	unsigned se = index >> 16 & 0xFF, sh = index >> 8 & 0xFF;
	bool exists = (index >> 31 || se < 4) && (index >> 29 & 1 || sh == 0);

	return exists ? 0 : 0xFFFF0000;
}

/* kind_now - some registers are there for ASIC_Init only (post_regs.c). */
static enum reg_kind kind_now(const struct vcard *c, uint32_t off)
{
	enum reg_kind k = c->kind[off / 4];

	return k == REG_UNPOSTED && card_posted(c) ? REG_UNDEFINED : k;
}

static uint32_t read_true(struct vcard *c, uint32_t off)
{
	uint32_t value;
	bool busy;

	switch (kind_now(c, off)) {
	case REG_UNDEFINED: complain(c, "read of undefined", off); return 0;
	case REG_BANKED_HQD: return card_hqd_read(c, off);
	case REG_BANKED_SH_MEM: return *sh_mem_bank(c, off);
	default: break;
	}
	if (card_post_regs_read(c, off, &value))
		return value;
	switch (off) {
	case REG_SMC_RESP_0:
	case REG_SMC_MSG_ARG_0: card_smu_tick(c); return c->reg[off / 4];
	case REG_MM_DATA: return mm_data_read(c);
	case REG_SMC_IND_DATA_0:
	case REG_SMC_IND_DATA_1:
	case REG_SMC_IND_DATA_11: return smc_data_read(c, off);
	case REG_GC_CAC_IND_DATA:
	case REG_DIDT_IND_DATA: return ramp_read(c, off);
	case REG_CC_GC_SHADER_ARRAY_CONFIG: return shader_array_config(c);
	case REG_RLC_GPU_CLOCK_COUNT_LSB: return (uint32_t)c->clock_latch;
	case REG_RLC_GPU_CLOCK_COUNT_MSB: return (uint32_t)(c->clock_latch >> 32);
	case REG_GRBM_STATUS:
		busy = false;
		for (unsigned i = 0; i < CARD_PIPES; i++)
			busy |= !gcn3_idle(c->engine, i);
		return (busy ? SPI_BUSY : 0) |
		       (busy || card_cp_busy(c) ? GUI_ACTIVE | CP_BUSY_BIT : 0);
	case REG_GRBM_STATUS2: return GRBM2_IDLE | (card_cp_busy(c) ? 3u << 28 : 0); /* CPF, CPC */
	case REG_CP_CPC_STATUS: return card_cp_busy(c) ? 0x80000001u : 0;            /* MEC1, CPC */
	case REG_CP_CPF_STATUS: return card_cp_busy(c) ? 0x80008000u : 0;            /* HQD, CPF */
	default: return c->reg[off / 4];
	}
}

uint32_t card_mmio_read(struct vcard *c, uint32_t off)
{
	return card_fault_spoil(c, false, off, read_true(c, off));
}

static void soft_reset(struct vcard *c, uint32_t off, uint32_t value)
{
	uint32_t cp = off == REG_GRBM_SOFT_RESET ? GRBM_RESETS_CP : SRBM_RESETS_CP;
	uint32_t raised = value & ~c->reg[off / 4];

	c->reg[off / 4] = value;
	if (!(raised & cp))
		return;
	card_log(c, "soft reset of the command processor");
	card_cp_quiesce(c);
	card_hqd_reset(c);
}

static void write_mec_cntl(struct vcard *c, uint32_t value)
{
	c->reg[DW(CP_MEC_CNTL)] = value;
	card_engine_check_mec(c);
	for (unsigned i = 0; i < CARD_PIPES; i++)
		card_cp_poke(&c->pipe[i]);
}

/* polaris.md 12.4a: end waves, leave the packets alone. Only VMID 0 exists here. */
static void sq_cmd(struct vcard *c, uint32_t value)
{
	if ((value & 7) != SQ_CMD_KILL) {
		card_guest_error(c, "SQ_CMD 0x%x: only kill (3) is modelled", value);
		return;
	}
	for (unsigned i = 0; i < CARD_PIPES; i++)
		gcn3_kill(c->engine, i);
}

static void write_effect(struct vcard *c, uint32_t off, uint32_t value)
{
	if (card_post_regs_write(c, off, value))
		return;
	switch (off) {
	case REG_SMC_MESSAGE_0: card_smu_message(c, value); return;
	case REG_MM_DATA: mm_data_write(c, value); return;
	case REG_SMC_IND_DATA_0:
	case REG_SMC_IND_DATA_1:
	case REG_SMC_IND_DATA_11: smc_data_write(c, off, value); return;
	case REG_GC_CAC_IND_DATA:
	case REG_DIDT_IND_DATA: ramp_write(c, off, value); return;
	case REG_VM_CONTEXT1_CNTL2:
		if (value & 1)
			c->reg[DW(VM_CONTEXT1_PROTECTION_FAULT_STATUS)] = 0;
		c->reg[off / 4] = value & ~1u;
		return;
	case REG_VM_INVALIDATE_REQUEST: c->reg[DW(VM_INVALIDATE_RESPONSE)] = value; return;
	case REG_HDP_DEBUG0:
		if (value & 1)
			card_hdp_invalidate(c->hdp);
		return;
	case REG_HDP_MEM_COHERENCY_FLUSH_CNTL:
		if (value & 1)
			card_hdp_flush(c->hdp);
		return;
	case REG_GPU_HDP_FLUSH_REQ:
		card_hdp_flush(c->hdp);
		c->reg[DW(GPU_HDP_FLUSH_DONE)] |= value; /* at once, for every engine that asks */
		return;
	case REG_RLC_CAPTURE_GPU_CLOCK_COUNT:
		if (value & 1)
			c->clock_latch = card_clock(c);
		return;
	case REG_RLC_SAFE_MODE: c->reg[off / 4] = value & ~1u; return; /* CMD self-clears */
	case REG_GRBM_SOFT_RESET:
	case REG_SRBM_SOFT_RESET: soft_reset(c, off, value); return;
	case REG_CP_MEC_CNTL: write_mec_cntl(c, value); return;
	case REG_SQ_CMD: sq_cmd(c, value); return;
	case REG_MC_VM_FB_LOCATION:
		c->reg[off / 4] = value;
		update_fb(c);
		return;
	default: c->reg[off / 4] = value; card_engine_check(c, off);
	}
}

void card_mmio_write(struct vcard *c, uint32_t off, uint32_t value)
{
	switch (kind_now(c, off)) {
	case REG_UNDEFINED: complain(c, "write to undefined", off); return;
	case REG_READ_ONLY:
		if (card_posted(c)) /* ASIC_Init writes back what it read from whole lists */
			complain(c, "write to read-only", off);
		return;
	case REG_BANKED_HQD: card_hqd_write(c, off, value); return;
	case REG_BANKED_SH_MEM: *sh_mem_bank(c, off) = value; return;
	default: write_effect(c, off, value);
	}
}

int card_mmio_cp_read(struct vcard *c, uint32_t off, uint32_t *value)
{
	uint8_t kind = off < RX_MMIO_BYTES ? c->kind[off / 4] : REG_UNDEFINED;

	if (kind != REG_STORE && kind != REG_READ_ONLY && kind != REG_SPECIAL)
		return -EPERM;
	*value = card_mmio_read(c, off);
	return 0;
}

int card_mmio_cp_write(struct vcard *c, uint32_t off, uint32_t value)
{
	uint8_t kind = off < RX_MMIO_BYTES ? c->kind[off / 4] : REG_UNDEFINED;

	if (kind != REG_STORE && kind != REG_SPECIAL)
		return -EPERM;
	card_mmio_write(c, off, value);
	return 0;
}
