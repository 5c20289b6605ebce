/* test_ckpt.c - checkpoints on disk, from a snapshot on a folder that plays the mount. */
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
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/trainer/helper_dir.h"
#include "trainer/ckpt.h"
#include "trainer/st.h"

struct fixture {
	char *mount_dir, *out;
	struct mount mount;
	struct run_config config;
	struct model *model;
	struct tokenizer *tok;
	struct ckpt *k;
};

/* Static: the saver keeps pointers into it. */
static struct fixture *setup(void)
{
	static struct fixture f;
	static const char text[] = "some text with some words to learn some merges from";
	char why[256];

	f = (struct fixture){.mount_dir = dir_new(), .out = dir_new()};
	f.config.train = (struct train_settings){0.9, 0.95, 1e-8, 0.1, 1.0, 60};
	f.config.schedule = (struct schedule){0.1 + 0.2, 1e-4, 3, 50};
	f.config.seed = UINT64_MAX;
	f.config.data_digest = 0x8000000000000001u;
	assert_int_equal(model_preset(&f.config.model, "tiny"), 0);
	assert_int_equal(model_new(&f.model, &f.config.model), 0);
	assert_int_equal(tok_train(&f.tok, (const uint8_t *)text, sizeof(text) - 1, 512), 0);
	dir_text(f.mount_dir, "status", "state ready\nbackend virtual\n");
	dir_text(f.mount_dir, "checkpoints/ctl", "");
	assert_int_equal(mount_open(&f.mount, f.mount_dir), 0);
	const struct ckpt_options o = {&f.mount, f.out, "p", &f.config, f.model, f.tok};
	assert_int_equal(ckpt_new(&f.k, &o, why, sizeof(why)), 0);
	return &f;
}

static void teardown(struct fixture *f)
{
	ckpt_free(f->k);
	model_free(f->model);
	tok_free(f->tok);
	dir_remove(f->mount_dir);
	dir_remove(f->out);
}

/* A snapshot as the mount makes it: parameters, then both moments; float i of all has the value i.
 */
static void freeze(const struct fixture *f, const char *step, uint64_t cut)
{
	unsigned n = f->model->nparams;
	struct st_tensor *t = calloc(3 * n, sizeof(*t));
	const char *const meta[] = {"step", step, "plan", "p", NULL},
	                  *prefix[] = {"", "optimizer.m.", "optimizer.v."};
	char name[64];
	uint8_t *head;
	size_t len;

	for (unsigned i = 0; i < 3 * n; i++) {
		const struct param *p = &f->model->params[i % n];
		t[i] = st_float(prefix[i / n], p->name, p->ndims, p->shape);
	}
	assert_int_equal(st_build(t, 3 * n, meta, &head, &len), 0);
	uint64_t floats = 3 * f->model->nfloats;
	uint8_t *file = malloc(len + floats * 4);
	memcpy(file, head, len);
	for (uint64_t i = 0; i < floats; i++) {
		float v = (float)i;
		memcpy(file + len + 4 * i, &v, 4);
	}
	snprintf(name, sizeof(name), "checkpoints/p-%08llu.safetensors", strtoull(step, NULL, 10));
	dir_write(f->mount_dir, name, file, len + floats * 4 - cut);
	free(file);
	free(head);
	free(t);
}

static void a_snapshot_becomes_a_checkpoint(void **state)
{
	struct fixture *f = setup();
	struct run_state s;
	struct stat st;
	char path[PATH_MAX], why[512], *text;
	size_t len;

	(void)state;
	freeze(f, "12", 0);
	assert_int_equal(ckpt_begin(f->k, 12), 0);
	if (ckpt_collect(f->k, true) != 1)
		fail_msg("%s", ckpt_why(f->k));
	assert_string_equal(ckpt_newest(f->k), dir_path(f->out, "step-00000012"));
	assert_int_equal(mount_read(&f->mount, "checkpoints/ctl", &text, &len), 0);
	assert_string_equal(text, "save p-00000012 p\n");
	free(text);
	assert_int_equal(
	        stat(dir_path(f->mount_dir, "checkpoints/p-00000012.safetensors"), &st), -1);
	assert_int_equal(stat(dir_path(f->out, ".tmp-step-00000012"), &st), -1);
	assert_int_equal(ckpt_find(f->out, path, why, sizeof(why)), 0);
	assert_int_equal(ckpt_read(path, &s, why, sizeof(why)), 0);
	assert_int_equal(s.step, 12);
	assert_true(s.config.schedule.lr == f->config.schedule.lr);
	assert_true(s.config.seed == UINT64_MAX);
	assert_true(s.config.data_digest == 0x8000000000000001u);
	assert_memory_equal(&s.config.model.B, &f->config.model.B, 6 * sizeof(unsigned));
	teardown(f);
}

static void config_json_is_gpt2(void **state)
{
	struct model_config c;
	json_error_t at;

	(void)state;
	model_preset(&c, "reference");
	char *text = gpt2_config_json(&c);
	json_t *j = json_loads(text, 0, &at);
	assert_non_null(j);
	assert_string_equal(
	        json_string_value(json_object_get(j, "activation_function")), "gelu_new");
	assert_true(json_is_true(json_object_get(j, "tie_word_embeddings")));
	assert_int_equal(json_integer_value(json_object_get(j, "n_embd")), 320);
	assert_int_equal(json_integer_value(json_object_get(j, "n_positions")), 1152);
	assert_int_equal(json_integer_value(json_object_get(j, "eos_token_id")), 12095);
	json_decref(j);
	free(text);
}

static void a_cut_snapshot_leaves_no_checkpoint(void **state)
{
	struct fixture *f = setup();
	char path[PATH_MAX], why[512];

	(void)state;
	freeze(f, "3", 4);
	assert_int_equal(ckpt_begin(f->k, 3), 0);
	assert_true(ckpt_collect(f->k, true) < 0);
	assert_non_null(strstr(ckpt_why(f->k), "truncated"));
	assert_int_equal(ckpt_find(f->out, path, why, sizeof(why)), -ENOENT);
	teardown(f);
}

static void a_snapshot_of_another_step_is_refused(void **state)
{
	struct fixture *f = setup();

	(void)state;
	freeze(f, "4", 0);
	assert_int_equal(rename(dir_path(f->mount_dir, "checkpoints/p-00000004.safetensors"),
	                         dir_path(f->mount_dir, "checkpoints/p-00000005.safetensors")),
	        0);
	assert_int_equal(ckpt_begin(f->k, 5), 0);
	assert_int_equal(ckpt_collect(f->k, true), -EINVAL);
	assert_non_null(strstr(ckpt_why(f->k), "of step 4, not 5"));
	teardown(f);
}

static void flip(const char *path, long at)
{
	FILE *f = fopen(path, "r+e");

	assert_non_null(f);
	fseek(f, at, at < 0 ? SEEK_END : SEEK_SET);
	int c = fgetc(f);
	fseek(f, -1, SEEK_CUR);
	fputc(c ^ 1, f);
	fclose(f);
}

static int upload(struct fixture *f, const char *path)
{
	struct run_state s;
	int err = ckpt_read(path, &s, f->mount.why, sizeof(f->mount.why));

	return err ? err : ckpt_upload(&f->mount, path, &s, f->model, true, "p");
}

static void expect_damage(struct fixture *f, const char *path, const char *why)
{
	int err = upload(f, path);

	if (err != -EINVAL || !strstr(f->mount.why, why))
		fail_msg("expected -EINVAL and \"%s\", got %d and \"%s\"", why, err, f->mount.why);
}

static void damage_is_found_before_anything_is_uploaded(void **state)
{
	struct fixture *f = setup();
	char path[PATH_MAX], why[512];
	struct stat st;

	(void)state;
	freeze(f, "9", 0);
	assert_int_equal(ckpt_begin(f->k, 9), 0);
	assert_int_equal(ckpt_collect(f->k, true), 1);
	assert_int_equal(ckpt_find(f->out, path, why, sizeof(why)), 0);
	assert_int_equal(upload(f, path), 0);
	flip(dir_path(path, "model.safetensors"), -5);
	expect_damage(f, path, "model.safetensors: its checksum");
	flip(dir_path(path, "model.safetensors"), -5);
	flip(dir_path(path, "optimizer.safetensors"), 100);
	expect_damage(f, path, "optimizer.safetensors: its checksum");
	flip(dir_path(path, "optimizer.safetensors"), 100);
	assert_int_equal(upload(f, path), 0);
	assert_int_equal(stat(dir_path(path, "optimizer.safetensors"), &st), 0);
	assert_int_equal(truncate(dir_path(path, "optimizer.safetensors"), st.st_size - 1), 0);
	expect_damage(f, path, "trainer.json says");
	dir_text(path, "trainer.json", "{}");
	expect_damage(f, path, "trainer.json: \"format\"");
	dir_text(path, "trainer.json", "{");
	expect_damage(f, path, "trainer.json: no JSON");
	teardown(f);
}

static void the_newest_checkpoint_is_found(void **state)
{
	char *dir = dir_new(), path[PATH_MAX], why[512];

	(void)state;
	assert_int_equal(ckpt_find(dir, path, why, sizeof(why)), -ENOENT);
	dir_text(dir, "step-00000090/trainer.json", "");
	dir_text(dir, "step-00000200/trainer.json", "");
	dir_text(dir, ".tmp-step-00000300/trainer.json", "");
	dir_text(dir, "step-x/trainer.json", "");
	dir_text(dir, "step-00000999x/trainer.json", "");
	assert_int_equal(ckpt_find(dir, path, why, sizeof(why)), 0);
	assert_string_equal(path, dir_path(dir, "step-00000200"));
	assert_int_equal(ckpt_find(dir_path(dir, "step-00000090"), path, why, sizeof(why)), 0);
	assert_string_equal(path, dir_path(dir, "step-00000090"));
	dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_snapshot_becomes_a_checkpoint),
	        cmocka_unit_test(config_json_is_gpt2),
	        cmocka_unit_test(a_cut_snapshot_leaves_no_checkpoint),
	        cmocka_unit_test(a_snapshot_of_another_step_is_refused),
	        cmocka_unit_test(damage_is_found_before_anything_is_uploaded),
	        cmocka_unit_test(the_newest_checkpoint_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
