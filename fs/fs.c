/* fs.c - see fs.h. */
#include "fs/fs.h"

#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"
#include "fs/compiler.h"
#include "fs/nodes.h"
#include "fs/options.h"
#include "fs/park.h"
#include "fs/plan_load.h"

void fs_read_info(struct fs *fs, struct rx_info *out)
{
	if (fs->rx) {
		rx_read_info(fs->rx, out);
		out->generation += fs->generation;
	} else {
		*out = (struct rx_info){.state = RX_GONE, .generation = fs->generation};
	}
}

bool fs_card_gone(struct fs *fs)
{
	struct rx_info info;

	fs_lock(fs);
	fs_read_info(fs, &info);
	fs_unlock(fs);
	return info.state == RX_GONE;
}

void fs_count_kept(struct fs *fs, int err)
{
	fs_lock(fs);
	fs->not_kept += err != 0;
	fs_unlock(fs);
}

/* The log's lock is held: only memory and an eventfd. */
static void log_line(void *ctx, enum log_level level, const char *line, int len)
{
	struct fs *fs = ctx;

	(void)level;
	growing_append(&fs->log, line, (size_t)len);
	if (fs->park)
		park_kick(fs->park);
}

int fs_init(struct fs *fs, const struct options *opt)
{
	*fs = (struct fs){.opt = opt, .started_ns = now_ns(), .sample_ms = opt->sample_ms};
	fs->current_priority = JOB_BACKGROUND + 1;
	atomic_store(&fs->request_ms, FS_REQUEST_MS);
	pthread_mutex_init(&fs->lock, NULL);
	growing_init(&fs->log, FS_LOG_BYTES);
	fs->park = park_new(fs);
	/* more than live requests: compiles that may report back, the sample */
	fs->jobs = jobs_new(FS_MAX_REQUESTS + COMPILER_QUEUE + 3);
	fs->compiler = compiler_new(fs);
	if (!fs->park || !fs->jobs || !fs->compiler || tree_build(fs) != 0)
		return rx_fail("fs", -ENOMEM, "no memory to start");
	rx_log_set_sink(log_line, fs);
	return 0;
}

void fs_fini(struct fs *fs)
{
	rx_log_set_sink(NULL, NULL);
	tree_free(fs);
	compiler_free(fs->compiler);
	jobs_free(fs->jobs);
	park_free(fs->park);
	growing_fini(&fs->log);
	pthread_mutex_destroy(&fs->lock);
}

/* adopt - what an earlier owner of the card left; plans last, they refer to all else. */
static int adopt(struct fs *fs)
{
	int err = buffers_adopt_attributes(fs);

	if (!err)
		err = kernels_adopt(fs);
	if (!err)
		err = snap_adopt(fs->snap);
	if (!err)
		err = plans_adopt(fs);
	return err;
}

static int open_parts(struct fs *fs, struct rx580 *rx)
{
	struct rx_kernels *kernels = NULL;
	struct snap *snap = NULL;
	int err = rx_kernels_new(&kernels, rx);

	if (!err)
		err = snap_new(&snap, rx);
	if (err) {
		rx_kernels_free(kernels);
		return err;
	}
	fs_lock(fs);
	fs->rx = rx;
	fs->kernels = kernels;
	fs->snap = snap;
	err = buffers_adopt(fs);
	fs_unlock(fs);
	if (!err)
		err = pci_build(fs);
	if (!err)
		err = adopt(fs);
	return err;
}

int fs_card_open(struct fs *fs)
{
	struct rx_options ro = {.card = fs->opt->card,
	        .vbios = fs->opt->vbios,
	        .firmware = fs->opt->firmware,
	        .no_dpm = fs->opt->no_dpm,
	        .no_attach = fs->opt->no_attach && !fs->generation,
	        .trace = fs->generation ? NULL : fs->opt->trace, /* it ends with a reset */
	        .yield = fs_yield,
	        .yield_ctx = fs};
	struct rx580 *rx = NULL;
	int err = rx_open(&rx, &ro);

	if (err)
		return err;
	err = open_parts(fs, rx);
	if (err && !fs->rx)
		rx_close(rx);
	if (err && fs->rx) {
		rx_keep_freeze(rx); /* for somebody who has more memory, or a better cable */
		fs_card_close(fs);
	}
	if (!err)
		sensors_sample(fs); /* before anybody can ask, and before there is work */
	return err;
}

void fs_card_keep(struct fs *fs)
{
	if (!fs->opt->keep || !fs->rx)
		return;
	plans_stop(fs);
	rx_keep_freeze(fs->rx);
}

void fs_card_close(struct fs *fs)
{
	buffers_drop(fs);
	checkpoints_drop(fs);
	plans_drop(fs);
	fs_lock(fs);
	struct rx580 *rx = fs->rx;
	struct rx_kernels *kernels = fs->kernels;
	struct snap *snap = fs->snap;

	fs->rx = NULL;
	fs->kernels = NULL;
	fs->snap = NULL;
	fs_unlock(fs);
	snap_free(snap); /* after plans_drop: a save that waits refers to its plan */
	rx_kernels_free(kernels);
	rx_close(rx);
}

int fs_reset_card(struct fs *fs)
{
	if (plans_loaded(fs))
		return rx_fail("fs", -EBUSY, "remove the loaded plans first");
	int err = fs->rx ? rx_may_reset(fs->rx) : 0;

	if (err)
		return err;
	struct rx_info info;

	fs_lock(fs);
	fs_read_info(fs, &info);
	fs->generation = info.generation; /* the next card's starts again at 1 */
	fs->not_kept = 0;
	fs_unlock(fs);
	fs_card_close(fs);
	err = fs_card_open(fs);

	if (!err)
		kernels_republish(fs);
	return err;
}

static void account_max(struct fs *fs, uint64_t own)
{
	uint64_t max = atomic_load(&fs->max_request_model_ns);

	while (own > max && !atomic_compare_exchange_weak(&fs->max_request_model_ns, &max, own)) {
	}
}

static uint64_t model_ns(struct fs *fs)
{
	return fs->rx ? rx_model_ns(fs->rx) : 0;
}

int fs_run_as(struct fs *fs, unsigned priority, int (*fn)(void *ctx), void *ctx)
{
	unsigned outer = fs->current_priority;
	uint64_t nested = fs->nested_model_ns, before = model_ns(fs);

	fs->current_priority = priority;
	fs->nested_model_ns = 0;
	int result = fn(ctx);

	fs->current_priority = outer;
	uint64_t after = model_ns(fs);
	uint64_t all = after > before ? after - before : 0; /* a reset starts the model again */

	account_max(fs, all - MIN(all, fs->nested_model_ns));
	fs->nested_model_ns = nested + all;
	return result;
}

static int run_job(void *ctx)
{
	struct job *job = ctx;

	job->run(job); /* frees it */
	return 0;
}

void fs_run_job(struct fs *fs, struct job *job)
{
	fs_run_as(fs, job->priority, run_job, job);
}

void fs_yield(void *ctx)
{
	struct fs *fs = ctx;
	struct job *job;

	if (fs->hold)
		return;
	while ((job = jobs_take_above(fs->jobs, fs->current_priority)) != NULL)
		fs_run_job(fs, job);
}

static int tick(void *ctx)
{
	struct fs *fs = ctx;

	checkpoints_sync(fs);
	return (int)plans_tick(fs);
}

unsigned fs_tick(struct fs *fs)
{
	/* as urgent as plan feeding: nobody may unload a plan while it is looked after */
	unsigned ms = (unsigned)fs_run_as(fs, JOB_FEED, tick, fs);

	park_retry(fs->park);
	plan_loads_sweep(fs);
	park_kick_polled(fs->park);
	return park_waiting(fs->park) ? MIN(ms, 50u) : ms;
}
