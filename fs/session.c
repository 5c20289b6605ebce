/* session.c - see session.h. Call shapes: libfuse example/passthrough_ll.c, poll.c. */
#define FUSE_USE_VERSION 312
#include <fuse3/fuse_lowlevel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "device/bytes.h"
#include "device/err.h"
#include "fs/dispatch.h"
#include "fs/nodes.h"
#include "fs/options.h"
#include "fs/park.h"
#include "fs/session.h"

static struct fs *fs_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

static struct node *node_of(struct fs *fs, fuse_ino_t ino)
{
	return ino == FUSE_ROOT_ID ? fs->root : (struct node *)(uintptr_t)ino;
}

static struct handle *handle_of(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

/* most_a_request - the kernel cuts what is longer. A slow bridge's share, so that everybody is
 * answered in time. */
static unsigned most_a_request(struct fs *fs)
{
	struct rx_info info;

	fs_lock(fs);
	fs_read_info(fs, &info);
	fs_unlock(fs);
	return info.request_bytes ? MIN(info.request_bytes, FS_MAX_IO) : FS_MAX_IO;
}

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	unsigned most = most_a_request(userdata);

	/* interface.md 4.3: a request is at most 64 KiB, read-ahead included */
	conn->max_write = most;
	conn->max_read = most;
	conn->max_readahead = most;
	/* 4.2: the write-back cache is never on; we have no set-uid files to strip */
	conn->want &= ~(unsigned)(FUSE_CAP_WRITEBACK_CACHE | FUSE_CAP_HANDLE_KILLPRIV);
}

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

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct stat st;

	(void)fi;
	fs_lock(fs);
	struct node *n = node_of(fs, ino);
	/* 4.2: what is immutable may be cached for a minute */
	double timeout = n->type->kind == K_CACHED ? 60 : 0;

	tree_stat(fs, n, &st);
	fs_unlock(fs);
	fuse_reply_attr(req, &st, timeout);
}

static int set_owner_mode(struct fs *fs, struct node *n, const struct stat *attr, int to_set)
{
	if (fs->opt->read_only &&
	        to_set & (FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
		return -EROFS;
	if (to_set & (FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID) &&
	        !(n->type->flags & N_KEPT))
		return -EPERM;
	if (to_set & FUSE_SET_ATTR_MODE)
		n->mode = attr->st_mode & 0777;
	if (to_set & FUSE_SET_ATTR_UID)
		n->uid = attr->st_uid;
	if (to_set & FUSE_SET_ATTR_GID)
		n->gid = attr->st_gid;
	if (to_set & FUSE_SET_ATTR_MTIME_NOW)
		node_touch(n);
	else if (to_set & FUSE_SET_ATTR_MTIME)
		n->mtime = attr->st_mtim;
	return 0;
}

/* keep_attributes - they are changed already; the answer comes when the next owner of the card will
 * find them so, too. @req NULL: nobody waits for it. */
static void keep_attributes(struct fs *fs, fuse_req_t req, enum request_kind kind, struct node *n)
{
	struct request *r = request_new(fs, req, kind, n, NULL);

	if (r)
		dispatch(r);
}

static void op_setattr(
        fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct node *n = node_of(fs, ino);

	fs_lock(fs);
	int err = set_owner_mode(fs, n, attr, to_set);
	fs_unlock(fs);
	if (err) {
		fuse_reply_err(req, -err);
		return;
	}
	bool owned = to_set & (FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID);

	if (!(to_set & FUSE_SET_ATTR_SIZE)) {
		if (owned)
			keep_attributes(fs, req, REQ_SETATTR, n);
		else
			op_getattr(req, ino, fi);
		return;
	}
	if (owned)
		keep_attributes(fs, NULL, REQ_SETATTR, n);
	struct request *r = request_new(fs, req, REQ_TRUNCATE, n, fi ? handle_of(fi) : NULL);

	if (!r)
		return;
	r->offset = (uint64_t)attr->st_size;
	dispatch(r);
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct node *n = node_of(fs_of(req), ino);

	if (n->target)
		fuse_reply_readlink(req, n->target); /* set once, when the tree was built */
	else
		fuse_reply_err(req, EINVAL);
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

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct node *n = node_of(fs, ino);

	fs_lock(fs);
	struct handle *h = handle_new(fs, n, fi->flags);
	fs_unlock(fs);
	if (!h) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	struct request *r = request_new(fs, req, REQ_OPEN, n, h);

	if (r) {
		r->fi = *fi;
		r->flags = fi->flags;
		dispatch(r);
	}
	fs_lock(fs);
	handle_put(fs, h); /* the request has its own reference, and the kernel once it is open */
	fs_unlock(fs);
}

static struct request *io_request(fuse_req_t req, enum request_kind kind, fuse_ino_t ino,
        size_t size, off_t off, const struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req, kind, node_of(fs, ino), handle_of(fi));

	if (!r)
		return NULL;
	r->size = size;
	r->offset = (uint64_t)off;
	r->flags = fi->flags;
	return r;
}

static void op_read(
        fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct request *r = io_request(req, REQ_READ, ino, size, off, fi);

	if (r)
		dispatch(r);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off,
        struct fuse_file_info *fi)
{
	struct request *r = io_request(req, REQ_WRITE, ino, size, off, fi);

	if (!r)
		return;
	r->data = malloc(size ? size : 1);
	if (!r->data) {
		request_finish(r, -ENOMEM);
		return;
	}
	memcpy(r->data, buf, size);
	dispatch(r);
}

static void handle_request(
        fuse_req_t req, enum request_kind kind, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct request *r = io_request(req, kind, ino, 0, 0, fi);

	if (r)
		dispatch(r);
}

static void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	handle_request(req, REQ_FLUSH, ino, fi);
}

static void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	(void)datasync;
	handle_request(req, REQ_FSYNC, ino, fi);
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);

	handle_request(req, REQ_RELEASE, ino, fi);
	fs_lock(fs);
	handle_put(fs, handle_of(fi));
	fs_unlock(fs);
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

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct fs *fs = fs_of(req);
	struct rx_info info;
	struct statvfs st = {.f_bsize = 4096, .f_frsize = 4096, .f_namemax = 64};

	(void)ino;
	fs_lock(fs);
	fs_read_info(fs, &info);
	fs_unlock(fs);
	st.f_blocks = info.vram_total / 4096;
	st.f_bfree = st.f_bavail = (info.vram_total - info.vram_used) / 4096;
	fuse_reply_statfs(req, &st);
}

static void op_poll(
        fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct fuse_pollhandle *ph)
{
	struct fs *fs = fs_of(req);
	struct handle *h = handle_of(fi);

	(void)ino;
	fs_lock(fs);
	if (ph)
		park_poll_set(fs->park, h, ph, fi->poll_events);
	unsigned events = park_poll_events(fs, h);
	fs_unlock(fs);
	fuse_reply_poll(req, events);
}

static void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t length,
        struct fuse_file_info *fi)
{
	struct request *r = io_request(req, REQ_ALLOCATE, ino, 0, offset, fi);

	if (!r)
		return;
	r->flags = mode;
	r->offset2 = (uint64_t)length;
	dispatch(r);
}

static void op_copy_file_range(fuse_req_t req, fuse_ino_t ino_in, off_t off_in,
        struct fuse_file_info *fi_in, fuse_ino_t ino_out, off_t off_out,
        struct fuse_file_info *fi_out, size_t len, int flags)
{
	struct fs *fs = fs_of(req);
	struct request *r = io_request(req, REQ_COPY, ino_in, len, off_in, fi_in);

	(void)fi_out;
	if (!r)
		return;
	fs_lock(fs);
	r->node2 = node_of(fs, ino_out);
	node_get(r->node2);
	fs_unlock(fs);
	r->offset2 = (uint64_t)off_out;
	r->flags = flags;
	dispatch(r);
}

static void op_lseek(
        fuse_req_t req, fuse_ino_t ino, off_t off, int whence, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);

	(void)fi;
	fs_lock(fs);
	uint64_t size = tree_size(fs, node_of(fs, ino));
	fs_unlock(fs);
	if (whence != SEEK_DATA && whence != SEEK_HOLE)
		fuse_reply_err(req, EINVAL);
	else if (off < 0 || (uint64_t)off >= size)
		fuse_reply_err(req, ENXIO);
	else /* no holes but the one at the end */
		fuse_reply_lseek(req, whence == SEEK_DATA ? off : (off_t)size);
}

static void op_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned cmd, void *arg,
        struct fuse_file_info *fi, unsigned flags, const void *in, size_t in_size, size_t out_size)
{
	(void)ino, (void)cmd, (void)arg, (void)fi, (void)flags, (void)in, (void)in_size;
	(void)out_size;
	fuse_reply_err(req, ENOTTY);
}

static void reply_xattr(fuse_req_t req, const struct text *t, size_t size, int err)
{
	if (err)
		fuse_reply_err(req, -err);
	else if (size == 0)
		fuse_reply_xattr(req, t->len);
	else if (size < t->len)
		fuse_reply_err(req, ERANGE);
	else
		fuse_reply_buf(req, t->data, t->len);
}

static void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct fs *fs = fs_of(req);
	struct text t = {0};

	fs_lock(fs);
	struct node *n = node_of(fs, ino);
	int err = node_is(n, NODE_BUFFER) ? buffer_xattr_get(fs, n, name, &t) : -ENODATA;
	fs_unlock(fs);
	reply_xattr(req, &t, size, err);
	text_free(&t);
}

static void op_setxattr(
        fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size, int flags)
{
	struct fs *fs = fs_of(req);

	(void)flags;
	fs_lock(fs);
	struct node *n = node_of(fs, ino);
	int err = -EOPNOTSUPP;

	if (fs->opt->read_only)
		err = -EROFS;
	else if (node_is(n, NODE_BUFFER))
		err = buffer_xattr_set(n, name, value, size);
	fs_unlock(fs);
	if (err)
		fuse_reply_err(req, -err);
	else
		keep_attributes(fs, req, REQ_SETXATTR, n);
}

static void op_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	op_setxattr(req, ino, name, NULL, 0, 0);
}

static void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct fs *fs = fs_of(req);
	struct text list = {0};

	fs_lock(fs);
	struct node *n = node_of(fs, ino);

	if (node_is(n, NODE_BUFFER))
		buffer_xattr_list(n, &list);
	fs_unlock(fs);
	reply_xattr(req, &list, size, 0);
	text_free(&list);
}

static const struct fuse_lowlevel_ops operations = {
        .init = op_init,
        .lookup = op_lookup,
        .forget = op_forget,
        .forget_multi = op_forget_multi,
        .getattr = op_getattr,
        .setattr = op_setattr,
        .readlink = op_readlink,
        .mknod = op_mknod,
        .mkdir = op_mkdir,
        .symlink = op_symlink,
        .link = op_link,
        .unlink = op_unlink,
        .rmdir = op_rmdir,
        .rename = op_rename,
        .open = op_open,
        .create = op_create,
        .read = op_read,
        .write = op_write,
        .flush = op_flush,
        .fsync = op_fsync,
        .release = op_release,
        .opendir = op_opendir,
        .readdir = op_readdir,
        .releasedir = op_releasedir,
        .fsyncdir = op_fsyncdir,
        .statfs = op_statfs,
        .getxattr = op_getxattr,
        .setxattr = op_setxattr,
        .listxattr = op_listxattr,
        .removexattr = op_removexattr,
        .poll = op_poll,
        .fallocate = op_fallocate,
        .copy_file_range = op_copy_file_range,
        .lseek = op_lseek,
        .ioctl = op_ioctl,
};

int session_mount(struct fs *fs, const char *mountpoint)
{
	/* fsname and subtype: interface.md 4.8, bazil/fuse 89 */
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	char options[256];

	snprintf(options, sizeof(options),
	        "fsname=rx580fs,subtype=rx580fs,default_permissions,max_read=%u%s%s",
	        most_a_request(fs), fs->opt->allow_other ? ",allow_other" : "",
	        fs->opt->read_only ? ",ro" : "");
	if (fuse_opt_add_arg(&args, "rx580fs") || fuse_opt_add_arg(&args, "-o") ||
	        fuse_opt_add_arg(&args, options)) {
		fuse_opt_free_args(&args);
		return -ENOMEM;
	}
	fs->se = fuse_session_new(&args, &operations, sizeof(operations), fs);
	fuse_opt_free_args(&args);
	if (!fs->se)
		return rx_fail("fs", -EIO, "libfuse refused the session");
	if (fuse_session_mount(fs->se, mountpoint) != 0) {
		fuse_session_destroy(fs->se);
		fs->se = NULL;
		return rx_fail("fs", -EIO, "cannot mount on %s (see the line above)", mountpoint);
	}
	return 0;
}

int session_loop(struct fs *fs)
{
	return fuse_session_loop(fs->se);
}

void session_exit(struct fs *fs)
{
	fuse_session_exit(fs->se);
}

void session_unmount(struct fs *fs)
{
	fuse_session_unmount(fs->se);
}

void session_free(struct fs *fs)
{
	if (fs->se)
		fuse_session_destroy(fs->se);
	fs->se = NULL;
}
