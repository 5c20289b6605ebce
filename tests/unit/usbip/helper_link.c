/* helper_link.c - see helper_link.h. */
#include "helper_link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define DEVID 0x00010002u

static void *run(void *arg)
{
	server_run(arg);
	return NULL;
}

void link_resume(struct cable *l)
{
	assert_int_equal(pthread_create(&l->thread, NULL, run, l->server), 0);
	l->running = true;
}

void link_pause(struct cable *l)
{
	server_tell(l->server, SERVER_STOP);
	assert_int_equal(pthread_join(l->thread, NULL), 0);
	l->running = false;
}

void link_start(struct cable *l, bool super_speed)
{
	const struct venc_options opt = {
	        .super_speed = super_speed, .threads = 1, .vram_bytes = 64u << 20};

	strcpy(l->folder, "/tmp/rx580-usbip-XXXXXX"); /* a socket's path has to be short */
	assert_non_null(mkdtemp(l->folder));
	snprintf(l->path, sizeof(l->path), "%s/socket", l->folder);
	snprintf(l->where, sizeof(l->where), "unix:%s", l->path);
	assert_int_equal(server_new(&l->server, &opt), 0);
	assert_int_equal(server_listen_unix(l->server, l->path), 0);
	link_resume(l);
}

void link_stop(struct cable *l)
{
	if (l->running)
		link_pause(l);
	server_free(l->server);
	assert_int_equal(access(l->path, F_OK), -1);
	rmdir(l->folder);
}

int link_connect(struct cable *l)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(to.sun_path, l->path);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

struct usb_pipe *link_open(struct cable *l)
{
	struct usb_pipe *p = NULL;

	assert_int_equal(usb_usbip_open(&p, l->where), 0);
	assert_non_null(p);
	return p;
}

/* The list shows the device as soon as the server has seen the end of who had it. */
void link_wait_free(struct cable *l)
{
	uint64_t deadline = deadline_in_ms(LINK_MS);
	uint8_t reply[OP_HEADER_BYTES + 4];

	do {
		int fd = link_connect(l);

		raw_op(fd, OP_REQ_DEVLIST, NULL);
		raw_receive(fd, reply, sizeof(reply));
		close(fd);
		assert_false(deadline_passed(deadline));
		sleep_us(1000);
	} while (!get_be32(reply + OP_HEADER_BYTES));
}

void raw_send(int fd, const void *data, size_t len)
{
	assert_int_equal(send(fd, data, len, MSG_NOSIGNAL), len);
}

static bool readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, LINK_MS) == 1;
}

void raw_receive(int fd, void *data, size_t len)
{
	for (size_t at = 0; at < len;) {
		assert_true(readable(fd));
		ssize_t n = recv(fd, (uint8_t *)data + at, len - at, 0);

		assert_true(n > 0);
		at += (size_t)n;
	}
}

bool raw_closed(int fd)
{
	uint8_t byte;

	return readable(fd) && recv(fd, &byte, 1, 0) <= 0;
}

void raw_op(int fd, uint32_t code, const char *busid)
{
	uint8_t m[OP_HEADER_BYTES + DEV_BUSID_BYTES] = {0};

	put_be32(m, (uint32_t)USBIP_VERSION << 16 | code);
	if (busid)
		memcpy(m + OP_HEADER_BYTES, busid, strlen(busid));
	raw_send(fd, m, busid ? sizeof(m) : OP_HEADER_BYTES);
}

void raw_import(int fd)
{
	uint8_t reply[OP_HEADER_BYTES + DEV_BYTES];

	raw_op(fd, OP_REQ_IMPORT, "1-1");
	raw_receive(fd, reply, sizeof(reply));
	assert_int_equal(get_be16(reply + OP_CODE), OP_REP_IMPORT);
	assert_int_equal(get_be32(reply + OP_STATUS), OP_STATUS_OK);
}

void raw_submit(int fd, uint32_t seqnum, uint32_t endpoint, bool in, const uint8_t setup[8],
        const void *data, uint32_t len)
{
	uint8_t h[URB_HEADER_BYTES] = {0};

	put_be32(h + URB_COMMAND, USBIP_CMD_SUBMIT);
	put_be32(h + URB_SEQNUM, seqnum);
	put_be32(h + URB_DEVID, DEVID);
	put_be32(h + URB_DIRECTION, in);
	put_be32(h + URB_ENDPOINT, endpoint);
	put_be32(h + URB_LENGTH, len);
	if (setup)
		memcpy(h + URB_SETUP, setup, 8);
	raw_send(fd, h, sizeof(h));
	if (!in && len)
		raw_send(fd, data, len);
}

void raw_unlink(int fd, uint32_t seqnum, uint32_t victim)
{
	uint8_t h[URB_HEADER_BYTES] = {0};

	put_be32(h + URB_COMMAND, USBIP_CMD_UNLINK);
	put_be32(h + URB_SEQNUM, seqnum);
	put_be32(h + URB_DEVID, DEVID);
	put_be32(h + URB_UNLINK_SEQNUM, victim);
	raw_send(fd, h, sizeof(h));
}

int raw_answer(int fd, uint32_t command, uint32_t seqnum, bool in, void *data, int *status)
{
	uint8_t h[URB_HEADER_BYTES];

	raw_receive(fd, h, sizeof(h));
	assert_int_equal(get_be32(h + URB_COMMAND), command);
	assert_int_equal(get_be32(h + URB_SEQNUM), seqnum);
	assert_int_equal(get_be32(h + URB_DEVID), 0);
	*status = (int)get_be32(h + URB_STATUS);
	int len = command == USBIP_RET_SUBMIT ? (int)get_be32(h + URB_ACTUAL) : 0;

	if (in && len)
		raw_receive(fd, data, (size_t)len);
	return len;
}

void make_cbw(uint8_t cbw[31], const uint8_t *cdb, size_t cdb_len, uint32_t len, bool in)
{
	memset(cbw, 0, 31);
	put_le32(cbw, 0x43425355); /* bridge.md 1.3 */
	put_le32(cbw + 4, 7);
	put_le32(cbw + 8, len);
	cbw[12] = in ? 0x80 : 0;
	cbw[14] = (uint8_t)cdb_len;
	memcpy(cbw + 15, cdb, cdb_len);
}
