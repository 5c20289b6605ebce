/* Vendor commands of ASM236x and ASM246x, XDATA, residue, UNIT ATTENTION: bridge.md 1.1, 3.1, 3.2,
 * 3.6, 5.1, 5.4. */
#include <errno.h>
#include <string.h>

#include "device/bytes.h"
#include "tests/unit/enclosure/helper_asm.h"
#include "tests/unit/enclosure/helper_card.h"

static const enum venc_bridge BOTH[] = {VENC_ASM236X, VENC_ASM246X};

static void each_family_has_its_names(void **state)
{
	static const char *const product[] = {
	        [VENC_ASM236X] = "ASMT    ASM236", [VENC_ASM246X] = "ASMT    ASM246"};
	static const uint16_t pid[] = {[VENC_ASM236X] = 0x2362, [VENC_ASM246X] = 0x2464};
	static const uint8_t cdb[6] = {0x12, 0, 0, 0, 96};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(BOTH); i++) {
		struct venc *e = asm_new(BOTH[i]);
		uint8_t data[96] = {0}, device[18];
		struct answer a = host_command(e, cdb, sizeof(cdb), data, sizeof(data), true);

		assert_int_equal(a.status, CSW_GOOD);
		assert_memory_equal(data + 8, product[BOTH[i]], 14);
		assert_int_equal(venc_control(e, 0x80, 6, 0x0100, 0, device, 18), 18);
		assert_int_equal(get_le16(device + 8), 0x174C);
		assert_int_equal(get_le16(device + 10), pid[BOTH[i]]);
		venc_free(e);
	}
}

static void the_bank_tells_the_families_apart(void **state)
{
	static const uint8_t version[6] = {0x24, 0x04, 0x17, 0x85, 0, 0};
	static const uint8_t bank[][2] = {[VENC_ASM236X] = {0, 0x50}, [VENC_ASM246X] = {0x50, 0}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(BOTH); i++) {
		struct venc *e = asm_new(BOTH[i]);
		uint8_t cdb[6] = {0xE4, 6, bank[BOTH[i]][0], 0x07, 0xF0}, data[6] = {0};

		assert_int_equal(host_command(e, cdb, 6, data, 6, true).status, CSW_GOOD);
		assert_memory_equal(data, version, 6);
		cdb[2] = bank[BOTH[i]][1];
		assert_int_equal(host_command(e, cdb, 6, data, 6, true).status, CSW_FAILED);
		assert_int_equal(host_sense(e), 0x052400);
		assert_int_equal(own_guest_errors(e), 0);
		venc_free(e);
	}
}

static void dma_windows_keep_what_is_written(void **state)
{
	static const uint32_t at[] = {0xA000, 0xAFFF, 0xB000, 0xB1FF, 0xF000, 0xFFFF};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(BOTH); i++) {
		struct venc *e = asm_new(BOTH[i]);

		for (size_t n = 0; n < ARRAY_SIZE(at); n++)
			assert_int_equal(asm_poke(e, at[n], (uint8_t)(0x30 + n)), CSW_GOOD);
		for (size_t n = 0; n < ARRAY_SIZE(at); n++)
			assert_int_equal(asm_peek1(e, at[n]), 0x30 + n);
		assert_int_equal(own_guest_errors(e), 0);
		venc_free(e);
	}
}

static void an_answer_passes_through_the_usb_buffer(void **state)
{
	struct venc *e = asm_new(VENC_ASM246X);
	uint8_t version[6], buffer[6];

	(void)state;
	assert_int_equal(asm_peek(e, 0x07F0, version, 6), CSW_GOOD);
	assert_int_equal(asm_peek(e, 0x8000, buffer, 6), CSW_GOOD);
	assert_memory_equal(buffer, version, 6);
	venc_free(e);
}

static void usb_registers_are_mirrored(void **state)
{
	struct venc *e = asm_new(VENC_ASM236X);
	uint8_t one[255], other[255];

	(void)state;
	assert_int_equal(asm_peek(e, 0x9010, one, 255), CSW_GOOD);
	assert_int_equal(asm_peek(e, 0x9810, other, 255), CSW_GOOD);
	assert_memory_equal(one, other, 255);
	venc_free(e);
}

/* Each of them must count as a guest error, and nothing may change. */
static void writes_outside_the_hosts_registers_are_trapped(void **state)
{
	static const uint32_t at[] = {0x0000, 0x054B, 0x07F0, 0x7000, 0x8000, 0x9000, 0xB20F,
	        0xB224, 0xB284, 0xB298, 0xB450, 0xB480, 0xC422, 0xC656, 0xC659, 0xC89F, 0xCE40,
	        0xE764};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(BOTH); i++) {
		struct venc *e = asm_new(BOTH[i]);

		for (size_t n = 0; n < ARRAY_SIZE(at); n++) {
			uint8_t before = asm_peek1(e, at[n]);

			print_message("write to %04x\n", at[n]);
			assert_int_equal(asm_poke(e, at[n], (uint8_t)~before), CSW_GOOD);
			assert_int_equal(own_guest_errors(e), n + 1);
			if (at[n] != 0x8000)
				assert_int_equal(asm_peek1(e, at[n]), before);
		}
		venc_free(e);
	}
}

struct refused {
	const char *name;
	uint8_t cdb[16];
	unsigned cdb_len;
	uint32_t len;
	bool in;
	uint32_t sense;
	unsigned guest_errors;
};

static void expect_refusals(enum venc_bridge bridge, const struct refused *r, size_t n)
{
	static uint8_t data[8192];

	for (size_t i = 0; i < n; i++) {
		struct venc *e = asm_new(bridge);
		struct answer a = host_command(e, r[i].cdb, r[i].cdb_len, data, r[i].len, r[i].in);

		print_message("%s: status %u\n", r[i].name, a.status);
		assert_int_equal(a.status, CSW_FAILED);
		assert_int_equal(host_sense(e), r[i].sense);
		assert_int_equal(own_guest_errors(e), r[i].guest_errors);
		venc_free(e);
	}
}

static void what_writes_flash_or_means_nothing_is_trapped(void **state)
{
	static const struct refused both[] = {
	        {"E1 configuration write", {0xE1, 0x50}, 16, 128, false, 0x052000, 1},
	        {"E3 firmware write", {0xE3, 0x50, 0, 0, 16, 0}, 16, 4096, false, 0x052000, 1},
	        {"E6 NVMe identify", {0xE6, 6, 0, 1}, 16, 4096, true, 0x052000, 1},
	        {"E7", {0xE7}, 6, 0, false, 0x052000, 1},
	        {"E4 of nothing", {0xE4, 0, 0, 0xB2, 0x96}, 6, 0, true, 0x052400, 1},
	        {"E4 with another length of CDB", {0xE4, 1, 0, 0xB2, 0x96}, 16, 1, true, 0x052400,
	                1},
	        {"E4 with a last byte", {0xE4, 1, 0, 0xB2, 0x96, 1}, 6, 1, true, 0x052400, 1},
	        {"E4 past the bank", {0xE4, 2, 0, 0xFF, 0xFF}, 6, 2, true, 0x052400, 1},
	        {"E4 of an unknown bank", {0xE4, 1, 0x77, 0xB2, 0x96}, 6, 1, true, 0x052400, 1},
	        {"E5 with the other bank", {0xE5, 1, 0x50, 0xA0, 0}, 6, 0, false, 0x052400, 1},
	        {"E8 of an unknown type", {0xE8, 0x51}, 12, 0, false, 0x052400, 1},
	        {"E8 in six bytes", {0xE8, 0x01}, 6, 0, false, 0x052400, 1},
	        {"E0 of image 2", {0xE0, 2}, 6, 128, true, 0x052400, 0},
	        {"E2 of too much", {0xE2, 0, 0, 0, 0x20, 0}, 6, 8192, true, 0x052400, 0},
	};
	static const struct refused only_246x[] = {
	        {"E5 with bank 0", {0xE5, 1, 0, 0xA0, 0}, 6, 0, false, 0x052400, 1},
	        {"E8 of a 236x", {0xE8, 0x01}, 12, 0, false, 0x052400, 1},
	};

	(void)state;
	expect_refusals(VENC_ASM236X, both, ARRAY_SIZE(both));
	expect_refusals(VENC_ASM246X, both, 4);
	expect_refusals(VENC_ASM246X, only_246x, ARRAY_SIZE(only_246x));
}

static void flash_and_configuration_read_erased(void **state)
{
	static const uint8_t config[6] = {0xE0, 1}, flash[6] = {0xE2, 0x50, 0, 0, 0x10, 0};
	struct venc *e = asm_new(VENC_ASM246X);
	uint8_t data[4096] = {0};

	(void)state;
	assert_int_equal(host_command(e, config, 6, data, 128, true).status, CSW_GOOD);
	assert_int_equal(data[0] & data[127], 0xFF);
	data[0] = 0;
	assert_int_equal(host_command(e, flash, 6, data, 4096, true).data, 4096);
	assert_int_equal(data[0] & data[4095], 0xFF);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void lengths_that_differ_end_in_residue(void **state)
{
	static const uint8_t inquiry[6] = {0x12, 0, 0, 0, 96};
	struct venc *e = asm_new(VENC_ASM236X);
	uint8_t data[512];
	struct answer a = host_command(e, inquiry, 6, data, 255, true);

	(void)state;
	assert_int_equal(a.data, 96);
	assert_int_equal(a.status, CSW_GOOD);
	assert_int_equal(a.residue, 159);
	a = host_command(e, inquiry, 6, data, 36, true); /* the device would send more */
	assert_int_equal(a.data, 36);
	assert_int_equal(a.status, CSW_GOOD);
	assert_int_equal(a.residue, 0);
	assert_int_equal(own_guest_errors(e), 0);
	a = host_command(e, inquiry, 6, data, 96, false); /* direction */
	assert_int_equal(a.status, CSW_FAILED);
	assert_int_equal(own_guest_errors(e), 1);
	venc_free(e);
}

static void a_vendor_command_owes_its_length(void **state)
{
	static const uint8_t read[6] = {0xE4, 6, 0, 0x07, 0xF0}, write[6] = {0xE5, 1, 0, 0xA0, 0};
	struct venc *e = asm_new(VENC_ASM236X);
	uint8_t data[16];
	struct answer a = host_command(e, read, 6, data, 16, true);

	(void)state;
	assert_int_equal(a.data, 6);
	assert_int_equal(a.residue, 10);
	assert_int_equal(own_guest_errors(e), 1);
	a = host_command(e, write, 6, data, 4, true);
	assert_int_equal(a.data, 0);
	assert_int_equal(a.residue, 4);
	assert_int_equal(own_guest_errors(e), 2);
	venc_free(e);
}

static void a_reset_is_reported_once_if_asked_for(void **state)
{
	static const uint8_t ready[6] = {0}, inquiry[6] = {0x12, 0, 0, 0, 96};
	static const enum venc_bridge all[] = {VENC_RTL921X, VENC_ASM236X, VENC_ASM246X};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct venc *e = host_new_with(
		        (struct venc_options){.bridge = all[i], .unit_attention = true});
		uint8_t data[96];

		assert_int_equal(host_command(e, inquiry, 6, data, 96, true).status, CSW_GOOD);
		assert_int_equal(host_sense(e), 0);
		assert_int_equal(host_command(e, ready, 6, NULL, 0, false).status, CSW_FAILED);
		assert_int_equal(host_sense(e), 0x062900);
		assert_int_equal(host_command(e, ready, 6, NULL, 0, false).status, CSW_FAILED);
		assert_int_equal(host_sense(e), 0x023A00);
		venc_port_reset(e);
		assert_int_equal(host_command(e, ready, 6, NULL, 0, false).status, CSW_FAILED);
		assert_int_equal(host_sense(e), 0x062900);
		venc_free(e);
	}
}

static void the_link_registers_of_a_246x_follow_the_link(void **state)
{
	struct venc *e = asm_new(VENC_ASM246X);

	(void)state;
	assert_int_equal(asm_peek1(e, 0xB450), 0x48);
	assert_int_equal(asm_peek1(e, 0xB455), 0x19);
	assert_int_equal(asm_peek1(e, 0xB430), 1);
	assert_int_equal(asm_peek1(e, 0xB431), 0x0E);
	venc_inject(e, VENC_FAULT_LINK_DOWN, 1);
	assert_int_equal(asm_peek1(e, 0xB450), 0);
	assert_int_equal(asm_peek1(e, 0xB455), 0x10);
	assert_int_equal(asm_peek1(e, 0xB430), 0);
	venc_free(e);
	e = asm_new(VENC_ASM236X); /* not documented there: noise or nothing, never a link state */
	assert_int_not_equal(asm_peek1(e, 0xB450), 0x48);
	assert_int_not_equal(asm_peek1(e, 0xB450), 0x78);
	venc_free(e);
}

static void a_cpu_reset_answers_after_a_port_reset(void **state)
{
	static const uint8_t cdb[12] = {0xE8};
	struct venc *e = asm_new(VENC_ASM236X);
	unsigned resets = fake_card()->resets;

	(void)state;
	assert_int_equal(host_command(e, cdb, 12, NULL, 0, false).csw, -ETIMEDOUT);
	assert_int_equal(host_command(e, cdb, 12, NULL, 0, false).csw, -ETIMEDOUT);
	venc_port_reset(e);
	assert_int_equal(asm_peek1(e, 0x07F0), 0x24);
	assert_int_equal(fake_card()->resets, resets + 1);
	venc_free(e);
}

static void a_pcie_reset_takes_the_card_along(void **state)
{
	static const uint8_t cdb[12] = {0xE8, 0x51};
	struct venc *e = asm_new(VENC_ASM246X);
	unsigned resets = fake_card()->resets;

	(void)state;
	assert_int_equal(host_command(e, cdb, 12, NULL, 0, false).status, CSW_GOOD);
	assert_int_equal(fake_card()->resets, resets + 1);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

/* bridge.md 1.5, without streams: command, read ready, data, status */
static void e4_works_over_uas(void **state)
{
	static const uint8_t command[32] = {
	        [0] = 0x01, [3] = 7, [16] = 0xE4, [17] = 6, [18] = 0x50, [19] = 0x07, [20] = 0xF0};
	static const uint8_t version[6] = {0x24, 0x04, 0x17, 0x85, 0, 0};
	struct venc *e = asm_new(VENC_ASM246X);
	uint8_t iu[64], data[64];

	(void)state;
	assert_int_equal(venc_control(e, 0x01, 11, 1, 0, NULL, 0), 0);
	assert_int_equal(venc_pipe_out(e, 0x04, command, sizeof(command)), 32);
	assert_true(venc_pipe_in(e, 0x83, iu, sizeof(iu)) > 0);
	assert_int_equal(iu[0], 0x06);
	assert_int_equal(venc_pipe_in(e, 0x81, data, sizeof(data)), 6);
	assert_memory_equal(data, version, 6);
	assert_true(venc_pipe_in(e, 0x83, iu, sizeof(iu)) > 0);
	assert_int_equal(iu[0], 0x03);
	assert_int_equal(iu[6], 0);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void names_of_bridges_are_parsed(void **state)
{
	enum venc_bridge b = VENC_RTL921X;

	(void)state;
	assert_int_equal(venc_parse_bridge("asm2464", &b), 0);
	assert_int_equal(b, VENC_ASM246X);
	assert_int_equal(venc_parse_bridge("asm2362", &b), 0);
	assert_int_equal(b, VENC_ASM236X);
	assert_int_equal(venc_parse_bridge("rtl9210", &b), 0);
	assert_int_equal(b, VENC_RTL921X);
	assert_int_equal(venc_parse_bridge("asm", &b), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(each_family_has_its_names),
	        cmocka_unit_test(the_bank_tells_the_families_apart),
	        cmocka_unit_test(dma_windows_keep_what_is_written),
	        cmocka_unit_test(an_answer_passes_through_the_usb_buffer),
	        cmocka_unit_test(usb_registers_are_mirrored),
	        cmocka_unit_test(writes_outside_the_hosts_registers_are_trapped),
	        cmocka_unit_test(what_writes_flash_or_means_nothing_is_trapped),
	        cmocka_unit_test(flash_and_configuration_read_erased),
	        cmocka_unit_test(lengths_that_differ_end_in_residue),
	        cmocka_unit_test(a_vendor_command_owes_its_length),
	        cmocka_unit_test(a_reset_is_reported_once_if_asked_for),
	        cmocka_unit_test(the_link_registers_of_a_246x_follow_the_link),
	        cmocka_unit_test(a_cpu_reset_answers_after_a_port_reset),
	        cmocka_unit_test(a_pcie_reset_takes_the_card_along),
	        cmocka_unit_test(e4_works_over_uas),
	        cmocka_unit_test(names_of_bridges_are_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
