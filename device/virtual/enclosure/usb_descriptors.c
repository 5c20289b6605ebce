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

static const uint8_t DEVICE[18] = {
        18, 1, LE16(0x0210),        /* bcdUSB 2.10 at high speed (bridge.md 1.2) */
        0, 0, 0, 64,                /* class at the interface; bMaxPacketSize0 (bridge.md 1.2) */
        LE16(0x0BDA), LE16(0x9210), /* bridge.md 1.1 */
        LE16(0xF001),               /* bcdDevice, one of those seen (bridge.md 1.1) */
        1, 2, 3, 1,                 /* manufacturer, product, serial; one configuration */
};

static const uint8_t SS_DEVICE[18] = {
        18, 1, LE16(0x0320), /* bcdUSB 3.20 (bridge.md 1.2) */
        0, 0, 0, 9,          /* bMaxPacketSize0: 2^9 (bridge.md 1.2) */
        LE16(0x0BDA), LE16(0x9210), LE16(0xF001), 1, 2, 3, 1, /* as at high speed */
};

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
static const uint8_t MANUFACTURER[16] = {
        16, 3, 'R', 0, 'e', 0, 'a', 0, 'l', 0, 't', 0, 'e', 0, 'k', 0};
static const uint8_t PRODUCT[16] = {16, 3, 'R', 0, 'T', 0, 'L', 0, '9', 0, '2', 0, '1', 0, '0', 0};
static const uint8_t SERIAL[18] = {
        18, 3, '0', 0, '0', 0, '0', 0, '0', 0, '0', 0, '0', 0, '0', 0, '1', 0};

/* Searched from the top: the first entries hide those for high speed. */
static const struct descriptor {
	uint8_t type, index;
	const uint8_t *bytes;
	size_t size;
} TABLE[] = {
        {1, 0, SS_DEVICE, sizeof(SS_DEVICE)},
        {2, 0, SS_CONFIGURATION, sizeof(SS_CONFIGURATION)},
        {6, 0, NULL, 0}, /* no qualifier at SuperSpeed: USB 3.2 9.6 */
        {1, 0, DEVICE, sizeof(DEVICE)},
        {2, 0, CONFIGURATION, sizeof(CONFIGURATION)},
        {3, 0, LANGUAGES, sizeof(LANGUAGES)},
        {3, 1, MANUFACTURER, sizeof(MANUFACTURER)},
        {3, 2, PRODUCT, sizeof(PRODUCT)},
        {3, 3, SERIAL, sizeof(SERIAL)},
        {6, 0, QUALIFIER, sizeof(QUALIFIER)},
        {15, 0, BOS, sizeof(BOS)},
};

#define SS_ENTRIES 3

size_t usb_descriptor(bool super_speed, uint8_t type, uint8_t index, const uint8_t **out)
{
	for (size_t i = super_speed ? 0 : SS_ENTRIES; i < ARRAY_SIZE(TABLE); i++) {
		if (TABLE[i].type == type && TABLE[i].index == index) {
			*out = TABLE[i].bytes;
			return TABLE[i].size;
		}
	}
	return 0;
}
