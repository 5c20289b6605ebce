/* train_prepare.c - what a run needs before it touches the card. See train_priv.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/train.h"
#include "trainer/train_priv.h"

int train_tell(const char *why)
{
	fprintf(stderr, "trainer: %s\n", why);
	return -EINVAL;
}

int train_defaults(struct run_config *c, const char *preset)
{
	bool tiny = !strcmp(preset, "tiny");
	int err = model_preset(&c->model, preset);

	c->schedule.lr = tiny ? 2.5e-3 : 6e-4;
	c->schedule.steps = tiny ? 1000 : 2000;
	c->train = (struct train_settings){0.9, 0.95, 1e-8, 0.1, 1.0, 3600};
	c->seed = 1;
	return err;
}

/* What was asked for on the command line on top of the defaults, or of the checkpoint. */
static int apply_options(struct session *s)
{
	const struct options *o = s->o;
	struct run_config *c = &s->config;
	char why[256];

	if (o->batch)
		c->model.B = o->batch;
	if (o->has_seed)
		c->seed = o->seed;
	if (o->steps)
		c->schedule.steps = o->steps;
	if (o->lr > 0)
		c->schedule.lr = o->lr;
	if (!s->from[0] || o->lr > 0 || o->steps) {
		uint64_t tenth = c->schedule.steps / 10;
		c->schedule.lr_min = c->schedule.lr / 10;
		c->schedule.warmup = tenth < 100 ? tenth : 100;
	}
	if (model_check(&c->model, why, sizeof(why)))
		return train_tell(why);
	s->save_every = o->save_every ? o->save_every : (c->schedule.steps + 3) / 4;
	s->eval_every = o->eval_every ? o->eval_every : (c->schedule.steps + 3) / 4;
	return 0;
}

static int read_checkpoint(struct session *s)
{
	char why[PATH_MAX + 256];
	int err = ckpt_find(s->o->out, s->from, why, sizeof(why));

	if (!err)
		err = ckpt_read(s->from, &s->state, why, sizeof(why));
	if (err)
		return train_tell(why);
	s->config = s->state.config;
	s->config.train.deadline_s = 3600;
	s->step = s->state.step;
	if (s->o->preset && strcmp(s->o->preset, s->config.model.preset)) {
		fprintf(stderr, "trainer: %s is of preset %s, not %s\n", s->from,
		        s->config.model.preset, s->o->preset);
		return -EINVAL;
	}
	if ((s->o->batch && s->o->batch != s->config.model.B) ||
	        (s->o->has_seed && s->o->seed != s->config.seed))
		return train_tell("--batch and --seed cannot change in a resumed run");
	return 0;
}

int train_settle(struct session *s)
{
	char why[PATH_MAX + 64], path[PATH_MAX];
	const char *preset = s->o->preset ? s->o->preset : "tiny";

	if (s->o->resume) {
		int err = read_checkpoint(s);
		return err ? err : apply_options(s);
	}
	if (train_defaults(&s->config, preset)) {
		fprintf(stderr, "trainer: no preset \"%s\"; there are tiny and reference\n",
		        preset);
		return -EINVAL;
	}
	if (!ckpt_find(s->o->out, path, why, sizeof(why))) {
		fprintf(stderr,
		        "trainer: %s is from an earlier run; go on with --resume or take another "
		        "--out\n",
		        path);
		return -EEXIST;
	}
	return apply_options(s);
}

static int make_tokenizer(struct session *s, const struct corpus *c)
{
	size_t len;
	uint8_t *text;
	int err;

	if (s->from[0]) {
		err = tok_load(&s->tok, s->from);
		if (!err && tok_vocab(s->tok) != s->config.model.V)
			err = -EINVAL;
		if (err)
			fprintf(stderr, "trainer: %s: vocab.json or merges.txt is damaged (%s)\n",
			        s->from, strerror(-err));
		return err;
	}
	text = corpus_text(c, &len);
	err = text ? tok_train(&s->tok, text, len, s->config.model.V) : -ENOMEM;
	free(text);
	if (err)
		fprintf(stderr, "trainer: no tokenizer: %s\n", strerror(-err));
	return err;
}

static int check_data(struct session *s, const struct corpus *c)
{
	uint64_t digest = corpus_digest(c);

	if (s->from[0] && digest != s->config.data_digest) {
		fprintf(stderr,
		        "trainer: --data is other text than %s was trained on (%zu bytes now, "
		        "%" PRIu64 " then)\n",
		        s->from, c->bytes, s->config.data_bytes);
		return -EINVAL;
	}
	s->config.data_digest = digest;
	s->config.data_bytes = c->bytes;
	return 0;
}

int train_read_data(struct session *s)
{
	struct corpus c;
	int err = corpus_load(&c, s->o->data, s->o->ndata);

	if (err) {
		fprintf(stderr, "trainer: no UTF-8 text in %s%s: %s\n", s->o->data[0],
		        s->o->ndata > 1 ? " and the other paths" : "", strerror(-err));
		return err;
	}
	err = check_data(s, &c);
	if (!err)
		err = make_tokenizer(s, &c);
	if (!err) {
		err = data_split(&c, s->tok, &s->train, &s->held_out);
		if (err)
			fprintf(stderr, "trainer: %zu bytes of text are too few to train on\n",
			        c.bytes);
	}
	if (!err)
		printf("data: %zu documents, %zu bytes; %zu tokens to train on, %zu held out; left "
		       "out: %zu equal, %zu not text, %zu unreadable\n",
		        c.ndocs, c.bytes, s->train.count, s->held_out.count, c.skipped_duplicate,
		        c.skipped_binary, c.skipped_unreadable);
	corpus_free(&c);
	return err;
}

int train_make_model(struct session *s)
{
	const struct model_config *c = &s->config.model;
	int err = model_new(&s->model, c);

	s->record = malloc(TRAIN_SCALARS * sizeof(float) + (size_t)c->B * (c->T + 1) * 2);
	if (err || !s->record)
		return train_tell("no memory for the model");
	printf("model: %s, %" PRIu64
	       " parameters; batch %u, context %u, width %u, heads %u, layers "
	       "%u, vocabulary %u\n",
	        c->preset, model_parameters(c), c->B, c->T, c->C, c->H, c->L, c->V);
	return 0;
}
