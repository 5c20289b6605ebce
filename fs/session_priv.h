/* session_priv.h - the operations FUSE calls, by what they are about; private to session*.c.
 * Session thread. Each session_*_ops enters its own into the table.
 */
#ifndef FS_SESSION_PRIV_H
#define FS_SESSION_PRIV_H

#define FUSE_USE_VERSION 312
#include <fuse3/fuse_lowlevel.h>

#include "fs/fs.h"
#include "fs/request.h"

void session_names_ops(struct fuse_lowlevel_ops *ops); /* folders and what is in them */
void session_attr_ops(struct fuse_lowlevel_ops *ops);  /* attributes, also extended ones */
void session_io_ops(struct fuse_lowlevel_ops *ops);    /* open files */

static inline struct fs *fs_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

static inline struct node *node_of(struct fs *fs, fuse_ino_t ino)
{
	return ino == FUSE_ROOT_ID ? fs->root : (struct node *)(uintptr_t)ino;
}

static inline struct handle *handle_of(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

#endif
