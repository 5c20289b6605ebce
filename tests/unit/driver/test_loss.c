/* test_loss.c - the enclosure leaves while a cold card is being brought up: after each step, inside
 * of steps, and when all is done. Always ENODEV, and (under a sanitizer) nothing is left. */
#include <errno.h>
#include <stdio.h>

#include "device/core/rx580_priv.h"
#include "helper_card.h"
#include "helper_pipe.h"

#define CARD       "cold,threads=1,vram=64"
#define IN_BETWEEN 12 /* places inside of steps */

struct loss {
	struct tap *tap;
	unsigned steps, after_step; /* 0: never */
	unsigned long commands, after_command;
	int last_err; /* of the last step reported */
};

static void on_step(void *ctx, const struct rx_step *step)
{
	struct loss *l = ctx;

	l->last_err = step->err;
	if (++l->steps == l->after_step)
		l->tap->unplugged = true;
}

static void on_cbw(void *ctx, uint8_t cbw[31])
{
	struct loss *l = ctx;

	(void)cbw;
	if (++l->commands == l->after_command)
		l->tap->unplugged = true;
}

static int open_and_lose(struct loss *l, struct rx580 **rx)
{
	l->tap = tap_open(CARD);
	l->tap->on_cbw = on_cbw;
	l->tap->ctx = l;
	const struct rx_options opt = {.on_step = on_step, .on_step_ctx = l};

	return rx_open_on(rx, &l->tap->pipe, &opt);
}

static void check_gone(struct rx580 *rx)
{
	struct rx_info info;
	uint32_t value;

	assert_int_equal(rx_reg_read(rx, 0x8010, &value), -ENODEV);
	rx_read_info(rx, &info);
	assert_int_equal(info.state, RX_GONE);
	assert_int_equal(rx_vram_read(rx, 64 << 10, &value, 1), -ENODEV);
	rx_close(rx);
}

/* measure - steps and commands of a start that nothing happens to. */
static struct loss measure(void)
{
	struct loss l = {0};
	struct rx580 *rx = NULL;

	assert_int_equal(open_and_lose(&l, &rx), 0);
	struct loss whole = l;

	rx_close(rx);
	return whole;
}

static void unplugged_after_each_step_is_enodev(void **state)
{
	struct loss whole = measure();

	(void)state;
	assert_true(whole.steps >= 15);
	for (unsigned i = 1; i < whole.steps; i++) {
		struct loss l = {.after_step = i};
		struct rx580 *rx = NULL;
		int err = open_and_lose(&l, &rx);

		if (err != -ENODEV)
			fail_msg("unplugged after step %u: expected %d, got %d", i, -ENODEV, err);
		/* a step may need no card; the first that does is the last */
		assert_int_equal(l.last_err, -ENODEV);
		assert_true(l.steps > i && l.steps <= i + 2);
	}
}

static void unplugged_inside_of_steps_is_enodev(void **state)
{
	struct loss whole = measure();

	(void)state;
	for (unsigned i = 1; i <= IN_BETWEEN; i++) {
		struct loss l = {.after_command = whole.commands * i / (IN_BETWEEN + 1)};
		struct rx580 *rx = NULL;
		int err = open_and_lose(&l, &rx);

		if (err != -ENODEV)
			fail_msg("unplugged at command %lu of %lu: expected %d, got %d",
			        l.after_command, whole.commands, -ENODEV, err);
		assert_int_equal(l.last_err, -ENODEV);
	}
}

static void unplugged_card_is_gone_for_every_call(void **state)
{
	struct loss l = {0};
	struct rx580 *rx = NULL;

	(void)state;
	assert_int_equal(open_and_lose(&l, &rx), 0);
	l.tap->unplugged = true;
	check_gone(rx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(unplugged_after_each_step_is_enodev),
	        cmocka_unit_test(unplugged_inside_of_steps_is_enodev),
	        cmocka_unit_test(unplugged_card_is_gone_for_every_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
