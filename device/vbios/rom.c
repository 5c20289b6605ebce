/* rom.c - the PCI ROM chain, the ATOM ROM header, the master lists and the texts of a VBIOS.
 * Assumes nothing about the buffer. atombios.md 1-4.
 */
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/vbios/rom.h"

#define UNIT              512u /* of the length fields: atombios.md 1 */
#define AT_PCIR           0x18
#define AT_STRING_COUNT   0x2F
#define AT_SIGNATURE      0x30
#define AT_HEADER         0x48
#define AT_DATE           0x50
#define AT_STRINGS        0x6E
#define AT_LONE_STRING    0x80
#define PCIR_BYTES        24                   /* atombios.md 1 */
#define ROM_HEADER_BYTES  36                   /* atombios.md 2 */
#define FIRST_OF_COMMANDS 7                    /* atombios.md 4: header and one opcode */
#define VERSION_MARK      "ATOMBIOSBK-AMD VER" /* atombios.md 1 */

static const char *const command_names[ATOM_COMMAND_COUNT] = {
#define X(name, index) [index] = #name,
        ATOM_COMMAND_TABLES(X)
#undef X
};

static const char *const data_names[ATOM_DATA_COUNT] = {
#define X(name, index) [index] = #name,
        ATOM_DATA_TABLES(X)
#undef X
};

const char *vbios_command_name(unsigned index)
{
	return index < ATOM_COMMAND_COUNT && command_names[index] ? command_names[index]
	                                                          : "unnamed";
}

const char *vbios_data_name(unsigned index)
{
	return index < ATOM_DATA_COUNT && data_names[index] ? data_names[index] : "unnamed";
}

int vbios_legacy_bytes(const uint8_t *data, size_t size)
{
	if (size < VBIOS_LEGACY_HEADER)
		return rx_fail("vbios", -EINVAL, "%zu bytes are too few for a VBIOS", size);
	if (data[0] != 0x55 || data[1] != 0xAA)
		return rx_fail("vbios", -EINVAL, "begins with %02x %02x, not with 55 aa", data[0],
		        data[1]);
	if (memcmp(data + AT_SIGNATURE, " 761295520", 10)) /* atombios.md 1 */
		return rx_fail("vbios", -EINVAL, "no ATI signature at 0x30");
	if (data[2] * UNIT < VBIOS_LEGACY_HEADER)
		return rx_fail("vbios", -EINVAL, "length byte at 2 is 0");
	return (int)(data[2] * UNIT);
}

static uint8_t byte_sum(const uint8_t *p, size_t n)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum = (uint8_t)(sum + p[i]);
	return sum;
}

#define refuse(level, ...) (rx_log(level, "vbios", __VA_ARGS__), -EINVAL)

/* parse_image - one image of the chain at @at; @n and @level only for the words. */
static int parse_image(const struct vbios_rom *rom, uint32_t at, unsigned n, enum log_level level,
        struct vbios_image *im)
{
	const uint8_t *p = rom->data + at;
	size_t left = rom->size - at;

	if (left < AT_PCIR + 2 || p[0] != 0x55 || p[1] != 0xAA)
		return refuse(level, "image %u at 0x%x has no 55 aa", n, at);
	im->offset = at;
	im->pcir = get_le16(p + AT_PCIR);
	if (!range_ok(im->pcir, PCIR_BYTES, left) || memcmp(p + im->pcir, "PCIR", 4))
		return refuse(level, "image %u: no PCIR structure at 0x%x, where 0x18 points", n,
		        im->pcir);
	const uint8_t *pcir = p + im->pcir;

	im->vendor = get_le16(pcir + 4);
	im->device = get_le16(pcir + 6);
	im->bytes = get_le16(pcir + 0x10) * UNIT;
	im->code_type = pcir[0x14];
	im->indicator = pcir[0x15];
	if (im->bytes < im->pcir + (uint32_t)PCIR_BYTES || im->bytes > left)
		return refuse(level, "image %u: PCIR says 0x%x bytes, 0x%zx are there", n,
		        im->bytes, left);
	im->sum = byte_sum(p, im->bytes);
	return 0;
}

static int parse_legacy(struct vbios_rom *rom)
{
	struct vbios_image *im = &rom->image[0];
	int bytes = vbios_legacy_bytes(rom->data, rom->size);

	if (bytes < 0)
		return bytes;
	if ((size_t)bytes > rom->size)
		return rx_fail("vbios", -EINVAL, "length byte says %d bytes, %zu are there", bytes,
		        rom->size);
	int err = parse_image(rom, 0, 0, LOG_ERROR, im);

	if (err)
		return err;
	if (im->code_type != VBIOS_CODE_X86)
		return rx_fail(
		        "vbios", -EINVAL, "first image has code type %u, not x86", im->code_type);
	if (im->bytes != (uint32_t)bytes)
		return rx_fail("vbios", -EINVAL, "PCIR says 0x%x bytes, the length byte 0x%x",
		        im->bytes, (unsigned)bytes);
	if (im->sum)
		return rx_fail(
		        "vbios", -EINVAL, "checksum: the bytes sum to 0x%02x, not to 0", im->sum);
	rom->legacy_bytes = im->bytes;
	rom->images = 1;
	return 0;
}

/* parse_chain - the images behind the legacy one. Nothing here needs them, so what is cut off or
 * damaged only ends the chain.
 */
static void parse_chain(struct vbios_rom *rom)
{
	const struct vbios_image *last = &rom->image[0];

	while (!(last->indicator & 0x80)) { /* last-image bit: atombios.md 1 */
		uint32_t at = last->offset + last->bytes;
		struct vbios_image next;

		if (at >= rom->size || rom->images == VBIOS_MAX_IMAGES ||
		        parse_image(rom, at, rom->images, LOG_DEBUG, &next))
			return;
		rom->image[rom->images] = next;
		last = &rom->image[rom->images++];
	}
	rom->chain_complete = true;
}

static int parse_header(struct vbios_rom *rom)
{
	rom->header = get_le16(rom->data + AT_HEADER);
	if (rom->header < VBIOS_LEGACY_HEADER ||
	        !range_ok(rom->header, ROM_HEADER_BYTES, rom->legacy_bytes))
		return rx_fail(
		        "vbios", -EINVAL, "the ROM header's offset 0x%x is outside", rom->header);
	const uint8_t *h = rom->data + rom->header;

	if (memcmp(h + 4, "ATOM", 4))
		return rx_fail("vbios", -EINVAL, "no ATOM in the ROM header at 0x%x", rom->header);
	if (get_le16(h) < ROM_HEADER_BYTES)
		return rx_fail("vbios", -EINVAL, "ROM header of %u bytes, not %u", get_le16(h),
		        ROM_HEADER_BYTES);
	if (h[2] != 1 || h[3] != 1) /* atombios.md 2: every Polaris image */
		return rx_fail(
		        "vbios", -EINVAL, "ROM header revision %u.%u is unknown", h[2], h[3]);
	rom->subsystem_vendor = get_le16(h + 0x18);
	rom->subsystem_id = get_le16(h + 0x1A);
	rom->master_command = get_le16(h + 0x1E);
	rom->master_data = get_le16(h + 0x20);
	return 0;
}

/* parse_table - header of the table at @offset; @kind and @index only for the words. */
static int parse_table(const struct vbios_rom *rom, const char *kind, unsigned index,
        uint16_t offset, struct vbios_table *t)
{
	if (!range_ok(offset, ATOM_HEADER_BYTES, rom->legacy_bytes))
		return rx_fail("vbios", -EINVAL, "%s table %u: offset 0x%x is outside", kind, index,
		        offset);
	const uint8_t *p = rom->data + offset;

	t->offset = offset;
	t->size = get_le16(p);
	t->major = p[2];
	t->minor = p[3];
	if (t->size < ATOM_HEADER_BYTES || !range_ok(offset, t->size, rom->legacy_bytes))
		return rx_fail("vbios", -EINVAL, "%s table %u at 0x%x: size %u is wrong", kind,
		        index, offset, t->size);
	return 0;
}

/* parse_list - one master list and the header of each table in it. */
static int parse_list(const struct vbios_rom *rom, const char *kind, uint16_t at,
        struct vbios_table *out, unsigned max)
{
	struct vbios_table list;
	int err = parse_table(rom, "master", 0, at, &list);

	if (err)
		return err;
	unsigned n = MIN((list.size - ATOM_HEADER_BYTES) / 2u, max);

	for (unsigned i = 0; i < n; i++) {
		uint16_t offset = get_le16(rom->data + at + ATOM_HEADER_BYTES + 2 * i);

		if (offset && (err = parse_table(rom, kind, i, offset, &out[i])))
			return err;
	}
	return 0;
}

static int parse_commands(struct vbios_rom *rom)
{
	int err = parse_list(rom, "command", rom->master_command, rom->command, ATOM_COMMAND_COUNT);

	for (unsigned i = 0; !err && i < ATOM_COMMAND_COUNT; i++) {
		struct vbios_table *t = &rom->command[i];

		if (!t->size)
			continue;
		if (t->size < FIRST_OF_COMMANDS)
			return rx_fail("vbios", -EINVAL, "command table %u (%s): no room for code",
			        i, vbios_command_name(i));
		t->ws_bytes = rom->data[t->offset + 4];
		t->ps_bytes = rom->data[t->offset + 5] & 0x7F; /* bit 7: changed by a tool */
	}
	return err;
}

/* copy_text - printable text at @at up to @max characters, NUL, CR or LF; trailing blanks go.
 * Return: offset of the byte that ended it.
 */
static uint32_t copy_text(const struct vbios_rom *rom, uint32_t at, char *out, size_t max)
{
	size_t n = 0;

	for (; at < rom->legacy_bytes && rom->data[at] >= ' ' && rom->data[at] < 0x7F; at++)
		if (n + 1 < max)
			out[n++] = (char)rom->data[at];
	while (n && out[n - 1] == ' ')
		n--;
	out[n] = '\0';
	return at;
}

static void find_version(struct vbios_rom *rom, uint32_t from)
{
	size_t left = from < rom->header ? (size_t)(rom->header - from) : 0;
	const uint8_t *p =
	        left ? memmem(rom->data + from, left, VERSION_MARK, strlen(VERSION_MARK)) : NULL;

	if (p)
		copy_text(rom, (uint32_t)(p - rom->data) + (uint32_t)strlen(VERSION_MARK),
		        rom->version, sizeof(rom->version));
}

/* parse_texts - names for people; a text that is not there stays empty. */
static void parse_texts(struct vbios_rom *rom)
{
	unsigned count = rom->data[AT_STRING_COUNT];
	uint32_t at = count ? get_le16(rom->data + AT_STRINGS) : AT_LONE_STRING;

	copy_text(rom, AT_DATE, rom->date, sizeof(rom->date) - 1); /* 14 characters */
	find_version(rom, at);
	for (rom->strings = 0; rom->strings < MIN(MAX(count, 1u), VBIOS_MAX_STRINGS);) {
		at = copy_text(rom, at, rom->string[rom->strings++], VBIOS_TEXT);
		if (at >= rom->legacy_bytes || rom->data[at])
			return;
		at++;
	}
	while (at < rom->legacy_bytes && (rom->data[at] == '\r' || rom->data[at] == '\n'))
		at++;
	copy_text(rom, at, rom->name, sizeof(rom->name));
}

int vbios_rom_parse(struct vbios_rom *rom, const uint8_t *data, size_t size)
{
	*rom = (struct vbios_rom){.data = data, .size = size};
	int err = parse_legacy(rom);

	if (err)
		return err;
	parse_chain(rom);
	err = parse_header(rom);
	if (!err)
		err = parse_commands(rom);
	if (!err)
		err = parse_list(rom, "data", rom->master_data, rom->table, ATOM_DATA_COUNT);
	if (!err)
		parse_texts(rom);
	return err;
}
