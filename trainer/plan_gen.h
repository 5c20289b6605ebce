/* plan_gen.h - the plans of a model as JSON text (docs/plan-format.md of the mount,
 * docs/kernels.md). Pure. Buffers: NAME.params, NAME.grads, NAME.m, NAME.v (flat, model->nfloats
 * each), NAME.acts, NAME.small.
 */
#ifndef TRAINER_PLAN_GEN_H
#define TRAINER_PLAN_GEN_H

#include "trainer/model.h"

struct train_settings {
	double beta1, beta2, eps, decay, clip;
	unsigned deadline_s; /* of one step */
};

#define TRAIN_SCALARS 3 /* learning rate, 1/(1-beta1^t), 1/(1-beta2^t): docs/kernels.md 1 */

/* Each returns JSON text that the caller frees, NULL when memory is short. @prefix: the NAME of the
 * buffers. */
/* plan_init - fill parameters from a seed, clear m and v. No input. */
char *plan_init(const struct model *m, const char *prefix, uint64_t seed);
/* plan_train - one update; input TRAIN_SCALARS scalars and B*(T+1) ids. Its state is the
 * checkpoint: parameters by their names, then "optimizer.m.NAME", "optimizer.v.NAME". */
char *plan_train(const struct model *m, const char *prefix, const struct train_settings *s);
/* plan_eval - the loss of one batch; input B*(T+1) ids. State: the parameters. */
char *plan_eval(const struct model *m, const char *prefix, unsigned deadline_s);
/* plan_sample - logits of one position; input 1 scalar (the position) and T+1 ids; needs B = 1.
 * State: the parameters. */
char *plan_sample(const struct model *m, const char *prefix, unsigned deadline_s);

#endif
