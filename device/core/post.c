/* post.c - is the card posted, and if not, POST it: run ASIC_Init of its own VBIOS, which no PC
 * BIOS has done behind a USB bridge. polaris.md 1.5, 1.6, 2.4-2.6, 13.1 steps 5-13.
 */
#include "device/atom/atom.h"
#include "device/clock.h"
#include "device/core/rx580_priv.h"
#include "device/err.h"
#include "device/regs/regs.h"

#define SCRATCH_7_POSTED      0x200u      /* polaris.md 1.5 */
#define SCRATCH_3_ENGINE_HUNG 0x20000000u /* polaris.md 1.6 step 1 */
#define CFG_RESET             0x7Cu       /* polaris.md 1.6 step 3 */
#define RESET_KEY             0x39D5E86Bu
#define RESET_SETTLE_US       100
#define RESET_TIMEOUT_MS      100
/* ASIC_Init is some 2400 accesses and 0.35 s of delays (polaris.md 2.4); the slowest bridge known
 * needs twenty commands an access (bridge.md 6) */
#define POST_TIMEOUT_MS 120000u

/* ---- the interpreter's way to the card ---- */

static int host_read(void *ctx, uint32_t reg, uint32_t *value)
{
	struct rx580 *rx = ctx;

	if (reg >= RX_MMIO_BYTES / 4)
		return rx_fail(
		        "post", -EINVAL, "the VBIOS reads register 0x%x: there is none", reg);
	return reg_read(&rx->mmio, 4 * reg, value);
}

static int host_write(void *ctx, uint32_t reg, uint32_t value)
{
	struct rx580 *rx = ctx;

	if (reg >= RX_MMIO_BYTES / 4)
		return rx_fail(
		        "post", -EINVAL, "the VBIOS writes register 0x%x: there is none", reg);
	return reg_write(&rx->mmio, 4 * reg, value);
}

static int host_delay(void *ctx, uint32_t us)
{
	(void)ctx;
	sleep_us(us);
	return 0;
}

/* ---- what state is it in ---- */

static int read_posted(struct rx580 *rx)
{
	uint32_t scratch7, memsize;
	int err = reg_read(&rx->mmio, REG_BIOS_SCRATCH_7, &scratch7);

	if (!err)
		err = reg_read(&rx->mmio, REG_CONFIG_MEMSIZE, &memsize);
	if (err)
		return err;
	if (scratch7 == 0xFFFFFFFF && memsize == 0xFFFFFFFF)
		return rx_fail("post", -ENODEV,
		        "registers read all ones: the card is asleep or off the bus; power-cycle "
		        "it");
	rx->posted = scratch7 & SCRATCH_7_POSTED && memsize && memsize != 0xFFFFFFFF;
	return 0;
}

/* tell_state - what decides how the card is started, and what only a report needs: which silicon
 * (polaris.md 1.1), and whether somebody's compute engine runs (13.1 step 5). */
static int tell_state(struct rx580 *rx)
{
	uint32_t efuse4, mec;
	int err = reg_read(&rx->mmio, REG_PCIE_EFUSE4, &efuse4);

	if (!err)
		err = reg_read(&rx->mmio, REG_CP_MEC_CNTL, &mec);
	if (err)
		return err;
	rx_log(LOG_INFO, "post",
	        "found the card %s, its SMU %s (SMC_PC_C 0x%x, %s mode, SMU_SEL %d), PCIE_EFUSE4 "
	        "0x%08x, CP_MEC_CNTL 0x%08x",
	        rx->posted ? "posted" : "not posted",
	        rx->smu_state.running ? "running" : "not running", rx->smu_state.pc,
	        rx->smu_state.protected_mode ? "protected" : "unprotected", rx->smu_state.smu_sel,
	        efuse4, mec);
	return 0;
}

int rx_look_at_card(struct rx580 *rx)
{
	int err = read_posted(rx);

	if (!err)
		err = smu_look(rx->smu, &rx->smu_state);
	return err ? err : tell_state(rx);
}

/* ---- reset: polaris.md 1.6, "PCI config reset" ---- */

static int wait_awake(struct rx580 *rx)
{
	uint64_t deadline = deadline_in_ms(RESET_TIMEOUT_MS);
	uint32_t memsize;

	sleep_us(RESET_SETTLE_US);
	for (;;) {
		bool late = deadline_passed(deadline);
		int err = reg_read(&rx->mmio, REG_CONFIG_MEMSIZE, &memsize);

		if (err || memsize != 0xFFFFFFFF)
			return err;
		if (late)
			return rx_fail("post", -ETIMEDOUT,
			        "the card does not come back from a reset within %d ms: "
			        "power-cycle it",
			        RESET_TIMEOUT_MS);
		sleep_us(1000);
	}
}

int rx_reset_chip(struct rx580 *rx)
{
	int err = reg_update(
	        &rx->mmio, REG_BIOS_SCRATCH_3, SCRATCH_3_ENGINE_HUNG, SCRATCH_3_ENGINE_HUNG);

	rx_log(LOG_WARN, "post", "resetting the card (PCI configuration reset)");
	if (!err)
		err = pci_reset(rx->pci, CFG_RESET, RESET_KEY);
	if (!err)
		err = wait_awake(rx);
	if (!err)
		err = reg_update(&rx->mmio, REG_BIOS_SCRATCH_3, SCRATCH_3_ENGINE_HUNG, 0);
	return err ? err : rx_look_at_card(rx);
}

/* ---- POST ---- */

int rx_atom_open(struct rx580 *rx, struct atom **out)
{
	const struct atom_host host = {
	        .ctx = rx, .reg_read = host_read, .reg_write = host_write, .delay_us = host_delay};
	const struct atom_limits limits = {.deadline_ns = deadline_in_ms(POST_TIMEOUT_MS)};
	int err = atom_open(out, rx->bios, rx->bios_len, &host);

	if (!err)
		atom_set_limits(*out, &limits);
	return err;
}

static int asic_init(struct rx580 *rx)
{
	struct atom *atom;
	int err = rx_atom_open(rx, &atom);

	if (err)
		return err;
	err = atom_asic_init(atom);
	atom_close(atom);
	return err;
}

int rx_post(struct rx580 *rx)
{
	if (rx->posted)
		return 0;
	int err = asic_init(rx);

	if (!err)
		err = read_posted(rx);
	if (err)
		return rx_fail("post", err,
		        "ASIC_Init did not end well: the memory may be half set up; power-cycle "
		        "the card before trying again");
	if (!rx->posted)
		return rx_fail("post", -EIO,
		        "ASIC_Init ran to its end and BIOS_SCRATCH_7 bit 9 is not set, as expected "
		        "of a posted card: power-cycle it and try again");
	rx->fresh = true;
	return 0;
}
