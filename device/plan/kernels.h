/* kernels.h - code objects resident on the card by name: what kernels/NAME.co is to a plan.
 * Owner thread. Code has its place from the first pin on and is freed when replaced or removed
 * while unpinned.
 */
#ifndef RX_KERNELS_H
#define RX_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/compile/code_object.h"
#include "device/rx580.h"

struct rx_kernels;
struct rx_module;
struct plan;

int rx_kernels_new(struct rx_kernels **out, struct rx580 *rx);
void rx_kernels_free(struct rx_kernels *k);

/* rx_module_put - publish (or replace) module @name; @elf is copied. Return: 0; -EINVAL with @why;
 * -EBUSY pinned; -ENOMEM. */
int rx_module_put(struct rx_kernels *k, const char *name, const void *elf, size_t len, char *why,
        size_t why_size);
int rx_module_remove(struct rx_kernels *k, const char *name); /* -ENOENT; -EBUSY pinned */
struct rx_module *rx_module_find(struct rx_kernels *k, const char *name);
const struct code_object *rx_module_code(const struct rx_module *m);

/* rx_module_pin - give the code its place and keep it. @base: VRAM offset of the loaded image.
 * Return: 0; -ENOSPC. */
int rx_module_pin(struct rx_module *m, uint64_t *base);
/* rx_module_send - the next piece of a pinned module's code, @bytes of it, a multiple of 4. The
 * card sees it after the next submission or flush. Return: 1 there is more; 0 all is there; link
 * errors. */
int rx_module_send(struct rx_module *m, size_t bytes);
void rx_module_unpin(struct rx_module *m);

/* rx_plan_queue_owner - the plan whose ring the one plan queue runs on, NULL when nobody's. */
struct plan *rx_plan_queue_owner(const struct rx_kernels *k);
void rx_set_plan_queue_owner(struct rx_kernels *k, struct plan *p);

#endif
