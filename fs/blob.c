/* blob.c - see blob.h. */
#include "fs/blob.h"

#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/compile/code_object.h"
#include "device/err.h"
#include "device/plan/plan.h"

bool blob_is_scratch(const struct node *n)
{
	return node_is(n, NODE_SCRATCH) || node_is(n, NODE_PLAN_SCRATCH);
}

void blob_destroy(struct fs *fs, struct node *n)
{
	struct blob *b = n->obj;

	if (!b)
		return;
	if (blob_is_scratch(n))
		fs->scratch_bytes -= b->len;
	free(b->data);
	free(b);
}

static size_t limit_of(struct fs *fs, struct node *n)
{
	if (blob_is_scratch(n))
		return SCRATCH_MAX - (size_t)fs->scratch_bytes + blob_of(n)->len;
	if (node_is(n, NODE_KERNEL_CO))
		return CO_MAX_SIZE;
	return node_is(n, NODE_PLAN_JSON) ? PLAN_MAX_JSON : SOURCE_MAX;
}

int blob_resize(struct fs *fs, struct node *n, uint64_t len)
{
	struct blob *b = n->obj;

	if (len > limit_of(fs, n))
		return blob_is_scratch(n) ? -ENOSPC : -EFBIG;
	if (len > b->cap) {
		size_t cap = MAX((size_t)len, b->cap * 2);
		char *data = realloc(b->data, cap);

		if (!data)
			return -ENOMEM;
		b->data = data;
		b->cap = cap;
	}
	if (len > b->len)
		memset(b->data + b->len, 0, (size_t)len - b->len);
	if (blob_is_scratch(n))
		fs->scratch_bytes += len - b->len;
	b->len = n->size = len;
	b->seq++;
	node_touch(n);
	return 0;
}

int blob_set(struct fs *fs, struct node *n, const void *data, size_t len)
{
	int err = blob_resize(fs, n, len);

	if (!err && len)
		memcpy(blob_of(n)->data, data, len);
	return err;
}

int blob_read(struct request *r)
{
	struct blob *b = r->node->obj;
	size_t n = 0;

	fs_lock(r->fs);
	if (r->offset < b->len) {
		n = MIN(r->size, b->len - (size_t)r->offset);
		memcpy(r->data, b->data + r->offset, n);
	}
	fs_unlock(r->fs);
	return (int)n;
}

int blob_write(struct request *r)
{
	struct blob *b = r->node->obj;
	uint64_t end = r->offset + r->size;
	int err = 0;

	fs_lock(r->fs);
	if (end > b->len)
		err = blob_resize(r->fs, r->node, end);
	if (!err) {
		memcpy(b->data + r->offset, r->data, r->size);
		b->seq++;
		node_touch(r->node);
	}
	fs_unlock(r->fs);
	return err ? err : (int)r->size;
}

int blob_truncate(struct request *r)
{
	struct blob *b = r->node->obj;

	fs_lock(r->fs);
	int err = r->offset == b->len ? 0 : blob_resize(r->fs, r->node, r->offset);
	fs_unlock(r->fs);
	return err;
}

struct node *blob_add(struct fs *fs, struct node *dir, const char *name, enum node_id type,
        const void *data, size_t len)
{
	struct blob *b = calloc(1, sizeof(*b));
	struct node *n = b ? tree_add(fs, dir, name, type) : NULL;

	if (!n) {
		free(b);
		return NULL;
	}
	n->obj = b;
	if (blob_set(fs, n, data, len) == 0)
		return n;
	tree_unlink(fs, n);
	return NULL;
}

int blob_create(struct request *r, enum node_id type)
{
	fs_lock(r->fs);
	r->child = blob_add(r->fs, r->node, r->name, type, NULL, 0);
	if (r->child) {
		node_get(r->child);
		r->child->mode = r->mode;
		r->child->uid = r->uid;
		r->child->gid = r->gid;
	}
	fs_unlock(r->fs);
	return r->child ? 0 : -ENOMEM;
}

char *blob_copy(struct fs *fs, struct node *n, size_t *len)
{
	fs_lock(fs);
	struct blob *b = n->obj;
	char *copy = malloc(b->len + 1);

	if (copy) {
		if (b->len)
			memcpy(copy, b->data, b->len);
		copy[b->len] = '\0';
		*len = b->len;
	}
	fs_unlock(fs);
	return copy;
}

void blob_retype(struct fs *fs, struct node *n, enum node_id type)
{
	if (blob_is_scratch(n))
		fs->scratch_bytes -= blob_of(n)->len;
	n->type = &node_types[type];
	if (blob_is_scratch(n))
		fs->scratch_bytes += blob_of(n)->len;
}

int blob_text(struct fs *fs, struct node *n, struct text *out)
{
	(void)fs;
	text_append(out, blob_of(n)->data, blob_of(n)->len);
	return 0;
}

uint64_t blob_version(struct fs *fs, struct node *n)
{
	(void)fs;
	return blob_of(n)->seq;
}

const struct node_ops scratch_ops = {
        .destroy = blob_destroy,
        .read = blob_read,
        .write = blob_write,
        .truncate = blob_truncate,
};
