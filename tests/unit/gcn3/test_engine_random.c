/* test_engine_random.c - whatever a guest runs, the process and the engine survive; shortcuts
 * compute what the vector executor computes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/clock.h"
#include "device/log.h"
#include "device/virtual/gcn3/engine_priv.h"
#include "device/virtual/gcn3/interp.h"

#define FB    UINT64_C(0xF400000000)
#define SIZE  (UINT64_C(4) << 20)
#define WORDS 1024

static uint32_t seed = 20250731;

static uint32_t rng(void)
{
	seed ^= seed << 13; /* xorshift32, Marsaglia 2003 */
	seed ^= seed >> 17;
	return seed ^= seed << 5;
}

/* Encodings of each format, so that most words decode: GCN3 ISA manual, chapter 13. */
static uint32_t code_word(bool memory)
{
	static const uint32_t formats[] = {0x80000000, 0xb0000000, 0xbe800000, 0xbf000000,
	        0xbf800000, 0xc0000000, 0x00000000, 0x7e000000, 0x7c000000, 0xd0000000, 0xd8000000,
	        0xdc000000, 0xe0000000, 0xe8000000};
	static const uint32_t free_bits[] = {0x3fffffff, 0x0fffffff, 0x007fffff, 0x007fffff,
	        0x000f001f, 0x03ffffff, 0x7fffffff, 0x01ffffff, 0x01ffffff, 0x03ffffff, 0x03ffffff,
	        0x03ffffff, 0x03ffffff, 0x03ffffff};
	unsigned f = memory ? rng() % 15 : "\0\1\2\3\4\6\7\10\11\12"[rng() % 10];

	return f == 14 ? rng() : formats[f] | (rng() & free_bits[f]);
}

static void count_report(void *ctx, const struct gcn3_dispatch *d, const struct gcn3_report *r)
{
	unsigned *n = ctx;

	assert_int_equal(d->pgm, FB);
	assert_true(r->insn[0] != 0);
	__atomic_add_fetch(n, 1, __ATOMIC_SEQ_CST);
}

static struct gcn3_dispatch random_dispatch(void)
{
	struct gcn3_dispatch d = {.pgm = FB,
	        .fb_base = FB,
	        .fb_size = SIZE,
	        .sh_mem_bases = 0x20002000,
	        .groups = {1 + rng() % 3, 1, 1},
	        .threads = {1 + rng() % 300, 1, 1},
	        .last_threads = {1, 1, 1}};

	d.rsrc1 = rng() % 16 | (rng() & 0xff) << 12 | (rng() & 5) << 21;
	d.rsrc2 = (rng() & 1) | 16 << 1 | (rng() & 0xf) << 7 | rng() % 3 << 11 | rng() % 32 << 15;
	d.tmpring_size = 64 | 4 << 12;
	for (int i = 0; i < 16; i++) /* addresses, resources or anything */
		d.user_data[i] =
		        i % 2 ? (rng() % 4 ? 0xF4 : 0x20000000 + rng() % 2) : rng() % (2 * SIZE);
	if (rng() % 4 == 0)
		for (int i = 0; i < 16; i++)
			d.user_data[i] = rng();
	return d;
}

static void random_code_ends_or_is_killed(void **state)
{
	struct gcn3_engine *e;
	struct vmem *m;
	unsigned reports = 0, faults = 0;
	uint32_t code[WORDS];

	(void)state;
	assert_int_equal(vmem_new(&m, SIZE), 0);
	assert_int_equal(gcn3_engine_new(&e, m, 2, count_report, &reports), 0);
	for (int n = 0; n < 1500; n++) {
		struct gcn3_dispatch d = random_dispatch();
		uint64_t end = deadline_in_ms(5);

		for (int i = 0; i < WORDS; i++)
			code[i] = code_word(n % 2);
		vmem_l2_flush(m);
		vmem_dram_write(m, 0, code, sizeof(code));
		vmem_l2_flush(m);
		gcn3_invalidate_icache(e);
		assert_int_equal(gcn3_submit(e, &d), 0);
		while (!gcn3_idle(e, 0) && !deadline_passed(end))
			sleep_us(50);
		gcn3_kill(e, 0);
		faults += gcn3_wait_idle(e, 0) == -EIO;
	}
	gcn3_engine_free(e);
	vmem_free(m);
	assert_in_range(faults - reports, 0, 100); /* killed before a wave had started: no report */
	assert_in_range(faults, 700, 1500); /* random code rarely ends well */
}

static void run_both(struct gcn3_wave *a, struct gcn3_wave *b, struct gcn3_insn *i)
{
	i->vgprs = gcn3_valu_registers(i);
	assert_true(gcn3_shortcut(i) != gcn3_exec_valu);
	assert_int_equal(gcn3_shortcut(i)(a, i), gcn3_exec_valu(b, i));
	for (unsigned r = 0; r < 8; r++)
		for (unsigned l = 0; l < GCN3_LANES; l++) {
			float x, y;

			memcpy(&x, &a->v[r][l], 4);
			memcpy(&y, &b->v[r][l], 4);
			if (a->v[r][l] != b->v[r][l] &&
			        !(x != x && y != y)) /* NaN compare as a class */
				fail_msg("%s v%u lane %u: expected 0x%08x, got 0x%08x",
				        gcn3_op_name(i->op), r, l, b->v[r][l], a->v[r][l]);
		}
}

static uint32_t interesting_float(void)
{
	static const uint32_t special[] = {0, 0x80000000, 1, 0x807fffff, 0x00800000, 0x7f7fffff,
	        0x7f800000, 0xff800000, 0x7fc00000, 0x7fa00001, 0x3f800000, 0xbf800001};

	return rng() % 2 ? special[rng() % 12] : rng();
}

static void shortcuts_equal_the_vector_executor(void **state)
{
	static const uint16_t ops[] = {
	        GCN3_V_MAC_F32, GCN3_V_MUL_F32, GCN3_V_ADD_F32, GCN3_V_SUB_F32};
	static uint32_t rows[2][8][GCN3_LANES] __attribute__((aligned(64)));
	static struct gcn3_wave w[2];

	(void)state;
	for (int n = 0; n < 4000; n++) {
		struct gcn3_insn i = {.op = ops[rng() % 4],
		        .format = GCN3_VOP2,
		        .size = 4,
		        .dst = (uint16_t)(GCN3_OPERAND_VGPR + rng() % 8),
		        .sdst = GCN3_OPERAND_NONE,
		        .src = {(uint16_t)(rng() % 2 ? GCN3_OPERAND_VGPR + rng() % 8 : rng() % 8),
		                (uint16_t)(GCN3_OPERAND_VGPR + rng() % 8), GCN3_OPERAND_NONE}};
		uint32_t host;

		for (unsigned k = 0; k < 2; k++) {
			memset(&w[k], 0, sizeof(w[k]));
			w[k].v = rows[k];
			w[k].nvgprs = n % 50 ? 8 : 4;
			w[k].mode =
			        n % 3 ? 0x3c0 : 0x300 | (n & 0xff); /* as compiled, or anything */
		}
		for (unsigned r = 0; r < 8; r++)
			for (unsigned l = 0; l < GCN3_LANES; l++)
				rows[0][r][l] = rows[1][r][l] = interesting_float();
		for (unsigned r = 0; r < 8; r++)
			w[0].s[r] = w[1].s[r] = interesting_float();
		for (unsigned r = 0; r < 2; r++)
			w[0].s[GCN3_OPERAND_EXEC + r] = w[1].s[GCN3_OPERAND_EXEC + r] =
			        n % 5 ? 0xffffffff : rng();
		host = gcn3_fp_enter(&w[0]);
		run_both(&w[0], &w[1], &i);
		gcn3_fp_leave(host);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(random_code_ends_or_is_killed),
	        cmocka_unit_test(shortcuts_equal_the_vector_executor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
