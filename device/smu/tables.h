/* tables.h - the SMU's tables of this board, from its VBIOS: clock levels, voltages, limits, fan.
 * Pure: decoded VBIOS tables and a few fuses in, big-endian bytes out, as SMC RAM holds them. Stock
 * policy only: every level and limit is the VBIOS' own. Layouts: polaris.md 10.3; rules: 10.6;
 * corrected by amdgpu-oracle.md 7 items 6 and 7. Clocks in 10 kHz, voltages in mV.
 */
#ifndef RX_SMU_TABLES_H
#define RX_SMU_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "device/vbios/info.h"
#include "device/vbios/powerplay.h"
#include "device/vbios/voltage.h"

/* polaris.md 10.3 */
#define SMU74_DPM_TABLE_BYTES    1884u
#define SMU74_DPM_UPLOAD_FROM    108u /* before it lie the firmware's own controllers */
#define SMU74_GRAPHICS_LEVELS    8u
#define SMU74_MEMORY_LEVELS      4u
#define SMU74_FAN_TABLE_BYTES    36u
#define SMU74_MC_ARB_TABLE_BYTES 384u /* 8 x 4 entries of 12 bytes */
#define SMU74_PM_FUSES_BYTES     84u  /* of 176: what is uploaded */
/* smu74_discrete.h, AVFS_meanNsigma_t and AVFS_Sclk_Offset_t */
#define SMU74_MEAN_N_SIGMA_BYTES 28u
#define SMU74_SCLK_OFFSETS_BYTES 16u

/* What table 60 (ComputeMemoryEnginePLL) says of an engine clock: atombios.md 12. */
struct smu_engine_pll {
	uint16_t fcw_int, fcw_frac, pcc_fcw_int;
	uint8_t pll_range, ss_enable;
	uint16_t fcw1_int, fcw1_frac, ss_slew, pcc_slew;
};

/* MC_ARB_DRAM_TIMING, MC_ARB_DRAM_TIMING2, MC_ARB_BURST_TIME.STATE0 after table 63. */
struct smu_dram_timing {
	uint32_t timing, timing2;
	uint8_t burst;
};

/* smu_atom - what the builder asks the VBIOS' command tables for. Return: 0 or -errno, passed on.
 */
struct smu_atom {
	void *ctx;
	int (*engine_pll)(void *ctx, uint32_t clock, struct smu_engine_pll *out);
	/* the divider that makes @clock of the DFS bypass clock */
	int (*dfs_divider)(void *ctx, uint32_t clock, uint8_t *divider);
	int (*dram_timing)(void *ctx, uint32_t sclk, uint32_t mclk, struct smu_dram_timing *out);
	/* what is set besides for a memory level, once each */
	int (*ac_timing)(void *ctx, uint32_t mclk, unsigned level);
	/* a virtual voltage id at an engine clock, in mV */
	int (*evv)(void *ctx, uint16_t id, uint32_t sclk, uint16_t *mv);
};

/* Words of the card itself. */
struct smu_fuses {
	uint32_t efuse49, efuse67; /* SMU_EFUSE_0 + 4n: bit 0 AVFS; ring oscillator in 31:24 */
	uint32_t pm_fuse_32;       /* PmFuses + 32 before the upload: LPML limits */
	bool therm_out_low;        /* the pin of GPIO id 65 rests low; without such a pin: any */
};

struct smu_tables_in {
	const struct vbios_powerplay *pp;
	const struct vbios_firmware_info *fi;
	const struct vbios_voltages *voltages;
	const struct vbios_gpio_lut *gpio;       /* may be NULL */
	const struct vbios_smu_info *smu_info;   /* may be NULL: built-in ranges */
	const struct vbios_profiling *profiling; /* may be NULL: no AVFS */
	struct smu_fuses fuses;
	bool kicker, p20;              /* fw_set */
	bool gddr5;                    /* MC_SEQ_MISC0[31:28] == 5 */
	unsigned pcie_gen, pcie_lanes; /* what the link can do: 1..3, 1..16 */
	const struct smu_atom *atom;
};

struct smu_tables {
	uint8_t dpm[SMU74_DPM_TABLE_BYTES];
	uint8_t mc_arb[SMU74_MC_ARB_TABLE_BYTES];
	uint8_t pm_fuses[SMU74_PM_FUSES_BYTES];
	unsigned sclk_levels, mclk_levels;
	uint32_t sclk[SMU74_GRAPHICS_LEVELS], mclk[SMU74_MEMORY_LEVELS];
	bool vr_hot; /* the board has a pin for it */
	bool ulv;
	uint16_t tdp_w, tdc_a, package_w;
	/* AVFS: only with its fuse; then these go up, too */
	bool avfs, apply_cks_off;
	uint32_t droop_settings;
	uint8_t mean_n_sigma[SMU74_MEAN_N_SIGMA_BYTES];
	uint8_t sclk_offsets[SMU74_SCLK_OFFSETS_BYTES];
};

/* smu_build_tables - Return: 0; -EINVAL (logged) the VBIOS describes what cannot be; or what
 * @in->atom returned. @out is complete or not to be used.
 */
int smu_build_tables(const struct smu_tables_in *in, struct smu_tables *out);

/* smu_thermal - fan and temperature limits of the board. */
struct smu_thermal {
	bool has_fan;
	unsigned tach_pulses; /* a revolution; 0: no tach */
	uint8_t alert_c;      /* the interrupt threshold, and where the hardware throttles */
	bool zero_rpm;
	uint16_t rpm_max;
	uint32_t acoustic_mhz;
	uint8_t min_pwm_pct, target_c;
	struct vbios_pp_fan curve;
};

void smu_thermal_of(const struct vbios_powerplay *pp, struct smu_thermal *out);

/* smu_build_fan - FanTable for a fan of @duty100 steps. @temp_sel: CG_MULT_THERMAL_CTRL.TEMP_SEL.
 * Return: 0; -EINVAL (logged) the curve of the VBIOS does not rise.
 */
int smu_build_fan(const struct smu_thermal *t, unsigned duty100, uint8_t temp_sel,
        uint8_t out[SMU74_FAN_TABLE_BYTES]);

#endif
