/* fuzz_enclosure.c - libFuzzer entry: an arbitrary host on the cable. Input: one option byte, then
 * records of {operation, length, bytes}. Any answer is right as long as the enclosure keeps its
 * promises to the caller.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/enclosure/enclosure.h"

#define MAX_RECORDS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *at;
	size_t left;
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

/* A well-formed CBW around a CDB from the input, its data phase and its CSW. */
static void command(struct venc *e, struct input *in)
{
	static uint8_t buf[8192];
	uint8_t cbw[31] = {0x55, 0x53, 0x42, 0x43, [14] = 16}, cdb[16], agree;
	uint32_t len;

	take(in, &agree, 1);
	take(in, cdb, sizeof(cdb));
	if (agree & 1) { /* a vendor command whose lengths agree, or little would get through */
		cdb[0] = agree & 2 ? 0xE3 : 0xE2;
		cdb[1] = cdb[2] = cdb[3] = cdb[14] = cdb[15] = 0;
		put_le32(cbw + 8, get_le32(cdb + 12));
		cbw[12] = agree & 2 ? 0 : 0x80;
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
	default: command(e, in); break;
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct venc_options opt = {.threads = 1, .vram_bytes = 64u << 20};
	struct venc *e;
	uint8_t flags;

	take(&in, &flags, 1);
	opt.stray_store_hangs = flags & 1;
	opt.null_handle_hangs = flags & 2;
	opt.engine_needs_release = flags & 4;
	opt.usb_reset_relocks = flags & 8;
	if (venc_new(&e, &opt))
		abort();
	if (flags & 16)
		unlock(e);
	for (int i = 0; i < MAX_RECORDS && in.left; i++)
		record(e, &in);
	venc_free(e);
	return 0;
}
