/* helper_cold_card.c - see helper_cold_card.h. */
#include "helper_cold_card.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/pci/pci.h"
#include "device/regs/regs.h"
#include "foreign.h"

/* ---- a bridge that is none ---- */

static int tlp(
        struct bridge *b, enum vcard_tlp_type type, uint64_t addr, uint8_t be, uint32_t *data)
{
	struct vcard_tlp t = {
	        .type = type, .address = addr & ~3ull, .byte_enables = be, .data = *data};

	if (vcard_tlp(((struct cold *)b)->card, &t) != VCARD_SC)
		return -EIO;
	*data = t.data;
	return 0;
}

static int cfg_read(struct bridge *b, unsigned reg, unsigned size, uint32_t *value)
{
	int err = tlp(b, VCARD_CFG_READ, reg, 0xF, value);

	*value >>= 8 * (reg & 3);
	if (size < 4)
		*value &= (1u << 8 * size) - 1;
	return err;
}

static int cfg_write(struct bridge *b, unsigned reg, unsigned size, uint32_t value)
{
	uint32_t data = value << 8 * (reg & 3);

	return tlp(b, VCARD_CFG_WRITE, reg, (uint8_t)(((1u << size) - 1) << (reg & 3)), &data);
}

static int mem_read32(struct bridge *b, uint64_t addr, uint32_t *value)
{
	return tlp(b, VCARD_MEM_READ, addr, 0xF, value);
}

static int mem_write32(struct bridge *b, uint64_t addr, uint32_t value)
{
	((struct cold *)b)->writes++;
	return tlp(b, VCARD_MEM_WRITE, addr, 0xF, &value);
}

static int mem_read(struct bridge *b, uint64_t addr, void *buf, size_t len)
{
	uint8_t *p = buf;
	int err = 0;

	for (size_t i = 0; i < len && !err; i++) {
		uint32_t data = 0;

		err = tlp(b, VCARD_MEM_READ, addr + i, (uint8_t)(1u << ((addr + i) & 3)), &data);
		p[i] = (uint8_t)(data >> 8 * ((addr + i) & 3));
	}
	return err;
}

static int mem_write(struct bridge *b, uint64_t addr, const void *buf, size_t len)
{
	const uint8_t *p = buf;
	int err = 0;

	for (size_t i = 0; i < len && !err; i++) {
		uint32_t data = (uint32_t)p[i] << 8 * ((addr + i) & 3);

		err = tlp(b, VCARD_MEM_WRITE, addr + i, (uint8_t)(1u << ((addr + i) & 3)), &data);
	}
	return err;
}

static int heartbeat(struct bridge *b)
{
	(void)b;
	return 0;
}

static void read_info(const struct bridge *b, struct bridge_info *out)
{
	(void)b;
	*out = (struct bridge_info){
	        .family = "none", .reach_start = 0xD0000000, .reach_end = 0x100000000};
}

static const struct bridge_ops ops = {.cfg_read = cfg_read,
        .cfg_write = cfg_write,
        .mem_read32 = mem_read32,
        .mem_write32 = mem_write32,
        .mem_read = mem_read,
        .mem_write = mem_write,
        .heartbeat = heartbeat,
        .read_info = read_info};

static void on_log(void *ctx, bool guest_error, const char *line)
{
	struct cold *c = ctx;

	c->guest_errors += guest_error;
	if (guest_error)
		fprintf(stderr, "guest error: %s\n", line);
}

/* ---- the VBIOS on this card ---- */

static int host_read(void *ctx, uint32_t reg, uint32_t *value)
{
	return reg_read(ctx, 4 * reg, value);
}

static int host_write(void *ctx, uint32_t reg, uint32_t value)
{
	return reg_write(ctx, 4 * reg, value);
}

static int host_delay(void *ctx, uint32_t us)
{
	(void)ctx, (void)us;
	return 0;
}

static void post(struct cold *c)
{
	const struct atom_host host = {.ctx = &c->mmio,
	        .reg_read = host_read,
	        .reg_write = host_write,
	        .delay_us = host_delay};

	assert_int_equal(vbios_rom_parse(&c->rom, c->image, c->image_bytes), 0);
	assert_int_equal(atom_open(&c->atom, c->image, c->image_bytes, &host), 0);
	assert_int_equal(atom_asic_init(c->atom), 0);
}

static char *image_path(const char *name, char *path, size_t size)
{
	snprintf(path, size, "%s/%s.rom", vbios_folder(), name);
	return path;
}

static bool read_image(struct cold *c, const char *path)
{
	FILE *f = fopen(path, "rb");

	if (!f) {
		fprintf(stderr, "SKIPPED: no VBIOS image %s (set RX_VBIOS_DIR)\n", path);
		return false;
	}
	c->image = malloc(1 << 20);
	c->image_bytes = fread(c->image, 1, 1 << 20, f);
	fclose(f);
	return true;
}

struct cold *cold_open(const char *image)
{
	struct cold *c = calloc(1, sizeof(*c));
	char path[512];

	if (!read_image(c, image_path(image, path, sizeof(path)))) {
		free(c);
		skip();
	}
	const struct vcard_options opt = {
	        .cold = true, .vbios = path, .threads = 1, .log = on_log, .log_ctx = c};

	assert_int_equal(vcard_new(&c->card, &opt), 0);
	c->bridge.ops = &ops;
	assert_int_equal(pci_new(&c->pci, &c->bridge), 0);
	assert_int_equal(pci_start(c->pci), 0);
	c->mmio.pci = c->pci;
	post(c);
	assert_int_equal(gmc_new(&c->gmc, c->pci, &c->mmio), 0);
	assert_int_equal(gmc_start(c->gmc), 0);
	assert_int_equal(smu_new(&c->smu, &c->mmio, c->gmc), 0);
	return c;
}

void cold_close(struct cold *c)
{
	assert_int_equal(c->guest_errors, 0);
	smu_free(c->smu);
	gmc_free(c->gmc);
	atom_close(c->atom);
	pci_free(c->pci);
	vcard_free(c->card);
	fw_free(&c->set);
	free(c->image);
	free(c);
}

void cold_run(struct cold *c)
{
	const struct pci_info *info = pci_info(c->pci);
	struct smu_state state;

	assert_int_equal(smu_look(c->smu, &state), 0);
	const struct fw_query q = {.virtual_card = true,
	        .device = info->device,
	        .revision = info->revision,
	        .smu_sel = state.smu_sel};

	assert_false(state.running);
	assert_int_equal(fw_load(&c->set, &q), 0);
	assert_int_equal(smu_start(c->smu, &c->set.image[FW_SMC]), 0);
	assert_int_equal(smu_load_ucodes(c->smu, &c->set, 1 << 20), 0);
}

void cold_dpm(struct cold *c)
{
	static struct smu_tables tables;
	struct vbios_powerplay pp;
	struct vbios_firmware_info fi;
	struct vbios_voltages voltages;
	struct vbios_gpio_lut gpio;
	struct vbios_smu_info smu_info;
	struct smu_vbios calls = {c->atom, &c->mmio};
	struct smu_atom atom;
	struct smu_thermal thermal;

	assert_int_equal(vbios_powerplay(&c->rom, &pp), 0);
	assert_int_equal(vbios_firmware_info(&c->rom, &fi), 0);
	assert_int_equal(vbios_voltages(&c->rom, &voltages), 0);
	assert_int_equal(vbios_gpio_lut(&c->rom, &gpio), 0);
	assert_int_equal(vbios_smu_info(&c->rom, &smu_info), 0);
	smu_atom_of(&calls, &atom);
	struct smu_tables_in in = {.pp = &pp,
	        .fi = &fi,
	        .voltages = &voltages,
	        .gpio = &gpio,
	        .smu_info = &smu_info,
	        .kicker = c->set.kicker,
	        .p20 = c->set.p20,
	        .gddr5 = true,
	        .pcie_gen = 1,
	        .pcie_lanes = 1,
	        .atom = &atom};

	assert_int_equal(smu_prepare_dpm(c->smu), 0);
	assert_int_equal(smu_read_fuses(c->smu, &gpio, &in.fuses), 0);
	assert_int_equal(smu_build_tables(&in, &tables), 0);
	smu_thermal_of(&pp, &thermal);
	const struct smu_dpm dpm = {
	        .tables = &tables, .thermal = &thermal, .kicker = c->set.kicker};

	assert_int_equal(smu_enable_dpm(c->smu, &dpm), 0);
}
