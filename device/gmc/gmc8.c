/* gmc8.c - memory controller and host path of gfx8 after POST: phase B of polaris.md 13. */
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/core/mutants.h"
#include "device/err.h"
#include "device/gmc/gmc_priv.h"
#include "device/regs/regs.h"

#define SCRATCH_7_POSTED           0x200u  /* polaris.md 1.5 */
#define MEMSIZE_MASK               0xFFFFu /* MiB; the upper half may hold garbage: polaris.md 3.1 */
#define MISC0_UCODE_READY          0x80u   /* polaris.md 3.2 */
#define SRBM_MC_BUSY               0x3F00u     /* polaris.md 3.3 step 3 */
#define BIF_FB_ON                  3u          /* polaris.md 3.2 */
#define AGP_BOT_OFF                0x03FFFFFFu /* polaris.md 3.2 */
#define L1_TLB_MASK                0x7Fu       /* polaris.md 13.2 step 23 */
#define L1_TLB_S1                  0x5Bu       /* polaris.md 3.4, setup S1 */
#define HDP_FLUSH_INVALIDATE_CACHE 0x1u        /* polaris.md 3.3 step 9: to be 0 */
#define HDP_SURFACES               32          /* polaris.md 3.3 step 1 */
#define HDP_SURFACE_STRIDE         0x18u
#define HDP_SURFACE_DWORDS         5
/* VM_L2_CNTL: L2 on, fragments, LRU update by write, EFFECTIVE_L2_QUEUE_SIZE 7, CONTEXT1 identity
 * mode 1, and never a default page in system memory (polaris.md 3.4; bit 11 stays 0) */
#define L2_CNTL             (1u << 0 | 1u << 1 | 1u << 9 | 1u << 10 | 7u << 15 | 1u << 19)
#define L2_CNTL2_INVALIDATE 3u /* L1 TLBs and L2: polaris.md 3.2 */
/* VM_L2_CNTL3: BIGK_ASSOCIATIVITY, fragment size 9 in BANK_SELECT and BIGK_FRAGMENT_SIZE
 * (polaris.md 3.4) */
#define L2_CNTL3 (1u << 20 | 9u | 9u << 15)

int gmc_new(struct gmc **out, struct pci *pci, struct mmio *mmio)
{
	struct gmc *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->pci = pci;
	g->mmio = mmio;
	*out = g;
	return 0;
}

void gmc_free(struct gmc *g)
{
	free(g);
}

uint64_t gmc_vram_bytes(const struct gmc *g)
{
	return g->vram_bytes;
}

uint64_t gmc_window_bytes(const struct gmc *g)
{
	return g->window_bytes;
}

uint64_t gmc_fb_base(const struct gmc *g)
{
	return g->fb_base;
}

int gmc_hdp_flush(struct gmc *g)
{
	if (rx_mutant == RX_MUTANT_NO_HDP_FLUSH)
		return 0;
	return reg_write(g->mmio, REG_HDP_MEM_COHERENCY_FLUSH_CNTL, 1);
}

int gmc_hdp_invalidate(struct gmc *g)
{
	if (rx_mutant == RX_MUTANT_NO_HDP_INVALIDATE)
		return 0;
	return reg_write(g->mmio, REG_HDP_DEBUG0, 1);
}

int gmc_window_read(struct gmc *g, uint64_t offset, void *buf, size_t len)
{
	if (!range_ok(offset, len, g->window_bytes))
		return -EINVAL;
	return pci_read(g->pci, PCI_BAR_VRAM, offset, buf, len);
}

int gmc_window_write(struct gmc *g, uint64_t offset, const void *buf, size_t len)
{
	if (!range_ok(offset, len, g->window_bytes))
		return -EINVAL;
	return pci_write(g->pci, PCI_BAR_VRAM, offset, buf, len);
}

/* check_alive - polaris.md 13.1 step 3: all ones mean that nobody is behind BAR5. */
static int check_alive(struct gmc *g)
{
	uint32_t status, memsize;
	int err = reg_read(g->mmio, REG_GRBM_STATUS, &status);

	if (!err)
		err = reg_read(g->mmio, REG_CONFIG_MEMSIZE, &memsize);
	if (err)
		return err;
	if (status == 0xFFFFFFFF && memsize == 0xFFFFFFFF)
		return rx_fail("gmc", -ENODEV,
		        "registers read all ones: the card is asleep or off the bus; power-cycle "
		        "it");
	return 0;
}

/* check_posted - step 13, what ASIC_Init must have left. */
static int check_posted(struct gmc *g)
{
	uint32_t scratch7, memsize, misc0;
	int err = reg_read(g->mmio, REG_BIOS_SCRATCH_7, &scratch7);

	if (!err)
		err = reg_read(g->mmio, REG_CONFIG_MEMSIZE, &memsize);
	if (!err)
		err = reg_read(g->mmio, REG_MC_SEQ_MISC0, &misc0);
	if (err)
		return err;
	memsize &= MEMSIZE_MASK;
	if (!(scratch7 & SCRATCH_7_POSTED) || memsize == 0 || memsize == MEMSIZE_MASK ||
	        !(misc0 & MISC0_UCODE_READY))
		return rx_fail("gmc", -EIO,
		        "the memory is not up after POST (BIOS_SCRATCH_7 0x%08x, CONFIG_MEMSIZE %u "
		        "MiB, MC_SEQ_MISC0 0x%08x; bit 9, a size and bit 7 expected): power-cycle "
		        "the card",
		        scratch7, memsize, misc0);
	g->vram_bytes = gmc_memsize_bytes(memsize);
	return 0;
}

/* locate - MC addresses of VRAM, kept as the VBIOS set them (polaris.md 3.1). */
static int locate(struct gmc *g)
{
	uint32_t location;
	int err = reg_read(g->mmio, REG_MC_VM_FB_LOCATION, &location);

	if (err)
		return err;
	uint64_t top = gmc_location_base(location >> 16) | 0xFFFFFF;

	g->fb_base = gmc_location_base(location);
	g->window_bytes = MIN(pci_info(g->pci)->bar[PCI_BAR_VRAM].size, g->vram_bytes);
	if (!g->fb_base || g->fb_base + g->vram_bytes - 1 > top)
		return rx_fail("gmc", -EIO,
		        "MC_VM_FB_LOCATION 0x%08x does not hold the %llu MiB of VRAM expected",
		        location, (unsigned long long)(g->vram_bytes >> 20));
	if (g->window_bytes <= GMC_RESERVED_BYTES)
		return rx_fail("gmc", -ENOTSUP,
		        "a VRAM window of %llu bytes leaves no room to work in",
		        (unsigned long long)g->window_bytes);
	return 0;
}

/* describe - what only VBIOS images say of the memory (polaris.md 2.5): told, and doubted when it
 * is otherwise. The ring tests judge. */
static int describe(struct gmc *g)
{
	uint32_t misc0, chmap, ramcfg, nonsurface;
	int err = reg_read(g->mmio, REG_MC_SEQ_MISC0, &misc0);

	if (!err)
		err = reg_read(g->mmio, REG_MC_SHARED_CHMAP, &chmap);
	if (!err)
		err = reg_read(g->mmio, REG_MC_ARB_RAMCFG, &ramcfg);
	if (!err)
		err = reg_read(g->mmio, REG_HDP_NONSURFACE_BASE, &nonsurface);
	if (err)
		return err;
	rx_log(LOG_INFO, "gmc",
	        "memory of type %u (5: GDDR5), MC_SHARED_CHMAP 0x%x, MC_ARB_RAMCFG 0x%x",
	        misc0 >> 28, chmap, ramcfg);
	if (misc0 >> 28 != GMC_GDDR5)
		rx_log(LOG_WARN, "gmc", "MC_SEQ_MISC0 reads 0x%08x, expected memory type 5 (GDDR5)",
		        misc0);
	if (nonsurface != (uint32_t)(g->fb_base >> 8))
		rx_log(LOG_WARN, "gmc",
		        "HDP_NONSURFACE_BASE reads 0x%08x, expected 0x%08x: BAR0 may show another "
		        "part of memory",
		        nonsurface, (uint32_t)(g->fb_base >> 8));
	return 0;
}

/* wait_mc_idle - step 19; going on after the time-out is what the stock driver does. */
static int wait_mc_idle(struct gmc *g)
{
	uint32_t status;
	int err = reg_wait(g->mmio, REG_SRBM_STATUS, SRBM_MC_BUSY, 0, 100, &status);

	if (err == -ETIMEDOUT) {
		rx_log(LOG_WARN, "gmc",
		        "memory controller still busy (SRBM_STATUS 0x%08x); going on", status);
		return 0;
	}
	return err;
}

/* surfaces_off - step 18 */
static int surfaces_off(struct gmc *g)
{
	int err = 0;

	for (unsigned i = 0; i < HDP_SURFACES && !err; i++)
		for (unsigned d = 0; d < HDP_SURFACE_DWORDS && !err; d++)
			err = reg_update(g->mmio,
			        REG_HDP_SURFACE_FIRST + HDP_SURFACE_STRIDE * i + 4 * d, 0xFFFFFFFF,
			        0);
	return err;
}

/* apertures - steps 20 to 22 */
static int apertures(struct gmc *g)
{
	uint64_t last = g->fb_base + g->vram_bytes - 1;
	const struct reg_value list[] = {
	        {REG_MC_VM_SYSTEM_APERTURE_LOW_ADDR, (uint32_t)(g->fb_base >> 12)},
	        {REG_MC_VM_SYSTEM_APERTURE_HIGH_ADDR, (uint32_t)(last >> 12)},
	        {REG_MC_VM_SYSTEM_APERTURE_DEFAULT_ADDR,
	                (uint32_t)((g->fb_base + GMC_DEFAULT_PAGE) >> 12)},
	        {REG_MC_VM_AGP_BASE, 0},
	        {REG_MC_VM_AGP_TOP, 0},
	        {REG_MC_VM_AGP_BOT, AGP_BOT_OFF},
	        {REG_BIF_FB_EN, BIF_FB_ON},
	};
	int err = reg_ensure_list(g->mmio, list, ARRAY_SIZE(list));

	if (!err)
		err = reg_update(g->mmio, REG_HDP_MISC_CNTL, HDP_FLUSH_INVALIDATE_CACHE, 0);
	uint32_t path;

	if (!err)
		err = reg_read(g->mmio, REG_HDP_HOST_PATH_CNTL, &path);
	return err ? err
	           : reg_write(g->mmio, REG_HDP_HOST_PATH_CNTL,
	                     path); /* read and written back: 3.3 step 10 */
}

/* translation - steps 23 to 25: VMID 0 sees VRAM at its MC addresses and nothing else (setup S1,
 * polaris.md 3.4). */
static int translation(struct gmc *g)
{
	uint32_t page = (uint32_t)((g->fb_base + GMC_DEFAULT_PAGE) >> 12);
	const struct reg_value list[] = {
	        {REG_VM_L2_CNTL, L2_CNTL},
	        {REG_VM_L2_CNTL3, L2_CNTL3},
	        {REG_VM_L2_CNTL4, 0},
	        {REG_VM_CONTEXT0_PROTECTION_FAULT_DEFAULT_ADDR, page},
	        {REG_VM_CONTEXT1_PROTECTION_FAULT_DEFAULT_ADDR, page},
	        {REG_VM_CONTEXT0_CNTL2, 0},
	        {REG_VM_CONTEXT0_CNTL, 0},
	        {REG_VM_CONTEXT1_CNTL, 0},
	};
	int err = reg_update(g->mmio, REG_MC_VM_MX_L1_TLB_CNTL, L1_TLB_MASK, L1_TLB_S1);

	if (!err)
		err = reg_ensure_list(g->mmio, list, ARRAY_SIZE(list));
	uint32_t cntl2;

	if (!err)
		err = reg_read(g->mmio, REG_VM_L2_CNTL2, &cntl2);
	if (!err)
		err = reg_write(g->mmio, REG_VM_L2_CNTL2, cntl2 | L2_CNTL2_INVALIDATE);
	if (!err)
		err = reg_write(g->mmio, REG_VM_INVALIDATE_REQUEST, 1);
	return err;
}

/* golden rows: polaris.md 5.1 */
static const struct reg_golden golden[] = {
        {REG_MC_ARB_WTM_GRPWT_RD, 0x00000003, 0x00000000},
        {REG_VM_PRT_APERTURE0_LOW_ADDR, 0x0FFFFFFF, 0x0FFFFFFF},
        {REG_VM_PRT_APERTURE1_LOW_ADDR, 0x0FFFFFFF, 0x0FFFFFFF},
        {REG_VM_PRT_APERTURE2_LOW_ADDR, 0x0FFFFFFF, 0x0FFFFFFF},
        {REG_VM_PRT_APERTURE3_LOW_ADDR, 0x0FFFFFFF, 0x0FFFFFFF},
};

void gmc_spare_vram(struct gmc *g)
{
	g->spare = true;
}

int gmc_start(struct gmc *g)
{
	int err = check_alive(g);

	if (!err)
		err = check_posted(g);
	if (!err)
		err = locate(g);
	if (!err)
		err = describe(g);
	if (!err)
		err = reg_golden_list(g->mmio, golden, ARRAY_SIZE(golden)); /* 17 */
	if (!err)
		err = surfaces_off(g); /* 18 */
	if (!err)
		err = reg_update(g->mmio, REG_HDP_REG_COHERENCY_FLUSH_CNTL, 0xFFFFFFFF, 0);
	if (!err)
		err = wait_mc_idle(g); /* 19 */
	if (!err)
		err = apertures(g); /* 20-22 */
	if (!err)
		err = translation(g); /* 23-25 */
	if (!err)
		err = gmc_test_vram(g); /* 14, 15 */
	if (!err)
		err = gmc_mark_default_page(g);
	if (!err)
		rx_log(LOG_INFO, "gmc", "%llu MiB of VRAM at 0x%llx, %llu MiB in the window",
		        (unsigned long long)(g->vram_bytes >> 20), (unsigned long long)g->fb_base,
		        (unsigned long long)(g->window_bytes >> 20));
	return err;
}

void gmc_stop(struct gmc *g)
{
	/* the set-up itself does no harm to whoever comes next */
	if (!gmc_hdp_flush(g) && g->marked)
		gmc_check_default_page(g);
}
