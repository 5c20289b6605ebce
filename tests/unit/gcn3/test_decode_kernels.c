/* test_decode_kernels.c - real code objects: every instruction reads as in llvm-objdump. Kernels of
 * this project, and OpenCL compiled here to reach what they do not use (doubles, atomics, lane
 * permutes, calls, scratch).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <glob.h>
#include <unistd.h>
#include <cmocka.h>

#include "device/virtual/gcn3/decode.h"

static const char *const sources[] = {
        /* doubles, 64-bit integers, division, transcendentals */
        "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
        "kernel void k(global double *a, global long *b, global float *c, int n) {\n"
        "  int i = get_global_id(0); double x = a[i]; long y = b[i]; float z = c[i];\n"
        "  for (int j = 0; j < n; j++) { x = fma(x, a[j], 1.5); y = y / (b[j] | 1) + (y << j) + "
        "mul_hi(y, b[j]);\n"
        "    z = native_sin(z) * native_exp2(z) / (1.0f + c[j]) + native_rsqrt(z) + fabs(fract(z, "
        "&c[j])); }\n"
        "  a[i] = x / 3.0 + (double)z; b[i] = y % 1000003 + (long)x; c[i] = z + (float)x + "
        "(uint)y; }\n",
        /* atomics of 64 bits */
        "kernel void k(global ulong *q, global long *r, local ulong *m, local long *n) {\n"
        "  int i = get_local_id(0); q[i] = __atomic_fetch_add(&q[i + 1], m[i], 0); "
        "__atomic_exchange_n(&m[i], q[i], 0);\n"
        "  r[i] = __atomic_fetch_and(&n[i], r[i], 0) + __atomic_fetch_xor(&r[i + 2], 5, 0); "
        "__atomic_fetch_or(&n[i], 1, 0);\n"
        "  ulong e = 4; __atomic_compare_exchange_n(&m[9], &e, 5, 0, 0, 0); "
        "__atomic_compare_exchange_n(&q[9], &e, 5, 0, 0, 0); }\n",
        /* LDS, barriers, atomics of 32 bits */
        "kernel void k(global int *a, global uint *u, local int *l, local float4 *v, global float4 "
        "*w) {\n"
        "  int i = get_local_id(0); l[i] = a[i]; v[i] = w[i]; barrier(CLK_LOCAL_MEM_FENCE);\n"
        "  a[atomic_add(&l[i ^ 1], 3)] = atomic_cmpxchg(&l[i], 1, 2); atomic_max(&a[i], l[i + 1]); "
        "atomic_xchg(&a[i], 9);\n"
        "  a[i + 2] = atomic_inc(&a[0]); atomic_or(&u[i], 4u); atomic_min(&u[3], u[i]); w[i] = v[i "
        "^ 5] + v[i + 64]; }\n",
        /* lane permutes, DPP, readlane, packed bytes and halves */
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
        "kernel void k(global int *a, global half *h, global uchar4 *c, global ushort *s) {\n"
        "  int i = get_global_id(0), x = a[i];\n"
        "  x += __builtin_amdgcn_ds_swizzle(x, 0x401f) + __builtin_amdgcn_ds_bpermute(x, i);\n"
        "  x ^= __builtin_amdgcn_mov_dpp(x, 0x111, 15, 15, 1) + __builtin_amdgcn_readlane(x, 5) + "
        "__builtin_amdgcn_readfirstlane(i);\n"
        "  x += __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));\n"
        "  h[i] = h[i] * h[i + 1] + (half)x; c[i] = c[i] + (uchar4)(1, 2, 3, 4); s[i] = s[i] * s[i "
        "+ 1] + c[i].x;\n"
        "  a[i] = x + popcount(x) + clz(x) + rotate(x, 7) + (int)s[i + 3] + c[i].w; }\n",
        /* scratch, calls, switches */
        "__attribute__((noinline)) int f(int *p, int n) { return n > 2 ? p[n & 63] + f(p, n - 1) : "
        "p[0]; }\n"
        "kernel void k(global int *a, int n) { int t[64]; for (int j = 0; j < 64; j++) t[j] = a[j] "
        "* j;\n"
        "  t[n & 63] = 7; switch (n) { case 1: a[1] = 2; break; case 2: a[3] = 9; break; case 7: "
        "a[0]++; break;\n"
        "  case 9: a[5] /= n; break; default: a[9] = f(t, n); } a[n] = t[a[0] & 63]; }\n",
};

static const char *const levels[] = {"-O0", "-O1", "-O3"};

/* "s_add_u32 s0, s1, s2   // 000000001900: 80000201 <k+0x10>" */
static bool parse_line(char *line, uint32_t *w, unsigned *words, char **text)
{
	char *p = strstr(line, "// "), *end;

	if (!p)
		return false;
	*p = '\0';
	p = strchr(p + 1, ':');
	if (!p)
		return false;
	*words = (unsigned)sscanf(p + 1, "%x %x", &w[0], &w[1]);
	*text = line + strspn(line, " \t");
	end = *text + strlen(*text);
	while (end > *text && strchr(" \t", end[-1]))
		*--end = '\0';
	return *words == 1 || *words == 2;
}

static bool check_line(const char *path, const char *text, const uint32_t *w, unsigned words)
{
	struct gcn3_insn i;
	char ours[224] = "";
	int rc = gcn3_decode((const uint8_t *)w, 4 * words, &i);

	if (rc > 0)
		gcn3_disassemble(&i, ours, sizeof(ours));
	if (rc == (int)(4 * words) && !strcmp(ours, text))
		return true;
	print_error("%s: %08x %08x: objdump \"%s\", decoded (%d) \"%s\"\n", path, w[0],
	        words == 2 ? w[1] : 0, text, rc, ours);
	return false;
}

/* Returns the number of instructions; fails the test when one differs. */
static unsigned check_code_object(const char *path)
{
	char command[512], line[512], *text;
	unsigned count = 0, wrong = 0, words;
	uint32_t w[2];
	FILE *f;

	snprintf(command, sizeof(command), RX_OBJDUMP " -d --mcpu=gfx803 '%s'", path);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (!parse_line(line, w, &words, &text))
			continue;
		count++;
		if (!check_line(path, text, w, words) && ++wrong >= 20)
			break;
	}
	pclose(f);
	assert_int_equal(wrong, 0);
	return count;
}

static void built_kernels_read_as_in_objdump(void **state)
{
	unsigned count = 0;
	glob_t found;

	(void)state;
	if (glob(RX_BINARY_DIR "/kernels/*.co", 0, NULL, &found)) {
		print_message("no code objects in " RX_BINARY_DIR
		              "/kernels: build gfx803_kernels first\n");
		skip();
	}
	for (size_t k = 0; k < found.gl_pathc; k++)
		count += check_code_object(found.gl_pathv[k]);
	print_message("%zu code objects, %u instructions\n", found.gl_pathc, count);
	assert_true(count > 1000);
	globfree(&found);
}

static bool compile(const char *source, const char *level, const char *output)
{
	char command[512];
	FILE *f;

	snprintf(command, sizeof(command),
	        RX_CLANG
	        " --target=amdgcn-amd-amdhsa -mcpu=gfx803 -x cl -cl-std=CL2.0 %s -nogpulib -c "
	        "-Xclang -finclude-default-header - -o %s 2>/dev/null",
	        level, output);
	f = popen(command, "w");
	assert_non_null(f);
	fputs(source, f);
	return pclose(f) == 0;
}

static void compiled_sources_read_as_in_objdump(void **state)
{
	char output[] = "/tmp/rx_decode_co_XXXXXX";
	unsigned count = 0, compiled = 0;
	int fd = mkstemp(output);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	for (size_t k = 0; k < sizeof(sources) / sizeof(sources[0]); k++) {
		for (size_t level = 0; level < 3; level++) {
			if (!compile(sources[k], levels[level], output))
				continue;
			compiled++;
			count += check_code_object(output);
		}
	}
	unlink(output);
	print_message("%u compilations, %u instructions\n", compiled, count);
	assert_int_equal(compiled, 3 * sizeof(sources) / sizeof(sources[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(built_kernels_read_as_in_objdump),
	        cmocka_unit_test(compiled_sources_read_as_in_objdump),
	};

	if (!*RX_OBJDUMP || access(RX_OBJDUMP, X_OK)) {
		fprintf(stderr, "skipped: llvm-objdump not found; it is the reference for the "
		                "disassembly\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
