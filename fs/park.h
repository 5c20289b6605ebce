/* park.h - requests that are not answered yet: time-outs, interrupts, waiting, poll wake-up.
 * Interrupts are only noted by libfuse's callback (it holds the request's lock); the main thread
 * answers. Source: interface.md 4.4, 4.5.
 */
#ifndef FS_PARK_H
#define FS_PARK_H

#include "fs/request.h"

struct park *park_new(struct fs *fs);
void park_free(struct park *p);

/* park_add - list @r and watch for interrupts. Return: 0; -EAGAIN FS_MAX_REQUESTS are live. */
int park_add(struct park *p, struct request *r);
void park_remove(struct park *p, struct request *r);

/* park_begin - the owner starts on @r. */
void park_begin(struct park *p, struct request *r);
/* park_wait - the owner's body wants to wait. */
void park_wait(struct park *p, struct request *r);
/* park_retry - owner thread: call the bodies of waiting requests again. */
void park_retry(struct park *p);
unsigned park_waiting(struct park *p);

/* park_commit - the owner's body is about to do what cannot be taken back: from now on the answer
 * is its result, whatever the time. Return: false when it was answered with an error already, or is
 * to be interrupted: then it must not do it. */
bool park_commit(struct park *p, struct request *r);

/* park_reap - main thread: answer requests that were interrupted or made no progress for too long.
 * @all: everybody, with -ENODEV (shutdown). */
void park_reap(struct park *p, bool all);

/* park_kick - any thread: have the main thread look (poll handles, interrupts). */
void park_kick(struct park *p);
void park_kick_polled(struct park *p); /* only when somebody polls */
int park_fd(struct park *p);           /* readable after a kick; park_drain() empties it */
void park_drain(struct park *p);

/* poll handles: keep the newest per handle. fs->lock held. */
void park_poll_set(struct park *p, struct handle *h, struct fuse_pollhandle *ph, unsigned events);
void park_poll_drop(struct park *p, struct handle *h);
/* park_poll_events - what poll(2) on @h would say now. fs->lock held. */
unsigned park_poll_events(struct fs *fs, struct handle *h);
/* park_poll_wake - main thread: notify handles that are ready. */
void park_poll_wake(struct park *p);

#endif
