/* engine.h - runs dispatches on worker threads, one per host core. Used by the virtual command
 * processor. Dispatches of one queue overlap, workgroups start in adversarial order unless the
 * caller waits in between (resident-plans.md 15.4). Nothing a guest kernel does can harm the
 * process.
 */
#ifndef GCN3_ENGINE_H
#define GCN3_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "device/virtual/gcn3/wave.h"

struct gcn3_engine;

/* One dispatch as the compute registers describe it (polaris.md 9). Addresses are MC addresses. */
struct gcn3_dispatch {
	uint64_t pgm; /* code address */
	uint32_t rsrc1, rsrc2, tmpring_size;
	uint32_t user_data[16];
	uint32_t groups[3], start[3],
	        threads[3];       /* in workgroups, workgroups, work-items a group */
	uint32_t last_threads[3]; /* size of the last group per dimension (PARTIAL); equal threads[]
	                             when full */
	uint64_t fb_base, fb_size;
	uint32_t sh_mem_bases; /* SHARED_BASE[31:16], PRIVATE_BASE[15:0] */
	uint32_t hidden_private_base;
	uint64_t scratch_base; /* unused by hardware state: scratch comes from user_data; kept 0 */
	unsigned queue;        /* 0 .. GCN3_QUEUES - 1 */
	int priority;          /* higher first */
};

#define GCN3_QUEUES 8

/* Why a dispatch ended early. */
struct gcn3_report {
	enum gcn3_status status;
	uint64_t pgm, pc; /* MC addresses of the kernel entry and of the instruction */
	uint64_t address; /* faulting MC address for GCN3_BAD_ADDRESS */
	uint32_t group[3];
	unsigned wave;
	char insn[96]; /* disassembly, or the raw words */
};

/* Counters over all dispatches, for the timing model. */
struct gcn3_counters {
	uint64_t dispatches, groups, waves, instructions, valu, salu, smem, vmem, lds, branches;
};

/* gcn3_engine_new - @threads: 0 = one per core. @report is called from a worker when a dispatch
 * faults. Return: 0; -ENOMEM. */
int gcn3_engine_new(struct gcn3_engine **out, struct vmem *mem, unsigned threads,
        void (*report)(void *ctx, const struct gcn3_dispatch *d, const struct gcn3_report *r),
        void *ctx);
void gcn3_engine_free(struct gcn3_engine *e);

/* gcn3_submit - queue a dispatch; returns at once unless 32 dispatches of the queue are
 * outstanding. Zero groups in any dimension: no waves, no error. Return: 0; -EINVAL impossible
 * register values (nothing queued).
 */
int gcn3_submit(struct gcn3_engine *e, const struct gcn3_dispatch *d);

/* gcn3_wait_idle - until all dispatches of @queue ended. Return: 0; -EIO one of them faulted since
 * the last call. */
int gcn3_wait_idle(struct gcn3_engine *e, unsigned queue);
bool gcn3_idle(struct gcn3_engine *e, unsigned queue);

/* gcn3_kill - end all waves of @queue (SQ_CMD, dequeue type 2); each running dispatch is reported
 * as GCN3_KILLED. */
void gcn3_kill(struct gcn3_engine *e, unsigned queue);

/* Cache actions of ACQUIRE_MEM/RELEASE_MEM on first-level caches of all workers; they act at once,
 * whatever is running. */
void gcn3_invalidate_l1(struct gcn3_engine *e);
void gcn3_invalidate_kcache(struct gcn3_engine *e);
void gcn3_invalidate_icache(struct gcn3_engine *e);

void gcn3_read_counters(struct gcn3_engine *e, struct gcn3_counters *out);

#endif
