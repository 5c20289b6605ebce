/* asm2x6x_target.c - the vendor commands of stock ASM236x and ASM246x firmware (bridge.md 3.1).
 * What would write flash or configuration is trapped: it fails the run instead of the bridge.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/virtual/enclosure/asm2x6x_priv.h"

#define BANK_236X   0x00 /* bridge.md 3.1 */
#define BANK_246X   0x50 /* bridge.md 3.1; bit 0: address bit 16 */
#define CONFIG_SIZE 128  /* bridge.md 3.1, E0 */

/* bridge.md 3.1: CDB bytes are BE */
static uint32_t xdata_address(const struct scsi_task *t)
{
	return (t->cdb[2] & 1u) << 16 | get_be16(t->cdb + 3);
}

/* The bank byte tells the families apart (bridge.md 3.1): the other one's is refused. */
static bool own_bank(const struct venc *e, uint8_t bank)
{
	return venc_is_246x(e) ? (bank & ~1) == BANK_246X : bank == BANK_236X;
}

static enum scsi_result run_xdata_read(struct venc *e, struct scsi_task *t)
{
	struct venc_asm *a = e->asmedia;
	uint32_t address = xdata_address(t);

	for (uint32_t i = 0; i < t->implied_len; i++)
		t->data[i] = venc_asm_xdata_read(e, address + i);
	t->data_len = t->implied_len;
	memcpy(a->xdata + XDATA_USB, t->data, t->data_len); /* bridge.md 3.1 */
	return SCSI_GOOD;
}

static enum scsi_result run_xdata_write(struct venc *e, struct scsi_task *t)
{
	venc_asm_xdata_write(e, xdata_address(t), t->cdb[1]);
	return SCSI_GOOD;
}

/* Flash nobody has programmed: no vendor code here. */
static enum scsi_result run_erased(struct venc *e, struct scsi_task *t)
{
	(void)e;
	memset(t->data, 0xFF, t->implied_len);
	t->data_len = t->implied_len;
	return SCSI_GOOD;
}

/* The CPU starts again: no answer to this command, and a device to be enumerated anew. */
static enum scsi_result run_cpu_reset(struct venc *e, struct scsi_task *t)
{
	(void)e, (void)t;
	return SCSI_HUNG;
}

static enum scsi_result run_pcie_reset(struct venc *e, struct scsi_task *t)
{
	(void)t;
	venc_asm_root_power_up(e);
	venc_asm_engine_power_up(e);
	return SCSI_GOOD;
}

/* bridge.md 3.1: 6 bytes, the last 0; E4 `E4 len bank ah al 00`, E5 `E5 val bank ah al 00` */
static bool xdata_layout(struct venc *e, const struct scsi_task *t)
{
	if (t->cdb_len == 6 || e->alternate) /* UAS has no length */
		return !t->cdb[5];
	return false;
}

static enum scsi_result begin_xdata(struct venc *e, struct scsi_task *t)
{
	bool read = t->cdb[0] == 0xE4;
	uint8_t bank = t->cdb[2];

	if (!xdata_layout(e, t)) {
		venc_guest_error(
		        e, "asm: %02x is 6 bytes with the last one 0 (bridge.md 3.1)", t->cdb[0]);
		return venc_scsi_check(t, SENSE_INVALID_FIELD);
	}
	if (!own_bank(e, bank)) {
		if (!read || (bank != BANK_236X && (bank & ~1) != BANK_246X))
			venc_guest_error(e, "asm: %02x with bank %02x on an ASM%s (bridge.md 3.1)",
			        t->cdb[0], bank, venc_is_246x(e) ? "246x" : "236x");
		return venc_scsi_check(t, SENSE_INVALID_FIELD);
	}
	t->implied_in = read;
	t->implied_len = read ? t->cdb[1] : 0;
	t->run = read ? run_xdata_read : run_xdata_write;
	if (read && (!t->cdb[1] || (xdata_address(t) & 0xFFFF) + t->cdb[1] > 0x10000)) {
		venc_guest_error(e, "asm: E4 of %u bytes at %05x (bridge.md 3.1: 1 to 255)",
		        t->cdb[1], xdata_address(t));
		return venc_scsi_check(t, SENSE_INVALID_FIELD);
	}
	return SCSI_GOOD;
}

static enum scsi_result begin_config_read(struct venc *e, struct scsi_task *t)
{
	(void)e;
	t->implied_in = true;
	t->implied_len = CONFIG_SIZE;
	t->run = run_erased;
	return t->cdb[1] < 2 ? SCSI_GOOD : venc_scsi_check(t, SENSE_INVALID_FIELD);
}

static enum scsi_result begin_flash_read(struct venc *e, struct scsi_task *t)
{
	(void)e;
	t->implied_in = true;
	t->implied_len = get_be32(t->cdb + 2);
	t->run = run_erased;
	return t->implied_len <= sizeof(t->data) ? SCSI_GOOD
	                                         : venc_scsi_check(t, SENSE_INVALID_FIELD);
}

/* bridge.md 3.1: `E8 type` and ten zeros; types 00 CPU and 01, on 246x 51, PCIe */
static enum scsi_result begin_reset(struct venc *e, struct scsi_task *t)
{
	static const uint8_t zeros[10];
	uint8_t pcie = venc_is_246x(e) ? 0x51 : 0x01;

	if ((t->cdb[1] && t->cdb[1] != pcie) || memcmp(t->cdb + 2, zeros, sizeof(zeros)) ||
	        (t->cdb_len != 12 && !e->alternate)) {
		venc_guest_error(
		        e, "asm: E8 type %02x in %u bytes (bridge.md 3.1)", t->cdb[1], t->cdb_len);
		return venc_scsi_check(t, SENSE_INVALID_FIELD);
	}
	t->run = t->cdb[1] ? run_pcie_reset : run_cpu_reset;
	return SCSI_GOOD;
}

static enum scsi_result trap(struct venc *e, struct scsi_task *t, const char *why)
{
	venc_guest_error(e, "asm: opcode %02x %s (bridge.md 3.1)", t->cdb[0], why);
	return venc_scsi_check(t, SENSE_INVALID_COMMAND);
}

static enum scsi_result asm_begin(struct venc *e, struct scsi_task *t)
{
	switch (t->cdb[0]) {
	case 0xE0: return begin_config_read(e, t);
	case 0xE1: return trap(e, t, "writes the configuration");
	case 0xE2: return begin_flash_read(e, t);
	case 0xE3: return trap(e, t, "writes the firmware");
	case 0xE4:
	case 0xE5: return begin_xdata(e, t);
	case 0xE6: return trap(e, t, "asks an NVMe disk, there is none");
	case 0xE8: return begin_reset(e, t);
	default: return trap(e, t, "is not known");
	}
}

static int asm_init(struct venc *e)
{
	if (e->opt.firmware[0]) /* there is one, bridge.md 3.1 */
		return rx_fail("virtual", -EINVAL,
		        "there is only one firmware of the virtual ASMedia bridges, not \"%s\"",
		        e->opt.firmware);
	e->asmedia = calloc(1, sizeof(*e->asmedia));
	return e->asmedia ? 0 : -ENOMEM;
}

static void asm_fini(struct venc *e)
{
	free(e->asmedia);
}

static void asm_power_up(struct venc *e)
{
	venc_asm_xdata_power_up(e);
	venc_asm_engine_power_up(e);
	venc_asm_root_power_up(e);
}

const struct venc_ops venc_asm2x6x_ops = {
        .init = asm_init,
        .fini = asm_fini,
        .power_up = asm_power_up,
        .begin = asm_begin,
};
