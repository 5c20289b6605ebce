/* usbip_priv.h - what usbip.c (transfers) and usbip_connect.c (up to the import) share. */
#ifndef RX_USBIP_PRIV_H
#define RX_USBIP_PRIV_H

#include <sys/uio.h>

#include "device/usb/usbip.h"
#include "device/usb/usbip_wire.h"

/* A server that is there answers at once; this is how long a stalled network may take. */
#define USBIP_PATIENCE_MS 10000

struct usbip_device {
	uint32_t devid, speed;
	uint16_t vid, pid;
	char busid[DEV_BUSID_BYTES];
};

/* Everything or an error. Return: 0; -ETIMEDOUT; -ENODEV the other side closed; -EIO. Not logged.
 */
int usbip_send(int fd, const struct iovec *data, unsigned n, uint64_t deadline_ns);
int usbip_receive(int fd, void *data, size_t len, uint64_t deadline_ns);
/* usbip_wait - until there is something to read. Return: 0; -ETIMEDOUT; -EIO. */
int usbip_wait(int fd, uint64_t deadline_ns);

/* usbip_import - OP_REQ_IMPORT. Return: 0; -EBUSY, -ENODEV, -ETIMEDOUT, -EIO (logged). */
int usbip_import(int fd, const char *busid, struct usbip_device *out);

#endif
