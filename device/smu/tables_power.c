/* tables_power.c - SMU74 tables: regulators, limits, temperatures, clock stretcher, AVFS, fan
 * (polaris.md 10.3, 10.6, 10.9). */
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/smu/tables_priv.h"

/* DpmTable: polaris.md 10.3 */
#define DPM_SYSTEM_FLAGS        108
#define DPM_VR_CONFIG           112
#define DPM_SMIO_MASK_1         116
#define DPM_SMIO_TABLE_1        124
#define DPM_BAPM_HI_SIDD        160
#define DPM_BAPM_LO_SIDD        176
#define DPM_BAPM_HI_SIDD2       192
#define DPM_THERM_OUT_GPIO      216
#define DPM_THERM_OUT_POLARITY  217
#define DPM_THERM_OUT_MODE      218
#define DPM_VR_HOT_LEVEL        220
#define DPM_LDO_REF_SEL         221
#define DPM_FAN_START           224
#define DPM_FAN_STOP            226
#define DPM_MAX_VOLTAGE         228
#define DPM_SCLK_STEP_SIZE      1444
#define DPM_SMIO                1448
#define DPM_VR_HOT_GPIO         1605
#define DPM_AC_DC_GPIO          1606
#define DPM_THERM_GPIO          1607
#define DPM_TEMP_HIGH           1586
#define DPM_TEMP_LOW            1588
#define DPM_BOOT_MVDD           1592
#define DPM_DEFAULT_TDP         1612
#define DPM_TARGET_TDP          1614
#define DPM_BAPMTI_R            1620
#define DPM_BAPMTI_RC           1650
#define DPM_TEMP_EDGE           1680
#define DPM_TEMP_HOTSPOT        1682
#define DPM_BOOT_VDDC           1684
#define DPM_BOOT_VDDCI          1686
#define DPM_FAN_GAIN_EDGE       1688
#define DPM_FAN_GAIN_HOTSPOT    1690
#define DPM_CKS_MASTER_EN       1701
#define DPM_SCLK_VOLTAGE_OFFSET 1704
#define DPM_CURR_SCLK_PLL_RANGE 1760
#define DPM_SCLK_FCW_RANGE      1764
#define DPM_BTCGB_VDROOP        1828
#define DPM_AVFSGB_VDROOP       1860

#define SYSTEM_FLAG_GPIO_DC 0x01u /* polaris.md 10.6 */
#define SYSTEM_FLAG_GDDR5   0x04u
/* VRConfig: polaris.md 10.6. VDDGFX merged is 0. */
#define VR_VDDC_SVI2_PLANE_1 1u
#define VR_VDDCI_SVI2        (2u << 16) /* plane 2 */
#define VR_VDDCI_GPIO        (3u << 16)
#define VR_VDDCI_STATIC      (5u << 16)
#define VR_MVDD_STATIC       (5u << 24)
#define SMIO_LEVELS          4
#define BAPM_LEVELS          16

#define GPIO_UNUSED      0x7F /* polaris.md 10.6 */
#define THERM_GPIO       17   /* polaris.md 10.6, fixed */
#define THERM_OUT_ONLY   1
#define THERM_OUT_VR_HOT 2
#define CAP_COMBINE_PCC  0x1000000u /* polaris.md 10.4 */
#define SCLK_STEP_SIZE   0x4000u
#define LDO_REF_DEFAULT  6
#define Q8               256u
#define TDP_UNIT         128u /* polaris.md 10.6, 10.7: 1/128 W here, other units in messages */
#define FAN_GAIN(raw)    ((uint16_t)((raw) * 4096u / 100u))
#define ULV_PHASE_KICKER 3 /* no phase shedding: polaris10_smumgr.c, the stock table */
#define ULV_PHASE        1

static const uint16_t bapm_r[] = {0x79, 0x253, 0x25D, 0xAE, 0x72, 0x80, 0x83, 0x86, 0x6F, 0xC8,
        0xC9, 0xC9, 0x2F, 0x4D, 0x61}; /* polaris.md 10.6, PowerTune defaults */
static const uint16_t bapm_rc[] = {0x17C, 0x172, 0x180, 0x1BC, 0x1B3, 0x1BD, 0x206, 0x200, 0x203,
        0x25D, 0x25A, 0x255, 0x2C3, 0x2C5, 0x2B4};

/* ---- regulators ---- */

static void put_vddci_steps(struct build *b)
{
	uint8_t *dpm = b->out->dpm;

	if (!b->vddci || b->vddci->mode != VBIOS_VOLTAGE_GPIO)
		return;
	for (unsigned i = 0; i < MIN(b->vddci->entries, (unsigned)SMIO_LEVELS); i++) {
		put_be16(dpm + DPM_SMIO_TABLE_1 + 4 * i,
		        (uint16_t)(b->vddci->gpio.entry[i].mv * VOLTAGE_SCALE));
		dpm[DPM_SMIO_TABLE_1 + 4 * i + 2] = (uint8_t)i;
		put_be32(dpm + DPM_SMIO + 4 * i, b->vddci->gpio.entry[i].code);
	}
	put_be32(dpm + DPM_SMIO_MASK_1, b->vddci->gpio.mask);
}

/* vid - SVI2 code of a voltage: polaris.md 10.7. */
static uint8_t vid(uint16_t mv)
{
	return (uint8_t)((6200u - 4u * MIN(mv, 1550u)) / 25u);
}

static void put_leakage(struct build *b)
{
	const struct vbios_powerplay *pp = b->in->pp;

	for (unsigned i = 0; i < MIN(pp->vddcs, (unsigned)BAPM_LEVELS); i++) {
		unsigned at = 0; /* the first entry with as much voltage */

		while (at + 1 < pp->vddcs && b->vddc[at] < b->vddc[i])
			at++;
		b->out->dpm[DPM_BAPM_LO_SIDD + i] = vid(pp->vddc[at].cac_low);
		b->out->dpm[DPM_BAPM_HI_SIDD + i] = vid(pp->vddc[at].cac_mid);
		b->out->dpm[DPM_BAPM_HI_SIDD2 + i] = vid(pp->vddc[at].cac_high);
	}
}

static uint32_t vddci_control(const struct build *b)
{
	if (!b->vddci)
		return VR_VDDCI_STATIC;
	return b->vddci->mode == VBIOS_VOLTAGE_GPIO ? VR_VDDCI_GPIO : VR_VDDCI_SVI2;
}

static void put_voltages(struct build *b)
{
	uint8_t *dpm = b->out->dpm;
	uint32_t flags = (b->in->gddr5 ? SYSTEM_FLAG_GDDR5 : 0) |
	                 (vbios_gpio_find(b->in->gpio, VBIOS_GPIO_AC_DC) ? SYSTEM_FLAG_GPIO_DC : 0);

	put_be32(dpm + DPM_SYSTEM_FLAGS, flags);
	put_be32(dpm + DPM_VR_CONFIG, VR_VDDC_SVI2_PLANE_1 | VR_MVDD_STATIC | vddci_control(b));
	put_vddci_steps(b);
	put_leakage(b);
	put_be16(dpm + DPM_BOOT_VDDC, (uint16_t)(b->in->fi->bootup_vddc_mv * VOLTAGE_SCALE));
	put_be16(dpm + DPM_BOOT_VDDCI, (uint16_t)(b->in->fi->bootup_vddci_mv * VOLTAGE_SCALE));
	put_be16(dpm + DPM_BOOT_MVDD, (uint16_t)(b->in->fi->bootup_mvddc_mv * VOLTAGE_SCALE));
}

static void put_ulv(struct build *b)
{
	uint8_t *ulv = b->out->dpm + DPM_ULV;
	uint16_t offset = b->in->pp->ulv_offset_mv;

	if (!offset)
		return;
	put_be16(ulv + 8, offset);
	ulv[10] = (uint8_t)(offset * 100u / 625u); /* in SVI2 steps: polaris.md 10.6 */
	ulv[11] = b->in->kicker ? ULV_PHASE_KICKER : ULV_PHASE;
}

/* ---- limits ---- */

static void put_limits(struct build *b)
{
	const struct vbios_pp_powertune *p = &b->in->pp->powertune;
	const struct vbios_pp_fan *fan = &b->in->pp->fan;
	uint8_t *dpm = b->out->dpm;

	put_be16(dpm + DPM_DEFAULT_TDP, (uint16_t)(p->tdp_w * TDP_UNIT));
	put_be16(dpm + DPM_TARGET_TDP, (uint16_t)(p->tdp_w * TDP_UNIT));
	put_be16(dpm + DPM_TEMP_HIGH, (uint16_t)(p->tjmax_c * Q8));
	put_be16(dpm + DPM_TEMP_LOW, (uint16_t)((p->tjmax_c - 1u) * Q8));
	put_be16(dpm + DPM_TEMP_EDGE, (uint16_t)(p->tjmax_c * Q8));
	put_be16(dpm + DPM_TEMP_HOTSPOT,
	        (uint16_t)((p->hotspot_c ? p->hotspot_c : p->tjmax_c) * Q8)); /* 0: old table */
	for (unsigned i = 0; i < ARRAY_SIZE(bapm_r); i++) {
		put_be16(dpm + DPM_BAPMTI_R + 2 * i, bapm_r[i]);
		put_be16(dpm + DPM_BAPMTI_RC + 2 * i, bapm_rc[i]);
	}
	if (!b->in->pp->has_fan)
		return;
	put_be16(dpm + DPM_FAN_GAIN_EDGE, FAN_GAIN(fan->gain_edge));
	put_be16(dpm + DPM_FAN_GAIN_HOTSPOT, FAN_GAIN(fan->gain_hotspot));
	if (fan->zero_rpm) {
		dpm[DPM_FAN_START] = fan->fan_start_temp; /* << 8 */
		dpm[DPM_FAN_STOP] = fan->fan_stop_temp;
	}
}

static void put_pins(struct build *b)
{
	const struct vbios_gpio_pin *hot = vbios_gpio_find(b->in->gpio, VBIOS_GPIO_VR_HOT);
	const struct vbios_gpio_pin *dc = vbios_gpio_find(b->in->gpio, VBIOS_GPIO_AC_DC);
	const struct vbios_gpio_pin *therm = vbios_gpio_find(b->in->gpio, VBIOS_GPIO_THERM_OUT);
	uint8_t *dpm = b->out->dpm;

	b->out->vr_hot = hot;
	dpm[DPM_VR_HOT_GPIO] = hot ? hot->bit : GPIO_UNUSED;
	dpm[DPM_AC_DC_GPIO] = dc ? dc->bit : GPIO_UNUSED;
	dpm[DPM_THERM_GPIO] = THERM_GPIO;
	dpm[DPM_VR_HOT_LEVEL] = b->in->pp->has_gpio ? b->in->pp->gpio.vr_hot_sclk_level : 0;
	dpm[DPM_THERM_OUT_GPIO] = therm ? therm->bit : THERM_GPIO;
	dpm[DPM_THERM_OUT_POLARITY] = therm ? b->in->fuses.therm_out_low : 1;
	if (therm)
		dpm[DPM_THERM_OUT_MODE] = hot && b->in->pp->platform_caps & CAP_COMBINE_PCC
		                                  ? THERM_OUT_VR_HOT
		                                  : THERM_OUT_ONLY;
}

/* built-in ranges: polaris.md 10.6; vco codes 2 (2.4 GHz) and 3 (3.6 GHz) */
static const struct vbios_smu_range builtin_range[8] = {
        {0, 2, 4, 75, 160, 112},
        {0, 3, 4, 112, 224, 160},
        {0, 2, 3, 75, 160, 112},
        {0, 3, 3, 112, 224, 160},
        {0, 2, 2, 75, 160, 112},
        {0, 3, 2, 112, 216, 160},
        {0, 2, 1, 75, 160, 108},
        {0, 3, 1, 112, 216, 160},
};

/* put_ranges - only as many rows as there are: amdgpu-oracle.md 7 item 7. */
static void put_ranges(struct build *b)
{
	const struct vbios_smu_info *info = b->in->smu_info;
	const struct vbios_smu_range *range = info ? info->range : builtin_range;
	unsigned n = info ? MIN(info->ranges, 8u) : 8u;

	for (unsigned i = 0; i < n; i++) {
		uint8_t *at = b->out->dpm + DPM_SCLK_FCW_RANGE + 8 * i;

		at[0] = range[i].vco;
		at[1] = range[i].postdiv;
		put_be16(at + 2, range[i].fcw_pcc);
		put_be16(at + 4, range[i].fcw_upper);
		put_be16(at + 6, range[i].fcw_lower);
	}
}

void smu_build_fixed(struct build *b)
{
	/* GraphicsVoltageChangeEnable, ..ThermThrottleEnable, ..Interval, Voltage-,
	 * ThermalInterval; the same of memory; PCIeGenInterval: all 1 (polaris.md 10.6) */
	static const uint16_t ones[] = {1581, 1582, 1583, 1584, 1585, 1591, 1594, 1595, 1601};
	uint8_t *dpm = b->out->dpm;

	for (unsigned i = 0; i < ARRAY_SIZE(ones); i++)
		dpm[ones[i]] = 1;
	put_voltages(b);
	put_ulv(b);
	put_limits(b);
	put_pins(b);
	put_ranges(b);
	put_be32(dpm + DPM_SCLK_STEP_SIZE, SCLK_STEP_SIZE);
	put_be32(dpm + DPM_CURR_SCLK_PLL_RANGE, 0xFF);
}

/* ---- clock stretcher: polaris10_smumgr.c, populate_clock_stretcher_data_table ---- */

/* stretch_offset - in SVI2 steps, from the measured speed @ro of this chip's ring oscillator (MHz).
 * The constants are fits of the vendor; all in 32-bit unsigned arithmetic as there. */
static bool stretch_offset(uint32_t mhz, uint32_t ro, uint32_t extra, uint8_t *out)
{
	uint32_t slope_without = 2424180u - mhz * 1132925u / 1000u;
	uint32_t slope_with = 2522480u - mhz * 115764u / 100u;

	if (!slope_without || !slope_with) /* no clock of a real board */
		return false;
	uint32_t without = (2753594000u + mhz * 136418u - (ro - 70) * 1000000u) / slope_without;
	uint32_t with = (2797202000u + mhz * 3232u - (ro - 65) * 1000000u) / slope_with;

	if (without < with)
		return false;
	*out = (uint8_t)(((without - with + extra) * 100u + 624u) / 625u);
	return true;
}

void smu_build_stretcher(struct build *b)
{
	const struct vbios_powerplay *pp = b->in->pp;
	uint32_t low = b->in->kicker ? 1200 : 1000, high = b->in->kicker ? 2500 : 2300;
	uint32_t ro = (b->in->fuses.efuse67 >> 24) * (high - low) / 255u + low;
	uint8_t ref = pp->powertune.cks_ldo_ref, offset = 0;
	uint8_t *dpm = b->out->dpm;

	dpm[DPM_LDO_REF_SEL] = ref ? ref : LDO_REF_DEFAULT;
	for (unsigned i = 0; i < MIN(pp->sclks, SMU74_GRAPHICS_LEVELS); i++) {
		if (!(pp->sclk[i].cks & VBIOS_PP_CKS_OFF))
			dpm[DPM_CKS_MASTER_EN] |= (uint8_t)(1u << i);
		/* a level without one keeps its predecessor's, as there */
		stretch_offset(pp->sclk[i].sclk / 100, ro, pp->sclk[i].cks & 0x7F, &offset);
		dpm[DPM_SCLK_VOLTAGE_OFFSET + i] = offset;
	}
}

/* ---- PmFuses ---- */

void smu_build_pm_fuses(struct build *b)
{
	const struct vbios_pp_powertune *p = &b->in->pp->powertune;
	uint8_t *f = b->out->pm_fuses;
	uint32_t lpml = b->in->fuses.pm_fuse_32;

	/* PowerTune defaults set 1: polaris.md 10.6 */
	f[24] = 1;   /* SviLoadLineEn */
	f[25] = 0xF; /* SviLoadLineVddC */
	f[26] = 3;   /* Trim */
	put_be16(f + 28, (uint16_t)(p->tdc_a * TDP_UNIT));
	f[30] = 0xFD; /* TDC_VDDC_ThrottleReleaseLimitPerc */
	f[31] = 0x19; /* TDC_MAWt */
	f[32] = 5;    /* TdcWaterfallCtl */
	f[33] = (uint8_t)(lpml >> 16);
	f[34] = (uint8_t)(lpml >> 8);
	f[35] = (uint8_t)lpml;
	put_be16(f + 56, b->in->pp->has_fan ? b->in->pp->fan.sensitivity : 0);
	put_be16(f + 80, (uint16_t)(p->high_cac_leakage / 100u * Q8));
	put_be16(f + 82, (uint16_t)(p->low_cac_leakage / 100u * Q8));
}

/* ---- AVFS: polaris.md 10.6 ---- */

struct avfs_row {
	uint32_t a0, a1, a2, m1, b;
	uint16_t m2;
};

/* put_avfs_row - @i: 0 with clock stretching, 1 without. */
static void put_avfs_row(uint8_t *dpm, unsigned i, const struct avfs_row *r)
{
	uint8_t *droop = dpm + DPM_BTCGB_VDROOP + 16 * i, *fuse = dpm + DPM_AVFSGB_VDROOP + 12 * i;

	put_be32(droop, r->a0);
	put_be32(droop + 4, r->a1);
	put_be32(droop + 8, r->a2);
	put_be32(fuse, r->m1);
	put_be32(fuse + 4, r->b);
	put_be16(fuse + 8, r->m2);
	fuse[10] = 24; /* shifts of m1 and m2 */
	fuse[11] = 12;
}

static void put_avfs_tables(struct build *b, const struct vbios_profiling *p)
{
	uint8_t *n = b->out->mean_n_sigma;

	put_be32(n, p->avfs_mean_nsigma0);
	put_be32(n + 4, p->avfs_mean_nsigma1);
	put_be32(n + 8, p->avfs_mean_nsigma2);
	put_be16(n + 12, p->dc_tolerance_sigma);
	put_be16(n + 14, p->platform_mean);
	put_be16(n + 16, p->platform_sigma);
	put_be16(n + 18, p->psm_age_factor);
	for (unsigned i = 0; i < MIN(b->in->pp->sclks, SMU74_GRAPHICS_LEVELS); i++) {
		const struct vbios_pp_sclk *s = &b->in->pp->sclk[i];

		n[20 + i] = (uint8_t)((s->cks & 0x7Fu) * 100u / 625u);
		put_be16(b->out->sclk_offsets + 2 * i, (uint16_t)((uint16_t)s->sclk_offset / 100u));
	}
}

void smu_build_avfs(struct build *b)
{
	const struct vbios_profiling *p = b->in->profiling;

	if (!p || !(b->in->fuses.efuse49 & 1))
		return;
	struct avfs_row on = {p->droop_cks_on_a0, p->droop_cks_on_a1, p->droop_cks_on_a2,
	        p->fuse_cks_on_m1, p->fuse_cks_on_b, p->fuse_cks_on_m2};
	struct avfs_row off = {p->droop_cks_off_a0, p->droop_cks_off_a1, p->droop_cks_off_a2,
	        p->fuse_cks_off_m1, p->fuse_cks_off_b, p->fuse_cks_off_m2};

	if (b->in->p20) /* polaris.md 10.6 */
		off = (struct avfs_row){0xF843B66B, 0x59CB5, 0xFFFF287F, 0, 0x58, 0xFF23};
	put_avfs_row(b->out->dpm, 0, &on);
	put_avfs_row(b->out->dpm, 1, &off);
	put_be16(b->out->dpm + DPM_MAX_VOLTAGE, p->max_voltage_0_25mv);
	put_avfs_tables(b, p);
	b->out->avfs = true;
	b->out->apply_cks_off = b->in->p20 || p->apply_avfs_cks_off_voltage;
	/* bits in the order of SetGBDroopSettings: smu7_hwmgr.h, BTCGB0_Vdroop_Enable and on */
	b->out->droop_settings =
	        (uint32_t)(p->enable_droop_cks_on << 0 | p->enable_droop_cks_off << 1 |
	                   p->enable_fuse_cks_on << 2 | p->enable_fuse_cks_off << 3);
}

/* ---- fan: polaris.md 10.9 ---- */

#define FAN_HYST_UP    1
#define FAN_HYST_SLOPE 1
#define FAN_TEMP_RESP  5
#define FAN_REFRESH    (100000u * 2500u / 1600u) /* cycle delay x xclk / 1600 */

void smu_thermal_of(const struct vbios_powerplay *pp, struct smu_thermal *out)
{
	const struct vbios_pp_fan *fan = &pp->fan;

	*out = (struct smu_thermal){
	        .has_fan = pp->has_fan && pp->has_thermal &&
	                   !(pp->thermal.fan_params & VBIOS_PP_NO_FAN),
	        .tach_pulses = pp->thermal.fan_params & 0xFu,
	        .zero_rpm = fan->zero_rpm,
	        .rpm_max = fan->rpm_max,
	        .acoustic_mhz = fan->acoustic_sclk / 100,
	        .min_pwm_pct = fan->min_pwm_limit,
	        .target_c = fan->target_temp,
	        .alert_c = (uint8_t)MIN(pp->powertune.software_shutdown_c, 255u),
	        .curve = *fan,
	};
}

static uint16_t slope(unsigned duty100, unsigned pwm, unsigned temp)
{
	return (uint16_t)((50u + 16u * duty100 * pwm / temp) / 100u);
}

int smu_build_fan(const struct smu_thermal *t, unsigned duty100, uint8_t temp_sel,
        uint8_t out[SMU74_FAN_TABLE_BYTES])
{
	const struct vbios_pp_fan *f = &t->curve;

	if (f->tmed_0_01c <= f->tmin_0_01c || f->thigh_0_01c <= f->tmed_0_01c ||
	        f->pwm_med_0_01pct < f->pwm_min_0_01pct || f->pwm_high_0_01pct < f->pwm_med_0_01pct)
		return rx_fail("smu", -EINVAL,
		        "PowerPlay: the fan curve does not rise (%u, %u, %u x 0.01 C; %u, %u, %u x "
		        "0.01 %%)",
		        f->tmin_0_01c, f->tmed_0_01c, f->thigh_0_01c, f->pwm_min_0_01pct,
		        f->pwm_med_0_01pct, f->pwm_high_0_01pct);
	memset(out, 0, SMU74_FAN_TABLE_BYTES);
	put_be16(out + 2, (uint16_t)((50u + f->tmin_0_01c) / 100u));
	put_be16(out + 4, (uint16_t)((50u + f->tmed_0_01c) / 100u));
	put_be16(out + 6, (uint16_t)((50u + f->tmax_0_01c) / 100u));
	put_be16(out + 8, slope(duty100, (unsigned)(f->pwm_med_0_01pct - f->pwm_min_0_01pct),
	                          (unsigned)(f->tmed_0_01c - f->tmin_0_01c)));
	put_be16(out + 10, slope(duty100, (unsigned)(f->pwm_high_0_01pct - f->pwm_med_0_01pct),
	                           (unsigned)(f->thigh_0_01c - f->tmed_0_01c)));
	put_be16(out + 12, (uint16_t)(f->pwm_min_0_01pct * duty100 / 10000u));
	put_be16(out + 14, FAN_HYST_UP);
	put_be16(out + 16, f->hysteresis);
	put_be16(out + 18, FAN_HYST_SLOPE);
	put_be16(out + 20, FAN_TEMP_RESP);
	put_be32(out + 28, FAN_REFRESH);
	put_be16(out + 32, (uint16_t)duty100);
	out[34] = temp_sel;
	return 0;
}
