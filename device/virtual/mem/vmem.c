/* vmem.c - images, DRAM accesses, waiting for DRAM changes. The L2 is l2.c, first-level caches
 * client.c. Every access to an image happens under its page's lock, except loads by clients (see
 * client.c).
 */
#include <sys/mman.h>

#include "device/clock.h"
#include "device/err.h"
#include "device/virtual/mem/vmem_priv.h"

void *vmem_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void unmap(void *p, size_t bytes)
{
	if (p)
		munmap(p, bytes);
}

int page_list_init(struct page_list *l, uint64_t npages)
{
	for (int i = 0; i < 2; i++) {
		l->pages[i] = vmem_map(npages * sizeof(uint32_t));
		if (!l->pages[i])
			return -ENOMEM;
	}
	return 0;
}

void page_list_fini(struct page_list *l, uint64_t npages)
{
	for (int i = 0; i < 2; i++)
		unmap(l->pages[i], npages * sizeof(uint32_t));
}

void page_list_add(struct page_list *l, uint64_t page)
{
	spin_lock(&l->lock);
	l->pages[l->active][l->count[l->active]++] = (uint32_t)page;
	spin_unlock(&l->lock);
}

static int map_images(struct vmem *m)
{
	m->dram = vmem_map(m->size);
	m->l2 = vmem_map(m->size);
	m->dirty = vmem_map(m->size / 8);
	m->state = vmem_map(m->npages);
	m->sharers = vmem_map(m->npages * sizeof(uint32_t));
	if (!m->dram || !m->l2 || !m->dirty || !m->state || !m->sharers)
		return -ENOMEM;
	/* buffers are cleared whole: one fault for 2 MiB instead of 512 halves the time of the
	 * first touch */
	madvise(m->dram, m->size, MADV_HUGEPAGE);
	if (page_list_init(&m->present, m->npages) || page_list_init(&m->dirty_pages, m->npages))
		return -ENOMEM;
	return 0;
}

int vmem_new(struct vmem **out, uint64_t size)
{
	struct vmem *m = calloc(1, sizeof(*m));
	pthread_condattr_t attr;

	if (!m)
		return -ENOMEM;
	m->size = size;
	m->npages = size >> VMEM_PAGE_SHIFT;
	pthread_mutex_init(&m->flush, NULL);
	pthread_mutex_init(&m->clients_lock, NULL);
	pthread_mutex_init(&m->change_lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&m->changed, &attr);
	pthread_condattr_destroy(&attr);
	if (map_images(m)) {
		vmem_free(m);
		return rx_fail("vmem", -ENOMEM, "no address space for %llu MiB of virtual VRAM",
		        (unsigned long long)(size >> 20));
	}
	*out = m;
	return 0;
}

void vmem_free(struct vmem *m)
{
	if (!m)
		return;
	for (unsigned i = 0; i < m->nclients; i++)
		vmem_client_free(m->clients[i]);
	for (size_t i = 0; i < m->narenas; i++)
		free(m->arenas[i]);
	free(m->arenas);
	free(m->pool);
	page_list_fini(&m->present, m->npages);
	page_list_fini(&m->dirty_pages, m->npages);
	unmap(m->dram, m->size);
	unmap(m->l2, m->size);
	unmap(m->dirty, m->size / 8);
	unmap(m->state, m->npages);
	unmap(m->sharers, m->npages * sizeof(uint32_t));
	pthread_cond_destroy(&m->changed);
	pthread_mutex_destroy(&m->change_lock);
	pthread_mutex_destroy(&m->clients_lock);
	pthread_mutex_destroy(&m->flush);
	free(m);
}

uint64_t vmem_size(const struct vmem *m)
{
	return m->size;
}

static void forget_lists(struct page_list *l)
{
	spin_lock(&l->lock);
	l->count[0] = l->count[1] = 0;
	spin_unlock(&l->lock);
}

void vmem_scramble(struct vmem *m)
{
	pthread_mutex_lock(&m->flush);
	for (unsigned i = 0; i < VMEM_STRIPES; i++)
		spin_lock(&m->stripes[i].held);
	madvise(m->dram, m->size, MADV_DONTNEED);
	madvise(m->l2, m->size, MADV_DONTNEED);
	madvise(m->dirty, m->size / 8, MADV_DONTNEED);
	madvise(m->state, m->npages, MADV_DONTNEED);
	madvise(m->sharers, m->npages * sizeof(uint32_t), MADV_DONTNEED);
	forget_lists(&m->present);
	forget_lists(&m->dirty_pages);
	m->generation++;
	for (unsigned i = 0; i < VMEM_STRIPES; i++)
		spin_unlock(&m->stripes[i].held);
	pthread_mutex_lock(&m->clients_lock);
	for (unsigned i = 0; i < m->nclients; i++)
		vmem_client_invalidate_async(m->clients[i]);
	pthread_mutex_unlock(&m->clients_lock);
	pthread_mutex_unlock(&m->flush);
	vmem_notify_change(m);
}

/* splitmix64, Steele et al. 2014: noise that is never mistaken for data but the same in every run
 */
static uint64_t noise(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

void vmem_dram_touch(struct vmem *m, uint64_t page)
{
	uint64_t *words = (uint64_t *)(void *)dram_page(m, page);
	uint64_t at = (m->generation << 44) + page * (VMEM_PAGE_SIZE / 8);

	if (m->state[page] & PAGE_NOISE)
		return;
	for (unsigned i = 0; i < VMEM_PAGE_SIZE / 8; i++)
		words[i] = noise((at + i + 1) * UINT64_C(0x9e3779b97f4a7c15));
	m->state[page] |= PAGE_NOISE;
}

static size_t part_of_page(uint64_t off, size_t len)
{
	return MIN(len, VMEM_PAGE_SIZE - (off & (VMEM_PAGE_SIZE - 1)));
}

int vmem_dram_read(struct vmem *m, uint64_t off, void *buf, size_t len)
{
	uint8_t *to = buf;

	if (!range_ok(off, len, m->size))
		return -EFAULT;
	for (size_t n; len; off += n, to += n, len -= n) {
		uint64_t page = off >> VMEM_PAGE_SHIFT;

		n = part_of_page(off, len);
		page_lock(m, page);
		vmem_dram_touch(m, page);
		memcpy(to, m->dram + off, n);
		page_unlock(m, page);
	}
	return 0;
}

int vmem_dram_write(struct vmem *m, uint64_t off, const void *buf, size_t len)
{
	const uint8_t *from = buf;

	if (!range_ok(off, len, m->size))
		return -EFAULT;
	for (size_t n; len; off += n, from += n, len -= n) {
		uint64_t page = off >> VMEM_PAGE_SHIFT;

		n = part_of_page(off, len);
		page_lock(m, page);
		if (n == VMEM_PAGE_SIZE)
			m->state[page] |= PAGE_NOISE;
		vmem_dram_touch(m, page);
		memcpy(m->dram + off, from, n);
		page_unlock(m, page);
	}
	vmem_notify_change(m);
	return 0;
}

void vmem_notify_change(struct vmem *m)
{
	/* sequentially consistent with the waiter's registration: one of the two sees the other */
	__atomic_add_fetch(&m->changes, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&m->waiters, __ATOMIC_SEQ_CST))
		return;
	pthread_mutex_lock(&m->change_lock);
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->change_lock);
}

uint64_t vmem_change_count(struct vmem *m)
{
	return __atomic_load_n(&m->changes, __ATOMIC_SEQ_CST);
}

void vmem_wait_change(struct vmem *m, uint64_t seen, unsigned timeout_us)
{
	uint64_t end = now_ns() + timeout_us * UINT64_C(1000);
	struct timespec ts = {(time_t)(end / 1000000000u), (long)(end % 1000000000u)};

	pthread_mutex_lock(&m->change_lock);
	__atomic_add_fetch(&m->waiters, 1, __ATOMIC_SEQ_CST);
	while (vmem_change_count(m) == seen)
		if (pthread_cond_timedwait(&m->changed, &m->change_lock, &ts) == ETIMEDOUT)
			break;
	__atomic_sub_fetch(&m->waiters, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&m->change_lock);
}
