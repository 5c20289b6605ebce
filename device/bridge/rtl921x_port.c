/* rtl921x_port.c - many values to one register by the raw engine (bridge.md 2.11). A slot keeps its
 * words, and all four get the same address once; then a value costs two commands, its data and the
 * start bit, where a write by itself costs four. What comes next is looked at only now and then:
 * a surprise there means that values may be missing, and says so.
 */
#include "device/bridge/rtl921x_priv.h"
#include "device/bytes.h"
#include "device/err.h"

#define SLOTS 4u
#define LOOK  64u /* values between two looks at the engine's status */

/* prepare - memory requests to @addr in all four slots. */
static int prepare(struct rtl921x *r, uint32_t addr)
{
	int err = 0;

	for (unsigned n = 0; n < SLOTS && !err; n++) {
		if (!r->engine.memory[n]) {
			err = rtl_poke(r, SLOT_W0(n), 0); /* memory: w0, w3 of bridge.md 2.11 */
			if (!err)
				err = rtl_poke(r, SLOT_W3(n), 0);
			r->engine.memory[n] = !err;
		}
		if (!err)
			err = rtl_poke(r, SLOT_W2(n), addr);
	}
	return err;
}

static int write_values(struct rtl921x *r, unsigned n, const uint32_t *values, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		err = rtl_poke(r, SLOT_DATA(n), values[i]);
		if (!err)
			err = rtl_poke(r, SLOT_W1(n), W1_DWORD_WRITE | W1_START);
		n = (n + 1) % SLOTS;
		r->engine.next = (int)n;
	}
	return err;
}

/* look - which slot is next. Another than our own account says: it has given up the short form, and
 * what was sent since the last look is in doubt. */
static int look(struct rtl921x *r, unsigned *n)
{
	int err = rtl_next_slot(r, n);

	return err ? err : r->engine.next < 0 ? -EAGAIN : 0;
}

static int one_by_one(struct rtl921x *r, uint32_t addr, const uint32_t *values, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = rtl_engine_write(r, addr, values[i]);
	return err;
}

int rtl_engine_write_port(struct rtl921x *r, uint32_t addr, const uint32_t *values, size_t count)
{
	unsigned n;

	if (r->engine.literal_only)
		return one_by_one(r, addr, values, count);
	int err = rtl_next_slot(r, &n);

	if (!err)
		r->engine.next = (int)n; /* it may have been unknown */
	if (!err && r->engine.literal_only)
		return one_by_one(r, addr, values, count);
	if (!err)
		err = prepare(r, addr);
	for (size_t at = 0; at < count && !err; at += LOOK) {
		err = write_values(r, n, values + at, MIN(LOOK, count - at));
		if (!err)
			err = look(r, &n);
	}
	if (err)
		rtl_engine_forget(&r->engine);
	return err;
}
