/* fuzz_firmware.c - any bytes as a microcode file of any kind: refused with a sentence, or a result
 * whose every range lies inside the file. The first byte chooses the kind and the packing.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "device/firmware/firmware.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
	if (!holds)
		abort();
}

static void require_inside(const struct fw_image *f, const uint8_t *p, uint32_t bytes)
{
	require(p >= f->data && bytes <= f->size && (size_t)(p - f->data) <= f->size - bytes);
}

static void check(const struct fw_image *f)
{
	require_inside(f, f->payload, f->payload_bytes);
	require(f->payload_bytes && f->payload_bytes % 4 == 0);
	require(f->jt_bytes <= f->payload_bytes && f->jt_offset <= f->payload_bytes - f->jt_bytes);
	require(f->kind != FW_MEC || (f->jt_bytes && f->jt_offset));
	if (f->io_debug_bytes)
		require_inside(f, f->io_debug, f->io_debug_bytes);
	if (f->kind == FW_SMC)
		require(f->payload_bytes <= FW_SMC_MAX_BYTES && f->start_address % 4 == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"f.bin", "f.bin.xz", "f.bin.zst"};
	struct fw_image image;
	char why[160] = "";
	uint8_t *file;
	size_t n;

	if (!size)
		return 0;
	int err = fw_unpack(names[data[0] / FW_KINDS % 3], data + 1, size - 1, &file, &n);

	if (err) {
		require(err == -EINVAL || err == -EFBIG || err == -ENOMEM);
		return 0;
	}
	err = fw_parse(&image, (enum fw_kind)(data[0] % FW_KINDS), file, n, why, sizeof(why));
	if (err)
		require(err == -EINVAL && why[0]);
	else
		check(&image);
	free(file);
	return 0;
}
