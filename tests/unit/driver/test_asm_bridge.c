/* test_asm_bridge.c - ASMedia bridges: the engine's sequence and its cost, what becomes of errors
 * and resets. bridge.md 3.3, 3.4. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "helper_asm.h"

static const struct bridge_hooks none;

static struct bridge *open_up(struct fake *f)
{
	struct bridge *b = NULL;

	assert_int_equal(bridge_open(&b, &f->s, &none), 0);
	assert_non_null(b);
	fake_forget(f);
	return b;
}

static void sent_is(const struct fake *f, const char *const *expected, size_t n)
{
	for (size_t i = 0; i < n || i < f->ncdb; i++) {
		char got[16] = "nothing";

		if (i < f->ncdb)
			snprintf(got, sizeof(got), "%02X %02X %02X%02X", f->cdb[i][0], f->cdb[i][1],
			        f->cdb[i][3], f->cdb[i][4]);
		if (i >= n || strcmp(got, expected[i]) != 0)
			fail_msg("command %zu: expected %s, got %s", i,
			        i < n ? expected[i] : "nothing", got);
	}
}

static void a_read_goes_by_the_defensive_sequence(void **state)
{
	static const char *const first[] = {"E5 00 B210", "E5 10 B218", "E5 00 B21A", "E5 01 B296",
	        "E5 0F B254", "E4 01 B296", "E5 04 B296", "E4 01 B296", "E5 02 B296", "E4 01 B284",
	        "E4 10 B220"};
	static const char *const second[] = {"E5 04 B21B", "E5 01 B296", "E5 0F B254", "E4 01 B296",
	        "E5 04 B296", "E4 01 B296", "E5 02 B296", "E4 01 B284", "E4 10 B220"};
	struct fake *f = fake_new(ASM_236X);
	struct bridge *b = open_up(f);
	uint32_t value = 0;

	(void)state;
	put_le32(f->memory, 0x11223344);
	put_le32(f->memory + 4, 0x55667788);
	/* a configuration read of register 8 of 01:00.0 leaves 05, 0F, 01 00 00 08 there */
	assert_int_equal(b->ops->cfg_read(b, 0x100, 4, &value), 0);
	fake_forget(f);
	assert_int_equal(b->ops->mem_read32(b, FAKE_MEMORY_AT, &value), 0);
	assert_int_equal(value, 0x11223344);
	sent_is(f, first, ARRAY_SIZE(first));
	fake_forget(f);
	assert_int_equal(b->ops->mem_read32(b, FAKE_MEMORY_AT + 4, &value), 0);
	assert_int_equal(value, 0x55667788);
	sent_is(f, second, ARRAY_SIZE(second));
	bridge_free(b);
}

static void sequential_writes_cost_four_commands_and_what_changed(void **state)
{
	static const char *const one[] = {
	        "E5 08 B21B", "E5 01 B296", "E5 0F B254", "E4 01 B296", "E5 04 B296"};
	struct fake *f = fake_new(ASM_246X);
	struct bridge *b = open_up(f);
	uint8_t bytes[64], back[64];

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		fake_forget(f);
		assert_int_equal(b->ops->mem_write32(b, FAKE_MEMORY_AT + 4 * i, 0x12345678), 0);
	}
	sent_is(f, one, ARRAY_SIZE(one)); /* the same data again: nothing of it */
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 37 + 1);
	fake_forget(f);
	assert_int_equal(b->ops->mem_write(b, FAKE_MEMORY_AT, bytes, sizeof(bytes)), 0);
	/* 4 + 4 data + 1 address a dword, and one look at the end */
	assert_true(f->ncdb <= 16 * 9 + 1);
	assert_int_equal(f->writes, 16);
	assert_int_equal(b->ops->mem_read(b, FAKE_MEMORY_AT, back, sizeof(back)), 0);
	assert_memory_equal(back, bytes, sizeof(bytes));
	bridge_free(b);
}

static void data_is_sent_again_after_a_completion(void **state)
{
	struct fake *f = fake_new(ASM_236X);
	struct bridge *b = open_up(f);
	uint32_t value;

	(void)state;
	assert_int_equal(b->ops->mem_write32(b, FAKE_MEMORY_AT, 7), 0);
	assert_int_equal(b->ops->mem_read32(b, FAKE_MEMORY_AT + 8, &value), 0);
	assert_int_equal(b->ops->mem_write32(b, FAKE_MEMORY_AT + 4, 7), 0);
	assert_int_equal(get_le32(f->memory + 4), 7);
	bridge_free(b);
}

static void any_bytes_at_any_address(void **state)
{
	struct fake *f = fake_new(ASM_236X);
	struct bridge *b = open_up(f);
	uint8_t want[FAKE_MEMORY], bytes[24], back[24];

	(void)state;
	memset(f->memory, 0xEE, sizeof(f->memory));
	memset(want, 0xEE, sizeof(want));
	for (unsigned at = 0; at < 4; at++)
		for (unsigned len = 1; len < sizeof(bytes); len++) {
			unsigned to = 64 * len + at;

			for (unsigned i = 0; i < len; i++)
				bytes[i] = (uint8_t)(at * 50 + len + i);
			memcpy(want + to, bytes, len);
			assert_int_equal(b->ops->mem_write(b, FAKE_MEMORY_AT + to, bytes, len), 0);
			/* the last TLP is the one with the last byte */
			assert_int_equal(f->last_addr, (FAKE_MEMORY_AT + to + len - 1) & ~3u);
			assert_int_equal(b->ops->mem_read(b, FAKE_MEMORY_AT + to, back, len), 0);
			assert_memory_equal(back, bytes, len);
		}
	assert_memory_equal(f->memory, want, sizeof(want));
	bridge_free(b);
}

struct yields {
	struct fake *f;
	unsigned n;
};

static void count_yield(void *ctx)
{
	struct yields *y = ctx;

	assert_false(y->f->armed); /* not inside a sequence */
	y->n++;
}

static void long_transfers_let_others_in(void **state)
{
	struct fake *f = fake_new(ASM_246X);
	struct yields y = {.f = f};
	struct bridge *b = open_up(f);
	uint8_t *bytes = calloc(1, 2 * FAKE_MEMORY);

	(void)state;
	b->hooks = (struct bridge_hooks){.yield = count_yield, .ctx = &y};
	assert_int_equal(b->ops->mem_write(b, FAKE_MEMORY_AT, bytes, 4096), 0);
	assert_int_equal(b->ops->mem_read(b, FAKE_MEMORY_AT, bytes, 4096), 0);
	assert_int_equal(y.n, 0);
	assert_int_equal(b->ops->mem_write(b, FAKE_MEMORY_AT, bytes, 2 * FAKE_MEMORY), 0);
	assert_int_equal(y.n, 127);
	free(bytes);
	bridge_free(b);
}

static void addresses_above_4_gib_only_where_the_chip_has_them(void **state)
{
	struct fake *f = fake_new(ASM_236X);
	struct bridge *b = open_up(f);
	uint32_t value = 0;

	(void)state;
	assert_int_equal(b->ops->mem_read32(b, 0x800000000ull + FAKE_MEMORY_AT, &value), -EINVAL);
	assert_int_equal(b->ops->mem_write(b, 0xFFFFFFFF, &value, 2), -EINVAL);
	assert_int_equal(f->ncdb, 0);
	bridge_free(b);
	f = fake_new(ASM_246X);
	b = open_up(f);
	put_le32(f->memory + 16, 0xCAFE1234);
	assert_int_equal(b->ops->mem_read32(b, 0x800000010ull + FAKE_MEMORY_AT, &value), 0);
	assert_int_equal(value, 0xCAFE1234);
	assert_int_equal(f->xdata[0xB210], 0x20);
	assert_int_equal(get_be32(&f->xdata[0xB21C]), 8);
	assert_int_equal(b->ops->mem_read32(b, FAKE_MEMORY_AT + 16, &value), 0);
	assert_int_equal(f->xdata[0xB210], 0x00); /* a 64-bit request below 4 GiB is malformed */
	bridge_free(b);
}

static void odd_sizes_and_addresses_are_refused(void **state)
{
	struct fake *f = fake_new(ASM_246X);
	struct bridge *b = open_up(f);
	uint32_t value;

	(void)state;
	assert_int_equal(b->ops->mem_read32(b, FAKE_MEMORY_AT + 2, &value), -EINVAL);
	assert_int_equal(b->ops->mem_write32(b, FAKE_MEMORY_AT + 1, 0), -EINVAL);
	assert_int_equal(b->ops->cfg_read(b, 2, 4, &value), -EINVAL);
	assert_int_equal(b->ops->cfg_read(b, 4096, 4, &value), -EINVAL);
	assert_int_equal(b->ops->cfg_write(b, 0, 3, 0), -EINVAL);
	assert_int_equal(f->ncdb, 0);
	bridge_free(b);
}

/* ---- errors ---- */

static void completion_errors_are_visible(void **state)
{
	static const struct {
		int status, byte_count, code;
	} cases[] = {{1, 0, -EIO}, {4, 0, -EIO}, {3, 0, -EIO}, {0, 2, -EIO}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fake *f = fake_new(ASM_236X);
		struct bridge *b = open_up(f);
		uint32_t value;

		f->status = cases[i].status;
		f->byte_count = cases[i].byte_count;
		assert_int_equal(b->ops->mem_read32(b, FAKE_MEMORY_AT, &value), cases[i].code);
		f->status = f->byte_count = 0;
		put_le32(f->memory, 5);
		assert_int_equal(b->ops->mem_read32(b, FAKE_MEMORY_AT, &value), 0);
		assert_int_equal(value, 5);
		bridge_free(b);
	}
}

static void a_register_read_is_never_repeated(void **state)
{
	struct fake *f = fake_new(ASM_236X);
	struct bridge *b = open_up(f);
	uint8_t byte;
	uint32_t value;

	(void)state;
	f->timeouts = 1;
	/* the card still answers configuration reads: it hangs, it is not gone */
	assert_int_equal(b->ops->mem_read32(b, FAKE_MEMORY_AT, &value), -ETIMEDOUT);
	assert_int_equal(f->requests, 2); /* the read, and the look at the card */
	fake_forget(f);
	f->timeouts = 1;
	f->memory[0] = 9;
	assert_int_equal(b->ops->mem_read(b, FAKE_MEMORY_AT, &byte, 1), 0); /* memory may */
	assert_int_equal(byte, 9);
	assert_int_equal(f->requests, 2);
	bridge_free(b);
}

static void after_an_error_the_whole_header_is_sent_again(void **state)
{
	struct fake *f = fake_new(ASM_246X);
	struct bridge *b = open_up(f);
	uint32_t value;

	(void)state;
	assert_int_equal(b->ops->mem_read32(b, FAKE_MEMORY_AT, &value), 0);
	f->timeouts = 1;
	assert_int_equal(b->ops->mem_read32(b, FAKE_MEMORY_AT, &value), -ETIMEDOUT);
	memset(&f->xdata[0xB210], 0x5A, 20); /* what an engine in trouble may do */
	f->status = 1;
	assert_int_equal(b->ops->mem_read32(b, FAKE_MEMORY_AT, &value), -EIO);
	f->status = 0;
	memset(&f->xdata[0xB211], 0x5A, 3);
	fake_forget(f);
	assert_int_equal(b->ops->mem_write32(b, FAKE_MEMORY_AT, 1), 0);
	assert_int_equal(fake_sent(f, 0xE5, 0xB210), 1);
	assert_int_equal(get_le32(f->memory), 1);
	bridge_free(b);
}

static void a_link_that_goes_down_means_the_card_is_gone(void **state)
{
	static const enum asm_chip both[] = {ASM_236X, ASM_246X};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fake *f = fake_new(both[i]);
		struct bridge *b = open_up(f);
		struct bridge_info info;
		uint8_t bytes[8] = {0};
		uint32_t value;

		f->xdata[0xB450] = 0;
		f->timeouts = 1000;
		assert_int_equal(b->ops->mem_read32(b, FAKE_MEMORY_AT, &value), -ENODEV);
		assert_int_equal(b->ops->mem_read(b, FAKE_MEMORY_AT, bytes, 8), -ENODEV);
		assert_int_equal(b->ops->mem_write(b, FAKE_MEMORY_AT, bytes, 8), -ENODEV);
		assert_int_equal(b->ops->cfg_read(b, 0, 4, &value), -ENODEV);
		assert_int_equal(b->ops->heartbeat(b), -ENODEV);
		b->ops->read_info(b, &info);
		assert_true(info.link.known);
		assert_false(info.link.up);
		assert_true(info.tlp_timeouts > 0);
		bridge_free(b);
	}
}

static void another_card_is_noticed(void **state)
{
	struct fake *f = fake_new(ASM_236X);
	struct bridge *b = open_up(f);

	(void)state;
	assert_int_equal(b->ops->heartbeat(b), 0);
	f->top->cfg[0] = 0x1B8010DE;
	assert_int_equal(b->ops->heartbeat(b), -ENODEV);
	bridge_free(b);
}

static void an_engine_that_is_never_ready_is_given_up(void **state)
{
	struct fake *f = fake_new(ASM_236X);
	struct bridge *b = open_up(f);

	(void)state;
	f->never_ready = true;
	f->xdata[0xB296] = 0;
	assert_int_equal(b->ops->mem_write32(b, FAKE_MEMORY_AT, 1), -ETIMEDOUT);
	assert_int_equal(f->writes, 0);
	f->never_ready = false;
	bridge_free(b);
}

/* The driver proven on the ASM2464 never looks at the bit: bridge.md 3.4. */
static void an_asm246x_may_have_no_ready_bit(void **state)
{
	struct fake *f = fake_new(ASM_246X);
	uint32_t value;

	(void)state;
	f->never_ready = true;
	f->xdata[0xB296] = 0;
	struct bridge *b = open_up(f);

	put_le32(f->memory, 55);
	assert_int_equal(b->ops->mem_read32(b, FAKE_MEMORY_AT, &value), 0);
	assert_int_equal(value, 55);
	fake_forget(f);
	assert_int_equal(b->ops->mem_write32(b, FAKE_MEMORY_AT, 55), 0);
	assert_int_equal(fake_sent(f, 0xE4, -1), 0);
	bridge_free(b);
	/* but one that had it once is waited for */
	f = fake_new(ASM_246X);
	b = open_up(f);
	f->never_ready = true;
	f->xdata[0xB296] = 0;
	assert_int_equal(b->ops->mem_write32(b, FAKE_MEMORY_AT, 1), -ETIMEDOUT);
	assert_int_equal(f->writes, 0);
	f->never_ready = false;
	bridge_free(b);
}

static void an_asm246x_keeps_the_header_bytes_of_its_firmware(void **state)
{
	struct fake *f = fake_new(ASM_246X);

	(void)state;
	f->xdata[0xB216] = 0x20;
	struct bridge *b = open_up(f);

	assert_int_equal(f->xdata[0xB216], 0x20);
	assert_int_equal(f->xdata[0xB213], 1);
	bridge_free(b);
	f = fake_new(ASM_236X);
	b = open_up(f);
	assert_int_equal(f->xdata[0xB216], 0);
	bridge_free(b);
}

static void a_leftover_done_bit_is_no_completion(void **state)
{
	struct fake *f = fake_new(ASM_236X);
	struct bridge *b = open_up(f);
	uint32_t value;

	(void)state;
	assert_int_equal(b->ops->mem_write32(b, FAKE_MEMORY_AT, 1), 0);
	f->xdata[0xB296] |= 2;
	f->timeouts = 1;
	assert_int_equal(b->ops->mem_read32(b, FAKE_MEMORY_AT, &value), -ETIMEDOUT);
	bridge_free(b);
}

static void a_lost_answer_is_asked_for_again(void **state)
{
	struct fake *f = fake_new(ASM_236X);
	struct bridge *b = open_up(f);
	struct bridge_info info;
	uint32_t value;

	(void)state;
	put_le32(f->memory, 77);
	f->lost_answers = 1;
	assert_int_equal(b->ops->mem_read32(b, FAKE_MEMORY_AT, &value), 0);
	assert_int_equal(value, 77);
	assert_int_equal(f->requests, 1); /* the TLP went out once */
	b->ops->read_info(b, &info);
	assert_int_equal(info.retries, 1);
	bridge_free(b);
}

/* The bridge restarts at any command of a write: engine and bus numbers are lost. The write arrives
 * whole or is an error, and what is written once is not written twice. */
static void a_reset_at_any_command_never_sends_a_wrong_request(void **state)
{
	(void)state;
	for (unsigned at = 1; at < 16; at++) {
		struct fake *f = fake_new(ASM_236X);
		struct bridge *b = open_up(f);
		uint32_t value = 0;

		assert_int_equal(b->ops->mem_write32(b, FAKE_MEMORY_AT, 0x01020304), 0);
		fake_forget(f);
		f->resets_at = at;
		int err = b->ops->mem_write32(b, FAKE_MEMORY_AT + 0x104, 0x05060708);

		if (err && err != -EIO)
			fail_msg("reset at %u: expected 0 or EIO, got %d", at, err);
		if (f->writes > 1 || (!err && get_le32(f->memory + 0x104) != 0x05060708))
			fail_msg("reset at %u: %u writes, %08x", at, f->writes,
			        get_le32(f->memory + 0x104));
		put_le32(f->memory + 0x104, 0);
		for (unsigned i = 4; i < FAKE_MEMORY; i++)
			if (f->memory[i])
				fail_msg("reset at %u: a stray byte at %u", at, i);
		f->resets_at = 0;
		put_le32(f->memory + 8, 99); /* and it goes on */
		assert_int_equal(b->ops->mem_read32(b, FAKE_MEMORY_AT + 8, &value), 0);
		assert_int_equal(value, 99);
		assert_int_equal(f->port.cfg[6] >> 8 & 0xFF, 1);
		bridge_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_read_goes_by_the_defensive_sequence),
	        cmocka_unit_test(sequential_writes_cost_four_commands_and_what_changed),
	        cmocka_unit_test(data_is_sent_again_after_a_completion),
	        cmocka_unit_test(any_bytes_at_any_address),
	        cmocka_unit_test(long_transfers_let_others_in),
	        cmocka_unit_test(addresses_above_4_gib_only_where_the_chip_has_them),
	        cmocka_unit_test(odd_sizes_and_addresses_are_refused),
	        cmocka_unit_test(completion_errors_are_visible),
	        cmocka_unit_test(a_register_read_is_never_repeated),
	        cmocka_unit_test(after_an_error_the_whole_header_is_sent_again),
	        cmocka_unit_test(a_link_that_goes_down_means_the_card_is_gone),
	        cmocka_unit_test(another_card_is_noticed),
	        cmocka_unit_test(an_engine_that_is_never_ready_is_given_up),
	        cmocka_unit_test(an_asm246x_may_have_no_ready_bit),
	        cmocka_unit_test(an_asm246x_keeps_the_header_bytes_of_its_firmware),
	        cmocka_unit_test(a_leftover_done_bit_is_no_completion),
	        cmocka_unit_test(a_lost_answer_is_asked_for_again),
	        cmocka_unit_test(a_reset_at_any_command_never_sends_a_wrong_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
