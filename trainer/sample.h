/* sample.h - the sampling command: text from a checkpoint, token by token on the card. */
#ifndef TRAINER_SAMPLE_H
#define TRAINER_SAMPLE_H

#include <stdint.h>

#include "trainer/options.h"

/* sample - prompt and continuation on stdout; says on stderr what went wrong. Return: exit code. */
int sample(const struct options *o);

/* sample_pick - one of @n logits: the largest at temperature 0, else among the @top_k largest (0:
 * all) with probability e^(logit / temperature). @random: uniform 64 bits. */
unsigned sample_pick(
        const float *logits, unsigned n, double temperature, unsigned top_k, uint64_t random);

#endif
