/* nodes_plans.c - plans/: its folder and what a resident plan shows. Loading: plan_load.c; run and
 * input: nodes_plan_io.c.
 */
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"
#include "device/name.h"
#include "fs/blob.h"
#include "fs/keep_large.h"
#include "fs/nodes.h"
#include "fs/owners.h"
#include "fs/plan_load.h"
#include "fs/plans.h"

#define LOSS_BYTES (256u << 20) /* 10 million steps and more */

struct plan_file *plan_file_find(struct fs *fs, const char *name)
{
	for (struct plan_file *f = fs->plans; f; f = f->next)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

static struct plan_file *file_of(struct node *n)
{
	return n->obj;
}

/* A node of the folder is gone for good. */
static void plan_node_destroy(struct fs *fs, struct node *n)
{
	struct plan_file *f = n->obj;

	(void)fs;
	if (!f || --f->refs)
		return;
	growing_fini(&f->loss);
	free(f);
}

static const char *state_word(enum plan_state state)
{
	switch (state) {
	case PLAN_RESIDENT: return "resident";
	case PLAN_RUNNING: return "running";
	case PLAN_FAILED: break;
	}
	return "failed";
}

static int status_text(struct fs *fs, struct node *n, struct text *out)
{
	struct plan_file *f = file_of(n);
	struct plan_status s = {.state = PLAN_FAILED};

	(void)fs;
	if (f->plan)
		plan_read_status(f->plan, &s);
	const char *error = s.error[0] ? s.error : f->why[0] ? f->why : "-";

	text_key(out, "state", "%s", state_word(s.state));
	text_key(out, "steps_done", "%" PRIu64, s.steps_done);
	text_key(out, "steps_queued", "%" PRIu64, s.steps_queued);
	text_key(out, "steps_failed", "%" PRIu64, s.steps_failed);
	text_key(out, "input_slots", "%u", PLAN_SLOTS);
	text_key(out, "input_free", "%u", s.input_free);
	text_key(out, "input_bytes", "%zu", s.input_bytes);
	text_key(out, "phase", "%u", s.phase);
	text_key(out, "loss", "%.9g", (double)s.last_loss);
	text_key(out, "grad_norm", "%.9g", (double)s.last_grad_norm);
	text_key(out, "card_clock", "%" PRIu64, s.last_clock);
	text_key(out, "vram_bytes", "%" PRIu64, s.vram_bytes);
	text_key(out, "dispatches", "%u", s.dispatches);
	text_key(out, "error", "%s", error);
	return 0;
}

const struct node_ops plan_status_ops = {.text = status_text, .destroy = plan_node_destroy};

static struct growing *loss_growing(struct fs *fs, struct node *n)
{
	(void)fs;
	return &file_of(n)->loss;
}

const struct node_ops plan_loss_ops = {.growing = loss_growing, .destroy = plan_node_destroy};
const struct node_ops plan_pm4_ops = {.read = blob_read, .destroy = blob_destroy};

/* fs->lock held. */
static int add_node(struct fs *fs, struct plan_file *f, enum node_id type)
{
	struct node *n = tree_add_default(fs, f->dir, type);

	if (!n)
		return -ENOMEM;
	n->obj = f;
	f->refs++;
	return 0;
}

struct plan_file *plan_file_new(struct fs *fs, const char *name)
{
	struct plan_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	snprintf(f->name, sizeof(f->name), "%s", name);
	growing_init(&f->loss, LOSS_BYTES);
	f->refs = 1;
	fs_lock(fs);
	f->dir = tree_add(fs, fs->plans_dir, name, NODE_PLAN_DIR);
	bool ok = f->dir && add_node(fs, f, NODE_PLAN_STATUS) == 0;

	if (ok) {
		f->next = fs->plans;
		fs->plans = f;
	} else if (f->dir) {
		tree_unlink(fs, f->dir);
	}
	fs_unlock(fs);
	if (ok)
		return f;
	growing_fini(&f->loss);
	free(f);
	return NULL;
}

/* Take the folder away; whoever has a file of it open keeps an empty shell. */
void plan_file_remove(struct fs *fs, struct plan_file *f)
{
	for (struct plan_file **at = &fs->plans; *at; at = &(*at)->next)
		if (*at == f) {
			*at = f->next;
			break;
		}
	fs_lock(fs);
	f->plan = NULL;
	struct node *dir = f->dir, shell = {.obj = f};

	f->dir = NULL;
	tree_unlink(fs, dir);
	plan_node_destroy(fs, &shell); /* the list's reference */
	fs_unlock(fs);
}

bool plan_file_running(struct plan_file *f)
{
	struct plan_status s;

	if (!f->plan)
		return false;
	plan_read_status(f->plan, &s);
	return f->busy || s.state == PLAN_RUNNING;
}

int plan_file_unload(struct fs *fs, struct plan_file *f)
{
	if (plan_file_running(f))
		return rx_fail("fs", -EBUSY, "plan %s is running; write stop to its run file first",
		        f->name);
	int err = plan_unload(f->plan);

	if (err)
		return err;
	if (fs->rx)
		rx_forget(fs->rx, 'p', f->name);
	plan_file_remove(fs, f);
	return 0;
}

int plan_file_show(struct fs *fs, struct plan_file *f, struct plan *plan)
{
	static const enum node_id types[] = {NODE_PLAN_RUN, NODE_PLAN_INPUT, NODE_PLAN_LOSS};
	int err = 0;

	fs_lock(fs);
	f->plan = plan;
	for (size_t i = 0; !err && i < ARRAY_SIZE(types); i++)
		err = add_node(fs, f, types[i]);
	fs_unlock(fs);
	return err;
}

void plan_file_failed(struct fs *fs, const char *name, const char *why)
{
	struct plan_file *f = plan_file_find(fs, name);

	if (!f)
		f = plan_file_new(fs, name);
	rx_log(LOG_ERROR, "fs", "plans/%s.json: %s", name, why);
	if (!f)
		return;
	fs_lock(fs);
	snprintf(f->why, sizeof(f->why), "%s", why);
	fs_unlock(fs);
}

static void stem_of(const char *file, char *out, size_t size)
{
	snprintf(out, size, "%.*s", (int)strlen(file) - 5, file); /* ".json" */
}

/* Removed while it was being loaded: nobody wants the plan any more. */
static int check_linked(struct request *r)
{
	fs_lock(r->fs);
	bool linked = r->node->linked;
	fs_unlock(r->fs);
	return linked ? 0 : -ENOENT;
}

static int json_flush(struct request *r)
{
	char name[65];

	atomic_store(&r->handle->dirty, false);
	if (check_linked(r) != 0 && !r->wait_for)
		return 0;
	fs_lock(r->fs);
	stem_of(r->node->name, name, sizeof(name));
	fs_unlock(r->fs);
	int err = plan_load_drive(r, r->node, name, check_linked);

	if (!err)
		keep_named(r->fs, r->node);
	return err;
}

const struct node_ops plan_json_ops = {
        .destroy = blob_destroy,
        .read = blob_read,
        .write = blob_write,
        .truncate = blob_truncate,
        .flush = json_flush,
};

static bool is_json(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && name[0] != '.' && !strcmp(name + n - 5, ".json");
}

static int type_of(const char *name)
{
	if (!is_json(name))
		return strlen(name) > 255 ? -ENAMETOOLONG : NODE_PLAN_SCRATCH;
	if (!rx_name_ok(name, strlen(name) - 5))
		return rx_fail(
		        "fs", -EINVAL, "plans/%s: names are 1 to 64 of A-Z a-z 0-9 . _ -", name);
	return NODE_PLAN_JSON;
}

static int plans_create(struct request *r)
{
	int type = type_of(r->name);

	fs_lock(r->fs);
	if (tree_find(r->node, r->name))
		type = -EEXIST;
	fs_unlock(r->fs);
	return type < 0 ? type : blob_create(r, (enum node_id)type);
}

static int plans_unlink(struct request *r)
{
	char name[65];

	if (node_is(r->child, NODE_PLAN_DIR))
		return -EISDIR;
	if (node_is(r->child, NODE_PLAN_JSON)) {
		stem_of(r->name, name, sizeof(name));
		struct plan_file *f = plan_file_find(r->fs, name);
		int err = f ? plan_file_unload(r->fs, f) : 0;

		if (err)
			return err;
	}
	fs_lock(r->fs);
	if (r->child->linked)
		tree_unlink(r->fs, r->child);
	fs_unlock(r->fs);
	return 0;
}

/* Give @n its new name; what had it goes. */
static int move(struct request *r, enum node_id type)
{
	fs_lock(r->fs);
	struct node *target = tree_find(r->node, r->name2);

	if (target && target != r->child)
		tree_unlink(r->fs, target);
	blob_retype(r->fs, r->child, type);
	int err = tree_move(r->fs, r->child, r->node, r->name2);
	fs_unlock(r->fs);
	if (!err && type == NODE_PLAN_JSON)
		keep_named(r->fs, r->child);
	return err;
}

/* What the name in r->name2 would become. Return: enum node_id; -errno. */
static int rename_type(struct request *r)
{
	fs_lock(r->fs);
	struct node *target = tree_find(r->node, r->name2);
	bool linked = r->child->linked;
	fs_unlock(r->fs); /* only this thread changes the folder */
	if (!linked)
		return -ENOENT;
	if (!node_is(r->child, NODE_PLAN_SCRATCH))
		return -EPERM; /* a resident plan keeps its name */
	if (target && node_is(target, NODE_PLAN_DIR))
		return -EISDIR;
	return target && r->flags & RENAME_NOREPLACE ? -EEXIST : type_of(r->name2);
}

static int check_rename(struct request *r)
{
	return MIN(rename_type(r), 0);
}

static int plans_rename(struct request *r)
{
	char name[65];

	if (!strcmp(r->name, r->name2))
		return 0;
	int type = rename_type(r);

	if (type < 0 && !r->wait_for)
		return type;
	if (type == NODE_PLAN_SCRATCH)
		return move(r, NODE_PLAN_SCRATCH);
	stem_of(r->name2, name, sizeof(name));
	int err = plan_load_drive(r, r->child, name, check_rename);

	return err ? err : move(r, NODE_PLAN_JSON);
}

const struct node_ops plans_dir_ops = {
        .create = plans_create, .unlink = plans_unlink, .rename = plans_rename};

/* Load one again that an earlier owner of the card had, and let it go on counting. */
static int adopt(struct fs *fs, const struct rx_kept *k)
{
	RX_CLEANUP(free) void *json = NULL;
	char file[80];
	int err = rx_kept_note(fs->rx, k, &json);

	if (err)
		return err;
	snprintf(file, sizeof(file), "%.64s.json", k->name);
	fs_lock(fs);
	struct node *n = blob_add(fs, fs->plans_dir, file, NODE_PLAN_JSON, json, k->note_bytes);

	if (n)
		owner_apply(n, &k->owner);
	fs_unlock(fs);
	err = n ? plan_load_now(fs, k->name, json, k->note_bytes) : -ENOMEM;
	struct plan_file *f = err ? NULL : plan_file_find(fs, k->name);

	if (!f)
		return err;
	err = plan_set_steps_done(f->plan, k->steps_done);
	if (k->torn)
		plan_set_torn(f->plan, "killed by a restart");
	return err;
}

/* The next one that is not loaded again yet. */
static const struct rx_kept *next_found(struct fs *fs)
{
	const struct rx_kept *k = NULL;

	do
		k = rx_kept_next(fs->rx, 'p', k);
	while (k && !k->found);
	return k;
}

int plans_adopt(struct fs *fs)
{
	const struct rx_kept *k;
	int err = 0;

	while (err != -ENODEV && err != -ENOMEM && (k = next_found(fs)) != NULL) {
		struct rx_kept one = *k;

		err = adopt(fs, &one);
		k = next_found(fs);
		if (!k || strcmp(k->name, one.name) != 0)
			continue;
		rx_log(LOG_ERROR, "fs", "plans/%s.json is not resident any more: %s", one.name,
		        strerror(-err));
		rx_forget(fs->rx, 'p', one.name); /* not kept again: it is not loaded */
	}
	return err == -ENODEV || err == -ENOMEM ? err : 0;
}
