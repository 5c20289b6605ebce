/* rtl921x_target.c - vendor commands E2 (device to host) and E3 (host to device) of the stock
 * firmware with its real defects (bridge.md 2.4-2.10, 2.15). One table row a sub-command; which
 * version knows which is in rtl921x_firmware.c. What the driver must never send is trapped as a
 * guest error.
 */
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/enclosure/venc_priv.h"

/* CDB fields, bridge.md 2.4 */
static uint8_t cdb_sub(const struct scsi_task *t)
{
	return t->cdb[4];
}

static uint32_t cdb_address(const struct scsi_task *t)
{
	return get_le32(t->cdb + 8);
}

/* Width of an access: one dword, one halfword, or a loop of bytes (bridge.md 2.8 A2, 2.9). */
static unsigned access_unit(uint32_t address, uint32_t len)
{
	if ((len == 4 || len == 2) && address % len == 0)
		return len;
	return 1;
}

static enum scsi_result reply_zeros(struct scsi_task *t)
{
	memset(t->data, 0, t->implied_len);
	t->data_len = t->implied_len;
	return SCSI_GOOD;
}

static enum scsi_result reply(struct scsi_task *t, const void *data, size_t len)
{
	reply_zeros(t);
	memcpy(t->data, data, MIN(len, t->implied_len));
	return SCSI_GOOD;
}

static enum scsi_result run_zeros(struct venc *e, struct scsi_task *t)
{
	(void)e;
	return reply_zeros(t);
}

/* 93, CB: one byte 00; A6, D1: one byte 01 (bridge.md 2.8) */
static enum scsi_result run_marker(struct venc *e, struct scsi_task *t)
{
	static const uint8_t one = 1;

	(void)e;
	return reply(t, &one, 1);
}

static enum scsi_result read_cpu(
        struct venc *e, struct scsi_task *t, uint32_t address, unsigned unit)
{
	t->data_len = t->implied_len;
	if (venc_mem_read(e, address, t->data, t->implied_len, unit))
		return SCSI_GOOD;
	venc_guest_error(e, "bridge: read of %u bytes at CPU address 0x%08x: nothing there, hung",
	        t->implied_len, address);
	return SCSI_HUNG;
}

static enum scsi_result run_ic_version(struct venc *e, struct scsi_task *t)
{
	return read_cpu(e, t, 0xB35000C8u, 4); /* bridge.md 2.8, 82 */
}

/* bridge.md 2.7: reading exactly one of the two image headers sets the flag */
static bool unlocks(const struct scsi_task *t)
{
	if (t->cdb[5] || t->cdb[6] || t->cdb[7])
		return false;
	return (cdb_address(t) == 0xAC004000u && t->implied_len == 0x60) ||
	       (cdb_address(t) == 0x8C013000u && t->implied_len == 0x18);
}

static enum scsi_result run_read_memory(struct venc *e, struct scsi_task *t)
{
	if (venc_mem_is_register(cdb_address(t))) /* bridge.md 2.17: access width unknown */
		venc_guest_error(e, "bridge: E2/92 on register 0x%08x, use A2", cdb_address(t));
	if (unlocks(t))
		e->unlocked = true;
	return read_cpu(e, t, cdb_address(t), 1);
}

/* A2, 23: CDB[5] = 1 makes the address an offset from 0xB35000C0 (bridge.md 2.8) */
static uint32_t register_address(const struct scsi_task *t)
{
	return cdb_address(t) + (t->cdb[5] == 1 ? 0xB35000C0u : 0);
}

/* bridge.md 2.2: page closed to A2 and 23 in 1.32.87 */
static bool closed_page(const struct venc *e, uint32_t address)
{
	return e->firmware.closed_page && address >> 16 == 0xB370;
}

static enum scsi_result run_read_register(struct venc *e, struct scsi_task *t)
{
	uint32_t address = register_address(t);

	if (closed_page(e, address))
		return venc_scsi_check(t, SENSE_INVALID_COMMAND);
	return read_cpu(e, t, address, access_unit(address, t->implied_len));
}

static enum scsi_result run_efuse(struct venc *e, struct scsi_task *t)
{
	(void)e;
	if (!range_ok(cdb_address(t), t->implied_len, 192)) /* bridge.md 2.8, 96 */
		return venc_scsi_check(t, SENSE_INVALID_FIELD);
	return reply_zeros(t);
}

static enum scsi_result run_version(struct venc *e, struct scsi_task *t)
{
	/* bridge.md 2.8, A5: of the image that runs */
	return read_cpu(e, t, e->firmware.golden ? 0xAC01304Cu : 0xAC00404Cu, 1);
}

static enum scsi_result run_configuration(struct venc *e, struct scsi_task *t)
{
	return read_cpu(e, t, 0xAC003000u, 1); /* bridge.md 2.8, C4 */
}

static enum scsi_result run_flash_id(struct venc *e, struct scsi_task *t)
{
	static const uint8_t id[3] = {0xEF, 0x40, 0x15}; /* inferred: a 2-MiB part, bridge.md 2.2 */

	(void)e;
	return reply(t, id, sizeof(id));
}

static uint8_t current_state(const struct venc *e)
{
	return venc_root_port_link_up(e, &e->port[0]) ? e->state : BRIDGE_STATE_NONE;
}

/* bridge.md 2.8, B5: VID and DID only in states 0 and 2; no medium */
static enum scsi_result run_status(struct venc *e, struct scsi_task *t)
{
	if (t->implied_len < 116)
		return venc_scsi_check(t, SENSE_INVALID_FIELD);
	reply_zeros(t);
	put_le32(t->data + 68, current_state(e));
	return SCSI_GOOD;
}

/* bridge.md 2.8, BB */
static enum scsi_result run_link_status(struct venc *e, struct scsi_task *t)
{
	uint8_t state = current_state(e);

	if (t->implied_len < 16)
		return venc_scsi_check(t, SENSE_INVALID_FIELD);
	reply_zeros(t);
	put_le32(t->data, state);
	put_le32(t->data + 8, state != BRIDGE_STATE_NONE); /* 1 = PCIe */
	return SCSI_GOOD;
}

/* B3, B4, 33, 34 need the handle enumeration leaves behind (bridge.md 2.9). */
static enum scsi_result need_handle(struct venc *e, struct scsi_task *t)
{
	if (current_state(e) != BRIDGE_STATE_NONE)
		return SCSI_GOOD;
	venc_guest_error(e, "bridge: sub-command %02x in state FF", cdb_sub(t));
	return e->opt.null_handle_hangs ? SCSI_HUNG : venc_scsi_check(t, SENSE_INVALID_COMMAND);
}

/* The request for @unit bytes at @address: enables and data shifted into their lane
 * (bridge.md 2.11). */
static struct vcard_tlp lane_request(enum vcard_tlp_type type, uint32_t address, unsigned unit)
{
	unsigned lane = address & 3;

	return (struct vcard_tlp){
	        .type = type,
	        .address = address & ~3u,
	        .byte_enables = (uint8_t)(((1u << unit) - 1) << lane),
	};
}

/* @unit bytes; after a failed TLP the firmware's variable as it was (bridge.md 2.9) */
static uint32_t pcie_read(struct venc *e, enum vcard_tlp_type type, uint32_t address, unsigned unit)
{
	struct vcard_tlp tlp = lane_request(type, address, unit);

	if (venc_engine_firmware_tlp(e, &tlp))
		e->read_var = tlp.data >> 8 * (address & 3);
	return e->read_var;
}

static void pcie_write(struct venc *e, enum vcard_tlp_type type, uint32_t address,
        const uint8_t *from, unsigned unit)
{
	struct vcard_tlp tlp = lane_request(type, address, unit);
	uint8_t dword[4] = {0};

	memcpy(dword + (address & 3), from, unit);
	tlp.data = get_le32(dword);
	venc_engine_firmware_tlp(e, &tlp); /* errors stay unseen, bridge.md 2.9 */
}

static enum scsi_result pcie_read_all(
        struct venc *e, struct scsi_task *t, enum vcard_tlp_type type, uint32_t address)
{
	unsigned unit = access_unit(cdb_address(t), t->implied_len);
	uint8_t dword[4];

	for (uint32_t i = 0; i < t->implied_len; i += unit) {
		put_le32(dword, pcie_read(e, type, address + i, unit));
		memcpy(t->data + i, dword, unit);
	}
	t->data_len = t->implied_len;
	return SCSI_GOOD;
}

/* bridge.md 2.9, 2.10: before a dword write the firmware stores it to CPU address = CDB[8..11] */
static enum scsi_result stray_store(struct venc *e, struct scsi_task *t)
{
	uint32_t address = cdb_address(t);

	venc_guest_error(e, "bridge: E3/%02x of 4 bytes: stray store to CPU address 0x%08x",
	        cdb_sub(t), address);
	if (!venc_mem_write(e, address, t->data, 4, 4) && e->opt.stray_store_hangs)
		return SCSI_HUNG;
	return SCSI_GOOD;
}

static enum scsi_result pcie_write_all(
        struct venc *e, struct scsi_task *t, enum vcard_tlp_type type, uint32_t address)
{
	unsigned unit = access_unit(cdb_address(t), t->implied_len);

	if (unit == 4 && stray_store(e, t) == SCSI_HUNG)
		return SCSI_HUNG;
	for (uint32_t i = 0; i < t->implied_len; i += unit)
		pcie_write(e, type, address + i, t->data + i, unit);
	return SCSI_GOOD;
}

/* bridge.md 2.9: configuration offset in the low 16 bits, fixed to 0:0.0 */
static uint32_t config_offset(struct venc *e, const struct scsi_task *t)
{
	if (!range_ok(cdb_address(t), t->implied_len, 0x1000))
		venc_guest_error(e, "bridge: sub-command %02x beyond configuration space: 0x%x",
		        cdb_sub(t), cdb_address(t));
	return cdb_address(t) & 0xFFFF;
}

static enum scsi_result run_config_read(struct venc *e, struct scsi_task *t)
{
	return pcie_read_all(e, t, VCARD_CFG_READ, config_offset(e, t));
}

static enum scsi_result run_config_write(struct venc *e, struct scsi_task *t)
{
	return pcie_write_all(e, t, VCARD_CFG_WRITE, config_offset(e, t));
}

/* bridge.md 2.10: (base + CDB[8..11]) mod 2^32 */
static enum scsi_result run_memory_read(struct venc *e, struct scsi_task *t)
{
	return pcie_read_all(e, t, VCARD_MEM_READ, e->bar0_base + cdb_address(t));
}

static enum scsi_result run_memory_write(struct venc *e, struct scsi_task *t)
{
	return pcie_write_all(e, t, VCARD_MEM_WRITE, e->bar0_base + cdb_address(t));
}

static enum scsi_result run_write_register(struct venc *e, struct scsi_task *t)
{
	uint32_t address = register_address(t);
	unsigned unit = access_unit(address, t->implied_len);

	if (venc_mem_write(e, address, t->data, t->implied_len, unit))
		return SCSI_GOOD;
	venc_guest_error(e, "bridge: write of %u bytes at CPU address 0x%08x: nothing there, hung",
	        t->implied_len, address);
	return SCSI_HUNG;
}

/* bridge.md 2.15, 30: leaves the bus and comes back at another speed. No status is fetched any
 * more. Which of its modes is which speed is not known; 1 is taken for high speed. */
static enum scsi_result run_change_speed(struct venc *e, struct scsi_task *t)
{
	e->detached = true;
	e->opt.super_speed = t->cdb[5] != 1;
	return SCSI_GOOD;
}

/* bridge.md 2.15, 31: address 0 takes the power away, any other gives it and enumerates */
static enum scsi_result run_disk_power(struct venc *e, struct scsi_task *t)
{
	if (cdb_address(t)) {
		venc_root_port_power_up(e);
	} else {
		e->disk_power = false;
		e->state = BRIDGE_STATE_NONE;
	}
	return SCSI_GOOD;
}

#define ANY 0xFFFFFFFFu

struct rtl_sub {
	uint8_t opcode, sub;
	bool pcie;    /* needs the enumerated device */
	uint32_t len; /* the only length accepted, or ANY */
	enum scsi_result (*run)(struct venc *e, struct scsi_task *t);
};

/* bridge.md 2.8 (rows marked safe) and 2.15 (23, 33, 34; 30 and 31, which only an owner sends) */
static const struct rtl_sub SUBS[] = {
        {0xE2, 0x82, false, 4, run_ic_version},
        {0xE2, 0x92, false, ANY, run_read_memory},
        {0xE2, 0x93, false, 1, run_zeros},
        {0xE2, 0x94, false, ANY, run_zeros}, /* USB2 PHY */
        {0xE2, 0x95, false, ANY, run_zeros}, /* USB3 PHY */
        {0xE2, 0x96, false, ANY, run_efuse},
        {0xE2, 0xA2, false, ANY, run_read_register},
        {0xE2, 0xA5, false, 20, run_version},
        {0xE2, 0xA6, false, 1, run_marker},
        {0xE2, 0xB2, false, 1, run_zeros}, /* no medium, GPIO low */
        {0xE2, 0xB3, true, ANY, run_config_read},
        {0xE2, 0xB4, true, ANY, run_memory_read},
        {0xE2, 0xB5, false, ANY, run_status},
        {0xE2, 0xB7, false, ANY, run_zeros}, /* PCIe PHY */
        {0xE2, 0xBB, false, ANY, run_link_status},
        {0xE2, 0xC2, false, ANY, run_flash_id},
        {0xE2, 0xC4, false, 4096, run_configuration},
        {0xE2, 0xC5, false, ANY, run_zeros}, /* GPIO */
        {0xE2, 0xCB, false, 1, run_zeros},
        {0xE2, 0xD1, false, 1, run_marker},
        {0xE3, 0x23, false, ANY, run_write_register},
        {0xE3, 0x30, false, 0, run_change_speed},
        {0xE3, 0x31, false, 0, run_disk_power},
        {0xE3, 0x33, true, ANY, run_config_write},
        {0xE3, 0x34, true, ANY, run_memory_write},
};

static const struct rtl_sub *find_sub(uint8_t opcode, uint8_t sub)
{
	for (size_t i = 0; i < ARRAY_SIZE(SUBS); i++)
		if (SUBS[i].opcode == opcode && SUBS[i].sub == sub)
			return &SUBS[i];
	return NULL;
}

/* bridge.md 2.4: bytes 1..3 zero, unused parameters zero. The firmware does not look; a driver that
 * sets them is wrong. */
static void check_layout(struct venc *e, const struct scsi_task *t)
{
	bool offset_form = cdb_sub(t) == 0xA2 || cdb_sub(t) == 0x23;
	uint8_t most = cdb_sub(t) == 0x30 ? 0xFF : offset_form;

	if (t->cdb[1] || t->cdb[2] || t->cdb[3] || t->cdb[6] || t->cdb[7] || t->cdb[5] > most)
		venc_guest_error(
		        e, "bridge: %02x/%02x with reserved CDB bytes set", t->cdb[0], cdb_sub(t));
}

/* bridge.md 2.8 and 2.15: everything outside the table erases, programs, hangs or is undecoded */
static enum scsi_result trap(struct venc *e, struct scsi_task *t)
{
	bool empty_opal = t->cdb[0] == 0xE2 && cdb_sub(t) == 0xA8 && !t->implied_len;

	venc_guest_error(e, "bridge: forbidden sub-command %02x/%02x", t->cdb[0], cdb_sub(t));
	return venc_scsi_check(t, empty_opal ? SENSE_INVALID_FIELD : SENSE_INVALID_COMMAND);
}

static enum scsi_result unknown_opcode(struct venc *e, struct scsi_task *t)
{
	if (t->cdb[0] == 0xE4 || t->cdb[0] == 0xE5)
		venc_guest_error(e,
		        "scsi: opcode %02x is not for this bridge family (bridge.md 2.18)",
		        t->cdb[0]);
	return venc_scsi_check(t, SENSE_INVALID_COMMAND);
}

static enum scsi_result rtl_begin(struct venc *e, struct scsi_task *t)
{
	const struct rtl_sub *sub;

	if (t->cdb[0] != 0xE2 && t->cdb[0] != 0xE3)
		return unknown_opcode(e, t);
	sub = find_sub(t->cdb[0], cdb_sub(t));
	if (t->cdb_len < 16) /* bridge.md 2.4 */
		return venc_scsi_check(t, SENSE_INVALID_FIELD);
	t->implied_len = get_le32(t->cdb + 12);
	t->implied_in = t->cdb[0] == 0xE2;
	if (!sub)
		return trap(e, t);
	check_layout(e, t);
	if (!venc_firmware_knows(e, t->cdb[0], cdb_sub(t)))
		return venc_scsi_check(t, SENSE_INVALID_COMMAND);
	if (!t->implied_in && !e->unlocked) /* bridge.md 2.7 */
		return venc_scsi_check(t, SENSE_INVALID_COMMAND);
	if (t->implied_len > RTL_MAX_TRANSFER || (sub->len != ANY && t->implied_len != sub->len))
		return venc_scsi_check(t, SENSE_INVALID_COMMAND);
	if (cdb_sub(t) == 0x23 && closed_page(e, register_address(t)))
		return venc_scsi_check(t, SENSE_INVALID_COMMAND);
	t->run = sub->run;
	return sub->pcie ? need_handle(e, t) : SCSI_GOOD;
}

static int rtl_init(struct venc *e)
{
	int rc = venc_firmware_select(e);

	return rc ? rc : venc_mem_init(e);
}

static void rtl_power_up(struct venc *e)
{
	e->unlocked = false; /* bridge.md 2.7 */
	venc_mem_power_up(e);
	venc_root_port_power_up(e);
}

const struct venc_ops venc_rtl921x_ops = {
        .exact_lengths = true,
        .init = rtl_init,
        .fini = venc_mem_fini,
        .power_up = rtl_power_up,
        .begin = rtl_begin,
};
