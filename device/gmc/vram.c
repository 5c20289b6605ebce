/* vram.c - see vram.h. Ranges live in one ascending array; a few hundred at most, so plain scans
 * will do. */
#include "device/gmc/vram.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"

#define LARGE (1ull << 20) /* above the window first: rx580.h, RX_ANYWHERE */

struct vram {
	uint64_t total, window;
	struct rx_range *range; /* ascending, never overlapping; [0] is the reserve */
	size_t n, max;
};

/* insert_at - a new range before index @i. */
static int insert_at(
        struct vram *v, size_t i, uint64_t start, uint64_t end, const char *name, char kind)
{
	if (v->n == v->max) {
		size_t max = v->max ? v->max * 2 : 64;
		struct rx_range *grown = realloc(v->range, max * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		v->range = grown;
		v->max = max;
	}
	memmove(v->range + i + 1, v->range + i, (v->n - i) * sizeof(*v->range));
	v->n++;
	v->range[i] = (struct rx_range){.start = start, .end = end, .kind = kind};
	snprintf(v->range[i].name, sizeof(v->range[i].name), "%s", name);
	return 0;
}

int vram_new(struct vram **out, uint64_t total, uint64_t window, uint64_t reserved)
{
	struct vram *v = calloc(1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	v->total = total;
	v->window = MIN(window, total);
	if (insert_at(v, 0, 0, MIN(reserved, total), "vbios and console", 's')) {
		free(v);
		return -ENOMEM;
	}
	*out = v;
	return 0;
}

void vram_free(struct vram *v)
{
	if (!v)
		return;
	free(v->range);
	free(v);
}

/* hole_after - the free bytes behind range @i, cut to [low, high). */
static void hole_after(
        const struct vram *v, size_t i, uint64_t low, uint64_t high, uint64_t *start, uint64_t *end)
{
	*start = MAX(v->range[i].end, low);
	*end = MIN(i + 1 < v->n ? v->range[i + 1].start : v->total, high);
}

/* place - first (or, if @largest, largest) hole within [low, high) that holds @size. */
static int place(struct vram *v, uint64_t low, uint64_t high, uint64_t size, bool largest,
        const char *name, char kind, uint64_t *offset)
{
	size_t best = SIZE_MAX;
	uint64_t best_start = 0, best_room = 0, start, end;

	for (size_t i = 0; i < v->n; i++) {
		hole_after(v, i, low, high, &start, &end);
		if (end <= start || end - start < size || end - start <= best_room)
			continue;
		best = i;
		best_start = start;
		best_room = end - start;
		if (!largest)
			break;
	}
	if (best == SIZE_MAX)
		return -ENOSPC;
	*offset = best_start;
	return insert_at(v, best + 1, best_start, best_start + size, name, kind);
}

static int checked_size(const struct vram *v, uint64_t size, uint64_t *granules)
{
	if (size == 0)
		return -EINVAL;
	if (size > v->total)
		return -ENOSPC;
	*granules = align_up(size, VRAM_GRANULE);
	return 0;
}

int vram_alloc(struct vram *v, const char *name, char kind, uint64_t size, bool window_only,
        uint64_t *offset)
{
	int err = checked_size(v, size, &size);

	if (err)
		return err;
	if (window_only)
		return place(v, 0, v->window, size, false, name, kind, offset);
	bool above_first = size >= LARGE;
	uint64_t low = above_first ? v->window : 0, high = above_first ? v->total : v->window;

	err = place(v, low, high, size, false, name, kind, offset);
	if (err != -ENOSPC)
		return err;
	/* the other side, or a hole that straddles the border */
	return place(v, 0, v->total, size, false, name, kind, offset);
}

int vram_alloc_roomy(struct vram *v, const char *name, char kind, uint64_t size, uint64_t *offset)
{
	int err = checked_size(v, size, &size);

	return err ? err : place(v, 0, v->total, size, true, name, kind, offset);
}

int vram_take(struct vram *v, const char *name, char kind, uint64_t offset, uint64_t size)
{
	int err = checked_size(v, size, &size);
	uint64_t start, end;

	if (err || offset % VRAM_GRANULE || !range_ok(offset, size, v->total))
		return -EINVAL;
	for (size_t i = 0; i < v->n; i++) {
		hole_after(v, i, 0, v->total, &start, &end);
		if (offset >= start && offset < end && size <= end - offset)
			return insert_at(v, i + 1, offset, offset + size, name, kind);
	}
	return -EEXIST;
}

/* find - index of the range that starts at @offset; the reserve is not to be found. */
static size_t find(const struct vram *v, uint64_t offset)
{
	for (size_t i = 1; i < v->n; i++)
		if (v->range[i].start == offset)
			return i;
	return SIZE_MAX;
}

int vram_resize(struct vram *v, uint64_t offset, uint64_t size)
{
	size_t i = find(v, offset);
	uint64_t start, end;
	int err = checked_size(v, size, &size);

	if (i == SIZE_MAX)
		return -ENOENT;
	if (err)
		return err;
	hole_after(v, i, 0, v->total, &start, &end);
	if (size > end - offset)
		return -ENOSPC;
	v->range[i].end = offset + size;
	return 0;
}

void vram_release(struct vram *v, uint64_t offset)
{
	size_t i = find(v, offset);

	if (i == SIZE_MAX)
		return;
	memmove(v->range + i, v->range + i + 1, (v->n - i - 1) * sizeof(*v->range));
	v->n--;
}

void vram_rename(struct vram *v, uint64_t offset, const char *name)
{
	size_t i = find(v, offset);

	if (i != SIZE_MAX)
		snprintf(v->range[i].name, sizeof(v->range[i].name), "%s", name);
}

void vram_set_pins(struct vram *v, uint64_t offset, unsigned pins)
{
	size_t i = find(v, offset);

	if (i != SIZE_MAX)
		v->range[i].pins = pins;
}

uint64_t vram_used(const struct vram *v)
{
	uint64_t used = 0;

	for (size_t i = 1; i < v->n; i++)
		used += v->range[i].end - v->range[i].start;
	return used;
}

size_t vram_list(const struct vram *v, struct rx_range *out, size_t max)
{
	if (max)
		memcpy(out, v->range, MIN(v->n, max) * sizeof(*out));
	return v->n;
}
