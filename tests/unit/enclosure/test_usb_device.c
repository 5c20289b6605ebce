/* Endpoint 0, descriptors, resets and removal: bridge.md 1.1, 1.2, 5.1, 5.5. */
#include <errno.h>
#include <string.h>

#include "device/bytes.h"
#include "tests/unit/enclosure/helper_card.h"
#include "tests/unit/enclosure/helper_host.h"

static int get_descriptor(struct venc *e, uint8_t type, uint8_t index, void *out, uint16_t room)
{
	return venc_control(e, 0x80, 6, (uint16_t)(type << 8 | index), 0, out, room);
}

static void device_descriptor_names_an_rtl9210_at_high_speed(void **state)
{
	struct venc *e = host_new();
	uint8_t d[64];

	(void)state;
	assert_int_equal(get_descriptor(e, 1, 0, d, sizeof(d)), 18);
	assert_int_equal(get_le16(d + 2), 0x0210);
	assert_int_equal(d[7], 64);
	assert_int_equal(get_le16(d + 8), 0x0BDA);
	assert_int_equal(get_le16(d + 10), 0x9210);
	assert_int_equal(get_descriptor(e, 1, 0, d, 8), 8);
	assert_int_equal(get_descriptor(e, 3, 9, d, sizeof(d)), -EPIPE);
	venc_free(e);
}

/* Collect "class/subclass/protocol, endpoints and pipe usages" of each alternate setting. */
static void configuration_lists_bot_and_uas_with_pipe_usages(void **state)
{
	static const uint8_t expected[] = {
	        0x50, 0x81, 0x02, 0x62, 0x81, 3, 0x02, 4, 0x83, 2, 0x04, 1};
	struct venc *e = host_new();
	uint8_t d[256], got[sizeof(expected)];
	int total = get_descriptor(e, 2, 0, d, sizeof(d));
	size_t n = 0;

	(void)state;
	assert_int_equal(total, get_le16(d + 2));
	for (int at = 0; at < total; at += d[at]) {
		assert_true(d[at] >= 4 && n < sizeof(got));
		if (d[at + 1] == 4)
			got[n++] = d[at + 7];
		if (d[at + 1] == 5 || d[at + 1] == 0x24)
			got[n++] = d[at + 2];
		if (d[at + 1] == 5)
			assert_int_equal(get_le16(d + at + 4), 512);
	}
	assert_int_equal(n, sizeof(expected));
	assert_memory_equal(got, expected, n);
	venc_free(e);
}

static void class_requests_answer(void **state)
{
	struct venc *e = host_new();
	uint8_t luns = 9;

	(void)state;
	assert_int_equal(venc_control(e, 0xA1, 0xFE, 0, 0, &luns, 1), 1);
	assert_int_equal(luns, 0);
	assert_int_equal(venc_control(e, 0x21, 0xFF, 0, 1, NULL, 0), -EPIPE);
	assert_int_equal(venc_control(e, 0x21, 0xFF, 1, 0, NULL, 0), -EPIPE);
	assert_int_equal(host_class_reset(e), 0);
	assert_int_equal(venc_control(e, 0xC0, 0x99, 0, 0, &luns, 1), -EPIPE);
	venc_free(e);
}

static void endpoint_halt_can_be_set_read_and_cleared(void **state)
{
	struct venc *e = host_new();
	uint8_t status[2], csw[13];

	(void)state;
	assert_int_equal(venc_control(e, 0x02, 3, 0, 0x81, NULL, 0), 0);
	assert_int_equal(venc_control(e, 0x82, 0, 0, 0x81, status, 2), 2);
	assert_int_equal(status[0], 1);
	assert_int_equal(venc_bulk_in(e, csw, 13), -EPIPE);
	assert_int_equal(host_clear_halt(e, 0x81), 0);
	assert_int_equal(venc_control(e, 0x82, 0, 0, 0x81, status, 2), 2);
	assert_int_equal(status[0], 0);
	assert_int_equal(host_clear_halt(e, 0x83), -EPIPE);
	venc_free(e);
}

static int alternate(struct venc *e)
{
	uint8_t alt = 0xEE;

	assert_int_equal(venc_control(e, 0x81, 10, 0, 0, &alt, 1), 1);
	return alt;
}

static void alternate_setting_1_brings_its_endpoints_and_leaves_with_a_port_reset(void **state)
{
	static const uint8_t sync[10] = {0x35};
	struct venc *e = host_new();
	uint8_t byte;

	(void)state;
	assert_int_equal(venc_pipe_in(e, 0x83, &byte, 1), -ENOENT);
	assert_int_equal(venc_control(e, 0x01, 11, 1, 0, NULL, 0), 0);
	assert_int_equal(alternate(e), 1);
	assert_int_equal(venc_pipe_in(e, 0x83, &byte, 1), -ETIMEDOUT);
	assert_int_equal(host_clear_halt(e, 0x83), 0);
	assert_int_equal(host_class_reset(e), -EPIPE); /* BOT only */
	assert_int_equal(venc_control(e, 0xA1, 0xFE, 0, 0, &byte, 1), -EPIPE);
	venc_port_reset(e);
	assert_int_equal(alternate(e), 0);
	assert_int_equal(venc_pipe_out(e, 0x04, &byte, 1), -ENOENT);
	assert_int_equal(venc_pipe_out(e, 0x81, &byte, 1), -ENOENT); /* an IN endpoint */
	assert_int_equal(host_command(e, sync, 10, NULL, 0, false).status, CSW_GOOD);
	assert_int_equal(venc_control(e, 0x01, 11, 2, 0, NULL, 0), -EPIPE);
	venc_free(e);
}

static void uas_cannot_be_selected_at_superspeed(void **state)
{
	struct venc *e = host_new_with((struct venc_options){.super_speed = true});

	(void)state;
	assert_int_equal(venc_control(e, 0x01, 11, 0, 0, NULL, 0), 0);
	assert_int_equal(venc_control(e, 0x01, 11, 1, 0, NULL, 0), -EPIPE);
	assert_int_equal(alternate(e), 0);
	venc_free(e);
}

static void an_unconfigured_device_does_not_answer_on_bulk(void **state)
{
	static const uint8_t cdb[10] = {0x35};
	struct venc *e = host_new();

	(void)state;
	assert_int_equal(venc_control(e, 0x00, 9, 0, 0, NULL, 0), 0);
	assert_int_equal(host_cbw(e, cdb, 10, 0, false), -ETIMEDOUT);
	assert_int_equal(venc_control(e, 0x00, 9, 1, 0, NULL, 0), 0);
	assert_int_equal(host_command(e, cdb, 10, NULL, 0, false).status, CSW_GOOD);
	venc_free(e);
}

static void port_reset_clears_halts_and_bot_but_keeps_the_lock_open(void **state)
{
	static const uint8_t sync[10] = {0x35};
	struct venc *e = host_new();
	uint8_t junk[5] = {0};

	(void)state;
	rtl_unlock(e);
	assert_int_equal(venc_bulk_out(e, junk, sizeof(junk)), 5);
	assert_int_equal(venc_bulk_out(e, junk, sizeof(junk)), -EPIPE);
	venc_port_reset(e);
	assert_int_equal(host_command(e, sync, 10, NULL, 0, false).status, CSW_GOOD);
	rtl_out32(e, 0x23, 0xB3200000, 5);
	assert_int_equal(fake_card()->resets, 1);
	venc_free(e);
}

static void port_reset_relocks_when_told_so(void **state)
{
	struct venc *e = host_new_with((struct venc_options){.usb_reset_relocks = true});
	uint8_t dword[4] = {0};

	(void)state;
	rtl_unlock(e);
	venc_port_reset(e);
	assert_int_equal(rtl_out(e, 0x23, 0xB3200000, dword, 4), CSW_FAILED);
	assert_int_equal(host_sense(e), 0x052000);
	venc_free(e);
}

static void a_hung_bridge_answers_nothing_until_port_reset_restarts_it(void **state)
{
	struct venc *e = host_new();
	uint8_t dword[4] = {0};

	(void)state;
	rtl_unlock(e);
	assert_int_equal(rtl_in(e, 0x92, 0x00001000, dword, 4), -ETIMEDOUT);
	assert_int_equal(own_guest_errors(e), 1);
	assert_int_equal(host_class_reset(e), -ETIMEDOUT);
	assert_int_equal(rtl_in(e, 0xA6, 0, dword, 1), -ETIMEDOUT);
	venc_port_reset(e);
	assert_int_equal(rtl_in(e, 0xA6, 0, dword, 1), CSW_GOOD);
	assert_int_equal(rtl_out(e, 0x23, 0xB3200000, dword, 4), CSW_FAILED); /* locked again */
	assert_int_equal(fake_card()->resets, 2);
	assert_int_equal(rtl_in32(e, 0xB3, 0x10), 0xF000000C);
	venc_free(e);
}

static void after_unplug_everything_is_gone_until_plugged_in_again(void **state)
{
	struct venc *e = host_new();
	uint8_t byte;

	(void)state;
	venc_unplug(e);
	assert_int_equal(venc_bulk_out(e, &byte, 1), -ENODEV);
	assert_int_equal(venc_bulk_in(e, &byte, 1), -ENODEV);
	assert_int_equal(host_class_reset(e), -ENODEV);
	venc_port_reset(e);
	assert_int_equal(venc_bulk_in(e, &byte, 1), -ENODEV);
	venc_power_cycle(e);
	assert_int_equal(rtl_in(e, 0xA6, 0, &byte, 1), CSW_GOOD);
	assert_int_equal(byte, 1);
	venc_free(e);
}

static void guest_errors_reach_the_log(void *ctx, bool guest_error, const char *line)
{
	assert_true(guest_error);
	strncpy(ctx, line, 255);
}

static void a_guest_error_is_logged_in_words(void **state)
{
	char line[256] = "";
	struct venc *e = host_new_with(
	        (struct venc_options){.log = guest_errors_reach_the_log, .log_ctx = line});
	uint8_t byte;

	(void)state;
	assert_int_equal(rtl_in(e, 0xA0, 0, &byte, 1), CSW_FAILED);
	assert_string_equal(line, "bridge: forbidden sub-command e2/a0");
	venc_free(e);
}

static void statistics_add_the_card_to_the_enclosure(void **state)
{
	struct venc *e = host_new();
	struct venc_stats s;

	(void)state;
	venc_read_stats(e, &s);
	assert_int_equal(s.guest_errors, FAKE_GUEST_ERRORS);
	assert_int_equal(s.dispatches, FAKE_DISPATCHES);
	assert_int_equal(s.instructions, FAKE_INSTRUCTIONS);
	venc_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(device_descriptor_names_an_rtl9210_at_high_speed),
	        cmocka_unit_test(configuration_lists_bot_and_uas_with_pipe_usages),
	        cmocka_unit_test(class_requests_answer),
	        cmocka_unit_test(endpoint_halt_can_be_set_read_and_cleared),
	        cmocka_unit_test(
	                alternate_setting_1_brings_its_endpoints_and_leaves_with_a_port_reset),
	        cmocka_unit_test(uas_cannot_be_selected_at_superspeed),
	        cmocka_unit_test(an_unconfigured_device_does_not_answer_on_bulk),
	        cmocka_unit_test(port_reset_clears_halts_and_bot_but_keeps_the_lock_open),
	        cmocka_unit_test(port_reset_relocks_when_told_so),
	        cmocka_unit_test(a_hung_bridge_answers_nothing_until_port_reset_restarts_it),
	        cmocka_unit_test(after_unplug_everything_is_gone_until_plugged_in_again),
	        cmocka_unit_test(a_guest_error_is_logged_in_words),
	        cmocka_unit_test(statistics_add_the_card_to_the_enclosure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
