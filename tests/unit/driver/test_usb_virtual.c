/* The virtual enclosure as a bulk pipe: what its options change. bridge.md 1.1, 5.1. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "device/bytes.h"
#include "device/usb/usb.h"

static struct usb_pipe *open_with(const char *options)
{
	struct usb_pipe *p = NULL;

	assert_int_equal(usb_virtual_open(&p, options), 0);
	return p;
}

static void each_bridge_enumerates_under_its_own_ids(void **state)
{
	static const struct {
		const char *options;
		uint16_t vid, pid;
	} cases[] = {{"threads=1,vram=64", 0x0bda, 0x9210},
	        {"threads=1,vram=64,bridge=rtl9210", 0x0bda, 0x9210},
	        {"threads=1,vram=64,bridge=asm2362", 0x174c, 0x2362},
	        {"bridge=asm2464,threads=1,vram=64", 0x174c, 0x2464}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct usb_pipe *p = open_with(cases[i].options);
		struct usb_identity id;

		p->ops->identity(p, &id);
		print_message("%s: %04x:%04x\n", cases[i].options, id.vid, id.pid);
		assert_int_equal(id.vid, cases[i].vid);
		assert_int_equal(id.pid, cases[i].pid);
		p->ops->close(p);
	}
}

static void a_bridge_nobody_plays_is_refused(void **state)
{
	static const char *const bad[] = {
	        "bridge=", "bridge=asm1051", "bridge", "bridge=asm2464,firmware=1.32.49"};
	struct usb_pipe *p = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		print_message("%s\n", bad[i]);
		assert_int_equal(usb_virtual_open(&p, bad[i]), -EINVAL);
	}
	assert_null(p);
}

/* Return: bCSWStatus of TEST UNIT READY */
static uint8_t unit_ready(struct usb_pipe *p)
{
	static const uint8_t cbw[31] = {0x55, 0x53, 0x42, 0x43, [14] = 6};
	uint8_t csw[13] = {0};

	assert_int_equal(p->ops->bulk_out(p, cbw, sizeof(cbw), 100), 31);
	assert_int_equal(p->ops->bulk_in(p, csw, sizeof(csw), 100), 13);
	return csw[12];
}

/* Sense key and ASC of REQUEST SENSE */
static uint16_t sense(struct usb_pipe *p)
{
	static const uint8_t cbw[31] = {
	        0x55, 0x53, 0x42, 0x43, [8] = 18, [12] = 0x80, [14] = 6, [15] = 0x03, [19] = 18};
	uint8_t data[18] = {0}, csw[13];

	assert_int_equal(p->ops->bulk_out(p, cbw, sizeof(cbw), 100), 31);
	assert_int_equal(p->ops->bulk_in(p, data, sizeof(data), 100), 18);
	assert_int_equal(p->ops->bulk_in(p, csw, sizeof(csw), 100), 13);
	return (uint16_t)(data[2] << 8 | data[12]);
}

static void unit_attention_follows_each_port_reset(void **state)
{
	struct usb_pipe *p = open_with("unit-attention,threads=1,vram=64");

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(unit_ready(p), 1);
		assert_int_equal(sense(p), 0x0629);
		assert_int_equal(unit_ready(p), 1);
		assert_int_equal(sense(p), 0x023A); /* no medium, as always */
		assert_int_equal(p->ops->port_reset(p), 0);
	}
	p->ops->close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(each_bridge_enumerates_under_its_own_ids),
	        cmocka_unit_test(a_bridge_nobody_plays_is_refused),
	        cmocka_unit_test(unit_attention_follows_each_port_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
