/* fs.h - the daemon's state. One lock, fs->lock, for the node tree and everything hanging on it; it
 * is never held while talking to the card. Who runs what: fs/threads.c.
 */
#ifndef FS_FS_H
#define FS_FS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "device/plan/kernels.h"
#include "device/ckpt/snapshot.h"
#include "device/rx580.h"
#include "fs/growing.h"
#include "fs/jobs.h"
#include "fs/tree.h"

/* A live request carries at most this much (interface.md 4.3: 0.33 s on the wire). */
#define FS_MAX_IO (64u << 10)

/* Deadlines of a request, interface.md 5: one of the card's, of the request, of everything. */
#define FS_REGISTER_MS 2000
#define FS_REQUEST_MS  5000
#define FS_TOTAL_MS    10000
/* Work at close answers after this time and goes on (interface.md 7.4). */
#define FS_CLOSE_MS 8000

#define FS_MAX_REQUESTS 256
#define FS_LOG_BYTES    (16u << 20) /* interface.md 6, `log` */

struct fuse_session;
struct options;
struct park;
struct compiler;

struct fs {
	const struct options *opt;
	pthread_mutex_t lock;

	struct rx580 *rx; /* used on the owner thread; replaced with the lock held */
	struct rx_kernels *kernels;
	struct snap *snap;

	struct node *nodes;     /* all of them */
	struct handle *handles; /* all open files */
	struct node *root, *buffers_dir, *kernels_dir, *plans_dir, *checkpoints_dir;
	uint64_t next_ino;
	struct plan_file *plans;      /* owner thread */
	struct plan_loading *loading; /* owner thread */
	bool snap_orphan;             /* a checkpoint was removed while it is still read */
	uint64_t scratch_bytes;       /* held by temporary names (nodes_kernels.c) */

	struct fuse_session *se;
	struct jobs *jobs;
	struct park *park;
	struct compiler *compiler;
	struct growing log;

	unsigned not_kept; /* files that the next owner of the card would not find (yet) */

	/* owner thread only */
	unsigned current_priority;
	bool hold; /* a job that must not be interrupted runs: fs_yield does nothing */
	uint64_t nested_model_ns;

	atomic_uint_fast64_t max_request_model_ns;
	atomic_uint request_ms; /* `ctl` timeout_ms */
	uint64_t started_ns;
	unsigned generation; /* what the cards before this one have counted */

	/* The latest sample; written by the owner with the lock held, all of it at once. */
	struct {
		uint64_t count;            /* looks taken, also in vain */
		int err;                   /* of the last one */
		struct rx_info info;       /* at that time */
		struct rx_sensors sensors; /* sample 0: never measured */
	} sample;
	uint64_t sample_asked_ns; /* main thread */
	unsigned sample_ms;       /* with the lock held */
	struct job sample_job;
	atomic_bool sampling; /* sample_job is queued or runs */
};

static inline void fs_lock(struct fs *fs)
{
	pthread_mutex_lock(&fs->lock);
}

static inline void fs_unlock(struct fs *fs)
{
	pthread_mutex_unlock(&fs->lock);
}

/* fs_read_info - rx_read_info, or state RX_GONE between the cards of a reset. fs->lock held. */
void fs_read_info(struct fs *fs, struct rx_info *out);
bool fs_card_gone(struct fs *fs); /* takes the lock */
/* fs_count_kept - @err of rx_keep, which has said why not. Takes the lock. */
void fs_count_kept(struct fs *fs, int err);

/* fs_init, fs_fini - everything but FUSE and threads; the card is opened in between by fs_card_open
 * and closed by fs_card_close, both on the owner thread. */
int fs_init(struct fs *fs, const struct options *opt);
void fs_fini(struct fs *fs);
int fs_card_open(struct fs *fs);
void fs_card_close(struct fs *fs);
/* fs_card_keep - before the last close: with -o keep what lives in VRAM stays for the next mount.
 */
void fs_card_keep(struct fs *fs);
/* fs_reset_card - close and open again: buffers, plans and snapshots are lost, kernels are kept.
 * Owner thread. Return: 0; -EBUSY a plan is loaded; errors of rx_open. */
int fs_reset_card(struct fs *fs);

/* fs_yield - rx_options.yield: run jobs strictly more urgent than the current one. */
void fs_yield(void *ctx);
/* fs_run_as - call @fn on the owner thread at a job priority and account its modelled time. */
int fs_run_as(struct fs *fs, unsigned priority, int (*fn)(void *ctx), void *ctx);
/* fs_run_job - the same with a job. */
void fs_run_job(struct fs *fs, struct job *job);
/* fs_tick - the owner's timer work. Return: milliseconds until the next. */
unsigned fs_tick(struct fs *fs);

#endif
