/* test_loop.c - the poll loop against a mount played by a thread over sockets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <pthread.h>
#include <math.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/trainer/helper_dir.h"
#include "trainer/loop.h"

enum { RECORD = 100 };

/* The daemon's end of input, run and loss. */
struct fake {
	int input, run, loss;
	uint64_t fail_at; /* this step fails; UINT64_MAX: none */
	double fail_loss;
	bool dies;      /* at that step instead */
	uint64_t taken; /* whole records */
	bool wrong_record;
	bool progress_lines;
};

static void say(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static uint64_t read_command(struct fake *f)
{
	char line[64] = "";

	for (size_t n = 0; n < sizeof(line) - 1; n++)
		if (read(f->run, line + n, 1) != 1 || line[n] == '\n')
			break;
	return strtoull(line, NULL, 10);
}

static bool stop_came(struct fake *f)
{
	char c[8];

	return recv(f->run, c, sizeof(c), MSG_DONTWAIT) == 5 && !memcmp(c, "stop\n", 5);
}

static void take_record(struct fake *f, uint64_t step)
{
	uint8_t r[RECORD];

	for (size_t got = 0; got < RECORD;) {
		ssize_t n = read(f->input, r + got, RECORD - got < 33 ? RECORD - got : 33);
		if (n <= 0)
			return;
		got += (size_t)n;
	}
	f->wrong_record |= r[0] != (uint8_t)step || r[RECORD - 1] != (uint8_t)step;
	f->taken++;
}

static void *daemon_thread(void *arg)
{
	struct fake *f = arg;
	uint64_t steps = read_command(f), done = 0;
	bool stopped = false;
	char line[128];

	while (done < steps && done != f->fail_at && !stopped) {
		if (f->input >= 0)
			take_record(f, done);
		snprintf(line, sizeof(line), "%llu\t%g\n", (unsigned long long)done,
		        (double)done + 0.5);
		say(f->loss, line);
		done++;
		if (f->progress_lines)
			say(f->run, "{\"seq\":1,\"done\":1}\n");
		usleep(500);
		stopped = stop_came(f);
	}
	if (f->dies && done == f->fail_at) {
		close(f->run);
		f->run = -1;
		return NULL;
	}
	if (done == f->fail_at) {
		snprintf(line, sizeof(line), "%llu\t%g\n", (unsigned long long)done, f->fail_loss);
		say(f->loss, line);
	}
	snprintf(line, sizeof(line),
	        "{\"seq\":1,\"steps\":%llu,\"ok\":%s,\"error\":\"step %llu: bad\"}\n",
	        (unsigned long long)done, done == steps ? "true" : "false",
	        (unsigned long long)done);
	say(f->run, line);
	return NULL;
}

struct seen {
	uint8_t record[RECORD];
	uint64_t results;
	double sum;
	uint64_t stop_after;
};

static const void *record(void *ctx, uint64_t index, size_t *len)
{
	struct seen *s = ctx;

	memset(s->record, (int)index, RECORD);
	*len = RECORD;
	return s->record;
}

static void result(void *ctx, uint64_t index, double loss)
{
	struct seen *s = ctx;

	assert_int_equal(index, s->results++);
	s->sum += loss;
}

static bool tick(void *ctx)
{
	struct seen *s = ctx;

	return s->results >= s->stop_after;
}

static void nonblocking(int fd)
{
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
}

/* Sockets between loop and fake; the loop's ends do not block. */
static void connect_ends(struct loop *l, struct fake *f, struct mount *m, bool has_input)
{
	int run[2], loss[2], input[2] = {-1, -1};

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, run), 0);
	assert_int_equal(pipe(loss), 0);
	if (has_input)
		assert_int_equal(pipe(input), 0);
	*l = (struct loop){
	        .mount = m, .plan = "p", .input = input[1], .run = run[0], .loss = loss[0]};
	f->run = run[1];
	f->loss = loss[1];
	f->input = input[0];
	nonblocking(l->run);
	nonblocking(l->loss);
	if (has_input)
		nonblocking(l->input);
}

struct outcome {
	int err;
	uint64_t done;
	struct seen seen;
	char why[1024];
};

static struct outcome drive(struct fake *f, uint64_t steps, uint64_t stop_after, bool has_input)
{
	char *dir = dir_new();
	struct mount m = {0};
	struct loop l;
	struct outcome o = {.seen.stop_after = stop_after};
	struct loop_job job = {
	        .steps = steps, .record = record, .result = result, .tick = tick, .ctx = &o.seen};
	pthread_t thread;

	snprintf(m.root, sizeof(m.root), "%s", dir);
	connect_ends(&l, f, &m, has_input);
	assert_int_equal(pthread_create(&thread, NULL, daemon_thread, f), 0);
	o.err = loop_run(&l, &job, &o.done);
	pthread_join(thread, NULL);
	snprintf(o.why, sizeof(o.why), "%s", m.why);
	loop_close(&l);
	close(f->loss);
	if (f->run >= 0)
		close(f->run);
	if (has_input)
		close(f->input);
	dir_remove(dir);
	return o;
}

static void all_steps_are_fed_and_reported_in_order(void **state)
{
	struct fake f = {.fail_at = UINT64_MAX, .progress_lines = true};
	struct outcome o = drive(&f, 200, UINT64_MAX, true);

	(void)state;
	assert_int_equal(o.err, 0);
	assert_int_equal(o.done, 200);
	assert_int_equal(o.seen.results, 200);
	assert_true(o.seen.sum == 200 * 100.0);
	assert_int_equal(f.taken, 200);
	assert_false(f.wrong_record);
}

static void a_plan_without_input_runs(void **state)
{
	struct fake f = {.fail_at = UINT64_MAX};
	struct outcome o = drive(&f, 3, UINT64_MAX, false);

	(void)state;
	assert_int_equal(o.err, 0);
	assert_int_equal(o.done, 3);
}

static void a_stop_ends_at_a_boundary(void **state)
{
	struct fake f = {.fail_at = UINT64_MAX};
	struct outcome o = drive(&f, 100000, 5, true);

	(void)state;
	assert_int_equal(o.err, 0);
	assert_in_range(o.done, 5, 99999);
	assert_int_equal(o.done, o.seen.results);
}

static void a_failed_step_is_told_and_not_counted(void **state)
{
	struct fake f = {.fail_at = 7, .fail_loss = NAN};
	struct outcome o = drive(&f, 50, UINT64_MAX, true);

	(void)state;
	assert_int_equal(o.err, -EIO);
	assert_int_equal(o.done, 7);
	assert_string_equal(o.why, "plan p: step 7: bad");
	/* finite loss: the gradient norm was not */
	f = (struct fake){.fail_at = 7, .fail_loss = 3};
	o = drive(&f, 50, UINT64_MAX, true);
	assert_int_equal(o.err, -EIO);
	assert_int_equal(o.done, 7);
}

static void a_daemon_that_dies_is_an_error(void **state)
{
	struct fake f = {.fail_at = 4, .dies = true};
	struct outcome o = drive(&f, 50, UINT64_MAX, true);

	(void)state;
	assert_int_not_equal(o.err, 0);
	assert_int_equal(o.done, 4);
	assert_non_null(strstr(o.why, "plans/p/run"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(all_steps_are_fed_and_reported_in_order),
	        cmocka_unit_test(a_plan_without_input_runs),
	        cmocka_unit_test(a_stop_ends_at_a_boundary),
	        cmocka_unit_test(a_failed_step_is_told_and_not_counted),
	        cmocka_unit_test(a_daemon_that_dies_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
