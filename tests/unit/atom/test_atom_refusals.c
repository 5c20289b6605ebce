/* test_atom_refusals.c - broken or endless bytecode ends with a precise error, and so does a card
 * that fails.
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
#include "device/clock.h"
#include "device/err.h"
#include "device/log.h"
#include "helper_rig.h"

/* refused - run, expect @err and every one of @words in the last error line; release the rig. */
static void refused(struct rig *r, int err, const char *const *words)
{
	char line[256];
	int got = rig_run(r);

	rx_log_last_error(line, sizeof(line));
	if (got != err)
		print_error("expected %d, got %d: %s\n", err, got, line);
	assert_int_equal(got, err);
	for (; *words; words++) {
		if (!strstr(line, *words))
			print_error("expected \"%s\" in: %s\n", *words, line);
		assert_non_null(strstr(line, *words));
	}
	rig_free(r);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void unknown_opcodes_are_named(void **state)
{
	static const uint8_t invalid[] = {0, 127, 128, 255};
	static const uint8_t unknown[] = {ATOM_SET_PCI_PORT, ATOM_SET_SYS_IO_PORT, ATOM_REPEAT,
	        ATOM_BEEP, ATOM_SAVE_REG, ATOM_RESTORE_REG};
	char at[16], code[16];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(invalid) + ARRAY_SIZE(unknown); i++) {
		bool bad = i < ARRAY_SIZE(invalid);
		uint8_t opcode = bad ? invalid[i] : unknown[i - ARRAY_SIZE(invalid)];
		struct rig *r = rig_begin(0);

		as_plain(&r->a, ATOM_NOP);
		snprintf(at, sizeof(at), "0x%04x", r->a.at);
		snprintf(code, sizeof(code), "0x%02x", opcode);
		as_u8(&r->a, opcode);
		refused(r, bad ? -EINVAL : -EOPNOTSUPP, WORDS("table 0 (ASIC_Init)", at, code));
	}
}

static void code_must_not_run_past_its_table(void **state)
{
	(void)state;
	for (unsigned cut = 0; cut < 4; cut++) { /* of an instruction of 5 bytes */
		struct rig *r = rig_begin(0);

		as_op(&r->a, ATOM_MOVE, as_at(as_ps(0), ATOM_WORD0), as_at(as_imm(1), ATOM_WORD0));
		r->a.at -= 4 - cut;
		as_end(&r->a);
		refused(r, -EINVAL, WORDS("past the table's end"));
	}
}

static void jumps_must_stay_in_their_table(void **state)
{
	static const uint16_t targets[] = {0, 5, 9, 0xFFFF}; /* the table has 10 bytes, 9 its EOT */

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		struct rig *r = rig_begin(0);

		as_word_op(&r->a, ATOM_JUMP, targets[i]);
		if (targets[i] == 9) {
			assert_int_equal(rig_run(r), 0);
			rig_free(r);
		} else {
			refused(r, -EINVAL, WORDS("outside its table", "JUMP"));
		}
	}
}

static void indices_outside_their_space_are_refused(void **state)
{
	(void)state;
	struct rig *r = rig_begin(8);

	as_op(&r->a, ATOM_MOVE, as_ws(1), as_imm(1));
	as_op(&r->a, ATOM_MOVE, as_ws(2), as_imm(1));
	refused(r, -EINVAL, WORDS("workspace", "MOVE_WS"));
	r = rig_begin(0);
	as_op(&r->a, ATOM_MOVE, as_ps(0), as_ws(0x49));
	refused(r, -EINVAL, WORDS("workspace"));
	r = rig_begin(0);
	as_op(&r->a, ATOM_MOVE, as_ps(RIG_PARAMS - 1), as_imm(1));
	as_op(&r->a, ATOM_MOVE, as_ps(0), as_ps(RIG_PARAMS));
	refused(r, -EINVAL, WORDS("parameter"));
	r = rig_begin(0);
	as_op(&r->a, ATOM_MOVE, as_ps(0), as_id(0xFFFF));
	refused(r, -EINVAL, WORDS("0xffff of an image"));
	r = rig_begin(0);
	as_byte_op(&r->a, ATOM_SET_DATA_BLOCK, 35);
	refused(r, -EINVAL, WORDS("data table 35"));
	r = rig_begin(0);
	as_word_op(&r->a, ATOM_CTB_DS, 0x1000);
	refused(r, -EINVAL, WORDS("4096 bytes of data"));
}

static void ports_without_a_program_are_refused(void **state)
{
	struct rig *r = rig_begin(0);

	(void)state;
	as_word_op(&r->a, ATOM_SET_ATI_PORT, 6);
	as_op(&r->a, ATOM_MOVE, as_ps(0), as_reg(1));
	refused(r, -EINVAL, WORDS("port without a program"));
	r = rig_begin(0);
	as_word_op(&r->a, ATOM_SET_ATI_PORT, 0x80);
	refused(r, -EINVAL, WORDS("port 0x80"));
}

static void an_unended_port_program_spoils_the_image(void **state)
{
	struct rig *r = rig_new();
	uint8_t *p = as_data(&r->a, ATOM_DATA_IndirectIOAccess, 1, 1, 10);
	struct atom *a;
	char line[256];

	(void)state;
	p[4] = ATOM_IIO_START;
	p[5] = 9;
	rig_finish(r);
	assert_int_equal(atom_open(&a, r->image, r->image_bytes, &(struct atom_host){0}), -EINVAL);
	rx_log_last_error(line, sizeof(line));
	assert_non_null(strstr(line, "program 0x09"));
	rig_free(r);
}

static void broken_case_lists_are_refused(void **state)
{
	struct rig *r = rig_begin(0);

	(void)state;
	as_switch(&r->a, as_ps(0));
	as_u16(&r->a, 0x1234);
	refused(r, -EINVAL, WORDS("list of cases", "SWITCH"));
	r = rig_begin(0);
	as_switch(&r->a, as_ps(0));
	as_u8(&r->a, ATOM_CASE); /* and then EOT, and the end */
	refused(r, -EINVAL, WORDS("past the table's end"));
}

static void other_spaces_need_a_card_that_has_them(void **state)
{
	struct rig *r = rig_begin(0);

	(void)state;
	as_op(&r->a, ATOM_MOVE, (struct as_arg){ATOM_SRC_PLL, 1, ATOM_DWORD}, as_imm(1));
	refused(r, -EOPNOTSUPP, WORDS("MOVE_PLL"));
	r = rig_begin(0);
	as_op(&r->a, ATOM_MOVE, as_ps(0), (struct as_arg){ATOM_SRC_MC, 1, ATOM_DWORD});
	refused(r, -EOPNOTSUPP, WORDS("MOVE_PS"));
}

static void endless_code_ends_at_the_step_limit(void **state)
{
	struct rig *r = rig_begin(0);

	(void)state;
	r->limits.max_steps = 1000;
	as_label(&r->a, 1);
	as_op(&r->a, ATOM_ADD, as_ps(0), as_imm(1));
	as_jump(&r->a, ATOM_JUMP, 1);
	refused(r, -ETIMEDOUT, WORDS("1000 instructions"));
}

static void a_wait_that_never_ends_names_its_register(void **state)
{
	struct rig *r = rig_begin(0);

	(void)state;
	r->limits.loop_ms = 20;
	r->reg[0xA80] = 0x42;
	as_label(&r->a, 1); /* two loops, one in the other, as real tables wait */
	as_label(&r->a, 2);
	as_op(&r->a, ATOM_TEST, as_reg(0xA80), as_imm(0x80));
	as_jump(&r->a, ATOM_JUMP_NOT_EQUAL, 2);
	as_jump(&r->a, ATOM_JUMP_EQUAL, 1);
	refused(r, -ETIMEDOUT, WORDS("20 ms", "0xa80", "0x00000042"));
}

static void a_deadline_ends_a_run(void **state)
{
	struct rig *r = rig_begin(0);

	(void)state;
	r->limits.deadline_ns = deadline_in_ms(20);
	as_label(&r->a, 1);
	as_jump(&r->a, ATOM_JUMP, 1);
	refused(r, -ETIMEDOUT, WORDS("deadline"));
}

static void calls_cannot_nest_for_ever(void **state)
{
	struct rig *r = rig_begin(0);

	(void)state;
	as_byte_op(&r->a, ATOM_CALL_TABLE, 0);
	refused(r, -ELOOP, WORDS("CALL_TABLE", "deep"));
}

/* The first failed access ends the run: nothing else reaches the card. */
static void errors_of_the_card_are_passed_on(void **state)
{
	struct rig *r = rig_begin(0);

	(void)state;
	r->fail_read = -ENODEV;
	as_op(&r->a, ATOM_OR, as_reg(0x10), as_reg(0x20));
	as_op(&r->a, ATOM_MOVE, as_reg(0x30), as_imm(1));
	assert_int_equal(rig_run(r), -ENODEV);
	assert_string_equal(r->log, "R10 ");
	rig_free(r);
	r = rig_begin(0);
	r->fail_write = -EIO;
	as_op(&r->a, ATOM_MOVE, as_reg(0x30), as_imm(1));
	refused(r, -EIO, WORDS("write of 0x00000001 to register 0x30"));
	r = rig_begin(0);
	r->fail_delay = -EINTR;
	as_byte_op(&r->a, ATOM_DELAY_MICROSEC, 5);
	refused(r, -EINTR, WORDS("delay of 5 us"));
}

static void an_error_in_a_called_table_is_named_once(void **state)
{
	struct rig *r = rig_new();

	(void)state;
	as_command(&r->a, 67, 1, 4, 0, 0);
	as_u8(&r->a, 0);
	as_end(&r->a);
	as_command(&r->a, 0, 1, 2, 0, 0);
	as_byte_op(&r->a, ATOM_CALL_TABLE, 67);
	as_op(&r->a, ATOM_MOVE, as_reg(1), as_imm(1));
	assert_int_equal(rig_run(r), -EINVAL);
	assert_string_equal(r->log, "");
	char line[256];

	rx_log_last_error(line, sizeof(line));
	assert_non_null(strstr(line, "table 67 (SetVoltage)"));
	assert_int_equal(atom_table_revision(r->atom, 67), 0x104);
	assert_int_equal(atom_table_revision(r->atom, 68), -ENOENT);
	assert_int_equal(atom_run(r->atom, 68, r->ps, RIG_PARAMS), -ENOENT);
	assert_int_equal(atom_run(r->atom, 1000, r->ps, RIG_PARAMS), -ENOENT);
	rig_free(r);
}

static void asic_init_needs_both_clocks(void **state)
{
	(void)state;
	for (unsigned missing = 0; missing < 3; missing++) {
		struct rig *r = rig_new();
		uint8_t *fw =
		        missing < 2 ? as_data(&r->a, ATOM_DATA_FirmwareInfo, 2, 2, 108) : NULL;
		char line[256];

		if (fw)
			put_le32(fw + (missing ? 8 : 12), 30000);
		as_command(&r->a, 0, 1, 2, 0, 8);
		assert_int_equal(rig_run(r), 0);
		assert_int_equal(atom_asic_init(r->atom), -EINVAL);
		rx_log_last_error(line, sizeof(line));
		assert_non_null(strstr(line, "FirmwareInfo"));
		rig_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(unknown_opcodes_are_named),
	        cmocka_unit_test(code_must_not_run_past_its_table),
	        cmocka_unit_test(jumps_must_stay_in_their_table),
	        cmocka_unit_test(indices_outside_their_space_are_refused),
	        cmocka_unit_test(ports_without_a_program_are_refused),
	        cmocka_unit_test(an_unended_port_program_spoils_the_image),
	        cmocka_unit_test(broken_case_lists_are_refused),
	        cmocka_unit_test(other_spaces_need_a_card_that_has_them),
	        cmocka_unit_test(endless_code_ends_at_the_step_limit),
	        cmocka_unit_test(a_wait_that_never_ends_names_its_register),
	        cmocka_unit_test(a_deadline_ends_a_run),
	        cmocka_unit_test(calls_cannot_nest_for_ever),
	        cmocka_unit_test(errors_of_the_card_are_passed_on),
	        cmocka_unit_test(an_error_in_a_called_table_is_named_once),
	        cmocka_unit_test(asic_init_needs_both_clocks),
	};

	rx_log_set_stderr(false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
