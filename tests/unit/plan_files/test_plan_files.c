/* test_plan_files.c - plans/ on a slow link, without FUSE in front: the closes and writes that take
 * long, what others get meanwhile, and that no answer lies. The owner's rounds are called by hand,
 * and time passes only where a test says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "device/clock.h"
#include "device/compile/compile.h"
#include "device/core/rx580_priv.h"
#include "fs/dispatch.h"
#include "fs/nodes.h"
#include "fs/options.h"
#include "fs/park.h"
#include "fs/plans.h"

#define ROUNDS     20000 /* far more than any of these takes */
#define MINUTES_NS 600000000000ull

/* What stands for a FUSE request: the answer it got. */
struct answer {
	unsigned given;
	int result;
};

static int note(fuse_req_t req, int result)
{
	struct answer *a = (struct answer *)(void *)req;

	a->given++;
	a->result = result;
	return 0;
}

int __wrap_fuse_reply_err(fuse_req_t req, int err);
int __wrap_fuse_reply_write(fuse_req_t req, size_t count);
int __wrap_fuse_reply_buf(fuse_req_t req, const char *buf, size_t size);
void __wrap_fuse_req_interrupt_func(fuse_req_t req, fuse_interrupt_func_t func, void *data);

int __wrap_fuse_reply_err(fuse_req_t req, int err)
{
	return note(req, -err);
}

int __wrap_fuse_reply_write(fuse_req_t req, size_t count)
{
	return note(req, (int)count);
}

int __wrap_fuse_reply_buf(fuse_req_t req, const char *buf, size_t size)
{
	(void)buf;
	return note(req, (int)size);
}

void __wrap_fuse_req_interrupt_func(fuse_req_t req, fuse_interrupt_func_t func, void *data)
{
	(void)req, (void)func, (void)data;
}

static const char source[] = "kernel void add(global float *x) { x[get_global_id(0)] += 1; }\n"
                             "kernel void hang(global volatile uint *x) { while (*x == 0) ; }\n";
static const char add_json[] =
        "{\"format\":\"rx580-plan-1\",\"steps\":[{\"kernel\":\"m:add\",\"groups\":[1],"
        "\"group\":[64],\"args\":{\"x\":\"x\"}}]}";
/* its step ends with the plan's deadline only */
static const char hang_json[] =
        "{\"format\":\"rx580-plan-1\",\"deadline_s\":3600,\"steps\":[{\"kernel\":\"m:hang\","
        "\"groups\":[1],\"group\":[64],\"args\":{\"x\":\"zero\"}}],"
        "\"state\":[{\"name\":\"x\",\"at\":\"x\",\"dtype\":\"F32\",\"shape\":[64]}]}";

struct bench {
	struct fs fs;
	struct options opt;
	struct handle *json, *run;
};

static void buffer(struct fs *fs, const char *name)
{
	struct rx_buffer *b;

	assert_int_equal(rx_buffer_create(fs->rx, name, &b), 0);
	assert_int_equal(rx_buffer_resize(fs->rx, b, 256), 0);
}

static int open_on(void **state, const char *card)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct compile_result r;

	b->opt = (struct options){.card = card, .sample_ms = 1000};
	*state = b;
	if (fs_init(&b->fs, &b->opt) || fs_card_open(&b->fs) ||
	        compile_opencl("m", source, strlen(source), &r))
		return -1;
	int err = rx_module_put(b->fs.kernels, "m", r.elf, r.elf_size, NULL, 0);

	compile_result_free(&r);
	buffer(&b->fs, "x");
	buffer(&b->fs, "zero");
	return err;
}

static int open_slow(void **state)
{
	return open_on(state, "virtual,posted,bridge=asm2362");
}

static int open_fast(void **state)
{
	return open_on(state, "virtual,posted");
}

static int close_all(void **state)
{
	struct bench *b = *state;
	struct rx_info info;

	fs_lock(&b->fs);
	if (b->run)
		handle_put(&b->fs, b->run);
	if (b->json)
		handle_put(&b->fs, b->json);
	fs_read_info(&b->fs, &info);
	fs_unlock(&b->fs);
	fs_card_close(&b->fs);
	fs_fini(&b->fs);
	free(b);
	return info.guest_errors ? -1 : 0;
}

/* A request on its way; @a is its answer. */
static struct request *send(struct bench *b, struct answer *a, enum request_kind kind,
        struct node *n, struct handle *h, const char *data, size_t size)
{
	struct request *r = request_new(&b->fs, NULL, kind, n, h);

	assert_non_null(r);
	*a = (struct answer){0};
	r->req = (fuse_req_t)(void *)a;
	r->size = size;
	if (data) {
		r->data = malloc(size);
		assert_non_null(r->data);
		memcpy(r->data, data, size);
	}
	dispatch(r);
	return r;
}

/* What the owner thread does (fs/threads.c), once. */
static void owner_round(struct fs *fs)
{
	struct job *job = jobs_take(fs->jobs, 0);

	if (job)
		fs_run_job(fs, job);
	fs_tick(fs);
}

static void until_answered(struct fs *fs, struct answer *a)
{
	for (int i = 0; i < ROUNDS && !a->given; i++)
		owner_round(fs);
	assert_int_equal(a->given, 1);
}

static struct node *vram(struct bench *b)
{
	return tree_find(b->fs.root, "vram");
}

/* plans/p.json with @json in it, open and not closed yet. */
static void write_json(struct bench *b, const char *json)
{
	struct request c = {.kind = REQ_CREATE,
	        .node = b->fs.plans_dir,
	        .name = (char *)"p.json",
	        .mode = 0640,
	        .fs = &b->fs};
	struct answer a;

	assert_int_equal(dispatch_body(&c), 0);
	fs_lock(&b->fs);
	b->json = handle_new(&b->fs, c.child, O_RDWR);
	node_put(&b->fs, c.child);
	fs_unlock(&b->fs);
	send(b, &a, REQ_WRITE, b->json->node, b->json, json, strlen(json));
	until_answered(&b->fs, &a);
	assert_int_equal(a.result, strlen(json));
}

static struct request *close_json(struct bench *b, struct answer *a)
{
	return send(b, a, REQ_FLUSH, b->json->node, b->json, NULL, 0);
}

static void expect_no_plan(struct bench *b)
{
	for (int i = 0; i < 50; i++)
		owner_round(&b->fs);
	assert_null(b->fs.loading);
	assert_null(plan_file_find(&b->fs, "p"));
	assert_null(tree_find(b->fs.plans_dir, "p"));
}

static void a_close_waits_as_long_as_the_load_goes_on(void **state)
{
	struct bench *b = *state;
	struct answer closed, read;
	unsigned reads = 0;

	write_json(b, add_json);
	struct request *r = close_json(b, &closed);

	owner_round(&b->fs);
	for (int i = 0; i < ROUNDS && !closed.given; i++) {
		send(b, &read, REQ_READ, vram(b), NULL, NULL, 64);
		owner_round(&b->fs); /* takes the read, then the next piece of the load */
		assert_int_equal(read.given, 1);
		assert_int_equal(read.result, 64);
		reads++;
		if (!closed.given)
			r->started_ns -= MINUTES_NS;
		park_reap(b->fs.park, false);
	}
	assert_int_equal(closed.given, 1);
	assert_int_equal(closed.result, 0);
	if (reads < 10)
		fail_msg("expected at least 10 reads to be answered meanwhile, got %u", reads);
	assert_non_null(plan_file_find(&b->fs, "p"));
	assert_non_null(tree_find(tree_find(b->fs.plans_dir, "p"), "pm4.bin"));
}

static void a_load_that_stands_still_ends_the_close_and_itself(void **state)
{
	struct bench *b = *state;
	struct answer closed;
	struct rx_info before, after;

	write_json(b, add_json);
	struct request *r = close_json(b, &closed);

	rx_read_info(b->fs.rx, &before);
	for (int i = 0; i < 5; i++)
		owner_round(&b->fs);
	assert_int_equal(closed.given, 0);
	atomic_store(&r->moved_ns, now_ns() - FS_TOTAL_MS * 1000000ull);
	park_reap(b->fs.park, false);
	assert_int_equal(closed.given, 1);
	assert_int_equal(closed.result, -ETIMEDOUT);
	expect_no_plan(b);
	rx_read_info(b->fs.rx, &after);
	/* the code has its place from then on */
	assert_true(after.vram_used - before.vram_used < 65536);
	atomic_store(&b->json->dirty, true);
	close_json(b, &closed);
	until_answered(&b->fs, &closed);
	assert_int_equal(closed.result, 0);
	assert_non_null(plan_file_find(&b->fs, "p"));
}

static void an_interrupted_close_takes_its_load_back(void **state)
{
	struct bench *b = *state;
	struct answer closed;

	write_json(b, add_json);
	struct request *r = close_json(b, &closed);

	for (int i = 0; i < 5; i++)
		owner_round(&b->fs);
	atomic_store(&r->interrupted, true);
	park_reap(b->fs.park, false);
	assert_int_equal(closed.given, 1);
	assert_int_equal(closed.result, -EINTR);
	expect_no_plan(b);
}

static void a_file_removed_while_it_is_loaded_makes_no_plan(void **state)
{
	struct bench *b = *state;
	struct answer closed;

	write_json(b, add_json);
	close_json(b, &closed);
	owner_round(&b->fs);
	struct request u = {.kind = REQ_UNLINK,
	        .node = b->fs.plans_dir,
	        .child = b->json->node,
	        .name = (char *)"p.json",
	        .fs = &b->fs};
	assert_int_equal(dispatch_body(&u), 0);
	until_answered(&b->fs, &closed);
	assert_int_equal(closed.result, -ENOENT);
	expect_no_plan(b);
}

static void the_card_is_not_reset_under_a_load(void **state)
{
	struct bench *b = *state;
	struct answer closed;

	write_json(b, add_json);
	close_json(b, &closed);
	owner_round(&b->fs);
	assert_int_equal(fs_reset_card(&b->fs), -EBUSY);
	until_answered(&b->fs, &closed);
	assert_int_equal(closed.result, 0);
}

static void once_the_plan_is_shown_the_answer_is_its_success(void **state)
{
	struct bench *b = *state;
	struct answer closed;

	write_json(b, add_json);
	struct request *r = close_json(b, &closed);

	owner_round(&b->fs);
	assert_true(park_commit(b->fs.park, r));
	atomic_store(&r->moved_ns, 1);
	atomic_store(&r->interrupted, true);
	park_reap(b->fs.park, false);
	assert_int_equal(closed.given, 0);
	atomic_store(&r->interrupted, false);
	until_answered(&b->fs, &closed);
	assert_int_equal(closed.result, 0);
}

/* The plan that hangs, with its only step under way, and `run` open. */
static void start_hang(struct bench *b)
{
	struct answer a;
	struct plan_status s = {0};

	write_json(b, hang_json);
	close_json(b, &a);
	until_answered(&b->fs, &a);
	assert_int_equal(a.result, 0);
	struct node *run = tree_find(tree_find(b->fs.plans_dir, "p"), "run");

	fs_lock(&b->fs);
	b->run = handle_new(&b->fs, run, O_RDWR);
	fs_unlock(&b->fs);
	struct request o = {.kind = REQ_OPEN, .node = run, .handle = b->run, .flags = O_RDWR};

	o.fs = &b->fs;
	assert_int_equal(dispatch_body(&o), 0);
	send(b, &a, REQ_WRITE, run, b->run, "1\n", 2);
	until_answered(&b->fs, &a);
	assert_int_equal(a.result, 2);
	for (int i = 0; i < ROUNDS && s.phase != 3; i++) { /* plan-format.md 4: running */
		rx_hdp_invalidate(b->fs.rx); /* a phase alone does not: device/plan/results.c */
		owner_round(&b->fs);
		plan_read_status(plan_file_find(&b->fs, "p")->plan, &s);
		sleep_us(1000);
	}
	assert_int_equal(s.phase, 3);
}

/* Requests of others while @waiting is not answered. */
static void expect_others_served(struct bench *b, struct answer *waiting)
{
	struct answer a;

	for (int i = 0; i < 20; i++) {
		send(b, &a, REQ_READ, vram(b), NULL, NULL, 64);
		owner_round(&b->fs);
		assert_int_equal(a.given, 1);
		assert_int_equal(rx_sample(b->fs.rx), 0);
		assert_int_equal(waiting->given, 0);
	}
}

static void heat_stops(struct bench *b)
{
	struct rx580 *rx = b->fs.rx;

	pthread_mutex_lock(&rx->lock);
	rx->sensors.heat = RX_OVERHEATED;
	pthread_mutex_unlock(&rx->lock);
}

static void expect_failed(struct bench *b, const char *says)
{
	struct plan_status s;

	plan_read_status(plan_file_find(&b->fs, "p")->plan, &s);
	if (s.state != PLAN_FAILED || !strstr(s.error, says))
		fail_msg("expected a failed plan saying \"%s\", got state %d, \"%s\"", says,
		        (int)s.state, s.error);
}

static void a_stop_that_waits_lets_others_use_the_card_and_heat_end_it(void **state)
{
	struct bench *b = *state;
	struct answer stopped;

	start_hang(b);
	send(b, &stopped, REQ_WRITE, b->run->node, b->run, "stop\n", 5);
	expect_others_served(b, &stopped);
	heat_stops(b);
	owner_round(&b->fs); /* one is enough, whatever waits */
	expect_failed(b, "overheated");
	until_answered(&b->fs, &stopped);
	assert_int_equal(stopped.result, 5);
}

static void a_save_that_waits_lets_others_use_the_card_and_clear_end_it(void **state)
{
	struct bench *b = *state;
	struct node *ctl = tree_find(b->fs.checkpoints_dir, "ctl");
	struct answer saved, cleared;

	start_hang(b);
	send(b, &saved, REQ_WRITE, ctl, NULL, "save s p\n", 9);
	expect_others_served(b, &saved);
	send(b, &cleared, REQ_WRITE, b->run->node, b->run, "clear\n", 6);
	until_answered(&b->fs, &cleared);
	assert_int_equal(cleared.result, 6);
	until_answered(&b->fs, &saved);
	assert_int_equal(saved.result, -ECANCELED);
	assert_null(tree_find(b->fs.checkpoints_dir, "s.safetensors"));
}

static void nobody_else_writes_run_until_the_last_writers_steps_are_taken_back(void **state)
{
	struct bench *b = *state;
	struct answer closed;
	struct plan_file *f;

	start_hang(b);
	f = plan_file_find(&b->fs, "p");
	struct request *r = send(b, &closed, REQ_RELEASE, b->run->node, b->run, NULL, 0);

	expect_others_served(b, &closed);
	r->started_ns -= MINUTES_NS;
	park_reap(b->fs.park, false);
	assert_int_equal(closed.given, 0);
	assert_ptr_equal(f->writer, b->run);
	f->busy++;
	assert_int_equal(plan_clear(f->plan), 0);
	f->busy--;
	until_answered(&b->fs, &closed);
	assert_null(f->writer);
}

int main(void)
{
#define SLOW(name) cmocka_unit_test_setup_teardown(name, open_slow, close_all)
#define FAST(name) cmocka_unit_test_setup_teardown(name, open_fast, close_all)
	const struct CMUnitTest tests[] = {
	        SLOW(a_close_waits_as_long_as_the_load_goes_on),
	        SLOW(a_load_that_stands_still_ends_the_close_and_itself),
	        SLOW(an_interrupted_close_takes_its_load_back),
	        FAST(a_file_removed_while_it_is_loaded_makes_no_plan),
	        FAST(the_card_is_not_reset_under_a_load),
	        FAST(once_the_plan_is_shown_the_answer_is_its_success),
	        FAST(a_stop_that_waits_lets_others_use_the_card_and_heat_end_it),
	        FAST(a_save_that_waits_lets_others_use_the_card_and_clear_end_it),
	        FAST(nobody_else_writes_run_until_the_last_writers_steps_are_taken_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
