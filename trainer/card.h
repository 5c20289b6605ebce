/* card.h - the model's things on the mount: buffers PREFIX.params, .grads, .m, .v, .acts, .small
 * and plans PREFIX-init, -train, -eval, -sample; snapshots are named PREFIX-... too. mount->why
 * tells every failure. */
#ifndef TRAINER_CARD_H
#define TRAINER_CARD_H

#include "trainer/loop.h"
#include "trainer/model.h"
#include "trainer/mount_io.h"

#define CARD_TRAIN  "trainer" /* prefixes */
#define CARD_SAMPLE "sampler"

/* card_claim - nobody else uses this prefix; clear away what a killed run left. Return: 0; -EBUSY.
 */
int card_claim(struct mount *m, const char *prefix);
/* card_buffers - create them; @train: with gradients and optimizer state. */
int card_buffers(struct mount *m, const char *prefix, const struct model *model, bool train);
/* card_plan - load PREFIX-NAME. @json is freed; NULL: -ENOMEM. */
int card_plan(struct mount *m, const char *prefix, const char *name, char *json);
/* card_initialise - weights from a seed, moments zero: load, run and remove PREFIX-init. */
int card_initialise(struct mount *m, const char *prefix, const struct model *model, uint64_t seed);
/* card_tidy - remove the plans and buffers; quiet about what is not there or cannot be. */
void card_tidy(const struct mount *m, const char *prefix);

#endif
