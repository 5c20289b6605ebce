/* asm2x6x_xdata.c - the 8051's address space as E4 and E5 reach it (bridge.md 3.2): bytes that
 * store, registers of the TLP engine, link registers. A write is the host's business only in the
 * engine and in the windows a card can reach by DMA; every other one is a guest error and does
 * nothing.
 */
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/enclosure/asm2x6x_priv.h"

#define XDATA_VERSION 0x07F0 /* bridge.md 3.1 */

/* bridge.md 3.6 */
#define LINK_ACTIVE  0xB430
#define LINK_WIDTH   0xB431
#define LINK_LTSSM   0xB450
#define LINK_TRAINED 0xB455

enum kind { STORES, HANDS_OFF };

static const struct area {
	uint16_t first, last;
	enum kind kind;
	const char *what;
} AREAS[] = {
        {0xA000, 0xB1FF, STORES, "submission queues"}, /* bridge.md 3.2 */
        {0xB2A0, 0xB2DF, STORES, "second engine"},     /* bridge.md 3.3 */
        {0xB480, 0xB480, HANDS_OFF, "PERST#"},         /* bridge.md 3.6 */
        {0xC656, 0xC656, HANDS_OFF, "the 3.3 V enable"},
        {0xC659, 0xC659, HANDS_OFF, "the 12 V enable"},
        {0xC800, 0xC8FF, HANDS_OFF, "the flash controller"}, /* bridge.md 7.3 step 6 */
        {0xE764, 0xE764, HANDS_OFF, "link training"},
        {0xF000, 0xFFFF, STORES, "window on the data SRAM"}, /* bridge.md 3.2 */
};

static const struct area *find(uint32_t address)
{
	for (size_t i = 0; i < ARRAY_SIZE(AREAS); i++)
		if (address >= AREAS[i].first && address <= AREAS[i].last)
			return &AREAS[i];
	return NULL;
}

void venc_asm_xdata_power_up(struct venc *e)
{
	static const uint8_t version[6] = {0x24, 0x04, 0x17, 0x85, 0, 0}; /* bridge.md 3.1 */
	uint8_t *x = e->asmedia->xdata;

	memset(x, 0xA5, XDATA_BYTES); /* noise */
	memset(x + 0xB200, 0, 0x600);
	memcpy(x + XDATA_VERSION, version, sizeof(version));
}

/* bridge.md 3.6; on 236x these addresses are not documented and say nothing */
static uint8_t link_register(const struct venc *e, uint32_t address)
{
	bool up = venc_asm_root_link_up(e);

	switch (address) {
	case LINK_ACTIVE: return up;
	case LINK_WIDTH: return up ? 0x0E : 0; /* x1 */
	case LINK_LTSSM: return up ? 0x48 : 0; /* L0, detect */
	case LINK_TRAINED:
	default: return up ? 0x19 : 0x10;
	}
}

uint8_t venc_asm_xdata_read(struct venc *e, uint32_t address)
{
	bool link = address == LINK_ACTIVE || address == LINK_WIDTH || address == LINK_LTSSM ||
	            address == LINK_TRAINED;

	if (venc_asm_engine_owns(address))
		return venc_asm_engine_read(e, address);
	if (link && venc_is_246x(e))
		return link_register(e, address);
	if (address >= 0x9400 && address < 0x9E00) /* bridge.md 3.2: mirrors of 9000 to 93FF */
		address = 0x9000 | (address & 0x3FF);
	return e->asmedia->xdata[address];
}

void venc_asm_xdata_write(struct venc *e, uint32_t address, uint8_t value)
{
	const struct area *a = find(address);

	if (venc_asm_engine_owns(address))
		venc_asm_engine_write(e, address, value);
	else if (a && a->kind == STORES)
		e->asmedia->xdata[address] = value;
	else if (a)
		venc_guest_error(e,
		        "asm: write of %02x to %05x, %s: hands off (bridge.md 3.6, 7.3)", value,
		        address, a->what);
	else
		venc_guest_error(e,
		        "asm: write of %02x to %05x, not the host's (bridge.md 3.2, 3.3)", value,
		        address);
}
