/* files.c - see files.h. */
#include "device/core/files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/bytes.h"
#include "device/err.h"

static int make_folders(char *path)
{
	for (char *s = strchr(path + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = '\0';
		int err = mkdir(path, 0700) && errno != EEXIST ? -errno : 0;

		*s = '/';
		if (err)
			return err;
	}
	return 0;
}

int rx_user_file(struct rx_path *path, enum rx_folder folder, const char *name, bool make)
{
	const char *chosen = getenv(folder == RX_STATE ? "XDG_STATE_HOME" : "XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	int n;

	if (chosen && *chosen == '/') /* a relative path is to be ignored, says the specification */
		n = snprintf(path->text, sizeof(path->text), "%s/rx580fs/%s", chosen, name);
	else if (home && *home == '/')
		n = snprintf(path->text, sizeof(path->text), "%s/%s/rx580fs/%s", home,
		        folder == RX_STATE ? ".local/state" : ".cache", name);
	else
		return -ENOENT;
	if (n < 0 || (size_t)n >= sizeof(path->text))
		return -ENAMETOOLONG;
	return make ? make_folders(path->text) : 0;
}

int rx_read_whole(const char *path, void *buf, size_t max)
{
	RX_CLEANUP(close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_size < 0 || (uint64_t)st.st_size > MIN(max, (size_t)INT_MAX))
		return -EFBIG;
	size_t size = (size_t)st.st_size;

	for (size_t at = 0; at < size;) {
		ssize_t n = read(fd, (uint8_t *)buf + at, size - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO; /* it became shorter meanwhile */
		at += (size_t)n;
	}
	return (int)size;
}

int rx_write_whole(const char *path, const void *bytes, size_t len)
{
	char temporary[sizeof(struct rx_path) + 8];
	int n = snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);

	if (n < 0 || (size_t)n >= sizeof(temporary))
		return -ENAMETOOLONG;
	RX_CLEANUP(close) int fd = mkostemp(temporary, O_CLOEXEC);

	if (fd < 0)
		return -errno;
	errno = ENOSPC; /* a write that stops short says nothing */
	if (write(fd, bytes, len) == (ssize_t)len && !fsync(fd) && !rename(temporary, path))
		return 0;
	int err = -errno;

	unlink(temporary);
	return err;
}
