/* helper_fake_rx.h - rx580.h without a card: VRAM is host memory, registers an array. A card called
 * "nosmu" measures nothing. For unit
 * tests of fs/ under the sanitizers.
 */
#ifndef HELPER_FAKE_RX_H
#define HELPER_FAKE_RX_H

#include <stdint.h>

#include "device/rx580.h"

#define FAKE_VRAM       (64u << 20)
#define FAKE_WINDOW     (16u << 20)
#define FAKE_FLASH_REST 1024u /* behind the 512 bytes of VBIOS */

/* fake_set_state - what rx_read_info says from now on. */
void fake_set_state(struct rx580 *rx, enum rx_state state);
/* fake_set_model_step - modelled nanoseconds every call costs. */
void fake_set_model_step(struct rx580 *rx, uint64_t ns);
/* fake_sensors - what the next sample finds; owner thread. */
struct rx_sensors *fake_sensors(struct rx580 *rx);
/* fake_fail_samples - rx_sample returns @err from now on; 0: no more. */
void fake_fail_samples(struct rx580 *rx, int err);
/* fake_calls - calls that would have used the link. */
uint64_t fake_calls(struct rx580 *rx);

#endif
