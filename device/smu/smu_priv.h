/* smu_priv.h - what the files of this module share. */
#ifndef RX_SMU_PRIV_H
#define RX_SMU_PRIV_H

#include "device/smu/smu.h"

/* The stock driver polls a million times, a microsecond apart: amdgpu-oracle.md 7 item 12 */
#define SMU_TIMEOUT_MS 1000
#define SMU_RAM_END    0x40000u /* polaris.md 4.3 */
#define SMU_IMAGE      0x20000u /* polaris.md 4.3: where firmware is loaded */
#define SMU_RUNNING_PC 0x20100u /* polaris.md 1.5 */
#define SMU_XCLK       2500u    /* 25 MHz in 10 kHz: polaris.md 1.4, 10.9 */

#define VOLTAGE_CONTROLLER_ON (1u << 13) /* FEATURE_STATUS, power management is on: 10.5 */

#define BURST_STATE0(v) ((v) & 0x1F) /* MC_ARB_BURST_TIME: polaris.md 10.5 step 8 */

/* SoftRegisters: polaris.md 10.3 */
#define SOFT_VOLTAGE_CHANGE_TIMEOUT 44
#define SOFT_HANDSHAKE_DISABLES     48
#define SOFT_GRAPHICS_ACTIVITY      60
#define SOFT_UCODE_LOAD_STATUS      108
#define SOFT_BYTES                  120

struct smu {
	struct mmio *mmio;   /* not owned */
	struct gmc *gmc;     /* not owned */
	bool answered;       /* the last message was answered: the mailbox is free */
	bool silent;         /* the last one was not, and its time is over */
	bool dpm, dpm_tried; /* enabled; on the way to it, or it went wrong */
	bool fan_manual, fan_curve;
	uint32_t refused; /* the message refused last, until it is not; 0: none */
	bool sensor_dead; /* the last temperature was none: said once */
	unsigned duty100; /* steps of the fan's full speed; 0: not read yet */
	struct smu_header header;
};

/* smu_read_header - polaris.md 10.3, checked. -EPROTO. */
int smu_read_header(struct smu *s);

/* smu_read_fan - the part of a sample that is about the fan. */
int smu_read_fan(struct smu *s, struct smu_sample *out);

/* didt.c: polaris.md 10.8. smu_write_edc: registers only, all shader engines at once. */
int smu_enable_didt(struct smu *s);
int smu_write_edc(struct smu *s, const uint32_t value[VBIOS_EDC_REGISTERS]);

/* smu_find_mailbox - of a firmware somebody else has talked to: whether it answers. Return: 0;
 * -ETIMEDOUT it does not (logged); link errors. */
int smu_find_mailbox(struct smu *s);

#endif
