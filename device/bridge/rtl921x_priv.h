/* rtl921x_priv.h - Realtek RTL9210/9210B with stock firmware: parts shared by rtl921x*.c and their
 * tests. All facts: bridge.md 2; nothing of it was run on hardware by this project.
 */
#ifndef RTL921X_PRIV_H
#define RTL921X_PRIV_H

#include "device/bridge/rtl921x.h"

/* The raw engine: bridge.md 2.11 */
#define SLOT_W0(n)   (RTL_ENGINE_SLOTS + 16u * (unsigned)(n))
#define SLOT_W1(n)   (SLOT_W0(n) + 4)
#define SLOT_W2(n)   (SLOT_W0(n) + 8)
#define SLOT_W3(n)   (SLOT_W0(n) + 12)
#define SLOT_DATA(n) (RTL_ENGINE_DATA + 0x80u * (unsigned)(n))
#define W1_WRITE     0x40u
/* length 1, direction 10 = write, first byte enables F, last 0 */
#define W1_DWORD_WRITE 0xF41u
#define W1_ALL_LANES   0xFu
#define W1_FIRST(be)   ((uint32_t)(be) << 8)
#define W1_LAST(be)    ((uint32_t)(be) << 12)
#define W1_RELEASE     (1u << 28)
#define W1_START       (1u << 31)

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
int rtl_unlock(struct rtl921x *r); /* bridge.md 2.7 */
/* rtl_setup - state the bridge loses with power: unlock E3, look whether the PCIe device is there.
 */
int rtl_setup(struct rtl921x *r);
/* rtl_engine_forget - a command may or may not have moved the slots, so nothing is known of them:
 * the next writes look, and put every word anew. */
void rtl_engine_forget(struct rtl_engine *e);
/* rtl_peek, rtl_poke - one register of the bridge. */
int rtl_peek(struct rtl921x *r, uint32_t addr, uint32_t *value);
int rtl_poke(struct rtl921x *r, uint32_t addr, uint32_t value);
/* rtl_wait_clear - poll until all bits of @mask are 0; the last value is in @value. */
int rtl_wait_clear(struct rtl921x *r, uint32_t addr, uint32_t mask, uint32_t *value);
/* rtl_next_slot - steps 1 and 2 of bridge.md 2.11, checked against the prediction. */
int rtl_next_slot(struct rtl921x *r, unsigned *n);
/* rtl_look_at_port - one command: whether the link is up. A failure leaves what was known. */
void rtl_look_at_port(struct rtl921x *r);
int rtl_look_at_link(struct bridge *b); /* bridge_ops.look_at_link */
/* rtl_burst_bytes - how many of @len bytes to @addr are for rtl_burst_write: 0, or whole dwords. */
uint32_t rtl_burst_bytes(const struct rtl921x *r, uint32_t addr, size_t len);
int rtl_burst_write(struct rtl921x *r, uint32_t addr, const uint8_t *data, uint32_t len);
int rtl_function_read(struct bridge *b, unsigned fn, unsigned reg, uint32_t *value); /* ops */
/* rtl_engine_config_write - a dword of function 0's configuration space in one TLP. */
int rtl_engine_config_write(struct bridge *b, unsigned reg, uint32_t value);
/* rtl_engine_write - one dword memory write TLP by the raw engine, without the stray store of
 * E3/34. */
int rtl_engine_write(struct rtl921x *r, uint32_t addr, uint32_t value);
/* rtl_engine_write_port - @count values to one register: bridge_ops.mem_write_port. -EAGAIN as
 * there. */
int rtl_engine_write_port(struct rtl921x *r, uint32_t addr, const uint32_t *values, size_t count);

extern const struct bridge_ops rtl921x_ops;
/* rtl921x_open - see bridge_open. -ENOTSUP (not logged) when it is not an RTL921x. */
int rtl921x_open(struct bridge **out, struct scsi *scsi, const struct bridge_hooks *hooks);

#endif
