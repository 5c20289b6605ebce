/* vram.h - who owns which range of VRAM. Pure bookkeeping in host memory; 256-byte granules;
 * touches no card. */
#ifndef RX_VRAM_H
#define RX_VRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/rx580.h"

#define VRAM_GRANULE 256u

struct vram;

/* vram_new - @total bytes; [0, @reserved) is never given out; [0, @window) is what the host sees
 * directly. */
int vram_new(struct vram **out, uint64_t total, uint64_t window, uint64_t reserved);
void vram_free(struct vram *v);

/* vram_alloc - @window_only: inside the window; otherwise at or above @window first when @size is 1
 * MiB or more. Return: 0; -ENOSPC; -EINVAL size 0; -ENOMEM.
 */
int vram_alloc(struct vram *v, const char *name, char kind, uint64_t size, bool window_only,
        uint64_t *offset);
/* vram_alloc_roomy - as vram_alloc, in the largest hole, for something that is expected to grow. */
int vram_alloc_roomy(struct vram *v, const char *name, char kind, uint64_t size, uint64_t *offset);
/* vram_take - exactly this range. Return: 0; -EEXIST somebody has some of it; -EINVAL not in VRAM,
 * or not aligned; -ENOMEM. */
int vram_take(struct vram *v, const char *name, char kind, uint64_t offset, uint64_t size);
/* vram_resize - in place. Return: 0; -ENOSPC the neighbour is in the way; -ENOENT @offset is no
 * range's start. */
int vram_resize(struct vram *v, uint64_t offset, uint64_t size);
void vram_release(struct vram *v, uint64_t offset); /* unknown offsets are ignored */
void vram_rename(struct vram *v, uint64_t offset, const char *name);
void vram_set_pins(struct vram *v, uint64_t offset, unsigned pins);

uint64_t vram_used(const struct vram *v); /* bytes given out, without the reserve */
/* vram_list - ascending, the reserve first. Return: how many there are; at most @max are copied. */
size_t vram_list(const struct vram *v, struct rx_range *out, size_t max);

#endif
