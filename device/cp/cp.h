/* cp.h - the graphics core as far as compute needs it: constants, then queues of MEC1 programmed
 * through their HQD registers, no doorbells and no kernel-interface queue. Called only on the owner
 * thread. Start after gmc, stop before it. Facts: polaris.md 6, 13.4, 13.5; resident-plans.md 2, 8,
 * 10, 16. Errors: those of bridge.h, logged where detected.
 */
#ifndef RX_CP_H
#define RX_CP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/gmc/gmc.h"

struct cp;
struct cp_queue;

int cp_new(struct cp **out, struct mmio *mmio, struct gmc *gmc);
void cp_free(struct cp *cp);
/* cp_start - constants of polaris.md 13.4, interrupts off, RLC and MEC running. @fresh: microcode
 * was loaded just now and nothing has run yet. cp_stop - MEC halted. */
int cp_start(struct cp *cp, bool fresh);
void cp_stop(struct cp *cp);
unsigned cp_compute_units(const struct cp *cp);

/* One hardware queue. @work: VRAM offset of CP_QUEUE_WORK_BYTES in the window for its EOP buffer,
 * MQD and report words, 256-byte aligned; the caller's. */
#define CP_QUEUE_WORK_BYTES 0x3000u

struct cp_queue_config {
	const char *name; /* in messages */
	unsigned pipe; /* of MEC1; a queue that waits holds its whole pipe, so give each its own */
	unsigned priority; /* CP_HQD_PIPE_PRIORITY: 0 low, 1 normal, 2 high */
	uint64_t work;
};
struct cp_queue_state {
	bool active;
	uint32_t rptr, wptr; /* dwords in the ring; a hint, progress is told by fences */
	uint32_t error;      /* CP_HQD_ERROR */
};

int cp_queue_new(struct cp_queue **out, struct cp *cp, const struct cp_queue_config *config);
void cp_queue_free(struct cp_queue *q);
/* cp_queue_activate - run ring dwords [0, @wptr) of a ring of 1 << @log2_dw dwords at VRAM offset
 * @ring (256-byte aligned, 64 dwords at least). The queue must be idle; its host-written ring must
 * have been flushed. */
int cp_queue_activate(struct cp_queue *q, uint64_t ring, unsigned log2_dw, uint32_t wptr);
/* cp_queue_grant - move the write pointer of an active queue (resident-plans.md 2, G1: no driver
 * does this, so probe). */
int cp_queue_grant(struct cp_queue *q, uint32_t wptr);
int cp_queue_read(struct cp_queue *q, struct cp_queue_state *out);
/* cp_queue_drain - let it finish and take it off the hardware. -ETIMEDOUT still busy after
 * @timeout_ms (not logged). */
int cp_queue_drain(struct cp_queue *q, unsigned timeout_ms);
/* cp_queue_kill - end its waves and take it off the hardware. -ETIMEDOUT it does not let go
 * (logged). */
int cp_queue_kill(struct cp_queue *q);
/* cp_queue_dump - registers a human wants to see after a hang, to the log. */
void cp_queue_dump(struct cp_queue *q);

/* ---- the service queue: packets now, with a fence ---- */

struct cp_service;

/* cp_service_new - on @q, with a ring of CP_SERVICE_RING_BYTES at VRAM offset @area followed by a
 * fence line.
 * @yield: called while waiting, where other jobs may use the card, this queue included; may be
 * NULL.
 */
#define CP_SERVICE_RING_BYTES 0x10000u
#define CP_SERVICE_AREA_BYTES (CP_SERVICE_RING_BYTES + 0x1000u)

int cp_service_new(struct cp_service **out, struct cp_queue *q, struct gmc *gmc, struct mmio *mmio,
        uint64_t area, void (*yield)(void *ctx), void *ctx);
void cp_service_free(struct cp_service *s);
/* cp_service_start - activate, then the ring tests of polaris.md 13.5 (51-54). Finds out whether
 * the write pointer of an active queue can be moved by MMIO. */
int cp_service_start(struct cp_service *s);
void cp_service_stop(struct cp_service *s);
bool cp_service_running(const struct cp_service *s);
bool cp_service_mmio_wptr(const struct cp_service *s);
/* cp_service_submit - run packets and wait for their fence. Everything the host wrote before is
 * visible to them; what they wrote is in memory afterwards. @ndw at most CP_SERVICE_MAX_DWORDS.
 * Return: 0; -EIO the queue stopped on a fault; -ETIMEDOUT no fence in @timeout_ms (both: logged,
 * queue recovered); -ECANCELED the queue was reset meanwhile; -E2BIG; -ENODEV.
 */
#define CP_SERVICE_MAX_DWORDS 8000u
int cp_service_submit(
        struct cp_service *s, const uint32_t *packets, size_t ndw, unsigned timeout_ms);
/* cp_service_reset - kill whatever runs and start again. */
int cp_service_reset(struct cp_service *s);
void cp_service_read_fences(const struct cp_service *s, uint32_t *submitted, uint32_t *completed);

#endif
