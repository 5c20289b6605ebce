/* helper_alu.c - see helper_alu.h. */
#include "device/virtual/gcn3/valu.h"
#include "tests/unit/gcn3/helper_alu.h"

void alu_init(struct alu *t)
{
	memset(t, 0, sizeof(*t));
	t->w.mode = ALU_MODE;
	t->w.nvgprs = ALU_VGPRS;
	t->w.v = t->v;
	t->w.group = &t->g;
	t->g.waves = &t->w;
	t->g.nwaves = 1;
	t->g.fb_base = ALU_FB_BASE;
	t->g.fb_size = 1 << 20;
	t->w.pc = 0x1000;
	alu_exec(t, ~0ull);
}

void alu_exec(struct alu *t, uint64_t exec)
{
	gcn3_set_sgpr64(&t->w, EXEC, exec);
}

static enum gcn3_status run_vector(struct alu *t, const struct gcn3_insn *i)
{
	struct gcn3_insn cached = *i;

	cached.vgprs = gcn3_valu_registers(i);
	return gcn3_valu_shortcut(&cached)(&t->w, &cached);
}

enum gcn3_status alu_run(struct alu *t, const struct gcn3_insn *i)
{
	uint32_t host = gcn3_fp_enter(&t->w);
	enum gcn3_status status;

	if (i->format <= GCN3_SOPP)
		status = gcn3_exec_salu(&t->w, i);
	else
		status = run_vector(t, i);
	gcn3_fp_leave(host);
	return status;
}

static struct gcn3_insn blank(enum gcn3_format format, enum gcn3_op op)
{
	struct gcn3_insn i;

	memset(&i, 0, sizeof(i));
	i.op = (uint16_t)op;
	i.format = (uint8_t)format;
	i.size = 4;
	i.dst = i.sdst = i.src[0] = i.src[1] = i.src[2] = NONE;
	return i;
}

struct gcn3_insn alu_salu(
        enum gcn3_format format, enum gcn3_op op, uint16_t dst, uint16_t a, uint16_t b)
{
	struct gcn3_insn i = blank(format, op);

	i.dst = dst;
	i.src[0] = a;
	i.src[1] = b;
	return i;
}

struct gcn3_insn alu_valu(enum gcn3_op op, uint16_t dst, uint16_t a, uint16_t b, uint16_t c)
{
	struct gcn3_insn i = blank(GCN3_VOP3, op);

	i.dst = dst;
	i.sdst = VCC;
	i.src[0] = a;
	i.src[1] = b;
	i.src[2] = c;
	return i;
}

void alu_fill(struct alu *t, unsigned reg, uint32_t value)
{
	for (unsigned l = 0; l < GCN3_LANES; l++)
		t->v[reg][l] = value;
}

void alu_fill64(struct alu *t, unsigned reg, uint64_t value)
{
	alu_fill(t, reg, (uint32_t)value);
	alu_fill(t, reg + 1, (uint32_t)(value >> 32));
}

uint64_t alu_wide(const struct alu *t, unsigned reg, unsigned lane)
{
	return t->v[reg][lane] | (uint64_t)t->v[reg + 1][lane] << 32;
}

uint32_t alu_op(struct alu *t, enum gcn3_op op, uint32_t a, uint32_t b, uint32_t c)
{
	struct gcn3_insn i = alu_valu(op, V(0), V(1), V(2), V(3));

	alu_fill(t, 1, a);
	alu_fill(t, 2, b);
	alu_fill(t, 3, c);
	check_equal(gcn3_op_name(op), 0, alu_run(t, &i), GCN3_OK);
	return t->v[0][5];
}

uint64_t alu_op64(struct alu *t, enum gcn3_op op, uint64_t a, uint64_t b, uint64_t c)
{
	struct gcn3_insn i = alu_valu(op, V(0), V(2), V(4), V(6));

	alu_fill64(t, 2, a);
	alu_fill64(t, 4, b);
	alu_fill64(t, 6, c);
	check_equal(gcn3_op_name(op), 0, alu_run(t, &i), GCN3_OK);
	return alu_wide(t, 0, 5);
}

uint32_t alu_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

uint32_t alu_random_float(uint32_t *state)
{
	static const uint32_t special[] = {0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000,
	        0xff800000, 0x7fc00000, 0xffc12345, 0x7fa00000, 1, 0x807fffff, 0x00800000,
	        0x80800000, 0x7f7fffff, 0x4b000000, 0x4f000000, 0xcf000000, 0x4f800000};
	uint32_t r = alu_random(state);

	switch (r & 3) {
	case 0: return special[(r >> 8) % (sizeof(special) / sizeof(special[0]))];
	case 1: return (alu_random(state) & 0x80ffffff) + 0x3f000000; /* about 1 */
	default: return alu_random(state);
	}
}

float alu_float(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

uint32_t alu_bits(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

double alu_double(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

uint64_t alu_bits64(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return bits;
}
