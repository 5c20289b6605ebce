/* test_bring_up_killed.c - a start that ends at any of its commands, because its process is killed
 * or the cable is pulled: ENODEV for who is still there, and the next start of the card, which has
 * had power all the time, succeeds.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "device/bytes.h"
#include "device/core/rx580_priv.h"
#include "helper_card.h"
#include "helper_lasting.h"

static const char words[] = "what was there before";

static void check_works(struct rx580 *rx)
{
	struct rx_sensors sensors;
	struct rx_buffer *b;
	char got[sizeof(words)] = "";

	assert_int_equal(rx_buffer_create(rx, "new", &b), 0);
	assert_int_equal(rx_buffer_resize(rx, b, 3u << 20), 0); /* above the window */
	assert_int_equal(rx_vram_write(rx, rx_buffer_offset(b), words, sizeof(words)), 0);
	assert_int_equal(rx_vram_read(rx, rx_buffer_offset(b), got, sizeof(got)), 0);
	assert_string_equal(got, words);
	assert_int_equal(rx_sample(rx), 0);
	assert_true(rx_read_sensors(rx, &sensors));
	assert_true(sensors.dpm);
	assert_int_equal(helper_guest_errors(rx), 0);
}

/* measure - a start on which nothing happens, to know its steps. */
static void measure(struct lasting *l, enum rx_attach want)
{
	rx_close(lasting_take(l, want));
	assert_true(l->steps >= 15);
}

/* next_place - one in each step, two more in the long ones, whose end is with the SMU running. 0:
 * no more. */
static unsigned long next_place(unsigned long at, unsigned long n)
{
	if (!at)
		return n > 1 ? n / 3 + 1 : 0;
	if (n < 1000 || at >= n - 40)
		return 0;
	return at < n / 2 ? n / 3 + n / 2 : n - 20;
}

static unsigned long commands_of(const struct lasting *whole, unsigned step)
{
	return whole->step_end[step] - (step ? whole->step_end[step - 1] : 0);
}

/* cut_off - a start that does not get beyond @commands of step @step. Waiting for the card takes
 * now more of them and now fewer: it may be the next step, and after the last there is none. */
static void cut_off(struct lasting *l, unsigned step, unsigned long commands, bool inside)
{
	struct rx580 *rx = NULL;

	l->end_step = step;
	l->end_after = commands;
	l->end_inside = inside;
	int err = lasting_start(l, &rx);

	if (err != (l->ended ? -ENODEV : 0))
		fail_msg("ended after command %lu of step %u: expected %d, got %d; log:\n%s",
		        commands, step + 1, -ENODEV, err, l->said);
	if (!err)
		lasting_die(rx);
	l->end_after = 0;
}

static struct rx580 *start_again(struct lasting *l, unsigned step, unsigned long commands)
{
	struct rx580 *rx = NULL;
	int err = lasting_start(l, &rx);

	if (err)
		fail_msg("after a start that ended after command %lu of step %u: expected a card "
		         "that runs, got %d; log:\n%s",
		        commands, step + 1, err, l->said);
	return rx;
}

static void cold_start_that_is_cut_off_is_survived(void **state)
{
	unsigned found[RX_ATTACH_RESET + 1] = {0};
	struct lasting whole;

	(void)state;
	lasting_new(&whole, "cold");
	measure(&whole, RX_ATTACH_COLD);
	lasting_free(&whole);
	for (unsigned i = 0; i < whole.steps; i++) {
		unsigned long n = commands_of(&whole, i);

		for (unsigned long at = 0; (at = next_place(at, n)) != 0;) {
			struct rx_info info;
			struct lasting l;

			lasting_new(&l, "cold");
			cut_off(&l, i, at, i % 2);
			struct rx580 *rx = start_again(&l, i, at);

			rx_read_info(rx, &info);
			print_message("  step %u, command %lu of %lu: attach %d\n", i + 1, at, n,
			        info.attach);
			found[info.attach]++;
			check_works(rx);
			rx_close(rx);
			lasting_free(&l);
		}
	}
	assert_true(found[RX_ATTACH_COLD] > 0);
	assert_true(found[RX_ATTACH_RESET] > 0);
}

/* leave - a card with something in its VRAM, whose owner is gone. */
static void leave(struct lasting *l)
{
	struct rx580 *rx = lasting_take(l, RX_ATTACH_WARM);
	const struct rx_kept k = {.kind = 'k', .name = "a.cl"};
	struct rx_buffer *b;

	assert_int_equal(rx_buffer_create(rx, "old", &b), 0);
	assert_int_equal(rx_buffer_resize(rx, b, 3u << 20), 0);
	assert_int_equal(rx_vram_write(rx, rx_buffer_offset(b), words, sizeof(words)), 0);
	assert_int_equal(rx_keep(rx, &k, words, sizeof(words)), 0);
	lasting_die(rx);
}

static void check_old(struct rx580 *rx)
{
	struct rx_buffer *b = rx_buffer_find(rx, "old");
	char got[sizeof(words)] = "";

	assert_non_null(b);
	assert_int_equal(rx_vram_read(rx, rx_buffer_offset(b), got, sizeof(got)), 0);
	assert_string_equal(got, words);
	assert_non_null(rx_kept_find(rx, 'k', "a.cl"));
}

/* One card, one owner after the other: as many as are cut off, it is still all there. */
static void taking_over_that_is_cut_off_loses_nothing(void **state)
{
	struct lasting l, whole;
	unsigned resets = 0;

	(void)state;
	lasting_new(&l, "posted");
	leave(&l);
	lasting_die(lasting_take(&l, RX_ATTACH_WARM));
	whole = l;
	assert_true(whole.steps >= 15);
	for (unsigned i = 0; i < whole.steps; i++) {
		unsigned long n = commands_of(&whole, i);

		for (unsigned long at = 0; (at = next_place(at, n)) != 0;) {
			cut_off(&l, i, at, i % 2);
			struct rx580 *rx = start_again(&l, i, at);
			struct rx_info info;

			rx_read_info(rx, &info);
			if (info.attach != RX_ATTACH_WARM) { /* it may, but has to say why */
				lasting_said(&l, "is not taken over");
				check_works(rx);
				rx_close(rx);
				leave(&l);
				resets++;
				continue;
			}
			check_old(rx);
			check_works(rx);
			rx_buffer_remove(rx, rx_buffer_find(rx, "new"));
			lasting_die(rx);
		}
	}
	if (resets > 2)
		fail_msg("expected hardly any reset, got %u", resets);
	lasting_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(cold_start_that_is_cut_off_is_survived),
	        cmocka_unit_test(taking_over_that_is_cut_off_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
