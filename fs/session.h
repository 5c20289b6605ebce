/* session.h - the FUSE side: negotiation and the operations table. Its thread parses requests and
 * hands them on; it never waits for the card.
 */
#ifndef FS_SESSION_H
#define FS_SESSION_H

#include "fs/fs.h"

/* session_mount - create the session and mount it. Return: 0; -errno, said. */
int session_mount(struct fs *fs, const char *mountpoint);
/* session_loop - answer requests until the mount is gone or session_exit was called. */
int session_loop(struct fs *fs);
/* session_exit - have the loop end at the next request or signal. Any thread. */
void session_exit(struct fs *fs);
/* session_unmount - detach the mount; after the loop has ended. */
void session_unmount(struct fs *fs);
void session_free(struct fs *fs);

#endif
