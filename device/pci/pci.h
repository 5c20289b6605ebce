/* pci.h - function 0 of the card on its PCIe link: identity, BARs, command register, capabilities,
 * expansion ROM, and access inside a BAR. Called only on the owner thread. Facts: bridge.md 4,
 * polaris.md 1.1, 1.2.
 *
 * Errors: those of bridge.h, logged where detected; -EINVAL outside a BAR.
 */
#ifndef RX_PCI_H
#define RX_PCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/bridge/bridge.h"

#define PCI_BAR_VRAM      0 /* polaris.md 1.2 */
#define PCI_BAR_DOORBELLS 2
#define PCI_BAR_REGISTERS 5

struct pci;

struct pci_bar {
	uint64_t addr, size; /* bus address and bytes; size 0: not implemented */
	bool memory, wide, prefetchable;
};

struct pci_info {
	uint16_t vendor, device, subvendor, subdevice;
	uint8_t revision;
	uint32_t class_code;
	bool multifunction;
	struct pci_bar bar[6];
	unsigned link_speed,
	        link_width; /* PCIe generation and lanes; 0 when there is no such capability */
};

/* pci_new - software only; @b stays the caller's. */
int pci_new(struct pci **out, struct bridge *b);
void pci_free(struct pci *p);
/* pci_start - check that it is an RX 580, size the BARs, place them unless the bridge's firmware
 * has done it, check them, memory decode on, bus mastering and interrupts off. Return: 0; -ENODEV
 * no answer or another card; -ENOTSUP BARs placed where the bridge cannot reach them.
 */
int pci_start(struct pci *p);
/* pci_move_bar - a 32-bit memory BAR to another address, until pci_stop. Return: 0; -ENOTSUP it
 * would be misaligned, overlap another BAR or be out of the bridge's reach (not logged): nothing
 * happened.
 */
int pci_move_bar(struct pci *p, unsigned bar, uint64_t addr);
/* pci_check_bars - do the BARs of VRAM and registers still read as they should? A bridge that was
 * reset may have enumerated the card anew, and what is then written where they were goes astray.
 * Return: 0, also before pci_start; -ENODEV no (logged): nothing in a BAR is accessed any more, and
 * pci_stop leaves the card as it is.
 */
int pci_check_bars(struct pci *p);
/* pci_stop - BARs and the command register back to what they were. Also after a pci_start that
 * failed. */
void pci_stop(struct pci *p);

/* pci_reset - write @key to configuration register @reg, a reset of the whole card, and put BARs
 * and command register back. The caller waits until registers answer. -EIO it came back without its
 * configuration space. */
int pci_reset(struct pci *p, unsigned reg, uint32_t key);

const struct pci_info *pci_info(const struct pci *p);
int pci_cfg_read(struct pci *p, unsigned reg, unsigned size, uint32_t *value);
int pci_cfg_write(struct pci *p, unsigned reg, unsigned size, uint32_t value);
/* pci_function_read - an aligned dword of configuration space of function @fn, 1 to 7. Return: 0;
 * -ENODATA there is no such function, or this bridge does not reach it (not logged). */
int pci_function_read(struct pci *p, unsigned fn, unsigned reg, uint32_t *value);
/* pci_find_capability - offset of a capability below 256. Return: offset; 0 absent; negative error.
 */
int pci_find_capability(struct pci *p, uint8_t id);

/* Inside BAR @bar. read32/write32: one aligned dword. read/write: any bytes, see bridge.h. */
int pci_read32(struct pci *p, unsigned bar, uint64_t offset, uint32_t *value);
int pci_write32(struct pci *p, unsigned bar, uint64_t offset, uint32_t value);
/* pci_write_port - @count dwords to one register, in order: bridge_ops.mem_write_port. -EAGAIN as
 * there. */
int pci_write_port(
        struct pci *p, unsigned bar, uint64_t offset, const uint32_t *values, size_t count);
int pci_read(struct pci *p, unsigned bar, uint64_t offset, void *buf, size_t len);
int pci_write(struct pci *p, unsigned bar, uint64_t offset, const void *buf, size_t len);

/* The expansion ROM through its own BAR, of function 0. Between open and close the other BARs are
 * not to be used, so nothing yields. pci_rom_open - Return: 0, @size in bytes; -ENODATA there is
 * none, or no room for it (not logged). pci_rom_read - -EINVAL outside it or not open.
 */
int pci_rom_open(struct pci *p, uint32_t *size);
int pci_rom_read(struct pci *p, uint32_t offset, void *buf, size_t len);
int pci_rom_close(struct pci *p);

#endif
