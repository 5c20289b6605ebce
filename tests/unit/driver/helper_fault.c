/* helper_fault.c - see helper_fault.h. */
#include "helper_fault.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "device/bytes.h"

#define CSW_BYTES 13

static int pass(struct fault_line *l, bool in, void *data, size_t len)
{
	struct usb_pipe *p = l->tap->inner;

	return in ? p->ops->bulk_in(p, data, len, 1000) : p->ops->bulk_out(p, data, len, 1000);
}

static bool is_target(const struct fault_line *l, const uint8_t *cdb)
{
	const struct fault_target *t = &l->target;
	uint32_t addr = get_le32(cdb + 8);

	if (cdb[0] != t->op || cdb[4] != t->sub || get_le32(cdb + 12) != t->len)
		return false;
	for (uint32_t i = 0; i < MAX(t->addr_count, 1u); i++)
		if (addr == t->addr + i * t->addr_step)
			return true;
	return false;
}

static void begin_command(struct fault_line *l, uint8_t *cbw)
{
	memcpy(l->cbw, cbw, sizeof(l->cbw));
	l->data_done = l->forged = l->hit = false;
	if (l->armed && is_target(l, cbw + 15)) {
		l->hit = l->target.skip == 0;
		l->target.skip -= !l->hit;
	}
	if (cbw[15] == 0xE2 && cbw[19] == 0x92 && get_le32(cbw + 23) == 0xAC004000)
		l->locked = false;
	if (l->locked && cbw[15] == 0xE3)
		cbw[19] = 0xFF; /* no such sub-command: refused with 5/20 as a locked one is */
}

static enum phase phase_of(const struct fault_line *l, bool in, const uint8_t *data, size_t len)
{
	if (!in && len == sizeof(l->cbw) && !memcmp(data, "USBC", 4))
		return PHASE_COMMAND;
	if (l->data_done || !get_le32(l->cbw + 8))
		return PHASE_STATUS;
	return in ? PHASE_DATA_IN : PHASE_DATA_OUT;
}

/* forge_failed - the bridge gives the command up: status 1, residue as long as the data
 * (bridge.md 1.4). The enclosure is put back to where it waits for a command. */
static void forge_failed(struct fault_line *l)
{
	struct usb_pipe *p = l->tap->inner;

	p->ops->class_reset(p);
	p->ops->clear_halt_in(p);
	p->ops->clear_halt_out(p);
	memset(l->forged_csw, 0, sizeof(l->forged_csw));
	memcpy(l->forged_csw, "USBS", 4);
	memcpy(l->forged_csw + 4, l->cbw + 4, 8); /* tag, and the length as residue */
	l->forged_csw[12] = 1;
	l->forged = true;
}

static int stall(struct fault_line *l, enum phase phase)
{
	if (phase == PHASE_DATA_IN || phase == PHASE_DATA_OUT)
		forge_failed(l);
	return -EPIPE;
}

static int cut(struct fault_line *l, bool in, void *data, size_t len)
{
	if (!in)
		return pass(l, false, data, len / 2);
	int n = pass(l, true, data, len);

	return n > 0 ? n / 2 : n;
}

static int flip(struct fault_line *l, bool in, uint8_t *data, size_t len)
{
	unsigned byte = l->flip_bit / 8, mask = 1u << l->flip_bit % 8;

	assert_true(byte < len);
	if (!in) {
		data[byte] = (uint8_t)(data[byte] ^ mask);
		return pass(l, false, data, len);
	}
	int n = pass(l, true, data, len);

	data[byte] = (uint8_t)(data[byte] ^ mask);
	return n;
}

static int extra_csw(struct fault_line *l, void *data, size_t len)
{
	if (len < CSW_BYTES)
		return -EOVERFLOW;
	memcpy(data, l->csw, CSW_BYTES);
	return CSW_BYTES;
}

static int unacked(struct fault_line *l, bool in, void *data, size_t len)
{
	uint8_t lost[4096];
	int n = pass(l, in, in ? lost : data, len);

	assert_true(n >= 0);
	if (in && n == CSW_BYTES)
		memcpy(l->csw, lost, CSW_BYTES);
	return -ETIMEDOUT;
}

static int strike(struct fault_line *l, bool in, void *data, size_t len, enum phase phase)
{
	l->armed = false;
	switch (l->fault) {
	case FAULT_LOST: return -ETIMEDOUT;
	case FAULT_UNACKED: return unacked(l, in, data, len);
	case FAULT_STALL: return stall(l, phase);
	case FAULT_SHORT: return cut(l, in, data, len);
	case FAULT_FLIP: return flip(l, in, data, len);
	case FAULT_EXTRA_CSW: return extra_csw(l, data, len);
	case FAULT_REMOVAL: break;
	}
	l->tap->unplugged = true;
	return -ENODEV;
}

static int in_order(struct fault_line *l, bool in, void *data, size_t len, enum phase phase)
{
	if (phase == PHASE_STATUS && l->forged) {
		l->forged = false;
		memcpy(data, l->forged_csw, CSW_BYTES);
		return CSW_BYTES;
	}
	int n = pass(l, in, data, len);

	if (phase == PHASE_STATUS && n == CSW_BYTES)
		memcpy(l->csw, data, CSW_BYTES);
	return n;
}

static int bulk(void *ctx, bool in, void *data, size_t len)
{
	struct fault_line *l = ctx;
	enum phase phase = phase_of(l, in, data, len);

	if (phase == PHASE_COMMAND)
		begin_command(l, data);
	bool now = l->armed && l->hit && phase == l->where;

	l->data_done = l->data_done || phase == PHASE_DATA_IN || phase == PHASE_DATA_OUT;
	return now ? strike(l, in, data, len, phase) : in_order(l, in, data, len, phase);
}

static int reset(void *ctx, enum step_call call)
{
	struct fault_line *l = ctx;
	struct usb_pipe *p = l->tap->inner;

	l->forged = false;
	if (call == CALL_PORT_RESET) {
		l->locked = true; /* bridge.md 2.7: whether it does is not known */
		return p->ops->port_reset(p);
	}
	if (l->class_reset_fails) {
		l->class_reset_fails = false;
		return -ETIMEDOUT;
	}
	return p->ops->class_reset(p);
}

void fault_open(struct fault_line *l)
{
	*l = (struct fault_line){.tap = tap_open("threads=1,vram=64")};
	l->tap->on_bulk = bulk;
	l->tap->on_reset = reset;
	l->tap->ctx = l;
}

void fault_arm(
        struct fault_line *l, enum fault fault, enum phase where, const struct fault_target *target)
{
	l->fault = fault;
	l->where = where;
	l->target = *target;
	l->armed = true;
}

uint64_t fault_tlps(struct fault_line *l)
{
	struct usb_link_stats s;

	l->tap->inner->ops->link_stats(l->tap->inner, &s);
	return s.tlps;
}
