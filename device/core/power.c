/* power.c - the SMU: its firmware, with its help the microcode of the other engines, the fan, then
 * clocks and power limits. polaris.md 4, 10, 13.3, 13.6.
 */
#include <stdlib.h>
#include <string.h>

#include "device/atom/atom.h"
#include "device/core/rx580_priv.h"
#include "device/err.h"
#include "device/regs/regs.h"

#define SENSOR_LIMIT_C         150   /* nothing on such a chip survives more */
#define IO_DEBUG_UCODE_VERSION 0x9Fu /* of MC_SEQ_IO_DEBUG: polaris.md 3.7 */

/* is_virtual - positively known, for generated microcode is only for a virtual card: it counts its
 * own traffic, or shows the image we built for it. */
static bool is_virtual(struct rx580 *rx)
{
	struct usb_link_stats s = {0};

	scsi_link_stats(rx->scsi, &s);
	return s.has_model || !strncmp(rx->rom.name, RX_VIRTUAL_BOARD, strlen(RX_VIRTUAL_BOARD));
}

int rx_load_firmware(struct rx580 *rx)
{
	const struct fw_query query = {.folder = rx->opt.firmware,
	        .virtual_card = is_virtual(rx),
	        .device = rx->info.pci_device,
	        .revision = rx->info.pci_revision,
	        .smu_sel = rx->smu_state.smu_sel};

	if (rx->smu_state.running)
		return 0;
	int err = fw_load(&rx->firmware, &query);

	rx->board.kicker = rx->firmware.kicker;
	rx->board.p20 = rx->firmware.p20;
	return err;
}

/* attach - 0: the firmware of an earlier owner runs on and its engines have their microcode. */
static int attach(struct rx580 *rx)
{
	int err = smu_attach(rx->smu);

	return err ? err : smu_check_ucodes(rx->smu);
}

static int start(struct rx580 *rx)
{
	uint64_t room = smu_ucode_room(&rx->firmware);

	if (room > MICROCODE_BYTES)
		return rx_fail("card", -ENOSPC,
		        "the microcode takes %llu bytes of VRAM, %llu are set apart",
		        (unsigned long long)room, MICROCODE_BYTES);
	int err = smu_start(rx->smu, &rx->firmware.image[FW_SMC]);

	if (!err) {
		err = smu_load_ucodes(rx->smu, &rx->firmware, MICROCODE_AT);
		if (err) /* the next start shall find a card it can start */
			smu_halt(rx->smu);
	}
	rx->fresh = true; /* also when somebody else has posted the card */
	return err;
}

int rx_start_smu(struct rx580 *rx)
{
	return rx->smu_state.running ? attach(rx) : start(rx);
}

/* ---- fan ---- */

/* check_heat - nothing more is started on a card that is too hot, or that cannot tell. */
static int check_heat(struct rx580 *rx)
{
	int celsius, err = smu_temperature(rx->smu, &celsius);

	rx->heat.state = !err && celsius < rx->heat.off_c ? RX_COOL : RX_OVERHEATED;
	if (err || rx->heat.state == RX_COOL)
		return err;
	if (celsius >= SENSOR_LIMIT_C)
		return rx_fail("heat", -EIO,
		        "CG_MULT_THERMAL_STATUS reads %d C, expected 1 to %d: the sensor is not to "
		        "be trusted",
		        celsius, SENSOR_LIMIT_C - 1);
	return rx_fail("heat", -EIO,
	        "the card has %d C, its limit is %d C: let it cool down, and look at its fan",
	        celsius, rx->heat.off_c);
}

int rx_start_fan(struct rx580 *rx)
{
	struct vbios_powerplay *pp = &rx->board.pp;
	struct smu_thermal thermal;

	int err = vbios_powerplay(&rx->rom, pp);

	if (err == -ENOENT) {
		rx_log(LOG_WARN, "power",
		        "the VBIOS has no PowerPlayInfo: fan and clocks stay as POST left them");
		return 0;
	}
	if (err)
		return err;
	smu_thermal_of(pp, &thermal);
	rx->board.known = true;
	rx_heat_limits(&rx->heat, pp);
	if (rx->fresh)
		err = smu_fan_test(rx->smu, &thermal);
	if (!err)
		err = smu_thermal_start(rx->smu, &thermal);
	return err ? err : check_heat(rx);
}

/* ---- clocks and power limits ---- */

/* optional - a data table that may be missing. */
static int optional(int err, const void **slot, const void *table)
{
	*slot = err ? NULL : table;
	return err == -ENOENT ? 0 : err;
}

static int needed(int err, const char *table)
{
	return err == -ENOENT ? rx_fail("power", err, "the VBIOS has no %s", table) : err;
}

/* Decoded tables and the interpreter, for as long as it takes to build the SMU's. */
struct builder {
	struct vbios_firmware_info fi;
	struct vbios_voltages voltages;
	struct vbios_gpio_lut gpio;
	struct vbios_smu_info smu_info;
	struct vbios_profiling profiling;
	struct smu_vbios vbios;
	struct smu_atom atom;
	struct smu_tables_in in;
	struct smu_tables out;
	uint32_t edc[VBIOS_EDC_REGISTERS];
	bool has_edc;
};

static int decode(struct rx580 *rx, struct builder *b)
{
	const void *gpio, *smu_info, *profiling;
	int err = needed(vbios_firmware_info(&rx->rom, &b->fi), "FirmwareInfo");

	if (!err)
		err = needed(vbios_voltages(&rx->rom, &b->voltages), "VoltageObjectInfo");
	if (!err)
		err = optional(vbios_gpio_lut(&rx->rom, &b->gpio), &gpio, &b->gpio);
	if (!err)
		err = optional(vbios_smu_info(&rx->rom, &b->smu_info), &smu_info, &b->smu_info);
	if (!err)
		err = optional(vbios_profiling(&rx->rom, &b->profiling), &profiling, &b->profiling);
	if (err)
		return err;
	b->in = (struct smu_tables_in){.pp = &rx->board.pp,
	        .fi = &b->fi,
	        .voltages = &b->voltages,
	        .gpio = gpio,
	        .smu_info = smu_info,
	        .profiling = profiling,
	        .atom = &b->atom};
	return 0;
}

/* facts - what the card itself says. */
static int facts(struct rx580 *rx, struct builder *b)
{
	const struct pci_info *pci = pci_info(rx->pci);
	uint32_t misc0;
	int err = reg_read(&rx->mmio, REG_MC_SEQ_MISC0, &misc0);

	if (err)
		return err;
	b->in.gddr5 = misc0 >> 28 == GMC_GDDR5;
	b->in.kicker = rx->board.kicker;
	b->in.p20 = rx->board.p20;
	b->in.pcie_gen = pci->link_speed ? pci->link_speed : 1;
	b->in.pcie_lanes = pci->link_width ? pci->link_width : 1;
	return smu_read_fuses(rx->smu, b->in.gpio, &b->in.fuses);
}

/* name_sequencer - which program will switch the memory clock: the VBIOS's, for amdgpu's file is
 * not loaded (docs/bring-up.md). */
static int name_sequencer(struct rx580 *rx)
{
	const struct fw_image *file = &rx->firmware.image[FW_MC];
	uint32_t version;
	int err = reg_write(&rx->mmio, REG_MC_SEQ_IO_DEBUG_INDEX, IO_DEBUG_UCODE_VERSION);

	if (!err)
		err = reg_read(&rx->mmio, REG_MC_SEQ_IO_DEBUG_DATA, &version);
	if (!err && file->data)
		rx_log(LOG_INFO, "power",
		        "memory sequencer: the VBIOS's program, version 0x%08x (%s, not loaded: "
		        "0x%08x)",
		        version, file->name, file->ucode_version);
	else if (!err)
		rx_log(LOG_INFO, "power", "memory sequencer: the VBIOS's program, version 0x%08x",
		        version);
	return err;
}

/* edc - which boards use it: smu7_hwmgr.c, smu7_init_dpm_defaults and
 * smu7_update_edc_leakage_table. A table that is not there is no reason to stay at 300 MHz. */
static int edc(struct rx580 *rx, struct builder *b)
{
	struct vbios_gfx_info gfx;
	unsigned leakage;

	if (!rx->board.kicker || vbios_gfx_info(&rx->rom, &gfx) || !gfx.edc_low_offset ||
	        !gfx.edc_high_offset)
		return 0;
	int err = smu_read_leakage_id(rx->smu, &leakage);

	if (err)
		return err;
	b->has_edc = !vbios_edc(&rx->rom, &gfx, leakage, b->edc);
	rx_log(b->has_edc ? LOG_INFO : LOG_WARN, "power",
	        "EDC controller %s (leakage id %u, threshold %u)",
	        b->has_edc ? "with the board's tables" : "stays off", leakage,
	        gfx.leakage_threshold);
	return 0;
}

static int build(struct rx580 *rx, struct builder *b)
{
	int err = decode(rx, b);

	if (!err)
		err = smu_prepare_dpm(rx->smu);
	if (!err)
		err = facts(rx, b);
	if (!err)
		err = name_sequencer(rx);
	if (!err)
		err = edc(rx, b);
	if (!err)
		err = rx_atom_open(rx, &b->vbios.atom);
	if (err)
		return err;
	b->vbios.mmio = &rx->mmio;
	smu_atom_of(&b->vbios, &b->atom);
	err = smu_build_tables(&b->in, &b->out);
	atom_close(b->vbios.atom);
	return err;
}

static int enable(struct rx580 *rx)
{
	RX_CLEANUP(free) struct builder *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	int err = build(rx, b);

	if (!err)
		err = smu_enable_dpm(rx->smu, &(struct smu_dpm){.tables = &b->out,
		                                      .kicker = rx->board.kicker,
		                                      .edc = b->has_edc ? b->edc : NULL});
	if (!err) {
		rx->heat.stock_cap_w = b->out.package_w;
		rx->heat.cap_w = b->out.package_w;
	}
	return err;
}

/* take_over - an earlier owner has started it: the power limit is the board's own again. */
static int take_over(struct rx580 *rx)
{
	const struct vbios_powerplay *pp = &rx->board.pp;

	if (!rx->board.known || !pp->has_powertune)
		return 0;
	rx->heat.stock_cap_w = pp->powertune.max_power_delivery_w;
	return rx->heat.stock_cap_w ? rx_set_power_cap(rx, rx->heat.stock_cap_w) : 0;
}

int rx_start_power(struct rx580 *rx)
{
	if (smu_dpm_enabled(rx->smu) && rx->opt.no_dpm) {
		int err = smu_disable_dpm(rx->smu);

		if (err)
			return err;
	}
	if (smu_dpm_enabled(rx->smu))
		return take_over(rx);
	if (rx->opt.no_dpm || !rx->board.known) {
		rx_log(LOG_WARN, "power", "no power management%s: the card runs at 300/300 MHz",
		        rx->opt.no_dpm ? ", as asked for" : "");
		return 0;
	}
	int err = enable(rx);

	if (!err || err == -ENODEV || smu_silent(rx->smu))
		return err;
	/* polaris.md 13.6 step 62: a failed message leaves it off, and the card is usable */
	rx_log(LOG_ERROR, "power",
	        "power management could not be started (see above): the card runs at 300/300 MHz");
	return 0;
}

void rx_stop_power(struct rx580 *rx)
{
	int err = smu_dpm_enabled(rx->smu) ? smu_disable_dpm(rx->smu) : 0;

	if (!rx->board.known || !rx->board.pp.has_fan)
		return;
	/* a card that is still warm keeps its full speed until somebody looks after it again */
	if (!err && rx->info.state != RX_INIT && rx->heat.state == RX_COOL &&
	        smu_fan_is_manual(rx->smu))
		err = smu_fan_auto(rx->smu);
	if (err || rx->info.state == RX_INIT) /* a start that failed */
		smu_fan_safe(rx->smu, rx->heat.state == RX_COOL);
}
