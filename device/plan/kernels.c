/* kernels.c - see kernels.h. */
#include "device/plan/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"

#define GAP_BYTES 64u /* of zeros: a command costs as much as 50 bytes (docs/architecture.md) */

struct rx_module {
	struct rx_module *next;
	struct rx_kernels *owner;
	char name[65];
	void *elf;
	struct code_object *code;
	unsigned pins;
	bool placed;
	uint64_t base;  /* VRAM offset of the image while placed */
	uint8_t *image; /* relocated for it, while it is being sent */
	size_t sent;    /* bytes */
};

struct rx_kernels {
	struct rx580 *rx;
	struct rx_module *modules;
	struct plan *queue_owner;
};

int rx_kernels_new(struct rx_kernels **out, struct rx580 *rx)
{
	struct rx_kernels *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	k->rx = rx;
	*out = k;
	return 0;
}

static void drop_code(struct rx_module *m)
{
	if (m->placed)
		rx_free(m->owner->rx, m->base);
	m->placed = false;
	m->sent = 0;
	free(m->image);
	m->image = NULL;
	code_object_free(m->code);
	free(m->elf);
	m->code = NULL;
	m->elf = NULL;
}

void rx_kernels_free(struct rx_kernels *k)
{
	if (!k)
		return;
	while (k->modules) {
		struct rx_module *m = k->modules;
		k->modules = m->next;
		drop_code(m);
		free(m);
	}
	free(k);
}

struct rx_module *rx_module_find(struct rx_kernels *k, const char *name)
{
	for (struct rx_module *m = k->modules; m; m = m->next)
		if (!strcmp(m->name, name))
			return m;
	return NULL;
}

static struct rx_module *find_or_add(struct rx_kernels *k, const char *name)
{
	struct rx_module *m = rx_module_find(k, name);

	if (m)
		return m;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	snprintf(m->name, sizeof(m->name), "%s", name);
	m->owner = k;
	m->next = k->modules;
	k->modules = m;
	return m;
}

int rx_module_put(struct rx_kernels *k, const char *name, const void *elf, size_t len, char *why,
        size_t why_size)
{
	struct rx_module *m = rx_module_find(k, name);
	struct code_object *code;

	if (strlen(name) >= sizeof(m->name))
		return -EINVAL;
	if (m && m->pins)
		return rx_fail("kernels", -EBUSY,
		        "%s is used by a loaded plan; remove the plan first", name);
	int err = code_object_parse(elf, len, &code, why, why_size);
	if (err)
		return err;
	void *copy = malloc(len);
	m = copy ? find_or_add(k, name) : NULL;
	if (!m) {
		free(copy);
		code_object_free(code);
		return -ENOMEM;
	}
	drop_code(m);
	memcpy(copy, elf, len);
	m->elf = copy;
	m->code = code;
	return 0;
}

int rx_module_remove(struct rx_kernels *k, const char *name)
{
	struct rx_module **link = &k->modules;

	while (*link && strcmp((*link)->name, name))
		link = &(*link)->next;
	struct rx_module *m = *link;
	if (!m)
		return -ENOENT;
	if (m->pins)
		return rx_fail("kernels", -EBUSY,
		        "%s is used by a loaded plan; remove the plan first", name);
	*link = m->next;
	drop_code(m);
	free(m);
	return 0;
}

const struct code_object *rx_module_code(const struct rx_module *m)
{
	return m->code;
}

int rx_module_pin(struct rx_module *m, uint64_t *base)
{
	char tag[80];

	if (!m->placed) {
		snprintf(tag, sizeof(tag), "kernels/%s.co", m->name);
		int err = rx_alloc(m->owner->rx, tag, m->code->image_size, RX_IN_WINDOW, &m->base);
		if (err)
			return err;
		m->placed = true;
	}
	m->pins++;
	*base = m->base;
	return 0;
}

/* The image for its place; zeros, which are most of it, are made on the card. */
static int begin_sending(struct rx_module *m)
{
	struct rx580 *rx = m->owner->rx;
	size_t size = m->code->image_size;
	struct rx_info info;

	rx_read_info(rx, &info);
	m->image = malloc(size);
	if (!m->image)
		return -ENOMEM;
	memcpy(m->image, m->code->image, size);
	code_object_relocate(m->code, info.fb_base + m->base, m->image);
	int err = rx_vram_fill(rx, m->base, 0, align_up(size, 4));

	if (err) {
		free(m->image);
		m->image = NULL;
	}
	return err;
}

static size_t zeros_at(const struct rx_module *m, size_t at)
{
	size_t n = 0;

	while (at + n < m->code->image_size && !m->image[at + n])
		n++;
	return n;
}

/* Bytes from @at on up to the next gap of zeros that is worth a command. */
static size_t run_at(const struct rx_module *m, size_t at, size_t most)
{
	size_t n = 0;

	while (n < most && at + n < m->code->image_size) {
		size_t zeros = zeros_at(m, at + n);

		if (zeros >= GAP_BYTES || at + n + zeros == m->code->image_size)
			break;
		n += zeros + 1;
	}
	return MIN(align_up(n, 4), most); /* whole dwords: a TLP each where there are no bytes */
}

int rx_module_send(struct rx_module *m, size_t bytes)
{
	size_t size = m->code->image_size;

	if (m->sent == size)
		return 0;
	int err = m->image ? 0 : begin_sending(m);

	if (err)
		return err;
	m->sent += zeros_at(m, m->sent) & ~(size_t)3;
	size_t n = run_at(m, m->sent, bytes);

	if (n)
		err = rx_vram_write_raw(m->owner->rx, m->base + m->sent, m->image + m->sent, n);
	if (err)
		return err;
	m->sent = n ? m->sent + n : size;
	if (m->sent < size)
		return 1;
	free(m->image);
	m->image = NULL;
	return 0;
}

void rx_module_unpin(struct rx_module *m)
{
	m->pins--;
}

struct plan *rx_plan_queue_owner(const struct rx_kernels *k)
{
	return k->queue_owner;
}

void rx_set_plan_queue_owner(struct rx_kernels *k, struct plan *p)
{
	k->queue_owner = p;
}
