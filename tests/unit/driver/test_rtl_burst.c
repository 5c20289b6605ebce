/* test_rtl_burst.c - bulk writes by the raw engine where it can do more than the firmware asks of
 * it (bridge.md 2.11, K6), and what they cost on the link. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/bridge/rtl921x_priv.h"
#include "device/bytes.h"
#include "helper_pipe.h"

#define BASE 0xF0000000u /* bridge.md 2.14 */
#define AT   (BASE + 0x100000u)
#define BULK (64u << 10)

struct setup {
	struct tap *tap;
	struct scsi *scsi;
	struct bridge *b;
	uint8_t out[BULK], back[BULK];
};

static int open_with(void **state, const char *options)
{
	const struct bridge_hooks none = {0};
	struct setup *s = calloc(1, sizeof(*s));

	s->tap = tap_open(options);
	for (unsigned i = 0; i < BULK; i++)
		s->out[i] = (uint8_t)(i * 7 + i / 256 + 1);
	*state = s;
	return scsi_bot_new(&s->scsi, &s->tap->pipe) || bridge_open(&s->b, s->scsi, &none);
}

static int open_able(void **state)
{
	return open_with(state, "threads=1,vram=64,engine=burst+bytes");
}

static int open_plain(void **state)
{
	return open_with(state, "threads=1,vram=64");
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

static void write_and_compare(struct setup *s, uint32_t skip, uint32_t len)
{
	assert_int_equal(s->b->ops->mem_write(s->b, AT + skip, s->out, len), 0);
	assert_int_equal(s->b->ops->mem_read(s->b, AT + skip, s->back, len), 0);
	assert_memory_equal(s->back, s->out, len);
}

static void every_alignment_and_length_arrives(void **state)
{
	static const uint32_t lens[] = {1, 4, 255, 256, 257, 300, 495, 496, 501, 504, 1000, 4095,
	        4096, 4097, 4101, 8196, 10000};
	struct setup *s = *state;
	uint8_t edge[2];

	rtl921x_use_burst(s->b, 31);
	for (uint32_t skip = 0; skip < 4; skip++)
		for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
			memset(s->back, 0, 2);
			assert_int_equal(
			        s->b->ops->mem_write(s->b, AT + skip + lens[i], s->back, 2), 0);
			write_and_compare(s, skip, lens[i]);
			assert_int_equal(
			        s->b->ops->mem_read(s->b, AT + skip + lens[i], edge, 2), 0);
			assert_int_equal(get_le16(edge), 0); /* and not a byte more */
		}
	assert_int_equal(stats(s).guest_errors, 0);
}

static void bursts_mix_with_other_users_of_the_engine(void **state)
{
	struct setup *s = *state;
	uint32_t value;

	rtl921x_use_burst(s->b, 16);
	for (uint32_t i = 0; i < 12; i++) {
		write_and_compare(s, 4 * i, 700 + 64 * i);
		assert_int_equal(s->b->ops->cfg_read(s->b, 0, i % 2 ? 4 : 2, &value), 0);
		assert_int_equal(s->b->ops->mem_write32(s->b, AT + BULK, i), 0);
		assert_int_equal(s->b->ops->mem_read32(s->b, AT + BULK, &value), 0);
		assert_int_equal(value, i);
	}
	assert_int_equal(stats(s).guest_errors, 0);
}

/* bridge.h: the last byte lands last; and never by a TLP that carries anything else */
static void the_last_byte_is_sent_by_itself_at_the_end(void **state)
{
	struct setup *s = *state;

	rtl921x_use_burst(s->b, 31);
	for (uint32_t len = 496; len < 504; len++) {
		tap_record(s->tap, true);
		assert_int_equal(s->b->ops->mem_write(s->b, AT, s->out, len), 0);
		const uint8_t *last = s->tap->cdb[s->tap->ncdb - 1];

		assert_int_equal(last[4], RTL_MEM_WRITE);
		assert_int_equal(get_le32(last + 8) + get_le32(last + 12), AT - BASE + len);
		assert_int_not_equal(get_le32(last + 12), 4);
	}
}

static uint64_t cost(struct setup *s, uint64_t *commands, uint64_t *tlps)
{
	struct usb_link_stats before = stats(s), after;

	assert_int_equal(s->b->ops->mem_write(s->b, AT, s->out, BULK), 0);
	after = stats(s);
	*commands = after.commands - before.commands;
	*tlps = after.tlps - before.tlps;
	return after.model_ns - before.model_ns;
}

static void bulk_costs_a_third_of_the_modelled_time(void **state)
{
	struct setup *s = *state;
	uint64_t commands, tlps, plain = cost(s, &commands, &tlps);

	print_message("64 KiB by E3/34: %.2f commands and %.0f TLPs a KiB, %.1f ms\n",
	        (double)commands / 64, (double)tlps / 64, (double)plain / 1e6);
	assert_int_equal(tlps, BULK);
	rtl921x_use_burst(s->b, 31);
	uint64_t burst = cost(s, &commands, &tlps);

	print_message("64 KiB in bursts: %.2f commands and %.0f TLPs a KiB, %.1f ms\n",
	        (double)commands / 64, (double)tlps / 64, (double)burst / 1e6);
	assert_true(commands <= 7 * 64); /* 3 for 496 bytes, and whatever 4 KiB pages cost */
	assert_true(tlps <= 10 * 64);
	assert_true(3 * burst < plain);
	assert_int_equal(stats(s).guest_errors, 0);
}

static void short_writes_stay_one_command(void **state)
{
	struct setup *s = *state;

	rtl921x_use_burst(s->b, 31);
	tap_record(s->tap, true);
	assert_int_equal(s->b->ops->mem_write(s->b, AT, s->out, 255), 0);
	assert_int_equal(s->tap->ncdb, 1);
}

static void no_burst_without_the_ability(void **state)
{
	struct setup *s = *state;
	struct bridge_info info;

	tap_record(s->tap, true);
	assert_int_equal(s->b->ops->mem_write(s->b, AT, s->out, 4096), 0);
	assert_int_equal(s->tap->ncdb, 1);
	for (unsigned bad = 0; bad < 64; bad += bad ? 31 : 1) { /* 0, 1, 32, 63 */
		rtl921x_use_burst(s->b, bad);
		s->b->ops->read_info(s->b, &info);
		assert_int_equal(info.ability_engine_burst, 0);
	}
}

/* A slot that is not the predicted one: our account is wrong, and nothing is sent twice. */
static int lie_about_the_slot(void *ctx, const uint8_t cbw[31], uint8_t *data, int n)
{
	unsigned *times = ctx;

	if (cbw[19] == RTL_READ_REGISTER && get_le32(cbw + 23) == 0xB3310100u && n == 4 && *times) {
		--*times;
		data[0] ^= 0x08;
	}
	return n;
}

static void a_mispredicted_slot_ends_the_bursts(void **state)
{
	struct setup *s = *state;
	unsigned times = 0;

	s->tap->on_in = lie_about_the_slot;
	s->tap->ctx = &times;
	rtl921x_use_burst(s->b, 31);
	write_and_compare(s, 0, 4096);
	times = 2; /* a surprise is looked at twice */
	assert_int_equal(rtl_burst_bytes((struct rtl921x *)s->b, AT, 4096), 4088);
	s->b->ops->mem_write(s->b, AT, s->out, 4096);
	assert_int_equal(rtl_burst_bytes((struct rtl921x *)s->b, AT, 4096), 0);
	s->tap->on_in = NULL;
	write_and_compare(s, 0, 4096);
}

static void byte_stores_are_told_from_their_absence(void **state)
{
	struct setup *s = *state;
	bool ok = false;

	assert_int_equal(rtl921x_byte_stores(s->b, &ok), 0);
	assert_true(ok);
	assert_int_equal(stats(s).guest_errors, 0);
	assert_int_equal(s->b->ops->mem_write32(s->b, AT, 0x12345678), 0); /* words put anew */
	assert_int_equal(stats(s).guest_errors, 0);
}

static void a_plain_bridge_has_no_byte_stores(void **state)
{
	struct setup *s = *state;
	bool ok = true;

	assert_int_equal(rtl921x_byte_stores(s->b, &ok), 0);
	assert_false(ok);
}

static void wide_addresses_go_through_w3(void **state)
{
	struct setup *s = *state;
	uint32_t value = 1;

	assert_int_equal(rtl921x_write_wide(s->b, AT, 0xABCD1234), 0);
	assert_int_equal(rtl921x_read_wide(s->b, AT, &value), 0);
	assert_int_equal(value, 0xABCD1234);
	assert_int_equal(rtl921x_read_wide(s->b, 1ull << 32 | AT, &value), 0);
	assert_int_equal(value, 0);                               /* nobody there */
	assert_int_equal(s->b->ops->mem_write32(s->b, AT, 5), 0); /* w3 back to 0 */
	assert_int_equal(s->b->ops->mem_read32(s->b, AT, &value), 0);
	assert_int_equal(value, 5);
	assert_int_equal(stats(s).guest_errors, 0);
}

#define ABLE(f)  cmocka_unit_test_setup_teardown(f, open_able, close_bridge)
#define PLAIN(f) cmocka_unit_test_setup_teardown(f, open_plain, close_bridge)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        ABLE(every_alignment_and_length_arrives),
	        ABLE(bursts_mix_with_other_users_of_the_engine),
	        ABLE(the_last_byte_is_sent_by_itself_at_the_end),
	        ABLE(bulk_costs_a_third_of_the_modelled_time),
	        ABLE(short_writes_stay_one_command),
	        PLAIN(no_burst_without_the_ability),
	        ABLE(a_mispredicted_slot_ends_the_bursts),
	        ABLE(byte_stores_are_told_from_their_absence),
	        PLAIN(a_plain_bridge_has_no_byte_stores),
	        ABLE(wide_addresses_go_through_w3),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
