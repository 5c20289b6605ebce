/* info.c - decoders of the small data tables. Sizes and offsets: atombios.md 9, 10. */
#include "device/vbios/info.h"
#include "device/vbios/vbios_priv.h"

#define GFX_INFO_3_BYTES 24u /* of revision 2.3, before any EDC table: atombios.md 10.7 */

int vbios_firmware_info(const struct vbios_rom *rom, struct vbios_firmware_info *out)
{
	struct bytes t;
	int rev = vbios_table_open(rom, ATOM_DATA_FirmwareInfo, REVISIONS(0x202), 108, &t);
	const uint8_t *p = t.p;

	if (rev < 0)
		return rev;
	VBIOS_FIRMWARE_INFO(LOAD)
	return 0;
}

int vbios_vram_usage(const struct vbios_rom *rom, struct vbios_vram_usage *out)
{
	struct bytes t;
	int rev = vbios_table_open(rom, ATOM_DATA_VRAM_UsageByFirmware, REVISIONS(0x105), 12, &t);
	const uint8_t *p = t.p;

	if (rev < 0)
		return rev;
	VBIOS_VRAM_USAGE(LOAD)
	return 0;
}

int vbios_gfx_info(const struct vbios_rom *rom, struct vbios_gfx_info *out)
{
	struct bytes t;
	int rev = vbios_table_open(rom, ATOM_DATA_GFX_Info, REVISIONS(0x201, 0x203), 12, &t);
	const uint8_t *p = t.p;

	if (rev < 0)
		return rev;
	if (rev == 0x203 && t.size < GFX_INFO_3_BYTES)
		return rx_fail("vbios", -EINVAL, "GFX_Info 2.3: %u bytes, not 24", t.size);
	*out = (struct vbios_gfx_info){.minor = (uint8_t)rev};
	VBIOS_GFX_INFO(LOAD)
	if (rev == 0x203) {
		VBIOS_GFX_INFO_3(LOAD)
	}
	return 0;
}

int vbios_edc(const struct vbios_rom *rom, const struct vbios_gfx_info *gfx, unsigned leakage_id,
        uint32_t out[VBIOS_EDC_REGISTERS])
{
	const struct vbios_table *t = &rom->table[ATOM_DATA_GFX_Info];
	bool low = leakage_id < gfx->leakage_threshold;
	uint32_t offset = low ? gfx->edc_low_offset : gfx->edc_high_offset, at = t->offset + offset;

	/* it may lie behind the table's own bytes: nobody says that they count it */
	if (offset < GFX_INFO_3_BYTES || !range_ok(at, 4 * VBIOS_EDC_REGISTERS, rom->legacy_bytes))
		return rx_fail("vbios", -EINVAL,
		        "GFX_Info: EDC table for %s leakage, %u bytes at %u, is outside the image",
		        low ? "low" : "high", 4 * VBIOS_EDC_REGISTERS, offset);
	for (unsigned i = 0; i < VBIOS_EDC_REGISTERS; i++)
		out[i] = get_le32(rom->data + at + 4 * i);
	return 0;
}

static void load_smu_range(struct vbios_smu_range *out, const uint8_t *p)
{
	VBIOS_SMU_RANGE(LOAD)
}

int vbios_smu_info(const struct vbios_rom *rom, struct vbios_smu_info *out)
{
	struct bytes t;
	int rev = vbios_table_open(rom, ATOM_DATA_SMU_Info, REVISIONS(0x201), 8, &t);

	if (rev < 0)
		return rev;
	out->ranges = t.p[4];
	out->smu_ver = t.p[5];
	out->share_power_source = t.p[6];
	int err = vbios_count_check(&t, 8, out->ranges, 12, ARRAY_SIZE(out->range));

	for (unsigned i = 0; !err && i < out->ranges; i++)
		load_smu_range(&out->range[i], t.p + 8 + 12 * i);
	return err;
}

static void load_pin(struct vbios_gpio_pin *out, const uint8_t *p)
{
	VBIOS_GPIO_PIN(LOAD)
}

int vbios_gpio_lut(const struct vbios_rom *rom, struct vbios_gpio_lut *out)
{
	struct bytes t;
	int rev = vbios_table_open(rom, ATOM_DATA_GPIO_Pin_LUT, REVISIONS(0x101), 4, &t);

	if (rev < 0)
		return rev;
	out->pins = (t.size - 4) / 4; /* entries up to the table's size: atombios.md 10.4 */
	int err = vbios_count_check(&t, 4, out->pins, 4, ARRAY_SIZE(out->pin));

	for (unsigned i = 0; !err && i < out->pins; i++)
		load_pin(&out->pin[i], t.p + 4 + 4 * i);
	return err;
}

const struct vbios_gpio_pin *vbios_gpio_find(const struct vbios_gpio_lut *lut, unsigned id)
{
	for (unsigned i = 0; lut && i < lut->pins; i++)
		if (lut->pin[i].id == id)
			return &lut->pin[i];
	return NULL;
}

int vbios_gpio_i2c(const struct vbios_rom *rom, struct vbios_gpio_i2c *out)
{
	struct bytes t;
	int rev = vbios_table_open(rom, ATOM_DATA_GPIO_I2C_Info, REVISIONS(0x101), 4, &t);

	if (rev < 0)
		return rev;
	out->lines = (t.size - 4) / 27; /* atombios.md 10.5 */
	int err = vbios_count_check(&t, 4, out->lines, 27, ARRAY_SIZE(out->line));

	for (unsigned i = 0; !err && i < out->lines; i++) {
		const uint8_t *p = t.p + 4 + 27 * i;
		struct vbios_i2c_line *l = &out->line[i];

		for (unsigned k = 0; k < 8; k++)
			l->reg[k] = get_le16(p + 2 * k);
		l->id = p[16];
		memcpy(l->shift, p + 17, 8);
	}
	return err;
}

static void load_spread(struct vbios_spread *out, const uint8_t *p)
{
	VBIOS_SPREAD(LOAD)
}

int vbios_ss_info(const struct vbios_rom *rom, struct vbios_ss_info *out)
{
	struct bytes t;
	int rev = vbios_table_open(rom, ATOM_DATA_ASIC_InternalSS_Info, REVISIONS(0x301), 4, &t);

	if (rev < 0)
		return rev;
	out->entries = (t.size - 4) / 12; /* atombios.md 10.10 */
	int err = vbios_count_check(&t, 4, out->entries, 12, ARRAY_SIZE(out->entry));

	for (unsigned i = 0; !err && i < out->entries; i++)
		load_spread(&out->entry[i], t.p + 4 + 12 * i);
	return err;
}

int vbios_profiling(const struct vbios_rom *rom, struct vbios_profiling *out)
{
	struct bytes t;
	int rev = vbios_table_open(rom, ATOM_DATA_ASIC_ProfilingInfo, REVISIONS(0x306), 268, &t);
	const uint8_t *p = t.p;

	if (rev < 0)
		return rev;
	VBIOS_PROFILING(LOAD)
	for (unsigned i = 0; i < 8; i++) { /* atombios.md 10.8 */
		out->sm_a[i] = get_le32(p + 0x34 + 4 * i);
		out->sm_a_sign[i] = p[0x54 + i];
		out->tdc_limit[i] = get_le32(p + 0x84 + 4 * i);
		out->no_calc_vddc[i] = get_le32(p + 0xA4 + 4 * i);
	}
	return 0;
}

int vbios_mc_init(const struct vbios_rom *rom, struct vbios_mc_init *out)
{
	struct bytes t;
	int rev = vbios_table_open(rom, ATOM_DATA_MC_InitParameter, REVISIONS(0x201), 8, &t);

	if (rev < 0)
		return rev;
	out->microcode_id = get_le32(t.p + 4); /* atombios.md 9 */
	return 0;
}
