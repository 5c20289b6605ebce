/* synth_power.c - PowerPlayInfo, VoltageObjectInfo, ASIC_ProfilingInfo. Layouts: atombios.md 10.8,
 * 10.9, 11. A card of 150 W: 8 engine levels up to 1340 MHz, 3 memory levels up to 2000 MHz.
 */
#include "device/virtual/vbios/synth_priv.h"

#define VIRTUAL_ID 0xFF01 /* voltages of the upper levels are asked of GetVoltageInfo */

static const uint32_t sclk[] = {30000, 60000, 90000, 110000, 118000, 124000, 129000, 134000};
static const struct {
	uint32_t clock;
	uint8_t vddc;
	uint16_t vddci;
} mclk[] = {{30000, 0, 800}, {100000, 8, 850}, {200000, 11, 950}};
static const uint32_t mm[] = {30000, 45000, 60000, 80000};

#define LOOKUPS 16 /* 0: 800 mV, 1-7: virtual, 8-15: 800 mV and up for the memory levels */

/* offsets of the parts; all are packed */
enum {
	STATES = 77,
	MCLKS = STATES + 2 + 2 * 20,
	SCLKS = MCLKS + 2 + 3 * 13,
	VDDC = SCLKS + 2 + 8 * 15,
	VDDGFX = VDDC + 2 + LOOKUPS * 8,
	MMS = VDDGFX + 2 + 8 * 8,
	VCES = MMS + 2 + 4 * 23,
	PCIES = VCES + 2 + 2 * 4,
	FAN = PCIES + 2 + 2 * 8,
	THERMAL = FAN + 48,
	POWERTUNE = THERMAL + 9,
	GPIO = POWERTUNE + 53,
	POWERPLAY_BYTES = GPIO + 7
};

static void header(uint8_t *p)
{
	static const struct {
		uint8_t at;
		uint16_t part;
	} parts[] = {{35, STATES}, {37, FAN}, {39, THERMAL}, {43, MCLKS}, {45, SCLKS}, {47, VDDC},
	        {49, VDDGFX}, {51, MMS}, {53, VCES}, {57, POWERTUNE}, {61, PCIES}, {63, GPIO}};

	put_le16(p + 5, 77);
	put_le16(p + 15, 25);         /* format id: atombios.md 11 */
	put_le32(p + 19, 0x01028000); /* VDDCI control, BACO, PCC with thermal */
	put_le32(p + 23, 150000);     /* overdrive limits: little above stock */
	put_le32(p + 27, 210000);
	put_le16(p + 31, 20); /* power limit, % */
	put_le16(p + 33, 25); /* ULV offset, mV */
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		put_le16(p + parts[i].at, parts[i].part);
}

static uint8_t *list(uint8_t *p, unsigned revision, unsigned count)
{
	p[0] = (uint8_t)revision;
	p[1] = (uint8_t)count;
	return p + 2;
}

static void states(uint8_t *p)
{
	p = list(p, 1, 2);
	p[5] = 2; /* boot: lowest levels, PCIe gen 3, 16 lanes */
	p[6] = p[7] = 16;
	put_le16(p + 8, 8);
	p += 20;
	p[0] = ARRAY_SIZE(sclk) - 1; /* performance: all levels */
	p[2] = ARRAY_SIZE(mclk) - 1;
	p[5] = 2;
	p[6] = p[7] = 16;
	put_le16(p + 8, 5);
}

static void clock_lists(uint8_t *table)
{
	uint8_t *p = list(table + MCLKS, 0, ARRAY_SIZE(mclk));

	for (size_t i = 0; i < ARRAY_SIZE(mclk); i++, p += 13) {
		p[0] = mclk[i].vddc;
		put_le16(p + 1, mclk[i].vddci);
		put_le16(p + 5, 1500);
		put_le32(p + 7, mclk[i].clock);
	}
	p = list(table + SCLKS, 1, ARRAY_SIZE(sclk));
	for (size_t i = 0; i < ARRAY_SIZE(sclk); i++, p += 15) {
		p[0] = (uint8_t)i;
		put_le32(p + 3, sclk[i]);
		p[10] = i ? 0 : 0x80; /* no clock stretching at the lowest level */
	}
	p = list(table + MMS, 0, ARRAY_SIZE(mm));
	for (size_t i = 0; i < ARRAY_SIZE(mm); i++, p += 23) {
		p[0] = (uint8_t)(8 + i);
		for (unsigned k = 0; k < 5; k++)
			put_le32(p + 3 + 4 * k, mm[i]);
	}
}

static void lookups(uint8_t *table)
{
	uint8_t *p = list(table + VDDC, 0, LOOKUPS);

	for (unsigned i = 0; i < LOOKUPS; i++, p += 8)
		put_le16(p, (uint16_t)(i == 0 ? 800 : i < 8 ? VIRTUAL_ID + i : 800 + 50 * (i - 8)));
	p = list(table + VDDGFX, 0, 8);
	for (unsigned i = 0; i < 8; i++, p += 8)
		put_le16(p, (uint16_t)(i ? VIRTUAL_ID + i : 800));
}

static void small_lists(uint8_t *table)
{
	uint8_t *p = list(table + VCES, 1, 2);

	p[4] = 3;
	p[6] = ARRAY_SIZE(sclk) - 1;
	p[7] = ARRAY_SIZE(mclk) - 1;
	p = list(table + PCIES, 1, 2);
	p[1] = 16; /* gen 1, 16 lanes; gen 3, 16 lanes */
	p[8] = 2;
	p[9] = 16;
	p = table + GPIO;
	p[1] = 0; /* engine level while VR-hot fires */
}

/* fan - revision 9: quiet to 65 C, full at 90. */
static void fan(uint8_t *p)
{
	static const struct {
		uint8_t at;
		uint16_t value;
	} words[] = {{2, 4000}, {4, 6500}, {6, 8500}, {8, 2000}, {10, 4500}, {12, 8000}, {14, 9000},
	        {17, 100}, {19, 4800}, {21, 3000}};

	p[0] = 9;
	p[1] = 3; /* hysteresis */
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		put_le16(p + words[i].at, words[i].value);
	p[16] = 1; /* mode: fuzzy */
	put_le32(p + 23, 134000);
	p[27] = 75; /* target, C */
	p[28] = 20; /* least PWM, % */
	for (unsigned i = 0; i < 7; i++)
		put_le16(p + 29 + 2 * i, 200); /* gains */
	p[44] = 45;
	p[45] = 55;
}

static void thermal_and_limits(uint8_t *table)
{
	static const struct {
		uint8_t at;
		uint16_t value;
	} words[] = {{1, 150}, {5, 130}, {7, 150}, {9, 150}, {15, 150}, {17, 90}, {23, 95}, {25, 2},
	        {27, 105}, {29, 90}, {31, 90}, {33, 115}, {35, 115}, {37, 90}};
	uint8_t *p = table + THERMAL;

	p[0] = 1;
	p[1] = 23; /* controller type of all boards: atombios.md 11 */
	p[4] = 2;  /* tach pulses a turn */
	p[6] = 30; /* 3000 turns a minute at most */
	p = table + POWERTUNE;
	p[0] = 4;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		put_le16(p + words[i].at, words[i].value);
}

static void powerplay(struct atom_asm *a)
{
	uint8_t *p = as_data(a, ATOM_DATA_PowerPlayInfo, 7, 1, POWERPLAY_BYTES);

	header(p);
	states(p + STATES);
	clock_lists(p);
	lookups(p);
	small_lists(p);
	fan(p + FAN);
	thermal_and_limits(p);
}

/* voltages - VDDC by SVI2, VDDCI by two GPIO bits: atombios.md 10.9 */
static void voltages(struct atom_asm *a)
{
	enum { SVI2 = 12, LEVELS = 4, PINS = 12 + 6 * LEVELS };
	uint8_t *p = as_data(a, ATOM_DATA_VoltageObjectInfo, 3, 1, 4 + SVI2 + PINS) + 4;

	p[0] = 1; /* VDDC */
	p[1] = 7; /* SVID2 */
	put_le16(p + 2, SVI2);
	p += SVI2;
	p[0] = 4; /* VDDCI, mode 0: a table of GPIO codes */
	put_le16(p + 2, PINS);
	p[5] = LEVELS;
	put_le32(p + 8, 0x3);
	for (unsigned i = 0; i < LEVELS; i++) {
		put_le32(p + 12 + 6 * i, i);
		put_le16(p + 16 + 6 * i, (uint16_t)(800 + 50 * i));
	}
}

/* profiling - limits only; no leakage model, so that GetVoltageInfo answers are final. */
static void profiling(struct atom_asm *a)
{
	uint8_t *p = as_data(a, ATOM_DATA_ASIC_ProfilingInfo, 3, 6, 268);

	put_le32(p + 0x04, 115000); /* 0.01 mV */
	put_le32(p + 0x08, 80000);
	for (unsigned i = 0; i < 8; i++)
		put_le32(p + 0x84 + 4 * i, 500 + 100 * i); /* current limits of the levels */
	put_le16(p + 0x102, 4600);                         /* 0.25 mV */
}

void synth_power_tables(struct atom_asm *a)
{
	powerplay(a);
	voltages(a);
	profiling(a);
}
