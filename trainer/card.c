/* card.c - see card.h. */
#include "trainer/card.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trainer/plan_gen.h"

#define PATIENCE_MS 10000 /* steps of a killed client are cancelled at the next boundary */

static const char *const plans[] = {"init", "train", "eval", "sample"};
static const char *const buffers[] = {"params", "acts", "small", "grads", "m", "v"};

/* A live process holds `run` of its plans open; a killed one's is closed by the kernel. */
static int check_unused(struct mount *m, const char *prefix, const char *plan)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%.3900s/plans/%s-%s/run", m->root, prefix, plan);
	if (stat(path, &st))
		return 0;
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == EBUSY) {
		snprintf(m->why, sizeof(m->why),
		        "another program runs plan %s-%s on this mount; stop it first", prefix,
		        plan);
		return -EBUSY;
	}
	if (fd >= 0)
		close(fd);
	return 0;
}

/* Snapshots of ours that nobody will fetch. */
static int clear_snapshots(struct mount *m, const char *prefix)
{
	char path[PATH_MAX];
	size_t n = strlen(prefix);
	struct dirent *e;
	int err = 0;

	snprintf(path, sizeof(path), "%.4000s/checkpoints", m->root);
	DIR *d = opendir(path);
	if (!d)
		return mount_fail(m, -errno, "cannot list checkpoints");
	while (!err && (e = readdir(d)))
		if (!strncmp(e->d_name, prefix, n) && e->d_name[n] == '-')
			err = mount_remove(m, PATIENCE_MS, "checkpoints/%s", e->d_name);
	closedir(d);
	return err;
}

int card_claim(struct mount *m, const char *prefix)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]) && !err; i++)
		err = check_unused(m, prefix, plans[i]);
	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]) && !err; i++)
		err = mount_remove(m, PATIENCE_MS, "plans/%s-%s.json", prefix, plans[i]);
	for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]) && !err; i++)
		err = mount_remove(m, PATIENCE_MS, "buffers/%s.%s", prefix, buffers[i]);
	return err ? err : clear_snapshots(m, prefix);
}

int card_buffers(struct mount *m, const char *prefix, const struct model *model, bool train)
{
	const uint64_t floats[] = {model->nfloats, model->nacts, model->nsmall, model->nfloats,
	        model->nfloats, model->nfloats};
	char name[64];
	int err = 0;

	for (size_t i = 0; i < (train ? 6u : 3u) && !err; i++) {
		snprintf(name, sizeof(name), "%s.%s", prefix, buffers[i]);
		err = mount_buffer(m, name, floats[i] * sizeof(float));
	}
	return err;
}

int card_plan(struct mount *m, const char *prefix, const char *name, char *json)
{
	char full[64];

	if (!json) {
		snprintf(m->why, sizeof(m->why), "no memory for plan %s", name);
		return -ENOMEM;
	}
	snprintf(full, sizeof(full), "%s-%s", prefix, name);
	int err = mount_plan(m, full, json);
	free(json);
	return err;
}

int card_initialise(struct mount *m, const char *prefix, const struct model *model, uint64_t seed)
{
	const struct loop_job once = {.steps = 1};
	char name[64];
	struct loop loop;
	uint64_t done;
	int err = card_plan(m, prefix, "init", plan_init(model, prefix, seed));

	snprintf(name, sizeof(name), "%s-init", prefix);
	if (!err)
		err = loop_open(&loop, m, name, false);
	if (!err) {
		err = loop_run(&loop, &once, &done);
		loop_close(&loop);
	}
	return err ? err : mount_remove(m, PATIENCE_MS, "plans/%s.json", name);
}

void card_tidy(const struct mount *m, const char *prefix)
{
	struct mount quiet = *m;

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++)
		mount_remove(&quiet, 2000, "plans/%s-%s.json", prefix, plans[i]);
	for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++)
		mount_remove(&quiet, 2000, "buffers/%s.%s", prefix, buffers[i]);
}
