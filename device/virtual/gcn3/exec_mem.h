/* exec_mem.h - per-lane accesses to VRAM and LDS, shared by the memory executors. Private to gcn3/.
 * Lane l of @mask accesses the byte @base + @rel[l]. @rel may be a row of VGPRs that the access
 * itself overwrites. Register numbers are VGPR numbers (not operand codes), checked by the caller
 * with gcn3_vgprs_ok().
 */
#ifndef GCN3_EXEC_MEM_H
#define GCN3_EXEC_MEM_H

#include "device/virtual/gcn3/wave.h"
#include "device/virtual/mem/vmem_inline.h"

/* Functions that loop over lanes are built once per instruction set of the host, chosen at load
 * time. Not under the sanitizers: their run time is not up yet when the choice is made. */
#if defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(VMEM_TSAN) &&                         \
        !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
#define GCN3_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define GCN3_WIDE
#endif

/* For what such a function is made of: a copy that is not inlined would be the baseline's. */
#define GCN3_INLINE inline __attribute__((always_inline))

/* X(name), as in opcodes and in enum vmem_atomic */
#define GCN3_ATOMICS(X)                                                                            \
	X(SWAP)                                                                                    \
	X(CMPSWAP) X(ADD) X(SUB) X(SMIN) X(UMIN) X(SMAX) X(UMAX) X(AND) X(OR) X(XOR) X(INC) X(DEC)

/* How memory becomes registers. */
enum gcn3_width { GCN3_U8, GCN3_S8, GCN3_U16, GCN3_S16, GCN3_DWORDS };

struct gcn3_access {
	uint64_t base; /* VRAM byte offset, or LDS byte address */
	const uint32_t *rel;
	uint64_t mask;
	unsigned reg;    /* first VGPR loaded or stored */
	unsigned dwords; /* 1 .. 4; 1 for bytes and halfwords */
	enum gcn3_width width;
	bool glc; /* bypass the first-level cache */
};

static inline unsigned gcn3_access_bytes(const struct gcn3_access *a)
{
	return a->width == GCN3_DWORDS ? 4 * a->dwords : a->width <= GCN3_S8 ? 1 : 2;
}

/* gcn3_vgprs_ok - whether operand @code names @n allocated VGPRs. */
static inline bool gcn3_vgprs_ok(const struct gcn3_wave *w, uint16_t code, unsigned n)
{
	return code >= GCN3_OPERAND_VGPR && code - GCN3_OPERAND_VGPR + n <= w->nvgprs;
}

/* gcn3_lane_masks - 64 words of 0 or ~0 for @mask; @space holds them unless @mask is EXEC. */
const uint32_t *gcn3_lane_masks(struct gcn3_wave *w, uint64_t mask, uint32_t *space);

/* VRAM. Return: GCN3_OK; GCN3_BAD_ADDRESS with w->fault_address set (an MC address). */
enum gcn3_status gcn3_vram_load(struct gcn3_wave *w, const struct gcn3_access *a);
enum gcn3_status gcn3_vram_store(struct gcn3_wave *w, const struct gcn3_access *a);
/* @op on @bytes (4 or 8) per lane: data in a->reg (compare value behind it); the old value goes to
 * VGPR @old if @old >= 0. */
enum gcn3_status gcn3_vram_atomic(struct gcn3_wave *w, const struct gcn3_access *a,
        enum vmem_atomic op, unsigned bytes, int old);

/* LDS: out of range reads give 0 and writes are dropped; alignment to @align bytes is required. */
uint32_t gcn3_lds_limit(const struct gcn3_wave *w); /* of DS instructions: allocation and M0 */
enum gcn3_status gcn3_lds_load(
        struct gcn3_wave *w, const struct gcn3_access *a, uint32_t limit, unsigned align);
enum gcn3_status gcn3_lds_store(
        struct gcn3_wave *w, const struct gcn3_access *a, uint32_t limit, unsigned align);

#endif
