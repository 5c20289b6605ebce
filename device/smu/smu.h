/* smu.h - the card's system management unit (SMU7, Polaris 10): firmware start, microcode of the
 * other engines, power management, fan, measurements. Called only on the owner thread; start after
 * gmc, stop before it. Facts: polaris.md 4.3, 4.4, 10; amdgpu-oracle.md 6, 7.
 *
 * Clocks in 10 kHz, voltages in mV, power in mW, temperatures in degrees Celsius unless the name
 * says otherwise. Errors: those of bridge.h, and those named at each function; logged where
 * detected.
 */
#ifndef RX_SMU_H
#define RX_SMU_H

#include <stdbool.h>
#include <stdint.h>

#include "device/firmware/firmware.h"
#include "device/gmc/gmc.h"
#include "device/regs/mmio.h"
#include "device/regs/ppsmc.h"
#include "device/smu/tables.h"

struct smu;

int smu_new(struct smu **out, struct mmio *mmio, struct gmc *gmc);
void smu_free(struct smu *s);

/* ---- start: polaris.md 4.3 ---- */

struct smu_state {
	bool running;        /* firmware of somebody before us runs: polaris.md 1.5 */
	bool protected_mode; /* the SMU checks the image's signature */
	bool smu_sel;        /* for fw_query */
	uint32_t pc;
};

/* What the running firmware says of itself: polaris.md 10.3. SMC RAM byte addresses. */
struct smu_header {
	uint32_t version, soft_registers, dpm_table, fan_table, mc_arb_table, pm_fuse_table;
	/* 0 when the firmware names none; AVFS needs them */
	uint32_t avfs_mean_n_sigma, avfs_sclk_offsets;
};

int smu_look(struct smu *s, struct smu_state *out);
/* smu_start - load and start the firmware on a SMU that does not run. Return: 0; -ETIMEDOUT the
 * SMU does not answer; -EBADMSG it refused the image (wrong variant, or damaged on its way). On
 * error it is held in reset again.
 */
int smu_start(struct smu *s, const struct fw_image *smc);
/* smu_halt - firmware off and in reset, as before smu_start; for a start that cannot be finished.
 */
int smu_halt(struct smu *s);
/* smu_attach - take over firmware that runs, with power management as it is; for the fan curve call
 * smu_thermal_start again. Return: 0; -EPROTO its header makes no sense. */
int smu_attach(struct smu *s);
const struct smu_header *smu_header(const struct smu *s);

/* ---- mailbox: polaris.md 10.1 ---- */

/* Send and wait for the answer. smu_message: without argument; smu_query: without argument, with a
 * result. Return: 0; -EOPNOTSUPP the firmware does not know the message; -EIO it failed; -ETIMEDOUT
 * no answer within a second.
 */
int smu_message(struct smu *s, enum ppsmc_msg id);
int smu_message_arg(struct smu *s, enum ppsmc_msg id, uint32_t arg);
int smu_query(struct smu *s, enum ppsmc_msg id, uint32_t *result);
/* smu_silent - the last message was never answered. */
bool smu_silent(const struct smu *s);

/* ---- microcode of the other engines: polaris.md 4.4 ---- */

/* smu_ucode_room - bytes of VRAM smu_load_ucodes needs: the SMU's own buffer, the table of
 * contents and the images. The buffer stays the SMU's for as long as it runs. */
uint64_t smu_ucode_room(const struct fw_set *set);
/* smu_load_ucodes - put the images into VRAM at @vram_offset (a multiple of 4096, inside the
 * window) and let the SMU load them. The engines stay halted. Return: 0; -EIO VRAM does not hold
 * an image; -ETIMEDOUT with the engines named that did not load.
 */
int smu_load_ucodes(struct smu *s, const struct fw_set *set, uint64_t vram_offset);

/* smu_check_ucodes - after smu_attach: whether the microcode was loaded. Return: 0; -EPROTO it was
 * not (logged). */
int smu_check_ucodes(struct smu *s);

/* ---- power: polaris.md 10.5, 10.7, 10.8 ---- */

struct atom;

/* What the card and its VBIOS' command tables add to the data tables: fill smu_tables_in with
 * these, build, enable. @gpio may be NULL. */
struct smu_vbios {
	struct atom *atom; /* not owned; its host must reach the same card */
	struct mmio *mmio; /* not owned */
};
void smu_atom_of(struct smu_vbios *v, struct smu_atom *out); /* @out points at @v */
int smu_read_fuses(struct smu *s, const struct vbios_gpio_lut *gpio, struct smu_fuses *out);
/* smu_read_leakage_id - how much this chip leaks, for vbios_edc. */
int smu_read_leakage_id(struct smu *s, unsigned *out);

struct smu_dpm {
	const struct smu_tables *tables;   /* tables.h */
	const struct smu_thermal *thermal; /* NULL: the fan stays as it is */
	bool kicker;                       /* fw_set.kicker */
	/* VBIOS_EDC_REGISTERS values of vbios_edc; NULL: the EDC controller stays off */
	const uint32_t *edc;
};

/* smu_prepare_dpm - steps 1 to 8 of polaris.md 10.5, before smu_build_tables: the VBIOS' timing
 * table works on the first set of memory timings, and after this the second one runs. */
int smu_prepare_dpm(struct smu *s);
/* smu_enable_dpm - upload the tables, start clock and voltage control, ramp limits (DIDT), current
 * and power limits, fan, at stock values. Wants the graphics core's registers and a running
 * firmware. Without it the card stays at its boot clocks, 300/300 MHz. Return: 0; or an error with
 * the step named: then power management is off again.
 */
int smu_enable_dpm(struct smu *s, const struct smu_dpm *dpm);
/* smu_disable_dpm - back to boot clocks, so that the next start finds what it expects. */
int smu_disable_dpm(struct smu *s);
bool smu_dpm_enabled(const struct smu *s);

/* ---- fan and temperature: polaris.md 10.9, 10.10 ---- */

/* smu_thermal_start - alert limits, tach, and the automatic fan curve of the VBIOS. */
int smu_thermal_start(struct smu *s, const struct smu_thermal *t);
/* smu_fan_manual - @pwm 0..255. smu_fan_auto - the curve given to smu_thermal_start; -ENOTSUP
 * without one: set a speed instead. */
int smu_fan_manual(struct smu *s, unsigned pwm);
int smu_fan_auto(struct smu *s);
bool smu_fan_is_manual(const struct smu *s);
/* smu_fan_test - full speed until the fan is seen to turn; smu_thermal_start ends it. -EIO it does
 * not (logged). */
int smu_fan_test(struct smu *s, const struct smu_thermal *t);
/* smu_fan_safe - when something has failed: whoever drives the fan must be alive. @curve: a
 * firmware that answers may follow it; else full speed, by registers alone. Says what it did. */
void smu_fan_safe(struct smu *s, bool curve);

/* ---- measurements ---- */

struct smu_sample {
	int temperature_c;     /* 255: the sensor is out of range */
	uint32_t sclk, mclk;   /* 10 kHz */
	uint32_t vddc_mv;      /* of the regulator's plane 1; 0: off */
	uint32_t power_mw;     /* average of the package */
	uint32_t fan_rpm;      /* 0: stands, or no tach */
	unsigned pwm;          /* 0..255, what the fan gets now */
	unsigned activity_pct; /* shader engines, average of the firmware */
};

/* smu_temperature - alone; also without firmware. -EIO: the sensor reads 0 C, which no running chip
 * has (logged). */
int smu_temperature(struct smu *s, int *celsius);
/* smu_sample - one look at everything, with as few commands as there are values. */
int smu_sample(struct smu *s, struct smu_sample *out);

#endif
