#include <errno.h>
#include <string.h>

#include "device/bytes.h"
#include "tests/unit/enclosure/helper_card.h"
#include "tests/unit/enclosure/helper_host.h"

#define TAG 0x1234ABCDu

struct venc *host_new_with(struct venc_options opt)
{
	struct venc *e = NULL;

	assert_int_equal(venc_new(&e, &opt), 0);
	assert_non_null(e);
	return e;
}

struct venc *host_new(void)
{
	return host_new_with((struct venc_options){0});
}

int host_cbw(struct venc *e, const uint8_t *cdb, unsigned cdb_len, uint32_t len, bool in)
{
	uint8_t cbw[31] = {0};

	put_le32(cbw, 0x43425355);
	put_le32(cbw + 4, TAG);
	put_le32(cbw + 8, len);
	cbw[12] = in ? 0x80 : 0;
	cbw[14] = (uint8_t)cdb_len;
	memcpy(cbw + 15, cdb, cdb_len);
	return venc_bulk_out(e, cbw, sizeof(cbw));
}

void host_csw(struct venc *e, struct answer *a)
{
	uint8_t csw[13] = {0};
	int n = venc_bulk_in(e, csw, sizeof(csw));

	a->csw = n;
	if (n == -EPIPE) {
		assert_int_equal(host_clear_halt(e, 0x81), 0);
		n = venc_bulk_in(e, csw, sizeof(csw));
	}
	if (n < 0)
		return;
	assert_int_equal(get_le32(csw), 0x53425355);
	a->tag = get_le32(csw + 4);
	a->residue = get_le32(csw + 8);
	a->status = csw[12];
}

struct answer host_command(
        struct venc *e, const uint8_t *cdb, unsigned cdb_len, void *data, uint32_t len, bool in)
{
	struct answer a = {.status = 0xEE};

	a.csw = host_cbw(e, cdb, cdb_len, len, in);
	if (a.csw < 0)
		return a;
	assert_int_equal(a.csw, 31);
	if (len)
		a.data = in ? venc_bulk_in(e, data, len) : venc_bulk_out(e, data, len);
	if (a.data == -EPIPE)
		assert_int_equal(host_clear_halt(e, in ? 0x81 : 0x02), 0);
	host_csw(e, &a);
	return a;
}

static void vendor_cdb(uint8_t *cdb, uint8_t opcode, uint8_t sub, uint32_t address, uint32_t len)
{
	memset(cdb, 0, 16);
	cdb[0] = opcode;
	cdb[4] = sub;
	put_le32(cdb + 8, address);
	put_le32(cdb + 12, len);
}

int rtl_in(struct venc *e, uint8_t sub, uint32_t address, void *data, uint32_t len)
{
	uint8_t cdb[16];
	struct answer a;

	vendor_cdb(cdb, 0xE2, sub, address, len);
	a = host_command(e, cdb, sizeof(cdb), data, len, true);
	if (a.csw < 0 && a.csw != -EPIPE)
		return a.csw;
	if (a.status == CSW_GOOD)
		assert_int_equal(a.data, len);
	return a.status;
}

int rtl_out(struct venc *e, uint8_t sub, uint32_t address, const void *data, uint32_t len)
{
	uint8_t cdb[16], copy[4096];
	struct answer a;

	memcpy(copy, data, MIN(len, sizeof(copy)));
	vendor_cdb(cdb, 0xE3, sub, address, len);
	a = host_command(e, cdb, sizeof(cdb), copy, len, false);
	return a.csw < 0 && a.csw != -EPIPE ? a.csw : a.status;
}

uint32_t rtl_in32(struct venc *e, uint8_t sub, uint32_t address)
{
	uint8_t dword[4] = {0};

	assert_int_equal(rtl_in(e, sub, address, dword, 4), CSW_GOOD);
	return get_le32(dword);
}

void rtl_out32(struct venc *e, uint8_t sub, uint32_t address, uint32_t value)
{
	uint8_t dword[4];

	put_le32(dword, value);
	assert_int_equal(rtl_out(e, sub, address, dword, 4), CSW_GOOD);
}

void rtl_unlock(struct venc *e)
{
	uint8_t header[0x60];

	assert_int_equal(rtl_in(e, 0x92, 0xAC004000, header, sizeof(header)), CSW_GOOD);
}

int host_clear_halt(struct venc *e, uint8_t endpoint)
{
	return venc_control(e, 0x02, 1, 0, endpoint, NULL, 0);
}

int host_class_reset(struct venc *e)
{
	return venc_control(e, 0x21, 0xFF, 0, 0, NULL, 0);
}

uint32_t host_sense(struct venc *e)
{
	static const uint8_t cdb[6] = {3, 0, 0, 0, 18, 0};
	uint8_t sense[18] = {0};
	struct answer a = host_command(e, cdb, sizeof(cdb), sense, sizeof(sense), true);

	assert_int_equal(a.data, 18);
	assert_int_equal(a.status, CSW_GOOD);
	assert_int_equal(sense[0], 0x70);
	return (uint32_t)(sense[2] & 0xF) << 16 | (uint32_t)sense[12] << 8 | sense[13];
}

uint64_t own_guest_errors(struct venc *e)
{
	struct venc_stats s;

	venc_read_stats(e, &s);
	return fake_card() ? s.guest_errors - FAKE_GUEST_ERRORS : s.guest_errors;
}
