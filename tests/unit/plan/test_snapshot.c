/* test_snapshot.c - save, read, upload and load on the virtual card. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/ckpt/snapshot.h"
#include "device/plan/plan_priv.h"
#include "helper_plan.h"

static const char count_source[] =
        "kernel void count(global uint *w) { if (get_global_id(0) == 0) w[0] += 1; }\n"
        "kernel void rest(global float *x) { for (volatile int i = 0; i < 2000; i++) ; x[0] = 1; "
        "}\n";

static const char count_plan[] =
        "{\"format\":\"rx580-plan-1\",\"input\":{\"scalars\":1},"
        "\"steps\":[{\"kernel\":\"c:rest\",\"groups\":[1],\"group\":[1],\"args\":{\"x\":\"junk\"}}]"
        ","
        "\"update\":[{\"kernel\":\"c:count\",\"groups\":[1],\"group\":[64],\"args\":{\"w\":\"w\"}}]"
        ","
        "\"state\":[{\"name\":\"w\",\"at\":\"w\",\"dtype\":\"U32\",\"shape\":[2,500]},"
        "{\"name\":\"odd\",\"at\":\"w+4000\",\"dtype\":\"U8\",\"shape\":[3]}]}";

struct fixture {
	struct bench *b;
	struct plan *p;
	struct snap *s;
};

static int open_all(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	uint8_t zero[4096] = {0};
	void *b = NULL;

	if (!f || bench_open(&b) || snap_new(&f->s, ((struct bench *)b)->rx))
		return -1;
	f->b = b;
	bench_module(f->b, "c", count_source);
	bench_buffer(f->b, "w", 4096);
	bench_buffer(f->b, "junk", 256);
	memcpy(zero + 4000, "abc", 3);
	bench_write(f->b, "w", 0, zero, sizeof(zero));
	f->p = bench_plan(f->b, "count", count_plan);
	*state = f;
	return 0;
}

static int close_all(void **state)
{
	struct fixture *f = *state;
	void *b = f->b;

	if (bench_stop(f->p) || plan_unload(f->p))
		return -1;
	snap_free(f->s);
	free(f);
	return bench_close(&b);
}

/* Save, and service the plan until that is done. */
static int save(struct fixture *f, const char *name, struct plan *p)
{
	int err = snap_save(f->s, name, p, NULL, 0);

	while (err == -EINPROGRESS) {
		assert_true(plan_service(p) >= 0);
		err = snap_save_result(f->s);
	}
	return err;
}

static void allow(struct fixture *f, unsigned steps)
{
	const float scalar = 0;

	for (unsigned i = 0; i < steps; i++)
		assert_int_equal(plan_push_input(f->p, &scalar, 4), 0);
	assert_int_equal(plan_run(f->p, steps), 0);
}

/* The whole snapshot as one file image. Caller frees. */
static uint8_t *read_file(struct fixture *f, const char *name, size_t *len)
{
	struct snap_info info;
	snap_read_info(f->s, &info);
	uint8_t *bytes = malloc(info.file_size);

	assert_non_null(bytes);
	*len = info.file_size;
	for (size_t at = 0;
	        at < *len;) { /* odd pieces, so that they cross the border of header and data */
		int n = snap_read(f->s, name, at, bytes + at, MIN((size_t)777, *len - at));
		assert_true(n > 0);
		at += (size_t)n;
	}
	return bytes;
}

static void a_snapshot_is_a_valid_file_of_one_moment(void **state)
{
	struct fixture *f = *state;
	struct snap_info info;
	struct st_file *st;
	char why[256];
	size_t len;

	allow(f, 10);
	bench_service(f->p, 2);
	assert_int_equal(save(f, "one", f->p), 0);
	snap_read_info(f->s, &info);
	assert_true(info.present && info.complete);
	allow(f, 1); /* the ten may be done */
	bench_run(f->p, 1);
	uint8_t *bytes = read_file(f, "one", &len);
	int64_t head = st_parse_length(bytes);
	assert_true(head > 8);
	if (st_parse(bytes, (size_t)head, len, &st, why, sizeof(why)))
		fail_msg("snapshot does not parse: %s", why);
	const char *step = st_meta_get(st, "step");
	assert_non_null(step);
	assert_string_equal(st_meta_get(st, "plan"), "count");
	assert_int_equal(get_le32(bytes + head), strtoul(step, NULL, 10));
	assert_memory_equal(bytes + head + st_find(st, "odd")->begin, "abc", 3);
	st_free(st);
	free(bytes);
	assert_int_equal(snap_remove(f->s, "one"), 0);
	allow(f, 1);
	bench_run(f->p, 1);
}

static void the_area_holds_one_thing_at_a_time(void **state)
{
	struct fixture *f = *state;
	uint8_t byte;

	assert_int_equal(save(f, "a", f->p), 0);
	assert_int_equal(save(f, "a", f->p), -EEXIST);
	assert_int_equal(save(f, "b", f->p), -EBUSY);
	assert_int_equal(snap_upload_begin(f->s, "c"), -EBUSY);
	assert_int_equal(save(f, "../x", f->p), -EINVAL);
	assert_int_equal(snap_read(f->s, "b", 0, &byte, 1), -ENOENT);
	assert_int_equal(snap_remove(f->s, "b"), -ENOENT);
	assert_int_equal(snap_remove(f->s, "a"), 0);
	assert_int_equal(save(f, "b", f->p), 0);
	assert_int_equal(snap_remove(f->s, "b"), 0);
}

static void upload(struct fixture *f, const char *name, const uint8_t *bytes, size_t len)
{
	assert_int_equal(snap_upload_begin(f->s, name), 0);
	for (size_t at = 0; at < len; at += 333) {
		size_t n = MIN((size_t)333, len - at);
		assert_int_equal(snap_upload_append(f->s, at, bytes + at, n), 0);
	}
}

static void what_was_saved_can_be_loaded_and_continues_at_its_step(void **state)
{
	struct fixture *f = *state;
	struct plan_status status;
	uint32_t w;
	size_t len;

	allow(f, 3);
	bench_run(f->p, 3);
	bench_settle(f->p);
	assert_int_equal(save(f, "three", f->p), 0);
	uint8_t *bytes = read_file(f, "three", &len);
	assert_int_equal(snap_remove(f->s, "three"), 0);
	allow(f, 4);
	bench_run(f->p, 4);
	bench_settle(f->p);
	upload(f, "back", bytes, len);
	assert_int_equal(snap_load(f->s, "back", f->p), -ENOENT); /* not finished yet */
	assert_int_equal(snap_upload_end(f->s), 0);
	assert_int_equal(snap_load(f->s, "back", f->p), 0);
	bench_read(f->b, "w", 0, &w, 4);
	assert_int_equal(w, 3);
	plan_read_status(f->p, &status);
	assert_int_equal(status.steps_done, 3);
	assert_int_equal(snap_remove(f->s, "back"), 0);
	allow(f, 1);
	bench_run(f->p, 1);
	bench_read(f->b, "w", 0, &w, 4);
	assert_int_equal(w, 4);
	free(bytes);
}

static void truncated_and_lying_uploads_change_nothing(void **state)
{
	struct fixture *f = *state;
	struct snap_info info;
	struct rx_info before, after;
	uint32_t w = 0;
	size_t len;

	assert_int_equal(save(f, "x", f->p), 0);
	uint8_t *bytes = read_file(f, "x", &len);
	assert_int_equal(snap_remove(f->s, "x"), 0);
	rx_read_info(f->b->rx, &before);
	upload(f, "short", bytes, len - 1);
	assert_int_equal(snap_upload_end(f->s), -EINVAL);
	upload(f, "long", bytes, len);
	assert_int_equal(snap_upload_append(f->s, len, "z", 1), -EINVAL);
	assert_int_equal(snap_remove(f->s, "long"), 0);
	assert_int_equal(snap_upload_begin(f->s, "hole"), 0);
	assert_int_equal(snap_upload_append(f->s, 5, bytes, 8), -EINVAL);
	assert_int_equal(snap_upload_end(f->s), -EINVAL);
	uint8_t *shape = memmem(bytes, len, "[2,500]", 7); /* same bytes, other shape */
	assert_non_null(shape);
	memcpy(shape, "[500,2]", 7);
	upload(f, "shape", bytes, len);
	assert_int_equal(snap_upload_end(f->s), 0);
	put_le32(bytes, 77);
	assert_int_equal(snap_load(f->s, "shape", f->p), -EINVAL);
	bench_read(f->b, "w", 0, &w, 4);
	assert_int_equal(w, 0);
	assert_int_equal(snap_remove(f->s, "shape"), 0);
	snap_read_info(f->s, &info);
	assert_false(info.present);
	rx_read_info(f->b->rx, &after);
	assert_int_equal(after.vram_used, before.vram_used);
	free(bytes);
}

static void loading_while_steps_are_allowed_is_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(save(f, "x", f->p), 0);
	assert_int_equal(plan_run(f->p, 1), 0);
	assert_int_equal(snap_load(f->s, "x", f->p), -EBUSY);
	assert_int_equal(snap_remove(f->s, "x"), 0);
}

static const char hang_plan[] =
        "{\"format\":\"rx580-plan-1\",\"deadline_s\":3600,"
        "\"steps\":[{\"kernel\":\"c:rest\",\"groups\":[1],\"group\":[1],\"args\":{\"x\":\"junk\"}}]"
        ","
        "\"update\":[{\"kernel\":\"h:hang\",\"groups\":[1],\"group\":[64],\"args\":{\"x\":\"w+"
        "256\"}}],"
        "\"state\":[{\"name\":\"w\",\"at\":\"w\",\"dtype\":\"U32\",\"shape\":[8]}]}";

/* A step whose update never ends, allowed and started. */
static struct plan *start_hang(struct fixture *f)
{
	bench_module(
	        f->b, "h", "kernel void hang(global volatile uint *x) { while (*x == 0) ; }\n");
	struct plan *p = bench_plan(f->b, "hang", hang_plan);

	assert_int_equal(plan_run(p, 1), 0);
	bench_service(p, 200);
	return p;
}

static void a_step_that_faults_in_its_update_is_never_saved(void **state)
{
	struct fixture *f = *state;
	struct snap_info info;
	struct plan *p = start_hang(f);

	p->d.deadline_s = 1; /* only now: it is to fail while the save waits */
	assert_int_equal(save(f, "torn", p), -EIO);
	assert_int_equal(save(f, "later", p), -EIO);
	snap_read_info(f->s, &info);
	assert_false(info.present);
	assert_int_equal(plan_clear(p), 0);
	assert_int_equal(save(f, "as_it_is", p), 0);
	assert_int_equal(snap_remove(f->s, "as_it_is"), 0);
	assert_int_equal(plan_unload(p), 0);
}

static int note_err(void *ctx, int err)
{
	*(int *)ctx = err;
	return 0;
}

static void clearing_a_plan_ends_what_waits_for_its_boundary(void **state)
{
	struct fixture *f = *state;
	struct plan *p = start_hang(f);
	int told = 1;

	assert_int_equal(plan_at_boundary(p, note_err, &told), -EINPROGRESS);
	assert_int_equal(told, 1);
	assert_int_equal(plan_clear(p), 0);
	assert_int_equal(told, -ECANCELED);
	assert_int_equal(plan_unload(p), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
	const struct CMUnitTest tests[] = {
	        T(a_snapshot_is_a_valid_file_of_one_moment),
	        T(the_area_holds_one_thing_at_a_time),
	        T(what_was_saved_can_be_loaded_and_continues_at_its_step),
	        T(truncated_and_lying_uploads_change_nothing),
	        T(loading_while_steps_are_allowed_is_refused),
	        T(a_step_that_faults_in_its_update_is_never_saved),
	        T(clearing_a_plan_ends_what_waits_for_its_boundary),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
