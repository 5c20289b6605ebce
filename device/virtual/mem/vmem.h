/* vmem.h - the virtual card's memory: DRAM, one L2, and first-level caches that keep stale lines
 * until told otherwise.
 *
 * Addresses are VRAM byte offsets. Pages are 4 KiB, all images sparse; untouched DRAM reads as
 * noise.
 *  - DRAM is what HDP and uncached command-processor accesses see (resident-plans.md 15.2).
 *  - L2 holds copies of DRAM pages, filled at first use, kept for ever; shader stores mark bytes
 * dirty here. Nothing reaches DRAM before a write-back. An invalidate without write-back loses
 * dirty bytes, as on gfx8.
 *  - A client is one vector L1, scalar cache or instruction cache. It reads L2 as of the moment it
 * first touched a page after its last invalidate: when another client stores to a page it holds, it
 * keeps a private old copy. Own stores go through and are seen by the client itself. Threads:
 * clients are used by one thread each; every other call may come from any thread. Model, not
 * measurement: sizes, associativity and random eviction of real caches are not played.
 */
#ifndef VMEM_H
#define VMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VMEM_PAGE_SHIFT  12
#define VMEM_PAGE_SIZE   (1u << VMEM_PAGE_SHIFT)
#define VMEM_MAX_CLIENTS 32

struct vmem;
struct vmem_client;

/* vmem_new - @size: bytes of VRAM, a multiple of the page size. Return: 0; -ENOMEM. */
int vmem_new(struct vmem **out, uint64_t size);
void vmem_free(struct vmem *m);
uint64_t vmem_size(const struct vmem *m);

/* vmem_scramble - forget everything: all DRAM becomes fresh noise, caches empty (power-up, full
 * chip reset). */
void vmem_scramble(struct vmem *m);

/* DRAM view. Return: 0; -EFAULT outside VRAM (nothing transferred). */
int vmem_dram_read(struct vmem *m, uint64_t off, void *buf, size_t len);
int vmem_dram_write(struct vmem *m, uint64_t off, const void *buf, size_t len);

/* L2 view, for CP accesses with dst_sel/src_sel 2 and cached polls. A write marks bytes dirty.
 * Return as above. */
int vmem_l2_read(struct vmem *m, uint64_t off, void *buf, size_t len);
int vmem_l2_write(struct vmem *m, uint64_t off, const void *buf, size_t len);
/* vmem_l2_present - whether the L2 holds the page of @off. */
bool vmem_l2_present(struct vmem *m, uint64_t off);

/* vmem_l2_writeback - copy dirty bytes of all pages to DRAM; pages stay, clean. */
void vmem_l2_writeback(struct vmem *m);
/* vmem_l2_invalidate - drop all pages; dirty bytes not written back are lost (count returned, for
 * guest errors). */
uint64_t vmem_l2_invalidate(struct vmem *m);
/* vmem_l2_flush - write back and drop all pages as one step: a store of another thread is either in
 * DRAM or still in L2, never lost in between (TC_ACTION with TC_WB_ACTION, resident-plans.md 5). */
void vmem_l2_flush(struct vmem *m);

/* Atomics execute in L2 and return the old value. @off aligned to the operand. @op as MUBUF/FLAT
 * atomic opcode order. */
enum vmem_atomic {
	VMEM_ATOMIC_SWAP,
	VMEM_ATOMIC_CMPSWAP,
	VMEM_ATOMIC_ADD,
	VMEM_ATOMIC_SUB,
	VMEM_ATOMIC_SMIN,
	VMEM_ATOMIC_UMIN,
	VMEM_ATOMIC_SMAX,
	VMEM_ATOMIC_UMAX,
	VMEM_ATOMIC_AND,
	VMEM_ATOMIC_OR,
	VMEM_ATOMIC_XOR,
	VMEM_ATOMIC_INC,
	VMEM_ATOMIC_DEC,
};
/* vmem_atomic - @bytes: 4 or 8. Return: 0; -EFAULT outside VRAM or misaligned. */
int vmem_atomic(struct vmem *m, enum vmem_atomic op, unsigned bytes, uint64_t off, uint64_t data,
        uint64_t compare, uint64_t *old);

/* vmem_change_count - grows whenever DRAM changes; vmem_wait_change sleeps until it differs from
 * @seen or @timeout_us. */
uint64_t vmem_change_count(struct vmem *m);
void vmem_wait_change(struct vmem *m, uint64_t seen, unsigned timeout_us);

/* Clients. Owned by the vmem. Return: NULL when VMEM_MAX_CLIENTS are taken. */
struct vmem_client *vmem_client_new(struct vmem *m);
void vmem_client_invalidate(struct vmem_client *c);
/* vmem_clients_invalidate - invalidate from another thread (CP cache actions); takes effect before
 * its next access. */
void vmem_client_invalidate_async(struct vmem_client *c);

/* vmem_load - pointer to the byte at @off as client @c sees it, valid to the end of its page and
 * until the client's next call. NULL outside VRAM. */
const uint8_t *vmem_load(struct vmem_client *c, uint64_t off);
/* vmem_store - copy @len bytes (not crossing a page) through the client into L2, marking them
 * dirty. Return: 0; -EFAULT. */
int vmem_store(struct vmem_client *c, uint64_t off, const void *data, size_t len);

#endif
