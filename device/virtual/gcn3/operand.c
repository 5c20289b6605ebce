/* operand.c - inline constants and literals as each operand kind reads them.
 * Source: AMD GCN3 ISA manual, table "Scalar operands"; LLVM AMDGPU operand syntax for 64-bit
 * literals.
 */
#include "device/virtual/gcn3/operand.h"

enum { /* operand codes, GCN3 ISA manual, SSRC encoding */
	CODE_INT_0 = 128,
	CODE_INT_64 = 192,
	CODE_INT_MINUS_16 = 208,
	CODE_FLOAT_FIRST = 240,
	CODE_FLOAT_LAST = 248,
	CODE_VCCZ = 251,
	CODE_EXECZ = 252,
	CODE_SCC = 253,
};

unsigned gcn3_as_dwords(enum gcn3_as as)
{
	switch (as) {
	case GCN3_AS_NONE: return 0;
	case GCN3_AS_D:
	case GCN3_AS_L:
	case GCN3_AS_J:
	case GCN3_AS_M: return 2;
	case GCN3_AS_Q: return 4;
	default: return 1;
	}
}

bool gcn3_scalar_valid(unsigned code, unsigned dwords)
{
	if (code < GCN3_MAX_SGPRS)
		return code + dwords <= GCN3_MAX_SGPRS;
	return code <= CODE_INT_MINUS_16 || (code >= CODE_FLOAT_FIRST && code <= CODE_FLOAT_LAST) ||
	       (code >= CODE_VCCZ && code <= CODE_SCC) || code == GCN3_OPERAND_LITERAL;
}

/* 0.5 -0.5 1 -1 2 -2 4 -4 1/(2 pi) */
static uint64_t float_constant(unsigned n, enum gcn3_as as)
{
	static const uint32_t single[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000,
	        0x40000000, 0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
	static const uint16_t half[] = {
	        0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
	static const uint64_t full[] = {0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
	        0xbff0000000000000, 0x4000000000000000, 0xc000000000000000, 0x4010000000000000,
	        0xc010000000000000, 0x3fc45f306dc9c882};

	switch (as) {
	case GCN3_AS_H:
	case GCN3_AS_W:
	case GCN3_AS_X: return half[n];
	case GCN3_AS_D:
	case GCN3_AS_L:
	case GCN3_AS_J: return full[n];
	default: return single[n];
	}
}

static uint64_t int_constant(int32_t value, enum gcn3_as as)
{
	if (gcn3_as_dwords(as) == 2)
		return (uint64_t)(int64_t)value;
	return (uint32_t)value;
}

static uint64_t literal(uint32_t value, enum gcn3_as as)
{
	switch (as) {
	case GCN3_AS_D: return (uint64_t)value << 32; /* the high half of the double */
	case GCN3_AS_J: return (uint64_t)(int64_t)(int32_t)value;
	default: return value;
	}
}

uint64_t gcn3_constant(
        const struct gcn3_wave *w, const struct gcn3_insn *i, unsigned code, enum gcn3_as as)
{
	if (code <= CODE_INT_64)
		return int_constant((int32_t)code - CODE_INT_0, as);
	if (code <= CODE_INT_MINUS_16)
		return int_constant(CODE_INT_64 - (int32_t)code, as);
	switch (code) {
	case CODE_VCCZ: return gcn3_sgpr64(w, GCN3_OPERAND_VCC) == 0;
	case CODE_EXECZ: return gcn3_exec(w) == 0;
	case CODE_SCC: return w->scc;
	case GCN3_OPERAND_LITERAL: return literal(i->literal, as);
	default: return float_constant(code - CODE_FLOAT_FIRST, as);
	}
}
