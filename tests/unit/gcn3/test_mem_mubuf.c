/* test_mem_mubuf.c - buffer instructions: addressing, bounds, swizzle, formats, atomics. */
#include "tests/unit/gcn3/helper_mem.h"

#define BASE UINT64_C(0x20000) /* VRAM offset of the buffer */
#define RSRC 8                 /* s[8:11] */

static void resource(
        struct mem_wave *t, uint32_t num_records, uint32_t stride, bool swizzle, uint32_t word3)
{
	uint64_t base = MEM_FB + BASE;

	t->w.s[RSRC] = (uint32_t)base;
	t->w.s[RSRC + 1] = (uint32_t)(base >> 32) | stride << 16 | (uint32_t)swizzle << 31;
	t->w.s[RSRC + 2] = num_records;
	t->w.s[RSRC + 3] = word3;
}

#define RAW 0x00027000u /* data format 32, float; what clang's callers use */

static struct gcn3_insn mubuf(unsigned op, bool load)
{
	return (struct gcn3_insn){.op = (uint16_t)op,
	        .format = GCN3_MUBUF,
	        .size = 8,
	        .vaddr = V(2),
	        .vdata = V(8),
	        .dst = load ? V(8) : GCN3_OPERAND_NONE,
	        .sbase = RSRC,
	        .soffset = 128,
	        .vdata1 = GCN3_OPERAND_NONE};
}

static void fill_words(struct mem_wave *t, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		mem_put32(t, BASE + 4 * i, 0x10000 + i);
}

static void run_ok(struct mem_wave *t, const struct gcn3_insn *i)
{
	enum gcn3_status s = gcn3_exec_mubuf(&t->w, i);

	if (s != GCN3_OK)
		fail_msg("%s: expected OK, got status %d, address 0x%llx", gcn3_op_name(i->op),
		        (int)s, (unsigned long long)t->w.fault_address);
}

static void offsets_add_up(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = mubuf(GCN3_BUFFER_LOAD_DWORD, true);

	fill_words(t, 4096);
	resource(t, 0x7fffffff, 0, false, RAW);
	for (unsigned form = 0; form < 16; form++) {
		i.offen = form & 1;
		i.imm = form & 2 ? 4092 : 0;
		i.soffset = form & 4 ? 40 : form & 8 ? 128 + 64 : 128; /* s40, inline 64 or 0 */
		t->w.s[40] = 1000;
		for (unsigned l = 0; l < 64; l++)
			t->v[2][l] = l % 5 * 400;
		run_ok(t, &i);
		for (unsigned l = 0; l < 64; l++)
			check_equal("loaded", l, t->v[8][l],
			        0x10000 + ((i.offen ? l % 5 * 400 : 0) + (uint32_t)i.imm +
			                          (form & 4          ? 1000
			                                  : form & 8 ? 64
			                                             : 0)) /
			                          4);
	}
}

static void narrow_accesses_extend_and_truncate(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = mubuf(GCN3_BUFFER_LOAD_SBYTE, true);
	static const struct {
		unsigned op;
		uint32_t want;
	} loads[] = {{GCN3_BUFFER_LOAD_UBYTE, 0x83}, {GCN3_BUFFER_LOAD_SBYTE, 0xffffff83},
	        {GCN3_BUFFER_LOAD_USHORT, 0x9483}, {GCN3_BUFFER_LOAD_SSHORT, 0xffff9483}};

	resource(t, 4096, 0, false, RAW);
	mem_put32(t, BASE, 0x12948388);
	i.imm = 1;
	for (size_t n = 0; n < 4; n++) {
		i.op = (uint16_t)loads[n].op;
		run_ok(t, &i);
		assert_int_equal(t->v[8][17], loads[n].want);
	}
	i = mubuf(GCN3_BUFFER_STORE_BYTE, false);
	i.imm = 2;
	mem_exec(t, 1);
	t->v[8][0] = 0xaabbccdd;
	run_ok(t, &i);
	assert_int_equal(mem_get32(t, BASE), 0x12dd8388);
	i.op = GCN3_BUFFER_STORE_SHORT;
	run_ok(t, &i);
	assert_int_equal(mem_get32(t, BASE), 0xccdd8388);
}

static void loads_out_of_range_give_zero_dword_by_dword(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = mubuf(GCN3_BUFFER_LOAD_DWORDX4, true);

	fill_words(t, 64);
	resource(t, 40, 0, false, RAW); /* ten dwords */
	i.offen = true;
	for (unsigned l = 0; l < 64; l++)
		t->v[2][l] = l == 63 ? 0xfffffffc : l * 4;
	mem_exec(t, ~UINT64_C(2));
	run_ok(t, &i);
	for (unsigned l = 0; l < 64; l++)
		for (unsigned k = 0; k < 4; k++)
			if (l != 1)
				check_equal("loaded", l, t->v[8 + k][l],
				        l + k < 10 ? 0x10000 + l + k : 0);
}

static void a_load_may_overwrite_its_offset(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = mubuf(GCN3_BUFFER_LOAD_DWORDX4, true);

	fill_words(t, 64);
	resource(t, 40, 0, false, RAW);
	i.offen = true;
	i.vdata = i.dst = V(2);
	for (unsigned l = 0; l < 64; l++)
		t->v[2][l] = l * 4;
	run_ok(t, &i);
	for (unsigned l = 0; l < 64; l++)
		for (unsigned k = 0; k < 4; k++)
			check_equal("loaded", l, t->v[2 + k][l], l + k < 10 ? 0x10000 + l + k : 0);
}

static void stores_out_of_range_are_dropped_dword_by_dword(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = mubuf(GCN3_BUFFER_STORE_DWORDX3, false);
	uint32_t word;

	fill_words(t, 300);
	resource(t, 12 * 20 + 8, 0, false, RAW); /* lane 20 loses its third dword */
	i.offen = true;
	for (unsigned l = 0; l < 64; l++)
		t->v[2][l] = l * 12;
	run_ok(t, &i);
	for (unsigned l = 0; l < 64; l++)
		for (unsigned k = 0; k < 3; k++) {
			word = 3 * l + k;
			check_equal("stored", l, mem_get32(t, BASE + 4 * word),
			        word < 62 ? t->v[8 + k][l] : 0x10000 + word);
		}
}

static void the_scalar_offset_is_not_checked(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = mubuf(GCN3_BUFFER_LOAD_DWORD, true);

	fill_words(t, 64);
	resource(t, 4, 0, false, RAW);
	i.soffset = 40;
	t->w.s[40] = 100;
	run_ok(t, &i);
	assert_int_equal(t->v[8][0], 0x10000 + 25);
	i.imm = 4;
	run_ok(t, &i);
	assert_int_equal(t->v[8][0], 0);
}

static void in_range_but_outside_vram_is_a_fault(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = mubuf(GCN3_BUFFER_LOAD_DWORD, true);

	resource(t, 0xffffffff, 0, false, RAW);
	i.offen = true;
	for (unsigned l = 0; l < 64; l++)
		t->v[2][l] = l == 9 ? MEM_SIZE : 0;
	assert_int_equal(gcn3_exec_mubuf(&t->w, &i), GCN3_BAD_ADDRESS);
	assert_int_equal(t->w.fault_address, MEM_FB + BASE + MEM_SIZE);
}

static void records_are_bytes_or_with_stride_and_swizzle_records(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = mubuf(GCN3_BUFFER_LOAD_DWORD, true);

	fill_words(t, 1024);
	i.idxen = true;
	for (unsigned l = 0; l < 64; l++)
		t->v[2][l] = l;
	resource(t, 10 * 16, 16, false, RAW); /* 160 bytes */
	run_ok(t, &i);
	for (unsigned l = 0; l < 64; l++)
		check_equal("linear", l, t->v[8][l], l < 10 ? 0x10000 + 4 * l : 0);
	resource(t, 10, 16, true,
	        RAW | 1 << 19); /* 10 records, elements of 4 bytes, 8 records interleaved */
	i.imm = 4;
	run_ok(t, &i);
	for (unsigned l = 0; l < 64; l++)
		check_equal("swizzled", l, t->v[8][l],
		        l < 10 ? 0x10000 + (l / 8 * 16 * 8 + 1 * 4 * 8 + l % 8 * 4) / 4 : 0);
}

static void index_and_offset_come_in_two_registers(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = mubuf(GCN3_BUFFER_LOAD_DWORDX2, true);

	fill_words(t, 4096);
	resource(t, 0x7fffffff, 64, false, RAW);
	i.idxen = i.offen = true;
	for (unsigned l = 0; l < 64; l++) {
		t->v[2][l] = 63 - l;
		t->v[3][l] = l % 4 * 8;
	}
	run_ok(t, &i);
	for (unsigned l = 0; l < 64; l++)
		for (unsigned k = 0; k < 2; k++)
			check_equal("loaded", l, t->v[8 + k][l],
			        0x10000 + (63 - l) * 16 + l % 4 * 2 + k);
}

/* polaris.md 9.4: address = base + wave offset + (a / 4) * 256 + lane * 4 + a % 4 */
static void scratch_is_swizzled_as_the_compiler_expects(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn store = mubuf(GCN3_BUFFER_STORE_DWORD, false),
	                 load = mubuf(GCN3_BUFFER_LOAD_DWORD, true);

	for (unsigned form = 0; form < 2; form++) {
		/* word 3 of ROCr, which gives DATA_FORMAT, and of LLVM, which does not */
		resource(t, 1 << 20, 0, true, form ? 0x00EA4FAC : 0x00E80000 | 0xFAC);
		store.soffset = load.soffset = 33;
		t->w.s[33] = 0x4000;
		store.imm = load.imm = 12;
		run_ok(t, &store);
		for (unsigned l = 0; l < 64; l++)
			check_equal("private 12", l, mem_get32(t, BASE + 0x4000 + 3 * 256 + l * 4),
			        t->v[8][l]);
		load.vdata = load.dst = V(9);
		run_ok(t, &load);
		assert_memory_equal(t->v[9], t->v[8], 256);
		store.offen = load.offen = true;
		for (unsigned l = 0; l < 64; l++)
			t->v[2][l] = l % 7 * 4;
		store.vdata = V(10);
		run_ok(t, &store);
		for (unsigned l = 0; l < 64; l++)
			check_equal("private array", l,
			        mem_get32(t, BASE + 0x4000 + (3 + l % 7) * 256 + l * 4),
			        t->v[10][l]);
		run_ok(t, &load);
		assert_memory_equal(t->v[9], t->v[10], 256);
		store.offen = load.offen = false;
		store.vdata = V(8);
	}
	store.op = GCN3_BUFFER_STORE_BYTE;
	store.imm = 14;
	mem_exec(t, UINT64_C(1) << 5);
	mem_put32(t, BASE + 0x4000 + 3 * 256 + 20, 0);
	t->v[8][5] = 0x5a;
	run_ok(t, &store);
	assert_int_equal(mem_get32(t, BASE + 0x4000 + 3 * 256 + 20), 0x5a0000);
}

static void scratch_beyond_its_records_is_dropped(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn store = mubuf(GCN3_BUFFER_STORE_DWORD, false);

	fill_words(t, 256);
	resource(t, 256 + 128, 0, true, 0x00E80FAC);
	store.imm = 4; /* bytes 256 .. 511 */
	run_ok(t, &store);
	for (unsigned l = 0; l < 64; l++)
		check_equal("stored", l, mem_get32(t, BASE + 256 + l * 4),
		        l < 32 ? t->v[8][l] : 0x10040 + l);
}

static void atomics_work_and_skip_lanes_out_of_range(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = mubuf(GCN3_BUFFER_ATOMIC_ADD, true);

	fill_words(t, 64);
	resource(t, 128, 0, false, RAW);
	i.offen = true;
	for (unsigned l = 0; l < 64; l++) {
		t->v[2][l] = l * 4;
		t->v[8][l] = l;
	}
	i.glc = true;
	run_ok(t, &i);
	for (unsigned l = 0; l < 64; l++) {
		check_equal("old", l, t->v[8][l], l < 32 ? 0x10000 + l : 0);
		check_equal(
		        "memory", l, mem_get32(t, BASE + 4 * l), 0x10000 + l + (l < 32 ? l : 0));
	}
	i = mubuf(GCN3_BUFFER_ATOMIC_CMPSWAP, false);
	mem_exec(t, 3);
	mem_put32(t, BASE, 77);
	for (unsigned l = 0; l < 2; l++) {
		t->v[8][l] = 100 + l;     /* new */
		t->v[9][l] = 77 + 23 * l; /* compare: lane 1 sees what lane 0 left */
	}
	run_ok(t, &i);
	assert_int_equal(mem_get32(t, BASE), 101);
	i.imm = 2;
	assert_int_equal(gcn3_exec_mubuf(&t->w, &i), GCN3_BAD_ADDRESS);
}

static void formats_of_32_bits_select_components(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = mubuf(GCN3_BUFFER_LOAD_FORMAT_XYZW, true);

	fill_words(t, 64);
	i.offen = true;
	for (unsigned l = 0; l < 64; l++)
		t->v[2][l] = l % 8 * 8;
	/* 32_32 float, selecting Y, X, 1, W (absent: 1) */
	resource(t, 4096, 0, false, 5 | 4 << 3 | 1 << 6 | 7 << 9 | 7 << 12 | 11 << 15);
	run_ok(t, &i);
	for (unsigned l = 0; l < 64; l++) {
		check_equal("Y", l, t->v[8][l], 0x10000 + l % 8 * 2 + 1);
		check_equal("X", l, t->v[9][l], 0x10000 + l % 8 * 2);
		check_equal("1", l, t->v[10][l], 0x3f800000);
		check_equal("W", l, t->v[11][l], 0x3f800000);
	}
	i = mubuf(GCN3_TBUFFER_STORE_FORMAT_XY,
	        false); /* the instruction's format counts: 32, uint */
	i.format = GCN3_MTBUF;
	i.dfmt = 4;
	i.nfmt = 4;
	mem_exec(t, 1);
	run_ok(t, &i);
	assert_int_equal(mem_get32(t, BASE), t->v[8][0]);
	assert_int_equal(mem_get32(t, BASE + 4), 0x10001);
	i.dfmt = 10; /* 8_8_8_8 is not there */
	assert_int_equal(gcn3_exec_mubuf(&t->w, &i), GCN3_BAD_OPCODE);
}

/* The ISA's formula once more, as it is written there. */
static uint64_t isa_offset(uint64_t index, uint64_t offset, uint64_t stride, bool swizzle,
        uint64_t element, uint64_t index_stride)
{
	uint64_t index_msb = index / index_stride, index_lsb = index % index_stride;
	uint64_t offset_msb = offset / element, offset_lsb = offset % element;

	return swizzle ? (index_msb * stride + offset_msb * element) * index_stride +
	                         index_lsb * element + offset_lsb
	               : offset + stride * index;
}

static void any_resource_addresses_as_the_isa_says(void **state)
{
	struct mem_wave *t = *state;
	uint32_t seed = 1;
#define RANDOM(n) ((seed = seed * 1664525u + 1013904223u) >> 8) % (n)

	fill_words(t, 1 << 16);
	for (int n = 0; n < 2000; n++) {
		struct gcn3_insn i = mubuf(GCN3_BUFFER_LOAD_DWORD, true);
		uint32_t element = RANDOM(4), interleave = RANDOM(4), stride = RANDOM(16) * 4;
		bool swizzle = RANDOM(2), tid = RANDOM(2), structured = swizzle && stride;
		uint32_t records = structured ? RANDOM(80) : RANDOM(8000);

		i.offen = RANDOM(2);
		i.idxen = RANDOM(2);
		i.imm = (int32_t)(RANDOM(8) * 4);
		resource(t, records, stride, swizzle,
		        7 << 12 | (tid ? 0 : 4u << 15) | element << 19 | interleave << 21 |
		                (uint32_t)tid << 23);
		for (unsigned l = 0; l < 64; l++) {
			t->v[2][l] = i.idxen ? RANDOM(64) : RANDOM(64) * 4;
			t->v[3][l] = RANDOM(64) * 4;
		}
		run_ok(t, &i);
		for (unsigned l = 0; l < 64; l++) {
			uint32_t index = (i.idxen ? t->v[2][l] : 0) + (tid ? l : 0);
			uint32_t offset = (i.offen ? t->v[2 + i.idxen][l] : 0) + (uint32_t)i.imm;
			uint64_t at = isa_offset(
			        index, offset, stride, swizzle, 2u << element, 8u << interleave);
			uint32_t want = 0, low, high;
			bool ok = structured ? index < records : at + 4 <= records;

			low = 0x10000 + (uint32_t)(at / 4);
			high = low + 1;
			if (ok) /* 2-byte elements give halfword addresses */
				want = at % 4 ? low >> 16 | high << 16 : low;
			check_equal("loaded", l, t->v[8][l], want);
		}
	}
}

static void what_is_not_there_is_refused(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = mubuf(GCN3_BUFFER_LOAD_DWORD, true);

	resource(t, 4096, 0, false, RAW);
	i.lds = true;
	assert_int_equal(gcn3_exec_mubuf(&t->w, &i), GCN3_BAD_OPCODE);
	i.lds = false;
	i.tfe = true;
	assert_int_equal(gcn3_exec_mubuf(&t->w, &i), GCN3_BAD_OPCODE);
	i.tfe = false;
	i.vdata = i.dst = V(MEM_VGPRS);
	assert_int_equal(gcn3_exec_mubuf(&t->w, &i), GCN3_BAD_OPCODE);
	i = mubuf(GCN3_BUFFER_LOAD_FORMAT_D16_X, true);
	assert_int_equal(gcn3_exec_mubuf(&t->w, &i), GCN3_BAD_OPCODE);
	i = mubuf(GCN3_BUFFER_LOAD_DWORD, true);
	t->w.s[RSRC + 3] |= 1u << 30; /* not a buffer */
	assert_int_equal(gcn3_exec_mubuf(&t->w, &i), GCN3_BAD_OPCODE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        MEM_TEST(offsets_add_up),
	        MEM_TEST(narrow_accesses_extend_and_truncate),
	        MEM_TEST(loads_out_of_range_give_zero_dword_by_dword),
	        MEM_TEST(a_load_may_overwrite_its_offset),
	        MEM_TEST(stores_out_of_range_are_dropped_dword_by_dword),
	        MEM_TEST(the_scalar_offset_is_not_checked),
	        MEM_TEST(in_range_but_outside_vram_is_a_fault),
	        MEM_TEST(records_are_bytes_or_with_stride_and_swizzle_records),
	        MEM_TEST(index_and_offset_come_in_two_registers),
	        MEM_TEST(scratch_is_swizzled_as_the_compiler_expects),
	        MEM_TEST(scratch_beyond_its_records_is_dropped),
	        MEM_TEST(atomics_work_and_skip_lanes_out_of_range),
	        MEM_TEST(formats_of_32_bits_select_components),
	        MEM_TEST(any_resource_addresses_as_the_isa_says),
	        MEM_TEST(what_is_not_there_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
