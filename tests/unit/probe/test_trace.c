/* test_trace.c - what a trace holds, what it leaves out, and which traces are refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/bytes.h"
#include "device/core/abilities.h"
#include "device/core/backend.h"
#include "device/log.h"
#include "device/scsi/trace.h"

#define HEAD TRACE_MAGIC "\ndevice 0bda 9210 f001 10000\n"
#define READY                                                                                      \
	"cmd 000000000000 none 0 -> 5 sense 2/3a/00\n" /* TEST UNIT READY without a medium         \
	                                                */

static char last_log[512];

static void keep_log(void *ctx, enum log_level level, const char *line, int len)
{
	(void)ctx, (void)level, (void)len;
	snprintf(last_log, sizeof(last_log), "%s", line);
}

/* seal - @body with a right last line. */
static char *seal(const char *body, unsigned commands)
{
	char *text = NULL;

	assert_true(
	        asprintf(&text, "%send %u %016llx\n", body, commands,
	                (unsigned long long)trace_fnv(TRACE_FNV_START, body, strlen(body))) > 0);
	return text;
}

static struct scsi *play(const char *body, unsigned commands)
{
	char *text = seal(body, commands);
	struct scsi *s = NULL;

	assert_int_equal(scsi_replay_text(&s, "trace", text, strlen(text)), 0);
	free(text);
	return s;
}

static void refused(const char *text, const char *words)
{
	struct scsi *s = NULL;

	last_log[0] = '\0';
	assert_int_equal(scsi_replay_text(&s, "trace", text, strlen(text)), -EINVAL);
	if (!strstr(last_log, words))
		fail_msg("expected \"%s\", got \"%s\"", words, last_log);
}

static void answers_are_those_of_the_trace(void **state)
{
	struct scsi *s = play(HEAD READY
	        "cmd e2000000a60000000000000001000000 in 1 -> 250 ok 1 01\n"
	        "cmd e3000000330000000400000002000000 out 2 0700 -> 99 ok 2\n"
	        "cmd e2000000a60000000000000001000000 in 1 -> 10000000 reset error ETIMEDOUT\n",
	        4);
	uint8_t cdb[16] = {0xE2, 0, 0, 0, 0xA6}, byte = 0, data[2] = {7, 0};
	const uint8_t write[16] = {0xE3, 0, 0, 0, 0x33, 0, 0, 0, 4, 0, 0, 0, 2};
	struct scsi_counters c;
	struct scsi_sense sense;

	(void)state;
	cdb[12] = 1;
	assert_int_equal(
	        scsi_exec(s, (const uint8_t[6]){0}, 6, SCSI_NONE, NULL, 0, 1, &sense), -EIO);
	assert_int_equal(sense.key, 2);
	assert_int_equal(sense.asc, 0x3a);
	assert_int_equal(scsi_exec(s, cdb, 16, SCSI_IN, &byte, 1, 1, &sense), 1);
	assert_int_equal(byte, 1);
	assert_int_equal(scsi_last_us(s), 250);
	assert_int_equal(scsi_exec(s, write, 16, SCSI_OUT, data, 2, 1, &sense), 2);
	assert_int_equal(scsi_exec(s, cdb, 16, SCSI_IN, &byte, 1, 1, &sense), -ETIMEDOUT);
	scsi_read_counters(s, &c);
	assert_int_equal(c.resets, 1);
	assert_int_equal(c.calls, 4);
	scsi_free(s);
}

static void a_differing_command_ends_the_device_and_names_the_line(void **state)
{
	static const struct {
		uint8_t cdb4;
		enum scsi_dir dir;
		uint8_t len, data;
		const char *words;
	} cases[] = {
	        {0x33, SCSI_OUT, 2, 6, "line 3: the command was recorded with other data"},
	        {0x33, SCSI_OUT, 1, 7, "line 3: the command was recorded with another"},
	        {0x33, SCSI_IN, 2, 7, "line 3: the command was recorded with another"},
	        {0x34, SCSI_OUT, 2, 7, "line 3: another command was recorded here"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct scsi *s =
		        play(HEAD "cmd e3000000330000000400000002000000 out 2 0700 -> 9 ok 2\n", 1);
		const uint8_t cdb[16] = {0xE3, 0, 0, 0, cases[i].cdb4, 0, 0, 0, 4, 0, 0, 0, 2};
		uint8_t data[2] = {cases[i].data, 0};

		assert_int_equal(
		        scsi_exec(s, cdb, 16, cases[i].dir, data, cases[i].len, 1, NULL), -ENODEV);
		assert_non_null(strstr(last_log, cases[i].words));
		assert_int_equal(scsi_exec(s, cdb, 16, SCSI_OUT, data, 2, 1, NULL), -ENODEV);
		scsi_free(s);
	}
}

static void beyond_its_end_the_device_is_gone(void **state)
{
	struct scsi *s = play(HEAD READY, 1);

	(void)state;
	assert_int_equal(scsi_exec(s, (const uint8_t[6]){0}, 6, SCSI_NONE, NULL, 0, 1, NULL), -EIO);
	assert_int_equal(
	        scsi_exec(s, (const uint8_t[6]){0}, 6, SCSI_NONE, NULL, 0, 1, NULL), -ENODEV);
	assert_non_null(strstr(last_log, "line 4: the trace ends here"));
	scsi_free(s);
}

static void bulk_is_compared_by_digest_and_cannot_be_invented(void **state)
{
	struct scsi *s = play(HEAD
	        "cmd e3000000340000000000000081000000 out 129 fnv:7c9a4b3e5f0a1b2c -> 9 ok 129\n",
	        1);
	const uint8_t out[16] = {0xE3, 0, 0, 0, 0x34, 0, 0, 0, 0, 0, 0, 0, 0x81};
	const uint8_t in[16] = {0xE2, 0, 0, 0, 0xB4, 0, 0, 0, 0, 0, 0, 0, 0x81};
	uint8_t data[129] = {0};

	(void)state;
	assert_int_equal(scsi_exec(s, out, 16, SCSI_OUT, data, 129, 1, NULL), -ENODEV);
	assert_non_null(strstr(last_log, "other data"));
	scsi_free(s);
	s = play(HEAD "cmd e2000000b40000000000000081000000 in 129 -> 9 ok 129 "
	              "fnv:7c9a4b3e5f0a1b2c\n",
	        1);
	assert_int_equal(scsi_exec(s, in, 16, SCSI_IN, data, 129, 1, NULL), -ENODEV);
	assert_non_null(strstr(last_log, "no bytes of this answer"));
	scsi_free(s);
}

static void cut_traces_are_refused(void **state)
{
	char *whole = seal(HEAD READY READY, 2);

	(void)state;
	for (size_t n = 0; n < strlen(whole); n++) {
		char *cut = strndup(whole, n);
		struct scsi *s = NULL;

		if (scsi_replay_text(&s, "trace", cut, n) != -EINVAL)
			fail_msg("cut after %zu of %zu bytes: expected EINVAL", n, strlen(whole));
		free(cut);
	}
	refused(HEAD READY, "line 3: the trace has no end");
	refused(HEAD "cmd 000000000000 none 0 ->", "the trace has no end");
	free(whole);
}

static void edited_traces_are_refused(void **state)
{
	char *whole = seal(HEAD READY, 1);

	(void)state;
	for (size_t i = 0; i < strlen(whole); i++) {
		struct scsi *s = NULL;
		char keep = whole[i];

		whole[i] = keep == '0' ? '1' : '0';
		if (scsi_replay_text(&s, "trace", whole, strlen(whole)) != -EINVAL)
			fail_msg("byte %zu changed: expected EINVAL", i);
		whole[i] = keep;
	}
	free(whole);
}

static void malformed_lines_are_refused_by_number(void **state)
{
	static const struct {
		const char *line, *words;
	} cases[] = {
	        {"cmd 00000000000 none 0 -> 5 ok 0\n", "line 3: not \"CDB"}, /* odd */
	        {"cmd 0000000000000000000000000000000000 none 0 -> 5 ok 0\n", "line 3: not \"CDB"},
	        {"cmd 00 none 1 -> 5 ok 0\n", "line 3: not \"CDB"},
	        {"cmd 00 in 0 -> 5 ok 0\n", "line 3: not \"CDB"},
	        {"cmd 00 in 2000000 -> 5 ok 0\n", "line 3: not \"CDB"},
	        {"cmd 00 out 2 07 -> 5 ok 2\n", "line 3: not \"CDB"},
	        {"cmd 00 in 2 5 ok 2 0000\n", "line 3: the command has no answer"},
	        {"cmd 00 in 2 -> -5 ok 2 0000\n", "line 3: no microseconds"},
	        {"cmd 00 in 2 -> 5 ok 3 000000\n", "line 3: not a result"},
	        {"cmd 00 in 2 -> 5 ok 2 00\n", "line 3: not a result"},
	        {"cmd 00 in 2 -> 5 ok 2 zz00\n", "line 3: not a result"},
	        {"cmd 00 in 2 -> 5 ok 2 fnv:0123456789abcdef\n", "line 3: not a result"},
	        {"cmd 00 in 2 -> 5 sense 0/00/00\n", "line 3: not a result"},
	        {"cmd 00 in 2 -> 5 error EPERM\n", "line 3: not a result"},
	        {"cmd 00 in 2 -> 5 ok 0 \n", "line 3: not a result"},
	        {"cmd 00 in 2 -> 99999999999 ok 0\n", "line 3: no microseconds"},
	        {"command\n", "line 3: neither"},
	        {"\n", "line 3: neither"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char body[256];

		snprintf(body, sizeof(body), HEAD "%s", cases[i].line);
		char *text = seal(body, 1);

		refused(text, cases[i].words);
		free(text);
	}
	refused("rx580fs-trace 2\n", "line 1");
	refused(TRACE_MAGIC "\ndevice 0bda 9210 10000 5\n", "line 2");
}

static void names_and_serial_numbers_are_left_out(void **state)
{
	const uint8_t inquiry[6] = {0x12, 0, 0, 0, 96, 0}, serial[6] = {0x12, 1, 0x80, 0, 16, 0};
	uint8_t realtek[96] = {0}, vanity[96] = {0}, page[16] = {0, 0x80, 0, 12};

	(void)state;
	memcpy(realtek + 8, "Realtek RTL9210B        1.00SERIAL12", 36);
	scsi_redact(inquiry, realtek, sizeof(realtek));
	assert_memory_equal(realtek + 8, "Realtek RTL9210B        1.00xxxxxxxx", 36);
	memcpy(vanity + 8, "AliceB  My Own Disk 7   1.00", 28);
	scsi_redact(inquiry, vanity, sizeof(vanity));
	assert_memory_equal(vanity + 8, "xxxxxx  xx xxx xxxx x   1.00", 28);
	memcpy(page + 4, "SN1234567890", 12);
	scsi_redact(serial, page, sizeof(page));
	assert_memory_equal(page, "\0\x80\0\014xxxxxxxxxxxx", 16);
	for (size_t n = 0; n < 40; n++) { /* short answers */
		uint8_t part[40] = {0};

		scsi_redact(inquiry, part, n);
		scsi_redact(serial, part, n);
	}
}

/* A conversation with the virtual enclosure, recorded. */
static void the_flash_with_its_serial_number_is_withheld(void **state)
{
	/* configuration in the flash: bridge.md 2.3 */
	const uint8_t flash[16] = {0xE2, 0, 0, 0, 0x92, 0, 0, 0, 0x00, 0x30, 0x00, 0xAC, 16};
	const uint8_t serial[6] = {0x12, 1, 0x80, 0, 12, 0};
	char path[] = "/tmp/rx-trace-XXXXXX", text[2048] = "";
	const char *kind;
	struct scsi *s;
	uint8_t data[16];

	(void)state;
	close(mkstemp(path));
	assert_int_equal(backend_open(&s, &kind, "virtual,posted", path), 0);
	assert_int_equal(scsi_exec(s, flash, 16, SCSI_IN, data, 16, 1000, NULL), 16);
	assert_int_equal(scsi_exec(s, serial, 6, SCSI_IN, data, 12, 1000, NULL), 12);
	assert_memory_equal(data + 4, "00000001", 8); /* the caller gets the truth */
	scsi_free(s);
	FILE *f = fopen(path, "r");

	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	unlink(path);
	assert_non_null(strstr(text, " ok 16 withheld\n"));
	assert_non_null(strstr(text, " ok 12 008000087878787878787878\n"));
	assert_int_equal(scsi_replay_text(&s, "trace", text, strlen(text)), 0);
	scsi_free(s);
}

static void abilities_are_kept_by_board_and_firmware(void **state)
{
	char folder[] = "/tmp/rx-state-XXXXXX", command[128], file[128];
	struct abilities_board b = {.vid = 0x0bda,
	        .pid = 0x9210,
	        .bcd_device = 0xf001,
	        .family = "rtl921x",
	        .firmware = "1.32.87",
	        .card_id = 0x67DF1002};
	const struct abilities put = {.alias_write = true,
	        .sram = true,
	        .wide = true,
	        .engine_burst = 31,
	        .max_transfer = 4096};
	struct abilities got;

	(void)state;
	assert_non_null(mkdtemp(folder));
	setenv("XDG_STATE_HOME", folder, 1);
	assert_int_equal(abilities_load(&b, &got), -ENOENT);
	assert_int_equal(abilities_store(&b, &put), 0);
	assert_int_equal(abilities_load(&b, &got), 0);
	assert_true(got.alias_write && got.sram && !got.function_1 && got.wide);
	assert_int_equal(got.engine_burst, 31);
	assert_int_equal(got.max_transfer, 4096);
	b.firmware = "1.32.49";
	assert_int_equal(abilities_load(&b, &got), -ENOENT);
	assert_false(got.alias_write);
	assert_int_equal(abilities_store(&b, &(struct abilities){.function_1 = true}), 0);
	b.firmware = "1.32.87";
	assert_int_equal(abilities_load(&b, &got), 0); /* the other board is still known */
	assert_true(got.alias_write);

	snprintf(file, sizeof(file), "%s/rx580fs/abilities.json", folder);
	assert_int_equal(abilities_store(&b,
	                         &(struct abilities){.engine_burst = 32, .max_transfer = 1u << 20}),
	        0);
	assert_int_equal(abilities_load(&b, &got), 0); /* no bridge has such: not proven */
	assert_int_equal(got.engine_burst, 0);
	assert_int_equal(got.max_transfer, 0);
	FILE *f = fopen(file, "w");

	fputs("{ \"format\": \"rx580fs-abilities-1\", \"boards\": { \"0bda", f);
	fclose(f);
	assert_int_equal(abilities_load(&b, &got), -EINVAL);
	assert_false(got.alias_write || got.sram || got.function_1);
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	assert_int_equal(system(command), 0);
}

/* A folder, a pipe nobody writes to, a device without end: nothing is known, and nobody waits. */
static void what_is_no_file_of_abilities_is_ignored(void **state)
{
	static const char *const make[] = {"mkdir", "mkfifo", "ln -s /dev/zero", "ln -s /nowhere"};
	static const int code[] = {-EINVAL, -EINVAL, -EINVAL, -ENOENT};
	const struct abilities_board b = {.family = "rtl921x", .firmware = "1.32.87"};
	char folder[] = "/tmp/rx-state-XXXXXX", command[160];
	struct abilities got;

	(void)state;
	assert_non_null(mkdtemp(folder));
	setenv("XDG_STATE_HOME", folder, 1);
	for (size_t i = 0; i < ARRAY_SIZE(make); i++) {
		snprintf(command, sizeof(command),
		        "mkdir -p %s/rx580fs && cd %s/rx580fs && %s abilities.json", folder, folder,
		        make[i]);
		assert_int_equal(system(command), 0);
		int err = abilities_load(&b, &got);

		if (err != code[i])
			fail_msg("%s: expected %d, got %d", make[i], code[i], err);
		snprintf(command, sizeof(command), "rm -r %s/rx580fs", folder);
		assert_int_equal(system(command), 0);
	}
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(answers_are_those_of_the_trace),
	        cmocka_unit_test(a_differing_command_ends_the_device_and_names_the_line),
	        cmocka_unit_test(beyond_its_end_the_device_is_gone),
	        cmocka_unit_test(bulk_is_compared_by_digest_and_cannot_be_invented),
	        cmocka_unit_test(cut_traces_are_refused),
	        cmocka_unit_test(edited_traces_are_refused),
	        cmocka_unit_test(malformed_lines_are_refused_by_number),
	        cmocka_unit_test(names_and_serial_numbers_are_left_out),
	        cmocka_unit_test(the_flash_with_its_serial_number_is_withheld),
	        cmocka_unit_test(abilities_are_kept_by_board_and_firmware),
	        cmocka_unit_test(what_is_no_file_of_abilities_is_ignored),
	};

	rx_log_set_sink(keep_log, NULL);
	rx_log_set_stderr(false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
