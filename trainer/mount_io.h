/* mount_io.h - the mount of rx580fs, by POSIX calls only: files, kernels, buffers, plans.
 * Every call that can fail leaves one sentence in mount->why, in the mount's own words where it has
 * some. Paths are relative to the mount. One thread at a time for each struct mount; copies are
 * independent.
 */
#ifndef TRAINER_MOUNT_IO_H
#define TRAINER_MOUNT_IO_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mount {
	char root[PATH_MAX];
	uint64_t log_start; /* what stood in `log` before we came is not about us */
	char why[1024];
};

/* mount_open - check that @dir is a mount of rx580fs with a working card. Return: 0; -ENOENT no
 * such folder; -EINVAL something else is there; -ENOTCONN the daemon is gone; -ENODEV the card is.
 */
int mount_open(struct mount *m, const char *dir);
/* mount_gone - whether an error number says that daemon or card went away. */
bool mount_gone(int err);
/* mount_fail - set why to the sentence, what @err means and the newest error line of the mount's
 * log. Return: @err, or -ENODEV / -ENOTCONN when the mount itself is gone. */
int mount_fail(struct mount *m, int err, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

/* Return: file descriptor; -errno with why. */
int mount_file(struct mount *m, int flags, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* mount_read - a whole file with a terminator behind it; caller frees. At most 16 MiB. */
int mount_read(struct mount *m, const char *path, char **data, size_t *len);
/* mount_write - create or replace a file; errors of write and of close count. */
int mount_write(struct mount *m, const char *path, const void *data, size_t len);
/* mount_command - one line to a command node. */
int mount_command(struct mount *m, const char *path, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* mount_remove - -ENOENT is not an error. -EBUSY is tried again for @patience_ms. */
int mount_remove(struct mount *m, unsigned patience_ms, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* mount_wait - until @path exists. Return: 0; -ETIMEDOUT. */
int mount_wait(struct mount *m, const char *path, unsigned timeout_ms);

/* mount_key - value of KEY in flat-keyed text. Return: whether it is there. */
bool mount_key(const char *text, const char *key, char *value, size_t size);

/* mount_kernels - put the modules that training needs into kernels/; same ones are left alone.
 * @dir: folder of NAME.co, or NULL: $RX580FS_KERNELS, else the installed, else the built ones. */
int mount_kernels(struct mount *m, const char *dir);
/* mount_buffer - create buffers/NAME with @bytes; replaces one of the same name. */
int mount_buffer(struct mount *m, const char *name, uint64_t bytes);
/* mount_plan - load a plan and see that it is resident. */
int mount_plan(struct mount *m, const char *name, const char *json);

#endif
