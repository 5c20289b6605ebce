/* dispatch.h - the choke point: every request on a file passes here once and is checked against the
 * node table, so that node code only does its work.
 */
#ifndef FS_DISPATCH_H
#define FS_DISPATCH_H

#include "fs/request.h"

/* dispatch - check @r, then run it here (nodes that need no card) or queue it for the owner.
 * Always ends in request_finish(), now or later. Session thread.
 */
void dispatch(struct request *r);
/* dispatch_body - what the node does for @r. */
int dispatch_body(struct request *r);

#endif
