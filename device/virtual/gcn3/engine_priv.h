/* engine_priv.h - a dispatch in flight and a workgroup in a worker's hands. Private to gcn3/. */
#ifndef GCN3_ENGINE_PRIV_H
#define GCN3_ENGINE_PRIV_H

#include <stddef.h>

#include "device/virtual/gcn3/engine.h"

#define GCN3_MAX_WAVES 16u  /* a workgroup: 1024 work-items, polaris.md 9 and AMDGPUUsage */
#define GCN3_MAX_VGPRS 256u /* a wave */
#define GCN3_LDS_MAX   65536u
#define GCN3_MAX_SLOTS 4096u /* TMPRING_SIZE.WAVES has 12 bits */

/* What the registers of a dispatch mean. */
struct gcn3_shape {
	uint64_t ngroups;
	uint32_t groups[3]; /* to run in each dimension */
	uint32_t lds_bytes, nvgprs, mode;
	unsigned user_sgprs;
	bool scratch;
	uint32_t scratch_bytes; /* a wave */
	uint32_t scratch_slots;
};

/* gcn3_shape_of - validate @d against what a gfx803 compute unit can hold. @vram: bytes. Return: 0;
 * -EINVAL, logged. */
int gcn3_shape_of(const struct gcn3_dispatch *d, uint64_t vram, struct gcn3_shape *out);

/* Storage of one workgroup; reused from group to group. */
struct gcn3_box {
	struct gcn3_group group;
	struct gcn3_wave waves[GCN3_MAX_WAVES];
	uint32_t (*vgprs)[GCN3_LANES]; /* GCN3_MAX_WAVES * GCN3_MAX_VGPRS rows at most */
	uint8_t *lds;
	uint16_t slots[GCN3_MAX_WAVES]; /* scratch slots held */
};

struct gcn3_box *gcn3_box_new(void);
void gcn3_box_free(struct gcn3_box *b);

/* gcn3_box_size - work-items of group @id along each dimension. Return: waves it takes. */
unsigned gcn3_box_size(const struct gcn3_dispatch *d, const uint32_t id[3], uint32_t size[3]);

/* gcn3_box_load - initial state of group @id: registers as polaris.md 9.3 says, everything else
 * poison from @seed. */
void gcn3_box_load(struct gcn3_box *b, const struct gcn3_dispatch *d, const struct gcn3_shape *s,
        const uint32_t id[3], uint32_t seed);

#endif
