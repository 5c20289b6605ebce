/* SDWA, DPP, omod and clamp: decoded from real encodings where LLVM can assemble them, known
 * answers per lane. */
#include "device/virtual/gcn3/valu.h"
#include "tests/unit/gcn3/helper_alu.h"

#define QUAD(a, b, c, d) ((a) | (b) << 2 | (c) << 4 | (d) << 6)

static struct alu t;

static void numbered(void)
{
	alu_init(&t);
	for (unsigned l = 0; l < GCN3_LANES; l++) {
		t.v[1][l] = 100 + l;
		t.v[0][l] = 0xdead;
	}
}

static struct gcn3_insn dpp_move(uint16_t control)
{
	struct gcn3_insn i = alu_valu(GCN3_V_MOV_B32, V(0), V(1), NONE, NONE);

	i.format = GCN3_VOP1;
	i.dpp = true;
	i.dpp_ctrl = control;
	i.row_mask = i.bank_mask = 0xf;
	return i;
}

/* Lane that reads @lane's source, from the manual's description of each control. */
static int expected_source(uint16_t control, int lane)
{
	int row = lane / 16 * 16, n = control & 15;

	if (control <= 0xff)
		return lane / 4 * 4 + (control >> (lane % 4 * 2) & 3);
	if (control <= 0x10f)
		return lane % 16 + n < 16 ? lane + n : -1;
	if (control <= 0x11f)
		return lane % 16 >= n ? lane - n : -1;
	if (control <= 0x12f)
		return row + (lane % 16 + 16 - n) % 16;
	switch (control) {
	case 0x130: return lane == 63 ? -1 : lane + 1;
	case 0x134: return (lane + 1) % 64;
	case 0x138: return lane == 0 ? -1 : lane - 1;
	case 0x13c: return (lane + 63) % 64;
	case 0x140: return row + 15 - lane % 16;
	case 0x141: return lane / 8 * 8 + 7 - lane % 8;
	case 0x142: return lane < 16 ? -1 : row - 1;
	default: return lane < 32 ? -1 : 31;
	}
}

static void dpp_moves_between_lanes(void **state)
{
	static const uint16_t control[] = {QUAD(0, 1, 2, 3), QUAD(3, 2, 1, 0), QUAD(1, 1, 3, 3),
	        0x101, 0x10f, 0x111, 0x11f, 0x121, 0x12f, 0x130, 0x134, 0x138, 0x13c, 0x140, 0x141,
	        0x142, 0x143};

	(void)state;
	for (unsigned n = 0; n < 2 * sizeof(control) / sizeof(control[0]); n++) {
		struct gcn3_insn i = dpp_move(control[n / 2]);

		numbered();
		i.bound_ctrl = n & 1;
		check_equal("run", n, alu_run(&t, &i), GCN3_OK);
		for (int l = 0; l < GCN3_LANES; l++) {
			int from = expected_source(control[n / 2], l);
			uint32_t none = n & 1 ? 0 : 0xdead;

			if (t.v[0][l] != (from < 0 ? none : 100u + (unsigned)from))
				fail_msg("dpp_ctrl 0x%x bound_ctrl %u lane %d: expected lane %d, "
				         "got %u",
				        control[n / 2], n & 1, l, from, t.v[0][l]);
		}
	}
}

static void dpp_masks_and_inactive_sources(void **state)
{
	struct gcn3_insn i = dpp_move(0x111); /* row_shr:1 */

	(void)state;
	numbered();
	i.row_mask = 0xa;
	i.bank_mask = 0x3;
	i.bound_ctrl = true;
	check_equal("run", 0, alu_run(&t, &i), GCN3_OK);
	for (unsigned l = 0; l < GCN3_LANES; l++) {
		bool on = (l / 16) % 2 == 1 && l % 16 < 8;

		check_equal("masks", l, t.v[0][l], !on ? 0xdead : l % 16 ? 99 + l : 0);
	}
	for (unsigned bound = 0; bound < 2; bound++) {
		numbered();
		i = dpp_move(QUAD(1, 0, 3, 2));
		i.bound_ctrl = bound;
		alu_exec(&t, 0x5555555555555557); /* lane 1 is the only active odd one */
		check_equal("run", 1, alu_run(&t, &i), GCN3_OK);
		check_equal("active source", 0, t.v[0][0], 101);
		check_equal("active source", 1, t.v[0][1], 100);
		check_equal("inactive source", 2, t.v[0][2], bound ? 0 : 0xdead);
		check_equal("inactive lane", 3, t.v[0][3], 0xdead);
	}
}

static void dpp_feeds_arithmetic_with_modifiers(void **state)
{
	struct gcn3_insn i = alu_valu(GCN3_V_SUB_F32, V(0), V(1), V(2), NONE);

	(void)state;
	alu_init(&t);
	for (unsigned l = 0; l < GCN3_LANES; l++)
		t.v[1][l] = alu_bits(-(float)l);
	alu_fill(&t, 2, alu_bits(1.0f));
	i.dpp = true;
	i.dpp_ctrl = 0x140;
	i.row_mask = i.bank_mask = 0xf;
	i.abs = 1;
	i.neg = 2;
	check_equal("run", 0, alu_run(&t, &i), GCN3_OK);
	for (unsigned l = 0; l < GCN3_LANES; l++)
		check_equal("|mirror| + 1", l, t.v[0][l],
		        alu_bits((float)(l / 16 * 16 + 15 - l % 16 + 1)));
}

static void dpp_carries_only_from_lanes_that_ran(void **state)
{
	struct gcn3_insn i = alu_valu(GCN3_V_ADD_U32, V(0), V(1), V(2), NONE);

	(void)state;
	alu_init(&t);
	alu_fill(&t, 1, 0xffffffff);
	alu_fill(&t, 2, 1);
	i.dpp = true;
	i.dpp_ctrl = 0x130;
	i.row_mask = 0x8;
	i.bank_mask = 0xf;
	check_equal("run", 0, alu_run(&t, &i), GCN3_OK);
	check_equal("carry of lanes 48..62", 0, gcn3_sgpr64(&t.w, VCC), 0x7fff000000000000);
}

static struct gcn3_insn sdwa(enum gcn3_op op, uint16_t b)
{
	struct gcn3_insn i = alu_valu(op, V(0), V(1), b, NONE);

	i.sdwa = true;
	i.dst_sel = i.src_sel[0] = i.src_sel[1] = 6;
	return i;
}

static void sdwa_selects_parts_of_sources(void **state)
{
	static const struct {
		uint8_t sel;
		bool sext;
		uint32_t want;
	} k[] = {{0, false, 0x84}, {0, true, 0xffffff84}, {1, false, 0x73}, {1, true, 0x73},
	        {2, true, 0xffffffa2}, {3, false, 0x91}, {4, false, 0x7384}, {4, true, 0x7384},
	        {5, false, 0x91a2}, {5, true, 0xffff91a2}, {6, false, 0x91a27384},
	        {6, true, 0x91a27384}};

	(void)state;
	for (size_t n = 0; n < sizeof(k) / sizeof(k[0]); n++) {
		struct gcn3_insn i = sdwa(GCN3_V_OR_B32, V(2));

		alu_init(&t);
		alu_fill(&t, 2, 0x91a27384);
		i.src_sel[1] = k[n].sel;
		i.sext = k[n].sext ? 2 : 0;
		check_equal("run", n, alu_run(&t, &i), GCN3_OK);
		check_equal("source 1", n, t.v[0][1], k[n].want);
		i = sdwa(GCN3_V_MOV_B32, NONE);
		alu_fill(&t, 1, 0x91a27384);
		i.src_sel[0] = k[n].sel;
		i.sext = k[n].sext;
		check_equal("run", n, alu_run(&t, &i), GCN3_OK);
		check_equal("source 0", n, t.v[0][1], k[n].want);
	}
}

static void sdwa_places_the_result(void **state)
{
	enum { PAD, SEXT, PRESERVE };
	static const struct {
		uint8_t sel, unused;
		uint32_t want;
	} k[] = {{0, PAD, 0xf4}, {0, SEXT, 0xfffffff4}, {0, PRESERVE, 0x111111f4}, {1, PAD, 0xf400},
	        {1, SEXT, 0xfffff400}, {1, PRESERVE, 0x1111f411}, {2, SEXT, 0xfff40000},
	        {3, PAD, 0xf4000000}, {3, PRESERVE, 0xf4111111}, {4, PAD, 0x73f4},
	        {4, SEXT, 0x73f4}, {4, PRESERVE, 0x111173f4}, {5, PAD, 0x73f40000},
	        {5, SEXT, 0x73f40000}, {5, PRESERVE, 0x73f41111}, {6, PAD, 0x91a273f4},
	        {6, PRESERVE, 0x91a273f4}};

	(void)state;
	for (size_t n = 0; n < sizeof(k) / sizeof(k[0]); n++) {
		struct gcn3_insn i = sdwa(GCN3_V_MOV_B32, NONE);

		alu_init(&t);
		alu_fill(&t, 0, 0x11111111);
		alu_fill(&t, 1, 0x91a273f4);
		alu_exec(&t, ~1ull);
		i.dst_sel = k[n].sel;
		i.dst_unused = k[n].unused;
		check_equal("run", n, alu_run(&t, &i), GCN3_OK);
		check_equal("result", n, t.v[0][1], k[n].want);
		check_equal("inactive lane", n, t.v[0][0], 0x11111111);
	}
}

static void sdwa_halves_take_float_modifiers(void **state)
{
	struct gcn3_insn i = sdwa(GCN3_V_ADD_F16, V(2));

	(void)state;
	alu_init(&t);
	alu_fill(&t, 0, 0xaaaaaaaa);
	alu_fill(&t, 1, 0xc4000000); /* high half -4 */
	alu_fill(&t, 2, 0x00003c00); /* low half 1 */
	i.src_sel[0] = 5;
	i.src_sel[1] = 4;
	i.abs = 1;
	i.neg = 2;
	i.dst_sel = 5;
	i.dst_unused = 2;
	check_equal("run", 0, alu_run(&t, &i), GCN3_OK);
	check_equal("|-4| - 1", 0, t.v[0][1], 0x4200aaaa);
}

static void sdwa_compares_write_vcc(void **state)
{
	struct gcn3_insn i = sdwa(GCN3_V_CMP_LT_I32, V(2));

	(void)state;
	alu_init(&t);
	for (unsigned l = 0; l < GCN3_LANES; l++)
		t.v[1][l] = (0x80u | l) << 8;
	alu_fill(&t, 2, 0);
	i.dst = NONE;
	i.src_sel[0] = 1;
	i.sext = 1;
	alu_exec(&t, 0xf);
	check_equal("run", 0, alu_run(&t, &i), GCN3_OK);
	check_equal("vcc", 0, gcn3_sgpr64(&t.w, VCC), 0xf);
	i.sext = 0;
	check_equal("run", 0, alu_run(&t, &i), GCN3_OK);
	check_equal("vcc", 0, gcn3_sgpr64(&t.w, VCC), 0);
}

static uint32_t modified(float a, float b, uint32_t mode, unsigned omod, bool clamp)
{
	struct gcn3_insn i = alu_valu(GCN3_V_ADD_F32, V(0), V(1), V(2), NONE);

	alu_init(&t);
	t.w.mode = mode;
	alu_fill(&t, 1, alu_bits(a));
	alu_fill(&t, 2, alu_bits(b));
	i.omod = (uint8_t)omod;
	i.clamp = clamp;
	check_equal("run", 0, alu_run(&t, &i), GCN3_OK);
	return t.v[0][7];
}

static void clamp_limits_floats_to_the_unit_interval(void **state)
{
	const float nan = alu_float(0x7fc00000);

	(void)state;
	check_equal("3", 0, modified(1, 2, ALU_MODE, 0, true), 0x3f800000);
	check_equal("-1", 0, modified(1, -2, ALU_MODE, 0, true), 0);
	check_equal("0.5", 0, modified(0.25f, 0.25f, ALU_MODE, 0, true), 0x3f000000);
	check_equal("NaN, DX10_CLAMP", 0, modified(nan, 1, ALU_MODE, 0, true), 0);
	check_equal("NaN", 0, modified(nan, 1, ALU_MODE & ~0x100u, 0, true), 0x7fc00000);
}

static void omod_needs_flushed_denormals_and_no_ieee(void **state)
{
	const uint32_t plain = ALU_MODE & ~ALU_IEEE;

	(void)state;
	check_equal("* 2", 0, modified(1, 2, plain, 1, false), alu_bits(6));
	check_equal("* 4", 0, modified(1, 2, plain, 2, false), alu_bits(12));
	check_equal("/ 2", 0, modified(1, 2, plain, 3, false), alu_bits(1.5f));
	check_equal("/ 2, clamp", 0, modified(1, 2, plain, 3, true), alu_bits(1));
	check_equal("-0", 0, modified(-0.0f, -0.0f, plain, 1, false), 0);
	check_equal("IEEE", 0, modified(1, 2, ALU_MODE, 1, false), alu_bits(3));
	check_equal("denormals", 0, modified(1, 2, plain | ALU_KEEP_32, 1, false), alu_bits(3));
}

/* Encodings from llvm-mc-19 -mcpu=gfx803 -show-encoding. */
static void decoded_instructions_run(void **state)
{
	static const struct {
		const char *text;
		uint8_t code[8];
		uint32_t v1, v2, want;
	} k[] = {
	        {"v_add_f32_e32 v0, v1, v2", {0x01, 0x05, 0x00, 0x02}, 0x3f800000, 0x40000000,
	                0x40400000},
	        {"v_mad_f32 v0, -v1, v2, 1.0", {0x00, 0x00, 0xc1, 0xd1, 0x01, 0x05, 0xca, 0x23},
	                0x40000000, 0x40400000, 0xc0a00000},
	        {"v_lshlrev_b32_e32 v0, 4, v1", {0x84, 0x02, 0x00, 0x24}, 0x12, 0, 0x120},
	        {"v_mov_b32_sdwa v0, v1 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:BYTE_1",
	                {0xf9, 0x02, 0x00, 0x7e, 0x01, 0x05, 0x01, 0x00}, 0x1234, 0, 0x120000},
	};

	(void)state;
	for (size_t n = 0; n < sizeof(k) / sizeof(k[0]); n++) {
		struct gcn3_insn i;

		alu_init(&t);
		alu_fill(&t, 1, k[n].v1);
		alu_fill(&t, 2, k[n].v2);
		assert_true(gcn3_decode(k[n].code, 8, &i) > 0);
		check_equal(k[n].text, 0, alu_run(&t, &i), GCN3_OK);
		check_equal(k[n].text, 0, t.v[0][63], k[n].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(dpp_moves_between_lanes),
	        cmocka_unit_test(dpp_masks_and_inactive_sources),
	        cmocka_unit_test(dpp_feeds_arithmetic_with_modifiers),
	        cmocka_unit_test(dpp_carries_only_from_lanes_that_ran),
	        cmocka_unit_test(sdwa_selects_parts_of_sources),
	        cmocka_unit_test(sdwa_places_the_result),
	        cmocka_unit_test(sdwa_halves_take_float_modifiers),
	        cmocka_unit_test(sdwa_compares_write_vcc),
	        cmocka_unit_test(clamp_limits_floats_to_the_unit_interval),
	        cmocka_unit_test(omod_needs_flushed_denormals_and_no_ieee),
	        cmocka_unit_test(decoded_instructions_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
