/* helper_plan.c - see helper_plan.h. */
#include "helper_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/clock.h"
#include "device/compile/compile.h"
#include "device/plan/plan_priv.h"

#define RUN_S 120u /* for what must happen, on a busy machine */

int bench_open(void **state)
{
	const struct rx_options opt = {.card = "virtual,posted"};
	struct bench *b = calloc(1, sizeof(*b));

	if (!b || rx_open(&b->rx, &opt) || rx_kernels_new(&b->kernels, b->rx))
		return -1;
	*state = b;
	return 0;
}

int bench_close(void **state)
{
	struct bench *b = *state;
	struct rx_info info;

	rx_kernels_free(b->kernels);
	rx_read_info(b->rx, &info);
	rx_close(b->rx);
	free(b);
	if (info.guest_errors)
		print_error("expected 0 guest errors, got %llu\n",
		        (unsigned long long)info.guest_errors);
	return info.guest_errors ? -1 : 0;
}

void bench_module(struct bench *b, const char *name, const char *source)
{
	struct compile_result r;
	char why[256] = "";

	if (compile_opencl(name, source, strlen(source), &r))
		fail_msg("%s does not compile: %s", name, r.log ? r.log : "");
	if (rx_module_put(b->kernels, name, r.elf, r.elf_size, why, sizeof(why)))
		fail_msg("%s: %s", name, why);
	compile_result_free(&r);
}

struct rx_buffer *bench_buffer(struct bench *b, const char *name, uint64_t bytes)
{
	struct rx_buffer *buffer;

	assert_int_equal(rx_buffer_create(b->rx, name, &buffer), 0);
	assert_int_equal(rx_buffer_resize(b->rx, buffer, bytes), 0);
	return buffer;
}

void bench_write(struct bench *b, const char *buffer, uint64_t offset, const void *data, size_t len)
{
	assert_int_equal(
	        rx_vram_write(
	                b->rx, rx_buffer_offset(rx_buffer_find(b->rx, buffer)) + offset, data, len),
	        0);
}

void bench_read(struct bench *b, const char *buffer, uint64_t offset, void *data, size_t len)
{
	assert_int_equal(
	        rx_vram_read(
	                b->rx, rx_buffer_offset(rx_buffer_find(b->rx, buffer)) + offset, data, len),
	        0);
}

struct plan *bench_plan(struct bench *b, const char *name, const char *json)
{
	struct plan *p = NULL;
	char why[256] = "";

	if (plan_load(&p, b->rx, b->kernels, name, json, strlen(json), why, sizeof(why)))
		fail_msg("plan %s: %s", name, why);
	return p;
}

void bench_refuse(struct bench *b, const char *json, int code, const char *says)
{
	struct plan *p = NULL;
	char why[256] = "";
	int err = plan_load(&p, b->rx, b->kernels, "refused", json, strlen(json), why, sizeof(why));

	if (err != code || !strstr(why, says))
		fail_msg("%s:\nexpected %d and \"%s\", got %d and \"%s\"", json, code, says, err,
		        why);
}

void bench_run(struct plan *p, uint64_t steps)
{
	uint64_t deadline = deadline_in_ms(RUN_S * 1000ull);
	struct plan_status s;

	plan_read_status(p, &s);
	uint64_t want = s.steps_done + steps;
	for (;;) {
		int ms = plan_service(p);
		plan_read_status(p, &s);
		if (ms < 0 || deadline_passed(deadline))
			fail_msg("expected %llu steps within %u s, got %llu (service %d, error "
			         "\"%s\")",
			        (unsigned long long)want, RUN_S, (unsigned long long)s.steps_done,
			        ms, s.error);
		if (s.steps_done >= want || s.state == PLAN_FAILED)
			return;
		sleep_us(1000);
	}
}

void bench_settle(struct plan *p)
{
	uint64_t deadline = deadline_in_ms(RUN_S * 1000ull);
	struct plan_status s;

	for (plan_read_status(p, &s); s.state == PLAN_RUNNING; plan_read_status(p, &s)) {
		if (deadline_passed(deadline))
			fail_msg("after %llu steps, still running after %u s",
			        (unsigned long long)s.steps_done, RUN_S);
		assert_true(plan_service(p) >= 0);
		sleep_us(1000);
	}
}

static int service_until(struct plan *p, bool (*pending)(const struct plan *p), int err)
{
	uint64_t deadline = deadline_in_ms(RUN_S * 1000ull);

	if (err != -EINPROGRESS)
		return err;
	while (pending(p)) {
		assert_true(plan_service(p) >= 0);
		if (deadline_passed(deadline))
			fail_msg("expected a step boundary within %u s", RUN_S);
		sleep_us(1000);
	}
	return 0;
}

int bench_stop(struct plan *p)
{
	return service_until(p, plan_is_stopping, plan_stop(p));
}

static bool boundary_wanted(const struct plan *p)
{
	return p->boundary_fn != NULL;
}

int bench_boundary(struct plan *p, int (*fn)(void *ctx, int err), void *ctx)
{
	return service_until(p, boundary_wanted, plan_at_boundary(p, fn, ctx));
}

void bench_service(struct plan *p, unsigned ms)
{
	uint64_t deadline = deadline_in_ms(ms);

	while (!deadline_passed(deadline)) {
		assert_true(plan_service(p) >= 0);
		sleep_us(1000);
	}
}
