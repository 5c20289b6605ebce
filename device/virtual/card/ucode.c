/* ucode.c - is this an image an engine would accept? A real card checks a signature. Stand-ins
 * carry their own proof (standin.h); vendor images have no such header and are only looked at for
 * being there at all.
 */
#include "device/bytes.h"
#include "device/firmware/standin.h"
#include "device/virtual/card/card_priv.h"

static bool stand_in(const uint8_t *image, size_t bytes)
{
	return bytes >= STANDIN_MIN_BYTES && get_le32(image) == STANDIN_MAGIC;
}

static bool all_the_same(const uint8_t *image, size_t bytes)
{
	for (size_t i = 1; i < bytes; i++)
		if (image[i] != image[0])
			return false;
	return true;
}

const char *card_ucode_wrong(const uint8_t *image, size_t bytes, size_t at, uint32_t kind)
{
	if (!bytes || all_the_same(image, bytes))
		return "there is no image";
	if (at > bytes || !stand_in(image + at, bytes - at))
		return NULL;
	if (get_le32(image + at + 4) != kind)
		return "the image is for another engine";
	if (get_le32(image + at + 8) != bytes)
		return "the image has another length than it says";
	if (get_le32(image + bytes - 4) != crc32_of(image, bytes - 4))
		return "the image is corrupt: its checksum is wrong";
	return NULL;
}
