/* cp.c - MEC1: one thread a pipe. A pipe runs one of its queues at a time; a queue that waits holds
 * the pipe, the other pipes go on (resident-plans.md 15.6).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/virtual/card/card_priv.h"

#define IDLE_POLL_MIN_US 20u
#define IDLE_POLL_MAX_US 1000u

static uint32_t dequeue_request(const struct card_queue *q)
{
	return hqd_active(q) ? HQD(q, CP_HQD_DEQUEUE_REQUEST) & 7 : 0;
}

static void wait_us(pthread_cond_t *cond, pthread_mutex_t *lock, unsigned us)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += us * 1000l;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	pthread_cond_timedwait(cond, lock, &t);
}

void card_cp_poke(struct card_pipe *p)
{
	atomic_store(&p->attention, true);
	pthread_cond_broadcast(&p->wake);
}

int card_cp_checkpoint(struct card_queue *q, bool in_wait)
{
	struct card_pipe *p = q->pipe;
	struct vcard *c = q->card;
	int r = 0;

	if (!atomic_load(&p->attention))
		return 0;
	pthread_mutex_lock(&c->lock);
	for (;;) {
		bool deaf = in_wait && c->opt.dequeue_needs_boundary; /* resident-plans.md 10 */

		atomic_store(&p->attention, dequeue_request(q) != 0);
		if (c->stopping || p->abort || (dequeue_request(q) && !deaf))
			r = -ECANCELED;
		else if (atomic_load(&p->fault))
			r = -EIO;
		else if (card_hqd_halted(c)) {
			pthread_cond_wait(&p->wake, &c->lock);
			continue;
		}
		break;
	}
	pthread_mutex_unlock(&c->lock);
	return r;
}

/* latch - what the CP takes from the registers when a queue becomes active. Lock held. */
static int latch(struct card_queue *q)
{
	uint64_t base = ((uint64_t)HQD(q, CP_HQD_PQ_BASE_HI) << 32 | HQD(q, CP_HQD_PQ_BASE)) << 8;
	uint64_t off = 0, size = card_hqd_ring_dwords(q);
	bool uncached =
	        (HQD(q, CP_HQD_PQ_CONTROL) >> 15 & 3) == 3; /* MTYPE[16:15]: polaris.md 6.6 */

	if (!q->scratch)
		q->scratch = malloc(0x4001 * sizeof(*q->scratch)); /* the longest packet */
	if (!q->scratch || !card_vram_offset(q->card, base, size * 4, &off) ||
	        card_cp_stream_open(&q->ring, off, size, true, uncached))
		return -ENOMEM;
	q->ring.pos = q->ring.fetched = q->ring.limit = HQD(q, CP_HQD_PQ_RPTR);
	q->in_ib = q->dma_pending = q->fresh = false;
	q->releases = 0;
	q->max_releases = MAX(1u, (2u << (HQD(q, CP_HQD_EOP_CONTROL) & 0x3F)) / 8);
	q->reported_rptr = HQD(q, CP_HQD_PQ_RPTR);
	card_cp_compute_poison(q);
	return 0;
}

/* refill - how far the ring may be read now. Return: whether there is something. */
static bool refill(struct card_queue *q)
{
	struct card_stream *s = &q->ring;

	pthread_mutex_lock(&q->card->lock);
	s->limit = s->pos + ((HQD(q, CP_HQD_PQ_WPTR) - s->pos) & (s->size - 1));
	pthread_mutex_unlock(&q->card->lock);
	return s->limit > s->pos;
}

static void report_rptr(struct card_queue *q, uint32_t rptr)
{
	uint64_t off, mc = (uint64_t)(HQD(q, CP_HQD_PQ_RPTR_REPORT_ADDR_HI) & 0xFFFF) << 32 |
	                   HQD(q, CP_HQD_PQ_RPTR_REPORT_ADDR);
	uint8_t word[4];

	q->reported_rptr = rptr;
	put_le32(word, rptr);
	if (card_vram_offset(q->card, mc, 4, &off))
		vmem_dram_write(q->card->mem, off, word, 4);
}

/* publish_rptr - the register at once, the report when a block is passed or the ring ran empty
 * (resident-plans.md 2: unit 2^(n+1) dwords). */
static void publish_rptr(struct card_queue *q, bool drained)
{
	uint32_t rptr = (uint32_t)(q->ring.pos & (q->ring.size - 1));
	unsigned shift;

	pthread_mutex_lock(&q->card->lock);
	shift = (HQD(q, CP_HQD_PQ_CONTROL) >> 8 & 0x3F) + 1;
	HQD(q, CP_HQD_PQ_RPTR) = rptr;
	if (rptr != q->reported_rptr && (drained || (rptr ^ q->reported_rptr) >> MIN(shift, 31u)))
		report_rptr(q, rptr);
	pthread_mutex_unlock(&q->card->lock);
}

/* rest - the ring is empty but work is outstanding: until it ended or more was granted. */
static void rest(struct card_queue *q, unsigned *poll_us)
{
	struct vcard *c = q->card;

	card_cp_finish_dma(q);
	card_cp_retire(q, true);
	if (card_cp_settled(q))
		return;
	pthread_mutex_lock(&c->lock);
	if (!atomic_load(&q->pipe->attention))
		wait_us(&q->pipe->wake, &c->lock, *poll_us);
	pthread_mutex_unlock(&c->lock);
	*poll_us = MIN(*poll_us + *poll_us / 2, IDLE_POLL_MAX_US);
}

/* run - packets of one queue until it is drained and settled. Return: 0, or why it ended. */
static int run(struct card_queue *q)
{
	unsigned poll_us = IDLE_POLL_MIN_US;
	bool from_ring;

	for (;;) {
		int r = card_cp_checkpoint(q, false);

		if (r)
			return r;
		if (q->in_ib && q->ib.pos == q->ib.size)
			q->in_ib = false;
		if (!q->in_ib && q->ring.pos == q->ring.limit && !refill(q)) {
			publish_rptr(q, true);
			if (card_cp_settled(q))
				return 0;
			rest(q, &poll_us);
			continue;
		}
		poll_us = IDLE_POLL_MIN_US;
		from_ring = !q->in_ib;
		r = card_cp_step(q);
		if (from_ring)
			publish_rptr(q, false);
		if (r)
			return r;
	}
}

/* stop - a queue that did something wrong fetches no more until it is dequeued; its waves end. */
static void stop(struct card_queue *q, int why)
{
	struct vcard *c = q->card;
	uint32_t code = why == -EIO      ? CP_ERROR_SHADER
	                : why == -EFAULT ? CP_ERROR_ADDRESS
	                                 : CP_ERROR_PACKET;

	q->stopped = true;
	HQD(q, CP_HQD_ERROR) |= code;
	if (why == -EBADMSG) /* OPCODE_ERROR: polaris.md 11.1, 11.3 */
		c->reg[REG_CP_ME1_PIPE0_INT_STATUS / 4 + q->pipe->index] |= 1u << 24;
	gcn3_kill(c->engine, q->pipe->index);
	gcn3_wait_idle(c->engine,
	        q->pipe->index); /* so that no late report meets the next queue of the pipe */
	card_log(c, "queue %u.%u stopped at ring position 0x%llx, CP_HQD_ERROR %u", q->pipe->index,
	        q->index, (unsigned long long)(q->ring.pos & (q->ring.size - 1)),
	        HQD(q, CP_HQD_ERROR));
}

/* deactivate - honour a dequeue request: drain lets waves finish, reset ends them. Lock held. */
static void deactivate(struct card_queue *q)
{
	struct vcard *c = q->card;
	unsigned pipe = q->pipe->index;

	while (!gcn3_idle(c->engine, pipe) && !c->stopping && !q->pipe->abort) {
		if (dequeue_request(q) == 2 || q->stopped)
			gcn3_kill(c->engine, pipe);
		wait_us(&q->pipe->wake, &c->lock, IDLE_POLL_MAX_US);
	}
	if (c->stopping || q->pipe->abort)
		return;
	if (dequeue_request(q) == 1 && !q->stopped && !q->fresh) {
		card_cp_finish_dma(q);
		card_cp_retire(q, true);
	}
	HQD(q, CP_HQD_ACTIVE) = 0;
	HQD(q, CP_HQD_DEQUEUE_REQUEST) = 0;
	q->stopped = q->fresh = false;
	q->in_ib = false;
	q->releases = 0;
	q->dma_pending = false;
}

static bool has_work(const struct card_queue *q)
{
	return !q->stopped && (q->fresh || HQD(q, CP_HQD_PQ_RPTR) != HQD(q, CP_HQD_PQ_WPTR));
}

static struct card_queue *pick(struct card_pipe *p)
{
	for (unsigned i = 0; i < CARD_QUEUES; i++) {
		struct card_queue *q = &p->queue[(p->next + i) % CARD_QUEUES];

		if (dequeue_request(q) ||
		        (hqd_active(q) && has_work(q) && !card_hqd_halted(p->card))) {
			p->next = q->index + 1;
			return q;
		}
	}
	return NULL;
}

/* execute - packets until the queue has none left. Lock held, released meanwhile. */
static void execute(struct card_queue *q)
{
	struct vcard *c = q->card;
	int r = q->fresh ? latch(q) : 0;

	if (!r) {
		pthread_mutex_unlock(&c->lock);
		r = run(q);
		pthread_mutex_lock(&c->lock);
	}
	if (r && r != -ECANCELED)
		stop(q, r);
}

/* turn - one queue for as long as it has something to do. Lock held, released meanwhile. */
static void turn(struct card_queue *q)
{
	struct vcard *c = q->card;

	atomic_store(&q->pipe->fault, false);
	atomic_store(&q->pipe->running, q);
	if (!dequeue_request(q))
		execute(q);
	if (dequeue_request(q))
		deactivate(q);
	atomic_store(&q->pipe->running, NULL);
	pthread_cond_broadcast(&c->parked);
}

static void *pipe_main(void *arg)
{
	struct card_pipe *p = arg;
	struct vcard *c = p->card;

	pthread_mutex_lock(&c->lock);
	while (!c->stopping) {
		struct card_queue *q = p->abort ? NULL : pick(p);

		if (!q)
			pthread_cond_wait(&p->wake, &c->lock);
		else
			turn(q);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

int card_cp_start_pipe(struct card_pipe *p)
{
	int r;

	if (p->started)
		return 0;
	r = pthread_create(&p->thread, NULL, pipe_main, p);
	if (r) {
		card_log(p->card, "pipe %u: no thread: %s", p->index, strerror(r));
		return -r;
	}
	p->started = true;
	return 0;
}

int card_cp_init(struct vcard *c)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->parked, &attr);
	for (unsigned p = 0; p < CARD_PIPES; p++) {
		c->pipe[p].card = c;
		c->pipe[p].index = p;
		pthread_cond_init(&c->pipe[p].wake, &attr);
		for (unsigned i = 0; i < CARD_QUEUES; i++) {
			c->pipe[p].queue[i].card = c;
			c->pipe[p].queue[i].pipe = &c->pipe[p];
			c->pipe[p].queue[i].index = i;
		}
	}
	pthread_condattr_destroy(&attr);
	return 0;
}

static bool any_running(struct vcard *c)
{
	bool any = false;

	for (unsigned p = 0; p < CARD_PIPES; p++)
		any |= atomic_load(&c->pipe[p].running) != NULL;
	return any;
}

bool card_cp_busy(struct vcard *c)
{
	return any_running(c);
}

/* Waves may be started between a kill and the moment their pipe notices, so the kill is repeated.
 */
static void kill_until_parked(struct vcard *c)
{
	while (c->engine && any_running(c)) {
		for (unsigned p = 0; p < CARD_PIPES; p++) {
			card_cp_poke(&c->pipe[p]);
			gcn3_kill(c->engine, p);
		}
		wait_us(&c->parked, &c->lock, IDLE_POLL_MAX_US);
	}
	for (unsigned p = 0; c->engine && p < CARD_PIPES; p++)
		gcn3_kill(c->engine, p);
}

void card_cp_quiesce(struct vcard *c)
{
	for (unsigned p = 0; p < CARD_PIPES; p++)
		c->pipe[p].abort = true;
	kill_until_parked(c);
	for (unsigned p = 0; p < CARD_PIPES; p++) {
		gcn3_wait_idle(c->engine, p);
		c->pipe[p].abort = false;
		card_cp_poke(&c->pipe[p]);
	}
}

void card_cp_fini(struct vcard *c)
{
	pthread_mutex_lock(&c->lock);
	c->stopping = true;
	for (unsigned p = 0; p < CARD_PIPES; p++)
		card_cp_poke(&c->pipe[p]);
	kill_until_parked(c);
	pthread_mutex_unlock(&c->lock);
	for (unsigned p = 0; p < CARD_PIPES; p++) {
		struct card_pipe *pipe = &c->pipe[p];

		if (pipe->started)
			pthread_join(pipe->thread, NULL);
		for (unsigned i = 0; i < CARD_QUEUES; i++) {
			card_cp_stream_free(&pipe->queue[i].ring);
			card_cp_stream_free(&pipe->queue[i].ib);
			free(pipe->queue[i].scratch);
		}
		pthread_cond_destroy(&pipe->wake);
	}
	pthread_cond_destroy(&c->parked);
}

void card_cp_report(void *ctx, const struct gcn3_dispatch *d, const struct gcn3_report *r)
{
	struct vcard *c = ctx;
	struct card_pipe *p = &c->pipe[d->queue % CARD_PIPES];

	if (r->status == GCN3_KILLED) {
		card_log(c, "pipe %u: dispatch of kernel 0x%llx ended from outside", p->index,
		        (unsigned long long)d->pgm);
		return;
	}
	card_guest_error(c,
	        "pipe %u: kernel 0x%llx, group (%u,%u,%u), wave %u: %s at PC 0x%llx, address "
	        "0x%llx: %s",
	        p->index, (unsigned long long)r->pgm, r->group[0], r->group[1], r->group[2],
	        r->wave,
	        r->status == GCN3_BAD_OPCODE    ? "bad instruction"
	        : r->status == GCN3_BAD_ADDRESS ? "bad address"
	                                        : "trap",
	        (unsigned long long)r->pc, (unsigned long long)r->address, r->insn);
	atomic_store(&p->fault, true);
	atomic_store(&p->attention, true);
}
