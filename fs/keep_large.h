/* keep_large.h - large files of kernels/ and plans/ for the next owner of the card. Writing one
 * into VRAM takes seconds on the wire, so it goes in pieces, each a job of its own, and whoever
 * closed the file does not wait for it. Owner thread.
 */
#ifndef FS_KEEP_LARGE_H
#define FS_KEEP_LARGE_H

#include "fs/fs.h"

/* keep_is_large - whether @len bytes take the wire longer than others should wait: some 3 s, 512
 * KiB of an RTL921x, 8 KiB of an ASMedia. */
bool keep_is_large(struct fs *fs, size_t len);
/* keep_large - begin with the file of @node, whose content is what shall be kept; it ends by itself
 * when the file changes or goes. What was kept of it before is forgotten. */
void keep_large(struct fs *fs, struct node *node);
/* keep_named - @node has got the name it is kept by: a long one is written only now, the owner of
 * any other is. */
void keep_named(struct fs *fs, struct node *node);

#endif
