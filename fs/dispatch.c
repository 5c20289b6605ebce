/* dispatch.c - see dispatch.h. */
#include "fs/dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "fs/options.h"
#include "fs/owners.h"
#include "fs/park.h"
#include "fs/verbs.h"

static uint64_t text_version(struct fs *fs, struct node *n, const struct text *t)
{
	return n->type->ops->version ? n->type->ops->version(fs, n) : text_hash(t->data, t->len);
}

/* A fresh snapshot for this handle. fs->lock held. */
static int snapshot(struct fs *fs, struct handle *h)
{
	struct node *n = h->node;
	int err = 0;

	text_free(&h->snap);
	if (n->type->kind == K_COMMAND)
		verbs_help(n->type->ops->verbs, &h->snap);
	else
		err = n->type->ops->text(fs, n, &h->snap);
	if (!err && h->snap.failed)
		err = -ENOMEM;
	if (err)
		return err;
	n->shown = h->snap.len;
	h->seen = text_version(fs, n, &h->snap);
	return 0;
}

/* A read at 0 re-arms: the text is made again, unless this is the first read and nothing changed
 * since open, whose length stat has shown. */
static bool must_rearm(struct fs *fs, struct handle *h)
{
	if (h->has_read || h->node->type->kind == K_COMMAND)
		return true;
	if (!h->node->type->ops->version)
		return false;
	return h->node->type->ops->version(fs, h->node) != h->seen;
}

static int read_text(struct request *r)
{
	struct handle *h = r->handle;
	int err = 0;
	size_t n = 0;

	fs_lock(r->fs);
	if (r->offset == 0 && must_rearm(r->fs, h))
		err = snapshot(r->fs, h);
	h->has_read = true;
	if (!err && r->offset < h->snap.len) {
		n = MIN(r->size, h->snap.len - (size_t)r->offset);
		memcpy(r->data, h->snap.data + r->offset, n);
	}
	fs_unlock(r->fs);
	return err ? err : (int)n;
}

static int read_growing(struct request *r)
{
	struct growing *g;
	size_t n = 0;

	fs_lock(r->fs);
	g = r->node->type->ops->growing(r->fs, r->node);
	if (g)
		n = growing_read(g, r->offset, r->data, r->size);
	r->handle->seen = r->offset + n;
	fs_unlock(r->fs);
	return (int)n;
}

static int write_command(struct request *r)
{
	int err = verbs_run(r->node->type->ops->verbs, r, (char *)r->data, r->size, &r->progress);

	return err ? err : (int)r->size;
}

static int body_read(struct request *r)
{
	switch (r->node->type->kind) {
	case K_TEXT:
	case K_COMMAND: return read_text(r);
	case K_GROWING: return read_growing(r);
	case K_DATA:
	case K_CACHED: break;
	case K_DIR:
	case K_LINK: return -EISDIR;
	}
	return r->node->type->ops->read ? r->node->type->ops->read(r) : -EINVAL;
}

static int body_write(struct request *r)
{
	const struct node_ops *ops = r->node->type->ops;

	if (r->node->type->kind == K_COMMAND)
		return write_command(r);
	if (!ops->write)
		return -EPERM;
	int n = ops->write(r);

	if (n > 0)
		atomic_store(&r->handle->dirty, true);
	return n;
}

static int body_open(struct request *r)
{
	const struct node_ops *ops = r->node->type->ops;
	int err = 0;

	fs_lock(r->fs);
	if (r->node->type->kind == K_TEXT || r->node->type->kind == K_COMMAND)
		err = snapshot(r->fs, r->handle);
	fs_unlock(r->fs);
	if (err || !ops)
		return err;
	if (ops->open && (err = ops->open(r)) != 0)
		return err;
	if (r->flags & O_TRUNC && ops->truncate) {
		r->offset = 0;
		err = ops->truncate(r);
	}
	return err;
}

/* Shells flush a descriptor they never wrote to (interface.md 4.6). */
static int body_flush(struct request *r)
{
	const struct node_ops *ops = r->node->type->ops;

	if (!ops || !ops->flush || !(atomic_load(&r->handle->dirty) || r->wait_for))
		return 0;
	return ops->flush(r);
}

static int optional(int (*op)(struct request *), struct request *r, int otherwise)
{
	return op ? op(r) : otherwise;
}

int dispatch_body(struct request *r)
{
	static const struct node_ops none;
	const struct node_ops *ops = r->node->type->ops ? r->node->type->ops : &none;

	switch (r->kind) {
	case REQ_SETATTR:
	case REQ_SETXATTR: owner_keep(r->fs, r->node); return 0;
	case REQ_OPEN: return body_open(r);
	case REQ_READ: return body_read(r);
	case REQ_WRITE: return body_write(r);
	case REQ_FLUSH: return body_flush(r);
	case REQ_CREATE: return optional(ops->create, r, -EPERM);
	case REQ_FSYNC: return optional(ops->fsync, r, 0);
	case REQ_RELEASE: return optional(ops->release, r, 0);
	case REQ_TRUNCATE: return optional(ops->truncate, r, 0);
	case REQ_ALLOCATE: return optional(ops->allocate, r, -EOPNOTSUPP);
	case REQ_COPY: return optional(ops->copy, r, -EOPNOTSUPP);
	case REQ_UNLINK: return optional(ops->unlink, r, -EPERM);
	case REQ_RENAME: return optional(ops->rename, r, -EPERM);
	}
	return -EINVAL;
}

static bool changes_something(const struct request *r)
{
	switch (r->kind) {
	case REQ_OPEN: return (r->flags & O_ACCMODE) != O_RDONLY || r->flags & O_TRUNC;
	case REQ_READ:
	case REQ_FLUSH:
	case REQ_FSYNC:
	case REQ_RELEASE: return false;
	case REQ_CREATE:
	case REQ_WRITE:
	case REQ_TRUNCATE:
	case REQ_SETATTR:
	case REQ_SETXATTR:
	case REQ_ALLOCATE:
	case REQ_COPY:
	case REQ_UNLINK:
	case REQ_RENAME: break;
	}
	return true;
}

/* Clamp to the size: a read past the end is empty, a write that starts there is ENOSPC. */
static int check_range(struct request *r)
{
	if (r->offset >= r->node->size) {
		r->size = 0;
		return r->kind == REQ_WRITE ? -ENOSPC : 0;
	}
	r->size = MIN(r->size, r->node->size - r->offset);
	return 0;
}

static int check_io(struct request *r)
{
	const struct node_type *t = r->node->type;

	if (r->size > FS_MAX_IO || r->offset > INT64_MAX)
		return -EINVAL;
	if (r->offset % t->align || r->size % t->align)
		return -EINVAL;
	return t->flags & N_PLAIN_RANGE ? check_range(r) : 0;
}

/* needs_card - closing, and what is done in memory already, is for every card, also one that left.
 */
static bool needs_card(const struct request *r)
{
	return !(r->node->type->flags & N_DAEMON) && r->kind != REQ_RELEASE &&
	       r->kind != REQ_FLUSH && r->kind != REQ_SETATTR && r->kind != REQ_SETXATTR;
}

static int check(struct request *r)
{
	if (r->fs->opt->read_only && changes_something(r))
		return -EROFS;
	if (needs_card(r) && fs_card_gone(r->fs))
		return -ENODEV;
	if (r->kind == REQ_READ || r->kind == REQ_WRITE)
		return check_io(r);
	return 0;
}

/* Whether @r is done in memory on the session thread. */
static bool runs_here(const struct request *r)
{
	const struct node_type *t = r->node->type;

	if (t->flags & N_SESSION || !t->ops)
		return true;
	if (t->flags & N_MEMORY && (r->kind == REQ_OPEN || r->kind == REQ_READ ||
	                                   r->kind == REQ_WRITE || r->kind == REQ_TRUNCATE))
		return true;
	switch (r->kind) {
	case REQ_OPEN: return !t->ops->open && !(r->flags & O_TRUNC && t->ops->truncate);
	case REQ_READ: return t->kind == K_TEXT || t->kind == K_COMMAND || t->kind == K_GROWING;
	case REQ_FLUSH: return !t->ops->flush || !atomic_load(&r->handle->dirty);
	case REQ_FSYNC: return !t->ops->fsync;
	case REQ_RELEASE: return !t->ops->release;
	case REQ_TRUNCATE: return !t->ops->truncate;
	case REQ_SETATTR:
	case REQ_SETXATTR: return !owner_is_kept(r->node);
	default: return false;
	}
}

static void run_queued(struct job *job)
{
	struct request *r = (struct request *)job; /* job is the first member */

	park_begin(r->fs->park, r);
	int result = atomic_load(&r->answered) ? -ECANCELED : dispatch_body(r);

	if (result == REQUEST_PARK && !atomic_load(&r->answered))
		park_wait(r->fs->park, r);
	else
		request_finish(r, result);
}

static enum job_priority priority_of(const struct request *r)
{
	/* a close must not be overtaken by what its client does next, unless it ends a run */
	if (r->kind == REQ_RELEASE && !node_is(r->node, NODE_PLAN_RUN))
		return JOB_INTERACTIVE;
	if (r->node->type->flags & N_FEED)
		return JOB_FEED;
	return r->node->type->flags & N_BACKGROUND ? JOB_BACKGROUND : JOB_INTERACTIVE;
}

static int queue(struct request *r)
{
	int err = park_add(r->fs->park, r);

	if (err)
		return err;
	r->job.run = run_queued;
	r->job.priority = priority_of(r);
	return jobs_put(r->fs->jobs, &r->job);
}

void dispatch(struct request *r)
{
	int err = check(r);

	if (!err && r->kind == REQ_READ && !(r->data = malloc(r->size ? r->size : 1)))
		err = -ENOMEM;
	if (!err && (r->kind == REQ_READ || r->kind == REQ_WRITE) && r->size == 0) {
		request_finish(r, 0);
		return;
	}
	if (!err && runs_here(r)) {
		request_finish(r, dispatch_body(r));
		return;
	}
	if (!err)
		err = queue(r);
	if (err)
		request_finish(r, err);
}
