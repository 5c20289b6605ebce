/* helper_pipe.c - see helper_pipe.h. */
#include "helper_pipe.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const call_name[] = {
        "bulk out", "bulk in", "clear halt out", "clear halt in", "class reset", "port reset"};

static const struct step *next_step(struct script *s, enum step_call call)
{
	if (s->at < s->n && s->step[s->at].call == call)
		return &s->step[s->at++];
	if (!s->mismatch[0])
		snprintf(s->mismatch, sizeof(s->mismatch), "call %zu is %s, expected %s", s->at,
		        call_name[call],
		        s->at < s->n ? call_name[s->step[s->at].call] : "nothing more");
	return NULL;
}

static int script_call(struct usb_pipe *p, enum step_call call)
{
	const struct step *step = next_step((struct script *)p, call);

	return step ? step->result : -EIO;
}

static int script_out(struct usb_pipe *p, const void *data, size_t len, unsigned timeout_ms)
{
	struct script *s = (struct script *)p;

	(void)timeout_ms;
	if (len == sizeof(s->cbw) && !memcmp(data, "USBC", 4))
		memcpy(s->cbw, data, len);
	return script_call(p, CALL_OUT);
}

static int script_in(struct usb_pipe *p, void *data, size_t len, unsigned timeout_ms)
{
	struct script *s = (struct script *)p;
	const struct step *step = next_step(s, CALL_IN);

	(void)timeout_ms;
	if (!step)
		return -EIO;
	if (step->result > 0)
		memcpy(data, step->data, (size_t)step->result < len ? (size_t)step->result : len);
	if (step->csw && step->result == 13) {
		memcpy((uint8_t *)data + 4, s->cbw + 4, 4);
		if (step->stale)
			((uint8_t *)data)[4] ^= 0xFF;
	}
	return step->result;
}

static int script_clear_out(struct usb_pipe *p)
{
	return script_call(p, CALL_CLEAR_OUT);
}

static int script_clear_in(struct usb_pipe *p)
{
	return script_call(p, CALL_CLEAR_IN);
}

static int script_class_reset(struct usb_pipe *p)
{
	return script_call(p, CALL_CLASS_RESET);
}

static int script_port_reset(struct usb_pipe *p)
{
	return script_call(p, CALL_PORT_RESET);
}

static void script_identity(struct usb_pipe *p, struct usb_identity *out)
{
	(void)p;
	*out = (struct usb_identity){.vid = 0x0bda, .pid = 0x9210, .mbit = 5000};
}

static void script_stats(struct usb_pipe *p, struct usb_link_stats *out)
{
	(void)p;
	*out = (struct usb_link_stats){0};
}

static void script_close(struct usb_pipe *p)
{
	((struct script *)p)->closed = true;
}

static const struct usb_pipe_ops script_ops = {script_out, script_in, script_clear_out,
        script_clear_in, script_class_reset, script_port_reset, script_identity, script_stats, NULL,
        script_close};

void script_init(struct script *s, const struct step *steps, size_t n)
{
	*s = (struct script){.pipe = {&script_ops}, .step = steps, .n = n};
}

/* ---- tap ---- */

static void remember(struct tap *t)
{
	if (t->ncdb == t->max) {
		t->max = t->max ? 2 * t->max : 256;
		t->cdb = realloc(t->cdb, t->max * sizeof(*t->cdb));
		assert_non_null(t->cdb);
	}
	memcpy(t->cdb[t->ncdb++], t->cbw + 15, 16);
}

static int tap_data_out(struct tap *t, const void *data, size_t len, unsigned timeout_ms)
{
	uint8_t copy[4096];

	assert_true(len <= sizeof(copy));
	memcpy(copy, data, len);
	if (t->on_bulk)
		return t->on_bulk(t->ctx, false, copy, len);
	if (t->on_out)
		t->on_out(t->ctx, t->cbw, copy, len);
	return t->inner->ops->bulk_out(t->inner, copy, len, timeout_ms);
}

static int tap_out(struct usb_pipe *p, const void *data, size_t len, unsigned timeout_ms)
{
	struct tap *t = (struct tap *)p;

	if (t->unplugged)
		return -ENODEV;
	if (len != sizeof(t->cbw) || memcmp(data, "USBC", 4))
		return tap_data_out(t, data, len, timeout_ms);
	memcpy(t->cbw, data, len);
	if (t->on_bulk)
		return t->on_bulk(t->ctx, false, t->cbw, len);
	if (t->on_cbw)
		t->on_cbw(t->ctx, t->cbw);
	if (t->recording)
		remember(t);
	return t->inner->ops->bulk_out(t->inner, t->cbw, len, timeout_ms);
}

static int tap_in(struct usb_pipe *p, void *data, size_t len, unsigned timeout_ms)
{
	struct tap *t = (struct tap *)p;

	if (t->unplugged)
		return -ENODEV;
	if (t->on_bulk)
		return t->on_bulk(t->ctx, true, data, len);
	int n = t->inner->ops->bulk_in(t->inner, data, len, timeout_ms);

	return t->on_in ? t->on_in(t->ctx, t->cbw, data, n) : n;
}

static int tap_clear_out(struct usb_pipe *p)
{
	struct tap *t = (struct tap *)p;

	return t->unplugged ? -ENODEV : t->inner->ops->clear_halt_out(t->inner);
}

static int tap_clear_in(struct usb_pipe *p)
{
	struct tap *t = (struct tap *)p;

	return t->unplugged ? -ENODEV : t->inner->ops->clear_halt_in(t->inner);
}

static int tap_class_reset(struct usb_pipe *p)
{
	struct tap *t = (struct tap *)p;

	if (t->unplugged)
		return -ENODEV;
	return t->on_reset ? t->on_reset(t->ctx, CALL_CLASS_RESET)
	                   : t->inner->ops->class_reset(t->inner);
}

static int tap_port_reset(struct usb_pipe *p)
{
	struct tap *t = (struct tap *)p;

	if (t->unplugged)
		return -ENODEV;
	return t->on_reset ? t->on_reset(t->ctx, CALL_PORT_RESET)
	                   : t->inner->ops->port_reset(t->inner);
}

static void tap_identity(struct usb_pipe *p, struct usb_identity *out)
{
	struct tap *t = (struct tap *)p;

	t->inner->ops->identity(t->inner, out);
}

static void tap_stats(struct usb_pipe *p, struct usb_link_stats *out)
{
	struct tap *t = (struct tap *)p;

	t->inner->ops->link_stats(t->inner, out);
}

static bool tap_left(struct usb_pipe *p)
{
	return ((struct tap *)p)->unplugged;
}

static void tap_close(struct usb_pipe *p)
{
	struct tap *t = (struct tap *)p;

	t->inner->ops->close(t->inner);
	free(t->cdb);
	free(t);
}

static const struct usb_pipe_ops tap_ops = {tap_out, tap_in, tap_clear_out, tap_clear_in,
        tap_class_reset, tap_port_reset, tap_identity, tap_stats, tap_left, tap_close};

struct tap *tap_open(const char *options)
{
	struct tap *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->pipe.ops = &tap_ops;
	char words[256];

	snprintf(words, sizeof(words), "posted,%s", options ? options : "");
	assert_int_equal(usb_virtual_open(&t->inner, words), 0);
	return t;
}

void tap_record(struct tap *t, bool on)
{
	t->recording = on;
	if (on)
		t->ncdb = 0;
}
