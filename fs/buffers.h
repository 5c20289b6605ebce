/* buffers.h - a node of buffers/, for the files about them. */
#ifndef FS_BUFFERS_H
#define FS_BUFFERS_H

#include "fs/attributes.h"
#include "fs/fs.h"

struct buffer {                       /* node->obj */
	struct rx_buffer *rx;         /* owner thread; NULL: the card it was on is gone */
	uint64_t offset;              /* in VRAM; fs->lock */
	struct attributes attributes; /* fs->lock */
};

static inline struct buffer *buffer_of(struct node *n)
{
	return n->obj;
}

#endif
