/* ppsmc.h - ids of the SMU's messages, vendor's names behind PPSMC_MSG_. Table only. Arguments and
 * results: polaris.md 10.2; 0x15F: amdgpu-oracle.md 7 item 13.
 */
#ifndef RX_PPSMC_H
#define RX_PPSMC_H

/* clang-format off */
#define PPSMC_MESSAGES(X) \
	X(EnableCac, 0x053) \
	X(StartFanControl, 0x05B) \
	X(StopFanControl, 0x05C) \
	X(NoDisplay, 0x05D) \
	X(HasDisplay, 0x05E) \
	X(EnableULV, 0x062) \
	X(Test, 0x100) \
	X(Voltage_Cntl_Enable, 0x109) \
	X(Thermal_Cntl_Enable, 0x10A) \
	X(Voltage_Cntl_Disable, 0x135) \
	X(PCIeDPM_Disable, 0x13D) \
	X(SCLKDPM_SetEnabledMask, 0x145) \
	X(MCLKDPM_SetEnabledMask, 0x146) \
	X(EnableVRHotGPIOInterrupt, 0x14A) \
	X(DPM_Enable, 0x14E) \
	X(DPM_Disable, 0x14F) \
	X(MCLKDPM_Enable, 0x150) \
	X(MCLKDPM_Disable, 0x151) \
	X(VddC_Request, 0x15F) \
	X(TDCLimitEnable, 0x169) \
	X(PkgPwrLimitEnable, 0x185) \
	X(PkgPwrSetLimit, 0x187) \
	X(OverDriveSetTargetTdp, 0x188) \
	X(MASTER_DeepSleep_ON, 0x18F) \
	X(API_GetSclkFrequency, 0x200) \
	X(API_GetMclkFrequency, 0x201) \
	X(SetFanRpmMax, 0x205) \
	X(SetFanSclkTarget, 0x206) \
	X(SetFanMinPwm, 0x209) \
	X(SetFanTemperatureTarget, 0x20A) \
	X(DRV_DRAM_ADDR_HI, 0x250) \
	X(DRV_DRAM_ADDR_LO, 0x251) \
	X(SMU_DRAM_ADDR_HI, 0x252) \
	X(SMU_DRAM_ADDR_LO, 0x253) \
	X(LoadUcodes, 0x254) \
	X(EnableAvfs, 0x26A) \
	X(GetCurrPkgPwr, 0x282) \
	X(Didt_Block_Function, 0x301) \
	X(EnableZeroRpm, 0x302) \
	X(SetGBDroopSettings, 0x305) \
	X(SetVBITimeout, 0x306) \
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
