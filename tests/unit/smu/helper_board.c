/* helper_board.c - see helper_board.h. */
#include "helper_board.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/regs/regs.h"
#include "foreign.h"

static int host_read(void *ctx, uint32_t reg, uint32_t *value)
{
	(void)ctx;
	*value = reg < 0x10000 ? fake->reg[reg] : 0;
	return 0;
}

static int host_write(void *ctx, uint32_t reg, uint32_t value)
{
	(void)ctx;
	if (reg < 0x10000)
		fake->reg[reg] = value;
	return 0;
}

static int host_delay(void *ctx, uint32_t us)
{
	(void)ctx, (void)us;
	return 0;
}

static uint8_t *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(1 << 20);

	if (f && data) {
		*size = fread(data, 1, 1 << 20, f);
		fclose(f);
		return data;
	}
	free(data);
	return NULL;
}

static void decode(struct board *b)
{
	assert_int_equal(vbios_rom_parse(&b->rom, b->image, b->size), 0);
	assert_int_equal(vbios_powerplay(&b->rom, &b->pp), 0);
	assert_int_equal(vbios_firmware_info(&b->rom, &b->fi), 0);
	assert_int_equal(vbios_voltages(&b->rom, &b->voltages), 0);
	assert_int_equal(vbios_gpio_lut(&b->rom, &b->gpio), 0);
	assert_int_equal(vbios_smu_info(&b->rom, &b->smu_info), 0);
	assert_int_equal(vbios_profiling(&b->rom, &b->profiling), 0);
}

struct board *board_open(const char *name)
{
	static const struct atom_host host = {
	        .reg_read = host_read, .reg_write = host_write, .delay_us = host_delay};
	struct board *b = calloc(1, sizeof(*b));
	char path[512];

	assert_non_null(b);
	snprintf(path, sizeof(path), "%s/%s.rom", vbios_folder(), name);
	b->image = read_file(path, &b->size);
	if (!b->image) {
		fprintf(stderr, "SKIPPED: no VBIOS image %s (set RX_VBIOS_DIR)\n", path);
		free(b);
		return NULL;
	}
	fake_open();
	/* the state ASIC_Init leaves, in the stock driver's trace */
	fake->reg[RX_REG_DW(REG_MC_ARB_DRAM_TIMING)] = 0x09080304;
	fake->reg[RX_REG_DW(REG_MC_ARB_DRAM_TIMING2)] = 0x0309061F;
	decode(b);
	assert_int_equal(atom_open(&b->atom, b->image, b->size, &host), 0);
	b->calls = (struct smu_vbios){b->atom, &fake->mmio};
	smu_atom_of(&b->calls, &b->smu_atom);
	b->in = (struct smu_tables_in){.pp = &b->pp,
	        .fi = &b->fi,
	        .voltages = &b->voltages,
	        .gpio = &b->gpio,
	        .smu_info = &b->smu_info,
	        .profiling = &b->profiling,
	        .kicker = true,
	        .p20 = true,
	        .gddr5 = true,
	        .pcie_gen = 3,
	        .pcie_lanes = 16,
	        .atom = &b->smu_atom};
	return b;
}

void board_close(struct board *b)
{
	if (!b)
		return;
	atom_close(b->atom);
	free(b->image);
	free(b);
	fake_close();
}

const char *helper_trace(const char *name, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", traces_folder(), name);
	if (access(path, R_OK) == 0)
		return path;
	fprintf(stderr, "SKIPPED: no trace %s (set RX_TRACES_DIR)\n", path);
	return NULL;
}
