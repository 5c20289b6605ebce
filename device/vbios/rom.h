/* rom.h - a VBIOS as bytes: PCI ROM images, ATOM ROM header, master tables.
 * Pure: a byte buffer in, a plain struct or one error line out. Nothing in the buffer is trusted;
 * after vbios_rom_parse() every offset and size in the struct lies inside the buffer.
 * All numbers little endian. Source: atombios.md 1-4.
 */
#ifndef RX_VBIOS_ROM_H
#define RX_VBIOS_ROM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/atom/atom_opcodes.h"

#define VBIOS_MAX_IMAGES    4
#define VBIOS_MAX_STRINGS   8
#define VBIOS_TEXT          80
#define VBIOS_CODE_X86      0 /* code types of a PCI ROM image: atombios.md 1 */
#define VBIOS_CODE_EFI      3
#define VBIOS_LEGACY_HEADER 0x80 /* bytes that hold every fixed field of the legacy image */

/* one image of the PCI ROM chain */
struct vbios_image {
	uint32_t offset, bytes; /* in the buffer */
	uint16_t pcir;          /* offset of the PCI data structure in the image */
	uint16_t vendor, device;
	uint8_t code_type, indicator; /* indicator bit 7: last image */
	uint8_t sum;                  /* byte sum; 0 for the legacy image */
};

/* one table; size 0: absent */
struct vbios_table {
	uint16_t offset, size;      /* bytes, from the start of the legacy image, header included */
	uint8_t major, minor;       /* format and content revision */
	uint8_t ws_bytes, ps_bytes; /* command tables only: workspace and parameters */
};

struct vbios_rom {
	const uint8_t *data; /* the caller's buffer: must outlive this struct */
	size_t size;
	uint32_t legacy_bytes;
	unsigned images;
	struct vbios_image image[VBIOS_MAX_IMAGES];
	bool chain_complete; /* false: the buffer ends before the image with the last-image bit */
	uint16_t header;     /* ATOM ROM header */
	uint16_t master_command, master_data;
	uint16_t subsystem_vendor, subsystem_id;
	unsigned strings;
	char string[VBIOS_MAX_STRINGS][VBIOS_TEXT]; /* part number, ASIC, bus, memory type */
	char name[VBIOS_TEXT];                      /* of the board */
	char date[16];                              /* MM/DD/YY HH:MM */
	char version[32];                           /* 015.050...; empty when not found */
	struct vbios_table command[ATOM_COMMAND_COUNT];
	struct vbios_table table[ATOM_DATA_COUNT];
};

/* vbios_legacy_bytes - length of the legacy image from its first @size bytes, so that a reader
 * knows how much to fetch. Return: bytes; -EINVAL (logged) it does not begin like a VBIOS, or @size
 * is below VBIOS_LEGACY_HEADER.
 */
int vbios_legacy_bytes(const uint8_t *data, size_t size);

/* vbios_rom_parse - check and index a whole VBIOS.
 * @data: from the first byte of the ROM; at least the whole legacy image, which must come first
 *
 * Checks signatures, PCI data structures, the checksum of the legacy image, the ROM header, both
 * master lists and the header of every table named there. Does not copy @data.
 * Return: 0; -EINVAL with one line that names the field.
 */
int vbios_rom_parse(struct vbios_rom *rom, const uint8_t *data, size_t size);

/* Names of atombios.h; "table N" style names do not exist: unknown indices give "unnamed". */
const char *vbios_command_name(unsigned index);
const char *vbios_data_name(unsigned index);

#endif
