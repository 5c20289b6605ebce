/* l2.c - the one L2: filled from DRAM a page at a time, dirty by byte, written back or dropped on
 * command. */
#include "device/err.h"
#include "device/virtual/mem/vmem_priv.h"

#define DIRTY_WORDS (VMEM_PAGE_SIZE / 64) /* 64-bit words of dirty bits a page */

static uint64_t *dirty_words(struct vmem *m, uint64_t page)
{
	return m->dirty + page * DIRTY_WORDS;
}

void vmem_l2_fill(struct vmem *m, uint64_t page)
{
	uint8_t *to = l2_page(m, page), *from = dram_page(m, page);

	if (m->state[page] & PAGE_L2)
		return;
	vmem_dram_touch(m, page);
	if (!(m->state[page] & PAGE_FILLED)) {
		vmem_copy(to, from, VMEM_PAGE_SIZE);
	} else if (memcmp(to, from, VMEM_PAGE_SIZE)) {
		/* first-level caches may still show the image of before the last invalidate */
		vmem_divert(m, page, 0);
		vmem_copy(to, from, VMEM_PAGE_SIZE);
	}
	m->state[page] |= PAGE_L2 | PAGE_FILLED;
	page_list_add(&m->present, page);
}

void vmem_l2_mark(struct vmem *m, uint64_t page, unsigned first, size_t len)
{
	uint64_t *words = dirty_words(m, page);
	unsigned last = first + (unsigned)len - 1;
	uint64_t head = ~UINT64_C(0) << first % 64, tail = ~UINT64_C(0) >> (63 - last % 64);

	if (first / 64 == last / 64) {
		words[first / 64] |= head & tail;
	} else {
		words[first / 64] |= head;
		for (unsigned i = first / 64 + 1; i < last / 64; i++)
			words[i] = ~UINT64_C(0);
		words[last / 64] |= tail;
	}
	if (m->state[page] & PAGE_LISTED)
		return;
	m->state[page] |= PAGE_LISTED;
	page_list_add(&m->dirty_pages, page);
}

int vmem_l2_read(struct vmem *m, uint64_t off, void *buf, size_t len)
{
	uint8_t *to = buf;

	if (!range_ok(off, len, m->size))
		return -EFAULT;
	for (size_t n; len; off += n, to += n, len -= n) {
		uint64_t page = off >> VMEM_PAGE_SHIFT;

		n = MIN(len, VMEM_PAGE_SIZE - (off & (VMEM_PAGE_SIZE - 1)));
		page_lock(m, page);
		vmem_l2_fill(m, page);
		memcpy(to, m->l2 + off, n);
		page_unlock(m, page);
	}
	return 0;
}

int vmem_l2_write(struct vmem *m, uint64_t off, const void *buf, size_t len)
{
	const uint8_t *from = buf;

	if (!range_ok(off, len, m->size))
		return -EFAULT;
	for (size_t n; len; off += n, from += n, len -= n) {
		uint64_t page = off >> VMEM_PAGE_SHIFT;

		n = MIN(len, VMEM_PAGE_SIZE - (off & (VMEM_PAGE_SIZE - 1)));
		page_lock(m, page);
		vmem_l2_fill(m, page);
		vmem_divert(m, page, 0);
		vmem_copy(m->l2 + off, from, n);
		vmem_l2_mark(m, page, off & (VMEM_PAGE_SIZE - 1), n);
		page_unlock(m, page);
	}
	return 0;
}

bool vmem_l2_present(struct vmem *m, uint64_t off)
{
	uint64_t page = off >> VMEM_PAGE_SHIFT;
	bool present;

	if (off >= m->size)
		return false;
	page_lock(m, page);
	present = m->state[page] & PAGE_L2;
	page_unlock(m, page);
	return present;
}

/* Copy the dirty bytes of one page to DRAM and clean it. Page lock held. */
static void write_back_page(struct vmem *m, uint64_t page)
{
	uint64_t *words = dirty_words(m, page);
	uint8_t *to = dram_page(m, page), *from = l2_page(m, page);

	for (unsigned i = 0; i < DIRTY_WORDS; i++, to += 64, from += 64) {
		if (words[i] == ~UINT64_C(0))
			memcpy(to, from, 64);
		else
			for (uint64_t bits = words[i]; bits; bits &= bits - 1)
				to[__builtin_ctzll(bits)] = from[__builtin_ctzll(bits)];
		words[i] = 0;
	}
}

/* Forget which bytes of a page are dirty. Page lock held. Return: how many were. */
static uint64_t lose_page(struct vmem *m, uint64_t page)
{
	uint64_t *words = dirty_words(m, page), lost = 0;

	for (unsigned i = 0; i < DIRTY_WORDS; i++) {
		lost += (uint64_t)__builtin_popcountll(words[i]);
		words[i] = 0;
	}
	return lost;
}

/* Take the pages collected so far; the list goes on growing in its other buffer. The flush lock is
 * held. */
static uint32_t *take_list(struct page_list *l, uint32_t *count)
{
	uint32_t *pages;

	spin_lock(&l->lock);
	pages = l->pages[l->active];
	*count = l->count[l->active];
	l->active ^= 1;
	l->count[l->active] = 0;
	spin_unlock(&l->lock);
	return pages;
}

void vmem_l2_writeback(struct vmem *m)
{
	uint32_t count, *pages;

	pthread_mutex_lock(&m->flush);
	pages = take_list(&m->dirty_pages, &count);
	for (uint32_t i = 0; i < count; i++) {
		page_lock(m, pages[i]);
		m->state[pages[i]] &= (uint8_t)~PAGE_LISTED;
		write_back_page(m, pages[i]);
		page_unlock(m, pages[i]);
	}
	pthread_mutex_unlock(&m->flush);
	if (count)
		vmem_notify_change(m);
}

static uint64_t drop_pages(struct vmem *m, bool write_back)
{
	uint32_t count, *pages;
	uint64_t lost = 0;

	pthread_mutex_lock(&m->flush);
	pages = take_list(&m->present, &count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t page = pages[i];

		page_lock(m, page);
		if (write_back && m->state[page] & PAGE_LISTED)
			write_back_page(m, page);
		else if (m->state[page] & PAGE_LISTED)
			lost += lose_page(m, page);
		m->state[page] &= (uint8_t)~PAGE_L2;
		page_unlock(m, page);
	}
	pthread_mutex_unlock(&m->flush);
	return lost;
}

uint64_t vmem_l2_invalidate(struct vmem *m)
{
	return drop_pages(m, false);
}

void vmem_l2_flush(struct vmem *m)
{
	drop_pages(m, true);
	vmem_notify_change(m);
}

static uint64_t sign_extend(unsigned bytes, uint64_t v)
{
	return bytes == 4 ? (uint64_t)(int64_t)(int32_t)(uint32_t)v : v;
}

static bool signed_less(unsigned bytes, uint64_t a, uint64_t b)
{
	return (int64_t)sign_extend(bytes, a) < (int64_t)sign_extend(bytes, b);
}

/* GCN3 ISA 12.15.1 and 12.17: BUFFER_ATOMIC_*, FLAT_ATOMIC_* */
uint64_t vmem_atomic_apply(
        enum vmem_atomic op, unsigned bytes, uint64_t old, uint64_t data, uint64_t compare)
{
	if (bytes == 4) {
		data = (uint32_t)data;
		compare = (uint32_t)compare;
	}
	switch (op) {
	case VMEM_ATOMIC_SWAP: return data;
	case VMEM_ATOMIC_CMPSWAP: return old == compare ? data : old;
	case VMEM_ATOMIC_ADD: return old + data;
	case VMEM_ATOMIC_SUB: return old - data;
	case VMEM_ATOMIC_SMIN: return signed_less(bytes, data, old) ? data : old;
	case VMEM_ATOMIC_UMIN: return MIN(old, data);
	case VMEM_ATOMIC_SMAX: return signed_less(bytes, old, data) ? data : old;
	case VMEM_ATOMIC_UMAX: return MAX(old, data);
	case VMEM_ATOMIC_AND: return old & data;
	case VMEM_ATOMIC_OR: return old | data;
	case VMEM_ATOMIC_XOR: return old ^ data;
	case VMEM_ATOMIC_INC: return old >= data ? 0 : old + 1;
	case VMEM_ATOMIC_DEC: return old == 0 || old > data ? data : old - 1;
	}
	return old;
}

int vmem_atomic(struct vmem *m, enum vmem_atomic op, unsigned bytes, uint64_t off, uint64_t data,
        uint64_t compare, uint64_t *old)
{
	uint64_t page = off >> VMEM_PAGE_SHIFT, value = 0;

	if ((bytes != 4 && bytes != 8) || off % bytes || !range_ok(off, bytes, m->size))
		return -EFAULT;
	page_lock(m, page);
	vmem_l2_fill(m, page);
	vmem_divert(m, page, 0);
	memcpy(&value, m->l2 + off, bytes);
	*old = value;
	value = vmem_atomic_apply(op, bytes, value, data, compare);
	vmem_copy(m->l2 + off, &value, bytes);
	vmem_l2_mark(m, page, off & (VMEM_PAGE_SIZE - 1), bytes);
	page_unlock(m, page);
	return 0;
}
