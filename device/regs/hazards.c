/* hazards.c - registers that a dump of BAR5 must not read (interface.md 7.8). A read of exactly one
 * of them is a deliberate act and goes to the card.
 */
#include <stddef.h>

#include "device/bytes.h"
#include "device/regs/regs.h"
#include "device/rx580.h"

/* Inclusive ranges of byte offsets, ascending. Why each: the data port of an indirect window either
 * moves something on a read (ROM_DATA behind SMC_IND_DATA_n: polaris.md 2.1; microcode ports: 4.5)
 * or reaches a block that may be powered down or un-started, whose read stalls (12.5). */
static const struct {
	uint32_t first, last;
} hazards[] = {
        {REG_MM_DATA, REG_MM_DATA},               /* polaris.md 3.6: whatever MM_INDEX points at */
        {REG_PCIE_DATA, REG_PCIE_DATA},           /* 1.3 */
        {REG_SMC_IND_DATA_0, REG_SMC_IND_DATA_0}, /* 1.3, 2.1: may be ROM_DATA */
        {REG_SMC_IND_DATA_1, REG_SMC_IND_DATA_1},
        {REG_SMC_IND_DATA_11, REG_SMC_IND_DATA_11},
        {REG_MC_SEQ_SUP_PGM, REG_MC_SEQ_SUP_PGM},             /* 3.7: sequencer program port */
        {REG_MC_SEQ_IO_DEBUG_DATA, REG_MC_SEQ_IO_DEBUG_DATA}, /* 1.3 */
        {REG_GC_CAC_IND_DATA, REG_GC_CAC_IND_DATA},           /* 1.3 */
        {REG_SQ_IND_DATA, REG_SQ_IND_DATA},                   /* 12.6: AUTO_INCR */
        {REG_DIDT_IND_DATA, REG_DIDT_IND_DATA},               /* 1.3 */
        {REG_SDMA0_UCODE_ADDR, REG_SDMA0_UCODE_DATA},         /* 4.5 */
        {REG_SDMA1_UCODE_ADDR, REG_SDMA1_UCODE_DATA},
        {REG_CP_PFP_UCODE_ADDR, REG_CP_MEC_ME2_UCODE_DATA},
        {REG_RLC_GPM_UCODE_ADDR, REG_RLC_GPM_UCODE_DATA},
};

bool rx_reg_hazard(uint32_t offset)
{
	for (size_t i = 0; i < ARRAY_SIZE(hazards); i++)
		if (offset >= hazards[i].first && offset <= hazards[i].last)
			return true;
	return false;
}
