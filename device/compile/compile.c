/* compile.c - see compile.h. clang runs in a private temporary folder; its name for the source is
 * the user's. */
#include "device/compile/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/compile/code_object.h"
#include "device/err.h"

#define TIME_LIMIT_MS   60000
#define MEMORY_LIMIT    (4ull << 30)
#define LOG_LIMIT       (256u << 10)
#define SOURCE_NAME_MAX 80

/* Newest first; each takes the same flags (tested with 19, the range is CMakeLists.txt's). */
static const char *const compilers[] = {"clang-19", "clang-18", "clang-17", "clang-16", "clang-15"};

/* Debian's rocm-device-libs: get_global_id, exp, barrier ... as LLVM bitcode. */
static const char *const device_libs[] = {"/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
        "/usr/lib/amdgcn/bitcode", "/opt/rocm/amdgcn/bitcode"};

struct workdir {
	char path[64];
	char source[SOURCE_NAME_MAX];
};

static int write_file(int dir, const char *name, const void *data, size_t len)
{
	RX_CLEANUP(close) int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	const char *p = data;

	if (fd < 0)
		return rx_fail("compile", -errno, "cannot create %s: %s", name, strerror(errno));
	while (len) {
		ssize_t n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return rx_fail("compile", -errno,
			        "cannot write %s to the temporary folder (TMPDIR): %s", name,
			        strerror(errno));
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Whole file into memory, one more byte allocated as terminator. Files over @limit are cut. */
static int read_file(const char *path, size_t limit, char **out, size_t *len)
{
	RX_CLEANUP(close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	size_t want = MIN((size_t)st.st_size, limit), got = 0;
	char *buf = malloc(want + 1);
	if (!buf)
		return -ENOMEM;
	while (got < want) {
		ssize_t n = read(fd, buf + got, want - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	buf[got] = '\0';
	*out = buf;
	*len = got;
	return 0;
}

static int workdir_make(struct workdir *w, const char *name)
{
	const char *tmp = getenv("TMPDIR");

	if (!tmp || strlen(tmp) > 32)
		tmp = "/tmp";
	snprintf(w->path, sizeof(w->path), "%s/rx580fs-cc-XXXXXX", tmp);
	snprintf(w->source, sizeof(w->source), "%s", name);
	for (char *c = w->source; *c; c++)
		if (*c == '/' || (unsigned char)*c < 0x20)
			*c = '_';
	if (w->source[0] == '-' || w->source[0] == '@') /* would be an option or a response file */
		w->source[0] = '_';
	if (!mkdtemp(w->path))
		return rx_fail(
		        "compile", -errno, "cannot make a folder in %s: %s", tmp, strerror(errno));
	return 0;
}

static void workdir_remove(const struct workdir *w)
{
	const char *const names[] = {w->source, "out.co", "log"};
	char path[256];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", w->path, names[i]);
		unlink(path);
	}
	rmdir(w->path);
}

static void limit(__rlimit_resource_t resource, rlim_t value)
{
	struct rlimit r = {value, value};

	setrlimit(resource, &r);
}

/* In the child between fork and exec: async-signal-safe calls only. */
static void child(const struct workdir *w, char *const argv[])
{
	int log = chdir(w->path) ? -1 : open("log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	if (log < 0 || null < 0)
		_exit(127);
	dup2(null, 0);
	dup2(log, 1);
	dup2(log, 2);
	closefrom(3);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	limit(RLIMIT_AS, MEMORY_LIMIT);
	limit(RLIMIT_CPU, TIME_LIMIT_MS / 1000);
	limit(RLIMIT_FSIZE, 4u * CO_MAX_SIZE);
	limit(RLIMIT_CORE, 0);
	execvp(argv[0], argv);
	_exit(127);
}

static int wait_child(pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	uint64_t deadline = deadline_in_ms(TIME_LIMIT_MS);
	int status, ready = -1;

	while (pidfd >= 0 && !deadline_passed(deadline)) {
		ready = poll(&p, 1, (int)((deadline - now_ns()) / 1000000u) + 1);
		if (ready > 0 || (ready < 0 && errno != EINTR))
			break;
	}
	if (ready <= 0)
		kill(-pid, SIGKILL);
	if (pidfd >= 0)
		close(pidfd);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -EIO;
	if (ready <= 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
		return -ETIMEDOUT;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return -ENOENT;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EINVAL;
}

static const char *find_device_libs(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(device_libs); i++)
		if (!access(device_libs[i], R_OK))
			return device_libs[i];
	return NULL;
}

static int run_clang(const struct workdir *w, const char *compiler)
{
	char libs[128] = "-nogpulib";
	const char *found = find_device_libs();

	if (found)
		snprintf(libs, sizeof(libs), "--rocm-device-lib-path=%s", found);
	const char *argv[] = {compiler, "--target=amdgcn-amd-amdhsa", "-mcpu=gfx803",
	        "-mcode-object-version=5", "-x", "cl", "-cl-std=CL1.2", "-O3",
	        "-cl-kernel-arg-info", "-fno-color-diagnostics", "-Xclang",
	        "-finclude-default-header", libs, w->source, "-o", "out.co", NULL};
	pid_t pid = fork();
	if (pid < 0)
		return rx_fail("compile", -errno, "cannot start %s: %s", compiler, strerror(errno));
	if (pid == 0)
		child(w, (char *const *)argv);
	return wait_child(pid);
}

static int compile_in(const struct workdir *w, struct compile_result *out)
{
	char path[128];
	size_t len;
	int err = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(compilers) && err == -ENOENT; i++)
		err = run_clang(w, compilers[i]);
	if (err == -ENOENT)
		return rx_fail("compile", err,
		        "no clang-15 to clang-19 found; install clang-19 and lld-19");
	if (err == -ETIMEDOUT)
		return rx_fail("compile", err, "%s: clang took more than %u s", w->source,
		        TIME_LIMIT_MS / 1000);
	snprintf(path, sizeof(path), "%s/log", w->path);
	if (read_file(path, LOG_LIMIT, &out->log, &len))
		out->log = strdup("");
	if (!out->log)
		return -ENOMEM;
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/out.co", w->path);
	err = read_file(path, CO_MAX_SIZE, (char **)&out->elf, &out->elf_size);
	if (err)
		rx_log(LOG_ERROR, "compile", "%s: clang succeeded but left no object", w->source);
	return err ? -EIO : 0;
}

int compile_opencl(const char *name, const char *source, size_t len, struct compile_result *out)
{
	struct workdir w;
	int err = workdir_make(&w, name);

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	int dir = open(w.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = dir < 0 ? -errno : write_file(dir, w.source, source, len);
	if (dir >= 0)
		close(dir);
	if (!err)
		err = compile_in(&w, out);
	workdir_remove(&w);
	if (err && err != -EINVAL)
		compile_result_free(out);
	return err;
}

void compile_result_free(struct compile_result *r)
{
	free(r->elf);
	free(r->log);
	memset(r, 0, sizeof(*r));
}
