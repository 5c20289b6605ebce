/* card.c - the card as a whole: birth, reset, death, and the door every TLP comes through. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/virtual/card/card_priv.h"

#define DEFAULT_VRAM     (8ull << 30)
#define VRAM_UNIT        (16ull << 20) /* MC_VM_FB_LOCATION counts in these: polaris.md 3.1 */
#define RESET_SILENCE_NS 2000000ull    /* "up to a few ms": polaris.md 14.2 */
#define NS_A_CLOCK       40            /* 25 MHz: polaris.md 6.3 */

void card_log(struct vcard *c, const char *fmt, ...)
{
	char line[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (c->opt.log)
		c->opt.log(c->opt.log_ctx, false, line);
}

void card_guest_error(struct vcard *c, const char *fmt, ...)
{
	char line[400];
	va_list ap;

	c->guest_errors++;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (c->opt.log)
		c->opt.log(c->opt.log_ctx, true, line);
}

uint64_t card_clock(struct vcard *c)
{
	return vcard_now(c) / NS_A_CLOCK;
}

bool card_vram_offset(struct vcard *c, uint64_t mc, uint64_t len, uint64_t *off)
{
	uint64_t base = c->fb_base, size = c->fb_size;

	if (mc < base || !range_ok(mc - base, len, size))
		return false;
	*off = mc - base;
	return true;
}

/* What an owner leaves in the VRAM of a card it has brought up and left idle: docs/architecture.md,
 * "Warm attach". Its generation is 1. */
#define KEPT_AT (9u << 20)
/* clang-format off */
static const uint8_t kept_nothing[64] = {
        0x52, 0x58, 0x35, 0x38, 0x30, 0x4B, 0x50, 0x54, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00,
        0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x72, 0x78, 0x35, 0x38, 0x30, 0x66, 0x73, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x90, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xAD, 0x38, 0xFF, 0x33,
};
/* clang-format on */

/* power_up - a cold card, or one that its VBIOS has posted and whose microcode is loaded
 * (polaris.md 14.1 E2, E1). With the lock held. */
static void power_up(struct vcard *c)
{
	c->ucode = c->opt.cold ? 0 : UCODE_ALL;
	c->mec_blocked = false;
	card_config_reset(c);
	card_hqd_reset(c);
	card_hdp_reset(c->hdp);
	card_mmio_reset(c);
	card_heat_reset(c);
	vmem_scramble(c->mem);
	if (!c->opt.cold)
		vmem_dram_write(c->mem, KEPT_AT, kept_nothing, sizeof(kept_nothing));
	gcn3_invalidate_l1(c->engine);
	gcn3_invalidate_kcache(c->engine);
	gcn3_invalidate_icache(c->engine);
}

static void reset(struct vcard *c, bool cold)
{
	card_cp_quiesce(c);
	c->opt.cold = cold;
	power_up(c);
}

/* Nobody posts a card that was reset by itself. */
void card_chip_reset(struct vcard *c)
{
	reset(c, true);
	c->reset_until_ns = vcard_now(c) + RESET_SILENCE_NS;
}

void vcard_reset(struct vcard *c)
{
	pthread_mutex_lock(&c->lock);
	reset(c, c->born_cold);
	c->reset_until_ns = 0; /* PERST# lasts longer than the card's own reset */
	pthread_mutex_unlock(&c->lock);
}

static int build(struct vcard *c)
{
	int r = vmem_new(&c->mem, c->opt.vram_bytes);

	if (!r)
		r = gcn3_engine_new(&c->engine, c->mem, c->opt.threads, card_cp_report, c);
	if (!r)
		r = card_hdp_new(&c->hdp, c->mem);
	if (r)
		return r;
	r = card_rom_new(c);
	if (!r)
		r = card_smc_new(c);
	if (!r)
		r = card_smu_new(c);
	card_mmio_regs_define(c->kind);
	return r;
}

int vcard_new(struct vcard **out, const struct vcard_options *opt)
{
	struct vcard *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->opt = *opt;
	c->born_cold = opt->cold;
	if (!c->opt.vram_bytes)
		c->opt.vram_bytes = DEFAULT_VRAM;
	pthread_mutex_init(&c->lock, NULL);
	r = card_cp_init(c);
	if (!r)
		r = c->opt.vram_bytes % VRAM_UNIT ? -EINVAL : build(c);
	if (r) {
		vcard_free(c);
		return r;
	}
	pthread_mutex_lock(&c->lock);
	card_heat_init(c);
	power_up(c);
	pthread_mutex_unlock(&c->lock);
	*out = c;
	return 0;
}

void vcard_free(struct vcard *c)
{
	if (!c)
		return;
	card_cp_fini(c);
	if (c->engine)
		gcn3_engine_free(c->engine);
	card_hdp_free(c->hdp);
	if (c->mem)
		vmem_free(c->mem);
	free(c->flash);
	free(c->smc_reg);
	free(c->smu.ram);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static uint32_t narrow(uint32_t value, unsigned byte_enables)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < 4; i++)
		if (byte_enables & 1u << i)
			mask |= 0xFFu << 8 * i;
	return value & mask;
}

/* BIF_FB_EN: bit 0 reads, bit 1 writes (polaris.md 3.2); switched off, reads float. Memory that was
 * never initialised is noise (14.13). */
bool card_vram_there(struct vcard *c, bool write, uint64_t off, uint32_t *noise)
{
	uint32_t enabled = c->reg[REG_BIF_FB_EN / 4];
	uint64_t x = (off ^ now_ns()) * 0x9E3779B97F4A7C15u;

	if (!card_mc_ready(c)) {
		if (c->mc.complained)
			c->guest_errors++;
		else
			card_guest_error(c, "VRAM %s at 0x%llx before the memory is initialised",
			        write ? "write" : "read", (unsigned long long)off);
		c->mc.complained = true;
		*noise = write ? *noise : (uint32_t)(x >> 32);
		return false;
	}
	if (enabled & (write ? 2 : 1))
		return true;
	card_guest_error(c, "VRAM %s at 0x%llx while BIF_FB_EN is 0x%x", write ? "write" : "read",
	        (unsigned long long)off, enabled);
	*noise = write ? *noise : CARD_ALL_ONES;
	return false;
}

/* BAR0 through HDP. */
static void access_vram(struct vcard *c, struct vcard_tlp *tlp, bool write, uint64_t off)
{
	if (!card_vram_there(c, write, off, &tlp->data))
		return;
	if (write ? card_hdp_write(c->hdp, off, tlp->byte_enables, tlp->data)
	          : card_hdp_read(c->hdp, off, &tlp->data))
		card_guest_error(c, "VRAM access at 0x%llx, past the end", (unsigned long long)off);
}

/* Registers take dwords only (bridge.md 2.10); no byte enabled at all is PCIe's flush and touches
 * nothing. */
static void access_mmio(struct vcard *c, struct vcard_tlp *tlp, bool write, uint64_t off)
{
	if (tlp->byte_enables != 0xF) {
		if (tlp->byte_enables)
			card_guest_error(c, "register 0x%05llx accessed with byte enables 0x%x",
			        (unsigned long long)off, tlp->byte_enables);
		tlp->data = write ? tlp->data : 0;
	} else if (vcard_now(c) < c->reset_until_ns) {
		tlp->data = write ? tlp->data : CARD_ALL_ONES;
	} else if (write) {
		card_mmio_write(c, (uint32_t)off, tlp->data);
	} else {
		tlp->data = card_mmio_read(c, (uint32_t)off);
	}
}

static void access_doorbell(struct vcard *c, struct vcard_tlp *tlp, bool write, uint64_t off)
{
	if (!write)
		tlp->data = 0;
	else if (tlp->byte_enables != 0xF)
		card_guest_error(c, "doorbell written with byte enables 0x%x", tlp->byte_enables);
	else
		card_hqd_doorbell(c, off, tlp->data);
}

static enum vcard_completion access_memory(struct vcard *c, struct vcard_tlp *tlp)
{
	bool io = tlp->type == VCARD_IO_READ || tlp->type == VCARD_IO_WRITE;
	bool write = tlp->type == VCARD_MEM_WRITE || tlp->type == VCARD_IO_WRITE;
	uint64_t off = 0;

	if (c->laters)
		card_fault_tick(c);
	if (c->heat.tripped) { /* its power is off, the link is still there */
		tlp->data = write ? tlp->data : CARD_ALL_ONES;
		return VCARD_SC;
	}
	switch (card_config_decode(c, io, tlp->address, &off)) {
	case WINDOW_VRAM: access_vram(c, tlp, write, off); break;
	case WINDOW_IO: /* the first registers once more: polaris.md 1.2 */
	case WINDOW_MMIO: access_mmio(c, tlp, write, off); break;
	case WINDOW_DOORBELL: access_doorbell(c, tlp, write, off); break;
	case WINDOW_ROM:
		if (!write)
			tlp->data = get_le32(c->flash + off);
		break;
	case WINDOW_AUDIO: /* identity only: no audio registers */
		if (!write)
			tlp->data = 0;
		break;
	default: return VCARD_UR;
	}
	if (!write)
		tlp->data = narrow(tlp->data, tlp->byte_enables);
	return VCARD_SC;
}

enum vcard_completion vcard_tlp(struct vcard *c, struct vcard_tlp *tlp)
{
	enum vcard_completion r;

	if (tlp->type != VCARD_CFG_READ && tlp->type != VCARD_CFG_WRITE)
		tlp->address &= ~3ull;
	pthread_mutex_lock(&c->lock);
	r = tlp->type == VCARD_CFG_READ || tlp->type == VCARD_CFG_WRITE ? card_config_access(c, tlp)
	                                                                : access_memory(c, tlp);
	pthread_mutex_unlock(&c->lock);
	return r;
}

void vcard_read_stats(struct vcard *c, struct vcard_stats *out)
{
	struct gcn3_counters counters;

	gcn3_read_counters(c->engine, &counters);
	*out = (struct vcard_stats){.guest_errors = c->guest_errors,
	        .dispatches = counters.dispatches,
	        .packets = c->packets,
	        .instructions = counters.instructions};
}
