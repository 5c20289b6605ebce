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
#define THERMAL_INT_VALUE 0x08006A60u /* as real images have it: polaris.md 10.9 */

/* xclk is a quarter of the reference clock: polaris.md 1.4 */
#define CLOCK_PAGE   0xC0500000u
#define CLKPIN       (IX_CG_CLKPIN_CNTL & 0xFFFF)
#define CLKPIN_VALUE 3u

/* I2C engine of the display block: status polled at 0x16F6 (atombios.md 9), control two below, data
 * four above
 */
#define I2C_CONTROL as_reg(REG_GENERIC_I2C_STATUS / 4 - 2)
#define I2C_STATUS  DW(REG_GENERIC_I2C_STATUS)
#define I2C_DATA    as_reg(REG_GENERIC_I2C_STATUS / 4 + 4)
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

void synth_end(struct atom_asm *a)
{
	as_plain(a, ATOM_EOT);
	as_end(a);
}

void synth_smc_page(struct atom_asm *a, uint32_t page)
{
	as_op(a, ATOM_MOVE, DW(REG_SMC_IND_INDEX_1), as_imm(page));
	as_word_op(a, ATOM_SET_ATI_PORT, PORT_SMC);
}

void synth_smc_done(struct atom_asm *a)
{
	as_word_op(a, ATOM_SET_ATI_PORT, 0);
}

void synth_wait_zero(struct atom_asm *a, struct as_arg reg, uint32_t mask, unsigned label)
{
	as_label(a, label);
	as_op(a, ATOM_TEST, reg, as_imm(mask));
	as_jump(a, ATOM_JUMP_NOT_EQUAL, label);
}

void synth_wait_set(struct atom_asm *a, struct as_arg reg, uint32_t mask, unsigned label)
{
	as_label(a, label);
	as_op(a, ATOM_TEST, reg, as_imm(mask));
	as_jump(a, ATOM_JUMP_EQUAL, label);
}

static void call(struct atom_asm *a, unsigned table)
{
	as_byte_op(a, ATOM_CALL_TABLE, table);
}

/* set_voltage - SetVoltage with the caller's parameters behind its own two. */
static void set_voltage(struct atom_asm *a, unsigned type, uint32_t mv)
{
	as_op(a, ATOM_MOVE, as_ps(2), as_imm(mv << 16 | MODE_SET << 8 | type));
	call(a, ATOM_CMD_SetVoltage);
}

static void asic_init(struct atom_asm *a)
{
	as_command(a, ATOM_CMD_ASIC_Init, 1, 2, 0, 8);
	call(a, ATOM_CMD_ClockSource);
	call(a, ATOM_CMD_ASIC_RegistersInit);
	call(a, ATOM_CMD_Gfx_Init);
	call(a, ATOM_CMD_SpeedFanControl);
	set_voltage(a, VOLTAGE_VDDC, BOOT_VDDC);
	set_voltage(a, VOLTAGE_VDDCI, BOOT_VDDCI);
	call(a, ATOM_CMD_MemoryControllerInit);
	as_op(a, ATOM_MOVE, as_ps(2), as_ps(0));
	call(a, ATOM_CMD_SetEngineClock);
	as_op(a, ATOM_MOVE, as_ps(2), as_ps(1));
	call(a, ATOM_CMD_SetMemoryClock);
	as_op(a, ATOM_OR, DW(REG_BIOS_SCRATCH_7), as_imm(POSTED));
	synth_end(a);
}

/* for_each_dword - head of a loop over @n dwords of the block at label 1: WS[0] counts, the data
 * pointer moves; the loop begins at label 2.
 */
static void for_each_dword(struct atom_asm *a, unsigned n)
{
	as_op(a, ATOM_MOVE, as_ws(0), as_imm(n));
	as_clear(a, as_ws(1));
	as_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_BLOCK_TABLE);
	as_move_label(a, as_at(as_ws(1), ATOM_WORD0), 1);
	as_op(a, ATOM_ADD, as_ws(ATOM_WS_DATA_POINTER), as_ws(1));
	as_label(a, 2);
}

static void next_dword(struct atom_asm *a)
{
	as_op(a, ATOM_ADD, as_ws(ATOM_WS_DATA_POINTER), as_imm(4));
	as_op(a, ATOM_SUB, as_ws(0), as_imm(1));
	as_op(a, ATOM_COMPARE, as_ws(0), as_imm(0));
	as_jump(a, ATOM_JUMP_NOT_EQUAL, 2);
}

static void clock_source(struct atom_asm *a)
{
	static const uint32_t commands[] = {0x00100001, 0x00200001, 0x00400001};

	as_command(a, ATOM_CMD_ClockSource, 1, 1, 8, 0);
	synth_smc_page(a, SERIAL_PAGE);
	for_each_dword(a, ARRAY_SIZE(commands));
	synth_wait_zero(a, as_reg(SERIAL_COMMAND), 1, 3);
	as_op(a, ATOM_MOVE, as_reg(SERIAL_COMMAND), as_id(0));
	next_dword(a);
	synth_wait_zero(a, as_reg(SERIAL_COMMAND), 1, 4);
	as_op(a, ATOM_MOVE, as_reg(FDO_CTRL1), as_imm(FDO_CTRL1_VALUE));
	as_op(a, ATOM_MOVE, as_reg(THERMAL_INT), as_imm(THERMAL_INT_VALUE));
	synth_smc_done(a);
	synth_smc_page(a, CLOCK_PAGE);
	as_op(a, ATOM_MOVE, as_reg(CLKPIN), as_imm(CLKPIN_VALUE));
	synth_smc_done(a);
	as_plain(a, ATOM_EOT);
	as_block(a, 1, commands, ARRAY_SIZE(commands));
	as_end(a);
}

static void registers_init(struct atom_asm *a)
{
	as_command(a, ATOM_CMD_ASIC_RegistersInit, 1, 1, 4, 0);
	as_clear(a, DW(REG_BIOS_SCRATCH_0));
	as_clear(a, DW(REG_BIOS_SCRATCH_3));
	as_op(a, ATOM_MOVE, as_at(DW(REG_BIOS_SCRATCH_6), ATOM_WORD0),
	        as_at(as_imm(0), ATOM_WORD0));
	as_byte_op(a, ATOM_DELAY_MICROSEC, 50);
	synth_end(a);
	as_command(a, ATOM_CMD_Gfx_Init, 2, 1, 0, 0);
	synth_end(a);
}

/* i2c - one byte pair to the regulator; gives up after I2C_TRIES polls, as real tables do. PS[0]:
 * the data. atombios.md 9, polaris.md 2.6
 */
static void i2c(struct atom_asm *a)
{
	as_command(a, ATOM_CMD_ProcessI2cChannelTransaction, 1, 1, 4, 8);
	as_op(a, ATOM_MOVE, as_ws(0), as_imm(I2C_TRIES));
	as_op(a, ATOM_MOVE, I2C_DATA, as_ps(0));
	as_op(a, ATOM_OR, I2C_CONTROL, as_imm(1));
	as_label(a, 1);
	as_byte_op(a, ATOM_DELAY_MICROSEC, 100);
	as_op(a, ATOM_TEST, I2C_STATUS, as_imm(I2C_DONE));
	as_jump(a, ATOM_JUMP_NOT_EQUAL, 2);
	as_op(a, ATOM_SUB, as_ws(0), as_imm(1));
	as_op(a, ATOM_COMPARE, as_ws(0), as_imm(0));
	as_jump(a, ATOM_JUMP_NOT_EQUAL, 1);
	as_label(a, 2);
	as_clear(a, I2C_CONTROL);
	synth_end(a);
	as_command(a, ATOM_CMD_SpeedFanControl, 1, 2, 0, 0); /* despite its name: atombios.md 9 */
	as_op(a, ATOM_MOVE, as_ps(0), as_imm(0x80001000));
	call(a, ATOM_CMD_ProcessI2cChannelTransaction);
	synth_end(a);
}

/* set_svi2 - VID = (1550 mV - PS[0] 31:16) / 6.25 mV into byte 0 of the load register. */
static void set_svi2(struct atom_asm *a)
{
	as_clear(a, as_ws(0));
	as_op(a, ATOM_MOVE, as_ws(0), as_imm(1550));
	as_op(a, ATOM_SUB, as_at(as_ws(0), ATOM_WORD0), as_at(as_ps(0), ATOM_WORD16));
	as_op(a, ATOM_MUL, as_ws(0), as_imm(100));
	as_op(a, ATOM_MOVE, as_ws(0), as_ws(ATOM_WS_QUOTIENT));
	as_op(a, ATOM_DIV, as_ws(0), as_imm(625));
	synth_smc_page(a, SVI2_PAGE);
	as_op(a, ATOM_MOVE, as_at(as_reg(SVI2_LOAD), ATOM_BYTE0),
	        as_at(as_ws(ATOM_WS_QUOTIENT), ATOM_BYTE0));
	synth_wait_zero(a, as_reg(SVI2_STATUS), SVI2_BUSY, 3);
	synth_smc_done(a);
	as_byte_op(a, ATOM_DELAY_MICROSEC, 60);
}

static void voltage_tables(struct atom_asm *a)
{
	as_command(a, ATOM_CMD_SetVoltage, 1, 4, 4, 4);
	as_switch(a, as_at(as_ps(0), ATOM_WORD0)); /* mode and type */
	as_case(a, ATOM_WORD0, MODE_SET << 8 | VOLTAGE_VDDC, 1);
	as_cases_end(a);
	as_byte_op(a, ATOM_DELAY_MICROSEC, 60); /* the others have nothing to switch here */
	as_plain(a, ATOM_EOT);
	as_label(a, 1);
	set_svi2(a);
	synth_end(a);

	as_command(a, ATOM_CMD_GetVoltageInfo, 1, 3, 4, 0);
	as_switch(a, as_at(as_ps(0), ATOM_BYTE8));
	as_case(a, ATOM_BYTE0, MODE_EVV, 1);
	as_case(a, ATOM_BYTE0, MODE_SVI2, 2);
	as_cases_end(a);
	as_shift(a, ATOM_SHIFT_RIGHT, as_ps(0), 16); /* mode VID: the level is the voltage */
	as_plain(a, ATOM_EOT);
	as_label(a, 1); /* virtual id n: 800 mV + 50 mV * n, in 0.01 mV */
	as_shift(a, ATOM_SHIFT_RIGHT, as_ps(0), 16);
	as_op(a, ATOM_SUB, as_ps(0), as_imm(0xFF01));
	as_op(a, ATOM_MUL, as_ps(0), as_imm(5000));
	as_op(a, ATOM_MOVE, as_ps(0), as_ws(ATOM_WS_QUOTIENT));
	as_op(a, ATOM_ADD, as_ps(0), as_imm(80000));
	as_plain(a, ATOM_EOT);
	as_label(a, 2);
	as_clear(a, as_ps(0));
	synth_end(a);

	as_command(a, ATOM_CMD_ReadEfuseValue, 3, 1, 0, 0);
	as_clear(a, as_ps(0)); /* no fuse is blown */
	synth_end(a);
}

void synth_init_tables(struct atom_asm *a)
{
	asic_init(a);
	clock_source(a);
	registers_init(a);
	i2c(a);
	voltage_tables(a);
}
