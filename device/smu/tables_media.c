/* tables_media.c - SMU74 tables: video engines and PCIe link levels, polaris.md 10.3, 10.6. The
 * video engines stay off; their levels go up as the stock driver sends them. */
#include "device/bytes.h"
#include "device/smu/tables_priv.h"

/* DpmTable: polaris.md 10.3 */
#define DPM_LINK_LEVEL_COUNT 210
#define DPM_UVD_LEVEL_COUNT  212
#define DPM_VCE_LEVEL_COUNT  213
#define DPM_SAMU_LEVEL_COUNT 215
#define DPM_LINK_LEVEL       804
#define DPM_UVD_LEVEL        980
#define DPM_VCE_LEVEL        1108
#define DPM_SAMU_LEVEL       1300
#define DPM_PCIE_BOOT_LEVEL  1600
#define LINK_LEVEL_BYTES     16
#define UVD_LEVEL_BYTES      16
#define VCE_LEVEL_BYTES      12
#define LINK_BIF_SCLK_DFS    12
#define ULV_BIF_SCLK_DFS     12
#define MEDIA_LEVELS         8
#define LINK_LEVELS          8

#define SPC_GEN3       20 /* polaris.md 10.6, link levels */
#define SPC_GEN2       16
#define DOWN_THRESHOLD 5
#define UP_THRESHOLD   30

static uint32_t media_voltage(const struct build *b, const struct vbios_pp_mm *mm)
{
	uint16_t vddc = b->vddc[mm->vddc_index];

	return smu_voltage_word(vddc, smu_vddci_for(b, vddc));
}

static int divider(struct build *b, uint32_t clock, uint8_t *at)
{
	return b->in->atom->dfs_divider(b->in->atom->ctx, clock, at);
}

static int put_uvd(struct build *b, unsigned i)
{
	const struct vbios_pp_mm *mm = &b->in->pp->mm[i];
	uint8_t *at = b->out->dpm + DPM_UVD_LEVEL + UVD_LEVEL_BYTES * i;

	put_be32(at, mm->vclk);
	put_be32(at + 4, mm->dclk);
	put_be32(at + 8, media_voltage(b, mm));
	int err = divider(b, mm->vclk, at + 12);

	return err ? err : divider(b, mm->dclk, at + 13);
}

/* put_vce - VCE and SAMU levels look the same. */
static int put_vce(struct build *b, unsigned table, unsigned i, uint32_t clock)
{
	uint8_t *at = b->out->dpm + table + VCE_LEVEL_BYTES * i;

	put_be32(at, clock);
	put_be32(at + 4, media_voltage(b, &b->in->pp->mm[i]));
	return divider(b, clock, at + 8);
}

static int put_video(struct build *b)
{
	unsigned n = MIN(b->in->pp->mms, (unsigned)MEDIA_LEVELS);
	int err = 0;

	for (unsigned i = 0; i < n && !err; i++) {
		err = put_uvd(b, i);
		if (!err)
			err = put_vce(b, DPM_VCE_LEVEL, i, b->in->pp->mm[i].eclk);
		if (!err)
			err = put_vce(b, DPM_SAMU_LEVEL, i, b->in->pp->mm[i].samu_clk);
	}
	b->out->dpm[DPM_UVD_LEVEL_COUNT] = (uint8_t)n;
	b->out->dpm[DPM_VCE_LEVEL_COUNT] = (uint8_t)n;
	b->out->dpm[DPM_SAMU_LEVEL_COUNT] = (uint8_t)n;
	return err;
}

/* lane_code - polaris.md 10.6; 12 lanes are 5 (pppcielanes.c). */
static uint8_t lane_code(unsigned lanes)
{
	static const uint8_t most[] = {1, 2, 4, 8, 12, 16};
	uint8_t code = 1;

	while (code < ARRAY_SIZE(most) && most[code - 1] < lanes)
		code++;
	return code;
}

/* put_link - @gen as the VBIOS counts: 0, 1, 2 for 2.5, 5, 8 GT/s. */
static void put_link(struct build *b, unsigned i, unsigned gen, unsigned lanes)
{
	uint8_t *at = b->out->dpm + DPM_LINK_LEVEL + LINK_LEVEL_BYTES * i;
	unsigned most = b->in->pcie_gen ? b->in->pcie_gen - 1 : 0;

	at[0] = (uint8_t)MIN(gen, most);
	at[1] = lane_code(MIN(lanes, b->in->pcie_lanes));
	at[2] = 1;
	at[3] = b->in->pcie_gen >= 3 ? SPC_GEN3 : SPC_GEN2;
	put_be32(at + 4, DOWN_THRESHOLD);
	put_be32(at + 8, UP_THRESHOLD);
}

/* bif_divider - as a halfword. */
static int bif_divider(struct build *b, unsigned entry, uint8_t *at)
{
	uint8_t value = 0;
	int err = divider(b, b->in->pp->pcie[entry].sclk, &value);

	put_be16(at, value);
	return err;
}

/* put_links - the first entry of the VBIOS' list is for the ultra-low-voltage state, the others
 * are levels; behind them the level of the boot: slowest, all lanes. */
static int put_links(struct build *b)
{
	const struct vbios_powerplay *pp = b->in->pp;
	unsigned entries = MIN(pp->pcies, (unsigned)LINK_LEVELS);
	unsigned n = entries > 1 ? entries - 1 : 1;
	int err = 0;

	for (unsigned i = 0; i < n; i++)
		put_link(b, i, entries > 1 ? pp->pcie[i + 1].gen : 0,
		        entries > 1 ? pp->pcie[i + 1].lanes : 16);
	put_link(b, n, 0, 16);
	for (unsigned i = 0; i < entries && !err; i++)
		err = bif_divider(b, i,
		        i ? b->out->dpm + DPM_LINK_LEVEL + LINK_LEVEL_BYTES * (i - 1) +
		                        LINK_BIF_SCLK_DFS
		          : b->out->dpm + DPM_ULV + ULV_BIF_SCLK_DFS);
	b->link_levels = n;
	b->out->dpm[DPM_LINK_LEVEL_COUNT] = (uint8_t)n;
	b->out->dpm[DPM_PCIE_BOOT_LEVEL] = (uint8_t)n;
	return err;
}

int smu_build_media(struct build *b)
{
	int err = put_links(b);

	return err ? err : put_video(b);
}
