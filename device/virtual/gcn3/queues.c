/* queues.c - which dispatch gives the next group, and to which place of scratch. Any outstanding
 * dispatch of a queue may, and its groups come in a scattered order: what a program does not order
 * by waiting is not ordered here. The choice depends on serial numbers only, never on time.
 */
#include <stdlib.h>
#include <string.h>

#include "device/virtual/gcn3/engine_priv.h"

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

void gcn3_work_order(struct gcn3_work *work)
{
	/* about 0.618 of the groups further each time, made coprime: each group comes once */
	work->next = gcn3_mix(work->serial) % work->shape.ngroups;
	work->step = work->shape.ngroups * 5 / 8 | 1;
	while (gcd(work->step, work->shape.ngroups) != 1)
		work->step++;
}

static bool take_slots(struct gcn3_engine *e, uint16_t *slots, unsigned n, unsigned limit)
{
	unsigned found = 0;

	for (unsigned i = 0; i < limit && found < n; i++)
		if (!(e->slots[i / 64] >> i % 64 & 1))
			slots[found++] = (uint16_t)i;
	if (found < n)
		return false;
	for (unsigned k = 0; k < n; k++)
		e->slots[slots[k] / 64] |= UINT64_C(1) << slots[k] % 64;
	return true;
}

static void give_slots(struct gcn3_engine *e, const uint16_t *slots, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		e->slots[slots[k] / 64] &= ~(UINT64_C(1) << slots[k] % 64);
}

static bool has_group(const struct gcn3_work *w)
{
	return !w->stop && w->issued < w->shape.ngroups;
}

/* One of the queue's dispatches that have groups left. */
static struct gcn3_work *pick_work(struct gcn3_queue *q)
{
	struct gcn3_work *candidates[GCN3_OUTSTANDING];
	unsigned n = 0;

	for (struct gcn3_work *w = q->first; w; w = w->link)
		if (has_group(w))
			candidates[n++] = w;
	return n ? candidates[gcn3_mix(++q->picks) % n] : NULL;
}

static void group_id(const struct gcn3_work *w, uint64_t number, uint32_t id[3])
{
	id[0] = (uint32_t)(number % w->shape.groups[0]) + w->d.start[0];
	number /= w->shape.groups[0];
	id[1] = (uint32_t)(number % w->shape.groups[1]) + w->d.start[1];
	id[2] = (uint32_t)(number / w->shape.groups[1]) + w->d.start[2];
}

/* Give the next group of @w to @r. Return: false when there are no scratch slots for it now. */
static bool issue_group(
        struct gcn3_engine *e, struct gcn3_work *w, struct gcn3_resident *r, uint32_t id[3])
{
	uint32_t size[3];
	unsigned nwaves;

	group_id(w, w->next, id);
	nwaves = gcn3_box_size(&w->d, id, size);
	memset(r->box->slots, 0, sizeof(r->box->slots));
	if (w->shape.scratch && w->shape.scratch_bytes &&
	        !take_slots(e, r->box->slots, nwaves, w->shape.scratch_slots))
		return false;
	w->next = (w->next + w->step) % w->shape.ngroups;
	w->issued++;
	w->running++;
	e->counters.groups++;
	e->counters.waves += nwaves;
	r->work = w;
	return true;
}

/* Highest priority first; queues of equal priority in turn. @tried: queues not to take from,
 * changed. */
static bool issue_any(struct gcn3_engine *e, struct gcn3_resident *r, bool *tried, uint32_t id[3])
{
	for (;;) {
		struct gcn3_work *best = NULL;
		unsigned from = 0;

		for (unsigned i = 0; i < GCN3_QUEUES; i++) {
			unsigned q = (e->turn + i) % GCN3_QUEUES;
			struct gcn3_work *w = tried[q] ? NULL : pick_work(&e->queues[q]);

			if (w && (!best || w->d.priority > best->d.priority)) {
				best = w;
				from = q;
			}
		}
		if (!best)
			return false;
		tried[from] = true;
		if (issue_group(e, best, r, id)) {
			e->turn = (from + 1) % GCN3_QUEUES;
			return true;
		}
	}
}

void gcn3_work_retire(struct gcn3_engine *e, struct gcn3_work *work)
{
	struct gcn3_queue *q = &e->queues[work->d.queue];
	struct gcn3_work **link = &q->first;

	while (*link != work)
		link = &(*link)->link;
	*link = work->link;
	if (!work->link)
		q->last = link;
	q->outstanding--;
	e->counters.dispatches++;
	free(work);
	pthread_cond_broadcast(&e->work_done);
}

bool gcn3_work_finished(const struct gcn3_work *w)
{
	return !w->running && !has_group(w);
}

bool gcn3_group_take(struct gcn3_engine *e, struct gcn3_resident *r, const bool full[GCN3_QUEUES],
        bool wait, uint32_t id[3])
{
	bool got = false, tried[GCN3_QUEUES];

	pthread_mutex_lock(&e->lock);
	while (!e->exiting) {
		memcpy(tried, full, sizeof(tried));
		got = issue_any(e, r, tried, id);
		if (got || !wait)
			break;
		pthread_cond_wait(&e->work_ready, &e->lock);
	}
	pthread_mutex_unlock(&e->lock);
	return got;
}

bool gcn3_group_claim(struct gcn3_engine *e, struct gcn3_work *work)
{
	bool mine;

	pthread_mutex_lock(&e->lock);
	mine = !work->reported;
	work->reported = true;
	e->queues[work->d.queue].faulted = true;
	__atomic_store_n(&work->stop, true, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&e->lock);
	return mine;
}

static void add_counts(struct gcn3_engine *e, uint64_t c[GCN3_CLASSES])
{
	for (unsigned i = 0; i < GCN3_CLASSES; i++)
		e->counters.instructions += c[i];
	e->counters.valu += c[GCN3_CLASS_VALU];
	e->counters.salu += c[GCN3_CLASS_SALU];
	e->counters.smem += c[GCN3_CLASS_SMEM];
	e->counters.vmem += c[GCN3_CLASS_VMEM];
	e->counters.lds += c[GCN3_CLASS_LDS];
	e->counters.branches += c[GCN3_CLASS_BRANCH];
	memset(c, 0, GCN3_CLASSES * sizeof(*c));
}

void gcn3_group_return(
        struct gcn3_engine *e, struct gcn3_resident *r, uint64_t counts[GCN3_CLASSES])
{
	struct gcn3_work *work = r->work;

	pthread_mutex_lock(&e->lock);
	if (work->shape.scratch && work->shape.scratch_bytes) {
		give_slots(e, r->box->slots, r->box->group.nwaves);
		pthread_cond_broadcast(&e->work_ready); /* a group may have waited for slots */
	}
	add_counts(e, counts);
	r->work = NULL;
	work->running--;
	if (gcn3_work_finished(work))
		gcn3_work_retire(e, work);
	pthread_mutex_unlock(&e->lock);
}
