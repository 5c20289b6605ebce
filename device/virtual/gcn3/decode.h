/* decode.h - gfx803 (GCN3) machine code to struct gcn3_insn.
 * Source of truth: AMD "GCN3 ISA" manual for semantics, LLVM's gfx803 disassembler for encodings.
 * decode.def has one line per native encoding: X(FORMAT, native opcode, mnemonic without
 * _e32/_e64). An operation has one enum gcn3_op whatever its encoding: VOP1/VOP2/VOPC in VOP3 form
 * share the op of the short form.
 */
#ifndef GCN3_DECODE_H
#define GCN3_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gcn3_format {
	GCN3_SOP2,
	GCN3_SOPK,
	GCN3_SOP1,
	GCN3_SOPC,
	GCN3_SOPP,
	GCN3_SMEM,
	GCN3_VOP2,
	GCN3_VOP1,
	GCN3_VOPC,
	GCN3_VOP3,
	GCN3_VINTRP,
	GCN3_DS,
	GCN3_FLAT,
	GCN3_MUBUF,
	GCN3_MTBUF,
};

/* enum gcn3_op: GCN3_ followed by the upper-case mnemonic, e.g. GCN3_S_ADD_U32, GCN3_V_MAC_F32,
 * GCN3_BUFFER_LOAD_DWORD. */
#include "device/virtual/gcn3/opcodes.h"

/* Operand codes as in the ISA manual: 0..101 SGPR, 102/103 FLAT_SCRATCH, 104/105 XNACK_MASK,
 * 106/107 VCC, 108..111 TBA/TMA, 112..123 TTMP, 124 M0, 126/127 EXEC, 128..192 integers 0..64,
 * 193..208 -1..-16, 240..248 floats, 251 VCCZ, 252 EXECZ, 253 SCC, 255 literal, 256..511 VGPR. */
#define GCN3_OPERAND_VCC     106
#define GCN3_OPERAND_M0      124
#define GCN3_OPERAND_EXEC    126
#define GCN3_OPERAND_LITERAL 255
#define GCN3_OPERAND_VGPR    256
#define GCN3_OPERAND_NONE    0xffff

/* Where each format puts its operands; what is absent is GCN3_OPERAND_NONE:
 * SOP1 SOP2 SOPC  dst, src[]; s_set_gpr_idx_on: src[0] and imm (the four enable bits)
 * SOPK            dst and imm; s_cmpk_*, s_setreg_b32, s_cbranch_i_fork: src[0] and imm; s_addk,
 * s_mulk: dst is read too; s_setreg_imm32_b32: src[0] = LITERAL SMEM            dst = loaded or
 * stored SGPRs, sbase, then soffset or imm; s_atc_probe: literal = the probed access VOP1 VOP2 VOP3
 * dst (an SGPR for v_readlane, v_readfirstlane), src[]; carry out or div_scale flag in sdst, carry
 * in src[2]; v_madmk: src[1] = LITERAL, v_madak: src[2] = LITERAL; v_mac: dst is read too VOPC sdst
 * = VCC (short form) or the SGPR pair, dst absent; v_cmpx writes EXEC as well VINTRP          dst,
 * src[0] = VGPR, imm = attribute << 2 | channel; v_interp_mov: literal = the parameter DS dst =
 * result, vaddr, vdata, vdata1, imm FLAT            dst = loaded value or, with glc, the value
 * before an atomic; vaddr (64 bits), vdata = what is stored MUBUF MTBUF     vdata = register(s)
 * loaded, stored or given to the atomic; dst = vdata when it is written; vaddr, sbase, soffset,
 * imm; vaddr with both offen and idxen: index, then offset
 */
struct gcn3_insn {
	uint16_t op;     /* enum gcn3_op */
	uint8_t format;  /* enum gcn3_format of the encoding found */
	uint8_t size;    /* bytes: 4 or 8 */
	uint16_t dst;    /* operand code of the first destination */
	uint16_t sdst;   /* second destination: VOP3b carry/scale, VOPC result (VCC or SGPR pair) */
	uint16_t src[3]; /* operand codes, GCN3_OPERAND_NONE when absent; VOP2 carry-in is src[2] */
	uint32_t literal;
	int32_t imm; /* SOPK/SOPP simm16 sign extended; SMEM/DS/MUBUF offset (unsigned); DS offset0
	                | offset1 << 8 for *2 ops */
	/* vector modifiers */
	uint8_t neg, abs; /* bit i: source i */
	uint8_t omod;     /* 0 none, 1 *2, 2 *4, 3 /2 */
	bool clamp;
	bool sdwa, dpp;
	uint8_t dst_sel, dst_unused, src_sel[2], sext; /* SDWA; sext bit i: source i */
	uint16_t dpp_ctrl;
	uint8_t row_mask, bank_mask;
	bool bound_ctrl;
	/* memory */
	uint16_t vaddr, vdata, vdata1; /* VGPR operand codes; SMEM uses dst */
	uint16_t sbase;   /* SMEM: first SGPR of base; MUBUF/MTBUF: first SGPR of the resource */
	uint16_t soffset; /* operand code: MUBUF soffset; SMEM offset register or NONE when imm is
	                     used */
	bool offen, idxen, glc, slc, tfe, lds, gds;
	uint8_t dfmt, nfmt; /* MTBUF */
	uint16_t vgprs; /* VALU: 0 from the decoder; a cache may store gcn3_valu_registers() here */
};

/* gcn3_decode - decode one instruction.
 * @code: @avail bytes, little endian. @out is filled only on success.
 * Stricter than LLVM where LLVM prints what no gfx803 has: SGPR tuples off their alignment, operand
 * codes 125, 209..239 and 254 (LDS direct), FLAT offsets, abs/neg on integer sources. Return: bytes
 * used (4 or 8); -EINVAL unknown or malformed encoding; -ENODATA @avail too small.
 */
int gcn3_decode(const uint8_t *code, size_t avail, struct gcn3_insn *out);

/* gcn3_op_name - mnemonic without encoding suffix; never NULL. */
const char *gcn3_op_name(unsigned op);

/* gcn3_disassemble - text as llvm-objdump-19 -d --mcpu=gfx803 prints it (mnemonic and operands, one
 * space between them).
 * @pc: byte address, for branch targets (printed as LLVM prints the raw simm16). Return: length as
 * snprintf.
 */
int gcn3_disassemble(const struct gcn3_insn *insn, char *buf, size_t size);

#endif
