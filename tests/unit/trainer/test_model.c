/* test_model.c - sizes of the presets, and the layout of the flat buffers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/model.h"

static struct model *model_of(const char *preset)
{
	struct model_config c;
	struct model *m;

	assert_int_equal(model_preset(&c, preset), 0);
	assert_int_equal(model_new(&m, &c), 0);
	return m;
}

static const struct param *model_find(const struct model *m, const char *name)
{
	for (unsigned i = 0; i < m->nparams; i++)
		if (!strcmp(m->params[i].name, name))
			return &m->params[i];
	return NULL;
}

static void the_reference_has_11637760_parameters(void **state)
{
	struct model_config c;

	(void)state;
	assert_int_equal(model_preset(&c, "reference"), 0);
	assert_int_equal(model_parameters(&c), 11637760); /* reference-run.md, "Model and run" */
	assert_int_equal(c.L, 6);
	assert_int_equal(c.C, 320);
	assert_int_equal(c.H, 10);
	assert_int_equal(c.V, 12096);
	assert_int_equal(c.T, 1152);
	assert_int_equal(model_preset(&c, "huge"), -EINVAL);
}

static void parameters_lie_one_behind_the_other_matrices_first(void **state)
{
	static const char *const presets[] = {"tiny", "reference"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct model *m = model_of(presets[i]);
		uint64_t at = 0;
		for (unsigned p = 0; p < m->nparams; p++) {
			const struct param *q = &m->params[p];
			assert_int_equal(q->offset, at);
			assert_int_equal(q->offset % 4, 0);
			assert_int_equal(q->ndims == 2, q->offset < m->ndecay);
			assert_ptr_equal(model_find(m, q->name), q);
			at += q->count;
		}
		assert_int_equal(at, m->nfloats);
		assert_int_equal(m->nfloats, model_parameters(&m->c));
		assert_null(model_find(m, "lm_head.weight"));
		model_free(m);
	}
}

static void names_and_shapes_are_those_of_hugging_face(void **state)
{
	static const struct {
		const char *name;
		unsigned rows, cols;
	} want[] = {{"wte.weight", 12096, 320}, {"wpe.weight", 1152, 320},
	        {"h.5.attn.c_attn.weight", 320, 960}, {"h.5.attn.c_attn.bias", 960, 0},
	        {"h.0.attn.c_proj.weight", 320, 320}, {"h.0.mlp.c_fc.weight", 320, 1280},
	        {"h.0.mlp.c_proj.weight", 1280, 320}, {"h.0.ln_1.weight", 320, 0},
	        {"h.0.ln_2.bias", 320, 0}, {"ln_f.weight", 320, 0}, {"ln_f.bias", 320, 0}};
	struct model *m = model_of("reference");

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const struct param *p = model_find(m, want[i].name);
		if (!p || p->shape[0] != want[i].rows || p->shape[1] != want[i].cols)
			fail_msg("%s: missing or of another shape", want[i].name);
	}
	model_free(m);
}

static void impossible_sizes_are_refused_with_a_reason(void **state)
{
	static const struct model_config bad[] = {{"", 0, 64, 64, 2, 2, 512},
	        {"", 1, 65, 64, 2, 2, 512}, {"", 1, 64, 60, 2, 2, 512}, {"", 1, 64, 64, 3, 2, 512},
	        {"", 1, 64, 64, 2, 0, 512}, {"", 1, 64, 64, 2, 65, 512}, {"", 1, 64, 64, 2, 2, 256},
	        {"", 1, 64, 64, 2, 2, 70000}, {"", 2000, 64, 64, 2, 2, 512},
	        {"", 56, 1152, 320, 10, 6, 12096}, {"", 1, 64, 128, 1, 2, 512}};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char why[256] = "";
		struct model *m;
		if (model_check(&bad[i], why, sizeof(why)) != -EINVAL || !why[0] ||
		        model_new(&m, &bad[i]) != -EINVAL)
			fail_msg("size %zu was not refused (%s)", i, why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_reference_has_11637760_parameters),
	        cmocka_unit_test(parameters_lie_one_behind_the_other_matrices_first),
	        cmocka_unit_test(names_and_shapes_are_those_of_hugging_face),
	        cmocka_unit_test(impossible_sizes_are_refused_with_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
