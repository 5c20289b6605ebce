/* Scalar ALU and program control: known answers from the GCN3 ISA manual. */
#include "tests/unit/gcn3/helper_alu.h"

struct known {
	enum gcn3_op op;
	uint64_t a, b;
	bool scc_in;
	uint64_t want;
	bool scc;
};

/* Sources in s[4:5] and s[6:7], destination s[8:9]. */
static void check_one(enum gcn3_format format, const struct known *k, bool wide)
{
	static struct alu t;
	struct gcn3_insn i = alu_salu(format, k->op, S(8), S(4), format == GCN3_SOP2 ? S(6) : NONE);

	alu_init(&t);
	gcn3_set_sgpr64(&t.w, 4, k->a);
	gcn3_set_sgpr64(&t.w, 6, k->b);
	gcn3_set_sgpr64(&t.w, 8, 0x5555555566666666);
	t.w.scc = k->scc_in;
	check_equal(gcn3_op_name(k->op), 0, alu_run(&t, &i), GCN3_OK);
	check_equal(gcn3_op_name(k->op), 8, wide ? gcn3_sgpr64(&t.w, 8) : t.w.s[8], k->want);
	if (!wide)
		check_equal(gcn3_op_name(k->op), 9, t.w.s[9], 0x55555555);
	check_equal(gcn3_op_name(k->op), 253, t.w.scc, k->scc);
}

#define CHECK(format, table, wide)                                                                 \
	for (size_t n_ = 0; n_ < sizeof(table) / sizeof(table[0]); n_++)                           \
	check_one(format, &table[n_], wide)

static void two_operand_results_and_scc(void **state)
{
	static const struct known k[] = {
	        {GCN3_S_ADD_U32, 0xffffffff, 1, false, 0, true},
	        {GCN3_S_ADD_U32, 0x7fffffff, 1, true, 0x80000000, false},
	        {GCN3_S_SUB_U32, 1, 2, false, 0xffffffff, true},
	        {GCN3_S_ADD_I32, 0x7fffffff, 1, false, 0x80000000, true},
	        {GCN3_S_ADD_I32, 0xffffffff, 1, true, 0, false},
	        {GCN3_S_SUB_I32, 0x80000000, 1, false, 0x7fffffff, true},
	        {GCN3_S_ADDC_U32, 0xffffffff, 0, true, 0, true},
	        {GCN3_S_ADDC_U32, 0xffffffff, 0xffffffff, true, 0xffffffff, true},
	        {GCN3_S_ADDC_U32, 1, 2, false, 3, false},
	        {GCN3_S_SUBB_U32, 0, 0, true, 0xffffffff, true},
	        {GCN3_S_SUBB_U32, 0, 0xffffffff, true, 0, true},
	        {GCN3_S_SUBB_U32, 5, 4, true, 0, false},
	        {GCN3_S_MIN_I32, 0xffffffff, 1, false, 0xffffffff, true},
	        {GCN3_S_MIN_U32, 0xffffffff, 1, true, 1, false},
	        {GCN3_S_MAX_I32, 0xffffffff, 1, true, 1, false},
	        {GCN3_S_MAX_U32, 0xffffffff, 1, false, 0xffffffff, true},
	        {GCN3_S_CSELECT_B32, 1, 2, true, 1, true},
	        {GCN3_S_CSELECT_B32, 1, 2, false, 2, false},
	        {GCN3_S_AND_B32, 0xf0, 0x0f, true, 0, false},
	        {GCN3_S_OR_B32, 0xf0, 0x0f, false, 0xff, true},
	        {GCN3_S_XOR_B32, 0xff, 0x0f, false, 0xf0, true},
	        {GCN3_S_ANDN2_B32, 0xff, 0x0f, false, 0xf0, true},
	        {GCN3_S_ORN2_B32, 0, 0xffffffff, true, 0, false},
	        {GCN3_S_NAND_B32, 0xffffffff, 0xffffffff, true, 0, false},
	        {GCN3_S_NOR_B32, 0, 0, false, 0xffffffff, true},
	        {GCN3_S_XNOR_B32, 0xff, 0, false, 0xffffff00, true},
	        {GCN3_S_LSHL_B32, 1, 33, false, 2, true},
	        {GCN3_S_LSHR_B32, 0x80000000, 31, false, 1, true},
	        {GCN3_S_ASHR_I32, 0x80000000, 31, false, 0xffffffff, true},
	        {GCN3_S_BFM_B32, 4, 8, true, 0xf00, true},
	        {GCN3_S_BFM_B32, 32, 8, true, 0, true},
	        {GCN3_S_MUL_I32, 0xffffffff, 3, true, 0xfffffffd, true},
	        {GCN3_S_BFE_U32, 0xabcd1234, 8 | 8 << 16, false, 0x12, true},
	        {GCN3_S_BFE_U32, 0xabcd1234, 8, true, 0, false},
	        {GCN3_S_BFE_U32, 0xabcd1234, 32 << 16, false, 0xabcd1234, true},
	        {GCN3_S_BFE_I32, 0xabcd1234, 16 | 16 << 16, false, 0xffffabcd, true},
	        {GCN3_S_BFE_I32, 0xabcd1234, 24 | 16 << 16, false, 0xffffffab, true},
	        {GCN3_S_BFE_I32, 0x00000700, 8 | 4 << 16, false, 7, true},
	        {GCN3_S_ABSDIFF_I32, 2, 5, false, 3, true},
	        {GCN3_S_ABSDIFF_I32, 0xfffffffe, 3, false, 5, true},
	        {GCN3_S_ABSDIFF_I32, 3, 3, true, 0, false},
	};
	static const struct known wide[] = {
	        {GCN3_S_AND_B64, 0xf000000000000000, 0xffffffffffffffff, false, 0xf000000000000000,
	                true},
	        {GCN3_S_ANDN2_B64, 5, 5, true, 0, false},
	        {GCN3_S_ORN2_B64, 1, ~2ull, false, 3, true},
	        {GCN3_S_XNOR_B64, 1, 1, false, ~0ull, true},
	        {GCN3_S_NAND_B64, ~0ull, ~0ull, true, 0, false},
	        {GCN3_S_NOR_B64, 1ull << 63, 1, false, 0x7ffffffffffffffe, true},
	        {GCN3_S_CSELECT_B64, 1, 2ull << 40, false, 2ull << 40, false},
	        {GCN3_S_LSHL_B64, 1, 63, false, 1ull << 63, true},
	        {GCN3_S_LSHR_B64, 1ull << 63, 64 + 63, false, 1, true},
	        {GCN3_S_ASHR_I64, 1ull << 63, 63, false, ~0ull, true},
	        {GCN3_S_BFM_B64, 40, 8, false, 0xffffffffff00, false},
	        {GCN3_S_BFE_U64, 0x123456789abcdef0, 32 | 16 << 16, false, 0x5678, true},
	        {GCN3_S_BFE_I64, 0x0000800000000000, 32 | 16 << 16, false, 0xffffffffffff8000,
	                true},
	        {GCN3_S_BFE_I64, 0x8000000000000000, 60 | 16 << 16, false, 0xfffffffffffffff8,
	                true},
	};

	(void)state;
	CHECK(GCN3_SOP2, k, false);
	CHECK(GCN3_SOP2, wide, true);
}

static void one_operand_results_and_scc(void **state)
{
	static const struct known k[] = {
	        {GCN3_S_MOV_B32, 7, 0, true, 7, true},
	        {GCN3_S_CMOV_B32, 7, 0, true, 7, true},
	        {GCN3_S_CMOV_B32, 7, 0, false, 0x66666666, false},
	        {GCN3_S_NOT_B32, 0xffffffff, 0, true, 0, false},
	        {GCN3_S_WQM_B32, 0x00100208, 0, false, 0x00f00f0f, true},
	        {GCN3_S_QUADMASK_B32, 0x80000010, 0, false, 0x82, true},
	        {GCN3_S_BREV_B32, 1, 0, true, 0x80000000, true},
	        {GCN3_S_BCNT0_I32_B32, 0xffffffff, 0, true, 0, false},
	        {GCN3_S_BCNT0_I32_B64, 1, 0, false, 63, true},
	        {GCN3_S_BCNT1_I32_B32, 0xf1, 0, false, 5, true},
	        {GCN3_S_BCNT1_I32_B64, 1ull << 63 | 1, 0, false, 2, true},
	        {GCN3_S_FF0_I32_B32, 0x0000ffff, 0, true, 16, true},
	        {GCN3_S_FF0_I32_B32, 0xffffffff, 0, false, 0xffffffff, false},
	        {GCN3_S_FF0_I32_B64, 0xffffffffff, 0, false, 40, false},
	        {GCN3_S_FF1_I32_B32, 0x100, 0, false, 8, false},
	        {GCN3_S_FF1_I32_B32, 0, 0, false, 0xffffffff, false},
	        {GCN3_S_FF1_I32_B64, 1ull << 45, 0, false, 45, false},
	        {GCN3_S_FLBIT_I32_B32, 0x00008000, 0, false, 16, false},
	        {GCN3_S_FLBIT_I32_B64, 1, 0, false, 63, false},
	        {GCN3_S_FLBIT_I32, 0xffff0000, 0, false, 16, false},
	        {GCN3_S_FLBIT_I32, 0xffffffff, 0, false, 0xffffffff, false},
	        {GCN3_S_FLBIT_I32_I64, 0xffffffff00000000, 0, false, 32, false},
	        {GCN3_S_SEXT_I32_I8, 0x180, 0, true, 0xffffff80, true},
	        {GCN3_S_SEXT_I32_I16, 0x17fff, 0, false, 0x7fff, false},
	        {GCN3_S_BITSET0_B32, 33, 0, false, 0x66666664, false},
	        {GCN3_S_BITSET1_B32, 0, 0, false, 0x66666667, false},
	        {GCN3_S_ABS_I32, 0xfffffffb, 0, false, 5, true},
	        {GCN3_S_ABS_I32, 0x80000000, 0, false, 0x80000000, true},
	        {GCN3_S_ABS_I32, 0, 0, true, 0, false},
	};
	static const struct known wide[] = {
	        {GCN3_S_MOV_B64, 7ull << 40, 0, true, 7ull << 40, true},
	        {GCN3_S_CMOV_B64, 7, 0, false, 0x5555555566666666, false},
	        {GCN3_S_NOT_B64, ~0ull, 0, true, 0, false},
	        {GCN3_S_WQM_B64, 1ull << 63 | 1, 0, false, 0xf00000000000000f, true},
	        {GCN3_S_QUADMASK_B64, 1ull << 63 | 1, 0, false, 0x8001, true},
	        {GCN3_S_BREV_B64, 1, 0, false, 1ull << 63, false},
	        {GCN3_S_BITSET0_B64, 64 + 32, 0, false, 0x5555555466666666, false},
	        {GCN3_S_BITSET1_B64, 63, 0, false, 0xd555555566666666, false},
	};

	(void)state;
	CHECK(GCN3_SOP1, k, false);
	CHECK(GCN3_SOP1, wide, true);
}

static void compares_set_scc_only(void **state)
{
	static const struct known k[] = {
	        {GCN3_S_CMP_EQ_I32, 5, 5, false, 0, true},
	        {GCN3_S_CMP_LG_I32, 5, 5, true, 0, false},
	        {GCN3_S_CMP_GT_I32, 1, 0xffffffff, false, 0, true},
	        {GCN3_S_CMP_GT_U32, 1, 0xffffffff, true, 0, false},
	        {GCN3_S_CMP_GE_I32, 0xffffffff, 0, true, 0, false},
	        {GCN3_S_CMP_GE_U32, 0xffffffff, 0, false, 0, true},
	        {GCN3_S_CMP_LT_I32, 0x80000000, 0, false, 0, true},
	        {GCN3_S_CMP_LT_U32, 0x80000000, 0, true, 0, false},
	        {GCN3_S_CMP_LE_I32, 3, 3, false, 0, true},
	        {GCN3_S_CMP_LE_U32, 4, 3, true, 0, false},
	        {GCN3_S_CMP_EQ_U32, 4, 3, true, 0, false},
	        {GCN3_S_CMP_LG_U32, 4, 3, false, 0, true},
	        {GCN3_S_BITCMP0_B32, 2, 32, false, 0, true},
	        {GCN3_S_BITCMP1_B32, 2, 33, false, 0, true},
	        {GCN3_S_BITCMP0_B64, 1ull << 40, 40, true, 0, false},
	        {GCN3_S_BITCMP1_B64, 1ull << 40, 64 + 40, false, 0, true},
	        {GCN3_S_CMP_EQ_U64, 1ull << 40, 1ull << 40, false, 0, true},
	        {GCN3_S_CMP_LG_U64, 1ull << 40, 1, false, 0, true},
	};
	static struct alu t;

	(void)state;
	for (size_t n = 0; n < sizeof(k) / sizeof(k[0]); n++) {
		struct gcn3_insn i = alu_salu(GCN3_SOPC, k[n].op, NONE, S(4), S(6));

		alu_init(&t);
		gcn3_set_sgpr64(&t.w, 4, k[n].a);
		gcn3_set_sgpr64(&t.w, 6, k[n].b);
		t.w.scc = k[n].scc_in;
		check_equal(gcn3_op_name(k[n].op), n, alu_run(&t, &i), GCN3_OK);
		check_equal(gcn3_op_name(k[n].op), n, t.w.scc, k[n].scc);
	}
}

static void short_immediates_are_sign_or_zero_extended(void **state)
{
	static struct alu t;
	static const struct {
		enum gcn3_op op;
		uint32_t before;
		int32_t imm;
		uint32_t after;
		bool scc;
	} k[] = {
	        {GCN3_S_MOVK_I32, 1, -2, 0xfffffffe, true},
	        {GCN3_S_CMOVK_I32, 1, -2, 0xfffffffe, true},
	        {GCN3_S_ADDK_I32, 0x7fffffff, 1, 0x80000000, true},
	        {GCN3_S_ADDK_I32, 5, -5, 0, false},
	        {GCN3_S_MULK_I32, 7, -3, 0xffffffeb, true},
	        {GCN3_S_CMPK_EQ_I32, 0xffffffff, -1, 0xffffffff, true},
	        {GCN3_S_CMPK_EQ_U32, 0xffffffff, -1, 0xffffffff, false},
	        {GCN3_S_CMPK_LG_U32, 0xffff, -1, 0xffff, false},
	        {GCN3_S_CMPK_LG_I32, 0xffff, -1, 0xffff, true},
	        {GCN3_S_CMPK_GT_I32, 0, -1, 0, true},
	        {GCN3_S_CMPK_GT_U32, 0, -1, 0, false},
	        {GCN3_S_CMPK_GE_I32, 3, 3, 3, true},
	        {GCN3_S_CMPK_GE_U32, 0x10000, -1, 0x10000, true},
	        {GCN3_S_CMPK_LT_I32, 0xfffffffe, -1, 0xfffffffe, true},
	        {GCN3_S_CMPK_LT_U32, 3, 3, 3, false},
	        {GCN3_S_CMPK_LE_I32, 4, 3, 4, false},
	        {GCN3_S_CMPK_LE_U32, 0xffff, -1, 0xffff, true},
	};

	(void)state;
	for (size_t n = 0; n < sizeof(k) / sizeof(k[0]); n++) {
		bool compare = k[n].op >= GCN3_S_CMPK_EQ_I32 && k[n].op <= GCN3_S_CMPK_LE_U32;
		struct gcn3_insn i = alu_salu(
		        GCN3_SOPK, k[n].op, compare ? NONE : S(8), compare ? S(8) : NONE, NONE);

		alu_init(&t);
		t.w.s[8] = k[n].before;
		t.w.scc = true;
		i.imm = k[n].imm;
		check_equal(gcn3_op_name(k[n].op), n, alu_run(&t, &i), GCN3_OK);
		check_equal(gcn3_op_name(k[n].op), n, t.w.s[8], k[n].after);
		check_equal(gcn3_op_name(k[n].op), n, t.w.scc, k[n].scc);
	}
}

static void saveexec_swaps_in_the_new_mask(void **state)
{
	static struct alu t;
	const uint64_t a = 0x00ff00ff00ff00ff, e = 0x0f0f0f0f0f0f0f0f;
	const struct {
		enum gcn3_op op;
		uint64_t exec;
	} k[] = {
	        {GCN3_S_AND_SAVEEXEC_B64, a & e},
	        {GCN3_S_OR_SAVEEXEC_B64, a | e},
	        {GCN3_S_XOR_SAVEEXEC_B64, a ^ e},
	        {GCN3_S_ANDN2_SAVEEXEC_B64, a & ~e},
	        {GCN3_S_ORN2_SAVEEXEC_B64, a | ~e},
	        {GCN3_S_NAND_SAVEEXEC_B64, ~(a & e)},
	        {GCN3_S_NOR_SAVEEXEC_B64, ~(a | e)},
	        {GCN3_S_XNOR_SAVEEXEC_B64, ~(a ^ e)},
	};
	struct gcn3_insn i;

	(void)state;
	for (size_t n = 0; n < sizeof(k) / sizeof(k[0]); n++) {
		i = alu_salu(GCN3_SOP1, k[n].op, S(8), S(4), NONE);
		alu_init(&t);
		alu_exec(&t, e);
		gcn3_set_sgpr64(&t.w, 4, a);
		check_equal(gcn3_op_name(k[n].op), n, alu_run(&t, &i), GCN3_OK);
		check_equal(gcn3_op_name(k[n].op), n, gcn3_sgpr64(&t.w, 8), e);
		check_equal(gcn3_op_name(k[n].op), n, gcn3_exec(&t.w), k[n].exec);
		check_equal(gcn3_op_name(k[n].op), n, t.w.scc, 1);
	}
	/* the source may be the destination; an empty result clears SCC */
	alu_init(&t);
	i = alu_salu(GCN3_SOP1, GCN3_S_AND_SAVEEXEC_B64, VCC, VCC, NONE);
	check_equal("empty", 0, alu_run(&t, &i), GCN3_OK);
	check_equal("empty EXEC", 0, gcn3_exec(&t.w), 0);
	check_equal("saved", 0, gcn3_sgpr64(&t.w, VCC), ~0ull);
	check_equal("scc", 0, t.w.scc, 0);
}

static void branches_move_pc_by_words(void **state)
{
	static struct alu t;
	static const struct {
		enum gcn3_op op;
		bool scc, vcc, exec, taken;
	} k[] = {
	        {GCN3_S_BRANCH, 0, 0, 1, true},
	        {GCN3_S_CBRANCH_SCC0, 0, 0, 1, true},
	        {GCN3_S_CBRANCH_SCC0, 1, 0, 1, false},
	        {GCN3_S_CBRANCH_SCC1, 1, 0, 1, true},
	        {GCN3_S_CBRANCH_SCC1, 0, 0, 1, false},
	        {GCN3_S_CBRANCH_VCCZ, 0, 0, 1, true},
	        {GCN3_S_CBRANCH_VCCZ, 0, 1, 1, false},
	        {GCN3_S_CBRANCH_VCCNZ, 0, 1, 1, true},
	        {GCN3_S_CBRANCH_VCCNZ, 0, 0, 1, false},
	        {GCN3_S_CBRANCH_EXECZ, 0, 0, 0, true},
	        {GCN3_S_CBRANCH_EXECZ, 0, 0, 1, false},
	        {GCN3_S_CBRANCH_EXECNZ, 0, 0, 1, true},
	        {GCN3_S_CBRANCH_EXECNZ, 0, 0, 0, false},
	        {GCN3_S_CBRANCH_CDBGSYS, 1, 1, 1, false},
	};

	(void)state;
	for (size_t n = 0; n < sizeof(k) / sizeof(k[0]); n++) {
		struct gcn3_insn i = alu_salu(GCN3_SOPP, k[n].op, NONE, NONE, NONE);

		alu_init(&t);
		i.imm = -3;
		t.w.scc = k[n].scc;
		gcn3_set_sgpr64(&t.w, VCC, k[n].vcc ? 1ull << 63 : 0);
		alu_exec(&t, k[n].exec ? 1ull << 32 : 0);
		check_equal(gcn3_op_name(k[n].op), n, alu_run(&t, &i), GCN3_OK);
		check_equal(gcn3_op_name(k[n].op), n, t.w.pc, k[n].taken ? 0x1000 - 12 : 0x1000);
	}
}

static void calls_and_returns_use_guest_addresses(void **state)
{
	static struct alu t;
	struct gcn3_insn get = alu_salu(GCN3_SOP1, GCN3_S_GETPC_B64, S(30), NONE, NONE);
	struct gcn3_insn swap = alu_salu(GCN3_SOP1, GCN3_S_SWAPPC_B64, S(30), S(4), NONE);
	struct gcn3_insn set = alu_salu(GCN3_SOP1, GCN3_S_SETPC_B64, NONE, S(30), NONE);

	(void)state;
	alu_init(&t);
	check_equal("getpc", 0, alu_run(&t, &get), GCN3_OK);
	check_equal("getpc", 0, gcn3_sgpr64(&t.w, 30), ALU_FB_BASE + 0x1000);
	gcn3_set_sgpr64(&t.w, 4, ALU_FB_BASE + 0x8000);
	check_equal("swappc", 0, alu_run(&t, &swap), GCN3_OK);
	check_equal("swappc", 0, t.w.pc, 0x8000);
	check_equal("setpc", 0, alu_run(&t, &set), GCN3_OK);
	check_equal("setpc", 0, t.w.pc, 0x1000);
}

static void program_control_is_reported(void **state)
{
	static struct alu t;
	static const struct {
		enum gcn3_op op;
		enum gcn3_status status;
	} k[] = {
	        {GCN3_S_ENDPGM, GCN3_END},
	        {GCN3_S_BARRIER, GCN3_BARRIER},
	        {GCN3_S_TRAP, GCN3_TRAP},
	        {GCN3_S_NOP, GCN3_OK},
	        {GCN3_S_WAITCNT, GCN3_OK},
	        {GCN3_S_SLEEP, GCN3_OK},
	        {GCN3_S_SENDMSG, GCN3_OK},
	        {GCN3_S_SETPRIO, GCN3_OK},
	        {GCN3_S_ICACHE_INV, GCN3_OK},
	        {GCN3_S_ENDPGM_SAVED, GCN3_BAD_OPCODE},
	};

	(void)state;
	for (size_t n = 0; n < sizeof(k) / sizeof(k[0]); n++) {
		struct gcn3_insn i = alu_salu(GCN3_SOPP, k[n].op, NONE, NONE, NONE);

		alu_init(&t);
		check_equal(gcn3_op_name(k[n].op), n, alu_run(&t, &i), k[n].status);
		check_equal(gcn3_op_name(k[n].op), n, t.w.pc, 0x1000);
	}
}

static uint64_t source_value(struct alu *t, uint16_t code, bool wide)
{
	struct gcn3_insn i =
	        alu_salu(GCN3_SOP1, wide ? GCN3_S_MOV_B64 : GCN3_S_MOV_B32, S(8), code, NONE);

	i.literal = 0x87654321;
	check_equal("source", code, alu_run(t, &i), GCN3_OK);
	return wide ? gcn3_sgpr64(&t->w, 8) : t->w.s[8];
}

static void constants_have_the_width_of_the_operand(void **state)
{
	static struct alu t;

	(void)state;
	alu_init(&t);
	check_equal("64", 0, source_value(&t, INT(64), false), 64);
	check_equal("-16", 0, source_value(&t, INT(-16), false), 0xfffffff0);
	check_equal("-1 wide", 0, source_value(&t, INT(-1), true), ~0ull);
	check_equal("0.5", 0, source_value(&t, FLOAT_HALF, false), 0x3f000000);
	check_equal("4.0 wide", 0, source_value(&t, FLOAT_FOUR, true), 0x4010000000000000);
	check_equal("1/2pi", 0, source_value(&t, FLOAT_INV_2PI, false), 0x3e22f983);
	check_equal("literal", 0, source_value(&t, LITERAL, false), 0x87654321);
	check_equal("literal wide", 0, source_value(&t, LITERAL, true), 0x87654321);
	t.w.scc = true;
	alu_exec(&t, 0);
	gcn3_set_sgpr64(&t.w, VCC, 1ull << 50);
	check_equal("vccz", 0, source_value(&t, 251, false), 0);
	check_equal("execz", 0, source_value(&t, 252, false), 1);
	check_equal("scc", 0, source_value(&t, 253, false), 1);
}

static void relative_moves_add_m0(void **state)
{
	static struct alu t;
	struct gcn3_insn i = alu_salu(GCN3_SOP1, GCN3_S_MOVRELS_B32, S(8), S(4), NONE);

	(void)state;
	alu_init(&t);
	t.w.s[M0] = 3;
	t.w.s[7] = 77;
	check_equal("movrels", 0, alu_run(&t, &i), GCN3_OK);
	check_equal("movrels", 0, t.w.s[8], 77);
	i = alu_salu(GCN3_SOP1, GCN3_S_MOVRELD_B64, S(8), INT(-2), NONE);
	t.w.s[M0] = 4;
	check_equal("movreld", 0, alu_run(&t, &i), GCN3_OK);
	check_equal("movreld", 0, gcn3_sgpr64(&t.w, 12), ~1ull);
	t.w.s[M0] = 0xfffffffc;
	check_equal("movreld past the end", 0, alu_run(&t, &i), GCN3_BAD_OPCODE);
	t.w.s[M0] = 93; /* 101, 102 */
	check_equal("movreld past 101", 0, alu_run(&t, &i), GCN3_BAD_OPCODE);
}

static uint32_t hwreg_field(unsigned id, unsigned offset, unsigned size)
{
	return id | offset << 6 | (size - 1) << 11;
}

static void mode_changes_act_on_arithmetic_at_once(void **state)
{
	static struct alu t;
	struct gcn3_insn set = alu_salu(GCN3_SOPK, GCN3_S_SETREG_IMM32_B32, NONE, LITERAL, NONE);
	struct gcn3_insn get = alu_salu(GCN3_SOPK, GCN3_S_GETREG_B32, S(8), NONE, NONE);
	struct gcn3_insn add = alu_valu(GCN3_V_ADD_F32, V(0), V(1), V(1), NONE);
	uint32_t host;

	(void)state;
	alu_init(&t);
	alu_fill(&t, 1, 0x00400000);
	set.imm = (int16_t)hwreg_field(1, 4, 2); /* FP_DENORM of single precision */
	set.literal = 3;
	host = gcn3_fp_enter(&t.w);
	check_equal("setreg", 0, gcn3_exec_salu(&t.w, &set), GCN3_OK);
	check_equal("add", 0, gcn3_exec_valu(&t.w, &add), GCN3_OK);
	gcn3_fp_leave(host);
	check_equal("kept denormal", 0, t.v[0][0], 0x00800000);
	get.imm = (int16_t)hwreg_field(1, 0, 32);
	check_equal("getreg", 0, alu_run(&t, &get), GCN3_OK);
	check_equal("MODE", 0, t.w.s[8], ALU_MODE | ALU_KEEP_32);
	get.imm = (int16_t)hwreg_field(1, 4, 4);
	check_equal("getreg", 1, alu_run(&t, &get), GCN3_OK);
	check_equal("MODE[7:4]", 0, t.w.s[8], 0xf);
}

static void status_registers_are_readable(void **state)
{
	static struct alu t;
	struct gcn3_insn get = alu_salu(GCN3_SOPK, GCN3_S_GETREG_B32, S(8), NONE, NONE);

	(void)state;
	alu_init(&t);
	t.w.scc = true;
	get.imm = (int16_t)hwreg_field(2, 0, 11); /* STATUS: SCC, EXECZ, VCCZ */
	check_equal("getreg", 2, alu_run(&t, &get), GCN3_OK);
	check_equal("STATUS", 0, t.w.s[8], 1 | 1 << 10);
	get.imm = (int16_t)hwreg_field(5, 8, 6);
	check_equal("getreg", 5, alu_run(&t, &get), GCN3_OK);
	check_equal("VGPR_SIZE", 0, t.w.s[8], ALU_VGPRS / 4 - 1);
	get.imm = (int16_t)hwreg_field(40, 0, 32);
	check_equal("no such register", 0, alu_run(&t, &get), GCN3_BAD_OPCODE);
}

static void forked_paths_join_with_the_other_half(void **state)
{
	static struct alu t;
	struct gcn3_insn fork = alu_salu(GCN3_SOP2, GCN3_S_CBRANCH_G_FORK, NONE, S(20), S(22));
	struct gcn3_insn join = alu_salu(GCN3_SOP1, GCN3_S_CBRANCH_JOIN, NONE, S(24), NONE);

	(void)state;
	alu_init(&t);
	gcn3_set_sgpr64(&t.w, 20, 0xff);
	gcn3_set_sgpr64(&t.w, 22, ALU_FB_BASE + 0x2000);
	t.w.s[24] = 0;
	check_equal("fork", 0, alu_run(&t, &fork), GCN3_OK); /* 8 lanes pass: they run first */
	check_equal("pass first", 0, t.w.pc, 0x2000);
	check_equal("pass first", 0, gcn3_exec(&t.w), 0xff);
	check_equal("join", 0, alu_run(&t, &join), GCN3_OK);
	check_equal("then fail", 0, t.w.pc, 0x1000);
	check_equal("then fail", 0, gcn3_exec(&t.w), ~0xffull);
	t.w.pc = 0x3000;
	check_equal("join", 1, alu_run(&t, &join), GCN3_OK); /* stack level reached: go on */
	check_equal("joined", 0, t.w.pc, 0x3000);
}

static void operands_outside_the_register_file_are_refused(void **state)
{
	static struct alu t;
	static const struct {
		enum gcn3_format format;
		enum gcn3_op op;
		uint16_t dst, a, b;
	} k[] = {
	        {GCN3_SOP1, GCN3_S_MOV_B64, S(127), S(4), NONE},
	        {GCN3_SOP1, GCN3_S_MOV_B32, V(0), S(4), NONE},
	        {GCN3_SOP1, GCN3_S_MOV_B32, S(4), V(0), NONE},
	        {GCN3_SOP1, GCN3_S_MOV_B32, S(4), 220, NONE},
	        {GCN3_SOP1, GCN3_S_GETPC_B64, S(127), NONE, NONE},
	        {GCN3_SOP1, GCN3_S_BITSET0_B64, S(127), S(4), NONE},
	        {GCN3_SOP1, GCN3_S_AND_SAVEEXEC_B64, S(127), S(4), NONE},
	        {GCN3_SOP2, GCN3_S_LSHL_B64, S(127), S(4), S(4)},
	        {GCN3_SOP2, GCN3_S_ADD_U32, S(128), S(4), S(4)},
	        {GCN3_SOPK, GCN3_S_MOVK_I32, V(2), NONE, NONE},
	        {GCN3_SOP1, GCN3_S_RFE_B64, NONE, S(4), NONE},
	};

	(void)state;
	for (size_t n = 0; n < sizeof(k) / sizeof(k[0]); n++) {
		struct gcn3_insn i = alu_salu(k[n].format, k[n].op, k[n].dst, k[n].a, k[n].b);

		alu_init(&t);
		check_equal(gcn3_op_name(k[n].op), n, alu_run(&t, &i), GCN3_BAD_OPCODE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(two_operand_results_and_scc),
	        cmocka_unit_test(one_operand_results_and_scc),
	        cmocka_unit_test(compares_set_scc_only),
	        cmocka_unit_test(short_immediates_are_sign_or_zero_extended),
	        cmocka_unit_test(saveexec_swaps_in_the_new_mask),
	        cmocka_unit_test(branches_move_pc_by_words),
	        cmocka_unit_test(calls_and_returns_use_guest_addresses),
	        cmocka_unit_test(program_control_is_reported),
	        cmocka_unit_test(constants_have_the_width_of_the_operand),
	        cmocka_unit_test(relative_moves_add_m0),
	        cmocka_unit_test(mode_changes_act_on_arithmetic_at_once),
	        cmocka_unit_test(status_registers_are_readable),
	        cmocka_unit_test(forked_paths_join_with_the_other_half),
	        cmocka_unit_test(operands_outside_the_register_file_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
