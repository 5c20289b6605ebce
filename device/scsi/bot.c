/* bot.c - Bulk-Only Transport: CBW out, data, CSW in, and what to do when any of them goes wrong.
 * The steps are those of bridge.md 1.3, "Host algorithm".
 */
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/scsi/scsi_priv.h"

#define CBW_BYTES        31
#define CSW_BYTES        13
#define CBW_SIGNATURE    0x43425355u /* "USBC" */
#define CSW_SIGNATURE    0x53425355u /* "USBS" */
#define CBW_FLAG_IN      0x80
#define CSW_PASSED       0
#define CSW_FAILED       1
#define CSW_PHASE        2
#define SENSE_BYTES      18
#define OP_REQUEST_SENSE 0x03

struct bot {
	struct scsi s; /* first */
	struct usb_pipe *pipe;
	uint32_t tag;
	unsigned failures; /* transport failures in a row: class reset, port reset, give up */
};

struct csw {
	uint32_t residue;
	uint8_t status;
};

/* reset_pipe - BOT 5.3.4: class reset, then both halts, in this order. */
static int reset_pipe(struct bot *b)
{
	const struct usb_pipe_ops *ops = b->pipe->ops;
	int err = ops->class_reset(b->pipe);

	if (!err)
		err = ops->clear_halt_in(b->pipe);
	if (!err)
		err = ops->clear_halt_out(b->pipe);
	return err;
}

static int reset_recovery(struct bot *b)
{
	b->s.counters.recoveries++;
	return reset_pipe(b);
}

static int bot_settle(struct scsi *s)
{
	int err = reset_pipe((struct bot *)s);

	if (err == -ENODEV)
		return rx_fail("scsi", err, "the bridge was unplugged");
	if (err)
		rx_log(LOG_WARN, "scsi",
		        "the bridge knows no class reset (%s): if a process was killed here, "
		        "unplug and plug it",
		        strerror(-err));
	return 0;
}

static int port_reset(struct bot *b)
{
	b->s.counters.resets++;
	rx_log(LOG_WARN, "scsi",
	        "the bridge did not recover from a class reset: resetting its USB port");
	return b->pipe->ops->port_reset(b->pipe);
}

/* count_fault - by what the pipe reported; what only bot.c can see it counts where it sees it. */
static void count_fault(struct scsi_counters *c, int code)
{
	c->timeouts += code == -ETIMEDOUT;
	c->stalls += code == -EPIPE;
	c->overflows += code == -EOVERFLOW;
}

/* Only time-out and removal tell the caller something the words do not. */
static int transport_error(int code)
{
	return code == -ETIMEDOUT || code == -ENODEV ? code : -EIO;
}

/* give_up_on - a transport failure: recover as far as this run of failures has not tried yet.
 * Returns @code as the caller may see it, or -ENODEV when nothing is left to try. */
static int give_up_on(struct bot *b, int code, const char *what)
{
	if (code == -ENODEV) {
		b->s.gone = true;
		return rx_fail("scsi", -ENODEV, "the bridge was unplugged (%s)", what);
	}
	count_fault(&b->s.counters, code);
	rx_log(LOG_ERROR, "scsi", "%s: %s; recovering the pipe", what, strerror(-code));
	b->failures++;
	int err = b->failures == 1 ? reset_recovery(b) : -EIO;

	if (err && err != -ENODEV && b->failures <= 2) {
		b->failures = 2;
		err = port_reset(b);
	}
	b->s.gone = err != 0;
	if (err)
		return rx_fail("scsi", -ENODEV,
		        "the bridge no longer answers: unplug and power-cycle the enclosure");
	return transport_error(code);
}

static int send_cbw(struct bot *b, const uint8_t *cdb, size_t cdb_len, bool in, size_t len)
{
	uint8_t cbw[CBW_BYTES] = {0};

	put_le32(cbw, CBW_SIGNATURE);
	put_le32(cbw + 4, ++b->tag);
	put_le32(cbw + 8, (uint32_t)len);
	cbw[12] = in ? CBW_FLAG_IN : 0;
	cbw[14] = (uint8_t)cdb_len;
	memcpy(cbw + 15, cdb, cdb_len);
	int n = b->pipe->ops->bulk_out(
	        b->pipe, cbw, sizeof(cbw), 1000); /* 31 bytes: 1 s is an age */

	if (n < 0)
		return n;
	b->s.counters.shorts += n != CBW_BYTES;
	return n == CBW_BYTES ? 0 : -EIO;
}

/* data_phase - move the data. A stall ends it early: the CSW tells the rest. Return: bytes moved.
 */
static int data_phase(struct bot *b, enum scsi_dir dir, void *buf, size_t len, unsigned timeout_ms)
{
	const struct usb_pipe_ops *ops = b->pipe->ops;
	int n = dir == SCSI_IN ? ops->bulk_in(b->pipe, buf, len, timeout_ms)
	                       : ops->bulk_out(b->pipe, buf, len, timeout_ms);

	if (n == -EPIPE) {
		count_fault(&b->s.counters, n);
		return dir == SCSI_IN ? ops->clear_halt_in(b->pipe) : ops->clear_halt_out(b->pipe);
	}
	if (n > 0 && (size_t)n > len)
		return -EOVERFLOW; /* the pipe lies: never trust a length beyond the buffer */
	return n;
}

/* read_csw_bytes - step 3: one stall and one zero-length packet are forgiven. */
static int read_csw_bytes(struct bot *b, uint8_t *csw, unsigned timeout_ms)
{
	const struct usb_pipe_ops *ops = b->pipe->ops;
	int n = ops->bulk_in(b->pipe, csw, CSW_BYTES, timeout_ms);

	if (n == -EPIPE) {
		count_fault(&b->s.counters, n);
		int err = ops->clear_halt_in(b->pipe);

		if (err)
			return err;
		n = ops->bulk_in(b->pipe, csw, CSW_BYTES, timeout_ms);
	} else if (n == 0) {
		n = ops->bulk_in(b->pipe, csw, CSW_BYTES, timeout_ms);
	}
	return n;
}

/* understand_csw - one that carries our tag. */
static int understand_csw(struct bot *b, const uint8_t *csw, size_t len, struct csw *out)
{
	out->residue = get_le32(csw + 8);
	out->status = csw[12];
	if (out->status <= CSW_FAILED && out->residue <= len)
		return 0;
	b->s.counters.bad_status++;
	return out->status == CSW_PHASE ? -EPROTO : -EIO;
}

/* read_csw - steps 3 and 4: a valid and meaningful status, skipping at most one of a command that
 * timed out. */
static int read_csw(struct bot *b, size_t len, unsigned timeout_ms, struct csw *out)
{
	struct scsi_counters *c = &b->s.counters;
	uint8_t csw[CSW_BYTES];

	for (int attempt = 0; attempt < 2; attempt++) {
		int n = read_csw_bytes(b, csw, timeout_ms);

		if (n < 0)
			return n;
		if (n != CSW_BYTES || get_le32(csw) != CSW_SIGNATURE) {
			*(n < CSW_BYTES ? &c->shorts : &c->bad_status) += 1;
			return -EIO;
		}
		if (get_le32(csw + 4) == b->tag)
			return understand_csw(b, csw, len, out);
		c->stale_status++;
	}
	return -EIO;
}

/* transact - one command without sense. Return: bytes moved with @status; transport errors are
 * recovered and logged. */
static int transact(struct bot *b, const uint8_t *cdb, size_t cdb_len, enum scsi_dir dir, void *buf,
        size_t len, unsigned timeout_ms, uint8_t *status)
{
	struct csw csw;
	int moved = 0;
	int err = send_cbw(b, cdb, cdb_len, dir == SCSI_IN, len);

	b->s.counters.commands++;
	if (err)
		return give_up_on(b, err, "command block not accepted");
	if (len) {
		moved = data_phase(b, dir, buf, len, timeout_ms);
		if (moved < 0)
			return give_up_on(b, moved, "data phase failed");
	}
	err = read_csw(b, len, timeout_ms, &csw);
	if (err)
		return give_up_on(b, err, err == -EPROTO ? "phase error" : "no valid status");
	b->failures = 0;
	*status = csw.status;
	b->s.counters.shorts += csw.status == CSW_PASSED && (size_t)moved < len - csw.residue;
	moved = (int)MIN((size_t)moved, len - csw.residue);
	*(dir == SCSI_IN ? &b->s.counters.bytes_in : &b->s.counters.bytes_out) += (uint64_t)moved;
	return moved;
}

static int request_sense(struct bot *b, unsigned timeout_ms, struct scsi_sense *sense)
{
	const uint8_t cdb[6] = {OP_REQUEST_SENSE, 0, 0, 0, SENSE_BYTES, 0};
	uint8_t data[SENSE_BYTES] = {0}, status;
	int n = transact(b, cdb, sizeof(cdb), SCSI_IN, data, sizeof(data), timeout_ms, &status);

	if (n < 0)
		return n;
	if (status == CSW_PASSED && !scsi_read_sense(data, (size_t)n, sense) && sense->key)
		return 0;
	*sense = (struct scsi_sense){0};
	b->s.counters.bad_status++;
	return rx_fail("scsi", -EIO, "the bridge refused a command and gave no sense");
}

static int bot_exec(struct scsi *s, const uint8_t *cdb, size_t cdb_len, enum scsi_dir dir,
        void *buf, size_t len, unsigned timeout_ms, struct scsi_sense *sense)
{
	struct bot *b = (struct bot *)s;
	uint8_t status;
	int n = transact(b, cdb, cdb_len, dir, buf, len, timeout_ms, &status);

	if (n < 0 || status == CSW_PASSED)
		return n;
	int err = request_sense(b, timeout_ms, sense);

	return err ? err : -EIO;
}

static void bot_identity(struct scsi *s, struct usb_identity *out)
{
	struct usb_pipe *pipe = ((struct bot *)s)->pipe;

	pipe->ops->identity(pipe, out);
}

static void bot_link_stats(struct scsi *s, struct usb_link_stats *out)
{
	struct usb_pipe *pipe = ((struct bot *)s)->pipe;

	pipe->ops->link_stats(pipe, out);
}

static bool bot_left(struct scsi *s)
{
	struct usb_pipe *pipe = ((struct bot *)s)->pipe;

	return pipe->ops->left && pipe->ops->left(pipe);
}

static void bot_free(struct scsi *s)
{
	struct usb_pipe *pipe = ((struct bot *)s)->pipe;

	pipe->ops->close(pipe);
	free(s);
}

int scsi_bot_new(struct scsi **out, struct usb_pipe *pipe)
{
	static const struct scsi_ops ops = {
	        bot_exec, bot_identity, bot_link_stats, bot_free, bot_left, bot_settle};
	struct bot *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->s.ops = &ops;
	b->pipe = pipe;
	b->tag = 0x52580000; /* any start will do; recognisable in a trace */
	*out = &b->s;
	return 0;
}
