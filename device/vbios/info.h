/* info.h - the small data tables of a VBIOS as plain structs.
 * Pure. Each function takes a parsed ROM and fills its struct; it checks revision and length first.
 * Return of all: 0; -ENOENT the image has no such table (not logged); -EINVAL (logged) a revision
 * that is not known here, or a length that does not fit. Clocks are in 10 kHz as stored, voltages
 * in mV, unless the name says otherwise. Source: atombios.md 10.1, 10.2, 10.4-10.8, 10.10, 9.
 */
#ifndef RX_VBIOS_INFO_H
#define RX_VBIOS_INFO_H

#include "device/vbios/rom.h"

/* X(type, name, offset) lists give both the struct and its decoder. */
#define VBIOS_MEMBER(type, name, at) type name;

/* clang-format off */
/* FirmwareInfo 2.2: atombios.md 10.1 */
#define VBIOS_FIRMWARE_INFO(X) \
	X(uint32_t, firmware_revision, 0x04) /* one byte a part of the version text */ \
	X(uint32_t, default_engine_clock, 0x08) \
	X(uint32_t, default_memory_clock, 0x0C) \
	X(uint32_t, spll_output, 0x10) \
	X(uint32_t, gpupll_output, 0x14) \
	X(uint32_t, max_pixel_pll_output, 0x20) \
	X(uint32_t, binary_altered_info, 0x24) /* 0 in stock images */ \
	X(uint32_t, default_disp_clock, 0x28) \
	X(uint8_t, min_backlight, 0x2D) \
	X(uint16_t, bootup_vddc_mv, 0x2E) \
	X(uint16_t, lcd_pll_min_mhz, 0x30) \
	X(uint16_t, lcd_pll_max_mhz, 0x32) \
	X(uint32_t, min_pixel_pll_output, 0x38) \
	X(uint8_t, remote_display, 0x3C) \
	X(uint16_t, pixel_pll_input_min, 0x4A) \
	X(uint16_t, pixel_pll_input_max, 0x4C) \
	X(uint16_t, bootup_vddci_mv, 0x4E) \
	X(uint16_t, capability, 0x50) \
	X(uint16_t, core_ref_clock, 0x52) \
	X(uint16_t, mem_ref_clock, 0x54) \
	X(uint16_t, dp_ext_clock, 0x56) \
	X(uint8_t, memory_module_id, 0x58) /* 0xFF: by strap pins */ \
	X(uint8_t, cooling_id, 0x59) \
	X(uint8_t, branding, 0x5A) \
	X(uint16_t, bootup_mvddc_mv, 0x5C) \
	X(uint16_t, bootup_vddgfx_mv, 0x5E)

/* VRAM_UsageByFirmware 1.5: atombios.md 10.2 */
#define VBIOS_VRAM_USAGE(X) \
	X(uint32_t, start, 4) \
	X(uint16_t, firmware_kb, 8) \
	X(uint16_t, driver_kb, 10)

/* GFX_Info 2.1; the last three only in 2.3 (0 otherwise): atombios.md 10.7 */
#define VBIOS_GFX_INFO(X) \
	X(uint8_t, ip_minor, 4) \
	X(uint8_t, ip_major, 5) \
	X(uint8_t, shader_engines, 6) \
	X(uint8_t, tile_pipes, 7) \
	X(uint8_t, cu_per_sh, 8) \
	X(uint8_t, sh_per_se, 9) \
	X(uint8_t, rb_per_se, 10) \
	X(uint8_t, tcc, 11)
#define VBIOS_GFX_INFO_3(X) \
	X(uint16_t, leakage_threshold, 12) \
	X(uint16_t, edc_low_offset, 14) \
	X(uint16_t, edc_high_offset, 16)

/* one range of SMU_Info 2.1: atombios.md 10.6 */
#define VBIOS_SMU_RANGE(X) \
	X(uint32_t, max_sclk, 0) \
	X(uint8_t, vco, 4) \
	X(uint8_t, postdiv, 5) /* power of two */ \
	X(uint16_t, fcw_pcc, 6) \
	X(uint16_t, fcw_upper, 8) \
	X(uint16_t, fcw_lower, 10)

/* one pin of GPIO_Pin_LUT 1.1: atombios.md 10.4 */
#define VBIOS_GPIO_PIN(X) \
	X(uint16_t, reg, 0) /* dword index */ \
	X(uint8_t, bit, 2) \
	X(uint8_t, id, 3)

/* one entry of ASIC_InternalSS_Info 3.1: atombios.md 10.10 */
#define VBIOS_SPREAD(X) \
	X(uint32_t, max_clock, 0) \
	X(uint16_t, percentage, 4) /* 0.01 %, with mode bit 4 0.001 % */ \
	X(uint16_t, rate_10hz, 6) \
	X(uint8_t, clock_id, 8) \
	X(uint8_t, mode, 9) /* bit 0 centre, bit 1 external */

/* ASIC_ProfilingInfo 3.6: atombios.md 10.8 */
#define VBIOS_PROFILING(X) \
	X(uint32_t, max_vddc_10uv, 0x04) \
	X(uint32_t, min_vddc_10uv, 0x08) \
	X(uint16_t, leakage_fuse_index, 0x0C) \
	X(uint8_t, leakage_fuse_lsb, 0x0E) \
	X(uint8_t, leakage_fuse_length, 0x0F) \
	X(uint32_t, leakage_ln_max_min, 0x10) \
	X(uint32_t, leakage_max, 0x14) \
	X(uint32_t, leakage_min, 0x18) \
	X(uint16_t, ro_fuse_index, 0x1C) \
	X(uint8_t, ro_fuse_lsb, 0x1E) \
	X(uint8_t, ro_fuse_length, 0x1F) \
	X(uint32_t, ro_fuse_range, 0x20) \
	X(uint32_t, ro_fuse_min, 0x24) \
	X(uint32_t, evv_default_vddc, 0x28) \
	X(uint32_t, evv_no_calc_vddc, 0x2C) \
	X(uint32_t, speed_model, 0x30) \
	X(uint32_t, ro_margin_a, 0x5C) \
	X(uint32_t, ro_margin_b, 0x60) \
	X(uint32_t, ro_margin_c, 0x64) \
	X(uint32_t, fixed_margin, 0x68) \
	X(uint32_t, fmax_mean_margin, 0x6C) \
	X(uint32_t, platform_mean_margin, 0x70) \
	X(uint32_t, fmax_sigma_margin, 0x74) \
	X(uint32_t, platform_sigma_margin, 0x78) \
	X(uint32_t, dc_sigma_margin, 0x7C) \
	X(uint32_t, loadline_slope, 0x80) \
	X(uint32_t, avfs_mean_nsigma0, 0xC4) \
	X(uint32_t, avfs_mean_nsigma1, 0xC8) \
	X(uint32_t, avfs_mean_nsigma2, 0xCC) \
	X(uint16_t, dc_tolerance_sigma, 0xD0) \
	X(uint16_t, platform_mean, 0xD2) \
	X(uint16_t, platform_sigma, 0xD4) \
	X(uint32_t, droop_cks_off_a0, 0xD6) \
	X(uint32_t, droop_cks_off_a1, 0xDA) \
	X(uint32_t, droop_cks_off_a2, 0xDE) \
	X(uint32_t, droop_cks_on_a0, 0xE2) \
	X(uint32_t, droop_cks_on_a1, 0xE6) \
	X(uint32_t, droop_cks_on_a2, 0xEA) \
	X(uint32_t, fuse_cks_off_m1, 0xEE) \
	X(uint16_t, fuse_cks_off_m2, 0xF2) \
	X(uint32_t, fuse_cks_off_b, 0xF4) \
	X(uint32_t, fuse_cks_on_m1, 0xF8) \
	X(uint16_t, fuse_cks_on_m2, 0xFC) \
	X(uint32_t, fuse_cks_on_b, 0xFE) \
	X(uint16_t, max_voltage_0_25mv, 0x102) \
	X(uint8_t, enable_droop_cks_off, 0x104) \
	X(uint8_t, enable_droop_cks_on, 0x105) \
	X(uint8_t, enable_fuse_cks_off, 0x106) \
	X(uint8_t, enable_fuse_cks_on, 0x107) \
	X(uint16_t, psm_age_factor, 0x108) \
	X(uint8_t, apply_avfs_cks_off_voltage, 0x10A)
/* clang-format on */

#define VBIOS_DPM_LEVELS 8

struct vbios_firmware_info {
	VBIOS_FIRMWARE_INFO(VBIOS_MEMBER)
};

struct vbios_vram_usage {
	VBIOS_VRAM_USAGE(VBIOS_MEMBER)
};

#define VBIOS_EDC_REGISTERS 24u /* ppatomctrl.h, AtomCtrl_EDCLeakgeTable */

struct vbios_gfx_info {
	uint8_t minor; /* content revision: 1 or 3 */
	VBIOS_GFX_INFO(VBIOS_MEMBER)
	VBIOS_GFX_INFO_3(VBIOS_MEMBER)
};

struct vbios_smu_info {
	uint8_t smu_ver, share_power_source;
	unsigned ranges;
	struct vbios_smu_range {
		VBIOS_SMU_RANGE(VBIOS_MEMBER)
	} range[8];
};

/* ids of pins: Linux atombios.h, PP_AC_DC_SWITCH_GPIO_PINID and following */
enum { VBIOS_GPIO_AC_DC = 60, VBIOS_GPIO_VR_HOT = 61, VBIOS_GPIO_THERM_OUT = 65 };

struct vbios_gpio_lut {
	unsigned pins;
	struct vbios_gpio_pin {
		VBIOS_GPIO_PIN(VBIOS_MEMBER)
	} pin[64];
};

/* GPIO_I2C_Info 1.1: registers (dword indices) and bit positions of each line, in the order clock
 * mask, enable, Y, A, data mask, enable, Y, A: atombios.md 10.5
 */
struct vbios_gpio_i2c {
	unsigned lines;
	struct vbios_i2c_line {
		uint16_t reg[8];
		uint8_t id; /* bits 3:0 line, 6:4 engine, 7 hardware capable */
		uint8_t shift[8];
	} line[32];
};

struct vbios_ss_info {
	unsigned entries;
	struct vbios_spread {
		VBIOS_SPREAD(VBIOS_MEMBER)
	} entry[32];
};

struct vbios_profiling {
	VBIOS_PROFILING(VBIOS_MEMBER)
	uint32_t sm_a[8];
	uint8_t sm_a_sign[8];
	uint32_t tdc_limit[VBIOS_DPM_LEVELS];
	uint32_t no_calc_vddc[VBIOS_DPM_LEVELS];
};

/* MC_InitParameter 2.1, as far as it is known: atombios.md 9 */
struct vbios_mc_init {
	uint32_t microcode_id; /* first dword of the memory microcode in the flash */
};

int vbios_firmware_info(const struct vbios_rom *rom, struct vbios_firmware_info *out);
int vbios_vram_usage(const struct vbios_rom *rom, struct vbios_vram_usage *out);
int vbios_gfx_info(const struct vbios_rom *rom, struct vbios_gfx_info *out);
/* vbios_edc - what this board wants in the EDC controller's registers (smu7_hwmgr.c,
 * DIDTEDCConfig_P12, in that order), of the two tables GFX_Info names: for a chip that leaks less
 * than the threshold, or for one that leaks as much or more. Only when both offsets of @gfx are not
 * 0. Return: 0; -EINVAL (logged) the table is not in the image.
 */
int vbios_edc(const struct vbios_rom *rom, const struct vbios_gfx_info *gfx, unsigned leakage_id,
        uint32_t out[VBIOS_EDC_REGISTERS]);
int vbios_smu_info(const struct vbios_rom *rom, struct vbios_smu_info *out);
int vbios_gpio_lut(const struct vbios_rom *rom, struct vbios_gpio_lut *out);
/* vbios_gpio_find - the pin with this id. Return: NULL when there is none; @lut may be NULL, too.
 */
const struct vbios_gpio_pin *vbios_gpio_find(const struct vbios_gpio_lut *lut, unsigned id);
int vbios_gpio_i2c(const struct vbios_rom *rom, struct vbios_gpio_i2c *out);
int vbios_ss_info(const struct vbios_rom *rom, struct vbios_ss_info *out);
int vbios_profiling(const struct vbios_rom *rom, struct vbios_profiling *out);
int vbios_mc_init(const struct vbios_rom *rom, struct vbios_mc_init *out);

#endif
