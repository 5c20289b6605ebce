/* tok_train.c - learn merges: count unique pre-tokens once, then merge the most frequent pair again
 * and again. Ties go to the pair with the smaller (left, right) ids, so the result does not depend
 * on hash order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/tok_priv.h"

#define MIN_COUNT 2 /* a pair seen once teaches nothing */

struct word {
	uint16_t *ids;
	uint32_t n;
	uint32_t next; /* chain in the word table, index + 1 */
	uint64_t count;
	uint32_t hash;
};

struct pair {
	uint32_t key;    /* left << 16 | right */
	uint32_t *words; /* indices of words that held it at some time; may repeat */
	uint32_t nwords, room;
	int64_t count;
	bool used;
};

struct learner {
	struct word *words;
	uint32_t nwords, words_room;
	uint32_t *buckets;
	uint32_t nbuckets;
	struct pair *pairs;
	uint32_t npairs, pairs_room; /* open addressing, power of two */
};

static uint32_t hash_bytes(const uint8_t *p, size_t n)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 16777619u;
	return h;
}

static struct pair *find_pair(struct learner *l, uint32_t key)
{
	uint32_t i = key * 0x9E3779B1u >> 5 & (l->pairs_room - 1);

	while (l->pairs[i].used && l->pairs[i].key != key)
		i = (i + 1) & (l->pairs_room - 1);
	return &l->pairs[i];
}

static int grow_pairs(struct learner *l)
{
	struct pair *old = l->pairs;
	uint32_t room = l->pairs_room;

	l->pairs = calloc(2 * (size_t)room, sizeof(*l->pairs));
	if (!l->pairs) {
		l->pairs = old;
		return -ENOMEM;
	}
	l->pairs_room = 2 * room;
	for (uint32_t i = 0; i < room; i++)
		if (old[i].used)
			*find_pair(l, old[i].key) = old[i];
	free(old);
	return 0;
}

static int count_pair(struct learner *l, uint32_t left, uint32_t right, uint32_t word, int64_t by)
{
	if (2 * l->npairs >= l->pairs_room && grow_pairs(l))
		return -ENOMEM;
	struct pair *p = find_pair(l, left << 16 | right);
	if (!p->used) {
		p->used = true;
		p->key = left << 16 | right;
		l->npairs++;
	}
	p->count += by;
	if (by < 0 || (p->nwords && p->words[p->nwords - 1] == word))
		return 0;
	if (p->nwords == p->room) {
		uint32_t room = p->room ? 2 * p->room : 4;
		uint32_t *more = realloc(p->words, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		p->words = more;
		p->room = room;
	}
	p->words[p->nwords++] = word;
	return 0;
}

/* Ids of a word's bytes; the table of unique words is keyed by them. */
static int add_word(struct learner *l, const uint8_t *text, size_t n, const uint16_t *id_of_byte)
{
	uint32_t h = hash_bytes(text, n), *head = &l->buckets[h & (l->nbuckets - 1)];

	for (uint32_t i = *head; i; i = l->words[i - 1].next) {
		struct word *w = &l->words[i - 1];
		bool same = w->hash == h && w->n == n;
		for (size_t k = 0; same && k < n; k++)
			same = w->ids[k] == id_of_byte[text[k]];
		if (same) {
			w->count++;
			return 0;
		}
	}
	if (l->nwords == l->words_room) {
		uint32_t room = l->words_room ? 2 * l->words_room : 4096;
		struct word *more = realloc(l->words, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		l->words = more;
		l->words_room = room;
	}
	struct word *w = &l->words[l->nwords];
	*w = (struct word){.ids = malloc(n * sizeof(*w->ids)),
	        .n = (uint32_t)n,
	        .next = *head,
	        .count = 1,
	        .hash = h};
	if (!w->ids)
		return -ENOMEM;
	for (size_t k = 0; k < n; k++)
		w->ids[k] = id_of_byte[text[k]];
	*head = ++l->nwords;
	return 0;
}

static int count_words(struct learner *l, const uint8_t *text, size_t len)
{
	uint16_t id_of_byte[TOK_BYTES];
	int err = 0;

	for (unsigned b = 0; b < TOK_BYTES; b++)
		id_of_byte[b] = (uint16_t)tok_id_of_byte((uint8_t)b);
	for (size_t at = 0; at < len && !err;) {
		size_t n = tok_pretoken(text + at, len - at);
		n = n < 512 ? n : 512; /* as tok_encode() cuts them */
		err = add_word(l, text + at, n, id_of_byte);
		at += n;
	}
	return err;
}

static int count_pairs(struct learner *l)
{
	for (uint32_t i = 0; i < l->nwords; i++) {
		const struct word *w = &l->words[i];
		for (uint32_t k = 0; k + 1 < w->n; k++)
			if (count_pair(l, w->ids[k], w->ids[k + 1], i, (int64_t)w->count))
				return -ENOMEM;
	}
	return 0;
}

static const struct pair *best_pair(const struct learner *l)
{
	const struct pair *best = NULL;

	for (uint32_t i = 0; i < l->pairs_room; i++) {
		const struct pair *p = &l->pairs[i];
		if (!p->used || p->count < MIN_COUNT)
			continue;
		if (!best || p->count > best->count ||
		        (p->count == best->count && p->key < best->key))
			best = p;
	}
	return best;
}

/* Replace the pair in one word, keeping all pair counts right. */
static int merge_in_word(
        struct learner *l, uint32_t index, uint32_t left, uint32_t right, uint16_t id)
{
	struct word *w = &l->words[index];
	uint32_t kept = 0, k = 0;
	int64_t count = (int64_t)w->count;
	int err = 0;

	while (k + 1 < w->n && !(w->ids[k] == left && w->ids[k + 1] == right))
		k++;
	if (k + 1 >= w->n)
		return 0; /* a stale entry of the pair's list */
	for (k = 0; k + 1 < w->n && !err; k++)
		err = count_pair(l, w->ids[k], w->ids[k + 1], index, -count);
	for (k = 0; k < w->n; k++) {
		if (k + 1 < w->n && w->ids[k] == left && w->ids[k + 1] == right) {
			w->ids[kept++] = id;
			k++;
		} else {
			w->ids[kept++] = w->ids[k];
		}
	}
	w->n = kept;
	for (k = 0; k + 1 < w->n && !err; k++)
		err = count_pair(l, w->ids[k], w->ids[k + 1], index, count);
	return err;
}

static int apply_merge(struct learner *l, uint32_t key, uint16_t id)
{
	struct pair *p = find_pair(l, key);
	uint32_t *words = p->words, n = p->nwords;
	int err = 0;

	p->words = NULL; /* the table may move while words are merged */
	p->nwords = p->room = 0;
	for (uint32_t i = 0; i < n && !err; i++)
		err = merge_in_word(l, words[i], key >> 16, key & 0xffff, id);
	free(words);
	return err;
}

static int learn(struct learner *l, struct tokenizer *t)
{
	while (TOK_BYTES + t->nmerges + 1 < t->vocab) {
		const struct pair *best = best_pair(l);
		if (!best)
			return 0;
		uint32_t key = best->key;
		int id = tok_add_merge(t, key >> 16, key & 0xffff);
		if (id ==
		        -EINVAL) { /* the token would be too long: never look at this pair again */
			find_pair(l, key)->count = INT64_MIN / 2;
			continue;
		}
		int err = id < 0 ? id : apply_merge(l, key, (uint16_t)id);
		if (err)
			return err;
	}
	return 0;
}

static void learner_free(struct learner *l)
{
	for (uint32_t i = 0; i < l->nwords; i++)
		free(l->words[i].ids);
	for (uint32_t i = 0; l->pairs && i < l->pairs_room; i++)
		free(l->pairs[i].words);
	free(l->words);
	free(l->buckets);
	free(l->pairs);
}

int tok_train(struct tokenizer **out, const uint8_t *text, size_t len, unsigned vocab)
{
	struct learner l = {.nbuckets = 1u << 18, .pairs_room = 1u << 16};
	struct tokenizer *t;
	int err = tok_new(&t, vocab);

	if (err)
		return err;
	l.buckets = calloc(l.nbuckets, sizeof(*l.buckets));
	l.pairs = calloc(l.pairs_room, sizeof(*l.pairs));
	err = l.buckets && l.pairs ? count_words(&l, text, len) : -ENOMEM;
	if (!err)
		err = count_pairs(&l);
	if (!err)
		err = learn(&l, t);
	learner_free(&l);
	if (err) {
		tok_free(t);
		return err;
	}
	*out = t;
	return 0;
}
