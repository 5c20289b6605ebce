/* tree.c - see tree.h. */
#include "fs/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/fs.h"
#include "fs/blob.h"
#include "fs/nodes.h"
#include "fs/options.h"
#include "fs/request.h"
#include "fs/verbs.h"

const struct node_type node_types[NODE_COUNT] = {
#define NODE(id, path, kind, mode, flags, size, align, poll, ops, help)                            \
	[NODE_##id] = {path, kind, mode, flags, size, align, poll, ops, help},
#include "fs/tree.def"
#undef NODE
};

void node_get(struct node *n)
{
	n->refs++;
}

void node_put(struct fs *fs, struct node *n)
{
	if (--n->refs)
		return;
	if (n->type->ops && n->type->ops->destroy)
		n->type->ops->destroy(fs, n);
	if (n->prev_all)
		n->prev_all->next_all = n->next_all;
	else
		fs->nodes = n->next_all;
	if (n->next_all)
		n->next_all->prev_all = n->prev_all;
	free(n->name);
	free(n->target);
	free(n);
}

void node_forget(struct fs *fs, struct node *n, uint64_t nlookup)
{
	n->nlookup -= nlookup;
	n->refs -= nlookup - 1;
	node_put(fs, n);
}

void node_touch(struct node *n)
{
	clock_gettime(CLOCK_REALTIME, &n->mtime);
}

static void attach(struct node *dir, struct node *n)
{
	struct node **at = &dir->children;

	while (*at)
		at = &(*at)->sibling;
	n->sibling = NULL;
	*at = n;
	n->parent = dir;
}

static void detach(struct node *n)
{
	struct node **at = &n->parent->children;

	while (*at != n)
		at = &(*at)->sibling;
	*at = n->sibling;
	n->sibling = NULL;
	n->parent = NULL;
}

static struct node *node_new(struct fs *fs, const char *name, enum node_id type)
{
	struct node *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->name = strdup(name);
	if (!n->name) {
		free(n);
		return NULL;
	}
	n->type = &node_types[type];
	n->ino = ++fs->next_ino;
	n->mode = n->type->mode;
	if (n->type->kind != K_LINK)
		n->mode &= ~fs->opt->umask;
	n->uid = fs->opt->uid;
	n->gid = fs->opt->gid;
	n->refs = 1;
	n->linked = true;
	node_touch(n);
	n->next_all = fs->nodes;
	if (n->next_all)
		n->next_all->prev_all = n;
	fs->nodes = n;
	return n;
}

struct node *tree_add(struct fs *fs, struct node *dir, const char *name, enum node_id type)
{
	struct node *n = node_new(fs, name, type);

	if (!n)
		return NULL;
	attach(dir, n);
	node_touch(dir);
	return n;
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

struct node *tree_add_default(struct fs *fs, struct node *dir, enum node_id type)
{
	return tree_add(fs, dir, last_component(node_types[type].path), type);
}

struct node *tree_find(struct node *dir, const char *name)
{
	for (struct node *n = dir->children; n; n = n->sibling)
		if (!strcmp(n->name, name))
			return n;
	return NULL;
}

void tree_unlink(struct fs *fs, struct node *n)
{
	while (n->children)
		tree_unlink(fs, n->children);
	if (n->parent) {
		node_touch(n->parent);
		detach(n);
	}
	n->linked = false;
	node_put(fs, n);
}

int tree_move(struct fs *fs, struct node *n, struct node *dir, const char *name)
{
	char *copy = strdup(name);

	(void)fs;
	if (!copy)
		return -ENOMEM;
	node_touch(n->parent);
	detach(n);
	free(n->name);
	n->name = copy;
	attach(dir, n);
	node_touch(dir);
	return 0;
}

/* Walk the folders of @path; the table lists them before their contents. */
static struct node *parent_of(struct fs *fs, const char *path)
{
	struct node *dir = fs->root;
	const char *slash;

	while ((slash = strchr(path, '/')) != NULL) {
		char part[64];

		memcpy(part, path, (size_t)(slash - path));
		part[slash - path] = '\0';
		dir = tree_find(dir, part);
		path = slash + 1;
	}
	return dir;
}

int tree_build(struct fs *fs)
{
	fs->root = node_new(fs, "", NODE_ROOT);
	if (!fs->root)
		return -ENOMEM;
	for (unsigned id = NODE_ROOT + 1; id < NODE_COUNT; id++) {
		const struct node_type *t = &node_types[id];

		if (t->flags & N_DYNAMIC)
			continue;
		if (!tree_add_default(fs, parent_of(fs, t->path), id))
			return -ENOMEM;
	}
	fs->buffers_dir = tree_find(fs->root, "buffers");
	fs->kernels_dir = tree_find(fs->root, "kernels");
	fs->plans_dir = tree_find(fs->root, "plans");
	fs->checkpoints_dir = tree_find(fs->root, "checkpoints");
	return regs_build(fs, tree_find(tree_find(fs->root, "regs.d"), "name"));
}

/* With the mount gone nobody closes or forgets any more. */
void tree_free(struct fs *fs)
{
	if (!fs->root)
		return;
	tree_unlink(fs, fs->root);
	while (fs->handles) {
		fs->handles->refs = 1;
		handle_put(fs, fs->handles);
	}
	while (fs->nodes) {
		fs->nodes->refs = 1;
		node_put(fs, fs->nodes);
	}
	fs->root = NULL;
}

static uint64_t text_size(struct fs *fs, struct node *n)
{
	struct text t = {0};

	if (n->opens)
		return n->shown;
	if (n->type->kind == K_COMMAND)
		verbs_help(n->type->ops->verbs, &t);
	else if (n->type->ops->text(fs, n, &t) < 0)
		t.len = 0;
	uint64_t len = t.len;

	text_free(&t);
	return len;
}

uint64_t tree_size(struct fs *fs, struct node *n)
{
	switch (n->type->size) {
	case S_TEXT: return text_size(fs, n);
	case S_EXACT: return n->size;
	case S_GROWS: return growing_size(n->type->ops->growing(fs, n));
	case S_ZERO:
	case S_NONE: break;
	}
	return n->target ? strlen(n->target) : 0;
}

static mode_t file_type(const struct node *n)
{
	if (n->type->kind == K_DIR)
		return S_IFDIR;
	return n->type->kind == K_LINK ? S_IFLNK : S_IFREG;
}

void tree_stat(struct fs *fs, struct node *n, struct stat *st)
{
	*st = (struct stat){0};
	st->st_ino = n->ino;
	st->st_mode = file_type(n) | n->mode;
	st->st_nlink = n->linked ? 1 : 0;
	if (n->type->kind == K_DIR) {
		st->st_nlink = 2;
		for (struct node *c = n->children; c; c = c->sibling)
			st->st_nlink += c->type->kind == K_DIR;
	}
	st->st_uid = n->uid;
	st->st_gid = n->gid;
	st->st_size = (off_t)tree_size(fs, n);
	/* Only what occupies memory of its own counts for du (interface.md 4.1). */
	if (n->type->flags & N_KEPT)
		st->st_blocks = (st->st_size + 511) / 512;
	st->st_blksize = FS_MAX_IO;
	st->st_mtim = st->st_ctim = st->st_atim = n->mtime;
}
