/* engine.c - see engine.h: dispatches go into queues (queues.c), worker threads take workgroups
 * from them (worker.c). Locking: engine.lock guards queues, works and counters.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/virtual/gcn3/engine_priv.h"

static unsigned worker_count(unsigned threads)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (!threads)
		threads = cores > 0 ? (unsigned)cores : 1;
	return MIN(threads, VMEM_MAX_CLIENTS / GCN3_CLIENTS);
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
		if (gcn3_worker_start(e, &e->workers[i])) {
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
	for (unsigned i = 0; e->workers && i < e->nworkers; i++)
		gcn3_worker_fini(&e->workers[i]);
	free(e->workers);
	pthread_cond_destroy(&e->work_done);
	pthread_cond_destroy(&e->work_ready);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

int gcn3_submit(struct gcn3_engine *e, const struct gcn3_dispatch *d)
{
	struct gcn3_work *work = calloc(1, sizeof(*work));
	struct gcn3_queue *q;
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
	while (q->outstanding == GCN3_OUTSTANDING)
		pthread_cond_wait(&e->work_done, &e->lock);
	work->serial = ++e->serial;
	gcn3_work_order(work);
	*q->last = work;
	q->last = &work->link;
	q->outstanding++;
	pthread_cond_broadcast(&e->work_ready);
	pthread_mutex_unlock(&e->lock);
	return 0;
}

int gcn3_wait_idle(struct gcn3_engine *e, unsigned queue)
{
	struct gcn3_queue *q = &e->queues[queue];
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
	struct gcn3_queue *q = &e->queues[queue];

	pthread_mutex_lock(&e->lock);
	for (struct gcn3_work *w = q->first, *next; w; w = next) {
		next = w->link;
		__atomic_store_n(&w->stop, true, __ATOMIC_RELAXED);
		q->faulted = true;
		if (gcn3_work_finished(w)) /* no wave of it runs */
			gcn3_work_retire(e, w);
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
