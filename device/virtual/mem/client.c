/* client.c - first-level caches. A client reads the L2 image in place for as long as nobody else
 * changes the page; the first foreign store gives it a private copy of the old page, which it keeps
 * until it invalidates.
 *
 * Loads take no lock: the page table word is read atomically, and what it points to stays mapped
 * for ever (images) or until the client's own next slow path (private copies). A load that races
 * with a foreign store may see either value.
 */
#include <sys/mman.h>

#include "device/err.h"
#include "device/virtual/mem/vmem_priv.h"

#define ARENA_PAGES 64u /* private copies allocated at a time */

struct vmem_client *vmem_client_new(struct vmem *m)
{
	struct vmem_client *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->mem = m;
	c->npages = m->npages;
	c->epoch = c->cleaned = 1;
	c->pages = vmem_map(m->npages * sizeof(uint64_t));
	pthread_mutex_lock(&m->clients_lock);
	if (!c->pages || m->nclients == VMEM_MAX_CLIENTS) {
		pthread_mutex_unlock(&m->clients_lock);
		vmem_client_free(c);
		return NULL;
	}
	c->bit = 1u << m->nclients;
	m->clients[m->nclients++] = c;
	pthread_mutex_unlock(&m->clients_lock);
	return c;
}

void vmem_client_free(struct vmem_client *c)
{
	if (c->pages)
		munmap(c->pages, c->npages * sizeof(uint64_t));
	free(c->copies);
	free(c);
}

void vmem_client_invalidate_async(struct vmem_client *c)
{
	spin_lock(&c->lock);
	if (c->epoch == VMEM_EPOCH_LAST) {
		/* the epoch starts again: no old word may look current */
		madvise(c->pages, c->npages * sizeof(uint64_t), MADV_DONTNEED);
		__atomic_store_n(&c->epoch, 1, __ATOMIC_RELEASE);
	} else {
		__atomic_store_n(&c->epoch, c->epoch + 1, __ATOMIC_RELEASE);
	}
	spin_unlock(&c->lock);
}

void vmem_client_invalidate(struct vmem_client *c)
{
	vmem_client_invalidate_async(c);
}

/* With pool_lock held. */
static bool pool_push(struct vmem *m, uint8_t *page)
{
	if (m->npool == m->pool_capacity) {
		size_t n = m->pool_capacity ? 2 * m->pool_capacity : 2 * ARENA_PAGES;
		uint8_t **pool = realloc(m->pool, n * sizeof(*pool));

		if (!pool)
			return false;
		m->pool = pool;
		m->pool_capacity = n;
	}
	m->pool[m->npool++] = page;
	return true;
}

static void pool_grow(struct vmem *m)
{
	void **arenas = realloc(m->arenas, (m->narenas + 1) * sizeof(*arenas));
	uint8_t *arena;

	if (!arenas)
		return;
	m->arenas = arenas;
	arena = aligned_alloc(VMEM_PAGE_SIZE, ARENA_PAGES * VMEM_PAGE_SIZE);
	if (!arena)
		return;
	m->arenas[m->narenas++] = arena;
	for (unsigned i = 0; i < ARENA_PAGES; i++)
		if (!pool_push(m, arena + i * VMEM_PAGE_SIZE))
			return;
}

static uint8_t *pool_get(struct vmem *m)
{
	uint8_t *page = NULL;

	spin_lock(&m->pool_lock);
	if (!m->npool)
		pool_grow(m);
	if (m->npool)
		page = m->pool[--m->npool];
	spin_unlock(&m->pool_lock);
	return page;
}

/* Remember that @c owns the copy @data made in @epoch. Without memory the copy is not made: the
 * client sees new data. */
static bool own_copy(struct vmem_client *c, uint64_t epoch, uint8_t *data)
{
	bool ok = true;

	spin_lock(&c->lock);
	if (c->ncopies == c->capacity) {
		size_t n = c->capacity ? 2 * c->capacity : 64;
		struct vmem_private *copies = realloc(c->copies, n * sizeof(*copies));

		ok = copies;
		if (ok) {
			c->copies = copies;
			c->capacity = n;
		}
	}
	if (ok)
		c->copies[c->ncopies++] = (struct vmem_private){epoch, data};
	spin_unlock(&c->lock);
	return ok;
}

/* Give back private copies of epochs gone by. Called by the client's own thread. */
static void give_back_copies(struct vmem_client *c, uint64_t epoch)
{
	struct vmem *m = c->mem;
	size_t kept = 0;

	spin_lock(&c->lock);
	for (size_t i = 0; i < c->ncopies; i++) {
		if (c->copies[i].epoch == epoch) {
			c->copies[kept++] = c->copies[i];
			continue;
		}
		spin_lock(&m->pool_lock);
		pool_push(m, c->copies[i].data);
		spin_unlock(&m->pool_lock);
	}
	c->ncopies = kept;
	c->cleaned = epoch;
	spin_unlock(&c->lock);
}

static uint64_t page_word(uint64_t epoch, const uint8_t *page)
{
	return epoch << VMEM_EPOCH_SHIFT | (uint64_t)(uintptr_t)page >> VMEM_PAGE_SHIFT;
}

/* The page as @c has cached it now; NULL when it has not. */
static uint8_t *cached_page(struct vmem_client *c, uint64_t page, uint64_t epoch)
{
	uint64_t word = __atomic_load_n(&c->pages[page], __ATOMIC_ACQUIRE);

	if (word >> VMEM_EPOCH_SHIFT != epoch)
		return NULL;
	return (uint8_t *)(uintptr_t)(word << VMEM_PAGE_SHIFT & ((UINT64_C(1) << 48) - 1));
}

static void divert_client(struct vmem_client *c, uint64_t page)
{
	struct vmem *m = c->mem;
	uint64_t epoch = __atomic_load_n(&c->epoch, __ATOMIC_ACQUIRE);
	uint8_t *copy;

	if (cached_page(c, page, epoch) != l2_page(m, page))
		return;
	copy = pool_get(m);
	if (!copy || !own_copy(c, epoch, copy))
		return;
	vmem_copy(copy, l2_page(m, page), VMEM_PAGE_SIZE);
	__atomic_store_n(&c->pages[page], page_word(epoch, copy), __ATOMIC_RELEASE);
}

void vmem_divert(struct vmem *m, uint64_t page, uint32_t keep)
{
	for (uint32_t others = m->sharers[page] & ~keep; others; others &= others - 1)
		divert_client(m->clients[__builtin_ctz(others)], page);
	m->sharers[page] &= keep;
}

const uint8_t *vmem_load(struct vmem_client *c, uint64_t off)
{
	struct vmem *m = c->mem;
	uint64_t page = off >> VMEM_PAGE_SHIFT,
	         epoch = __atomic_load_n(&c->epoch, __ATOMIC_ACQUIRE);
	uint8_t *data;

	if (off >= m->size)
		return NULL;
	if (c->cleaned != epoch)
		give_back_copies(c, epoch);
	data = cached_page(c, page, epoch);
	if (!data) {
		data = l2_page(m, page);
		page_lock(m, page);
		vmem_l2_fill(m, page);
		m->sharers[page] |= c->bit;
		__atomic_store_n(&c->pages[page], page_word(epoch, data), __ATOMIC_RELEASE);
		page_unlock(m, page);
	}
	return data + (off & (VMEM_PAGE_SIZE - 1));
}

const uint8_t *vmem_load_l2(struct vmem_client *c, uint64_t off)
{
	struct vmem *m = c->mem;
	uint64_t page = off >> VMEM_PAGE_SHIFT;

	if (off >= m->size)
		return NULL;
	page_lock(m, page);
	vmem_l2_fill(m, page);
	page_unlock(m, page);
	return m->l2 + off;
}

/* Make the page ready for a store by @c. Page lock held.
 * Return: the client's private copy, which must be changed too; NULL when it has none. */
static uint8_t *prepare_store(struct vmem_client *c, uint64_t page)
{
	struct vmem *m = c->mem;
	uint8_t *own;

	vmem_l2_fill(m, page);
	if (m->sharers[page] & ~c->bit)
		vmem_divert(m, page, c->bit);
	own = cached_page(c, page, __atomic_load_n(&c->epoch, __ATOMIC_ACQUIRE));
	return own == l2_page(m, page) ? NULL : own;
}

static void store_bytes(
        struct vmem_client *c, uint64_t off, uint8_t *own, const void *data, size_t len)
{
	unsigned first = off & (VMEM_PAGE_SIZE - 1);

	vmem_copy(c->mem->l2 + off, data, len);
	vmem_l2_mark(c->mem, off >> VMEM_PAGE_SHIFT, first, len);
	if (own)
		vmem_copy(own + first, data, len);
}

int vmem_store(struct vmem_client *c, uint64_t off, const void *data, size_t len)
{
	uint64_t page = off >> VMEM_PAGE_SHIFT;

	if (!range_ok(off, len, c->mem->size))
		return -EFAULT;
	page_lock(c->mem, page);
	store_bytes(c, off, prepare_store(c, page), data, len);
	page_unlock(c->mem, page);
	return 0;
}

/* A lane whose bytes cross into the next page. */
static int store_across(struct vmem_client *c, uint64_t off, const void *data, size_t len)
{
	size_t head = VMEM_PAGE_SIZE - (off & (VMEM_PAGE_SIZE - 1));

	if (!range_ok(off, len, c->mem->size))
		return -EFAULT;
	vmem_store(c, off, data, head);
	return vmem_store(c, off + head, (const uint8_t *)data + head, len - head);
}

unsigned vmem_scatter(struct vmem_client *c, uint64_t base, const uint32_t *rel, uint64_t mask,
        const uint32_t (*data)[4], size_t bytes)
{
	struct vmem *m = c->mem;

	while (mask) {
		unsigned lane = (unsigned)__builtin_ctzll(mask);
		uint64_t off = base + rel[lane], page = off >> VMEM_PAGE_SHIFT;
		uint8_t *own;

		if (!range_ok(off, bytes, m->size))
			return lane;
		if ((off + bytes - 1) >> VMEM_PAGE_SHIFT != page) {
			store_across(c, off, data[lane], bytes);
			mask &= mask - 1;
			continue;
		}
		page_lock(m, page);
		own = prepare_store(c, page);
		do { /* all lanes in a row that stay in this page, under one lock */
			store_bytes(c, off, own, data[lane], bytes);
			mask &= mask - 1;
			if (!mask)
				break;
			lane = (unsigned)__builtin_ctzll(mask);
			off = base + rel[lane];
		} while (off >> VMEM_PAGE_SHIFT == page &&
		         (off + bytes - 1) >> VMEM_PAGE_SHIFT == page);
		page_unlock(m, page);
	}
	return 64;
}

int vmem_client_atomic(struct vmem_client *c, enum vmem_atomic op, unsigned bytes, uint64_t off,
        uint64_t data, uint64_t compare, uint64_t *old)
{
	uint64_t page = off >> VMEM_PAGE_SHIFT, value = 0;
	uint8_t *own;

	if ((bytes != 4 && bytes != 8) || off % bytes || !range_ok(off, bytes, c->mem->size))
		return -EFAULT;
	page_lock(c->mem, page);
	own = prepare_store(c, page);
	memcpy(&value, c->mem->l2 + off, bytes);
	*old = value;
	value = vmem_atomic_apply(op, bytes, value, data, compare);
	store_bytes(c, off, own, &value, bytes);
	page_unlock(c->mem, page);
	return 0;
}
