/* probe.c - the frame: steps, commands, timing, and which family of bridges it is. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/core/abilities.h"
#include "device/core/backend.h"
#include "device/err.h"
#include "device/probe/probe_priv.h"

#define OP_TEST_UNIT_READY 0x00 /* SPC-4 */
#define OP_REQUEST_SENSE   0x03
#define OP_INQUIRY         0x12
#define SENSE_BYTES        18
#define TIMEOUT_MS         10000u /* bridge.md 1.7 */
#define KEY_NOT_READY      0x02

/* One row a family; each asks only when that is harmless to whom it may be (bridge.md 2.18). */
static const struct probe_family *const families[] = {&probe_rtl921x, &probe_asm2x6x};

/* ---- steps ---- */

void probe_step_begin(struct probe *p, const char *number, const char *title, const char *evidence,
        const char *source)
{
	/* a table too small is a mistake of ours, and the last row is a safe place for it */
	size_t at = MIN(p->out->nsteps, (size_t)PROBE_MAX_STEPS - 1);

	scsi_read_counters(p->scsi, &p->before);
	p->step = &p->out->step[at];
	*p->step = (struct probe_step){
	        .number = number, .title = title, .evidence = evidence, .source = source};
}

void probe_step_value(struct probe *p, const char *fmt, ...)
{
	size_t used = strlen(p->step->value);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->step->value + used, sizeof(p->step->value) - used, fmt, ap);
	va_end(ap);
}

bool probe_step_end(struct probe *p, enum probe_verdict verdict, const char *words)
{
	struct scsi_counters c;

	scsi_read_counters(p->scsi, &c);
	p->step->commands = (unsigned)(c.calls - p->before.calls);
	p->step->us = (uint32_t)(c.busy_us - p->before.busy_us);
	p->step->verdict = verdict;
	snprintf(p->step->words, sizeof(p->step->words), "%s", words ? words : "");
	if (p->out->nsteps < PROBE_MAX_STEPS)
		p->out->nsteps++;
	if (p->opt.on_step)
		p->opt.on_step(p->opt.ctx, p->step);
	if (verdict == PROBE_SURPRISE) {
		p->stopped = true;
		snprintf(p->out->verdict, sizeof(p->out->verdict), "stopped at \"%.60s\": %s",
		        p->step->title, p->step->words);
	} else if (!p->stopped && p->opt.stop && p->opt.stop(p->opt.ctx)) {
		p->stopped = true;
		snprintf(p->out->verdict, sizeof(p->out->verdict),
		        "ended after \"%.60s\", as it was told to", p->step->title);
	}
	return !p->stopped;
}

bool probe_step_failed(struct probe *p, int err)
{
	char words[240];

	if (err == -EIO && p->sense.key)
		snprintf(words, sizeof(words),
		        "the bridge refuses the command (sense %x/%02x/%02x)", p->sense.key,
		        p->sense.asc, p->sense.ascq);
	else if (err == -ETIMEDOUT)
		snprintf(words, sizeof(words),
		        "no answer: the bridge hangs; unplug it and take its power away, do not "
		        "repeat this probe");
	else if (err == -ENODEV)
		snprintf(words, sizeof(words),
		        "the bridge or the card behind it is gone (the log has the reason)");
	else
		snprintf(words, sizeof(words), "the command failed: %s", strerror(-err));
	return probe_step_end(p, PROBE_SURPRISE, words);
}

int probe_exec(struct probe *p, const uint8_t *cdb, size_t cdb_len, enum scsi_dir dir, void *buf,
        size_t len)
{
	return scsi_exec(p->scsi, cdb, cdb_len, dir, buf, len, TIMEOUT_MS, &p->sense);
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

void probe_timing_of(struct probe_timing *out, uint32_t *us, unsigned n)
{
	uint64_t sum = 0;

	qsort(us, n, sizeof(*us), by_value);
	for (unsigned i = 0; i < n; i++)
		sum += us[i];
	*out = (struct probe_timing){.n = n,
	        .min_us = us[0],
	        .median_us = us[n / 2],
	        .p99_us = us[(uint64_t)n * 99 / 100],
	        .max_us = us[n - 1],
	        .mean_us = (double)sum / n};
}

/* ---- step 1: what every family answers ---- */

static void copy_text(char *out, const uint8_t *in, size_t len)
{
	for (size_t i = 0; i < len; i++)
		out[i] = in[i] >= ' ' && in[i] < 0x7F ? (char)in[i] : '.';
	out[len] = '\0';
	while (len && out[len - 1] == ' ')
		out[--len] = '\0';
}

static bool step_inquiry(struct probe *p, uint8_t data[INQUIRY_BYTES])
{
	const uint8_t cdb[6] = {OP_INQUIRY, 0, 0, 0, INQUIRY_BYTES, 0};
	struct probe_report *r = p->out;

	probe_step_begin(p, "1", "INQUIRY", "doc", "bridge.md 1.1");
	int n = probe_exec(p, cdb, sizeof(cdb), SCSI_IN, data, INQUIRY_BYTES);

	if (n < 0)
		return probe_step_failed(p, n);
	scsi_redact(cdb, data, (size_t)n);
	p->maker =
	        bridge_maker_of(&(struct usb_identity){.vid = r->usb_vid, .pid = r->usb_pid}, data);
	copy_text(r->vendor, data + 8, 8);
	copy_text(r->product, data + 16, 16);
	copy_text(r->revision, data + 32, 4);
	probe_step_value(p, "\"%s\" \"%s\" \"%s\", USB %04x:%04x, bcdDevice %04x, %u Mbit/s",
	        r->vendor, r->product, r->revision, r->usb_vid, r->usb_pid, r->bcd_device,
	        r->usb_mbit);
	if (n < INQUIRY_BYTES || (data[0] & 0x1F)) /* SPC-4: type 0 is a direct access device */
		return probe_step_end(p, PROBE_SURPRISE, "this is no disk enclosure");
	return probe_step_end(p, PROBE_AS_EXPECTED, NULL);
}

static bool step_ready(struct probe *p)
{
	const uint8_t cdb[6] = {OP_TEST_UNIT_READY};

	probe_step_begin(p, "1", "TEST UNIT READY", "fw", "bridge.md 2.14");
	int n = probe_exec(p, cdb, sizeof(cdb), SCSI_NONE, NULL, 0);

	if (n >= 0) {
		probe_step_value(p, "ready");
		return probe_step_end(p, PROBE_SURPRISE,
		        "the enclosure holds a disk; nothing more is sent to it");
	}
	if (n != -EIO || !p->sense.key)
		return probe_step_failed(p, n);
	probe_step_value(p, "%x/%02x/%02x", p->sense.key, p->sense.asc, p->sense.ascq);
	return p->sense.key == KEY_NOT_READY
	               ? probe_step_end(p, PROBE_AS_EXPECTED, "no medium, as with a graphics card")
	               : probe_step_end(p, PROBE_NOTED, "2/3a/00 (no medium) was expected");
}

static bool step_sense(struct probe *p)
{
	const uint8_t cdb[6] = {OP_REQUEST_SENSE, 0, 0, 0, SENSE_BYTES, 0};
	uint8_t data[SENSE_BYTES] = {0};

	probe_step_begin(p, "1", "REQUEST SENSE", "doc", "bridge.md 1.3");
	int n = probe_exec(p, cdb, sizeof(cdb), SCSI_IN, data, sizeof(data));

	if (n < 0)
		return probe_step_failed(p, n);
	probe_step_value(p, "%d bytes, %x/%02x/%02x", n, data[2] & 0x0F, data[12], data[13]);
	return probe_step_end(
	        p, n >= 14 && (data[0] & 0x7E) == 0x70 ? PROBE_AS_EXPECTED : PROBE_NOTED, NULL);
}

static void run_family(struct probe *p, const uint8_t *inquiry)
{
	bool ask = p->maker != BRIDGE_CONTRADICTORY;

	for (size_t i = 0; i < ARRAY_SIZE(families) && ask && !p->stopped; i++)
		if (families[i]->fits(p, inquiry)) {
			if (!p->out->family[0])
				snprintf(p->out->family, sizeof(p->out->family), "%s",
				        families[i]->name);
			families[i]->steps(p);
			return;
		}
	if (p->stopped)
		return;
	probe_step_begin(p, "2", "bridge family", "doc", "bridge.md 2.18");
	probe_step_value(p, "\"%s %s\"", p->out->vendor, p->out->product);
	probe_step_end(p, PROBE_SURPRISE,
	        ask ? "no bridge this version knows; nothing more is sent to it"
	            : "USB ids and INQUIRY name two makers of bridges; nothing more is sent to it");
}

/* remember - abilities only ever come from a board that will be the same tomorrow. */
static void remember(const struct probe *p, const char *kind)
{
	const struct probe_report *r = p->out;
	struct abilities a = {.alias_write = r->alias_write == PROBE_PROVEN,
	        .sram = r->sram == PROBE_PROVEN,
	        .function_1 = r->function_1 == PROBE_PROVEN,
	        .wide = r->wide == PROBE_PROVEN,
	        .engine_burst = r->engine_burst,
	        .max_transfer = r->max_transfer};
	struct abilities_board b = {.vid = r->usb_vid,
	        .pid = r->usb_pid,
	        .bcd_device = r->bcd_device,
	        .family = r->family,
	        .firmware = r->firmware,
	        .card_id = r->card_id};

	/* a probe that stopped early has proven nothing new and refuted nothing */
	if (backend_is_hardware(kind) && p->opt.write_level == 2 && r->usable)
		abilities_store(&b, &a);
}

int probe_run(const struct probe_options *opt, struct probe_report *out)
{
	struct probe p = {.opt = *opt, .out = out};
	uint8_t inquiry[INQUIRY_BYTES] = {0};
	struct usb_identity usb;
	const char *kind;

	*out = (struct probe_report){.write_level = opt->write_level};
	int err = backend_open(&p.scsi, &kind, opt->card, opt->trace);

	if (err)
		return err;
	scsi_identity(p.scsi, &usb);
	snprintf(out->carrier, sizeof(out->carrier), "%s", kind);
	out->usb_vid = usb.vid;
	out->usb_pid = usb.pid;
	out->bcd_device = usb.bcd_device;
	out->usb_mbit = usb.mbit;
	if (step_inquiry(&p, inquiry) && step_ready(&p) && step_sense(&p))
		run_family(&p, inquiry);
	out->usable = !p.stopped;
	if (out->usable)
		snprintf(out->verdict, sizeof(out->verdict),
		        "usable as far as level %u can tell: every step was as expected or "
		        "harmless",
		        opt->write_level);
	remember(&p, kind);
	if (p.bridge)
		bridge_free(p.bridge);
	else
		scsi_free(p.scsi);
	return 0;
}
