/* threads.h - start and stop of the daemon's threads; the list is at the top of threads.c. */
#ifndef FS_THREADS_H
#define FS_THREADS_H

#include "fs/fs.h"

struct threads;

/* threads_start_owner - start the owner and have it open the card. Return: 0; the error of rx_open
 * or of starting, nothing left running. */
int threads_start_owner(struct threads **out, struct fs *fs);
/* threads_start_rest - session (the mount exists) and compiler. */
int threads_start_rest(struct threads *t);
/* threads_session_ended - the mount is gone. */
bool threads_session_ended(struct threads *t);
/* threads_stop - end all; the owner finishes its job and closes the card. Return: false when a
 * compiler is still in its child process: then fs must not be freed. */
bool threads_stop(struct threads *t);

#endif
