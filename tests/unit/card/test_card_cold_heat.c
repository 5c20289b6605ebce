/* test_card_cold_heat.c - clocks, power, temperature and fan of a card whose DPM was started. */
#include "device/bytes.h"
#include "tests/unit/card/helper_cold.h"

#define LOADED 101u /* VCARD_FAULT_LOAD: 100 per cent */

static uint32_t ask(struct host *h, uint32_t id)
{
	uint32_t v = 0;

	assert_int_equal(smc_send(h, id, &v), 1);
	return v;
}

static unsigned sclk_mhz(struct host *h)
{
	return ask(h, 0x200) / 100;
}

static unsigned watts(struct host *h)
{
	return ask(h, 0x282) >> 8; /* polaris.md 10.7 */
}

static unsigned celsius(struct host *h)
{
	return smc_get(h, IX_CG_MULT_THERMAL_STATUS) >> 9 & 0x1FF; /* 10.10 */
}

static unsigned duty(struct host *h)
{
	return smc_get(h, IX_CG_THERMAL_STATUS) >> 9 & 0xFF; /* 10.9 */
}

static unsigned rpm(struct host *h)
{
	return 60u * 25000000u / smc_get(h, IX_CG_TACH_STATUS); /* 10.9 */
}

static void load(struct host *h, unsigned value, unsigned seconds)
{
	vcard_inject(h->card, VCARD_FAULT_LOAD, value);
	vcard_advance(h->card, seconds * 1000);
}

static void fan_percent(struct host *h, unsigned percent)
{
	smc_tell(h, 0x5C, 0); /* else the firmware goes on writing the duty: polaris.md 10.9 */
	smc_tell(h, 0x5C, 0); /* StopFanControl: 10.9 */
	smc_put(h, IX_CG_FDO_CTRL0, 0x87 * percent / 100);
	smc_put(h, IX_CG_FDO_CTRL2, 1u << 11); /* static */
}

#define expect_range(name, got, low, high)                                                         \
	do {                                                                                       \
		unsigned got_ = (got);                                                             \
		if (got_ < (low) || got_ > (high))                                                 \
			fail_msg("%s: expected %u..%u, got %u", name, (unsigned)(low),             \
			        (unsigned)(high), got_);                                           \
	} while (0)

static void without_dpm_it_stays_at_300_mhz(void **state)
{
	struct host *h = *state;

	cold_up(h);
	load(h, LOADED, 10);
	assert_int_equal(sclk_mhz(h), 300);
	assert_int_equal(ask(h, 0x201), 30000);
	expect_range("power", watts(h), 25, 60);
	assert_int_equal(smc_get(h, IX_FEATURE_STATUS), 0);
	assert_no_guest_errors(h);
}

static void load_raises_clock_power_and_voltage(void **state)
{
	struct host *h = *state;
	uint32_t vid;

	cold_up(h);
	dpm_start(h, true);
	assert_int_equal(smc_get(h, IX_FEATURE_STATUS) & 0x6003, 0x6003);
	load(h, 1, 60);
	assert_int_equal(sclk_mhz(h), 300);
	assert_int_equal(ask(h, 0x201), 30000);
	load(h, LOADED, 10);
	expect_range("sclk", sclk_mhz(h), 1326, 1366);
	assert_int_equal(ask(h, 0x201), 200000);
	expect_range("power", watts(h), 120, 146);
	vid = smc_get(h, IX_PWR_SVI2_STATUS) & 0xFF;
	expect_range("mV", (6200 - 25 * vid) / 4, 1075, 1160);
	assert_int_equal(smc_get(h, IX_TARGET_AND_CURRENT_PROFILE_INDEX) >> 8 & 0xF, 2);
	expect_range("activity", smc_get(h, SMC_SOFT + 60) >> 8, 99, 100);
	assert_no_guest_errors(h);
}

/* reference-run.md, method 8 */
static void missing_power_controllers_drop_to_300_mhz_under_load(void **state)
{
	struct host *h = *state;

	cold_up(h);
	dpm_start(h, false);
	load(h, LOADED, 10);
	assert_int_equal(sclk_mhz(h), 300);
	smc_tell(h, 0x169, 0); /* the current controller alone does not do */
	vcard_advance(h->card, 1000);
	assert_int_equal(sclk_mhz(h), 300);
	smc_tell(h, 0x185, 0);
	vcard_advance(h->card, 1000);
	expect_range("sclk", sclk_mhz(h), 1326, 1366);
	assert_no_guest_errors(h);
}

static void power_limit_in_the_wrong_unit_throttles(void **state)
{
	struct host *h = *state;

	cold_up(h);
	dpm_start(h, true);
	load(h, LOADED, 10);
	smc_tell(h, 0x187, 100 << 8);
	vcard_advance(h->card, 2000);
	expect_range("power at 100 W", watts(h), 60, 100);
	smc_tell(h, 0x187, 145); /* watts, not watts << 8 */
	vcard_advance(h->card, 2000);
	assert_int_equal(sclk_mhz(h), 300);
}

static void enabled_masks_choose_levels(void **state)
{
	struct host *h = *state;

	cold_up(h);
	dpm_start(h, true);
	load(h, LOADED, 5);
	smc_tell(h, 0x145, 1u << 3);
	smc_tell(h, 0x146, 1u << 1);
	assert_int_equal(sclk_mhz(h), 1167);
	assert_int_equal(ask(h, 0x201), 100000);
	assert_int_equal(smc_get(h, IX_TARGET_AND_CURRENT_PROFILE_INDEX), 3u << 16 | 1u << 8);
}

static void impossible_tables_are_refused(void **state)
{
	struct host *h = *state;
	uint32_t arg = 0;

	cold_up(h);
	smc_put(h, SMC_DPM + 208, 0);
	smc_tell(h, 0x109, 0);
	assert_int_equal(smc_send(h, 0x14E, &arg), 0xFF);
	assert_int_equal(guest_errors(h), 1);
}

static void load_heats_and_the_fan_cools(void **state)
{
	struct host *h = *state;
	unsigned idle, slow, fast;

	cold_up(h);
	dpm_start(h, true);
	fan_percent(h, 40);
	load(h, 1, 600);
	idle = celsius(h);
	load(h, LOADED, 600);
	slow = celsius(h);
	fan_percent(h, 100);
	vcard_advance(h->card, 600000);
	fast = celsius(h);
	expect_range("idle", idle, 30, 40);
	expect_range("loaded, fan 40 %", slow, 76, 90);
	expect_range("loaded, fan 100 %", fast, 58, 66); /* 63 C: reference-run.md */
	assert_int_equal(duty(h), 0x87);
	expect_range("rpm", rpm(h), 3100, 3300);
	assert_no_guest_errors(h);
}

static void automatic_fan_follows_its_table(void **state)
{
	struct host *h = *state;
	unsigned t, want;

	cold_up(h);
	dpm_start(h, true);
	load(h, LOADED, 900);
	t = celsius(h);
	assert_true(t > 65 && t < 109);
	/* FdoMin 27, 17/16 a degree from 40 to 65, 22/16 above */
	want = 27 + 17 * 25 / 16 + 22 * (t - 65) / 16;
	expect_range("duty", duty(h), want - 1, want + 3);
	smc_tell(h, 0x302, 0); /* zero RPM: stops below 46, starts above 54 */
	load(h, 1, 300);
	assert_int_equal(duty(h), 0);
	assert_int_equal(smc_get(h, IX_CG_TACH_STATUS), 0xFFFFFFFF);
	smc_tell(h, 0x5C, 0); /* StopFanControl: what the VBIOS set up */
	assert_int_equal(duty(h), 0x25);
	assert_no_guest_errors(h);
}

static void fan_by_rpm(void **state)
{
	struct host *h = *state;

	cold_up(h);
	dpm_start(h, true);
	smc_tell(h, 0x5C, 0);
	smc_tell(h, 0x5C, 0);
	smc_put(h, IX_CG_TACH_CTRL, (60u * 25000000u / (8 * 1600)) << 3);
	smc_put(h, IX_CG_FDO_CTRL2, 5u << 11);
	expect_range("rpm", rpm(h), 1590, 1610);
}

static void stuck_fan_is_silent_and_hot(void **state)
{
	struct host *h = *state;

	cold_up(h);
	dpm_start(h, true);
	fan_percent(h, 100);
	load(h, LOADED, 300);
	assert_true(celsius(h) < 70);
	vcard_inject(h->card, VCARD_FAULT_FAN_STUCK, 1);
	vcard_advance(h->card, 120000);
	assert_int_equal(smc_get(h, IX_CG_TACH_STATUS), 0xFFFFFFFF);
	assert_true(celsius(h) >= 85);
	assert_true(sclk_mhz(h) <= 1366);
}

static void hot_die_throttles_then_trips(void **state)
{
	struct host *h = *state;

	cold_up(h);
	dpm_start(h, true);
	load(h, LOADED, 5);
	vcard_inject(h->card, VCARD_FAULT_OVERHEAT, 95); /* TemperatureLimitHigh is 90 */
	vcard_advance(h->card, 2000);
	assert_int_equal(celsius(h), 95);
	assert_int_equal(sclk_mhz(h), 300);
	assert_no_guest_errors(h);
	vcard_inject(h->card, VCARD_FAULT_OVERHEAT, 110); /* DIG_THERM_CTF is 106 */
	vcard_advance(h->card, 2000);
	assert_int_equal(reg_read(h, REG_CONFIG_MEMSIZE), 0xFFFFFFFF);
	assert_int_equal(guest_errors(h), 1);
	vcard_inject(h->card, VCARD_FAULT_OVERHEAT, 0);
	vcard_reset(h->card);
	host_enumerate(h);
	assert_int_equal(reg_read(h, REG_CONFIG_MEMSIZE), 0);
}

static void ambient_shifts_everything(void **state)
{
	struct host *h = host_new(&(struct vcard_options){.cold = true, .ambient = 40});

	(void)state;
	vcard_advance(h->card, 900000);
	expect_range("idle at 40 C", celsius(h), 44, 52);
	host_free(h);
}

static void faults_have_names(void **state)
{
	enum vcard_fault f;
	unsigned v;

	(void)state;
	assert_int_equal(vcard_fault_parse("overheat=95", &f, &v), 0);
	assert_int_equal(f, VCARD_FAULT_OVERHEAT);
	assert_int_equal(v, 95);
	assert_int_equal(vcard_fault_parse("load=50", &f, &v), 0);
	assert_int_equal(v, 51);
	assert_int_equal(vcard_fault_parse("fan-stuck", &f, &v), 0);
	assert_int_equal(v, 1);
	assert_int_equal(vcard_fault_parse("fan-stuck=1", &f, &v), -22);
	assert_int_equal(vcard_fault_parse("overheat", &f, &v), -22);
	assert_int_equal(vcard_fault_parse("overheat=", &f, &v), -22);
	assert_int_equal(vcard_fault_parse("smoke", &f, &v), -22);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, cold_setup, host_teardown)
	const struct CMUnitTest tests[] = {
	        T(without_dpm_it_stays_at_300_mhz),
	        T(load_raises_clock_power_and_voltage),
	        T(missing_power_controllers_drop_to_300_mhz_under_load),
	        T(power_limit_in_the_wrong_unit_throttles),
	        T(enabled_masks_choose_levels),
	        T(impossible_tables_are_refused),
	        T(load_heats_and_the_fan_cools),
	        T(automatic_fan_follows_its_table),
	        T(fan_by_rpm),
	        T(stuck_fan_is_silent_and_hot),
	        T(hot_die_throttles_then_trips),
	        cmocka_unit_test(ambient_shifts_everything),
	        cmocka_unit_test(faults_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
