/* disasm_fields.c - text of immediates that have a language of their own: waits, messages, hardware
 * registers, lane patterns. Wording follows LLVM 19's AMDGPUInstPrinter; field positions are the
 * GCN3 ISA manual's.
 */
#include "device/virtual/gcn3/disasm_priv.h"

/* GCN3 ISA 4.4 (s_waitcnt): vmcnt[3:0], expcnt[6:4], lgkmcnt[11:8]. Counters at their maximum wait
 * for nothing. */
static void put_waitcnt(struct gcn3_text *t, uint16_t imm)
{
	unsigned vm = imm & 15, exp = imm >> 4 & 7, lgkm = imm >> 8 & 15;
	bool all = vm == 15 && exp == 7 && lgkm == 15;

	if (all || vm != 15)
		gcn3_put(t, " vmcnt(%u)", vm);
	if (all || exp != 7)
		gcn3_put(t, " expcnt(%u)", exp);
	if (all || lgkm != 15)
		gcn3_put(t, " lgkmcnt(%u)", lgkm);
}

static const char *message_name(unsigned id)
{
	switch (id) {
	case 1: return "MSG_INTERRUPT";
	case 2: return "MSG_GS";
	case 3: return "MSG_GS_DONE";
	case 4: return "MSG_SAVEWAVE";
	case 15: return "MSG_SYSMSG";
	default: return NULL;
	}
}

static const char *message_op(unsigned id, unsigned op)
{
	static const char *const gs[] = {"GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"};
	static const char *const sys[] = {NULL, "SYSMSG_OP_ECC_ERR_INTERRUPT", "SYSMSG_OP_REG_RD",
	        "SYSMSG_OP_HOST_TRAP_ACK", "SYSMSG_OP_TTRACE_PC"};

	if (id == 2 || id == 3)
		return op < 4 && (id == 3 || op) ? gs[op] : NULL;
	return id == 15 && op < 5 ? sys[op] : NULL;
}

/* GCN3 ISA 12.1 (s_sendmsg): message[3:0], operation[6:4], stream[9:8] */
static void put_message(struct gcn3_text *t, uint16_t imm)
{
	unsigned id = imm & 15, op = imm >> 4 & 7, stream = imm >> 8 & 3;
	const char *name = message_name(id), *what = message_op(id, op);
	bool with_op = id == 2 || id == 3 || id == 15, with_stream = (id == 2 || id == 3) && op;

	if (!name || (with_op ? !what : op != 0) || (stream && !with_stream)) {
		gcn3_put(t, imm & ~0x37f ? " %u" : " sendmsg(%u, %u, %u)", imm & ~0x37f ? imm : id,
		        op, stream);
	} else {
		gcn3_put(t, " sendmsg(%s", name);
		if (with_op)
			gcn3_put(t, ", %s", what);
		if (with_stream)
			gcn3_put(t, ", %u", stream);
		gcn3_put(t, ")");
	}
}

void gcn3_put_gpr_idx(struct gcn3_text *t, unsigned imm)
{
	static const char *const names[] = {"SRC0", "SRC1", "SRC2", "DST"};
	const char *comma = "";

	if (imm > 15) {
		gcn3_put(t, "0x%x", imm);
		return;
	}
	gcn3_put(t, "gpr_idx(");
	for (unsigned k = 0; k < 4; k++) {
		if (imm >> k & 1) {
			gcn3_put(t, "%s%s", comma, names[k]);
			comma = ",";
		}
	}
	gcn3_put(t, ")");
}

void gcn3_put_sopp(struct gcn3_text *t, const struct gcn3_insn *i)
{
	uint16_t imm = (uint16_t)i->imm;

	switch (i->op) {
	case GCN3_S_WAITCNT: put_waitcnt(t, imm); return;
	case GCN3_S_SENDMSG:
	case GCN3_S_SENDMSGHALT: put_message(t, imm); return;
	case GCN3_S_SET_GPR_IDX_MODE:
		gcn3_put(t, " ");
		gcn3_put_gpr_idx(t, imm);
		return;
	case GCN3_S_WAKEUP:
	case GCN3_S_BARRIER:
	case GCN3_S_ICACHE_INV:
	case GCN3_S_TTRACEDATA:
	case GCN3_S_ENDPGM_SAVED:
	case GCN3_S_SET_GPR_IDX_OFF: return;
	case GCN3_S_ENDPGM:
		if (imm)
			gcn3_put(t, " %u", imm);
		return;
	case GCN3_S_BRANCH:
	case GCN3_S_CBRANCH_SCC0:
	case GCN3_S_CBRANCH_SCC1:
	case GCN3_S_CBRANCH_VCCZ:
	case GCN3_S_CBRANCH_VCCNZ:
	case GCN3_S_CBRANCH_EXECZ:
	case GCN3_S_CBRANCH_EXECNZ:
	case GCN3_S_CBRANCH_CDBGSYS:
	case GCN3_S_CBRANCH_CDBGUSER:
	case GCN3_S_CBRANCH_CDBGSYS_OR_USER:
	case GCN3_S_CBRANCH_CDBGSYS_AND_USER: gcn3_put(t, " %u", imm); return;
	default: gcn3_put(t, imm <= 64 ? " %u" : " 0x%x", imm);
	}
}

/* GCN3 ISA 5.8 (hardware registers): id[5:0], offset[10:6], size - 1 [15:11] */
void gcn3_put_hwreg(struct gcn3_text *t, uint16_t imm)
{
	static const char *const names[] = {
	        NULL, "MODE", "STATUS", "TRAPSTS", "HW_ID", "GPR_ALLOC", "LDS_ALLOC", "IB_STS"};
	unsigned id = imm & 63, offset = imm >> 6 & 31, width = (imm >> 11) + 1u;

	if (id >= 1 && id <= 7)
		gcn3_put(t, "hwreg(HW_REG_%s", names[id]);
	else
		gcn3_put(t, "hwreg(%u", id);
	if (offset || width != 32)
		gcn3_put(t, ", %u, %u", offset, width);
	gcn3_put(t, ")");
}

void gcn3_put_sdwa(struct gcn3_text *t, const struct gcn3_insn *i)
{
	static const char *const sel[] = {
	        "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", "?"};
	static const char *const unused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", "?"};

	if (i->dst != GCN3_OPERAND_NONE)
		gcn3_put(t, " dst_sel:%s dst_unused:%s", sel[i->dst_sel & 7],
		        unused[i->dst_unused & 3]);
	gcn3_put(t, " src0_sel:%s", sel[i->src_sel[0] & 7]);
	if (i->src[1] != GCN3_OPERAND_NONE)
		gcn3_put(t, " src1_sel:%s", sel[i->src_sel[1] & 7]);
}

static void put_dpp_ctrl(struct gcn3_text *t, unsigned c)
{
	static const char *const rows[] = {"row_shl", "row_shr", "row_ror"};
	static const char *const waves[] = {"wave_shl:1", "wave_rol:1", "wave_shr:1", "wave_ror:1"};
	static const char *const others[] = {
	        "row_mirror", "row_half_mirror", "row_bcast:15", "row_bcast:31"};

	if (c < 0x100)
		gcn3_put(t, " quad_perm:[%u,%u,%u,%u]", c & 3, c >> 2 & 3, c >> 4 & 3, c >> 6 & 3);
	else if (c < 0x130)
		gcn3_put(t, " %s:%u", rows[(c - 0x100) / 16], c % 16);
	else if (c < 0x140)
		gcn3_put(t, " %s", waves[c / 4 % 4]);
	else
		gcn3_put(t, " %s", others[c % 4]);
}

void gcn3_put_dpp(struct gcn3_text *t, const struct gcn3_insn *i)
{
	put_dpp_ctrl(t, i->dpp_ctrl);
	gcn3_put(t, " row_mask:0x%x bank_mask:0x%x%s", i->row_mask, i->bank_mask,
	        i->bound_ctrl ? " bound_ctrl:1" : "");
}

/* one character a lane bit, highest first: what it becomes */
static void put_bitmask(struct gcn3_text *t, unsigned and, unsigned or, unsigned xor)
{
	unsigned of0 = or ^ xor, of1 = (and| or) ^ xor;

	gcn3_put(t, "swizzle(BITMASK_PERM,\"");
	for (unsigned bit = 16; bit; bit >>= 1) {
		if ((of0 & bit) == (of1 & bit))
			gcn3_put(t, "%c", of0 & bit ? '1' : '0');
		else
			gcn3_put(t, "%c", of0 & bit ? 'i' : 'p');
	}
	gcn3_put(t, "\")");
}

static bool power_of_two(unsigned n)
{
	return n && !(n & (n - 1));
}

/* GCN3 ISA, ds_swizzle_b32: bit 15 quad mode; otherwise and[4:0], or[9:5], xor[14:10] */
void gcn3_put_swizzle(struct gcn3_text *t, unsigned imm)
{
	unsigned and = imm & 31, or = imm >> 5 & 31, xor = imm >> 10 & 31, group = 32 - and;

	if (!imm)
		return;
	gcn3_put(t, " offset:");
	if (imm >> 8 == 0x80)
		gcn3_put(t, "swizzle(QUAD_PERM,%u,%u,%u,%u)", imm & 3, imm >> 2 & 3, imm >> 4 & 3,
		        imm >> 6 & 3);
	else if (imm >> 15)
		gcn3_put(t, "%u", imm);
	else if (and== 31 && !or &&power_of_two(xor))
		gcn3_put(t, "swizzle(SWAP,%u)", xor);
	else if (and== 31 && !or &&xor&&power_of_two(xor+1))
		gcn3_put(t, "swizzle(REVERSE,%u)", xor+1);
	else if (group > 1 && power_of_two(group) && or < group && !xor)
		gcn3_put(t, "swizzle(BROADCAST,%u,%u)", group, or);
	else
		put_bitmask(t, and, or, xor);
}

/* GCN3 ISA, MTBUF: DFMT 1 (8) and NFMT 0 (unorm) are what LLVM leaves out. */
void gcn3_put_buffer_format(struct gcn3_text *t, const struct gcn3_insn *i)
{
	static const char *const dfmt[] = {"INVALID", "8", "16", "8_8", "32", "16_16", "10_11_11",
	        "11_11_10", "10_10_10_2", "2_10_10_10", "8_8_8_8", "32_32", "16_16_16_16",
	        "32_32_32", "32_32_32_32", "RESERVED_15"};
	static const char *const nfmt[] = {
	        "UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT"};
	bool d = i->dfmt != 1, n = i->nfmt != 0;

	if (!d && !n)
		return;
	gcn3_put(t, " format:[");
	if (d)
		gcn3_put(t, "BUF_DATA_FORMAT_%s%s", dfmt[i->dfmt & 15], n ? "," : "");
	if (n)
		gcn3_put(t, "BUF_NUM_FORMAT_%s", nfmt[i->nfmt & 7]);
	gcn3_put(t, "]");
}
