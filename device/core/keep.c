/* keep.c - see keep.h. */
#include "device/core/keep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/name.h"

#define MAGIC "RX580KPT"

/* Header, bytes */
#define H_VERSION    8
#define H_AREA       12
#define H_GENERATION 16
#define H_WRITER     24
#define H_RECORD     48
#define H_CRC        60
/* Record, bytes */
#define R_CRC        0
#define R_INDEX      4
#define R_OP         8
#define R_KIND       9
#define R_MODE       10 /* OWNED: it, uid and gid are known */
#define R_NOTE_BYTES 12
#define R_OFFSET     16
#define R_SIZE       24
#define R_NOTE       32
#define R_NOTE_CRC   40
#define R_UID        44
#define R_PAUSE      48
#define R_MAIL       56
#define R_STATE      64
#define R_GID        72
#define R_NAME       76

#define OWNED       0x8000u
#define PERMISSIONS 0777u

_Static_assert(R_NAME + sizeof(((struct rx_kept *)0)->name) == KEEP_RECORD_BYTES, "a record");

/* ---- header ---- */

void keep_header_build(uint8_t out[KEEP_HEADER_BYTES], const struct keep_header *h)
{
	memset(out, 0, KEEP_HEADER_BYTES);
	memcpy(out, MAGIC, 8);
	put_le32(out + H_VERSION, KEEP_VERSION);
	put_le32(out + H_AREA, KEEP_AREA_BYTES);
	put_le64(out + H_GENERATION, h->generation);
	memcpy(out + H_WRITER, h->writer, strnlen(h->writer, H_RECORD - H_WRITER));
	put_le32(out + H_RECORD, KEEP_RECORD_BYTES);
	put_le32(out + H_CRC, crc32_of(out, H_CRC));
}

int keep_header_parse(const uint8_t b[KEEP_HEADER_BYTES], struct keep_header *out)
{
	if (memcmp(b, MAGIC, 8) != 0)
		return -ENOENT;
	if (get_le32(b + H_CRC) != crc32_of(b, H_CRC))
		return -EBADMSG;
	if (get_le32(b + H_VERSION) != KEEP_VERSION || get_le32(b + H_AREA) != KEEP_AREA_BYTES ||
	        get_le32(b + H_RECORD) != KEEP_RECORD_BYTES || !get_le64(b + H_GENERATION))
		return -EBADMSG;
	*out = (struct keep_header){.generation = get_le64(b + H_GENERATION)};
	memcpy(out->writer, b + H_WRITER, H_RECORD - H_WRITER);
	for (char *c = out->writer; *c; c++) /* it goes to the log */
		if (*c < ' ' || *c > '~')
			*c = '?';
	return 0;
}

/* ---- records ---- */

static uint32_t record_crc(const uint8_t *b, uint64_t generation)
{
	uint8_t seed[8];

	put_le64(seed, generation);
	return crc32_more(crc32_of(seed, 8), b + R_INDEX, KEEP_RECORD_BYTES - R_INDEX);
}

void keep_record_build(uint8_t out[KEEP_RECORD_BYTES], uint64_t generation, unsigned index,
        enum keep_op op, const struct rx_kept *e)
{
	memset(out, 0, KEEP_RECORD_BYTES);
	put_le32(out + R_INDEX, index);
	out[R_OP] = (uint8_t)op;
	out[R_KIND] = (uint8_t)e->kind;
	put_le32(out + R_NOTE_BYTES, e->note_bytes);
	put_le64(out + R_OFFSET, e->offset);
	put_le64(out + R_SIZE, e->size);
	put_le64(out + R_NOTE, e->note);
	put_le32(out + R_NOTE_CRC, e->note_crc);
	if (e->owner.known) {
		put_le16(out + R_MODE, (uint16_t)(OWNED | (e->owner.mode & PERMISSIONS)));
		put_le32(out + R_UID, e->owner.uid);
		put_le32(out + R_GID, e->owner.gid);
	}
	put_le64(out + R_PAUSE, e->pause);
	put_le64(out + R_MAIL, e->mail);
	put_le64(out + R_STATE, e->state);
	memcpy(out + R_NAME, e->name, strnlen(e->name, sizeof(e->name) - 1));
	put_le32(out + R_CRC, record_crc(out, generation));
}

bool keep_record_whole(const uint8_t b[KEEP_RECORD_BYTES], uint64_t generation, unsigned index)
{
	return get_le32(b + R_INDEX) == index && get_le32(b + R_CRC) == record_crc(b, generation);
}

/* name_ok - those of kernels' files have three characters more. */
static bool name_ok(const struct rx_kept *e)
{
	size_t n = strlen(e->name), tail = e->kind == 'k' ? 3 : 0;

	if (n <= tail || !rx_name_ok(e->name, n - tail))
		return false;
	return !tail || !strcmp(e->name + n - 3, ".cl") || !strcmp(e->name + n - 3, ".co");
}

static int record_entry(const uint8_t *b, struct rx_kept *e)
{
	unsigned mode = get_le16(b + R_MODE);

	*e = (struct rx_kept){.kind = (char)b[R_KIND],
	        .note_bytes = get_le32(b + R_NOTE_BYTES),
	        .offset = get_le64(b + R_OFFSET),
	        .size = get_le64(b + R_SIZE),
	        .note = get_le64(b + R_NOTE),
	        .note_crc = get_le32(b + R_NOTE_CRC),
	        .pause = get_le64(b + R_PAUSE),
	        .mail = get_le64(b + R_MAIL),
	        .state = get_le64(b + R_STATE),
	        .owner = {.known = mode & OWNED,
	                .mode = mode & PERMISSIONS,
	                .uid = get_le32(b + R_UID),
	                .gid = get_le32(b + R_GID)}};
	memcpy(e->name, b + R_NAME, sizeof(e->name));
	if (mode & ~(OWNED | PERMISSIONS))
		return -EBADMSG;
	if (e->name[sizeof(e->name) - 1] || !e->kind || !strchr("bkpc", e->kind))
		return -EBADMSG;
	return name_ok(e) ? 0 : -EBADMSG;
}

/* ---- entries ---- */

void keep_list_free(struct keep_list *l)
{
	free(l->entry);
	*l = (struct keep_list){0};
}

struct rx_kept *keep_list_find(const struct keep_list *l, char kind, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->entry[i].kind == kind && !strcmp(l->entry[i].name, name))
			return &l->entry[i];
	return NULL;
}

static void drop_at(struct keep_list *l, size_t i)
{
	memmove(&l->entry[i], &l->entry[i + 1], (l->n - i - 1) * sizeof(*l->entry));
	l->n--;
}

/* same_place - two names of one buffer. */
static bool same_place(const struct rx_kept *a, const struct rx_kept *b)
{
	return (a->size && b->size && a->offset == b->offset) ||
	       (a->note_bytes && b->note_bytes && a->note == b->note);
}

/* drop_renamed - the name @e had before. */
static void drop_renamed(struct keep_list *l, const struct rx_kept *e)
{
	for (size_t i = 0; i < l->n && e->kind == 'b'; i++) {
		const struct rx_kept *o = &l->entry[i];

		if (o->kind != 'b' || !same_place(o, e) || !strcmp(o->name, e->name))
			continue;
		drop_at(l, i);
		return;
	}
}

int keep_list_put(struct keep_list *l, const struct rx_kept *e)
{
	drop_renamed(l, e);
	struct rx_kept *old = keep_list_find(l, e->kind, e->name);

	if (old) {
		*old = *e;
		return 0;
	}
	if (l->n == KEEP_MAX_ENTRIES)
		return -ENOSPC;
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 16;
		struct rx_kept *grown = realloc(l->entry, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		l->entry = grown;
		l->room = room;
	}
	l->entry[l->n++] = *e;
	return 0;
}

void keep_list_drop(struct keep_list *l, char kind, const char *name)
{
	struct rx_kept *e = keep_list_find(l, kind, name);

	if (e)
		drop_at(l, (size_t)(e - l->entry));
}

int keep_list_apply(struct keep_list *l, const uint8_t b[KEEP_RECORD_BYTES])
{
	struct rx_kept e;
	int err = record_entry(b, &e);

	if (err)
		return err;
	if (b[R_OP] == KEEP_DROP)
		keep_list_drop(l, e.kind, e.name);
	else if (b[R_OP] == KEEP_PUT)
		err = keep_list_put(l, &e);
	else
		err = -EBADMSG;
	return err;
}

/* ---- what the entries claim ---- */

struct claim {
	uint64_t start, end;
	const char *name;
};

static int by_start(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* claim - a range of @bytes at @at; nothing when there are no bytes. Return: false when it is not
 * where ranges are. */
static bool claim(struct claim *list, size_t *n, const char *name, uint64_t at, uint64_t bytes,
        const uint64_t limits[2])
{
	if (!bytes)
		return true;
	if (at % 256 || at < limits[0] || !range_ok(at, bytes, limits[1]))
		return false;
	list[(*n)++] = (struct claim){at, at + align_up(bytes, 256), name};
	return true;
}

/* words_ok - a plan's words lie inside its range. */
static bool words_ok(const struct rx_kept *e)
{
	const uint64_t at[] = {e->pause, e->mail, e->state}, bytes[] = {1, 8, 16};

	for (size_t i = 0; i < ARRAY_SIZE(at) && e->kind == 'p'; i++)
		if (at[i] % 4 || at[i] < e->offset ||
		        !range_ok(at[i] - e->offset, bytes[i], e->size))
			return false;
	return true;
}

int keep_list_check(
        const struct keep_list *l, uint64_t low, uint64_t high, char *why, size_t why_size)
{
	const uint64_t limits[2] = {low, high};
	struct claim *c = calloc(2 * l->n + 1, sizeof(*c));
	size_t n = 0;
	int err = c ? 0 : -ENOMEM;

	for (size_t i = 0; i < l->n && !err; i++) {
		const struct rx_kept *e = &l->entry[i];

		if (claim(c, &n, e->name, e->offset, e->size, limits) &&
		        claim(c, &n, e->name, e->note, e->note_bytes, limits) && words_ok(e))
			continue;
		snprintf(why, why_size, "%s lies where nothing can lie", e->name);
		err = -EBADMSG;
	}
	if (!err)
		qsort(c, n, sizeof(*c), by_start);
	for (size_t i = 1; i < n && !err; i++)
		if (c[i].start < c[i - 1].end) {
			snprintf(why, why_size, "%s and %s overlap", c[i - 1].name, c[i].name);
			err = -EBADMSG;
		}
	free(c);
	return err;
}
