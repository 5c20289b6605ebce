/* asm2x6x_priv.h - what the two files of the ASMedia probe share. */
#ifndef PROBE_ASM2X6X_PRIV_H
#define PROBE_ASM2X6X_PRIV_H

#include <stdio.h>

#include "device/bridge/asm2x6x.h"
#include "device/probe/probe_priv.h"

/* probe_asm_vendor_read - one E4 that is on the driver's list. Return: 0; -EPERM not on it; -EIO
 * short or failed; as scsi_exec. */
int probe_asm_vendor_read(struct probe *p, uint16_t addr, void *buf, uint8_t len);
/* probe_asm_heartbeat - bridge and card are still what they were. Return: whether to go on. */
bool probe_asm_heartbeat(struct probe *p);
/* Level 2. */
bool probe_asm_write_card(struct probe *p);

#endif
