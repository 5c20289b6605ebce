/* asm2x6x.c - PCIe transactions through the vendor commands of an ASMedia ASM236x or ASM246x with
 * stock firmware (bridge.md 3). One dword a TLP, about ten commands a TLP; failures are reported.
 */
#include "device/bridge/asm2x6x_priv.h"

#include <stdio.h>
#include <stdlib.h>

#include "device/bytes.h"
#include "device/err.h"

/* bridge.md 3.5, 4.5: what the bridge answers itself lies below; windows of asm2x6x_path.c */
#define REACH_START 0x10000000ull
#define WIDE_START  0x800000000ull
#define WIDE_END    (1ull << 40)

static struct asm2x6x *self(struct bridge *b)
{
	return (struct asm2x6x *)b;
}

#define REQUEST_BYTES 4096u /* 2.6 s on the modelled link */

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
	if (c.resets == a->seen_resets && sense->key != ASM_KEY_ATTENTION)
		return false;
	a->seen_resets = c.resets;
	a->known = 0;
	a->lost = true;
	return true;
}

static int finish(struct asm2x6x *a, uint8_t op, uint16_t addr, int n, int want,
        const struct scsi_sense *sense)
{
	if (n == want)
		return 0;
	if (n >= 0)
		return rx_fail("bridge", -EIO, "%02X at 0x%04x: %d of %d bytes", op, addr, n, want);
	if (n == -EIO && sense->key) {
		a->info.refusals++;
		rx_log(LOG_ERROR, "bridge", "%02X at 0x%04x: refused with sense %x/%02x/%02x", op,
		        addr, sense->key, sense->asc, sense->ascq);
	}
	return n;
}

int asm_read(struct asm2x6x *a, uint16_t addr, void *buf, uint8_t len)
{
	struct scsi_sense sense;
	int n = exec(a, ASM_OP_READ, len, addr, buf, &sense);
	bool reset = note_resets(a, &sense);
	bool attention = n < 0 && sense.key == ASM_KEY_ATTENTION;

	/* reads change nothing */
	if (attention || (!reset && asm_transport(n) && !sense.key)) {
		a->info.retries += !attention;
		n = exec(a, ASM_OP_READ, len, addr, buf, &sense);
		note_resets(a, &sense);
	}
	return finish(a, ASM_OP_READ, addr, n, len, &sense);
}

int asm_write(struct asm2x6x *a, uint16_t addr, uint8_t value)
{
	struct scsi_sense sense;
	int n = exec(a, ASM_OP_WRITE, value, addr, NULL, &sense);

	note_resets(a, &sense);
	if (n == -EIO && sense.key == ASM_KEY_ATTENTION)
		return -EAGAIN;
	return finish(a, ASM_OP_WRITE, addr, n, 0, &sense);
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
	if (!err)
		err = bridge_recheck(&a->b);
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
	struct asm_tlp t = {.type = (uint8_t)(ASM_TYPE_CONFIG | (write ? ASM_TYPE_WRITE : 0) |
	                                      (at.bus ? ASM_TYPE_CONFIG_1 : 0)),
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

int asm_cfg_read(struct asm2x6x *a, struct asm_where at, unsigned reg, unsigned size,
        uint32_t *value, enum asm_outcome *outcome)
{
	int err = config(a, at, reg, size, false, value, outcome);

	if (asm_transport(err)) {
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

int asm_failed(struct asm2x6x *a, const struct asm_tlp *t, const char *what)
{
	int err = t->outcome == ASM_SUCCESS ? 0 : asm_check_card(a);

	if (!err && t->outcome != ASM_SUCCESS)
		err = bridge_recheck(&a->b);
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
	int err = write ? asm_cfg_write(a, asm_card(a), reg, size, *value, &o)
	                : asm_cfg_read(a, asm_card(a), reg, size, value, &o);

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

/* function_read - bridge.md 3.4: a function that is not there ends in UR, config() makes it ones.
 */
static int function_read(struct bridge *b, unsigned fn, unsigned reg, uint32_t *value)
{
	struct asm_where at = asm_card(self(b));
	enum asm_outcome o;

	at.fn = (uint8_t)fn;
	int err = asm2x6x_try_cfg(b, at, reg, value, &o);

	return !err && o == ASM_NO_ANSWER ? asm_check_card(self(b)) : err;
}

static int cfg_write(struct bridge *b, unsigned reg, unsigned size, uint32_t value)
{
	return config_op(b, reg, size, true, &value);
}

/* ---- the rest ---- */

static int cfg_write_whole(struct bridge *b, unsigned reg, uint32_t value)
{
	return cfg_write(b, reg, 4, value); /* always one TLP: bridge.md 3.4 */
}

static int heartbeat(struct bridge *b)
{
	int err = asm_check_card(self(b));

	return err ? err : bridge_recheck(b);
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
        .function_read = function_read,
        .cfg_write_whole = cfg_write_whole,
        .mem_read32 = asm_mem_read32,
        .mem_write32 = asm_mem_write32,
        .mem_read = asm_mem_read,
        .mem_write = asm_mem_write,
        .heartbeat = heartbeat,
        .look_at_link = asm_look_at_link,
        .read_info = read_info,
        .free = free_bridge,
};

int asm2x6x_try_cfg(struct bridge *b, struct asm_where at, unsigned reg, uint32_t *value,
        enum asm_outcome *outcome)
{
	if (reg % 4 || reg >= 4096 || at.fn > 7)
		return -EINVAL;
	return asm_cfg_read(self(b), at, reg, 4, value, outcome);
}

int asm2x6x_try_read(struct bridge *b, uint64_t addr, uint32_t *value, enum asm_outcome *outcome)
{
	struct asm_tlp t = {0};
	int err = asm_mem_try(self(b), addr, &t);

	*value = t.data;
	*outcome = t.outcome;
	return err;
}

struct asm_where asm2x6x_card(const struct bridge *b)
{
	return asm_card((const struct asm2x6x *)b);
}

int asm2x6x_attach(struct bridge **out, struct scsi *scsi, const struct bridge_hooks *hooks,
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
	a->info.errors_visible = true;
	a->info.ability_function_1 = true; /* bridge.md 3.5: the engine takes any function */
	a->info.request_bytes = REQUEST_BYTES;
	a->info.reach_start = REACH_START;
	a->info.reach_end = ASM_REACH_END;
	snprintf(a->info.family, sizeof(a->info.family), "%s",
	        chip == ASM_246X ? "asm246x" : "asm236x");
	asm_version_text(a->info.firmware, version);
	int err = asm_check_link(a);

	if (err) {
		free(a);
		return err;
	}
	*out = &a->b;
	return 0;
}

int asm2x6x_find_card(struct bridge *b)
{
	struct asm2x6x *a = self(b);
	int err = asm_path_open(a);

	if (err) {
		asm_path_close(a);
		return err;
	}
	a->info.wide_start = a->wide ? WIDE_START : 0;
	a->info.wide_end = a->wide ? WIDE_END : 0;
	rx_log(LOG_INFO, "bridge", "%s, firmware %s, card at %02x:%02x.0", a->info.family,
	        a->info.firmware, a->bus, a->dev);
	return 0;
}
