/* fuzz_code_object.c - any bytes as a gfx803 code object: refused with a sentence, or a result
 * whose every offset lies inside its image.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "device/compile/code_object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
	if (!holds)
		abort();
}

static void check_kernel(const struct code_object *co, const struct co_kernel *k)
{
	/* the descriptor is 64 bytes (polaris.md 9.2) */
	require(k->descriptor <= co->image_size && co->image_size - k->descriptor >= 64);
	require(k->entry < co->image_size && k->entry % 256 == 0);
	require(memchr(k->name, 0, sizeof(k->name)) != NULL);
	require(code_object_find(co, k->name) != NULL);
	for (unsigned i = 0; i < k->nargs; i++) {
		const struct co_arg *a = &k->args[i];
		require(a->size <= k->kernarg_size && a->offset <= k->kernarg_size - a->size);
		require(memchr(a->name, 0, sizeof(a->name)) != NULL);
	}
}

static void check(const struct code_object *co)
{
	uint8_t *image = malloc(co->image_size ? co->image_size : 1);
	char *json = code_object_json(co);

	for (unsigned i = 0; i < co->nkernels; i++)
		check_kernel(co, &co->kernels[i]);
	if (image) {
		memcpy(image, co->image, co->image_size);
		code_object_relocate(co, 0xf400000000, image);
	}
	free(image);
	free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct code_object *co = NULL;
	char why[200] = "";
	int err = code_object_parse(data, size, &co, why, sizeof(why));

	if (err == 0) {
		check(co);
		code_object_free(co);
	} else {
		require((err == -EINVAL && why[0]) || err == -ENOMEM);
	}
	return 0;
}
