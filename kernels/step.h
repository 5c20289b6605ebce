/* step.h - the per-step context that the plan engine fills before the first kernel of a step and
 * kernels read. Used as OpenCL C (kernels) and as C11 (plan engine); 64 bytes, little endian,
 * 64-byte aligned in VRAM.
 */
#ifndef RX_STEP_H
#define RX_STEP_H

#ifdef __OPENCL_C_VERSION__
#define RX_U32 uint
#define RX_U64 ulong
#else
#include <stdint.h>
#define RX_U32 uint32_t
#define RX_U64 uint64_t
#endif

struct rx_step {
	RX_U32 sequence; /* of the input slot */
	RX_U32 go;       /* 1: the slot passed its checks and nothing failed so far in this step */
	RX_U64 scalars;  /* GPU address of float32[nscalars] of the slot */
	RX_U64 ids;      /* GPU address of uint16[nids] of the slot */
	RX_U32 nscalars, nids;
	RX_U32 step; /* steps completed before this one */
	RX_U32 reserved[7];
};

#undef RX_U32
#undef RX_U64

#endif
