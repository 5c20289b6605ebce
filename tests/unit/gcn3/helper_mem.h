/* helper_mem.h - one wave on one small card, for tests of the memory executors. */
#ifndef HELPER_MEM_H
#define HELPER_MEM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/virtual/gcn3/wave.h"
#include "device/virtual/mem/vmem_inline.h"

#define MEM_FB         UINT64_C(0xF400000000)
#define MEM_SIZE       (UINT64_C(16) << 20)
#define MEM_VGPRS      64
#define MEM_LDS        4096
#define MEM_LDS_HI     0x20000000u
#define MEM_PRIVATE_HI 0x20000001u

struct mem_wave {
	struct vmem *m;
	struct vmem_client *other; /* another compute unit's L1 */
	struct gcn3_wave w;
	struct gcn3_group g;
	uint32_t v[MEM_VGPRS + 1][GCN3_LANES] __attribute__((aligned(64))); /* one row of guard */
	uint8_t lds[MEM_LDS + 64];
};

int mem_setup(void **state); /* *state is a struct mem_wave with EXEC full and registers of noise */
int mem_teardown(void **state);
#define MEM_TEST(f) cmocka_unit_test_setup_teardown(f, mem_setup, mem_teardown)

#define V(n) ((uint16_t)(GCN3_OPERAND_VGPR + (n)))

void mem_exec(struct mem_wave *t, uint64_t exec);
/* VRAM as L2 has it; offsets in VRAM */
void mem_put32(struct mem_wave *t, uint64_t off, uint32_t v);
uint32_t mem_get32(struct mem_wave *t, uint64_t off);
/* v[reg], v[reg + 1] of lane = address */
void mem_address(struct mem_wave *t, unsigned reg, unsigned lane, uint64_t address);

#define check_equal(what, lane, got, want)                                                         \
	do {                                                                                       \
		if ((got) != (want))                                                               \
			fail_msg("%s, lane %u: expected 0x%llx, got 0x%llx", what,                 \
			        (unsigned)(lane), (unsigned long long)(want),                      \
			        (unsigned long long)(got));                                        \
	} while (0)

#endif
