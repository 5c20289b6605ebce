/* test_plan_parse.c - what a plan file may not say: each with its code and the place named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "helper_plan.h"

static const char source[] =
        "kernel void k(float a, global float *x, uint n, local float *t)\n"
        "{ t[get_local_id(0)] = a; x[n] = t[0]; }\n"
        "kernel __attribute__((reqd_work_group_size(64, 1, 1))) void fixed(global float *x) { x[0] "
        "= 1; }\n"
        "struct S { int a, b; };\n"
        "kernel void by_struct(struct S s, global int *x) { *x = s.a + s.b; }\n";

#define DISPATCH(fields) "{\"format\":\"rx580-plan-1\",\"steps\":[{" fields "}]}"
#define ARGS(args)       DISPATCH("\"kernel\":\"m:k\",\"groups\":[1],\"group\":[64],\"args\":{" args "}")
#define GOOD             "\"a\":1.5,\"x\":\"buf\",\"n\":3,\"t\":{\"local\":256}"
#define ROOT(more)                                                                                 \
	"{\"format\":\"rx580-plan-1\"," more "\"steps\":[{\"kernel\":\"m:fixed\",\"groups\":[1],"  \
	"\"group\":[64],\"args\":{\"x\":\"buf\"}}]}"

static void mistakes_are_refused_with_code_and_place(void **state)
{
	static const struct {
		const char *json;
		int code;
		const char *says;
	} bad[] = {
	        {"{", -EINVAL, "line 1"},
	        {"[]", -EINVAL, "not a JSON object"},
	        {"{\"format\":\"rx580-plan-2\",\"steps\":[]}", -EINVAL, "format"},
	        {"{\"format\":\"rx580-plan-1\",\"steps\":[]}", -EINVAL, "steps"},
	        {"{\"format\":\"rx580-plan-1\"}", -EINVAL, "steps"},
	        {ROOT("\"colour\":1,"), -EINVAL, "colour: unknown key"},
	        {ROOT("\"step\":1,"), -EINVAL, "step: unknown key"},
	        {ROOT("\"input\":{},"), -EINVAL, "input"},
	        {ROOT("\"input\":{\"scalars\":65},"), -EINVAL, "input.scalars"},
	        {ROOT("\"input\":{\"ids\":-1},"), -EINVAL, "input.ids"},
	        {ROOT("\"deadline_s\":0,"), -EINVAL, "deadline_s"},
	        {ROOT("\"check\":{\"loss\":\"none\"},"), -ENOENT, "check.loss: buffers/none"},
	        {ROOT("\"check\":{\"loss\":\"buf+1022\"},"), -EINVAL, "check.loss"},
	        {ROOT("\"check\":{\"loss\":\"buf+2\"},"), -EINVAL, "multiple of 4"},
	        {ROOT("\"state\":[{\"name\":\"t\",\"at\":\"buf\",\"dtype\":\"F32\",\"shape\":[300]}"
	              "],"),
	                -EINVAL, "state[0].at"},
	        {ROOT("\"state\":[{\"name\":\"t\",\"at\":\"buf\",\"dtype\":\"F64\",\"shape\":[3]}]"
	              ","),
	                -EINVAL, "state[0].dtype"},
	        {ROOT("\"state\":[{\"name\":\"t\",\"at\":\"buf\",\"dtype\":\"U8\",\"shape\":[3]},"
	              "{\"name\":\"t\",\"at\":\"buf\",\"dtype\":\"U8\",\"shape\":[3]}],"),
	                -EINVAL, "state[1].name"},
	        {DISPATCH("\"kernel\":\"m\",\"groups\":[1],\"group\":[64]"), -EINVAL,
	                "steps[0].kernel"},
	        {DISPATCH("\"kernel\":\"none:k\",\"groups\":[1],\"group\":[64]"), -ENOENT,
	                "kernels/none.co"},
	        {DISPATCH("\"kernel\":\"m:none\",\"groups\":[1],\"group\":[64]"), -ENOENT,
	                "no kernel none"},
	        {DISPATCH("\"kernel\":\"m:k\",\"groups\":[0],\"group\":[64]"), -EINVAL,
	                "steps[0].groups[0]"},
	        {DISPATCH("\"kernel\":\"m:k\",\"groups\":[1,2,3,4],\"group\":[64]"), -EINVAL,
	                "steps[0].groups"},
	        {DISPATCH("\"kernel\":\"m:fixed\",\"groups\":[16777216,16777216,65536],"
	                  "\"group\":[64],\"args\":{\"x\":\"buf\"}"), /* 2^64 groups */
	                -EINVAL, "steps[0].groups"},
	        {DISPATCH("\"kernel\":\"m:fixed\",\"groups\":[1],\"group\":[32],\"args\":{\"x\":"
	                  "\"buf\"}"),
	                -EINVAL, "compiled for [64, 1, 1]"},
	        {DISPATCH("\"kernel\":\"m:fixed\",\"groups\":[1],\"group\":[1024,2],\"args\":{"
	                  "\"x\":\"buf\"}"),
	                -EINVAL, "work-items"},
	        {DISPATCH("\"kernel\":\"m:by_struct\",\"groups\":[1],\"group\":[1],\"args\":{\"s\":"
	                  "1,\"x\":\"buf\"}"),
	                -EINVAL, "steps[0].args.s"},
	        {ARGS("\"a\":1,\"x\":\"buf\",\"n\":3"), -EINVAL, "steps[0].args.t: missing"},
	        {ARGS(GOOD ",\"z\":1"), -EINVAL, "steps[0].args.z"},
	        {ARGS("\"a\":\"buf\",\"x\":\"buf\",\"n\":3,\"t\":{\"local\":256}"), -EINVAL,
	                "steps[0].args.a: a number"},
	        {ARGS("\"a\":1e300,\"x\":\"buf\",\"n\":3,\"t\":{\"local\":256}"), -EINVAL,
	                "does not fit a float"},
	        {ARGS("\"a\":1,\"x\":\"buf\",\"n\":-1,\"t\":{\"local\":256}"), -EINVAL,
	                "-1 does not fit a uint"},
	        {ARGS("\"a\":1,\"x\":\"buf\",\"n\":4294967296,\"t\":{\"local\":256}"), -EINVAL,
	                "does not fit a uint"},
	        {ARGS("\"a\":1,\"x\":\"buf\",\"n\":1.5,\"t\":{\"local\":256}"), -EINVAL,
	                "an integer"},
	        {ARGS("\"a\":1,\"x\":3,\"n\":1,\"t\":{\"local\":256}"), -EINVAL, "steps[0].args.x"},
	        {ARGS("\"a\":1,\"x\":\"buf+1024\",\"n\":1,\"t\":{\"local\":256}"), -EINVAL,
	                "beyond buffers/buf"},
	        {ARGS("\"a\":1,\"x\":\"buf+-4\",\"n\":1,\"t\":{\"local\":256}"), -EINVAL,
	                "decimal"},
	        {ARGS("\"a\":1,\"x\":\"buf+99999999999999999999\",\"n\":1,\"t\":{\"local\":256}"),
	                -EINVAL, "decimal"},
	        {ARGS("\"a\":1,\"x\":\"gone\",\"n\":1,\"t\":{\"local\":256}"), -ENOENT,
	                "buffers/gone"},
	        {ARGS("\"a\":1,\"x\":\"buf\",\"n\":1,\"t\":{\"local\":65537}"), -EINVAL,
	                "steps[0].args.t"},
	        {ARGS("\"a\":1,\"x\":\"buf\",\"n\":1,\"t\":256"), -EINVAL, "steps[0].args.t"},
	        {"{\"format\":\"rx580-plan-1\",\"steps\":[3]}", -EINVAL,
	                "steps[0]: a dispatch object"},
	        {"{\"format\":\"rx580-plan-1\",\"steps\":[\"barrier\"]}", -EINVAL,
	                "at least one dispatch"},
	};
	struct bench *b = *state;
	struct rx_info before, after;

	bench_module(b, "m", source);
	bench_buffer(b, "buf", 1024);
	rx_read_info(b->rx, &before);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		bench_refuse(b, bad[i].json, bad[i].code, bad[i].says);
	rx_read_info(b->rx, &after);
	assert_int_equal(after.vram_used, before.vram_used);
	assert_int_equal(rx_buffer_pins(rx_buffer_find(b->rx, "buf")), 0);
	assert_int_equal(rx_module_remove(b->kernels, "m"), 0); /* not pinned */
}

static void a_good_plan_pins_its_buffers_and_kernels_until_it_is_unloaded(void **state)
{
	struct bench *b = *state;

	bench_module(b, "m", source);
	struct rx_buffer *buf = bench_buffer(b, "buf", 1024);
	struct plan *p = bench_plan(b, "good", ARGS(GOOD));
	assert_int_equal(rx_buffer_pins(buf), 1);
	assert_int_equal(rx_buffer_resize(b->rx, buf, 2048), -EBUSY);
	assert_int_equal(rx_buffer_remove(b->rx, buf), -EBUSY);
	assert_int_equal(rx_module_remove(b->kernels, "m"), -EBUSY);
	assert_int_equal(plan_unload(p), 0);
	assert_int_equal(rx_buffer_pins(buf), 0);
	assert_int_equal(rx_buffer_remove(b->rx, buf), 0);
	assert_int_equal(rx_module_remove(b->kernels, "m"), 0);
}

static void everything_of_a_plan_is_listed_under_its_name(void **state)
{
	static const char spills[] =
	        "kernel void spills(global uint *x)\n"
	        "{ volatile uint t[64]; uint i = __builtin_amdgcn_workitem_id_x();\n"
	        "  for (uint k = 0; k < 64; k++) t[k] = x[k]; x[i] = t[63 - i]; }\n";
	struct bench *b = *state;
	struct rx_range ranges[32];
	unsigned found = 0;

	bench_module(b, "s", spills);
	bench_buffer(b, "buf", 1024);
	struct plan *p = bench_plan(b, "good",
	        "{\"format\":\"rx580-plan-1\",\"steps\":[{\"kernel\":\"s:spills\",\"groups\":[1],"
	        "\"group\":[64],\"args\":{\"x\":\"buf\"}}]}");
	size_t n = rx_maps(b->rx, ranges, ARRAY_SIZE(ranges));
	for (size_t i = 0; i < MIN(n, ARRAY_SIZE(ranges)); i++)
		if (!strcmp(ranges[i].name, "plans/good") && ranges[i].kind == 'p')
			found++;
	assert_int_equal(found, 2); /* packets and data; scratch */
	assert_int_equal(plan_unload(p), 0);
}

static void full_vram_leaves_nothing_behind(void **state)
{
	struct bench *b = *state;
	struct rx_info before, after;
	struct plan *p;
	uint64_t offset;
	char why[256];

	bench_module(b, "m", source);
	bench_buffer(b, "buf", 1024);
	rx_read_info(b->rx, &before);
	uint64_t hole = 200ull << 20; /* leave less of the window than a ring takes */
	while (hole >= 4096) {
		while (rx_alloc(b->rx, "filler", hole, RX_IN_WINDOW, &offset) == 0)
			;
		hole /= 2;
	}
	rx_read_info(b->rx, &before);
	assert_int_equal(plan_load(&p, b->rx, b->kernels, "big", ARGS(GOOD), strlen(ARGS(GOOD)),
	                         why, sizeof(why)),
	        -ENOSPC);
	rx_read_info(b->rx, &after);
	assert_int_equal(after.vram_used, before.vram_used);
}

static void the_packets_are_decoded_with_register_names(void **state)
{
	struct bench *b = *state;
	char *text;

	bench_module(b, "m", source);
	bench_buffer(b, "buf", 1024);
	struct plan *p = bench_plan(b, "good", ARGS(GOOD));
	assert_int_equal(plan_pm4_text(p, &text), 0);
	static const char *const want[] = {"WAIT_REG_MEM", "COMPUTE_PGM_LO",
	        "DISPATCH_DIRECT 1 x 1 x 1 groups", "RELEASE_MEM", "HDP_DEBUG0 = 00000001",
	        "GPU_HDP_FLUSH_REQ"};
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		if (!strstr(text, want[i]))
			fail_msg("expected \"%s\" in:\n%s", want[i], text);
	if (strstr(text, "not a packet"))
		fail_msg("undecodable packet in:\n%s", text);
	free(text);
	assert_int_equal(plan_unload(p), 0);
}

static void a_flood_of_values_is_refused_before_it_is_parsed(void **state)
{
	const size_t values = 1u << 20;
	RX_CLEANUP(free) char *json = malloc(2 * values + 1);

	assert_non_null(json);
	for (size_t i = 0; i < values; i++)
		memcpy(json + 2 * i, "1,", 2);
	json[2 * values] = '\0';
	bench_refuse(*state, json, -EINVAL, "more than 262144 values");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, bench_open, bench_close)
	const struct CMUnitTest tests[] = {
	        T(mistakes_are_refused_with_code_and_place),
	        T(a_good_plan_pins_its_buffers_and_kernels_until_it_is_unloaded),
	        T(everything_of_a_plan_is_listed_under_its_name),
	        T(full_vram_leaves_nothing_behind),
	        T(the_packets_are_decoded_with_register_names),
	        T(a_flood_of_values_is_refused_before_it_is_parsed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
