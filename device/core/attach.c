/* attach.c - taking over a card that an earlier owner left running, with what lives in its VRAM; or
 * resetting it. The record that says what lives there: keep.h, written by record.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/core/rx580_priv.h"
#include "device/err.h"
#include "device/regs/regs.h"

#define MEC1          1
#define SETTLED_LOOKS 3     /* the same phase as often, SETTLE_US apart: plan-format.md 4 */
#define SETTLE_US     1000u /* resident-plans.md 11 */
#define STOP_MS       10000u
#define CHUNK_RECORDS 27u /* and the one behind them: one command's worth */

/* ---- reading: before the memory controller is set up, so through BAR0 as it is ---- */

static int see(struct rx580 *rx, uint64_t offset, void *buf, size_t len)
{
	return pci_read(rx->pci, PCI_BAR_VRAM, offset, buf, len);
}

/* find_area - the newer of the valid headers. -ENOENT none. */
static int find_area(struct rx580 *rx, struct keep_header *best)
{
	uint8_t bytes[KEEP_HEADER_BYTES];
	struct keep_header h;
	int err = gmc_hdp_flush(rx->gmc);

	best->generation = 0;
	if (!err)
		err = gmc_hdp_invalidate(rx->gmc);
	for (unsigned i = 0; i < KEEP_AREAS && !err; i++) {
		err = see(rx, keep_area_at(i), bytes, sizeof(bytes));
		if (err || keep_header_parse(bytes, &h) != 0 || h.generation < best->generation)
			continue;
		*best = h;
		rx->keep.area = i;
	}
	return err ? err : best->generation ? 0 : -ENOENT;
}

/* apply_chunk - Return: how many of @n records at @index were whole; -errno. */
static int apply_chunk(
        struct keep *k, const uint8_t *bytes, uint64_t generation, unsigned index, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const uint8_t *b = bytes + i * KEEP_RECORD_BYTES;

		if (!keep_record_whole(b, generation, index + i))
			return (int)i;
		int err = keep_list_apply(&k->list, b);

		if (err)
			return err;
	}
	return (int)n;
}

/* read_log - the list as of the last whole record. One that is cut is the last one written. */
static int read_log(struct rx580 *rx, uint64_t generation)
{
	uint8_t bytes[(CHUNK_RECORDS + 1) * KEEP_RECORD_BYTES];
	int got = CHUNK_RECORDS;

	for (unsigned at = 0; at < KEEP_RECORDS && got == CHUNK_RECORDS; at += CHUNK_RECORDS) {
		unsigned n = MIN(CHUNK_RECORDS, KEEP_RECORDS - at);
		unsigned more = at + n < KEEP_RECORDS; /* to look behind the last of these */
		int err =
		        see(rx, keep_area_at(rx->keep.area) + KEEP_LOG_AT + at * KEEP_RECORD_BYTES,
		                bytes, (n + more) * KEEP_RECORD_BYTES);

		got = err ? err : apply_chunk(&rx->keep, bytes, generation, at, n);
		if (got < 0)
			return got;
		if ((unsigned)got + 1 < n + more &&
		        keep_record_whole(bytes + ((unsigned)got + 1) * KEEP_RECORD_BYTES,
		                generation, at + (unsigned)got + 1) &&
		        (unsigned)got < n)
			return -EBADMSG;
	}
	return 0;
}

/* read_record - what the earlier owner left: the checked list. */
static int read_record(struct rx580 *rx, char *why, size_t why_size)
{
	struct keep_header h;
	uint32_t memsize;
	int err = find_area(rx, &h);

	snprintf(why, why_size, "%s",
	        err == -ENOENT ? "there is no record of what lives in its VRAM"
	                       : "the record of what lives in its VRAM is damaged");
	if (!err)
		err = read_log(rx, h.generation);
	if (!err)
		err = reg_read(&rx->mmio, REG_CONFIG_MEMSIZE, &memsize);
	if (!err)
		err = keep_list_check(&rx->keep.list, GMC_RESERVED_BYTES,
		        gmc_memsize_bytes(memsize), why, why_size);
	if (err)
		return err;
	rx->keep.generation = h.generation;
	rx_log(LOG_INFO, "warm", "the card runs since %s had it: %zu things in its VRAM", h.writer,
	        rx->keep.list.n);
	return 0;
}

/* ---- a plan that still runs is stopped at a boundary ---- */

struct ring_state {
	uint32_t active, base_lo, base_hi, rptr, wptr;
};

static int look_at_ring(struct rx580 *rx, struct ring_state *s)
{
	int err = reg_select(&rx->mmio, MEC1, PLAN_PIPE, 0, 0);

	if (!err)
		err = reg_read(&rx->mmio, REG_CP_HQD_ACTIVE, &s->active);
	if (!err)
		err = reg_read(&rx->mmio, REG_CP_HQD_PQ_BASE, &s->base_lo);
	if (!err)
		err = reg_read(&rx->mmio, REG_CP_HQD_PQ_BASE + 4, &s->base_hi);
	if (!err)
		err = reg_read(&rx->mmio, REG_CP_HQD_PQ_RPTR, &s->rptr);
	if (!err)
		err = reg_read(&rx->mmio, REG_CP_HQD_PQ_WPTR, &s->wptr);
	int restore = reg_deselect(&rx->mmio);

	return err ? err : restore;
}

/* running_plan - the plan whose ring (the first block of its range) the queue is on and not through
 * with; @out NULL: none. */
static int running_plan(struct rx580 *rx, struct rx_kept **out)
{
	struct ring_state s = {0};
	uint32_t location;
	int err = look_at_ring(rx, &s);

	*out = NULL;
	if (!err)
		err = reg_read(&rx->mmio, REG_MC_VM_FB_LOCATION, &location);
	if (err || !(s.active & 1) || s.rptr == s.wptr) /* through: it is drained, cp_start */
		return err;
	uint64_t ring = ((uint64_t)s.base_hi << 32 | s.base_lo) << 8;

	for (size_t i = 0; i < rx->keep.list.n; i++) {
		struct rx_kept *e = &rx->keep.list.entry[i];

		if (e->kind == 'p' && ring == gmc_location_base(location) + e->offset)
			*out = e;
	}
	return 0;
}

/* wait_boundary - -ETIMEDOUT: it never stood there. */
static int wait_boundary(struct rx580 *rx, const struct rx_kept *plan)
{
	uint64_t deadline = deadline_in_ms(STOP_MS);
	uint32_t seen = 0;

	for (unsigned looks = 0; looks < SETTLED_LOOKS;) {
		bool late = deadline_passed(deadline);
		unsigned before = looks;
		uint8_t mail[8];
		int err = gmc_hdp_invalidate(rx->gmc);

		if (!err)
			err = see(rx, plan->mail, mail, sizeof(mail));
		if (err)
			return err;
		uint32_t phase = get_le32(mail + 4);
		bool stands = phase == RX_PHASE_BOUNDARY || phase == RX_PHASE_INPUT;

		looks = stands && phase == seen ? looks + 1 : stands;
		seen = phase;
		if (late && looks <= before) /* not even on its way to standing there */
			return -ETIMEDOUT;
		sleep_us(SETTLE_US);
	}
	return 0;
}

static int stop_plan(struct rx580 *rx)
{
	static const uint8_t on = 1;
	struct rx_kept *plan;
	int err = running_plan(rx, &plan);

	if (err || !plan)
		return err;
	err = pci_write(rx->pci, PCI_BAR_VRAM, plan->pause, &on, 1);
	if (!err)
		err = gmc_hdp_flush(rx->gmc);
	if (!err)
		err = wait_boundary(rx, plan);
	plan->torn = err == -ETIMEDOUT;
	if (plan->torn)
		rx_log(LOG_WARN, "warm",
		        "plan %s did not reach the end of a step within %u s: it is killed, its "
		        "state may be half changed; load a checkpoint",
		        plan->name, STOP_MS / 1000);
	return plan->torn ? 0 : err;
}

/* ---- attach: after the look at the card ---- */

static int reset(struct rx580 *rx, const char *why)
{
	rx_log(LOG_WARN, "warm", "the card runs and is not taken over: %s", why);
	keep_list_free(&rx->keep.list);
	rx->info.attach = RX_ATTACH_RESET;
	int err = rx_reset_chip(rx);

	if (!err && (rx->posted || rx->smu_state.running))
		err = rx_fail("warm", -EIO,
		        "the card runs on through a reset: take its power away, then try again");
	return err;
}

static void free_record(void *ctx)
{
	keep_list_free(&((struct rx580 *)ctx)->keep.list);
}

int rx_attach(struct rx580 *rx)
{
	char why[160];

	undo_push(&rx->undo, free_record, rx);
	if (!rx->smu_state.running)
		return 0; /* nobody has started it, or no further than its VBIOS */
	if (rx->keep.refuse)
		return reset(rx, rx->keep.refuse);
	if (!rx->posted)
		return reset(rx, "its SMU runs although nobody has posted it");
	int err = read_record(rx, why, sizeof(why));

	if (err == -ENOENT || err == -EBADMSG || err == -ENOSPC)
		return reset(rx, why);
	if (!err)
		err = stop_plan(rx);
	if (err)
		return err;
	rx->info.attach = RX_ATTACH_WARM;
	gmc_spare_vram(rx->gmc);
	return 0;
}

/* ---- take over: when VRAM is laid out ---- */

static int take(struct rx580 *rx, const char *folder, const struct rx_kept *e)
{
	char tag[96];
	int err = 0;

	snprintf(tag, sizeof(tag), "%s/%s", folder, e->name);
	if (e->size && e->kind != 'b')
		err = vram_take(rx->vram, tag, e->kind, e->offset, e->size);
	if (!err && e->note_bytes)
		err = vram_take(rx->vram, "kept for the next owner", 's', e->note, e->note_bytes);
	return err;
}

/* void_headers - no record from before this start can be mistaken for one of ours. */
static int void_headers(struct rx580 *rx)
{
	static const uint8_t none[KEEP_HEADER_BYTES];
	int err = gmc_window_write(rx->gmc, keep_area_at(0), none, sizeof(none));

	return err ? err : gmc_window_write(rx->gmc, keep_area_at(1), none, sizeof(none));
}

int rx_take_over(struct rx580 *rx)
{
	int err = 0;

	if (rx->info.attach != RX_ATTACH_WARM)
		return void_headers(rx);
	for (size_t i = 0; i < rx->keep.list.n && !err; i++) {
		struct rx_kept *e = &rx->keep.list.entry[i];

		e->found = true;
		err = take(rx, e->kind == 'p' ? "plans" : "checkpoints", e);
		if (!err && e->kind == 'b')
			err = rx_buffer_adopt(rx, e);
	}
	return err ? rx_fail("warm", -EBADMSG,
	                     "what lives in VRAM does not fit beside the driver's own areas: %s",
	                     strerror(-err))
	           : 0;
}

/* read_steps - how far the plans got, from their own words; the queues stand by now. */
int rx_read_kept_steps(struct rx580 *rx)
{
	int err = gmc_hdp_invalidate(rx->gmc);

	for (size_t i = 0; i < rx->keep.list.n && !err; i++) {
		struct rx_kept *e = &rx->keep.list.entry[i];
		uint8_t word[4];

		if (e->kind != 'p')
			continue;
		err = see(rx, e->state + 12, word, sizeof(word)); /* plan-format.md 3: state.step */
		e->steps_done = get_le32(word);
	}
	return err;
}
