/* test_bytes.c - the small helpers everybody uses, at their edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "device/bytes.h"

static void what_was_put_is_got(void **state)
{
	uint8_t b[8] = {0};

	(void)state;
	put_le32(b, 0x11223344);
	assert_memory_equal(b, ((const uint8_t[]){0x44, 0x33, 0x22, 0x11}), 4);
	assert_int_equal(get_le32(b), 0x11223344);
	put_be32(b, 0x11223344);
	assert_memory_equal(b, ((const uint8_t[]){0x11, 0x22, 0x33, 0x44}), 4);
	assert_int_equal(get_be32(b), 0x11223344);
	put_be16(b, 0xA1B2);
	assert_int_equal(get_be16(b), 0xA1B2);
	assert_int_equal(get_le16(b), 0xB2A1);
	put_le64(b, 0x8877665544332211);
	assert_true(get_le64(b) == 0x8877665544332211);
}

static void ranges_do_not_overflow(void **state)
{
	(void)state;
	assert_true(range_ok(0, 0, 0));
	assert_true(range_ok(8, 8, 16));
	assert_false(range_ok(8, 9, 16));
	assert_false(range_ok(17, 0, 16));
	assert_false(range_ok(8, UINT64_MAX, 16));
	assert_false(range_ok(UINT64_MAX, 2, 16));
}

/* The check value of CRC-32/ISO-HDLC in the catalogue of parametrised CRC algorithms. */
static void the_checksum_is_that_of_zlib(void **state)
{
	(void)state;
	assert_int_equal(crc32_of((const uint8_t *)"123456789", 9), 0xCBF43926);
	assert_int_equal(crc32_of((const uint8_t *)"", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_was_put_is_got),
	        cmocka_unit_test(ranges_do_not_overflow),
	        cmocka_unit_test(the_checksum_is_that_of_zlib),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
