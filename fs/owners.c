/* owners.c - see owners.h. */
#include "fs/owners.h"

#include <stdio.h>
#include <string.h>

#include "device/bytes.h"
#include "fs/nodes.h"

/* Nodes whose names, without @suffix, are those of the record. */
static const struct {
	enum node_id type;
	char kind;
	const char *suffix;
} kept[] = {
        {NODE_BUFFER, 'b', ""},
        {NODE_KERNEL_CL, 'k', ""},
        {NODE_KERNEL_CO, 'k', ""},
        {NODE_PLAN_JSON, 'p', ".json"},
        {NODE_CHECKPOINT, 'c', ".safetensors"},
};

struct rx_owner owner_of(const struct node *n)
{
	return (struct rx_owner){
	        .known = true, .mode = (uint16_t)n->mode, .uid = n->uid, .gid = n->gid};
}

void owner_apply(struct node *n, const struct rx_owner *owner)
{
	if (!owner->known)
		return;
	n->mode = owner->mode;
	n->uid = owner->uid;
	n->gid = owner->gid;
}

static size_t kept_row(const struct node *n)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(kept) && !node_is(n, kept[i].type))
		i++;
	return i;
}

bool owner_is_kept(const struct node *n)
{
	return kept_row(n) < ARRAY_SIZE(kept);
}

bool owner_entry(const struct node *n, char *kind, char *name, size_t size)
{
	size_t row = kept_row(n), len = strlen(n->name);

	if (row == ARRAY_SIZE(kept) || len <= strlen(kept[row].suffix))
		return false;
	*kind = kept[row].kind;
	snprintf(name, size, "%.*s", (int)(len - strlen(kept[row].suffix)), n->name);
	return true;
}

void owner_keep(struct fs *fs, struct node *n)
{
	char kind, name[80];

	if (!owner_is_kept(n) || !fs->rx)
		return;
	if (node_is(n, NODE_BUFFER)) {
		buffer_keep(fs, n);
		return;
	}
	fs_lock(fs);
	struct rx_owner owner = owner_of(n);
	bool is = n->linked && owner_entry(n, &kind, name, sizeof(name));
	fs_unlock(fs);
	if (is)
		rx_keep_owner(fs->rx, kind, name, &owner); /* has said why not */
}
