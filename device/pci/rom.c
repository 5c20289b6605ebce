/* rom.c - the expansion ROM through its own BAR: bulk reads of bytes, 4096 a command
 * (bridge.md 4.8, polaris.md 2.1). The ROM decoder may share logic with the BARs, so they rest
 * while it is on.
 */
#include "device/bytes.h"
#include "device/err.h"
#include "device/pci/pci_priv.h"

#define ROM_ENABLE 1u
#define ROM_MASK   0xFFFFF800u

/* rom_size - 0: none. Sized with the enable bit clear. */
static int rom_size(struct pci *p, uint32_t *size)
{
	uint32_t ones;
	int err = pci_cfg_write(p, CFG_ROM, 4, ROM_MASK);

	if (!err)
		err = pci_cfg_read(p, CFG_ROM, 4, &ones);
	if (!err)
		err = pci_cfg_write(p, CFG_ROM, 4, 0);
	*size = err || ones == 0xFFFFFFFF || !(ones & ROM_MASK) ? 0 : ~(ones & ROM_MASK) + 1;
	return err;
}

/* free_address - an aligned spot below all memory BARs, else above them; 0: none. No bridge's
 * firmware assigns the ROM (bridge.md 4.8). Where the firmware places BARs, at 0xE0000000 plus
 * their size (2.14), there is room below; pci_place_bars leaves it above. */
static uint64_t free_address(const struct pci *p, uint32_t size)
{
	uint64_t low = p->reach.reach_end, high = p->reach.reach_start;

	for (int i = 0; i < 6; i++) {
		const struct pci_bar *b = &p->info.bar[i];

		if (!b->memory || !b->size || b->addr >= p->reach.reach_end)
			continue;
		low = MIN(low, b->addr);
		high = MAX(high, b->addr + b->size);
	}
	if (low >= p->reach.reach_start + 2ull * size)
		return (low - size) & ~((uint64_t)size - 1);
	high = align_up(high, size);
	return range_ok(high, size, p->reach.reach_end) ? high : 0;
}

/* switch_rom - high half first, so that the enable bit never meets half an address. */
static int switch_rom(struct pci *p, uint32_t value)
{
	int err = pci_cfg_write(p, CFG_ROM, 2, 0);

	if (!err)
		err = pci_cfg_write(p, CFG_ROM + 2, 2, value >> 16);
	if (!err && value)
		err = pci_cfg_write(p, CFG_ROM, 2, value & 0xFFFF);
	return err;
}

int pci_rom_open(struct pci *p, uint32_t *size)
{
	int err = rom_size(p, size);

	if (err)
		return err;
	uint64_t addr = *size ? free_address(p, *size) : 0;

	if (!addr)
		return -ENODATA;
	err = switch_rom(p, (uint32_t)addr | ROM_ENABLE);
	if (err) {
		switch_rom(p, 0);
		return err;
	}
	p->rom = addr;
	p->rom_bytes = *size;
	p->rom_hooks = p->bridge->hooks;
	p->bridge->hooks = (struct bridge_hooks){0}; /* nobody may use a BAR meanwhile */
	return 0;
}

int pci_rom_read(struct pci *p, uint32_t offset, void *buf, size_t len)
{
	if (!p->rom || !range_ok(offset, len, p->rom_bytes))
		return -EINVAL;
	return p->bridge->ops->mem_read(p->bridge, p->rom + offset, buf, len);
}

int pci_rom_close(struct pci *p)
{
	if (!p->rom)
		return 0;
	p->rom = 0;
	p->bridge->hooks = p->rom_hooks;
	return switch_rom(p, 0);
}
