/* test_bring_up_broken.c - a damaged VBIOS, missing or damaged microcode, and a card that breaks on
 * the way up: words that name what is wrong, in time, and a card that is none the worse for it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/atom/atom_opcodes.h"
#include "device/bytes.h"
#include "device/firmware/firmware.h"
#include "device/log.h"
#include "device/virtual/vbios/atom_asm.h"
#include "device/virtual/vbios/synth.h"
#include "helper_card.h"
#include "helper_lasting.h"

/* the interpreter's own limit is 10 s a loop (atom.h); the rest is for a busy machine */
#define ENDS_MS 120000

/* ---- VBIOS ---- */

struct flash {
	uint8_t bytes[SYNTH_FLASH_BYTES];
	char path[64];
};

static void flash_build(struct flash *f)
{
	const struct synth_options opt = {
	        .vram_mb = 512, .subsystem_vendor = 0x1DA2, .subsystem_id = 0xE366};

	assert_true(synth_build(f->bytes, sizeof(f->bytes), &opt) > 0);
}

static void save(struct flash *f)
{
	strcpy(f->path, "/tmp/rx580fs-test-XXXXXX");
	int fd = mkstemp(f->path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, f->bytes, sizeof(f->bytes)), sizeof(f->bytes));
	close(fd);
}

static void lasting_on(struct lasting *l, struct flash *f)
{
	char options[128];

	save(f);
	snprintf(options, sizeof(options), "cold,vbios=%s", f->path);
	lasting_new(l, options);
	unlink(f->path); /* the card has read it */
}

static uint8_t *header(struct flash *f)
{
	return f->bytes + get_le16(f->bytes + 0x48); /* atombios.md 1, 2 */
}

static uint8_t *pcir(struct flash *f)
{
	return f->bytes + get_le16(f->bytes + 0x18);
}

/* table - of a master list: @list 0x1E commands, 0x20 data (atombios.md 2, 3). */
static uint8_t *slot(struct flash *f, unsigned list, unsigned index)
{
	return f->bytes + get_le16(header(f) + list) + 4 + 2 * index;
}

static uint8_t *table(struct flash *f, unsigned list, unsigned index)
{
	return f->bytes + get_le16(slot(f, list, index));
}

#define COMMANDS 0x1E
#define DATA     0x20

static void no_signature(struct flash *f)
{
	f->bytes[0x30] = 'x';
}

static void length_zero(struct flash *f)
{
	f->bytes[2] = 0;
}

static void length_short(struct flash *f)
{
	f->bytes[2]--;
}

static void no_pcir(struct flash *f)
{
	*pcir(f) = 'x';
}

static void pcir_far(struct flash *f)
{
	put_le16(f->bytes + 0x18, 0xFFF0);
}

static void pcir_length(struct flash *f)
{
	put_le16(pcir(f) + 0x10, 1);
}

static void code_type(struct flash *f)
{
	pcir(f)[0x14] = 3;
}

static void header_far(struct flash *f)
{
	put_le16(f->bytes + 0x48, 0xFFF0);
}

static void no_atom(struct flash *f)
{
	header(f)[4] = 'x';
}

static void header_small(struct flash *f)
{
	put_le16(header(f), 4);
}

static void header_revision(struct flash *f)
{
	header(f)[2] = 9;
}

static void commands_far(struct flash *f)
{
	put_le16(header(f) + COMMANDS, 0xFFF0);
}

static void data_far(struct flash *f)
{
	put_le16(header(f) + DATA, 0xFFF0);
}

static void command_far(struct flash *f)
{
	put_le16(slot(f, COMMANDS, 0), 0xFFF0);
}

static void command_truncated(struct flash *f)
{
	put_le16(table(f, COMMANDS, 0), 5);
}

static void no_asic_init(struct flash *f)
{
	put_le16(slot(f, COMMANDS, 0), 0);
}

static void endless(struct flash *f)
{
	uint8_t *code = table(f, COMMANDS, 0) + 6; /* atombios.md 4 */

	code[0] = ATOM_JUMP;
	put_le16(code + 1, 6); /* to itself */
}

static void bad_opcode(struct flash *f)
{
	table(f, COMMANDS, 0)[6] = 0xFF;
}

static void no_clocks(struct flash *f)
{
	put_le32(table(f, DATA, 4) + 8, 0); /* FirmwareInfo, ulDefaultEngineClock: atombios.md 10 */
}

static void firmware_info_truncated(struct flash *f)
{
	put_le16(table(f, DATA, 4), 8);
}

static void powerplay_truncated(struct flash *f)
{
	put_le16(table(f, DATA, 15), 8);
}

static void vbios_damage_is_named_and_nothing_is_started(void **state)
{
	static const struct {
		const char *name;
		void (*damage)(struct flash *f);
		bool unsealed;
		const char *step, *word;
	} rows[] = {
	        {"signature", no_signature, false, "VBIOS", "signature"},
	        {"length 0", length_zero, false, "VBIOS", "length"},
	        {"length", length_short, false, "VBIOS", "PCIR says"},
	        {"checksum", NULL, true, "VBIOS", "checksum"},
	        {"PCIR", no_pcir, false, "VBIOS", "PCIR"},
	        {"PCIR offset", pcir_far, false, "VBIOS", "PCIR"},
	        {"PCIR length", pcir_length, false, "VBIOS", "PCIR says"},
	        {"code type", code_type, false, "VBIOS", "code type"},
	        {"header offset", header_far, false, "VBIOS", "ROM header"},
	        {"ATOM", no_atom, false, "VBIOS", "ATOM"},
	        {"header size", header_small, false, "VBIOS", "ROM header of 4 bytes"},
	        {"header revision", header_revision, false, "VBIOS", "revision 9.1"},
	        {"command list", commands_far, false, "VBIOS", "master table"},
	        {"data list", data_far, false, "VBIOS", "master table"},
	        {"command offset", command_far, false, "VBIOS", "command table 0"},
	        {"command size", command_truncated, false, "VBIOS", "command table 0"},
	        {"no ASIC_Init", no_asic_init, false, "POST", "ASIC_Init"},
	        {"endless", endless, false, "POST", "ASIC_Init"},
	        {"opcode", bad_opcode, false, "POST", "ASIC_Init"},
	        {"no clock", no_clocks, false, "POST", "FirmwareInfo"},
	        {"FirmwareInfo", firmware_info_truncated, false, "POST", "FirmwareInfo"},
	        {"PowerPlayInfo", powerplay_truncated, false, "fan", "PowerPlayInfo"},
	};
	static struct flash f;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lasting l;
		struct lasting_look look;
		struct rx580 *rx;
		char step[32];

		flash_build(&f);
		if (rows[i].damage)
			rows[i].damage(&f);
		if (rows[i].unsealed)
			f.bytes[0x100]++;
		else if (f.bytes[2])
			as_checksum(f.bytes);
		lasting_on(&l, &f);
		print_message("%s\n", rows[i].name);
		assert_true(lasting_start(&l, &rx) < 0);
		assert_in_range(l.host_ms, 0, ENDS_MS);
		snprintf(step, sizeof(step), "\"%s", rows[i].step);
		lasting_said(&l, step);
		lasting_said(&l, rows[i].word);
		lasting_look(&l, &look);
		assert_false(look.queue_active[0] || look.queue_active[1]);
		lasting_free(&l);
	}
}

/* ---- microcode ---- */

static char folder[64];

static void write_standin(enum fw_kind kind, const char *name, size_t flip)
{
	char path[128];
	size_t size;
	uint8_t *data = fw_standin(kind, &size);

	assert_non_null(data);
	if (flip)
		data[flip < size ? flip : size - 8] ^= 0x40;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *out = fopen(path, "wb");

	assert_non_null(out);
	assert_int_equal(fwrite(data, 1, size, out), size);
	assert_int_equal(fclose(out), 0);
	free(data);
}

/* The card of these tests is a 67DF E7 with SMU_SEL: polaris.md 4.1 */
static const char *file_of(enum fw_kind kind)
{
	const struct fw_query q = {
	        .virtual_card = true, .device = 0x67DF, .revision = 0xE7, .smu_sel = true};
	const char *names[2];

	fw_names(&q, kind, names);
	return names[0];
}

static void fill_folder(enum fw_kind damaged, size_t flip, enum fw_kind missing)
{
	strcpy(folder, "/tmp/rx580fs-test-XXXXXX");
	assert_non_null(mkdtemp(folder));
	for (enum fw_kind k = 0; k < FW_KINDS; k++)
		if (k != missing)
			write_standin(k, file_of(k), k == damaged ? flip : 0);
}

static void empty_folder(void)
{
	char path[128];

	for (enum fw_kind k = 0; k < FW_KINDS; k++) {
		snprintf(path, sizeof(path), "%s/%s", folder, file_of(k));
		unlink(path);
	}
	assert_int_equal(rmdir(folder), 0);
}

static int start_with_folder(struct lasting *l)
{
	struct rx580 *rx;

	l->firmware = folder;
	int err = lasting_start(l, &rx);

	l->firmware = NULL;
	if (!err)
		rx_close(rx);
	return err;
}

static void next_start_succeeds(struct lasting *l)
{
	struct rx580 *rx;

	if (lasting_start(l, &rx))
		fail_msg("the next start fails, too:\n%s", l->said);
	rx_close(rx);
}

static void missing_microcode_is_named(void **state)
{
	struct lasting l;

	(void)state;
	lasting_new(&l, "cold");
	fill_folder(FW_KINDS, 0, FW_MEC);
	assert_int_equal(start_with_folder(&l), -ENOENT);
	lasting_said(&l, "polaris10_mec");
	lasting_said(&l, "firmware-amd-graphics");
	lasting_said(&l, "\"microcode");
	empty_folder();
	next_start_succeeds(&l);
	lasting_free(&l);
}

/* The program the VBIOS has started goes on, so amdgpu's own for the memory is not needed. */
static void memory_microcode_may_be_missing(void **state)
{
	struct lasting l;

	(void)state;
	lasting_new(&l, "cold");
	fill_folder(FW_KINDS, 0, FW_MC);
	assert_int_equal(start_with_folder(&l), 0);
	empty_folder();
	lasting_free(&l);
}

/* @flip: in the header, which the driver checks, or in the payload, which the card checks. */
static void damaged_microcode_is_refused_by_name(void **state)
{
	static const struct {
		enum fw_kind kind;
		size_t flip;
		const char *step, *word;
	} rows[] = {
	        {FW_SMC, 1, "\"microcode", "smc"}, /* size of the file */
	        {FW_RLC, 1, "\"microcode", "rlc"},
	        {FW_MEC, 20, "\"microcode", "mec"}, /* size of the payload */
	        {FW_SMC, 5000, "\"SMU", "SMU_STATUS"},
	        {FW_RLC, 1000, "\"SMU", "RLC"},
	        {FW_MEC, 5000, "\"SMU", "MEC"},
	        {FW_SDMA1, 5000, "\"SMU", "SDMA1"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lasting l;

		print_message("%s, byte %zu\n", fw_title(rows[i].kind), rows[i].flip);
		lasting_new(&l, "cold");
		fill_folder(rows[i].kind, rows[i].flip, FW_KINDS);
		assert_true(start_with_folder(&l) < 0);
		empty_folder();
		lasting_said(&l, rows[i].step);
		lasting_said(&l, rows[i].word);
		next_start_succeeds(&l);
		lasting_free(&l);
	}
}

/* ---- a card that breaks ---- */

struct breakage {
	const char *step;
	enum vcard_fault fault;
	unsigned value;
	const char *ends_at, *word;
	bool full; /* the fan has to run at full speed; else it must when the card gets hot */
};

static void inject(struct lasting *l, const void *what)
{
	const struct breakage *b = what;

	vcard_inject(l->card, b->fault, b->value);
}

static void check_fan(struct lasting *l, const struct breakage *b)
{
	struct lasting_look look;

	if (!b->full) {
		vcard_inject(l->card, VCARD_FAULT_OVERHEAT, 80);
		vcard_advance(l->card, 5000);
	}
	lasting_look(l, &look);
	assert_false(look.queue_active[0] || look.queue_active[1]);
	if (look.duty < look.full_duty / (b->full ? 1 : 3))
		fail_msg("the fan has duty %u of %u", look.duty, look.full_duty);
}

static void breakage_ends_the_start_in_words_and_the_fan_is_safe(void **state)
{
	static const struct breakage rows[] = {
	        {"SMU", VCARD_FAULT_SMU_SILENT, 1, "\"SMU", "no answer", false},
	        {"SMU", VCARD_FAULT_SMU_REJECTS, 1, "\"SMU", "refuses", false},
	        {"SMU", VCARD_FAULT_UCODE_STUCK, 0x40, "\"SMU", "MEC", false},
	        {"fan", VCARD_FAULT_SMU_SILENT, 1, "\"fan", "no answer", true},
	        {"fan", VCARD_FAULT_FAN_STUCK, 1, "\"fan", "CG_TACH_STATUS", false},
	        {"fan", VCARD_FAULT_OVERHEAT, 91, "\"fan", "limit is 90 C", true},
	        {"queues", VCARD_FAULT_MEC_DEAD, 1, "\"queues", "SCRATCH_REG0", false},
	        {"power", VCARD_FAULT_SMU_SILENT, 1, "\"power", "no answer", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lasting l;
		struct rx580 *rx;

		print_message("fault %d before \"%s\"\n", rows[i].fault, rows[i].step);
		lasting_new(&l, "cold");
		l.before = rows[i].step;
		l.damage = inject;
		l.what = &rows[i];
		assert_true(lasting_start(&l, &rx) < 0);
		assert_in_range(l.host_ms, 0, ENDS_MS);
		lasting_said(&l, rows[i].ends_at);
		lasting_said(&l, rows[i].word);
		check_fan(&l, &rows[i]);
		vcard_inject(l.card, rows[i].fault, 0);
		lasting_free(&l);
	}
}

/* What is no longer broken is no obstacle: silence passes, a card cools down. */
static void card_that_recovers_starts_again(void **state)
{
	static const struct breakage rows[] = {
	        {"SMU", VCARD_FAULT_SMU_SILENT, 1, NULL, NULL, false},
	        {"SMU", VCARD_FAULT_UCODE_STUCK, 0x40, NULL, NULL, false},
	        {"fan", VCARD_FAULT_OVERHEAT, 91, NULL, NULL, false},
	        {"queues", VCARD_FAULT_MEC_DEAD, 1, NULL, NULL, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lasting l;
		struct rx580 *rx;

		lasting_new(&l, "cold");
		l.before = rows[i].step;
		l.damage = inject;
		l.what = &rows[i];
		assert_true(lasting_start(&l, &rx) < 0);
		vcard_inject(l.card, rows[i].fault, 0);
		vcard_advance(l.card, 300000);
		l.before = NULL;
		print_message("after fault %d before \"%s\"\n", rows[i].fault, rows[i].step);
		next_start_succeeds(&l);
		lasting_free(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(vbios_damage_is_named_and_nothing_is_started),
	        cmocka_unit_test(missing_microcode_is_named),
	        cmocka_unit_test(memory_microcode_may_be_missing),
	        cmocka_unit_test(damaged_microcode_is_refused_by_name),
	        cmocka_unit_test(breakage_ends_the_start_in_words_and_the_fan_is_safe),
	        cmocka_unit_test(card_that_recovers_starts_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
