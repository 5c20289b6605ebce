/* test_bot.c - Bulk-Only Transport against a scripted far side: every row of bridge.md 1.3, "Host
 * algorithm". */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "device/bytes.h"
#include "device/scsi/scsi.h"
#include "helper_pipe.h"

/* CSW bytes: signature, tag (filled in), residue, status */
#define CSW(residue, status)                                                                       \
	{CALL_IN, 13, {'U', 'S', 'B', 'S', 0, 0, 0, 0, residue, 0, 0, 0, status}, true, false}
#define STALE_CSW        {CALL_IN, 13, {'U', 'S', 'B', 'S'}, true, true}
#define CBW_OK           {CALL_OUT, 31, {0}, false, false}
#define DATA_IN(n)       {CALL_IN, n, {0xA1, 0xA2, 0xA3, 0xA4}, false, false}
#define DATA_OUT(n)      {CALL_OUT, n, {0}, false, false}
#define FAIL(call, code) {call, code, {0}, false, false}
#define DONE(call)       {call, 0, {0}, false, false}
#define RECOVERY         DONE(CALL_CLASS_RESET), DONE(CALL_CLEAR_IN), DONE(CALL_CLEAR_OUT)
/* key 5, ASC 20, ASCQ 00 */
#define SENSE_520                                                                                  \
	CBW_OK, {CALL_IN, 18, {0x70, 0, 5, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x20, 0}, false, false},    \
	        CSW(0, 0)

static int run(const struct step *steps, size_t n, enum scsi_dir dir, size_t len,
        struct scsi_sense *sense, struct scsi_counters *counters)
{
	static const uint8_t cdb[16] = {0xE2, 0, 0, 0, 0xA6};
	uint8_t buf[64] = {0};
	struct script script;
	struct scsi *s;

	script_init(&script, steps, n);
	assert_int_equal(scsi_bot_new(&s, &script.pipe), 0);
	int result = scsi_exec(s, cdb, sizeof(cdb), dir, len ? buf : NULL, len, 1000, sense);

	if (script.mismatch[0])
		fail_msg("%s", script.mismatch);
	assert_int_equal(script.at, n); /* the driver did everything it should */
	if (counters)
		scsi_read_counters(s, counters);
	scsi_free(s);
	assert_true(script.closed);
	return result;
}
#define RUN(steps, dir, len, sense, counters)                                                      \
	run(steps, ARRAY_SIZE(steps), dir, len, sense, counters)

static void command_block_is_laid_out_as_the_standard_says(void **state)
{
	static const struct step steps[] = {CBW_OK, DATA_IN(4), CSW(0, 0)};
	static const uint8_t cdb[6] = {0x12, 1, 2, 3, 4, 5};
	static const uint8_t expect[31] = {
	        'U', 'S', 'B', 'C', 0, 0, 0, 0, 4, 0, 0, 0, 0x80, 0, 6, 0x12, 1, 2, 3, 4, 5};
	struct script script;
	struct scsi *s;
	uint8_t buf[4];

	(void)state;
	script_init(&script, steps, ARRAY_SIZE(steps));
	assert_int_equal(scsi_bot_new(&s, &script.pipe), 0);
	assert_int_equal(scsi_exec(s, cdb, 6, SCSI_IN, buf, 4, 1000, NULL), 4);
	memset(script.cbw + 4, 0, 4); /* the tag is free */
	assert_memory_equal(script.cbw, expect, 31);
	assert_int_equal(buf[3], 0xA4);
	scsi_free(s);
}

static void data_moves_both_ways_and_none(void **state)
{
	static const struct step in[] = {CBW_OK, DATA_IN(4), CSW(0, 0)};
	static const struct step out[] = {CBW_OK, DATA_OUT(8), CSW(0, 0)};
	static const struct step none[] = {CBW_OK, CSW(0, 0)};

	(void)state;
	assert_int_equal(RUN(in, SCSI_IN, 4, NULL, NULL), 4);
	assert_int_equal(RUN(out, SCSI_OUT, 8, NULL, NULL), 8);
	assert_int_equal(RUN(none, SCSI_NONE, 0, NULL, NULL), 0);
}

static void short_data_and_residue_shorten_the_result(void **state)
{
	static const struct step short_in[] = {CBW_OK, DATA_IN(3), CSW(5, 0)};
	static const struct step residue[] = {CBW_OK, DATA_IN(8), CSW(6, 0)};

	(void)state;
	assert_int_equal(RUN(short_in, SCSI_IN, 8, NULL, NULL), 3);
	assert_int_equal(RUN(residue, SCSI_IN, 8, NULL, NULL), 2);
}

static void refusal_fetches_sense(void **state)
{
	static const struct step steps[] = {CBW_OK, DATA_IN(0), CSW(4, 1), SENSE_520};
	struct scsi_sense sense;

	(void)state;
	assert_int_equal(RUN(steps, SCSI_IN, 4, &sense, NULL), -EIO);
	assert_int_equal(sense.key, 5);
	assert_int_equal(sense.asc, 0x20);
	assert_int_equal(sense.ascq, 0);
}

static void stall_in_data_phase_is_cleared_and_the_status_read(void **state)
{
	static const struct step in[] = {
	        CBW_OK, FAIL(CALL_IN, -EPIPE), DONE(CALL_CLEAR_IN), CSW(4, 1), SENSE_520};
	static const struct step out[] = {
	        CBW_OK, FAIL(CALL_OUT, -EPIPE), DONE(CALL_CLEAR_OUT), CSW(4, 1), SENSE_520};
	struct scsi_sense sense;

	(void)state;
	assert_int_equal(RUN(in, SCSI_IN, 4, &sense, NULL), -EIO);
	assert_int_equal(sense.key, 5);
	assert_int_equal(RUN(out, SCSI_OUT, 4, &sense, NULL), -EIO);
	assert_int_equal(sense.key, 5);
}

static void one_stall_and_one_empty_packet_before_the_status_are_forgiven(void **state)
{
	static const struct step stall[] = {
	        CBW_OK, DATA_IN(4), FAIL(CALL_IN, -EPIPE), DONE(CALL_CLEAR_IN), CSW(0, 0)};
	static const struct step empty[] = {CBW_OK, DATA_IN(4), DATA_IN(0), CSW(0, 0)};

	(void)state;
	assert_int_equal(RUN(stall, SCSI_IN, 4, NULL, NULL), 4);
	assert_int_equal(RUN(empty, SCSI_IN, 4, NULL, NULL), 4);
}

static void stale_status_is_skipped_once(void **state)
{
	static const struct step once[] = {CBW_OK, DATA_IN(4), STALE_CSW, CSW(0, 0)};
	static const struct step twice[] = {CBW_OK, DATA_IN(4), STALE_CSW, STALE_CSW, RECOVERY};

	(void)state;
	assert_int_equal(RUN(once, SCSI_IN, 4, NULL, NULL), 4);
	assert_int_equal(RUN(twice, SCSI_IN, 4, NULL, NULL), -EIO);
}

static void broken_status_leads_to_reset_recovery(void **state)
{
	static const struct step second_stall[] = {CBW_OK, DATA_IN(4), FAIL(CALL_IN, -EPIPE),
	        DONE(CALL_CLEAR_IN), FAIL(CALL_IN, -EPIPE), RECOVERY};
	static const struct step short_csw[] = {CBW_OK, DATA_IN(4), DATA_IN(12), RECOVERY};
	static const struct step bad_signature[] = {CBW_OK, DATA_IN(4), DATA_IN(13), RECOVERY};
	static const struct step phase[] = {CBW_OK, DATA_IN(4), CSW(0, 2), RECOVERY};
	static const struct step reserved[] = {CBW_OK, DATA_IN(4), CSW(0, 3), RECOVERY};
	static const struct step residue[] = {CBW_OK, DATA_IN(4), CSW(5, 0), RECOVERY};
	struct scsi_counters c;

	(void)state;
	assert_int_equal(RUN(second_stall, SCSI_IN, 4, NULL, NULL), -EIO);
	assert_int_equal(RUN(short_csw, SCSI_IN, 4, NULL, NULL), -EIO);
	assert_int_equal(RUN(bad_signature, SCSI_IN, 4, NULL, NULL), -EIO);
	assert_int_equal(RUN(phase, SCSI_IN, 4, NULL, NULL), -EIO);
	assert_int_equal(RUN(reserved, SCSI_IN, 4, NULL, NULL), -EIO);
	assert_int_equal(RUN(residue, SCSI_IN, 4, NULL, &c), -EIO);
	assert_int_equal(c.recoveries, 1);
	assert_int_equal(c.resets, 0);
}

static void refused_command_block_leads_to_reset_recovery(void **state)
{
	static const struct step steps[] = {FAIL(CALL_OUT, -EPIPE), RECOVERY};

	(void)state;
	assert_int_equal(RUN(steps, SCSI_IN, 4, NULL, NULL), -EIO);
}

static void timeout_is_told_apart(void **state)
{
	static const struct step data[] = {CBW_OK, FAIL(CALL_IN, -ETIMEDOUT), RECOVERY};
	static const struct step status[] = {
	        CBW_OK, DATA_IN(4), FAIL(CALL_IN, -ETIMEDOUT), RECOVERY};

	(void)state;
	assert_int_equal(RUN(data, SCSI_IN, 4, NULL, NULL), -ETIMEDOUT);
	assert_int_equal(RUN(status, SCSI_IN, 4, NULL, NULL), -ETIMEDOUT);
}

static void failed_class_reset_leads_to_a_port_reset(void **state)
{
	static const struct step steps[] = {CBW_OK, FAIL(CALL_IN, -ETIMEDOUT),
	        FAIL(CALL_CLASS_RESET, -ETIMEDOUT), DONE(CALL_PORT_RESET)};
	struct scsi_counters c;

	(void)state;
	assert_int_equal(RUN(steps, SCSI_IN, 4, NULL, &c), -ETIMEDOUT);
	assert_int_equal(c.resets, 1);
}

static void port_is_reset_once_then_the_bridge_is_given_up(void **state)
{
	static const struct step steps[] = {
	        CBW_OK, FAIL(CALL_IN, -ETIMEDOUT), RECOVERY,              /* first failure */
	        CBW_OK, FAIL(CALL_IN, -ETIMEDOUT), DONE(CALL_PORT_RESET), /* second */
	        CBW_OK, FAIL(CALL_IN, -ETIMEDOUT),                        /* third */
	};
	static const uint8_t cdb[6] = {0};
	struct script script;
	struct scsi *s;
	uint8_t buf[4];

	(void)state;
	script_init(&script, steps, ARRAY_SIZE(steps));
	assert_int_equal(scsi_bot_new(&s, &script.pipe), 0);
	assert_int_equal(scsi_exec(s, cdb, 6, SCSI_IN, buf, 4, 1000, NULL), -ETIMEDOUT);
	assert_int_equal(scsi_exec(s, cdb, 6, SCSI_IN, buf, 4, 1000, NULL), -ETIMEDOUT);
	assert_int_equal(scsi_exec(s, cdb, 6, SCSI_IN, buf, 4, 1000, NULL), -ENODEV);
	assert_string_equal(script.mismatch, "");
	assert_int_equal(script.at, ARRAY_SIZE(steps));
	scsi_free(s);
}

static void unplugging_is_not_recovered(void **state)
{
	static const struct step steps[] = {CBW_OK, FAIL(CALL_IN, -ENODEV)};

	(void)state;
	assert_int_equal(RUN(steps, SCSI_IN, 4, NULL, NULL), -ENODEV);
}

static void data_longer_than_asked_for_is_not_believed(void **state)
{
	static const struct step steps[] = {CBW_OK, DATA_IN(32), RECOVERY};

	(void)state;
	assert_int_equal(RUN(steps, SCSI_IN, 4, NULL, NULL), -EIO);
}

static void bad_arguments_send_nothing(void **state)
{
	(void)state;
	assert_int_equal(run(NULL, 0, SCSI_NONE, 4, NULL, NULL), -EINVAL);
	assert_int_equal(run(NULL, 0, SCSI_IN, 0, NULL, NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(command_block_is_laid_out_as_the_standard_says),
	        cmocka_unit_test(data_moves_both_ways_and_none),
	        cmocka_unit_test(short_data_and_residue_shorten_the_result),
	        cmocka_unit_test(refusal_fetches_sense),
	        cmocka_unit_test(stall_in_data_phase_is_cleared_and_the_status_read),
	        cmocka_unit_test(one_stall_and_one_empty_packet_before_the_status_are_forgiven),
	        cmocka_unit_test(stale_status_is_skipped_once),
	        cmocka_unit_test(broken_status_leads_to_reset_recovery),
	        cmocka_unit_test(refused_command_block_leads_to_reset_recovery),
	        cmocka_unit_test(timeout_is_told_apart),
	        cmocka_unit_test(failed_class_reset_leads_to_a_port_reset),
	        cmocka_unit_test(port_is_reset_once_then_the_bridge_is_given_up),
	        cmocka_unit_test(unplugging_is_not_recovered),
	        cmocka_unit_test(data_longer_than_asked_for_is_not_believed),
	        cmocka_unit_test(bad_arguments_send_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
