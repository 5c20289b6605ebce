/* heat.h - when is the card too hot, and what then. Pure decisions over samples; who acts on them
 * is rx580_sensors.c. Degrees Celsius.
 *
 * Fan at full speed from 75; the plan is not fed from 80 until 75 is reached again; overheated at
 * TjMax or 90, whichever is lower: queues stopped, fan at full speed, until the card is reset.
 */
#ifndef RX_HEAT_H
#define RX_HEAT_H

#include <stdbool.h>

#include "device/rx580.h"
#include "device/vbios/powerplay.h"

#define HEAT_FAN_C    75
#define HEAT_PAUSE_C  80
#define HEAT_RESUME_C 75
#define HEAT_OFF_C    90

struct heat {
	int off_c;                                /* min(TjMax, HEAT_OFF_C) */
	int critical_c;                           /* TjMax; 0 unknown */
	unsigned stock_cap_w, cap_w, fan_max_rpm; /* 0: unknown */
	bool has_tach;                            /* the board measures its fan's speed */
	enum rx_heat state;
	int temperature_c; /* when last read */
	bool fan_full;     /* full speed was set for safety */
	unsigned misses;   /* samples that failed in a row */
	unsigned still;    /* samples in a row in which the fan should have turned and did not */
};

/* A fan needs some time to start: after so many samples without a turn it is stuck. */
#define HEAT_FAN_SAMPLES 4
/* Below this many of 255 a fan may stand, and some do. */
#define HEAT_FAN_PWM 51

void rx_heat_limits(struct heat *h, const struct vbios_powerplay *pp);
/* rx_heat_next - the state after a sample. Overheated is never left. */
enum rx_heat rx_heat_next(const struct heat *h, int temperature_c);
/* rx_heat_fan - look at the fan. Return: whether it is stuck; false without a tach. */
bool rx_heat_fan(struct heat *h, unsigned pwm, unsigned rpm);

#endif
