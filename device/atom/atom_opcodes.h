/* atom_opcodes.h - numbers of the ATOM BIOS: opcodes, operand kinds, table indices. Tables only, no
 * logic, shared by the interpreter, the table decoders and the assembler of the virtual card.
 * Sources: atombios.md 3, 6, 8.
 */
#ifndef RX_ATOM_OPCODES_H
#define RX_ATOM_OPCODES_H

/* clang-format off */
/* ATOM_FAMILIES(X) - X(NAME, first opcode, destinations): a family has one opcode for each
 * destination, in the order of enum atom_dst; MUL32 and DIV32 start at PS (atombios.md 6.3).
 */
#define ATOM_FAMILIES(X) \
	X(MOVE, 1, 6) \
	X(AND, 7, 6) \
	X(OR, 13, 6) \
	X(SHIFT_LEFT, 19, 6) \
	X(SHIFT_RIGHT, 25, 6) \
	X(MUL, 31, 6) \
	X(DIV, 37, 6) \
	X(ADD, 43, 6) \
	X(SUB, 49, 6) \
	X(COMPARE, 60, 6) \
	X(TEST, 74, 6) \
	X(CLEAR, 84, 6) \
	X(MASK, 92, 6) \
	X(XOR, 103, 6) \
	X(SHL, 109, 6) \
	X(SHR, 115, 6) \
	X(MUL32, 123, 2) \
	X(DIV32, 125, 2)

/* ATOM_SINGLES(X) - X(NAME, opcode): atombios.md 6.3 */
#define ATOM_SINGLES(X) \
	X(SET_ATI_PORT, 55) \
	X(SET_PCI_PORT, 56) \
	X(SET_SYS_IO_PORT, 57) \
	X(SET_REG_BLOCK, 58) \
	X(SET_FB_BASE, 59) \
	X(SWITCH, 66) \
	X(JUMP, 67) \
	X(JUMP_EQUAL, 68) \
	X(JUMP_BELOW, 69) \
	X(JUMP_ABOVE, 70) \
	X(JUMP_BELOW_OR_EQUAL, 71) \
	X(JUMP_ABOVE_OR_EQUAL, 72) \
	X(JUMP_NOT_EQUAL, 73) \
	X(DELAY_MILLISEC, 80) \
	X(DELAY_MICROSEC, 81) \
	X(CALL_TABLE, 82) \
	X(REPEAT, 83) \
	X(NOP, 90) \
	X(EOT, 91) \
	X(POST_CARD, 98) \
	X(BEEP, 99) \
	X(SAVE_REG, 100) \
	X(RESTORE_REG, 101) \
	X(SET_DATA_BLOCK, 102) \
	X(DEBUG, 121) \
	X(CTB_DS, 122)

enum atom_opcode {
#define X(name, first, count) ATOM_##name = (first),
	ATOM_FAMILIES(X)
#undef X
#define X(name, code) ATOM_##name = (code),
	ATOM_SINGLES(X)
#undef X
	ATOM_OPCODES = 127 /* one above the last: atombios.md 6.3 */
};

/* destination kinds, in the order of the opcodes of a family: atombios.md 6.1 */
enum atom_dst { ATOM_DST_REG, ATOM_DST_PS, ATOM_DST_WS, ATOM_DST_FB, ATOM_DST_PLL, ATOM_DST_MC };

/* source kinds, bits 2:0 of the attribute byte: atombios.md 6.1 */
enum atom_src {
	ATOM_SRC_REG, ATOM_SRC_PS, ATOM_SRC_WS, ATOM_SRC_FB,
	ATOM_SRC_ID, ATOM_SRC_IMM, ATOM_SRC_PLL, ATOM_SRC_MC
};

/* fields of a dword, bits 5:3 of the attribute byte: atombios.md 6.1 */
enum atom_align {
	ATOM_DWORD, ATOM_WORD0, ATOM_WORD8, ATOM_WORD16,
	ATOM_BYTE0, ATOM_BYTE8, ATOM_BYTE16, ATOM_BYTE24
};

/* workspace indices that are registers of the interpreter: atombios.md 6.7 */
enum atom_ws {
	ATOM_WS_QUOTIENT = 0x40, ATOM_WS_REMAINDER, ATOM_WS_DATA_POINTER, ATOM_WS_SHIFT,
	ATOM_WS_OR_MASK, ATOM_WS_AND_MASK, ATOM_WS_FB_WINDOW, ATOM_WS_ATTRIBUTES, ATOM_WS_REG_POINTER
};

#define ATOM_CASE        0x63   /* marks one case of SWITCH: atombios.md 6.5 */
#define ATOM_CASE_END    0x5A5A /* ends its list */
#define ATOM_BLOCK_NONE  0      /* operand of SET_DATA_BLOCK: offsets from the image's start */
#define ATOM_BLOCK_TABLE 255    /* operand of SET_DATA_BLOCK: this command table */

/* instructions of the indirect I/O programs, and their bytes: atombios.md 8 */
#define ATOM_IIO_OPS(X) \
	X(NOP, 0, 1) \
	X(START, 1, 2) \
	X(READ, 2, 3) \
	X(WRITE, 3, 3) \
	X(CLEAR, 4, 3) \
	X(SET, 5, 3) \
	X(MOVE_INDEX, 6, 4) \
	X(MOVE_ATTR, 7, 4) \
	X(MOVE_DATA, 8, 4) \
	X(END, 9, 3)

enum atom_iio_op {
#define X(name, code, bytes) ATOM_IIO_##name = (code),
	ATOM_IIO_OPS(X)
#undef X
};

#define ATOM_IIO_WRITE_PROGRAM 0x80 /* program of a write: port + this; atombios.md 7 */

#define ATOM_HEADER_BYTES  4 /* of every table: size, revisions; atombios.md 3 */
#define ATOM_COMMAND_CODE  6 /* offset of the first opcode: atombios.md 4 */
#define ATOM_COMMAND_COUNT 81 /* entries of the master lists: atombios.md 3 */
#define ATOM_DATA_COUNT    35

/* command tables the driver calls or the virtual card holds: X(NAME, index), atombios.md 3.1 */
#define ATOM_COMMAND_TABLES(X) \
	X(ASIC_Init, 0) \
	X(ASIC_RegistersInit, 2) \
	X(VRAM_BlockVenderDetection, 3) \
	X(MemoryControllerInit, 5) \
	X(MemoryParamAdjust, 7) \
	X(GPIOPinControl, 9) \
	X(SetEngineClock, 10) \
	X(SetMemoryClock, 11) \
	X(EnableDispPowerGating, 13) \
	X(ResetMemoryDevice, 15) \
	X(MemoryPLLInit, 16) \
	X(AdjustMemoryController, 18) \
	X(EnableASIC_StaticPwrMgt, 19) \
	X(PatchMCSetting, 30) \
	X(MC_SEQ_Control, 31) \
	X(Gfx_Harvesting, 32) \
	X(EnableCRTC, 35) \
	X(GetSCLKOverMCLKRatio, 38) \
	X(GetSMUClockInfo, 41) \
	X(GetMemoryClock, 47) \
	X(GetEngineClock, 48) \
	X(VRAM_BlockDetectionByStrap, 52) \
	X(MemoryCleanUp, 53) \
	X(ProcessI2cChannelTransaction, 54) \
	X(WriteOneByteToHWAssistedI2C, 55) \
	X(ReadHWAssistedI2CStatus, 56) \
	X(SpeedFanControl, 57) \
	X(PowerConnectorDetection, 58) \
	X(MC_Synchronization, 59) \
	X(ComputeMemoryEnginePLL, 60) \
	X(Gfx_Init, 61) \
	X(VRAM_GetCurrentInfoBlock, 62) \
	X(DynamicMemorySettings, 63) \
	X(MemoryTraining, 64) \
	X(SetVoltage, 67) \
	X(ReadEfuseValue, 69) \
	X(ClockSource, 71) \
	X(MemoryDeviceInit, 72) \
	X(ProcessAuxChannelTransaction, 78) \
	X(GetVoltageInfo, 80)

/* data tables that are decoded here or checked: X(NAME, index), atombios.md 3.2 */
#define ATOM_DATA_TABLES(X) \
	X(FirmwareInfo, 4) \
	X(SMU_Info, 8) \
	X(GPIO_I2C_Info, 10) \
	X(VRAM_UsageByFirmware, 11) \
	X(GPIO_Pin_LUT, 12) \
	X(GFX_Info, 14) \
	X(PowerPlayInfo, 15) \
	X(Object_Header, 22) \
	X(IndirectIOAccess, 23) \
	X(MC_InitParameter, 24) \
	X(ASIC_InternalSS_Info, 26) \
	X(VRAM_Info, 28) \
	X(ASIC_ProfilingInfo, 31) \
	X(VoltageObjectInfo, 32) \
	X(ServiceInfo, 34)

enum atom_command {
#define X(name, index) ATOM_CMD_##name = (index),
	ATOM_COMMAND_TABLES(X)
#undef X
};

enum atom_data {
#define X(name, index) ATOM_DATA_##name = (index),
	ATOM_DATA_TABLES(X)
#undef X
};
/* clang-format on */

#endif
