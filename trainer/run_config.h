/* run_config.h - everything that decides how a training run goes; a checkpoint carries it as
 * trainer.json, so that a resumed run goes on bit by bit. Pure but for the file.
 */
#ifndef TRAINER_RUN_CONFIG_H
#define TRAINER_RUN_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "trainer/model.h"
#include "trainer/plan_gen.h"
#include "trainer/schedule.h"

struct run_config {
	struct model_config model;
	struct train_settings train;
	struct schedule schedule;
	uint64_t seed;
	uint64_t data_digest, data_bytes; /* data.h, corpus_digest() */
};

/* A file of a checkpoint, to notice damage. */
struct file_sum {
	uint64_t bytes, fnv; /* fnv.h */
};

struct run_state {
	struct run_config config;
	uint64_t step; /* updates done */
	struct file_sum model, optimizer;
};

/* run_json - trainer.json. Caller frees; NULL: no memory. */
char *run_json(const struct run_state *s);
/* run_parse - every field is checked. Return: 0; -EINVAL with @why. */
int run_parse(struct run_state *out, const char *text, size_t len, char *why, size_t why_size);
/* gpt2_config_json - config.json as transformers' GPT2Config reads it. Caller frees. */
char *gpt2_config_json(const struct model_config *c);

#endif
