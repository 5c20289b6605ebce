/* engine_priv.h - a dispatch in flight, a workgroup in a worker's hands, and what the parts of the
 * engine share: engine.c (its face), queues.c (what to run), worker.c (running it), launch.c (the
 * first state of a group). Private to gcn3/.
 */
#ifndef GCN3_ENGINE_PRIV_H
#define GCN3_ENGINE_PRIV_H

#include <pthread.h>
#include <stddef.h>

#include "device/virtual/gcn3/engine.h"
#include "device/virtual/gcn3/interp.h"

#define GCN3_MAX_WAVES 16u  /* a workgroup: 1024 work-items, polaris.md 9 and AMDGPUUsage */
#define GCN3_MAX_VGPRS 256u /* a wave */
#define GCN3_LDS_MAX   65536u
#define GCN3_MAX_SLOTS 4096u /* TMPRING_SIZE.WAVES has 12 bits */

#define GCN3_OUTSTANDING 32u /* dispatches a queue, engine.h */
#define GCN3_A_QUEUE     4u  /* of one queue a worker holds: a hung queue never takes all places */
#define GCN3_RESIDENT    (GCN3_A_QUEUE * GCN3_QUEUES) /* groups a worker changes between */
#define GCN3_CLIENTS     3u                           /* of the memory, a worker */

/* What the registers of a dispatch mean. */
struct gcn3_shape {
	uint64_t ngroups;
	uint32_t groups[3]; /* to run in each dimension */
	uint32_t lds_bytes, nvgprs, mode;
	unsigned user_sgprs;
	bool scratch;
	uint32_t scratch_bytes; /* a wave */
	uint32_t scratch_slots;
};

/* gcn3_shape_of - validate @d against what a gfx803 compute unit can hold. @vram: bytes. Return: 0;
 * -EINVAL, logged. */
int gcn3_shape_of(const struct gcn3_dispatch *d, uint64_t vram, struct gcn3_shape *out);

/* Storage of one workgroup; reused from group to group. */
struct gcn3_box {
	struct gcn3_group group;
	struct gcn3_wave waves[GCN3_MAX_WAVES];
	uint32_t (*vgprs)[GCN3_LANES]; /* GCN3_MAX_WAVES * GCN3_MAX_VGPRS rows at most */
	uint8_t *lds;
	uint16_t slots[GCN3_MAX_WAVES]; /* scratch slots held */
};

struct gcn3_box *gcn3_box_new(void);
void gcn3_box_free(struct gcn3_box *b);

/* gcn3_box_size - work-items of group @id along each dimension. Return: waves it takes. */
unsigned gcn3_box_size(const struct gcn3_dispatch *d, const uint32_t id[3], uint32_t size[3]);

/* gcn3_box_load - initial state of group @id: registers as polaris.md 9.3 says, everything else
 * poison from @seed. */
void gcn3_box_load(struct gcn3_box *b, const struct gcn3_dispatch *d, const struct gcn3_shape *s,
        const uint32_t id[3], uint32_t seed);

struct gcn3_work {
	struct gcn3_dispatch d;
	struct gcn3_shape shape;
	uint64_t serial;
	uint64_t issued, running, next,
	        step;  /* groups; next and step walk over them in scattered order */
	bool stop;     /* atomic: no more groups, end the running ones */
	bool reported; /* and why it stopped is known */
	struct gcn3_work *link;
};

struct gcn3_queue {
	struct gcn3_work *first, **last;
	unsigned outstanding;
	uint64_t picks;
	bool faulted;
};

struct gcn3_resident {
	struct gcn3_box *box;
	struct gcn3_work *work; /* NULL: free */
	unsigned wave;          /* runs next */
	uint16_t waiting, done; /* waves at the barrier, waves ended: bit masks */
	bool descending;        /* order of the waves */
};

struct gcn3_worker {
	struct gcn3_engine *engine;
	pthread_t thread;
	bool started;
	unsigned number;
	struct vmem_client *l1, *kcache, *icache;
	struct gcn3_interp interp;
	struct gcn3_resident residents[GCN3_RESIDENT];
	unsigned current;
};

struct gcn3_engine {
	struct vmem *mem;
	void (*report)(void *ctx, const struct gcn3_dispatch *d, const struct gcn3_report *r);
	void *ctx;
	pthread_mutex_t lock;
	pthread_cond_t work_ready, work_done;
	bool exiting;
	struct gcn3_queue queues[GCN3_QUEUES];
	unsigned turn; /* queue that is served first among equals */
	uint64_t serial;
	uint64_t slots[GCN3_MAX_SLOTS / 64]; /* scratch slots taken */
	struct gcn3_counters counters;
	struct gcn3_worker *workers;
	unsigned nworkers;
};

/* gcn3_mix - scatters @x: the same in every run, without a pattern a kernel could lean on. */
static inline uint64_t gcn3_mix(uint64_t x)
{
	x = (x ^ x >> 31) * UINT64_C(0x7fb5d329728ea185);
	x = (x ^ x >> 27) * UINT64_C(0x81dadef4bc2dd44d);
	return x ^ x >> 33;
}

/* queues.c. These two with the lock held. */
bool gcn3_work_finished(const struct gcn3_work *w);
/* gcn3_work_retire - take a finished dispatch out of its queue and free it. */
void gcn3_work_retire(struct gcn3_engine *e, struct gcn3_work *work);
/* gcn3_work_order - scatter the groups of a new dispatch; work->serial is set. */
void gcn3_work_order(struct gcn3_work *work);
/* gcn3_group_take - give the next group of any queue but the @full ones to @r. @wait: until there
 * is one. Return: false when none was given. */
bool gcn3_group_take(struct gcn3_engine *e, struct gcn3_resident *r, const bool full[GCN3_QUEUES],
        bool wait, uint32_t id[3]);
/* gcn3_group_claim - a group ended badly: stop its dispatch. Return: whether this end is the one to
 * report. */
bool gcn3_group_claim(struct gcn3_engine *e, struct gcn3_work *work);
/* gcn3_group_return - the group of @r ended: its place is free. @counts: of instructions since the
 * last call, cleared. */
void gcn3_group_return(
        struct gcn3_engine *e, struct gcn3_resident *r, uint64_t counts[GCN3_CLASSES]);

/* worker.c. Return: 0; -ENOMEM. Stopped by e->exiting; gcn3_worker_fini() after it was joined. */
int gcn3_worker_start(struct gcn3_engine *e, struct gcn3_worker *k);
void gcn3_worker_fini(struct gcn3_worker *k);

#endif
