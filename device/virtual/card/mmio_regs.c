/* mmio_regs.c - which registers exist and what they hold after a reset. Everything the driver's
 * bring-up may touch is here (polaris.md 13), what only the VBIOS touches in post_regs.c; any other
 * offset is undefined: a guest error.
 */
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/card/card_priv.h"

struct range {
	uint32_t first, last; /* inclusive, bytes */
};

/* Rows of registers of which regs.h names the first only. */
static const struct range more_storage[] = {
        {REG_BIOS_SCRATCH_0, REG_BIOS_SCRATCH_0 + 15 * 4}, /* polaris.md 1.5 */
        {REG_VM_CONTEXT0_PAGE_TABLE_BASE_ADDR,
                REG_VM_CONTEXT0_PAGE_TABLE_BASE_ADDR + 7 * 4}, /* 3.2 */
        {REG_VM_CONTEXT8_PAGE_TABLE_BASE_ADDR, REG_VM_CONTEXT8_PAGE_TABLE_BASE_ADDR + 7 * 4},
        {REG_CP_ME1_PIPE0_INT_STATUS, REG_CP_ME1_PIPE0_INT_STATUS + 3 * 4}, /* 11.3 */
        {REG_SCRATCH_REG0, REG_SCRATCH_REG0 + 7 * 4},                       /* 6.10 */
};

/* Indirect windows into, and ports of, blocks that are absent at this level: they answer nothing.
 */
static const struct range undefined[] = {
        {REG_SQ_IND_DATA, REG_SQ_IND_DATA},
        {REG_SDMA0_UCODE_ADDR, REG_SDMA0_UCODE_DATA},
        {REG_SDMA1_UCODE_ADDR, REG_SDMA1_UCODE_DATA},
        {REG_CP_PFP_UCODE_ADDR, REG_CP_MEC_ME2_UCODE_DATA},
        {REG_RLC_GPM_UCODE_ADDR, REG_RLC_GPM_UCODE_DATA},
};

/* Status, straps, and registers of blocks that are absent: they read, a write is a guest error. */
static const struct range read_only[] = {
        {REG_SRBM_STATUS2, REG_SRBM_STATUS},
        {REG_SRBM_READ_ERROR, REG_SRBM_READ_ERROR},
        {REG_VM_L2_STATUS, REG_VM_L2_STATUS},
        {REG_VM_INVALIDATE_RESPONSE, REG_VM_INVALIDATE_RESPONSE},
        {REG_VM_CONTEXT0_PROTECTION_FAULT_STATUS, REG_VM_CONTEXT1_PROTECTION_FAULT_ADDR},
        {REG_PCIE_EFUSE4, REG_PCIE_EFUSE4},
        {REG_CC_BIF_BX_FUSESTRAP0, REG_CC_BIF_BX_FUSESTRAP0},
        {REG_BACO_CNTL, REG_BACO_CNTL},
        {REG_GPU_HDP_FLUSH_DONE, REG_GPU_HDP_FLUSH_DONE},
        {REG_GENERIC_I2C_STATUS, REG_GENERIC_I2C_STATUS},
        {REG_GRBM_STATUS2, REG_GRBM_STATUS_SE1},
        {REG_GRBM_READ_ERROR, REG_GRBM_READ_ERROR},
        {REG_CP_CPC_STATUS, REG_CP_CPF_STALLED_STAT1},
        {REG_CP_BUSY_STAT, REG_CP_STAT},
        {REG_CP_RB0_RPTR, REG_CP_RB0_RPTR},
        {REG_CC_GC_SHADER_ARRAY_CONFIG, REG_CC_GC_SHADER_ARRAY_CONFIG},
        {REG_SQ_IND_INDEX, REG_SQ_IND_INDEX},
        {REG_CC_RB_BACKEND_DISABLE, REG_CC_RB_BACKEND_DISABLE},
        {REG_COMPUTE_DISPATCH_INITIATOR, REG_COMPUTE_USER_DATA_15}, /* packets write them */
        {REG_CP_RB0_WPTR, REG_CP_RB0_WPTR},
        {REG_SDMA0_STATUS_REG, REG_SDMA0_STATUS_REG},
        {REG_SDMA0_GFX_RB_CNTL, REG_SDMA0_GFX_RB_WPTR},
        {REG_CP_WAIT_REG_MEM_TIMEOUT, REG_CP_WAIT_REG_MEM_TIMEOUT},
        {REG_RLC_GPU_CLOCK_COUNT_LSB, REG_RLC_GPU_CLOCK_COUNT_MSB},
        {REG_RLC_GPM_STAT, REG_RLC_GPM_STAT},
        {REG_RLC_SERDES_CU_MASTER_BUSY, REG_RLC_SERDES_NONCU_MASTER_BUSY},
};

static const struct range special[] = {
        {REG_VM_CONTEXT1_CNTL2, REG_VM_CONTEXT1_CNTL2},
        {REG_VM_INVALIDATE_REQUEST, REG_VM_INVALIDATE_REQUEST},
        {REG_HDP_DEBUG0, REG_HDP_DEBUG0},
        {REG_HDP_MEM_COHERENCY_FLUSH_CNTL, REG_HDP_MEM_COHERENCY_FLUSH_CNTL},
        {REG_GPU_HDP_FLUSH_REQ, REG_GPU_HDP_FLUSH_REQ},
        {REG_RLC_CAPTURE_GPU_CLOCK_COUNT, REG_RLC_CAPTURE_GPU_CLOCK_COUNT},
        {REG_RLC_SAFE_MODE, REG_RLC_SAFE_MODE},
};

static const struct range control[] = {
        {REG_GC_CAC_IND_INDEX, REG_GC_CAC_IND_DATA},
        {REG_DIDT_IND_INDEX, REG_DIDT_IND_DATA},
        {REG_MM_INDEX, REG_MM_DATA},
        {REG_MM_INDEX_HI, REG_MM_INDEX_HI},
        {REG_SMC_IND_INDEX_0, REG_SMC_IND_DATA_1},
        {REG_SMC_IND_ACCESS_CNTL, REG_SMC_IND_ACCESS_CNTL},
        {REG_SMC_MESSAGE_0, REG_SMC_RESP_0},
        {REG_SMC_MSG_ARG_0, REG_SMC_MSG_ARG_0},
        {REG_SMC_IND_INDEX_11, REG_SMC_IND_DATA_11},
        {REG_SRBM_GFX_CNTL, REG_SRBM_GFX_CNTL},
        {REG_SRBM_SOFT_RESET, REG_SRBM_SOFT_RESET},
        {REG_MC_VM_FB_LOCATION, REG_MC_VM_FB_LOCATION},
        {REG_BIF_FB_EN, REG_BIF_FB_EN},
        {REG_GRBM_SOFT_RESET, REG_GRBM_SOFT_RESET},
        {REG_CP_MEC_CNTL, REG_CP_MEC_CNTL},
        {REG_CP_ME_CNTL, REG_CP_ME_CNTL},
        {REG_RLC_CNTL, REG_RLC_CNTL},
        {REG_SDMA0_F32_CNTL, REG_SDMA0_F32_CNTL},
        {REG_SDMA1_F32_CNTL, REG_SDMA1_F32_CNTL},
        {REG_SQ_CMD, REG_SQ_CMD},
};

static const struct range sh_mem[] = {
        {REG_SH_MEM_BASES, REG_SH_MEM_CONFIG},
        {REG_SH_HIDDEN_PRIVATE_BASE_VMID, REG_SH_HIDDEN_PRIVATE_BASE_VMID},
};

static const struct range hqd[] = {{HQD_FIRST, HQD_LAST}};

/* @only_defined: narrow the meaning of registers that exist; else define every dword of the ranges.
 */
static void mark(uint8_t *kind, const struct range *r, size_t n, enum reg_kind k, bool only_defined)
{
	for (size_t i = 0; i < n; i++)
		for (uint32_t off = r[i].first; off <= r[i].last; off += 4)
			if (!only_defined || kind[off / 4] != REG_UNDEFINED)
				kind[off / 4] = (uint8_t)k;
}

void card_mmio_regs_define(uint8_t kind[CARD_MMIO_DWORDS])
{
	static const uint32_t named[] = {
#define X(name, offset) offset,
	        RX_REGISTERS(X)
#undef X
	};

	memset(kind, REG_UNDEFINED, CARD_MMIO_DWORDS);
	for (size_t i = 0; i < ARRAY_SIZE(named); i++)
		kind[named[i] / 4] = REG_STORE;
	mark(kind, more_storage, ARRAY_SIZE(more_storage), REG_STORE, false);
	for (uint32_t i = 0; i < 32 * 6; i++) /* HDP surfaces, five of six dwords: polaris.md 3.3 */
		if (i % 6 != 5)
			kind[REG_HDP_SURFACE_FIRST / 4 + i] = REG_STORE;
	mark(kind, read_only, ARRAY_SIZE(read_only), REG_READ_ONLY, true);
	mark(kind, special, ARRAY_SIZE(special), REG_SPECIAL, true);
	mark(kind, control, ARRAY_SIZE(control), REG_CONTROL, true);
	mark(kind, sh_mem, ARRAY_SIZE(sh_mem), REG_BANKED_SH_MEM, true);
	mark(kind, hqd, ARRAY_SIZE(hqd), REG_BANKED_HQD, false);
	card_post_regs_define(kind);
	mark(kind, undefined, ARRAY_SIZE(undefined), REG_UNDEFINED, true);
}

struct value {
	uint32_t off, value;
};

/* What is so from power-on. */
static const struct value cold[] = {
        {REG_PCIE_EFUSE4, 0x00067DF0},    /* 1.1: device id strap, revision 0 */
        {REG_GB_ADDR_CONFIG, 0x22011003}, /* 14.11 */
        {REG_GRBM_GFX_INDEX, 0xE0000000}, /* 6.1 */
        {REG_CP_MEC_CNTL, 0x50000000},    /* 6.4: both halted */
        {REG_CP_ME_CNTL, 0x15000000},
        {REG_RLC_GPM_STAT, 0x3},     /* 14.4: clock and power on */
        {REG_SDMA0_STATUS_REG, 0x1}, /* 8.1: idle */
        {REG_SDMA0_F32_CNTL, 0x1},   /* 8.1: halted */
        {REG_SDMA1_F32_CNTL, 0x1},
};

/* What ASIC_Init leaves behind. */
static const struct value posted[] = {
        {REG_BIOS_SCRATCH_7, 0x200},           /* ASIC init complete: polaris.md 1.5 */
        {REG_MM_INDEX_HI, 3},                  /* 2.5 */
        {REG_MC_SHARED_CHMAP, 0x3000},         /* 14.4 */
        {REG_MC_ARB_RAMCFG, 0xA1},             /* 1.4: NOOFCOLS 2, i.e. rows of 4 KiB */
        {REG_BIF_FB_EN, 3},                    /* 2.5 */
        {REG_HDP_NONSURFACE_BASE, 0xF4000000}, /* 2.5 */
};

static void set(struct vcard *c, const struct value *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		c->reg[v[i].off / 4] = v[i].value;
}

void card_mmio_regs_reset(struct vcard *c)
{
	uint32_t vram_mb = (uint32_t)(vmem_size(c->mem) >> 20);
	uint32_t base = 0xF400; /* FB base >> 24: polaris.md 2.5 */

	memset(c->reg, 0, sizeof(c->reg));
	set(c, cold, ARRAY_SIZE(cold));
	if (c->opt.cold)
		return;
	set(c, posted, ARRAY_SIZE(posted));
	c->reg[REG_CONFIG_MEMSIZE / 4] = vram_mb;
	c->reg[REG_MC_VM_FB_LOCATION / 4] =
	        (base + (vram_mb >> 4) - 1) << 16 | base; /* 16 MiB units */
}
