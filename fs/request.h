/* request.h - one FUSE request on its way: session thread -> (choke point) -> owner or parked ->
 * answered exactly once. The last step of whoever runs it is request_finish(), which frees it.
 */
#ifndef FS_REQUEST_H
#define FS_REQUEST_H

#define FUSE_USE_VERSION 312
#include <fuse3/fuse_lowlevel.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fs/fs.h"
#include "fs/jobs.h"
#include "fs/text.h"
#include "fs/tree.h"

/* A body returns this to wait: it is called again after every job and tick of the owner. */
#define REQUEST_PARK (-4095)

enum request_kind {
	REQ_OPEN,
	REQ_CREATE,
	REQ_READ,
	REQ_WRITE,
	REQ_FLUSH,
	REQ_FSYNC,
	REQ_RELEASE,
	REQ_TRUNCATE,
	REQ_SETATTR,
	REQ_SETXATTR,
	REQ_ALLOCATE,
	REQ_COPY,
	REQ_UNLINK,
	REQ_RENAME
};

/* An open file. fs->lock. */
struct handle {
	struct node *node;
	struct handle *prev_all, *next_all; /* fs->handles */
	struct handle *next_polled;         /* list of handles with a poll handle */
	unsigned refs;
	int flags;        /* of open(2) */
	struct text snap; /* text of this open; register values */
	bool has_read;
	atomic_bool dirty; /* bytes written since the last flush; any thread */
	uint64_t seen;     /* version or length when last read */
	struct fuse_pollhandle *poll;
	unsigned poll_events;
	void *stream; /* nodes_plan_io.c */
	void (*stream_free)(void *stream);
	struct dir_entry { /* opendir */
		char *name;
		uint64_t ino;
		mode_t mode;
	} *entries;
	size_t nentries;
};

enum request_state { R_QUEUED, R_RUNNING, R_PARKED };

struct request {
	struct job job;
	struct request *prev, *next; /* park's list of live requests */
	struct fs *fs;
	fuse_req_t req; /* NULL: nobody waits */
	enum request_kind kind;
	enum request_state state; /* park's lock */
	atomic_bool answered, interrupted;
	bool committed; /* park's lock */
	uint64_t started_ns;
	atomic_uint_fast64_t moved_ns; /* of the last progress; 0: none yet */

	struct node *node; /* the file; the folder of create, unlink, rename */
	struct handle *handle;
	struct node *node2; /* target of copy; new folder of rename */
	struct node *child;
	char *name, *name2;
	uint64_t offset, offset2;
	size_t size;
	unsigned char *data; /* of a write; room for a read */
	mode_t mode;
	int flags;         /* open flags; rename or fallocate mode */
	bool make_handle;  /* REQ_CREATE: open it too */
	uint64_t wait_for; /* a body's own note while parked */
	size_t progress;   /* bytes of a stream write taken so far; park's lock unless running */
	uint64_t retry_round;
	struct fuse_file_info fi;
	uid_t uid;
	gid_t gid;
};

/* request_new - takes references to @node and @h (may be NULL). NULL: no memory, answered. */
struct request *request_new(
        struct fs *fs, fuse_req_t req, enum request_kind kind, struct node *node, struct handle *h);
/* request_answer - reply once, with @result of the body; later calls do nothing. Any thread. */
void request_answer(struct request *r, int result);
/* request_finish - answer and free. */
void request_finish(struct request *r, int result);
/* request_age_ms - since it arrived. */
uint64_t request_age_ms(const struct request *r);
/* request_idle_ms - since it arrived, or its body came forward: request_again. Any thread. */
uint64_t request_idle_ms(struct request *r);
/* request_again - for a body that came forward and has more to do but lets others go first: return
 * what it returns. Owner thread. */
int request_again(struct request *r);
/* request_expired - a long body should stop: interrupted or past the request deadline. */
bool request_expired(const struct request *r);

struct handle *handle_new(
        struct fs *fs, struct node *n, int flags); /* takes a reference; fs->lock held */
void handle_put(struct fs *fs, struct handle *h);  /* fs->lock held */

#endif
