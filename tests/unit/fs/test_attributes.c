/* test_attributes.c - attributes of buffers as values and as bytes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fs/attributes.h"

#define DTYPE "user.rx580.dtype"
#define SHAPE "user.rx580.shape"

static void values_are_set_and_removed(void **state)
{
	struct attributes a = {0};
	char much[ATTRIBUTE_BYTES + 1];

	(void)state;
	memset(much, 'x', sizeof(much));
	assert_int_equal(attributes_set(&a, DTYPE, "f32", 3), 0);
	assert_string_equal(attributes_get(&a, DTYPE), "f32");
	assert_null(attributes_get(&a, SHAPE));
	assert_int_equal(attributes_set(&a, "user.other", "x", 1), -EOPNOTSUPP);
	assert_int_equal(attributes_set(&a, DTYPE, "a\0b", 3), -EINVAL);
	assert_int_equal(attributes_set(&a, DTYPE, much, sizeof(much)), -EINVAL);
	assert_int_equal(attributes_set(&a, DTYPE, much, ATTRIBUTE_BYTES), 0);
	assert_int_equal(attributes_set(&a, DTYPE, NULL, 0), 0);
	assert_int_equal(attributes_set(&a, DTYPE, NULL, 0), -ENODATA);
	attributes_free(&a);
}

static void bytes_give_the_same_values(void **state)
{
	struct attributes a = {0}, b = {0};
	struct text t = {0};

	(void)state;
	assert_int_equal(attributes_set(&a, DTYPE, "", 0), 0);
	assert_int_equal(attributes_set(&a, SHAPE, "3,\n4", 4), 0);
	attributes_pack(&a, &t);
	assert_int_equal(attributes_unpack(&b, t.data, t.len), 0);
	assert_string_equal(attributes_get(&b, DTYPE), "");
	assert_string_equal(attributes_get(&b, SHAPE), "3,\n4");
	attributes_free(&b);
	/* cut anywhere but between two of them, they are refused, and nothing is left set */
	for (size_t n = 1; n < t.len; n++) {
		int err = attributes_unpack(&b, t.data, n);

		assert_int_equal(err, n == sizeof(DTYPE) + 1 ? 0 : -EBADMSG);
		if (err)
			assert_null(attributes_get(&b, DTYPE));
		attributes_free(&b);
	}
	assert_int_equal(attributes_unpack(&b, "user.other\0x", 13), -EBADMSG);
	attributes_free(&a);
	text_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(values_are_set_and_removed),
	        cmocka_unit_test(bytes_give_the_same_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
