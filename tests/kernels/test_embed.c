/* embed.cl: lookups exact, gradients equal to a serial loop in the same order, bad ids harmless. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/kernels/helper_bench.h"

struct shape {
	unsigned b, t, c, v;
};

static const struct shape shapes[] = {
        {1, 64, 64, 10}, {3, 64, 80, 7}, {2, 128, 16, 1000}, {1, 192, 320, 50}};
#define NSHAPES (sizeof(shapes) / sizeof(shapes[0]))

static uint16_t *random_ids(struct shape s)
{
	const size_t n = (size_t)s.b * (s.t + 1);
	uint16_t *ids = malloc(n * sizeof(*ids));

	assert_non_null(ids);
	for (size_t i = 0; i < n; i++)
		ids[i] = (uint16_t)(random_unit() * s.v);
	return ids;
}

static unsigned id_of_row(struct shape s, const uint16_t *ids, unsigned row)
{
	return ids[row / s.t * (s.t + 1) + row % s.t];
}

static void forward_adds_token_and_position(void **state)
{
	(void)state;
	for (size_t i = 0; i < NSHAPES; i++) {
		const struct shape s = shapes[i];
		const unsigned rows = s.b * s.t;
		const size_t n = (size_t)rows * s.c;
		uint16_t *ids = random_ids(s);
		struct bench *b = bench_new("embed");
		struct array *step = bench_step(b, NULL, 0, ids, (size_t)s.b * (s.t + 1), NULL);
		struct array *wte = bench_random(b, "wte", (size_t)s.v * s.c, 1),
		             *wpe = bench_random(b, "wpe", (size_t)s.t * s.c, 1);
		struct array *x = bench_output(b, "x", n);
		float *want = malloc(n * sizeof(*want));

		assert_non_null(want);
		for (size_t j = 0; j < n; j++) {
			const unsigned row = (unsigned)(j / s.c), column = (unsigned)(j % s.c);
			want[j] = wte->f[id_of_row(s, ids, row) * s.c + column] +
			          wpe->f[row % s.t * s.c + column];
		}
		RUN(b, "embed_forward", (rows + 3) / 4, 1, 1, A(step), A(wte), A(wpe), A(x),
		        U(rows), U(s.t), U(s.c), U(s.v));
		bench_read(b, x);
		expect_bits("x", x->u, want, n);
		free(want);
		free(ids);
		bench_free(b);
	}
}

/* dwte holds the head's gradient first; rows are added in order of position, so the sums are exact.
 */
static void gradient_of_tokens_equals_serial_sum(void **state)
{
	(void)state;
	for (size_t i = 0; i < NSHAPES; i++) {
		const struct shape s = shapes[i];
		const unsigned rows = s.b * s.t;
		uint16_t *ids = random_ids(s);
		struct bench *b = bench_new("embed");
		struct array *step = bench_step(b, NULL, 0, ids, (size_t)s.b * (s.t + 1), NULL);
		struct array *dx = bench_random(b, "dx", (size_t)rows * s.c, 1);
		struct array *dwte = bench_random(b, "dwte", (size_t)s.v * s.c, 1);
		float *want = malloc(dwte->n * sizeof(*want));

		assert_non_null(want);
		memcpy(want, dwte->f, dwte->n * sizeof(*want));
		for (unsigned row = 0; row < rows; row++)
			for (unsigned c = 0; c < s.c; c++)
				want[id_of_row(s, ids, row) * s.c + c] += dx->f[row * s.c + c];
		bench_upload(b, dwte, false);
		RUN(b, "embed_backward_wte", (s.c + 63) / 64, rows, 1, A(step), A(dx), A(dwte),
		        U(rows), U(s.t), U(s.c), U(s.v));
		bench_read(b, dwte);
		expect_bits("dwte", dwte->u, want, dwte->n);
		free(want);
		free(ids);
		bench_free(b);
	}
}

static void gradient_of_positions_equals_serial_sum(void **state)
{
	(void)state;
	for (size_t i = 0; i < NSHAPES; i++) {
		const struct shape s = shapes[i];
		const unsigned rows = s.b * s.t;
		struct bench *b = bench_new("embed");
		struct array *dx = bench_random(b, "dx", (size_t)rows * s.c, 1),
		             *dwpe = bench_output(b, "dwpe", (size_t)s.t * s.c);
		float *want = calloc(dwpe->n, sizeof(*want));

		assert_non_null(want);
		for (unsigned row = 0; row < rows; row++)
			for (unsigned c = 0; c < s.c; c++)
				want[row % s.t * s.c + c] += dx->f[row * s.c + c];
		RUN(b, "embed_backward_wpe", (s.c + 63) / 64, s.t, 1, A(dx), A(dwpe), U(rows),
		        U(s.t), U(s.c));
		bench_read(b, dwpe);
		expect_bits("dwpe", dwpe->u, want, dwpe->n);
		free(want);
		bench_free(b);
	}
}

static void ids_outside_the_vocabulary_give_nan_and_touch_nothing(void **state)
{
	const struct shape s = {1, 64, 64, 10};
	uint16_t *ids = random_ids(s);
	struct bench *b = bench_new("embed");
	struct array *step, *wte, *wpe, *x, *dwte;

	(void)state;
	ids[5] = 10;
	ids[9] = 65535;
	step = bench_step(b, NULL, 0, ids, 65, NULL);
	wte = bench_random(b, "wte", 640, 1);
	wpe = bench_random(b, "wpe", 64 * 64, 1);
	x = bench_output(b, "x", 64 * 64);
	dwte = bench_random(b, "dwte", 640, 1);
	bench_upload(b, dwte, false);
	RUN(b, "embed_forward", 16, 1, 1, A(step), A(wte), A(wpe), A(x), U(64), U(64), U(64),
	        U(10));
	RUN(b, "embed_backward_wte", 1, 64, 1, A(step), A(wpe), A(dwte), U(64), U(64), U(64),
	        U(10));
	bench_read(b, x);
	for (unsigned row = 0; row < 64; row++)
		for (unsigned c = 0; c < 64; c++)
			assert_int_equal(isnan(x->f[row * 64 + c]) != 0, row == 5 || row == 9);
	free(ids);
	bench_free(b);
}

static void take_row_copies_the_row_of_the_slot(void **state)
{
	const float position[1] = {6}, beyond[1] = {7};
	struct bench *b = bench_new("embed");
	struct array *x = bench_random(b, "x", 7 * 80, 1), *y = bench_output(b, "y", 80);

	(void)state;
	RUN(b, "take_row", 2, 1, 1, A(bench_step(b, position, 1, NULL, 0, NULL)), A(x), A(y), U(7),
	        U(80));
	bench_read(b, y);
	expect_bits("y", y->u, x->u + 6 * 80, 80);
	RUN(b, "take_row", 2, 1, 1, A(bench_step(b, beyond, 1, NULL, 0, NULL)), A(x), A(y), U(7),
	        U(80));
	bench_read(b, y);
	for (unsigned c = 0; c < 80; c++)
		assert_true(isnan(y->f[c]));
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(forward_adds_token_and_position),
	        cmocka_unit_test(gradient_of_tokens_equals_serial_sum),
	        cmocka_unit_test(gradient_of_positions_equals_serial_sum),
	        cmocka_unit_test(ids_outside_the_vocabulary_give_nan_and_touch_nothing),
	        cmocka_unit_test(take_row_copies_the_row_of_the_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
