/* config.c - identity, command register, capabilities, access inside a BAR. */
#include <stdlib.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/pci/pci_priv.h"

#define VENDOR_AMD       0x1002u /* polaris.md 1.1 */
#define DEVICE_POLARIS10 0x67DFu
#define CAPABILITY_PCIE  0x10 /* bridge.md 4.9 */
#define PCIE_LINK_STATUS 0x12
#define HEADER_TYPE      0x7Fu /* bridge.md 4.2 */
#define MULTIFUNCTION    0x80u
#define MAX_CAPABILITIES 48 /* (256 - 64) / 4: more means a loop */

int pci_new(struct pci **out, struct bridge *b)
{
	struct pci *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->bridge = b;
	*out = p;
	return 0;
}

void pci_free(struct pci *p)
{
	free(p);
}

const struct pci_info *pci_info(const struct pci *p)
{
	return &p->info;
}

int pci_cfg_read(struct pci *p, unsigned reg, unsigned size, uint32_t *value)
{
	return p->bridge->ops->cfg_read(p->bridge, reg, size, value);
}

int pci_cfg_write(struct pci *p, unsigned reg, unsigned size, uint32_t value)
{
	return p->bridge->ops->cfg_write(p->bridge, reg, size, value);
}

/* check_identity - bridge.md 4.1, polaris.md 1.1. Says in words what was found instead. */
static int check_identity(struct pci *p)
{
	uint32_t id, type, class_rev, subsystem;
	int err = pci_cfg_read(p, CFG_ID, 4, &id);

	if (!err)
		err = pci_cfg_read(p, CFG_HEADER_TYPE, 1, &type);
	if (!err)
		err = pci_cfg_read(p, CFG_REVISION_CLASS, 4, &class_rev);
	if (!err)
		err = pci_cfg_read(p, CFG_SUBSYSTEM, 4, &subsystem);
	if (err)
		return err;
	if (!bridge_answers(id))
		return bridge_no_answer(id, &p->reach.link);
	if ((type & HEADER_TYPE) != 0) /* bridge.md 4.2 */
		return rx_fail("pci", -ENODEV,
		        "found %04x:%04x with a header of type %u: a PCIe bridge, or no card at "
		        "all",
		        id & 0xFFFF, id >> 16, type & HEADER_TYPE);
	if ((id & 0xFFFF) != VENDOR_AMD || id >> 16 != DEVICE_POLARIS10)
		return rx_fail("pci", -ENODEV,
		        "found %04x:%04x, which is not an RX 580 (1002:67df)", id & 0xFFFF,
		        id >> 16);
	p->info.vendor = (uint16_t)id;
	p->info.device = (uint16_t)(id >> 16);
	p->info.revision = (uint8_t)class_rev;
	p->info.class_code = class_rev >> 8;
	p->info.multifunction = type & MULTIFUNCTION;
	p->info.subvendor = (uint16_t)subsystem;
	p->info.subdevice = (uint16_t)(subsystem >> 16);
	return 0;
}

int pci_find_capability(struct pci *p, uint8_t id)
{
	uint32_t status, pointer, header;
	int err = pci_cfg_read(p, CFG_STATUS, 2, &status);

	if (err)
		return err;
	if (!(status & STATUS_CAPABILITIES))
		return 0;
	err = pci_cfg_read(p, CFG_CAPABILITIES, 1, &pointer);
	for (int i = 0; i < MAX_CAPABILITIES && !err; i++) {
		pointer &= 0xFC;
		if (pointer < 0x40) /* the end, or nonsense */
			return 0;
		err = pci_cfg_read(p, pointer, 2, &header);
		if (!err && (header & 0xFF) == id)
			return (int)pointer;
		pointer = header >> 8;
	}
	if (!err)
		rx_log(LOG_WARN, "pci", "the list of capabilities does not end");
	return err;
}

int pci_function_read(struct pci *p, unsigned fn, unsigned reg, uint32_t *value)
{
	const struct bridge_ops *ops = p->bridge->ops;

	if (!fn || fn > 7 || reg % 4 || reg >= 4096)
		return -EINVAL;
	if (!p->info.multifunction || !ops->function_read)
		return -ENODATA;
	int err = ops->function_read(p->bridge, fn, reg, value);

	return err == -ENOTSUP ? -ENODATA : err;
}

static int read_link_status(struct pci *p)
{
	uint32_t status;
	int cap = pci_find_capability(p, CAPABILITY_PCIE);

	if (cap <= 0)
		return cap;
	int err = pci_cfg_read(p, (unsigned)cap + PCIE_LINK_STATUS, 2, &status);

	if (err)
		return err;
	p->info.link_speed = status & 0xF;
	p->info.link_width = status >> 4 & 0x3F;
	return 0;
}

/* enable_memory - decode on; bus mastering and interrupts stay off: the card has no business on the
 * bus (polaris.md 13.1 step 7, 11.2 step 6). */
static int enable_memory(struct pci *p)
{
	uint32_t command;
	int err = pci_cfg_write(p, CFG_COMMAND, 2, COMMAND_MEMORY | COMMAND_INTX_OFF);

	if (!err)
		err = pci_cfg_read(p, CFG_COMMAND, 2, &command);
	if (err)
		return err;
	if ((command & (COMMAND_MEMORY | COMMAND_MASTER)) != COMMAND_MEMORY)
		return rx_fail("pci", -EIO,
		        "the command register reads 0x%04x: memory decode did not come on",
		        command);
	return 0;
}

int pci_start(struct pci *p)
{
	p->bridge->ops->read_info(p->bridge, &p->reach);
	int err = check_identity(p);

	if (!err)
		err = pci_cfg_read(p, CFG_COMMAND, 2, &p->first_command);
	if (!err)
		err = pci_size_bars(p);
	if (!err)
		err = enable_memory(p);
	if (!err)
		err = read_link_status(p);
	if (err)
		return err;
	p->started = p->settled = true;
	rx_log(LOG_INFO, "pci", "%04x:%04x revision %02x, VRAM window %llu MiB, link gen %u x%u",
	        p->info.vendor, p->info.device, p->info.revision,
	        (unsigned long long)(p->info.bar[PCI_BAR_VRAM].size >> 20), p->info.link_speed,
	        p->info.link_width);
	return 0;
}

/* restore_bars - as pci_start left them; the reset has cleared them. */
static int restore_bars(struct pci *p)
{
	int err = 0;

	for (unsigned i = 0; i < 6 && !err; i++) {
		const struct pci_bar *b = &p->info.bar[i];

		if (!b->size)
			continue;
		err = pci_cfg_write(p, CFG_BAR(i), 4, (uint32_t)b->addr);
		if (!err && b->wide)
			err = pci_cfg_write(p, CFG_BAR(i + 1), 4, (uint32_t)(b->addr >> 32));
	}
	return err;
}

int pci_reset(struct pci *p, unsigned reg, uint32_t key)
{
	uint32_t id;

	p->settled = false;
	int err = p->bridge->ops->cfg_write_whole(p->bridge, reg, key);

	if (!err)
		err = pci_cfg_read(p, CFG_ID, 4, &id);
	if (!err && id != ((uint32_t)p->info.device << 16 | p->info.vendor))
		err = rx_fail("pci", -EIO,
		        "after its reset the card's id reads 0x%08x: power-cycle it", id);
	if (!err)
		err = restore_bars(p);
	if (!err)
		err = enable_memory(p);
	p->settled = !err;
	return err;
}

void pci_stop(struct pci *p)
{
	if (p->lost)
		return;
	if (p->started)
		pci_bars_home(p);
	if (p->placed && !pci_cfg_write(p, CFG_COMMAND, 2, COMMAND_INTX_OFF))
		pci_unplace_bars(p);
	if (p->started || p->placed)
		pci_cfg_write(p, CFG_COMMAND, 2, p->first_command);
	p->started = p->placed = p->settled = false;
}

/* bus_address - of @len bytes at @offset in a BAR. */
static int bus_address(struct pci *p, unsigned bar, uint64_t offset, size_t len, uint64_t *addr)
{
	if (bar > 5 || !range_ok(offset, len, p->info.bar[bar].size))
		return rx_fail("pci", -EINVAL, "0x%llx + %zu is outside BAR%u",
		        (unsigned long long)offset, len, bar);
	*addr = p->info.bar[bar].addr + offset;
	return p->lost ? -ENODEV : 0;
}

int pci_read32(struct pci *p, unsigned bar, uint64_t offset, uint32_t *value)
{
	uint64_t addr;
	int err = bus_address(p, bar, offset, 4, &addr);

	return err ? err : p->bridge->ops->mem_read32(p->bridge, addr, value);
}

int pci_write32(struct pci *p, unsigned bar, uint64_t offset, uint32_t value)
{
	uint64_t addr;
	int err = bus_address(p, bar, offset, 4, &addr);

	return err ? err : p->bridge->ops->mem_write32(p->bridge, addr, value);
}

int pci_write_port(
        struct pci *p, unsigned bar, uint64_t offset, const uint32_t *values, size_t count)
{
	const struct bridge_ops *ops = p->bridge->ops;
	uint64_t addr;
	int err = bus_address(p, bar, offset, 4, &addr);

	if (!err && ops->mem_write_port)
		return ops->mem_write_port(p->bridge, addr, values, count);
	for (size_t i = 0; i < count && !err; i++)
		err = ops->mem_write32(p->bridge, addr, values[i]);
	return err;
}

int pci_read(struct pci *p, unsigned bar, uint64_t offset, void *buf, size_t len)
{
	uint64_t addr;
	int err = bus_address(p, bar, offset, len, &addr);

	return err ? err : p->bridge->ops->mem_read(p->bridge, addr, buf, len);
}

int pci_write(struct pci *p, unsigned bar, uint64_t offset, const void *buf, size_t len)
{
	uint64_t addr;
	int err = bus_address(p, bar, offset, len, &addr);

	return err ? err : p->bridge->ops->mem_write(p->bridge, addr, buf, len);
}
