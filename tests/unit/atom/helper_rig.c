#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "helper_rig.h"

static void note(struct rig *r, const char *fmt, ...)
{
	size_t n = strlen(r->log);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->log + n, sizeof(r->log) - n, fmt, ap);
	va_end(ap);
}

static int reg_read(void *ctx, uint32_t reg, uint32_t *value)
{
	struct rig *r = ctx;

	note(r, "R%x ", reg);
	*value = reg < RIG_REGS ? r->reg[reg] : 0;
	return r->fail_read;
}

static int reg_write(void *ctx, uint32_t reg, uint32_t value)
{
	struct rig *r = ctx;

	note(r, "W%x=%x ", reg, value);
	if (reg < RIG_REGS)
		r->reg[reg] = value;
	return r->fail_write;
}

static int delay_us(void *ctx, uint32_t us)
{
	struct rig *r = ctx;

	note(r, "D%u ", us);
	return r->fail_delay;
}

static int pll_read(void *ctx, uint32_t reg, uint32_t *value)
{
	*value = ((struct rig *)ctx)->pll[reg & 0xFF];
	return 0;
}

static int pll_write(void *ctx, uint32_t reg, uint32_t value)
{
	((struct rig *)ctx)->pll[reg & 0xFF] = value;
	return 0;
}

static int mc_read(void *ctx, uint32_t reg, uint32_t *value)
{
	*value = ((struct rig *)ctx)->mc[reg & 0xFF];
	return 0;
}

static int mc_write(void *ctx, uint32_t reg, uint32_t value)
{
	((struct rig *)ctx)->mc[reg & 0xFF] = value;
	return 0;
}

struct rig *rig_new(void)
{
	static const struct as_identity who = {.vendor = 0x1002,
	        .device = 0x67DF,
	        .strings = {"TEST", "POLARIS10", "PCI_EXPRESS", "GDDR5"},
	        .name = "test image",
	        .version = "000.000",
	        .date = "01/01/26 00:00"};
	struct rig *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	as_image_begin(&r->a, r->image, sizeof(r->image), &who);
	return r;
}

void rig_free(struct rig *r)
{
	atom_close(r->atom);
	free(r);
}

struct rig *rig_begin(unsigned ws_bytes)
{
	struct rig *r = rig_new();

	as_command(&r->a, 0, 1, 1, ws_bytes, 0);
	return r;
}

void rig_finish(struct rig *r)
{
	if (r->a.table) {
		as_plain(&r->a, ATOM_EOT);
		as_end(&r->a);
	}
	int bytes = as_image_end(&r->a);

	assert_true(bytes > 0);
	r->image_bytes = (size_t)bytes;
}

int rig_run(struct rig *r)
{
	struct atom_host host = {
	        .ctx = r, .reg_read = reg_read, .reg_write = reg_write, .delay_us = delay_us};

	if (r->other_spaces) {
		host.pll_read = pll_read;
		host.pll_write = pll_write;
		host.mc_read = mc_read;
		host.mc_write = mc_write;
	}
	if (!r->image_bytes)
		rig_finish(r);
	if (!r->atom)
		assert_int_equal(atom_open(&r->atom, r->image, r->image_bytes, &host), 0);
	atom_set_limits(r->atom, &r->limits);
	r->log[0] = '\0';
	return atom_run(r->atom, 0, r->ps, RIG_PARAMS);
}

uint32_t rig_result(struct rig *r)
{
	assert_int_equal(rig_run(r), 0);
	uint32_t result = r->ps[0];

	rig_free(r);
	return result;
}
