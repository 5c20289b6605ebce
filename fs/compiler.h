/* compiler.h - the compiler thread: OpenCL C in, code object or diagnostics out. It knows nothing
 * of the card and never waits for anybody but clang.
 */
#ifndef FS_COMPILER_H
#define FS_COMPILER_H

#include <stdint.h>

#include "device/compile/compile.h"
#include "fs/jobs.h"
#include "fs/tree.h"

#define COMPILER_QUEUE 16 /* sources waiting */

struct fs;
struct compiler;

struct compile_task {
	struct job
	        job; /* how it comes back to the owner thread; freed by compile_task_free there */
	struct compile_task *next;
	struct fs *fs;
	struct node *node; /* NAME.cl: a reference */
	uint64_t seq;      /* of the source in that node */
	char *file;        /* "NAME.cl", for diagnostics */
	char *source;
	size_t len;
	int err; /* of compile_opencl */
	struct compile_result result;
};

struct compiler *compiler_new(struct fs *fs);
void compiler_free(struct compiler *c);
/* compiler_put - takes @t over. Return: 0; -EAGAIN COMPILER_QUEUE are waiting; @t is the caller's
 * again. */
int compiler_put(struct compiler *c, struct compile_task *t);
void compile_task_free(struct compile_task *t); /* fs->lock not held */
/* compiler_main - the thread; ends after compiler_stop. */
void *compiler_main(void *fs);
void compiler_stop(struct compiler *c);
/* compiler_kill - end the child process it waits for, if any; its thread then cleans up. Any
 * thread. */
void compiler_kill(struct compiler *c);
/* compiler_forget - @n was taken out of its folder: end the clang that has its source. */
void compiler_forget(struct compiler *c, const struct node *n);

#endif
