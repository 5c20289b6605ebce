/* usb.h - a pair of bulk pipes to one mass-storage interface. Implementations: virtual.c now;
 * libusb.c and usbip.c later. Called only on the owner thread.
 */
#ifndef RX_USB_H
#define RX_USB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct usb_pipe;

/* What the far side counts about itself; only a virtual enclosure knows (has_model false
 * otherwise). */
struct usb_link_stats {
	bool has_model;
	uint64_t commands, bytes, tlps, model_ns, guest_errors, dispatches, instructions;
};

struct usb_identity {
	uint16_t vid, pid, bcd_device;
	unsigned mbit; /* negotiated signalling rate: 480, 5000, 10000 */
};

struct usb_pipe_ops {
	/* Return: bytes moved (short is possible on IN); -EPIPE halted; -ETIMEDOUT; -ENODEV; -EIO.
	 */
	int (*bulk_out)(struct usb_pipe *p, const void *data, size_t len, unsigned timeout_ms);
	int (*bulk_in)(struct usb_pipe *p, void *data, size_t len, unsigned timeout_ms);
	int (*clear_halt_out)(struct usb_pipe *p);
	int (*clear_halt_in)(struct usb_pipe *p);
	int (*class_reset)(struct usb_pipe *p); /* Bulk-Only Mass Storage Reset */
	int (*port_reset)(struct usb_pipe *p);
	void (*identity)(struct usb_pipe *p, struct usb_identity *out);
	void (*link_stats)(struct usb_pipe *p, struct usb_link_stats *out);
	void (*close)(struct usb_pipe *p);
};

struct usb_pipe { /* first member of every implementation */
	const struct usb_pipe_ops *ops;
};

/* usb_virtual_open - a new virtual enclosure with a virtual card in it.
 * @options: what followed "virtual," on the command line, comma separated ("realtime",
 * "threads=N"), or NULL. Return: 0; -EINVAL unknown option (logged); -ENOMEM.
 */
int usb_virtual_open(struct usb_pipe **out, const char *options);

/* usb_find_bridge - whether a known USB-NVMe bridge (bridge.md 1.1) is plugged into this machine,
 * from sysfs. Return: true with the ids of the first one found.
 */
bool usb_find_bridge(uint16_t *vid, uint16_t *pid);

#endif
