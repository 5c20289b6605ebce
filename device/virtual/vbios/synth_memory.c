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
#define COPY_SOURCE      DW(REG_CP_DMA_PIO_SRC_ADDR)
#define COPY_SOURCE_HIGH DW(REG_CP_DMA_PIO_SRC_ADDR_HI)
#define COPY_DST         DW(REG_CP_DMA_PIO_DST_ADDR)
#define COPY_DST_HIGH    DW(REG_CP_DMA_PIO_DST_ADDR_HI)
#define COPY_START       DW(REG_CP_DMA_PIO_COMMAND)
#define COPY_COMMAND     0x7C000000u
#define COPY_BUSY        0x80000000u /* of CP_STAT */

#define MISC0_RUNNING 0x80u /* bit 7: the sequencer runs */
#define LOAD_UCODE    0xFF  /* parameter of MemoryTraining: atombios.md 12 */
#define TRAIN_ALL     0x07  /* a request: the channels train reads, writes, addresses */

#define MODULE 20 /* of VRAM_Info: its only module */

#define FB_BASE 0xF400u /* in 16 MiB: 0xF400000000; polaris.md 2.5 */

static void controller_init(struct atom_asm *a)
{
	as_command(a, ATOM_CMD_MemoryControllerInit, 1, 1, 4, 0);
	as_clear(a, DW(REG_BIF_FB_EN)); /* no host access while memory changes */
	as_byte_op(a, ATOM_CALL_TABLE, ATOM_CMD_VRAM_BlockDetectionByStrap);
	as_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_DATA_VRAM_Info);
	as_clear(a, DW(REG_MC_ARB_RAMCFG));
	as_op(a, ATOM_MOVE, as_at(DW(REG_MC_ARB_RAMCFG), ATOM_WORD0),
	        as_at(as_id(MODULE + 6), ATOM_WORD0));
	as_clear(a, as_ws(0));
	as_op(a, ATOM_MOVE, as_at(as_ws(0), ATOM_BYTE0), as_at(as_id(MODULE + 0x0C), ATOM_BYTE0));
	as_shift(a, ATOM_SHIFT_LEFT, as_ws(0), 12); /* NOOFCHAN */
	as_op(a, ATOM_MOVE, DW(REG_MC_SHARED_CHMAP), as_ws(0));
	as_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_BLOCK_NONE);
	as_op(a, ATOM_MOVE, as_ps(0), as_imm(LOAD_UCODE));
	as_byte_op(a, ATOM_CALL_TABLE, ATOM_CMD_MemoryTraining);
	as_op(a, ATOM_MOVE, as_ps(0), as_imm(TRAIN_ALL));
	as_byte_op(a, ATOM_CALL_TABLE, ATOM_CMD_MemoryTraining);
	as_byte_op(a, ATOM_CALL_TABLE, ATOM_CMD_MemoryDeviceInit);
	synth_end(a);

	as_command(a, ATOM_CMD_VRAM_BlockDetectionByStrap, 1, 1, 0, 4);
	as_clear(a, as_at(DW(REG_BIOS_SCRATCH_4), ATOM_BYTE16)); /* module 0: polaris.md 2.5 */
	synth_end(a);
}

/* load_pairs - WS[0] pairs from ROM_DATA to MC_SEQ_IO_DEBUG. Labels 2 and 3. */
static void load_pairs(struct atom_asm *a)
{
	as_label(a, 2);
	as_op(a, ATOM_COMPARE, as_ws(0), as_imm(0));
	as_jump(a, ATOM_JUMP_EQUAL, 3);
	as_word_op(a, ATOM_SET_ATI_PORT, PORT_SMC);
	as_op(a, ATOM_MOVE, as_ws(2), as_reg(ROM_DATA));
	as_op(a, ATOM_MOVE, as_ws(3), as_reg(ROM_DATA));
	synth_smc_done(a);
	as_op(a, ATOM_MOVE, DW(REG_MC_SEQ_IO_DEBUG_INDEX), as_ws(2));
	as_op(a, ATOM_MOVE, DW(REG_MC_SEQ_IO_DEBUG_DATA), as_ws(3));
	as_op(a, ATOM_SUB, as_ws(0), as_imm(1));
	as_jump(a, ATOM_JUMP, 2);
	as_label(a, 3);
}

/* stream_program - the rest of the microcode, WS[1] dwords, from ROM_DATA to MC_SEQ_SUP_PGM. */
static void stream_program(struct atom_asm *a)
{
	as_op(a, ATOM_MOVE, DW(REG_MC_SEQ_SUP_CNTL), as_imm(8)); /* reset, then program mode */
	as_op(a, ATOM_MOVE, DW(REG_MC_SEQ_SUP_CNTL), as_imm(0x10));
	as_op(a, ATOM_MOVE, DW(REG_SMC_IND_INDEX_1), as_imm(ROM_PAGE | ROM_DATA));
	as_op(a, ATOM_MOVE, COPY_SOURCE, as_imm(REG_SMC_IND_DATA_1));
	as_clear(a, COPY_SOURCE_HIGH);
	as_op(a, ATOM_MOVE, COPY_DST, as_imm(REG_MC_SEQ_SUP_PGM));
	as_clear(a, COPY_DST_HIGH);
	as_shift(a, ATOM_SHIFT_LEFT, as_ws(1), 2); /* bytes */
	as_op(a, ATOM_OR, as_ws(1), as_imm(COPY_COMMAND));
	as_op(a, ATOM_MOVE, COPY_START, as_ws(1));
	as_byte_op(a, ATOM_DELAY_MICROSEC, 50);
	synth_wait_zero(a, DW(REG_CP_STAT), COPY_BUSY, 4);
}

static void start_sequencer(struct atom_asm *a)
{
	as_op(a, ATOM_MOVE, DW(REG_MC_SEQ_SUP_CNTL), as_imm(8));
	as_op(a, ATOM_MOVE, DW(REG_MC_SEQ_SUP_CNTL), as_imm(4));
	as_op(a, ATOM_MOVE, DW(REG_MC_SEQ_SUP_CNTL), as_imm(1));
	as_byte_op(a, ATOM_DELAY_MILLISEC, 2);
	synth_wait_set(a, DW(REG_MC_SEQ_MISC0), MISC0_RUNNING, 5);
}

static void training(struct atom_asm *a)
{
	as_command(a, ATOM_CMD_MemoryTraining, 1, 2, 16, 4);
	as_op(a, ATOM_COMPARE, as_at(as_ps(0), ATOM_BYTE0), as_at(as_imm(LOAD_UCODE), ATOM_BYTE0));
	as_jump(a, ATOM_JUMP_EQUAL, 1);
	as_op(a, ATOM_MOVE, as_ps(1), as_ps(0));
	as_byte_op(a, ATOM_CALL_TABLE, ATOM_CMD_MC_SEQ_Control);
	as_plain(a, ATOM_EOT);
	as_label(a, 1);
	synth_smc_page(a, ROM_PAGE);
	as_op(a, ATOM_MOVE, as_reg(ROM_INDEX), as_imm(SYNTH_MICROCODE));
	as_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_DATA_MC_InitParameter);
	as_op(a, ATOM_MOVE, as_ws(2), as_reg(ROM_DATA));
	as_op(a, ATOM_COMPARE, as_ws(2), as_id(4)); /* the right microcode? */
	as_jump(a, ATOM_JUMP_NOT_EQUAL, 6);
	as_op(a, ATOM_MOVE, as_ws(0), as_reg(ROM_DATA));
	as_op(a, ATOM_MOVE, as_ws(1), as_reg(ROM_DATA));
	as_op(a, ATOM_MOVE, as_ws(2), as_reg(ROM_DATA));
	load_pairs(a);
	synth_smc_done(a);
	stream_program(a);
	start_sequencer(a);
	as_label(a, 6);
	synth_smc_done(a);
	as_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_BLOCK_NONE);
	synth_end(a);
}

/* seq_control - a request in byte 0 of MC_SEQ_MISC9; the sequencer answers in byte 1. */
static void seq_control(struct atom_asm *a)
{
	as_command(a, ATOM_CMD_MC_SEQ_Control, 1, 1, 4, 0);
	as_clear(a, as_ws(0));
	as_op(a, ATOM_MOVE, as_at(as_ws(0), ATOM_BYTE0), as_at(as_ps(0), ATOM_BYTE0));
	as_op(a, ATOM_OR, as_ws(0), as_imm(0xFF00));
	as_op(a, ATOM_MOVE, as_at(DW(REG_MC_SEQ_MISC9), ATOM_WORD0), as_at(as_ws(0), ATOM_WORD0));
	as_label(a, 1);
	as_byte_op(a, ATOM_DELAY_MICROSEC, 10);
	as_op(a, ATOM_COMPARE, as_at(DW(REG_MC_SEQ_MISC9), ATOM_BYTE8),
	        as_at(as_ws(0), ATOM_BYTE0));
	as_jump(a, ATOM_JUMP_NOT_EQUAL, 1);
	synth_end(a);
}

/* device_init - polaris.md 2.5: size, place of the memory in the address space, host access. */
static void device_init(struct atom_asm *a)
{
	as_command(a, ATOM_CMD_MemoryDeviceInit, 1, 1, 8, 0);
	as_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_DATA_VRAM_Info);
	as_op(a, ATOM_MOVE, as_at(as_ws(0), ATOM_WORD0), as_at(as_id(MODULE + 0x14), ATOM_WORD0));
	as_byte_op(a, ATOM_SET_DATA_BLOCK, ATOM_BLOCK_NONE);
	as_op(a, ATOM_MOVE, DW(REG_CONFIG_MEMSIZE), as_ws(0));
	as_op(a, ATOM_MOVE, as_ws(1), as_ws(0)); /* top = base + size in 16 MiB - 1 */
	as_shift(a, ATOM_SHIFT_RIGHT, as_ws(1), 4);
	as_op(a, ATOM_ADD, as_ws(1), as_imm(FB_BASE - 1));
	as_shift(a, ATOM_SHIFT_LEFT, as_ws(1), 16);
	as_op(a, ATOM_OR, as_ws(1), as_imm(FB_BASE));
	as_op(a, ATOM_MOVE, DW(REG_MC_VM_FB_LOCATION), as_ws(1));
	as_op(a, ATOM_SUB, as_ws(0), as_imm(1));
	as_shift(a, ATOM_SHIFT_RIGHT, as_ws(0), 11); /* the last page of 2 GiB */
	as_op(a, ATOM_MOVE, DW(REG_MM_INDEX_HI), as_ws(0));
	as_op(a, ATOM_MOVE, DW(REG_HDP_NONSURFACE_BASE), as_imm(FB_BASE << 16));
	as_op(a, ATOM_MOVE, DW(REG_BIF_FB_EN), as_imm(3));
	synth_end(a);
}

void synth_memory_tables(struct atom_asm *a)
{
	controller_init(a);
	training(a);
	seq_control(a);
	device_init(a);
}
