/* The client against servers that lie: a thread plays one answer wrong. Words and -EIO, never more
 * than was asked for, and nothing after that.
 */
#include "helper_link.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What the fake server does with the first bulk transfer. */
struct lie {
	const char *name;
	uint32_t command, seqnum_offset, status, actual, packets;
	bool hang_up; /* instead of an answer */
	bool cut;     /* half of the header, then end */
	int expected;
};

struct fake {
	int fd;
	const struct lie *lie;
	pthread_t thread;
};

static const uint8_t device_descriptor[18] = {
        18, 1, 0x10, 2, 0, 0, 0, 64, 0xDA, 0x0B, 0x10, 0x92, 1, 0xF0, 1, 2, 3, 1};
static const uint8_t configuration[32] = {9, 2, 32, 0, 1, 1, 0, 0xC0, 0, 9, 4, 0, 0, 2, 8, 6, 0x50,
        0, 7, 5, 0x81, 2, 0, 2, 0, 7, 5, 0x02, 2, 0, 2, 0};

static bool receive(int fd, void *data, size_t len)
{
	/* of 0 bytes it would wait for the next message */
	return !len || recv(fd, data, len, MSG_WAITALL) == (ssize_t)len;
}

static void give(int fd, const void *data, size_t len)
{
	ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

	(void)n; /* the client may have had enough already */
}

static void give_answer(int fd, uint32_t command, uint32_t seqnum, uint32_t status, uint32_t actual,
        uint32_t packets)
{
	uint8_t h[URB_HEADER_BYTES] = {0};

	put_be32(h + URB_COMMAND, command);
	put_be32(h + URB_SEQNUM, seqnum);
	put_be32(h + URB_STATUS, status);
	put_be32(h + URB_ACTUAL, actual);
	put_be32(h + URB_PACKETS, packets);
	give(fd, h, sizeof(h));
}

static void give_import(int fd)
{
	uint8_t request[OP_HEADER_BYTES + DEV_BUSID_BYTES],
	        reply[OP_HEADER_BYTES + DEV_BYTES] = {0};
	uint8_t *d = reply + OP_HEADER_BYTES;

	if (!receive(fd, request, sizeof(request)))
		return;
	put_be32(reply, (uint32_t)USBIP_VERSION << 16 | OP_REP_IMPORT);
	memcpy(d + DEV_BUSID, request + OP_HEADER_BYTES, DEV_BUSID_BYTES);
	put_be32(d + DEV_BUSNUM, 3);
	put_be32(d + DEV_DEVNUM, 4);
	put_be32(d + DEV_SPEED, SPEED_SUPER_PLUS);
	memcpy(d + DEV_VENDOR, "\x0b\xda\x92\x10", 4);
	give(fd, reply, sizeof(reply));
}

static void enumerate(int fd, const uint8_t *h)
{
	const uint8_t *from = h[URB_SETUP + 3] == 1 ? device_descriptor : configuration;
	uint32_t len = h[URB_SETUP + 1] == 6 ? get_be32(h + URB_LENGTH) : 0;

	give_answer(fd, USBIP_RET_SUBMIT, get_be32(h + URB_SEQNUM), 0, len, UINT32_MAX);
	give(fd, from, len);
}

static void tell(int fd, const struct lie *lie, const uint8_t *h)
{
	static const uint8_t junk[256];

	if (lie->cut)
		give(fd, junk, URB_HEADER_BYTES / 2);
	if (lie->cut || lie->hang_up) {
		shutdown(fd, SHUT_RDWR);
		return;
	}
	give_answer(fd, lie->command, get_be32(h + URB_SEQNUM) + lie->seqnum_offset, lie->status,
	        lie->actual, lie->packets);
	give(fd, junk, MIN(lie->actual, (uint32_t)sizeof(junk)));
}

static void *serve(void *arg)
{
	struct fake *f = arg;
	uint8_t h[URB_HEADER_BYTES], data[64];

	give_import(f->fd);
	while (receive(f->fd, h, sizeof(h))) {
		if (!get_be32(h + URB_DIRECTION) && get_be32(h + URB_COMMAND) == USBIP_CMD_SUBMIT &&
		        !receive(f->fd, data, MIN(get_be32(h + URB_LENGTH), sizeof(data))))
			break;
		if (get_be32(h + URB_ENDPOINT) == 0 &&
		        get_be32(h + URB_COMMAND) == USBIP_CMD_SUBMIT)
			enumerate(f->fd, h);
		else
			tell(f->fd, f->lie, h);
	}
	return NULL;
}

static struct usb_pipe *open_on(struct fake *f, const struct lie *lie)
{
	struct usb_pipe *p = NULL;
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	*f = (struct fake){.fd = fd[1], .lie = lie};
	assert_int_equal(pthread_create(&f->thread, NULL, serve, f), 0);
	assert_int_equal(usb_usbip_attach(&p, fd[0], "3-2.1"), 0);
	return p;
}

static void end(struct fake *f, struct usb_pipe *p)
{
	p->ops->close(p);
	assert_int_equal(pthread_join(f->thread, NULL), 0);
	close(f->fd);
}

#define RET USBIP_RET_SUBMIT

static void an_answer_that_cannot_be_is_eio_and_ends_the_connection(void **state)
{
	static const struct lie lies[] = {
	        {.name = "another command", .command = 7, .expected = -EIO},
	        {.name = "an unlink nobody asked for",
	                .command = USBIP_RET_UNLINK,
	                .expected = -EIO},
	        {.name = "another sequence", .command = RET, .seqnum_offset = 1, .expected = -EIO},
	        {.name = "more than asked", .command = RET, .actual = 65, .expected = -EIO},
	        {.name = "a negative length",
	                .command = RET,
	                .actual = 0xFFFFFFFF,
	                .expected = -EIO},
	        {.name = "a positive status", .command = RET, .status = 32, .expected = -EIO},
	        {.name = "no errno", .command = RET, .status = 0x80000000, .expected = -EIO},
	        {.name = "isochronous", .command = RET, .packets = 3, .expected = -EIO},
	        {.name = "hung up", .hang_up = true, .expected = -ENODEV},
	        {.name = "half a header", .cut = true, .expected = -ENODEV},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		struct fake f;
		struct usb_pipe *p = open_on(&f, &lies[i]);
		uint8_t data[64 + 1];

		data[64] = 0xA5;
		int n = p->ops->bulk_in(p, data, 64, LINK_MS);

		if (n != lies[i].expected)
			fail_msg("%s: expected %d, got %d", lies[i].name, lies[i].expected, n);
		assert_int_equal(data[64], 0xA5);
		assert_int_equal(p->ops->bulk_in(p, data, 64, LINK_MS), -ENODEV);
		assert_int_equal(p->ops->port_reset(p), -ENODEV);
		end(&f, p);
	}
}

static void errors_of_the_far_host_controller_become_the_pipes(void **state)
{
	static const struct lie lies[] = {
	        {.name = "-EPIPE", .command = RET, .status = (uint32_t)-EPIPE, .expected = -EPIPE},
	        {.name = "-EOVERFLOW",
	                .command = RET,
	                .status = (uint32_t)-EOVERFLOW,
	                .expected = -EOVERFLOW},
	        {.name = "-ENODEV",
	                .command = RET,
	                .status = (uint32_t)-ENODEV,
	                .expected = -ENODEV},
	        {.name = "-ESHUTDOWN",
	                .command = RET,
	                .status = (uint32_t)-ESHUTDOWN,
	                .expected = -ENODEV},
	        {.name = "-EPROTO", .command = RET, .status = (uint32_t)-EPROTO, .expected = -EIO},
	        {.name = "-EPIPE after 10 bytes",
	                .command = RET,
	                .status = (uint32_t)-EPIPE,
	                .actual = 10,
	                .expected = -EPIPE},
	        {.name = "short", .command = RET, .actual = 10, .expected = 10},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		struct fake f;
		struct usb_pipe *p = open_on(&f, &lies[i]);
		uint8_t data[64];

		for (int again = 0; again < 2; again++) { /* the stream stays in step */
			int n = p->ops->bulk_in(p, data, 64, LINK_MS);

			if (n != lies[i].expected)
				fail_msg("%s: expected %d, got %d", lies[i].name, lies[i].expected,
				        n);
		}
		end(&f, p);
	}
}

static void a_real_enclosures_speed_and_address_are_taken_from_the_import(void **state)
{
	static const struct lie honest = {.command = RET, .actual = 31};
	struct usb_identity id;
	struct fake f;
	struct usb_pipe *p = open_on(&f, &honest);
	uint8_t cbw[31] = {0};

	(void)state;
	p->ops->identity(p, &id);
	assert_int_equal(id.mbit, 10000);
	assert_int_equal(p->ops->bulk_out(p, cbw, sizeof(cbw), LINK_MS), 31);
	end(&f, p);
}

/* The import's reply and the descriptors, one byte wrong at a time. */
static void a_wrong_import_reply_is_refused(void **state)
{
	static const struct {
		unsigned at;
		uint8_t value;
		int expected;
	} wrong[] = {
	        {0, 9, -EIO},                               /* version */
	        {3, 5, -EIO},                               /* code */
	        {7, 1, -ENODEV},                            /* status: not available */
	        {7, 2, -EBUSY},                             /* status: in use */
	        {OP_HEADER_BYTES + DEV_BUSID, '9', -EIO},   /* another device */
	        {OP_HEADER_BYTES + DEV_BUSID, 0x07, -EIO},  /* no text */
	        {OP_HEADER_BYTES + DEV_BUSNUM, 0x80, -EIO}, /* beyond 16 bits */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		uint8_t reply[OP_HEADER_BYTES + DEV_BYTES] = {1, 0x11, 0, 3};
		struct usb_pipe *p = NULL;
		int fd[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
		memcpy(reply + OP_HEADER_BYTES + DEV_BUSID, "1-1", 3);
		reply[wrong[i].at] = wrong[i].value;
		give(fd[1], reply, sizeof(reply));
		shutdown(fd[1], SHUT_WR);
		assert_int_equal(usb_usbip_attach(&p, fd[0], "1-1"), wrong[i].expected);
		assert_null(p);
		close(fd[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(an_answer_that_cannot_be_is_eio_and_ends_the_connection),
	        cmocka_unit_test(errors_of_the_far_host_controller_become_the_pipes),
	        cmocka_unit_test(a_real_enclosures_speed_and_address_are_taken_from_the_import),
	        cmocka_unit_test(a_wrong_import_reply_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
