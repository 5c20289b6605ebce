/* test_synth.c - the virtual card's own VBIOS: the decoders of the driver take all of it, and its
 * command tables post a card that answers as policy E of atombios.md 14 does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "device/atom/atom.h"
#include "device/bytes.h"
#include "device/err.h"
#include "device/regs/regs.h"
#include "device/vbios/info.h"
#include "device/vbios/powerplay.h"
#include "device/vbios/voltage.h"
#include "device/vbios/vram_info.h"
#include "device/virtual/vbios/synth.h"
#include "helper_policy.h"

static const struct synth_options eight_gib = {
        .vram_mb = 8192, .subsystem_vendor = 0x1DA2, .subsystem_id = 0xE366};

struct card {
	uint8_t flash[SYNTH_FLASH_BYTES];
	int legacy;
	struct policy *policy;
	struct atom *atom;
	uint64_t delay_us;
};

static int card_read(void *ctx, uint32_t reg, uint32_t *value)
{
	*value = policy_read(((struct card *)ctx)->policy, reg);
	return 0;
}

static int card_write(void *ctx, uint32_t reg, uint32_t value)
{
	policy_write(((struct card *)ctx)->policy, reg, value);
	return 0;
}

static int card_delay(void *ctx, uint32_t us)
{
	((struct card *)ctx)->delay_us += us;
	return 0;
}

/* card_new - a card with the synthetic VBIOS and an interpreter that sees only the legacy part
 * of its flash.
 */
static struct card *card_new(const struct synth_options *opt)
{
	struct card *c = calloc(1, sizeof(*c));
	const struct atom_host host = {
	        .ctx = c, .reg_read = card_read, .reg_write = card_write, .delay_us = card_delay};

	assert_non_null(c);
	c->legacy = synth_build(c->flash, sizeof(c->flash), opt);
	assert_true(c->legacy > 0);
	c->policy = policy_new(c->flash, sizeof(c->flash));
	policy_reset(c->policy, 'E', 1);
	/* the interpreter needs the legacy image only: the microcode comes through ROM_DATA */
	assert_int_equal(atom_open(&c->atom, c->flash, (size_t)c->legacy, &host), 0);
	atom_set_limits(c->atom, &(struct atom_limits){.max_steps = 100000, .loop_ms = 60000});
	return c;
}

static void card_free(struct card *c)
{
	atom_close(c->atom);
	policy_free(c->policy);
	free(c);
}

static uint32_t reg(struct card *c, uint32_t byte_offset)
{
	return policy_read(c->policy, byte_offset / 4);
}

static uint32_t smc(struct card *c, uint32_t at)
{
	policy_write(c->policy, REG_SMC_IND_INDEX_1 / 4, at);
	return policy_read(c->policy, REG_SMC_IND_DATA_1 / 4);
}

static uint32_t io_debug(struct card *c, uint32_t at)
{
	policy_write(c->policy, REG_MC_SEQ_IO_DEBUG_INDEX / 4, at);
	return policy_read(c->policy, REG_MC_SEQ_IO_DEBUG_DATA / 4);
}

/* post-conditions of polaris.md 2.5 */
static void asic_init_posts_the_card(void **state)
{
	static const struct {
		uint32_t mb, location, last_page;
	} sizes[] = {{8192, 0xF5FFF400, 3}, {4096, 0xF4FFF400, 1}, {64, 0xF403F400, 0}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct card *c = card_new(&(struct synth_options){.vram_mb = sizes[i].mb});

		assert_int_equal(atom_asic_init(c->atom), 0);
		assert_int_equal(reg(c, REG_BIOS_SCRATCH_7), 0x200);
		assert_int_equal(reg(c, REG_CONFIG_MEMSIZE), sizes[i].mb);
		assert_int_equal(reg(c, REG_MC_VM_FB_LOCATION), sizes[i].location);
		assert_int_equal(reg(c, REG_MM_INDEX_HI), sizes[i].last_page);
		assert_int_equal(reg(c, REG_HDP_NONSURFACE_BASE), 0xF4000000);
		assert_int_equal(reg(c, REG_BIF_FB_EN), 3);
		assert_int_equal(reg(c, REG_MC_ARB_RAMCFG), sizes[i].mb > 4096 ? 0x60A2 : 0x6062);
		assert_int_equal(reg(c, REG_MC_SHARED_CHMAP), 0x3000);
		assert_int_equal(reg(c, REG_MC_SEQ_MISC0) & 0x80, 0x80);
		assert_int_equal(io_debug(c, 0x9F), SYNTH_UCODE_VERSION);
		assert_int_equal(smc(c, IX_PWR_SVI2_PLANE1_LOAD) & 0xFF, (1550 - 900) * 100 / 625);
		assert_true(c->delay_us > 1000);
		card_free(c);
	}
}

/* After the pairs the program itself is next in the flash, for the copy that was started. */
static void microcode_load_starts_the_copy(void **state)
{
	struct card *c = card_new(&eight_gib);
	uint32_t ps[ATOM_PARAMS] = {0xFF};

	(void)state;
	assert_int_equal(atom_run(c->atom, ATOM_CMD_MemoryTraining, ps, ATOM_PARAMS), 0);
	assert_int_equal(policy_read(c->policy, 0xC064), REG_SMC_IND_DATA_1);
	assert_int_equal(policy_read(c->policy, 0xC066), REG_MC_SEQ_SUP_PGM);
	assert_int_equal(policy_read(c->policy, 0xC0E8), 0x7C000000 | 4 * SYNTH_UCODE_DWORDS);
	assert_int_equal(smc(c, IX_ROM_DATA), 0x58525346); /* standin.h */
	card_free(c);
}

static void a_foreign_microcode_is_not_loaded(void **state)
{
	struct card *c = card_new(&eight_gib);
	uint32_t ps[ATOM_PARAMS] = {0xFF};

	(void)state;
	c->flash[SYNTH_MICROCODE] ^= 1;
	assert_int_equal(atom_run(c->atom, ATOM_CMD_MemoryTraining, ps, ATOM_PARAMS), 0);
	assert_int_equal(policy_read(c->policy, 0xC0E8), 0);
	assert_int_equal(reg(c, REG_MC_SEQ_SUP_CNTL), 0);
	card_free(c);
}

/* atombios.md 12: 1266 MHz is 50.64 * 100 MHz / 4; ranges change at 375, 750, 1500 MHz. */
static void pll_words_follow_the_clock(void **state)
{
	static const struct {
		uint32_t clock, words, exponent;
	} rows[] = {{126600, 0x0032A3D7, 2}, {30000, 0x00300000, 4}, {37500, 0x003C0000, 4},
	        {37600, 0x001E147A, 3}, {150000, 0x003C0000, 2}, {200000, 0x00280000, 1},
	        {400000, 0x00500000, 1}};
	struct card *c = card_new(&eight_gib);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t ps[ATOM_PARAMS] = {rows[i].clock | 1u << 24};

		assert_int_equal(
		        atom_run(c->atom, ATOM_CMD_ComputeMemoryEnginePLL, ps, ATOM_PARAMS), 0);
		assert_int_equal(ps[0] & 0xFFFFFF, rows[i].clock);
		assert_int_equal(ps[1], rows[i].words);
		assert_int_equal(ps[2], 0x100 | rows[i].exponent);
	}
	card_free(c);
}

static void clocks_read_back_as_set(void **state)
{
	static const uint32_t engine[] = {30000, 60000, 90000, 110000, 134000};
	struct card *c = card_new(&eight_gib);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(engine); i++) {
		uint32_t ps[ATOM_PARAMS] = {engine[i]};

		assert_int_equal(atom_run(c->atom, ATOM_CMD_SetEngineClock, ps, ATOM_PARAMS), 0);
		assert_int_equal(atom_run(c->atom, ATOM_CMD_GetEngineClock, ps, ATOM_PARAMS), 0);
		assert_int_equal(ps[0], engine[i]);
	}
	uint32_t ps[ATOM_PARAMS] = {200000};

	assert_int_equal(atom_run(c->atom, ATOM_CMD_SetMemoryClock, ps, ATOM_PARAMS), 0);
	assert_int_equal(reg(c, REG_MC_ARB_DRAM_TIMING), 20);
	assert_int_equal(reg(c, REG_MC_SEQ_MISC9) & 0xFFFF, 0x0707);
	assert_int_equal(atom_run(c->atom, ATOM_CMD_GetMemoryClock, ps, ATOM_PARAMS), 0);
	assert_int_equal(ps[0], 200000);
	card_free(c);
}

/* Every virtual id of the PowerPlay table has an answer inside the limits of the profiling table.
 */
static void virtual_voltages_resolve(void **state)
{
	struct card *c = card_new(&eight_gib);
	struct vbios_powerplay pp;
	struct vbios_profiling prof;
	struct vbios_rom rom;
	unsigned asked = 0;

	(void)state;
	assert_int_equal(vbios_rom_parse(&rom, c->flash, sizeof(c->flash)), 0);
	assert_int_equal(vbios_powerplay(&rom, &pp), 0);
	assert_int_equal(vbios_profiling(&rom, &prof), 0);
	for (unsigned i = 0; i < pp.vddcs; i++) {
		uint32_t ps[ATOM_PARAMS] = {1 | 9 << 8 | (uint32_t)pp.vddc[i].mv << 16};

		if (pp.vddc[i].mv < VBIOS_PP_VIRTUAL)
			continue;
		assert_int_equal(atom_run(c->atom, ATOM_CMD_GetVoltageInfo, ps, ATOM_PARAMS), 0);
		assert_in_range(ps[0], prof.min_vddc_10uv, prof.max_vddc_10uv);
		asked++;
	}
	assert_int_equal(asked, 7);
	card_free(c);
}

static void every_command_table_ends(void **state)
{
	struct card *c = card_new(&eight_gib);
	unsigned tables = 0;

	(void)state;
	for (unsigned i = 0; i < ATOM_COMMAND_COUNT; i++) {
		uint32_t ps[ATOM_PARAMS] = {0};

		if (atom_table_revision(c->atom, i) < 0)
			continue;
		assert_int_equal(atom_run(c->atom, i, ps, ATOM_PARAMS), 0);
		tables++;
	}
	assert_true(tables >= 18);
	card_free(c);
}

/* A regulator that never answers costs the table's own 100 tries, not more: polaris.md 2.6. */
static void a_silent_regulator_is_given_up(void **state)
{
	struct card *c = card_new(&eight_gib);
	uint32_t ps[ATOM_PARAMS] = {0};

	(void)state;
	policy_reset(c->policy, 'A', 1); /* reads return what was written: never done */
	assert_int_equal(
	        atom_run(c->atom, ATOM_CMD_ProcessI2cChannelTransaction, ps, ATOM_PARAMS), 0);
	assert_int_equal(c->delay_us, 100 * 100);
	card_free(c);
}

static void an_empty_uefi_image_ends_the_chain(void **state)
{
	static uint8_t flash[SYNTH_FLASH_BYTES];
	int legacy = synth_build(flash, sizeof(flash), &eight_gib);
	struct vbios_rom rom;

	(void)state;
	assert_true(legacy > 0);
	assert_int_equal(vbios_rom_parse(&rom, flash, sizeof(flash)), 0);
	assert_true(rom.chain_complete);
	assert_int_equal(rom.images, 2);
	assert_int_equal(rom.image[1].code_type, VBIOS_CODE_EFI);
	assert_int_equal(rom.image[1].offset, legacy);
	assert_int_equal(rom.image[1].bytes, SYNTH_EFI_BYTES);
	assert_int_equal(vbios_rom_parse(&rom, flash, (size_t)legacy), 0);
	assert_false(rom.chain_complete); /* the legacy image does not say it is the last one */
}

static void the_driver_decodes_all_of_it(void **state)
{
	struct card *c = card_new(&eight_gib);
	struct vbios_vram_info *v = calloc(1, sizeof(*v));
	struct vbios_firmware_info fw;
	struct vbios_gfx_info gfx;
	struct vbios_smu_info smu;
	struct vbios_gpio_lut lut;
	struct vbios_gpio_i2c i2c;
	struct vbios_ss_info ss;
	struct vbios_voltages volt;
	struct vbios_mc_init mc;
	struct vbios_rom rom;
	uint32_t edc[VBIOS_EDC_REGISTERS];

	(void)state;
	assert_int_equal(vbios_rom_parse(&rom, c->flash, (size_t)c->legacy), 0);
	assert_string_equal(rom.string[1], "POLARIS10");
	assert_string_equal(rom.version, "000.001.000.000.000000");
	assert_string_equal(rom.date, "01/01/26 00:00");
	assert_int_equal(rom.subsystem_id, 0xE366);
	assert_int_equal(vbios_firmware_info(&rom, &fw), 0);
	assert_int_equal(fw.default_engine_clock, 30000);
	assert_int_equal(fw.bootup_vddci_mv, 850);
	assert_int_equal(vbios_gfx_info(&rom, &gfx), 0);
	assert_int_equal(gfx.shader_engines * gfx.sh_per_se * gfx.cu_per_sh, 36);
	assert_int_equal(vbios_edc(&rom, &gfx, SYNTH_LEAKAGE_THRESHOLD - 1, edc), 0);
	assert_int_equal(edc[0], SYNTH_EDC_LOW);
	assert_int_equal(edc[23], SYNTH_EDC_LOW + 23);
	assert_int_equal(vbios_edc(&rom, &gfx, SYNTH_LEAKAGE_THRESHOLD, edc), 0);
	assert_int_equal(edc[0], SYNTH_EDC_HIGH);
	assert_int_equal(vbios_smu_info(&rom, &smu), 0);
	assert_int_equal(smu.ranges, 4);
	assert_int_equal(vbios_gpio_lut(&rom, &lut), 0);
	assert_int_equal(lut.pin[0].id, 61);
	assert_int_equal(vbios_gpio_i2c(&rom, &i2c), 0);
	assert_int_equal(i2c.lines, 1);
	assert_int_equal(vbios_ss_info(&rom, &ss), 0);
	assert_int_equal(ss.entries, 2);
	assert_int_equal(vbios_mc_init(&rom, &mc), 0);
	assert_int_equal(mc.microcode_id, SYNTH_MICROCODE_ID);
	assert_int_equal(vbios_voltages(&rom, &volt), 0);
	assert_non_null(vbios_voltage_find(&volt, VBIOS_VDDC, VBIOS_VOLTAGE_SVID2));
	assert_int_equal(
	        vbios_voltage_find(&volt, VBIOS_VDDCI, VBIOS_VOLTAGE_GPIO)->gpio.entry[3].mv, 950);
	assert_int_equal(vbios_vram_info(&rom, v), 0);
	assert_int_equal(v->module[0].memory_size_mb, 8192);
	assert_string_equal(v->module[0].part, "VIRTUAL");
	assert_int_equal(v->clk_patch.blocks, 5);
	assert_int_equal(v->clk_patch.block[4].max_clock, 200000);
	assert_int_equal(v->clk_patch.block[4].value[12], 5 << 8 | 11);
	assert_int_equal(v->clk_patch.block[4].value[1], v->clk_patch.block[4].value[0]);
	assert_int_equal(v->remap[3].bit[1][3], 0x76543210);
	free(v);
	card_free(c);
}

static void its_powerplay_table_is_sane(void **state)
{
	struct card *c = card_new(&eight_gib);
	struct vbios_powerplay pp;
	struct vbios_rom rom;

	(void)state;
	assert_int_equal(vbios_rom_parse(&rom, c->flash, sizeof(c->flash)), 0);
	assert_int_equal(vbios_powerplay(&rom, &pp), 0);
	assert_int_equal(pp.sclks, 8);
	assert_int_equal(pp.mclks, 3);
	for (unsigned i = 1; i < pp.sclks; i++)
		assert_true(pp.sclk[i].sclk > pp.sclk[i - 1].sclk);
	assert_int_equal(pp.state[1].engine_high, 7);
	assert_int_equal(pp.vddc[pp.mclk[2].vddc_index].mv, 950);
	assert_true(pp.has_fan && pp.has_thermal && pp.has_powertune && pp.has_gpio);
	assert_int_equal(pp.fan.rev, 9);
	assert_true(
	        pp.fan.tmin_0_01c < pp.fan.tmed_0_01c && pp.fan.tmed_0_01c < pp.fan.thigh_0_01c);
	assert_int_equal(pp.fan.target_temp, 75);
	assert_int_equal(pp.fan.fan_start_temp, 55);
	assert_int_equal(pp.thermal.fan_params & 0xF, 2);
	assert_int_equal(pp.powertune.tdp_w, 150);
	assert_int_equal(pp.powertune.tjmax_c, 90);
	card_free(c);
}

static void impossible_cards_are_refused(void **state)
{
	static uint8_t flash[SYNTH_FLASH_BYTES];

	(void)state;
	assert_int_equal(synth_build(flash, sizeof(flash) - 1, &eight_gib), -EINVAL);
	assert_int_equal(synth_build(flash, sizeof(flash), &(struct synth_options){0}), -EINVAL);
	assert_int_equal(
	        synth_build(flash, sizeof(flash), &(struct synth_options){.vram_mb = 32768}),
	        -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(asic_init_posts_the_card),
	        cmocka_unit_test(microcode_load_starts_the_copy),
	        cmocka_unit_test(a_foreign_microcode_is_not_loaded),
	        cmocka_unit_test(pll_words_follow_the_clock),
	        cmocka_unit_test(clocks_read_back_as_set),
	        cmocka_unit_test(virtual_voltages_resolve),
	        cmocka_unit_test(every_command_table_ends),
	        cmocka_unit_test(a_silent_regulator_is_given_up),
	        cmocka_unit_test(an_empty_uefi_image_ends_the_chain),
	        cmocka_unit_test(the_driver_decodes_all_of_it),
	        cmocka_unit_test(its_powerplay_table_is_sane),
	        cmocka_unit_test(impossible_cards_are_refused),
	};

	rx_log_set_stderr(false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
