/* cp_data.c - packets that move data: WRITE_DATA, COPY_DATA, DMA_DATA, COND_WRITE, ATOMIC_MEM,
 * SET_*_REG. Layouts: polaris.md 7.3. Which memory view each selector means:
 * resident-plans.md 15.2.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/cp/pm4.h"
#include "device/virtual/card/card_priv.h"

#define PRIV_STATE (1u << 30) /* CP_HQD_PQ_CONTROL: polaris.md 6.6 */

/* compute_slot - the queue's own copy of a COMPUTE_* register that packets may set; NULL for
 * others. */
static uint32_t *compute_slot(struct card_queue *q, uint32_t dw, bool write)
{
	uint32_t i = dw - COMPUTE_FIRST / 4;
	uint32_t off = dw * 4;

	if (dw < COMPUTE_FIRST / 4 || i >= COMPUTE_DWORDS)
		return NULL;
	if (off > REG_COMPUTE_MISC_RESERVED && off < REG_COMPUTE_USER_DATA_0)
		return NULL;
	if (write && (off < REG_COMPUTE_START_X || off == REG_COMPUTE_VMID)) /* the CP's own */
		return NULL;
	if (write)
		q->compute_set[i] = true;
	return &q->compute[i];
}

static int check_privilege(struct card_queue *q, uint32_t dw)
{
	bool uconfig = dw >= PACKET3_SET_UCONFIG_REG_START && dw < PACKET3_SET_UCONFIG_REG_END;

	/* resident-plans.md 6: registers outside UCONFIG need PRIV_STATE. Fixed while active, so
	 * read without lock. */
	if (uconfig || HQD(q, CP_HQD_PQ_CONTROL) & PRIV_STATE)
		return 0;
	return card_cp_bad(q, "register 0x%x needs PRIV_STATE", dw);
}

int card_cp_read_register(struct card_queue *q, uint32_t dw, uint32_t *value)
{
	uint32_t *slot = compute_slot(q, dw, false);
	int r;

	if (slot) {
		*value = *slot;
		return 0;
	}
	if (dw >= CARD_MMIO_DWORDS)
		return card_cp_bad(q, "read of register 0x%x", dw);
	r = check_privilege(q, dw);
	if (r)
		return r;
	pthread_mutex_lock(&q->card->lock);
	r = card_mmio_cp_read(q->card, dw * 4, value);
	pthread_mutex_unlock(&q->card->lock);
	return r ? card_cp_bad(q, "packets cannot read register 0x%x", dw) : 0;
}

int card_cp_write_register(struct card_queue *q, uint32_t dw, uint32_t value)
{
	uint32_t *slot = compute_slot(q, dw, true);
	int r;

	if (slot) {
		*slot = value;
		return 0;
	}
	if (dw >= CARD_MMIO_DWORDS)
		return card_cp_bad(q, "write to register 0x%x", dw);
	r = check_privilege(q, dw);
	if (r)
		return r;
	pthread_mutex_lock(&q->card->lock);
	r = card_mmio_cp_write(q->card, dw * 4, value);
	pthread_mutex_unlock(&q->card->lock);
	return r ? card_cp_bad(q, "packets cannot write register 0x%x", dw) : 0;
}

static int set_registers(
        struct card_queue *q, const uint32_t *p, uint32_t n, uint32_t start, uint32_t end)
{
	uint32_t dw = start + (p[1] & PM4_SET_REG_OFFSET_MASK);

	if (p[1] & ~PM4_SET_REG_OFFSET_MASK || dw + (n - 2) > end)
		return card_cp_bad(q, "SET_*_REG offset 0x%x, %u registers", p[1], n - 2);
	for (uint32_t i = 2; i < n; i++, dw++) {
		int r = card_cp_write_register(q, dw, p[i]);

		if (r)
			return r;
	}
	return 0;
}

int card_cp_set_sh_reg(struct card_queue *q, const uint32_t *p, uint32_t n)
{
	return set_registers(q, p, n, PACKET3_SET_SH_REG_START, PACKET3_SET_SH_REG_END);
}

int card_cp_set_uconfig_reg(struct card_queue *q, const uint32_t *p, uint32_t n)
{
	return set_registers(q, p, n, PACKET3_SET_UCONFIG_REG_START, PACKET3_SET_UCONFIG_REG_END);
}

/* store - dwords to memory past L2 (1, 5), which leaves stale lines there, or into L2 (2). */
static int store(
        struct card_queue *q, uint32_t sel, uint64_t off, const uint32_t *data, uint32_t dwords)
{
	for (uint32_t i = 0; i < dwords; i++) {
		uint8_t word[4];

		put_le32(word, data[i]);
		if (sel == DATA_SEL_TC_L2)
			vmem_l2_write(q->card->mem, off + i * 4ull, word, 4);
		else
			vmem_dram_write(q->card->mem, off + i * 4ull, word, 4);
	}
	return 0;
}

static bool is_memory(uint32_t sel)
{
	return sel == DATA_SEL_MEMORY || sel == DATA_SEL_MEMORY_ASYNC || sel == DATA_SEL_TC_L2;
}

int card_cp_write_data(struct card_queue *q, const uint32_t *p, uint32_t n)
{
	uint32_t sel = p[1] >> WRITE_DATA_DST_SHIFT & DATA_SEL_MASK, count = n - 4;
	bool one = p[1] & WRITE_DATA_ONE_ADDRESS;
	uint64_t off;
	int r = 0;

	if (sel == DATA_SEL_REGISTER) {
		for (uint32_t i = 0; i < count && !r; i++)
			r = card_cp_write_register(q, p[2] + (one ? 0 : i), p[4 + i]);
		return r;
	}
	if (!is_memory(sel) || p[1] >> 30)
		return card_cp_bad(q, "WRITE_DATA control 0x%08x", p[1]);
	r = card_cp_address(q, p[2], p[3], one ? 4 : count * 4ull, 4, &off);
	if (r)
		return r;
	return one ? store(q, sel, off, &p[n - 1], 1) : store(q, sel, off, p + 4, count);
}

/* copy_source - COPY_DATA's value, one or two dwords. */
static int copy_source(struct card_queue *q, const uint32_t *p, uint32_t dwords, uint32_t value[2])
{
	uint32_t sel = p[1] & COPY_DATA_SRC_MASK;
	uint8_t bytes[8];
	uint64_t off, v;
	int r = 0;

	switch (sel) {
	case DATA_SEL_REGISTER:
		for (uint32_t i = 0; i < dwords && !r; i++)
			r = card_cp_read_register(q, p[2] + i, &value[i]);
		return r;
	case DATA_SEL_MEMORY:
	case DATA_SEL_TC_L2:
		r = card_cp_address(q, p[2], p[3], dwords * 4, dwords * 4, &off);
		if (r)
			return r;
		if (sel == DATA_SEL_TC_L2)
			vmem_l2_read(q->card->mem, off, bytes, dwords * 4);
		else
			vmem_dram_read(q->card->mem, off, bytes, dwords * 4);
		for (uint32_t i = 0; i < dwords; i++)
			value[i] = get_le32(bytes + 4 * i);
		return 0;
	case DATA_SEL_IMMEDIATE: v = (uint64_t)p[3] << 32 | p[2]; break;
	case 6: v = q->atomic_return; break; /* polaris.md 7.3 */
	case DATA_SEL_GPU_CLOCK: v = card_clock(q->card); break;
	default: return card_cp_bad(q, "COPY_DATA source %u", sel);
	}
	value[0] = (uint32_t)v;
	value[1] = (uint32_t)(v >> 32);
	return 0;
}

int card_cp_copy_data(struct card_queue *q, const uint32_t *p, uint32_t n)
{
	uint32_t sel = p[1] >> COPY_DATA_DST_SHIFT & DATA_SEL_MASK, value[2] = {0, 0};
	uint32_t dwords = p[1] & COPY_DATA_COUNT_64 ? 2 : 1;
	uint64_t off;
	int r = copy_source(q, p, dwords, value);

	(void)n;
	if (r)
		return r;
	if (sel == DATA_SEL_REGISTER) {
		for (uint32_t i = 0; i < dwords && !r; i++)
			r = card_cp_write_register(q, p[4] + i, value[i]);
		return r;
	}
	if (!is_memory(sel) || p[1] >> 30)
		return card_cp_bad(q, "COPY_DATA control 0x%08x", p[1]);
	r = card_cp_address(q, p[4], p[5], dwords * 4, dwords * 4, &off);
	return r ? r : store(q, sel, off, value, dwords);
}

/* poll_value - the word COND_WRITE looks at. */
static int poll_value(struct card_queue *q, const uint32_t *p, uint32_t *value)
{
	uint8_t word[4];
	uint64_t off;
	int r;

	if (!(p[1] & COND_WRITE_POLL_MEMORY))
		return card_cp_read_register(q, p[2], value);
	r = card_cp_address(q, p[2], p[3], 4, 4, &off);
	if (r)
		return r;
	vmem_dram_read(q->card->mem, off, word, 4);
	*value = get_le32(word);
	return 0;
}

int card_cp_cond_write(struct card_queue *q, const uint32_t *p, uint32_t n)
{
	uint32_t space = p[1] >> COND_WRITE_DST_SHIFT & COND_WRITE_DST_MASK, value;
	uint64_t off;
	int r = poll_value(q, p, &value);

	(void)n;
	if (r)
		return r;
	if (space > 1)
		return card_cp_bad(q, "COND_WRITE destination space %u", space);
	if (space == 1) {
		r = card_cp_address(q, p[6], p[7], 4, 4, &off);
		if (r)
			return r;
	}
	if (!card_cp_compare(p[1] & WAIT_FUNCTION_MASK, value & p[5], p[4]))
		return 0;
	return space ? store(q, DATA_SEL_MEMORY, off, &p[8], 1)
	             : card_cp_write_register(q, p[6], p[8]);
}

/* TC operation codes without size and return bits: polaris.md 7.3. Return: -1 unknown. */
static int atomic_op(uint32_t code)
{
	uint32_t op = code & ~(TC_OP_ATOMIC_64 | TC_OP_ATOMIC_NO_RETURN);

	if (op == TC_OP_ATOMIC_SWAP_RTN_32)
		return VMEM_ATOMIC_SWAP;
	if (op == TC_OP_ATOMIC_CMPSWAP_RTN_32)
		return VMEM_ATOMIC_CMPSWAP;
	if (op >= TC_OP_ATOMIC_ADD_RTN_32 && op <= TC_OP_ATOMIC_DEC_RTN_32)
		return VMEM_ATOMIC_ADD + (int)(op - TC_OP_ATOMIC_ADD_RTN_32);
	return -1;
}

/* Executes in L2 (resident-plans.md 7). The loop form repeats until the old value equals the
 * compare value. */
int card_cp_atomic_mem(struct card_queue *q, const uint32_t *p, uint32_t n)
{
	uint32_t code = p[1] & ATOMIC_MEM_OP_MASK,
	         command = p[1] >> ATOMIC_MEM_COMMAND_SHIFT & ATOMIC_MEM_COMMAND_MASK;
	unsigned bytes = code & TC_OP_ATOMIC_64 ? 8 : 4;
	uint64_t data = (uint64_t)p[5] << 32 | p[4], compare = (uint64_t)p[7] << 32 | p[6], old = 0,
	         off;
	int op = atomic_op(code), r;

	(void)n;
	if (op < 0 || command > ATOMIC_MEM_LOOP ||
	        (command == ATOMIC_MEM_LOOP && op != VMEM_ATOMIC_CMPSWAP))
		return card_cp_bad(q, "ATOMIC_MEM control 0x%08x", p[1]);
	r = card_cp_address(q, p[2], p[3], bytes, bytes, &off);
	if (bytes == 4)
		compare = (uint32_t)compare;
	while (!r) {
		r = vmem_atomic(
		        q->card->mem, (enum vmem_atomic)op, bytes, off, data, compare, &old);
		if (r || command != ATOMIC_MEM_LOOP || old == compare)
			break;
		card_cp_retire(q, true);
		vmem_wait_change(q->card->mem, vmem_change_count(q->card->mem), 200);
		r = card_cp_checkpoint(q, true);
	}
	q->atomic_return = old;
	return r;
}

/* DMA_DATA: the engine beside the CP. Without CP_SYNC it finishes as late as it may: at the next
 * DMA_DATA, a blocked wait, or when the queue runs dry (resident-plans.md 5). */
static void dma_run(struct vcard *c, const uint32_t *p, uint64_t src, uint64_t dst)
{
	uint32_t bytes = p[6] & DMA_DATA_BYTES_MASK;
	uint32_t from = p[1] >> DMA_DATA_SRC_SEL_SHIFT & DMA_DATA_SEL_MASK;
	uint32_t to = p[1] >> DMA_DATA_DST_SEL_SHIFT & DMA_DATA_SEL_MASK;
	uint8_t page[VMEM_PAGE_SIZE];

	for (uint32_t done = 0, n; done < bytes; done += n) {
		n = MIN(bytes - done, (uint32_t)sizeof(page));
		if (from == DMA_DATA_SEL_DATA)
			for (uint32_t i = 0; i < n; i += 4)
				put_le32(page + i, p[2]);
		else if (from == DMA_DATA_SEL_ADDRESS_L2)
			vmem_l2_read(c->mem, src + done, page, n);
		else
			vmem_dram_read(c->mem, src + done, page, n);
		if (to == DMA_DATA_SEL_ADDRESS_L2)
			vmem_l2_write(c->mem, dst + done, page, n);
		else
			vmem_dram_write(c->mem, dst + done, page, n);
	}
}

void card_cp_finish_dma(struct card_queue *q)
{
	const uint32_t *p = q->dma;
	uint64_t src = 0, dst, bytes = p[6] & DMA_DATA_BYTES_MASK;

	if (!q->dma_pending)
		return;
	q->dma_pending = false;
	card_vram_offset(q->card, (uint64_t)p[3] << 32 | p[2], bytes, &src);
	if (card_vram_offset(q->card, (uint64_t)p[5] << 32 | p[4], bytes, &dst))
		dma_run(q->card, p, src, dst);
}

int card_cp_dma_data(struct card_queue *q, const uint32_t *p, uint32_t n)
{
	uint32_t from = p[1] >> DMA_DATA_SRC_SEL_SHIFT & DMA_DATA_SEL_MASK;
	uint32_t to = p[1] >> DMA_DATA_DST_SEL_SHIFT & DMA_DATA_SEL_MASK;
	uint32_t bytes = p[6] & DMA_DATA_BYTES_MASK;
	uint64_t off;
	int r;

	(void)n;
	if (from == DMA_DATA_SEL_GDS ||
	        (to != DMA_DATA_SEL_ADDRESS && to != DMA_DATA_SEL_ADDRESS_L2) ||
	        p[6] & (DMA_DATA_SAS | DMA_DATA_DAS | DMA_DATA_SAIC | DMA_DATA_DAIC) || !bytes)
		return card_cp_bad(q,
		        "DMA_DATA control 0x%08x, command 0x%08x: memory to memory only", p[1],
		        p[6]);
	if (from == DMA_DATA_SEL_DATA && bytes % 4)
		return card_cp_bad(q, "DMA_DATA fill of %u bytes", bytes);
	r = card_cp_address(q, p[4], p[5], bytes, from == DMA_DATA_SEL_DATA ? 4 : 1, &off);
	if (!r && from != DMA_DATA_SEL_DATA)
		r = card_cp_address(q, p[2], p[3], bytes, 1, &off);
	if (r)
		return r;
	card_cp_finish_dma(q);
	memcpy(q->dma, p, sizeof(q->dma));
	q->dma_pending = true;
	if (p[1] & DMA_DATA_CP_SYNC)
		card_cp_finish_dma(q);
	return 0;
}
