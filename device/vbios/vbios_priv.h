/* vbios_priv.h - reading fields out of checked tables. */
#ifndef RX_VBIOS_PRIV_H
#define RX_VBIOS_PRIV_H

#include "device/bytes.h"
#include "device/err.h"
#include "device/vbios/rom.h"

#define get_uint8_t(p)  (*(p))
#define get_uint16_t(p) get_le16(p)
#define get_int16_t(p)  ((int16_t)get_le16(p))
#define get_uint32_t(p) get_le32(p)

/* LOAD - one row of an X(type, name, offset) list: wants a struct `out` and the bytes `p`. */
#define LOAD(type, name, at) out->name = get_##type(p + (at));

/* a table, or a part of one, whose bytes are there */
struct bytes {
	const uint8_t *p;
	uint32_t size;
	const char *name; /* for the words of a refusal */
};

/* REVISIONS - those vbios_table_open may find. */
#define REVISIONS(...) ((const uint16_t[]){__VA_ARGS__, 0})

/* vbios_table_open - find a data table and check its revision and length.
 * @revisions: allowed ones as major << 8 | minor, ended by 0; @min: bytes it must have
 * Return: the revision; -ENOENT absent; -EINVAL (logged).
 */
int vbios_table_open(const struct vbios_rom *rom, enum atom_data index, const uint16_t *revisions,
        uint32_t min, struct bytes *out);

/* vbios_part_open - @size bytes of @from at @at. @name: of the part. Return: 0; -EINVAL (logged).
 */
int vbios_part_open(
        const struct bytes *from, uint32_t at, uint32_t size, const char *name, struct bytes *out);

/* vbios_count_check - refuse more than @max entries, or entries of @each bytes from @at that do not
 * fit.
 */
int vbios_count_check(
        const struct bytes *t, uint32_t at, unsigned count, uint32_t each, unsigned max);

#endif
