/* asm2x6x_engine.c - one TLP at a time through the engine at B210 (bridge.md 3.3, 3.4): the most
 * defensive of the published sequences, without the header bytes that are already there. Those
 * persist from one request to the next (tinygrad's driver relies on it: 3.4), data only until a
 * completion overwrites it.
 */
#include "device/bridge/asm2x6x_priv.h"
#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"

/* longer than a PCIe completion timeout, which the engine reports itself */
#define ENGINE_TIMEOUT_MS 2000
#define READY_MS          100 /* of an engine that has never said it was ready */
#define PATIENT_POLLS     16  /* before the first sleep: a poll takes a quarter of a millisecond */
#define HEADER_BYTES      8u  /* B210 to B217 */
#define DATA_AT           16u /* of B220, counted from B210 */
#define COMPLETION_WORD   10u /* of B22A, counted from B220 */
#define COMPLETION_BYTES  16u /* B220 to B22F: data and header in one read */
#define HAS_DATA          1u

static bool is_posted(const struct asm_tlp *t)
{
	return (t->type & ASM_TYPE_WRITE) &&
	       !(t->type & ASM_TYPE_KIND); /* memory write: bridge.md 3.4 */
}

static bool is_read(const struct asm_tlp *t)
{
	return !(t->type & ASM_TYPE_WRITE);
}

/* put_regs - @n bytes at B210 + @at, those that are not already there. */
static int put_regs(struct asm2x6x *a, unsigned at, const uint8_t *bytes, unsigned n)
{
	for (unsigned i = at; i < at + n; i++, bytes++) {
		if ((a->known & 1u << i) && a->reg[i] == *bytes)
			continue;
		a->known &= ~(1u << i);
		int err = asm_write(a, (uint16_t)(ASM_TLP_HEADER + i), *bytes);

		if (err)
			return err;
		a->reg[i] = *bytes;
		a->known |= 1u << i;
	}
	return 0;
}

/* put_header - B210 to B217. What is zero on a 236x stays as the firmware left it on a 246x: the
 * driver proven on that chip never writes it (bridge.md 3.4). */
static int put_header(struct asm2x6x *a, const struct asm_tlp *t)
{
	const uint8_t header[HEADER_BYTES] = {t->type, 0, 0, 1, 0, 0, 0, t->byte_enables};
	int err = 0;

	if (a->chip != ASM_246X)
		return put_regs(a, 0, header, HEADER_BYTES);
	for (unsigned i = 0; i < HEADER_BYTES && !err; i++)
		if (header[i] || i == 0)
			err = put_regs(a, i, header + i, 1);
	return err;
}

static int put_request(struct asm2x6x *a, const struct asm_tlp *t)
{
	uint8_t words[12];
	int err = 0;

	put_be32(words, (uint32_t)t->addr);
	put_be32(words + 4, (uint32_t)(t->addr >> 32));
	put_be32(words + 8, t->data);
	if (!is_read(t))
		err = put_regs(a, DATA_AT, words + 8, 4);
	if (!err)
		err = put_header(a, t);
	if (!err)
		err = put_regs(a, HEADER_BYTES, words, t->type & ASM_TYPE_WIDE ? 8 : 4);
	return err;
}

/* poll_status - until one of @bits is set. -EALREADY: none was in @ms (not logged). */
static int poll_status(struct asm2x6x *a, uint8_t bits, unsigned ms, uint8_t *status)
{
	uint64_t deadline = deadline_in_ms(ms);

	for (unsigned n = 0;; n++) {
		bool late = deadline_passed(deadline);
		int err = asm_read(a, ASM_TLP_STATUS, status, 1);

		if (err || (*status & bits))
			return err;
		if (late)
			return -EALREADY;
		if (n >= PATIENT_POLLS)
			sleep_us(100);
	}
}

static int wait_status(struct asm2x6x *a, uint8_t bits, uint8_t *status)
{
	int err = poll_status(a, bits, ENGINE_TIMEOUT_MS, status);

	if (err != -EALREADY)
		return err;
	return rx_fail("bridge", -ETIMEDOUT,
	        "TLP engine: status stays at %02x for %d ms, bits %02x were expected", *status,
	        ENGINE_TIMEOUT_MS, bits);
}

/* wait_ready - the driver proven on a 246x never looks at that bit (bridge.md 3.4), so one that has
 * never shown it is believed to have none. */
static int wait_ready(struct asm2x6x *a, uint8_t *status)
{
	if (a->ready == ASM_READY_USED || a->chip != ASM_246X)
		return wait_status(a, ASM_STATUS_READY, status);
	if (a->ready == ASM_READY_NONE)
		return 0;
	int err = poll_status(a, ASM_STATUS_READY, READY_MS, status);

	if (err && err != -EALREADY)
		return err;
	a->ready = err ? ASM_READY_NONE : ASM_READY_USED;
	if (err)
		rx_log(LOG_WARN, "bridge",
		        "TLP engine: status %02x never says ready; going on without", *status);
	return 0;
}

/* send_tlp - up to and including the trigger; nothing is on the bus before that. */
static int send_tlp(struct asm2x6x *a, const struct asm_tlp *t)
{
	uint8_t status = 0;
	int err = put_request(a, t);

	if (!err)
		err = asm_write(a, ASM_TLP_STATUS, ASM_STATUS_ERROR);
	if (!err)
		err = asm_write(a, ASM_TLP_ARM, ASM_ARM);
	if (!err)
		err = wait_ready(a, &status);
	if (!err && (status & ASM_STATUS_DONE)) /* a leftover would pass for our completion */
		err = asm_write(a, ASM_TLP_STATUS, ASM_STATUS_DONE);
	if (!err && a->lost) /* reset meanwhile: the header is gone */
		err = -EAGAIN;
	if (!err)
		err = asm_write(a, ASM_TLP_STATUS, ASM_STATUS_READY);
	return err;
}

/* clear - a refusal because of a reset changes nothing about what is to be cleared. */
static int clear(struct asm2x6x *a, uint8_t bit)
{
	int err = asm_write(a, ASM_TLP_STATUS, bit);

	return err == -EAGAIN ? asm_write(a, ASM_TLP_STATUS, bit) : err;
}

/* span - bytes from the first to the last enabled one: the byte count of a completion. */
static unsigned span(uint8_t byte_enables)
{
	unsigned first = 0, last = 3;

	while (!(byte_enables & 1u << first))
		first++;
	while (!(byte_enables & 1u << last))
		last--;
	return last - first + 1;
}

static enum asm_outcome judge(const struct asm_tlp *t, uint16_t word, uint8_t has_data)
{
	static const enum asm_outcome status[8] = {ASM_SUCCESS, ASM_UNSUPPORTED, ASM_RETRY_LATER,
	        ASM_NONSENSE, ASM_ABORTED, ASM_NONSENSE, ASM_NONSENSE, ASM_NONSENSE};
	unsigned expect = t->type & ASM_TYPE_KIND ? 4 : span(t->byte_enables);

	if (word >> 13)
		return status[word >> 13];
	if ((word & 0xFFFu) != expect || (has_data & HAS_DATA) != (is_read(t) ? HAS_DATA : 0))
		return ASM_NONSENSE;
	return ASM_SUCCESS;
}

static int take_completion(struct asm2x6x *a, struct asm_tlp *t)
{
	uint8_t status, has_data, bytes[COMPLETION_BYTES];
	int err = wait_status(a, ASM_STATUS_DONE | ASM_STATUS_ERROR, &status);

	if (!err && !(status & ASM_STATUS_DONE)) {
		t->outcome = ASM_NO_ANSWER;
		a->info.tlp_timeouts++;
		a->known = 0;
		return clear(a, ASM_STATUS_ERROR);
	}
	if (!err)
		err = clear(a, ASM_STATUS_DONE);
	if (!err)
		err = asm_read(a, ASM_TLP_HAS_DATA, &has_data, 1);
	if (!err)
		err = asm_read(a, ASM_TLP_DATA, bytes, sizeof(bytes));
	if (err)
		return err;
	t->data = get_be32(bytes);
	t->outcome = judge(t, get_be16(bytes + COMPLETION_WORD), has_data);
	if (t->outcome != ASM_SUCCESS)
		a->known = 0;
	return 0;
}

int asm_request(struct asm2x6x *a, struct asm_tlp *t)
{
	int err = 0;

	for (int tries = 0; tries < 2; tries++) {
		err = asm_restore(a);
		if (!err)
			err = send_tlp(a, t);
		if (err != -EAGAIN) /* reset before anything was sent: from the start */
			break;
	}
	t->outcome = ASM_SUCCESS;
	if (!err && !is_posted(t)) {
		a->known &= ~(0xFu << DATA_AT);
		err = take_completion(a, t);
	}
	if (!err && a->lost)
		err = rx_fail("bridge", -EIO, "the bridge was reset in the middle of a request");
	if (err)
		a->known = 0;
	return err == -EAGAIN ? rx_fail("bridge", -EIO, "the bridge was reset again and again")
	                      : err;
}

int asm_status_error(struct asm2x6x *a, bool *error)
{
	uint8_t status;
	int err = asm_read(a, ASM_TLP_STATUS, &status, 1);

	*error = !err && (status & ASM_STATUS_ERROR);
	if (*error) {
		a->known = 0;
		err = clear(a, ASM_STATUS_ERROR);
	}
	return err;
}

const char *asm_outcome_words(enum asm_outcome o)
{
	static const char *const words[] = {
	        [ASM_SUCCESS] = "success",
	        [ASM_UNSUPPORTED] = "unsupported request: nobody there claims it",
	        [ASM_RETRY_LATER] = "configuration request retry: not ready yet",
	        [ASM_ABORTED] = "completer abort: the card refuses it",
	        [ASM_NONSENSE] = "a completion that does not fit the request",
	        [ASM_NO_ANSWER] = "no completion",
	};

	return words[o];
}
