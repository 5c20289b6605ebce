/* pack.h - dwords packed for the link and unpacked on the card: docs/plan-format.md 7. Pure. */
#ifndef RX_PLAN_PACK_H
#define RX_PLAN_PACK_H

#include <stddef.h>
#include <stdint.h>

/* An op, and @literals dwords behind it: take those, then @copied dwords from @distance dwords
 * back, again from there when it is shorter. The reader keeps PACK_WINDOW dwords. */
#define PACK_WINDOW   8192u
#define PACK_LITERALS 255u  /* op bits 7:0 */
#define PACK_LONGEST  2047u /* op bits 18:8 */
#define PACK_FARTHEST 6144u /* op bits 31:19; a copy must not overwrite its source in there */
#define PACK_OP(literals, copied, distance)                                                        \
	((uint32_t)(literals) | (uint32_t)(copied) << 8 | (uint32_t)(distance) << 19)

#define PACK_WORK_BYTES (2u * PACK_WINDOW * 4u)

/* plan_pack - as many of the @n dwords at @in as find room in the @room dwords at @out.
 * @work: PACK_WORK_BYTES, aligned for dwords, the caller's; nothing in it matters.
 * @taken: dwords of @in. Return: dwords of @out. */
size_t plan_pack(
        const uint32_t *in, size_t n, uint32_t *out, size_t room, size_t *taken, void *work);

#endif
