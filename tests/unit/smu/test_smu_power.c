/* test_smu_power.c - power management, fan and measurements: what the driver writes, compared with
 * the stock driver's trace of the same board where there is one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/log.h"
#include "device/regs/regs.h"
#include "device/smu/smu.h"
#include "helper_board.h"
#include "helper_regs.h"

#define RX580 "rx580-8g-sapphire-pulse"

static struct smu *smu;

/* Firmware as the stand-in says it is, running; the card's registers as in the stock trace. */
static void running(void)
{
	fake->ram[0x20030 / 4] = 0x3E000;
	fake->ram[0x20034 / 4] = 0x3D000;
	fake->ram[0x20038 / 4] = 0x3E200;
	fake->ram[0x20048 / 4] = 0x3E600;
	fake->ram[0x2004C / 4] = 0x3E800;
	*fake_smc(IX_CG_THERMAL_INT) = 0x08006A60;
	*fake_smc(IX_CG_THERMAL_CTRL) = 0x06910002;
	*fake_smc(IX_CG_FDO_CTRL2) = 0x02BF1435;
	*fake_smc(IX_CG_TACH_CTRL) = 0x00008001;
	*fake_smc(IX_CG_MULT_THERMAL_CTRL) = 1;
	*fake_smc(IX_PWR_CKS_CNTL) = 0x7F9D5219;
	*fake_smc(IX_PWR_SVI2_PLANE1_LOAD) = 6;
	assert_int_equal(smu_new(&smu, &fake->mmio, NULL), 0);
	assert_int_equal(smu_attach(smu), 0);
	fake->writes = 0;
	fake->messages = 0;
}

static int set_up(void **state)
{
	(void)state;
	fake_open();
	running();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	smu_free(smu);
	fake_close();
	return 0;
}

/* ---- against the stock driver ---- */

/* Messages of the stock driver's start that ours does without, and the other way round. */
static const struct {
	uint16_t id;
	const char *why;
} left_out[] = {
        {0x136, "PCIeDPM_Enable: the link stays as it is; PCIeDPM_Disable instead"},
};

static bool is_left_out(uint16_t id)
{
	for (size_t i = 0; i < ARRAY_SIZE(left_out); i++)
		if (left_out[i].id == id)
			return true;
	return false;
}

/* stock_messages - ids and arguments from the first DPM message to the first level masks. */
static size_t stock_messages(struct fake_message *out, size_t max)
{
	char path[512], command[600], line[256];
	bool arg = false, inside = false;
	size_t n = 0;

	if (!helper_trace("amdgpu-6.1/rx580-e4-dpm-user.log.gz", path, sizeof(path)))
		skip();
	snprintf(command, sizeof(command), "zcat '%s'", path);
	FILE *f = popen(command, "r");

	assert_non_null(f);
	while (n < max && fgets(line, sizeof(line), f)) {
		unsigned id, value;

		inside |= !strncmp(line, "# phase pp_setup", 16);
		arg |= !strncmp(line, "W 5 00a4", 8);
		if (sscanf(line, "# SMU message %x arg %x", &id, &value) != 2)
			continue;
		if (inside)
			out[n++] = (struct fake_message){(uint16_t)id, arg, value};
		arg = false;
		if (inside && id == 0x5D) /* NoDisplay: the first masks are up */
			break;
	}
	while (fgets(line, sizeof(line), f))
		;
	pclose(f);
	return n;
}

/* same_messages - ours in the stock driver's order, each argument equal. */
static void same_messages(void)
{
	struct fake_message stock[128];
	size_t n = stock_messages(stock, ARRAY_SIZE(stock)), at = 0;

	assert_true(n > 20);
	for (size_t i = 0; i < n; i++) {
		const struct fake_message *m;

		if (is_left_out(stock[i].id))
			continue;
		while (at < fake->messages && fake->message[at].id == PPSMC_MSG_PCIeDPM_Disable)
			at++;
		if (at == fake->messages)
			fail_msg("expected message 0x%x, got the end", stock[i].id);
		m = &fake->message[at++];
		if (m->id != stock[i].id || m->has_arg != stock[i].has_arg ||
		        (m->has_arg && m->arg != stock[i].arg))
			fail_msg("message %zu: expected 0x%x (0x%x), got 0x%x (0x%x)", i,
			        stock[i].id, stock[i].has_arg ? stock[i].arg : 0, m->id,
			        m->has_arg ? m->arg : 0);
	}
}

static void open_and_start(struct board **board, struct smu_tables *t, struct smu_thermal *thermal)
{
	*board = board_open(RX580);
	if (!*board)
		skip();
	running();
	assert_int_equal(smu_prepare_dpm(smu), 0);
	assert_int_equal(smu_read_fuses(smu, &(*board)->gpio, &(*board)->in.fuses), 0);
	assert_int_equal(smu_build_tables(&(*board)->in, t), 0);
	smu_thermal_of(&(*board)->pp, thermal);
	const struct smu_dpm dpm = {.tables = t, .thermal = thermal, .kicker = true};

	assert_int_equal(smu_enable_dpm(smu, &dpm), 0);
}

static void close_all(struct board *b)
{
	smu_free(smu);
	board_close(b);
}

static void messages_are_the_stock_drivers(void **state)
{
	static struct smu_tables t;
	struct smu_thermal thermal;
	struct board *b;

	(void)state;
	open_and_start(&b, &t, &thermal);
	assert_true(smu_dpm_enabled(smu));
	same_messages();
	close_all(b);
}

static void registers_end_as_the_stock_driver_leaves_them(void **state)
{
	/* last value of each in the trace, phases pp_setup to power_state */
	static const struct {
		bool smc;
		uint32_t at, value;
	} want[] = {
	        {true, IX_GENERAL_PWRMGT, 0x00800403},
	        {true, IX_SCLK_PWRMGT_CNTL, 0x00200000},
	        {true, IX_CG_STATIC_SCREEN_PARAMETER, 0xC8},
	        {true, IX_CG_DISPLAY_GAP_CNTL, 0x01000003},
	        {true, IX_CG_ULV_PARAMETER, 0x00040035},
	        {true, IX_CG_FREQ_TRAN_VOTING_0, 0x3FFFC102},
	        {true, IX_CG_FREQ_TRAN_VOTING_7, 0x3FFFC000},
	        {true, IX_PWR_CKS_CNTL, 0x7F9D5218},
	        {true, IX_LCAC_MC0_CNTL, 0x00400005},
	        {true, IX_LCAC_MC1_CNTL, 0x00400005},
	        {true, IX_LCAC_CPL_CNTL, 0x00500005},
	        {true, IX_CG_THERMAL_INT, 0x08005E60},
	        {true, IX_CG_THERMAL_CTRL, 0x06978002},
	        {true, IX_CG_FDO_CTRL2, 0x50BF0C00},
	        {true, 0x3E000 + 44, 0x1000},
	        {true, 0x3E000 + 48, 0x00030100},
	        {false, REG_MC_ARB_DRAM_TIMING_1, 0x09080304},
	        {false, REG_MC_ARB_DRAM_TIMING2_1, 0x0309061F},
	        {false, REG_MC_CG_CONFIG, 0x0F},
	        {false, REG_MC_ARB_CG, 0x0B},
	        {false, REG_MC_SEQ_CNTL_3, 0x80000000},
	        {false, REG_GRBM_GFX_INDEX, 0xE0000000},
	};
	static struct smu_tables t;
	struct smu_thermal thermal;
	struct board *b;

	(void)state;
	open_and_start(&b, &t, &thermal);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		if (fake_last(want[i].smc, want[i].at) != want[i].value)
			fail_msg("0x%x: expected 0x%08x, got 0x%08x", want[i].at, want[i].value,
			        fake_last(want[i].smc, want[i].at));
	close_all(b);
}

/* ---- without an image ---- */

static void small_tables(struct smu_tables *t)
{
	*t = (struct smu_tables){.sclk_levels = 2,
	        .mclk_levels = 2,
	        .sclk = {30000, 60000},
	        .mclk = {30000, 100000},
	        .tdp_w = 145,
	        .tdc_a = 137,
	        .package_w = 155};
}

static void limits_go_out_in_each_messages_unit(void **state)
{
	struct smu_tables t;

	(void)state;
	small_tables(&t);
	assert_int_equal(smu_enable_dpm(smu, &(struct smu_dpm){.tables = &t}), 0);
	assert_int_equal(fake_sent(0x187, 0)->arg, 155 * 256);
	assert_int_equal(fake_sent(0x188, 0)->arg, 145 * 256);
	assert_non_null(fake_sent(0x169, 0));
	assert_non_null(fake_sent(0x185, 0));
	assert_null(fake_sent(PPSMC_MSG_DisableEDCController, 0)); /* kicker boards only */
}

static void every_block_that_limits_ramps_is_switched_on_in_all_engines(void **state)
{
	static const uint32_t ctrl0[] = {
	        0x00, 0x20, 0x40, 0x60}; /* polaris.md 10.8; DB: the trace */
	struct smu_tables t;
	bool all = false;
	size_t n = 0;

	(void)state;
	small_tables(&t);
	assert_int_equal(smu_enable_dpm(smu, &(struct smu_dpm){.tables = &t}), 0);
	for (size_t i = 0; i < fake->writes; i++) {
		const struct fake_write *w = &fake->write[i];

		if (!w->smc && w->at == REG_GRBM_GFX_INDEX)
			all = w->value == 0xE0000000;
		if (w->smc || w->at != REG_DIDT_IND_INDEX || !all)
			continue;
		assert_true(n < ARRAY_SIZE(ctrl0));
		assert_int_equal(w->value, ctrl0[n++]);
	}
	assert_int_equal(n, ARRAY_SIZE(ctrl0));
	assert_int_equal(fake_last(false, REG_DIDT_IND_DATA) & 1, 1); /* DIDT_CTRL_EN */
}

static size_t message_at(uint16_t id)
{
	for (size_t i = 0; i < fake->messages; i++)
		if (fake->message[i].id == id)
			return i;
	fail_msg("message 0x%x was not sent", id);
	return 0;
}

static void edc_controller_gets_the_boards_registers_and_then_starts(void **state)
{
	/* smu7_hwmgr.c, DIDTEDCConfig_P12 */
	static const uint32_t index[VBIOS_EDC_REGISTERS] = {0x15, 0x16, 0x17, 0x18, 0x14, 0x13,
	        0x55, 0x56, 0x57, 0x58, 0x54, 0x53, 0x75, 0x76, 0x77, 0x78, 0x74, 0x73, 0x35, 0x36,
	        0x37, 0x38, 0x34, 0x33};
	uint32_t value[VBIOS_EDC_REGISTERS], at = 0;
	struct smu_tables t;
	size_t n = 0;

	(void)state;
	small_tables(&t);
	for (uint32_t i = 0; i < VBIOS_EDC_REGISTERS; i++)
		value[i] = 0xED000000 + i;
	assert_int_equal(
	        smu_enable_dpm(smu, &(struct smu_dpm){.tables = &t, .kicker = true, .edc = value}),
	        0);
	for (size_t i = 0; i < fake->writes; i++) {
		const struct fake_write *w = &fake->write[i];

		if (!w->smc && w->at == REG_GRBM_GFX_INDEX)
			break; /* the ramp limits, engine by engine */
		if (!w->smc && w->at == REG_DIDT_IND_INDEX)
			at = w->value;
		if (w->smc || w->at != REG_DIDT_IND_DATA || w->value >> 24 != 0xED)
			continue;
		assert_true(n < VBIOS_EDC_REGISTERS);
		assert_int_equal(at, index[n]);
		assert_int_equal(w->value, value[n++]);
	}
	assert_int_equal(n, VBIOS_EDC_REGISTERS);
	assert_true(message_at(PPSMC_MSG_HasDisplay) < message_at(PPSMC_MSG_EnableEDCController));
	assert_true(message_at(PPSMC_MSG_EnableEDCController) <
	            message_at(PPSMC_MSG_Voltage_Cntl_Enable));
	assert_null(fake_sent(PPSMC_MSG_DisableEDCController, 0));
}

static void firmware_without_edc_is_no_failure(void **state)
{
	static const uint32_t value[VBIOS_EDC_REGISTERS];
	struct smu_tables t;

	(void)state;
	small_tables(&t);
	fake->refuse = PPSMC_MSG_DisableEDCController;
	assert_int_equal(smu_enable_dpm(smu, &(struct smu_dpm){.tables = &t, .kicker = true}), 0);
	fake->refuse = PPSMC_MSG_EnableEDCController;
	assert_int_equal(
	        smu_enable_dpm(smu, &(struct smu_dpm){.tables = &t, .kicker = true, .edc = value}),
	        0);
}

static void refused_step_is_named_and_undone(void **state)
{
	struct smu_tables t;
	char said[512];

	(void)state;
	small_tables(&t);
	fake->refuse = 0x150;
	assert_int_equal(smu_enable_dpm(smu, &(struct smu_dpm){.tables = &t}), -EOPNOTSUPP);
	rx_log_last_error(said, sizeof(said));
	assert_non_null(strstr(said, "memory clock (19)"));
	assert_false(smu_dpm_enabled(smu));
	assert_int_equal(*fake_smc(IX_GENERAL_PWRMGT) & 1, 0);
	assert_non_null(fake_sent(0x135, 0)); /* voltage control off again */
}

static void firmware_that_ignores_the_tables_is_noticed(void **state)
{
	struct smu_tables t;

	(void)state;
	small_tables(&t);
	fake->voltage_on = false;
	assert_int_equal(smu_enable_dpm(smu, &(struct smu_dpm){.tables = &t}), -ETIMEDOUT);
}

/* ---- fan ---- */

static void manual_duty_is_in_the_fans_own_steps(void **state)
{
	(void)state;
	assert_int_equal(smu_fan_manual(smu, 128), 0);
	/* FMAX_DUTY100 = 0x87 = 135: polaris.md 10.9 */
	assert_int_equal(fake_last(true, IX_CG_FDO_CTRL0) & 0xFF, 128 * 135 / 255);
	assert_int_equal(fake_last(true, IX_CG_FDO_CTRL2) >> 11 & 7, 1);
	assert_int_equal(fake_last(true, IX_CG_FDO_CTRL2) & 0xFF, 0);
	assert_true(smu_fan_is_manual(smu));
	assert_null(fake_sent(0x5C, 0)); /* the SMU's control was not on */
	assert_int_equal(smu_fan_manual(smu, 255), 0);
	assert_int_equal(fake_last(true, IX_CG_FDO_CTRL0) & 0xFF, 135);
	assert_int_equal(smu_fan_manual(smu, 256), -EINVAL);
}

static void automatic_fan_needs_its_curve(void **state)
{
	struct smu_thermal t = {.has_fan = true,
	        .tach_pulses = 2,
	        .alert_c = 94,
	        .target_c = 75,
	        .curve = {.tmin_0_01c = 4000,
	                .tmed_0_01c = 6500,
	                .thigh_0_01c = 8500,
	                .pwm_min_0_01pct = 2000,
	                .pwm_med_0_01pct = 4000,
	                .pwm_high_0_01pct = 6000}};

	(void)state;
	assert_int_equal(smu_fan_auto(smu), -ENOTSUP);
	assert_int_equal(smu_thermal_start(smu, &t), 0);
	assert_int_equal(smu_fan_manual(smu, 200), 0);
	assert_non_null(fake_sent(0x5C, 0));
	assert_int_equal(smu_fan_auto(smu), 0);
	assert_false(smu_fan_is_manual(smu));
	assert_non_null(fake_sent(0x5B, 1));
}

static void fan_the_vbios_did_not_set_up_is_an_error(void **state)
{
	(void)state;
	*fake_smc(IX_CG_FDO_CTRL1) = 0;
	assert_int_equal(smu_fan_manual(smu, 255), -EIO);
}

/* ---- measurements ---- */

static void sample_reads_every_value_in_its_unit(void **state)
{
	struct smu_sample s;

	(void)state;
	*fake_smc(IX_CG_MULT_THERMAL_STATUS) = 61u << 9;
	*fake_smc(IX_CG_THERMAL_STATUS) = 54u << 9;
	*fake_smc(IX_CG_TACH_STATUS) = 1000000; /* 60 x 25e6 / 1e6 = 1500 rpm */
	*fake_smc(IX_PWR_SVI2_STATUS) = 84;     /* (6200 - 2100) / 4 */
	fake->ram[(0x3E000 + 60) / 4] = 97u << 8;
	fake->result[0x200] = 136600;
	fake->result[0x201] = 200000;
	fake->result[0x282] = 120 * 256 + 128;
	assert_int_equal(smu_sample(smu, &s), 0);
	assert_int_equal(s.temperature_c, 61);
	assert_int_equal(s.pwm, 54 * 255 / 135);
	assert_int_equal(s.fan_rpm, 1500);
	assert_int_equal(s.vddc_mv, 1025);
	assert_int_equal(s.activity_pct, 97);
	assert_int_equal(s.sclk, 136600);
	assert_int_equal(s.mclk, 200000);
	assert_int_equal(s.power_mw, 120500);
}

static void sample_stands_what_sensors_say_when_they_cannot(void **state)
{
	struct smu_sample s;

	(void)state;
	*fake_smc(IX_CG_MULT_THERMAL_STATUS) = 0x3FFFF;
	*fake_smc(IX_CG_TACH_STATUS) = 0xFFFFFFFF;
	*fake_smc(IX_PWR_SVI2_STATUS) = 0xFF;
	fake->ram[(0x3E000 + 60) / 4] = 0xFFFF;
	assert_int_equal(smu_sample(smu, &s), 0);
	assert_int_equal(s.temperature_c, 255);
	assert_int_equal(s.fan_rpm, 0);
	assert_int_equal(s.vddc_mv, 0);
	assert_int_equal(s.activity_pct, 100);
}

static void zero_degrees_are_no_temperature(void **state)
{
	struct smu_sample s = {.temperature_c = -1};
	int celsius;

	(void)state;
	*fake_smc(IX_CG_MULT_THERMAL_STATUS) = 0;
	assert_int_equal(smu_temperature(smu, &celsius), -EIO);
	assert_int_equal(smu_sample(smu, &s), -EIO);
	assert_int_equal(s.temperature_c, -1);
	*fake_smc(IX_CG_MULT_THERMAL_STATUS) = 1u << 9;
	assert_int_equal(smu_temperature(smu, &celsius), 0);
	assert_int_equal(celsius, 1);
}

static void second_sample_costs_no_more_than_its_values(void **state)
{
	struct smu_sample s;

	(void)state;
	*fake_smc(IX_CG_MULT_THERMAL_STATUS) = 40u << 9;
	assert_int_equal(smu_sample(smu, &s), 0);
	size_t writes = fake->writes, reads = fake->reads;

	assert_int_equal(smu_sample(smu, &s), 0);
	/* 5 words of SMC space: index each; 3 results: RESP and MESSAGE each */
	assert_int_equal(fake->writes - writes, 5 + 3 * 2);
	/* the 5 words; RESP and the result of the 3 */
	assert_int_equal(fake->reads - reads, 5 + 3 * 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(messages_are_the_stock_drivers),
	        cmocka_unit_test(registers_end_as_the_stock_driver_leaves_them),
	        TEST(limits_go_out_in_each_messages_unit),
	        TEST(every_block_that_limits_ramps_is_switched_on_in_all_engines),
	        TEST(edc_controller_gets_the_boards_registers_and_then_starts),
	        TEST(firmware_without_edc_is_no_failure),
	        TEST(refused_step_is_named_and_undone),
	        TEST(firmware_that_ignores_the_tables_is_noticed),
	        TEST(manual_duty_is_in_the_fans_own_steps),
	        TEST(automatic_fan_needs_its_curve),
	        TEST(fan_the_vbios_did_not_set_up_is_an_error),
	        TEST(sample_reads_every_value_in_its_unit),
	        TEST(sample_stands_what_sensors_say_when_they_cannot),
	        TEST(zero_degrees_are_no_temperature),
	        TEST(second_sample_costs_no_more_than_its_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
