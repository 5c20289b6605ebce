/* inputs.c - input records: host copies, slots and tokens (docs/plan-format.md 3). */
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"
#include "device/plan/plan_priv.h"

#define CHECKSUM_BIAS 0x9E3779B9u /* docs/plan-format.md 3 */

uint32_t plan_checksum(const uint8_t *payload, size_t padded_bytes)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < padded_bytes / 4; i++)
		sum += (get_le32(payload + 4 * i) + CHECKSUM_BIAS) * (uint32_t)(2 * i + 1);
	return sum;
}

int plan_push_input(struct plan *p, const void *data, size_t len)
{
	if (len != p->d.input_bytes || !len)
		return rx_fail("plan", -EINVAL, "%s: an input record has %zu bytes, got %zu",
		        p->name, p->d.input_bytes, len);
	if (p->status.state == PLAN_FAILED)
		return -EIO;
	if (p->in_head - p->in_tail == PLAN_SLOTS)
		return -EAGAIN;
	uint8_t **room = &p->input[p->in_head % PLAN_SLOTS];
	if (!*room)
		*room = calloc(1, plan_padded(p) + TRAILER_BYTES);
	if (!*room)
		return -ENOMEM;
	memcpy(*room, data, len);
	p->in_head++;
	plan_publish(p);
	return 0;
}

/* The record that belongs to @sequence: records are consumed in order. Plans without input have
 * none. */
static uint8_t *record_for(struct plan *p, uint64_t sequence)
{
	uint64_t index = p->in_tail + (sequence - p->consumed);

	return index < p->in_head ? p->input[index % PLAN_SLOTS] : NULL;
}

static int write_slot(struct plan *p, uint64_t sequence)
{
	uint8_t only_trailer[TRAILER_BYTES];
	uint8_t *slot = p->d.has_input ? record_for(p, sequence) : only_trailer;
	size_t padded = plan_padded(p);

	uint8_t token = (uint8_t)(1 + sequence / PLAN_SLOTS % 4);

	put_le32(slot + padded, (uint32_t)p->d.input_bytes);
	put_le32(slot + padded + 4, plan_checksum(slot, padded));
	put_le32(slot + padded + 8, (uint32_t)sequence);
	put_le32(slot + padded + 12, (uint32_t)token << 24);
	p->slot_token[sequence % PLAN_SLOTS] = token;
	return rx_vram_write_raw(p->rx,
	        p->l.base + p->l.slots + sequence % PLAN_SLOTS * p->l.slot_stride, slot,
	        padded + TRAILER_BYTES);
}

int plan_commit(struct plan *p)
{
	uint64_t end = MIN(p->granted, p->consumed + PLAN_SLOTS);
	bool wrote = false;

	while (p->epoch && !p->stop_wanted && p->committed < end &&
	        (!p->d.has_input || record_for(p, p->committed))) {
		int err = write_slot(p, p->committed);
		if (err)
			return err;
		if (p->committed == p->consumed)
			p->progress_ns = now_ns(); /* the card was waiting for us until now */
		p->committed++;
		wrote = true;
	}
	return wrote ? rx_hdp_flush(p->rx) : 0;
}
