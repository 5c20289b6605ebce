/* host.h - what the parts of the host share: one virtual enclosure behind a mocked usbfs node and a
 * mocked SCSI generic node (umockdev). All of it runs in the main loop's thread.
 */
#ifndef USB_TEST_HOST_H
#define USB_TEST_HOST_H

#include <stdbool.h>
#include <umockdev.h>

#include "device/virtual/enclosure/enclosure.h"

struct host {
	struct venc *enclosure;
	enum venc_bridge bridge; /* of the enclosure */
	UMockdevTestbed *testbed;
	bool driver_bound; /* usb-storage */
	bool busy;         /* the interface belongs to somebody else */
	bool unplugged;
	bool reenumerate;  /* at the next reset */
	bool has_nodes;    /* in /dev, from an earlier plugging in */
	GQueue waiting[2]; /* struct urb: bulk OUT, bulk IN */
	GQueue done;
	GMainLoop *loop;
	int status; /* of the program under test */
};

/* Handlers of "handle-ioctl": usbfs_node.c, sg_node.c, control_node.c. */
gboolean usbfs_ioctl(UMockdevIoctlBase *base, UMockdevIoctlClient *client, gpointer host);
gboolean sg_ioctl(UMockdevIoctlBase *base, UMockdevIoctlClient *client, gpointer host);
gboolean control_ioctl(UMockdevIoctlBase *base, UMockdevIoctlClient *client, gpointer host);

/* usbfs_pump - let URBs that wait go on, after something happened to the enclosure. */
void usbfs_pump(struct host *h);

/* devices.c: what sysfs shows. False: said on stderr. */
bool devices_plug(struct host *h);
void devices_unplug(struct host *h);
bool devices_set_permission(struct host *h, bool permitted);
bool devices_set_disk(struct host *h, bool there);
bool devices_set_second(struct host *h, bool there);

/* answer_ioctl - end an ioctl: @result as the system call returns it, @error for errno. */
static inline gboolean answer_ioctl(UMockdevIoctlClient *client, long result, int error)
{
	umockdev_ioctl_client_complete(client, result, error);
	return TRUE;
}

#endif
