/* nodes_buffers.c - buffers/: named ranges of VRAM as ordinary files. */
#include <inttypes.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/name.h"
#include "fs/buffers.h"
#include "fs/nodes.h"
#include "fs/owners.h"

/* Growing by writing reserves ahead: as much again, at most this. */
#define RESERVE_MAX (64ull << 20)
/* New bytes are zeroed on the card; at most this much before others get their turn. */
#define GROW_STEP (64ull << 20)
/* One copy on the card between two looks at the clock. */
#define COPY_CHUNK (16ull << 20)

static void buffer_destroy(struct fs *fs, struct node *n)
{
	struct buffer *b = n->obj;

	(void)fs;
	if (!b)
		return;
	attributes_free(&b->attributes);
	free(b);
}

static void set_size(struct request *r, struct node *n, uint64_t size)
{
	struct buffer *b = n->obj;

	fs_lock(r->fs);
	n->size = size;
	b->offset = rx_buffer_offset(b->rx);
	node_touch(n);
	fs_unlock(r->fs);
}

/* Owner thread only writes it, so reading there needs no lock. */
static uint64_t size_of(const struct node *n)
{
	return n->size;
}

static struct node *add_node(struct fs *fs, struct rx_buffer *rx)
{
	struct buffer *b = calloc(1, sizeof(*b));
	struct node *n = b ? tree_add(fs, fs->buffers_dir, rx_buffer_name(rx), NODE_BUFFER) : NULL;

	if (!n) {
		free(b);
		return NULL;
	}
	b->rx = rx;
	b->offset = rx_buffer_offset(rx);
	n->obj = b;
	n->size = rx_buffer_size(rx);
	return n;
}

int buffers_adopt(struct fs *fs)
{
	struct rx_buffer *rx = NULL;

	while ((rx = rx_buffer_next(fs->rx, rx)) != NULL) {
		const struct rx_kept *k = rx_kept_find(fs->rx, 'b', rx_buffer_name(rx));
		struct node *n = add_node(fs, rx);

		if (!n)
			return -ENOMEM;
		if (k)
			owner_apply(n, &k->owner);
	}
	return 0;
}

void buffers_drop(struct fs *fs)
{
	fs_lock(fs);
	while (fs->buffers_dir->children) {
		struct node *n = fs->buffers_dir->children;

		buffer_of(n)->rx = NULL;
		tree_unlink(fs, n);
	}
	fs_unlock(fs);
}

static int buffer_create(struct request *r)
{
	const struct rx_owner owner = {
	        .known = true, .mode = (uint16_t)r->mode, .uid = r->uid, .gid = r->gid};
	struct fs *fs = r->fs;
	struct rx_buffer *rx;

	if (!rx_name_ok(r->name, strlen(r->name)))
		return rx_fail("fs", -EINVAL,
		        "buffers/%s: names are 1 to 64 of A-Z a-z 0-9 . _ -, not starting with a "
		        "dot",
		        r->name);
	if (!fs->rx)
		return -ENODEV;
	int err = rx_buffer_create_as(fs->rx, r->name, &owner, &rx);

	if (err)
		return err;
	fs_lock(fs);
	r->child = add_node(fs, rx);
	if (r->child) {
		node_get(r->child);
		owner_apply(r->child, &owner);
	}
	fs_unlock(fs);
	if (r->child)
		return 0;
	rx_buffer_remove(fs->rx, rx);
	return -ENOMEM;
}

/* Still open somewhere: its memory stays until the last close, under a name nobody asks for. */
static int orphan(struct fs *fs, struct node *n)
{
	char name[65];
	unsigned i = 0;

	rx_buffer_unkeep(fs->rx, buffer_of(n)->rx); /* who has it open ends with us */
	do
		snprintf(name, sizeof(name), "deleted-%" PRIu64 "-%u", n->ino, i++);
	while (rx_buffer_find(fs->rx, name));
	return rx_buffer_rename(fs->rx, buffer_of(n)->rx, name);
}

static int remove_node(struct fs *fs, struct node *n)
{
	struct buffer *b = n->obj;

	if (!b->rx)
		return -ENODEV;
	if (rx_buffer_pins(b->rx))
		return -EBUSY;
	fs_lock(fs);
	bool open = n->opens != 0;
	fs_unlock(fs);
	int err = open ? orphan(fs, n) : rx_buffer_remove(fs->rx, b->rx);

	if (err)
		return err;
	if (!open)
		b->rx = NULL;
	fs_lock(fs);
	tree_unlink(fs, n);
	fs_unlock(fs);
	return 0;
}

static int buffer_unlink(struct request *r)
{
	return remove_node(r->fs, r->child);
}

static int buffer_rename(struct request *r)
{
	struct fs *fs = r->fs;
	struct buffer *b = r->child->obj;

	if (!rx_name_ok(r->name2, strlen(r->name2)))
		return -EINVAL;
	if (!b->rx)
		return -ENODEV;
	if (rx_buffer_pins(b->rx)) /* a plan refers to it by name */
		return -EBUSY;
	fs_lock(fs);
	struct node *target = tree_find(r->node, r->name2);
	fs_unlock(fs); /* only this thread changes the folder */
	if (target == r->child)
		return 0;
	if (target && r->flags & RENAME_NOREPLACE)
		return -EEXIST;
	int err = target ? remove_node(fs, target) : 0;

	if (!err)
		err = rx_buffer_rename(fs->rx, b->rx, r->name2);
	if (err)
		return err;
	fs_lock(fs);
	err = tree_move(fs, r->child, r->node, r->name2);
	fs_unlock(fs);
	return err;
}

const struct node_ops buffers_dir_ops = {
        .create = buffer_create, .unlink = buffer_unlink, .rename = buffer_rename};

static int check_alive(struct request *r)
{
	return r->fs->rx && buffer_of(r->node)->rx ? 0 : -ENODEV;
}

/* Whether @more bytes can be had at all. */
static int check_room(struct request *r, uint64_t end, uint64_t have)
{
	struct rx_info info;

	rx_read_info(r->fs->rx, &info);
	if (end > info.vram_total)
		return -EFBIG;
	return end > have && end - have > info.vram_total - info.vram_used ? -ENOSPC : 0;
}

/* Grow the range to @end in steps. Return: 0 when it is there; REQUEST_PARK to be called again. */
static int grow(struct request *r, struct node *n, uint64_t end)
{
	struct rx_buffer *rx = buffer_of(n)->rx;
	uint64_t have = rx_buffer_size(rx);

	if (end <= have)
		return 0;
	int err = check_room(r, end, have);

	if (!err && request_age_ms(r) > FS_CLOSE_MS)
		err = -ETIMEDOUT;
	if (!err)
		err = rx_buffer_resize(r->fs->rx, rx, MIN(end, have + GROW_STEP));
	if (err) {
		rx_buffer_resize(r->fs->rx, rx, size_of(n));
		return err;
	}
	set_size(r, n, size_of(n)); /* it may have moved */
	return rx_buffer_size(rx) == end ? 0 : request_again(r);
}

static int resize(struct request *r, struct node *n, uint64_t size)
{
	if (rx_buffer_pins(buffer_of(n)->rx) && size != size_of(n))
		return -EBUSY;
	int err = grow(r, n, size);

	if (!err)
		err = rx_buffer_resize(r->fs->rx, buffer_of(n)->rx, size);
	if (!err)
		set_size(r, n, size);
	return err;
}

static int buffer_truncate(struct request *r)
{
	int err = check_alive(r);

	return err ? err : resize(r, r->node, r->offset);
}

/* Make room for bytes up to @end, and some ahead; the size changes when they are written. */
static int reserve(struct request *r, struct node *n, uint64_t end)
{
	struct rx_buffer *rx = buffer_of(n)->rx;
	uint64_t have = rx_buffer_size(rx), ahead = have + MIN(have, RESERVE_MAX);

	if (end <= size_of(n))
		return 0;
	if (rx_buffer_pins(rx))
		return -EBUSY;
	if (end <= have)
		return 0;
	if (ahead > end && check_room(r, ahead, have) == 0 && grow(r, n, ahead) == 0)
		return 0;
	return grow(r, n, end);
}

static int buffer_read(struct request *r)
{
	int err = check_alive(r);
	uint64_t size = size_of(r->node);

	if (err || r->offset >= size)
		return err;
	r->size = MIN(r->size, size - r->offset);
	err = rx_vram_read(
	        r->fs->rx, rx_buffer_offset(buffer_of(r->node)->rx) + r->offset, r->data, r->size);
	return err ? err : (int)r->size;
}

static int buffer_write(struct request *r)
{
	struct node *n = r->node;
	int err = check_alive(r);

	if (!err)
		err = reserve(r, n, r->offset + r->size);
	if (!err)
		err = rx_vram_write(r->fs->rx, rx_buffer_offset(buffer_of(n)->rx) + r->offset,
		        r->data, r->size);
	if (err)
		return err;
	set_size(r, n, MAX(size_of(n), r->offset + r->size));
	return (int)r->size;
}

static int buffer_allocate(struct request *r)
{
	uint64_t end = r->offset + r->offset2;
	int err = check_alive(r);

	if (err)
		return err;
	if (r->flags & ~FALLOC_FL_KEEP_SIZE)
		return -EOPNOTSUPP;
	if (end < r->offset)
		return -EFBIG;
	if (r->flags & FALLOC_FL_KEEP_SIZE || end <= size_of(r->node))
		return 0; /* what exists is allocated; there is nothing to keep beyond the size */
	return resize(r, r->node, end);
}

/* Through host memory: what the card's copy cannot do (alignment, overlap). At most one request's
 * worth; a short count is allowed. */
static int copy_by_host(struct request *r, uint64_t src, uint64_t dst, uint64_t len)
{
	size_t n = (size_t)MIN(len, FS_MAX_IO);
	RX_CLEANUP(free) void *bytes = malloc(n);
	int err = bytes ? rx_vram_read(r->fs->rx, src, bytes, n) : -ENOMEM;

	if (!err)
		err = rx_vram_write(r->fs->rx, dst, bytes, n);
	return err ? err : (int)n;
}

static int64_t copy_some(struct request *r, uint64_t src, uint64_t dst, uint64_t len)
{
	bool overlap = src < dst + len && dst < src + len;
	uint64_t done = 0, whole = len & ~3ull;

	if (src % 4 || dst % 4 || overlap || whole == 0)
		return copy_by_host(r, src, dst, len);
	while (done < whole) {
		uint64_t n = MIN(COPY_CHUNK, whole - done);
		int err = rx_vram_copy(r->fs->rx, dst + done, src + done, n);

		if (err)
			return done ? (int64_t)done : err;
		done += n;
		if (request_expired(r))
			return (int64_t)done;
	}
	if (len > whole) {
		int tail = copy_by_host(r, src + whole, dst + whole, len - whole);

		done += tail > 0 ? (uint64_t)tail : 0;
	}
	return (int64_t)done;
}

static int buffer_copy(struct request *r)
{
	struct node *from = r->node, *to = r->node2;

	if (!node_is(to, NODE_BUFFER) || r->flags)
		return -EOPNOTSUPP;
	int err = check_alive(r);

	if (err || !buffer_of(to)->rx)
		return err ? err : -ENODEV;
	if (r->offset >= size_of(from))
		return 0;
	uint64_t len = MIN(MIN(r->size, size_of(from) - r->offset), 1ull << 30);

	if (r->offset2 + len < len)
		return -EFBIG;
	err = reserve(r, to, r->offset2 + len);
	if (err)
		return err;
	int64_t n = copy_some(r, rx_buffer_offset(buffer_of(from)->rx) + r->offset,
	        rx_buffer_offset(buffer_of(to)->rx) + r->offset2, len);

	if (n > 0)
		set_size(r, to, MAX(size_of(to), r->offset2 + (uint64_t)n));
	return (int)n;
}

static int buffer_fsync(struct request *r)
{
	int err = check_alive(r);

	return err ? err : rx_hdp_flush(r->fs->rx);
}

/* What growing reserved ahead goes back; while a plan holds the buffer it cannot. */
static int trim(struct fs *fs, struct node *n)
{
	struct rx_buffer *rx = buffer_of(n)->rx;

	if (!rx || rx_buffer_size(rx) == size_of(n) || rx_buffer_pins(rx))
		return 0;
	int err = rx_buffer_resize(fs->rx, rx, size_of(n));

	fs_lock(fs);
	buffer_of(n)->offset = rx_buffer_offset(rx);
	fs_unlock(fs);
	return err;
}

void buffers_trim(struct fs *fs)
{
	/* only the owner thread, which this is, changes the folder */
	for (struct node *n = fs->buffers_dir->children; n; n = n->sibling)
		trim(fs, n);
}

static int buffer_release(struct request *r)
{
	struct node *n = r->node;
	struct buffer *b = n->obj;

	if (check_alive(r) != 0)
		return 0;
	fs_lock(r->fs);
	bool last = n->opens == 1, gone = !n->linked;
	fs_unlock(r->fs);
	if (!last)
		return 0;
	if (!gone)
		return trim(r->fs, n);
	struct rx_buffer *rx = b->rx;

	b->rx = NULL;
	return rx_buffer_remove(r->fs->rx, rx);
}

const struct node_ops buffer_ops = {
        .destroy = buffer_destroy,
        .read = buffer_read,
        .write = buffer_write,
        .truncate = buffer_truncate,
        .allocate = buffer_allocate,
        .copy = buffer_copy,
        .fsync = buffer_fsync,
        .release = buffer_release,
};
