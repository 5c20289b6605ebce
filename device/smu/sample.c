/* sample.c - one look at temperature, clocks, voltage, power and fan: polaris.md 10.7, 10.9, 10.10.
 * Each value of the SMC space costs an index write and a read; a result of the firmware two writes
 * and two reads. Nothing else is on the link.
 */
#include "device/bytes.h"
#include "device/err.h"
#include "device/regs/regs.h"
#include "device/regs/smc.h"
#include "device/smu/smu_priv.h"

/* fields: polaris.md 10.7, 10.9, 10.10 */
#define CTF_TEMP(v)      ((v) >> 9 & 0x1FF) /* CG_MULT_THERMAL_STATUS */
#define CTF_OUT_OF_RANGE 0x100u             /* 9 bits: nothing above 255 is a temperature */
#define OUT_OF_RANGE_C   255
#define PLANE1_VID(v)    ((v) & 0xFF) /* PWR_SVI2_STATUS */

static uint32_t vid_to_mv(uint32_t vid)
{
	return vid * 25 < 6200 ? (6200 - 25 * vid) / 4 : 0;
}

int smu_temperature(struct smu *s, int *celsius)
{
	uint32_t value;
	int err = smc_read(s->mmio, IX_CG_MULT_THERMAL_STATUS, &value);

	if (err)
		return err;
	*celsius = CTF_TEMP(value) & CTF_OUT_OF_RANGE ? OUT_OF_RANGE_C : (int)CTF_TEMP(value);
	bool dead = !*celsius, known = s->sensor_dead;

	s->sensor_dead = dead;
	if (dead && !known)
		rx_log(LOG_ERROR, "smu",
		        "CG_MULT_THERMAL_STATUS 0x%08x reads 0 C, expected 1 or more: the sensor "
		        "is not to be trusted",
		        value);
	return dead ? -EIO : 0;
}

static int read_activity(struct smu *s, struct smu_sample *out)
{
	uint32_t value;
	int err = smc_read(s->mmio, s->header.soft_registers + SOFT_GRAPHICS_ACTIVITY, &value);

	if (!err)
		out->activity_pct = MIN((value + 0x80) >> 8, 100u); /* Q24.8: polaris.md 10.7 */
	return err;
}

static int read_firmware(struct smu *s, struct smu_sample *out)
{
	uint32_t power;
	int err = smu_query(s, PPSMC_MSG_API_GetSclkFrequency, &out->sclk);

	if (!err)
		err = smu_query(s, PPSMC_MSG_API_GetMclkFrequency, &out->mclk);
	if (!err)
		err = smu_query(s, PPSMC_MSG_GetCurrPkgPwr, &power);
	if (!err)
		out->power_mw = (uint32_t)((uint64_t)power * 1000 >> 8); /* Q24.8 watts: 10.7 */
	return err;
}

int smu_sample(struct smu *s, struct smu_sample *out)
{
	struct smu_sample now = {0};
	uint32_t svi2;
	int err = smu_temperature(s, &now.temperature_c);

	if (!err)
		err = smu_read_fan(s, &now);
	if (!err)
		err = smc_read(s->mmio, IX_PWR_SVI2_STATUS, &svi2);
	if (!err)
		err = read_activity(s, &now);
	if (!err)
		err = read_firmware(s, &now);
	if (err)
		return err;
	now.vddc_mv = vid_to_mv(PLANE1_VID(svi2));
	*out = now;
	return 0;
}
