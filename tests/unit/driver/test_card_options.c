/* test_card_options.c - the card's options as words, and that the card gets them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "device/bytes.h"
#include "device/regs/regs.h"
#include "device/virtual/card/card.h"
#include "device/virtual/enclosure/enclosure.h"

static void words_set_options(void **state)
{
	struct venc_card_options o = {0};

	(void)state;
	assert_int_equal(venc_card_option(&o, "cold"), 0);
	assert_int_equal(venc_card_option(&o, "vbios=/some/file.rom"), 0);
	assert_int_equal(venc_card_option(&o, "ambient=31"), 0);
	assert_int_equal(venc_card_option(&o, "fault=overheat=95@20"), 0);
	assert_int_equal(venc_card_option(&o, "fault=fan-stuck"), 0);
	assert_int_equal(venc_card_option(&o, "spoil=0x5428:1"), 0);
	assert_int_equal(venc_card_option(&o, "spoil=smc:0xE0003088:0x2"), 0);
	assert_true(o.cold);
	assert_string_equal(o.vbios, "/some/file.rom");
	assert_int_equal(o.ambient, 31);
	assert_int_equal(o.faults, 2);
	assert_int_equal(o.fault[0].fault, VCARD_FAULT_OVERHEAT);
	assert_int_equal(o.fault[0].value, 95);
	assert_int_equal(o.fault[0].after_s, 20);
	assert_int_equal(o.fault[1].after_s, 0);
	assert_int_equal(o.spoils, 2);
	assert_false(o.spoil[0].smc);
	assert_true(o.spoil[1].smc);
	assert_int_equal(o.spoil[1].address, 0xE0003088);
	assert_int_equal(venc_card_option(&o, "posted"), 0);
	assert_false(o.cold);
}

static void other_words_are_refused(void **state)
{
	static const char *const words[] = {"", "col", "colder", "vbios=", "ambient=0",
	        "ambient=61", "ambient=x", "ambient=-5", "fault=", "fault=smoke", "fault=overheat",
	        "fault=overheat=95@", "fault=overheat=95@x", "spoil=", "spoil=1",
	        "spoil=1:", "spoil=:1", "spoil=1:2:3", "spoil=0x100000000:1", "realtime"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		struct venc_card_options o = {0};

		if (venc_card_option(&o, words[i]) != -22)
			fail_msg("\"%s\": expected -EINVAL", words[i]);
	}
}

static void ninth_fault_does_not_fit(void **state)
{
	struct venc_card_options o = {0};

	(void)state;
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(venc_card_option(&o, "fault=mec-dead"), 0);
	assert_int_equal(venc_card_option(&o, "fault=mec-dead"), -22);
}

/* reg - a register through the card's own door, at the BAR the firmware of the bridge placed. */
static uint32_t reg(struct venc *e, uint32_t off)
{
	struct vcard_tlp t = {.type = VCARD_CFG_READ, .address = 0x24, .byte_enables = 0xF};

	vcard_tlp(venc_card(e), &t);
	t = (struct vcard_tlp){.type = VCARD_MEM_READ,
	        .address = (uint64_t)(t.data & ~0xFu) + off,
	        .byte_enables = 0xF};
	assert_int_equal(vcard_tlp(venc_card(e), &t), VCARD_SC);
	return t.data;
}

static void card_is_born_with_them(void **state)
{
	struct venc_options opt = {.vram_bytes = 64ull << 20, .threads = 1};
	struct venc *e;

	(void)state;
	venc_card_option(&opt.card, "cold");
	venc_card_option(&opt.card, "spoil=0x2004:0x100");
	assert_int_equal(venc_new(&e, &opt), 0);
	assert_int_equal(reg(e, REG_CONFIG_MEMSIZE), 0);
	assert_int_equal(reg(e, REG_MC_SHARED_CHMAP), 0x100);
	venc_power_cycle(e);
	assert_int_equal(reg(e, REG_BIOS_SCRATCH_7), 0);
	venc_free(e);
	opt.card = (struct venc_card_options){0};
	assert_int_equal(venc_new(&e, &opt), 0);
	assert_int_equal(reg(e, REG_CONFIG_MEMSIZE), 64);
	venc_free(e);
}

static void missing_image_file_is_an_error(void **state)
{
	struct venc_options opt = {.vram_bytes = 64ull << 20, .threads = 1};
	struct venc *e;

	(void)state;
	venc_card_option(&opt.card, "vbios=/nonexistent/image.rom");
	assert_int_equal(venc_new(&e, &opt), -2); /* ENOENT */
}

static void later_faults_come_later(void **state)
{
	struct venc_options opt = {.vram_bytes = 64ull << 20, .threads = 1};
	struct venc *e;

	(void)state;
	venc_card_option(&opt.card, "fault=mc-deaf@30");
	assert_int_equal(venc_new(&e, &opt), 0);
	vcard_hold_time(venc_card(e)); /* 30 s are not over yet */
	struct vcard_tlp t = {.type = VCARD_CFG_READ, .address = 0x24, .byte_enables = 0xF};
	vcard_tlp(venc_card(e), &t);
	t = (struct vcard_tlp){.type = VCARD_MEM_WRITE,
	        .address = (uint64_t)(t.data & ~0xFu) + REG_MC_SEQ_MISC9,
	        .byte_enables = 0xF,
	        .data = 7};
	vcard_tlp(venc_card(e), &t);
	assert_int_equal(reg(e, REG_MC_SEQ_MISC9), 0x0707);
	vcard_advance(venc_card(e), 29000);
	assert_int_equal(reg(e, REG_MC_SEQ_MISC9), 0x0707);
	vcard_advance(venc_card(e), 2000);
	assert_int_equal(reg(e, REG_MC_SEQ_MISC9), 0x0007);
	venc_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(words_set_options),
	        cmocka_unit_test(other_words_are_refused),
	        cmocka_unit_test(ninth_fault_does_not_fit),
	        cmocka_unit_test(card_is_born_with_them),
	        cmocka_unit_test(missing_image_file_is_an_error),
	        cmocka_unit_test(later_faults_come_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
