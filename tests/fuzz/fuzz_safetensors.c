/* fuzz_safetensors.c - any bytes as the head of a safetensors file: refused with a sentence, or
 * tensors that tile the data section exactly and survive being written again.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "device/ckpt/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
	if (!holds)
		abort();
}

static void check_tiling(const struct st_file *f)
{
	uint64_t at = 0;

	for (unsigned i = 0; i < f->ntensors; i++) {
		const struct st_tensor *t = &f->tensors[i];
		require(t->begin == at && t->end >= t->begin && t->ndims <= ST_MAX_DIMS);
		require(memchr(t->name, 0, sizeof(t->name)) != NULL);
		require(st_find(f, t->name) == t);
		at = t->end;
	}
	require(at == f->data_size);
}

static void check_rewrite(struct st_file *f)
{
	uint8_t *head = NULL;
	size_t len = 0;
	struct st_file *again = NULL;
	char why[200];
	int err = st_build(f->tensors, f->ntensors, f->meta, f->nmeta, &head, &len);

	if (err == -ENOMEM)
		return;
	require(err == 0);
	err = st_parse(head, len, len + f->data_size, &again, why, sizeof(why));
	require(err == -ENOMEM || err == 0);
	if (!err) {
		require(again->ntensors == f->ntensors && again->data_size == f->data_size);
		st_free(again);
	}
	free(head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t sizes[] = {ST_SIZE_AS_DECLARED, 0, UINT64_MAX - 1};
	struct st_file *f = NULL;
	char why[200];

	if (size < 8)
		return 0;
	int64_t len = st_parse_length(data);

	require(len == -EINVAL || len >= 8);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		why[0] = 0;
		int err = st_parse(data, size, sizes[i], &f, why, sizeof(why));
		if (!err) {
			check_tiling(f);
			check_rewrite(f);
			st_free(f);
		} else {
			require((err == -EINVAL && why[0]) || err == -ENOMEM);
		}
	}
	return 0;
}
