/* powerplay.c - decoder of PowerPlayInfo 7.1 and its parts. Offsets and sizes: atombios.md 11. */
#include "device/vbios/powerplay.h"
#include "device/vbios/vbios_priv.h"

#define HEADER_BYTES 77

/* where the header keeps the offset of each part */
enum {
	AT_STATES = 35,
	AT_FAN = 37,
	AT_THERMAL = 39,
	AT_MCLK = 43,
	AT_SCLK = 45,
	AT_VDDC = 47,
	AT_VDDGFX = 49,
	AT_MM = 51,
	AT_VCE = 53,
	AT_POWERTUNE = 57,
	AT_HARD = 59,
	AT_PCIE = 61,
	AT_GPIO = 63
};

/* a list: u8 revision, u8 count, entries */
struct list {
	unsigned count;
	uint32_t entry_bytes;
	const uint8_t *entries;
	uint8_t revision;
};

static int unknown(const char *name, unsigned revision)
{
	return rx_fail(
	        "vbios", -EINVAL, "PowerPlayInfo: %s: revision %u is unknown", name, revision);
}

/* open_list - @bytes: of one entry in revision 0 and 1; 0: that revision is unknown. A table that
 * has both forms has the second in every later revision too, as Linux takes it.
 */
static int open_list(const struct bytes *pp, unsigned pointer, const char *name,
        const uint8_t bytes[2], struct list *out)
{
	uint32_t at = get_le16(pp->p + pointer);
	struct bytes b;

	*out = (struct list){0};
	if (!at)
		return 0;
	int err = vbios_part_open(pp, at, 2, name, &b);

	if (err)
		return err;
	out->revision = b.p[0];
	out->entry_bytes = bytes[MIN(out->revision, 1)];
	if (!out->entry_bytes || (out->revision > 1 && !bytes[0]))
		return unknown(name, out->revision);
	out->count = b.p[1];
	out->entries = b.p + 2;
	if (out->count > VBIOS_PP_MAX)
		return rx_fail("vbios", -EINVAL,
		        "PowerPlayInfo: %s: %u entries, at most %u make sense", name, out->count,
		        VBIOS_PP_MAX);
	return vbios_part_open(pp, at, 2 + out->count * out->entry_bytes, name, &b);
}

/* LIST - a function that loads one kind of entry, with the rows of its X list. */
#define LIST(kind, rows)                                                                           \
	static void load_##kind(struct vbios_pp_##kind *out, const uint8_t *p)                     \
	{                                                                                          \
		rows(LOAD)                                                                         \
	}                                                                                          \
	static int load_##kind##s(const struct bytes *pp, unsigned pointer, const char *name,      \
	        const uint8_t bytes[2], struct vbios_pp_##kind *out, unsigned *count)              \
	{                                                                                          \
		struct list l;                                                                     \
		int err = open_list(pp, pointer, name, bytes, &l);                                 \
		*count = l.count;                                                                  \
		for (unsigned i = 0; !err && i < l.count; i++)                                     \
			load_##kind(&out[i], l.entries + i * l.entry_bytes);                       \
		return err;                                                                        \
	}

LIST(state, VBIOS_PP_STATE)
LIST(mclk, VBIOS_PP_MCLK)
LIST(lookup, VBIOS_PP_LOOKUP)
LIST(mm, VBIOS_PP_MM)
LIST(vce, VBIOS_PP_VCE)
LIST(hard, VBIOS_PP_HARD)

static void load_sclk(struct vbios_pp_sclk *out, const uint8_t *p)
{
	VBIOS_PP_SCLK(LOAD)
}

static int load_sclks(const struct bytes *pp, struct vbios_powerplay *out)
{
	struct list l;
	int err = open_list(pp, AT_SCLK, "SCLK dependency", (const uint8_t[]){11, 15}, &l);

	out->sclks = l.count;
	for (unsigned i = 0; !err && i < l.count; i++) {
		const uint8_t *p = l.entries + i * l.entry_bytes;

		load_sclk(&out->sclk[i], p);
		out->sclk[i].sclk_offset = l.revision ? get_le32(p + 11) : 0;
	}
	return err;
}

static int load_pcies(const struct bytes *pp, struct vbios_powerplay *out)
{
	struct list l;
	int err = open_list(pp, AT_PCIE, "PCIe table", (const uint8_t[]){4, 8}, &l);

	out->pcies = l.count;
	for (unsigned i = 0; !err && i < l.count; i++) {
		const uint8_t *p = l.entries + i * l.entry_bytes;

		out->pcie[i].gen = p[0];
		out->pcie[i].lanes = p[1];
		out->pcie[i].sclk = l.revision ? get_le32(p + 4) : 0;
	}
	return err;
}

static int load_lists(const struct bytes *pp, struct vbios_powerplay *o)
{
	static const uint8_t state[] = {0, 20}, mclk[] = {13, 0}, lookup[] = {8, 0}, mm[] = {23, 0},
	                     vce[] = {0, 4}, hard[] = {0, 14};
	int err = load_states(pp, AT_STATES, "state array", state, o->state, &o->states);

	if (!err)
		err = load_mclks(pp, AT_MCLK, "MCLK dependency", mclk, o->mclk, &o->mclks);
	if (!err)
		err = load_sclks(pp, o);
	if (!err)
		err = load_lookups(pp, AT_VDDC, "VDDC lookup", lookup, o->vddc, &o->vddcs);
	if (!err)
		err = load_lookups(pp, AT_VDDGFX, "VDDGFX lookup", lookup, o->vddgfx, &o->vddgfxs);
	if (!err)
		err = load_mms(pp, AT_MM, "MM dependency", mm, o->mm, &o->mms);
	if (!err)
		err = load_vces(pp, AT_VCE, "VCE states", vce, o->vce, &o->vces);
	if (!err)
		err = load_pcies(pp, o);
	return err ? err : load_hards(pp, AT_HARD, "hard limits", hard, o->hard, &o->hards);
}

/* a form of a table that is no list: revisions from @first up have @bytes */
struct form {
	unsigned first;
	uint32_t bytes;
};

/* open_single - @forms: newest first, the oldest known last.
 * Return: its revision; -ENOENT absent; -EINVAL (logged).
 */
static int open_single(const struct bytes *pp, unsigned pointer, const char *name,
        const struct form *forms, unsigned n, struct bytes *b)
{
	uint32_t at = get_le16(pp->p + pointer);

	*b = (struct bytes){0};
	if (!at)
		return -ENOENT;
	int err = vbios_part_open(pp, at, 1, name, b);

	if (err)
		return err;
	unsigned rev = b->p[0], i = 0;

	while (i < n && rev < forms[i].first)
		i++;
	if (i == n)
		return unknown(name, rev);
	err = vbios_part_open(pp, at, forms[i].bytes, name, b);
	return err ? err : (int)rev;
}

/* absent - no error: the board does without. */
static int absent(int rev)
{
	return rev == -ENOENT ? 0 : rev;
}

static int load_fan(const struct bytes *pp, struct vbios_powerplay *pp_out)
{
	static const struct form forms[] = {{9, 48}, {8, 45}, {1, 31}}; /* Polaris, Fiji, Tonga */
	struct vbios_pp_fan *out = &pp_out->fan;
	struct bytes b;
	int rev = open_single(pp, AT_FAN, "fan table", forms, ARRAY_SIZE(forms), &b);
	const uint8_t *p = b.p;

	if (rev < 0)
		return absent(rev);
	pp_out->has_fan = true;
	VBIOS_PP_FAN(LOAD)
	if (rev >= 8) {
		VBIOS_PP_FAN_8(LOAD)
	}
	if (rev >= 9) {
		VBIOS_PP_FAN_9(LOAD)
	}
	return 0;
}

static int load_thermal(const struct bytes *pp, struct vbios_powerplay *pp_out)
{
	struct vbios_pp_thermal *out = &pp_out->thermal;
	struct bytes b;
	int rev = open_single(
	        pp, AT_THERMAL, "thermal controller", &(const struct form){1, 9}, 1, &b);
	const uint8_t *p = b.p;

	if (rev < 0)
		return absent(rev);
	pp_out->has_thermal = true;
	VBIOS_PP_THERMAL(LOAD)
	return 0;
}

static int load_powertune(const struct bytes *pp, struct vbios_powerplay *pp_out)
{
	static const struct form forms[] = {{4, 53}, {3, 48}, {0, 31}}; /* as above */
	struct vbios_pp_powertune *out = &pp_out->powertune;
	struct bytes b;
	int rev = open_single(pp, AT_POWERTUNE, "PowerTune table", forms, ARRAY_SIZE(forms), &b);
	const uint8_t *p = b.p;

	if (rev < 0)
		return absent(rev);
	pp_out->has_powertune = true;
	VBIOS_PP_POWERTUNE(LOAD)
	if (rev >= 3) {
		VBIOS_PP_POWERTUNE_3(LOAD)
	}
	if (rev >= 4) {
		VBIOS_PP_POWERTUNE_4(LOAD)
	}
	return 0;
}

static int load_gpio(const struct bytes *pp, struct vbios_powerplay *pp_out)
{
	struct vbios_pp_gpio *out = &pp_out->gpio;
	struct bytes b;
	int rev = open_single(pp, AT_GPIO, "GPIO table", &(const struct form){0, 7}, 1, &b);
	const uint8_t *p = b.p;

	if (rev < 0)
		return absent(rev);
	pp_out->has_gpio = true;
	VBIOS_PP_GPIO(LOAD)
	return 0;
}

static int bad_index(const char *list, unsigned i, const char *of, unsigned index, unsigned count)
{
	return rx_fail("vbios", -EINVAL, "PowerPlayInfo: %s %u names %s %u of %u", list, i, of,
	        index, count);
}

/* check_indices - every index a driver follows must name an entry. States are not followed. */
static int check_indices(const struct vbios_powerplay *o)
{
	for (unsigned i = 0; i < o->sclks; i++)
		if (o->sclk[i].vdd_index >= o->vddcs)
			return bad_index("SCLK level", i, "VDDC", o->sclk[i].vdd_index, o->vddcs);
	for (unsigned i = 0; i < o->mclks; i++)
		if (o->mclk[i].vddc_index >= o->vddcs)
			return bad_index("MCLK level", i, "VDDC", o->mclk[i].vddc_index, o->vddcs);
	for (unsigned i = 0; i < o->mms; i++)
		if (o->mm[i].vddc_index >= o->vddcs)
			return bad_index("MM level", i, "VDDC", o->mm[i].vddc_index, o->vddcs);
	return 0;
}

int vbios_powerplay(const struct vbios_rom *rom, struct vbios_powerplay *out)
{
	struct bytes t;
	int err =
	        vbios_table_open(rom, ATOM_DATA_PowerPlayInfo, REVISIONS(0x701), HEADER_BYTES, &t);
	const uint8_t *p = t.p;

	if (err < 0)
		return err;
	memset(out, 0, sizeof(*out));
	VBIOS_PP_HEADER(LOAD)
	err = load_lists(&t, out);
	if (!err)
		err = load_fan(&t, out);
	if (!err)
		err = load_thermal(&t, out);
	if (!err)
		err = load_powertune(&t, out);
	if (!err)
		err = load_gpio(&t, out);
	return err ? err : check_indices(out);
}
