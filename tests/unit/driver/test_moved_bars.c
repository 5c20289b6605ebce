/* test_moved_bars.c - a card that somebody has set up anew: nothing is written where its registers
 * used to be, whatever the bridge tells of failed requests. */
#include <errno.h>

#include "device/bytes.h"
#include "device/core/rx580_priv.h"
#include "device/regs/regs.h"
#include "helper_card.h"
#include "helper_pipe.h"

#define CFG_BAR0   0x10 /* PCI Local Bus 3.0, 6.1 */
#define CFG_BAR5   0x24
#define ELSEWHERE  0xD0000000u
#define SCRATCH    REG_SCRATCH_REG0
#define HEARTBEATS 300 /* accesses with a heartbeat among them: every 256 */

/* Commands that reach the card's memory or registers. */
static bool reaches_memory(const uint8_t *cdb)
{
	if (cdb[0] == 0xE2 && cdb[4] == 0xB4) /* bridge.md 2.1 */
		return true;
	return cdb[0] == 0xE3 && cdb[4] != 0x33;
}

struct watch {
	bool on;
	unsigned sent; /* of those, while on */
	unsigned late; /* so many answers to reads of memory do not come */
};

static void count(void *ctx, uint8_t cbw[31])
{
	struct watch *w = ctx;

	w->sent += w->on && reaches_memory(cbw + 15);
}

static int delay(void *ctx, const uint8_t cbw[31], uint8_t *data, int n)
{
	struct watch *w = ctx;

	(void)data;
	if (!w->late || cbw[15] != 0xE2 || cbw[19] != 0xB4 || n == 13)
		return n;
	w->late--;
	return -ETIMEDOUT;
}

static struct rx580 *open_watched(struct watch *w)
{
	const struct rx_options opt = {0};
	struct tap *t = tap_open("threads=1,vram=512");
	struct rx580 *rx;

	t->on_cbw = count;
	t->on_in = delay;
	t->ctx = w;
	assert_int_equal(rx_open_on(&rx, &t->pipe, &opt), 0);
	assert_int_equal(rx_cfg_write(rx, CFG_BAR5, 4, ELSEWHERE), 0);
	return rx;
}

static void state_is_gone(struct rx580 *rx)
{
	struct rx_info info;

	rx_read_info(rx, &info);
	assert_int_equal(info.state, RX_GONE);
}

static void moved(const char *card, unsigned bar, unsigned most)
{
	struct rx580 *rx = helper_open(card, NULL, NULL);
	uint32_t value;
	unsigned n = 0;
	int err = 0;

	assert_int_equal(rx_cfg_write(rx, bar, 4, ELSEWHERE), 0);
	while (!err && n++ < HEARTBEATS)
		err = rx_reg_read(rx, SCRATCH, &value);
	if (err != -ENODEV || n > most)
		fail_msg("%s, register 0x%02x: expected -ENODEV within %u reads, got %d after %u",
		        card, bar, most, err, n);
	state_is_gone(rx);
	rx_close(rx);
}

static void a_moved_bar_is_noticed_by_the_heartbeat(void **state)
{
	(void)state;
	moved("virtual,posted,threads=1,vram=512", CFG_BAR5, HEARTBEATS);
	moved("virtual,posted,threads=1,vram=512", CFG_BAR0, HEARTBEATS);
}

static void a_bridge_that_reports_failures_tells_at_once(void **state)
{
	(void)state;
	moved("virtual,posted,threads=1,vram=512,bridge=asm2362", CFG_BAR5, 1);
	moved("virtual,posted,threads=1,vram=512,bridge=asm2464", CFG_BAR5, 1);
}

/* ends_without_a_word - -ENODEV for all that is left, and not a command to the card's memory. */
static void ends_without_a_word(struct rx580 *rx, struct watch *w)
{
	w->on = true;
	assert_int_equal(rx_reg_write(rx, SCRATCH, 1), -ENODEV);
	assert_int_equal(rx_reset_soft(rx), -ENODEV);
	state_is_gone(rx);
	rx_close(rx);
	assert_int_equal(w->sent, 0);
}

static void nothing_is_sent_astray_afterwards(void **state)
{
	struct watch w = {0};
	struct rx580 *rx = open_watched(&w);
	uint32_t value;
	int err = 0;

	(void)state;
	for (int i = 0; i < HEARTBEATS && !err; i++)
		err = rx_reg_read(rx, SCRATCH, &value);
	assert_int_equal(err, -ENODEV);
	ends_without_a_word(rx, &w);
}

static void after_a_reset_of_the_cable_the_card_is_looked_for_first(void **state)
{
	struct watch w = {0};
	struct rx580 *rx = open_watched(&w);
	uint32_t value;

	(void)state;
	w.late = 2; /* the second one costs a port reset */
	assert_int_equal(rx_reg_read(rx, SCRATCH, &value), -ETIMEDOUT);
	assert_int_equal(rx_reg_read(rx, SCRATCH, &value), -ETIMEDOUT);
	ends_without_a_word(rx, &w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_moved_bar_is_noticed_by_the_heartbeat),
	        cmocka_unit_test(a_bridge_that_reports_failures_tells_at_once),
	        cmocka_unit_test(nothing_is_sent_astray_afterwards),
	        cmocka_unit_test(after_a_reset_of_the_cable_the_card_is_looked_for_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
