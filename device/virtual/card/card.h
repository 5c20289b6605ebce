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

/* What tests and the enclosure's statistics want to know. */
struct vcard_stats {
	uint64_t guest_errors; /* undefined register, malformed packet, stray store, lost dirty
	                          lines, bad shader ... */
	uint64_t dispatches, packets, instructions;
};
void vcard_read_stats(struct vcard *c, struct vcard_stats *out);

#endif
