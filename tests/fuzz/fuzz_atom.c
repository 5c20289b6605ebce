/* fuzz_atom.c - libFuzzer entry: bytecode for the ATOM interpreter.
 * Byte 0: bit 0 set: the rest is a whole image (its checksum is put right), byte 1 the table to
 * run; clear: the rest is the code of command table 0 in a sound image. Bit 1: go on where Linux
 * only complains. The card answers with numbers that depend on what was asked and how often.
 */
#include <stdlib.h>
#include <string.h>

#include "device/atom/atom.h"
#include "device/bytes.h"
#include "device/err.h"
#include "device/log.h"
#include "device/virtual/vbios/atom_asm.h"
#include "device/virtual/vbios/synth.h"

#define WHOLE_IMAGE 1
#define GO_ON       2
#define MAX_STEPS   20000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct card {
	uint32_t reads;
	bool go_on;
};

static int reg_read(void *ctx, uint32_t reg, uint32_t *value)
{
	struct card *c = ctx;

	*value = (reg + ++c->reads) * 0x9E3779B1u;
	return 0;
}

static int reg_write(void *ctx, uint32_t reg, uint32_t value)
{
	(void)ctx;
	(void)value;
	return reg == 0xDEAD ? -EIO : 0; /* a card may fail */
}

static int delay_us(void *ctx, uint32_t us)
{
	(void)ctx;
	if (us > 255000) /* a count is one byte */
		abort();
	return 0;
}

static int complain(void *ctx, enum atom_complaint what)
{
	(void)what;
	return ((struct card *)ctx)->go_on ? 0 : -EINVAL;
}

static void run(const uint8_t *image, size_t size, unsigned table, bool go_on)
{
	struct card card = {.go_on = go_on};
	const struct atom_host host = {.ctx = &card,
	        .reg_read = reg_read,
	        .reg_write = reg_write,
	        .delay_us = delay_us,
	        .pll_read = reg_read,
	        .pll_write = reg_write,
	        .complain = complain};
	uint32_t *params = calloc(ATOM_PARAMS, sizeof(*params)); /* apart, for AddressSanitizer */
	struct atom *a;

	if (!atom_open(&a, image, size, &host)) {
		atom_set_limits(a, &(struct atom_limits){.max_steps = MAX_STEPS});
		int err = atom_run(a, table, params, ATOM_PARAMS);

		if (err > 0 || atom_where(a) >= size)
			abort();
		atom_close(a);
	}
	free(params);
}

static void run_image(const uint8_t *data, size_t size, unsigned table, bool go_on)
{
	uint8_t *image = malloc(size);

	if (!image)
		return;
	memcpy(image, data, size);
	if (size > 3 && image[2] * 512u <= size && image[2])
		as_checksum(image);
	run(image, size, table, go_on);
	free(image);
}

/* run_code - the code becomes table 0 of the synthetic VBIOS, behind all of its tables. */
static void run_code(const uint8_t *code, size_t size, bool go_on)
{
	static uint8_t flash[SYNTH_FLASH_BYTES];
	static int legacy;

	if (!legacy)
		legacy =
		        synth_build(flash, sizeof(flash), &(struct synth_options){.vram_mb = 4096});
	size_t bytes = align_up((size_t)legacy + ATOM_COMMAND_CODE + size, 512);
	uint8_t *image = bytes / 512 < 128 ? calloc(1, bytes) : NULL;

	if (!image)
		return;
	memcpy(image, flash, (size_t)legacy);
	uint8_t *table = image + legacy, *pcir = image + get_le16(image + 0x18);
	uint16_t header = get_le16(image + 0x48);

	put_le16(table, (uint16_t)(ATOM_COMMAND_CODE + size));
	table[4] = 32; /* workspace */
	table[5] = 8;  /* parameters */
	memcpy(table + ATOM_COMMAND_CODE, code, size);
	put_le16(image + get_le16(image + header + 0x1E) + ATOM_HEADER_BYTES, (uint16_t)legacy);
	image[2] = (uint8_t)(bytes / 512);
	put_le16(pcir + 0x10, image[2]);
	as_checksum(image);
	run(image, bytes, 0, go_on);
	free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	rx_log_set_stderr(false);
	if (size < 3)
		return 0;
	if (data[0] & WHOLE_IMAGE)
		run_image(data + 2, size - 2, data[1], data[0] & GO_ON);
	else
		run_code(data + 1, size - 1, data[0] & GO_ON);
	return 0;
}
