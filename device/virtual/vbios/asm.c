/* asm.c - encodes instructions. atombios.md 4, 6. */
#include "device/bytes.h"
#include "device/virtual/vbios/atom_asm.h"

static void wrong(struct atom_asm *a, const char *what)
{
	if (!a->mistake)
		a->mistake = what;
}

void as_u8(struct atom_asm *a, unsigned v)
{
	if (a->at < a->room)
		a->rom[a->at++] = (uint8_t)v;
	else
		wrong(a, "the image is full");
}

void as_u16(struct atom_asm *a, unsigned v)
{
	as_u8(a, v & 0xFF);
	as_u8(a, v >> 8);
}

void as_u32(struct atom_asm *a, uint32_t v)
{
	as_u16(a, v & 0xFFFF);
	as_u16(a, v >> 16);
}

/* width_code - 0 dword, 1 word, 2 byte; position: which of them (atombios.md 6.1) */
static unsigned width_code(enum atom_align field)
{
	return field == ATOM_DWORD ? 0 : field <= ATOM_WORD16 ? 1 : 2;
}

static unsigned position(enum atom_align field)
{
	static const unsigned first[] = {ATOM_DWORD, ATOM_WORD0, ATOM_BYTE0};

	return field - first[width_code(field)];
}

static void immediate(struct atom_asm *a, enum atom_align field, uint32_t value)
{
	switch (width_code(field)) {
	case 0: as_u32(a, value); break;
	case 1: as_u16(a, value & 0xFFFF); break;
	default: as_u8(a, value & 0xFF); break;
	}
}

static void index_of(struct atom_asm *a, enum atom_src kind, uint32_t index)
{
	if (kind == ATOM_SRC_REG || kind == ATOM_SRC_ID)
		as_u16(a, index);
	else
		as_u8(a, index);
}

static void source(struct atom_asm *a, struct as_arg src)
{
	if (src.kind == ATOM_SRC_IMM)
		immediate(a, src.field, src.value);
	else
		index_of(a, src.kind, src.value);
}

static unsigned attribute(struct as_arg src, unsigned selector)
{
	return (unsigned)src.kind | (unsigned)src.field << 3 | selector << 6;
}

/* opcode_for - the member of a family for a kind of destination. */
static unsigned opcode_for(struct atom_asm *a, enum atom_opcode family, enum atom_src kind)
{
	static const int order[8] = {[ATOM_SRC_REG] = ATOM_DST_REG,
	        [ATOM_SRC_PS] = ATOM_DST_PS,
	        [ATOM_SRC_WS] = ATOM_DST_WS,
	        [ATOM_SRC_FB] = ATOM_DST_FB,
	        [ATOM_SRC_ID] = -1,
	        [ATOM_SRC_IMM] = -1,
	        [ATOM_SRC_PLL] = ATOM_DST_PLL,
	        [ATOM_SRC_MC] = ATOM_DST_MC};
	int dst = order[kind];

	if (family >= ATOM_MUL32) /* these begin with PS */
		dst = kind == ATOM_SRC_PS || kind == ATOM_SRC_WS ? dst - ATOM_DST_PS : -1;
	if (dst < 0) {
		wrong(a, "no such destination");
		return ATOM_NOP;
	}
	return (unsigned)family + (unsigned)dst;
}

static void head(struct atom_asm *a, enum atom_opcode family, struct as_arg dst, unsigned attr)
{
	as_u8(a, opcode_for(a, family, dst.kind));
	as_u8(a, attr);
	index_of(a, dst.kind, dst.value);
}

void as_op(struct atom_asm *a, enum atom_opcode family, struct as_arg dst, struct as_arg src)
{
	if (width_code(dst.field) != width_code(src.field))
		wrong(a, "source and destination differ in width");
	head(a, family, dst, attribute(src, position(dst.field)));
	source(a, src);
}

void as_mask(struct atom_asm *a, struct as_arg dst, uint32_t keep, struct as_arg src)
{
	if (width_code(dst.field) != width_code(src.field))
		wrong(a, "source and destination differ in width");
	head(a, ATOM_MASK, dst, attribute(src, position(dst.field)));
	immediate(a, src.field, keep);
	source(a, src);
}

/* The field of SHIFT_* and CLEAR is named by the source's bits: atombios.md 6.1. */
void as_shift(struct atom_asm *a, enum atom_opcode family, struct as_arg dst, unsigned count)
{
	head(a, family, dst, (unsigned)dst.field << 3 | ATOM_SRC_IMM);
	as_u8(a, count);
}

void as_clear(struct atom_asm *a, struct as_arg dst)
{
	head(a, ATOM_CLEAR, dst, (unsigned)dst.field << 3 | ATOM_SRC_IMM);
}

void as_set_fb_base(struct atom_asm *a, struct as_arg src)
{
	as_u8(a, ATOM_SET_FB_BASE);
	as_u8(a, attribute(src, 0));
	source(a, src);
}

static uint32_t *find_label(struct atom_asm *a, unsigned label)
{
	if (label < AS_LABELS)
		return &a->label[label];
	wrong(a, "a label's number is too large");
	return &a->label[0];
}

void as_label(struct atom_asm *a, unsigned label)
{
	*find_label(a, label) = a->at;
}

/* refer - a u16 that becomes the label's offset from the table's start. */
static void refer(struct atom_asm *a, unsigned label)
{
	if (a->fixups == AS_FIXUPS) {
		wrong(a, "too many jumps in one table");
		return;
	}
	a->fixup[a->fixups].at = a->at;
	a->fixup[a->fixups++].label = label;
	as_u16(a, 0);
}

void as_jump(struct atom_asm *a, enum atom_opcode op, unsigned label)
{
	as_u8(a, op);
	refer(a, label);
}

void as_switch(struct atom_asm *a, struct as_arg src)
{
	as_u8(a, ATOM_SWITCH);
	as_u8(a, attribute(src, 0));
	source(a, src);
}

void as_case(struct atom_asm *a, enum atom_align width, uint32_t value, unsigned label)
{
	as_u8(a, ATOM_CASE);
	immediate(a, width, value);
	refer(a, label);
}

void as_cases_end(struct atom_asm *a)
{
	as_u16(a, ATOM_CASE_END);
}

void as_plain(struct atom_asm *a, enum atom_opcode op)
{
	as_u8(a, op);
}

void as_byte_op(struct atom_asm *a, enum atom_opcode op, unsigned arg)
{
	as_u8(a, op);
	as_u8(a, arg);
}

void as_word_op(struct atom_asm *a, enum atom_opcode op, unsigned arg)
{
	as_u8(a, op);
	as_u16(a, arg);
}

void as_block(struct atom_asm *a, unsigned label, const uint32_t *dwords, unsigned n)
{
	as_word_op(a, ATOM_CTB_DS, 4 * n);
	as_label(a, label);
	for (unsigned i = 0; i < n; i++)
		as_u32(a, dwords[i]);
}

void as_move_label(struct atom_asm *a, struct as_arg dst, unsigned label)
{
	head(a, ATOM_MOVE, dst, attribute(as_at(as_imm(0), ATOM_WORD0), position(dst.field)));
	if (width_code(dst.field) != 1)
		wrong(a, "a label is a word");
	refer(a, label);
}

void as_end(struct atom_asm *a)
{
	for (unsigned i = 0; i < a->fixups; i++) {
		uint32_t target = *find_label(a, a->fixup[i].label);

		if (!target)
			wrong(a, "a jump to a label that was not placed");
		if (a->fixup[i].at + 2 <= a->room)
			put_le16(a->rom + a->fixup[i].at, (uint16_t)(target - a->table));
	}
	if (a->table + 2 <= a->room)
		put_le16(a->rom + a->table, (uint16_t)(a->at - a->table));
	a->table = 0;
}
