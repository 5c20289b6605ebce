/* synth_memory.c - the memory controller's part of ASIC_Init: which module, load and start the
 * sequencer's microcode, train, tell the size. Waits: atombios.md 9; what is left behind:
 * polaris.md 2.5.
 */
#include "device/virtual/vbios/synth_priv.h"

#define ROM_PAGE  0xC0600000u
#define ROM_INDEX (IX_ROM_INDEX & 0xFFFF)
#define ROM_DATA  (IX_ROM_DATA & 0xFFFF)

/* a register-to-register copy of the command processor: source, destination, count (polaris.md 2.5)
 */
#define COPY_SOURCE      asm_reg(0xC064)
#define COPY_SOURCE_HIGH asm_reg(0xC065)
#define COPY_DST         asm_reg(0xC066)
#define COPY_DST_HIGH    asm_reg(0xC067)
#define COPY_START       asm_reg(0xC0E8)
#define COPY_COMMAND     0x7C000000u
#define COPY_BUSY        0x80000000u /* of CP_STAT */
#define CP_STAT          asm_reg(0x21A0)

#define MISC0_RUNNING 0x80u /* bit 7: the sequencer runs */
#define LOAD_UCODE    0xFF  /* parameter of MemoryTraining: atombios.md 12 */
#define TRAIN_ALL     0x07  /* a request: the channels train reads, writes, addresses */

#define MODULE 20 /* of VRAM_Info: its only module */

#define FB_BASE 0xF400u /* in 16 MiB: 0xF400000000; polaris.md 2.5 */

static void end(struct atom_asm *a)
{
	asm_plain(a, ATOM_EOT);
	asm_end(a);
}

static void controller_init(struct atom_asm *a)
{
	asm_command(a, ATOM_CMD_MemoryControllerInit, 1, 1, 4, 0);
	asm_clear(a, DW(REG_BIF_FB_EN)); /* no host access while memory changes */
	asm_byte_op(a, ATOM_CALL_TABLE, ATOM_CMD_VRAM_BlockDetectionByStrap);
	asm_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_DATA_VRAM_Info);
	asm_clear(a, DW(REG_MC_ARB_RAMCFG));
	asm_op(a, ATOM_MOVE, asm_at(DW(REG_MC_ARB_RAMCFG), ATOM_WORD0),
	        asm_at(asm_id(MODULE + 6), ATOM_WORD0));
	asm_clear(a, asm_ws(0));
	asm_op(a, ATOM_MOVE, asm_at(asm_ws(0), ATOM_BYTE0),
	        asm_at(asm_id(MODULE + 0x0C), ATOM_BYTE0));
	asm_shift(a, ATOM_SHIFT_LEFT, asm_ws(0), 12); /* NOOFCHAN */
	asm_op(a, ATOM_MOVE, DW(REG_MC_SHARED_CHMAP), asm_ws(0));
	asm_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_BLOCK_NONE);
	asm_op(a, ATOM_MOVE, asm_ps(0), asm_imm(LOAD_UCODE));
	asm_byte_op(a, ATOM_CALL_TABLE, ATOM_CMD_MemoryTraining);
	asm_op(a, ATOM_MOVE, asm_ps(0), asm_imm(TRAIN_ALL));
	asm_byte_op(a, ATOM_CALL_TABLE, ATOM_CMD_MemoryTraining);
	asm_byte_op(a, ATOM_CALL_TABLE, ATOM_CMD_MemoryDeviceInit);
	end(a);

	asm_command(a, ATOM_CMD_VRAM_BlockDetectionByStrap, 1, 1, 0, 4);
	asm_clear(a, asm_at(DW(REG_BIOS_SCRATCH_4), ATOM_BYTE16)); /* module 0: polaris.md 2.5 */
	end(a);
}

/* load_pairs - WS[0] pairs from ROM_DATA to MC_SEQ_IO_DEBUG. Labels 2 and 3. */
static void load_pairs(struct atom_asm *a)
{
	asm_label(a, 2);
	asm_op(a, ATOM_COMPARE, asm_ws(0), asm_imm(0));
	asm_jump(a, ATOM_JUMP_EQUAL, 3);
	asm_word_op(a, ATOM_SET_ATI_PORT, PORT_SMC);
	asm_op(a, ATOM_MOVE, asm_ws(2), asm_reg(ROM_DATA));
	asm_op(a, ATOM_MOVE, asm_ws(3), asm_reg(ROM_DATA));
	smc_done(a);
	asm_op(a, ATOM_MOVE, DW(REG_MC_SEQ_IO_DEBUG_INDEX), asm_ws(2));
	asm_op(a, ATOM_MOVE, DW(REG_MC_SEQ_IO_DEBUG_DATA), asm_ws(3));
	asm_op(a, ATOM_SUB, asm_ws(0), asm_imm(1));
	asm_jump(a, ATOM_JUMP, 2);
	asm_label(a, 3);
}

/* stream_program - the rest of the microcode, WS[1] dwords, from ROM_DATA to MC_SEQ_SUP_PGM. */
static void stream_program(struct atom_asm *a)
{
	asm_op(a, ATOM_MOVE, DW(REG_MC_SEQ_SUP_CNTL), asm_imm(8)); /* reset, then program mode */
	asm_op(a, ATOM_MOVE, DW(REG_MC_SEQ_SUP_CNTL), asm_imm(0x10));
	asm_op(a, ATOM_MOVE, DW(REG_SMC_IND_INDEX_1), asm_imm(ROM_PAGE | ROM_DATA));
	asm_op(a, ATOM_MOVE, COPY_SOURCE, asm_imm(REG_SMC_IND_DATA_1));
	asm_clear(a, COPY_SOURCE_HIGH);
	asm_op(a, ATOM_MOVE, COPY_DST, asm_imm(REG_MC_SEQ_SUP_PGM));
	asm_clear(a, COPY_DST_HIGH);
	asm_shift(a, ATOM_SHIFT_LEFT, asm_ws(1), 2); /* bytes */
	asm_op(a, ATOM_OR, asm_ws(1), asm_imm(COPY_COMMAND));
	asm_op(a, ATOM_MOVE, COPY_START, asm_ws(1));
	asm_byte_op(a, ATOM_DELAY_MICROSEC, 50);
	wait_zero(a, CP_STAT, COPY_BUSY, 4);
}

static void start_sequencer(struct atom_asm *a)
{
	asm_op(a, ATOM_MOVE, DW(REG_MC_SEQ_SUP_CNTL), asm_imm(8));
	asm_op(a, ATOM_MOVE, DW(REG_MC_SEQ_SUP_CNTL), asm_imm(4));
	asm_op(a, ATOM_MOVE, DW(REG_MC_SEQ_SUP_CNTL), asm_imm(1));
	asm_byte_op(a, ATOM_DELAY_MILLISEC, 2);
	wait_set(a, DW(REG_MC_SEQ_MISC0), MISC0_RUNNING, 5);
}

static void training(struct atom_asm *a)
{
	asm_command(a, ATOM_CMD_MemoryTraining, 1, 2, 16, 4);
	asm_op(a, ATOM_COMPARE, asm_at(asm_ps(0), ATOM_BYTE0),
	        asm_at(asm_imm(LOAD_UCODE), ATOM_BYTE0));
	asm_jump(a, ATOM_JUMP_EQUAL, 1);
	asm_op(a, ATOM_MOVE, asm_ps(1), asm_ps(0));
	asm_byte_op(a, ATOM_CALL_TABLE, ATOM_CMD_MC_SEQ_Control);
	asm_plain(a, ATOM_EOT);
	asm_label(a, 1);
	smc_page(a, ROM_PAGE);
	asm_op(a, ATOM_MOVE, asm_reg(ROM_INDEX), asm_imm(SYNTH_MICROCODE));
	asm_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_DATA_MC_InitParameter);
	asm_op(a, ATOM_MOVE, asm_ws(2), asm_reg(ROM_DATA));
	asm_op(a, ATOM_COMPARE, asm_ws(2), asm_id(4)); /* the right microcode? */
	asm_jump(a, ATOM_JUMP_NOT_EQUAL, 6);
	asm_op(a, ATOM_MOVE, asm_ws(0), asm_reg(ROM_DATA));
	asm_op(a, ATOM_MOVE, asm_ws(1), asm_reg(ROM_DATA));
	asm_op(a, ATOM_MOVE, asm_ws(2), asm_reg(ROM_DATA));
	load_pairs(a);
	smc_done(a);
	stream_program(a);
	start_sequencer(a);
	asm_label(a, 6);
	smc_done(a);
	asm_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_BLOCK_NONE);
	end(a);
}

/* seq_control - a request in byte 0 of MC_SEQ_MISC9; the sequencer answers in byte 1. */
static void seq_control(struct atom_asm *a)
{
	asm_command(a, ATOM_CMD_MC_SEQ_Control, 1, 1, 4, 0);
	asm_clear(a, asm_ws(0));
	asm_op(a, ATOM_MOVE, asm_at(asm_ws(0), ATOM_BYTE0), asm_at(asm_ps(0), ATOM_BYTE0));
	asm_op(a, ATOM_OR, asm_ws(0), asm_imm(0xFF00));
	asm_op(a, ATOM_MOVE, asm_at(DW(REG_MC_SEQ_MISC9), ATOM_WORD0),
	        asm_at(asm_ws(0), ATOM_WORD0));
	asm_label(a, 1);
	asm_byte_op(a, ATOM_DELAY_MICROSEC, 10);
	asm_op(a, ATOM_COMPARE, asm_at(DW(REG_MC_SEQ_MISC9), ATOM_BYTE8),
	        asm_at(asm_ws(0), ATOM_BYTE0));
	asm_jump(a, ATOM_JUMP_NOT_EQUAL, 1);
	end(a);
}

/* device_init - polaris.md 2.5: size, place of the memory in the address space, host access. */
static void device_init(struct atom_asm *a)
{
	asm_command(a, ATOM_CMD_MemoryDeviceInit, 1, 1, 8, 0);
	asm_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_DATA_VRAM_Info);
	asm_op(a, ATOM_MOVE, asm_at(asm_ws(0), ATOM_WORD0),
	        asm_at(asm_id(MODULE + 0x14), ATOM_WORD0));
	asm_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_BLOCK_NONE);
	asm_op(a, ATOM_MOVE, DW(REG_CONFIG_MEMSIZE), asm_ws(0));
	asm_op(a, ATOM_MOVE, asm_ws(1), asm_ws(0)); /* top = base + size in 16 MiB - 1 */
	asm_shift(a, ATOM_SHIFT_RIGHT, asm_ws(1), 4);
	asm_op(a, ATOM_ADD, asm_ws(1), asm_imm(FB_BASE - 1));
	asm_shift(a, ATOM_SHIFT_LEFT, asm_ws(1), 16);
	asm_op(a, ATOM_OR, asm_ws(1), asm_imm(FB_BASE));
	asm_op(a, ATOM_MOVE, DW(REG_MC_VM_FB_LOCATION), asm_ws(1));
	asm_op(a, ATOM_SUB, asm_ws(0), asm_imm(1));
	asm_shift(a, ATOM_SHIFT_RIGHT, asm_ws(0), 11); /* the last page of 2 GiB */
	asm_op(a, ATOM_MOVE, DW(REG_MM_INDEX_HI), asm_ws(0));
	asm_op(a, ATOM_MOVE, DW(REG_HDP_NONSURFACE_BASE), asm_imm(FB_BASE << 16));
	asm_op(a, ATOM_MOVE, DW(REG_BIF_FB_EN), asm_imm(3));
	end(a);
}

void synth_memory_tables(struct atom_asm *a)
{
	controller_init(a);
	training(a);
	seq_control(a);
	device_init(a);
}
