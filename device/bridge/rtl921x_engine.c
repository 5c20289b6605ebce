/* rtl921x_engine.c - register writes by the raw TLP engine (bridge.md 2.11). A dword E3/34 would
 * also store the value at a CPU address of the bridge (2.10); driving the engine by E3/23 has no
 * such side effect.
 *
 * The literal form is the firmware's own sequence, 11 commands. The short form is 3 commands and
 * relies on what slot comes next and on w0/w3 keeping their values; a fourth command reads the
 * engine's status back, and a surprise there ends its use.
 */
#include "device/bridge/rtl921x_priv.h"
#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"

#define ENGINE_STATUS     0xB3310100u
#define STATUS_BUSY       0x80u            /* bit 7 */
#define STATUS_SLOT(v)    (((v) >> 3) & 3) /* bits 4:3 */
#define SLOT_W0(n)        (0xB3310110u + 16u * (unsigned)(n))
#define SLOT_W1(n)        (SLOT_W0(n) + 4)
#define SLOT_W2(n)        (SLOT_W0(n) + 8)
#define SLOT_W3(n)        (SLOT_W0(n) + 12)
#define SLOT_DATA(n)      (0xB3310150u + 0x80u * (unsigned)(n))
#define W0_MEMORY         0u
#define W1_DWORD_WRITE    0xF41u /* length 1, direction 10 = write, first byte enables F, last 0 */
#define W0_CONFIG         4u
#define W1_DWORD_READ     0xF21u /* length 1, direction 01 = read, first byte enables F */
#define W1_RELEASE        (1u << 28)
#define W1_START          (1u << 31)
#define ENGINE_TIMEOUT_MS 2000 /* bridge.md 2.11: "the host may give up after 2 s" */

static int peek(struct rtl921x *r, uint32_t addr, uint32_t *value)
{
	uint8_t data[4];
	int err = rtl_exec(r, RTL_OP_READ, RTL_READ_REGISTER, addr, data, sizeof(data), false);

	*value = get_le32(data);
	return err;
}

static int poke(struct rtl921x *r, uint32_t addr, uint32_t value)
{
	uint8_t data[4];

	put_le32(data, value);
	return rtl_exec(r, RTL_OP_WRITE, RTL_WRITE_REGISTER, addr, data, sizeof(data), false);
}

/* wait_clear - poll until all bits of @mask are 0; the last value is in @value. */
static int wait_clear(struct rtl921x *r, uint32_t addr, uint32_t mask, uint32_t *value)
{
	uint64_t deadline = deadline_in_ms(ENGINE_TIMEOUT_MS);

	for (;;) {
		int err = peek(r, addr, value);

		if (err || !(*value & mask))
			return err;
		if (deadline_passed(deadline))
			return rx_fail("bridge", -ETIMEDOUT,
			        "TLP engine: 0x%08x stays at 0x%08x for %d ms; the PCIe link may "
			        "be down",
			        addr, *value, ENGINE_TIMEOUT_MS);
		sleep_us(100);
	}
}

/* One request in the firmware's own order; w0 is the type. */
struct request {
	uint32_t w0, w1, w2, value;
	bool read;
};

/* literal - steps 1 to 9 of bridge.md 2.11. */
static int literal(struct rtl921x *r, struct request *q)
{
	uint32_t status;
	int err = wait_clear(r, ENGINE_STATUS, STATUS_BUSY, &status); /* 1 */

	if (err)
		return err;
	unsigned n = STATUS_SLOT(status); /* 2 */
	const struct {
		uint32_t addr, value;
	} pokes[] = {
	        {SLOT_W0(n), 0}, {SLOT_W1(n), 0}, {SLOT_DATA(n), 0},       /* 3 */
	        {SLOT_W0(n), q->w0}, {SLOT_W2(n), q->w2}, {SLOT_W3(n), 0}, /* 4 */
	        {SLOT_DATA(n), q->value},                                  /* 5: 0 for a read */
	        {SLOT_W1(n), q->w1 | W1_START},                            /* 6 */
	};

	for (size_t i = 0; i < ARRAY_SIZE(pokes) && !err; i++)
		err = poke(r, pokes[i].addr, pokes[i].value);
	if (!err)
		err = wait_clear(r, SLOT_W1(n), W1_START, &status); /* 7 */
	if (!err && q->read)
		err = peek(r, SLOT_DATA(n), &q->value); /* 8 */
	if (!err)
		err = poke(r, SLOT_W1(n), q->w1 | W1_RELEASE); /* 9 */
	if (err)
		return err;
	r->engine.next = (int)(n + 1) % 4;
	r->engine.memory[n] = q->w0 == W0_MEMORY;
	return 0;
}

static int literal_write(struct rtl921x *r, uint32_t addr, uint32_t value)
{
	struct request q = {.w0 = W0_MEMORY, .w1 = W1_DWORD_WRITE, .w2 = addr, .value = value};

	return literal(r, &q);
}

int rtl921x_function_read(struct bridge *b, unsigned fn, unsigned reg, uint32_t *value)
{
	struct rtl921x *r = (struct rtl921x *)b;
	/* bus 0, device 0: bridge.md 2.11, w2 */
	struct request q = {
	        .w0 = W0_CONFIG, .w1 = W1_DWORD_READ, .w2 = fn << 16 | (reg & 0xFFC), .read = true};

	if (fn > 7)
		return -EINVAL;
	int err = literal(r, &q);

	if (err)
		r->engine.next = -1;
	*value = q.value;
	return err;
}

/* short_write - slot @n is known to be next and to hold memory-request words. *@doubt: the engine's
 * status afterwards is not what one more TLP in slot @n explains. */
static int short_write(struct rtl921x *r, unsigned n, uint32_t addr, uint32_t value, bool *doubt)
{
	uint32_t status;
	int err = poke(r, SLOT_W2(n), addr);

	if (!err)
		err = poke(r, SLOT_DATA(n), value);
	if (!err)
		err = poke(r, SLOT_W1(n), W1_DWORD_WRITE | W1_START);
	if (!err)
		err = wait_clear(r, ENGINE_STATUS, STATUS_BUSY, &status);
	if (err)
		return err;
	*doubt = STATUS_SLOT(status) != (n + 1) % 4;
	r->engine.next = (int)STATUS_SLOT(status);
	return 0;
}

int rtl_engine_write(struct rtl921x *r, uint32_t addr, uint32_t value)
{
	struct rtl_engine *e = &r->engine;
	bool doubt = true;
	int err = 0;

	if (!e->literal_only && e->next >= 0 && e->memory[e->next]) {
		err = short_write(r, (unsigned)e->next, addr, value, &doubt);
		if (!err && doubt) {
			rx_log(LOG_WARN, "bridge",
			        "TLP engine: the slot after a short write is not the expected one; "
			        "repeating register "
			        "writes in the long form from now on");
			e->literal_only = true;
		}
	}
	if (!err && doubt)
		err = literal_write(r, addr, value);
	if (err)
		e->next = -1; /* unknown until the next literal write has looked */
	return err;
}
