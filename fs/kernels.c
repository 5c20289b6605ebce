/* kernels.c - the files of kernels/ from one owner of the card to the next, and from before a reset
 * to after it. Owner thread.
 */
#include "fs/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/err.h"
#include "fs/blob.h"
#include "fs/keep_large.h"
#include "fs/nodes.h"
#include "fs/owners.h"

/* A long file without its name yet is left to keep_named. */
void kernel_keep(struct fs *fs, const char *name, const void *bytes, size_t len)
{
	struct rx_kept k = {.kind = 'k'};

	snprintf(k.name, sizeof(k.name), "%s", name);
	fs_lock(fs);
	struct node *n = tree_find(fs->kernels_dir, name);

	if (n)
		k.owner = owner_of(n);
	fs_unlock(fs);
	if (!fs->rx || !len)
		return;
	bool large = keep_is_large(fs, len);
	if (large && n)
		keep_large(fs, n);
	else if (!large)
		fs_count_kept(fs, rx_keep(fs->rx, &k, bytes, len));
}

void kernel_forget(struct fs *fs, const char *name)
{
	if (fs->rx)
		rx_forget(fs->rx, 'k', name);
}

/* keep_all - the record of a card that was reset is empty. */
static void keep_all(struct fs *fs)
{
	fs->hold = true; /* the folder must not change */
	for (struct node *n = fs->kernels_dir->children; n; n = n->sibling) {
		if (!node_is(n, NODE_KERNEL_CL) && !node_is(n, NODE_KERNEL_CO))
			continue;
		size_t len = 0;
		RX_CLEANUP(free) char *copy = blob_copy(fs, n, &len);

		if (copy)
			kernel_keep(fs, n->name, copy, len);
	}
	fs->hold = false;
}

void kernels_republish(struct fs *fs)
{
	char stem[80], why[256];

	fs_lock(fs); /* nothing is uploaded yet: this is memory only */
	for (struct node *n = fs->kernels_dir->children; n; n = n->sibling) {
		struct blob *b = n->obj;

		if (!node_is(n, NODE_KERNEL_CO) || !b->len)
			continue;
		kernel_sibling(n->name, "", stem, sizeof(stem));
		if (rx_module_put(fs->kernels, stem, b->data, b->len, why, sizeof(why)) != 0)
			rx_log(LOG_WARN, "fs", "kernels/%s: %s", n->name, why);
	}
	fs_unlock(fs);
	keep_all(fs);
}

static bool is_object(const char *name)
{
	size_t n = strlen(name);

	return n > 3 && !strcmp(name + n - 3, ".co");
}

/* A source is as it was compiled; a code object is checked as any other. */
static int adopt(struct fs *fs, const struct rx_kept *k)
{
	RX_CLEANUP(free) void *bytes = NULL;
	char why[256] = "damaged";
	bool object = is_object(k->name);
	int err = rx_kept_note(fs->rx, k, &bytes);

	if (!err && object)
		err = kernel_install(fs, k->name, bytes, k->note_bytes, true, why, sizeof(why));
	if (err == -EINVAL || err == -EBADMSG)
		rx_log(LOG_WARN, "fs", "kernels/%s: %s", k->name, why);
	if (err)
		return err;
	fs_lock(fs);
	struct node *n = object ? tree_find(fs->kernels_dir, k->name)
	                        : blob_add(fs, fs->kernels_dir, k->name, NODE_KERNEL_CL, bytes,
	                                  k->note_bytes);

	if (n)
		owner_apply(n, &k->owner);
	if (n && !object) {
		blob_of(n)->started = blob_of(n)->compiled = blob_of(n)->seq;
		kernel_publish_log(fs, k->name, "");
	}
	fs_unlock(fs);
	return n ? 0 : -ENOMEM;
}

int kernels_adopt(struct fs *fs)
{
	const struct rx_kept *k = NULL;
	int err = 0;

	/* nothing is kept or forgotten meanwhile: nobody else is there yet */
	while (err != -ENODEV && err != -ENOMEM && (k = rx_kept_next(fs->rx, 'k', k)) != NULL)
		err = adopt(fs, k);
	return err == -ENODEV || err == -ENOMEM ? err : 0;
}
