/* helper_card.h - a small recording endpoint in place of the virtual card: an RX 580's
 * configuration header, two memory BARs that store, and a record of the requests that reached it.
 */
#ifndef HELPER_CARD_H
#define HELPER_CARD_H

#include "device/virtual/card/card.h"

#define FAKE_VRAM_BYTES   0x10000u /* backed part of BAR0; the rest claims but reads 0 */
#define FAKE_TLPS         8192
#define FAKE_GUEST_ERRORS 7 /* what vcard_read_stats() reports */
#define FAKE_DISPATCHES   11
#define FAKE_INSTRUCTIONS 13

struct vcard {
	uint8_t config[2][0x1000];
	uint8_t vram[FAKE_VRAM_BYTES];
	uint32_t regs[0x40000 / 4];
	struct vcard_tlp seen[FAKE_TLPS];
	unsigned count; /* all requests since fake_card_forget() */
	unsigned resets;
	uint64_t now_ns; /* vcard_now() */
};

/* The card of the enclosure made last, or NULL. */
struct vcard *fake_card(void);
void fake_card_forget(void);

#endif
