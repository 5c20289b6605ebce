/* train.h - the training command. */
#ifndef TRAINER_TRAIN_H
#define TRAINER_TRAIN_H

#include "trainer/options.h"

/* train - everything from the data to the last checkpoint; says on stderr what went wrong. Return:
 * exit code. */
int train(const struct options *o);

/* train_defaults - the settings of a preset. Return: 0; -EINVAL unknown preset. */
struct run_config;
int train_defaults(struct run_config *c, const char *preset);

#endif
