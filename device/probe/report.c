/* report.c - the report as JSON, for machines and for sending. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/err.h"
#include "device/probe/probe.h"

#define FORMAT "rx580fs-probe-1"

const char *probe_verdict_name(enum probe_verdict v)
{
	static const char *const names[] = {[PROBE_AS_EXPECTED] = "as expected",
	        [PROBE_NOTED] = "noted",
	        [PROBE_SURPRISE] = "surprise"};

	return names[v];
}

const char *probe_ability_name(enum probe_ability a)
{
	static const char *const names[] = {
	        [PROBE_UNKNOWN] = "unknown", [PROBE_NO] = "no", [PROBE_PROVEN] = "proven"};

	return names[a];
}

static json_t *hex(const char *fmt, uint32_t value)
{
	char text[24];

	snprintf(text, sizeof(text), fmt, value);
	return json_string(text);
}

static json_t *steps(const struct probe_report *r)
{
	json_t *all = json_array();

	for (size_t i = 0; i < r->nsteps; i++) {
		const struct probe_step *s = &r->step[i];

		json_array_append_new(all,
		        json_pack("{s:s, s:s, s:s, s:s, s:b, s:s, s:s, s:s, s:i, s:I}", "step",
		                s->number, "title", s->title, "evidence", s->evidence, "source",
		                s->source, "writes", s->writes, "verdict",
		                probe_verdict_name(s->verdict), "value", s->value, "words",
		                s->words, "commands", (int)s->commands, "us", (json_int_t)s->us));
	}
	return all;
}

static json_t *timing(const struct probe_timing *t)
{
	if (!t->n)
		return json_null();
	return json_pack("{s:i, s:I, s:I, s:I, s:I, s:f}", "n", (int)t->n, "min_us",
	        (json_int_t)t->min_us, "median_us", (json_int_t)t->median_us, "p99_us",
	        (json_int_t)t->p99_us, "max_us", (json_int_t)t->max_us, "mean_us", t->mean_us);
}

static json_t *usb(const struct probe_report *r)
{
	return json_pack("{s:o, s:o, s:o, s:i, s:s, s:s, s:s}", "vid", hex("%04x", r->usb_vid),
	        "pid", hex("%04x", r->usb_pid), "bcdDevice", hex("%04x", r->bcd_device), "mbit",
	        (int)r->usb_mbit, "vendor", r->vendor, "product", r->product, "revision",
	        r->revision);
}

static json_t *bridge(const struct probe_report *r)
{
	return json_pack("{s:s, s:s, s:b, s:I, s:o}", "family", r->family, "firmware", r->firmware,
	        "firmware_analysed", r->firmware_analysed, "firmware_date",
	        (json_int_t)r->firmware_date, "ic_version", hex("%08x", r->ic_version));
}

static json_t *card(const struct probe_report *r)
{
	json_t *bars = json_array();

	for (unsigned i = 0; i < 6; i++)
		json_array_append_new(bars, hex("%08x", r->bar[i]));
	return json_pack("{s:o, s:o, s:o, s:o, s:b, s:I}", "vendor",
	        hex("%04x", r->card_id & 0xFFFF), "device", hex("%04x", r->card_id >> 16), "class",
	        hex("%06x", r->card_class), "bars", bars, "posted", r->posted, "memory_mib",
	        (json_int_t)r->memory_mib);
}

char *probe_report_json(const struct probe_report *r)
{
	json_t *root = json_pack(
	        "{s:s, s:s, s:s, s:i, s:b, s:s, s:o, s:o, s:o, s:{s:o, s:o, s:I}, s:{s:s, s:s, "
	        "s:s, s:s, s:s, s:s, s:i, s:i, s:i}, s:[i, i], s:o}",
	        "format", FORMAT, "version", RX_VERSION, "carrier", r->carrier, "write_level",
	        (int)r->write_level, "usable", r->usable, "verdict", r->verdict, "usb", usb(r),
	        "bridge", bridge(r), "card", card(r), "timing", "config_read",
	        timing(&r->config_read), "register_read", timing(&r->register_read),
	        "unclaimed_read_us", (json_int_t)r->unclaimed_us, "abilities", "alias_write",
	        probe_ability_name(r->alias_write), "sram", probe_ability_name(r->sram), "dma_in",
	        probe_ability_name(r->dma_in), "function_1", probe_ability_name(r->function_1),
	        "byte_stores", probe_ability_name(r->byte_stores), "wide",
	        probe_ability_name(r->wide), "long_tlp", (int)r->long_tlp, "engine_burst",
	        (int)r->engine_burst, "max_transfer", (int)r->max_transfer, "link_gen_width",
	        (int)r->link_speed, (int)r->link_width, "steps", steps(r));
	char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;

	json_decref(root);
	return text;
}

/* is_no_file - a device, a pipe or the like has that name: its place is not to be taken. */
static bool is_no_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

static int write_into(const char *path, const char *text, size_t len)
{
	RX_CLEANUP(close) int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);

	errno = fd < 0 ? errno : ENOSPC; /* a write that stops short says nothing */
	return fd >= 0 && write(fd, text, len) == (ssize_t)len ? 0 : -errno;
}

static int replace(const char *path, const char *text, size_t len)
{
	RX_CLEANUP(free) char *temporary = NULL;

	if (asprintf(&temporary, "%s.XXXXXX", path) < 0) {
		temporary = NULL;
		return -ENOMEM;
	}
	RX_CLEANUP(close) int fd = mkostemp(temporary, O_CLOEXEC);

	if (fd < 0)
		return -errno;
	errno = ENOSPC;
	if (write(fd, text, len) == (ssize_t)len && !fchmod(fd, 0644) && !rename(temporary, path))
		return 0;
	int err = -errno;

	unlink(temporary);
	return err;
}

int probe_report_write(const struct probe_report *r, const char *path)
{
	RX_CLEANUP(free) char *text = probe_report_json(r);

	if (!text)
		return -ENOMEM;
	size_t len = strlen(text);

	text[len++] = '\n'; /* in place of the end, which write does not need */
	int err = is_no_file(path) ? write_into(path, text, len) : replace(path, text, len);

	return err ? rx_fail("probe", err, "cannot write the report \"%s\": %s", path,
	                     strerror(-err))
	           : 0;
}
