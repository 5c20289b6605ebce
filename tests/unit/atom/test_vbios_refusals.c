/* test_vbios_refusals.c - a VBIOS that is damaged in one place is refused with a line that names
 * the place; what is absent is told apart from what is wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/log.h"
#include "device/vbios/info.h"
#include "device/vbios/powerplay.h"
#include "device/vbios/voltage.h"
#include "device/vbios/vram_info.h"
#include "device/virtual/vbios/atom_asm.h"
#include "device/virtual/vbios/synth.h"

static uint8_t flash[SYNTH_FLASH_BYTES];
static size_t legacy;
static struct vbios_rom good;

static void fresh(void)
{
	static const struct synth_options opt = {.vram_mb = 8192};

	legacy = (size_t)synth_build(flash, sizeof(flash), &opt);
	assert_int_equal(vbios_rom_parse(&good, flash, legacy), 0);
}

/* expect_line - the last error must hold @word. */
static void expect_line(int got, const char *word)
{
	char line[256];

	rx_log_last_error(line, sizeof(line));
	if (got != -EINVAL || !strstr(line, word))
		print_error("expected -EINVAL and \"%s\", got %d: %s\n", word, got, line);
	assert_int_equal(got, -EINVAL);
	assert_non_null(strstr(line, word));
}

static void bad_rom(const char *word)
{
	struct vbios_rom rom;

	expect_line(vbios_rom_parse(&rom, flash, legacy), word);
	fresh();
}

/* what a change of the header's bytes makes of the image; the sum is put right unless it is meant
 */
static void damaged_headers_are_named(void **state)
{
	(void)state;
	fresh();
	flash[0] = 0x56;
	bad_rom("55 aa");
	flash[0x35] = 'x';
	bad_rom("ATI signature");
	flash[2] = 0;
	bad_rom("length byte");
	flash[2] = 0xFF;
	bad_rom("length byte says 130560 bytes");
	flash[2]--;
	bad_rom("the length byte");
	flash[0x100]++;
	bad_rom("checksum");
	put_le16(flash + 0x18, 0xFFFF);
	bad_rom("PCIR");
	flash[good.image[0].pcir + 3] = 'x';
	bad_rom("PCIR");
	flash[good.image[0].pcir + 0x14] = 3;
	bad_rom("code type 3");
	put_le16(flash + 0x48, 0xFFF0);
	as_checksum(flash);
	bad_rom("ROM header's offset 0xfff0");
	flash[good.header + 4] = 'M';
	as_checksum(flash);
	bad_rom("no ATOM");
	flash[good.header] = 8;
	as_checksum(flash);
	bad_rom("ROM header of 8 bytes");
	flash[good.header + 2] = 2;
	as_checksum(flash);
	bad_rom("revision 2.1");
}

static void damaged_lists_are_named(void **state)
{
	(void)state;
	fresh();
	put_le16(flash + good.header + 0x1E, 0xFFFE);
	as_checksum(flash);
	bad_rom("master table");
	put_le16(flash + good.header + 0x20, (uint16_t)(legacy - 2));
	as_checksum(flash);
	bad_rom("master table");
	put_le16(flash + good.master_command, 0xF000);
	as_checksum(flash);
	bad_rom("size 61440");
	put_le16(flash + good.master_command + 4 + 2 * 67, 0xFF00);
	as_checksum(flash);
	bad_rom("command table 67: offset 0xff00");
	put_le16(flash + good.table[ATOM_DATA_VRAM_Info].offset, 0xFFFF);
	as_checksum(flash);
	bad_rom("data table 28");
	put_le16(flash + good.command[0].offset, 6);
	as_checksum(flash);
	bad_rom("ASIC_Init");
}

static void every_truncation_is_refused(void **state)
{
	struct vbios_rom rom;

	(void)state;
	fresh();
	for (size_t n = 0; n < legacy; n += n < 0x100 ? 1 : 61) {
		uint8_t *cut = malloc(n ? n : 1); /* exact, for AddressSanitizer */

		memcpy(cut, flash, n);
		assert_int_equal(vbios_rom_parse(&rom, cut, n), -EINVAL);
		free(cut);
	}
}

/* Only the legacy image counts: a cut or damaged second one ends the chain. */
static void a_second_image_may_be_missing(void **state)
{
	struct vbios_rom rom;

	(void)state;
	fresh();
	assert_int_equal(vbios_rom_parse(&rom, flash, sizeof(flash)), 0);
	assert_int_equal(rom.images, 2);
	memset(flash + legacy, 0xFF, 512); /* the first one says it is not the last */
	assert_int_equal(vbios_rom_parse(&rom, flash, sizeof(flash)), 0);
	assert_int_equal(rom.images, 1);
	assert_false(rom.chain_complete);
	uint8_t *efi = flash + legacy;

	memset(efi, 0, 512);
	efi[0] = 0x55;
	efi[1] = 0xAA;
	put_le16(efi + 0x18, 0x1C);
	memcpy(efi + 0x1C, "PCIR", 4);
	put_le16(efi + 0x1C + 0x10, 1);
	efi[0x1C + 0x14] = VBIOS_CODE_EFI;
	efi[0x1C + 0x15] = 0x80;
	assert_int_equal(vbios_rom_parse(&rom, flash, sizeof(flash)), 0);
	assert_int_equal(rom.images, 2);
	assert_true(rom.chain_complete);
	assert_int_equal(rom.image[1].code_type, VBIOS_CODE_EFI);
	assert_int_equal(rom.image[1].bytes, 512);
}

/* one decoder for all tables, so that a row can name its table only */
static int decode(enum atom_data table)
{
	static struct vbios_vram_info vram;
	static struct vbios_voltages volt;
	static struct vbios_powerplay pp;
	struct vbios_firmware_info fw;
	struct vbios_vram_usage usage;
	struct vbios_profiling prof;
	struct vbios_gpio_lut lut;
	struct vbios_gpio_i2c i2c;
	struct vbios_gfx_info gfx;
	struct vbios_smu_info smu;
	struct vbios_mc_init mc;
	struct vbios_ss_info ss;
	struct vbios_rom rom;
	uint32_t edc[VBIOS_EDC_REGISTERS];
	int err;

	as_checksum(flash);
	assert_int_equal(vbios_rom_parse(&rom, flash, legacy), 0);
	switch (table) {
	case ATOM_DATA_FirmwareInfo: return vbios_firmware_info(&rom, &fw);
	case ATOM_DATA_VRAM_UsageByFirmware: return vbios_vram_usage(&rom, &usage);
	case ATOM_DATA_ASIC_ProfilingInfo: return vbios_profiling(&rom, &prof);
	case ATOM_DATA_GPIO_Pin_LUT: return vbios_gpio_lut(&rom, &lut);
	case ATOM_DATA_GPIO_I2C_Info: return vbios_gpio_i2c(&rom, &i2c);
	case ATOM_DATA_GFX_Info:
		err = vbios_gfx_info(&rom, &gfx);
		return err ? err : vbios_edc(&rom, &gfx, 0, edc);
	case ATOM_DATA_SMU_Info: return vbios_smu_info(&rom, &smu);
	case ATOM_DATA_MC_InitParameter: return vbios_mc_init(&rom, &mc);
	case ATOM_DATA_ASIC_InternalSS_Info: return vbios_ss_info(&rom, &ss);
	case ATOM_DATA_VRAM_Info: return vbios_vram_info(&rom, &vram);
	case ATOM_DATA_VoltageObjectInfo: return vbios_voltages(&rom, &volt);
	case ATOM_DATA_PowerPlayInfo: return vbios_powerplay(&rom, &pp);
	default: return -ENOSYS;
	}
}

static const enum atom_data all_tables[] = {ATOM_DATA_FirmwareInfo, ATOM_DATA_VRAM_UsageByFirmware,
        ATOM_DATA_ASIC_ProfilingInfo, ATOM_DATA_GPIO_Pin_LUT, ATOM_DATA_GPIO_I2C_Info,
        ATOM_DATA_GFX_Info, ATOM_DATA_SMU_Info, ATOM_DATA_MC_InitParameter,
        ATOM_DATA_ASIC_InternalSS_Info, ATOM_DATA_VRAM_Info, ATOM_DATA_VoltageObjectInfo,
        ATOM_DATA_PowerPlayInfo};

static void absent_unknown_and_short_tables_differ(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_tables); i++) {
		enum atom_data t = all_tables[i];

		fresh();
		assert_int_equal(decode(t), 0);
		flash[good.table[t].offset + 3] = 0x77;
		expect_line(decode(t), "is unknown");
		fresh();
		put_le16(flash + good.master_data + 4 + 2 * t, 0);
		assert_int_equal(decode(t), -ENOENT);
		fresh();
		if (t == ATOM_DATA_GPIO_Pin_LUT || t == ATOM_DATA_GPIO_I2C_Info ||
		        t == ATOM_DATA_ASIC_InternalSS_Info)
			continue; /* lists without a count: as long as they are */
		put_le16(flash + good.table[t].offset, (uint16_t)(good.table[t].size - 1));
		if (t != ATOM_DATA_MC_InitParameter) /* only its first field is known */
			expect_line(decode(t), vbios_data_name(t));
	}
	fresh();
}

/* rows of one damaged byte or word inside a table */
static void damaged_parts_are_named(void **state)
{
	static const struct {
		enum atom_data table;
		unsigned
		        at; /* 0x8000 |: an offset from the part the word at this place points to */
		unsigned plus;
		uint16_t value;
		const char *word;
	} rows[] = {
	        {ATOM_DATA_GFX_Info, 14, 0, 0xFFF0, "EDC table for low leakage"},
	        {ATOM_DATA_GFX_Info, 14, 0, 20, "96 bytes at 20"},
	        {ATOM_DATA_SMU_Info, 4, 0, 0x4A09, "9 entries"},
	        {ATOM_DATA_SMU_Info, 4, 0, 0x4A08, "8 entries do not fit"},
	        {ATOM_DATA_VRAM_Info, 18, 0, 0x0409, "module version 9"},
	        {ATOM_DATA_VRAM_Info, 16, 0, 0x01FF, "255 entries"},
	        {ATOM_DATA_VRAM_Info, 20 + 4, 0, 8, "module 0 has 8 bytes"},
	        {ATOM_DATA_VRAM_Info, 6, 0, 0xFFF0, "clock patch"},
	        {ATOM_DATA_VRAM_Info, 0x8006, 0, 3, "no end"},
	        {ATOM_DATA_VRAM_Info, 0x8006, 2, 8, "12 values in blocks of 8 bytes"},
	        {ATOM_DATA_VRAM_Info, 12, 0, 0xFFF0, "do not fit"},
	        {ATOM_DATA_VoltageObjectInfo, 4 + 2, 0, 3, "only 3 bytes"},
	        {ATOM_DATA_VoltageObjectInfo, 4 + 2, 0, 8, "only 8 bytes"},
	        {ATOM_DATA_VoltageObjectInfo, 4 + 2, 0, 500, "outside"},
	        {ATOM_DATA_PowerPlayInfo, 35, 0, 0xFFF0, "state array"},
	        {ATOM_DATA_PowerPlayInfo, 0x8023, 0, 0x0202, "state array: revision 2"},
	        {ATOM_DATA_PowerPlayInfo, 0x802D, 0, 0xFF01, "SCLK dependency: 255 entries"},
	        {ATOM_DATA_PowerPlayInfo, 0x802D, 2, 0x0010, "SCLK level 0 names VDDC 16 of 16"},
	        {ATOM_DATA_PowerPlayInfo, 0x802B, 2, 0x2000 | 99, "MCLK level 0 names VDDC 99"},
	        {ATOM_DATA_PowerPlayInfo, 0x8025, 0, 0x0300, "fan table: revision 0"},
	        {ATOM_DATA_PowerPlayInfo, 0x8027, 0, 0x1700, "thermal controller: revision 0"},
	        {ATOM_DATA_PowerPlayInfo, 63, 0, 0xFFF0, "GPIO table"},
	        {ATOM_DATA_PowerPlayInfo, 37, 0, 1, "fan table"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		fresh();
		uint8_t *t = flash + good.table[rows[i].table].offset;
		unsigned at = rows[i].at & 0x7FFF;

		if (rows[i].at & 0x8000)
			at = get_le16(t + at) + rows[i].plus;
		put_le16(t + at, rows[i].value);
		expect_line(decode(rows[i].table), rows[i].word);
	}
	fresh();
}

/* A mode that is not known keeps its place: the objects behind it are still found. */
static void unknown_voltage_modes_are_passed_over(void **state)
{
	struct vbios_voltages v;
	struct vbios_rom rom;

	(void)state;
	fresh();
	flash[good.table[ATOM_DATA_VoltageObjectInfo].offset + 4 + 1] = 0x55;
	as_checksum(flash);
	assert_int_equal(vbios_rom_parse(&rom, flash, legacy), 0);
	assert_int_equal(vbios_voltages(&rom, &v), 0);
	assert_int_equal(v.objects, 2);
	assert_false(v.object[0].decoded);
	assert_true(v.object[1].decoded);
	assert_null(vbios_voltage_find(&v, VBIOS_VDDC, VBIOS_VOLTAGE_SVID2));
}

/* Older forms of the lists: shorter entries, fields that are not there read 0 (atombios.md 11). */
static void older_forms_decode(void **state)
{
	static struct vbios_powerplay pp;
	struct vbios_rom rom;

	(void)state;
	fresh();
	uint8_t *t = flash + good.table[ATOM_DATA_PowerPlayInfo].offset;
	uint8_t *sclk = t + get_le16(t + 45), *pcie = t + get_le16(t + 61),
	        *fan = t + get_le16(t + 37), *limits = t + get_le16(t + 57);

	sclk[0] = pcie[0] = 0;
	sclk[1] = pcie[1] = 1;
	put_le32(sclk + 2 + 11, 5000); /* behind an entry of revision 0 */
	for (unsigned i = 0; i < 2; i++)
		memset(t + get_le16(t + 35) + 2 + 20 * i, 0, 2); /* states: only level 0 is left */
	fan[0] = 8;
	fan[43] = 1;
	as_checksum(flash);
	assert_int_equal(vbios_rom_parse(&rom, flash, legacy), 0);
	assert_int_equal(vbios_powerplay(&rom, &pp), 0);
	assert_int_equal(pp.sclks, 1);
	assert_int_equal(pp.sclk[0].sclk, 30000);
	assert_int_equal(pp.sclk[0].sclk_offset, 0);
	assert_int_equal(pp.pcie[0].lanes, 16);
	assert_int_equal(pp.fan.target_temp, 75);
	assert_int_equal(pp.fan.gain_edge, 200);
	assert_int_equal(pp.fan.zero_rpm, 0);
	fan[0] = 7;
	limits[0] = 3;
	as_checksum(flash);
	assert_int_equal(vbios_powerplay(&rom, &pp), 0);
	assert_int_equal(pp.fan.target_temp, 75);
	assert_int_equal(pp.fan.gain_edge, 0);
	assert_int_equal(pp.powertune.hotspot_c, 105);
	limits[0] = 2;
	as_checksum(flash);
	assert_int_equal(vbios_powerplay(&rom, &pp), 0);
	assert_int_equal(pp.powertune.tdp_w, 150);
	assert_int_equal(pp.powertune.hotspot_c, 0);
	fresh();
}

/* A reader learns from the first bytes how much to fetch. */
static void the_length_comes_from_the_first_bytes(void **state)
{
	(void)state;
	fresh();
	assert_int_equal(vbios_legacy_bytes(flash, VBIOS_LEGACY_HEADER), legacy);
	assert_int_equal(vbios_legacy_bytes(flash, VBIOS_LEGACY_HEADER - 1), -EINVAL);
}

/* All that a sound table says is kept, also what no expected value exists for. */
static void voltage_objects_of_each_mode_decode(void **state)
{
	enum { LEAK = 12 + 6, EVV = 4 + 64, I2C = 12 + 4 + 4 };
	static const struct as_identity who = {.vendor = 0x1002, .name = "", .date = ""};
	static uint8_t rom_bytes[0x10000];
	struct vbios_voltages v;
	struct vbios_rom rom;
	struct atom_asm a;

	(void)state;
	as_image_begin(&a, rom_bytes, sizeof(rom_bytes), &who);
	uint8_t *p = as_data(&a, ATOM_DATA_VoltageObjectInfo, 3, 1, 4 + LEAK + EVV + I2C) + 4;

	p[0] = VBIOS_VDDC;
	p[1] = VBIOS_VOLTAGE_LEAKAGE + 1;
	put_le16(p + 2, LEAK);
	p[5] = 1;
	put_le16(p + 12, 900);
	put_le16(p + 16, 0xFF03);
	p += LEAK;
	p[0] = VBIOS_VDDGFX;
	p[1] = VBIOS_VOLTAGE_EVV;
	put_le16(p + 2, EVV);
	put_le32(p + 4 + 8 * 7, 134000);
	p[4 + 8 * 7 + 7] = 7;
	p += EVV;
	p[0] = VBIOS_VDDC;
	p[1] = VBIOS_VOLTAGE_I2C_INIT;
	put_le16(p + 2, I2C);
	p[6] = 0x96;
	put_le16(p + 12, 0x29);
	put_le16(p + 14, 0x24);
	put_le16(p + 16, 0x00FF);
	assert_true(as_image_end(&a) > 0);
	assert_int_equal(vbios_rom_parse(&rom, rom_bytes, rom_bytes[2] * 512u), 0);
	assert_int_equal(vbios_voltages(&rom, &v), 0);
	assert_int_equal(v.objects, 3);
	assert_int_equal(v.object[0].leakage.entry[0].level, 900);
	assert_int_equal(v.object[0].leakage.entry[0].leakage_id, 0xFF03);
	assert_int_equal(v.object[1].evv[7].sclk, 134000);
	assert_int_equal(v.object[1].evv[7].level, 7);
	assert_int_equal(v.object[2].entries, 1);
	assert_int_equal(v.object[2].i2c.address, 0x96);
	assert_int_equal(v.object[2].i2c.entry[0].value, 0x24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(damaged_headers_are_named),
	        cmocka_unit_test(damaged_lists_are_named),
	        cmocka_unit_test(every_truncation_is_refused),
	        cmocka_unit_test(a_second_image_may_be_missing),
	        cmocka_unit_test(absent_unknown_and_short_tables_differ),
	        cmocka_unit_test(damaged_parts_are_named),
	        cmocka_unit_test(unknown_voltage_modes_are_passed_over),
	        cmocka_unit_test(older_forms_decode),
	        cmocka_unit_test(the_length_comes_from_the_first_bytes),
	        cmocka_unit_test(voltage_objects_of_each_mode_decode),
	};

	rx_log_set_stderr(false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
