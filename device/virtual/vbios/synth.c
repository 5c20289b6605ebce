/* synth.c - puts the synthetic VBIOS together, and the memory microcode behind it in the flash. */
#include "device/err.h"
#include "device/firmware/standin.h"
#include "device/virtual/vbios/synth_priv.h"

#define PAIRS 4

/* program - the stand-in for the sequencer's code: standin.h. */
static void program(uint8_t *p)
{
	const size_t bytes = 4 * SYNTH_UCODE_DWORDS;

	put_le32(p, STANDIN_MAGIC);
	put_le32(p + 4, STANDIN_MC);
	put_le32(p + 8, (uint32_t)bytes);
	for (size_t i = STANDIN_HEAD_BYTES; i < bytes - 4; i++)
		p[i] = (uint8_t)(i * 29); /* any pattern */
	put_le32(p + bytes - 4, crc32_of(p, bytes - 4));
}

/* microcode - what table MemoryTraining reads from the flash: id, number of pairs, length, one
 * dword not used, (index, data) pairs for MC_SEQ_IO_DEBUG, program (atombios.md 9).
 */
static void microcode(uint8_t *p)
{
	static const uint32_t pairs[PAIRS][2] = {
	        {0x97, 0}, {0x98, 1}, {0x99, 2}, {0x9F, SYNTH_UCODE_VERSION}};
	const uint32_t head[] = {SYNTH_MICROCODE_ID, PAIRS, SYNTH_UCODE_DWORDS, 0};

	for (size_t i = 0; i < ARRAY_SIZE(head); i++, p += 4)
		put_le32(p, head[i]);
	for (size_t i = 0; i < PAIRS; i++, p += 8) {
		put_le32(p, pairs[i][0]);
		put_le32(p + 4, pairs[i][1]);
	}
	program(p);
}

/* lengthen - to @blocks; what is behind the tables is erased flash. */
static void lengthen(struct atom_asm *a, unsigned blocks)
{
	while (!a->mistake && a->at < blocks * 512u)
		as_u8(a, 0xFF);
}

int synth_build(uint8_t *flash, size_t bytes, const struct synth_options *opt)
{
	const struct as_identity who = {.vendor = 0x1002, /* polaris.md 1.1 */
	        .device = 0x67DF,
	        .subsystem_vendor = opt->subsystem_vendor,
	        .subsystem_id = opt->subsystem_id,
	        .strings = {"RX580FS-VIRTUAL", "POLARIS10", "PCI_EXPRESS", "GDDR5"},
	        .name = "rx580fs virtual Polaris10 67DF, no vendor code",
	        .version = "000.001.000.000.000000",
	        .date = "01/01/26 00:00"};
	struct atom_asm a;

	if (bytes < SYNTH_FLASH_BYTES)
		return rx_fail("synth", -EINVAL, "a flash of %zu bytes is too small", bytes);
	if (!opt->vram_mb || opt->vram_mb % 16 || opt->vram_mb > 16384)
		return rx_fail("synth", -EINVAL, "%u MiB of memory: not 16 to 16384 in steps of 16",
		        opt->vram_mb);
	memset(flash, 0xFF, bytes);
	as_image_begin(&a, flash, SYNTH_MICROCODE, &who);
	synth_data_tables(&a);
	synth_vram_info(&a, opt->vram_mb);
	synth_power_tables(&a);
	synth_init_tables(&a);
	synth_memory_tables(&a);
	synth_clock_tables(&a);
	lengthen(&a, opt->blocks);
	int image = as_image_end(&a);

	if (image < 0)
		return image;
	memset(flash + image, 0xFF, SYNTH_MICROCODE - (size_t)image);
	microcode(flash + SYNTH_MICROCODE);
	return image;
}
