/* test_sensors.c - telemetry and hwmon/ on a fake card: one sample, two views, no traffic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "device/clock.h"
#include "fs/dispatch.h"
#include "fs/nodes.h"
#include "fs/options.h"
#include "fs/park.h"
#include "helper_fake_rx.h"

#define HOUR_MS 3600000u /* of samples: longer than any test may take */

static struct options opt = {.card = "virtual", .sample_ms = HOUR_MS};
static struct options no_smu = {.card = "virtual,nosmu", .sample_ms = HOUR_MS};

static int open_with(void **state, const struct options *o)
{
	struct fs *fs = calloc(1, sizeof(*fs));

	*state = fs;
	return fs_init(fs, o) || fs_card_open(fs);
}

static int setup(void **state)
{
	return open_with(state, &opt);
}

static int setup_no_smu(void **state)
{
	return open_with(state, &no_smu);
}

static int teardown(void **state)
{
	fs_card_close(*state);
	fs_fini(*state);
	free(*state);
	return 0;
}

static struct node *node(struct fs *fs, const char *name)
{
	struct node *dir = strchr(name, '/') ? tree_find(fs->root, "hwmon") : fs->root;
	struct node *n = tree_find(dir, strchr(name, '/') ? strchr(name, '/') + 1 : name);

	if (!n)
		fail_msg("expected a node %s", name);
	return n;
}

/* The text of a node into @out. Return: 0 or what a reader gets. */
static int read_node(struct fs *fs, const char *name, char *out, size_t size)
{
	struct node *n = node(fs, name);
	struct text t = {0};

	fs_lock(fs);
	int err = n->type->ops->text(fs, n, &t);
	fs_unlock(fs);
	assert_true(t.len < size);
	if (t.len)
		memcpy(out, t.data, t.len);
	out[t.len] = '\0';
	text_free(&t);
	return err;
}

static void expect_text(struct fs *fs, const char *name, const char *want)
{
	char got[128];
	int err = read_node(fs, name, got, sizeof(got));

	if (err || strcmp(got, want) != 0)
		fail_msg("%s: expected \"%s\", got %d \"%s\"", name, want, err, got);
}

static void expect_error(struct fs *fs, const char *name, int want)
{
	char got[2048];
	int err = read_node(fs, name, got, sizeof(got));

	if (err != want)
		fail_msg("%s: expected %d, got %d \"%s\"", name, want, err, got);
}

static int write_node(struct fs *fs, const char *name, const char *text)
{
	struct request r = {.kind = REQ_WRITE,
	        .fs = fs,
	        .node = node(fs, name),
	        .data = (unsigned char *)text,
	        .size = strlen(text)};
	int n = r.node->type->ops->write(&r);

	return n > 0 && (size_t)n == strlen(text) ? 0 : n;
}

static void expect_write(struct fs *fs, const char *name, const char *text, int want)
{
	int got = write_node(fs, name, text);

	if (got != want)
		fail_msg("\"%s\" to %s: expected %d, got %d", text, name, want, got);
}

static const struct {
	const char *name, *text;
} values[] = {
        {"hwmon/name", "amdgpu\n"},
        {"hwmon/temp1_input", "41000\n"},
        {"hwmon/temp1_label", "edge\n"},
        {"hwmon/temp1_crit", "94000\n"},
        {"hwmon/fan1_input", "1200\n"},
        {"hwmon/fan1_max", "3200\n"},
        {"hwmon/fan1_fault", "0\n"},
        {"hwmon/pwm1", "96\n"},
        {"hwmon/pwm1_min", "0\n"},
        {"hwmon/pwm1_max", "255\n"},
        {"hwmon/pwm1_enable", "2\n"},
        {"hwmon/power1_average", "87500000\n"},
        {"hwmon/power1_cap", "145000000\n"},
        {"hwmon/power1_cap_max", "145000000\n"},
        {"hwmon/power1_cap_min", "36000000\n"},
        {"hwmon/in0_input", "1150\n"},
        {"hwmon/in0_label", "vddgfx\n"},
        {"hwmon/freq1_input", "1340000000\n"},
        {"hwmon/freq1_label", "sclk\n"},
        {"hwmon/freq2_input", "2000000000\n"},
        {"hwmon/freq2_label", "mclk\n"},
        {"hwmon/update_interval", "3600000\n"},
};

static void hwmon_has_the_units_the_kernel_has(void **state)
{
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		expect_text(*state, values[i].name, values[i].text);
}

static void reading_uses_the_last_sample_and_no_link(void **state)
{
	struct fs *fs = *state;
	char before[2048], after[2048];
	uint64_t calls = fake_calls(fs->rx);

	assert_int_equal(read_node(fs, "telemetry", before, sizeof(before)), 0);
	assert_non_null(strstr(before, "\"temperature_mc\": 41000,"));
	fake_sensors(fs->rx)->temperature_mc = 55000;
	assert_int_equal(read_node(fs, "telemetry", after, sizeof(after)), 0);
	assert_string_equal(after, before);
	hwmon_has_the_units_the_kernel_has(state);
	assert_int_equal(fake_calls(fs->rx), calls);

	sensors_sample(fs);
	assert_int_equal(read_node(fs, "telemetry", after, sizeof(after)), 0);
	assert_non_null(strstr(after, "\"temperature_mc\": 55000,"));
	expect_text(fs, "hwmon/temp1_input", "55000\n");
}

static void what_a_board_does_not_tell_is_nodata(void **state)
{
	struct fs *fs = *state;
	struct rx_sensors *s = fake_sensors(fs->rx);
	char text[2048];

	s->critical_mc = 0;
	s->fan_max_rpm = 0;
	s->cap_uw = s->stock_cap_uw = 0;
	sensors_sample(fs);
	expect_error(fs, "hwmon/temp1_crit", -ENODATA);
	expect_error(fs, "hwmon/fan1_max", -ENODATA);
	expect_error(fs, "hwmon/power1_cap", -ENODATA);
	expect_error(fs, "hwmon/power1_cap_max", -ENODATA);
	expect_error(fs, "hwmon/power1_cap_min", -ENODATA);
	assert_int_equal(read_node(fs, "telemetry", text, sizeof(text)), 0);
	assert_null(strstr(text, "power_cap"));
	assert_null(strstr(text, "critical"));
}

static void without_smu_there_is_no_sample(void **state)
{
	struct fs *fs = *state;

	expect_error(fs, "telemetry", -ENODATA);
	expect_error(fs, "hwmon/temp1_input", -ENODATA);
	expect_write(fs, "hwmon/pwm1", "9\n", -ENODATA);
	expect_write(fs, "hwmon/pwm1_enable", "1\n", -ENODATA);
	expect_text(fs, "hwmon/name", "amdgpu\n");
}

static void old_temperature_is_not_taken_for_a_new_one(void **state)
{
	struct fs *fs = *state;

	fake_fail_samples(fs->rx, -EIO);
	sensors_sample(fs);
	expect_error(fs, "telemetry", -EIO);
	expect_error(fs, "hwmon/temp1_input", -EIO);
	fake_fail_samples(fs->rx, 0);
	sensors_sample(fs);
	expect_text(fs, "hwmon/temp1_input", "41000\n");
}

static void fan_is_the_users_only_after_he_asked_for_it(void **state)
{
	struct fs *fs = *state;

	expect_write(fs, "hwmon/pwm1", "128\n", -EINVAL);
	expect_write(fs, "hwmon/pwm1_enable", "3\n", -EINVAL);
	expect_write(fs, "hwmon/pwm1_enable", "1\n", 0);
	expect_text(fs, "hwmon/pwm1_enable", "1\n");
	expect_text(fs, "hwmon/pwm1", "96\n"); /* it keeps its speed */
	expect_write(fs, "hwmon/pwm1", "128\n", 0);
	expect_text(fs, "hwmon/pwm1", "128\n");
	expect_write(fs, "hwmon/pwm1", "256\n", -EINVAL);
	expect_write(fs, "hwmon/pwm1_enable", "2", 0);
	expect_text(fs, "hwmon/pwm1_enable", "2\n");
	expect_write(fs, "hwmon/pwm1", "128\n", -EINVAL);
}

static void fan_of_a_warm_card_is_nobodys(void **state)
{
	struct fs *fs = *state;

	expect_write(fs, "hwmon/pwm1_enable", "1\n", 0);
	fake_sensors(fs->rx)->heat = RX_WARM;
	sensors_sample(fs);
	expect_write(fs, "hwmon/pwm1", "10\n", -EPERM);
	expect_write(fs, "hwmon/pwm1_enable", "1\n", -EPERM);
	expect_write(fs, "hwmon/pwm1_enable", "2\n", -EPERM);
}

static void numbers_are_whole_decimal_and_alone(void **state)
{
	static const char *const bad[] = {
	        "", "\n", " 1", "-1", "1 2", "0x10", "1.5", "pig", "99999999999999999999"};
	struct fs *fs = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		expect_write(fs, "hwmon/power1_cap", bad[i], -EINVAL);
		expect_write(fs, "hwmon/update_interval", bad[i], -EINVAL);
	}
	expect_write(fs, "hwmon/power1_cap", "146000000\n", -EINVAL);
	expect_write(fs, "hwmon/power1_cap", "100000000\n", 0);
	expect_text(fs, "hwmon/power1_cap", "100000000\n");
	expect_write(fs, "hwmon/update_interval", "1\n", 0);
	expect_text(fs, "hwmon/update_interval", "100\n");
}

static void sample_goes_ahead_of_everything_else(void **state)
{
	struct fs *fs = *state;
	uint64_t count = fs->sample.count;
	uint8_t byte;

	assert_true(
	        sensors_tick(fs) > HOUR_MS / 2); /* the first was taken when the card was opened */
	assert_null(jobs_take_above(fs->jobs, JOB_FEED));
	fs->sample_asked_ns = now_ns() - HOUR_MS * 1000000ull;
	sensors_tick(fs);
	fs->sample_asked_ns = now_ns() - HOUR_MS * 1000000ull;
	sensors_tick(fs); /* the owner has not come to it yet: one is enough */
	fs->current_priority = JOB_FEED;
	assert_int_equal(rx_vram_read(fs->rx, 0, &byte, 1), 0); /* yields */
	assert_int_equal(fs->sample.count, count + 1);
	assert_null(jobs_take_above(fs->jobs, JOB_BACKGROUND));
	fs->sample_asked_ns = now_ns() - HOUR_MS * 1000000ull;
	sensors_tick(fs);
	assert_int_equal(rx_vram_read(fs->rx, 0, &byte, 1), 0);
	assert_int_equal(fs->sample.count, count + 2);
}

static void another_interval_counts_at_once(void **state)
{
	struct fs *fs = *state;

	assert_true(sensors_tick(fs) > HOUR_MS / 2);
	expect_write(fs, "hwmon/update_interval", "200\n", 0);
	assert_true(sensors_tick(fs) <= 201);
	while (jobs_take_above(fs->jobs, JOB_FEED))
		; /* 200 ms may be over already */
	expect_write(fs, "hwmon/update_interval", "3600000\n", 0);
	fs->sample_asked_ns -= 2000000000;
	assert_true(sensors_tick(fs) > HOUR_MS / 2);
	assert_null(jobs_take_above(fs->jobs, JOB_FEED));
}

static void every_sample_wakes_who_polls(void **state)
{
	struct fs *fs = *state;
	struct node *n = node(fs, "hwmon/temp1_input");

	fs_lock(fs);
	struct handle *h = handle_new(fs, n, 0);
	h->has_read = true;
	h->seen = n->type->ops->version(fs, n);
	assert_false(park_poll_events(fs, h) & POLLPRI);
	fs_unlock(fs);
	sensors_sample(fs);
	fs_lock(fs);
	assert_true(park_poll_events(fs, h) & POLLPRI);
	handle_put(fs, h);
	fs_unlock(fs);
}

static void status_tells_what_heat_does_to_the_work(void **state)
{
	static const struct {
		enum rx_heat heat;
		const char *says;
	} rows[] = {
	        {RX_COOL, "heat cool\nwork allowed\nfan automatic\nclocks managed\n"},
	        {RX_WARM, "heat warm\nwork allowed\nfan full speed\n"},
	        {RX_HOT, "heat hot\nwork paused by heat\nfan full speed\n"},
	        {RX_OVERHEATED, "heat overheated\nwork stopped by heat\nfan full speed\n"},
	};
	struct fs *fs = *state;
	char text[2048];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_sensors(fs->rx)->heat = rows[i].heat;
		sensors_sample(fs);
		assert_int_equal(read_node(fs, "status", text, sizeof(text)), 0);
		if (!strstr(text, rows[i].says))
			fail_msg("expected \"%s\", got \"%s\"", rows[i].says, text);
	}
	fake_sensors(fs->rx)->dpm = false;
	fake_sensors(fs->rx)->fan_stuck = true;
	sensors_sample(fs);
	assert_int_equal(read_node(fs, "status", text, sizeof(text)), 0);
	assert_non_null(strstr(text, "fan stuck\nclocks 300/300 MHz, no power management\n"));
}

static void overheated_card_is_not_opened_again_before_it_is_cool(void **state)
{
	struct fs *fs = *state;

	fake_sensors(fs->rx)->heat = RX_OVERHEATED;
	sensors_sample(fs);
	assert_int_equal(fs_reset_card(fs), -EPERM);
	fake_sensors(fs->rx)->heat = RX_COOL;
	sensors_sample(fs);
	assert_int_equal(fs_reset_card(fs), 0);
	expect_text(fs, "hwmon/temp1_input", "41000\n");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	        T(hwmon_has_the_units_the_kernel_has),
	        T(reading_uses_the_last_sample_and_no_link),
	        T(what_a_board_does_not_tell_is_nodata),
	        cmocka_unit_test_setup_teardown(
	                without_smu_there_is_no_sample, setup_no_smu, teardown),
	        T(old_temperature_is_not_taken_for_a_new_one),
	        T(fan_is_the_users_only_after_he_asked_for_it),
	        T(fan_of_a_warm_card_is_nobodys),
	        T(numbers_are_whole_decimal_and_alone),
	        T(sample_goes_ahead_of_everything_else),
	        T(another_interval_counts_at_once),
	        T(every_sample_wakes_who_polls),
	        T(status_tells_what_heat_does_to_the_work),
	        T(overheated_card_is_not_opened_again_before_it_is_cool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
