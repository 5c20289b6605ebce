/* test_asm_probe.c - the probe of ASMedia bridges against the virtual enclosure at every level, its
 * trace played back, and bridges on which a step goes wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/bytes.h"
#include "device/log.h"
#include "device/probe/probe.h"
#include "device/scsi/trace.h"

static const char *const cards[] = {
        "virtual,posted,bridge=asm2362", "virtual,posted,bridge=asm2464"};
static const char *const families[] = {"asm236x", "asm246x"};
static char folder[64], trace[96];
static unsigned guest_errors;

static void count_guest_errors(void *ctx, enum log_level level, const char *line, int len)
{
	(void)ctx, (void)level, (void)len;
	guest_errors += strstr(line, "guest error") != NULL;
}

static int make_place(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/rx-asm-probe-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(trace, sizeof(trace), "%s/trace", folder);
	setenv("XDG_STATE_HOME", folder, 1);
	rx_log_set_sink(count_guest_errors, NULL);
	guest_errors = 0;
	return 0;
}

static int remove_place(void **state)
{
	(void)state;
	rx_log_set_sink(NULL, NULL);
	unlink(trace);
	return rmdir(folder);
}

static void run(struct probe_report *r, const char *card, unsigned level, const char *file)
{
	const struct probe_options opt = {.card = card, .write_level = level, .trace = file};

	assert_int_equal(probe_run(&opt, r), 0);
}

static void all_as_expected(const struct probe_report *r)
{
	for (size_t i = 0; i < r->nsteps; i++)
		if (r->step[i].verdict != PROBE_AS_EXPECTED)
			fail_msg("\"%s\": expected as expected, got %s: %s, %s", r->step[i].title,
			        probe_verdict_name(r->step[i].verdict), r->step[i].value,
			        r->step[i].words);
	assert_true(r->usable);
	assert_int_equal(guest_errors, 0);
}

static unsigned in_trace(const char *what)
{
	FILE *f = fopen(trace, "r");
	char line[1024];
	unsigned n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, what) != NULL;
	fclose(f);
	return n;
}

static void level_0_reads_the_bridge_only(void **state)
{
	struct probe_report r;

	(void)state;
	for (size_t c = 0; c < ARRAY_SIZE(cards); c++) {
		run(&r, cards[c], 0, trace);
		all_as_expected(&r);
		assert_string_equal(r.family, families[c]);
		assert_string_equal(r.firmware, "240417_85_00_00");
		assert_int_equal(r.register_read.n, 200);
		assert_int_equal(in_trace("cmd e5"), 0);
		assert_int_equal(in_trace("cmd e2"), 0);
		assert_int_equal(in_trace("cmd e3"), 0);
		assert_int_equal(r.function_1, PROBE_UNKNOWN);
	}
}

static void level_1_finds_the_card(void **state)
{
	struct probe_report r;

	(void)state;
	for (size_t c = 0; c < ARRAY_SIZE(cards); c++) {
		run(&r, cards[c], 1, trace);
		all_as_expected(&r);
		assert_int_equal(r.card_id, 0x67DF1002);
		assert_int_equal(r.card_class, 0x030000);
		assert_int_equal(r.function_1, PROBE_PROVEN);
		assert_int_equal(r.config_read.n, 200);
		assert_int_equal(r.memory_mib, 0); /* memory is not for this level */
		assert_true(in_trace("cmd e5") > 0);
	}
}

static void level_2_reads_and_writes_registers(void **state)
{
	struct probe_report r;

	(void)state;
	for (size_t c = 0; c < ARRAY_SIZE(cards); c++) {
		run(&r, cards[c], 2, trace);
		all_as_expected(&r);
		assert_int_equal(r.memory_mib, 8192);
		assert_true(r.posted);
		assert_int_equal(r.wide, c ? PROBE_PROVEN : PROBE_UNKNOWN);
		assert_int_equal(r.alias_write, PROBE_UNKNOWN);
		assert_int_equal(r.sram, PROBE_UNKNOWN);
		assert_int_equal(in_trace("cmd e2") + in_trace("cmd e3"), 0);
	}
}

static void every_change_is_followed_by_a_heartbeat(void **state)
{
	struct probe_report r;
	unsigned n = 0;

	(void)state;
	run(&r, cards[1], 2, NULL);
	for (size_t i = 0; i + 1 < r.nsteps; i++) {
		if (!r.step[i].writes)
			continue;
		assert_string_equal(r.step[i + 1].title, "heartbeat");
		n++;
	}
	assert_int_equal(n, 5); /* the way, BARs, command, scratch, 64 bits */
}

/* Everything but how the enclosure was reached. */
static char *comparable(struct probe_report *r)
{
	snprintf(r->carrier, sizeof(r->carrier), "any");
	return probe_report_json(r);
}

static void a_trace_plays_back_to_the_same_report(void **state)
{
	struct probe_report first, again;
	char card[128];

	(void)state;
	snprintf(card, sizeof(card), "replay:%s", trace);
	for (size_t c = 0; c < ARRAY_SIZE(cards); c++)
		for (unsigned level = 0; level <= 2; level++) {
			run(&first, cards[c], level, trace);
			run(&again, card, level, NULL);
			char *a = comparable(&first), *b = comparable(&again);

			assert_string_equal(a, b);
			free(a);
			free(b);
		}
}

static void without_power_the_card_is_missed_in_words(void **state)
{
	struct probe_report r;

	(void)state;
	run(&r, "virtual,posted,bridge=asm2464,unpowered", 0, trace);
	assert_false(r.usable);
	assert_non_null(strstr(r.verdict, "power the card before the enclosure"));
	/* an ASM236x shows it only to a configuration read */
	run(&r, "virtual,posted,bridge=asm2362,unpowered", 0, trace);
	assert_true(r.usable);
	run(&r, "virtual,posted,bridge=asm2362,unpowered", 2, trace);
	assert_false(r.usable);
	assert_non_null(strstr(r.verdict, "no graphics card behind the bridge"));
	assert_int_equal(guest_errors, 0);
}

/* ---- enclosures that are not as expected: made-up traces ---- */

#define HEAD(vid, pid) TRACE_MAGIC "\ndevice " vid " " pid " 0100 10000\n"
#define INQUIRY(vendor, product)                                                                   \
	"cmd 120000002400 in 36 -> 1 ok 36 000006025b000000" vendor product "30202020\n"           \
	"cmd 000000000000 none 0 -> 1 sense 2/3a/00\n"                                             \
	"cmd 030000001200 in 18 -> 1 ok 18 700000000000000a00000000000000000000\n"
#define ASMT    "41534d5420202020"
#define REALTEK "5265616c74656b20"
#define ASM2364 "41534d32333634202020202020202020"
#define ASM1153 "41534d31313533452020202020202020"
#define RTL9210 "52544c39323130202020202020202020"
#define E4      "cmd e4060007f000 in 6 -> 1 "
#define E4_246X "cmd e4065007f000 in 6 -> 1 "
#define REFUSED "sense 5/20/00\n"
#define VERSION "ok 6 240417850000\n"

static void play(struct probe_report *r, const char *text, unsigned commands)
{
	FILE *f = fopen(trace, "w");
	char card[128];

	assert_non_null(f);
	fprintf(f, "%send %u %016llx\n", text, commands,
	        (unsigned long long)trace_fnv(TRACE_FNV_START, text, strlen(text)));
	fclose(f);
	snprintf(card, sizeof(card), "replay:%s", trace);
	run(r, card, 0, NULL);
}

static void strangers_stop_the_probe(void **state)
{
	static const struct {
		const char *text;
		unsigned commands;
		const char *words;
	} cases[] = {
	        {HEAD("174c", "2364") INQUIRY(ASMT, ASM2364) E4 REFUSED E4_246X REFUSED, 5,
	                "no bridge this version knows"},
	        {HEAD("174c", "2364") INQUIRY(ASMT, ASM2364) E4 "ok 6 000000000000\n", 4,
	                "no bridge this version knows"},
	        {HEAD("174c", "55aa") INQUIRY(ASMT, ASM1153) E4 VERSION, 4,
	                "its name is that of another chip"},
	        {HEAD("174c", "2364") INQUIRY(REALTEK, RTL9210), 3, "two makers"},
	        {HEAD("0bda", "9210") INQUIRY(ASMT, ASM2364), 3, "two makers"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct probe_report r;

		play(&r, cases[i].text, cases[i].commands);
		assert_false(r.usable);
		if (!strstr(r.verdict, cases[i].words))
			fail_msg("case %zu: expected \"%s\", got \"%s\"", i, cases[i].words,
			        r.verdict);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_place, remove_place)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(level_0_reads_the_bridge_only),
	        TEST(level_1_finds_the_card),
	        TEST(level_2_reads_and_writes_registers),
	        TEST(every_change_is_followed_by_a_heartbeat),
	        TEST(a_trace_plays_back_to_the_same_report),
	        TEST(without_power_the_card_is_missed_in_words),
	        TEST(strangers_stop_the_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
