/* test_asm_bridge.c - ASMedia bridges: which of them is it, the engine's sequence and its cost,
 * what becomes of errors, the search for the card. bridge.md 2.18, 3. */
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

static void refused(struct fake *f, int code)
{
	struct bridge *b = NULL;

	assert_int_equal(bridge_open(&b, &f->s, &none), code);
	assert_null(b);
}

/* ---- which is it ---- */

struct stranger {
	const char *what;
	uint16_t vid, pid;
	const char *vendor, *product;
	enum asm_chip chip;
	uint8_t version[6];
	int code;
	const char *family; /* when it is taken */
	bool e2, e4;        /* which question it is asked */
};

#define GOOD {0x24, 0x04, 0x17, 0x85, 0, 0}

static const struct stranger strangers[] = {
        {"ASM2362", 0x174c, 0x2362, "ASMT", "ASM236X NVME", ASM_236X, GOOD, 0, "asm236x", false,
                true},
        {"ASM2464", 0x174c, 0x2464, "ASMT", "ASM246X", ASM_246X, GOOD, 0, "asm246x", false, true},
        {"VID changed", 0x1234, 1, "ASMT", "ASM2364", ASM_236X, GOOD, 0, "asm236x", false, true},
        {"no USB ids", 0, 0, "ASMT", "ASM2364", ASM_236X, GOOD, 0, "asm236x", false, true},
        {"names changed", 0x174c, 0x2364, "OWC", "Express 1M2", ASM_246X, GOOD, 0, "asm246x", false,
                true},
        {"FireCuda", 0x0bc2, 0xaa1a, "Seagate", "FireCuda Gaming", ASM_236X, GOOD, 0, "asm236x",
                false, true},
        {"other Seagate", 0x0bc2, 0x2344, "Seagate", "Disk", ASM_236X, GOOD, -ENOTSUP, NULL, true,
                false},
        {"tinygrad", 0xadd1, 1, "tiny", "eGPU", ASM_246X, GOOD, 0, "asm246x", false, true},
        {"replaced firmware", 0xadd1, 1, "tiny", "custom", ASM_UNKNOWN, GOOD, -ENOTSUP, NULL, false,
                true},
        {"everything changed", 0x1234, 1, "OWC", "Disk", ASM_236X, GOOD, -ENOTSUP, NULL, true,
                false},
        {"Realtek VID", 0x0bda, 0x9210, "OWC", "Disk", ASM_236X, GOOD, -ENOTSUP, NULL, true, false},
        {"Realtek VID, ASMT", 0x0bda, 0x9210, "ASMT", "ASM2364", ASM_236X, GOOD, -ENOTSUP, NULL,
                false, false},
        {"ASMedia VID, Realtek", 0x174c, 0x2364, "Realtek", "RTL9210", ASM_236X, GOOD, -ENOTSUP,
                NULL, false, false},
        {"refuses both", 0x174c, 0x2364, "ASMT", "ASM2364", ASM_UNKNOWN, GOOD, -ENOTSUP, NULL,
                false, true},
        {"no date", 0x174c, 0x2364, "ASMT", "ASM2364", ASM_236X, {0}, -ENOTSUP, NULL, false, true},
        {"month 13", 0x174c, 0x2364, "ASMT", "ASM2364", ASM_236X, {0x24, 0x13, 1}, -ENOTSUP, NULL,
                false, true},
        {"hex date", 0x174c, 0x2464, "ASMT", "ASM246X", ASM_246X, {0xA5, 0xA5, 0xA5}, -ENOTSUP,
                NULL, false, true},
        {"a SATA bridge", 0x174c, 0x55aa, "ASMT", "ASM1153E", ASM_236X, GOOD, -ENOTSUP, NULL, false,
                true},
        {"name of the other", 0x174c, 0x2364, "ASMT", "ASM2464PD", ASM_236X, GOOD, -ENOTSUP, NULL,
                false, true},
};

static void only_a_positive_answer_makes_it_an_asmedia(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(strangers); i++) {
		const struct stranger *s = &strangers[i];
		struct fake *f = fake_new(s->chip);
		struct bridge_info info = {0};
		struct bridge *b = NULL;

		f->usb = (struct usb_identity){.vid = s->vid, .pid = s->pid};
		f->vendor = s->vendor;
		f->product = s->product;
		memcpy(&f->xdata[0x07F0], s->version, 6);
		int err = bridge_open(&b, &f->s, &none);

		if (b)
			b->ops->read_info(b, &info);
		if (err != s->code || (s->family && strcmp(info.family, s->family) != 0))
			fail_msg("%s: expected %d %s, got %d %s", s->what, s->code,
			        s->family ? s->family : "", err, info.family);
		if ((fake_sent(f, 0xE2, -1) > 0) != s->e2 || (fake_sent(f, 0xE4, -1) > 0) != s->e4)
			fail_msg("%s: asked in the wrong way", s->what);
		if (fake_sent(f, 0xE3, -1) || (err && fake_sent(f, 0xE5, -1)))
			fail_msg("%s: a write was sent", s->what);
		if (b)
			bridge_free(b);
		else
			scsi_free(&f->s);
	}
}

/* A reset before us: the first command is refused whatever it is (bridge.md 5.1). */
static void a_unit_attention_is_no_answer(void **state)
{
	struct fake *f = fake_new(ASM_236X);
	struct bridge_info info;
	struct bridge *b;

	(void)state;
	f->attention = 1;
	b = open_up(f);
	b->ops->read_info(b, &info);
	assert_string_equal(info.family, "asm236x");
	assert_string_equal(info.firmware, "240417_85_00_00");
	assert_true(info.errors_visible);
	assert_false(info.assigns_bars);
	bridge_free(b);
}

/* ---- the engine ---- */

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

/* ---- the search ---- */

static void the_card_may_sit_behind_a_switch(void **state)
{
	struct fake *f = fake_new(ASM_246X);
	struct fake_fn up, down[2], before_up, before_down, card = *f->top;
	uint32_t value;

	(void)state;
	fake_bridge(&up);
	fake_bridge(&down[0]);
	fake_bridge(&down[1]);
	f->port.child[0] = &up;
	up.child[2] = &down[0]; /* nothing behind it */
	up.child[5] = &down[1];
	down[1].child[0] = &card;
	before_up = up;
	before_down = down[1];
	struct bridge *b = open_up(f);
	struct asm_where at = asm2x6x_card(b);

	assert_int_equal(at.bus, 3);
	assert_int_equal(at.dev, 0);
	assert_int_equal(b->ops->cfg_read(b, 0, 4, &value), 0);
	assert_int_equal(value, 0x67DF1002);
	assert_int_equal(up.cfg[1] & 7, 7);
	assert_int_equal(down[1].cfg[8], 0xFFF01000);
	assert_int_equal(down[1].cfg[10], 8);
	assert_int_equal(down[0].cfg[6], 0); /* put back: the card is not there */
	bridge_free(b);
	assert_memory_equal(&down[1], &before_down, sizeof(before_down));
	assert_memory_equal(&up, &before_up, sizeof(before_up));
}

static void the_root_port_is_put_back(void **state)
{
	static const enum asm_chip both[] = {ASM_236X, ASM_246X};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fake *f = fake_new(both[i]);
		struct fake_fn before = f->port;
		struct scsi *s = &f->s;
		struct bridge *b = open_up(f);

		assert_int_equal(f->port.cfg[1] & 7, 7);
		assert_int_equal(f->port.cfg[8], 0xFFF01000);
		/* prefetchable window: closed, or from 32 GiB up */
		assert_int_equal(f->port.cfg[9], both[i] == ASM_246X ? 0xFFF10001 : 0x0001FFF1);
		assert_int_equal(f->port.cfg[10], both[i] == ASM_246X ? 8 : 0);
		asm_path_close((struct asm2x6x *)b);
		assert_memory_equal(f->port.cfg, before.cfg, sizeof(before.cfg));
		assert_ptr_equal(b->scsi, s);
		bridge_free(b);
	}
}

static void what_is_no_card_is_refused_in_words(void **state)
{
	struct fake *f = fake_new(ASM_236X);

	(void)state;
	f->port.child[0] = NULL;
	refused(f, -ENODEV);
	assert_int_equal(f->port.cfg[6], 0x00010100);
	f->port.child[0] = f->top;
	fake_device(f->top, 0xA808144D, 0x010802); /* an NVMe disk */
	refused(f, -ENODEV);
	assert_int_equal(f->port.cfg[6], 0x00010100);
	f->port.cfg[3] = 0; /* not a bridge at 00:00.0 */
	refused(f, -ENOTSUP);
	scsi_free(&f->s);
	f = fake_new(ASM_246X);
	f->xdata[0xB450] = 0x10;
	fake_forget(f);
	refused(f, -ENODEV);
	assert_int_equal(fake_sent(f, 0xE5, -1), 0); /* not even asked */
	scsi_free(&f->s);
}

static void a_card_that_wants_time_gets_it(void **state)
{
	struct fake *f = fake_new(ASM_236X);

	(void)state;
	f->crs = 5;
	struct bridge *b = open_up(f);

	assert_int_equal(asm2x6x_card(b).bus, 1);
	bridge_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(only_a_positive_answer_makes_it_an_asmedia),
	        cmocka_unit_test(a_unit_attention_is_no_answer),
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
	        cmocka_unit_test(a_lost_answer_is_asked_for_again),
	        cmocka_unit_test(a_reset_at_any_command_never_sends_a_wrong_request),
	        cmocka_unit_test(the_card_may_sit_behind_a_switch),
	        cmocka_unit_test(the_root_port_is_put_back),
	        cmocka_unit_test(what_is_no_card_is_refused_in_words),
	        cmocka_unit_test(a_card_that_wants_time_gets_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
