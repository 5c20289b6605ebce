/* rtl921x.h - vendor commands of a Realtek RTL9210/9210B for whoever examines a bridge step by step
 * (device/probe); everybody else uses bridge.h. All facts: bridge.md 2; nothing of it was run on
 * hardware by this project. Fields are little endian.
 */
#ifndef RTL921X_H
#define RTL921X_H

#include <stdbool.h>
#include <stdint.h>

#include "device/bridge/bridge.h"

#define RTL_CDB_BYTES  16
#define RTL_MAX_CHUNK  4096u       /* bridge.md 2.6 */
#define RTL_TIMEOUT_MS 10000u      /* bridge.md 1.7 */
#define RTL_OP_READ    0xE2        /* bridge.md 2.8 */
#define RTL_OP_WRITE   0xE3        /* bridge.md 2.15 */
#define RTL_SRAM       0xB3200000u /* bridge.md 2.2 */
#define RTL_SRAM_BYTES 0x40000u
#define RTL_MAIN_HEADER                                                                            \
	0xAC004000u /* flash header; reading 0x60 bytes of it unlocks E3: bridge.md 2.7 */
#define RTL_MAIN_HEADER_BYTES 0x60u
#define RTL_MAIN_MAGIC        0x97463136u /* bridge.md 2.1 */
#define RTL_HEADER_VERSION    0x4C        /* three u32: major, minor, patch: bridge.md 2.1 */
#define RTL_IC_VERSION_FIRST  0xA0010000u /* bridge.md 2.2: 0xA001000x */
#define RTL_ENGINE_SLOTS      0xB3310110u /* raw engine, four slots of four words: bridge.md 2.11 */
#define RTL_ENGINE_DATA       0xB3310150u /* their data buffers, 128 bytes each */
#define RTL_ENGINE_END        0xB3310350u
#define RTL_ENGINE_MAX_DWORDS 31u         /* w1 bits 4:0 */
#define RTL_PORT_CONTROL      0xB3313100u /* bridge.md 2.13 */
#define RTL_PORT_LINK_UP      (1u << 26)
#define RTL_LINK_STATE_OTHER  3 /* bridge.md 2.8 BB: a PCIe device that is no disk */
#define RTL_LINK_TYPE_PCIE    1

enum rtl_read_sub {
	RTL_IC_VERSION = 0x82,
	RTL_READ_MEMORY = 0x92,
	RTL_READ_REGISTER = 0xA2,
	RTL_VERSION = 0xA5,
	RTL_MARKER = 0xA6,
	RTL_MEDIUM = 0xB2,
	RTL_CFG_READ = 0xB3,
	RTL_MEM_READ = 0xB4,
	RTL_STATUS = 0xB5,
	RTL_LINK = 0xBB,
	RTL_QUIRKS = 0xD1,
};
enum rtl_write_sub { RTL_WRITE_REGISTER = 0x23, RTL_CFG_WRITE = 0x33, RTL_MEM_WRITE = 0x34 };

/* rtl_build_cdb - 16 bytes, layout of bridge.md 2.4. */
void rtl_build_cdb(
        uint8_t cdb[RTL_CDB_BYTES], uint8_t op, uint8_t sub, uint32_t addr, uint32_t len);
/* rtl_refusal - the one list of vendor commands this driver may send (bridge.md 2.15), with address
 * and length rules. Return: NULL when allowed, else why not, in words.
 */
const char *rtl_refusal(const uint8_t cdb[RTL_CDB_BYTES]);
/* rtl_known_firmware - whether this version's image was analysed (bridge.md 8.1). */
bool rtl_known_firmware(const char *version);

/* rtl921x_use_alias - dword writes whose stray store falls into the bridge's SRAM go as one E3/34
 * from now on (bridge.md 2.10), or no longer. Only for a bridge on which a probe proved it, or by
 * that probe. @b must be an RTL921x; any other stays as it is. */
void rtl921x_use_alias(struct bridge *b, bool on);
/* rtl921x_alias_address - where BAR5 must be for that: bridge.md 2.10. 0: not an RTL921x. */
uint64_t rtl921x_alias_address(struct bridge *b);
/* rtl921x_use_burst - runs of VRAM writes go as memory TLPs of up to @dwords (2..31) each, four at
 * a time, by byte stores into the raw engine's slots (bridge.md 2.11, unproven): 3 commands for 496
 * bytes. 0: off. Only for a bridge on which a probe proved it, or by that probe. */
void rtl921x_use_burst(struct bridge *b, unsigned dwords);
/* rtl921x_use_functions - bridge_ops.function_read by the raw engine. Only for a bridge on which a
 * probe proved it. */
void rtl921x_use_functions(struct bridge *b, bool on);
/* rtl921x_byte_stores - whether byte stores by E3/23 reach the engine's data buffers and address
 * words; starts nothing. Return: 0 and *@ok; the errors of bridge.h. */
int rtl921x_byte_stores(struct bridge *b, bool *ok);
/* rtl921x_long_write - one memory TLP of @dwords (1..31), put into its slot dword by dword: what a
 * probe tries first. @addr: dword aligned, no 4-KiB boundary inside. Return: 0; -ETIMEDOUT it never
 * ended, and the slot was released; the errors of bridge.h. */
int rtl921x_long_write(struct bridge *b, uint64_t addr, const uint8_t *data, unsigned dwords);
/* rtl921x_read_wide, rtl921x_write_wide - one dword at a 64-bit address by the raw engine. */
int rtl921x_read_wide(struct bridge *b, uint64_t addr, uint32_t *value);
int rtl921x_write_wide(struct bridge *b, uint64_t addr, uint32_t value);
/* rtl921x_function_read - one configuration dword of function @fn by the raw engine
 * (bridge.md 2.11); the ordinary commands know function 0 only. Return: 0; the errors of bridge.h.
 */
int rtl921x_function_read(struct bridge *b, unsigned fn, unsigned reg, uint32_t *value);

#endif
