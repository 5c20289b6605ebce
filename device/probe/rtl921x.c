/* rtl921x.c - bridge.md 7.2, steps 2 to 8: commands that only read. The flash header's read of
 * step 3 also lifts the bridge's lock on writes, which by itself changes nothing.
 */
#include <stdio.h>
#include <string.h>

#include "device/bridge/rtl921x.h"
#include "device/bytes.h"
#include "device/err.h"
#include "device/probe/probe_priv.h"
#include "device/regs/regs.h"

#define ENGINE_STATUS  0xB3310100u /* bridge.md 2.11 */
#define ENGINE_BUSY    0x80u
#define ENGINE_SLOT(v) ((v) >> 3 & 3)
#define SENSE_ILLEGAL  0x05 /* bridge.md 2.5 */
#define ASC_BAD_OPCODE 0x20
#define CFG_CLASS      0x08 /* bridge.md 4 */
#define CFG_BAR0       0x10
#define AMD            0x1002
#define POLARIS_10     0x67DF /* bridge.md 4.2 */
#define BAR_FLAGS      0xFu
#define ASIC_INIT_DONE 0x200u      /* BIOS_SCRATCH_7: polaris.md 1.5 */
#define UNCLAIMED      0x40000000u /* bridge.md 7.2 step 8 */
#define TIMED          1000u       /* bridge.md 7.2 step 7 */
#define LONGEST_ASKED  0x10000u    /* SG_IO may refuse more: bridge.md 1.6 */

int probe_rtl_vendor(
        struct probe *p, uint8_t op, uint8_t sub, uint32_t addr, void *buf, uint32_t len)
{
	uint8_t cdb[RTL_CDB_BYTES];

	rtl_build_cdb(cdb, op, sub, addr, len);
	const char *why = rtl_refusal(cdb);

	p->sense = (struct scsi_sense){0};
	if (why)
		return rx_fail("probe", -EPERM, "%02X/%02X at 0x%08x, %u bytes: %s", op, sub, addr,
		        len, why);
	int n = probe_exec(p, cdb, sizeof(cdb), op == RTL_OP_READ ? SCSI_IN : SCSI_OUT, buf, len);

	if (n < 0)
		return n;
	return n == (int)len ? 0 : -EIO;
}

static int ask(struct probe *p, uint8_t sub, uint32_t addr, void *buf, uint32_t len)
{
	return probe_rtl_vendor(p, RTL_OP_READ, sub, addr, buf, len);
}

static int ask32(struct probe *p, uint8_t sub, uint32_t addr, uint32_t *value)
{
	uint8_t data[4] = {0};
	int err = ask(p, sub, addr, data, sizeof(data));

	*value = get_le32(data);
	return err;
}

static bool refused(const struct probe *p, int err)
{
	return err == -EIO && p->sense.key == SENSE_ILLEGAL && p->sense.asc == ASC_BAD_OPCODE;
}

/* ---- step 2 ---- */

/* A6 is answered and 82 is not: the fallback image, which knows five commands and no PCIe
 * (bridge.md 2.8). */
static bool golden(struct probe *p)
{
	uint8_t v[20] = {0};
	int err = ask(p, RTL_VERSION, 0, v, sizeof(v));

	if (err)
		return probe_step_failed(p, err);
	snprintf(p->out->firmware, sizeof(p->out->firmware), "%u.%u.%u", get_le32(v),
	        get_le32(v + 4), get_le32(v + 8));
	probe_step_value(p, "A6 01, 82 refused, firmware %s", p->out->firmware);
	return probe_step_end(p, PROBE_SURPRISE,
	        "the bridge runs its fallback firmware, which cannot reach the card: its main "
	        "firmware is missing or damaged; install it again with the maker's updater");
}

/* Whether E2 answers like an RTL921x; an ASMedia refuses these lengths (bridge.md 2.18). */
static bool fits(struct probe *p, const uint8_t inquiry[INQUIRY_BYTES])
{
	uint8_t marker = 0;
	uint32_t ic = 0;

	(void)inquiry;
	if (p->maker != BRIDGE_REALTEK && p->maker != BRIDGE_NAMELESS)
		return false;
	probe_step_begin(p, "2", "is it an RTL921x", "fw", "bridge.md 2.18");
	int err = ask(p, RTL_MARKER, 0, &marker, 1);

	if (!err)
		err = ask32(p, RTL_IC_VERSION, 0, &ic);
	if (err && !refused(p, err))
		return probe_step_failed(p, err);
	if (err && marker == 1)
		return golden(p);
	probe_step_value(p, "A6 %02x, 82 %08x", marker, ic);
	if (err || marker != 1 || (ic & ~0xFu) != RTL_IC_VERSION_FIRST)
		return probe_step_end(p, PROBE_NOTED, "no: expected A6 01 and 82 a001000x") &&
		       false;
	p->out->ic_version = ic;
	return probe_step_end(p, PROBE_AS_EXPECTED,
	        "yes (82 may also end the link's power saving until it is plugged in anew)");
}

static bool step_version(struct probe *p)
{
	struct probe_report *r = p->out;
	uint8_t v[20] = {0};

	probe_step_begin(p, "2", "bridge firmware", "doc", "bridge.md 2.8");
	int err = ask(p, RTL_VERSION, 0, v, sizeof(v));

	if (err)
		return probe_step_failed(p, err);
	snprintf(r->firmware, sizeof(r->firmware), "%u.%u.%u", get_le32(v), get_le32(v + 4),
	        get_le32(v + 8));
	r->firmware_date = get_le32(v + 16);
	r->firmware_analysed = rtl_known_firmware(r->firmware);
	probe_step_value(p, "%s of %u", r->firmware, r->firmware_date);
	return r->firmware_analysed
	               ? probe_step_end(p, PROBE_AS_EXPECTED, NULL)
	               : probe_step_end(p, PROBE_NOTED,
	                         "nobody has analysed this version: what follows is less sure");
}

static bool step_quirks(struct probe *p)
{
	uint8_t quirks = 0;

	probe_step_begin(p, "2", "updater's quirks", "doc", "bridge.md 2.8");
	int err = ask(p, RTL_QUIRKS, 0, &quirks, 1);

	if (refused(p, err)) {
		probe_step_value(p, "5/20/00");
		return probe_step_end(
		        p, PROBE_AS_EXPECTED, "older firmware does not know this question");
	}
	if (err)
		return probe_step_failed(p, err);
	probe_step_value(p, "%02x", quirks);
	return probe_step_end(p, PROBE_AS_EXPECTED, NULL);
}

/* ---- step 3 ---- */

static bool step_header(struct probe *p)
{
	char version[32];

	probe_step_begin(p, "3", "flash header", "fw", "bridge.md 2.7");
	int err = ask(p, RTL_READ_MEMORY, RTL_MAIN_HEADER, p->header, RTL_MAIN_HEADER_BYTES);

	if (err)
		return probe_step_failed(p, err);
	const uint8_t *v = p->header + RTL_HEADER_VERSION;

	snprintf(version, sizeof(version), "%u.%u.%u", get_le32(v), get_le32(v + 4),
	        get_le32(v + 8));
	probe_step_value(p, "magic %08x, version %s", get_le32(p->header), version);
	if (get_le32(p->header) != RTL_MAIN_MAGIC || strcmp(version, p->out->firmware) != 0)
		return probe_step_end(p, PROBE_SURPRISE,
		        "the header does not belong to the running firmware: fallback firmware, or "
		        "another chip");
	return probe_step_end(p, PROBE_AS_EXPECTED,
	        "this read also lifts the lock on write commands; by itself it changes nothing");
}

/* ---- step 4 ---- */

static bool step_link(struct probe *p)
{
	uint8_t link[16] = {0};

	probe_step_begin(p, "4", "what is behind the bridge", "fw", "bridge.md 2.8");
	int err = ask(p, RTL_LINK, 0, link, sizeof(link));

	if (err)
		return probe_step_failed(p, err);
	probe_step_value(p, "state %02x, link type %u", link[0], link[8]);
	if (link[0] == 0xFF)
		return probe_step_end(p, PROBE_SURPRISE,
		        "no PCIe device: power the card before the enclosure gets USB power, and "
		        "check the adapter's cables");
	if (link[0] != RTL_LINK_STATE_OTHER || link[8] != RTL_LINK_TYPE_PCIE)
		return probe_step_end(p, PROBE_SURPRISE,
		        "the enclosure holds a disk or a card reader, not a graphics card");
	return probe_step_end(p, PROBE_AS_EXPECTED, "a PCIe device that is no disk");
}

static bool step_status(struct probe *p)
{
	uint8_t medium = 0, status[116] = {0};

	probe_step_begin(p, "4", "medium and status", "fw", "bridge.md 2.8");
	int err = ask(p, RTL_MEDIUM, 0, &medium, 1);

	if (!err)
		err = ask(p, RTL_STATUS, 0, status, sizeof(status));
	if (err)
		return probe_step_failed(p, err);
	probe_step_value(p, "B2 %02x, B5 state %u, medium %u", medium, get_le32(status + 68),
	        get_le32(status + 72));
	if ((medium & 1) || get_le32(status + 72))
		return probe_step_end(p, PROBE_SURPRISE, "the bridge sees a medium");
	return probe_step_end(p,
	        get_le32(status + 68) == RTL_LINK_STATE_OTHER ? PROBE_AS_EXPECTED : PROBE_NOTED,
	        NULL);
}

/* ---- step 5 ---- */

static bool step_port(struct probe *p)
{
	uint32_t control, engine;

	probe_step_begin(p, "5", "PCIe port and TLP engine", "inf", "bridge.md 2.11, 2.13");
	int err = ask32(p, RTL_READ_REGISTER, RTL_PORT_CONTROL, &control);

	if (!err)
		err = ask32(p, RTL_READ_REGISTER, ENGINE_STATUS, &engine);
	if (err)
		return probe_step_failed(p, err);
	probe_step_value(p, "port %08x, engine %08x", control, engine);
	if (engine & ENGINE_BUSY)
		return probe_step_end(
		        p, PROBE_SURPRISE, "the TLP engine is busy while nobody uses it");
	return control & RTL_PORT_LINK_UP
	               ? probe_step_end(p, PROBE_AS_EXPECTED, "link up, engine idle")
	               : probe_step_end(p, PROBE_SURPRISE, "the bridge's link state is not \"up\"");
}

/* ---- step 6 ---- */

static bool step_card(struct probe *p)
{
	struct probe_report *r = p->out;
	uint32_t before, after;

	probe_step_begin(p, "6", "the card's identity", "fw", "bridge.md 2.9, 2.11");
	int err = ask32(p, RTL_READ_REGISTER, ENGINE_STATUS, &before);

	if (!err)
		err = ask32(p, RTL_CFG_READ, 0, &r->card_id);
	if (!err)
		err = ask32(p, RTL_READ_REGISTER, ENGINE_STATUS, &after);
	if (refused(p, err))
		return probe_step_end(p, PROBE_SURPRISE,
		        "configuration reads are refused: fallback firmware or no PCIe link");
	if (err)
		return probe_step_failed(p, err);
	probe_step_value(p, "%04x:%04x, engine slot %u then %u", r->card_id & 0xFFFF,
	        r->card_id >> 16, ENGINE_SLOT(before), ENGINE_SLOT(after));
	if (!bridge_answers(r->card_id))
		return probe_step_end(
		        p, PROBE_SURPRISE, "the card does not answer (bridge.md 4.1)");
	if ((r->card_id & 0xFFFF) != AMD || r->card_id >> 16 != POLARIS_10)
		return probe_step_end(p, PROBE_SURPRISE, "1002:67df was expected: not an RX 580");
	return ENGINE_SLOT(after) == (ENGINE_SLOT(before) + 1) % 4
	               ? probe_step_end(p, PROBE_AS_EXPECTED, NULL)
	               : probe_step_end(p, PROBE_NOTED,
	                         "one read was expected to move the engine by one slot");
}

static bool step_class(struct probe *p)
{
	uint32_t v;

	probe_step_begin(p, "6", "class of the card", "doc", "bridge.md 4.2");
	int err = ask32(p, RTL_CFG_READ, CFG_CLASS, &v);

	if (err)
		return probe_step_failed(p, err);
	p->out->card_class = v >> 8;
	probe_step_value(p, "%06x, revision %02x", v >> 8, v & 0xFF);
	return v >> 24 == 3 ? probe_step_end(p, PROBE_AS_EXPECTED, "a display controller")
	                    : probe_step_end(p, PROBE_SURPRISE, "03xxxx was expected");
}

static bool step_bars(struct probe *p)
{
	uint32_t *bar = p->out->bar;

	probe_step_begin(p, "6", "where the firmware put the BARs", "fw", "bridge.md 2.14");
	for (unsigned i = 0; i < 6; i++) {
		int err = ask32(p, RTL_CFG_READ, CFG_BAR0 + 4 * i, &bar[i]);

		if (err)
			return probe_step_failed(p, err);
		probe_step_value(p, "%s%08x", i ? " " : "", bar[i]);
	}
	p->base = bar[0] & ~BAR_FLAGS;
	p->bar5 = bar[5] & ~BAR_FLAGS;
	if (!p->base || !p->bar5 || (bar[0] & 1) || (bar[5] & 1) || bar[1])
		return probe_step_end(p, PROBE_SURPRISE,
		        "BAR0 or BAR5 is not a memory BAR below 4 GiB: out of this bridge's reach; "
		        "take the power of card and enclosure away for a moment");
	return bar[0] >> 4 == 0xF0000000u >> 4 && bar[5] == 0xE0040000u /* bridge.md 2.14 */
	               ? probe_step_end(p, PROBE_AS_EXPECTED, NULL)
	               : probe_step_end(
	                         p, PROBE_NOTED, "BAR0 f0000000 and BAR5 e0040000 were expected");
}

/* ---- step 7 ---- */

static bool step_timing(
        struct probe *p, const char *title, uint8_t sub, uint32_t addr, struct probe_timing *out)
{
	static uint32_t us[TIMED];
	uint32_t first = 0, v;

	probe_step_begin(p, "7", title, "inf", "bridge.md 6");
	for (unsigned i = 0; i < TIMED; i++) {
		int err = ask32(p, sub, addr, &v);

		if (err)
			return probe_step_failed(p, err);
		if (i == 0)
			first = v;
		else if (sub == RTL_CFG_READ && v != first) {
			probe_step_value(p, "%08x, then %08x", first, v);
			return probe_step_end(p, PROBE_SURPRISE, "the same read gave two values");
		}
		us[i] = scsi_last_us(p->scsi);
	}
	probe_timing_of(out, us, TIMED);
	probe_step_value(p, "%u times: min %u, median %u, 99 %% %u, max %u us", out->n, out->min_us,
	        out->median_us, out->p99_us, out->max_us);
	return probe_step_end(p, PROBE_AS_EXPECTED, NULL);
}

/* How much one command may move (K10). What is too long is refused, in the versions whose images
 * were read; nobody knows what others do with it, so they are not asked. */
static bool step_longest(struct probe *p)
{
	static uint8_t data[LONGEST_ASKED];
	uint32_t best = RTL_MAX_CHUNK;
	int err = 0;

	probe_step_begin(p, "7", "longest transfer", "fw", "bridge.md 2.6");
	if (!p->out->firmware_analysed) {
		probe_step_value(p, "not asked");
		return probe_step_end(
		        p, PROBE_NOTED, "4096 bytes will do; more is not safe to ask for");
	}
	for (uint32_t len = 2 * best; len <= LONGEST_ASKED && !err; len *= 2) {
		err = ask(p, RTL_READ_MEMORY, RTL_SRAM, data, len);
		if (!err)
			best = len;
	}
	if (err && err != -EMSGSIZE && !refused(p, err))
		return probe_step_failed(p, err);
	p->out->max_transfer = best;
	probe_step_value(p, "%u bytes%s", best,
	        err == -EMSGSIZE ? ", the host's kernel allows no more"
	        : err            ? ", more is refused with 5/20/00"
	                         : " at least");
	return best == RTL_MAX_CHUNK
	               ? probe_step_end(p, PROBE_AS_EXPECTED, NULL)
	               : probe_step_end(p, PROBE_NOTED,
	                         "4096 was expected of a bridge without a disk; the driver stays "
	                         "with 4096, to let others in between");
}

/* ---- step 8 ---- */

static int read_memory(struct probe *p, uint32_t address, uint32_t *value)
{
	return ask32(p, RTL_MEM_READ, address - p->base, value); /* modulo 2^32: bridge.md 2.10 */
}

static bool step_registers(struct probe *p)
{
	struct probe_report *r = p->out;
	uint32_t scratch;

	probe_step_begin(p, "8", "the card's registers", "fw", "bridge.md 2.10");
	int err = read_memory(p, p->bar5 + REG_CONFIG_MEMSIZE, &r->memory_mib);

	if (!err)
		err = read_memory(p, p->bar5 + REG_BIOS_SCRATCH_7, &scratch);
	if (err)
		return probe_step_failed(p, err);
	r->posted = scratch != 0xFFFFFFFF && (scratch & ASIC_INIT_DONE);
	probe_step_value(p, "CONFIG_MEMSIZE %u MiB, BIOS_SCRATCH_7 %08x", r->memory_mib, scratch);
	if (r->memory_mib == 0xFFFFFFFF || r->memory_mib == r->card_id)
		return probe_step_end(p, PROBE_SURPRISE,
		        "BAR5 gives no register's value: memory reads do not reach the card");
	return r->posted ? probe_step_end(p, PROBE_AS_EXPECTED, "the card's VBIOS has run")
	                 : probe_step_end(p, PROBE_NOTED,
	                           "the card's VBIOS has not run: its memory cannot be used yet");
}

static bool step_vram(struct probe *p)
{
	uint32_t first, second;

	if (!p->out->posted) /* bridge.md 7.2 step 11: VRAM only after POST */
		return true;
	probe_step_begin(p, "8", "the card's memory", "fw", "bridge.md 2.10");
	int err = read_memory(p, p->base + RTL_PROBE_VRAM, &first);

	if (!err)
		err = read_memory(p, p->base + RTL_PROBE_VRAM, &second);
	if (err)
		return probe_step_failed(p, err);
	probe_step_value(p, "%08x, again %08x", first, second);
	return first == second ? probe_step_end(p, PROBE_AS_EXPECTED, NULL)
	                       : probe_step_end(p, PROBE_NOTED, "twice the same was expected");
}

/* What a read that nobody answers looks like (K2), and that the card is still there after it. */
static bool step_unclaimed(struct probe *p)
{
	uint32_t value, id;

	probe_step_begin(p, "8", "a read nobody answers", "fw", "bridge.md 2.10");
	int err = read_memory(p, UNCLAIMED, &value);

	if (err)
		return probe_step_failed(p, err);
	p->out->unclaimed_us = scsi_last_us(p->scsi);
	err = ask32(p, RTL_CFG_READ, 0, &id);
	if (err)
		return probe_step_failed(p, err);
	probe_step_value(p, "%08x after %u us, then card %08x", value, p->out->unclaimed_us, id);
	return id == p->out->card_id
	               ? probe_step_end(
	                         p, PROBE_AS_EXPECTED, "good status with old data, as expected")
	               : probe_step_end(p, PROBE_SURPRISE, "the card is gone after it");
}

/* ---- step 12 ---- */

bool probe_rtl_heartbeat(struct probe *p)
{
	uint8_t now[RTL_MAIN_HEADER_BYTES];

	probe_step_begin(p, "12", "heartbeat", "fw", "bridge.md 7.2");
	int err = ask(p, RTL_READ_MEMORY, RTL_MAIN_HEADER, now, sizeof(now));

	if (err)
		return probe_step_failed(p, err);
	probe_step_value(
	        p, "flash header %s", memcmp(now, p->header, sizeof(now)) ? "differs" : "same");
	return memcmp(now, p->header, sizeof(now)) == 0
	               ? probe_step_end(p, PROBE_AS_EXPECTED, NULL)
	               : probe_step_end(p, PROBE_SURPRISE,
	                         "the bridge is not what it was before the write: unplug it, do "
	                         "not try again");
}

static void steps(struct probe *p)
{
	bool on = step_version(p) && step_quirks(p) && step_header(p) && step_link(p) &&
	          step_status(p) && step_port(p) && step_card(p) && step_class(p) && step_bars(p) &&
	          step_timing(p, "time of a configuration read", RTL_CFG_READ, 0,
	                  &p->out->config_read) &&
	          step_timing(p, "time of a bridge register read", RTL_READ_REGISTER, ENGINE_STATUS,
	                  &p->out->register_read) &&
	          step_registers(p) && step_vram(p) && step_unclaimed(p);

	if (on && p->opt.write_level >= 1)
		on = probe_rtl_write_config(p);
	if (on && p->opt.write_level >= 2)
		on = probe_rtl_write_card(p);
	/* last: an answer that long is in the trace as a digest only, and ends its replay */
	if (on)
		step_longest(p);
}

const struct probe_family probe_rtl921x = {.name = "rtl921x", .fits = fits, .steps = steps};
