/* atom_asm.h - a small assembler for the ATOM BIOS: an image from its PCI header to its checksum,
 * command tables instruction by instruction, data tables as bytes.
 * The first mistake (a label that was never placed, widths that differ, no room left) is kept and
 * reported by asm_image_end(); until then calls go on without effect, so a builder needs no checks.
 * Register numbers are dword indices. Source: atombios.md 1-8, 13.
 */
#ifndef RX_ATOM_ASM_H
#define RX_ATOM_ASM_H

#include <stddef.h>
#include <stdint.h>

#include "device/atom/atom_opcodes.h"

#define ASM_LABELS   32
#define ASM_FIXUPS   64
#define ASM_MAX_DATA 4096 /* bytes of one data table */

struct atom_asm {
	uint8_t *rom;
	size_t room;
	uint32_t at;    /* next free byte */
	uint32_t table; /* offset of the open table; 0: none is open */
	uint32_t label[ASM_LABELS];
	struct {
		uint32_t at;
		unsigned label;
	} fixup[ASM_FIXUPS];
	unsigned fixups;
	const char *mistake;         /* NULL: none */
	uint8_t waste[ASM_MAX_DATA]; /* where data tables go that have no room */
};

/* who the image says it is */
struct asm_identity {
	uint16_t vendor, device, subsystem_vendor, subsystem_id;
	const char *strings[4]; /* part number, ASIC, bus, memory type */
	const char *name, *version, *date;
};

/* an operand: what kind, which index (or value), which field of the dword */
struct asm_arg {
	enum atom_src kind;
	uint32_t value;
	enum atom_align field;
};

static inline struct asm_arg asm_reg(uint32_t index)
{
	return (struct asm_arg){ATOM_SRC_REG, index, ATOM_DWORD};
}

static inline struct asm_arg asm_ps(uint32_t index)
{
	return (struct asm_arg){ATOM_SRC_PS, index, ATOM_DWORD};
}

static inline struct asm_arg asm_ws(uint32_t index)
{
	return (struct asm_arg){ATOM_SRC_WS, index, ATOM_DWORD};
}

static inline struct asm_arg asm_fb(uint32_t index)
{
	return (struct asm_arg){ATOM_SRC_FB, index, ATOM_DWORD};
}

/* asm_id - a dword of the image at @offset from the data block; no destination. */
static inline struct asm_arg asm_id(uint32_t offset)
{
	return (struct asm_arg){ATOM_SRC_ID, offset, ATOM_DWORD};
}

static inline struct asm_arg asm_imm(uint32_t value)
{
	return (struct asm_arg){ATOM_SRC_IMM, value, ATOM_DWORD};
}

/* asm_at - the same operand, but only one field of it. */
static inline struct asm_arg asm_at(struct asm_arg arg, enum atom_align field)
{
	arg.field = field;
	return arg;
}

/* The image: begin, then tables in any order, then end. @rom: @room bytes, at most 64 KiB are used.
 */
void asm_image_begin(struct atom_asm *a, uint8_t *rom, size_t room, const struct asm_identity *who);
/* asm_image_end - lengths and checksum. Return: bytes of the image; -EINVAL (logged). */
int asm_image_end(struct atom_asm *a);
/* asm_checksum - make the byte sum of a finished image right again after it was changed. */
void asm_checksum(uint8_t *rom);

/* A command table: begin, instructions, end. */
void asm_command(struct atom_asm *a, unsigned index, unsigned major, unsigned minor,
        unsigned ws_bytes, unsigned ps_bytes);
void asm_end(struct atom_asm *a);

/* asm_data - a data table of @size bytes, zero behind its header. Return: its first byte (offsets
 * count from the header), never NULL.
 */
uint8_t *asm_data(
        struct atom_asm *a, unsigned index, unsigned major, unsigned minor, unsigned size);

/* Instructions with a destination. The width is that of @src's field; @dst's must be the same. */
void asm_op(struct atom_asm *a, enum atom_opcode family, struct asm_arg dst, struct asm_arg src);
void asm_mask(struct atom_asm *a, struct asm_arg dst, uint32_t keep, struct asm_arg src);
void asm_shift(struct atom_asm *a, enum atom_opcode family, struct asm_arg dst, unsigned count);
void asm_clear(struct atom_asm *a, struct asm_arg dst);
void asm_set_fb_base(struct atom_asm *a, struct asm_arg src);

/* Control. Labels are numbers below ASM_LABELS, local to a table. */
void asm_label(struct atom_asm *a, unsigned label);
void asm_jump(struct atom_asm *a, enum atom_opcode op, unsigned label);
void asm_switch(struct atom_asm *a, struct asm_arg src);
void asm_case(struct atom_asm *a, enum atom_align width, uint32_t value, unsigned label);
void asm_cases_end(struct atom_asm *a);
void asm_plain(struct atom_asm *a, enum atom_opcode op); /* EOT, NOP */
void asm_byte_op(
        struct atom_asm *a, enum atom_opcode op, unsigned arg); /* CALL_TABLE, DELAY_*, ... */
void asm_word_op(struct atom_asm *a, enum atom_opcode op, unsigned arg); /* SET_ATI_PORT, ... */
/* asm_block - constants inside a command table, behind its EOT; @label names their first byte. */
void asm_block(struct atom_asm *a, unsigned label, const uint32_t *dwords, unsigned n);
/* asm_move_label - the label's offset from the table's start into a word; with ATOM_BLOCK_TABLE
 * that is what an ID operand counts from.
 */
void asm_move_label(struct atom_asm *a, struct asm_arg dst, unsigned label);

/* Raw bytes, also for what no assembler should write. */
void asm_u8(struct atom_asm *a, unsigned v);
void asm_u16(struct atom_asm *a, unsigned v);
void asm_u32(struct atom_asm *a, uint32_t v);

#endif
