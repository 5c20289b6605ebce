/* pack.c - the packer of the load stream (docs/plan-format.md 7); its reader is plan_unpack of
 * kernels/system/plan.cl. Packets repeat: ring entries, heads, dispatches differ in a dword or two.
 */
#include "device/plan/pack.h"

#include <stdbool.h>
#include <string.h>

#include "device/bytes.h"

#define HASH_BITS  13
#define HASH_SIZE  (1u << HASH_BITS)
#define HASH_PRIME 0x9E3779B1u /* golden ratio, Knuth vol. 3, 6.4 */
#define PROBES     32          /* candidates looked at for one position */
#define SHORTEST   2           /* a copy costs a dword when it ends a run of literals */
#define NONE       UINT32_MAX

/* Positions by the hash of the two dwords there, newest first. */
struct index {
	uint32_t newest[HASH_SIZE];
	uint32_t older[PACK_WINDOW]; /* position modulo the window */
};

struct match {
	uint32_t length, distance;
};

static uint32_t hash(const uint32_t *w)
{
	return (w[0] * HASH_PRIME ^ (w[1] + HASH_PRIME) * HASH_PRIME) >> (32 - HASH_BITS);
}

static void note(struct index *x, const uint32_t *in, uint32_t at, uint32_t end)
{
	if (at + 2 > end)
		return;
	uint32_t h = hash(in + at);

	x->older[at % PACK_WINDOW] = x->newest[h];
	x->newest[h] = at;
}

static uint32_t common(const uint32_t *in, uint32_t a, uint32_t b, uint32_t end)
{
	uint32_t n = 0;

	while (b + n < end && n < PACK_LONGEST && in[a + n] == in[b + n])
		n++;
	return n;
}

static struct match longest(const struct index *x, const uint32_t *in, uint32_t at, uint32_t end)
{
	struct match best = {0};
	uint32_t from = at + 2 <= end ? x->newest[hash(in + at)] : NONE;

	for (unsigned i = 0; i < PROBES && from != NONE && at - from <= PACK_FARTHEST; i++) {
		uint32_t n = common(in, from, at, end);

		if (n > best.length)
			best = (struct match){n, at - from};
		uint32_t next = x->older[from % PACK_WINDOW];

		from = next < from ? next : NONE; /* the ring of the window came round */
	}
	return best.length >= SHORTEST ? best : (struct match){0};
}

size_t plan_pack(
        const uint32_t *in, size_t n, uint32_t *out, size_t room, size_t *taken, void *work)
{
	struct index *x = work;
	uint32_t at = 0, end = (uint32_t)n;
	size_t used = 0;

	_Static_assert(sizeof(struct index) == PACK_WORK_BYTES, "work area");
	_Static_assert(PACK_FARTHEST + PACK_LONGEST < PACK_WINDOW, "a copy clobbers its source");
	memset(x->newest, 0xFF, sizeof(x->newest)); /* NONE */
	while (at < end && used + 2 <= room) {
		size_t op = used++;
		uint32_t literals = 0;
		struct match m = {0};

		while (at < end && literals < PACK_LITERALS && used < room &&
		        !(m = longest(x, in, at, end)).length) {
			out[used++] = in[at];
			note(x, in, at++, end);
			literals++;
		}
		out[op] = PACK_OP(literals, m.length, m.distance);
		for (uint32_t k = 0; k < m.length; k++)
			note(x, in, at++, end);
	}
	*taken = at;
	return used;
}
