/* results.c - what the card reports: mail, records, and the status any thread may read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"
#include "device/plan/plan_priv.h"

static const char *const status_text[] = {"good", "length", "checksum", "sequence",
        "loss not finite", "gradient norm not finite"}; /* docs/plan-format.md 2 */

void plan_publish(struct plan *p)
{
	pthread_mutex_lock(&p->lock);
	p->status.steps_queued = p->allowed;
	p->status.input_free = PLAN_SLOTS - (unsigned)(p->in_head - p->in_tail);
	if (p->status.state != PLAN_FAILED)
		p->status.state = p->allowed || p->epoch ? PLAN_RUNNING : PLAN_RESIDENT;
	pthread_mutex_unlock(&p->lock);
}

void plan_fail(struct plan *p, const char *why, bool checked)
{
	const char *weights = checked || !p->d.nupdates
	                              ? "no weight was changed by it"
	                              : "if it was updating, weights are half changed: load a "
	                                "checkpoint";

	pthread_mutex_lock(&p->lock);
	p->status.state = PLAN_FAILED;
	snprintf(p->status.error, sizeof(p->status.error), "step %llu: %s",
	        (unsigned long long)p->status.steps_done, why);
	pthread_mutex_unlock(&p->lock);
	rx_log(LOG_ERROR, "plan", "%s: step %llu failed: %s; %s; later steps are cancelled",
	        p->name, (unsigned long long)p->status.steps_done, why, weights);
	p->allowed = 0;
	plan_publish(p);
}

static int append_record(struct plan *p, const struct plan_record *r)
{
	if (p->ndone == p->done_room) {
		size_t room = p->done_room ? 2 * p->done_room : 256;
		struct plan_record *more = realloc(p->done, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		p->done = more;
		p->done_room = room;
	}
	p->done[p->ndone++] = *r;
	return 0;
}

/* One record of docs/plan-format.md 3 in step order. Return: its status, -errno. */
static int take_record(struct plan *p, const uint8_t *raw)
{
	struct plan_record r = {.status = get_le32(raw + 4), .clock = get_le64(raw + 24)};
	int err;

	memcpy(&r.loss, raw + 8, 4);
	memcpy(&r.grad_norm, raw + 12, 4);
	if (get_le32(raw) != (uint32_t)p->consumed && r.status == STEP_GOOD)
		return rx_fail("plan", -EIO,
		        "%s: record of step %u found where %llu was expected: the result ring is "
		        "damaged",
		        p->name, get_le32(raw), (unsigned long long)p->consumed);
	if (r.status >= ARRAY_SIZE(status_text))
		return rx_fail("plan", -EIO,
		        "%s: record with unknown status %u: the result ring is damaged", p->name,
		        r.status);
	pthread_mutex_lock(&p->lock);
	r.step = p->status.steps_done;
	err = append_record(p, &r);
	p->status.last_loss = r.loss;
	p->status.last_grad_norm = r.grad_norm;
	p->status.last_clock = r.clock;
	if (r.status == STEP_GOOD)
		p->status.steps_done++;
	else
		p->status.steps_failed++;
	pthread_mutex_unlock(&p->lock);
	p->consumed++;
	if (p->d.has_input)
		p->in_tail++;
	if (p->allowed)
		p->allowed--;
	return err ? err : (int)r.status;
}

/* Records [p->consumed, end): at most two runs of the ring, one transfer each. */
static int read_records(struct plan *p, uint64_t end)
{
	uint8_t raw[64 * RECORD_BYTES];
	int err = 0;

	while (p->consumed < end) {
		uint64_t index = p->consumed % PLAN_RECORDS;
		uint64_t n = MIN(
		        MIN(end - p->consumed, sizeof(raw) / RECORD_BYTES), PLAN_RECORDS - index);
		err = rx_vram_read_raw(p->rx, p->l.base + p->l.records + index * RECORD_BYTES, raw,
		        n * RECORD_BYTES);
		for (uint64_t i = 0; i < n && !err; i++)
			err = take_record(p, raw + i * RECORD_BYTES);
		if (err)
			break;
	}
	return err;
}

/* One aligned dword is one TLP; a longer read comes as a TLP a byte, and a counter could change
 * between two of them (bridge.md 2.10). */
static int read_word(struct plan *p, uint64_t at, uint32_t *word)
{
	uint8_t raw[4];
	int err = rx_vram_read_raw(p->rx, p->l.base + at, raw, sizeof(raw));

	*word = get_le32(raw);
	return err;
}

int plan_collect(struct plan *p)
{
	uint32_t consumed, phase = p->status.phase;
	/* the card drops HDP's read cache when it publishes `consumed`, but not with every phase */
	int err = p->paused ? rx_hdp_invalidate(p->rx) : 0;

	if (!err)
		err = read_word(p, p->l.mail, &consumed);
	if (err)
		return err;
	uint32_t news = consumed - (uint32_t)p->consumed;
	if (p->paused || !news)
		err = read_word(p, p->l.mail + 4, &phase);
	if (err)
		return err;
	if (news > p->committed - p->consumed)
		return rx_fail("plan", -EIO,
		        "%s: the card reports %u steps of %llu committed ones: mail word damaged",
		        p->name, news, (unsigned long long)(p->committed - p->consumed));
	if (news) {
		p->progress_ns = now_ns();
		err = read_records(p, p->consumed + news);
	}
	pthread_mutex_lock(&p->lock);
	p->status.phase = phase;
	pthread_mutex_unlock(&p->lock);
	plan_publish(p);
	if (err > 0)
		plan_fail(p, status_text[err], true);
	return err < 0 ? err : 0;
}

void plan_read_status(struct plan *p, struct plan_status *out)
{
	pthread_mutex_lock(&p->lock);
	*out = p->status;
	pthread_mutex_unlock(&p->lock);
}

size_t plan_losses(struct plan *p, uint64_t from, struct plan_record *out, size_t max)
{
	pthread_mutex_lock(&p->lock);
	size_t n = from < p->ndone ? MIN(max, p->ndone - (size_t)from) : 0;
	if (n)
		memcpy(out, p->done + from, n * sizeof(*out));
	pthread_mutex_unlock(&p->lock);
	return n;
}
