/* synth_priv.h - the parts of the synthetic VBIOS. */
#ifndef RX_SYNTH_PRIV_H
#define RX_SYNTH_PRIV_H

#include "device/bytes.h"
#include "device/regs/regs.h"
#include "device/virtual/vbios/atom_asm.h"
#include "device/virtual/vbios/synth.h"

/* registers count in dwords here, in bytes in regs.h */
#define DW(reg) as_reg((reg) / 4)

#define ENGINE_CLOCK 30000 /* boot clocks, 10 kHz */
#define MEMORY_CLOCK 30000
#define REFERENCE    10000
#define BOOT_VDDC    900 /* mV */
#define BOOT_VDDCI   850

/* ports of IndirectIOAccess: atombios.md 8 */
#define PORT_PCIE 3
#define PORT_SMC  5

/* synth_data.c, synth_vram.c, synth_power.c: data tables */
void synth_data_tables(struct atom_asm *a);
void synth_vram_info(struct atom_asm *a, uint32_t vram_mb);
void synth_power_tables(struct atom_asm *a);

/* synth_init.c, synth_memory.c, synth_clocks.c: command tables */
void synth_init_tables(struct atom_asm *a);
void synth_memory_tables(struct atom_asm *a);
void synth_clock_tables(struct atom_asm *a);

/* synth_end - EOT, and the table is done. */
void synth_end(struct atom_asm *a);

/* synth_smc_page - SMC registers @page.. become registers 0..0xFFFF, until synth_smc_done(): port 5
 * replaces the low half of SMC_IND_INDEX_1 and keeps the upper half (atombios.md 8).
 */
void synth_smc_page(struct atom_asm *a, uint32_t page);
void synth_smc_done(struct atom_asm *a);

/* synth_wait_zero, synth_wait_set - read @reg until (value & @mask) is zero, or is not. @label: a
 * free one.
 */
void synth_wait_zero(struct atom_asm *a, struct as_arg reg, uint32_t mask, unsigned label);
void synth_wait_set(struct atom_asm *a, struct as_arg reg, uint32_t mask, unsigned label);

#endif
