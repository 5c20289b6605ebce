/* jobs.c - see jobs.h. */
#include "fs/jobs.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "device/clock.h"

struct jobs {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct job *head; /* oldest first */
	struct job **tail;
	unsigned count, capacity;
	bool stopped, kicked;
};

struct jobs *jobs_new(unsigned capacity)
{
	struct jobs *q = calloc(1, sizeof(*q));
	pthread_condattr_t attr;

	if (!q)
		return NULL;
	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&q->wake, &attr);
	pthread_condattr_destroy(&attr);
	q->tail = &q->head;
	q->capacity = capacity;
	return q;
}

void jobs_free(struct jobs *q)
{
	if (!q)
		return;
	pthread_cond_destroy(&q->wake);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

int jobs_put(struct jobs *q, struct job *job)
{
	int err = 0;

	pthread_mutex_lock(&q->lock);
	if (q->stopped) {
		err = -ESHUTDOWN;
	} else if (q->count == q->capacity) {
		err = -EAGAIN;
	} else {
		job->next = NULL;
		job->queued_ns = now_ns();
		*q->tail = job;
		q->tail = &job->next;
		q->count++;
		pthread_cond_signal(&q->wake);
	}
	pthread_mutex_unlock(&q->lock);
	return err;
}

static void unlink_at(struct jobs *q, struct job **at)
{
	struct job *job = *at;

	*at = job->next;
	if (q->tail == &job->next)
		q->tail = at;
	job->next = NULL;
	q->count--;
}

bool jobs_cancel(struct jobs *q, struct job *job)
{
	bool found = false;

	pthread_mutex_lock(&q->lock);
	for (struct job **at = &q->head; *at; at = &(*at)->next)
		if (*at == job) {
			unlink_at(q, at);
			found = true;
			break;
		}
	pthread_mutex_unlock(&q->lock);
	return found;
}

static enum job_priority effective(const struct job *job, uint64_t now)
{
	if (job->priority == JOB_BACKGROUND && now - job->queued_ns > JOBS_AGE_MS * 1000000ull)
		return JOB_INTERACTIVE;
	return job->priority;
}

/* The list is in order of age, so the first of the best priority is the right one. */
static struct job *take_best(struct jobs *q, unsigned limit)
{
	uint64_t now = now_ns();
	unsigned best = limit;
	struct job **found = NULL;

	for (struct job **at = &q->head; *at; at = &(*at)->next) {
		unsigned p = effective(*at, now);

		if (p < best) {
			best = p;
			found = at;
		}
	}
	if (!found)
		return NULL;

	struct job *job = *found;

	unlink_at(q, found);
	return job;
}

struct job *jobs_take(struct jobs *q, unsigned wait_ms)
{
	uint64_t until = deadline_in_ms(wait_ms);
	struct timespec ts = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
	struct job *job;

	pthread_mutex_lock(&q->lock);
	while (!(job = take_best(q, JOB_BACKGROUND + 1)) && !q->stopped && !q->kicked)
		if (pthread_cond_timedwait(&q->wake, &q->lock, &ts) == ETIMEDOUT)
			break;
	q->kicked = false;
	pthread_mutex_unlock(&q->lock);
	return job;
}

struct job *jobs_take_above(struct jobs *q, enum job_priority priority)
{
	pthread_mutex_lock(&q->lock);
	struct job *job = take_best(q, priority);
	pthread_mutex_unlock(&q->lock);
	return job;
}

void jobs_wake(struct jobs *q)
{
	pthread_mutex_lock(&q->lock);
	q->kicked = true;
	pthread_cond_signal(&q->wake);
	pthread_mutex_unlock(&q->lock);
}

void jobs_stop(struct jobs *q)
{
	pthread_mutex_lock(&q->lock);
	q->stopped = true;
	pthread_cond_broadcast(&q->wake);
	pthread_mutex_unlock(&q->lock);
}

bool jobs_stopped(struct jobs *q)
{
	pthread_mutex_lock(&q->lock);
	bool stopped = q->stopped;
	pthread_mutex_unlock(&q->lock);
	return stopped;
}
