/* smu_msg.c - what each message does. Ids: ppsmc.h; meanings: polaris.md 10.2, 14.6. */
#include "device/bytes.h"
#include "device/regs/ppsmc.h"
#include "device/virtual/card/card_priv.h"

#define LOAD_NS 2000000ull /* model's own: LoadUcodes */

typedef uint32_t handler(struct vcard *c, uint32_t id, uint32_t *arg);

static uint32_t accept(struct vcard *c, uint32_t id, uint32_t *arg)
{
	(void)c;
	(void)id;
	(void)arg;
	return SMC_RESP_OK;
}

/* on_off - enable and disable messages: which flag, which way. */
static uint32_t on_off(struct vcard *c, uint32_t id, uint32_t *arg)
{
	struct card_smu *s = &c->smu;
	const struct {
		uint32_t on, off;
		bool *flag;
	} switches[] = {
	        {PPSMC_MSG_EnableCac, PPSMC_MSG_DisableCac, &s->cac},
	        {PPSMC_MSG_EnableULV, PPSMC_MSG_DisableULV, &s->ulv},
	        {PPSMC_MSG_Voltage_Cntl_Enable, PPSMC_MSG_Voltage_Cntl_Disable, &s->voltage},
	        {PPSMC_MSG_PCIeDPM_Enable, PPSMC_MSG_PCIeDPM_Disable, &s->pcie_dpm},
	        {PPSMC_MSG_TDCLimitEnable, PPSMC_MSG_TDCLimitDisable, &s->tdc},
	        {PPSMC_MSG_PkgPwrLimitEnable, PPSMC_MSG_PkgPwrLimitDisable, &s->package},
	        {PPSMC_MSG_EnableAvfs, PPSMC_MSG_DisableAvfs, &s->avfs},
	        {PPSMC_MSG_StartFanControl, PPSMC_MSG_StopFanControl, &s->fan_table},
	};

	(void)arg;
	for (size_t i = 0; i < ARRAY_SIZE(switches); i++)
		if (id == switches[i].on || id == switches[i].off)
			*switches[i].flag = id == switches[i].on;
	return SMC_RESP_OK;
}

/* edc - its registers come first, and it is there before clocks rise (smu7_hwmgr.c,
 * smu7_populate_edc_leakage_registers and smu7_enable_dpm_tasks). */
static uint32_t edc(struct vcard *c, uint32_t id, uint32_t *arg)
{
	bool enable = id == PPSMC_MSG_EnableEDCController;
	const char *why = NULL;

	(void)arg;
	if (enable && c->edc_written != CARD_EDC_ALL)
		why = "not all of its registers were written";
	else if (enable && (c->smu.voltage || c->smu.sclk_dpm))
		why = "voltage and clocks are already under the firmware's control";
	if (why) {
		card_guest_error(c, "SMU message EnableEDCController: %s (written: 0x%06x)", why,
		        c->edc_written);
		return SMC_RESP_FAILED;
	}
	c->smu.edc = enable;
	return SMC_RESP_OK;
}

static uint32_t dpm(struct vcard *c, uint32_t id, uint32_t *arg)
{
	bool enable = id == PPSMC_MSG_DPM_Enable || id == PPSMC_MSG_MCLKDPM_Enable;
	const char *why = enable ? card_dpm_table_wrong(c) : NULL;

	(void)arg;
	if (enable && !c->smu.voltage && !why)
		why = "Voltage_Cntl_Enable was not sent";
	if (why) {
		card_guest_error(c, "SMU message 0x%x: %s", id, why);
		return SMC_RESP_FAILED;
	}
	if (id == PPSMC_MSG_DPM_Enable || id == PPSMC_MSG_DPM_Disable)
		c->smu.sclk_dpm = enable;
	else
		c->smu.mclk_dpm = enable;
	return SMC_RESP_OK;
}

static uint32_t mask(struct vcard *c, uint32_t id, uint32_t *arg)
{
	struct card_smu *s = &c->smu;

	switch (id) {
	case PPSMC_MSG_SCLKDPM_SetEnabledMask: s->sclk_mask = *arg; break;
	case PPSMC_MSG_MCLKDPM_SetEnabledMask: s->mclk_mask = *arg; break;
	case PPSMC_MSG_MCLKDPM_GetEnabledMask: *arg = s->mclk_mask; break;
	default: *arg = s->sclk_mask; break; /* SCLKDPM_GetEnabledMask */
	}
	return SMC_RESP_OK;
}

/* Limits in 1/256 W: polaris.md 10.7. */
static uint32_t limit(struct vcard *c, uint32_t id, uint32_t *arg)
{
	if (id == PPSMC_MSG_PkgPwrSetLimit)
		c->smu.package_limit = *arg;
	else
		c->smu.target_tdp = *arg;
	return SMC_RESP_OK;
}

static uint32_t ask(struct vcard *c, uint32_t id, uint32_t *arg)
{
	card_heat_update(c);
	if (id == PPSMC_MSG_API_GetSclkFrequency)
		*arg = c->smu.sclk;
	else if (id == PPSMC_MSG_API_GetMclkFrequency)
		*arg = c->smu.mclk;
	else
		*arg = (uint32_t)(c->heat.power * 256); /* API_GetAsicPower, GetCurrPkgPwr */
	return SMC_RESP_OK;
}

static uint32_t log_power(struct vcard *c, uint32_t id, uint32_t *arg)
{
	(void)arg;
	card_heat_update(c);
	if (id == PPSMC_MSG_PmStatusLogStart)
		c->smu.logging = true;
	else if (c->smu.logging)
		c->smu.ram[IX_SMU_PM_STATUS_95 / 4] = (uint32_t)(c->heat.power * 256);
	return SMC_RESP_OK;
}

static uint32_t address(struct vcard *c, uint32_t id, uint32_t *arg)
{
	bool buffer = id == PPSMC_MSG_SMU_DRAM_ADDR_HI || id == PPSMC_MSG_SMU_DRAM_ADDR_LO;
	uint64_t *p = buffer ? &c->smu.buffer : &c->smu.toc;

	if (id == PPSMC_MSG_DRV_DRAM_ADDR_HI || id == PPSMC_MSG_SMU_DRAM_ADDR_HI)
		*p = (*p & 0xFFFFFFFF) | (uint64_t)*arg << 32;
	else
		*p = (*p & ~0xFFFFFFFFull) | *arg;
	return SMC_RESP_OK;
}

static uint32_t load_ucodes(struct vcard *c, uint32_t id, uint32_t *arg)
{
	(void)id;
	c->smu.loading = card_smu_load_ucodes(c, *arg);
	c->smu.loaded_ns = vcard_now(c) + LOAD_NS;
	return SMC_RESP_OK;
}

static uint32_t zero_rpm(struct vcard *c, uint32_t id, uint32_t *arg)
{
	(void)id;
	(void)arg;
	c->smu.zero_rpm = true;
	return SMC_RESP_OK;
}

static uint32_t to_defaults(struct vcard *c, uint32_t id, uint32_t *arg)
{
	(void)id;
	(void)arg;
	card_dpm_reset(c);
	return SMC_RESP_OK;
}

/* All but Test, which is the boot ROM's (smu.c). */
static const struct {
	uint16_t id;
	handler *run;
} messages[] = {
        {PPSMC_MSG_Halt, accept},
        {PPSMC_MSG_Resume, accept},
        {PPSMC_MSG_EnableCac, on_off},
        {PPSMC_MSG_DisableCac, on_off},
        {PPSMC_MSG_StartFanControl, on_off},
        {PPSMC_MSG_StopFanControl, on_off},
        {PPSMC_MSG_NoDisplay, accept},
        {PPSMC_MSG_HasDisplay, accept},
        {PPSMC_MSG_UVDPowerOFF, accept},
        {PPSMC_MSG_UVDPowerON, accept},
        {PPSMC_MSG_EnableULV, on_off},
        {PPSMC_MSG_DisableULV, on_off},
        {PPSMC_MSG_ResetToDefaults, to_defaults},
        {PPSMC_MSG_EnableDTE, accept},
        {PPSMC_MSG_DisableDTE, accept},
        {PPSMC_MSG_Voltage_Cntl_Enable, on_off},
        {PPSMC_MSG_Thermal_Cntl_Enable, accept},
        {PPSMC_MSG_VCEPowerOFF, accept},
        {PPSMC_MSG_VCEPowerON, accept},
        {PPSMC_MSG_UVDDPM_SetEnabledMask, accept},
        {PPSMC_MSG_VCEDPM_SetEnabledMask, accept},
        {PPSMC_MSG_Thermal_Cntl_Disable, accept},
        {PPSMC_MSG_SetTDPLimit, accept},
        {PPSMC_MSG_Voltage_Cntl_Disable, on_off},
        {PPSMC_MSG_PCIeDPM_Enable, on_off},
        {PPSMC_MSG_PCIeDPM_Disable, on_off},
        {PPSMC_MSG_SCLKDPM_SetEnabledMask, mask},
        {PPSMC_MSG_MCLKDPM_SetEnabledMask, mask},
        {PPSMC_MSG_PCIeDPM_ForceLevel, accept},
        {PPSMC_MSG_PCIeDPM_UnForceLevel, accept},
        {PPSMC_MSG_EnableACDCGPIOInterrupt, accept},
        {PPSMC_MSG_EnableVRHotGPIOInterrupt, accept},
        {PPSMC_MSG_DPM_Enable, dpm},
        {PPSMC_MSG_DPM_Disable, dpm},
        {PPSMC_MSG_MCLKDPM_Enable, dpm},
        {PPSMC_MSG_MCLKDPM_Disable, dpm},
        {PPSMC_MSG_UVDDPM_Enable, accept},
        {PPSMC_MSG_UVDDPM_Disable, accept},
        {PPSMC_MSG_SAMUDPM_Enable, accept},
        {PPSMC_MSG_SAMUDPM_Disable, accept},
        {PPSMC_MSG_ACPDPM_Enable, accept},
        {PPSMC_MSG_ACPDPM_Disable, accept},
        {PPSMC_MSG_VCEDPM_Enable, accept},
        {PPSMC_MSG_VCEDPM_Disable, accept},
        {PPSMC_MSG_VddC_Request, accept},
        {PPSMC_MSG_MCLKDPM_GetEnabledMask, mask},
        {PPSMC_MSG_SCLKDPM_GetEnabledMask, mask},
        {PPSMC_MSG_PCIeDPM_SetEnabledMask, accept},
        {PPSMC_MSG_TDCLimitEnable, on_off},
        {PPSMC_MSG_TDCLimitDisable, on_off},
        {PPSMC_MSG_PmStatusLogStart, log_power},
        {PPSMC_MSG_PmStatusLogSample, log_power},
        {PPSMC_MSG_ALLOW_LOWSCLK_INTERRUPT, accept},
        {PPSMC_MSG_PkgPwrLimitEnable, on_off},
        {PPSMC_MSG_PkgPwrLimitDisable, on_off},
        {PPSMC_MSG_PkgPwrSetLimit, limit},
        {PPSMC_MSG_OverDriveSetTargetTdp, limit},
        {PPSMC_MSG_SCLKDPM_FreezeLevel, accept},
        {PPSMC_MSG_SCLKDPM_UnfreezeLevel, accept},
        {PPSMC_MSG_MCLKDPM_FreezeLevel, accept},
        {PPSMC_MSG_MCLKDPM_UnfreezeLevel, accept},
        {PPSMC_MSG_START_DRAM_LOGGING, accept},
        {PPSMC_MSG_STOP_DRAM_LOGGING, accept},
        {PPSMC_MSG_MASTER_DeepSleep_ON, accept},
        {PPSMC_MSG_MASTER_DeepSleep_OFF, accept},
        {PPSMC_MSG_SetTjMax, accept},
        {PPSMC_MSG_SetFanPwmMax, accept},
        {PPSMC_MSG_API_GetSclkFrequency, ask},
        {PPSMC_MSG_API_GetMclkFrequency, ask},
        {PPSMC_MSG_API_GetAsicPower, ask},
        {PPSMC_MSG_SetFanRpmMax, accept},
        {PPSMC_MSG_SetFanSclkTarget, accept},
        {PPSMC_MSG_SetFanMinPwm, accept},
        {PPSMC_MSG_SetFanTemperatureTarget, accept},
        {PPSMC_MSG_DRV_DRAM_ADDR_HI, address},
        {PPSMC_MSG_DRV_DRAM_ADDR_LO, address},
        {PPSMC_MSG_SMU_DRAM_ADDR_HI, address},
        {PPSMC_MSG_SMU_DRAM_ADDR_LO, address},
        {PPSMC_MSG_LoadUcodes, load_ucodes},
        {PPSMC_MSG_EnableClockGatingFeature, accept},
        {PPSMC_MSG_DisableClockGatingFeature, accept},
        {PPSMC_MSG_EnableAvfs, on_off},
        {PPSMC_MSG_DisableAvfs, on_off},
        {PPSMC_MSG_PerformBtc, accept},
        {PPSMC_MSG_LedConfig, accept},
        {PPSMC_MSG_UseNewGPIOScheme, accept},
        {PPSMC_MSG_GFX_CU_PG_ENABLE, accept},
        {PPSMC_MSG_GFX_CU_PG_DISABLE, accept},
        {PPSMC_MSG_GetCurrPkgPwr, ask},
        {PPSMC_MSG_SetGpuPllDfsForSclk, accept},
        {PPSMC_MSG_Didt_Block_Function, accept},
        {PPSMC_MSG_EnableZeroRpm, zero_rpm},
        {PPSMC_MSG_SetGBDroopSettings, accept},
        {PPSMC_MSG_SetVBITimeout, accept},
        {PPSMC_MSG_EnableFFC, accept},
        {PPSMC_MSG_DisableFFC, accept},
        {PPSMC_MSG_EnableEDCController, edc},
        {PPSMC_MSG_DisableEDCController, edc},
        {PPSMC_MSG_ApplyAvfsCksOffVoltage, accept},
};

uint32_t card_smu_execute(struct vcard *c, uint32_t id, uint32_t *arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(messages); i++)
		if (id == messages[i].id) {
			uint32_t r;

			card_heat_update(c); /* with things as they were */
			r = messages[i].run(c, id, arg);
			card_heat_update(c);
			card_dpm_publish(c);
			return r;
		}
	return SMC_RESP_UNKNOWN;
}
