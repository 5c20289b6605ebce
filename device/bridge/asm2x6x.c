/* asm2x6x.c - PCIe transactions through the vendor commands of an ASMedia ASM236x or ASM246x with
 * stock firmware (bridge.md 3). One dword a TLP, about ten commands a TLP; failures are reported.
 */
#include "device/bridge/asm2x6x_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"

#define KEY_ATTENTION 0x06 /* SPC-4: UNIT ATTENTION; the command was not executed */
/* bridge.md 3.3, B210 */
#define TYPE_MEMORY_READ  0x00
#define TYPE_MEMORY_WRITE 0x40
#define TYPE_WIDE         0x20
#define TYPE_CONFIG_READ  0x04
#define TYPE_CONFIG_WRITE 0x44
#define TYPE_CONFIG_1     0x01
#define ALL_BYTES         0xFu
/* bridge.md 3.5, 4.5: what the bridge answers itself lies below; windows of asm2x6x_path.c */
#define REACH_START 0x10000000ull
#define REACH_END   (1ull << 32)
#define WIDE_START  0x800000000ull
#define WIDE_END    (1ull << 40)
#define YIELD_BYTES 64u /* of a long transfer between two yields: 16 TLPs, some 40 ms */

static struct asm2x6x *self(struct bridge *b)
{
	return (struct asm2x6x *)b;
}

/* ---- commands ---- */

static int exec(struct asm2x6x *a, uint8_t op, uint8_t param, uint16_t addr, void *buf,
        struct scsi_sense *sense)
{
	uint8_t cdb[ASM_CDB_BYTES];

	asm_build_cdb(cdb, a->chip, op, param, addr);
	const char *why = asm_refusal(a->chip, cdb);

	*sense = (struct scsi_sense){0};
	if (why)
		return rx_fail("bridge", -EPERM, "%02X %02X at 0x%04x: %s", op, param, addr, why);
	return op == ASM_OP_READ ? scsi_exec(a->b.scsi, cdb, sizeof(cdb), SCSI_IN, buf, param,
	                                   ASM_TIMEOUT_MS, sense)
	                         : scsi_exec(a->b.scsi, cdb, sizeof(cdb), SCSI_NONE, NULL, 0,
	                                   ASM_TIMEOUT_MS, sense);
}

/* note_resets - a port reset, or the unit attention that follows one, voids what we know of the
 * engine and of the way to the card (bridge.md 1.3). Return: whether there was one. */
static bool note_resets(struct asm2x6x *a, const struct scsi_sense *sense)
{
	struct scsi_counters c;

	scsi_read_counters(a->b.scsi, &c);
	if (c.resets == a->seen_resets && sense->key != KEY_ATTENTION)
		return false;
	a->seen_resets = c.resets;
	a->known = 0;
	a->lost = true;
	return true;
}

static int finish(uint8_t op, uint16_t addr, int n, int want, const struct scsi_sense *sense)
{
	if (n == want)
		return 0;
	if (n >= 0)
		return rx_fail("bridge", -EIO, "%02X at 0x%04x: %d of %d bytes", op, addr, n, want);
	if (n == -EIO && sense->key)
		rx_log(LOG_ERROR, "bridge", "%02X at 0x%04x: refused with sense %x/%02x/%02x", op,
		        addr, sense->key, sense->asc, sense->ascq);
	return n;
}

int asm_read(struct asm2x6x *a, uint16_t addr, void *buf, uint8_t len)
{
	struct scsi_sense sense;
	int n = exec(a, ASM_OP_READ, len, addr, buf, &sense);
	bool reset = note_resets(a, &sense);
	bool attention = n < 0 && sense.key == KEY_ATTENTION;

	if (attention ||
	        (!reset && (n == -EIO || n == -ETIMEDOUT) && !sense.key)) { /* reads change nothing
		                                                             */
		a->info.retries += !attention;
		n = exec(a, ASM_OP_READ, len, addr, buf, &sense);
		note_resets(a, &sense);
	}
	return finish(ASM_OP_READ, addr, n, len, &sense);
}

int asm_write(struct asm2x6x *a, uint16_t addr, uint8_t value)
{
	struct scsi_sense sense;
	int n = exec(a, ASM_OP_WRITE, value, addr, NULL, &sense);

	note_resets(a, &sense);
	if (n == -EIO && sense.key == KEY_ATTENTION)
		return -EAGAIN;
	return finish(ASM_OP_WRITE, addr, n, 0, &sense);
}

int asm_restore(struct asm2x6x *a)
{
	if (!a->lost || a->restoring)
		return 0;
	a->restoring = true;
	a->lost = false;
	int err = asm_check_link(a);

	if (!err && a->hops)
		err = asm_path_again(a);
	if (!err && a->hops)
		err = asm_check_card(a);
	a->restoring = false;
	a->lost |= err != 0;
	return err;
}

/* ---- configuration space ---- */

static int config(struct asm2x6x *a, struct asm_where at, unsigned reg, unsigned size, bool write,
        uint32_t *value, enum asm_outcome *outcome)
{
	unsigned shift = 8 * (reg & 3);
	uint32_t mask = size == 4 ? 0xFFFFFFFFu : (1u << 8 * size) - 1;
	struct asm_tlp t = {.type = (uint8_t)((write ? TYPE_CONFIG_WRITE : TYPE_CONFIG_READ) |
	                                      (at.bus ? TYPE_CONFIG_1 : 0)),
	        .byte_enables = (uint8_t)(((1u << size) - 1) << (reg & 3)),
	        .addr = (uint32_t)at.bus << 24 | (uint32_t)at.dev << 19 | (uint32_t)at.fn << 16 |
	                (reg & 0xFFCu),
	        .data = write ? (*value & mask) << shift : 0};
	int err = asm_request(a, &t);

	*outcome = t.outcome;
	if (!write)
		*value = !err && t.outcome == ASM_SUCCESS ? t.data >> shift & mask : mask;
	return err;
}

/* transport - errors of a command, after which a harmless request may be made once more. */
static bool transport(int err)
{
	return err == -EIO || err == -ETIMEDOUT;
}

int asm_cfg_read(struct asm2x6x *a, struct asm_where at, unsigned reg, unsigned size,
        uint32_t *value, enum asm_outcome *outcome)
{
	int err = config(a, at, reg, size, false, value, outcome);

	if (transport(err)) {
		a->info.retries++;
		err = config(a, at, reg, size, false, value, outcome);
	}
	return err;
}

int asm_cfg_write(struct asm2x6x *a, struct asm_where at, unsigned reg, unsigned size,
        uint32_t value, enum asm_outcome *outcome)
{
	return config(a, at, reg, size, true, &value, outcome);
}

static struct asm_where card(const struct asm2x6x *a)
{
	return (struct asm_where){.bus = a->bus, .dev = a->dev};
}

bool asm_link_up(uint8_t ltssm)
{
	return ltssm == 0x48 || ltssm == 0x78; /* bridge.md 3.6 */
}

int asm_check_link(struct asm2x6x *a)
{
	uint8_t ltssm;

	if (a->chip != ASM_246X) /* where the others show it is not known */
		return 0;
	int err = asm_read(a, ASM_LTSSM, &ltssm, 1);

	if (err || asm_link_up(ltssm))
		return err;
	return rx_fail("bridge", -ENODEV,
	        "the PCIe link is down (LTSSM %02x, 48 or 78 expected): power the card before the "
	        "enclosure gets USB power, and check the adapter's cables",
	        ltssm);
}

int asm_check_card(struct asm2x6x *a)
{
	enum asm_outcome o;
	uint32_t id;
	int err = asm_cfg_read(a, card(a), 0, 4, &id, &o);

	if (err || (o == ASM_SUCCESS && id == a->id))
		return err;
	err = asm_check_link(a);
	if (err)
		return err;
	if (o != ASM_SUCCESS)
		return rx_fail("bridge", -ENODEV,
		        "the card does not answer configuration reads any more: %s",
		        asm_outcome_words(o));
	return rx_fail("bridge", -ENODEV,
	        "the card's vendor and device id read 0x%08x instead of 0x%08x", id, a->id);
}

/* failed - @t came to no good end: is it the request, or is the card gone? */
static int failed(struct asm2x6x *a, const struct asm_tlp *t, const char *what)
{
	int err = t->outcome == ASM_SUCCESS ? 0 : asm_check_card(a);

	if (err || t->outcome == ASM_SUCCESS)
		return err;
	return rx_fail("bridge", t->outcome == ASM_NO_ANSWER ? -ETIMEDOUT : -EIO,
	        "%s at PCIe address 0x%llx: %s", what, (unsigned long long)t->addr,
	        asm_outcome_words(t->outcome));
}

static int config_op(struct bridge *b, unsigned reg, unsigned size, bool write, uint32_t *value)
{
	struct asm2x6x *a = self(b);
	enum asm_outcome o;

	if ((size != 1 && size != 2 && size != 4) || reg % size || reg >= 4096)
		return -EINVAL;
	int err = write ? asm_cfg_write(a, card(a), reg, size, *value, &o)
	                : asm_cfg_read(a, card(a), reg, size, value, &o);

	if (err || o == ASM_SUCCESS)
		return err;
	err = asm_check_card(a);
	return err ? err
	           : rx_fail("bridge", -EIO, "configuration %s at 0x%03x: %s",
	                     write ? "write" : "read", reg, asm_outcome_words(o));
}

static int cfg_read(struct bridge *b, unsigned reg, unsigned size, uint32_t *value)
{
	return config_op(b, reg, size, false, value);
}

static int cfg_write(struct bridge *b, unsigned reg, unsigned size, uint32_t value)
{
	return config_op(b, reg, size, true, &value);
}

/* ---- memory ---- */

/* memory - one TLP inside one dword. @data: lanes as on the bus. */
static int memory(
        struct asm2x6x *a, uint64_t addr, uint8_t byte_enables, bool write, struct asm_tlp *t)
{
	unsigned wide = addr >> 32 ? TYPE_WIDE : 0;

	*t = (struct asm_tlp){
	        .type = (uint8_t)((write ? TYPE_MEMORY_WRITE : TYPE_MEMORY_READ) | wide),
	        .byte_enables = byte_enables,
	        .addr = addr & ~3ull,
	        .data = t->data};
	return asm_request(a, t);
}

/* check_reach - 32-bit addresses only where nobody has shown more. */
static int check_reach(const struct asm2x6x *a, uint64_t addr, size_t len)
{
	if (range_ok(addr, len, REACH_END) || (a->wide && range_ok(addr, len, UINT64_MAX)))
		return 0;
	return rx_fail("bridge", -EINVAL,
	        "PCIe address 0x%llx is out of reach: this bridge does 32 bits",
	        (unsigned long long)addr);
}

static int mem_read32(struct bridge *b, uint64_t addr, uint32_t *value)
{
	struct asm2x6x *a = self(b);
	struct asm_tlp t = {0};

	if (addr % 4)
		return -EINVAL;
	int err = check_reach(a, addr, 4);

	if (!err)
		err = memory(a, addr, ALL_BYTES, false, &t);
	if (!err)
		err = failed(a, &t, "read");
	*value = t.data;
	return err;
}

static int mem_write32(struct bridge *b, uint64_t addr, uint32_t value)
{
	struct asm2x6x *a = self(b);
	struct asm_tlp t = {.data = value};

	if (addr % 4)
		return -EINVAL;
	int err = check_reach(a, addr, 4);

	return err ? err : memory(a, addr, ALL_BYTES, true, &t);
}

/* A run of bytes, cut into dwords: @n bytes from lane @lane on. */
struct piece {
	unsigned lane, n;
	uint8_t byte_enables;
};

static struct piece cut(uint64_t addr, size_t len)
{
	unsigned lane = addr & 3, n = (unsigned)MIN(len, (size_t)(4 - lane));

	return (struct piece){lane, n, (uint8_t)(((1u << n) - 1) << lane)};
}

static int read_piece(struct asm2x6x *a, uint64_t addr, struct piece c, uint8_t *out)
{
	struct asm_tlp t = {0};
	uint8_t lanes[4];
	int err = memory(a, addr, c.byte_enables, false, &t);

	if (transport(err) || (!err && t.outcome == ASM_NO_ANSWER)) { /* memory: bridge.h */
		a->info.retries++;
		err = memory(a, addr, c.byte_enables, false, &t);
	}
	if (!err)
		err = failed(a, &t, "read");
	put_le32(lanes, t.data);
	memcpy(out, lanes + c.lane, c.n);
	return err;
}

static int write_piece(struct asm2x6x *a, uint64_t addr, struct piece c, const uint8_t *in)
{
	uint8_t lanes[4] = {0};
	struct asm_tlp t;

	memcpy(lanes + c.lane, in, c.n);
	t.data = get_le32(lanes);
	return memory(a, addr, c.byte_enables, true, &t);
}

/* maybe_yield - long transfers only: bridge.h. */
static void maybe_yield(struct bridge *b, bool is_long, size_t done, size_t left, unsigned n)
{
	if (is_long && left && done / YIELD_BYTES != (done + n) / YIELD_BYTES)
		bridge_yield(b);
}

static int mem_read(struct bridge *b, uint64_t addr, void *buf, size_t len)
{
	bool is_long = len > BRIDGE_SHORT_BYTES;
	uint8_t *p = buf;
	int err = check_reach(self(b), addr, len);

	for (size_t done = 0; !err && done < len;) {
		struct piece c = cut(addr + done, len - done);

		err = read_piece(self(b), addr + done, c, p + done);
		if (!err)
			maybe_yield(b, is_long, done, len - done - c.n, c.n);
		done += c.n;
	}
	return err;
}

/* lost_write - posted writes have no completion; only the engine's error bit tells. */
static int lost_write(struct asm2x6x *a, uint64_t addr)
{
	bool error;
	int err = asm_status_error(a, &error);

	if (err || !error)
		return err;
	err = asm_check_card(a);
	return err ? err
	           : rx_fail("bridge", -EIO,
	                     "the bridge reports an error after a write up to PCIe address 0x%llx",
	                     (unsigned long long)addr);
}

static int mem_write(struct bridge *b, uint64_t addr, const void *buf, size_t len)
{
	bool is_long = len > BRIDGE_SHORT_BYTES;
	const uint8_t *p = buf;
	int err = check_reach(self(b), addr, len);

	for (size_t done = 0; !err && done < len;) {
		struct piece c = cut(addr + done, len - done);

		err = write_piece(self(b), addr + done, c, p + done);
		if (!err)
			maybe_yield(b, is_long, done, len - done - c.n, c.n);
		done += c.n;
	}
	return err || !len ? err : lost_write(self(b), addr + len);
}

/* ---- the rest ---- */

static int heartbeat(struct bridge *b)
{
	return asm_check_card(self(b));
}

static void read_info(const struct bridge *b, struct bridge_info *out)
{
	*out = ((const struct asm2x6x *)b)->info;
}

static void free_bridge(struct bridge *b)
{
	asm_path_close(self(b));
	scsi_free(b->scsi);
	free(self(b));
}

static const struct bridge_ops asm2x6x_ops = {
        .cfg_read = cfg_read,
        .cfg_write = cfg_write,
        .mem_read32 = mem_read32,
        .mem_write32 = mem_write32,
        .mem_read = mem_read,
        .mem_write = mem_write,
        .heartbeat = heartbeat,
        .read_info = read_info,
        .free = free_bridge,
};

static int read_where(struct bridge *b, struct asm_where at, unsigned reg, uint32_t *value)
{
	enum asm_outcome o;
	int err = asm_cfg_read(self(b), at, reg, 4, value, &o);

	if (!err && o != ASM_SUCCESS && o != ASM_UNSUPPORTED)
		err = rx_fail("bridge", -EIO, "configuration read of %02x:%02x.%u: %s", at.bus,
		        at.dev, at.fn, asm_outcome_words(o));
	return err;
}

int asm2x6x_function_read(struct bridge *b, unsigned fn, unsigned reg, uint32_t *value)
{
	struct asm_where at;

	if (b->ops != &asm2x6x_ops || fn > 7 || reg % 4 || reg >= 4096)
		return -EINVAL;
	at = card(self(b));
	at.fn = (uint8_t)fn;
	return read_where(b, at, reg, value);
}

int asm2x6x_port_read(struct bridge *b, unsigned reg, uint32_t *value)
{
	if (b->ops != &asm2x6x_ops || reg % 4 || reg >= 4096)
		return -EINVAL;
	return read_where(b, (struct asm_where){0}, reg, value);
}

unsigned asm2x6x_card_bus(const struct bridge *b)
{
	return b->ops == &asm2x6x_ops ? ((const struct asm2x6x *)b)->bus : 0;
}

static void fill_info(struct asm2x6x *a)
{
	struct bridge_info *i = &a->info;

	i->errors_visible = true;
	i->reach_start = REACH_START;
	i->reach_end = REACH_END;
	i->wide_start = a->wide ? WIDE_START : 0;
	i->wide_end = a->wide ? WIDE_END : 0;
}

int asm2x6x_open(struct bridge **out, struct scsi *scsi, const struct bridge_hooks *hooks,
        enum asm_chip chip, const uint8_t version[ASM_VERSION_BYTES])
{
	struct asm2x6x *a = calloc(1, sizeof(*a));
	struct scsi_counters c;

	if (!a)
		return -ENOMEM;
	scsi_read_counters(scsi, &c);
	a->b = (struct bridge){.ops = &asm2x6x_ops, .scsi = scsi, .hooks = *hooks};
	a->chip = chip;
	a->seen_resets = c.resets;
	snprintf(a->info.family, sizeof(a->info.family), "%s",
	        chip == ASM_246X ? "asm246x" : "asm236x");
	asm_version_text(a->info.firmware, version);
	int err = asm_check_link(a);

	if (!err)
		err = asm_path_open(a);
	if (err) {
		asm_path_close(a);
		free(a);
		return err;
	}
	fill_info(a);
	rx_log(LOG_INFO, "bridge", "%s, firmware %s, card at bus %u", a->info.family,
	        a->info.firmware, a->bus);
	*out = &a->b;
	return 0;
}
