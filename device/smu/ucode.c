/* ucode.c - the SMU loads the other engines' microcode from VRAM: polaris.md 4.4. */
#include <stdio.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/regs/regs.h"
#include "device/regs/smc.h"
#include "device/smu/smu_priv.h"

/* polaris.md 4.4 */
#define PAGE          4096u
#define SMU_BUFFER    (200u * PAGE)
#define TOC_BYTES     PAGE
#define TOC_VERSION   1
#define TOC_ENTRIES   9
#define TOC_HEAD      8
#define ENTRY_BYTES   28
#define FLAG_UNHALT   1 /* of RLC_G and CP_MEC */
#define UCODE_MEC_JT1 7
#define UCODE_MEC_JT2 8
#define LOAD_MASK     0x47Eu /* RLC_G, SDMA0/1, CE, PFP, ME, MEC */
#define SAMPLE_BYTES  64u    /* of each page, read back */

/* One line of the table of contents: bytes of an image, as VRAM will hold them. */
struct entry {
	uint16_t id, version, flags;
	const uint8_t *data;
	uint32_t bytes;
	uint64_t at; /* VRAM offset */
};

static const struct {
	enum fw_kind kind;
	uint16_t id, flags;
} order[] = {
        {FW_RLC, 10, FLAG_UNHALT},
        {FW_CE, 3, 0},
        {FW_PFP, 4, 0},
        {FW_ME, 5, 0},
        {FW_MEC, 6, FLAG_UNHALT},
        {FW_SDMA0, 1, 0},
        {FW_SDMA1, 2, 0},
};

static void add(struct entry *list, size_t *n, uint64_t *at, struct entry e)
{
	e.at = *at;
	*at += align_up(e.bytes, PAGE);
	list[(*n)++] = e;
}

/* add_jump_tables - JT1 and JT2 show the same copy, on a page of its own (amdgpu-oracle.md 7). */
static void add_jump_tables(
        struct entry *list, size_t *n, uint64_t *at, const struct fw_image *mec, uint16_t version)
{
	add(list, n, at,
	        (struct entry){.id = UCODE_MEC_JT1,
	                .version = version,
	                .data = mec->payload + mec->jt_offset,
	                .bytes = mec->jt_bytes});
	list[*n] = list[*n - 1];
	list[(*n)++].id = UCODE_MEC_JT2;
}

/* lay_out - where everything goes from @base on. Return: the first byte behind it. */
static uint64_t lay_out(struct entry list[TOC_ENTRIES], const struct fw_set *set, uint64_t base)
{
	uint64_t at = base + SMU_BUFFER + TOC_BYTES;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		const struct fw_image *f = &set->image[order[i].kind];
		bool mec = order[i].kind == FW_MEC;

		add(list, &n, &at,
		        (struct entry){.id = order[i].id,
		                .version = (uint16_t)f->ucode_version,
		                .flags = order[i].flags,
		                .data = f->payload,
		                .bytes = mec ? f->jt_offset : f->payload_bytes});
		if (mec)
			add_jump_tables(list, &n, &at, f, (uint16_t)f->ucode_version);
	}
	return at;
}

uint64_t smu_ucode_room(const struct fw_set *set)
{
	struct entry list[TOC_ENTRIES];

	return lay_out(list, set, 0);
}

static void encode_toc(
        const struct entry list[TOC_ENTRIES], uint64_t fb_base, uint8_t toc[TOC_HEAD])
{
	put_le32(toc, TOC_VERSION);
	put_le32(toc + 4, TOC_ENTRIES);
	for (size_t i = 0; i < TOC_ENTRIES; i++) {
		uint8_t *e = toc + TOC_HEAD + ENTRY_BYTES * i;
		uint64_t addr = fb_base + list[i].at;

		put_le16(e, list[i].id);
		put_le16(e + 2, list[i].version);
		put_le32(e + 4, (uint32_t)(addr >> 32));
		put_le32(e + 8, (uint32_t)addr);
		put_le32(e + 12, 0); /* no meta data */
		put_le32(e + 16, 0);
		put_le32(e + 20, list[i].bytes);
		put_le16(e + 24, list[i].flags);
		put_le16(e + 26, 0); /* no registers */
	}
}

/* ---- into VRAM ---- */

/* check_copy - the beginning of every page, read back. What the link loses it loses by the TLP. */
static int check_copy(struct smu *s, const struct entry *e)
{
	for (uint32_t at = 0; at < e->bytes; at += PAGE) {
		uint8_t back[SAMPLE_BYTES];
		uint32_t n = MIN(SAMPLE_BYTES, e->bytes - at);
		int err = gmc_window_read(s->gmc, e->at + at, back, n);

		if (err)
			return err;
		if (memcmp(back, e->data + at, n))
			return rx_fail("smu", -EIO,
			        "microcode %u: VRAM at 0x%llx does not hold what was written",
			        e->id, (unsigned long long)(e->at + at));
	}
	return 0;
}

static int copy_images(struct smu *s, const struct entry list[TOC_ENTRIES])
{
	int err = 0;

	for (size_t i = 0; i < TOC_ENTRIES && !err; i++)
		if (list[i].id != UCODE_MEC_JT2)
			err = gmc_window_write(s->gmc, list[i].at, list[i].data, list[i].bytes);
	if (!err)
		err = gmc_hdp_flush(s->gmc);
	if (!err)
		err = gmc_hdp_invalidate(s->gmc);
	for (size_t i = 0; i < TOC_ENTRIES && !err; i++)
		err = check_copy(s, &list[i]);
	return err;
}

static int copy_toc(struct smu *s, const struct entry list[TOC_ENTRIES], uint64_t at)
{
	uint8_t toc[TOC_HEAD + ENTRY_BYTES * TOC_ENTRIES];

	encode_toc(list, gmc_fb_base(s->gmc), toc);
	int err = gmc_window_write(s->gmc, at, toc, sizeof(toc));

	return err ? err : gmc_hdp_flush(s->gmc);
}

/* ---- steps 2 to 6 ---- */

static int send_address(struct smu *s, enum ppsmc_msg high, enum ppsmc_msg low, uint64_t addr)
{
	int err = smu_message_arg(s, high, (uint32_t)(addr >> 32));

	return err ? err : smu_message_arg(s, low, (uint32_t)addr);
}

/* name_missing - the engines whose bits are not in @status. */
static int name_missing(uint32_t status, const struct fw_set *set)
{
	char names[128] = "";

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		if (!(status >> order[i].id & 1)) {
			size_t n = strlen(names);

			snprintf(names + n, sizeof(names) - n, " %s (%s)", fw_title(order[i].kind),
			        set->image[order[i].kind].name);
		}
	return rx_fail("smu", -ETIMEDOUT,
	        "LoadUcodes: UcodeLoadStatus 0x%x, expected 0x%x after %d ms; not loaded:%s",
	        status, LOAD_MASK, SMU_TIMEOUT_MS, names);
}

static int request_load(struct smu *s, const struct fw_set *set)
{
	uint32_t at = s->header.soft_registers + SOFT_UCODE_LOAD_STATUS, status = 0;
	int err = smu_message_arg(s, PPSMC_MSG_LoadUcodes, LOAD_MASK);

	if (!err)
		err = smc_wait(s->mmio, at, LOAD_MASK, LOAD_MASK, SMU_TIMEOUT_MS, &status);
	return err == -ETIMEDOUT ? name_missing(status, set) : err;
}

int smu_load_ucodes(struct smu *s, const struct fw_set *set, uint64_t vram_offset)
{
	struct entry list[TOC_ENTRIES];
	uint64_t end = lay_out(list, set, vram_offset), fb = gmc_fb_base(s->gmc);

	if (vram_offset % PAGE || end > gmc_window_bytes(s->gmc))
		return rx_fail("smu", -EINVAL,
		        "no room for microcode at VRAM 0x%llx..0x%llx in a window of 0x%llx",
		        (unsigned long long)vram_offset, (unsigned long long)end,
		        (unsigned long long)gmc_window_bytes(s->gmc));
	int err = copy_images(s, list);

	if (!err)
		err = copy_toc(s, list, vram_offset + SMU_BUFFER);
	if (!err)
		err = smc_write(s->mmio, s->header.soft_registers + SOFT_UCODE_LOAD_STATUS, 0);
	if (!err)
		err = send_address(s, PPSMC_MSG_SMU_DRAM_ADDR_HI, PPSMC_MSG_SMU_DRAM_ADDR_LO,
		        fb + vram_offset);
	if (!err)
		err = send_address(s, PPSMC_MSG_DRV_DRAM_ADDR_HI, PPSMC_MSG_DRV_DRAM_ADDR_LO,
		        fb + vram_offset + SMU_BUFFER);
	return err ? err : request_load(s, set);
}

int smu_check_ucodes(struct smu *s)
{
	uint32_t status;
	int err = smc_read(s->mmio, s->header.soft_registers + SOFT_UCODE_LOAD_STATUS, &status);

	if (!err && (status & LOAD_MASK) != LOAD_MASK)
		return rx_fail("smu", -EPROTO,
		        "the running firmware has loaded microcode 0x%x of 0x%x: the card was left "
		        "in the middle of a start",
		        status & LOAD_MASK, LOAD_MASK);
	return err;
}
