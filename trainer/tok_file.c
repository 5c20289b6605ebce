/* tok_file.c - vocab.json and merges.txt in GPT-2's form: bytes as printable code points
 * (encoder.py, bytes_to_unicode). */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/tok_priv.h"

#define END_TEXT "<|endoftext|>"

/* Bytes as UTF-8 of their code points. @out: 2 bytes a byte and a terminator. */
static void to_text(const uint8_t *bytes, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++) {
		unsigned cp = tok_code_point(bytes[i]);
		if (cp < 0x80) {
			*out++ = (char)cp;
		} else {
			*out++ = (char)(0xC0 | cp >> 6);
			*out++ = (char)(0x80 | (cp & 0x3F));
		}
	}
	*out = '\0';
}

static int save_merges(const struct tokenizer *t, FILE *f)
{
	char left[2 * TOK_MAX_TOKEN + 1], right[2 * TOK_MAX_TOKEN + 1];

	fputs("#version: 0.2\n", f); /* first line of GPT-2's merges.txt */
	for (unsigned i = 0; i < t->nmerges; i++) {
		to_text(t->bytes[t->merge[i][0]], t->length[t->merge[i][0]], left);
		to_text(t->bytes[t->merge[i][1]], t->length[t->merge[i][1]], right);
		fprintf(f, "%s %s\n", left, right);
	}
	return ferror(f) ? -EIO : 0;
}

static int save_vocab(const struct tokenizer *t, FILE *f)
{
	json_t *root = json_object();
	char text[2 * TOK_MAX_TOKEN + 1];
	int err = 0;

	for (unsigned id = 0; id < TOK_BYTES + t->nmerges && !err; id++) {
		to_text(t->bytes[id], t->length[id], text);
		err = json_object_set_new(root, text, json_integer(id));
	}
	if (!err)
		err = json_object_set_new(root, END_TEXT, json_integer(tok_end(t)));
	if (!err)
		err = json_dumpf(root, f, JSON_COMPACT);
	json_decref(root);
	return err ? -EIO : 0;
}

static int save_file(const struct tokenizer *t, const char *dir, const char *name,
        int (*save)(const struct tokenizer *t, FILE *f))
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	FILE *f = fopen(path, "we");
	if (!f)
		return -errno;
	int err = save(t, f);
	if (fclose(f) && !err)
		err = -errno;
	return err;
}

int tok_save(const struct tokenizer *t, const char *dir)
{
	int err = save_file(t, dir, "merges.txt", save_merges);

	return err ? err : save_file(t, dir, "vocab.json", save_vocab);
}

/* One symbol of a merges.txt line back to bytes. Return: bytes; -EINVAL. */
static int from_text(const char *s, size_t len, uint8_t *out, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < len; n++) {
		unsigned cp = (unsigned char)s[i++];
		if (cp >= 0x80) {
			if ((cp & 0xE0) != 0xC0 || i >= len)
				return -EINVAL;
			cp = (cp & 0x1F) << 6 | ((unsigned char)s[i++] & 0x3F);
		}
		unsigned b = 0;
		while (b < TOK_BYTES && tok_code_point((uint8_t)b) != cp)
			b++;
		if (b == TOK_BYTES || n == room)
			return -EINVAL;
		out[n] = (uint8_t)b;
	}
	return (int)n;
}

static int find_token(const struct tokenizer *t, const char *s, size_t len)
{
	uint8_t bytes[TOK_MAX_TOKEN];
	int n = from_text(s, len, bytes, sizeof(bytes));

	for (unsigned id = 0; n > 0 && id < TOK_BYTES + t->nmerges; id++)
		if (t->length[id] == n && !memcmp(t->bytes[id], bytes, (size_t)n))
			return (int)id;
	return -EINVAL;
}

static int load_merges(struct tokenizer *t, FILE *f)
{
	char line[4 * TOK_MAX_TOKEN + 8];

	while (fgets(line, sizeof(line), f)) {
		size_t len = strcspn(line, "\n");
		if (!len || (t->nmerges == 0 && !strncmp(line, "#version", 8)))
			continue;
		size_t left = strcspn(line, " ");
		if (left == 0 || left >= len)
			return -EINVAL;
		int a = find_token(t, line, left),
		    b = find_token(t, line + left + 1, len - left - 1);
		if (a < 0 || b < 0 || tok_add_merge(t, (unsigned)a, (unsigned)b) < 0)
			return -EINVAL;
	}
	return ferror(f) ? -EIO : 0;
}

static int load_vocab_size(const char *dir, unsigned *vocab)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/vocab.json", dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
	const json_t *end = json_object_get(root, END_TEXT);
	json_int_t id = json_integer_value(end);
	int err = json_is_integer(end) && id >= TOK_BYTES && id < 65535 ? 0 : -EINVAL;
	*vocab = (unsigned)id + 1;
	json_decref(root);
	return err;
}

int tok_load(struct tokenizer **out, const char *dir)
{
	struct tokenizer *t;
	char path[4096];
	unsigned vocab;
	int err = load_vocab_size(dir, &vocab);

	if (err)
		return err;
	if (snprintf(path, sizeof(path), "%s/merges.txt", dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	FILE *f = fopen(path, "re");
	if (!f)
		return -errno;
	err = tok_new(&t, vocab);
	if (!err) {
		err = load_merges(t, f);
		if (err)
			tok_free(t);
		else
			*out = t;
	}
	fclose(f);
	return err;
}
