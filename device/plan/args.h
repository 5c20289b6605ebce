/* args.h - argument blocks of dispatches: from JSON, checked against the kernel's own metadata.
 * Private to plan/. */
#ifndef RX_PLAN_ARGS_H
#define RX_PLAN_ARGS_H

#include <jansson.h>

#include "device/plan/plan_priv.h"

struct plan_parser {
	struct rx580 *rx;
	struct rx_kernels *kernels;
	char *why;
	size_t why_size;
};

/* plan_parse_place - "buffer" or "buffer+bytes" with @bytes bytes there. Return: 0; -EINVAL;
 * -ENOENT. */
int plan_parse_place(struct plan_parser *p, const char *text, const char *where, uint64_t bytes,
        struct plan_place *out);
/* plan_parse_args - fill d->args, d->fixups and d->local_bytes. @where: JSON path of the dispatch.
 */
int plan_parse_args(
        struct plan_parser *p, const json_t *args, const char *where, struct plan_dispatch *d);

#endif
