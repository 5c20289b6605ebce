/* rom.c - what the flash holds: a file, or the synthetic image. The card does not judge an image
 * beyond what makes the ROM window answer; that is the driver's business.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/virtual/card/card_priv.h"
#include "device/virtual/vbios/synth.h"

#define SUBSYSTEM    0xE3661DA2u /* of the synthetic board */
#define IMAGE_BLOCKS 118         /* of 512 bytes, as long as a real one: polaris.md 2.1 */

static uint32_t power_of_two(uint32_t at_least, uint32_t from)
{
	while (from < at_least)
		from *= 2;
	return from;
}

/* The board's identity is in its own ATOM header: atombios.md 2. */
static uint32_t subsystem_of(const uint8_t *rom, uint32_t bytes)
{
	uint32_t header = bytes >= 0x4A ? get_le16(rom + 0x48) : 0;

	if (!header || !range_ok(header, 0x1C, bytes))
		return SUBSYSTEM;
	return get_le32(rom + header + 0x18);
}

static int load(struct vcard *c, FILE *f)
{
	size_t n = fread(c->flash, 1, CARD_FLASH_MAX, f);

	if (ferror(f))
		return rx_fail("card", -EIO, "cannot read VBIOS file %s", c->opt.vbios);
	if (n == CARD_FLASH_MAX && fgetc(f) != EOF)
		return rx_fail("card", -EINVAL,
		        "VBIOS file %s is longer than 512 KiB, the largest flash", c->opt.vbios);
	if (n < 512 || get_le16(c->flash) != 0xAA55)
		return rx_fail("card", -EINVAL,
		        "%s is no VBIOS image: it does not begin with the bytes 55 AA",
		        c->opt.vbios);
	c->flash_bytes = power_of_two((uint32_t)n, CARD_FLASH_BYTES);
	c->subsystem = subsystem_of(c->flash, (uint32_t)n);
	return 0;
}

static int synthesise(struct vcard *c)
{
	const struct synth_options opt = {.vram_mb = (uint32_t)(c->opt.vram_bytes >> 20),
	        .subsystem_vendor = SUBSYSTEM & 0xFFFF,
	        .subsystem_id = SUBSYSTEM >> 16,
	        .blocks = IMAGE_BLOCKS};
	int n = synth_build(c->flash, CARD_FLASH_BYTES, &opt);

	if (n < 0)
		return n;
	c->flash_bytes = CARD_FLASH_BYTES;
	c->subsystem = SUBSYSTEM;
	return 0;
}

int card_rom_new(struct vcard *c)
{
	c->flash =
	        calloc(1, CARD_FLASH_MAX); /* beyond the file 0: policy E rule 2, atombios.md 14 */
	if (!c->flash)
		return -ENOMEM;
	if (!c->opt.vbios)
		return synthesise(c);
	/* a pipe is not waited for */
	int fd = open(c->opt.vbios, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "rb");

	if (!f) {
		int err = -errno;

		if (fd >= 0)
			close(fd);
		return rx_fail(
		        "card", err, "cannot open VBIOS file %s: %s", c->opt.vbios, strerror(-err));
	}
	int r = load(c, f);

	fclose(f);
	return r;
}
