/* owners.h - whose files they are, from one owner of the card to the next: mode, user and group of
 * everything that is kept (rx580.h, "Warm attach"), and the attributes of buffers.
 */
#ifndef FS_OWNERS_H
#define FS_OWNERS_H

#include "fs/fs.h"

/* owner_of - as the record wants it. fs->lock held. */
struct rx_owner owner_of(const struct node *n);
/* owner_apply - what the record says about @n, if anything. fs->lock held. */
void owner_apply(struct node *n, const struct rx_owner *owner);
/* owner_is_kept - whether files of this kind are kept at all. Any thread. */
bool owner_is_kept(const struct node *n);
/* owner_entry - kind and name of the record's entry for @n. fs->lock held. Return: false: it is of
 * no kind that is kept. */
bool owner_entry(const struct node *n, char *kind, char *name, size_t size);
/* owner_keep - tell the next owner of the card. Nothing happens when the file itself is not kept,
 * or not yet. Owner thread. */
void owner_keep(struct fs *fs, struct node *n);

#endif
