/* bridge.c - which family is it? INQUIRY first: the same opcodes mean different things to different
 * chips, and E3 writes flash on an ASMedia (bridge.md 2.18).
 */
#include <ctype.h>
#include <string.h>

#include "device/bridge/rtl921x_priv.h"
#include "device/bytes.h"
#include "device/err.h"

#define OP_INQUIRY    0x12
#define INQUIRY_BYTES 36

static void copy_text(char *out, const uint8_t *in, size_t len)
{
	for (size_t i = 0; i < len; i++)
		out[i] = isprint(in[i]) ? (char)in[i] : '.';
	out[len] = '\0';
	while (len && out[len - 1] == ' ')
		out[--len] = '\0';
}

int bridge_open(struct bridge **out, struct scsi *scsi, const struct bridge_hooks *hooks)
{
	const uint8_t inquiry[6] = {OP_INQUIRY, 0, 0, 0, INQUIRY_BYTES, 0};
	uint8_t data[INQUIRY_BYTES] = {0};
	char vendor[9], product[17];
	int n = scsi_exec(
	        scsi, inquiry, sizeof(inquiry), SCSI_IN, data, sizeof(data), RTL_TIMEOUT_MS, NULL);

	if (n < 0)
		return n;
	if (n < INQUIRY_BYTES ||
	        (data[0] & 0x1F) != 0) /* SPC-4: type 0 is a direct access device */
		return rx_fail("bridge", -ENOTSUP,
		        "the device does not answer INQUIRY like a disk enclosure");
	copy_text(vendor, data + 8, 8);
	copy_text(product, data + 16, 16);
	rx_log(LOG_DEBUG, "bridge", "INQUIRY: \"%s\" \"%s\"", vendor, product);
	if (!strncmp(vendor, "ASMT", 4)) /* bridge.md 1.1 */
		return rx_fail("bridge", -ENOTSUP, "ASMedia bridges are not supported yet");
	int err = rtl921x_open(out, scsi, hooks);

	if (err == -ENOTSUP)
		return rx_fail("bridge", err, "\"%s %s\" is no RTL921x bridge with known firmware",
		        vendor, product);
	return err;
}

void bridge_free(struct bridge *b)
{
	if (b)
		b->ops->free(b);
}
