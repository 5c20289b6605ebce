/* valu.h - what the files of the vector executor share. Private to gcn3/.
 * valu_hot.def and valu_cold.def list the operations: operand kinds, floating-point class and
 * expression. The hot ones are compiled once per x86-64 level (exec_valu_*.c), the cold ones once.
 */
#ifndef GCN3_VALU_H
#define GCN3_VALU_H

#include "device/virtual/gcn3/fpmode.h"
#include "device/virtual/gcn3/interp.h"
#include "device/virtual/gcn3/operand.h"

enum valu_flags {
	VALU_MASK = 1 << 0,   /* the result, or a second one, is a lane mask for sdst */
	VALU_EXEC = 1 << 1,   /* the mask goes to EXEC as well: v_cmpx */
	VALU_SCALAR = 1 << 2, /* source 0 may stay scalar */
	VALU_ACC = 1 << 3,    /* source 2 is the destination: v_mac */
	VALU_VCC = 1 << 4,    /* reads VCC as a lane mask besides its sources: v_div_fmas */
	VALU_WAVE = 1 << 5,   /* moves between lanes or by M0: exec_lanes.c */
};

struct valu_info {
	uint8_t dst, src[3]; /* enum gcn3_as */
	uint8_t fp;          /* enum gcn3_fp_class */
	uint8_t flags;
	bool known;
};

extern const struct valu_info gcn3_valu_info[GCN3_OP_COUNT];

/* One vector instruction being executed. Rows are 64 lanes; operands of n dwords are n rows, low
 * first. */
struct valu {
	struct gcn3_wave *w;
	const struct gcn3_insn *i;
	const uint32_t *src[3];
	uint32_t *dst;
	bool scalar;           /* source 0 is scalar_value, src[0] is not set */
	bool clamp;            /* for integer operations, which saturate by themselves */
	uint32_t mode;         /* MODE register */
	uint32_t ieee;         /* ~0 when MODE.IEEE, else 0 */
	uint64_t scalar_value; /* dwords of source 0 */
	uint64_t vcc;          /* with VALU_VCC */
	uint64_t active;       /* lanes that run: EXEC, less what DPP disables */
	uint64_t mask;         /* lane mask result; inactive lanes are cleared afterwards */
	uint32_t tmp[3][4][GCN3_LANES] __attribute__((aligned(64))); /* sources that are no VGPR */
	uint32_t out[4][GCN3_LANES] __attribute__((aligned(64))); /* result before it is merged */
};

typedef void (*valu_fn)(struct valu *u);

extern const valu_fn gcn3_valu_cold[GCN3_OP_COUNT];

/* Modifiers, applied to rows. */
void gcn3_valu_dpp(struct valu *u);
void gcn3_valu_sdwa_sources(struct valu *u, const struct valu_info *f);
void gcn3_valu_sign_modifiers(struct valu *u, const struct valu_info *f);
void gcn3_valu_output_modifiers(struct valu *u, enum gcn3_as as);
void gcn3_valu_sdwa_result(struct valu *u, const uint32_t *old);

/* gcn3_exec_wave_op - VALU_WAVE operations. */
enum gcn3_status gcn3_exec_wave_op(struct gcn3_wave *w, const struct gcn3_insn *i);

/* gcn3_valu_shortcut - the function to call for @i instead of gcn3_exec_valu(): one without operand
 * and modifier checks where the operation has it (it falls back by itself when EXEC or MODE are not
 * the usual). i->vgprs must be set. */
gcn3_executor gcn3_valu_shortcut(const struct gcn3_insn *i);

/* At each x86-64 level: shortcut for an instruction without modifiers, NULL when there is none. */
gcn3_executor gcn3_valu_shortcut_base(const struct gcn3_insn *i);
gcn3_executor gcn3_valu_shortcut_v3(const struct gcn3_insn *i);
gcn3_executor gcn3_valu_shortcut_v4(const struct gcn3_insn *i);

/* The executor at each x86-64 level, and EXEC as lanes. */
enum gcn3_status gcn3_exec_valu_base(struct gcn3_wave *w, const struct gcn3_insn *i);
enum gcn3_status gcn3_exec_valu_v3(struct gcn3_wave *w, const struct gcn3_insn *i);
enum gcn3_status gcn3_exec_valu_v4(struct gcn3_wave *w, const struct gcn3_insn *i);

#endif
