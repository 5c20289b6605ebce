/* threads.c - who runs what. Four threads, no others above the cable:
 *
 *  main      signals, time-outs, interrupts, poll wake-up, asks for samples (fs/main.c, fs/park.c)
 *  session   parses FUSE requests, answers from memory or queues them; never waits (fs/session.c)
 *  owner     the only caller of device/ owner-thread functions; one job at a time, strictly more
 *            urgent ones in between (fs_yield)
 *  compiler  runs clang as a child process (fs/compiler.c)
 *
 * They share the node tree (fs->lock), the job queue and the list of live requests (their own
 * locks, taken after fs->lock is released or, for both, never while calling the card).
 */
#include "fs/threads.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "device/err.h"
#include "fs/compiler.h"
#include "fs/park.h"
#include "fs/session.h"

struct threads {
	struct fs *fs;
	pthread_t owner, session, compiler;
	bool has_session, has_compiler;
	sem_t opened;
	int open_result;
	atomic_bool session_ended;
};

static void *owner_main(void *arg)
{
	struct threads *t = arg;
	struct fs *fs = t->fs;
	unsigned wait_ms = 0;

	pthread_setname_np(pthread_self(), "owner");
	t->open_result = fs_card_open(fs);
	int failed = t->open_result;

	sem_post(&t->opened);
	while (!failed) {
		struct job *job = jobs_take(fs->jobs, wait_ms);

		if (job)
			fs_run_job(fs, job);
		else if (jobs_stopped(fs->jobs))
			break;
		wait_ms = fs_tick(fs);
	}
	if (!failed) {
		fs_card_keep(fs);
		fs_card_close(fs);
	}
	return NULL;
}

static void *session_main(void *arg)
{
	struct threads *t = arg;

	pthread_setname_np(pthread_self(), "session");
	session_loop(t->fs);
	atomic_store(&t->session_ended, true);
	park_kick(t->fs->park);
	return NULL;
}

int threads_start_owner(struct threads **out, struct fs *fs)
{
	struct threads *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->fs = fs;
	sem_init(&t->opened, 0, 0);
	if (pthread_create(&t->owner, NULL, owner_main, t) != 0) {
		free(t);
		return rx_fail("fs", -EAGAIN, "cannot start a thread");
	}
	while (sem_wait(&t->opened) != 0) {
	}
	if (t->open_result) {
		int err = t->open_result;

		pthread_join(t->owner, NULL);
		sem_destroy(&t->opened);
		free(t);
		return err;
	}
	*out = t;
	return 0;
}

int threads_start_rest(struct threads *t)
{
	t->has_compiler = pthread_create(&t->compiler, NULL, compiler_main, t->fs) == 0;
	t->has_session = pthread_create(&t->session, NULL, session_main, t) == 0;
	if (!t->has_compiler || !t->has_session)
		return rx_fail("fs", -EAGAIN, "cannot start a thread");
	return 0;
}

bool threads_session_ended(struct threads *t)
{
	return atomic_load(&t->session_ended);
}

static int join_within(pthread_t thread, unsigned ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	return pthread_timedjoin_np(thread, NULL, &until);
}

static void on_poke(int sig)
{
	(void)sig;
}

/* The session thread sits in read(2) on /dev/fuse: interrupt it until it has seen the exit flag. */
static void stop_session(struct threads *t)
{
	struct sigaction sa = {.sa_handler = on_poke};

	sigaction(SIGUSR1, &sa, NULL);
	session_exit(t->fs);
	do
		pthread_kill(t->session, SIGUSR1);
	while (join_within(t->session, 20) != 0);
}

/* clang may take a minute: end it, so that the thread removes its files and goes. */
static bool stop_compiler(struct threads *t)
{
	if (!t->has_compiler)
		return true;
	for (int i = 0; i < 50; i++) {
		if (join_within(t->compiler, 100) == 0)
			return true;
		compiler_kill(t->fs->compiler);
	}
	pthread_detach(t->compiler);
	return false;
}

bool threads_stop(struct threads *t)
{

	if (t->has_session)
		stop_session(t);
	jobs_stop(t->fs->jobs);
	compiler_stop(t->fs->compiler);
	park_reap(t->fs->park, true);
	pthread_join(t->owner, NULL);
	park_reap(t->fs->park, true);
	bool all = stop_compiler(t);

	sem_destroy(&t->opened);
	free(t);
	return all;
}
