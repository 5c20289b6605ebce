/* uas_target.c - USB Attached SCSI from the device's side, without streams as at high speed: IUs on
 * the command and status pipes, data when a READY IU has announced it (bridge.md 1.5; T10 UAS,
 * "information units"). Commands wait by tag and are executed one at a time, each when the host
 * asks for status. Assumes the caller checked halts and the alternate setting.
 */
#include <errno.h>
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/enclosure/usb_descriptors.h"
#include "device/virtual/enclosure/venc_priv.h"

/* bridge.md 1.5; sizes: T10 UAS, tables of each IU */
#define IU_COMMAND      0x01
#define IU_SENSE        0x03
#define IU_RESPONSE     0x04
#define IU_TASK         0x05
#define IU_READ_READY   0x06
#define IU_WRITE_READY  0x07
#define COMMAND_BYTES   32
#define SENSE_BYTES     16 /* before the sense data */
#define RESPONSE_BYTES  8
#define TASK_BYTES      16
#define READY_BYTES     4
#define SENSE_DATA      18 /* bridge.md 5.1: fixed format */
#define SENSE_CUT       12 /* the sense IU of VENC_FAULT_CSW_SHORT */
#define TASK_COMPLETE   0x00
#define INVALID_IU      0x02
#define NOT_SUPPORTED   0x04
#define INCORRECT_LUN   0x09
#define OVERLAPPED_TAG  0x0A
#define ABORT_TASK      0x01
#define LU_RESET        0x08
#define I_T_NEXUS_RESET 0x10

/* status codes: SAM-5 5.3.1; task attributes of the command IU: Linux include/linux/usb/uas.h */
#define STATUS_GOOD     0x00
#define STATUS_CHECK    0x02
#define STATUS_SET_FULL 0x28
#define ATTR_SIMPLE     0
#define ATTR_HEAD       1

static const struct sense SENSE_NO_LUN = {5, 0x25, 0};       /* SPC-4 4.6.4 */
static const struct sense SENSE_DATA_PHASE = {0xB, 0x4B, 0}; /* SPC-4 annex F: DATA PHASE ERROR */

void venc_uas_reset(struct venc *e)
{
	memset(&e->uas, 0, sizeof(e->uas));
}

static void put_head(uint8_t *iu, uint8_t id, uint16_t tag)
{
	iu[0] = id;
	iu[2] = (uint8_t)(tag >> 8);
	iu[3] = (uint8_t)tag;
}

/* ---- command pipe ---- */

/* Nothing is taken from the command pipe while there is no room for its answer. */
static uint8_t *new_answer(struct venc *e, unsigned size)
{
	struct uas_answer *a = &e->uas.answer[e->uas.answers++];

	*a = (struct uas_answer){.size = size};
	return a->iu;
}

static void respond(struct venc *e, uint16_t tag, uint8_t code)
{
	uint8_t *iu = new_answer(e, RESPONSE_BYTES);

	put_head(iu, IU_RESPONSE, tag);
	iu[7] = code;
}

static void refuse_iu(struct venc *e, uint16_t tag, uint8_t code, const char *why)
{
	venc_guest_error(e, "uas: tag %u: %s", tag, why);
	respond(e, tag, code);
}

static bool tag_in_use(const struct venc_uas *u, uint16_t tag)
{
	for (unsigned i = 0; i < u->waiting; i++)
		if (u->command[i].tag == tag)
			return true;
	return u->phase != UAS_IDLE && u->tag == tag;
}

static bool is_lun0(const uint8_t *lun)
{
	static const uint8_t lun0[8];

	return !memcmp(lun, lun0, sizeof(lun0));
}

static void take_command(struct venc *e, const uint8_t *iu, size_t len, uint16_t tag)
{
	struct venc_uas *u = &e->uas;

	if (len != COMMAND_BYTES || iu[6]) {
		refuse_iu(e, tag, INVALID_IU, "a command IU has 32 bytes and a CDB of 16");
	} else if (tag_in_use(u, tag)) {
		refuse_iu(e, tag, OVERLAPPED_TAG, "another command with this tag is not answered");
	} else if (u->waiting == UAS_DEPTH) {
		uint8_t *full = new_answer(e, SENSE_BYTES);

		put_head(full, IU_SENSE, tag);
		full[6] = STATUS_SET_FULL;
	} else {
		struct uas_command *c = &u->command[u->waiting++];

		c->tag = tag;
		c->attribute = iu[4] & 7;
		c->lun0 = is_lun0(iu + 8);
		memcpy(c->cdb, iu + 16, sizeof(c->cdb));
	}
}

static void remove_command(struct venc_uas *u, unsigned i)
{
	u->waiting--;
	memmove(&u->command[i], &u->command[i + 1], (u->waiting - i) * sizeof(u->command[0]));
}

/* No status is sent for an aborted command; that it is not there any more is no error (SAM-5 7.2).
 */
static void abort_task(struct venc_uas *u, uint16_t tag)
{
	if (u->phase != UAS_IDLE && u->tag == tag)
		u->phase = UAS_IDLE;
	for (unsigned i = 0; i < u->waiting; i++)
		if (u->command[i].tag == tag)
			remove_command(u, i);
}

static void manage_task(struct venc *e, const uint8_t *iu, size_t len, uint16_t tag)
{
	struct venc_uas *u = &e->uas;

	if (len != TASK_BYTES) {
		refuse_iu(e, tag, INVALID_IU, "a task management IU has 16 bytes");
	} else if (iu[4] != I_T_NEXUS_RESET && !is_lun0(iu + 8)) {
		respond(e, tag, INCORRECT_LUN);
	} else if (iu[4] == ABORT_TASK) {
		abort_task(u, get_be16(iu + 6));
		respond(e, tag, TASK_COMPLETE);
	} else if (iu[4] == LU_RESET || iu[4] == I_T_NEXUS_RESET) {
		u->phase = UAS_IDLE;
		u->waiting = 0;
		respond(e, tag, TASK_COMPLETE);
	} else {
		respond(e, tag, NOT_SUPPORTED);
	}
}

static int take_iu(struct venc *e, const uint8_t *iu, size_t len)
{
	uint16_t tag;

	if (e->uas.answers == UAS_DEPTH)
		return -ETIMEDOUT; /* NAK until the host has fetched some */
	if (len < 4) {
		/* nobody to answer to */
		venc_guest_error(e, "uas: an IU of %zu bytes; the command pipe halts", len);
		e->halted[EP_COMMAND] = true;
		return (int)len;
	}
	tag = get_be16(iu + 2);
	if (tag == 0)
		refuse_iu(e, tag, INVALID_IU, "tags begin with 1");
	else if (iu[0] == IU_COMMAND)
		take_command(e, iu, len, tag);
	else if (iu[0] == IU_TASK)
		manage_task(e, iu, len, tag);
	else
		refuse_iu(e, tag, INVALID_IU, "not an IU for the command pipe");
	return (int)len;
}

/* ---- execution ---- */

static void executed(struct venc *e, enum scsi_result result)
{
	struct scsi_task *t = &e->task;
	struct venc_uas *u = &e->uas;

	if (result == SCSI_HUNG) {
		e->hung = true;
		return;
	}
	u->status = result == SCSI_CHECK ? STATUS_CHECK : STATUS_GOOD;
	t->data_len = t->implied_in ? MIN(t->data_len, t->implied_len) : 0;
	u->phase = result == SCSI_GOOD && t->data_len ? UAS_DATA_IN : UAS_SENSE;
}

/* SPC-4 6.6.2: qualifier 3, no such unit */
static enum scsi_result run_absent_inquiry(struct venc *e, struct scsi_task *t)
{
	static const uint8_t absent[36] = {0x7F, 0, 6, 2, 31};

	(void)e;
	memcpy(t->data, absent, sizeof(absent));
	t->data_len = sizeof(absent);
	return SCSI_GOOD;
}

static enum scsi_result begin_other_lun(struct venc *e, struct scsi_task *t)
{
	if (t->cdb[0] != 0x12) { /* INQUIRY */
		venc_guest_error(e, "uas: opcode %02x to another LUN than 0", t->cdb[0]);
		return venc_scsi_check(t, SENSE_NO_LUN);
	}
	t->implied_len = get_be16(t->cdb + 3);
	t->implied_in = true;
	t->run = run_absent_inquiry;
	return SCSI_GOOD;
}

/* HEAD OF QUEUE overtakes. Otherwise in the order of arrival; with the option, the newest of the
 * SIMPLE ones at the front first, which SAM-5 clause 8
 * allows as well. */
static unsigned pick(const struct venc *e)
{
	const struct venc_uas *u = &e->uas;
	unsigned last = 0;

	for (unsigned i = 0; i < u->waiting; i++)
		if (u->command[i].attribute == ATTR_HEAD)
			return i;
	if (!e->opt.uas_reorders)
		return 0;
	while (last < u->waiting && u->command[last].attribute == ATTR_SIMPLE)
		last++;
	return last ? last - 1 : 0;
}

static void execute_next(struct venc *e)
{
	struct scsi_task *t = &e->task;
	struct venc_uas *u = &e->uas;
	unsigned i = pick(e);
	struct uas_command c = u->command[i];
	enum scsi_result result;

	remove_command(u, i);
	venc_link_command(e, COMMAND_BYTES + SENSE_BYTES);
	venc_scsi_set_cdb(t, c.cdb, sizeof(c.cdb));
	u->tag = c.tag;
	u->moved = 0;
	result = c.lun0 ? venc_scsi_begin(e, t) : begin_other_lun(e, t);
	if (result == SCSI_GOOD && t->refused)
		result = venc_scsi_check(t, t->sense);
	if (result == SCSI_GOOD && t->implied_len && !t->implied_in)
		u->phase = UAS_DATA_OUT;
	else
		executed(e, result == SCSI_GOOD ? t->run(e, t) : result);
}

/* ---- status pipe ---- */

/* The data pipe halts instead of moving anything; the status is not held up by that. */
static void stall_data(struct venc *e)
{
	e->halted[e->uas.phase == UAS_DATA_IN ? EP_IN : EP_OUT] = true;
	executed(e, venc_scsi_check(&e->task, SENSE_INVALID_COMMAND));
}

static unsigned ready_iu(struct venc *e, uint8_t *iu, uint8_t id)
{
	put_head(iu, id, e->uas.tag);
	e->uas.announced = true;
	venc_link_data(e, READY_BYTES);
	if (venc_take_fault(e, VENC_FAULT_DATA_STALL))
		stall_data(e);
	return READY_BYTES;
}

/* The final status, with the sense data of a failed command in it: nothing is left for REQUEST
 * SENSE (autosense, bridge.md 1.5). */
static unsigned sense_iu(struct venc *e, uint8_t *iu)
{
	const struct sense *s = &e->task.sense;
	uint16_t wrong = venc_take_fault(e, VENC_FAULT_CSW_TAG) ? 1 : 0;
	uint8_t *data = iu + SENSE_BYTES;

	if (venc_take_fault(e, VENC_FAULT_PHASE_ERROR))
		executed(e, venc_scsi_check(&e->task, SENSE_DATA_PHASE));
	venc_link_pace(e);
	put_head(iu, IU_SENSE, (uint16_t)(e->uas.tag + wrong));
	iu[6] = e->uas.status;
	e->uas.phase = UAS_IDLE;
	if (venc_take_fault(e, VENC_FAULT_CSW_SHORT))
		return SENSE_CUT;
	if (iu[6] == STATUS_GOOD)
		return SENSE_BYTES;
	iu[15] = SENSE_DATA;
	data[0] = 0x70;
	data[2] = s->key;
	data[7] = 10;
	data[12] = s->asc;
	data[13] = s->ascq;
	return SENSE_BYTES + SENSE_DATA;
}

/* Faults before the status: nothing comes before an abortion, or not before the halt is cleared. */
static bool status_held_up(struct venc *e)
{
	if (venc_take_fault(e, VENC_FAULT_TIMEOUT))
		e->uas.phase = UAS_MUTE;
	else if (venc_take_fault(e, VENC_FAULT_CSW_STALL))
		e->halted[EP_STATUS] = true;
	return e->uas.phase == UAS_MUTE || e->halted[EP_STATUS];
}

static unsigned next_answer(struct venc_uas *u, uint8_t *iu)
{
	unsigned size = u->answer[0].size;

	memcpy(iu, u->answer[0].iu, size);
	u->answers--;
	memmove(&u->answer[0], &u->answer[1], u->answers * sizeof(u->answer[0]));
	return size;
}

/* The next IU for the host. Return: its size, 0 nothing to say. */
static unsigned next_iu(struct venc *e, uint8_t *iu)
{
	struct venc_uas *u = &e->uas;

	if (u->answers)
		return next_answer(u, iu);
	if (u->phase == UAS_IDLE) {
		if (!u->waiting)
			return 0;
		u->announced = false;
		execute_next(e);
		if (e->hung)
			return 0;
	}
	switch (u->phase) {
	case UAS_DATA_IN: return u->announced ? 0 : ready_iu(e, iu, IU_READ_READY);
	case UAS_DATA_OUT: return u->announced ? 0 : ready_iu(e, iu, IU_WRITE_READY);
	case UAS_SENSE: return status_held_up(e) ? 0 : sense_iu(e, iu);
	default: return 0;
	}
}

static int send_status(struct venc *e, uint8_t *data, size_t len)
{
	uint8_t iu[SENSE_BYTES + SENSE_DATA] = {0};
	unsigned size = next_iu(e, iu);

	if (!size)
		return e->halted[EP_STATUS] ? -EPIPE : -ETIMEDOUT;
	if (size > len)
		return -EOVERFLOW;
	memcpy(data, iu, size);
	return (int)size;
}

/* ---- data pipes ---- */

/* A transfer ends when the host's buffer is full, else with a short or empty packet. */
static int send_data(struct venc *e, uint8_t *data, size_t len)
{
	struct scsi_task *t = &e->task;
	struct venc_uas *u = &e->uas;
	uint32_t left, n;

	if (u->phase != UAS_DATA_IN || !u->announced)
		return -ETIMEDOUT;
	left = t->data_len - u->moved;
	n = (uint32_t)MIN(len, left);
	if (len < left && len % venc_bot_packet(e))
		return -EOVERFLOW;
	memcpy(data, t->data + u->moved, n);
	u->moved += n;
	venc_link_data(e, n);
	if (u->moved == t->data_len)
		u->phase = UAS_SENSE;
	return (int)n;
}

static int take_data(struct venc *e, const uint8_t *data, size_t len)
{
	struct scsi_task *t = &e->task;
	struct venc_uas *u = &e->uas;
	uint32_t n;

	if (u->phase != UAS_DATA_OUT || !u->announced)
		return -ETIMEDOUT;
	n = (uint32_t)MIN(len, t->implied_len - u->moved);
	memcpy(t->data + u->moved, data, n);
	u->moved += n;
	venc_link_data(e, n);
	if (u->moved == t->implied_len) {
		t->data_len = u->moved;
		executed(e, t->run(e, t));
	} else if (len % venc_bot_packet(e) || !len) {
		venc_guest_error(e, "uas: tag %u: %u bytes announced by the CDB, %u sent", u->tag,
		        t->implied_len, u->moved);
		executed(e, venc_scsi_check(t, SENSE_DATA_PHASE));
	}
	return len > n ? -ETIMEDOUT : (int)n; /* what exceeds the length is never taken */
}

int venc_uas_out(struct venc *e, uint8_t endpoint, const uint8_t *data, size_t len)
{
	return endpoint == USB_EP_UAS_COMMAND ? take_iu(e, data, len) : take_data(e, data, len);
}

int venc_uas_in(struct venc *e, uint8_t endpoint, uint8_t *data, size_t len)
{
	return endpoint == USB_EP_UAS_STATUS ? send_status(e, data, len) : send_data(e, data, len);
}
