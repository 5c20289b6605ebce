/* usb.h - a pair of bulk pipes to one mass-storage interface: virtual.c, libusb.c, usbip.c.
 * Called only on the owner thread, but for left().
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
	/* Return: bytes moved (short is possible on IN); -EPIPE halted; -ETIMEDOUT not all of it
	 * moved, what did is lost; -EOVERFLOW more came than asked for; -ENODEV; -EIO. */
	int (*bulk_out)(struct usb_pipe *p, const void *data, size_t len, unsigned timeout_ms);
	int (*bulk_in)(struct usb_pipe *p, void *data, size_t len, unsigned timeout_ms);
	int (*clear_halt_out)(struct usb_pipe *p);
	int (*clear_halt_in)(struct usb_pipe *p);
	int (*class_reset)(struct usb_pipe *p); /* Bulk-Only Mass Storage Reset */
	int (*port_reset)(struct usb_pipe *p);
	void (*identity)(struct usb_pipe *p, struct usb_identity *out);
	void (*link_stats)(struct usb_pipe *p, struct usb_link_stats *out);
	/* Whether the device was seen to leave, without a transfer. Any thread, but not during
	 * close. NULL: only a transfer can tell. */
	bool (*left)(struct usb_pipe *p);
	void (*close)(struct usb_pipe *p);
};

struct usb_pipe { /* first member of every implementation */
	const struct usb_pipe_ops *ops;
};

/* usb_virtual_open - a new virtual enclosure with a virtual card in it.
 * @options: what followed "virtual," on the command line, comma separated ("realtime",
 * "unpowered": no card behind the bridge, "unit-attention" after each reset, "bridge=asm2464",
 * "firmware=1.32.49", "engine=burst+bytes", "threads=N", "vram=MIB"), or NULL. The card
 * powers on cold unless "posted" is among them. Return: 0; -EINVAL
 * unknown option (logged); -ENOMEM.
 */
int usb_virtual_open(struct usb_pipe **out, const char *options);

/* Which device to take. All zero: any known bridge (bridge.md 1.1). */
struct usb_address {
	uint16_t vid, pid;
	char port[32]; /* as sysfs names it, "2-1.4"; "" any */
};

struct usb_found {
	struct usb_identity id;
	uint8_t bus, device;
	char port[32];
	uint64_t disk_bytes; /* of a disk with a medium behind it; 0 none: it may hold a card */
};

/* usb_parse_address - "VID:PID" or "VID:PID@BUS-PORT" in hex; "" or NULL: any. Return: 0; -EINVAL
 * (logged). */
int usb_parse_address(struct usb_address *out, const char *text);
/* usb_find - what fits, from sysfs. Return: how many there are, the first @max of them in @out. */
size_t usb_find(const struct usb_address *want, struct usb_found *out, size_t max);
/* usb_find_behind - the USB device that the SCSI device at this sysfs path belongs to. Return:
 * false when it is not on USB. */
bool usb_find_behind(const char *path, struct usb_identity *out);
/* usb_disk_bytes - size of the largest block device whose sysfs path contains @through. A bridge
 * with a graphics card shows an empty drive: 0. */
uint64_t usb_disk_bytes(const char *through);
/* usb_find_one - exactly one, without a disk. Return: 0; -ENODEV none; -EBUSY several, or it holds
 * a disk (all logged). */
int usb_find_one(const struct usb_address *want, struct usb_found *out);

/* usb_libusb_open - the real thing, ready for a first CBW: kernel driver detached until close,
 * interface claimed, halts cleared, leftovers of an earlier owner read away. Return: 0; as
 * usb_find_one; -EACCES no permission; -EBUSY somebody else has it; -ENOTSUP no Bulk-Only interface
 * (all logged); -ENOMEM.
 */
int usb_libusb_open(struct usb_pipe **out, const struct usb_address *want);

#endif
