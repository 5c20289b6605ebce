/* pci_priv.h - shared by the files of pci/. Offsets of a type 0 header: PCI Local Bus 3.0, 6.1
 * (bridge.md 4). */
#ifndef RX_PCI_PRIV_H
#define RX_PCI_PRIV_H

#include "device/pci/pci.h"

#define CFG_ID              0x00
#define CFG_COMMAND         0x04
#define CFG_STATUS          0x06
#define CFG_REVISION_CLASS  0x08
#define CFG_HEADER_TYPE     0x0E
#define CFG_BAR(i)          (0x10u + 4u * (unsigned)(i))
#define CFG_SUBSYSTEM       0x2C
#define CFG_ROM             0x30
#define CFG_CAPABILITIES    0x34
#define COMMAND_IO          0x0001u
#define COMMAND_MEMORY      0x0002u
#define COMMAND_MASTER      0x0004u
#define COMMAND_INTX_OFF    0x0400u
#define STATUS_CAPABILITIES 0x10u

struct pci {
	struct bridge *bridge;
	struct bridge_info reach; /* where BARs may be, and who places them */
	struct pci_info info;
	uint32_t first_command; /* as found, for pci_stop */
	uint32_t first_bar[6];  /* as found */
	bool placed;            /* pci_place_bars has written BARs */
	uint64_t home[6];       /* where a moved BAR was; 0: not moved */
	bool started;
	bool settled; /* the BARs are where info says */
	bool lost;    /* they were not: pci_check_bars */
	uint64_t rom; /* where the ROM decodes; 0: off */
	uint32_t rom_bytes;
	struct bridge_hooks rom_hooks; /* the bridge's, while it does */
};

/* pci_size_bars - size all BARs with decode off, place them when the bridge's firmware does not,
 * and check that they are usable where they are. */
int pci_size_bars(struct pci *p);
/* pci_reachable - whether a BAR of this size may be at @addr, other BARs aside. */
bool pci_reachable(const struct pci *p, const struct pci_bar *bar, uint64_t addr);
/* pci_place_bars - give every memory BAR an address; decode must be off. Return: 0; -ENOTSUP no
 * room (logged); -EIO a BAR does not take its address (logged). */
int pci_place_bars(struct pci *p);
/* pci_mend_bars - new addresses for those that an earlier process was killed at while it sized
 * them, so that what the bridge's firmware gave them is lost; decode must be off. */
int pci_mend_bars(struct pci *p);
/* pci_unplace_bars - as they were found; decode must be off. */
int pci_unplace_bars(struct pci *p);
/* pci_bars_home - undo pci_move_bar. */
int pci_bars_home(struct pci *p);

#endif
