/* synth_clocks.c - clock tables a driver calls: parameters as in atombios.md 12. */
#include "device/virtual/vbios/synth_priv.h"

#define PLL_PAGE     0xC0500000u
#define PLL_STATUS   0x0278 /* bit 0 bypass reached, bit 1 frequency reached: atombios.md 9 */
#define PLL_REQUEST  0x02B0 /* bit 4 bypass, bit 0 frequency: polaris.md 2.6 */
#define PLL_POSTDIV  0x02AC
#define PLL_INTEGER  0x0290 /* bits 31:16 */
#define PLL_FRACTION 0x0298 /* bits 31:16 */

/* what GetMemoryClock reads back: a scratch register of the BIOS, 8 of 16 (polaris.md 1.5) */
#define MEMORY_CLOCK_NOW as_reg(REG_BIOS_SCRATCH_0 / 4 + 8)

#define CLOCK_BITS 0x00FFFFFFu

/* find_range - the first row of SMU_Info whose clock is not below WS[0]; its post divider's
 * exponent comes to WS[1]. The last row holds for all above. Labels 1, 2.
 */
static void find_range(struct atom_asm *a)
{
	as_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_DATA_SMU_Info);
	as_clear(a, as_ws(2));
	as_op(a, ATOM_MOVE, as_at(as_ws(2), ATOM_BYTE0), as_at(as_id(4), ATOM_BYTE0));
	as_label(a, 1);
	as_op(a, ATOM_COMPARE, as_ws(0), as_id(8));
	as_jump(a, ATOM_JUMP_BELOW_OR_EQUAL, 2);
	as_op(a, ATOM_SUB, as_ws(2), as_imm(1));
	as_op(a, ATOM_COMPARE, as_ws(2), as_imm(0));
	as_jump(a, ATOM_JUMP_EQUAL, 2);
	as_op(a, ATOM_ADD, as_ws(ATOM_WS_DATA_POINTER), as_imm(12));
	as_jump(a, ATOM_JUMP, 1);
	as_label(a, 2);
	as_clear(a, as_ws(1));
	as_op(a, ATOM_MOVE, as_at(as_ws(1), ATOM_BYTE0), as_at(as_id(8 + 5), ATOM_BYTE0));
}

/* compute_pll - clock * 2^exponent / reference as 16.16; atombios.md 12 checks it with 1266 MHz. */
static void compute_pll(struct atom_asm *a)
{
	as_command(a, ATOM_CMD_ComputeMemoryEnginePLL, 1, 6, 16, 24);
	as_op(a, ATOM_MOVE, as_ws(0), as_ps(0));
	as_op(a, ATOM_AND, as_ws(0), as_imm(CLOCK_BITS));
	as_op(a, ATOM_MOVE, as_ps(0), as_ws(0)); /* the divider above it: none */
	find_range(a);
	as_op(a, ATOM_SHL, as_ws(0), as_ws(1));
	as_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_DATA_FirmwareInfo);
	as_clear(a, as_ws(2));
	as_op(a, ATOM_MOVE, as_at(as_ws(2), ATOM_WORD0), as_at(as_id(0x52), ATOM_WORD0));
	as_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_BLOCK_NONE);
	as_op(a, ATOM_DIV, as_ws(0), as_ws(2));
	as_op(a, ATOM_MOVE, as_at(as_ps(1), ATOM_WORD16),
	        as_at(as_ws(ATOM_WS_QUOTIENT), ATOM_WORD0));
	as_op(a, ATOM_MOVE, as_ws(0), as_ws(ATOM_WS_REMAINDER));
	as_shift(a, ATOM_SHIFT_LEFT, as_ws(0), 16);
	as_op(a, ATOM_DIV, as_ws(0), as_ws(2));
	as_op(a, ATOM_MOVE, as_at(as_ps(1), ATOM_WORD0),
	        as_at(as_ws(ATOM_WS_QUOTIENT), ATOM_WORD0));
	as_op(a, ATOM_MOVE, as_ps(2), as_ws(1));
	as_op(a, ATOM_MOVE, as_at(as_ps(2), ATOM_BYTE8), as_at(as_imm(1), ATOM_BYTE0));
	for (unsigned i = 3; i < 6; i++) /* no spread spectrum, no peak current control */
		as_clear(a, as_ps(i));
	synth_end(a);
}

/* set_engine_clock - bypass, new words, ask for the frequency, back from bypass. */
static void set_engine_clock(struct atom_asm *a)
{
	as_command(a, ATOM_CMD_SetEngineClock, 1, 2, 4, 0);
	as_op(a, ATOM_MOVE, as_at(as_ps(0), ATOM_BYTE24), as_at(as_imm(1), ATOM_BYTE0));
	as_byte_op(a, ATOM_CALL_TABLE, ATOM_CMD_ComputeMemoryEnginePLL);
	synth_smc_page(a, PLL_PAGE);
	as_op(a, ATOM_OR, as_reg(PLL_REQUEST), as_imm(0x10));
	synth_wait_set(a, as_reg(PLL_STATUS), 1, 1);
	as_clear(a, as_ws(0));
	as_op(a, ATOM_MOVE, as_at(as_ws(0), ATOM_BYTE0), as_at(as_ps(2), ATOM_BYTE0));
	as_op(a, ATOM_MOVE, as_reg(PLL_POSTDIV), as_ws(0));
	as_op(a, ATOM_MOVE, as_at(as_reg(PLL_INTEGER), ATOM_WORD16), as_at(as_ps(1), ATOM_WORD16));
	as_op(a, ATOM_MOVE, as_at(as_reg(PLL_FRACTION), ATOM_WORD16), as_at(as_ps(1), ATOM_WORD0));
	as_op(a, ATOM_OR, as_reg(PLL_REQUEST), as_imm(1));
	synth_wait_set(a, as_reg(PLL_STATUS), 2, 2);
	as_op(a, ATOM_AND, as_reg(PLL_REQUEST), as_imm(~0x11u));
	synth_smc_done(a);
	synth_end(a);
}

/* get_engine_clock - the words back into 10 kHz: (integer.fraction * reference) >> exponent. */
static void get_engine_clock(struct atom_asm *a)
{
	as_command(a, ATOM_CMD_GetEngineClock, 1, 1, 12, 0);
	synth_smc_page(a, PLL_PAGE);
	as_op(a, ATOM_MOVE, as_at(as_ws(0), ATOM_WORD16), as_at(as_reg(PLL_INTEGER), ATOM_WORD16));
	as_op(a, ATOM_MOVE, as_at(as_ws(0), ATOM_WORD0), as_at(as_reg(PLL_FRACTION), ATOM_WORD16));
	as_op(a, ATOM_MOVE, as_ws(1), as_reg(PLL_POSTDIV));
	synth_smc_done(a);
	as_op(a, ATOM_MUL32, as_ws(0), as_imm(REFERENCE)); /* 64 bits: high in REMAINDER */
	as_op(a, ATOM_MOVE, as_ws(2), as_ws(ATOM_WS_REMAINDER));
	as_shift(a, ATOM_SHIFT_LEFT, as_ws(2), 16);
	as_op(a, ATOM_MOVE, as_at(as_ws(2), ATOM_WORD0),
	        as_at(as_ws(ATOM_WS_QUOTIENT), ATOM_WORD16));
	as_op(a, ATOM_ADD, as_ws(2), as_imm(1)); /* the words were rounded down */
	as_op(a, ATOM_SHR, as_ws(2), as_ws(1));
	as_op(a, ATOM_MOVE, as_ps(0), as_ws(2));
	synth_end(a);
}

static void memory_clock(struct atom_asm *a)
{
	as_command(a, ATOM_CMD_SetMemoryClock, 2, 1, 4, 4);
	as_op(a, ATOM_MOVE, as_ws(0), as_ps(0));
	as_op(a, ATOM_AND, as_ws(0), as_imm(CLOCK_BITS));
	as_op(a, ATOM_MOVE, as_ps(1), as_ps(0));
	as_byte_op(a, ATOM_CALL_TABLE, ATOM_CMD_DynamicMemorySettings);
	as_op(a, ATOM_MOVE, as_ps(1), as_imm(7)); /* train again: synth_memory.c */
	as_byte_op(a, ATOM_CALL_TABLE, ATOM_CMD_MC_SEQ_Control);
	as_op(a, ATOM_MOVE, MEMORY_CLOCK_NOW, as_ws(0));
	synth_end(a);
	as_command(a, ATOM_CMD_GetMemoryClock, 1, 1, 0, 4);
	as_op(a, ATOM_MOVE, as_ps(0), MEMORY_CLOCK_NOW);
	synth_end(a);
}

/* dynamic_settings - the arbiter's timings for a clock, which the driver reads back for its own
 * tables (polaris.md 10.5): here simply in proportion to it.
 */
static void dynamic_settings(struct atom_asm *a)
{
	as_command(a, ATOM_CMD_DynamicMemorySettings, 2, 1, 4, 4);
	as_op(a, ATOM_MOVE, as_ws(0), as_ps(0));
	as_op(a, ATOM_AND, as_ws(0), as_imm(CLOCK_BITS));
	as_op(a, ATOM_DIV, as_ws(0), as_imm(10000));
	as_op(a, ATOM_MOVE, DW(REG_MC_ARB_DRAM_TIMING), as_ws(ATOM_WS_QUOTIENT));
	as_op(a, ATOM_ADD, as_ws(ATOM_WS_QUOTIENT), as_imm(8));
	as_op(a, ATOM_MOVE, DW(REG_MC_ARB_DRAM_TIMING2), as_ws(ATOM_WS_QUOTIENT));
	as_op(a, ATOM_MOVE, as_at(DW(REG_MC_ARB_BURST_TIME), ATOM_BYTE0),
	        as_at(as_imm(4), ATOM_BYTE0));
	synth_end(a);
}

void synth_clock_tables(struct atom_asm *a)
{
	compute_pll(a);
	set_engine_clock(a);
	get_engine_clock(a);
	memory_clock(a);
	dynamic_settings(a);
}
