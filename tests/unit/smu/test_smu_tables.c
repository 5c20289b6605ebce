/* test_smu_tables.c - the SMU's tables of real boards against what the stock driver made of the
 * same image (traces/amdgpu-6.1/rx580-smc-tables.txt): every byte is equal, none stands apart. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "helper_board.h"

#define RX580 "rx580-8g-sapphire-pulse"

/* One table of the trace; never: the stock driver did not write the byte. */
struct expected {
	uint8_t byte[2048];
	bool known[2048];
	size_t bytes;
};

static void read_row(struct expected *e, const char *line)
{
	size_t at = strtoul(line + 1, NULL, 10);
	char word[4][12];
	int n = sscanf(line, "+%*u %11s %11s %11s %11s", word[0], word[1], word[2], word[3]);

	for (int i = 0; i < n; i++, at += 4) {
		uint32_t value = (uint32_t)strtoul(word[i], NULL, 16);

		assert_true(at + 4 <= sizeof(e->byte));
		put_be32(e->byte + at, value);
		memset(e->known + at, word[i][0] != '-', 4);
		e->bytes = at + 4;
	}
}

/* expected_table - the section that begins "# NAME at". */
static bool expected_table(struct expected *e, const char *name)
{
	char path[512], line[256], head[64];
	bool inside = false;

	memset(e, 0, sizeof(*e));
	if (!helper_trace("amdgpu-6.1/rx580-smc-tables.txt", path, sizeof(path)))
		return false;
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	snprintf(head, sizeof(head), "# %s at", name);
	while (fgets(line, sizeof(line), f)) {
		if (line[0] == '#')
			inside = !strncmp(line, head, strlen(head));
		else if (inside && line[0] == '+')
			read_row(e, line);
	}
	fclose(f);
	assert_true(e->bytes > 0);
	return true;
}

static void assert_same(const char *table, const uint8_t *got, size_t from, size_t to)
{
	struct expected e;
	unsigned wrong = 0, compared = 0;

	if (!expected_table(&e, table))
		skip();
	for (size_t i = from; i < to; i++) {
		compared += e.known[i];
		if (e.known[i] && e.byte[i] != got[i] && wrong++ < 40)
			print_error(
			        "%s +%zu: expected %02x, got %02x\n", table, i, e.byte[i], got[i]);
	}
	assert_int_equal(compared, to - from);
	if (wrong)
		fail_msg("%s: %u bytes differ", table, wrong);
}

static struct board *open_board(const char *name)
{
	struct board *b = board_open(name);

	if (!b)
		skip();
	return b;
}

static void rx580_tables_equal_the_stock_drivers(void **state)
{
	static struct smu_tables t;
	struct board *b = open_board(RX580);

	(void)state;
	assert_int_equal(smu_build_tables(&b->in, &t), 0);
	assert_same("DpmTable", t.dpm, SMU74_DPM_UPLOAD_FROM, SMU74_DPM_TABLE_BYTES);
	assert_same("mcArbDramTimingTable", t.mc_arb, 0, SMU74_MC_ARB_TABLE_BYTES);
	assert_same("PmFuses", t.pm_fuses, 0, SMU74_PM_FUSES_BYTES);
	assert_int_equal(t.sclk_levels, 8);
	assert_int_equal(t.mclk_levels, 3);
	assert_int_equal(t.package_w, 155);
	assert_int_equal(t.tdc_a, 137);
	assert_int_equal(t.tdp_w, 145);
	assert_true(t.vr_hot && t.ulv && !t.avfs);
	board_close(b);
}

static void rx580_fan_table_equals_the_stock_drivers(void **state)
{
	struct smu_thermal t;
	uint8_t fan[SMU74_FAN_TABLE_BYTES];
	struct board *b = open_board(RX580);

	(void)state;
	smu_thermal_of(&b->pp, &t);
	assert_int_equal(smu_build_fan(&t, 0x87, 0, fan), 0);
	assert_same("FanTable", fan, 0, sizeof(fan));
	assert_int_equal(t.alert_c, 94);
	assert_int_equal(t.tach_pulses, 2);
	board_close(b);
}

static void every_image_makes_tables(void **state)
{
	static const char *const names[] = {RX580, "rx480-8g-amd-reference", "rx570-4g-amd-d00034"};
	static struct smu_tables t;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct board *b = open_board(names[i]);

		assert_int_equal(smu_build_tables(&b->in, &t), 0);
		assert_true(t.sclk_levels >= 2 && t.mclk_levels >= 2);
		for (unsigned l = 0; l < t.sclk_levels; l++) {
			uint32_t v = get_be32(t.dpm + 236 + 56 * l);

			assert_int_equal(get_be32(t.dpm + 236 + 56 * l + 32), t.sclk[l]);
			/* quarters of a mV, between 700 and 1300 mV */
			assert_in_range(v & 0x7FFF, 2800, 5200);
		}
		board_close(b);
	}
}

static void avfs_fuse_adds_its_tables(void **state)
{
	static struct smu_tables t;
	struct board *b = open_board(RX580);

	(void)state;
	b->in.fuses.efuse49 = 1;
	assert_int_equal(smu_build_tables(&b->in, &t), 0);
	assert_true(t.avfs && t.apply_cks_off);
	assert_int_equal(get_be16(t.dpm + 228), 4800); /* MaxVoltage, the expected values */
	/* P20's own constants without clock stretching: polaris.md 10.6 */
	assert_int_equal(get_be32(t.dpm + 1828 + 16), 0xF843B66B);
	assert_int_equal(get_be16(t.dpm + 1860 + 12 + 8), 0xFF23);
	board_close(b);
}

static void refusals_say_what_is_wrong(void **state)
{
	static struct smu_tables t;
	struct smu_thermal thermal;
	uint8_t fan[SMU74_FAN_TABLE_BYTES];
	struct board *b = open_board(RX580);

	(void)state;
	b->pp.has_powertune = false;
	assert_int_equal(smu_build_tables(&b->in, &t), -EINVAL);
	b->pp.has_powertune = true;
	b->pp.sclks = 9;
	for (unsigned i = 0; i < 9; i++)
		b->pp.sclk[i].sclk = 30000 + i;
	assert_int_equal(smu_build_tables(&b->in, &t), -EINVAL);
	b->pp.sclks = 8;
	b->voltages.objects = 0;
	assert_int_equal(smu_build_tables(&b->in, &t), -EINVAL);
	smu_thermal_of(&b->pp, &thermal);
	thermal.curve.tmed_0_01c = thermal.curve.tmin_0_01c;
	assert_int_equal(smu_build_fan(&thermal, 135, 0, fan), -EINVAL);
	board_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(rx580_tables_equal_the_stock_drivers),
	        cmocka_unit_test(rx580_fan_table_equals_the_stock_drivers),
	        cmocka_unit_test(every_image_makes_tables),
	        cmocka_unit_test(avfs_fuse_adds_its_tables),
	        cmocka_unit_test(refusals_say_what_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
