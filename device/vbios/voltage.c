/* voltage.c - decoder of VoltageObjectInfo 3.1. Offsets count from the object: atombios.md 10.9. */
#include "device/vbios/vbios_priv.h"
#include "device/vbios/voltage.h"

#define OBJECT_HEADER   4
#define END_OF_SEQUENCE 0x00FF

static int too_short(const struct vbios_voltage_object *o)
{
	return rx_fail("vbios", -EINVAL,
	        "VoltageObjectInfo: object of type %u, mode %u has only %u bytes", o->type, o->mode,
	        o->size);
}

static int load_gpio(struct vbios_voltage_object *o, const struct bytes *b)
{
	if (b->size < 12)
		return too_short(o);
	o->gpio.control_id = b->p[4];
	o->entries = b->p[5];
	o->gpio.phase_delay_us = b->p[6];
	o->gpio.mask = get_le32(b->p + 8);
	int err = vbios_count_check(b, 12, o->entries, 6, VBIOS_MAX_VOLTAGE_ENTRIES);

	for (unsigned i = 0; !err && i < o->entries; i++) {
		o->gpio.entry[i].code = get_le32(b->p + 12 + 6 * i);
		o->gpio.entry[i].mv = get_le16(b->p + 16 + 6 * i);
	}
	return err;
}

static int load_i2c(struct vbios_voltage_object *o, const struct bytes *b)
{
	if (b->size < 12)
		return too_short(o);
	o->i2c.regulator = b->p[4];
	o->i2c.line = b->p[5];
	o->i2c.address = b->p[6];
	o->i2c.offset = b->p[7];
	o->i2c.flag = b->p[8];
	/* pairs up to the end mark, or to the object's end where a board left the mark out */
	for (uint32_t at = 12; range_ok(at, 4, b->size); at += 4) {
		if (get_le16(b->p + at) == END_OF_SEQUENCE)
			break;
		if (o->entries == VBIOS_MAX_VOLTAGE_ENTRIES)
			return rx_fail("vbios", -EINVAL,
			        "VoltageObjectInfo: an I2C sequence of more than %u writes",
			        VBIOS_MAX_VOLTAGE_ENTRIES);
		o->i2c.entry[o->entries].reg = get_le16(b->p + at);
		o->i2c.entry[o->entries++].value = get_le16(b->p + at + 2);
	}
	return 0;
}

static int load_svid2(struct vbios_voltage_object *o, const struct bytes *b)
{
	if (b->size < 12)
		return too_short(o);
	o->svid2.load_line_psi = get_le16(b->p + 4);
	o->svid2.svd_gpio = b->p[6];
	o->svid2.svc_gpio = b->p[7];
	return 0;
}

static int load_evv(struct vbios_voltage_object *o, const struct bytes *b)
{
	if (b->size < OBJECT_HEADER + 64)
		return too_short(o);
	o->entries = 8;
	for (unsigned i = 0; i < 8; i++) {
		const uint8_t *p = b->p + OBJECT_HEADER + 8 * i;

		o->evv[i].sclk = get_le32(p);
		o->evv[i].offset_mv = get_le16(p + 4);
		o->evv[i].index = p[6];
		o->evv[i].level = p[7];
	}
	return 0;
}

static int load_leakage(struct vbios_voltage_object *o, const struct bytes *b)
{
	if (b->size < 12)
		return too_short(o);
	o->leakage.id = b->p[4];
	o->entries = b->p[5];
	o->leakage.max_level = get_le32(b->p + 8);
	int err = vbios_count_check(b, 12, o->entries, 6, VBIOS_MAX_VOLTAGE_ENTRIES);

	for (unsigned i = 0; !err && i < o->entries; i++) {
		const uint8_t *p = b->p + 12 + 6 * i;

		o->leakage.entry[i].level = get_le16(p);
		o->leakage.entry[i].voltage_id = get_le16(p + 2);
		o->leakage.entry[i].leakage_id = get_le16(p + 4);
	}
	return err;
}

static int load_object(struct vbios_voltage_object *o, const struct bytes *b)
{
	o->decoded = true;
	switch (o->mode) {
	case VBIOS_VOLTAGE_GPIO:
	case VBIOS_VOLTAGE_PHASE: return load_gpio(o, b);
	case VBIOS_VOLTAGE_I2C_INIT: return load_i2c(o, b);
	case VBIOS_VOLTAGE_SVID2: return load_svid2(o, b);
	case VBIOS_VOLTAGE_EVV: return load_evv(o, b);
	case VBIOS_VOLTAGE_LEAKAGE:
	case VBIOS_VOLTAGE_LEAKAGE + 1:
	case VBIOS_VOLTAGE_LEAKAGE + 2: return load_leakage(o, b);
	default: o->decoded = false; return 0;
	}
}

int vbios_voltages(const struct vbios_rom *rom, struct vbios_voltages *out)
{
	struct bytes t, b;
	int err = vbios_table_open(
	        rom, ATOM_DATA_VoltageObjectInfo, REVISIONS(0x301), ATOM_HEADER_BYTES, &t);

	if (err < 0)
		return err;
	memset(out, 0, sizeof(*out));
	for (uint32_t at = ATOM_HEADER_BYTES; at < t.size; at += b.size) {
		struct vbios_voltage_object *o = &out->object[out->objects];

		if (out->objects == VBIOS_MAX_VOLTAGE_OBJECTS)
			return rx_fail("vbios", -EINVAL, "VoltageObjectInfo: more than %u objects",
			        VBIOS_MAX_VOLTAGE_OBJECTS);
		err = vbios_part_open(&t, at, OBJECT_HEADER, "object", &b);
		if (err)
			return err;
		o->type = b.p[0];
		o->mode = b.p[1];
		o->size = get_le16(b.p + 2);
		if (o->size < OBJECT_HEADER)
			return too_short(o);
		err = vbios_part_open(&t, at, o->size, "object", &b);
		if (!err)
			err = load_object(o, &b);
		if (err)
			return err;
		out->objects++;
	}
	return 0;
}

const struct vbios_voltage_object *vbios_voltage_find(
        const struct vbios_voltages *v, unsigned type, unsigned mode)
{
	for (unsigned i = 0; i < v->objects; i++)
		if (v->object[i].type == type && v->object[i].mode == mode)
			return &v->object[i];
	return NULL;
}
