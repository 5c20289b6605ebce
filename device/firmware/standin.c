/* standin.c - generated microcode for the virtual card, see standin.h. Headers as in polaris.md
 * 4.2, so that one parser serves both. */
#include "device/firmware/standin.h"

#include <stdlib.h>

#include "device/bytes.h"
#include "device/firmware/firmware_priv.h"

#define ARRAY_OFFSET  256u /* of the payload in the file */
#define JT_BYTES      256u /* jt_size 64, as in amdgpu-oracle.md 2 */
#define FEATURE       49u  /* amdgpu-oracle.md 2: ucode_feature_version */
#define SMC_LOAD      0x20000u
#define SMC_ZERO_FROM (STANDIN_DPM_TABLE - SMC_LOAD) /* tables begin empty */
#define UCODE_MEC_JT1 7                              /* polaris.md 4.4 */

/* xorshift32; any seed but 0 */
static uint32_t next_filler(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void put_words(uint8_t *at, uint32_t kind, uint32_t bytes)
{
	put_le32(at, STANDIN_MAGIC);
	put_le32(at + 4, kind);
	put_le32(at + 8, bytes);
}

static void put_filler(uint8_t *from, size_t bytes, uint32_t kind)
{
	uint32_t state = 0x9E3779B9u ^ kind;

	for (size_t i = 0; i < bytes; i += 4)
		put_le32(from + i, next_filler(&state));
}

static void put_block(uint8_t *at, uint32_t kind, uint32_t bytes)
{
	put_words(at, kind, bytes);
	put_filler(at + STANDIN_HEAD_BYTES, bytes - STANDIN_MIN_BYTES, kind);
	put_le32(at + bytes - 4, crc32_of(at, bytes - 4));
}

/* The SMC's: firmware header (polaris.md 10.3) with pointers the driver can use. */
static void put_smc(uint8_t *at, uint32_t bytes)
{
	static const struct {
		uint32_t offset, value;
	} header[] = {
	        {20, STANDIN_SMC_VERSION},
	        {24, STANDIN_SMC_AT},            /* HeaderSize */
	        {32, SMC_LOAD + STANDIN_SMC_AT}, /* EntryPoint */
	        {48, STANDIN_SOFT_REGISTERS},
	        {52, STANDIN_DPM_TABLE},
	        {56, STANDIN_FAN_TABLE},
	        {68, STANDIN_MC_REGISTER_TABLE},
	        {72, STANDIN_MC_ARB_TABLE},
	        {76, STANDIN_PM_FUSE_TABLE},
	        {104, STANDIN_AVFS_MEAN_N_SIGMA},
	        {108, STANDIN_AVFS_SCLK_OFFSETS},
	};
	uint32_t from = STANDIN_SMC_AT + STANDIN_HEAD_BYTES;

	for (size_t i = 0; i < ARRAY_SIZE(header); i++)
		put_le32(at + header[i].offset, header[i].value);
	put_le32(at + 36, bytes); /* CodeSize, ImageSize */
	put_le32(at + 40, bytes);
	put_words(at + STANDIN_SMC_AT, STANDIN_SMC, bytes);
	put_filler(at + from, SMC_ZERO_FROM - from, STANDIN_SMC);
	put_le32(at + bytes - 4, crc32_of(at, bytes - 4));
}

static void put_payload(uint8_t *at, enum fw_kind kind, uint32_t bytes)
{
	uint32_t id = fw_format(kind)->id;

	if (kind == FW_SMC) {
		put_smc(at, bytes);
	} else if (kind == FW_MEC) {
		put_block(at, id, bytes - JT_BYTES);
		put_block(at + bytes - JT_BYTES, UCODE_MEC_JT1, JT_BYTES);
	} else {
		put_block(at, id, bytes);
	}
}

/* The fields after the common header, at the offsets of polaris.md 4.2. */
static void put_extra(uint8_t *file, enum fw_kind kind, uint32_t bytes)
{
	uint32_t jt_dwords = (bytes - JT_BYTES) / 4;

	switch (kind) {
	case FW_SMC: put_le32(file + 32, SMC_LOAD); break;
	case FW_MC: break; /* no io_debug pairs */
	case FW_SDMA0:
	case FW_SDMA1: put_le32(file + 32, FEATURE); break;
	default:
		put_le32(file + 32, FEATURE);
		put_le32(file + 36, jt_dwords);
		put_le32(file + 40, JT_BYTES / 4);
	}
}

uint8_t *fw_standin(enum fw_kind kind, size_t *size)
{
	const struct fw_format *f = fw_format(kind);
	uint32_t bytes = f->standin_bytes;
	uint8_t *file = calloc(1, ARRAY_OFFSET + bytes);

	if (!file)
		return NULL;
	*size = ARRAY_OFFSET + bytes;
	put_le32(file, (uint32_t)*size);
	put_le32(file + 4, f->header_bytes + (f->max_minor ? f->minor_bytes : 0));
	put_le16(file + 8, f->major);
	put_le16(file + 10, f->max_minor);
	put_le16(file + 12, 8);
	put_le32(file + 16, 1);
	put_le32(file + 20, bytes);
	put_le32(file + 24, ARRAY_OFFSET);
	put_payload(file + ARRAY_OFFSET, kind, bytes);
	put_le32(file + 28, crc32_of(file + ARRAY_OFFSET, bytes));
	put_extra(file, kind, bytes);
	return file;
}
