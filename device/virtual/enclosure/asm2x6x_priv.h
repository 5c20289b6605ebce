/* asm2x6x_priv.h - an ASM236x or ASM246x with stock firmware: parts shared by asm2x6x_*.c. XDATA
 * addresses are those of the bridge's 8051; multi-byte registers are big endian. Facts: bridge.md
 * 3, 5.4.
 */
#ifndef VENC_ASM2X6X_PRIV_H
#define VENC_ASM2X6X_PRIV_H

#include "device/virtual/enclosure/venc_priv.h"

#define XDATA_BYTES 0x20000u /* bridge.md 3.1: 64 KiB, and bit 16 on 246x */
#define XDATA_USB   0x8000   /* bridge.md 3.2: buffer of every E4 answer */
#define ROOT_DWORDS (0x100 / 4)

/* bridge.md 3.3 */
enum {
	TLP_TYPE = 0xB210,
	TLP_TRAFFIC = 0xB211,
	TLP_LENGTH = 0xB213,
	TLP_REQUESTER = 0xB214,
	TLP_TAG = 0xB216,
	TLP_ENABLES = 0xB217,
	TLP_ADDRESS = 0xB218,
	TLP_ADDRESS_HIGH = 0xB21C,
	TLP_DATA = 0xB220,
	TLP_COMPLETION = 0xB224,
	TLP_COMPLETION_END = 0xB230,
	TLP_ARM = 0xB254,
	TLP_HAS_DATA = 0xB284,
	TLP_STATUS = 0xB296,
};

/* The TLP engine between the writes that make a request. */
struct venc_asm_engine {
	bool armed;      /* B254 written, not yet sent */
	bool busy;       /* sent, and B296 does not say so yet what became of it */
	bool awaited;    /* a completion is due that the host has not seen announced */
	uint8_t outcome; /* bits B296 will show */
	uint8_t status;  /* bits B296 shows, without ready */
};

/* The root port 00:00.0. */
struct venc_asm_root {
	uint32_t cfg[ROOT_DWORDS];
	uint64_t released_ns; /* when the last reset of the secondary bus ended; 0 none */
};

struct venc_asm {
	uint8_t xdata[XDATA_BYTES];
	struct venc_asm_engine engine;
	struct venc_asm_root root;
};

static inline bool venc_is_246x(const struct venc *e)
{
	return e->opt.bridge == VENC_ASM246X;
}

/* asm2x6x_xdata.c: one byte as E4 and E5 reach it; @address below XDATA_BYTES */
void venc_asm_xdata_power_up(struct venc *e);
uint8_t venc_asm_xdata_read(struct venc *e, uint32_t address);
void venc_asm_xdata_write(struct venc *e, uint32_t address, uint8_t value);

/* asm2x6x_engine.c: the registers above. read: whatever the store does not know by itself. */
void venc_asm_engine_power_up(struct venc *e);
bool venc_asm_engine_owns(uint32_t address);
uint8_t venc_asm_engine_read(struct venc *e, uint32_t address);
void venc_asm_engine_write(struct venc *e, uint32_t address, uint8_t value);

/* asm2x6x_root.c: requests of the engine. @address of a configuration request: bus << 24 | device
 * << 19 | function << 16 | register. VCARD_TIMEOUT: nobody answered. */
void venc_asm_root_power_up(struct venc *e);
enum vcard_completion venc_asm_root_config(
        struct venc *e, bool type1, uint32_t address, struct vcard_tlp *tlp);
enum vcard_completion venc_asm_root_memory(struct venc *e, struct vcard_tlp *tlp);
bool venc_asm_root_link_up(const struct venc *e);
uint8_t venc_asm_root_secondary(const struct venc *e);

#endif
