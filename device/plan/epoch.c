/* epoch.c - activations of the plan queue: grant, stop, pause (docs/plan-format.md 4). */
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"
#include "device/plan/plan_priv.h"

static int write_words(struct plan *p, uint64_t at, const uint32_t *words, unsigned n)
{
	uint8_t bytes[16];

	for (unsigned i = 0; i < n; i++)
		put_le32(bytes + 4 * i, words[i]);
	return rx_vram_write_raw(p->rx, p->l.base + at, bytes, 4 * n);
}

/* The words of docs/plan-format.md 3 that the host owns while the queue is stopped. */
static int prepare(struct plan *p)
{
	const uint32_t state[4] = {
	        (uint32_t)p->base, (uint32_t)p->base, 0, (uint32_t)p->status.steps_done};
	const uint32_t mail[2] = {(uint32_t)p->base, PHASE_NONE};
	const uint32_t fuse = 1, pause = 0;
	int err = write_words(p, p->l.state, state, 4);

	if (!err)
		err = write_words(p, p->l.mail, mail, 2);
	if (!err)
		err = write_words(p, p->l.fuse, &fuse, 1);
	return err ? err : write_words(p, p->l.pause, &pause, 1);
}

/* A slot beyond those just committed may still hold the token of lap 0 of an earlier epoch, which
 * this epoch waits for first. */
static int void_stale_tokens(struct plan *p)
{
	const uint8_t none = 0;

	for (uint64_t slot = p->committed - p->base; slot < PLAN_SLOTS; slot++) {
		if (p->slot_token[slot] != 1)
			continue;
		int err = rx_vram_write_raw(p->rx,
		        p->l.base + p->l.slots + slot * p->l.slot_stride + plan_padded(p) +
		                TRAILER_BYTES - 1,
		        &none, 1);
		if (err)
			return err;
		p->slot_token[slot] = 0;
	}
	return 0;
}

static int take_queue(struct plan *p)
{
	struct plan *owner = rx_plan_queue_owner(p->kernels);

	if (owner && owner != p && owner->epoch)
		return rx_fail("plan", -EBUSY, "%s is running; stop it before running %s",
		        owner->name, p->name);
	rx_set_plan_queue_owner(p->kernels, p);
	return 0;
}

int plan_epoch_start(struct plan *p)
{
	uint64_t steps = MIN(p->allowed, GRANT_MAX);
	int err = take_queue(p);

	if (err)
		return err;
	p->base = align_up(p->consumed, HEADS); /* entry 0 is sequence 0 mod 64 */
	p->consumed = p->committed = p->base;
	p->granted = p->base + steps;
	p->stop_wanted = p->paused = false;
	p->progress_ns = now_ns();
	p->next_fault_check_ns = 0;
	err = prepare(p);
	p->epoch = true;
	if (!err)
		err = plan_commit(p);
	if (!err)
		err = void_stale_tokens(p);
	if (!err)
		err = rx_plan_queue_start(p->rx, p->l.base + p->l.ring, RING_LOG2_DW,
		        (uint32_t)steps * RING_ENTRY_DW);
	if (err)
		p->epoch = false;
	return err;
}

int plan_epoch_end(struct plan *p, bool kill)
{
	int err = rx_plan_queue_stop(p->rx, kill);

	p->epoch = false;
	p->stop_wanted = p->paused = false;
	p->boundary_since_ns = 0;
	p->committed = p->granted = p->consumed;
	return err;
}

int plan_set_pause(struct plan *p, bool on)
{
	const uint8_t value = on;
	int err = rx_vram_write_raw(p->rx, p->l.base + p->l.pause, &value, 1);

	if (!err)
		err = rx_hdp_flush(p->rx);
	if (!err) {
		p->paused = on;
		p->boundary_since_ns = 0;
		if (!on)
			p->progress_ns = now_ns(); /* the card was waiting for us until now */
	}
	return err;
}
