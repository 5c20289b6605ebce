/* test_rtl_allow.c - the list of vendor commands, over every opcode and sub-command:
 * bridge.md 2.8, 2.15. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "device/bridge/rtl921x_priv.h"
#include "device/bytes.h"

static bool allowed(uint8_t op, uint8_t sub, uint32_t addr, uint32_t len)
{
	uint8_t cdb[RTL_CDB_BYTES];

	rtl_build_cdb(cdb, op, sub, addr, len);
	return rtl_refusal(cdb) == NULL;
}

/* some_form_allowed - whether any plausible address and length gets this sub-command through. */
static bool some_form_allowed(uint8_t op, uint8_t sub)
{
	static const uint32_t addrs[] = {0, 4, 0xAC004000, 0x8C013000, 0xB3200000, 0xB3310100,
	        0xB3310110, 0xB3311000, 0xB3313100, 0xB35000C8, 0x80000000, 0xB3700000, 0xFFFFFFFC};
	static const uint32_t lens[] = {
	        1, 2, 3, 4, 8, 16, 20, 0x18, 0x60, 116, 4096, 4097, 0x40000, 0};

	for (size_t a = 0; a < ARRAY_SIZE(addrs); a++)
		for (size_t l = 0; l < ARRAY_SIZE(lens); l++)
			if (allowed(op, sub, addrs[a], lens[l]))
				return true;
	return false;
}

static void only_the_named_commands_pass(void **state)
{
	static const uint8_t reads[] = {
	        0x82, 0x92, 0xA2, 0xA5, 0xA6, 0xB2, 0xB3, 0xB4, 0xB5, 0xBB, 0xD1};
	static const uint8_t writes[] = {0x23, 0x33, 0x34};

	(void)state;
	for (unsigned op = 0; op < 256; op++)
		for (unsigned sub = 0; sub < 256; sub++) {
			bool expect = (op == 0xE2 && memchr(reads, (int)sub, sizeof(reads))) ||
			              (op == 0xE3 && memchr(writes, (int)sub, sizeof(writes)));

			if (some_form_allowed((uint8_t)op, (uint8_t)sub) != expect)
				fail_msg("%02X/%02X: expected %s", op, sub,
				        expect ? "allowed" : "refused");
		}
}

static void parameter_bytes_must_be_zero(void **state)
{
	static const unsigned at[] = {1, 2, 3, 5, 6, 7};
	uint8_t cdb[RTL_CDB_BYTES];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		rtl_build_cdb(cdb, 0xE2, 0xA6, 0, 1);
		assert_null(rtl_refusal(cdb));
		cdb[at[i]] = 1;
		assert_non_null(rtl_refusal(cdb));
	}
}

static void length_four_writes_only_where_the_stray_store_meets_sram(void **state)
{
	(void)state;
	for (uint32_t addr = 0; addr < 16; addr++) {
		assert_false(allowed(0xE3, 0x34, addr, 4));
		assert_false(allowed(0xE3, 0x33, addr, 4));
	}
	assert_false(allowed(0xE3, 0x34, 0xB31FFFFC, 4));
	assert_true(allowed(0xE3, 0x34, 0xB3200000, 4)); /* the stray store lands in SRAM: 2.10 */
	assert_true(allowed(0xE3, 0x34, 0xB323FFFC, 4));
	assert_false(allowed(0xE3, 0x34, 0xB3200002, 4));
	assert_false(allowed(0xE3, 0x34, 0xB3240000, 4));
	assert_false(allowed(0xE3, 0x33, 0xB3200000, 4));
	assert_true(allowed(0xE3, 0x34, 0, 2));
	assert_true(allowed(0xE3, 0x34, 1, 3));
	assert_true(allowed(0xE3, 0x34, 0, 5));
	assert_true(allowed(0xE3, 0x34, 0, 4096));
	assert_true(allowed(0xE3, 0x33, 4, 2));
	assert_true(allowed(0xE3, 0x33, 5, 1));
	assert_false(allowed(0xE3, 0x33, 5, 2));
	assert_false(allowed(0xE3, 0x33, 4, 3));
	assert_true(allowed(0xE2, 0xB4, 0, 4)); /* reading dwords is fine */
	assert_true(allowed(0xE2, 0xB3, 0, 4));
}

static void nothing_longer_than_4096_passes(void **state)
{
	static const uint8_t reads[] = {0x92, 0xB3, 0xB4, 0xB5, 0xBB};

	(void)state;
	for (size_t i = 0; i < sizeof(reads); i++)
		assert_false(allowed(0xE2, reads[i], 0xAC000000, 4097));
	assert_false(allowed(0xE3, 0x34, 0, 4097));
	assert_false(allowed(0xE3, 0x34, 0, 0));
	assert_false(allowed(0xE2, 0xB4, 0, 0));
}

static void bridge_memory_outside_the_map_is_refused(void **state)
{
	(void)state;
	assert_true(allowed(0xE2, 0x92, 0xAC004000, 0x60));
	assert_true(allowed(0xE2, 0x92, 0xAC1FF000, 0x1000));
	assert_false(
	        allowed(0xE2, 0x92, 0xAC1FF001, 0x1000)); /* crosses the end of the flash window */
	assert_false(allowed(0xE2, 0x92, 0xB3310100, 4)); /* registers only by A2 */
	assert_false(allowed(0xE2, 0x92, 0x00000000, 4));
	assert_false(allowed(0xE2, 0x92, 0xB323FFFD, 4));
	assert_true(allowed(0xE2, 0xA2, 0xB3310100, 4));
	assert_false(allowed(0xE2, 0xA2, 0xB3310101, 4));
	assert_false(allowed(0xE2, 0xA2, 0xB3310100, 2));
	assert_false(allowed(0xE2, 0xA2, 0xB3700000, 4)); /* closed page: bridge.md 2.2 */
	assert_false(allowed(0xE2, 0xA2, 0xB331034C + 4, 4));
}

static void only_engine_window_and_sram_are_writable(void **state)
{
	(void)state;
	assert_true(allowed(0xE3, 0x23, 0xB3310110, 4));
	assert_true(allowed(0xE3, 0x23, 0xB3310150 + 3 * 0x80, 4));
	assert_true(allowed(0xE3, 0x23, 0xB3311000, 4));
	assert_true(allowed(0xE3, 0x23, 0xB3200000, 4096));
	assert_false(allowed(0xE3, 0x23, 0xB3310100, 4)); /* status */
	assert_false(allowed(0xE3, 0x23, 0xB3313100, 4)); /* PERST# and friends */
	assert_false(allowed(0xE3, 0x23, 0xB3310110, 2));
	assert_false(allowed(0xE3, 0x23, 0xB3310112, 4));
	assert_false(allowed(0xE3, 0x23, 0xAC004000, 4)); /* flash */
	assert_false(allowed(0xE3, 0x23, 0xB323FFFF, 2));
	assert_false(allowed(0xE3, 0x23, 0x80000000, 4));
}

/* rtl921x_burst.c: nothing but whole slots, their buffers, and one pair of address words */
static void byte_stores_into_the_engine_have_four_forms(void **state)
{
	(void)state;
	assert_true(allowed(0xE3, 0x23, 0xB3310110, 64 + 512));      /* words and data */
	assert_true(allowed(0xE3, 0x23, 0xB3310110, 64));            /* all words */
	assert_true(allowed(0xE3, 0x23, 0xB3310140, 16));            /* the last slot's */
	assert_true(allowed(0xE3, 0x23, 0xB3310150 + 0x80, 100));    /* data */
	assert_true(allowed(0xE3, 0x23, 0xB3310118, 8));             /* w2 and w3 */
	assert_false(allowed(0xE3, 0x23, 0xB3310110, 16));           /* a slot in the middle */
	assert_false(allowed(0xE3, 0x23, 0xB3310114, 60));           /* not from w0 on */
	assert_false(allowed(0xE3, 0x23, 0xB3310110, 8));            /* w0 and w1 */
	assert_false(allowed(0xE3, 0x23, 0xB3310114, 8));            /* w1 and w2 */
	assert_false(allowed(0xE3, 0x23, 0xB3310110, 64 + 512 + 1)); /* beyond */
	assert_false(allowed(0xE3, 0x23, 0xB3310100, 80));           /* the status word */
	assert_false(allowed(0xE3, 0x23, 0xB3311000, 8));            /* the root complex's window */
	assert_false(allowed(0xE3, 0x23, 0xB3310150, 3));
}

static void configuration_space_ends_at_4096(void **state)
{
	(void)state;
	assert_true(allowed(0xE2, 0xB3, 4092, 4));
	assert_false(allowed(0xE2, 0xB3, 4094, 4));
	assert_false(allowed(0xE2, 0xB3, 4096, 4));
	assert_false(allowed(0xE3, 0x33, 4096, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(only_the_named_commands_pass),
	        cmocka_unit_test(parameter_bytes_must_be_zero),
	        cmocka_unit_test(length_four_writes_only_where_the_stray_store_meets_sram),
	        cmocka_unit_test(nothing_longer_than_4096_passes),
	        cmocka_unit_test(bridge_memory_outside_the_map_is_refused),
	        cmocka_unit_test(only_engine_window_and_sram_are_writable),
	        cmocka_unit_test(byte_stores_into_the_engine_have_four_forms),
	        cmocka_unit_test(configuration_space_ends_at_4096),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
