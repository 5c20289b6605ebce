/* gmc.h - memory controller of a posted card: where VRAM lies, the host path (HDP), the window BAR0
 * shows. Called only on the owner thread. Facts: polaris.md 1.5, 3, 13.1 steps 10-15, 13.2. Start
 * after pci, stop before it.
 */
#ifndef RX_GMC_H
#define RX_GMC_H

#include <stddef.h>
#include <stdint.h>

#include "device/regs/mmio.h"

struct gmc;

/* The VBIOS and the console of the PC's own start-up may use the beginning of VRAM: polaris.md 3.1
 */
#define GMC_RESERVED_BYTES (16ull << 20)
#define GMC_GDDR5          5u /* MC_SEQ_MISC0[31:28]: polaris.md 2.5 */

int gmc_new(struct gmc **out, struct pci *pci, struct mmio *mmio);
void gmc_free(struct gmc *g);
/* gmc_start - check what POST left, set apertures and caches up for VMID 0 in VRAM only, test VRAM.
 * Return: 0; -EIO the memory is not up, or does not hold data.
 */
int gmc_start(struct gmc *g);
/* gmc_spare_vram - before gmc_start: what lies above the reserve is somebody's; test the reserve
 * only. */
void gmc_spare_vram(struct gmc *g);
/* gmc_check_default_page - warns (logged) when something was written to the page that takes the
 * card's accesses outside VRAM; gmc_stop looks, too. polaris.md 12.3 */
int gmc_check_default_page(struct gmc *g);
void gmc_stop(struct gmc *g);

/* What two registers say of VRAM, also before gmc_start: CONFIG_MEMSIZE counts MiB and may hold
 * garbage in its upper half; MC_VM_FB_LOCATION [15:0] is the base >> 24. polaris.md 3.1 */
static inline uint64_t gmc_memsize_bytes(uint32_t config_memsize)
{
	return (uint64_t)(config_memsize & 0xFFFF) << 20;
}
static inline uint64_t gmc_location_base(uint32_t location)
{
	return (uint64_t)(location & 0xFFFF) << 24;
}

uint64_t gmc_vram_bytes(const struct gmc *g);
uint64_t gmc_window_bytes(const struct gmc *g); /* what BAR0 shows, from VRAM offset 0 on */
uint64_t gmc_fb_base(const struct gmc *g);      /* MC address of VRAM offset 0 */

/* gmc_hdp_flush - host writes so far reach VRAM. gmc_hdp_invalidate - later host reads see what the
 * card wrote (and it wrote back from L2). polaris.md 3.5 */
int gmc_hdp_flush(struct gmc *g);
int gmc_hdp_invalidate(struct gmc *g);
/* gmc_window_* - bytes through BAR0, ascending, no HDP action. -EINVAL outside the window. */
int gmc_window_read(struct gmc *g, uint64_t offset, void *buf, size_t len);
int gmc_window_write(struct gmc *g, uint64_t offset, const void *buf, size_t len);

#endif
