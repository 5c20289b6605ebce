/* bench_engine.c - speed of the gfx803 engine beside a plain C loop doing the same sums on one core
 * of this machine, in the same run. Prints one JSON line a case.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "tests/kernels/helper_run.h"

#define LANES    64
#define SUMS     16 /* accumulators a lane; one v_mac_f32 each a turn */
#define TURNS    20000
#define WAVES    16
#define SIDE     512 /* of the square matrices */
#define BEST_OF  3
#define TEXT2(x) #x
#define TEXT(x)  TEXT2(x)

static const char mac_source[] =
        "kernel void mac(global float *out, float a, uint turns)\n"
        "{\n"
        "	float x = (float)get_local_id(0), s[" TEXT(
                SUMS) "];\n"
                      "	for (int i = 0; i < " TEXT(
                              SUMS) "; i++) s[i] = (float)i;\n"
                                    "	_Pragma(\"unroll 1\") for (uint t = 0; t < turns; t++) {\n"
                                    "		_Pragma(\"unroll\") for (int i = 0; i < " TEXT(
                                            SUMS) "; i++) s[i] += a * x;\n"
                                                  "		x += 1.0f;\n"
                                                  "	}\n"
                                                  "	float sum = 0;\n"
                                                  "	for (int i = 0; i < " TEXT(
                                                          SUMS) "; i++) sum += s[i];\n"
                                                                "	out[get_group_id(0) * 64 + "
                                                                "get_local_id(0)] = sum;\n"
                                                                "}\n";

static double seconds_since(uint64_t start_ns)
{
	return (double)(now_ns() - start_ns) * 1e-9;
}

/* The same sums as one wave of the kernel. Return: seconds. */
static double plain_mac(float a)
{
	static float s[SUMS][LANES], x[LANES];
	volatile float sink = 0;
	uint64_t start = now_ns();

	for (int l = 0; l < LANES; l++)
		x[l] = (float)l;
	for (int t = 0; t < TURNS; t++) {
		for (int i = 0; i < SUMS; i++)
			for (int l = 0; l < LANES; l++)
				s[i][l] += a * x[l];
		for (int l = 0; l < LANES; l++)
			x[l] += 1.0F;
	}
	for (int i = 0; i < SUMS; i++)
		sink = sink + s[i][1];
	return seconds_since(start);
}

static double engine_mac(struct run_card *c, const struct run_code *code, uint64_t out)
{
	uint64_t start = now_ns();

	assert_int_equal(RUN_KERNEL(c, code, "mac", WAVES * LANES, 1, LANES, 1, RUN_PTR(out),
	                         RUN_FLOAT(0.5F), RUN_INT(TURNS)),
	        0);
	return seconds_since(start);
}

static void bench_mac(unsigned threads)
{
	struct run_card *c = run_card_new(threads);
	struct run_code code = run_compile(c, mac_source, "-ffp-contract=fast");
	uint64_t out = run_alloc(c, (size_t)WAVES * LANES * 4);
	struct gcn3_counters before, after;
	double engine = 1e9, plain = 1e9;

	gcn3_read_counters(c->engine, &before);
	for (int i = 0; i < BEST_OF; i++) {
		engine = MIN(engine, engine_mac(c, &code, out));
		plain = MIN(plain, plain_mac(0.5F));
	}
	gcn3_read_counters(c->engine, &after);
	double rate = (double)(after.instructions - before.instructions) / BEST_OF / engine;
	double plain_rate = (double)SUMS * TURNS / plain;

	printf("{\"bench\":\"engine\",\"case\":\"v_mac\",\"threads\":%u,"
	       "\"wave_instructions_per_s\":%.4g,\"plain_c_64_lane_macs_per_s\":%.4g,\"ratio\":%."
	       "3f}"
	       "\n",
	        threads, rate, plain_rate, rate / plain_rate);
	run_code_free(&code);
	run_card_free(c);
}

static void plain_sgemm(const float *a, const float *b, float *c)
{
	memset(c, 0, sizeof(float) * SIDE * SIDE);
	for (int i = 0; i < SIDE; i++)
		for (int k = 0; k < SIDE; k++)
			for (int j = 0; j < SIDE; j++)
				c[i * SIDE + j] += a[i * SIDE + k] * b[k * SIDE + j];
}

/* Seconds of both; the results must agree. */
static void time_sgemm(
        struct run_card *c, const struct run_code *code, double *engine, double *plain)
{
	static float a[SIDE * SIDE], b[SIDE * SIDE], want[SIDE * SIDE], got[SIDE * SIDE];

	for (int i = 0; i < SIDE * SIDE; i++) {
		a[i] = (float)(i % 7 - 3);
		b[i] = (float)(i % 5 - 2);
	}
	uint64_t va = run_new(c, a, sizeof(a)), vb = run_new(c, b, sizeof(b)),
	         vc = run_alloc(c, sizeof(got));
	uint64_t start = now_ns();

	assert_int_equal(
	        RUN_KERNEL(c, code, "matmul_nn_64x64", SIDE / 64 * 256, SIDE / 64, 256, 1,
	                RUN_PTR(va), RUN_PTR(vb), RUN_PTR(vc), RUN_INT(SIDE), RUN_INT(SIDE),
	                RUN_INT(SIDE), RUN_INT(SIDE), RUN_INT(SIDE), RUN_INT(SIDE)),
	        0);
	*engine = seconds_since(start);
	start = now_ns();
	plain_sgemm(a, b, want);
	*plain = seconds_since(start);
	run_get(c, vc, got, sizeof(got));
	assert_memory_equal(got, want, sizeof(got)); /* small integers: exact in any order */
}

static void bench_sgemm(unsigned threads)
{
	struct run_card *c = run_card_new(threads);
	struct run_code code = run_compile(c, "#include \"matmul.cl\"\n",
	        "-fno-honor-nans -fno-signed-zeros -I" RX_SOURCE_DIR "/kernels");
	const double flops = 2.0 * SIDE * SIDE * SIDE;
	double engine, plain;

	time_sgemm(c, &code, &engine, &plain);
	printf("{\"bench\":\"engine\",\"case\":\"sgemm_%d\",\"threads\":%u,\"gflops\":%.3f,"
	       "\"plain_c_gflops\":%.3f,\"ratio\":%.3f}\n",
	        SIDE, threads, flops / engine * 1e-9, flops / plain * 1e-9, plain / engine);
	run_code_free(&code);
	run_card_free(c);
}

static void engine_against_plain_loops(void **state)
{
	(void)state;
	bench_mac(1);
	bench_mac(0);
	bench_sgemm(1);
	bench_sgemm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(engine_against_plain_loops)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
