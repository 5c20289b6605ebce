/* mount_io.c - see mount_io.h. Errors: interface.md 4.6 and its error dictionary. */
#include "trainer/mount_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_TEXT   (16u << 20)
#define LOG_TAIL   16384 /* newest bytes of the log searched for an error line */
#define RETRY_MS   50
#define WRITE_SIZE (64u << 10) /* live nodes take at most 64 KiB a request: interface.md 4.3 */

bool mount_gone(int err)
{
	/* a killed daemon; a mount the kernel gave up; the card or bridge: interface.md 4.5, 4.8,
	 * 0.9 */
	return err == -ENOTCONN || err == -ECONNABORTED || err == -ENODEV;
}

static int join(char *out, const struct mount *m, const char *path)
{
	return snprintf(out, PATH_MAX, "%s/%s", m->root, path) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static void sleep_ms(unsigned ms)
{
	struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};

	nanosleep(&t, NULL);
}

bool mount_key(const char *text, const char *key, char *value, size_t size)
{
	size_t n = strlen(key);

	for (const char *line = text; line && *line;) {
		const char *end = strchrnul(line, '\n');
		if (!strncmp(line, key, n) && line[n] == ' ') {
			snprintf(value, size, "%.*s", (int)(end - line - (ptrdiff_t)n - 1),
			        line + n + 1);
			return true;
		}
		line = *end ? end + 1 : end;
	}
	return false;
}

/* The newest error line of the log since mount_open(); empty when there is none. */
static void newest_error(const struct mount *m, char *out, size_t size)
{
	char path[PATH_MAX], tail[LOG_TAIL + 1];
	struct stat st;

	out[0] = '\0';
	if (join(path, m, "log"))
		return;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	uint64_t end = fstat(fd, &st) ? 0 : (uint64_t)st.st_size, from = m->log_start;
	if (from > end)
		from = 0; /* the log was restarted */
	if (end - from > LOG_TAIL)
		from = end - LOG_TAIL;
	ssize_t n = pread(fd, tail, LOG_TAIL, (off_t)from);
	close(fd);
	tail[n > 0 ? n : 0] = '\0';
	for (char *line = tail, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (strstr(line, ": error: "))
			snprintf(out, size, "%.*s", (int)size - 1, line);
	}
}

/* Whether the whole mount went away, whatever the call that failed said. */
static int mount_state(const struct mount *m)
{
	char path[PATH_MAX], text[4096], state[32];

	if (join(path, m, "status"))
		return 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return mount_gone(-errno) ? -errno : 0;
	ssize_t n = read(fd, text, sizeof(text) - 1);
	int err = n < 0 ? -errno : 0;
	close(fd);
	if (err)
		return mount_gone(err) ? err : 0;
	text[n] = '\0';
	return mount_key(text, "state", state, sizeof(state)) && !strcmp(state, "gone") ? -ENODEV
	                                                                                : 0;
}

int mount_fail(struct mount *m, int err, const char *fmt, ...)
{
	char words[512];
	int gone = mount_state(m);
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(m->why, sizeof(m->why), fmt, ap);
	va_end(ap);
	size_t at = n < 0 ? 0 : (size_t)n < sizeof(m->why) ? (size_t)n : sizeof(m->why) - 1;
	if (gone) {
		snprintf(m->why + at, sizeof(m->why) - at, ": %s",
		        gone == -ENODEV ? "the card or its bridge is gone (ENODEV)"
		                        : "the daemon of this mount is gone (ENOTCONN)");
		return gone;
	}
	newest_error(m, words, sizeof(words));
	snprintf(m->why + at, sizeof(m->why) - at, ": %s%s%s%s", strerror(-err),
	        words[0] ? " (the mount says: " : "", words, words[0] ? ")" : "");
	return err;
}

static int not_a_mount(struct mount *m, const char *dir)
{
	snprintf(m->why, sizeof(m->why),
	        "%s is not a mount of rx580fs (no file \"status\" with a backend in it); start "
	        "rx580fs %s first",
	        dir, dir);
	return -EINVAL;
}

int mount_open(struct mount *m, const char *dir)
{
	char *text, value[64];
	struct stat st;
	size_t len;

	memset(m, 0, sizeof(*m));
	if (snprintf(m->root, sizeof(m->root), "%s", dir) >= (int)sizeof(m->root))
		return -ENAMETOOLONG;
	if (stat(dir, &st)) {
		int err = -errno;
		snprintf(m->why, sizeof(m->why), "%s: %s", dir,
		        mount_gone(err) ? "its daemon is gone (ENOTCONN); unmount it with "
		                          "fusermount3 -u and start rx580fs again"
		                        : strerror(-err));
		return err;
	}
	int err = mount_read(m, "status", &text, &len);
	if (err)
		return mount_gone(err) ? err : not_a_mount(m, dir);
	bool ours = mount_key(text, "backend", value, sizeof(value)) &&
	            mount_key(text, "state", value, sizeof(value));
	free(text);
	if (!ours)
		return not_a_mount(m, dir);
	if (!strcmp(value, "gone"))
		return mount_fail(m, -ENODEV, "%s", dir);
	char path[PATH_MAX];
	if (!join(path, m, "log") && !stat(path, &st))
		m->log_start = (uint64_t)st.st_size;
	return 0;
}

int mount_file(struct mount *m, int flags, const char *fmt, ...)
{
	char name[256], path[PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	int err = join(path, m, name);
	int fd = err ? -1 : open(path, flags | O_CLOEXEC, 0644);
	return fd >= 0 ? fd : mount_fail(m, err ? err : -errno, "cannot open %s", name);
}

int mount_read(struct mount *m, const char *path, char **data, size_t *len)
{
	size_t got = 0, room = 65536;
	char *buf = NULL;
	ssize_t n = 0;
	int fd = mount_file(m, O_RDONLY, "%s", path), err = 0;

	if (fd < 0)
		return fd;
	do {
		got += (size_t)n;
		if (!buf || got + 1 >= room) {
			room *= buf ? 2 : 1;
			char *more = room <= MAX_TEXT ? realloc(buf, room) : NULL;
			if (!more) {
				err = -ENOMEM;
				break;
			}
			buf = more;
		}
		n = read(fd, buf + got, room - got - 1);
		if (n < 0)
			err = -errno;
	} while (n > 0);
	close(fd);
	if (err) {
		free(buf);
		return mount_fail(m, err, "cannot read %s", path);
	}
	buf[got] = '\0';
	*data = buf;
	*len = got;
	return 0;
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len < WRITE_SIZE ? len : WRITE_SIZE);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			data += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

int mount_write(struct mount *m, const char *path, const void *data, size_t len)
{
	int fd = mount_file(m, O_WRONLY | O_CREAT | O_TRUNC, "%s", path);

	if (fd < 0)
		return fd;
	int err = write_all(fd, data, len);
	if (close(fd) && !err)
		err = -errno;
	return err ? mount_fail(m, err, "%s was refused", path) : 0;
}

int mount_command(struct mount *m, const char *path, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	if (n < 0 || n >= (int)sizeof(line) - 1)
		return mount_fail(m, -E2BIG, "a command for %s is too long", path);
	int fd = mount_file(m, O_WRONLY, "%s", path);
	if (fd < 0)
		return fd;
	line[n] = '\n';
	ssize_t done;
	do
		done = write(fd, line, (size_t)n + 1); /* command nodes take whole lines only */
	while (done < 0 && errno == EINTR);
	int err = done < 0 ? -errno : 0;
	close(fd); /* a command's verdict comes from its write */
	line[n] = '\0';
	return err ? mount_fail(m, err, "\"%s\" > %s failed", line, path) : 0;
}

int mount_remove(struct mount *m, unsigned patience_ms, const char *fmt, ...)
{
	char name[256], path[PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	int err = join(path, m, name);
	if (err)
		return err;
	for (unsigned waited = 0; unlink(path); waited += RETRY_MS) {
		if (errno == ENOENT)
			return 0;
		if (errno != EBUSY || waited >= patience_ms)
			return mount_fail(m, -errno, "cannot remove %s", name);
		sleep_ms(RETRY_MS);
	}
	return 0;
}

int mount_wait(struct mount *m, const char *path, unsigned timeout_ms)
{
	char full[PATH_MAX];
	struct stat st;
	int err = join(full, m, path);

	for (unsigned waited = 0; !err && stat(full, &st); waited += RETRY_MS) {
		if (errno != ENOENT)
			err = mount_fail(m, -errno, "cannot look at %s", path);
		else if (waited >= timeout_ms)
			err = mount_fail(m, -ETIMEDOUT, "%s did not appear within %u s", path,
			        timeout_ms / 1000);
		else
			sleep_ms(RETRY_MS);
	}
	return err;
}
