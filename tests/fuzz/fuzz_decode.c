/* fuzz_decode.c - the gfx803 decoder and disassembler on any bytes: no overread, no size that was
 * not given. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "device/virtual/gcn3/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[32]; /* short, so that truncation is exercised */
	struct gcn3_insn i;

	while (size) {
		int used = gcn3_decode(data, size, &i);

		if (used < 0) {
			if (used != -EINVAL && used != -ENODATA)
				abort();
			used = size < 4 ? (int)size : 4;
		} else if ((used != 4 && used != 8) || (size_t)used > size ||
		           i.op == GCN3_OP_INVALID || i.op >= GCN3_OP_COUNT ||
		           gcn3_disassemble(&i, text, sizeof(text)) <= 0) {
			abort();
		}
		data += used;
		size -= (size_t)used;
	}
	return 0;
}
