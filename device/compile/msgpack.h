/* msgpack.h - bounds-checked cursor over MessagePack bytes (msgpack specification, "Formats").
 * Private to compile/. Every call consumes one value or fails; after a failure the cursor stays
 * failed.
 */
#ifndef RX_MSGPACK_H
#define RX_MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mp {
	const uint8_t *p, *end;
	bool failed;
};

enum mp_type { MP_NIL, MP_BOOL, MP_UINT, MP_INT, MP_STR, MP_ARRAY, MP_MAP, MP_OTHER, MP_FAIL };

/* mp_peek - type of the next value without consuming it. */
enum mp_type mp_peek(const struct mp *m);
/* mp_map, mp_array - number of pairs / elements; 0 and failed when the next value is something
 * else. */
uint32_t mp_map(struct mp *m);
uint32_t mp_array(struct mp *m);
uint64_t mp_uint(struct mp *m);
/* mp_str - points into the input, not terminated. */
const char *mp_str(struct mp *m, size_t *len);
/* mp_skip - consume any value, nested at most 32 deep. */
void mp_skip(struct mp *m);

#endif
