/* vram_info.c - decoder of VRAM_Info 2.2, module version 8. atombios.md 10.3. */
#include "device/vbios/vbios_priv.h"
#include "device/vbios/vram_info.h"

#define FIRST_MODULE   20
#define MODULE_BYTES   0x2C /* up to the part name */
#define MODULE_VERSION 8
#define LIST_HEADER    4
#define LIST_ENTRY     3
#define END_OF_LIST    0xFFFF
#define REMAP_BYTES    34

static void load_module(struct vbios_vram_module *out, const uint8_t *p)
{
	VBIOS_VRAM_MODULE(LOAD)
	/* the module is cut behind the NUL of its part name */
	size_t room = MIN((size_t)out->module_size - MODULE_BYTES, sizeof(out->part) - 1);

	memcpy(out->part, p + MODULE_BYTES, room);
	out->part[room] = '\0';
}

static int load_modules(const struct bytes *t, struct vbios_vram_info *out)
{
	uint32_t at = FIRST_MODULE;

	if (out->module_ver != MODULE_VERSION)
		return rx_fail("vbios", -EINVAL, "VRAM_Info: module version %u is unknown",
		        out->module_ver);
	int err = vbios_count_check(t, at, out->module_count, MODULE_BYTES, VBIOS_MAX_MODULES);

	for (unsigned i = 0; !err && i < out->module_count; i++) {
		struct bytes m;

		err = vbios_part_open(t, at, MODULE_BYTES, "memory module", &m);
		if (err)
			return err;
		uint16_t size = get_le16(m.p + 4);

		if (size < MODULE_BYTES || !range_ok(at, size, t->size))
			return rx_fail(
			        "vbios", -EINVAL, "VRAM_Info: module %u has %u bytes", i, size);
		load_module(&out->module[i], m.p);
		at += size;
	}
	return err;
}

/* load_list - the registers of a block, up to the end mark. */
static int load_list(const struct bytes *list, struct vbios_mc_regs *out)
{
	unsigned with_value = 0;

	for (uint32_t at = 0; range_ok(at, LIST_ENTRY, list->size); at += LIST_ENTRY) {
		uint16_t reg = get_le16(list->p + at);
		uint8_t code = list->p[at + 2];

		if (reg == END_OF_LIST)
			return out->block_bytes >= 4 + 4 * with_value
			               ? 0
			               : rx_fail("vbios", -EINVAL,
			                         "VRAM_Info: %s: %u values in blocks of %u bytes",
			                         list->name, with_value, out->block_bytes);
		if (out->regs == VBIOS_MAX_MC_REGS)
			break;
		out->reg[out->regs].reg = reg;
		out->reg[out->regs++].code = code;
		with_value += (code & 0xF) == 4;
	}
	return rx_fail(
	        "vbios", -EINVAL, "VRAM_Info: %s: the list of registers has no end", list->name);
}

static void load_block(const struct vbios_mc_regs *regs, struct vbios_mc_block *b, const uint8_t *p)
{
	uint32_t value = 0;

	b->max_clock = get_le32(p) & 0xFFFFFF;
	b->module = p[3];
	for (unsigned i = 0; i < regs->regs; i++) {
		if ((regs->reg[i].code & 0xF) == 4)
			value = get_le32(p += 4);
		b->value[i] = value;
	}
}

/* load_regs - a register block at @at; absent when that is 0. */
static int load_regs(
        const struct bytes *t, uint32_t at, const char *name, struct vbios_mc_regs *out)
{
	struct bytes list;

	if (!at)
		return 0;
	int err = vbios_part_open(t, at, LIST_HEADER, name, &list);

	if (err)
		return err;
	uint16_t list_bytes = get_le16(list.p);

	out->block_bytes = get_le16(list.p + 2);
	err = vbios_part_open(t, at + LIST_HEADER, list_bytes, name, &list);
	if (!err)
		err = load_list(&list, out);
	for (at += LIST_HEADER + (uint32_t)list_bytes; !err; at += out->block_bytes) {
		struct bytes block;

		err = vbios_part_open(t, at, 4, name, &block);
		if (err || !get_le32(block.p)) /* a zero key ends */
			return err;
		err = vbios_part_open(t, at, out->block_bytes, name, &block);
		if (!err && out->blocks == VBIOS_MAX_MC_BLOCKS)
			err = rx_fail("vbios", -EINVAL, "VRAM_Info: %s: more than %u blocks", name,
			        VBIOS_MAX_MC_BLOCKS);
		if (!err)
			load_block(out, &out->block[out->blocks++], block.p);
	}
	return err;
}

static void load_remap(struct vbios_remap *r, const uint8_t *p)
{
	for (unsigned c = 0; c < 2; c++) {
		r->byte[c] = p[c];
		for (unsigned i = 0; i < 4; i++)
			r->bit[c][i] = get_le32(p + 2 + 16 * c + 4 * i);
	}
}

/* load_remaps - one entry a tile. */
static int load_remaps(const struct bytes *t, struct vbios_vram_info *out)
{
	if (!out->dram_data_remap)
		return 0;
	out->remaps = out->phy_tiles;
	int err = vbios_count_check(
	        t, out->dram_data_remap, out->remaps, REMAP_BYTES, VBIOS_MAX_TILES);

	for (unsigned i = 0; !err && i < out->remaps; i++)
		load_remap(&out->remap[i], t->p + out->dram_data_remap + REMAP_BYTES * i);
	return err;
}

int vbios_vram_info(const struct vbios_rom *rom, struct vbios_vram_info *out)
{
	struct bytes t;
	int err = vbios_table_open(rom, ATOM_DATA_VRAM_Info, REVISIONS(0x202), FIRST_MODULE, &t);
	const uint8_t *p = t.p;

	if (err < 0)
		return err;
	memset(out, 0, sizeof(*out));
	VBIOS_VRAM_HEADER(LOAD)
	err = load_modules(&t, out);
	if (!err)
		err = load_regs(&t, out->mem_adjust, "memory adjust", &out->adjust);
	if (!err)
		err = load_regs(&t, out->mem_clk_patch, "clock patch", &out->clk_patch);
	if (!err)
		err = load_regs(&t, out->mc_adjust_per_tile, "per-tile adjust", &out->per_tile);
	if (!err)
		err = load_regs(&t, out->mc_phy_init, "PHY init", &out->phy_init);
	return err ? err : load_remaps(&t, out);
}
