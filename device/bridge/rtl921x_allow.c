/* rtl921x_allow.c - the one list of vendor commands the driver may send to an RTL921x. Everything
 * else can erase flash, blow fuses or hang the bridge (bridge.md 2.8, 2.15), so it is refused below
 * the public API.
 */
#include "device/bridge/area.h"
#include "device/bridge/rtl921x_priv.h"
#include "device/bytes.h"
#include "device/core/mutants.h"

/* bridge.md 2.2: what E2/92 may copy. RAM is left out: its size is not known and a bad address
 * hangs the CPU. */
static const struct area readable_memory[] = {
        {0x8C000000, 0x8C200000}, /* flash, cached window, 2 MiB */
        {0xAC000000, 0xAC200000}, /* flash, uncached */
        {RTL_SRAM, RTL_SRAM + RTL_SRAM_BYTES},
};
/* Registers E2/A2 may read as dwords */
static const struct area readable_registers[] = {
        {0xB3310100, 0xB3310350},                 /* raw engine, slots, data buffers: 2.11 */
        {0xB3311000, 0xB3311010},                 /* root complex window: 2.12 */
        {RTL_PORT_CONTROL, RTL_PORT_CONTROL + 4}, /* 2.13 */
        {0xB35000C8, 0xB35000CC},                 /* IC version: 2.2 */
};
/* Registers E3/23 may write as dwords: 2.15 */
static const struct area writable_registers[] = {
        {0xB3310110, 0xB3310350},
        {0xB3311000, 0xB3311010},
};

/* is_slot_store - byte stores into the raw engine (rtl921x_use_burst): its buffers; an address word
 * pair; or whole slots from one on to the last and perhaps into the buffers. */
static bool is_slot_store(uint32_t addr, uint32_t len)
{
	const struct area data = {RTL_ENGINE_DATA, RTL_ENGINE_END},
	                  all = {RTL_ENGINE_SLOTS, data.end};

	if (area_holds(&data, 1, addr, len))
		return true;
	if (!area_holds(&all, 1, addr, len))
		return false;
	return (addr % 16 == 8 && len == 8) || (addr % 16 == 0 && addr + len >= data.start);
}

static bool is_register_access(uint32_t addr, uint32_t len)
{
	return len == 4 && addr % 4 == 0;
}

static const char *refuse_read(uint8_t sub, uint32_t addr, uint32_t len)
{
	switch (sub) {
	case RTL_IC_VERSION: return len == 4 && !addr ? NULL : "E2/82 wants length 4";
	case RTL_READ_MEMORY:
		return area_holds(readable_memory, ARRAY_SIZE(readable_memory), addr, len)
		               ? NULL
		               : "E2/92 outside flash and SRAM";
	case RTL_READ_REGISTER:
		return is_register_access(addr, len) &&
		                       area_holds(readable_registers,
		                               ARRAY_SIZE(readable_registers), addr, len)
		               ? NULL
		               : "E2/A2 outside the known registers";
	case RTL_VERSION: return len == 20 && !addr ? NULL : "E2/A5 wants length 20";
	case RTL_MARKER:
	case RTL_MEDIUM:
	case RTL_QUIRKS: return len == 1 && !addr ? NULL : "E2/A6, B2 and D1 want length 1";
	case RTL_STATUS: return len >= 116 && !addr ? NULL : "E2/B5 wants length 116 or more";
	case RTL_LINK: return len >= 16 && !addr ? NULL : "E2/BB wants length 16 or more";
	case RTL_CFG_READ:
		return range_ok(addr, len, 4096) ? NULL : "configuration space ends at 4096";
	case RTL_MEM_READ: return NULL;
	default: return "this E2 sub-command is not on the list";
	}
}

static bool stores_in_sram(uint32_t cpu_addr, uint32_t len)
{
	return cpu_addr >= RTL_SRAM && range_ok(cpu_addr - RTL_SRAM, len, RTL_SRAM_BYTES);
}

static const char *refuse_write(uint8_t sub, uint32_t addr, uint32_t len)
{
	switch (sub) {
	case RTL_WRITE_REGISTER:
		if (stores_in_sram(addr, len) || (len > 4 && is_slot_store(addr, len)))
			return NULL;
		return is_register_access(addr, len) &&
		                       area_holds(writable_registers,
		                               ARRAY_SIZE(writable_registers), addr, len)
		               ? NULL
		               : "E3/23 outside engine, root complex window and SRAM";
	case RTL_CFG_WRITE:
		if (!range_ok(addr, len, 4096))
			return "configuration space ends at 4096";
		return len == 1 || (len == 2 && addr % 2 == 0)
		               ? NULL
		               : "E3/33 only with length 1 or 2: stray store";
	case RTL_MEM_WRITE:
		if (len == 4 && rx_mutant != RX_MUTANT_LENGTH_FOUR)
			return addr % 4 == 0 && stores_in_sram(addr, len)
			               ? NULL
			               : "E3/34 never with length 4: stray store outside the SRAM";
		return NULL;
	default: return "this E3 sub-command is not on the list";
	}
}

/* asks_for_longest - reading the start of the SRAM is how a probe finds out what one command may
 * move; more than the bridge's buffer is refused (bridge.md 2.6). */
static bool asks_for_longest(const uint8_t cdb[RTL_CDB_BYTES])
{
	uint32_t len = get_le32(cdb + 12);

	return cdb[0] == RTL_OP_READ && cdb[4] == RTL_READ_MEMORY &&
	       get_le32(cdb + 8) == RTL_SRAM && len <= RTL_SRAM_BYTES && (len & (len - 1)) == 0;
}

const char *rtl_refusal(const uint8_t cdb[RTL_CDB_BYTES])
{
	uint32_t addr = get_le32(cdb + 8), len = get_le32(cdb + 12);

	if (cdb[1] || cdb[2] || cdb[3] || cdb[5] || cdb[6] || cdb[7])
		return "parameter bytes must be zero";
	if (len == 0 || (len > RTL_MAX_CHUNK && !asks_for_longest(cdb)))
		return "length must be 1 to 4096";
	switch (cdb[0]) {
	case RTL_OP_READ: return refuse_read(cdb[4], addr, len);
	case RTL_OP_WRITE: return refuse_write(cdb[4], addr, len);
	default: return "only E2 and E3 are vendor commands of this family";
	}
}
