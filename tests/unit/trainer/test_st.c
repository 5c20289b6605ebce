/* test_st.c - safetensors: what is built is read again, and every lie is found and named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/trainer/helper_dir.h"
#include "trainer/st.h"

/* A file from JSON text and a number of data bytes. */
static int parse(const char *json, uint64_t data, char *why)
{
	size_t n = strlen(json);
	uint8_t *head = calloc(1, 8 + n);
	struct st_header h;

	head[0] = (uint8_t)n;
	head[1] = (uint8_t)(n >> 8);
	memcpy(head + 8, json, n);
	int err = st_parse(&h, head, 8 + n, 8 + n + data, why, 256);
	st_free(&h);
	free(head);
	return err;
}

static void what_is_built_is_read_again(void **state)
{
	const unsigned shape[2] = {3, 5};
	struct st_tensor t[2] = {
	        st_float("", "wte.weight", 2, shape), st_float("x.", "b", 1, shape)};
	const char *const meta[] = {"step", "12", NULL};
	struct st_header h;
	uint8_t *head;
	size_t len;
	char why[256];

	(void)state;
	assert_int_equal(st_build(t, 2, meta, &head, &len), 0);
	assert_int_equal(len % 8, 0);
	assert_int_equal(st_header_size(head), len);
	assert_int_equal(st_parse(&h, head, len, len + 72, why, sizeof(why)), 0);
	assert_int_equal(h.ntensors, 2);
	assert_int_equal(h.step, 12);
	assert_int_equal(h.header_size, len);
	const struct st_tensor *b = st_find(&h, "x.b");
	assert_non_null(b);
	assert_int_equal(b->begin, 60);
	assert_int_equal(b->end, 72);
	assert_int_equal(b->ndims, 1);
	assert_int_equal(b->shape[0], 3);
	assert_string_equal(b->dtype, "F32");
	assert_null(st_find(&h, "x.c"));
	st_free(&h);
	free(head);
}

#define GOOD "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}"

static void every_lie_is_named(void **state)
{
	static const struct {
		const char *json, *why;
		uint64_t data;
	} lies[] = {
	        {"{" GOOD "}", "truncated", 7},
	        {"{" GOOD "}", "behind the last tensor", 9},
	        {"{" GOOD, "no JSON", 8},
	        {"[1]", "no JSON object of tensors", 8},
	        {"{" GOOD "," GOOD "}", "no JSON", 8},
	        {"{\"a\":{\"dtype\":\"F33\",\"shape\":[2],\"data_offsets\":[0,8]}}", "dtype", 8},
	        {"{\"a\":{\"dtype\":4,\"shape\":[2],\"data_offsets\":[0,8]}}", "dtype", 8},
	        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}", "shape asks",
	                8},
	        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", "shape", 8},
	        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,"
	         "8]}}",
	                "impossible shape", 8},
	        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,2],\"data_offsets\":[0,8]}}",
	                "shape", 8},
	        {"{\"a\":{\"dtype\":\"F32\",\"shape\":2,\"data_offsets\":[0,8]}}", "shape", 8},
	        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", "data_offsets",
	                8},
	        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0]}}", "data_offsets",
	                8},
	        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", "data_offsets", 8},
	        {"{\"a\":7}", "bad name or entry", 8},
	        {"{\"\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", "bad name", 8},
	        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}", "gap", 12},
	        {"{" GOOD ",\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}",
	                "overlap", 12},
	        {"{" GOOD ",\"__metadata__\":{\"step\":\"-1\"}}", "no number", 8},
	        {"{" GOOD ",\"__metadata__\":{\"step\":\"1x\"}}", "no number", 8},
	        {"{" GOOD ",\"__metadata__\":{\"step\":1}}", "no string", 8},
	        {"{" GOOD ",\"__metadata__\":[]}", "no object", 8},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		char why[256] = "";
		int err = parse(lies[i].json, lies[i].data, why);
		if (err != -EINVAL || !strstr(why, lies[i].why))
			fail_msg("%s: expected -EINVAL and \"%s\", got %d and \"%s\"", lies[i].json,
			        lies[i].why, err, why);
	}
}

static void files_end_where_they_say(void **state)
{
	char *dir = dir_new(), why[256];
	struct st_header h;
	static const struct {
		const char *data;
		size_t len;
	} files[] = {{"", 0}, {"\x10\0\0\0\0", 5}, {"\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10},
	        {"\0\0\0\0\0\0\0\0", 8}, {"\x40\0\0\0\0\0\0\0{\"a\":", 13}};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		dir_write(dir, "x", files[i].data, files[i].len);
		int fd = open(dir_path(dir, "x"), O_RDONLY | O_CLOEXEC);
		why[0] = '\0';
		int err = st_read(&h, fd, why, sizeof(why));
		close(fd);
		if (err != -EINVAL || !why[0])
			fail_msg("file %zu: expected -EINVAL and a reason, got %d", i, err);
	}
	dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_is_built_is_read_again),
	        cmocka_unit_test(every_lie_is_named),
	        cmocka_unit_test(files_end_where_they_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
