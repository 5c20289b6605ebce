/* bot_target.c - Bulk-Only Transport from the device's side, packet by packet, with the rules of
 * bridge.md 1.4: the data phase of the CBW must equal the one its CDB implies. Assumes the caller
 * checked the halt of the OUT endpoint.
 */
#include <errno.h>
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/enclosure/venc_priv.h"

/* bridge.md 1.3 */
#define CBW_SIZE      31
#define CSW_SIZE      13
#define CBW_SIGNATURE 0x43425355u
#define CSW_SIGNATURE 0x53425355u
#define CSW_PASSED    0
#define CSW_FAILED    1
#define CSW_PHASE     2

size_t venc_bot_packet(const struct venc *e)
{
	return e->opt.super_speed ? SS_PACKET : HS_PACKET;
}

void venc_bot_reset(struct venc *e)
{
	memset(&e->bot, 0, sizeof(e->bot));
}

/* bridge.md 1.4: both endpoints stall until reset recovery, sense 5/20/00 queued */
static void invalid_cbw(struct venc *e, const char *why)
{
	venc_guest_error(e, "bot: invalid CBW: %s; reset recovery needed", why);
	e->sense = SENSE_INVALID_COMMAND;
	e->bot.broken = true;
	e->halted[EP_IN] = true;
	e->halted[EP_OUT] = true;
}

static const char *cbw_defect(const uint8_t *cbw, size_t len)
{
	if (len != CBW_SIZE)
		return "length is not 31";
	if (get_le32(cbw) != CBW_SIGNATURE)
		return "signature is not USBC";
	if (cbw[12] & 0x7F)
		return "reserved flag bits set";
	if (cbw[14] < 1 || cbw[14] > 16)
		return "bCBWCBLength is not 1..16";
	return NULL;
}

static void end_command(struct venc *e, uint8_t status)
{
	e->bot.status = venc_take_fault(e, VENC_FAULT_PHASE_ERROR) ? CSW_PHASE : status;
	e->bot.state = BOT_CSW;
	if (venc_take_fault(e, VENC_FAULT_CSW_STALL))
		e->halted[EP_IN] = true;
	if (venc_take_fault(e, VENC_FAULT_TIMEOUT))
		e->bot.state = BOT_MUTE;
}

/* Refuse before or during the data phase: stall the endpoint the host expects to use, CSW status 1
 * (bridge.md 1.4). */
static void refuse(struct venc *e, struct sense sense, bool host_in)
{
	e->sense = sense;
	if (e->bot.host_len)
		e->halted[host_in ? EP_IN : EP_OUT] = true;
	e->bot.moved = 0; /* bridge.md 1.4: residue of a failed CSW is the CBW length */
	end_command(e, CSW_FAILED);
}

static void finish(struct venc *e, enum scsi_result result)
{
	if (result == SCSI_HUNG) {
		e->hung = true;
		return;
	}
	if (result == SCSI_CHECK) {
		e->sense = e->task.sense;
		e->bot.moved = 0;
	}
	end_command(e, result == SCSI_CHECK ? CSW_FAILED : CSW_PASSED);
}

static void run_in(struct venc *e)
{
	struct scsi_task *t = &e->task;
	enum scsi_result result = t->run(e, t);

	if (result == SCSI_CHECK) {
		refuse(e, t->sense, true);
		return;
	}
	if (result == SCSI_HUNG || !e->bot.host_len) {
		finish(e, result);
		return;
	}
	t->data_len = MIN(t->data_len, e->bot.host_len);
	e->bot.state = BOT_DATA_IN;
	if (venc_take_fault(e, VENC_FAULT_TIMEOUT))
		e->bot.state = BOT_MUTE;
}

/* Ordinary residue (bridge.md 5.1) serves every data phase in the right direction, or none. */
static bool residue_can_tell(const struct venc *e, bool host_in)
{
	const struct scsi_task *t = &e->task;

	return !e->bot.host_len || (host_in && (t->implied_in || !t->implied_len)) ||
	       (!host_in && t->implied_len && !t->implied_in);
}

/* Equality of length and direction, which RTL insists on (bridge.md 1.4) and a driver owes every
 * vendor command. */
static bool phases_agree(struct venc *e, bool host_in)
{
	const struct scsi_task *t = &e->task;
	bool accepted = !e->ops->exact_lengths && residue_can_tell(e, host_in);

	if (e->bot.host_len == t->implied_len && (!t->implied_len || host_in == t->implied_in))
		return true;
	if (!accepted || venc_scsi_is_vendor(t))
		venc_guest_error(e, "bot: CDB %02x/%02x implies %u bytes %s, CBW says %u %s",
		        t->cdb[0], t->cdb[4], t->implied_len, t->implied_in ? "in" : "out",
		        e->bot.host_len, host_in ? "in" : "out");
	return accepted;
}

static void run_command(struct venc *e, bool host_in, uint8_t lun)
{
	struct scsi_task *t = &e->task;
	enum scsi_result begun;

	if (t->cdb[0] != 0x03) /* bridge.md 5.1: sense is held for REQUEST SENSE only */
		e->sense = SENSE_NONE;
	if (lun) {
		venc_guest_error(e, "bot: LUN %u, there is only 0", lun);
		refuse(e, SENSE_INVALID_COMMAND, host_in);
		return;
	}
	begun = venc_scsi_begin(e, t);
	if (begun == SCSI_HUNG) {
		e->hung = true;
	} else if (begun == SCSI_CHECK) {
		refuse(e, t->sense, host_in);
	} else if (!phases_agree(e, host_in) ||
	           (t->implied_len && venc_take_fault(e, VENC_FAULT_DATA_STALL))) {
		refuse(e, SENSE_INVALID_COMMAND, host_in);
	} else if (t->refused) {
		refuse(e, t->sense, host_in);
	} else if (t->implied_len && !t->implied_in) {
		e->bot.state = BOT_DATA_OUT;
	} else {
		run_in(e);
	}
}

static int take_cbw(struct venc *e, const uint8_t *cbw, size_t len)
{
	const char *defect = cbw_defect(cbw, len);

	if (defect) {
		invalid_cbw(e, defect);
		return len > venc_bot_packet(e) ? -EPIPE
		                                : (int)len; /* the first packet was still taken */
	}
	venc_link_command(e, CBW_SIZE + CSW_SIZE);
	e->bot = (struct venc_bot){.tag = get_le32(cbw + 4), .host_len = get_le32(cbw + 8)};
	venc_scsi_set_cdb(&e->task, cbw + 15, cbw[14]);
	run_command(e, cbw[12] & 0x80, cbw[13]);
	return CBW_SIZE;
}

/* A short packet before the announced length ends the data phase: the host broke its own promise,
 * phase error (BOT 6.7.3). */
static void short_data_out(struct venc *e)
{
	venc_guest_error(e, "bot: %u bytes announced, %u sent", e->bot.host_len, e->bot.moved);
	end_command(e, CSW_PHASE);
}

static int take_data(struct venc *e, const uint8_t *data, size_t len)
{
	struct scsi_task *t = &e->task;
	uint32_t n = (uint32_t)MIN(len, e->bot.host_len - e->bot.moved);

	memcpy(t->data + e->bot.moved, data, n);
	e->bot.moved += n;
	venc_link_data(e, n);
	if (e->bot.moved == e->bot.host_len) {
		t->data_len = e->bot.moved;
		finish(e, t->run(e, t));
	} else if (len % venc_bot_packet(e) || !len) {
		short_data_out(e);
	}
	return len > n ? -ETIMEDOUT : (int)n; /* what exceeds the announced length is never taken */
}

int venc_bot_out(struct venc *e, const uint8_t *data, size_t len)
{
	switch (e->bot.state) {
	case BOT_IDLE: return take_cbw(e, data, len);
	case BOT_DATA_OUT: return take_data(e, data, len);
	default: return -ETIMEDOUT; /* not armed before the CSW is fetched */
	}
}

static int csw_packet(struct venc *e, uint8_t *packet)
{
	uint32_t tag = e->bot.tag + (venc_take_fault(e, VENC_FAULT_CSW_TAG) ? 1 : 0);

	venc_link_pace(e);
	put_le32(packet, CSW_SIGNATURE);
	put_le32(packet + 4, tag);
	put_le32(packet + 8, e->bot.host_len - e->bot.moved);
	packet[12] = e->bot.status;
	e->bot.state = BOT_IDLE;
	return venc_take_fault(e, VENC_FAULT_CSW_SHORT) ? CSW_SIZE - 1 : CSW_SIZE;
}

static int data_packet(struct venc *e, uint8_t *packet)
{
	uint32_t n = MIN((uint32_t)venc_bot_packet(e), e->task.data_len - e->bot.moved);

	memcpy(packet, e->task.data + e->bot.moved, n);
	e->bot.moved += n;
	venc_link_data(e, n);
	if (e->bot.moved < e->task.data_len)
		return (int)n;
	/* BOT 6.7.2: less data than announced and no short packet to say so */
	if (n == venc_bot_packet(e) && e->bot.moved < e->bot.host_len)
		e->halted[EP_IN] = true;
	end_command(e, CSW_PASSED);
	return (int)n;
}

/* The next packet on bulk IN. Return: its size; -EPIPE halted; -ETIMEDOUT nothing to send (NAK). */
static int next_packet(struct venc *e, uint8_t *packet)
{
	if (e->halted[EP_IN])
		return -EPIPE;
	switch (e->bot.state) {
	case BOT_DATA_IN: return data_packet(e, packet);
	case BOT_CSW: return csw_packet(e, packet);
	default: return -ETIMEDOUT;
	}
}

/* A bulk IN transfer ends with a short packet or a full buffer; a packet too long for the room left
 * is babble. */
int venc_bot_in(struct venc *e, uint8_t *data, size_t len)
{
	uint8_t packet[SS_PACKET];
	size_t got = 0;
	int n;

	do {
		n = next_packet(e, packet);
		if (n < 0)
			return n;
		if ((size_t)n > len - got)
			return -EOVERFLOW;
		memcpy(data + got, packet, (size_t)n);
		got += (size_t)n;
	} while ((size_t)n == venc_bot_packet(e) && got < len);
	return (int)got;
}
