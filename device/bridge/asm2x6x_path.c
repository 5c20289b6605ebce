/* asm2x6x_path.c - from the root port to the card: bus numbers, windows, command (bridge.md 3.5).
 * The stock firmware has numbered buses for one disk behind the root port; a graphics card may sit
 * behind a switch of its own. Whatever is changed is put back by asm_path_close.
 */
#include "device/bridge/asm2x6x_priv.h"
#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"

#define CFG_ID             0x00 /* type 1 header: bridge.md 4.3 */
#define CFG_COMMAND        0x04
#define CFG_CLASS          0x08
#define CFG_HEADER_TYPE    0x0E
#define CFG_BUS_NUMBERS    0x18
#define CFG_MEMORY_WINDOW  0x20
#define CFG_PREFETCH       0x24
#define CFG_PREFETCH_BASE  0x28 /* upper words */
#define CFG_PREFETCH_LIMIT 0x2C
#define HEADER_TYPE_MASK   0x7Fu
#define HEADER_BRIDGE      1u
#define ABSENT             0xFFFFFFFFu
#define CLASS_DISPLAY      0x03u
#define CLASS_STORAGE      0x01u
#define LAST_BUS           (ASM_MAX_HOPS + 1u)
#define COMMAND_ALL        0x0007u /* I/O, memory, master: bridge.md 3.5 */
#define CRS_TIMEOUT_MS     1000u   /* bridge.md 3.4, 4.1 */
/* Windows: bridge.md 3.5. Memory from 0x10000000 up, clear of what the bridge itself answers. */
#define MEMORY_WINDOW   0xFFF01000u
#define PREFETCH_CLOSED 0x0000FFF0u /* base above limit */
#define PREFETCH_WIDE   0xFFF10001u /* low nibbles 1: 64 bits */
#define PREFETCH_64     1u
#define BASE_HIGH       0x8u /* from 32 GiB up */
#define LIMIT_HIGH      0xFFFFFFFFu

/* What a search has come across that was not the card. */
struct sight {
	uint32_t id, class_code;
	unsigned depth;
};

/* ---- a dword of a bridge's header ---- */

static int fail_outcome(struct asm_where at, unsigned reg, enum asm_outcome o)
{
	return rx_fail("bridge", -EIO, "configuration of %02x:%02x.%u at 0x%02x: %s", at.bus,
	        at.dev, at.fn, reg, asm_outcome_words(o));
}

static int get(struct asm2x6x *a, struct asm_where at, unsigned reg, unsigned size, uint32_t *value)
{
	enum asm_outcome o;
	int err = asm_cfg_read(a, at, reg, size, value, &o);

	return err ? err : o == ASM_SUCCESS ? 0 : fail_outcome(at, reg, o);
}

static int put(struct asm2x6x *a, struct asm_where at, unsigned reg, unsigned size, uint32_t value)
{
	enum asm_outcome o;
	int err = asm_cfg_write(a, at, reg, size, value, &o);

	return err ? err : o == ASM_SUCCESS ? 0 : fail_outcome(at, reg, o);
}

static struct asm_where hop_at(const struct asm_hop *h)
{
	return (struct asm_where){.bus = h->bus, .dev = h->dev};
}

/* look - id of what is there; ABSENT nobody. A device that asks for time gets a second. */
static int look(struct asm2x6x *a, struct asm_where at, uint32_t *id)
{
	uint64_t deadline = deadline_in_ms(CRS_TIMEOUT_MS);
	enum asm_outcome o;

	for (;;) {
		bool late = deadline_passed(deadline);
		int err = asm_cfg_read(a, at, CFG_ID, 4, id, &o);

		if (err)
			return err;
		bool crs = o == ASM_RETRY_LATER ||
		           (o == ASM_SUCCESS && (*id & 0xFFFF) == BRIDGE_CRS_VENDOR);

		if (!crs || late)
			break;
		sleep_us(10000);
	}
	if (o != ASM_SUCCESS || !bridge_answers(*id))
		*id = ABSENT;
	return 0;
}

/* ---- one bridge ---- */

static int read_hop(struct asm2x6x *a, struct asm_hop *h)
{
	struct asm_where at = hop_at(h);
	uint32_t command = 0;
	int err = get(a, at, CFG_COMMAND, 2, &command);

	h->command = (uint16_t)command;
	if (!err)
		err = get(a, at, CFG_BUS_NUMBERS, 4, &h->numbers);
	if (!err)
		err = get(a, at, CFG_MEMORY_WINDOW, 4, &h->memory);
	if (!err)
		err = get(a, at, CFG_PREFETCH, 4, &h->prefetch);
	if (!err)
		err = get(a, at, CFG_PREFETCH_BASE, 4, &h->base_high);
	if (!err)
		err = get(a, at, CFG_PREFETCH_LIMIT, 4, &h->limit_high);
	return err;
}

/* number_hop - in one write, or the path would be unreachable in between: bridge.md 3.5. The
 * secondary latency timer stays. */
static int number_hop(struct asm2x6x *a, const struct asm_hop *h)
{
	return put(a, hop_at(h), CFG_BUS_NUMBERS, 4,
	        (h->numbers & 0xFF000000u) | LAST_BUS << 16 | (h->bus + 1u) << 8 | h->bus);
}

/* open_windows - *wide becomes false when this bridge has no 64-bit window. */
static int open_windows(struct asm2x6x *a, const struct asm_hop *h, bool *wide)
{
	struct asm_where at = hop_at(h);
	uint32_t now = 0;
	int err = put(a, at, CFG_MEMORY_WINDOW, 4, MEMORY_WINDOW);

	if (!err && *wide) {
		err = put(a, at, CFG_PREFETCH, 4, PREFETCH_WIDE);
		if (!err)
			err = get(a, at, CFG_PREFETCH, 4, &now);
		*wide = (now & 0xF) == PREFETCH_64;
	}
	if (!err && !*wide)
		err = put(a, at, CFG_PREFETCH, 4, PREFETCH_CLOSED);
	if (!err)
		err = put(a, at, CFG_PREFETCH_BASE, 4, *wide ? BASE_HIGH : 0);
	if (!err)
		err = put(a, at, CFG_PREFETCH_LIMIT, 4, *wide ? LIMIT_HIGH : 0);
	if (!err)
		err = put(a, at, CFG_COMMAND, 2, h->command | COMMAND_ALL);
	return err;
}

static int close_hop(struct asm2x6x *a, const struct asm_hop *h)
{
	struct asm_where at = hop_at(h);
	int err = put(a, at, CFG_COMMAND, 2, h->command);

	if (!err)
		err = put(a, at, CFG_MEMORY_WINDOW, 4, h->memory);
	if (!err)
		err = put(a, at, CFG_PREFETCH, 4, h->prefetch);
	if (!err)
		err = put(a, at, CFG_PREFETCH_BASE, 4, h->base_high);
	if (!err)
		err = put(a, at, CFG_PREFETCH_LIMIT, 4, h->limit_high);
	if (!err)
		err = put(a, at, CFG_BUS_NUMBERS, 4, h->numbers);
	return err;
}

/* ---- the search ---- */

static int search(struct asm2x6x *a, uint8_t bus, struct sight *other);

/* through - behind the bridge at @at. Return: 1 found; 0 not there; negative error. */
static int through(struct asm2x6x *a, struct asm_where at, struct sight *other)
{
	struct asm_hop *h = &a->hop[a->hops];

	if (a->hops == ASM_MAX_HOPS)
		return 0;
	*h = (struct asm_hop){.bus = at.bus, .dev = at.dev};
	int err = read_hop(a, h);

	if (!err)
		err = number_hop(a, h);
	if (err)
		return err;
	a->hops++;
	int found = search(a, (uint8_t)(at.bus + 1), other);

	if (found)
		return found;
	a->hops--;
	return put(a, at, CFG_BUS_NUMBERS, 4, h->numbers);
}

static int try_device(struct asm2x6x *a, struct asm_where at, struct sight *other)
{
	uint32_t id, type, class_rev;
	int err = look(a, at, &id);

	if (err || id == ABSENT)
		return err;
	err = get(a, at, CFG_HEADER_TYPE, 1, &type);
	if (!err)
		err = get(a, at, CFG_CLASS, 4, &class_rev);
	if (err)
		return err;
	if ((type & HEADER_TYPE_MASK) == HEADER_BRIDGE)
		return through(a, at, other);
	if (class_rev >> 24 != CLASS_DISPLAY) {
		*other = (struct sight){id, class_rev >> 8, a->hops};
		return 0;
	}
	a->bus = at.bus;
	a->dev = at.dev;
	a->id = id;
	return 1;
}

/* search - a PCIe link has device 0 only; the bus inside a switch has its ports at any number.
 * Return: as through. */
static int search(struct asm2x6x *a, uint8_t bus, struct sight *other)
{
	unsigned devices = bus <= 1 ? 1 : 32;

	for (unsigned dev = 0; dev < devices; dev++) {
		int found =
		        try_device(a, (struct asm_where){.bus = bus, .dev = (uint8_t)dev}, other);

		if (found)
			return found;
	}
	return 0;
}

static int say_none(const struct sight *other)
{
	if (!other->id)
		return rx_fail("bridge", -ENODEV,
		        "no PCIe device behind the bridge: power the card before the enclosure "
		        "gets USB power, and check the adapter's cables");
	return rx_fail("bridge", -ENODEV,
	        "the enclosure holds %s (%04x:%04x, class %06x), not a graphics card",
	        other->class_code >> 16 == CLASS_STORAGE ? "a disk" : "another device",
	        other->id & 0xFFFF, other->id >> 16, other->class_code);
}

static int open_all(struct asm2x6x *a)
{
	int err = 0;

	a->wide = a->chip == ASM_246X; /* 236x: bridge.md 7.1 K15 */
	for (unsigned i = 0; i < a->hops && !err; i++)
		err = open_windows(a, &a->hop[i], &a->wide);
	return err;
}

int asm_path_open(struct asm2x6x *a)
{
	const struct asm_where port = {0};
	struct sight other = {0};
	uint32_t id, type;
	int err = look(a, port, &id);

	if (err)
		return err;
	if (id == ABSENT)
		return rx_fail("bridge", -ENODEV,
		        "the bridge's root port does not answer: its PCIe side is off; power the "
		        "card, then unplug the enclosure and plug it in again");
	err = get(a, port, CFG_HEADER_TYPE, 1, &type);
	if (err)
		return err;
	if ((type & HEADER_TYPE_MASK) != HEADER_BRIDGE)
		return rx_fail("bridge", -ENOTSUP,
		        "%04x:%04x at 00:00.0 is no root port (header type %02x): not going on",
		        id & 0xFFFF, id >> 16, type);
	int found = through(a, port, &other);

	if (found < 0)
		return found;
	return found ? open_all(a) : say_none(&other);
}

int asm_path_again(struct asm2x6x *a)
{
	uint32_t id;
	int err = 0;

	for (unsigned i = 0; i < a->hops && !err; i++)
		err = number_hop(a, &a->hop[i]);
	if (!err)
		err = open_all(a);
	return err ? err : look(a, asm_card(a), &id); /* gives it time */
}

void asm_path_close(struct asm2x6x *a)
{
	/* the far end first, or there would be no way to it; without a way the rest is hopeless */
	while (a->hops && !close_hop(a, &a->hop[a->hops - 1]))
		a->hops--;
	a->hops = 0;
}
