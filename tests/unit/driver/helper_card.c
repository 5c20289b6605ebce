/* helper_card.c - see helper_card.h. */
#include "helper_card.h"

uint64_t helper_guest_errors(struct rx580 *rx)
{
	struct rx_info info;
	uint32_t unused;

	assert_int_equal(
	        rx_cfg_read(rx, 0, 4, &unused), 0); /* any call brings the counters up to date */
	rx_read_info(rx, &info);
	return info.guest_errors;
}

struct rx580 *helper_open(const char *card, void (*yield)(void *ctx), void *ctx)
{
	struct rx_options opt = {.card = card, .yield = yield, .yield_ctx = ctx};
	struct rx580 *rx = NULL;

	assert_int_equal(rx_open(&rx, &opt), 0);
	assert_non_null(rx);
	assert_int_equal(helper_guest_errors(rx), 0);
	return rx;
}

void helper_close_clean(struct rx580 *rx)
{
	assert_int_equal(helper_guest_errors(rx), 0);
	rx_close(rx);
}
