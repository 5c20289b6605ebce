/* engine.c - queues of dispatches, and worker threads that take workgroups from them.
 *
 * Any outstanding dispatch of a queue may give the next group, and its groups come in a scattered
 * order: what a program does not order by waiting is not ordered here. The choice depends on serial
 * numbers only, never on time. A worker keeps up to MAX_RESIDENT groups and changes between them
 * when one runs long, so that a hung kernel leaves the other queues alive and groups may wait for
 * each other. A group never changes its worker (its L1 is there). Locking: engine.lock guards
 * queues, works and counters; a group in a box belongs to its worker alone.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/virtual/gcn3/engine_priv.h"
#include "device/virtual/gcn3/interp.h"

#define MAX_OUTSTANDING  32u /* dispatches a queue, engine.h */
#define MAX_A_QUEUE      4u  /* of one queue a worker holds: a hung queue never takes all places */
#define MAX_RESIDENT     (MAX_A_QUEUE * GCN3_QUEUES) /* groups a worker changes between */
#define QUANTUM          4096u /* instructions between looks at stop flags: well below a millisecond */
#define SLICE            256u /* quanta before a worker changes to another group */
#define CLIENTS_A_WORKER 3u

struct work {
	struct gcn3_dispatch d;
	struct gcn3_shape shape;
	uint64_t serial;
	uint64_t issued, running, next,
	        step;  /* groups; next and step walk over them in scattered order */
	bool stop;     /* atomic: no more groups, end the running ones */
	bool reported; /* and why it stopped is known */
	struct work *link;
};

struct queue {
	struct work *first, **last;
	unsigned outstanding;
	uint64_t picks;
	bool faulted;
};

struct resident {
	struct gcn3_box *box;
	struct work *work;      /* NULL: free */
	unsigned wave;          /* runs next */
	uint16_t waiting, done; /* waves at the barrier, waves ended: bit masks */
	bool descending;        /* order of the waves */
};

struct worker {
	struct gcn3_engine *engine;
	pthread_t thread;
	bool started;
	unsigned number;
	struct vmem_client *l1, *kcache, *icache;
	struct gcn3_interp interp;
	struct resident residents[MAX_RESIDENT];
	unsigned current;
};

struct gcn3_engine {
	struct vmem *mem;
	void (*report)(void *ctx, const struct gcn3_dispatch *d, const struct gcn3_report *r);
	void *ctx;
	pthread_mutex_t lock;
	pthread_cond_t work_ready, work_done;
	bool exiting;
	struct queue queues[GCN3_QUEUES];
	unsigned turn; /* queue that is served first among equals */
	uint64_t serial;
	uint64_t slots[GCN3_MAX_SLOTS / 64]; /* scratch slots taken */
	struct gcn3_counters counters;
	struct worker *workers;
	unsigned nworkers;
};

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * UINT64_C(0x7fb5d329728ea185);
	x = (x ^ x >> 27) * UINT64_C(0x81dadef4bc2dd44d);
	return x ^ x >> 33;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* --- scratch slots --- */

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

/* --- choosing work; the lock is held --- */

static bool has_group(const struct work *w)
{
	return !w->stop && w->issued < w->shape.ngroups;
}

/* One of the queue's dispatches that have groups left. */
static struct work *pick_work(struct queue *q)
{
	struct work *candidates[MAX_OUTSTANDING];
	unsigned n = 0;

	for (struct work *w = q->first; w; w = w->link)
		if (has_group(w))
			candidates[n++] = w;
	return n ? candidates[mix(++q->picks) % n] : NULL;
}

static void group_id(const struct work *w, uint64_t number, uint32_t id[3])
{
	id[0] = (uint32_t)(number % w->shape.groups[0]) + w->d.start[0];
	number /= w->shape.groups[0];
	id[1] = (uint32_t)(number % w->shape.groups[1]) + w->d.start[1];
	id[2] = (uint32_t)(number / w->shape.groups[1]) + w->d.start[2];
}

/* Give the next group of @w to @r. Return: false when there are no scratch slots for it now. */
static bool issue_group(struct gcn3_engine *e, struct work *w, struct resident *r, uint32_t id[3])
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
static bool issue_any(struct gcn3_engine *e, struct resident *r, bool *tried, uint32_t id[3])
{
	for (;;) {
		struct work *best = NULL;
		unsigned from = 0;

		for (unsigned i = 0; i < GCN3_QUEUES; i++) {
			unsigned q = (e->turn + i) % GCN3_QUEUES;
			struct work *w = tried[q] ? NULL : pick_work(&e->queues[q]);

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

/* Take a finished dispatch out of its queue. */
static void retire(struct gcn3_engine *e, struct work *work)
{
	struct queue *q = &e->queues[work->d.queue];
	struct work **link = &q->first;

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

static bool finished(const struct work *w)
{
	return !w->running && !has_group(w);
}

/* --- running groups; no lock --- */

static void start_group(struct worker *k, struct resident *r, const uint32_t id[3])
{
	uint64_t seed =
	        mix(r->work->serial << 32 ^ id[0] ^ (uint64_t)id[1] << 20 ^ (uint64_t)id[2] << 40);

	for (unsigned n = 0; n < GCN3_MAX_WAVES; n++) {
		r->box->waves[n].l1 = k->l1;
		r->box->waves[n].kcache = k->kcache;
	}
	r->box->group.mem = k->engine->mem;
	gcn3_box_load(r->box, &r->work->d, &r->work->shape, id, (uint32_t)seed);
	r->waiting = r->done = 0;
	r->descending = seed >> 32 & 1;
	r->wave = r->descending ? r->box->group.nwaves - 1 : 0;
}

static void next_wave(struct resident *r)
{
	unsigned n = r->box->group.nwaves;

	do
		r->wave = r->descending ? (r->wave + n - 1) % n : (r->wave + 1) % n;
	while ((r->waiting | r->done) >> r->wave & 1);
}

/* Wave r->wave stopped at a barrier or ended. Return: GCN3_END when that was the last of the group.
 */
static enum gcn3_status wave_stopped(struct resident *r, enum gcn3_status status)
{
	unsigned all = (1u << r->box->group.nwaves) - 1;

	if (status == GCN3_END)
		r->done |= (uint16_t)(1u << r->wave);
	else
		r->waiting |= (uint16_t)(1u << r->wave);
	if (r->done == all)
		return GCN3_END;
	if ((r->waiting | r->done) == all) { /* an ended wave counts as arrived */
		r->waiting = 0;
		r->descending = !r->descending;
	}
	next_wave(r);
	return GCN3_OK;
}

/* Run a group for one quantum. Return: GCN3_OK not done yet; GCN3_END; what stopped it. */
static enum gcn3_status run_quantum(struct worker *k, struct resident *r)
{
	uint64_t left = QUANTUM;

	while (left) {
		struct gcn3_wave *w = &r->box->waves[r->wave];
		uint64_t before = w->instructions;
		enum gcn3_status status = gcn3_interp_run(&k->interp, w, (unsigned)left);

		left -= MIN(left, w->instructions - before);
		if (status == GCN3_END || status == GCN3_BARRIER)
			status = wave_stopped(r, status);
		else if (status == GCN3_OK && r->box->group.nwaves > 1)
			next_wave(r); /* waves may wait for each other without a barrier */
		if (status != GCN3_OK)
			return status;
	}
	return GCN3_OK;
}

static void report_group(struct worker *k, const struct resident *r, enum gcn3_status status)
{
	const struct gcn3_wave *w = &r->box->waves[r->wave];
	struct gcn3_report report = {.status = status,
	        .pgm = r->work->d.pgm,
	        .wave = r->wave,
	        .pc = w->pc + w->group->fb_base,
	        .address = w->fault_address};

	memcpy(report.group, w->group->id, sizeof(report.group));
	gcn3_interp_describe(&k->interp, w->pc, report.insn, sizeof(report.insn));
	if (k->engine->report)
		k->engine->report(k->engine->ctx, &r->work->d, &report);
}

/* Whether this group's end is the one that is reported for its dispatch. */
static bool claim_report(struct gcn3_engine *e, struct work *work)
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

static void add_counts(struct gcn3_engine *e, struct worker *k)
{
	uint64_t *c = k->interp.counts;

	for (unsigned i = 0; i < GCN3_CLASSES; i++)
		e->counters.instructions += c[i];
	e->counters.valu += c[GCN3_CLASS_VALU];
	e->counters.salu += c[GCN3_CLASS_SALU];
	e->counters.smem += c[GCN3_CLASS_SMEM];
	e->counters.vmem += c[GCN3_CLASS_VMEM];
	e->counters.lds += c[GCN3_CLASS_LDS];
	e->counters.branches += c[GCN3_CLASS_BRANCH];
	memset(c, 0, sizeof(k->interp.counts));
}

static void end_group(struct worker *k, struct resident *r, enum gcn3_status status)
{
	struct gcn3_engine *e = k->engine;
	struct work *work = r->work;

	if (status != GCN3_END && claim_report(e, work))
		report_group(k, r, status);
	pthread_mutex_lock(&e->lock);
	if (work->shape.scratch && work->shape.scratch_bytes) {
		give_slots(e, r->box->slots, r->box->group.nwaves);
		pthread_cond_broadcast(&e->work_ready); /* a group may have waited for slots */
	}
	add_counts(e, k);
	r->work = NULL;
	work->running--;
	if (finished(work))
		retire(e, work);
	pthread_mutex_unlock(&e->lock);
}

/* --- a worker's groups --- */

static unsigned count_residents(const struct worker *k)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MAX_RESIDENT; i++)
		n += k->residents[i].work != NULL;
	return n;
}

/* A free place, with a box. Boxes are kept, the first one from the start. */
static struct resident *free_place(struct worker *k)
{
	struct resident *r = NULL;

	for (unsigned i = 0; i < MAX_RESIDENT && !r; i++)
		if (!k->residents[i].work)
			r = &k->residents[i];
	if (r && !r->box)
		r->box = gcn3_box_new();
	return r && r->box ? r : NULL;
}

static void full_queues(const struct worker *k, bool full[GCN3_QUEUES])
{
	unsigned held[GCN3_QUEUES] = {0};

	for (unsigned i = 0; i < MAX_RESIDENT; i++)
		if (k->residents[i].work)
			held[k->residents[i].work->d.queue]++;
	for (unsigned q = 0; q < GCN3_QUEUES; q++)
		full[q] = held[q] >= MAX_A_QUEUE;
}

/* Take one more group if there is room and work. @wait: until there is. Return: false when none was
 * taken. */
static bool take_group(struct worker *k, bool wait)
{
	struct gcn3_engine *e = k->engine;
	struct resident *r = free_place(k);
	bool got = false, full[GCN3_QUEUES];
	uint32_t id[3];

	if (!r)
		return false;
	pthread_mutex_lock(&e->lock);
	while (!e->exiting) {
		full_queues(k, full);
		got = issue_any(e, r, full, id);
		if (got || !wait)
			break;
		pthread_cond_wait(&e->work_ready, &e->lock);
	}
	pthread_mutex_unlock(&e->lock);
	if (!got)
		return false;
	start_group(k, r, id);
	k->current = (unsigned)(r - k->residents);
	return true;
}

static bool stopped(const struct work *w)
{
	return __atomic_load_n(&w->stop, __ATOMIC_RELAXED);
}

/* End all groups of this worker whose dispatch was stopped. */
static void reap(struct worker *k)
{
	for (unsigned i = 0; i < MAX_RESIDENT; i++)
		if (k->residents[i].work && stopped(k->residents[i].work))
			end_group(k, &k->residents[i], GCN3_KILLED);
}

/* Run the current group until it ends or has had its slice. */
static void run_slice(struct worker *k)
{
	for (unsigned n = 0; n < SLICE; n++) {
		struct resident *r = &k->residents[k->current];
		enum gcn3_status status;

		reap(k);
		if (!r->work)
			return;
		status = run_quantum(k, r);
		if (status != GCN3_OK) {
			end_group(k, r, status);
			return;
		}
	}
}

static void *worker_main(void *arg)
{
	struct worker *k = arg;
	char name[16];

	snprintf(name, sizeof(name), "gcn3-%u", k->number);
	pthread_setname_np(pthread_self(), name);
	for (;;) {
		unsigned n = count_residents(k);

		if (!n && !take_group(k, true))
			break;
		if (n && !take_group(k, false))
			do
				k->current = (k->current + 1) % MAX_RESIDENT;
			while (!k->residents[k->current].work);
		run_slice(k);
	}
	return NULL;
}

/* --- the interface --- */

static unsigned worker_count(unsigned threads)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (!threads)
		threads = cores > 0 ? (unsigned)cores : 1;
	return MIN(threads, VMEM_MAX_CLIENTS / CLIENTS_A_WORKER);
}

static int start_worker(struct gcn3_engine *e, struct worker *k)
{
	k->engine = e;
	k->number = (unsigned)(k - e->workers);
	k->l1 = vmem_client_new(e->mem);
	k->kcache = vmem_client_new(e->mem);
	k->icache = vmem_client_new(e->mem);
	k->residents[0].box = gcn3_box_new();
	if (!k->l1 || !k->kcache || !k->icache || !k->residents[0].box)
		return -ENOMEM;
	gcn3_interp_init(&k->interp, k->icache);
	if (pthread_create(&k->thread, NULL, worker_main, k))
		return -ENOMEM;
	k->started = true;
	return 0;
}

int gcn3_engine_new(struct gcn3_engine **out, struct vmem *mem, unsigned threads,
        void (*report)(void *ctx, const struct gcn3_dispatch *d, const struct gcn3_report *r),
        void *ctx)
{
	struct gcn3_engine *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->mem = mem;
	e->report = report;
	e->ctx = ctx;
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->work_ready, NULL);
	pthread_cond_init(&e->work_done, NULL);
	for (unsigned i = 0; i < GCN3_QUEUES; i++)
		e->queues[i].last = &e->queues[i].first;
	e->nworkers = worker_count(threads);
	e->workers = calloc(e->nworkers, sizeof(*e->workers));
	for (unsigned i = 0; e->workers && i < e->nworkers; i++)
		if (start_worker(e, &e->workers[i])) {
			gcn3_engine_free(e);
			return rx_fail("gcn3", -ENOMEM, "cannot start %u workers", e->nworkers);
		}
	if (!e->workers) {
		gcn3_engine_free(e);
		return -ENOMEM;
	}
	*out = e;
	return 0;
}

static void stop_workers(struct gcn3_engine *e)
{
	for (unsigned q = 0; q < GCN3_QUEUES; q++)
		gcn3_kill(e, q);
	pthread_mutex_lock(&e->lock);
	e->exiting = true;
	pthread_cond_broadcast(&e->work_ready);
	pthread_mutex_unlock(&e->lock);
	for (unsigned i = 0; i < e->nworkers; i++)
		if (e->workers[i].started)
			pthread_join(e->workers[i].thread, NULL);
}

void gcn3_engine_free(struct gcn3_engine *e)
{
	if (!e)
		return;
	if (e->workers)
		stop_workers(e);
	for (unsigned i = 0; e->workers && i < e->nworkers; i++) {
		gcn3_interp_fini(&e->workers[i].interp);
		for (unsigned b = 0; b < MAX_RESIDENT; b++)
			gcn3_box_free(e->workers[i].residents[b].box);
	}
	free(e->workers);
	pthread_cond_destroy(&e->work_done);
	pthread_cond_destroy(&e->work_ready);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

int gcn3_submit(struct gcn3_engine *e, const struct gcn3_dispatch *d)
{
	struct work *work = calloc(1, sizeof(*work));
	struct queue *q;
	int err;

	if (!work)
		return -ENOMEM;
	err = gcn3_shape_of(d, vmem_size(e->mem), &work->shape);
	if (err || !work->shape.ngroups) {
		free(work);
		return err;
	}
	work->d = *d;
	q = &e->queues[d->queue];
	pthread_mutex_lock(&e->lock);
	while (q->outstanding == MAX_OUTSTANDING)
		pthread_cond_wait(&e->work_done, &e->lock);
	work->serial = ++e->serial;
	/* about 0.618 of the groups further each time, made coprime: each group comes once */
	work->next = mix(work->serial) % work->shape.ngroups;
	work->step = work->shape.ngroups * 5 / 8 | 1;
	while (gcd(work->step, work->shape.ngroups) != 1)
		work->step++;
	*q->last = work;
	q->last = &work->link;
	q->outstanding++;
	pthread_cond_broadcast(&e->work_ready);
	pthread_mutex_unlock(&e->lock);
	return 0;
}

int gcn3_wait_idle(struct gcn3_engine *e, unsigned queue)
{
	struct queue *q = &e->queues[queue];
	bool faulted;

	pthread_mutex_lock(&e->lock);
	while (q->outstanding)
		pthread_cond_wait(&e->work_done, &e->lock);
	faulted = q->faulted;
	q->faulted = false;
	pthread_mutex_unlock(&e->lock);
	return faulted ? -EIO : 0;
}

bool gcn3_idle(struct gcn3_engine *e, unsigned queue)
{
	bool idle;

	pthread_mutex_lock(&e->lock);
	idle = !e->queues[queue].outstanding;
	pthread_mutex_unlock(&e->lock);
	return idle;
}

void gcn3_kill(struct gcn3_engine *e, unsigned queue)
{
	struct queue *q = &e->queues[queue];

	pthread_mutex_lock(&e->lock);
	for (struct work *w = q->first, *next; w; w = next) {
		next = w->link;
		__atomic_store_n(&w->stop, true, __ATOMIC_RELAXED);
		q->faulted = true;
		if (finished(w)) /* no wave of it runs */
			retire(e, w);
	}
	pthread_mutex_unlock(&e->lock);
}

void gcn3_invalidate_l1(struct gcn3_engine *e)
{
	for (unsigned i = 0; i < e->nworkers; i++)
		vmem_client_invalidate_async(e->workers[i].l1);
}

void gcn3_invalidate_kcache(struct gcn3_engine *e)
{
	for (unsigned i = 0; i < e->nworkers; i++)
		vmem_client_invalidate_async(e->workers[i].kcache);
}

void gcn3_invalidate_icache(struct gcn3_engine *e)
{
	for (unsigned i = 0; i < e->nworkers; i++)
		vmem_client_invalidate_async(e->workers[i].icache);
}

void gcn3_read_counters(struct gcn3_engine *e, struct gcn3_counters *out)
{
	pthread_mutex_lock(&e->lock);
	*out = e->counters;
	pthread_mutex_unlock(&e->lock);
}
