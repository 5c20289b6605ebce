/* bars.c - how large are the BARs and are they where the bridge can reach them? Sizing:
 * bridge.md 4.4. */
#include "device/bytes.h"
#include "device/err.h"
#include "device/pci/pci_priv.h"

#define BAR_IO         0x1u
#define BAR_TYPE_64    0x4u
#define BAR_TYPE_MASK  0x6u
#define BAR_PREFETCH   0x8u
#define MEMORY_MASK    0xFFFFFFF0u
#define IO_MASK        0xFFFCu /* I/O BARs may leave the upper half 0 */
#define MIN_WINDOW     (1ull << 20)
#define REGISTER_BYTES 0x40000u /* polaris.md 1.2 */

/* probe_bar - one BAR dword: value as found, and what all ones read back as. Restores it. */
static int probe_bar(struct pci *p, unsigned i, uint32_t *value, uint32_t *ones)
{
	int err = pci_cfg_read(p, CFG_BAR(i), 4, value);

	if (!err)
		err = pci_cfg_write(p, CFG_BAR(i), 4, 0xFFFFFFFF);
	if (!err)
		err = pci_cfg_read(p, CFG_BAR(i), 4, ones);
	if (!err)
		err = pci_cfg_write(p, CFG_BAR(i), 4, *value);
	return err;
}

/* size_bar - fill info.bar[i]. Return: BAR dwords consumed (1 or 2); negative error. */
static int size_bar(struct pci *p, unsigned i)
{
	struct pci_bar *bar = &p->info.bar[i];
	uint32_t value, ones, high = 0, high_ones = 0xFFFFFFFF;
	int err = probe_bar(p, i, &value, &ones);

	if (err)
		return err;
	p->first_bar[i] = value;
	if (ones == 0 || ones == 0xFFFFFFFF) /* not implemented, or nobody answered */
		return 1;
	if (value & BAR_IO) {
		bar->addr = value & ~3u;
		bar->size = 0x10000u - (ones & IO_MASK);
		return 1;
	}
	bar->memory = true;
	bar->prefetchable = value & BAR_PREFETCH;
	bar->wide = (value & BAR_TYPE_MASK) == BAR_TYPE_64;
	if (bar->wide) {
		if (i == 5)
			return rx_fail("pci", -EIO, "BAR5 claims to be 64 bits wide");
		err = probe_bar(p, i + 1, &high, &high_ones);
		if (err)
			return err;
		p->first_bar[i + 1] = high;
	}
	bar->addr = (uint64_t)high << 32 | (value & MEMORY_MASK);
	bar->size = ~((uint64_t)high_ones << 32 | (ones & MEMORY_MASK)) + 1;
	return bar->wide ? 2 : 1;
}

static bool overlap(const struct pci_bar *a, const struct pci_bar *b)
{
	return a->addr < b->addr + b->size && b->addr < a->addr + a->size;
}

bool pci_reachable(const struct pci *p, const struct pci_bar *bar, uint64_t addr)
{
	const struct bridge_info *r = &p->reach;

	if (!bar->size || (bar->size & (bar->size - 1)) || addr % bar->size)
		return false;
	if (addr >= r->reach_start && range_ok(addr, bar->size, r->reach_end))
		return true;
	return bar->wide && bar->prefetchable && addr >= r->wide_start &&
	       range_ok(addr, bar->size, r->wide_end);
}

/* check_bar - usable where it is? A bridge's firmware has no allocator (bridge.md 2.14), so two
 * BARs may collide. */
static int check_bar(struct pci *p, unsigned i)
{
	const struct pci_bar *bar = &p->info.bar[i];

	if (!bar->size || !bar->memory)
		return 0;
	if (!pci_reachable(p, bar, bar->addr))
		return rx_fail("pci", -ENOTSUP,
		        "BAR%u at 0x%llx, 0x%llx bytes, is out of this bridge's reach", i,
		        (unsigned long long)bar->addr, (unsigned long long)bar->size);
	for (unsigned j = 0; j < i; j++)
		if (p->info.bar[j].memory && p->info.bar[j].size && overlap(bar, &p->info.bar[j]))
			return rx_fail("pci", -ENOTSUP,
			        "BAR%u and BAR%u overlap; moving BARs is not supported yet", j, i);
	return 0;
}

int pci_size_bars(struct pci *p)
{
	/* decode off, or a half-written BAR would claim somebody's addresses */
	int err = pci_cfg_write(p, CFG_COMMAND, 2, COMMAND_INTX_OFF);

	for (unsigned i = 0; i < 6 && !err;) {
		int n = size_bar(p, i);

		if (n < 0)
			err = n;
		else
			i += (unsigned)n;
	}
	if (!err)
		err = p->reach.assigns_bars ? pci_mend_bars(p) : pci_place_bars(p);
	for (unsigned i = 0; i < 6 && !err; i++)
		err = check_bar(p, i);
	if (err)
		return err;
	if (p->info.bar[PCI_BAR_VRAM].size < MIN_WINDOW ||
	        p->info.bar[PCI_BAR_REGISTERS].size != REGISTER_BYTES)
		return rx_fail("pci", -ENODEV,
		        "BAR0 has 0x%llx and BAR5 0x%llx bytes: not an RX 580's",
		        (unsigned long long)p->info.bar[PCI_BAR_VRAM].size,
		        (unsigned long long)p->info.bar[PCI_BAR_REGISTERS].size);
	return 0;
}

/* ---- moving one ---- */

static bool fits(const struct pci *p, unsigned bar, uint64_t addr)
{
	struct pci_bar moved = p->info.bar[bar];

	moved.addr = addr;
	if (!pci_reachable(p, &moved, addr))
		return false;
	for (unsigned i = 0; i < 6; i++)
		if (i != bar && p->info.bar[i].memory && p->info.bar[i].size &&
		        overlap(&moved, &p->info.bar[i]))
			return false;
	return true;
}

/* place - with decode off, or a half-written BAR would claim somebody's addresses. */
static int place(struct pci *p, unsigned bar, uint32_t addr)
{
	uint32_t command, now;
	int err = pci_cfg_read(p, CFG_COMMAND, 2, &command);

	if (!err)
		err = pci_cfg_write(p, CFG_COMMAND, 2, command & ~COMMAND_MEMORY);
	if (!err)
		err = pci_cfg_write(p, CFG_BAR(bar), 4, addr);
	if (!err)
		err = pci_cfg_read(p, CFG_BAR(bar), 4, &now);
	if (!err && (now & MEMORY_MASK) != addr)
		err = rx_fail(
		        "pci", -EIO, "BAR%u reads 0x%08x after writing 0x%08x", bar, now, addr);
	int on = pci_cfg_write(p, CFG_COMMAND, 2, command);

	return err ? err : on;
}

int pci_move_bar(struct pci *p, unsigned bar, uint64_t addr)
{
	if (bar > 5 || !p->info.bar[bar].memory || p->info.bar[bar].wide || !fits(p, bar, addr))
		return -ENOTSUP;
	p->settled = false;
	int err = place(p, bar, (uint32_t)addr);

	if (err)
		return err;
	p->settled = true;
	if (!p->home[bar])
		p->home[bar] = p->info.bar[bar].addr;
	p->info.bar[bar].addr = addr;
	return 0;
}

int pci_bars_home(struct pci *p)
{
	int first = 0;

	p->settled = false;
	for (unsigned i = 0; i < 6; i++) {
		int err = p->home[i] ? place(p, i, (uint32_t)p->home[i]) : 0;

		if (!err && p->home[i])
			p->info.bar[i].addr = p->home[i];
		p->home[i] = 0;
		first = first ? first : err;
	}
	p->settled = !first;
	return first;
}

/* ---- still there? ---- */

/* reads_as_placed - a wrong value is read once more: one misread must not end a run. */
static int reads_as_placed(struct pci *p, unsigned bar, uint32_t *now, bool *same)
{
	uint32_t want = (uint32_t)p->info.bar[bar].addr;
	int err = 0;

	*same = false;
	for (int i = 0; i < 2 && !err && !*same; i++) {
		err = pci_cfg_read(p, CFG_BAR(bar), 4, now);
		*same = !err && (*now & MEMORY_MASK) == want;
	}
	return err;
}

int pci_check_bars(struct pci *p)
{
	static const unsigned watched[] = {PCI_BAR_REGISTERS, PCI_BAR_VRAM};

	for (size_t i = 0; i < ARRAY_SIZE(watched) && p->settled; i++) {
		uint32_t now;
		bool same;
		int err = reads_as_placed(p, watched[i], &now, &same);

		if (err)
			return err;
		if (same)
			continue;
		p->settled = false;
		p->lost = true;
		return rx_fail("pci", -ENODEV,
		        "BAR%u reads 0x%08x instead of 0x%08x: somebody has set the card up anew, "
		        "perhaps the bridge after a reset; unmount, and mount again",
		        watched[i], now, (uint32_t)p->info.bar[watched[i]].addr);
	}
	return p->lost ? -ENODEV : 0;
}
