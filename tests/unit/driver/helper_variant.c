/* helper_variant.c - see helper_variant.h. */
#include "helper_variant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/atom/atom_opcodes.h"
#include "device/bytes.h"
#include "device/virtual/vbios/atom_asm.h"
#include "device/virtual/vbios/synth.h"

#define UNIT   512u
#define BLOCKS 126u /* room behind every real image, below 64 KiB */

static uint16_t word(const struct variant *v, uint32_t at)
{
	return get_le16(v->flash + at);
}

/* widen - the legacy image to BLOCKS, last of its chain; what it gains is free. */
static void widen(struct variant *v)
{
	uint32_t pcir = word(v, 0x18), old = v->flash[2] * UNIT;

	assert_true(old <= BLOCKS * UNIT);
	memset(v->flash + old, 0xFF, BLOCKS * UNIT - old);
	v->flash[2] = BLOCKS;
	put_le16(v->flash + pcir + 0x10, BLOCKS);
	v->flash[pcir + 0x15] |= 0x80;
	v->used = old;
	v->free = BLOCKS * UNIT;
}

void variant_synth(struct variant *v)
{
	const struct synth_options opt = {
	        .vram_mb = 512, .subsystem_vendor = 0x1DA2, .subsystem_id = 0xE366};

	v->bytes = SYNTH_FLASH_BYTES;
	assert_true(synth_build(v->flash, v->bytes, &opt) > 0);
	widen(v);
}

bool variant_load(struct variant *v, const char *path)
{
	FILE *f = fopen(path, "rb");

	if (!f)
		return false;
	v->bytes = fread(v->flash, 1, sizeof(v->flash), f);
	fclose(f);
	widen(v);
	return true;
}

static uint32_t slot(const struct variant *v, unsigned index)
{
	return word(v, word(v, 0x48) + 0x20u) + 4u + 2 * index;
}

uint8_t *variant_table(struct variant *v, unsigned index)
{
	uint32_t at = word(v, slot(v, index));

	return at ? v->flash + at : NULL;
}

void variant_drop(struct variant *v, unsigned index)
{
	put_le16(v->flash + slot(v, index), 0);
}

static uint8_t *carve(struct variant *v, unsigned index, unsigned bytes)
{
	v->free = (v->free - bytes) & ~1u;
	assert_true(v->free >= v->used);
	put_le16(v->flash + slot(v, index), (uint16_t)v->free);
	memset(v->flash + v->free, 0, bytes);
	put_le16(v->flash + v->free, (uint16_t)bytes);
	return v->flash + v->free;
}

uint8_t *variant_move(struct variant *v, unsigned index, unsigned more)
{
	const uint8_t *old = variant_table(v, index);
	uint16_t size = get_le16(old);
	uint8_t *p = carve(v, index, size + more);

	memcpy(p + 2, old + 2, size - 2u);
	return p;
}

uint8_t *variant_new(
        struct variant *v, unsigned index, unsigned major, unsigned minor, unsigned bytes)
{
	uint8_t *p = carve(v, index, bytes);

	p[2] = (uint8_t)major;
	p[3] = (uint8_t)minor;
	return p;
}

void variant_save(struct variant *v, char path[64])
{
	as_checksum(v->flash);
	strcpy(path, "/tmp/rx580fs-test-XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, v->flash, v->bytes), v->bytes);
	close(fd);
}
