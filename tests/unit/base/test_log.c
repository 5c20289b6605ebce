/* test_log.c - what a line of the log leaves alone, and where it goes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "device/err.h"

static char seen[256];

static void failing_sink(void *ctx, enum log_level level, const char *line, int len)
{
	(void)ctx;
	(void)level;
	memcpy(seen, line, (size_t)len + 1);
	errno = EPIPE;
}

static void a_failing_sink_does_not_change_the_code_returned(void **state)
{
	(void)state;
	rx_log_set_stderr(false);
	rx_log_set_sink(failing_sink, NULL);
	errno = ENOENT;
	assert_int_equal(rx_fail("test", -errno, "%s: %s", "file", "gone"), -ENOENT);
	assert_string_equal(seen, "test: error: file: gone\n");
	rx_log_set_sink(NULL, NULL);
}

static void the_last_error_stays_until_the_next(void **state)
{
	char line[64];

	(void)state;
	rx_log_set_stderr(false);
	rx_log(LOG_ERROR, "test", "first");
	rx_log(LOG_WARN, "test", "no error");
	rx_log_last_error(line, sizeof(line));
	assert_string_equal(line, "test: error: first");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_failing_sink_does_not_change_the_code_returned),
	        cmocka_unit_test(the_last_error_stays_until_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
