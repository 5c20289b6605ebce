/* ppsmc.h - ids of the SMU's messages, vendor's names behind PPSMC_MSG_ (smu7_ppsmc.h). Table only:
 * it serves the driver and the virtual card. Arguments and results: polaris.md 10.2; 0x15F:
 * amdgpu-oracle.md 7 item 13.
 */
#ifndef RX_PPSMC_H
#define RX_PPSMC_H

/* clang-format off */
#define PPSMC_MESSAGES(X) \
	X(Halt, 0x010) \
	X(Resume, 0x011) \
	X(EnableCac, 0x053) \
	X(DisableCac, 0x054) \
	X(StartFanControl, 0x05B) \
	X(StopFanControl, 0x05C) \
	X(NoDisplay, 0x05D) \
	X(HasDisplay, 0x05E) \
	X(UVDPowerOFF, 0x060) \
	X(UVDPowerON, 0x061) \
	X(EnableULV, 0x062) \
	X(DisableULV, 0x063) \
	X(ResetToDefaults, 0x084) \
	X(EnableDTE, 0x087) \
	X(DisableDTE, 0x088) \
	X(Test, 0x100) \
	X(Voltage_Cntl_Enable, 0x109) \
	X(Thermal_Cntl_Enable, 0x10A) \
	X(VCEPowerOFF, 0x10E) \
	X(VCEPowerON, 0x10F) \
	X(UVDDPM_SetEnabledMask, 0x12D) \
	X(VCEDPM_SetEnabledMask, 0x12E) \
	X(Thermal_Cntl_Disable, 0x133) \
	X(SetTDPLimit, 0x134) \
	X(Voltage_Cntl_Disable, 0x135) \
	X(PCIeDPM_Enable, 0x136) \
	X(PCIeDPM_Disable, 0x13D) \
	X(SCLKDPM_SetEnabledMask, 0x145) \
	X(MCLKDPM_SetEnabledMask, 0x146) \
	X(PCIeDPM_ForceLevel, 0x147) \
	X(PCIeDPM_UnForceLevel, 0x148) \
	X(EnableACDCGPIOInterrupt, 0x149) \
	X(EnableVRHotGPIOInterrupt, 0x14A) \
	X(DPM_Enable, 0x14E) \
	X(DPM_Disable, 0x14F) \
	X(MCLKDPM_Enable, 0x150) \
	X(MCLKDPM_Disable, 0x151) \
	X(UVDDPM_Enable, 0x154) \
	X(UVDDPM_Disable, 0x155) \
	X(SAMUDPM_Enable, 0x156) \
	X(SAMUDPM_Disable, 0x157) \
	X(ACPDPM_Enable, 0x158) \
	X(ACPDPM_Disable, 0x159) \
	X(VCEDPM_Enable, 0x15A) \
	X(VCEDPM_Disable, 0x15B) \
	X(VddC_Request, 0x15F) \
	X(MCLKDPM_GetEnabledMask, 0x160) \
	X(SCLKDPM_GetEnabledMask, 0x162) \
	X(PCIeDPM_SetEnabledMask, 0x167) \
	X(TDCLimitEnable, 0x169) \
	X(TDCLimitDisable, 0x16A) \
	X(PmStatusLogStart, 0x170) \
	X(PmStatusLogSample, 0x171) \
	X(ALLOW_LOWSCLK_INTERRUPT, 0x184) \
	X(PkgPwrLimitEnable, 0x185) \
	X(PkgPwrLimitDisable, 0x186) \
	X(PkgPwrSetLimit, 0x187) \
	X(OverDriveSetTargetTdp, 0x188) \
	X(SCLKDPM_FreezeLevel, 0x189) \
	X(SCLKDPM_UnfreezeLevel, 0x18A) \
	X(MCLKDPM_FreezeLevel, 0x18B) \
	X(MCLKDPM_UnfreezeLevel, 0x18C) \
	X(START_DRAM_LOGGING, 0x18D) \
	X(STOP_DRAM_LOGGING, 0x18E) \
	X(MASTER_DeepSleep_ON, 0x18F) \
	X(MASTER_DeepSleep_OFF, 0x190) \
	X(SetTjMax, 0x199) \
	X(SetFanPwmMax, 0x19A) \
	X(API_GetSclkFrequency, 0x200) \
	X(API_GetMclkFrequency, 0x201) \
	X(API_GetAsicPower, 0x204) \
	X(SetFanRpmMax, 0x205) \
	X(SetFanSclkTarget, 0x206) \
	X(SetFanMinPwm, 0x209) \
	X(SetFanTemperatureTarget, 0x20A) \
	X(DRV_DRAM_ADDR_HI, 0x250) \
	X(DRV_DRAM_ADDR_LO, 0x251) \
	X(SMU_DRAM_ADDR_HI, 0x252) \
	X(SMU_DRAM_ADDR_LO, 0x253) \
	X(LoadUcodes, 0x254) \
	X(EnableClockGatingFeature, 0x260) \
	X(DisableClockGatingFeature, 0x261) \
	X(EnableAvfs, 0x26A) \
	X(DisableAvfs, 0x26B) \
	X(PerformBtc, 0x26C) \
	X(LedConfig, 0x274) \
	X(UseNewGPIOScheme, 0x277) \
	X(GFX_CU_PG_ENABLE, 0x280) \
	X(GFX_CU_PG_DISABLE, 0x281) \
	X(GetCurrPkgPwr, 0x282) \
	X(SetGpuPllDfsForSclk, 0x300) \
	X(Didt_Block_Function, 0x301) \
	X(EnableZeroRpm, 0x302) \
	X(SetGBDroopSettings, 0x305) \
	X(SetVBITimeout, 0x306) \
	X(EnableFFC, 0x307) \
	X(DisableFFC, 0x308) \
	X(EnableEDCController, 0x316) \
	X(DisableEDCController, 0x317) \
	X(ApplyAvfsCksOffVoltage, 0x415)
/* clang-format on */

enum ppsmc_msg {
#define X(name, id) PPSMC_MSG_##name = id,
	PPSMC_MESSAGES(X)
#undef X
};

#endif
