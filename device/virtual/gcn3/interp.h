/* interp.h - runs one wave at a time out of a cache of decoded code pages. Private to gcn3/.
 * One struct gcn3_interp belongs to one worker thread. Code is read through the worker's
 * instruction-cache client: it stays as it was at first use until that client is invalidated.
 */
#ifndef GCN3_INTERP_H
#define GCN3_INTERP_H

#include "device/virtual/gcn3/wave.h"

enum gcn3_class { /* of instructions, for the counters */
	GCN3_CLASS_VALU,
	GCN3_CLASS_SALU,
	GCN3_CLASS_SMEM,
	GCN3_CLASS_VMEM,
	GCN3_CLASS_LDS,
	GCN3_CLASS_BRANCH,
	GCN3_CLASSES,
};

typedef enum gcn3_status (*gcn3_executor)(struct gcn3_wave *w, const struct gcn3_insn *i);

struct gcn3_code_page;

#define GCN3_CODE_BUCKETS 64

struct gcn3_interp {
	struct vmem_client *icache;
	struct gcn3_code_page *buckets[GCN3_CODE_BUCKETS];
	unsigned npages;
	uint64_t counts[GCN3_CLASSES]; /* instructions executed */
};

void gcn3_interp_init(struct gcn3_interp *t, struct vmem_client *icache);
void gcn3_interp_fini(struct gcn3_interp *t);

/* gcn3_interp_run - execute up to @budget instructions of @w.
 * Return: GCN3_OK budget used up; GCN3_END, GCN3_BARRIER with w->pc behind it; any other status
 * with w->pc at the instruction that caused it. */
enum gcn3_status gcn3_interp_run(struct gcn3_interp *t, struct gcn3_wave *w, unsigned budget);

/* gcn3_interp_describe - text of the instruction at VRAM offset @pc: disassembly, or its words. */
void gcn3_interp_describe(struct gcn3_interp *t, uint64_t pc, char *buf, size_t size);

#endif
