/* service.c - the service queue: copy packets into its ring, let it run, wait for the fence, get
 * over a hang. Also the ring tests of polaris.md 13.5, which prove the queue before anybody relies
 * on it.
 */
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/cp/cp.h"
#include "device/cp/pm4.h"
#include "device/cp/pm4_build.h"
#include "device/err.h"
#include "device/regs/regs.h"

#define RING_LOG2_DW 14u
#define RING_DWORDS  (1u << RING_LOG2_DW)
#define FRAME_DWORDS 64u   /* what submit adds around the packets */
#define CHUNK_BYTES  4096u /* the bridge does not yield inside such a run: bridge.h */
/* In the page behind the ring; every word on its own 256-byte line, as resident-plans.md 11 wants
 */
#define PAGE_FENCE     0x000u
#define PAGE_TEST      0x100u
#define PAGE_IB        0x200u
#define PAGE_IB_RESULT 0x300u
#define PAGE_USED      0x400u
#define IB_DWORDS      8u /* a multiple of 8: resident-plans.md 1 */
/* polaris.md 13.5 says 100 ms; ten times that, because a virtual card shares the host's processors
 * with everybody */
#define TEST_MS 1000
/* polaris.md 6.10; the third value is ours */
#define SCRATCH_BEFORE  0xCAFEDEADu
#define SCRATCH_AFTER   0xDEADBEEFu
#define SCRATCH_PROBE   0x0000580Fu
#define TEST_PATTERN    0x52585458u
#define POLLS_PER_CHECK 4 /* fence polls between two looks at CP_HQD_ERROR */
#define POLL_MAX_US     2000

struct cp_service {
	struct cp_queue *q;
	struct gmc *gmc;
	struct mmio *mmio;
	uint64_t ring, page; /* VRAM offsets */
	void (*yield)(void *ctx);
	void *ctx;
	bool running, mmio_wptr;
	uint32_t wptr;                 /* where the next packet goes */
	uint32_t oldest;               /* where the oldest outstanding submission starts */
	uint32_t submitted, completed; /* fences; equal when nothing is outstanding */
	unsigned epoch; /* counts recoveries: a waiter notices that its work is gone */
};

int cp_service_new(struct cp_service **out, struct cp_queue *q, struct gmc *gmc, struct mmio *mmio,
        uint64_t area, void (*yield)(void *ctx), void *ctx)
{
	struct cp_service *s = calloc(1, sizeof(*s));

	_Static_assert(RING_DWORDS * 4 == CP_SERVICE_RING_BYTES, "ring size");
	_Static_assert(CP_SERVICE_MAX_DWORDS + FRAME_DWORDS < RING_DWORDS / 2,
	        "a submission fills at most half a ring");
	if (!s)
		return -ENOMEM;
	*s = (struct cp_service){.q = q,
	        .gmc = gmc,
	        .mmio = mmio,
	        .ring = area,
	        .page = area + CP_SERVICE_RING_BYTES,
	        .yield = yield,
	        .ctx = ctx};
	*out = s;
	return 0;
}

void cp_service_free(struct cp_service *s)
{
	free(s);
}

bool cp_service_running(const struct cp_service *s)
{
	return s->running;
}

bool cp_service_mmio_wptr(const struct cp_service *s)
{
	return s->mmio_wptr;
}

void cp_service_read_fences(const struct cp_service *s, uint32_t *submitted, uint32_t *completed)
{
	*submitted = s->submitted;
	*completed = s->completed;
}

static uint64_t page_address(const struct cp_service *s, uint32_t offset)
{
	return gmc_fb_base(s->gmc) + s->page + offset;
}

/* read_word - a dword of the page, as the card left it in memory. */
static int read_word(struct cp_service *s, uint32_t offset, uint32_t *value)
{
	uint8_t data[4] = {0};
	int err = gmc_hdp_invalidate(s->gmc);

	if (!err)
		err = gmc_window_read(s->gmc, s->page + offset, data, sizeof(data));
	*value = get_le32(data);
	return err;
}

/* ---- the ring ---- */

/* write_ring - dwords at ring position @at, in single bridge commands. */
static int write_ring(struct cp_service *s, uint32_t at, const uint32_t *dw, size_t n)
{
	uint8_t chunk[CHUNK_BYTES];
	int err = 0;

	while (n && !err) {
		size_t now = MIN(n, sizeof(chunk) / 4);

		for (size_t i = 0; i < now; i++)
			put_le32(chunk + 4 * i, dw[i]);
		err = gmc_window_write(s->gmc, s->ring + 4ull * at, chunk, now * 4);
		at += (uint32_t)now;
		dw += now;
		n -= now;
	}
	return err;
}

/* skip_to_start - one NOP over the rest of the ring; what it skips is never executed. */
static int skip_to_start(struct cp_service *s)
{
	uint32_t rest = RING_DWORDS - s->wptr;
	uint32_t header = rest == 1 ? PM4_FILLER : PKT3(PKT3_NOP, rest);
	int err = write_ring(s, s->wptr, &header, 1);

	s->wptr = 0;
	return err;
}

static uint32_t room(const struct cp_service *s)
{
	if (s->submitted == s->completed)
		return RING_DWORDS - 1;
	return (s->oldest - s->wptr - 1) & (RING_DWORDS - 1);
}

static int wait_fence(struct cp_service *s, uint32_t fence, unsigned timeout_ms, bool may_yield);

/* wait_idle - earlier submissions of whoever yielded to us. They have their own deadlines too. */
static int wait_idle(struct cp_service *s, unsigned timeout_ms)
{
	return s->submitted == s->completed ? 0 : wait_fence(s, s->submitted, timeout_ms, false);
}

/* append - behind what is outstanding, and move the write pointer of the active queue. */
static int append(struct cp_service *s, const uint32_t *dw, size_t n, unsigned timeout_ms)
{
	bool wrap = s->wptr + n >= RING_DWORDS;
	uint32_t needed = (uint32_t)n + (wrap ? RING_DWORDS - s->wptr : 0);
	int err = needed > room(s) ? wait_idle(s, timeout_ms) : 0;

	if (err)
		return err;
	if (s->submitted == s->completed)
		s->oldest = s->wptr;
	if (wrap)
		err = skip_to_start(s);
	if (!err)
		err = write_ring(s, s->wptr, dw, n);
	if (!err)
		err = gmc_hdp_flush(s->gmc);
	s->wptr += (uint32_t)n;
	return err ? err : cp_queue_grant(s->q, s->wptr);
}

/* restart_with - take the drained queue off and activate it again with the write pointer preset
 * (G2). */
static int restart_with(struct cp_service *s, const uint32_t *dw, size_t n, unsigned timeout_ms)
{
	int err = wait_idle(s, timeout_ms);

	if (!err)
		err = cp_queue_drain(s->q, TEST_MS);
	if (!err)
		err = write_ring(s, 0, dw, n);
	if (!err)
		err = gmc_hdp_flush(s->gmc);
	s->oldest = 0;
	s->wptr = (uint32_t)n;
	return err ? err : cp_queue_activate(s->q, s->ring, RING_LOG2_DW, s->wptr);
}

/* ---- waiting and recovery ---- */

/* recover - kill what runs and leave an empty queue. Whoever waits for an old fence sees the epoch
 * change. */
static int recover(struct cp_service *s)
{
	s->epoch++;
	s->running = false;
	int err = cp_queue_kill(s->q);

	s->completed = s->submitted;
	s->wptr = 0;
	if (!err)
		err = cp_queue_activate(s->q, s->ring, RING_LOG2_DW, 0);
	s->running = !err;
	return err;
}

/* give_up - a fault or a hang: say what the hardware shows, recover, return @code. */
static int give_up(struct cp_service *s, int code, const char *what)
{
	rx_log(LOG_ERROR, "cp", "service queue: %s; recovering it", what);
	cp_queue_dump(s->q);
	int err = recover(s);

	return err == -ENODEV ? err : code;
}

/* note_fence - a value read from VRAM counts only when it is one we are waiting for. */
static void note_fence(struct cp_service *s, uint32_t value)
{
	if ((int32_t)(value - s->completed) > 0 && (int32_t)(s->submitted - value) >= 0)
		s->completed = value;
}

static int check_error(struct cp_service *s)
{
	struct cp_queue_state state;
	int err = cp_queue_read(s->q, &state);

	if (err || (state.active && !state.error))
		return err;
	return give_up(s, -EIO, state.error ? "stopped on a fault" : "became inactive by itself");
}

static int wait_fence(struct cp_service *s, uint32_t fence, unsigned timeout_ms, bool may_yield)
{
	uint64_t deadline = deadline_in_ms(timeout_ms), pause_us = 20;
	unsigned epoch = s->epoch;

	for (unsigned polls = 1;; polls++) {
		bool late = deadline_passed(deadline);
		uint32_t value;
		int err = read_word(s, PAGE_FENCE, &value);

		if (err)
			return err;
		note_fence(s, value);
		if ((int32_t)(s->completed - fence) >= 0)
			return 0;
		if (polls % POLLS_PER_CHECK == 0)
			err = check_error(s);
		if (!err && late)
			err = give_up(s, -ETIMEDOUT, "no fence before the deadline");
		if (err)
			return err;
		if (may_yield && s->yield)
			s->yield(s->ctx);
		if (s->epoch != epoch)
			return rx_fail("cp", -ECANCELED,
			        "the service queue was reset while work was outstanding");
		sleep_us(pause_us);
		pause_us = MIN(pause_us * 2, POLL_MAX_US);
	}
}

/* ---- submission ---- */

/* frame - caches fresh before, everything written back and a fence after. */
static int frame(struct cp_service *s, struct pm4 *p, const uint32_t *packets, size_t ndw)
{
	pm4_acquire(p, ACQUIRE_DATA_CODE);
	pm4_compute_defaults(p);
	pm4_raw(p, packets, ndw);
	pm4_cs_partial_flush(p);
	pm4_release(p, page_address(s, PAGE_FENCE), s->submitted + 1);
	return p->overflow ? -E2BIG : 0;
}

int cp_service_submit(
        struct cp_service *s, const uint32_t *packets, size_t ndw, unsigned timeout_ms)
{
	uint32_t dw[CP_SERVICE_MAX_DWORDS + FRAME_DWORDS];
	struct pm4 p;

	pm4_init(&p, dw, ARRAY_SIZE(dw));
	if (ndw > CP_SERVICE_MAX_DWORDS)
		return rx_fail("cp", -E2BIG, "%zu dwords are too much for one submission", ndw);
	if (!s->running)
		return rx_fail("cp", -EIO, "the service queue is not running: reset the card");
	/* a nested submission may finish, or fail, before ours is in the ring */
	int err = s->mmio_wptr ? 0 : wait_idle(s, timeout_ms);

	if (!err)
		err = frame(s, &p, packets, ndw);
	if (!err)
		err = s->mmio_wptr ? append(s, dw, p.n, timeout_ms)
		                   : restart_with(s, dw, p.n, timeout_ms);
	if (err)
		return err;
	uint32_t fence = ++s->submitted;

	return wait_fence(s, fence, timeout_ms, true);
}

int cp_service_reset(struct cp_service *s)
{
	return recover(s);
}

/* ---- start ---- */

static int clear_page(struct cp_service *s)
{
	static const uint8_t zero[PAGE_USED];
	int err = gmc_window_write(s->gmc, s->page, zero, sizeof(zero));

	return err ? err : gmc_hdp_flush(s->gmc);
}

/* scratch_packet - the packet of the ring test at ring position 0 or behind it. */
static int put_scratch_packet(struct cp_service *s, uint32_t value)
{
	uint32_t dw[3];
	struct pm4 p;

	pm4_init(&p, dw, ARRAY_SIZE(dw));
	pm4_set_uconfig(&p, REG_SCRATCH_REG0, value);
	int err = write_ring(s, s->wptr, dw, p.n);

	s->wptr += (uint32_t)p.n;
	return err ? err : gmc_hdp_flush(s->gmc);
}

/* test_fetch - polaris.md 13.5 step 51, started by activation with the write pointer preset. */
static int test_fetch(struct cp_service *s)
{
	uint32_t value = 0;
	int err = reg_write(s->mmio, REG_SCRATCH_REG0, SCRATCH_BEFORE);

	s->wptr = 0;
	if (!err)
		err = put_scratch_packet(s, SCRATCH_AFTER);
	if (!err)
		err = cp_queue_activate(s->q, s->ring, RING_LOG2_DW, s->wptr);
	if (!err)
		err = reg_wait(
		        s->mmio, REG_SCRATCH_REG0, 0xFFFFFFFF, SCRATCH_AFTER, TEST_MS, &value);
	if (err == -ETIMEDOUT) {
		cp_queue_dump(s->q);
		return rx_fail("cp", -EIO,
		        "ring test: SCRATCH_REG0 reads 0x%08x, expected 0x%08x: the compute queue "
		        "fetches nothing (is the microcode loaded?)",
		        value, SCRATCH_AFTER);
	}
	return err;
}

/* probe_mmio_wptr - does the write pointer of an active queue follow MMIO? Nobody documents it
 * (resident-plans.md 2, G1). */
static int probe_mmio_wptr(struct cp_service *s)
{
	int err = put_scratch_packet(s, SCRATCH_PROBE);

	if (!err)
		err = cp_queue_grant(s->q, s->wptr);
	if (!err)
		err = reg_wait(s->mmio, REG_SCRATCH_REG0, 0xFFFFFFFF, SCRATCH_PROBE, TEST_MS, NULL);
	s->mmio_wptr = !err;
	if (err == -ETIMEDOUT) {
		rx_log(LOG_INFO, "cp",
		        "the write pointer does not follow MMIO on an active queue: re-activating "
		        "instead");
		err = recover(s);
	}
	return err;
}

/* test_memory - steps 52 to 54: WRITE_DATA, the fence (by submit) and an IB. */
static int test_memory(struct cp_service *s)
{
	const uint32_t pattern = TEST_PATTERN, ib_pattern = ~TEST_PATTERN;
	uint32_t ib[IB_DWORDS], dw[32], value;
	uint8_t bytes[sizeof(ib)];
	struct pm4 p;

	pm4_init(&p, ib, ARRAY_SIZE(ib));
	pm4_write_data(&p, page_address(s, PAGE_IB_RESULT), &ib_pattern, 1);
	pm4_pad(&p, IB_DWORDS);
	for (size_t i = 0; i < IB_DWORDS; i++)
		put_le32(bytes + 4 * i, ib[i]);
	int err = gmc_window_write(s->gmc, s->page + PAGE_IB, bytes, sizeof(bytes));

	pm4_init(&p, dw, ARRAY_SIZE(dw));
	pm4_write_data(&p, page_address(s, PAGE_TEST), &pattern, 1);
	pm4_call(&p, page_address(s, PAGE_IB), IB_DWORDS);
	if (!err)
		err = cp_service_submit(s, dw, p.n, TEST_MS);
	if (!err)
		err = read_word(s, PAGE_TEST, &value);
	if (!err && value != pattern)
		return rx_fail("cp", -EIO, "ring test: WRITE_DATA left 0x%08x in memory", value);
	if (!err)
		err = read_word(s, PAGE_IB_RESULT, &value);
	if (!err && value != ib_pattern)
		return rx_fail(
		        "cp", -EIO, "ring test: the indirect buffer left 0x%08x in memory", value);
	return err;
}

int cp_service_start(struct cp_service *s)
{
	int err = clear_page(s);

	if (!err)
		err = test_fetch(s);
	if (!err)
		err = probe_mmio_wptr(s);
	s->running = !err;
	if (!err)
		err = test_memory(s);
	if (err && err != -ENODEV) { /* nothing half started */
		s->running = false;
		cp_queue_kill(s->q);
	}
	return err;
}

void cp_service_stop(struct cp_service *s)
{
	if (!s->running)
		return;
	s->running = false;
	s->epoch++;
	if (cp_queue_drain(s->q, TEST_MS))
		cp_queue_kill(s->q);
}
