/* card.h - the virtual RX 580 as a PCIe endpoint: configuration space, BARs, MMIO, HDP, VRAM,
 * VBIOS, command processor. It knows nothing of USB or of the driver. It runs its own threads: one
 * per active compute pipe, plus the engine's workers. Facts: polaris.md 14, resident-plans.md 15.
 */
#ifndef VCARD_H
#define VCARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vcard;

struct vcard_options {
	bool cold;         /* power on un-posted; else as if the VBIOS had run (polaris.md 14.1) */
	const char *vbios; /* image file, at most 512 KiB; NULL: a synthetic one. Read at once. */
	int ambient;       /* degrees C around the card; 0 = 25 */
	uint64_t vram_bytes;   /* 0 = 8 GiB */
	unsigned threads;      /* engine workers, 0 = one per core */
	bool ignore_mmio_wptr; /* a PQ_WPTR write on an active queue does nothing (resident-plans.md
	                          G1) */
	bool dequeue_needs_boundary; /* a queue inside WAIT_REG_MEM does not honour a dequeue
	                                (resident-plans.md 10) */
	/* @log: card events worth a line, guest errors included. Called from any of the card's
	 * threads and with its lock held: must not call the card. */
	void (*log)(void *ctx, bool guest_error, const char *line);
	void *log_ctx;
};

int vcard_new(struct vcard **out, const struct vcard_options *opt);
void vcard_free(struct vcard *c);

enum vcard_tlp_type {
	VCARD_MEM_READ,
	VCARD_MEM_WRITE,
	VCARD_IO_READ,
	VCARD_IO_WRITE,
	VCARD_CFG_READ,
	VCARD_CFG_WRITE
};
enum vcard_completion {
	VCARD_SC = 0,
	VCARD_UR = 1,
	VCARD_CRS = 2,
	VCARD_CA = 4,
	VCARD_TIMEOUT = 0x100
}; /* PCIe codes */

/* One request TLP of one dword, as it arrives at the endpoint. */
struct vcard_tlp {
	enum vcard_tlp_type type;
	uint64_t address; /* memory and I/O: dword-aligned bus address; configuration: function <<
	                     12 | register */
	uint8_t byte_enables; /* bits 3:0, for the one dword */
	uint32_t data;        /* in for writes; out for reads that complete with VCARD_SC */
};

/* vcard_tlp - execute one request. Posted writes return VCARD_SC or VCARD_UR (nobody claimed them).
 * One caller at a time. */
enum vcard_completion vcard_tlp(struct vcard *c, struct vcard_tlp *tlp);

/* vcard_reset - fundamental reset (PERST#): all state but nothing of the host's. VRAM is scrambled.
 */
void vcard_reset(struct vcard *c);

/* Faults to inject. They outlive resets. */
enum vcard_fault {
	VCARD_FAULT_FAN_STUCK,   /* the fan does not turn, its tach is silent */
	VCARD_FAULT_SMU_SILENT,  /* messages are never answered */
	VCARD_FAULT_SMU_FAILS,   /* the message with id @value is answered 0xFF */
	VCARD_FAULT_SMU_REJECTS, /* Test finds every image bad */
	VCARD_FAULT_UCODE_STUCK, /* the ucodes in mask @value never finish loading */
	VCARD_FAULT_MEC_DEAD,    /* the compute queues execute nothing */
	VCARD_FAULT_OVERHEAT,    /* the die is at @value degrees C, whatever cools it */
	VCARD_FAULT_MC_DEAF,     /* memory training never ends */
	VCARD_FAULT_LOAD,        /* busy to @value - 1 per cent, whatever executes */
	VCARD_FAULT_SENSOR_DEAD, /* the temperature reads 0 */
	VCARD_FAULT_VRAM_ALIAS,  /* MM_DATA: two halves of VRAM are one */
	VCARD_FAULT_COUNT
};
/* vcard_inject - arm a fault; @value 0 disarms it. */
void vcard_inject(struct vcard *c, enum vcard_fault fault, unsigned value);
/* vcard_inject_later - the same in @ms of the card's time. Return: 0; -ENOSPC eight are waiting. */
int vcard_inject_later(struct vcard *c, enum vcard_fault fault, unsigned value, uint64_t ms);
/* vcard_fault_parse - "NAME" or "NAME=VALUE": fan-stuck, smu-silent, smu-fails=ID, smu-rejects,
 * ucode-stuck=MASK, mec-dead, overheat=C, mc-deaf, load=PERCENT, sensor-dead, vram-alias.
 * Return: 0; -EINVAL. */
int vcard_fault_parse(const char *text, enum vcard_fault *fault, unsigned *value);
/* vcard_spoil - reads of one register differ from the truth by @flip (0: no more), in BAR5 (@smc
 * false, byte offset) or in the SMC space. Return: 0; -ENOSPC eight are spoilt already. */
int vcard_spoil(struct vcard *c, bool smc, uint32_t address, uint32_t flip);
/* The card's time is the host's, until somebody moves or holds it. Its SMU, its heat, its resets,
 * its clock counter and the faults of vcard_inject_later go by it; the engine's clocks do not. */
uint64_t vcard_now(struct vcard *c); /* ns */
/* vcard_advance - let it run ahead by @ms. */
void vcard_advance(struct vcard *c, uint64_t ms);
/* vcard_hold_time - from now on vcard_advance alone moves it, so that "not yet" is certain. */
void vcard_hold_time(struct vcard *c);

/* What tests and the enclosure's statistics want to know. */
struct vcard_stats {
	uint64_t guest_errors; /* undefined register, malformed packet, stray store, lost dirty
	                          lines, bad shader ... */
	uint64_t dispatches, packets, instructions;
};
void vcard_read_stats(struct vcard *c, struct vcard_stats *out);

#endif
