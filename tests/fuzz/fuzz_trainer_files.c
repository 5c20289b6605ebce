/* fuzz_trainer_files.c - what the trainer reads of a checkpoint: safetensors headers and
 * trainer.json. First byte: which. */
#include <stdint.h>
#include <stdlib.h>

#include "trainer/run_config.h"
#include "trainer/st.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void header(const uint8_t *data, size_t size)
{
	struct st_header h;
	char why[128];
	int64_t n = size < 8 ? -1 : st_header_size(data);

	if (n < 0 ||
	        st_parse(&h, data, (size_t)n < size ? (size_t)n : size, size, why, sizeof(why)))
		return;
	/* what was accepted covers the file exactly */
	uint64_t at = h.header_size;
	for (unsigned i = 0; i < h.ntensors; i++)
		at += h.tensors[i].end - h.tensors[i].begin;
	if (at != size)
		abort();
	st_free(&h);
}

static void run(const uint8_t *data, size_t size)
{
	struct run_state s;
	char why[256];

	if (run_parse(&s, (const char *)data, size, why, sizeof(why)))
		return;
	/* what was accepted is a model that can be laid out */
	if (model_check(&s.config.model, why, sizeof(why)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (data[0] & 1)
		run(data + 1, size - 1);
	else
		header(data + 1, size - 1);
	return 0;
}
