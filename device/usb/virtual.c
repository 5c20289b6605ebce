/* virtual.c - a bulk pipe to the virtual enclosure, in this process. The only file above the cable
 * that knows it. */
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/usb/usb.h"
#include "device/virtual/enclosure/enclosure.h"

struct virtual_pipe {
	struct usb_pipe pipe; /* first, see usb.h */
	struct venc *enclosure;
};

/* Control requests: USB MSC BOT 1.0 (bridge.md 1.3) and USB 2.0 9.4.1 CLEAR_FEATURE(ENDPOINT_HALT)
 */
#define REQ_CLASS_OUT_INTERFACE   0x21
#define REQ_STANDARD_OUT_ENDPOINT 0x02
#define REQ_STANDARD_IN_DEVICE    0x80
#define REQ_MASS_STORAGE_RESET    0xFF
#define REQ_CLEAR_FEATURE         0x01
#define REQ_GET_DESCRIPTOR        0x06
#define DESCRIPTOR_DEVICE         0x0100
#define FEATURE_ENDPOINT_HALT     0
#define ENDPOINT_BULK_IN          0x81 /* bridge.md 1.2 */
#define ENDPOINT_BULK_OUT         0x02
#define MAX_THREADS               256
#define MIN_VRAM_MIB              64u   /* below this the driver's own areas do not fit */
#define MAX_VRAM_MIB              8192u /* what an RX 580 has at most */

static struct venc *enclosure(struct usb_pipe *p)
{
	return ((struct virtual_pipe *)p)->enclosure;
}

/* The far side answers at once or never, so the timeouts have nothing to bound here. */
static int bulk_out(struct usb_pipe *p, const void *data, size_t len, unsigned timeout_ms)
{
	(void)timeout_ms;
	return venc_bulk_out(enclosure(p), data, len);
}

static int bulk_in(struct usb_pipe *p, void *data, size_t len, unsigned timeout_ms)
{
	(void)timeout_ms;
	return venc_bulk_in(enclosure(p), data, len);
}

static int clear_halt(struct usb_pipe *p, uint16_t endpoint)
{
	int n = venc_control(enclosure(p), REQ_STANDARD_OUT_ENDPOINT, REQ_CLEAR_FEATURE,
	        FEATURE_ENDPOINT_HALT, endpoint, NULL, 0);

	return n < 0 ? n : 0;
}

static int clear_halt_out(struct usb_pipe *p)
{
	return clear_halt(p, ENDPOINT_BULK_OUT);
}

static int clear_halt_in(struct usb_pipe *p)
{
	return clear_halt(p, ENDPOINT_BULK_IN);
}

static int class_reset(struct usb_pipe *p)
{
	int n = venc_control(
	        enclosure(p), REQ_CLASS_OUT_INTERFACE, REQ_MASS_STORAGE_RESET, 0, 0, NULL, 0);

	return n < 0 ? n : 0;
}

static int port_reset(struct usb_pipe *p)
{
	venc_port_reset(enclosure(p));
	return 0;
}

static void identity(struct usb_pipe *p, struct usb_identity *out)
{
	uint8_t d[18] = {0}; /* USB 2.0 table 9-8: idVendor at 8, idProduct 10, bcdDevice 12 */

	venc_control(enclosure(p), REQ_STANDARD_IN_DEVICE, REQ_GET_DESCRIPTOR, DESCRIPTOR_DEVICE, 0,
	        d, sizeof(d));
	*out = (struct usb_identity){.vid = get_le16(d + 8),
	        .pid = get_le16(d + 10),
	        .bcd_device = get_le16(d + 12),
	        .mbit = 10000};
}

static void link_stats(struct usb_pipe *p, struct usb_link_stats *out)
{
	struct venc_stats s;

	venc_read_stats(enclosure(p), &s);
	*out = (struct usb_link_stats){.has_model = true,
	        .commands = s.commands,
	        .bytes = s.bytes,
	        .tlps = s.tlps,
	        .model_ns = s.model_ns,
	        .guest_errors = s.guest_errors,
	        .dispatches = s.dispatches,
	        .instructions = s.instructions};
}

static void close_pipe(struct usb_pipe *p)
{
	venc_free(enclosure(p));
	free(p);
}

static const struct usb_pipe_ops virtual_ops = {
        .bulk_out = bulk_out,
        .bulk_in = bulk_in,
        .clear_halt_out = clear_halt_out,
        .clear_halt_in = clear_halt_in,
        .class_reset = class_reset,
        .port_reset = port_reset,
        .identity = identity,
        .link_stats = link_stats,
        .close = close_pipe,
};

/* far_side_log - events below the cable; guest errors are this driver's mistakes and deserve
 * attention. */
static void far_side_log(void *ctx, bool guest_error, const char *line)
{
	(void)ctx;
	rx_log(guest_error ? LOG_WARN : LOG_DEBUG, "virtual", "%s%s",
	        guest_error ? "guest error: " : "", line);
}

static int parse_number(
        const char *text, unsigned long min, unsigned long max, unsigned long *value)
{
	char *end;

	errno = 0;
	*value = strtoul(text, &end, 10);
	return errno || end == text || *end || *text == '-' || *value < min || *value > max
	               ? -EINVAL
	               : 0;
}

static int parse_firmware(const char *text, struct venc_options *opt)
{
	if (!*text || strlen(text) >= sizeof(opt->firmware))
		return -EINVAL;
	strcpy(opt->firmware, text); /* venc_new says whether it is a version */
	return 0;
}

static int parse_option(const char *option, struct venc_options *opt)
{
	unsigned long n;

	if (!strcmp(option, "realtime")) {
		opt->realtime = true;
		return 0;
	}
	if (!strcmp(option, "unpowered")) {
		opt->start_unpowered = true;
		return 0;
	}
	if (!strcmp(option, "unit-attention")) {
		opt->unit_attention = true;
		return 0;
	}
	if (!venc_card_option(&opt->card, option))
		return 0;
	if (!strncmp(option, "bridge=", 7) && !venc_parse_bridge(option + 7, &opt->bridge))
		return 0;
	if (!strncmp(option, "firmware=", 9) && !parse_firmware(option + 9, opt))
		return 0;
	if (!strncmp(option, "engine=", 7) && !venc_parse_engine(option + 7, &opt->engine))
		return 0;
	if (!strncmp(option, "threads=", 8) && !parse_number(option + 8, 1, MAX_THREADS, &n)) {
		opt->threads = (unsigned)n;
		return 0;
	}
	if (!strncmp(option, "vram=", 5) &&
	        !parse_number(option + 5, MIN_VRAM_MIB, MAX_VRAM_MIB, &n)) {
		opt->vram_bytes = (uint64_t)n << 20;
		return 0;
	}
	return rx_fail("usb", -EINVAL,
	        "option \"%s\" of the virtual card is not one of: cold, posted, vbios=FILE, "
	        "ambient=1..60 (C), fault=NAME[=VALUE][@SECONDS], spoil=[smc:]ADDRESS:FLIP, "
	        "realtime, unpowered, "
	        "unit-attention, bridge=rtl9210|asm2362|asm2464, firmware=M.N.P, "
	        "engine=functions+type1+64bit+burst+bytes or all, threads=1..%d, vram=%u..%u (MiB)",
	        option, MAX_THREADS, MIN_VRAM_MIB, MAX_VRAM_MIB);
}

static int parse_options(const char *options, struct venc_options *opt)
{
	RX_CLEANUP(free) char *copy = strdup(options ? options : "");
	char *save = NULL;

	if (!copy)
		return -ENOMEM;
	for (char *o = strtok_r(copy, ",", &save); o; o = strtok_r(NULL, ",", &save)) {
		int err = parse_option(o, opt);

		if (err)
			return err;
	}
	return 0;
}

int usb_virtual_open(struct usb_pipe **out, const char *options)
{
	struct venc_options opt = {.log = far_side_log, .card.cold = true};
	int err = parse_options(options, &opt);

	if (err)
		return err;
	struct virtual_pipe *v = calloc(1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	v->pipe.ops = &virtual_ops;
	err = venc_new(&v->enclosure, &opt);
	if (err) {
		free(v);
		return err; /* said there */
	}
	*out = &v->pipe;
	return 0;
}
