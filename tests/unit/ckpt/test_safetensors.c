/* test_safetensors.c - headers are built as they are parsed, and every lie in one is found. */
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
#include "device/ckpt/safetensors.h"

/* A whole header from JSON text. Caller frees. */
static uint8_t *header(const char *json, size_t *len)
{
	size_t n = strlen(json);
	uint8_t *h = malloc(8 + n);

	assert_non_null(h);
	put_le64(h, n);
	memcpy(h + 8, json, n);
	*len = 8 + n;
	return h;
}

static int parse(const char *json, uint64_t data_bytes, char why[256])
{
	struct st_file *f = NULL;
	size_t len;
	uint8_t *h = header(json, &len);
	int err = st_parse(h, len, len + data_bytes, &f, why, 256);

	st_free(f);
	free(h);
	return err;
}

static void a_built_header_parses_to_the_same_tensors(void **state)
{
	struct st_tensor t[2] = {
	        {.name = "wte.weight", .dtype = "F32", .ndims = 2, .shape = {3, 5}},
	        {.name = "ids", .dtype = "U16", .ndims = 1, .shape = {7}}};
	struct st_meta meta = {(char[]){"step"}, (char[]){"12"}};
	struct st_file *f;
	uint8_t *h;
	size_t len;
	char why[256];

	(void)state;
	assert_int_equal(st_build(t, 2, &meta, 1, &h, &len), 0);
	assert_int_equal(len % 8, 0);
	assert_int_equal(st_parse_length(h), len);
	assert_int_equal(st_parse(h, len, len + 60 + 14, &f, why, sizeof(why)), 0);
	assert_int_equal(f->ntensors, 2);
	assert_string_equal(f->tensors[0].name, "wte.weight");
	assert_int_equal(f->tensors[1].begin, 60);
	assert_int_equal(f->tensors[1].end, 74);
	assert_string_equal(st_meta_get(f, "step"), "12");
	assert_null(st_meta_get(f, "absent"));
	assert_null(st_find(f, "absent"));
	st_free(f);
	free(h);
}

static void lies_are_refused_with_the_tensor_named(void **state)
{
	static const struct {
		const char *json;
		uint64_t data;
		const char *says;
	} lies[] = {
	        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4,
	                "shape and data_offsets"},
	        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 8,
	                "data bytes"},
	        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8, "gap"},
	        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
	         "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
	                4, "overlap"},
	        {"{\"a\":{\"dtype\":\"F33\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "dtype"},
	        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4, "shape"},
	        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,"
	         "0]}}",
	                0, "disagree"},
	        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4,
	                "data_offsets"},
	        {"{\"__metadata__\":{\"step\":3}}", 0, "not a string"},
	        {"[]", 0, "not a JSON object"},
	        {"{\"a\":", 0, "JSON"},
	};
	char why[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		why[0] = '\0';
		int err = parse(lies[i].json, lies[i].data, why);
		if (err != -EINVAL || !strstr(why, lies[i].says))
			fail_msg("%s: expected EINVAL and \"%s\", got %d and \"%s\"", lies[i].json,
			        lies[i].says, err, why);
	}
}

static void impossible_length_words_are_refused(void **state)
{
	uint8_t head[8];
	const uint64_t bad[] = {0, 1, ST_MAX_HEADER + 1, UINT64_MAX, 1ull << 63};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		put_le64(head, bad[i]);
		if (st_parse_length(head) != -EINVAL)
			fail_msg("length %llu: expected EINVAL", (unsigned long long)bad[i]);
	}
}

static void an_undeclared_file_size_is_taken_from_the_tensors(void **state)
{
	struct st_file *f;
	size_t len;
	char why[256];
	uint8_t *h =
	        header("{\"a\":{\"dtype\":\"U8\",\"shape\":[9],\"data_offsets\":[0,9]}}", &len);

	(void)state;
	assert_int_equal(st_parse(h, len, ST_SIZE_AS_DECLARED, &f, why, sizeof(why)), 0);
	assert_int_equal(f->data_size, 9);
	st_free(f);
	free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_built_header_parses_to_the_same_tensors),
	        cmocka_unit_test(lies_are_refused_with_the_tensor_named),
	        cmocka_unit_test(impossible_length_words_are_refused),
	        cmocka_unit_test(an_undeclared_file_size_is_taken_from_the_tensors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
