/* test_heat.c - when the card is too hot, and what the driver does then. */
#include "device/bytes.h"
#include "device/core/heat.h"
#include "helper_card.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(states_follow_the_temperature),
	        cmocka_unit_test(lower_junction_limit_of_the_board_counts),
	        cmocka_unit_test(limit_nobody_can_mean_is_not_believed),
	        cmocka_unit_test(sensor_out_of_range_is_taken_for_heat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
