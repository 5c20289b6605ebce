/* exec_valu.c - entry of the vector executor: register checks, VGPR indexing, choice of the x86-64
 * level. */
#include "device/virtual/gcn3/valu.h"
#include "device/virtual/gcn3/valu_ops.h"

#define IMPOSSIBLE 0xffff

struct level {
	gcn3_executor run;
	gcn3_executor (*shortcut)(const struct gcn3_insn *i);
};

static struct level level = {gcn3_exec_valu_base, gcn3_valu_shortcut_base};

__attribute__((constructor)) static void choose_level(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
	        __builtin_cpu_supports("avx512vl"))
		level = (struct level){gcn3_exec_valu_v4, gcn3_valu_shortcut_v4};
	else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	         __builtin_cpu_supports("bmi2"))
		level = (struct level){gcn3_exec_valu_v3, gcn3_valu_shortcut_v3};
}

/* VGPRs that @code as @as reaches, 0 for a scalar. */
static unsigned reach(unsigned code, enum gcn3_as as)
{
	const unsigned dwords = gcn3_as_dwords(as);

	if (code >= GCN3_OPERAND_VGPR && as != GCN3_AS_M && as != GCN3_AS_S)
		return code - GCN3_OPERAND_VGPR + dwords;
	if (as == GCN3_AS_M)
		return code + 2 <= GCN3_MAX_SGPRS ? 0 : IMPOSSIBLE;
	return gcn3_scalar_valid(code, dwords) ? 0 : IMPOSSIBLE;
}

static unsigned reach_dst(const struct gcn3_insn *i, const struct valu_info *f)
{
	if (f->dst == GCN3_AS_NONE)
		return 0;
	if (f->dst == GCN3_AS_S)
		return i->dst < GCN3_MAX_SGPRS ? 0 : IMPOSSIBLE;
	return i->dst >= GCN3_OPERAND_VGPR ? reach(i->dst, f->dst) : IMPOSSIBLE;
}

uint16_t gcn3_valu_registers(const struct gcn3_insn *i)
{
	const struct valu_info *f;
	unsigned most, n;

	if (i->op >= GCN3_OP_COUNT || !gcn3_valu_info[i->op].known)
		return IMPOSSIBLE;
	f = &gcn3_valu_info[i->op];
	most = reach_dst(i, f);
	for (unsigned k = 0; k < 3; k++) {
		if (f->src[k] == GCN3_AS_NONE || (k == 2 && f->flags & VALU_ACC))
			continue;
		n = reach(i->src[k], f->src[k]);
		most = n > most ? n : most;
	}
	if (f->flags & VALU_MASK && i->sdst + 2 > GCN3_MAX_SGPRS)
		return IMPOSSIBLE;
	return most > 256 ? IMPOSSIBLE : most ? (uint16_t)most : 1;
}

/* MODE.GPR_IDX_EN: M0[7:0] is added to the VGPRs which M0[15:12] names (GCN3 ISA manual, "VGPR
 * indexing"). */
static enum gcn3_status indexed(struct gcn3_wave *w, const struct gcn3_insn *i)
{
	const uint32_t m0 = w->s[GCN3_OPERAND_M0], index = m0 & 0xff, which = m0 >> 12;
	struct gcn3_insn moved = *i;

	for (unsigned k = 0; k < 3; k++)
		if (which >> k & 1 && i->src[k] >= GCN3_OPERAND_VGPR &&
		        i->src[k] != GCN3_OPERAND_NONE)
			moved.src[k] = (uint16_t)(i->src[k] + index);
	if (which >> 3 & 1 && i->dst >= GCN3_OPERAND_VGPR && i->dst != GCN3_OPERAND_NONE)
		moved.dst = (uint16_t)(i->dst + index);
	if (gcn3_valu_registers(&moved) > w->nvgprs)
		return GCN3_BAD_OPCODE;
	return level.run(w, &moved);
}

enum gcn3_status gcn3_exec_valu(struct gcn3_wave *w, const struct gcn3_insn *i)
{
	const unsigned registers = i->vgprs ? i->vgprs : gcn3_valu_registers(i);

	if (registers > w->nvgprs)
		return GCN3_BAD_OPCODE;
	if (gcn3_valu_info[i->op].flags & VALU_WAVE)
		return gcn3_exec_wave_op(w, i);
	if (w->mode & GCN3_MODE_GPR_IDX)
		return indexed(w, i);
	return level.run(w, i);
}

gcn3_executor gcn3_valu_shortcut(const struct gcn3_insn *i)
{
	const bool modified = i->sdwa || i->dpp || i->omod || i->clamp;
	gcn3_executor shortcut = NULL;

	if (!modified && i->vgprs && gcn3_valu_registers(i) != IMPOSSIBLE)
		shortcut = level.shortcut(i);
	return shortcut ? shortcut : gcn3_exec_valu;
}
