/* vmem_priv.h - state shared by the files of the memory model. Private to mem/. */
#ifndef VMEM_PRIV_H
#define VMEM_PRIV_H

#include <pthread.h>
#include <sched.h>

#include "device/bytes.h"
#include "device/virtual/mem/vmem.h"
#include "device/virtual/mem/vmem_inline.h"

/* per page, guarded by the page's lock */
#define PAGE_NOISE  1u /* DRAM image holds data (noise was filled in, or written) */
#define PAGE_L2     2u /* L2 holds the page */
#define PAGE_FILLED 4u /* the L2 image was filled at least once */
#define PAGE_LISTED 8u /* the page is in the list of dirty pages */

#define VMEM_STRIPES 1024u /* page locks; a page uses lock page % stripes */

struct vmem_lock {
	int held;
	char pad[60]; /* one lock a host cache line */
};

/* A growing set of page numbers; two buffers, so that one can be walked while the other grows. */
struct page_list {
	uint32_t *pages[2];
	uint32_t count[2];
	unsigned active;
	int lock;
};

struct vmem {
	uint64_t size, npages;
	uint8_t *dram, *l2;
	uint64_t *dirty;   /* one bit a byte of L2 */
	uint8_t *state;    /* PAGE_*, one byte a page */
	uint32_t *sharers; /* clients whose page table points into the L2 image */
	struct vmem_lock stripes[VMEM_STRIPES];
	struct page_list present, dirty_pages;
	pthread_mutex_t flush; /* one walk of the lists at a time */
	uint64_t generation;   /* of the noise; changes with every scramble */
	/* clients */
	pthread_mutex_t clients_lock;
	struct vmem_client *clients[VMEM_MAX_CLIENTS];
	unsigned nclients;
	/* free pages for private copies */
	int pool_lock;
	uint8_t **pool;
	size_t npool, pool_capacity;
	void **arenas;
	size_t narenas;
	/* DRAM changes */
	uint64_t changes; /* atomic */
	unsigned waiters; /* guarded by change_lock, read without */
	pthread_mutex_t change_lock;
	pthread_cond_t changed;
};

static inline void spin_lock(int *l)
{
	for (unsigned n = 0; __atomic_exchange_n(l, 1, __ATOMIC_ACQUIRE); n++)
		while (__atomic_load_n(l, __ATOMIC_RELAXED))
			if (++n % 64 == 0)
				sched_yield(); /* the holder may have been descheduled */
}

static inline void spin_unlock(int *l)
{
	__atomic_store_n(l, 0, __ATOMIC_RELEASE);
}

static inline void page_lock(struct vmem *m, uint64_t page)
{
	spin_lock(&m->stripes[page % VMEM_STRIPES].held);
}

static inline void page_unlock(struct vmem *m, uint64_t page)
{
	spin_unlock(&m->stripes[page % VMEM_STRIPES].held);
}

static inline uint8_t *dram_page(struct vmem *m, uint64_t page)
{
	return m->dram + (page << VMEM_PAGE_SHIFT);
}

static inline uint8_t *l2_page(struct vmem *m, uint64_t page)
{
	return m->l2 + (page << VMEM_PAGE_SHIFT);
}

void *vmem_map(size_t bytes);
int page_list_init(struct page_list *l, uint64_t npages);
void page_list_fini(struct page_list *l, uint64_t npages);
void page_list_add(struct page_list *l, uint64_t page);

/* With the page's lock held. */
void vmem_dram_touch(struct vmem *m, uint64_t page);
void vmem_l2_fill(struct vmem *m, uint64_t page);
void vmem_l2_mark(struct vmem *m, uint64_t page, unsigned first, size_t len);
/* vmem_divert - clients other than @keep that read the L2 image of @page directly get a private
 * copy of it. */
void vmem_divert(struct vmem *m, uint64_t page, uint32_t keep);

void vmem_notify_change(struct vmem *m);
void vmem_client_free(struct vmem_client *c);

#endif
