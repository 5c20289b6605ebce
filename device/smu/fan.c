/* fan.c - fan and thermal limits: polaris.md 10.9, 10.10. Full speed has duty100 hardware steps. */
#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"
#include "device/regs/regs.h"
#include "device/regs/smc.h"
#include "device/smu/smu_priv.h"

/* fields: polaris.md 10.9, 10.10 */
#define FDO_STATIC_DUTY     0xFFu      /* CG_FDO_CTRL0 */
#define FMAX_DUTY100        0xFFu      /* CG_FDO_CTRL1 */
#define FDO_TMIN            0xFFu      /* CG_FDO_CTRL2 */
#define FDO_PWM_MODE        (7u << 11) /* CG_FDO_CTRL2 */
#define FDO_PWM_MODE_STATIC (1u << 11)
#define TACH_PWM_RESP_RATE  (0x7Fu << 25) /* CG_FDO_CTRL2 */
#define TACH_RESP_RATE      (0x28u << 25)
#define EDGE_PER_REV        7u           /* CG_TACH_CTRL */
#define DIG_THERM_CTF       0xFFu        /* CG_THERMAL_INT */
#define DIG_THERM_INTH      (0xFFu << 8) /* CG_THERMAL_INT */
#define DIG_THERM_INTL      (0xFFu << 16)
#define THERM_INT_MASK_BITS (3u << 24)         /* of the high and the low alert; 0: unmasked */
#define DIG_THERM_DPM       (0xFFu << 14)      /* CG_THERMAL_CTRL */
#define TEMP_SEL(v)         ((v) >> 20 & 0xFF) /* CG_MULT_THERMAL_CTRL */
#define FUZZY_CONTROL       0u                 /* StartFanControl: polaris.md 10.2 */
/* Linux smu_7_1_3_sh_mask.h */
#define XTALIN_DIVIDE    (1u << 1) /* CG_CLKPIN_CNTL */
#define MUX_TCLK_TO_XCLK (1u << 8) /* CG_CLKPIN_CNTL_2 */
/* ours: above every limit of heat.md, below what silicon stands. The images have 0x6A60 in the low
 * half, which is 96 C by the fields of polaris.md 10.10; 10.9 reads 106 C in it. */
#define CUT_OUT_MIN_C   95
#define CUT_OUT_MAX_C   125
#define PWM_MAX         255u
#define FDO_PWM_DUTY(v) ((v) >> 9 & 0xFF) /* CG_THERMAL_STATUS */
#define TACH_STANDS     0xFFFFFFFFu
/* RPM = 60 x xclk x 10000 / TACH_PERIOD, xclk in 10 kHz */
#define TACH_MINUTE (60ull * SMU_XCLK * 10000ull)
#define FAN_TEST_MS 3000 /* from standstill, zero RPM boards included: ours, generous */

/* look_duty100 - 0 stays when the VBIOS did not set the fan up. */
static int look_duty100(struct smu *s)
{
	uint32_t ctrl1;
	int err = s->duty100 ? 0 : smc_read(s->mmio, IX_CG_FDO_CTRL1, &ctrl1);

	if (!err && !s->duty100)
		s->duty100 = ctrl1 & FMAX_DUTY100;
	return err;
}

static int read_duty100(struct smu *s)
{
	int err = look_duty100(s);

	if (err || s->duty100)
		return err;
	return rx_fail("smu", -EIO,
	        "fan: CG_FDO_CTRL1 gives no full speed: bits 7:0 are 0, anything else expected: "
	        "the VBIOS did not set the fan up");
}

int smu_read_fan(struct smu *s, struct smu_sample *out)
{
	uint32_t status, period;
	int err = look_duty100(s);

	if (!err)
		err = smc_read(s->mmio, IX_CG_THERMAL_STATUS, &status);
	if (!err)
		err = smc_read(s->mmio, IX_CG_TACH_STATUS, &period);
	if (err)
		return err;
	out->pwm = s->duty100 ? MIN(FDO_PWM_DUTY(status) * PWM_MAX / s->duty100, PWM_MAX) : 0;
	out->fan_rpm = period && period != TACH_STANDS ? (uint32_t)(TACH_MINUTE / period) : 0;
	return 0;
}

/* static_mode - the duty register decides: the host's, or the SMU's, whoever writes it. */
static int static_mode(struct smu *s)
{
	return smc_update(s->mmio, IX_CG_FDO_CTRL2, FDO_TMIN | FDO_PWM_MODE, FDO_PWM_MODE_STATIC);
}

/* tell_cut_out - where the hardware switches itself off, as the VBIOS has set it: polaris.md 10.9.
 */
static int tell_cut_out(struct smu *s)
{
	uint32_t limits;
	int err = smc_read(s->mmio, IX_CG_THERMAL_INT, &limits);

	if (err)
		return err;
	unsigned celsius = limits & DIG_THERM_CTF;
	bool sound = celsius >= CUT_OUT_MIN_C && celsius <= CUT_OUT_MAX_C;

	rx_log(sound ? LOG_INFO : LOG_WARN, "smu",
	        "CG_THERMAL_INT 0x%08x: the hardware switches off at %u C, %d to %d expected%s",
	        limits, celsius, CUT_OUT_MIN_C, CUT_OUT_MAX_C,
	        sound ? "" : ": not to be relied on");
	return 0;
}

/* check_xclk - the clock the tach is counted with: polaris.md 1.4. */
static int check_xclk(struct smu *s)
{
	uint32_t pin, pin2;
	int err = smc_read(s->mmio, IX_CG_CLKPIN_CNTL, &pin);

	if (!err)
		err = smc_read(s->mmio, IX_CG_CLKPIN_CNTL_2, &pin2);
	if (!err && (!(pin & XTALIN_DIVIDE) || pin2 & MUX_TCLK_TO_XCLK))
		rx_log(LOG_WARN, "smu",
		        "CG_CLKPIN_CNTL 0x%x and CG_CLKPIN_CNTL_2 0x%x: xclk is not 25 MHz as "
		        "expected (bit 1 set, bit 8 clear), so the fan's rpm are wrong",
		        pin, pin2);
	return err;
}

/* set_limits - alerts unmasked and the hardware's own throttling at the same temperature. */
static int set_limits(struct smu *s, const struct smu_thermal *t)
{
	int err = smc_update(s->mmio, IX_CG_THERMAL_INT,
	        DIG_THERM_INTH | DIG_THERM_INTL | THERM_INT_MASK_BITS, (uint32_t)t->alert_c << 8);

	if (!err)
		err = smc_update(
		        s->mmio, IX_CG_THERMAL_CTRL, DIG_THERM_DPM, (uint32_t)t->alert_c << 14);
	return err ? err : smu_message(s, PPSMC_MSG_Thermal_Cntl_Enable);
}

static int set_tach(struct smu *s, const struct smu_thermal *t)
{
	int err = t->tach_pulses
	                  ? smc_update(s->mmio, IX_CG_TACH_CTRL, EDGE_PER_REV, t->tach_pulses - 1)
	                  : 0;

	return err ? err : smc_update(s->mmio, IX_CG_FDO_CTRL2, TACH_PWM_RESP_RATE, TACH_RESP_RATE);
}

static int upload_curve(struct smu *s, const struct smu_thermal *t)
{
	uint8_t table[SMU74_FAN_TABLE_BYTES];
	uint32_t ctrl;
	int err = read_duty100(s);

	if (!err)
		err = smc_read(s->mmio, IX_CG_MULT_THERMAL_CTRL, &ctrl);
	if (!err)
		err = smu_build_fan(t, s->duty100, (uint8_t)TEMP_SEL(ctrl), table);
	return err ? err : smc_write_bytes(s->mmio, s->header.fan_table, table, sizeof(table));
}

/* In the order of the stock driver's trace, phase avfs. */
static int send_curve(struct smu *s, const struct smu_thermal *t)
{
	const struct {
		enum ppsmc_msg id;
		uint32_t arg;
		bool wanted;
	} list[] = {
	        {PPSMC_MSG_SetFanMinPwm, t->min_pwm_pct, t->min_pwm_pct},
	        {PPSMC_MSG_SetFanSclkTarget, t->acoustic_mhz, t->acoustic_mhz},
	        {PPSMC_MSG_StartFanControl, FUZZY_CONTROL, true},
	        {PPSMC_MSG_SetFanRpmMax, t->rpm_max, t->rpm_max},
	        {PPSMC_MSG_SetFanTemperatureTarget, t->target_c, t->target_c},
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(list) && !err; i++)
		if (list[i].wanted)
			err = smu_message_arg(s, list[i].id, list[i].arg);
	if (!err && t->zero_rpm)
		err = smu_message(s, PPSMC_MSG_EnableZeroRpm);
	return err;
}

int smu_thermal_start(struct smu *s, const struct smu_thermal *t)
{
	int err = set_tach(s, t);

	if (!err)
		err = check_xclk(s);
	if (!err)
		err = tell_cut_out(s);
	if (!err)
		err = set_limits(s, t);
	if (err || !t->has_fan) {
		if (!err)
			rx_log(LOG_WARN, "smu", "the VBIOS knows of no fan on this board");
		return err;
	}
	err = upload_curve(s, t);
	if (!err)
		err = send_curve(s, t);
	if (!err)
		err = static_mode(s);
	s->fan_curve = !err;
	s->fan_manual = false;
	return err;
}

int smu_fan_manual(struct smu *s, unsigned pwm)
{
	if (pwm > PWM_MAX)
		return -EINVAL;
	int err = read_duty100(s);

	if (!err && s->fan_curve && !s->fan_manual)
		err = smu_message(s, PPSMC_MSG_StopFanControl);
	if (!err)
		err = smc_update(
		        s->mmio, IX_CG_FDO_CTRL0, FDO_STATIC_DUTY, pwm * s->duty100 / PWM_MAX);
	if (!err)
		err = static_mode(s);
	if (!err)
		s->fan_manual = true;
	return err;
}

int smu_fan_auto(struct smu *s)
{
	if (!s->fan_curve)
		return -ENOTSUP;
	int err = smu_message_arg(s, PPSMC_MSG_StartFanControl, FUZZY_CONTROL);

	if (!err)
		s->fan_manual = false;
	return err;
}

/* full_speed - by registers alone, each attempted whatever becomes of the others. */
static int full_speed(struct smu *s)
{
	int duty = smc_update(s->mmio, IX_CG_FDO_CTRL0, FDO_STATIC_DUTY,
	        s->duty100 ? s->duty100 : FDO_STATIC_DUTY);
	int mode = static_mode(s);

	return duty ? duty : mode;
}

/* wait_fan - polaris.md 13.6 step 60: the duty follows, and the tach tells of turns. */
static int wait_fan(struct smu *s, const struct smu_thermal *t)
{
	uint64_t deadline = deadline_in_ms(FAN_TEST_MS);
	struct smu_sample now = {0};

	for (;;) {
		bool late = deadline_passed(deadline);
		int err = smu_read_fan(s, &now);

		if (err || (now.pwm == PWM_MAX && (now.fan_rpm || !t->tach_pulses)))
			return err;
		if (late)
			break;
		sleep_us(20000);
	}
	return rx_fail("smu", -EIO,
	        "fan: told to run at full speed it shows duty %u of %u (CG_THERMAL_STATUS) and %u "
	        "rpm (CG_TACH_STATUS) after %d ms, expected %u and any: is it blocked, or not "
	        "plugged in?",
	        now.pwm, PWM_MAX, now.fan_rpm, FAN_TEST_MS, PWM_MAX);
}

int smu_fan_test(struct smu *s, const struct smu_thermal *t)
{
	int err = t->has_fan ? read_duty100(s) : 0;

	if (err || !t->has_fan)
		return err;
	err = full_speed(s);
	return err ? err : wait_fan(s, t);
}

void smu_fan_safe(struct smu *s, bool curve)
{
	if (curve && s->fan_curve && !s->silent && !smu_fan_auto(s)) {
		rx_log(LOG_INFO, "smu", "the fan follows its curve");
		return;
	}
	if (!s->silent) /* it would set its own speed again */
		smu_message(s, PPSMC_MSG_StopFanControl);
	read_duty100(s);
	int err = full_speed(s);

	s->fan_manual = true;
	if (err)
		rx_log(LOG_ERROR, "smu", "the fan does not obey (see above): switch the card off");
	else
		rx_log(LOG_WARN, "smu", "the fan runs at full speed");
}

bool smu_fan_is_manual(const struct smu *s)
{
	return s->fan_manual;
}
