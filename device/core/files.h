/* files.h - what the driver keeps for the user between runs, in the folders of the XDG Base
 * Directory specification. */
#ifndef RX_FILES_H
#define RX_FILES_H

#include <stdbool.h>
#include <stddef.h>

struct rx_path {
	char text[4096];
};

enum rx_folder {
	RX_STATE, /* $XDG_STATE_HOME or ~/.local/state: not to be lost without need */
	RX_CACHE, /* $XDG_CACHE_HOME or ~/.cache: can be made again */
};

/* rx_user_file - rx580fs/@name in that folder; folders are made when @make. Return: 0; -ENOENT no
 * home; -ENAMETOOLONG; -errno. Not logged. */
int rx_user_file(struct rx_path *path, enum rx_folder folder, const char *name, bool make);
/* rx_read_whole - a regular file of at most @max bytes. Return: bytes; -EFBIG; -errno. Not logged.
 */
int rx_read_whole(const char *path, void *buf, size_t max);
/* rx_write_whole - into a file beside @path, then in its place: whole or not at all. Return: 0;
 * -errno. Not logged. */
int rx_write_whole(const char *path, const void *bytes, size_t len);

#endif
