/* place.c - addresses for BARs nobody has placed (bridge.md 4.5): size-aligned, the largest first,
 * from the bottom of what the bridge can reach. A 64-bit prefetchable BAR goes above 4 GiB only
 * when there is no room below: requests with 32-bit addresses are shorter.
 */
#include "device/bytes.h"
#include "device/err.h"
#include "device/pci/pci_priv.h"

#define MEMORY_MASK 0xFFFFFFF0u

struct room {
	uint64_t next, wide_next; /* the first free address of either window */
};

/* largest - the memory BAR without a place that is largest; -1 none. */
static int largest(const struct pci *p, unsigned done)
{
	int best = -1;

	for (int i = 0; i < 6; i++) {
		const struct pci_bar *b = &p->info.bar[i];

		if (b->memory && b->size && !(done & 1u << i) &&
		        (best < 0 || b->size > p->info.bar[best].size))
			best = i;
	}
	return best;
}

/* choose - Return: an address; 0: no room. */
static uint64_t choose(const struct pci *p, const struct pci_bar *bar, struct room *r)
{
	uint64_t *next[] = {&r->next, &r->wide_next};

	for (unsigned i = 0; i < 2; i++) {
		uint64_t addr = align_up(*next[i], bar->size);

		if (!addr || !pci_reachable(p, bar, addr))
			continue;
		*next[i] = addr + bar->size;
		return addr;
	}
	return 0;
}

static int write_bar(struct pci *p, unsigned i, uint64_t addr)
{
	uint32_t low, high = 0;
	int err = pci_cfg_write(p, CFG_BAR(i), 4, (uint32_t)addr);

	if (!err && p->info.bar[i].wide)
		err = pci_cfg_write(p, CFG_BAR(i + 1), 4, (uint32_t)(addr >> 32));
	if (!err)
		err = pci_cfg_read(p, CFG_BAR(i), 4, &low);
	if (!err && p->info.bar[i].wide)
		err = pci_cfg_read(p, CFG_BAR(i + 1), 4, &high);
	if (err)
		return err;
	if (((uint64_t)high << 32 | (low & MEMORY_MASK)) != addr)
		return rx_fail("pci", -EIO, "BAR%u reads 0x%08x%08x after writing 0x%llx", i, high,
		        low, (unsigned long long)addr);
	p->info.bar[i].addr = addr;
	return 0;
}

int pci_place_bars(struct pci *p)
{
	struct room room = {p->reach.reach_start, p->reach.wide_start};
	unsigned done = 0;

	p->placed = true;
	for (int i; (i = largest(p, done)) >= 0; done |= 1u << i) {
		const struct pci_bar *bar = &p->info.bar[i];
		uint64_t addr = choose(p, bar, &room);

		if (!addr)
			return rx_fail("pci", -ENOTSUP,
			        "no room for BAR%d, 0x%llx bytes, in this bridge's reach", i,
			        (unsigned long long)bar->size);
		int err = write_bar(p, (unsigned)i, addr);

		if (err)
			return err;
	}
	return 0;
}

int pci_unplace_bars(struct pci *p)
{
	int err = 0;

	for (unsigned i = 0; i < 6 && !err; i++) {
		if (!p->info.bar[i].memory)
			continue;
		err = pci_cfg_write(p, CFG_BAR(i), 4, p->first_bar[i]);
		if (!err && p->info.bar[i].wide)
			err = pci_cfg_write(p, CFG_BAR(i + 1), 4, p->first_bar[i + 1]);
	}
	return err;
}

/* ---- a sizing that was cut off ---- */

static bool collides(const struct pci *p, unsigned i, uint64_t addr)
{
	for (unsigned j = 0; j < 6; j++) {
		const struct pci_bar *b = &p->info.bar[j];

		if (j != i && b->memory && b->size && addr < b->addr + b->size &&
		        b->addr < addr + p->info.bar[i].size)
			return true;
	}
	return false;
}

static bool usable(const struct pci *p, unsigned i, uint64_t addr)
{
	return pci_reachable(p, &p->info.bar[i], addr) && !collides(p, i, addr);
}

/* cut_off - one half of it reads as right after the all-ones write of size_bar, or in the middle of
 * it: one bridge's is written in halfwords (rtl921x.c, cfg_write). The lower halfword of the
 * lower half has no address bits in any BAR of 64 KiB or more. */
static bool cut_off(const struct pci_bar *b)
{
	uint32_t high = (uint32_t)(b->addr >> 32);

	if (!b->memory || !b->size)
		return false;
	return high >> 16 == 0xFFFF || (high & 0xFFFF) == 0xFFFF ||
	       (!high && (uint32_t)b->addr == (uint32_t)-b->size);
}

static int mend(struct pci *p, unsigned i)
{
	struct pci_bar *b = &p->info.bar[i];
	uint64_t addr = (uint32_t)b->addr; /* it may have been the upper half only */

	if (!usable(p, i, addr))
		addr = align_up(p->reach.reach_start, b->size);
	while (addr < p->reach.reach_end && !usable(p, i, addr))
		addr += b->size;
	if (addr >= p->reach.reach_end)
		return 0; /* the check that follows says what is wrong */
	rx_log(LOG_WARN, "pci", "BAR%u was left without an address (was a driver killed?): 0x%llx",
	        i, (unsigned long long)addr);
	int err = write_bar(p, i, addr);

	if (err)
		return err;
	p->first_bar[i] = (uint32_t)addr;
	if (b->wide)
		p->first_bar[i + 1] = (uint32_t)(addr >> 32);
	return 0;
}

int pci_mend_bars(struct pci *p)
{
	int err = 0;

	/* from BAR5 down: BAR0, the largest, may look the same where it belongs */
	for (unsigned i = 6; i-- > 0 && !err;)
		if (cut_off(&p->info.bar[i]) && !usable(p, i, p->info.bar[i].addr))
			err = mend(p, i);
	return err;
}
