/* jobs.h - the bounded priority queue in front of the owner thread, the only caller of the card.
 * Order: priority, then age. A job that has waited JOBS_AGE_MS counts as interactive, so that a
 * background job is delayed but never starved. Source: architecture.md, "Layers", owner thread.
 */
#ifndef FS_JOBS_H
#define FS_JOBS_H

#include <stdbool.h>
#include <stdint.h>

enum job_priority { JOB_SAFETY, JOB_FEED, JOB_INTERACTIVE, JOB_BACKGROUND };

#define JOBS_AGE_MS 2000

struct jobs;

struct job {
	struct job *next;
	enum job_priority priority;
	uint64_t queued_ns; /* filled in by jobs_put */
	void (*run)(struct job *job);
};

struct jobs *jobs_new(unsigned capacity); /* NULL: no memory */
void jobs_free(struct jobs *q);           /* the queue must be empty */

/* jobs_put - hand over @job; it stays the caller's memory. Return: 0; -EAGAIN full; -ESHUTDOWN
 * stopped. */
int jobs_put(struct jobs *q, struct job *job);
/* jobs_cancel - take @job back. Return: true when it had not been taken yet. */
bool jobs_cancel(struct jobs *q, struct job *job);
/* jobs_take - the most urgent job; waits up to @wait_ms for one. NULL: none came or stopped and
 * empty. */
struct job *jobs_take(struct jobs *q, unsigned wait_ms);
/* jobs_take_above - the most urgent job strictly more urgent than @priority; never waits. */
struct job *jobs_take_above(struct jobs *q, enum job_priority priority);
/* jobs_wake - end a wait in jobs_take. */
void jobs_wake(struct jobs *q);
/* jobs_stop - refuse new jobs; those queued are still handed out. */
void jobs_stop(struct jobs *q);
bool jobs_stopped(struct jobs *q);

#endif
