/* control_node.c - what a test may do to the enclosure and its surroundings: control.h. */
#include <errno.h>

#include "tests/usb/control.h"
#include "tests/usb/host.h"

static bool set_plugged(struct host *h, bool there)
{
	h->unplugged = !there;
	if (!there) {
		venc_unplug(h->enclosure);
		usbfs_pump(h);
		devices_unplug(h);
		return true;
	}
	venc_power_cycle(h->enclosure);
	return devices_plug(h);
}

/* leave_over - the first half of an INQUIRY, as by an owner that was killed. */
static bool leave_over(struct host *h)
{
	static const uint8_t cbw[31] = {
	        'U', 'S', 'B', 'C', 1, 2, 3, 4, 36, 0, 0, 0, 0x80, 0, 6, 0x12, 0, 0, 0, 36};

	return venc_bulk_out(h->enclosure, cbw, sizeof(cbw)) == sizeof(cbw);
}

static gboolean answer(UMockdevIoctlClient *client, bool ok)
{
	return ok ? answer_ioctl(client, 0, 0) : answer_ioctl(client, -1, EIO);
}

static long guest_errors(struct host *h)
{
	struct venc_stats s;

	venc_read_stats(h->enclosure, &s);
	return (long)s.guest_errors;
}

gboolean control_ioctl(UMockdevIoctlBase *base, UMockdevIoctlClient *client, gpointer host)
{
	struct host *h = host;
	UMockdevIoctlData *data = umockdev_ioctl_client_get_arg(client);
	gulong arg = *(gulong *)(void *)data->data;

	(void)base;
	switch (umockdev_ioctl_client_get_request(client)) {
	case CONTROL_INJECT:
		venc_inject(h->enclosure, (enum venc_fault)(arg >> 16), (unsigned)(arg & 0xFFFF));
		return answer(client, true);
	case CONTROL_UNPLUG: return answer(client, set_plugged(h, arg));
	case CONTROL_LEFTOVER: return answer(client, leave_over(h));
	case CONTROL_BUSY: h->busy = arg; return answer(client, true);
	case CONTROL_DISK: return answer(client, devices_set_disk(h, arg));
	case CONTROL_SECOND: return answer(client, devices_set_second(h, arg));
	case CONTROL_REENUMERATE: h->reenumerate = arg; return answer(client, true);
	case CONTROL_PERMISSION: return answer(client, devices_set_permission(h, arg));
	case CONTROL_DRIVER: return answer_ioctl(client, h->driver_bound, 0);
	case CONTROL_GUEST_ERRORS: return answer_ioctl(client, guest_errors(h), 0);
	case CONTROL_PENDING:
		return answer_ioctl(client, (long)(h->waiting[0].length + h->waiting[1].length), 0);
	default: return answer_ioctl(client, -1, ENOTTY);
	}
}
