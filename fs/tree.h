/* tree.h - nodes of the mount: what fs/tree.def lists, instantiated, plus what users create.
 * Everything here is protected by fs->lock. A node lives until nobody needs it: it is linked, or
 * the kernel knows it, or a handle or request refers to it; each of these counts in refs.
 */
#ifndef FS_TREE_H
#define FS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "fs/text.h"

struct fs;
struct node;
struct handle;
struct request;
struct verb;

enum node_kind {
	K_DIR,
	K_LINK,
	K_TEXT,    /* formatted from memory; a snapshot per open */
	K_COMMAND, /* lines of verbs; the offset means nothing */
	K_DATA,    /* bytes with real offsets, direct_io */
	K_CACHED,  /* immutable bytes, page cache */
	K_GROWING, /* append-only text, real offsets */
};

enum node_flags {
	N_DAEMON = 1,       /* lives in the daemon: works without a card */
	N_DYNAMIC = 2,      /* instantiated by name, not when the tree is built */
	N_SESSION = 4,      /* its bodies never need the card: run on the session thread */
	N_BACKGROUND = 8,   /* its jobs wait for everybody else's */
	N_FEED = 16,        /* plan feeding: ahead of interactive jobs */
	N_KEPT = 32,        /* created by users: modes, owners and times are kept */
	N_PLAIN_RANGE = 64, /* the choke point clamps to the size */
	N_MEMORY = 128,     /* bytes in host memory: open, read, write on the session thread */
};

enum size_rule { S_TEXT, S_EXACT, S_GROWS, S_ZERO, S_NONE };
enum poll_rule { P_READY, P_PRI, P_GROWS, P_OWN, P_NONE };

/* What a node does. Bodies get a request and return a count or 0, -errno, or REQUEST_PARK; they run
 * on the owner thread (the session thread for N_SESSION types) without fs->lock. */
struct node_ops {
	/* Called with fs->lock held; memory only. */
	int (*text)(struct fs *fs, struct node *n, struct text *out);
	uint64_t (*version)(struct fs *fs, struct node *n); /* NULL: hash of the text */
	unsigned (*poll)(struct fs *fs, struct node *n, struct handle *h);
	void (*destroy)(struct fs *fs, struct node *n); /* the last reference is gone */
	struct growing *(*growing)(struct fs *fs, struct node *n);

	int (*open)(struct request *r);
	int (*read)(struct request *r); /* fills r->data, at most r->size */
	int (*write)(struct request *r);
	int (*truncate)(struct request *r); /* to r->offset; NULL: accepted and ignored */
	int (*allocate)(struct request *r);
	int (*copy)(struct request *r); /* node -> node2 */
	int (*flush)(struct request *r);
	int (*fsync)(struct request *r);
	int (*release)(struct request *r); /* nobody waits for it */
	const struct verb *verbs;          /* K_COMMAND */

	/* On folders. create: adds r->name, sets r->child (a reference). */
	int (*create)(struct request *r);
	int (*unlink)(struct request *r); /* r->child: the victim */
	int (*rename)(struct request *r); /* r->child: what moves, r->name2: where to */
};

/* One row of tree.def. */
struct node_type {
	const char *path;
	enum node_kind kind;
	mode_t mode;
	unsigned flags;
	enum size_rule size;
	unsigned align; /* of offset and length */
	enum poll_rule poll;
	const struct node_ops *ops;
	const char *help;
};

enum node_id {
#define NODE(id, ...) NODE_##id,
#include "fs/tree.def"
#undef NODE
	NODE_COUNT
};

extern const struct node_type node_types[NODE_COUNT];

struct node {
	/* Changes only when a temporary file in kernels/ is renamed to a source or back. */
	const struct node_type *_Atomic type;
	struct node *parent, *children, *sibling; /* children in order of creation */
	struct node *prev_all, *next_all;         /* fs->nodes */
	char *name;
	char *target; /* K_LINK */
	uint64_t ino;
	uint64_t refs, nlookup;
	unsigned opens; /* handles */
	bool linked;
	mode_t mode; /* permission bits */
	uid_t uid;
	gid_t gid;
	struct timespec mtime;
	uint64_t size;  /* S_EXACT; fixed sizes are set when the tree is built */
	uint64_t shown; /* K_TEXT: length of the newest snapshot while somebody has it open */
	void *obj;      /* the type's own */
};

int tree_build(struct fs *fs);
void tree_free(struct fs *fs);

/* tree_add - a node of @type called @name in @dir; linked, no other reference. NULL: no memory. */
struct node *tree_add(struct fs *fs, struct node *dir, const char *name, enum node_id type);
/* tree_add_path - the same with the type's last path component as its name. */
struct node *tree_add_default(struct fs *fs, struct node *dir, enum node_id type);
struct node *tree_find(struct node *dir, const char *name); /* NULL: absent */
/* tree_unlink - take it (and, for a folder, all below it) out of the tree. */
void tree_unlink(struct fs *fs, struct node *n);
/* tree_move - rename within or between folders; a node already there must have been unlinked. */
int tree_move(struct fs *fs, struct node *n, struct node *dir, const char *name);
void node_get(struct node *n);
void node_put(struct fs *fs, struct node *n);
void node_forget(struct fs *fs, struct node *n, uint64_t nlookup);
void node_touch(struct node *n); /* mtime = now */

static inline bool node_is(const struct node *n, enum node_id id)
{
	return n->type == &node_types[id];
}

/* tree_size - st_size per the size rule; formats a text node. fs->lock held. */
uint64_t tree_size(struct fs *fs, struct node *n);
void tree_stat(struct fs *fs, struct node *n, struct stat *st);

#endif
