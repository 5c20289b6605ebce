/* Raw TLP engine, DBI window and port control through E2/A2 and E3/23: bridge.md 2.11-2.13. */
#include <string.h>

#include "device/bytes.h"
#include "tests/unit/enclosure/helper_card.h"
#include "tests/unit/enclosure/helper_host.h"

#define PORT0  0xB3310000u
#define STATUS (PORT0 + 0x100)
#define BUSY   0x80u
#define BAR5   0xE0040000u /* bridge.md 2.14 */

#define READ_DWORD  0xF21u /* length 1, all enables, direction read */
#define WRITE_DWORD 0xF41u
#define START       (1u << 31)
#define RELEASE     (1u << 28)

static uint32_t peek(struct venc *e, uint32_t address)
{
	return rtl_in32(e, 0xA2, address);
}

static void poke(struct venc *e, uint32_t address, uint32_t value)
{
	rtl_out32(e, 0x23, address, value);
}

static uint32_t slot(uint32_t n)
{
	return PORT0 + 0x110 + 16 * n;
}

static uint32_t data(uint32_t n)
{
	return PORT0 + 0x150 + 0x80 * n;
}

static struct venc *unlocked(void)
{
	struct venc *e = host_new();

	rtl_unlock(e);
	return e;
}

/* Steps 1 to 6 of bridge.md 2.11. Return: the slot used. */
static uint32_t start(
        struct venc *e, uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3, uint32_t value)
{
	uint32_t status = peek(e, STATUS), n = status >> 3 & 3;

	assert_int_equal(status & BUSY, 0);
	poke(e, slot(n), 0);
	poke(e, slot(n) + 4, 0);
	poke(e, data(n), 0);
	poke(e, slot(n), w0);
	poke(e, slot(n) + 8, w2);
	poke(e, slot(n) + 12, w3);
	if (value)
		poke(e, data(n), value);
	poke(e, slot(n) + 4, w1 | START);
	return n;
}

/* Steps 7 to 9. */
static uint32_t finish(struct venc *e, uint32_t n)
{
	uint32_t w1 = peek(e, slot(n) + 4), value = peek(e, data(n));

	assert_int_equal(w1 & START, 0);
	poke(e, slot(n) + 4, w1 | RELEASE);
	return value;
}

static uint32_t engine_read(struct venc *e, uint32_t type, uint32_t address)
{
	return finish(e, start(e, type, READ_DWORD, address, 0, 0));
}

static void a_vid_read_follows_the_nine_steps(void **state)
{
	struct venc *e = unlocked();
	uint32_t before = peek(e, STATUS) >> 3 & 3, n;

	(void)state;
	fake_card_forget();
	n = start(e, 4, READ_DWORD, 0, 0, 0);
	assert_int_equal(n, before);
	assert_int_equal(peek(e, STATUS) >> 3 & 3, (n + 1) & 3);
	assert_int_equal(finish(e, n), 0x67DF1002);
	assert_int_equal(fake_card()->count, 1);
	assert_int_equal(fake_card()->seen[0].type, VCARD_CFG_READ);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void a_card_register_is_written_and_read_back(void **state)
{
	struct venc *e = unlocked();

	(void)state;
	finish(e, start(e, 0, WRITE_DWORD, BAR5 + 0x1724, 0, 0xC0FFEE01));
	assert_int_equal(fake_card()->regs[0x5C9], 0xC0FFEE01);
	assert_int_equal(engine_read(e, 0, BAR5 + 0x1724), 0xC0FFEE01);
	assert_int_equal(rtl_in32(e, 0xB4, BAR5 + 0x1724 - 0xF0000000u), 0xC0FFEE01);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static struct venc *unlocked_with(unsigned engine)
{
	struct venc *e = host_new_with((struct venc_options){.engine = engine});

	rtl_unlock(e);
	return e;
}

static void function_1_is_reached_by_the_engine_only_and_when_the_option_says_so(void **state)
{
	struct venc *e = unlocked();

	(void)state;
	assert_int_equal(engine_read(e, 4, 1u << 16), 0); /* unknown: bridge.md 5.3 */
	venc_free(e);
	e = unlocked_with(VENC_ENGINE_FUNCTIONS);
	assert_int_equal(engine_read(e, 4, 1u << 16), 0xAAF01002);
	assert_int_equal(engine_read(e, 4, 2u << 16), 0);
	assert_int_equal(rtl_in32(e, 0xB3, 1u << 16), 0x67DF1002); /* low 16 bits, fixed function */
	assert_int_equal(own_guest_errors(e), 1);
	venc_free(e);
}

static void byte_lanes_select_what_a_write_changes(void **state)
{
	struct venc *e = unlocked();

	(void)state;
	fake_card()->regs[0] = 0x11223344;
	finish(e, start(e, 0, 0x441, BAR5, 0, 0xAABBCCDD)); /* enable of byte 2 */
	assert_int_equal(fake_card()->regs[0], 0x11BB3344);
	assert_int_equal(finish(e, start(e, 0, 0x321, BAR5, 0, 0)), 0x3344); /* lanes 0 and 1 */
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void unclaimed_requests_complete_without_data(void **state)
{
	struct venc *e = unlocked();

	(void)state;
	assert_int_equal(engine_read(e, 0, 0x40000000), 0);
	assert_int_equal(engine_read(e, 4, 1u << 19), 0); /* device 1 */
	assert_int_equal(engine_read(e, 4, 1u << 24), 0); /* bus 1 */
	assert_int_equal(engine_read(e, 5, 0), 0);        /* type 1 has no bridge to pass */
	assert_int_equal(finish(e, start(e, 0, READ_DWORD, BAR5, 1, 0)), 0); /* above 4 GiB */
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void four_unreleased_slots_make_the_engine_busy(void **state)
{
	struct venc *e = host_new_with((struct venc_options){.engine_needs_release = true});
	uint32_t first;

	(void)state;
	rtl_unlock(e);
	first = start(e, 4, READ_DWORD, 0, 0, 0);
	for (int i = 0; i < 3; i++)
		start(e, 4, READ_DWORD, 0, 0, 0);
	assert_int_equal(peek(e, STATUS) & BUSY, BUSY);
	finish(e, first);
	assert_int_equal(peek(e, STATUS), first << 3);
	venc_free(e);
}

static uint64_t tlps(struct venc *e)
{
	struct venc_stats s;

	venc_read_stats(e, &s);
	return s.tlps;
}

static void a_type_1_request_leaves_the_port_only_with_the_option(void **state)
{
	(void)state;
	for (unsigned on = 0; on < 2; on++) {
		struct venc *e = unlocked_with(on ? VENC_ENGINE_TYPE1 : 0);

		assert_int_equal(engine_read(e, 5, 0), 0); /* the card is no bridge: UR */
		assert_int_equal(tlps(e), on);
		venc_free(e);
	}
}

static void addresses_above_4_gib_need_the_option(void **state)
{
	(void)state;
	for (unsigned on = 0; on < 2; on++) {
		struct venc *e = unlocked_with(on ? VENC_ENGINE_64BIT : 0);

		fake_card_forget();
		finish(e, start(e, 0, WRITE_DWORD, BAR5, 7, 0xFEED));
		assert_int_equal(fake_card()->count, on);
		if (on)
			assert_int_equal(fake_card()->seen[0].address, 7ull << 32 | BAR5);
		assert_int_equal(fake_card()->regs[0], 0); /* never the lower 32 bits alone */
		venc_free(e);
	}
}

#define BASE 0xF0000000u /* bridge.md 2.14 */

static void one_request_of_many_dwords_is_one_tlp(void **state)
{
	struct venc *e = unlocked_with(VENC_ENGINE_BURST);
	uint32_t n = peek(e, STATUS) >> 3 & 3;

	(void)state;
	memset(fake_card()->vram, 0xEE, 0x100);
	for (uint32_t i = 0; i < 31; i++)
		poke(e, data(n) + 4 * i, 0x01010101 * i);
	uint64_t before = tlps(e);

	poke(e, slot(n), 0);
	poke(e, slot(n) + 8, BASE + 0x10);
	poke(e, slot(n) + 12, 0);
	poke(e, slot(n) + 4, 0x3C5F | START); /* 31 dwords, write; lanes 2, 3 first, 0, 1 last */
	finish(e, n);
	assert_int_equal(tlps(e) - before, 1);
	assert_int_equal(get_le32(fake_card()->vram + 0x10), 0x0000EEEE);
	assert_int_equal(get_le32(fake_card()->vram + 0x14), 0x01010101);
	assert_int_equal(get_le32(fake_card()->vram + 0x10 + 116), 0x1D1D1D1D);
	assert_int_equal(get_le32(fake_card()->vram + 0x10 + 120), 0xEEEE1E1E);
	assert_int_equal(get_le32(fake_card()->vram + 0x10 + 124), 0xEEEEEEEE);
	n = start(e, 0, 0xFF23, BASE + 0x14, 0, 0); /* read 3 dwords */
	finish(e, n);
	assert_int_equal(peek(e, data(n)), 0x01010101);
	assert_int_equal(peek(e, data(n) + 8), 0x03030303);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void malformed_bursts_never_complete(void **state)
{
	static const struct {
		const char *what;
		uint32_t w0, w1, w2;
	} cases[] = {
	        {"no dword", 0, 0xF20, BASE},
	        {"no enables for the last", 0, 0x0F22, BASE},
	        {"no enables for the first", 0, 0xF022, BASE},
	        {"across 4 KiB", 0, 0xFF22, BASE + 0xFFC},
	        {"two dwords of configuration", 4, 0xFF22, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct venc *e = unlocked_with(VENC_ENGINE_BURST);
		uint32_t n;

		print_message("%s\n", cases[i].what);
		fake_card_forget();
		n = start(e, cases[i].w0, cases[i].w1, cases[i].w2, 0, 0);
		assert_int_equal(peek(e, slot(n) + 4) & START, START);
		assert_int_equal(fake_card()->count, 0);
		assert_int_equal(own_guest_errors(e), 1);
		venc_free(e);
	}
}

/* The words of all four slots in one command: the last byte of w1 starts each. */
static void byte_stores_reach_words_and_buffers_when_the_option_says_so(void **state)
{
	struct venc *e = unlocked_with(VENC_ENGINE_BYTES | VENC_ENGINE_BURST);
	uint8_t words[64], bytes[512];

	(void)state;
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i / 128 * 64 + i % 128);
	for (unsigned n = 0; n < 4; n++) {
		put_le32(words + 16 * n, 0);
		put_le32(words + 16 * n + 4, 0xFF5F);
		put_le32(words + 16 * n + 8, BASE + 124 * n);
		put_le32(words + 16 * n + 12, 0);
	}
	while (peek(e, STATUS) >> 3 & 3) /* slot 0 first */
		rtl_in32(e, 0xB3, 0);
	assert_int_equal(rtl_out(e, 0x23, data(0), bytes, sizeof(bytes)), CSW_GOOD);
	fake_card_forget();
	assert_int_equal(rtl_out(e, 0x23, slot(0), words, sizeof(words)), CSW_GOOD);
	assert_int_equal(fake_card()->count, 0);
	for (unsigned n = 0; n < 4; n++)
		put_le32(words + 16 * n + 4, 0xFF5F | START);
	assert_int_equal(rtl_out(e, 0x23, slot(0), words, sizeof(words)), CSW_GOOD);
	assert_int_equal(fake_card()->count, 4 * 31);
	for (unsigned n = 0; n < 4; n++)
		assert_memory_equal(fake_card()->vram + 124 * n, bytes + 128 * n, 124);
	assert_int_equal(peek(e, STATUS), 0);
	assert_int_equal(own_guest_errors(e), 0);
	assert_int_equal(rtl_out(e, 0x23, STATUS, words, 3), CSW_GOOD); /* not the others */
	assert_int_equal(own_guest_errors(e), 1);
	venc_free(e);
}

/* bridge.md 2.11, host cost: w0 and w3 keep their values, the slot is predicted */
static void three_commands_write_a_register_once_the_slots_are_prepared(void **state)
{
	struct venc *e = unlocked();
	uint32_t n = 0;

	(void)state;
	for (int i = 0; i < 4; i++) {
		n = start(e, 0, WRITE_DWORD, BAR5, 0, 1);
		finish(e, n);
	}
	for (uint32_t i = 0; i < 8; i++) {
		n = (n + 1) & 3;
		poke(e, slot(n) + 8, BAR5 + 4 * i);
		poke(e, data(n), 100 + i);
		poke(e, slot(n) + 4, WRITE_DWORD | START);
		assert_int_equal(fake_card()->regs[i], 100 + i);
	}
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void firmware_commands_move_the_slot_index(void **state)
{
	struct venc *e = unlocked();
	uint32_t before = peek(e, STATUS) >> 3 & 3;

	(void)state;
	rtl_in32(e, 0xB3, 0);
	assert_int_equal(peek(e, STATUS) >> 3 & 3, (before + 1) & 3);
	venc_free(e);
}

static void malformed_requests_never_complete(void **state)
{
	static const struct {
		const char *what;
		uint32_t w0, w1, w2, w3;
	} cases[] = {
	        {"type 1", 1, READ_DWORD, BAR5, 0},
	        {"w0 bit 6", 0x40, READ_DWORD, BAR5, 0},
	        {"no direction", 0, 0xF01, BAR5, 0},
	        {"both directions", 0, 0xF61, BAR5, 0},
	        {"two dwords", 0, 0xF22, BAR5, 0},
	        {"last enables", 0, 0xFF21, BAR5, 0},
	        {"unaligned", 0, READ_DWORD, BAR5 + 2, 0},
	        {"w3 of a configuration request", 4, READ_DWORD, 0, 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct venc *e = unlocked();
		uint32_t n;

		print_message("%s\n", cases[i].what);
		fake_card_forget();
		n = start(e, cases[i].w0, cases[i].w1, cases[i].w2, cases[i].w3, 0);
		assert_int_equal(peek(e, slot(n) + 4) & START, START);
		assert_int_equal(fake_card()->count, 0);
		assert_int_equal(own_guest_errors(e), 1);
		venc_free(e);
	}
}

static void a_slot_that_was_not_offered_is_not_run(void **state)
{
	struct venc *e = unlocked();
	uint32_t wrong = ((peek(e, STATUS) >> 3) + 1) & 3;

	(void)state;
	fake_card_forget();
	poke(e, slot(wrong), 4);
	poke(e, slot(wrong) + 8, 0);
	poke(e, slot(wrong) + 4, READ_DWORD | START);
	assert_int_equal(fake_card()->count, 0);
	assert_int_equal(own_guest_errors(e), 1);
	venc_free(e);
}

static void a_completion_timeout_leaves_the_start_bit_set(void **state)
{
	struct venc *e = unlocked();
	uint32_t n;

	(void)state;
	venc_inject(e, VENC_FAULT_GPU_HANG, 1);
	n = start(e, 0, READ_DWORD, BAR5, 0, 0);
	assert_int_equal(peek(e, slot(n) + 4) & START, START);
	assert_int_equal(engine_read(e, 4, 0), 0x67DF1002);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void a_slow_engine_needs_polling(void **state)
{
	struct venc *e = unlocked();
	uint32_t n;

	(void)state;
	venc_inject(e, VENC_FAULT_ENGINE_SLOW, 2);
	assert_int_equal(peek(e, STATUS) & BUSY, BUSY);
	assert_int_equal(peek(e, STATUS) & BUSY, BUSY);
	n = start(e, 4, READ_DWORD, 0, 0, 0);
	venc_inject(e, VENC_FAULT_ENGINE_SLOW, 1);
	assert_int_equal(peek(e, slot(n) + 4) & START, START);
	assert_int_equal(peek(e, slot(n) + 4) & START, 0);
	venc_free(e);
}

static void stores_other_than_one_dword_do_not_reach_registers(void **state)
{
	static const uint8_t words[12] = {4, [4] = 0x21, [5] = 0x0F};
	struct venc *e = unlocked();
	uint32_t before = peek(e, slot(0));

	(void)state;
	assert_int_equal(rtl_out(e, 0x23, slot(0), words, 12), CSW_GOOD);
	assert_int_equal(rtl_out(e, 0x23, slot(0), words, 2), CSW_GOOD);
	assert_int_equal(peek(e, slot(0)), before);
	assert_int_equal(own_guest_errors(e), 2);
	venc_free(e);
}

static uint32_t dbi(struct venc *e, uint32_t offset)
{
	poke(e, PORT0 + 0x1000, offset);
	poke(e, PORT0 + 0x100C, 3);
	assert_int_equal(peek(e, PORT0 + 0x100C) & 1, 0);
	return peek(e, PORT0 + 0x1008);
}

static void the_dbi_window_shows_a_root_port_with_a_link(void **state)
{
	struct venc *e = unlocked();

	(void)state;
	assert_int_equal(dbi(e, 0x08) >> 8, 0x060400);
	assert_int_equal(dbi(e, 0x04) & 7, 7);
	assert_int_equal(dbi(e, 0x1C), 0xD0D0);
	assert_int_equal(dbi(e, 0x70) & 0xFF, 0x10);
	assert_int_equal(dbi(e, 0x80) >> 16 & 0xF, 1);
	assert_int_equal(dbi(e, 0x80) >> 20 & 0x3F, 1);
	poke(e, PORT0 + 0x1000, 0x890);
	poke(e, PORT0 + 0x1004, 0x5A5A);
	poke(e, PORT0 + 0x100C, 0x7D);
	assert_int_equal(dbi(e, 0x890), 0x5A5A);
	assert_int_equal(own_guest_errors(e), 0);
	poke(e, PORT0 + 0x100C, 1);
	dbi(e, 0x1000);
	assert_int_equal(own_guest_errors(e), 2);
	venc_free(e);
}

static void perst_takes_the_link_down_and_resets_the_card(void **state)
{
	struct venc *e = unlocked();
	uint32_t control = peek(e, 0xB3313100);

	(void)state;
	poke(e, 0xB3313100, control & ~(1u << 15));
	assert_int_equal(peek(e, 0xB3313100) >> 26 & 1, 0);
	poke(e, 0xB3313100, control);
	assert_int_equal(peek(e, 0xB3313100) >> 26 & 1, 1);
	assert_int_equal(fake_card()->resets, 2);
	assert_int_equal(engine_read(e, 4, 0x10), 0xC); /* BARs are lost until enumeration */
	venc_free(e);
}

static void port_1_has_no_card(void **state)
{
	struct venc *e = unlocked();

	(void)state;
	assert_int_equal(peek(e, 0xB3323100) >> 26 & 1, 0);
	assert_int_equal(peek(e, 0xB3320100) & BUSY, 0);
	venc_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_vid_read_follows_the_nine_steps),
	        cmocka_unit_test(a_card_register_is_written_and_read_back),
	        cmocka_unit_test(
	                function_1_is_reached_by_the_engine_only_and_when_the_option_says_so),
	        cmocka_unit_test(a_type_1_request_leaves_the_port_only_with_the_option),
	        cmocka_unit_test(addresses_above_4_gib_need_the_option),
	        cmocka_unit_test(one_request_of_many_dwords_is_one_tlp),
	        cmocka_unit_test(malformed_bursts_never_complete),
	        cmocka_unit_test(byte_stores_reach_words_and_buffers_when_the_option_says_so),
	        cmocka_unit_test(byte_lanes_select_what_a_write_changes),
	        cmocka_unit_test(unclaimed_requests_complete_without_data),
	        cmocka_unit_test(four_unreleased_slots_make_the_engine_busy),
	        cmocka_unit_test(three_commands_write_a_register_once_the_slots_are_prepared),
	        cmocka_unit_test(firmware_commands_move_the_slot_index),
	        cmocka_unit_test(malformed_requests_never_complete),
	        cmocka_unit_test(a_slot_that_was_not_offered_is_not_run),
	        cmocka_unit_test(a_completion_timeout_leaves_the_start_bit_set),
	        cmocka_unit_test(a_slow_engine_needs_polling),
	        cmocka_unit_test(stores_other_than_one_dword_do_not_reach_registers),
	        cmocka_unit_test(the_dbi_window_shows_a_root_port_with_a_link),
	        cmocka_unit_test(perst_takes_the_link_down_and_resets_the_card),
	        cmocka_unit_test(port_1_has_no_card),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
