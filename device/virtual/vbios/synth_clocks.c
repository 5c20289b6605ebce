/* synth_clocks.c - clock tables a driver calls: parameters as in atombios.md 12. */
#include "device/virtual/vbios/synth_priv.h"

#define PLL_PAGE     0xC0500000u
#define PLL_STATUS   0x0278 /* bit 0 bypass reached, bit 1 frequency reached: atombios.md 9 */
#define PLL_REQUEST  0x02B0 /* bit 4 bypass, bit 0 frequency: polaris.md 2.6 */
#define PLL_POSTDIV  0x02AC
#define PLL_INTEGER  0x0290 /* bits 31:16 */
#define PLL_FRACTION 0x0298 /* bits 31:16 */

/* what GetMemoryClock reads back: a scratch register of the BIOS, 8 of 16 (polaris.md 1.5) */
#define MEMORY_CLOCK_NOW asm_reg(REG_BIOS_SCRATCH_0 / 4 + 8)

#define CLOCK_BITS 0x00FFFFFFu

static void end(struct atom_asm *a)
{
	asm_plain(a, ATOM_EOT);
	asm_end(a);
}

/* find_range - the first row of SMU_Info whose clock is not below WS[0]; its post divider's
 * exponent comes to WS[1]. The last row holds for all above. Labels 1, 2.
 */
static void find_range(struct atom_asm *a)
{
	asm_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_DATA_SMU_Info);
	asm_clear(a, asm_ws(2));
	asm_op(a, ATOM_MOVE, asm_at(asm_ws(2), ATOM_BYTE0), asm_at(asm_id(4), ATOM_BYTE0));
	asm_label(a, 1);
	asm_op(a, ATOM_COMPARE, asm_ws(0), asm_id(8));
	asm_jump(a, ATOM_JUMP_BELOW_OR_EQUAL, 2);
	asm_op(a, ATOM_SUB, asm_ws(2), asm_imm(1));
	asm_op(a, ATOM_COMPARE, asm_ws(2), asm_imm(0));
	asm_jump(a, ATOM_JUMP_EQUAL, 2);
	asm_op(a, ATOM_ADD, asm_ws(ATOM_WS_DATA_POINTER), asm_imm(12));
	asm_jump(a, ATOM_JUMP, 1);
	asm_label(a, 2);
	asm_clear(a, asm_ws(1));
	asm_op(a, ATOM_MOVE, asm_at(asm_ws(1), ATOM_BYTE0), asm_at(asm_id(8 + 5), ATOM_BYTE0));
}

/* compute_pll - clock * 2^exponent / reference as 16.16; atombios.md 12 checks it with 1266 MHz. */
static void compute_pll(struct atom_asm *a)
{
	asm_command(a, ATOM_CMD_ComputeMemoryEnginePLL, 1, 6, 16, 24);
	asm_op(a, ATOM_MOVE, asm_ws(0), asm_ps(0));
	asm_op(a, ATOM_AND, asm_ws(0), asm_imm(CLOCK_BITS));
	asm_op(a, ATOM_MOVE, asm_ps(0), asm_ws(0)); /* the divider above it: none */
	find_range(a);
	asm_op(a, ATOM_SHL, asm_ws(0), asm_ws(1));
	asm_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_DATA_FirmwareInfo);
	asm_clear(a, asm_ws(2));
	asm_op(a, ATOM_MOVE, asm_at(asm_ws(2), ATOM_WORD0), asm_at(asm_id(0x52), ATOM_WORD0));
	asm_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_BLOCK_NONE);
	asm_op(a, ATOM_DIV, asm_ws(0), asm_ws(2));
	asm_op(a, ATOM_MOVE, asm_at(asm_ps(1), ATOM_WORD16),
	        asm_at(asm_ws(ATOM_WS_QUOTIENT), ATOM_WORD0));
	asm_op(a, ATOM_MOVE, asm_ws(0), asm_ws(ATOM_WS_REMAINDER));
	asm_shift(a, ATOM_SHIFT_LEFT, asm_ws(0), 16);
	asm_op(a, ATOM_DIV, asm_ws(0), asm_ws(2));
	asm_op(a, ATOM_MOVE, asm_at(asm_ps(1), ATOM_WORD0),
	        asm_at(asm_ws(ATOM_WS_QUOTIENT), ATOM_WORD0));
	asm_op(a, ATOM_MOVE, asm_ps(2), asm_ws(1));
	asm_op(a, ATOM_MOVE, asm_at(asm_ps(2), ATOM_BYTE8), asm_at(asm_imm(1), ATOM_BYTE0));
	for (unsigned i = 3; i < 6; i++) /* no spread spectrum, no peak current control */
		asm_clear(a, asm_ps(i));
	end(a);
}

/* set_engine_clock - bypass, new words, ask for the frequency, back from bypass. */
static void set_engine_clock(struct atom_asm *a)
{
	asm_command(a, ATOM_CMD_SetEngineClock, 1, 2, 4, 0);
	asm_op(a, ATOM_MOVE, asm_at(asm_ps(0), ATOM_BYTE24), asm_at(asm_imm(1), ATOM_BYTE0));
	asm_byte_op(a, ATOM_CALL_TABLE, ATOM_CMD_ComputeMemoryEnginePLL);
	smc_page(a, PLL_PAGE);
	asm_op(a, ATOM_OR, asm_reg(PLL_REQUEST), asm_imm(0x10));
	wait_set(a, asm_reg(PLL_STATUS), 1, 1);
	asm_clear(a, asm_ws(0));
	asm_op(a, ATOM_MOVE, asm_at(asm_ws(0), ATOM_BYTE0), asm_at(asm_ps(2), ATOM_BYTE0));
	asm_op(a, ATOM_MOVE, asm_reg(PLL_POSTDIV), asm_ws(0));
	asm_op(a, ATOM_MOVE, asm_at(asm_reg(PLL_INTEGER), ATOM_WORD16),
	        asm_at(asm_ps(1), ATOM_WORD16));
	asm_op(a, ATOM_MOVE, asm_at(asm_reg(PLL_FRACTION), ATOM_WORD16),
	        asm_at(asm_ps(1), ATOM_WORD0));
	asm_op(a, ATOM_OR, asm_reg(PLL_REQUEST), asm_imm(1));
	wait_set(a, asm_reg(PLL_STATUS), 2, 2);
	asm_op(a, ATOM_AND, asm_reg(PLL_REQUEST), asm_imm(~0x11u));
	smc_done(a);
	end(a);
}

/* get_engine_clock - the words back into 10 kHz: (integer.fraction * reference) >> exponent. */
static void get_engine_clock(struct atom_asm *a)
{
	asm_command(a, ATOM_CMD_GetEngineClock, 1, 1, 12, 0);
	smc_page(a, PLL_PAGE);
	asm_op(a, ATOM_MOVE, asm_at(asm_ws(0), ATOM_WORD16),
	        asm_at(asm_reg(PLL_INTEGER), ATOM_WORD16));
	asm_op(a, ATOM_MOVE, asm_at(asm_ws(0), ATOM_WORD0),
	        asm_at(asm_reg(PLL_FRACTION), ATOM_WORD16));
	asm_op(a, ATOM_MOVE, asm_ws(1), asm_reg(PLL_POSTDIV));
	smc_done(a);
	asm_op(a, ATOM_MUL32, asm_ws(0), asm_imm(REFERENCE)); /* 64 bits: high in REMAINDER */
	asm_op(a, ATOM_MOVE, asm_ws(2), asm_ws(ATOM_WS_REMAINDER));
	asm_shift(a, ATOM_SHIFT_LEFT, asm_ws(2), 16);
	asm_op(a, ATOM_MOVE, asm_at(asm_ws(2), ATOM_WORD0),
	        asm_at(asm_ws(ATOM_WS_QUOTIENT), ATOM_WORD16));
	asm_op(a, ATOM_ADD, asm_ws(2), asm_imm(1)); /* the words were rounded down */
	asm_op(a, ATOM_SHR, asm_ws(2), asm_ws(1));
	asm_op(a, ATOM_MOVE, asm_ps(0), asm_ws(2));
	end(a);
}

static void memory_clock(struct atom_asm *a)
{
	asm_command(a, ATOM_CMD_SetMemoryClock, 2, 1, 4, 4);
	asm_op(a, ATOM_MOVE, asm_ws(0), asm_ps(0));
	asm_op(a, ATOM_AND, asm_ws(0), asm_imm(CLOCK_BITS));
	asm_op(a, ATOM_MOVE, asm_ps(1), asm_ps(0));
	asm_byte_op(a, ATOM_CALL_TABLE, ATOM_CMD_DynamicMemorySettings);
	asm_op(a, ATOM_MOVE, asm_ps(1), asm_imm(7)); /* train again: synth_memory.c */
	asm_byte_op(a, ATOM_CALL_TABLE, ATOM_CMD_MC_SEQ_Control);
	asm_op(a, ATOM_MOVE, MEMORY_CLOCK_NOW, asm_ws(0));
	end(a);
	asm_command(a, ATOM_CMD_GetMemoryClock, 1, 1, 0, 4);
	asm_op(a, ATOM_MOVE, asm_ps(0), MEMORY_CLOCK_NOW);
	end(a);
}

/* dynamic_settings - the arbiter's timings for a clock, which the driver reads back for its own
 * tables (polaris.md 10.5): here simply in proportion to it.
 */
static void dynamic_settings(struct atom_asm *a)
{
	asm_command(a, ATOM_CMD_DynamicMemorySettings, 2, 1, 4, 4);
	asm_op(a, ATOM_MOVE, asm_ws(0), asm_ps(0));
	asm_op(a, ATOM_AND, asm_ws(0), asm_imm(CLOCK_BITS));
	asm_op(a, ATOM_DIV, asm_ws(0), asm_imm(10000));
	asm_op(a, ATOM_MOVE, DW(REG_MC_ARB_DRAM_TIMING), asm_ws(ATOM_WS_QUOTIENT));
	asm_op(a, ATOM_ADD, asm_ws(ATOM_WS_QUOTIENT), asm_imm(8));
	asm_op(a, ATOM_MOVE, DW(REG_MC_ARB_DRAM_TIMING2), asm_ws(ATOM_WS_QUOTIENT));
	asm_op(a, ATOM_MOVE, asm_at(DW(REG_MC_ARB_BURST_TIME), ATOM_BYTE0),
	        asm_at(asm_imm(4), ATOM_BYTE0));
	end(a);
}

void synth_clock_tables(struct atom_asm *a)
{
	compute_pll(a);
	set_engine_clock(a);
	get_engine_clock(a);
	memory_clock(a);
	dynamic_settings(a);
}
