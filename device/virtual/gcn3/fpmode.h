/* fpmode.h - MODE's rounding and denormal fields as the host's MXCSR. Private to gcn3/.
 * While a wave runs, MXCSR holds the setting of its single-precision operations; operations of
 * another class change it around themselves. Source: GCN3 ISA manual, "MODE register": FP_ROUND
 * single [1:0], double and half [3:2] (0 nearest even, 1 +inf, 2 -inf, 3 zero); FP_DENORM single
 * [5:4], double and half [7:6] (bit 0 keeps input denormals, bit 1 keeps output denormals).
 */
#ifndef GCN3_FPMODE_H
#define GCN3_FPMODE_H

#include "device/virtual/gcn3/wave.h"

#define GCN3_MODE_DX10_CLAMP (1u << 8)
#define GCN3_MODE_IEEE       (1u << 9)
#define GCN3_MODE_GPR_IDX    (1u << 27)

enum gcn3_fp_class {
	GCN3_FP_NONE,    /* no host floating point, or none that depends on modes */
	GCN3_FP_SINGLE,  /* single precision under MODE */
	GCN3_FP_NEAREST, /* single-precision denormals of MODE, nearest even: rounding to integers
	                  */
	GCN3_FP_FLUSH,   /* rounding of MODE, denormals always flushed: v_mad_f32, v_mac_f32 */
	GCN3_FP_APPROX,  /* nearest even, denormals always flushed: v_rcp_f32, v_exp_f32, ... */
	GCN3_FP_EXACT,   /* nearest even, denormals kept: the operation itself rounds and flushes */
	GCN3_FP_DOUBLE,  /* double precision under MODE */
};

/* gcn3_fp_control - MXCSR value for @class under @mode; all exceptions masked, flags clear. */
uint32_t gcn3_fp_control(uint32_t mode, enum gcn3_fp_class class);

/* gcn3_fp_set - load MXCSR. */
void gcn3_fp_set(uint32_t control);

/* gcn3_fp_apply - load the setting of w->mode; called after each change of it. */
void gcn3_fp_apply(const struct gcn3_wave *w);

#endif
