/* helper_card.h - a virtual card with its BARs assigned, seen as a host sees it: TLPs only.
 * Also a small packet writer and a queue set up by registers as polaris.md 6.7 says.
 */
#ifndef HELPER_CARD_H
#define HELPER_CARD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "device/cp/pm4.h"
#include "device/regs/regs.h"
#include "device/virtual/card/card.h"

/* ms. What must happen has LONG for it, on a machine that is busy with other things; what must not
 * happen gets the chance for a SHORT while. Nothing may depend on how long anything takes. */
#define LONG  60000
#define SHORT 30

#define VRAM_BYTES (64ull << 20)
#define FB_BASE    0xF400000000ull
#define BAR0_AT    0x80000000ull
#define BAR2_AT    0xD0000000ull
#define BAR5_AT    0xE0000000ull
#define BAR4_AT    0xE000ull
#define ROM_AT     0xE0100000ull
#define AUDIO_AT   0xE0200000ull

struct host {
	struct vcard *card; /* its time is held: only vcard_advance moves it */
	atomic_uint errors; /* guest errors logged */
	char last[400];     /* newest guest error; read it only while no queue runs */
};

/* A queue's memory, VRAM offsets. */
struct test_queue {
	unsigned pipe, queue;
	uint32_t ring, eop, report; /* VRAM offsets */
	uint32_t ring_dwords, wptr;
};

int host_setup(void **state);    /* cmocka set-up: struct host, BARs assigned, decoding on */
int host_teardown(void **state); /* and its opposite */
struct host *host_new(const struct vcard_options *opt);
void host_free(struct host *h);
/* host_enumerate - assign BARs and switch decoding on, as after every reset */
void host_enumerate(struct host *h);

uint32_t cfg_read(struct host *h, unsigned function, unsigned off);
void cfg_write(struct host *h, unsigned function, unsigned off, uint32_t value);
enum vcard_completion mem_read(struct host *h, uint64_t address, uint32_t *value);
enum vcard_completion mem_write(
        struct host *h, uint64_t address, uint32_t value, uint8_t byte_enables);
uint32_t reg_read(struct host *h, uint32_t off);
void reg_write(struct host *h, uint32_t off, uint32_t value);

uint32_t vram_read(struct host *h, uint32_t off); /* as HDP serves it */
void vram_write(struct host *h, uint32_t off, uint32_t value);
void vram_fill(struct host *h, uint32_t off, const uint32_t *data, unsigned dwords);
void hdp_flush_now(struct host *h);
void hdp_drop(struct host *h);
uint32_t vram_fresh(struct host *h, uint32_t off); /* after an HDP invalidate */
/* wait_vram - poll until the dword is @value; at most @ms. Return: whether it came. */
bool wait_vram(struct host *h, uint32_t off, uint32_t value, unsigned ms);
uint64_t guest_errors(struct host *h);
#define assert_no_guest_errors(h)                                                                  \
	do {                                                                                       \
		if (guest_errors(h))                                                               \
			fail_msg("%u guest errors, the newest: %s", (unsigned)guest_errors(h),     \
			        (h)->last);                                                        \
	} while (0)

/* Queues. The ring is filled with fillers. */
void queue_init(struct test_queue *q, unsigned pipe, unsigned queue, uint32_t memory);
void queue_select(struct host *h, const struct test_queue *q);
void queue_program(struct host *h, const struct test_queue *q, uint32_t wptr);
void queue_start(struct host *h, struct test_queue *q); /* MEC unhalted, program, activate empty */
uint32_t queue_reg(struct host *h, const struct test_queue *q, uint32_t off);
/* queue_put - append dwords to the ring (wrapping) without granting them */
void queue_put(struct host *h, struct test_queue *q, const uint32_t *data, unsigned dwords);
void queue_grant(struct host *h, struct test_queue *q); /* HDP flush and WPTR */
bool queue_wait_reg(
        struct host *h, const struct test_queue *q, uint32_t off, uint32_t value, unsigned ms);
void queue_wait_error(struct host *h, const struct test_queue *q); /* fails if none comes */
bool queue_dequeue(struct host *h, const struct test_queue *q, uint32_t type, unsigned ms);
#define PUT(h, q, ...)                                                                             \
	do {                                                                                       \
		const uint32_t words_[] = {__VA_ARGS__};                                           \
		queue_put(h, q, words_, sizeof(words_) / sizeof(words_[0]));                       \
	} while (0)

/* Packets; offsets are VRAM offsets. */
#define LO(off)            ((uint32_t)(FB_BASE + (off)))
#define HI(off)            ((uint32_t)((FB_BASE + (off)) >> 32))
#define WRITE_MEM(off, v)  PKT3(PKT3_WRITE_DATA, 5), 0x00100500, LO(off), HI(off), (v)
#define WRITE_L2(off, v)   PKT3(PKT3_WRITE_DATA, 5), 0x00100200, LO(off), HI(off), (v)
#define WRITE_REG(byte, v) PKT3(PKT3_WRITE_DATA, 5), 0x00100000, (byte) / 4, 0, (v)
#define WAIT_MEM(off, v)                                                                           \
	PKT3(PKT3_WAIT_REG_MEM, 7), WAIT_MEM_EQUAL, LO(off), HI(off), (v), 0xFFFFFFFF, 0x20
#define ACQUIRE(bits) PKT3(PKT3_ACQUIRE_MEM, 7), (bits), 0xFFFFFFFF, 0xFF, 0, 0, 0xA
#define RELEASE(off, v)                                                                            \
	PKT3(PKT3_RELEASE_MEM, 7), RELEASE_MEM_CACHE_FLUSH, RELEASE_MEM_WRITE_32, LO(off),         \
	        HI(off), (v), 0
#define IB_CALL(off, n) PKT3(PKT3_INDIRECT_BUFFER, 4), LO(off), HI(off), IB_VALID | (n)
#define CS_FLUSH        PKT3(PKT3_EVENT_WRITE, 2), EVENT_WRITE_CS_PARTIAL_FLUSH

#endif
