/* asm2x6x_priv.h - parts shared by asm2x6x*.c and their tests: bridge.md 3. */
#ifndef ASM2X6X_PRIV_H
#define ASM2X6X_PRIV_H

#include <errno.h>

#include "device/bridge/asm2x6x.h"

#define ASM_REACH_END (1ull << 32) /* of 32-bit requests */
/* B210, type of a request: bridge.md 3.3 */
#define ASM_TYPE_MEMORY   0x00u
#define ASM_TYPE_CONFIG   0x04u
#define ASM_TYPE_CONFIG_1 0x01u /* to a bus below the root port */
#define ASM_TYPE_WRITE    0x40u
#define ASM_TYPE_WIDE     0x20u /* of memory: a 64-bit address */
#define ASM_TYPE_KIND     0x1Fu
#define ASM_KEY_ATTENTION 0x06u /* SPC-4, UNIT ATTENTION: the command was not executed */
#define ASM_MAX_HOPS      6     /* root port, a switch's two ports, and as much again */

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
	/* whether this engine has a "ready" bit */
	enum { ASM_READY_UNKNOWN, ASM_READY_USED, ASM_READY_NONE } ready;
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
/* asm_status_error - whether the engine shows an error after posted writes; cleared. */
int asm_status_error(struct asm2x6x *a, bool *error);

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

static inline struct asm_where asm_card(const struct asm2x6x *a)
{
	return (struct asm_where){.bus = a->bus, .dev = a->dev};
}

/* asm_look_at_link - bridge_ops. */
int asm_look_at_link(struct bridge *b);
/* asm_check_link - -ENODEV in words when the link is known to be down. */
int asm_check_link(struct asm2x6x *a);
/* asm_check_card - -ENODEV in words when the card does not answer as at the start. */
int asm_check_card(struct asm2x6x *a);

/* asm_failed - @t came to no good end: is it the request, or is the card gone? Return: 0 it did not
 * fail; -ENODEV; -ETIMEDOUT no completion; -EIO (all logged). */
int asm_failed(struct asm2x6x *a, const struct asm_tlp *t, const char *what);
/* asm_transport - whether a harmless request may be made once more after this error. */
static inline bool asm_transport(int err)
{
	return err == -EIO || err == -ETIMEDOUT;
}

/* bridge_ops: asm2x6x_mem.c */
/* asm_mem_try - one aligned dword, whatever comes of it. */
int asm_mem_try(struct asm2x6x *a, uint64_t addr, struct asm_tlp *t);
int asm_mem_read32(struct bridge *b, uint64_t addr, uint32_t *value);
int asm_mem_write32(struct bridge *b, uint64_t addr, uint32_t value);
int asm_mem_read(struct bridge *b, uint64_t addr, void *buf, size_t len);
int asm_mem_write(struct bridge *b, uint64_t addr, const void *buf, size_t len);

#endif
