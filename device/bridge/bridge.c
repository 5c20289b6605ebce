/* bridge.c - which family is it? The same opcodes mean different things to different chips: E3 is a
 * write to the card on one and to the firmware's flash on another (bridge.md 2.18). So the names
 * choose a question that is harmless whoever hears it, and only the answer decides.
 */
#include <ctype.h>
#include <string.h>

#include "device/bridge/asm2x6x.h"
#include "device/bridge/rtl921x_priv.h"
#include "device/bytes.h"
#include "device/err.h"

#define OP_INQUIRY    0x12
#define INQUIRY_BYTES 36
#define VENDOR_AT     8 /* SPC-4 6.6.2 */
#define PRODUCT_AT    16
#define VID_REALTEK   0x0bda /* bridge.md 1.1 */
#define VID_ASMEDIA   0x174c

static void copy_text(char *out, const uint8_t *in, size_t len)
{
	for (size_t i = 0; i < len; i++)
		out[i] = isprint(in[i]) ? (char)in[i] : '.';
	out[len] = '\0';
	while (len && out[len - 1] == ' ')
		out[--len] = '\0';
}

static enum bridge_maker maker_of_ids(const struct usb_identity *usb)
{
	if (usb->vid == VID_REALTEK)
		return BRIDGE_REALTEK;
	if (usb->vid == VID_ASMEDIA || (usb->vid == 0x0bc2 && usb->pid == 0xaa1a) ||
	        (usb->vid == 0xadd1 && usb->pid == 0x0001)) /* bridge.md 1.1 */
		return BRIDGE_ASMEDIA;
	return BRIDGE_NAMELESS;
}

static enum bridge_maker maker_of_vendor(const uint8_t *inquiry)
{
	if (!memcmp(inquiry + VENDOR_AT, "Realtek ", 8))
		return BRIDGE_REALTEK;
	if (!memcmp(inquiry + VENDOR_AT, "ASMT", 4))
		return BRIDGE_ASMEDIA;
	return BRIDGE_NAMELESS;
}

enum bridge_maker bridge_maker_of(const struct usb_identity *usb, const uint8_t *inquiry)
{
	enum bridge_maker ids = maker_of_ids(usb), vendor = maker_of_vendor(inquiry);

	if (ids == vendor || vendor == BRIDGE_NAMELESS)
		return ids;
	return ids == BRIDGE_NAMELESS ? vendor : BRIDGE_CONTRADICTORY;
}

bool bridge_name_fits(const char *family, const uint8_t *inquiry)
{
	const char *product = (const char *)inquiry + PRODUCT_AT;

	if (maker_of_vendor(inquiry) != BRIDGE_ASMEDIA || memcmp(product, "ASM", 3) != 0 ||
	        !isdigit(inquiry[PRODUCT_AT + 3]))
		return true;
	return !strncmp(family, "asm", 3) && !memcmp(product + 3, family + 3, 3);
}

static int inquire(struct scsi *scsi, uint8_t data[INQUIRY_BYTES])
{
	const uint8_t cdb[6] = {OP_INQUIRY, 0, 0, 0, INQUIRY_BYTES, 0};
	int n = scsi_exec(
	        scsi, cdb, sizeof(cdb), SCSI_IN, data, INQUIRY_BYTES, RTL_TIMEOUT_MS, NULL);

	if (n < 0)
		return n;
	if (n < INQUIRY_BYTES ||
	        (data[0] & 0x1F) != 0) /* SPC-4: type 0 is a direct access device */
		return rx_fail("bridge", -ENOTSUP,
		        "the device does not answer INQUIRY like a disk enclosure");
	return 0;
}

/* open_asmedia - E4 reads memory of the chip, and E5 only follows a positive answer. */
static int open_asmedia(struct bridge **out, struct scsi *scsi, const struct bridge_hooks *hooks,
        const uint8_t *inquiry)
{
	uint8_t version[ASM_VERSION_BYTES];
	enum asm_chip chip;
	struct bridge *b;
	int err = asm_identify(scsi, &chip, version);

	if (!err && !bridge_name_fits(chip == ASM_246X ? "asm246x" : "asm236x", inquiry))
		err = rx_fail("bridge", -ENOTSUP,
		        "it answers like an %s, which is not what its name says: not going on",
		        chip == ASM_246X ? "ASM246x" : "ASM236x");
	if (!err)
		err = asm2x6x_attach(&b, scsi, hooks, chip, version);
	if (err)
		return err;
	err = asm2x6x_find_card(b);
	if (err) {
		b->scsi = NULL; /* stays the caller's */
		bridge_free(b);
		return err;
	}
	*out = b;
	return 0;
}

int bridge_open(struct bridge **out, struct scsi *scsi, const struct bridge_hooks *hooks)
{
	uint8_t inquiry[INQUIRY_BYTES] = {0};
	char vendor[9], product[17];
	struct usb_identity usb;
	int err = scsi_settle(scsi);

	if (!err)
		err = inquire(scsi, inquiry);
	if (err)
		return err;
	scsi_identity(scsi, &usb);
	copy_text(vendor, inquiry + VENDOR_AT, 8);
	copy_text(product, inquiry + PRODUCT_AT, 16);
	rx_log(LOG_DEBUG, "bridge", "INQUIRY: \"%s\" \"%s\"", vendor, product);
	switch (bridge_maker_of(&usb, inquiry)) {
	case BRIDGE_CONTRADICTORY:
		return rx_fail("bridge", -ENOTSUP,
		        "USB says %04x:%04x and INQUIRY \"%s\", two makers of bridges: nothing is "
		        "sent to it",
		        usb.vid, usb.pid, vendor);
	case BRIDGE_ASMEDIA: err = open_asmedia(out, scsi, hooks, inquiry); break;
	case BRIDGE_REALTEK:
	case BRIDGE_NAMELESS: err = rtl921x_open(out, scsi, hooks); break;
	}
	if (err == -ENOTSUP)
		return rx_fail("bridge", err,
		        "\"%s %s\" is no RTL921x, ASM236x or ASM246x bridge with known firmware",
		        vendor, product);
	return err;
}

#define LINK_SPEED(v) ((v) & 0xF)
#define LINK_WIDTH(v) ((v) >> 4 & 0x3F)

void bridge_decode_link(struct bridge_link *l, uint32_t caps, uint32_t status)
{
	l->max_speed = LINK_SPEED(caps);
	l->max_width = LINK_WIDTH(caps);
	l->speed = LINK_SPEED(status);
	l->width = LINK_WIDTH(status);
}

#define NOBODY 0xFFFFFFFFu

bool bridge_answers(uint32_t id)
{
	return id != NOBODY && id != 0 && (id & 0xFFFF) != BRIDGE_CRS_VENDOR;
}

int bridge_no_answer(uint32_t id, const struct bridge_link *l)
{
	if (l->known && !l->up)
		return rx_fail("bridge", -ENODEV,
		        "the PCIe link is down (the card reads 0x%08x): check the adapter's cable, "
		        "power the card, then unplug the enclosure and plug it in again",
		        id);
	if (id != NOBODY)
		return rx_fail("bridge", -ENODEV,
		        "the card is not ready (id 0x%08x): wait a second and try again", id);
	if (l->known)
		return rx_fail("bridge", -ENODEV,
		        "the PCIe link is up, but the card answers all ones: it is held in reset "
		        "or lost its own supply; check its power plugs, then power-cycle it");
	return rx_fail("bridge", -ENODEV,
	        "configuration reads are all ones: the PCIe link is dead, or the card is; check "
	        "the card's power and the adapter's cable");
}

void bridge_free(struct bridge *b)
{
	if (b)
		b->ops->free(b);
}
