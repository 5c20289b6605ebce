/* exec_salu.c - scalar ALU and program control: SOP1, SOP2, SOPK, SOPC, SOPP.
 * Semantics: AMD GCN3 ISA manual, chapters "Scalar ALU operations" and "Program flow control".
 * One switch per encoding; each computes value and scc, the caller stores them.
 */
#include "device/virtual/gcn3/fpmode.h"
#include "device/virtual/gcn3/hwreg.h"
#include "device/virtual/gcn3/operand.h"

struct result {
	uint64_t value;
	bool scc;
	unsigned dwords; /* written to the destination: 0, 1 or 2 */
};

/* An absent operand reads as 0, so that a family can fetch before its switch. */
static uint32_t src32(const struct gcn3_wave *w, const struct gcn3_insn *i, unsigned n)
{
	if (i->src[n] == GCN3_OPERAND_NONE)
		return 0;
	return (uint32_t)gcn3_scalar(w, i, i->src[n], GCN3_AS_U);
}

static uint64_t src64(const struct gcn3_wave *w, const struct gcn3_insn *i, unsigned n)
{
	if (i->src[n] == GCN3_OPERAND_NONE)
		return 0;
	return gcn3_scalar(w, i, i->src[n], GCN3_AS_L);
}

static int64_t src64s(const struct gcn3_wave *w, const struct gcn3_insn *i, unsigned n)
{
	if (i->src[n] == GCN3_OPERAND_NONE)
		return 0;
	return (int64_t)gcn3_scalar(w, i, i->src[n], GCN3_AS_J);
}

/* Result with scc = (value != 0), the rule of the logic and shift operations. */
static struct result logic32(uint32_t value)
{
	return (struct result){value, value != 0, 1};
}

static struct result logic64(uint64_t value)
{
	return (struct result){value, value != 0, 2};
}

static struct result with_scc(uint32_t value, bool scc)
{
	return (struct result){value, scc, 1};
}

/* --- SOP2 --- */

static struct result add_i32(uint32_t a, uint32_t b)
{
	int32_t sum;

	return with_scc(a + b, __builtin_add_overflow((int32_t)a, (int32_t)b, &sum));
}

static struct result sub_i32(uint32_t a, uint32_t b)
{
	int32_t difference;

	return with_scc(a - b, __builtin_sub_overflow((int32_t)a, (int32_t)b, &difference));
}

static uint32_t ones32(unsigned width)
{
	return width >= 32 ? ~0u : (1u << width) - 1;
}

static uint64_t ones64(unsigned width)
{
	return width >= 64 ? ~0ull : (1ull << width) - 1;
}

/* Field of @value at @offset, @width bits (to the top when it would pass it). */
static uint64_t extract(uint64_t value, unsigned offset, unsigned width, bool sign)
{
	uint64_t field = (value >> offset) & ones64(width);

	if (!sign || width == 0 || width >= 64 || !(field >> (width - 1) & 1))
		return field;
	return field | ~ones64(width);
}

/* S_BFE: offset in [4:0] or [5:0], width in [22:16] (GCN3 ISA manual, S_BFE_U32). */
static struct result bfe32(uint32_t value, uint32_t control, bool sign)
{
	uint64_t wide = sign ? (uint64_t)(int64_t)(int32_t)value : value;

	return logic32((uint32_t)extract(wide, control & 31, control >> 16 & 0x7f, sign));
}

static struct result bfe64(uint64_t value, uint32_t control, bool sign)
{
	unsigned offset = control & 63, width = control >> 16 & 0x7f;

	if (sign && width > 64 - offset)
		width = 64 - offset;
	return logic64(extract(value, offset, width, sign));
}

static struct result sop2_logic(const struct gcn3_wave *w, const struct gcn3_insn *i)
{
	uint64_t a = src64(w, i, 0), b = src64(w, i, 1);

	switch (i->op) {
	case GCN3_S_AND_B64: return logic64(a & b);
	case GCN3_S_OR_B64: return logic64(a | b);
	case GCN3_S_XOR_B64: return logic64(a ^ b);
	case GCN3_S_ANDN2_B64: return logic64(a & ~b);
	case GCN3_S_ORN2_B64: return logic64(a | ~b);
	case GCN3_S_NAND_B64: return logic64(~(a & b));
	case GCN3_S_NOR_B64: return logic64(~(a | b));
	case GCN3_S_XNOR_B64: return logic64(~(a ^ b));
	default: return (struct result){w->scc ? a : b, w->scc, 2}; /* S_CSELECT_B64 */
	}
}

static bool sop2(const struct gcn3_wave *w, const struct gcn3_insn *i, struct result *r)
{
	uint32_t a = src32(w, i, 0), b = src32(w, i, 1), carry = w->scc;

	switch (i->op) {
	case GCN3_S_ADD_U32: *r = with_scc(a + b, a + b < a); break;
	case GCN3_S_SUB_U32: *r = with_scc(a - b, b > a); break;
	case GCN3_S_ADD_I32: *r = add_i32(a, b); break;
	case GCN3_S_SUB_I32: *r = sub_i32(a, b); break;
	case GCN3_S_ADDC_U32: *r = with_scc(a + b + carry, ((uint64_t)a + b + carry) >> 32); break;
	case GCN3_S_SUBB_U32: *r = with_scc(a - b - carry, (uint64_t)b + carry > a); break;
	case GCN3_S_MIN_I32:
		*r = with_scc((int32_t)a < (int32_t)b ? a : b, (int32_t)a < (int32_t)b);
		break;
	case GCN3_S_MIN_U32: *r = with_scc(a < b ? a : b, a < b); break;
	case GCN3_S_MAX_I32:
		*r = with_scc((int32_t)a > (int32_t)b ? a : b, (int32_t)a > (int32_t)b);
		break;
	case GCN3_S_MAX_U32: *r = with_scc(a > b ? a : b, a > b); break;
	case GCN3_S_CSELECT_B32: *r = with_scc(carry ? a : b, carry); break;
	case GCN3_S_AND_B32: *r = logic32(a & b); break;
	case GCN3_S_OR_B32: *r = logic32(a | b); break;
	case GCN3_S_XOR_B32: *r = logic32(a ^ b); break;
	case GCN3_S_ANDN2_B32: *r = logic32(a & ~b); break;
	case GCN3_S_ORN2_B32: *r = logic32(a | ~b); break;
	case GCN3_S_NAND_B32: *r = logic32(~(a & b)); break;
	case GCN3_S_NOR_B32: *r = logic32(~(a | b)); break;
	case GCN3_S_XNOR_B32: *r = logic32(~(a ^ b)); break;
	case GCN3_S_AND_B64:
	case GCN3_S_OR_B64:
	case GCN3_S_XOR_B64:
	case GCN3_S_ANDN2_B64:
	case GCN3_S_ORN2_B64:
	case GCN3_S_NAND_B64:
	case GCN3_S_NOR_B64:
	case GCN3_S_XNOR_B64:
	case GCN3_S_CSELECT_B64: *r = sop2_logic(w, i); break;
	case GCN3_S_LSHL_B32: *r = logic32(a << (b & 31)); break;
	case GCN3_S_LSHR_B32: *r = logic32(a >> (b & 31)); break;
	case GCN3_S_ASHR_I32: *r = logic32((uint32_t)((int32_t)a >> (b & 31))); break;
	case GCN3_S_LSHL_B64: *r = logic64(src64(w, i, 0) << (b & 63)); break;
	case GCN3_S_LSHR_B64: *r = logic64(src64(w, i, 0) >> (b & 63)); break;
	case GCN3_S_ASHR_I64: *r = logic64((uint64_t)(src64s(w, i, 0) >> (b & 63))); break;
	case GCN3_S_BFM_B32: *r = with_scc(ones32(a & 31) << (b & 31), w->scc); break;
	case GCN3_S_BFM_B64: *r = (struct result){ones64(a & 63) << (b & 63), w->scc, 2}; break;
	case GCN3_S_MUL_I32: *r = with_scc(a * b, w->scc); break;
	case GCN3_S_BFE_U32: *r = bfe32(a, b, false); break;
	case GCN3_S_BFE_I32: *r = bfe32(a, b, true); break;
	case GCN3_S_BFE_U64: *r = bfe64(src64(w, i, 0), b, false); break;
	case GCN3_S_BFE_I64: *r = bfe64((uint64_t)src64s(w, i, 0), b, true); break;
	case GCN3_S_ABSDIFF_I32: *r = logic32((int32_t)(a - b) < 0 ? b - a : a - b); break;
	default: return false;
	}
	return true;
}

/* --- SOP1 --- */

static uint64_t reverse64(uint64_t v)
{
	uint64_t r = 0;

	for (unsigned bit = 0; bit < 64; bit++)
		r |= (v >> bit & 1) << (63 - bit);
	return r;
}

/* One bit a group of four: any of the four set. */
static uint64_t quadmask(uint64_t v)
{
	uint64_t r = 0;

	for (unsigned quad = 0; quad < 16; quad++)
		r |= (uint64_t)((v >> (quad * 4) & 0xf) != 0) << quad;
	return r;
}

static uint64_t whole_quads(uint64_t v)
{
	uint64_t r = 0;

	for (unsigned quad = 0; quad < 16; quad++)
		if (v >> (quad * 4) & 0xf)
			r |= 0xfull << (quad * 4);
	return r;
}

static struct result index_of(uint64_t bits, bool from_top, unsigned width, bool scc)
{
	uint32_t at = ~0u; /* -1: no such bit (GCN3 ISA manual, S_FF1, S_FLBIT) */

	if (bits && from_top)
		at = (uint32_t)__builtin_clzll(bits) - (64 - width);
	else if (bits)
		at = (uint32_t)__builtin_ctzll(bits);
	return with_scc(at, scc);
}

static struct result sop1_bits(const struct gcn3_wave *w, const struct gcn3_insn *i)
{
	uint32_t a = src32(w, i, 0);
	uint64_t A = src64(w, i, 0);
	int64_t s = src64s(w, i, 0);
	bool scc = w->scc;

	switch (i->op) {
	case GCN3_S_BCNT0_I32_B32: return logic32((uint32_t)__builtin_popcount(~a));
	case GCN3_S_BCNT0_I32_B64: return logic32((uint32_t)__builtin_popcountll(~A));
	case GCN3_S_BCNT1_I32_B32: return logic32((uint32_t)__builtin_popcount(a));
	case GCN3_S_BCNT1_I32_B64: return logic32((uint32_t)__builtin_popcountll(A));
	case GCN3_S_FF0_I32_B32: return index_of((uint32_t)~a, false, 32, scc);
	case GCN3_S_FF0_I32_B64: return index_of(~A, false, 64, scc);
	case GCN3_S_FF1_I32_B32: return index_of(a, false, 32, scc);
	case GCN3_S_FF1_I32_B64: return index_of(A, false, 64, scc);
	case GCN3_S_FLBIT_I32_B32: return index_of(a, true, 32, scc);
	case GCN3_S_FLBIT_I32_B64: return index_of(A, true, 64, scc);
	case GCN3_S_FLBIT_I32: return index_of((int32_t)a < 0 ? (uint32_t)~a : a, true, 32, scc);
	default: return index_of((uint64_t)(s < 0 ? ~s : s), true, 64, scc); /* S_FLBIT_I32_I64 */
	}
}

/* The old value of a destination pair; store() refuses a pair which does not exist. */
static uint64_t dst64(const struct gcn3_wave *w, const struct gcn3_insn *i)
{
	return gcn3_scalar(w, i, i->dst % GCN3_MAX_SGPRS, GCN3_AS_L);
}

static bool sop1(const struct gcn3_wave *w, const struct gcn3_insn *i, struct result *r)
{
	uint32_t a = src32(w, i, 0);
	uint64_t A = src64(w, i, 0);
	bool scc = w->scc;

	switch (i->op) {
	case GCN3_S_MOV_B32: *r = with_scc(a, scc); break;
	case GCN3_S_MOV_B64: *r = (struct result){A, scc, 2}; break;
	case GCN3_S_CMOV_B32: *r = (struct result){a, scc, scc ? 1 : 0}; break;
	case GCN3_S_CMOV_B64: *r = (struct result){A, scc, scc ? 2 : 0}; break;
	case GCN3_S_NOT_B32: *r = logic32(~a); break;
	case GCN3_S_NOT_B64: *r = logic64(~A); break;
	case GCN3_S_WQM_B32: *r = logic32((uint32_t)whole_quads(a)); break;
	case GCN3_S_WQM_B64: *r = logic64(whole_quads(A)); break;
	case GCN3_S_BREV_B32: *r = with_scc((uint32_t)(reverse64(a) >> 32), scc); break;
	case GCN3_S_BREV_B64: *r = (struct result){reverse64(A), scc, 2}; break;
	case GCN3_S_SEXT_I32_I8: *r = with_scc((uint32_t)(int8_t)a, scc); break;
	case GCN3_S_SEXT_I32_I16: *r = with_scc((uint32_t)(int16_t)a, scc); break;
	case GCN3_S_BITSET0_B32:
		*r = with_scc(w->s[i->dst % GCN3_MAX_SGPRS] & ~(1u << (a & 31)), scc);
		break;
	case GCN3_S_BITSET1_B32:
		*r = with_scc(w->s[i->dst % GCN3_MAX_SGPRS] | 1u << (a & 31), scc);
		break;
	case GCN3_S_BITSET0_B64:
		*r = (struct result){dst64(w, i) & ~(1ull << (a & 63)), scc, 2};
		break;
	case GCN3_S_BITSET1_B64:
		*r = (struct result){dst64(w, i) | 1ull << (a & 63), scc, 2};
		break;
	case GCN3_S_QUADMASK_B32: *r = logic32((uint32_t)quadmask(a)); break;
	case GCN3_S_QUADMASK_B64: *r = logic64(quadmask(A)); break;
	case GCN3_S_ABS_I32: *r = logic32((int32_t)a < 0 ? 0u - a : a); break;
	case GCN3_S_BCNT0_I32_B32:
	case GCN3_S_BCNT0_I32_B64:
	case GCN3_S_BCNT1_I32_B32:
	case GCN3_S_BCNT1_I32_B64:
	case GCN3_S_FF0_I32_B32:
	case GCN3_S_FF0_I32_B64:
	case GCN3_S_FF1_I32_B32:
	case GCN3_S_FF1_I32_B64:
	case GCN3_S_FLBIT_I32_B32:
	case GCN3_S_FLBIT_I32_B64:
	case GCN3_S_FLBIT_I32:
	case GCN3_S_FLBIT_I32_I64: *r = sop1_bits(w, i); break;
	default: return false;
	}
	return true;
}

static bool saveexec(const struct gcn3_wave *w, const struct gcn3_insn *i, uint64_t *exec)
{
	uint64_t a = src64(w, i, 0), e = gcn3_exec(w);

	switch (i->op) {
	case GCN3_S_AND_SAVEEXEC_B64: *exec = a & e; break;
	case GCN3_S_OR_SAVEEXEC_B64: *exec = a | e; break;
	case GCN3_S_XOR_SAVEEXEC_B64: *exec = a ^ e; break;
	case GCN3_S_ANDN2_SAVEEXEC_B64: *exec = a & ~e; break;
	case GCN3_S_ORN2_SAVEEXEC_B64: *exec = a | ~e; break;
	case GCN3_S_NAND_SAVEEXEC_B64: *exec = ~(a & e); break;
	case GCN3_S_NOR_SAVEEXEC_B64: *exec = ~(a | e); break;
	case GCN3_S_XNOR_SAVEEXEC_B64: *exec = ~(a ^ e); break;
	default: return false;
	}
	return true;
}

/* MODE fields, GCN3 ISA manual, "MODE register". */
#define MODE_GPR_IDX_EN (1u << 27)
#define MODE_VSKIP      (1u << 28)
#define MODE_CSP_SHIFT  29
#define FORK_STACK      8 /* entries of four SGPRs: CSP has three bits */

/* The guest sees MC addresses; w->pc is an offset into VRAM. */
static uint64_t guest_pc(const struct gcn3_wave *w)
{
	return w->pc + w->group->fb_base;
}

static void set_guest_pc(struct gcn3_wave *w, uint64_t address)
{
	w->pc = (address & ~3ull) - w->group->fb_base;
}

static void set_csp(struct gcn3_wave *w, unsigned csp)
{
	w->mode = (w->mode & ~(7u << MODE_CSP_SHIFT)) | csp << MODE_CSP_SHIFT;
}

/* S_CBRANCH_G_FORK, S_CBRANCH_I_FORK: the smaller side runs first, the other waits on the SGPR
 * stack. */
static enum gcn3_status fork_branch(struct gcn3_wave *w, uint64_t condition, uint64_t target)
{
	uint64_t exec = gcn3_exec(w), pass = condition & exec, fail = ~condition & exec;
	unsigned csp = w->mode >> MODE_CSP_SHIFT;
	bool fail_first = __builtin_popcountll(fail) < __builtin_popcountll(pass);

	if (pass == exec) {
		set_guest_pc(w, target);
		return GCN3_OK;
	}
	if (fail == exec)
		return GCN3_OK;
	if (csp == FORK_STACK - 1)
		return GCN3_BAD_OPCODE;
	gcn3_set_sgpr64(w, csp * 4, fail_first ? pass : fail);
	gcn3_set_sgpr64(w, csp * 4 + 2, fail_first ? target : guest_pc(w));
	gcn3_set_sgpr64(w, GCN3_OPERAND_EXEC, fail_first ? fail : pass);
	if (!fail_first)
		set_guest_pc(w, target);
	set_csp(w, csp + 1);
	return GCN3_OK;
}

static enum gcn3_status join_branch(struct gcn3_wave *w, uint32_t level)
{
	unsigned csp = w->mode >> MODE_CSP_SHIFT;

	if (csp == level)
		return GCN3_OK;
	if (csp == 0)
		return GCN3_BAD_OPCODE;
	csp--;
	set_csp(w, csp);
	gcn3_set_sgpr64(w, GCN3_OPERAND_EXEC, gcn3_sgpr64(w, csp * 4));
	set_guest_pc(w, gcn3_sgpr64(w, csp * 4 + 2));
	return GCN3_OK;
}

/* S_MOVRELS/S_MOVRELD: SGPR index plus M0, only within SGPR 0..101. */
static enum gcn3_status move_relative(
        struct gcn3_wave *w, const struct gcn3_insn *i, bool source, unsigned dwords)
{
	uint32_t m0 = w->s[GCN3_OPERAND_M0];
	uint64_t from = i->src[0], to = i->dst;

	if (source)
		from += m0;
	else
		to += m0;
	if ((source ? from : to) + dwords > GCN3_OPERAND_VCC - 4) /* 102: behind the last SGPR */
		return GCN3_BAD_OPCODE;
	if (dwords == 2)
		gcn3_set_sgpr64(w, (unsigned)to, gcn3_scalar(w, i, (unsigned)from, GCN3_AS_L));
	else
		w->s[to] = (uint32_t)gcn3_scalar(w, i, (unsigned)from, GCN3_AS_U);
	return GCN3_OK;
}

static void set_gpr_idx(struct gcn3_wave *w, uint32_t mask, uint32_t value)
{
	uint32_t *m0 = &w->s[GCN3_OPERAND_M0];

	*m0 = (*m0 & ~mask) | (value & mask);
}

/* SOP1 and SOPC operations which do more than compute one value. */
static enum gcn3_status control(struct gcn3_wave *w, const struct gcn3_insn *i)
{
	uint64_t a = src64(w, i, 0), exec;

	if (i->dst != GCN3_OPERAND_NONE && i->dst + 2 > GCN3_MAX_SGPRS &&
	        i->op != GCN3_S_MOVRELS_B32 && i->op != GCN3_S_MOVRELD_B32)
		return GCN3_BAD_OPCODE;
	switch (i->op) {
	case GCN3_S_GETPC_B64: gcn3_set_sgpr64(w, i->dst, guest_pc(w)); return GCN3_OK;
	case GCN3_S_SETPC_B64: set_guest_pc(w, a); return GCN3_OK;
	case GCN3_S_SWAPPC_B64:
		gcn3_set_sgpr64(w, i->dst, guest_pc(w));
		set_guest_pc(w, a);
		return GCN3_OK;
	case GCN3_S_MOVRELS_B32: return move_relative(w, i, true, 1);
	case GCN3_S_MOVRELS_B64: return move_relative(w, i, true, 2);
	case GCN3_S_MOVRELD_B32: return move_relative(w, i, false, 1);
	case GCN3_S_MOVRELD_B64: return move_relative(w, i, false, 2);
	case GCN3_S_CBRANCH_JOIN: return join_branch(w, (uint32_t)a);
	case GCN3_S_SET_GPR_IDX_IDX: set_gpr_idx(w, 0xff, (uint32_t)a); return GCN3_OK;
	case GCN3_S_SET_GPR_IDX_ON:
		w->mode |= MODE_GPR_IDX_EN;
		set_gpr_idx(w, 0xff, (uint32_t)a);
		set_gpr_idx(w, 0xf000, (uint32_t)i->imm << 12);
		return GCN3_OK;
	case GCN3_S_SETVSKIP: /* skipping vector code is not modelled; turning it off is a no-op */
		return (uint32_t)a >> (src32(w, i, 1) & 31) & 1 ? GCN3_BAD_OPCODE : GCN3_OK;
	default: break;
	}
	if (!saveexec(w, i, &exec))
		return GCN3_BAD_OPCODE;
	gcn3_set_sgpr64(w, i->dst, gcn3_exec(w));
	gcn3_set_sgpr64(w, GCN3_OPERAND_EXEC, exec);
	w->scc = exec != 0;
	return GCN3_OK;
}

/* --- SOPC --- */

static bool sopc(const struct gcn3_wave *w, const struct gcn3_insn *i, bool *scc)
{
	uint32_t a = src32(w, i, 0), b = src32(w, i, 1);

	switch (i->op) {
	case GCN3_S_CMP_EQ_I32:
	case GCN3_S_CMP_EQ_U32: *scc = a == b; break;
	case GCN3_S_CMP_LG_I32:
	case GCN3_S_CMP_LG_U32: *scc = a != b; break;
	case GCN3_S_CMP_GT_I32: *scc = (int32_t)a > (int32_t)b; break;
	case GCN3_S_CMP_GE_I32: *scc = (int32_t)a >= (int32_t)b; break;
	case GCN3_S_CMP_LT_I32: *scc = (int32_t)a < (int32_t)b; break;
	case GCN3_S_CMP_LE_I32: *scc = (int32_t)a <= (int32_t)b; break;
	case GCN3_S_CMP_GT_U32: *scc = a > b; break;
	case GCN3_S_CMP_GE_U32: *scc = a >= b; break;
	case GCN3_S_CMP_LT_U32: *scc = a < b; break;
	case GCN3_S_CMP_LE_U32: *scc = a <= b; break;
	case GCN3_S_BITCMP0_B32: *scc = !(a >> (b & 31) & 1); break;
	case GCN3_S_BITCMP1_B32: *scc = a >> (b & 31) & 1; break;
	case GCN3_S_BITCMP0_B64: *scc = !(src64(w, i, 0) >> (b & 63) & 1); break;
	case GCN3_S_BITCMP1_B64: *scc = src64(w, i, 0) >> (b & 63) & 1; break;
	case GCN3_S_CMP_EQ_U64: *scc = src64(w, i, 0) == src64(w, i, 1); break;
	case GCN3_S_CMP_LG_U64: *scc = src64(w, i, 0) != src64(w, i, 1); break;
	default: return false;
	}
	return true;
}

/* --- SOPK --- */

static enum gcn3_status sopk(struct gcn3_wave *w, const struct gcn3_insn *i)
{
	unsigned code = i->dst != GCN3_OPERAND_NONE ? i->dst : i->src[0];
	uint32_t *d = &w->s[code % GCN3_MAX_SGPRS], value = *d;
	int32_t s = (int32_t)value, k = i->imm;
	uint32_t u = (uint16_t)i->imm;

	switch (i->op) {
	case GCN3_S_MOVK_I32: *d = (uint32_t)k; break;
	case GCN3_S_CMOVK_I32: *d = w->scc ? (uint32_t)k : value; break;
	case GCN3_S_CMPK_EQ_I32: w->scc = s == k; break;
	case GCN3_S_CMPK_LG_I32: w->scc = s != k; break;
	case GCN3_S_CMPK_GT_I32: w->scc = s > k; break;
	case GCN3_S_CMPK_GE_I32: w->scc = s >= k; break;
	case GCN3_S_CMPK_LT_I32: w->scc = s < k; break;
	case GCN3_S_CMPK_LE_I32: w->scc = s <= k; break;
	case GCN3_S_CMPK_EQ_U32: w->scc = value == u; break;
	case GCN3_S_CMPK_LG_U32: w->scc = value != u; break;
	case GCN3_S_CMPK_GT_U32: w->scc = value > u; break;
	case GCN3_S_CMPK_GE_U32: w->scc = value >= u; break;
	case GCN3_S_CMPK_LT_U32: w->scc = value < u; break;
	case GCN3_S_CMPK_LE_U32: w->scc = value <= u; break;
	case GCN3_S_ADDK_I32: w->scc = __builtin_add_overflow(s, k, (int32_t *)d); break;
	case GCN3_S_MULK_I32: *d = value * (uint32_t)k; break;
	case GCN3_S_CBRANCH_I_FORK:
		return fork_branch(w, src64(w, i, 0), guest_pc(w) + (uint64_t)((int64_t)k * 4));
	case GCN3_S_GETREG_B32: return gcn3_getreg(w, u, d);
	case GCN3_S_SETREG_B32: return gcn3_setreg(w, u, value);
	case GCN3_S_SETREG_IMM32_B32: return gcn3_setreg(w, u, i->literal);
	default: return GCN3_BAD_OPCODE;
	}
	return GCN3_OK;
}

/* --- SOPP --- */

static enum gcn3_status branch_if(struct gcn3_wave *w, const struct gcn3_insn *i, bool taken)
{
	if (taken)
		w->pc += (uint64_t)((int64_t)i->imm * 4);
	return GCN3_OK;
}

static enum gcn3_status sopp(struct gcn3_wave *w, const struct gcn3_insn *i)
{
	bool vccz = gcn3_sgpr64(w, GCN3_OPERAND_VCC) == 0, execz = gcn3_exec(w) == 0;

	switch (i->op) {
	case GCN3_S_ENDPGM: return GCN3_END;
	case GCN3_S_BARRIER: return GCN3_BARRIER;
	case GCN3_S_TRAP: return GCN3_TRAP;
	case GCN3_S_BRANCH: return branch_if(w, i, true);
	case GCN3_S_CBRANCH_SCC0: return branch_if(w, i, !w->scc);
	case GCN3_S_CBRANCH_SCC1: return branch_if(w, i, w->scc);
	case GCN3_S_CBRANCH_VCCZ: return branch_if(w, i, vccz);
	case GCN3_S_CBRANCH_VCCNZ: return branch_if(w, i, !vccz);
	case GCN3_S_CBRANCH_EXECZ: return branch_if(w, i, execz);
	case GCN3_S_CBRANCH_EXECNZ: return branch_if(w, i, !execz);
	case GCN3_S_SET_GPR_IDX_OFF: w->mode &= ~MODE_GPR_IDX_EN; return GCN3_OK;
	case GCN3_S_SET_GPR_IDX_MODE:
		set_gpr_idx(w, 0xf000, (uint32_t)i->imm << 12);
		return GCN3_OK;
	case GCN3_S_SETHALT: /* a halted wave never goes on: nobody here can restart it */
	case GCN3_S_SENDMSGHALT: return i->imm & 1 ? GCN3_TRAP : GCN3_OK;
	/* no debugger is attached: the conditional debug flags are 0 */
	case GCN3_S_CBRANCH_CDBGSYS:
	case GCN3_S_CBRANCH_CDBGUSER:
	case GCN3_S_CBRANCH_CDBGSYS_OR_USER:
	case GCN3_S_CBRANCH_CDBGSYS_AND_USER:
	/* timing, priorities and messages have no effect on results */
	case GCN3_S_NOP:
	case GCN3_S_WAKEUP:
	case GCN3_S_WAITCNT:
	case GCN3_S_SLEEP:
	case GCN3_S_SETPRIO:
	case GCN3_S_SETKILL:
	case GCN3_S_SENDMSG:
	case GCN3_S_ICACHE_INV:
	case GCN3_S_INCPERFLEVEL:
	case GCN3_S_DECPERFLEVEL:
	case GCN3_S_TTRACEDATA: return GCN3_OK;
	default: return GCN3_BAD_OPCODE;
	}
}

/* --- entry --- */

static bool store(struct gcn3_wave *w, const struct gcn3_insn *i, const struct result *r)
{
	if (i->dst + r->dwords > GCN3_MAX_SGPRS)
		return false;
	w->scc = r->scc;
	if (r->dwords == 2)
		gcn3_set_sgpr64(w, i->dst, r->value);
	else if (r->dwords == 1)
		w->s[i->dst] = (uint32_t)r->value;
	return true;
}

static bool operands_valid(const struct gcn3_insn *i)
{
	for (unsigned n = 0; n < 2; n++)
		if (i->src[n] != GCN3_OPERAND_NONE && !gcn3_scalar_valid(i->src[n], 1))
			return false;
	return i->dst == GCN3_OPERAND_NONE || i->dst < GCN3_MAX_SGPRS;
}

enum gcn3_status gcn3_exec_salu(struct gcn3_wave *w, const struct gcn3_insn *i)
{
	struct result r;

	if (!operands_valid(i))
		return GCN3_BAD_OPCODE;
	switch (i->format) {
	case GCN3_SOPP: return sopp(w, i);
	case GCN3_SOPK: return sopk(w, i);
	case GCN3_SOPC: return sopc(w, i, &w->scc) ? GCN3_OK : control(w, i);
	case GCN3_SOP2:
		if (i->op == GCN3_S_CBRANCH_G_FORK)
			return fork_branch(w, src64(w, i, 0), src64(w, i, 1));
		return sop2(w, i, &r) && store(w, i, &r) ? GCN3_OK : GCN3_BAD_OPCODE;
	case GCN3_SOP1: return sop1(w, i, &r) && store(w, i, &r) ? GCN3_OK : control(w, i);
	default: return GCN3_BAD_OPCODE;
	}
}
