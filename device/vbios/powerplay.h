/* powerplay.h - PowerPlayInfo 7.1 of a VBIOS: clock levels, voltages, limits, fan.
 * Pure. Clocks in 10 kHz, voltages in mV, currents in A, powers in W, temperatures in degrees
 * Celsius, as stored; where a field has another unit its name says so. Source: atombios.md 11.
 */
#ifndef RX_VBIOS_POWERPLAY_H
#define RX_VBIOS_POWERPLAY_H

#include "device/vbios/info.h"

#define VBIOS_PP_MAX     32     /* entries of one list */
#define VBIOS_PP_VIRTUAL 0xFF01 /* voltages from here up are ids for GetVoltageInfo */
#define VBIOS_PP_NO_FAN  0x80   /* bit of thermal.fan_params */
#define VBIOS_PP_CKS_OFF 0x80   /* bit of sclk.cks: clock stretching disabled */

/* clang-format off */
#define VBIOS_PP_HEADER(X) \
	X(uint8_t, table_revision, 4) \
	X(uint16_t, header_size, 5) \
	X(uint32_t, golden_pp_id, 7) \
	X(uint32_t, golden_revision, 11) \
	X(uint16_t, format_id, 15) \
	X(uint16_t, voltage_time_us, 17) \
	X(uint32_t, platform_caps, 19) \
	X(uint32_t, max_od_engine, 23) \
	X(uint32_t, max_od_memory, 27) \
	X(uint16_t, power_control_limit_pct, 31) \
	X(uint16_t, ulv_offset_mv, 33)

#define VBIOS_PP_STATE(X) \
	X(uint8_t, engine_high, 0) \
	X(uint8_t, engine_low, 1) \
	X(uint8_t, memory_high, 2) \
	X(uint8_t, memory_low, 3) \
	X(uint8_t, pcie_gen_low, 4) \
	X(uint8_t, pcie_gen_high, 5) \
	X(uint8_t, pcie_lanes_low, 6) \
	X(uint8_t, pcie_lanes_high, 7) \
	X(uint16_t, classification, 8) /* 8 boot, 5 performance */ \
	X(uint32_t, caps, 10) \
	X(uint16_t, classification2, 14)

#define VBIOS_PP_MCLK(X) \
	X(uint8_t, vddc_index, 0) \
	X(uint16_t, vddci_mv, 1) \
	X(uint16_t, vddgfx_offset, 3) \
	X(uint16_t, mvdd_mv, 5) \
	X(uint32_t, mclk, 7)

#define VBIOS_PP_SCLK(X) \
	X(uint8_t, vdd_index, 0) \
	X(int16_t, vddc_offset_mv, 1) \
	X(uint32_t, sclk, 3) \
	X(uint16_t, edc, 7) \
	X(uint8_t, reliability_temp, 9) \
	X(uint8_t, cks, 10) /* 6:0 offset, 7 disable */

#define VBIOS_PP_LOOKUP(X) \
	X(uint16_t, mv, 0) /* or a virtual id */ \
	X(uint16_t, cac_low, 2) \
	X(uint16_t, cac_mid, 4) \
	X(uint16_t, cac_high, 6)

#define VBIOS_PP_MM(X) \
	X(uint8_t, vddc_index, 0) \
	X(uint16_t, vddgfx_offset, 1) \
	X(uint32_t, dclk, 3) \
	X(uint32_t, vclk, 7) \
	X(uint32_t, eclk, 11) \
	X(uint32_t, aclk, 15) \
	X(uint32_t, samu_clk, 19)

#define VBIOS_PP_VCE(X) \
	X(uint8_t, clock_index, 0) \
	X(uint8_t, flags, 1) \
	X(uint8_t, sclk_index, 2) \
	X(uint8_t, mclk_index, 3)

#define VBIOS_PP_HARD(X) \
	X(uint32_t, sclk, 0) \
	X(uint32_t, mclk, 4) \
	X(uint16_t, vddc, 8) \
	X(uint16_t, vddci, 10) \
	X(uint16_t, vddgfx, 12)

#define VBIOS_PP_THERMAL(X) \
	X(uint8_t, rev, 0) \
	X(uint8_t, type, 1) \
	X(uint8_t, i2c_line, 2) \
	X(uint8_t, i2c_addr, 3) \
	X(uint8_t, fan_params, 4) /* 3:0 tach pulses, 7 no fan */ \
	X(uint8_t, min_rpm_x100, 5) \
	X(uint8_t, max_rpm_x100, 6) \
	X(uint8_t, flags, 8)

/* fan table, what all revisions share; gains only from 8 up, the rest from 9 up (0 otherwise) */
#define VBIOS_PP_FAN(X) \
	X(uint8_t, rev, 0) \
	X(uint8_t, hysteresis, 1) \
	X(uint16_t, tmin_0_01c, 2) \
	X(uint16_t, tmed_0_01c, 4) \
	X(uint16_t, thigh_0_01c, 6) \
	X(uint16_t, pwm_min_0_01pct, 8) \
	X(uint16_t, pwm_med_0_01pct, 10) \
	X(uint16_t, pwm_high_0_01pct, 12) \
	X(uint16_t, tmax_0_01c, 14) \
	X(uint8_t, mode, 16) \
	X(uint16_t, pwm_max_pct, 17) \
	X(uint16_t, sensitivity, 19) \
	X(uint16_t, rpm_max, 21) \
	X(uint32_t, acoustic_sclk, 23) \
	X(uint8_t, target_temp, 27) \
	X(uint8_t, min_pwm_limit, 28)
#define VBIOS_PP_FAN_8(X) \
	X(uint16_t, gain_edge, 29) \
	X(uint16_t, gain_hotspot, 31) \
	X(uint16_t, gain_liquid, 33) \
	X(uint16_t, gain_vr_vddc, 35) \
	X(uint16_t, gain_vr_mvdd, 37) \
	X(uint16_t, gain_plx, 39) \
	X(uint16_t, gain_hbm, 41)
#define VBIOS_PP_FAN_9(X) \
	X(uint8_t, zero_rpm, 43) \
	X(uint8_t, fan_stop_temp, 44) \
	X(uint8_t, fan_start_temp, 45)

/* power limits, what all revisions share; temperatures only from 3 up, the rest from 4 up */
#define VBIOS_PP_POWERTUNE(X) \
	X(uint8_t, rev, 0) \
	X(uint16_t, tdp_w, 1) \
	X(uint16_t, configurable_tdp_w, 3) \
	X(uint16_t, tdc_a, 5) \
	X(uint16_t, battery_w, 7) \
	X(uint16_t, small_power_w, 9) \
	X(uint16_t, low_cac_leakage, 11) \
	X(uint16_t, high_cac_leakage, 13) \
	X(uint16_t, max_power_delivery_w, 15) \
	X(uint16_t, tjmax_c, 17) \
	X(uint16_t, data_set_id, 19) \
	X(uint16_t, edc, 21) \
	X(uint16_t, software_shutdown_c, 23) \
	X(uint16_t, clock_stretch, 25)
#define VBIOS_PP_POWERTUNE_3(X) \
	X(uint16_t, hotspot_c, 27) \
	X(uint16_t, liquid1_c, 29) \
	X(uint16_t, liquid2_c, 31) \
	X(uint16_t, vr_vddc_c, 33) \
	X(uint16_t, vr_mvdd_c, 35) \
	X(uint16_t, plx_c, 37) \
	X(uint8_t, liquid1_i2c, 39) \
	X(uint8_t, liquid2_i2c, 40) \
	X(uint8_t, liquid_line, 41) \
	X(uint8_t, vr_i2c, 42) \
	X(uint8_t, vr_line, 43) \
	X(uint8_t, plx_i2c, 44) \
	X(uint8_t, plx_line, 45)
#define VBIOS_PP_POWERTUNE_4(X) \
	X(uint16_t, boost_w, 46) \
	X(uint8_t, cks_ldo_ref, 48) \
	X(uint8_t, hotspot_only, 49)

#define VBIOS_PP_GPIO(X) \
	X(uint8_t, rev, 0) \
	X(uint8_t, vr_hot_sclk_level, 1)
/* clang-format on */

struct vbios_powerplay {
	VBIOS_PP_HEADER(VBIOS_MEMBER)
	/* lists: how many entries, then the entries; an absent list has none */
	unsigned states, mclks, sclks, vddcs, vddgfxs, mms, vces, pcies, hards;
	struct vbios_pp_state {
		VBIOS_PP_STATE(VBIOS_MEMBER)
	} state[VBIOS_PP_MAX];
	struct vbios_pp_mclk {
		VBIOS_PP_MCLK(VBIOS_MEMBER)
	} mclk[VBIOS_PP_MAX];
	struct vbios_pp_sclk {
		VBIOS_PP_SCLK(VBIOS_MEMBER)
		uint32_t sclk_offset; /* 0 in revision 0 */
	} sclk[VBIOS_PP_MAX];
	struct vbios_pp_lookup {
		VBIOS_PP_LOOKUP(VBIOS_MEMBER)
	} vddc[VBIOS_PP_MAX], vddgfx[VBIOS_PP_MAX];
	struct vbios_pp_mm {
		VBIOS_PP_MM(VBIOS_MEMBER)
	} mm[VBIOS_PP_MAX];
	struct vbios_pp_vce {
		VBIOS_PP_VCE(VBIOS_MEMBER)
	} vce[VBIOS_PP_MAX];
	struct vbios_pp_pcie {
		uint8_t gen, lanes;
		uint32_t sclk; /* 0 in revision 0 */
	} pcie[VBIOS_PP_MAX];
	struct vbios_pp_hard {
		VBIOS_PP_HARD(VBIOS_MEMBER)
	} hard[VBIOS_PP_MAX];
	/* single tables */
	bool has_fan, has_thermal, has_powertune, has_gpio;
	struct vbios_pp_fan {
		VBIOS_PP_FAN(VBIOS_MEMBER)
		VBIOS_PP_FAN_8(VBIOS_MEMBER)
		VBIOS_PP_FAN_9(VBIOS_MEMBER)
	} fan;
	struct vbios_pp_thermal {
		VBIOS_PP_THERMAL(VBIOS_MEMBER)
	} thermal;
	struct vbios_pp_powertune {
		VBIOS_PP_POWERTUNE(VBIOS_MEMBER)
		VBIOS_PP_POWERTUNE_3(VBIOS_MEMBER)
		VBIOS_PP_POWERTUNE_4(VBIOS_MEMBER)
	} powertune;
	struct vbios_pp_gpio {
		VBIOS_PP_GPIO(VBIOS_MEMBER)
	} gpio;
};

/* vbios_powerplay - decode PowerPlayInfo with all its parts. Voltage indices of the clock lists are
 * checked; indices in states and VCE states are as stored. Return: as the functions of info.h.
 */
int vbios_powerplay(const struct vbios_rom *rom, struct vbios_powerplay *out);

#endif
