/* Vendor commands E2 and E3 that end inside the bridge, and its firmwares: bridge.md 2.2-2.8, 2.14,
 * 2.15, 5.3. */
#include <errno.h>
#include <string.h>

#include "device/bytes.h"
#include "tests/unit/enclosure/helper_card.h"
#include "tests/unit/enclosure/helper_host.h"

#define BASE 0xF0000000u /* bridge.md 2.14: BAR0 as the firmware places it */
#define BAR5 0xE0040000u

static void enumeration_places_the_bars_and_enables_the_card(void **state)
{
	struct venc *e = host_new();

	(void)state;
	assert_int_equal(rtl_in32(e, 0xB3, 0x00), 0x67DF1002);
	assert_int_equal(rtl_in32(e, 0xB3, 0x10), 0xF000000C);
	assert_int_equal(rtl_in32(e, 0xB3, 0x14), 0);
	assert_int_equal(rtl_in32(e, 0xB3, 0x18), 0xE020000C);
	assert_int_equal(rtl_in32(e, 0xB3, 0x1C), 0);
	assert_int_equal(rtl_in32(e, 0xB3, 0x20), 0xD0000101);
	assert_int_equal(rtl_in32(e, 0xB3, 0x24), BAR5);
	assert_int_equal(rtl_in32(e, 0xB3, 0x04) & 7, 7);
	assert_int_equal(rtl_in32(e, 0xB3, 0x60) & 0xF0E0, 0x2040); /* MRRS 2, MPS 2 */
	assert_int_equal(rtl_in32(e, 0xB3, 0x30), 0);               /* ROM BAR untouched */
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void identity_sub_commands_have_their_layout(void **state)
{
	struct venc *e = host_new();
	uint8_t data[4096];

	(void)state;
	assert_int_equal(rtl_in32(e, 0x82, 0), 0xA0010001);
	assert_int_equal(rtl_in(e, 0xA6, 0, data, 1), CSW_GOOD);
	assert_int_equal(data[0], 1);
	assert_int_equal(rtl_in(e, 0x93, 0, data, 1), CSW_GOOD);
	assert_int_equal(data[0], 0);
	assert_int_equal(rtl_in(e, 0xA5, 0, data, 20), CSW_GOOD);
	assert_int_equal(get_le32(data), 1);
	assert_int_equal(get_le32(data + 4), 32);
	assert_int_equal(get_le32(data + 8), 87);
	assert_int_equal(get_le32(data + 16), 20230829);
	assert_int_equal(rtl_in(e, 0xC4, 0, data, 4096), CSW_GOOD);
	assert_int_equal(data[0], 0xFF);
	assert_int_equal(rtl_in(e, 0xD1, 0, data, 1), CSW_GOOD);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void link_and_status_structures_say_other_pcie_device_without_medium(void **state)
{
	struct venc *e = host_new();
	uint8_t data[128];

	(void)state;
	assert_int_equal(rtl_in(e, 0xBB, 0, data, 16), CSW_GOOD);
	assert_int_equal(data[0], 3);
	assert_int_equal(data[4], 0);
	assert_int_equal(data[8], 1);
	assert_int_equal(rtl_in(e, 0xB5, 0, data, 116), CSW_GOOD);
	assert_int_equal(get_le32(data), 0); /* VID and DID only in states 0 and 2 */
	assert_int_equal(data[68], 3);
	assert_int_equal(data[72], 0);
	assert_int_equal(rtl_in(e, 0xB2, 0, data, 1), CSW_GOOD);
	assert_int_equal(data[0] & 1, 0);
	venc_free(e);
}

/* sub-command, length -> sense */
static void wrong_lengths_are_refused(void **state)
{
	static const struct {
		uint8_t sub;
		uint32_t address, len, sense;
	} cases[] = {
	        {0x82, 0, 8, 0x052000},
	        {0xA6, 0, 2, 0x052000},
	        {0xA5, 0, 16, 0x052000},
	        {0xC4, 0, 512, 0x052000},
	        {0xBB, 0, 15, 0x052400},
	        {0xB5, 0, 115, 0x052400},
	        {0x96, 0, 193, 0x052400},
	        {0x96, 190, 3, 0x052400},
	        {0x92, 0xA8000000, 4097, 0x052000},
	        {0xB4, 0, 4097, 0x052000},
	};
	struct venc *e = host_new();
	uint8_t data[8192];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		print_message("%02x length %u\n", cases[i].sub, cases[i].len);
		assert_int_equal(
		        rtl_in(e, cases[i].sub, cases[i].address, data, cases[i].len), CSW_FAILED);
		assert_int_equal(host_sense(e), cases[i].sense);
	}
	assert_int_equal(rtl_in(e, 0x96, 0, data, 192), CSW_GOOD);
	venc_free(e);
}

static void a_short_cdb_is_refused_and_reserved_bytes_are_guest_errors(void **state)
{
	static const uint8_t cdb[16] = {0xE2, 0, 1, 0, 0xA6, [12] = 1};
	struct venc *e = host_new();
	uint8_t byte;

	(void)state;
	assert_int_equal(host_command(e, cdb, 12, &byte, 1, true).status, CSW_FAILED);
	assert_int_equal(host_sense(e), 0x052400);
	assert_int_equal(own_guest_errors(e), 0);
	assert_int_equal(host_command(e, cdb, 16, &byte, 1, true).status, CSW_GOOD);
	assert_int_equal(own_guest_errors(e), 1);
	venc_free(e);
}

static void flash_is_mirrored_and_ram_has_two_aliases(void **state)
{
	struct venc *e = host_new();
	uint8_t a[0x60], b[0x60];

	(void)state;
	assert_int_equal(rtl_in(e, 0x92, 0xAC004000, a, 0x60), CSW_GOOD);
	assert_int_equal(get_le32(a), 0x97463136);
	assert_int_equal(get_le32(a + 0x4C), 1);
	assert_int_equal(rtl_in(e, 0x92, 0x8DE04000, b, 0x60), CSW_GOOD);
	assert_memory_equal(a, b, 0x60);
	rtl_out32(e, 0x23, 0xA800D000, 0x12345678);
	assert_int_equal(rtl_in32(e, 0x92, 0x8800D000), 0x12345678);
	assert_int_equal(own_guest_errors(e), 1); /* RAM is not the host's to write */
	venc_free(e);
}

static void register_reads_use_the_offset_form_and_respect_the_closed_page(void **state)
{
	static const uint8_t offset_form[16] = {0xE2, 0, 0, 0, 0xA2, 1, 0, 0, 8, [12] = 4};
	struct venc *e = host_new();
	uint8_t data[8];

	(void)state;
	assert_int_equal(rtl_in32(e, 0xA2, 0xB35000C8), 0xA0010001);
	assert_int_equal(rtl_in32(e, 0xA2, 0xB350005C), 0x03D965B0);
	assert_int_equal(rtl_in32(e, 0xA2, 0xB300C70C), 0x0082AE8C);
	assert_int_equal(host_command(e, offset_form, 16, data, 4, true).status, CSW_GOOD);
	assert_int_equal(get_le32(data), 0xA0010001);
	assert_int_equal(rtl_in(e, 0xA2, 0xB35000CA, data, 2), CSW_GOOD);
	assert_int_equal(get_le16(data), 0xA001);
	assert_int_equal(own_guest_errors(e), 0);
	assert_int_equal(rtl_in(e, 0xA2, 0xB3700000, data, 4), CSW_FAILED);
	assert_int_equal(host_sense(e), 0x052000);
	assert_int_equal(rtl_in32(e, 0x92, 0xB35000C8), 0xA0010001); /* works, but is a mistake */
	assert_int_equal(own_guest_errors(e), 1);
	venc_free(e);
}

static void e3_is_locked_until_exactly_one_of_two_reads(void **state)
{
	struct venc *e = host_new();
	uint8_t data[0x80] = {0};

	(void)state;
	assert_int_equal(rtl_out(e, 0x23, 0xB3200000, data, 4), CSW_FAILED);
	assert_int_equal(host_sense(e), 0x052000);
	assert_int_equal(rtl_in(e, 0x92, 0xAC004000, data, 0x5F), CSW_GOOD);
	assert_int_equal(rtl_in(e, 0x92, 0x8C004000, data, 0x60), CSW_GOOD);
	assert_int_equal(rtl_in(e, 0x92, 0xAC013000, data, 0x18), CSW_GOOD);
	assert_int_equal(rtl_out(e, 0x23, 0xB3200000, data, 4), CSW_FAILED);
	assert_int_equal(rtl_in(e, 0x92, 0xAC004000, data, 0x60), CSW_GOOD);
	assert_int_equal(rtl_out(e, 0x23, 0xB3200000, data, 4), CSW_GOOD);
	venc_power_cycle(e);
	assert_int_equal(rtl_out(e, 0x23, 0xB3200000, data, 4), CSW_FAILED);
	assert_int_equal(rtl_in(e, 0x92, 0x8C013000, data, 0x18), CSW_GOOD);
	assert_int_equal(get_le32(data), 0x79817981);
	assert_int_equal(rtl_out(e, 0x23, 0xB3200000, data, 4), CSW_GOOD);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void forbidden_sub_commands_are_trapped(void **state)
{
	static const uint8_t e3[] = {0x10, 0x11, 0x17, 0x18, 0x19, 0x27, 0x37, 0x38, 0x39, 0x3A,
	        0x3D, 0x3E, 0x3F, 0x40, 0x41, 0x44, 0x45, 0x46, 0x4B, 0x4C, 0x4D, 0x4E, 0x4F};
	static const uint8_t e2[] = {
	        0xA0, 0xA8, 0xB8, 0xBA, 0xBC, 0xC3, 0xCA, 0xCC, 0xCF, 0xD0, 0x00};
	struct venc *e = host_new();
	uint8_t data[4] = {0};

	(void)state;
	rtl_unlock(e);
	for (size_t i = 0; i < sizeof(e3); i++) {
		assert_int_equal(rtl_out(e, e3[i], 0, data, 4), CSW_FAILED);
		assert_int_equal(host_sense(e), 0x052000);
	}
	for (size_t i = 0; i < sizeof(e2); i++) {
		assert_int_equal(rtl_in(e, e2[i], 0, data, 4), CSW_FAILED);
		assert_int_equal(host_sense(e), 0x052000);
	}
	assert_int_equal(own_guest_errors(e), sizeof(e3) + sizeof(e2));
	assert_int_equal(rtl_in(e, 0xA8, 0, data, 0), CSW_FAILED);
	assert_int_equal(host_sense(e), 0x052400);
	venc_free(e);
}

static struct venc *with_firmware(const char *version)
{
	struct venc_options opt = {0};

	strcpy(opt.firmware, version);
	return host_new_with(opt);
}

/* bridge.md 5.3; dates: the images' names, 8.1 */
static void each_firmware_has_its_version_and_its_commands(void **state)
{
	static const struct {
		const char *name;
		uint32_t major, minor, patch, date;
		bool quirks, closed;
	} cases[] = {
	        {"1.29.391", 1, 29, 391, 20220728, false, false},
	        {"1.32.16", 1, 32, 16, 20230109, false, false},
	        {"1.32.49", 1, 32, 49, 20230414, false, false},
	        {"1.32.87", 1, 32, 87, 20230829, true, true},
	        {"1.35.2", 1, 35, 2, 20230829, true, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct venc *e = with_firmware(cases[i].name);
		uint8_t data[0x60];

		print_message("%s\n", cases[i].name);
		assert_int_equal(rtl_in(e, 0xA5, 0, data, 20), CSW_GOOD);
		assert_int_equal(get_le32(data), cases[i].major);
		assert_int_equal(get_le32(data + 4), cases[i].minor);
		assert_int_equal(get_le32(data + 8), cases[i].patch);
		assert_int_equal(get_le32(data + 16), cases[i].date);
		assert_int_equal(rtl_in(e, 0x92, 0xAC004000, data, 0x60), CSW_GOOD);
		assert_int_equal(get_le32(data + 0x54), cases[i].patch);
		assert_int_equal(
		        rtl_in(e, 0xD1, 0, data, 1), cases[i].quirks ? CSW_GOOD : CSW_FAILED);
		assert_int_equal(rtl_in(e, 0xA2, 0xB3700000, data, 4),
		        cases[i].closed ? CSW_FAILED : CSW_GOOD);
		assert_int_equal(rtl_in32(e, 0xB3, 0), 0x67DF1002);
		assert_int_equal(own_guest_errors(e), 0);
		venc_free(e);
	}
}

static void the_golden_image_knows_five_commands_and_no_card(void **state)
{
	static const uint8_t unknown[] = {0x82, 0x93, 0xB2, 0xB3, 0xB4, 0xB5, 0xBB, 0xC4, 0xD1};
	struct venc *e = with_firmware("4.30.23");
	uint8_t data[0x80];

	(void)state;
	assert_int_equal(rtl_in(e, 0xA5, 0, data, 20), CSW_GOOD);
	assert_int_equal(get_le32(data), 4);
	assert_int_equal(get_le32(data + 4), 30);
	assert_int_equal(get_le32(data + 8), 23);
	assert_int_equal(rtl_in(e, 0x92, 0x8C013000, data, 0x18), CSW_GOOD);
	assert_int_equal(get_le32(data), 0x79817981);
	assert_int_equal(rtl_in(e, 0x92, 0xAC004000, data, 0x60), CSW_GOOD);
	assert_int_equal(get_le32(data), 0xFFFFFFFF); /* no main image, or it would run */
	assert_int_equal(rtl_in32(e, 0xA2, 0xB35000C8), 0xA0010001);
	assert_int_equal(rtl_in(e, 0x96, 0, data, 8), CSW_GOOD);
	assert_int_equal(rtl_in(e, 0xA6, 0, data, 1), CSW_GOOD);
	for (size_t i = 0; i < sizeof(unknown); i++) {
		assert_int_equal(rtl_in(e, unknown[i], 0, data, 4), CSW_FAILED);
		assert_int_equal(host_sense(e), 0x052000);
	}
	rtl_unlock(e);
	assert_int_equal(rtl_out(e, 0x23, 0xB3200000, data, 4), CSW_FAILED);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void a_firmware_that_is_no_version_is_refused(void **state)
{
	static const char *const bad[] = {"1.32", "1.32.x", "newest", "1.32.87a", "1..3"};
	struct venc *e = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct venc_options opt = {0};

		strcpy(opt.firmware, bad[i]);
		assert_int_equal(venc_new(&e, &opt), -EINVAL);
	}
}

static uint8_t state_of(struct venc *e)
{
	uint8_t data[16];

	assert_int_equal(rtl_in(e, 0xBB, 0, data, sizeof(data)), CSW_GOOD);
	return data[0];
}

/* bridge.md 2.15, 31; 2.13: a card that was slow at plug-in is found at the second attempt */
static void disk_power_off_and_on_enumerates_anew(void **state)
{
	struct venc *e = host_new();

	(void)state;
	assert_int_equal(rtl_out(e, 0x31, 1, "", 0), CSW_FAILED); /* locked */
	rtl_unlock(e);
	assert_int_equal(rtl_out(e, 0x31, 0, "", 0), CSW_GOOD);
	assert_int_equal(state_of(e), 0xFF);
	assert_int_equal(rtl_in32(e, 0xA2, 0xB3313100) >> 26 & 1, 0);
	assert_int_equal(rtl_out(e, 0x31, 1, "", 0), CSW_GOOD);
	assert_int_equal(state_of(e), 3);
	assert_int_equal(rtl_in32(e, 0xB3, 0x24), BAR5);
	assert_int_equal(fake_card()->resets, 2);
	venc_inject(e, VENC_FAULT_CRS, 15);
	venc_power_cycle(e);
	assert_int_equal(state_of(e), 0xFF);
	rtl_unlock(e);
	assert_int_equal(rtl_out(e, 0x31, 1, "", 0), CSW_GOOD);
	assert_int_equal(state_of(e), 3);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

/* bridge.md 2.15, 30: no status; after the host's reset it is there again, still unlocked */
static void a_change_of_speed_leaves_the_bus(void **state)
{
	static const uint8_t slow[16] = {0xE3, 0, 0, 0, 0x30, 1};
	struct venc *e = host_new_with((struct venc_options){.super_speed = true});
	uint8_t dword[4] = {0}, device[18];

	(void)state;
	rtl_unlock(e);
	assert_int_equal(host_command(e, slow, sizeof(slow), NULL, 0, false).csw, -ENODEV);
	assert_int_equal(venc_control(e, 0x80, 6, 0x0100, 0, device, 18), -ENODEV);
	venc_port_reset(e);
	assert_int_equal(venc_control(e, 0x80, 6, 0x0100, 0, device, 18), 18);
	assert_int_equal(get_le16(device + 2), 0x0210); /* bridge.md 1.2: high speed */
	assert_int_equal(rtl_out(e, 0x23, 0xB3200000, dword, 4), CSW_GOOD);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(enumeration_places_the_bars_and_enables_the_card),
	        cmocka_unit_test(identity_sub_commands_have_their_layout),
	        cmocka_unit_test(link_and_status_structures_say_other_pcie_device_without_medium),
	        cmocka_unit_test(wrong_lengths_are_refused),
	        cmocka_unit_test(a_short_cdb_is_refused_and_reserved_bytes_are_guest_errors),
	        cmocka_unit_test(flash_is_mirrored_and_ram_has_two_aliases),
	        cmocka_unit_test(register_reads_use_the_offset_form_and_respect_the_closed_page),
	        cmocka_unit_test(e3_is_locked_until_exactly_one_of_two_reads),
	        cmocka_unit_test(forbidden_sub_commands_are_trapped),
	        cmocka_unit_test(each_firmware_has_its_version_and_its_commands),
	        cmocka_unit_test(the_golden_image_knows_five_commands_and_no_card),
	        cmocka_unit_test(a_firmware_that_is_no_version_is_refused),
	        cmocka_unit_test(disk_power_off_and_on_enumerates_anew),
	        cmocka_unit_test(a_change_of_speed_leaves_the_bus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
