/* heat.c - what the card's power does to its temperature, and what the fan does about it.
 * First order (polaris.md 14.6): C dT/dt = P - (T - ambient) / R(fan). R makes 140 W at full fan
 * 63 C, as the reference board was (reference-run.md); C gives a minute of time constant. Nobody
 * looks between two register reads, so it is integrated when somebody does.
 */
#include <math.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/virtual/card/card_priv.h"

#define STEP_S          0.25
#define MAX_STEPS       40000u /* then it has long settled */
#define CAPACITY        150.0  /* J/K */
#define AMBIENT         25
#define ACTIVITY_TAU    0.5 /* s, of the smoothed load */
#define POWER_TAU       0.5
#define MAX_POWER       5000.0
#define MAX_TEMPERATURE 500.0
#define FULL_RPM        3200.0
#define LEAST_DUTY      0.05
/* CG_FDO_CTRL2.FDO_PWM_MODE: polaris.md 10.9 */
#define MODE_STATIC 1u
#define MODE_RPM    5u

static double resistance(double duty)
{
	return 0.244 + 0.55 * exp(-3.0 * duty); /* K/W */
}

static double ambient(const struct vcard *c)
{
	return c->opt.ambient ? c->opt.ambient : AMBIENT;
}

void card_heat_init(struct vcard *c)
{
	c->heat.temperature = ambient(c) + 5;
	card_heat_reset(c);
}

void card_heat_reset(struct vcard *c)
{
	double t = c->heat.temperature;

	c->heat = (struct card_heat){.last_ns = vcard_now(c), .temperature = t, .duty = 1.0};
}

static uint32_t field(struct vcard *c, uint32_t index, unsigned low, unsigned bits)
{
	return *card_smc_storage(c, index) >> low & ((1u << bits) - 1);
}

/* ramp - the analog controller the VBIOS sets up: FMIN_DUTY at TMIN, all of it at TMAX. Nothing set
 * up at all means nobody holds the fan back. */
static double ramp(struct vcard *c, double full)
{
	double low = field(c, IX_CG_FDO_CTRL1, 8, 8) / full;
	double tmin = field(c, IX_CG_FDO_CTRL2, 0, 8), tmax = field(c, IX_CG_FDO_CTRL2, 17, 8);
	double t = c->heat.temperature;

	if (tmax <= tmin)
		return 1.0;
	if (t <= tmin)
		return low;
	return t >= tmax ? 1.0 : low + (1.0 - low) * (t - tmin) / (tmax - tmin);
}

/* table - the firmware's controller: FdoMin, then two slopes of 1/16 step a degree
 * (polaris.md 10.3, 10.9). Zero RPM below FanStopTemperature until FanStartTemperature. */
static double table(struct vcard *c, double full)
{
	uint32_t at = card_smu_table(c, SMU_FAN_TABLE), dpm = card_smu_table(c, SMU_DPM_TABLE);
	double low = card_smu_u16(c, at + 2), med = card_smu_u16(c, at + 4),
	       t = c->heat.temperature;
	double duty = card_smu_u16(c, at + 12);
	double start = card_smu_u16(c, dpm + 224) / 256.0,
	       stop = card_smu_u16(c, dpm + 226) / 256.0;

	if (c->smu.zero_rpm && (t < stop || (t < start && c->heat.duty == 0)))
		return 0;
	if (t > low)
		duty += card_smu_u16(c, at + 8) / 16.0 * (MIN(t, med) - low);
	if (t > med)
		duty += card_smu_u16(c, at + 10) / 16.0 * (t - med);
	if (t >= card_smu_u16(c, at + 6))
		return 1.0;
	return duty / full;
}

/* TARGET_PERIOD[31:3] = 60 x 25 MHz / (8 rpm): polaris.md 10.9 */
static double by_rpm(struct vcard *c)
{
	uint32_t period = field(c, IX_CG_TACH_CTRL, 3, 29);

	return period ? 60.0 * 25e6 / (8.0 * period) / FULL_RPM : 1.0;
}

static double wanted_duty(struct vcard *c)
{
	double full = field(c, IX_CG_FDO_CTRL1, 0, 8);
	uint32_t mode = field(c, IX_CG_FDO_CTRL2, 11, 3);

	if (full == 0)
		return 1.0;
	/* the firmware writes the static duty itself: the stock driver leaves MODE_STATIC on */
	if (c->smu.state == SMU_RUNNING && c->smu.fan_table)
		return table(c, full);
	if (mode == MODE_STATIC)
		return field(c, IX_CG_FDO_CTRL0, 0, 8) / full;
	if (mode == MODE_RPM)
		return by_rpm(c);
	return ramp(c, full);
}

static void turn_fan(struct vcard *c)
{
	double duty = wanted_duty(c);

	c->heat.duty = MAX(0.0, MIN(duty, 1.0));
	if (c->fault[VCARD_FAULT_FAN_STUCK] || c->heat.duty < LEAST_DUTY)
		c->heat.rpm = 0;
	else
		c->heat.rpm = (unsigned)(FULL_RPM * c->heat.duty);
}

/* busy - the load since the last look: a card that executed anything was busy. The host is far
 * slower than the card it plays, so the share of time would say nothing. */
static double busy(struct vcard *c)
{
	struct gcn3_counters n;
	bool idle = true;
	bool more;

	if (c->fault[VCARD_FAULT_LOAD])
		return MIN(c->fault[VCARD_FAULT_LOAD] - 1, 100u) / 100.0;
	gcn3_read_counters(c->engine, &n);
	for (unsigned i = 0; i < CARD_PIPES; i++)
		idle &= gcn3_idle(c->engine, i);
	more = n.instructions != c->heat.instructions;
	c->heat.instructions = n.instructions;
	return more || !idle ? 1.0 : 0.0;
}

static void step(struct vcard *c, double load, double dt)
{
	struct card_heat *h = &c->heat;
	double air = h->rpm / FULL_RPM;

	h->activity += (load - h->activity) * MIN(1.0, dt / ACTIVITY_TAU);
	card_dpm_choose(c, h->activity, h->temperature);
	h->power += (card_dpm_power(c, h->activity) - h->power) * MIN(1.0, dt / POWER_TAU);
	h->temperature +=
	        dt * (h->power - (h->temperature - ambient(c)) / resistance(air)) / CAPACITY;
	if (c->fault[VCARD_FAULT_OVERHEAT])
		h->temperature = c->fault[VCARD_FAULT_OVERHEAT];
	h->power = MIN(h->power, MAX_POWER); /* whatever an overwritten table says */
	h->temperature = MIN(h->temperature, MAX_TEMPERATURE);
	turn_fan(c);
}

/* trip - DIG_THERM_CTF[7:0] of CG_THERMAL_INT: the board cuts its own power (polaris.md 10.9). */
static void trip(struct vcard *c)
{
	double limit = field(c, IX_CG_THERMAL_INT, 0, 8);

	if (c->heat.tripped || limit == 0 || c->heat.temperature < limit)
		return;
	c->heat.tripped = true;
	card_cp_quiesce(c);
	card_guest_error(c, "critical temperature: %.0f C of %.0f, the card switches itself off",
	        c->heat.temperature, limit);
}

void card_heat_update(struct vcard *c)
{
	uint64_t now = vcard_now(c);
	double left = (double)(now - c->heat.last_ns) / 1e9, load;

	if (now <= c->heat.last_ns) {
		card_dpm_choose(c, c->heat.activity, c->heat.temperature);
		turn_fan(c);
		return;
	}
	load = busy(c);
	for (unsigned i = 0; i < MAX_STEPS && left > 0; i++, left -= STEP_S)
		step(c, load, MIN(left, STEP_S));
	c->heat.last_ns = now;
	card_dpm_publish(c);
	trip(c);
}
