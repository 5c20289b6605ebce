/* The server alone, against what a kernel or a broken client sends: lists, queues, unlinking,
 * limits. */
#include "helper_link.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const uint8_t get_device[8] = {0x80, 6, 0, 1, 0, 0, 18, 0};
static const uint8_t get_config[8] = {0x80, 6, 0, 2, 0, 0, 255, 0};
static const uint8_t inquiry[6] = {0x12, 0, 0, 0, 96, 0};

static struct cable l;
static int fd;

static int setup(void **state)
{
	(void)state;
	link_start(&l, false);
	fd = link_connect(&l);
	return 0;
}

static int setup_super(void **state)
{
	(void)state;
	link_start(&l, true);
	fd = link_connect(&l);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close(fd);
	link_stop(&l);
	return 0;
}

static void the_list_describes_the_enclosure_then_the_connection_ends(void **state)
{
	uint8_t reply[OP_HEADER_BYTES + 4 + DEV_BYTES + DEV_INTERFACE_SIZE];
	const uint8_t *d = reply + OP_HEADER_BYTES + 4;

	(void)state;
	raw_op(fd, OP_REQ_DEVLIST, NULL);
	raw_receive(fd, reply, sizeof(reply));
	assert_int_equal(get_be16(reply), 0x0111);
	assert_int_equal(get_be16(reply + OP_CODE), OP_REP_DEVLIST);
	assert_int_equal(get_be32(reply + OP_HEADER_BYTES), 1);
	assert_string_equal(d + DEV_BUSID, "1-1");
	assert_int_equal(get_be32(d + DEV_SPEED), SPEED_HIGH);
	assert_int_equal(get_be16(d + DEV_VENDOR), 0x0BDA);
	assert_int_equal(get_be16(d + DEV_PRODUCT), 0x9210);
	assert_int_equal(d[DEV_INTERFACES], 1);
	assert_memory_equal(d + DEV_BYTES, "\x08\x06\x50\x00", 4);
	assert_true(raw_closed(fd));
}

static void a_device_in_use_is_not_listed(void **state)
{
	uint8_t reply[OP_HEADER_BYTES + 4];
	int other = link_connect(&l);

	(void)state;
	raw_import(fd);
	raw_op(other, OP_REQ_DEVLIST, NULL);
	raw_receive(other, reply, sizeof(reply));
	assert_int_equal(get_be32(reply + OP_HEADER_BYTES), 0);
	assert_true(raw_closed(other));
	close(other);
}

static void superspeed_descriptors_have_companions_and_no_qualifier(void **state)
{
	static const uint8_t get_qualifier[8] = {0x80, 6, 0, 6, 0, 0, 10, 0};
	uint8_t d[255];
	int status, companions = 0;

	(void)state;
	raw_import(fd);
	raw_submit(fd, 1, 0, true, get_device, NULL, 18);
	assert_int_equal(raw_answer(fd, USBIP_RET_SUBMIT, 1, true, d, &status), 18);
	assert_int_equal(get_le16(d + 2), 0x0320);
	assert_int_equal(d[7], 9);
	raw_submit(fd, 2, 0, true, get_config, NULL, 255);
	int len = raw_answer(fd, USBIP_RET_SUBMIT, 2, true, d, &status);

	assert_int_equal(len, get_le16(d + 2));
	for (int at = 0; at < len; at += d[at]) {
		assert_true(d[at] >= 4);
		if (d[at + 1] != 5)
			continue;
		assert_int_equal(get_le16(d + at + 4), 1024);
		assert_int_equal(d[at + d[at] + 1], 0x30);
		/* bridge.md 1.2: bursts of 15, none on the UAS command pipe */
		assert_int_equal(d[at + d[at] + 2], d[at + 2] == 0x04 ? 0 : 15);
		companions++;
	}
	assert_int_equal(companions, 6);
	raw_submit(fd, 3, 0, true, get_qualifier, NULL, 10);
	assert_int_equal(raw_answer(fd, USBIP_RET_SUBMIT, 3, true, d, &status), 0);
	assert_int_equal(status, -EPIPE);
}

static void an_in_queued_first_waits_for_its_data(void **state)
{
	uint8_t cbw[31], data[96], csw[13];
	int status;

	(void)state;
	raw_import(fd);
	raw_submit(fd, 1, 1, true, NULL, NULL, 96); /* data and status before the command */
	raw_submit(fd, 2, 1, true, NULL, NULL, 13);
	make_cbw(cbw, inquiry, 6, 96, true);
	raw_submit(fd, 3, 2, false, NULL, cbw, 31);
	assert_int_equal(raw_answer(fd, USBIP_RET_SUBMIT, 3, false, NULL, &status), 31);
	assert_int_equal(raw_answer(fd, USBIP_RET_SUBMIT, 1, true, data, &status), 96);
	assert_int_equal(raw_answer(fd, USBIP_RET_SUBMIT, 2, true, csw, &status), 13);
	assert_int_equal(status, 0);
	assert_memory_equal(csw, "USBS\x07\0\0\0\0\0\0\0\0", 13);
}

static void a_waiting_in_can_be_unlinked_and_takes_no_data_afterwards(void **state)
{
	uint8_t cbw[31], data[96];
	int status;

	(void)state;
	raw_import(fd);
	raw_submit(fd, 1, 1, true, NULL, NULL, 96);
	raw_submit(fd, 2, 1, true, NULL, NULL, 96);
	raw_unlink(fd, 3, 1);
	raw_answer(fd, USBIP_RET_UNLINK, 3, false, NULL, &status);
	assert_int_equal(status, -ECONNRESET);
	make_cbw(cbw, inquiry, 6, 96, true);
	raw_submit(fd, 4, 2, false, NULL, cbw, 31);
	assert_int_equal(raw_answer(fd, USBIP_RET_SUBMIT, 4, false, NULL, &status), 31);
	assert_int_equal(raw_answer(fd, USBIP_RET_SUBMIT, 2, true, data, &status), 96);
	raw_unlink(fd, 5, 4); /* answered long ago */
	raw_answer(fd, USBIP_RET_UNLINK, 5, false, NULL, &status);
	assert_int_equal(status, 0);
}

static void a_short_read_is_an_error_only_when_asked_to_be(void **state)
{
	uint8_t h[URB_HEADER_BYTES] = {0}, data[64];
	int status;

	(void)state;
	raw_import(fd);
	raw_submit(fd, 1, 0, true, get_device, NULL, 64);
	assert_int_equal(raw_answer(fd, USBIP_RET_SUBMIT, 1, true, data, &status), 18);
	assert_int_equal(status, 0);
	put_be32(h + URB_COMMAND, USBIP_CMD_SUBMIT);
	put_be32(h + URB_SEQNUM, 2);
	put_be32(h + URB_DEVID, 0x10002);
	put_be32(h + URB_DIRECTION, USBIP_DIR_IN);
	put_be32(h + URB_FLAGS, USBIP_URB_SHORT_NOT_OK);
	put_be32(h + URB_LENGTH, 64);
	memcpy(h + URB_SETUP, get_device, 8);
	raw_send(fd, h, sizeof(h));
	assert_int_equal(raw_answer(fd, USBIP_RET_SUBMIT, 2, true, data, &status), 18);
	assert_int_equal(status, -EREMOTEIO);
}

static void an_endpoint_that_is_not_there_is_enoent(void **state)
{
	int status;

	(void)state;
	raw_import(fd);
	raw_submit(fd, 1, 3, true, NULL, NULL, 16); /* UAS is not selected */
	assert_int_equal(raw_answer(fd, USBIP_RET_SUBMIT, 1, true, NULL, &status), 0);
	assert_int_equal(status, -ENOENT);
}

/* As Linux's uas driver does at high speed: status asked for before the command is sent. */
static void uas_runs_over_its_own_pipes_once_selected(void **state)
{
	static const uint8_t set_alternate_1[8] = {0x01, 11, 1};
	uint8_t iu[32] = {1, [3] = 9, [16] = 0x12, [20] = 96}, answer[96];
	int status;

	(void)state;
	raw_import(fd);
	raw_submit(fd, 1, 0, false, set_alternate_1, NULL, 0);
	raw_answer(fd, USBIP_RET_SUBMIT, 1, false, NULL, &status);
	assert_int_equal(status, 0);
	raw_submit(fd, 2, 3, true, NULL, NULL, 96);
	raw_submit(fd, 3, 3, true, NULL, NULL, 96);
	raw_submit(fd, 4, 4, false, NULL, iu, sizeof(iu));
	assert_int_equal(raw_answer(fd, USBIP_RET_SUBMIT, 4, false, NULL, &status), 32);
	assert_int_equal(raw_answer(fd, USBIP_RET_SUBMIT, 2, true, answer, &status), 4);
	assert_memory_equal(answer, "\x06\0\0\x09", 4); /* READ READY */
	raw_submit(fd, 5, 1, true, NULL, NULL, 96);
	assert_int_equal(raw_answer(fd, USBIP_RET_SUBMIT, 5, true, answer, &status), 96);
	assert_memory_equal(answer + 8, "Realtek ", 8);
	assert_int_equal(raw_answer(fd, USBIP_RET_SUBMIT, 3, true, answer, &status), 16);
	assert_int_equal(answer[6], 0);
}

/* vhci-hcd resets its port in silence; the enumeration after it must find a device that answers. */
static void the_first_question_after_a_port_reset_stands_for_the_reset(void **state)
{
	static const uint8_t cdb[16] = {0xE2, [4] = 0x92, [9] = 0x10, [12] = 4}; /* nothing there */
	static const uint8_t get_64[8] = {0x80, 6, 0, 1, 0, 0, 64, 0};
	uint8_t cbw[31], data[64];
	int status;

	(void)state;
	raw_import(fd);
	make_cbw(cbw, cdb, 16, 4, true);
	raw_submit(fd, 1, 2, false, NULL, cbw, 31);
	assert_int_equal(raw_answer(fd, USBIP_RET_SUBMIT, 1, false, NULL, &status), 31);
	raw_submit(fd, 2, 0, true, get_device, NULL, 18); /* hung: stays */
	raw_unlink(fd, 3, 2);
	raw_answer(fd, USBIP_RET_UNLINK, 3, false, NULL, &status);
	assert_int_equal(status, -ECONNRESET);
	raw_submit(fd, 4, 0, true, get_64, NULL, 64);
	assert_int_equal(raw_answer(fd, USBIP_RET_SUBMIT, 4, true, data, &status), 18);
	make_cbw(cbw, inquiry, 6, 96, true);
	raw_submit(fd, 5, 2, false, NULL, cbw, 31);
	assert_int_equal(raw_answer(fd, USBIP_RET_SUBMIT, 5, false, NULL, &status), 31);
}

static void a_client_that_vanishes_in_mid_transfer_leaves_the_device_usable(void **state)
{
	uint8_t cbw[31], data[96];
	int status;

	(void)state;
	raw_import(fd);
	make_cbw(cbw, inquiry, 6, 96, true);
	raw_submit(fd, 1, 2, false, NULL, cbw, 31);
	raw_answer(fd, USBIP_RET_SUBMIT, 1, false, NULL, &status);
	raw_submit(fd, 2, 2, false, NULL, cbw, 31); /* waits: the device has data to send */
	close(fd);
	link_wait_free(&l);
	fd = link_connect(&l);
	raw_import(fd);
	raw_submit(fd, 1, 2, false, NULL, cbw, 31);
	assert_int_equal(raw_answer(fd, USBIP_RET_SUBMIT, 1, false, NULL, &status), 31);
	raw_submit(fd, 2, 1, true, NULL, NULL, 96);
	assert_int_equal(raw_answer(fd, USBIP_RET_SUBMIT, 2, true, data, &status), 96);
}

/* Each must end the connection, and not the server. */
static void malformed_messages_end_the_connection(void **state)
{
	static const struct {
		unsigned at;
		uint32_t value;
	} wrong[] = {
	        {URB_COMMAND, 5},
	        {URB_DEVID, 1},
	        {URB_DIRECTION, 2},
	        {URB_LENGTH, 0x7FFFFFFF},
	        {URB_LENGTH, 0xFFFFFFFF},
	        {URB_PACKETS, 1},
	};

	(void)state;
	close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		uint8_t h[URB_HEADER_BYTES] = {0};

		link_wait_free(&l);
		struct usb_pipe *p = link_open(&l); /* proves that the one before has ended well */

		p->ops->close(p);
		link_wait_free(&l);
		fd = link_connect(&l);
		raw_import(fd);
		put_be32(h + URB_COMMAND, USBIP_CMD_SUBMIT);
		put_be32(h + URB_DEVID, 0x10002);
		put_be32(h + wrong[i].at, wrong[i].value);
		raw_send(fd, h, sizeof(h));
		assert_true(raw_closed(fd));
		close(fd);
	}
	fd = link_connect(&l);
}

static void foreign_protocols_are_hung_up_on(void **state)
{
	static const char *const greeting[] = {
	        "GET / HTTP/1.1\r\n\r\n", "\x01\x06\x80\x05\0\0\0\0", "\x01\x11\x80\x99\0\0\0\0"};
	static const size_t len[] = {18, 8, 8};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(greeting); i++) {
		int other = link_connect(&l);

		raw_send(other, greeting[i], len[i]);
		assert_true(raw_closed(other));
		close(other);
	}
}

static void a_message_in_single_bytes_is_the_same_message(void **state)
{
	uint8_t m[OP_HEADER_BYTES + DEV_BUSID_BYTES] = {
	        1, 0x11, 0x80, 3, 0, 0, 0, 0, '1', '-', '1'};
	uint8_t reply[OP_HEADER_BYTES + DEV_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(m); i++)
		raw_send(fd, m + i, 1);
	raw_receive(fd, reply, sizeof(reply));
	assert_int_equal(get_be32(reply + OP_STATUS), OP_STATUS_OK);
}

static void a_path_somebody_serves_is_not_taken_and_a_dead_one_is(void **state)
{
	const struct venc_options opt = {.threads = 1, .vram_bytes = 64u << 20};
	struct server *other;
	char dead[80];

	(void)state;
	assert_int_equal(server_new(&other, &opt), 0);
	assert_int_equal(server_listen_unix(other, l.path), -EADDRINUSE);
	snprintf(dead, sizeof(dead), "%s-dead", l.path);
	assert_int_equal(server_listen_unix(other, dead), 0);
	/* a server that was killed leaves such a file: a link keeps it past server_free */
	char kept[96];

	snprintf(kept, sizeof(kept), "%s-kept", l.path);
	assert_int_equal(link(dead, kept), 0);
	server_free(other);
	assert_int_equal(server_new(&other, &opt), 0);
	assert_int_equal(server_listen_unix(other, kept), 0);
	server_free(other);
	assert_int_equal(access(kept, F_OK), -1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(the_list_describes_the_enclosure_then_the_connection_ends),
	        TEST(a_device_in_use_is_not_listed),
	        cmocka_unit_test_setup_teardown(
	                superspeed_descriptors_have_companions_and_no_qualifier, setup_super,
	                teardown),
	        TEST(an_in_queued_first_waits_for_its_data),
	        TEST(a_waiting_in_can_be_unlinked_and_takes_no_data_afterwards),
	        TEST(a_short_read_is_an_error_only_when_asked_to_be),
	        TEST(an_endpoint_that_is_not_there_is_enoent),
	        TEST(uas_runs_over_its_own_pipes_once_selected),
	        TEST(the_first_question_after_a_port_reset_stands_for_the_reset),
	        TEST(a_client_that_vanishes_in_mid_transfer_leaves_the_device_usable),
	        TEST(malformed_messages_end_the_connection),
	        TEST(foreign_protocols_are_hung_up_on),
	        TEST(a_message_in_single_bytes_is_the_same_message),
	        TEST(a_path_somebody_serves_is_not_taken_and_a_dead_one_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
