/* probe_priv.h - what the files of device/probe/ share: commands that are counted and timed, and
 * steps. */
#ifndef PROBE_PRIV_H
#define PROBE_PRIV_H

#include "device/bridge/asm2x6x.h"
#include "device/bridge/bridge.h"
#include "device/pci/pci.h"
#include "device/probe/probe.h"
#include "device/scsi/scsi.h"

#define INQUIRY_BYTES 36

struct probe {
	struct probe_options opt;
	struct probe_report *out;
	struct scsi *scsi;
	struct bridge *bridge; /* owns scsi once there */
	struct probe_step *step;
	struct scsi_counters before; /* when the step began */
	struct scsi_sense sense;     /* of the last command */
	bool stopped;
	enum bridge_maker maker; /* by its names */
	/* RTL921x */
	uint8_t header[0x60]; /* the flash header as first read: the heartbeat */
	uint32_t base;        /* bridge.md 2.10 */
	uint32_t bar5;
	/* ASMedia */
	enum asm_chip chip;
	uint8_t version[ASM_VERSION_BYTES]; /* as first read: part of the heartbeat */
	struct pci *pci;
};

/* probe_step_begin - one line of the report. @number, @title, @evidence, @source: constant strings.
 */
void probe_step_begin(struct probe *p, const char *number, const char *title, const char *evidence,
        const char *source);
void probe_step_value(struct probe *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* probe_step_end - the verdict, and words for it or NULL. Return: whether to go on. */
bool probe_step_end(struct probe *p, enum probe_verdict verdict, const char *words);
/* probe_step_failed - a command of this step failed: says how. Return: false. */
bool probe_step_failed(struct probe *p, int err);

/* probe_exec - one command, never repeated. Return: as scsi_exec; the sense is in p->sense. */
int probe_exec(struct probe *p, const uint8_t *cdb, size_t cdb_len, enum scsi_dir dir, void *buf,
        size_t len);
void probe_timing_of(struct probe_timing *out, uint32_t *us, unsigned n);

/* A family of bridges: whether this is one, asked in a way that is harmless to all others
 * (bridge.md 2.18), and its steps. */
struct probe_family {
	const char *name;
	bool (*fits)(struct probe *p, const uint8_t inquiry[INQUIRY_BYTES]);
	void (*steps)(struct probe *p);
};

extern const struct probe_family probe_rtl921x, probe_asm2x6x;
/* probe_rtl_vendor - one vendor command that is on the driver's list. Return: 0; -EPERM not on it;
 * -EIO short or failed; as scsi_exec. */
int probe_rtl_vendor(
        struct probe *p, uint8_t op, uint8_t sub, uint32_t addr, void *buf, uint32_t len);
/* probe_rtl_heartbeat - the flash header once more: bridge.md 7.2 step 12. Return: whether to go
 * on. */
bool probe_rtl_heartbeat(struct probe *p);
/* Levels 1 and 2. */
bool probe_rtl_write_config(struct probe *p);
bool probe_rtl_write_card(struct probe *p);
bool probe_rtl_engine(struct probe *p); /* what the raw engine can do beyond single dwords */
/* probe_rtl_write_bar - dword @reg among the BARs, with memory decode off meanwhile: one half
 * written would claim somebody's addresses. @mask: the bits that must read back. Return: 0; -EIO it
 * reads otherwise (logged); as the bridge. */
int probe_rtl_write_bar(struct probe *p, unsigned reg, uint32_t value, uint32_t mask);
#define RTL_PROBE_VRAM 0x100000u /* where in VRAM the probe looks and writes: any place will do */

#endif
