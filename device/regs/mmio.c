/* mmio.c - see mmio.h. */
#include "device/regs/mmio.h"

#include "device/clock.h"
#include "device/err.h"
#include "device/regs/names.h"
#include "device/regs/regs.h"

/* SRBM_GFX_CNTL and GRBM_GFX_INDEX fields: polaris.md 6.1, 1.4 */
#define SRBM_PIPEID(v)          (uint32_t)(v)
#define SRBM_MEID(v)            ((uint32_t)(v) << 2)
#define SRBM_VMID(v)            ((uint32_t)(v) << 4)
#define SRBM_QUEUEID(v)         ((uint32_t)(v) << 8)
#define GRBM_SE_INDEX(v)        ((uint32_t)(v) << 16)
#define GRBM_INSTANCE_BROADCAST (1u << 30)
#define GRBM_BROADCAST          0xE0000000u

int reg_read(struct mmio *m, uint32_t reg, uint32_t *value)
{
	int err = pci_read32(m->pci, PCI_BAR_REGISTERS, reg, value);

	if (!err && rx_log_enabled(LOG_TRACE, "mmio"))
		rx_log(LOG_TRACE, "mmio", "read 0x%05x = 0x%08x", reg, *value);
	return err;
}

int reg_write(struct mmio *m, uint32_t reg, uint32_t value)
{
	if (rx_log_enabled(LOG_TRACE, "mmio"))
		rx_log(LOG_TRACE, "mmio", "write 0x%05x = 0x%08x", reg, value);
	return pci_write32(m->pci, PCI_BAR_REGISTERS, reg, value);
}

int reg_write_port(struct mmio *m, uint32_t reg, const uint32_t *values, size_t count)
{
	if (rx_log_enabled(LOG_TRACE, "mmio"))
		for (size_t i = 0; i < count; i++)
			rx_log(LOG_TRACE, "mmio", "write 0x%05x = 0x%08x", reg, values[i]);
	return pci_write_port(m->pci, PCI_BAR_REGISTERS, reg, values, count);
}

/* check_value - what a register reads, beside what it was told to hold. */
static int check_value(uint32_t reg, uint32_t mask, uint32_t want, uint32_t got)
{
	const char *name = reg_name(reg);

	if (!((got ^ want) & mask))
		return 0;
	return rx_fail("regs", -EIO, "%s (0x%05x) reads 0x%08x, expected 0x%08x in the bits 0x%08x",
	        name ? name : "register", reg, got, want & mask, mask);
}

int reg_check(struct mmio *m, uint32_t reg, uint32_t mask, uint32_t value)
{
	uint32_t got;
	int err = reg_read(m, reg, &got);

	return err ? err : check_value(reg, mask, value, got);
}

/* write_checked - @mask: the bits that must read back. */
static int write_checked(struct mmio *m, uint32_t reg, uint32_t mask, uint32_t value)
{
	int err = reg_write(m, reg, value);

	return err ? err : reg_check(m, reg, mask, value);
}

int reg_update(struct mmio *m, uint32_t reg, uint32_t mask, uint32_t value)
{
	uint32_t old;
	int err = reg_read(m, reg, &old);
	uint32_t new = (old & ~mask) | (value & mask);

	return err || new == old ? err : write_checked(m, reg, mask, new);
}

int reg_ensure_list(struct mmio *m, const struct reg_value *list, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = reg_update(m, list[i].reg, 0xFFFFFFFF, list[i].value);
	return err;
}

int reg_golden_list(struct mmio *m, const struct reg_golden *list, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		uint32_t old;

		err = reg_read(m, list[i].reg, &old);
		/* the value is ORed unmasked, as the stock driver does: polaris.md 5. Bits outside
		 * the mask may not exist, so nobody insists on them. */
		uint32_t new = list[i].mask == 0xFFFFFFFF ? list[i].value
		                                          : (old & ~list[i].mask) | list[i].value;

		if (!err && new != old)
			err = write_checked(m, list[i].reg, list[i].mask, new);
	}
	return err;
}

int reg_wait(struct mmio *m, uint32_t reg, uint32_t mask, uint32_t want, unsigned timeout_ms,
        uint32_t *last)
{
	uint64_t deadline = deadline_in_ms(timeout_ms);
	uint32_t value;

	for (uint64_t pause_us = 20;; pause_us = pause_us < 1000 ? pause_us * 2 : 1000) {
		bool late = deadline_passed(deadline);
		int err = reg_read(m, reg, &value);

		if (last)
			*last = value;
		if (err || (value & mask) == want)
			return err;
		if (late)
			return -ETIMEDOUT;
		sleep_us(pause_us);
	}
}

int reg_select(struct mmio *m, unsigned me, unsigned pipe, unsigned queue, unsigned vmid)
{
	return reg_write(m, REG_SRBM_GFX_CNTL,
	        SRBM_PIPEID(pipe) | SRBM_MEID(me) | SRBM_QUEUEID(queue) | SRBM_VMID(vmid));
}

int reg_deselect(struct mmio *m)
{
	return reg_write(m, REG_SRBM_GFX_CNTL, 0);
}

int reg_select_se(struct mmio *m, unsigned se)
{
	return reg_write(m, REG_GRBM_GFX_INDEX, GRBM_SE_INDEX(se) | GRBM_INSTANCE_BROADCAST);
}

int reg_select_all(struct mmio *m)
{
	return reg_write(m, REG_GRBM_GFX_INDEX, GRBM_BROADCAST);
}
