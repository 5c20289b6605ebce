/* session_names.c - finding, making, removing and listing names. See session_priv.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/err.h"
#include "fs/dispatch.h"
#include "fs/options.h"
#include "fs/session_priv.h"

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = fs_of(req);
	struct fuse_entry_param e = {0};

	fs_lock(fs);
	struct node *n = tree_find(node_of(fs, parent), name);

	if (n) {
		n->nlookup++;
		node_get(n);
		e.ino = (uintptr_t)n;
		e.generation = 1;
		tree_stat(fs, n, &e.attr);
	}
	fs_unlock(fs);
	if (!n)
		fuse_reply_err(req, ENOENT);
	else
		fuse_reply_entry(req, &e);
}

static void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	struct fs *fs = fs_of(req);

	fs_lock(fs);
	for (size_t i = 0; i < count; i++)
		if (forgets[i].ino != FUSE_ROOT_ID)
			node_forget(fs, node_of(fs, forgets[i].ino), forgets[i].nlookup);
	fs_unlock(fs);
	fuse_reply_none(req);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t nlookup)
{
	struct fuse_forget_data one = {.ino = ino, .nlookup = nlookup};

	op_forget_multi(req, 1, &one);
}

static void create(
        fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req, REQ_CREATE, node_of(fs, parent), NULL);

	if (!r)
		return;
	r->name = strdup(name);
	r->mode = mode & 0777 & ~fs->opt->umask;
	if (fi) {
		r->make_handle = true;
		r->fi = *fi;
		r->flags = fi->flags;
	}
	if (r->name)
		dispatch(r);
	else
		request_finish(r, -ENOMEM);
}

static void op_create(
        fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
{
	create(req, parent, name, mode, fi);
}

static void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t dev)
{
	(void)dev;
	if (S_ISREG(mode))
		create(req, parent, name, mode, NULL);
	else
		fuse_reply_err(req, EPERM);
}

static void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	(void)parent, (void)name, (void)mode;
	fuse_reply_err(req, EPERM);
}

static void op_symlink(fuse_req_t req, const char *link, fuse_ino_t parent, const char *name)
{
	(void)link, (void)parent, (void)name;
	fuse_reply_err(req, EPERM);
}

static void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
	(void)ino, (void)parent, (void)name;
	fuse_reply_err(req, EPERM);
}

static void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	(void)parent, (void)name;
	fuse_reply_err(req, EPERM);
}

/* A request of folder @parent about its entry @name; NULL: answered. */
static struct request *entry_request(
        fuse_req_t req, enum request_kind kind, fuse_ino_t parent, const char *name)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req, kind, node_of(fs, parent), NULL);

	if (!r)
		return NULL;
	fs_lock(fs);
	r->child = tree_find(r->node, name);
	if (r->child)
		node_get(r->child);
	fs_unlock(fs);
	r->name = strdup(name);
	if (r->child && r->name)
		return r;
	request_finish(r, r->child ? -ENOMEM : -ENOENT);
	return NULL;
}

static void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct request *r = entry_request(req, REQ_UNLINK, parent, name);

	if (r)
		dispatch(r);
}

static void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t newparent,
        const char *newname, unsigned flags)
{
	struct request *r = entry_request(req, REQ_RENAME, parent, name);

	if (!r)
		return;
	r->name2 = strdup(newname);
	r->flags = (int)flags;
	if (!r->name2)
		request_finish(r, -ENOMEM);
	else if (parent != newparent) /* folders here hold different kinds of things */
		request_finish(r, -EXDEV);
	else if (flags & ~(unsigned)RENAME_NOREPLACE)
		request_finish(r, -EINVAL);
	else
		dispatch(r);
}

/* The listing of an open folder, made when it is read from the start. fs->lock held. */
static int list_dir(struct handle *h)
{
	size_t count = 0;

	for (size_t i = 0; i < h->nentries; i++)
		free(h->entries[i].name);
	free(h->entries);
	h->nentries = 0;
	for (struct node *c = h->node->children; c; c = c->sibling)
		count++;
	h->entries = calloc(count + 1, sizeof(*h->entries));
	if (!h->entries)
		return -ENOMEM;
	for (struct node *c = h->node->children; c; c = c->sibling) {
		struct dir_entry *e = &h->entries[h->nentries];

		e->name = strdup(c->name);
		if (!e->name)
			return -ENOMEM;
		e->ino = c->ino;
		e->mode = c->type->kind == K_DIR ? S_IFDIR : c->target ? S_IFLNK : S_IFREG;
		h->nentries++;
	}
	return 0;
}

static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);

	fs_lock(fs);
	struct handle *h = handle_new(fs, node_of(fs, ino), fi->flags);
	fs_unlock(fs);
	fi->fh = (uintptr_t)h;
	if (!h) {
		fuse_reply_err(req, ENOMEM);
	} else if (fuse_reply_open(req, fi) == -ENOENT) {
		fs_lock(fs);
		handle_put(fs, h);
		fs_unlock(fs);
	}
}

/* Entry @i of the listing, "." and ".." first. */
static size_t add_entry(fuse_req_t req, struct handle *h, size_t i, char *buf, size_t room)
{
	struct stat st = {.st_ino = h->node->ino, .st_mode = S_IFDIR};
	const char *name = i == 0 ? "." : "..";

	if (i >= 2) {
		st.st_ino = h->entries[i - 2].ino;
		st.st_mode = h->entries[i - 2].mode;
		name = h->entries[i - 2].name;
	} else if (i == 1 && h->node->parent) {
		st.st_ino = h->node->parent->ino;
	}
	return fuse_add_direntry(req, buf, room, name, &st, (off_t)i + 1);
}

static void op_readdir(
        fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct handle *h = handle_of(fi);
	RX_CLEANUP(free) char *buf = malloc(size);
	size_t used = 0;
	int err = buf ? 0 : -ENOMEM;

	(void)ino;
	fs_lock(fs);
	if (!err && off == 0)
		err = list_dir(h);
	for (size_t i = (size_t)off; !err && i < h->nentries + 2; i++) {
		size_t n = add_entry(req, h, i, buf + used, size - used);

		if (n > size - used)
			break;
		used += n;
	}
	fs_unlock(fs);
	if (err)
		fuse_reply_err(req, -err);
	else
		fuse_reply_buf(req, buf, used);
}

static void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);

	(void)ino;
	fs_lock(fs);
	handle_put(fs, handle_of(fi));
	fs_unlock(fs);
	fuse_reply_err(req, 0);
}

static void op_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	(void)ino, (void)datasync, (void)fi;
	fuse_reply_err(req, 0);
}

void session_names_ops(struct fuse_lowlevel_ops *ops)
{
	ops->lookup = op_lookup;
	ops->forget = op_forget;
	ops->forget_multi = op_forget_multi;
	ops->mknod = op_mknod;
	ops->create = op_create;
	ops->mkdir = op_mkdir;
	ops->symlink = op_symlink;
	ops->link = op_link;
	ops->rmdir = op_rmdir;
	ops->unlink = op_unlink;
	ops->rename = op_rename;
	ops->opendir = op_opendir;
	ops->readdir = op_readdir;
	ops->releasedir = op_releasedir;
	ops->fsyncdir = op_fsyncdir;
}
