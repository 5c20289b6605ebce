/* sample.c - see sample.h. */
#include "trainer/sample.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trainer/card.h"
#include "trainer/ckpt.h"
#include "trainer/data.h"
#include "trainer/loop.h"
#include "trainer/plan_gen.h"
#include "trainer/stop.h"

#define STEP_DEADLINE_S 3600

struct sampler {
	const struct options *o;
	struct mount mount;
	struct run_state state;
	struct model *model;
	struct tokenizer *tok;
	struct loop loop;
	int acts; /* buffers/sampler.acts, where the logits are */
	uint16_t *ids;
	size_t count;
	float *logits;
	uint8_t *record; /* one scalar, T + 1 ids */
	bool claimed;
};

struct candidate {
	double logit;
	unsigned id;
};

static int by_logit(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->logit > y->logit || x->logit < y->logit)
		return x->logit > y->logit ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

unsigned sample_pick(
        const float *logits, unsigned n, double temperature, unsigned top_k, uint64_t random)
{
	struct candidate *c = malloc(n * sizeof(*c));
	double sum = 0, at = (double)(random >> 11) * 0x1p-53; /* 53 bits are exact in a double */
	unsigned keep = top_k && top_k < n ? top_k : n, pick = 0;

	if (!c)
		return 0;
	for (unsigned i = 0; i < n; i++)
		c[i] = (struct candidate){(double)logits[i], i};
	qsort(c, n, sizeof(*c), by_logit);
	double top = c[0].logit;
	for (unsigned i = 0; i < keep; i++)
		sum += c[i].logit =
		        temperature > 0 ? exp((c[i].logit - top) / temperature) : i == 0;
	for (at *= sum; pick + 1 < keep && at >= c[pick].logit; pick++)
		at -= c[pick].logit;
	unsigned id = c[pick].id;
	free(c);
	return id;
}

static int tell(const char *why)
{
	fprintf(stderr, "trainer: %s\n", why);
	return -EINVAL;
}

static int read_checkpoint(struct sampler *s, char *path)
{
	char why[PATH_MAX + 256];
	int err = ckpt_find(s->o->checkpoint, path, why, sizeof(why));

	if (!err)
		err = ckpt_read(path, &s->state, why, sizeof(why));
	if (err) {
		tell(why);
		return err;
	}
	s->state.config.model.B = 1;
	err = tok_load(&s->tok, path);
	if (!err && tok_vocab(s->tok) != s->state.config.model.V)
		err = -EINVAL;
	if (err)
		return tell("vocab.json or merges.txt of the checkpoint is damaged");
	return model_new(&s->model, &s->state.config.model);
}

static int encode_prompt(struct sampler *s)
{
	const char *text = s->o->prompt;
	uint16_t *ids;
	size_t n;
	int err = tok_encode(s->tok, (const uint8_t *)text, strlen(text), &ids, &n);

	if (err)
		return err;
	s->ids = malloc((n + 1 + s->o->tokens) * sizeof(*s->ids));
	if (s->ids) {
		s->ids[s->count++] =
		        (uint16_t)tok_end(s->tok); /* a document starts behind an end */
		memcpy(s->ids + 1, ids, n * sizeof(*ids));
		s->count += n;
	}
	free(ids);
	s->logits = malloc(s->state.config.model.V * sizeof(float));
	s->record = malloc(sizeof(float) + (s->state.config.model.T + 1) * sizeof(uint16_t));
	return s->ids && s->logits && s->record ? 0 : -ENOMEM;
}

static int set_up_card(struct sampler *s, const char *path)
{
	struct mount *m = &s->mount;
	int err = card_claim(m, CARD_SAMPLE);

	s->claimed = !err;
	if (!err)
		err = mount_kernels(m, s->o->kernels);
	if (!err)
		err = card_buffers(m, CARD_SAMPLE, s->model, false);
	if (!err)
		err = card_plan(m, CARD_SAMPLE, "sample",
		        plan_sample(s->model, CARD_SAMPLE, STEP_DEADLINE_S));
	if (!err)
		err = ckpt_upload(m, path, &s->state, s->model, false, CARD_SAMPLE "-sample");
	if (!err)
		err = loop_open(&s->loop, m, CARD_SAMPLE "-sample", true);
	if (!err) {
		s->acts = mount_file(m, O_RDONLY, "buffers/" CARD_SAMPLE ".acts");
		err = s->acts < 0 ? s->acts : 0;
	}
	return err;
}

/* The last T tokens, and the position whose next token is wanted. */
static const void *record(void *ctx, uint64_t index, size_t *len)
{
	struct sampler *s = ctx;
	unsigned T = s->state.config.model.T;
	size_t n = s->count < T ? s->count : T;
	float position = (float)(n - 1);

	(void)index;
	*len = sizeof(float) + (T + 1) * sizeof(uint16_t);
	memset(s->record, 0, *len);
	memcpy(s->record, &position, sizeof(position));
	memcpy(s->record + sizeof(float), s->ids + s->count - n, n * sizeof(uint16_t));
	return s->record;
}

static int read_logits(struct sampler *s)
{
	size_t want = s->state.config.model.V * sizeof(float), got = 0;

	while (got < want) {
		ssize_t n = pread(s->acts, (char *)s->logits + got, want - got,
		        (off_t)(s->model->logits * sizeof(float) + got));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return mount_fail(&s->mount, n ? -errno : -EIO, "cannot read the logits");
		got += (size_t)n;
	}
	for (unsigned i = 0; i < s->state.config.model.V; i++)
		if (!isfinite(s->logits[i])) {
			snprintf(s->mount.why, sizeof(s->mount.why), "logit %u is not finite", i);
			return -EIO;
		}
	return 0;
}

static bool wants_stop(void *ctx)
{
	(void)ctx;
	return stop_wanted() != 0;
}

/* Return: 1 the text is at its end; 0; -errno. */
static int next_token(struct sampler *s, unsigned i)
{
	struct loop_job job = {.steps = 1, .record = record, .tick = wants_stop, .ctx = s};
	uint64_t done;
	size_t len;
	int err = loop_run(&s->loop, &job, &done);

	if (!err && !done)
		return 1;
	if (!err)
		err = read_logits(s);
	if (err)
		return err;
	unsigned id = sample_pick(s->logits, s->state.config.model.V, s->o->temperature,
	        s->o->top_k, data_random(s->o->has_seed ? s->o->seed : 1, i));
	s->ids[s->count++] = (uint16_t)id;
	const uint8_t *bytes = tok_bytes(s->tok, id, &len);
	if (!bytes)
		return 1;
	fwrite(bytes, 1, len, stdout);
	fflush(stdout);
	return 0;
}

static int generate(struct sampler *s)
{
	int end = 0;

	fputs(s->o->prompt, stdout);
	for (unsigned i = 0; i < s->o->tokens && !end && !stop_wanted(); i++)
		end = next_token(s, i);
	fputc('\n', stdout);
	return end < 0 ? end : 0;
}

int sample(const struct options *o)
{
	struct sampler s = {.o = o, .acts = -1, .loop = {.input = -1, .run = -1, .loss = -1}};
	char path[PATH_MAX];

	stop_install();
	int err = mount_open(&s.mount, o->gpu);
	if (err)
		tell(s.mount.why);
	if (!err)
		err = read_checkpoint(&s, path);
	if (!err)
		err = encode_prompt(&s);
	if (!err) {
		err = set_up_card(&s, path);
		if (!err)
			err = generate(&s);
		if (err)
			tell(s.mount.why);
	}
	loop_close(&s.loop);
	if (s.acts >= 0)
		close(s.acts);
	if (s.claimed && !o->keep)
		card_tidy(&s.mount, CARD_SAMPLE);
	model_free(s.model);
	tok_free(s.tok);
	free(s.ids);
	free(s.logits);
	free(s.record);
	if (err)
		return mount_gone(err) ? EXIT_GONE : (err == -EBUSY ? EXIT_BUSY : EXIT_FAILED);
	return stop_wanted() ? EXIT_SIGNAL + stop_wanted() : EXIT_OK;
}
