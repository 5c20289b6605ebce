/* helper_cold_card.h - the driver's pci, regs, gmc and smu on a virtual card that has just got
 * power, without cable and enclosure between: configuration and memory requests go to the card as
 * they are. POST is done with a VBIOS image of the folder foreign.h names. */
#ifndef HELPER_COLD_CARD_H
#define HELPER_COLD_CARD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/atom/atom.h"
#include "device/bridge/bridge.h"
#include "device/smu/smu.h"
#include "device/virtual/card/card.h"

struct cold {
	struct bridge bridge; /* first */
	struct vcard *card;
	struct pci *pci;
	struct mmio mmio;
	struct gmc *gmc;
	struct smu *smu;
	struct fw_set set;
	uint8_t *image;
	size_t image_bytes;
	struct vbios_rom rom;
	struct atom *atom;
	uint64_t writes, guest_errors;
};

/* cold_open - powered, BARs placed, posted, gmc started; the SMU is still held. Skips the test
 * when there is no image. */
struct cold *cold_open(const char *image);
void cold_close(struct cold *c);
/* cold_run - and the SMU's firmware runs, the other engines' microcode is loaded. */
void cold_run(struct cold *c);
/* cold_dpm - and power management is on. */
void cold_dpm(struct cold *c);

#endif
