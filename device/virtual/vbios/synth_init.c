/* synth_init.c - ASIC_Init and the tables around it: the order of calls and what they wait for is
 * that of real images (atombios.md 9, polaris.md 2.4-2.6), the work is a fraction of theirs.
 */
#include "device/virtual/vbios/synth_priv.h"

/* SMC 0xC0300000: a serial port for fuses and clocks; bit 0 of the command is "busy": atombios.md 9
 */
#define SERIAL_PAGE    0xC0300000u
#define SERIAL_COMMAND 0x44
/* on the same page: fan and temperature limits, as a board's VBIOS leaves them (polaris.md 10.9) */
#define FDO_CTRL1         (IX_CG_FDO_CTRL1 & 0xFFFF)
#define FDO_CTRL1_VALUE   0x40092587u /* full speed 135 steps */
#define THERMAL_INT       (IX_CG_THERMAL_INT & 0xFFFF)
#define THERMAL_INT_VALUE 0x08006A60u /* critical temperature 106 C */

/* I2C engine of the display block: status polled at 0x16F6 (atombios.md 9), control two below, data
 * four above
 */
#define I2C_CONTROL asm_reg(REG_GENERIC_I2C_STATUS / 4 - 2)
#define I2C_STATUS  DW(REG_GENERIC_I2C_STATUS)
#define I2C_DATA    asm_reg(REG_GENERIC_I2C_STATUS / 4 + 4)
#define I2C_DONE    0x10u
#define I2C_TRIES   100

#define SVI2_PAGE   0xC0200000u
#define SVI2_LOAD   (IX_PWR_SVI2_PLANE1_LOAD & 0xFFFF)
#define SVI2_STATUS (IX_PWR_SVI2_STATUS & 0xFFFF)
#define SVI2_BUSY   0x60000u /* bits 17 and 18: atombios.md 9 */

#define VOLTAGE_VDDC  1 /* types and modes of SetVoltage: atombios.md 10.9, 12 */
#define VOLTAGE_VDDCI 4
#define MODE_SET      0
#define MODE_SVI2     7
#define MODE_EVV      9

#define POSTED 0x200u /* of BIOS_SCRATCH_7: atombios.md 9 */

void smc_page(struct atom_asm *a, uint32_t page)
{
	asm_op(a, ATOM_MOVE, DW(REG_SMC_IND_INDEX_1), asm_imm(page));
	asm_word_op(a, ATOM_SET_ATI_PORT, PORT_SMC);
}

void smc_done(struct atom_asm *a)
{
	asm_word_op(a, ATOM_SET_ATI_PORT, 0);
}

void wait_zero(struct atom_asm *a, struct asm_arg reg, uint32_t mask, unsigned label)
{
	asm_label(a, label);
	asm_op(a, ATOM_TEST, reg, asm_imm(mask));
	asm_jump(a, ATOM_JUMP_NOT_EQUAL, label);
}

void wait_set(struct atom_asm *a, struct asm_arg reg, uint32_t mask, unsigned label)
{
	asm_label(a, label);
	asm_op(a, ATOM_TEST, reg, asm_imm(mask));
	asm_jump(a, ATOM_JUMP_EQUAL, label);
}

static void call(struct atom_asm *a, unsigned table)
{
	asm_byte_op(a, ATOM_CALL_TABLE, table);
}

static void end(struct atom_asm *a)
{
	asm_plain(a, ATOM_EOT);
	asm_end(a);
}

/* set_voltage - SetVoltage with the caller's parameters behind its own two. */
static void set_voltage(struct atom_asm *a, unsigned type, uint32_t mv)
{
	asm_op(a, ATOM_MOVE, asm_ps(2), asm_imm(mv << 16 | MODE_SET << 8 | type));
	call(a, ATOM_CMD_SetVoltage);
}

static void asic_init(struct atom_asm *a)
{
	asm_command(a, ATOM_CMD_ASIC_Init, 1, 2, 0, 8);
	call(a, ATOM_CMD_ClockSource);
	call(a, ATOM_CMD_ASIC_RegistersInit);
	call(a, ATOM_CMD_Gfx_Init);
	call(a, ATOM_CMD_SpeedFanControl);
	set_voltage(a, VOLTAGE_VDDC, BOOT_VDDC);
	set_voltage(a, VOLTAGE_VDDCI, BOOT_VDDCI);
	call(a, ATOM_CMD_MemoryControllerInit);
	asm_op(a, ATOM_MOVE, asm_ps(2), asm_ps(0));
	call(a, ATOM_CMD_SetEngineClock);
	asm_op(a, ATOM_MOVE, asm_ps(2), asm_ps(1));
	call(a, ATOM_CMD_SetMemoryClock);
	asm_op(a, ATOM_OR, DW(REG_BIOS_SCRATCH_7), asm_imm(POSTED));
	end(a);
}

/* for_each_dword - head of a loop over @n dwords of the block at label 1: WS[0] counts, the data
 * pointer moves; the loop begins at label 2.
 */
static void for_each_dword(struct atom_asm *a, unsigned n)
{
	asm_op(a, ATOM_MOVE, asm_ws(0), asm_imm(n));
	asm_clear(a, asm_ws(1));
	asm_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_BLOCK_TABLE);
	asm_move_label(a, asm_at(asm_ws(1), ATOM_WORD0), 1);
	asm_op(a, ATOM_ADD, asm_ws(ATOM_WS_DATA_POINTER), asm_ws(1));
	asm_label(a, 2);
}

static void next_dword(struct atom_asm *a)
{
	asm_op(a, ATOM_ADD, asm_ws(ATOM_WS_DATA_POINTER), asm_imm(4));
	asm_op(a, ATOM_SUB, asm_ws(0), asm_imm(1));
	asm_op(a, ATOM_COMPARE, asm_ws(0), asm_imm(0));
	asm_jump(a, ATOM_JUMP_NOT_EQUAL, 2);
}

static void clock_source(struct atom_asm *a)
{
	static const uint32_t commands[] = {0x00100001, 0x00200001, 0x00400001};

	asm_command(a, ATOM_CMD_ClockSource, 1, 1, 8, 0);
	smc_page(a, SERIAL_PAGE);
	for_each_dword(a, ARRAY_SIZE(commands));
	wait_zero(a, asm_reg(SERIAL_COMMAND), 1, 3);
	asm_op(a, ATOM_MOVE, asm_reg(SERIAL_COMMAND), asm_id(0));
	next_dword(a);
	wait_zero(a, asm_reg(SERIAL_COMMAND), 1, 4);
	asm_op(a, ATOM_MOVE, asm_reg(FDO_CTRL1), asm_imm(FDO_CTRL1_VALUE));
	asm_op(a, ATOM_MOVE, asm_reg(THERMAL_INT), asm_imm(THERMAL_INT_VALUE));
	smc_done(a);
	asm_plain(a, ATOM_EOT);
	asm_block(a, 1, commands, ARRAY_SIZE(commands));
	asm_end(a);
}

static void registers_init(struct atom_asm *a)
{
	asm_command(a, ATOM_CMD_ASIC_RegistersInit, 1, 1, 4, 0);
	asm_clear(a, DW(REG_BIOS_SCRATCH_0));
	asm_clear(a, DW(REG_BIOS_SCRATCH_3));
	asm_op(a, ATOM_MOVE, asm_at(DW(REG_BIOS_SCRATCH_6), ATOM_WORD0),
	        asm_at(asm_imm(0), ATOM_WORD0));
	asm_byte_op(a, ATOM_DELAY_MICROSEC, 50);
	end(a);
	asm_command(a, ATOM_CMD_Gfx_Init, 2, 1, 0, 0);
	end(a);
}

/* i2c - one byte pair to the regulator; gives up after I2C_TRIES polls, as real tables do. PS[0]:
 * the data. atombios.md 9, polaris.md 2.6
 */
static void i2c(struct atom_asm *a)
{
	asm_command(a, ATOM_CMD_ProcessI2cChannelTransaction, 1, 1, 4, 8);
	asm_op(a, ATOM_MOVE, asm_ws(0), asm_imm(I2C_TRIES));
	asm_op(a, ATOM_MOVE, I2C_DATA, asm_ps(0));
	asm_op(a, ATOM_OR, I2C_CONTROL, asm_imm(1));
	asm_label(a, 1);
	asm_byte_op(a, ATOM_DELAY_MICROSEC, 100);
	asm_op(a, ATOM_TEST, I2C_STATUS, asm_imm(I2C_DONE));
	asm_jump(a, ATOM_JUMP_NOT_EQUAL, 2);
	asm_op(a, ATOM_SUB, asm_ws(0), asm_imm(1));
	asm_op(a, ATOM_COMPARE, asm_ws(0), asm_imm(0));
	asm_jump(a, ATOM_JUMP_NOT_EQUAL, 1);
	asm_label(a, 2);
	asm_clear(a, I2C_CONTROL);
	end(a);
	asm_command(a, ATOM_CMD_SpeedFanControl, 1, 2, 0, 0); /* despite its name: atombios.md 9 */
	asm_op(a, ATOM_MOVE, asm_ps(0), asm_imm(0x80001000));
	call(a, ATOM_CMD_ProcessI2cChannelTransaction);
	end(a);
}

/* set_svi2 - VID = (1550 mV - PS[0] 31:16) / 6.25 mV into byte 0 of the load register. */
static void set_svi2(struct atom_asm *a)
{
	asm_clear(a, asm_ws(0));
	asm_op(a, ATOM_MOVE, asm_ws(0), asm_imm(1550));
	asm_op(a, ATOM_SUB, asm_at(asm_ws(0), ATOM_WORD0), asm_at(asm_ps(0), ATOM_WORD16));
	asm_op(a, ATOM_MUL, asm_ws(0), asm_imm(100));
	asm_op(a, ATOM_MOVE, asm_ws(0), asm_ws(ATOM_WS_QUOTIENT));
	asm_op(a, ATOM_DIV, asm_ws(0), asm_imm(625));
	smc_page(a, SVI2_PAGE);
	asm_op(a, ATOM_MOVE, asm_at(asm_reg(SVI2_LOAD), ATOM_BYTE0),
	        asm_at(asm_ws(ATOM_WS_QUOTIENT), ATOM_BYTE0));
	wait_zero(a, asm_reg(SVI2_STATUS), SVI2_BUSY, 3);
	smc_done(a);
	asm_byte_op(a, ATOM_DELAY_MICROSEC, 60);
}

static void voltage_tables(struct atom_asm *a)
{
	asm_command(a, ATOM_CMD_SetVoltage, 1, 4, 4, 4);
	asm_switch(a, asm_at(asm_ps(0), ATOM_WORD0)); /* mode and type */
	asm_case(a, ATOM_WORD0, MODE_SET << 8 | VOLTAGE_VDDC, 1);
	asm_cases_end(a);
	asm_byte_op(a, ATOM_DELAY_MICROSEC, 60); /* the others have nothing to switch here */
	asm_plain(a, ATOM_EOT);
	asm_label(a, 1);
	set_svi2(a);
	end(a);

	asm_command(a, ATOM_CMD_GetVoltageInfo, 1, 3, 4, 0);
	asm_switch(a, asm_at(asm_ps(0), ATOM_BYTE8));
	asm_case(a, ATOM_BYTE0, MODE_EVV, 1);
	asm_case(a, ATOM_BYTE0, MODE_SVI2, 2);
	asm_cases_end(a);
	asm_shift(a, ATOM_SHIFT_RIGHT, asm_ps(0), 16); /* mode VID: the level is the voltage */
	asm_plain(a, ATOM_EOT);
	asm_label(a, 1); /* virtual id n: 800 mV + 50 mV * n, in 0.01 mV */
	asm_shift(a, ATOM_SHIFT_RIGHT, asm_ps(0), 16);
	asm_op(a, ATOM_SUB, asm_ps(0), asm_imm(0xFF01));
	asm_op(a, ATOM_MUL, asm_ps(0), asm_imm(5000));
	asm_op(a, ATOM_MOVE, asm_ps(0), asm_ws(ATOM_WS_QUOTIENT));
	asm_op(a, ATOM_ADD, asm_ps(0), asm_imm(80000));
	asm_plain(a, ATOM_EOT);
	asm_label(a, 2);
	asm_clear(a, asm_ps(0));
	end(a);

	asm_command(a, ATOM_CMD_ReadEfuseValue, 3, 1, 0, 0);
	asm_clear(a, asm_ps(0)); /* no fuse is blown */
	end(a);
}

void synth_init_tables(struct atom_asm *a)
{
	asic_init(a);
	clock_source(a);
	registers_init(a);
	i2c(a);
	voltage_tables(a);
}
