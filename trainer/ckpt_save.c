/* ckpt_save.c - snapshot on the card, copy in a thread, rename. See ckpt.h; architecture.md of the
 * project, "Snapshots". */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trainer/ckpt.h"
#include "trainer/fnv.h"
#include "trainer/st.h"

#define CHUNK (64u << 10) /* live requests carry at most this: interface.md 4.3 */
#define SNAPSHOT_MS                                                                                \
	600000 /* the copy on the card is made at the end of a step, which may be long */
#define TMP_PREFIX ".tmp-step-"

struct ckpt {
	struct mount mount;
	char out[PATH_MAX], plan[64];
	const struct run_config *config;
	const struct model *model;
	const struct tokenizer *tok;
	char newest[PATH_MAX];
	char why[1024];
	bool under_way;
	pthread_t thread;
	pthread_mutex_t lock;
	/* of the copy under way; the thread's own but for over, which the lock guards */
	bool over;
	int verdict;
	uint64_t step;
	char snapshot[80], tmp[PATH_MAX], done[PATH_MAX];
	struct st_header source;
};

/* One safetensors file being written from ranges of the snapshot. */
struct part {
	struct st_tensor *tensors;
	unsigned n;
	uint64_t *from; /* where each tensor begins in the snapshot's data */
	struct file_sum sum;
};

static int say(struct ckpt *k, int err, const char *what, const char *name)
{
	snprintf(k->why, sizeof(k->why), "%s %.512s: %s", what, name, strerror(-err));
	return err;
}

static int file_in(struct ckpt *k, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", k->tmp, name) >= (int)sizeof(path))
		return say(k, -ENAMETOOLONG, "cannot create", name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	return fd < 0 ? say(k, -errno, "cannot create", path) : fd;
}

static int write_all(int fd, const void *data, size_t len)
{
	for (const char *p = data; len;) {
		ssize_t n = write(fd, p, len);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static int write_summed(int fd, struct file_sum *s, const void *data, size_t len)
{
	s->fnv = fnv1a(s->fnv, data, len);
	s->bytes += len;
	return write_all(fd, data, len);
}

/* @bytes of the snapshot at @at onto the end of @fd. */
static int copy_range(
        struct ckpt *k, int from, uint64_t at, uint64_t bytes, int fd, struct file_sum *s)
{
	char buf[CHUNK];

	while (bytes) {
		ssize_t n = pread(from, buf, bytes < CHUNK ? (size_t)bytes : CHUNK, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int err = mount_fail(&k->mount, n ? -errno : -ENODATA,
			        "cannot read checkpoints/%s.safetensors", k->snapshot);
			snprintf(k->why, sizeof(k->why), "%s", k->mount.why);
			return err;
		}
		int err = write_summed(fd, s, buf, (size_t)n);
		if (err)
			return say(k, err, "cannot write to", k->tmp);
		at += (uint64_t)n;
		bytes -= (uint64_t)n;
	}
	return 0;
}

static int write_part(struct ckpt *k, int from, struct part *p, const char *name)
{
	char step[24];
	const char *const meta[] = {"format", "pt", "step", step, NULL};
	uint8_t *head = NULL;
	size_t len = 0;
	int fd = file_in(k, name);

	if (fd < 0)
		return fd;
	snprintf(step, sizeof(step), "%" PRIu64, k->step);
	p->sum.fnv = FNV1A_START;
	int err = st_build(p->tensors, p->n, meta, &head, &len);
	if (!err)
		err = write_summed(fd, &p->sum, head, len);
	free(head);
	if (err)
		say(k, err, "cannot write to", k->tmp);
	for (unsigned i = 0; i < p->n && !err; i++)
		err = copy_range(k, from, k->source.header_size + p->from[i],
		        p->tensors[i].end - p->tensors[i].begin, fd, &p->sum);
	if (!err && fsync(fd))
		err = say(k, -errno, "cannot fsync", name);
	if (close(fd) && !err)
		err = say(k, -errno, "cannot close", name);
	return err;
}

/* The tensors of a file: those of the model with a prefix, found in the snapshot and as expected.
 */
static int add_tensors(struct ckpt *k, struct part *p, const char *prefix)
{
	for (unsigned i = 0; i < k->model->nparams; i++) {
		const struct param *q = &k->model->params[i];
		struct st_tensor want = st_float(prefix, q->name, q->ndims, q->shape);
		const struct st_tensor *t = st_find(&k->source, want.name);
		if (!t || strcmp(t->dtype, want.dtype) || t->ndims != want.ndims ||
		        memcmp(t->shape, want.shape, sizeof(want.shape))) {
			snprintf(k->why, sizeof(k->why),
			        "snapshot %s: tensor %s is missing or of another shape",
			        k->snapshot, want.name);
			return -EINVAL;
		}
		p->from[p->n] = t->begin;
		p->tensors[p->n++] = want;
	}
	return 0;
}

static int copy_tensors(struct ckpt *k, int from, struct run_state *s)
{
	struct part weights = {0}, moments = {0};
	struct part *const parts[] = {&weights, &moments};
	unsigned room = 2 * k->model->nparams;
	int err = 0;

	for (int i = 0; i < 2; i++) {
		parts[i]->tensors = calloc(room, sizeof(*parts[i]->tensors));
		parts[i]->from = calloc(room, sizeof(*parts[i]->from));
		if (!parts[i]->tensors || !parts[i]->from)
			err = say(k, -ENOMEM, "cannot copy", k->snapshot);
	}
	if (!err)
		err = add_tensors(k, &weights, "");
	if (!err)
		err = add_tensors(k, &moments, "optimizer.m.");
	if (!err)
		err = add_tensors(k, &moments, "optimizer.v.");
	if (!err)
		err = write_part(k, from, &weights, "model.safetensors");
	if (!err)
		err = write_part(k, from, &moments, "optimizer.safetensors");
	s->model = weights.sum;
	s->optimizer = moments.sum;
	for (int i = 0; i < 2; i++) {
		free(parts[i]->tensors);
		free(parts[i]->from);
	}
	return err;
}

/* Takes @text, which malloc made. */
static int write_text(struct ckpt *k, const char *name, char *text)
{
	int fd = text ? file_in(k, name) : say(k, -ENOMEM, "cannot write", name);

	if (fd < 0) {
		free(text);
		return fd;
	}
	int err = write_all(fd, text, strlen(text));
	if (!err && fsync(fd))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	free(text);
	return err ? say(k, err, "cannot write", name) : 0;
}

static int sync_path(struct ckpt *k, const char *dir, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return say(k, -ENAMETOOLONG, "cannot fsync", name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = fd < 0 || fsync(fd) ? -errno : 0;
	if (fd >= 0)
		close(fd);
	return err ? say(k, err, "cannot fsync", path) : 0;
}

static int write_small_files(struct ckpt *k, const struct run_state *s)
{
	int err = tok_save(k->tok, k->tmp);

	if (err)
		return say(k, err, "cannot save the tokenizer in", k->tmp);
	err = sync_path(k, k->tmp, "vocab.json");
	if (!err)
		err = sync_path(k, k->tmp, "merges.txt");
	if (!err)
		err = write_text(k, "config.json", gpt2_config_json(&k->config->model));
	return err ? err : write_text(k, "trainer.json", run_json(s));
}

/* The folder under its temporary name, durable. */
static int write_folder(struct ckpt *k, int from)
{
	struct run_state s = {.config = *k->config, .step = k->step};

	if (mkdir(k->tmp, 0755) && errno != EEXIST)
		return say(k, -errno, "cannot create", k->tmp);
	int err = st_read(&k->source, from, k->why, sizeof(k->why));
	if (err)
		return err;
	if (k->source.step != k->step) {
		snprintf(k->why, sizeof(k->why), "snapshot %s is of step %" PRIu64 ", not %" PRIu64,
		        k->snapshot, k->source.step, k->step);
		err = -EINVAL;
	}
	if (!err)
		err = copy_tensors(k, from, &s);
	if (!err)
		err = write_small_files(k, &s);
	st_free(&k->source);
	return err ? err : sync_path(k, k->tmp, ".");
}

/* A folder without folders in it. */
static void remove_flat(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[PATH_MAX];

	while (d && (e = readdir(d)))
		if (snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) < (int)sizeof(path))
			unlink(path); /* fails on . and .., as it should */
	if (d)
		closedir(d);
	rmdir(dir);
}

static int copy_snapshot(struct ckpt *k)
{
	int from = mount_file(&k->mount, O_RDONLY, "checkpoints/%s.safetensors", k->snapshot);

	if (from < 0) {
		snprintf(k->why, sizeof(k->why), "%s", k->mount.why);
		return from;
	}
	int err = write_folder(k, from);
	close(from);
	if (!err && rename(k->tmp, k->done))
		err = say(k, -errno, "cannot rename to", k->done);
	if (err)
		remove_flat(k->tmp); /* half a checkpoint only keeps the next one from its space */
	else
		err = sync_path(k, k->out, ".");
	int gone = mount_remove(&k->mount, 1000, "checkpoints/%s.safetensors", k->snapshot);
	if (gone && !err) {
		snprintf(k->why, sizeof(k->why), "%s", k->mount.why);
		err = gone;
	}
	return err;
}

static void *copier(void *arg)
{
	struct ckpt *k = arg;
	int verdict = copy_snapshot(k);

	pthread_mutex_lock(&k->lock);
	k->verdict = verdict;
	k->over = true;
	pthread_mutex_unlock(&k->lock);
	return NULL;
}

/* What a killed trainer left: OUT/.tmp-step-*, flat folders of ours only. */
static void clear_leftovers(const char *out)
{
	DIR *d = opendir(out);
	struct dirent *e;
	char dir[PATH_MAX];

	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, TMP_PREFIX, strlen(TMP_PREFIX)) &&
		        snprintf(dir, sizeof(dir), "%s/%s", out, e->d_name) < (int)sizeof(dir))
			remove_flat(dir);
	if (d)
		closedir(d);
}

int ckpt_new(struct ckpt **out, const struct ckpt_options *o, char *why, size_t why_size)
{
	if (mkdir(o->out, 0755) && errno != EEXIST) {
		snprintf(why, why_size, "cannot create %s: %s", o->out, strerror(errno));
		return -errno;
	}
	struct ckpt *k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->mount = *o->mount;
	snprintf(k->out, sizeof(k->out), "%s", o->out);
	snprintf(k->plan, sizeof(k->plan), "%s", o->plan);
	k->config = o->config;
	k->model = o->model;
	k->tok = o->tok;
	pthread_mutex_init(&k->lock, NULL);
	clear_leftovers(k->out);
	*out = k;
	return 0;
}

void ckpt_free(struct ckpt *k)
{
	if (!k)
		return;
	ckpt_collect(k, true);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

static int freeze(struct ckpt *k)
{
	char file[128];
	int err = mount_command(&k->mount, "checkpoints/ctl", "save %s %s", k->snapshot, k->plan);

	snprintf(file, sizeof(file), "checkpoints/%s.safetensors", k->snapshot);
	if (!err)
		err = mount_wait(&k->mount, file, SNAPSHOT_MS);
	if (err)
		snprintf(k->why, sizeof(k->why), "%s", k->mount.why);
	return err;
}

int ckpt_begin(struct ckpt *k, uint64_t step)
{
	if (k->under_way)
		return -EBUSY;
	k->step = step;
	k->over = false;
	snprintf(k->snapshot, sizeof(k->snapshot), "%s-%08" PRIu64, k->plan, step);
	if (snprintf(k->tmp, sizeof(k->tmp), "%s/" TMP_PREFIX "%08" PRIu64, k->out, step) >=
	                (int)sizeof(k->tmp) ||
	        snprintf(k->done, sizeof(k->done), "%s/step-%08" PRIu64, k->out, step) >=
	                (int)sizeof(k->done))
		return say(k, -ENAMETOOLONG, "checkpoints in", k->out);
	int err = freeze(k);
	if (err)
		return err;
	err = -pthread_create(&k->thread, NULL, copier, k);
	if (err)
		return say(k, err, "no thread to copy", k->snapshot);
	k->under_way = true;
	return 0;
}

int ckpt_collect(struct ckpt *k, bool wait)
{
	if (!k->under_way)
		return 0;
	pthread_mutex_lock(&k->lock);
	bool over = k->over;
	pthread_mutex_unlock(&k->lock);
	if (!over && !wait)
		return 0;
	pthread_join(k->thread, NULL);
	k->under_way = false;
	if (k->verdict)
		return k->verdict;
	snprintf(k->newest, sizeof(k->newest), "%s", k->done);
	return 1;
}

const char *ckpt_newest(const struct ckpt *k)
{
	return k->newest;
}

const char *ckpt_why(const struct ckpt *k)
{
	return k->why;
}
