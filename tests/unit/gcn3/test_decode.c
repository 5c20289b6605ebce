/* test_decode.c - where the decoder puts operands, what it refuses, and that garbage is safe. No
 * tool is needed. Encodings were assembled with llvm-mc-19 --show-encoding from the text beside
 * them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "device/virtual/gcn3/decode.h"

#define NONE GCN3_OPERAND_NONE
#define V(n) (GCN3_OPERAND_VGPR + (n))

static struct gcn3_insn decode(uint32_t w0, uint32_t w1)
{
	const uint32_t w[2] = {w0, w1};
	struct gcn3_insn i;
	int rc = gcn3_decode((const uint8_t *)w, sizeof(w), &i);

	if (rc <= 0)
		fail_msg("%08x %08x: not decoded (%d)", w0, w1, rc);
	assert_int_equal(rc, i.size);
	return i;
}

static void expect_text(uint32_t w0, uint32_t w1, const char *expected)
{
	struct gcn3_insn i = decode(w0, w1);
	char text[224];

	assert_int_equal(gcn3_disassemble(&i, text, sizeof(text)), strlen(expected));
	assert_string_equal(text, expected);
}

static void expect_rejected(uint32_t w0, uint32_t w1)
{
	const uint32_t w[2] = {w0, w1};
	struct gcn3_insn i;
	int rc = gcn3_decode((const uint8_t *)w, sizeof(w), &i);

	if (rc != -EINVAL)
		fail_msg("%08x %08x: expected -EINVAL, got %d", w0, w1, rc);
}

static void expect_operands(
        const struct gcn3_insn *i, unsigned op, unsigned dst, unsigned s0, unsigned s1, unsigned s2)
{
	assert_string_equal(gcn3_op_name(i->op), gcn3_op_name(op));
	assert_int_equal(i->dst, dst);
	assert_int_equal(i->src[0], s0);
	assert_int_equal(i->src[1], s1);
	assert_int_equal(i->src[2], s2);
}

static void scalar_operands_are_in_dst_and_src(void **state)
{
	struct gcn3_insn i = decode(0x80020406, 0); /* s_add_u32 s2, s6, s4 */

	(void)state;
	expect_operands(&i, GCN3_S_ADD_U32, 2, 6, 4, NONE);
	i = decode(0xbe841d06, 0); /* s_setpc_b64 s[6:7], destination field ignored */
	expect_operands(&i, GCN3_S_SETPC_B64, NONE, 6, NONE, NONE);
	i = decode(0xb1058000, 0); /* s_cmpk_eq_i32 s5, 0x8000 */
	expect_operands(&i, GCN3_S_CMPK_EQ_I32, NONE, 5, NONE, NONE);
	assert_int_equal(i.imm, -32768);
	i = decode(0xb7058000, 0); /* s_addk_i32 s5, 0x8000 */
	expect_operands(&i, GCN3_S_ADDK_I32, 5, NONE, NONE, NONE);
	i = decode(0x800404ff, 0x12345678); /* s_add_u32 s4, 0x12345678, s4 */
	expect_operands(&i, GCN3_S_ADD_U32, 4, GCN3_OPERAND_LITERAL, 4, NONE);
	assert_int_equal(i.literal, 0x12345678);
	assert_int_equal(i.size, 8);
	i = decode(0xba000801, 3); /* s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3 */
	expect_operands(&i, GCN3_S_SETREG_IMM32_B32, NONE, GCN3_OPERAND_LITERAL, NONE, NONE);
	assert_int_equal(i.literal, 3);
	i = decode(0xbf84fffb, 0); /* s_cbranch_scc0 65531 */
	assert_int_equal(i.imm, -5);
}

static void smem_has_base_and_one_offset(void **state)
{
	struct gcn3_insn i = decode(0xc0060003, 0x10); /* s_load_dwordx2 s[0:1], s[6:7], 0x10 */

	(void)state;
	assert_int_equal(i.op, GCN3_S_LOAD_DWORDX2);
	assert_int_equal(i.dst, 0);
	assert_int_equal(i.sbase, 6);
	assert_int_equal(i.imm, 16);
	assert_int_equal(i.soffset, NONE);
	i = decode(0xc0280204, 0x7c); /* s_buffer_load_dwordx4 s[8:11], s[8:11], m0 */
	assert_int_equal(i.op, GCN3_S_BUFFER_LOAD_DWORDX4);
	assert_int_equal(i.sbase, 8);
	assert_int_equal(i.soffset, GCN3_OPERAND_M0);
}

static void vector_short_forms(void **state)
{
	struct gcn3_insn i = decode(0x2c020503, 0); /* v_mac_f32_e32 v1, v3, v2 */

	(void)state;
	expect_operands(&i, GCN3_V_MAC_F32, V(1), V(3), V(2), NONE);
	assert_int_equal(i.sdst, NONE);
	i = decode(0x38020503, 0); /* v_addc_u32_e32 v1, vcc, v3, v2, vcc */
	expect_operands(&i, GCN3_V_ADDC_U32, V(1), V(3), V(2), GCN3_OPERAND_VCC);
	assert_int_equal(i.sdst, GCN3_OPERAND_VCC);
	i = decode(0x2e020503, 0x40490fdb); /* v_madmk_f32 v1, v3, 0x40490fdb, v2 */
	expect_operands(&i, GCN3_V_MADMK_F32, V(1), V(3), GCN3_OPERAND_LITERAL, V(2));
	assert_int_equal(i.literal, 0x40490fdb);
	i = decode(0x30020503, 0x40490fdb); /* v_madak_f32 v1, v3, v2, 0x40490fdb */
	expect_operands(&i, GCN3_V_MADAK_F32, V(1), V(3), V(2), GCN3_OPERAND_LITERAL);
	i = decode(0x7e0a0503, 0); /* v_readfirstlane_b32 s5, v3 */
	expect_operands(&i, GCN3_V_READFIRSTLANE_B32, 5, V(3), NONE, NONE);
	i = decode(0x7c820503, 0); /* v_cmp_lt_f32_e32 vcc, v3, v2 */
	expect_operands(&i, GCN3_V_CMP_LT_F32, NONE, V(3), V(2), NONE);
	assert_int_equal(i.sdst, GCN3_OPERAND_VCC);
}

static void vector_long_forms_share_the_operation(void **state)
{
	struct gcn3_insn i =
	        decode(0xd1168104, 0x68022910); /* v_mac_f32_e64 v4, -|v16|, -v20 clamp mul:2 */

	(void)state;
	expect_operands(&i, GCN3_V_MAC_F32, V(4), V(16), V(20), NONE);
	assert_int_equal(i.neg, 3);
	assert_int_equal(i.abs, 1);
	assert_int_equal(i.omod, 1);
	assert_true(i.clamp);
	i = decode(0xd0410006, 0x00022910); /* v_cmp_lt_f32_e64 s[6:7], v16, v20 */
	expect_operands(&i, GCN3_V_CMP_LT_F32, NONE, V(16), V(20), NONE);
	assert_int_equal(i.sdst, 6);
	i = decode(0xd1e00604, 0x04622910); /* v_div_scale_f32 v4, s[6:7], v16, v20, v24 */
	expect_operands(&i, GCN3_V_DIV_SCALE_F32, V(4), V(16), V(20), V(24));
	assert_int_equal(i.sdst, 6);
	i = decode(0xd2890005, 0x00000d01); /* v_readlane_b32 s5, v1, s6 */
	expect_operands(&i, GCN3_V_READLANE_B32, 5, V(1), 6, NONE);
	i = decode(0xd28a0005, 0x00010c06); /* v_writelane_b32 v5, s6, 6 */
	expect_operands(&i, GCN3_V_WRITELANE_B32, V(5), 6, 134, NONE);
}

static void sdwa_and_dpp_controls(void **state)
{
	/* v_mul_i32_i24_sdwa v1, sext(v3), v2 dst_sel:BYTE_2 dst_unused:UNUSED_SEXT src0_sel:WORD_1
	 * src1_sel:DWORD */
	struct gcn3_insn i = decode(0x0c0204f9, 0x060d0a03);

	(void)state;
	expect_operands(&i, GCN3_V_MUL_I32_I24, V(1), V(3), V(2), NONE);
	assert_true(i.sdwa);
	assert_int_equal(i.dst_sel, 2);
	assert_int_equal(i.dst_unused, 1);
	assert_int_equal(i.src_sel[0], 5);
	assert_int_equal(i.src_sel[1], 6);
	assert_int_equal(i.sext, 1);
	/* v_add_f32_dpp v1, -v3, |v2| row_shr:1 row_mask:0x3 bank_mask:0x5 bound_ctrl:1 */
	i = decode(0x020204fa, 0x35991103);
	expect_operands(&i, GCN3_V_ADD_F32, V(1), V(3), V(2), NONE);
	assert_true(i.dpp && i.bound_ctrl);
	assert_int_equal(i.dpp_ctrl, 0x111);
	assert_int_equal(i.row_mask, 3);
	assert_int_equal(i.bank_mask, 5);
	assert_int_equal(i.neg, 1);
	assert_int_equal(i.abs, 2);
}

static void memory_operands(void **state)
{
	struct gcn3_insn i = decode(
	        0xd89c0a05, 0x00030201); /* ds_write2_b64 v1, v[2:3], v[3:4] offset0:5 offset1:10 */

	(void)state;
	assert_int_equal(i.op, GCN3_DS_WRITE2_B64);
	assert_int_equal(i.vaddr, V(1));
	assert_int_equal(i.vdata, V(2));
	assert_int_equal(i.vdata1, V(3));
	assert_int_equal(i.dst, NONE);
	assert_int_equal(i.imm, 5 | 10 << 8);
	i = decode(0xdd090000, 0x08000402); /* flat_atomic_add v8, v[2:3], v4 glc */
	assert_int_equal(i.dst, V(8));
	assert_int_equal(i.vdata, V(4));
	assert_true(i.glc);
	i = decode(0xdd080000, 0x08000402); /* flat_atomic_add v[2:3], v4 */
	assert_int_equal(i.dst, NONE);
	i = decode(0xe0503123,
	        0x05020401); /* buffer_load_dword v4, v[1:2], s[8:11], s5 idxen offen offset:291 */
	assert_int_equal(i.vdata, V(4));
	assert_int_equal(i.dst, V(4));
	assert_int_equal(i.vaddr, V(1));
	assert_int_equal(i.sbase, 8);
	assert_int_equal(i.soffset, 5);
	assert_int_equal(i.imm, 0x123);
	assert_true(i.offen && i.idxen);
	i = decode(0xe0700000, 0x80020401); /* buffer_store_dword v4, off, s[8:11], 0 */
	assert_int_equal(i.vdata, V(4));
	assert_int_equal(i.dst, NONE);
	assert_int_equal(i.vaddr, NONE);
	assert_int_equal(i.soffset, 128);
}

static void texts(void **state)
{
	(void)state;
	expect_text(0xbf8c0f70, 0, "s_waitcnt vmcnt(0)");
	expect_text(0xbf8c007f, 0, "s_waitcnt lgkmcnt(0)");
	expect_text(0xd87a401f, 0x04000001, "ds_swizzle_b32 v4, v1 offset:swizzle(SWAP,16)");
	expect_text(0xd1010004, 0x60010310, "v_add_f32_e64 v4, -v16, neg(1)");
	expect_text(0xe0500000, 0x80020401, "buffer_load_dword v4, off, s[8:11], 0");
	expect_text(0x7e0402ff, 0x3f800000, "v_mov_b32_e32 v2, 1.0");
}

static void what_no_gfx803_has_is_refused(void **state)
{
	(void)state;
	expect_rejected(0x80fd0406, 0); /* s_add_u32 with operand code 125 */
	expect_rejected(0x800204eb, 0); /* src_shared_base */
	expect_rejected(0x86810200, 0); /* s_and_b64 s[1:2]: odd pair */
	expect_rejected(0xc00a0083, 0); /* s_load_dwordx4 s[2:5]: not a multiple of four */
	expect_rejected(0xc00a1903, 0); /* s_load_dwordx4 s[100:103]: beyond the last SGPR */
	expect_rejected(0xdc500001, 0x08000002); /* flat_load_dword with an offset */
	expect_rejected(0xd1010004, 0x000228ff); /* a literal in VOP3 */
	expect_rejected(0x7e0020f9, 0x00060603); /* v_cvt_f64_f32 has no SDWA form: 64-bit result */
	expect_rejected(0x020204f9, 0x06060703); /* reserved dst_sel */
	expect_rejected(0x020204f9, 0x06061e03); /* reserved dst_unused */
	expect_rejected(0x020204fa, 0xff010003); /* reserved dpp_ctrl 0x100 */
	expect_rejected(0xd1190004, 0x20022910); /* v_add_u32 with neg */
	expect_rejected(0xe0500000, 0x801904fe); /* buffer resource s[100:103] */
	expect_rejected(0xdc5c0000, 0xfe000002); /* flat_load_dwordx4 v[254:257] */
	expect_rejected(0xf0000000, 0);          /* image_load */
	expect_rejected(0xffffffff, 0xffffffff);
}

static void a_cut_instruction_asks_for_more(void **state)
{
	const uint32_t two[2] = {0x800404ff, 0x12345678}, one = 0x80020406;
	struct gcn3_insn i;

	(void)state;
	for (size_t n = 0; n < 8; n++)
		assert_int_equal(gcn3_decode((const uint8_t *)two, n, &i), -ENODATA);
	assert_int_equal(gcn3_decode((const uint8_t *)&one, 3, &i), -ENODATA);
	assert_int_equal(gcn3_decode((const uint8_t *)&one, 4, &i), 4);
}

/* Buffers of the exact size, so that an overread is seen under AddressSanitizer. */
static void garbage_is_safe(void **state)
{
	uint64_t x = 88172645463325252u;
	unsigned decoded = 0;

	(void)state;
	for (unsigned n = 0; n < 400000; n++) {
		size_t avail = n % 13;
		uint8_t *code = malloc(avail ? avail : 1);
		struct gcn3_insn i;
		char text[24];
		int rc;

		assert_non_null(code);
		for (size_t k = 0; k < avail; k++) {
			x ^= x << 13; /* xorshift64 */
			x ^= x >> 7;
			x ^= x << 17;
			code[k] = (uint8_t)(x >> 32);
		}
		rc = gcn3_decode(code, avail, &i);
		free(code);
		if (rc < 0) {
			assert_true(rc == -EINVAL || rc == -ENODATA);
			continue;
		}
		assert_true((rc == 4 || rc == 8) && (size_t)rc <= avail);
		assert_true(gcn3_disassemble(&i, text, sizeof(text)) > 0);
		assert_true(strlen(text) < sizeof(text));
		decoded++;
	}
	assert_true(decoded > 10000);
}

static void names_are_never_null(void **state)
{
	(void)state;
	assert_string_equal(gcn3_op_name(GCN3_V_MAC_F32), "v_mac_f32");
	assert_string_equal(gcn3_op_name(GCN3_OP_INVALID), "invalid");
	assert_string_equal(gcn3_op_name(GCN3_OP_COUNT), "invalid");
	for (unsigned op = 0; op < GCN3_OP_COUNT; op++)
		assert_non_null(gcn3_op_name(op));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(scalar_operands_are_in_dst_and_src),
	        cmocka_unit_test(smem_has_base_and_one_offset),
	        cmocka_unit_test(vector_short_forms),
	        cmocka_unit_test(vector_long_forms_share_the_operation),
	        cmocka_unit_test(sdwa_and_dpp_controls),
	        cmocka_unit_test(memory_operands),
	        cmocka_unit_test(texts),
	        cmocka_unit_test(what_no_gfx803_has_is_refused),
	        cmocka_unit_test(a_cut_instruction_asks_for_more),
	        cmocka_unit_test(garbage_is_safe),
	        cmocka_unit_test(names_are_never_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
