/* test_tokenizer.c - byte-level BPE: every text comes back, the same text teaches the same merges.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/trainer/helper_dir.h"
#include "trainer/tok_priv.h"

static const char sample[] =
        "The quick brown fox doesn't jump over 1234 lazy dogs; the dogs don't jump over the fox.\n"
        "  Indented,\ttabbed --- and the the the quick quick end.\n\n\nGr\xc3\xbc\xc3\x9f"
        "e, \xe2\x82\xac 50.\n";

static struct tokenizer *trained(unsigned vocab)
{
	struct tokenizer *t;

	assert_int_equal(tok_train(&t, (const uint8_t *)sample, sizeof(sample) - 1, vocab), 0);
	return t;
}

static void expect_round_trip(const struct tokenizer *t, const uint8_t *text, size_t len)
{
	uint16_t *ids;
	size_t count, at = 0;

	assert_int_equal(tok_encode(t, text, len, &ids, &count), 0);
	for (size_t i = 0; i < count; i++) {
		size_t n;
		const uint8_t *bytes = tok_bytes(t, ids[i], &n);
		assert_non_null(bytes);
		assert_true(at + n <= len);
		assert_memory_equal(bytes, text + at, n);
		at += n;
	}
	assert_int_equal(at, len);
	free(ids);
}

static void every_text_comes_back(void **state)
{
	struct tokenizer *t = trained(300);
	uint8_t bytes[4096];
	uint32_t x = 1;

	(void)state;
	expect_round_trip(t, (const uint8_t *)sample, sizeof(sample) - 1);
	expect_round_trip(t, NULL, 0);
	for (unsigned round = 0; round < 50; round++) {
		for (size_t i = 0; i < sizeof(bytes); i++) {
			x = x * 1664525u + 1013904223u; /* Numerical Recipes, 7.1 */
			bytes[i] = round % 2 ? (uint8_t)(x >> 24)
			                     : (uint8_t)" the\nquick1'"[x >> 24 & 7];
		}
		expect_round_trip(t, bytes, sizeof(bytes) - round);
	}
	tok_free(t);
}

static void merges_shorten_known_text_and_are_deterministic(void **state)
{
	struct tokenizer *a = trained(300), *b = trained(300);
	uint16_t *ids, *again;
	size_t n, m;

	(void)state;
	assert_true(a->nmerges > 20);
	assert_int_equal(a->nmerges, b->nmerges);
	assert_memory_equal(a->merge, b->merge, a->nmerges * sizeof(a->merge[0]));
	assert_int_equal(tok_encode(a, (const uint8_t *)sample, sizeof(sample) - 1, &ids, &n), 0);
	assert_int_equal(tok_encode(b, (const uint8_t *)sample, sizeof(sample) - 1, &again, &m), 0);
	assert_true(n < 2 * sizeof(sample) / 3);
	assert_int_equal(n, m);
	assert_memory_equal(ids, again, n * sizeof(*ids));
	free(ids);
	free(again);
	tok_free(a);
	tok_free(b);
}

static void ids_are_those_of_gpt2(void **state)
{
	struct tokenizer *t = trained(300);
	size_t n;

	(void)state;
	/* openai/gpt-2, encoder.json: "!" is 0, "A" is 32, "a" is 64; byte 0 is 188, blank 220 */
	assert_int_equal(tok_id_of_byte('!'), 0);
	assert_int_equal(tok_id_of_byte('A'), 32);
	assert_int_equal(tok_id_of_byte('a'), 64);
	assert_int_equal(tok_id_of_byte(0), 188);
	assert_int_equal(tok_id_of_byte(' '), 220);
	assert_int_equal(tok_code_point(' '), 0x120); /* the G with a dot of its vocabulary */
	assert_int_equal(tok_end(t), 299);
	assert_null(tok_bytes(t, tok_end(t), &n));
	tok_free(t);
}

static void pre_tokens_follow_the_pattern_of_gpt2(void **state)
{
	const struct {
		const char *text;
		size_t len;
	} cases[] = {{"don't", 3}, {"'t", 2}, {" fox", 4}, {"12ab", 2}, {"  two", 1}, {"   ", 3},
	        {"\n\nx", 1}, {"!?a", 2}, {" ", 1}, {" 7", 2}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t got = tok_pretoken((const uint8_t *)cases[i].text, strlen(cases[i].text));
		if (got != cases[i].len)
			fail_msg("\"%s\": expected %zu bytes, got %zu", cases[i].text, cases[i].len,
			        got);
	}
}

static void a_saved_tokenizer_loads_to_the_same_ids(void **state)
{
	struct tokenizer *a = trained(320), *b;
	char *dir = dir_new();

	(void)state;
	assert_int_equal(tok_save(a, dir), 0);
	assert_int_equal(tok_load(&b, dir), 0);
	assert_int_equal(tok_vocab(b), 320);
	assert_int_equal(b->nmerges, a->nmerges);
	assert_memory_equal(a->merge, b->merge, a->nmerges * sizeof(a->merge[0]));
	tok_free(a);
	tok_free(b);
	dir_remove(dir);
}

static void damaged_files_are_refused(void **state)
{
	struct tokenizer *t;
	char *dir = dir_new();

	(void)state;
	assert_int_not_equal(tok_load(&t, dir), 0);
	dir_text(dir, "vocab.json", "{\"<|endoftext|>\": 299}");
	dir_text(dir, "merges.txt", "#version: 0.2\nt h\nth e\n");
	assert_int_equal(tok_load(&t, dir), 0);
	tok_free(t);
	dir_text(dir, "merges.txt", "#version: 0.2\nth e\n"); /* "th" was not made yet */
	assert_int_equal(tok_load(&t, dir), -EINVAL);
	dir_text(dir, "merges.txt", "#version: 0.2\nt h\nt h\n"); /* twice */
	assert_int_equal(tok_load(&t, dir), -EINVAL);
	dir_text(dir, "merges.txt", "#version: 0.2\nt\n");
	assert_int_equal(tok_load(&t, dir), -EINVAL);
	dir_text(dir, "merges.txt", "#version: 0.2\nt h\n");
	dir_text(dir, "vocab.json", "{\"<|endoftext|>\": 70000}");
	assert_int_equal(tok_load(&t, dir), -EINVAL);
	dir_text(dir, "vocab.json", "{\"<|endoftext|>\": \"x\"}");
	assert_int_equal(tok_load(&t, dir), -EINVAL);
	dir_text(dir, "vocab.json", "[");
	assert_int_equal(tok_load(&t, dir), -EINVAL);
	dir_remove(dir);
}

static void impossible_vocabularies_are_refused(void **state)
{
	struct tokenizer *t;

	(void)state;
	assert_int_equal(tok_train(&t, (const uint8_t *)sample, 10, 256), -EINVAL);
	assert_int_equal(tok_train(&t, (const uint8_t *)sample, 10, 65536), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_text_comes_back),
	        cmocka_unit_test(merges_shorten_known_text_and_are_deterministic),
	        cmocka_unit_test(ids_are_those_of_gpt2),
	        cmocka_unit_test(pre_tokens_follow_the_pattern_of_gpt2),
	        cmocka_unit_test(a_saved_tokenizer_loads_to_the_same_ids),
	        cmocka_unit_test(damaged_files_are_refused),
	        cmocka_unit_test(impossible_vocabularies_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
