/* test_atom_spaces.c - where operands live: parameters, workspace, image, scratch memory, registers
 * and ports, on images made by the assembler of the virtual side. Expectations: atombios.md 5-8.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "device/bytes.h"
#include "device/vbios/rom.h"
#include "helper_rig.h"

/* Table 1 declares two parameters of its own and calls table 2, which sees those behind them. */
static void calls_move_the_parameter_window(void **state)
{
	struct rig *r = rig_new();

	(void)state;
	as_command(&r->a, 2, 1, 1, 4, 0);
	as_op(&r->a, ATOM_ADD, as_ws(0), as_imm(1)); /* a workspace begins empty */
	as_op(&r->a, ATOM_ADD, as_ps(0), as_ws(0));
	as_plain(&r->a, ATOM_EOT);
	as_end(&r->a);
	as_command(&r->a, 0, 1, 1, 4, 8);
	as_op(&r->a, ATOM_MOVE, as_ws(0), as_imm(50));
	as_op(&r->a, ATOM_MOVE, as_ps(2), as_imm(10));
	as_byte_op(&r->a, ATOM_CALL_TABLE, 2);
	as_byte_op(&r->a, ATOM_CALL_TABLE, 2);
	as_byte_op(&r->a, ATOM_CALL_TABLE, 77); /* absent: skipped */
	as_byte_op(&r->a, ATOM_CALL_TABLE, 200);
	as_op(&r->a, ATOM_ADD, as_ws(0), as_ps(2)); /* this one's is untouched */
	as_op(&r->a, ATOM_MOVE, as_ps(0), as_ws(0));
	assert_int_equal(rig_result(r), 62);
}

static void special_workspace_registers_behave(void **state)
{
	struct rig *r = rig_begin(0);
	struct atom_asm *a = &r->a;

	(void)state;
	as_op(a, ATOM_MOVE, as_ws(ATOM_WS_SHIFT), as_imm(0x105)); /* 8 bits */
	as_op(a, ATOM_MOVE, as_ps(0), as_ws(ATOM_WS_SHIFT));
	as_op(a, ATOM_MOVE, as_ws(ATOM_WS_OR_MASK), as_imm(0)); /* ignored */
	as_op(a, ATOM_MOVE, as_ps(1), as_ws(ATOM_WS_OR_MASK));
	as_op(a, ATOM_MOVE, as_ps(2), as_ws(ATOM_WS_AND_MASK));
	as_op(a, ATOM_MOVE, as_ws(ATOM_WS_DATA_POINTER), as_imm(0x12345)); /* 16 bits */
	as_op(a, ATOM_MOVE, as_ps(3), as_ws(ATOM_WS_DATA_POINTER));
	as_op(a, ATOM_MOVE, as_ws(ATOM_WS_FB_WINDOW), as_imm(0x12345678));
	as_op(a, ATOM_MOVE, as_at(as_ws(ATOM_WS_FB_WINDOW), ATOM_BYTE8),
	        as_at(as_imm(0xFF), ATOM_BYTE0));
	as_op(a, ATOM_MOVE, as_ps(4), as_ws(ATOM_WS_FB_WINDOW));
	as_op(a, ATOM_MOVE, as_ws(ATOM_WS_ATTRIBUTES), as_imm(0x1FFFF));
	as_op(a, ATOM_MOVE, as_ps(5), as_ws(ATOM_WS_ATTRIBUTES));
	as_op(a, ATOM_MOVE, as_ws(ATOM_WS_REG_POINTER), as_imm(0x100));
	as_op(a, ATOM_MOVE, as_reg(0x10), as_ws(ATOM_WS_REG_POINTER));
	assert_int_equal(rig_run(r), 0);
	assert_int_equal(r->ps[0], 5);
	assert_int_equal(r->ps[1], 0x20);
	assert_int_equal(r->ps[2], 0xFFFFFFDF);
	assert_int_equal(r->ps[3], 0x2345);
	assert_int_equal(r->ps[4], 0x1234FF78);
	assert_int_equal(r->ps[5], 0xFFFF);
	assert_string_equal(r->log, "W110=100 ");
	rig_free(r);
}

static void state_is_reset_only_at_a_top_level_call(void **state)
{
	struct rig *r = rig_new();

	(void)state;
	as_command(&r->a, 2, 1, 1, 0, 0);
	as_word_op(&r->a, ATOM_SET_REG_BLOCK, 0x100);
	as_op(&r->a, ATOM_MOVE, as_ws(ATOM_WS_QUOTIENT), as_imm(9));
	as_op(&r->a, ATOM_MOVE, as_ws(ATOM_WS_SHIFT), as_imm(3));
	as_plain(&r->a, ATOM_EOT);
	as_end(&r->a);
	as_command(&r->a, 0, 1, 1, 0, 0);
	as_op(&r->a, ATOM_MOVE, as_reg(1), as_ws(ATOM_WS_QUOTIENT));
	as_op(&r->a, ATOM_MOVE, as_reg(2), as_ws(ATOM_WS_SHIFT));
	as_byte_op(&r->a, ATOM_CALL_TABLE, 2);
	as_op(&r->a, ATOM_MOVE, as_reg(3), as_ws(ATOM_WS_QUOTIENT));
	assert_int_equal(rig_run(r), 0);
	assert_string_equal(r->log, "W1=0 W2=0 W103=9 ");
	assert_int_equal(rig_run(r), 0); /* the shift amount is kept: atombios.md 5 */
	assert_string_equal(r->log, "W1=0 W2=3 W103=9 ");
	rig_free(r);
}

static void data_blocks_are_the_base_of_id_operands(void **state)
{
	static const uint32_t constants[] = {0x11111111, 0x22222222};
	struct rig *r = rig_new();

	(void)state;
	put_le32(as_data(&r->a, 4, 2, 2, 108) + 8, 30000);
	as_command(&r->a, 0, 1, 1, 0, 0);
	as_byte_op(&r->a, ATOM_SET_DATA_BLOCK, 4);
	as_op(&r->a, ATOM_MOVE, as_ps(0), as_id(8));
	as_byte_op(&r->a, ATOM_SET_DATA_BLOCK, ATOM_BLOCK_TABLE);
	as_move_label(&r->a, as_at(as_ps(5), ATOM_WORD0), 1);
	as_op(&r->a, ATOM_ADD, as_ws(ATOM_WS_DATA_POINTER), as_ps(5));
	as_op(&r->a, ATOM_MOVE, as_ps(1), as_id(4));
	as_op(&r->a, ATOM_MOVE, as_at(as_ps(2), ATOM_BYTE0), as_at(as_id(2), ATOM_BYTE24));
	as_byte_op(&r->a, ATOM_SET_DATA_BLOCK, ATOM_BLOCK_NONE);
	as_op(&r->a, ATOM_MOVE, as_at(as_ps(3), ATOM_WORD0), as_at(as_id(0), ATOM_WORD0));
	as_byte_op(&r->a, ATOM_SET_DATA_BLOCK, 7); /* absent: from the start */
	as_op(&r->a, ATOM_MOVE, as_at(as_ps(4), ATOM_WORD0), as_at(as_id(0), ATOM_WORD0));
	as_plain(&r->a, ATOM_EOT);
	as_block(&r->a, 1, constants, 2);
	as_end(&r->a);
	assert_int_equal(rig_run(r), 0);
	assert_int_equal(r->ps[0], 30000);
	assert_int_equal(r->ps[1], 0x22222222);
	assert_int_equal(r->ps[2], 0x22); /* unaligned: 11 11 22 22 */
	assert_int_equal(r->ps[3], 0xAA55);
	assert_int_equal(r->ps[4], 0xAA55);
	rig_free(r);
}

static void scratch_memory_has_a_window_and_bounds(void **state)
{
	struct rig *r = rig_begin(0);

	(void)state;
	as_op(&r->a, ATOM_MOVE, as_fb(1), as_imm(0x1234));
	as_set_fb_base(&r->a, as_imm(4));
	as_op(&r->a, ATOM_MOVE, as_ps(0), as_fb(0));
	as_set_fb_base(&r->a, as_imm(20 * 1024)); /* the spare dword behind the last */
	as_op(&r->a, ATOM_MOVE, as_fb(0), as_imm(0x77));
	as_op(&r->a, ATOM_MOVE, as_ps(1), as_fb(0));
	as_op(&r->a, ATOM_MOVE, as_fb(1), as_imm(0x88)); /* dropped */
	as_op(&r->a, ATOM_MOVE, as_ps(2), as_imm(5));
	as_op(&r->a, ATOM_MOVE, as_ps(2), as_fb(1)); /* reads 0 */
	as_set_fb_base(&r->a, as_imm(0xFFFFFFFC));   /* must not wrap around */
	as_op(&r->a, ATOM_MOVE, as_fb(2), as_imm(0x99));
	assert_int_equal(rig_run(r), 0);
	assert_int_equal(r->ps[0], 0x1234);
	assert_int_equal(r->ps[1], 0x77);
	assert_int_equal(r->ps[2], 0);
	size_t bytes;

	assert_int_equal(atom_scratch(r->atom, &bytes)[1], 0x1234);
	assert_int_equal(bytes, 20 * 1024);
	rig_free(r);
}

static void mm_index_is_written_in_bytes(void **state)
{
	struct rig *r = rig_begin(0);

	(void)state;
	as_op(&r->a, ATOM_MOVE, as_reg(0), as_imm(0x1234));
	as_op(&r->a, ATOM_MOVE, as_reg(1), as_imm(0x1234));
	as_word_op(&r->a, ATOM_SET_REG_BLOCK, 1);
	as_op(&r->a, ATOM_MOVE, as_reg(0), as_imm(0x1234));
	assert_int_equal(rig_run(r), 0);
	assert_string_equal(r->log, "W0=48d0 W1=1234 W1=1234 ");
	rig_free(r);
}

static void every_destination_and_source_kind_works(void **state)
{
	static const enum atom_src kinds[] = {
	        ATOM_SRC_REG, ATOM_SRC_PS, ATOM_SRC_WS, ATOM_SRC_FB, ATOM_SRC_PLL, ATOM_SRC_MC};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct rig *r = rig_begin(32);
		struct as_arg place = {kinds[i], 5, ATOM_DWORD};

		r->other_spaces = true;
		as_op(&r->a, ATOM_MOVE, place, as_imm(0x1230));
		as_op(&r->a, ATOM_ADD, as_at(place, ATOM_BYTE0), as_at(as_imm(4), ATOM_BYTE0));
		as_op(&r->a, ATOM_MOVE, as_ps(0), place);
		assert_int_equal(rig_result(r), 0x1234);
	}
}

static void iio(uint8_t *p, unsigned *n, const uint8_t *bytes, unsigned count)
{
	memcpy(p + *n, bytes, count);
	*n += count;
}

#define IIO(...) iio(p, &n, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* One port with every instruction: index to bits 7:0 of register 0x20, attributes to 15:8, ones to
 * 19:16, zeros above; data through register 0x21.
 */
static void indirect_ports_run_their_programs(void **state)
{
	struct rig *r = rig_new();
	unsigned n = ATOM_HEADER_BYTES;
	uint8_t *p = as_data(&r->a, ATOM_DATA_IndirectIOAccess, 1, 1, 80);

	(void)state;
	IIO(ATOM_IIO_START, 4, ATOM_IIO_NOP, ATOM_IIO_CLEAR, 32, 0, ATOM_IIO_MOVE_INDEX, 8, 0, 0);
	IIO(ATOM_IIO_MOVE_ATTR, 8, 4, 8, ATOM_IIO_SET, 4, 16, ATOM_IIO_WRITE, 0x20, 0);
	IIO(ATOM_IIO_READ, 0x21, 0, ATOM_IIO_END, 0, 0);
	IIO(ATOM_IIO_START, 4 | ATOM_IIO_WRITE_PROGRAM, ATOM_IIO_CLEAR, 32, 0);
	IIO(ATOM_IIO_MOVE_INDEX, 16, 0, 0, ATOM_IIO_WRITE, 0x20, 0);
	IIO(ATOM_IIO_MOVE_DATA, 32, 0, 0, ATOM_IIO_WRITE, 0x21, 0, ATOM_IIO_END, 0, 0);
	assert_true(n <= 80);
	as_command(&r->a, 0, 1, 1, 0, 0);
	r->reg[0x21] = 0x100;
	as_op(&r->a, ATOM_MOVE, as_ws(ATOM_WS_ATTRIBUTES), as_imm(0xABC));
	as_word_op(&r->a, ATOM_SET_ATI_PORT, 4);
	as_word_op(&r->a, ATOM_SET_REG_BLOCK, 0x10);
	as_op(&r->a, ATOM_ADD, as_reg(0x42), as_imm(1));
	as_op(&r->a, ATOM_MOVE, as_reg(0), as_imm(7)); /* no MM_INDEX here */
	as_word_op(&r->a, ATOM_SET_REG_BLOCK, 0);
	as_word_op(&r->a, ATOM_SET_ATI_PORT, 0);
	as_op(&r->a, ATOM_MOVE, as_reg(0x42), as_imm(1));
	assert_int_equal(rig_run(r), 0);
	assert_string_equal(r->log, "W20=fab52 R21 W20=52 W21=101 W20=10 W21=7 W42=1 ");
	rig_free(r);
}

/* place_ports - the table of port programs is at @at, and the image as long as @bytes. */
static void place_ports(struct rig *r, uint16_t at, size_t bytes)
{
	uint8_t *pcir = r->image + get_le16(r->image + 0x18);
	uint16_t blocks = (uint16_t)(bytes / 512);
	struct vbios_rom rom;

	assert_int_equal(vbios_rom_parse(&rom, r->image, r->image_bytes), 0);
	put_le16(r->image + rom.master_data + ATOM_HEADER_BYTES + 2 * ATOM_DATA_IndirectIOAccess,
	        at);
	r->image[2] = (uint8_t)blocks;
	put_le16(pcir + 0x10, blocks);
	as_checksum(r->image);
	r->image_bytes = bytes;
}

/* A table may begin below 64 KiB and end above: its programs are found there too. */
static void port_programs_may_lie_above_64_kib(void **state)
{
	struct rig *r = rig_begin(0);
	uint8_t *p = r->image + 0xFFF0;
	unsigned n = ATOM_HEADER_BYTES;

	(void)state;
	as_word_op(&r->a, ATOM_SET_ATI_PORT, 2);
	as_op(&r->a, ATOM_MOVE, as_ps(0), as_reg(1));
	rig_finish(r);
	IIO(ATOM_IIO_START, 1, ATOM_IIO_CLEAR, 32, 0, ATOM_IIO_SET, 32, 0, ATOM_IIO_END, 0, 0);
	assert_int_equal(p + n - r->image, 0xFFFF);
	IIO(ATOM_IIO_START, 2, ATOM_IIO_READ, 0x34, 0x12, ATOM_IIO_END, 0, 0);
	put_le16(p, (uint16_t)n);
	p[2] = p[3] = 1;
	place_ports(r, 0xFFF0, 0x10200);
	r->reg[0x1234] = 77;
	assert_int_equal(rig_result(r), 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(calls_move_the_parameter_window),
	        cmocka_unit_test(special_workspace_registers_behave),
	        cmocka_unit_test(state_is_reset_only_at_a_top_level_call),
	        cmocka_unit_test(data_blocks_are_the_base_of_id_operands),
	        cmocka_unit_test(scratch_memory_has_a_window_and_bounds),
	        cmocka_unit_test(mm_index_is_written_in_bytes),
	        cmocka_unit_test(every_destination_and_source_kind_works),
	        cmocka_unit_test(indirect_ports_run_their_programs),
	        cmocka_unit_test(port_programs_may_lie_above_64_kib),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
