/* kernels.h - what the files about kernels/ offer each other. Owner thread. */
#ifndef FS_KERNELS_H
#define FS_KERNELS_H

#include "fs/fs.h"

/* nodes_kernels.c */
/* kernel_sibling - NAME + @suffix of the other file that belongs to @name, whose suffix has three
 * letters (".cl", ".co"). */
void kernel_sibling(const char *name, const char *suffix, char *out, size_t size);
/* kernel_install - check @elf, give it to the card's module list, show .json; .co too when @own (it
 * came from the compiler). Return: 0; -EINVAL with @why; -EBUSY a plan uses the old one. */
int kernel_install(struct fs *fs, const char *name, const void *elf, size_t len, bool own,
        char *why, size_t why_size);
/* kernel_publish_log - it keeps its node: somebody may be polling it. fs->lock held. */
void kernel_publish_log(struct fs *fs, const char *name, const char *text);

/* kernels.c: kernel_keep - the next owner of the card finds the file; kernel_forget - not. */
void kernel_keep(struct fs *fs, const char *name, const void *bytes, size_t len);
void kernel_forget(struct fs *fs, const char *name);

#endif
