/* nodes_plan_io.c - plans/NAME/run and input: streams without offsets. A request that has to wait
 * is parked; its body is called again after every job and tick.
 */
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"
#include "fs/nodes.h"
#include "fs/plans.h"

#define PROGRESS_MS   4500 /* a line at least every 5 s, interface.md 6, run */
#define INPUT_WAIT_MS 9500 /* ETIMEDOUT at 10 s, before the choke point's own limit */

struct submission {
	uint64_t seq, steps;
	uint64_t target; /* of plan_file.records when it is done */
	uint64_t start_ns;
};

/* handle->stream of `run`; fs->lock. */
struct run_stream {
	struct plan_file *f; /* the handle holds its node */
	struct text out;
	size_t taken; /* of out */
	struct submission queue[PLAN_QUEUE];
	unsigned head, count;
	uint64_t last_line_ns;
};

static struct plan_file *file_of(const struct request *r)
{
	return r->node->obj;
}

static void run_stream_free(void *stream)
{
	struct run_stream *s = stream;

	if (s->f->writer && s->f->writer->stream == s) /* its close was given up: the end */
		s->f->writer = NULL;
	text_free(&s->out);
	free(s);
}

static void plan_io_destroy(struct fs *fs, struct node *n)
{
	plan_status_ops.destroy(fs, n);
}

/* One writer at a time; readers are welcome but have nothing outstanding. */
static int run_open(struct request *r)
{
	struct plan_file *f = file_of(r);
	bool writes = (r->flags & O_ACCMODE) != O_RDONLY;
	struct run_stream *s = calloc(1, sizeof(*s));
	int err = 0;

	if (!s)
		return -ENOMEM;
	s->f = f;
	fs_lock(r->fs);
	if (writes && f->writer) {
		err = -EBUSY;
	} else {
		r->handle->stream = s;
		r->handle->stream_free = run_stream_free;
		if (writes)
			f->writer = r->handle;
	}
	fs_unlock(r->fs);
	if (err)
		free(s);
	return err;
}

static void take_line(struct run_stream *s)
{
	s->last_line_ns = now_ns();
}

static void json_number(struct text *out, const char *key, float value)
{
	/* JSON has no infinities and no NaN (RFC 8259, 6) */
	if (isfinite(value))
		text_printf(out, ",\"%s\":%.9g", key, (double)value);
	else
		text_printf(out, ",\"%s\":null", key);
}

/* The oldest submission is over: @why NULL when all its steps are done. */
static void finish_line(
        struct run_stream *s, struct plan_file *f, const struct plan_status *st, const char *why)
{
	struct submission *sub = &s->queue[s->head];
	uint64_t before = sub->target - sub->steps;
	uint64_t done = MIN(f->records - MIN(f->records, before), sub->steps);

	if (why && st->state == PLAN_FAILED && f->last_failed && done)
		done--; /* the step that failed changed nothing; a card fault has no record */
	text_printf(&s->out, "{\"seq\":%" PRIu64 ",\"steps\":%" PRIu64 ",\"ok\":%s,\"us\":%" PRIu64,
	        sub->seq, done, why ? "false" : "true", (now_ns() - sub->start_ns) / 1000u);
	json_number(&s->out, "loss", st->last_loss);
	json_number(&s->out, "grad_norm", st->last_grad_norm);
	if (why) {
		text_printf(&s->out, ",\"error\":\"");
		for (const char *c = why; *c; c++)
			text_printf(&s->out, *c == '"' || *c == '\\' ? "\\%c" : "%c",
			        (unsigned char)*c < ' ' ? ' ' : *c);
		text_printf(&s->out, "\"");
	}
	text_printf(&s->out, "}\n");
	s->head = (s->head + 1) % PLAN_QUEUE;
	s->count--;
	if (s->count)
		s->queue[s->head].start_ns = now_ns();
	take_line(s);
}

static void progress_line(struct run_stream *s, struct plan_file *f)
{
	struct submission *sub = &s->queue[s->head];
	uint64_t before = sub->target - sub->steps;

	text_printf(&s->out, "{\"seq\":%" PRIu64 ",\"done\":%" PRIu64 "}\n", sub->seq,
	        f->records - MIN(f->records, before));
	take_line(s);
}

/* Why nothing more will come of what was submitted; NULL: it will. */
static const char *ended(const struct plan_file *f, const struct plan_status *st)
{
	if (!f->plan)
		return "the plan was removed";
	if (st->state == PLAN_FAILED)
		return st->error;
	return st->state != PLAN_RUNNING && !st->steps_queued ? "stopped" : NULL;
}

void plan_run_update(struct fs *fs, struct plan_file *f)
{
	struct plan_status st = {0};

	fs_lock(fs);
	struct run_stream *s = f->writer ? f->writer->stream : NULL;

	if (f->plan)
		plan_read_status(f->plan, &st);
	while (s && s->count && f->records >= s->queue[s->head].target && st.state != PLAN_FAILED)
		finish_line(s, f, &st, NULL);
	const char *why = ended(f, &st);

	while (s && s->count && why)
		finish_line(s, f, &st, why);
	if (why)
		f->submitted = f->records;
	if (s && s->count && s->out.len == s->taken &&
	        now_ns() - s->last_line_ns > PROGRESS_MS * 1000000ull)
		progress_line(s, f);
	fs_unlock(fs);
}

/* fs->lock held. */
static size_t take_out(struct run_stream *s, void *buf, size_t size)
{
	size_t n = MIN(size, s->out.len - s->taken);

	if (n)
		memcpy(buf, s->out.data + s->taken, n);
	s->taken += n;
	if (s->taken == s->out.len) {
		text_free(&s->out);
		s->taken = 0;
	}
	return n;
}

static int run_read(struct request *r)
{
	struct run_stream *s = r->handle->stream;

	plan_run_update(r->fs, file_of(r));
	fs_lock(r->fs);
	size_t n = take_out(s, r->data, r->size);
	bool outstanding = s->count != 0;
	fs_unlock(r->fs);
	if (n || !outstanding)
		return (int)n;
	return r->flags & O_NONBLOCK ? -EAGAIN : REQUEST_PARK;
}

static int submit(struct request *r, uint64_t steps)
{
	struct plan_file *f = file_of(r);
	struct run_stream *s = r->handle->stream;

	fs_lock(r->fs);
	bool full = s->count == PLAN_QUEUE;
	fs_unlock(r->fs);
	if (full)
		return -EAGAIN;
	int err = plan_run(f->plan, steps);

	if (err)
		return err;
	f->submitted += steps;
	f->next_service_ns = 0;
	fs_lock(r->fs);
	s->queue[(s->head + s->count++) % PLAN_QUEUE] =
	        (struct submission){++f->next_seq, steps, f->submitted, now_ns()};
	take_line(s);
	fs_unlock(r->fs);
	return 0;
}

/* Kills what runs: a call that talks to the card for a while. */
static int clear(struct request *r)
{
	struct plan_file *f = file_of(r);

	f->busy++;
	int err = plan_clear(f->plan);
	f->busy--;
	plan_file_collect(r->fs, f);
	return err;
}

/* Ask for the stop, and from then on look whether it is done: r->wait_for. Meanwhile the owner
 * services the plan and everybody else. */
static int stop(struct request *r)
{
	struct plan_file *f = file_of(r);
	int err = r->wait_for ? 0 : plan_stop(f->plan);

	if (!r->wait_for) {
		f->next_service_ns = 0;
		r->wait_for = now_ns();
	}
	if (plan_is_stopping(f->plan) && !f->service_err) {
		if (now_ns() - r->wait_for < PLAN_BOUNDARY_MS * 1000000ull)
			return REQUEST_PARK;
		err = rx_fail("fs", -ETIMEDOUT,
		        "plans/%s/run: its step did not end within %u s; it still will stop "
		        "there, or write clear to kill it",
		        f->name, PLAN_BOUNDARY_MS / 1000);
	} else {
		err = err == -EINPROGRESS ? 0 : err;
	}
	r->wait_for = 0;
	plan_file_collect(r->fs, f);
	return f->service_err ? f->service_err : err;
}

static int run_line(struct request *r, const char *line, size_t len)
{
	char word[32], *end;

	if (len == 0)
		return 0;
	if (len >= sizeof(word))
		return rx_fail("fs", -EINVAL, "plans/%s/run: \"%.*s...\" is not N, stop or clear",
		        file_of(r)->name, (int)sizeof(word) - 1, line);
	memcpy(word, line, len);
	word[len] = '\0';
	if (strlen(word) != len)
		return rx_fail("fs", -EINVAL, "plans/%s/run: a line contains a NUL byte",
		        file_of(r)->name);
	if (!strcmp(word, "stop"))
		return stop(r);
	if (!strcmp(word, "clear"))
		return clear(r);
	errno = 0;
	unsigned long long steps = strtoull(word, &end, 10);

	if (errno || *end || word[0] < '0' || word[0] > '9' || !steps)
		return rx_fail("fs", -EINVAL, "plans/%s/run: \"%s\" is not N, stop or clear",
		        file_of(r)->name, word);
	return submit(r, steps);
}

static int run_write(struct request *r)
{
	while (r->progress < r->size) {
		const char *at = (const char *)r->data + r->progress;
		size_t left = r->size - r->progress;
		const char *nl = memchr(at, '\n', left);
		size_t len = nl ? (size_t)(nl - at) : left;
		int err = file_of(r)->plan ? run_line(r, at, len) : -ENODEV;

		if (err == -EAGAIN && r->progress)
			break; /* the lines before are queued and must not be sent again */
		if (err)
			return err;
		r->progress += len + (nl ? 1 : 0);
	}
	return (int)r->progress;
}

/* The writer goes: what has not started is cancelled (architecture.md, Plans). Until that is done
 * nobody else can be the writer. */
static int run_release(struct request *r)
{
	struct plan_file *f = file_of(r);
	struct run_stream *s = r->handle->stream;

	if (f->writer != r->handle)
		return 0;
	fs_lock(r->fs);
	bool outstanding = s->count != 0 || r->wait_for;
	fs_unlock(r->fs);
	int err = outstanding && f->plan && !fs_card_gone(r->fs) ? stop(r) : 0;

	if (err == REQUEST_PARK)
		return err;
	fs_lock(r->fs);
	f->writer = NULL;
	fs_unlock(r->fs);
	return err;
}

static unsigned run_poll(struct fs *fs, struct node *n, struct handle *h)
{
	struct run_stream *s = h->stream;
	unsigned ready = 0;

	(void)fs, (void)n;
	if (!s)
		return 0;
	if (s->out.len > s->taken || !s->count)
		ready |= POLLIN | POLLRDNORM;
	if (s->count < PLAN_QUEUE && (h->flags & O_ACCMODE) != O_RDONLY)
		ready |= POLLOUT | POLLWRNORM;
	return ready;
}

const struct node_ops plan_run_ops = {
        .destroy = plan_io_destroy,
        .open = run_open,
        .read = run_read,
        .write = run_write,
        .release = run_release,
        .poll = run_poll,
};

/* handle->stream of `input`; owner thread. */
struct input_stream {
	size_t len, size;
	uint8_t data[];
};

static int input_open(struct request *r)
{
	struct plan_file *f = file_of(r);
	struct plan_status st = {0};

	if (!f->plan)
		return -ENODEV;
	plan_read_status(f->plan, &st);
	if (!st.input_bytes)
		return rx_fail("fs", -EINVAL, "plan %s takes no input", f->name);
	struct input_stream *s = calloc(1, sizeof(*s) + st.input_bytes);

	if (!s)
		return -ENOMEM;
	s->size = st.input_bytes;
	r->handle->stream = s;
	r->handle->stream_free = free;
	return 0;
}

/* Hand a full record on. Return: 0 also when there is none; -EAGAIN no slot is free. */
static int push(struct plan_file *f, struct input_stream *s)
{
	if (s->len < s->size)
		return 0;
	int err = plan_push_input(f->plan, s->data, s->size);

	if (err)
		return err;
	s->len = 0;
	f->next_service_ns = 0;
	return 0;
}

static bool slot_free(struct plan_file *f)
{
	struct plan_status st;

	plan_read_status(f->plan, &st);
	return st.input_free != 0;
}

/* Take bytes while records find a slot. Return: 0 or -EAGAIN no room; r->progress counts. */
static int take_input(struct request *r, struct input_stream *s)
{
	struct plan_file *f = file_of(r);

	while (r->progress < r->size) {
		if (!slot_free(f))
			return -EAGAIN;
		size_t n = MIN(s->size - s->len, r->size - r->progress);

		memcpy(s->data + s->len, r->data + r->progress, n);
		s->len += n;
		r->progress += n;
		int err = push(f, s);

		if (err)
			return err;
	}
	return 0;
}

static int input_write(struct request *r)
{
	struct plan_file *f = file_of(r);
	struct input_stream *s = r->handle->stream;
	struct plan_status st;

	if (!f->plan)
		return -ENODEV;
	plan_read_status(f->plan, &st);
	if (st.state == PLAN_FAILED)
		return -EIO;
	int err = push(f, s); /* left over: two writers wanted the last slot */

	if (!err)
		err = take_input(r, s);
	if (err != -EAGAIN)
		return err && !r->progress ? err : (int)r->progress;
	if (r->flags & O_NONBLOCK || request_age_ms(r) > INPUT_WAIT_MS) {
		err = r->flags & O_NONBLOCK ? -EAGAIN : -ETIMEDOUT;
		return r->progress ? (int)r->progress : err;
	}
	return REQUEST_PARK;
}

/* A partial record at close: said here, dropped with the handle. */
static int input_flush(struct request *r)
{
	struct plan_file *f = file_of(r);
	struct input_stream *s = r->handle->stream;

	if (!f->plan || !s->len)
		return 0;
	if (s->len < s->size)
		return rx_fail("fs", -EINVAL, "plans/%s/input: %zu of %zu bytes of a record",
		        f->name, s->len, s->size);
	int err = push(f, s);

	if (err != -EAGAIN)
		return err;
	return request_age_ms(r) < FS_CLOSE_MS ? REQUEST_PARK : -ETIMEDOUT;
}

static unsigned input_poll(struct fs *fs, struct node *n, struct handle *h)
{
	struct plan_file *f = n->obj;
	struct plan_status st;

	(void)fs, (void)h;
	if (!f->plan)
		return POLLERR | POLLHUP;
	plan_read_status(f->plan, &st);
	return st.input_free || st.state == PLAN_FAILED ? POLLOUT | POLLWRNORM : 0;
}

const struct node_ops plan_input_ops = {
        .destroy = plan_io_destroy,
        .open = input_open,
        .write = input_write,
        .flush = input_flush,
        .poll = input_poll,
};
