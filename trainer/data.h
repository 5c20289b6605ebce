/* data.h - text files to token streams: a training part and a held-out part that is never empty. */
#ifndef TRAINER_DATA_H
#define TRAINER_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "trainer/tokenizer.h"

/* Documents read from files: UTF-8 text, no two equal, in path order. */
struct corpus {
	struct document {
		char *path;
		uint8_t *text;
		size_t len;
		uint64_t hash; /* of the text */
	} *docs;
	size_t ndocs;
	size_t bytes;
	size_t *table; /* open addressing by hash: index + 1 of a document, 0 free */
	size_t table_room;
	size_t skipped_binary, skipped_duplicate, skipped_unreadable; /* files left out */
};

/* corpus_load - files, and all regular files below folders; symbolic links are not followed. Says
 * on stderr what it cannot read. Return: 0; -ENODATA not one usable document; -ENOMEM. */
int corpus_load(struct corpus *c, char *const *paths, size_t npaths);
void corpus_free(struct corpus *c);
/* corpus_text - all documents one after the other, for the tokenizer. Caller frees; NULL: no
 * memory. */
uint8_t *corpus_text(const struct corpus *c, size_t *len);
/* corpus_digest - 64-bit FNV-1a over all documents, to notice that a resumed run has other data. */
uint64_t corpus_digest(const struct corpus *c);

struct stream {
	uint16_t *ids;
	size_t count; /* at least 2 */
};

/* data_split - encode all documents, each followed by <|endoftext|>. About a twentieth of the
 * tokens is held out: whole documents (every 20th, by count of tokens) when there are at least 20,
 * else the end of the stream. Return: 0; -ENODATA under 4 tokens; -ENOMEM. */
int data_split(const struct corpus *c, const struct tokenizer *t, struct stream *train,
        struct stream *held_out);
void stream_free(struct stream *s);

/* stream_batch - @B rows of @T + 1 ids for @step: starts depend on (seed, step, row) only, rows
 * wrap round the end. */
void stream_batch(const struct stream *s, uint64_t seed, uint64_t step, unsigned B, unsigned T,
        uint16_t *out);
/* stream_window - row number @index of consecutive windows of T ids (and the one behind), wrapping
 * round. */
void stream_window(const struct stream *s, uint64_t index, unsigned T, uint16_t *out);
/* stream_windows - how many such windows cover the stream once, at least 1. */
uint64_t stream_windows(const struct stream *s, unsigned T);

/* data_random - 64 uniform bits that depend on (seed, index) only. */
uint64_t data_random(uint64_t seed, uint64_t index);

#endif
