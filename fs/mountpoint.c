/* mountpoint.c - see mountpoint.h. */
#include "fs/mountpoint.h"

#include <fcntl.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "device/err.h"

extern char **environ;

#define TMPDIR_KIND   "run"
#define PRIVATE_MOUNT "gpu"
#define LINKS_MAX     40 /* symbolic links in a path, as the kernel: path_resolution(7) */

/* mountinfo writes blanks and backslashes in octal (proc_pid_mountinfo(5)). */
static void unescape(char *s)
{
	char *out = s;

	for (; *s; s++) {
		unsigned c;

		if (*s == '\\' && sscanf(s + 1, "%3o", &c) == 1) {
			*out++ = (char)c;
			s += 3;
		} else {
			*out++ = *s;
		}
	}
	*out = '\0';
}

/* Whether @path carries a mount of type fuse.rx580fs. */
static bool is_ours(const char *path)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	RX_CLEANUP(free) char *line = NULL;
	size_t cap = 0;
	bool ours = false;

	while (f && getline(&line, &cap, f) > 0) {
		RX_CLEANUP(free) char *point = malloc(cap);
		char *type = strstr(line, " - ");

		if (!point || !type || sscanf(line, "%*s %*s %*s %*s %s", point) != 1)
			continue;
		unescape(point);
		if (!strcmp(point, path))
			ours = !strncmp(type, " - fuse.rx580fs ", 16);
	}
	if (f)
		fclose(f);
	return ours;
}

static int detach(const char *path)
{
	char *argv[] = {"fusermount3", "-u", "-z", (char *)path, NULL};
	pid_t pid;
	int status = 0;

	if (umount2(path, MNT_DETACH) == 0)
		return 0;
	if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0 ||
	        waitpid(pid, &status, 0) < 0 || status != 0)
		return rx_fail("fs", -EBUSY,
		        "cannot detach the dead mount on %s; try fusermount3 -u", path);
	return 0;
}

/* realpath(3) fails on a dead mount, so resolve the folder above it, and what a link there says. */
static int absolute(const char *path, char *out, size_t size, unsigned links)
{
	char target[4096];
	RX_CLEANUP(free) char *copy = strdup(path);
	char *slash;

	if (!copy)
		return -ENOMEM;
	for (size_t n = strlen(copy); n > 1 && copy[n - 1] == '/'; n--)
		copy[n - 1] = '\0';
	slash = strrchr(copy, '/');
	const char *base = slash ? slash + 1 : copy;

	if (slash)
		*slash = '\0';
	RX_CLEANUP(free) char *dir = realpath(!slash ? "." : slash == copy ? "/" : copy, NULL);

	if (!dir)
		return -errno;
	if ((size_t)snprintf(out, size, "%s%s%s", dir, dir[1] ? "/" : "", base) >= size)
		return -ENAMETOOLONG;
	ssize_t n = readlink(out, target, sizeof(target) - 1);

	if (n < 0)
		return 0;
	target[n] = '\0';
	RX_CLEANUP(free) char *next = NULL;

	if (links == 0 || asprintf(&next, "%s%s%s", target[0] == '/' ? "" : dir,
	                          target[0] == '/' ? "" : "/", target) < 0)
		return -ELOOP;
	return absolute(next, out, size, links - 1);
}

int mountpoint_prepare(const char *path)
{
	char full[4096];
	struct stat st;

	/* ECONNABORTED: the daemon died while this very call was on its way to it */
	if (stat(path, &st) != 0 && (errno == ENOTCONN || errno == ECONNABORTED)) {
		int err = absolute(path, full, sizeof(full), LINKS_MAX);

		if (err || !is_ours(full))
			return rx_fail("fs", -ENOTCONN,
			        "%s is a dead mount of another program; unmount it first", path);
		err = detach(full);
		if (err)
			return err;
		rx_log(LOG_WARN, "fs", "detached the mount a killed rx580fs left on %s", path);
	}
	if (stat(path, &st) != 0)
		return rx_fail("fs", -errno, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return rx_fail("fs", -ENOTDIR, "%s is not a folder", path);
	RX_CLEANUP(free) char *real = realpath(path, NULL);

	if (real && is_ours(real))
		return rx_fail("fs", -EBUSY,
		        "%s already is a mount of rx580fs; use it, or unmount it first", path);
	return 0;
}

int mountpoint_private(struct rx_tmpdir *dir, char **path)
{
	int err = rx_tmpdir_make(dir, TMPDIR_KIND);

	if (err)
		return err;
	if (asprintf(path, "%s/" PRIVATE_MOUNT, dir->path) < 0) {
		*path = NULL;
		err = -ENOMEM;
	} else if (mkdir(*path, 0700) != 0) {
		err = rx_fail(
		        "fs", -errno, "cannot make the folder %s: %s", *path, strerror(errno));
	}
	if (err)
		rx_tmpdir_remove(dir);
	return err;
}

static void unmount_dead(const char *folder)
{
	RX_CLEANUP(free) char *path = NULL;
	char full[4096];

	if (asprintf(&path, "%s/" PRIVATE_MOUNT, folder) < 0)
		path = NULL;
	if (path && absolute(path, full, sizeof(full), 0) == 0 && is_ours(full))
		detach(full);
}

void mountpoint_sweep(void)
{
	unsigned n = rx_tmpdir_sweep(TMPDIR_KIND, unmount_dead);

	if (n)
		rx_log(LOG_INFO, "fs", "removed %u private mounts that killed daemons left", n);
}

int background_start(void)
{
	int fds[2];
	char verdict = 1;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return rx_fail("fs", -errno, "pipe: %s", strerror(errno));
	fflush(NULL);
	pid_t pid = fork();

	if (pid < 0)
		return rx_fail("fs", -errno, "fork: %s", strerror(errno));
	if (pid > 0) {
		close(fds[1]);
		/* no byte at all: the child died before it could say anything */
		while (read(fds[0], &verdict, 1) < 0 && errno == EINTR) {
		}
		_exit(verdict);
	}
	close(fds[0]);
	setsid();
	return fds[1];
}

void background_verdict(int fd, bool ok)
{
	char verdict = ok ? 0 : 1;

	if (ok) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		rx_log_set_stderr(false);
		for (int i = 0; null >= 0 && i < 3; i++)
			dup2(null, i);
		if (null > 2)
			close(null);
		if (chdir("/") != 0)
			rx_log(LOG_WARN, "fs", "chdir /: %s", strerror(errno));
	}
	ssize_t n = write(fd, &verdict, 1);

	(void)n; /* nobody left to tell */
	close(fd);
}

void notify_supervisor(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof(sa.sun_path))
		return;
	memcpy(sa.sun_path, path, strlen(path));
	if (path[0] == '@')
		sa.sun_path[0] = '\0'; /* abstract socket */
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));

	if (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&sa, len) < 0)
		rx_log(LOG_WARN, "fs", "cannot notify %s: %s", path, strerror(errno));
	close(fd);
}
