/* ckpt_load.c - find a checkpoint, check every byte, give it to the mount. See ckpt.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trainer/ckpt.h"
#include "trainer/fnv.h"
#include "trainer/st.h"

#define CHUNK    (64u << 10) /* live requests carry at most this: interface.md 4.3 */
#define MAX_JSON (1u << 20)

static bool is_checkpoint(const char *path)
{
	char file[PATH_MAX];
	struct stat st;

	return snprintf(file, sizeof(file), "%s/trainer.json", path) < (int)sizeof(file) &&
	       !stat(file, &st);
}

/* "step-NNNNNNNN" -> its number; -1 something else. */
static int64_t step_of(const char *name)
{
	char *end;

	if (strncmp(name, "step-", 5) || name[5] < '0' || name[5] > '9')
		return -1;
	long long n = strtoll(name + 5, &end, 10);
	return *end ? -1 : n;
}

int ckpt_find(const char *dir, char *path, char *why, size_t why_size)
{
	int64_t best = -1;
	char name[NAME_MAX + 1];
	struct dirent *e;

	snprintf(path, PATH_MAX, "%s", dir);
	if (is_checkpoint(dir))
		return 0;
	DIR *d = opendir(dir);
	if (!d) {
		snprintf(why, why_size, "%s: %s", dir, strerror(errno));
		return -errno;
	}
	while ((e = readdir(d)))
		if (step_of(e->d_name) > best) {
			best = step_of(e->d_name);
			snprintf(name, sizeof(name), "%s", e->d_name);
		}
	closedir(d);
	if (best < 0 || snprintf(path, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX) {
		snprintf(why, why_size, "%s holds no checkpoint (no folder step-NNNNNNNN)", dir);
		return -ENOENT;
	}
	return 0;
}

static int open_file(const char *path, const char *name, char *why, size_t why_size)
{
	char file[PATH_MAX];

	if (snprintf(file, sizeof(file), "%s/%s", path, name) >= (int)sizeof(file))
		return -ENAMETOOLONG;
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	int err = -errno;
	snprintf(why, why_size, "%s: %s", file, strerror(-err));
	return err;
}

static int check_size(
        const char *path, const char *name, uint64_t bytes, char *why, size_t why_size)
{
	struct stat st;
	int fd = open_file(path, name, why, why_size);

	if (fd < 0)
		return fd;
	int err = fstat(fd, &st) ? -errno : 0;
	close(fd);
	if (!err && (uint64_t)st.st_size != bytes) {
		snprintf(why, why_size, "%s/%s has %lld bytes, trainer.json says %" PRIu64, path,
		        name, (long long)st.st_size, bytes);
		err = -EINVAL;
	}
	return err;
}

int ckpt_read(const char *path, struct run_state *out, char *why, size_t why_size)
{
	char problem[256];
	int fd = open_file(path, "trainer.json", why, why_size);
	char *text = fd < 0 ? NULL : malloc(MAX_JSON);

	if (fd < 0)
		return fd;
	ssize_t n = text ? read(fd, text, MAX_JSON) : -1;
	close(fd);
	int err = n < 0 ? -EIO : run_parse(out, text, (size_t)n, problem, sizeof(problem));
	free(text);
	if (err) {
		snprintf(
		        why, why_size, "%s/trainer.json: %s", path, n < 0 ? "unreadable" : problem);
		return err;
	}
	err = check_size(path, "model.safetensors", out->model.bytes, why, why_size);
	return err ? err
	           : check_size(path, "optimizer.safetensors", out->optimizer.bytes, why, why_size);
}

/* One file of the checkpoint, open and checked. */
struct source {
	int fd;
	struct st_header head;
};

/* One upload: header built, tensors in order. */
struct upload {
	struct mount *m;
	const char *path;
	const struct run_state *state;
	const struct model *model;
	struct source weights, moments;
	struct st_tensor *tensors;
	const struct source **from;
	uint64_t *at; /* of each tensor in its file */
	unsigned n;
	char name[80]; /* in checkpoints/ of the mount */
};

static int check_sum(struct upload *u, const char *name, int fd, const struct file_sum *want)
{
	uint64_t h = FNV1A_START;
	char buf[CHUNK];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		h = fnv1a(h, buf, (size_t)n);
	if (!n && h == want->fnv)
		return 0;
	snprintf(u->m->why, sizeof(u->m->why), "%.600s/%s: %s", u->path, name,
	        n < 0 ? strerror(errno)
	              : "its checksum is not the one in trainer.json; the file is damaged");
	return n < 0 ? -errno : -EINVAL;
}

static int open_source(
        struct upload *u, struct source *s, const char *name, const struct file_sum *sum)
{
	char why[256];

	s->fd = open_file(u->path, name, u->m->why, sizeof(u->m->why));
	if (s->fd < 0)
		return s->fd;
	int err = check_sum(u, name, s->fd, sum);
	if (err)
		return err;
	err = st_read(&s->head, s->fd, why, sizeof(why));
	if (err)
		snprintf(u->m->why, sizeof(u->m->why), "%.600s/%s: %s", u->path, name,
		        err == -EINVAL ? why : strerror(-err));
	else if (s->head.step != u->state->step) {
		snprintf(u->m->why, sizeof(u->m->why),
		        "%.600s/%s is of step %" PRIu64 ", trainer.json of step %" PRIu64, u->path,
		        name, s->head.step, u->state->step);
		err = -EINVAL;
	}
	return err;
}

static int take_tensors(struct upload *u, const struct source *s, const char *prefix)
{
	for (unsigned i = 0; i < u->model->nparams; i++) {
		const struct param *p = &u->model->params[i];
		struct st_tensor want = st_float(prefix, p->name, p->ndims, p->shape);
		const struct st_tensor *t = st_find(&s->head, want.name);
		if (!t || strcmp(t->dtype, "F32") || t->ndims != want.ndims ||
		        memcmp(t->shape, want.shape, sizeof(want.shape))) {
			snprintf(u->m->why, sizeof(u->m->why),
			        "%.600s: tensor %s is missing or of another dtype or shape",
			        u->path, want.name);
			return -EINVAL;
		}
		u->from[u->n] = s;
		u->at[u->n] = s->head.header_size + t->begin;
		u->tensors[u->n++] = want;
	}
	return 0;
}

static int gather(struct upload *u, bool optimizer)
{
	unsigned room = 3 * u->model->nparams;
	int err = open_source(u, &u->weights, "model.safetensors", &u->state->model);

	if (!err && optimizer)
		err = open_source(u, &u->moments, "optimizer.safetensors", &u->state->optimizer);
	if (err)
		return err;
	u->tensors = calloc(room, sizeof(*u->tensors));
	u->from = calloc(room, sizeof(*u->from));
	u->at = calloc(room, sizeof(*u->at));
	if (!u->tensors || !u->from || !u->at)
		return -ENOMEM;
	err = take_tensors(u, &u->weights, "");
	if (!err && optimizer)
		err = take_tensors(u, &u->moments, "optimizer.m.");
	if (!err && optimizer)
		err = take_tensors(u, &u->moments, "optimizer.v.");
	return err;
}

static int put(struct upload *u, int fd, const void *data, size_t len)
{
	for (const char *p = data; len;) {
		ssize_t n = write(fd, p, len < CHUNK ? len : CHUNK);
		if (n < 0 && errno != EINTR)
			return mount_fail(
			        u->m, -errno, "checkpoints/%s.safetensors was refused", u->name);
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static int put_tensor(struct upload *u, int fd, unsigned i)
{
	uint64_t left = u->tensors[i].end - u->tensors[i].begin, at = u->at[i];
	char buf[CHUNK];
	int err = 0;

	while (left && !err) {
		ssize_t n =
		        pread(u->from[i]->fd, buf, left < CHUNK ? (size_t)left : CHUNK, (off_t)at);
		if (n <= 0) {
			snprintf(u->m->why, sizeof(u->m->why), "%.600s: cannot read tensor %s",
			        u->path, u->tensors[i].name);
			return -EIO;
		}
		err = put(u, fd, buf, (size_t)n);
		at += (uint64_t)n;
		left -= (uint64_t)n;
	}
	return err;
}

static int send(struct upload *u, const char *plan)
{
	char step[24];
	const char *const meta[] = {"step", step, NULL};
	uint8_t *head = NULL;
	size_t len = 0;

	snprintf(step, sizeof(step), "%" PRIu64, u->state->step);
	int err = st_build(u->tensors, u->n, meta, &head, &len);
	int fd = err ? err
	             : mount_file(u->m, O_WRONLY | O_CREAT | O_EXCL, "checkpoints/%s.safetensors",
	                       u->name);
	if (fd < 0) {
		free(head);
		return fd;
	}
	err = put(u, fd, head, len);
	free(head);
	for (unsigned i = 0; i < u->n && !err; i++)
		err = put_tensor(u, fd, i);
	if (close(fd) && !err)
		err = mount_fail(u->m, -errno, "checkpoints/%s.safetensors was refused", u->name);
	if (!err)
		err = mount_command(u->m, "checkpoints/ctl", "load %s %s", u->name, plan);
	struct mount quiet = *u->m; /* the first failure is the one to tell */
	int gone = mount_remove(&quiet, 1000, "checkpoints/%s.safetensors", u->name);
	return err ? err : gone;
}

int ckpt_upload(struct mount *m, const char *path, const struct run_state *s,
        const struct model *model, bool optimizer, const char *plan)
{
	struct upload u = {.m = m,
	        .path = path,
	        .state = s,
	        .model = model,
	        .weights.fd = -1,
	        .moments.fd = -1};
	int err = gather(&u, optimizer);

	snprintf(u.name, sizeof(u.name), "%.64s-restore", plan);
	if (!err)
		err = send(&u, plan);
	if (err == -ENOMEM)
		snprintf(m->why, sizeof(m->why), "no memory to load %.600s", path);
	st_free(&u.weights.head);
	st_free(&u.moments.head);
	if (u.weights.fd >= 0)
		close(u.weights.fd);
	if (u.moments.fd >= 0)
		close(u.moments.fd);
	free(u.tensors);
	free(u.from);
	free(u.at);
	return err;
}
