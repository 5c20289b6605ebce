/* ckpt.h - checkpoints on disk: OUT/step-NNNNNNNN/{model.safetensors, optimizer.safetensors,
 * config.json, vocab.json, merges.txt, trainer.json}. They come from snapshots of the mount and go
 * back as uploads. A folder of that name is always complete: it is written under another name,
 * fsynced and renamed.
 */
#ifndef TRAINER_CKPT_H
#define TRAINER_CKPT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "trainer/model.h"
#include "trainer/mount_io.h"
#include "trainer/run_config.h"
#include "trainer/tokenizer.h"

struct ckpt;

struct ckpt_options {
	const struct mount *mount; /* copied */
	const char *out, *plan;    /* folder of checkpoints; plan whose state is saved. Names in
	                              checkpoints/ of the mount begin with the plan's name */
	const struct run_config *config;
	const struct model *model; /* these three outlive the ckpt */
	const struct tokenizer *tok;
};

/* ckpt_new - the saver of one run; makes the folder and clears away what a killed run left half
 * done. Return: 0; -errno with @why. */
int ckpt_new(struct ckpt **out, const struct ckpt_options *o, char *why, size_t why_size);
/* ckpt_free - waits for a copy under way. NULL is fine. */
void ckpt_free(struct ckpt *k);
/* ckpt_begin - freeze the plan's state at step @step (the plan is at rest) and copy it to disk in a
 * thread; training may go on at once. Return: 0; -EBUSY the one before is still being copied;
 * -errno with ckpt_why(). */
int ckpt_begin(struct ckpt *k, uint64_t step);
/* ckpt_collect - the end of the copy. @wait: until it is over. Return: 1 a checkpoint is complete
 * (once for each); 0 nothing new; -errno with ckpt_why(). */
int ckpt_collect(struct ckpt *k, bool wait);
/* ckpt_newest - path of the newest complete checkpoint of this run; "" before the first. */
const char *ckpt_newest(const struct ckpt *k);
const char *ckpt_why(const struct ckpt *k);

/* ckpt_find - newest checkpoint of a folder, or the folder itself when it is one. @path: PATH_MAX
 * bytes. Return: 0; -ENOENT none; -errno with @why. */
int ckpt_find(const char *dir, char *path, char *why, size_t why_size);
/* ckpt_read - its trainer.json, with files checked against the sizes in it. Return: 0; -EINVAL,
 * -errno with @why. */
int ckpt_read(const char *path, struct run_state *out, char *why, size_t why_size);
/* ckpt_upload - check every byte of the weights, and of the optimizer state if wanted, then put
 * them into the state of @plan through the mount. mount->why tells the failure. */
int ckpt_upload(struct mount *m, const char *path, const struct run_state *s,
        const struct model *model, bool optimizer, const char *plan);

#endif
