/* synth.c - puts the synthetic VBIOS together; behind it in the flash an empty UEFI image and the
 * memory microcode. */
#include <stdio.h>

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

/* efi_image - as on real boards, whose legacy image is not the last one either (atombios.md 1).
 * Header of UEFI 2.10, 14.4.2.1; nobody executes it, so there is nothing in it. */
static void efi_image(uint8_t *flash, uint32_t at, const struct as_identity *who)
{
	uint8_t *p = flash + at, *pcir = p + 0x40;

	memset(p, 0, SYNTH_EFI_BYTES);
	put_le16(p, 0xAA55);
	put_le16(p + 2, SYNTH_EFI_BYTES / 512);
	put_le32(p + 4, 0x0EF1);  /* EFI_PCI_EXPANSION_ROM_HEADER_EFISIGNATURE */
	put_le16(p + 8, 0x000B);  /* boot service driver */
	put_le16(p + 10, 0x8664); /* for x86-64 */
	put_le16(p + 0x18, 0x40);
	memcpy(pcir, "PCIR", 4); /* atombios.md 1 */
	put_le16(pcir + 4, who->vendor);
	put_le16(pcir + 6, who->device);
	put_le16(pcir + 0x0A, 24);
	pcir[0x0F] = 3; /* class 0x030000, display */
	put_le16(pcir + 0x10, SYNTH_EFI_BYTES / 512);
	pcir[0x14] = 3;    /* code type: EFI */
	pcir[0x15] = 0x80; /* last image */
	snprintf((char *)p + 0x80, 64, "rx580fs virtual: no EFI driver");
}

/* append_efi - Return: bytes of the legacy image; -EINVAL (logged) no room. */
static int append_efi(uint8_t *flash, int legacy, const struct as_identity *who)
{
	if ((uint32_t)legacy + SYNTH_EFI_BYTES > SYNTH_MICROCODE)
		return rx_fail("synth", -EINVAL, "no room for a second image");
	flash[get_le16(flash + 0x18) + 0x15] = 0; /* not the last image any more */
	as_checksum(flash);
	efi_image(flash, (uint32_t)legacy, who);
	return legacy;
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
	return append_efi(flash, image, &who);
}
