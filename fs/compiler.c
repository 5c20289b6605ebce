/* compiler.c - see compiler.h. */
#include "fs/compiler.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/err.h"
#include "fs/fs.h"

struct compiler {
	struct fs *fs;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct compile_task *head, **tail;
	unsigned count;
	struct node *current; /* whose source clang has; NULL: it is idle */
	bool stopped;
	atomic_int tid; /* of the thread; 0: not running */
};

struct compiler *compiler_new(struct fs *fs)
{
	struct compiler *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->fs = fs;
	c->tail = &c->head;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->wake, NULL);
	return c;
}

void compile_task_free(struct compile_task *t)
{
	fs_lock(t->fs);
	node_put(t->fs, t->node);
	fs_unlock(t->fs);
	compile_result_free(&t->result);
	free(t->file);
	free(t->source);
	free(t);
}

void compiler_free(struct compiler *c)
{
	if (!c)
		return;
	while (c->head) {
		struct compile_task *t = c->head;

		c->head = t->next;
		compile_task_free(t);
	}
	pthread_cond_destroy(&c->wake);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

int compiler_put(struct compiler *c, struct compile_task *t)
{
	int err = 0;

	pthread_mutex_lock(&c->lock);
	if (c->count == COMPILER_QUEUE) {
		err = -EAGAIN;
	} else {
		t->next = NULL;
		*c->tail = t;
		c->tail = &t->next;
		c->count++;
		pthread_cond_signal(&c->wake);
	}
	pthread_mutex_unlock(&c->lock);
	return err;
}

static struct compile_task *take(struct compiler *c)
{
	struct compile_task *t = NULL;

	pthread_mutex_lock(&c->lock);
	while (!c->head && !c->stopped)
		pthread_cond_wait(&c->wake, &c->lock);
	if (!c->stopped) {
		t = c->head;
		c->head = t->next;
		if (!c->head)
			c->tail = &c->head;
		c->count--;
	}
	pthread_mutex_unlock(&c->lock);
	return t;
}

static bool wanted(const struct compile_task *t)
{
	fs_lock(t->fs);
	bool linked = t->node->linked;
	fs_unlock(t->fs);
	return linked;
}

static void set_current(struct compiler *c, struct node *n)
{
	pthread_mutex_lock(&c->lock);
	c->current = n;
	pthread_mutex_unlock(&c->lock);
}

void *compiler_main(void *arg)
{
	struct fs *fs = arg;
	struct compile_task *t;

	pthread_setname_np(pthread_self(), "compiler");
	atomic_store(&fs->compiler->tid, gettid());
	while ((t = take(fs->compiler)) != NULL) {
		set_current(fs->compiler, t->node);
		t->err = !wanted(t) ? -ECANCELED
		                    : compile_opencl(t->file, t->source, t->len, &t->result);
		set_current(fs->compiler, NULL);
		if (jobs_put(fs->jobs, &t->job) != 0)
			compile_task_free(t); /* the daemon is going down */
	}
	return NULL;
}

void compiler_stop(struct compiler *c)
{
	pthread_mutex_lock(&c->lock);
	c->stopped = true;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
}

void compiler_kill(struct compiler *c)
{
	char path[64];
	int pid;

	/* proc(5): children of one thread; compile.c gives each a process group of its own */
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", atomic_load(&c->tid));
	FILE *f = fopen(path, "re");

	while (f && fscanf(f, "%d", &pid) == 1)
		if (pid > 1)
			kill(-pid, SIGKILL);
	if (f)
		fclose(f);
}

void compiler_forget(struct compiler *c, const struct node *n)
{
	/* under the lock, so that the next source's clang is not the one to go */
	pthread_mutex_lock(&c->lock);
	if (c->current == n)
		compiler_kill(c);
	pthread_mutex_unlock(&c->lock);
}
