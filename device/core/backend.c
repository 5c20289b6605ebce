/* backend.c - which enclosure: a real one over USB or SG_IO, one behind a USB/IP server, the
 * virtual one, or a recorded one. */
#include <string.h>

#include "device/core/backend.h"
#include "device/err.h"
#include "device/scsi/scsi.h"
#include "device/usb/usbip.h"

static int carry(struct scsi **out, struct usb_pipe *pipe)
{
	int err = scsi_bot_new(out, pipe);

	if (err)
		pipe->ops->close(pipe);
	return err;
}

static int open_virtual(struct scsi **out, const char *options)
{
	struct usb_pipe *pipe;
	int err = usb_virtual_open(&pipe, options);

	return err ? err : carry(out, pipe);
}

static int open_usb(struct scsi **out, const char *text)
{
	struct usb_address want;
	struct usb_pipe *pipe;
	int err = usb_parse_address(&want, text);

	if (!err)
		err = usb_libusb_open(&pipe, &want);
	return err ? err : carry(out, pipe);
}

static int open_usbip(struct scsi **out, const char *where)
{
	struct usb_pipe *pipe;
	int err = usb_usbip_open(&pipe, where);

	return err ? err : carry(out, pipe);
}

/* take_real - whether auto takes a real bridge: exactly one, and no disk in it. Says what it does.
 */
static bool take_real(void)
{
	const struct usb_address any = {0};
	struct usb_found f;
	size_t n = usb_find(&any, &f, 1);

	if (n == 1 && !f.disk_bytes) {
		rx_log(LOG_INFO, "card", "using the bridge %04x:%04x at USB port %s", f.id.vid,
		        f.id.pid, f.port);
		return true;
	}
	if (n == 1)
		rx_log(LOG_INFO, "card",
		        "the bridge %04x:%04x at USB port %s holds a disk: using the virtual card",
		        f.id.vid, f.id.pid, f.port);
	else if (n)
		rx_log(LOG_WARN, "card",
		        "%zu bridges are plugged in: using the virtual card; name one with --card "
		        "usb:%04x:%04x@%s",
		        n, f.id.vid, f.id.pid, f.port);
	else
		rx_log(LOG_INFO, "card", "no bridge is plugged in: using the virtual card");
	return false;
}

static bool is_kind(const char *card, const char *kind, char separator)
{
	size_t len = strlen(kind);

	return !strncmp(card, kind, len) && (!card[len] || card[len] == separator);
}

static int open_kind(struct scsi **out, const char **kind, const char *card)
{
	if (is_kind(card, *kind = "virtual", ','))
		return open_virtual(out, card[7] ? card + 8 : NULL);
	if (is_kind(card, *kind = "usb", ':'))
		return open_usb(out, card[3] ? card + 4 : NULL);
	if (is_kind(card, *kind = "usbip", ':'))
		return open_usbip(out, card[5] ? card + 6 : NULL);
	if (is_kind(card, *kind = "sg", ':') && card[2] && card[3])
		return scsi_sg_new(out, card + 3);
	if (is_kind(card, *kind = "replay", ':') && card[6] && card[7])
		return scsi_replay_new(out, card + 7);
	return rx_fail("card", -EINVAL,
	        "\"%s\" is no card: auto, usb[:VID:PID[@BUS-PORT]], sg:/dev/sgN, "
	        "usbip:HOST:PORT[/BUSID], usbip:unix:PATH, replay:FILE or virtual[,OPTIONS]",
	        card);
}

int backend_open(struct scsi **out, const char **kind, const char *card, const char *trace)
{
	struct scsi *s;

	if (!card || !strcmp(card, "auto"))
		card = take_real() ? "usb" : "virtual";
	int err = open_kind(&s, kind, card);

	if (err || !trace) {
		*out = err ? NULL : s;
		return err;
	}
	err = scsi_record_new(out, s, trace);
	if (err)
		scsi_free(s);
	return err;
}

bool backend_is_hardware(const char *kind)
{
	return !strcmp(kind, "usb") || !strcmp(kind, "sg");
}
