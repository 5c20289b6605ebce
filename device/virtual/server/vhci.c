/* vhci.c - see vhci.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/err.h"
#include "device/usb/usbip_wire.h"
#include "device/virtual/server/vhci.h"

#define CONTROLLER  "/sys/devices/platform/vhci_hcd.0/"
#define STATUS_FREE 4 /* VDEV_ST_NULL: drivers/usb/usbip/usbip_common.h */

int vhci_free_port(const char *status, bool super_speed)
{
	for (const char *line = status; line; line = strchr(line, '\n')) {
		unsigned port, state;
		char hub[3];

		line += *line == '\n';
		if (sscanf(line, "%2s %u %u", hub, &port, &state) == 3 && state == STATUS_FREE &&
		        !strcmp(hub, super_speed ? "ss" : "hs"))
			return (int)port;
	}
	return -EBUSY;
}

static int read_status(char *text, size_t size)
{
	RX_CLEANUP(close) int fd = open(CONTROLLER "status", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	text[n < 0 ? 0 : n] = 0;
	return n < 0 ? -errno : 0;
}

static int write_attach(const char *words)
{
	RX_CLEANUP(close) int fd = open(CONTROLLER "attach", O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, words, strlen(words)) < 0 ? -errno : 0;
}

static const char *advice(int err)
{
	switch (err) {
	case -ENOENT: return "modprobe vhci-hcd first";
	case -EACCES: return "only root may";
	case -EBUSY: return "no port is free";
	default: return strerror(-err);
	}
}

/* hand_over - give @fd to the kernel, which takes a reference of its own. */
static int hand_over(int fd, bool super_speed, uint32_t devid, int *port)
{
	char status[4096], words[64];
	int err = read_status(status, sizeof(status));

	if (!err) {
		*port = vhci_free_port(status, super_speed);
		err = *port < 0 ? *port : 0;
	}
	if (!err) {
		snprintf(words, sizeof(words), "%d %d %u %d", *port, fd, devid,
		        super_speed ? SPEED_SUPER : SPEED_HIGH);
		err = write_attach(words);
	}
	return err;
}

int vhci_attach(bool super_speed, uint32_t devid, int *port)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return rx_fail("usbip", -errno, "socketpair: %s", strerror(errno));
	int err = hand_over(pair[1], super_speed, devid, port);

	close(pair[1]);
	if (!err)
		return pair[0];
	close(pair[0]);
	return rx_fail("usbip", err, "cannot plug the enclosure into this kernel: %s", advice(err));
}
