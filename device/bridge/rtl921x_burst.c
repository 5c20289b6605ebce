/* rtl921x_burst.c - bulk writes by the raw engine, many dwords a TLP (bridge.md 2.11, "Extras worth
 * probing"; nobody has shown that it works). A round fills up to four slots: the status is read,
 * one command of byte stores puts their words and data, one more puts the words again with the
 * start bits. The last byte of w1 starts a slot, and by then its other words are in place.
 *
 * By the link model (docs/architecture.md) 4 KiB cost 25 or 26 commands and 34 TLPs, 6.7 ms, where
 * one E3/34 costs 4096 TLPs, 20.8 ms. Without byte stores each dword would be a command of its own
 * and E3/34 three times faster than that, at least; so both are needed.
 */
#include <string.h>

#include "device/bridge/rtl921x_priv.h"
#include "device/bytes.h"
#include "device/err.h"

#define SLOTS       4u
#define SLOT_BYTES  16u
#define WORDS_BYTES (SLOTS * SLOT_BYTES)
#define DATA_BYTES  128u
/* Below it one E3/34 is as fast: 3 commands and one for the end against 1 command and its TLPs */
#define WORTHWHILE 256u
#define PCIE_PAGE  4096u /* PCIe base specification 2.2.7: no request crosses it */
/* Between two yields: 68 TLPs, 17 full rounds, 13 modelled ms */
#define CHUNK (2 * PCIE_PAGE)

struct round {
	unsigned first, count; /* slots */
	uint8_t words[WORDS_BYTES];
	uint8_t data[SLOTS * DATA_BYTES];
	uint32_t data_bytes; /* of @data, from slot @first on */
};

/* add_tlp - the next slot of the round. Return: bytes of @data it takes. */
static uint32_t add_tlp(
        struct round *q, uint32_t addr, const uint8_t *data, uint32_t len, unsigned per_tlp)
{
	uint32_t room = PCIE_PAGE - addr % PCIE_PAGE, bytes = MIN(MIN(len, room), 4 * per_tlp);
	uint8_t *words = q->words + SLOT_BYTES * (q->first + q->count);
	uint32_t dwords = bytes / 4, last = dwords > 1 ? W1_LAST(W1_ALL_LANES) : 0;

	put_le32(words + 4, dwords | W1_WRITE | W1_FIRST(W1_ALL_LANES) | last);
	put_le32(words + 8, addr);
	memcpy(q->data + DATA_BYTES * q->count, data, bytes);
	q->data_bytes = DATA_BYTES * q->count + bytes;
	q->count++;
	return bytes;
}

static int store(struct rtl921x *r, uint32_t addr, void *bytes, uint32_t len)
{
	return rtl_exec(r, RTL_OP_WRITE, RTL_WRITE_REGISTER, addr, bytes, len, false);
}

/* prepare - words and data. In one command only from slot 0 on: the buffers of earlier slots, which
 * lie between, may still be in use. */
static int prepare(struct rtl921x *r, struct round *q)
{
	uint8_t all[WORDS_BYTES + sizeof(q->data)];
	uint32_t skip = SLOT_BYTES * q->first;

	if (q->first) {
		int err = store(r, SLOT_W0(q->first), q->words + skip, WORDS_BYTES - skip);

		return err ? err : store(r, SLOT_DATA(q->first), q->data, q->data_bytes);
	}
	memcpy(all, q->words, WORDS_BYTES);
	memcpy(all + WORDS_BYTES, q->data, q->data_bytes);
	return store(r, SLOT_W0(0), all, WORDS_BYTES + q->data_bytes);
}

static int start(struct rtl921x *r, struct round *q)
{
	uint32_t skip = SLOT_BYTES * q->first;

	for (unsigned n = q->first; n < q->first + q->count; n++) {
		uint8_t *w1 = q->words + SLOT_BYTES * n + 4;

		put_le32(w1, get_le32(w1) | W1_START);
	}
	return store(r, SLOT_W0(q->first), q->words + skip, WORDS_BYTES - skip);
}

/* one_round - Return: bytes written; an error. */
static int one_round(
        struct rtl921x *r, uint32_t addr, const uint8_t *data, uint32_t len, unsigned per_tlp)
{
	struct rtl_engine *e = &r->engine;
	struct round q = {0};
	uint32_t done = 0;
	int err = rtl_next_slot(r, &q.first);

	if (err)
		return err;
	while (done < len && q.first + q.count < SLOTS)
		done += add_tlp(&q, addr + done, data + done, len - done, per_tlp);
	err = prepare(r, &q);
	if (!err)
		err = start(r, &q);
	if (err)
		return err;
	e->next = (int)((q.first + q.count) % SLOTS);
	for (unsigned n = q.first; n < SLOTS; n++)
		e->memory[n] = true; /* w0 and w3 are 0 */
	return (int)done;
}

int rtl_burst_write(struct rtl921x *r, uint32_t addr, const uint8_t *data, uint32_t len)
{
	/* a surprise ends the ability, but not a run in the middle: the status has told the slot */
	unsigned per_tlp = r->info.ability_engine_burst;

	while (len) {
		int n = one_round(r, addr, data, len, per_tlp);

		if (n < 0) {
			rtl_engine_forget(&r->engine);
			return n;
		}
		addr += (uint32_t)n;
		data += n;
		len -= (uint32_t)n;
	}
	return 0;
}

/* The end, 5 bytes at least, is left to an ordinary command: its last byte has to land last
 * (bridge.h), and inside a TLP there is no order. */
uint32_t rtl_burst_bytes(const struct rtl921x *r, uint32_t addr, size_t len)
{
	if (!r->info.ability_engine_burst || r->engine.literal_only || addr % 4 || len < WORTHWHILE)
		return 0;
	return (uint32_t)MIN((len - 5) & ~(size_t)3, (size_t)CHUNK);
}

int rtl921x_long_write(struct bridge *b, uint64_t addr, const uint8_t *data, unsigned dwords)
{
	struct rtl921x *r = (struct rtl921x *)b;
	uint32_t w1 = dwords | W1_WRITE | W1_FIRST(W1_ALL_LANES), status;
	unsigned n = 0;

	if (dwords < 1 || dwords > RTL_ENGINE_MAX_DWORDS || addr % 4 || addr >> 32 ||
	        addr % PCIE_PAGE + 4 * dwords > PCIE_PAGE)
		return -EINVAL;
	if (dwords > 1)
		w1 |= W1_LAST(W1_ALL_LANES);
	int err = rtl_next_slot(r, &n);
	const uint32_t words[][2] = {
	        {SLOT_W0(n), 0}, {SLOT_W1(n), 0}, {SLOT_W2(n), (uint32_t)addr}, {SLOT_W3(n), 0}};

	for (size_t i = 0; i < ARRAY_SIZE(words) && !err; i++)
		err = rtl_poke(r, words[i][0], words[i][1]);
	for (unsigned i = 0; i < dwords && !err; i++)
		err = rtl_poke(r, SLOT_DATA(n) + 4 * i, get_le32(data + 4 * i));
	if (!err)
		err = rtl_poke(r, SLOT_W1(n), w1 | W1_START);
	if (!err)
		err = rtl_wait_clear(r, SLOT_W1(n), W1_START, &status);
	if (!err || err == -ETIMEDOUT) {
		int released = rtl_poke(r, SLOT_W1(n), w1 | W1_RELEASE);

		err = err ? err : released;
	}
	rtl_engine_forget(&r->engine);
	return err;
}

int rtl921x_byte_stores(struct bridge *b, bool *ok)
{
	struct rtl921x *r = (struct rtl921x *)b;
	uint8_t pattern[8] = {0x13, 0x57, 0x9B, 0xDF, 0x24, 0x68, 0xAC, 0xE0};
	uint32_t got[2];
	unsigned n = 0;
	int err = rtl_next_slot(r, &n);
	const uint32_t places[] = {SLOT_DATA(n), SLOT_W2(n)};

	*ok = true;
	rtl_engine_forget(&r->engine); /* its w3 is about to change */
	for (size_t i = 0; i < ARRAY_SIZE(places) && !err && *ok; i++) {
		err = store(r, places[i], pattern, sizeof(pattern));
		for (unsigned k = 0; k < 2 && !err; k++)
			err = rtl_peek(r, places[i] + 4 * k, &got[k]);
		for (unsigned k = 0; k < 2 && !err; k++)
			*ok &= got[k] == get_le32(pattern + 4 * k);
		for (unsigned k = 0; k < 2 && !err; k++)
			err = rtl_poke(r, places[i] + 4 * k, 0);
	}
	return err;
}
