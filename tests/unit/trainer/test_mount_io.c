/* test_mount_io.c - the mount by plain calls, on a folder that plays it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/trainer/helper_dir.h"
#include "trainer/card.h"
#include "trainer/mount_io.h"

static const char status[] = "state ready\nbackend virtual\nvram_total 8589934592\n";

static char *fake_mount(struct mount *m)
{
	char *dir = dir_new();

	dir_text(dir, "status", status);
	dir_text(dir, "log", "plan: error: an old story\n");
	mkdir(dir_path(dir, "buffers"), 0755);
	mkdir(dir_path(dir, "kernels"), 0755);
	mkdir(dir_path(dir, "checkpoints"), 0755);
	assert_int_equal(mount_open(m, dir), 0);
	return dir;
}

static void other_folders_are_refused(void **state)
{
	char *dir = dir_new();
	struct mount m;

	(void)state;
	assert_int_equal(mount_open(&m, "/nonexistent-mount-of-a-test"), -ENOENT);
	assert_int_equal(mount_open(&m, dir), -EINVAL);
	assert_non_null(strstr(m.why, "not a mount of rx580fs"));
	dir_text(dir, "status", "all is well\n");
	assert_int_equal(mount_open(&m, dir), -EINVAL);
	assert_non_null(strstr(m.why, "not a mount of rx580fs"));
	dir_text(dir, "status", "state gone\nbackend virtual\n");
	assert_int_equal(mount_open(&m, dir), -ENODEV);
	assert_non_null(strstr(m.why, "card or its bridge is gone"));
	dir_remove(dir);
}

static void a_failure_speaks_the_mounts_words(void **state)
{
	struct mount m;
	char *dir = fake_mount(&m);

	(void)state;
	assert_int_equal(mount_fail(&m, -EINVAL, "no %s", "good"), -EINVAL);
	assert_string_equal(m.why, "no good: Invalid argument");
	dir_text(dir, "log",
	        "plan: error: an old story\nfs: warning: hm\nplan: error: steps[3]: what?\nfs: "
	        "fine\n");
	mount_fail(&m, -EINVAL, "no good");
	assert_string_equal(
	        m.why, "no good: Invalid argument (the mount says: plan: error: steps[3]: what?)");
	dir_text(dir, "status", "state gone\nbackend virtual\n");
	assert_int_equal(mount_fail(&m, -EIO, "no good"), -ENODEV);
	dir_remove(dir);
}

static void keys_are_whole_words_at_line_starts(void **state)
{
	char v[32];

	(void)state;
	assert_true(mount_key("state_x 1\nstate ready\nerror a b\n", "state", v, sizeof(v)));
	assert_string_equal(v, "ready");
	assert_true(mount_key("state ready\nerror a b", "error", v, sizeof(v)));
	assert_string_equal(v, "a b");
	assert_false(mount_key("mystate ready\n", "state", v, sizeof(v)));
	assert_false(mount_key("", "state", v, sizeof(v)));
}

static ino_t inode(const char *dir, const char *name)
{
	struct stat st;

	assert_int_equal(stat(dir_path(dir, name), &st), 0);
	return st.st_ino;
}

static void kernels_are_installed_once(void **state)
{
	static const char *const names[] = {"matmul", "attention", "layernorm", "embed",
	        "cross_entropy", "reduce", "adamw", "init"};
	struct mount m;
	char *dir = fake_mount(&m), *from = dir_new(), name[64], *text;
	size_t len;

	(void)state;
	assert_int_equal(mount_kernels(&m, from), -ENOENT);
	assert_non_null(strstr(m.why, "--kernels"));
	for (size_t i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "%s.co", names[i]);
		dir_text(from, name, name);
	}
	assert_int_equal(mount_kernels(&m, from), 0);
	ino_t matmul = inode(dir, "kernels/matmul.co");
	dir_text(from, "init.co", "another");
	assert_int_equal(mount_kernels(&m, from), 0);
	assert_true(inode(dir, "kernels/matmul.co") == matmul);
	assert_int_equal(mount_read(&m, "kernels/init.co", &text, &len), 0);
	assert_string_equal(text, "another");
	free(text);
	dir_remove(dir);
	dir_remove(from);
}

static void buffers_have_the_size_asked_for_and_are_tidied(void **state)
{
	struct model_config c;
	struct model *model;
	struct mount m;
	struct stat st;
	char *dir = fake_mount(&m);

	(void)state;
	model_preset(&c, "tiny");
	assert_int_equal(model_new(&model, &c), 0);
	dir_text(dir, "checkpoints/trainer-00000007.safetensors", "left behind");
	dir_text(dir, "checkpoints/other.safetensors", "somebody's");
	dir_text(dir, "buffers/mine", "somebody's");
	assert_int_equal(card_claim(&m, CARD_TRAIN), 0);
	assert_int_equal(stat(dir_path(dir, "checkpoints/trainer-00000007.safetensors"), &st), -1);
	assert_int_equal(card_buffers(&m, CARD_TRAIN, model, true), 0);
	assert_int_equal(stat(dir_path(dir, "buffers/trainer.grads"), &st), 0);
	assert_int_equal(st.st_size, 4 * model->nfloats);
	assert_int_equal(stat(dir_path(dir, "buffers/trainer.acts"), &st), 0);
	assert_int_equal(st.st_size, 4 * model->nacts);
	card_tidy(&m, CARD_TRAIN);
	assert_int_equal(stat(dir_path(dir, "buffers/trainer.grads"), &st), -1);
	assert_int_equal(stat(dir_path(dir, "buffers/mine"), &st), 0);
	assert_int_equal(stat(dir_path(dir, "checkpoints/other.safetensors"), &st), 0);
	model_free(model);
	dir_remove(dir);
}

static void long_texts_are_read_whole(void **state)
{
	struct mount m;
	char *dir = fake_mount(&m), *big = malloc(300001), *text;
	size_t len;

	(void)state;
	memset(big, 'x', 300000);
	big[300000] = '\0';
	assert_int_equal(mount_write(&m, "big", big, 300000), 0);
	assert_int_equal(mount_read(&m, "big", &text, &len), 0);
	assert_int_equal(len, 300000);
	assert_string_equal(text, big);
	free(big);
	free(text);
	dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(other_folders_are_refused),
	        cmocka_unit_test(a_failure_speaks_the_mounts_words),
	        cmocka_unit_test(keys_are_whole_words_at_line_starts),
	        cmocka_unit_test(kernels_are_installed_once),
	        cmocka_unit_test(buffers_have_the_size_asked_for_and_are_tidied),
	        cmocka_unit_test(long_texts_are_read_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
