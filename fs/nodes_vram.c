/* nodes_vram.c - vram and bios. */
#include <string.h>

#include "device/err.h"
#include "fs/nodes.h"

static int vram_read(struct request *r)
{
	if (!r->fs->rx)
		return -ENODEV;
	int err = rx_vram_read(r->fs->rx, r->offset, r->data, r->size);

	return err ? err : (int)r->size;
}

static int vram_write(struct request *r)
{
	if (!r->fs->rx)
		return -ENODEV;
	int err = rx_vram_write(r->fs->rx, r->offset, r->data, r->size);

	return err ? err : (int)r->size;
}

/* A read-back fence: what was written has reached memory when this returns. */
static int vram_fsync(struct request *r)
{
	return r->fs->rx ? rx_hdp_flush(r->fs->rx) : -ENODEV;
}

const struct node_ops vram_ops = {.read = vram_read, .write = vram_write, .fsync = vram_fsync};

/* What has to come from the card comes in pieces, between which others go first. */
static int bios_read(struct request *r)
{
	if (!r->fs->rx)
		return -ENODEV;
	int n = rx_flash_read(r->fs->rx, (size_t)r->offset + r->progress, r->data + r->progress,
	        r->size - r->progress);

	if (n < 0)
		return n;
	r->progress += (size_t)n;
	if (r->progress == r->size)
		return (int)r->size;
	if (request_expired(r)) /* a short answer would be taken for zeros */
		return atomic_load(&r->interrupted) ? -EINTR : -ETIMEDOUT;
	return request_again(r);
}

const struct node_ops bios_ops = {.read = bios_read};
