/* test_tmpdir.c - folders under TMPDIR live as long as the process that made them, are swept after
 * its death, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/tmpdir.h"

static char top[] = "/tmp/rx-tmpdir-XXXXXX";

static int own_tmpdir(void **state)
{
	(void)state;
	return mkdtemp(top) && setenv("TMPDIR", top, 1) == 0 ? 0 : -1;
}

static int remove_tmpdir(void **state)
{
	(void)state;
	return rmdir(top); /* each test leaves it empty */
}

/* The caller frees it. */
static char *join(const char *folder, const char *name)
{
	char *path;

	assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
	return path;
}

static void touch(const char *folder, const char *name)
{
	char *path = join(folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	close(fd);
	free(path);
}

static void make_folder(const char *folder, const char *name)
{
	char *path = join(folder, name);

	assert_int_equal(mkdir(path, 0700), 0);
	free(path);
}

static void remove_one(const char *folder, const char *name)
{
	char *path = join(folder, name);

	assert_int_equal(remove(path), 0);
	free(path);
}

/* A child that makes a folder with a file and a folder in it, says which, and waits to be killed.
 */
static pid_t start_holder(struct rx_tmpdir *d)
{
	int fds[2];
	char byte;

	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (rx_tmpdir_make(d, "run") == 0) {
			touch(d->path, "file");
			make_folder(d->path, "gpu");
		}
		if (write(fds[1], d->path, sizeof(d->path)) < 0 || close(fds[1]) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	close(fds[1]);
	size_t got = 0;

	for (ssize_t n = 1; n > 0 && got < sizeof(d->path); got += (size_t)(n > 0 ? n : 0))
		n = read(fds[0], d->path + got, sizeof(d->path) - got);
	assert_int_equal(got, sizeof(d->path));
	assert_int_equal(read(fds[0], &byte, 1), 0);
	close(fds[0]);
	return pid;
}

static void a_folder_is_private_and_goes_with_what_is_in_it(void **state)
{
	struct rx_tmpdir d;
	struct stat st;

	(void)state;
	assert_int_equal(rx_tmpdir_make(&d, "cc"), 0);
	assert_int_equal(stat(d.path, &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0700);
	assert_memory_equal(d.path, top, strlen(top));
	touch(d.path, "file");
	make_folder(d.path, "gpu");
	rx_tmpdir_remove(&d);
	assert_int_not_equal(stat(d.path, &st), 0);
}

static void only_the_dead_are_swept(void **state)
{
	struct rx_tmpdir own, dead;
	struct stat st;

	(void)state;
	assert_int_equal(rx_tmpdir_make(&own, "run"), 0);
	pid_t pid = start_holder(&dead);

	assert_int_equal(rx_tmpdir_sweep("run", NULL), 0);
	assert_int_equal(stat(dead.path, &st), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(rx_tmpdir_sweep("cc", NULL), 0);
	assert_int_equal(rx_tmpdir_sweep("run", NULL), 1);
	assert_int_not_equal(stat(dead.path, &st), 0);
	assert_int_equal(stat(own.path, &st), 0);
	rx_tmpdir_remove(&own);
}

static unsigned seen;

static void count_one(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	seen++;
}

static void what_is_not_ours_or_not_empty_stays(void **state)
{
	static const char *const names[] = {
	        "rx580fs-run-12345", "rx580fs-run-1234567", "rx580fs-runner-123456"};
	char *link = join(top, "rx580fs-run-aaaaaa"), *full = join(top, "rx580fs-run-bbbbbb");

	(void)state;
	assert_int_equal(symlink("/", link), 0);
	make_folder(top, "rx580fs-run-bbbbbb");
	make_folder(full, "gpu");
	touch(full, "gpu/somebody's");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		make_folder(top, names[i]);
	seen = 0;
	assert_int_equal(rx_tmpdir_sweep("run", count_one), 0);
	assert_int_equal(seen, 1); /* only the full one could have been ours */
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		remove_one(top, names[i]);
	remove_one(full, "gpu/somebody's");
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rx_tmpdir_sweep("run", NULL), 1);
	free(link);
	free(full);
}

static void a_folder_that_cannot_be_made_is_an_error(void **state)
{
	struct rx_tmpdir d;

	(void)state;
	setenv("TMPDIR", "/nowhere/at/all", 1);
	int err = rx_tmpdir_make(&d, "run");
	unsigned swept = rx_tmpdir_sweep("run", NULL);

	setenv("TMPDIR", top, 1);
	assert_int_equal(err, -ENOENT);
	assert_int_equal(swept, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_folder_is_private_and_goes_with_what_is_in_it),
	        cmocka_unit_test(only_the_dead_are_swept),
	        cmocka_unit_test(what_is_not_ours_or_not_empty_stays),
	        cmocka_unit_test(a_folder_that_cannot_be_made_is_an_error),
	};
	return cmocka_run_group_tests(tests, own_tmpdir, remove_tmpdir);
}
