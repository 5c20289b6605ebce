/* usbip_wire.h - USB/IP 1.1.1 as offsets and numbers, and no logic: the one thing the client
 * (usbip.c) and the server (device/virtual/server) share. Every field is big endian. Sources: Linux
 * Documentation/usb/usbip_protocol.rst, "Message Format"; where noted, a file of the kernel tree.
 */
#ifndef RX_USBIP_WIRE_H
#define RX_USBIP_WIRE_H

#define USBIP_VERSION 0x0111 /* "Protocol Version" */
#define USBIP_PORT    "3240" /* IANA; tools/usb/usbip/src/usbip_network.c */

/* Before the import: version 2, code 2, status 4, then what the code says */
#define OP_HEADER_BYTES 8
#define OP_CODE         2
#define OP_STATUS       4
#define OP_REQ_DEVLIST  0x8005
#define OP_REP_DEVLIST  0x0005 /* then the number of devices, 4 bytes */
#define OP_REQ_IMPORT   0x8003 /* then a bus id */
#define OP_REP_IMPORT   0x0003 /* then a device record, if the status is 0 */

/* Status of a reply: tools/usb/usbip/libsrc/usbip_common.h */
#define OP_STATUS_OK       0
#define OP_STATUS_NA       1
#define OP_STATUS_DEV_BUSY 2
#define OP_STATUS_DEV_ERR  3
#define OP_STATUS_NODEV    4
#define OP_STATUS_ERROR    5

/* A device record; in a list, bNumInterfaces interface records follow it */
#define DEV_BYTES          312
#define DEV_PATH           0
#define DEV_PATH_BYTES     256
#define DEV_BUSID          256
#define DEV_BUSID_BYTES    32
#define DEV_BUSNUM         288
#define DEV_DEVNUM         292
#define DEV_SPEED          296
#define DEV_VENDOR         300
#define DEV_PRODUCT        302
#define DEV_BCD            304
#define DEV_CLASS          306 /* class, subclass, protocol */
#define DEV_CONFIGURATION  309
#define DEV_CONFIGURATIONS 310
#define DEV_INTERFACES     311
#define DEV_INTERFACE_SIZE 4 /* class, subclass, protocol, padding */

/* enum usb_device_speed: include/uapi/linux/usb/ch9.h */
#define SPEED_FULL       2
#define SPEED_HIGH       3
#define SPEED_SUPER      5
#define SPEED_SUPER_PLUS 6

/* After the import: a header of 48 bytes, then data (OUT in a submit, IN in its answer) */
#define URB_HEADER_BYTES  48
#define URB_COMMAND       0
#define URB_SEQNUM        4
#define URB_DEVID         8 /* busnum << 16 | devnum; 0 from the server */
#define URB_DIRECTION     12
#define URB_ENDPOINT      16
#define URB_FLAGS         20 /* submit */
#define URB_LENGTH        24
#define URB_PACKETS       32 /* isochronous packets: 0 or -1 when it is none */
#define URB_SETUP         40
#define URB_STATUS        20 /* answers */
#define URB_ACTUAL        24
#define URB_UNLINK_SEQNUM 20 /* unlink */
#define USBIP_CMD_SUBMIT  1
#define USBIP_CMD_UNLINK  2
#define USBIP_RET_SUBMIT  3
#define USBIP_RET_UNLINK  4
#define USBIP_DIR_OUT     0
#define USBIP_DIR_IN      1
/* include/uapi/linux/usbip.h: fewer bytes than asked for are an error, -EREMOTEIO */
#define USBIP_URB_SHORT_NOT_OK 0x0001

/* How a client asks for a reset of the device's port: SET_FEATURE(PORT_RESET) to a port, USB 2.0
 * 11.24.2.13; drivers/usb/usbip/stub_rx.c, is_reset_device_cmd() */
#define PORT_REQUEST_TYPE 0x23
#define PORT_SET_FEATURE  3
#define PORT_RESET        4

#endif
