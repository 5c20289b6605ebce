/* keep_large.c - see keep_large.h. */
#include "fs/keep_large.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "fs/blob.h"
#include "fs/nodes.h"
#include "fs/options.h"
#include "fs/owners.h"
#include "fs/plans.h"

#define LARGE_PIECES 32u

struct large {
	struct job job; /* first */
	struct fs *fs;
	struct node *node;   /* a reference */
	uint64_t seq;        /* of its content when this began */
	unsigned generation; /* of the card */
	struct rx_keeping keeping;
	uint8_t piece[RX_PIECE_MAX];
};

bool keep_is_large(struct fs *fs, size_t len)
{
	struct rx_info info;

	if (!fs->rx)
		return false; /* nor is it kept */
	rx_read_info(fs->rx, &info);
	return len > LARGE_PIECES * rx_piece(&info);
}

/* name_of - of the record's entry for @l->node: owners.h has the rule. */
static bool name_of(struct fs *fs, struct node *n, struct rx_kept *k)
{
	fs_lock(fs);
	bool is = n->linked && owner_entry(n, &k->kind, k->name, sizeof(k->name));

	k->owner = owner_of(n);
	fs_unlock(fs);
	return is;
}

/* same_card - the one this began on; another has counted anew. */
static bool same_card(const struct large *l)
{
	return l->generation == l->fs->generation && l->fs->rx;
}

/* end - @err: it should have been kept and is not, which was said. */
static void end(struct large *l, bool kept, int err)
{
	struct fs *fs = l->fs;

	if (!kept && same_card(l))
		rx_keep_cancel(fs->rx, &l->keeping);
	fs_lock(fs);
	if (!err && l->generation == fs->generation)
		fs->not_kept--;
	node_put(fs, l->node);
	fs_unlock(fs);
	free(l);
}

/* next_piece - Return: its length; 0: the file is not what it was, or all of it is there. */
static size_t next_piece(struct large *l)
{
	struct fs *fs = l->fs;
	struct rx_info info;
	size_t n = 0;

	rx_read_info(fs->rx, &info);
	fs_lock(fs);
	struct blob *b = blob_of(l->node);

	if (l->node->linked && b->seq == l->seq && l->keeping.done < b->len) {
		n = MIN(rx_piece(&info), b->len - l->keeping.done);
		memcpy(l->piece, b->data + l->keeping.done, n);
	}
	fs_unlock(fs);
	return n;
}

/* entry - as it is now; the words of a plan, too. Return: false: it is gone. */
static bool entry(struct large *l, struct rx_kept *k)
{
	if (!name_of(l->fs, l->node, k))
		return false;
	if (k->kind != 'p')
		return true;
	struct plan_file *f = plan_file_find(l->fs, k->name);
	struct rx_owner owner = k->owner;

	if (!f || !f->plan)
		return false;
	plan_kept(f->plan, k);
	k->owner = owner;
	return true;
}

static bool useless(const struct large *l)
{
	return !same_card(l) || (jobs_stopped(l->fs->jobs) && !l->fs->opt->keep);
}

/* step - Return: whether there is more to do. */
static bool step(struct large *l)
{
	size_t n = useless(l) ? 0 : next_piece(l);
	struct rx_kept k = {0};
	int err = n ? rx_keep_more(l->fs->rx, &l->keeping, l->piece, n) : 0;

	if (!err && n && l->keeping.done < l->keeping.bytes)
		return true;
	if (err || !n || !entry(l, &k)) {
		end(l, false, err);
		return false;
	}
	err = rx_keep_end(l->fs->rx, &l->keeping, &k);
	end(l, true, err); /* its note is the record's, also when that could not be written */
	return false;
}

static void run(struct job *job)
{
	struct large *l = (struct large *)job;

	while (step(l))
		if (jobs_put(l->fs->jobs, &l->job) == 0)
			return; /* when the queue is full or at its end, it goes on here */
}

void keep_large(struct fs *fs, struct node *node)
{
	struct rx_kept k = {0};
	struct large *l = name_of(fs, node, &k) && fs->rx ? calloc(1, sizeof(*l)) : NULL;

	if (!l)
		return;
	rx_forget(fs->rx, k.kind, k.name);
	fs_lock(fs);
	node_get(node);
	fs->not_kept++;
	*l = (struct large){.job = {.run = run, .priority = JOB_INTERACTIVE},
	        .fs = fs,
	        .node = node,
	        .seq = blob_of(node)->seq,
	        .generation = fs->generation};
	size_t bytes = blob_of(node)->len;
	fs_unlock(fs);
	int err = rx_keep_begin(fs->rx, &l->keeping, k.name, bytes);

	if (err)
		end(l, false, err);
	else
		run(&l->job);
}

void keep_named(struct fs *fs, struct node *node)
{
	fs_lock(fs);
	size_t len = blob_of(node)->len;
	fs_unlock(fs);
	if (keep_is_large(fs, len))
		keep_large(fs, node);
	else
		owner_keep(fs, node);
}
