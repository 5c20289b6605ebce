/* train_priv.h - one training run. Private to the train*.c files. */
#ifndef TRAINER_TRAIN_PRIV_H
#define TRAINER_TRAIN_PRIV_H

#include "trainer/ckpt.h"
#include "trainer/data.h"
#include "trainer/loop.h"
#include "trainer/model.h"
#include "trainer/options.h"
#include "trainer/report.h"
#include "trainer/run_config.h"

struct session {
	const struct options *o;
	struct mount mount;
	struct run_config config;
	struct run_state state; /* of the checkpoint to resume */
	char from[PATH_MAX];    /* that checkpoint; empty: a new run */
	struct tokenizer *tok;
	struct stream train, held_out;
	struct model *model;
	struct loop update, eval;
	struct ckpt *ckpt;
	struct report report;
	uint64_t save_every, eval_every;
	uint64_t step;   /* updates done */
	uint8_t *record; /* of one update or evaluation */
	uint64_t base;   /* step of the first update of the job under way */
	double sum;      /* of the losses of an evaluation */
	bool claimed, failed_save, stop_told;
};

/* train_tell - a sentence on stderr. Return: -EINVAL. */
int train_tell(const char *why);
/* Each says on stderr what went wrong. Return: 0; -errno. */
/* train_settle - the settings of the run: presets, options, and the checkpoint to resume. */
int train_settle(struct session *s);
/* train_read_data - documents, tokenizer, streams. */
int train_read_data(struct session *s);
/* train_make_model - layout of the model and room for one input record. */
int train_make_model(struct session *s);

#endif
