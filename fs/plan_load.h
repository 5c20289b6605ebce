/* plan_load.h - plans on their way to the card: the close or rename that asked for it drives the
 * load piece by piece and waits; who gives up takes the load with him (docs/interface.md, "Rules").
 * Owner thread.
 */
#ifndef FS_PLAN_LOAD_H
#define FS_PLAN_LOAD_H

#include "fs/plans.h"

/* plan_load_drive - body of such a request: the next piece of loading the content of @n as plan
 * @name. @check: may the plan still appear? Called before the step that cannot be taken back, and
 * at the start. Return: REQUEST_PARK; 0 the plan is there; -errno it is not, and what was resident
 * under that name stays. */
int plan_load_drive(
        struct request *r, struct node *n, const char *name, int (*check)(struct request *r));
/* plan_load_now - all at once, for plans of an earlier owner of the card. */
int plan_load_now(struct fs *fs, const char *name, const char *json, size_t len);
/* plan_loads_sweep - after every round of the owner: forget loads that nobody drove in it. */
void plan_loads_sweep(struct fs *fs);
/* plan_loads_drop - the card is being closed. */
void plan_loads_drop(struct fs *fs);

#endif
