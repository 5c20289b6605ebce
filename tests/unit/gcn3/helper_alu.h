/* helper_alu.h - one wave without memory, for tests of the scalar and vector ALU. */
#ifndef HELPER_ALU_H
#define HELPER_ALU_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/virtual/gcn3/wave.h"

#define ALU_VGPRS   32
#define ALU_FB_BASE UINT64_C(0xf400000000)
/* FP32 denormals flushed, others kept; DX10_CLAMP; IEEE (engine-notes.md, "Command lines") */
#define ALU_MODE    0x3c0u
#define ALU_KEEP_32 0x30u /* MODE: single-precision denormals kept */
#define ALU_IEEE    0x200u

struct alu {
	struct gcn3_wave w;
	struct gcn3_group g;
	uint32_t v[ALU_VGPRS + 1][GCN3_LANES] __attribute__((aligned(64))); /* one row of guard */
};

/* alu_init - EXEC full, MODE as compilers set it, other registers 0. */
void alu_init(struct alu *t);
void alu_exec(struct alu *t, uint64_t exec);

/* alu_run - execute one instruction as the wave loop does. */
enum gcn3_status alu_run(struct alu *t, const struct gcn3_insn *i);

/* Operand codes */
#define V(n)          ((uint16_t)(GCN3_OPERAND_VGPR + (n)))
#define S(n)          ((uint16_t)(n))
#define INT(n)        ((uint16_t)((n) >= 0 ? 128 + (n) : 192 - (n)))
#define VCC           GCN3_OPERAND_VCC
#define EXEC          GCN3_OPERAND_EXEC
#define M0            GCN3_OPERAND_M0
#define LITERAL       GCN3_OPERAND_LITERAL
#define NONE          GCN3_OPERAND_NONE
#define FLOAT_HALF    240
#define FLOAT_ONE     242
#define FLOAT_TWO     244
#define FLOAT_FOUR    246
#define FLOAT_INV_2PI 248

/* Instructions; absent sources are NONE. The VALU forms write VCC as lane mask unless changed. */
struct gcn3_insn alu_salu(
        enum gcn3_format format, enum gcn3_op op, uint16_t dst, uint16_t a, uint16_t b);
struct gcn3_insn alu_valu(enum gcn3_op op, uint16_t dst, uint16_t a, uint16_t b, uint16_t c);

/* Set one VGPR in all lanes. */
void alu_fill(struct alu *t, unsigned reg, uint32_t value);
void alu_fill64(struct alu *t, unsigned reg, uint64_t value);
uint64_t alu_wide(const struct alu *t, unsigned reg, unsigned lane);

/* One VALU operation on the same three dwords in all lanes (v1, v2, v3 to v0); the result of
 * lane 5. */
uint32_t alu_op(struct alu *t, enum gcn3_op op, uint32_t a, uint32_t b, uint32_t c);
/* The same with 64-bit values in v[2:3], v[4:5], v[6:7] to v[0:1]. */
uint64_t alu_op64(struct alu *t, enum gcn3_op op, uint64_t a, uint64_t b, uint64_t c);

uint32_t alu_random(uint32_t *state);
/* Floats of all classes: zeros, denormals, limits, NaNs, and ordinary ones. */
uint32_t alu_random_float(uint32_t *state);
float alu_float(uint32_t bits);
uint32_t alu_bits(float f);
double alu_double(uint64_t bits);
uint64_t alu_bits64(double d);

#define check_equal(what, lane, got, want)                                                         \
	do {                                                                                       \
		const unsigned long long got_ = (unsigned long long)(got);                         \
		const unsigned long long want_ = (unsigned long long)(want);                       \
		if (got_ != want_)                                                                 \
			fail_msg("%s, %u: expected 0x%llx, got 0x%llx", what, (unsigned)(lane),    \
			        want_, got_);                                                      \
	} while (0)

#endif
