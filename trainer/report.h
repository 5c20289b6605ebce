/* report.h - what a run tells: one progress line on a terminal, plain lines otherwise, and every
 * step as a JSON line in a log file. */
#ifndef TRAINER_REPORT_H
#define TRAINER_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct report {
	FILE *out, *log; /* log may be NULL */
	bool tty, line_open;
	bool log_failed; /* something is missing in the log; said once */
	uint64_t steps;  /* of the whole run */
	unsigned step_tokens;
	double start_s; /* monotonic, of the first step here */
	double last_line_s;
	uint64_t here; /* steps done by this process */
	double sum;    /* of losses since the last line */
	unsigned count;
	double step_s; /* smoothed seconds a step */
	double last_step_s;
};

/* report_open - @log_path NULL: no log file. Return: 0; -errno. */
int report_open(struct report *r, const char *log_path, uint64_t steps, unsigned step_tokens);
void report_close(struct report *r);
/* report_step - @step updates are done, the last with @loss. */
void report_step(struct report *r, uint64_t step, double loss, double lr);
void report_eval(struct report *r, uint64_t step, double loss);
/* report_note - a plain line, kept apart from the progress line. */
void report_note(struct report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* report_event - a JSON line with one text field. */
void report_event(struct report *r, const char *event, uint64_t step, const char *text);
/* report_resume_clock - call when steps start again after something else was done. */
void report_resume_clock(struct report *r);

#endif
