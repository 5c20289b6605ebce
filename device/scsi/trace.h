/* trace.h - the text of a recorded conversation: record.c writes it, replay.c reads it. Lines end
 * in '\n'; words are separated by one space; bytes are hex in pairs.
 *
 *   rx580fs-trace 1
 *   device VID PID BCD MBIT                      hex, hex, hex, decimal
 *   cmd CDB none 0 -> US RESULT
 *   cmd CDB in LEN -> US RESULT [BYTES]          BYTES when at least one came
 *   cmd CDB out LEN BYTES -> US RESULT
 *   end COMMANDS DIGEST                          over all bytes before this line
 *
 * US: microseconds, then "reset" when the USB port was reset meanwhile. RESULT: "ok N" (bytes
 * moved), "sense K/AA/QQ", or "error NAME". BYTES: hex up to TRACE_INLINE bytes; "fnv:DIGEST" for
 * more; "withheld" for answers that may hold serial numbers. DIGEST: 16 hex digits of 64-bit
 * FNV-1a. A line is complete before its command is sent up to the arrow, so that the last line of a
 * broken trace names the command that broke it.
 */
#ifndef RX_TRACE_H
#define RX_TRACE_H

#include <stddef.h>
#include <stdint.h>

#define TRACE_MAGIC  "rx580fs-trace 1"
#define TRACE_INLINE 128u /* bytes */

#define TRACE_FNV_START 0xCBF29CE484222325ull /* FNV-1a, 64 bits */

static inline uint64_t trace_fnv(uint64_t h, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001B3ull;
	return h;
}

#endif
