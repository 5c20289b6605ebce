/* run.c - the life of a running plan: allow, service, stop, boundaries, failures
 * (docs/plan-format.md 2, 4). */
#include <stdio.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"
#include "device/plan/plan_priv.h"

#define POLL_MIN_MS 1
#define POLL_MAX_MS 20
#define IDLE_MS     1000
#define HEAT_MS     250 /* a plan that waits until the card is cooler looks this often */
/* phase 1 must still be there 1 ms later: resident-plans.md 11 */
#define BOUNDARY_SETTLE_NS 1000000ull
#define FAULT_CHECK_MS     250 /* without progress, look at the queue's error register this often */

#define OVERHEATED "the card overheated: write reset soft to ctl when it has cooled down"

static bool overheated(struct plan *p)
{
	struct rx_sensors s;

	rx_read_sensors(p->rx, &s); /* heat is known also when nothing else could be measured */
	return s.heat == RX_OVERHEATED;
}

int plan_run(struct plan *p, uint64_t steps)
{
	struct plan *owner = rx_plan_queue_owner(p->kernels);

	if (p->status.state == PLAN_FAILED)
		return rx_fail("plan", -EIO,
		        "%s has failed (%s); write clear to its run file first", p->name,
		        p->status.error);
	if (owner && owner != p && (owner->epoch || owner->allowed))
		return rx_fail("plan", -EBUSY, "%s is running; stop it before running %s",
		        owner->name, p->name);
	if (overheated(p))
		return rx_fail("plan", -EIO, "%s: " OVERHEATED, p->name);
	if (steps > UINT32_MAX || p->allowed + steps > UINT32_MAX)
		return rx_fail("plan", -EINVAL, "%s: more than %u steps", p->name, UINT32_MAX);
	rx_set_plan_queue_owner(p->kernels, p);
	p->allowed += steps;
	p->poll_ms = POLL_MIN_MS;
	plan_publish(p);
	return 0;
}

static void call_boundary_fn(struct plan *p, int err)
{
	int (*fn)(void *, int) = p->boundary_fn;

	p->boundary_fn = NULL;
	if (fn)
		fn(p->boundary_ctx, err);
}

static int card_fault(struct plan *p, const char *what)
{
	char text[128];

	snprintf(text, sizeof(text), "card fault: %s", what);
	if (p->epoch)
		plan_epoch_end(p, true);
	plan_set_torn(p, text);
	call_boundary_fn(p, -EIO); /* this is no boundary: the step may be half done */
	return 0;
}

/* A queue that makes no progress: faulted, hung, or simply busy. */
static int check_stall(struct plan *p)
{
	struct rx_plan_queue_state q;
	char text[96];
	uint64_t now = now_ns();

	if (p->committed == p->consumed || now < p->next_fault_check_ns)
		return 0;
	if (now - p->progress_ns < FAULT_CHECK_MS * 1000000ull)
		return 0;
	p->next_fault_check_ns = now + FAULT_CHECK_MS * 1000000ull;
	int err = rx_plan_queue_read(p->rx, &q);
	if (err)
		return err;
	if (q.error) {
		snprintf(text, sizeof(text), "the queue stopped with CP_HQD_ERROR 0x%x", q.error);
		return card_fault(p, text);
	}
	if (!q.active) /* or somebody wrote "reset soft" */
		return card_fault(p, overheated(p) ? OVERHEATED : "the queue was reset");
	/* a pause that is wanted is no excuse for a step that does not end */
	bool waits = p->paused && p->status.phase != PHASE_RUNNING;
	if (!waits && now - p->progress_ns > p->d.deadline_s * 1000000000ull) {
		snprintf(text, sizeof(text),
		        "no step finished within %u s (deadline_s of the plan)", p->d.deadline_s);
		return card_fault(p, text);
	}
	return 0;
}

/* Whether the card stands at a boundary and cannot start a step: resident-plans.md 11, "Pause and
 * cancel". */
static bool at_boundary(struct plan *p)
{
	if (!p->paused)
		return false;
	if (p->status.phase == PHASE_INPUT && p->committed == p->consumed)
		return true;
	if (p->status.phase != PHASE_BOUNDARY) {
		p->boundary_since_ns = 0;
		return p->committed == p->granted && p->consumed == p->granted;
	}
	if (!p->boundary_since_ns)
		p->boundary_since_ns = now_ns();
	return now_ns() - p->boundary_since_ns >= BOUNDARY_SETTLE_NS;
}

static int serve_boundary(struct plan *p)
{
	int err;

	call_boundary_fn(p, 0);
	if (p->stop_wanted) {
		p->allowed = 0;
		err = plan_epoch_end(p, true);
		plan_publish(p);
		return err;
	}
	return rx_may_feed(p->rx) ? plan_set_pause(p, false) : 0;
}

/* hold_back - too hot: the card stops at its next step boundary, and goes on from there. */
static int hold_back(struct plan *p, bool hot)
{
	if (hot == p->paused || p->boundary_fn || p->stop_wanted)
		return 0;
	return plan_set_pause(p, hot);
}

static int service_epoch(struct plan *p)
{
	uint64_t before = p->consumed;
	int err = plan_collect(p);

	if (err)
		return err;
	if (p->status.state == PLAN_FAILED)
		return plan_epoch_end(p, true);
	p->poll_ms = p->consumed != before ? POLL_MIN_MS : MIN(2 * p->poll_ms, POLL_MAX_MS);
	bool wanted = p->boundary_fn || p->stop_wanted, hot = !rx_may_feed(p->rx);

	if (p->paused && hot)
		p->poll_ms = HEAT_MS;
	if (wanted && !p->paused)
		err = plan_set_pause(p, true);
	if (!err && wanted && at_boundary(p))
		err = serve_boundary(p);
	if (!err && p->epoch)
		err = hold_back(p, hot);
	if (!err && p->epoch && p->consumed == p->granted)
		err = plan_epoch_end(p, false);
	if (!err && p->epoch && !hot) /* a step that waits for its input is past the pause */
		err = plan_commit(p);
	if (!err && p->epoch)
		err = check_stall(p);
	return err;
}

static bool can_start(const struct plan *p)
{
	return rx_may_feed(p->rx) && !p->epoch && p->allowed &&
	       (!p->d.has_input || p->in_head != p->in_tail);
}

int plan_service(struct plan *p)
{
	int err = 0;

	if (p->in_service)
		return POLL_MIN_MS;
	p->in_service = true;
	if ((p->epoch || p->allowed) && overheated(p))
		card_fault(p, OVERHEATED);
	if (p->epoch)
		err = service_epoch(p);
	if (!err && !p->epoch)
		call_boundary_fn(p, 0);
	if (!err && !p->epoch && p->stop_wanted) {
		p->allowed = 0;
		p->stop_wanted = false;
	}
	if (!err && can_start(p))
		err = plan_epoch_start(p);
	plan_publish(p);
	p->in_service = false;
	if (err)
		return err;
	if (p->epoch || p->boundary_fn)
		return (int)MAX(p->poll_ms, POLL_MIN_MS);
	return p->allowed && !rx_may_feed(p->rx) ? HEAT_MS : IDLE_MS;
}

int plan_stop(struct plan *p)
{
	if (!p->epoch) {
		p->allowed = 0;
		plan_publish(p);
		return 0;
	}
	p->stop_wanted = true;
	p->poll_ms = POLL_MIN_MS;
	return -EINPROGRESS;
}

bool plan_is_stopping(const struct plan *p)
{
	return p->stop_wanted;
}

int plan_at_boundary(struct plan *p, int (*fn)(void *ctx, int err), void *ctx)
{
	if (p->boundary_fn)
		return rx_fail("plan", -EBUSY,
		        "%s: another save or load waits for the same step boundary", p->name);
	if (!p->epoch)
		return fn(ctx, 0);
	p->boundary_fn = fn;
	p->boundary_ctx = ctx;
	p->poll_ms = POLL_MIN_MS;
	return -EINPROGRESS;
}

void plan_set_torn(struct plan *p, const char *why)
{
	plan_fail(p, why, false);
	p->torn = true;
}

int plan_check_whole(const struct plan *p)
{
	if (!p->torn)
		return 0;
	return rx_fail("plan", -EIO,
	        "%s: a step was cut off and may have changed half of the state; load a "
	        "checkpoint, or write clear to its run file to take the state as it is",
	        p->name);
}

int plan_clear(struct plan *p)
{
	int err = p->epoch ? plan_epoch_end(p, true) : 0;

	p->allowed = 0;
	p->torn = false;
	p->in_tail = p->in_head;
	call_boundary_fn(p, -ECANCELED);
	pthread_mutex_lock(&p->lock);
	p->status.state = PLAN_RESIDENT;
	p->status.error[0] = '\0';
	pthread_mutex_unlock(&p->lock);
	plan_publish(p);
	return err;
}

int plan_set_steps_done(struct plan *p, uint64_t steps)
{
	if (p->allowed || p->epoch)
		return rx_fail("plan", -EBUSY, "%s is running; stop it before loading a checkpoint",
		        p->name);
	uint8_t word[4]; /* state.step: written at each start, read by the next owner of the card */

	put_le32(word, (uint32_t)steps);
	int err = rx_vram_write_raw(p->rx, p->l.base + p->l.state + 12, word, sizeof(word));

	if (err)
		return err;
	pthread_mutex_lock(&p->lock);
	p->status.steps_done = steps;
	pthread_mutex_unlock(&p->lock);
	p->torn = false;
	return 0;
}
