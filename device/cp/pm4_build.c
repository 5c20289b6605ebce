/* pm4_build.c - see pm4_build.h. One small function a packet. */
#include "device/cp/pm4_build.h"

#include <string.h>

#include "device/bytes.h"
#include "device/core/mutants.h"
#include "device/cp/pm4.h"
#include "device/regs/regs.h"

void pm4_init(struct pm4 *p, uint32_t *dw, size_t max)
{
	p->dw = dw;
	p->n = 0;
	p->max = max;
	p->overflow = false;
}

void pm4_raw(struct pm4 *p, const uint32_t *dw, size_t n)
{
	if (n > p->max - p->n) {
		p->overflow = true;
		return;
	}
	memcpy(p->dw + p->n, dw, n * 4);
	p->n += n;
}

/* open_packet - header of a packet of @ndw dwords; returns where its payload goes, NULL when it
 * does not fit. */
static uint32_t *open_packet(struct pm4 *p, uint32_t opcode, size_t ndw)
{
	if (ndw < 2 || ndw > PM4_MAX_DWORDS || ndw > p->max - p->n) {
		p->overflow = true;
		return NULL;
	}
	uint32_t *dw = p->dw + p->n;

	dw[0] = PKT3(opcode, ndw);
	p->n += ndw;
	return dw + 1;
}

static void put_address(uint32_t *dw, uint64_t addr)
{
	dw[0] = (uint32_t)addr;
	dw[1] = (uint32_t)(addr >> 32);
}

void pm4_pad(struct pm4 *p, size_t align)
{
	const uint32_t filler = PM4_FILLER;

	while (p->n % align && !p->overflow)
		pm4_raw(p, &filler, 1);
}

void pm4_nop(struct pm4 *p, size_t ndw)
{
	uint32_t *d = open_packet(p, PKT3_NOP, ndw);

	if (d)
		memset(d, 0, (ndw - 1) * 4);
}

void pm4_write_data(struct pm4 *p, uint64_t addr, const uint32_t *data, size_t ndw)
{
	uint32_t *d = open_packet(p, PKT3_WRITE_DATA, 4 + ndw);

	if (!d)
		return;
	d[0] = WRITE_DATA_WR_CONFIRM | DATA_SEL_MEMORY_ASYNC << WRITE_DATA_DST_SHIFT;
	put_address(d + 1, addr);
	memcpy(d + 3, data, ndw * 4);
}

void pm4_write_reg(struct pm4 *p, uint32_t reg, uint32_t value)
{
	uint32_t *d = open_packet(p, PKT3_WRITE_DATA, 5);

	if (!d)
		return;
	d[0] = WRITE_DATA_WR_CONFIRM | DATA_SEL_REGISTER << WRITE_DATA_DST_SHIFT;
	d[1] = RX_REG_DW(reg);
	d[2] = 0;
	d[3] = value;
}

void pm4_wait_mem(struct pm4 *p, uint64_t addr, uint32_t ref, uint32_t mask)
{
	uint32_t *d = open_packet(p, PKT3_WAIT_REG_MEM, 7);

	if (!d)
		return;
	d[0] = WAIT_MEM_EQUAL;
	put_address(d + 1, addr);
	d[3] = ref;
	d[4] = mask;
	d[5] = WAIT_POLL_INTERVAL;
}

void pm4_hdp_flush(struct pm4 *p, unsigned pipe)
{
	uint32_t *d = open_packet(p, PKT3_WAIT_REG_MEM, 7);

	if (!d)
		return;
	d[0] = WAIT_HDP_FLUSH;
	d[1] = RX_REG_DW(REG_GPU_HDP_FLUSH_REQ);
	d[2] = RX_REG_DW(REG_GPU_HDP_FLUSH_DONE);
	d[3] = 4u << pipe; /* MEC1: resident-plans.md 3 */
	d[4] = 4u << pipe;
	d[5] = WAIT_POLL_INTERVAL;
}

void pm4_copy_dword(struct pm4 *p, uint64_t dst, uint64_t src)
{
	uint32_t *d = open_packet(p, PKT3_COPY_DATA, 6);

	if (!d)
		return;
	d[0] = DATA_SEL_MEMORY | DATA_SEL_MEMORY_ASYNC << COPY_DATA_DST_SHIFT |
	       COPY_DATA_WR_CONFIRM;
	put_address(d + 1, src);
	put_address(d + 3, dst);
}

void pm4_set_sh(struct pm4 *p, uint32_t reg, const uint32_t *values, size_t n)
{
	uint32_t *d = open_packet(p, PKT3_SET_SH_REG, 2 + n);

	if (!d)
		return;
	d[0] = RX_REG_DW(reg) - PACKET3_SET_SH_REG_START;
	memcpy(d + 1, values, n * 4);
}

void pm4_set_uconfig(struct pm4 *p, uint32_t reg, uint32_t value)
{
	uint32_t *d = open_packet(p, PKT3_SET_UCONFIG_REG, 3);

	if (!d)
		return;
	d[0] = RX_REG_DW(reg) - PACKET3_SET_UCONFIG_REG_START;
	d[1] = value;
}

void pm4_dispatch(struct pm4 *p, uint32_t x, uint32_t y, uint32_t z)
{
	uint32_t *d = open_packet(p, PKT3_DISPATCH_DIRECT, 5);

	if (!d)
		return;
	d[0] = x;
	d[1] = y;
	d[2] = z;
	d[3] = DISPATCH_INITIATOR_PAL;
}

void pm4_dispatch_indirect(struct pm4 *p, uint64_t triple)
{
	uint32_t *d = open_packet(p, PKT3_DISPATCH_INDIRECT, 4);

	if (!d)
		return;
	put_address(d, triple);
	d[2] = DISPATCH_INITIATOR_PAL;
}

void pm4_acquire(struct pm4 *p, uint32_t coher)
{
	if (rx_mutant == RX_MUTANT_NO_CACHE_INVALIDATE)
		return;
	uint32_t *d = open_packet(p, PKT3_ACQUIRE_MEM, 7);

	if (!d)
		return;
	d[0] = coher;
	d[1] = ACQUIRE_SIZE_ALL;
	d[2] = ACQUIRE_SIZE_HI_ALL;
	d[3] = 0;
	d[4] = 0;
	d[5] = ACQUIRE_POLL_INTERVAL;
}

void pm4_cs_partial_flush(struct pm4 *p)
{
	uint32_t *d = open_packet(p, PKT3_EVENT_WRITE, 2);

	if (d)
		d[0] = EVENT_WRITE_CS_PARTIAL_FLUSH;
}

void pm4_release(struct pm4 *p, uint64_t addr, uint32_t value)
{
	uint32_t *d = open_packet(p, PKT3_RELEASE_MEM, 7);

	if (!d)
		return;
	d[0] = RELEASE_MEM_CACHE_FLUSH;
	d[1] = RELEASE_MEM_WRITE_32;
	put_address(d + 2, addr);
	d[4] = value;
	d[5] = 0;
}

void pm4_call(struct pm4 *p, uint64_t addr, uint32_t ndw)
{
	uint32_t *d = open_packet(p, PKT3_INDIRECT_BUFFER, 4);

	if (!d)
		return;
	put_address(d, addr);
	d[2] = IB_VALID | (ndw & IB_SIZE_MASK);
}

void pm4_dma_copy(struct pm4 *p, uint64_t dst, uint64_t src, uint32_t bytes)
{
	uint32_t *d = open_packet(p, PKT3_DMA_DATA, 7);

	if (!d)
		return;
	d[0] = DMA_DATA_CP_SYNC | DMA_DATA_SEL_ADDRESS << DMA_DATA_SRC_SEL_SHIFT |
	       DMA_DATA_SEL_ADDRESS << DMA_DATA_DST_SEL_SHIFT;
	put_address(d + 1, src);
	put_address(d + 3, dst);
	d[5] = bytes & DMA_DATA_BYTES_MASK;
}

void pm4_dma_fill(struct pm4 *p, uint64_t dst, uint32_t value, uint32_t bytes)
{
	uint32_t *d = open_packet(p, PKT3_DMA_DATA, 7);

	if (!d)
		return;
	d[0] = DMA_DATA_CP_SYNC | DMA_DATA_SEL_DATA << DMA_DATA_SRC_SEL_SHIFT |
	       DMA_DATA_SEL_ADDRESS << DMA_DATA_DST_SEL_SHIFT;
	d[1] = value;
	d[2] = 0;
	put_address(d + 3, dst);
	d[5] = bytes & DMA_DATA_BYTES_MASK;
}

void pm4_compute_defaults(struct pm4 *p)
{
	static const uint32_t start[3] = {0}, stats[2] = {0}, trap[4] = {0}, trace[1] = {0};
	/* RESOURCE_LIMITS, STATIC_THREAD_MGMT_SE0/1, TMPRING_SIZE, STATIC_THREAD_MGMT_SE2/3,
	 * RESTART_X/Y/Z: resident-plans.md 13, B0 */
	static const uint32_t limits[9] = {
	        0, 0xFFFFFFFF, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0xFFFFFFFF, 0, 0, 0};

	pm4_set_sh(p, REG_COMPUTE_START_X, start, ARRAY_SIZE(start));
	pm4_set_sh(p, REG_COMPUTE_PIPELINESTAT_ENABLE, stats, ARRAY_SIZE(stats));
	pm4_set_sh(p, REG_COMPUTE_TBA_LO, trap, ARRAY_SIZE(trap));
	pm4_set_sh(p, REG_COMPUTE_RESOURCE_LIMITS, limits, ARRAY_SIZE(limits));
	pm4_set_sh(p, REG_COMPUTE_THREAD_TRACE_ENABLE, trace, ARRAY_SIZE(trace));
}
