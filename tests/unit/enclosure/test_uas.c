/* USB Attached SCSI on alternate setting 1, at high speed: bridge.md 1.5, 5.1. */
#include <errno.h>
#include <string.h>

#include "device/bytes.h"
#include "tests/unit/enclosure/helper_card.h"
#include "tests/unit/enclosure/helper_host.h"

enum { SENSE = 3, RESPONSE = 4, READ_READY = 6, WRITE_READY = 7 };

static const uint8_t inquiry[6] = {0x12, 0, 0, 0, 36, 0};
static const uint8_t sync[10] = {0x35};
static const uint8_t version[16] = {0xE2, [4] = 0xA5, [12] = 20}; /* bridge.md 2.8 */
static const uint8_t unlock[16] = {0xE2, [4] = 0x92, [9] = 0x40, [11] = 0xAC, [12] = 0x60};
static const uint8_t scratch[16] = {0xE3, [4] = 0x23, [10] = 0x20, [11] = 0xB3, [12] = 4};

static struct venc *uas_new_with(struct venc_options opt)
{
	struct venc *e = host_new_with(opt);

	assert_int_equal(venc_control(e, 0x01, 11, 1, 0, NULL, 0), 0);
	return e;
}

static struct venc *uas_new(void)
{
	return uas_new_with((struct venc_options){0});
}

static void command_iu(uint8_t iu[32], uint16_t tag, const uint8_t *cdb, size_t len)
{
	memset(iu, 0, 32);
	iu[0] = 1;
	iu[2] = (uint8_t)(tag >> 8);
	iu[3] = (uint8_t)tag;
	memcpy(iu + 16, cdb, len);
}

static void send_with(struct venc *e, uint16_t tag, uint8_t attribute, uint8_t lun,
        const uint8_t *cdb, size_t len)
{
	uint8_t iu[32];

	command_iu(iu, tag, cdb, len);
	iu[4] = attribute;
	iu[9] = lun;
	assert_int_equal(venc_pipe_out(e, 0x04, iu, 32), 32);
}

static void send(struct venc *e, uint16_t tag, const uint8_t *cdb, size_t len)
{
	send_with(e, tag, 0, 0, cdb, len);
}

static void send_task(struct venc *e, uint16_t tag, uint8_t function, uint16_t managed, uint8_t lun)
{
	uint8_t iu[16] = {
	        5, 0, [3] = (uint8_t)tag, [4] = function, [7] = (uint8_t)managed, [9] = lun};

	assert_int_equal(venc_pipe_out(e, 0x04, iu, sizeof(iu)), sizeof(iu));
}

/* The next IU must be of this kind and tag. */
static int want(struct venc *e, uint8_t id, uint16_t tag, uint8_t iu[64])
{
	int n = venc_pipe_in(e, 0x83, iu, 64);

	assert_true(n >= 4);
	assert_int_equal(iu[0], id);
	assert_int_equal(get_be16(iu + 2), tag);
	return n;
}

static void want_good(struct venc *e, uint16_t tag)
{
	uint8_t iu[64];

	assert_int_equal(want(e, SENSE, tag, iu), 16);
	assert_int_equal(iu[6], 0);
	assert_int_equal(get_be16(iu + 14), 0);
}

static void want_check(struct venc *e, uint16_t tag, uint8_t key, uint8_t asc)
{
	uint8_t iu[64];

	assert_int_equal(want(e, SENSE, tag, iu), 16 + 18);
	assert_int_equal(iu[6], 2);
	assert_int_equal(get_be16(iu + 14), 18);
	assert_int_equal(iu[16], 0x70);
	assert_int_equal(iu[18], key);
	assert_int_equal(iu[28], asc);
}

static void want_response(struct venc *e, uint16_t tag, uint8_t code)
{
	uint8_t iu[64];

	assert_int_equal(want(e, RESPONSE, tag, iu), 8);
	assert_int_equal(iu[7], code);
}

static void want_nothing(struct venc *e)
{
	uint8_t iu[64];

	assert_int_equal(venc_pipe_in(e, 0x83, iu, sizeof(iu)), -ETIMEDOUT);
}

static void read_data(struct venc *e, uint16_t tag, void *data, size_t len)
{
	uint8_t iu[64];

	assert_int_equal(want(e, READ_READY, tag, iu), 4);
	assert_int_equal(venc_pipe_in(e, 0x81, data, len), len);
	want_good(e, tag);
}

static void data_in_follows_read_ready_and_status_follows_data(void **state)
{
	struct venc *e = uas_new();
	uint8_t data[512], iu[64];

	(void)state;
	send(e, 0x102, inquiry, 6);
	assert_int_equal(venc_pipe_in(e, 0x81, data, 36), -ETIMEDOUT); /* not announced */
	assert_int_equal(want(e, READ_READY, 0x102, iu), 4);
	want_nothing(e); /* before the data is fetched */
	assert_int_equal(venc_pipe_in(e, 0x81, data, sizeof(data)), 36);
	assert_memory_equal(data + 8, "Realtek RTL9210 ", 16);
	want_good(e, 0x102);
	want_nothing(e);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void data_out_follows_write_ready(void **state)
{
	static const uint8_t value[4] = {0x11, 0x22, 0x33, 0x44};
	static const uint8_t readback[16] = {0xE2, [4] = 0xA2, [10] = 0x20, [11] = 0xB3, [12] = 4};
	struct venc *e = uas_new();
	uint8_t data[0x60], iu[64];

	(void)state;
	send(e, 1, unlock, 16);
	read_data(e, 1, data, 0x60);
	send(e, 2, scratch, 16);
	assert_int_equal(venc_pipe_out(e, 0x02, value, 4), -ETIMEDOUT); /* not announced */
	assert_int_equal(want(e, WRITE_READY, 2, iu), 4);
	want_nothing(e);
	assert_int_equal(venc_pipe_out(e, 0x02, value, 4), 4);
	want_good(e, 2);
	send(e, 3, readback, 16);
	read_data(e, 3, data, 4);
	assert_memory_equal(data, value, 4);
	venc_free(e);
}

static void sense_travels_with_the_status_and_is_not_kept(void **state)
{
	static const uint8_t request_sense[6] = {3, 0, 0, 0, 18, 0};
	static const uint8_t ready[6] = {0};
	struct venc *e = uas_new();
	uint8_t data[18];

	(void)state;
	send(e, 1, ready, 6);
	want_check(e, 1, 2, 0x3A);
	send(e, 2, scratch, 16); /* E3 while locked: refused without a data phase */
	want_check(e, 2, 5, 0x20);
	send(e, 3, request_sense, 6);
	read_data(e, 3, data, 18);
	assert_int_equal(data[2], 0);
	assert_int_equal(data[12], 0);
	venc_free(e);
}

static void commands_in_flight_are_answered_by_tag_in_order(void **state)
{
	struct venc *e = uas_new();
	uint8_t data[36];

	(void)state;
	send(e, 9, inquiry, 6);
	send(e, 4, sync, 10);
	send(e, 7, version, 16);
	send_with(e, 5, 1, 0, sync, 10); /* HEAD OF QUEUE */
	want_good(e, 5);
	read_data(e, 9, data, 36);
	want_good(e, 4);
	read_data(e, 7, data, 20);
	want_nothing(e);
	venc_free(e);
}

static void simple_commands_are_reordered_when_told_so_and_ordered_ones_never(void **state)
{
	struct venc *e = uas_new_with((struct venc_options){.uas_reorders = true});

	(void)state;
	send(e, 1, sync, 10);
	send(e, 2, sync, 10);
	send_with(e, 3, 2, 0, sync, 10); /* ORDERED */
	send(e, 4, sync, 10);
	want_good(e, 2);
	want_good(e, 1);
	want_good(e, 3);
	want_good(e, 4);
	venc_free(e);
}

static void a_tag_in_use_is_refused_and_its_command_goes_on(void **state)
{
	struct venc *e = uas_new();
	uint8_t data[36], iu[64];

	(void)state;
	send(e, 1, inquiry, 6);
	send(e, 1, sync, 10); /* while it waits */
	want_response(e, 1, 0x0A);
	assert_int_equal(want(e, READ_READY, 1, iu), 4);
	send(e, 1, sync, 10); /* while its data waits */
	want_response(e, 1, 0x0A);
	assert_int_equal(venc_pipe_in(e, 0x81, data, 36), 36);
	want_good(e, 1);
	assert_int_equal(own_guest_errors(e), 2);
	venc_free(e);
}

static void more_commands_than_fit_are_told_that_the_set_is_full(void **state)
{
	struct venc *e = uas_new();
	uint8_t iu[64];

	(void)state;
	for (uint16_t tag = 1; tag <= 33; tag++)
		send(e, tag, sync, 10);
	assert_int_equal(want(e, SENSE, 33, iu), 16);
	assert_int_equal(iu[6], 0x28);
	for (uint16_t tag = 1; tag <= 32; tag++)
		want_good(e, tag);
	want_nothing(e);
	venc_free(e);
}

static void the_command_pipe_waits_while_answers_are_not_fetched(void **state)
{
	struct venc *e = uas_new();
	uint8_t iu[32];

	(void)state;
	for (uint16_t tag = 1; tag <= 32; tag++)
		send_task(e, tag, 0x08, 0, 0);
	command_iu(iu, 40, sync, 10);
	assert_int_equal(venc_pipe_out(e, 0x04, iu, 32), -ETIMEDOUT);
	want_response(e, 1, 0);
	assert_int_equal(venc_pipe_out(e, 0x04, iu, 32), 32);
	venc_free(e);
}

static void an_aborted_command_gets_no_status(void **state)
{
	struct venc *e = uas_new();
	uint8_t data[36], iu[64];

	(void)state;
	send(e, 1, inquiry, 6);
	send(e, 2, sync, 10);
	send(e, 3, sync, 10);
	assert_int_equal(want(e, READ_READY, 1, iu), 4);
	send_task(e, 10, 0x01, 1, 0);  /* under way */
	send_task(e, 11, 0x01, 2, 0);  /* waiting */
	send_task(e, 12, 0x01, 99, 0); /* not there: complete all the same */
	want_response(e, 10, 0);
	want_response(e, 11, 0);
	want_response(e, 12, 0);
	assert_int_equal(venc_pipe_in(e, 0x81, data, 36), -ETIMEDOUT);
	want_good(e, 3);
	want_nothing(e);
	venc_free(e);
}

static void resets_empty_the_queue(void **state)
{
	static const uint8_t functions[] = {0x08, 0x10};
	struct venc *e = uas_new();
	uint8_t iu[64];

	(void)state;
	for (size_t i = 0; i < sizeof(functions); i++) {
		send(e, 1, inquiry, 6);
		send(e, 2, sync, 10);
		assert_int_equal(want(e, READ_READY, 1, iu), 4);
		send_task(e, 3, functions[i], 0, 0);
		want_response(e, 3, 0);
		want_nothing(e);
	}
	send(e, 4, sync, 10);
	want_good(e, 4);
	send_task(e, 5, 0x80, 4, 0); /* QUERY TASK */
	want_response(e, 5, 0x04);
	venc_free(e);
}

static void a_command_without_answer_ends_with_its_abortion(void **state)
{
	struct venc *e = uas_new();

	(void)state;
	venc_inject(e, VENC_FAULT_TIMEOUT, 1);
	send(e, 1, sync, 10);
	send(e, 2, sync, 10);
	want_nothing(e);
	want_nothing(e); /* the one behind it waits as well */
	send_task(e, 3, 0x01, 1, 0);
	want_response(e, 3, 0);
	want_good(e, 2);
	venc_free(e);
}

static void other_luns_say_that_they_are_not_there(void **state)
{
	struct venc *e = uas_new();
	uint8_t data[36];

	(void)state;
	send_with(e, 1, 0, 1, inquiry, 6);
	read_data(e, 1, data, 36);
	assert_int_equal(data[0], 0x7F);
	assert_int_equal(own_guest_errors(e), 0);
	send_with(e, 2, 0, 1, version, 16);
	want_check(e, 2, 5, 0x25);
	send_task(e, 3, 0x08, 0, 1);
	want_response(e, 3, 0x09);
	assert_int_equal(own_guest_errors(e), 1);
	venc_free(e);
}

static void malformed_ius_are_answered_in_a_response(void **state)
{
	struct venc *e = uas_new();
	uint8_t iu[36];

	(void)state;
	command_iu(iu, 1, sync, 10);
	assert_int_equal(venc_pipe_out(e, 0x04, iu, 31), 31);
	want_response(e, 1, 2);
	iu[6] = 4; /* four more bytes of CDB */
	assert_int_equal(venc_pipe_out(e, 0x04, iu, 36), 36);
	want_response(e, 1, 2);
	command_iu(iu, 0, sync, 10);
	assert_int_equal(venc_pipe_out(e, 0x04, iu, 32), 32);
	want_response(e, 0, 2);
	command_iu(iu, 7, sync, 10);
	iu[0] = 3;
	assert_int_equal(venc_pipe_out(e, 0x04, iu, 32), 32);
	want_response(e, 7, 2);
	iu[0] = 5;
	assert_int_equal(venc_pipe_out(e, 0x04, iu, 32), 32);
	want_response(e, 7, 2);
	assert_int_equal(own_guest_errors(e), 5);
	venc_free(e);
}

static void an_iu_without_a_tag_halts_the_command_pipe(void **state)
{
	struct venc *e = uas_new();
	uint8_t iu[32];

	(void)state;
	command_iu(iu, 1, sync, 10);
	assert_int_equal(venc_pipe_out(e, 0x04, iu, 3), 3);
	assert_int_equal(venc_pipe_out(e, 0x04, iu, 32), -EPIPE);
	assert_int_equal(host_clear_halt(e, 0x04), 0);
	assert_int_equal(venc_pipe_out(e, 0x04, iu, 32), 32);
	want_good(e, 1);
	venc_free(e);
}

static void data_moves_in_as_many_transfers_as_the_host_likes(void **state)
{
	static const uint8_t flash[16] = {
	        0xE2, [4] = 0x92, [9] = 0x40, [11] = 0xAC, [12] = 0, [13] = 4}; /* 1024 bytes */
	struct venc *e = uas_new();
	uint8_t data[1024], iu[64];

	(void)state;
	send(e, 1, flash, 16);
	assert_int_equal(want(e, READ_READY, 1, iu), 4);
	assert_int_equal(venc_pipe_in(e, 0x81, data, 100), -EOVERFLOW); /* a packet has 512 */
	assert_int_equal(venc_pipe_in(e, 0x81, data, 512), 512);
	assert_int_equal(venc_pipe_in(e, 0x81, data + 512, 512), 512);
	want_good(e, 1);
	assert_int_equal(venc_pipe_in(e, 0x83, iu, 64), -ETIMEDOUT);
	venc_free(e);
}

static void too_little_data_out_is_a_data_phase_error(void **state)
{
	struct venc *e = uas_new();
	uint8_t data[0x60], iu[64];

	(void)state;
	send(e, 1, unlock, 16);
	read_data(e, 1, data, 0x60);
	send(e, 2, scratch, 16);
	assert_int_equal(want(e, WRITE_READY, 2, iu), 4);
	assert_int_equal(venc_pipe_out(e, 0x02, data, 3), 3);
	want_check(e, 2, 0xB, 0x4B);
	assert_int_equal(own_guest_errors(e), 1);
	venc_free(e);
}

static void a_status_buffer_that_is_too_small_overflows(void **state)
{
	struct venc *e = uas_new();
	uint8_t iu[8];

	(void)state;
	send(e, 1, sync, 10);
	assert_int_equal(venc_pipe_in(e, 0x83, iu, sizeof(iu)), -EOVERFLOW);
	venc_free(e);
}

static void a_hung_bridge_answers_no_pipe_until_a_port_reset(void **state)
{
	static const uint8_t nowhere[16] = {0xE2, [4] = 0x92, [9] = 0x10, [12] = 4};
	struct venc *e = uas_new();
	uint8_t iu[32];

	(void)state;
	send(e, 1, nowhere, 16);
	want_nothing(e);
	command_iu(iu, 2, sync, 10);
	assert_int_equal(venc_pipe_out(e, 0x04, iu, 32), -ETIMEDOUT);
	venc_port_reset(e);
	assert_int_equal(venc_control(e, 0x01, 11, 1, 0, NULL, 0), 0);
	send(e, 1, sync, 10);
	want_good(e, 1);
	venc_free(e);
}

static void the_link_model_counts_ius_and_data(void **state)
{
	struct venc *e = uas_new();
	struct venc_stats s;
	uint8_t data[36];

	(void)state;
	send(e, 1, inquiry, 6);
	read_data(e, 1, data, 36);
	venc_read_stats(e, &s);
	assert_int_equal(s.commands, 1);
	assert_int_equal(s.bytes, 32 + 4 + 36 + 16); /* command, READ READY, data, status */
	venc_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(data_in_follows_read_ready_and_status_follows_data),
	        cmocka_unit_test(data_out_follows_write_ready),
	        cmocka_unit_test(sense_travels_with_the_status_and_is_not_kept),
	        cmocka_unit_test(commands_in_flight_are_answered_by_tag_in_order),
	        cmocka_unit_test(simple_commands_are_reordered_when_told_so_and_ordered_ones_never),
	        cmocka_unit_test(a_tag_in_use_is_refused_and_its_command_goes_on),
	        cmocka_unit_test(more_commands_than_fit_are_told_that_the_set_is_full),
	        cmocka_unit_test(the_command_pipe_waits_while_answers_are_not_fetched),
	        cmocka_unit_test(an_aborted_command_gets_no_status),
	        cmocka_unit_test(resets_empty_the_queue),
	        cmocka_unit_test(a_command_without_answer_ends_with_its_abortion),
	        cmocka_unit_test(other_luns_say_that_they_are_not_there),
	        cmocka_unit_test(malformed_ius_are_answered_in_a_response),
	        cmocka_unit_test(an_iu_without_a_tag_halts_the_command_pipe),
	        cmocka_unit_test(data_moves_in_as_many_transfers_as_the_host_likes),
	        cmocka_unit_test(too_little_data_out_is_a_data_phase_error),
	        cmocka_unit_test(a_status_buffer_that_is_too_small_overflows),
	        cmocka_unit_test(a_hung_bridge_answers_no_pipe_until_a_port_reset),
	        cmocka_unit_test(the_link_model_counts_ius_and_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
