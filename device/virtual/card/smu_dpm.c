/* smu_dpm.c - clocks by load, power and temperature, from the tables the driver uploaded. Table
 * offsets: polaris.md 10.3; rules: 10.5, 10.7, 14.6. A model: levels change at once, there is no
 * hysteresis, voltages are the table's.
 */
#include "device/bytes.h"
#include "device/virtual/card/card_priv.h"

/* DpmTable */
#define GRAPHICS_COUNT  208u
#define MEMORY_COUNT    209u
#define GRAPHICS_LEVEL  236u
#define GRAPHICS_STRIDE 56u
#define GRAPHICS_SCLK   32u
#define MEMORY_LEVEL    708u
#define MEMORY_STRIDE   24u
#define MEMORY_MCLK     8u
#define TEMP_HIGH       1586u
#define DEFAULT_TDP     1612u /* 1/128 W */
#define MAX_LEVELS      8u
#define MAX_MEMORY      4u

#define BOOT_CLOCK 30000u /* 300 MHz in 10 kHz: polaris.md 1.4 */
#define BOOT_MV    900u   /* polaris.md 2.4 */
#define MIN_CLOCK  10000u
#define MAX_SCLK   200000u
#define MAX_MCLK   300000u /* beyond the overdrive cap of any board: polaris.md 10.4 */
#define MIN_MV     600u
#define MAX_MV     1400u

/* P = idle + k x activity x V^2 x f (polaris.md 14.6). k makes 140 W of 1340 MHz at 1.15 V: what
 * the reference board drew at its 145-W limit (reference-run.md). */
#define IDLE_W   22.0
#define MEMORY_W 12.0  /* at 2 GHz */
#define K_W      0.060 /* W / (V^2 MHz) */
#define BUSY     0.2   /* of the time, that a card counts as loaded */

static uint32_t graphics(struct vcard *c, unsigned level, uint32_t field)
{
	return card_smu_u32(c, card_smu_table(c, SMU_DPM_TABLE) + GRAPHICS_LEVEL +
	                               level * GRAPHICS_STRIDE + field);
}

static uint32_t memory(struct vcard *c, unsigned level, uint32_t field)
{
	return card_smu_u32(
	        c, card_smu_table(c, SMU_DPM_TABLE) + MEMORY_LEVEL + level * MEMORY_STRIDE + field);
}

static uint32_t millivolts(uint32_t voltage_word)
{
	return (voltage_word & 0x7FFF) / 4; /* VDDC[14:0] in 0.25 mV */
}

static unsigned count(struct vcard *c, uint32_t field)
{
	return card_smu_u8(c, card_smu_table(c, SMU_DPM_TABLE) + field);
}

void card_dpm_reset(struct vcard *c)
{
	struct card_smu *s = &c->smu;

	s->sclk_dpm = s->mclk_dpm = s->pcie_dpm = s->voltage = s->ulv = s->cac = false;
	s->tdc = s->package = s->edc = s->avfs = s->fan_table = s->zero_rpm = s->logging = false;
	s->sclk_mask = s->mclk_mask = 1; /* EnabledForActivity of level 0 only: polaris.md 10.6 */
	s->package_limit = s->target_tdp = 0;
	s->sclk_level = s->mclk_level = 0;
	s->sclk = s->mclk = BOOT_CLOCK;
	s->vddc_mv = BOOT_MV;
}

const char *card_dpm_table_wrong(struct vcard *c)
{
	unsigned levels = count(c, GRAPHICS_COUNT), mems = count(c, MEMORY_COUNT);
	uint32_t last = 0;

	if (!card_smu_table(c, SMU_DPM_TABLE))
		return "the firmware has no DpmTable";
	if (!levels || levels > MAX_LEVELS || !mems || mems > MAX_MEMORY)
		return "the DpmTable has an impossible number of levels";
	for (unsigned i = 0; i < levels; i++) {
		uint32_t f = graphics(c, i, GRAPHICS_SCLK), mv = millivolts(graphics(c, i, 0));

		if (f < MIN_CLOCK || f > MAX_SCLK || f < last)
			return "an engine clock of the DpmTable is out of range or order";
		if (mv < MIN_MV || mv > MAX_MV)
			return "a voltage of the DpmTable is out of range";
		last = f;
	}
	for (unsigned i = 0; i < mems; i++)
		if (memory(c, i, MEMORY_MCLK) < MIN_CLOCK || memory(c, i, MEMORY_MCLK) > MAX_MCLK)
			return "a memory clock of the DpmTable is out of range";
	return NULL;
}

static double power_at(struct vcard *c, double activity, uint32_t sclk, uint32_t mv)
{
	double v = mv / 1000.0;

	return IDLE_W + MEMORY_W * c->smu.mclk / 200000.0 + K_W * activity * v * v * sclk / 100.0;
}

double card_dpm_power(struct vcard *c, double activity)
{
	return power_at(c, activity, c->smu.sclk, c->smu.vddc_mv);
}

static unsigned highest(uint32_t mask, unsigned levels)
{
	for (unsigned i = levels; i-- > 0;)
		if (mask & 1u << i)
			return i;
	return 0;
}

static unsigned lowest(uint32_t mask, unsigned levels)
{
	for (unsigned i = 0; i < levels; i++)
		if (mask & 1u << i)
			return i;
	return 0;
}

/* Without its current and power controllers the firmware does not leave 300 MHz under load: seen on
 * the reference system (reference-run.md, method 8). */
static bool controllers(const struct card_smu *s)
{
	return (s->tdc || s->edc) && s->package;
}

/* W; the least of what the driver set and the table's own, each in its unit (polaris.md 10.7). */
static double power_limit(struct vcard *c)
{
	double w = card_smu_u16(c, card_smu_table(c, SMU_DPM_TABLE) + DEFAULT_TDP) / 128.0;

	if (c->smu.package_limit)
		w = MIN(w, c->smu.package_limit / 256.0);
	if (c->smu.target_tdp)
		w = MIN(w, c->smu.target_tdp / 256.0);
	return w;
}

static bool allowed(struct vcard *c, unsigned level, double activity)
{
	uint32_t f = graphics(c, level, GRAPHICS_SCLK), mv = millivolts(graphics(c, level, 0));

	return power_at(c, activity, f, mv) <= power_limit(c);
}

static unsigned throttle(struct vcard *c, unsigned level, double activity)
{
	while (level > 0 && !allowed(c, level, activity))
		do
			level--;
		while (level > 0 && !(c->smu.sclk_mask & 1u << level));
	return level;
}

static void choose_engine(struct vcard *c, double activity, double temperature)
{
	struct card_smu *s = &c->smu;
	unsigned levels = MIN(count(c, GRAPHICS_COUNT), MAX_LEVELS);
	double hot = card_smu_u16(c, card_smu_table(c, SMU_DPM_TABLE) + TEMP_HIGH) / 256.0;

	s->sclk_level = lowest(s->sclk_mask, levels);
	if (activity > BUSY && !controllers(s))
		s->sclk_level = 0;
	else if (activity > BUSY && (hot == 0 || temperature < hot))
		s->sclk_level = throttle(c, highest(s->sclk_mask, levels), activity);
	s->sclk = graphics(c, s->sclk_level, GRAPHICS_SCLK);
	s->vddc_mv = millivolts(graphics(c, s->sclk_level, 0));
}

void card_dpm_choose(struct vcard *c, double activity, double temperature)
{
	struct card_smu *s = &c->smu;
	unsigned mems = MIN(count(c, MEMORY_COUNT), MAX_MEMORY);

	s->sclk = s->mclk = BOOT_CLOCK;
	s->vddc_mv = BOOT_MV;
	s->sclk_level = s->mclk_level = 0;
	if (s->state != SMU_RUNNING)
		return;
	if (s->mclk_dpm) {
		s->mclk_level =
		        activity > BUSY ? highest(s->mclk_mask, mems) : lowest(s->mclk_mask, mems);
		s->mclk = memory(c, s->mclk_level, MEMORY_MCLK);
	}
	if (s->sclk_dpm)
		choose_engine(c, activity, temperature);
}

void card_dpm_publish(struct vcard *c)
{
	struct card_smu *s = &c->smu;
	uint32_t soft = card_smu_table(c, SMU_SOFT_REGISTERS);

	if (s->state != SMU_RUNNING)
		return;
	/* FEATURE_STATUS: polaris.md 10.5 */
	s->ram[IX_FEATURE_STATUS / 4] = (uint32_t)s->sclk_dpm | (uint32_t)s->mclk_dpm << 1 |
	                                (uint32_t)s->pcie_dpm << 7 | (uint32_t)s->voltage << 13 |
	                                (uint32_t)s->tdc << 14 | (uint32_t)s->cac << 15 |
	                                (uint32_t)s->avfs << 16;
	if (soft &&
	        range_ok(soft, 68, RX_SMC_RAM_BYTES)) { /* per cent << 8: polaris.md 10.3, 10.7 */
		uint32_t percent = (uint32_t)(c->heat.activity * 100) << 8;

		s->ram[(soft + 60) / 4] = percent;
		s->ram[(soft + 64) / 4] = percent / 2;
	}
}
