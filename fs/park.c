/* park.c - see park.h. */
#include "fs/park.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "device/err.h"
#include "fs/dispatch.h"

struct park {
	struct fs *fs;
	pthread_mutex_t lock;
	struct request *live; /* all that are queued, running or waiting */
	unsigned count, waiting;
	int fd;                /* eventfd */
	struct handle *polled; /* fs->lock */
};

struct park *park_new(struct fs *fs)
{
	struct park *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->fs = fs;
	p->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->fd < 0) {
		free(p);
		return NULL;
	}
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

void park_free(struct park *p)
{
	if (!p)
		return;
	close(p->fd);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

void park_kick(struct park *p)
{
	uint64_t one = 1;
	ssize_t n = write(p->fd, &one, sizeof(one));

	(void)n; /* a full counter is readable all the same */
}

void park_kick_polled(struct park *p)
{
	fs_lock(p->fs);
	bool polled = p->polled != NULL;
	fs_unlock(p->fs);
	if (polled)
		park_kick(p);
}

int park_fd(struct park *p)
{
	return p->fd;
}

void park_drain(struct park *p)
{
	uint64_t count;
	ssize_t n = read(p->fd, &count, sizeof(count));

	(void)n;
}

/* Called by libfuse with the request's lock held: only take a note. */
static void on_interrupt(fuse_req_t req, void *data)
{
	struct request *r = data;

	(void)req;
	atomic_store(&r->interrupted, true);
	park_kick(r->fs->park);
}

int park_add(struct park *p, struct request *r)
{
	pthread_mutex_lock(&p->lock);
	/* a release must not be lost: it gives memory back */
	if (p->count >= FS_MAX_REQUESTS && r->kind != REQ_RELEASE) {
		pthread_mutex_unlock(&p->lock);
		return -EAGAIN;
	}
	r->next = p->live;
	r->prev = NULL;
	if (p->live)
		p->live->prev = r;
	p->live = r;
	p->count++;
	r->state = R_QUEUED;
	pthread_mutex_unlock(&p->lock);
	if (r->req)
		fuse_req_interrupt_func(r->req, on_interrupt, r);
	return 0;
}

static void unlist(struct park *p, struct request *r)
{
	if (r->prev)
		r->prev->next = r->next;
	else if (p->live == r)
		p->live = r->next;
	else
		return; /* was never listed */
	if (r->next)
		r->next->prev = r->prev;
	r->prev = r->next = NULL;
	p->count--;
	if (r->state == R_PARKED)
		p->waiting--;
}

void park_remove(struct park *p, struct request *r)
{
	pthread_mutex_lock(&p->lock);
	unlist(p, r);
	pthread_mutex_unlock(&p->lock);
}

static void set_state(struct park *p, struct request *r, enum request_state state)
{
	pthread_mutex_lock(&p->lock);
	if (r->state == R_PARKED)
		p->waiting--;
	if (state == R_PARKED)
		p->waiting++;
	r->state = state;
	pthread_mutex_unlock(&p->lock);
}

void park_begin(struct park *p, struct request *r)
{
	set_state(p, r, R_RUNNING);
}

void park_wait(struct park *p, struct request *r)
{
	set_state(p, r, R_PARKED);
	if (atomic_load(&r->interrupted))
		park_kick(p);
}

unsigned park_waiting(struct park *p)
{
	pthread_mutex_lock(&p->lock);
	unsigned n = p->waiting;
	pthread_mutex_unlock(&p->lock);
	return n;
}

/* Take the oldest parked request that was not looked at in this round. */
static struct request *next_parked(struct park *p, uint64_t round)
{
	struct request *found = NULL;

	pthread_mutex_lock(&p->lock);
	for (struct request *r = p->live; r; r = r->next)
		if (r->state == R_PARKED && r->retry_round != round)
			found = r;
	if (found) {
		found->retry_round = round;
		found->state = R_RUNNING;
		p->waiting--;
	}
	pthread_mutex_unlock(&p->lock);
	return found;
}

static int call_body(void *ctx)
{
	return dispatch_body(ctx);
}

void park_retry(struct park *p)
{
	static uint64_t round; /* owner thread only */
	struct request *r;

	round++;
	while ((r = next_parked(p, round)) != NULL) {
		int result = -ENODEV;

		if (r->node->type->flags & N_DAEMON || !fs_card_gone(p->fs))
			result = fs_run_as(p->fs, r->job.priority, call_body, r);

		if (result == REQUEST_PARK && !atomic_load(&r->answered))
			park_wait(p, r);
		else
			request_finish(r, result);
	}
}

/* What to answer @r with now; 0: nothing yet. */
static int verdict(struct request *r, bool all)
{
	if (all)
		return -ENODEV;
	/* one that is sure of its success, or that nobody waits for and that ends by itself */
	if (r->committed || r->kind == REQ_RELEASE)
		return 0;
	if (atomic_load(&r->interrupted) && r->state != R_RUNNING)
		return -EINTR;
	return request_idle_ms(r) >= FS_TOTAL_MS && r->req ? -ETIMEDOUT : 0;
}

bool park_commit(struct park *p, struct request *r)
{
	pthread_mutex_lock(&p->lock);
	r->committed = !atomic_load(&r->answered) && !atomic_load(&r->interrupted);
	bool committed = r->committed;
	pthread_mutex_unlock(&p->lock);
	return committed;
}

/* Find one request to answer and take it out of the owner's reach, unless it is running. */
static struct request *reap_one(struct park *p, bool all, int *result)
{
	struct request *found = NULL;

	pthread_mutex_lock(&p->lock);
	for (struct request *r = p->live; r && !found; r = r->next) {
		*result = atomic_load(&r->answered) ? 0 : verdict(r, all);
		if (!*result)
			continue;
		/* what was consumed of a stream is not to be sent again */
		if (r->progress && r->state != R_RUNNING)
			*result = (int)r->progress;
		if (r->state == R_RUNNING) {
			/* the owner frees it when it comes back from the card */
			request_answer(r, *result);
		} else if (r->state == R_PARKED || jobs_cancel(p->fs->jobs, &r->job)) {
			unlist(p, r);
			found = r;
		}
	}
	pthread_mutex_unlock(&p->lock);
	return found;
}

void park_reap(struct park *p, bool all)
{
	struct request *r;
	int result;

	while ((r = reap_one(p, all, &result)) != NULL)
		request_finish(r, result);
}

void park_poll_drop(struct park *p, struct handle *h)
{
	if (!h->poll)
		return;
	for (struct handle **at = &p->polled; *at; at = &(*at)->next_polled)
		if (*at == h) {
			*at = h->next_polled;
			break;
		}
	fuse_pollhandle_destroy(h->poll);
	h->poll = NULL;
}

void park_poll_set(struct park *p, struct handle *h, struct fuse_pollhandle *ph, unsigned events)
{
	park_poll_drop(p, h);
	h->poll = ph;
	h->poll_events = events;
	h->next_polled = p->polled;
	p->polled = h;
}

static bool text_changed(struct fs *fs, struct handle *h)
{
	const struct node_ops *ops = h->node->type->ops;
	struct text t = {0};

	if (!h->has_read)
		return true;
	if (ops->version)
		return ops->version(fs, h->node) != h->seen;
	ops->text(fs, h->node, &t);
	bool changed = text_hash(t.data, t.len) != h->seen;

	text_free(&t);
	return changed;
}

unsigned park_poll_events(struct fs *fs, struct handle *h)
{
	const struct node_type *t = h->node->type;
	struct rx_info info;
	unsigned ready = 0;

	fs_read_info(fs, &info);
	if (info.state == RX_GONE && !(t->flags & N_DAEMON))
		return POLLERR | POLLHUP;
	if (t->poll == P_OWN)
		return t->ops->poll(fs, h->node, h);
	if (t->poll == P_GROWS) {
		struct growing *g = t->ops->growing(fs, h->node);

		return g && growing_size(g) > h->seen ? POLLIN | POLLRDNORM : 0;
	}
	if (h->node->mode & 0444)
		ready |= POLLIN | POLLRDNORM;
	if (h->node->mode & 0222)
		ready |= POLLOUT | POLLWRNORM;
	if (t->poll == P_PRI && text_changed(fs, h))
		ready |= POLLPRI;
	return ready;
}

void park_poll_wake(struct park *p)
{
	struct fs *fs = p->fs;

	fs_lock(fs);
	for (struct handle *h = p->polled, *next; h; h = next) {
		next = h->next_polled;
		if (!(park_poll_events(fs, h) & (h->poll_events | POLLERR | POLLHUP)))
			continue;
		fuse_lowlevel_notify_poll(h->poll);
		park_poll_drop(p, h);
	}
	fs_unlock(fs);
}
