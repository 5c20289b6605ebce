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

static int bios_read(struct request *r)
{
	size_t len = 0, n = 0;

	fs_lock(r->fs); /* the image lives as long as the card is open */
	const uint8_t *image = r->fs->rx ? rx_bios(r->fs->rx, &len) : NULL;

	if (image && r->offset < len) {
		n = r->size < len - r->offset ? r->size : len - (size_t)r->offset;
		memcpy(r->data, image + r->offset, n);
	}
	fs_unlock(r->fs);
	return image ? (int)n : -EIO;
}

const struct node_ops bios_ops = {.read = bios_read};
