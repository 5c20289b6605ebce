/* buffers.c - what users say about buffers: attributes, and whose they are; from one owner of the
 * card to the next.
 */
#include "fs/buffers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "device/err.h"
#include "fs/nodes.h"
#include "fs/owners.h"

#define ADDRESS "user.rx580.va"

static int adopt_attributes(struct fs *fs, struct node *n)
{
	const struct rx_kept *k = rx_kept_find(fs->rx, 'b', n->name);
	RX_CLEANUP(free) void *note = NULL;

	if (!k || !k->note_bytes)
		return 0;
	size_t len = k->note_bytes;
	int err = rx_kept_note(fs->rx, k, &note);

	if (err)
		return err;
	fs_lock(fs);
	err = attributes_unpack(&buffer_of(n)->attributes, note, len);
	fs_unlock(fs);
	return err;
}

int buffers_adopt_attributes(struct fs *fs)
{
	int err = 0;

	/* only the owner thread, which this is, changes the folder */
	for (struct node *n = fs->buffers_dir->children; n; n = n->sibling) {
		err = adopt_attributes(fs, n);
		if (err == -ENODEV || err == -ENOMEM)
			return err;
		if (err)
			rx_log(LOG_WARN, "fs", "buffers/%s: its attributes are lost: %s", n->name,
			        strerror(-err));
	}
	return 0;
}

void buffer_keep(struct fs *fs, struct node *n)
{
	struct buffer *b = n->obj;
	struct text note = {0};

	fs_lock(fs);
	struct rx_owner owner = owner_of(n);
	attributes_pack(&b->attributes, &note);
	fs_unlock(fs);
	if (b->rx && !note.failed)
		rx_buffer_keep(fs->rx, b->rx, &owner, note.data, note.len); /* says why not */
	text_free(&note);
}

int buffer_xattr_get(struct fs *fs, struct node *n, const char *name, struct text *out)
{
	struct buffer *b = n->obj;
	struct rx_info info;

	if (!strcmp(name, ADDRESS)) {
		if (n->size == 0)
			return -ENODATA; /* it has no address yet */
		fs_read_info(fs, &info);
		text_printf(out, "0x%" PRIx64, info.fb_base + b->offset);
		return out->failed ? -ENOMEM : 0;
	}
	const char *value = attributes_get(&b->attributes, name);

	if (!value)
		return -ENODATA;
	text_printf(out, "%s", value);
	return out->failed ? -ENOMEM : 0;
}

int buffer_xattr_set(struct node *n, const char *name, const char *value, size_t len)
{
	if (!strcmp(name, ADDRESS))
		return -EPERM;
	return attributes_set(&buffer_of(n)->attributes, name, value, len);
}

void buffer_xattr_list(struct node *n, struct text *out)
{
	const struct attributes *a = &buffer_of(n)->attributes;

	if (n->size)
		text_append(out, ADDRESS, sizeof(ADDRESS));
	for (size_t i = 0; i < ATTRIBUTES; i++)
		if (a->value[i])
			text_append(out, attribute_names[i], strlen(attribute_names[i]) + 1);
}
