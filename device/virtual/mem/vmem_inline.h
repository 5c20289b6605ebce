/* vmem_inline.h - the parts of the memory model that sit on the interpreter's hot path, and the
 * calls only executors use.
 *
 * A client's page table has one 64-bit word a page: epoch << 36 | host address >> 12. A word whose
 * epoch is not the client's current one is stale: the page is looked up again. Words are read
 * without a lock by their owner and replaced by other threads only with the page's lock held.
 */
#ifndef VMEM_INLINE_H
#define VMEM_INLINE_H

#include <string.h>

#include "device/virtual/mem/vmem.h"

#if defined(__SANITIZE_THREAD__)
#define VMEM_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define VMEM_TSAN 1
#endif
#endif

#define VMEM_EPOCH_SHIFT 36
#define VMEM_EPOCH_LAST  ((1u << (64 - VMEM_EPOCH_SHIFT)) - 1)

struct vmem_client {
	uint64_t *pages;  /* the page table, one word a page of VRAM */
	uint64_t epoch;   /* 1 .. VMEM_EPOCH_LAST; atomic */
	uint64_t cleaned; /* epoch at which old private copies were last given back */
	uint64_t npages;
	struct vmem *mem;
	uint32_t bit; /* in the sharer masks */
	/* private copies of pages other clients stored to; guarded by lock */
	int lock;
	struct vmem_private {
		uint64_t epoch;
		uint8_t *data;
	} *copies;
	size_t ncopies, capacity;
};

/* vmem_copy - copy guest bytes that another thread may be changing: guest races are legal, they
 * must not be ours. */
static inline void vmem_copy(void *dst, const void *src, size_t len)
{
#ifdef VMEM_TSAN
	for (size_t i = 0; i < len; i++) {
		uint8_t b = __atomic_load_n((const uint8_t *)src + i, __ATOMIC_RELAXED);
		__atomic_store_n((uint8_t *)dst + i, b, __ATOMIC_RELAXED);
	}
#else
	memcpy(dst, src, len);
#endif
}

static inline uint32_t vmem_get32(const uint8_t *p)
{
	uint32_t v;

	vmem_copy(&v, p, sizeof(v));
	return v;
}

/* vmem_load_fast - vmem_load() with the page table walk inline. */
static inline const uint8_t *vmem_load_fast(struct vmem_client *c, uint64_t off)
{
	uint64_t page = off >> VMEM_PAGE_SHIFT;

	if (__builtin_expect(page < c->npages, 1)) {
		uint64_t word = __atomic_load_n(&c->pages[page], __ATOMIC_ACQUIRE);

		if (__builtin_expect(word >> VMEM_EPOCH_SHIFT ==
		                             __atomic_load_n(&c->epoch, __ATOMIC_RELAXED),
		            1))
			return (const uint8_t *)(uintptr_t)(word << VMEM_PAGE_SHIFT &
			                                    ((UINT64_C(1) << 48) - 1)) +
			       (off & (VMEM_PAGE_SIZE - 1));
	}
	return vmem_load(c, off);
}

/* vmem_prefetch - have the host fetch what vmem_load_fast() will give, if the client has the page.
 */
static inline void vmem_prefetch(const struct vmem_client *c, uint64_t off)
{
	uint64_t page = off >> VMEM_PAGE_SHIFT, word;

	if (page >= c->npages)
		return;
	word = __atomic_load_n(&c->pages[page], __ATOMIC_RELAXED);
	if (word >> VMEM_EPOCH_SHIFT)
		__builtin_prefetch((const uint8_t *)(uintptr_t)(word << VMEM_PAGE_SHIFT &
		                                                ((UINT64_C(1) << 48) - 1)) +
		                   (off & (VMEM_PAGE_SIZE - 1)));
}

/* vmem_load_l2 - like vmem_load() for accesses that bypass the first level (GLC = 1): what L2 holds
 * now. */
const uint8_t *vmem_load_l2(struct vmem_client *c, uint64_t off);

/* vmem_client_atomic - vmem_atomic() by a client, which sees its own result afterwards. */
int vmem_client_atomic(struct vmem_client *c, enum vmem_atomic op, unsigned bytes, uint64_t off,
        uint64_t data, uint64_t compare, uint64_t *old);

/* vmem_atomic_apply - what an atomic leaves behind where @old was; used for atomics on LDS too. */
uint64_t vmem_atomic_apply(
        enum vmem_atomic op, unsigned bytes, uint64_t old, uint64_t data, uint64_t compare);

/* vmem_scatter - one store a lane: lane l of @mask stores @bytes bytes of @data[l] at @base +
 * @rel[l]. Return: 64; else the lane that is outside VRAM (the lanes before it are stored). */
unsigned vmem_scatter(struct vmem_client *c, uint64_t base, const uint32_t *rel, uint64_t mask,
        const uint32_t (*data)[4], size_t bytes);

#endif
