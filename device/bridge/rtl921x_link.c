/* rtl921x_link.c - the PCIe link as the bridge sees it: the port's control word (bridge.md 2.13)
 * and the root complex's own registers through their window (bridge.md 2.12). The firmware may use
 * the window, too, so it is looked through once at the start and whenever somebody asks; the
 * control word is one harmless read, done with each heartbeat.
 */
#include "device/bridge/rtl921x_priv.h"
#include "device/err.h"

/* bridge.md 2.12 */
#define DBI_OFFSET    0xB3311000u
#define DBI_READ_DATA 0xB3311008u
#define DBI_CONTROL   0xB331100Cu
#define DBI_READ      3u
#define DBI_BUSY      1u
#define DBI_LINK_CAPS 0x7Cu
#define DBI_LINK      0x80u /* status in the upper half */

static void note_port(struct rtl921x *r, uint32_t control)
{
	struct bridge_link *l = &r->info.link;
	bool up = control & RTL_PORT_LINK_UP;

	if (l->known && l->up && !up)
		rx_log(LOG_WARN, "bridge", "the PCIe link is no longer up (port control 0x%08x)",
		        control);
	l->known = true;
	l->up = up;
	l->port = control;
}

void rtl_look_at_port(struct rtl921x *r)
{
	uint32_t control;

	if (!rtl_peek(r, RTL_PORT_CONTROL, &control))
		note_port(r, control);
}

static int dbi_read(struct rtl921x *r, uint32_t offset, uint32_t *value)
{
	int err = rtl_poke(r, DBI_OFFSET, offset);

	if (!err)
		err = rtl_poke(r, DBI_CONTROL, DBI_READ);
	if (!err)
		err = rtl_wait_clear(r, DBI_CONTROL, DBI_BUSY, value);
	return err ? err : rtl_peek(r, DBI_READ_DATA, value);
}

int rtl_look_at_link(struct bridge *b)
{
	struct rtl921x *r = (struct rtl921x *)b;
	uint32_t control, caps, link;
	int err = rtl_peek(r, RTL_PORT_CONTROL, &control);

	if (err)
		return err;
	note_port(r, control);
	err = dbi_read(r, DBI_LINK_CAPS, &caps);
	if (!err)
		err = dbi_read(r, DBI_LINK, &link);
	if (err)
		return err;
	bridge_decode_link(&r->info.link, caps, link >> 16);
	return 0;
}
