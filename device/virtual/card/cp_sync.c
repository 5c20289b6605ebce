/* cp_sync.c - waiting, cache actions, fences. resident-plans.md 3, 5, 6, 15; polaris.md 7.3-7.5. */
#include <errno.h>
#include <string.h>

#include "device/bytes.h"
#include "device/cp/pm4.h"
#include "device/virtual/card/card_priv.h"

#define POLL_MIN_US 20u
#define POLL_MAX_US 1000u
#define LATE_PACKETS                                                                               \
	32u /* a RELEASE_MEM whose work is done retires at most this many packets late */
#define QSWITCH_MODE (1u << 30) /* CP_HQD_PERSISTENT_STATE: polaris.md 6.6 */

bool card_cp_compare(uint32_t function, uint32_t value, uint32_t reference)
{
	switch (function) {
	case WAIT_ALWAYS: return true;
	case WAIT_LESS: return value < reference;
	case WAIT_LESS_EQUAL: return value <= reference;
	case WAIT_EQUAL: return value == reference;
	case WAIT_NOT_EQUAL: return value != reference;
	case WAIT_GREATER_EQUAL: return value >= reference;
	case WAIT_GREATER: return value > reference;
	default: return false;
	}
}

static struct gcn3_engine *engine(struct card_queue *q)
{
	return q->card->engine;
}

bool card_cp_settled(struct card_queue *q)
{
	return !q->releases && !q->dma_pending && gcn3_idle(engine(q), q->pipe->index);
}

int card_cp_wait_dispatches(struct card_queue *q)
{
	gcn3_wait_idle(
	        engine(q), q->pipe->index); /* dequeue, reset and free end the waves, and so this */
	return card_cp_checkpoint(q, true);
}

/* cache_actions - resident-plans.md 5: write-back needs TC or NC beside it; TC alone drops dirty
 * lines.
 * @context: for the message. */
static void cache_actions(struct card_queue *q, bool wb, bool nc, bool tc, bool l1, bool k, bool i)
{
	struct vmem *m = q->card->mem;
	uint64_t lost;

	if (wb && tc) {
		vmem_l2_flush(m);
	} else if (tc) {
		lost = vmem_l2_invalidate(m);
		if (lost)
			card_cp_bad(q, "TC_ACTION without TC_WB_ACTION dropped %llu dirty bytes",
			        (unsigned long long)lost);
	} else if (wb && nc) {
		vmem_l2_writeback(m);
	}
	if (l1)
		gcn3_invalidate_l1(engine(q));
	if (k)
		gcn3_invalidate_kcache(engine(q));
	if (i)
		gcn3_invalidate_icache(engine(q));
}

int card_cp_acquire_mem(struct card_queue *q, const uint32_t *p, uint32_t n)
{
	(void)n;
	if (p[2] != ACQUIRE_SIZE_ALL || (p[3] & 0xFF) != ACQUIRE_SIZE_HI_ALL || p[4] || p[5])
		return card_cp_bad(
		        q, "ACQUIRE_MEM of a part of memory: only the whole range is modelled");
	cache_actions(q, p[1] & TC_WB_ACTION_ENA, p[1] & TC_NC_ACTION_ENA, p[1] & TC_ACTION_ENA,
	        p[1] & TCL1_ACTION_ENA, p[1] & SH_KCACHE_ACTION_ENA, p[1] & SH_ICACHE_ACTION_ENA);
	return 0;
}

int card_cp_event_write(struct card_queue *q, const uint32_t *p, uint32_t n)
{
	uint32_t type = p[1] & EVENT_TYPE_MASK,
	         index = p[1] >> EVENT_INDEX_SHIFT & EVENT_INDEX_MASK;

	if (type != CS_PARTIAL_FLUSH || index != EVENT_INDEX_PARTIAL_FLUSH || n != 2)
		return card_cp_bad(
		        q, "EVENT_WRITE 0x%08x: only CS_PARTIAL_FLUSH is modelled", p[1]);
	if (HQD(q, CP_HQD_PERSISTENT_STATE) & QSWITCH_MODE)
		return card_cp_bad(q, "CS_PARTIAL_FLUSH with wave save/restore on");
	return card_cp_wait_dispatches(q);
}

static void release_data(struct card_queue *q, const struct card_release *e)
{
	uint32_t sel = e->control >> RELEASE_MEM_DATA_SEL_SHIFT & RELEASE_MEM_DATA_SEL_MASK;
	uint64_t value = sel == RELEASE_MEM_DATA_GPU_CLOCK ? card_clock(q->card) : e->data;
	size_t len = sel == RELEASE_MEM_DATA_32 ? 4 : 8;
	uint8_t bytes[8];

	put_le64(bytes, value);
	if (sel == RELEASE_MEM_DATA_NONE)
		return;
	if (e->control >> RELEASE_MEM_DST_SEL_SHIFT & RELEASE_MEM_DST_SEL_MASK)
		vmem_l2_write(q->card->mem, e->address, bytes, len);
	else
		vmem_dram_write(q->card->mem, e->address, bytes, len);
}

/* retire_one - INT_SEL 3 writes the data after the caches confirmed; 0 does not wait for that, so
 * that a poller may see the fence before the data (resident-plans.md 6). */
static void retire_one(struct card_queue *q, const struct card_release *e)
{
	bool confirm = (e->control >> RELEASE_MEM_INT_SEL_SHIFT & RELEASE_MEM_INT_SEL_MASK) ==
	               RELEASE_MEM_DATA_AFTER_CONFIRM;

	if (!confirm)
		release_data(q, e);
	cache_actions(q, e->event & RELEASE_MEM_TC_WB_ACTION, false,
	        e->event & RELEASE_MEM_TC_ACTION, e->event & RELEASE_MEM_TCL1_ACTION, false, false);
	if (confirm)
		release_data(q, e);
}

/* card_cp_retire - end-of-pipe events whose work is done. As late as the hardware may: when the
 * queue is blocked or dry, or LATE_PACKETS further on, so that a WRITE_DATA behind one is seen
 * before it (resident-plans.md 15.4). */
void card_cp_retire(struct card_queue *q, bool blocked)
{
	unsigned done = 0;

	if (!q->releases || !gcn3_idle(engine(q), q->pipe->index))
		return;
	if (atomic_load(&q->pipe->fault)) /* the work before the fence did not end well: it never
	                                     signals */
		return;
	while (done < q->releases &&
	        (blocked || q->packets - q->release[done].packet > LATE_PACKETS))
		retire_one(q, &q->release[done++]);
	q->releases -= done;
	memmove(q->release, q->release + done, q->releases * sizeof(q->release[0]));
}

static int check_release(struct card_queue *q, const uint32_t *p)
{
	uint32_t type = p[1] & EVENT_TYPE_MASK,
	         index = p[1] >> EVENT_INDEX_SHIFT & EVENT_INDEX_MASK;
	uint32_t int_sel = p[2] >> RELEASE_MEM_INT_SEL_SHIFT & RELEASE_MEM_INT_SEL_MASK;
	uint32_t data_sel = p[2] >> RELEASE_MEM_DATA_SEL_SHIFT & RELEASE_MEM_DATA_SEL_MASK;
	bool ts = type == CACHE_FLUSH_TS || type == CACHE_FLUSH_AND_INV_TS_EVENT ||
	          type == BOTTOM_OF_PIPE_TS;

	if (!(ts && index == EVENT_INDEX_TS) && !(type == CS_DONE && index == EVENT_INDEX_EOS))
		return card_cp_bad(q, "RELEASE_MEM event 0x%02x index %u", type, index);
	if (int_sel != 0 && int_sel != RELEASE_MEM_DATA_AFTER_CONFIRM)
		return card_cp_bad(
		        q, "RELEASE_MEM INT_SEL %u raises an interrupt nobody takes", int_sel);
	if (data_sel > RELEASE_MEM_DATA_GPU_CLOCK ||
	        (p[2] >> RELEASE_MEM_DST_SEL_SHIFT & RELEASE_MEM_DST_SEL_MASK) > 1)
		return card_cp_bad(q, "RELEASE_MEM control 0x%08x", p[2]);
	return 0;
}

int card_cp_release_mem(struct card_queue *q, const uint32_t *p, uint32_t n)
{
	uint32_t data_sel = p[2] >> RELEASE_MEM_DATA_SEL_SHIFT & RELEASE_MEM_DATA_SEL_MASK;
	uint64_t len = data_sel == RELEASE_MEM_DATA_32 ? 4 : 8, off = 0;
	int r = check_release(q, p);

	(void)n;
	if (!r && data_sel != RELEASE_MEM_DATA_NONE)
		r = card_cp_address(q, p[3], p[4], len, len, &off);
	if (!r && q->releases == q->max_releases) { /* the EOP ring is full */
		r = card_cp_wait_dispatches(q);
		card_cp_retire(q, true);
	}
	if (r)
		return r;
	q->release[q->releases++] =
	        (struct card_release){p[1], p[2], off, (uint64_t)p[6] << 32 | p[5], q->packets};
	return 0;
}

/* What a WAIT_REG_MEM looks at. */
struct wait {
	uint32_t control, reference, mask;
	uint32_t reg;
	uint64_t off;
	bool memory, uncached;
};

static int sample(struct card_queue *q, const struct wait *w, uint32_t *value)
{
	struct vmem *m = q->card->mem;
	uint8_t word[4];

	if (!w->memory)
		return card_cp_read_register(q, w->reg, value);
	/* resident-plans.md 3: without bit 10 L2 answers where it holds the line, stale or not */
	if (!w->uncached && vmem_l2_present(m, w->off))
		vmem_l2_read(m, w->off, word, 4);
	else
		vmem_dram_read(m, w->off, word, 4);
	*value = get_le32(word);
	return 0;
}

/* wait_for - poll for ever, but notice a dequeue, a halt, a fault and the end of the card. */
static int wait_for(struct card_queue *q, const struct wait *w)
{
	struct vmem *m = q->card->mem;
	unsigned poll_us = POLL_MIN_US;

	for (;;) {
		uint64_t seen = vmem_change_count(m);
		uint32_t value;
		int r = sample(q, w, &value);

		if (r || card_cp_compare(
		                 w->control & WAIT_FUNCTION_MASK, value & w->mask, w->reference))
			return r;
		r = card_cp_checkpoint(q, true);
		if (r)
			return r;
		card_cp_finish_dma(q);
		card_cp_retire(q, true);
		vmem_wait_change(m, seen, poll_us);
		poll_us = q->releases || !w->memory || !w->uncached ? MIN(poll_us * 2, POLL_MAX_US)
		                                                    : POLL_MAX_US;
	}
}

int card_cp_wait_reg_mem(struct card_queue *q, const uint32_t *p, uint32_t n)
{
	uint32_t space = p[1] >> WAIT_SPACE_SHIFT & WAIT_SPACE_MASK;
	uint32_t operation = p[1] >> WAIT_OPERATION_SHIFT & WAIT_OPERATION_MASK;
	struct wait w = {
	        p[1], p[4], p[5], p[2], 0, space == WAIT_SPACE_MEMORY, p[1] & WAIT_UNCACHED};
	int r = 0;

	(void)n;
	if (space > WAIT_SPACE_MEMORY || operation > WAIT_OP_WRITE_WAIT ||
	        p[1] >> WAIT_ENGINE_SHIFT & 3 || (p[1] & WAIT_FUNCTION_MASK) > WAIT_GREATER ||
	        (operation == WAIT_OP_WRITE_WAIT && w.memory))
		return card_cp_bad(q, "WAIT_REG_MEM control 0x%08x", p[1]);
	if (w.memory)
		r = card_cp_address(q, p[2], p[3], 4, 4, &w.off);
	if (operation ==
	        WAIT_OP_WRITE_WAIT) { /* polaris.md 7.3: write register 1, wait for register 2 */
		r = card_cp_write_register(q, p[2], p[4]);
		w.reg = p[3];
	}
	return r ? r : wait_for(q, &w);
}
