/* vbios_calls.c - the VBIOS' command tables behind struct smu_atom (atombios.md 12), and the words
 * of the card the tables need. */
#include <string.h>

#include "device/atom/atom.h"
#include "device/bytes.h"
#include "device/err.h"
#include "device/regs/regs.h"
#include "device/regs/smc.h"
#include "device/smu/smu_priv.h"

/* parameters: atombios.md 12 */
#define CLOCK_MASK       0x00FFFFFFu
#define PLL_ENGINE       (1u << 24)
#define TIMING_ENGINE    (2u << 24) /* the engine clock; the memory clock follows */
#define TIMING_ADJUST_MC (3u << 24) /* the memory clock; the level follows */
#define VOLTAGE_VDDC     1u
#define VOLTAGE_MODE_EVV (9u << 8)
#define PM_FUSE_LPML     32u /* in PmFuses: polaris.md 10.3 */
/* dwords behind IX_SMU_EFUSE_0: polaris.md 10.6, 14.5 */
#define EFUSE_AVFS 49u
#define EFUSE_RING 67u
/* bits 463:454 (smu7_hwmgr.c, LEAKAGE_ID_MSB and LSB) of words counted as above */
#define EFUSE_LEAKAGE       14u
#define EFUSE_LEAKAGE_ID(v) ((v) >> 6 & 0x3FF)

static int run(const struct smu_vbios *v, unsigned table, uint32_t params[ATOM_PARAMS])
{
	return atom_run(v->atom, table, params, ATOM_PARAMS);
}

static int engine_pll(void *ctx, uint32_t clock, struct smu_engine_pll *out)
{
	uint32_t p[ATOM_PARAMS] = {(clock & CLOCK_MASK) | PLL_ENGINE};
	int err = run(ctx, ATOM_CMD_ComputeMemoryEnginePLL, p);

	*out = (struct smu_engine_pll){
	        .fcw_frac = (uint16_t)p[1],
	        .fcw_int = (uint16_t)(p[1] >> 16),
	        .pll_range = (uint8_t)(p[2] >> 16),
	        .ss_enable = (uint8_t)(p[2] >> 24),
	        .fcw1_frac = (uint16_t)p[3],
	        .fcw1_int = (uint16_t)(p[3] >> 16),
	        .pcc_fcw_int = (uint16_t)(p[4] >> 16),
	        .ss_slew = (uint16_t)p[5],
	        .pcc_slew = (uint16_t)(p[5] >> 16),
	};
	return err;
}

static int dfs_divider(void *ctx, uint32_t clock, uint8_t *divider)
{
	uint32_t p[ATOM_PARAMS] = {clock & CLOCK_MASK};
	int err = run(ctx, ATOM_CMD_ComputeMemoryEnginePLL, p);

	*divider = (uint8_t)(p[0] >> 24);
	return err;
}

static int dram_timing(void *ctx, uint32_t sclk, uint32_t mclk, struct smu_dram_timing *out)
{
	const struct smu_vbios *v = ctx;
	uint32_t p[ATOM_PARAMS] = {(sclk & CLOCK_MASK) | TIMING_ENGINE, mclk & CLOCK_MASK}, burst;
	int err = run(v, ATOM_CMD_DynamicMemorySettings, p);

	if (!err)
		err = reg_read(v->mmio, REG_MC_ARB_DRAM_TIMING, &out->timing);
	if (!err)
		err = reg_read(v->mmio, REG_MC_ARB_DRAM_TIMING2, &out->timing2);
	if (!err)
		err = reg_read(v->mmio, REG_MC_ARB_BURST_TIME, &burst);
	if (!err)
		out->burst = (uint8_t)BURST_STATE0(burst);
	return err;
}

static int ac_timing(void *ctx, uint32_t mclk, unsigned level)
{
	uint32_t p[ATOM_PARAMS] = {(mclk & CLOCK_MASK) | TIMING_ADJUST_MC, level};

	return run(ctx, ATOM_CMD_DynamicMemorySettings, p);
}

static int evv(void *ctx, uint16_t id, uint32_t sclk, uint16_t *mv)
{
	uint32_t p[ATOM_PARAMS] = {VOLTAGE_VDDC | VOLTAGE_MODE_EVV | (uint32_t)id << 16, sclk};
	int err = run(ctx, ATOM_CMD_GetVoltageInfo, p);

	*mv = (uint16_t)MIN(p[0] / 100, 0xFFFFu); /* 0.01 mV */
	return err;
}

void smu_atom_of(struct smu_vbios *v, struct smu_atom *out)
{
	*out = (struct smu_atom){.ctx = v,
	        .engine_pll = engine_pll,
	        .dfs_divider = dfs_divider,
	        .dram_timing = dram_timing,
	        .ac_timing = ac_timing,
	        .evv = evv};
}

/* read_therm_out - the level at the pads, whatever register the table names: polaris10_smumgr.c. */
static int read_therm_out(struct smu *s, const struct vbios_gpio_lut *gpio, bool *low)
{
	const struct vbios_gpio_pin *pin = vbios_gpio_find(gpio, VBIOS_GPIO_THERM_OUT);
	uint32_t value;

	if (!pin || pin->bit > 31)
		return 0;
	int err = reg_read(s->mmio, REG_GPIOPAD_A, &value);

	if (!err)
		*low = !(value >> pin->bit & 1);
	return err;
}

int smu_read_fuses(struct smu *s, const struct vbios_gpio_lut *gpio, struct smu_fuses *out)
{
	*out = (struct smu_fuses){0};
	int err = smc_read(s->mmio, IX_SMU_EFUSE_0 + 4 * EFUSE_AVFS, &out->efuse49);

	if (!err)
		err = smc_read(s->mmio, IX_SMU_EFUSE_0 + 4 * EFUSE_RING, &out->efuse67);
	if (!err)
		err = smc_read(s->mmio, s->header.pm_fuse_table + PM_FUSE_LPML, &out->pm_fuse_32);
	return err ? err : read_therm_out(s, gpio, &out->therm_out_low);
}

int smu_read_leakage_id(struct smu *s, unsigned *out)
{
	uint32_t word;
	int err = smc_read(s->mmio, IX_SMU_EFUSE_0 + 4 * EFUSE_LEAKAGE, &word);

	if (!err)
		*out = EFUSE_LEAKAGE_ID(word);
	return err;
}
