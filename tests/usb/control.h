/* control.h - how a test speaks to the host that serves the mocked devices: ioctls on a node of its
 * own, so that they are in order with those on the device.
 */
#ifndef USB_TEST_CONTROL_H
#define USB_TEST_CONTROL_H

#define CONTROL_NODE "/dev/enclosure0"
#define USB_NODE     "/dev/bus/usb/001/002"
#define SG_NODE      "/dev/sg0"

/* Requests; any number does that no driver uses. The argument is a plain number. */
enum control {
	CONTROL_INJECT = 0x52580001, /* enum venc_fault << 16 | count */
	CONTROL_UNPLUG,              /* 0 unplug, 1 plug in again */
	CONTROL_LEFTOVER,            /* start an INQUIRY and leave data and CSW in the device */
	CONTROL_BUSY,                /* 1: another program holds the interface */
	CONTROL_DISK,                /* 1: a disk with a medium behind the bridge */
	CONTROL_SECOND,              /* 1: a second bridge is plugged in */
	CONTROL_REENUMERATE,         /* the next port reset makes the device enumerate anew */
	CONTROL_PERMISSION,          /* 0: both nodes may not be opened */
	CONTROL_DRIVER,              /* returns whether the kernel's driver is bound */
	CONTROL_GUEST_ERRORS,        /* returns the mistakes the enclosure and its card counted */
	CONTROL_PENDING,             /* returns how many URBs wait for the device */
};

#endif
