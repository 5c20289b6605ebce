/* hwreg.c - values of the hardware registers a wave can read, and writes to MODE. */
#include "device/virtual/gcn3/fpmode.h"
#include "device/virtual/gcn3/hwreg.h"

enum { /* GCN3 ISA manual, "Hardware register values" */
	HW_REG_MODE = 1,
	HW_REG_STATUS = 2,
	HW_REG_TRAPSTS = 3,
	HW_REG_HW_ID = 4,
	HW_REG_GPR_ALLOC = 5,
	HW_REG_LDS_ALLOC = 6,
	HW_REG_IB_STS = 7,
};

static uint32_t status(const struct gcn3_wave *w)
{
	uint32_t execz = gcn3_exec(w) == 0, vccz = gcn3_sgpr64(w, GCN3_OPERAND_VCC) == 0;
	uint32_t in_tg = w->group->nwaves > 1;

	/* SCC[0] EXECZ[9] VCCZ[10] IN_TG[11] VALID[16], GCN3 ISA manual, "STATUS register" */
	return (uint32_t)w->scc | execz << 9 | vccz << 10 | in_tg << 11 | 1u << 16;
}

/* WAVE_ID[3:0] SIMD_ID[5:4] CU_ID[11:8] SE_ID[14:13], GCN3 ISA manual, "HW_ID". Where a group runs
 * is not modelled: it is derived from the group number, over 4 shader engines of 9 CUs
 * (polaris.md 1.4). */
static uint32_t hw_id(const struct gcn3_wave *w)
{
	uint32_t place = w->group->id[0] % 36, wave = w->wave_in_group;

	return (wave / 4 & 15) | (wave % 4) << 4 | (place / 4) << 8 | (place % 4) << 13;
}

static bool read_register(const struct gcn3_wave *w, uint32_t id, uint32_t *out)
{
	switch (id) {
	case HW_REG_MODE: *out = w->mode; return true;
	case HW_REG_STATUS: *out = status(w); return true;
	case HW_REG_TRAPSTS:
	case HW_REG_IB_STS: *out = 0; return true;
	case HW_REG_HW_ID: *out = hw_id(w); return true;
	/* VGPR_SIZE[13:8] in fours less one, SGPR_SIZE[27:24] in sixteens less one: all SGPRs a
	 * wave can have */
	case HW_REG_GPR_ALLOC: *out = ((w->nvgprs + 3) / 4 - 1) % 64 << 8 | 6u << 24; return true;
	/* LDS_SIZE[20:12] in units of 128 dwords */
	case HW_REG_LDS_ALLOC: *out = (w->group->lds_bytes + 511) / 512 << 12; return true;
	default: return false;
	}
}

static uint32_t field_mask(uint32_t field)
{
	uint32_t size = (field >> 11 & 31) + 1;

	return size == 32 ? ~0u : (1u << size) - 1;
}

enum gcn3_status gcn3_getreg(const struct gcn3_wave *w, uint32_t field, uint32_t *out)
{
	uint32_t value;

	if (!read_register(w, field & 63, &value))
		return GCN3_BAD_OPCODE;
	*out = value >> (field >> 6 & 31) & field_mask(field);
	return GCN3_OK;
}

enum gcn3_status gcn3_setreg(struct gcn3_wave *w, uint32_t field, uint32_t value)
{
	uint32_t shift = field >> 6 & 31, mask = field_mask(field) << shift, old;

	if (!read_register(w, field & 63, &old))
		return GCN3_BAD_OPCODE;
	if ((field & 63) != HW_REG_MODE)
		return GCN3_OK;
	w->mode = (w->mode & ~mask) | (value << shift & mask);
	gcn3_fp_apply(w);
	return GCN3_OK;
}
