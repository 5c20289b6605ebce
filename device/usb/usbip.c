/* usbip.c - transfers over an imported device: one SUBMIT, one answer; a deadline that passes
 * becomes an UNLINK. A connection whose bytes stop making sense is closed, for what follows cannot
 * be trusted.
 */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"
#include "device/usb/usbip_priv.h"

#define MAX_TRANSFER (1u << 20) /* what servers and kernels take in one URB */
#define MAX_ERRNO    4095       /* include/linux/err.h */
#define MAX_CONFIG   4096       /* bytes of a configuration; the known bridges have about 120 */
#define CONTROL_MS   5000       /* USB 2.0 9.2.6.1 */

/* USB 2.0 9.4, BOT 1.0 3.1 */
#define REQ_GET_DESCRIPTOR    6
#define REQ_SET_CONFIGURATION 9
#define REQ_CLEAR_FEATURE     1
#define REQ_BOT_RESET         0xFF
#define DESC_DEVICE           1
#define DESC_CONFIGURATION    2
#define DESC_INTERFACE        4
#define DESC_ENDPOINT         5

struct usbip_pipe {
	struct usb_pipe pipe; /* first, see usb.h */
	int fd;               /* shut down once the connection is lost, open until the end */
	atomic_bool lost;
	uint32_t seqnum, devid;
	uint8_t configuration, interface, in, out; /* endpoint addresses */
	struct usb_identity id;
};

struct transfer {
	uint8_t setup[8];
	uint8_t endpoint; /* number */
	bool in;
	void *data; /* not written when OUT */
	size_t len;
	uint32_t seqnum;
};

/* drop - the connection is of no use any more. */
static int drop(struct usbip_pipe *u, int code)
{
	shutdown(u->fd, SHUT_RDWR);
	atomic_store(&u->lost, true);
	return code;
}

/* lost - sending or receiving failed. */
static int lost(struct usbip_pipe *u, int err)
{
	drop(u, 0);
	if (err == -ETIMEDOUT)
		return rx_fail("usbip", -ENODEV, "the USB/IP server does not answer any more");
	return rx_fail("usbip", -ENODEV, "the connection to the USB/IP server is lost");
}

static int nonsense(struct usbip_pipe *u, const char *what, uint32_t value)
{
	return rx_fail("usbip", drop(u, -EIO),
	        "the USB/IP server sends nonsense (%s %08x): connection closed", what, value);
}

static uint64_t patience(void)
{
	return deadline_in_ms(USBIP_PATIENCE_MS);
}

static int send_message(struct usbip_pipe *u, uint8_t *header, const void *data, size_t len)
{
	struct iovec v[2] = {{header, URB_HEADER_BYTES}, {(void *)(uintptr_t)data, len}};
	int err;

	put_be32(header + URB_SEQNUM, ++u->seqnum);
	put_be32(header + URB_DEVID, u->devid);
	err = usbip_send(u->fd, v, 2, patience());
	return err ? lost(u, err) : 0;
}

static int submit(struct usbip_pipe *u, struct transfer *t)
{
	uint8_t header[URB_HEADER_BYTES] = {0};

	put_be32(header + URB_COMMAND, USBIP_CMD_SUBMIT);
	put_be32(header + URB_DIRECTION, t->in ? USBIP_DIR_IN : USBIP_DIR_OUT);
	put_be32(header + URB_ENDPOINT, t->endpoint);
	put_be32(header + URB_LENGTH, (uint32_t)t->len);
	memcpy(header + URB_SETUP, t->setup, sizeof(t->setup));
	t->seqnum = u->seqnum + 1;
	return send_message(u, header, t->data, t->in ? 0 : t->len);
}

/* receive_header - one answer. "For server this shall be 0": devid, direction, endpoint; some
 * servers echo them, and no two transfers are under way, so they are not looked at. */
static int receive_header(struct usbip_pipe *u, uint8_t *header)
{
	int err = usbip_receive(u->fd, header, URB_HEADER_BYTES, patience());

	return err ? lost(u, err) : 0;
}

static int usb_error(int status)
{
	switch (status) {
	case -EPIPE:
	case -ENODEV:
	case -ETIMEDOUT:
	case -EOVERFLOW: return status;
	case -ESHUTDOWN: return -ENODEV;
	default: return -EIO; /* Documentation/driver-api/usb/error-codes.rst */
	}
}

/* read_status - Return: false when the number is neither 0 nor a negative errno. */
static bool read_status(const uint8_t *header, int *status)
{
	uint32_t raw = get_be32(header + URB_STATUS);

	*status = -(int)MIN(0u - raw, MAX_ERRNO + 1u);
	return *status >= -MAX_ERRNO;
}

/* take_submit_answer - check a RET_SUBMIT header, fetch its data. Return 0 with @result as the
 * pipe's callers know it; -EIO, -ENODEV (logged). */
static int take_submit_answer(
        struct usbip_pipe *u, const uint8_t *header, const struct transfer *t, int *result)
{
	uint32_t actual = get_be32(header + URB_ACTUAL);
	int status, err;

	if (get_be32(header + URB_SEQNUM) != t->seqnum)
		return nonsense(u, "sequence", get_be32(header + URB_SEQNUM));
	if (!read_status(header, &status))
		return nonsense(u, "status", get_be32(header + URB_STATUS));
	if (actual > t->len)
		return nonsense(u, "length", actual);
	if (get_be32(header + URB_PACKETS) != 0 && get_be32(header + URB_PACKETS) != UINT32_MAX)
		return nonsense(u, "packets", get_be32(header + URB_PACKETS));
	err = t->in ? usbip_receive(u->fd, t->data, actual, patience()) : 0;
	if (err)
		return lost(u, err);
	*result = status ? usb_error(status) : (int)actual;
	return 0;
}

/* cancel - the deadline has passed. The transfer may still finish before the UNLINK arrives: then
 * it was in time after all. */
static int cancel(struct usbip_pipe *u, const struct transfer *t)
{
	uint8_t header[URB_HEADER_BYTES] = {0};
	int result = -ETIMEDOUT, status;
	bool answered = false;

	put_be32(header + URB_COMMAND, USBIP_CMD_UNLINK);
	put_be32(header + URB_UNLINK_SEQNUM, t->seqnum);
	int err = send_message(u, header, NULL, 0);
	uint32_t mine = u->seqnum;

	while (!err) {
		err = receive_header(u, header);
		if (err)
			return err;
		if (get_be32(header + URB_COMMAND) == USBIP_RET_SUBMIT && !answered) {
			answered = true;
			err = take_submit_answer(u, header, t, &result);
		} else if (get_be32(header + URB_COMMAND) == USBIP_RET_UNLINK &&
		           get_be32(header + URB_SEQNUM) == mine && read_status(header, &status)) {
			return result;
		} else {
			return nonsense(u, "command", get_be32(header + URB_COMMAND));
		}
	}
	return err;
}

/* transfer - Return: bytes; -errno as in usb.h. */
static int transfer(struct usbip_pipe *u, struct transfer *t, unsigned timeout_ms)
{
	uint8_t header[URB_HEADER_BYTES];
	int result;

	if (atomic_load(&u->lost))
		return -ENODEV;
	if (t->len > MAX_TRANSFER)
		return -EINVAL;
	uint64_t deadline = deadline_in_ms(timeout_ms);
	int err = submit(u, t);

	if (err)
		return err;
	err = usbip_wait(u->fd, deadline);
	if (err == -ETIMEDOUT)
		return cancel(u, t);
	if (err)
		return lost(u, err);
	err = receive_header(u, header);
	if (err)
		return err;
	if (get_be32(header + URB_COMMAND) != USBIP_RET_SUBMIT)
		return nonsense(u, "command", get_be32(header + URB_COMMAND));
	err = take_submit_answer(u, header, t, &result);
	return err ? err : result;
}

static struct usbip_pipe *mine(struct usb_pipe *p)
{
	return (struct usbip_pipe *)p;
}

static int bulk_out(struct usb_pipe *p, const void *data, size_t len, unsigned timeout_ms)
{
	struct transfer t = {.endpoint = mine(p)->out,
	        .data = (void *)(uintptr_t)data, /* only read */
	        .len = len};

	return transfer(mine(p), &t, timeout_ms);
}

static int bulk_in(struct usb_pipe *p, void *data, size_t len, unsigned timeout_ms)
{
	struct transfer t = {.endpoint = mine(p)->in & 0x0F, .in = true, .data = data, .len = len};

	return transfer(mine(p), &t, timeout_ms);
}

static int control(struct usbip_pipe *u, uint8_t type, uint8_t request, uint16_t value,
        uint16_t index, void *data, uint16_t len)
{
	struct transfer t = {.in = type & 0x80, .data = data, .len = len};

	t.setup[0] = type;
	t.setup[1] = request;
	put_le16(t.setup + 2, value);
	put_le16(t.setup + 4, index);
	put_le16(t.setup + 6, len);
	return transfer(u, &t, CONTROL_MS);
}

/* command - a control request without data */
static int command(
        struct usb_pipe *p, uint8_t type, uint8_t request, uint16_t value, uint16_t index)
{
	int n = control(mine(p), type, request, value, index, NULL, 0);

	return n < 0 ? n : 0;
}

static int clear_halt_out(struct usb_pipe *p)
{
	return command(p, 0x02, REQ_CLEAR_FEATURE, 0, mine(p)->out);
}

static int clear_halt_in(struct usb_pipe *p)
{
	return command(p, 0x02, REQ_CLEAR_FEATURE, 0, mine(p)->in);
}

static int class_reset(struct usb_pipe *p)
{
	return command(p, 0x21, REQ_BOT_RESET, 0, mine(p)->interface);
}

static int port_reset(struct usb_pipe *p)
{
	return command(p, PORT_REQUEST_TYPE, PORT_SET_FEATURE, PORT_RESET, 0);
}

static void identity(struct usb_pipe *p, struct usb_identity *out)
{
	*out = mine(p)->id;
}

/* What the far side counts stays there: USB/IP has no word for it. */
static void link_stats(struct usb_pipe *p, struct usb_link_stats *out)
{
	(void)p;
	*out = (struct usb_link_stats){0};
}

/* The server ends the connection when its device goes. */
static bool left(struct usb_pipe *p)
{
	struct pollfd fd = {.fd = mine(p)->fd, .events = POLLRDHUP};

	return atomic_load(&mine(p)->lost) ||
	       (poll(&fd, 1, 0) == 1 && fd.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

static void close_pipe(struct usb_pipe *p)
{
	close(mine(p)->fd);
	free(p);
}

static const struct usb_pipe_ops usbip_ops = {
        .bulk_out = bulk_out,
        .bulk_in = bulk_in,
        .clear_halt_out = clear_halt_out,
        .clear_halt_in = clear_halt_in,
        .class_reset = class_reset,
        .port_reset = port_reset,
        .identity = identity,
        .link_stats = link_stats,
        .left = left,
        .close = close_pipe,
};

/* ---- enumeration ---- */

static int get_descriptor(struct usbip_pipe *u, uint8_t type, void *data, uint16_t len)
{
	int n = control(u, 0x80, REQ_GET_DESCRIPTOR, (uint16_t)(type << 8), 0, data, len);

	if (n < 0)
		return n;
	if (n != len || ((uint8_t *)data)[1] != type)
		return rx_fail("usbip", -EIO, "descriptor %u of the device is malformed", type);
	return 0;
}

static unsigned mbit_of(uint32_t speed)
{
	switch (speed) {
	case SPEED_SUPER_PLUS: return 10000;
	case SPEED_SUPER: return 5000;
	case SPEED_HIGH: return 480;
	case SPEED_FULL: return 12;
	default: return 0;
	}
}

static int read_device(struct usbip_pipe *u, const struct usbip_device *listed)
{
	uint8_t d[18];
	int err = get_descriptor(u, DESC_DEVICE, d, sizeof(d));

	if (err)
		return err;
	u->id = (struct usb_identity){.vid = get_le16(d + 8),
	        .pid = get_le16(d + 10),
	        .bcd_device = get_le16(d + 12),
	        .mbit = mbit_of(listed->speed)};
	if (u->id.vid != listed->vid || u->id.pid != listed->pid)
		return rx_fail("usbip", -EIO,
		        "the server announced %04x:%04x, the device says %04x:%04x", listed->vid,
		        listed->pid, u->id.vid, u->id.pid);
	return 0;
}

/* find_bulk_only - the interface and endpoints of bridge.md 1.2 in a configuration of @len bytes.
 */
static bool find_bulk_only(struct usbip_pipe *u, const uint8_t *d, size_t len)
{
	bool inside = false;

	for (size_t at = 0; at + 2 <= len && d[at] >= 2 && d[at] <= len - at; at += d[at]) {
		const uint8_t *x = d + at;

		if (x[1] == DESC_INTERFACE && x[0] >= 9) { /* alternate 0 of class 8/6/0x50 */
			inside = x[3] == 0 && x[5] == 8 && x[6] == 6 && x[7] == 0x50;
			u->interface = x[2];
			u->in = u->out = 0;
		}
		if (!inside || x[1] != DESC_ENDPOINT || x[0] < 7 || (x[3] & 3) != 2)
			continue;
		*(x[2] & 0x80 ? &u->in : &u->out) = x[2] & 0x8F;
		if (u->in && u->out)
			return true;
	}
	return false;
}

static int read_configuration(struct usbip_pipe *u)
{
	uint8_t d[MAX_CONFIG];
	int err = get_descriptor(u, DESC_CONFIGURATION, d, 9);

	if (err)
		return err;
	uint16_t len = get_le16(d + 2);

	if (len < 9 || len > sizeof(d))
		return rx_fail("usbip", -EIO, "a configuration of %u bytes", len);
	err = get_descriptor(u, DESC_CONFIGURATION, d, len);
	if (err)
		return err;
	u->configuration = d[5];
	if (!find_bulk_only(u, d, len))
		return rx_fail("usbip", -ENOTSUP,
		        "%04x:%04x has no Bulk-Only mass storage interface", u->id.vid, u->id.pid);
	return 0;
}

/* enumerate - as a kernel does; setting the configuration also ends what an earlier client left. */
static int enumerate(struct usbip_pipe *u, const struct usbip_device *listed)
{
	int err = read_device(u, listed);

	if (!err)
		err = read_configuration(u);
	if (!err)
		err = command(&u->pipe, 0x00, REQ_SET_CONFIGURATION, u->configuration, 0);
	if (err == -EPIPE || err == -ETIMEDOUT)
		return rx_fail("usbip", -EIO, "the device does not enumerate: %s", strerror(-err));
	return err;
}

int usb_usbip_attach(struct usb_pipe **out, int fd, const char *busid)
{
	struct usbip_pipe *u = calloc(1, sizeof(*u));
	struct usbip_device d;

	if (!u) {
		close(fd);
		return -ENOMEM;
	}
	u->pipe.ops = &usbip_ops;
	u->fd = fd;
	int err = usbip_import(fd, busid, &d);

	if (!err) {
		u->devid = d.devid;
		err = enumerate(u, &d);
	}
	if (err) {
		close_pipe(&u->pipe);
		return err;
	}
	rx_log(LOG_INFO, "usbip", "attached to %04x:%04x, %s, %u Mbit/s", u->id.vid, u->id.pid,
	        busid, u->id.mbit);
	*out = &u->pipe;
	return 0;
}
