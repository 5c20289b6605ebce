/* rtl921x_open.c - is it an RTL921x, which firmware, is there a card: bridge.md 7.2 steps 2 to 6.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bridge/rtl921x_priv.h"
#include "device/bytes.h"
#include "device/core/mutants.h"
#include "device/err.h"

#define CFG_BAR0    0x10
#define BAR_FLAGS   0xFu
#define REACH_START 0x20000000ull /* bridge memory below: bridge.md 4.5 */
#define REACH_END   (1ull << 32)  /* the upper dword is always 0: bridge.md 2.10 */

/* ask - a probing command: refused means another family, not a failure worth a log line. */
static int ask(struct rtl921x *r, uint8_t sub, void *answer, uint32_t len)
{
	int err = rtl_exec(r, RTL_OP_READ, sub, 0, answer, len, true);

	return err == -EIO ? -ENOTSUP : err;
}

/* check_golden - A6 is answered and 82 is not: the fallback image, which knows five commands and no
 * PCIe (bridge.md 2.8). */
static int check_golden(struct rtl921x *r)
{
	uint8_t version[20];
	int err = ask(r, RTL_VERSION, version, sizeof(version));

	if (err)
		return err;
	return rx_fail("bridge", -ENODEV,
	        "the bridge runs its fallback firmware %u.%u.%u, which cannot reach the card: its "
	        "main firmware is missing or damaged; install it again with the maker's updater",
	        get_le32(version), get_le32(version + 4), get_le32(version + 8));
}

/* identify - two answers only an RTL921x gives (bridge.md 2.18). */
static int identify(struct rtl921x *r)
{
	uint8_t marker = 0, ic[4] = {0};
	int err = ask(r, RTL_MARKER, &marker, 1);

	if (!err && marker != 1)
		err = -ENOTSUP;
	if (!err)
		err = ask(r, RTL_IC_VERSION, ic, sizeof(ic));
	if (err == -ENOTSUP && marker == 1)
		err = check_golden(r);
	if (!err && (get_le32(ic) & ~0xFu) != RTL_IC_VERSION_FIRST)
		err = -ENOTSUP;
	return err;
}

bool rtl_known_firmware(const char *version)
{
	static const char *const analysed[] = {
	        "1.29.391", "1.32.16", "1.32.49", "1.32.87"}; /* bridge.md 8.1 */

	for (size_t i = 0; i < ARRAY_SIZE(analysed); i++)
		if (!strcmp(analysed[i], version))
			return true;
	return false;
}

static void note_firmware(struct rtl921x *r, const uint8_t *version)
{
	snprintf(r->info.firmware, sizeof(r->info.firmware), "%u.%u.%u", get_le32(version),
	        get_le32(version + 4), get_le32(version + 8));
	if (!rtl_known_firmware(r->info.firmware))
		rx_log(LOG_WARN, "bridge", "firmware %s was not analysed; expect surprises",
		        r->info.firmware);
}

/* check_firmware - version words, cross-checked with the flash header (whose read unlocks E3). */
static int check_firmware(struct rtl921x *r)
{
	uint8_t version[20], header[RTL_MAIN_HEADER_BYTES];
	int err = rtl_exec(r, RTL_OP_READ, RTL_VERSION, 0, version, sizeof(version), false);

	if (err)
		return err;
	note_firmware(r, version);
	if (rx_mutant == RX_MUTANT_NO_UNLOCK)
		return 0;
	err = rtl_exec(
	        r, RTL_OP_READ, RTL_READ_MEMORY, RTL_MAIN_HEADER, header, sizeof(header), false);
	if (err)
		return err;
	if (get_le32(header) != RTL_MAIN_MAGIC || memcmp(header + RTL_HEADER_VERSION, version, 12))
		return rx_fail("bridge", -ENOTSUP,
		        "the flash header does not match firmware %s: fallback firmware, or no "
		        "RTL921x; not going on",
		        r->info.firmware);
	return 0;
}

static int check_link(struct rtl921x *r)
{
	uint8_t link[16];

	r->device_present = false;
	r->info.link.up = false;
	int err = rtl_exec(r, RTL_OP_READ, RTL_LINK, 0, link, sizeof(link), false);

	if (err)
		return err;
	if (link[0] == 0xFF)
		return rx_fail("bridge", -ENODEV,
		        "no PCIe device behind the bridge: power the card before the enclosure "
		        "gets USB power");
	if (link[0] != RTL_LINK_STATE_OTHER || link[8] != RTL_LINK_TYPE_PCIE)
		return rx_fail("bridge", -ENODEV,
		        "the enclosure holds a disk (state %u), not a graphics card", link[0]);
	r->device_present = true;
	r->info.link.known = r->info.link.up = true;
	return 0;
}

/* check_base - the BAR0 base the firmware counts from; must be known before anybody moves the BAR.
 */
static int check_base(struct rtl921x *r)
{
	uint32_t bar0;
	int err = r->b.ops->cfg_read(&r->b, 0, 4, &r->id);

	if (!err)
		err = r->b.ops->cfg_read(&r->b, CFG_BAR0, 4, &bar0);
	if (err)
		return err;
	if (!bridge_answers(r->id)) {
		rtl_look_at_port(r); /* what BB says is as old as the enumeration */
		return bridge_no_answer(r->id, &r->info.link);
	}
	r->info.window_base = bar0 & ~BAR_FLAGS;
	return 0;
}

int rtl_setup(struct rtl921x *r)
{
	int err = rx_mutant == RX_MUTANT_NO_UNLOCK ? 0 : rtl_unlock(r);

	rtl_engine_forget(&r->engine);
	return err ? err : check_link(r);
}

int rtl921x_open(struct bridge **out, struct scsi *scsi, const struct bridge_hooks *hooks)
{
	struct rtl921x *r = calloc(1, sizeof(*r));
	struct scsi_counters c;

	if (!r)
		return -ENOMEM;
	scsi_read_counters(scsi, &c);
	r->b = (struct bridge){.ops = &rtl921x_ops, .scsi = scsi, .hooks = *hooks};
	r->seen_resets = c.resets;
	rtl_engine_forget(&r->engine);
	snprintf(r->info.family, sizeof(r->info.family), "rtl921x");
	r->info.assigns_bars = true;
	r->info.reach_start = REACH_START;
	r->info.reach_end = REACH_END;
	int err = identify(r);

	if (!err)
		err = check_firmware(r);
	if (!err)
		err = check_link(r);
	if (!err)
		err = check_base(r);
	if (err) {
		free(r);
		return err;
	}
	rx_log(LOG_INFO, "bridge", "RTL921x, firmware %s, card at 0x%llx", r->info.firmware,
	        (unsigned long long)r->info.window_base);
	*out = &r->b;
	return 0;
}
