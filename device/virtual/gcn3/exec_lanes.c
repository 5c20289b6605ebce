/* exec_lanes.c - EXEC as lanes, and the operations that move values between lanes or by M0. */
#include "device/virtual/gcn3/valu.h"
#include "device/virtual/gcn3/valu_ops.h"

const uint32_t *gcn3_exec_lanes(struct gcn3_wave *w)
{
	const uint64_t exec = gcn3_exec(w);

	if (w->exec_mask_of != exec) {
		expand_lanes(exec, w->exec_lanes);
		w->exec_mask_of = exec;
	}
	return w->exec_lanes;
}

static uint32_t lane_value(const struct gcn3_wave *w, const struct gcn3_insn *i, unsigned lane)
{
	if (i->src[0] >= GCN3_OPERAND_VGPR)
		return w->v[i->src[0] - GCN3_OPERAND_VGPR][lane];
	return (uint32_t)gcn3_scalar(w, i, i->src[0], GCN3_AS_U);
}

/* First active lane; lane 0 when none is (GCN3 ISA manual, V_READFIRSTLANE_B32). */
static unsigned first_lane(const struct gcn3_wave *w)
{
	const uint64_t exec = gcn3_exec(w);

	return exec ? (unsigned)__builtin_ctzll(exec) : 0;
}

static unsigned selected_lane(const struct gcn3_wave *w, const struct gcn3_insn *i)
{
	return gcn3_scalar(w, i, i->src[1], GCN3_AS_U) & (GCN3_LANES - 1);
}

/* v_movrels, v_movreld, v_movrelsd: M0 is added to the VGPR number of the source or destination. */
static enum gcn3_status move_relative(
        struct gcn3_wave *w, const struct gcn3_insn *i, bool source, bool destination)
{
	const uint64_t m0 = w->s[GCN3_OPERAND_M0], exec = gcn3_exec(w);
	const uint64_t to = i->dst - GCN3_OPERAND_VGPR + (destination ? m0 : 0);
	const bool vector = i->src[0] >= GCN3_OPERAND_VGPR;
	struct gcn3_insn moved = *i;

	if (i->sdwa || i->dpp || (source && !vector))
		return GCN3_BAD_OPCODE;
	if (source && i->src[0] - GCN3_OPERAND_VGPR + m0 >= w->nvgprs)
		return GCN3_BAD_OPCODE;
	if (to >= w->nvgprs)
		return GCN3_BAD_OPCODE;
	if (source)
		moved.src[0] = (uint16_t)(i->src[0] + m0);
	for (unsigned l = 0; l < GCN3_LANES; l++)
		if (exec >> l & 1)
			w->v[to][l] = lane_value(w, &moved, l);
	return GCN3_OK;
}

enum gcn3_status gcn3_exec_wave_op(struct gcn3_wave *w, const struct gcn3_insn *i)
{
	switch (i->op) {
	case GCN3_V_NOP:
	case GCN3_V_CLREXCP: return GCN3_OK; /* exception flags are not modelled */
	case GCN3_V_READFIRSTLANE_B32:
		w->s[i->dst] = lane_value(w, i, first_lane(w));
		return GCN3_OK;
	case GCN3_V_READLANE_B32:
		w->s[i->dst] = lane_value(w, i, selected_lane(w, i));
		return GCN3_OK;
	case GCN3_V_WRITELANE_B32: /* whatever EXEC says */
		w->v[i->dst - GCN3_OPERAND_VGPR][selected_lane(w, i)] =
		        (uint32_t)gcn3_scalar(w, i, i->src[0], GCN3_AS_U);
		return GCN3_OK;
	case GCN3_V_MOVRELS_B32: return move_relative(w, i, true, false);
	case GCN3_V_MOVRELD_B32: return move_relative(w, i, false, true);
	case GCN3_V_MOVRELSD_B32: return move_relative(w, i, true, true);
	default: return GCN3_BAD_OPCODE;
	}
}
