/* config.c - configuration space of both functions and the address decoder that follows from it.
 * Layout: PCIe base specification; values: polaris.md 1.1, 1.2, 14.2 and bridge.md 4.
 */
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/card/card_priv.h"

/* Dword offsets of the header and of the capabilities this card has. */
enum {
	CFG_ID = 0x00,
	CFG_COMMAND = 0x04,
	CFG_CLASS = 0x08,
	CFG_HEADER = 0x0C,
	CFG_BAR0 = 0x10,
	CFG_BAR2 = 0x18,
	CFG_BAR4 = 0x20,
	CFG_BAR5 = 0x24,
	CFG_SUBSYSTEM = 0x2C,
	CFG_ROM = 0x30,
	CFG_CAP_POINTER = 0x34,
	CFG_INTERRUPT = 0x3C,
	CFG_PM = 0x50,
	CFG_PCIE = 0x58,
	CFG_RESET = 0x7C, /* also the PCIe capability's device capabilities 2, read only */
	CFG_MSI = 0xA0,
	CFG_AER = 0x100,
};

#define COMMAND_IO     0x1u
#define COMMAND_MEMORY 0x2u
/* I/O, memory, bus master, parity, SERR#, interrupt disable */
#define COMMAND_WRITABLE 0x00000547u
#define STATUS_CAP_LIST  0x00100000u
#define STATUS_W1C       0xF9000000u
#define RESET_MAGIC      0x39D5E86Bu /* polaris.md 1.6 */

static void define(struct config_function *f, unsigned off, uint32_t value, uint32_t writable)
{
	f->value[off / 4] = value;
	f->writable[off / 4] = writable;
}

/* define_bar - a BAR is its type bits plus writable address bits; sizing falls out of that. */
static void define_bar(struct config_function *f, unsigned off, uint64_t size, uint32_t type)
{
	define(f, off, type, (uint32_t)~(size - 1));
	if (type & 0x4) /* 64-bit */
		define(f, off + 4, 0, (uint32_t)(~(size - 1) >> 32));
}

static void define_header(struct config_function *f, uint32_t id, uint32_t class_revision)
{
	define(f, CFG_ID, id, 0);
	define(f, CFG_COMMAND, STATUS_CAP_LIST, COMMAND_WRITABLE);
	f->clear_on_one[CFG_COMMAND / 4] = STATUS_W1C;
	define(f, CFG_CLASS, class_revision, 0);
	define(f, CFG_HEADER, 0x00800000, 0x000000FF); /* multifunction, type 0; cache line size */
	define(f, CFG_CAP_POINTER, CFG_PM, 0);
	define(f, CFG_INTERRUPT, 0x00000100, 0xFF); /* INTA# */
}

/* PM -> PCIe -> MSI, as on the real board; all of it storage (polaris.md 14.2). */
static void define_capabilities(struct config_function *f)
{
	define(f, CFG_PM, CFG_PCIE << 8 | 0x01 | 0x0003u << 16, 0); /* version 3, no PME */
	define(f, CFG_PM + 4, 0x00000008, 0x00000003);              /* power state; no soft reset */
	define(f, CFG_PCIE, CFG_MSI << 8 | 0x10 | 0x0012u << 16,
	        0);                                /* version 2, legacy endpoint */
	define(f, CFG_PCIE + 0x04, 0x00008FA1, 0); /* MPS 256, extended tags, no FLR */
	/* stored as written: the bridge puts 512 here all the same, bridge.md 2.14 step 4 */
	define(f, CFG_PCIE + 0x08, 0x00002810, 0x0000FFFF);
	f->clear_on_one[(CFG_PCIE + 0x08) / 4] = 0x000F0000;
	define(f, CFG_PCIE + 0x0C, 0x00400D03, 0);          /* gen3, x16 */
	define(f, CFG_PCIE + 0x10, 0x10110000, 0x00000FFF); /* runs at gen1 x1 behind a bridge */
	define(f, CFG_RESET, 0x00000000, 0);
	define(f, CFG_PCIE + 0x28, 0, 0x0000FFFF);
	define(f, CFG_PCIE + 0x2C, 0x0000000E, 0);
	define(f, CFG_PCIE + 0x30, 0x00000003, 0x0000FFFF);
	define(f, CFG_MSI, 0x00800000 | 0x05, 0x00710000); /* one vector, 64 bit, last capability */
	define(f, CFG_MSI + 4, 0, 0xFFFFFFFC);
	define(f, CFG_MSI + 8, 0, 0xFFFFFFFF);
	define(f, CFG_MSI + 12, 0, 0x0000FFFF);
	define(f, CFG_AER, 0x0001 | 2u << 16, 0); /* advanced error reporting, last in the list */
	f->clear_on_one[(CFG_AER + 4) / 4] = 0xFFFFFFFF;
	define(f, CFG_AER + 8, 0, 0x07FFF030);
	define(f, CFG_AER + 12, 0x00062030, 0x07FFF030);
	f->clear_on_one[(CFG_AER + 16) / 4] = 0xFFFFFFFF;
	define(f, CFG_AER + 20, 0x00002000, 0x0000F1C1);
}

void card_config_reset(struct vcard *c)
{
	struct config_function *gpu = &c->config[0], *audio = &c->config[1];

	memset(c->config, 0, sizeof(c->config));
	define_header(gpu, 0x67DF1002, 0x030000E7); /* polaris.md 1.1 */
	define_capabilities(gpu);
	define_bar(gpu, CFG_BAR0, CARD_BAR0_BYTES, 0xC); /* 64-bit prefetchable: polaris.md 1.2 */
	define_bar(gpu, CFG_BAR2, CARD_BAR2_BYTES, 0xC);
	define_bar(gpu, CFG_BAR4, 0x100, 0x1);
	define_bar(gpu, CFG_BAR5, RX_MMIO_BYTES, 0x0);
	define(gpu, CFG_SUBSYSTEM, c->subsystem, 0);
	define(gpu, CFG_ROM, 0, ~(CARD_ROM_BYTES - 1) | 1);
	define_header(audio, 0xAAF01002, 0x04030000); /* bridge.md 4.2 */
	define_capabilities(audio);
	audio->value[CFG_INTERRUPT / 4] = 0x00000200; /* INTB# */
	define_bar(audio, CFG_BAR0, CARD_AUDIO_BYTES, 0x4);
	/* the board's vendor, as lspci shows of such boards */
	define(audio, CFG_SUBSYSTEM, 0xAAF00000 | (c->subsystem & 0xFFFF), 0);
}

static uint32_t lanes(unsigned byte_enables)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < 4; i++)
		if (byte_enables & 1u << i)
			mask |= 0xFFu << 8 * i;
	return mask;
}

enum vcard_completion card_config_access(struct vcard *c, struct vcard_tlp *tlp)
{
	unsigned function = (unsigned)(tlp->address >> 12),
	         i = (unsigned)(tlp->address & 0xFFC) / 4;
	uint32_t mask = lanes(tlp->byte_enables), writable, clear;
	struct config_function *f;

	if (function >= CARD_FUNCTIONS) {
		tlp->data = CARD_ALL_ONES;
		return VCARD_UR;
	}
	f = &c->config[function];
	if (tlp->type == VCARD_CFG_READ) {
		tlp->data = f->value[i];
		return VCARD_SC;
	}
	if (function == 0 && i == CFG_RESET / 4 && mask == CARD_ALL_ONES &&
	        tlp->data == RESET_MAGIC) {
		card_log(c, "config 0x7C: chip reset");
		card_chip_reset(c);
		return VCARD_SC;
	}
	writable = f->writable[i] & mask;
	clear = f->clear_on_one[i] & mask & tlp->data;
	f->value[i] = ((f->value[i] & ~writable) | (tlp->data & writable)) & ~clear;
	return VCARD_SC;
}

static bool hit(const struct config_function *f, unsigned bar, uint64_t size, uint64_t address,
        uint64_t *off)
{
	uint64_t base = f->value[bar / 4] & ~0xFu;

	if ((f->value[bar / 4] & 0x7) == 0x4)
		base |= (uint64_t)f->value[bar / 4 + 1] << 32;
	if (f->value[bar / 4] & 1 && bar != CFG_ROM)
		base = f->value[bar / 4] & ~0x3u;
	/* a BAR never assigned sits at 0 and would shadow whatever else lives there: real decoders
	 * do claim it, but no bus ever routes address 0 to a device */
	if (base == 0 || address < base || address - base >= size)
		return false;
	*off = address - base;
	return true;
}

static bool decodes(const struct config_function *f, uint32_t command)
{
	bool d0 = (f->value[(CFG_PM + 4) / 4] & 3) ==
	          0; /* other power states claim only configuration */

	return d0 && f->value[CFG_COMMAND / 4] & command;
}

enum card_window card_config_decode(struct vcard *c, bool io, uint64_t address, uint64_t *off)
{
	const struct config_function *gpu = &c->config[0], *audio = &c->config[1];

	if (io)
		return decodes(gpu, COMMAND_IO) && hit(gpu, CFG_BAR4, 0x100, address, off)
		               ? WINDOW_IO
		               : WINDOW_NONE;
	if (decodes(gpu, COMMAND_MEMORY)) {
		if (hit(gpu, CFG_BAR0, CARD_BAR0_BYTES, address, off))
			return WINDOW_VRAM;
		if (hit(gpu, CFG_BAR5, RX_MMIO_BYTES, address, off))
			return WINDOW_MMIO;
		if (hit(gpu, CFG_BAR2, CARD_BAR2_BYTES, address, off))
			return WINDOW_DOORBELL;
		if (gpu->value[CFG_ROM / 4] & 1 && hit(gpu, CFG_ROM, CARD_ROM_BYTES, address, off))
			return WINDOW_ROM;
	}
	if (decodes(audio, COMMAND_MEMORY) && hit(audio, CFG_BAR0, CARD_AUDIO_BYTES, address, off))
		return WINDOW_AUDIO;
	return WINDOW_NONE;
}
