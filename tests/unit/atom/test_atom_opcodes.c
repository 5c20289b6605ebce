/* test_atom_opcodes.c - each opcode and field by itself, on images made by the assembler of the
 * virtual side. Expectations: atombios.md 6-8.
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
#include "device/err.h"
#include "device/log.h"
#include "helper_rig.h"

/* a field of a dword, as atombios.md 6.1 lists them */
static const struct {
	enum atom_align align;
	unsigned bits, shift;
} fields[] = {
        {ATOM_DWORD, 32, 0},
        {ATOM_WORD0, 16, 0},
        {ATOM_WORD8, 16, 8},
        {ATOM_WORD16, 16, 16},
        {ATOM_BYTE0, 8, 0},
        {ATOM_BYTE8, 8, 8},
        {ATOM_BYTE16, 8, 16},
        {ATOM_BYTE24, 8, 24},
};

static uint32_t low_bits(unsigned n)
{
	return n == 32 ? 0xFFFFFFFF : (1u << n) - 1;
}

/* apply - PS[0] = @x, then @family with @y into the field of PS[0]. */
static uint32_t apply(enum atom_opcode family, uint32_t x, uint32_t y, enum atom_align field)
{
	struct rig *r = rig_begin(0);
	enum atom_align width = field == ATOM_DWORD    ? ATOM_DWORD
	                        : field <= ATOM_WORD16 ? ATOM_WORD0
	                                               : ATOM_BYTE0;

	r->ps[0] = x;
	as_op(&r->a, family, as_at(as_ps(0), field), as_at(as_imm(y), width));
	return rig_result(r);
}

static void move_writes_only_its_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		uint32_t mask = low_bits(fields[i].bits) << fields[i].shift;
		uint32_t value = 0xA5C39687 & low_bits(fields[i].bits);

		assert_int_equal(apply(ATOM_MOVE, 0x11223344, value, fields[i].align),
		        (0x11223344 & ~mask) | value << fields[i].shift);
	}
}

static void a_source_is_taken_from_its_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		struct rig *r = rig_begin(0);
		enum atom_align to = fields[i].bits == 32   ? ATOM_DWORD
		                     : fields[i].bits == 16 ? ATOM_WORD0
		                                            : ATOM_BYTE0;

		r->ps[1] = 0x87654321;
		as_op(&r->a, ATOM_MOVE, as_at(as_ps(0), to), as_at(as_ps(1), fields[i].align));
		assert_int_equal(
		        rig_result(r), 0x87654321 >> fields[i].shift & low_bits(fields[i].bits));
	}
}

static void a_word_at_position_three_is_the_whole_dword(void **state)
{
	struct rig *r = rig_begin(0);

	(void)state;
	r->ps[0] = 0x11223344;
	as_u8(&r->a, (unsigned)ATOM_MOVE + ATOM_DST_PS); /* selector 3, word at 0, immediate */
	as_u8(&r->a, 3 << 6 | ATOM_WORD0 << 3 | ATOM_SRC_IMM);
	as_u8(&r->a, 0);
	as_u16(&r->a, 0xBEEF);
	assert_int_equal(rig_result(r), 0xBEEF);
}

static void immediates_are_not_shifted(void **state)
{
	(void)state;
	for (unsigned align = ATOM_WORD0; align <= ATOM_WORD16; align++) {
		struct rig *r = rig_begin(0);

		as_op(&r->a, ATOM_MOVE, as_at(as_ps(0), ATOM_WORD0), as_at(as_imm(0xBEEF), align));
		assert_int_equal(rig_result(r), 0xBEEF);
	}
}

static void arithmetic_gives_the_documented_results(void **state)
{
	static const struct {
		enum atom_opcode op;
		uint32_t x, y;
		enum atom_align field;
		uint32_t expected;
	} rows[] = {
	        {ATOM_AND, 0xFF00FF00, 0x0FF00FF0, ATOM_DWORD, 0x0F000F00},
	        {ATOM_AND, 0xFFFFFFFF, 0x12, ATOM_BYTE16, 0xFF12FFFF},
	        {ATOM_OR, 0x01020304, 0x80, ATOM_BYTE8, 0x01028304},
	        {ATOM_OR, 0x01020304, 0x10000000, ATOM_DWORD, 0x11020304},
	        {ATOM_XOR, 0x01020304, 0xFFFF, ATOM_WORD8, 0x01FDFC04},
	        {ATOM_XOR, 0xAAAAAAAA, 0xFFFFFFFF, ATOM_DWORD, 0x55555555},
	        {ATOM_ADD, 0xFFFFFFFF, 2, ATOM_DWORD, 1},
	        {ATOM_ADD, 0x010203FF, 2, ATOM_BYTE0, 0x01020301}, /* no carry upwards */
	        {ATOM_ADD, 0x01FFFF04, 1, ATOM_WORD8, 0x01000004},
	        {ATOM_SUB, 5, 7, ATOM_DWORD, 0xFFFFFFFE},
	        {ATOM_SUB, 0x01000004, 1, ATOM_BYTE16, 0x01FF0004},
	        {ATOM_SHL, 0x80000001, 4, ATOM_DWORD, 0x00000010},
	        {ATOM_SHL, 0x000000F0, 4, ATOM_BYTE8, 0x00000FF0}, /* bits come in from below */
	        {ATOM_SHR, 0x80000001, 4, ATOM_DWORD, 0x08000000},
	        {ATOM_SHR, 0x00000F00, 4, ATOM_BYTE0, 0x00000FF0},
	        {ATOM_SHR, 0x12340000, 8, ATOM_WORD0, 0x12343400},
	        {ATOM_SHL, 0x00000001, 33, ATOM_DWORD, 0x00000002}, /* modulo 32 */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t got = apply(rows[i].op, rows[i].x, rows[i].y, rows[i].field);

		if (got != rows[i].expected)
			print_error(
			        "row %zu: expected 0x%08x, got 0x%08x\n", i, rows[i].expected, got);
		assert_int_equal(got, rows[i].expected);
	}
}

static void shifts_by_a_count_stay_in_their_field(void **state)
{
	static const struct {
		enum atom_opcode op;
		unsigned count;
		enum atom_align field;
		uint32_t expected; /* of 0x81828384 */
	} rows[] = {
	        {ATOM_SHIFT_LEFT, 4, ATOM_DWORD, 0x18283840},
	        {ATOM_SHIFT_LEFT, 1, ATOM_BYTE0, 0x81828308},
	        {ATOM_SHIFT_LEFT, 4, ATOM_WORD8, 0x81283084},
	        {ATOM_SHIFT_RIGHT, 4, ATOM_DWORD, 0x08182838},
	        {ATOM_SHIFT_RIGHT, 1, ATOM_BYTE24, 0x40828384},
	        {ATOM_SHIFT_RIGHT, 8, ATOM_WORD16, 0x00818384},
	        {ATOM_SHIFT_RIGHT, 32, ATOM_DWORD, 0x81828384}, /* modulo 32 */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rig *r = rig_begin(0);

		r->ps[0] = 0x81828384;
		as_shift(&r->a, rows[i].op, as_at(as_ps(0), rows[i].field), rows[i].count);
		assert_int_equal(rig_result(r), rows[i].expected);
	}
}

static void clear_empties_only_its_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		struct rig *r = rig_begin(0);

		r->ps[0] = 0x12345678;
		as_clear(&r->a, as_at(as_ps(0), fields[i].align));
		assert_int_equal(
		        rig_result(r), 0x12345678 & ~(low_bits(fields[i].bits) << fields[i].shift));
	}
}

static void mask_keeps_bits_and_adds_others(void **state)
{
	struct rig *r = rig_begin(0);

	(void)state;
	r->ps[0] = 0x12345678;
	as_mask(&r->a, as_at(as_ps(0), ATOM_BYTE8), 0xF0, as_at(as_imm(0x03), ATOM_BYTE0));
	assert_int_equal(rig_result(r), 0x12345378);
}

/* Access order: destination read, source read, destination write; what is read at all is in
 * atombios.md 6.2.
 */
static void accesses_come_in_the_documented_order(void **state)
{
	struct rig *r = rig_begin(0);

	(void)state;
	r->reg[0x10] = 0x11111111;
	r->reg[0x20] = 0x2222;
	as_op(&r->a, ATOM_MOVE, as_reg(0x10), as_reg(0x20));
	as_op(&r->a, ATOM_MOVE, as_at(as_reg(0x10), ATOM_WORD0), as_at(as_reg(0x20), ATOM_WORD0));
	as_op(&r->a, ATOM_OR, as_reg(0x10), as_reg(0x20));
	as_mask(&r->a, as_reg(0x10), 0, as_reg(0x20));
	as_clear(&r->a, as_reg(0x10));
	as_shift(&r->a, ATOM_SHIFT_LEFT, as_reg(0x10), 1);
	as_op(&r->a, ATOM_COMPARE, as_reg(0x10), as_reg(0x20));
	as_op(&r->a, ATOM_TEST, as_reg(0x10), as_reg(0x20));
	as_op(&r->a, ATOM_MUL, as_reg(0x10), as_reg(0x20));
	as_op(&r->a, ATOM_DIV, as_reg(0x10), as_reg(0x20));
	assert_int_equal(rig_run(r), 0);
	assert_string_equal(r->log, "R20 W10=2222 "
	                            "R10 R20 W10=2222 "
	                            "R10 R20 W10=2222 "
	                            "R10 R20 W10=2222 "
	                            "R10 W10=0 "
	                            "R10 W10=0 "
	                            "R10 R20 R10 R20 R10 R20 R10 R20 ");
	rig_free(r);
}

/* into_registers - run @family on PS[0] and PS[1], then copy quotient and remainder to PS[0],
 * PS[1].
 */
static void into_registers(enum atom_opcode family, uint32_t high, uint32_t x, uint32_t y,
        uint32_t quotient, uint32_t remainder)
{
	struct rig *r = rig_begin(0);

	r->ps[0] = x;
	r->ps[1] = y;
	as_op(&r->a, ATOM_MOVE, as_ws(ATOM_WS_REMAINDER), as_imm(high));
	as_op(&r->a, family, as_ps(0), as_ps(1));
	as_op(&r->a, ATOM_MOVE, as_ps(0), as_ws(ATOM_WS_QUOTIENT));
	as_op(&r->a, ATOM_MOVE, as_ps(1), as_ws(ATOM_WS_REMAINDER));
	assert_int_equal(rig_run(r), 0);
	assert_int_equal(r->ps[0], quotient);
	assert_int_equal(r->ps[1], remainder);
	rig_free(r);
}

static void products_and_quotients_go_to_their_registers(void **state)
{
	(void)state;
	into_registers(ATOM_MUL, 7, 0x10000, 0x10001, 0x10000, 7); /* remainder stays */
	into_registers(ATOM_MUL32, 7, 0x10000, 0x10001, 0x10000, 1);
	into_registers(ATOM_DIV, 7, 100, 7, 14, 2);
	into_registers(ATOM_DIV, 7, 100, 0, 0, 0);
	into_registers(ATOM_DIV32, 1, 0, 2, 0x80000000, 0);
	into_registers(ATOM_DIV32, 5, 1, 2, 0x80000000, 2); /* the quotient's upper half */
	into_registers(ATOM_DIV32, 5, 1, 0, 0, 0);
}

/* jumps - whether @op jumps after a COMPARE of @x and @y. */
static bool jumps(enum atom_opcode op, uint32_t x, uint32_t y)
{
	struct rig *r = rig_begin(0);

	r->ps[0] = x;
	as_op(&r->a, ATOM_COMPARE, as_ps(0), as_imm(y));
	as_op(&r->a, ATOM_MOVE, as_ps(0), as_imm(1));
	as_jump(&r->a, op, 1);
	as_clear(&r->a, as_ps(0));
	as_label(&r->a, 1);
	return rig_result(r);
}

static void conditions_follow_the_comparison(void **state)
{
	static const struct {
		enum atom_opcode op;
		bool below, same, above;
	} rows[] = {
	        {ATOM_JUMP, true, true, true},
	        {ATOM_JUMP_EQUAL, false, true, false},
	        {ATOM_JUMP_NOT_EQUAL, true, false, true},
	        {ATOM_JUMP_BELOW, true, false, false},
	        {ATOM_JUMP_ABOVE, false, false, true},
	        {ATOM_JUMP_BELOW_OR_EQUAL, true, true, false},
	        {ATOM_JUMP_ABOVE_OR_EQUAL, false, true, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(jumps(rows[i].op, 1, 0x80000000), rows[i].below);
		assert_int_equal(jumps(rows[i].op, 5, 5), rows[i].same);
		assert_int_equal(jumps(rows[i].op, 0x80000000, 1), rows[i].above);
	}
}

static void test_sets_equal_and_leaves_above(void **state)
{
	struct rig *r = rig_begin(0);

	(void)state;
	r->ps[1] = 0xF0;
	as_op(&r->a, ATOM_COMPARE, as_ps(1), as_imm(1)); /* above */
	as_op(&r->a, ATOM_TEST, as_ps(1), as_imm(0x0F)); /* no common bit: equal */
	as_jump(&r->a, ATOM_JUMP_NOT_EQUAL, 1);
	as_op(&r->a, ATOM_OR, as_ps(0), as_imm(1));
	as_label(&r->a, 1);
	as_jump(&r->a, ATOM_JUMP_BELOW_OR_EQUAL, 2);
	as_op(&r->a, ATOM_OR, as_ps(0), as_imm(2));
	as_label(&r->a, 2);
	assert_int_equal(rig_result(r), 3);
}

static uint32_t switched(uint32_t value, enum atom_align field)
{
	struct rig *r = rig_begin(0);
	enum atom_align width = field == ATOM_DWORD ? ATOM_DWORD : ATOM_BYTE0;

	r->ps[1] = value;
	as_switch(&r->a, as_at(as_ps(1), field));
	as_case(&r->a, width, 3, 1);
	as_case(&r->a, width, 4, 2);
	as_case(&r->a, width, 4, 1); /* the first that fits counts */
	as_cases_end(&r->a);
	as_op(&r->a, ATOM_MOVE, as_ps(0), as_imm(100));
	as_plain(&r->a, ATOM_EOT);
	as_label(&r->a, 1);
	as_op(&r->a, ATOM_MOVE, as_ps(0), as_imm(1));
	as_plain(&r->a, ATOM_EOT);
	as_label(&r->a, 2);
	as_op(&r->a, ATOM_MOVE, as_ps(0), as_imm(2));
	return rig_result(r);
}

static void switch_takes_the_first_case_that_fits(void **state)
{
	(void)state;
	assert_int_equal(switched(3, ATOM_DWORD), 1);
	assert_int_equal(switched(4, ATOM_DWORD), 2);
	assert_int_equal(switched(0x103, ATOM_DWORD), 100);
	assert_int_equal(switched(0x55035555, ATOM_BYTE16), 1);
	assert_int_equal(switched(0x55555555, ATOM_BYTE16), 100);
}

static void data_in_the_way_is_skipped(void **state)
{
	struct rig *r = rig_begin(0);

	(void)state;
	as_block(&r->a, 1, (const uint32_t[]){0xFFFFFFFF, 0}, 2);
	as_op(&r->a, ATOM_MOVE, as_ps(0), as_imm(6));
	assert_int_equal(rig_result(r), 6);
}

static void delays_are_passed_on_and_the_rest_does_nothing(void **state)
{
	struct rig *r = rig_begin(0);

	(void)state;
	as_byte_op(&r->a, ATOM_DELAY_MICROSEC, 255);
	as_byte_op(&r->a, ATOM_DELAY_MILLISEC, 2);
	as_byte_op(&r->a, ATOM_DELAY_MICROSEC, 0);
	as_plain(&r->a, ATOM_NOP);
	as_byte_op(&r->a, ATOM_POST_CARD, 0x91);
	as_byte_op(&r->a, ATOM_DEBUG, 0x91);
	assert_int_equal(rig_run(r), 0);
	assert_string_equal(r->log, "D255 D2000 D0 ");
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(move_writes_only_its_field),
	        cmocka_unit_test(a_source_is_taken_from_its_field),
	        cmocka_unit_test(a_word_at_position_three_is_the_whole_dword),
	        cmocka_unit_test(immediates_are_not_shifted),
	        cmocka_unit_test(arithmetic_gives_the_documented_results),
	        cmocka_unit_test(shifts_by_a_count_stay_in_their_field),
	        cmocka_unit_test(clear_empties_only_its_field),
	        cmocka_unit_test(mask_keeps_bits_and_adds_others),
	        cmocka_unit_test(accesses_come_in_the_documented_order),
	        cmocka_unit_test(products_and_quotients_go_to_their_registers),
	        cmocka_unit_test(conditions_follow_the_comparison),
	        cmocka_unit_test(test_sets_equal_and_leaves_above),
	        cmocka_unit_test(switch_takes_the_first_case_that_fits),
	        cmocka_unit_test(data_in_the_way_is_skipped),
	        cmocka_unit_test(delays_are_passed_on_and_the_rest_does_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
