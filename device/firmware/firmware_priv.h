/* firmware_priv.h - what the files of this module share. */
#ifndef RX_FIRMWARE_PRIV_H
#define RX_FIRMWARE_PRIV_H

#include "device/firmware/firmware.h"

struct fw_format {
	const char *title;
	const char *names[2]; /* best first: polaris.md 4.1 */
	uint16_t major, max_minor;
	uint32_t header_bytes;  /* of version major.0: polaris.md 4.2 */
	uint32_t minor_bytes;   /* what a minor version above 0 adds */
	uint16_t id;            /* UCODE id: polaris.md 4.4; standin.h for the two others */
	uint32_t standin_bytes; /* payload of a stand-in: about as much as the vendor's */
};

const struct fw_format *fw_format(enum fw_kind kind);

#endif
