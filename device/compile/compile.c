/* compile.c - see compile.h. clang runs in a private temporary folder, which is also where its own
 * temporary files go; its name for the source is the user's. */
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
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/compile/code_object.h"
#include "device/err.h"
#include "device/tmpdir.h"

#define TIME_LIMIT_MS   60000
#define MEMORY_LIMIT    (4ull << 30)
#define LOG_LIMIT       (256u << 10)
#define SOURCE_NAME_MAX 80
#define TMPDIR_KIND     "cc"

/* Newest first; each takes the same flags (tested with 19, the range is CMakeLists.txt's). */
static const char *const compilers[] = {"clang-19", "clang-18", "clang-17", "clang-16", "clang-15"};

/* Debian's rocm-device-libs: get_global_id, exp, barrier ... as LLVM bitcode. */
static const char *const device_libs[] = {"/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
        "/usr/lib/amdgcn/bitcode", "/opt/rocm/amdgcn/bitcode"};

extern char **environ;

struct workdir {
	struct rx_tmpdir tmp;
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
static int read_file(int dir, const char *name, size_t limit, char **out, size_t *len)
{
	RX_CLEANUP(close) int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
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
	snprintf(w->source, sizeof(w->source), "%s", name);
	for (char *c = w->source; *c; c++)
		if (*c == '/' || (unsigned char)*c < 0x20)
			*c = '_';
	if (w->source[0] == '-' || w->source[0] == '@') /* would be an option or a response file */
		w->source[0] = '_';
	return rx_tmpdir_make(&w->tmp, TMPDIR_KIND);
}

void compile_sweep(void)
{
	rx_tmpdir_sweep(TMPDIR_KIND, NULL);
}

/* Our environment, with the folder as clang's TMPDIR: killed, it would leave objects in ours.
 * @tmpdir: room for that variable. The caller frees the list, not the strings. */
static char **environment(const struct workdir *w, char *tmpdir, size_t size)
{
	size_t n = 0, kept = 0;

	while (environ[n])
		n++;
	char **list = calloc(n + 2, sizeof(*list));

	if (!list)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "TMPDIR=", 7) != 0)
			list[kept++] = environ[i];
	snprintf(tmpdir, size, "TMPDIR=%s", w->tmp.path);
	list[kept] = tmpdir;
	return list;
}

static void limit(__rlimit_resource_t resource, rlim_t value)
{
	struct rlimit r = {value, value};

	setrlimit(resource, &r);
}

/* In the child between fork and exec: async-signal-safe calls only. */
static void child(const struct workdir *w, pid_t parent, char *const argv[], char *const env[])
{
	int log = fchdir(w->tmp.fd) ? -1 : open("log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	/* nobody waits for clang when we are killed; prctl(2): the parent may be gone already */
	if (log < 0 || null < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
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
	execvpe(argv[0], argv, env);
	_exit(127);
}

static int wait_child(pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	uint64_t deadline = deadline_in_ms(TIME_LIMIT_MS);
	int status, ready = -1;

	for (bool late = false; pidfd >= 0 && !late;) {
		uint64_t now = now_ns();

		late = now >= deadline;
		ready = poll(&p, 1, late ? 0 : (int)((deadline - now) / 1000000u) + 1);
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
	char tmpdir[RX_TMPDIR_MAX + 8];
	RX_CLEANUP(free) char **env = environment(w, tmpdir, sizeof(tmpdir));

	if (!env)
		return -ENOMEM;
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		return rx_fail("compile", -errno, "cannot start %s: %s", compiler, strerror(errno));
	if (pid == 0)
		child(w, parent, (char *const *)argv, env);
	return wait_child(pid);
}

static int compile_in(const struct workdir *w, struct compile_result *out)
{
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
	if (read_file(w->tmp.fd, "log", LOG_LIMIT, &out->log, &len))
		out->log = strdup("");
	if (!out->log)
		return -ENOMEM;
	if (err)
		return err;
	err = read_file(w->tmp.fd, "out.co", CO_MAX_SIZE, (char **)&out->elf, &out->elf_size);
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
	err = write_file(w.tmp.fd, w.source, source, len);
	if (!err)
		err = compile_in(&w, out);
	rx_tmpdir_remove(&w.tmp);
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
