/* mmio.h - the card's 32-bit registers in BAR5. @reg: byte offset, REG_* of regs.h. Called only on
 * the owner thread. A read costs one bridge command, a write four. Errors: those of bridge.h.
 */
#ifndef RX_MMIO_H
#define RX_MMIO_H

#include <stddef.h>
#include <stdint.h>

#include "device/pci/pci.h"

struct mmio {
	struct pci *pci; /* not owned */
};

struct reg_value {
	uint32_t reg, value;
};
/* One row of a golden table: new = (old & ~mask) | value; mask all ones: value. polaris.md 5 */
struct reg_golden {
	uint32_t reg, mask, value;
};

int reg_read(struct mmio *m, uint32_t reg, uint32_t *value);
int reg_write(struct mmio *m, uint32_t reg, uint32_t value);
/* reg_write_port - @count values to one register, in order. -EAGAIN (logged): some may not have
 * arrived; set the port up again and send all anew. */
int reg_write_port(struct mmio *m, uint32_t reg, const uint32_t *values, size_t count);
/* reg_update - replace the bits of @mask. Writes only what differs, and reads back what it wrote.
 * Return: 0; -EIO it did not take (logged with name, expected and got). */
int reg_update(struct mmio *m, uint32_t reg, uint32_t mask, uint32_t value);
/* reg_check - the bits of @mask must be these; -EIO (logged) otherwise. */
int reg_check(struct mmio *m, uint32_t reg, uint32_t mask, uint32_t value);
/* reg_ensure_list, reg_golden_list - rows in order, each as by reg_update. */
int reg_ensure_list(struct mmio *m, const struct reg_value *list, size_t n);
int reg_golden_list(struct mmio *m, const struct reg_golden *list, size_t n);
/* reg_wait - until (value & mask) == want. @last may be NULL. Return: -ETIMEDOUT, not logged:
 * callers differ in what it means. */
int reg_wait(struct mmio *m, uint32_t reg, uint32_t mask, uint32_t want, unsigned timeout_ms,
        uint32_t *last);

/* reg_select - which queue or VMID the banked registers show (polaris.md 6.1). @me: 0 graphics, 1
 * MEC1. Between select and deselect nobody else may use the card: do not yield. */
int reg_select(struct mmio *m, unsigned me, unsigned pipe, unsigned queue, unsigned vmid);
int reg_deselect(struct mmio *m);
/* reg_select_se - GRBM_GFX_INDEX at one shader engine, or broadcast for all (polaris.md 1.4). */
int reg_select_se(struct mmio *m, unsigned se);
int reg_select_all(struct mmio *m);

#endif
