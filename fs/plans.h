/* plans.h - what the files of plans/NAME/ share: one plan, or the reason why it is not resident.
 * Owner thread, except fields that say fs->lock.
 */
#ifndef FS_PLANS_H
#define FS_PLANS_H

#include "device/plan/plan.h"
#include "fs/request.h"

#define PLAN_QUEUE 64 /* submissions of one writer, interface.md 6, run */

struct plan_file {
	struct plan_file *next; /* fs->plans: those whose folder exists */
	unsigned refs;          /* nodes; fs->lock */
	char name[65];
	struct plan *plan; /* NULL: not resident; changed with fs->lock held */
	char why[512];     /* of the last load that failed; fs->lock */
	struct node *dir;
	unsigned busy; /* inside calls that yield: must not be unloaded */
	struct growing loss;
	uint64_t records;   /* collected so far */
	bool last_failed;   /* the last record is that of a failed step */
	uint64_t submitted; /* records there will be when all submissions are done */
	uint64_t next_seq;
	uint64_t next_service_ns;
	struct handle *writer; /* who has `run` open for writing; fs->lock */
};

/* plan_file_find - by name; NULL: none. */
struct plan_file *plan_file_find(struct fs *fs, const char *name);
/* plan_file_remove - take its folder away; the plan is unloaded. */
void plan_file_remove(struct fs *fs, struct plan_file *f);
/* plans.c: plan_file_collect - records into `loss`, finished submissions to their handle. */
void plan_file_collect(struct fs *fs, struct plan_file *f);
/* plan_file_service - plan_service now; also collects. */
void plan_file_service(struct fs *fs, struct plan_file *f);

/* plan_file_keep - the next owner of the card finds it, with its text. */
void plan_file_keep(struct fs *fs, struct plan_file *f, const char *json, size_t len);
/* plan_file_keep_named - what plan_file_keep could not do before the plan in @n, which is loaded,
 * had its name. */
void plan_file_keep_named(struct fs *fs, struct node *n);

/* nodes_plan_io.c: report to the writer of `run`. */
void plan_run_update(struct fs *fs, struct plan_file *f);

#endif
