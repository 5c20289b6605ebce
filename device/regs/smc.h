/* smc.h - the SMC address space behind SMC_IND_INDEX_11 / SMC_IND_DATA_11: SMU RAM, clocks, fan,
 * fuses. @ix: byte address, IX_* of regs.h or RAM; a multiple of 4. RAM holds big-endian
 * structures, so a dword read is the value of a 32-bit field (polaris.md 4.3). Instance 11 is ours
 * alone: the VBIOS uses instance 1. Called only on the owner thread; nobody else may use the pair
 * between two calls of one sequence, so these never yield. Errors: those of bridge.h.
 */
#ifndef RX_SMC_H
#define RX_SMC_H

#include "device/regs/mmio.h"

int smc_read(struct mmio *m, uint32_t ix, uint32_t *value);
/* smc_read_again - the same address as in the smc_read just before, for ports that count up. */
int smc_read_again(struct mmio *m, uint32_t *value);
int smc_write(struct mmio *m, uint32_t ix, uint32_t value);
/* smc_write_checked - and read back; -EIO (logged) it did not take. */
int smc_write_checked(struct mmio *m, uint32_t ix, uint32_t value);
/* smc_update - replace the bits of @mask, as reg_update does. */
int smc_update(struct mmio *m, uint32_t ix, uint32_t mask, uint32_t value);
/* smc_wait - until (value & mask) == want; one command a look. @last may be NULL. Return:
 * -ETIMEDOUT, not logged. */
int smc_wait(struct mmio *m, uint32_t ix, uint32_t mask, uint32_t want, unsigned timeout_ms,
        uint32_t *last);
/* smc_write_run - @n dwords to ascending addresses: one register write each, where smc_write would
 * cost two. Auto-increment is off again afterwards, also on error. */
int smc_write_run(struct mmio *m, uint32_t ix, const uint32_t *values, size_t n);
/* smc_write_bytes - a big-endian structure of @len bytes, a multiple of 4. */
int smc_write_bytes(struct mmio *m, uint32_t ix, const uint8_t *bytes, size_t len);

#endif
