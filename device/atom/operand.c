/* operand.c - operands of the bytecode: fetching them, the fields of a dword, and the containers
 * (registers, parameters, workspace, scratch memory, image). Once an error is set nothing is
 * accessed any more. atombios.md 6.1, 6.2, 6.6-6.8.
 */
#include "device/atom/atom_priv.h"
#include "device/bytes.h"
#include "device/err.h"

/* atombios.md 6.1, "bits taken" */
const struct field atom_fields[8] = {
        [ATOM_DWORD] = {0xFFFFFFFF, 0, 32},
        [ATOM_WORD0] = {0x0000FFFF, 0, 16},
        [ATOM_WORD8] = {0x00FFFF00, 8, 16},
        [ATOM_WORD16] = {0xFFFF0000, 16, 16},
        [ATOM_BYTE0] = {0x000000FF, 0, 8},
        [ATOM_BYTE8] = {0x0000FF00, 8, 8},
        [ATOM_BYTE16] = {0x00FF0000, 16, 8},
        [ATOM_BYTE24] = {0xFF000000, 24, 8},
};

enum atom_align atom_dst_align(enum atom_align width, unsigned selector)
{
	/* atombios.md 6.1, destination position; a word at 3 is the whole dword, as in Linux */
	static const enum atom_align words[4] = {ATOM_WORD0, ATOM_WORD8, ATOM_WORD16, ATOM_DWORD};

	switch (atom_fields[width].bits) {
	case 32: return ATOM_DWORD;
	case 16: return words[selector & 3];
	default: return ATOM_BYTE0 + (selector & 3);
	}
}

uint32_t atom_fetch(struct frame *f, unsigned bytes)
{
	const uint8_t *p = f->a->rom.data + f->pc;

	if (f->err)
		return 0;
	if (!range_ok(f->pc, bytes, f->end)) {
		atom_stop(f, -EINVAL, "the code runs past the table's end");
		return 0;
	}
	f->pc += bytes;
	return bytes == 1 ? p[0] : bytes == 2 ? get_le16(p) : get_le32(p);
}

uint32_t atom_fetch_index(struct frame *f, enum atom_dst kind)
{
	return atom_fetch(f, kind == ATOM_DST_REG ? 2 : 1); /* atombios.md 6.1 */
}

uint32_t atom_fetch_immediate(struct frame *f, enum atom_align align)
{
	return atom_fetch(f, atom_fields[align].bits / 8);
}

static uint32_t scratch_read(struct frame *f, uint32_t index)
{
	const struct atom *a = f->a;
	uint64_t at = (uint64_t)a->fb_base + 4ull * index;

	if (at > a->scratch_bytes) { /* equality passes: atombios.md 6.8 */
		atom_complain(f, ATOM_FB_READ_OOB);
		return 0;
	}
	return a->scratch[at / 4];
}

static void scratch_write(struct frame *f, uint32_t index, uint32_t value)
{
	struct atom *a = f->a;
	uint64_t at = (uint64_t)a->fb_base + 4ull * index;

	if (at > a->scratch_bytes)
		atom_complain(f, ATOM_FB_WRITE_OOB);
	else
		a->scratch[at / 4] = value;
}

/* ws_register_read - the interpreter's registers: atombios.md 6.7. */
static uint32_t ws_register_read(const struct atom *a, uint32_t index)
{
	switch (index) {
	case ATOM_WS_QUOTIENT: return a->quotient;
	case ATOM_WS_REMAINDER: return a->remainder;
	case ATOM_WS_DATA_POINTER: return a->data_block;
	case ATOM_WS_SHIFT: return a->shift;
	case ATOM_WS_OR_MASK: return 1u << (a->shift & 31);
	case ATOM_WS_AND_MASK: return ~(1u << (a->shift & 31));
	case ATOM_WS_FB_WINDOW: return a->fb_base;
	case ATOM_WS_ATTRIBUTES: return a->io_attr;
	default: return a->reg_block;
	}
}

static void ws_register_write(struct atom *a, uint32_t index, uint32_t value)
{
	switch (index) {
	case ATOM_WS_QUOTIENT: a->quotient = value; break;
	case ATOM_WS_REMAINDER: a->remainder = value; break;
	case ATOM_WS_DATA_POINTER: a->data_block = (uint16_t)value; break;
	case ATOM_WS_SHIFT: a->shift = (uint8_t)value; break;
	case ATOM_WS_FB_WINDOW: a->fb_base = value; break;
	case ATOM_WS_ATTRIBUTES: a->io_attr = (uint16_t)value; break;
	case ATOM_WS_REG_POINTER: a->reg_block = (uint16_t)value; break;
	default: break; /* the masks follow the shift amount */
	}
}

static bool is_ws_register(uint32_t index)
{
	return index >= ATOM_WS_QUOTIENT && index <= ATOM_WS_REG_POINTER;
}

/* slot - the dword of a parameter or workspace index; NULL, with a complaint, when there is none.
 */
static uint32_t *slot(struct frame *f, enum atom_dst kind, uint32_t index)
{
	bool ps = kind == ATOM_DST_PS;

	if (index < (ps ? f->ps_count : f->ws_count))
		return ps ? &f->ps[index] : &f->ws[index];
	atom_complain(f, ps ? ATOM_PS_OOB : ATOM_WS_OOB);
	return NULL;
}

static uint32_t reg_read(struct frame *f, uint32_t index)
{
	struct atom *a = f->a;

	index += a->reg_block;
	a->last_reg = index;
	a->last_value = a->port ? atom_iio_run(f, a->port, index, 0) : atom_host_read(f, index);
	return a->last_value;
}

static void reg_write(struct frame *f, uint32_t index, uint32_t value)
{
	struct atom *a = f->a;

	index += a->reg_block;
	if (a->port)
		atom_iio_run(f, a->port | ATOM_IIO_WRITE_PROGRAM, index, value);
	else /* MM_INDEX takes bytes, tables hold dword indices: atombios.md 6.6 */
		atom_host_write(f, index, index == 0 ? value << 2 : value);
}

typedef int read_fn(void *ctx, uint32_t reg, uint32_t *value);
typedef int write_fn(void *ctx, uint32_t reg, uint32_t value);

static uint32_t other_read(struct frame *f, read_fn *fn, uint32_t index)
{
	uint32_t value = 0;

	if (!fn)
		atom_stop(f, -EOPNOTSUPP, "PLL and MC operands have no meaning on this card");
	else if ((f->err = fn(f->a->host.ctx, index, &value)))
		atom_stop(f, f->err, "read of PLL or MC register 0x%x failed", index);
	return value;
}

static void other_write(struct frame *f, write_fn *fn, uint32_t index, uint32_t value)
{
	if (!fn)
		atom_stop(f, -EOPNOTSUPP, "PLL and MC operands have no meaning on this card");
	else if ((f->err = fn(f->a->host.ctx, index, value)))
		atom_stop(f, f->err, "write of PLL or MC register 0x%x failed", index);
}

uint32_t atom_container_read(struct frame *f, enum atom_dst kind, uint32_t index)
{
	if (f->err)
		return 0;
	if (kind == ATOM_DST_WS && is_ws_register(index))
		return ws_register_read(f->a, index);
	switch (kind) {
	case ATOM_DST_REG: return reg_read(f, index);
	case ATOM_DST_FB: return scratch_read(f, index);
	case ATOM_DST_PLL: return other_read(f, f->a->host.pll_read, index);
	case ATOM_DST_MC: return other_read(f, f->a->host.mc_read, index);
	default: break;
	}
	const uint32_t *s = slot(f, kind, index);

	return s ? *s : ATOM_GARBAGE;
}

void atom_container_write(struct frame *f, enum atom_dst kind, uint32_t index, uint32_t value)
{
	uint32_t *s;

	if (f->err)
		return;
	if (kind == ATOM_DST_WS && is_ws_register(index)) {
		ws_register_write(f->a, index, value);
		return;
	}
	switch (kind) {
	case ATOM_DST_REG: reg_write(f, index, value); return;
	case ATOM_DST_FB: scratch_write(f, index, value); return;
	case ATOM_DST_PLL: other_write(f, f->a->host.pll_write, index, value); return;
	case ATOM_DST_MC: other_write(f, f->a->host.mc_write, index, value); return;
	default: break;
	}
	s = slot(f, kind, index);
	if (s)
		*s = value;
}

/* image_read - an ID operand: a dword of the image, which need not be aligned. */
static uint32_t image_read(struct frame *f, uint32_t index)
{
	const struct vbios_rom *rom = &f->a->rom;
	uint32_t at = index + f->a->data_block;

	if (f->err)
		return 0;
	if (!range_ok(at, 4, rom->size)) {
		atom_stop(
		        f, -EINVAL, "reads data at 0x%x of an image of 0x%zx bytes", at, rom->size);
		return 0;
	}
	return get_le32(rom->data + at);
}

uint32_t atom_fetch_source(struct frame *f, uint8_t attr)
{
	static const enum atom_dst kinds[8] = {/* the same containers in another order */
	        [ATOM_SRC_REG] = ATOM_DST_REG,
	        [ATOM_SRC_PS] = ATOM_DST_PS,
	        [ATOM_SRC_WS] = ATOM_DST_WS,
	        [ATOM_SRC_FB] = ATOM_DST_FB,
	        [ATOM_SRC_PLL] = ATOM_DST_PLL,
	        [ATOM_SRC_MC] = ATOM_DST_MC};
	enum atom_src kind = attr & 7;
	enum atom_align align = attr >> 3 & 7;
	uint32_t value;

	if (kind == ATOM_SRC_IMM) /* not shifted, whatever its alignment: atombios.md 6.1 */
		return atom_fetch_immediate(f, align);
	if (kind == ATOM_SRC_ID)
		value = image_read(f, atom_fetch(f, 2));
	else
		value = atom_container_read(f, kinds[kind], atom_fetch_index(f, kinds[kind]));
	return (value & atom_fields[align].mask) >> atom_fields[align].shift;
}
