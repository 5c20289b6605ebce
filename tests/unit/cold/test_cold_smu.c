/* test_cold_smu.c - the SMU driver against the virtual card's own SMU: start, microcode, power
 * management, fan, measurements, and what happens when the card does not play along. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "device/bytes.h"
#include "device/log.h"
#include "helper_cold_card.h"

#define RX580 "rx580-8g-sapphire-pulse"

static void assert_said(const char *word)
{
	char said[512];

	rx_log_last_error(said, sizeof(said));
	if (!strstr(said, word))
		fail_msg("expected \"%s\" in: %s", word, said);
}

static void firmware_and_microcode_are_accepted(void **state)
{
	struct cold *c = cold_open(RX580);
	struct smu_sample s;

	(void)state;
	cold_run(c);
	/* boot clocks: polaris.md 1.4 */
	assert_int_equal(smu_sample(c->smu, &s), 0);
	assert_int_equal(s.sclk, 30000);
	assert_int_equal(s.mclk, 30000);
	assert_in_range(s.temperature_c, 20, 60);
	cold_close(c);
}

static void power_management_comes_up_without_a_guest_error(void **state)
{
	struct cold *c = cold_open(RX580);
	struct smu_sample s;

	(void)state;
	cold_run(c);
	cold_dpm(c);
	vcard_advance(c->card, 3000);
	assert_int_equal(smu_sample(c->smu, &s), 0);
	assert_in_range(s.sclk, 30000, 136600);
	assert_in_range(s.vddc_mv, 700, 1250);
	assert_in_range(s.power_mw, 1000, 155000);
	cold_close(c);
}

static void load_raises_clocks_power_and_temperature(void **state)
{
	struct cold *c = cold_open(RX580);
	struct smu_sample idle, busy;

	(void)state;
	cold_run(c);
	cold_dpm(c);
	vcard_advance(c->card, 3000);
	assert_int_equal(smu_sample(c->smu, &idle), 0);
	vcard_inject(c->card, VCARD_FAULT_LOAD, 101);
	vcard_advance(c->card, 60000);
	assert_int_equal(smu_sample(c->smu, &busy), 0);
	assert_true(busy.sclk > idle.sclk && busy.sclk <= 136600);
	assert_true(busy.mclk == 200000);
	assert_true(busy.power_mw > idle.power_mw && busy.power_mw <= 160000);
	assert_true(busy.temperature_c > idle.temperature_c);
	assert_in_range(busy.activity_pct, 90, 100);
	cold_close(c);
}

static void fan_obeys_by_hand_and_by_curve(void **state)
{
	struct cold *c = cold_open(RX580);
	struct smu_sample s;

	(void)state;
	cold_run(c);
	cold_dpm(c);
	assert_int_equal(smu_fan_manual(c->smu, 255), 0);
	vcard_advance(c->card, 10000);
	assert_int_equal(smu_sample(c->smu, &s), 0);
	assert_int_equal(s.pwm, 255);
	assert_true(s.fan_rpm > 1000);
	assert_int_equal(smu_fan_auto(c->smu), 0);
	vcard_advance(c->card, 120000);
	assert_int_equal(smu_sample(c->smu, &s), 0);
	assert_true(s.pwm < 128);
	cold_close(c);
}

static void next_driver_finds_what_the_last_one_left(void **state)
{
	struct cold *c = cold_open(RX580);
	struct smu_state look;

	(void)state;
	cold_run(c);
	cold_dpm(c);
	smu_free(c->smu);
	assert_int_equal(smu_new(&c->smu, &c->mmio, c->gmc), 0);
	assert_int_equal(smu_look(c->smu, &look), 0);
	assert_true(look.running);
	assert_int_equal(smu_attach(c->smu), 0);
	assert_true(smu_dpm_enabled(c->smu));
	assert_int_equal(smu_disable_dpm(c->smu), 0);
	assert_int_equal(smu_attach(c->smu), 0);
	assert_false(smu_dpm_enabled(c->smu));
	cold_close(c);
}

static void corrupt_firmware_is_refused(void **state)
{
	struct cold *c = cold_open(RX580);
	const struct fw_query q = {
	        .virtual_card = true, .device = 0x67DF, .revision = 0xE7, .smu_sel = true};

	(void)state;
	assert_int_equal(fw_load(&c->set, &q), 0);
	struct fw_image *smc = &c->set.image[FW_SMC];

	smc->data[smc->size / 2] ^= 1;
	assert_int_equal(smu_start(c->smu, smc), -EBADMSG);
	assert_said("refuses");
	smc->data[smc->size / 2] ^= 1;
	/* nothing is left half started: the good one starts at once */
	assert_int_equal(smu_start(c->smu, smc), 0);
	c->guest_errors = 0; /* the refusal was one */
	cold_close(c);
}

static void corrupt_microcode_is_named(void **state)
{
	struct cold *c = cold_open(RX580);
	const struct fw_query q = {
	        .virtual_card = true, .device = 0x67DF, .revision = 0xE7, .smu_sel = true};

	(void)state;
	assert_int_equal(fw_load(&c->set, &q), 0);
	assert_int_equal(smu_start(c->smu, &c->set.image[FW_SMC]), 0);
	c->set.image[FW_MEC].data[5000] ^= 1;
	assert_int_equal(smu_load_ucodes(c->smu, &c->set, 1 << 20), -ETIMEDOUT);
	assert_said("MEC");
	c->guest_errors = 0;
	cold_close(c);
}

static void silent_smu_is_given_up(void **state)
{
	struct cold *c = cold_open(RX580);
	const struct fw_query q = {
	        .virtual_card = true, .device = 0x67DF, .revision = 0xE7, .smu_sel = true};

	(void)state;
	assert_int_equal(fw_load(&c->set, &q), 0);
	vcard_inject(c->card, VCARD_FAULT_SMU_SILENT, 1);
	assert_int_equal(smu_start(c->smu, &c->set.image[FW_SMC]), -ETIMEDOUT);
	assert_said("no answer");
	cold_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(firmware_and_microcode_are_accepted),
	        cmocka_unit_test(power_management_comes_up_without_a_guest_error),
	        cmocka_unit_test(load_raises_clocks_power_and_temperature),
	        cmocka_unit_test(fan_obeys_by_hand_and_by_curve),
	        cmocka_unit_test(next_driver_finds_what_the_last_one_left),
	        cmocka_unit_test(corrupt_firmware_is_refused),
	        cmocka_unit_test(corrupt_microcode_is_named),
	        cmocka_unit_test(silent_smu_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
