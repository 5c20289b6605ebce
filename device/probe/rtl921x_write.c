/* rtl921x_write.c - bridge.md 7.2, steps 9, 10 and 12: the first writes, each undone or harmless,
 * each followed by a heartbeat. From step 10 on the driver's own bridge object does the work, so
 * that what is proven is what the driver will do.
 */
#include <string.h>

#include "device/bridge/rtl921x.h"
#include "device/bytes.h"
#include "device/err.h"
#include "device/probe/probe_priv.h"
#include "device/regs/regs.h"

#define CFG_COMMAND    0x04 /* bridge.md 4 */
#define CFG_BAR5       0x24
#define COMMAND_MEMORY 0x0002u
#define FUNCTION_1_ID  0xAAF01002u /* bridge.md 4.2 */
#define SRAM_WINDOWS   3u          /* all of it is free without a disk: bridge.md 2.17 */
#define SRAM_BYTES     128u        /* as much as a trace shows */
#define BAR5_BYTES     0x40000u    /* bridge.md 4.12 */
/* BIOS_SCRATCH_0: named for this by bridge.md 7.2; without a PC's BIOS nobody else writes it */
#define SCRATCH REG_BIOS_SCRATCH_0

/* ---- step 9 ---- */

bool probe_rtl_write_config(struct probe *p)
{
	uint8_t before[2], after[2];

	probe_step_begin(
	        p, "9", "first write: the command register, unchanged", "fw", "bridge.md 2.9");
	p->step->writes = true;
	int err = probe_rtl_vendor(p, RTL_OP_READ, RTL_CFG_READ, CFG_COMMAND, before, 2);

	if (!err)
		err = probe_rtl_vendor(p, RTL_OP_WRITE, RTL_CFG_WRITE, CFG_COMMAND, before, 2);
	if (!err)
		err = probe_rtl_vendor(p, RTL_OP_READ, RTL_CFG_READ, CFG_COMMAND, after, 2);
	if (err)
		return probe_step_failed(p, err);
	probe_step_value(p, "%04x, after writing it %04x", get_le16(before), get_le16(after));
	bool same = get_le16(before) == get_le16(after);

	return probe_step_end(p, same ? PROBE_AS_EXPECTED : PROBE_SURPRISE,
	               same ? NULL : "writing what was there has changed it") &&
	       probe_rtl_heartbeat(p);
}

/* ---- step 10 ---- */

static int mem_read32(struct probe *p, uint64_t addr, uint32_t *value)
{
	return p->bridge->ops->mem_read32(p->bridge, addr, value);
}

static int mem_write32(struct probe *p, uint64_t addr, uint32_t value)
{
	return p->bridge->ops->mem_write32(p->bridge, addr, value);
}

static bool step_driver(struct probe *p)
{
	static const struct bridge_hooks none;
	struct bridge_info info;

	probe_step_begin(p, "10", "the driver takes the bridge", "fw", "bridge.md 7.4");
	int err = bridge_open(&p->bridge, p->scsi, &none);

	if (err)
		return probe_step_failed(p, err);
	p->bridge->ops->read_info(p->bridge, &info);
	probe_step_value(p, "%s, firmware %s, base %08llx", info.family, info.firmware,
	        (unsigned long long)info.window_base);
	return info.window_base == p->base
	               ? probe_step_end(p, PROBE_AS_EXPECTED, NULL)
	               : probe_step_end(p, PROBE_SURPRISE, "BAR0 has moved since step 6");
}

/* write_and_look - two patterns, then what was there before. *ok: each read back as written. */
static int write_and_look(struct probe *p, uint64_t addr, bool *ok)
{
	static const uint32_t patterns[] = {0x52583538, 0xA5C3693C};
	uint32_t before, now;
	int err = mem_read32(p, addr, &before);

	*ok = true;
	if (err)
		return err;
	for (size_t i = 0; i < ARRAY_SIZE(patterns) && !err; i++) {
		err = mem_write32(p, addr, patterns[i]);
		if (!err)
			err = mem_read32(p, addr, &now);
		if (!err)
			probe_step_value(p, "%s%08x", i ? " " : "", now);
		*ok &= !err && now == patterns[i];
	}
	if (!err)
		err = mem_write32(p, addr, before);
	if (!err)
		err = mem_read32(p, addr, &now);
	*ok &= !err && now == before;
	return err;
}

static bool step_scratch(struct probe *p)
{
	bool ok;

	probe_step_begin(p, "10", "BIOS_SCRATCH_0 by the raw engine", "fw", "bridge.md 2.11");
	p->step->writes = true;
	int err = write_and_look(p, p->bar5 + SCRATCH, &ok);

	if (err)
		return probe_step_failed(p, err);
	return probe_step_end(p, ok ? PROBE_AS_EXPECTED : PROBE_SURPRISE,
	               ok ? "both patterns came back; the old value is restored"
	                  : "register writes do not arrive: the card cannot be driven") &&
	       probe_rtl_heartbeat(p);
}

/* A dword of the bridge's SRAM, or part of it, by the bridge's CPU. */
static int sram_read(struct probe *p, uint32_t addr, void *buf, uint32_t len)
{
	return probe_rtl_vendor(p, RTL_OP_READ, RTL_READ_MEMORY, addr, buf, len);
}

static int sram_write(struct probe *p, uint32_t addr, void *buf, uint32_t len)
{
	return probe_rtl_vendor(p, RTL_OP_WRITE, RTL_WRITE_REGISTER, addr, buf, len);
}

/* Three windows, the first and the last of the SRAM among them, all written before one is read: a
 * smaller SRAM seen several times would be found out. */
static int try_sram(struct probe *p, bool *same)
{
	static const uint32_t at[SRAM_WINDOWS] = {
	        RTL_SRAM, RTL_SRAM + 0x11000, RTL_SRAM + RTL_SRAM_BYTES - SRAM_BYTES};
	static uint8_t before[SRAM_WINDOWS][SRAM_BYTES], pattern[SRAM_WINDOWS][SRAM_BYTES];
	static uint8_t now[SRAM_BYTES];
	int err = 0;

	for (unsigned w = 0; w < SRAM_WINDOWS && !err; w++)
		err = sram_read(p, at[w], before[w], SRAM_BYTES);
	for (unsigned w = 0; w < SRAM_WINDOWS && !err; w++) {
		for (unsigned i = 0; i < SRAM_BYTES; i++)
			pattern[w][i] = (uint8_t)(i * 7 + i / 256 + 85 * w + 3);
		err = sram_write(p, at[w], pattern[w], SRAM_BYTES);
	}
	for (unsigned w = 0; w < SRAM_WINDOWS && !err; w++) {
		err = sram_read(p, at[w], now, SRAM_BYTES);
		*same &= !err && !memcmp(now, pattern[w], SRAM_BYTES);
	}
	for (unsigned w = 0; w < SRAM_WINDOWS && !err; w++)
		err = sram_write(p, at[w], before[w], SRAM_BYTES);
	return err;
}

static bool step_sram(struct probe *p)
{
	bool same = true;

	probe_step_begin(p, "10", "the bridge's SRAM, out and in", "inf", "bridge.md 2.17");
	p->step->writes = true;
	int err = try_sram(p, &same);

	if (err)
		return probe_step_failed(p, err);
	p->out->sram = same ? PROBE_PROVEN : PROBE_NO;
	probe_step_value(p, "%u windows of %u bytes in %u KiB %s", SRAM_WINDOWS, SRAM_BYTES,
	        RTL_SRAM_BYTES >> 10, same ? "came back" : "did not come back");
	return probe_step_end(p, same ? PROBE_AS_EXPECTED : PROBE_NOTED,
	               "by the bridge's own processor; whether the card's DMA gets there (PCIe "
	               "13200000, K9) stays unproven: that needs a card that runs") &&
	       probe_rtl_heartbeat(p);
}

/* Reads only, but the engine must be written to ask. */
static bool step_function_1(struct probe *p)
{
	uint32_t id = 0;

	probe_step_begin(p, "10", "function 1 by the raw engine", "inf", "bridge.md 2.11");
	p->step->writes = true;
	int err = rtl921x_function_read(p->bridge, 1, 0, &id);

	if (err)
		return probe_step_failed(p, err);
	probe_step_value(p, "%04x:%04x", id & 0xFFFF, id >> 16);
	p->out->function_1 = id == FUNCTION_1_ID ? PROBE_PROVEN : PROBE_NO;
	return probe_step_end(p, id == FUNCTION_1_ID ? PROBE_AS_EXPECTED : PROBE_NOTED,
	               id == FUNCTION_1_ID ? "the card's audio function"
	                                   : "1002:aaf0 was expected; nothing depends on it") &&
	       probe_rtl_heartbeat(p);
}

int probe_rtl_write_bar(struct probe *p, unsigned reg, uint32_t value, uint32_t mask)
{
	const struct bridge_ops *ops = p->bridge->ops;
	uint32_t command, now;
	int err = ops->cfg_read(p->bridge, CFG_COMMAND, 2, &command);

	if (!err)
		err = ops->cfg_write(p->bridge, CFG_COMMAND, 2, command & ~COMMAND_MEMORY);
	if (err)
		return err;
	err = ops->cfg_write(p->bridge, reg, 4, value);
	if (!err)
		err = ops->cfg_read(p->bridge, reg, 4, &now);
	int again = ops->cfg_write(p->bridge, CFG_COMMAND, 2, command);

	if (!err && !again && (now & mask) != (value & mask))
		err = rx_fail("probe", -EIO, "configuration dword 0x%02x reads 0x%08x, not 0x%08x",
		        reg, now, value);
	return err ? err : again;
}

static int move_bar5(struct probe *p, uint32_t to)
{
	return probe_rtl_write_bar(p, CFG_BAR5, to, ~0xFu);
}

/* try_alias - BAR5 is where the trick needs it. One dword by E3/34; the SRAM must have caught the
 * stray store, else it went where nobody knows. */
static int try_alias(struct probe *p, uint32_t bar5, bool *ok, bool *caught)
{
	uint8_t before[4], stray[4];
	const uint32_t at = RTL_SRAM + SCRATCH;
	uint32_t old, now;
	int err = mem_read32(p, bar5 + SCRATCH, &old);
	const uint32_t pattern = ~old ^ 0x00580580;

	if (!err)
		err = sram_read(p, at, before, sizeof(before));
	if (err)
		return err;
	rtl921x_use_alias(p->bridge, true);
	err = mem_write32(p, bar5 + SCRATCH, pattern);
	rtl921x_use_alias(p->bridge, false);
	if (!err)
		err = mem_read32(p, bar5 + SCRATCH, &now);
	if (!err)
		err = sram_read(p, at, stray, sizeof(stray));
	if (!err)
		err = sram_write(p, at, before, sizeof(before));
	if (!err)
		err = mem_write32(p, bar5 + SCRATCH, old); /* by the engine */
	if (err)
		return err;
	*ok = now == pattern;
	*caught = get_le32(stray) == pattern;
	probe_step_value(p, "%s, stray store %s", *ok ? "arrives" : "does not arrive",
	        *caught ? "caught by the SRAM" : "not seen in the SRAM");
	return 0;
}

static bool bars_clear_of(const struct probe_report *r, uint32_t to)
{
	/* BAR0 256 MiB, BAR2 2 MiB: bridge.md 4.12 */
	static const uint32_t sizes[6] = {0x10000000, 0, 0x200000};

	for (unsigned i = 0; i < 6; i++) {
		uint64_t start = r->bar[i] & ~0xFu;

		if (sizes[i] && start < (uint64_t)to + BAR5_BYTES && to < start + sizes[i])
			return false;
	}
	return to >= 0x20000000u && to % BAR5_BYTES == 0; /* bridge.md 4.5: bridge memory below */
}

static bool step_alias(struct probe *p)
{
	uint32_t to = (uint32_t)rtl921x_alias_address(p->bridge);
	bool ok = false, caught = false;

	probe_step_begin(p, "10", "the alias trick", "inf", "bridge.md 2.10");
	p->step->writes = true;
	probe_step_value(p, "BAR5 at %08x: ", to);
	if (!bars_clear_of(p->out, to)) {
		p->out->alias_write = PROBE_NO;
		return probe_step_end(p, PROBE_NOTED, "not tried: BAR5 cannot be placed there");
	}
	int err = move_bar5(p, to);

	if (!err)
		err = try_alias(p, to, &ok, &caught);
	int back = move_bar5(p, p->bar5);

	if (err || back)
		return probe_step_failed(p, err ? err : back);
	p->out->alias_write = ok && caught ? PROBE_PROVEN : PROBE_NO;
	return probe_step_end(p, ok && caught ? PROBE_AS_EXPECTED : PROBE_NOTED,
	               ok && caught ? "a register write in one command; BAR5 is back"
	                            : "register writes stay with the raw engine; BAR5 is back") &&
	       probe_rtl_heartbeat(p);
}

bool probe_rtl_write_card(struct probe *p)
{
	return step_driver(p) && step_scratch(p) && step_sram(p) && step_function_1(p) &&
	       probe_rtl_engine(p) && step_alias(p);
}
