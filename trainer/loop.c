/* loop.c - see loop.h. */
#include "trainer/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TICK_MS   250
#define SILENT_MS 60000 /* `run` writes a progress line every 5 s: interface.md 6, plans */

/* One job under way. */
struct pump {
	const struct loop_job *job;
	const char *record; /* being written */
	size_t record_len, written;
	uint64_t fed, done;
	uint64_t good; /* steps that changed weights, as the last answer counts them */
	unsigned silent_ms;
	bool stopping, finished, failed;
};

void loop_close(struct loop *l)
{
	int *const fds[] = {&l->input, &l->run, &l->loss};

	for (size_t i = 0; i < 3; i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

int loop_open(struct loop *l, struct mount *m, const char *plan, bool has_input)
{
	memset(l, 0, sizeof(*l));
	l->mount = m;
	l->input = l->loss = -1;
	snprintf(l->plan, sizeof(l->plan), "%s", plan);
	l->run = mount_file(m, O_RDWR | O_NONBLOCK, "plans/%s/run", plan);
	int err = l->run < 0 ? l->run : 0;
	if (!err)
		err = l->loss = mount_file(m, O_RDONLY | O_NONBLOCK, "plans/%s/loss", plan);
	if (err >= 0 && has_input)
		err = l->input = mount_file(m, O_WRONLY | O_NONBLOCK, "plans/%s/input", plan);
	if (err < 0)
		loop_close(l);
	return err < 0 ? err : 0;
}

static int say(struct loop *l, const char *command)
{
	ssize_t n;

	do
		n = write(l->run, command, strlen(command));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return mount_fail(l->mount, -errno, "plans/%s/run refused \"%.*s\"", l->plan,
		        (int)strcspn(command, "\n"), command);
	return 0;
}

/* Write inputs until the slots are full. */
static int feed(struct loop *l, struct pump *p)
{
	while (l->input >= 0 && !p->stopping && p->fed < p->job->steps) {
		if (!p->record) {
			p->record = p->job->record(p->job->ctx, p->fed, &p->record_len);
			p->written = 0;
		}
		ssize_t n = write(l->input, p->record + p->written, p->record_len - p->written);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN
			               ? 0
			               : mount_fail(l->mount, -errno,
			                         "plans/%s/input refused a record", l->plan);
		p->written += (size_t)n;
		if (p->written == p->record_len) {
			p->record = NULL;
			p->fed++;
		}
	}
	return 0;
}

/* The next whole line of a descriptor into t->line, without its end. Return: 1; 0 nothing more now;
 * -ENODATA end of file; -errno. */
static int next_line(int fd, struct loop_text *t, size_t *used)
{
	for (;;) {
		char *end = memchr(t->line, '\n', t->len);
		if (end) {
			*end = '\0';
			*used = (size_t)(end - t->line) + 1;
			return 1;
		}
		if (t->len == sizeof(t->line))
			return -EMSGSIZE;
		ssize_t n = read(fd, t->line + t->len, sizeof(t->line) - t->len);
		if (n == 0)
			return -ENODATA;
		if (n < 0 && errno != EINTR)
			return errno == EAGAIN ? 0 : -errno;
		t->len += n > 0 ? (size_t)n : 0;
	}
}

static void drop_line(struct loop_text *t, size_t used)
{
	memmove(t->line, t->line + used, t->len - used);
	t->len -= used;
}

/* {"seq":17,"steps":100,"ok":true,...} ends the job; {"seq":17,"done":40} is progress. */
static int take_answer(struct loop *l, struct pump *p, const char *line)
{
	json_t *j = json_loads(line, 0, NULL);
	const json_t *ok = json_object_get(j, "ok");
	const char *text = json_string_value(json_object_get(j, "error"));

	p->silent_ms = 0;
	if (!j) {
		snprintf(l->mount->why, sizeof(l->mount->why),
		        "plans/%s/run said something that is no JSON line: \"%.80s\"", l->plan,
		        line);
		return -EPROTO;
	}
	if (ok) {
		p->finished = true;
		p->failed = !json_is_true(ok) && !p->stopping;
		p->good = (uint64_t)json_integer_value(json_object_get(j, "steps"));
	}
	if (p->failed)
		snprintf(l->mount->why, sizeof(l->mount->why), "plan %s: %s", l->plan,
		        text ? text : "the step failed");
	json_decref(j);
	return 0;
}

static int take_answers(struct loop *l, struct pump *p)
{
	size_t used;
	int got;

	while (!p->finished && (got = next_line(l->run, &l->run_text, &used)) != 0) {
		if (got == -ENODATA && p->stopping) {
			p->finished = true;
			return 0;
		}
		if (got < 0)
			return mount_fail(
			        l->mount, got, "plans/%s/run ended before its steps did", l->plan);
		int err = take_answer(l, p, l->run_text.line);
		drop_line(&l->run_text, used);
		if (err)
			return err;
	}
	return 0;
}

/* "step<TAB>loss" a line; a failed step's loss is not finite or its line comes with the failure. */
static int take_losses(struct loop *l, struct pump *p)
{
	size_t used;
	int got;

	while ((got = next_line(l->loss, &l->loss_text, &used)) > 0) {
		const char *tab = strchr(l->loss_text.line, '\t');
		double loss = tab ? strtod(tab + 1, NULL) : NAN;
		if (isfinite(loss) && p->done < p->job->steps) {
			if (p->job->result)
				p->job->result(p->job->ctx, p->done, loss);
			p->done++;
		}
		drop_line(&l->loss_text, used);
	}
	if (got < 0 && got != -ENODATA)
		return mount_fail(l->mount, got, "cannot read plans/%s/loss", l->plan);
	return 0;
}

static int wait(struct loop *l, struct pump *p)
{
	struct pollfd fds[3] = {{.fd = l->run, .events = POLLIN}, {.fd = l->loss, .events = POLLIN},
	        {.fd = l->input, .events = POLLOUT}};
	bool feeding = l->input >= 0 && !p->stopping && p->fed < p->job->steps;
	int n = poll(fds, feeding ? 3 : 2, TICK_MS);

	if (n < 0 && errno != EINTR)
		return mount_fail(l->mount, -errno, "poll on plans/%s", l->plan);
	if (n == 0)
		p->silent_ms += TICK_MS;
	if (p->silent_ms >= SILENT_MS)
		return mount_fail(l->mount, -ETIMEDOUT, "plans/%s/run said nothing for %u s",
		        l->plan, SILENT_MS / 1000);
	return 0;
}

static int turn(struct loop *l, struct pump *p)
{
	int err = feed(l, p);

	if (!err)
		err = wait(l, p);
	if (!err)
		err = take_losses(l, p);
	if (!err)
		err = take_answers(l, p);
	if (!err && !p->finished && p->job->tick && p->job->tick(p->job->ctx) && !p->stopping) {
		p->stopping = true;
		err = say(l, "stop\n");
	}
	return err;
}

int loop_run(struct loop *l, const struct loop_job *job, uint64_t *done)
{
	struct pump p = {.job = job};
	char command[32];

	snprintf(command, sizeof(command), "%llu\n", (unsigned long long)job->steps);
	int err = job->steps ? say(l, command) : 0;
	while (!err && job->steps && !p.finished)
		err = turn(l, &p);
	if (!err)
		err = take_losses(l, &p);
	*done = p.finished && p.good < p.done ? p.good : p.done;
	return err ? err : (p.failed ? -EIO : 0);
}
