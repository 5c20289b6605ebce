/* test_asm_identify.c - ASMedia bridges: which of them is it, if any, and where is the card?
 * bridge.md 2.18, 3.1, 3.5. */
#include <errno.h>
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
	        cmocka_unit_test(the_card_may_sit_behind_a_switch),
	        cmocka_unit_test(the_root_port_is_put_back),
	        cmocka_unit_test(what_is_no_card_is_refused_in_words),
	        cmocka_unit_test(a_card_that_wants_time_gets_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
