/* rtl921x_engine.c - level 2, what bridge.md 7.1 K6 asks: the root complex's window, byte stores
 * into the raw engine, TLPs of many dwords, 64-bit addresses. What is not proven here the driver
 * does not use. All that is written is put back.
 */
#include <string.h>

#include "device/bridge/rtl921x.h"
#include "device/bytes.h"
#include "device/err.h"
#include "device/probe/probe_priv.h"

#define CFG_BAR0_HIGH 0x14
#define BURST_BYTES   1500u /* three rounds of four TLPs at 31 dwords: bridge.md 2.11 */
#define PIECE         128u  /* as much as a trace shows */

static bool step_root_complex(struct probe *p)
{
	struct bridge_info info;

	probe_step_begin(p, "10", "the bridge's own port", "fw", "bridge.md 2.12, 2.13");
	p->step->writes = true; /* which register is asked for */
	int err = p->bridge->ops->look_at_link(p->bridge);

	if (err)
		return probe_step_failed(p, err);
	p->bridge->ops->read_info(p->bridge, &info);
	const struct bridge_link *l = &info.link;

	p->out->link_speed = l->speed;
	p->out->link_width = l->width;
	probe_step_value(p, "link %s, generation %u x%u of %u x%u", l->up ? "up" : "down", l->speed,
	        l->width, l->max_speed, l->max_width);
	bool sane = l->speed >= 1 && l->speed <= l->max_speed && l->width >= 1 &&
	            l->width <= l->max_width;

	return probe_step_end(p, sane ? PROBE_AS_EXPECTED : PROBE_NOTED,
	               sane ? NULL : "no link speaks like that; nothing depends on it") &&
	       probe_rtl_heartbeat(p);
}

static bool step_byte_stores(struct probe *p)
{
	bool ok = false;

	probe_step_begin(p, "10", "byte stores into the raw engine", "inf", "bridge.md 2.11");
	p->step->writes = true;
	int err = rtl921x_byte_stores(p->bridge, &ok);

	if (err)
		return probe_step_failed(p, err);
	p->out->byte_stores = ok ? PROBE_PROVEN : PROBE_NO;
	probe_step_value(p, "8 bytes %s", ok ? "arrive" : "do not arrive");
	return probe_step_end(p, PROBE_AS_EXPECTED,
	               ok ? "one command can fill whole slots"
	                  : "as is probable; every dword of a slot takes a command of its own") &&
	       probe_rtl_heartbeat(p);
}

/* Reads in pieces that a trace shows. */
static int read_vram(struct probe *p, uint8_t *buf, size_t len)
{
	int err = 0;

	for (size_t done = 0; done < len && !err; done += PIECE)
		err = p->bridge->ops->mem_read(p->bridge, p->base + RTL_PROBE_VRAM + done,
		        buf + done, MIN(len - done, (size_t)PIECE));
	return err;
}

static int write_vram(struct probe *p, const uint8_t *buf, size_t len)
{
	return p->bridge->ops->mem_write(p->bridge, p->base + RTL_PROBE_VRAM, buf, len);
}

static void make_pattern(uint8_t *pattern, size_t len, unsigned seed)
{
	for (unsigned i = 0; i < len; i++)
		pattern[i] = (uint8_t)(i * 13 + i / 64 + seed);
}

/* One TLP by itself, its data put dword by dword. A request without completion is an answer, too:
 * no. */
static int try_long(struct probe *p, unsigned dwords, bool *ok)
{
	uint8_t pattern[4 * RTL_ENGINE_MAX_DWORDS], now[sizeof(pattern)];

	make_pattern(pattern, sizeof(pattern), dwords);
	*ok = false;
	int err = rtl921x_long_write(p->bridge, p->base + RTL_PROBE_VRAM, pattern, dwords);

	if (err)
		return err == -ETIMEDOUT ? 0 : err;
	err = read_vram(p, now, sizeof(now));
	*ok = !err && !memcmp(now, pattern, 4 * dwords);
	return err;
}

/* Runs of them, four slots at a time. The bridge gives them up when the slots surprise it. */
static int try_burst(struct probe *p, unsigned dwords, bool *ok)
{
	static uint8_t pattern[BURST_BYTES], now[BURST_BYTES];
	struct bridge_info info;

	make_pattern(pattern, sizeof(pattern), 100 + dwords);
	rtl921x_use_burst(p->bridge, dwords);
	int err = write_vram(p, pattern, sizeof(pattern));

	p->bridge->ops->read_info(p->bridge, &info);
	rtl921x_use_burst(p->bridge, 0);
	if (!err)
		err = read_vram(p, now, sizeof(now));
	*ok = !err && info.ability_engine_burst == dwords && !memcmp(now, pattern, sizeof(now));
	return err;
}

/* try_lengths - @most: the longest that was ok. The first that is not ends it. */
static int try_lengths(struct probe *p, int (*try_one)(struct probe *, unsigned, bool *),
        unsigned limit, unsigned *most)
{
	static const unsigned lengths[] = {2, 4, 8, 16, 31};
	bool ok = true;
	int err = 0;

	*most = 0;
	for (size_t i = 0; i < ARRAY_SIZE(lengths) && ok && lengths[i] <= limit; i++) {
		err = try_one(p, lengths[i], &ok);
		probe_step_value(p, "%s%u %s", i ? ", " : "", lengths[i], ok ? "ok" : "no");
		if (ok)
			*most = lengths[i];
	}
	probe_step_value(p, " (dwords)");
	return err;
}

static bool step_long_tlp(struct probe *p, unsigned *most)
{
	uint8_t before[4 * RTL_ENGINE_MAX_DWORDS];

	probe_step_begin(p, "11", "a TLP of many dwords", "inf", "bridge.md 2.11");
	p->step->writes = true;
	int err = read_vram(p, before, sizeof(before));

	if (err)
		return probe_step_failed(p, err);
	err = try_lengths(p, try_long, RTL_ENGINE_MAX_DWORDS, most);
	int back = write_vram(p, before, sizeof(before));

	if (err || back)
		return probe_step_failed(p, err ? err : back);
	p->out->long_tlp = *most;
	return probe_step_end(p, PROBE_AS_EXPECTED,
	               *most ? "more than the firmware ever asks of it" : "one dword it is") &&
	       probe_rtl_heartbeat(p);
}

static bool step_burst(struct probe *p, unsigned limit)
{
	static uint8_t before[BURST_BYTES];

	probe_step_begin(p, "11", "bulk writes in bursts", "inf", "bridge.md 2.11");
	p->step->writes = true;
	int err = read_vram(p, before, sizeof(before));

	if (err)
		return probe_step_failed(p, err);
	err = try_lengths(p, try_burst, limit, &p->out->engine_burst);
	int back = write_vram(p, before, sizeof(before));

	if (err || back)
		return probe_step_failed(p, err ? err : back);
	return probe_step_end(p, PROBE_AS_EXPECTED,
	               p->out->engine_burst ? "3 commands for up to 496 bytes"
	                                    : "bulk writes stay with one byte a TLP") &&
	       probe_rtl_heartbeat(p);
}

/* Each only after the one it builds on, and VRAM only after POST: bridge.md 7.2 step 11. */
static bool steps_long(struct probe *p)
{
	unsigned most = 0;

	if (!p->out->posted)
		return true;
	if (!step_long_tlp(p, &most))
		return false;
	return !most || p->out->byte_stores != PROBE_PROVEN || step_burst(p, most);
}

/* BAR0 is above 4 GiB meanwhile, so that a bridge that drops the upper half hits nothing. */
static int try_wide(struct probe *p, uint32_t expected, bool *ok)
{
	const uint64_t at = (1ull << 32) + p->base + RTL_PROBE_VRAM;
	const uint32_t pattern = ~expected ^ 0x00580580;
	uint32_t now = 0;
	int err = rtl921x_read_wide(p->bridge, at, &now);

	*ok = !err && now == expected;
	if (!*ok)
		return err;
	err = rtl921x_write_wide(p->bridge, at, pattern);
	if (!err)
		err = rtl921x_read_wide(p->bridge, at, &now);
	*ok = !err && now == pattern;
	int back = rtl921x_write_wide(p->bridge, at, expected);

	return err ? err : back;
}

static bool step_wide(struct probe *p)
{
	uint32_t before = 0, after = 0;
	bool ok = false;

	if (!p->out->posted)
		return true;
	probe_step_begin(p, "11", "addresses above 4 GiB", "inf", "bridge.md 2.11");
	p->step->writes = true;
	int err = p->bridge->ops->mem_read32(p->bridge, p->base + RTL_PROBE_VRAM, &before);

	if (err)
		return probe_step_failed(p, err);
	err = probe_rtl_write_bar(p, CFG_BAR0_HIGH, 1, ~0u);
	if (!err)
		err = try_wide(p, before, &ok);
	int back = probe_rtl_write_bar(p, CFG_BAR0_HIGH, 0, ~0u);

	if (!back)
		back = p->bridge->ops->mem_read32(p->bridge, p->base + RTL_PROBE_VRAM, &after);
	if ((err && err != -ETIMEDOUT) || back)
		return probe_step_failed(p, back ? back : err);
	probe_step_value(p, "%s, afterwards %08x again", ok ? "reached" : "not reached", after);
	if (after != before)
		return probe_step_end(p, PROBE_SURPRISE, "the card's memory is not where it was");
	p->out->wide = ok ? PROBE_PROVEN : PROBE_NO;
	return probe_step_end(p, PROBE_AS_EXPECTED,
	               ok ? "BARs may lie there; BAR0 is back" : "BARs stay below; BAR0 is back") &&
	       probe_rtl_heartbeat(p);
}

bool probe_rtl_engine(struct probe *p)
{
	return step_root_complex(p) && step_byte_stores(p) && steps_long(p) && step_wide(p);
}
