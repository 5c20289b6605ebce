/* report.c - see report.h. */
#include "trainer/report.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TTY_S   0.2 /* seconds between refreshes of the progress line */
#define PLAIN_S 5.0 /* seconds between plain lines */
#define SMOOTH  0.1 /* weight of the newest step in the smoothed step time */

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int report_open(struct report *r, const char *log_path, uint64_t steps, unsigned step_tokens)
{
	memset(r, 0, sizeof(*r));
	r->out = stdout;
	r->tty = isatty(STDOUT_FILENO);
	r->steps = steps;
	r->step_tokens = step_tokens;
	r->start_s = r->last_step_s = r->last_line_s = now_s();
	setvbuf(stdout, NULL, _IOLBF, 0);
	r->log = log_path ? fopen(log_path, "ae") : NULL;
	if (log_path && !r->log)
		return -errno;
	if (r->log)
		setvbuf(r->log, NULL, _IOLBF, 0);
	return 0;
}

static void end_line(struct report *r)
{
	if (r->line_open)
		fputc('\n', r->out);
	r->line_open = false;
}

void report_close(struct report *r)
{
	if (r->out)
		end_line(r);
	if (r->log)
		fclose(r->log);
	r->log = NULL;
}

/* Takes the reference. */
static void log_json(struct report *r, json_t *j)
{
	if (r->log && j) {
		json_dumpf(j, r->log, JSON_COMPACT | JSON_REAL_PRECISION(9));
		fputc('\n', r->log);
	}
	if (r->log && !r->log_failed && (fflush(r->log) || ferror(r->log))) {
		r->log_failed = true;
		report_note(r, "log FAILED: cannot write to it: %s", strerror(errno));
	}
	json_decref(j);
}

static void duration(char *out, size_t size, double s)
{
	unsigned t = s > 0 && s < 1e9 ? (unsigned)(s + 0.5) : 0;

	if (t >= 3600)
		snprintf(out, size, "%u:%02u:%02u", t / 3600, t / 60 % 60, t % 60);
	else
		snprintf(out, size, "%u:%02u", t / 60, t % 60);
}

static void progress(struct report *r, uint64_t step, double lr)
{
	char eta[32];

	duration(eta, sizeof(eta), r->step_s * (double)(r->steps - step));
	fprintf(r->out, "%sstep %" PRIu64 "/%" PRIu64 "  loss %.4f  lr %.2e  %.0f tok/s  ETA %s%s",
	        r->tty ? "\r" : "", step, r->steps, r->sum / r->count, lr,
	        r->step_s > 0 ? r->step_tokens / r->step_s : 0, eta, r->tty ? "   " : "\n");
	r->line_open = r->tty;
	fflush(r->out);
	r->last_line_s = now_s();
	r->sum = 0;
	r->count = 0;
}

void report_step(struct report *r, uint64_t step, double loss, double lr)
{
	double now = now_s(), took = now - r->last_step_s;

	r->last_step_s = now;
	r->here++;
	/* results may come several at once: the first ones count as a plain mean */
	double weight = 1.0 / (double)r->here > SMOOTH ? 1.0 / (double)r->here : SMOOTH;
	r->step_s += weight * (took - r->step_s);
	r->sum += loss;
	r->count++;
	log_json(r, json_pack("{s:I,s:f,s:f,s:I,s:f}", "step", (json_int_t)step, "loss", loss, "lr",
	                    lr, "tokens", (json_int_t)(step * r->step_tokens), "seconds",
	                    now - r->start_s));
	if (now - r->last_line_s >= (r->tty ? TTY_S : PLAIN_S) || r->here == 1 || step == r->steps)
		progress(r, step, lr);
}

void report_resume_clock(struct report *r)
{
	r->last_step_s = now_s();
}

void report_eval(struct report *r, uint64_t step, double loss)
{
	report_note(r, "step %" PRIu64 ": held-out loss %.4f", step, loss);
	log_json(r, json_pack("{s:I,s:f}", "step", (json_int_t)step, "eval_loss", loss));
}

void report_note(struct report *r, const char *fmt, ...)
{
	va_list ap;

	end_line(r);
	va_start(ap, fmt);
	vfprintf(r->out, fmt, ap);
	va_end(ap);
	fputc('\n', r->out);
}

void report_event(struct report *r, const char *event, uint64_t step, const char *text)
{
	log_json(r,
	        json_pack("{s:s,s:I,s:s}", "event", event, "step", (json_int_t)step, "text", text));
}
