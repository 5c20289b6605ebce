/* helper_plan.h - an open virtual card with modules and buffers, for plan and checkpoint tests. */
#ifndef HELPER_PLAN_H
#define HELPER_PLAN_H

#include "device/plan/plan.h"
#include "device/rx580.h"

struct bench {
	struct rx580 *rx;
	struct rx_kernels *kernels;
};

/* bench_open - cmocka setup: *state becomes a struct bench. The enclosure's counters start at zero
 * guest errors. */
int bench_open(void **state);
/* bench_close - cmocka teardown; fails when the card counted guest errors. */
int bench_close(void **state);

/* bench_module - compile @source and publish it as module @name. */
void bench_module(struct bench *b, const char *name, const char *source);
struct rx_buffer *bench_buffer(struct bench *b, const char *name, uint64_t bytes);
void bench_write(
        struct bench *b, const char *buffer, uint64_t offset, const void *data, size_t len);
void bench_read(struct bench *b, const char *buffer, uint64_t offset, void *data, size_t len);
/* bench_plan - load or fail the test with the message. */
struct plan *bench_plan(struct bench *b, const char *name, const char *json);
/* bench_refuse - the plan must be refused with @code and a sentence holding @says. */
void bench_refuse(struct bench *b, const char *json, int code, const char *says);
/* bench_run - service until @steps more are done or the plan failed. */
void bench_run(struct plan *p, uint64_t steps);
/* bench_settle - service until nothing of it runs any more. */
void bench_settle(struct plan *p);
/* bench_stop - plan_stop, and service until the plan stands; Return: what it
 * returned, 0 for -EINPROGRESS. */
int bench_stop(struct plan *p);
/* bench_boundary - the same for plan_at_boundary. */
int bench_boundary(struct plan *p, int (*fn)(void *ctx, int err), void *ctx);
/* bench_service - service for @ms, so that what must not happen had its chance. */
void bench_service(struct plan *p, unsigned ms);

#endif
