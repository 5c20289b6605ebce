/* The parts of fs/ that know nothing of FUSE: verbs, texts, growing files, options, names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/bytes.h"
#include "device/name.h"
#include "fs/growing.h"
#include "fs/options.h"
#include "fs/paths.h"
#include "fs/text.h"
#include "fs/tree.h"
#include "fs/verbs.h"

static char called[256];

static int note(void *ctx, int argc, char **argv)
{
	strcat(called, ctx);
	for (int i = 0; i < argc; i++) {
		strcat(called, ",");
		strcat(called, argv[i]);
	}
	strcat(called, ";");
	return 0;
}

static int refuse(void *ctx, int argc, char **argv)
{
	(void)ctx, (void)argc, (void)argv;
	return -EBUSY;
}

static const struct verb table[] = {
        {"reset soft", 0, 0, note, "reset soft", ""},
        {"level", 1, 2, note, "level [MODULE] N", "set it"},
        {"busy", 0, 0, refuse, "busy", ""},
        {0},
};

static int run(const char *text)
{
	size_t done = 0;

	called[0] = '\0';
	return verbs_run(table, "x", text, strlen(text), &done);
}

static void verbs_match_words_and_count_arguments(void **state)
{
	(void)state;
	assert_int_equal(run("reset soft\n"), 0);
	assert_string_equal(called, "x;");
	assert_int_equal(run("  level  a   3 \n\nlevel 4"), 0);
	assert_string_equal(called, "x,a,3;x,4;");
	assert_int_equal(run("reset\n"), -EINVAL);
	assert_int_equal(run("reset softly\n"), -EINVAL);
	assert_int_equal(run("reset soft now\n"), -EINVAL);
	assert_int_equal(run("level\n"), -EINVAL);
	assert_int_equal(run("level 1 2 3\n"), -EINVAL);
	assert_int_equal(run("level 1 2 3 4 5 6 7 8 9 10 11\n"), -EINVAL);
	size_t done = 0;

	assert_int_equal(verbs_run(table, "x", "reset\0soft", 10, &done), -EINVAL);
	assert_int_equal(done, 0);
}

static void the_first_bad_line_stops_with_its_error(void **state)
{
	(void)state;
	assert_int_equal(run("level 1\nbusy\nlevel 2\n"), -EBUSY);
	assert_string_equal(called, "x,1;");
}

static void help_lists_every_verb(void **state)
{
	struct text t = {0};

	(void)state;
	verbs_help(table, &t);
	assert_non_null(strstr(t.data, "level [MODULE] N"));
	assert_non_null(strstr(t.data, "set it\n"));
	text_free(&t);
	assert_null(t.data);
}

static void text_grows_and_hashes(void **state)
{
	struct text t = {0};

	(void)state;
	for (int i = 0; i < 1000; i++)
		text_key(&t, "key", "%04d", i);
	assert_int_equal(t.len, 9000);
	assert_memory_equal(t.data + 8991, "key 0999\n", 9);
	uint64_t h = text_hash(t.data, t.len);

	t.data[0] = 'K';
	assert_true(h != text_hash(t.data, t.len));
	text_free(&t);
}

static void growing_keeps_offsets_and_restarts_at_its_limit(void **state)
{
	struct growing g;
	char buf[16];

	(void)state;
	growing_init(&g, 10);
	growing_append(&g, "abcd", 4);
	growing_append(&g, "efgh", 4);
	assert_int_equal(growing_size(&g), 8);
	assert_int_equal(growing_read(&g, 6, buf, sizeof(buf)), 2);
	assert_memory_equal(buf, "gh", 2);
	assert_int_equal(growing_read(&g, 8, buf, sizeof(buf)), 0);
	growing_append(&g, "ijk", 3);
	assert_int_equal(growing_size(&g), 3);
	assert_int_equal(growing_read(&g, 0, buf, sizeof(buf)), 3);
	assert_memory_equal(buf, "ijk", 3);
	growing_fini(&g);
}

static int parse(struct options *o, const char *line)
{
	static char copy[512];
	char *argv[16] = {"rx580fs"}, *save = NULL;
	int argc = 1;

	strcpy(copy, line);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	return options_parse(o, argc, argv);
}

static void options_of_a_plain_start(void **state)
{
	struct options o;

	(void)state;
	assert_int_equal(parse(&o, "--card virtual,realtime -f -o ro,umask=027,uid=7 /mnt"), 0);
	assert_string_equal(o.card, "virtual,realtime");
	assert_string_equal(o.mountpoint, "/mnt");
	assert_true(o.foreground && o.read_only);
	assert_int_equal(o.umask, 027);
	assert_int_equal(o.uid, 7);
	assert_int_equal(o.gid, getgid());
	assert_int_equal(parse(&o, "--card=usb --run=true"), 0);
	assert_string_equal(o.card, "usb");
	assert_string_equal(o.run, "true");
}

static void options_as_mount_helper(void **state)
{
	struct options o;

	(void)state;
	assert_int_equal(
	        parse(&o, "none /mnt -o rw,user,noauto,_netdev,nofail,x-systemd.idle=1"), 0);
	assert_string_equal(o.mountpoint, "/mnt");
	assert_false(o.read_only);
	assert_int_equal(parse(&o, "-t fuse.rx580fs none /mnt -oallow_other"), 0);
	assert_true(o.allow_other);
}

/* The daemon leaves its folder and opens these again. */
static void paths_hold_in_any_folder(void **state)
{
	static const struct {
		const char *line, *before, *after; /* NULL: the card stays as it is */
	} cases[] = {
	        {"--card replay:a/b /mnt", "replay:", "/a/b"},
	        {"--card usbip:unix:s /mnt", "usbip:unix:", "/s"},
	        {"--card virtual,posted,vbios=a.rom,vram=64 /mnt",
	                "virtual,posted,vbios=", "/a.rom,vram=64"},
	        {"--card virtual,vbios=/a.rom /mnt", NULL, NULL},
	        {"--card usbip:host:3240 /mnt", NULL, NULL},
	        {"--card virtual /mnt", NULL, NULL},
	};
	char here[4096], want[5000];

	(void)state;
	assert_non_null(getcwd(here, sizeof(here)));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct options o;

		assert_int_equal(parse(&o, cases[i].line), 0);
		const char *given = o.card;

		assert_int_equal(paths_make_absolute(&o), 0);
		if (!cases[i].before) {
			assert_ptr_equal(o.card, given);
			continue;
		}
		snprintf(want, sizeof(want), "%s%s%s", cases[i].before, here, cases[i].after);
		assert_string_equal(o.card, want);
		free((char *)o.card);
	}
}

static void vbios_and_microcode_hold_in_any_folder(void **state)
{
	char here[4096], want[5000];
	struct options o;

	(void)state;
	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(parse(&o, "--vbios board.rom --firmware /lib/f /mnt"), 0);
	assert_int_equal(paths_make_absolute(&o), 0);
	snprintf(want, sizeof(want), "%s/board.rom", here);
	assert_string_equal(o.vbios, want);
	assert_string_equal(o.firmware, "/lib/f");
	free((char *)o.vbios);
	assert_int_equal(parse(&o, "-f --vbios board.rom /mnt"), 0);
	assert_int_equal(paths_make_absolute(&o), 0);
	assert_string_equal(o.vbios, "board.rom"); /* in the foreground it stays here */
}

static void temporary_folders_hold_in_any_folder(void **state)
{
	char here[4096], want[5000];
	struct options o;

	(void)state;
	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(setenv("TMPDIR", "tmp", 1), 0);
	assert_int_equal(parse(&o, "--run true"), 0);
	assert_int_equal(paths_make_absolute(&o), 0);
	snprintf(want, sizeof(want), "%s/tmp", here);
	assert_string_equal(getenv("TMPDIR"), want);
	assert_int_equal(paths_make_absolute(&o), 0);
	assert_string_equal(getenv("TMPDIR"), want);
	unsetenv("TMPDIR");
}

static void bad_options_are_refused(void **state)
{
	static const char *const bad[] = {"", "--frobnicate /mnt", "-o frob /mnt", "-o uid=x /mnt",
	        "-o umask=9 /mnt", "a b c", "--run true /mnt", "--card", "-o uid=-1 /mnt"};
	struct options o;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse(&o, bad[i]) != -EINVAL)
			fail_msg("expected \"%s\" to be refused", bad[i]);
}

static void names_are_checked(void **state)
{
	(void)state;
	assert_true(rx_name_ok("a", 1));
	assert_true(rx_name_ok("A-z_0.9", 7));
	assert_false(rx_name_ok("", 0));
	assert_false(rx_name_ok(".a", 2));
	assert_false(rx_name_ok("a b", 3));
	assert_false(rx_name_ok("a/b", 3));
	char longest[66];

	memset(longest, 'n', sizeof(longest));
	assert_true(rx_name_ok(longest, 64));
	assert_false(rx_name_ok(longest, 65));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(verbs_match_words_and_count_arguments),
	        cmocka_unit_test(the_first_bad_line_stops_with_its_error),
	        cmocka_unit_test(help_lists_every_verb),
	        cmocka_unit_test(text_grows_and_hashes),
	        cmocka_unit_test(growing_keeps_offsets_and_restarts_at_its_limit),
	        cmocka_unit_test(options_of_a_plain_start),
	        cmocka_unit_test(options_as_mount_helper),
	        cmocka_unit_test(paths_hold_in_any_folder),
	        cmocka_unit_test(vbios_and_microcode_hold_in_any_folder),
	        cmocka_unit_test(temporary_folders_hold_in_any_folder),
	        cmocka_unit_test(bad_options_are_refused),
	        cmocka_unit_test(names_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
