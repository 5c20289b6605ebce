/* msgpack.c - see msgpack.h. */
#include "device/compile/msgpack.h"

#define MAX_DEPTH 32

static uint64_t take_be(struct mp *m, unsigned bytes)
{
	uint64_t v = 0;

	if (m->failed || (size_t)(m->end - m->p) < bytes) {
		m->failed = true;
		return 0;
	}
	for (unsigned i = 0; i < bytes; i++)
		v = v << 8 | *m->p++;
	return v;
}

static void take_skip(struct mp *m, uint64_t bytes)
{
	if (m->failed || (uint64_t)(m->end - m->p) < bytes)
		m->failed = true;
	else
		m->p += bytes;
}

enum mp_type mp_peek(const struct mp *m)
{
	if (m->failed || m->p == m->end)
		return MP_FAIL;
	uint8_t b = *m->p;
	if (b <= 0x7f || (b >= 0xcc && b <= 0xcf))
		return MP_UINT;
	if (b <= 0x8f || b == 0xde || b == 0xdf)
		return MP_MAP;
	if (b <= 0x9f || b == 0xdc || b == 0xdd)
		return MP_ARRAY;
	if (b <= 0xbf || (b >= 0xd9 && b <= 0xdb))
		return MP_STR;
	if (b == 0xc0)
		return MP_NIL;
	if (b == 0xc2 || b == 0xc3)
		return MP_BOOL;
	if (b >= 0xe0 || (b >= 0xd0 && b <= 0xd3))
		return MP_INT;
	return MP_OTHER;
}

/* length field of a map (0x80, 0xde), array (0x90, 0xdc) or string (0xa0, 0xd9) head */
static uint32_t take_length(struct mp *m, enum mp_type want)
{
	if (mp_peek(m) != want) {
		m->failed = true;
		return 0;
	}
	uint8_t b = (uint8_t)take_be(m, 1);
	if (b <= 0x9f)
		return b & 0x0f;
	if (b <= 0xbf)
		return b & 0x1f;
	if (want == MP_STR)
		return (uint32_t)take_be(m, 1u << (b - 0xd9));
	return (uint32_t)take_be(m, (b & 1) ? 4 : 2);
}

uint32_t mp_map(struct mp *m)
{
	return take_length(m, MP_MAP);
}

uint32_t mp_array(struct mp *m)
{
	return take_length(m, MP_ARRAY);
}

uint64_t mp_uint(struct mp *m)
{
	if (mp_peek(m) != MP_UINT) {
		m->failed = true;
		return 0;
	}
	uint8_t b = (uint8_t)take_be(m, 1);
	return b <= 0x7f ? b : take_be(m, 1u << (b - 0xcc));
}

const char *mp_str(struct mp *m, size_t *len)
{
	uint32_t n = take_length(m, MP_STR);
	const char *s = (const char *)m->p;

	take_skip(m, n);
	*len = m->failed ? 0 : n;
	return m->failed ? "" : s;
}

static void skip_other(struct mp *m)
{
	uint8_t b = (uint8_t)take_be(m, 1);

	if (b >= 0xc4 && b <= 0xc6) /* bin 8, 16, 32 */
		take_skip(m, take_be(m, 1u << (b - 0xc4)));
	else if (b >= 0xc7 && b <= 0xc9) /* ext 8, 16, 32: length, type, bytes */
		take_skip(m, take_be(m, 1u << (b - 0xc7)) + 1);
	else if (b == 0xca || b == 0xcb) /* float 32, 64 */
		take_skip(m, b == 0xca ? 4 : 8);
	else if (b >= 0xd4 && b <= 0xd8) /* fixext 1..16 */
		take_skip(m, 1 + (1u << (b - 0xd4)));
	else
		m->failed = true;
}

static void skip_depth(struct mp *m, int depth)
{
	size_t len;

	if (depth > MAX_DEPTH)
		m->failed = true;
	switch (mp_peek(m)) {
	case MP_MAP:
		for (uint64_t n = 2 * (uint64_t)mp_map(m); n && !m->failed; n--)
			skip_depth(m, depth + 1);
		break;
	case MP_ARRAY:
		for (uint32_t n = mp_array(m); n && !m->failed; n--)
			skip_depth(m, depth + 1);
		break;
	case MP_STR: mp_str(m, &len); break;
	case MP_UINT: mp_uint(m); break;
	case MP_INT: {
		uint8_t b = (uint8_t)take_be(m, 1);
		if (b < 0xe0)
			take_skip(m, 1u << (b - 0xd0));
		break;
	}
	case MP_NIL:
	case MP_BOOL: take_skip(m, 1); break;
	case MP_OTHER: skip_other(m); break;
	case MP_FAIL: m->failed = true; break;
	}
}

void mp_skip(struct mp *m)
{
	skip_depth(m, 0);
}
