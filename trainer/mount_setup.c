/* mount_setup.c - what training needs on the mount: kernels, buffers, plans. See mount_io.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trainer/mount_io.h"

#define MAX_KERNEL (8u << 20)
#define PLAN_MS                                                                                    \
	120000 /* a plan's close answers after 8 s at the latest, its verdict may take longer */
#define PATIENCE_MS 10000 /* steps of a killed client are cancelled at the next boundary */

/* The modules of trainer/plan_gen.c. */
static const char *const modules[] = {
        "matmul", "attention", "layernorm", "embed", "cross_entropy", "reduce", "adamw", "init"};

static bool has_kernels(const char *dir)
{
	char path[PATH_MAX];
	struct stat st;

	return dir && snprintf(path, sizeof(path), "%s/%s.co", dir, modules[0]) < PATH_MAX &&
	       !stat(path, &st);
}

static const char *kernel_dir(const char *dir)
{
	const char *env = getenv("RX580FS_KERNELS");

	if (dir)
		return dir;
	if (env && *env)
		return env;
	return has_kernels(RX_KERNEL_DIR) ? RX_KERNEL_DIR : RX_KERNEL_BUILD_DIR;
}

/* A file of the host. Caller frees. Return: 0; -errno. */
static int read_host(const char *path, char **data, size_t *len)
{
	FILE *f = fopen(path, "re");
	char *buf = f ? malloc(MAX_KERNEL) : NULL;
	int err = f ? (buf ? 0 : -ENOMEM) : -errno;

	*len = err ? 0 : fread(buf, 1, MAX_KERNEL, f);
	if (!err && (ferror(f) || *len == MAX_KERNEL))
		err = -EIO;
	if (f)
		fclose(f);
	if (err)
		free(buf);
	else
		*data = buf;
	return err;
}

/* Whether the mount has exactly these bytes under that name. */
static bool same(const struct mount *m, const char *path, const char *data, size_t len)
{
	struct mount quiet = *m; /* a missing file is no failure */
	char full[PATH_MAX], *there;
	struct stat st;
	size_t n;

	if (snprintf(full, sizeof(full), "%s/%s", m->root, path) >= (int)sizeof(full) ||
	        stat(full, &st) || (uint64_t)st.st_size != len ||
	        mount_read(&quiet, path, &there, &n))
		return false;
	bool equal = n == len && !memcmp(there, data, len);
	free(there);
	return equal;
}

static int put_kernel(struct mount *m, const char *dir, const char *name)
{
	char from[PATH_MAX], to[128], *data;
	size_t len;

	snprintf(to, sizeof(to), "kernels/%s.co", name);
	int err = snprintf(from, sizeof(from), "%s/%s.co", dir, name) < PATH_MAX
	                  ? read_host(from, &data, &len)
	                  : -ENAMETOOLONG;
	if (err) {
		snprintf(m->why, sizeof(m->why),
		        "cannot read kernel %.800s: %s; name its folder with --kernels or "
		        "RX580FS_KERNELS",
		        from, strerror(-err));
		return err;
	}
	if (!same(m, to, data, len)) {
		err = mount_remove(
		        m, PATIENCE_MS, "%s", to); /* a code object cannot be opened for writing */
		if (!err)
			err = mount_write(m, to, data, len);
	}
	free(data);
	return err;
}

int mount_kernels(struct mount *m, const char *dir)
{
	const char *from = kernel_dir(dir);
	int err = 0;

	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]) && !err; i++)
		err = put_kernel(m, from, modules[i]);
	return err;
}

int mount_buffer(struct mount *m, const char *name, uint64_t bytes)
{
	int err = mount_remove(m, PATIENCE_MS, "buffers/%s", name);

	if (err)
		return err;
	int fd = mount_file(m, O_RDWR | O_CREAT, "buffers/%s", name);
	if (fd < 0)
		return fd;
	err = ftruncate(fd, (off_t)bytes) ? -errno : 0;
	if (close(fd) && !err)
		err = -errno;
	if (!err)
		return 0;
	err = mount_fail(
	        m, err, "no %.1f MiB of VRAM for buffers/%s", (double)bytes / 1048576, name);
	struct mount quiet = *m;
	mount_remove(&quiet, 0, "buffers/%s", name);
	return err;
}

int mount_plan(struct mount *m, const char *name, const char *json)
{
	char path[128], *text, value[512];
	size_t len;

	snprintf(path, sizeof(path), "plans/%s.json", name);
	int err = mount_write(m, path, json, strlen(json));
	if (err)
		return err;
	snprintf(path, sizeof(path), "plans/%s/status", name);
	err = mount_wait(m, path, PLAN_MS);
	if (!err)
		err = mount_read(m, path, &text, &len);
	if (err)
		return err;
	if (!mount_key(text, "state", value, sizeof(value)) || strcmp(value, "resident")) {
		if (!mount_key(text, "error", value, sizeof(value)))
			snprintf(value, sizeof(value), "its status says no reason");
		snprintf(m->why, sizeof(m->why), "plans/%s.json was refused: %s", name, value);
		err = -EINVAL;
	}
	free(text);
	return err;
}
