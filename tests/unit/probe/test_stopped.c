/* test_stopped.c - a probe that is told to end, after any of its steps: it says so, and the card's
 * configuration space is as it was found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/bytes.h"
#include "device/probe/probe.h"

#define CARD      "virtual,posted,vram=64,threads=1,engine=all"
#define MAX_LINE  1024
#define CONFIG_TO 0x28u /* command register and BARs: PCI 3.0 6.1 */

/* What a trace says of the card's configuration space: as first read, and as it ended. */
struct config {
	uint8_t found[CONFIG_TO], now[CONFIG_TO];
	bool known[CONFIG_TO];
	unsigned writes;
};

struct stop {
	unsigned after, steps;
};

static bool stop_after(void *ctx)
{
	struct stop *s = ctx;

	return ++s->steps >= s->after;
}

static unsigned hex(const char *text, unsigned bytes)
{
	unsigned value = 0, byte;

	for (unsigned i = 0; i < bytes; i++)
		if (sscanf(text + 2 * i, "%2x", &byte) == 1)
			value |= byte << 8 * i;
	return value;
}

static void note(struct config *c, unsigned offset, unsigned n, const char *bytes, bool written)
{
	for (unsigned i = 0; i < n && offset + i < CONFIG_TO; i++) {
		unsigned at = offset + i;

		c->now[at] = (uint8_t)hex(bytes + 2 * i, 1);
		if (!written && !c->known[at])
			c->found[at] = c->now[at];
		c->known[at] |= !written;
	}
	c->writes += written;
}

/* One command of a trace (device/scsi/trace.h); E2/B3 and E3/33: bridge.md 2.9. */
static void follow(struct config *c, const char *line)
{
	char cdb[40], dir[8], bytes[300];
	unsigned len;

	if (sscanf(line, "cmd %39s %7s %u", cdb, dir, &len) != 3 || strlen(cdb) != 32)
		return;
	if (!strncmp(cdb, "e2000000b3", 10) &&
	        sscanf(line, "cmd %*s in %*u -> %*u ok %*u %299s", bytes) == 1)
		note(c, hex(cdb + 16, 4), len, bytes, false);
	if (!strncmp(cdb, "e300000033", 10) && sscanf(line, "cmd %*s out %*u %299s", bytes) == 1)
		note(c, hex(cdb + 16, 4), len, bytes, true);
}

static void read_trace(struct config *c, const char *path)
{
	char line[MAX_LINE];
	FILE *f = fopen(path, "r");

	*c = (struct config){0};
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		follow(c, line);
	fclose(f);
}

/* Return: steps it took. */
static size_t run(unsigned after, struct probe_report *r, struct config *c)
{
	char folder[] = "/tmp/rx-stopped-XXXXXX", trace[64];
	struct stop s = {.after = after};

	assert_non_null(mkdtemp(folder));
	snprintf(trace, sizeof(trace), "%s/trace", folder);
	const struct probe_options opt = {
	        .card = CARD, .trace = trace, .write_level = 2, .stop = stop_after, .ctx = &s};

	assert_int_equal(probe_run(&opt, r), 0);
	read_trace(c, trace);
	unlink(trace);
	rmdir(folder);
	return r->nsteps;
}

static void it_ends_there_and_has_put_everything_back(void **state)
{
	struct probe_report r;
	struct config c;
	unsigned most = 0, after = 0;
	size_t steps;

	(void)state;
	do {
		after++;
		steps = run(after, &r, &c);
		most = MAX(most, c.writes);
		if (memcmp(c.found, c.now, sizeof(c.now)) != 0)
			fail_msg("told to end after step %u, \"%s\": BAR0 %02x%02x%02x%02x above "
			         "and BAR5 ..%02x%02x stay",
			        after, r.step[steps - 1].title, c.now[0x17], c.now[0x16],
			        c.now[0x15], c.now[0x14], c.now[0x27], c.now[0x26]);
	} while (steps == after && after < PROBE_MAX_STEPS);
	assert_true(most >= 9); /* command register, BAR0, BAR5, each there and back */
}

static void it_says_so(void **state)
{
	struct probe_report r;
	struct config c;

	(void)state;
	assert_int_equal(run(2, &r, &c), 2);
	assert_false(r.usable);
	assert_string_equal(r.verdict, "ended after \"TEST UNIT READY\", as it was told to");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(it_ends_there_and_has_put_everything_back),
	        cmocka_unit_test(it_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
