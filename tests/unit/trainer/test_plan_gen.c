/* test_plan_gen.c - every plan names kernels, arguments and places that exist: compared with what
 * llvm-readelf says about the built code objects, and with the sizes of the buffers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <stdbool.h>

#include "trainer/plan_gen.h"

#define MAX_ARGS 24

/* One kernel as the code object describes it. */
struct kernel {
	char name[128];
	struct {
		char name[64];
		bool pointer;
	} args[MAX_ARGS];
	unsigned nargs, group; /* group: of reqd_workgroup_size, all dimensions */
};

static struct kernel kernels[128];
static unsigned nkernels;

/* "key: value" at exactly @indent blanks, or "- key: value" two less. NULL: another line. */
static const char *field(const char *line, size_t indent, const char *key)
{
	size_t n = strspn(line, " ");
	const char *at = line + n;

	if (n + 2 == indent && at[0] == '-' && at[1] == ' ')
		at += 2;
	else if (n != indent)
		return NULL;
	if (strncmp(at, key, strlen(key)))
		return NULL;
	at += strlen(key);
	at += strspn(at, " ");
	return strncmp(at, "!str ", 5) ? at : at + 5; /* YAML's way to write y and n */
}

static void copy_word(char *out, size_t size, const char *word)
{
	snprintf(out, size, "%.*s", (int)strcspn(word, " \n"), word);
}

/* One line of "llvm-readelf --notes": kernels at indent 4, their arguments at 8. */
static void take_line(const char *module, const char *line, bool *group_follows)
{
	struct kernel *k = nkernels ? &kernels[nkernels - 1] : NULL;
	const char *v;

	if (field(line, 4, ".args:")) {
		assert_true(nkernels < 128);
		kernels[nkernels++] = (struct kernel){.group = 1};
	} else if (k && field(line, 8, ".address_space:")) {
		k->args[k->nargs].pointer = true;
	} else if (k && (v = field(line, 8, ".name:"))) {
		copy_word(k->args[k->nargs].name, sizeof(k->args[0].name), v);
	} else if (k && field(line, 8, ".value_kind:")) {
		assert_true(++k->nargs < MAX_ARGS);
	} else if (k && (v = field(line, 4, ".name:"))) {
		int n = snprintf(k->name, sizeof(k->name), "%s:", module);
		copy_word(k->name + n, sizeof(k->name) - (size_t)n, v);
	}
	if (strstr(line, ".reqd_workgroup_size:"))
		*group_follows = true;
	else if (k && *group_follows && (v = strchr(line, '-')) && strspn(v + 1, " 0123456789"))
		k->group *= (unsigned)strtoul(v + 1, NULL, 10);
	else
		*group_follows = false;
}

/* Return: whether the module could be read. */
static bool read_module(const char *module)
{
	char command[512], tool[256], line[512];
	bool group_follows = false;
	FILE *f;

	/* the reader lies beside llvm-objdump and has the same version suffix */
	const char *version = strstr(RX_OBJDUMP, "objdump");
	snprintf(tool, sizeof(tool), "%.*sreadelf%s", (int)(version - RX_OBJDUMP), RX_OBJDUMP,
	        version + strlen("objdump"));
	snprintf(command, sizeof(command), "%s --notes " RX_BINARY_DIR "/kernels/%s.co", tool,
	        module);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f))
		take_line(module, line, &group_follows);
	return f && pclose(f) == 0;
}

static int read_all(void **state)
{
	static const char *const modules[] = {"matmul", "attention", "layernorm", "embed",
	        "cross_entropy", "reduce", "adamw", "init"};

	(void)state;
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (!read_module(modules[i]))
			return -1;
	return 0;
}

static const struct kernel *find(const char *name)
{
	for (unsigned i = 0; i < nkernels; i++)
		if (!strcmp(kernels[i].name, name))
			return &kernels[i];
	fail_msg("no kernel %s in the built code objects", name);
	return NULL;
}

/* "PREFIX.buffer+bytes" lies inside the buffer. */
static void expect_place(const struct model *m, const char *where, const char *place)
{
	const struct {
		const char *name;
		uint64_t floats;
	} buffers[] = {{"p.params", m->nfloats}, {"p.grads", m->nfloats}, {"p.m", m->nfloats},
	        {"p.v", m->nfloats}, {"p.acts", m->nacts}, {"p.small", m->nsmall}};
	size_t len = strcspn(place, "+");

	for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
		if (len != strlen(buffers[i].name) || strncmp(place, buffers[i].name, len))
			continue;
		unsigned long long at = place[len] ? strtoull(place + len + 1, NULL, 10) : 0;
		if (at >= buffers[i].floats * 4 || at % 4)
			fail_msg("%s: %s is outside its %llu bytes", where, place,
			        (unsigned long long)buffers[i].floats * 4);
		return;
	}
	fail_msg("%s: no buffer %s", where, place);
}

static void expect_argument(
        const struct model *m, const struct kernel *k, const char *name, const json_t *value)
{
	for (unsigned i = 0; i < k->nargs; i++) {
		if (strcmp(k->args[i].name, name))
			continue;
		if (k->args[i].pointer != json_is_string(value))
			fail_msg("%s: argument %s is of the other kind", k->name, name);
		if (json_is_string(value) && json_string_value(value)[0] != '@')
			expect_place(m, k->name, json_string_value(value));
		if (json_is_integer(value) &&
		        (json_integer_value(value) < 0 || json_integer_value(value) > UINT32_MAX))
			fail_msg("%s: argument %s does not fit 32 bits", k->name, name);
		return;
	}
	fail_msg("%s has no argument %s", k->name, name);
}

static void expect_dispatch(const struct model *m, const json_t *d)
{
	const struct kernel *k = find(json_string_value(json_object_get(d, "kernel")));
	json_t *args = json_object_get(d, "args"), *value;
	const char *name;
	uint64_t group = 1;
	size_t i;

	json_array_foreach(json_object_get(d, "group"), i, value) group *=
	        (uint64_t)json_integer_value(value);
	if (group != k->group)
		fail_msg("%s: expected groups of %u, got %llu", k->name, k->group,
		        (unsigned long long)group);
	json_array_foreach(json_object_get(d, "groups"), i, value)
	        assert_in_range(json_integer_value(value), 1, 1 << 20);
	if (json_object_size(args) != k->nargs)
		fail_msg("%s: expected %u arguments, got %zu", k->name, k->nargs,
		        json_object_size(args));
	json_object_foreach(args, name, value) expect_argument(m, k, name, value);
}

static void expect_plan(const struct model *m, char *text, bool input, size_t updates, size_t state)
{
	json_error_t at;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &at), *step;
	size_t i;

	free(text);
	if (!root)
		fail_msg("line %d: %s", at.line, at.text);
	assert_string_equal(json_string_value(json_object_get(root, "format")), "rx580-plan-1");
	assert_int_equal(json_object_get(root, "input") != NULL, input);
	assert_in_range(json_array_size(json_object_get(root, "steps")), 1, 4096);
	json_array_foreach(json_object_get(root, "steps"), i, step) if (json_is_object(step))
	        expect_dispatch(m, step);
	else assert_string_equal(json_string_value(step), "barrier");
	assert_int_equal(json_array_size(json_object_get(root, "update")), updates);
	json_array_foreach(json_object_get(root, "update"), i, step) expect_dispatch(m, step);
	assert_int_equal(json_array_size(json_object_get(root, "state")), state);
	json_array_foreach(json_object_get(root, "state"), i, step)
	        expect_place(m, "state", json_string_value(json_object_get(step, "at")));
	json_decref(root);
}

static void every_kernel_and_argument_of_every_plan_exists(void **state)
{
	const struct train_settings s = {0.9, 0.95, 1e-8, 0.1, 1, 60};
	struct model_config configs[4] = {
	        {"odd", 3, 128, 96, 6, 1, 300}, {"wide", 2, 64, 128, 2, 3, 999}};

	(void)state;
	assert_int_equal(model_preset(&configs[2], "tiny"), 0);
	assert_int_equal(model_preset(&configs[3], "reference"), 0);
	for (size_t i = 0; i < 4; i++) {
		struct model *m;
		assert_int_equal(model_new(&m, &configs[i]), 0);
		expect_plan(m, plan_init(m, "p", UINT64_MAX), false, 0, 0);
		expect_plan(m, plan_train(m, "p", &s), true, 1, 3 * m->nparams);
		expect_plan(m, plan_eval(m, "p", 0), true, 0, m->nparams);
		expect_plan(m, plan_sample(m, "p", 60), true, 0, m->nparams);
		model_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_kernel_and_argument_of_every_plan_exists),
	};

	if (!RX_OBJDUMP[0] || strstr(RX_OBJDUMP, "NOTFOUND"))
		return 77; /* no llvm tools: skipped */
	return cmocka_run_group_tests(tests, read_all, NULL);
}
