/* asm2x6x_allow.c - the one list of vendor commands the driver may send to an ASMedia bridge: XDATA
 * reads without side effects, and writes to the TLP engine. E0, E1, E2, E3, E6, E8 and 8A move
 * configuration, firmware, disks or resets (bridge.md 3.1, 3.7) and are refused below the public
 * API, like everything else.
 */
#include "device/bridge/area.h"
#include "device/bridge/asm2x6x_priv.h"
#include "device/bytes.h"

#define BANK_236X 0x00 /* bridge.md 3.1 */
#define BANK_246X 0x50 /* 0x51 is XDATA above 64 KiB: nothing we want is there */

/* bridge.md 3.2, 3.3. Left out: all that is not named there, what pops a FIFO when read (USB, UART,
 * flash: 9000, C000), and what 7.3 says not to touch: 7000-7FFF, B480, C656, C659, E764, C8xx. */
static const struct area readable[] = {
        {ASM_VERSION, ASM_VERSION + ASM_VERSION_BYTES},
        {0xA000, 0xB200}, /* RAM the card can reach by DMA */
        {0xB200, 0xB240}, /* engine: 7.3 step 2 */
        {ASM_TLP_ARM, ASM_TLP_ARM + 1}, {ASM_TLP_HAS_DATA, ASM_TLP_HAS_DATA + 1},
        {ASM_TLP_STATUS, ASM_TLP_STATUS + 1}, {0xF000, 0x10000}, /* window on the data SRAM */
};
/* bridge.md 3.6: known of the 246x only */
static const struct area readable_246x[] = {
        {0xB424, 0xB425}, /* lane count */
        {0xB430, 0xB432}, /* link up, lanes trained */
        {ASM_LTSSM, ASM_LTSSM + 1}, {ASM_LINK, ASM_LINK + 1},
        {0xB4AE, 0xB4AF}, /* alternative link status */
        {0xB4C8, 0xB4C9}, /* lane control */
};

static const char *refuse_read(enum asm_chip chip, uint8_t len, uint16_t addr)
{
	if (!len)
		return "E4 wants a length of 1 to 255";
	if (area_holds(readable, ARRAY_SIZE(readable), addr, len))
		return NULL;
	if (chip == ASM_246X && area_holds(readable_246x, ARRAY_SIZE(readable_246x), addr, len))
		return NULL;
	return "E4 outside the registers and memory known to be harmless";
}

/* is_request_type - B210: memory, configuration type 0 and 1, both directions: bridge.md 3.3. */
static bool is_request_type(enum asm_chip chip, uint8_t type)
{
	switch (type) {
	case 0x00:
	case 0x40:
	case 0x04:
	case 0x44:
	case 0x05:
	case 0x45: return true;
	case 0x20: /* 64-bit addresses: unknown on 236x, bridge.md 7.1 K15 */
	case 0x60: return chip == ASM_246X;
	default: return false;
	}
}

/* refuse_header - the bytes of a request before its address: bridge.md 3.3. */
static const char *refuse_header(enum asm_chip chip, unsigned at, uint8_t value)
{
	switch (at) {
	case 0: return is_request_type(chip, value) ? NULL : "no request type the driver sends";
	case 3: return value == 1 ? NULL : "the engine moves one dword";
	case 7: return value >> 4 ? "last byte enables of one dword are 0" : NULL;
	default: return value ? "attributes, requester and tag are 0" : NULL;
	}
}

static const char *refuse_write(enum asm_chip chip, uint8_t value, uint16_t addr)
{
	switch (addr) {
	case ASM_TLP_ARM: return value == ASM_ARM ? NULL : "B254 takes 0F only";
	case ASM_TLP_STATUS:
		return value == ASM_STATUS_ERROR || value == ASM_STATUS_DONE ||
		                       value == ASM_STATUS_READY
		               ? NULL
		               : "B296 takes 01, 02 or 04";
	}
	if (addr < ASM_TLP_HEADER || addr >= ASM_COMPLETION)
		return "E5 outside the TLP engine";
	if (addr < ASM_TLP_ADDRESS)
		return refuse_header(chip, addr - ASM_TLP_HEADER, value);
	if (chip == ASM_236X && addr >= ASM_TLP_ADDRESS + 4 && addr < ASM_TLP_DATA)
		return "64-bit addresses are unknown on this chip";
	return NULL;
}

/* The question itself, in both forms: bridge.md 2.18, 3.1. */
static const char *refuse_unknown(const uint8_t cdb[ASM_CDB_BYTES])
{
	return cdb[0] == ASM_OP_READ && cdb[1] == ASM_VERSION_BYTES &&
	                       (cdb[2] == BANK_236X || cdb[2] == BANK_246X) &&
	                       get_be16(cdb + 3) == ASM_VERSION && !cdb[5]
	               ? NULL
	               : "only the version may be read before the chip is known";
}

const char *asm_refusal(enum asm_chip chip, const uint8_t cdb[ASM_CDB_BYTES])
{
	if (chip == ASM_UNKNOWN)
		return refuse_unknown(cdb);
	if (cdb[2] != (chip == ASM_246X ? BANK_246X : BANK_236X) || cdb[5])
		return "another bank than this chip's, or a last byte that is not 0";
	switch (cdb[0]) {
	case ASM_OP_READ: return refuse_read(chip, cdb[1], get_be16(cdb + 3));
	case ASM_OP_WRITE: return refuse_write(chip, cdb[1], get_be16(cdb + 3));
	default: return "only E4 and E5 are vendor commands for this family";
	}
}

void asm_build_cdb(
        uint8_t cdb[ASM_CDB_BYTES], enum asm_chip chip, uint8_t op, uint8_t param, uint16_t addr)
{
	cdb[0] = op;
	cdb[1] = param;
	cdb[2] = chip == ASM_246X ? BANK_246X : BANK_236X;
	cdb[3] = (uint8_t)(addr >> 8);
	cdb[4] = (uint8_t)addr;
	cdb[5] = 0;
}
