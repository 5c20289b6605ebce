/* helper_card.h - a driver on a fresh virtual card, for tests. */
#ifndef HELPER_CARD_H
#define HELPER_CARD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/rx580.h"

/* helper_open - asserts that the card came up without a guest error. */
struct rx580 *helper_open(const char *card, void (*yield)(void *ctx), void *ctx);
/* helper_close_clean - asserts that there were no guest errors in the card's whole life, then
 * closes it. */
void helper_close_clean(struct rx580 *rx);
uint64_t helper_guest_errors(struct rx580 *rx);

#endif
