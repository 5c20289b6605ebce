/* backend.h - from the word after --card to a carrier of SCSI commands. */
#ifndef RX_BACKEND_H
#define RX_BACKEND_H

#include <stdbool.h>

#include "device/scsi/scsi.h"

/* backend_open - the carrier of SCSI commands to the card that @card names, and what kind it is
 * ("usb", "sg", "usbip", "replay", "virtual"). NULL is "auto". @trace: a file to record it in
 * (scsi_record_new), or NULL. Return: 0; -EINVAL no such kind; what the opener says (all logged).
 */
int backend_open(struct scsi **out, const char **kind, const char *card, const char *trace);
/* backend_is_hardware - whether a carrier of this kind leads to a board that will be the same
 * tomorrow. A USB/IP server may be playing one. */
bool backend_is_hardware(const char *kind);

#endif
