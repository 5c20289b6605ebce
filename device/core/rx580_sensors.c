/* rx580_sensors.c - measurements, and what is done about heat: heat.h decides. */
#include "device/clock.h"
#include "device/core/rx580_priv.h"
#include "device/err.h"

#define FULL_SPEED 255u
/* Blind for this long with work on the card is as bad as too hot. */
#define MAX_MISSES 10

static void publish(struct rx580 *rx, const struct smu_sample *s)
{
	const struct heat *h = &rx->heat;

	pthread_mutex_lock(&rx->lock);
	rx->sensors = (struct rx_sensors){.sample = rx->sensors.sample + 1,
	        .time_ns = now_ns(),
	        .temperature_mc = s->temperature_c * 1000,
	        .critical_mc = h->critical_c * 1000,
	        .sclk_hz = s->sclk * 10000ull,
	        .mclk_hz = s->mclk * 10000ull,
	        .power_uw = s->power_mw * 1000ull,
	        .cap_uw = h->cap_w * 1000000ull,
	        .stock_cap_uw = h->stock_cap_w * 1000000ull,
	        .vddc_mv = s->vddc_mv,
	        .fan_rpm = s->fan_rpm,
	        .fan_max_rpm = h->fan_max_rpm,
	        .pwm = s->pwm,
	        .activity_pct = s->activity_pct,
	        .fan_manual = smu_fan_is_manual(rx->smu),
	        .fan_stuck = h->still == HEAT_FAN_SAMPLES,
	        .dpm = smu_dpm_enabled(rx->smu),
	        .heat = h->state};
	pthread_mutex_unlock(&rx->lock);
}

static const char *heat_words(enum rx_heat heat)
{
	switch (heat) {
	case RX_COOL: return "cool again: automatic fan";
	case RX_WARM: return "fan at full speed";
	case RX_HOT: return "fan at full speed, no more work until 75 C";
	default: return "stopping the queues; reset the card when it has cooled down";
	}
}

/* heat_level - overheated is why everything answers EIO from now on: the user's last_error. */
static enum log_level heat_level(enum rx_heat before, enum rx_heat next)
{
	if (next == RX_OVERHEATED)
		return LOG_ERROR;
	return next > before ? LOG_WARN : LOG_INFO;
}

/* stop_work - overheated: whatever fails, go on; the rest must still happen. */
static void stop_work(struct rx580 *rx)
{
	if (rx->info.queues_running) {
		cp_queue_kill(rx->plan_queue);
		cp_service_stop(rx->service);
	}
	pthread_mutex_lock(&rx->lock);
	rx->info.queues_running = false;
	rx->info.state = RX_OVERHEATED_OFF;
	pthread_mutex_unlock(&rx->lock);
}

static void set_heat(struct rx580 *rx, enum rx_heat heat)
{
	rx->heat.state = heat;
	pthread_mutex_lock(&rx->lock);
	rx->sensors.heat = heat;
	pthread_mutex_unlock(&rx->lock);
}

/* hold_fan - full speed unless the card is cool and somebody drives the fan; asked for again until
 * it is done. */
static int hold_fan(struct rx580 *rx)
{
	bool silent = smu_silent(rx->smu), full = silent || rx->heat.state != RX_COOL;

	if (full == rx->heat.fan_full)
		return 0;
	if (silent) {
		smu_fan_safe(rx->smu, false);
		rx->heat.fan_full = true;
		return 0;
	}
	int err = full ? smu_fan_manual(rx->smu, FULL_SPEED) : smu_fan_auto(rx->smu);

	if (err == -ENOTSUP) {
		rx_log(LOG_WARN, "heat", "no fan curve is known: the fan stays at full speed");
		err = 0;
	}
	if (!err)
		rx->heat.fan_full = full;
	return err;
}

/* act - on a change of state. */
static int act(struct rx580 *rx, enum rx_heat next, int temperature_c)
{
	enum rx_heat before = rx->heat.state;

	if (next != before) {
		rx_log(heat_level(before, next), "heat", "%d C: %s", temperature_c,
		        heat_words(next));
		set_heat(rx, next);
		if (next == RX_OVERHEATED)
			stop_work(rx);
	}
	return hold_fan(rx);
}

/* watch_fan - a fan that should turn and does not is said once; heat is dealt with when it comes.
 */
static void watch_fan(struct rx580 *rx, const struct smu_sample *s)
{
	bool before = rx->heat.still == HEAT_FAN_SAMPLES;
	bool stuck = rx_heat_fan(&rx->heat, s->pwm, s->fan_rpm);

	if (stuck && !before)
		rx_log(LOG_WARN, "heat",
		        "the fan gets %u of 255 and does not turn: see whether it is blocked or "
		        "its cable is loose",
		        s->pwm);
	else if (before && !stuck)
		rx_log(LOG_INFO, "heat", "the fan is as it should be again: %u of 255, %u rpm",
		        s->pwm, s->fan_rpm);
}

/* feel - the temperature alone, when the rest could not be had: it is a register and needs no
 * firmware. */
static void feel(struct rx580 *rx)
{
	int celsius;

	if (smu_temperature(rx->smu, &celsius) == 0) {
		rx->heat.misses = 0;
		rx->heat.temperature_c = celsius;
		act(rx, rx_heat_next(&rx->heat, celsius), celsius);
	} else if (++rx->heat.misses == MAX_MISSES) {
		rx_log(LOG_ERROR, "heat", "no temperature for %d samples", MAX_MISSES);
		act(rx, RX_OVERHEATED, rx->heat.temperature_c);
	}
}

/* measure - firmware that has fallen silent is not asked again: each time costs a second. */
static int measure(struct rx580 *rx)
{
	struct smu_sample s;
	int err = smu_silent(rx->smu) ? -ETIMEDOUT : smu_sample(rx->smu, &s);

	if (err) {
		if (err != -ENODEV)
			feel(rx);
		return err;
	}
	rx->heat.misses = 0;
	rx->heat.temperature_c = s.temperature_c;
	watch_fan(rx, &s);
	err = act(rx, rx_heat_next(&rx->heat, s.temperature_c), s.temperature_c);
	publish(rx, &s);
	return err;
}

int rx_sample(struct rx580 *rx)
{
	int err = rx_alive(rx);

	if (err)
		return err;
	rx->hold++; /* index and data registers belong together */
	err = measure(rx);
	rx->hold--;
	return rx_done(rx, err);
}

bool rx_read_sensors(struct rx580 *rx, struct rx_sensors *out)
{
	pthread_mutex_lock(&rx->lock);
	*out = rx->sensors;
	pthread_mutex_unlock(&rx->lock);
	return out->sample != 0;
}

bool rx_may_feed(struct rx580 *rx)
{
	pthread_mutex_lock(&rx->lock);
	enum rx_heat heat = rx->sensors.heat;

	pthread_mutex_unlock(&rx->lock);
	return heat < RX_HOT;
}

int rx_may_reset(struct rx580 *rx)
{
	int t = rx->heat.temperature_c;

	if (rx->heat.state != RX_OVERHEATED || (!rx->heat.misses && t < HEAT_RESUME_C))
		return 0;
	if (rx->heat.misses)
		return rx_fail("heat", -EPERM,
		        "the card overheated and its temperature cannot be read: switch it off");
	return rx_fail("heat", -EPERM, "the card overheated and is at %d C: reset it below %d C", t,
	        HEAT_RESUME_C);
}

int rx_heat_over(struct rx580 *rx)
{
	rx->hold++;
	int err = act(rx, RX_COOL, rx->heat.temperature_c);

	rx->hold--;
	return err;
}

/* ---- what the user may set ---- */

static int check_fan(struct rx580 *rx)
{
	int err = rx_alive(rx);

	if (!err && rx->heat.state != RX_COOL)
		err = rx_fail("heat", -EPERM,
		        "the card is warm: its fan stays at full speed until it has cooled down");
	return err;
}

int rx_fan_manual(struct rx580 *rx, unsigned pwm)
{
	int err = pwm > FULL_SPEED ? -EINVAL : check_fan(rx);

	if (err)
		return err;
	rx->hold++; /* as in rx_sample */
	err = smu_fan_manual(rx->smu, pwm);
	rx->hold--;
	return rx_done(rx, err);
}

int rx_fan_auto(struct rx580 *rx)
{
	int err = check_fan(rx);

	if (err)
		return err;
	rx->hold++;
	err = smu_fan_auto(rx->smu);
	rx->hold--;
	return rx_done(rx, err);
}

int rx_set_power_cap(struct rx580 *rx, unsigned watts)
{
	int err = rx_alive(rx);
	unsigned stock = rx->heat.stock_cap_w;

	if (!err && !stock)
		err = -ENODATA;
	if (!err && (watts > stock || watts < stock / 4))
		return rx_fail("power", -EINVAL, "the power limit is %u to %u W on this board",
		        stock / 4, stock);
	if (err)
		return err;
	rx->hold++;
	err = smu_message_arg(rx->smu, PPSMC_MSG_PkgPwrSetLimit, watts << 8); /* Q8.8: 10.7 */
	rx->hold--;
	if (!err)
		rx->heat.cap_w = watts;
	return rx_done(rx, err);
}
