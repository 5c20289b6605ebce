/* dpm.c - power management on and off: polaris.md 10.5, in its order, numbers as there. */
#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"
#include "device/regs/regs.h"
#include "device/regs/smc.h"
#include "device/smu/smu_priv.h"

/* GENERAL_PWRMGT: values of the stock driver's trace, phases pp_setup to didt */
#define GLOBAL_PWRMGT_EN       (1u << 0)
#define STATIC_PM_EN           (1u << 1)
#define THERMAL_PROTECTION_DIS (1u << 2)
#define VOLT_PWRMGT_EN         (1u << 10)
#define DYN_SPREAD_SPECTRUM_EN (1u << 23)
/* SCLK_PWRMGT_CNTL: smu_7_1_3_sh_mask.h */
#define SCLK_PWRMGT_OFF (1u << 0)
#define RESET_BUSY_CNT  (1u << 4)
#define RESET_SCLK_CNT  (1u << 5)
#define DYNAMIC_PM_EN   (1u << 21)
/* others: polaris.md 10.5, values as in the trace */
#define STATIC_SCREEN_MASK        0x000FFFFFu /* unit 19:16, threshold 15:0 */
#define STATIC_SCREEN             0x000000C8u
#define DISPLAY_GAP_MASK          0x03000003u /* DISP_GAP_MCHG 25:24, DISP_GAP 1:0 */
#define DISPLAY_GAP               0x01000003u /* vertical blank, ignore */
#define PSI1_PSI0_EN              0x60u       /* PWR_SVI2_PLANE1_LOAD: smu7_hwmgr.c */
#define CG_ULV_PARAMETER          0x00040035u /* polaris.md 10.6 */
#define PWR_CKS_DISABLE           1u          /* PWR_CKS_CNTL bit 0, cleared */
#define VOLTAGE_CHANGE_TIMEOUT    0x1000u
#define VCE_SCLK_NO_HANDSHAKE     0x20000u   /* SoftRegisters.HandshakeDisables: polaris.md 10.3 */
#define UVD_VCE_MCLK_NO_HANDSHAKE 0x10100u   /* amdgpu-oracle.md 7 item 6 */
#define CAC_EN                    (1u << 31) /* MC_SEQ_CNTL_3 */
#define DPM_EVENT_SRC             7u         /* CG_THERMAL_CTRL */
/* smu7_hwmgr.c, enum DPM_EVENT_SRC, and the trace; polaris.md 10.5 step 23 says 0 */
#define DPM_EVENT_SRC_DIGITAL 2u
/* MC arbiter: polaris.md 10.5 step 8, amdgpu-oracle.md 7 */
#define BURST_STATE1  (0x1Fu << 5)
#define MC_CG_REQUEST 0xFu
#define CG_ARB_REQ    0xFFu
#define ARB_SET_F1    0x0Bu

/* step 6 */
static const uint32_t voting[] = {0x3FFFC102, 0x00000400, 0x00C00080, 0x00C00200, 0x00C01680,
        0x00C00033, 0x00C00033, 0x3FFFC000};

static int update(struct smu *s, uint32_t ix, uint32_t mask, uint32_t value)
{
	return smc_update(s->mmio, ix, mask, value);
}

static int send(struct smu *s, const struct smu_dpm *d, enum ppsmc_msg id)
{
	(void)d;
	return smu_message(s, id);
}

/* ---- steps 1 to 8 ---- */

static int prepare_clocks(struct smu *s)
{
	int err = smu_message(s, PPSMC_MSG_DisableFFC); /* amdgpu-oracle.md 7 item 13 */

	if (!err) /* 1, 3 */
		err = update(s, IX_GENERAL_PWRMGT,
		        STATIC_PM_EN | VOLT_PWRMGT_EN | DYN_SPREAD_SPECTRUM_EN |
		                THERMAL_PROTECTION_DIS,
		        STATIC_PM_EN | VOLT_PWRMGT_EN | DYN_SPREAD_SPECTRUM_EN);
	if (!err) /* 4 */
		err = update(s, IX_CG_STATIC_SCREEN_PARAMETER, STATIC_SCREEN_MASK, STATIC_SCREEN);
	if (!err) /* 5 */
		err = update(s, IX_CG_DISPLAY_GAP_CNTL, DISPLAY_GAP_MASK, DISPLAY_GAP);
	if (!err) /* 6 */
		err = update(s, IX_SCLK_PWRMGT_CNTL, RESET_SCLK_CNT | RESET_BUSY_CNT, 0);
	return err ? err
	           : smc_write_run(s->mmio, IX_CG_FREQ_TRAN_VOTING_0, voting, ARRAY_SIZE(voting));
}

/* switch_arbiter - step 8: the running set becomes the second, and that runs. */
static int switch_arbiter(struct smu *s)
{
	uint32_t timing, timing2, burst;
	int err = reg_read(s->mmio, REG_MC_ARB_DRAM_TIMING, &timing);

	if (!err)
		err = reg_read(s->mmio, REG_MC_ARB_DRAM_TIMING2, &timing2);
	if (!err)
		err = reg_read(s->mmio, REG_MC_ARB_BURST_TIME, &burst);
	if (!err)
		err = reg_write(s->mmio, REG_MC_ARB_DRAM_TIMING_1, timing);
	if (!err)
		err = reg_write(s->mmio, REG_MC_ARB_DRAM_TIMING2_1, timing2);
	if (!err)
		err = reg_write(s->mmio, REG_MC_ARB_BURST_TIME,
		        (burst & ~BURST_STATE1) | BURST_STATE0(burst) << 5);
	if (!err)
		err = reg_update(s->mmio, REG_MC_CG_CONFIG, MC_CG_REQUEST, MC_CG_REQUEST);
	return err ? err : reg_update(s->mmio, REG_MC_ARB_CG, CG_ARB_REQ, ARB_SET_F1);
}

/* ---- step 10: tables ---- */

static int upload_avfs(struct smu *s, const struct smu_tables *t)
{
	if (!s->header.avfs_mean_n_sigma || !s->header.avfs_sclk_offsets)
		return rx_fail("smu", -EPROTO,
		        "the chip has AVFS, but this firmware names no tables for it");
	int err = smc_write_bytes(
	        s->mmio, s->header.avfs_mean_n_sigma, t->mean_n_sigma, sizeof(t->mean_n_sigma));

	return err ? err
	           : smc_write_bytes(s->mmio, s->header.avfs_sclk_offsets, t->sclk_offsets,
	                     sizeof(t->sclk_offsets));
}

static int upload_tables(struct smu *s, const struct smu_dpm *d)
{
	const struct smu_tables *t = d->tables;
	int err = t->ulv ? smc_write(s->mmio, IX_CG_ULV_PARAMETER, CG_ULV_PARAMETER) : 0;

	if (!err)
		err = smc_write_bytes(
		        s->mmio, s->header.mc_arb_table, t->mc_arb, sizeof(t->mc_arb));
	if (!err)
		err = update(s, IX_PWR_CKS_CNTL, PWR_CKS_DISABLE, 0);
	if (!err && t->avfs)
		err = upload_avfs(s, t);
	if (!err)
		err = smc_write_bytes(s->mmio, s->header.dpm_table + SMU74_DPM_UPLOAD_FROM,
		        t->dpm + SMU74_DPM_UPLOAD_FROM,
		        SMU74_DPM_TABLE_BYTES - SMU74_DPM_UPLOAD_FROM);
	return err ? err
	           : smc_write_bytes(
	                     s->mmio, s->header.pm_fuse_table, t->pm_fuses, sizeof(t->pm_fuses));
}

/* ---- steps 11 to 17 ---- */

static int vr_hot(struct smu *s, const struct smu_dpm *d)
{
	return d->tables->vr_hot ? smu_message(s, PPSMC_MSG_EnableVRHotGPIOInterrupt) : 0;
}

/* display - 12: the stock driver says so also without one. */
static int display(struct smu *s, const struct smu_dpm *d)
{
	int err = smu_message_arg(s, PPSMC_MSG_SetVBITimeout, 0);

	return err ? err : send(s, d, PPSMC_MSG_HasDisplay);
}

/* edc - 13: with the board's own tables, if its GFX_Info names some; else off (smu7_hwmgr.c,
 * smu7_populate_edc_leakage_registers). A firmware without it answers "unknown". */
static int edc(struct smu *s, const struct smu_dpm *d)
{
	if (!d->kicker)
		return 0;
	int err = d->edc ? smu_write_edc(s, d->edc) : 0;

	if (!err)
		err = send(s, d,
		        d->edc ? PPSMC_MSG_EnableEDCController : PPSMC_MSG_DisableEDCController);
	if (err == -EOPNOTSUPP) {
		rx_log(LOG_INFO, "smu", "the firmware has no EDC controller; going on without");
		return 0;
	}
	return err;
}

static int voltage_control(struct smu *s, const struct smu_dpm *d)
{
	int err = update(s, IX_SCLK_PWRMGT_CNTL, SCLK_PWRMGT_OFF, 0); /* 14 */

	if (!err) /* 15 */
		err = update(s, IX_PWR_SVI2_PLANE1_LOAD, PSI1_PSI0_EN, 0);
	if (!err)
		err = send(s, d, PPSMC_MSG_Voltage_Cntl_Enable);
	if (!err && d->tables->ulv) /* 16 */
		err = send(s, d, PPSMC_MSG_EnableULV);
	return err ? err : send(s, d, PPSMC_MSG_MASTER_DeepSleep_ON); /* 17 */
}

static int ramp_limits(struct smu *s, const struct smu_dpm *d)
{
	(void)d;
	return smu_enable_didt(s); /* 18 */
}

/* ---- step 19: start ---- */

static int start_sclk(struct smu *s, const struct smu_dpm *d)
{
	uint32_t soft = s->header.soft_registers;
	int err = update(s, IX_GENERAL_PWRMGT, GLOBAL_PWRMGT_EN, GLOBAL_PWRMGT_EN);

	if (!err)
		err = update(s, IX_SCLK_PWRMGT_CNTL, DYNAMIC_PM_EN, DYNAMIC_PM_EN);
	if (!err)
		err = smc_write(
		        s->mmio, soft + SOFT_VOLTAGE_CHANGE_TIMEOUT, VOLTAGE_CHANGE_TIMEOUT);
	if (!err)
		err = update(s, soft + SOFT_HANDSHAKE_DISABLES, VCE_SCLK_NO_HANDSHAKE,
		        VCE_SCLK_NO_HANDSHAKE);
	return err ? err : send(s, d, PPSMC_MSG_DPM_Enable);
}

/* estimate_current - the memory controllers' part of it. */
static int estimate_current(struct smu *s)
{
	int err = reg_update(s->mmio, REG_MC_SEQ_CNTL_3, CAC_EN, CAC_EN);

	if (!err)
		err = smc_write(s->mmio, IX_LCAC_MC0_CNTL, 0x5);
	if (!err)
		err = smc_write(s->mmio, IX_LCAC_MC1_CNTL, 0x5);
	if (!err)
		err = smc_write(s->mmio, IX_LCAC_CPL_CNTL, 0x100005);
	sleep_us(10);
	if (!err)
		err = smc_write(s->mmio, IX_LCAC_MC0_CNTL, 0x400005);
	if (!err)
		err = smc_write(s->mmio, IX_LCAC_MC1_CNTL, 0x400005);
	return err ? err : smc_write(s->mmio, IX_LCAC_CPL_CNTL, 0x500005);
}

/* The PCIe link keeps its speed: the stock driver's PCIeDPM_Enable lets the firmware retrain it,
 * and a bridge that reports no errors is no place for that. */
static int start_mclk(struct smu *s, const struct smu_dpm *d)
{
	int err = update(s, s->header.soft_registers + SOFT_HANDSHAKE_DISABLES,
	        UVD_VCE_MCLK_NO_HANDSHAKE, UVD_VCE_MCLK_NO_HANDSHAKE);

	if (!err)
		err = send(s, d, PPSMC_MSG_MCLKDPM_Enable);
	if (!err)
		err = estimate_current(s);
	return err ? err : send(s, d, PPSMC_MSG_PCIeDPM_Disable);
}

/* ---- steps 20 to 23: limits ---- */

/* limits - each message in its own unit: polaris.md 10.7. The TDC limit is in PmFuses. */
static int limits(struct smu *s, const struct smu_dpm *d)
{
	const struct smu_tables *t = d->tables;
	int err = send(s, d, PPSMC_MSG_EnableCac); /* 20 */

	if (!err) /* 21 */
		err = send(s, d, PPSMC_MSG_TDCLimitEnable);
	if (!err)
		err = send(s, d, PPSMC_MSG_PkgPwrLimitEnable);
	if (!err) /* watts << 8 */
		err = smu_message_arg(s, PPSMC_MSG_PkgPwrSetLimit, (uint32_t)t->package_w << 8);
	if (!err) /* 22: watts x 256 */
		err = smu_message_arg(s, PPSMC_MSG_OverDriveSetTargetTdp, (uint32_t)t->tdp_w * 256);
	if (!err) /* 23 */
		err = update(s, IX_CG_THERMAL_CTRL, DPM_EVENT_SRC, DPM_EVENT_SRC_DIGITAL);
	return err ? err : update(s, IX_GENERAL_PWRMGT, THERMAL_PROTECTION_DIS, 0);
}

static int thermal(struct smu *s, const struct smu_dpm *d)
{
	return d->thermal ? smu_thermal_start(s, d->thermal) : 0;
}

static int avfs(struct smu *s, const struct smu_dpm *d)
{
	const struct smu_tables *t = d->tables;

	if (!t->avfs)
		return 0;
	int err = smu_message_arg(s, PPSMC_MSG_SetGBDroopSettings, t->droop_settings);

	if (!err)
		err = send(s, d, PPSMC_MSG_EnableAvfs);
	if (!err && t->apply_cks_off)
		err = send(s, d, PPSMC_MSG_ApplyAvfsCksOffVoltage);
	return err;
}

/* all_levels - every level of the tables may be used. */
static int all_levels(struct smu *s, const struct smu_dpm *d)
{
	int err = smu_message_arg(s, PPSMC_MSG_VddC_Request, 0); /* amdgpu-oracle.md 7 item 13 */

	if (!err)
		err = smu_message_arg(
		        s, PPSMC_MSG_SCLKDPM_SetEnabledMask, (1u << d->tables->sclk_levels) - 1);
	if (!err)
		err = smu_message_arg(
		        s, PPSMC_MSG_MCLKDPM_SetEnabledMask, (1u << d->tables->mclk_levels) - 1);
	return err ? err : send(s, d, PPSMC_MSG_NoDisplay);
}

static int see_it_run(struct smu *s, const struct smu_dpm *d)
{
	uint32_t status = 0;
	int err = smc_wait(s->mmio, IX_FEATURE_STATUS, VOLTAGE_CONTROLLER_ON, VOLTAGE_CONTROLLER_ON,
	        SMU_TIMEOUT_MS, &status);

	(void)d;
	if (err == -ETIMEDOUT)
		return rx_fail("smu", err,
		        "FEATURE_STATUS 0x%08x: VOLTAGE_CONTROLLER_ON (0x%x) does not come; the "
		        "firmware did not take the tables",
		        status, VOLTAGE_CONTROLLER_ON);
	return err;
}

static const struct {
	const char *name;
	int (*run)(struct smu *s, const struct smu_dpm *d);
} steps[] = {
        {"tables (polaris.md 10.5 steps 9, 10)", upload_tables},
        {"regulator alarm (11)", vr_hot},
        {"display (12)", display},
        {"EDC (13)", edc},
        {"voltage control (14-17)", voltage_control},
        {"ramp limits (18)", ramp_limits},
        {"engine clock (19)", start_sclk},
        {"memory clock (19)", start_mclk},
        {"current and power limits (20-23)", limits},
        {"temperature and fan (10.9, 10.10)", thermal},
        {"AVFS (10.6)", avfs},
        {"levels", all_levels},
        {"status", see_it_run},
};

int smu_prepare_dpm(struct smu *s)
{
	int err = prepare_clocks(s);

	return err ? err : switch_arbiter(s);
}

int smu_enable_dpm(struct smu *s, const struct smu_dpm *d)
{
	s->dpm_tried = true;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		int err = steps[i].run(s, d);

		if (err) {
			rx_log(LOG_ERROR, "smu", "power management stopped at: %s", steps[i].name);
			smu_disable_dpm(s);
			return err;
		}
		rx_log(LOG_DEBUG, "smu", "power management: %s done", steps[i].name);
	}
	s->dpm = true;
	s->dpm_tried = false;
	rx_log(LOG_INFO, "smu",
	        "power management on: %u engine levels to %u MHz, %u memory levels "
	        "to %u MHz, %u W, %u A",
	        d->tables->sclk_levels, d->tables->sclk[d->tables->sclk_levels - 1] / 100,
	        d->tables->mclk_levels, d->tables->mclk[d->tables->mclk_levels - 1] / 100,
	        d->tables->package_w, d->tables->tdc_a);
	return 0;
}

int smu_disable_dpm(struct smu *s)
{
	static const enum ppsmc_msg off[] = {
	        PPSMC_MSG_DPM_Disable, PPSMC_MSG_MCLKDPM_Disable, PPSMC_MSG_Voltage_Cntl_Disable};
	uint32_t status;
	int first = update(s, IX_GENERAL_PWRMGT, GLOBAL_PWRMGT_EN, 0);
	int err = update(s, IX_SCLK_PWRMGT_CNTL, DYNAMIC_PM_EN, 0);

	first = first ? first : err; /* whatever fails, the rest must still be tried */
	err = smc_read(s->mmio, IX_FEATURE_STATUS, &status);
	for (size_t i = 0; i < ARRAY_SIZE(off) && !err; i++)
		if (s->dpm_tried || status & VOLTAGE_CONTROLLER_ON)
			err = smu_message(s, off[i]);
	s->dpm = s->dpm_tried = false;
	return first ? first : err;
}
