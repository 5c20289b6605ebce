/* sg_node.c - SG_IO as the kernel's usb-storage would do it: BOT to the enclosure, sense fetched on
 * CHECK CONDITION, a reset after a time-out (bridge.md 1.6).
 */
#include <errno.h>
#include <linux/fs.h>
#include <scsi/sg.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/enclosure/usb_descriptors.h"
#include "tests/usb/host.h"

#define CBW_BYTES   31 /* bridge.md 1.3 */
#define CSW_BYTES   13
#define SENSE_BYTES 18
/* what usb-storage allows at high speed (bridge.md 1.6); else what SG_LONGEST says */
#define MAX_BYTES (120 << 10)

struct command {
	const uint8_t *cdb;
	uint8_t cdb_len;
	bool in;
	uint8_t *data;
	uint32_t len;
};

static void clear_halt(struct host *h, uint16_t endpoint)
{
	venc_control(h->enclosure, 0x02, 1, 0, endpoint, NULL, 0); /* USB 2.0 9.4.1 */
}

static int data_phase(struct host *h, const struct command *c)
{
	int n = c->in ? venc_bulk_in(h->enclosure, c->data, c->len)
	              : venc_bulk_out(h->enclosure, c->data, c->len);

	if (n != -EPIPE)
		return n;
	clear_halt(h, c->in ? USB_EP_BULK_IN : USB_EP_BULK_OUT);
	return 0;
}

/* bot - one command. Return: CSW status with *moved; -errno of the transport. */
static int bot(struct host *h, const struct command *c, uint32_t *moved)
{
	uint8_t cbw[CBW_BYTES] = {0}, csw[CSW_BYTES];

	put_le32(cbw, 0x43425355);
	put_le32(cbw + 8, c->len);
	cbw[12] = c->in ? 0x80 : 0;
	cbw[14] = c->cdb_len;
	memcpy(cbw + 15, c->cdb, c->cdb_len);
	int n = venc_bulk_out(h->enclosure, cbw, sizeof(cbw));

	if (n > 0 && c->len)
		n = data_phase(h, c);
	if (n < 0)
		return n;
	*moved = c->len ? (uint32_t)n : 0;
	n = venc_bulk_in(h->enclosure, csw, sizeof(csw));
	if (n == -EPIPE) {
		clear_halt(h, USB_EP_BULK_IN);
		n = venc_bulk_in(h->enclosure, csw, sizeof(csw));
	}
	if (n < 0)
		return n;
	if (n != CSW_BYTES || get_le32(csw + 4) != 0)
		return -EIO;
	return csw[12];
}

static void transport_failed(struct host *h, struct sg_io_hdr *s, int error)
{
	venc_port_reset(h->enclosure);
	/* SCSI host bytes: bridge.md 1.6 */
	s->host_status = error == -ENODEV ? 1 : error == -ETIMEDOUT ? 3 : 7;
}

static void check_condition(struct host *h, struct sg_io_hdr *s, uint8_t *sense)
{
	static const uint8_t cdb[6] = {0x03, 0, 0, 0, SENSE_BYTES, 0};
	uint8_t data[SENSE_BYTES] = {0};
	struct command c = {cdb, sizeof(cdb), true, data, sizeof(data)};
	uint32_t moved = 0;
	int rc = bot(h, &c, &moved);

	if (rc < 0) {
		transport_failed(h, s, rc);
		return;
	}
	s->status = 2;
	s->masked_status = 1;
	s->driver_status = 8;
	s->sb_len_wr = (unsigned char)MIN(moved, (uint32_t)s->mx_sb_len);
	if (sense)
		memcpy(sense, data, s->sb_len_wr);
}

static void run(struct host *h, struct sg_io_hdr *s, struct command *c, uint8_t *sense)
{
	uint32_t moved = 0;
	int rc = bot(h, c, &moved);

	s->status = 0;
	s->host_status = 0;
	s->driver_status = 0;
	s->sb_len_wr = 0;
	s->resid = (int)(c->len - moved);
	if (rc < 0 || rc > 1)
		transport_failed(h, s, rc < 0 ? rc : -EIO);
	else if (rc == 1)
		check_condition(h, s, sense);
}

static int longest(void)
{
	const char *bytes = getenv("SG_LONGEST");

	return bytes ? atoi(bytes) : MAX_BYTES;
}

static gboolean sg_io(struct host *h, UMockdevIoctlClient *client, UMockdevIoctlData *arg)
{
	g_autoptr(UMockdevIoctlData) head =
	        umockdev_ioctl_data_resolve(arg, 0, sizeof(struct sg_io_hdr), NULL);
	struct sg_io_hdr *s = (struct sg_io_hdr *)(void *)head->data;
	bool none = s->dxfer_direction == SG_DXFER_NONE || !s->dxfer_len;

	if (s->interface_id != 'S' || s->cmd_len < 6 || s->cmd_len > 16 ||
	        s->dxfer_len > (unsigned)longest())
		return answer_ioctl(client, -1, EINVAL);
	g_autoptr(UMockdevIoctlData) cdb = umockdev_ioctl_data_resolve(
	        head, G_STRUCT_OFFSET(struct sg_io_hdr, cmdp), s->cmd_len, NULL);
	g_autoptr(UMockdevIoctlData) data =
	        none ? NULL
	             : umockdev_ioctl_data_resolve(
	                       head, G_STRUCT_OFFSET(struct sg_io_hdr, dxferp), s->dxfer_len, NULL);
	g_autoptr(UMockdevIoctlData) sense =
	        !s->mx_sb_len ? NULL
	                      : umockdev_ioctl_data_resolve(head,
	                                G_STRUCT_OFFSET(struct sg_io_hdr, sbp), s->mx_sb_len, NULL);
	struct command c = {.cdb = cdb->data,
	        .cdb_len = s->cmd_len,
	        .in = s->dxfer_direction == SG_DXFER_FROM_DEV,
	        .data = data ? data->data : NULL,
	        .len = none ? 0 : s->dxfer_len};

	run(h, s, &c, sense ? sense->data : NULL);
	return answer_ioctl(client, 0, 0);
}

static gboolean put_int(UMockdevIoctlClient *client, UMockdevIoctlData *arg, int value)
{
	g_autoptr(UMockdevIoctlData) d = umockdev_ioctl_data_resolve(arg, 0, sizeof(value), NULL);

	memcpy(d->data, &value, sizeof(value));
	return answer_ioctl(client, 0, 0);
}

gboolean sg_ioctl(UMockdevIoctlBase *base, UMockdevIoctlClient *client, gpointer host)
{
	struct host *h = host;
	UMockdevIoctlData *arg = umockdev_ioctl_client_get_arg(client);

	(void)base;
	if (h->unplugged)
		return answer_ioctl(client, -1, ENODEV);
	switch (umockdev_ioctl_client_get_request(client)) {
	case SG_IO: return sg_io(h, client, arg);
	case SG_GET_VERSION_NUM: return put_int(client, arg, 30536);
	case BLKSECTGET: return put_int(client, arg, longest());
	default: return answer_ioctl(client, -1, ENOTTY);
	}
}
