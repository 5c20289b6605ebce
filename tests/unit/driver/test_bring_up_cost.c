/* test_bring_up_cost.c - how long a cold start takes on the modelled link, by the enclosure's own
 * count, in the three ways a bridge can write a register (bridge.md 2.10, 2.11).
 */
#include <stdio.h>

#include "device/bytes.h"
#include "device/core/rx580_priv.h"
#include "device/log.h"
#include "helper_board.h"
#include "helper_card.h"
#include "helper_pipe.h"

struct run {
	struct tap *tap;
	double seconds;
	uint64_t commands;
	bool disturb, disturbed;
	unsigned writes;
};

static void at_step(void *ctx, const struct rx_step *step)
{
	struct run *r = ctx;

	r->seconds += (double)step->model_ns / 1e9;
	r->commands += step->commands;
	print_message("  %-44s %6llu commands %8.3f s\n", step->name,
	        (unsigned long long)step->commands, (double)step->model_ns / 1e9);
}

/* disturb - a register read nobody knows of, once, when the engine is in use: the driver's account
 * of the engine's slots is wrong after it, and every engine word is written from then on. */
static void disturb(void *ctx, uint8_t cbw[31])
{
	struct run *r = ctx;
	struct usb_pipe *p = r->tap->inner;
	uint8_t data[4], csw[13];

	r->writes += cbw[15] == 0xE3 && cbw[19] == 0x23;
	if (!r->disturb || r->disturbed || r->writes < 100 || cbw[15] != 0xE2 || cbw[19] != 0xB4 ||
	        get_le32(cbw + 8) != sizeof(data))
		return;
	r->disturbed = true;
	assert_int_equal(p->ops->bulk_out(p, cbw, 31, 1000), 31);
	assert_int_equal(p->ops->bulk_in(p, data, sizeof(data), 1000), sizeof(data));
	assert_int_equal(p->ops->bulk_in(p, csw, sizeof(csw), 1000), sizeof(csw));
}

static void run_start(struct run *r, struct rx_info *info)
{
	const struct rx_options opt = {.on_step = at_step, .on_step_ctx = r};
	struct rx580 *rx;

	r->tap = tap_open("cold,threads=1,vram=512");
	r->tap->on_cbw = disturb;
	r->tap->ctx = r;
	assert_int_equal(rx_open_on(&rx, &r->tap->pipe, &opt), 0);
	rx_read_info(rx, info);
	rx_close(rx);
	print_message("  cold start: %llu commands, %.1f modelled seconds\n",
	        (unsigned long long)r->commands, r->seconds);
}

static void few_command_writes_take_less_than_45_seconds(void **state)
{
	struct run r = {0};
	struct rx_info info;

	(void)state;
	run_start(&r, &info);
	assert_true(r.seconds < 45);
	assert_true(r.seconds > 5); /* the model counts */
}

static void alias_writes_take_less_than_25_seconds(void **state)
{
	struct run r = {0};
	struct rx_info info;

	(void)state;
	board_store("cold,vram=64", &(struct abilities){.alias_write = true});
	rx_log_set_stderr(false); /* each write has its harmless stray store, which is reported */
	run_start(&r, &info);
	rx_log_set_stderr(true);
	assert_true(info.ability_alias_write);
	assert_true(r.seconds < 25);
}

static void writes_of_every_engine_word_take_less_than_110_seconds(void **state)
{
	struct run r = {.disturb = true}, usual = {0};
	struct rx_info info;

	(void)state;
	run_start(&usual, &info);
	run_start(&r, &info);
	assert_true(r.disturbed);
	assert_true(r.commands > 3 * usual.commands);
	assert_true(r.seconds < 110);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(few_command_writes_take_less_than_45_seconds),
	        cmocka_unit_test_setup_teardown(
	                alias_writes_take_less_than_25_seconds, board_setup, board_teardown),
	        cmocka_unit_test(writes_of_every_engine_word_take_less_than_110_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
