/* scsi.h - one SCSI command: CDB, data, sense. Carriers: bot.c over a pair of bulk pipes
 * (bridge.md 1.3), sg.c over Linux SG_IO (bridge.md 1.6), replay.c from a file; record.c stands in
 * front of another. Called only on the owner thread, but for scsi_left.
 */
#ifndef RX_SCSI_H
#define RX_SCSI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/usb/usb.h"

struct scsi;

enum scsi_dir { SCSI_NONE, SCSI_IN, SCSI_OUT };

/* Why a device refused a command; key 0 when it did not refuse. SPC-4 fixed format: bridge.md 1.3
 * step 5. */
struct scsi_sense {
	uint8_t key, asc, ascq;
};

struct scsi_counters {
	uint64_t commands, bytes_in, bytes_out; /* on the wire; REQUEST SENSE counts */
	uint64_t calls, busy_us;                /* scsi_exec that sent something, and their time */
	uint64_t recoveries;                    /* class resets */
	unsigned resets;                        /* USB port resets: the device has lost its state */
	/* what went wrong on the way, one event one count; SG_IO sees only what the kernel tells */
	uint64_t timeouts;     /* a phase not done by its deadline */
	uint64_t stalls;       /* an endpoint halted */
	uint64_t shorts;       /* fewer bytes than a phase or its status promised */
	uint64_t overflows;    /* more bytes than asked for: a status where data was due */
	uint64_t bad_status;   /* no or no meaningful CSW, phase error, refusal without sense */
	uint64_t stale_status; /* CSWs of earlier commands that were skipped */
};

/* scsi_bot_new - Bulk-Only Transport over @pipe. Takes ownership of @pipe only when it succeeds. */
int scsi_bot_new(struct scsi **out, struct usb_pipe *pipe);

/* scsi_sg_new - SG_IO on @path ("/dev/sg2"). The kernel's own driver stays bound and recovers the
 * link: a time-out or reset it reports counts as scsi_counters.resets. Return: 0; -EACCES, -ENODEV,
 * -EBUSY, -ENOTTY no SCSI generic node (all logged); -ENOMEM. */
int scsi_sg_new(struct scsi **out, const char *path);

/* scsi_record_new - every command goes to @inner, and into the text file @path (made anew, mode
 * 0600): CDB, direction, length, data, status, microseconds. What could name a person is left out
 * (scsi_redact). The format is that of device/scsi/trace.h. Takes ownership of @inner only when it
 * succeeds. Return: 0; -errno the file cannot be made (logged); -ENOMEM. */
int scsi_record_new(struct scsi **out, struct scsi *inner, const char *path);
/* scsi_replay_new - plays the trace in file @path as a device: commands must come as they were
 * recorded, answers are those of the file. The first command that differs ends the device (-ENODEV,
 * logged with the line). Return: 0; -EINVAL no whole, unchanged trace (logged with the line);
 * -errno of reading it (logged); -ENOMEM. */
int scsi_replay_new(struct scsi **out, const char *path);
/* scsi_replay_text - the same for the @len bytes at @text, called @name in messages. */
int scsi_replay_text(struct scsi **out, const char *name, const char *text, size_t len);
/* scsi_redact - overwrite with 'x' what could name a person or a unit in the answer to @cdb: serial
 * numbers, and names of an INQUIRY that are no bridge maker's own. */
void scsi_redact(const uint8_t *cdb, uint8_t *data, size_t len);
void scsi_free(struct scsi *s); /* NULL is fine */

/* scsi_settle - before the first command. A process that was killed inside a command has left the
 * device in it: if it waits for data, it takes the next command block for them, and they go
 * wherever the dead process wanted to write. Return: 0, also when the device knows no class reset
 * (logged); -ENODEV. */
int scsi_settle(struct scsi *s);

/* scsi_exec - run one command and wait for its status.
 * @cdb: 1..16 bytes; @len must be what the CDB implies (bridge.md 1.4)
 * @sense: filled when the device refused; may be NULL
 *
 * Nothing is repeated in here: whether a command may run twice only the caller knows. After a
 * transport failure the pipe has been recovered (class reset, then once a port reset: see
 * scsi_counters.resets).
 *
 * Return: bytes moved; -EIO refused (sense->key != 0, not logged) or transport failure (logged);
 * -EMSGSIZE more than the host's kernel moves in one command: nothing was sent (logged);
 * -ETIMEDOUT no answer in @timeout_ms (logged); -ENODEV unplugged, or hung beyond recovery
 * (logged).
 */
int scsi_exec(struct scsi *s, const uint8_t *cdb, size_t cdb_len, enum scsi_dir dir, void *buf,
        size_t len, unsigned timeout_ms, struct scsi_sense *sense);

/* scsi_last_us - how long the last command took; a replayed one as long as it did when recorded. */
uint32_t scsi_last_us(const struct scsi *s);
void scsi_read_counters(const struct scsi *s, struct scsi_counters *out);
/* scsi_left - whether the device was seen to be unplugged, without a command. Any thread, but not
 * during scsi_free. False does not prove that it is there. */
bool scsi_left(struct scsi *s);
/* Of the device at the other end; an SG node need not be USB, its ids are 0 then. */
void scsi_identity(struct scsi *s, struct usb_identity *out);
void scsi_link_stats(struct scsi *s, struct usb_link_stats *out);

#endif
