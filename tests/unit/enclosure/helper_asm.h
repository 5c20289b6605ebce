/* helper_asm.h - the host of the ASMedia tests: E4, E5 and one request of the TLP engine, step by
 * step as bridge.md 3.4 has it (the sequence that works on both families). */
#ifndef HELPER_ASM_H
#define HELPER_ASM_H

#include "tests/unit/enclosure/helper_host.h"

#define ASM_STATUS 0xB296
#define CFG0_READ  0x04 /* B210, bridge.md 3.3 */
#define CFG0_WRITE 0x44
#define CFG1_READ  0x05
#define CFG1_WRITE 0x45
#define MEM_READ   0x00
#define MEM_WRITE  0x40
#define MEM64      0x20
#define BUS1       (1u << 24)

/* What a request ended with. */
struct tlp_end {
	uint8_t b296;   /* last poll; 0 posted */
	uint8_t status; /* completion status, 0xEE without completion */
	unsigned count; /* byte count */
	bool has_data;  /* B284 bit 0 */
	uint32_t data;  /* B220 */
};

struct venc *asm_new(enum venc_bridge bridge);
/* Both return the CSW status. */
int asm_peek(struct venc *e, uint32_t address, void *data, uint8_t len);
int asm_poke(struct venc *e, uint32_t address, uint8_t value);
uint8_t asm_peek1(struct venc *e, uint32_t address);
void asm_poke32(struct venc *e, uint32_t address, uint32_t value); /* big endian */

/* asm_build - the header of a request, without sending it */
void asm_build(struct venc *e, uint8_t type, uint64_t address, uint8_t enables, uint32_t data);
void asm_arm_and_send(struct venc *e);
struct tlp_end asm_finish(struct venc *e, uint8_t type);
struct tlp_end asm_request(
        struct venc *e, uint8_t type, uint64_t address, uint8_t enables, uint32_t data);

/* Whole dwords that must complete with success. */
uint32_t asm_config_read(struct venc *e, uint8_t type, uint32_t address);
void asm_config_write(struct venc *e, uint8_t type, uint32_t address, uint32_t value);
/* asm_open - windows from 0x10000000 up and BAR0 and BAR5 in them, memory on: bridge.md 3.5 */
#define ASM_BAR0 0x20000000u
#define ASM_BAR5 0x10000000u
void asm_open(struct venc *e);

#endif
