/* schedule.h - the learning rate of a step: linear warm-up, then half a cosine down to the minimum.
 * Depends on the step only, so a resumed run continues exactly. */
#ifndef TRAINER_SCHEDULE_H
#define TRAINER_SCHEDULE_H

#include <stdint.h>

struct schedule {
	double lr, lr_min;
	uint64_t warmup, steps; /* steps: of the whole run; behind it lr_min */
};

/* schedule_lr - of the update that makes step @step (counted from 0) done. */
double schedule_lr(const struct schedule *s, uint64_t step);
/* schedule_scalars - what a training slot carries (docs/kernels.md 1): learning rate,
 * 1/(1-beta1^t), 1/(1-beta2^t) with t = step + 1. Computed in double, rounded once. */
void schedule_scalars(
        const struct schedule *s, double beta1, double beta2, uint64_t step, float out[3]);

#endif
