/* usb_device.c - the USB side of the enclosure: life cycle, endpoint 0, endpoint
 * halts, resets. Bulk data goes to bot_target.c or uas_target.c, descriptors come from
 * usb_descriptors.c. Facts: bridge.md 1.1-1.3, 5.1, 5.5.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/enclosure/usb_descriptors.h"
#include "device/virtual/enclosure/venc_priv.h"

/* USB 2.0 9.4, tables 9-3 to 9-6 */
#define REQ_GET_STATUS        0
#define REQ_CLEAR_FEATURE     1
#define REQ_SET_FEATURE       3
#define REQ_SET_ADDRESS       5
#define REQ_GET_DESCRIPTOR    6
#define REQ_GET_CONFIGURATION 8
#define REQ_SET_CONFIGURATION 9
#define REQ_GET_INTERFACE     10
#define REQ_SET_INTERFACE     11
#define FEATURE_ENDPOINT_HALT 0

/* request type and request in one number, as the specifications write them */
#define SETUP(type, request) ((type) << 8 | (request))
#define CLASS_BOT_RESET      SETUP(0x21, 0xFF) /* bridge.md 1.3 */
#define CLASS_GET_MAX_LUN    SETUP(0xA1, 0xFE) /* bridge.md 1.3 */

void venc_guest_error(struct venc *e, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	e->guest_errors++;
	if (!e->opt.log)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	e->opt.log(e->opt.log_ctx, true, line);
}

bool venc_take_fault(struct venc *e, enum venc_fault fault)
{
	if (!e->fault[fault])
		return false;
	e->fault[fault]--;
	return true;
}

void venc_inject(struct venc *e, enum venc_fault fault, unsigned count)
{
	if ((unsigned)fault < VENC_FAULT_COUNT)
		e->fault[fault] = count;
}

static void select_alternate(struct venc *e, uint8_t alternate)
{
	e->alternate = alternate;
	venc_bot_reset(e);
	venc_uas_reset(e);
	memset(e->halted, 0, sizeof(e->halted));
}

/* The bus reset itself: the host finds the device configured again, as the kernel leaves it after
 * usb_reset_device(). */
static void reset_device(struct venc *e)
{
	e->configuration = 1;
	select_alternate(e, 0);
	e->sense = SENSE_NONE;
	e->attention = e->opt.unit_attention;
}

void venc_power_cycle(struct venc *e)
{
	e->hung = false;
	e->unplugged = false;
	e->detached = false;
	reset_device(e);
	e->ops->power_up(e);
}

int venc_parse_bridge(const char *name, enum venc_bridge *out)
{
	static const char *const names[] = {
	        [VENC_RTL921X] = "rtl9210", [VENC_ASM236X] = "asm2362", [VENC_ASM246X] = "asm2464"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(name, names[i])) {
			*out = (enum venc_bridge)i;
			return 0;
		}
	}
	return -EINVAL;
}

int venc_new(struct venc **out, const struct venc_options *opt)
{
	static const struct venc_ops *const bridges[] = {[VENC_RTL921X] = &venc_rtl921x_ops,
	        [VENC_ASM236X] = &venc_asm2x6x_ops,
	        [VENC_ASM246X] = &venc_asm2x6x_ops};
	struct venc *e;
	int rc;

	if ((unsigned)opt->bridge >= ARRAY_SIZE(bridges))
		return -EINVAL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->opt = *opt;
	e->ops = bridges[opt->bridge];
	rc = e->ops->init(e);
	if (!rc)
		rc = venc_card_new(e);
	if (rc) {
		venc_free(e);
		return rc;
	}
	venc_power_cycle(e);
	*out = e;
	return 0;
}

void venc_free(struct venc *e)
{
	if (!e)
		return;
	vcard_free(e->card);
	e->ops->fini(e);
	free(e);
}

void venc_port_reset(struct venc *e)
{
	if (e->unplugged)
		return;
	if (e->hung) {
		venc_power_cycle(e);
		return;
	}
	e->detached = false;
	reset_device(e);
	if (e->opt.usb_reset_relocks)
		e->unlocked = false;
}

void venc_unplug(struct venc *e)
{
	e->unplugged = true;
}

static int answering(const struct venc *e)
{
	if (e->unplugged || e->detached)
		return -ENODEV;
	return e->hung || !e->configuration ? -ETIMEDOUT : 0;
}

/* Return: index into halted[]; -ENOENT not in the alternate setting selected. */
static int endpoint_index(const struct venc *e, uint16_t address)
{
	switch (address) {
	case USB_EP_BULK_IN: return EP_IN;
	case USB_EP_BULK_OUT: return EP_OUT;
	case USB_EP_UAS_STATUS: return e->alternate ? EP_STATUS : -ENOENT;
	case USB_EP_UAS_COMMAND: return e->alternate ? EP_COMMAND : -ENOENT;
	default: return -ENOENT;
	}
}

/* What stands against moving data over an endpoint. */
static int pipe_state(const struct venc *e, uint8_t endpoint)
{
	int rc = answering(e), ep = endpoint_index(e, endpoint);

	if (rc)
		return rc;
	if (ep < 0)
		return ep;
	return e->halted[ep] ? -EPIPE : 0;
}

int venc_pipe_out(struct venc *e, uint8_t endpoint, const void *data, size_t len)
{
	int rc = endpoint & 0x80 ? -ENOENT : pipe_state(e, endpoint);

	if (rc)
		return rc;
	return e->alternate ? venc_uas_out(e, endpoint, data, len) : venc_bot_out(e, data, len);
}

int venc_pipe_in(struct venc *e, uint8_t endpoint, void *data, size_t len)
{
	int rc = endpoint & 0x80 ? pipe_state(e, endpoint) : -ENOENT;

	if (rc)
		return rc;
	return e->alternate ? venc_uas_in(e, endpoint, data, len) : venc_bot_in(e, data, len);
}

int venc_bulk_out(struct venc *e, const void *data, size_t len)
{
	return venc_pipe_out(e, USB_EP_BULK_OUT, data, len);
}

int venc_bulk_in(struct venc *e, void *data, size_t len)
{
	return venc_pipe_in(e, USB_EP_BULK_IN, data, len);
}

static int endpoint_feature(struct venc *e, uint16_t feature, uint16_t address, bool set)
{
	int ep = endpoint_index(e, address);

	if (address == 0 ||
	        address == 0x80) /* endpoint 0 cannot halt for longer than one request */
		return 0;
	if (feature != FEATURE_ENDPOINT_HALT || ep < 0)
		return -EPIPE;
	/* bridge.md 5.1: after an invalid CBW CLEAR_FEATURE alone does not help */
	if (set || !e->bot.broken)
		e->halted[ep] = set;
	return 0;
}

static int reply(void *data, uint16_t room, const void *from, size_t len)
{
	size_t n = MIN(len, room);

	if (n)
		memcpy(data, from, n);
	return (int)n;
}

static int get_status(struct venc *e, uint8_t recipient, uint16_t index, void *data, uint16_t len)
{
	uint8_t status[2] = {0, 0};
	int ep = endpoint_index(e, index);

	if (recipient == 0)
		status[0] = 1; /* USB 2.0 9.4.5: self powered */
	if (recipient == 2 && index != 0 && index != 0x80) {
		if (ep < 0)
			return -EPIPE;
		status[0] = e->halted[ep];
	}
	return reply(data, len, status, sizeof(status));
}

static int get_descriptor(struct venc *e, uint16_t value, void *data, uint16_t len)
{
	const uint8_t *from;
	size_t size = venc_usb_descriptor(
	        e->opt.bridge, e->opt.super_speed, (uint8_t)(value >> 8), (uint8_t)value, &from);

	return size ? reply(data, len, from, size) : -EPIPE;
}

static int set_configuration(struct venc *e, uint16_t value)
{
	if (value > 1)
		return -EPIPE;
	select_alternate(e, 0);
	e->configuration = (uint8_t)value;
	return 0;
}

/* At SuperSpeed UAS needs streams (bridge.md 1.5), of which nobody who calls this has any: USB/IP
 * does not carry their numbers. */
static int set_interface(struct venc *e, uint16_t alt, uint16_t interface)
{
	if (alt > (e->opt.super_speed ? 0 : 1) || interface != 0 || !e->configuration)
		return -EPIPE;
	if (alt || alt != e->alternate)
		select_alternate(e, (uint8_t)alt);
	else if (!e->bot.broken)
		memset(e->halted, 0, sizeof(e->halted));
	return 0;
}

static int class_reset(struct venc *e, uint16_t value, uint16_t interface, uint16_t len)
{
	if (value || interface || len || e->alternate)
		return -EPIPE;
	venc_bot_reset(e); /* the lock of bridge.md 2.7 stays, and so do the halts (BOT 5.3.4) */
	return 0;
}

int venc_control(struct venc *e, uint8_t request_type, uint8_t request, uint16_t value,
        uint16_t index, void *data, uint16_t len)
{
	static const uint8_t zero;

	if (e->unplugged || e->detached)
		return -ENODEV;
	if (e->hung)
		return -ETIMEDOUT;
	switch (SETUP(request_type, request)) {
	case CLASS_BOT_RESET: return class_reset(e, value, index, len);
	case CLASS_GET_MAX_LUN:
		return value || index || e->alternate ? -EPIPE : reply(data, len, &zero, 1);
	case SETUP(0x80, REQ_GET_STATUS):
	case SETUP(0x81, REQ_GET_STATUS):
	case SETUP(0x82, REQ_GET_STATUS): return get_status(e, request_type & 3, index, data, len);
	case SETUP(0x80, REQ_GET_DESCRIPTOR): return get_descriptor(e, value, data, len);
	case SETUP(0x80, REQ_GET_CONFIGURATION): return reply(data, len, &e->configuration, 1);
	case SETUP(0x81, REQ_GET_INTERFACE):
		return index ? -EPIPE : reply(data, len, &e->alternate, 1);
	case SETUP(0x00, REQ_SET_ADDRESS): return 0;
	case SETUP(0x00, REQ_SET_CONFIGURATION): return set_configuration(e, value);
	case SETUP(0x01, REQ_SET_INTERFACE): return set_interface(e, value, index);
	case SETUP(0x02, REQ_CLEAR_FEATURE): return endpoint_feature(e, value, index, false);
	case SETUP(0x02, REQ_SET_FEATURE): return endpoint_feature(e, value, index, true);
	default: return -EPIPE;
	}
}

void venc_read_stats(struct venc *e, struct venc_stats *out)
{
	struct vcard_stats card = {0};

	if (e->card)
		vcard_read_stats(e->card, &card);
	*out = (struct venc_stats){
	        .commands = e->commands,
	        .bytes = e->bytes,
	        .tlps = e->tlps,
	        .model_ns = venc_link_model_ns(e),
	        .guest_errors = e->guest_errors + card.guest_errors,
	        .dispatches = card.dispatches,
	        .instructions = card.instructions,
	};
}
