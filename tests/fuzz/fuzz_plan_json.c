/* fuzz_plan_json.c - any bytes as a plan, with a card that is host memory, real kernels and two
 * buffers: refused with a sentence, or dispatches whose arguments lie inside their blocks.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/log.h"
#include "device/plan/plan_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct rx580 *card;
static struct rx_kernels *kernels;

static void require(int holds)
{
	if (!holds)
		abort();
}

static void add_kernel(const char *name)
{
	static uint8_t elf[CO_MAX_SIZE];
	char path[512], why[200];

	snprintf(path, sizeof(path), RX_BINARY_DIR "/kernels/%s.co", name);
	FILE *f = fopen(path, "rb");

	if (!f) {
		fprintf(stderr, "%s: build the kernels first\n", path);
		exit(1);
	}
	size_t len = fread(elf, 1, sizeof(elf), f);

	fclose(f);
	require(rx_module_put(kernels, name, elf, len, why, sizeof(why)) == 0);
}

static void add_buffer(const char *name, uint64_t size)
{
	struct rx_buffer *b;

	require(rx_buffer_create(card, name, &b) == 0);
	require(rx_buffer_resize(card, b, size) == 0);
}

static void set_up(void)
{
	static const struct rx_options options = {.card = "virtual,posted"};

	rx_log_set_level(NULL, LOG_ERROR);
	require(rx_open(&card, &options) == 0 && rx_kernels_new(&kernels, card) == 0);
	add_kernel("axpy");
	add_kernel("embed");
	add_buffer("x", 4096);
	add_buffer("y", 1 << 20);
}

static void check_dispatch(const struct plan_dispatch *d)
{
	for (unsigned i = 0; i < d->nfixups; i++) {
		const struct plan_fixup *f = &d->fixups[i];
		require(f->offset % 4 == 0 && f->offset + 8 <= d->kernel->kernarg_size);
		require(f->kind != FIX_BUFFER || f->add < rx_buffer_size(f->buffer));
	}
	for (int i = 0; i < 3; i++)
		require(d->groups[i] && d->group[i]);
	require(d->kernel->lds_bytes + d->local_bytes <= 65536); /* LDS of a CU: polaris.md 1.4 */
}

static void check(const struct plan_desc *d)
{
	for (unsigned i = 0; i < d->nsteps; i++)
		check_dispatch(&d->steps[i]);
	for (unsigned i = 0; i < d->nupdates; i++)
		check_dispatch(&d->updates[i]);
	for (unsigned i = 0; i < d->ntensors; i++) {
		const struct plan_tensor *t = &d->tensors[i];
		require(t->bytes <= rx_buffer_size(t->buffer));
		require(t->offset <= rx_buffer_size(t->buffer) - t->bytes);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plan_desc d = {0};
	char why[512] = "";

	if (!card)
		set_up();
	int err = plan_parse(&d, card, kernels, (const char *)data, size, why, sizeof(why));

	if (!err)
		check(&d);
	else
		require(err == -ENOMEM || ((err == -EINVAL || err == -ENOENT) && why[0]));
	plan_desc_free(&d);
	return 0;
}
