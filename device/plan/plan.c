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
	struct plan_dispatch *const own[] = {&p->begin, &p->check, &p->record};
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
	if (p->l.base)
		rx_free(p->rx, p->l.base);
	if (p->l.scratch)
		rx_free(p->rx, p->l.scratch);
	if (rx_plan_queue_owner(p->kernels) == p)
		rx_set_plan_queue_owner(p->kernels, NULL);
	plan_dispatch_free(&p->begin);
	plan_dispatch_free(&p->check);
	plan_dispatch_free(&p->record);
	plan_desc_free(&p->d);
	for (unsigned i = 0; i < PLAN_SLOTS; i++)
		free(p->input[i]);
	free(p->done);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static int make_resident(struct plan *p)
{
	int err = for_each_dispatch(p, pin_dispatch);

	if (!err)
		err = plan_lay_out(p);
	if (!err)
		err = plan_upload(p);
	if (err)
		return err;
	pin_places(p, rx_buffer_pin);
	p->status.vram_bytes = p->l.bytes + p->l.scratch_bytes;
	p->status.input_bytes = p->d.input_bytes;
	p->status.dispatches = p->d.nsteps + p->d.nupdates + 3;
	plan_publish(p);
	return 0;
}

int plan_load(struct plan **out, struct rx580 *rx, struct rx_kernels *kernels, const char *name,
        const char *json, size_t len, char *why, size_t why_size)
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
		err = make_resident(p);
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

int plan_unload(struct plan *p)
{
	if (!p)
		return 0;
	if (p->epoch || p->allowed)
		return rx_fail(
		        "plan", -EBUSY, "%s is running; write stop to its run file first", p->name);
	pin_places(p, rx_buffer_unpin);
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

struct part {
	uint64_t offset;
	size_t dwords;
};

static void parts_of(const struct plan *p, struct part parts[3])
{
	parts[0] = (struct part){p->l.heads, HEAD_DW};
	parts[1] = (struct part){p->l.body, p->l.body_dw};
	parts[2] = (struct part){p->l.tail, TAIL_DW};
}

int plan_pm4(struct plan *p, uint32_t **dwords, size_t *count)
{
	struct part parts[3];
	size_t total = HEAD_DW + p->l.body_dw + TAIL_DW, at = 0;
	uint32_t *dw = malloc(total * 4);
	int err = 0;

	if (!dw)
		return -ENOMEM;
	parts_of(p, parts);
	for (int i = 0; i < 3 && !err; i++) {
		err = rx_vram_read(
		        p->rx, p->l.base + parts[i].offset, dw + at, parts[i].dwords * 4);
		at += parts[i].dwords;
	}
	if (err) {
		free(dw);
		return err;
	}
	*dwords = dw;
	*count = total;
	return 0;
}

int plan_pm4_text(struct plan *p, char **text)
{
	RX_CLEANUP(free) uint32_t *dw = NULL;
	struct part parts[3];
	size_t count, size = 0, at = 0;
	int err = plan_pm4(p, &dw, &count);

	if (err)
		return err;
	FILE *out = open_memstream(text, &size);
	if (!out)
		return -ENOMEM;
	parts_of(p, parts);
	for (int i = 0; i < 3; i++) {
		pm4_print(out, p->fb + p->l.base + parts[i].offset, dw + at, parts[i].dwords);
		at += parts[i].dwords;
	}
	if (fclose(out)) {
		free(*text);
		return -ENOMEM;
	}
	return 0;
}
