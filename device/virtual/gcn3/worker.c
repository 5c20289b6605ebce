/* worker.c - a thread that runs workgroups. It keeps up to GCN3_RESIDENT of them and changes
 * between them when one runs long, so that a hung kernel leaves the other queues alive and groups
 * may wait for each other. A group never changes its worker (its L1 is there), and one in a box
 * belongs to its worker alone: nothing here holds the lock.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/gcn3/engine_priv.h"

#define QUANTUM 4096u /* instructions between looks at stop flags: well below a millisecond */
#define SLICE   256u  /* quanta before a worker changes to another group */

static void start_group(struct gcn3_worker *k, struct gcn3_resident *r, const uint32_t id[3])
{
	uint64_t seed = gcn3_mix(
	        r->work->serial << 32 ^ id[0] ^ (uint64_t)id[1] << 20 ^ (uint64_t)id[2] << 40);

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

static void next_wave(struct gcn3_resident *r)
{
	unsigned n = r->box->group.nwaves;

	do
		r->wave = r->descending ? (r->wave + n - 1) % n : (r->wave + 1) % n;
	while ((r->waiting | r->done) >> r->wave & 1);
}

/* Wave r->wave stopped at a barrier or ended. Return: GCN3_END when that was the last of the group.
 */
static enum gcn3_status wave_stopped(struct gcn3_resident *r, enum gcn3_status status)
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
static enum gcn3_status run_quantum(struct gcn3_worker *k, struct gcn3_resident *r)
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

static void report_group(
        struct gcn3_worker *k, const struct gcn3_resident *r, enum gcn3_status status)
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

static void end_group(struct gcn3_worker *k, struct gcn3_resident *r, enum gcn3_status status)
{
	if (status != GCN3_END && gcn3_group_claim(k->engine, r->work))
		report_group(k, r, status);
	gcn3_group_return(k->engine, r, k->interp.counts);
}

static unsigned count_residents(const struct gcn3_worker *k)
{
	unsigned n = 0;

	for (unsigned i = 0; i < GCN3_RESIDENT; i++)
		n += k->residents[i].work != NULL;
	return n;
}

/* A free place, with a box. Boxes are kept, the first one from the start. */
static struct gcn3_resident *free_place(struct gcn3_worker *k)
{
	struct gcn3_resident *r = NULL;

	for (unsigned i = 0; i < GCN3_RESIDENT && !r; i++)
		if (!k->residents[i].work)
			r = &k->residents[i];
	if (r && !r->box)
		r->box = gcn3_box_new();
	return r && r->box ? r : NULL;
}

static void full_queues(const struct gcn3_worker *k, bool full[GCN3_QUEUES])
{
	unsigned held[GCN3_QUEUES] = {0};

	for (unsigned i = 0; i < GCN3_RESIDENT; i++)
		if (k->residents[i].work)
			held[k->residents[i].work->d.queue]++;
	for (unsigned q = 0; q < GCN3_QUEUES; q++)
		full[q] = held[q] >= GCN3_A_QUEUE;
}

/* Take one more group if there is room and work. @wait: until there is. Return: false when none was
 * taken. */
static bool take_group(struct gcn3_worker *k, bool wait)
{
	struct gcn3_resident *r = free_place(k);
	bool full[GCN3_QUEUES];
	uint32_t id[3];

	if (!r)
		return false;
	full_queues(k, full);
	if (!gcn3_group_take(k->engine, r, full, wait, id))
		return false;
	start_group(k, r, id);
	k->current = (unsigned)(r - k->residents);
	return true;
}

static bool stopped(const struct gcn3_work *w)
{
	return __atomic_load_n(&w->stop, __ATOMIC_RELAXED);
}

/* End all groups of this worker whose dispatch was stopped. */
static void reap(struct gcn3_worker *k)
{
	for (unsigned i = 0; i < GCN3_RESIDENT; i++)
		if (k->residents[i].work && stopped(k->residents[i].work))
			end_group(k, &k->residents[i], GCN3_KILLED);
}

/* Run the current group until it ends or has had its slice. */
static void run_slice(struct gcn3_worker *k)
{
	for (unsigned n = 0; n < SLICE; n++) {
		struct gcn3_resident *r = &k->residents[k->current];
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
	struct gcn3_worker *k = arg;
	char name[16];

	snprintf(name, sizeof(name), "gcn3-%u", k->number);
	pthread_setname_np(pthread_self(), name);
	for (;;) {
		unsigned n = count_residents(k);

		if (!n && !take_group(k, true))
			break;
		if (n && !take_group(k, false))
			do
				k->current = (k->current + 1) % GCN3_RESIDENT;
			while (!k->residents[k->current].work);
		run_slice(k);
	}
	return NULL;
}

int gcn3_worker_start(struct gcn3_engine *e, struct gcn3_worker *k)
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

void gcn3_worker_fini(struct gcn3_worker *k)
{
	gcn3_interp_fini(&k->interp);
	for (unsigned b = 0; b < GCN3_RESIDENT; b++)
		gcn3_box_free(k->residents[b].box);
}
