/* usb_descriptors.h - descriptors of the enclosure at both speeds (bridge.md 1.1, 1.2). */
#ifndef VENC_USB_DESCRIPTORS_H
#define VENC_USB_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/virtual/enclosure/enclosure.h"

#define USB_EP_BULK_IN  0x81 /* bridge.md 1.2 */
#define USB_EP_BULK_OUT 0x02 /* bridge.md 1.2 */
/* bridge.md 1.2: alternate setting 1 only; data as above */
#define USB_EP_UAS_STATUS  0x83
#define USB_EP_UAS_COMMAND 0x04

/* venc_usb_descriptor - @type, @index as in wValue of GET_DESCRIPTOR. Return: bytes at *@out
 * (static); 0 no such descriptor. */
size_t venc_usb_descriptor(enum venc_bridge bridge, bool super_speed, uint8_t type, uint8_t index,
        const uint8_t **out);

#endif
