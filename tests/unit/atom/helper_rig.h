/* helper_rig.h - a tiny image with command table 0 to write, a card that is an array of registers,
 * and a log of what was done to it ("R10 W10=5 D100 ").
 */
#ifndef HELPER_RIG_H
#define HELPER_RIG_H

#include <stdbool.h>

#include "device/atom/atom.h"
#include "device/virtual/vbios/atom_asm.h"

#define RIG_REGS   0x20000u
#define RIG_PARAMS 16

struct rig {
	struct atom_asm a;      /* tables are written here between rig_begin() and rig_run() */
	uint8_t image[0x20000]; /* the assembler fills at most half of it */
	size_t image_bytes;     /* what as_image_end() gave */
	struct atom *atom;
	struct atom_limits limits;
	uint32_t reg[RIG_REGS];
	uint32_t ps[RIG_PARAMS];
	int fail_read, fail_write, fail_delay; /* -errno for the next such call */
	bool other_spaces;                     /* PLL and MC registers exist */
	uint32_t pll[256], mc[256];
	char log[4096];
};

/* rig_new - the image is begun; no table is. */
struct rig *rig_new(void);
void rig_free(struct rig *r);

/* rig_begin - rig_new() and the header of command table 0 with @ws_bytes of workspace. */
struct rig *rig_begin(unsigned ws_bytes);

/* rig_finish - end the open table, with an EOT, and the image. */
void rig_finish(struct rig *r);

/* rig_run - rig_finish() if that was not done, then run table 0 with r->ps. Return: as atom_run().
 */
int rig_run(struct rig *r);

/* rig_result - run a table that must succeed, give PS[0], release the rig. */
uint32_t rig_result(struct rig *r);

#endif
