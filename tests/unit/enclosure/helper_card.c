#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "tests/unit/enclosure/helper_card.h"

static struct vcard *the_card;

/* BAR sizes of an RX 580, bridge.md 4 step 12: mask of the address bits, flag bits */
static const struct {
	uint32_t mask, flags;
} BARS[6] = {
        {0xF0000000u, 0xC},
        {0xFFFFFFFFu, 0},
        {0xFFE00000u, 0xC},
        {0xFFFFFFFFu, 0},
        {0xFFFFFF00u, 1},
        {0xFFFC0000u, 0},
};

struct vcard *fake_card(void)
{
	return the_card;
}

void fake_card_forget(void)
{
	the_card->count = 0;
}

void vcard_reset(struct vcard *c)
{
	unsigned resets = c->resets + 1;
	uint64_t now = c->now_ns;

	memset(c, 0, sizeof(*c));
	c->resets = resets;
	c->now_ns = now;
	put_le32(c->config[0], 0x67DF1002);
	put_le32(c->config[0] + 8, 0x030000E7);
	put_le32(c->config[0] + 0x34, 0x58);
	put_le32(c->config[0] + 0x58, 0x00020010); /* PCIe capability */
	put_le32(c->config[1], 0xAAF01002);
	for (unsigned i = 0; i < 6; i++)
		put_le32(c->config[0] + 0x10 + 4 * i, BARS[i].flags);
}

int vcard_new(struct vcard **out, const struct vcard_options *opt)
{
	(void)opt;
	the_card = calloc(1, sizeof(*the_card));
	*out = the_card;
	if (the_card)
		the_card->now_ns = 1;
	return the_card ? 0 : -12;
}

void vcard_free(struct vcard *c)
{
	free(c);
	the_card = NULL;
}

static void store(uint8_t *at, const struct vcard_tlp *t)
{
	for (unsigned i = 0; i < 4; i++)
		if (t->byte_enables >> i & 1)
			at[i] = (uint8_t)(t->data >> 8 * i);
}

static enum vcard_completion config(struct vcard *c, struct vcard_tlp *t)
{
	uint32_t fn = (uint32_t)t->address >> 12, reg = t->address & 0xFFF, bar = (reg - 0x10) / 4;
	uint8_t *at;

	if (fn > 1)
		return VCARD_UR;
	at = c->config[fn] + reg;
	if (t->type == VCARD_CFG_READ) {
		t->data = get_le32(at);
		return VCARD_SC;
	}
	store(at, t);
	if (fn == 0 && reg >= 0x10 && bar < 6)
		put_le32(at, (get_le32(at) & BARS[bar].mask) | BARS[bar].flags);
	return VCARD_SC;
}

static bool inside(const struct vcard *c, unsigned bar, uint64_t address, uint32_t *offset)
{
	uint32_t base = get_le32(c->config[0] + 0x10 + 4 * bar) & BARS[bar].mask;

	*offset = (uint32_t)address - base;
	return (c->config[0][4] & 2) && address <= UINT32_MAX && address >= base &&
	       *offset <= ~BARS[bar].mask;
}

static uint8_t *memory(struct vcard *c, uint64_t address)
{
	static uint8_t nothing[4];
	uint32_t offset;

	memset(nothing, 0, sizeof(nothing));
	if (inside(c, 0, address, &offset))
		return offset < FAKE_VRAM_BYTES ? c->vram + offset : nothing;
	if (inside(c, 5, address, &offset))
		return (uint8_t *)c->regs + offset;
	return NULL;
}

enum vcard_completion vcard_tlp(struct vcard *c, struct vcard_tlp *t)
{
	uint8_t *at;

	if (c->count < FAKE_TLPS)
		c->seen[c->count] = *t;
	c->count++;
	if (t->type == VCARD_CFG_READ || t->type == VCARD_CFG_WRITE)
		return config(c, t);
	at = t->type == VCARD_IO_READ || t->type == VCARD_IO_WRITE ? NULL : memory(c, t->address);
	if (!at)
		return VCARD_UR;
	if (t->type == VCARD_MEM_READ)
		t->data = get_le32(at);
	else
		store(at, t);
	return VCARD_SC;
}

void vcard_read_stats(struct vcard *c, struct vcard_stats *out)
{
	(void)c;
	*out = (struct vcard_stats){.guest_errors = FAKE_GUEST_ERRORS,
	        .dispatches = FAKE_DISPATCHES,
	        .instructions = FAKE_INSTRUCTIONS};
}

uint64_t vcard_now(struct vcard *c)
{
	return c->now_ns;
}

int vcard_inject_later(struct vcard *c, enum vcard_fault fault, unsigned value, uint64_t ms)
{
	(void)c;
	(void)fault;
	(void)value;
	(void)ms;
	return 0;
}

int vcard_spoil(struct vcard *c, bool smc, uint32_t address, uint32_t flip)
{
	(void)c;
	(void)smc;
	(void)address;
	(void)flip;
	return 0;
}
