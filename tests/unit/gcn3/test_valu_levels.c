/* Properties that hold for every vector operation: same bits at each x86-64 level, EXEC, modifiers,
 * SDWA and register limits. */
#include <stdlib.h>

#include "device/virtual/gcn3/valu.h"
#include "tests/unit/gcn3/helper_alu.h"

#define DST    V(20)
#define ROUNDS 24

static const struct valu_info *info(unsigned op)
{
	return &gcn3_valu_info[op];
}

static bool per_lane(unsigned op)
{
	return info(op)->known && !(info(op)->flags & VALU_WAVE);
}

static uint32_t random_dword(uint32_t *seed, enum gcn3_as as)
{
	uint32_t r = alu_random(seed);

	if (as == GCN3_AS_H && r & 1)
		return alu_random(seed) & 0xffff;
	if (as == GCN3_AS_F || as == GCN3_AS_D || as == GCN3_AS_H)
		return alu_random_float(seed);
	return r & 1 ? alu_random(seed) : r & 2 ? alu_random(seed) & 0x3f : 0u - (r >> 29);
}

/* Sources v0.., v4.., v8.. in all lanes, destination v20..; masks in SGPRs. */
static void randomise(struct alu *t, unsigned op, uint32_t *seed)
{
	for (unsigned r = 0; r < ALU_VGPRS; r++) {
		enum gcn3_as as = r < 12 ? info(op)->src[r / 4] : info(op)->dst;

		for (unsigned l = 0; l < GCN3_LANES; l++)
			t->v[r][l] = random_dword(seed, as);
	}
	for (unsigned n = 0; n < 102; n++)
		t->w.s[n] = random_dword(seed, info(op)->src[0]);
	t->w.s[VCC] = alu_random(seed);
	t->w.s[VCC + 1] = alu_random(seed);
}

static struct gcn3_insn insn_of(unsigned op, uint32_t *seed)
{
	struct gcn3_insn i = alu_valu((enum gcn3_op)op, DST, NONE, NONE, NONE);
	static const uint16_t reg[3] = {V(0), V(4), V(8)};

	for (unsigned k = 0; k < 3; k++) {
		if (info(op)->src[k] == GCN3_AS_M)
			i.src[k] = S(30);
		else if (info(op)->src[k])
			i.src[k] = reg[k];
	}
	if (info(op)->flags & VALU_ACC)
		i.src[2] = NONE;
	if (alu_random(seed) & 1)
		i.src[0] = alu_random(seed) & 1 ? S(40) : FLOAT_TWO;
	if (!info(op)->dst)
		i.dst = NONE;
	i.sdst = S(60);
	return i;
}

static bool is_nan32(uint32_t bits)
{
	return (bits & 0x7fffffff) > 0x7f800000;
}

/* Results agree; which of two NaNs survives an addition is left open. */
static bool same_row(
        const struct alu *a, const struct alu *b, enum gcn3_as as, unsigned r, unsigned l)
{
	uint32_t x = a->v[r][l], y = b->v[r][l];

	if (as == GCN3_AS_F && is_nan32(x) && is_nan32(y))
		return true;
	return x == y;
}

static void expect_same(const struct alu *a, const struct alu *b, unsigned op, const char *what)
{
	for (unsigned r = 0; r < ALU_VGPRS; r++)
		for (unsigned l = 0; l < GCN3_LANES; l++)
			if (!same_row(a, b, info(op)->dst, r, l))
				fail_msg("%s, %s: v%u lane %u expected 0x%08x, got 0x%08x (sources "
				         "0x%08x 0x%08x 0x%08x)",
				        gcn3_op_name(op), what, r, l, a->v[r][l], b->v[r][l],
				        a->v[0][l], a->v[4][l], a->v[8][l]);
	for (unsigned n = 0; n < GCN3_MAX_SGPRS; n++)
		if (a->w.s[n] != b->w.s[n])
			fail_msg("%s, %s: s%u expected 0x%08x, got 0x%08x", gcn3_op_name(op), what,
			        n, a->w.s[n], b->w.s[n]);
}

typedef enum gcn3_status (*executor)(struct gcn3_wave *w, const struct gcn3_insn *i);

static void run_at(struct alu *t, executor run, const struct gcn3_insn *i)
{
	uint32_t host = gcn3_fp_enter(&t->w);
	enum gcn3_status status = run(&t->w, i);

	gcn3_fp_leave(host);
	check_equal(gcn3_op_name(i->op), 0, status, GCN3_OK);
}

static struct alu *copy_of(const struct alu *t)
{
	struct alu *copy = aligned_alloc(64, sizeof(*copy));

	assert_non_null(copy);
	memcpy(copy, t, sizeof(*copy));
	copy->w.v = copy->v;
	copy->w.group = &copy->g;
	copy->g.waves = &copy->w;
	return copy;
}

static void compare_level(executor run, const char *name)
{
	static const uint32_t modes[] = {
	        ALU_MODE, ALU_MODE | ALU_KEEP_32, 0x300, 0x0f0, 0x3c5, 0x3fa};
	struct alu *t = aligned_alloc(64, sizeof(*t));
	uint32_t seed = 12345;

	for (unsigned op = 0; op < GCN3_OP_COUNT; op++) {
		for (unsigned round = 0; per_lane(op) && round < ROUNDS; round++) {
			struct gcn3_insn i = insn_of(op, &seed);
			struct alu *copy;

			alu_init(t);
			t->w.mode = modes[round % 6];
			randomise(t, op, &seed);
			if (round & 1)
				alu_exec(t, alu_random(&seed) * 0x100000001ull);
			copy = copy_of(t);
			run_at(t, gcn3_exec_valu_base, &i);
			run_at(copy, run, &i);
			expect_same(t, copy, op, name);
			free(copy);
		}
	}
	free(t);
}

static void avx2_gives_the_bits_of_the_base_level(void **state)
{
	(void)state;
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
		skip();
	compare_level(gcn3_exec_valu_v3, "avx2");
}

static void avx512_gives_the_bits_of_the_base_level(void **state)
{
	(void)state;
	if (!__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512bw"))
		skip();
	compare_level(gcn3_exec_valu_v4, "avx512");
}

typedef gcn3_executor (*shortcut)(const struct gcn3_insn *i);

/* Random modifiers on float sources, now and then. */
static void modify(struct gcn3_insn *i, uint32_t *seed)
{
	for (unsigned k = 0; k < 3; k++) {
		if (info(i->op)->src[k] != GCN3_AS_F || i->src[k] == NONE)
			continue;
		i->neg |= (uint8_t)((alu_random(seed) & 1) << k);
		i->abs |= (uint8_t)((alu_random(seed) & 1) << k);
	}
}

static void compare_shortcut(shortcut of, const char *name)
{
	static const uint32_t modes[] = {ALU_MODE, ALU_MODE, ALU_MODE & ~ALU_IEEE, ALU_MODE | 1};
	struct alu *t = aligned_alloc(64, sizeof(*t));
	uint32_t seed = 54321;
	unsigned found = 0;

	for (unsigned op = 0; op < GCN3_OP_COUNT; op++) {
		for (unsigned round = 0; per_lane(op) && round < ROUNDS; round++) {
			struct gcn3_insn i = insn_of(op, &seed);
			struct alu *copy;

			if (round % 3 == 0)
				modify(&i, &seed);
			i.vgprs = gcn3_valu_registers(&i);
			if (!of(&i))
				continue;
			found++;
			alu_init(t);
			t->w.mode = modes[round % 4];
			randomise(t, op, &seed);
			if (round & 1)
				alu_exec(t, alu_random(&seed) * 0x100000001ull);
			copy = copy_of(t);
			run_at(t, gcn3_exec_valu, &i);
			run_at(copy, of(&i), &i);
			expect_same(t, copy, op, name);
			free(copy);
		}
	}
	assert_true(found > 100 * ROUNDS); /* the hot operations have one */
	free(t);
}

static void shortcuts_give_the_bits_of_the_general_executor(void **state)
{
	(void)state;
	compare_shortcut(gcn3_valu_shortcut_base, "base shortcut");
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		compare_shortcut(gcn3_valu_shortcut_v3, "avx2 shortcut");
	if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
		compare_shortcut(gcn3_valu_shortcut_v4, "avx512 shortcut");
}

/* Run with EXEC full, then keep of it what EXEC allows. */
static void apply_exec(
        struct alu *full, const struct alu *before, uint64_t exec, const struct gcn3_insn *i)
{
	for (unsigned r = 0; r < ALU_VGPRS; r++)
		for (unsigned l = 0; l < GCN3_LANES; l++)
			if (!(exec >> l & 1))
				full->v[r][l] = before->v[r][l];
	if (info(i->op)->flags & VALU_MASK)
		gcn3_set_sgpr64(&full->w, i->sdst, gcn3_sgpr64(&full->w, i->sdst) & exec);
	alu_exec(full, info(i->op)->flags & VALU_EXEC ? gcn3_sgpr64(&full->w, i->sdst) : exec);
}

static void inactive_lanes_are_untouched_and_clear_in_masks(void **state)
{
	struct alu *t = aligned_alloc(64, sizeof(*t));
	uint32_t seed = 777;

	(void)state;
	for (unsigned op = 0; op < GCN3_OP_COUNT; op++) {
		for (unsigned round = 0; per_lane(op) && round < ROUNDS; round++) {
			struct gcn3_insn i = insn_of(op, &seed);
			uint64_t exec = alu_random(&seed) | (uint64_t)alu_random(&seed) << 32;
			struct alu *full, *partial;

			alu_init(t);
			randomise(t, op, &seed);
			full = copy_of(t);
			partial = copy_of(t);
			alu_exec(partial, round ? exec : 0);
			run_at(full, gcn3_exec_valu, &i);
			apply_exec(full, t, round ? exec : 0, &i);
			run_at(partial, gcn3_exec_valu, &i);
			expect_same(full, partial, op, "partial EXEC");
			free(full);
			free(partial);
		}
	}
	free(t);
}

static void results_may_overwrite_their_sources(void **state)
{
	struct alu *t = aligned_alloc(64, sizeof(*t));
	uint32_t seed = 4242;

	(void)state;
	for (unsigned op = 0; op < GCN3_OP_COUNT; op++) {
		for (unsigned k = 0; per_lane(op) && info(op)->dst && k < 3; k++) {
			struct gcn3_insn i = insn_of(op, &seed);
			struct alu *copy;

			if (i.src[k] == NONE || i.src[k] < GCN3_OPERAND_VGPR)
				continue;
			if (info(op)->flags & VALU_ACC || op == GCN3_V_CVT_PKACCUM_U8_F32)
				continue; /* the destination is a source */
			alu_init(t);
			randomise(t, op, &seed);
			copy = copy_of(t);
			run_at(t, gcn3_exec_valu, &i);
			i.dst = i.src[k];
			run_at(copy, gcn3_exec_valu, &i);
			for (unsigned n = 0; n < gcn3_as_dwords((enum gcn3_as)info(op)->dst); n++)
				for (unsigned l = 0; l < GCN3_LANES; l++) {
					uint32_t want = t->v[20 + n][l];
					uint32_t got = copy->v[i.dst - V(0) + n][l];

					if (!(is_nan32(want) && is_nan32(got)))
						check_equal(gcn3_op_name(op), l, got, want);
				}
			free(copy);
		}
	}
	free(t);
}

static bool float_kind(enum gcn3_as as)
{
	return as == GCN3_AS_F || as == GCN3_AS_H || as == GCN3_AS_D;
}

static void negate_row(struct alu *t, unsigned first, enum gcn3_as as, bool abs, bool neg)
{
	uint32_t sign = as == GCN3_AS_H ? 0x8000 : 0x80000000;
	uint32_t *row = t->v[first + (as == GCN3_AS_D)];

	for (unsigned l = 0; l < GCN3_LANES; l++)
		row[l] = (abs ? row[l] & ~sign : row[l]) ^ (neg ? sign : 0);
}

static void neg_and_abs_act_as_changed_sources(void **state)
{
	struct alu *t = aligned_alloc(64, sizeof(*t));
	uint32_t seed = 99;

	(void)state;
	for (unsigned op = 0; op < GCN3_OP_COUNT; op++) {
		for (unsigned round = 0; per_lane(op) && round < ROUNDS; round++) {
			struct gcn3_insn i = insn_of(op, &seed);
			unsigned neg = alu_random(&seed) & 7, abs = alu_random(&seed) & 7;
			struct alu *changed;

			alu_init(t);
			randomise(t, op, &seed);
			changed = copy_of(t);
			if (i.src[0] < GCN3_OPERAND_VGPR)
				i.src[0] = V(0);
			for (unsigned k = 0; k < 3; k++) {
				enum gcn3_as as = (enum gcn3_as)info(op)->src[k];

				if (!float_kind(as) || i.src[k] == NONE) {
					neg &= ~(1u << k);
					abs &= ~(1u << k);
				} else {
					negate_row(changed, 4 * k, as, abs >> k & 1, neg >> k & 1);
				}
			}
			run_at(changed, gcn3_exec_valu, &i);
			i.neg = (uint8_t)neg;
			i.abs = (uint8_t)abs;
			run_at(t, gcn3_exec_valu, &i);
			for (unsigned r = 0; r < 12; r++)
				memcpy(changed->v[r], t->v[r], sizeof(t->v[r]));
			expect_same(changed, t, op, "neg/abs");
			free(changed);
		}
	}
	free(t);
}

static void registers_beyond_the_allocation_are_refused(void **state)
{
	struct alu *t = aligned_alloc(64, sizeof(*t));
	uint32_t seed = 5;

	(void)state;
	for (unsigned op = 0; op < GCN3_OP_COUNT; op++) {
		for (unsigned slot = 0; per_lane(op) && slot < 4; slot++) {
			struct gcn3_insn i = insn_of(op, &seed);
			enum gcn3_as as =
			        (enum gcn3_as)(slot < 3 ? info(op)->src[slot] : info(op)->dst);
			uint16_t *code = slot < 3 ? &i.src[slot] : &i.dst;
			unsigned last = ALU_VGPRS - gcn3_as_dwords(as);

			if (*code == NONE || *code < GCN3_OPERAND_VGPR)
				continue;
			alu_init(t);
			*code = V(last);
			check_equal(gcn3_op_name(op), slot, alu_run(t, &i), GCN3_OK);
			*code = V(last + 1);
			check_equal(gcn3_op_name(op), slot, alu_run(t, &i), GCN3_BAD_OPCODE);
			i.vgprs = gcn3_valu_registers(&i);
			check_equal(gcn3_op_name(op), slot, i.vgprs, ALU_VGPRS + 1);
			check_equal(gcn3_op_name(op), slot, alu_run(t, &i), GCN3_BAD_OPCODE);
		}
	}
	free(t);
}

static void every_vector_operation_is_executed(void **state)
{
	(void)state;
	for (unsigned op = 1; op < GCN3_OP_COUNT; op++) {
		const char *name = gcn3_op_name(op);
		bool graphics = !strncmp(name, "v_interp_", 9);

		check_equal(name, op, info(op)->known, !strncmp(name, "v_", 2) && !graphics);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_vector_operation_is_executed),
	        cmocka_unit_test(avx2_gives_the_bits_of_the_base_level),
	        cmocka_unit_test(avx512_gives_the_bits_of_the_base_level),
	        cmocka_unit_test(shortcuts_give_the_bits_of_the_general_executor),
	        cmocka_unit_test(inactive_lanes_are_untouched_and_clear_in_masks),
	        cmocka_unit_test(results_may_overwrite_their_sources),
	        cmocka_unit_test(neg_and_abs_act_as_changed_sources),
	        cmocka_unit_test(registers_beyond_the_allocation_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
