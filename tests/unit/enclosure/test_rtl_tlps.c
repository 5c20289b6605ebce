/* Vendor commands E2 and E3 that reach the card: what becomes of them on its link, and what of
 * those that fail: bridge.md 2.9, 2.10, 5.5. */
#include <errno.h>
#include <string.h>

#include "device/bytes.h"
#include "tests/unit/enclosure/helper_card.h"
#include "tests/unit/enclosure/helper_host.h"

#define BASE 0xF0000000u /* bridge.md 2.14: BAR0 as the firmware places it */
#define BAR5 0xE0040000u

static const struct vcard_tlp *seen(unsigned i)
{
	assert_true(i < fake_card()->count && i < FAKE_TLPS);
	return &fake_card()->seen[i];
}

static void expect_tlp(unsigned i, enum vcard_tlp_type type, uint64_t address, uint8_t enables)
{
	print_message("tlp %u: type %d address 0x%llx enables %x\n", i, (int)seen(i)->type,
	        (unsigned long long)seen(i)->address, seen(i)->byte_enables);
	assert_int_equal(seen(i)->type, type);
	assert_int_equal(seen(i)->address, address);
	assert_int_equal(seen(i)->byte_enables, enables);
}

static void config_reads_become_tlps_by_the_size_rules(void **state)
{
	struct venc *e = host_new();
	uint8_t data[256];

	(void)state;
	fake_card_forget();
	rtl_in32(e, 0xB3, 0x08);
	assert_int_equal(fake_card()->count, 1);
	expect_tlp(0, VCARD_CFG_READ, 0x08, 0xF);
	fake_card_forget();
	assert_int_equal(rtl_in(e, 0xB3, 2, data, 2), CSW_GOOD);
	assert_int_equal(get_le16(data), 0x67DF);
	expect_tlp(0, VCARD_CFG_READ, 0x00, 0xC);
	fake_card_forget();
	assert_int_equal(rtl_in(e, 0xB3, 1, data, 4), CSW_GOOD); /* not aligned: bytes */
	assert_int_equal(fake_card()->count, 4);
	expect_tlp(0, VCARD_CFG_READ, 0x00, 0x2);
	expect_tlp(3, VCARD_CFG_READ, 0x04, 0x1);
	fake_card_forget();
	assert_int_equal(rtl_in(e, 0xB3, 0, data, 256), CSW_GOOD);
	assert_int_equal(fake_card()->count, 256);
	assert_int_equal(get_le32(data), 0x67DF1002);
	assert_int_equal(get_le32(data + 0x24), BAR5);
	venc_free(e);
}

static void config_writes_of_two_bytes_have_no_side_effect(void **state)
{
	static const uint8_t command[2] = {0x06, 0x00}, line[1] = {0x0B};
	struct venc *e = host_new();

	(void)state;
	rtl_unlock(e);
	fake_card_forget();
	assert_int_equal(rtl_out(e, 0x33, 4, command, 2), CSW_GOOD);
	expect_tlp(0, VCARD_CFG_WRITE, 4, 0x3);
	assert_int_equal(rtl_out(e, 0x33, 0x3D, line, 1), CSW_GOOD);
	expect_tlp(1, VCARD_CFG_WRITE, 0x3C, 0x2);
	assert_int_equal(seen(1)->data, 0x0B00);
	assert_int_equal(rtl_in32(e, 0xB3, 4), 0x00100006);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void memory_offsets_are_added_to_the_base_modulo_2_to_the_32(void **state)
{
	struct venc *e = host_new();
	uint8_t half[2] = {0xCD, 0xAB};

	(void)state;
	rtl_unlock(e);
	fake_card()->regs[0x150A] = 8192; /* CONFIG_MEMSIZE */
	fake_card_forget();
	assert_int_equal(rtl_in32(e, 0xB4, BAR5 - BASE + 0x5428), 8192);
	expect_tlp(0, VCARD_MEM_READ, BAR5 + 0x5428, 0xF);
	assert_int_equal(rtl_out(e, 0x34, 0x102, half, 2), CSW_GOOD);
	expect_tlp(1, VCARD_MEM_WRITE, BASE + 0x100, 0xC);
	assert_int_equal(seen(1)->data, 0xABCD0000);
	assert_int_equal(get_le16(fake_card()->vram + 0x102), 0xABCD);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void the_base_stays_when_the_host_moves_bar0(void **state)
{
	static const uint8_t high[2] = {0x00, 0xC0};
	struct venc *e = host_new();

	(void)state;
	rtl_unlock(e);
	assert_int_equal(rtl_out(e, 0x33, 0x12, high, 2), CSW_GOOD);
	assert_int_equal(rtl_in32(e, 0xB3, 0x10), 0xC000000C);
	put_le32(fake_card()->vram + 8, 0xFEEDF00D);
	assert_int_equal(rtl_in32(e, 0xB4, 0xC0000008u - BASE), 0xFEEDF00D);
	venc_free(e);
}

static void bulk_memory_moves_one_byte_a_tlp_in_order(void **state)
{
	struct venc *e = host_new();
	uint8_t out[4096], back[4096];

	(void)state;
	rtl_unlock(e);
	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (uint8_t)(i * 7 + 1);
	fake_card_forget();
	assert_int_equal(rtl_out(e, 0x34, 0x1003, out, sizeof(out)), CSW_GOOD);
	assert_int_equal(fake_card()->count, 4096);
	for (unsigned i = 0; i < 4096; i++) {
		assert_int_equal(seen(i)->address, BASE + ((0x1003 + i) & ~3u));
		assert_int_equal(seen(i)->byte_enables, 1 << ((0x1003 + i) & 3));
	}
	assert_int_equal(rtl_in(e, 0xB4, 0x1003, back, sizeof(back)), CSW_GOOD);
	assert_memory_equal(back, out, sizeof(out));
	assert_int_equal(fake_card()->count, 8192);
	venc_free(e);
}

static void a_failed_tlp_is_good_with_the_value_read_before(void **state)
{
	static const uint8_t dead[2] = {0xAD, 0xDE};
	struct venc *e = host_new();
	uint8_t four[5];

	(void)state;
	rtl_unlock(e);
	put_le32(fake_card()->vram, 0xCAFE1234);
	assert_int_equal(rtl_in32(e, 0xB4, 0), 0xCAFE1234);
	assert_int_equal(rtl_in32(e, 0xB4, 0x40000000u - BASE), 0xCAFE1234);
	assert_int_equal(rtl_in(e, 0xB4, 0x40000000u - BASE, four, 5), CSW_GOOD);
	assert_int_equal(four[0], 0x34);
	assert_int_equal(four[4], 0x34);
	assert_int_equal(rtl_out(e, 0x34, 0x40000000u - BASE, dead, 2), CSW_GOOD);
	assert_int_equal(rtl_in32(e, 0xB3, 0), 0x67DF1002);
	assert_int_equal(rtl_in32(e, 0xB4, 0x40000000u - BASE), 0x67DF1002);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void a_dword_write_also_stores_to_the_cpu_address(void **state)
{
	struct venc *e = host_new();

	(void)state;
	rtl_unlock(e);
	/* the alias trick of 2.10: offset 0xB3200010 is an SRAM address */
	rtl_out32(e, 0x34, 0xB3200010, 0x55AA1234);
	assert_int_equal(rtl_in32(e, 0x92, 0xB3200010), 0x55AA1234);
	assert_int_equal(own_guest_errors(e), 1);
	/* unmapped: the default drops the store, the TLP still goes out */
	rtl_out32(e, 0x34, 0x20, 0x11223344);
	assert_int_equal(get_le32(fake_card()->vram + 0x20), 0x11223344);
	assert_int_equal(own_guest_errors(e), 2);
	rtl_out32(e, 0x33, 0x10, 0xC0000000);
	assert_int_equal(own_guest_errors(e), 3);
	venc_free(e);
}

static void a_stray_store_hangs_the_bridge_when_told_so(void **state)
{
	struct venc *e = host_new_with((struct venc_options){.stray_store_hangs = true});
	uint8_t dword[4] = {1, 2, 3, 4};

	(void)state;
	rtl_unlock(e);
	fake_card_forget();
	assert_int_equal(rtl_out(e, 0x34, 0x20, dword, 4), -ETIMEDOUT);
	assert_int_equal(fake_card()->count, 0); /* it comes before the TLP */
	assert_int_equal(rtl_in(e, 0xA6, 0, dword, 1), -ETIMEDOUT);
	venc_free(e);
}

static void without_a_card_bb_says_ff_and_pcie_commands_are_guest_errors(void **state)
{
	struct venc *e = host_new_with((struct venc_options){.start_unpowered = true});
	uint8_t data[16];

	(void)state;
	assert_int_equal(rtl_in(e, 0xBB, 0, data, 16), CSW_GOOD);
	assert_int_equal(data[0], 0xFF);
	assert_int_equal(rtl_in(e, 0xB3, 0, data, 4), CSW_FAILED);
	assert_int_equal(host_sense(e), 0x052000);
	assert_int_equal(own_guest_errors(e), 1);
	venc_free(e);
}

static void a_null_handle_hangs_the_bridge_when_told_so(void **state)
{
	struct venc *e = host_new_with(
	        (struct venc_options){.start_unpowered = true, .null_handle_hangs = true});
	uint8_t data[4];

	(void)state;
	assert_int_equal(rtl_in(e, 0xB4, 0, data, 4), -ETIMEDOUT);
	assert_int_equal(rtl_in(e, 0xA6, 0, data, 1), -ETIMEDOUT);
	venc_port_reset(e);
	assert_int_equal(rtl_in(e, 0xA6, 0, data, 1), CSW_GOOD);
	venc_free(e);
}

static void a_link_that_drops_shows_as_state_ff(void **state)
{
	struct venc *e = host_new();
	uint8_t data[16];

	(void)state;
	assert_int_equal(rtl_in32(e, 0xA2, 0xB3313100) >> 26 & 1, 1);
	venc_inject(e, VENC_FAULT_LINK_DOWN, 1);
	assert_int_equal(rtl_in(e, 0xBB, 0, data, 16), CSW_GOOD);
	assert_int_equal(data[0], 0xFF);
	assert_int_equal(rtl_in32(e, 0xA2, 0xB3313100) >> 26 & 1, 0);
	assert_int_equal(rtl_in(e, 0xB3, 0, data, 4), CSW_FAILED);
	venc_inject(e, VENC_FAULT_LINK_DOWN, 0);
	assert_int_equal(rtl_in32(e, 0xB3, 0), 0x67DF1002);
	venc_free(e);
}

static void a_hung_gpu_leaves_configuration_alive(void **state)
{
	struct venc *e = host_new();

	(void)state;
	put_le32(fake_card()->vram, 0x31415926);
	assert_int_equal(rtl_in32(e, 0xB3, 0), 0x67DF1002);
	venc_inject(e, VENC_FAULT_GPU_HANG, 1);
	assert_int_equal(rtl_in32(e, 0xB4, 0), 0x67DF1002); /* stale */
	assert_int_equal(rtl_in32(e, 0xB3, 8), 0x030000E7);
	venc_free(e);
}

static void a_card_answering_crs_too_long_is_missed(void **state)
{
	struct venc *e = host_new();
	uint8_t data[16];

	(void)state;
	venc_inject(e, VENC_FAULT_CRS, 3);
	assert_int_equal(rtl_in32(e, 0xB3, 0), 0xFFFF0001);
	venc_power_cycle(e); /* two more, then the card */
	assert_int_equal(rtl_in(e, 0xBB, 0, data, 16), CSW_GOOD);
	assert_int_equal(data[0], 3);
	venc_inject(e, VENC_FAULT_CRS, 15);
	venc_power_cycle(e);
	assert_int_equal(rtl_in(e, 0xBB, 0, data, 16), CSW_GOOD);
	assert_int_equal(data[0], 0xFF);
	venc_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(config_reads_become_tlps_by_the_size_rules),
	        cmocka_unit_test(config_writes_of_two_bytes_have_no_side_effect),
	        cmocka_unit_test(memory_offsets_are_added_to_the_base_modulo_2_to_the_32),
	        cmocka_unit_test(the_base_stays_when_the_host_moves_bar0),
	        cmocka_unit_test(bulk_memory_moves_one_byte_a_tlp_in_order),
	        cmocka_unit_test(a_failed_tlp_is_good_with_the_value_read_before),
	        cmocka_unit_test(a_dword_write_also_stores_to_the_cpu_address),
	        cmocka_unit_test(a_stray_store_hangs_the_bridge_when_told_so),
	        cmocka_unit_test(without_a_card_bb_says_ff_and_pcie_commands_are_guest_errors),
	        cmocka_unit_test(a_null_handle_hangs_the_bridge_when_told_so),
	        cmocka_unit_test(a_link_that_drops_shows_as_state_ff),
	        cmocka_unit_test(a_hung_gpu_leaves_configuration_alive),
	        cmocka_unit_test(a_card_answering_crs_too_long_is_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
