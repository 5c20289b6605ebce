/* rtl921x.c - PCIe transactions through the vendor commands of an RTL921x with stock firmware
 * (bridge.md 2). Errors of TLPs are invisible here: a read that failed returns old data with good
 * status. The canary below is the only defence.
 */
#include <stdlib.h>
#include <string.h>

#include "device/bridge/rtl921x_priv.h"
#include "device/bytes.h"
#include "device/core/mutants.h"
#include "device/err.h"

#define SENSE_ILLEGAL  0x05 /* bridge.md 2.5: 5/20/00 */
#define ASC_BAD_OPCODE 0x20
#define CANARY_INTERVAL                                                                            \
	256 /* memory commands between two looks at the vendor id: bridge.md 7.4                   \
	     */

static struct rtl921x *self(struct bridge *b)
{
	return (struct rtl921x *)b;
}

void rtl_build_cdb(uint8_t cdb[RTL_CDB_BYTES], uint8_t op, uint8_t sub, uint32_t addr, uint32_t len)
{
	memset(cdb, 0, RTL_CDB_BYTES);
	cdb[0] = op;
	cdb[4] = sub;
	put_le32(cdb + 8, addr);
	put_le32(cdb + 12, len);
}

static bool needs_device(uint8_t op, uint8_t sub)
{
	return op == RTL_OP_READ ? sub == RTL_CFG_READ || sub == RTL_MEM_READ
	                         : sub == RTL_CFG_WRITE || sub == RTL_MEM_WRITE;
}

/* repeatable - reads that change nothing (bridge.md 1.3, retry policy). A dword memory read may be
 * a register. */
static bool repeatable(uint8_t op, uint8_t sub, uint32_t len)
{
	return op == RTL_OP_READ && (sub != RTL_MEM_READ || len != 4);
}

/* count_tlps - how the slots of the raw engine moved: the firmware sends its own TLPs through them
 * (bridge.md 2.9). */
static void count_tlps(struct rtl_engine *e, uint8_t sub, uint32_t addr, uint32_t len)
{
	bool one = (len == 4 && addr % 4 == 0) || (len == 2 && addr % 2 == 0);
	unsigned tlps = one ? 1 : len;

	if (e->next < 0)
		return;
	if (sub == RTL_CFG_READ || sub == RTL_CFG_WRITE)
		for (unsigned i = 0; i < MIN(tlps, 4u); i++)
			e->memory[((unsigned)e->next + i) % 4] = false;
	e->next = (int)(((unsigned)e->next + tlps) % 4);
}

int rtl_unlock(struct rtl921x *r)
{
	uint8_t header[RTL_MAIN_HEADER_BYTES];

	return rtl_exec(
	        r, RTL_OP_READ, RTL_READ_MEMORY, RTL_MAIN_HEADER, header, sizeof(header), false);
}

static void log_refusal(
        uint8_t op, uint8_t sub, uint32_t addr, uint32_t len, const struct scsi_sense *s)
{
	rx_log(LOG_ERROR, "bridge",
	        "%02X/%02X at 0x%08x, %u bytes: refused with sense %x/%02x/%02x", op, sub, addr,
	        len, s->key, s->asc, s->ascq);
}

/* restore_after_reset - a port reset may have cost the bridge its state (bridge.md 1.3). */
static int restore_after_reset(struct rtl921x *r)
{
	struct scsi_counters c;

	scsi_read_counters(r->b.scsi, &c);
	if (r->restoring || c.resets == r->seen_resets)
		return 0;
	r->seen_resets = c.resets;
	r->restoring = true; /* a reset meanwhile is for the next command to notice */
	int err = rtl_setup(r);

	if (!err) /* enumerated anew, the card may be elsewhere: bridge.md 2.14 */
		err = bridge_recheck(&r->b);
	r->restoring = false;
	return err;
}

/* send_once - the command as it is. Less data than asked for is a transport failure: vendor
 * commands move all of it or are refused (bridge.md 1.4). */
static int send_once(
        struct rtl921x *r, const uint8_t *cdb, void *buf, uint32_t len, struct scsi_sense *sense)
{
	enum scsi_dir dir = cdb[0] == RTL_OP_READ ? SCSI_IN : SCSI_OUT;
	int n = scsi_exec(r->b.scsi, cdb, RTL_CDB_BYTES, dir, buf, len, RTL_TIMEOUT_MS, sense);

	if (n < 0 || n == (int)len)
		return n;
	return rx_fail("bridge", -EIO, "%02X/%02X at 0x%08x: %d of %u bytes", cdb[0], cdb[4],
	        get_le32(cdb + 8), n, len);
}

/* send_with_retry - the command with its one permitted repetition: a refused write that was not
 * executed, a read that changes nothing. */
static int send_with_retry(
        struct rtl921x *r, const uint8_t *cdb, void *buf, uint32_t len, struct scsi_sense *sense)
{
	uint8_t op = cdb[0], sub = cdb[4];
	int n = send_once(r, cdb, buf, len, sense);

	if (n == -EIO && sense->key == SENSE_ILLEGAL && sense->asc == ASC_BAD_OPCODE &&
	        op == RTL_OP_WRITE && rx_mutant != RX_MUTANT_NO_UNLOCK) {
		/* refused, so it was not executed: the bridge may have locked E3 again
		 * (bridge.md 2.7) */
		int err = rtl_unlock(r);

		r->info.unlocks++;
		if (err)
			return err;
		n = send_once(r, cdb, buf, len, sense);
	} else if ((n == -EIO || n == -ETIMEDOUT) && sense->key == 0 && repeatable(op, sub, len)) {
		r->info.retries++;
		if (needs_device(op, sub)) /* the first may have sent its TLPs, too */
			rtl_engine_forget(&r->engine);
		int err = restore_after_reset(r);

		n = err ? err : send_once(r, cdb, buf, len, sense);
	}
	return n;
}

int rtl_exec(struct rtl921x *r, uint8_t op, uint8_t sub, uint32_t addr, void *buf, uint32_t len,
        bool quiet)
{
	uint8_t cdb[RTL_CDB_BYTES];
	struct scsi_sense sense;

	rtl_build_cdb(cdb, op, sub, addr, len);
	const char *why = rtl_refusal(cdb);

	if (why)
		return rx_fail("bridge", -EPERM, "%02X/%02X at 0x%08x, %u bytes: %s", op, sub, addr,
		        len, why);
	int err = restore_after_reset(r);

	if (err)
		return err;
	if (needs_device(op, sub) && !r->device_present)
		return rx_fail("bridge", -ENODEV,
		        "no PCIe device behind the bridge: power the card before the enclosure");
	int n = send_with_retry(r, cdb, buf, len, &sense);

	if (n >= 0) {
		if (needs_device(op, sub))
			count_tlps(&r->engine, sub, addr, len);
		return 0;
	}
	rtl_engine_forget(&r->engine);
	if (n == -EIO && sense.key && !quiet) {
		r->info.refusals++;
		log_refusal(op, sub, addr, len, &sense);
	}
	return n;
}

/* ---- transactions ---- */

static int cfg_read(struct bridge *b, unsigned reg, unsigned size, uint32_t *value)
{
	uint8_t data[4] = {0};

	if ((size != 1 && size != 2 && size != 4) || reg % size)
		return -EINVAL;
	int err = rtl_exec(self(b), RTL_OP_READ, RTL_CFG_READ, reg, data, size, false);

	*value = get_le32(data);
	return err;
}

/* A dword goes as two halfwords, low half first: E3/33 of length 4 has the stray store
 * (bridge.md 2.9). */
static int cfg_write(struct bridge *b, unsigned reg, unsigned size, uint32_t value)
{
	uint8_t data[4];

	if ((size != 1 && size != 2 && size != 4) || reg % size)
		return -EINVAL;
	put_le32(data, value);
	int err = rtl_exec(self(b), RTL_OP_WRITE, RTL_CFG_WRITE, reg, data, MIN(size, 2u), false);

	if (!err && size == 4)
		err = rtl_exec(self(b), RTL_OP_WRITE, RTL_CFG_WRITE, reg + 2, data + 2, 2, false);
	return err;
}

/* A wrong id is read once more before the card is given up: one misread must not end a run. */
static int heartbeat(struct bridge *b)
{
	struct rtl921x *r = self(b);
	uint32_t id;
	int err = cfg_read(b, 0, 4, &id);

	if (!err && id != r->id)
		err = cfg_read(b, 0, 4, &id);
	r->since_canary = 0;
	if (err)
		return err;
	rtl_look_at_port(r);
	if (id != r->id)
		return rx_fail("bridge", -ENODEV,
		        "the card's vendor and device id read 0x%08x instead of 0x%08x: its link "
		        "is down",
		        id, r->id);
	return bridge_recheck(b);
}

/* to_offset - memory commands count from the BAR0 base the firmware keeps, modulo 2^32
 * (bridge.md 2.10). */
static int to_offset(struct rtl921x *r, uint64_t addr, size_t len, uint32_t *offset)
{
	if (!range_ok(addr, len, 1ull << 32))
		return rx_fail("bridge", -EINVAL,
		        "PCIe address 0x%llx is out of reach: this bridge does 32 bits",
		        (unsigned long long)addr);
	*offset = (uint32_t)(addr - r->info.window_base);
	return 0;
}

static int canary(struct rtl921x *r)
{
	return ++r->since_canary < CANARY_INTERVAL ? 0 : heartbeat(&r->b);
}

static int mem_read32(struct bridge *b, uint64_t addr, uint32_t *value)
{
	struct rtl921x *r = self(b);
	uint8_t data[4] = {0};
	uint32_t offset;

	if (addr % 4)
		return -EINVAL;
	int err = to_offset(r, addr, 4, &offset);

	if (!err)
		err = rtl_exec(r, RTL_OP_READ, RTL_MEM_READ, offset, data, sizeof(data), false);
	*value = get_le32(data);
	return err ? err : canary(r);
}

/* alias_fits - the stray store of a dword E3/34 goes to the CPU address that equals the offset:
 * harmless when that is SRAM (bridge.md 2.10). */
static bool alias_fits(const struct rtl921x *r, uint32_t offset)
{
	return r->info.ability_alias_write && offset >= RTL_SRAM &&
	       range_ok(offset - RTL_SRAM, 4, RTL_SRAM_BYTES);
}

static int mem_write32(struct bridge *b, uint64_t addr, uint32_t value)
{
	struct rtl921x *r = self(b);
	uint32_t offset;
	uint8_t data[4];

	if (addr % 4)
		return -EINVAL;
	int err = to_offset(r, addr, 4, &offset); /* the engine takes bus addresses; same reach */

	put_le32(data, value);
	if (!err && alias_fits(r, offset))
		err = rtl_exec(r, RTL_OP_WRITE, RTL_MEM_WRITE, offset, data, sizeof(data), false);
	else if (!err)
		err = rtl_engine_write(r, (uint32_t)addr, value);
	return err ? err : canary(r);
}

/* port_block - by the alias trick one at a time, else many between two looks at the canary. */
static int port_block(struct rtl921x *r, uint64_t addr, const uint32_t *values, size_t *count)
{
	uint32_t offset;
	int err = to_offset(r, addr, 4, &offset);

	if (err)
		return err;
	if (alias_fits(r, offset)) {
		*count = 1;
		return mem_write32(&r->b, addr, values[0]);
	}
	*count = MIN(*count, (size_t)CANARY_INTERVAL);
	err = rtl_engine_write_port(r, (uint32_t)addr, values, *count);
	return err ? err : heartbeat(&r->b);
}

static int mem_write_port(struct bridge *b, uint64_t addr, const uint32_t *values, size_t count)
{
	int err = 0;

	if (addr % 4)
		return -EINVAL;
	for (size_t at = 0, n; at < count && !err; at += n) {
		n = count - at;
		err = port_block(self(b), addr, values + at, &n);
	}
	return err;
}

static int mem_read(struct bridge *b, uint64_t addr, void *buf, size_t len)
{
	struct rtl921x *r = self(b);
	bool may_yield = len > RTL_MAX_CHUNK;
	uint8_t *p = buf;
	uint32_t offset;
	int err = to_offset(r, addr, len, &offset);

	while (!err && len) {
		uint32_t n = (uint32_t)MIN(len, RTL_MAX_CHUNK);

		err = rtl_exec(r, RTL_OP_READ, RTL_MEM_READ, offset, p, n, false);
		if (!err)
			err = canary(r);
		p += n;
		offset += n;
		len -= n;
		if (len && may_yield)
			bridge_yield(b);
	}
	return err;
}

/* write_chunk - how much of @len to send next so that no command has length 4 (bridge.md 2.10). */
static uint32_t write_chunk(const struct rtl921x *r, uint32_t offset, size_t len)
{
	uint32_t odd = offset % 4 ? 4 - offset % 4 : 0;

	if (rx_mutant == RX_MUTANT_LENGTH_FOUR)
		return (uint32_t)MIN(len, RTL_MAX_CHUNK);
	if (len == 4)
		return offset % 2 == 0 ? 2 : 3; /* two halfword TLPs, or three bytes and one */
	if (odd && len > odd &&
	        rtl_burst_bytes(r, (uint32_t)r->info.window_base + offset + odd, len - odd))
		return odd; /* and the rest in bursts */
	return (uint32_t)MIN(len, RTL_MAX_CHUNK);
}

static int mem_write(struct bridge *b, uint64_t addr, const void *buf, size_t len)
{
	struct rtl921x *r = self(b);
	bool may_yield = len > RTL_MAX_CHUNK; /* bridge.h: short runs stay together, however many
	                                         commands they take */
	const uint8_t *p = buf;
	uint8_t chunk[RTL_MAX_CHUNK]; /* scsi_exec takes no const */
	uint32_t offset;
	int err = to_offset(r, addr, len, &offset);

	while (!err && len) {
		uint32_t at = offset + (uint32_t)r->info.window_base;
		uint32_t n = rtl_burst_bytes(r, at, len);

		if (n) {
			err = rtl_burst_write(r, at, p, n);
		} else {
			n = write_chunk(r, offset, len);
			memcpy(chunk, p, n);
			err = rtl_exec(r, RTL_OP_WRITE, RTL_MEM_WRITE, offset, chunk, n, false);
		}
		if (!err)
			err = canary(r);
		p += n;
		offset += n;
		len -= n;
		if (len && may_yield)
			bridge_yield(b);
	}
	return err;
}

static void read_info(const struct bridge *b, struct bridge_info *out)
{
	*out = ((const struct rtl921x *)b)->info;
}

static void free_bridge(struct bridge *b)
{
	scsi_free(b->scsi);
	free(self(b));
}

const struct bridge_ops rtl921x_ops = {
        .cfg_read = cfg_read,
        .cfg_write = cfg_write,
        .function_read = rtl_function_read,
        .cfg_write_whole = rtl_engine_config_write,
        .mem_read32 = mem_read32,
        .mem_write32 = mem_write32,
        .mem_write_port = mem_write_port,
        .mem_read = mem_read,
        .mem_write = mem_write,
        .heartbeat = heartbeat,
        .look_at_link = rtl_look_at_link,
        .read_info = read_info,
        .free = free_bridge,
};

void rtl921x_use_alias(struct bridge *b, bool on)
{
	if (b->ops == &rtl921x_ops)
		self(b)->info.ability_alias_write = on;
}

void rtl921x_use_functions(struct bridge *b, bool on)
{
	if (b->ops == &rtl921x_ops)
		self(b)->info.ability_function_1 = on;
}

void rtl921x_use_burst(struct bridge *b, unsigned dwords)
{
	if (b->ops == &rtl921x_ops)
		self(b)->info.ability_engine_burst =
		        dwords >= 2 && dwords <= RTL_ENGINE_MAX_DWORDS ? dwords : 0;
}

uint64_t rtl921x_alias_address(struct bridge *b)
{
	return b->ops == &rtl921x_ops ? (uint32_t)(self(b)->info.window_base + RTL_SRAM) : 0;
}
