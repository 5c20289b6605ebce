/* test_mem_ds.c - LDS: every read and write form, atomics, cross-lane moves, bounds and alignment.
 */
#include "tests/unit/gcn3/helper_mem.h"

static struct gcn3_insn ds(unsigned op)
{
	return (struct gcn3_insn){.op = (uint16_t)op,
	        .format = GCN3_DS,
	        .size = 8,
	        .dst = V(8),
	        .vaddr = V(2),
	        .vdata = V(16),
	        .vdata1 = V(20)};
}

static void run_ok(struct mem_wave *t, const struct gcn3_insn *i)
{
	enum gcn3_status s = gcn3_exec_ds(&t->w, i);

	if (s != GCN3_OK)
		fail_msg("%s: expected OK, got status %d", gcn3_op_name(i->op), (int)s);
}

struct form {
	unsigned op, bytes, dwords,
	        scale; /* bytes of a narrow access, else 4; scale of pair offsets, else 0 */
	bool sign;
};

static const struct form reads[] = {
        {GCN3_DS_READ_U8, 1, 1, 0, false},
        {GCN3_DS_READ_I8, 1, 1, 0, true},
        {GCN3_DS_READ_U16, 2, 1, 0, false},
        {GCN3_DS_READ_I16, 2, 1, 0, true},
        {GCN3_DS_READ_B32, 4, 1, 0, false},
        {GCN3_DS_READ_B64, 4, 2, 0, false},
        {GCN3_DS_READ_B96, 4, 3, 0, false},
        {GCN3_DS_READ_B128, 4, 4, 0, false},
        {GCN3_DS_READ2_B32, 4, 1, 4, false},
        {GCN3_DS_READ2ST64_B32, 4, 1, 256, false},
        {GCN3_DS_READ2_B64, 4, 2, 8, false},
        {GCN3_DS_READ2ST64_B64, 4, 2, 512, false},
};

static const struct form writes[] = {
        {GCN3_DS_WRITE_B8, 1, 1, 0, false},
        {GCN3_DS_WRITE_B16, 2, 1, 0, false},
        {GCN3_DS_WRITE_B32, 4, 1, 0, false},
        {GCN3_DS_WRITE_B64, 4, 2, 0, false},
        {GCN3_DS_WRITE_B96, 4, 3, 0, false},
        {GCN3_DS_WRITE_B128, 4, 4, 0, false},
        {GCN3_DS_WRITE2_B32, 4, 1, 4, false},
        {GCN3_DS_WRITE2ST64_B32, 4, 1, 256, false},
        {GCN3_DS_WRITE2_B64, 4, 2, 8, false},
        {GCN3_DS_WRITE2ST64_B64, 4, 2, 512, false},
};

static const uint64_t masks[] = {
        ~UINT64_C(0), UINT64_C(0xffff00), UINT64_C(1) << 63, UINT64_C(0xf0f0000055aa1234)};

enum pattern { PACKED, UNIFORM, BLOCKS, REVERSED, BEYOND, PATTERNS };

static uint32_t align_of(const struct form *f)
{
	return f->bytes < 4 ? f->bytes : f->dwords < 3 ? 4 * f->dwords : 16;
}

/* Address of lane l; some of BEYOND are at and behind the end of the allocation, or wrap to its
 * begin: the sum has 32 bits. */
static uint32_t place(enum pattern p, unsigned l, const struct form *f)
{
	uint32_t step = align_of(f);

	switch (p) {
	case PACKED: return 64 + l * step;
	case UNIFORM: return 128;
	case BLOCKS: return 32 + l / 16 * 256 + l % 2 * step;
	case REVERSED: return 256 + (63 - l) * step;
	default: return l == 7 ? 0u - step : MEM_LDS - 40 * step + l * step;
	}
}

static uint8_t lds_byte(uint64_t at)
{
	return (uint8_t)(at * 29 + (at >> 8) * 3 + 1);
}

static uint32_t expected(uint32_t at, const struct form *f, unsigned k)
{
	uint32_t v = 0;

	if (at > MEM_LDS - f->bytes * f->dwords)
		return 0;
	for (unsigned i = 0; i < f->bytes; i++)
		v |= (uint32_t)lds_byte(at + 4 * k + i) << 8 * i;
	if (f->sign)
		return f->bytes == 1 ? (uint32_t)(int8_t)v : (uint32_t)(int16_t)v;
	return v;
}

static uint32_t half_offset(const struct form *f, unsigned half)
{
	return f->scale ? (half ? 3 : 1) * f->scale : align_of(f);
}

static void reads_of_every_form_and_pattern(void **state)
{
	struct mem_wave *t = *state;
	uint32_t before[8][64];

	for (uint32_t b = 0; b < MEM_LDS; b++)
		t->lds[b] = lds_byte(b);
	for (size_t o = 0; o < sizeof(reads) / sizeof(reads[0]); o++)
		for (enum pattern p = 0; p < PATTERNS; p++)
			for (size_t m = 0; m < 4; m++) {
				const struct form *f = &reads[o];
				struct gcn3_insn i = ds(f->op);
				unsigned rows = f->dwords * (f->scale ? 2 : 1);

				i.imm = f->scale ? 1 | 3 << 8 : (int32_t)align_of(f);
				i.dst = V(2); /* over the address */
				mem_exec(t, masks[m]);
				for (unsigned l = 0; l < 64; l++)
					t->v[2][l] =
					        masks[m] >> l & 1 ? place(p, l, f) : 0xfffffff1;
				memcpy(before, t->v[2], sizeof(before));
				run_ok(t, &i);
				for (unsigned l = 0; l < 64; l++)
					for (unsigned r = 0; r < 8; r++) {
						uint32_t at = place(p, l, f) +
						              half_offset(f, r / f->dwords);

						check_equal(gcn3_op_name(i.op), l, t->v[2 + r][l],
						        r < rows && masks[m] >> l & 1
						                ? expected(at, f, r % f->dwords)
						                : before[r][l]);
					}
			}
}

static void writes_of_every_form_and_pattern(void **state)
{
	struct mem_wave *t = *state;
	uint8_t want[MEM_LDS + 64];

	for (size_t o = 0; o < sizeof(writes) / sizeof(writes[0]); o++)
		for (enum pattern p = 0; p < PATTERNS; p++)
			for (size_t m = 0; m < 4; m++) {
				const struct form *f = &writes[o];
				struct gcn3_insn i = ds(f->op);

				i.imm = f->scale ? 1 | 3 << 8 : (int32_t)align_of(f);
				memset(t->lds, 0x33, sizeof(t->lds));
				memset(want, 0x33, sizeof(want));
				mem_exec(t, masks[m]);
				for (unsigned h = 0; h < (f->scale ? 2 : 1); h++)
					for (unsigned l = 0; l < 64; l++) {
						uint32_t at = place(p, l, f) + half_offset(f, h);

						t->v[2][l] = masks[m] >> l & 1 ? place(p, l, f) : 1;
						if (!(masks[m] >> l & 1) ||
						        at > MEM_LDS - f->bytes * f->dwords)
							continue;
						for (unsigned k = 0; k < f->dwords; k++)
							memcpy(want + at + 4 * k,
							        &t->v[(h ? 20 : 16) + k][l],
							        f->bytes);
					}
				run_ok(t, &i);
				for (size_t b = 0; b < sizeof(want); b++)
					if (t->lds[b] != want[b])
						fail_msg("%s pattern %d byte %zu: expected %02x, "
						         "got %02x",
						        gcn3_op_name(i.op), (int)p, b, want[b],
						        t->lds[b]);
			}
}

static void m0_clamps(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = ds(GCN3_DS_READ_B32);

	for (unsigned l = 0; l < 64; l++)
		t->v[2][l] = l * 4;
	t->w.s[GCN3_OPERAND_M0] = 100;
	run_ok(t, &i);
	for (unsigned l = 0; l < 64; l++)
		check_equal("read", l, t->v[8][l], l < 25 ? 0xeeeeeeee : 0);
}

static void misaligned_accesses_are_reported(void **state)
{
	static const struct {
		unsigned op;
		uint32_t at;
	} cases[] = {{GCN3_DS_READ_B32, 2}, {GCN3_DS_READ_B64, 4}, {GCN3_DS_READ_B128, 8},
	        {GCN3_DS_WRITE_B32, 1}, {GCN3_DS_WRITE_B16, 1}, {GCN3_DS_WRITE2_B64, 4},
	        {GCN3_DS_ADD_U32, 2}, {GCN3_DS_ADD_U64, 4}};
	struct mem_wave *t = *state;

	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		struct gcn3_insn i = ds(cases[n].op);

		for (unsigned l = 0; l < 64; l++)
			t->v[2][l] = l == 63 ? cases[n].at : 0;
		if (gcn3_exec_ds(&t->w, &i) != GCN3_BAD_ADDRESS)
			fail_msg("%s at %u was not refused", gcn3_op_name(i.op), cases[n].at);
	}
}

static uint64_t bits(float f)
{
	uint32_t b;

	memcpy(&b, &f, 4);
	return b;
}

static uint64_t bits64(double f)
{
	uint64_t b;

	memcpy(&b, &f, 8);
	return b;
}

static void atomics_compute_what_the_isa_says(void **state)
{
	const struct {
		unsigned op, op_rtn, dwords;
		uint64_t mem, d0, d1, want;
	} cases[] = {
	        {GCN3_DS_ADD_U32, GCN3_DS_ADD_RTN_U32, 1, 0xffffffff, 3, 0, 2},
	        {GCN3_DS_SUB_U32, GCN3_DS_SUB_RTN_U32, 1, 1, 3, 0, 0xfffffffe},
	        {GCN3_DS_RSUB_U32, GCN3_DS_RSUB_RTN_U32, 1, 1, 3, 0, 2},
	        {GCN3_DS_INC_U32, GCN3_DS_INC_RTN_U32, 1, 4, 4, 0, 0},
	        {GCN3_DS_INC_U32, GCN3_DS_INC_RTN_U32, 1, 3, 4, 0, 4},
	        {GCN3_DS_DEC_U32, GCN3_DS_DEC_RTN_U32, 1, 0, 4, 0, 4},
	        {GCN3_DS_MIN_I32, GCN3_DS_MIN_RTN_I32, 1, 0xffffffff, 3, 0, 0xffffffff},
	        {GCN3_DS_MAX_I32, GCN3_DS_MAX_RTN_I32, 1, 0xffffffff, 3, 0, 3},
	        {GCN3_DS_MIN_U32, GCN3_DS_MIN_RTN_U32, 1, 0xffffffff, 3, 0, 3},
	        {GCN3_DS_MAX_U32, GCN3_DS_MAX_RTN_U32, 1, 0xffffffff, 3, 0, 0xffffffff},
	        {GCN3_DS_AND_B32, GCN3_DS_AND_RTN_B32, 1, 0xf0, 0x3c, 0, 0x30},
	        {GCN3_DS_OR_B32, GCN3_DS_OR_RTN_B32, 1, 0xf0, 0x3c, 0, 0xfc},
	        {GCN3_DS_XOR_B32, GCN3_DS_XOR_RTN_B32, 1, 0xf0, 0x3c, 0, 0xcc},
	        {GCN3_DS_MSKOR_B32, GCN3_DS_MSKOR_RTN_B32, 1, 0xff, 0x0f, 0x100, 0x1f0},
	        {GCN3_DS_CMPST_B32, GCN3_DS_CMPST_RTN_B32, 1, 5, 5, 9, 9},
	        {GCN3_DS_CMPST_B32, GCN3_DS_CMPST_RTN_B32, 1, 5, 9, 5, 5},
	        {GCN3_DS_CMPST_F32, GCN3_DS_CMPST_RTN_F32, 1, 0x80000000, 0, 7, 7}, /* -0 == 0 */
	        {GCN3_DS_MIN_F32, GCN3_DS_MIN_RTN_F32, 1, bits(1), bits(-2), 0, bits(-2)},
	        {GCN3_DS_MAX_F32, GCN3_DS_MAX_RTN_F32, 1, bits(1), bits(-2), 0, bits(1)},
	        {GCN3_DS_ADD_F32, GCN3_DS_ADD_RTN_F32, 1, bits(1.5f), bits(2.25f), 0, bits(3.75f)},
	        {GCN3_DS_ADD_U64, GCN3_DS_ADD_RTN_U64, 2, 0xffffffff, 3, 0, 0x100000002},
	        {GCN3_DS_SUB_U64, GCN3_DS_SUB_RTN_U64, 2, 1, 3, 0, 0xfffffffffffffffe},
	        {GCN3_DS_RSUB_U64, GCN3_DS_RSUB_RTN_U64, 2, 3, 0x100000000, 0, 0xfffffffd},
	        {GCN3_DS_INC_U64, GCN3_DS_INC_RTN_U64, 2, 0xffffffff, ~UINT64_C(0), 0, 0x100000000},
	        {GCN3_DS_DEC_U64, GCN3_DS_DEC_RTN_U64, 2, 0x100000000, ~UINT64_C(0), 0, 0xffffffff},
	        {GCN3_DS_MIN_I64, GCN3_DS_MIN_RTN_I64, 2, ~UINT64_C(0), 3, 0, ~UINT64_C(0)},
	        {GCN3_DS_MAX_I64, GCN3_DS_MAX_RTN_I64, 2, ~UINT64_C(0), 3, 0, 3},
	        {GCN3_DS_MIN_U64, GCN3_DS_MIN_RTN_U64, 2, ~UINT64_C(0), 3, 0, 3},
	        {GCN3_DS_MAX_U64, GCN3_DS_MAX_RTN_U64, 2, ~UINT64_C(0), 3, 0, ~UINT64_C(0)},
	        {GCN3_DS_AND_B64, GCN3_DS_AND_RTN_B64, 2, 0xf000000000, 0x3c00000000, 0,
	                0x3000000000},
	        {GCN3_DS_OR_B64, GCN3_DS_OR_RTN_B64, 2, 0xf000000000, 0x3c, 0, 0xf00000003c},
	        {GCN3_DS_XOR_B64, GCN3_DS_XOR_RTN_B64, 2, 0xf000000000, 0x3c00000000, 0,
	                0xcc00000000},
	        {GCN3_DS_MSKOR_B64, GCN3_DS_MSKOR_RTN_B64, 2, 0xff00000000, 0x0f00000000, 1,
	                0xf000000001},
	        {GCN3_DS_CMPST_B64, GCN3_DS_CMPST_RTN_B64, 2, 0x100000000, 0x100000000, 9, 9},
	        {GCN3_DS_CMPST_F64, GCN3_DS_CMPST_RTN_F64, 2, bits64(2), bits64(2), 9, 9},
	        {GCN3_DS_MIN_F64, GCN3_DS_MIN_RTN_F64, 2, bits64(2), bits64(-1), 0, bits64(-1)},
	        {GCN3_DS_MAX_F64, GCN3_DS_MAX_RTN_F64, 2, bits64(2), bits64(-1), 0, bits64(2)},
	        {GCN3_DS_WRXCHG_RTN_B32, GCN3_DS_WRXCHG_RTN_B32, 1, 4, 7, 0, 7},
	        {GCN3_DS_WRXCHG_RTN_B64, GCN3_DS_WRXCHG_RTN_B64, 2, 4, 0x700000000, 0, 0x700000000},
	        {GCN3_DS_WRAP_RTN_B32, GCN3_DS_WRAP_RTN_B32, 1, 10, 4, 100, 6},
	        {GCN3_DS_WRAP_RTN_B32, GCN3_DS_WRAP_RTN_B32, 1, 3, 4, 100, 103},
	};
	struct mem_wave *t = *state;

	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++)
		for (unsigned returns = 0; returns < 2; returns++) {
			struct gcn3_insn i = ds(returns ? cases[n].op_rtn : cases[n].op);
			uint64_t got = 0, old;
			size_t bytes = 4 * cases[n].dwords;

			mem_exec(t, 1);
			i.imm = 64;
			t->v[2][0] = 128;
			mem_address(t, 16, 0, cases[n].d0);
			mem_address(t, 20, 0, cases[n].d1);
			memset(t->lds + 192, 0xee, 16);
			memcpy(t->lds + 192, &cases[n].mem, bytes);
			mem_address(t, 8, 0, 0x77);
			run_ok(t, &i);
			memcpy(&got, t->lds + 192, bytes);
			check_equal(gcn3_op_name(i.op), 0, got, cases[n].want);
			assert_int_equal(t->lds[192 + bytes], 0xee);
			old = t->v[8][0] | (uint64_t)t->v[9][0] << 32;
			if (cases[n].op != cases[n].op_rtn)
				check_equal("returned", 0, old, returns ? cases[n].mem : 0x77);
		}
}

static void lanes_take_turns_in_atomics(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = ds(GCN3_DS_ADD_RTN_U32);
	uint32_t sum = 0;

	memset(t->lds, 0, 4);
	for (unsigned l = 0; l < 64; l++) {
		t->v[2][l] = l == 9 ? MEM_LDS : 0; /* one is out of range */
		t->v[16][l] = l + 1;
	}
	run_ok(t, &i);
	for (unsigned l = 0; l < 64; l++) {
		check_equal("old", l, t->v[8][l], l == 9 ? 0 : sum);
		sum += l == 9 ? 0 : l + 1;
	}
	assert_memory_equal(t->lds, &sum, 4);
}

static void permutes_move_data_between_lanes(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn push = ds(GCN3_DS_PERMUTE_B32), pull = ds(GCN3_DS_BPERMUTE_B32);
	uint64_t exec = ~UINT64_C(0xf0);

	mem_exec(t, exec);
	for (unsigned l = 0; l < 64; l++)
		t->v[2][l] = (l * 5 + 64 * l) % 320 * 4; /* lane l * 5 mod 64 */
	pull.imm = push.imm = 4;                         /* and one further */
	run_ok(t, &pull);
	for (unsigned l = 0; l < 64; l++) {
		unsigned from = (t->v[2][l] / 4 + 1) % 64;

		if (exec >> l & 1)
			check_equal(
			        "bpermute", l, t->v[8][l], exec >> from & 1 ? t->v[16][from] : 0);
	}
	run_ok(t, &push);
	for (unsigned l = 0; l < 64; l++) {
		uint32_t want = 0;

		for (unsigned from = 0; from < 64; from++)
			if (exec >> from & 1 && (t->v[2][from] / 4 + 1) % 64 == l)
				want = t->v[16][from];
		if (exec >> l & 1)
			check_equal("permute", l, t->v[8][l], want);
	}
}

static void swizzle_follows_its_pattern(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = ds(GCN3_DS_SWIZZLE_B32);

	i.imm = 0x8000 | 1 | 2 << 2 | 3 << 4 | 0 << 6; /* quad: 1 2 3 0 */
	run_ok(t, &i);
	for (unsigned l = 0; l < 64; l++)
		check_equal("quad", l, t->v[8][l], t->v[2][(l & ~3u) | (l + 1) % 4]);
	i.imm = 0x1f | 16 << 10; /* swap halves of 32 */
	mem_exec(t, ~UINT64_C(1));
	run_ok(t, &i);
	for (unsigned l = 1; l < 64; l++)
		check_equal("xor 16", l, t->v[8][l], l == 16 ? 0 : t->v[2][l ^ 16]);
	i.imm = 0 | 3 << 5; /* lane 3 of each half */
	run_ok(t, &i);
	for (unsigned l = 1; l < 64; l++)
		check_equal("broadcast", l, t->v[8][l], t->v[2][(l & 32) | 3]);
}

static void what_is_not_there_is_refused(void **state)
{
	static const unsigned ops[] = {
	        GCN3_DS_GWS_BARRIER, GCN3_DS_APPEND, GCN3_DS_CONSUME, GCN3_DS_ADD_SRC2_U32};
	struct mem_wave *t = *state;
	struct gcn3_insn i;

	for (size_t n = 0; n < 4; n++) {
		i = ds(ops[n]);
		assert_int_equal(gcn3_exec_ds(&t->w, &i), GCN3_BAD_OPCODE);
	}
	i = ds(GCN3_DS_READ_B32);
	i.gds = true;
	assert_int_equal(gcn3_exec_ds(&t->w, &i), GCN3_BAD_OPCODE);
	i = ds(GCN3_DS_READ2_B64);
	i.dst = V(MEM_VGPRS - 3);
	assert_int_equal(gcn3_exec_ds(&t->w, &i), GCN3_BAD_OPCODE);
	i = ds(GCN3_DS_WRITE2_B64);
	i.vdata1 = V(MEM_VGPRS - 1);
	assert_int_equal(gcn3_exec_ds(&t->w, &i), GCN3_BAD_OPCODE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        MEM_TEST(reads_of_every_form_and_pattern),
	        MEM_TEST(writes_of_every_form_and_pattern),
	        MEM_TEST(m0_clamps),
	        MEM_TEST(misaligned_accesses_are_reported),
	        MEM_TEST(atomics_compute_what_the_isa_says),
	        MEM_TEST(lanes_take_turns_in_atomics),
	        MEM_TEST(permutes_move_data_between_lanes),
	        MEM_TEST(swizzle_follows_its_pattern),
	        MEM_TEST(what_is_not_there_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
