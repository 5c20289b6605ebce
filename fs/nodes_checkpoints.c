/* nodes_checkpoints.c - checkpoints/: the one snapshot area as a safetensors file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"
#include "fs/nodes.h"
#include "fs/owners.h"
#include "fs/plans.h"
#include "fs/verbs.h"

#define SUFFIX ".safetensors"

/* node->obj of a checkpoint; fs->lock. */
struct checkpoint {
	bool frozen; /* complete: readable, never written again */
};

static bool frozen(struct request *r)
{
	fs_lock(r->fs);
	struct checkpoint *c = r->node->obj;
	bool is = c->frozen;
	fs_unlock(r->fs);
	return is;
}

static bool stem_of(const char *file, char *out, size_t size)
{
	size_t n = strlen(file), s = strlen(SUFFIX);

	if (n <= s || strcmp(file + n - s, SUFFIX) != 0)
		return false;
	snprintf(out, size, "%.*s", (int)(n - s), file);
	return true;
}

static void checkpoint_destroy(struct fs *fs, struct node *n)
{
	(void)fs;
	free(n->obj);
}

/* fs->lock held. */
static struct node *add_node(struct fs *fs, const char *name, bool is_frozen, uint64_t size)
{
	char file[80];
	struct checkpoint *c = calloc(1, sizeof(*c));

	snprintf(file, sizeof(file), "%s" SUFFIX, name);
	struct node *n = c ? tree_add(fs, fs->checkpoints_dir, file, NODE_CHECKPOINT) : NULL;

	if (!n) {
		free(c);
		return NULL;
	}
	c->frozen = is_frozen;
	n->obj = c;
	n->size = size;
	return n;
}

void checkpoints_sync(struct fs *fs)
{
	struct snap_info info;
	char file[80];

	if (!fs->snap || fs->snap_orphan)
		return;
	snap_read_info(fs->snap, &info);
	if (!info.present || !info.complete)
		return;
	snprintf(file, sizeof(file), "%s" SUFFIX, info.name);
	fs_lock(fs);
	if (!tree_find(fs->checkpoints_dir, file)) {
		/* without memory: next time */
		struct node *n = add_node(fs, info.name, true, info.file_size);
		const struct rx_kept *k = rx_kept_find(fs->rx, 'c', info.name);

		if (n && k)
			owner_apply(n, &k->owner);
	}
	fs_unlock(fs);
}

void checkpoints_drop(struct fs *fs)
{
	fs_lock(fs);
	for (struct node *n = fs->checkpoints_dir->children, *next; n; n = next) {
		next = n->sibling;
		if (node_is(n, NODE_CHECKPOINT))
			tree_unlink(fs, n);
	}
	fs->snap_orphan = false;
	fs_unlock(fs);
}

static int checkpoint_create(struct request *r)
{
	char name[80];

	if (strlen(r->name) >= sizeof(name) || !stem_of(r->name, name, sizeof(name)))
		return rx_fail("fs", -EPERM, "checkpoints/ holds only NAME" SUFFIX);
	if (!r->fs->snap)
		return -ENODEV;
	int err = snap_upload_begin(r->fs->snap, name);

	if (err)
		return err;
	fs_lock(r->fs);
	r->child = add_node(r->fs, name, false, 0);
	if (r->child) {
		node_get(r->child);
		r->child->mode = r->mode;
		r->child->uid = r->uid;
		r->child->gid = r->gid;
	}
	fs_unlock(r->fs);
	if (r->child)
		return 0;
	snap_remove(r->fs->snap, name);
	return -ENOMEM;
}

/* Free the area that @n stands for. */
static int remove_area(struct fs *fs, struct node *n)
{
	char name[80];

	if (!fs->snap || !stem_of(n->name, name, sizeof(name)))
		return 0;
	int err = snap_remove(fs->snap, name);

	return err == -ENOENT ? 0 : err;
}

static int checkpoint_unlink(struct request *r)
{
	struct fs *fs = r->fs;

	if (!node_is(r->child, NODE_CHECKPOINT))
		return -EPERM;
	fs_lock(fs);
	bool open = r->child->opens != 0;
	fs_unlock(fs);
	int err = open ? 0 : remove_area(fs, r->child);

	if (err)
		return err;
	fs_lock(fs);
	fs->snap_orphan = open; /* whoever reads it may finish; then the area is freed */
	if (r->child->linked)
		tree_unlink(fs, r->child);
	fs_unlock(fs);
	return 0;
}

const struct node_ops checkpoints_dir_ops = {
        .create = checkpoint_create, .unlink = checkpoint_unlink};

static int checkpoint_open(struct request *r)
{
	bool writes = (r->flags & O_ACCMODE) != O_RDONLY;

	if (frozen(r))
		return writes ? -EPERM : 0;
	return -EBUSY; /* being uploaded by somebody */
}

static int checkpoint_read(struct request *r)
{
	char name[80];

	if (!r->fs->snap || !stem_of(r->node->name, name, sizeof(name)))
		return -ENODEV;
	if (!frozen(r))
		return -EBUSY;
	return snap_read(r->fs->snap, name, r->offset, r->data, r->size);
}

static int checkpoint_write(struct request *r)
{
	if (!r->fs->snap)
		return -ENODEV;
	if (frozen(r))
		return -EPERM;
	int err = snap_upload_append(r->fs->snap, r->offset, r->data, r->size);

	if (err)
		return err;
	fs_lock(r->fs);
	r->node->size = r->offset + r->size;
	node_touch(r->node);
	fs_unlock(r->fs);
	return (int)r->size;
}

static int checkpoint_truncate(struct request *r)
{
	return r->offset == r->node->size ? 0 : -EPERM;
}

/* An upload ends with its close; what is not a whole valid file is not kept. */
static int checkpoint_flush(struct request *r)
{
	struct fs *fs = r->fs;

	atomic_store(&r->handle->dirty, false);
	if (!fs->snap)
		return -ENODEV;
	int err = frozen(r) ? 0 : snap_upload_end(fs->snap);

	fs_lock(fs);
	if (!err)
		((struct checkpoint *)r->node->obj)->frozen = true;
	else if (r->node->linked)
		tree_unlink(fs, r->node);
	fs_unlock(fs);
	owner_keep(fs, r->node);
	return err;
}

static int checkpoint_release(struct request *r)
{
	struct fs *fs = r->fs;

	fs_lock(fs);
	bool last = r->node->opens == 1;
	bool gone = !r->node->linked || !((struct checkpoint *)r->node->obj)->frozen;
	fs_unlock(fs);
	if (!last || !gone)
		return 0;
	int err = remove_area(fs, r->node);

	fs_lock(fs);
	fs->snap_orphan = false;
	if (r->node->linked)
		tree_unlink(fs, r->node);
	fs_unlock(fs);
	return err;
}

const struct node_ops checkpoint_ops = {
        .destroy = checkpoint_destroy,
        .open = checkpoint_open,
        .read = checkpoint_read,
        .write = checkpoint_write,
        .truncate = checkpoint_truncate,
        .flush = checkpoint_flush,
        .release = checkpoint_release,
};

/* NAME and PLAN of a verb. */
struct target {
	struct fs *fs;
	struct plan_file *plan;
	char name[80];
};

static int find_target(void *ctx, char **argv, struct target *t)
{
	t->fs = ((struct request *)ctx)->fs;
	t->plan = plan_file_find(t->fs, argv[1]);
	if (!t->fs->snap)
		return -ENODEV;
	if (!t->plan || !t->plan->plan)
		return rx_fail("fs", -ENOENT, "no plan %s is loaded", argv[1]);
	if (!stem_of(argv[0], t->name, sizeof(t->name)))
		snprintf(t->name, sizeof(t->name), "%s", argv[0]);
	t->plan->busy++;
	return 0;
}

static int target_done(struct target *t, int err)
{
	t->plan->busy--;
	plan_file_collect(t->fs, t->plan);
	checkpoints_sync(t->fs);
	return err;
}

/* KEY=VALUE words for __metadata__; "step" and "plan" are the engine's. The words are cut in place.
 */
static int parse_meta(int argc, char **argv, struct st_meta *meta)
{
	for (int i = 0; i < argc; i++) {
		char *equals = strchr(argv[i], '=');

		if (!equals || equals == argv[i])
			return rx_fail("fs", -EINVAL, "\"%s\" is not KEY=VALUE", argv[i]);
		*equals = '\0';
		meta[i] = (struct st_meta){argv[i], equals + 1};
		if (!strcmp(meta[i].key, "step") || !strcmp(meta[i].key, "plan"))
			return rx_fail("fs", -EINVAL, "the key %s is taken", meta[i].key);
	}
	return 0;
}

/* The step under way may be a long one: the copy is made at its end, and the file appears then. */
static int saved(struct fs *fs, uint64_t since_ns)
{
	int err = fs->snap ? snap_save_result(fs->snap) : -ENODEV;

	if (err == -EINPROGRESS)
		err = now_ns() - since_ns < PLAN_BOUNDARY_MS * 1000000ull ? REQUEST_PARK : 0;
	if (err != REQUEST_PARK)
		checkpoints_sync(fs);
	return err;
}

/* Return: -EINPROGRESS it is done when the step under way ends. */
static int ask_to_save(struct request *r, int argc, char **argv)
{
	struct st_meta meta[VERBS_MAX_ARGS];
	struct target t;
	int err = parse_meta(argc - 2, argv + 2, meta);

	if (!err)
		err = find_target(r, argv, &t);
	if (err)
		return err;
	err = target_done(
	        &t, snap_save(t.fs->snap, t.name, t.plan->plan, meta, (unsigned)argc - 2));
	t.plan->next_service_ns = 0;
	return err;
}

static int verb_save(void *ctx, int argc, char **argv)
{
	struct request *r = ctx;
	bool asked = r->wait_for != 0;
	int err = asked ? saved(r->fs, r->wait_for) : ask_to_save(r, argc, argv);

	if (!asked && err == -EINPROGRESS) {
		r->wait_for = now_ns();
		return REQUEST_PARK;
	}
	if (err != REQUEST_PARK)
		r->wait_for = 0;
	return err;
}

static int verb_load(void *ctx, int argc, char **argv)
{
	struct target t;
	int err = find_target(ctx, argv, &t);

	(void)argc;
	return err ? err : target_done(&t, snap_load(t.fs->snap, t.name, t.plan->plan));
}

static const struct verb ctl_verbs[] = {
        {"save", 2, VERBS_MAX_ARGS, verb_save, "save NAME PLAN [KEY=VALUE...]",
                "freeze the plan's state at the next step; pairs go to __metadata__"},
        {"load", 2, 2, verb_load, "load NAME PLAN", "copy NAME" SUFFIX " into the plan's state"},
        {0},
};

const struct node_ops checkpoints_ctl_ops = {.verbs = ctl_verbs};
