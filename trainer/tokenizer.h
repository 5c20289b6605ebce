/* tokenizer.h - byte-level BPE as GPT-2 uses it: train on text, encode, decode, save and load as
 * vocab.json and merges.txt. Ids: 0..255 bytes in GPT-2's order, then one id a merge in order of
 * merging, the last id of the vocabulary is <|endoftext|>. Pre-tokens are GPT-2's pattern with
 * ASCII classes; bytes from 0x80 count as letters. Same text, same merges, on any machine.
 */
#ifndef TRAINER_TOKENIZER_H
#define TRAINER_TOKENIZER_H

#include <stddef.h>
#include <stdint.h>

struct tokenizer;

/* tok_train - learn at most @vocab - 257 merges from @len bytes of text. @vocab: 257..65535. When
 * the text gives fewer merges the ids between the last merge and <|endoftext|> stay unused. Return:
 * 0; -EINVAL; -ENOMEM. */
int tok_train(struct tokenizer **out, const uint8_t *text, size_t len, unsigned vocab);
void tok_free(struct tokenizer *t);

unsigned tok_vocab(const struct tokenizer *t); /* ids in all, <|endoftext|> included */
unsigned tok_end(const struct tokenizer *t);   /* id of <|endoftext|> */

/* tok_encode - ids of @len bytes. *ids is the caller's. Return: 0; -ENOMEM. */
int tok_encode(
        const struct tokenizer *t, const uint8_t *text, size_t len, uint16_t **ids, size_t *count);
/* tok_bytes - the bytes an id stands for; NULL and 0 for <|endoftext|> and unused ids. */
const uint8_t *tok_bytes(const struct tokenizer *t, unsigned id, size_t *len);

/* tok_save - DIR/vocab.json and DIR/merges.txt, readable by Hugging Face tokenizers
 * (GPT2Tokenizer). Return: 0; -errno. */
int tok_save(const struct tokenizer *t, const char *dir);
/* tok_load - from DIR/merges.txt and the size in DIR/vocab.json; everything is checked. Return: 0;
 * -EINVAL; -errno. */
int tok_load(struct tokenizer **out, const char *dir);

#endif
