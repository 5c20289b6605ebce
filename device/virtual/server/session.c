/* session.c - the messages of one USB/IP connection: gathers them from the byte stream, answers the
 * operations, hands URBs to urbs.c. Nothing the client sends is used before it was checked.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/virtual/server/session_priv.h"

#define BUSNUM (EXPORT_DEVID >> 16)
#define DEVNUM (EXPORT_DEVID & 0xFFFF)

/* ---- output ---- */

uint8_t *session_room(struct session *s, size_t len)
{
	if (s->size - s->end < len && s->start) {
		memmove(s->out, s->out + s->start, s->end - s->start);
		s->end -= s->start;
		s->start = 0;
	}
	if (s->size - s->end < len) {
		uint8_t *grown = realloc(s->out, s->end + len);

		if (!grown)
			return NULL;
		s->out = grown;
		s->size = s->end + len;
	}
	return s->out + s->end;
}

void session_used(struct session *s, size_t len)
{
	s->end += len;
}

const uint8_t *session_output(const struct session *s, size_t *len)
{
	*len = s->end - s->start;
	return *len ? s->out + s->start : NULL;
}

void session_sent(struct session *s, size_t n)
{
	s->start += n;
	if (s->start == s->end)
		s->start = s->end = 0;
}

bool session_full(const struct session *s)
{
	return s->end - s->start >= OUTPUT_FULL;
}

bool session_finished(const struct session *s)
{
	return s->state == FINISHED;
}

bool session_imported(const struct session *s)
{
	return s->export->owner == s;
}

/* ---- life ---- */

static void expect(struct session *s, enum session_state state, uint8_t *into, size_t want)
{
	s->state = state;
	s->into = into;
	s->have = 0;
	s->want = want;
}

int session_new(struct session **out, struct usbip_export *x, const char *peer)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->export = x;
	snprintf(s->peer, sizeof(s->peer), "%s", peer);
	expect(s, WANT_OP, s->header, OP_HEADER_BYTES);
	*out = s;
	return 0;
}

static void give_back(struct session *s)
{
	struct venc_stats v;

	s->export->owner = NULL;
	venc_port_reset(s->export->enclosure);
	venc_read_stats(s->export->enclosure, &v);
	rx_log(LOG_INFO, "usbip",
	        "%s: detached; since power-up %llu commands, %llu bytes, %llu guest errors",
	        s->peer, (unsigned long long)v.commands, (unsigned long long)v.bytes,
	        (unsigned long long)v.guest_errors);
}

void session_free(struct session *s)
{
	if (!s)
		return;
	if (session_imported(s))
		give_back(s);
	urb_free_all(s);
	free(s->out);
	free(s);
}

/* ---- operations ---- */

static void put_op(uint8_t *to, uint32_t code, uint32_t status)
{
	put_be32(to, (uint32_t)USBIP_VERSION << 16 | code);
	put_be32(to + OP_STATUS, status);
}

static void swap16(uint8_t *to, const uint8_t *from)
{
	to[0] = from[1];
	to[1] = from[0];
}

/* put_device - the record of the enclosure, from its own device descriptor (USB 2.0 9.6.1). */
static void put_device(struct session *s, uint8_t *to)
{
	uint8_t d[18] = {0};

	venc_control(s->export->enclosure, 0x80, 6, 0x0100, 0, d, sizeof(d));
	memset(to, 0, DEV_BYTES);
	snprintf((char *)to + DEV_PATH, DEV_PATH_BYTES, "/sys/devices/virtual/rx580-enclosure/%s",
	        EXPORT_BUSID);
	snprintf((char *)to + DEV_BUSID, DEV_BUSID_BYTES, "%s", EXPORT_BUSID);
	put_be32(to + DEV_BUSNUM, BUSNUM);
	put_be32(to + DEV_DEVNUM, DEVNUM);
	put_be32(to + DEV_SPEED, s->export->super_speed ? SPEED_SUPER : SPEED_HIGH);
	swap16(to + DEV_VENDOR, d + 8);
	swap16(to + DEV_PRODUCT, d + 10);
	swap16(to + DEV_BCD, d + 12);
	memcpy(to + DEV_CLASS, d + 4, 3);
	to[DEV_CONFIGURATION] = 1;
	to[DEV_CONFIGURATIONS] = d[17];
	to[DEV_INTERFACES] = 1;
}

/* A device in use is not listed, as tools/usb/usbip/src/usbipd.c, send_reply_devlist(). */
static int reply_list(struct session *s)
{
	static const uint8_t bot[DEV_INTERFACE_SIZE] = {8, 6, 0x50, 0}; /* bridge.md 1.2 */
	bool listed = !s->export->owner && !s->export->unplugged;
	size_t len = OP_HEADER_BYTES + 4 + (listed ? DEV_BYTES + DEV_INTERFACE_SIZE : 0);
	uint8_t *to = session_room(s, len);

	if (!to)
		return -ENOMEM;
	put_op(to, OP_REP_DEVLIST, OP_STATUS_OK);
	put_be32(to + OP_HEADER_BYTES, listed);
	if (listed) {
		put_device(s, to + OP_HEADER_BYTES + 4);
		memcpy(to + len - DEV_INTERFACE_SIZE, bot, DEV_INTERFACE_SIZE);
	}
	session_used(s, len);
	s->state = FINISHED;
	return 0;
}

static void own(struct session *s)
{
	s->export->owner = s;
	rx_log(LOG_INFO, "usbip", "%s: attached", s->peer);
	expect(s, WANT_URB, s->header, URB_HEADER_BYTES);
}

int session_import(struct session *s)
{
	if (s->export->unplugged || s->export->owner)
		return s->export->owner ? -EBUSY : -ENODEV;
	own(s);
	return 0;
}

static uint32_t import_status(const struct session *s)
{
	static const uint8_t wanted[DEV_BUSID_BYTES] = EXPORT_BUSID;

	if (s->export->unplugged || memcmp(s->header, wanted, sizeof(wanted)) != 0)
		return OP_STATUS_NODEV;
	return s->export->owner ? OP_STATUS_DEV_BUSY : OP_STATUS_OK;
}

static int reply_import(struct session *s)
{
	uint32_t status = import_status(s);
	uint8_t *to = session_room(s, OP_HEADER_BYTES + DEV_BYTES);

	if (!to)
		return -ENOMEM;
	put_op(to, OP_REP_IMPORT, status);
	if (status != OP_STATUS_OK) {
		rx_log(LOG_WARN, "usbip", "%s: import refused: %s", s->peer,
		        status == OP_STATUS_DEV_BUSY ? "another client has the enclosure"
		                                     : "no such device");
		session_used(s, OP_HEADER_BYTES);
		s->state = FINISHED;
		return 0;
	}
	put_device(s, to + OP_HEADER_BYTES);
	session_used(s, OP_HEADER_BYTES + DEV_BYTES);
	own(s);
	return 0;
}

static int take_op(struct session *s)
{
	if (get_be16(s->header) != USBIP_VERSION)
		return rx_fail("usbip", -EPROTO, "%s: speaks version %04x, this is %04x", s->peer,
		        get_be16(s->header), USBIP_VERSION);
	switch (get_be16(s->header + OP_CODE)) {
	case OP_REQ_DEVLIST: return reply_list(s);
	case OP_REQ_IMPORT: expect(s, WANT_BUSID, s->header, DEV_BUSID_BYTES); return 0;
	default:
		return rx_fail("usbip", -EPROTO, "%s: unknown operation %04x", s->peer,
		        get_be16(s->header + OP_CODE));
	}
}

/* ---- URBs ---- */

static int take_data(struct session *s)
{
	struct urb *u = s->incoming;

	s->incoming = NULL;
	expect(s, WANT_URB, s->header, URB_HEADER_BYTES);
	return urb_submit(s, u);
}

static int take_submit(struct session *s)
{
	int err = urb_new(s, s->header, &s->incoming);

	if (err)
		return err;
	if (s->incoming->in || !s->incoming->len)
		return take_data(s);
	expect(s, WANT_DATA, s->incoming->data, s->incoming->len);
	return 0;
}

static int take_urb(struct session *s)
{
	uint32_t command = get_be32(s->header + URB_COMMAND);
	uint32_t devid = get_be32(s->header + URB_DEVID);

	if (devid != EXPORT_DEVID)
		return rx_fail(
		        "usbip", -EPROTO, "%s: device %08x was not imported", s->peer, devid);
	switch (command) {
	case USBIP_CMD_SUBMIT: return take_submit(s);
	case USBIP_CMD_UNLINK:
		expect(s, WANT_URB, s->header, URB_HEADER_BYTES);
		return urb_unlink(s, s->header);
	default: return rx_fail("usbip", -EPROTO, "%s: unknown command %08x", s->peer, command);
	}
}

static int take_message(struct session *s)
{
	switch (s->state) {
	case WANT_OP: return take_op(s);
	case WANT_BUSID: return reply_import(s);
	case WANT_URB: return take_urb(s);
	case WANT_DATA: return take_data(s);
	case FINISHED: break;
	}
	return 0;
}

int session_input(struct session *s, const uint8_t *data, size_t len)
{
	while (len && s->state != FINISHED) {
		size_t n = MIN(len, s->want - s->have);

		memcpy(s->into + s->have, data, n);
		s->have += n;
		data += n;
		len -= n;
		int err = s->have == s->want ? take_message(s) : 0;

		if (err)
			return err;
	}
	return 0;
}
