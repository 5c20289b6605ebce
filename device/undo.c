/* undo.c - see undo.h. */
#include "device/undo.h"

#include <assert.h>

void undo_push(struct undo *u, void (*fn)(void *ctx), void *ctx)
{
	assert(u->count < (int)(sizeof(u->step) / sizeof(u->step[0])));
	u->step[u->count].fn = fn;
	u->step[u->count].ctx = ctx;
	u->count++;
}

void undo_run(struct undo *u)
{
	undo_run_to(u, 0);
}

void undo_run_to(struct undo *u, int count)
{
	while (u->count > count) {
		u->count--;
		u->step[u->count].fn(u->step[u->count].ctx);
	}
}
