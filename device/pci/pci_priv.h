/* pci_priv.h - shared by the files of pci/. Offsets of a type 0 header: PCI Local Bus 3.0, 6.1
 * (bridge.md 4). */
#ifndef RX_PCI_PRIV_H
#define RX_PCI_PRIV_H

#include "device/pci/pci.h"

#define CFG_ID              0x00
#define CFG_COMMAND         0x04
#define CFG_STATUS          0x06
#define CFG_REVISION_CLASS  0x08
#define CFG_BAR(i)          (0x10u + 4u * (unsigned)(i))
#define CFG_SUBSYSTEM       0x2C
#define CFG_ROM             0x30
#define CFG_CAPABILITIES    0x34
#define COMMAND_IO          0x0001u
#define COMMAND_MEMORY      0x0002u
#define COMMAND_MASTER      0x0004u
#define COMMAND_INTX_OFF    0x0400u
#define STATUS_CAPABILITIES 0x10u

/* PCIe addresses below belong to the bridge itself: bridge.md 4.5 */
#define BRIDGE_OWN_END 0x20000000ull

struct pci {
	struct bridge *bridge;
	struct pci_info info;
	uint32_t first_command; /* as found, for pci_stop */
	uint64_t home[6];       /* where a moved BAR was; 0: not moved */
	bool started;
};

/* pci_size_bars - size all BARs with decode off and check that they are usable as the firmware
 * placed them. */
int pci_size_bars(struct pci *p);
/* pci_bars_home - undo pci_move_bar. */
int pci_bars_home(struct pci *p);

#endif
