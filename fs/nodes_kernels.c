/* nodes_kernels.c - kernels/: sources are compiled when they are closed after writing, products
 * appear beside them; any other name is a temporary file of an editor or atomic writer.
 */
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/compile/code_object.h"
#include "device/err.h"
#include "device/name.h"
#include "fs/blob.h"
#include "fs/compiler.h"
#include "fs/keep_large.h"
#include "fs/kernels.h"
#include "fs/nodes.h"

void kernel_sibling(const char *name, const char *suffix, char *out, size_t size)
{
	snprintf(out, size, "%.*s%s", (int)strlen(name) - 3, name, suffix);
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t n = strlen(name), s = strlen(suffix);

	return n > s && !strcmp(name + n - s, suffix);
}

/* Replace or add a product: always a new node, so that who has the old one open keeps it. */
static int publish(struct fs *fs, const char *name, const char *suffix, enum node_id type,
        const void *data, size_t len)
{
	char other[80];

	kernel_sibling(name, suffix, other, sizeof(other));
	struct node *old = tree_find(fs->kernels_dir, other);

	if (old)
		tree_unlink(fs, old);
	return !data || blob_add(fs, fs->kernels_dir, other, type, data, len) ? 0 : -ENOMEM;
}

void kernel_publish_log(struct fs *fs, const char *name, const char *text)
{
	char other[80];

	kernel_sibling(name, ".log", other, sizeof(other));
	struct node *n = tree_find(fs->kernels_dir, other);

	if (!n)
		n = blob_add(fs, fs->kernels_dir, other, NODE_KERNEL_LOG, "", 0);
	/* a diagnostic that does not fit is cut, not lost */
	if (n)
		blob_set(fs, n, text, MIN(strlen(text), SOURCE_MAX));
}

int kernel_install(struct fs *fs, const char *name, const void *elf, size_t len, bool own,
        char *why, size_t why_size)
{
	struct code_object *co = NULL;
	char stem[80];
	int err = code_object_parse(elf, len, &co, why, why_size);

	if (err)
		return err;
	kernel_sibling(name, "", stem, sizeof(stem));
	RX_CLEANUP(free) char *json = code_object_json(co);

	code_object_free(co);
	if (!json)
		return -ENOMEM;
	if (fs->kernels)
		err = rx_module_put(fs->kernels, stem, elf, len, why, why_size);
	if (err == -EBUSY)
		snprintf(why, why_size, "%s is in use by a loaded plan; remove the plan first",
		        stem);
	if (err)
		return err;
	fs_lock(fs);
	err = publish(fs, name, ".json", NODE_KERNEL_JSON, json, strlen(json));
	if (!err && own)
		err = publish(fs, name, ".co", NODE_KERNEL_CO, elf, len);
	fs_unlock(fs);
	return err;
}

/* What did not compile must not look compiled. */
static void withdraw(struct fs *fs, const char *name)
{
	char stem[80], object[80];

	kernel_sibling(name, "", stem, sizeof(stem));
	if (fs->kernels && rx_module_remove(fs->kernels, stem) == -EBUSY)
		return;
	kernel_sibling(name, ".co", object, sizeof(object));
	kernel_forget(fs, object);
	fs_lock(fs);
	publish(fs, name, ".co", NODE_KERNEL_CO, NULL, 0);
	publish(fs, name, ".json", NODE_KERNEL_JSON, NULL, 0);
	fs_unlock(fs);
}

static void keep_compiled(struct fs *fs, const struct compile_task *t, const char *name)
{
	char object[80];

	kernel_sibling(name, ".co", object, sizeof(object));
	kernel_keep(fs, name, t->source, t->len);
	kernel_keep(fs, object, t->result.elf, t->result.elf_size);
}

static int verdict_of(struct fs *fs, struct compile_task *t, const char *name)
{
	struct text log = {0};
	char why[256] = "";
	int err = t->err;

	if (t->result.log)
		text_printf(&log, "%s", t->result.log);
	if (!err)
		err = kernel_install(
		        fs, name, t->result.elf, t->result.elf_size, true, why, sizeof(why));
	else if (!log.len)
		snprintf(why, sizeof(why), "%s", strerror(-err));
	if (why[0])
		text_printf(&log, "%s: error: %s\n", name, why);
	if (err == -EINVAL)
		withdraw(fs, name);
	fs_lock(fs);
	kernel_publish_log(fs, name, log.data ? log.data : "");
	fs_unlock(fs);
	text_free(&log);
	if (!err)
		keep_compiled(fs, t, name);
	return err;
}

/* The compiler is done with a source; owner thread. */
static void compile_done(struct job *job)
{
	struct compile_task *t = (struct compile_task *)job; /* job is the first member */
	struct fs *fs = t->fs;
	struct blob *b = t->node->obj;

	fs_lock(fs);
	bool wanted = t->node->linked && node_is(t->node, NODE_KERNEL_CL) && t->seq == b->started;
	RX_CLEANUP(free) char *name = wanted ? strdup(t->node->name) : NULL;
	fs_unlock(fs);
	int err = name ? verdict_of(fs, t, name) : -ECANCELED;

	fs_lock(fs);
	b->compiled = MAX(b->compiled, t->seq);
	if (name)
		b->verdict = err;
	fs_unlock(fs);
	compile_task_free(t);
}

static struct compile_task *task_new(struct fs *fs, struct node *n)
{
	struct compile_task *t = calloc(1, sizeof(*t));
	struct blob *b = n->obj;

	if (!t)
		return NULL;
	t->fs = fs;
	t->job.run = compile_done;
	t->job.priority = JOB_INTERACTIVE;
	fs_lock(fs);
	node_get(n);
	t->node = n;
	t->file = strdup(n->name);
	t->source = malloc(b->len + 1);
	if (t->source) {
		if (b->len)
			memcpy(t->source, b->data, b->len);
		t->source[b->len] = '\0';
		t->len = b->len;
	}
	t->seq = b->seq;
	fs_unlock(fs);
	if (t->file && t->source)
		return t;
	compile_task_free(t);
	return NULL;
}

/* Give the source to the compiler. @seq: what to wait for. Return: 0; -EAGAIN its queue is full. */
static int start_compile(struct fs *fs, struct node *n, uint64_t *seq)
{
	struct compile_task *t = task_new(fs, n);

	if (!t)
		return -ENOMEM;
	*seq = t->seq;
	fs_lock(fs);
	uint64_t before = blob_of(n)->started;

	blob_of(n)->started = t->seq;
	fs_unlock(fs);
	if (compiler_put(fs->compiler, t) == 0)
		return 0;
	fs_lock(fs);
	blob_of(n)->started = before;
	fs_unlock(fs);
	compile_task_free(t);
	*seq = 0;
	return -EAGAIN;
}

/* Compile @n on behalf of @r and wait, but not past FS_CLOSE_MS: then the verdict comes in .log. */
static int compile_and_wait(struct request *r, struct node *n)
{
	if (!r->wait_for) {
		int err = start_compile(r->fs, n, &r->wait_for);

		if (err)
			return err == -EAGAIN && request_age_ms(r) < FS_CLOSE_MS ? REQUEST_PARK
			                                                         : err;
	}
	fs_lock(r->fs);
	bool done = blob_of(n)->compiled >= r->wait_for;
	int verdict = blob_of(n)->verdict;
	fs_unlock(r->fs);
	if (done)
		return verdict;
	return request_age_ms(r) < FS_CLOSE_MS ? REQUEST_PARK : 0;
}

static int cl_flush(struct request *r)
{
	int result = compile_and_wait(r, r->node);

	if (r->wait_for)
		atomic_store(&r->handle->dirty, false);
	return result;
}

/* A source that was only truncated: nobody waits for the verdict. */
static int cl_release(struct request *r)
{
	struct blob *b = r->node->obj;
	uint64_t seq;

	fs_lock(r->fs);
	bool stale = r->node->linked && b->seq > b->started && b->started && r->node->opens == 1;
	fs_unlock(r->fs);
	return stale ? start_compile(r->fs, r->node, &seq) : 0;
}

const struct node_ops kernel_cl_ops = {
        .destroy = blob_destroy,
        .read = blob_read,
        .write = blob_write,
        .truncate = blob_truncate,
        .flush = cl_flush,
        .release = cl_release,
};

/* A ready-made code object: @name as it will be called. */
static int check_dropped(struct fs *fs, struct node *n, const char *name)
{
	char why[256] = "";
	size_t len = 0;
	RX_CLEANUP(free) char *elf = blob_copy(fs, n, &len);

	if (!elf)
		return -ENOMEM;
	int err = kernel_install(fs, name, elf, len, false, why, sizeof(why));
	struct text log = {0};

	if (err)
		text_printf(&log, "%s: error: %s\n", name, why[0] ? why : strerror(-err));
	fs_lock(fs);
	kernel_publish_log(fs, name, log.data ? log.data : "");
	fs_unlock(fs);
	text_free(&log);
	if (!err)
		kernel_keep(fs, name, elf, len);
	return err;
}

static int co_flush(struct request *r)
{
	fs_lock(r->fs);
	RX_CLEANUP(free) char *name = r->node->linked ? strdup(r->node->name) : NULL;
	fs_unlock(r->fs);
	atomic_store(&r->handle->dirty, false);
	return name ? check_dropped(r->fs, r->node, name) : 0;
}

const struct node_ops kernel_co_ops = {
        .destroy = blob_destroy,
        .read = blob_read,
        .write = blob_write,
        .truncate = blob_truncate,
        .flush = co_flush,
};

const struct node_ops kernel_log_ops = {
        .text = blob_text, .version = blob_version, .destroy = blob_destroy};
const struct node_ops kernel_json_ops = {
        .text = blob_text, .version = blob_version, .destroy = blob_destroy};
/* What a file called @name is. Return: its type; -EINVAL a bad kernel name; -EPERM a product;
 * -EEXIST a code object whose source is here. fs->lock held. */
static int type_of(struct fs *fs, const char *name)
{
	char source[80];

	if (has_suffix(name, ".log") || has_suffix(name, ".json"))
		return -EPERM;
	if (!has_suffix(name, ".cl") && !has_suffix(name, ".co"))
		return strlen(name) > 255 ? -ENAMETOOLONG : NODE_SCRATCH;
	if (name[0] == '.') /* rsync and others put a dot in front of the final name */
		return NODE_SCRATCH;
	if (!rx_name_ok(name, strlen(name) - 3))
		return rx_fail(
		        "fs", -EINVAL, "kernels/%s: names are 1 to 64 of A-Z a-z 0-9 . _ -", name);
	if (has_suffix(name, ".cl"))
		return NODE_KERNEL_CL;
	kernel_sibling(name, ".cl", source, sizeof(source));
	return tree_find(fs->kernels_dir, source) ? -EEXIST : NODE_KERNEL_CO;
}

static int kernel_create(struct request *r)
{
	struct fs *fs = r->fs;

	fs_lock(fs);
	int type = tree_find(r->node, r->name) ? -EEXIST : type_of(fs, r->name);

	fs_unlock(fs);
	return type < 0 ? type : blob_create(r, (enum node_id)type);
}

/* Take @n out of the folder; a code object is also taken from the card. */
static int remove_file(struct fs *fs, struct node *n)
{
	char stem[80];
	int err = 0;

	if (node_is(n, NODE_KERNEL_CO) && fs->kernels) {
		kernel_sibling(n->name, "", stem, sizeof(stem));
		err = rx_module_remove(fs->kernels, stem);
	}
	if (err && err != -ENOENT)
		return err;
	if (node_is(n, NODE_KERNEL_CL) || node_is(n, NODE_KERNEL_CO))
		kernel_forget(fs, n->name);
	fs_lock(fs);
	if (n->linked)
		tree_unlink(fs, n);
	fs_unlock(fs);
	compiler_forget(fs->compiler, n);
	return 0;
}

static int kernel_unlink(struct request *r)
{
	return remove_file(r->fs, r->child);
}

/* Whether @n may be called what it is to be called. Return: new type; -errno. */
static int rename_type(struct request *r, struct node *n, struct node *target)
{
	struct fs *fs = r->fs;

	if (target && r->flags & RENAME_NOREPLACE)
		return -EEXIST;
	if (!node_is(n, NODE_SCRATCH) && !node_is(n, NODE_KERNEL_CL))
		return -EPERM;
	int type = type_of(fs, r->name2);

	if (type == NODE_KERNEL_CO && node_is(n, NODE_KERNEL_CL))
		return -EINVAL;
	if (type == NODE_KERNEL_CL && blob_of(n)->len > SOURCE_MAX)
		return -EFBIG;
	if (type == NODE_SCRATCH && !node_is(n, NODE_SCRATCH) &&
	        blob_of(n)->len > SCRATCH_MAX - fs->scratch_bytes)
		return -ENOSPC;
	return type;
}

static int move_file(struct request *r, struct node *target, enum node_id type)
{
	struct fs *fs = r->fs;
	int err = type == NODE_KERNEL_CO ? check_dropped(fs, r->child, r->name2) : 0;

	if (!err && target && target->linked) {
		fs_lock(fs);
		tree_unlink(fs, target); /* its module, if it is one, was replaced just now */
		fs_unlock(fs);
	}
	if (err)
		return err;
	if (node_is(r->child, NODE_KERNEL_CL))
		kernel_forget(fs, r->child->name);
	fs_lock(fs);
	blob_retype(fs, r->child, type);
	err = tree_move(fs, r->child, r->node, r->name2);
	fs_unlock(fs);
	if (!err && type == NODE_KERNEL_CO)
		keep_named(fs, r->child);
	return err;
}

static int kernel_rename(struct request *r)
{
	if (!r->offset) {
		fs_lock(r->fs);
		struct node *target = tree_find(r->node, r->name2);
		int type = target == r->child ? -ECANCELED : rename_type(r, r->child, target);
		fs_unlock(r->fs); /* only this thread changes the folder */

		if (type == -ECANCELED)
			return 0; /* to itself */
		int err = type < 0 ? type : move_file(r, target, (enum node_id)type);

		if (err || type != NODE_KERNEL_CL)
			return err;
		r->offset = 1; /* moved; what is left is to wait */
	}
	/* the rename is done whatever the compiler says */
	return compile_and_wait(r, r->child) == REQUEST_PARK ? REQUEST_PARK : 0;
}

const struct node_ops kernels_dir_ops = {
        .create = kernel_create, .unlink = kernel_unlink, .rename = kernel_rename};
