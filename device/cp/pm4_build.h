/* pm4_build.h - append PM4 packets for a gfx8 compute queue (MEC) to a buffer of dwords. Pure:
 * touches no hardware. Addresses are MC addresses (gmc.h: fb_base + VRAM offset). Registers are
 * byte offsets of regs/regs.h. Layouts: polaris.md 7.3 with the corrections of resident-plans.md
 * 1-6 and 16.
 */
#ifndef CP_PM4_BUILD_H
#define CP_PM4_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The buffer belongs to the caller. A packet that does not fit is dropped whole and sets @overflow,
 * which sticks. */
struct pm4 {
	uint32_t *dw;
	size_t n, max; /* dwords used, dwords there are */
	bool overflow;
};

void pm4_init(struct pm4 *p, uint32_t *dw, size_t max);
/* pm4_raw - append dwords as they are (packets somebody else built). */
void pm4_raw(struct pm4 *p, const uint32_t *dw, size_t n);
/* pm4_pad - one-dword fillers until @n is a multiple of @align dwords. */
void pm4_pad(struct pm4 *p, size_t align);
void pm4_nop(struct pm4 *p, size_t ndw); /* one NOP packet of @ndw >= 2 dwords */

/* pm4_write_data - memory, asynchronous path with write confirm; later L2 reads need an acquire. */
void pm4_write_data(struct pm4 *p, uint64_t addr, const uint32_t *data, size_t ndw);
void pm4_write_reg(struct pm4 *p, uint32_t reg, uint32_t value);
/* pm4_wait_mem - until (dword & mask) == ref; the read bypasses L2. */
void pm4_wait_mem(struct pm4 *p, uint64_t addr, uint32_t ref, uint32_t mask);
/* pm4_hdp_flush - the card's own HDP flush (request/done pair) for a queue on @pipe of MEC1. */
void pm4_hdp_flush(struct pm4 *p, unsigned pipe);
/* pm4_copy_dword - memory to memory with confirm. */
void pm4_copy_dword(struct pm4 *p, uint64_t dst, uint64_t src);
/* pm4_set_sh - consecutive SH registers from @reg on (COMPUTE_*); pm4_set_uconfig - one UCONFIG
 * register. */
void pm4_set_sh(struct pm4 *p, uint32_t reg, const uint32_t *values, size_t n);
void pm4_set_uconfig(struct pm4 *p, uint32_t reg, uint32_t value);
void pm4_dispatch(struct pm4 *p, uint32_t x, uint32_t y, uint32_t z);
void pm4_dispatch_indirect(struct pm4 *p, uint64_t triple);
/* pm4_acquire - @coher: an ACQUIRE_* value of pm4.h, over all of memory. */
void pm4_acquire(struct pm4 *p, uint32_t coher);
void pm4_cs_partial_flush(struct pm4 *p);
/* pm4_release - after all earlier waves: write back and invalidate L1 and L2, then write @value at
 * @addr. */
void pm4_release(struct pm4 *p, uint64_t addr, uint32_t value);
/* pm4_call - INDIRECT_BUFFER, from the ring only (resident-plans.md 1). @ndw: 1..0xFFFFF. */
void pm4_call(struct pm4 *p, uint64_t addr, uint32_t ndw);
/* pm4_dma_copy, pm4_dma_fill - DMA_DATA memory to memory, or of a pattern dword; waits for
 * completion. @bytes: a multiple of 4 below 2 MiB. Bypasses L2. */
void pm4_dma_copy(struct pm4 *p, uint64_t dst, uint64_t src, uint32_t bytes);
void pm4_dma_fill(struct pm4 *p, uint64_t dst, uint32_t value, uint32_t bytes);
/* pm4_compute_defaults - the compute state no kernel sets: all CUs, no traps, no limits, no scratch
 * (polaris.md 6.7 step 12). */
void pm4_compute_defaults(struct pm4 *p);

#endif
