/* tok_priv.h - inside of a tokenizer. Private to the tok_*.c files. */
#ifndef TRAINER_TOK_PRIV_H
#define TRAINER_TOK_PRIV_H

#include <stdbool.h>

#include "trainer/tokenizer.h"

#define TOK_BYTES     256
#define TOK_MAX_TOKEN 256 /* bytes of one token: longer merges are not learned */

struct tok_pair_slot {
	uint32_t pair; /* left << 16 | right */
	uint32_t id;   /* of the merged token; 0: free (id 0 is a byte, never a merge) */
};

struct tokenizer {
	unsigned vocab, nmerges;
	uint16_t (*merge)[2];        /* [nmerges] */
	uint8_t **bytes;             /* [256 + nmerges] */
	uint16_t *length;            /* [256 + nmerges] */
	struct tok_pair_slot *table; /* open addressing: pair -> merged id */
	uint32_t table_mask;
};

/* tok_new - no merges yet, room for all of @vocab. Return: 0; -EINVAL; -ENOMEM. */
int tok_new(struct tokenizer **out, unsigned vocab);
/* tok_add_merge - append a merge of two existing ids. Return: its id; -EINVAL full, too long or
 * already there; -ENOMEM. */
int tok_add_merge(struct tokenizer *t, unsigned left, unsigned right);
/* tok_find_merge - id of left+right; -1 when it was not learned. */
int tok_find_merge(const struct tokenizer *t, unsigned left, unsigned right);
/* tok_pretoken - length of the pre-token at the start of @text, 1..len. */
size_t tok_pretoken(const uint8_t *text, size_t len);
/* GPT-2's byte order: id 0..255 <-> byte, and byte <-> printable Unicode code point (openai/gpt-2,
 * encoder.py, bytes_to_unicode). */
uint8_t tok_byte_of_id(unsigned id);
unsigned tok_id_of_byte(uint8_t byte);
unsigned tok_code_point(uint8_t byte);

#endif
