/* pm4_decode.h - PM4 packets of a compute queue as text, one packet a line with its address. Pure.
 */
#ifndef CP_PM4_DECODE_H
#define CP_PM4_DECODE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* pm4_print - @addr: MC address of dw[0]. Malformed tails are printed as raw dwords; never reads
 * beyond @count. */
void pm4_print(FILE *out, uint64_t addr, const uint32_t *dw, size_t count);

#endif
