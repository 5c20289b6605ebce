/* test_atom_traces.c - the interpreter does, access for access, what Linux' interpreter did with
 * the same image: every run of every trace stored beside a real image (atombios.md 14). Skips aloud
 * when there is no image.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "device/atom/atom.h"
#include "device/err.h"
#include "device/log.h"
#include "foreign.h"
#include "helper_images.h"
#include "helper_policy.h"

#define MAX_IMAGES     512
#define MAX_COMPLAINTS 201 /* atombios.md 14: a run is cut after that many */

struct player {
	FILE *trace;
	char *line; /* the next expected one */
	size_t room;
	unsigned number;
	struct policy *policy;
	struct atom *atom;
	/* this run */
	uint64_t events, max_events;
	unsigned complaints;
	bool differs;
};

static bool next_line(struct player *p)
{
	ssize_t n = getline(&p->line, &p->room, p->trace);

	p->number++;
	if (n > 0 && p->line[n - 1] == '\n')
		p->line[n - 1] = '\0';
	return n > 0;
}

/* expect - compare the next stored line; the first difference of a run is printed. */
static int expect(struct player *p, const char *fmt, ...)
{
	char got[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(got, sizeof(got), fmt, ap);
	va_end(ap);
	if (!p->differs && (!next_line(p) || strcmp(p->line, got))) {
		p->differs = true;
		print_error("line %u: expected \"%s\", got \"%s\"\n", p->number, p->line, got);
	}
	return p->differs ? -ECANCELED : 0;
}

/* event - one access or delay; a run is cut just before one too many. */
static bool event(struct player *p)
{
	return p->events++ < p->max_events;
}

static int on_read(void *ctx, uint32_t reg, uint32_t *value)
{
	struct player *p = ctx;

	if (!event(p))
		return -ECANCELED;
	*value = policy_read(p->policy, reg);
	return expect(p, "R %05x %08x @%04x", reg, *value, atom_where(p->atom));
}

static int on_write(void *ctx, uint32_t reg, uint32_t value)
{
	struct player *p = ctx;

	if (!event(p))
		return -ECANCELED;
	policy_write(p->policy, reg, value);
	return expect(p, "W %05x %08x @%04x", reg, value, atom_where(p->atom));
}

static int on_delay(void *ctx, uint32_t us)
{
	struct player *p = ctx;

	return event(p) ? expect(p, "D %u @%04x", us, atom_where(p->atom)) : -ECANCELED;
}

static int on_complaint(void *ctx, enum atom_complaint what)
{
	static const char *const tokens[] = {
	        "fb_read_oob", "fb_write_oob", "ps_oob", "ws_oob", "bad_case", "iio_undefined"};
	struct player *p = ctx;
	int err = expect(p, "! %s @%04x", tokens[what], atom_where(p->atom));

	return ++p->complaints == MAX_COMPLAINTS ? -ECANCELED : err;
}

static void on_enter(void *ctx, unsigned table, uint32_t offset)
{
	(void)table;
	expect(ctx, "C %04x", offset);
}

static void on_leave(void *ctx)
{
	expect(ctx, "E");
}

static unsigned parse_params(const char *text, uint32_t *ps, unsigned max)
{
	unsigned n = 0;
	char *end;

	while (n < max && *text) {
		ps[n++] = (uint32_t)strtoul(text, &end, 16);
		text = *end == ',' ? end + 1 : end;
	}
	return n;
}

static uint32_t scratch_hash(const struct atom *a)
{
	size_t bytes;
	const uint32_t *s = atom_scratch(a, &bytes);
	uint32_t h = 2166136261u; /* atombios.md 14 */

	for (size_t i = 0; i < bytes / 4; i++)
		h = (h ^ s[i]) * 16777619u;
	return h;
}

static void expect_params(struct player *p, const uint32_t *ps, unsigned n)
{
	char text[1024] = "";

	while (n > 1 && !ps[n - 1])
		n--;
	for (unsigned i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%08x", i ? "," : "",
		        ps[i]);
	expect(p, "P %s", text);
}

/* play_run - the run whose T line is the current one. */
static void play_run(struct player *p)
{
	unsigned table, seed, room;
	unsigned long long max_events, max_steps;
	uint32_t ps[64] = {0};
	char letter;
	int at = 0;

	if (sscanf(p->line, "T table=%u policy=%c seed=%u maxacc=%llu maxinsn=%llu ps=%n", &table,
	            &letter, &seed, &max_events, &max_steps, &at) != 5 ||
	        !at) {
		p->differs = true;
		print_error("line %u: not the start of a run: %s\n", p->number, p->line);
		return;
	}
	room = table ? 64 : ATOM_PARAMS; /* atombios.md 14 */
	parse_params(p->line + at, ps, room);
	p->events = p->complaints = 0;
	p->max_events = max_events;
	policy_reset(p->policy, letter, seed);
	atom_set_limits(
	        p->atom, &(struct atom_limits){.max_steps = max_steps, .loop_ms = UINT32_MAX});
	int err = atom_run(p->atom, table, ps, room);

	if (!err && table)
		expect_params(p, ps, room);
	if (err == -ECANCELED || err == -ETIMEDOUT)
		expect(p, "X limit");
	else if (err)
		expect(p, "a run that fails with %d", err);
	else
		expect(p, "X ret=0 scratch=%08x", scratch_hash(p->atom));
}

static void play_file(const struct image *im, const char *path)
{
	struct atom_host host = {.reg_read = on_read,
	        .reg_write = on_write,
	        .delay_us = on_delay,
	        .complain = on_complaint,
	        .enter = on_enter,
	        .leave = on_leave};
	struct player p = {.policy = policy_new(im->data, im->size)};
	char command[4200];
	unsigned runs = 0;

	snprintf(command, sizeof(command), "gzip -dc '%s'", path);
	p.trace = popen(command, "r");
	assert_non_null(p.trace);
	host.ctx = &p;
	while (!p.differs && next_line(&p)) {
		assert_int_equal(atom_open(&p.atom, im->data, im->size, &host), 0);
		play_run(&p);
		atom_close(p.atom);
		runs++;
	}
	while (p.differs && next_line(&p)) /* gzip must not die of a closed pipe */
		continue;
	int status = pclose(p.trace);

	print_message("%s: %u runs, %u lines\n", path, runs, p.number);
	free(p.line);
	policy_free(p.policy);
	assert_int_equal(status, 0);
	assert_false(p.differs);
	assert_true(runs > 0);
}

static void play_all(const char *kind)
{
	struct image images[MAX_IMAGES];
	size_t n = images_load(images, MAX_IMAGES);

	for (size_t i = 0; i < n; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/traces/%.128s.%s.trace.gz", vbios_folder(),
		        images[i].name, kind);
		play_file(&images[i], path);
	}
	images_free(images, n);
}

static void asic_init_does_what_linux_does(void **state)
{
	(void)state;
	play_all("asic_init");
}

static void every_other_table_does_what_linux_does(void **state)
{
	(void)state;
	play_all("tables");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(asic_init_does_what_linux_does),
	        cmocka_unit_test(every_other_table_does_what_linux_does),
	};

	struct image first;
	size_t n = images_load(&first, 1);

	images_free(&first, n);
	if (!n)
		return 77; /* skipped: images_load() has said why */
	rx_log_set_stderr(false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
