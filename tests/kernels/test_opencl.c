/* test_opencl.c - kernels as clang compiles them, from one end of the engine to the other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/kernels/helper_run.h"

static int setup(void **state)
{
	*state = run_card_new(2);
	return 0;
}

static int teardown(void **state)
{
	run_card_free(*state);
	return 0;
}

static void check_no_report(const struct run_card *c)
{
	if (c->reports)
		print_error("report: status %d, pc +0x%llx, address 0x%llx, group %u %u %u wave "
		            "%u: %s\n",
		        (int)c->report.status, (unsigned long long)(c->report.pc - c->report.pgm),
		        (unsigned long long)c->report.address, c->report.group[0],
		        c->report.group[1], c->report.group[2], c->report.wave, c->report.insn);
	assert_int_equal(c->reports, 0);
}

static void check_u32(const char *what, const uint32_t *got, const uint32_t *want, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (got[i] != want[i])
			fail_msg("%s[%zu]: expected 0x%08x, got 0x%08x", what, i, want[i], got[i]);
}

static uint32_t rng(uint32_t *s)
{
	return *s = *s * 1664525u + 1013904223u;
}

static void vector_add_with_a_partial_group(void **state)
{
	enum { N = 1000 };
	struct run_card *c = *state;
	struct run_code code = run_compile(c,
	        "kernel void add(global const float *a, global const float *b, global float *o, "
	        "float k)"
	        "{ int i = get_global_id(0); o[i] = a[i] * k + b[i]; }",
	        "");
	float a[N], b[N], want[N], got[N + 24], mark[N + 24];
	uint64_t out;

	for (int i = 0; i < N; i++) {
		a[i] = (float)i;
		b[i] = (float)(3 * i % 17);
		want[i] = a[i] * 2.5f + b[i];
	}
	memset(mark, 0x5a, sizeof(mark));
	out = run_new(c, mark, sizeof(mark));
	assert_int_equal(
	        RUN_KERNEL(c, &code, "add", N, 1, 256, 1, RUN_PTR(run_new(c, a, sizeof(a))),
	                RUN_PTR(run_new(c, b, sizeof(b))), RUN_PTR(out), RUN_FLOAT(2.5f)),
	        0);
	check_no_report(c);
	run_get(c, out, got, sizeof(got));
	check_u32("o", (const uint32_t *)got, (const uint32_t *)want, N);
	assert_memory_equal(got + N, mark + N, 24 * 4);
	run_code_free(&code);
}

static void lds_reduction_with_barriers(void **state)
{
	enum { GROUPS = 37, N = GROUPS * 256 };
	struct run_card *c = *state;
	struct run_code code = run_compile(c,
	        "kernel void sum(global const uint *a, global uint *o) {"
	        " local uint s[256]; int t = get_local_id(0);"
	        " s[t] = a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);"
	        " for (int n = 128; n; n >>= 1) { if (t < n) s[t] += s[t + n]; "
	        "barrier(CLK_LOCAL_MEM_FENCE); }"
	        " if (t == 0) o[get_group_id(0)] = s[0]; }",
	        "");
	static uint32_t a[N];
	uint32_t want[GROUPS] = {0}, got[GROUPS], seed = 1;
	uint64_t out = run_alloc(c, sizeof(got));

	for (int i = 0; i < N; i++)
		want[i / 256] += a[i] = rng(&seed);
	assert_int_equal(RUN_KERNEL(c, &code, "sum", N, 1, 256, 1,
	                         RUN_PTR(run_new(c, a, sizeof(a))), RUN_PTR(out)),
	        0);
	check_no_report(c);
	run_get(c, out, got, sizeof(got));
	check_u32("sum", got, want, GROUPS);
	run_code_free(&code);
}

static void atomics_across_groups(void **state)
{
	enum { N = 64 * 50 };
	struct run_card *c = *state;
	struct run_code code = run_compile(c,
	        "kernel void count(global uint *bins, global uint *total, global uint *top, global "
	        "uint *order) {"
	        " uint i = get_global_id(0); atomic_inc(&bins[i * 7 % 13]); atomic_add(total, i);"
	        " atomic_max(top, i ^ 0x155); order[atomic_inc(&bins[13])] = i; }",
	        "");
	uint32_t zeros[14] = {0}, want[14] = {0}, got[14], total = 0, top = 0, v;
	static uint32_t order[N];
	static bool seen[N];
	uint64_t bins = run_new(c, zeros, sizeof(zeros)), sum = run_new(c, zeros, 4),
	         max = run_new(c, zeros, 4), list = run_alloc(c, sizeof(order));

	for (uint32_t i = 0; i < N; i++) {
		want[i * 7 % 13]++;
		total += i;
		top = (i ^ 0x155) > top ? (i ^ 0x155) : top;
	}
	want[13] = N;
	assert_int_equal(RUN_KERNEL(c, &code, "count", N, 1, 64, 1, RUN_PTR(bins), RUN_PTR(sum),
	                         RUN_PTR(max), RUN_PTR(list)),
	        0);
	check_no_report(c);
	run_get(c, bins, got, sizeof(got));
	check_u32("bins", got, want, 14);
	run_get(c, sum, &v, 4);
	assert_int_equal(v, total);
	run_get(c, max, &v, 4);
	assert_int_equal(v, top);
	run_get(c, list, order, sizeof(order));
	for (uint32_t i = 0; i < N; i++) {
		assert_true(order[i] < N && !seen[order[i]]);
		seen[order[i]] = true;
	}
	run_code_free(&code);
}

static const char *const gemm_source =
        "typedef float4 f4;\n"
        "kernel __attribute__((reqd_work_group_size(16,16,1)))\n"
        "void gemm(global const float *A, global const float *B, global float *C, int N) {\n"
        " local f4 As[16][16], Bs[16][16];\n"
        " int tx = get_local_id(0), ty = get_local_id(1), t = ty * 16 + tx;\n"
        " int m0 = get_group_id(1) * 64, n0 = get_group_id(0) * 64;\n"
        " float acc[4][4] = {{0}};\n"
        " for (int k0 = 0; k0 < N; k0 += 16) {\n"
        "  local float *a = (local float *)As; f4 v = *(global const f4 *)(A + (m0 + t / 4) * N + "
        "k0 + t % 4 * 4);\n"
        "  for (int j = 0; j < 4; j++) a[(t % 4 * 4 + j) * 64 + t / 4] = v[j];\n"
        "  Bs[t / 16][t % 16] = *(global const f4 *)(B + (k0 + t / 16) * N + n0 + t % 16 * 4);\n"
        "  barrier(CLK_LOCAL_MEM_FENCE);\n"
        "#pragma unroll\n"
        "  for (int k = 0; k < 16; k++) { f4 x = As[k][ty], y = Bs[k][tx];\n"
        "   for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) acc[i][j] += x[i] * y[j]; }\n"
        "  barrier(CLK_LOCAL_MEM_FENCE); }\n"
        " for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) C[(m0 + ty * 4 + i) * N + n0 + "
        "tx * 4 + j] = acc[i][j];\n"
        "}\n";

static void local_float4_tiles_multiply_matrices(void **state)
{
	enum { N = 128 };
	struct run_card *c = *state;
	struct run_code code = run_compile(c, gemm_source, "");
	static float a[N][N], b[N][N], got[N][N];
	uint32_t seed = 7;
	uint64_t out = run_alloc(c, sizeof(got));

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			a[i][j] = (float)(rng(&seed) >> 24) - 128;
			b[i][j] = (float)(rng(&seed) >> 24) - 128;
		}
	assert_int_equal(RUN_KERNEL(c, &code, "gemm", N / 4, N / 4, 16, 16,
	                         RUN_PTR(run_new(c, a, sizeof(a))),
	                         RUN_PTR(run_new(c, b, sizeof(b))), RUN_PTR(out), RUN_INT(N)),
	        0);
	check_no_report(c);
	run_get(c, out, got, sizeof(got));
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			float want = 0;

			for (int k = 0; k < N; k++)
				want += a[i][k] * b[k][j]; /* integers below 2^24: exact */
			if (got[i][j] != want)
				fail_msg("C[%d][%d]: expected %g, got %g", i, j, (double)want,
				        (double)got[i][j]);
		}
	run_code_free(&code);
}

static void calls_use_the_stack(void **state)
{
	enum { N = 512 };
	struct run_card *c = *state;
	struct run_code code = run_compile(c,
	        "__attribute__((noinline)) uint walk(uint *a, uint n) {"
	        " uint s = 0; for (uint i = 0; i < n; i++) { a[(i * 5 + s) % 16] += i ^ n; s += "
	        "a[i % 16]; } return s; }"
	        "__attribute__((noinline)) uint deep(uint n, uint x) {"
	        " uint a[16]; for (int i = 0; i < 16; i++) a[i] = x * i + n; return walk(a, n) + "
	        "(n ? walk(a, n / 2) : 0); }"
	        "kernel void calls(global uint *o) { uint i = get_global_id(0); o[i] = deep(i % "
	        "23, i) ^ deep(i % 7, ~i); }",
	        "");
	uint32_t want[N], got[N];
	uint64_t out = run_alloc(c, sizeof(got));

	for (uint32_t i = 0; i < N; i++) {
		want[i] = 0;
		for (int call = 0; call < 2; call++) {
			uint32_t n = call ? i % 7 : i % 23, x = call ? ~i : i, a[16], sum = 0;

			for (uint32_t k = 0; k < 16; k++)
				a[k] = x * k + n;
			for (int pass = 0; pass < (n ? 2 : 1); pass++) {
				uint32_t m = pass ? n / 2 : n, s = 0;

				for (uint32_t k = 0; k < m; k++) {
					a[(k * 5 + s) % 16] += k ^ m;
					s += a[k % 16];
				}
				sum += s;
			}
			want[i] ^= sum;
		}
	}
	assert_true(code_object_find(code.object, "calls")->scratch_bytes > 0);
	assert_int_equal(RUN_KERNEL(c, &code, "calls", N, 1, 128, 1, RUN_PTR(out)), 0);
	check_no_report(c);
	run_get(c, out, got, sizeof(got));
	check_u32("calls", got, want, N);
	run_code_free(&code);
}

static void generic_pointers_reach_lds_scratch_and_vram(void **state)
{
	struct run_card *c = *state;
	struct run_code code = run_compile(c,
	        "__attribute__((noinline)) void put(generic uint *p, uint v) { *p = v; }"
	        "__attribute__((noinline)) uint get(generic uint *p) { return *p; }"
	        "kernel void generic_(global uint *g, global uint *o) {"
	        " local uint l[64]; uint p[3]; uint t = get_local_id(0);"
	        " put(&l[t], t + 1); p[1] = 5; put(&p[t % 3], t + 2); put(&g[t], t + 3); "
	        " generic uint *q = t % 3 == 0 ? (generic uint *)&l[t] : t % 3 == 1 ? (generic "
	        "uint *)&p[1] : (generic uint *)&g[t];"
	        " o[t] = get(q); }",
	        "-cl-std=CL2.0");
	uint32_t got[64], want[64];
	uint64_t g = run_alloc(c, 256), o = run_alloc(c, 256);

	for (uint32_t t = 0; t < 64; t++)
		want[t] = t + 1 + t % 3;
	assert_int_equal(RUN_KERNEL(c, &code, "generic_", 64, 1, 64, 1, RUN_PTR(g), RUN_PTR(o)), 0);
	check_no_report(c);
	run_get(c, o, got, sizeof(got));
	check_u32("o", got, want, 64);
	run_code_free(&code);
}

static void buffer_resources_are_bounds_checked(void **state)
{
	struct run_card *c = *state;
	struct run_code code = run_compile(c,
	        "kernel void buf(global float *a, global float *o, int n) {"
	        " __amdgpu_buffer_rsrc_t ra = __builtin_amdgcn_make_buffer_rsrc((global void *)a, "
	        "0, n * 4, 0x00027000);"
	        " __amdgpu_buffer_rsrc_t ro = __builtin_amdgcn_make_buffer_rsrc((global void *)o, "
	        "0, n * 4, 0x00027000);"
	        " int t = get_global_id(0);"
	        " float v = as_float(__builtin_amdgcn_raw_buffer_load_b32(ra, t * 4, 0, 0));"
	        " __builtin_amdgcn_raw_buffer_store_b32(as_uint(v + 1), ro, t * 4, 0, 0);"
	        " o[256 + t] = v; }",
	        "");
	float a[256], got[512], mark[512];
	uint64_t out;

	for (int i = 0; i < 256; i++)
		a[i] = (float)i;
	for (int i = 0; i < 512; i++)
		mark[i] = -7;
	out = run_new(c, mark, sizeof(mark));
	assert_int_equal(RUN_KERNEL(c, &code, "buf", 256, 1, 64, 1,
	                         RUN_PTR(run_new(c, a, sizeof(a))), RUN_PTR(out), RUN_INT(150)),
	        0);
	check_no_report(c);
	run_get(c, out, got, sizeof(got));
	for (int i = 0; i < 256; i++) {
		assert_true(got[i] == (i < 150 ? a[i] + 1 : -7));
		assert_true(got[256 + i] == (i < 150 ? a[i] : 0));
	}
	run_code_free(&code);
}

static void three_dimensional_grids_number_groups_and_items(void **state)
{
	enum { X = 20, Y = 6, Z = 5 };
	struct run_card *c = *state;
	struct run_code code = run_compile(c,
	        "kernel void ids(global uint *o) { uint x = get_global_id(0), y = "
	        "get_global_id(1), z = get_global_id(2);"
	        " o[(z * 6 + y) * 20 + x] = x | y << 8 | z << 16 | (uint)get_local_size(0) << 24; "
	        "}",
	        "-cl-std=CL2.0"); /* 1.2 promises groups of one size */
	uint32_t got[Z * Y * X], want[Z * Y * X];
	uint64_t out = run_alloc(c, sizeof(got));
	const struct run_arg args[] = {RUN_PTR(out)};

	for (uint32_t i = 0; i < X * Y * Z; i++)
		want[i] = i % X | i / X % Y << 8 | i / X / Y << 16 | (i % X < 16 ? 8u : 4u) << 24;
	assert_int_equal(run_kernel(c, &code, "ids", (const uint32_t[]){X, Y, Z},
	                         (const uint32_t[]){8, 2, 3}, args, 1),
	        0);
	check_no_report(c);
	run_get(c, out, got, sizeof(got));
	check_u32("ids", got, want, X * Y * Z);
	run_code_free(&code);
}

#define RUN_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        RUN_TEST(vector_add_with_a_partial_group),
	        RUN_TEST(lds_reduction_with_barriers),
	        RUN_TEST(atomics_across_groups),
	        RUN_TEST(local_float4_tiles_multiply_matrices),
	        RUN_TEST(calls_use_the_stack),
	        RUN_TEST(generic_pointers_reach_lds_scratch_and_vram),
	        RUN_TEST(buffer_resources_are_bounds_checked),
	        RUN_TEST(three_dimensional_grids_number_groups_and_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
