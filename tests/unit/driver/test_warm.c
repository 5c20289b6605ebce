/* test_warm.c - one owner of a card after the other: what is taken over, and what is reset. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/core/rx580_priv.h"
#include "device/regs/regs.h"
#include "device/regs/smc.h"
#include "device/smu/smu_priv.h"
#include "helper_card.h"
#include "helper_lasting.h"

#define CARD      "posted" /* and running: helper_lasting.c gives it 512 MiB */
#define UCODE_MEC 0x40u    /* in UcodeLoadStatus: polaris.md 4.4 */
#define BYTES     70001u   /* more than a command, no multiple of anything */

static void fill(uint8_t *bytes, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)((i * 7 + seed) >> (i % 5));
}

static void put_buffer(struct rx580 *rx, const char *name, unsigned seed)
{
	static uint8_t bytes[BYTES];
	struct rx_buffer *b;

	fill(bytes, BYTES, seed);
	assert_int_equal(rx_buffer_create(rx, name, &b), 0);
	assert_int_equal(rx_buffer_resize(rx, b, BYTES), 0);
	assert_int_equal(rx_vram_write(rx, rx_buffer_offset(b), bytes, BYTES), 0);
}

static void check_buffer(struct rx580 *rx, const char *name, unsigned seed)
{
	static uint8_t want[BYTES], got[BYTES];
	struct rx_buffer *b = rx_buffer_find(rx, name);

	if (!b)
		fail_msg("no buffer %s", name);
	assert_int_equal(rx_buffer_size(b), BYTES);
	fill(want, BYTES, seed);
	assert_int_equal(rx_vram_read(rx, rx_buffer_offset(b), got, BYTES), 0);
	assert_memory_equal(want, got, BYTES);
}

/* spoil - flip a bit where the record lies, in the area in use. */
static void spoil(struct rx580 *rx, uint64_t at)
{
	uint8_t byte;

	assert_int_equal(rx_vram_read(rx, at, &byte, 1), 0);
	byte ^= 0x10;
	assert_int_equal(rx_vram_write(rx, at, &byte, 1), 0);
}

static uint64_t record_at(const struct rx580 *rx, unsigned index)
{
	return keep_area_at(rx->keep.area) + KEEP_LOG_AT + index * KEEP_RECORD_BYTES;
}

static void buffers_outlive_their_owner(void **state)
{
	struct lasting l;
	struct rx_buffer *b;

	(void)state;
	lasting_new(&l, CARD);
	struct rx580 *rx = lasting_take(&l, RX_ATTACH_WARM);

	assert_null(rx_buffer_next(rx, NULL));
	put_buffer(rx, "a", 1);
	put_buffer(rx, "b", 2);
	put_buffer(rx, "c", 3);
	assert_int_equal(rx_buffer_remove(rx, rx_buffer_find(rx, "b")), 0);
	assert_int_equal(rx_buffer_rename(rx, rx_buffer_find(rx, "c"), "d"), 0);
	assert_int_equal(rx_buffer_create(rx, "empty", &b), 0);
	lasting_die(rx);
	rx = lasting_take(&l, RX_ATTACH_WARM);
	lasting_said(&l, "3 things");
	check_buffer(rx, "a", 1);
	check_buffer(rx, "d", 3);
	assert_null(rx_buffer_find(rx, "b"));
	assert_int_equal(rx_buffer_size(rx_buffer_find(rx, "empty")), 0);
	put_buffer(rx, "e", 5); /* beside the others */
	check_buffer(rx, "a", 1);
	check_buffer(rx, "d", 3);
	rx_close(rx);
	rx = lasting_take(&l, RX_ATTACH_WARM);
	assert_null(rx_buffer_next(rx, NULL)); /* that was a clean end */
	assert_int_equal(helper_guest_errors(rx), 0);
	rx_close(rx);
	lasting_free(&l);
}

static void creating_a_buffer_costs_a_few_commands(void **state)
{
	struct lasting l;
	struct rx_info before, after;
	struct rx_buffer *b;

	(void)state;
	lasting_new(&l, CARD);
	struct rx580 *rx = lasting_take(&l, RX_ATTACH_WARM);

	helper_guest_errors(rx); /* counters up to date */
	rx_read_info(rx, &before);
	assert_int_equal(rx_buffer_create(rx, "a", &b), 0);
	helper_guest_errors(rx);
	rx_read_info(rx, &after);
	if (after.commands - before.commands > 4)
		fail_msg("expected at most 4 commands, got %d",
		        (int)(after.commands - before.commands));
	rx_close(rx);
	lasting_free(&l);
}

/* More changes than an area has records: the other one takes over, again and again. */
static void record_goes_on_when_an_area_is_full(void **state)
{
	struct lasting l;

	(void)state;
	lasting_new(&l, CARD);
	struct rx580 *rx = lasting_take(&l, RX_ATTACH_WARM);
	uint64_t first = rx->keep.generation;

	put_buffer(rx, "a", 1);
	for (unsigned i = 0; i < KEEP_RECORDS; i++) {
		struct rx_buffer *b;

		assert_int_equal(rx_buffer_create(rx, "x", &b), 0);
		assert_int_equal(rx_buffer_remove(rx, b), 0);
	}
	put_buffer(rx, "b", 2);
	assert_true(rx->keep.generation >= first + 2);
	lasting_die(rx);
	rx = lasting_take(&l, RX_ATTACH_WARM);
	lasting_said(&l, "2 things");
	check_buffer(rx, "a", 1);
	check_buffer(rx, "b", 2);
	rx_close(rx);
	lasting_free(&l);
}

static void last_record_cut_means_the_state_before_it(void **state)
{
	struct lasting l;
	struct rx_buffer *b;

	(void)state;
	lasting_new(&l, CARD);
	struct rx580 *rx = lasting_take(&l, RX_ATTACH_WARM);

	put_buffer(rx, "a", 1);
	assert_int_equal(rx_buffer_create(rx, "late", &b), 0);
	spoil(rx, record_at(rx, rx->keep.used - 1) + 100);
	lasting_die(rx);
	rx = lasting_take(&l, RX_ATTACH_WARM);
	check_buffer(rx, "a", 1);
	assert_null(rx_buffer_find(rx, "late"));
	rx_close(rx);
	lasting_free(&l);
}

/* ---- what is not taken over ---- */

static void spoil_middle(struct rx580 *rx)
{
	spoil(rx, record_at(rx, 0) + 20);
}

static void spoil_header(struct rx580 *rx)
{
	for (unsigned area = 0; area < KEEP_AREAS; area++)
		for (unsigned at = 0; at < 8; at++)
			spoil(rx, keep_area_at(area) + at);
}

/* The firmware of a start that ended between two images: MEC is missing. */
static void forget_microcode(struct rx580 *rx)
{
	uint32_t at = rx->smu->header.soft_registers + SOFT_UCODE_LOAD_STATUS, status;

	assert_int_equal(smc_read(&rx->mmio, at, &status), 0);
	assert_int_equal(smc_write(&rx->mmio, at, status & ~UCODE_MEC), 0);
}

static void forget_post(struct rx580 *rx)
{
	assert_int_equal(rx_reg_write(rx, REG_BIOS_SCRATCH_7, 0), 0);
}

/* claim - a whole record of a buffer at @offset. */
static void claim(struct rx580 *rx, const char *name, uint64_t offset, uint64_t size)
{
	uint8_t bytes[KEEP_RECORD_BYTES];
	struct rx_kept e = {.kind = 'b', .offset = offset, .size = size};

	snprintf(e.name, sizeof(e.name), "%s", name);
	keep_record_build(bytes, rx->keep.generation, rx->keep.used++, KEEP_PUT, &e);
	assert_int_equal(
	        rx_vram_write(rx, record_at(rx, rx->keep.used - 1), bytes, sizeof(bytes)), 0);
}

static void claim_same_twice(struct rx580 *rx)
{
	claim(rx, "x", 64u << 20, 4096);
	claim(rx, "y", (64u << 20) + 2048, 4096);
}

static void claim_beyond_vram(struct rx580 *rx)
{
	claim(rx, "x", 511u << 20, 2u << 20);
}

static void claim_the_reserve(struct rx580 *rx)
{
	claim(rx, "x", 1u << 20, 4096);
}

/* Found out only when VRAM is laid out: the start begins anew with a reset. */
static void claim_the_drivers_own(struct rx580 *rx)
{
	claim(rx, "x", rx->stage, 4096);
}

static const struct dirt {
	const char *name;
	void (*make)(struct rx580 *rx);
	const char *said;
} dirts[] = {
        {"a record in the middle is damaged", spoil_middle, "is damaged"},
        {"no header", spoil_header, "there is no record"},
        {"microcode is missing", forget_microcode, "has loaded microcode 0x43e of 0x47e"},
        {"not posted, SMU running", forget_post, "nobody has posted it"},
        {"overlapping ranges", claim_same_twice, "x and y overlap"},
        {"range beyond VRAM", claim_beyond_vram, "x lies where nothing can lie"},
        {"range in the reserve", claim_the_reserve, "x lies where nothing can lie"},
        {"range of the driver's own", claim_the_drivers_own, "does not fit beside"},
};

static void dirty_card_is_reset_and_started_cold(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(dirts); i++) {
		struct lasting l;

		print_message("  %s\n", dirts[i].name);
		lasting_new(&l, CARD);
		struct rx580 *rx = lasting_take(&l, RX_ATTACH_WARM);

		put_buffer(rx, "a", 1);
		put_buffer(rx, "b", 2);
		rx_keep_freeze(rx);
		dirts[i].make(rx);
		rx_close(rx);
		rx = lasting_take(&l, RX_ATTACH_RESET);
		lasting_said(&l, dirts[i].said);
		lasting_said(&l, "is not taken over");
		lasting_said(&l, "resetting the card");
		assert_null(rx_buffer_next(rx, NULL));
		put_buffer(rx, "a", 3); /* the card works, and is taken over again */
		assert_int_equal(helper_guest_errors(rx), 0);
		lasting_die(rx);
		rx = lasting_take(&l, RX_ATTACH_WARM);
		check_buffer(rx, "a", 3);
		rx_close(rx);
		lasting_free(&l);
	}
}

static void hold_queue(struct lasting *l, const void *what)
{
	(void)what;
	assert_int_equal(vcard_spoil(l->card, false, REG_CP_HQD_ACTIVE, 1), 0);
}

static void let_queue_go(struct lasting *l, const void *what)
{
	(void)what;
	assert_int_equal(vcard_spoil(l->card, false, REG_CP_HQD_ACTIVE, 0), 0);
}

/* Neither a drain nor a kill takes it off; a reset does. */
static void queue_that_does_not_let_go_means_a_reset(void **state)
{
	struct lasting l;

	(void)state;
	lasting_new(&l, CARD);
	struct rx580 *rx = lasting_take(&l, RX_ATTACH_WARM);

	put_buffer(rx, "a", 1);
	lasting_die(rx);
	l.before = "graphics";
	l.damage = hold_queue;
	l.repair = let_queue_go;
	rx = lasting_take(&l, RX_ATTACH_RESET);
	lasting_said(&l, "a queue of an earlier driver still runs on pipe 0");
	lasting_said(&l, "stays active after a kill: the card needs a reset");
	lasting_said(&l, "is not taken over: it could not be brought up as it was found");
	lasting_said(&l, "resetting the card");
	assert_null(rx_buffer_next(rx, NULL));
	put_buffer(rx, "a", 3);
	check_buffer(rx, "a", 3);
	assert_int_equal(helper_guest_errors(rx), 0);
	rx_close(rx);
	lasting_free(&l);
}

/* A driver killed while it sizes a BAR leaves it without an address. */
static void driver_killed_while_sizing_a_bar_is_survived(void **state)
{
	static const unsigned bars[] = {0, 1, 2, 3, 5}; /* 1 and 3: upper halves */

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bars); i++) {
		struct lasting l;

		print_message("  BAR%u\n", bars[i]);
		lasting_new(&l, CARD);
		struct rx580 *rx = lasting_take(&l, RX_ATTACH_WARM);

		put_buffer(rx, "a", 1);
		lasting_die(rx);
		struct vcard_tlp ones = {.type = VCARD_CFG_WRITE,
		        .address = 0x10 + 4 * bars[i],
		        .byte_enables = 0xF,
		        .data = 0xFFFFFFFF};

		assert_int_equal(vcard_tlp(l.card, &ones), VCARD_SC);
		rx = lasting_take(&l, RX_ATTACH_WARM);
		check_buffer(rx, "a", 1);
		assert_int_equal(helper_guest_errors(rx), 0);
		rx_close(rx);
		lasting_free(&l);
	}
}

/* ---- notes ---- */

static void notes_come_back_and_damaged_ones_do_not(void **state)
{
	struct lasting l;
	const struct rx_kept k = {.kind = 'k', .name = "a.cl"}, m = {.kind = 'k', .name = "b.cl"};
	void *bytes = NULL;

	(void)state;
	lasting_new(&l, CARD);
	struct rx580 *rx = lasting_take(&l, RX_ATTACH_WARM);

	assert_int_equal(rx_keep(rx, &k, "first", 5), 0);
	assert_int_equal(rx_keep(rx, &k, "second", 6), 0); /* replaces it */
	assert_int_equal(rx_keep(rx, &m, "third", 5), 0);
	assert_int_equal(rx_keep(rx, &m, dirts, RX_KEEP_NOTE_MAX + 1), -EFBIG);
	const struct rx_kept *b = rx_kept_next(rx, 'k', rx_kept_next(rx, 'k', NULL));

	assert_string_equal(b->name, "b.cl");
	spoil(rx, b->note);
	lasting_die(rx);
	rx = lasting_take(&l, RX_ATTACH_WARM);
	const struct rx_kept *a = rx_kept_next(rx, 'k', NULL);

	assert_true(a && a->found);
	assert_int_equal(rx_kept_note(rx, a, &bytes), 0);
	assert_string_equal(bytes, "second");
	free(bytes);
	b = rx_kept_next(rx, 'k', a);
	assert_int_equal(rx_kept_note(rx, b, &bytes), -EBADMSG);
	rx_forget(rx, 'k', "a.cl");
	lasting_die(rx);
	rx = lasting_take(&l, RX_ATTACH_WARM);
	assert_string_equal(rx_kept_next(rx, 'k', NULL)->name, "b.cl");
	rx_close(rx);
	lasting_free(&l);
}

/* What finds no room in the record leaves nothing in VRAM either. */
static void a_full_record_takes_no_memory(void **state)
{
	struct rx580 *rx = helper_open("virtual,posted,vram=64", NULL, NULL);
	struct rx_kept e = {.kind = 'k'};
	struct rx_info before, after;

	(void)state;
	for (unsigned i = 0; i < KEEP_MAX_ENTRIES; i++) {
		snprintf(e.name, sizeof(e.name), "n%u.cl", i);
		assert_int_equal(keep_list_put(&rx->keep.list, &e), 0);
	}
	rx_read_info(rx, &before);
	snprintf(e.name, sizeof(e.name), "more.cl");
	assert_int_equal(rx_keep(rx, &e, "note", 4), -ENOSPC);
	rx_read_info(rx, &after);
	assert_int_equal(after.vram_used, before.vram_used);
	assert_null(rx_kept_find(rx, 'k', "more.cl"));
	helper_close_clean(rx);
}

/* ---- the header alone ---- */

static void header_with_any_bit_flipped_is_refused(void **state)
{
	const struct keep_header h = {.generation = 0x123456789abc, .writer = "rx580fs test"};
	struct keep_header got;
	uint8_t bytes[KEEP_HEADER_BYTES];

	(void)state;
	keep_header_build(bytes, &h);
	assert_int_equal(keep_header_parse(bytes, &got), 0);
	assert_int_equal(got.generation, h.generation);
	assert_string_equal(got.writer, h.writer);
	for (unsigned bit = 0; bit < 8 * KEEP_HEADER_BYTES; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		int err = keep_header_parse(bytes, &got);

		if (err != (bit < 64 ? -ENOENT : -EBADMSG))
			fail_msg("bit %u flipped: expected a refusal, got %d", bit, err);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(buffers_outlive_their_owner),
	        cmocka_unit_test(creating_a_buffer_costs_a_few_commands),
	        cmocka_unit_test(record_goes_on_when_an_area_is_full),
	        cmocka_unit_test(last_record_cut_means_the_state_before_it),
	        cmocka_unit_test(dirty_card_is_reset_and_started_cold),
	        cmocka_unit_test(queue_that_does_not_let_go_means_a_reset),
	        cmocka_unit_test(driver_killed_while_sizing_a_bar_is_survived),
	        cmocka_unit_test(notes_come_back_and_damaged_ones_do_not),
	        cmocka_unit_test(a_full_record_takes_no_memory),
	        cmocka_unit_test(header_with_any_bit_flipped_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
