/* session_attr.c - attributes of nodes, extended ones, and of the whole mount. See session_priv.h.
 */
#include <errno.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include "fs/dispatch.h"
#include "fs/nodes.h"
#include "fs/options.h"
#include "fs/session_priv.h"

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

void session_attr_ops(struct fuse_lowlevel_ops *ops)
{
	ops->getattr = op_getattr;
	ops->setattr = op_setattr;
	ops->readlink = op_readlink;
	ops->statfs = op_statfs;
	ops->getxattr = op_getxattr;
	ops->setxattr = op_setxattr;
	ops->removexattr = op_removexattr;
	ops->listxattr = op_listxattr;
}
