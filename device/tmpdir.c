/* tmpdir.c - see tmpdir.h. */
#include "device/tmpdir.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "device/err.h"

#define TRIES  8u /* a sweep between mkdtemp() and flock() takes the folder away: make another */
#define RANDOM 6u /* characters mkdtemp(3) puts in place of XXXXXX */

static const char *parent(void)
{
	const char *tmp = getenv("TMPDIR");

	return tmp && *tmp ? tmp : "/tmp";
}

/* Open and lock @name in folder @at if it is a folder of this user and free. Return: descriptor;
 * -1. */
static int hold(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Whether the folder behind @fd still goes by @path. */
static bool still_there(int fd, const char *path)
{
	struct stat held, named;

	return fstat(fd, &held) == 0 && lstat(path, &named) == 0 && held.st_dev == named.st_dev &&
	       held.st_ino == named.st_ino;
}

int rx_tmpdir_make(struct rx_tmpdir *d, const char *kind)
{
	for (unsigned i = 0; i < TRIES; i++) {
		if ((size_t)snprintf(d->path, sizeof(d->path), "%s/rx580fs-%s-XXXXXX", parent(),
		            kind) >= sizeof(d->path))
			return rx_fail("tmpdir", -ENAMETOOLONG,
			        "TMPDIR is too long; set it to a shorter path");
		if (!mkdtemp(d->path))
			return rx_fail("tmpdir", -errno, "cannot make a folder in %s (TMPDIR): %s",
			        parent(), strerror(errno));
		d->fd = hold(AT_FDCWD, d->path);
		if (d->fd >= 0 && still_there(d->fd, d->path))
			return 0;
		rx_cleanup_close(&d->fd);
	}
	return rx_fail("tmpdir", -EBUSY,
	        "folders made in %s (TMPDIR) are taken away at once; set TMPDIR to another folder",
	        parent());
}

/* Plain files and empty folders; a folder somebody mounted on is busy and stays. */
static void empty(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;

	if (!dir) {
		rx_cleanup_close(&copy);
		return;
	}
	while ((e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
		        unlinkat(fd, e->d_name, 0) != 0)
			unlinkat(fd, e->d_name, AT_REMOVEDIR);
	closedir(dir);
}

void rx_tmpdir_remove(struct rx_tmpdir *d)
{
	empty(d->fd);
	rmdir(d->path);
	close(d->fd);
	d->fd = -1;
}

static bool is_kind(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);

	return strlen(name) == n + RANDOM && !memcmp(name, prefix, n);
}

/* Return: whether @name in folder @at was a dead one and is gone. */
static bool sweep_one(int at, const char *name, void (*before)(const char *path))
{
	char path[RX_TMPDIR_MAX];
	RX_CLEANUP(close) int fd = hold(at, name);

	if (fd < 0 || (size_t)snprintf(path, sizeof(path), "%s/%s", parent(), name) >= sizeof(path))
		return false;
	if (before)
		before(path);
	empty(fd);
	return unlinkat(at, name, AT_REMOVEDIR) == 0;
}

unsigned rx_tmpdir_sweep(const char *kind, void (*before)(const char *path))
{
	DIR *dir = opendir(parent());
	struct dirent *e;
	char prefix[32];
	unsigned gone = 0;

	if (!dir)
		return 0; /* who wants to make a folder there says so */
	snprintf(prefix, sizeof(prefix), "rx580fs-%s-", kind);
	while ((e = readdir(dir)) != NULL)
		if (is_kind(e->d_name, prefix))
			gone += sweep_one(dirfd(dir), e->d_name, before);
	closedir(dir);
	return gone;
}
