/* helper_file.c - see helper_file.h. Written from the table, not from the code under test. */
#include "helper_file.h"

#include <stdlib.h>

#include "device/bytes.h"

#define AT 256u

static void put_kind(uint8_t *f, enum fw_kind kind, uint16_t minor, uint32_t payload)
{
	switch (kind) {
	case FW_SMC:
		put_le32(f + 4, 36);
		put_le32(f + 32, 0x20000);
		break;
	case FW_MC:
		put_le32(f + 4, 40);
		put_le32(f + 32, 16); /* two io_debug pairs behind the header */
		put_le32(f + 36, 64);
		put_le32(f + 64, 0x9F);
		put_le32(f + 68, 0xB0000003);
		break;
	case FW_SDMA0:
	case FW_SDMA1:
		put_le32(f + 4, minor ? 52 : 48);
		put_le32(f + 32, 31);
		put_le32(f + 48, minor ? 20 : 0); /* digest_size */
		break;
	case FW_RLC:
		put_le16(f + 8, 2);
		put_le32(f + 4, 104);
		put_le32(f + 32, 1);
		put_le32(f + 72, 8); /* reg_list_format: 8 bytes at 128 */
		put_le32(f + 76, 128);
		break;
	default:
		put_le32(f + 4, 44);
		put_le32(f + 32, 49);
		put_le32(f + 36, payload / 4 - 16); /* jump table: the last 16 dwords */
		put_le32(f + 40, 16);
	}
}

uint8_t *helper_file(enum fw_kind kind, uint16_t minor, uint32_t payload, size_t *size)
{
	uint8_t *f = calloc(1, AT + payload);

	assert_non_null(f);
	*size = AT + payload;
	put_le32(f, (uint32_t)*size);
	put_le16(f + 8, 1);
	put_le16(f + 10, minor);
	put_le16(f + 12, 8);
	put_le32(f + 16, 0x12345678);
	put_le32(f + 20, payload);
	put_le32(f + 24, AT);
	for (uint32_t i = 0; i < payload; i++)
		f[AT + i] = (uint8_t)(i * 7 + kind);
	put_kind(f, kind, minor, payload);
	return f;
}
