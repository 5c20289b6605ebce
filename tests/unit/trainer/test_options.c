/* test_options.c - the command line. */
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

#include "trainer/options.h"

static int parse(struct options *o, char *line)
{
	static char *argv[32]; /* the options keep pointers into it */
	int argc = 1, err, keep = dup(2), null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	argv[0] = "trainer";
	for (char *w = strtok(line, " "); w && argc < 31; w = strtok(NULL, " "))
		argv[argc++] = w;
	dup2(null, 2);
	err = options_parse(o, argc, argv);
	dup2(keep, 2);
	close(keep);
	close(null);
	return err;
}

static void defaults_are_tiny_on_the_common_licenses(void **state)
{
	char line[] = "--gpu /mnt";
	struct options o;

	(void)state;
	assert_int_equal(parse(&o, line), 0);
	assert_int_equal(o.command, CMD_TRAIN);
	assert_null(o.preset);
	assert_int_equal(o.ndata, 1);
	assert_string_equal(o.data[0], "/usr/share/common-licenses");
	assert_false(o.resume);
}

static void every_option_arrives(void **state)
{
	char line[] =
	        "--gpu /mnt --preset reference --data a b c --steps 7 --seed 18446744073709551615 "
	        "--batch 2 --lr 1e-3 --save-every 3 --eval-every 4 --out o --log l --kernels k "
	        "--resume --keep",
	     sampling[] = "sample --gpu /mnt --checkpoint c --prompt p --tokens 5 --temperature 0 "
	                  "--top-k 3";
	struct options o;

	(void)state;
	assert_int_equal(parse(&o, line), 0);
	assert_int_equal(o.ndata, 3);
	assert_string_equal(o.data[2], "c");
	assert_int_equal(o.steps, 7);
	assert_true(o.seed == UINT64_MAX);
	assert_int_equal(o.batch, 2);
	assert_true(o.lr == 1e-3);
	assert_int_equal(o.save_every, 3);
	assert_int_equal(o.eval_every, 4);
	assert_true(o.resume && o.keep);
	assert_int_equal(parse(&o, sampling), 0);
	assert_int_equal(o.command, CMD_SAMPLE);
	assert_int_equal(o.tokens, 5);
	assert_true(o.temperature == 0);
	assert_int_equal(o.top_k, 3);
}

static void nonsense_is_refused(void **state)
{
	static const char *const lines[] = {"", "--steps 5", "--gpu", "--gpu /m --steps 0",
	        "--gpu /m --steps -1", "--gpu /m --steps 5x", "--gpu /m --lr nan",
	        "--gpu /m --lr -1", "--gpu /m --batch 0", "--gpu /m --frobnicate 1",
	        "--gpu /m --frobnicate", "--gpu /m word", "sample --gpu /m", "plan", "plan frob",
	        "--gpu /m --seed 18446744073709551616"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char line[128];
		struct options o;
		snprintf(line, sizeof(line), "%s", lines[i]);
		if (parse(&o, line) != -EINVAL)
			fail_msg("\"%s\" was accepted", lines[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(defaults_are_tiny_on_the_common_licenses),
	        cmocka_unit_test(every_option_arrives),
	        cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
