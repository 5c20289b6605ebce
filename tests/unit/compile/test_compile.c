/* test_compile.c - OpenCL text becomes a code object whose metadata is what the source says; bad
 * text and bad objects are refused, never crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "device/bytes.h"
#include "device/compile/code_object.h"
#include "device/compile/compile.h"

static const char source[] =
        "kernel void axpy(float a, global const float *x, global float *y, uint n, local float *t) "
        "{\n"
        "  local float l[64]; uint i = __builtin_amdgcn_workitem_id_x();\n"
        "  l[i] = x[i]; t[i] = l[63 - i]; if (i < n) y[i] = a * t[i] + y[i]; }\n"
        "kernel void second(global int *p) { *p = 1; }\n";

static struct compile_result built;

static int build_once(void **state)
{
	(void)state;
	return compile_opencl("axpy.cl", source, sizeof(source) - 1, &built);
}

static int release(void **state)
{
	(void)state;
	compile_result_free(&built);
	return 0;
}

/* copy_of_built - to be damaged; the caller frees it. */
static uint8_t *copy_of_built(void)
{
	uint8_t *copy = malloc(built.elf_size);

	assert_non_null(copy);
	memcpy(copy, built.elf, built.elf_size);
	return copy;
}

static void arguments_are_found_by_name_type_and_place(void **state)
{
	struct code_object *co;
	char why[256] = "";

	(void)state;
	assert_int_equal(code_object_parse(built.elf, built.elf_size, &co, why, sizeof(why)), 0);
	assert_int_equal(co->nkernels, 2);
	const struct co_kernel *k = code_object_find(co, "axpy");
	assert_non_null(k);
	assert_string_equal(k->args[0].name, "a");
	assert_string_equal(k->args[0].type_name, "float");
	assert_int_equal(k->args[0].kind, CO_ARG_VALUE);
	assert_int_equal(k->args[1].kind, CO_ARG_GLOBAL_POINTER);
	assert_int_equal(k->args[1].offset, 8);
	assert_int_equal(k->args[4].kind, CO_ARG_LOCAL_POINTER);
	assert_int_equal(k->lds_bytes, 256);
	assert_int_equal(k->entry % 256, 0);
	assert_true(k->entry < co->image_size);
	assert_null(code_object_find(co, "third"));
	code_object_free(co);
}

static void the_json_view_is_json_with_both_kernels(void **state)
{
	struct code_object *co;
	char why[256];

	(void)state;
	assert_int_equal(code_object_parse(built.elf, built.elf_size, &co, why, sizeof(why)), 0);
	char *text = code_object_json(co);
	json_t *j = json_loads(text, 0, NULL);
	assert_non_null(j);
	json_t *kernels = json_object_get(j, "kernels");
	assert_int_equal(json_object_size(kernels), 2);
	assert_int_equal(
	        json_array_size(json_object_get(json_object_get(kernels, "axpy"), "args")), 5);
	json_decref(j);
	free(text);
	code_object_free(co);
}

static void source_that_does_not_compile_gives_line_and_column(void **state)
{
	static const char bad[] = "kernel void f(global float *x)\n{\n  x[0] = nonsense;\n}\n";
	struct compile_result r;

	(void)state;
	assert_int_equal(compile_opencl("bad.cl", bad, sizeof(bad) - 1, &r), -EINVAL);
	if (!strstr(r.log, "bad.cl:3:"))
		fail_msg("expected bad.cl:3: in the log, got: %s", r.log);
	compile_result_free(&r);
}

static void names_that_look_like_options_are_only_names(void **state)
{
	struct compile_result r;

	(void)state;
	assert_int_equal(compile_opencl("-o/etc/x", source, sizeof(source) - 1, &r), 0);
	assert_true(r.elf_size > 0);
	compile_result_free(&r);
}

static void damaged_objects_are_refused_or_parsed_but_never_crash(void **state)
{
	uint8_t *copy = malloc(built.elf_size);
	uint32_t seed = 1;
	unsigned refused = 0;
	char why[256];

	(void)state;
	assert_non_null(copy);
	for (int round = 0; round < 20000; round++) {
		struct code_object *co;
		memcpy(copy, built.elf, built.elf_size);
		for (int i = 0; i < 1 + round % 4; i++) {
			seed = seed * 1664525 +
			       1013904223; /* Numerical Recipes LCG: any sequence will do */
			copy[seed % built.elf_size] = (uint8_t)(seed >> 24);
		}
		if (code_object_parse(
		            copy, built.elf_size - (size_t)round % 64, &co, why, sizeof(why)))
			refused++;
		else
			code_object_free(co);
	}
	free(copy);
	assert_true(refused > 1000);
}

static void objects_for_another_gpu_are_refused_in_words(void **state)
{
	struct code_object *co;
	char why[256] = "";
	uint8_t *copy = copy_of_built();

	(void)state;
	put_le32(copy + 48, 0x2c); /* gfx900, LLVM AMDGPUUsage e_flags */
	assert_int_equal(code_object_parse(copy, built.elf_size, &co, why, sizeof(why)), -EINVAL);
	if (!strstr(why, "gfx803"))
		fail_msg("expected gfx803 in \"%s\"", why);
	free(copy);
}

static void a_second_dynamic_segment_is_refused(void **state)
{
	static const char relocated[] =
	        "constant int one = 1, two = 2; constant int *constant table[] = {&one, &two};\n"
	        "kernel void pick(global int *y, uint i) { *y = *table[i & 1]; }\n";
	struct compile_result r;
	struct code_object *co;
	char why[256] = "";

	(void)state;
	assert_int_equal(compile_opencl("pick.cl", relocated, sizeof(relocated) - 1, &r), 0);
	assert_int_equal(code_object_parse(r.elf, r.elf_size, &co, why, sizeof(why)), 0);
	assert_int_equal(co->nrelocs, 2);
	code_object_free(co);

	Elf64_Phdr *ph = (Elf64_Phdr *)(void *)(r.elf + ((Elf64_Ehdr *)(void *)r.elf)->e_phoff);
	const Elf64_Phdr *dynamic = ph;
	while (dynamic->p_type != PT_DYNAMIC)
		dynamic++;
	while (ph->p_type != PT_GNU_STACK)
		ph++;
	*ph = *dynamic;
	assert_int_equal(code_object_parse(r.elf, r.elf_size, &co, why, sizeof(why)), -EINVAL);
	if (!strstr(why, "dynamic"))
		fail_msg("expected dynamic in \"%s\"", why);
	compile_result_free(&r);
}

static void a_kernel_that_prints_is_refused_in_words(void **state)
{
	static const char prints[] = "kernel void fine(global int *x) { *x = 1; }\n"
	                             "kernel void says(global int *x) { printf(\"%d\\n\", *x); }\n";
	struct compile_result r;
	struct code_object *co;
	char why[256] = "";

	(void)state;
	assert_int_equal(compile_opencl("says.cl", prints, sizeof(prints) - 1, &r), 0);
	assert_int_equal(code_object_parse(r.elf, r.elf_size, &co, why, sizeof(why)), -EINVAL);
	if (!strstr(why, "says uses printf") || !strstr(why, "write to a buffer instead"))
		fail_msg("expected the kernel, printf and what to do in \"%s\"", why);
	assert_true(strlen(why) < sizeof(why) - 1); /* not cut */
	compile_result_free(&r);
}

/* The first symbol of the dynamic table that has @name; the test's own object is well formed. */
static uint8_t *symbol_in_file(uint8_t *elf, size_t size, const char *name)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)(const void *)elf;
	const Elf64_Shdr *sh = (const Elf64_Shdr *)(const void *)(elf + eh->e_shoff);

	assert_true(eh->e_shoff + eh->e_shnum * sizeof(*sh) <= size);
	for (unsigned i = 0; i < eh->e_shnum; i++) {
		if (sh[i].sh_type != SHT_DYNSYM)
			continue;
		const char *names = (const char *)elf + sh[sh[i].sh_link].sh_offset;

		for (uint64_t o = 0; o < sh[i].sh_size; o += sizeof(Elf64_Sym)) {
			uint8_t *sym = elf + sh[i].sh_offset + o;

			if (!strcmp(names + get_le32(sym), name))
				return sym;
		}
	}
	fail_msg("no symbol %s", name);
	return NULL;
}

static void a_symbol_nobody_defines_is_refused_by_name(void **state)
{
	struct code_object *co;
	char why[256] = "";
	uint8_t *copy = copy_of_built();

	(void)state;
	uint8_t *sym = symbol_in_file(copy, built.elf_size, "second");

	put_le16(sym + 6, SHN_UNDEF);
	assert_int_equal(code_object_parse(copy, built.elf_size, &co, why, sizeof(why)), -EINVAL);
	if (!strstr(why, "nothing defines second,"))
		fail_msg("expected the symbol in \"%s\"", why);
	sym[4] = ELF64_ST_INFO(STB_WEAK, STT_NOTYPE);
	assert_int_equal(code_object_parse(copy, built.elf_size, &co, why, sizeof(why)), 0);
	code_object_free(co);
	free(copy);
}

/* A file size limit stands for a full disk. */
static void a_full_temporary_folder_is_told_as_such(void **state)
{
	struct rlimit old, small = {.rlim_cur = 4096};
	struct compile_result r;
	char text[8192];

	(void)state;
	memset(text, ' ', sizeof(text));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_max = old.rlim_max;
	void (*was)(int) = signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int err = compile_opencl("wide", text, sizeof(text), &r);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, was);
	assert_int_equal(err, -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(arguments_are_found_by_name_type_and_place),
	        cmocka_unit_test(the_json_view_is_json_with_both_kernels),
	        cmocka_unit_test(source_that_does_not_compile_gives_line_and_column),
	        cmocka_unit_test(names_that_look_like_options_are_only_names),
	        cmocka_unit_test(damaged_objects_are_refused_or_parsed_but_never_crash),
	        cmocka_unit_test(objects_for_another_gpu_are_refused_in_words),
	        cmocka_unit_test(a_second_dynamic_segment_is_refused),
	        cmocka_unit_test(a_kernel_that_prints_is_refused_in_words),
	        cmocka_unit_test(a_symbol_nobody_defines_is_refused_by_name),
	        cmocka_unit_test(a_full_temporary_folder_is_told_as_such),
	};
	return cmocka_run_group_tests(tests, build_once, release);
}
