/* test_other_boards.c - boards with other VBIOSes: each real image found beside the project, and
 * made ones whose tables lie elsewhere, are fewer, smaller or of another revision, bring the whole
 * card up, power management included, without a guest error.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device/atom/atom_opcodes.h"
#include "device/bytes.h"
#include "device/core/rx580_priv.h"
#include "device/log.h"
#include "device/regs/smc.h"
#include "foreign.h"
#include "helper_card.h"
#include "helper_variant.h"

static struct variant v;

/* VRConfig in the DpmTable: polaris.md 10.3, 10.6; SVI2 plane 1, memory static, VDDCI as @vddci */
#define DPM_VR_CONFIG    112u
#define VR_CONFIG(vddci) (5u << 24 | (uint32_t)(vddci) << 16 | 1u)
enum { VDDCI_ANY = 0, VDDCI_SVI2 = 2, VDDCI_GPIO = 3 };

static void regulators_are(struct rx580 *rx, unsigned vddci)
{
	uint32_t got;

	assert_int_equal(
	        smc_read(&rx->mmio, smu_header(rx->smu)->dpm_table + DPM_VR_CONFIG, &got), 0);
	assert_int_equal(got, VR_CONFIG(vddci));
}

/* comes_up - with power management as @dpm says, and VDDCI made as @vddci says. */
static void comes_up(const char *path, const char *more, bool dpm, unsigned vddci)
{
	char card[4200];
	struct rx_info info;

	snprintf(card, sizeof(card), "virtual,cold,threads=1,vbios=%s%s", path, more);
	struct rx580 *rx = helper_open(card, NULL, NULL);

	rx_read_info(rx, &info);
	if (info.state != RX_READY || smu_dpm_enabled(rx->smu) != dpm) {
		char said[256];

		rx_log_last_error(said, sizeof(said));
		fail_msg("%s: state %d, expected %d; power management %d, expected %d; last: %s",
		        path, (int)info.state, (int)RX_READY, smu_dpm_enabled(rx->smu), dpm, said);
	}
	if (vddci)
		regulators_are(rx, vddci);
	helper_close_clean(rx);
}

static void variant_comes_up(const char *more, bool dpm, unsigned vddci)
{
	char path[64];

	variant_save(&v, path);
	comes_up(path, more, dpm, vddci);
	unlink(path);
}

#define SYNTH_VRAM ",vram=512"

/* part - of PowerPlayInfo, by where the header points to it: atombios.md 11. */
static uint8_t *part(unsigned pointer)
{
	uint8_t *pp = variant_table(&v, ATOM_DATA_PowerPlayInfo);

	return pp + get_le16(pp + pointer);
}

static void drop_part(unsigned pointer)
{
	put_le16(variant_table(&v, ATOM_DATA_PowerPlayInfo) + pointer, 0);
}

enum { AT_STATES = 35, AT_FAN = 37, AT_MCLK = 43, AT_SCLK = 45, AT_VDDGFX = 49, AT_MM = 51 };
enum { AT_VCE = 53, AT_PCIE = 61, AT_GPIO = 63 };

/* ---- changes ---- */

/* elsewhere - the data tables in another place, as far as there is room; those the driver needs
 * most first, and longer than need be. */
static void elsewhere(void)
{
	static const uint8_t first[] = {
	        ATOM_DATA_PowerPlayInfo, ATOM_DATA_VRAM_Info, ATOM_DATA_FirmwareInfo};
	unsigned moved = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(first); i++)
		variant_move(&v, first[i], i ? 0 : 64);
	for (unsigned i = 0; i < ATOM_DATA_COUNT; i++)
		if (!memchr(first, (int)i, sizeof(first)) && variant_table(&v, i) &&
		        v.free - v.used > get_le16(variant_table(&v, i)) + 256u)
			moved += variant_move(&v, i, 0) != NULL;
	assert_true(moved > 4);
}

/* fewer_levels - two engine clocks, one memory clock. */
static void fewer_levels(void)
{
	uint8_t *states = part(AT_STATES);

	part(AT_SCLK)[1] = 2;
	part(AT_MCLK)[1] = 1;
	for (unsigned i = 0; i < states[1]; i++) /* engine 0, 1, memory 2, 3 */
		for (unsigned k = 0; k < 4; k++)
			states[2 + 20 * i + k] =
			        (uint8_t)MIN(states[2 + 20 * i + k], k < 2 ? 1 : 0);
}

static void without_optional_parts(void)
{
	static const uint8_t tables[] = {ATOM_DATA_SMU_Info, ATOM_DATA_GPIO_Pin_LUT,
	        ATOM_DATA_GFX_Info, ATOM_DATA_GPIO_I2C_Info, ATOM_DATA_ASIC_InternalSS_Info};

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		variant_drop(&v, tables[i]);
	drop_part(AT_VDDGFX);
	drop_part(AT_MM);
	drop_part(AT_VCE);
	drop_part(AT_PCIE);
	drop_part(AT_GPIO);
}

/* vddci_by_svi2 - both voltages behind the two planes of SVI2: objects (1, 7) and (4, 7). */
static void vddci_by_svi2(void)
{
	uint8_t *p = variant_new(&v, ATOM_DATA_VoltageObjectInfo, 3, 1, 4 + 2 * 12) + 4;

	p[0] = 1;
	p[12] = 4;
	p[1] = p[13] = 7;
	p[2] = p[14] = 12;
}

/* older_forms - revision 0 of engine clocks (11 bytes) and link levels (4 bytes), fan revision 8.
 */
static void older_forms(void)
{
	uint8_t *sclk = part(AT_SCLK), *pcie = part(AT_PCIE);

	sclk[0] = pcie[0] = 0;
	for (unsigned i = 1; i < sclk[1]; i++)
		memmove(sclk + 2 + 11 * i, sclk + 2 + 15 * i, 11);
	for (unsigned i = 1; i < pcie[1]; i++)
		memmove(pcie + 2 + 4 * i, pcie + 2 + 8 * i, 4);
	part(AT_FAN)[0] = 8;
}

/* three_modules - an empty one first, as many boards have it; the chips are in the third. */
static void three_modules(void)
{
	const uint8_t *old = variant_table(&v, ATOM_DATA_VRAM_Info);
	unsigned size = get_le16(old + 20 + 4), gain = 2 * size;
	uint8_t *p = variant_move(&v, ATOM_DATA_VRAM_Info, gain);

	memmove(p + 20 + gain, p + 20, get_le16(p) - 20u - gain);
	for (unsigned i = 0; i < 2; i++)
		memcpy(p + 20 + i * size, p + 20 + gain, size);
	p[20 + 0x1C] = 0; /* vendor of the first */
	p[16] = 3;
	for (unsigned at = 4; at < 14; at += 2) /* the offsets of its blocks */
		if (get_le16(p + at))
			put_le16(p + at, (uint16_t)(get_le16(p + at) + gain));
}

/* ---- tests ---- */

static void every_real_image_brings_the_card_up(void **state)
{
	glob_t found;

	(void)state;
	if (!vbios_images(&found))
		skip();
	for (size_t i = 0; i < found.gl_pathc; i++)
		comes_up(found.gl_pathv[i], "", true, VDDCI_ANY);
	globfree(&found);
}

static void a_changed_real_image_brings_the_card_up(void **state)
{
	char path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s/rx580-8g-sapphire-pulse.rom", vbios_folder());
	if (!variant_load(&v, path)) {
		fprintf(stderr, "SKIPPED: no VBIOS image %s (set RX_VBIOS_DIR)\n", path);
		skip();
	}
	elsewhere();
	fewer_levels();
	without_optional_parts();
	vddci_by_svi2();
	variant_comes_up("", true, VDDCI_SVI2);
}

static void tables_may_lie_elsewhere_in_a_larger_flash(void **state)
{
	(void)state;
	variant_synth(&v);
	elsewhere();
	three_modules();
	memset(v.flash + v.bytes, 0xFF, VARIANT_FLASH - v.bytes);
	v.bytes = VARIANT_FLASH;
	variant_comes_up(SYNTH_VRAM, true, VDDCI_GPIO);
}

static void few_levels_and_no_optional_table_are_enough(void **state)
{
	(void)state;
	variant_synth(&v);
	fewer_levels();
	without_optional_parts();
	variant_drop(&v, ATOM_DATA_ASIC_ProfilingInfo); /* real ones make voltages of it */
	variant_comes_up(SYNTH_VRAM, true, VDDCI_GPIO);
}

static void older_forms_and_both_voltages_behind_svi2_come_up(void **state)
{
	(void)state;
	variant_synth(&v);
	older_forms();
	vddci_by_svi2();
	variant_comes_up(SYNTH_VRAM, true, VDDCI_SVI2);
}

static void without_powerplay_the_card_runs_at_its_boot_clocks(void **state)
{
	(void)state;
	variant_synth(&v);
	variant_drop(&v, ATOM_DATA_PowerPlayInfo);
	variant_comes_up(SYNTH_VRAM, false, VDDCI_ANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_real_image_brings_the_card_up),
	        cmocka_unit_test(a_changed_real_image_brings_the_card_up),
	        cmocka_unit_test(tables_may_lie_elsewhere_in_a_larger_flash),
	        cmocka_unit_test(few_levels_and_no_optional_table_are_enough),
	        cmocka_unit_test(older_forms_and_both_voltages_behind_svi2_come_up),
	        cmocka_unit_test(without_powerplay_the_card_runs_at_its_boot_clocks),
	};

	rx_log_set_stderr(false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
