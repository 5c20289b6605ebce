/* smu_priv.h - the parts of the card that a power-on brings up: memory sequencer, SMU, clocks and
 * heat. Embedded in struct vcard, everything with the card's lock held. Units as noted; SMC RAM is
 * kept as the dwords the indirect port shows, byte 0 of a structure in bits 31:24 (polaris.md 4.3).
 */
#ifndef VCARD_SMU_PRIV_H
#define VCARD_SMU_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/virtual/card/card.h"

struct vcard;

/* mc_seq.c: the memory sequencer as ASIC_Init drives it (polaris.md 2.5, 2.6; atombios.md 9). */
#define MC_PROGRAM_DWORDS 0x4000u /* 64 KiB; the real ones have 32 */
#define MC_IO_DEBUG_REGS  0x200u
struct card_mc_seq {
	uint32_t program[MC_PROGRAM_DWORDS];
	uint32_t program_dwords;
	bool program_mode; /* MC_SEQ_SUP_CNTL = 0x10: MC_SEQ_SUP_PGM takes a program */
	bool running, trained, ready;
	bool complained; /* of VRAM accesses before it is ready: counted each time, said once */
	uint32_t io_debug[MC_IO_DEBUG_REGS]; /* behind MC_SEQ_IO_DEBUG_INDEX */
};
void card_mc_seq_reset(struct vcard *c, bool posted);
uint32_t card_mc_seq_misc0(struct vcard *c);
uint32_t card_mc_seq_misc9(struct vcard *c);
void card_mc_seq_sup_cntl(struct vcard *c, uint32_t value);
void card_mc_seq_sup_pgm(struct vcard *c, uint32_t value);
void card_mc_seq_pio_dma(struct vcard *c, uint32_t command);
/* card_mc_ready - VRAM exists: sequencer running, trained, CONFIG_MEMSIZE and MC_VM_FB_LOCATION
 * set. */
bool card_mc_ready(struct vcard *c);

/* ucode.c: what an image must be. */
#define UCODE_SDMA0 1u /* polaris.md 4.4 */
#define UCODE_SDMA1 2u
#define UCODE_CE    3u
#define UCODE_PFP   4u
#define UCODE_ME    5u
#define UCODE_MEC   6u
#define UCODE_JT1   7u
#define UCODE_JT2   8u
#define UCODE_RLC   10u
#define UCODE_ALL   0x47Eu /* mask of LoadUcodes: 4.4 step 5 */
/* card_ucode_wrong - check one whole image. @at: where a stand-in's own words stand; @kind: the
 * kind they must name (standin.h). Return: NULL, or why it is refused. */
const char *card_ucode_wrong(const uint8_t *image, size_t bytes, size_t at, uint32_t kind);

enum card_smu_state {
	SMU_HELD,   /* in reset, or its clock is off */
	SMU_BOOT,   /* the boot ROM answers Test only: polaris.md 4.3 step 4 */
	SMU_RUNNING /* the verified firmware */
};

struct card_smu {
	uint32_t *ram; /* RX_SMC_RAM_BYTES / 4, owned */
	enum card_smu_state state;
	bool verified;      /* the last Test passed */
	uint32_t image_end; /* SMC address one past the image uploaded in reset; 0 none */
	uint64_t boot_ns;   /* a released SMU is up at this time; 0 nothing pending */
	/* mailbox: polaris.md 10.1 */
	bool busy;
	uint64_t answer_ns;
	uint32_t message;
	/* LoadUcodes: 4.4 */
	uint64_t toc, buffer; /* MC addresses */
	uint32_t loaded, loading;
	uint64_t loaded_ns;
	/* DPM: 10.5, 10.7 */
	bool sclk_dpm, mclk_dpm, pcie_dpm, voltage, ulv, cac, tdc, package, edc, avfs;
	bool fan_table, zero_rpm, logging;
	uint32_t sclk_mask, mclk_mask;
	uint32_t package_limit, target_tdp; /* 1/256 W, 0 not given */
	/* what runs now */
	unsigned sclk_level, mclk_level;
	uint32_t sclk, mclk; /* 10 kHz */
	uint32_t vddc_mv;
};

/* smu.c */
int card_smu_new(struct vcard *c);
void card_smu_reset(struct vcard *c);
void card_smu_warm(struct vcard *c); /* not cold: running, everything loaded */
void card_smu_tick(struct vcard *c); /* let what is due happen */
uint32_t card_smu_ram_read(struct vcard *c, uint32_t address);
void card_smu_ram_write(struct vcard *c, uint32_t address, uint32_t value);
void card_smu_syscon_write(struct vcard *c, uint32_t index, uint32_t value, uint32_t old);
void card_smu_message(struct vcard *c, uint32_t id);
/* Fields of SMC RAM, big-endian in the structure. 0 when @address is outside RAM. */
uint32_t card_smu_u32(struct vcard *c, uint32_t address);
uint32_t card_smu_u16(struct vcard *c, uint32_t address);
uint32_t card_smu_u8(struct vcard *c, uint32_t address);
/* card_smu_table - SMC address of a structure named by the firmware header; 0 while nothing runs.
 */
enum card_smu_table {
	SMU_SOFT_REGISTERS = 48, /* offsets in the firmware header: polaris.md 10.3 */
	SMU_DPM_TABLE = 52,
	SMU_FAN_TABLE = 56,
	SMU_ARB_TABLE = 72,
	SMU_FUSE_TABLE = 76,
};
uint32_t card_smu_table(struct vcard *c, enum card_smu_table t);

/* smu_load.c: the images of a TOC. Return: mask of the ids that were loaded. */
uint32_t card_smu_load_ucodes(struct vcard *c, uint32_t mask);

/* smu_msg.c: execute one message. @arg in and out. Return: value for SMC_RESP_0. */
#define SMC_RESP_OK      0x1u /* polaris.md 10.1 */
#define SMC_RESP_UNKNOWN 0xFEu
#define SMC_RESP_FAILED  0xFFu
uint32_t card_smu_execute(struct vcard *c, uint32_t id, uint32_t *arg);

/* smu_dpm.c: clocks. */
void card_dpm_reset(struct vcard *c);
void card_dpm_publish(struct vcard *c); /* FEATURE_STATUS, level indices */
const char *card_dpm_table_wrong(struct vcard *c);
/* card_dpm_choose - clocks for this much load (0..1) at this temperature. */
void card_dpm_choose(struct vcard *c, double activity, double temperature);
double card_dpm_power(struct vcard *c, double activity); /* W, at the clocks chosen */

/* heat.c: temperature and fan. */
struct card_heat {
	uint64_t last_ns;
	double temperature, power; /* C; W, averaged */
	double activity;           /* 0..1, smoothed */
	double duty;               /* of the fan, 0..1 */
	unsigned rpm;
	uint64_t instructions; /* executed up to last_ns */
	bool tripped;          /* critical temperature: off until the next reset */
};
void card_heat_init(struct vcard *c);
void card_heat_reset(struct vcard *c); /* a reset cools nothing */
void card_heat_update(struct vcard *c);

#endif
