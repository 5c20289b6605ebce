/* operand.h - scalar operand values (SGPR, inline constant, literal) for the SALU and VALU
 * executors. Private to gcn3/. Source: AMD GCN3 ISA manual, "Scalar ALU operands" and "Constants".
 */
#ifndef GCN3_OPERAND_H
#define GCN3_OPERAND_H

#include "device/virtual/gcn3/wave.h"

/* How an operation reads its operand; decides the width of constants. */
enum gcn3_as {
	GCN3_AS_NONE,
	GCN3_AS_U, /* 32-bit integer or bits */
	GCN3_AS_I,
	GCN3_AS_F, /* float */
	GCN3_AS_H, /* half, in bits 15:0 */
	GCN3_AS_W, /* 16-bit integer in bits 15:0 */
	GCN3_AS_X, /* the same, signed */
	GCN3_AS_D, /* double, two registers */
	GCN3_AS_L, /* 64-bit integer or bits */
	GCN3_AS_J, /* the same, signed */
	GCN3_AS_Q, /* four registers */
	GCN3_AS_M, /* one bit a lane, in a scalar register pair */
	GCN3_AS_S, /* scalar register (lane reads and writes) */
};

/* gcn3_as_dwords - registers an operand of this kind takes. */
unsigned gcn3_as_dwords(enum gcn3_as as);

/* gcn3_scalar_valid - can @code be read as @dwords scalar registers, a constant or a literal? */
bool gcn3_scalar_valid(unsigned code, unsigned dwords);

/* gcn3_constant - value of inline constants (128..248), VCCZ/EXECZ/SCC and literals, as @as reads
 * them. */
uint64_t gcn3_constant(
        const struct gcn3_wave *w, const struct gcn3_insn *i, unsigned code, enum gcn3_as as);

/* gcn3_scalar - 64-bit kinds give 64 bits, all others 32 (zero above). @code must be valid. */
static inline uint64_t gcn3_scalar(
        const struct gcn3_wave *w, const struct gcn3_insn *i, unsigned code, enum gcn3_as as)
{
	if (code >= GCN3_MAX_SGPRS)
		return gcn3_constant(w, i, code, as);
	if (as == GCN3_AS_D || as == GCN3_AS_L || as == GCN3_AS_J || as == GCN3_AS_M)
		return w->s[code] | (uint64_t)w->s[(code + 1) % GCN3_MAX_SGPRS] << 32;
	return w->s[code];
}

#endif
