/* asm_image.c - the frame around the tables: PCI header, texts, ROM header, master lists, checksum.
 * Offsets fixed by the format: atombios.md 1-3; the others are free.
 */
#include <stdio.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/virtual/vbios/atom_asm.h"

#define UNIT      512u
#define LARGEST   0x10000u /* 16-bit offsets */
#define PCIR_SIZE 24
#define ROM_SIZE  36
#define CHECKSUM  0x21

enum { AT_PCIR = 0x80, AT_COMMANDS = 0xA0, AT_DATA = 0x148, AT_TEXT = 0x194 };

static void pci_header(uint8_t *rom, const struct as_identity *who)
{
	uint8_t *pcir = rom + AT_PCIR;

	rom[0] = 0x55;
	rom[1] = 0xAA;
	rom[3] = 0xCB; /* x86 far return: nothing to initialise */
	put_le16(rom + 0x18, AT_PCIR);
	memcpy(pcir, "PCIR", 4);
	put_le16(pcir + 4, who->vendor);
	put_le16(pcir + 6, who->device);
	put_le16(pcir + 0x0A, PCIR_SIZE);
	pcir[0x0F] = 3;    /* class 0x030000, display */
	pcir[0x15] = 0x80; /* last image; code type 0: x86 */
}

static void master_list(uint8_t *rom, unsigned at, unsigned count)
{
	put_le16(rom + at, (uint16_t)(ATOM_HEADER_BYTES + 2 * count));
	rom[at + 2] = rom[at + 3] = 1;
}

static void text(struct atom_asm *a, const char *s)
{
	while (s && *s)
		as_u8(a, (uint8_t)*s++);
}

static void texts(struct atom_asm *a, const struct as_identity *who)
{
	a->rom[0x2F] = ARRAY_SIZE(who->strings); /* atombios.md 1 */
	put_le16(a->rom + 0x6E, (uint16_t)a->at);
	for (size_t i = 0; i < ARRAY_SIZE(who->strings); i++) {
		text(a, who->strings[i]);
		as_u8(a, 0);
	}
	text(a, "\r\n");
	text(a, who->name);
	as_u8(a, 0);
	text(a, "ATOMBIOSBK-AMD VER");
	text(a, who->version);
	as_u8(a, 0);
	snprintf((char *)a->rom + 0x50, 15, "%s", who->date);
}

/* rom_header - behind the texts: the version is looked for between them and it. */
static void rom_header(struct atom_asm *a, const struct as_identity *who)
{
	uint32_t at = (uint32_t)align_up(a->at, 4);
	uint8_t *h = a->rom + at;

	if (!range_ok(at, ROM_SIZE, a->room)) {
		a->mistake = "no room for the headers";
		return;
	}
	a->at = at + ROM_SIZE;
	memcpy(a->rom + 0x30, " 761295520", 10); /* atombios.md 1 */
	put_le16(a->rom + 0x48, (uint16_t)at);
	put_le16(h, ROM_SIZE);
	h[2] = h[3] = 1;
	memcpy(h + 4, "ATOM", 4);
	put_le16(h + 8, 0xC000); /* run-time segment: atombios.md 2 */
	put_le16(h + 0x18, who->subsystem_vendor);
	put_le16(h + 0x1A, who->subsystem_id);
	put_le16(h + 0x1C, AT_PCIR);
	put_le16(h + 0x1E, AT_COMMANDS);
	put_le16(h + 0x20, AT_DATA);
}

void as_image_begin(struct atom_asm *a, uint8_t *rom, size_t room, const struct as_identity *who)
{
	*a = (struct atom_asm){.rom = rom, .room = MIN(room, (size_t)LARGEST), .at = AT_TEXT};
	if (a->room < 2 * UNIT) {
		a->mistake = "no room for the headers";
		a->room = 0;
		return;
	}
	memset(rom, 0, a->room);
	pci_header(rom, who);
	master_list(rom, AT_COMMANDS, ATOM_COMMAND_COUNT);
	master_list(rom, AT_DATA, ATOM_DATA_COUNT);
	texts(a, who);
	rom_header(a, who);
}

/* open_table - a table of @size bytes whose offset goes into the list at @entry. */
static uint8_t *open_table(
        struct atom_asm *a, unsigned entry, unsigned major, unsigned minor, unsigned size)
{
	uint32_t at = (uint32_t)align_up(a->at, 2); /* tables lie at even addresses */

	if (a->table || size > AS_MAX_DATA || !range_ok(at, size, a->room)) {
		if (!a->mistake)
			a->mistake = a->table ? "a table is still open" : "no room for a table";
		return a->waste;
	}
	a->at = at + size;
	put_le16(a->rom + entry, (uint16_t)at);
	put_le16(a->rom + at, (uint16_t)size);
	a->rom[at + 2] = (uint8_t)major;
	a->rom[at + 3] = (uint8_t)minor;
	return a->rom + at;
}

uint8_t *as_data(struct atom_asm *a, unsigned index, unsigned major, unsigned minor, unsigned size)
{
	return open_table(
	        a, AT_DATA + ATOM_HEADER_BYTES + 2 * (index % ATOM_DATA_COUNT), major, minor, size);
}

void as_command(struct atom_asm *a, unsigned index, unsigned major, unsigned minor,
        unsigned ws_bytes, unsigned ps_bytes)
{
	if (ws_bytes % 4 || ws_bytes > 252 || ps_bytes % 4 || ps_bytes > 124) /* atombios.md 13 */
		a->mistake = "size of workspace or parameters";
	open_table(a, AT_COMMANDS + ATOM_HEADER_BYTES + 2 * (index % ATOM_COMMAND_COUNT), major,
	        minor, ATOM_HEADER_BYTES);
	a->table = a->at - ATOM_HEADER_BYTES;
	memset(a->label, 0, sizeof(a->label));
	a->fixups = 0;
	as_u8(a, ws_bytes);
	as_u8(a, ps_bytes);
}

void as_checksum(uint8_t *rom)
{
	uint8_t sum = 0;

	rom[CHECKSUM] = 0;
	for (unsigned i = 0; i < rom[2] * UNIT; i++)
		sum = (uint8_t)(sum + rom[i]);
	rom[CHECKSUM] = (uint8_t)-sum;
}

int as_image_end(struct atom_asm *a)
{
	uint32_t bytes = (uint32_t)align_up(a->at, UNIT);

	if (!a->mistake && a->table)
		a->mistake = "a table is still open";
	if (!a->mistake && bytes > a->room)
		a->mistake = "the image is full";
	if (a->mistake)
		return rx_fail("vbios-asm", -EINVAL, "%s, at 0x%x", a->mistake, a->at);
	a->rom[2] = (uint8_t)(bytes / UNIT);
	put_le16(a->rom + AT_PCIR + 0x10, (uint16_t)(bytes / UNIT));
	as_checksum(a->rom);
	return (int)bytes;
}
