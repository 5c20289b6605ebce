/* session.c - see session.h. Call shapes, also of the operations: libfuse example/passthrough_ll.c,
 * poll.c. */
#include "fs/session.h"

#include <stdio.h>

#include "device/bytes.h"
#include "device/err.h"
#include "fs/options.h"
#include "fs/session_priv.h"

/* most_a_request - the kernel cuts what is longer. A slow bridge's share, so that everybody is
 * answered in time. */
static unsigned most_a_request(struct fs *fs)
{
	struct rx_info info;

	fs_lock(fs);
	fs_read_info(fs, &info);
	fs_unlock(fs);
	return info.request_bytes ? MIN(info.request_bytes, FS_MAX_IO) : FS_MAX_IO;
}

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	unsigned most = most_a_request(userdata);

	/* interface.md 4.3: a request is at most 64 KiB, read-ahead included */
	conn->max_write = most;
	conn->max_read = most;
	conn->max_readahead = most;
	/* 4.2: the write-back cache is never on; we have no set-uid files to strip */
	conn->want &= ~(unsigned)(FUSE_CAP_WRITEBACK_CACHE | FUSE_CAP_HANDLE_KILLPRIV);
}

int session_mount(struct fs *fs, const char *mountpoint)
{
	/* fsname and subtype: interface.md 4.8, bazil/fuse 89 */
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct fuse_lowlevel_ops operations = {.init = op_init};
	char options[256];

	session_names_ops(&operations);
	session_attr_ops(&operations);
	session_io_ops(&operations);
	snprintf(options, sizeof(options),
	        "fsname=rx580fs,subtype=rx580fs,default_permissions,max_read=%u%s%s",
	        most_a_request(fs), fs->opt->allow_other ? ",allow_other" : "",
	        fs->opt->read_only ? ",ro" : "");
	if (fuse_opt_add_arg(&args, "rx580fs") || fuse_opt_add_arg(&args, "-o") ||
	        fuse_opt_add_arg(&args, options)) {
		fuse_opt_free_args(&args);
		return -ENOMEM;
	}
	fs->se = fuse_session_new(&args, &operations, sizeof(operations), fs);
	fuse_opt_free_args(&args);
	if (!fs->se)
		return rx_fail("fs", -EIO, "libfuse refused the session");
	if (fuse_session_mount(fs->se, mountpoint) != 0) {
		fuse_session_destroy(fs->se);
		fs->se = NULL;
		return rx_fail("fs", -EIO, "cannot mount on %s (see the line above)", mountpoint);
	}
	return 0;
}

int session_loop(struct fs *fs)
{
	return fuse_session_loop(fs->se);
}

void session_exit(struct fs *fs)
{
	fuse_session_exit(fs->se);
}

void session_unmount(struct fs *fs)
{
	fuse_session_unmount(fs->se);
}

void session_free(struct fs *fs)
{
	if (fs->se)
		fuse_session_destroy(fs->se);
	fs->se = NULL;
}
