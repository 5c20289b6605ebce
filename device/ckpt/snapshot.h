/* snapshot.h - the one snapshot area in VRAM: frozen copies of a plan's state, and uploads to load
 * from. A snapshot is a safetensors file whose data section lies in VRAM; its header in host
 * memory. Owner thread, except snap_read_info. Errors as in rx580.h.
 */
#ifndef RX_SNAPSHOT_H
#define RX_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/ckpt/safetensors.h"
#include "device/plan/plan.h"
#include "device/rx580.h"

struct snap; /* holds at most one snapshot or upload */

int snap_new(struct snap **out, struct rx580 *rx);
void snap_free(struct snap *s);

/* snap_adopt - the frozen snapshot of an earlier owner of the card, when there is one. Return: 0,
 * also when it is damaged (logged, its memory freed); -ENOMEM; link errors. */
int snap_adopt(struct snap *s);

struct snap_info {
	bool present;  /* something holds the area */
	bool complete; /* frozen, readable; false while being uploaded */
	char name[65];
	uint64_t file_size; /* header and data; for an upload: bytes received so far */
};
/* snap_read_info - any thread. */
void snap_read_info(struct snap *s, struct snap_info *out);

/* snap_save - copy the plan's state on the card at the next step boundary. @meta: extra
 * __metadata__ entries ("step" and "plan" are added). -EEXIST that name is there; -EBUSY the area
 * is taken; -ENOSPC; -EINVAL no "state" in the plan or a bad name; -EINPROGRESS a step is under
 * way: plan_service will do it, snap_save_result() is what became of it. */
int snap_save(struct snap *s, const char *name, struct plan *plan, const struct st_meta *meta,
        unsigned nmeta);
/* snap_save_result - of the last snap_save: -EINPROGRESS; 0; why there is no snapshot. */
int snap_save_result(const struct snap *s);
/* snap_read - bytes of NAME.safetensors. Return: bytes (short only at the end); -ENOENT. */
int snap_read(struct snap *s, const char *name, uint64_t offset, void *buf, size_t len);
int snap_remove(struct snap *s, const char *name); /* frees the area; -ENOENT */

/* Upload: begin, append in order, end. The header is checked as soon as it is there and the area
 * allocated then. */
int snap_upload_begin(struct snap *s, const char *name); /* -EEXIST, -EBUSY, -EINVAL name */
int snap_upload_append(struct snap *s, uint64_t offset, const void *data,
        size_t len);                 /* -EINVAL not at the end, or a lying header */
int snap_upload_end(struct snap *s); /* -EINVAL incomplete: removed */

/* snap_load - copy tensors into the plan's state at a boundary. Every state tensor must be there
 * with equal dtype and shape, else -EINVAL and nothing changes (the log names the tensor). -EBUSY
 * steps are allowed. Sets the plan's step from "step". */
int snap_load(struct snap *s, const char *name, struct plan *plan);

#endif
