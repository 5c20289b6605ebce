/* record.c - the record of what lives in VRAM (keep.h), kept true for the next owner of the card.
 *
 * Nothing here waits for HDP: a record that was written reaches VRAM also when its writer is
 * killed, and whoever reads it flushes first (attach.c). Records are written in the order in which
 * they hold, so a log cut anywhere tells of a state that was.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/bytes.h"
#include "device/core/rx580_priv.h"
#include "device/err.h"

/* write_area - the whole list into the other area, header last. */
static int write_area(struct rx580 *rx)
{
	struct keep *k = &rx->keep;
	unsigned area = (k->area + 1) % KEEP_AREAS;
	struct keep_header h = {.generation = k->generation + 1, .writer = "rx580fs " RX_VERSION};
	uint8_t head[KEEP_HEADER_BYTES];
	size_t bytes = k->list.n * KEEP_RECORD_BYTES;
	RX_CLEANUP(free) uint8_t *log = malloc(bytes + 1);

	if (!log)
		return -ENOMEM;
	for (size_t i = 0; i < k->list.n; i++)
		keep_record_build(log + i * KEEP_RECORD_BYTES, h.generation, (unsigned)i, KEEP_PUT,
		        &k->list.entry[i]);
	keep_header_build(head, &h);
	int err =
	        bytes ? gmc_window_write(rx->gmc, keep_area_at(area) + KEEP_LOG_AT, log, bytes) : 0;

	if (!err)
		err = gmc_window_write(rx->gmc, keep_area_at(area), head, sizeof(head));
	k->broken = err != 0;
	if (err)
		return err;
	k->area = area;
	k->generation = h.generation;
	k->used = (unsigned)k->list.n;
	return 0;
}

static int append(struct rx580 *rx, enum keep_op op, const struct rx_kept *e)
{
	struct keep *k = &rx->keep;
	uint8_t bytes[KEEP_RECORD_BYTES];

	if (k->broken || k->used == KEEP_RECORDS)
		return write_area(rx);
	keep_record_build(bytes, k->generation, k->used, op, e);
	int err = gmc_window_write(rx->gmc,
	        keep_area_at(k->area) + KEEP_LOG_AT + k->used * KEEP_RECORD_BYTES, bytes,
	        sizeof(bytes));

	k->broken = err != 0;
	k->used += !err;
	return err;
}

static bool recording(const struct rx580 *rx)
{
	return rx->keep.on && !rx->keep.frozen && rx->info.state != RX_GONE;
}

int rx_record(struct rx580 *rx, enum keep_op op, const struct rx_kept *e)
{
	int err = 0;

	if (!recording(rx))
		return 0;
	if (op == KEEP_PUT)
		err = keep_list_put(&rx->keep.list, e);
	else
		keep_list_drop(&rx->keep.list, e->kind, e->name);
	rx->hold++; /* the log has one end */
	if (!err)
		err = append(rx, op, e);
	rx->hold--;
	return err ? rx_fail("warm", rx_done(rx, err),
	                     "%s: not recorded for the next owner of the card: %s", e->name,
	                     strerror(-err))
	           : 0;
}

/* release_found - of an entry that is being replaced or forgotten; also a plan's range that was
 * only taken so that nobody else got it. */
static void release_found(struct rx580 *rx, const struct rx_kept *old, uint64_t kept_offset)
{
	if (old->note_bytes)
		rx_free(rx, old->note);
	if (old->kind == 'p' && old->found && old->size && old->offset != kept_offset)
		rx_free(rx, old->offset);
}

/* said - why something is not kept. */
static int said(const char *name, size_t bytes, int err)
{
	return err ? rx_fail("warm", err,
	                     "%s (%zu bytes): not kept for the next owner of the card: %s", name,
	                     bytes, strerror(-err))
	           : 0;
}

int rx_keep_begin(struct rx580 *rx, struct rx_keeping *k, const char *name, size_t bytes)
{
	*k = (struct rx_keeping){.bytes = bytes};
	snprintf(k->name, sizeof(k->name), "%s", name);
	if (!recording(rx) || !bytes)
		return 0;
	int err = bytes > RX_KEEP_NOTE_MAX
	                  ? -EFBIG
	                  : rx_alloc(rx, "kept for the next owner", bytes, RX_ANYWHERE, &k->note);

	return said(name, bytes, err);
}

int rx_keep_more(struct rx580 *rx, struct rx_keeping *k, const void *piece, size_t bytes)
{
	if (bytes > k->bytes - k->done)
		return -EINVAL;
	int err = k->note ? rx_vram_write(rx, k->note + k->done, piece, bytes) : 0;

	k->crc = crc32_more(k->crc, piece, bytes);
	k->done += bytes;
	return said(k->name, k->bytes, err);
}

void rx_keep_cancel(struct rx580 *rx, struct rx_keeping *k)
{
	if (k->note)
		rx_free(rx, k->note);
	k->note = 0;
}

int rx_keep_end(struct rx580 *rx, struct rx_keeping *k, const struct rx_kept *what)
{
	struct rx_kept e = *what, old = {0};

	if (!recording(rx))
		return 0;
	e.found = false;
	e.note = k->note;
	e.note_bytes = k->note ? (uint32_t)k->bytes : 0;
	e.note_crc = k->note ? k->crc : 0;
	const struct rx_kept *before = keep_list_find(&rx->keep.list, e.kind, e.name);

	if (before)
		old = *before;
	int err = rx_record(rx, KEEP_PUT, &e);
	const struct rx_kept *now = keep_list_find(&rx->keep.list, e.kind, e.name);

	if (err && (!now || now->note != e.note))
		rx_keep_cancel(rx, k); /* no room for another entry */
	if (!err && before)
		release_found(rx, &old, e.offset);
	return err;
}

int rx_keep_again(struct rx580 *rx, const struct rx_kept *what)
{
	const struct rx_kept *before = keep_list_find(&rx->keep.list, what->kind, what->name);

	if (!recording(rx) || !before)
		return 0;
	struct rx_kept e = *what, old = *before;

	e.note = old.note;
	e.note_bytes = old.note_bytes;
	e.note_crc = old.note_crc;
	e.found = false;
	int err = rx_record(rx, KEEP_PUT, &e);

	old.note_bytes = 0; /* it stays */
	if (!err)
		release_found(rx, &old, e.offset);
	return err;
}

int rx_keep(struct rx580 *rx, const struct rx_kept *what, const void *note, size_t bytes)
{
	struct rx_keeping k;

	if (!recording(rx))
		return 0;
	int err = rx_keep_begin(rx, &k, what->name, bytes);

	if (err)
		return err;
	if (bytes)
		err = rx_keep_more(rx, &k, note, bytes);
	if (err) {
		rx_keep_cancel(rx, &k);
		return err;
	}
	return rx_keep_end(rx, &k, what);
}

void rx_forget(struct rx580 *rx, char kind, const char *name)
{
	const struct rx_kept *e = keep_list_find(&rx->keep.list, kind, name);

	if (!e || !recording(rx))
		return;
	struct rx_kept old = *e;

	rx_record(rx, KEEP_DROP, &old);
	release_found(rx, &old, UINT64_MAX);
}

static bool same_owner(const struct rx_owner *a, const struct rx_owner *b)
{
	return a->known == b->known && a->mode == b->mode && a->uid == b->uid && a->gid == b->gid;
}

int rx_keep_owner(struct rx580 *rx, char kind, const char *name, const struct rx_owner *owner)
{
	const struct rx_kept *e = rx_kept_find(rx, kind, name);

	if (!e || same_owner(&e->owner, owner))
		return 0;
	struct rx_kept changed = *e;

	changed.owner = *owner;
	return rx_record(rx, KEEP_PUT, &changed);
}

void rx_record_rename(struct rx580 *rx, const struct rx_kept *e, const char *name)
{
	const struct rx_kept *target = rx_kept_find(rx, e->kind, name);
	struct rx_kept renamed = *e, replaced = target ? *target : (struct rx_kept){0};

	if (!recording(rx))
		return;
	snprintf(renamed.name, sizeof(renamed.name), "%s", name);
	rx_record(rx, KEEP_PUT, &renamed);
	rx_forget(rx, e->kind, e->name);
	release_found(rx, &replaced, UINT64_MAX);
}

const struct rx_kept *rx_kept_find(struct rx580 *rx, char kind, const char *name)
{
	return keep_list_find(&rx->keep.list, kind, name);
}

const struct rx_kept *rx_kept_next(struct rx580 *rx, char kind, const struct rx_kept *after)
{
	const struct keep_list *l = &rx->keep.list;

	for (size_t i = after ? (size_t)(after - l->entry) + 1 : 0; i < l->n; i++)
		if (l->entry[i].kind == kind)
			return &l->entry[i];
	return NULL;
}

int rx_kept_note(struct rx580 *rx, const struct rx_kept *k, void **bytes)
{
	uint64_t at = k->note;
	uint32_t n = k->note_bytes, crc = k->note_crc;
	uint8_t *copy = n ? malloc((size_t)n + 1) : NULL;

	if (!copy)
		return n ? -ENOMEM : -ENODATA;
	copy[n] = 0;
	int err = rx_vram_read(rx, at, copy, n);

	if (!err && crc32_of(copy, n) != crc)
		err = rx_fail("warm", -EBADMSG, "%s: what was kept of it is damaged", k->name);
	if (err) {
		free(copy);
		return err;
	}
	*bytes = copy;
	return 0;
}

void rx_keep_freeze(struct rx580 *rx)
{
	rx->keep.frozen = true;
}

/* ---- first and last of a life ---- */

/* end_record - a card left alone is idle and empty, unless the record was frozen. */
static void end_record(void *ctx)
{
	struct rx580 *rx = ctx;

	if (recording(rx)) {
		keep_list_free(&rx->keep.list);
		write_area(rx);
		gmc_hdp_flush(rx->gmc);
	}
	rx->keep.on = false;
}

int rx_start_record(struct rx580 *rx)
{
	struct timespec now;
	int err = 0;

	if (rx->info.attach == RX_ATTACH_WARM) {
		err = rx_read_kept_steps(rx);
	} else { /* larger than that of anybody's record which outlived a reset */
		clock_gettime(CLOCK_REALTIME, &now);
		rx->keep.generation = (uint64_t)now.tv_sec << 20;
	}
	if (!err)
		err = write_area(rx);
	if (err)
		return err;
	rx->keep.on = true;
	undo_push(&rx->undo, end_record, rx);
	return 0;
}
