/* vhci.h - the machine's own kernel as client: Linux's vhci-hcd takes one end of a socket pair and
 * sees a device plugged into a port of its virtual root hub, no usbip tool and no network needed.
 * Source: Linux drivers/usb/usbip/vhci_sysfs.c.
 */
#ifndef SERVER_VHCI_H
#define SERVER_VHCI_H

#include <stdbool.h>
#include <stdint.h>

/* vhci_free_port - the first free port of the hub for this speed in @status, the text of the sysfs
 * file of that name. Return: its number; -EBUSY none is free. */
int vhci_free_port(const char *status, bool super_speed);

/* vhci_attach - plug in. @devid: the one in every request. Return: our end of the socket, @port
 * filled; -ENOENT vhci-hcd is not loaded, -EACCES not root, -EBUSY (all logged). */
int vhci_attach(bool super_speed, uint32_t devid, int *port);

#endif
