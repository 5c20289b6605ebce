/* helper_asm.h - a small ASMedia bridge for tests: answers E4 and E5, and has a PCIe tree of any
 * shape behind its engine. It is not the virtual enclosure: no USB, no strictness, but every answer
 * can be chosen.
 */
#ifndef HELPER_ASM_H
#define HELPER_ASM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/bridge/asm2x6x_priv.h"
#include "device/scsi/scsi_priv.h"

#define FAKE_MEMORY_AT 0x10000000u
#define FAKE_MEMORY    4096u

/* One function of the tree, function 0 of its device. */
struct fake_fn {
	uint32_t cfg[64];
	struct fake_fn *child[32]; /* of a bridge: what is on its secondary bus */
};

struct fake {
	struct scsi s;
	/* names and family */
	struct usb_identity usb;
	const char *vendor, *product;
	enum asm_chip chip; /* ASM_UNKNOWN: refuses every vendor command */
	uint8_t version[ASM_VERSION_BYTES];
	/* the chip */
	uint8_t xdata[0x10000];
	bool armed;
	struct fake_fn port, *top;
	uint8_t memory[FAKE_MEMORY]; /* at FAKE_MEMORY_AT, and 32 GiB above */
	/* faults, each for the next so many requests or commands */
	unsigned attention; /* commands refused with 6/29/00 */
	unsigned crs;       /* configuration reads of register 0 of the card that want a retry */
	unsigned timeouts;  /* requests that end with the error bit */
	int status;         /* completion status of memory reads, if not 0 */
	int byte_count;     /* of completions of memory reads, if not 0 */
	bool never_ready;
	unsigned lost_answers; /* E4 that fail without sense */
	unsigned resets_at;    /* the command from which on everything is forgotten, with 6/29/00 */
	/* what came */
	uint8_t (*cdb)[16];
	size_t ncdb, max;
	unsigned requests, writes; /* TLPs; memory writes among them */
	uint8_t last_enables;
	uint64_t last_addr;
};

/* fake_new - an ASM2362 or ASM2464 with the card at 01:00.0. */
struct fake *fake_new(enum asm_chip chip);
/* fake_bridge, fake_card - a header of either type; owned by the caller. */
void fake_bridge(struct fake_fn *f);
void fake_device(struct fake_fn *f, uint32_t id, uint32_t class_code);
/* fake_sent - how many commands with this opcode, and for op E5 this address (-1 any), came. */
unsigned fake_sent(const struct fake *f, int op, int addr);
void fake_forget(struct fake *f);

#endif
