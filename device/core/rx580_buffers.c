/* rx580_buffers.c - named ranges of VRAM that grow and shrink like files (buffers/NAME). New bytes
 * are zero. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/core/rx580_priv.h"
#include "device/err.h"
#include "device/name.h"

struct rx_buffer {
	struct rx580 *rx;
	struct rx_buffer *next;
	char name[RX_NAME_MAX + 1];
	uint64_t size, offset; /* offset has meaning while size > 0 */
	unsigned pins;
	bool unkept; /* nothing of it goes into the record any more */
};

static void insert(struct rx580 *rx, struct rx_buffer *b)
{
	struct rx_buffer **at = &rx->buffers;

	while (*at && strcmp((*at)->name, b->name) < 0)
		at = &(*at)->next;
	b->next = *at;
	*at = b;
}

static void take_out(struct rx580 *rx, struct rx_buffer *b)
{
	struct rx_buffer **at = &rx->buffers;

	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
}

/* entry_of - what the record has of it, owner and note included, with where it is now. */
static struct rx_kept entry_of(const struct rx_buffer *b)
{
	const struct rx_kept *before = rx_kept_find(b->rx, 'b', b->name);
	struct rx_kept e = before ? *before : (struct rx_kept){.kind = 'b'};

	e.offset = b->size ? b->offset : 0;
	e.size = b->size;
	memcpy(e.name, b->name, sizeof(b->name));
	return e;
}

/* record - for the next owner of the card; that it cannot be told is no reason to fail. */
static void record(struct rx_buffer *b)
{
	struct rx_kept e = entry_of(b);

	if (!b->unkept)
		rx_record(b->rx, KEEP_PUT, &e);
}

static void range_name(const struct rx_buffer *b, char tag[80])
{
	snprintf(tag, 80, "buffers/%s", b->name);
}

static struct rx_buffer *add(struct rx580 *rx, const char *name)
{
	struct rx_buffer *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->rx = rx;
	snprintf(b->name, sizeof(b->name), "%s", name);
	insert(rx, b);
	return b;
}

int rx_buffer_create_as(
        struct rx580 *rx, const char *name, const struct rx_owner *owner, struct rx_buffer **out)
{
	struct rx_kept e = {.kind = 'b', .owner = *owner};

	if (!rx_name_ok(name, strlen(name)))
		return -EINVAL;
	if (rx_buffer_find(rx, name))
		return -EEXIST;
	struct rx_buffer *b = add(rx, name);

	if (!b)
		return -ENOMEM;
	memcpy(e.name, b->name, sizeof(b->name));
	rx_record(rx, KEEP_PUT, &e);
	*out = b;
	return 0;
}

int rx_buffer_create(struct rx580 *rx, const char *name, struct rx_buffer **out)
{
	return rx_buffer_create_as(rx, name, &(struct rx_owner){0}, out);
}

int rx_buffer_keep(struct rx580 *rx, struct rx_buffer *b, const struct rx_owner *owner,
        const void *note, size_t bytes)
{
	struct rx_kept e = entry_of(b);

	e.owner = *owner;
	return b->unkept ? 0 : rx_keep(rx, &e, note, bytes);
}

void rx_buffer_unkeep(struct rx580 *rx, struct rx_buffer *b)
{
	rx_forget(rx, 'b', b->name);
	b->unkept = true;
}

int rx_buffer_adopt(struct rx580 *rx, const struct rx_kept *e)
{
	struct rx_buffer *b = add(rx, e->name);
	char tag[80];

	if (!b)
		return -ENOMEM;
	if (!e->size)
		return 0;
	range_name(b, tag);
	b->offset = e->offset;
	b->size = e->size;
	return vram_take(rx->vram, tag, 'b', e->offset, e->size);
}

struct rx_buffer *rx_buffer_find(struct rx580 *rx, const char *name)
{
	struct rx_buffer *b = rx->buffers;

	while (b && strcmp(b->name, name))
		b = b->next;
	return b;
}

struct rx_buffer *rx_buffer_next(struct rx580 *rx, const struct rx_buffer *after)
{
	return after ? after->next : rx->buffers;
}

uint64_t rx_buffer_size(const struct rx_buffer *b)
{
	return b->size;
}

uint64_t rx_buffer_offset(const struct rx_buffer *b)
{
	return b->offset;
}

const char *rx_buffer_name(const struct rx_buffer *b)
{
	return b->name;
}

unsigned rx_buffer_pins(const struct rx_buffer *b)
{
	return b->pins;
}

static void show_pins(struct rx_buffer *b)
{
	pthread_mutex_lock(&b->rx->lock);
	if (b->size)
		vram_set_pins(b->rx->vram, b->offset, b->pins);
	pthread_mutex_unlock(&b->rx->lock);
}

void rx_buffer_pin(struct rx_buffer *b)
{
	b->pins++;
	show_pins(b);
}

void rx_buffer_unpin(struct rx_buffer *b)
{
	b->pins--;
	show_pins(b);
}

/* ---- size ---- */

/* resize_in_place - -ENOSPC when the neighbour is in the way. */
static int resize_in_place(struct rx580 *rx, struct rx_buffer *b, uint64_t size)
{
	pthread_mutex_lock(&rx->lock);
	int err = vram_resize(rx->vram, b->offset, size);

	pthread_mutex_unlock(&rx->lock);
	return err;
}

/* take_room - a new range for @b: where it asks to be put first, in the largest hole when it has
 * shown that it grows. */
static int take_room(struct rx580 *rx, const struct rx_buffer *b, uint64_t size, uint64_t *offset)
{
	char tag[80];
	int err;

	range_name(b, tag);
	pthread_mutex_lock(&rx->lock);
	if (b->size)
		err = vram_alloc_roomy(rx->vram, tag, 'b', size, offset);
	else
		err = vram_alloc(rx->vram, tag, 'b', size, false, offset);
	pthread_mutex_unlock(&rx->lock);
	return err;
}

/* zero - new bytes [from, to) of a range; its end is rounded up, which stays inside the granule. */
static int zero(struct rx580 *rx, uint64_t base, uint64_t from, uint64_t to)
{
	static const uint8_t nothing[4];
	uint64_t whole = align_up(from, 4), end = align_up(to, 4);
	int err = whole > from ? rx_vram_write(rx, base + from, nothing, whole - from) : 0;

	return err || end <= whole ? err : rx_vram_fill(rx, base + whole, 0, end - whole);
}

/* move - to a larger range, bytes and all. The old one stays until the copy is done. */
static int move(struct rx580 *rx, struct rx_buffer *b, uint64_t size)
{
	uint64_t offset;
	int err = take_room(rx, b, size, &offset);

	if (err)
		return err;
	if (b->size)
		err = rx_vram_copy(rx, offset, b->offset, align_up(b->size, 4));
	if (!err)
		err = zero(rx, offset, b->size, size);
	if (err) {
		rx_free(rx, offset);
		return err;
	}
	uint64_t old = b->offset, had = b->size;

	b->offset = offset;
	b->size = size;
	record(b);
	if (had) /* not before the record says where it is now */
		rx_free(rx, old);
	return 0;
}

static int grow(struct rx580 *rx, struct rx_buffer *b, uint64_t size)
{
	int err = b->size ? resize_in_place(rx, b, size) : -ENOSPC;

	if (err == -ENOSPC)
		return move(rx, b, size);
	if (!err)
		err = zero(rx, b->offset, b->size, size);
	if (err)
		return err;
	b->size = size;
	record(b);
	return 0;
}

static int shrink(struct rx580 *rx, struct rx_buffer *b, uint64_t size)
{
	int err = 0;

	if (size)
		err = resize_in_place(rx, b, size);
	else
		rx_free(rx, b->offset);
	if (err)
		return err;
	b->size = size;
	record(b);
	return 0;
}

int rx_buffer_resize(struct rx580 *rx, struct rx_buffer *b, uint64_t size)
{
	if (size == b->size)
		return 0;
	if (b->pins)
		return -EBUSY;
	rx->hold++; /* nobody may write to a buffer that is on the move */
	int err = size > b->size ? grow(rx, b, size) : shrink(rx, b, size);

	rx->hold--;
	return rx_done(rx, err);
}

/* ---- names ---- */

/* drop - the record has nothing of it any more. */
static void drop(struct rx580 *rx, struct rx_buffer *b)
{
	if (b->size)
		rx_free(rx, b->offset);
	take_out(rx, b);
	free(b);
}

int rx_buffer_remove(struct rx580 *rx, struct rx_buffer *b)
{
	if (b->pins)
		return -EBUSY;
	rx_forget(rx, 'b', b->name);
	drop(rx, b);
	return 0;
}

int rx_buffer_rename(struct rx580 *rx, struct rx_buffer *b, const char *name)
{
	struct rx_buffer *target = rx_buffer_find(rx, name);
	char tag[80];
	int err = rx_name_ok(name, strlen(name)) ? 0 : -EINVAL;

	if (target == b)
		return 0;
	if (!err && b->pins)
		err = -EBUSY;
	if (!err && target && target->pins)
		err = -EBUSY;
	if (err)
		return err;
	struct rx_kept e = entry_of(b);

	if (!b->unkept)
		rx_record_rename(rx, &e, name);
	if (target)
		drop(rx, target);
	take_out(rx, b);
	snprintf(b->name, sizeof(b->name), "%s", name);
	insert(rx, b);
	range_name(b, tag);
	pthread_mutex_lock(&rx->lock);
	if (b->size)
		vram_rename(rx->vram, b->offset, tag);
	pthread_mutex_unlock(&rx->lock);
	return 0;
}

void rx_buffers_free(struct rx580 *rx)
{
	for (struct rx_buffer *b = rx->buffers, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	rx->buffers = NULL;
}
