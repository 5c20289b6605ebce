/* asm2x6x_priv.h - parts shared by asm2x6x*.c and their tests: bridge.md 3. */
#ifndef ASM2X6X_PRIV_H
#define ASM2X6X_PRIV_H

#include "device/bridge/asm2x6x.h"

#define ASM_MAX_HOPS 6 /* root port, a switch's two ports, and as much again */

/* What a request to the engine came to. "Done" does not mean success: bridge.md 3.4. */
enum asm_outcome {
	ASM_SUCCESS,
	ASM_UNSUPPORTED, /* completion status: bridge.md 3.3 */
	ASM_RETRY_LATER,
	ASM_ABORTED,
	ASM_NONSENSE,  /* a completion that does not fit the request */
	ASM_NO_ANSWER, /* the engine's error bit: completion timeout, or no link */
};

struct asm_tlp {
	uint8_t type;         /* bridge.md 3.3: B210 */
	uint8_t byte_enables; /* contiguous, not 0 */
	uint64_t addr;        /* dword aligned; of configuration: B218 of bridge.md 3.3 */
	uint32_t data;        /* request's and completion's, lanes as on the bus */
	enum asm_outcome outcome;
};

/* A bridge (type 1 header) on the way to the card, and what it had before. */
struct asm_hop {
	uint8_t bus, dev;
	uint16_t command;
	uint32_t numbers, memory, prefetch, base_high, limit_high;
};

struct asm2x6x {
	struct bridge b; /* first */
	struct bridge_info info;
	enum asm_chip chip;
	/* B210 to B223 as last written, and which of them are known to be still so */
	uint8_t reg[20];
	uint32_t known;
	unsigned seen_resets;
	bool lost, restoring; /* the device was reset: what we know of it is void */
	struct asm_hop hop[ASM_MAX_HOPS];
	unsigned hops;
	bool wide; /* every hop has a 64-bit window */
	uint8_t bus, dev;
	uint32_t id; /* configuration dword 0 of the card at the start */
};

/* asm_read, asm_write - XDATA, checked against the list. A read is repeated once after a transport
 * failure that was no reset. Return: 0; -EAGAIN a write that the device refused because it was
 * reset (not logged); the errors of bridge.h. */
int asm_read(struct asm2x6x *a, uint16_t addr, void *buf, uint8_t len);
int asm_write(struct asm2x6x *a, uint16_t addr, uint8_t value);
/* asm_restore - after a reset of the device look whether the way to the card still stands, and
 * build it again. Cheap when there was none. */
int asm_restore(struct asm2x6x *a);

/* asm_request - one TLP, by the sequence of bridge.md 3.4. Never repeated once it was sent.
 * Return: 0 and @t->outcome; negative when the engine or the bridge does not do its part. */
int asm_request(struct asm2x6x *a, struct asm_tlp *t);
const char *asm_outcome_words(enum asm_outcome o);
/* asm_status_error - whether the engine shows an error after posted writes; cleared. */
int asm_status_error(struct asm2x6x *a, bool *error);

struct asm_where {
	uint8_t bus, dev, fn;
};
/* asm_cfg_read, asm_cfg_write - @size 1, 2 or 4, naturally aligned. Return: as asm_request. */
int asm_cfg_read(struct asm2x6x *a, struct asm_where at, unsigned reg, unsigned size,
        uint32_t *value, enum asm_outcome *outcome);
int asm_cfg_write(struct asm2x6x *a, struct asm_where at, unsigned reg, unsigned size,
        uint32_t value, enum asm_outcome *outcome);

/* asm_path_open - find the card, opening the way to it: bridge.md 3.5. Return: 0; -ENODEV no card
 * (logged); the errors of bridge.h. */
int asm_path_open(struct asm2x6x *a);
/* asm_path_again - the same way once more, after a reset. */
int asm_path_again(struct asm2x6x *a);
/* asm_path_close - what was found is put back. */
void asm_path_close(struct asm2x6x *a);

/* asm_check_link - -ENODEV in words when the link is known to be down. */
int asm_check_link(struct asm2x6x *a);
/* asm_check_card - -ENODEV in words when the card does not answer as at the start. */
int asm_check_card(struct asm2x6x *a);

/* asm2x6x_open - see bridge_open; @chip and @version from asm_identify. */
int asm2x6x_open(struct bridge **out, struct scsi *scsi, const struct bridge_hooks *hooks,
        enum asm_chip chip, const uint8_t version[ASM_VERSION_BYTES]);

#endif
