/* asm2x6x_identify.c - is it an ASM236x or an ASM246x? The version is read in the form of the one
 * and, when that is refused, in the form of the other (bridge.md 3.1).
 */
#include <stdio.h>

#include "device/bridge/asm2x6x_priv.h"
#include "device/err.h"

/* ask - Return: bytes; -EIO with @sense refused; as scsi_exec. */
static int ask(struct scsi *s, enum asm_chip form, uint8_t version[ASM_VERSION_BYTES],
        struct scsi_sense *sense)
{
	uint8_t cdb[ASM_CDB_BYTES];
	int n = -EPERM;

	asm_build_cdb(cdb, form, ASM_OP_READ, ASM_VERSION_BYTES, ASM_VERSION);
	if (asm_refusal(ASM_UNKNOWN, cdb))
		return n;
	for (int i = 0; i < 2; i++) {
		n = scsi_exec(s, cdb, sizeof(cdb), SCSI_IN, version, ASM_VERSION_BYTES,
		        ASM_TIMEOUT_MS, sense);
		if (n != -EIO || sense->key != ASM_KEY_ATTENTION)
			break;
	}
	return n;
}

static bool is_decimal(uint8_t bcd)
{
	return bcd >> 4 <= 9 && (bcd & 0xF) <= 9;
}

/* plausible - the first three bytes are a date, YYMMDD in BCD: bridge.md 3.1. */
static bool plausible(const uint8_t v[ASM_VERSION_BYTES])
{
	return is_decimal(v[0]) && is_decimal(v[1]) && is_decimal(v[2]) && v[1] >= 0x01 &&
	       v[1] <= 0x12 && v[2] >= 0x01 && v[2] <= 0x31;
}

int asm_identify(struct scsi *s, enum asm_chip *chip, uint8_t version[ASM_VERSION_BYTES])
{
	struct scsi_sense sense = {0};
	int n = ask(s, *chip = ASM_236X, version, &sense);

	if (n == -EIO && sense.key && sense.key != ASM_KEY_ATTENTION)
		n = ask(s, *chip = ASM_246X, version, &sense);
	if (n < 0)
		return n == -EIO && sense.key ? -ENOTSUP : n;
	return n == ASM_VERSION_BYTES && plausible(version) ? 0 : -ENOTSUP;
}

void asm_version_text(char out[32], const uint8_t v[ASM_VERSION_BYTES])
{
	snprintf(out, 32, "%02X%02X%02X_%02X_%02X_%02X", v[0], v[1], v[2], v[3], v[4], v[5]);
}
