/* train.c - see train.h. train() is the table of contents. */
#include "trainer/train.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/card.h"
#include "trainer/stop.h"
#include "trainer/train_priv.h"

#define EVAL_ROWS 64 /* held-out rows of an evaluation, at most */

static int mount_err(const struct session *s, int err)
{
	fprintf(stderr, "trainer: %s\n", s->mount.why);
	return err;
}

/* Kernels, buffers and plans on the card; weights from the seed or the checkpoint. */
static int set_up_card(struct session *s)
{
	struct mount *m = &s->mount;
	int err = card_claim(m, CARD_TRAIN);

	s->claimed = !err;
	if (!err)
		err = mount_kernels(m, s->o->kernels);
	if (!err)
		err = card_buffers(m, CARD_TRAIN, s->model, true);
	if (!err)
		err = card_plan(
		        m, CARD_TRAIN, "train", plan_train(s->model, CARD_TRAIN, &s->config.train));
	if (!err)
		err = card_plan(m, CARD_TRAIN, "eval",
		        plan_eval(s->model, CARD_TRAIN, s->config.train.deadline_s));
	if (!err)
		err = s->from[0] ? ckpt_upload(m, s->from, &s->state, s->model, true,
		                           CARD_TRAIN "-train")
		                 : card_initialise(m, CARD_TRAIN, s->model, s->config.seed);
	if (!err)
		err = loop_open(&s->update, m, CARD_TRAIN "-train", true);
	if (!err)
		err = loop_open(&s->eval, m, CARD_TRAIN "-eval", true);
	return err ? mount_err(s, err) : 0;
}

static int open_outputs(struct session *s)
{
	const struct model_config *c = &s->config.model;
	const struct ckpt_options o = {.mount = &s->mount,
	        .out = s->o->out,
	        .plan = CARD_TRAIN "-train",
	        .config = &s->config,
	        .model = s->model,
	        .tok = s->tok};
	char why[PATH_MAX + 64], log[PATH_MAX];
	int err = ckpt_new(&s->ckpt, &o, why, sizeof(why));

	if (err)
		return train_tell(why);
	snprintf(log, sizeof(log), "%.4000s/log.jsonl", s->o->out);
	err = report_open(
	        &s->report, s->o->log ? s->o->log : log, s->config.schedule.steps, c->B * c->T);
	if (err)
		fprintf(stderr, "trainer: log %s: %s\n", s->o->log ? s->o->log : log,
		        strerror(-err));
	return err;
}

static const void *update_record(void *ctx, uint64_t index, size_t *len)
{
	struct session *s = ctx;
	const struct model_config *c = &s->config.model;
	float scalars[TRAIN_SCALARS];
	size_t ids = (size_t)c->B * (c->T + 1);

	schedule_scalars(&s->config.schedule, s->config.train.beta1, s->config.train.beta2,
	        s->base + index, scalars);
	memcpy(s->record, scalars, sizeof(scalars));
	stream_batch(&s->train, s->config.seed, s->base + index, c->B, c->T,
	        (uint16_t *)(void *)(s->record + sizeof(scalars)));
	*len = sizeof(scalars) + ids * sizeof(uint16_t);
	return s->record;
}

static void collect_checkpoint(struct session *s, bool wait)
{
	int done = ckpt_collect(s->ckpt, wait);

	if (done > 0) {
		report_note(&s->report, "checkpoint: %s", ckpt_newest(s->ckpt));
		report_event(&s->report, "checkpoint", s->step, ckpt_newest(s->ckpt));
	} else if (done < 0) {
		report_note(&s->report, "checkpoint FAILED: %s", ckpt_why(s->ckpt));
		report_event(&s->report, "checkpoint failed", s->step, ckpt_why(s->ckpt));
		s->failed_save = true;
	}
}

static void update_result(void *ctx, uint64_t index, double loss)
{
	struct session *s = ctx;

	s->step = s->base + index + 1;
	report_step(&s->report, s->step, loss, schedule_lr(&s->config.schedule, s->base + index));
}

static bool update_tick(void *ctx)
{
	struct session *s = ctx;

	collect_checkpoint(s, false);
	if (stop_wanted() && !s->stop_told) {
		report_note(&s->report, "signal %d: stopping at the next step, then a checkpoint",
		        stop_wanted());
		s->stop_told = true;
	}
	return stop_wanted() != 0;
}

static const void *eval_record(void *ctx, uint64_t index, size_t *len)
{
	struct session *s = ctx;
	const struct model_config *c = &s->config.model;
	uint16_t *ids = (uint16_t *)(void *)s->record;

	for (unsigned b = 0; b < c->B; b++)
		stream_window(&s->held_out, index * c->B + b, c->T, ids + (size_t)b * (c->T + 1));
	*len = (size_t)c->B * (c->T + 1) * sizeof(uint16_t);
	return s->record;
}

static void eval_result(void *ctx, uint64_t index, double loss)
{
	struct session *s = ctx;

	(void)index;
	s->sum += loss;
}

static int evaluate(struct session *s)
{
	uint64_t rows = stream_windows(&s->held_out, s->config.model.T), done;
	rows = rows < EVAL_ROWS ? rows : EVAL_ROWS;
	struct loop_job job = {.steps = (rows + s->config.model.B - 1) / s->config.model.B,
	        .record = eval_record,
	        .result = eval_result,
	        .tick = update_tick,
	        .ctx = s};

	s->sum = 0;
	int err = loop_run(&s->eval, &job, &done);
	if (!err && done == job.steps)
		report_eval(&s->report, s->step, s->sum / (double)done);
	report_resume_clock(&s->report);
	return err;
}

static int save(struct session *s, bool last)
{
	if (last)
		collect_checkpoint(s, true);
	int err = ckpt_begin(s->ckpt, s->step);
	if (err == -EBUSY) {
		report_note(&s->report,
		        "step %" PRIu64
		        ": the checkpoint before is still being copied; this one is "
		        "skipped",
		        s->step);
		return 0;
	}
	if (err) {
		snprintf(s->mount.why, sizeof(s->mount.why), "%.1000s", ckpt_why(s->ckpt));
		return err;
	}
	if (last)
		collect_checkpoint(s, true);
	report_resume_clock(&s->report);
	return 0;
}

static uint64_t next_multiple(uint64_t step, uint64_t every)
{
	return (step / every + 1) * every;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Updates up to the next step at which something else is due. */
static int stretch(struct session *s)
{
	uint64_t end =
	        least(s->config.schedule.steps, least(next_multiple(s->step, s->save_every),
	                                                next_multiple(s->step, s->eval_every)));
	struct loop_job job = {.steps = end - s->step,
	        .record = update_record,
	        .result = update_result,
	        .tick = update_tick,
	        .ctx = s};
	uint64_t done;

	s->base = s->step;
	int err = loop_run(&s->update, &job, &done);
	s->step = s->base + done;
	return err;
}

static int run(struct session *s)
{
	uint64_t steps = s->config.schedule.steps, saved = s->from[0] ? s->step : UINT64_MAX;
	int err = 0;

	report_event(&s->report, s->from[0] ? "resume" : "start", s->step,
	        s->from[0] ? s->from : s->config.model.preset);
	if (s->step >= steps)
		report_note(&s->report,
		        "nothing to do: %s has %" PRIu64 " of %" PRIu64 " steps done", s->from,
		        s->step, steps);
	else if (!s->from[0])
		err = evaluate(s);

	while (!err && s->step < steps && !stop_wanted()) {
		err = stretch(s);
		bool last = s->step == steps || stop_wanted();
		if (!err && (s->step % s->eval_every == 0 || s->step == steps) && !stop_wanted())
			err = evaluate(s);
		if (!err && (last || s->step % s->save_every == 0) && s->step != saved) {
			err = save(s, last);
			saved = s->step;
		}
	}
	return err;
}

/* Why a run ended early, and what there is to go on from. */
static int explain(struct session *s, int err)
{
	collect_checkpoint(s, true);
	const char *newest = ckpt_newest(s->ckpt)[0] ? ckpt_newest(s->ckpt) : s->from;

	report_note(&s->report, "stopped after step %" PRIu64, s->step);
	fprintf(stderr, "trainer: %s\n", s->mount.why);
	fprintf(stderr, "trainer: %s%s\n",
	        newest[0] ? "go on with --resume from " : "there is no checkpoint to go on from",
	        newest);
	report_event(&s->report, "failed", s->step, s->mount.why);
	return err;
}

static void tear_down(struct session *s)
{
	loop_close(&s->update);
	loop_close(&s->eval);
	ckpt_free(s->ckpt);
	if (s->claimed && !s->o->keep)
		card_tidy(&s->mount, CARD_TRAIN);
	report_close(&s->report);
	model_free(s->model);
	stream_free(&s->train);
	stream_free(&s->held_out);
	tok_free(s->tok);
	free(s->record);
}

static int exit_code(const struct session *s, int err, bool ran)
{
	if (mount_gone(err))
		return EXIT_GONE;
	if (err == -EBUSY)
		return EXIT_BUSY;
	if (err)
		return ran && err == -EIO ? EXIT_STEP : EXIT_FAILED;
	if (s->failed_save || s->report.log_failed)
		return EXIT_FAILED;
	return stop_wanted() ? EXIT_SIGNAL + stop_wanted() : EXIT_OK;
}

int train(const struct options *o)
{
	struct session s = {.o = o,
	        .update = {.input = -1, .run = -1, .loss = -1},
	        .eval = {.input = -1, .run = -1, .loss = -1}};
	bool ran = false;

	stop_install();
	int err = mount_open(&s.mount, o->gpu);
	if (err)
		mount_err(&s, err);
	if (!err)
		err = train_settle(&s);
	if (!err)
		err = train_read_data(&s);
	if (!err)
		err = train_make_model(&s);
	if (!err)
		err = set_up_card(&s);
	if (!err)
		err = open_outputs(&s);
	if (!err) {
		ran = true;
		err = run(&s);
		if (err)
			explain(&s, err);
	}
	tear_down(&s);
	return exit_code(&s, err, ran);
}
