/* unpack.c - .xz and .zst, as distributions pack microcode. The limit is on the result: a small
 * file cannot make the daemon large. */
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "device/bytes.h"
#include "device/firmware/firmware.h"

#define XZ_MEMORY (64ull << 20) /* of the decoder; xz -9 needs this much */

static int unpack_xz(const uint8_t *in, size_t in_size, uint8_t *out, size_t *size)
{
	uint64_t memory = XZ_MEMORY;
	size_t in_at = 0, out_at = 0;
	lzma_ret r = lzma_stream_buffer_decode(
	        &memory, 0, NULL, in, &in_at, in_size, out, &out_at, FW_MAX_BYTES);

	*size = out_at;
	switch (r) {
	case LZMA_OK: return in_at == in_size ? 0 : -EINVAL;
	case LZMA_BUF_ERROR: return -EFBIG; /* a truncated file is LZMA_DATA_ERROR */
	case LZMA_MEM_ERROR: return -ENOMEM;
	default: return -EINVAL;
	}
}

static int unpack_zstd(const uint8_t *in, size_t in_size, uint8_t *out, size_t *size)
{
	unsigned long long says = ZSTD_getFrameContentSize(in, in_size);

	if (says == ZSTD_CONTENTSIZE_ERROR)
		return -EINVAL;
	if (says != ZSTD_CONTENTSIZE_UNKNOWN && says > FW_MAX_BYTES)
		return -EFBIG;
	size_t n = ZSTD_decompress(out, FW_MAX_BYTES, in, in_size);

	if (ZSTD_isError(n))
		return -EINVAL;
	*size = n;
	return 0;
}

static bool ends_in(const char *name, const char *suffix)
{
	size_t n = strlen(name), s = strlen(suffix);

	return n >= s && !strcmp(name + n - s, suffix);
}

static int copy_plain(const uint8_t *in, size_t in_size, uint8_t **data, size_t *size)
{
	if (in_size > FW_MAX_BYTES)
		return -EFBIG;
	*data = malloc(MAX(in_size, (size_t)1));
	if (!*data)
		return -ENOMEM;
	memcpy(*data, in, in_size);
	*size = in_size;
	return 0;
}

int fw_unpack(
        const char *name, const uint8_t *packed, size_t packed_size, uint8_t **data, size_t *size)
{
	bool xz = ends_in(name, ".xz");

	if (!xz && !ends_in(name, ".zst"))
		return copy_plain(packed, packed_size, data, size);
	uint8_t *out = malloc(FW_MAX_BYTES);

	if (!out)
		return -ENOMEM;
	int err = (xz ? unpack_xz : unpack_zstd)(packed, packed_size, out, size);

	if (err) {
		free(out);
		return err;
	}
	/* as small as it is, so that an overread is one for the sanitizers, too */
	uint8_t *exact = realloc(out, MAX(*size, (size_t)1));

	*data = exact ? exact : out;
	return 0;
}
