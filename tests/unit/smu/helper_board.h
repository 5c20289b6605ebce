/* helper_board.h - a VBIOS image with its decoded tables and an interpreter, for
 * builders of SMU tables. The image and the stock driver's tables are where foreign.h says. */
#ifndef HELPER_BOARD_H
#define HELPER_BOARD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/atom/atom.h"
#include "device/smu/smu.h"
#include "helper_regs.h"

struct board {
	uint8_t *image;
	size_t size;
	struct vbios_rom rom;
	struct vbios_powerplay pp;
	struct vbios_firmware_info fi;
	struct vbios_voltages voltages;
	struct vbios_gpio_lut gpio;
	struct vbios_smu_info smu_info;
	struct vbios_profiling profiling;
	struct atom *atom;
	struct smu_vbios calls;
	struct smu_atom smu_atom;
	struct smu_tables_in in; /* ready to build: no fuse set, gen 3 x16, kicker */
};

/* board_open - on a fresh fake card (helper_regs.h) whose registers the interpreter uses. NULL
 * (after a line that says so) when there is no such image. board_close closes both. */
struct board *board_open(const char *name);
void board_close(struct board *b);

/* helper_trace - path of a file of the stock driver's traces; NULL when it is not there. */
const char *helper_trace(const char *name, char *path, size_t size);

#endif
