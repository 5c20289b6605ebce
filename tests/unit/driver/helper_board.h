/* helper_board.h - a virtual card that is taken for a board that exists, as copies of flashes and
 * proven abilities are for those only. The test is linked with --wrap=backend_is_hardware; its
 * folders are its own.
 */
#ifndef HELPER_BOARD_H
#define HELPER_BOARD_H

#include "device/core/abilities.h"

/* board_setup, board_teardown - of a cmocka test: from here on, up to there. */
int board_setup(void **state);
int board_teardown(void **state);
/* board_folder - what the driver remembers of boards is in it. */
const char *board_folder(void);

/* board_store - a probe of the virtual RTL921x has proven this. @card: as behind "virtual,". */
void board_store(const char *card, const struct abilities *proven);

#endif
