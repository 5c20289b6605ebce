/* queue.c - one hardware queue of MEC1 through its HQD registers: polaris.md 6.6, 6.7, 12.4a;
 * resident-plans.md 2 (G2), 10, 16.4. Everything between select and deselect happens in one go.
 */
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/cp/cp_priv.h"
#include "device/err.h"
#include "device/regs/regs.h"

#define MEC1       1u
#define QUEUE      0u /* the first of its pipe */
#define HQD_FIRST  REG_CP_MQD_BASE_ADDR
#define HQD_LAST   REG_CP_HQD_EOP_DONES
#define HQD_DWORDS ((HQD_LAST - HQD_FIRST) / 4 + 1)
#define MQD_BYTES  2048u
#define MQD_HEADER 0xC0310800u /* polaris.md 6.6 */
#define MQD_HQD    128u        /* dword of CP_MQD_BASE_ADDR in the MQD */
/* Where things lie in the queue's work area */
#define WORK_EOP       0x0000u
#define WORK_MQD       0x1000u
#define WORK_REPORT    0x2000u /* RPTR report, then the unused WPTR poll word */
#define WORK_WPTR_POLL 0x2100u
#define EOP_BYTES      4096u
#define EOP_SIZE       9u /* 2^(9 + 1) dwords = EOP_BYTES; at most 0xA: resident-plans.md 6 */
/* Fields: polaris.md 6.6 */
#define PERSISTENT_PRELOAD                                                                         \
	(1u | 0x53u << 8) /* PRELOAD_REQ, PRELOAD_SIZE: resident-plans.md 16.4                     \
	                   */
#define PERSISTENT_MASK (1u | 0x3FFu << 8 | 1u << 30) /* and QSWITCH_MODE 0 */
#define PQ_RPTR_BLOCK   (9u << 8)
#define PQ_MTYPE_UC     (3u << 15) /* resident-plans.md 16.4 */
#define PQ_PRIV_STATE   (1u << 30)
#define PQ_KMD_QUEUE    (1u << 31)
#define IB_MIN_AVAIL    (3u << 20)
#define MTYPE_UC_28_27  (3u << 27) /* IB_CONTROL, IQ_TIMER */
#define MQD_VMID        0xFu       /* MQD_CONTROL */
#define MQD_ATC         (1u << 23) /* 0 on a card with memory of its own: polaris.md 3.4 */
#define ACTIVE          1u
#define DEQUEUE_DRAIN   1u
#define DEQUEUE_KILL    2u
#define SQ_CMD_KILL_ALL 0x93u /* polaris.md 12.4a: kill, broadcast, VMID 0 */
#define MIN_LOG2_DW     6u
#define MAX_LOG2_DW     21u /* 8 MiB, the largest ring anybody is known to use: resident-plans.md 2 */
/* polaris.md 12.4a step 4 says 100 ms; more, for a virtual card on a busy host */
#define KILL_TIMEOUT_MS   1000
#define DEQUEUE_SETTLE_MS 100  /* polaris.md 12.4a step 4 */
#define DEQUEUE_REQ       0x7u /* polaris.md 12.4a step 6 */
#define SQ_KILL_MS        10   /* resident-plans.md 10 */

int cp_queue_new(struct cp_queue **out, struct cp *cp, const struct cp_queue_config *config)
{
	struct cp_queue *q = calloc(1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	q->cp = cp;
	q->config = *config;
	*out = q;
	return 0;
}

void cp_queue_free(struct cp_queue *q)
{
	free(q);
}

static int select_queue(struct cp_queue *q)
{
	return reg_select(q->cp->mmio, MEC1, q->config.pipe, QUEUE, 0);
}

/* deselect - also after a failure; keeps the first error. */
static int deselect(struct cp_queue *q, int err)
{
	int restore = reg_deselect(q->cp->mmio);

	return err ? err : restore;
}

static uint64_t mc_address(const struct cp_queue *q, uint64_t vram_offset)
{
	return gmc_fb_base(q->cp->gmc) + vram_offset;
}

/* ---- what a queue's registers should hold ---- */

static uint32_t *hqd(uint32_t *regs, uint32_t reg)
{
	return &regs[(reg - HQD_FIRST) / 4];
}

static void set_address(uint32_t *regs, uint32_t low_reg, uint64_t value)
{
	*hqd(regs, low_reg) = (uint32_t)value;
	*hqd(regs, low_reg + 4) = (uint32_t)(value >> 32);
}

static void set_bits(uint32_t *regs, uint32_t reg, uint32_t mask, uint32_t value)
{
	*hqd(regs, reg) = (*hqd(regs, reg) & ~mask) | value;
}

/* plan_hqd - from what the registers hold now (fields marked "keep" stay) to what they must hold
 * before ACTIVE. */
static void plan_hqd(const struct cp_queue *q, uint32_t regs[HQD_DWORDS], uint64_t ring,
        unsigned log2_dw, uint32_t wptr)
{
	/* to be 0 whatever they held: polaris.md 6.6 */
	static const uint32_t zero[] = {REG_CP_HQD_VMID, REG_CP_HQD_PQ_RPTR,
	        REG_CP_HQD_PQ_DOORBELL_CONTROL, REG_CP_HQD_IB_BASE_ADDR, REG_CP_HQD_IB_BASE_ADDR_HI,
	        REG_CP_HQD_IB_RPTR, REG_CP_HQD_IQ_RPTR, REG_CP_HQD_DEQUEUE_REQUEST,
	        REG_CP_HQD_DMA_OFFLOAD, REG_CP_HQD_SEMA_CMD, REG_CP_HQD_MSG_TYPE,
	        REG_CP_HQD_ATOMIC0_PREOP_LO, REG_CP_HQD_ATOMIC0_PREOP_HI,
	        REG_CP_HQD_ATOMIC1_PREOP_LO, REG_CP_HQD_ATOMIC1_PREOP_HI, REG_CP_HQD_HQ_SCHEDULER0,
	        REG_CP_HQD_HQ_SCHEDULER1, REG_CP_HQD_HQ_STATUS1, REG_CP_HQD_HQ_CONTROL1,
	        REG_CP_HQD_EOP_RPTR, REG_CP_HQD_EOP_WPTR, REG_CP_HQD_EOP_WPTR_MEM,
	        REG_CP_HQD_GDS_RESOURCE_STATE, REG_CP_HQD_ERROR, REG_CP_HQD_QUEUE_PRIORITY};

	for (size_t i = 0; i < ARRAY_SIZE(zero); i++)
		*hqd(regs, zero[i]) = 0;
	set_address(regs, REG_CP_MQD_BASE_ADDR, mc_address(q, q->config.work + WORK_MQD));
	set_bits(regs, REG_CP_HQD_PERSISTENT_STATE, PERSISTENT_MASK, PERSISTENT_PRELOAD);
	*hqd(regs, REG_CP_HQD_PIPE_PRIORITY) = q->config.priority;
	set_address(regs, REG_CP_HQD_PQ_BASE, mc_address(q, ring) >> 8);
	set_address(
	        regs, REG_CP_HQD_PQ_RPTR_REPORT_ADDR, mc_address(q, q->config.work + WORK_REPORT));
	set_address(
	        regs, REG_CP_HQD_PQ_WPTR_POLL_ADDR, mc_address(q, q->config.work + WORK_WPTR_POLL));
	*hqd(regs, REG_CP_HQD_PQ_WPTR) = wptr;
	*hqd(regs, REG_CP_HQD_PQ_CONTROL) =
	        (log2_dw - 1) | PQ_RPTR_BLOCK | PQ_MTYPE_UC | PQ_PRIV_STATE | PQ_KMD_QUEUE;
	set_bits(regs, REG_CP_HQD_IB_CONTROL, 0xFFFFFFFF, IB_MIN_AVAIL | MTYPE_UC_28_27);
	set_bits(regs, REG_CP_HQD_IQ_TIMER, MTYPE_UC_28_27, MTYPE_UC_28_27);
	set_bits(regs, REG_CP_MQD_CONTROL, MQD_VMID | MQD_ATC, 0);
	set_address(regs, REG_CP_HQD_EOP_BASE_ADDR, mc_address(q, q->config.work + WORK_EOP) >> 8);
	*hqd(regs, REG_CP_HQD_EOP_CONTROL) = EOP_SIZE;
}

/* clear_work - MQD with the defaults of polaris.md 6.6, the rest of the work area zero. */
static int clear_work(struct cp_queue *q, const uint32_t regs[HQD_DWORDS])
{
	uint8_t work[CP_QUEUE_WORK_BYTES] = {0};
	uint8_t *mqd = work + WORK_MQD;
	static const uint32_t all_cus[] = {23, 24, 26, 27}; /* static thread management SE0-SE3 */

	_Static_assert(WORK_MQD + MQD_BYTES <= WORK_REPORT && EOP_BYTES <= WORK_MQD, "work area");
	put_le32(mqd, MQD_HEADER);
	put_le32(mqd + 4 * 32, 3); /* compute_misc_reserved */
	for (size_t i = 0; i < ARRAY_SIZE(all_cus); i++)
		put_le32(mqd + 4 * all_cus[i], 0xFFFFFFFF);
	for (size_t i = 0; i < HQD_DWORDS; i++)
		put_le32(mqd + 4 * (MQD_HQD + i), regs[i]);
	int err = gmc_window_write(q->cp->gmc, q->config.work, work, sizeof(work));

	return err ? err : gmc_hdp_flush(q->cp->gmc);
}

/* ---- programming ---- */

/* program_range - registers first..last in ascending order, where they differ from @now. */
static int program_range(struct cp_queue *q, const uint32_t *now, const uint32_t *want,
        uint32_t first, uint32_t last)
{
	int err = 0;

	for (uint32_t reg = first; reg <= last && !err; reg += 4) {
		size_t i = (reg - HQD_FIRST) / 4;

		if (want[i] != now[i])
			err = reg_write(q->cp->mmio, reg, want[i]);
	}
	return err;
}

/* program - polaris.md 6.7 steps 6 to 9, in its order; ACTIVE is the caller's. Selected. */
static int program(struct cp_queue *q, const uint32_t *now, const uint32_t *want)
{
	int err = program_range(q, now, want, REG_CP_HQD_VMID, REG_CP_HQD_EOP_CONTROL);

	if (!err)
		err = program_range(q, now, want, REG_CP_HQD_EOP_RPTR, REG_CP_HQD_EOP_WPTR);
	if (!err)
		err = program_range(q, now, want, REG_CP_HQD_EOP_WPTR_MEM, REG_CP_HQD_EOP_WPTR_MEM);
	if (!err)
		err = program_range(q, now, want, REG_CP_HQD_EOP_EVENTS, REG_CP_HQD_ERROR);
	if (!err)
		err = program_range(q, now, want, REG_CP_MQD_BASE_ADDR, REG_CP_MQD_BASE_ADDR_HI);
	return err;
}

static int read_hqd(struct cp_queue *q, uint32_t regs[HQD_DWORDS])
{
	int err = select_queue(q);

	for (uint32_t i = 0; i < HQD_DWORDS && !err; i++)
		err = reg_read(q->cp->mmio, HQD_FIRST + 4 * i, &regs[i]);
	return deselect(q, err);
}

/* check_programmed - polaris.md 13.5 step 49, before it can run: what the queue would fetch from
 * and write to. */
static int check_programmed(struct cp_queue *q, uint32_t *want)
{
	static const uint32_t decisive[] = {REG_CP_HQD_PQ_BASE, REG_CP_HQD_PQ_BASE_HI,
	        REG_CP_HQD_PQ_CONTROL, REG_CP_HQD_EOP_BASE_ADDR, REG_CP_HQD_EOP_CONTROL};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(decisive) && !err; i++)
		err = reg_check(q->cp->mmio, decisive[i], 0xFFFFFFFF, *hqd(want, decisive[i]));
	return err;
}

/* tell_defaults - what no public header says: polaris.md 14.14 question 6. */
static void tell_defaults(const struct cp_queue *q, uint32_t *now)
{
	rx_log(LOG_DEBUG, "cp",
	        "%s queue as found: PERSISTENT_STATE 0x%x, QUANTUM 0x%x, PQ_CONTROL 0x%x, "
	        "IB_CONTROL 0x%x, IQ_TIMER 0x%x, MQD_CONTROL 0x%x, EOP_CONTROL 0x%x",
	        q->config.name, *hqd(now, REG_CP_HQD_PERSISTENT_STATE),
	        *hqd(now, REG_CP_HQD_QUANTUM), *hqd(now, REG_CP_HQD_PQ_CONTROL),
	        *hqd(now, REG_CP_HQD_IB_CONTROL), *hqd(now, REG_CP_HQD_IQ_TIMER),
	        *hqd(now, REG_CP_MQD_CONTROL), *hqd(now, REG_CP_HQD_EOP_CONTROL));
}

/* activate_new_ring - the whole HQD. */
static int activate_new_ring(struct cp_queue *q, uint64_t ring, unsigned log2_dw, uint32_t wptr)
{
	uint32_t now[HQD_DWORDS], want[HQD_DWORDS];
	int err = read_hqd(q, now);

	memcpy(want, now, sizeof(want));
	plan_hqd(q, want, ring, log2_dw, wptr);
	if (!err && !q->work_cleared) {
		tell_defaults(q, now);
		err = clear_work(q, want); /* moves bulk data: not while selected */
	}
	if (err)
		return err;
	q->work_cleared = true;
	err = select_queue(q);
	if (!err)
		err = program(q, now, want);
	if (!err)
		err = check_programmed(q, want);
	if (!err)
		err = reg_write(q->cp->mmio, REG_CP_HQD_ACTIVE, ACTIVE);
	if (!err)
		err = reg_check(q->cp->mmio, REG_CP_HQD_ACTIVE, ACTIVE, ACTIVE);
	if (!err)
		err = reg_check(q->cp->mmio, REG_CP_HQD_ERROR, 0xFFFFFFFF, 0);
	return deselect(q, err);
}

/* activate_same_ring - resident-plans.md 2, G2. */
static int activate_same_ring(struct cp_queue *q, uint32_t wptr)
{
	const struct reg_value list[] = {
	        {REG_CP_HQD_PQ_RPTR, 0},
	        {REG_CP_HQD_PQ_WPTR, wptr},
	        {REG_CP_HQD_ERROR, 0},
	};
	int err = select_queue(q);

	if (!err)
		err = reg_ensure_list(q->cp->mmio, list, ARRAY_SIZE(list));
	if (!err)
		err = reg_write(q->cp->mmio, REG_CP_HQD_ACTIVE, ACTIVE);
	return deselect(q, err);
}

int cp_queue_activate(struct cp_queue *q, uint64_t ring, unsigned log2_dw, uint32_t wptr)
{
	if (ring % 256 || log2_dw < MIN_LOG2_DW || log2_dw > MAX_LOG2_DW || wptr >= 1u << log2_dw ||
	        !range_ok(ring, 4ull << log2_dw, gmc_window_bytes(q->cp->gmc)))
		return rx_fail("cp", -EINVAL,
		        "%s queue: ring at 0x%llx of 2^%u dwords, write pointer %u: not possible",
		        q->config.name, (unsigned long long)ring, log2_dw, wptr);
	bool same = q->programmed && q->ring == ring && q->log2_dw == log2_dw;
	int err = same ? activate_same_ring(q, wptr) : activate_new_ring(q, ring, log2_dw, wptr);

	q->programmed = !err;
	q->ring = ring;
	q->log2_dw = log2_dw;
	return err;
}

int cp_queue_grant(struct cp_queue *q, uint32_t wptr)
{
	int err = select_queue(q);

	if (!err)
		err = reg_write(q->cp->mmio, REG_CP_HQD_PQ_WPTR, wptr);
	return deselect(q, err);
}

int cp_queue_read(struct cp_queue *q, struct cp_queue_state *out)
{
	uint32_t active = 0;
	int err = select_queue(q);

	*out = (struct cp_queue_state){0};
	if (!err)
		err = reg_read(q->cp->mmio, REG_CP_HQD_ACTIVE, &active);
	if (!err)
		err = reg_read(q->cp->mmio, REG_CP_HQD_PQ_RPTR, &out->rptr);
	if (!err)
		err = reg_read(q->cp->mmio, REG_CP_HQD_PQ_WPTR, &out->wptr);
	if (!err)
		err = reg_read(q->cp->mmio, REG_CP_HQD_ERROR, &out->error);
	out->active = active & ACTIVE;
	return deselect(q, err);
}

/* ---- taking a queue off the hardware: polaris.md 12.4a, resident-plans.md 10 ---- */

/* wait_taken - until the pipe has taken a kill's request, for clearing it before (step 5) would
 * call it back. Nothing says that every card clears it by itself: going on then is what step 5 does
 * anyway. */
static int wait_taken(struct cp_queue *q)
{
	int err = reg_wait(
	        q->cp->mmio, REG_CP_HQD_DEQUEUE_REQUEST, DEQUEUE_REQ, 0, DEQUEUE_SETTLE_MS, NULL);

	return err == -ETIMEDOUT ? 0 : err;
}

static int dequeue(struct cp_queue *q, uint32_t request, unsigned timeout_ms)
{
	uint32_t active;
	int err = select_queue(q);

	if (!err)
		err = reg_read(q->cp->mmio, REG_CP_HQD_ACTIVE, &active);
	/* a kill is for queues nobody trusts, what ACTIVE says included */
	if (!err && (active & ACTIVE || request == DEQUEUE_KILL))
		err = reg_write(q->cp->mmio, REG_CP_HQD_DEQUEUE_REQUEST, request);
	if (!err && request == DEQUEUE_KILL)
		err = wait_taken(q);
	if (!err)
		err = reg_wait(q->cp->mmio, REG_CP_HQD_ACTIVE, ACTIVE, 0, timeout_ms, NULL);
	return deselect(q, err);
}

/* settle - step 5: request and pointers back to 0 once the queue is inactive. */
static int settle(struct cp_queue *q)
{
	const struct reg_value list[] = {
	        {REG_CP_HQD_DEQUEUE_REQUEST, 0},
	        {REG_CP_HQD_PQ_RPTR, 0},
	        {REG_CP_HQD_PQ_WPTR, 0},
	        {REG_CP_HQD_ERROR, 0},
	};
	int err = select_queue(q);

	if (!err)
		err = reg_ensure_list(q->cp->mmio, list, ARRAY_SIZE(list));
	return deselect(q, err);
}

int cp_queue_drain(struct cp_queue *q, unsigned timeout_ms)
{
	int err = dequeue(q, DEQUEUE_DRAIN, timeout_ms);

	return err ? err : settle(q);
}

/* kill_waves - ends every wave of VMID 0, also the other queue's; packets go on. */
static int kill_waves(struct cp_queue *q)
{
	uint64_t deadline = deadline_in_ms(SQ_KILL_MS);
	int err;

	do {
		err = reg_write(q->cp->mmio, REG_SQ_CMD, SQ_CMD_KILL_ALL);
		sleep_us(1000);
	} while (!err && !deadline_passed(deadline));
	return err;
}

int cp_queue_kill(struct cp_queue *q)
{
	int err = dequeue(q, DEQUEUE_KILL, KILL_TIMEOUT_MS);

	if (err == -ETIMEDOUT) {
		rx_log(LOG_WARN, "cp", "%s queue does not let go; killing all waves",
		        q->config.name);
		err = kill_waves(q);
		if (!err)
			err = dequeue(q, DEQUEUE_KILL, KILL_TIMEOUT_MS);
	}
	q->programmed = false;
	if (err == -ETIMEDOUT)
		return rx_fail("cp", err,
		        "%s queue stays active after a kill: the card needs a reset",
		        q->config.name);
	return err ? err : settle(q);
}

int cp_stop_leftover(struct cp *cp, unsigned pipe)
{
	struct cp_queue q = {.cp = cp, .config = {.name = "leftover", .pipe = pipe}};
	struct cp_queue_state state;
	int err = cp_queue_read(&q, &state);

	if (err || !state.active)
		return err;
	rx_log(LOG_WARN, "cp",
	        "a queue of an earlier driver still runs on pipe %u (was it killed?): stopping it",
	        pipe);
	/* when all of its ring was fetched it may end by itself: the last step of a plan's grant */
	err = state.rptr == state.wptr ? cp_queue_drain(&q, 2000) : -ETIMEDOUT;
	return err == -ETIMEDOUT ? cp_queue_kill(&q) : err;
}

/* cp_queue_dump - polaris.md 12.2 step 2 */
void cp_queue_dump(struct cp_queue *q)
{
	static const struct {
		uint32_t reg;
		const char *name;
	} shown[] = {
	        {REG_GRBM_STATUS, "GRBM_STATUS"},
	        {REG_GRBM_STATUS2, "GRBM_STATUS2"},
	        {REG_CP_CPC_STATUS, "CP_CPC_STATUS"},
	        {REG_CP_CPF_STATUS, "CP_CPF_STATUS"},
	        {REG_CP_CPC_STALLED_STAT1, "CP_CPC_STALLED_STAT1"},
	        {REG_VM_CONTEXT0_PROTECTION_FAULT_STATUS, "VM_CONTEXT0_PROTECTION_FAULT_STATUS"},
	        {REG_VM_CONTEXT1_PROTECTION_FAULT_STATUS, "VM_CONTEXT1_PROTECTION_FAULT_STATUS"},
	};
	struct cp_queue_state state;

	if (!cp_queue_read(q, &state))
		rx_log(LOG_WARN, "cp", "%s queue: active %d, rptr %u, wptr %u, CP_HQD_ERROR 0x%x",
		        q->config.name, state.active, state.rptr, state.wptr, state.error);
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		uint32_t value;

		if (!reg_read(q->cp->mmio, shown[i].reg, &value))
			rx_log(LOG_WARN, "cp", "%s 0x%08x", shown[i].name, value);
	}
}
