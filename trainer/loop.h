/* loop.h - drive one resident plan: allow steps, feed inputs, take losses, until the submission is
 * done. One poll loop over plans/NAME/{input,run,loss}, nothing blocks. docs/plan-format.md 2.
 */
#ifndef TRAINER_LOOP_H
#define TRAINER_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trainer/mount_io.h"

#define LOOP_LINE 512

struct loop_text {
	char line[LOOP_LINE];
	size_t len;
};

struct loop {
	struct mount *mount; /* not owned; its why tells the failure */
	char plan[64];
	int input, run, loss; /* file descriptors; input -1: the plan has none */
	struct loop_text run_text, loss_text;
};

/* loop_open - open the plan's files; they stay open, so steps are cancelled when we die. -EBUSY:
 * somebody else runs this plan. */
int loop_open(struct loop *l, struct mount *m, const char *plan, bool has_input);
void loop_close(struct loop *l);

struct loop_job {
	uint64_t steps;
	/* record - the input of step @index of this job (0..steps-1), valid until the next call.
	 * NULL when the plan has none. */
	const void *(*record)(void *ctx, uint64_t index, size_t *len);
	/* result - step @index is done. May be NULL. */
	void (*result)(void *ctx, uint64_t index, double loss);
	/* tick - called at least twice a second. May be NULL. Return: true to stop at the next
	 * boundary.
	 */
	bool (*tick)(void *ctx);
	void *ctx;
};

/* loop_run - @done: good steps, fewer than asked for only after a stop or a failure. Return: 0;
 * -EIO a step failed (mount->why says why; no weight was changed by it); -ENODEV, -ENOTCONN; other
 * errors. */
int loop_run(struct loop *l, const struct loop_job *job, uint64_t *done);

#endif
