/* asm2x6x.c - bridge.md 7.3 for ASM236x and ASM246x, steps 1 to 4. Level 0 is E4, which reads the
 * bridge's memory. Everything on PCIe needs the TLP engine, whose registers are written, so that
 * begins with level 1: configuration reads, then bus numbers and windows, which are put back at the
 * end. From step 3 on the driver's own bridge object does the work, so that what is proven is what
 * the driver will do.
 */
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/probe/asm2x6x_priv.h"

#define CFG_HEADER      0x0C /* bridge.md 4 */
#define CFG_BUS_NUMBERS 0x18
#define CFG_CLASS       0x08
#define CFG_BAR0        0x10
#define AMD             0x1002u
#define POLARIS_10      0x67DFu     /* bridge.md 4.2 */
#define FUNCTION_1_ID   0xAAF01002u /* bridge.md 4.2 */
#define ABSENT          0xFFFFFFFFu
#define REGISTERS       0xB200u /* bridge.md 7.3 step 2 */
#define REGISTER_BYTES  64u
#define TIMED           200u /* a configuration read takes some nine commands */

int probe_asm_vendor_read(struct probe *p, uint16_t addr, void *buf, uint8_t len)
{
	uint8_t cdb[ASM_CDB_BYTES];

	asm_build_cdb(cdb, p->chip, ASM_OP_READ, len, addr);
	const char *why = asm_refusal(p->chip, cdb);

	p->sense = (struct scsi_sense){0};
	if (why)
		return rx_fail("probe", -EPERM, "E4 at 0x%04x, %u bytes: %s", addr, len, why);
	int n = probe_exec(p, cdb, sizeof(cdb), SCSI_IN, buf, len);

	if (n < 0)
		return n;
	return n == len ? 0 : -EIO;
}

/* ---- step 1 ---- */

/* Asked only when a name says ASMedia: to others E4 may mean something else (bridge.md 2.18). */
static bool fits(struct probe *p, const uint8_t inquiry[INQUIRY_BYTES])
{
	if (p->maker != BRIDGE_ASMEDIA)
		return false;
	probe_step_begin(p, "1", "which ASMedia chip", "doc", "bridge.md 3.1");
	int err = asm_identify(p->scsi, &p->chip, p->version);

	if (err && err != -ENOTSUP)
		return probe_step_failed(p, err);
	if (err) {
		p->chip = ASM_UNKNOWN;
		return probe_step_end(p, PROBE_NOTED,
		               "E4 gives no version in either form: no ASM236x or ASM246x with "
		               "stock firmware") &&
		       false;
	}
	const char *family = p->chip == ASM_246X ? "asm246x" : "asm236x";

	asm_version_text(p->out->firmware, p->version);
	snprintf(p->out->family, sizeof(p->out->family), "%s", family);
	probe_step_value(p, "%s, firmware %s", family, p->out->firmware);
	if (!bridge_name_fits(family, inquiry))
		return probe_step_end(p, PROBE_SURPRISE, "its name is that of another chip");
	return probe_step_end(p, PROBE_AS_EXPECTED, NULL);
}

/* ---- step 2 ---- */

static bool step_engine(struct probe *p)
{
	uint8_t status = 0, regs[REGISTER_BYTES] = {0};

	probe_step_begin(p, "2", "TLP engine", "doc", "bridge.md 3.3");
	int err = probe_asm_vendor_read(p, ASM_TLP_STATUS, &status, 1);

	if (!err)
		err = probe_asm_vendor_read(p, REGISTERS, regs, sizeof(regs));
	if (err)
		return probe_step_failed(p, err);
	probe_step_value(p, "B296 %02x, B210", status);
	for (unsigned i = ASM_TLP_HEADER - REGISTERS; i < ASM_COMPLETION + 12 - REGISTERS; i++)
		probe_step_value(p, "%s%02x", i % 4 ? "" : " ", regs[i]);
	if (!(status & ASM_STATUS_READY))
		return probe_step_end(p, PROBE_NOTED, "ready (bit 2) was expected at rest");
	return status & ASM_STATUS_ERROR ? probe_step_end(p, PROBE_NOTED,
	                                           "an error is left from the firmware's own use")
	                                 : probe_step_end(p, PROBE_AS_EXPECTED, NULL);
}

static bool step_link(struct probe *p)
{
	uint8_t ltssm = 0, link = 0;

	probe_step_begin(p, "2", "PCIe link", "doc", "bridge.md 3.6");
	if (p->chip != ASM_246X) {
		probe_step_value(p, "not known where this chip shows it");
		return probe_step_end(p, PROBE_AS_EXPECTED, NULL);
	}
	int err = probe_asm_vendor_read(p, ASM_LTSSM, &ltssm, 1);

	if (!err)
		err = probe_asm_vendor_read(p, ASM_LINK, &link, 1);
	if (err)
		return probe_step_failed(p, err);
	probe_step_value(p, "B450 %02x, B455 %02x", ltssm, link);
	return asm_link_up(ltssm)
	               ? probe_step_end(p, PROBE_AS_EXPECTED, "L0")
	               : probe_step_end(p, PROBE_SURPRISE,
	                         "48 or 78 (L0) was expected, the link is down: power the card "
	                         "before the enclosure gets USB power");
}

static bool step_register_time(struct probe *p)
{
	static uint32_t us[TIMED];
	struct probe_timing *t = &p->out->register_read;
	uint8_t status;

	probe_step_begin(p, "2", "time of a bridge register read", "inf", "bridge.md 6");
	for (unsigned i = 0; i < TIMED; i++) {
		int err = probe_asm_vendor_read(p, ASM_TLP_STATUS, &status, 1);

		if (err)
			return probe_step_failed(p, err);
		us[i] = scsi_last_us(p->scsi);
	}
	probe_timing_of(t, us, TIMED);
	probe_step_value(p, "%u times: min %u, median %u, 99 %% %u, max %u us", t->n, t->min_us,
	        t->median_us, t->p99_us, t->max_us);
	return probe_step_end(p, PROBE_AS_EXPECTED, NULL);
}

/* ---- step 3 ---- */

static int cfg(struct probe *p, struct asm_where at, unsigned reg, uint32_t *value,
        enum asm_outcome *outcome)
{
	p->sense = (struct scsi_sense){0};
	return asm2x6x_try_cfg(p->bridge, at, reg, value, outcome);
}

static bool step_port(struct probe *p)
{
	static const struct bridge_hooks none;
	const struct asm_where port = {0};
	uint32_t id = ABSENT, header = 0, numbers = 0;
	enum asm_outcome o;

	probe_step_begin(p, "3", "root port", "doc", "bridge.md 3.5");
	int err = asm2x6x_attach(&p->bridge, p->scsi, &none, p->chip, p->version);

	if (!err)
		err = cfg(p, port, 0, &id, &o);
	if (!err && o == ASM_SUCCESS)
		err = cfg(p, port, CFG_HEADER, &header, &o);
	if (!err && o == ASM_SUCCESS)
		err = cfg(p, port, CFG_BUS_NUMBERS, &numbers, &o);
	if (err)
		return probe_step_failed(p, err);
	if (o != ASM_SUCCESS)
		return probe_step_end(p, PROBE_SURPRISE, asm_outcome_words(o));
	probe_step_value(p, "%04x:%04x, header type %02x, buses %06x", id & 0xFFFF, id >> 16,
	        header >> 16 & 0xFF, numbers & 0xFFFFFF);
	return (header >> 16 & 0x7F) == 1
	               ? probe_step_end(p, PROBE_AS_EXPECTED, "a bridge")
	               : probe_step_end(p, PROBE_SURPRISE, "a bridge (header type 1) was expected");
}

static bool step_stock_card(struct probe *p)
{
	const struct asm_where at = {.bus = 1};
	enum asm_outcome o;
	uint32_t id;

	probe_step_begin(
	        p, "3", "01:00.0 as the firmware numbered the buses", "doc", "bridge.md 3.5");
	int err = cfg(p, at, 0, &id, &o);

	if (err)
		return probe_step_failed(p, err);
	if (o != ASM_SUCCESS) {
		probe_step_value(p, "%s", asm_outcome_words(o));
		return probe_step_end(p, PROBE_NOTED, "a device was expected there");
	}
	probe_step_value(p, "%04x:%04x", id & 0xFFFF, id >> 16);
	return probe_step_end(p, PROBE_AS_EXPECTED, NULL);
}

/* ---- step 4 ---- */

bool probe_asm_heartbeat(struct probe *p)
{
	uint8_t now[ASM_VERSION_BYTES] = {0};

	probe_step_begin(p, "4", "heartbeat", "inf", "bridge.md 7.4");
	int err = probe_asm_vendor_read(p, ASM_VERSION, now, sizeof(now));

	if (!err)
		err = p->bridge->ops->heartbeat(p->bridge);
	if (err)
		return probe_step_failed(p, err);
	bool same = !memcmp(now, p->version, sizeof(now));

	probe_step_value(p, "version %s, card there", same ? "same" : "differs");
	return probe_step_end(p, same ? PROBE_AS_EXPECTED : PROBE_SURPRISE,
	        same ? NULL : "the bridge is not what it was before: unplug it, do not try again");
}

static bool step_path(struct probe *p)
{
	probe_step_begin(
	        p, "4", "the way to the card: bus numbers and windows", "doc", "bridge.md 3.5");
	p->step->writes = true;
	int err = asm2x6x_find_card(p->bridge);

	if (err == -ENODEV)
		return probe_step_end(p, PROBE_SURPRISE,
		        "no graphics card behind the bridge (the log says what was found): power "
		        "the card before the enclosure gets USB power, and check the adapter's "
		        "cables");
	if (err)
		return probe_step_failed(p, err);
	struct asm_where at = asm2x6x_card(p->bridge);

	probe_step_value(p, "a display controller at %02x:%02x.%u", at.bus, at.dev, at.fn);
	return probe_step_end(p, PROBE_AS_EXPECTED, "put back at the end") &&
	       probe_asm_heartbeat(p);
}

static bool step_card(struct probe *p)
{
	const struct bridge_ops *ops = p->bridge->ops;
	struct probe_report *r = p->out;
	uint32_t class_rev = 0;

	probe_step_begin(p, "4", "the card's identity and BARs", "doc", "bridge.md 4.2");
	int err = ops->cfg_read(p->bridge, 0, 4, &r->card_id);

	if (!err)
		err = ops->cfg_read(p->bridge, CFG_CLASS, 4, &class_rev);
	for (unsigned i = 0; i < 6 && !err; i++)
		err = ops->cfg_read(p->bridge, CFG_BAR0 + 4 * i, 4, &r->bar[i]);
	if (err)
		return probe_step_failed(p, err);
	r->card_class = class_rev >> 8;
	probe_step_value(p, "%04x:%04x, class %06x, BARs", r->card_id & 0xFFFF, r->card_id >> 16,
	        r->card_class);
	for (unsigned i = 0; i < 6; i++)
		probe_step_value(p, " %08x", r->bar[i]);
	return (r->card_id & 0xFFFF) == AMD && r->card_id >> 16 == POLARIS_10
	               ? probe_step_end(p, PROBE_AS_EXPECTED, NULL)
	               : probe_step_end(p, PROBE_SURPRISE, "1002:67df was expected: not an RX 580");
}

static bool step_function_1(struct probe *p)
{
	struct asm_where at = asm2x6x_card(p->bridge);
	enum asm_outcome o;
	uint32_t id;

	at.fn = 1;
	probe_step_begin(p, "4", "function 1", "doc", "bridge.md 4.2");
	int err = cfg(p, at, 0, &id, &o);

	if (err)
		return probe_step_failed(p, err);
	if (o == ASM_SUCCESS)
		probe_step_value(p, "%04x:%04x", id & 0xFFFF, id >> 16);
	else
		probe_step_value(p, "%s", asm_outcome_words(o));
	bool found = o == ASM_SUCCESS && id == FUNCTION_1_ID;

	p->out->function_1 = found ? PROBE_PROVEN : PROBE_NO;
	return probe_step_end(p, found ? PROBE_AS_EXPECTED : PROBE_NOTED,
	        found ? "the card's audio function"
	              : "1002:aaf0 was expected; nothing depends on it");
}

static uint64_t busy_us(struct probe *p)
{
	struct scsi_counters c;

	scsi_read_counters(p->scsi, &c);
	return c.busy_us;
}

static bool step_config_time(struct probe *p)
{
	static uint32_t us[TIMED];
	struct probe_timing *t = &p->out->config_read;
	uint32_t id;

	probe_step_begin(p, "4", "time of a configuration read", "inf", "bridge.md 6");
	for (unsigned i = 0; i < TIMED; i++) {
		uint64_t before = busy_us(p);
		int err = p->bridge->ops->cfg_read(p->bridge, 0, 4, &id);

		if (err)
			return probe_step_failed(p, err);
		us[i] = (uint32_t)(busy_us(p) - before);
		if (id == p->out->card_id)
			continue;
		probe_step_value(p, "%08x, then %08x", p->out->card_id, id);
		return probe_step_end(p, PROBE_SURPRISE, "the same read gave two values");
	}
	probe_timing_of(t, us, TIMED);
	probe_step_value(p, "%u times: min %u, median %u, 99 %% %u, max %u us", t->n, t->min_us,
	        t->median_us, t->p99_us, t->max_us);
	return probe_step_end(p, PROBE_AS_EXPECTED, NULL);
}

static void steps(struct probe *p)
{
	bool on = step_engine(p) && step_link(p) && step_register_time(p);

	if (on && p->opt.write_level >= 1)
		on = step_port(p) && step_stock_card(p) && step_path(p) && step_card(p) &&
		     step_function_1(p) && step_config_time(p);
	if (on && p->opt.write_level >= 2)
		probe_asm_write_card(p);
}

const struct probe_family probe_asm2x6x = {.name = "asm2x6x", .fits = fits, .steps = steps};
