/* synth_data.c - the small data tables. Layouts: atombios.md 8, 10. */
#include "device/virtual/vbios/synth_priv.h"

static void firmware_info(struct atom_asm *a)
{
	uint8_t *p = as_data(a, ATOM_DATA_FirmwareInfo, 2, 2, 108);

	put_le32(p + 0x04, 0x00010000); /* firmware revision */
	put_le32(p + 0x08, ENGINE_CLOCK);
	put_le32(p + 0x0C, MEMORY_CLOCK);
	put_le32(p + 0x14, 360000); /* GPU PLL */
	put_le32(p + 0x20, 600000); /* pixel PLL, maximum and minimum */
	put_le32(p + 0x28, 60000);  /* display clock */
	put_le16(p + 0x2E, BOOT_VDDC);
	put_le32(p + 0x38, 300000);
	put_le16(p + 0x4E, BOOT_VDDCI);
	put_le16(p + 0x50, 0x2000); /* bit 13: posts without a mode set */
	put_le16(p + 0x52, REFERENCE);
	put_le16(p + 0x54, REFERENCE);
	put_le16(p + 0x56, REFERENCE);
	put_le16(p + 0x5C, 1500); /* MVDD */
}

static void vram_usage(struct atom_asm *a)
{
	uint8_t *p = as_data(a, ATOM_DATA_VRAM_UsageByFirmware, 1, 5, 12);

	put_le16(p + 10, 32); /* KiB for the driver, as all images: atombios.md 10.2 */
}

static void gfx_info(struct atom_asm *a)
{
	static const uint8_t polaris10[] = {1, 8, 4, 8, 9, 1, 2, 8}; /* atombios.md 10.7 */

	uint8_t *p = as_data(a, ATOM_DATA_GFX_Info, 2, 3, 24 + 2 * 4 * SYNTH_EDC_REGISTERS);

	put_le16(p, 24); /* as real ones: the EDC tables are behind it */
	memcpy(p + 4, polaris10, sizeof(polaris10));
	put_le16(p + 12, SYNTH_LEAKAGE_THRESHOLD);
	put_le16(p + 14, 24);
	put_le16(p + 16, 24 + 4 * SYNTH_EDC_REGISTERS);
	for (uint32_t i = 0; i < SYNTH_EDC_REGISTERS; i++) {
		put_le32(p + 24 + 4 * i, SYNTH_EDC_LOW + i);
		put_le32(p + 24 + 4 * (SYNTH_EDC_REGISTERS + i), SYNTH_EDC_HIGH + i);
	}
}

/* smu_info - up to each clock: post divider as a power of two, and the frequency words. */
static void smu_info(struct atom_asm *a)
{
	static const struct {
		uint32_t sclk;
		uint8_t postdiv;
		uint16_t upper, lower;
	} ranges[] = {/* what all boards have: atombios.md 10.6 */
	        {37500, 4, 60, 0}, {75000, 3, 60, 30}, {150000, 2, 60, 30}, {300000, 1, 0, 30}};
	uint8_t *p = as_data(a, ATOM_DATA_SMU_Info, 2, 1, 8 + 12 * ARRAY_SIZE(ranges));

	p[4] = ARRAY_SIZE(ranges);
	p[5] = 74; /* SMU 7.4 */
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		uint8_t *e = p + 8 + 12 * i;

		put_le32(e, ranges[i].sclk);
		e[4] = 1;
		e[5] = ranges[i].postdiv;
		put_le16(e + 6, 30);
		put_le16(e + 8, ranges[i].upper);
		put_le16(e + 10, ranges[i].lower);
	}
}

static void gpio_tables(struct atom_asm *a)
{
	static const uint8_t ids[] = {61, 65}; /* VR-hot, thermal interrupt: atombios.md 10.4 */
	uint8_t *p = as_data(a, ATOM_DATA_GPIO_Pin_LUT, 1, 1, 4 + 4 * ARRAY_SIZE(ids));

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		put_le16(p + 4 + 4 * i, 0x0183); /* register of the pads: atombios.md 10.4 */
		p[6 + 4 * i] = (uint8_t)(5 + 2 * i);
		p[7 + 4 * i] = ids[i];
	}
	p = as_data(a, ATOM_DATA_GPIO_I2C_Info, 1, 1, 4 + 27);
	for (unsigned i = 0; i < 8; i++)
		put_le16(
		        p + 4 + 2 * i, (uint16_t)(0x4868 + i % 4)); /* one line: atombios.md 10.5 */
	p[4 + 16] = 0x90;
	memset(p + 4 + 21, 8, 4);
}

static void spread_and_memory(struct atom_asm *a)
{
	uint8_t *p = as_data(a, ATOM_DATA_ASIC_InternalSS_Info, 3, 1, 4 + 2 * 12);

	for (unsigned i = 0; i < 2; i++) { /* memory clock, engine clock: no spread */
		put_le32(p + 4 + 12 * i, 0x00FFFFFF);
		put_le16(p + 10 + 12 * i, 3000);
		p[12 + 12 * i] = (uint8_t)(i + 1);
	}
	p = as_data(a, ATOM_DATA_MC_InitParameter, 2, 1, 16);
	put_le32(p + 4, SYNTH_MICROCODE_ID); /* atombios.md 9 */
}

/* port_program - @number reads or writes through an index and a data register. */
static uint8_t *port_program(
        uint8_t *p, unsigned number, unsigned index, unsigned data, const uint8_t *table)
{
	const uint8_t code[] = {ATOM_IIO_START,
	        (uint8_t)number, /* keeps the upper half of the index */
	        ATOM_IIO_READ, (uint8_t)index, 0, ATOM_IIO_MOVE_INDEX, 16, 0, 0, ATOM_IIO_WRITE,
	        (uint8_t)index, 0};
	const uint8_t read[] = {ATOM_IIO_READ, (uint8_t)data, 0};
	const uint8_t write[] = {ATOM_IIO_MOVE_DATA, 32, 0, 0, ATOM_IIO_WRITE, (uint8_t)data, 0};

	memcpy(p, code, sizeof(code));
	p += sizeof(code);
	if (number & ATOM_IIO_WRITE_PROGRAM) {
		memcpy(p, write, sizeof(write));
		p += sizeof(write);
	} else {
		memcpy(p, read, sizeof(read));
		p += sizeof(read);
	}
	p[0] = ATOM_IIO_END;
	put_le16(p + 1, (uint16_t)(p - table - 3)); /* back distance: atombios.md 8 */
	return p + 3;
}

static void indirect_io(struct atom_asm *a)
{
	uint8_t *table = as_data(a, ATOM_DATA_IndirectIOAccess, 1, 1, 4 + 2 * (18 + 22) + 1);
	uint8_t *p = table + 4;

	p = port_program(p, PORT_PCIE, REG_PCIE_INDEX / 4, REG_PCIE_DATA / 4, table);
	p = port_program(p, PORT_PCIE | ATOM_IIO_WRITE_PROGRAM, REG_PCIE_INDEX / 4,
	        REG_PCIE_DATA / 4, table);
	p = port_program(p, PORT_SMC, REG_SMC_IND_INDEX_1 / 4, REG_SMC_IND_DATA_1 / 4, table);
	port_program(p, PORT_SMC | ATOM_IIO_WRITE_PROGRAM, REG_SMC_IND_INDEX_1 / 4,
	        REG_SMC_IND_DATA_1 / 4, table);
}

void synth_data_tables(struct atom_asm *a)
{
	firmware_info(a);
	vram_usage(a);
	gfx_info(a);
	smu_info(a);
	gpio_tables(a);
	spread_and_memory(a);
	indirect_io(a);
}
