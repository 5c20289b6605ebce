/* rtl921x_priv.h - Realtek RTL9210/9210B with stock firmware: parts shared by rtl921x*.c and their
 * tests. All facts: bridge.md 2; nothing of it was run on hardware by this project.
 */
#ifndef RTL921X_PRIV_H
#define RTL921X_PRIV_H

#include "device/bridge/bridge.h"

#define RTL_CDB_BYTES  16
#define RTL_MAX_CHUNK  4096u       /* bridge.md 2.6 */
#define RTL_TIMEOUT_MS 10000u      /* bridge.md 1.7 */
#define RTL_OP_READ    0xE2        /* bridge.md 2.8 */
#define RTL_OP_WRITE   0xE3        /* bridge.md 2.15 */
#define RTL_SRAM       0xB3200000u /* bridge.md 2.2 */
#define RTL_SRAM_BYTES 0x40000u

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

/* What we know of the raw TLP engine's four slots without asking (bridge.md 2.11). */
struct rtl_engine {
	int next;          /* the slot the next TLP takes; -1 unknown */
	bool memory[4];    /* w0 and w3 of the slot hold what a 32-bit memory request needs */
	bool literal_only; /* the short form was caught mispredicting */
};

struct rtl921x {
	struct bridge b; /* first */
	struct bridge_info info;
	uint32_t id;         /* configuration dword 0 at the start: the canary */
	bool device_present; /* BB said a PCIe device is there: B3, B4, 33, 34 are safe
	                        (bridge.md 2.9) */
	unsigned seen_resets;
	unsigned since_canary; /* memory commands since the last look at @id */
	struct rtl_engine engine;
};

/* rtl_build_cdb - 16 bytes, layout of bridge.md 2.4. */
void rtl_build_cdb(
        uint8_t cdb[RTL_CDB_BYTES], uint8_t op, uint8_t sub, uint32_t addr, uint32_t len);
/* rtl_refusal - the one list of vendor commands this driver may send (bridge.md 2.15), with address
 * and length rules. Return: NULL when allowed, else why not, in words.
 */
const char *rtl_refusal(const uint8_t cdb[RTL_CDB_BYTES]);

/* rtl_exec - build, check against the list, send. Exactly @len bytes move or it is an error. A
 * locked E3 is unlocked and sent again (the bridge had refused it); reads without side effects are
 * repeated once after a transport failure.
 * @quiet: do not log a refusal by the bridge (identification).
 */
int rtl_exec(struct rtl921x *r, uint8_t op, uint8_t sub, uint32_t addr, void *buf, uint32_t len,
        bool quiet);
/* rtl_setup - state the bridge loses with power: unlock E3, look whether the PCIe device is there.
 */
int rtl_setup(struct rtl921x *r);
/* rtl_engine_write - one dword memory write TLP by the raw engine, without the stray store of
 * E3/34. */
int rtl_engine_write(struct rtl921x *r, uint32_t addr, uint32_t value);

/* rtl921x_open - see bridge_open. -ENOTSUP (not logged) when it is not an RTL921x. */
int rtl921x_open(struct bridge **out, struct scsi *scsi, const struct bridge_hooks *hooks);

#endif
