/* smc.c - see smc.h. */
#include "device/regs/smc.h"

#include "device/bytes.h"
#include "device/err.h"
#include "device/regs/names.h"
#include "device/regs/regs.h"

#define AUTO_INCREMENT_IND_11 (1u << 11) /* of SMC_IND_ACCESS_CNTL: polaris.md 1.3 */

int smc_read(struct mmio *m, uint32_t ix, uint32_t *value)
{
	int err = reg_write(m, REG_SMC_IND_INDEX_11, ix);

	return err ? err : reg_read(m, REG_SMC_IND_DATA_11, value);
}

int smc_read_again(struct mmio *m, uint32_t *value)
{
	return reg_read(m, REG_SMC_IND_DATA_11, value);
}

int smc_write(struct mmio *m, uint32_t ix, uint32_t value)
{
	int err = reg_write(m, REG_SMC_IND_INDEX_11, ix);

	return err ? err : reg_write(m, REG_SMC_IND_DATA_11, value);
}

/* check_again - the address of the last access. */
static int check_again(struct mmio *m, uint32_t ix, uint32_t mask, uint32_t want)
{
	const char *name = smc_name(ix);
	uint32_t got;
	int err = smc_read_again(m, &got);

	if (err || !((got ^ want) & mask))
		return err;
	return rx_fail("regs", -EIO,
	        "%s (SMC 0x%08x) reads 0x%08x, expected 0x%08x in the bits 0x%08x",
	        name ? name : "SMC RAM", ix, got, want & mask, mask);
}

int smc_write_checked(struct mmio *m, uint32_t ix, uint32_t value)
{
	int err = smc_write(m, ix, value);

	return err ? err : check_again(m, ix, 0xFFFFFFFF, value);
}

int smc_update(struct mmio *m, uint32_t ix, uint32_t mask, uint32_t value)
{
	uint32_t old;
	int err = smc_read(m, ix, &old);
	uint32_t new = (old & ~mask) | (value & mask);

	if (err || new == old)
		return err;
	err = reg_write(m, REG_SMC_IND_DATA_11, new);
	return err ? err : check_again(m, ix, mask, new);
}

int smc_wait(struct mmio *m, uint32_t ix, uint32_t mask, uint32_t want, unsigned timeout_ms,
        uint32_t *last)
{
	int err = reg_write(m, REG_SMC_IND_INDEX_11, ix);

	return err ? err : reg_wait(m, REG_SMC_IND_DATA_11, mask, want, timeout_ms, last);
}

/* write_run - with auto-increment on. */
static int write_run(struct mmio *m, uint32_t ix, const uint32_t *values, size_t n)
{
	int err = reg_write(m, REG_SMC_IND_INDEX_11, ix);

	return err ? err : reg_write_port(m, REG_SMC_IND_DATA_11, values, n);
}

int smc_write_run(struct mmio *m, uint32_t ix, const uint32_t *values, size_t n)
{
	uint32_t cntl;
	int err = reg_read(m, REG_SMC_IND_ACCESS_CNTL, &cntl);

	if (!err)
		err = reg_write(m, REG_SMC_IND_ACCESS_CNTL, cntl | AUTO_INCREMENT_IND_11);
	if (err)
		return err;
	err = write_run(m, ix, values, n);
	if (err == -EAGAIN) /* the bridge is sure of every write from now on */
		err = write_run(m, ix, values, n);
	int off = reg_write(m, REG_SMC_IND_ACCESS_CNTL, cntl & ~AUTO_INCREMENT_IND_11);

	return err ? err : off;
}

int smc_write_bytes(struct mmio *m, uint32_t ix, const uint8_t *bytes, size_t len)
{
	RX_CLEANUP(free) uint32_t *values = malloc(len ? len : 1);

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < len / 4; i++)
		values[i] = get_be32(bytes + 4 * i);
	return smc_write_run(m, ix, values, len / 4);
}
