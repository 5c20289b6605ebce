/* test_plan_load.c - how a plan gets to the card: what it costs the link, in which pieces, and what
 * is there when it is done, given up or damaged. */
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
#include "device/err.h"
#include "device/plan/pack.h"
#include "device/plan/plan_priv.h"
#include "helper_plan.h"

#define RTL "virtual,posted"
#define ASM "virtual,posted,bridge=asm2362"

static const char source[] =
        "kernel void axpy(float a, global const float *x, global float *y, uint n)\n"
        "{ uint i = get_global_id(0); if (i < n) y[i] = a * x[i] + y[i]; }\n";

static struct bench *open_on(const char *card)
{
	const struct rx_options opt = {.card = card};
	struct bench *b = calloc(1, sizeof(*b));
	float x[64], y[64] = {0};

	assert_non_null(b);
	assert_int_equal(rx_open(&b->rx, &opt), 0);
	assert_int_equal(rx_kernels_new(&b->kernels, b->rx), 0);
	bench_module(b, "m", source);
	bench_buffer(b, "x", sizeof(x));
	bench_buffer(b, "y", sizeof(y));
	for (int i = 0; i < 64; i++)
		x[i] = (float)i;
	bench_write(b, "x", 0, x, sizeof(x));
	bench_write(b, "y", 0, y, sizeof(y));
	return b;
}

static void close_bench(struct bench *b)
{
	void *state = b;

	assert_int_equal(bench_close(&state), 0); /* no guest errors */
}

/* y += a x, @steps times one after the other, with a = 0, 1 ... 6, 0, 1 ...; without barriers when
 * there is no room for them. Caller frees. */
static char *json_of(unsigned steps)
{
	char *json;
	size_t len;
	FILE *f = open_memstream(&json, &len);

	fprintf(f, "{\"format\":\"rx580-plan-1\",\"steps\":[");
	for (unsigned i = 0; i < steps; i++)
		fprintf(f,
		        "%s{\"kernel\":\"m:axpy\",\"groups\":[1],\"group\":[64],\"args\":{\"a\":%u,"
		        "\"x\":\"x\",\"y\":\"y\",\"n\":64}}%s",
		        i ? "," : "", i % 7, 2 * steps < PLAN_MAX_STEPS ? ",\"barrier\"" : "");
	fprintf(f, "]}");
	assert_int_equal(fclose(f), 0);
	return json;
}

static struct plan *begin(struct bench *b, const char *json)
{
	struct plan *p = NULL;
	char why[256] = "";

	if (plan_load_begin(&p, b->rx, b->kernels, "p", json, strlen(json), why, sizeof(why)))
		fail_msg("plan_load_begin: %s", why);
	return p;
}

static uint64_t tlps(struct bench *b)
{
	struct rx_info info;

	rx_read_info(b->rx, &info);
	return info.model_tlps;
}

/* Load a plan of @steps. TLPs are counted, because what else the model adds up grows with every
 * look at a fence, and so with the time this machine takes. */
static struct plan *load(struct bench *b, unsigned steps, uint64_t at_most)
{
	char *json = json_of(steps);
	uint64_t before = tlps(b);
	struct plan *p = bench_plan(b, "p", json);
	uint64_t used = tlps(b) - before;

	free(json);
	if (used > at_most)
		fail_msg("%u steps: expected at most %llu TLPs, got %llu", steps,
		        (unsigned long long)at_most, (unsigned long long)used);
	return p;
}

/* VRAM holds what plan_pm4 says, and the blocks behind the program are zero. */
static void expect_on_card(struct bench *b, struct plan *p)
{
	size_t n, zero_bytes = (size_t)(p->l.bytes - p->l.fuse);
	uint32_t *dw;
	uint8_t *vram = malloc(MAX(p->l.body_dw * 4, zero_bytes));

	assert_non_null(vram);
	assert_int_equal(plan_pm4(p, &dw, &n), 0);
	assert_int_equal(n, HEAD_DW + p->l.body_dw + TAIL_DW);
	assert_int_equal(rx_vram_read(b->rx, p->l.base + p->l.heads, vram, HEAD_DW * 4), 0);
	assert_memory_equal(vram, dw, HEAD_DW * 4);
	assert_int_equal(rx_vram_read(b->rx, p->l.base + p->l.body, vram, p->l.body_dw * 4), 0);
	assert_memory_equal(vram, dw + HEAD_DW, p->l.body_dw * 4);
	assert_int_equal(rx_vram_read(b->rx, p->l.base + p->l.tail, vram, TAIL_DW * 4), 0);
	assert_memory_equal(vram, dw + HEAD_DW + p->l.body_dw, TAIL_DW * 4);
	assert_int_equal(rx_vram_read(b->rx, p->l.base + p->l.fuse, vram, zero_bytes), 0);
	for (size_t i = 0; i < zero_bytes; i++)
		if (vram[i])
			fail_msg("byte %zu behind the program: expected 0, got %02x", i, vram[i]);
	free(vram);
	free(dw);
}

static void run_and_check(struct bench *b, struct plan *p, float sum_of_a)
{
	float y[64];

	assert_int_equal(plan_run(p, 1), 0);
	bench_run(p, 1);
	bench_read(b, "y", 0, y, sizeof(y));
	for (int i = 0; i < 64; i++)
		if (y[i] < sum_of_a * (float)i || y[i] > sum_of_a * (float)i)
			fail_msg("y[%d]: expected %g, got %g", i, (double)(sum_of_a * (float)i),
			        (double)y[i]);
	assert_int_equal(bench_stop(p), 0);
}

static void a_long_plan_is_packed_for_the_link(void **state)
{
	struct bench *b = open_on(RTL);
	/* a TLP a byte: 1.4 MB of packets and arguments, of which 90 KB are sent */
	struct plan *p = load(b, 4096, 150000);

	(void)state;
	expect_on_card(b, p);
	assert_int_equal(plan_unload(p), 0);
	close_bench(b);
}

static void a_short_plan_sends_no_periodic_packet_twice(void **state)
{
	struct bench *b = open_on(ASM);
	struct plan *p = load(b, 7, 9000); /* a TLP a dword; ring and heads have 20480 */

	(void)state;
	run_and_check(b, p, 21);
	assert_int_equal(plan_unload(p), 0);
	close_bench(b);
}

static void pieces_are_short_and_others_use_the_card_between_them(void **state)
{
	struct bench *b = open_on(ASM);
	char *json = json_of(7);
	struct plan *p = begin(b, json);
	uint8_t byte = 0, back;
	unsigned pieces = 0, longer = 0;
	int left;

	(void)state;
	do {
		uint64_t before = tlps(b);

		left = plan_load_more(p);
		assert_true(left >= 0);
		longer += tlps(b) - before > 70; /* 256 bytes, and a look at the bridge */
		byte++;
		bench_write(b, "x", 255, &byte, 1);
		bench_read(b, "x", 255, &back, 1);
		assert_int_equal(back, byte);
		assert_int_equal(rx_sample(b->rx), 0);
		pieces++;
	} while (left);
	/* two modules begin with a fill, the image ends with unpacking, sum and fill */
	if (pieces < 15 || longer > 4)
		fail_msg("expected at least 15 pieces and 4 with a submission, got %u and %u",
		        pieces, longer);
	expect_on_card(b, p);
	assert_int_equal(plan_unload(p), 0);
	free(json);
	close_bench(b);
}

static void a_load_that_is_given_up_holds_nothing_any_more(void **state)
{
	struct bench *b = open_on(ASM);
	struct rx_buffer *x = rx_buffer_find(b->rx, "x");
	char *json = json_of(7);
	struct plan *p;
	uint64_t used[3];
	struct rx_info info;

	(void)state;
	for (int pieces = 0; pieces < 3; pieces++) { /* the modules keep the place they got */
		p = begin(b, json);
		assert_int_equal(rx_buffer_remove(b->rx, x), -EBUSY);
		for (int i = 0; i < 10 * pieces; i++)
			assert_int_equal(plan_load_more(p), 1);
		assert_int_equal(plan_unload(p), 0);
		rx_read_info(b->rx, &info);
		used[pieces] = info.vram_used;
	}
	assert_int_equal(used[1], used[0]);
	assert_int_equal(used[2], used[0]);
	p = begin(b, json); /* goes on with code that was half sent */
	while (plan_load_more(p) > 0) {
	}
	run_and_check(b, p, 21);
	assert_int_equal(plan_unload(p), 0);
	assert_int_equal(rx_buffer_remove(b->rx, x), 0);
	free(json);
	close_bench(b);
}

static void packets_damaged_on_their_way_are_refused(void **state)
{
	struct bench *b = open_on(ASM);
	char *json = json_of(7);
	struct plan *p = begin(b, json);
	uint8_t piece[256] = {0}; /* the fourth of the packed stream */
	uint64_t at = p->l.base + p->l.records + 768;
	int left;

	(void)state;
	assert_int_equal(
	        rx_vram_fill(b->rx, p->l.base + p->l.records, 0, PLAN_RECORDS * RECORD_BYTES), 0);
	do {
		left = plan_load_more(p);
		assert_int_equal(rx_vram_read(b->rx, at, piece, sizeof(piece)), 0);
	} while (left > 0 && !get_le64(piece + 64));
	piece[64] ^= 1;
	assert_int_equal(rx_vram_write(b->rx, at + 64, piece + 64, 1), 0);
	while (left > 0)
		left = plan_load_more(p);
	assert_int_equal(left, -EIO);
	assert_int_equal(plan_unload(p), 0);
	free(json);
	close_bench(b);
}

/* What plan_unpack does. Return: dwords. */
static size_t unpack(const uint32_t *in, size_t n, uint32_t *out)
{
	size_t at = 0;

	for (size_t i = 0; i < n;) {
		uint32_t op = in[i++], literals = op & 0xFF, copied = op >> 8 & 0x7FF;
		uint32_t distance = op >> 19;

		for (uint32_t k = 0; k < literals; k++)
			out[at++] = in[i++];
		assert_true(!copied || (distance && distance <= MIN(at, PACK_FARTHEST)));
		for (uint32_t k = 0; k < copied; k++, at++)
			out[at] = out[at - distance];
	}
	return at;
}

static void expect_round_trip(const uint32_t *in, size_t n, size_t room, size_t at_most)
{
	RX_CLEANUP(free) uint32_t *packed = malloc(room * 4), *out = malloc(n * 4 + 4);
	RX_CLEANUP(free) void *work = malloc(PACK_WORK_BYTES);
	size_t sum = 0;

	assert_true(packed && out && work);
	for (size_t at = 0, taken; at < n; at += taken) {
		size_t words = plan_pack(in + at, n - at, packed, room, &taken, work);

		assert_true(words <= room && taken > 0);
		assert_int_equal(unpack(packed, words, out), taken);
		assert_memory_equal(out, in + at, taken * 4);
		sum += words;
	}
	if (sum > at_most)
		fail_msg("%zu dwords: expected at most %zu packed, got %zu", n, at_most, sum);
}

static void what_is_packed_comes_out_again(void **state)
{
	enum { N = 40000 };
	uint32_t *in = calloc(N, 4), seed = 1;

	(void)state;
	assert_non_null(in);
	expect_round_trip(in, N, 8192, 24);
	for (size_t i = 0; i < N; i++) /* nothing repeats: one op in 256 dwords */
		in[i] = seed = seed * 1664525u + 1013904223u;
	expect_round_trip(in, N, 8192, N + N / 255 + 8);
	expect_round_trip(in, 1, 2, 2);
	expect_round_trip(in, 1000, 3, 2000);
	for (size_t i = 0; i < N; i++) /* a period just out of reach, then one within it */
		in[i] = in[i % (PACK_FARTHEST + 1)];
	expect_round_trip(in, N, 8192, N + N / 255 + 8);
	for (size_t i = 0; i < N; i++)
		in[i] = in[i % PACK_FARTHEST];
	expect_round_trip(in, N, 8192, 6 * 7000);
	for (size_t i = 0; i < N; i++) /* ring entries: one dword of 16 differs */
		in[i] = i % 16 == 1 ? (uint32_t)i : (uint32_t)(i % 16);
	expect_round_trip(in, N, 8192, N / 16 * 2 + 32);
	free(in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_is_packed_comes_out_again),
	        cmocka_unit_test(a_long_plan_is_packed_for_the_link),
	        cmocka_unit_test(a_short_plan_sends_no_periodic_packet_twice),
	        cmocka_unit_test(pieces_are_short_and_others_use_the_card_between_them),
	        cmocka_unit_test(a_load_that_is_given_up_holds_nothing_any_more),
	        cmocka_unit_test(packets_damaged_on_their_way_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
