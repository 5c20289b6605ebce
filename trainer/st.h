/* st.h - safetensors files as the trainer reads and writes them: u64 LE header length, JSON header,
 * tensor bytes without gaps (huggingface/safetensors README, "Format"). Pure. Every field of a
 * foreign header is checked before it is used; what is wrong is said in one sentence.
 */
#ifndef TRAINER_ST_H
#define TRAINER_ST_H

#include <stddef.h>
#include <stdint.h>

#define ST_MAX_DIMS 4

struct st_tensor {
	char name[128];
	char dtype[8];
	unsigned ndims;
	uint64_t shape[ST_MAX_DIMS];
	uint64_t begin, end; /* bytes, relative to the data section */
};

struct st_header {
	struct st_tensor *tensors; /* in order of begin */
	unsigned ntensors;
	uint64_t header_size; /* bytes in front of the data, length word included */
	uint64_t step;        /* __metadata__ "step"; 0 when absent */
};

/* st_header_size - from the first 8 bytes. Return: bytes of header in all; -EINVAL impossible. */
int64_t st_header_size(const uint8_t head[8]);
/* st_parse - @head: the whole header; @file_size: bytes of the whole file. Caller frees with
 * st_free(). Return: 0; -EINVAL with @why; -ENOMEM. */
int st_parse(struct st_header *out, const uint8_t *head, size_t len, uint64_t file_size, char *why,
        size_t why_size);
void st_free(struct st_header *h);
const struct st_tensor *st_find(const struct st_header *h, const char *name);
/* st_read - the header of an open file. Return: as st_parse(); -errno. */
int st_read(struct st_header *out, int fd, char *why, size_t why_size);
/* st_build - header text for tensors one behind the other; sets begin and end. @meta: key, value,
 * key, value, ..., NULL. Caller frees *head. Return: 0; -ENOMEM. */
int st_build(struct st_tensor *tensors, unsigned ntensors, const char *const *meta, uint8_t **head,
        size_t *len);
/* st_float - a float32 tensor of one or two dimensions. */
struct st_tensor st_float(
        const char *prefix, const char *name, unsigned ndims, const unsigned *shape);

#endif
