/* tables_priv.h - what the table builders share. */
#ifndef RX_SMU_TABLES_PRIV_H
#define RX_SMU_TABLES_PRIV_H

#include "device/smu/tables.h"

#define DPM_ULV       1396 /* DpmTable: polaris.md 10.3 */
#define VOLTAGE_SCALE 4u   /* quarters of a mV */

/* One build. VDDCs have their virtual ids resolved. */
struct build {
	const struct smu_tables_in *in;
	struct smu_tables *out;
	uint16_t vddc[VBIOS_PP_MAX];                  /* by index of in->pp->vddc */
	const struct vbios_voltage_object *vddci;     /* GPIO or SVI2 object, or NULL: fixed */
	uint16_t vddci_mv[VBIOS_MAX_VOLTAGE_ENTRIES]; /* the steps it can make */
	unsigned vddcis;
	unsigned link_levels;
};

/* smu_voltage_word - polaris.md 10.3, last line: VDDC, VDDCI, one phase, quarters of a mV. */
uint32_t smu_voltage_word(uint16_t vddc_mv, uint16_t vddci_mv);
/* smu_vddci_for - the VDDCI step for a VDDC (polaris.md 10.6). */
uint16_t smu_vddci_for(const struct build *b, uint16_t vddc_mv);

int smu_build_levels(struct build *b); /* graphics, memory, boot and ACPI levels */
int smu_build_media(struct build *b);  /* video engines' levels and the link's */
void smu_build_fixed(struct build *b); /* everything that depends on no clock */
void smu_build_stretcher(struct build *b);
void smu_build_pm_fuses(struct build *b);
void smu_build_avfs(struct build *b);

#endif
