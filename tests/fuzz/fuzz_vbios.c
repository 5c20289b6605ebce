/* fuzz_vbios.c - libFuzzer entry: images for the VBIOS parser and the decoders of its tables.
 * Byte 0 even: the rest are patches of the synthetic VBIOS, three bytes each (u16 offset, value);
 * odd: the rest is an image. The checksum is put right, so that what lies behind it is reached.
 */
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/log.h"
#include "device/vbios/info.h"
#include "device/vbios/powerplay.h"
#include "device/vbios/voltage.h"
#include "device/vbios/vram_info.h"
#include "device/virtual/vbios/atom_asm.h"
#include "device/virtual/vbios/synth.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

/* check_tables - every table of a parsed image lies inside it. */
static void check_tables(const struct vbios_rom *rom)
{
	require(rom->images >= 1 && rom->images <= VBIOS_MAX_IMAGES);
	for (unsigned i = 0; i < rom->images; i++)
		require(range_ok(rom->image[i].offset, rom->image[i].bytes, rom->size));
	for (unsigned i = 0; i < ATOM_COMMAND_COUNT; i++)
		require(range_ok(rom->command[i].offset, rom->command[i].size, rom->legacy_bytes));
	for (unsigned i = 0; i < ATOM_DATA_COUNT; i++)
		require(range_ok(rom->table[i].offset, rom->table[i].size, rom->legacy_bytes));
}

static void decode_small(const struct vbios_rom *rom)
{
	struct vbios_firmware_info fw;
	struct vbios_vram_usage usage;
	struct vbios_profiling prof;
	struct vbios_gpio_lut lut;
	struct vbios_gpio_i2c i2c;
	struct vbios_gfx_info gfx;
	struct vbios_smu_info smu;
	struct vbios_mc_init mc;
	struct vbios_ss_info ss;
	uint32_t edc[VBIOS_EDC_REGISTERS];

	vbios_firmware_info(rom, &fw);
	vbios_vram_usage(rom, &usage);
	vbios_profiling(rom, &prof);
	for (unsigned leakage = 0; !vbios_gfx_info(rom, &gfx) && leakage < 2; leakage++)
		vbios_edc(rom, &gfx, leakage * gfx.leakage_threshold, edc);
	vbios_mc_init(rom, &mc);
	if (!vbios_gpio_lut(rom, &lut))
		require(lut.pins <= ARRAY_SIZE(lut.pin));
	if (!vbios_gpio_i2c(rom, &i2c))
		require(i2c.lines <= ARRAY_SIZE(i2c.line));
	if (!vbios_smu_info(rom, &smu))
		require(smu.ranges <= ARRAY_SIZE(smu.range));
	if (!vbios_ss_info(rom, &ss))
		require(ss.entries <= ARRAY_SIZE(ss.entry));
}

static void decode_large(const struct vbios_rom *rom)
{
	static struct vbios_vram_info vram;
	static struct vbios_powerplay pp;
	static struct vbios_voltages volt;

	if (!vbios_vram_info(rom, &vram)) {
		require(vram.module_count <= VBIOS_MAX_MODULES);
		for (unsigned i = 0; i < vram.module_count; i++)
			require(memchr(vram.module[i].part, 0, sizeof(vram.module[i].part)));
	}
	if (!vbios_powerplay(rom, &pp))
		for (unsigned i = 0; i < pp.sclks; i++)
			require(pp.sclk[i].vdd_index < pp.vddcs);
	if (!vbios_voltages(rom, &volt))
		for (unsigned i = 0; i < volt.objects; i++)
			require(volt.object[i].entries <= VBIOS_MAX_VOLTAGE_ENTRIES);
}

static void use(uint8_t *image, size_t size)
{
	struct vbios_rom rom;

	if (size > 3 && image[2] && image[2] * 512u <= size)
		as_checksum(image);
	if (vbios_rom_parse(&rom, image, size))
		return;
	check_tables(&rom);
	decode_small(&rom);
	decode_large(&rom);
}

static void use_patched(const uint8_t *patches, size_t size)
{
	static uint8_t flash[SYNTH_FLASH_BYTES];
	static int legacy;

	if (!legacy)
		legacy =
		        synth_build(flash, sizeof(flash), &(struct synth_options){.vram_mb = 8192});
	uint8_t *image = malloc((size_t)legacy); /* exact, for AddressSanitizer */

	if (!image)
		return;
	memcpy(image, flash, (size_t)legacy);
	for (; size >= 3; patches += 3, size -= 3)
		image[get_le16(patches) % (unsigned)legacy] = patches[2];
	use(image, (size_t)legacy);
	free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	rx_log_set_stderr(false);
	if (size < 2)
		return 0;
	if (data[0] & 1) {
		uint8_t *image = malloc(size - 1);

		if (!image)
			return 0;
		memcpy(image, data + 1, size - 1);
		use(image, size - 1);
		free(image);
	} else {
		use_patched(data + 1, size - 1);
	}
	return 0;
}
