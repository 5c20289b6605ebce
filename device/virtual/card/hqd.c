/* hqd.c - the queue registers of MEC1, banked by SRBM_GFX_CNTL, and the doorbells.
 * polaris.md 6.5-6.7, 12.4a. */
#include <errno.h>
#include <string.h>

#include "device/virtual/card/card_priv.h"

#define DEQUEUE_MASK    0x7u
#define DEQUEUE_DRAIN   1u
#define DEQUEUE_RESET   2u
#define MEC_ME1_HALT    (1u << 30)
#define DOORBELL_EN     (1u << 30)
#define DOORBELL_OFFSET 0x007FFFFCu /* bits 22:2, index << 2: polaris.md 6.6 */
#define MAX_QUEUE_SIZE  21u         /* 16 MiB rings; the model's own limit */
#define MIN_QUEUE_SIZE  5u
#define MAX_EOP_SIZE    0xAu /* resident-plans.md 6 */

static struct card_queue *hqd_selected(struct vcard *c)
{
	uint32_t v = c->reg[REG_SRBM_GFX_CNTL /
	                    4]; /* PIPEID[1:0], MEID[3:2], QUEUEID[10:8]: polaris.md 6.1 */

	return (v >> 2 & 3) == 1 ? &c->pipe[v & 3].queue[v >> 8 & 7] : NULL;
}

static uint32_t *mec2_register(struct vcard *c, uint32_t off)
{
	uint32_t v = c->reg[REG_SRBM_GFX_CNTL / 4];

	return (v >> 2 & 3) == 2 ? &c->mec2_hqd[v & 3][v >> 8 & 7][(off - HQD_FIRST) / 4] : NULL;
}

bool card_hqd_halted(struct vcard *c)
{
	return c->reg[REG_CP_MEC_CNTL / 4] & MEC_ME1_HALT || c->mec_blocked ||
	       c->fault[VCARD_FAULT_MEC_DEAD];
}

uint64_t card_hqd_ring_dwords(const struct card_queue *q)
{
	return 2ull << (HQD(q, CP_HQD_PQ_CONTROL) & 0x3F); /* 2^(QUEUE_SIZE + 1) */
}

uint32_t card_hqd_read(struct vcard *c, uint32_t off)
{
	struct card_queue *q = hqd_selected(c);
	uint32_t *other = mec2_register(c, off);

	if (q)
		return q->hqd[(off - HQD_FIRST) / 4];
	if (other)
		return *other;
	card_guest_error(
	        c, "read of queue register 0x%05x with SRBM_GFX_CNTL selecting no MEC", off);
	return 0;
}

static bool in_vram(struct card_queue *q, uint64_t mc, uint64_t len)
{
	uint64_t off;

	return card_vram_offset(q->card, mc, len, &off);
}

/* why_not_startable - what a queue needs before ACTIVE may become 1. Return: NULL when all is well.
 */
static const char *why_not_startable(struct card_queue *q)
{
	uint32_t size = HQD(q, CP_HQD_PQ_CONTROL) & 0x3F, eop = HQD(q, CP_HQD_EOP_CONTROL) & 0x3F;
	uint64_t ring = ((uint64_t)HQD(q, CP_HQD_PQ_BASE_HI) << 32 | HQD(q, CP_HQD_PQ_BASE)) << 8;
	uint64_t eop_base =
	        ((uint64_t)HQD(q, CP_HQD_EOP_BASE_ADDR_HI) << 32 | HQD(q, CP_HQD_EOP_BASE_ADDR))
	        << 8;
	uint64_t report = (uint64_t)(HQD(q, CP_HQD_PQ_RPTR_REPORT_ADDR_HI) & 0xFFFF) << 32 |
	                  HQD(q, CP_HQD_PQ_RPTR_REPORT_ADDR);

	if (HQD(q, CP_HQD_VMID) & 0xF)
		return "CP_HQD_VMID is not 0";
	if (size < MIN_QUEUE_SIZE || size > MAX_QUEUE_SIZE)
		return "QUEUE_SIZE out of range";
	if (!in_vram(q, ring, card_hqd_ring_dwords(q) * 4))
		return "the ring is not in VRAM";
	if (HQD(q, CP_HQD_PQ_RPTR) >= card_hqd_ring_dwords(q) ||
	        HQD(q, CP_HQD_PQ_WPTR) >= card_hqd_ring_dwords(q))
		return "a pointer lies outside the ring";
	if (eop > MAX_EOP_SIZE)
		return "EOP_SIZE above 0xA";
	if (!in_vram(q, eop_base, 8ull << eop))
		return "the EOP buffer is not in VRAM";
	if (report % 4 || !in_vram(q, report, 4))
		return "the RPTR report address is not a dword of VRAM";
	if (HQD(q, CP_HQD_PQ_DOORBELL_CONTROL) & DOORBELL_EN &&
	        !(q->card->reg[REG_BIF_DOORBELL_APER_EN / 4] & 1))
		return "a doorbell is enabled but the doorbell aperture is off";
	return NULL;
}

static void activate(struct card_queue *q)
{
	const char *why = why_not_startable(q);

	HQD(q, CP_HQD_ACTIVE) = 1;
	HQD(q, CP_HQD_ERROR) = 0;
	q->stopped = why != NULL;
	q->fresh = true;
	if (why) {
		HQD(q, CP_HQD_ERROR) = CP_ERROR_PACKET;
		card_guest_error(
		        q->card, "queue %u.%u activated, but %s", q->pipe->index, q->index, why);
	}
	if (card_cp_start_pipe(q->pipe))
		q->stopped = true;
	card_cp_poke(q->pipe);
}

static void write_active(struct card_queue *q, uint32_t value)
{
	if (!(value & 1) && !hqd_active(q))
		return;
	if (hqd_active(q))
		card_guest_error(q->card,
		        "CP_HQD_ACTIVE = %u on active queue %u.%u: dequeue it first", value,
		        q->pipe->index, q->index);
	else
		activate(q);
}

static void write_dequeue(struct card_queue *q, uint32_t value)
{
	uint32_t request = value & DEQUEUE_MASK;

	if (!hqd_active(q)) { /* nothing to do: the field clears at once */
		HQD(q, CP_HQD_DEQUEUE_REQUEST) = 0;
		return;
	}
	if (request > DEQUEUE_RESET) {
		card_guest_error(
		        q->card, "CP_HQD_DEQUEUE_REQUEST = %u: gfx8 knows 1 and 2", request);
		return;
	}
	HQD(q, CP_HQD_DEQUEUE_REQUEST) = request;
	if (request == DEQUEUE_RESET && q->pipe->running == q)
		gcn3_kill(q->card->engine, q->pipe->index);
	card_cp_poke(q->pipe);
}

/* grant - a new write pointer for an active queue, by register or doorbell. */
static void grant(struct card_queue *q, uint32_t value)
{
	uint64_t mask = card_hqd_ring_dwords(q) - 1;
	uint32_t rptr = HQD(q, CP_HQD_PQ_RPTR), old = HQD(q, CP_HQD_PQ_WPTR);

	if (value > mask) {
		card_guest_error(q->card, "write pointer 0x%x beyond the ring of queue %u.%u",
		        value, q->pipe->index, q->index);
		return;
	}
	if (((value - rptr) & mask) < ((old - rptr) & mask)) /* resident-plans.md 15.7 */
		card_guest_error(q->card, "write pointer of queue %u.%u passes the read pointer",
		        q->pipe->index, q->index);
	HQD(q, CP_HQD_PQ_WPTR) = value;
	card_cp_poke(q->pipe);
}

void card_hqd_write(struct vcard *c, uint32_t off, uint32_t value)
{
	struct card_queue *q = hqd_selected(c);
	uint32_t *other = mec2_register(c, off);

	if (!q && off == REG_CP_HQD_ACTIVE && value & 1)
		card_guest_error(c, "activation of a queue outside MEC1");
	else if (!q && other)
		*other = value;
	else if (!q)
		card_guest_error(c,
		        "write to queue register 0x%05x with SRBM_GFX_CNTL selecting no MEC", off);
	else if (off == REG_CP_HQD_ACTIVE)
		write_active(q, value);
	else if (off == REG_CP_HQD_DEQUEUE_REQUEST)
		write_dequeue(q, value);
	else if (off == REG_CP_HQD_PQ_WPTR && hqd_active(q)) {
		if (!c->opt.ignore_mmio_wptr) /* resident-plans.md 2, G1 */
			grant(q, value);
	} else if (hqd_active(q))
		card_guest_error(c, "write to queue register 0x%05x while queue %u.%u is active",
		        off, q->pipe->index, q->index);
	else
		q->hqd[(off - HQD_FIRST) / 4] = value;
}

static struct card_queue *doorbell_owner(struct vcard *c, uint32_t off)
{
	for (unsigned p = 0; p < CARD_PIPES; p++)
		for (unsigned i = 0; i < CARD_QUEUES; i++) {
			struct card_queue *q = &c->pipe[p].queue[i];
			uint32_t control = HQD(q, CP_HQD_PQ_DOORBELL_CONTROL);

			if (hqd_active(q) && control & DOORBELL_EN &&
			        (control & DOORBELL_OFFSET) == off)
				return q;
		}
	return NULL;
}

/* polaris.md 6.5, 1.7: doorbell n is the dword at 4n; the range registers hold n << 2 */
void card_hqd_doorbell(struct vcard *c, uint64_t off, uint32_t value)
{
	bool on = c->reg[REG_BIF_DOORBELL_APER_EN / 4] & 1 && c->reg[REG_CP_PQ_STATUS / 4] & 2;
	bool inside = off >= c->reg[REG_CP_MEC_DOORBELL_RANGE_LOWER / 4] &&
	              off <= c->reg[REG_CP_MEC_DOORBELL_RANGE_UPPER / 4];
	struct card_queue *q = on && inside ? doorbell_owner(c, (uint32_t)off) : NULL;

	if (q)
		grant(q, value);
	else
		card_guest_error(c, "doorbell 0x%llx rung, but %s", (unsigned long long)off / 4,
		        !on       ? "doorbells are off"
		        : !inside ? "it lies outside the MEC range"
		                  : "no active queue owns it");
}

void card_hqd_reset(struct vcard *c)
{
	for (unsigned p = 0; p < CARD_PIPES; p++)
		for (unsigned i = 0; i < CARD_QUEUES; i++) {
			struct card_queue *q = &c->pipe[p].queue[i];

			memset(q->hqd, 0, sizeof(q->hqd));
			q->stopped = q->fresh = false;
		}
}
