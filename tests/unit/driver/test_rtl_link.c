/* test_rtl_link.c - what the driver knows of the PCIe link (bridge.md 2.12, 2.13), and which
 * firmware it takes (bridge.md 5.3). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "device/bridge/rtl921x_priv.h"
#include "device/bytes.h"
#include "device/core/rx580_priv.h"
#include "device/log.h"
#include "helper_pipe.h"

#define BASE 0xF0000000u /* bridge.md 2.14 */

static char log_text[8192];

static void keep_log(void *ctx, enum log_level level, const char *line, int len)
{
	(void)ctx, (void)level, (void)len;
	strncat(log_text, line, sizeof(log_text) - strlen(log_text) - 1);
}

static struct bridge *open_bridge(struct tap **tap, const char *options, int expect)
{
	const struct bridge_hooks none = {0};
	struct bridge *b = NULL;
	struct scsi *s;

	log_text[0] = '\0';
	*tap = tap_open(options);
	tap_record(*tap, true);
	assert_int_equal(scsi_bot_new(&s, &(*tap)->pipe), 0);
	assert_int_equal(bridge_open(&b, s, &none), expect);
	if (expect)
		scsi_free(s);
	return b;
}

static struct bridge_info info_of(struct bridge *b)
{
	struct bridge_info info;

	b->ops->read_info(b, &info);
	return info;
}

/* Port control as if the link were down, while *ctx is true. */
static int take_link_down(void *ctx, const uint8_t cbw[31], uint8_t *data, int n)
{
	if (*(bool *)ctx && cbw[19] == RTL_READ_REGISTER && n == 4 &&
	        get_le32(cbw + 23) == RTL_PORT_CONTROL)
		data[3] &= (uint8_t)~(RTL_PORT_LINK_UP >> 24);
	return n;
}

static void the_root_complex_tells_speed_and_width(void **state)
{
	struct usb_link_stats s;
	struct tap *tap;
	struct bridge *b = open_bridge(&tap, "threads=1,vram=64", 0);

	(void)state;
	assert_true(info_of(b).link.known && info_of(b).link.up); /* from BB */
	assert_int_equal(info_of(b).link.width, 0);
	tap->ncdb = 0;
	assert_int_equal(b->ops->look_at_link(b), 0);
	assert_int_equal(tap->ncdb, 1 + 2 * 4);
	const struct bridge_link l = info_of(b).link;

	assert_int_equal(l.speed, 1);
	assert_int_equal(l.width, 1);
	assert_int_equal(l.max_speed, 3);
	assert_int_equal(l.max_width, 2);
	assert_true(l.port & RTL_PORT_LINK_UP);
	scsi_link_stats(b->scsi, &s);
	assert_int_equal(s.guest_errors, 0);
	bridge_free(b);
}

static void a_heartbeat_notices_that_the_link_went_down(void **state)
{
	struct tap *tap;
	struct bridge *b = open_bridge(&tap, "threads=1,vram=64", 0);
	bool down = true;

	(void)state;
	tap->on_in = take_link_down;
	tap->ctx = &down;
	assert_true(info_of(b).link.up);
	assert_int_equal(b->ops->heartbeat(b), 0);
	assert_false(info_of(b).link.up);
	assert_non_null(strstr(log_text, "no longer up"));
	down = false;
	assert_int_equal(b->ops->heartbeat(b), 0);
	assert_true(info_of(b).link.up);
	bridge_free(b);
}

static int stay_busy(void *ctx, const uint8_t cbw[31], uint8_t *data, int n)
{
	(void)ctx;
	if (cbw[19] == RTL_READ_REGISTER && n == 4 && get_le32(cbw + 23) == 0xB3310100u)
		data[0] |= 0x80;
	return n;
}

static void refusals_unlocks_and_timeouts_are_counted(void **state)
{
	struct tap *tap;
	struct bridge *b = open_bridge(&tap, "threads=1,vram=64,firmware=1.32.16", 0);
	uint8_t byte;

	(void)state;
	assert_int_equal(info_of(b).refusals, 0);
	assert_int_equal(
	        rtl_exec((struct rtl921x *)b, RTL_OP_READ, RTL_QUIRKS, 0, &byte, 1, false), -EIO);
	assert_int_equal(info_of(b).refusals, 1);
	assert_int_equal(info_of(b).unlocks, 0);
	tap->on_in = stay_busy;
	assert_int_equal(b->ops->mem_write32(b, BASE, 1), -ETIMEDOUT);
	assert_int_equal(info_of(b).tlp_timeouts, 1);
	bridge_free(b);
}

static void each_analysed_firmware_brings_the_card_up(void **state)
{
	static const char *const versions[] = {"1.29.391", "1.32.16", "1.32.49", "1.32.87"};
	const struct rx_options opt = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		char options[64];
		struct rx580 *rx = NULL;
		struct rx_info info;

		snprintf(options, sizeof(options), "threads=1,vram=512,firmware=%s", versions[i]);
		log_text[0] = '\0';
		assert_int_equal(rx_open_on(&rx, &tap_open(options)->pipe, &opt), 0);
		rx_read_info(rx, &info);
		assert_string_equal(info.bridge_firmware, versions[i]);
		assert_int_equal(info.guest_errors, 0);
		assert_int_equal(info.state, RX_READY);
		assert_null(strstr(log_text, "not analysed"));
		assert_true(info.link.known && info.link.up);
		assert_int_equal(info.link.speed, 1);
		rx_close(rx);
	}
}

/* bridge.md 2.14 step 4: field 2 is written to whatever is found */
static void the_firmware_puts_more_payload_than_the_card_can_take(void **state)
{
	struct tap *tap;
	struct bridge *b = open_bridge(&tap, "threads=1,vram=64", 0);
	uint32_t capabilities, control;

	(void)state;
	assert_int_equal(b->ops->cfg_read(b, 0x58 + 4, 4, &capabilities), 0);
	assert_int_equal(b->ops->cfg_read(b, 0x58 + 8, 2, &control), 0);
	assert_int_equal(128 << (capabilities & 7), 256);
	assert_int_equal(128 << (control >> 5 & 7), 512);
	bridge_free(b);
}

static void an_unknown_firmware_is_used_with_a_warning(void **state)
{
	struct tap *tap;
	struct bridge *b = open_bridge(&tap, "threads=1,vram=64,firmware=1.35.2", 0);

	(void)state;
	assert_string_equal(info_of(b).firmware, "1.35.2");
	assert_non_null(strstr(log_text, "firmware 1.35.2 was not analysed"));
	bridge_free(b);
}

static void the_golden_image_is_refused_in_words(void **state)
{
	struct tap *tap;

	(void)state;
	open_bridge(&tap, "threads=1,vram=64,firmware=4.30.23", -ENODEV);
	assert_non_null(strstr(log_text, "fallback firmware 4.30.23"));
	assert_non_null(strstr(log_text, "updater"));
	assert_null(strstr(log_text, "guest error"));
}

static void words_that_are_no_option_are_refused(void **state)
{
	static const char *const bad[] = {"firmware=newest", "firmware=1.2",
	        "firmware=", "firmware=1.32.49.1.32.49", "engine=", "engine=fast", "engine=burst+"};
	struct usb_pipe *p = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		print_message("%s\n", bad[i]);
		assert_int_equal(usb_virtual_open(&p, bad[i]), -EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_root_complex_tells_speed_and_width),
	        cmocka_unit_test(a_heartbeat_notices_that_the_link_went_down),
	        cmocka_unit_test(refusals_unlocks_and_timeouts_are_counted),
	        cmocka_unit_test(each_analysed_firmware_brings_the_card_up),
	        cmocka_unit_test(the_firmware_puts_more_payload_than_the_card_can_take),
	        cmocka_unit_test(an_unknown_firmware_is_used_with_a_warning),
	        cmocka_unit_test(the_golden_image_is_refused_in_words),
	        cmocka_unit_test(words_that_are_no_option_are_refused),
	};

	rx_log_set_sink(keep_log, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
