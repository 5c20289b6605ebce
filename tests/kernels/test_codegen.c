/* What clang must keep making of the training kernels (kernels.md 2.1): no scratch,
 * multiply-accumulate instead of the quarter-rate fused form, wide LDS reads, scalar resources.
 * Reads the disassembly of the built code objects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "device/compile/code_object.h"

static const char *const modules[] = {"matmul", "attention", "layernorm", "embed", "cross_entropy",
        "reduce", "adamw", "init", "axpy", "residual"};
#define NMODULES (sizeof(modules) / sizeof(modules[0]))

static char *read_all(FILE *f, size_t *len)
{
	char *text = malloc(CO_MAX_SIZE);

	assert_non_null(f);
	assert_non_null(text);
	*len = fread(text, 1, CO_MAX_SIZE - 1, f);
	text[*len] = 0;
	return text;
}

static char *disassembly(const char *module)
{
	char command[1024];
	size_t len;
	FILE *pipe;
	char *text;

	snprintf(command, sizeof(command), "%s -d %s/kernels/%s.co", RX_OBJDUMP, RX_BINARY_DIR,
	        module);
	pipe = popen(command, "r");
	text = read_all(pipe, &len);
	assert_int_equal(pclose(pipe), 0);
	assert_true(len > 0);
	return text;
}

/* Occurrences of @mnemonic in the kernel that starts at @at, "<name>:" in the disassembly. */
static unsigned count(const char *at, const char *mnemonic)
{
	const char *end = strstr(at, "s_endpgm");
	unsigned n = 0;

	for (const char *p = strstr(at, mnemonic); p && end && p < end; p = strstr(p + 1, mnemonic))
		n++;
	return n;
}

static void no_kernel_spills_or_uses_scratch(void **state)
{
	(void)state;
	for (size_t i = 0; i < NMODULES; i++) {
		char path[512], why[256] = "";
		struct code_object *co;
		size_t len;
		FILE *f;
		char *elf;

		snprintf(path, sizeof(path), "%s/kernels/%s.co", RX_BINARY_DIR, modules[i]);
		f = fopen(path, "rb");
		elf = read_all(f, &len);
		fclose(f);
		if (code_object_parse(elf, len, &co, why, sizeof(why)) != 0)
			fail_msg("%s: %s", path, why);
		for (unsigned k = 0; k < co->nkernels; k++) {
			const struct co_kernel *c = &co->kernels[k];
			if (c->scratch_bytes || c->spilled_vgprs || c->spilled_sgprs)
				fail_msg("%s: expected no spills, got %u VGPRs, %u SGPRs, %u bytes "
				         "of scratch",
				        c->name, c->spilled_vgprs, c->spilled_sgprs,
				        c->scratch_bytes);
		}
		code_object_free(co);
		free(elf);
	}
}

static void products_are_multiply_accumulate(void **state)
{
	(void)state;
	for (size_t i = 0; i < NMODULES; i++) {
		char *text = disassembly(modules[i]);
		if (strstr(text, "v_fma_f32"))
			fail_msg("%s: expected no v_fma_f32, found one", modules[i]);
		free(text);
	}
}

/* Per tile of 16 k: MT NT products a step; one b128 for four rows or columns. */
static void matmul_loops_read_lds_wide_and_have_no_waterfall(void **state)
{
	static const struct {
		const char *kernel;
		unsigned mac, b128;
	} expected[] = {{"<matmul_nn_128x80>:", 640, 48}, {"<matmul_nt_128x80>:", 640, 48},
	        {"<matmul_tn_80x80>:", 400, 32}, {"<matmul_nn_64x64>:", 256, 32},
	        {"<matmul_nt_64x64>:", 256, 32}, {"<matmul_tn_64x64>:", 256, 32}};
	char *text = disassembly("matmul");

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const char *at = strstr(text, expected[i].kernel);
		assert_non_null(at);
		if (count(at, "v_mac_f32") != expected[i].mac ||
		        count(at, "ds_read_b128") != expected[i].b128)
			fail_msg("%s expected %u v_mac_f32 and %u ds_read_b128, got %u and %u",
			        expected[i].kernel, expected[i].mac, expected[i].b128,
			        count(at, "v_mac_f32"), count(at, "ds_read_b128"));
	}
	if (strstr(text, "v_readfirstlane"))
		fail_msg("matmul: expected no v_readfirstlane, found one: a resource is not "
		         "uniform");
	free(text);
}

static void attention_loops_have_scalar_operands_and_no_waterfall(void **state)
{
	static const char *const kernels[] = {"<attention_forward_d32>:", "<attention_dq_d32>:",
	        "<attention_dk_d32>:", "<attention_dv_d32>:"};
	char *text = disassembly("attention");

	(void)state;
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		const char *at = strstr(text, kernels[i]);
		assert_non_null(at);
		/* the wave number is the one value made uniform by hand */
		assert_int_equal(count(at, "v_readfirstlane"), 1);
		assert_true(count(at, "s_load_dwordx16") >= 32);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(no_kernel_spills_or_uses_scratch),
	        cmocka_unit_test(products_are_multiply_accumulate),
	        cmocka_unit_test(matmul_loops_read_lds_wide_and_have_no_waterfall),
	        cmocka_unit_test(attention_loops_have_scalar_operands_and_no_waterfall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
