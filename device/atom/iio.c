/* iio.c - indirect register access: the small programs of data table IndirectIOAccess.
 * atombios.md 7, 8.
 */
#include "device/atom/atom_priv.h"
#include "device/bytes.h"
#include "device/err.h"

static const uint8_t op_bytes[] = {
#define X(name, code, bytes) [code] = (bytes),
        ATOM_IIO_OPS(X)
#undef X
};

/* program_end - walk one program from its first instruction. Return: offset behind its END; 0 when
 * it runs out of the table or holds an unknown instruction.
 */
static uint32_t program_end(const struct vbios_rom *rom, uint32_t at, uint32_t end)
{
	while (at < end) {
		uint8_t op = rom->data[at];

		if (op >= ARRAY_SIZE(op_bytes) || op == ATOM_IIO_START ||
		        !range_ok(at, op_bytes[op], end))
			return 0;
		at += op_bytes[op];
		if (op == ATOM_IIO_END)
			return at;
	}
	return 0;
}

int atom_iio_open(struct atom *a)
{
	const struct vbios_rom *rom = &a->rom;
	const struct vbios_table *t = &rom->table[ATOM_DATA_IndirectIOAccess];
	uint32_t at = t->offset + ATOM_HEADER_BYTES;

	a->iio_end = t->offset + (uint32_t)t->size;
	if (!t->size)
		return 0; /* no ports: an image may do without */
	/* a byte other than START ends the list: atombios.md 8 */
	while (range_ok(at, 2, a->iio_end) && rom->data[at] == ATOM_IIO_START) {
		uint8_t number = rom->data[at + 1];
		uint32_t next = program_end(rom, at + 2, a->iio_end);

		if (!next)
			return rx_fail("atom", -EINVAL,
			        "IndirectIOAccess: program 0x%02x at 0x%x does not end", number,
			        at);
		a->iio[number] = at + 2;
		at = next;
	}
	return 0;
}

static uint32_t ones(unsigned n)
{
	return n >= 32 ? 0xFFFFFFFF : (1u << n) - 1;
}

/* place - bits @from.. of @source to bits @to.. of @t, @n of them. */
static uint32_t place(uint32_t t, uint32_t source, unsigned n, unsigned from, unsigned to)
{
	uint32_t mask = ones(n) << (to & 31);

	return (t & ~mask) | ((source >> (from & 31)) & ones(n)) << (to & 31);
}

uint32_t atom_iio_run(struct frame *f, unsigned program, uint32_t index, uint32_t data)
{
	struct atom *a = f->a;
	uint32_t at = a->iio[program], t = ATOM_GARBAGE;

	if (!at) {
		atom_complain(f, ATOM_IIO_UNDEFINED);
		return 0;
	}
	for (;; at += op_bytes[a->rom.data[at]]) { /* atom_iio_open() walked it to its END */
		const uint8_t *p = a->rom.data + at;

		switch (p[0]) {
		case ATOM_IIO_READ: t = atom_host_read(f, get_le16(p + 1)); break;
		case ATOM_IIO_WRITE: atom_host_write(f, get_le16(p + 1), t); break;
		case ATOM_IIO_CLEAR: t = place(t, 0, p[1], 0, p[2]); break;
		case ATOM_IIO_SET: t = place(t, 0xFFFFFFFF, p[1], 0, p[2]); break;
		case ATOM_IIO_MOVE_INDEX: t = place(t, index, p[1], p[2], p[3]); break;
		case ATOM_IIO_MOVE_ATTR: t = place(t, a->io_attr, p[1], p[2], p[3]); break;
		case ATOM_IIO_MOVE_DATA: t = place(t, data, p[1], p[2], p[3]); break;
		case ATOM_IIO_END: return t;
		default: break; /* NOP */
		}
	}
}
