/* rtl921x_priv.h - Realtek RTL9210/9210B with stock firmware: parts shared by rtl921x*.c and their
 * tests. All facts: bridge.md 2; nothing of it was run on hardware by this project.
 */
#ifndef RTL921X_PRIV_H
#define RTL921X_PRIV_H

#include "device/bridge/rtl921x.h"

/* What we know of the raw TLP engine's four slots without asking (bridge.md 2.11). */
struct rtl_engine {
	int next;       /* the slot the next TLP takes; -1 unknown, and then no memory[] is set */
	bool memory[4]; /* w0 and w3 of the slot hold what a 32-bit memory request needs */
	bool literal_only; /* the prediction was caught wrong */
};

struct rtl921x {
	struct bridge b; /* first */
	struct bridge_info info;
	uint32_t id;         /* configuration dword 0 at the start: the canary */
	bool device_present; /* BB said a PCIe device is there: B3, B4, 33, 34 are safe
	                        (bridge.md 2.9) */
	unsigned seen_resets;
	bool restoring;        /* inside rtl_setup after a reset */
	unsigned since_canary; /* memory commands since the last look at @id */
	struct rtl_engine engine;
};

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
/* rtl_engine_forget - a command may or may not have moved the slots, so nothing is known of them:
 * the next writes look, and put every word anew. */
void rtl_engine_forget(struct rtl_engine *e);
/* rtl_engine_write - one dword memory write TLP by the raw engine, without the stray store of
 * E3/34. */
int rtl_engine_write(struct rtl921x *r, uint32_t addr, uint32_t value);

/* rtl921x_open - see bridge_open. -ENOTSUP (not logged) when it is not an RTL921x. */
int rtl921x_open(struct bridge **out, struct scsi *scsi, const struct bridge_hooks *hooks);

#endif
