/* fuzz_enclosure.c - libFuzzer entry: an arbitrary host on the cable. Input: one option byte
 * (bits 6:5 the bridge family), then records of {operation, length, bytes}. Any answer is right as
 * long as the enclosure keeps its promises to the caller.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/enclosure/enclosure.h"

#define MAX_RECORDS 64
#define UNLOCKED    0x10u /* in the option byte: the RTL921x was unlocked already */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *at;
	size_t left;
	enum venc_bridge bridge;
};

static size_t take(struct input *in, void *out, size_t len)
{
	size_t n = MIN(len, in->left);

	memset(out, 0, len);
	memcpy(out, in->at, n);
	in->at += n;
	in->left -= n;
	return n;
}

/* A transfer never moves more than its buffer, and fails with one of the documented codes. */
static void promise(int n, size_t room)
{
	if (n > (int)room || (n < 0 && n != -EPIPE && n != -ETIMEDOUT && n != -EOVERFLOW))
		abort();
}

/* Vendor commands whose lengths agree, or little would get through. */
static void rtl_command(bool out, uint8_t *cdb, uint8_t *cbw)
{
	cdb[0] = out ? 0xE3 : 0xE2;
	cdb[1] = cdb[2] = cdb[3] = cdb[14] = cdb[15] = 0;
	put_le32(cbw + 8, get_le32(cdb + 12));
	cbw[12] = out ? 0 : 0x80;
}

/* bridge.md 3.1 */
static void asm_command(enum venc_bridge bridge, bool write, uint8_t *cdb, uint8_t *cbw)
{
	cdb[0] = write ? 0xE5 : 0xE4;
	cdb[2] = bridge == VENC_ASM246X ? 0x50 | (cdb[2] & 1) : 0;
	memset(cdb + 5, 0, 11);
	cbw[14] = 6;
	cbw[8] = write ? 0 : cdb[1];
	cbw[12] = 0x80;
}

/* A well-formed CBW around a CDB from the input, its data phase and its CSW. */
static void command(struct venc *e, struct input *in)
{
	static uint8_t buf[8192];
	uint8_t cbw[31] = {0x55, 0x53, 0x42, 0x43, [14] = 16}, cdb[16], agree;
	uint32_t len;

	take(in, &agree, 1);
	take(in, cdb, sizeof(cdb));
	if (agree & 1 && in->bridge != VENC_RTL921X) {
		asm_command(in->bridge, agree & 2, cdb, cbw);
	} else if (agree & 1) {
		rtl_command(agree & 2, cdb, cbw);
	} else {
		take(in, cbw + 8, 7);
	}
	memcpy(cbw + 15, cdb, sizeof(cdb));
	len = MIN(get_le32(cbw + 8), (uint32_t)sizeof(buf));
	promise(venc_bulk_out(e, cbw, sizeof(cbw)), sizeof(cbw));
	if (cbw[12] & 0x80) {
		promise(venc_bulk_in(e, buf, len), len);
	} else if (len) {
		take(in, buf, MIN(len, 64u));
		promise(venc_bulk_out(e, buf, len), len);
	}
	venc_control(e, 0x02, 1, 0, 0x81, NULL, 0);
	venc_control(e, 0x02, 1, 0, 0x02, NULL, 0);
	promise(venc_bulk_in(e, buf, 13), 13);
}

static void control(struct venc *e, struct input *in)
{
	uint8_t setup[8], buf[256];

	take(in, setup, sizeof(setup));
	promise(venc_control(e, setup[0], setup[1], get_le16(setup + 2), get_le16(setup + 4), buf,
	                MIN(get_le16(setup + 6), (uint16_t)sizeof(buf))),
	        sizeof(buf));
}

static void raw_out(struct venc *e, struct input *in)
{
	uint8_t buf[64], len;
	size_t n;

	take(in, &len, 1);
	n = take(in, buf, len % sizeof(buf));
	promise(venc_bulk_out(e, buf, n), n);
}

static void raw_in(struct venc *e, struct input *in)
{
	uint8_t buf[2048], len[2];

	take(in, len, 2);
	promise(venc_bulk_in(e, buf, get_le16(len) % sizeof(buf)), sizeof(buf));
}

static void poke(struct venc *e, enum venc_bridge bridge, uint16_t address, uint8_t value)
{
	uint8_t cbw[31] = {0x55, 0x53, 0x42, 0x43}, csw[13];
	uint8_t cdb[16] = {0, value, 0, (uint8_t)(address >> 8), (uint8_t)address};

	asm_command(bridge, true, cdb, cbw);
	memcpy(cbw + 15, cdb, sizeof(cdb));
	promise(venc_bulk_out(e, cbw, sizeof(cbw)), sizeof(cbw));
	promise(venc_bulk_in(e, csw, 13), 13);
}

/* A whole request of the TLP engine, header and data from the input (bridge.md 3.4). */
static void tlp(struct venc *e, struct input *in)
{
	uint8_t header[20];

	take(in, header, sizeof(header));
	for (unsigned i = 0; i < sizeof(header); i++)
		poke(e, in->bridge, (uint16_t)(0xB210 + i), header[i]);
	poke(e, in->bridge, 0xB296, 3);
	poke(e, in->bridge, 0xB254, 0x0F);
	poke(e, in->bridge, 0xB296, 4);
}

static void record(struct venc *e, struct input *in)
{
	uint8_t op;

	take(in, &op, 1);
	switch (op & 7) {
	case 0: raw_out(e, in); break;
	case 1: raw_in(e, in); break;
	case 2: control(e, in); break;
	case 3: venc_port_reset(e); break;
	case 4: venc_inject(e, op >> 3, 1); break;
	default:
		if (op & 8 && in->bridge != VENC_RTL921X)
			tlp(e, in);
		else
			command(e, in);
	}
}

static void unlock(struct venc *e) /* bridge.md 2.7 */
{
	static const uint8_t cbw[31] = {0x55, 0x53, 0x42, 0x43, [8] = 0x60, [12] = 0x80, [14] = 16,
	        [15] = 0xE2, [19] = 0x92, [24] = 0x40, [26] = 0xAC, [27] = 0x60};
	uint8_t header[0x60], csw[13];

	if (venc_bulk_out(e, cbw, sizeof(cbw)) != 31 || venc_bulk_in(e, header, 0x60) != 0x60 ||
	        venc_bulk_in(e, csw, 13) != 13 || csw[12] != 0)
		abort();
}

static struct venc *kept[256]; /* by option byte */

static void free_kept(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(kept); i++)
		venc_free(kept[i]);
}

/* The enclosure of these options as its power comes on. A card costs far more to build than an
 * input to run, so each is kept; nothing an input leaves behind survives its power. */
static struct venc *powered_up(uint8_t flags, enum venc_bridge bridge)
{
	struct venc_options opt = {.bridge = bridge, .threads = 1, .vram_bytes = 64u << 20};
	struct venc **e = &kept[flags & ~UNLOCKED];
	static bool any;

	opt.stray_store_hangs = flags & 1;
	opt.null_handle_hangs = flags & 2;
	opt.engine_needs_release = flags & 4;
	opt.usb_reset_relocks = flags & 8;
	opt.engine = flags & 128 ? ~0u : 0;
	if (*e) {
		for (unsigned i = 0; i < VENC_FAULT_COUNT; i++)
			venc_inject(*e, (enum venc_fault)i, 0);
		venc_power_cycle(*e);
		return *e;
	}
	if (venc_new(e, &opt) || (!any && atexit(free_kept)))
		abort();
	any = true;
	return *e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum venc_bridge bridges[4] = {
	        VENC_RTL921X, VENC_ASM236X, VENC_ASM246X, VENC_ASM246X};
	struct input in = {.at = data, .left = size};
	struct venc *e;
	uint8_t flags;

	take(&in, &flags, 1);
	in.bridge = bridges[flags >> 5 & 3];
	e = powered_up(flags, in.bridge);
	if (flags & UNLOCKED && in.bridge == VENC_RTL921X)
		unlock(e);
	for (int i = 0; i < MAX_RECORDS && in.left; i++)
		record(e, &in);
	return 0;
}
