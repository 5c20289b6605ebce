/* exec_fast.c - shortcuts for the single-precision operations that training kernels consist of.
 * A shortcut runs when nothing is special: all lanes active, no modifiers, MODE as compilers set
 * it. Everything else goes to gcn3_exec_valu(), which computes the same and decides in case of
 * doubt.
 */
#include "device/virtual/gcn3/exec_mem.h"
#include "device/virtual/gcn3/fpmode.h"
#include "device/virtual/gcn3/interp.h"

/* FP_ROUND and FP_DENORM of single precision: nearest even, denormals flushed (fpmode.h) */
#define UNUSUAL_MODE (0x33u | GCN3_MODE_GPR_IDX)

static GCN3_INLINE bool usual(const struct gcn3_wave *w, const struct gcn3_insn *i)
{
	return gcn3_exec(w) == ~UINT64_C(0) && !(w->mode & UNUSUAL_MODE) && i->vgprs <= w->nvgprs;
}

static GCN3_INLINE float *row(const struct gcn3_wave *w, uint16_t code)
{
	return (float *)(void *)__builtin_assume_aligned(w->v[code - GCN3_OPERAND_VGPR], 64);
}

/* One operation with source 0 a VGPR, and one with source 0 an SGPR. d is the old destination. */
#define SHORTCUT(name, expression)                                                                 \
	GCN3_WIDE static enum gcn3_status name##_v(struct gcn3_wave *w, const struct gcn3_insn *i) \
	{                                                                                          \
		if (!usual(w, i))                                                                  \
			return gcn3_exec_valu(w, i);                                               \
		const float *a = row(w, i->src[0]), *b = row(w, i->src[1]);                        \
		float *out = row(w, i->dst);                                                       \
		for (unsigned l = 0; l < GCN3_LANES; l++) {                                        \
			float x = a[l], y = b[l], d = out[l];                                      \
			(void)d;                                                                   \
			out[l] = expression;                                                       \
		}                                                                                  \
		return GCN3_OK;                                                                    \
	}                                                                                          \
	GCN3_WIDE static enum gcn3_status name##_s(struct gcn3_wave *w, const struct gcn3_insn *i) \
	{                                                                                          \
		if (!usual(w, i))                                                                  \
			return gcn3_exec_valu(w, i);                                               \
		float x;                                                                           \
		memcpy(&x, &w->s[i->src[0]], sizeof(x));                                           \
		const float *b = row(w, i->src[1]);                                                \
		float *out = row(w, i->dst);                                                       \
		for (unsigned l = 0; l < GCN3_LANES; l++) {                                        \
			float y = b[l], d = out[l];                                                \
			(void)d;                                                                   \
			out[l] = expression;                                                       \
		}                                                                                  \
		return GCN3_OK;                                                                    \
	}

SHORTCUT(mac, x *y + d)
SHORTCUT(mul, x *y)
SHORTCUT(add, x + y)
SHORTCUT(sub, x - y)

static const struct {
	uint16_t op;
	gcn3_executor vector, scalar;
} shortcuts[] = {
        {GCN3_V_MAC_F32, mac_v, mac_s},
        {GCN3_V_MUL_F32, mul_v, mul_s},
        {GCN3_V_ADD_F32, add_v, add_s},
        {GCN3_V_SUB_F32, sub_v, sub_s},
};

gcn3_executor gcn3_shortcut(const struct gcn3_insn *i)
{
	if (i->sdwa || i->dpp || i->neg || i->abs || i->omod || i->clamp ||
	        i->vgprs > GCN3_LANES * 4 || i->src[1] < GCN3_OPERAND_VGPR)
		return gcn3_exec_valu;
	for (size_t n = 0; n < sizeof(shortcuts) / sizeof(shortcuts[0]); n++)
		if (i->op == shortcuts[n].op) {
			if (i->src[0] >= GCN3_OPERAND_VGPR)
				return shortcuts[n].vector;
			return i->src[0] < GCN3_MAX_SGPRS ? shortcuts[n].scalar : gcn3_exec_valu;
		}
	return gcn3_exec_valu;
}
