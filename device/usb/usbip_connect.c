/* usbip_connect.c - from an address to an imported device: connect, list, import. Source:
 * usbip_protocol.rst (see usbip_wire.h). The server is foreign: its words are checked like a
 * device's.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"
#include "device/usb/usbip_priv.h"

#define MAX_LISTED 64 /* devices of one server; usbipd lists a handful */

struct address {
	char host[256]; /* "" for a Unix socket */
	char port[8];
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	char busid[DEV_BUSID_BYTES]; /* "" the only one */
};

/* ---- where ---- */

static bool copy_part(char *to, size_t size, const char *from, size_t len)
{
	if (!len || len >= size)
		return false;
	memcpy(to, from, len);
	to[len] = 0;
	return true;
}

/* parse_tcp - HOST:PORT[/BUSID]; the host may be an IPv6 address in brackets. */
static bool parse_tcp(struct address *a, const char *text)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	const char *colon = memrchr(text, ':', len);

	if (!colon ||
	        (slash && !copy_part(a->busid, sizeof(a->busid), slash + 1, strlen(slash + 1))))
		return false;
	size_t host = (size_t)(colon - text);

	if (!copy_part(a->port, sizeof(a->port), colon + 1, len - host - 1) ||
	        strspn(a->port, "0123456789") != strlen(a->port) ||
	        strtoul(a->port, NULL, 10) > UINT16_MAX)
		return false;
	if (text[0] == '[')
		return host > 2 && text[host - 1] == ']' &&
		       copy_part(a->host, sizeof(a->host), text + 1, host - 2);
	return copy_part(a->host, sizeof(a->host), text, host);
}

static int parse_where(struct address *a, const char *where)
{
	*a = (struct address){0};
	if (where && !strncmp(where, "unix:", 5)
	                ? copy_part(a->path, sizeof(a->path), where + 5, strlen(where + 5))
	                : where && parse_tcp(a, where))
		return 0;
	return rx_fail("usbip", -EINVAL,
	        "\"%s\" is no USB/IP server: usbip:HOST:PORT, usbip:HOST:PORT/BUSID or "
	        "usbip:unix:PATH; the usual port is " USBIP_PORT,
	        where ? where : "");
}

/* ---- connect ---- */

/* connect_to - Return: a connected descriptor or -errno. */
static int connect_to(int family, const struct sockaddr *to, socklen_t len)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t size = sizeof(int);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, to, len)) {
		struct pollfd p = {.fd = fd, .events = POLLOUT};

		err = errno;
		if (err == EINPROGRESS)
			err = poll(&p, 1, USBIP_PATIENCE_MS) == 1 ? 0 : ETIMEDOUT;
		if (!err && getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &size))
			err = errno;
	}
	if (!err)
		return fd;
	close(fd);
	return -err;
}

static int connect_unix(const struct address *a)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};

	strcpy(to.sun_path, a->path);
	return connect_to(AF_UNIX, (struct sockaddr *)&to, sizeof(to));
}

static int connect_tcp(const struct address *a)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *list;
	int fd = -EHOSTUNREACH, one = 1;
	int gai = getaddrinfo(a->host, a->port, &hints, &list);

	if (gai) {
		rx_log(LOG_ERROR, "usbip", "%s: %s", a->host, gai_strerror(gai));
		return -EHOSTUNREACH;
	}
	for (struct addrinfo *i = list; i && fd < 0; i = i->ai_next)
		fd = connect_to(i->ai_family, i->ai_addr, i->ai_addrlen);
	freeaddrinfo(list);
	if (fd >= 0) /* a command is three small messages */
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static int connect_server(const struct address *a)
{
	int fd = a->path[0] ? connect_unix(a) : connect_tcp(a);

	if (fd >= 0)
		return fd;
	return rx_fail("usbip", fd,
	        "no connection to %s%s%s: %s; is rx580-enclosure (or usbipd) "
	        "running there?",
	        a->path[0] ? a->path : a->host, a->path[0] ? "" : " port ", a->port, strerror(-fd));
}

/* ---- operations ---- */

static const char *refusal(uint32_t status)
{
	switch (status) {
	case OP_STATUS_DEV_BUSY: return "another client has it";
	case OP_STATUS_NODEV: return "there is no such device";
	case OP_STATUS_DEV_ERR: return "the device is in error";
	default: return "the server refuses";
	}
}

static int no_answer(int err)
{
	if (err == -ENODEV)
		return rx_fail("usbip", -EIO, "the server closed the connection without an answer");
	return rx_fail("usbip", err, "no answer from the USB/IP server: %s", strerror(-err));
}

static int ask(int fd, uint32_t code, const char *busid)
{
	uint8_t request[OP_HEADER_BYTES + DEV_BUSID_BYTES] = {0};
	struct iovec v = {request, busid ? sizeof(request) : OP_HEADER_BYTES};

	put_be32(request, (uint32_t)USBIP_VERSION << 16 | code);
	if (busid)
		memcpy(request + OP_HEADER_BYTES, busid, strlen(busid));
	return usbip_send(fd, &v, 1, deadline_in_ms(USBIP_PATIENCE_MS));
}

/* check_reply - the header of an answer. Return: 0 with @status; -EIO (logged). */
static int check_reply(const uint8_t *header, uint32_t code, uint32_t *status)
{
	if (get_be16(header) != USBIP_VERSION || get_be16(header + OP_CODE) != code)
		return rx_fail("usbip", -EIO,
		        "the server answers %04x/%04x, not %04x/%04x: is it a USB/IP server?",
		        get_be16(header), get_be16(header + OP_CODE), USBIP_VERSION, code);
	*status = get_be32(header + OP_STATUS);
	return 0;
}

static bool is_text(const uint8_t *bytes, size_t size)
{
	size_t len = strnlen((const char *)bytes, size);

	for (size_t i = 0; i < len; i++)
		if (bytes[i] < 0x21 || bytes[i] > 0x7E)
			return false;
	return len && len < size;
}

static int read_device(const uint8_t *record, struct usbip_device *out)
{
	uint32_t bus = get_be32(record + DEV_BUSNUM), dev = get_be32(record + DEV_DEVNUM);

	if (!is_text(record + DEV_BUSID, DEV_BUSID_BYTES) || bus > UINT16_MAX || dev > UINT16_MAX)
		return rx_fail("usbip", -EIO, "the server describes a device that cannot be");
	*out = (struct usbip_device){.devid = bus << 16 | dev,
	        .speed = get_be32(record + DEV_SPEED),
	        .vid = get_be16(record + DEV_VENDOR),
	        .pid = get_be16(record + DEV_PRODUCT)};
	memcpy(out->busid, record + DEV_BUSID, DEV_BUSID_BYTES);
	return 0;
}

int usbip_import(int fd, const char *busid, struct usbip_device *out)
{
	uint64_t deadline = deadline_in_ms(USBIP_PATIENCE_MS);
	uint8_t header[OP_HEADER_BYTES], record[DEV_BYTES];
	uint32_t status;

	if (!*busid || strlen(busid) >= DEV_BUSID_BYTES)
		return rx_fail("usbip", -EINVAL, "\"%s\" is no bus id", busid);
	int err = ask(fd, OP_REQ_IMPORT, busid);

	if (!err)
		err = usbip_receive(fd, header, sizeof(header), deadline);
	if (err)
		return no_answer(err);
	err = check_reply(header, OP_REP_IMPORT, &status);
	if (err)
		return err;
	if (status)
		return rx_fail("usbip", status == OP_STATUS_DEV_BUSY ? -EBUSY : -ENODEV,
		        "device %s is not to be had: %s (status %u)", busid, refusal(status),
		        status);
	err = usbip_receive(fd, record, sizeof(record), deadline);
	if (err)
		return no_answer(err);
	err = read_device(record, out);
	if (!err && strcmp(out->busid, busid) != 0)
		return rx_fail("usbip", -EIO, "asked for device %s, the server gave %s", busid,
		        out->busid);
	return err;
}

/* take_listed - one device of a list; remembers a first one, names any further. */
static int take_listed(int fd, unsigned i, struct usbip_device *first, uint64_t deadline)
{
	uint8_t record[DEV_BYTES], interfaces[UINT8_MAX * DEV_INTERFACE_SIZE];
	struct usbip_device d;
	int err = usbip_receive(fd, record, sizeof(record), deadline);

	if (!err)
		err = usbip_receive(fd, interfaces,
		        (size_t)record[DEV_INTERFACES] * DEV_INTERFACE_SIZE, deadline);
	if (err)
		return no_answer(err);
	err = read_device(record, &d);
	if (err)
		return err;
	rx_log(LOG_INFO, "usbip", "the server offers %04x:%04x as /%s", d.vid, d.pid, d.busid);
	if (i == 0)
		*first = d;
	return 0;
}

/* list_one - the bus id of the only device offered. */
static int list_one(int fd, char busid[DEV_BUSID_BYTES])
{
	uint64_t deadline = deadline_in_ms(USBIP_PATIENCE_MS);
	uint8_t header[OP_HEADER_BYTES + 4];
	struct usbip_device first;
	uint32_t status;
	int err = ask(fd, OP_REQ_DEVLIST, NULL);

	if (!err)
		err = usbip_receive(fd, header, sizeof(header), deadline);
	if (err)
		return no_answer(err);
	err = check_reply(header, OP_REP_DEVLIST, &status);
	if (err)
		return err;
	uint32_t n = get_be32(header + OP_HEADER_BYTES);

	if (status || n > MAX_LISTED)
		return rx_fail("usbip", -EIO,
		        "the server's list makes no sense (status %u, %u devices)", status, n);
	if (!n)
		return rx_fail("usbip", -EBUSY,
		        "the server offers no device: another client has it, or it is unplugged");
	for (unsigned i = 0; i < n; i++) {
		err = take_listed(fd, i, &first, deadline);
		if (err)
			return err;
	}
	if (n > 1)
		return rx_fail("usbip", -EINVAL,
		        "the server offers %u devices: name one, as usbip:HOST:PORT/%s", n,
		        first.busid);
	memcpy(busid, first.busid, DEV_BUSID_BYTES);
	return 0;
}

static int choose(struct address *a)
{
	RX_CLEANUP(close) int fd = connect_server(a);

	return fd < 0 ? fd : list_one(fd, a->busid);
}

int usb_usbip_open(struct usb_pipe **out, const char *where)
{
	struct address a;
	int err = parse_where(&a, where);

	if (!err && !a.busid[0])
		err = choose(&a);
	if (err)
		return err;
	int fd = connect_server(&a);

	return fd < 0 ? fd : usb_usbip_attach(out, fd, a.busid);
}
