/* synth.h - the virtual card's own VBIOS: every table a driver of a compute card reads, and command
 * tables that post the card the way real ones do, in miniature. No vendor code or data: layouts are
 * those of atombios.md, values are plain ones of a Polaris 10 card that does not exist.
 */
#ifndef RX_SYNTH_H
#define RX_SYNTH_H

#include <stddef.h>
#include <stdint.h>

#define SYNTH_EFI_BYTES     2048u       /* of the second image, right behind the legacy one */
#define SYNTH_FLASH_BYTES   0x40000u    /* the smallest flash it fits: 256 KiB */
#define SYNTH_MICROCODE     0x38000u    /* where the memory microcode lies in it: atombios.md 1 */
#define SYNTH_MICROCODE_ID  0x52580001u /* its first dword */
#define SYNTH_UCODE_VERSION 0x00000580u /* what IO_DEBUG index 0x9F holds after the load */
#define SYNTH_UCODE_DWORDS  64          /* streamed to MC_SEQ_SUP_PGM: a stand-in (standin.h) */
/* GFX_Info 2.3 with both tables of the EDC controller, each register its number and this */
#define SYNTH_LEAKAGE_THRESHOLD 0x100u
#define SYNTH_EDC_REGISTERS     24u
#define SYNTH_EDC_LOW           0x00ED1000u
#define SYNTH_EDC_HIGH          0x00ED2000u

struct synth_options {
	uint32_t vram_mb; /* a multiple of 16 up to 16384 */
	uint16_t subsystem_vendor, subsystem_id;
	unsigned blocks; /* of 512 bytes, if the image shall be longer than its tables need */
};

/* synth_build - fill @flash of @bytes >= SYNTH_FLASH_BYTES; what is not used is 0xFF (erased).
 * A second image of code type 3 follows the legacy one: the frame of a UEFI driver, no code.
 * Return: bytes of the legacy image; -EINVAL (logged).
 */
int synth_build(uint8_t *flash, size_t bytes, const struct synth_options *opt);

#endif
