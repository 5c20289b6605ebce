/* usb_descriptors.c - the tables behind GET_DESCRIPTOR (bridge.md 1.1, 1.2; USB 2.0
 * 9.6; USB 3.2 9.6 for SuperSpeed; UAS 5.2.3.6 pipe usage). */
#include "device/virtual/enclosure/usb_descriptors.h"
#include "device/bytes.h"

#define LE16(v)       (uint8_t)(v), (uint8_t)((v) >> 8)
#define BULK(address) 7, 5, (address), 2, LE16(512), 0
/* with its companion: USB 3.2 9.6.7 */
#define SS_BULK(address, burst, streams)                                                           \
	7, 5, (address), 2, LE16(1024), 0, 6, 0x30, (burst), (streams), LE16(0)
#define PIPE_USAGE(id)                         4, 0x24, (id), 0
#define CONFIG_SIZE                            (9 + 9 + 2 * 7 + 9 + 4 * (7 + 4))
#define SS_CONFIG_SIZE                         (9 + 9 + 2 * (7 + 6) + 9 + 4 * (7 + 6 + 4))
#define MASS_STORAGE(alt, endpoints, protocol) 9, 4, 0, (alt), (endpoints), 8, 6, (protocol), 0

/* bcdUSB 2.10 and bMaxPacketSize0 64 at high speed, 3.20 and 2^9 at SuperSpeed (bridge.md 1.2);
 * class at the interface; strings 1 to 3, one configuration */
#define DEVICE(vid, pid, bcd)                                                                      \
	{18, 1, LE16(0x0210), 0, 0, 0, 64, LE16(vid), LE16(pid), LE16(bcd), 1, 2, 3, 1}
#define SS_DEVICE(vid, pid, bcd)                                                                   \
	{18, 1, LE16(0x0320), 0, 0, 0, 9, LE16(vid), LE16(pid), LE16(bcd), 1, 2, 3, 1}

/* Ids: bridge.md 1.1. bcdDevice: one of those seen on RTL9210; ASMedia's are inferred. */
static const uint8_t RTL_DEVICE[18] = DEVICE(0x0BDA, 0x9210, 0xF001);
static const uint8_t RTL_SS_DEVICE[18] = SS_DEVICE(0x0BDA, 0x9210, 0xF001);
static const uint8_t ASM236X_DEVICE[18] = DEVICE(0x174C, 0x2362, 0x0100);
static const uint8_t ASM236X_SS_DEVICE[18] = SS_DEVICE(0x174C, 0x2362, 0x0100);
static const uint8_t ASM246X_DEVICE[18] = DEVICE(0x174C, 0x2464, 0x0100);
static const uint8_t ASM246X_SS_DEVICE[18] = SS_DEVICE(0x174C, 0x2464, 0x0100);

static const uint8_t QUALIFIER[10] = {10, 6, LE16(0x0210), 0, 0, 0, 64, 1, 0};

/* bridge.md 1.2 */
static const uint8_t CONFIGURATION[CONFIG_SIZE] = {
        9, 2, LE16(CONFIG_SIZE), 1, 1, 0, 0xC0, 0,                             /* self powered */
        MASS_STORAGE(0, 2, 0x50),                                              /* BOT */
        BULK(USB_EP_BULK_IN), BULK(USB_EP_BULK_OUT), MASS_STORAGE(1, 4, 0x62), /* UAS */
        BULK(0x81), PIPE_USAGE(3),                                             /* data in */
        BULK(0x02), PIPE_USAGE(4),                                             /* data out */
        BULK(0x83), PIPE_USAGE(2),                                             /* status */
        BULK(0x04), PIPE_USAGE(1),                                             /* command */
};

/* bridge.md 1.2: bursts of 15, 32 streams (2^5) on alternate setting 1 but for its command pipe */
static const uint8_t SS_CONFIGURATION[SS_CONFIG_SIZE] = {
        9,
        2,
        LE16(SS_CONFIG_SIZE),
        1,
        1,
        0,
        0xC0,
        0,
        MASS_STORAGE(0, 2, 0x50),
        SS_BULK(USB_EP_BULK_IN, 15, 0),
        SS_BULK(USB_EP_BULK_OUT, 15, 0),
        MASS_STORAGE(1, 4, 0x62),
        SS_BULK(0x81, 15, 5),
        PIPE_USAGE(3),
        SS_BULK(0x02, 15, 5),
        PIPE_USAGE(4),
        SS_BULK(0x83, 15, 5),
        PIPE_USAGE(2),
        SS_BULK(0x04, 0, 0),
        PIPE_USAGE(1),
};

/* USB 3.2 9.6.2: USB 2.0 extension (LPM) and SuperSpeed capability, exit latencies 10 and 2047 us
 * (bridge.md 1.2) */
static const uint8_t BOS[22] = {
        5,
        15,
        LE16(22),
        2,
        7,
        16,
        2,
        0x02,
        0,
        0,
        0,
        10,
        16,
        3,
        0,
        LE16(0x000E),
        1,
        10,
        LE16(2047),
};

static const uint8_t LANGUAGES[4] = {4, 3, LE16(0x0409)};
static const uint8_t REALTEK[16] = {16, 3, 'R', 0, 'e', 0, 'a', 0, 'l', 0, 't', 0, 'e', 0, 'k', 0};
static const uint8_t RTL9210[16] = {16, 3, 'R', 0, 'T', 0, 'L', 0, '9', 0, '2', 0, '1', 0, '0', 0};
/* no string of stock firmware is recorded in bridge.md: maker and chip */
static const uint8_t ASMEDIA[16] = {16, 3, 'A', 0, 'S', 0, 'M', 0, 'e', 0, 'd', 0, 'i', 0, 'a', 0};
static const uint8_t ASM2362[16] = {16, 3, 'A', 0, 'S', 0, 'M', 0, '2', 0, '3', 0, '6', 0, '2', 0};
static const uint8_t ASM2464[16] = {16, 3, 'A', 0, 'S', 0, 'M', 0, '2', 0, '4', 0, '6', 0, '4', 0};
static const uint8_t SERIAL[18] = {
        18, 3, '0', 0, '0', 0, '0', 0, '0', 0, '0', 0, '0', 0, '0', 0, '1', 0};

enum speed { HIGH, SUPER, EITHER };

#define ALL_BRIDGES 0xFF
#define ONLY(b)     (1u << (b))
#define ASMEDIAS    (ONLY(VENC_ASM236X) | ONLY(VENC_ASM246X))

static const struct descriptor {
	uint8_t type, index;
	enum speed speed;
	uint8_t bridges;
	const uint8_t *bytes;
	size_t size;
} TABLE[] = {
        {1, 0, HIGH, ONLY(VENC_RTL921X), RTL_DEVICE, sizeof(RTL_DEVICE)},
        {1, 0, SUPER, ONLY(VENC_RTL921X), RTL_SS_DEVICE, sizeof(RTL_SS_DEVICE)},
        {1, 0, HIGH, ONLY(VENC_ASM236X), ASM236X_DEVICE, sizeof(ASM236X_DEVICE)},
        {1, 0, SUPER, ONLY(VENC_ASM236X), ASM236X_SS_DEVICE, sizeof(ASM236X_SS_DEVICE)},
        {1, 0, HIGH, ONLY(VENC_ASM246X), ASM246X_DEVICE, sizeof(ASM246X_DEVICE)},
        {1, 0, SUPER, ONLY(VENC_ASM246X), ASM246X_SS_DEVICE, sizeof(ASM246X_SS_DEVICE)},
        {2, 0, HIGH, ALL_BRIDGES, CONFIGURATION, sizeof(CONFIGURATION)},
        {2, 0, SUPER, ALL_BRIDGES, SS_CONFIGURATION, sizeof(SS_CONFIGURATION)},
        {3, 0, EITHER, ALL_BRIDGES, LANGUAGES, sizeof(LANGUAGES)},
        {3, 1, EITHER, ONLY(VENC_RTL921X), REALTEK, sizeof(REALTEK)},
        {3, 2, EITHER, ONLY(VENC_RTL921X), RTL9210, sizeof(RTL9210)},
        {3, 1, EITHER, ASMEDIAS, ASMEDIA, sizeof(ASMEDIA)},
        {3, 2, EITHER, ONLY(VENC_ASM236X), ASM2362, sizeof(ASM2362)},
        {3, 2, EITHER, ONLY(VENC_ASM246X), ASM2464, sizeof(ASM2464)},
        {3, 3, EITHER, ALL_BRIDGES, SERIAL, sizeof(SERIAL)},
        {6, 0, HIGH, ALL_BRIDGES, QUALIFIER,
                sizeof(QUALIFIER)}, /* none at SuperSpeed: USB 3.2 9.6 */
        {15, 0, EITHER, ALL_BRIDGES, BOS, sizeof(BOS)},
};

size_t venc_usb_descriptor(
        enum venc_bridge bridge, bool super_speed, uint8_t type, uint8_t index, const uint8_t **out)
{
	for (size_t i = 0; i < ARRAY_SIZE(TABLE); i++) {
		const struct descriptor *d = &TABLE[i];

		if (d->type == type && d->index == index && (d->bridges & ONLY(bridge)) &&
		        (d->speed == EITHER || (d->speed == SUPER) == super_speed)) {
			*out = d->bytes;
			return d->size;
		}
	}
	return 0;
}
