/* request.c - see request.h. */
#include "fs/request.h"

#include <stdlib.h>
#include <string.h>

#include "device/clock.h"
#include "device/err.h"
#include "fs/dispatch.h"
#include "fs/park.h"

struct handle *handle_new(struct fs *fs, struct node *n, int flags)
{
	struct handle *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->node = n;
	h->flags = flags;
	h->refs = 1;
	n->opens++;
	node_get(n);
	h->next_all = fs->handles;
	if (h->next_all)
		h->next_all->prev_all = h;
	fs->handles = h;
	return h;
}

void handle_put(struct fs *fs, struct handle *h)
{
	if (--h->refs)
		return;
	if (h->prev_all)
		h->prev_all->next_all = h->next_all;
	else
		fs->handles = h->next_all;
	if (h->next_all)
		h->next_all->prev_all = h->prev_all;
	park_poll_drop(fs->park, h);
	text_free(&h->snap);
	if (h->stream_free)
		h->stream_free(h->stream);
	for (size_t i = 0; i < h->nentries; i++)
		free(h->entries[i].name);
	free(h->entries);
	h->node->opens--;
	node_put(fs, h->node);
	free(h);
}

struct request *request_new(
        struct fs *fs, fuse_req_t req, enum request_kind kind, struct node *node, struct handle *h)
{
	struct request *r = calloc(1, sizeof(*r));

	if (!r) {
		if (req)
			fuse_reply_err(req, ENOMEM);
		return NULL;
	}
	r->fs = fs;
	r->req = req;
	r->kind = kind;
	r->node = node;
	r->handle = h;
	r->started_ns = now_ns();
	if (req) {
		r->uid = fuse_req_ctx(req)->uid;
		r->gid = fuse_req_ctx(req)->gid;
	}
	fs_lock(fs);
	node_get(node);
	if (h)
		h->refs++;
	fs_unlock(fs);
	return r;
}

uint64_t request_age_ms(const struct request *r)
{
	return (now_ns() - r->started_ns) / 1000000u;
}

uint64_t request_idle_ms(struct request *r)
{
	uint64_t moved = atomic_load(&r->moved_ns);

	return moved ? (now_ns() - moved) / 1000000u : request_age_ms(r);
}

int request_again(struct request *r)
{
	atomic_store(&r->moved_ns, now_ns());
	jobs_wake(r->fs->jobs);
	return REQUEST_PARK;
}

bool request_expired(const struct request *r)
{
	return atomic_load(&r->interrupted) || request_age_ms(r) > atomic_load(&r->fs->request_ms);
}

/* Cached nodes never change under one inode: what replaces them is a new node. */
static void open_mode(struct request *r)
{
	bool cached = r->node->type->kind == K_CACHED && (r->fi.flags & O_ACCMODE) == O_RDONLY;

	r->fi.direct_io = !cached;
	r->fi.keep_cache = cached;
}

static void entry_of(struct fs *fs, struct node *n, struct fuse_entry_param *e)
{
	*e = (struct fuse_entry_param){.ino = (uintptr_t)n, .generation = 1};
	tree_stat(fs, n, &e->attr);
}

/* The caller of an open or create is gone: do what its close would have done. */
static void forget_open(struct request *r, struct handle *h)
{
	struct request *release = h ? request_new(r->fs, NULL, REQ_RELEASE, h->node, h) : NULL;

	if (release)
		dispatch(release);
	fs_lock(r->fs);
	if (r->kind == REQ_CREATE) {
		r->child->nlookup--;
		node_put(r->fs, r->child);
	}
	if (h)
		handle_put(r->fs, h);
	fs_unlock(r->fs);
}

static void answer_create(struct request *r)
{
	struct fuse_entry_param e;
	struct handle *h = NULL;

	fs_lock(r->fs);
	if (r->make_handle)
		h = handle_new(r->fs, r->child, r->flags);
	r->child->nlookup++;
	node_get(r->child);
	entry_of(r->fs, r->child, &e);
	fs_unlock(r->fs);
	if (r->make_handle && !h) {
		forget_open(r, NULL);
		fuse_reply_err(r->req, ENOMEM);
		return;
	}
	r->fi.fh = (uintptr_t)h;
	r->fi.direct_io = 1; /* somebody writes it now; later opens may use the cache */
	/* -ENOENT: the caller was interrupted and will not close what it never got */
	int err = h ? fuse_reply_create(r->req, &e, &r->fi) : fuse_reply_entry(r->req, &e);

	if (err == -ENOENT)
		forget_open(r, h);
}

static void answer_open(struct request *r)
{
	fs_lock(r->fs);
	r->handle->refs++; /* the kernel's */
	fs_unlock(r->fs);
	open_mode(r);
	r->fi.fh = (uintptr_t)r->handle;
	if (fuse_reply_open(r->req, &r->fi) == -ENOENT)
		forget_open(r, r->handle);
}

static void answer_attr(struct request *r)
{
	struct stat st;

	fs_lock(r->fs);
	tree_stat(r->fs, r->node, &st);
	fs_unlock(r->fs);
	fuse_reply_attr(r->req, &st, 0);
}

static void answer_ok(struct request *r, int result)
{
	switch (r->kind) {
	case REQ_OPEN: answer_open(r); break;
	case REQ_CREATE: answer_create(r); break;
	case REQ_READ: fuse_reply_buf(r->req, (char *)r->data, (size_t)result); break;
	case REQ_WRITE:
	case REQ_COPY: fuse_reply_write(r->req, (size_t)result); break;
	case REQ_SETATTR:
	case REQ_TRUNCATE: answer_attr(r); break;
	case REQ_FLUSH:
	case REQ_FSYNC:
	case REQ_RELEASE:
	case REQ_ALLOCATE:
	case REQ_SETXATTR:
	case REQ_UNLINK:
	case REQ_RENAME: fuse_reply_err(r->req, 0); break;
	}
}

void request_answer(struct request *r, int result)
{
	if (atomic_exchange(&r->answered, true) || !r->req)
		return;
	/* waits for a callback that is running now; none comes later (libfuse find_interrupted) */
	fuse_req_interrupt_func(r->req, NULL, NULL);
	if (result < 0)
		fuse_reply_err(r->req, -result);
	else
		answer_ok(r, result);
}

void request_finish(struct request *r, int result)
{
	struct fs *fs = r->fs;

	park_remove(fs->park, r);
	request_answer(r, result);
	fs_lock(fs);
	if (r->child)
		node_put(fs, r->child);
	if (r->node2)
		node_put(fs, r->node2);
	if (r->handle)
		handle_put(fs, r->handle);
	node_put(fs, r->node);
	fs_unlock(fs);
	free(r->name);
	free(r->name2);
	free(r->data);
	free(r);
}
