/* venc_priv.h - what the files of the virtual enclosure share. usb_device.c owns the object; each
 * other file one part of it; what differs between the bridge families is behind struct venc_ops.
 * RTL921x: bot_target.c -> scsi_baseline.c | rtl921x_target.c -> rtl921x_memory.c
 * -> rtl921x_engine.c -> rtl921x_root.c -> card_link.c -> the card. ASM236x and ASM246x:
 * asm2x6x_priv.h.
 */
#ifndef VENC_PRIV_H
#define VENC_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/virtual/card/card.h"
#include "device/virtual/enclosure/enclosure.h"

#define HS_PACKET        512    /* bridge.md 1.2: bulk packet at high speed */
#define SS_PACKET        1024   /* and at SuperSpeed */
#define RTL_MAX_TRANSFER 0x1000 /* bridge.md 2.6: limit in the no-disk state */

/* indices into halted[]: endpoints 0x81, 0x02, 0x83 and 0x04 of bridge.md 1.2 */
enum { EP_IN, EP_OUT, EP_STATUS, EP_COMMAND, EP_COUNT };

enum venc_bot_state { BOT_IDLE, BOT_DATA_OUT, BOT_DATA_IN, BOT_CSW, BOT_MUTE };

/* Bulk-Only Transport as the device sees it: one command at a time. */
struct venc_bot {
	enum venc_bot_state state;
	bool broken; /* after an invalid CBW: CLEAR_FEATURE does not help before a class reset */
	uint32_t tag, host_len, moved;
	uint8_t status;
};

#define UAS_DEPTH 32 /* bridge.md 1.2: MaxStreams; commands that may wait */

/* What the command under way waits for: its data to move, its status to be fetched; MUTE: nothing
 * comes any more before it is aborted. */
enum uas_phase { UAS_IDLE, UAS_DATA_IN, UAS_DATA_OUT, UAS_SENSE, UAS_MUTE };

struct uas_command {
	uint16_t tag;
	uint8_t attribute;
	bool lun0;
	uint8_t cdb[16];
};

struct uas_answer {
	unsigned size;
	uint8_t iu[16];
};

/* USB Attached SCSI as the device sees it: commands wait in the order of arrival. */
struct venc_uas {
	struct uas_command command[UAS_DEPTH];
	struct uas_answer answer[UAS_DEPTH]; /* Response IUs to be fetched */
	unsigned waiting, answers;
	enum uas_phase phase;
	bool announced; /* the READY IU went out */
	uint16_t tag;
	uint8_t status;
	uint32_t moved;
};

struct sense {
	uint8_t key, asc, ascq;
};

enum scsi_result {
	SCSI_GOOD,
	SCSI_CHECK, /* task->sense says why */
	SCSI_HUNG,  /* the bridge's CPU has faulted: no answer any more */
};

/* One SCSI command from CDB to data. */
struct scsi_task {
	uint8_t cdb[16]; /* zero padded */
	unsigned cdb_len;
	uint32_t implied_len; /* data phase the CDB asks for */
	bool implied_in;
	enum scsi_result (*run)(struct venc *e, struct scsi_task *t);
	bool refused; /* with @sense instead of @run, once the CBW is found to agree with the CDB */
	uint32_t data_len; /* data in: bytes produced; data out: bytes received */
	struct sense sense;
	uint8_t data[RTL_MAX_TRANSFER];
};

/* One bridge family. */
struct venc_ops {
	bool exact_lengths;          /* the CBW must say what the CDB implies, or the command fails:
	                                bridge.md 1.4; else ordinary residue: 5.1 */
	int (*init)(struct venc *e); /* memory, options: 0 or -errno */
	void (*fini)(struct venc *e);     /* also after a failed init */
	void (*power_up)(struct venc *e); /* and the card with it */
	/* look a vendor opcode up, as venc_scsi_begin() */
	enum scsi_result (*begin)(struct venc *e, struct scsi_task *t);
};
extern const struct venc_ops venc_rtl921x_ops, venc_asm2x6x_ops;

struct venc_asm;

/* One slot of the raw TLP engine, bridge.md 2.11. */
struct engine_slot {
	uint32_t w[4];
	uint32_t data[32]; /* 128 bytes */
	bool taken;        /* from the start bit until done, or until released */
};

struct rc_port {
	bool linked; /* a card can be behind it (port 0) */
	unsigned next;
	struct engine_slot slot[4];
	uint32_t control; /* 0xB3313100 */
	uint32_t dbi_offset, dbi_write_data, dbi_read_data;
	uint32_t dbi[0x1000 / 4];
	uint32_t other[0x4000 / 4]; /* registers that only store */
};

/* What differs from one firmware to the next: bridge.md 5.3. */
struct rtl_firmware {
	uint32_t version[3], date; /* date: decimal YYYYMMDD, 0 unknown */
	bool golden;               /* fallback image: few commands, no PCIe */
	bool quirks;               /* knows E2/D1 */
	bool closed_page;          /* 0xB370xxxx is closed to A2 and 23 */
};

struct venc {
	struct venc_options opt;
	const struct venc_ops *ops;
	struct vcard *card; /* NULL: nothing behind the bridge */
	/* USB device */
	bool unplugged, hung;
	bool detached; /* left the bus for another speed (bridge.md 2.15, 30) until a port reset */
	bool halted[EP_COUNT];
	uint8_t configuration, alternate; /* 0 BOT, 1 UAS */
	struct venc_bot bot;
	struct venc_uas uas;
	struct scsi_task task;
	struct sense sense;       /* kept for REQUEST SENSE */
	bool attention;           /* the reset has not been reported yet */
	struct venc_asm *asmedia; /* ASM236x, ASM246x: all their state */
	/* RTL921x: bridge CPU */
	struct rtl_firmware firmware;
	bool unlocked;  /* bridge.md 2.7 */
	uint8_t *store; /* backing of the memory map, see rtl921x_memory.c */
	struct rc_port port[2];
	/* what the firmware knows of the card */
	bool disk_power;    /* bridge.md 2.15, 31 */
	uint8_t state;      /* BB +0 */
	uint32_t bar0_base; /* bridge.md 2.10 */
	uint32_t read_var; /* the firmware's variable a failed read leaves as it was (bridge.md 2.9)
	                    */
	/* link model and counters */
	uint64_t commands, bytes, tlps, guest_errors;
	uint64_t cbw_wall_ns, cbw_model_ns;
	unsigned fault[VENC_FAULT_COUNT];
};

#define BRIDGE_STATE_NVME  0x00 /* bridge.md 2.8, BB */
#define BRIDGE_STATE_OTHER 0x03
#define BRIDGE_STATE_NONE  0xFF

static const struct sense SENSE_NONE = {0, 0, 0};
/* bridge.md 2.5 */
static const struct sense SENSE_INVALID_COMMAND = {5, 0x20, 0};
static const struct sense SENSE_INVALID_FIELD = {5, 0x24, 0};
static const struct sense SENSE_NO_MEDIUM = {2, 0x3A, 0};
static const struct sense SENSE_RESET = {6, 0x29, 0}; /* bridge.md 5.1 */

/* usb_device.c */
void venc_guest_error(struct venc *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool venc_take_fault(
        struct venc *e, enum venc_fault fault); /* whether it is armed; counts one occurrence */

/* bot_target.c */
size_t venc_bot_packet(const struct venc *e); /* bytes in a full bulk packet */
void venc_bot_reset(struct venc *e);          /* class reset: halts stay */
int venc_bot_out(struct venc *e, const uint8_t *data, size_t len);
int venc_bot_in(struct venc *e, uint8_t *data, size_t len);

/* uas_target.c: the four pipes of alternate setting 1, at high speed. @endpoint: one of them. */
void venc_uas_reset(struct venc *e);
int venc_uas_out(struct venc *e, uint8_t endpoint, const uint8_t *data, size_t len);
int venc_uas_in(struct venc *e, uint8_t endpoint, uint8_t *data, size_t len);

/* scsi_baseline.c: a new command, nothing known of it but its CDB of @len 1..16 bytes */
void venc_scsi_set_cdb(struct scsi_task *t, const uint8_t *cdb, unsigned len);
/* scsi_baseline.c: look the CDB up; fills implied_*, run. SCSI_CHECK refuses it before the data
 * phase. */
enum scsi_result venc_scsi_begin(struct venc *e, struct scsi_task *t);
bool venc_scsi_is_vendor(const struct scsi_task *t);
enum scsi_result venc_scsi_check(struct scsi_task *t, struct sense sense);

/* rtl921x_firmware.c */
int venc_firmware_select(struct venc *e); /* from opt.firmware: 0; -EINVAL */
bool venc_firmware_knows(const struct venc *e, uint8_t opcode, uint8_t sub);

/* rtl921x_memory.c: the address space of the bridge's CPU. @unit: 4 or 2 for one aligned access of
 * that width, 1 for a loop of byte accesses. False: nothing is mapped there, the CPU faults. */
int venc_mem_init(struct venc *e); /* 0 or -ENOMEM */
void venc_mem_fini(struct venc *e);
void venc_mem_power_up(struct venc *e);
bool venc_mem_read(struct venc *e, uint32_t address, uint8_t *out, uint32_t len, unsigned unit);
bool venc_mem_write(
        struct venc *e, uint32_t address, const uint8_t *in, uint32_t len, unsigned unit);
bool venc_mem_is_register(uint32_t address);

/* rtl921x_engine.c: register block of one PCIe port, bridge.md 2.11-2.13. @offset: from the start
 * of the block. */
void venc_engine_power_up(struct venc *e, struct rc_port *p);
uint32_t venc_engine_read32(struct venc *e, struct rc_port *p, uint32_t offset);
void venc_engine_write32(struct venc *e, struct rc_port *p, uint32_t offset, uint32_t value);
/* venc_engine_write8 - one byte store. False: registers here do not take them. */
bool venc_engine_write8(struct venc *e, struct rc_port *p, uint32_t offset, uint8_t value);
/* venc_engine_firmware_tlp - the firmware's TLP routine: one request through the next slot of port
 * 0. Reads leave the dword in tlp->data. False: timeout or error, which the firmware cannot tell
 * apart. */
bool venc_engine_firmware_tlp(struct venc *e, struct vcard_tlp *tlp);

/* card_link.c: one request to the card, with the link up. VCARD_CRS and VCARD_TIMEOUT as they come.
 */
bool venc_card_linked(const struct venc *e); /* there is a card, and no fault keeps the link down */
enum vcard_completion venc_card_tlp(struct venc *e, struct vcard_tlp *tlp);

/* card_options.c: power the card up with its options. Return: 0; what vcard_new says. */
int venc_card_new(struct venc *e);

/* rtl921x_root.c */
void venc_root_port_power_up(struct venc *e); /* PERST# and enumeration, bridge.md 2.14 */
bool venc_root_port_link_up(const struct venc *e, const struct rc_port *p);
enum vcard_completion venc_root_port_tlp(struct venc *e, struct rc_port *p, struct vcard_tlp *tlp);
/* venc_root_port_burst - one memory request of @n dwords, @tlp being the first of them; @last: byte
 * enables of the last. */
enum vcard_completion venc_root_port_burst(struct venc *e, struct rc_port *p,
        const struct vcard_tlp *tlp, uint32_t *data, unsigned n, uint8_t last);

/* link_model.c */
void venc_link_command(struct venc *e, uint32_t overhead); /* bytes around its data */
void venc_link_data(struct venc *e, uint32_t bytes);
void venc_link_tlp(struct venc *e);
uint64_t venc_link_model_ns(const struct venc *e);
void venc_link_pace(
        struct venc *e); /* with realtime: sleep until the command has taken its modelled time */

#endif
