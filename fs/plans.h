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
	int service_err;       /* of the last look; 0: the card answers */
	struct handle *writer; /* who has `run` open for writing; fs->lock */
};

/* plan_file_find - by name; NULL: none. */
struct plan_file *plan_file_find(struct fs *fs, const char *name);
/* plan_file_new - the folder of @name with its status; the rest comes when it is resident:
 * plan_file_show. NULL: no memory. */
struct plan_file *plan_file_new(struct fs *fs, const char *name);
int plan_file_show(struct fs *fs, struct plan_file *f, struct plan *plan);
/* plan_file_failed - a load failed: say why where people look. */
void plan_file_failed(struct fs *fs, const char *name, const char *why);
bool plan_file_running(struct plan_file *f);
/* plan_file_unload - and take its folder away. Return: 0; -EBUSY. */
int plan_file_unload(struct fs *fs, struct plan_file *f);
/* plan_file_remove - take its folder away; the plan is unloaded. */
void plan_file_remove(struct fs *fs, struct plan_file *f);
/* plans.c: plan_file_collect - records into `loss`, finished submissions to their handle. */
void plan_file_collect(struct fs *fs, struct plan_file *f);
/* plan_file_service - plan_service now; also collects. */
void plan_file_service(struct fs *fs, struct plan_file *f);

/* plan_file_keep - the next owner of the card finds it, with its text. @sent: which is in VRAM
 * already; NULL: not yet. */
void plan_file_keep(
        struct fs *fs, struct plan_file *f, const char *json, size_t len, struct rx_keeping *sent);
/* How long somebody waits for a step boundary: the step may be long, and its deadline is the plan's
 * (below the 10 s of interface.md 0, rule 3). */
#define PLAN_BOUNDARY_MS 8000

/* nodes_plan_io.c: report to the writer of `run`. */
void plan_run_update(struct fs *fs, struct plan_file *f);

#endif
