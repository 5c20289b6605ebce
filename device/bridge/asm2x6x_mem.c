/* asm2x6x_mem.c - memory and registers of the card: one dword a TLP, about ten commands a TLP
 * (bridge.md 3.3, 3.4).
 */
#include <string.h>

#include "device/bridge/asm2x6x_priv.h"
#include "device/bytes.h"
#include "device/err.h"

#define ALL_BYTES   0xFu
#define YIELD_BYTES 64u /* of a long transfer between two yields: 16 TLPs, some 40 ms */

static struct asm2x6x *self(struct bridge *b)
{
	return (struct asm2x6x *)b;
}

/* memory - one TLP inside one dword. @data: lanes as on the bus. */
static int memory(
        struct asm2x6x *a, uint64_t addr, uint8_t byte_enables, bool write, struct asm_tlp *t)
{
	unsigned wide = addr >> 32 ? ASM_TYPE_WIDE : 0;

	*t = (struct asm_tlp){
	        .type = (uint8_t)(ASM_TYPE_MEMORY | (write ? ASM_TYPE_WRITE : 0) | wide),
	        .byte_enables = byte_enables,
	        .addr = addr & ~3ull,
	        .data = t->data};
	return asm_request(a, t);
}

/* check_reach - 32-bit addresses only where nobody has shown more. */
static int check_reach(const struct asm2x6x *a, uint64_t addr, size_t len)
{
	if (range_ok(addr, len, ASM_REACH_END) || (a->wide && range_ok(addr, len, UINT64_MAX)))
		return 0;
	return rx_fail("bridge", -EINVAL,
	        "PCIe address 0x%llx is out of reach: this bridge does 32 bits",
	        (unsigned long long)addr);
}

int asm_mem_try(struct asm2x6x *a, uint64_t addr, struct asm_tlp *t)
{
	if (addr % 4)
		return -EINVAL;
	int err = check_reach(a, addr, 4);

	return err ? err : memory(a, addr, ALL_BYTES, false, t);
}

int asm_mem_read32(struct bridge *b, uint64_t addr, uint32_t *value)
{
	struct asm2x6x *a = self(b);
	struct asm_tlp t = {0};
	int err = asm_mem_try(a, addr, &t);

	if (!err)
		err = asm_failed(a, &t, "read");
	*value = t.data;
	return err;
}

int asm_mem_write32(struct bridge *b, uint64_t addr, uint32_t value)
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

	if (asm_transport(err) || (!err && t.outcome == ASM_NO_ANSWER)) { /* memory: bridge.h */
		a->info.retries++;
		err = memory(a, addr, c.byte_enables, false, &t);
	}
	if (!err)
		err = asm_failed(a, &t, "read");
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

int asm_mem_read(struct bridge *b, uint64_t addr, void *buf, size_t len)
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
	if (!err)
		err = bridge_recheck(&a->b);
	return err ? err
	           : rx_fail("bridge", -EIO,
	                     "the bridge reports an error after a write up to PCIe address 0x%llx",
	                     (unsigned long long)addr);
}

int asm_mem_write(struct bridge *b, uint64_t addr, const void *buf, size_t len)
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
