/* test_flash.c - the flash behind the VBIOS: read on demand, in pieces, once; and the card's second
 * function, which needs a bridge that reaches it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/bytes.h"
#include "device/core/rx580_priv.h"
#include "device/log.h"
#include "device/regs/regs.h"
#include "device/virtual/vbios/synth.h"
#include "foreign.h"
#include "helper_board.h"
#include "helper_card.h"
#include "helper_pipe.h"

#define SMALL    (256u << 10)
#define LARGE    (512u << 10)
#define AUDIO_ID 0xAAF01002u /* bridge.md 4.2 */

static uint8_t flash[LARGE], again[LARGE];

static size_t flash_bytes(struct rx580 *rx)
{
	size_t bytes = 0;

	assert_int_equal(rx_flash_bytes(rx, &bytes), 0);
	return bytes;
}

/* read_all - as a client would; a call may give less than was asked for. Return: calls made. */
static unsigned read_all(struct rx580 *rx, uint8_t *out, size_t bytes)
{
	unsigned calls = 0;

	for (size_t at = 0; at < bytes; calls++) {
		int n = rx_flash_read(rx, at, out + at, bytes - at);

		assert_in_range(n, 1, bytes - at);
		at += (size_t)n;
	}
	return calls;
}

static uint64_t commands(struct rx580 *rx)
{
	struct rx_info info;

	rx_read_info(rx, &info);
	return info.commands;
}

static void expect_chain(const uint8_t *p, size_t bytes)
{
	struct vbios_rom rom;

	assert_int_equal(vbios_rom_parse(&rom, p, bytes), 0);
	assert_true(rom.chain_complete);
	assert_int_equal(rom.images, 2);
	assert_int_equal(rom.image[1].code_type, VBIOS_CODE_EFI);
	assert_int_equal(get_le32(p + SYNTH_MICROCODE), SYNTH_MICROCODE_ID);
}

static void the_rest_is_read_in_pieces_and_once(void **state)
{
	static const char *const cards[] = {
	        "virtual,posted,vram=64", "virtual,posted,vram=64,bridge=asm2464"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cards); i++) {
		struct rx580 *rx = helper_open(cards[i], NULL, NULL);
		size_t known, bytes = flash_bytes(rx);

		rx_bios(rx, &known);
		assert_int_equal(bytes, SMALL);
		uint64_t before = commands(rx);

		/* the image is in memory */
		assert_int_equal(rx_flash_read(rx, 0, flash, bytes), known);
		assert_int_equal(commands(rx), before);
		unsigned calls = read_all(rx, flash, bytes);

		assert_true(calls >= (bytes - known) / RX_FLASH_PIECE);
		assert_true(commands(rx) > before);
		expect_chain(flash, bytes);
		before = commands(rx);
		assert_true(read_all(rx, again, bytes) < 4);
		assert_int_equal(commands(rx), before);
		assert_memory_equal(again, flash, bytes);
		assert_int_equal(rx_flash_read(rx, bytes, again, 1), -EINVAL);
		helper_close_clean(rx);
	}
}

static void a_byte_costs_its_piece_only(void **state)
{
	struct rx580 *rx = helper_open("virtual,posted,vram=64", NULL, NULL);
	uint8_t byte[4];

	(void)state;
	assert_int_equal(flash_bytes(rx), SMALL);
	uint64_t before = commands(rx);

	/* by the ROM BAR: sizing, placing, one bulk read, off (bridge.md 4.8) */
	assert_int_equal(rx_flash_read(rx, 0x10002, byte, 4), 4);
	assert_true(commands(rx) - before < 40);
	before = commands(rx);
	/* behind the ROM BAR's 128 KiB, by the port: a command a dword */
	assert_int_equal(rx_flash_read(rx, SYNTH_MICROCODE + 2, byte, 2), 2);
	assert_int_equal(get_le16(byte), SYNTH_MICROCODE_ID >> 16);
	assert_in_range(commands(rx) - before, RX_FLASH_PIECE / 4, RX_FLASH_PIECE / 4 + 250);
	helper_close_clean(rx);
}

struct guest {
	struct rx580 *rx;
	unsigned visits;
};

/* visit - another job, which uses the same index and data registers. */
static void visit(void *ctx)
{
	struct guest *g = ctx;
	uint32_t value;

	if (!g->rx)
		return;
	g->visits++;
	assert_int_equal(rx_reg_write(g->rx, REG_SMC_IND_INDEX_11, IX_ROM_DATA), 0);
	assert_int_equal(rx_reg_read(g->rx, REG_SMC_IND_DATA_11, &value), 0);
}

static void others_get_in_between_and_do_no_harm(void **state)
{
	struct guest g = {0};
	struct rx580 *rx = helper_open("virtual,posted,vram=64", visit, &g);

	(void)state;
	assert_int_equal(flash_bytes(rx), SMALL);
	g.rx = rx;
	read_all(rx, flash, SMALL);
	g.rx = NULL;
	assert_true(g.visits > 100);
	expect_chain(flash, SMALL);
	helper_close_clean(rx);
}

/* write_temporary - @path ends in XXXXXX and becomes its name. */
static void write_temporary(char *path, const uint8_t *data, size_t bytes)
{
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, bytes, f), bytes);
	assert_int_equal(fclose(f), 0);
}

static void a_large_flash_is_told_from_a_small_one(void **state)
{
	const struct synth_options opt = {.vram_mb = 64, .subsystem_vendor = 0x1DA2};
	char path[] = "/tmp/rx580fs-test-XXXXXX", card[96];

	(void)state;
	assert_true(synth_build(flash, SMALL, &opt) > 0);
	for (size_t i = SMALL; i < LARGE; i++)
		flash[i] = (uint8_t)(i * 7 + (i >> 8));
	write_temporary(path, flash, LARGE);
	snprintf(card, sizeof(card), "virtual,posted,vram=64,vbios=%s", path);
	struct rx580 *rx = helper_open(card, NULL, NULL);

	assert_int_equal(flash_bytes(rx), LARGE);
	read_all(rx, again, LARGE);
	assert_memory_equal(again, flash, LARGE);
	helper_close_clean(rx);
	unlink(path);
}

static void a_file_for_the_driver_stands_for_the_flash(void **state)
{
	const struct synth_options opt = {
	        .vram_mb = 64, .subsystem_vendor = 0x1DA2, .subsystem_id = 0xE366, .blocks = 118};
	char path[] = "/tmp/rx580fs-test-XXXXXX";
	int n = synth_build(flash, SMALL, &opt);
	const struct rx_options ro = {.card = "virtual,posted,vram=64", .vbios = path};
	struct rx580 *rx;

	(void)state;
	assert_true(n > 0);
	write_temporary(path, flash, (size_t)n);
	assert_int_equal(rx_open(&rx, &ro), 0);
	assert_int_equal(flash_bytes(rx), n);
	assert_int_equal(read_all(rx, again, (size_t)n), 1);
	assert_memory_equal(again, flash, (size_t)n);
	helper_close_clean(rx);
	unlink(path);
}

static void real_flashes_come_out_as_they_are(void **state)
{
	char path[512], card[600];

	(void)state;
	snprintf(path, sizeof(path), "%s/rx580-8g-sapphire-pulse.rom", vbios_folder());
	FILE *f = fopen(path, "rb");

	if (!f) {
		print_message("no %s: skipped\n", path);
		skip();
	}
	assert_int_equal(fread(flash, 1, SMALL, f), SMALL);
	fclose(f);
	snprintf(card, sizeof(card), "virtual,posted,vbios=%s", path);
	struct rx580 *rx = helper_open(card, NULL, NULL);

	assert_int_equal(flash_bytes(rx), SMALL);
	read_all(rx, again, SMALL);
	assert_memory_equal(again, flash, SMALL);
	helper_close_clean(rx);
}

static void a_card_that_leaves_ends_the_reading(void **state)
{
	struct tap *t = tap_open("vram=64");
	const struct rx_options none = {0};
	struct rx580 *rx;
	uint8_t byte;

	(void)state;
	assert_int_equal(rx_open_on(&rx, &t->pipe, &none), 0);
	assert_int_equal(flash_bytes(rx), SMALL);
	t->unplugged = true;
	assert_int_equal(rx_flash_read(rx, SMALL - 1, &byte, 1), -ENODEV);
	assert_int_equal(rx_flash_read(rx, SMALL - 1, &byte, 1), -ENODEV);
	rx_close(rx);
}

/* ---- what is kept of a board ---- */

/* shorten - the only copy there is. */
static void shorten(off_t bytes)
{
	char command[128], path[256] = "";

	snprintf(command, sizeof(command), "ls '%s'/rx580fs/vbios-*.rom", board_folder());
	FILE *p = popen(command, "r");

	assert_non_null(p);
	assert_non_null(fgets(path, sizeof(path), p));
	pclose(p);
	path[strcspn(path, "\n")] = '\0';
	assert_int_equal(truncate(path, bytes), 0);
}

static void a_whole_copy_saves_the_next_start_all_of_it(void **state)
{
	struct rx580 *rx = helper_open("virtual,posted,vram=64", NULL, NULL);
	size_t known;

	(void)state;
	read_all(rx, flash, flash_bytes(rx));
	helper_close_clean(rx);
	rx = helper_open("virtual,posted,vram=64", NULL, NULL);
	uint64_t before = commands(rx);

	assert_int_equal(flash_bytes(rx), SMALL);
	assert_int_equal(read_all(rx, again, SMALL), 1);
	assert_int_equal(commands(rx), before);
	assert_memory_equal(again, flash, SMALL);
	helper_close_clean(rx);

	shorten(100000); /* neither the image nor all of it: only the image counts */
	rx = helper_open("virtual,posted,vram=64", NULL, NULL);
	rx_bios(rx, &known);
	assert_int_equal(known, 118 * 512);
	assert_int_equal(flash_bytes(rx), SMALL);
	read_all(rx, again, SMALL);
	assert_memory_equal(again, flash, SMALL);
	helper_close_clean(rx);
}

/* ---- function 1 ---- */

static void expect_audio(struct rx580 *rx)
{
	struct rx_info info;
	uint32_t v;

	assert_int_equal(rx_function_read(rx, 1, 0x00, &v), 0);
	assert_int_equal(v, AUDIO_ID);
	assert_int_equal(rx_function_read(rx, 1, 0x08, &v), 0);
	assert_int_equal(v >> 8, 0x040300);
	assert_int_equal(rx_function_read(rx, 1, 0x2C, &v), 0);
	assert_int_equal(v, 0xAAF01DA2);
	assert_int_equal(rx_function_read(rx, 1, 2, &v), -EINVAL);
	assert_int_equal(rx_function_read(rx, 0, 0, &v), -EINVAL);
	assert_int_equal(rx_function_read(rx, 8, 0, &v), -EINVAL);
	rx_read_info(rx, &info);
	assert_true(info.ability_function_1);
}

static void an_asmedia_reaches_the_audio_function(void **state)
{
	struct rx580 *rx = helper_open("virtual,posted,vram=64,bridge=asm2362", NULL, NULL);
	uint32_t v = 0;

	(void)state;
	expect_audio(rx);
	assert_int_equal(rx_function_read(rx, 2, 0, &v), 0);
	assert_int_equal(v, 0xFFFFFFFF); /* bridge.md 3.4: nobody is there */
	helper_close_clean(rx);
}

/* Even on a bridge that could: nobody has proven it. */
static void a_realtek_is_not_asked_before_it_was_probed(void **state)
{
	struct rx580 *rx = helper_open("virtual,posted,vram=64,engine=functions", NULL, NULL);
	uint64_t before = commands(rx);
	struct rx_info info;
	uint32_t v;

	(void)state;
	assert_int_equal(rx_function_read(rx, 1, 0, &v), -ENODATA);
	assert_int_equal(commands(rx), before);
	rx_read_info(rx, &info);
	assert_false(info.ability_function_1);
	helper_close_clean(rx);
}

static void a_realtek_that_was_probed_reaches_it_by_its_engine(void **state)
{
	(void)state;
	board_store("vram=64", &(struct abilities){.function_1 = true});
	struct rx580 *rx = helper_open("virtual,posted,vram=64,engine=functions", NULL, NULL);
	uint32_t v;

	expect_audio(rx);
	/* the engine's account of its slots stays right */
	assert_int_equal(rx_reg_write(rx, REG_BIOS_SCRATCH_0, 0x12345678), 0);
	assert_int_equal(rx_reg_read(rx, REG_BIOS_SCRATCH_0, &v), 0);
	assert_int_equal(v, 0x12345678);
	helper_close_clean(rx);
}

int main(void)
{
#define BOARD(f) cmocka_unit_test_setup_teardown(f, board_setup, board_teardown)
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_rest_is_read_in_pieces_and_once),
	        cmocka_unit_test(a_byte_costs_its_piece_only),
	        cmocka_unit_test(others_get_in_between_and_do_no_harm),
	        cmocka_unit_test(a_large_flash_is_told_from_a_small_one),
	        cmocka_unit_test(a_file_for_the_driver_stands_for_the_flash),
	        cmocka_unit_test(real_flashes_come_out_as_they_are),
	        cmocka_unit_test(a_card_that_leaves_ends_the_reading),
	        BOARD(a_whole_copy_saves_the_next_start_all_of_it),
	        cmocka_unit_test(an_asmedia_reaches_the_audio_function),
	        cmocka_unit_test(a_realtek_is_not_asked_before_it_was_probed),
	        BOARD(a_realtek_that_was_probed_reaches_it_by_its_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
