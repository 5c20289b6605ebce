/* asm2x6x_link.c - is the PCIe link up, and the card still there? Where the link state can be read
 * is known of the 246x only (bridge.md 3.6); the others show it by how configuration reads end.
 */
#include "device/bridge/asm2x6x_priv.h"
#include "device/bytes.h"
#include "device/err.h"

/* PCI Local Bus 3.0 6.7, PCIe base specification 7.5.3 (bridge.md 4.9) */
#define CFG_CAPABILITIES 0x34
#define CAPABILITY_PCIE  0x10u
#define LINK_CAPS        0x0C
#define LINK_STATUS      0x10 /* upper half */
#define MAX_CAPABILITIES 48   /* (256 - 64) / 4: more means a loop */

static void note_link(struct asm2x6x *a, bool up)
{
	a->info.link.known = true;
	a->info.link.up = up;
}

bool asm_link_up(uint8_t ltssm)
{
	return ltssm == 0x48 || ltssm == 0x78; /* bridge.md 3.6 */
}

int asm_check_link(struct asm2x6x *a)
{
	uint8_t ltssm;

	if (a->chip != ASM_246X) /* where the others show it is not known */
		return 0;
	int err = asm_read(a, ASM_LTSSM, &ltssm, 1);

	if (err)
		return err;
	note_link(a, asm_link_up(ltssm));
	if (a->info.link.up)
		return 0;
	return rx_fail("bridge", -ENODEV,
	        "the PCIe link is down (LTSSM %02x, 48 or 78 expected): power the card before the "
	        "enclosure gets USB power, and check the adapter's cables",
	        ltssm);
}

int asm_check_card(struct asm2x6x *a)
{
	enum asm_outcome o;
	uint32_t id;
	int err = asm_cfg_read(a, asm_card(a), 0, 4, &id, &o);

	if (err)
		return err;
	note_link(a, o == ASM_SUCCESS);
	if (o == ASM_SUCCESS && id == a->id)
		return 0;
	err = asm_check_link(a);
	if (err)
		return err;
	if (o != ASM_SUCCESS)
		return rx_fail("bridge", -ENODEV,
		        "the card does not answer configuration reads any more: %s",
		        asm_outcome_words(o));
	return rx_fail("bridge", -ENODEV,
	        "the card's vendor and device id read 0x%08x instead of 0x%08x", id, a->id);
}

static int port_read(struct asm2x6x *a, unsigned reg, uint32_t *value)
{
	enum asm_outcome o;
	int err = asm_cfg_read(a, (struct asm_where){0}, reg & 0xFC, 4, value, &o);

	return err ? err : o == ASM_SUCCESS ? 0 : -EIO;
}

/* find_pcie - offset of the root port's PCIe capability; 0 none. */
static int find_pcie(struct asm2x6x *a, unsigned *at)
{
	uint32_t v = 0;
	int err = port_read(a, CFG_CAPABILITIES, &v);

	*at = 0;
	for (int i = 0; i < MAX_CAPABILITIES && !err; i++) {
		unsigned next = v & 0xFC;

		if (next < 0x40) /* the end, or nonsense */
			return 0;
		err = port_read(a, next, &v);
		if (!err && (v & 0xFF) == CAPABILITY_PCIE) {
			*at = next;
			return 0;
		}
		v >>= 8;
	}
	return err;
}

int asm_look_at_link(struct bridge *b)
{
	struct asm2x6x *a = (struct asm2x6x *)b;
	uint32_t caps, status;
	unsigned at;
	int err = asm_check_card(a);

	if (!err)
		err = find_pcie(a, &at);
	if (err || !at)
		return err;
	err = port_read(a, at + LINK_CAPS, &caps);
	if (!err)
		err = port_read(a, at + LINK_STATUS, &status);
	if (err)
		return err;
	bridge_decode_link(&a->info.link, caps, status >> 16);
	return 0;
}
