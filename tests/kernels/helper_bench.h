/* helper_bench.h - arrays with guard words, named kernels and comparisons for the tests of
 * kernels/NAME.cl on the interpreter. Every array lives in the virtual card's memory between two
 * stretches of guard words; a kernel that writes outside its arrays, or into one declared constant,
 * fails the test.
 */
#ifndef HELPER_BENCH_H
#define HELPER_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench;

/* One array of 32-bit words. host: what was uploaded, after bench_read what the card has. */
struct array {
	const char *name;
	size_t n;
	union {
		float *f;
		uint32_t *u;
	};
	uint64_t address;
	uint32_t *uploaded; /* words as last uploaded */
	bool constant;
};

struct arg {
	enum { ARG_ARRAY, ARG_UINT, ARG_FLOAT } kind;
	const struct array *array;
	size_t offset; /* words into the array */
	uint32_t u;
	float f;
};

#define A(array_)        ((struct arg){.kind = ARG_ARRAY, .array = (array_)})
#define A_AT(array_, at) ((struct arg){.kind = ARG_ARRAY, .array = (array_), .offset = (at)})
#define U(value)         ((struct arg){.kind = ARG_UINT, .u = (uint32_t)(value)})
#define F(value)         ((struct arg){.kind = ARG_FLOAT, .f = (float)(value)})

/* bench_new - a card with the code object kernels/@module.co loaded. Ends the test on any error; so
 * do all others. */
struct bench *bench_new(const char *module);
void bench_load(struct bench *b, const char *module); /* one more code object */
void bench_free(struct bench *b);

/* bench_random - @n floats in [-scale, scale], a constant input; bench_output - @n words of noise
 * to be written; bench_words - a constant copy of @words. Arrays belong to the bench. */
struct array *bench_random(struct bench *b, const char *name, size_t n, double scale);
struct array *bench_output(struct bench *b, const char *name, size_t n);
struct array *bench_words(struct bench *b, const char *name, const void *words, size_t n);
/* bench_upload - write array->f again, for arrays a kernel changes in place. */
void bench_upload(struct bench *b, struct array *a, bool constant);

/* bench_step - a step context (kernels/step.h) with these scalars and ids. @scalar_array (may be
 * NULL) receives the scalars. */
struct array *bench_step(struct bench *b, const float *scalars, size_t nscalars,
        const uint16_t *ids, size_t nids, struct array **scalar_array);

/* bench_run - run @kernel of the module on a grid of @x by @y by @z groups and check all guards and
 * constants. */
void bench_run(struct bench *b, const char *kernel, unsigned x, unsigned y, unsigned z,
        const struct arg *args, size_t nargs);
#define RUN(b, kernel, x, y, z, ...)                                                               \
	bench_run(b, kernel, x, y, z, (const struct arg[]){__VA_ARGS__},                           \
	        sizeof((const struct arg[]){__VA_ARGS__}) / sizeof(struct arg))

/* bench_read - fetch the array from the card into array->f. */
void bench_read(struct bench *b, struct array *a);

/* expect_close - fail unless every |got - want| <= tolerance * rms(want) (+ tiny). @want doubles.
 */
void expect_close(
        const char *what, const float *got, const double *want, size_t n, double tolerance);
void expect_bits(const char *what, const void *got, const void *want, size_t words);

/* A reproducible stream for the references: uniform in [0, 1). */
double random_unit(void);
double *doubles(size_t n); /* zeroed; ends the test when memory is short; caller frees */

#endif
