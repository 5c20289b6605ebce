/* parse.c - headers of microcode files, polaris.md 4.2. A field that is read later is checked here;
 * nothing is published before all of it holds. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "device/bytes.h"
#include "device/firmware/firmware_priv.h"

/* offsets of the common header: polaris.md 4.2 */
#define H_SIZE         0
#define H_HEADER_SIZE  4
#define H_MAJOR        8
#define H_MINOR        10
#define H_IP_MAJOR     12
#define H_IP_MINOR     14
#define H_VERSION      16
#define H_UCODE_SIZE   20
#define H_UCODE_OFFSET 24
#define COMMON_BYTES   32

/* extra fields of each kind: polaris.md 4.2 */
#define MC_IO_DEBUG_SIZE   32
#define MC_IO_DEBUG_OFFSET 36
#define SMC_START          32
#define FEATURE_VERSION    32
#define GFX_JT_OFFSET      36
#define GFX_JT_SIZE        40
#define RLC_LISTS          72 /* size, offset; again at +8 */
#define RLC_SEPARATE_LISTS 88 /* the same, when the header is long enough */
#define RLC_FULL_BYTES     104
#define SDMA_JT_OFFSET     40
#define SDMA_JT_SIZE       44
#define SDMA_DIGEST_SIZE   48 /* v1.1: amdgpu_ucode.h, sdma_firmware_header_v1_1 */

#define SMC_RAM_END 0x40000u /* polaris.md 4.3 */

struct parse {
	struct fw_image *out;
	const struct fw_format *format;
	const uint8_t *data;
	size_t size;
	char *why;
	size_t why_size;
};

static int __attribute__((format(printf, 2, 3))) bad(struct parse *p, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(p->why, p->why_size, fmt, args);
	va_end(args);
	return -EINVAL;
}

static uint32_t field(const struct parse *p, unsigned at)
{
	return get_le32(p->data + at);
}

/* needed_bytes - how long the header of this version must be. */
static uint32_t needed_bytes(const struct fw_format *f, uint16_t minor)
{
	return f->header_bytes + (minor ? f->minor_bytes : 0);
}

static int check_version(struct parse *p)
{
	struct fw_image *o = p->out;

	o->header_major = get_le16(p->data + H_MAJOR);
	o->header_minor = get_le16(p->data + H_MINOR);
	o->ip_major = get_le16(p->data + H_IP_MAJOR);
	o->ip_minor = get_le16(p->data + H_IP_MINOR);
	o->ucode_version = field(p, H_VERSION);
	if (o->header_major != p->format->major || o->header_minor > p->format->max_minor)
		return bad(p, "header version %u.%u, expected %u.0 to %u.%u", o->header_major,
		        o->header_minor, p->format->major, p->format->major, p->format->max_minor);
	return 0;
}

static int check_header(struct parse *p)
{
	uint32_t header = field(p, H_HEADER_SIZE);

	if (field(p, H_SIZE) != p->size)
		return bad(
		        p, "size_bytes says %u, the file has %zu bytes", field(p, H_SIZE), p->size);
	int err = check_version(p);

	if (err)
		return err;
	if (header < needed_bytes(p->format, p->out->header_minor) || header > p->size ||
	        header % 4)
		return bad(p, "header_size_bytes %u does not fit version %u.%u (%u) and %zu bytes",
		        header, p->out->header_major, p->out->header_minor,
		        needed_bytes(p->format, p->out->header_minor), p->size);
	return 0;
}

/* check_range - @bytes at @offset lie behind the header; nothing needs to be there when empty. */
static int check_range(
        struct parse *p, const char *what, uint32_t offset, uint32_t bytes, uint32_t unit)
{
	if (!bytes)
		return 0;
	if (bytes % unit || offset % 4 || offset < field(p, H_HEADER_SIZE) ||
	        !range_ok(offset, bytes, p->size))
		return bad(p, "%s: %u bytes at %u do not fit a file of %zu bytes", what, bytes,
		        offset, p->size);
	return 0;
}

static int check_payload(struct parse *p)
{
	uint32_t bytes = field(p, H_UCODE_SIZE), offset = field(p, H_UCODE_OFFSET);

	if (!bytes)
		return bad(p, "ucode_size_bytes is 0");
	int err = check_range(p, "microcode", offset, bytes, 4);

	p->out->payload = p->data + offset;
	p->out->payload_bytes = bytes;
	return err;
}

/* check_jump_table - @offset and @size in dwords of the payload. Only MEC's is used (polaris.md
 * 4.4); the others' is published when it makes sense and not held against the file. */
static int check_jump_table(struct parse *p, uint32_t offset, uint32_t size)
{
	bool needed = p->out->kind == FW_MEC;
	bool fits = range_ok((uint64_t)offset * 4, (uint64_t)size * 4, p->out->payload_bytes);

	if (needed && (!fits || !size || !offset))
		return bad(p, "jump table: %u dwords at dword %u of a microcode of %u bytes", size,
		        offset, p->out->payload_bytes);
	p->out->jt_offset = fits && size ? offset * 4 : 0;
	p->out->jt_bytes = fits ? size * 4 : 0;
	return 0;
}

static int check_gfx(struct parse *p)
{
	p->out->feature_version = field(p, FEATURE_VERSION);
	return check_jump_table(p, field(p, GFX_JT_OFFSET), field(p, GFX_JT_SIZE));
}

static int check_sdma(struct parse *p)
{
	p->out->feature_version = field(p, FEATURE_VERSION);
	if (p->out->header_minor >= 1) {
		uint32_t digest = field(p, SDMA_DIGEST_SIZE);

		if (digest % 4 || digest >= p->out->payload_bytes)
			return bad(p, "digest_size %u of a microcode of %u bytes", digest,
			        p->out->payload_bytes);
	}
	return check_jump_table(p, field(p, SDMA_JT_OFFSET), field(p, SDMA_JT_SIZE));
}

/* The lists serve power gating, which stays off (polaris.md 5.5): checked, not published. */
static int check_rlc(struct parse *p)
{
	uint32_t end =
	        field(p, H_HEADER_SIZE) >= RLC_FULL_BYTES ? RLC_FULL_BYTES : RLC_SEPARATE_LISTS;
	int err = 0;

	p->out->feature_version = field(p, FEATURE_VERSION);
	for (unsigned at = RLC_LISTS; at < end && !err; at += 8)
		err = check_range(p, "register list", field(p, at + 4), field(p, at), 4);
	return err ? err : check_jump_table(p, field(p, GFX_JT_OFFSET), field(p, GFX_JT_SIZE));
}

static int check_smc(struct parse *p)
{
	p->out->start_address = field(p, SMC_START);
	if (p->out->payload_bytes > FW_SMC_MAX_BYTES)
		return bad(p, "%u bytes of SMC microcode, at most %u fit", p->out->payload_bytes,
		        FW_SMC_MAX_BYTES);
	if (p->out->start_address % 4 ||
	        !range_ok(p->out->start_address, p->out->payload_bytes, SMC_RAM_END))
		return bad(p, "ucode_start_addr 0x%x with %u bytes leaves SMC RAM (0x%x)",
		        p->out->start_address, p->out->payload_bytes, SMC_RAM_END);
	return 0;
}

static int check_mc(struct parse *p)
{
	uint32_t bytes = field(p, MC_IO_DEBUG_SIZE), offset = field(p, MC_IO_DEBUG_OFFSET);

	p->out->io_debug = p->data + offset;
	p->out->io_debug_bytes = bytes;
	return check_range(p, "io_debug list", offset, bytes, 8);
}

static int check_kind(struct parse *p)
{
	switch (p->out->kind) {
	case FW_RLC: return check_rlc(p);
	case FW_CE:
	case FW_PFP:
	case FW_ME:
	case FW_MEC: return check_gfx(p);
	case FW_SDMA0:
	case FW_SDMA1: return check_sdma(p);
	case FW_SMC: return check_smc(p);
	default: return check_mc(p);
	}
}

int fw_parse(struct fw_image *out, enum fw_kind kind, uint8_t *data, size_t size, char *why,
        size_t why_size)
{
	struct fw_image image = {.kind = kind, .data = data, .size = size};
	struct parse p = {&image, fw_format(kind), data, size, why, why_size};

	if (size < COMMON_BYTES || size > FW_MAX_BYTES)
		return bad(&p, "%zu bytes: a microcode file has %u to %u", size, COMMON_BYTES,
		        FW_MAX_BYTES);
	int err = check_header(&p);

	if (!err)
		err = check_payload(&p);
	if (!err)
		err = check_kind(&p);
	if (!err && !image.io_debug_bytes)
		image.io_debug = NULL;
	if (!err)
		*out = image;
	return err;
}
