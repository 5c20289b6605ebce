/* mountpoint.h - around the mount: stale mounts, private folders, background start, notification.
 * Linux and systemd conventions of interface.md 4.8.
 */
#ifndef FS_MOUNTPOINT_H
#define FS_MOUNTPOINT_H

#include <stdbool.h>

#include "device/tmpdir.h"

/* mountpoint_prepare - check the folder; a mount left by a killed daemon is detached and said so.
 * Return: 0; -errno, said. */
int mountpoint_prepare(const char *path);
/* mountpoint_private - make a folder only we may enter, under $TMPDIR, and in it one to mount on.
 * @path: the latter's, the caller frees it. Return: 0, and rx_tmpdir_remove() is due after the
 * unmount; -errno, said. */
int mountpoint_private(struct rx_tmpdir *dir, char **path);
/* mountpoint_sweep - unmount and remove the private folders of daemons that were killed. */
void mountpoint_sweep(void);

/* background_start - fork; the parent waits for the verdict, exits with it and does not return. The
 * child gets a descriptor for background_verdict. Return: descriptor; -errno. */
int background_start(void);
/* background_verdict - let the parent exit: @ok or not; then leave its terminal. */
void background_verdict(int fd, bool ok);

/* notify_supervisor - send @state ("READY=1") to $NOTIFY_SOCKET when there is one (sd_notify(3)).
 */
void notify_supervisor(const char *state);

#endif
