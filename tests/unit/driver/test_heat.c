/* test_heat.c - when the card is too hot, and what the driver does then. */
#include <errno.h>
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/core/heat.h"
#include "device/core/rx580_priv.h"
#include "device/log.h"
#include "helper_card.h"
#include "helper_lasting.h"

static enum rx_heat after(struct heat *h, int temperature_c)
{
	return h->state = rx_heat_next(h, temperature_c);
}

static struct heat limits(unsigned tjmax_c)
{
	struct vbios_powerplay pp = {.has_powertune = true};
	struct heat h = {0};

	pp.powertune.tjmax_c = (uint16_t)tjmax_c;
	rx_heat_limits(&h, &pp);
	return h;
}

static void states_follow_the_temperature(void **state)
{
	const struct {
		int temperature_c;
		enum rx_heat want;
	} rows[] = {
	        {30, RX_COOL}, {74, RX_COOL}, {75, RX_WARM}, {79, RX_WARM}, {74, RX_COOL},
	        {80, RX_HOT}, {79, RX_HOT}, {76, RX_HOT}, /* paused until 75 */
	        {75, RX_WARM}, {74, RX_COOL}, {89, RX_HOT}, {90, RX_OVERHEATED},
	        {20, RX_OVERHEATED}, /* only a reset ends it */
	};
	struct heat h = limits(94);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		enum rx_heat got = after(&h, rows[i].temperature_c);

		if (got != rows[i].want)
			print_error("row %zu, %d C: expected %d, got %d\n", i,
			        rows[i].temperature_c, rows[i].want, got);
		assert_int_equal(got, rows[i].want);
	}
}

static void lower_junction_limit_of_the_board_counts(void **state)
{
	struct heat h = limits(85);

	(void)state;
	assert_int_equal(h.off_c, 85);
	assert_int_equal(after(&h, 84), RX_HOT);
	assert_int_equal(after(&h, 85), RX_OVERHEATED);
}

static void limit_nobody_can_mean_is_not_believed(void **state)
{
	const unsigned nonsense[] = {0, 5, 79, 126, 255, 65535};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(nonsense); i++) {
		struct heat h = limits(nonsense[i]);

		assert_int_equal(h.off_c, HEAT_OFF_C);
		assert_int_equal(h.critical_c, 0);
	}
}

static void sensor_out_of_range_is_taken_for_heat(void **state)
{
	struct heat h = limits(94);

	(void)state;
	assert_int_equal(after(&h, 255), RX_OVERHEATED); /* smu.h: out of range */
}

static void fan_counts_as_stuck_when_it_stands_for_long_with_current(void **state)
{
	struct heat h = {.has_tach = true};

	(void)state;
	for (int i = 1; i < HEAT_FAN_SAMPLES; i++)
		assert_false(rx_heat_fan(&h, 128, 0)); /* it may be starting */
	assert_true(rx_heat_fan(&h, 128, 0));
	assert_true(rx_heat_fan(&h, 128, 0));
	assert_false(rx_heat_fan(&h, 128, 900));
	for (int i = 0; i < 2 * HEAT_FAN_SAMPLES; i++)
		assert_false(rx_heat_fan(&h, HEAT_FAN_PWM - 1, 0)); /* zero RPM is a feature */
	h.has_tach = false;
	for (int i = 0; i < 2 * HEAT_FAN_SAMPLES; i++)
		assert_false(rx_heat_fan(&h, 255, 0)); /* nobody could tell */
}

static struct rx_sensors sample(struct rx580 *rx)
{
	struct rx_sensors s;

	assert_int_equal(rx_sample(rx), 0);
	assert_true(rx_read_sensors(rx, &s));
	return s;
}

static void warm_card_has_its_fan_at_full_speed_whatever_the_user_says(void **state)
{
	struct rx580 *rx = helper_open("virtual,posted,fault=overheat=76", NULL, NULL);

	(void)state;
	assert_int_equal(sample(rx).heat, RX_WARM);
	struct rx_sensors s = sample(rx);

	assert_int_equal(s.temperature_mc, 76000);
	assert_int_equal(s.pwm, 255);
	assert_true(s.fan_manual);
	assert_true(rx_may_feed(rx));
	assert_int_equal(rx_fan_manual(rx, 10), -EPERM);
	assert_int_equal(rx_fan_auto(rx), -EPERM);
	assert_int_equal(sample(rx).pwm, 255);
	helper_close_clean(rx);
}

static void fan_goes_back_to_the_curve_when_the_card_is_cool(void **state)
{
	struct rx580 *rx = helper_open("virtual,posted", NULL, NULL);

	(void)state;
	assert_int_equal(rx_fan_manual(rx, 200), 0);
	assert_true(sample(rx).fan_manual); /* also the user's own speed is forgotten */
	rx->heat.state = RX_WARM;
	rx->heat.fan_full = true;
	struct rx_sensors s = sample(rx);

	assert_int_equal(s.heat, RX_COOL);
	assert_false(s.fan_manual);
	helper_close_clean(rx);
}

static void hot_card_is_not_fed(void **state)
{
	struct rx580 *rx = helper_open("virtual,posted,fault=overheat=81", NULL, NULL);

	(void)state;
	assert_int_equal(sample(rx).heat, RX_HOT);
	assert_false(rx_may_feed(rx));
	helper_close_clean(rx);
}

static enum rx_state state_of(struct rx580 *rx)
{
	struct rx_info info;

	rx_read_info(rx, &info);
	return info.state;
}

static void overheated_card_stops_and_still_measures(void **state)
{
	struct rx580 *rx = helper_open("virtual,posted,fault=overheat=78", NULL, NULL);
	uint64_t high = rx->info.vram_window;
	char said[512];
	uint8_t byte;

	(void)state;
	assert_int_equal(rx_may_reset(rx), 0);
	rx->heat.off_c = 78; /* a card that is too hot from the start is not started */
	assert_int_equal(sample(rx).heat, RX_OVERHEATED);
	assert_int_equal(state_of(rx), RX_OVERHEATED_OFF);
	rx_log_last_error(said, sizeof(said)); /* what `status` shows */
	if (!strstr(said, "stopping the queues"))
		fail_msg("last error: expected why the queues stopped, got \"%s\"", said);
	assert_false(rx_may_feed(rx));
	assert_int_equal(rx_vram_fill(rx, high, 0, 4096), -EIO);
	assert_int_equal(rx_vram_read(rx, high, &byte, 1), -EIO);
	assert_int_equal(rx_plan_queue_start(rx, 0, 10, 0), -EIO);
	assert_int_equal(rx_vram_read(rx, 0, &byte, 1), 0); /* this needs no queue */
	assert_int_equal(rx_reset_soft(rx), -EPERM);
	struct rx_sensors s = sample(rx);

	assert_int_equal(s.temperature_mc, 78000);
	assert_int_equal(s.pwm, 255);
	assert_int_equal(state_of(rx), RX_OVERHEATED_OFF);
	helper_close_clean(rx);
}

static void overheated_card_comes_back_by_a_reset_when_it_is_cool(void **state)
{
	struct rx580 *rx = helper_open("virtual,posted", NULL, NULL);

	(void)state;
	rx->heat.off_c = 1; /* what it has counts as too hot */
	assert_int_equal(sample(rx).heat, RX_OVERHEATED);
	rx->heat.off_c = HEAT_OFF_C;
	assert_int_equal(sample(rx).heat, RX_OVERHEATED); /* not by itself */
	assert_int_equal(rx_vram_fill(rx, rx->info.vram_window, 0, 4096), -EIO);
	assert_int_equal(rx_reset_soft(rx), 0);
	assert_int_equal(state_of(rx), RX_READY);
	assert_true(rx_may_feed(rx));
	assert_int_equal(rx_vram_fill(rx, rx->info.vram_window, 0, 4096), 0);
	struct rx_sensors s = sample(rx);

	assert_int_equal(s.heat, RX_COOL);
	assert_false(s.fan_manual);
	helper_close_clean(rx);
}

static void heat_is_watched_also_when_the_firmware_fails(void **state)
{
	/* 0x201: PPSMC_MSG_API_GetMclkFrequency, part of every sample */
	struct rx580 *rx =
	        helper_open("virtual,posted,fault=smu-fails=0x201,fault=overheat=81", NULL, NULL);
	struct rx_sensors s;
	char said[512];

	(void)state;
	assert_int_equal(rx_sample(rx), -EIO);
	assert_false(rx_read_sensors(rx, &s));
	assert_false(rx_may_feed(rx));
	assert_int_equal(rx->heat.state, RX_HOT);
	rx_log(LOG_ERROR, "test", "something else");
	assert_int_equal(rx_sample(rx), -EIO);
	rx_log_last_error(said, sizeof(said));
	assert_string_equal(said, "test: error: something else"); /* it has been said */
	helper_close_clean(rx);
}

static void firmware_that_falls_silent_leaves_the_fan_at_full_speed(void **state)
{
	struct lasting l;
	struct rx580 *rx;

	(void)state;
	lasting_new(&l, "posted");
	assert_int_equal(lasting_start(&l, &rx), 0);
	assert_int_equal(rx_sample(rx), 0);
	vcard_inject(l.card, VCARD_FAULT_SMU_SILENT, 1);
	assert_int_equal(rx_sample(rx), -ETIMEDOUT);
	assert_int_equal(state_of(rx), RX_HUNG);
	assert_true(rx->heat.fan_full);
	assert_int_equal(rx_sample(rx), -ETIMEDOUT);
	assert_int_equal(rx->heat.misses, 0); /* its temperature is known all the same */
	helper_close_clean(rx); /* another message to a busy SMU would be a guest error */
	lasting_free(&l);
}

/* The first nine looks without a temperature may be bad luck (MAX_MISSES, heat.md). */
static void ten_looks_without_a_temperature_count_as_overheated(void **state)
{
	struct lasting l;
	struct rx580 *rx;

	(void)state;
	lasting_new(&l, "posted");
	assert_int_equal(lasting_start(&l, &rx), 0);
	assert_int_equal(vcard_inject_later(l.card, VCARD_FAULT_SENSOR_DEAD, 1, 3600000), 0);
	assert_int_equal(sample(rx).heat, RX_COOL);
	vcard_advance(l.card, 3600000);
	for (int look = 1; look <= 10; look++) {
		assert_int_equal(rx->heat.state, RX_COOL);
		assert_int_equal(rx_sample(rx), -EIO);
		assert_int_equal(rx->heat.misses, look);
	}
	assert_int_equal(rx->heat.state, RX_OVERHEATED);
	assert_int_equal(state_of(rx), RX_OVERHEATED_OFF);
	assert_false(rx_may_feed(rx));
	assert_int_equal(rx_plan_queue_start(rx, 0, 10, 0), -EIO);
	assert_int_equal(rx_may_reset(rx), -EPERM); /* nobody knows how hot it is */
	vcard_inject(l.card, VCARD_FAULT_SENSOR_DEAD, 0);
	struct rx_sensors s = sample(rx);

	assert_int_equal(s.heat, RX_OVERHEATED); /* not by itself */
	assert_int_equal(s.pwm, 255);
	assert_int_equal(rx_may_reset(rx), 0);
	rx_close(rx);
	lasting_free(&l);
}

static void single_looks_without_a_temperature_are_forgotten(void **state)
{
	struct lasting l;
	struct rx580 *rx;

	(void)state;
	lasting_new(&l, "posted");
	assert_int_equal(lasting_start(&l, &rx), 0);
	for (int round = 0; round < 3; round++) {
		vcard_inject(l.card, VCARD_FAULT_SENSOR_DEAD, 1);
		for (int look = 1; look <= 9; look++)
			assert_int_equal(rx_sample(rx), -EIO);
		vcard_inject(l.card, VCARD_FAULT_SENSOR_DEAD, 0);
		assert_int_equal(sample(rx).heat, RX_COOL);
		assert_int_equal(rx->heat.misses, 0);
	}
	rx_close(rx);
	lasting_free(&l);
}

static void without_power_management_the_card_stays_at_boot_clocks(void **state)
{
	const struct rx_options opt = {.card = "virtual,posted,fault=load=100", .no_dpm = true};
	struct rx580 *rx;

	(void)state;
	assert_int_equal(rx_open(&rx, &opt), 0);
	struct rx_sensors s = sample(rx);

	assert_false(s.dpm);
	assert_int_equal(s.sclk_hz, 300000000);
	assert_int_equal(s.mclk_hz, 300000000);
	assert_int_equal(s.stock_cap_uw, 0);
	assert_int_equal(rx_set_power_cap(rx, 100), -ENODATA);
	helper_close_clean(rx);
}

static void power_limit_goes_no_higher_than_the_boards_own(void **state)
{
	struct rx580 *rx = helper_open("virtual,posted", NULL, NULL);
	struct rx_sensors s = sample(rx);
	unsigned stock = (unsigned)(s.stock_cap_uw / 1000000);

	(void)state;
	assert_int_equal(stock, 150); /* of the synthetic VBIOS */
	assert_int_equal(s.cap_uw, s.stock_cap_uw);
	assert_int_equal(rx_set_power_cap(rx, stock + 1), -EINVAL);
	assert_int_equal(rx_set_power_cap(rx, stock / 4 - 1), -EINVAL);
	assert_int_equal(rx_set_power_cap(rx, 100), 0);
	assert_int_equal(sample(rx).cap_uw, 100000000);
	helper_close_clean(rx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(states_follow_the_temperature),
	        cmocka_unit_test(lower_junction_limit_of_the_board_counts),
	        cmocka_unit_test(limit_nobody_can_mean_is_not_believed),
	        cmocka_unit_test(sensor_out_of_range_is_taken_for_heat),
	        cmocka_unit_test(fan_counts_as_stuck_when_it_stands_for_long_with_current),
	        cmocka_unit_test(warm_card_has_its_fan_at_full_speed_whatever_the_user_says),
	        cmocka_unit_test(fan_goes_back_to_the_curve_when_the_card_is_cool),
	        cmocka_unit_test(hot_card_is_not_fed),
	        cmocka_unit_test(overheated_card_stops_and_still_measures),
	        cmocka_unit_test(overheated_card_comes_back_by_a_reset_when_it_is_cool),
	        cmocka_unit_test(heat_is_watched_also_when_the_firmware_fails),
	        cmocka_unit_test(firmware_that_falls_silent_leaves_the_fan_at_full_speed),
	        cmocka_unit_test(ten_looks_without_a_temperature_count_as_overheated),
	        cmocka_unit_test(single_looks_without_a_temperature_are_forgotten),
	        cmocka_unit_test(without_power_management_the_card_stays_at_boot_clocks),
	        cmocka_unit_test(power_limit_goes_no_higher_than_the_boards_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
