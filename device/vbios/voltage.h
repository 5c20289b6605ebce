/* voltage.h - VoltageObjectInfo 3.1 of a VBIOS: which regulator makes which voltage.
 * Pure. Source: atombios.md 10.9.
 */
#ifndef RX_VBIOS_VOLTAGE_H
#define RX_VBIOS_VOLTAGE_H

#include "device/vbios/rom.h"

#define VBIOS_MAX_VOLTAGE_OBJECTS 32
#define VBIOS_MAX_VOLTAGE_ENTRIES 64

/* types and modes, as far as the driver needs their names */
enum vbios_voltage_type {
	VBIOS_VDDC = 1,
	VBIOS_MVDDC = 2,
	VBIOS_MVDDQ = 3,
	VBIOS_VDDCI = 4,
	VBIOS_VDDGFX = 5
};

enum vbios_voltage_mode {
	VBIOS_VOLTAGE_GPIO = 0,
	VBIOS_VOLTAGE_I2C_INIT = 3,
	VBIOS_VOLTAGE_PHASE = 4,
	VBIOS_VOLTAGE_SVID2 = 7,
	VBIOS_VOLTAGE_EVV = 8,
	VBIOS_VOLTAGE_LEAKAGE = 0x10 /* to 0x12 */
};

struct vbios_voltage_object {
	uint8_t type, mode;
	uint16_t size; /* bytes */
	bool decoded;  /* false: a mode that is not known here; only the three above hold */
	unsigned entries;
	union {
		struct { /* GPIO, PHASE */
			uint8_t control_id, phase_delay_us;
			uint32_t mask;
			struct {
				uint32_t code;
				uint16_t mv;
			} entry[VBIOS_MAX_VOLTAGE_ENTRIES];
		} gpio;
		struct {                                                /* I2C_INIT */
			uint8_t regulator, line, address, offset, flag; /* flag bit 0: two bytes */
			struct {
				uint16_t reg, value;
			} entry[VBIOS_MAX_VOLTAGE_ENTRIES];
		} i2c;
		struct {
			uint16_t load_line_psi;
			uint8_t svd_gpio, svc_gpio;
		} svid2;
		struct {               /* always eight */
			uint32_t sclk; /* 10 kHz */
			uint16_t offset_mv;
			uint8_t index, level;
		} evv[8];
		struct {
			uint8_t id;
			uint32_t max_level;
			struct {
				uint16_t level, voltage_id, leakage_id;
			} entry[VBIOS_MAX_VOLTAGE_ENTRIES];
		} leakage;
	};
};

struct vbios_voltages {
	unsigned objects;
	struct vbios_voltage_object object[VBIOS_MAX_VOLTAGE_OBJECTS];
};

/* vbios_voltages - decode VoltageObjectInfo. Return: as the functions of info.h. */
int vbios_voltages(const struct vbios_rom *rom, struct vbios_voltages *out);

/* vbios_voltage_find - the object of a type and mode. Return: it, or NULL. */
const struct vbios_voltage_object *vbios_voltage_find(
        const struct vbios_voltages *v, unsigned type, unsigned mode);

#endif
