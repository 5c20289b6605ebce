/* scsi.c - what is the same for every carrier: arguments, the end of a device, sense data. */
#include "device/clock.h"
#include "device/err.h"
#include "device/scsi/scsi_priv.h"

int scsi_exec(struct scsi *s, const uint8_t *cdb, size_t cdb_len, enum scsi_dir dir, void *buf,
        size_t len, unsigned timeout_ms, struct scsi_sense *sense)
{
	struct scsi_sense own;

	if (!sense)
		sense = &own;
	*sense = (struct scsi_sense){0};
	if (cdb_len == 0 || cdb_len > CDB_MAX || len > INT32_MAX ||
	        (dir == SCSI_NONE) != (len == 0))
		return -EINVAL;
	if (s->gone)
		return -ENODEV;
	uint64_t start = now_ns();

	s->counters.calls++;

	int n = s->ops->exec(s, cdb, cdb_len, dir, buf, len, timeout_ms, sense);

	if (!s->own_time) {
		s->last_us = (uint32_t)((now_ns() - start) / 1000);
		s->counters.busy_us += s->last_us;
	}
	return n;
}

int scsi_read_sense(const uint8_t *data, size_t len, struct scsi_sense *out)
{
	uint8_t format = len ? data[0] & 0x7F : 0;

	if ((format == 0x70 || format == 0x71) && len >= 14)
		*out = (struct scsi_sense){data[2] & 0x0F, data[12], data[13]};
	else if ((format == 0x72 || format == 0x73) && len >= 4)
		*out = (struct scsi_sense){data[1] & 0x0F, data[2], data[3]};
	else
		return -EIO;
	return 0;
}

void scsi_free(struct scsi *s)
{
	if (s)
		s->ops->free(s);
}

uint32_t scsi_last_us(const struct scsi *s)
{
	return s->last_us;
}

void scsi_read_counters(const struct scsi *s, struct scsi_counters *out)
{
	*out = s->counters;
}

void scsi_identity(struct scsi *s, struct usb_identity *out)
{
	s->ops->identity(s, out);
}

void scsi_link_stats(struct scsi *s, struct usb_link_stats *out)
{
	s->ops->link_stats(s, out);
}

int scsi_settle(struct scsi *s)
{
	return s->ops->settle ? s->ops->settle(s) : 0;
}

bool scsi_left(struct scsi *s)
{
	return s->ops->left && s->ops->left(s);
}
