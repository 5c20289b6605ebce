/* fuzz_usbip.c - libFuzzer entry: an arbitrary USB/IP client. Input: one option byte (bit 0: skip
 * to after an import), then the byte stream, cut into pieces whose sizes the first option bits
 * choose. Whatever comes, the server answers within its limits or closes.
 */
#include <errno.h>
#include <stdlib.h>

#include "device/bytes.h"
#include "device/log.h"
#include "device/usb/usbip_wire.h"
#include "device/virtual/server/session.h"

#define LARGEST_ANSWER (32u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One enclosure for all inputs, put back to power-up state before each: making a card takes longer
 * than most inputs. */
static struct venc *enclosure(void)
{
	static struct venc *e;
	const struct venc_options opt = {.threads = 1, .vram_bytes = 64u << 20};

	rx_log_set_stderr(false);
	if (!e && venc_new(&e, &opt))
		abort();
	venc_power_cycle(e);
	return e;
}

static int feed(struct session *s, const uint8_t *data, size_t size)
{
	int err = session_input(s, data, size);
	size_t len;
	const uint8_t *out = session_output(s, &len);

	if ((len && !out) || len > LARGEST_ANSWER || (err && err != -EPROTO))
		abort();
	if (len > 1) /* a client that reads slowly */
		session_sent(s, len / 2);
	return err;
}

static void import(struct session *s)
{
	static const uint8_t request[OP_HEADER_BYTES + DEV_BUSID_BYTES] = {
	        1, 0x11, 0x80, 3, [OP_HEADER_BYTES] = '1', '-', '1'};

	if (feed(s, request, sizeof(request)) || !session_imported(s))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct usbip_export x = {.enclosure = enclosure()};
	struct session *s;
	int err = 0;

	if (!size || session_new(&s, &x, "fuzz"))
		return 0;
	size_t piece = data[0] & 0xFE ? data[0] & 0xFE : size;

	if (data[0] & 1)
		import(s);
	for (size_t at = 1; at < size && !err; at += piece)
		err = feed(s, data + at, MIN(piece, size - at));
	session_free(s);
	if (x.owner)
		abort();
	return 0;
}
