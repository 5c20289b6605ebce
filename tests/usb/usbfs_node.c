/* usbfs_node.c - the ioctls of a usbfs node (linux/usbdevice_fs.h) as libusb uses them. A URB the
 * device does not answer stays until it is discarded, the device is reset or it is unplugged.
 */
#include <errno.h>
#include <linux/usbdevice_fs.h>
#include <sys/ioctl.h>
#include <string.h>

#include "device/virtual/enclosure/usb_descriptors.h"
#include "tests/usb/host.h"

#define SETUP_BYTES 8 /* USB 2.0 9.3 */

enum { OUT, IN };

/* One transfer from SUBMITURB to REAPURB; the data objects are windows into the client's memory. */
struct urb {
	UMockdevIoctlData *data, *buffer;
	struct usbdevfs_urb *urb;
};

static void finish(struct host *h, struct urb *u, int result)
{
	u->urb->status = result < 0 ? result : 0;
	u->urb->actual_length = result < 0 ? 0 : result;
	g_queue_push_tail(&h->done, u);
}

/* try_bulk - whether the device took or gave something, or refused. */
static bool try_bulk(struct host *h, struct urb *u, int direction)
{
	size_t len = (size_t)u->urb->buffer_length;
	int n = direction == IN ? venc_bulk_in(h->enclosure, u->buffer->data, len)
	                        : venc_bulk_out(h->enclosure, u->buffer->data, len);

	if (n == -ETIMEDOUT)
		return false;
	finish(h, u, n);
	return true;
}

void usbfs_pump(struct host *h)
{
	bool moved;

	do {
		moved = false;
		for (int d = OUT; d <= IN; d++)
			while (!g_queue_is_empty(&h->waiting[d]) &&
			        try_bulk(h, g_queue_peek_head(&h->waiting[d]), d)) {
				g_queue_pop_head(&h->waiting[d]);
				moved = true;
			}
	} while (moved);
}

static int control(struct host *h, const struct urb *u)
{
	guint8 *setup = u->buffer->data;

	return venc_control(h->enclosure, setup[0], setup[1], (uint16_t)(setup[2] | setup[3] << 8),
	        (uint16_t)(setup[4] | setup[5] << 8), setup + SETUP_BYTES,
	        (uint16_t)(u->urb->buffer_length - SETUP_BYTES));
}

static gboolean submit(struct host *h, UMockdevIoctlClient *client, UMockdevIoctlData *arg)
{
	struct urb *u = g_new0(struct urb, 1);

	u->data = umockdev_ioctl_data_resolve(arg, 0, sizeof(struct usbdevfs_urb), NULL);
	u->urb = (struct usbdevfs_urb *)(void *)u->data->data;
	gsize len = u->urb->buffer_length ? (gsize)u->urb->buffer_length : 1;

	u->buffer = umockdev_ioctl_data_resolve(
	        u->data, G_STRUCT_OFFSET(struct usbdevfs_urb, buffer), len, NULL);
	if (u->urb->type == USBDEVFS_URB_TYPE_CONTROL) {
		int n = control(h, u);

		finish(h, u, n == -ETIMEDOUT ? -EPROTO : n);
	} else {
		g_queue_push_tail(&h->waiting[u->urb->endpoint & 0x80 ? IN : OUT], u);
		usbfs_pump(h);
	}
	return answer_ioctl(client, 0, 0);
}

static gboolean reap(struct host *h, UMockdevIoctlClient *client, UMockdevIoctlData *arg)
{
	struct urb *u = g_queue_pop_head(&h->done);

	if (!u)
		return answer_ioctl(client, -1, h->unplugged ? ENODEV : EAGAIN);
	g_autoptr(UMockdevIoctlData) out =
	        umockdev_ioctl_data_resolve(arg, 0, sizeof(void *), NULL);

	umockdev_ioctl_data_set_ptr(out, 0, u->data);
	answer_ioctl(client, 0, 0);
	umockdev_ioctl_data_unref(u->buffer);
	umockdev_ioctl_data_unref(u->data);
	g_free(u);
	return TRUE;
}

static gboolean discard(struct host *h, UMockdevIoctlClient *client, gulong address)
{
	for (int d = OUT; d <= IN; d++)
		for (GList *l = h->waiting[d].head; l; l = l->next) {
			struct urb *u = l->data;

			if (u->data->client_addr != address)
				continue;
			g_queue_delete_link(&h->waiting[d], l);
			finish(h, u, -ENOENT);
			return answer_ioctl(client, 0, 0);
		}
	return answer_ioctl(client, -1, EINVAL);
}

static gboolean put_u32(UMockdevIoctlClient *client, UMockdevIoctlData *arg, guint32 value)
{
	g_autoptr(UMockdevIoctlData) d = umockdev_ioctl_data_resolve(arg, 0, sizeof(value), NULL);

	memcpy(d->data, &value, sizeof(value));
	return answer_ioctl(client, 0, 0);
}

static gboolean get_driver(struct host *h, UMockdevIoctlClient *client, UMockdevIoctlData *arg)
{
	if (!h->driver_bound)
		return answer_ioctl(client, -1, ENODATA);
	g_autoptr(UMockdevIoctlData) d =
	        umockdev_ioctl_data_resolve(arg, 0, sizeof(struct usbdevfs_getdriver), NULL);

	strcpy(((struct usbdevfs_getdriver *)(void *)d->data)->driver, "usb-storage");
	return answer_ioctl(client, 0, 0);
}

/* USBDEVFS_IOCTL carries CONNECT and DISCONNECT; the kernel answers 1 when a driver was bound. */
static gboolean driver_ioctl(struct host *h, UMockdevIoctlClient *client, UMockdevIoctlData *arg)
{
	g_autoptr(UMockdevIoctlData) d =
	        umockdev_ioctl_data_resolve(arg, 0, sizeof(struct usbdevfs_ioctl), NULL);
	unsigned code = (unsigned)((struct usbdevfs_ioctl *)(void *)d->data)->ioctl_code;

	h->driver_bound = code == (unsigned)USBDEVFS_CONNECT;
	return answer_ioctl(client, h->driver_bound, 0);
}

static gboolean claim(struct host *h, UMockdevIoctlClient *client, bool detach)
{
	if (h->busy || (h->driver_bound && !detach))
		return answer_ioctl(client, -1, EBUSY);
	h->driver_bound = false;
	return answer_ioctl(client, 0, 0);
}

static gboolean standard_request(
        struct host *h, UMockdevIoctlClient *client, uint8_t type, uint8_t request, uint16_t index)
{
	int n = venc_control(h->enclosure, type, request, 0, index, NULL, 0);

	usbfs_pump(h);
	return n < 0 ? answer_ioctl(client, -1, -n) : answer_ioctl(client, 0, 0);
}

static gboolean clear_halt(struct host *h, UMockdevIoctlClient *client, UMockdevIoctlData *arg)
{
	g_autoptr(UMockdevIoctlData) d = umockdev_ioctl_data_resolve(arg, 0, 4, NULL);
	guint32 endpoint;

	memcpy(&endpoint, d->data, sizeof(endpoint));
	/* USB 2.0 9.4.1: CLEAR_FEATURE(ENDPOINT_HALT) */
	return standard_request(h, client, 0x02, 1, (uint16_t)endpoint);
}

static gboolean reset(struct host *h, UMockdevIoctlClient *client)
{
	bool lost = h->reenumerate;

	h->reenumerate = false;
	venc_port_reset(h->enclosure);
	usbfs_pump(h);
	/* as the kernel says that the old device is gone and a new one is there */
	return lost ? answer_ioctl(client, -1, ENODEV) : answer_ioctl(client, 0, 0);
}

gboolean usbfs_ioctl(UMockdevIoctlBase *base, UMockdevIoctlClient *client, gpointer host)
{
	struct host *h = host;
	UMockdevIoctlData *arg = umockdev_ioctl_client_get_arg(client);
	unsigned request = (unsigned)umockdev_ioctl_client_get_request(client);

	(void)base;
	if (request == (unsigned)USBDEVFS_REAPURB || request == (unsigned)USBDEVFS_REAPURBNDELAY)
		return reap(h, client, arg);
	if (request == (unsigned)USBDEVFS_DISCARDURB)
		return discard(h, client, *(gulong *)(void *)arg->data);
	if (h->unplugged)
		return answer_ioctl(client, -1, ENODEV);
	switch (request) {
	case USBDEVFS_GET_CAPABILITIES:
		return put_u32(client, arg,
		        USBDEVFS_CAP_BULK_CONTINUATION | USBDEVFS_CAP_NO_PACKET_SIZE_LIM |
		                USBDEVFS_CAP_REAP_AFTER_DISCONNECT | USBDEVFS_CAP_ZERO_PACKET);
	case USBDEVFS_GETDRIVER: return get_driver(h, client, arg);
	case USBDEVFS_IOCTL: return driver_ioctl(h, client, arg);
	case USBDEVFS_DISCONNECT_CLAIM: return claim(h, client, true);
	case USBDEVFS_CLAIMINTERFACE: return claim(h, client, false);
	case USBDEVFS_RELEASEINTERFACE: return answer_ioctl(client, 0, 0);
	case USBDEVFS_SETINTERFACE: /* USB 2.0 9.4.10, alternate setting 0 of interface 0 */
		return standard_request(h, client, 0x01, 11, 0);
	case USBDEVFS_CLEAR_HALT: return clear_halt(h, client, arg);
	case USBDEVFS_RESET: return reset(h, client);
	case USBDEVFS_SUBMITURB: return submit(h, client, arg);
	default: return answer_ioctl(client, -1, ENOTTY);
	}
}
