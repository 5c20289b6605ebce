/* bridge.h - PCIe configuration and memory transactions through a USB-NVMe bridge with stock
 * firmware, whatever its family. One implementation a family: rtl921x*.c, asm2x6x*.c. Called only
 * on the owner thread. Addresses are PCIe bus addresses; values and bytes are little endian.
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

/* The PCIe link behind the bridge as somebody last looked at it. */
struct bridge_link {
	bool known, up;
	unsigned speed, width; /* PCIe generation and lanes; 0 unknown: bridge_ops.look_at_link */
	unsigned max_speed, max_width; /* what the bridge's own port can do */
	uint32_t port; /* RTL921x: the port's control word, bridge.md 2.13; else 0 */
};

struct bridge_info {
	char family[16];   /* "rtl921x", "asm236x", "asm246x" */
	char firmware[32]; /* "1.32.87"; ASMedia "240417_85_00_00" */
	/* RTL921x: what the bridge's firmware assigned to BAR0. Its memory commands count from
	 * here, also after somebody moved the BAR (bridge.md 2.10). */
	uint64_t window_base;
	bool assigns_bars; /* the firmware has placed the card's BARs; else somebody has to */
	/* where a BAR may be: 32-bit addresses, and 64-bit ones (0, 0: none). Clear of what the
	 * bridge itself answers: bridge.md 4.5 */
	uint64_t reach_start, reach_end, wide_start, wide_end;
	uint32_t request_bytes;   /* what somebody who waits should ask for at once; 0: anything */
	bool errors_visible;      /* a failed TLP is reported; otherwise reads return stale data */
	bool ability_alias_write; /* dword writes by E3/34 in use: rtl921x_use_alias */
	unsigned ability_engine_burst; /* dwords a TLP of bulk writes: rtl921x_use_burst; 0 off */
	bool ability_function_1;       /* other functions of the card: bridge_ops.function_read */
	struct bridge_link link;
	uint64_t retries;      /* reads repeated after a transport failure */
	uint64_t refusals;     /* commands the bridge refused with sense */
	uint64_t unlocks;      /* times a bridge that had locked itself was unlocked again */
	uint64_t tlp_timeouts; /* requests the bridge saw no completion of */
};

#define BRIDGE_SHORT_BYTES 4096u

/* @yield: called between the commands of transfers longer than BRIDGE_SHORT_BYTES, never inside a
 * sequence that must stay together. */
struct bridge_hooks {
	void (*yield)(void *ctx);
	/* @recheck: called with each heartbeat, after the cable was reset and after a request that
	 * failed: is the card still set up as it was? Configuration reads only. Its error is that
	 * of the command under way, and nothing more is sent for it. */
	int (*recheck)(void *ctx);
	void *ctx;
};

struct bridge_ops {
	/* Configuration space of function 0; @size 1, 2 or 4, naturally aligned, @reg below 4096.
	 */
	int (*cfg_read)(struct bridge *b, unsigned reg, unsigned size, uint32_t *value);
	int (*cfg_write)(struct bridge *b, unsigned reg, unsigned size, uint32_t value);
	/* One aligned dword of another function of the card, 1 to 7; all ones: nobody is there.
	 * Only with ability_function_1, else -ENOTSUP (not logged). NULL: never. */
	int (*function_read)(struct bridge *b, unsigned fn, unsigned reg, uint32_t *value);
	/* An aligned dword of configuration space in one TLP, where two halves would not do. */
	int (*cfg_write_whole)(struct bridge *b, unsigned reg, uint32_t value);
	/* One aligned dword, one TLP: registers. A read is never repeated. */
	int (*mem_read32)(struct bridge *b, uint64_t addr, uint32_t *value);
	int (*mem_write32)(struct bridge *b, uint64_t addr, uint32_t value);
	/* @count dwords to one register, in order, cheaper than as many mem_write32. Return -EAGAIN
	 * (logged): some of them may not have arrived; set the port up again and send all anew,
	 * which will be slower and sure. NULL: as many mem_write32. */
	int (*mem_write_port)(
	        struct bridge *b, uint64_t addr, const uint32_t *values, size_t count);
	/* Any bytes of memory without side effects, ascending; the last byte lands last. A read may
	 * be repeated. */
	int (*mem_read)(struct bridge *b, uint64_t addr, void *buf, size_t len);
	int (*mem_write)(struct bridge *b, uint64_t addr, const void *buf, size_t len);
	/* -ENODEV when the card's vendor id no longer reads as at the start; what the recheck
	 * says. */
	int (*heartbeat)(struct bridge *b);
	/* Bring all of bridge_info.link up to date, several commands. NULL: the family cannot.
	 * Between two calls heartbeats and failures keep link.up true to life. */
	int (*look_at_link)(struct bridge *b);
	void (*read_info)(const struct bridge *b, struct bridge_info *out);
	void (*free)(struct bridge *b);
};

struct bridge { /* first member of every implementation */
	const struct bridge_ops *ops;
	struct scsi *scsi;
	struct bridge_hooks hooks;
};

/* Whose chip the names say it is. Names can be changed, so this decides only which question is
 * harmless to ask (bridge.md 2.18). */
enum bridge_maker { BRIDGE_NAMELESS, BRIDGE_REALTEK, BRIDGE_ASMEDIA, BRIDGE_CONTRADICTORY };

/* bridge_maker_of - from USB ids (0, 0: unknown) and the 36 bytes of a standard INQUIRY:
 * bridge.md 1.1. */
enum bridge_maker bridge_maker_of(const struct usb_identity *usb, const uint8_t *inquiry);
/* bridge_name_fits - whether the INQUIRY's product is one this family ("asm236x") may bear: a
 * maker's own name of another chip does not fit, any other name does. */
bool bridge_name_fits(const char *family, const uint8_t *inquiry);

/* bridge_open - identify the bridge positively and make ready for transactions. Sends nothing that
 * writes before that (bridge.md 2.18). Takes ownership of @scsi only when it succeeds. Return: 0;
 * -ENOTSUP not a bridge this build drives; -ENODEV no PCIe device behind it; the errors above.
 */
int bridge_open(struct bridge **out, struct scsi *scsi, const struct bridge_hooks *hooks);
void bridge_free(struct bridge *b); /* also frees the scsi device; NULL is fine */

/* bridge_decode_link - speed and width of the bridge's port. @caps, @status: link capabilities and
 * link status of its PCIe capability (PCIe base specification 7.5.3). */
void bridge_decode_link(struct bridge_link *l, uint32_t caps, uint32_t status);

#define BRIDGE_CRS_VENDOR 0x0001u /* PCIe base specification 2.3.2, CRS software visibility */

/* bridge_answers - whether a device has id @id (configuration dword 0); all ones, 0 and the id of a
 * device that wants time (bridge.md 4.1) are no answer. */
bool bridge_answers(uint32_t id);
/* bridge_no_answer - say what it means that the card reads as @id, given what is known of the link.
 * Return: -ENODEV. */
int bridge_no_answer(uint32_t id, const struct bridge_link *l);

static inline void bridge_yield(struct bridge *b)
{
	if (b->hooks.yield)
		b->hooks.yield(b->hooks.ctx);
}

static inline int bridge_recheck(struct bridge *b)
{
	return b->hooks.recheck ? b->hooks.recheck(b->hooks.ctx) : 0;
}

#endif
