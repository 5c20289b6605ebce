/* plan.h - resident plans: JSON checked, encoded to PM4 in VRAM, fed through 16 slots. Format and
 * memory: docs/plan-format.md. Owner thread, except where "any thread" is said. Errors as in
 * rx580.h.
 */
#ifndef RX_PLAN_H
#define RX_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/plan/kernels.h"
#include "device/rx580.h"

#define PLAN_SLOTS       16
#define PLAN_MAX_JSON    (16u << 20)
#define PLAN_MAX_STEPS   4096
#define PLAN_MAX_UPDATES 64

struct plan;

/* One tensor of the plan's "state", resolved. */
struct plan_tensor {
	char name[128];
	char dtype[8];
	unsigned ndims;
	uint64_t shape[8];
	struct rx_buffer *buffer; /* pinned while the plan is loaded */
	uint64_t offset;          /* bytes into the buffer */
	uint64_t bytes;
};

/* plan_load - check, encode and place a plan; pins its buffers and kernels.
 * @json: @len bytes. @why: a sentence with the JSON path, or line and column, when it fails.
 * Return: 0; -EINVAL bad plan; -ENOENT a buffer or kernel is missing; -ENOSPC VRAM; link errors.
 * Nothing is left behind on failure.
 */
int plan_load(struct plan **out, struct rx580 *rx, struct rx_kernels *kernels, const char *name,
        const char *json, size_t len, char *why, size_t why_size);
/* The same in pieces, so that others have the card in between. plan_load_begin - check, encode,
 * take memory, pin; nothing is sent yet. plan_load_more - one piece, of about 0.1 s on the link.
 * Return: 1 there is more; 0 resident, checked by a sum made on the card; -errno: unload it. Until
 * it is resident only plan_unload is allowed. */
int plan_load_begin(struct plan **out, struct rx580 *rx, struct rx_kernels *kernels,
        const char *name, const char *json, size_t len, char *why, size_t why_size);
int plan_load_more(struct plan *p);
/* plan_unload - free everything. -EBUSY while steps are allowed or running. NULL is fine. */
int plan_unload(struct plan *p);

enum plan_state { PLAN_RESIDENT, PLAN_RUNNING, PLAN_FAILED };

struct plan_status {
	enum plan_state state;
	uint64_t steps_done, steps_queued; /* queued: allowed and not done */
	uint64_t steps_failed;
	unsigned input_free; /* slots */
	size_t input_bytes;  /* of one record; 0: no input */
	uint32_t phase;      /* mail.phase, docs/plan-format.md 4 */
	float last_loss, last_grad_norm;
	uint64_t last_clock; /* 25 MHz ticks */
	char error[256];     /* of the failed step, empty otherwise */
	uint64_t vram_bytes;
	unsigned dispatches;
};
/* plan_read_status - any thread: a copy kept under a lock. */
void plan_read_status(struct plan *p, struct plan_status *out);
const char *plan_name(const struct plan *p);

/* plan_run - allow @steps more. -EBUSY another plan is running; -EIO the plan has failed
 * (plan_clear first). */
int plan_run(struct plan *p, uint64_t steps);
/* plan_stop - take back what has not started. Inputs stay in their slots. Never waits. Return: 0 it
 * stands; -EINPROGRESS it will, at the next boundary, by plan_service: plan_is_stopping() until
 * then. A step that fails on the way ends it too. */
int plan_stop(struct plan *p);
bool plan_is_stopping(const struct plan *p);
/* plan_clear - after a failure or a reset: queue restarted at a boundary, inputs discarded, nothing
 * allowed. */
int plan_clear(struct plan *p);

/* plan_push_input - copy one record into the next free slot. @len must equal input_bytes. -EAGAIN
 * all slots taken; -EINVAL length; -EIO the plan has failed. */
int plan_push_input(struct plan *p, const void *data, size_t len);

/* plan_service - look at the card: collect results, commit slots, grant again, notice faults. Call
 * after pushes and from a timer. Return: milliseconds until it wants to be called again (1..1000),
 * or -errno. A stalled step (no progress in 120 s of card-busy time on a running phase) or a queue
 * fault makes the plan PLAN_FAILED with "card fault" after the queue was recovered. */
int plan_service(struct plan *p);

/* plan_losses - copy records done since @from (counted from 0 at load) into @out. Any thread.
 * Return: how many were copied. */
struct plan_record {
	uint64_t step;
	uint32_t status;
	float loss, grad_norm;
	uint64_t clock;
};
size_t plan_losses(struct plan *p, uint64_t from, struct plan_record *out, size_t max);

/* plan_pm4 - head[0], body and tail as they lie in VRAM (checked at the load). Caller frees. */
int plan_pm4(struct plan *p, uint32_t **dwords, size_t *count);
/* plan_pm4_text - the same, decoded, one packet a line with its address. Caller frees. */
int plan_pm4_text(struct plan *p, char **text);

/* State tensors, in order. Owned by the plan. */
const struct plan_tensor *plan_tensors(const struct plan *p, unsigned *count);
/* plan_kept - where it lives, for rx_keep. */
void plan_kept(const struct plan *p, struct rx_kept *out);
/* plan_at_boundary - run @fn while the card stands at a step boundary and nothing can start; then
 * go on. Steps that are allowed stay allowed. @err is 0 there; -EIO when the step faulted and its
 * changes may be half done, -ECANCELED when the plan was cleared first: @fn must not use the state.
 * Never waits. Return: what @fn returned when it ran at once; -EINPROGRESS plan_service will call
 * it; -EBUSY another one waits. */
int plan_at_boundary(struct plan *p, int (*fn)(void *ctx, int err), void *ctx);
/* plan_set_torn - a step was cut off and may have left the state half changed: PLAN_FAILED for that
 * reason, and plan_check_whole says -EIO (logged) until plan_clear or plan_set_steps_done. */
void plan_set_torn(struct plan *p, const char *why);
int plan_check_whole(const struct plan *p);
/* plan_set_steps_done - after a checkpoint was loaded: continue counting from here. Only while
 * nothing is allowed (-EBUSY). */
int plan_set_steps_done(struct plan *p, uint64_t steps);

#endif
