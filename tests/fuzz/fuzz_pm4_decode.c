/* fuzz_pm4_decode.c - any dwords as a ring of packets: printed, never read beyond. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cp/pm4_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t count = size / 4, len = 0;
	uint32_t *dw = malloc(count ? count * 4 : 1); /* exact: an overread is seen */
	char *text = NULL;
	FILE *out = open_memstream(&text, &len);

	if (dw && out) {
		memcpy(dw, data, count * 4);
		pm4_print(out, 0xf400000000, dw, count);
	}
	if (out)
		fclose(out);
	/* a line a packet, so something is said about every ring that is not empty */
	if (dw && text && count && (!len || text[len - 1] != '\n'))
		abort();
	free(text);
	free(dw);
	return 0;
}
