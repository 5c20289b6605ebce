/* record.c - a carrier that writes down what another one carries: trace.h. A trace that cannot be
 * written any more is given up with one line; the commands go on.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/scsi/scsi_priv.h"
#include "device/scsi/trace.h"

#define LINE_MAX_BYTES (2 * TRACE_INLINE + 128)

struct record {
	struct scsi s; /* first */
	struct scsi *inner;
	FILE *file; /* NULL: given up */
	uint64_t digest, commands;
};

static void put(struct record *r, const char *text)
{
	if (!r->file)
		return;
	r->digest = trace_fnv(r->digest, text, strlen(text));
	if (fputs(text, r->file) >= 0 && fflush(r->file) == 0)
		return;
	rx_log(LOG_WARN, "trace", "cannot write the trace (%s): it ends here", strerror(errno));
	fclose(r->file);
	r->file = NULL;
}

static void hex(char *out, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sprintf(out + 2 * i, "%02x", data[i]);
	out[2 * len] = '\0';
}

/* may_show - answers known to hold no serial number: identification, registers, the card's own
 * memory. Of the flash, which holds the enclosure's configuration, only the two image headers
 * (bridge.md 2.3, 2.7). */
static bool may_show(const uint8_t *cdb)
{
	static const uint8_t subs[] = {0x82, 0xA2, 0xA5, 0xA6, 0xB2, 0xB3, 0xB4, 0xB5, 0xBB, 0xD1};
	uint32_t addr = get_le32(cdb + 8), len = get_le32(cdb + 12);
	uint16_t xdata = get_be16(cdb + 3);

	switch (cdb[0]) {
	case 0x00:              /* TEST UNIT READY */
	case 0x03:              /* REQUEST SENSE */
	case 0x12:              /* INQUIRY, redacted */
	case 0xE3: return true; /* only what the driver itself may send */
	case 0xE2:
		if (cdb[4] == 0x92)
			return (addr == 0xAC004000 && len == 0x60) ||
			       (addr == 0x8C013000 && len == 0x18) ||
			       (addr >= 0xB3200000 && addr < 0xB3240000);
		return memchr(subs, cdb[4], sizeof(subs)) != NULL;
	case 0xE4: /* ASMedia: version and PCIe registers, bridge.md 3.2; all else may be data */
		return xdata == 0x07F0 || (xdata >= 0xB200 && xdata < 0xB800);
	default: return false;
	}
}

static void put_bytes(struct record *r, const uint8_t *cdb, const uint8_t *data, size_t len)
{
	char text[LINE_MAX_BYTES] = " withheld";

	if (len > TRACE_INLINE && may_show(cdb))
		snprintf(text, sizeof(text), " fnv:%016llx",
		        (unsigned long long)trace_fnv(TRACE_FNV_START, data, len));
	else if (may_show(cdb)) {
		uint8_t shown[TRACE_INLINE];

		memcpy(shown, data, len);
		scsi_redact(cdb, shown, len);
		hex(text + 1, shown, len);
	}
	put(r, text);
}

static void put_command(struct record *r, const uint8_t *cdb, size_t cdb_len, enum scsi_dir dir,
        const void *buf, size_t len)
{
	static const char *const names[] = {
	        [SCSI_NONE] = "none", [SCSI_IN] = "in", [SCSI_OUT] = "out"};
	char text[64], padded[2 * CDB_MAX + 1];

	hex(padded, cdb, cdb_len);
	snprintf(text, sizeof(text), "cmd %s %s %zu", padded, names[dir], len);
	put(r, text);
	if (dir == SCSI_OUT) {
		uint8_t whole[CDB_MAX] = {0};

		memcpy(whole, cdb, cdb_len);
		put_bytes(r, whole, buf, len);
	}
	put(r, " -> ");
}

static const char *error_name(int err)
{
	switch (err) {
	case -ETIMEDOUT: return "ETIMEDOUT";
	case -ENODEV: return "ENODEV";
	case -EMSGSIZE: return "EMSGSIZE";
	default: return "EIO";
	}
}

static void put_result(struct record *r, const uint8_t *cdb, size_t cdb_len, enum scsi_dir dir,
        const void *buf, int n, bool reset, const struct scsi_sense *sense)
{
	uint8_t whole[CDB_MAX] = {0};
	char text[64], result[32];

	memcpy(whole, cdb, cdb_len);
	if (n >= 0)
		snprintf(result, sizeof(result), "ok %d", n);
	else if (sense->key)
		snprintf(result, sizeof(result), "sense %x/%02x/%02x", sense->key, sense->asc,
		        sense->ascq);
	else
		snprintf(result, sizeof(result), "error %s", error_name(n));
	snprintf(text, sizeof(text), "%u%s %s", r->s.last_us, reset ? " reset" : "", result);
	put(r, text);
	if (dir == SCSI_IN && n > 0)
		put_bytes(r, whole, buf, (size_t)n);
	put(r, "\n");
	r->commands++;
}

static int record_exec(struct scsi *s, const uint8_t *cdb, size_t cdb_len, enum scsi_dir dir,
        void *buf, size_t len, unsigned timeout_ms, struct scsi_sense *sense)
{
	struct record *r = (struct record *)s;
	struct scsi_counters now;

	put_command(r, cdb, cdb_len, dir, buf, len);
	int n = scsi_exec(r->inner, cdb, cdb_len, dir, buf, len, timeout_ms, sense);

	scsi_read_counters(r->inner, &now);
	bool reset = now.resets != s->counters.resets;

	s->last_us = scsi_last_us(r->inner);
	s->counters = now;
	put_result(r, cdb, cdb_len, dir, buf, n, reset, sense);
	return n;
}

static void record_identity(struct scsi *s, struct usb_identity *out)
{
	scsi_identity(((struct record *)s)->inner, out);
}

static void record_link_stats(struct scsi *s, struct usb_link_stats *out)
{
	scsi_link_stats(((struct record *)s)->inner, out);
}

static int record_settle(struct scsi *s)
{
	return scsi_settle(((struct record *)s)->inner);
}

static bool record_left(struct scsi *s)
{
	return scsi_left(((struct record *)s)->inner);
}

static void put_end(struct record *r)
{
	char text[64];

	snprintf(text, sizeof(text), "end %llu %016llx\n", (unsigned long long)r->commands,
	        (unsigned long long)r->digest);
	put(r, text);
}

static void record_free(struct scsi *s)
{
	struct record *r = (struct record *)s;

	put_end(r);
	if (r->file)
		fclose(r->file);
	scsi_free(r->inner);
	free(r);
}

static FILE *make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f && fd >= 0)
		close(fd);
	return f;
}

int scsi_record_new(struct scsi **out, struct scsi *inner, const char *path)
{
	static const struct scsi_ops ops = {record_exec, record_identity, record_link_stats,
	        record_free, record_left, record_settle};
	struct record *r = calloc(1, sizeof(*r));
	struct usb_identity id;
	char text[128];

	if (!r)
		return -ENOMEM;
	r->file = make_file(path);
	if (!r->file) {
		int err = -errno;

		free(r);
		return rx_fail(
		        "trace", err, "cannot make the trace \"%s\": %s", path, strerror(-err));
	}
	r->s.ops = &ops;
	r->s.own_time = true;
	r->inner = inner;
	r->digest = TRACE_FNV_START;
	scsi_read_counters(inner, &r->s.counters);
	scsi_identity(inner, &id);
	snprintf(text, sizeof(text), TRACE_MAGIC "\ndevice %04x %04x %04x %u\n", id.vid, id.pid,
	        id.bcd_device, id.mbit);
	put(r, text);
	*out = &r->s;
	return 0;
}
