/* Ordinary SCSI commands without a medium: bridge.md 1.1, 2.5, 5.2. */
#include <errno.h>
#include <string.h>

#include "device/bytes.h"
#include "tests/unit/enclosure/helper_host.h"

/* CDBs that end with a sense code; the length is the one the CDB implies. */
static const struct {
	const char *name;
	uint8_t cdb[16];
	unsigned cdb_len;
	uint32_t len;
	bool in;
	uint32_t sense; /* 0: GOOD */
} CASES[] = {
        {"TEST UNIT READY", {0x00}, 6, 0, false, 0x023A00},
        {"START STOP UNIT", {0x1B}, 6, 0, false, 0},
        {"PREVENT ALLOW", {0x1E}, 6, 0, false, 0},
        {"SYNCHRONIZE CACHE", {0x35}, 10, 0, false, 0},
        {"READ CAPACITY(10)", {0x25}, 10, 8, true, 0x023A00},
        {"READ CAPACITY(16)", {0x9E, 0x10, [13] = 32}, 16, 32, true, 0x023A00},
        {"other service action", {0x9E, 0x11, [13] = 32}, 16, 32, true, 0x052000},
        {"READ(6) of 256", {0x08}, 6, 131072, true, 0x023A00},
        {"READ(10)", {0x28, [8] = 1}, 10, 512, true, 0x023A00},
        {"READ(10) of nothing", {0x28}, 10, 0, false, 0x023A00},
        {"READ(12)", {0xA8, [9] = 2}, 12, 1024, true, 0x023A00},
        {"READ(16)", {0x88, [13] = 1}, 16, 512, true, 0x023A00},
        {"READ(16) past 32 bits", {0x88, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF}, 16, 512, true, 0x052000},
        {"WRITE(6)", {0x0A, [4] = 1}, 6, 512, false, 0x023A00},
        {"WRITE(10)", {0x2A, [8] = 16}, 10, 8192, false, 0x023A00},
        {"WRITE(12)", {0xAA, [9] = 1}, 12, 512, false, 0x023A00},
        {"WRITE(16)", {0x8A, [13] = 1}, 16, 512, false, 0x023A00},
        {"MODE SELECT", {0x15}, 6, 0, false, 0x052000},
        {"FORMAT UNIT", {0x04}, 6, 0, false, 0x052000},
        {"unknown opcode", {0xE8}, 16, 0, false, 0x052000},
        {"INQUIRY of an unknown page", {0x12, 1, 0xC0, 0, 255}, 6, 255, true, 0x052400},
};

static void each_command_ends_with_its_sense(void **state)
{
	static uint8_t data[131072];
	struct venc *e = host_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
		struct answer a = host_command(
		        e, CASES[i].cdb, CASES[i].cdb_len, data, CASES[i].len, CASES[i].in);

		print_message("%s: status %u\n", CASES[i].name, a.status);
		assert_int_equal(a.status, CASES[i].sense ? CSW_FAILED : CSW_GOOD);
		assert_int_equal(host_sense(e), CASES[i].sense);
	}
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void inquiry_gives_the_default_identity(void **state)
{
	static const uint8_t cdb[6] = {0x12, 0, 0, 0, 96}, shorter[6] = {0x12, 0, 0, 0, 36};
	static const uint8_t longer[6] = {0x12, 0, 0, 0, 255};
	static const uint8_t head[8] = {0x00, 0x00, 0x06, 0x02, 0x5B, 0x00, 0x00, 0x02};
	struct venc *e = host_new();
	uint8_t data[255] = {0};
	struct answer a = host_command(e, cdb, 6, data, 96, true);

	(void)state;
	assert_int_equal(a.data, 96);
	assert_memory_equal(data, head, 8);
	assert_memory_equal(data + 8, "Realtek RTL9210         1.00", 28);
	assert_int_equal(data[36], 0);
	a = host_command(e, shorter, 6, data, 36, true);
	assert_int_equal(a.data, 36);
	assert_int_equal(a.residue, 0);
	a = host_command(e, longer, 6, data, 255, true);
	assert_int_equal(a.data, 96);
	assert_int_equal(a.status, CSW_GOOD);
	assert_int_equal(a.residue, 255 - 96);
	venc_free(e);
}

static void vital_product_data_pages_exist(void **state)
{
	static const uint8_t pages[4] = {0x00, 0x80, 0x83, 0xB0};
	struct venc *e = host_new();

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		uint8_t cdb[6] = {0x12, 1, pages[i], 0, 252}, data[252] = {0};
		struct answer a = host_command(e, cdb, 6, data, 252, true);

		assert_int_equal(a.status, CSW_GOOD);
		assert_int_equal(data[1], pages[i]);
		assert_int_equal(a.data, 4 + get_be16(data + 2));
		if (pages[i] == 0xB0) {
			assert_int_equal(get_be32(data + 8), 256);
			assert_int_equal(get_be32(data + 12), 128);
		}
	}
	venc_free(e);
}

static void mode_sense_and_report_luns_answer_with_headers(void **state)
{
	static const uint8_t mode6[6] = {0x1A, 0, 0x3F, 0, 192}, mode10[10] = {0x5A, 0, 8, [8] = 8};
	static const uint8_t luns[12] = {0xA0, [9] = 16};
	struct venc *e = host_new();
	uint8_t data[192];
	struct answer a = host_command(e, mode6, 6, data, 192, true);

	(void)state;
	assert_int_equal(a.data, 4);
	assert_int_equal(a.residue, 188);
	assert_int_equal(data[0], 3);
	a = host_command(e, mode10, 10, data, 8, true);
	assert_int_equal(a.data, 8);
	assert_int_equal(get_be16(data), 6);
	a = host_command(e, luns, 12, data, 16, true);
	assert_int_equal(a.data, 16);
	assert_int_equal(get_be32(data), 8);
	venc_free(e);
}

static void commands_of_the_other_bridge_family_are_guest_errors(void **state)
{
	static const uint8_t e4[16] = {0xE4, 4}, e5[16] = {0xE5, 4};
	struct venc *e = host_new();
	uint8_t data[4];

	(void)state;
	assert_int_equal(host_command(e, e4, 16, data, 4, true).status, CSW_FAILED);
	assert_int_equal(host_command(e, e5, 16, NULL, 0, false).status, CSW_FAILED);
	assert_int_equal(own_guest_errors(e), 2);
	venc_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(each_command_ends_with_its_sense),
	        cmocka_unit_test(inquiry_gives_the_default_identity),
	        cmocka_unit_test(vital_product_data_pages_exist),
	        cmocka_unit_test(mode_sense_and_report_luns_answer_with_headers),
	        cmocka_unit_test(commands_of_the_other_bridge_family_are_guest_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
