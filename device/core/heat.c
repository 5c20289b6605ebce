/* heat.c - see heat.h. */
#include "device/core/heat.h"

#include "device/bytes.h"

void rx_heat_limits(struct heat *h, const struct vbios_powerplay *pp)
{
	int tjmax = pp->has_powertune ? pp->powertune.tjmax_c : 0;

	/* a limit nobody believes is no limit */
	h->critical_c = tjmax >= HEAT_PAUSE_C && tjmax <= 125 ? tjmax : 0;
	h->off_c = h->critical_c ? MIN(h->critical_c, HEAT_OFF_C) : HEAT_OFF_C;
	h->fan_max_rpm = pp->has_fan ? pp->fan.rpm_max : 0;
	h->has_tach = pp->has_thermal && pp->thermal.fan_params & 0xF; /* atombios.md 10 */
}

enum rx_heat rx_heat_next(const struct heat *h, int t)
{
	int off_c = h->off_c ? h->off_c : HEAT_OFF_C;

	if (h->state == RX_OVERHEATED || t >= off_c)
		return RX_OVERHEATED;
	if (t >= HEAT_PAUSE_C || (h->state == RX_HOT && t > HEAT_RESUME_C))
		return RX_HOT;
	return t >= HEAT_FAN_C ? RX_WARM : RX_COOL;
}

bool rx_heat_fan(struct heat *h, unsigned pwm, unsigned rpm)
{
	if (!h->has_tach || rpm || pwm < HEAT_FAN_PWM)
		h->still = 0;
	else if (h->still < HEAT_FAN_SAMPLES)
		h->still++;
	return h->still == HEAT_FAN_SAMPLES;
}
