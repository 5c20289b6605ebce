/* atom_asm.h - a small assembler for the ATOM BIOS: an image from its PCI header to its checksum,
 * command tables instruction by instruction, data tables as bytes.
 * The first mistake (a label that was never placed, widths that differ, no room left) is kept and
 * reported by as_image_end(); until then calls go on without effect, so a builder needs no checks.
 * Register numbers are dword indices. Source: atombios.md 1-8, 13.
 */
#ifndef RX_ATOM_ASM_H
#define RX_ATOM_ASM_H

#include <stddef.h>
#include <stdint.h>

#include "device/atom/atom_opcodes.h"

#define AS_LABELS   32
#define AS_FIXUPS   64
#define AS_MAX_DATA 4096 /* bytes of one data table */

struct atom_asm {
	uint8_t *rom;
	size_t room;
	uint32_t at;    /* next free byte */
	uint32_t table; /* offset of the open table; 0: none is open */
	uint32_t label[AS_LABELS];
	struct {
		uint32_t at;
		unsigned label;
	} fixup[AS_FIXUPS];
	unsigned fixups;
	const char *mistake;        /* NULL: none */
	uint8_t waste[AS_MAX_DATA]; /* where data tables go that have no room */
};

/* who the image says it is */
struct as_identity {
	uint16_t vendor, device, subsystem_vendor, subsystem_id;
	const char *strings[4]; /* part number, ASIC, bus, memory type */
	const char *name, *version, *date;
};

/* an operand: what kind, which index (or value), which field of the dword */
struct as_arg {
	enum atom_src kind;
	uint32_t value;
	enum atom_align field;
};

static inline struct as_arg as_reg(uint32_t index)
{
	return (struct as_arg){ATOM_SRC_REG, index, ATOM_DWORD};
}

static inline struct as_arg as_ps(uint32_t index)
{
	return (struct as_arg){ATOM_SRC_PS, index, ATOM_DWORD};
}

static inline struct as_arg as_ws(uint32_t index)
{
	return (struct as_arg){ATOM_SRC_WS, index, ATOM_DWORD};
}

static inline struct as_arg as_fb(uint32_t index)
{
	return (struct as_arg){ATOM_SRC_FB, index, ATOM_DWORD};
}

/* as_id - a dword of the image at @offset from the data block; no destination. */
static inline struct as_arg as_id(uint32_t offset)
{
	return (struct as_arg){ATOM_SRC_ID, offset, ATOM_DWORD};
}

static inline struct as_arg as_imm(uint32_t value)
{
	return (struct as_arg){ATOM_SRC_IMM, value, ATOM_DWORD};
}

/* as_at - the same operand, but only one field of it. */
static inline struct as_arg as_at(struct as_arg arg, enum atom_align field)
{
	arg.field = field;
	return arg;
}

/* The image: begin, then tables in any order, then end. @rom: @room bytes, at most 64 KiB are used.
 */
void as_image_begin(struct atom_asm *a, uint8_t *rom, size_t room, const struct as_identity *who);
/* as_image_end - lengths and checksum. Return: bytes of the image; -EINVAL (logged). */
int as_image_end(struct atom_asm *a);
/* as_checksum - make the byte sum of a finished image right again after it was changed. */
void as_checksum(uint8_t *rom);

/* A command table: begin, instructions, end. */
void as_command(struct atom_asm *a, unsigned index, unsigned major, unsigned minor,
        unsigned ws_bytes, unsigned ps_bytes);
void as_end(struct atom_asm *a);

/* as_data - a data table of @size bytes, zero behind its header. Return: its first byte (offsets
 * count from the header), never NULL.
 */
uint8_t *as_data(struct atom_asm *a, unsigned index, unsigned major, unsigned minor, unsigned size);

/* Instructions with a destination. The width is that of @src's field; @dst's must be the same. */
void as_op(struct atom_asm *a, enum atom_opcode family, struct as_arg dst, struct as_arg src);
void as_mask(struct atom_asm *a, struct as_arg dst, uint32_t keep, struct as_arg src);
void as_shift(struct atom_asm *a, enum atom_opcode family, struct as_arg dst, unsigned count);
void as_clear(struct atom_asm *a, struct as_arg dst);
void as_set_fb_base(struct atom_asm *a, struct as_arg src);

/* Control. Labels are numbers below AS_LABELS, local to a table. */
void as_label(struct atom_asm *a, unsigned label);
void as_jump(struct atom_asm *a, enum atom_opcode op, unsigned label);
void as_switch(struct atom_asm *a, struct as_arg src);
void as_case(struct atom_asm *a, enum atom_align width, uint32_t value, unsigned label);
void as_cases_end(struct atom_asm *a);
void as_plain(struct atom_asm *a, enum atom_opcode op); /* EOT, NOP */
void as_byte_op(
        struct atom_asm *a, enum atom_opcode op, unsigned arg); /* CALL_TABLE, DELAY_*, ... */
void as_word_op(struct atom_asm *a, enum atom_opcode op, unsigned arg); /* SET_ATI_PORT, ... */
/* as_block - constants inside a command table, behind its EOT; @label names their first byte. */
void as_block(struct atom_asm *a, unsigned label, const uint32_t *dwords, unsigned n);
/* as_move_label - the label's offset from the table's start into a word; with ATOM_BLOCK_TABLE
 * that is what an ID operand counts from.
 */
void as_move_label(struct atom_asm *a, struct as_arg dst, unsigned label);

/* Raw bytes, also for what no assembler should write. */
void as_u8(struct atom_asm *a, unsigned v);
void as_u16(struct atom_asm *a, unsigned v);
void as_u32(struct atom_asm *a, uint32_t v);

#endif
