/* vbios.c - a synthetic video BIOS: valid headers, checksum and the few ATOM data tables that a
 * driver of a posted card reads. It holds no vendor code: ASIC_Init is an empty table. Layout:
 * polaris.md 2.1, 2.2; values: polaris.md 1.4, 2.2, 14.11.
 */
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/card/card_priv.h"

#define IMAGE_BLOCKS 118 /* of 512 bytes: polaris.md 2.1 */
#define IMAGE_BYTES  (IMAGE_BLOCKS * 512u)

enum { /* where things are in the image; only the first four places are fixed by the format */
	AT_CHECKSUM = 0x21,
	AT_SIGNATURE = 0x30,
	AT_HEADER_POINTER = 0x48,
	AT_PCIR_POINTER = 0x18,
	AT_PCIR = 0x100,
	AT_HEADER = 0x140,
	AT_MESSAGE = 0x180,
	AT_COMMANDS = 0x200,
	AT_DATA = 0x300,
	AT_ASIC_INIT = 0x380,
	AT_FIRMWARE_INFO = 0x400,
	AT_VRAM_USAGE = 0x480,
	AT_GFX_INFO = 0x4A0,
	AT_VRAM_INFO = 0x4C0,
};

#define COMMAND_TABLES 81
#define DATA_TABLES    35

static void table(uint8_t *rom, unsigned at, uint16_t size, uint8_t format, uint8_t content)
{
	put_le16(rom + at, size);
	rom[at + 2] = format;
	rom[at + 3] = content;
}

static void build_pci(uint8_t *rom)
{
	uint8_t *pcir = rom + AT_PCIR; /* PCI firmware specification, data structure revision 0 */

	rom[0] = 0x55;
	rom[1] = 0xAA;
	rom[2] = IMAGE_BLOCKS;
	rom[3] = 0xCB; /* x86 far return: nothing to initialise */
	put_le16(rom + AT_PCIR_POINTER, AT_PCIR);
	memcpy(pcir, "PCIR", 4);
	put_le16(pcir + 4, 0x1002);
	put_le16(pcir + 6, 0x67DF);
	put_le16(pcir + 10, 0x18);
	pcir[15] = 0x03; /* class 0x030000 */
	put_le16(pcir + 16, IMAGE_BLOCKS);
	pcir[21] = 0x80; /* x86 code, last image */
}

static void build_atom_header(uint8_t *rom)
{
	uint8_t *h = rom + AT_HEADER;

	memcpy(rom + AT_SIGNATURE, " 761295520", 10); /* polaris.md 2.1 */
	put_le16(rom + AT_HEADER_POINTER, AT_HEADER);
	table(rom, AT_HEADER, 0x24, 1, 1);
	memcpy(h + 4, "ATOM", 4);
	put_le16(h + 0x10, AT_MESSAGE);
	put_le16(h + 0x18, 0x1DA2);
	put_le16(h + 0x1A, 0xE366);
	put_le16(h + 0x1E, AT_COMMANDS);
	put_le16(h + 0x20, AT_DATA);
	strcpy((char *)rom + AT_MESSAGE, "\r\nrx580fs virtual Polaris10 67DF, no vendor code\r\n");
	table(rom, AT_COMMANDS, 4 + 2 * COMMAND_TABLES, 1, 1);
	put_le16(rom + AT_COMMANDS + 4, AT_ASIC_INIT);
	table(rom, AT_ASIC_INIT, 7, 1, 1);
	rom[AT_ASIC_INIT + 6] = 91; /* EOT: polaris.md 2.3 */
}

/* FirmwareInfo v2.2: polaris.md 2.2 */
static void build_firmware_info(uint8_t *rom)
{
	uint8_t *f = rom + AT_FIRMWARE_INFO;

	table(rom, AT_FIRMWARE_INFO, 108, 2, 2);
	put_le32(f + 8, 30000);  /* engine clock, 10 kHz */
	put_le32(f + 12, 30000); /* memory clock */
	put_le16(f + 46, 900);   /* VDDC, mV */
	put_le16(f + 78, 850);   /* VDDCI */
	put_le16(f + 82, 10000); /* core reference, 10 kHz */
	put_le16(f + 84, 10000); /* memory reference */
	put_le16(f + 92, 1550);  /* MVDD */
}

static void build_data_tables(uint8_t *rom, uint32_t vram_mb)
{
	static const uint8_t gfx[] = {
	        0x01, 0x08, 0x04, 0x08, 0x09, 0x01, 0x02, 0x08}; /* polaris.md 1.4 */
	static const struct {
		uint8_t index;
		uint16_t at;
	} entries[] = {/* polaris.md 2.2 */
	        {4, AT_FIRMWARE_INFO}, {11, AT_VRAM_USAGE}, {14, AT_GFX_INFO}, {28, AT_VRAM_INFO}};

	table(rom, AT_DATA, 4 + 2 * DATA_TABLES, 1, 1);
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		put_le16(rom + AT_DATA + 4 + 2 * entries[i].index, entries[i].at);
	build_firmware_info(rom);
	table(rom, AT_VRAM_USAGE, 12, 1, 5);
	put_le16(rom + AT_VRAM_USAGE + 10, 32);
	table(rom, AT_GFX_INFO, 4 + sizeof(gfx), 2, 1);
	memcpy(rom + AT_GFX_INFO + 4, gfx, sizeof(gfx));
	table(rom, AT_VRAM_INFO, 20 + 40, 2, 2);
	rom[AT_VRAM_INFO + 16] = 1;                /* one module, v8, from +20 */
	put_le16(rom + AT_VRAM_INFO + 20 + 4, 40); /* its size */
	rom[AT_VRAM_INFO + 20 + 8] = 0xFF;         /* enabled channels */
	rom[AT_VRAM_INFO + 20 + 11] = 0x50;        /* GDDR5 */
	rom[AT_VRAM_INFO + 20 + 12] = 8;
	put_le16(rom + AT_VRAM_INFO + 20 + 20, (uint16_t)vram_mb);
}

uint32_t vbios_build(uint8_t flash[CARD_FLASH_BYTES], uint32_t vram_mb)
{
	uint8_t sum = 0;

	memset(flash, 0xFF, CARD_FLASH_BYTES); /* erased */
	memset(flash, 0, IMAGE_BYTES);
	build_pci(flash);
	build_atom_header(flash);
	build_data_tables(flash, vram_mb);
	for (unsigned i = 0; i < IMAGE_BYTES; i++)
		sum = (uint8_t)(sum + flash[i]);
	flash[AT_CHECKSUM] = (uint8_t)-sum;
	return IMAGE_BYTES;
}
