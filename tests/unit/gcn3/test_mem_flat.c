/* test_mem_flat.c - FLAT and SMEM: every width, address pattern, aperture and bound. */
#include "tests/unit/gcn3/helper_mem.h"

#include "device/clock.h"

#define BASE UINT64_C(0x10000) /* VRAM offset of the data */

static struct gcn3_insn flat(unsigned op)
{
	return (struct gcn3_insn){.op = (uint16_t)op,
	        .format = GCN3_FLAT,
	        .size = 8,
	        .dst = V(8),
	        .vaddr = V(2),
	        .vdata = V(16),
	        .vdata1 = GCN3_OPERAND_NONE,
	        .soffset = GCN3_OPERAND_NONE};
}

/* Where lane l looks, by pattern. Chosen so that some accesses cross pages. */
enum pattern { PACKED, UNIFORM, STRIDED, REVERSED, MIXED, PATTERNS };

static uint64_t place(enum pattern p, unsigned l, unsigned bytes)
{
	switch (p) {
	case PACKED: return BASE + 4096 - 24 * bytes + l * bytes;
	case UNIFORM: return BASE + 4096 - bytes;
	case STRIDED: return BASE + l * 1020;
	case REVERSED: return BASE + 4096 + (64 - l) * bytes;
	default: return BASE + 4096 - 7 * bytes + (l * 29 % 64) * bytes;
	}
}

static const uint64_t masks[] = {
        ~UINT64_C(0), UINT64_C(0xffff00), 1, UINT64_C(1) << 63, UINT64_C(0xf0f0000055aa1234)};

static uint8_t byte_at(uint64_t off)
{
	return (uint8_t)(off * 37 + (off >> 8) * 11 + 5);
}

static void fill_bytes(struct mem_wave *t)
{
	for (uint64_t off = BASE; off < BASE + 80000; off++) {
		uint8_t b = byte_at(off);

		vmem_l2_write(t->m, off, &b, 1);
	}
}

static uint32_t expected(uint64_t off, unsigned bytes, bool sign)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= (uint32_t)byte_at(off + i) << 8 * i;
	if (sign && bytes == 1)
		return (uint32_t)(int8_t)v;
	return sign && bytes == 2 ? (uint32_t)(int16_t)v : v;
}

static void loads_of_every_width_and_pattern(void **state)
{
	static const struct {
		unsigned op, bytes, dwords;
		bool sign;
	} ops[] = {
	        {GCN3_FLAT_LOAD_UBYTE, 1, 1, false},
	        {GCN3_FLAT_LOAD_SBYTE, 1, 1, true},
	        {GCN3_FLAT_LOAD_USHORT, 2, 1, false},
	        {GCN3_FLAT_LOAD_SSHORT, 2, 1, true},
	        {GCN3_FLAT_LOAD_DWORD, 4, 1, false},
	        {GCN3_FLAT_LOAD_DWORDX2, 4, 2, false},
	        {GCN3_FLAT_LOAD_DWORDX3, 4, 3, false},
	        {GCN3_FLAT_LOAD_DWORDX4, 4, 4, false},
	};
	struct mem_wave *t = *state;

	fill_bytes(t);
	for (size_t o = 0; o < sizeof(ops) / sizeof(ops[0]); o++)
		for (enum pattern p = 0; p < PATTERNS; p++)
			for (size_t m = 0; m < sizeof(masks) / sizeof(masks[0]); m++)
				for (unsigned glc = 0; glc < 2; glc++) {
					struct gcn3_insn i = flat(ops[o].op);
					unsigned all = ops[o].bytes * ops[o].dwords;
					uint32_t before[5][64];

					i.glc = glc;
					mem_exec(t, masks[m]);
					for (unsigned l = 0; l < 64; l++)
						mem_address(t, 2, l,
						        masks[m] >> l & 1
						                ? MEM_FB + place(p, l, all)
						                : l * UINT64_C(0x123456789));
					memcpy(before, t->v[8], sizeof(before));
					assert_int_equal(gcn3_exec_flat(&t->w, &i), GCN3_OK);
					for (unsigned l = 0; l < 64; l++)
						for (unsigned k = 0; k < 5; k++)
							check_equal(gcn3_op_name(i.op), l,
							        t->v[8 + k][l],
							        k < ops[o].dwords &&
							                        masks[m] >> l & 1
							                ? expected(
							                          place(p, l, all) +
							                                  4 * k,
							                          ops[o].bytes,
							                          ops[o].sign)
							                : before[k][l]);
				}
}

static void stores_of_every_width_and_pattern(void **state)
{
	static const struct {
		unsigned op, bytes, dwords;
	} ops[] = {
	        {GCN3_FLAT_STORE_BYTE, 1, 1},
	        {GCN3_FLAT_STORE_SHORT, 2, 1},
	        {GCN3_FLAT_STORE_DWORD, 4, 1},
	        {GCN3_FLAT_STORE_DWORDX2, 4, 2},
	        {GCN3_FLAT_STORE_DWORDX3, 4, 3},
	        {GCN3_FLAT_STORE_DWORDX4, 4, 4},
	};
	static uint8_t want[80000], got[80000];
	struct mem_wave *t = *state;

	for (size_t o = 0; o < sizeof(ops) / sizeof(ops[0]); o++)
		for (enum pattern p = 0; p < PATTERNS; p++)
			for (size_t m = 0; m < sizeof(masks) / sizeof(masks[0]); m++) {
				struct gcn3_insn i = flat(ops[o].op);
				unsigned all = ops[o].bytes * ops[o].dwords;

				memset(want, 0x77, sizeof(want));
				vmem_l2_write(t->m, BASE, want, sizeof(want));
				mem_exec(t, masks[m]);
				for (unsigned l = 0; l < 64; l++) {
					mem_address(t, 2, l,
					        masks[m] >> l & 1 ? MEM_FB + place(p, l, all) : 0);
					for (unsigned k = 0; masks[m] >> l & 1 && k < ops[o].dwords;
					        k++)
						memcpy(want + place(p, l, all) - BASE + 4 * k,
						        &t->v[16 + k][l], ops[o].bytes);
				}
				assert_int_equal(gcn3_exec_flat(&t->w, &i), GCN3_OK);
				vmem_l2_read(t->m, BASE, got, sizeof(got));
				for (size_t b = 0; b < sizeof(got); b++)
					if (got[b] != want[b])
						fail_msg("%s pattern %d mask %zu byte %zu: "
						         "expected %02x, got %02x",
						        gcn3_op_name(i.op), (int)p, m, b, want[b],
						        got[b]);
			}
}

static void a_load_may_overwrite_its_address(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = flat(GCN3_FLAT_LOAD_DWORDX4);

	fill_bytes(t);
	i.dst = V(0); /* v[0:3], address in v[2:3] */
	for (enum pattern p = 0; p < PATTERNS; p++) {
		for (unsigned l = 0; l < 64; l++)
			mem_address(t, 2, l, MEM_FB + place(p, l, 16));
		assert_int_equal(gcn3_exec_flat(&t->w, &i), GCN3_OK);
		for (unsigned l = 0; l < 64; l++)
			for (unsigned k = 0; k < 4; k++)
				check_equal("v[0:3]", l, t->v[k][l],
				        expected(place(p, l, 16) + 4 * k, 4, false));
	}
}

static void addresses_outside_vram_are_reported(void **state)
{
	static const uint64_t bad[] = {
	        MEM_FB + MEM_SIZE, MEM_FB - 4, MEM_FB + MEM_SIZE - 2, 0, UINT64_MAX - 1};
	static const unsigned ops[] = {
	        GCN3_FLAT_LOAD_DWORD, GCN3_FLAT_STORE_DWORD, GCN3_FLAT_ATOMIC_ADD};
	struct mem_wave *t = *state;

	for (size_t o = 0; o < 3; o++)
		for (size_t b = 0; b < sizeof(bad) / sizeof(bad[0]); b++)
			for (unsigned one = 0; one < 2; one++) {
				struct gcn3_insn i = flat(ops[o]);

				for (unsigned l = 0; l < 64; l++)
					mem_address(t, 2, l,
					        one && l != 40 ? MEM_FB + BASE + 4 * l : bad[b]);
				assert_int_equal(gcn3_exec_flat(&t->w, &i), GCN3_BAD_ADDRESS);
				assert_int_equal(t->w.fault_address, bad[b]);
			}
}

static void packed_run_over_the_end_of_vram_is_reported(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = flat(GCN3_FLAT_LOAD_DWORD);

	for (unsigned l = 0; l < 64; l++)
		mem_address(t, 2, l, MEM_FB + MEM_SIZE - 63 * 4 + 4 * l);
	assert_int_equal(gcn3_exec_flat(&t->w, &i), GCN3_BAD_ADDRESS);
	assert_int_equal(t->w.fault_address, MEM_FB + MEM_SIZE);
}

static void registers_beyond_the_allocation_are_refused(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = flat(GCN3_FLAT_LOAD_DWORDX2);

	for (unsigned l = 0; l < 64; l++)
		mem_address(t, 2, l, MEM_FB + BASE);
	i.dst = V(MEM_VGPRS - 1);
	assert_int_equal(gcn3_exec_flat(&t->w, &i), GCN3_BAD_OPCODE);
	i.dst = V(MEM_VGPRS - 2);
	assert_int_equal(gcn3_exec_flat(&t->w, &i), GCN3_OK);
	i.vaddr = V(MEM_VGPRS - 1);
	assert_int_equal(gcn3_exec_flat(&t->w, &i), GCN3_BAD_OPCODE);
	i = flat(GCN3_FLAT_STORE_DWORDX4);
	i.vdata = V(MEM_VGPRS - 3);
	assert_int_equal(gcn3_exec_flat(&t->w, &i), GCN3_BAD_OPCODE);
	i = flat(GCN3_FLAT_ATOMIC_CMPSWAP_X2);
	i.vdata = V(MEM_VGPRS - 3);
	assert_int_equal(gcn3_exec_flat(&t->w, &i), GCN3_BAD_OPCODE);
}

static void atomics_return_old_values_with_glc_only(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = flat(GCN3_FLAT_ATOMIC_ADD);
	uint32_t sum = 100, kept = t->v[8][5];

	mem_put32(t, BASE, 100);
	for (unsigned l = 0; l < 64; l++) {
		mem_address(t, 2, l, MEM_FB + BASE);
		t->v[16][l] = l + 1;
	}
	assert_int_equal(gcn3_exec_flat(&t->w, &i), GCN3_OK);
	assert_int_equal(mem_get32(t, BASE), 100 + 64 * 65 / 2);
	assert_int_equal(t->v[8][5], kept);
	mem_put32(t, BASE, 100);
	i.glc = true;
	assert_int_equal(gcn3_exec_flat(&t->w, &i), GCN3_OK);
	for (unsigned l = 0; l < 64; l++) {
		check_equal("old value", l, t->v[8][l], sum);
		sum += l + 1;
	}
}

static void compare_swap_takes_the_new_value_first(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = flat(GCN3_FLAT_ATOMIC_CMPSWAP_X2);
	uint64_t v = UINT64_C(0x1111111122222222);

	vmem_l2_write(t->m, BASE, &v, 8);
	mem_exec(t, 1);
	mem_address(t, 2, 0, MEM_FB + BASE);
	mem_address(t, 16, 0, UINT64_C(0x5555555566666666)); /* new */
	mem_address(t, 18, 0, v);                            /* compare */
	i.glc = true;
	assert_int_equal(gcn3_exec_flat(&t->w, &i), GCN3_OK);
	assert_int_equal(t->v[8][0], 0x22222222);
	assert_int_equal(t->v[9][0], 0x11111111);
	vmem_l2_read(t->m, BASE, &v, 8);
	assert_int_equal(v, UINT64_C(0x5555555566666666));
	mem_address(t, 2, 0, MEM_FB + BASE + 4);
	assert_int_equal(gcn3_exec_flat(&t->w, &i), GCN3_BAD_ADDRESS); /* misaligned */
}

static void one_instruction_may_reach_lds_scratch_and_vram(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn store = flat(GCN3_FLAT_STORE_DWORDX2), load = flat(GCN3_FLAT_LOAD_DWORDX2);

	t->g.private_base = MEM_FB + 0x100000;
	t->w.s[103] = 0x20; /* wave offset 0x2000 */
	t->w.s[102] = 64;   /* bytes a lane */
	for (unsigned l = 0; l < 64; l++)
		mem_address(t, 2, l,
		        l % 3 == 0   ? (uint64_t)MEM_LDS_HI << 32 | l * 8
		        : l % 3 == 1 ? (uint64_t)MEM_PRIVATE_HI << 32 | (l % 8 * 4)
		                     : MEM_FB + BASE + l * 8);
	assert_int_equal(gcn3_exec_flat(&t->w, &store), GCN3_OK);
	assert_int_equal(gcn3_exec_flat(&t->w, &load), GCN3_OK);
	for (unsigned l = 0; l < 64; l++)
		for (unsigned k = 0; k < 2; k++) {
			uint32_t in_memory;

			check_equal("loaded", l, t->v[8 + k][l], t->v[16 + k][l]);
			if (l % 3 == 0)
				memcpy(&in_memory, t->lds + l * 8 + 4 * k, 4);
			else if (l % 3 == 1) /* polaris.md 9.4: (a / 4) * 256 + lane * 4 */
				in_memory = mem_get32(t, 0x102000 + (l % 8 + k) * 256 + l * 4);
			else
				in_memory = mem_get32(t, BASE + l * 8 + 4 * k);
			check_equal("memory", l, in_memory, t->v[16 + k][l]);
		}
}

static void apertures_have_bounds(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = flat(GCN3_FLAT_LOAD_DWORD);

	t->w.s[102] = 64;
	t->w.s[103] = 0;
	t->g.private_base = MEM_FB;
	for (unsigned l = 0; l < 64; l++)
		mem_address(t, 2, l, (uint64_t)MEM_LDS_HI << 32 | (MEM_LDS - 32 * 4 + l * 4));
	assert_int_equal(gcn3_exec_flat(&t->w, &i), GCN3_OK);
	for (unsigned l = 0; l < 64; l++)
		check_equal("LDS", l, t->v[8][l], l < 32 ? 0xeeeeeeee : 0);
	for (unsigned l = 0; l < 64; l++)
		mem_address(t, 2, l, (uint64_t)MEM_PRIVATE_HI << 32 | (l == 63 ? 64 : 60));
	assert_int_equal(gcn3_exec_flat(&t->w, &i), GCN3_BAD_ADDRESS);
	assert_int_equal(t->w.fault_address, (uint64_t)MEM_PRIVATE_HI << 32 | 64);
	i = flat(GCN3_FLAT_ATOMIC_OR);
	mem_exec(t, 3);
	mem_address(t, 2, 0, (uint64_t)MEM_LDS_HI << 32 | 16);
	mem_address(t, 2, 1, (uint64_t)MEM_LDS_HI << 32 | MEM_LDS);
	t->v[16][0] = 1;
	assert_int_equal(gcn3_exec_flat(&t->w, &i), GCN3_OK);
	assert_int_equal(t->lds[16], 0xef);
	assert_int_equal(t->lds[MEM_LDS], 0xee);
}

static void vector_l1_is_stale_until_invalidated_and_glc_sees_l2(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn load = flat(GCN3_FLAT_LOAD_DWORD), fresh = load;
	struct gcn3_insn invalidate = {
	        .op = GCN3_BUFFER_WBINVL1_VOL, .format = GCN3_MUBUF, .size = 8};
	uint32_t two = 2;

	fresh.glc = true;
	mem_exec(t, 1);
	mem_address(t, 2, 0, MEM_FB + BASE);
	mem_put32(t, BASE, 1);
	assert_int_equal(gcn3_exec_flat(&t->w, &load), GCN3_OK);
	vmem_store(t->other, BASE, &two, 4);
	assert_int_equal(gcn3_exec_flat(&t->w, &load), GCN3_OK);
	assert_int_equal(t->v[8][0], 1);
	assert_int_equal(gcn3_exec_flat(&t->w, &fresh), GCN3_OK);
	assert_int_equal(t->v[8][0], 2);
	assert_int_equal(gcn3_exec_mubuf(&t->w, &invalidate), GCN3_OK);
	assert_int_equal(gcn3_exec_flat(&t->w, &load), GCN3_OK);
	assert_int_equal(t->v[8][0], 2);
}

static struct gcn3_insn smem(unsigned op, uint32_t imm)
{
	return (struct gcn3_insn){.op = (uint16_t)op,
	        .format = GCN3_SMEM,
	        .size = 8,
	        .dst = 16,
	        .sbase = 4,
	        .soffset = GCN3_OPERAND_NONE,
	        .imm = (int32_t)imm};
}

static void scalar_loads_of_every_width(void **state)
{
	static const struct {
		unsigned op, dwords;
	} ops[] = {{GCN3_S_LOAD_DWORD, 1}, {GCN3_S_LOAD_DWORDX2, 2}, {GCN3_S_LOAD_DWORDX4, 4},
	        {GCN3_S_LOAD_DWORDX8, 8}, {GCN3_S_LOAD_DWORDX16, 16}};
	struct mem_wave *t = *state;

	for (unsigned n = 0; n < 32; n++)
		mem_put32(t, BASE + 4096 - 32 + 4 * n, 1000 + n);
	for (size_t o = 0; o < 5; o++) {
		struct gcn3_insn i = smem(ops[o].op, 34); /* the low bits do not count */

		gcn3_set_sgpr64(&t->w, 4, MEM_FB + BASE + 4096 - 64 + 1);
		memset(&t->w.s[16], 0, 64 + 4);
		assert_int_equal(gcn3_exec_smem(&t->w, &i), GCN3_OK);
		for (unsigned k = 0; k < 17; k++)
			check_equal("s", k, t->w.s[16 + k], k < ops[o].dwords ? 1000 + k : 0);
		i.soffset = 3;
		t->w.s[3] = 40;
		assert_int_equal(gcn3_exec_smem(&t->w, &i), GCN3_OK);
		assert_int_equal(t->w.s[16], 1002);
	}
}

static void scalar_buffer_loads_clamp_to_the_resource(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = smem(GCN3_S_BUFFER_LOAD_DWORDX4, 8);

	for (unsigned n = 0; n < 8; n++)
		mem_put32(t, BASE + 4 * n, 1000 + n);
	gcn3_set_sgpr64(&t->w, 4, MEM_FB + BASE);
	t->w.s[6] = 16; /* bytes: dwords 2 and 3 are inside */
	t->w.s[7] = 0x00027000;
	assert_int_equal(gcn3_exec_smem(&t->w, &i), GCN3_OK);
	assert_int_equal(t->w.s[16], 1002);
	assert_int_equal(t->w.s[17], 1003);
	assert_int_equal(t->w.s[18], 0);
	assert_int_equal(t->w.s[19], 0);
	t->w.s[5] |= 8 << 16; /* with a stride the unit is records: 16 * 8 bytes */
	assert_int_equal(gcn3_exec_smem(&t->w, &i), GCN3_OK);
	assert_int_equal(t->w.s[18], 1004);
}

static void scalar_faults_and_stores_are_reported(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn i = smem(GCN3_S_LOAD_DWORDX2, 0), store = smem(GCN3_S_STORE_DWORD, 0);

	gcn3_set_sgpr64(&t->w, 4, MEM_FB + MEM_SIZE - 4);
	assert_int_equal(gcn3_exec_smem(&t->w, &i), GCN3_BAD_ADDRESS);
	assert_int_equal(t->w.fault_address, MEM_FB + MEM_SIZE);
	assert_int_equal(gcn3_exec_smem(&t->w, &store), GCN3_BAD_OPCODE);
	i.dst = 127;
	assert_int_equal(gcn3_exec_smem(&t->w, &i), GCN3_BAD_OPCODE);
}

static void scalar_cache_is_stale_until_invalidated(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn load = smem(GCN3_S_LOAD_DWORD, 0), invalidate = smem(GCN3_S_DCACHE_INV, 0);
	uint32_t two = 2;

	mem_put32(t, BASE, 1);
	gcn3_set_sgpr64(&t->w, 4, MEM_FB + BASE);
	assert_int_equal(gcn3_exec_smem(&t->w, &load), GCN3_OK);
	vmem_store(t->w.l1, BASE, &two, 4); /* by a vector store of the same wave */
	assert_int_equal(gcn3_exec_smem(&t->w, &load), GCN3_OK);
	assert_int_equal(t->w.s[16], 1);
	assert_int_equal(gcn3_exec_smem(&t->w, &invalidate), GCN3_OK);
	assert_int_equal(gcn3_exec_smem(&t->w, &load), GCN3_OK);
	assert_int_equal(t->w.s[16], 2);
}

static void clocks_run_at_their_rates(void **state)
{
	struct mem_wave *t = *state;
	struct gcn3_insn ref = smem(GCN3_S_MEMREALTIME, 0), core = smem(GCN3_S_MEMTIME, 0);
	uint64_t r0, c0, r, c, ns = now_ns();

	assert_int_equal(gcn3_exec_smem(&t->w, &ref), GCN3_OK);
	r0 = gcn3_sgpr64(&t->w, 16);
	assert_int_equal(gcn3_exec_smem(&t->w, &core), GCN3_OK);
	c0 = gcn3_sgpr64(&t->w, 16);
	sleep_us(20000);
	gcn3_exec_smem(&t->w, &ref);
	r = gcn3_sgpr64(&t->w, 16) - r0;
	gcn3_exec_smem(&t->w, &core);
	c = gcn3_sgpr64(&t->w, 16) - c0;
	ns = now_ns() - ns;
	assert_in_range(r, 499000, ns / 40 + 1);          /* 25 MHz */
	assert_in_range(c, 26700000, ns * 134 / 100 + 2); /* 1340 MHz */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        MEM_TEST(loads_of_every_width_and_pattern),
	        MEM_TEST(stores_of_every_width_and_pattern),
	        MEM_TEST(a_load_may_overwrite_its_address),
	        MEM_TEST(addresses_outside_vram_are_reported),
	        MEM_TEST(packed_run_over_the_end_of_vram_is_reported),
	        MEM_TEST(registers_beyond_the_allocation_are_refused),
	        MEM_TEST(atomics_return_old_values_with_glc_only),
	        MEM_TEST(compare_swap_takes_the_new_value_first),
	        MEM_TEST(one_instruction_may_reach_lds_scratch_and_vram),
	        MEM_TEST(apertures_have_bounds),
	        MEM_TEST(vector_l1_is_stale_until_invalidated_and_glc_sees_l2),
	        MEM_TEST(scalar_loads_of_every_width),
	        MEM_TEST(scalar_buffer_loads_clamp_to_the_resource),
	        MEM_TEST(scalar_faults_and_stores_are_reported),
	        MEM_TEST(scalar_cache_is_stale_until_invalidated),
	        MEM_TEST(clocks_run_at_their_rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
