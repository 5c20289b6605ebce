/* usbip.h - a bulk pipe to an enclosure on a USB/IP server: rx580-enclosure, or usbipd with a real
 * one. No kernel module, no libusb. A lost connection stays lost (-ENODEV): the far side may have
 * changed meanwhile, so nothing here connects again by itself.
 */
#ifndef RX_USBIP_H
#define RX_USBIP_H

#include "device/usb/usb.h"

/* usb_usbip_open - connect and import. @where: "HOST:PORT[/BUSID]", "[V6]:PORT[/BUSID]",
 * "unix:PATH"; without a bus id the one device the server lists. The pipe is ready for a first CBW.
 * Return: 0; -EINVAL not an address, or several devices; -ECONNREFUSED, -EACCES, -ENOENT,
 * -EHOSTUNREACH, -ETIMEDOUT no connection; -EBUSY another client has the device; -ENODEV no such
 * device; -ENOTSUP no Bulk-Only interface; -EIO the server's answers make no sense (all logged);
 * -ENOMEM.
 */
int usb_usbip_open(struct usb_pipe **out, const char *where);

/* usb_usbip_attach - the same over @fd, a connected stream socket; takes @fd in any case. */
int usb_usbip_attach(struct usb_pipe **out, int fd, const char *busid);

#endif
