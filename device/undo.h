/* undo.h - a stack of callbacks that takes back hardware steps in reverse order (architecture.md,
 * resource discipline). */
#ifndef RX_UNDO_H
#define RX_UNDO_H

struct undo {
	struct {
		void (*fn)(void *ctx);
		void *ctx;
	} step[24];
	int count;
};

/* undo_push - register @fn to be called by undo_run. Running out of room is a programming error
 * (assert). */
void undo_push(struct undo *u, void (*fn)(void *ctx), void *ctx);

/* undo_run - call all registered callbacks, newest first, and empty the stack. */
void undo_run(struct undo *u);

/* undo_run_to - the same for what was pushed when there were @count of them and later. */
void undo_run_to(struct undo *u, int count);

#endif
