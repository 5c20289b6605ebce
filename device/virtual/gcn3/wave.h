/* wave.h - the state of one wavefront and one workgroup, shared by the executors. Private to gcn3/.
 * Vector registers are v[register][lane]; vector operations run over 64 lanes at a time under EXEC.
 */
#ifndef GCN3_WAVE_H
#define GCN3_WAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "device/virtual/gcn3/decode.h"
#include "device/virtual/mem/vmem.h"

#define GCN3_LANES 64
#define GCN3_MAX_SGPRS                                                                             \
	128 /* operand codes 0..127 index this array directly: VCC at 106, M0 at 124, EXEC at 126  \
	     */

enum gcn3_status { /* result of executing one instruction or one wave */
	GCN3_OK,
	GCN3_END,         /* s_endpgm */
	GCN3_BARRIER,     /* s_barrier: the wave waits for its workgroup */
	GCN3_BAD_OPCODE,  /* undecodable or not implemented */
	GCN3_BAD_ADDRESS, /* access outside VRAM, LDS aperture rules or a misaligned atomic */
	GCN3_TRAP,        /* s_trap, or a trap-like condition */
	GCN3_KILLED,      /* asked to stop from outside */
};

struct gcn3_group;

struct gcn3_wave {
	uint64_t pc; /* VRAM byte offset of the current instruction */
	uint32_t s[GCN3_MAX_SGPRS];
	bool scc;
	uint32_t mode;   /* MODE register: round[3:0], denorm[7:4], dx10_clamp[8], ieee[9] */
	uint32_t nvgprs; /* allocated; a higher index is a guest error */
	uint32_t (*v)[GCN3_LANES];
	uint8_t wave_in_group;
	struct gcn3_group *group;
	struct vmem_client *l1, *kcache;
	uint64_t fault_address; /* for reports */
	uint64_t instructions;  /* executed so far, for limits and counters */
	/* EXEC as 64 32-bit masks (0 or ~0), valid while exec_mask_of == EXEC; kept by
	 * gcn3_exec_lanes() */
	uint64_t exec_mask_of;
	uint32_t exec_lanes[GCN3_LANES] __attribute__((aligned(64)));
};

struct gcn3_group {
	uint32_t id[3];
	uint8_t *lds;
	uint32_t lds_bytes; /* allocated; beyond it reads give 0 and writes are dropped */
	struct gcn3_wave *waves;
	unsigned nwaves;
	/* what the dispatch gave (addresses as the guest sees them: MC addresses) */
	struct vmem *mem;
	uint64_t fb_base, fb_size;    /* VRAM in the MC address space */
	uint32_t shared_aperture_hi;  /* address[63:32] of the LDS aperture, e.g. 0x20000000 */
	uint32_t private_aperture_hi; /* address[63:32] of the scratch aperture, e.g. 0x20000001 */
	uint64_t private_base;        /* SH_HIDDEN_PRIVATE_BASE_VMID << 16 */
};

static inline uint64_t gcn3_exec(const struct gcn3_wave *w)
{
	return w->s[GCN3_OPERAND_EXEC] | (uint64_t)w->s[GCN3_OPERAND_EXEC + 1] << 32;
}

static inline uint64_t gcn3_sgpr64(const struct gcn3_wave *w, unsigned code)
{
	return w->s[code] | (uint64_t)w->s[code + 1] << 32;
}

static inline void gcn3_set_sgpr64(struct gcn3_wave *w, unsigned code, uint64_t value)
{
	w->s[code] = (uint32_t)value;
	w->s[code + 1] = (uint32_t)(value >> 32);
}

/* gcn3_exec_lanes - EXEC as per-lane masks; recomputed only when EXEC changed. */
const uint32_t *gcn3_exec_lanes(struct gcn3_wave *w);

/* gcn3_fp_enter, gcn3_fp_leave - around running a wave: give the calling thread's MXCSR to the wave
 * (rounding and denormals of w->mode, which s_setreg then keeps up to date), and back. @host: what
 * enter returned. */
uint32_t gcn3_fp_enter(const struct gcn3_wave *w);
void gcn3_fp_leave(uint32_t host);

/* gcn3_valu_registers - VGPRs @i can touch: highest index + 1, at least 1; above 256 when an
 * operand is impossible. Whoever keeps decoded instructions stores it in insn->vgprs, which saves
 * gcn3_exec_valu() asking every time. */
uint16_t gcn3_valu_registers(const struct gcn3_insn *i);

/* The executors, one per unit; the caller has checked insn->op belongs to it, and advances pc by
 * insn->size before the call (so that branches set pc). An executor never touches a register beyond
 * nvgprs: it returns GCN3_BAD_OPCODE. */
enum gcn3_status gcn3_exec_salu(
        struct gcn3_wave *w, const struct gcn3_insn *i); /* SOP1 SOP2 SOPK SOPC SOPP */
enum gcn3_status gcn3_exec_valu(
        struct gcn3_wave *w, const struct gcn3_insn *i); /* VOP1 VOP2 VOPC VOP3 */
enum gcn3_status gcn3_exec_smem(struct gcn3_wave *w, const struct gcn3_insn *i);
enum gcn3_status gcn3_exec_flat(struct gcn3_wave *w, const struct gcn3_insn *i);
enum gcn3_status gcn3_exec_mubuf(
        struct gcn3_wave *w, const struct gcn3_insn *i); /* MUBUF and MTBUF */
enum gcn3_status gcn3_exec_ds(
        struct gcn3_wave *w, const struct gcn3_insn *i); /* incl. permute, swizzle */

#endif
