/* bot.c - Bulk-Only Transport: CBW out, data, CSW in, and what to do when any of them goes wrong.
 * The steps are those of bridge.md 1.3, "Host algorithm".
 */
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/scsi/scsi.h"

#define CBW_BYTES        31
#define CSW_BYTES        13
#define CBW_SIGNATURE    0x43425355u /* "USBC" */
#define CSW_SIGNATURE    0x53425355u /* "USBS" */
#define CBW_FLAG_IN      0x80
#define CSW_PASSED       0
#define CSW_FAILED       1
#define CSW_PHASE        2
#define CDB_MAX          16
#define SENSE_BYTES      18
#define OP_REQUEST_SENSE 0x03

struct scsi {
	struct usb_pipe *pipe;
	uint32_t tag;
	unsigned failures; /* transport failures in a row: class reset, port reset, give up */
	bool gone;         /* said once; nothing is sent any more */
	struct scsi_counters counters;
};

struct csw {
	uint32_t residue;
	uint8_t status;
};

int scsi_bot_new(struct scsi **out, struct usb_pipe *pipe)
{
	struct scsi *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->pipe = pipe;
	s->tag = 0x52580000; /* any start will do; recognisable in a trace */
	*out = s;
	return 0;
}

void scsi_free(struct scsi *s)
{
	if (!s)
		return;
	s->pipe->ops->close(s->pipe);
	free(s);
}

void scsi_read_counters(const struct scsi *s, struct scsi_counters *out)
{
	*out = s->counters;
}

struct usb_pipe *scsi_pipe(struct scsi *s)
{
	return s->pipe;
}

/* reset_recovery - BOT 5.3.4: class reset, then both halts, in this order. */
static int reset_recovery(struct scsi *s)
{
	const struct usb_pipe_ops *ops = s->pipe->ops;
	int err = ops->class_reset(s->pipe);

	s->counters.recoveries++;
	if (!err)
		err = ops->clear_halt_in(s->pipe);
	if (!err)
		err = ops->clear_halt_out(s->pipe);
	return err;
}

static int port_reset(struct scsi *s)
{
	s->counters.resets++;
	rx_log(LOG_WARN, "scsi",
	        "the bridge did not recover from a class reset: resetting its USB port");
	return s->pipe->ops->port_reset(s->pipe);
}

/* give_up_on - a transport failure: recover as far as this run of failures has not tried yet.
 * Returns @code, or -ENODEV when nothing is left to try. */
static int give_up_on(struct scsi *s, int code, const char *what)
{
	if (code == -ENODEV) {
		s->gone = true;
		return rx_fail("scsi", -ENODEV, "the bridge was unplugged (%s)", what);
	}
	rx_log(LOG_ERROR, "scsi", "%s: %s; recovering the pipe", what, strerror(-code));
	s->failures++;
	int err = s->failures == 1 ? reset_recovery(s) : -EIO;

	if (err && err != -ENODEV && s->failures <= 2) {
		s->failures = 2;
		err = port_reset(s);
	}
	s->gone = err != 0;
	if (err)
		return rx_fail("scsi", -ENODEV,
		        "the bridge no longer answers: unplug and power-cycle the enclosure");
	return code;
}

static int send_cbw(struct scsi *s, const uint8_t *cdb, size_t cdb_len, bool in, size_t len)
{
	uint8_t cbw[CBW_BYTES] = {0};

	put_le32(cbw, CBW_SIGNATURE);
	put_le32(cbw + 4, ++s->tag);
	put_le32(cbw + 8, (uint32_t)len);
	cbw[12] = in ? CBW_FLAG_IN : 0;
	cbw[14] = (uint8_t)cdb_len;
	memcpy(cbw + 15, cdb, cdb_len);
	int n = s->pipe->ops->bulk_out(
	        s->pipe, cbw, sizeof(cbw), 1000); /* 31 bytes: 1 s is an age */

	if (n < 0)
		return n;
	return n == CBW_BYTES ? 0 : -EIO;
}

/* data_phase - move the data. A stall ends it early: the CSW tells the rest. Return: bytes moved.
 */
static int data_phase(struct scsi *s, enum scsi_dir dir, void *buf, size_t len, unsigned timeout_ms)
{
	const struct usb_pipe_ops *ops = s->pipe->ops;
	int n = dir == SCSI_IN ? ops->bulk_in(s->pipe, buf, len, timeout_ms)
	                       : ops->bulk_out(s->pipe, buf, len, timeout_ms);

	if (n == -EPIPE) {
		int err =
		        dir == SCSI_IN ? ops->clear_halt_in(s->pipe) : ops->clear_halt_out(s->pipe);

		return err ? err : 0;
	}
	if (n > 0 && (size_t)n > len)
		return -EIO; /* the pipe lies: never trust a length beyond the buffer */
	return n;
}

/* read_csw_bytes - step 3: one stall and one zero-length packet are forgiven. */
static int read_csw_bytes(struct scsi *s, uint8_t *csw, unsigned timeout_ms)
{
	const struct usb_pipe_ops *ops = s->pipe->ops;
	int n = ops->bulk_in(s->pipe, csw, CSW_BYTES, timeout_ms);

	if (n == -EPIPE) {
		int err = ops->clear_halt_in(s->pipe);

		if (err)
			return err;
		n = ops->bulk_in(s->pipe, csw, CSW_BYTES, timeout_ms);
	} else if (n == 0) {
		n = ops->bulk_in(s->pipe, csw, CSW_BYTES, timeout_ms);
	}
	return n;
}

/* read_csw - steps 3 and 4: a valid and meaningful status, skipping at most one of a command that
 * timed out. */
static int read_csw(struct scsi *s, size_t len, unsigned timeout_ms, struct csw *out)
{
	uint8_t csw[CSW_BYTES];

	for (int attempt = 0; attempt < 2; attempt++) {
		int n = read_csw_bytes(s, csw, timeout_ms);

		if (n < 0)
			return n;
		if (n != CSW_BYTES || get_le32(csw) != CSW_SIGNATURE)
			return -EIO;
		if (get_le32(csw + 4) == s->tag) {
			out->residue = get_le32(csw + 8);
			out->status = csw[12];
			if (out->status == CSW_PHASE)
				return -EPROTO;
			return out->status <= CSW_FAILED && out->residue <= len ? 0 : -EIO;
		}
	}
	return -EIO;
}

/* transact - one command without sense. Return: bytes moved with @status; transport errors are
 * recovered and logged. */
static int transact(struct scsi *s, const uint8_t *cdb, size_t cdb_len, enum scsi_dir dir,
        void *buf, size_t len, unsigned timeout_ms, uint8_t *status)
{
	struct csw csw;
	int moved = 0;
	int err = send_cbw(s, cdb, cdb_len, dir == SCSI_IN, len);

	s->counters.commands++;
	if (err)
		return give_up_on(s, err == -EPIPE ? -EIO : err, "command block not accepted");
	if (len) {
		moved = data_phase(s, dir, buf, len, timeout_ms);
		if (moved < 0)
			return give_up_on(s, moved, "data phase failed");
	}
	err = read_csw(s, len, timeout_ms, &csw);
	if (err)
		return give_up_on(s, err == -EPIPE || err == -EPROTO ? -EIO : err,
		        err == -EPROTO ? "phase error" : "no valid status");
	s->failures = 0;
	*status = csw.status;
	moved = (int)MIN((size_t)moved, len - csw.residue);
	*(dir == SCSI_IN ? &s->counters.bytes_in : &s->counters.bytes_out) += (uint64_t)moved;
	return moved;
}

static int request_sense(struct scsi *s, unsigned timeout_ms, struct scsi_sense *sense)
{
	const uint8_t cdb[6] = {OP_REQUEST_SENSE, 0, 0, 0, SENSE_BYTES, 0};
	uint8_t data[SENSE_BYTES] = {0}, status;
	int n = transact(s, cdb, sizeof(cdb), SCSI_IN, data, sizeof(data), timeout_ms, &status);

	if (n < 0)
		return n;
	if (status != CSW_PASSED || n < 14)
		return rx_fail("scsi", -EIO, "the bridge refused a command and gave no sense");
	sense->key = data[2] & 0x0F;
	sense->asc = data[12];
	sense->ascq = data[13];
	return 0;
}

int scsi_exec(struct scsi *s, const uint8_t *cdb, size_t cdb_len, enum scsi_dir dir, void *buf,
        size_t len, unsigned timeout_ms, struct scsi_sense *sense)
{
	struct scsi_sense own;
	uint8_t status;

	if (!sense)
		sense = &own;
	*sense = (struct scsi_sense){0};
	if (cdb_len == 0 || cdb_len > CDB_MAX || len > UINT32_MAX ||
	        (dir == SCSI_NONE) != (len == 0))
		return -EINVAL;
	if (s->gone)
		return -ENODEV;
	int n = transact(s, cdb, cdb_len, dir, buf, len, timeout_ms, &status);

	if (n < 0 || status == CSW_PASSED)
		return n;
	int err = request_sense(s, timeout_ms, sense);

	return err ? err : -EIO;
}
