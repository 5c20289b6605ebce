/* tables.c - SMU74 tables: voltages and clock levels, polaris.md 10.6. */
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/smu/tables_priv.h"

#define VDDC_VDDCI_DELTA 200u  /* mV: polaris.md 10.6 */
#define EVV_CKS_STEP     5000u /* 50 MHz: polaris.md 10.4 */
#define EVV_MAX_MV       2000u /* polaris.md 10.4 */

/* DpmTable: polaris.md 10.3 */
#define DPM_GRAPHICS_LEVEL_COUNT 208
#define DPM_MEMORY_LEVEL_COUNT   209
#define DPM_GRAPHICS_LEVEL       236
#define DPM_MEMORY_ACPI_LEVEL    684
#define DPM_MEMORY_LEVEL         708
#define DPM_ACPI_LEVEL           932
#define DPM_GRAPHICS_BOOT_LEVEL  1580
#define DPM_MEMORY_BOOT_LEVEL    1590
#define GRAPHICS_LEVEL_BYTES     56
#define MEMORY_LEVEL_BYTES       24
#define ACPI_SCLK_SETTING        24 /* in ACPILevel */

/* Activity and hysteresis of the stock driver: polaris.md 10.6. The ACPI memory level takes the
 * engine's activity (the stock driver's table, byte 704). */
#define SCLK_ACTIVITY   30
#define SCLK_DOWN_HYST  100
#define MCLK_ACTIVITY   25
#define MCLK_UP_HYST    10
#define MCLK_DOWN_HYST  60
#define ACPI_DOWN_HYST  100
#define WATERMARK_HIGH  1
#define SCLK_SLEW_RATE  0x400
#define PCC_DOWN_SLEW   0xFFFF
#define DEEP_SLEEP_MIN  2500u /* 25 MHz, smu7_hwmgr.c, SMU7_MINIMUM_ENGINE_CLOCK */
#define DEEP_SLEEP_MAX  5u    /* largest divider id there */
#define ARB_ENTRY_BYTES 12u

uint32_t smu_voltage_word(uint16_t vddc_mv, uint16_t vddci_mv)
{
	return (uint32_t)vddc_mv * VOLTAGE_SCALE | (uint32_t)vddci_mv * VOLTAGE_SCALE << 15 |
	       1u << 30;
}

uint16_t smu_vddci_for(const struct build *b, uint16_t vddc_mv)
{
	unsigned want = vddc_mv > VDDC_VDDCI_DELTA ? vddc_mv - VDDC_VDDCI_DELTA : 0;

	if (!b->vddcis)
		return b->in->fi->bootup_vddci_mv;
	for (unsigned i = 0; i < b->vddcis; i++)
		if (b->vddci_mv[i] >= want)
			return b->vddci_mv[i];
	return b->vddci_mv[b->vddcis - 1];
}

static void add_vddci(struct build *b, uint16_t mv)
{
	if (mv && b->vddcis < ARRAY_SIZE(b->vddci_mv))
		b->vddci_mv[b->vddcis++] = mv;
}

/* find_vddci - behind pins it makes the steps its object lists; behind SVI2 those that the memory
 * clocks ask for (smu7_hwmgr.c, smu7_construct_voltage_tables), in the VBIOS' order. */
static void find_vddci(struct build *b)
{
	const struct vbios_voltages *v = b->in->voltages;
	const struct vbios_powerplay *pp = b->in->pp;
	const struct vbios_voltage_object *gpio, *svi2;

	gpio = vbios_voltage_find(v, VBIOS_VDDCI, VBIOS_VOLTAGE_GPIO);
	svi2 = vbios_voltage_find(v, VBIOS_VDDCI, VBIOS_VOLTAGE_SVID2);
	if (gpio && gpio->entries) {
		b->vddci = gpio;
		for (unsigned i = 0; i < gpio->entries; i++)
			add_vddci(b, gpio->gpio.entry[i].mv);
	} else if (svi2) {
		b->vddci = svi2;
		for (unsigned i = 0; i < pp->mclks; i++)
			add_vddci(b, pp->mclk[i].vddci_mv);
	}
}

/* ---- virtual voltages: polaris.md 10.4 ---- */

/* sclk_of_id - the engine clock whose level uses lookup entry @index. */
static uint32_t sclk_of_id(const struct vbios_powerplay *pp, unsigned index)
{
	for (unsigned i = 0; i < pp->sclks; i++)
		if (pp->sclk[i].vdd_index == index)
			return pp->sclk[i].sclk +
			       (pp->sclk[i].cks & VBIOS_PP_CKS_OFF ? EVV_CKS_STEP : 0);
	return 0;
}

static int resolve(struct build *b, unsigned index)
{
	const struct vbios_powerplay *pp = b->in->pp;
	uint16_t mv = pp->vddc[index].mv;
	uint32_t sclk = mv >= VBIOS_PP_VIRTUAL ? sclk_of_id(pp, index) : 0;
	int err = sclk ? b->in->atom->evv(b->in->atom->ctx, pp->vddc[index].mv, sclk, &mv) : 0;

	if (err)
		return err;
	if (sclk && (mv == 0 || mv >= EVV_MAX_MV))
		return rx_fail("smu", -EINVAL,
		        "voltage id 0x%x at %u MHz: the VBIOS makes %u mV of it",
		        pp->vddc[index].mv, sclk / 100, mv);
	b->vddc[index] = mv;
	return 0;
}

/* fill_unused - ids of no engine clock can be asked of nobody: levels that use them all the same
 * (video engines) get the most that the engine clocks need. */
static int fill_unused(struct build *b)
{
	unsigned n = b->in->pp->vddcs;
	uint16_t most = 0;

	for (unsigned i = 0; i < n; i++)
		if (b->vddc[i] < VBIOS_PP_VIRTUAL)
			most = MAX(most, b->vddc[i]);
	if (!most)
		return rx_fail("smu", -EINVAL, "PowerPlay: no voltage is known");
	for (unsigned i = 0; i < n; i++)
		if (b->vddc[i] >= VBIOS_PP_VIRTUAL)
			b->vddc[i] = most;
	return 0;
}

static int resolve_voltages(struct build *b)
{
	int err = 0;

	for (unsigned i = 0; i < b->in->pp->vddcs && !err; i++)
		err = resolve(b, i);
	return err ? err : fill_unused(b);
}

/* ---- engine clock levels ---- */

/* SclkSetting: polaris.md 10.3, 24 bytes. */
static int put_sclk(struct build *b, uint8_t *at, uint32_t sclk)
{
	struct smu_engine_pll pll;
	int err = b->in->atom->engine_pll(b->in->atom->ctx, sclk, &pll);

	if (err)
		return err;
	put_be32(at, sclk);
	put_be16(at + 4, pll.fcw_int);
	put_be16(at + 6, pll.fcw_frac);
	put_be16(at + 8, pll.pcc_fcw_int);
	at[10] = pll.pll_range;
	at[11] = pll.ss_enable;
	put_be16(at + 12, SCLK_SLEW_RATE);
	put_be16(at + 14, pll.pcc_slew);
	put_be16(at + 16, PCC_DOWN_SLEW);
	put_be16(at + 18, pll.fcw1_int);
	put_be16(at + 20, pll.fcw1_frac);
	put_be16(at + 22, pll.ss_slew);
	return 0;
}

/* deep_sleep_divider - the largest power of two that leaves 25 MHz. */
static uint8_t deep_sleep_divider(uint32_t sclk)
{
	uint8_t id = DEEP_SLEEP_MAX;

	while (id && sclk >> id < DEEP_SLEEP_MIN)
		id--;
	return id;
}

/* sclk_voltage - of the first level that is as fast (polaris.md 10.6). */
static uint32_t sclk_voltage(const struct build *b, uint32_t sclk)
{
	const struct vbios_powerplay *pp = b->in->pp;
	unsigned i = 0;

	while (i + 1 < pp->sclks && pp->sclk[i].sclk < sclk)
		i++;
	uint16_t vddc = b->vddc[pp->sclk[i].vdd_index];

	return smu_voltage_word(vddc, smu_vddci_for(b, vddc));
}

static int put_graphics_level(struct build *b, unsigned i)
{
	uint8_t *at = b->out->dpm + DPM_GRAPHICS_LEVEL + GRAPHICS_LEVEL_BYTES * i;
	uint32_t sclk = b->out->sclk[i];

	put_be32(at, sclk_voltage(b, sclk));
	at[4] = (uint8_t)MIN(i, b->link_levels - 1);
	at[5] = i <= 1 ? deep_sleep_divider(sclk) : 0;
	put_be16(at + 6, SCLK_ACTIVITY);
	at[26] = i == 0; /* the others by mask when DPM runs */
	at[27] = 1;
	at[29] = SCLK_DOWN_HYST;
	return put_sclk(b, at + 32, sclk);
}

/* list_sclks, list_mclks - equal neighbours are one level. */
static int list_sclks(struct build *b)
{
	const struct vbios_powerplay *pp = b->in->pp;
	struct smu_tables *o = b->out;

	for (unsigned i = 0; i < pp->sclks; i++) {
		if (o->sclk_levels && o->sclk[o->sclk_levels - 1] == pp->sclk[i].sclk)
			continue;
		if (o->sclk_levels == SMU74_GRAPHICS_LEVELS)
			return rx_fail("smu", -EINVAL, "PowerPlay: more than %u engine clocks",
			        SMU74_GRAPHICS_LEVELS);
		o->sclk[o->sclk_levels++] = pp->sclk[i].sclk;
	}
	return 0;
}

static int list_mclks(struct build *b)
{
	const struct vbios_powerplay *pp = b->in->pp;
	struct smu_tables *o = b->out;

	for (unsigned i = 0; i < pp->mclks; i++) {
		if (o->mclk_levels && o->mclk[o->mclk_levels - 1] == pp->mclk[i].mclk)
			continue;
		if (o->mclk_levels == SMU74_MEMORY_LEVELS || !pp->mclk[i].mclk)
			return rx_fail("smu", -EINVAL,
			        "PowerPlay: memory clock %u of %u cannot be taken", i, pp->mclks);
		o->mclk[o->mclk_levels++] = pp->mclk[i].mclk;
	}
	return 0;
}

/* ---- memory clock levels ---- */

static uint32_t mclk_voltage(const struct build *b, uint32_t mclk)
{
	const struct vbios_powerplay *pp = b->in->pp;
	unsigned i = 0;

	while (i + 1 < pp->mclks && pp->mclk[i].mclk < mclk)
		i++;
	uint16_t vddc = b->vddc[pp->mclk[i].vddc_index], vddci = pp->mclk[i].vddci_mv;

	return smu_voltage_word(vddc, vddci && b->vddci ? vddci : smu_vddci_for(b, vddc));
}

/* No board here switches its memory voltage: VRConfig says static, so the level carries the boot
 * value (polaris.md 10.6). */
static void put_memory_level(struct build *b, uint8_t *at, uint32_t mclk)
{
	put_be32(at, mclk_voltage(b, mclk));
	put_be32(at + 8, mclk);
}

static void put_memory_levels(struct build *b)
{
	for (unsigned i = 0; i < b->out->mclk_levels; i++) {
		uint8_t *at = b->out->dpm + DPM_MEMORY_LEVEL + MEMORY_LEVEL_BYTES * i;

		put_memory_level(b, at, b->out->mclk[i]);
		put_be32(at + 4, (uint32_t)b->in->fi->bootup_mvddc_mv * VOLTAGE_SCALE);
		at[13] = 1;      /* EnabledForThrottle */
		at[14] = i == 0; /* EnabledForActivity */
		at[16] = MCLK_UP_HYST;
		at[17] = MCLK_DOWN_HYST;
		put_be16(at + 20, MCLK_ACTIVITY);
		at[22] = i + 1 == b->out->mclk_levels ? WATERMARK_HIGH : 0;
	}
}

/* ---- boot and ACPI: the VBIOS' own clocks ---- */

static int put_acpi(struct build *b)
{
	uint8_t *acpi = b->out->dpm + DPM_ACPI_LEVEL, *mem = b->out->dpm + DPM_MEMORY_ACPI_LEVEL;
	uint32_t sclk = b->in->fi->default_engine_clock;

	put_be32(acpi + 4, sclk_voltage(b, sclk));
	put_memory_level(b, mem, b->in->fi->default_memory_clock);
	mem[17] = ACPI_DOWN_HYST;
	put_be16(mem + 20, SCLK_ACTIVITY);
	return put_sclk(b, acpi + ACPI_SCLK_SETTING, sclk);
}

static uint8_t first_at_least(const uint32_t *clock, unsigned n, uint32_t boot)
{
	for (unsigned i = 0; i < n; i++)
		if (clock[i] >= boot)
			return (uint8_t)i;
	return 0;
}

/* put_arbiter - memory timings of every pair of clocks (polaris.md 10.6, memory levels). */
static int put_arbiter(struct build *b)
{
	const struct smu_atom *a = b->in->atom;
	int err = 0;

	for (unsigned s = 0; s < b->out->sclk_levels; s++)
		for (unsigned m = 0; m < b->out->mclk_levels && !err; m++) {
			struct smu_dram_timing t = {0};
			uint8_t *at =
			        b->out->mc_arb + ARB_ENTRY_BYTES * (s * SMU74_MEMORY_LEVELS + m);

			err = a->dram_timing(a->ctx, b->out->sclk[s], b->out->mclk[m], &t);
			if (!err && s == 0)
				err = a->ac_timing(a->ctx, b->out->mclk[m], m);
			put_be32(at, t.timing);
			put_be32(at + 4, t.timing2);
			at[8] = t.burst;
		}
	return err;
}

int smu_build_levels(struct build *b)
{
	struct smu_tables *o = b->out;
	int err = list_sclks(b);

	if (!err)
		err = list_mclks(b);
	for (unsigned i = 0; i < o->sclk_levels && !err; i++)
		err = put_graphics_level(b, i);
	if (err)
		return err;
	o->dpm[DPM_GRAPHICS_LEVEL_COUNT] = (uint8_t)o->sclk_levels;
	o->dpm[DPM_MEMORY_LEVEL_COUNT] = (uint8_t)o->mclk_levels;
	put_memory_levels(b);
	o->dpm[DPM_GRAPHICS_BOOT_LEVEL] =
	        first_at_least(o->sclk, o->sclk_levels, b->in->fi->default_engine_clock);
	o->dpm[DPM_MEMORY_BOOT_LEVEL] =
	        first_at_least(o->mclk, o->mclk_levels, b->in->fi->default_memory_clock);
	err = put_acpi(b);
	return err ? err : put_arbiter(b);
}

/* ---- the whole ---- */

static int check(const struct smu_tables_in *in)
{
	const struct vbios_powerplay *pp = in->pp;

	if (!pp->sclks || !pp->mclks || !pp->vddcs || !pp->has_powertune)
		return rx_fail("smu", -EINVAL,
		        "PowerPlay: no %s: power management cannot be set up",
		        !pp->sclks   ? "engine clocks"
		        : !pp->mclks ? "memory clocks"
		        : !pp->vddcs ? "voltages"
		                     : "power limits");
	if (!vbios_voltage_find(in->voltages, VBIOS_VDDC, VBIOS_VOLTAGE_SVID2))
		return rx_fail("smu", -EINVAL,
		        "VoltageObjectInfo: the core voltage is not behind SVI2, as on every board "
		        "known");
	return 0;
}

int smu_build_tables(const struct smu_tables_in *in, struct smu_tables *out)
{
	struct build b = {.in = in, .out = out};
	int err = check(in);

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	find_vddci(&b);
	out->tdp_w = in->pp->powertune.tdp_w;
	out->tdc_a = in->pp->powertune.tdc_a;
	out->package_w = in->pp->powertune.max_power_delivery_w;
	out->ulv = in->pp->ulv_offset_mv != 0;
	err = resolve_voltages(&b);
	if (!err)
		err = smu_build_media(&b);
	if (!err)
		err = smu_build_levels(&b);
	if (err)
		return err;
	smu_build_stretcher(&b);
	smu_build_fixed(&b);
	smu_build_pm_fuses(&b);
	smu_build_avfs(&b);
	return 0;
}
