/* rtl921x_root.c - the PCIe root port of an RTL921x: routes request TLPs to the card, and does to a
 * freshly powered card what the firmware does (bridge.md 2.14). Bus numbers and windows are not
 * programmed: the endpoint is bus 0 device 0.
 */
#include "device/bytes.h"
#include "device/virtual/enclosure/venc_priv.h"

/* configuration offsets, bridge.md 4 */
#define CFG_ID          0x00
#define CFG_COMMAND     0x04
#define CFG_CLASS       0x08
#define CFG_BAR0        0x10
#define CFG_CAP_POINTER 0x34
#define CFG_INTERRUPT   0x3C
#define BAR_COUNT       6

#define CRS_VALUE 0xFFFF0001u /* bridge.md 4 step 1: CRS software visibility */

bool venc_root_port_link_up(const struct venc *e, const struct rc_port *p)
{
	/* bridge.md 2.13: bit 15 is PERST#, 1 = deasserted */
	return p->linked && venc_card_linked(e) && e->disk_power && (p->control & 1u << 15);
}

/* One dword of a request, on its way down. */
static enum vcard_completion route(struct venc *e, struct rc_port *p, struct vcard_tlp *tlp)
{
	enum vcard_completion rc;

	if (!venc_root_port_link_up(e, p))
		return VCARD_UR;
	rc = venc_card_tlp(e, tlp);
	if (rc == VCARD_CRS && tlp->type == VCARD_CFG_READ && tlp->address == CFG_ID) {
		tlp->data = CRS_VALUE;
		return VCARD_SC;
	}
	return rc;
}

enum vcard_completion venc_root_port_tlp(struct venc *e, struct rc_port *p, struct vcard_tlp *tlp)
{
	venc_link_tlp(e);
	return route(e, p, tlp);
}

enum vcard_completion venc_root_port_burst(struct venc *e, struct rc_port *p,
        const struct vcard_tlp *tlp, uint32_t *data, unsigned n, uint8_t last)
{
	enum vcard_completion rc = VCARD_SC;

	venc_link_tlp(e);
	for (unsigned i = 0; i < n && rc == VCARD_SC; i++) {
		struct vcard_tlp part = *tlp;

		part.address += 4 * i;
		part.data = data[i];
		if (i)
			part.byte_enables = i + 1 == n ? last : 0xF;
		rc = route(e, p, &part);
		if (rc == VCARD_SC && tlp->type == VCARD_MEM_READ)
			data[i] = part.data;
	}
	return rc;
}

/* One dword of configuration space as the firmware sees it. */
static uint32_t cfg_read(struct venc *e, uint32_t offset)
{
	struct vcard_tlp tlp = {.type = VCARD_CFG_READ, .address = offset, .byte_enables = 0xF};

	return venc_engine_firmware_tlp(e, &tlp) ? tlp.data : 0;
}

static void cfg_write(struct venc *e, uint32_t offset, uint32_t value)
{
	struct vcard_tlp tlp = {
	        .type = VCARD_CFG_WRITE, .address = offset, .byte_enables = 0xF, .data = value};

	venc_engine_firmware_tlp(e, &tlp);
}

static bool card_present(struct venc *e)
{
	for (int attempt = 0; attempt < 15;
	        attempt++) { /* bridge.md 2.13: enumeration tried 15 times */
		uint32_t id = cfg_read(e, CFG_ID);

		if (id != 0 && id != 0xFFFFFFFFu && id != CRS_VALUE)
			return true;
	}
	return false;
}

/* bridge.md 2.14 step 3: no allocator, each BAR gets a fixed start plus its own size */
static void place_bars(struct venc *e)
{
	for (uint32_t i = 0; i < BAR_COUNT; i++) {
		uint32_t offset = CFG_BAR0 + 4 * i, mask, base;

		cfg_write(e, offset, 0xFFFFFFFFu);
		mask = cfg_read(e, offset);
		if (mask == 0 || mask == 0xFFFFFFFFu)
			continue;
		if (mask & 1)
			base = 0xD0000000u + (~((mask & 0xFFFCu) | 0xFFFF0000u) + 1);
		else
			base = 0xE0000000u + (~(mask & 0xFFFFFFF0u) + 1);
		cfg_write(e, offset, base);
		if ((mask & 7) == 4 && i + 1 < BAR_COUNT) /* 64 bit: the upper dword gets 0 */
			cfg_write(e, CFG_BAR0 + 4 * ++i, 0);
	}
	e->bar0_base = cfg_read(e, CFG_BAR0) & 0xFFFFFFF0u;
}

/* bridge.md 2.14 step 4, PCIe capability: MPS and MRRS fields 2 (512 bytes), common clock. The
 * firmware does not look at what the card is capable of: an RX 580 that says 256 is told 512. */
static void set_up_link_fields(struct venc *e)
{
	uint32_t at = cfg_read(e, CFG_CAP_POINTER) & 0xFC;

	for (int guard = 0; at >= 0x40 && guard < 48; guard++) {
		uint32_t head = cfg_read(e, at);

		if ((head & 0xFF) == 0x10) {
			uint32_t control = cfg_read(e, at + 0x08) & 0xFFFFu & ~0x70E0u;

			cfg_write(e, at + 0x08, control | 2u << 5 | 2u << 12);
			cfg_write(e, at + 0x10, (cfg_read(e, at + 0x10) & 0xFFFFu) | 1u << 6);
			return;
		}
		at = head >> 8 & 0xFC;
	}
}

static void enumerate(struct venc *e)
{
	e->state = BRIDGE_STATE_NONE;
	if (e->firmware.golden || !card_present(e))
		return;
	cfg_write(e, CFG_COMMAND, 0x00100007); /* bridge.md 2.14 step 2 */
	cfg_write(e, CFG_INTERRUPT, 4);        /* bridge.md 2.14 step 2 */
	place_bars(e);
	set_up_link_fields(e);
	/* bridge.md 2.14 step 5 */
	e->state = cfg_read(e, CFG_CLASS) >> 8 == 0x010802 ? BRIDGE_STATE_NVME : BRIDGE_STATE_OTHER;
}

void venc_root_port_power_up(struct venc *e)
{
	uint64_t tlps = e->tlps;

	if (e->card)
		vcard_reset(e->card);
	e->disk_power = true;
	e->bar0_base = 0;
	e->read_var = 0;
	venc_engine_power_up(e, &e->port[0]);
	venc_engine_power_up(e, &e->port[1]);
	e->port[0].linked = true;
	enumerate(e);
	e->tlps = tlps; /* costs no time on the cable */
}
