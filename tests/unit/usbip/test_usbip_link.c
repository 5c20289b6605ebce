/* Client and server together: rx580fs's USB/IP pipe against rx580-enclosure's server. */
#include "helper_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint8_t inquiry[6] = {0x12, 0, 0, 0, 96, 0}; /* bridge.md 1.1: 96 bytes */
static const uint8_t test_unit_ready[6] = {0};

/* One command; returns the CSW status. */
static int command(struct usb_pipe *p, const uint8_t *cdb, size_t cdb_len, void *data, uint32_t len)
{
	uint8_t cbw[31], csw[13];

	make_cbw(cbw, cdb, cdb_len, len, true);
	assert_int_equal(p->ops->bulk_out(p, cbw, sizeof(cbw), LINK_MS), sizeof(cbw));
	if (len)
		assert_int_equal(p->ops->bulk_in(p, data, len, LINK_MS), len);
	assert_int_equal(p->ops->bulk_in(p, csw, sizeof(csw), LINK_MS), sizeof(csw));
	assert_int_equal(get_le32(csw + 4), 7);
	return csw[12];
}

static void the_client_enumerates_an_rtl9210_at_either_speed(void **state)
{
	(void)state;
	for (int super = 0; super < 2; super++) {
		struct cable l;
		struct usb_identity id;

		link_start(&l, super);
		struct usb_pipe *p = link_open(&l);

		p->ops->identity(p, &id);
		assert_int_equal(id.vid, 0x0BDA);
		assert_int_equal(id.pid, 0x9210);
		assert_int_equal(id.bcd_device, 0xF001);
		assert_int_equal(id.mbit, super ? 5000 : 480);
		p->ops->close(p);
		link_stop(&l);
	}
}

static void inquiry_comes_through_at_either_speed(void **state)
{
	(void)state;
	for (int super = 0; super < 2; super++) {
		struct cable l;
		uint8_t data[96];

		link_start(&l, super);
		struct usb_pipe *p = link_open(&l);

		assert_int_equal(command(p, inquiry, 6, data, sizeof(data)), 0);
		assert_memory_equal(data + 8, "Realtek RTL9210", 15);
		p->ops->close(p);
		link_stop(&l);
	}
}

static void a_stall_is_epipe_until_the_halt_is_cleared(void **state)
{
	struct cable l;
	uint8_t cbw[31], data[64];

	(void)state;
	link_start(&l, false);
	struct usb_pipe *p = link_open(&l);

	/* bridge.md 1.4: the CBW wants 64 bytes, the CDB implies none */
	make_cbw(cbw, test_unit_ready, 6, sizeof(data), true);
	assert_int_equal(p->ops->bulk_out(p, cbw, sizeof(cbw), LINK_MS), sizeof(cbw));
	assert_int_equal(p->ops->bulk_in(p, data, sizeof(data), LINK_MS), -EPIPE);
	assert_int_equal(p->ops->bulk_in(p, data, sizeof(data), LINK_MS), -EPIPE);
	assert_int_equal(p->ops->clear_halt_in(p), 0);
	assert_int_equal(p->ops->bulk_in(p, data, 13, LINK_MS), 13);
	assert_int_equal(data[12], 1);
	p->ops->close(p);
	link_stop(&l);
}

static void reset_recovery_follows_an_invalid_cbw(void **state)
{
	struct cable l;
	uint8_t junk[5] = {0}, data[96];

	(void)state;
	link_start(&l, false);
	struct usb_pipe *p = link_open(&l);

	assert_int_equal(p->ops->bulk_out(p, junk, sizeof(junk), LINK_MS), 5);
	assert_int_equal(p->ops->bulk_out(p, junk, sizeof(junk), LINK_MS), -EPIPE);
	assert_int_equal(p->ops->class_reset(p), 0);
	assert_int_equal(p->ops->clear_halt_in(p), 0);
	assert_int_equal(p->ops->clear_halt_out(p), 0);
	assert_int_equal(command(p, inquiry, 6, data, sizeof(data)), 0);
	p->ops->close(p);
	link_stop(&l);
}

static void an_in_with_nothing_to_send_times_out_and_the_pipe_stays_usable(void **state)
{
	struct cable l;
	uint8_t data[96];

	(void)state;
	link_start(&l, false);
	struct usb_pipe *p = link_open(&l);

	for (int i = 0; i < 3; i++)
		assert_int_equal(p->ops->bulk_in(p, data, 13, 20), -ETIMEDOUT);
	assert_int_equal(command(p, inquiry, 6, data, sizeof(data)), 0);
	p->ops->close(p);
	link_stop(&l);
}

static void a_mute_device_is_back_after_a_port_reset(void **state)
{
	struct cable l;
	uint8_t cbw[31], data[96];

	(void)state;
	link_start(&l, false);
	struct usb_pipe *p = link_open(&l);

	link_pause(&l);
	venc_inject(server_enclosure(l.server), VENC_FAULT_TIMEOUT, 1);
	link_resume(&l);
	make_cbw(cbw, inquiry, 6, 96, true);
	assert_int_equal(p->ops->bulk_out(p, cbw, sizeof(cbw), LINK_MS), sizeof(cbw));
	assert_int_equal(p->ops->bulk_in(p, data, 96, 50), -ETIMEDOUT);
	assert_int_equal(p->ops->port_reset(p), 0);
	assert_int_equal(command(p, inquiry, 6, data, sizeof(data)), 0);
	p->ops->close(p);
	link_stop(&l);
}

static void a_server_that_ends_is_seen_without_a_transfer(void **state)
{
	struct cable l;
	uint8_t byte;

	(void)state;
	link_start(&l, false);
	struct usb_pipe *p = link_open(&l);

	assert_false(p->ops->left(p));
	link_stop(&l);
	assert_true(p->ops->left(p));
	assert_int_equal(p->ops->bulk_in(p, &byte, 1, LINK_MS), -ENODEV);
	assert_true(p->ops->left(p));
	p->ops->close(p);
}

static void a_second_client_is_refused_and_gets_it_afterwards(void **state)
{
	struct cable l;
	struct usb_pipe *second = NULL;

	(void)state;
	link_start(&l, false);
	struct usb_pipe *p = link_open(&l);

	assert_int_equal(usb_usbip_open(&second, l.where), -EBUSY);
	assert_int_equal(usb_usbip_attach(&second, link_connect(&l), "1-1"), -EBUSY);
	assert_int_equal(usb_usbip_attach(&second, link_connect(&l), "9-9"), -ENODEV);
	p->ops->close(p);
	link_wait_free(&l); /* the server sees the end of the first when it gets round to it */
	assert_int_equal(usb_usbip_attach(&second, link_connect(&l), "1-1"), 0);
	second->ops->close(second);
	link_stop(&l);
}

static void unplugging_is_enodev_and_stays_so_after_plugging_in_again(void **state)
{
	struct cable l;
	uint8_t data[96];

	(void)state;
	link_start(&l, false);
	struct usb_pipe *p = link_open(&l), *again = NULL;

	server_tell(l.server, SERVER_UNPLUG);
	assert_int_equal(p->ops->bulk_in(p, data, 13, LINK_MS), -ENODEV);
	assert_int_equal(p->ops->port_reset(p), -ENODEV);
	assert_int_equal(usb_usbip_attach(&again, link_connect(&l), "1-1"), -ENODEV);
	server_tell(l.server, SERVER_PLUG);
	again = link_open(&l);
	assert_int_equal(command(again, inquiry, 6, data, sizeof(data)), 0);
	assert_int_equal(p->ops->bulk_in(p, data, 13, LINK_MS), -ENODEV);
	again->ops->close(again);
	p->ops->close(p);
	link_stop(&l);
}

static void nobody_listening_is_said(void **state)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(to);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct usb_pipe *p = NULL;
	char where[32];

	(void)state;
	assert_int_equal(usb_usbip_open(&p, "unix:/nonexistent/socket"), -ENOENT);
	/* a port that is taken, so nobody listens there */
	assert_int_equal(bind(fd, (struct sockaddr *)&to, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&to, &len), 0);
	snprintf(where, sizeof(where), "127.0.0.1:%u", ntohs(to.sin_port));
	assert_int_equal(usb_usbip_open(&p, where), -ECONNREFUSED);
	assert_null(p);
	close(fd);
}

static void what_is_no_address_is_einval(void **state)
{
	static const char *const wrong[] = {"", "host", "host:", ":3240", "host:http",
	        "unix:", "host:3240/", "[::1]", "[]:3240",
	        "host:3240/a-bus-id-of-more-than-thirty-two-bytes"};
	struct usb_pipe *p = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(usb_usbip_open(&p, wrong[i]), -EINVAL);
	assert_int_equal(usb_usbip_open(&p, NULL), -EINVAL);
}

static void tcp_works_like_a_unix_socket(void **state)
{
	struct cable l;
	struct usb_pipe *p = NULL;
	uint8_t data[96];
	char where[64];
	int port = 20000 + getpid() % 20000, err = -1;

	(void)state;
	link_start(&l, false);
	link_pause(&l);
	for (int i = 0; i < 50 && err; i++) {
		snprintf(where, sizeof(where), "127.0.0.1:%d", ++port);
		err = server_listen_tcp(l.server, where);
	}
	assert_int_equal(err, 0);
	link_resume(&l);
	strcat(where, "/1-1");
	assert_int_equal(usb_usbip_open(&p, where), 0);
	assert_int_equal(command(p, inquiry, 6, data, sizeof(data)), 0);
	p->ops->close(p);
	link_stop(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_client_enumerates_an_rtl9210_at_either_speed),
	        cmocka_unit_test(inquiry_comes_through_at_either_speed),
	        cmocka_unit_test(a_stall_is_epipe_until_the_halt_is_cleared),
	        cmocka_unit_test(reset_recovery_follows_an_invalid_cbw),
	        cmocka_unit_test(an_in_with_nothing_to_send_times_out_and_the_pipe_stays_usable),
	        cmocka_unit_test(a_mute_device_is_back_after_a_port_reset),
	        cmocka_unit_test(a_server_that_ends_is_seen_without_a_transfer),
	        cmocka_unit_test(a_second_client_is_refused_and_gets_it_afterwards),
	        cmocka_unit_test(unplugging_is_enodev_and_stays_so_after_plugging_in_again),
	        cmocka_unit_test(nobody_listening_is_said),
	        cmocka_unit_test(what_is_no_address_is_einval),
	        cmocka_unit_test(tcp_works_like_a_unix_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
