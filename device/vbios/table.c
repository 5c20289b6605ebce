/* table.c - the checks every data table goes through before a field is read. */
#include "device/vbios/vbios_priv.h"

int vbios_table_open(const struct vbios_rom *rom, enum atom_data index, const uint16_t *revisions,
        uint32_t min, struct bytes *out)
{
	const struct vbios_table *t = &rom->table[index];
	int revision = t->major << 8 | t->minor;

	*out = (struct bytes){rom->data + t->offset, t->size, vbios_data_name(index)};
	if (!t->size)
		return -ENOENT;
	while (*revisions && *revisions != revision)
		revisions++;
	if (!*revisions)
		return rx_fail("vbios", -EINVAL, "%s: revision %u.%u is unknown", out->name,
		        t->major, t->minor);
	if (t->size < min)
		return rx_fail("vbios", -EINVAL, "%s %u.%u: %u bytes, at least %u are needed",
		        out->name, t->major, t->minor, t->size, min);
	return revision;
}

int vbios_part_open(
        const struct bytes *from, uint32_t at, uint32_t size, const char *name, struct bytes *out)
{
	*out = (struct bytes){from->p + at, size, name};
	if (at < ATOM_HEADER_BYTES || !range_ok(at, size, from->size))
		return rx_fail("vbios", -EINVAL,
		        "%s: %s, %u bytes at %u, is outside the table's %u", from->name, name, size,
		        at, from->size);
	return 0;
}

int vbios_count_check(
        const struct bytes *t, uint32_t at, unsigned count, uint32_t each, unsigned max)
{
	if (count > max)
		return rx_fail("vbios", -EINVAL, "%s: %u entries, at most %u make sense", t->name,
		        count, max);
	if (!range_ok(at, (uint64_t)count * each, t->size))
		return rx_fail("vbios", -EINVAL, "%s: %u entries do not fit its %u bytes", t->name,
		        count, t->size);
	return 0;
}
