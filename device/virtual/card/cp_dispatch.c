/* cp_dispatch.c - from COMPUTE_* registers to a dispatch of the engine. polaris.md 7.3, 9.1. */
#include <errno.h>
#include <string.h>

#include "device/bytes.h"
#include "device/cp/pm4.h"
#include "device/virtual/card/card_priv.h"

/* card_cp_compute_poison - nobody may rely on COMPUTE_* values of before the activation
 * (polaris.md 6.7 step 12). */
void card_cp_compute_poison(struct card_queue *q)
{
	memset(q->compute, 0xA5, sizeof(q->compute));
	memset(q->compute_set, 0, sizeof(q->compute_set));
}

/* Registers a dispatch depends on; START_* only without FORCE_START_AT_000. */
static const struct {
	uint32_t off;
	const char *name;
} needed[] = {
#define N(r) {REG_##r, #r}
        N(COMPUTE_NUM_THREAD_X),
        N(COMPUTE_NUM_THREAD_Y),
        N(COMPUTE_NUM_THREAD_Z),
        N(COMPUTE_PGM_LO),
        N(COMPUTE_PGM_HI),
        N(COMPUTE_PGM_RSRC1),
        N(COMPUTE_PGM_RSRC2),
        N(COMPUTE_RESOURCE_LIMITS),
        N(COMPUTE_TMPRING_SIZE),
        N(COMPUTE_STATIC_THREAD_MGMT_SE0),
        N(COMPUTE_STATIC_THREAD_MGMT_SE1),
        N(COMPUTE_STATIC_THREAD_MGMT_SE2),
        N(COMPUTE_STATIC_THREAD_MGMT_SE3),
        N(COMPUTE_START_X),
        N(COMPUTE_START_Y),
        N(COMPUTE_START_Z),
#undef N
};

static int check_state(struct card_queue *q, uint32_t initiator)
{
	size_t count = ARRAY_SIZE(needed) - (initiator & FORCE_START_AT_000 ? 3 : 0);

	if (!(initiator & COMPUTE_SHADER_EN) ||
	        initiator & (ORDERED_APPEND_ENBL | DISPATCH_DATA_ATC))
		return card_cp_bad(q, "dispatch initiator 0x%x", initiator);
	for (size_t i = 0; i < count; i++)
		if (!q->compute_set[(needed[i].off - COMPUTE_FIRST) / 4])
			return card_cp_bad(q,
			        "dispatch, but %s was not set since the queue's activation",
			        needed[i].name);
	if (!((COMPUTE(q, COMPUTE_STATIC_THREAD_MGMT_SE0) |
	              COMPUTE(q, COMPUTE_STATIC_THREAD_MGMT_SE1) |
	              COMPUTE(q, COMPUTE_STATIC_THREAD_MGMT_SE2) |
	              COMPUTE(q, COMPUTE_STATIC_THREAD_MGMT_SE3)) &
	            0x1FF)) /* nine CUs in SH0: polaris.md 6.11 */
		return card_cp_bad(q, "dispatch with every CU disabled: it would hang");
	return 0;
}

/* size_dimension - groups and the size of the last one (polaris.md 7.3, 9.1). */
static void size_dimension(struct gcn3_dispatch *d, unsigned i, uint32_t count, uint32_t num_thread,
        uint32_t initiator)
{
	uint32_t full = num_thread & COMPUTE_NUM_THREAD_FULL_MASK;
	uint32_t partial = num_thread >> COMPUTE_NUM_THREAD_PARTIAL_SHIFT;

	d->threads[i] = d->last_threads[i] = full;
	d->groups[i] = count;
	if (initiator & USE_THREAD_DIMENSIONS && full) {
		d->groups[i] = count / full + (count % full != 0);
		if (initiator & PARTIAL_TG_EN && count % full)
			d->last_threads[i] = count % full;
	} else if (initiator & PARTIAL_TG_EN && partial) {
		d->last_threads[i] = partial;
	}
}

/* describe - the dispatch as the engine wants it; SH_MEM state is that of VMID 0. */
static void describe(
        struct card_queue *q, const uint32_t count[3], uint32_t initiator, struct gcn3_dispatch *d)
{
	struct vcard *c = q->card;
	bool zero = initiator & FORCE_START_AT_000;

	*d = (struct gcn3_dispatch){.queue = q->pipe->index,
	        .pgm = ((uint64_t)(COMPUTE(q, COMPUTE_PGM_HI) & 0xFF) << 32 |
	                       COMPUTE(q, COMPUTE_PGM_LO))
	               << 8,
	        .rsrc1 = COMPUTE(q, COMPUTE_PGM_RSRC1),
	        .rsrc2 = COMPUTE(q, COMPUTE_PGM_RSRC2),
	        .tmpring_size = COMPUTE(q, COMPUTE_TMPRING_SIZE),
	        .fb_base = c->fb_base,
	        .fb_size = c->fb_size};
	memcpy(d->user_data, &COMPUTE(q, COMPUTE_USER_DATA_0), sizeof(d->user_data));
	for (unsigned i = 0; i < 3; i++) {
		size_dimension(d, i, count[i], (&COMPUTE(q, COMPUTE_NUM_THREAD_X))[i], initiator);
		d->start[i] = zero ? 0 : (&COMPUTE(q, COMPUTE_START_X))[i];
	}
	pthread_mutex_lock(&c->lock);
	d->sh_mem_bases = c->sh_mem[0][0]; /* order of the registers: SH_MEM_BASES first,
	                                      HIDDEN_PRIVATE_BASE last */
	d->hidden_private_base = c->sh_mem[0][CARD_SH_MEM_REGS - 1];
	d->priority = (int)(HQD(q, CP_HQD_PIPE_PRIORITY) & 3);
	pthread_mutex_unlock(&c->lock);
}

static int dispatch(struct card_queue *q, const uint32_t count[3], uint32_t initiator)
{
	struct gcn3_dispatch d;
	int r = check_state(q, initiator);

	if (r)
		return r;
	describe(q, count, initiator, &d);
	r = gcn3_submit(q->card->engine, &d);
	return r ? card_cp_bad(q, "dispatch refused: rsrc1 0x%08x rsrc2 0x%08x threads %ux%ux%u",
	                   d.rsrc1, d.rsrc2, d.threads[0], d.threads[1], d.threads[2])
	         : 0;
}

int card_cp_dispatch_direct(struct card_queue *q, const uint32_t *p, uint32_t n)
{
	(void)n;
	return dispatch(q, p + 1, p[4]);
}

/* The CP reads the three counts past L2 (resident-plans.md 2, prefetch and coherence). */
int card_cp_dispatch_indirect(struct card_queue *q, const uint32_t *p, uint32_t n)
{
	uint32_t count[3];
	uint8_t bytes[12];
	uint64_t off;
	int r = card_cp_address(q, p[1], p[2], sizeof(bytes), 4, &off);

	(void)n;
	if (r)
		return r;
	vmem_dram_read(q->card->mem, off, bytes, sizeof(bytes));
	for (unsigned i = 0; i < 3; i++)
		count[i] = get_le32(bytes + 4 * i);
	return dispatch(q, count, p[3]);
}
