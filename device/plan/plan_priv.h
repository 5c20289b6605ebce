/* plan_priv.h - inside of a plan. Private to plan/. */
#ifndef RX_PLAN_PRIV_H
#define RX_PLAN_PRIV_H

#include <pthread.h>

#include "device/cp/pm4_build.h"
#include "device/plan/plan.h"

/* Memory of a loaded plan, docs/plan-format.md 3 */
#define RING_ENTRIES  1024
#define RING_ENTRY_DW 16
#define RING_LOG2_DW  14 /* RING_ENTRIES * RING_ENTRY_DW */
#define GRANT_MAX                                                                                  \
	960 /* resident-plans.md 12: a multiple of the 64-entry period below the ring size */
#define HEADS              64
#define HEAD_DW            64
#define TAIL_DW            40
#define LINE               256
#define PLAN_RECORDS       1024
#define RECORD_BYTES       32
#define TRAILER_BYTES      16
#define STEP_CONTEXT_BYTES 64

enum phase {
	PHASE_NONE,
	PHASE_BOUNDARY = RX_PHASE_BOUNDARY,
	PHASE_INPUT = RX_PHASE_INPUT,
	PHASE_RUNNING
};
enum step_status {
	STEP_GOOD,
	STEP_LENGTH,
	STEP_CHECKSUM,
	STEP_SEQUENCE,
	STEP_LOSS,
	STEP_GRAD_NORM
};

/* Where an 8-byte pointer in an argument block comes from. */
struct plan_fixup {
	uint32_t offset; /* in the argument block */
	enum { FIX_BUFFER, FIX_STEP, FIX_QUEUE } kind;
	struct rx_buffer *buffer;
	uint64_t add;
};

struct plan_dispatch {
	struct rx_module *module;
	const struct co_kernel *kernel;
	uint64_t code_base; /* VRAM offset of the module, after pinning */
	bool pinned;
	uint32_t groups[3], group[3], dims;
	uint32_t local_bytes; /* dynamic LDS */
	uint8_t *args;        /* argument block, kernel->kernarg_size bytes, fixups zero */
	struct plan_fixup *fixups;
	unsigned nfixups;
	bool barrier_after;
	uint64_t args_offset, packet_offset; /* VRAM, set by the layout */
};

struct plan_place {
	struct rx_buffer *buffer; /* NULL: absent */
	uint64_t offset;
};

/* What the JSON says, checked against kernels and buffers; no VRAM yet. */
struct plan_desc {
	bool has_input;
	unsigned scalars, ids;
	size_t input_bytes;
	struct plan_dispatch *steps, *updates;
	unsigned nsteps, nupdates;
	struct plan_place loss, grad_norm;
	struct plan_tensor *tensors;
	unsigned ntensors;
	unsigned deadline_s;
};

/* VRAM offsets, all inside one window range. */
struct plan_layout {
	uint64_t base, bytes;
	/* written once: [0, body + what is used of it) */
	uint64_t ring, heads, tail, sizes, queue_block, body;
	/* zero after the load: from fuse on */
	uint64_t fuse, pause, in, step, tri, state, fence, mail, sum, records, slots;
	uint64_t slot_stride;
	size_t body_dw;
	uint64_t scratch, scratch_bytes; /* a range of its own; 0 when no kernel spills */
	uint32_t tmpring;
};

struct plan {
	struct rx580 *rx;
	struct rx_kernels *kernels;
	char name[65];
	struct plan_desc d;
	struct plan_layout l;
	uint64_t fb; /* MC address of VRAM offset 0 */
	struct rx_module *system;
	struct plan_dispatch begin, check, record; /* the engine's own kernels */
	struct plan_dispatch unpack, sum;          /* of the load */
	struct plan_load *load;                    /* NULL: resident */
	bool places_pinned;
	uint32_t *packets; /* head[0], body and tail */

	/* owner thread only */
	uint8_t *input[PLAN_SLOTS]; /* host copies of records, a ring; kept until consumed */
	uint64_t in_head, in_tail;  /* arrived, consumed: head - tail <= PLAN_SLOTS */
	uint64_t allowed;           /* steps allowed and not done */
	/* An epoch is one activation of the queue on a grant of ours. Sequences: [base, granted)
	 * may run, [.., committed) have their token on the card, [.., consumed) are done. */
	bool epoch;
	uint64_t base, granted, committed, consumed;
	uint8_t slot_token[PLAN_SLOTS]; /* what lies in the slots on the card */
	bool paused, stop_wanted, in_service;
	bool torn; /* see plan_set_torn */
	int (*boundary_fn)(void *ctx, int err);
	void *boundary_ctx;
	uint64_t boundary_since_ns; /* phase 1 was seen under pause since then; 0: not seen */
	uint64_t progress_ns, next_fault_check_ns;
	unsigned poll_ms;

	pthread_mutex_t lock; /* status and records, read by any thread */
	struct plan_status status;
	struct plan_record *done;
	size_t ndone, done_room;
};

/* parse.c: JSON to description. Needs no VRAM. Frees nothing on failure: plan_desc_free() does. */
int plan_parse(struct plan_desc *d, struct rx580 *rx, struct rx_kernels *kernels, const char *json,
        size_t len, char *why, size_t why_size);
void plan_desc_free(struct plan_desc *d);
/* plan_sentence - say what is wrong with the plan. Return: -EINVAL. */
int plan_sentence(char *why, size_t size, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* plan_hidden_args - block counts, group sizes, apertures (LLVM AMDGPUUsage, code object v5
 * implicit arguments). */
int plan_hidden_args(struct plan_dispatch *d, char *why, size_t why_size);
int plan_add_fixup(struct plan_dispatch *d, const struct plan_fixup *f);
void plan_dispatch_free(struct plan_dispatch *d);

/* encode.c: layout and packets, into host memory and then VRAM. */
int plan_place_system(struct plan *p, char *why, size_t why_size); /* the engine's kernels */
int plan_lay_out(struct plan *p);                                  /* sizes and allocation */
/* plan_encode - everything before fuse, at @image: zeros, l.fuse bytes. Sets l.body_dw. */
int plan_encode(struct plan *p, uint8_t *image);
/* plan_put_direct - the packets of one dispatch of a fixed size. */
void plan_put_direct(struct plan *p, struct pm4 *b, const struct plan_dispatch *d);
/* plan_set_arg - a value into the argument block of one of the engine's own kernels, by name. */
void plan_set_arg(struct plan_dispatch *d, const char *name, uint64_t value);

/* load.c: the image to the card, in pieces. */
int plan_load_start(struct plan *p);
void plan_load_free(struct plan_load *l);
/* plan_next_module - that of dispatch @i in stream order; NULL behind the last one. */
struct rx_module *plan_next_module(struct plan *p, unsigned i);

/* inputs.c */
/* plan_checksum - docs/plan-format.md 3, "Slot and token". */
uint32_t plan_checksum(const uint8_t *payload, size_t padded_bytes);
/* plan_commit - write slots that are granted and whose input is there, token last; one HDP flush at
 * the end. */
int plan_commit(struct plan *p);

/* epoch.c: activations of the queue */
int plan_epoch_start(struct plan *p);
/* plan_epoch_end - stop the queue; what was committed and not consumed is given back. @kill: waves
 * may be running or waiting. */
int plan_epoch_end(struct plan *p, bool kill);
/* plan_set_pause - write the pause byte and flush. */
int plan_set_pause(struct plan *p, bool on);

/* results.c */
/* plan_collect - read mail and new records; a failed record makes the plan PLAN_FAILED. */
int plan_collect(struct plan *p);
void plan_publish(struct plan *p); /* owner's numbers into status */
void plan_fail(struct plan *p, const char *why, bool checked);

static inline size_t plan_padded(const struct plan *p)
{
	return (p->d.input_bytes + 3) & ~(size_t)3;
}

#endif
