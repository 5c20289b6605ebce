/* test_probe.c - the probe against the virtual enclosure at every level, its trace played back, and
 * bridges on which a step goes wrong. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/bytes.h"
#include "device/log.h"
#include "device/probe/probe.h"
#include "device/scsi/trace.h"

struct place {
	char folder[64], report[96], trace[96], state[96];
};

static struct place at;
static unsigned guest_errors;

static void count_guest_errors(void *ctx, enum log_level level, const char *line, int len)
{
	(void)ctx, (void)level, (void)len;
	guest_errors += strstr(line, "guest error") != NULL;
}

static int make_place(void **state)
{
	(void)state;
	snprintf(at.folder, sizeof(at.folder), "/tmp/rx-probe-XXXXXX");
	if (!mkdtemp(at.folder))
		return -1;
	snprintf(at.report, sizeof(at.report), "%s/report.json", at.folder);
	snprintf(at.trace, sizeof(at.trace), "%s/trace", at.folder);
	snprintf(at.state, sizeof(at.state), "%s/state", at.folder);
	setenv("XDG_STATE_HOME", at.state, 1);
	rx_log_set_sink(count_guest_errors, NULL);
	guest_errors = 0;
	return 0;
}

static int remove_place(void **state)
{
	char command[128];

	(void)state;
	rx_log_set_sink(NULL, NULL);
	snprintf(command, sizeof(command), "rm -rf '%s'", at.folder);
	return system(command);
}

static void run(struct probe_report *r, const char *card, unsigned level, const char *trace)
{
	const struct probe_options opt = {.card = card, .write_level = level, .trace = trace};

	assert_int_equal(probe_run(&opt, r), 0);
}

static const struct probe_step *find(const struct probe_report *r, const char *title)
{
	for (size_t i = 0; i < r->nsteps; i++)
		if (strstr(r->step[i].title, title))
			return &r->step[i];
	fail_msg("no step \"%s\"", title);
	return NULL;
}

static void all_as_expected(const struct probe_report *r)
{
	assert_true(r->usable);
	for (size_t i = 0; i < r->nsteps; i++)
		if (r->step[i].verdict != PROBE_AS_EXPECTED)
			fail_msg("\"%s\": expected as expected, got %s: %s", r->step[i].title,
			        probe_verdict_name(r->step[i].verdict), r->step[i].words);
}

static unsigned writing_steps(const struct probe_report *r)
{
	unsigned n = 0;

	for (size_t i = 0; i < r->nsteps; i++)
		n += r->step[i].writes;
	return n;
}

/* Lines of the trace that contain @what. */
static unsigned in_trace(const char *path, const char *what)
{
	FILE *f = fopen(path, "r");
	char line[1024];
	unsigned n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, what) != NULL;
	fclose(f);
	return n;
}

static void level_0_sends_no_write(void **state)
{
	struct probe_report r;

	(void)state;
	run(&r, "virtual,posted", 0, at.trace);
	all_as_expected(&r);
	assert_int_equal(writing_steps(&r), 0);
	assert_int_equal(in_trace(at.trace, "cmd e3"), 0);
	assert_int_equal(in_trace(at.trace, " out "), 0);
	assert_int_equal(guest_errors, 0);
	assert_string_equal(r.family, "rtl921x");
	assert_string_equal(r.firmware, "1.32.87");
	assert_true(r.firmware_analysed);
	assert_int_equal(r.bcd_device, 0xf001);
	assert_int_equal(r.card_id, 0x67DF1002);
	assert_int_equal(r.bar[0] & ~0xFu, 0xF0000000);
	assert_int_equal(r.memory_mib, 8192);
	assert_true(r.posted);
	assert_int_equal(r.config_read.n, 1000);
	assert_int_equal(r.register_read.n, 1000);
	assert_true(r.config_read.min_us <= r.config_read.median_us &&
	            r.config_read.median_us <= r.config_read.max_us);
	assert_int_equal(r.alias_write, PROBE_UNKNOWN);
}

static void level_1_writes_two_bytes_of_configuration(void **state)
{
	struct probe_report r;

	(void)state;
	run(&r, "virtual,posted", 1, at.trace);
	all_as_expected(&r);
	assert_int_equal(writing_steps(&r), 1);
	assert_int_equal(in_trace(at.trace, "cmd e3"), 1);
	assert_int_equal(in_trace(at.trace, "cmd e3000000330000000400000002000000 out 2 0700"), 1);
	assert_string_equal(find(&r, "heartbeat")->value, "flash header same");
	assert_int_equal(guest_errors, 0);
}

#define ABLE "virtual,posted,vram=256,engine=functions+64bit+burst+bytes"

static void level_2_proves_the_abilities_with_one_stray_store(void **state)
{
	struct probe_report r;

	(void)state;
	run(&r, ABLE, 2, at.trace);
	all_as_expected(&r);
	assert_int_equal(r.alias_write, PROBE_PROVEN);
	assert_int_equal(r.sram, PROBE_PROVEN);
	assert_int_equal(r.function_1, PROBE_PROVEN);
	assert_int_equal(r.byte_stores, PROBE_PROVEN);
	assert_int_equal(r.long_tlp, 31);
	assert_int_equal(r.engine_burst, 31);
	assert_int_equal(r.wide, PROBE_PROVEN);
	assert_int_equal(r.dma_in, PROBE_UNKNOWN); /* nothing here can prove it */
	assert_int_equal(r.max_transfer, 4096);
	assert_int_equal(r.link_speed, 1);
	assert_int_equal(r.link_width, 1);
	assert_int_equal(guest_errors, 1); /* E3/34 of 4 bytes, which the alias trick is about */
	assert_int_equal(in_trace(at.trace, "00000034000000241720b304000000 out 4"), 1);
	assert_int_equal(in_trace(at.trace, "04000000 out 4") > 1, 1); /* the engine's */
}

/* What nobody has proven is off in the virtual bridge: bridge.md 5.3 */
static void level_2_tells_what_a_bridge_cannot_do(void **state)
{
	struct probe_report r;

	(void)state;
	run(&r, "virtual,posted,vram=256", 2, at.trace);
	assert_true(r.usable);
	assert_int_equal(r.alias_write, PROBE_PROVEN);
	assert_int_equal(r.function_1, PROBE_NO);
	assert_int_equal(r.byte_stores, PROBE_NO);
	assert_int_equal(r.engine_burst, 0);
	assert_int_equal(r.wide, PROBE_NO);
	assert_int_equal(r.long_tlp, 0);
	/* the stray store, byte stores that did not arrive, a TLP that was dropped */
	assert_int_equal(guest_errors, 3);
}

static void half_of_what_bursts_need_is_no_burst(void **state)
{
	struct probe_report r;

	(void)state;
	run(&r, "virtual,posted,vram=256,engine=bytes", 2, at.trace);
	assert_true(r.usable);
	assert_int_equal(r.byte_stores, PROBE_PROVEN);
	assert_int_equal(r.long_tlp, 0); /* each is dropped and never ends */
	assert_int_equal(r.engine_burst, 0);
	assert_int_equal(r.alias_write, PROBE_PROVEN);
	run(&r, "virtual,posted,vram=256,engine=burst", 2, at.trace);
	assert_true(r.usable);
	assert_int_equal(r.byte_stores, PROBE_NO);
	assert_int_equal(r.long_tlp, 31);
	assert_int_equal(r.engine_burst, 0);
}

static void the_longest_transfer_is_asked_only_of_analysed_firmware(void **state)
{
	struct probe_report r;

	(void)state;
	run(&r, "virtual,posted,vram=256,firmware=1.29.391", 0, at.trace);
	all_as_expected(&r);
	assert_int_equal(r.max_transfer, 4096);
	assert_int_equal(in_trace(at.trace, "cmd e200000092000000000020b300200000"), 1);
	assert_string_equal(find(&r, "quirks")->value, "5/20/00");
	run(&r, "virtual,posted,vram=256,firmware=1.35.2", 0, at.trace);
	assert_true(r.usable);
	assert_false(r.firmware_analysed);
	assert_int_equal(r.max_transfer, 0);
	assert_int_equal(in_trace(at.trace, "cmd e200000092000000000020b3"), 0);
}

static void the_fallback_firmware_is_named(void **state)
{
	struct probe_report r;

	(void)state;
	run(&r, "virtual,posted,vram=256,firmware=4.30.23", 2, at.trace);
	assert_false(r.usable);
	assert_string_equal(r.firmware, "4.30.23");
	assert_non_null(strstr(r.verdict, "fallback firmware"));
	assert_int_equal(in_trace(at.trace, "cmd e3"), 0);
	assert_int_equal(guest_errors, 0);
}

static void every_write_is_followed_by_a_heartbeat(void **state)
{
	struct probe_report r;

	(void)state;
	run(&r, ABLE, 2, NULL);
	for (size_t i = 0; i < r.nsteps; i++) {
		if (!r.step[i].writes)
			continue;
		assert_true(i + 1 < r.nsteps);
		assert_string_equal(r.step[i + 1].title, "heartbeat");
	}
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
	snprintf(card, sizeof(card), "replay:%s", at.trace);
	for (unsigned level = 0; level <= 2; level++) {
		run(&first, ABLE, level, at.trace);
		run(&again, card, level, NULL);
		assert_string_equal(first.carrier, "virtual");
		assert_string_equal(again.carrier, "replay");
		char *a = comparable(&first), *b = comparable(&again);

		assert_string_equal(a, b);
		free(a);
		free(b);
	}
}

static void a_trace_of_another_level_ends_the_probe(void **state)
{
	struct probe_report r;
	char card[128];

	(void)state;
	snprintf(card, sizeof(card), "replay:%s", at.trace);
	run(&r, "virtual,posted", 0, at.trace);
	run(&r, card, 1, NULL);
	assert_false(r.usable);
	assert_int_equal(find(&r, "first write")->verdict, PROBE_SURPRISE);
	assert_string_equal(r.verdict,
	        "stopped at \"first write: the command register, unchanged\": the bridge or the "
	        "card behind it is gone (the log has the reason)");
}

static void without_power_the_card_is_missed_in_words(void **state)
{
	struct probe_report r;

	(void)state;
	for (unsigned level = 0; level <= 2; level++) {
		run(&r, "virtual,posted,unpowered", level, at.trace);
		assert_false(r.usable);
		assert_string_equal(find(&r, "behind the bridge")->value, "state ff, link type 0");
		assert_non_null(strstr(r.verdict, "power the card before the enclosure"));
		assert_int_equal(in_trace(at.trace, "cmd e3"), 0);
		assert_int_equal(in_trace(at.trace, "cmd e2000000b3"), 0); /* bridge.md 2.9 */
	}
	assert_int_equal(guest_errors, 0);
}

static void a_virtual_board_is_never_remembered(void **state)
{
	struct probe_report r;

	(void)state;
	run(&r, "virtual,posted", 2, NULL);
	assert_true(r.usable);
	assert_int_not_equal(access(at.state, F_OK), 0);
}

static void the_report_is_a_file_of_json(void **state)
{
	struct probe_report r;
	char first = 0;

	(void)state;
	run(&r, "virtual,posted", 0, NULL);
	assert_int_equal(probe_report_write(&r, at.report), 0);
	FILE *f = fopen(at.report, "r");

	assert_non_null(f);
	assert_int_equal(fread(&first, 1, 1, f), 1);
	assert_int_equal(first, '{');
	fclose(f);
	assert_int_equal(in_trace(at.report, "\"format\": \"rx580fs-probe-1\""), 1);
	assert_int_equal(in_trace(at.report, "\"usable\": true"), 1);
	assert_int_equal(in_trace(at.report, "\"bcdDevice\": \"f001\""), 1);
	assert_int_equal(probe_report_write(&r, "/nowhere/at/all"), -ENOENT);
}

/* What is no file is written to, not replaced. */
static void a_report_into_a_pipe_leaves_the_pipe_there(void **state)
{
	struct probe_report r;
	struct stat st;
	char first = 0;

	(void)state;
	run(&r, "virtual,posted", 0, NULL);
	unlink(at.report);
	assert_int_equal(mkfifo(at.report, 0600), 0);
	int fd = open(at.report, O_RDWR); /* neither side waits, and a report fits */

	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_SETPIPE_SZ, 1 << 20) > 0);
	assert_int_equal(probe_report_write(&r, at.report), 0);
	assert_int_equal(read(fd, &first, 1), 1);
	assert_int_equal(first, '{');
	assert_int_equal(stat(at.report, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	close(fd);
	unlink(at.report);
}

/* ---- enclosures that are not as expected: a trace of a good one, changed ---- */

/* change - the first line of the trace with @from gets @to there. */
static void change(const char *from, const char *to)
{
	FILE *f = fopen(at.trace, "r"), *m;
	char line[1024], *text = NULL;
	size_t size = 0;
	unsigned commands = 0;
	bool done = false;

	assert_non_null(f);
	m = open_memstream(&text, &size);
	while (fgets(line, sizeof(line), f) && strncmp(line, "end ", 4) != 0) {
		char *hit = done ? NULL : strstr(line, from);

		commands += !strncmp(line, "cmd ", 4);
		if (hit) {
			memcpy(hit, to, strlen(to));
			if (strchr(to, '\n'))
				hit[strlen(to)] = '\0';
			done = true;
		}
		fputs(line, m);
	}
	fclose(f);
	fclose(m);
	assert_true(done);
	f = fopen(at.trace, "w");
	fprintf(f, "%send %u %016llx\n", text, commands,
	        (unsigned long long)trace_fnv(TRACE_FNV_START, text, size));
	fclose(f);
	free(text);
}

static void surprise_at(const char *title, const char *words)
{
	struct probe_report r;
	char card[128];

	snprintf(card, sizeof(card), "replay:%s", at.trace);
	run(&r, card, 0, NULL);
	assert_false(r.usable);
	assert_string_equal(r.step[r.nsteps - 1].title, title);
	assert_int_equal(r.step[r.nsteps - 1].verdict, PROBE_SURPRISE);
	assert_non_null(strstr(r.verdict, words));
}

static void the_first_surprise_stops_the_probe(void **state)
{
	static const struct {
		const char *from, *to, *title, *words;
	} cases[] = {
	        {"sense 2/3a/00", "ok 0\n", "TEST UNIT READY", "holds a disk"},
	        {"96 36314697", "96 81798179", "flash header", "fallback firmware"},
	        {"ok 16 03000000", "ok 16 00000000", "what is behind the bridge", "holds a disk"},
	        {"ok 4 a9c90044", "ok 4 a9c90040", "PCIe port and TLP engine", "not \"up\""},
	        {"ok 4 0210df67", "ok 4 ffffffff", "the card's identity", "does not answer"},
	        {"ok 4 0210df67", "ok 4 0210ef67", "the card's identity", "not an RX 580"},
	        {"ok 20 01", "error ETIMEDOUT\n", "bridge firmware", "hangs"},
	};
	struct probe_report r;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		run(&r, "virtual,posted", 0, at.trace);
		change(cases[i].from, cases[i].to);
		surprise_at(cases[i].title, cases[i].words);
	}
}

static void an_asmedia_gets_no_realtek_command(void **state)
{
	/* INQUIRY of an ASM2364, no medium, no sense: bridge.md 1.1 */
	static const char text[] = TRACE_MAGIC "\ndevice 174c 2364 0100 10000\n"
	                                       "cmd 120000002400 in 36 -> 1 ok 36 "
	                                       "000006025b00000041534d5420202020"
	                                       "41534d32333634202020202020202020"
	                                       "30202020\n"
	                                       "cmd 000000000000 none 0 -> 1 sense 2/3a/00\n"
	                                       "cmd 030000001200 in 18 -> 1 ok 18 "
	                                       "700000000000000a00000000000000000000\n"
	                                       "cmd e4060007f000 in 6 -> 1 sense 5/20/00\n"
	                                       "cmd e4065007f000 in 6 -> 1 sense 5/20/00\n";
	FILE *f = fopen(at.trace, "w");

	(void)state;
	fprintf(f, "%send 5 %016llx\n", text,
	        (unsigned long long)trace_fnv(TRACE_FNV_START, text, strlen(text)));
	fclose(f);
	surprise_at("bridge family", "no bridge this version knows");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_place, remove_place)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(level_0_sends_no_write),
	        TEST(level_1_writes_two_bytes_of_configuration),
	        TEST(level_2_proves_the_abilities_with_one_stray_store),
	        TEST(level_2_tells_what_a_bridge_cannot_do),
	        TEST(half_of_what_bursts_need_is_no_burst),
	        TEST(the_longest_transfer_is_asked_only_of_analysed_firmware),
	        TEST(the_fallback_firmware_is_named),
	        TEST(every_write_is_followed_by_a_heartbeat),
	        TEST(a_trace_plays_back_to_the_same_report),
	        TEST(a_trace_of_another_level_ends_the_probe),
	        TEST(without_power_the_card_is_missed_in_words),
	        TEST(a_virtual_board_is_never_remembered),
	        TEST(the_report_is_a_file_of_json),
	        TEST(a_report_into_a_pipe_leaves_the_pipe_there),
	        TEST(the_first_surprise_stops_the_probe),
	        TEST(an_asmedia_gets_no_realtek_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
