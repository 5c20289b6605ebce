/* test_data.c - which files become documents, how they are split, which rows a step gets. */
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
#include "trainer/data.h"

static struct corpus load(char *dir)
{
	struct corpus c;

	assert_int_equal(corpus_load(&c, &dir, 1), 0);
	return c;
}

static void links_duplicates_and_binaries_are_left_out(void **state)
{
	char *dir = dir_new();

	(void)state;
	dir_text(dir, "b/two.txt", "second document");
	dir_text(dir, "a.txt", "first document");
	dir_text(dir, "copy.txt", "first document");
	dir_write(dir, "nul.txt", "a\0b", 3);
	dir_text(dir, "latin1.txt",
	        "Gr\xfc\xdf"
	        "e");
	dir_text(dir, "surrogate.txt", "\xed\xa0\x80");
	dir_text(dir, "overlong.txt", "\xc0\xaf");
	dir_text(dir, "utf8.txt",
	        "Gr\xc3\xbc\xc3\x9f"
	        "e \xf0\x9f\x90\xa7");
	dir_text(dir, "empty.txt", "");
	assert_int_equal(symlink("a.txt", dir_path(dir, "link.txt")), 0);
	assert_int_equal(symlink("b", dir_path(dir, "linked-folder")), 0);
	assert_int_equal(mkfifo(dir_path(dir, "fifo"), 0600), 0);
	struct corpus c = load(dir);
	assert_int_equal(c.ndocs, 3);
	assert_string_equal(c.docs[0].path, dir_path(dir, "a.txt"));
	assert_string_equal(c.docs[1].path, dir_path(dir, "b/two.txt"));
	assert_string_equal(c.docs[2].path, dir_path(dir, "utf8.txt"));
	assert_int_equal(c.skipped_duplicate, 1);
	assert_int_equal(c.skipped_binary, 5);
	corpus_free(&c);
	dir_remove(dir);
}

static void nothing_usable_is_an_error(void **state)
{
	char *dir = dir_new(), *none = "/nonexistent-folder-of-a-test";
	struct corpus c;

	(void)state;
	assert_int_equal(corpus_load(&c, &dir, 1), -ENODATA);
	assert_int_equal(corpus_load(&c, &none, 1), -ENODATA);
	dir_remove(dir);
}

static void the_digest_sees_bytes_and_borders(void **state)
{
	char *dir = dir_new();

	(void)state;
	dir_text(dir, "a", "xy");
	dir_text(dir, "b", "z");
	struct corpus c = load(dir);
	uint64_t first = corpus_digest(&c);
	corpus_free(&c);
	dir_text(dir, "a", "x");
	dir_text(dir, "b", "yz");
	c = load(dir);
	assert_true(corpus_digest(&c) != first);
	corpus_free(&c);
	dir_text(dir, "a", "xy");
	dir_text(dir, "b", "z");
	c = load(dir);
	assert_true(corpus_digest(&c) == first);
	corpus_free(&c);
	dir_remove(dir);
}

/* A corpus of @n documents of @words words each. */
static char *many(unsigned n, unsigned words)
{
	char *dir = dir_new(), name[32], *text = malloc(32 * words + 1);

	for (unsigned i = 0; i < n; i++) {
		text[0] = '\0';
		for (unsigned w = 0; w < words; w++)
			sprintf(text + strlen(text), "word%u of%u ", w, i);
		snprintf(name, sizeof(name), "%03u.txt", i);
		dir_text(dir, name, text);
	}
	free(text);
	return dir;
}

static void the_held_out_part_is_never_empty(void **state)
{
	static const struct {
		unsigned docs, words;
	} cases[] = {
	        {1, 1}, {1, 3}, {2, 5}, {5, 10}, {19, 4}, {20, 4}, {21, 50}, {40, 3}, {100, 20}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *dir = many(cases[i].docs, cases[i].words);
		struct corpus c = load(dir);
		struct stream train, held_out;
		struct tokenizer *t;
		size_t len;
		uint8_t *text = corpus_text(&c, &len);

		assert_int_equal(tok_train(&t, text, len, 300), 0);
		assert_int_equal(data_split(&c, t, &train, &held_out), 0);
		if (held_out.count < 2 || train.count < 2 || held_out.count > train.count + 2)
			fail_msg("%u documents of %u words: %zu tokens to train on, %zu held out",
			        cases[i].docs, cases[i].words, train.count, held_out.count);
		if (cases[i].docs >= 100)
			assert_in_range(held_out.count, (train.count + held_out.count) / 25,
			        (train.count + held_out.count) / 15);
		stream_free(&train);
		stream_free(&held_out);
		tok_free(t);
		free(text);
		corpus_free(&c);
		dir_remove(dir);
	}
}

static void batches_depend_on_seed_step_and_row_only(void **state)
{
	uint16_t ids[1000], a[4 * 65], b[4 * 65];
	struct stream s = {ids, 1000};

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		ids[i] = (uint16_t)i;
	stream_batch(&s, 7, 12, 4, 64, a);
	stream_batch(&s, 7, 13, 4, 64, b);
	assert_memory_not_equal(a, b, sizeof(a));
	stream_batch(&s, 8, 12, 4, 64, b);
	assert_memory_not_equal(a, b, sizeof(a));
	stream_batch(&s, 7, 12, 4, 64, b);
	assert_memory_equal(a, b, sizeof(a));
	for (unsigned row = 0; row < 4; row++)
		for (unsigned i = 0; i < 64; i++)
			assert_int_equal(a[row * 65 + i + 1], (a[row * 65 + i] + 1) % 1000);
}

static void windows_cover_the_stream(void **state)
{
	uint16_t ids[200], w[65];
	struct stream s = {ids, 200}, little = {ids, 10};

	(void)state;
	for (unsigned i = 0; i < 200; i++)
		ids[i] = (uint16_t)i;
	assert_int_equal(stream_windows(&s, 64), 3);
	stream_window(&s, 1, 64, w);
	assert_int_equal(w[0], 64);
	assert_int_equal(w[64], 128);
	assert_int_equal(stream_windows(&little, 64), 1);
	stream_window(&little, 0, 64, w);
	assert_int_equal(w[13], 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(links_duplicates_and_binaries_are_left_out),
	        cmocka_unit_test(nothing_usable_is_an_error),
	        cmocka_unit_test(the_digest_sees_bytes_and_borders),
	        cmocka_unit_test(the_held_out_part_is_never_empty),
	        cmocka_unit_test(batches_depend_on_seed_step_and_row_only),
	        cmocka_unit_test(windows_cover_the_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
