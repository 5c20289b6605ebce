/* helper_cold.h - a cold card brought up by hand: memory, SMU, microcode, DPM tables. The stand-in
 * images are made here, not by the driver's generator.
 */
#ifndef HELPER_COLD_H
#define HELPER_COLD_H

#include "tests/unit/card/helper_card.h"

int cold_setup(void **state); /* cmocka set-up: a cold card, BARs assigned */

uint32_t smc_get(struct host *h, uint32_t index); /* through pair 11 */
void smc_put(struct host *h, uint32_t index, uint32_t value);

/* stand_in - fill @image with a good stand-in: magic, kind, length, pattern, CRC-32 */
void stand_in(uint8_t *image, uint32_t bytes, uint32_t kind);
void stand_in_seal(uint8_t *image, uint32_t bytes); /* the CRC anew */

void cold_load_mc(struct host *h, const uint8_t *image, uint32_t bytes);
void cold_post(struct host *h); /* memory of VRAM_BYTES, as ASIC_Init would */

/* SMC firmware with its tables at these addresses: polaris.md 10.3 */
#define SMC_IMAGE_BYTES 0x1000u
#define SMC_SOFT        0x3E000u
#define SMC_DPM         0x3D000u
#define SMC_FAN         0x3E200u
void smc_image(uint8_t image[SMC_IMAGE_BYTES]);
void smc_upload(struct host *h, const uint8_t *image, uint32_t bytes);
/* smc_start - the protected start of polaris.md 4.3 for what was uploaded. Return: SMU_STATUS. */
uint32_t smc_start(struct host *h);
/* smc_send - one message. Return: SMC_RESP_0; *@arg the result. */
uint32_t smc_send(struct host *h, uint32_t id, uint32_t *arg);
void smc_tell(struct host *h, uint32_t id, uint32_t arg); /* must answer 1 */

/* Microcode in VRAM: polaris.md 4.4. */
#define UCODE_TOC    0x100000u
#define UCODE_BUFFER 0x200000u
#define UCODE_IMAGES 0x300000u
#define UCODE_BYTES  0x800u
#define UCODE_COUNT  9u /* RLC CE PFP ME MEC JT1 JT2 SDMA0 SDMA1 */
extern const uint32_t ucode_ids[UCODE_COUNT];
uint32_t ucode_at(unsigned i);       /* VRAM offset of image i */
void ucode_place(struct host *h);    /* images and table, flushed */
uint32_t ucode_load(struct host *h); /* messages and wait. Return: UcodeLoadStatus */

void cold_up(struct host *h); /* all of the above, RLC running */

/* DPM tables of the reference board, the messages of polaris.md 10.5; @controllers: TDC and package
 * power too. */
void dpm_start(struct host *h, bool controllers);

#endif
