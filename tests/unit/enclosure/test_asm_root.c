/* The root port of ASM236x and ASM246x: header, routing, reset of the secondary bus.
 * bridge.md 3.5, 4.
 */

#include "device/bytes.h"
#include "tests/unit/enclosure/helper_asm.h"
#include "tests/unit/enclosure/helper_card.h"

static void stock_firmware_leaves_bus_numbers_and_no_window(void **state)
{
	static const struct {
		uint32_t offset, value;
	} expected[] = {{0x18, 0x00010100}, {0x20, 0}, {0x24, 0x00010001}, {0x28, 0}, {0x2C, 0},
	        {0x04, 0x00100000}, {0x0C, 0x00010000}};
	struct venc *e = asm_new(VENC_ASM236X);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		assert_int_equal(
		        asm_config_read(e, CFG0_READ, expected[i].offset), expected[i].value);
	assert_int_equal(asm_config_read(e, CFG1_READ, BUS1 | 0x10), 0xC); /* reset value */
	assert_int_equal(asm_config_read(e, CFG1_READ, BUS1 | 0x04) & 7, 0);
	venc_free(e);
}

static void type_0_is_the_root_port_alone(void **state)
{
	struct venc *e = asm_new(VENC_ASM246X);

	(void)state;
	assert_int_equal(asm_request(e, CFG0_READ, 1u << 19, 0xF, 0).status, 1);
	assert_int_equal(asm_request(e, CFG0_READ, 1u << 16, 0xF, 0).status, 1);
	assert_int_equal(own_guest_errors(e), 0);
	assert_int_equal(asm_request(e, CFG0_READ, BUS1, 0xF, 0).status, 1);
	assert_int_equal(own_guest_errors(e), 1);
	assert_int_equal(asm_request(e, CFG1_READ, 0, 0xF, 0).status, 1);
	assert_int_equal(own_guest_errors(e), 2);
	venc_free(e);
}

static void type_1_follows_the_bus_numbers(void **state)
{
	struct venc *e = asm_new(VENC_ASM246X);

	(void)state;
	assert_int_equal(asm_request(e, CFG1_READ, 2u << 24, 0xF, 0).status, 1);
	assert_int_equal(asm_request(e, CFG1_READ, BUS1 | 1u << 19, 0xF, 0).status, 1);
	asm_config_write(e, CFG0_WRITE, 0x18, 0x00070500);
	assert_int_equal(asm_config_read(e, CFG0_READ, 0x18), 0x00070500);
	assert_int_equal(asm_request(e, CFG1_READ, BUS1, 0xF, 0).status, 1);
	assert_int_equal(asm_config_read(e, CFG1_READ, 5u << 24), 0x67DF1002);
	assert_int_equal(asm_request(e, CFG1_READ, 7u << 24, 0xF, 0).status, 1);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void bus_numbers_in_pieces_are_counted(void **state)
{
	struct venc *e = asm_new(VENC_ASM236X);

	(void)state;
	assert_int_equal(asm_request(e, CFG0_WRITE, 0x18, 0x2, 0x0500).status, 0);
	assert_int_equal(own_guest_errors(e), 1);
	assert_int_equal(asm_request(e, CFG1_READ, 5u << 24, 0xF, 0).status, 1); /* 5 > 1 */
	venc_free(e);
}

static void memory_needs_window_and_enable(void **state)
{
	struct venc *e = asm_new(VENC_ASM236X);

	(void)state;
	asm_open(e);
	assert_int_equal(asm_request(e, MEM_READ, ASM_BAR5, 0xF, 0).status, 0);
	asm_config_write(e, CFG0_WRITE, 0x04, 5); /* no memory enable */
	assert_int_equal(asm_request(e, MEM_READ, ASM_BAR5, 0xF, 0).status, 1);
	asm_config_write(e, CFG0_WRITE, 0x04, 2);
	asm_config_write(e, CFG0_WRITE, 0x20, 0x10001010); /* base above limit */
	assert_int_equal(asm_request(e, MEM_READ, ASM_BAR5, 0xF, 0).status, 1);
	asm_config_write(e, CFG0_WRITE, 0x20, 0x10001000); /* 1 MiB */
	assert_int_equal(asm_request(e, MEM_READ, ASM_BAR5, 0xF, 0).status, 0);
	assert_int_equal(asm_request(e, MEM_READ, ASM_BAR0, 0xF, 0).status, 1);
	asm_config_write(e, CFG0_WRITE, 0x24, 0x20012001); /* prefetchable */
	assert_int_equal(asm_request(e, MEM_READ, ASM_BAR0, 0xF, 0).status, 0);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void the_bridges_own_addresses_are_not_the_hosts(void **state)
{
	static const uint32_t at[] = {0x00200000, 0x0027FFFC, 0x00800000, 0x00822FFC};
	struct venc *e = asm_new(VENC_ASM246X);

	(void)state;
	asm_open(e);
	asm_config_write(e, CFG0_WRITE, 0x20, 0x3FF00000);
	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		assert_int_equal(asm_request(e, MEM_READ, at[i], 0xF, 0).status, 1);
		assert_int_equal(own_guest_errors(e), i + 1);
	}
	venc_free(e);
}

static void reset_of_the_bus_resets_the_card(void **state)
{
	struct venc *e = asm_new(VENC_ASM236X);
	unsigned resets = fake_card()->resets;

	(void)state;
	asm_open(e);
	assert_int_equal(asm_request(e, CFG0_WRITE, 0x3C, 0xC, 0x00400000).status, 0);
	assert_int_equal(asm_request(e, CFG1_READ, BUS1, 0xF, 0).b296, 1);
	assert_int_equal(asm_request(e, CFG0_WRITE, 0x3C, 0xC, 0).status, 0);
	assert_int_equal(fake_card()->resets, resets + 1);
	assert_int_equal(own_guest_errors(e), 0);
	assert_int_equal(asm_request(e, CFG1_READ, BUS1, 0xF, 0).status, 2);
	assert_int_equal(own_guest_errors(e), 1); /* too early */
	fake_card()->now_ns += 99999999;
	assert_int_equal(asm_request(e, CFG1_READ, BUS1, 0xF, 0).status, 2);
	assert_int_equal(own_guest_errors(e), 2);
	fake_card()->now_ns++;
	assert_int_equal(asm_config_read(e, CFG1_READ, BUS1), 0x67DF1002);
	assert_int_equal(asm_config_read(e, CFG1_READ, BUS1 | 0x10), 0xC); /* BARs are lost */
	assert_int_equal(asm_config_read(e, CFG0_READ, 0x20), 0x3FF01000); /* windows are not */
	assert_int_equal(own_guest_errors(e), 2);
	venc_free(e);
}

static void no_card_means_no_answer(void **state)
{
	struct venc *e = asm_new(VENC_ASM246X); /* sets the helper's family */

	(void)state;
	venc_free(e);
	e = host_new_with((struct venc_options){.bridge = VENC_ASM246X, .start_unpowered = true});
	assert_int_equal(asm_peek1(e, 0xB450), 0);
	assert_int_equal(asm_request(e, CFG1_READ, BUS1, 0xF, 0).b296, 1);
	assert_int_equal(asm_config_read(e, CFG0_READ, 0x08) >> 16, 0x0604);
	venc_free(e);
}

static void pcie_capability_says_root_port(void **state)
{
	struct venc *e = asm_new(VENC_ASM246X);
	uint32_t at = asm_config_read(e, CFG0_READ, 0x34), head = asm_config_read(e, CFG0_READ, at);

	(void)state;
	assert_int_equal(head & 0xFF, 0x10);
	assert_int_equal(head >> 20 & 0xF, 4);
	assert_int_equal(asm_config_read(e, CFG0_READ, at + 0x10) >> 16 & 0x3FF, 0x011);
	venc_inject(e, VENC_FAULT_LINK_DOWN, 1);
	assert_int_equal(asm_config_read(e, CFG0_READ, at + 0x10) >> 16, 0);
	venc_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(stock_firmware_leaves_bus_numbers_and_no_window),
	        cmocka_unit_test(type_0_is_the_root_port_alone),
	        cmocka_unit_test(type_1_follows_the_bus_numbers),
	        cmocka_unit_test(bus_numbers_in_pieces_are_counted),
	        cmocka_unit_test(memory_needs_window_and_enable),
	        cmocka_unit_test(the_bridges_own_addresses_are_not_the_hosts),
	        cmocka_unit_test(reset_of_the_bus_resets_the_card),
	        cmocka_unit_test(no_card_means_no_answer),
	        cmocka_unit_test(pcie_capability_says_root_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
