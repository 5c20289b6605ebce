/* gmc_priv.h - what the files of the memory controller share. */
#ifndef RX_GMC_PRIV_H
#define RX_GMC_PRIV_H

#include <stdbool.h>

#include "device/gmc/gmc.h"

/* Where the card's accesses to nowhere end: inside the reserve. polaris.md 3.3, 12.3 */
#define GMC_DEFAULT_PAGE (GMC_RESERVED_BYTES - 0x10000)

struct gmc {
	struct pci *pci;
	struct mmio *mmio;
	uint64_t vram_bytes, window_bytes, fb_base;
	bool spare;  /* gmc_spare_vram */
	bool marked; /* the default page */
};

/* vram_test.c: polaris.md 13.1 steps 14 and 15; -EIO (logged) VRAM does not hold what was written,
 * or one cell answers for two addresses. */
int gmc_test_vram(struct gmc *g);
/* gmc_mark_default_page - with a pattern, for gmc_check_default_page. */
int gmc_mark_default_page(struct gmc *g);

#endif
