/* names.h - names of registers, for what a human reads. Pure. */
#ifndef RX_REG_NAMES_H
#define RX_REG_NAMES_H

#include <stdint.h>

/* reg_name, smc_name - of the register at this byte offset of BAR5, at this address of the SMC
 * space. NULL: regs.h does not have it. */
const char *reg_name(uint32_t offset);
const char *smc_name(uint32_t address);

#endif
