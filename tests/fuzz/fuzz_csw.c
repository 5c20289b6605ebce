/* fuzz_csw.c - libFuzzer entry: an arbitrary device at the other end of the bulk pipes. Input: a
 * mode byte, then for each call of the driver what becomes of it. Mode bit 0: the bridge layer is
 * above Bulk-Only Transport and identifies the device first.
 *
 * Any documented answer is right, as long as no command goes out twice by itself, no more bytes are
 * reported than the buffer holds, and nothing is sent to a device that is gone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/bridge/bridge.h"
#include "device/bytes.h"
#include "device/log.h"
#include "device/scsi/scsi.h"

#define CBW_BYTES 31
#define CSW_BYTES 13

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct device {
	struct usb_pipe pipe; /* first, see usb.h */
	const uint8_t *at;
	size_t left;
	uint8_t tag[4];
	unsigned commands; /* without REQUEST SENSE */
	bool gone;         /* it has said so */
};

static size_t take(struct device *d, void *out, size_t len)
{
	size_t n = MIN(len, d->left);

	memset(out, 0, len);
	if (n)
		memcpy(out, d->at, n);
	d->at += n;
	d->left -= n;
	return n;
}

/* What becomes of a call; an input that has ended is a device that has left. */
enum fate { DONE, PART, STALL, LATE, BABBLE, LEAVE, FAIL, STATUS };

static enum fate next_fate(struct device *d)
{
	uint8_t byte;

	if (d->gone) /* nothing may be sent any more */
		abort();
	return take(d, &byte, 1) ? (enum fate)(byte & 7) : LEAVE;
}

static int code_of(struct device *d, enum fate fate)
{
	switch (fate) {
	case STALL: return -EPIPE;
	case LATE: return -ETIMEDOUT;
	case BABBLE: return -EOVERFLOW;
	case LEAVE: d->gone = true; return -ENODEV;
	case FAIL: return -EIO;
	default: return 0;
	}
}

static int some_of(struct device *d, size_t len)
{
	uint8_t n;

	take(d, &n, 1);
	return (int)MIN((size_t)n, len + 1); /* one more than there is room for: a pipe that lies */
}

static int bulk_out(struct usb_pipe *p, const void *data, size_t len, unsigned timeout_ms)
{
	struct device *d = (struct device *)p;
	enum fate fate = next_fate(d);
	const uint8_t *cbw = data;

	(void)timeout_ms;
	if (len == CBW_BYTES && !memcmp(data, "USBC", 4)) {
		memcpy(d->tag, cbw + 4, 4);
		d->commands += cbw[15] != 0x03;
	}
	if (fate == PART)
		return some_of(d, len);
	return fate == DONE || fate == STATUS ? (int)len : code_of(d, fate);
}

/* answer_status - a CSW with the right signature and tag, and a residue and status of the input. */
static int answer_status(struct device *d, uint8_t *data, size_t len)
{
	uint8_t csw[CSW_BYTES] = "USBS", rest[2];

	take(d, rest, sizeof(rest));
	memcpy(csw + 4, d->tag, 4);
	csw[8] = rest[0];
	csw[12] = rest[1];
	if (len < CSW_BYTES)
		return -EOVERFLOW;
	memcpy(data, csw, CSW_BYTES);
	return CSW_BYTES;
}

static int bulk_in(struct usb_pipe *p, void *data, size_t len, unsigned timeout_ms)
{
	struct device *d = (struct device *)p;
	enum fate fate = next_fate(d);

	(void)timeout_ms;
	if (fate == STATUS)
		return answer_status(d, data, len);
	if (fate == DONE) {
		take(d, data, len);
		return (int)len;
	}
	if (fate != PART)
		return code_of(d, fate);
	int n = some_of(d, len);

	take(d, data, MIN((size_t)n, len));
	return n;
}

static int request(struct usb_pipe *p)
{
	struct device *d = (struct device *)p;

	return code_of(d, next_fate(d));
}

static void identity(struct usb_pipe *p, struct usb_identity *out)
{
	(void)p;
	*out = (struct usb_identity){0};
}

static void link_stats(struct usb_pipe *p, struct usb_link_stats *out)
{
	(void)p;
	*out = (struct usb_link_stats){0};
}

static void close_pipe(struct usb_pipe *p)
{
	(void)p;
}

static const struct usb_pipe_ops device_ops = {
        .bulk_out = bulk_out,
        .bulk_in = bulk_in,
        .clear_halt_out = request,
        .clear_halt_in = request,
        .class_reset = request,
        .port_reset = request,
        .identity = identity,
        .link_stats = link_stats,
        .close = close_pipe,
};

static void command(struct device *d, struct scsi *s, enum scsi_dir dir, size_t len)
{
	static const uint8_t cdb[16] = {0xE2, 0, 0, 0, 0x92};
	uint8_t *buf = calloc(1, len ? len : 1);
	unsigned before = d->commands;
	struct scsi_sense sense;

	if (!buf)
		abort();
	int n = scsi_exec(s, cdb, sizeof(cdb), dir, len ? buf : NULL, len, 1000, &sense);

	free(buf);
	if (d->commands > before + 1 || n > (int)len ||
	        (n < 0 && n != -EIO && n != -ETIMEDOUT && n != -ENODEV) || (sense.key && n != -EIO))
		abort();
}

static void use_commands(struct device *d, struct scsi *s)
{
	static const size_t lengths[] = {4, 512, 13, 1, 64};

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		command(d, s, SCSI_IN, lengths[i]);
		command(d, s, SCSI_OUT, lengths[i]);
		command(d, s, SCSI_NONE, 0);
	}
}

static void documented(int err)
{
	if (err > 0 || (err && err != -EIO && err != -ETIMEDOUT && err != -ENODEV &&
	                       err != -ENOTSUP && err != -EINVAL && err != -EPERM))
		abort();
}

static void use_bridge(struct bridge *b)
{
	uint8_t buf[64] = {0};
	uint32_t value;

	for (int i = 0; i < 4; i++) {
		documented(b->ops->cfg_read(b, 0, 4, &value));
		documented(b->ops->mem_write(b, 0xF0000000, buf, sizeof(buf)));
		documented(b->ops->mem_read(b, 0xF0000000, buf, sizeof(buf)));
		documented(b->ops->mem_write32(b, 0xE0040000, 1));
		documented(b->ops->mem_read32(b, 0xE0040000, &value));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bridge_hooks none = {0};
	struct device d = {.pipe = {&device_ops}, .at = data, .left = size};
	struct bridge *b;
	struct scsi *s;
	uint8_t mode;

	rx_log_set_stderr(false);
	take(&d, &mode, 1);
	if (scsi_bot_new(&s, &d.pipe))
		abort();
	if (!(mode & 1)) {
		use_commands(&d, s);
		scsi_free(s);
		return 0;
	}
	int err = bridge_open(&b, s, &none);

	if (err) {
		documented(err);
		scsi_free(s);
		return 0;
	}
	use_bridge(b);
	bridge_free(b);
	return 0;
}
