/* rlc.c - run list controller: stop, reset, start (polaris.md 6.3, 13.4 steps 41, 42). Its
 * microcode is there already: the SMU has loaded it.
 */
#include "device/clock.h"
#include "device/cp/cp_priv.h"
#include "device/err.h"
#include "device/regs/regs.h"

#define RLC_ENABLE_F32 1u        /* polaris.md 6.3 */
#define SOFT_RESET_RLC (1u << 2) /* GRBM_SOFT_RESET: amdgpu-oracle.md 4, rlc (value 4) */
#define NONCU_MASTER_BUSY                                                                          \
	0x0007FFFFu         /* SE, GC, TC0, TC1: polaris.md 6.3 step 3 (Linux gfx_8_0_sh_mask.h) */
#define SHADER_ENGINES    4 /* polaris.md 1.4 */
#define SERDES_TIMEOUT_MS 100  /* polaris.md 6.3 step 3; the stock driver goes on, too */
#define SETTLE_US         50   /* polaris.md 6.3 steps 4, 6 */
#define CLOCK_PROBE_US    2000 /* ours: 50,000 ticks */
#define XCLK_MHZ          25   /* polaris.md 1.4 */

/* wait_idle - what the stock driver only warns about, we only warn about. */
static int wait_idle(struct cp *cp, uint32_t reg, uint32_t mask, const char *name)
{
	uint32_t last;
	int err = reg_wait(cp->mmio, reg, mask, 0, SERDES_TIMEOUT_MS, &last);

	if (err != -ETIMEDOUT)
		return err;
	rx_log(LOG_WARN, "rlc", "%s stays 0x%08x for %d ms; going on", name, last,
	        SERDES_TIMEOUT_MS);
	return 0;
}

static int wait_serdes(struct cp *cp)
{
	int err = 0;

	for (unsigned se = 0; se < SHADER_ENGINES && !err; se++) {
		err = reg_select_se(cp->mmio, se);
		if (!err)
			err = wait_idle(cp, REG_RLC_SERDES_CU_MASTER_BUSY, 0xFFFFFFFF,
			        "RLC_SERDES_CU_MASTER_BUSY");
	}
	int restore = reg_select_all(cp->mmio);

	if (!err)
		err = restore;
	return err ? err
	           : wait_idle(cp, REG_RLC_SERDES_NONCU_MASTER_BUSY, NONCU_MASTER_BUSY,
	                     "RLC_SERDES_NONCU_MASTER_BUSY");
}

static int reset(struct cp *cp)
{
	int err = reg_update(cp->mmio, REG_GRBM_SOFT_RESET, SOFT_RESET_RLC, SOFT_RESET_RLC);

	sleep_us(SETTLE_US);
	if (!err)
		err = reg_update(cp->mmio, REG_GRBM_SOFT_RESET, SOFT_RESET_RLC, 0);
	sleep_us(SETTLE_US);
	return err;
}

static int read_clock(struct cp *cp, uint64_t *ticks)
{
	uint32_t low = 0, high = 0;
	int err = reg_write(cp->mmio, REG_RLC_CAPTURE_GPU_CLOCK_COUNT, 1);

	if (!err)
		err = reg_read(cp->mmio, REG_RLC_GPU_CLOCK_COUNT_LSB, &low);
	if (!err)
		err = reg_read(cp->mmio, REG_RLC_GPU_CLOCK_COUNT_MSB, &high);
	*ticks = (uint64_t)high << 32 | low;
	return err;
}

/* tell_rate - nobody documents xclk; a rate far above 25 MHz would make every speed of the fan
 * wrong.
 * @ns: around both captures, so the rate is at least what comes out. */
static void tell_rate(uint64_t ticks, uint64_t ns)
{
	uint64_t mhz = ticks * 1000 / ns;

	rx_log(mhz > 2 * XCLK_MHZ ? LOG_WARN : LOG_INFO, "rlc",
	        "the RLC's clock counts with %llu MHz or more, %d expected",
	        (unsigned long long)mhz, XCLK_MHZ);
}

/* check_clock - step 42: a clock that stands means that the RLC does not run. */
static int check_clock(struct cp *cp)
{
	uint64_t first, second, begin = now_ns();
	int err = read_clock(cp, &first);

	if (err)
		return err;
	sleep_us(CLOCK_PROBE_US);
	err = read_clock(cp, &second);
	if (!err && second - first < CLOCK_PROBE_US * XCLK_MHZ / 2)
		return rx_fail("rlc", -EIO,
		        "RLC_GPU_CLOCK_COUNT went from %llu to %llu in %d us, at least %d "
		        "expected: the RLC does not run; is its microcode loaded?",
		        (unsigned long long)first, (unsigned long long)second, CLOCK_PROBE_US,
		        CLOCK_PROBE_US * XCLK_MHZ / 2);
	if (!err)
		tell_rate(second - first, now_ns() - begin);
	return err;
}

int rlc_restart(struct cp *cp)
{
	int err = reg_update(cp->mmio, REG_RLC_CNTL, RLC_ENABLE_F32, 0);

	if (!err)
		err = reg_update(cp->mmio, REG_CP_INT_CNTL_RING0, 0xFFFFFFFF, 0);
	if (!err)
		err = wait_serdes(cp);
	if (!err)
		err = reset(cp);
	if (!err)
		err = reg_update(cp->mmio, REG_RLC_CNTL, RLC_ENABLE_F32, RLC_ENABLE_F32);
	sleep_us(SETTLE_US);
	return err ? err : check_clock(cp);
}

int rlc_ensure(struct cp *cp)
{
	uint32_t cntl;
	int err = reg_read(cp->mmio, REG_RLC_CNTL, &cntl);

	return err || cntl & RLC_ENABLE_F32 ? err : rlc_restart(cp);
}
