/* helper_card.c - see helper_card.h */
#include <stdlib.h>

#include <pthread.h>

#include "device/clock.h"
#include "tests/unit/card/helper_card.h"

/* The card logs from any of its threads. */
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static void on_log(void *ctx, bool guest_error, const char *line)
{
	struct host *h = ctx;

	if (!guest_error)
		return;
	pthread_mutex_lock(&log_lock);
	snprintf(h->last, sizeof(h->last), "%s", line);
	pthread_mutex_unlock(&log_lock);
	h->errors++;
}

uint32_t cfg_read(struct host *h, unsigned function, unsigned off)
{
	struct vcard_tlp t = {
	        .type = VCARD_CFG_READ, .address = function << 12 | off, .byte_enables = 0xF};

	vcard_tlp(h->card, &t);
	return t.data;
}

void cfg_write(struct host *h, unsigned function, unsigned off, uint32_t value)
{
	struct vcard_tlp t = {.type = VCARD_CFG_WRITE,
	        .address = function << 12 | off,
	        .byte_enables = 0xF,
	        .data = value};

	assert_int_equal(vcard_tlp(h->card, &t), VCARD_SC);
}

enum vcard_completion mem_read(struct host *h, uint64_t address, uint32_t *value)
{
	struct vcard_tlp t = {.type = VCARD_MEM_READ, .address = address, .byte_enables = 0xF};
	enum vcard_completion r = vcard_tlp(h->card, &t);

	*value = t.data;
	return r;
}

enum vcard_completion mem_write(
        struct host *h, uint64_t address, uint32_t value, uint8_t byte_enables)
{
	struct vcard_tlp t = {.type = VCARD_MEM_WRITE,
	        .address = address,
	        .byte_enables = byte_enables,
	        .data = value};

	return vcard_tlp(h->card, &t);
}

uint32_t reg_read(struct host *h, uint32_t off)
{
	uint32_t value;

	assert_int_equal(mem_read(h, BAR5_AT + off, &value), VCARD_SC);
	return value;
}

void reg_write(struct host *h, uint32_t off, uint32_t value)
{
	assert_int_equal(mem_write(h, BAR5_AT + off, value, 0xF), VCARD_SC);
}

uint32_t vram_read(struct host *h, uint32_t off)
{
	uint32_t value;

	assert_int_equal(mem_read(h, BAR0_AT + off, &value), VCARD_SC);
	return value;
}

void vram_write(struct host *h, uint32_t off, uint32_t value)
{
	assert_int_equal(mem_write(h, BAR0_AT + off, value, 0xF), VCARD_SC);
}

void vram_fill(struct host *h, uint32_t off, const uint32_t *data, unsigned dwords)
{
	for (unsigned i = 0; i < dwords; i++)
		vram_write(h, off + 4 * i, data[i]);
}

void hdp_flush_now(struct host *h)
{
	reg_write(h, REG_HDP_MEM_COHERENCY_FLUSH_CNTL, 1);
}

void hdp_drop(struct host *h)
{
	reg_write(h, REG_HDP_DEBUG0, 1);
}

uint32_t vram_fresh(struct host *h, uint32_t off)
{
	hdp_drop(h);
	return vram_read(h, off);
}

bool wait_vram(struct host *h, uint32_t off, uint32_t value, unsigned ms)
{
	uint64_t end = deadline_in_ms(ms);

	while (vram_fresh(h, off) != value) {
		if (deadline_passed(end))
			return false;
		sleep_us(200);
	}
	return true;
}

uint64_t guest_errors(struct host *h)
{
	struct vcard_stats s;

	vcard_read_stats(h->card, &s);
	return s.guest_errors;
}

void host_enumerate(struct host *h)
{
	cfg_write(h, 0, 0x10, (uint32_t)BAR0_AT);
	cfg_write(h, 0, 0x18, (uint32_t)BAR2_AT);
	cfg_write(h, 0, 0x20, (uint32_t)BAR4_AT);
	cfg_write(h, 0, 0x24, (uint32_t)BAR5_AT);
	cfg_write(h, 0, 0x30, (uint32_t)ROM_AT);
	cfg_write(h, 1, 0x10, (uint32_t)AUDIO_AT);
	cfg_write(h, 0, 0x04, 0x3);
	cfg_write(h, 1, 0x04, 0x2);
}

struct host *host_new(const struct vcard_options *opt)
{
	struct host *h = calloc(1, sizeof(*h));
	struct vcard_options o = *opt;

	assert_non_null(h);
	o.log = on_log;
	o.log_ctx = h;
	o.threads = o.threads ? o.threads : 2;
	if (!o.vram_bytes)
		o.vram_bytes = VRAM_BYTES;
	assert_int_equal(vcard_new(&h->card, &o), 0);
	vcard_hold_time(h->card);
	host_enumerate(h);
	return h;
}

void host_free(struct host *h)
{
	vcard_free(h->card);
	free(h);
}

int host_setup(void **state)
{
	*state = host_new(&(struct vcard_options){0});
	return 0;
}

int host_teardown(void **state)
{
	host_free(*state);
	return 0;
}

void queue_init(struct test_queue *q, unsigned pipe, unsigned queue, uint32_t memory)
{
	*q = (struct test_queue){.pipe = pipe,
	        .queue = queue,
	        .ring = memory,
	        .eop = memory + 0x10000,
	        .report = memory + 0x11000,
	        .ring_dwords = 1024};
}

void queue_select(struct host *h, const struct test_queue *q)
{
	reg_write(h, REG_SRBM_GFX_CNTL,
	        q ? 1u << 2 | q->pipe | q->queue << 8 : 0); /* polaris.md 6.1 */
}

uint32_t queue_reg(struct host *h, const struct test_queue *q, uint32_t off)
{
	uint32_t value;

	queue_select(h, q);
	value = reg_read(h, off);
	queue_select(h, NULL);
	return value;
}

void queue_program(struct host *h, const struct test_queue *q, uint32_t wptr)
{
	unsigned size = 0;

	while (2u << size < q->ring_dwords)
		size++;
	queue_select(h, q);
	reg_write(h, REG_CP_HQD_VMID, 0);
	reg_write(h, REG_CP_HQD_PQ_BASE, (uint32_t)((FB_BASE + q->ring) >> 8));
	reg_write(h, REG_CP_HQD_PQ_BASE_HI, (uint32_t)((FB_BASE + q->ring) >> 40));
	reg_write(h, REG_CP_HQD_PQ_RPTR, 0);
	reg_write(h, REG_CP_HQD_PQ_RPTR_REPORT_ADDR, LO(q->report));
	reg_write(h, REG_CP_HQD_PQ_RPTR_REPORT_ADDR_HI, HI(q->report));
	reg_write(h, REG_CP_HQD_PQ_WPTR, wptr);
	/* PRIV_STATE, KMD_QUEUE, MTYPE UC, RPTR_BLOCK_SIZE 4: polaris.md 6.6, resident-plans.md 11
	 */
	reg_write(h, REG_CP_HQD_PQ_CONTROL, 0xC0018000 | 4u << 8 | size);
	reg_write(h, REG_CP_HQD_IB_CONTROL, 3u << 20 | 3u << 27);
	reg_write(h, REG_CP_HQD_EOP_BASE_ADDR, (uint32_t)((FB_BASE + q->eop) >> 8));
	reg_write(h, REG_CP_HQD_EOP_BASE_ADDR_HI, (uint32_t)((FB_BASE + q->eop) >> 40));
	reg_write(h, REG_CP_HQD_EOP_CONTROL, 9); /* 4 KiB */
	reg_write(h, REG_CP_HQD_ACTIVE, 1);
	queue_select(h, NULL);
}

void queue_start(struct host *h, struct test_queue *q)
{
	for (unsigned i = 0; i < q->ring_dwords; i++)
		vram_write(h, q->ring + 4 * i, PM4_FILLER);
	vram_write(h, q->report, 0xFFFFFFFF);
	hdp_flush_now(h);
	reg_write(h, REG_CP_MEC_CNTL, 0);
	queue_program(h, q, 0);
	q->wptr = 0;
}

void queue_put(struct host *h, struct test_queue *q, const uint32_t *data, unsigned dwords)
{
	for (unsigned i = 0; i < dwords; i++) {
		vram_write(h, q->ring + 4 * q->wptr, data[i]);
		q->wptr = (q->wptr + 1) % q->ring_dwords;
	}
}

void queue_grant(struct host *h, struct test_queue *q)
{
	hdp_flush_now(h);
	queue_select(h, q);
	reg_write(h, REG_CP_HQD_PQ_WPTR, q->wptr);
	queue_select(h, NULL);
}

bool queue_wait_reg(
        struct host *h, const struct test_queue *q, uint32_t off, uint32_t value, unsigned ms)
{
	uint64_t end = deadline_in_ms(ms);

	while (queue_reg(h, q, off) != value) {
		if (deadline_passed(end))
			return false;
		sleep_us(200);
	}
	return true;
}

void queue_wait_error(struct host *h, const struct test_queue *q)
{
	uint64_t end = deadline_in_ms(LONG);

	while (!queue_reg(h, q, REG_CP_HQD_ERROR)) {
		if (deadline_passed(end))
			fail_msg("queue %u.%u: no CP_HQD_ERROR", q->pipe, q->queue);
		sleep_us(200);
	}
}

bool queue_dequeue(struct host *h, const struct test_queue *q, uint32_t type, unsigned ms)
{
	queue_select(h, q);
	reg_write(h, REG_CP_HQD_DEQUEUE_REQUEST, type);
	queue_select(h, NULL);
	return queue_wait_reg(h, q, REG_CP_HQD_ACTIVE, 0, ms);
}
