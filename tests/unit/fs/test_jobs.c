/* The queue in front of the owner: order, bounds, ageing, and several threads at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "device/clock.h"
#include "fs/jobs.h"

static void more_urgent_jobs_come_first_then_older_ones(void **state)
{
	struct jobs *q = jobs_new(8);
	struct job a = {.priority = JOB_BACKGROUND}, b = {.priority = JOB_INTERACTIVE},
	           c = {.priority = JOB_INTERACTIVE}, d = {.priority = JOB_SAFETY};

	(void)state;
	assert_int_equal(jobs_put(q, &a), 0);
	assert_int_equal(jobs_put(q, &b), 0);
	assert_int_equal(jobs_put(q, &c), 0);
	assert_int_equal(jobs_put(q, &d), 0);
	assert_ptr_equal(jobs_take(q, 0), &d);
	assert_ptr_equal(jobs_take(q, 0), &b);
	assert_ptr_equal(jobs_take(q, 0), &c);
	assert_ptr_equal(jobs_take(q, 0), &a);
	assert_null(jobs_take(q, 0));
	jobs_free(q);
}

static void only_strictly_more_urgent_jobs_interrupt(void **state)
{
	struct jobs *q = jobs_new(8);
	struct job i = {.priority = JOB_INTERACTIVE}, f = {.priority = JOB_FEED};

	(void)state;
	jobs_put(q, &i);
	assert_null(jobs_take_above(q, JOB_INTERACTIVE));
	jobs_put(q, &f);
	assert_null(jobs_take_above(q, JOB_FEED));
	assert_ptr_equal(jobs_take_above(q, JOB_INTERACTIVE), &f);
	assert_ptr_equal(jobs_take_above(q, JOB_BACKGROUND), &i);
	jobs_free(q);
}

static void a_background_job_is_delayed_but_not_starved(void **state)
{
	struct jobs *q = jobs_new(8);
	struct job old = {.priority = JOB_BACKGROUND}, young = {.priority = JOB_INTERACTIVE};

	(void)state;
	jobs_put(q, &old);
	jobs_put(q, &young);
	old.queued_ns -= (JOBS_AGE_MS + 1) * 1000000ull;
	assert_ptr_equal(jobs_take(q, 0), &old);
	assert_ptr_equal(jobs_take(q, 0), &young);
	jobs_free(q);
}

static void a_full_queue_refuses_and_a_stopped_one_drains(void **state)
{
	struct jobs *q = jobs_new(2);
	struct job a = {0}, b = {0}, c = {0};

	(void)state;
	assert_int_equal(jobs_put(q, &a), 0);
	assert_int_equal(jobs_put(q, &b), 0);
	assert_int_equal(jobs_put(q, &c), -EAGAIN);
	assert_true(jobs_cancel(q, &b));
	assert_false(jobs_cancel(q, &b));
	assert_int_equal(jobs_put(q, &c), 0);
	jobs_stop(q);
	assert_int_equal(jobs_put(q, &b), -ESHUTDOWN);
	assert_ptr_equal(jobs_take(q, 3600000), &a);
	assert_ptr_equal(jobs_take(q, 3600000), &c);
	assert_null(jobs_take(q, 3600000)); /* at once, not after an hour */
	assert_true(jobs_stopped(q));
	jobs_free(q);
}

static void a_wait_ends_in_time_or_when_woken(void **state)
{
	struct jobs *q = jobs_new(2);
	uint64_t start = now_ns();

	(void)state;
	assert_null(jobs_take(q, 30));
	uint64_t waited = (now_ns() - start) / 1000000u;

	if (waited < 30)
		fail_msg("expected a wait of 30 ms at least, got %u", (unsigned)waited);
	jobs_wake(q);
	assert_null(jobs_take(q, 3600000)); /* longer than any test may take */
	jobs_free(q);
}

#define PRODUCERS 4
#define EACH      2000

static atomic_uint done;

static void count(struct job *job)
{
	(void)job;
	atomic_fetch_add(&done, 1);
}

struct producer {
	struct jobs *q;
	struct job jobs[EACH];
};

static void *produce(void *arg)
{
	struct producer *p = arg;

	for (int i = 0; i < EACH; i++) {
		p->jobs[i].run = count;
		p->jobs[i].priority = (enum job_priority)(i % 4);
		while (jobs_put(p->q, &p->jobs[i]) == -EAGAIN)
			sleep_us(50);
	}
	return NULL;
}

static void every_job_of_every_thread_runs_once(void **state)
{
	static struct producer p[PRODUCERS];
	pthread_t t[PRODUCERS];
	struct jobs *q = jobs_new(16);

	(void)state;
	for (int i = 0; i < PRODUCERS; i++) {
		p[i].q = q;
		assert_int_equal(pthread_create(&t[i], NULL, produce, &p[i]), 0);
	}
	unsigned taken = 0;

	while (taken < PRODUCERS * EACH) {
		struct job *job = jobs_take(q, 5000);

		assert_non_null(job);
		job->run(job);
		taken++;
	}
	for (int i = 0; i < PRODUCERS; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(atomic_load(&done), PRODUCERS * EACH);
	assert_null(jobs_take(q, 0));
	jobs_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(more_urgent_jobs_come_first_then_older_ones),
	        cmocka_unit_test(only_strictly_more_urgent_jobs_interrupt),
	        cmocka_unit_test(a_background_job_is_delayed_but_not_starved),
	        cmocka_unit_test(a_full_queue_refuses_and_a_stopped_one_drains),
	        cmocka_unit_test(a_wait_ends_in_time_or_when_woken),
	        cmocka_unit_test(every_job_of_every_thread_runs_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
