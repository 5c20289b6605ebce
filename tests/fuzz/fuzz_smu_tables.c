/* fuzz_smu_tables.c - any numbers in a decoded PowerPlay table: the SMU's tables are built, or it
 * is said why not. Only what vbios/powerplay.h promises is kept: how many entries, and indices that
 * exist. The input fills the structs in order; what is missing is 0.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "device/log.h"
#include "device/smu/tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
	if (!holds)
		abort();
}

static int engine_pll(void *ctx, uint32_t clock, struct smu_engine_pll *out)
{
	(void)ctx;
	*out = (struct smu_engine_pll){.fcw_int = (uint16_t)clock};
	return 0;
}

static int dfs_divider(void *ctx, uint32_t clock, uint8_t *divider)
{
	(void)ctx;
	*divider = (uint8_t)clock;
	return 0;
}

static int dram_timing(void *ctx, uint32_t sclk, uint32_t mclk, struct smu_dram_timing *out)
{
	(void)ctx;
	*out = (struct smu_dram_timing){sclk, mclk, 1};
	return 0;
}

static int ac_timing(void *ctx, uint32_t mclk, unsigned level)
{
	(void)ctx, (void)mclk, (void)level;
	return 0;
}

static int evv(void *ctx, uint16_t id, uint32_t sclk, uint16_t *mv)
{
	(void)ctx;
	*mv = (uint16_t)(id ^ sclk);
	return 0;
}

static const struct smu_atom atom = {NULL, engine_pll, dfs_divider, dram_timing, ac_timing, evv};

static void take(const uint8_t **data, size_t *size, void *to, size_t n)
{
	size_t have = *size < n ? *size : n;

	memcpy(to, *data, have);
	*data += have;
	*size -= have;
}

/* keep_promises - powerplay.h: counts, and indices into other lists. */
static void keep_promises(struct vbios_powerplay *pp)
{
	unsigned *const counts[] = {&pp->states, &pp->mclks, &pp->sclks, &pp->vddcs, &pp->vddgfxs,
	        &pp->mms, &pp->vces, &pp->pcies, &pp->hards};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		*counts[i] %= VBIOS_PP_MAX + 1;
	for (unsigned i = 0; i < VBIOS_PP_MAX && pp->vddcs; i++) {
		pp->sclk[i].vdd_index = (uint8_t)(pp->sclk[i].vdd_index % pp->vddcs);
		pp->mclk[i].vddc_index = (uint8_t)(pp->mclk[i].vddc_index % pp->vddcs);
		pp->mm[i].vddc_index = (uint8_t)(pp->mm[i].vddc_index % pp->vddcs);
	}
	if (!pp->vddcs)
		pp->sclks = pp->mclks = pp->mms = 0;
	pp->has_fan = pp->fan.rev & 1;
	pp->has_thermal = pp->thermal.rev & 1;
	pp->has_powertune = !(pp->powertune.rev & 1);
	pp->has_gpio = pp->gpio.rev & 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct vbios_powerplay pp;
	static struct vbios_voltages voltages;
	static struct smu_tables out;
	struct vbios_firmware_info fi = {0};
	struct vbios_profiling profiling = {0};
	struct smu_thermal thermal;
	uint8_t fan[SMU74_FAN_TABLE_BYTES], mode[4] = {0};

	memset(&pp, 0, sizeof(pp));
	memset(&voltages, 0, sizeof(voltages));
	take(&data, &size, mode, sizeof(mode));
	take(&data, &size, &fi, sizeof(fi));
	take(&data, &size, &pp, offsetof(struct vbios_powerplay, has_fan));
	take(&data, &size, &pp.fan, sizeof(pp.fan));
	take(&data, &size, &pp.powertune, sizeof(pp.powertune));
	take(&data, &size, &profiling, sizeof(profiling));
	keep_promises(&pp);
	voltages.objects = 2;
	voltages.object[0] = (struct vbios_voltage_object){
	        .type = VBIOS_VDDC, .mode = VBIOS_VOLTAGE_SVID2, .decoded = true};
	voltages.object[1] = (struct vbios_voltage_object){.type = VBIOS_VDDCI,
	        .mode = VBIOS_VOLTAGE_GPIO,
	        .decoded = true,
	        .entries = mode[3] % (VBIOS_MAX_VOLTAGE_ENTRIES + 1)};
	rx_log_set_level(NULL, LOG_ERROR);
	const struct smu_tables_in in = {.pp = &pp,
	        .fi = &fi,
	        .voltages = &voltages,
	        .profiling = &profiling,
	        .fuses = {.efuse49 = mode[0], .efuse67 = (uint32_t)mode[1] << 24},
	        .kicker = mode[2] & 1,
	        .p20 = mode[2] & 2,
	        .pcie_gen = mode[2] >> 2 & 3,
	        .pcie_lanes = mode[2] >> 4,
	        .atom = &atom};

	if (smu_build_tables(&in, &out) == 0) {
		require(out.sclk_levels >= 1 && out.sclk_levels <= SMU74_GRAPHICS_LEVELS);
		require(out.mclk_levels >= 1 && out.mclk_levels <= SMU74_MEMORY_LEVELS);
		/* a level never points behind the link levels */
		for (unsigned i = 0; i < out.sclk_levels; i++)
			require(out.dpm[236 + 56 * i + 4] < out.dpm[210]);
	}
	smu_thermal_of(&pp, &thermal);
	smu_build_fan(&thermal, mode[1], mode[0], fan);
	return 0;
}
