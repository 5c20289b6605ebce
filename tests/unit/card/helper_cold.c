/* helper_cold.c - see helper_cold.h */
#include "device/bytes.h"
#include "tests/unit/card/helper_cold.h"

#define RESP_OK 1u
#define SMU_MS  200 /* of the card's time: then it will not answer any more */

int cold_setup(void **state)
{
	*state = host_new(&(struct vcard_options){.cold = true});
	return 0;
}

uint32_t smc_get(struct host *h, uint32_t index)
{
	reg_write(h, REG_SMC_IND_INDEX_11, index);
	return reg_read(h, REG_SMC_IND_DATA_11);
}

void smc_put(struct host *h, uint32_t index, uint32_t value)
{
	reg_write(h, REG_SMC_IND_INDEX_11, index);
	reg_write(h, REG_SMC_IND_DATA_11, value);
}

void stand_in_seal(uint8_t *image, uint32_t bytes)
{
	uint32_t crc = 0xFFFFFFFF;

	for (uint32_t i = 0; i < bytes - 4; i++) {
		crc ^= image[i];
		for (int k = 0; k < 8; k++)
			crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
	}
	put_le32(image + bytes - 4, ~crc);
}

static void header(uint8_t *at, uint32_t kind, uint32_t bytes)
{
	memcpy(at, "FSRX", 4);
	put_le32(at + 4, kind);
	put_le32(at + 8, bytes);
}

void stand_in(uint8_t *image, uint32_t bytes, uint32_t kind)
{
	for (uint32_t i = 0; i < bytes; i++)
		image[i] = (uint8_t)(i * 7 + kind);
	header(image, kind, bytes);
	stand_in_seal(image, bytes);
}

void cold_load_mc(struct host *h, const uint8_t *image, uint32_t bytes)
{
	reg_write(h, REG_MC_SEQ_SUP_CNTL, 8); /* polaris.md 3.7 */
	reg_write(h, REG_MC_SEQ_SUP_CNTL, 0x10);
	for (uint32_t i = 0; i < bytes; i += 4)
		reg_write(h, REG_MC_SEQ_SUP_PGM, get_le32(image + i));
	reg_write(h, REG_MC_SEQ_SUP_CNTL, 8);
	reg_write(h, REG_MC_SEQ_SUP_CNTL, 4);
	reg_write(h, REG_MC_SEQ_SUP_CNTL, 1);
}

void cold_post(struct host *h)
{
	uint32_t mib = VRAM_BYTES >> 20;
	uint8_t image[64];

	stand_in(image, sizeof(image), 0x101);
	cold_load_mc(h, image, sizeof(image));
	assert_int_equal(reg_read(h, REG_MC_SEQ_MISC0) & 0x80, 0x80);
	reg_write(h, REG_CONFIG_MEMSIZE, mib);
	reg_write(h, REG_MC_VM_FB_LOCATION, 0xF400 | (0xF3FF + mib / 16) << 16);
	reg_write(h, REG_MC_SEQ_MISC9, 0xFF00);
	reg_write(h, REG_MC_SEQ_MISC9, 0x0007);
	assert_int_equal(reg_read(h, REG_MC_SEQ_MISC9), 0x0707);
	reg_write(h, REG_BIF_FB_EN, 3);
	reg_write(h, REG_BIOS_SCRATCH_7, 0x200);
}

void smc_image(uint8_t image[SMC_IMAGE_BYTES])
{
	for (uint32_t i = 0; i < SMC_IMAGE_BYTES; i++)
		image[i] = (uint8_t)i;
	put_le32(image + 48, SMC_SOFT);
	put_le32(image + 52, SMC_DPM);
	put_le32(image + 56, SMC_FAN);
	put_le32(image + 72, 0x3E600);
	put_le32(image + 76, 0x3E800);
	header(image + 0x100, 0x100, SMC_IMAGE_BYTES);
	stand_in_seal(image, SMC_IMAGE_BYTES);
}

void smc_upload(struct host *h, const uint8_t *image, uint32_t bytes)
{
	smc_put(h, IX_SMC_SYSCON_RESET_CNTL, 1);
	reg_write(h, REG_SMC_IND_INDEX_11, 0x20000);
	reg_write(h, REG_SMC_IND_ACCESS_CNTL, 1u << 11);
	for (uint32_t i = 0; i < bytes; i += 4)
		reg_write(h, REG_SMC_IND_DATA_11, get_le32(image + i));
	reg_write(h, REG_SMC_IND_ACCESS_CNTL, 0);
}

static bool wait_smc(struct host *h, uint32_t index, uint32_t mask, uint32_t value)
{
	for (int ms = 0; (smc_get(h, index) & mask) != value; ms++) {
		if (ms == SMU_MS)
			return false;
		vcard_advance(h->card, 1);
	}
	return true;
}

uint32_t smc_start(struct host *h)
{
	uint32_t arg = 0x20000, status;

	smc_put(h, IX_SMU_STATUS, 0);
	smc_put(h, IX_SMC_SYSCON_CLOCK_CNTL_0, 0);
	smc_put(h, IX_SMC_SYSCON_RESET_CNTL, 0);
	assert_true(wait_smc(h, IX_RCU_UC_EVENTS, 1u << 16, 1u << 16));
	/* the bit stays from an earlier start: until the boot ROM answers */
	vcard_advance(h->card, 10);
	assert_int_equal(smc_send(h, 0x100, &arg), RESP_OK);
	status = smc_get(h, IX_SMU_STATUS);
	if (status != 3)
		return status;
	smc_put(h, IX_FIRMWARE_FLAGS, 0);
	smc_put(h, IX_SMC_SYSCON_RESET_CNTL, 1);
	smc_put(h, IX_SMC_SYSCON_RESET_CNTL, 0);
	assert_true(wait_smc(h, IX_FIRMWARE_FLAGS, 1, 1));
	assert_true(smc_get(h, IX_SMC_PC_C) >= 0x20100);
	return status;
}

uint32_t smc_send(struct host *h, uint32_t id, uint32_t *arg)
{
	uint32_t r;

	reg_write(h, REG_SMC_MSG_ARG_0, *arg);
	reg_write(h, REG_SMC_RESP_0, 0);
	reg_write(h, REG_SMC_MESSAGE_0, id);
	for (int ms = 0; !(r = reg_read(h, REG_SMC_RESP_0)) && ms < SMU_MS; ms++)
		vcard_advance(h->card, 1);
	*arg = reg_read(h, REG_SMC_MSG_ARG_0);
	return r;
}

void smc_tell(struct host *h, uint32_t id, uint32_t arg)
{
	uint32_t r = smc_send(h, id, &arg);

	if (r != RESP_OK)
		fail_msg("message 0x%x: expected response 1, got 0x%x", id, r);
}

const uint32_t ucode_ids[UCODE_COUNT] = {10, 3, 4, 5, 6, 7, 8, 1, 2}; /* polaris.md 4.4 */
enum { JT_BYTES = 0x100 };

uint32_t ucode_at(unsigned i)
{
	return UCODE_IMAGES + 0x10000 * (i == 6 ? 5 : i); /* JT1 and JT2 share a copy */
}

static uint32_t entry_bytes(uint32_t id)
{
	return id == 6 ? UCODE_BYTES - JT_BYTES : id == 7 || id == 8 ? JT_BYTES : UCODE_BYTES;
}

/* The MEC without its jump table, which is an image of its own kind, 7, for both entries. */
static void put_image(struct host *h, unsigned i)
{
	uint32_t id = ucode_ids[i] == 8 ? 7 : ucode_ids[i], bytes = entry_bytes(id);
	uint8_t image[UCODE_BYTES];

	stand_in(image, bytes, id);
	for (uint32_t k = 0; k < bytes; k += 4)
		vram_write(h, ucode_at(i) + k, get_le32(image + k));
}

void ucode_place(struct host *h)
{
	vram_write(h, UCODE_TOC, 1);
	vram_write(h, UCODE_TOC + 4, UCODE_COUNT);
	for (unsigned i = 0; i < UCODE_COUNT; i++) {
		uint32_t at = UCODE_TOC + 8 + 28 * i, id = ucode_ids[i];
		const uint32_t entry[7] = {id, (uint32_t)(FB_BASE >> 32), ucode_at(i), 0, 0,
		        entry_bytes(id), id == 10 || id == 6};

		put_image(h, i);
		vram_fill(h, at, entry, 7);
	}
	hdp_flush_now(h);
}

uint32_t ucode_load(struct host *h)
{
	smc_put(h, SMC_SOFT + 108, 0);
	smc_tell(h, 0x252, 0xF4);
	smc_tell(h, 0x253, UCODE_BUFFER);
	smc_tell(h, 0x250, 0xF4);
	smc_tell(h, 0x251, UCODE_TOC);
	smc_tell(h, 0x254, 0x47E);
	vcard_advance(h->card, 100);
	return smc_get(h, SMC_SOFT + 108);
}

void cold_up(struct host *h)
{
	uint8_t image[SMC_IMAGE_BYTES];

	cold_post(h);
	smc_image(image);
	smc_upload(h, image, sizeof(image));
	assert_int_equal(smc_start(h), 3);
	ucode_place(h);
	assert_int_equal(ucode_load(h), 0x47E);
	reg_write(h, REG_RLC_CNTL, 1);
	assert_no_guest_errors(h);
}

static void put_tables(struct host *h)
{
	/* sclk MHz and mV of the example board: polaris.md 10.4 */
	static const uint32_t mhz[] = {300, 600, 918, 1167, 1239, 1282, 1326, 1366};
	static const uint32_t mv[] = {750, 800, 900, 1000, 1050, 1075, 1100, 1150};
	static const uint32_t mclk[] = {300, 1000, 2000};

	smc_put(h, SMC_DPM + 208, 0x08030000);
	for (uint32_t i = 0; i < 8; i++) {
		smc_put(h, SMC_DPM + 236 + 56 * i, 4 * mv[i]);
		smc_put(h, SMC_DPM + 236 + 56 * i + 32, mhz[i] * 100);
	}
	for (uint32_t i = 0; i < 3; i++)
		smc_put(h, SMC_DPM + 708 + 24 * i + 8, mclk[i] * 100);
	smc_put(h, SMC_DPM + 224, 54u << 24 | 46u << 8); /* fan start and stop, x 256 */
	smc_put(h, SMC_DPM + 1584, 90u << 8);            /* TemperatureLimitHigh in the low half */
	smc_put(h, SMC_DPM + 1612, (145u * 128) << 16 | 145u * 128);
	/* fan table of the oracle's run (traces, smc-tables): 40 65 109 C, slopes 17 22, from 27 */
	smc_put(h, SMC_FAN, 40);
	smc_put(h, SMC_FAN + 4, 65u << 16 | 109);
	smc_put(h, SMC_FAN + 8, 17u << 16 | 22);
	smc_put(h, SMC_FAN + 12, 27u << 16 | 1);
	smc_put(h, IX_CG_FDO_CTRL1, 0x40092587); /* polaris.md 10.9 */
	smc_put(h, IX_CG_FDO_CTRL2, 0x02BF1435);
	smc_put(h, IX_CG_THERMAL_INT, 0x08006A60);
}

void dpm_start(struct host *h, bool controllers)
{
	put_tables(h);
	smc_tell(h, 0x109, 0);
	smc_tell(h, 0x14E, 0);
	smc_tell(h, 0x150, 0);
	if (controllers) {
		smc_tell(h, 0x169, 0);
		smc_tell(h, 0x185, 0);
		smc_tell(h, 0x187, 145 << 8);
		smc_tell(h, 0x188, 145 * 256);
	}
	smc_tell(h, 0x5B, 1);
	smc_tell(h, 0x145, 0xFF);
	smc_tell(h, 0x146, 0x7);
	assert_no_guest_errors(h);
}
