/* bridge.h - PCIe configuration and memory transactions through a USB-NVMe bridge with stock
 * firmware, whatever its family. One implementation a family: rtl921x*.c now, ASMedia ASM2x6x has
 * its place beside it (bridge.md 3). Called only on the owner thread. Addresses are PCIe bus
 * addresses; values and bytes are little endian.
 *
 * Errors everywhere: -EIO refused or link failure; -ETIMEDOUT; -ENODEV bridge unplugged or card
 * gone; -EINVAL an address or size the family cannot do; -EPERM not on the family's list of
 * harmless commands. Logged where detected.
 */
#ifndef RX_BRIDGE_H
#define RX_BRIDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/scsi/scsi.h"

struct bridge;

struct bridge_info {
	char family[16];   /* "rtl921x" */
	char firmware[32]; /* "1.32.87" */
	/* RTL921x: what the bridge's firmware assigned to BAR0. Its memory commands count from
	 * here, also after somebody moved the BAR (bridge.md 2.10). */
	uint64_t window_base;
	bool errors_visible;      /* a failed TLP is reported; otherwise reads return stale data */
	bool ability_alias_write; /* dword writes by E3/34 in use: rtl921x_use_alias */
	uint64_t retries;         /* reads repeated after a transport failure */
};

/* @yield: called between the commands of transfers longer than 4096 bytes, never inside a sequence
 * that must stay together. */
struct bridge_hooks {
	void (*yield)(void *ctx);
	void *ctx;
};

struct bridge_ops {
	/* Configuration space of function 0; @size 1, 2 or 4, naturally aligned, @reg below 4096.
	 */
	int (*cfg_read)(struct bridge *b, unsigned reg, unsigned size, uint32_t *value);
	int (*cfg_write)(struct bridge *b, unsigned reg, unsigned size, uint32_t value);
	/* One aligned dword, one TLP: registers. A read is never repeated. */
	int (*mem_read32)(struct bridge *b, uint64_t addr, uint32_t *value);
	int (*mem_write32)(struct bridge *b, uint64_t addr, uint32_t value);
	/* Any bytes of memory without side effects, ascending; the last byte lands last. A read may
	 * be repeated. */
	int (*mem_read)(struct bridge *b, uint64_t addr, void *buf, size_t len);
	int (*mem_write)(struct bridge *b, uint64_t addr, const void *buf, size_t len);
	/* -ENODEV when the card's vendor id no longer reads as at the start. */
	int (*heartbeat)(struct bridge *b);
	void (*read_info)(const struct bridge *b, struct bridge_info *out);
	void (*free)(struct bridge *b);
};

struct bridge { /* first member of every implementation */
	const struct bridge_ops *ops;
	struct scsi *scsi;
	struct bridge_hooks hooks;
};

/* bridge_open - identify the bridge positively and make ready for transactions. Sends nothing that
 * writes before that (bridge.md 2.18). Takes ownership of @scsi only when it succeeds. Return: 0;
 * -ENOTSUP not a bridge this build drives; -ENODEV no PCIe device behind it; the errors above.
 */
int bridge_open(struct bridge **out, struct scsi *scsi, const struct bridge_hooks *hooks);
void bridge_free(struct bridge *b); /* also frees the scsi device; NULL is fine */

static inline void bridge_yield(struct bridge *b)
{
	if (b->hooks.yield)
		b->hooks.yield(b->hooks.ctx);
}

#endif
