/* test_rtl_port.c - many values to one register by the raw engine: they all arrive, in order, at
 * two commands each; a slot that is not the expected one ends it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/bridge/rtl921x_priv.h"
#include "device/bytes.h"
#include "device/regs/regs.h"
#include "helper_pipe.h"

#define BAR5 0xE0040000u /* bridge.md 2.14 */
#define PORT (BAR5 + REG_SCRATCH_REG0)

#define STATUS 0xB3310100u /* bridge.md 2.11 */

struct setup {
	struct tap *tap;
	struct scsi *scsi;
	struct bridge *b;
	unsigned lies; /* so many more looks at the status show another slot */
	uint32_t word[256];
	size_t words;
};

static int forge(void *ctx, const uint8_t cbw[31], uint8_t *data, int n)
{
	struct setup *s = ctx;

	if (n == 4 && s->lies && cbw[15] == RTL_OP_READ && cbw[19] == RTL_READ_REGISTER &&
	        get_le32(cbw + 23) == STATUS) {
		s->lies--;
		data[0] ^= 0x08;
	}
	return n;
}

static int open_bridge(void **state)
{
	const struct bridge_hooks none = {0};
	struct setup *s = calloc(1, sizeof(*s));

	s->tap = tap_open("threads=1,vram=64");
	s->tap->ctx = s;
	s->tap->on_in = forge;
	*state = s;
	if (scsi_bot_new(&s->scsi, &s->tap->pipe) || bridge_open(&s->b, s->scsi, &none))
		return -1;
	return s->b->ops->cfg_write(s->b, 4, 2, 2); /* memory decode on */
}

static int close_bridge(void **state)
{
	struct setup *s = *state;

	bridge_free(s->b);
	free(s);
	return 0;
}

static struct usb_link_stats stats(struct setup *s)
{
	struct usb_link_stats now;

	scsi_link_stats(s->scsi, &now);
	return now;
}

static void fill(uint32_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		values[i] = 0xA5000000u + (uint32_t)i * 3;
}

static void last_value_is_the_last_sent(void **state)
{
	static const size_t counts[] = {1, 2, 3, 4, 5, 63, 64, 65, 255, 256, 257, 1000};
	static uint32_t values[1000];
	struct setup *s = *state;
	uint32_t value;

	fill(values, ARRAY_SIZE(values));
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		assert_int_equal(s->b->ops->mem_write_port(s->b, PORT, values, counts[i]), 0);
		assert_int_equal(s->b->ops->mem_read32(s->b, PORT, &value), 0);
		assert_int_equal(value, values[counts[i] - 1]);
	}
	assert_int_equal(stats(s).guest_errors, 0);
}

/* catch_data - the words put into the slots' buffers. */
static void catch_data(void *ctx, const uint8_t cbw[31], uint8_t *data, size_t len)
{
	struct setup *s = ctx;
	uint32_t at = get_le32(cbw + 23);

	if (len == 4 && cbw[15] == RTL_OP_WRITE && at >= RTL_ENGINE_DATA &&
	        (at - RTL_ENGINE_DATA) % 0x80 == 0 && s->words < ARRAY_SIZE(s->word))
		s->word[s->words++] = get_le32(data);
}

static void values_go_out_in_order_in_two_commands_each(void **state)
{
	uint32_t values[256];
	struct setup *s = *state;
	struct usb_link_stats before = stats(s), after;

	fill(values, ARRAY_SIZE(values));
	s->tap->on_out = catch_data;
	assert_int_equal(s->b->ops->mem_write_port(s->b, PORT, values, 256), 0);
	after = stats(s);
	assert_int_equal(after.tlps - before.tlps, 256 + 1); /* and the canary */
	assert_in_range(after.commands - before.commands, 512, 512 + 24);
	assert_int_equal(s->words, 256);
	assert_memory_equal(s->word, values, sizeof(values));
}

static void other_users_of_the_engine_do_not_disturb(void **state)
{
	static uint32_t values[70];
	struct setup *s = *state;
	uint32_t value;

	fill(values, ARRAY_SIZE(values));
	for (uint32_t i = 0; i < 9; i++) {
		assert_int_equal(s->b->ops->mem_write_port(s->b, PORT, values, 61 + i), 0);
		assert_int_equal(s->b->ops->cfg_read(s->b, 0, i % 2 ? 4 : 2, &value), 0);
		assert_int_equal(s->b->ops->mem_write32(s->b, PORT + 4, i), 0);
		assert_int_equal(s->b->ops->mem_read32(s->b, PORT + 4, &value), 0);
		assert_int_equal(value, i);
		assert_int_equal(s->b->ops->mem_read32(s->b, PORT, &value), 0);
		assert_int_equal(value, values[60 + i]);
	}
	assert_int_equal(stats(s).guest_errors, 0);
}

static void one_misread_is_nothing_two_are_the_slow_way(void **state)
{
	static uint32_t values[128];
	struct setup *s = *state;
	struct rtl921x *r = (struct rtl921x *)s->b;
	uint32_t value;

	fill(values, ARRAY_SIZE(values));
	assert_int_equal(s->b->ops->mem_write_port(s->b, PORT, values, 8), 0);
	s->lies = 1;
	assert_int_equal(s->b->ops->mem_write_port(s->b, PORT, values, 128), 0);
	assert_false(r->engine.literal_only);
	s->lies = 2; /* before the first value: nothing is in doubt yet */
	assert_int_equal(s->b->ops->mem_write_port(s->b, PORT, values, 16), 0);
	assert_true(r->engine.literal_only);
	assert_int_equal(s->b->ops->mem_read32(s->b, PORT, &value), 0);
	assert_int_equal(value, values[15]);
	assert_int_equal(stats(s).guest_errors, 0);
}

/* forge_later - the first look passes, the next two show another slot. */
static unsigned passed;

static int forge_later(void *ctx, const uint8_t cbw[31], uint8_t *data, int n)
{
	if (n == 4 && cbw[15] == RTL_OP_READ && cbw[19] == RTL_READ_REGISTER &&
	        get_le32(cbw + 23) == STATUS && passed++ >= 1 && passed <= 3)
		data[0] ^= 0x08;
	(void)ctx;
	return n;
}

static void doubt_in_the_middle_is_reported(void **state)
{
	static uint32_t values[128];
	struct setup *s = *state;
	uint32_t value;

	fill(values, ARRAY_SIZE(values));
	passed = 0;
	s->tap->on_in = forge_later;
	assert_int_equal(s->b->ops->mem_write_port(s->b, PORT, values, 128), -EAGAIN);
	/* and from now on every value goes by itself */
	assert_int_equal(s->b->ops->mem_write_port(s->b, PORT, values, 128), 0);
	assert_int_equal(s->b->ops->mem_read32(s->b, PORT, &value), 0);
	assert_int_equal(value, values[127]);
	assert_int_equal(stats(s).guest_errors, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_bridge, close_bridge)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(last_value_is_the_last_sent),
	        TEST(values_go_out_in_order_in_two_commands_each),
	        TEST(other_users_of_the_engine_do_not_disturb),
	        TEST(one_misread_is_nothing_two_are_the_slow_way),
	        TEST(doubt_in_the_middle_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
