/* fpmode.c - MXCSR for a wave. */
#include <xmmintrin.h>

#include "device/virtual/gcn3/fpmode.h"

enum { /* Intel SDM volume 1, 10.2.3 (MXCSR) */
	MXCSR_DAZ = 1 << 6,
	MXCSR_MASKS = 0x1f80,
	MXCSR_ROUND_SHIFT = 13, /* 0 nearest, 1 down, 2 up, 3 zero */
	MXCSR_FTZ = 1 << 15,
};

static uint32_t rounding(uint32_t field)
{
	static const uint8_t host[4] = {0, 2, 1, 3};

	return (uint32_t)host[field & 3] << MXCSR_ROUND_SHIFT;
}

static uint32_t denormals(uint32_t field)
{
	return (field & 1 ? 0 : MXCSR_DAZ) | (field & 2 ? 0 : MXCSR_FTZ);
}

uint32_t gcn3_fp_control(uint32_t mode, enum gcn3_fp_class class)
{
	switch (class) {
	case GCN3_FP_NONE:
	case GCN3_FP_SINGLE: return MXCSR_MASKS | rounding(mode) | denormals(mode >> 4);
	case GCN3_FP_NEAREST: return MXCSR_MASKS | denormals(mode >> 4);
	case GCN3_FP_FLUSH: return MXCSR_MASKS | rounding(mode) | MXCSR_DAZ | MXCSR_FTZ;
	case GCN3_FP_APPROX: return MXCSR_MASKS | MXCSR_DAZ | MXCSR_FTZ;
	case GCN3_FP_EXACT: return MXCSR_MASKS;
	case GCN3_FP_DOUBLE: break;
	}
	return MXCSR_MASKS | rounding(mode >> 2) | denormals(mode >> 6);
}

/* The barrier keeps arithmetic on memory on its side of the change. */
void gcn3_fp_set(uint32_t control)
{
	__asm__ volatile("" ::: "memory");
	_mm_setcsr(control);
	__asm__ volatile("" ::: "memory");
}

void gcn3_fp_apply(const struct gcn3_wave *w)
{
	gcn3_fp_set(gcn3_fp_control(w->mode, GCN3_FP_SINGLE));
}

uint32_t gcn3_fp_enter(const struct gcn3_wave *w)
{
	uint32_t host = _mm_getcsr();

	gcn3_fp_apply(w);
	return host;
}

void gcn3_fp_leave(uint32_t host)
{
	gcn3_fp_set(host);
}
