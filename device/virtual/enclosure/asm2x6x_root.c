/* asm2x6x_root.c - the root port 00:00.0 behind the TLP engine (bridge.md 3.5): a type 1 header as
 * stock firmware leaves it, routing by bus number and by window, reset of the secondary bus. The
 * card is device 0 of the secondary bus; nobody has assigned its BARs. Layout of the header:
 * bridge.md 4 step 3.
 */
#include "device/bytes.h"
#include "device/virtual/enclosure/asm2x6x_priv.h"

enum {
	CFG_COMMAND = 0x04,
	CFG_BUSES = 0x18,
	CFG_IO = 0x1C,
	CFG_MEMORY = 0x20,
	CFG_PREFETCH = 0x24,
	CFG_PREFETCH_BASE = 0x28,
	CFG_PREFETCH_LIMIT = 0x2C,
	CFG_CONTROL = 0x3C,
	CFG_PCIE = 0x40,
};

#define COMMAND_MEMORY  0x2u
#define SECONDARY_RESET (1u << 22) /* bridge.md 3.5: bit 6 of 0x3E */
#define CRS_VISIBLE     0x10u      /* PCIe base specification 7.5.3.12: root control */
#define NS_AFTER_RESET  100000000u /* bridge.md 3.5 */
#define CFG_ID          0x00
#define CRS_VALUE       0xFFFF0001u /* bridge.md 4 step 1 */
#define ROOT_CONTROL    (CFG_PCIE + 0x1C)
#define LINK_CONTROL    (CFG_PCIE + 0x10)
#define LINK_GEN1_X1    0x20110000u /* active, as the card's own capability says */

/* Every dword that is not constant zero; the rest reads 0 and takes nothing. */
static const struct field {
	uint8_t offset;
	uint32_t reset, writable, clear_on_one;
} FIELDS[] = {
        {0x00, 0x24641B21, 0, 0}, /* ASMedia; the device id is inferred from the chip's name */
        {CFG_COMMAND, 0x00100000, 0x00000547, 0xF9000000},
        {0x08, 0x06040000, 0, 0}, /* PCI bridge */
        {0x0C, 0x00010000, 0x000000FF, 0},
        /* bridge.md 3.5: stock firmware numbers the buses for one NVMe at bus 1, and gives up
         * before it opens a window */
        {CFG_BUSES, 0x00010100, 0x00FFFFFF, 0},
        {CFG_IO, 0x00000000, 0x0000F0F0, 0xF9000000},
        {CFG_MEMORY, 0x00000000, 0xFFF0FFF0, 0},
        {CFG_PREFETCH, 0x00010001, 0xFFF0FFF0, 0},
        {CFG_PREFETCH_BASE, 0, 0xFFFFFFFF, 0},
        {CFG_PREFETCH_LIMIT, 0, 0xFFFFFFFF, 0},
        {0x34, CFG_PCIE, 0, 0},
        {CFG_CONTROL, 0x00000100, 0x005F00FF, 0},
        /* PCIe capability, version 2, root port; gen3 x4 that runs as the card does */
        {CFG_PCIE, 0x00420010, 0, 0},
        {CFG_PCIE + 0x08, 0x00002010, 0x0000FFFF, 0x000F0000},
        {CFG_PCIE + 0x0C, 0x00400C43, 0, 0},
        {LINK_CONTROL, 0, 0x00000FFF, 0},
        {ROOT_CONTROL, 0x00010000, 0x0000001F, 0},
};

static uint32_t cfg(const struct venc *e, unsigned offset)
{
	return e->asmedia->root.cfg[offset / 4];
}

/* PERST# for the card; then the numbers stock firmware gives. */
void venc_asm_root_power_up(struct venc *e)
{
	struct venc_asm_root *r = &e->asmedia->root;

	*r = (struct venc_asm_root){0};
	for (size_t i = 0; i < ARRAY_SIZE(FIELDS); i++)
		r->cfg[FIELDS[i].offset / 4] = FIELDS[i].reset;
	if (!venc_is_246x(e))
		r->cfg[CFG_ID] = 0x23621B21;
	if (e->card)
		vcard_reset(e->card);
}

static bool in_reset(const struct venc *e)
{
	return cfg(e, CFG_CONTROL) & SECONDARY_RESET;
}

bool venc_asm_root_link_up(const struct venc *e)
{
	return venc_card_linked(e) && !in_reset(e);
}

uint8_t venc_asm_root_secondary(const struct venc *e)
{
	return (uint8_t)(cfg(e, CFG_BUSES) >> 8);
}

static uint8_t subordinate(const struct venc *e)
{
	return (uint8_t)(cfg(e, CFG_BUSES) >> 16);
}

static uint32_t lanes(uint8_t enables)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < 4; i++)
		if (enables >> i & 1)
			mask |= 0xFFu << 8 * i;
	return mask;
}

static const struct field *find(uint32_t offset)
{
	for (size_t i = 0; i < ARRAY_SIZE(FIELDS); i++)
		if (FIELDS[i].offset == offset)
			return &FIELDS[i];
	return NULL;
}

/* bridge.md 3.5: the falling edge of secondary bus reset is where the card starts anew */
static void end_secondary_reset(struct venc *e)
{
	if (!e->card)
		return;
	vcard_reset(e->card);
	e->asmedia->root.released_ns = vcard_now(e->card);
}

static void write_own(struct venc *e, uint32_t offset, const struct vcard_tlp *tlp)
{
	uint32_t mask = lanes(tlp->byte_enables), *at = &e->asmedia->root.cfg[offset / 4];
	const struct field *f = find(offset);
	bool was_in_reset = in_reset(e);

	if (!f)
		return;
	if (offset == CFG_BUSES && mask != UINT32_MAX)
		venc_guest_error(e, "asm: bus numbers in pieces: the path is lost in between "
		                    "(bridge.md 3.5)");
	*at = (*at & ~(mask & f->writable)) | (tlp->data & mask & f->writable);
	*at &= ~(tlp->data & mask & f->clear_on_one);
	if (was_in_reset && !in_reset(e))
		end_secondary_reset(e);
}

static uint32_t read_own(const struct venc *e, uint32_t offset)
{
	return cfg(e, offset) |
	       (offset == LINK_CONTROL && venc_asm_root_link_up(e) ? LINK_GEN1_X1 : 0);
}

/* Type 0: bus 0 is inside the bridge, and the root port is alone there (bridge.md 3.5). */
static enum vcard_completion config0(struct venc *e, uint32_t address, struct vcard_tlp *tlp)
{
	uint32_t offset = address & 0xFFC;

	if (address >> 24)
		venc_guest_error(e, "asm: type 0 for bus %u (bridge.md 3.5)", address >> 24);
	if (address >> 16)
		return VCARD_UR;
	if (tlp->type == VCARD_CFG_WRITE && offset / 4 < ROOT_DWORDS)
		write_own(e, offset, tlp);
	else
		tlp->data = offset / 4 < ROOT_DWORDS ? read_own(e, offset) : 0;
	return VCARD_SC;
}

/* Whether the card may be asked at all after a reset of its bus (bridge.md 3.5). */
static bool settled(struct venc *e)
{
	uint64_t released = e->asmedia->root.released_ns;

	if (!released || vcard_now(e->card) - released >= NS_AFTER_RESET)
		return true;
	venc_guest_error(e, "asm: configuration less than 100 ms after reset (bridge.md 3.5)");
	return false;
}

static enum vcard_completion ask_card(struct venc *e, struct vcard_tlp *tlp)
{
	enum vcard_completion rc;

	if (!settled(e))
		return VCARD_CRS;
	venc_link_tlp(e);
	rc = venc_card_tlp(e, tlp);
	if (rc == VCARD_CRS && tlp->type == VCARD_CFG_READ && !(tlp->address & 0xFFF) &&
	        cfg(e, ROOT_CONTROL) & CRS_VISIBLE) {
		tlp->data = CRS_VALUE;
		return VCARD_SC;
	}
	return rc;
}

static enum vcard_completion config1(struct venc *e, uint32_t address, struct vcard_tlp *tlp)
{
	uint32_t bus = address >> 24, secondary = venc_asm_root_secondary(e);

	if (!bus) {
		venc_guest_error(e, "asm: type 1 for bus 0 (bridge.md 3.5)");
		return VCARD_UR;
	}
	if (!secondary || bus < secondary || bus > subordinate(e)) /* bridge.md 5.4 */
		return VCARD_UR;
	if (!venc_asm_root_link_up(e))
		return VCARD_TIMEOUT;                 /* bridge.md 5.5 */
	if (bus != secondary || address >> 19 & 0x1F) /* the card is no bridge and device 0 */
		return VCARD_UR;
	tlp->address = (address >> 16 & 7) << 12 | (address & 0xFFC);
	return ask_card(e, tlp);
}

enum vcard_completion venc_asm_root_config(
        struct venc *e, bool type1, uint32_t address, struct vcard_tlp *tlp)
{
	return type1 ? config1(e, address, tlp) : config0(e, address, tlp);
}

/* bridge.md 4 step 3: bits 15:4 are address 31:20, 1 MiB grain; base above limit is closed */
static bool in_window(uint64_t address, uint32_t fields, uint32_t base_high, uint32_t limit_high)
{
	uint64_t base = (uint64_t)base_high << 32 | (fields & 0xFFF0) << 16;
	uint64_t limit = (uint64_t)limit_high << 32 | (fields & 0xFFF00000) | 0xFFFFF;

	return address >= base && address <= limit;
}

static bool forwarded(const struct venc *e, uint64_t address)
{
	return cfg(e, CFG_COMMAND) & COMMAND_MEMORY &&
	       (in_window(address, cfg(e, CFG_MEMORY), 0, 0) ||
	               in_window(address, cfg(e, CFG_PREFETCH), cfg(e, CFG_PREFETCH_BASE),
	                       cfg(e, CFG_PREFETCH_LIMIT)));
}

/* bridge.md 3.5: what the bridge itself answers to on the bus */
static bool bridges_own(uint64_t address)
{
	return (address >= 0x00200000 && address < 0x00280000) ||
	       (address >= 0x00800000 && address < 0x00823000);
}

enum vcard_completion venc_asm_root_memory(struct venc *e, struct vcard_tlp *tlp)
{
	if (bridges_own(tlp->address)) {
		venc_guest_error(e, "asm: request to the bridge's own address %llx (bridge.md 3.5)",
		        (unsigned long long)tlp->address);
		return VCARD_UR;
	}
	if (!forwarded(e, tlp->address))
		return VCARD_UR;
	if (!venc_asm_root_link_up(e))
		return VCARD_TIMEOUT; /* bridge.md 5.5 */
	venc_link_tlp(e);
	return venc_card_tlp(e, tlp);
}
