/* scsi_priv.h - what every carrier of SCSI commands shares. A carrier puts struct scsi first in its
 * own structure.
 */
#ifndef RX_SCSI_PRIV_H
#define RX_SCSI_PRIV_H

#include "device/scsi/scsi.h"

#define CDB_MAX 16

struct scsi_ops {
	/* As scsi_exec; arguments have been checked, @sense is there and zero. */
	int (*exec)(struct scsi *s, const uint8_t *cdb, size_t cdb_len, enum scsi_dir dir,
	        void *buf, size_t len, unsigned timeout_ms, struct scsi_sense *sense);
	void (*identity)(struct scsi *s, struct usb_identity *out);
	void (*link_stats)(struct scsi *s, struct usb_link_stats *out);
	void (*free)(struct scsi *s);
	bool (*left)(struct scsi *s);  /* as scsi_left; NULL: never seen to */
	int (*settle)(struct scsi *s); /* as scsi_settle; NULL: nothing to be done */
};

struct scsi {
	const struct scsi_ops *ops;
	struct scsi_counters counters;
	bool gone; /* said once; nothing is sent any more */
	uint32_t last_us;
	bool own_time; /* the carrier sets last_us itself */
};

/* scsi_read_sense - key, ASC and ASCQ from sense data in fixed (70, 71) or descriptor (72, 73)
 * format: SPC-4 4.5. Return: 0; -EIO neither, or too short. */
int scsi_read_sense(const uint8_t *data, size_t len, struct scsi_sense *out);

#endif
