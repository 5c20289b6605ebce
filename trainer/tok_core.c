/* tok_core.c - merge table, byte order and encoding of the BPE tokenizer. See tokenizer.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/tok_priv.h"

/* openai/gpt-2, encoder.py, bytes_to_unicode(): printable bytes first, in three ranges, then all
 * others in order. */
static bool printable(unsigned b)
{
	return (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || (b >= 0xAE && b <= 0xFF);
}

unsigned tok_id_of_byte(uint8_t byte)
{
	unsigned id = 0;

	for (unsigned b = 0; b < TOK_BYTES; b++)
		if (printable(b) == printable(byte) && b < byte)
			id++;
	return printable(byte) ? id : id + 188; /* 188 printable bytes: 94 + 12 + 82 */
}

uint8_t tok_byte_of_id(unsigned id)
{
	for (unsigned b = 0; b < TOK_BYTES; b++)
		if (tok_id_of_byte((uint8_t)b) == id)
			return (uint8_t)b;
	return 0;
}

unsigned tok_code_point(uint8_t byte)
{
	return printable(byte) ? byte : 256 + tok_id_of_byte(byte) - 188;
}

static uint32_t hash(uint32_t pair)
{
	return pair * 0x9E3779B1u >> 7; /* Knuth's multiplicative hash */
}

static struct tok_pair_slot *slot_of(const struct tokenizer *t, uint32_t pair)
{
	uint32_t i = hash(pair) & t->table_mask;

	while (t->table[i].id && t->table[i].pair != pair)
		i = (i + 1) & t->table_mask;
	return &t->table[i];
}

static int set_bytes(
        struct tokenizer *t, unsigned id, const uint8_t *a, size_t na, const uint8_t *b, size_t nb)
{
	t->bytes[id] = malloc(na + nb);
	if (!t->bytes[id])
		return -ENOMEM;
	memcpy(t->bytes[id], a, na);
	if (nb)
		memcpy(t->bytes[id] + na, b, nb);
	t->length[id] = (uint16_t)(na + nb);
	return 0;
}

int tok_new(struct tokenizer **out, unsigned vocab)
{
	uint32_t room = 1024;

	if (vocab < TOK_BYTES + 1 || vocab > 65535)
		return -EINVAL;
	while (room < 4 * vocab)
		room *= 2;
	struct tokenizer *t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->vocab = vocab;
	t->merge = calloc(vocab, sizeof(*t->merge));
	t->bytes = calloc(vocab, sizeof(*t->bytes));
	t->length = calloc(vocab, sizeof(*t->length));
	t->table = calloc(room, sizeof(*t->table));
	t->table_mask = room - 1;
	int err = t->merge && t->bytes && t->length && t->table ? 0 : -ENOMEM;
	for (unsigned id = 0; id < TOK_BYTES && !err; id++) {
		uint8_t byte = tok_byte_of_id(id);
		err = set_bytes(t, id, &byte, 1, NULL, 0);
	}
	if (err) {
		tok_free(t);
		return err;
	}
	*out = t;
	return 0;
}

void tok_free(struct tokenizer *t)
{
	if (!t)
		return;
	for (unsigned i = 0; t->bytes && i < TOK_BYTES + t->nmerges; i++)
		free(t->bytes[i]);
	free(t->merge);
	free(t->bytes);
	free(t->length);
	free(t->table);
	free(t);
}

int tok_find_merge(const struct tokenizer *t, unsigned left, unsigned right)
{
	const struct tok_pair_slot *s = slot_of(t, left << 16 | right);

	return s->id ? (int)s->id : -1;
}

int tok_add_merge(struct tokenizer *t, unsigned left, unsigned right)
{
	unsigned id = TOK_BYTES + t->nmerges;

	if (id + 1 >= t->vocab || left >= id || right >= id ||
	        t->length[left] + t->length[right] > TOK_MAX_TOKEN)
		return -EINVAL;
	struct tok_pair_slot *s = slot_of(t, left << 16 | right);
	if (s->id)
		return -EINVAL;
	if (set_bytes(t, id, t->bytes[left], t->length[left], t->bytes[right], t->length[right]))
		return -ENOMEM;
	s->pair = left << 16 | right;
	s->id = id;
	t->merge[t->nmerges][0] = (uint16_t)left;
	t->merge[t->nmerges][1] = (uint16_t)right;
	t->nmerges++;
	return (int)id;
}

unsigned tok_vocab(const struct tokenizer *t)
{
	return t->vocab;
}

unsigned tok_end(const struct tokenizer *t)
{
	return t->vocab - 1;
}

const uint8_t *tok_bytes(const struct tokenizer *t, unsigned id, size_t *len)
{
	*len = id < TOK_BYTES + t->nmerges ? t->length[id] : 0;
	return *len ? t->bytes[id] : NULL;
}

static bool letter(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
}

static bool digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool space(uint8_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* 's 't 're 've 'm 'll 'd: openai/gpt-2, encoder.py, the pattern's first alternatives. */
static size_t contraction(const uint8_t *text, size_t len)
{
	static const char *const ends[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (len >= strlen(ends[i]) && !memcmp(text, ends[i], strlen(ends[i])))
			return strlen(ends[i]);
	return 0;
}

static size_t run(const uint8_t *text, size_t from, size_t len, bool (*in)(uint8_t))
{
	size_t n = from;

	while (n < len && in(text[n]))
		n++;
	return n;
}

static bool other(uint8_t c)
{
	return !space(c) && !letter(c) && !digit(c);
}

size_t tok_pretoken(const uint8_t *text, size_t len)
{
	size_t n = contraction(text, len), lead = text[0] == ' ' && len > 1 && !space(text[1]);

	if (n)
		return n;
	if (lead || !space(text[0])) {
		bool (*const kind)(uint8_t) =
		        letter(text[lead]) ? letter : (digit(text[lead]) ? digit : other);
		return run(text, lead, len, kind);
	}
	n = run(text, 0, len, space);
	return n < len && n > 1 ? n - 1
	                        : n; /* \s+(?!\S): the last blank belongs to the word behind */
}

/* Apply merges to one pre-token in place, lowest id first, leftmost first. Return: ids left. */
static size_t merge_word(const struct tokenizer *t, uint16_t *w, size_t n)
{
	for (;;) {
		int best = -1;
		size_t kept = 0;
		for (size_t i = 0; i + 1 < n; i++) {
			int id = tok_find_merge(t, w[i], w[i + 1]);
			if (id >= 0 && (best < 0 || id < best))
				best = id;
		}
		if (best < 0)
			return n;
		for (size_t i = 0; i < n; i++) {
			if (i + 1 < n && tok_find_merge(t, w[i], w[i + 1]) == best) {
				w[kept++] = (uint16_t)best;
				i++;
			} else {
				w[kept++] = w[i];
			}
		}
		n = kept;
	}
}

int tok_encode(
        const struct tokenizer *t, const uint8_t *text, size_t len, uint16_t **ids, size_t *count)
{
	uint16_t id_of_byte[TOK_BYTES];
	uint16_t *out = malloc((len ? len : 1) * sizeof(*out));
	size_t n = 0;

	if (!out)
		return -ENOMEM;
	for (unsigned b = 0; b < TOK_BYTES; b++)
		id_of_byte[b] = (uint16_t)tok_id_of_byte((uint8_t)b);
	for (size_t at = 0; at < len;) {
		size_t word = tok_pretoken(text + at, len - at);
		for (size_t done = 0;
		        done <
		        word;) { /* very long runs are merged in pieces: the cost is quadratic */
			size_t piece = word - done < 512 ? word - done : 512;
			for (size_t i = 0; i < piece; i++)
				out[n + i] = id_of_byte[text[at + done + i]];
			n += merge_word(t, out + n, piece);
			done += piece;
		}
		at += word;
	}
	*ids = out;
	*count = n;
	return 0;
}
