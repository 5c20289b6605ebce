/* helper_mem.c - see helper_mem.h. */
#include "tests/unit/gcn3/helper_mem.h"

#include <stdlib.h>

int mem_setup(void **state)
{
	struct mem_wave *t = aligned_alloc(64, (sizeof(*t) + 63) / 64 * 64);
	uint32_t noise = 1;

	if (!t)
		return -1;
	memset(t, 0, sizeof(*t));
	if (vmem_new(&t->m, MEM_SIZE))
		return -1;
	t->w.l1 = vmem_client_new(t->m);
	t->w.kcache = vmem_client_new(t->m);
	t->other = vmem_client_new(t->m);
	t->w.v = t->v;
	t->w.nvgprs = MEM_VGPRS;
	t->w.group = &t->g;
	t->g.mem = t->m;
	t->g.fb_base = MEM_FB;
	t->g.fb_size = MEM_SIZE;
	t->g.lds = t->lds;
	t->g.lds_bytes = MEM_LDS;
	t->g.shared_aperture_hi = MEM_LDS_HI;
	t->g.private_aperture_hi = MEM_PRIVATE_HI;
	t->g.waves = &t->w;
	t->g.nwaves = 1;
	for (size_t i = 0; i < sizeof(t->v) / 4; i++)
		(&t->v[0][0])[i] = noise = noise * 1664525u + 1013904223u;
	memset(t->lds, 0xee, sizeof(t->lds));
	t->w.s[GCN3_OPERAND_M0] = 0xffffffff;
	mem_exec(t, ~UINT64_C(0));
	*state = t;
	return 0;
}

int mem_teardown(void **state)
{
	struct mem_wave *t = *state;

	vmem_free(t->m);
	free(t);
	return 0;
}

void mem_exec(struct mem_wave *t, uint64_t exec)
{
	gcn3_set_sgpr64(&t->w, GCN3_OPERAND_EXEC, exec);
}

void mem_put32(struct mem_wave *t, uint64_t off, uint32_t v)
{
	assert_int_equal(vmem_l2_write(t->m, off, &v, 4), 0);
}

uint32_t mem_get32(struct mem_wave *t, uint64_t off)
{
	uint32_t v;

	assert_int_equal(vmem_l2_read(t->m, off, &v, 4), 0);
	return v;
}

void mem_address(struct mem_wave *t, unsigned reg, unsigned lane, uint64_t address)
{
	t->v[reg][lane] = (uint32_t)address;
	t->v[reg + 1][lane] = (uint32_t)(address >> 32);
}
