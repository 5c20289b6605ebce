/* test_card_config.c - configuration space, address decoding, ROM. */
#include "device/bytes.h"
#include "tests/unit/card/helper_card.h"

static void identity_is_an_rx580_with_audio(void **state)
{
	struct host *h = *state;
	struct vcard_tlp none = {.type = VCARD_CFG_READ, .address = 2 << 12, .byte_enables = 0xF};

	assert_int_equal(cfg_read(h, 0, 0x00), 0x67DF1002);
	assert_int_equal(cfg_read(h, 0, 0x08), 0x030000E7);
	assert_int_equal(cfg_read(h, 0, 0x0C) >> 16 & 0xFF, 0x80);
	assert_int_equal(cfg_read(h, 1, 0x00), 0xAAF01002);
	assert_int_equal(cfg_read(h, 1, 0x08) >> 8, 0x040300);
	assert_int_equal(vcard_tlp(h->card, &none), VCARD_UR);
}

static uint64_t size_bar(struct host *h, unsigned function, unsigned bar, bool wide)
{
	uint64_t mask;

	cfg_write(h, function, 0x04, 0);
	cfg_write(h, function, bar, 0xFFFFFFFF);
	mask = cfg_read(h, function, bar) & ~0xFull;
	if (wide) {
		cfg_write(h, function, bar + 4, 0xFFFFFFFF);
		mask |= (uint64_t)cfg_read(h, function, bar + 4) << 32;
	} else {
		mask |= 0xFFFFFFFF00000000;
	}
	return ~mask + 1;
}

static void bars_size_as_the_board(void **state)
{
	struct host *h = *state;

	assert_int_equal(size_bar(h, 0, 0x10, true), 256ull << 20);
	assert_int_equal(size_bar(h, 0, 0x18, true), 2ull << 20);
	assert_int_equal(size_bar(h, 0, 0x24, false), 256ull << 10);
	assert_int_equal(size_bar(h, 1, 0x10, true), 16ull << 10);
	cfg_write(h, 0, 0x20, 0xFFFFFFFF);
	assert_int_equal(cfg_read(h, 0, 0x20), 0xFFFFFF01); /* I/O, 256 bytes */
	cfg_write(h, 0, 0x30, 0xFFFFF800);
	assert_int_equal(cfg_read(h, 0, 0x30), 0xFFFE0000); /* ROM, 128 KiB */
}

static void configuration_honours_byte_enables(void **state)
{
	struct host *h = *state;
	struct vcard_tlp t = {
	        .type = VCARD_CFG_WRITE, .address = 0x24, .byte_enables = 0x8, .data = 0xA3FFFFFF};

	assert_int_equal(vcard_tlp(h->card, &t), VCARD_SC);
	assert_int_equal(cfg_read(h, 0, 0x24), 0xA3000000);
	cfg_write(h, 0, 0x00, 0); /* read only */
	assert_int_equal(cfg_read(h, 0, 0x00), 0x67DF1002);
}

static void capability_list_is_sound(void **state)
{
	struct host *h = *state;
	unsigned at = cfg_read(h, 0, 0x34) & 0xFF, seen = 0;

	assert_int_equal(cfg_read(h, 0, 0x04) >> 20 & 1, 1);
	for (unsigned i = 0; at && i < 16; i++) {
		uint32_t cap = cfg_read(h, 0, at);

		seen |= 1u << (cap & 0x1F);
		at = cap >> 8 & 0xFF;
	}
	assert_int_equal(at, 0);
	assert_int_equal(seen, 1u << 0x01 | 1u << 0x10 | 1u << 0x05);
	assert_int_equal(cfg_read(h, 0, 0x100), 0x00020001); /* AER */
}

static void decoding_needs_command_and_bar(void **state)
{
	struct host *h = *state;
	uint32_t v;

	assert_int_equal(mem_read(h, BAR5_AT + REG_CONFIG_MEMSIZE, &v), VCARD_SC);
	assert_int_equal(v, VRAM_BYTES >> 20);
	assert_int_equal(mem_read(h, 0x40000000, &v), VCARD_UR);
	assert_int_equal(mem_write(h, 0x40000000, 1, 0xF), VCARD_UR);
	assert_int_equal(mem_read(h, AUDIO_AT, &v), VCARD_SC);
	cfg_write(h, 0, 0x04, 0);
	assert_int_equal(mem_read(h, BAR5_AT + REG_CONFIG_MEMSIZE, &v), VCARD_UR);
	assert_int_equal(mem_read(h, BAR0_AT, &v), VCARD_UR);
	cfg_write(h, 0, 0x04, 2);
	cfg_write(h, 0, 0x24, 0xA3200000);
	assert_int_equal(mem_read(h, 0xA3200000 + REG_CONFIG_MEMSIZE, &v), VCARD_SC);
	cfg_write(h, 0, 0x54, 3); /* D3hot: only configuration answers */
	assert_int_equal(mem_read(h, 0xA3200000 + REG_CONFIG_MEMSIZE, &v), VCARD_UR);
	cfg_write(h, 0, 0x54, 0);
	assert_int_equal(mem_read(h, 0xA3200000 + REG_CONFIG_MEMSIZE, &v), VCARD_SC);
	assert_no_guest_errors(h);
}

static void io_bar_reaches_the_index_pair(void **state)
{
	struct host *h = *state;
	struct vcard_tlp t = {.type = VCARD_IO_WRITE,
	        .address = BAR4_AT,
	        .byte_enables = 0xF,
	        .data = REG_CONFIG_MEMSIZE};

	assert_int_equal(vcard_tlp(h->card, &t), VCARD_SC);
	t = (struct vcard_tlp){.type = VCARD_IO_READ, .address = BAR4_AT + 4, .byte_enables = 0xF};
	assert_int_equal(vcard_tlp(h->card, &t), VCARD_SC);
	assert_int_equal(t.data, VRAM_BYTES >> 20);
}

static void check_image(const uint8_t *rom)
{
	const uint8_t *header = rom + get_le16(rom + 0x48), *data, *info;
	uint8_t sum = 0;

	assert_int_equal(get_le16(rom), 0xAA55);
	assert_int_equal(rom[2], 118);
	assert_memory_equal(rom + 0x30, " 761295520", 10);
	assert_memory_equal(rom + get_le16(rom + 0x18), "PCIR", 4);
	assert_int_equal(get_le32(rom + get_le16(rom + 0x18) + 4), 0x67DF1002);
	assert_memory_equal(header + 4, "ATOM", 4);
	for (unsigned i = 0; i < 118 * 512; i++)
		sum = (uint8_t)(sum + rom[i]);
	assert_int_equal(sum, 0);
	data = rom + get_le16(header + 0x20);
	info = rom + get_le16(data + 4 + 2 * 4);
	assert_int_equal(get_le16(info), 108);
	assert_int_equal(get_le32(info + 8), 30000);
	info = rom + get_le16(data + 4 + 2 * 14);
	assert_memory_equal(info + 4, ((uint8_t[]){1, 8, 4, 8, 9, 1, 2, 8}), 8);
}

static void rom_bar_serves_a_valid_image(void **state)
{
	struct host *h = *state;
	static uint8_t rom[118 * 512];
	uint32_t v;

	assert_int_equal(mem_read(h, ROM_AT, &v), VCARD_UR); /* not enabled */
	cfg_write(h, 0, 0x30, (uint32_t)ROM_AT | 1);
	for (unsigned i = 0; i < sizeof(rom); i += 4) {
		assert_int_equal(mem_read(h, ROM_AT + i, &v), VCARD_SC);
		put_le32(rom + i, v);
	}
	check_image(rom);
}

static void smc_port_streams_the_same_image(void **state)
{
	struct host *h = *state;
	static uint8_t rom[118 * 512];

	reg_write(h, REG_SMC_IND_INDEX_11, IX_ROM_INDEX);
	reg_write(h, REG_SMC_IND_DATA_11, 0);
	reg_write(h, REG_SMC_IND_INDEX_11, IX_ROM_DATA);
	for (unsigned i = 0; i < sizeof(rom); i += 4)
		put_le32(rom + i, reg_read(h, REG_SMC_IND_DATA_11));
	check_image(rom);
	assert_no_guest_errors(h);
}

static void config_reset_magic_resets_the_chip(void **state)
{
	struct host *h = *state;
	uint32_t before;

	reg_write(h, REG_SCRATCH_REG0, 0x1234);
	vram_write(h, 0x1000, 0x5678);
	hdp_flush_now(h);
	cfg_write(h, 0, 0x7C, 0x12345678); /* not the magic */
	assert_int_equal(reg_read(h, REG_SCRATCH_REG0), 0x1234);
	before = cfg_read(h, 0, 0x10);
	cfg_write(h, 0, 0x7C, 0x39D5E86B);
	assert_int_not_equal(cfg_read(h, 0, 0x10), before);
	host_enumerate(h);
	assert_int_equal(reg_read(h, REG_CONFIG_MEMSIZE), 0xFFFFFFFF);
	vcard_advance(h->card, 5); /* "up to a few ms": polaris.md 14.2 */
	assert_int_equal(reg_read(h, REG_CONFIG_MEMSIZE), 0); /* nobody has posted it again */
	assert_int_equal(reg_read(h, REG_BIOS_SCRATCH_7) & 0x200, 0);
	assert_int_equal(reg_read(h, REG_SCRATCH_REG0), 0);
	assert_no_guest_errors(h);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, host_setup, host_teardown)
	const struct CMUnitTest tests[] = {
	        T(identity_is_an_rx580_with_audio),
	        T(bars_size_as_the_board),
	        T(configuration_honours_byte_enables),
	        T(capability_list_is_sound),
	        T(decoding_needs_command_and_bar),
	        T(io_bar_reaches_the_index_pair),
	        T(rom_bar_serves_a_valid_image),
	        T(smc_port_streams_the_same_image),
	        T(config_reset_magic_resets_the_chip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
