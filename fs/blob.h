/* blob.h - files in host memory: kernel sources, plan descriptions, temporary names, products.
 * Bodies run on the session thread (N_MEMORY): they never wait for the card.
 */
#ifndef FS_BLOB_H
#define FS_BLOB_H

#include "fs/request.h"

#define SOURCE_MAX  (4u << 20)  /* interface.md 6, kernels/NAME.cl */
#define SCRATCH_MAX (16u << 20) /* all temporary names together */

/* Content of such a node (node->obj). fs->lock. */
struct blob {
	char *data;
	size_t len, cap;
	uint64_t seq;      /* counts changes of the content */
	uint64_t started;  /* seq of the newest source given to the compiler */
	uint64_t compiled; /* seq of the newest verdict */
	int verdict;
};

static inline struct blob *blob_of(struct node *n)
{
	return n->obj;
}

/* blob_add - a node with a copy of @data. fs->lock held. NULL: no memory. */
struct node *blob_add(struct fs *fs, struct node *dir, const char *name, enum node_id type,
        const void *data, size_t len);
/* blob_create - the same, empty, for request @r (mode, owner); sets r->child. */
int blob_create(struct request *r, enum node_id type);
/* blob_resize - zero filled. fs->lock held. Return: 0; -EFBIG; -ENOSPC temporary names; -ENOMEM. */
int blob_resize(struct fs *fs, struct node *n, uint64_t len);
/* blob_set - replace the content. fs->lock held. */
int blob_set(struct fs *fs, struct node *n, const void *data, size_t len);
/* blob_copy - content as it is now, 0-terminated, the caller's. Takes the lock. NULL: no memory. */
char *blob_copy(struct fs *fs, struct node *n, size_t *len);
/* blob_retype - @n becomes @type: temporary names count against SCRATCH_MAX. fs->lock held. */
void blob_retype(struct fs *fs, struct node *n, enum node_id type);
bool blob_is_scratch(const struct node *n);

/* for node_ops */
void blob_destroy(struct fs *fs, struct node *n);
int blob_read(struct request *r);
int blob_write(struct request *r);
int blob_truncate(struct request *r);
int blob_text(struct fs *fs, struct node *n, struct text *out);
uint64_t blob_version(struct fs *fs, struct node *n);
extern const struct node_ops scratch_ops;

#endif
