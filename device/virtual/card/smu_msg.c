/* smu_msg.c - what each message does. Ids and meanings: polaris.md 10.2, 14.6; 0x15F and 0x308:
 * amdgpu-oracle.md 7 item 13.
 */
#include "device/bytes.h"
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

	(void)arg;
	switch (id) {
	case 0x53:
	case 0x54: s->cac = id == 0x53; break;
	case 0x62:
	case 0x63: s->ulv = id == 0x62; break;
	case 0x109:
	case 0x135: s->voltage = id == 0x109; break;
	case 0x136:
	case 0x13D: s->pcie_dpm = id == 0x136; break;
	case 0x169:
	case 0x16A: s->tdc = id == 0x169; break;
	case 0x185:
	case 0x186: s->package = id == 0x185; break;
	case 0x26A:
	case 0x26B: s->avfs = id == 0x26A; break;
	case 0x316:
	case 0x317: s->edc = id == 0x316; break;
	default: s->fan_table = id == 0x5B; break; /* 0x5B, 0x5C */
	}
	return SMC_RESP_OK;
}

static uint32_t dpm(struct vcard *c, uint32_t id, uint32_t *arg)
{
	bool enable = id == 0x14E || id == 0x150;
	const char *why = enable ? card_dpm_table_wrong(c) : NULL;

	(void)arg;
	if (enable && !c->smu.voltage && !why)
		why = "Voltage_Cntl_Enable was not sent";
	if (why) {
		card_guest_error(c, "SMU message 0x%x: %s", id, why);
		return SMC_RESP_FAILED;
	}
	if (id <= 0x14F)
		c->smu.sclk_dpm = enable;
	else
		c->smu.mclk_dpm = enable;
	return SMC_RESP_OK;
}

static uint32_t mask(struct vcard *c, uint32_t id, uint32_t *arg)
{
	struct card_smu *s = &c->smu;

	switch (id) {
	case 0x145: s->sclk_mask = *arg; break;
	case 0x146: s->mclk_mask = *arg; break;
	case 0x160: *arg = s->mclk_mask; break;
	default: *arg = s->sclk_mask; break; /* 0x162 */
	}
	return SMC_RESP_OK;
}

/* Limits in 1/256 W: polaris.md 10.7. */
static uint32_t limit(struct vcard *c, uint32_t id, uint32_t *arg)
{
	if (id == 0x187)
		c->smu.package_limit = *arg;
	else
		c->smu.target_tdp = *arg;
	return SMC_RESP_OK;
}

static uint32_t ask(struct vcard *c, uint32_t id, uint32_t *arg)
{
	card_heat_update(c);
	if (id == 0x200)
		*arg = c->smu.sclk;
	else if (id == 0x201)
		*arg = c->smu.mclk;
	else
		*arg = (uint32_t)(c->heat.power * 256); /* 0x204, 0x282 */
	return SMC_RESP_OK;
}

static uint32_t log_power(struct vcard *c, uint32_t id, uint32_t *arg)
{
	(void)arg;
	card_heat_update(c);
	if (id == 0x170)
		c->smu.logging = true;
	else if (c->smu.logging)
		c->smu.ram[IX_SMU_PM_STATUS_95 / 4] = (uint32_t)(c->heat.power * 256);
	return SMC_RESP_OK;
}

static uint32_t address(struct vcard *c, uint32_t id, uint32_t *arg)
{
	uint64_t *p = id >= 0x252 ? &c->smu.buffer : &c->smu.toc;

	if (id % 2 == 0) /* 0x250, 0x252: high halves */
		*p = (*p & 0xFFFFFFFF) | (uint64_t)*arg << 32;
	else
		*p = (*p & ~0xFFFFFFFFull) | *arg;
	return SMC_RESP_OK;
}

static uint32_t load_ucodes(struct vcard *c, uint32_t id, uint32_t *arg)
{
	(void)id;
	c->smu.loading = card_smu_load_ucodes(c, *arg);
	c->smu.loaded_ns = card_now(c) + LOAD_NS;
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

static const struct {
	uint16_t first, last;
	handler *run;
} messages[] = {
        {0x010, 0x011, accept},                              /* Halt, Resume */
        {0x053, 0x054, on_off},                              /* EnableCac */
        {0x05B, 0x05C, on_off},                              /* StartFanControl, StopFanControl */
        {0x05D, 0x05E, accept},                              /* NoDisplay, HasDisplay */
        {0x060, 0x061, accept},                              /* UVDPower */
        {0x062, 0x063, on_off},                              /* ULV */
        {0x084, 0x084, to_defaults}, {0x087, 0x088, accept}, /* DTE */
        {0x109, 0x109, on_off},                              /* Voltage_Cntl_Enable */
        {0x10A, 0x10A, accept},                              /* Thermal_Cntl_Enable */
        {0x10E, 0x10F, accept},                              /* VCEPower */
        {0x12D, 0x12E, accept},                              /* UVDDPM, VCEDPM masks */
        {0x133, 0x134, accept},                              /* Thermal_Cntl_Disable, SetTDPLimit */
        {0x135, 0x136, on_off}, /* Voltage_Cntl_Disable, PCIeDPM_Enable */
        {0x13D, 0x13D, on_off}, /* PCIeDPM_Disable */
        {0x145, 0x146, mask},   /* SCLKDPM, MCLKDPM_SetEnabledMask */
        {0x147, 0x14A, accept}, /* PCIeDPM_ForceLevel, UnForce, GPIO interrupts */
        {0x14E, 0x151, dpm},    /* DPM, MCLKDPM */
        {0x154, 0x15B, accept}, /* UVDDPM, VCEDPM */
        {0x15F, 0x15F, accept}, /* VddC_Request */
        {0x160, 0x160, mask},   /* MCLKDPM_GetEnabledMask */
        {0x162, 0x162, mask},   /* SCLKDPM_GetEnabledMask */
        {0x167, 0x167, accept}, /* PCIeDPM_SetEnabledMask */
        {0x169, 0x16A, on_off}, /* TDCLimit */
        {0x170, 0x171, log_power}, {0x184, 0x184, accept}, /* ALLOW_LOWSCLK_INTERRUPT */
        {0x185, 0x186, on_off},                            /* PkgPwrLimit */
        {0x187, 0x188, limit},  /* PkgPwrSetLimit, OverDriveSetTargetTdp */
        {0x189, 0x190, accept}, /* Freeze, DRAM logging, MASTER_DeepSleep */
        {0x199, 0x19A, accept}, /* SetTjMax, SetFanPwmMax */
        {0x200, 0x201, ask},    /* clocks */
        {0x204, 0x204, ask},    /* API_GetAsicPower */
        {0x205, 0x206, accept}, /* SetFanRpmMax, SetFanSclkTarget */
        {0x209, 0x20A, accept}, /* SetFanMinPwm, SetFanTemperatureTarget */
        {0x250, 0x253, address}, {0x254, 0x254, load_ucodes},
        {0x260, 0x261, accept}, /* ClockGatingFeature */
        {0x26A, 0x26B, on_off}, /* Avfs */
        {0x26C, 0x26C, accept}, /* PerformBtc */
        {0x274, 0x274, accept}, /* LedConfig */
        {0x277, 0x277, accept}, /* UseNewGPIOScheme */
        {0x280, 0x281, accept}, /* GFX_CU_PG */
        {0x282, 0x282, ask},    /* GetCurrPkgPwr */
        {0x300, 0x301, accept}, /* SetGpuPllDfsForSclk, Didt_Block_Function */
        {0x302, 0x302, zero_rpm},
        {0x305, 0x308, accept}, /* SetGBDroopSettings, SetVBITimeout, FFC */
        {0x316, 0x317, on_off}, /* EDCController */
        {0x415, 0x415, accept}, /* ApplyAvfsCksOffVoltage */
};

uint32_t card_smu_execute(struct vcard *c, uint32_t id, uint32_t *arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(messages); i++)
		if (id >= messages[i].first && id <= messages[i].last) {
			uint32_t r;

			card_heat_update(c); /* with things as they were */
			r = messages[i].run(c, id, arg);
			card_heat_update(c);
			card_dpm_publish(c);
			return r;
		}
	return SMC_RESP_UNKNOWN;
}
