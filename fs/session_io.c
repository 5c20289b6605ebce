/* session_io.c - open files: reading, writing, waiting. See session_priv.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs/dispatch.h"
#include "fs/park.h"
#include "fs/session_priv.h"

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

void session_io_ops(struct fuse_lowlevel_ops *ops)
{
	ops->open = op_open;
	ops->read = op_read;
	ops->write = op_write;
	ops->flush = op_flush;
	ops->fsync = op_fsync;
	ops->release = op_release;
	ops->poll = op_poll;
	ops->fallocate = op_fallocate;
	ops->copy_file_range = op_copy_file_range;
	ops->lseek = op_lseek;
	ops->ioctl = op_ioctl;
}
