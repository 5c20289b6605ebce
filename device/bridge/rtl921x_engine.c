/* rtl921x_engine.c - register writes by the raw TLP engine (bridge.md 2.11). A dword E3/34 would
 * also store the value at a CPU address of the bridge (2.10); driving the engine by E3/23 has no
 * such side effect.
 *
 * The literal form is the firmware's own sequence, 11 commands. The short form is 4 commands and
 * relies on w0/w3 of a slot keeping their values. Both look first which slot comes next: were that
 * not the slot that our own account of the TLPs predicts, the account of w0/w3 would be wrong, too,
 * and the short form is given up. Looking afterwards would be too late, for a write that may have
 * been sent is never sent again (bridge.md 1.3).
 */
#include <string.h>

#include "device/bridge/rtl921x_priv.h"
#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"

#define ENGINE_STATUS     0xB3310100u
#define STATUS_BUSY       0x80u            /* bit 7 */
#define STATUS_SLOT(v)    (((v) >> 3) & 3) /* bits 4:3 */
#define W0_MEMORY         0u
#define W0_CONFIG         4u
#define W1_DWORD_READ     0xF21u /* length 1, direction 01 = read, first byte enables F */
#define ENGINE_TIMEOUT_MS 2000   /* bridge.md 2.11: "the host may give up after 2 s" */
#define FIRST_PAUSE_US    100u   /* between two polls; twice as long each time */
#define LAST_PAUSE_US     10000u

int rtl_peek(struct rtl921x *r, uint32_t addr, uint32_t *value)
{
	uint8_t data[4];
	int err = rtl_exec(r, RTL_OP_READ, RTL_READ_REGISTER, addr, data, sizeof(data), false);

	*value = get_le32(data);
	return err;
}

int rtl_poke(struct rtl921x *r, uint32_t addr, uint32_t value)
{
	uint8_t data[4];

	put_le32(data, value);
	return rtl_exec(r, RTL_OP_WRITE, RTL_WRITE_REGISTER, addr, data, sizeof(data), false);
}

/* Time is what commands took and pauses should take: a replayed trace asks as often as the recorded
 * run did. */
int rtl_wait_clear(struct rtl921x *r, uint32_t addr, uint32_t mask, uint32_t *value)
{
	uint32_t pause_us = FIRST_PAUSE_US;
	uint64_t waited_us = 0;

	for (;;) {
		int err = rtl_peek(r, addr, value);

		if (err || !(*value & mask))
			return err;
		if (waited_us >= ENGINE_TIMEOUT_MS * 1000u) {
			r->info.tlp_timeouts++;
			rtl_look_at_port(r);
			return rx_fail("bridge", -ETIMEDOUT,
			        "TLP engine: 0x%08x stays at 0x%08x for %d ms; the PCIe link may "
			        "be down",
			        addr, *value, ENGINE_TIMEOUT_MS);
		}
		sleep_us(pause_us);
		waited_us += pause_us + scsi_last_us(r->b.scsi);
		pause_us = MIN(2 * pause_us, LAST_PAUSE_US);
	}
}

void rtl_engine_forget(struct rtl_engine *e)
{
	e->next = -1;
	memset(e->memory, 0, sizeof(e->memory));
}

static int free_slot(struct rtl921x *r, unsigned *n)
{
	uint32_t status;
	int err = rtl_wait_clear(r, ENGINE_STATUS, STATUS_BUSY, &status);

	*n = STATUS_SLOT(status);
	return err;
}

/* A surprise is looked at twice: it may be a misread. */
int rtl_next_slot(struct rtl921x *r, unsigned *n)
{
	struct rtl_engine *e = &r->engine;
	int expected = e->next, err = free_slot(r, n);

	if (err || expected < 0 || *n == (unsigned)expected)
		return err;
	err = free_slot(r, n);
	if (err || *n == (unsigned)expected)
		return err;
	rx_log(LOG_WARN, "bridge",
	        "TLP engine: slot %u is next, not %d: register writes take the long form from now "
	        "on",
	        *n, expected);
	e->literal_only = true;
	r->info.ability_engine_burst = 0;
	rtl_engine_forget(e);
	return 0;
}

/* One request in the firmware's own order; w0 is the type. */
struct request {
	uint32_t w0, w1, w2, w3, value;
	bool read;
};

/* literal - steps 3 to 9 of bridge.md 2.11. */
static int literal(struct rtl921x *r, unsigned n, struct request *q)
{
	uint32_t status;
	int err = 0;
	const struct {
		uint32_t addr, value;
	} pokes[] = {
	        {SLOT_W0(n), 0}, {SLOT_W1(n), 0}, {SLOT_DATA(n), 0},           /* 3 */
	        {SLOT_W0(n), q->w0}, {SLOT_W2(n), q->w2}, {SLOT_W3(n), q->w3}, /* 4 */
	        {SLOT_DATA(n), q->value},                                      /* 5: 0 for a read */
	        {SLOT_W1(n), q->w1 | W1_START},                                /* 6 */
	};

	for (size_t i = 0; i < ARRAY_SIZE(pokes) && !err; i++)
		err = rtl_poke(r, pokes[i].addr, pokes[i].value);
	if (!err)
		err = rtl_wait_clear(r, SLOT_W1(n), W1_START, &status); /* 7 */
	if (!err && q->read)
		err = rtl_peek(r, SLOT_DATA(n), &q->value); /* 8 */
	if (!err)
		err = rtl_poke(r, SLOT_W1(n), q->w1 | W1_RELEASE); /* 9 */
	if (err)
		return err;
	r->engine.next = (int)(n + 1) % 4;
	r->engine.memory[n] = q->w0 == W0_MEMORY && !q->w3;
	return 0;
}

static int literal_request(struct rtl921x *r, struct request *q)
{
	unsigned n;
	int err = rtl_next_slot(r, &n);

	if (!err)
		err = literal(r, n, q);
	if (err)
		rtl_engine_forget(&r->engine);
	return err;
}

int rtl921x_function_read(struct bridge *b, unsigned fn, unsigned reg, uint32_t *value)
{
	/* bus 0, device 0: bridge.md 2.11, w2 */
	struct request q = {
	        .w0 = W0_CONFIG, .w1 = W1_DWORD_READ, .w2 = fn << 16 | (reg & 0xFFC), .read = true};

	if (fn > 7)
		return -EINVAL;
	int err = literal_request((struct rtl921x *)b, &q);

	*value = q.value;
	return err;
}

int rtl_function_read(struct bridge *b, unsigned fn, unsigned reg, uint32_t *value)
{
	if (!((struct rtl921x *)b)->info.ability_function_1)
		return -ENOTSUP;
	return rtl921x_function_read(b, fn, reg, value);
}

int rtl_engine_config_write(struct bridge *b, unsigned reg, uint32_t value)
{
	struct request q = {
	        .w0 = W0_CONFIG, .w1 = W1_DWORD_WRITE, .w2 = reg & 0xFFC, .value = value};

	return reg % 4 ? -EINVAL : literal_request((struct rtl921x *)b, &q);
}

int rtl921x_read_wide(struct bridge *b, uint64_t addr, uint32_t *value)
{
	struct request q = {.w0 = W0_MEMORY,
	        .w1 = W1_DWORD_READ,
	        .w2 = (uint32_t)addr,
	        .w3 = (uint32_t)(addr >> 32),
	        .read = true};
	int err = literal_request((struct rtl921x *)b, &q);

	*value = q.value;
	return err;
}

int rtl921x_write_wide(struct bridge *b, uint64_t addr, uint32_t value)
{
	struct request q = {.w0 = W0_MEMORY,
	        .w1 = W1_DWORD_WRITE,
	        .w2 = (uint32_t)addr,
	        .w3 = (uint32_t)(addr >> 32),
	        .value = value};

	return literal_request((struct rtl921x *)b, &q);
}

/* short_write - slot @n is next and holds memory-request words. */
static int short_write(struct rtl921x *r, unsigned n, uint32_t addr, uint32_t value)
{
	int err = rtl_poke(r, SLOT_W2(n), addr);

	if (!err)
		err = rtl_poke(r, SLOT_DATA(n), value);
	if (!err)
		err = rtl_poke(r, SLOT_W1(n), W1_DWORD_WRITE | W1_START);
	r->engine.next = (int)(n + 1) % 4;
	return err;
}

int rtl_engine_write(struct rtl921x *r, uint32_t addr, uint32_t value)
{
	struct request q = {.w0 = W0_MEMORY, .w1 = W1_DWORD_WRITE, .w2 = addr, .value = value};
	struct rtl_engine *e = &r->engine;
	unsigned n;
	int err = rtl_next_slot(r, &n);

	if (!err && !e->literal_only && e->memory[n])
		err = short_write(r, n, addr, value);
	else if (!err)
		err = literal(r, n, &q);
	if (err)
		rtl_engine_forget(e);
	return err;
}
