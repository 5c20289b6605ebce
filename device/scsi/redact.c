/* redact.c - what must not leave the owner's desk with a trace or a report. */
#include <ctype.h>
#include <string.h>

#include "device/scsi/scsi.h"

#define OP_INQUIRY  0x12
#define EVPD        0x01
#define VPD_SERIAL  0x80 /* SPC-4 7.8: unit serial number, device identification */
#define VPD_ID      0x83
#define STANDARD_AT 8 /* SPC-4 6.6.2: vendor 8..15, product 16..31, revision 32..35 */
#define PRODUCT_AT  16
#define REVISION_AT 32
#define SPECIFIC_AT 36

static void blank(uint8_t *data, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (data[i] && data[i] != ' ')
			data[i] = 'x';
}

/* whether these are the names a bridge's maker gives it: bridge.md 1.1 */
static bool maker_names(const uint8_t *data, size_t len)
{
	return len >= REVISION_AT &&
	       ((!memcmp(data + 8, "Realtek ", 8) && !memcmp(data + 16, "RTL9", 4)) ||
	               (!memcmp(data + 8, "ASMT", 4) && !memcmp(data + 16, "ASM", 3)));
}

/* whether the vendor is a maker of bridges, which decides the family: bridge.md 2.18 */
static bool maker_vendor(const uint8_t *data, size_t len)
{
	return len >= PRODUCT_AT &&
	       (!memcmp(data + 8, "Realtek ", 8) || !memcmp(data + 8, "ASMT", 4));
}

static void redact_standard(uint8_t *data, size_t len)
{
	if (!maker_names(data, len)) {
		size_t from = maker_vendor(data, len) ? PRODUCT_AT : STANDARD_AT;

		if (from < len)
			blank(data, from, len < REVISION_AT ? len : REVISION_AT);
	}
	if (len > SPECIFIC_AT)
		blank(data, SPECIFIC_AT, len);
}

void scsi_redact(const uint8_t *cdb, uint8_t *data, size_t len)
{
	if (cdb[0] != OP_INQUIRY)
		return;
	if (!(cdb[1] & EVPD))
		redact_standard(data, len);
	else if ((cdb[2] == VPD_SERIAL || cdb[2] == VPD_ID) && len > 4)
		blank(data, 4, len);
}
