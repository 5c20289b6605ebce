/* gfx8.c - the graphics core's constants for compute on VMID 0 (polaris.md 13.4). The SMU has
 * loaded the microcode before (13.3). */
#include <stdlib.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/cp/cp_priv.h"
#include "device/err.h"
#include "device/regs/regs.h"
#include "device/regs/smc.h"

#define SHADER_ENGINES       4 /* polaris.md 1.4 */
#define CUS_PER_ENGINE       9
#define GFX_INDEX_ALL        0xE0000000u /* polaris.md 1.4 */
#define GB_ADDR_CONFIG_VALUE 0x22011003u /* polaris.md 1.4; ROW_SIZE[29:28] is replaced */
#define ROW_SIZE_SHIFT       28
/* MC_ARB_RAMCFG [7:6] (Linux gmc_8_1_sh_mask.h); columns = 2^(8 + n): polaris.md 1.4 */
#define NOOFCOLS(v) ((v) >> 6 & 3)
/* polaris.md 6.2: unaligned access, L2 on (MTYPE NC), aperture 1 uncached */
#define SH_MEM_CONFIG_VALUE 0x338u
#define SH_MEM_BASES_VALUE  0x20002000u /* LDS and scratch apertures at 0x2.. : polaris.md 6.2 */
#define SH_STATIC_MEM       0x1Bu       /* polaris.md 6.2 */
/* PIPE_ORDER_TS0..3 = 2 (polaris.md 6.2) in 3-bit fields (Linux gfx_8_0_sh_mask.h,
 * SPI_ARB_PRIORITY) */
#define SPI_ORDERS_MASK   0xFFFu
#define SPI_ORDERS        (2u | 2u << 3 | 2u << 6 | 2u << 9)
#define GRBM_READ_TIMEOUT 0xFFu       /* polaris.md 6.2 */
#define CP_ME_HALTED      0x15000000u /* polaris.md 6.4: ME, PFP, CE */
#define CP_MEC_HALTED     0x50000000u
#define PIPES_USED        2                    /* plan and service queue: resident-plans.md 8 */
#define CP_SETTLE_US      50                   /* polaris.md 6.4 */
#define IH_ENABLES        (1u << 0 | 1u << 17) /* RB_ENABLE, ENABLE_INTR: polaris.md 11.1 */
#define IH_DOORBELL       (1u << 28)           /* ENABLE: polaris.md 11.1 */
#define SDMA_HALT         1u                   /* polaris.md 8.1 */
#define MEC_IDLE_MS       100                  /* ours: 13.5 step 47 names no time */
#define WPTR_POLL_EN      (1u << 31)           /* polaris.md 6.5 */

#define ACLK_DIVIDER_MASK 0x7Fu /* CG_ACLK_CNTL: polaris.md 5.3 */
#define ACLK_DIVIDER      0x18u

/* polaris.md 5.2 and 5.3, the rows compute needs */
static const struct reg_golden golden[] = {
        {REG_ATC_MISC_CG, 0x000C0FC0, 0x000C0200},
        {REG_SQ_CONFIG, 0x07F80000, 0x07180000},
        {REG_TA_CNTL_AUX, 0x000F000F, 0x000B0000},
        {REG_TCC_CTRL, 0x00100000, 0xF31FFF7F},
        {REG_TCP_ADDR_CONFIG, 0x000003FF, 0x000000F7},
        {REG_TCP_CHAN_STEER_HI, 0xFFFFFFFF, 0x00000000},
        {REG_RLC_CGCG_CGLS_CTRL, 0x00000003, 0x0001003C},
        {REG_RLC_CGCG_CGLS_CTRL_3D, 0xFFFFFFFF, 0x0001003C},
        {REG_GRBM_GFX_INDEX, 0xFFFFFFFF, GFX_INDEX_ALL},
        {REG_SPI_RESOURCE_RESERVE_CU_0, 0xFFFFFFFF, 0x00000800},
        {REG_SPI_RESOURCE_RESERVE_CU_1, 0xFFFFFFFF, 0x00000800},
        {REG_SPI_RESOURCE_RESERVE_EN_CU_0, 0xFFFFFFFF, 0x00FF7FBF},
        {REG_SPI_RESOURCE_RESERVE_EN_CU_1, 0xFFFFFFFF, 0x00FF7FAF},
};

int cp_new(struct cp **out, struct mmio *mmio, struct gmc *gmc)
{
	struct cp *cp = calloc(1, sizeof(*cp));

	if (!cp)
		return -ENOMEM;
	cp->mmio = mmio;
	cp->gmc = gmc;
	*out = cp;
	return 0;
}

void cp_free(struct cp *cp)
{
	free(cp);
}

unsigned cp_compute_units(const struct cp *cp)
{
	return cp->compute_units;
}

/* address_config - step 36; the DRAM's row size decides ROW_SIZE (polaris.md 1.4). */
static int address_config(struct cp *cp)
{
	uint32_t ramcfg;
	int err = reg_read(cp->mmio, REG_MC_ARB_RAMCFG, &ramcfg);

	if (err)
		return err;
	uint32_t row_kib = MIN((4u << (8 + NOOFCOLS(ramcfg))) / 1024, 4u);
	uint32_t row_size = row_kib == 4 ? 2 : row_kib == 2 ? 1 : 0;
	uint32_t config =
	        (GB_ADDR_CONFIG_VALUE & ~(3u << ROW_SIZE_SHIFT)) | row_size << ROW_SIZE_SHIFT;
	const struct reg_value list[] = {
	        {REG_GB_ADDR_CONFIG, config},
	        {REG_HDP_ADDR_CONFIG, config},
	        {REG_DMIF_ADDR_CALC, config},
	};

	return reg_ensure_list(cp->mmio, list, ARRAY_SIZE(list));
}

/* count_units - step 37, polaris.md 1.4 */
static int count_units(struct cp *cp)
{
	int err = 0;

	cp->compute_units = 0;
	for (unsigned se = 0; se < SHADER_ENGINES && !err; se++) {
		uint32_t fused = 0, user = 0;

		err = reg_select_se(cp->mmio, se);
		if (!err)
			err = reg_read(cp->mmio, REG_CC_GC_SHADER_ARRAY_CONFIG, &fused);
		if (!err)
			err = reg_read(cp->mmio, REG_GC_USER_SHADER_ARRAY_CONFIG, &user);
		uint32_t active = ~((fused | user) >> 16) & ((1u << CUS_PER_ENGINE) - 1);

		cp->compute_units += (unsigned)__builtin_popcount(active);
	}
	int restore = reg_select_all(cp->mmio);

	if (!restore)
		restore = reg_check(cp->mmio, REG_GRBM_GFX_INDEX, 0xFFFFFFFF, GFX_INDEX_ALL);
	if (!err && !restore && !cp->compute_units)
		return rx_fail("cp", -EIO,
		        "CC_GC_SHADER_ARRAY_CONFIG: no compute unit is active, expected 36 or 32: "
		        "the graphics core does not answer");
	return err ? err : restore;
}

/* memory_model - step 39 for VMID 0, the only one in use */
static int memory_model(struct cp *cp)
{
	const struct reg_value list[] = {
	        {REG_SH_MEM_CONFIG, SH_MEM_CONFIG_VALUE},
	        {REG_SH_MEM_BASES, SH_MEM_BASES_VALUE},
	        {REG_SH_MEM_APE1_BASE, 1}, /* base above limit: off */
	        {REG_SH_MEM_APE1_LIMIT, 0},
	        {REG_SH_HIDDEN_PRIVATE_BASE_VMID, 0},
	};
	int err = reg_select(cp->mmio, 0, 0, 0, 0);

	if (!err)
		err = reg_ensure_list(cp->mmio, list, ARRAY_SIZE(list));
	int restore = reg_deselect(cp->mmio);

	return err ? err : restore;
}

/* interrupts_off - polaris.md 11.2: nothing of the card may write outside its own memory */
static int interrupts_off(struct cp *cp)
{
	const struct reg_value list[] = {
	        {REG_CP_INT_CNTL_RING0, 0},
	        {REG_CP_ME1_PIPE0_INT_CNTL, 0},
	        {REG_CP_ME1_PIPE1_INT_CNTL, 0},
	        {REG_CP_ME1_PIPE2_INT_CNTL, 0},
	        {REG_CP_ME1_PIPE3_INT_CNTL, 0},
	        {REG_CP_ME2_PIPE0_INT_CNTL, 0},
	        {REG_CP_ME2_PIPE1_INT_CNTL, 0},
	        {REG_CP_ME2_PIPE2_INT_CNTL, 0},
	        {REG_CP_ME2_PIPE3_INT_CNTL, 0},
	        {REG_BIF_DOORBELL_APER_EN, 0},
	};
	int err = reg_update(cp->mmio, REG_IH_RB_CNTL, IH_ENABLES, 0);

	if (!err)
		err = reg_update(cp->mmio, REG_IH_DOORBELL_RPTR, IH_DOORBELL, 0);
	if (!err) /* loaded, and not to run: an engine that halts traps nobody */
		err = reg_update(cp->mmio, REG_SDMA0_F32_CNTL, SDMA_HALT, SDMA_HALT);
	if (!err)
		err = reg_update(cp->mmio, REG_SDMA1_F32_CNTL, SDMA_HALT, SDMA_HALT);
	return err ? err : reg_ensure_list(cp->mmio, list, ARRAY_SIZE(list));
}

/* run_mec - steps 43, 46, 47; the graphics engines stay halted */
static int run_mec(struct cp *cp)
{
	int err = reg_update(cp->mmio, REG_CP_ME_CNTL, CP_ME_HALTED, CP_ME_HALTED);

	if (!err)
		err = reg_update(cp->mmio, REG_CP_PQ_WPTR_POLL_CNTL, WPTR_POLL_EN, 0);
	if (!err)
		err = reg_update(cp->mmio, REG_CP_MEC_CNTL, CP_MEC_HALTED, 0);
	sleep_us(CP_SETTLE_US);
	return err;
}

/* clean_queues - step 48, on the pipes this driver uses. A queue left running would go on fetching
 * from memory that is about to hold something else. */
static int clean_queues(struct cp *cp)
{
	int err = 0;

	for (unsigned pipe = 0; pipe < PIPES_USED && !err; pipe++)
		err = cp_stop_leftover(cp, pipe);
	return err;
}

/* see_mec_idle - step 47: a MEC without microcode stays busy. The ring tests judge. */
static int see_mec_idle(struct cp *cp)
{
	uint32_t status = 0;
	int err = reg_wait(cp->mmio, REG_CP_CPC_STATUS, 0xFFFFFFFF, 0, MEC_IDLE_MS, &status);

	if (err != -ETIMEDOUT)
		return err;
	rx_log(LOG_WARN, "cp",
	        "CP_CPC_STATUS reads 0x%08x for %d ms, expected 0: is MEC's microcode loaded? "
	        "going on",
	        status, MEC_IDLE_MS);
	return 0;
}

int cp_start(struct cp *cp, bool fresh)
{
	const struct reg_value constants[] = {
	        {REG_GRBM_CNTL, GRBM_READ_TIMEOUT},
	        {REG_SH_STATIC_MEM_CONFIG, SH_STATIC_MEM},
	};
	int err = reg_golden_list(cp->mmio, golden, ARRAY_SIZE(golden)); /* 35 */

	if (!err)
		err = smc_update(cp->mmio, IX_CG_ACLK_CNTL, ACLK_DIVIDER_MASK, ACLK_DIVIDER);
	if (!err)
		err = address_config(cp); /* 36 */
	if (!err)
		err = count_units(cp); /* 37 */
	if (!err)
		err = reg_ensure_list(cp->mmio, constants, ARRAY_SIZE(constants)); /* 38 */
	if (!err)
		err = reg_update(
		        cp->mmio, REG_SPI_ARB_PRIORITY, SPI_ORDERS_MASK, SPI_ORDERS); /* 38 */
	if (!err)
		err = memory_model(cp); /* 39 */
	if (!err)
		err = interrupts_off(cp); /* 40 */
	if (!err)
		err = fresh ? rlc_restart(cp) : rlc_ensure(cp); /* 41, 42 */
	if (!err)
		err = run_mec(cp); /* 43, 46, 47 */
	if (!err)
		err = clean_queues(cp); /* 48 */
	if (!err)
		err = see_mec_idle(cp); /* 47 */
	if (!err)
		rx_log(LOG_INFO, "cp", "%u compute units", cp->compute_units);
	return err;
}

void cp_stop(struct cp *cp)
{
	reg_update(cp->mmio, REG_CP_MEC_CNTL, CP_MEC_HALTED, CP_MEC_HALTED);
}
