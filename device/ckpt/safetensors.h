/* safetensors.h - the safetensors container: header parse, validate and build. Pure.
 * File = u64 LE header length, JSON header, tensor bytes without gaps (huggingface/safetensors
 * README, "Format").
 */
#ifndef RX_SAFETENSORS_H
#define RX_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#define ST_MAX_HEADER       (16u << 20) /* we refuse larger headers */
#define ST_SIZE_AS_DECLARED UINT64_MAX  /* file size not known yet: take what the tensors cover */
#define ST_MAX_DIMS         8

struct st_tensor {
	char name[128];
	char dtype[8]; /* F32, U16, ... */
	unsigned ndims;
	uint64_t shape[ST_MAX_DIMS];
	uint64_t begin, end; /* bytes, relative to the data section */
};

struct st_meta {
	char *key, *value;
};

struct st_file {
	struct st_tensor *tensors; /* in order of begin */
	unsigned ntensors;
	struct st_meta *meta; /* __metadata__, strings only */
	unsigned nmeta;
	uint64_t header_size; /* bytes before the data section, length word included */
	uint64_t data_size;
};

/* st_parse_length - @head: the first 8 bytes. Return: bytes of header that must be read in all;
 * -EINVAL too large. */
int64_t st_parse_length(const uint8_t head[8]);

/* st_parse - @head: header_size bytes from st_parse_length(); @file_size: bytes of the whole file.
 * Everything is checked: JSON, dtypes, shape times size equals extent, no overlap, no gap, total
 * equals the file. Return: 0, *out the caller's; -EINVAL with a sentence in @why; -ENOMEM.
 */
int st_parse(const uint8_t *head, size_t len, uint64_t file_size, struct st_file **out, char *why,
        size_t why_size);
void st_free(struct st_file *f);
const struct st_tensor *st_find(const struct st_file *f, const char *name);
const char *st_meta_get(const struct st_file *f, const char *key); /* NULL when absent */

/* st_build - header bytes for these tensors; begin and end are filled in, in the order given.
 * Padded with spaces to 8 bytes. Return: 0, *head the caller's; -EINVAL a tensor is malformed;
 * -ENOMEM.
 */
int st_build(struct st_tensor *tensors, unsigned ntensors, const struct st_meta *meta,
        unsigned nmeta, uint8_t **head, size_t *len);

#endif
