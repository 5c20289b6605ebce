/* The TLP engine of ASM236x and ASM246x: requests, completions, faults, misuse. bridge.md 3.3, 3.4,
 * 5.4, 5.5. */
#include <string.h>

#include "device/bytes.h"
#include "tests/unit/enclosure/helper_asm.h"
#include "tests/unit/enclosure/helper_card.h"

static const enum venc_bridge BOTH[] = {VENC_ASM236X, VENC_ASM246X};

static uint64_t tlps(struct venc *e)
{
	struct venc_stats s;

	venc_read_stats(e, &s);
	return s.tlps;
}

static void configuration_reaches_root_port_and_card(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(BOTH); i++) {
		struct venc *e = asm_new(BOTH[i]);

		assert_int_equal(asm_config_read(e, CFG0_READ, 0x08) >> 16, 0x0604);
		assert_int_equal(tlps(e), 0); /* inside the bridge */
		assert_int_equal(asm_config_read(e, CFG1_READ, BUS1), 0x67DF1002);
		assert_int_equal(asm_config_read(e, CFG1_READ, BUS1 | 1u << 16), 0xAAF01002);
		assert_int_equal(tlps(e), 2);
		assert_int_equal(own_guest_errors(e), 0);
		venc_free(e);
	}
}

static void memory_reaches_the_card_in_lanes(void **state)
{
	static const struct {
		uint32_t offset;
		uint8_t enables;
		uint32_t data, mask;
	} cases[] = {{0, 0xF, 0x11223344, 0xFFFFFFFF}, {4, 0x3, 0x0000BEEF, 0x0000FFFF},
	        {4, 0xC, 0xCAFE0000, 0xFFFF0000}, {8, 0x4, 0x00770000, 0x00FF0000}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(BOTH); i++) {
		struct venc *e = asm_new(BOTH[i]);

		asm_open(e);
		for (size_t n = 0; n < ARRAY_SIZE(cases); n++) {
			uint32_t at = ASM_BAR0 + cases[n].offset;

			asm_request(e, MEM_WRITE, at, cases[n].enables, cases[n].data);
			struct tlp_end end = asm_request(e, MEM_READ, at, cases[n].enables, 0);

			print_message("enables %x: %08x\n", cases[n].enables, end.data);
			assert_int_equal(end.status, 0);
			assert_true(end.has_data);
			assert_int_equal(end.count, __builtin_popcount(cases[n].enables));
			assert_int_equal(end.data & cases[n].mask, cases[n].data);
			if (cases[n].enables != 0xF) /* other lanes are nobody's */
				assert_int_equal(
				        end.data & ~cases[n].mask, 0xA5A5A5A5 & ~cases[n].mask);
		}
		assert_int_equal(get_le32(fake_card()->vram + 4), 0xCAFEBEEF);
		assert_int_equal(fake_card()->vram[8], 0);
		assert_int_equal(own_guest_errors(e), 0);
		venc_free(e);
	}
}

/* The words stock tools leave alone on a 246x, and their way to leave "done" to the next trigger.
 */
static void the_short_sequence_works_on_a_246x_only(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(BOTH); i++) {
		struct venc *e = asm_new(BOTH[i]);
		bool works = BOTH[i] == VENC_ASM246X;

		for (unsigned n = 0; n < 2; n++) {
			asm_poke32(e, 0xB218, BUS1);
			asm_poke(e, 0xB217, 0xF);
			asm_poke(e, 0xB210, CFG1_READ);
			asm_poke(e, 0xB254, 0x0F);
			asm_poke(e, ASM_STATUS, 4);
			assert_int_equal(asm_peek1(e, ASM_STATUS), works ? 2 : 4);
		}
		assert_int_equal(own_guest_errors(e), works ? 0 : 2);
		venc_free(e);
	}
}

static void done_must_be_cleared_by_hand_on_a_236x(void **state)
{
	struct venc *e = asm_new(VENC_ASM236X);

	(void)state;
	asm_build(e, CFG1_READ, BUS1, 0xF, 0);
	asm_arm_and_send(e);
	assert_int_equal(asm_peek1(e, ASM_STATUS), 2);
	asm_poke(e, 0xB254, 0x0F);
	assert_int_equal(asm_peek1(e, ASM_STATUS), 2);
	fake_card_forget();
	asm_poke(e, ASM_STATUS, 4);
	assert_int_equal(fake_card()->count, 0);
	assert_int_equal(own_guest_errors(e), 1);
	asm_poke(e, ASM_STATUS, 2);
	assert_int_equal(asm_peek1(e, ASM_STATUS), 4);
	venc_free(e);
}

static void a_64_bit_address_is_for_the_246x(void **state)
{
	struct venc *e = asm_new(VENC_ASM246X);
	struct tlp_end end;

	(void)state;
	asm_open(e);
	asm_request(e, MEM64 | MEM_WRITE, ASM_BAR0, 0xF, 0x12345678);
	assert_int_equal(asm_request(e, MEM64 | MEM_READ, ASM_BAR0, 0xF, 0).data, 0x12345678);
	/* a prefetchable window above 4 GiB forwards, and the card there claims nothing */
	asm_config_write(e, CFG0_WRITE, 0x28, 8);
	asm_config_write(e, CFG0_WRITE, 0x24, 0xFFF10001);
	asm_config_write(e, CFG0_WRITE, 0x2C, 8);
	fake_card_forget();
	end = asm_request(e, MEM64 | MEM_READ, 0x800000010u, 0xF, 0);
	assert_int_equal(end.status, 1);
	assert_int_equal(fake_card()->count, 1);
	assert_true(fake_card()->seen[0].address == 0x800000010u);
	end = asm_request(e, MEM64 | MEM_READ, 0x900000000u, 0xF, 0);
	assert_int_equal(end.status, 1);
	assert_int_equal(fake_card()->count, 1);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void unclaimed_reads_are_done_with_ur(void **state)
{
	struct venc *e = asm_new(VENC_ASM236X);
	struct tlp_end end;

	(void)state;
	asm_open(e);
	end = asm_request(e, MEM_READ, 0x3F000000, 0xF, 0x55AA55AA); /* in the window */
	assert_int_equal(end.b296, 2);
	assert_int_equal(end.status, 1);
	assert_false(end.has_data);
	assert_int_equal(end.data, 0x55AA55AA);             /* what was there */
	end = asm_request(e, MEM_READ, 0x40000000, 0xF, 0); /* above it */
	assert_int_equal(end.status, 1);
	end = asm_request(e, CFG1_READ, BUS1 | 7u << 16, 0xF, 0);
	assert_int_equal(end.status, 1);
	assert_int_equal(own_guest_errors(e), 0);
	asm_request(e, MEM_WRITE, 0x40000000, 0xF, 1); /* nobody would ever know */
	assert_int_equal(own_guest_errors(e), 1);
	venc_free(e);
}

static void nothing_leaves_before_arm_and_send(void **state)
{
	struct venc *e = asm_new(VENC_ASM246X);

	(void)state;
	fake_card_forget();
	asm_build(e, CFG1_READ, BUS1, 0xF, 0);
	asm_poke(e, 0xB254, 0x0F);
	assert_int_equal(fake_card()->count, 0);
	asm_poke(e, ASM_STATUS, 4);
	assert_int_equal(fake_card()->count, 1);
	assert_int_equal(asm_finish(e, CFG1_READ).data, 0x67DF1002);
	assert_int_equal(own_guest_errors(e), 0);
	asm_poke(e, ASM_STATUS, 4); /* not armed again */
	assert_int_equal(fake_card()->count, 1);
	assert_int_equal(own_guest_errors(e), 1);
	venc_free(e);
}

static void headers_stock_tools_never_build_are_refused(void **state)
{
	static const struct {
		const char *name;
		uint16_t reg;
		uint8_t value;
	} cases[] = {
	        {"I/O read", 0xB210, 0x02},
	        {"message", 0xB210, 0x30},
	        {"traffic class", 0xB211, 0x10},
	        {"attributes", 0xB212, 0x20},
	        {"length 0", 0xB213, 0},
	        {"length 2", 0xB213, 2},
	        {"requester", 0xB215, 1},
	        {"tag", 0xB216, 0x21},
	        {"no byte enables", 0xB217, 0},
	        {"last byte enables", 0xB217, 0xFF},
	        {"hole in the byte enables", 0xB217, 0x5},
	        {"address not aligned", 0xB21B, 1},
	        {"configuration address bits 15:12", 0xB21A, 0x10},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct venc *e = asm_new(VENC_ASM236X);

		print_message("%s\n", cases[i].name);
		asm_build(e, CFG1_READ, BUS1, 0xF, 0);
		asm_poke(e, cases[i].reg, cases[i].value);
		fake_card_forget();
		asm_arm_and_send(e);
		assert_int_equal(fake_card()->count, 0);
		assert_int_equal(asm_peek1(e, ASM_STATUS), 4);
		assert_int_equal(own_guest_errors(e), 1);
		venc_free(e);
	}
}

static void a_236x_takes_no_64_bit_request(void **state)
{
	struct venc *e = asm_new(VENC_ASM236X);

	(void)state;
	asm_open(e);
	asm_build(e, MEM64 | MEM_READ, ASM_BAR0, 0xF, 0);
	asm_arm_and_send(e);
	assert_int_equal(own_guest_errors(e), 1);
	asm_poke(e, 0xB21C, 0); /* no such register there */
	assert_int_equal(own_guest_errors(e), 2);
	venc_free(e);
}

static void misuse_of_trigger_and_status_is_counted(void **state)
{
	static const struct {
		uint16_t reg;
		uint8_t value;
	} cases[] = {{0xB254, 0x01}, {0xB254, 0}, {0xB296, 0}, {0xB296, 0x05}, {0xB296, 0x10}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct venc *e = asm_new(VENC_ASM246X);

		asm_poke(e, cases[i].reg, cases[i].value);
		assert_int_equal(own_guest_errors(e), 1);
		venc_free(e);
	}
}

static void who_does_not_await_done_is_counted(void **state)
{
	struct venc *e = asm_new(VENC_ASM246X);

	(void)state;
	asm_build(e, CFG1_READ, BUS1, 0xF, 0);
	asm_arm_and_send(e);
	asm_peek1(e, 0xB220);
	assert_int_equal(own_guest_errors(e), 1);
	asm_poke(e, 0xB217, 1);
	assert_int_equal(own_guest_errors(e), 2);
	assert_int_equal(asm_finish(e, CFG1_READ).data, 0x67DF1002);
	assert_int_equal(own_guest_errors(e), 2);
	venc_free(e);
}

static void a_slow_engine_is_busy_before_it_is_done(void **state)
{
	struct venc *e = asm_new(VENC_ASM236X);

	(void)state;
	asm_build(e, CFG1_READ, BUS1, 0xF, 0);
	venc_inject(e, VENC_FAULT_ENGINE_SLOW, 3);
	asm_arm_and_send(e);
	for (int i = 0; i < 3; i++)
		assert_int_equal(asm_peek1(e, ASM_STATUS), 0);
	assert_int_equal(asm_finish(e, CFG1_READ).data, 0x67DF1002);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void a_posted_write_leaves_nothing_to_await(void **state)
{
	struct venc *e = asm_new(VENC_ASM236X);

	(void)state;
	asm_open(e);
	venc_inject(e, VENC_FAULT_ENGINE_SLOW, 3);
	for (uint32_t i = 0; i < 4; i++)
		asm_request(e, MEM_WRITE, ASM_BAR0 + 4 * i, 0xF, i + 1);
	assert_int_equal(get_le32(fake_card()->vram + 12), 4);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void engine_reset_ends_what_is_under_way(void **state)
{
	struct venc *e = asm_new(VENC_ASM236X);

	(void)state;
	asm_build(e, CFG1_READ, BUS1, 0xF, 0);
	venc_inject(e, VENC_FAULT_ENGINE_SLOW, 1000);
	asm_arm_and_send(e);
	asm_poke(e, ASM_STATUS, 8);
	assert_int_equal(asm_peek1(e, ASM_STATUS), 4);
	venc_inject(e, VENC_FAULT_ENGINE_SLOW, 0);
	assert_int_equal(asm_config_read(e, CFG1_READ, BUS1), 0x67DF1002);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void a_hung_card_is_a_timeout_of_memory_alone(void **state)
{
	struct venc *e = asm_new(VENC_ASM236X);
	struct tlp_end end;

	(void)state;
	asm_open(e);
	venc_inject(e, VENC_FAULT_GPU_HANG, 1);
	end = asm_request(e, MEM_READ, ASM_BAR5, 0xF, 0);
	assert_int_equal(end.b296, 1);
	assert_int_equal(asm_peek1(e, ASM_STATUS), 1); /* until it is cleared */
	asm_poke(e, ASM_STATUS, 1);
	assert_int_equal(asm_peek1(e, ASM_STATUS), 4);
	assert_int_equal(asm_config_read(e, CFG1_READ, BUS1), 0x67DF1002);
	venc_inject(e, VENC_FAULT_GPU_HANG, 0);
	assert_int_equal(asm_request(e, MEM_READ, ASM_BAR5, 0xF, 0).status, 0);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void a_link_that_is_down_is_an_engine_error(void **state)
{
	struct venc *e = asm_new(VENC_ASM246X);

	(void)state;
	asm_open(e);
	venc_inject(e, VENC_FAULT_LINK_DOWN, 1);
	assert_int_equal(asm_request(e, CFG1_READ, BUS1, 0xF, 0).b296, 1);
	assert_int_equal(asm_request(e, MEM_READ, ASM_BAR0, 0xF, 0).b296, 1);
	assert_int_equal(asm_config_read(e, CFG0_READ, 0x08) >> 16, 0x0604);
	asm_request(e, MEM_WRITE, ASM_BAR0, 0xF, 0);
	assert_int_equal(asm_peek1(e, ASM_STATUS), 1);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void crs_is_a_completion_status(void **state)
{
	struct venc *e = asm_new(VENC_ASM236X);
	struct tlp_end end;

	(void)state;
	venc_inject(e, VENC_FAULT_CRS, 1);
	end = asm_request(e, CFG1_READ, BUS1, 0xF, 0);
	assert_int_equal(end.b296, 2);
	assert_int_equal(end.status, 2);
	assert_false(end.has_data);
	assert_int_equal(asm_config_read(e, CFG1_READ, BUS1), 0x67DF1002);
	venc_free(e);
}

static void the_second_engine_only_stores(void **state)
{
	struct venc *e = asm_new(VENC_ASM236X);

	(void)state;
	fake_card_forget();
	asm_poke(e, 0xB2A0, 0x05);
	asm_poke(e, 0xB2DF, 0x77);
	assert_int_equal(asm_peek1(e, 0xB2A0), 0x05);
	assert_int_equal(asm_peek1(e, 0xB2DF), 0x77);
	assert_int_equal(fake_card()->count, 0);
	assert_int_equal(own_guest_errors(e), 0);
	venc_free(e);
}

static void a_completion_header_is_one_of_pcie(void **state)
{
	/* CplD, one dword; completer 1:0.1; status and count; requester, tag, lower address */
	static const uint8_t expected[12] = {0x4A, 0, 0, 1, 0x01, 0x01, 0x00, 0x04, 0, 0, 0, 0};
	struct venc *e = asm_new(VENC_ASM246X);
	uint8_t got[12];

	(void)state;
	asm_config_read(e, CFG1_READ, BUS1 | 1u << 16);
	assert_int_equal(asm_peek(e, 0xB224, got, 12), CSW_GOOD);
	assert_memory_equal(got, expected, 12);
	venc_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(configuration_reaches_root_port_and_card),
	        cmocka_unit_test(memory_reaches_the_card_in_lanes),
	        cmocka_unit_test(the_short_sequence_works_on_a_246x_only),
	        cmocka_unit_test(done_must_be_cleared_by_hand_on_a_236x),
	        cmocka_unit_test(a_64_bit_address_is_for_the_246x),
	        cmocka_unit_test(unclaimed_reads_are_done_with_ur),
	        cmocka_unit_test(nothing_leaves_before_arm_and_send),
	        cmocka_unit_test(headers_stock_tools_never_build_are_refused),
	        cmocka_unit_test(a_236x_takes_no_64_bit_request),
	        cmocka_unit_test(misuse_of_trigger_and_status_is_counted),
	        cmocka_unit_test(who_does_not_await_done_is_counted),
	        cmocka_unit_test(a_slow_engine_is_busy_before_it_is_done),
	        cmocka_unit_test(a_posted_write_leaves_nothing_to_await),
	        cmocka_unit_test(engine_reset_ends_what_is_under_way),
	        cmocka_unit_test(a_hung_card_is_a_timeout_of_memory_alone),
	        cmocka_unit_test(a_link_that_is_down_is_an_engine_error),
	        cmocka_unit_test(crs_is_a_completion_status),
	        cmocka_unit_test(the_second_engine_only_stores),
	        cmocka_unit_test(a_completion_header_is_one_of_pcie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
