#include <string.h>

#include "device/bytes.h"
#include "tests/unit/enclosure/helper_asm.h"

static bool is_246x;

struct venc *asm_new(enum venc_bridge bridge)
{
	is_246x = bridge == VENC_ASM246X;
	return host_new_with((struct venc_options){.bridge = bridge});
}

static uint8_t bank(uint32_t address)
{
	return (uint8_t)((is_246x ? 0x50 : 0) | (address >> 16 & 1));
}

int asm_peek(struct venc *e, uint32_t address, void *data, uint8_t len)
{
	const uint8_t cdb[6] = {
	        0xE4, len, bank(address), (uint8_t)(address >> 8), (uint8_t)address};
	struct answer a = host_command(e, cdb, sizeof(cdb), data, len, true);

	if (a.status == CSW_GOOD)
		assert_int_equal(a.data, len);
	return a.status;
}

int asm_poke(struct venc *e, uint32_t address, uint8_t value)
{
	const uint8_t cdb[6] = {
	        0xE5, value, bank(address), (uint8_t)(address >> 8), (uint8_t)address};

	return host_command(e, cdb, sizeof(cdb), NULL, 0, false).status;
}

uint8_t asm_peek1(struct venc *e, uint32_t address)
{
	uint8_t byte = 0;

	assert_int_equal(asm_peek(e, address, &byte, 1), CSW_GOOD);
	return byte;
}

void asm_poke32(struct venc *e, uint32_t address, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(
		        asm_poke(e, address + i, (uint8_t)(value >> (24 - 8 * i))), CSW_GOOD);
}

void asm_build(struct venc *e, uint8_t type, uint64_t address, uint8_t enables, uint32_t data)
{
	asm_poke32(e, 0xB220, data);
	asm_poke32(e, 0xB210, (uint32_t)type << 24 | 1);
	asm_poke32(e, 0xB214, enables);
	asm_poke32(e, 0xB218, (uint32_t)address);
	if (is_246x)
		asm_poke32(e, 0xB21C, (uint32_t)(address >> 32));
}

void asm_arm_and_send(struct venc *e)
{
	assert_int_equal(asm_poke(e, ASM_STATUS, 1), CSW_GOOD);
	assert_int_equal(asm_poke(e, 0xB254, 0x0F), CSW_GOOD);
	assert_int_equal(asm_peek1(e, ASM_STATUS) & 4, 4);
	assert_int_equal(asm_poke(e, ASM_STATUS, 4), CSW_GOOD);
}

struct tlp_end asm_finish(struct venc *e, uint8_t type)
{
	struct tlp_end end = {.status = 0xEE};
	uint8_t word[2], data[4];

	if ((type & ~MEM64) == MEM_WRITE)
		return end;
	for (int i = 0; i < 100 && !(end.b296 & 3); i++)
		end.b296 = asm_peek1(e, ASM_STATUS);
	if (!(end.b296 & 2))
		return end;
	assert_int_equal(asm_poke(e, ASM_STATUS, 2), CSW_GOOD);
	end.has_data = asm_peek1(e, 0xB284) & 1;
	assert_int_equal(asm_peek(e, 0xB22A, word, 2), CSW_GOOD);
	assert_int_equal(asm_peek(e, 0xB220, data, 4), CSW_GOOD);
	end.status = word[0] >> 5;
	end.count = get_be16(word) & 0xFFF;
	end.data = get_be32(data);
	return end;
}

struct tlp_end asm_request(
        struct venc *e, uint8_t type, uint64_t address, uint8_t enables, uint32_t data)
{
	asm_build(e, type, address, enables, data);
	asm_arm_and_send(e);
	return asm_finish(e, type);
}

uint32_t asm_config_read(struct venc *e, uint8_t type, uint32_t address)
{
	struct tlp_end end = asm_request(e, type, address, 0xF, 0);

	assert_int_equal(end.b296, 2);
	assert_int_equal(end.status, 0);
	assert_int_equal(end.count, 4);
	assert_true(end.has_data);
	return end.data;
}

void asm_config_write(struct venc *e, uint8_t type, uint32_t address, uint32_t value)
{
	struct tlp_end end = asm_request(e, type, address, 0xF, value);

	assert_int_equal(end.b296, 2);
	assert_int_equal(end.status, 0);
	assert_int_equal(end.count, 4);
	assert_false(end.has_data);
}

void asm_open(struct venc *e)
{
	asm_config_write(e, CFG0_WRITE, 0x20, 0x3FF01000);
	asm_config_write(e, CFG0_WRITE, 0x24, 0x0001FFF1);
	asm_config_write(e, CFG0_WRITE, 0x04, 7);
	asm_config_write(e, CFG1_WRITE, BUS1 | 0x10, ASM_BAR0);
	asm_config_write(e, CFG1_WRITE, BUS1 | 0x24, ASM_BAR5);
	asm_config_write(e, CFG1_WRITE, BUS1 | 0x04, 6);
}
