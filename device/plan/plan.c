/* plan.c - loading, unloading and showing plans. See plan.h. */
#include "device/plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/cp/pm4_decode.h"
#include "device/err.h"
#include "device/plan/plan_priv.h"

static int for_each_dispatch(struct plan *p, int (*fn)(struct plan *p, struct plan_dispatch *d))
{
	struct plan_dispatch *const own[] = {&p->begin, &p->check, &p->record, &p->unpack, &p->sum};
	int err = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(own) && !err; i++)
		err = fn(p, own[i]);
	for (unsigned i = 0; i < p->d.nsteps && !err; i++)
		err = fn(p, &p->d.steps[i]);
	for (unsigned i = 0; i < p->d.nupdates && !err; i++)
		err = fn(p, &p->d.updates[i]);
	return err;
}

static int pin_dispatch(struct plan *p, struct plan_dispatch *d)
{
	(void)p;
	int err = rx_module_pin(d->module, &d->code_base);

	if (err)
		return err;
	d->pinned = true;
	for (unsigned i = 0; i < d->nfixups; i++)
		if (d->fixups[i].kind == FIX_BUFFER)
			rx_buffer_pin(d->fixups[i].buffer);
	return 0;
}

static int unpin_dispatch(struct plan *p, struct plan_dispatch *d)
{
	(void)p;
	if (!d->pinned)
		return 0;
	for (unsigned i = 0; i < d->nfixups; i++)
		if (d->fixups[i].kind == FIX_BUFFER)
			rx_buffer_unpin(d->fixups[i].buffer);
	rx_module_unpin(d->module);
	d->pinned = false;
	return 0;
}

/* Buffers named outside of dispatches: the checks and the state. */
static void pin_places(struct plan *p, void (*fn)(struct rx_buffer *b))
{
	p->places_pinned = fn == rx_buffer_pin;
	if (p->d.loss.buffer)
		fn(p->d.loss.buffer);
	if (p->d.grad_norm.buffer)
		fn(p->d.grad_norm.buffer);
	for (unsigned i = 0; i < p->d.ntensors; i++)
		fn(p->d.tensors[i].buffer);
}

static void destroy(struct plan *p)
{
	for_each_dispatch(p, unpin_dispatch);
	if (p->places_pinned)
		pin_places(p, rx_buffer_unpin);
	plan_load_free(p->load);
	free(p->packets);
	if (p->l.base)
		rx_free(p->rx, p->l.base);
	if (p->l.scratch)
		rx_free(p->rx, p->l.scratch);
	if (rx_plan_queue_owner(p->kernels) == p)
		rx_set_plan_queue_owner(p->kernels, NULL);
	plan_dispatch_free(&p->begin);
	plan_dispatch_free(&p->check);
	plan_dispatch_free(&p->record);
	plan_dispatch_free(&p->unpack);
	plan_dispatch_free(&p->sum);
	plan_desc_free(&p->d);
	for (unsigned i = 0; i < PLAN_SLOTS; i++)
		free(p->input[i]);
	free(p->done);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* Pin what it refers to, give it its place and encode it; nothing is sent yet. */
static int place(struct plan *p)
{
	int err = for_each_dispatch(p, pin_dispatch);

	pin_places(p, rx_buffer_pin);
	if (!err)
		err = plan_lay_out(p);
	if (!err)
		err = plan_load_start(p);
	if (err)
		return err;
	p->status.vram_bytes = p->l.bytes + p->l.scratch_bytes;
	p->status.input_bytes = p->d.input_bytes;
	p->status.dispatches = p->d.nsteps + p->d.nupdates + 3;
	plan_publish(p);
	return 0;
}

int plan_load_begin(struct plan **out, struct rx580 *rx, struct rx_kernels *kernels,
        const char *name, const char *json, size_t len, char *why, size_t why_size)
{
	struct plan *p = calloc(1, sizeof(*p));
	struct rx_info info;

	if (!p)
		return -ENOMEM;
	p->rx = rx;
	p->kernels = kernels;
	pthread_mutex_init(&p->lock, NULL);
	snprintf(p->name, sizeof(p->name), "%s", name);
	rx_read_info(rx, &info);
	p->fb = info.fb_base;
	int err = plan_parse(&p->d, rx, kernels, json, len, why, why_size);
	if (!err)
		err = plan_place_system(p, why, why_size);
	if (!err) {
		err = place(p);
		if (err)
			plan_sentence(
			        why, why_size, "cannot be placed in VRAM: %s", strerror(-err));
	}
	if (err) {
		destroy(p);
		return err;
	}
	*out = p;
	return 0;
}

int plan_load(struct plan **out, struct rx580 *rx, struct rx_kernels *kernels, const char *name,
        const char *json, size_t len, char *why, size_t why_size)
{
	int left = plan_load_begin(out, rx, kernels, name, json, len, why, why_size);

	if (left)
		return left;
	while ((left = plan_load_more(*out)) > 0) {
	}
	if (left) {
		plan_sentence(why, why_size, "cannot be written to VRAM: %s", strerror(-left));
		destroy(*out);
	}
	return left;
}

int plan_unload(struct plan *p)
{
	if (!p)
		return 0;
	if (p->epoch || p->allowed)
		return rx_fail(
		        "plan", -EBUSY, "%s is running; write stop to its run file first", p->name);
	destroy(p);
	return 0;
}

const char *plan_name(const struct plan *p)
{
	return p->name;
}

void plan_kept(const struct plan *p, struct rx_kept *out)
{
	*out = (struct rx_kept){.kind = 'p',
	        .offset = p->l.base,
	        .size = p->l.bytes,
	        .pause = p->l.base + p->l.pause,
	        .mail = p->l.base + p->l.mail,
	        .state = p->l.base + p->l.state};
	memcpy(out->name, p->name, sizeof(p->name));
}

const struct plan_tensor *plan_tensors(const struct plan *p, unsigned *count)
{
	*count = p->d.ntensors;
	return p->d.tensors;
}

int plan_pm4(struct plan *p, uint32_t **dwords, size_t *count)
{
	size_t total = HEAD_DW + p->l.body_dw + TAIL_DW;

	*dwords = malloc(total * 4);
	if (!*dwords)
		return -ENOMEM;
	memcpy(*dwords, p->packets, total * 4);
	*count = total;
	return 0;
}

int plan_pm4_text(struct plan *p, char **text)
{
	const struct {
		uint64_t offset;
		size_t dwords;
	} parts[] = {{p->l.heads, HEAD_DW}, {p->l.body, p->l.body_dw}, {p->l.tail, TAIL_DW}};
	const uint32_t *dw = p->packets;
	size_t size = 0;
	FILE *out = open_memstream(text, &size);

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		pm4_print(out, p->fb + p->l.base + parts[i].offset, dw, parts[i].dwords);
		dw += parts[i].dwords;
	}
	if (fclose(out)) {
		free(*text);
		return -ENOMEM;
	}
	return 0;
}
