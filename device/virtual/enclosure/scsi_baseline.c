/* scsi_baseline.c - the ordinary SCSI commands of an enclosure without a medium (bridge.md 5.2); E2
 * and E3 go to rtl921x_target.c. One table row an opcode: where the CDB keeps its length, what the
 * command does.
 */
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/enclosure/venc_priv.h"

#define BLOCK_SIZE 512 /* bridge.md 2.5: only used to know the length a READ or WRITE implies */

enum scsi_result venc_scsi_check(struct scsi_task *t, struct sense sense)
{
	t->sense = sense;
	return SCSI_CHECK;
}

void venc_scsi_set_cdb(struct scsi_task *t, const uint8_t *cdb, unsigned len)
{
	t->cdb_len = len;
	memset(t->cdb, 0, sizeof(t->cdb));
	memcpy(t->cdb, cdb, len);
	t->implied_len = 0;
	t->implied_in = false;
	t->refused = false;
	t->data_len = 0;
}

static enum scsi_result run_good(struct venc *e, struct scsi_task *t)
{
	(void)e, (void)t;
	return SCSI_GOOD;
}

static enum scsi_result run_no_medium(struct venc *e, struct scsi_task *t)
{
	(void)e;
	return venc_scsi_check(t, SENSE_NO_MEDIUM); /* bridge.md 5.2, 2.14 step 5 */
}

static enum scsi_result reply(struct scsi_task *t, const void *data, size_t len)
{
	memcpy(t->data, data, len);
	t->data_len = (uint32_t)len; /* cut to the host's length by the transport */
	return SCSI_GOOD;
}

static enum scsi_result run_request_sense(struct venc *e, struct scsi_task *t)
{
	/* bridge.md 5.1: fixed format, 18 bytes, cleared when read */
	uint8_t sense[18] = {0x70, 0, e->sense.key, 0, 0, 0, 0, 10};

	sense[12] = e->sense.asc;
	sense[13] = e->sense.ascq;
	e->sense = SENSE_NONE;
	return reply(t, sense, sizeof(sense));
}

/* Vendor, product, revision: bridge.md 1.1; ASMedia's full product and revision are inferred */
static const char *const identities[] = {
        [VENC_RTL921X] = "Realtek RTL9210         1.00",
        [VENC_ASM236X] = "ASMT    ASM236X NVME    0   ",
        [VENC_ASM246X] = "ASMT    ASM246X         0   ",
};

static enum scsi_result inquiry_vpd(const struct venc *e, struct scsi_task *t)
{
	static const uint8_t pages[] = {0, 0x00, 0, 4, 0x00, 0x80, 0x83, 0xB0}; /* bridge.md 5.2 */
	static const uint8_t serial[] = {0, 0x80, 0, 8, '0', '0', '0', '0', '0', '0', '0', '1'};
	/* T10 vendor id designator, SPC-4 7.8.6: vendor, then product and serial */
	uint8_t identity[28] = {0, 0x83, 0, 24, 2, 1, 0, 20, [23] = '0', '0', '0', '0', '1'};

	/* bridge.md 1.1: maximum 256 blocks, optimal 128 */
	static const uint8_t limits[64] = {[1] = 0xB0, [3] = 60, [10] = 1, [15] = 128};

	memcpy(identity + 8, identities[e->opt.bridge], 15);
	switch (t->cdb[2]) {
	case 0x00: return reply(t, pages, sizeof(pages));
	case 0x80: return reply(t, serial, sizeof(serial));
	case 0x83: return reply(t, identity, sizeof(identity));
	case 0xB0: return reply(t, limits, sizeof(limits));
	default: return venc_scsi_check(t, SENSE_INVALID_FIELD);
	}
}

static enum scsi_result run_inquiry(struct venc *e, struct scsi_task *t)
{
	/* bridge.md 1.1 */
	static const uint8_t head[8] = {0x00, 0x00, 0x06, 0x02, 0x5B, 0x00, 0x00, 0x02};
	uint8_t data[96] = {0};

	if (t->cdb[1] & 1) /* EVPD */
		return inquiry_vpd(e, t);
	if (t->cdb[2])
		return venc_scsi_check(t, SENSE_INVALID_FIELD);
	memcpy(data, head, sizeof(head));
	memcpy(data + 8, identities[e->opt.bridge], 28);
	return reply(t, data, sizeof(data));
}

/* Header only: no medium, no pages */
static enum scsi_result run_mode_sense6(struct venc *e, struct scsi_task *t)
{
	static const uint8_t header[4] = {3};

	(void)e;
	return reply(t, header, sizeof(header));
}

static enum scsi_result run_mode_sense10(struct venc *e, struct scsi_task *t)
{
	static const uint8_t header[8] = {0, 6};

	(void)e;
	return reply(t, header, sizeof(header));
}

static enum scsi_result run_report_luns(struct venc *e, struct scsi_task *t)
{
	static const uint8_t lun0[16] = {0, 0, 0, 8};

	(void)e;
	return reply(t, lun0, sizeof(lun0));
}

static enum scsi_result run_service_action(struct venc *e, struct scsi_task *t)
{
	(void)e;
	/* SBC-3: READ CAPACITY(16) is service action 0x10 */
	return venc_scsi_check(
	        t, (t->cdb[1] & 0x1F) == 0x10 ? SENSE_NO_MEDIUM : SENSE_INVALID_COMMAND);
}

enum length_rule { NO_DATA, LEN8, LEN16, LEN32, FIXED8, BLOCKS8, BLOCKS16, BLOCKS32 };

struct scsi_op {
	uint8_t opcode;
	enum length_rule rule;
	uint8_t at; /* byte of the CDB where the length begins */
	bool out;
	enum scsi_result (*run)(struct venc *e, struct scsi_task *t);
};

/* bridge.md 5.2; CDB layouts: SPC-4 6, SBC-3 5 */
static const struct scsi_op OPS[] = {
        {0x00, NO_DATA, 0, false, run_no_medium}, /* TEST UNIT READY */
        {0x03, LEN8, 4, false, run_request_sense},
        {0x08, BLOCKS8, 4, false, run_no_medium}, /* READ(6) */
        {0x0A, BLOCKS8, 4, true, run_no_medium},  /* WRITE(6) */
        {0x12, LEN16, 3, false, run_inquiry}, {0x1A, LEN8, 4, false, run_mode_sense6},
        {0x1B, NO_DATA, 0, false, run_good},       /* START STOP UNIT */
        {0x1E, NO_DATA, 0, false, run_good},       /* PREVENT ALLOW MEDIUM REMOVAL */
        {0x25, FIXED8, 0, false, run_no_medium},   /* READ CAPACITY(10) */
        {0x28, BLOCKS16, 7, false, run_no_medium}, /* READ(10) */
        {0x2A, BLOCKS16, 7, true, run_no_medium},  /* WRITE(10) */
        {0x35, NO_DATA, 0, false, run_good},       /* SYNCHRONIZE CACHE(10) */
        {0x5A, LEN16, 7, false, run_mode_sense10},
        {0x88, BLOCKS32, 10, false, run_no_medium}, /* READ(16) */
        {0x8A, BLOCKS32, 10, true, run_no_medium},  /* WRITE(16) */
        {0x9E, LEN32, 10, false, run_service_action}, {0xA0, LEN32, 6, false, run_report_luns},
        {0xA8, BLOCKS32, 6, false, run_no_medium}, /* READ(12) */
        {0xAA, BLOCKS32, 6, true, run_no_medium},  /* WRITE(12) */
};

static uint64_t implied_length(const struct scsi_op *op, const uint8_t *cdb)
{
	const uint8_t *at = cdb + op->at;

	switch (op->rule) {
	case LEN8: return at[0];
	case LEN16: return get_be16(at);
	case LEN32: return get_be32(at);
	case FIXED8: return 8;
	case BLOCKS8: return (at[0] ? at[0] : 256u) * BLOCK_SIZE; /* SBC-3 5.8: 0 means 256 */
	case BLOCKS16: return (uint64_t)get_be16(at) * BLOCK_SIZE;
	case BLOCKS32: return (uint64_t)get_be32(at) * BLOCK_SIZE;
	case NO_DATA:
	default: return 0;
	}
}

static const struct scsi_op *find_op(uint8_t opcode)
{
	for (size_t i = 0; i < ARRAY_SIZE(OPS); i++)
		if (OPS[i].opcode == opcode)
			return &OPS[i];
	return NULL;
}

bool venc_scsi_is_vendor(const struct scsi_task *t)
{
	return t->cdb[0] >= 0xC0; /* SPC-4 4.3.5.1: group codes 6 and 7 */
}

/* bridge.md 5.1: once, INQUIRY and REQUEST SENSE aside */
static bool takes_attention(struct venc *e, uint8_t opcode)
{
	if (!e->attention || opcode == 0x12 || opcode == 0x03)
		return false;
	e->attention = false;
	return true;
}

enum scsi_result venc_scsi_begin(struct venc *e, struct scsi_task *t)
{
	const struct scsi_op *op;
	uint64_t len;

	if (takes_attention(e, t->cdb[0]))
		return venc_scsi_check(t, SENSE_RESET);
	if (venc_scsi_is_vendor(t))
		return e->ops->begin(e, t);
	op = find_op(t->cdb[0]);
	if (!op)
		return venc_scsi_check(t, SENSE_INVALID_COMMAND);
	len = implied_length(op, t->cdb);
	if (len > UINT32_MAX) /* more than a CBW can say: never equal (bridge.md 1.4) */
		return venc_scsi_check(t, SENSE_INVALID_COMMAND);
	t->implied_len = (uint32_t)len;
	t->implied_in = !op->out;
	t->run = op->run;
	/* no handler takes data: a write is refused before its data phase */
	t->refused = op->out && len;
	t->sense = SENSE_NO_MEDIUM;
	return SCSI_GOOD;
}
