/* Integer, bit and lane operations of the vector ALU: known answers from the GCN3 ISA manual. */
#include "tests/unit/gcn3/helper_alu.h"

struct known {
	enum gcn3_op op;
	uint64_t a, b, c, want;
};

static void results_match_the_manual(void **state)
{
	static struct alu t;
	static const struct known k[] = {
	        {GCN3_V_NOT_B32, 0xf0f0f0f0, 0, 0, 0x0f0f0f0f},
	        {GCN3_V_AND_B32, 0xff00, 0x0ff0, 0, 0x0f00},
	        {GCN3_V_OR_B32, 0xff00, 0x0ff0, 0, 0xfff0},
	        {GCN3_V_XOR_B32, 0xff00, 0x0ff0, 0, 0xf0f0},
	        {GCN3_V_LSHLREV_B32, 33, 1, 0, 2},
	        {GCN3_V_LSHRREV_B32, 4, 0x80000000, 0, 0x08000000},
	        {GCN3_V_ASHRREV_I32, 4, 0x80000000, 0, 0xf8000000},
	        {GCN3_V_BFE_U32, 0xabcd1234, 8, 8, 0x12},
	        {GCN3_V_BFE_U32, 0xabcd1234, 8, 32, 0}, /* the width has five bits */
	        {GCN3_V_BFE_U32, 0xabcd1234, 28, 8, 0xa},
	        {GCN3_V_BFE_I32, 0xabcd1234, 12, 4, 1},
	        {GCN3_V_BFE_I32, 0xabcd1234, 16, 4, 0xfffffffd},
	        {GCN3_V_BFE_I32, 0xabcd1234, 16, 0, 0},
	        {GCN3_V_BFE_I32, 0xabcd1234, 24, 16, 0xffffffab},
	        {GCN3_V_BFI_B32, 0xffff0000, 0x12345678, 0x9abcdef0, 0x1234def0},
	        {GCN3_V_BFM_B32, 8, 4, 0, 0xff0},
	        {GCN3_V_BFM_B32, 32, 4, 0, 0},
	        {GCN3_V_ALIGNBIT_B32, 0x11223344, 0x55667788, 8, 0x44556677},
	        {GCN3_V_ALIGNBIT_B32, 0x11223344, 0x55667788, 32, 0x55667788},
	        {GCN3_V_ALIGNBYTE_B32, 0x11223344, 0x55667788, 3, 0x22334455},
	        {GCN3_V_BFREV_B32, 0x00000003, 0, 0, 0xc0000000},
	        {GCN3_V_FFBH_U32, 0x00010000, 0, 0, 15},
	        {GCN3_V_FFBH_U32, 0, 0, 0, 0xffffffff},
	        {GCN3_V_FFBL_B32, 0x00010000, 0, 0, 16},
	        {GCN3_V_FFBL_B32, 0, 0, 0, 0xffffffff},
	        {GCN3_V_FFBH_I32, 0xffff0000, 0, 0, 16},
	        {GCN3_V_FFBH_I32, 0xffffffff, 0, 0, 0xffffffff},
	        {GCN3_V_FFBH_I32, 0, 0, 0, 0xffffffff},
	        {GCN3_V_BCNT_U32_B32, 0xf0f0f0f1, 100, 0, 117},
	        {GCN3_V_MBCNT_LO_U32_B32, 0xffffffff, 100, 0, 105}, /* lane 5 */
	        {GCN3_V_MBCNT_HI_U32_B32, 0xffffffff, 100, 0, 100},
	        {GCN3_V_MIN_I32, 0xffffffff, 1, 0, 0xffffffff},
	        {GCN3_V_MAX_I32, 0xffffffff, 1, 0, 1},
	        {GCN3_V_MIN_U32, 0xffffffff, 1, 0, 1},
	        {GCN3_V_MAX_U32, 0xffffffff, 1, 0, 0xffffffff},
	        {GCN3_V_MIN3_I32, 5, 0xffffffff, 1, 0xffffffff},
	        {GCN3_V_MAX3_I32, 5, 0xffffffff, 1, 5},
	        {GCN3_V_MED3_I32, 5, 0xffffffff, 1, 1},
	        {GCN3_V_MIN3_U32, 5, 0xffffffff, 1, 1},
	        {GCN3_V_MAX3_U32, 5, 0xffffffff, 1, 0xffffffff},
	        {GCN3_V_MED3_U32, 5, 0xffffffff, 1, 5},
	        {GCN3_V_MUL_LO_U32, 0x10001, 0x10001, 0, 0x20001},
	        {GCN3_V_MUL_HI_U32, 0xffffffff, 0xffffffff, 0, 0xfffffffe},
	        {GCN3_V_MUL_HI_I32, 0xffffffff, 2, 0, 0xffffffff},
	        {GCN3_V_MUL_U32_U24, 0xff000003, 5, 0, 15},
	        {GCN3_V_MUL_HI_U32_U24, 0xffffff, 0xffffff, 0, 0xffff},
	        {GCN3_V_MUL_I32_I24, 0x00ffffff, 5, 0, 0xfffffffb},
	        {GCN3_V_MUL_HI_I32_I24, 0x00ffffff, 5, 0, 0xffffffff},
	        {GCN3_V_MAD_U32_U24, 0xff000003, 5, 1, 16},
	        {GCN3_V_MAD_I32_I24, 0x00ffffff, 5, 6, 1},
	        {GCN3_V_LERP_U8, 0x01ff0003, 0x02ff0004, 0x00000001, 0x01ff0004},
	        {GCN3_V_SAD_U8, 0x01020304, 0x04030201, 10, 18},
	        {GCN3_V_SAD_HI_U8, 0x01020304, 0x04030201, 10, 0x8000a},
	        {GCN3_V_SAD_U16, 0x00010005, 0x00030002, 100, 105},
	        {GCN3_V_SAD_U32, 3, 10, 100, 107},
	        {GCN3_V_MSAD_U8, 0x01020304, 0x04000001, 0,
	                6}, /* bytes with reference 0 do not count */
	        {GCN3_V_PERM_B32, 0x11223344, 0x55667788, 0x07000403, 0x11884455},
	        {GCN3_V_PERM_B32, 0x80223344, 0x55668088, 0x0d0c080b, 0xff00ffff},
	        {GCN3_V_PERM_B32, 0x11223344, 0x95667788, 0x0a09080c, 0x00ff0000},
	        {GCN3_V_CVT_PK_U16_U32, 0x12345, 7, 0, 0x7ffff},
	        {GCN3_V_CVT_PK_I16_I32, 0xffff0000, 0x12345, 0, 0x7fff8000},
	        /* 16 bits: the upper half is cleared */
	        {GCN3_V_ADD_U16, 0x1111ffff, 0x22220002, 0, 1},
	        {GCN3_V_SUB_U16, 1, 2, 0, 0xffff},
	        {GCN3_V_SUBREV_U16, 1, 2, 0, 1},
	        {GCN3_V_MUL_LO_U16, 0x100, 0x101, 0, 0x0100},
	        {GCN3_V_LSHLREV_B16, 17, 0x8001, 0, 2},
	        {GCN3_V_LSHRREV_B16, 4, 0xffff8000, 0, 0x0800},
	        {GCN3_V_ASHRREV_I16, 4, 0x8000, 0, 0xf800},
	        {GCN3_V_MIN_I16, 0xffff, 1, 0, 0xffff},
	        {GCN3_V_MAX_I16, 0xffff, 1, 0, 1},
	        {GCN3_V_MIN_U16, 0xffff, 1, 0, 1},
	        {GCN3_V_MAX_U16, 0xffff, 1, 0, 0xffff},
	        {GCN3_V_MAD_U16, 0x100, 0x101, 5, 0x0105},
	        {GCN3_V_MAD_I16, 0xffff, 3, 1, 0xfffe},
	};
	static const struct known wide[] = {
	        {GCN3_V_LSHLREV_B64, 65, 3, 0, 6},
	        {GCN3_V_LSHRREV_B64, 60, 0xf000000000000000, 0, 0xf},
	        {GCN3_V_ASHRREV_I64, 60, 0x8000000000000000, 0, 0xfffffffffffffff8},
	};

	(void)state;
	for (size_t n = 0; n < sizeof(k) / sizeof(k[0]); n++) {
		alu_init(&t);
		check_equal(gcn3_op_name(k[n].op), n,
		        alu_op(&t, k[n].op, (uint32_t)k[n].a, (uint32_t)k[n].b, (uint32_t)k[n].c),
		        k[n].want);
	}
	for (size_t n = 0; n < sizeof(wide) / sizeof(wide[0]); n++) {
		alu_init(&t);
		check_equal(gcn3_op_name(wide[n].op), n,
		        alu_op64(&t, wide[n].op, wide[n].a, wide[n].b, wide[n].c), wide[n].want);
	}
}

static void mbcnt_counts_lower_lanes(void **state)
{
	static struct alu t;
	struct gcn3_insn low = alu_valu(GCN3_V_MBCNT_LO_U32_B32, V(0), INT(-1), INT(0), NONE);
	struct gcn3_insn high = alu_valu(GCN3_V_MBCNT_HI_U32_B32, V(0), INT(-1), V(0), NONE);

	(void)state;
	alu_init(&t);
	check_equal("lo", 0, alu_run(&t, &low), GCN3_OK);
	check_equal("hi", 0, alu_run(&t, &high), GCN3_OK);
	for (unsigned l = 0; l < GCN3_LANES; l++)
		check_equal("lane number", l, t.v[0][l], l);
}

static void carries_go_through_lane_masks(void **state)
{
	static struct alu t;
	struct gcn3_insn add = alu_valu(GCN3_V_ADD_U32, V(0), V(1), V(2), NONE);
	struct gcn3_insn addc = alu_valu(GCN3_V_ADDC_U32, V(3), V(4), V(5), S(10));
	struct gcn3_insn sub = alu_valu(GCN3_V_SUB_U32, V(6), V(1), V(2), NONE);
	struct gcn3_insn subb = alu_valu(GCN3_V_SUBB_U32, V(7), V(4), V(5), VCC);
	uint32_t seed = 8;

	(void)state;
	alu_init(&t);
	for (unsigned l = 0; l < GCN3_LANES; l++)
		for (unsigned r = 1; r < 6; r++)
			t.v[r][l] = l & 1 ? alu_random(&seed) : 0u - (alu_random(&seed) & 1);
	add.sdst = S(10);
	check_equal("add", 0, alu_run(&t, &add), GCN3_OK);
	addc.sdst = S(12);
	check_equal("addc", 0, alu_run(&t, &addc), GCN3_OK);
	check_equal("sub", 0, alu_run(&t, &sub), GCN3_OK);
	subb.sdst = S(14);
	check_equal("subb", 0, alu_run(&t, &subb), GCN3_OK);
	for (unsigned l = 0; l < GCN3_LANES; l++) {
		uint64_t a = t.v[1][l] | (uint64_t)t.v[4][l] << 32;
		uint64_t b = t.v[2][l] | (uint64_t)t.v[5][l] << 32, sum, difference;
		bool carry = __builtin_add_overflow(a, b, &sum);
		bool borrow = __builtin_sub_overflow(a, b, &difference);

		check_equal("low sum", l, t.v[0][l], (uint32_t)sum);
		check_equal("high sum", l, t.v[3][l], sum >> 32);
		check_equal("carry", l, gcn3_sgpr64(&t.w, 12) >> l & 1, carry);
		check_equal("low difference", l, t.v[6][l], (uint32_t)difference);
		check_equal("high difference", l, t.v[7][l], difference >> 32);
		check_equal("borrow", l, gcn3_sgpr64(&t.w, 14) >> l & 1, borrow);
	}
}

static void reversed_subtractions_swap_operands(void **state)
{
	static struct alu t;
	struct gcn3_insn i = alu_valu(GCN3_V_SUBBREV_U32, V(0), V(1), V(2), VCC);

	(void)state;
	alu_init(&t);
	check_equal("subrev", 0, alu_op(&t, GCN3_V_SUBREV_U32, 3, 10, 0), 7);
	check_equal("borrow", 0, gcn3_sgpr64(&t.w, VCC), 0);
	gcn3_set_sgpr64(&t.w, VCC, 0xf);
	alu_fill(&t, 1, 10);
	alu_fill(&t, 2, 10);
	check_equal("subbrev", 0, alu_run(&t, &i), GCN3_OK);
	check_equal("subbrev", 0, t.v[0][0], 0xffffffff);
	check_equal("subbrev", 4, t.v[0][4], 0);
	check_equal("borrow", 0, gcn3_sgpr64(&t.w, VCC), 0xf);
}

static void clamp_saturates_integers(void **state)
{
	static struct alu t;
	static const struct known k[] = {
	        {GCN3_V_ADD_U32, 0xfffffff0, 0x20, 0, 0xffffffff},
	        {GCN3_V_SUB_U32, 3, 5, 0, 0},
	        {GCN3_V_ADD_U16, 0xfff0, 0x20, 0, 0xffff},
	        {GCN3_V_SUB_U16, 3, 5, 0, 0},
	        {GCN3_V_MAD_U16, 0x1000, 0x1000, 0, 0xffff},
	        {GCN3_V_MAD_I16, 0x8000, 0x7fff, 0, 0x8000},
	        {GCN3_V_MAD_U32_U24, 0xffffff, 0xffffff, 0, 0xffffffff},
	        {GCN3_V_MAD_I32_I24, 0x800000, 0x7fffff, 0, 0x80000000},
	        {GCN3_V_SAD_U32, 0, 0xffffffff, 2, 0xffffffff},
	};

	(void)state;
	for (size_t n = 0; n < sizeof(k) / sizeof(k[0]); n++) {
		struct gcn3_insn i = alu_valu(k[n].op, V(0), V(1), V(2), V(3));

		alu_init(&t);
		alu_fill(&t, 1, (uint32_t)k[n].a);
		alu_fill(&t, 2, (uint32_t)k[n].b);
		alu_fill(&t, 3, (uint32_t)k[n].c);
		i.clamp = true;
		check_equal(gcn3_op_name(k[n].op), n, alu_run(&t, &i), GCN3_OK);
		check_equal(gcn3_op_name(k[n].op), n, t.v[0][9], k[n].want);
	}
}

static void wide_multiply_adds_carry_out(void **state)
{
	static struct alu t;
	struct gcn3_insn u = alu_valu(GCN3_V_MAD_U64_U32, V(10), V(1), V(2), V(4));
	struct gcn3_insn s = alu_valu(GCN3_V_MAD_I64_I32, V(12), V(1), V(2), V(4));
	uint32_t seed = 1234;

	(void)state;
	alu_init(&t);
	for (unsigned l = 0; l < GCN3_LANES; l++)
		for (unsigned r = 1; r < 6; r++)
			t.v[r][l] = l % 3 ? alu_random(&seed) : 0u - (alu_random(&seed) & 3);
	u.sdst = S(10);
	s.sdst = S(12);
	check_equal("mad_u64", 0, alu_run(&t, &u), GCN3_OK);
	check_equal("mad_i64", 0, alu_run(&t, &s), GCN3_OK);
	for (unsigned l = 0; l < GCN3_LANES; l++) {
		unsigned __int128 uns =
		        (unsigned __int128)t.v[1][l] * t.v[2][l] + alu_wide(&t, 4, l);
		__int128 sig = (__int128)(int32_t)t.v[1][l] * (int32_t)t.v[2][l] +
		               (int64_t)alu_wide(&t, 4, l);

		check_equal("mad_u64", l, alu_wide(&t, 10, l), (uint64_t)uns);
		check_equal("carry", l, gcn3_sgpr64(&t.w, 10) >> l & 1, (uint64_t)(uns >> 64) & 1);
		check_equal("mad_i64", l, alu_wide(&t, 12, l), (uint64_t)sig);
		check_equal("carry", l, gcn3_sgpr64(&t.w, 12) >> l & 1, (uint64_t)(sig >> 64) & 1);
	}
}

static bool relation(unsigned cond, bool less, bool equal)
{
	return cond >> (less ? 0 : equal ? 1 : 2) & 1;
}

/* F LT EQ LE GT NE GE T: sets of {less, equal, greater}. */
static void integer_compares_follow_their_numbering(void **state)
{
	static struct alu t;
	static const struct {
		uint16_t first;
		unsigned bits;
		bool sign;
	} k[] = {{GCN3_V_CMP_F_I16, 16, true}, {GCN3_V_CMP_F_U16, 16, false},
	        {GCN3_V_CMP_F_I32, 32, true}, {GCN3_V_CMP_F_U32, 32, false},
	        {GCN3_V_CMP_F_I64, 64, true}, {GCN3_V_CMP_F_U64, 64, false},
	        {GCN3_V_CMPX_F_I32, 32, true}, {GCN3_V_CMPX_F_U64, 64, false}};
	uint32_t seed = 77;

	(void)state;
	for (unsigned n = 0; n < 8 * sizeof(k) / sizeof(k[0]); n++) {
		unsigned cond = n % 8, shift = 64 - k[n / 8].bits;
		struct gcn3_insn i = alu_valu(k[n / 8].first + cond, NONE, V(2), V(4), NONE);
		uint64_t want = 0;

		alu_init(&t);
		for (unsigned l = 0; l < GCN3_LANES; l++) {
			for (unsigned r = 2; r < 6; r++)
				t.v[r][l] = (0u - (alu_random(&seed) & 1))
				            << (alu_random(&seed) & 31);
			uint64_t a = alu_wide(&t, 2, l) << shift, b = alu_wide(&t, 4, l) << shift;
			bool less = k[n / 8].sign ? (int64_t)a < (int64_t)b : a < b;

			want |= (uint64_t)relation(cond, less, a == b) << l;
		}
		check_equal(gcn3_op_name(i.op), cond, alu_run(&t, &i), GCN3_OK);
		check_equal(gcn3_op_name(i.op), cond, gcn3_sgpr64(&t.w, VCC), want);
	}
}

static void cndmask_selects_by_lane(void **state)
{
	static struct alu t;
	struct gcn3_insn i = alu_valu(GCN3_V_CNDMASK_B32, V(0), INT(1), V(2), S(10));

	(void)state;
	alu_init(&t);
	alu_fill(&t, 2, 7);
	gcn3_set_sgpr64(&t.w, 10, 0xaaaaaaaa00000001);
	check_equal("cndmask", 0, alu_run(&t, &i), GCN3_OK);
	for (unsigned l = 0; l < GCN3_LANES; l++)
		check_equal("lane", l, t.v[0][l], 0xaaaaaaaa00000001 >> l & 1 ? 7 : 1);
}

static void lanes_are_read_and_written(void **state)
{
	static struct alu t;
	struct gcn3_insn first = alu_valu(GCN3_V_READFIRSTLANE_B32, S(4), V(1), NONE, NONE);
	struct gcn3_insn read = alu_valu(GCN3_V_READLANE_B32, S(5), V(1), S(20), NONE);
	struct gcn3_insn write = alu_valu(GCN3_V_WRITELANE_B32, V(1), INT(-5), INT(9), NONE);

	(void)state;
	alu_init(&t);
	for (unsigned l = 0; l < GCN3_LANES; l++)
		t.v[1][l] = 100 + l;
	alu_exec(&t, 0xff00);
	t.w.s[20] = 64 + 33; /* modulo 64, whatever EXEC */
	check_equal("readfirstlane", 0, alu_run(&t, &first), GCN3_OK);
	check_equal("readfirstlane", 0, t.w.s[4], 108);
	check_equal("readlane", 0, alu_run(&t, &read), GCN3_OK);
	check_equal("readlane", 0, t.w.s[5], 133);
	alu_exec(&t, 0);
	check_equal("readfirstlane", 0, alu_run(&t, &first), GCN3_OK);
	check_equal("no lane: lane 0", 0, t.w.s[4], 100);
	check_equal("writelane", 0, alu_run(&t, &write), GCN3_OK);
	for (unsigned l = 0; l < GCN3_LANES; l++)
		check_equal("writelane", l, t.v[1][l], l == 9 ? 0xfffffffb : 100 + l);
}

static void relative_moves_stay_within_the_allocation(void **state)
{
	static struct alu t;
	struct gcn3_insn from = alu_valu(GCN3_V_MOVRELS_B32, V(0), V(2), NONE, NONE);
	struct gcn3_insn to = alu_valu(GCN3_V_MOVRELD_B32, V(2), INT(9), NONE, NONE);

	(void)state;
	alu_init(&t);
	alu_fill(&t, 7, 70);
	t.w.s[M0] = 5;
	alu_exec(&t, 1);
	check_equal("movrels", 0, alu_run(&t, &from), GCN3_OK);
	check_equal("movrels", 0, t.v[0][0], 70);
	check_equal("inactive", 1, t.v[0][1], 0);
	check_equal("movreld", 0, alu_run(&t, &to), GCN3_OK);
	check_equal("movreld", 0, t.v[7][0], 9);
	check_equal("inactive", 1, t.v[7][1], 70);
	t.w.s[M0] = ALU_VGPRS - 2;
	check_equal("movrels", 1, alu_run(&t, &from), GCN3_BAD_OPCODE);
	check_equal("movreld", 1, alu_run(&t, &to), GCN3_BAD_OPCODE);
	t.w.s[M0] = 0xffffffff;
	check_equal("movrels", 2, alu_run(&t, &from), GCN3_BAD_OPCODE);
	check_equal("movreld", 2, alu_run(&t, &to), GCN3_BAD_OPCODE);
}

static void index_mode_moves_vgprs(void **state)
{
	static struct alu t;
	struct gcn3_insn on = alu_salu(GCN3_SOPC, GCN3_S_SET_GPR_IDX_ON, NONE, S(4), NONE);
	struct gcn3_insn off = alu_salu(GCN3_SOPP, GCN3_S_SET_GPR_IDX_OFF, NONE, NONE, NONE);
	struct gcn3_insn add = alu_valu(GCN3_V_AND_B32, V(1), V(2), V(3), NONE);

	(void)state;
	alu_init(&t);
	t.w.s[4] = 10;
	on.imm = 1 | 8; /* source 0 and destination */
	alu_fill(&t, 12, 0xff);
	alu_fill(&t, 3, 0x0f);
	check_equal("on", 0, alu_run(&t, &on), GCN3_OK);
	check_equal("and", 0, alu_run(&t, &add), GCN3_OK);
	check_equal("v11 = v12 & v3", 0, t.v[11][0], 0x0f);
	check_equal("v1", 0, t.v[1][0], 0);
	t.w.s[M0] = 0x9000 | (ALU_VGPRS - 1);
	check_equal("beyond", 0, alu_run(&t, &add), GCN3_BAD_OPCODE);
	check_equal("off", 0, alu_run(&t, &off), GCN3_OK);
	alu_fill(&t, 2, 0xf);
	check_equal("and", 0, alu_run(&t, &add), GCN3_OK);
	check_equal("v1 = v2 & v3", 0, t.v[1][0], 0xf);
}

static void quad_sums_are_packed(void **state)
{
	static struct alu t;
	struct gcn3_insn i = alu_valu(GCN3_V_QSAD_PK_U16_U8, V(0), V(2), V(4), V(6));
	struct gcn3_insn m = alu_valu(GCN3_V_MQSAD_U32_U8, V(12), V(2), V(4), V(16));

	(void)state;
	alu_init(&t);
	alu_fill64(&t, 2, 0x0000000504030201); /* bytes 1 2 3 4 5 0 0 0 */
	alu_fill(&t, 4, 0x00020202);
	alu_fill64(&t, 6, 0x0004000300020001);
	for (unsigned n = 0; n < 4; n++)
		alu_fill(&t, 16 + n, 10 * n);
	check_equal("qsad", 0, alu_run(&t, &i), GCN3_OK);
	/* {1 2 3 4}: 1+0+1+4, {2 3 4 5}: 0+1+2+5, {3 4 5 0}: 1+2+3+0, {4 5 0 0}: 2+3+2+0 */
	check_equal("qsad", 0, alu_wide(&t, 0, 0), 0x000b0009000a0007);
	check_equal("mqsad", 0, alu_run(&t, &m), GCN3_OK);
	check_equal("mqsad", 0, t.v[12][0], 2);
	check_equal("mqsad", 1, t.v[13][0], 13);
	check_equal("mqsad", 2, t.v[14][0], 26);
	check_equal("mqsad", 3, t.v[15][0], 37);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(results_match_the_manual),
	        cmocka_unit_test(mbcnt_counts_lower_lanes),
	        cmocka_unit_test(carries_go_through_lane_masks),
	        cmocka_unit_test(reversed_subtractions_swap_operands),
	        cmocka_unit_test(clamp_saturates_integers),
	        cmocka_unit_test(wide_multiply_adds_carry_out),
	        cmocka_unit_test(integer_compares_follow_their_numbering),
	        cmocka_unit_test(cndmask_selects_by_lane),
	        cmocka_unit_test(lanes_are_read_and_written),
	        cmocka_unit_test(relative_moves_stay_within_the_allocation),
	        cmocka_unit_test(index_mode_moves_vgprs),
	        cmocka_unit_test(quad_sums_are_packed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
