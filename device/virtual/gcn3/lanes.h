/* lanes.h - moving the same few dwords of many lanes between packed memory and register rows.
 * Private to gcn3/. */
#ifndef GCN3_LANES_H
#define GCN3_LANES_H

#include <string.h>

#include "device/virtual/gcn3/exec_mem.h"

typedef uint32_t lanes_x4 __attribute__((vector_size(16)));

/* Shape of the addresses of the active lanes. */
enum lanes_shape {
	LANES_SCATTERED,
	LANES_PACKED,  /* one after the other, active lanes without a gap */
	LANES_UNIFORM, /* all the same */
};

static GCN3_INLINE bool lanes_differ_from(
        const uint32_t *rel, const uint32_t *lanes, uint32_t first, uint32_t step)
{
	uint32_t differ = 0;

	for (uint32_t l = 0; l < GCN3_LANES; l++)
		differ |= (rel[l] ^ (first + l * step)) & lanes[l];
	return differ;
}

/* Shape for accesses of @bytes bytes; @mask is not 0 and @lanes are its masks. */
static GCN3_INLINE enum lanes_shape lanes_classify(
        const uint32_t *rel, const uint32_t *lanes, uint64_t mask, uint32_t bytes)
{
	unsigned first = (unsigned)__builtin_ctzll(mask);
	unsigned last = 63 - (unsigned)__builtin_clzll(mask);
	uint64_t run = mask >> first;

	if (rel[last] == rel[first])
		return lanes_differ_from(rel, lanes, rel[first], 0) ? LANES_SCATTERED
		                                                    : LANES_UNIFORM;
	/* the last test also rules out a wrap of 32 bits in between */
	if (run & (run + 1) || rel[last] - rel[first] != (last - first) * bytes ||
	        rel[last] < rel[first])
		return LANES_SCATTERED;
	return lanes_differ_from(rel, lanes, rel[first] - first * bytes, bytes) ? LANES_SCATTERED
	                                                                        : LANES_PACKED;
}

static GCN3_INLINE lanes_x4 lanes_get4(const void *p)
{
	lanes_x4 v;

	vmem_copy(&v, p, sizeof(v));
	return v;
}

/* Four lanes of four dwords each (@from[i]: lane i) to lanes @lane .. @lane + 3 of four rows. */
static GCN3_INLINE void lanes_transpose4(
        uint32_t (*rows)[GCN3_LANES], unsigned lane, lanes_x4 a, lanes_x4 b, lanes_x4 c, lanes_x4 d)
{
	lanes_x4 ab_lo = __builtin_shufflevector(a, b, 0, 4, 1, 5);
	lanes_x4 ab_hi = __builtin_shufflevector(a, b, 2, 6, 3, 7);
	lanes_x4 cd_lo = __builtin_shufflevector(c, d, 0, 4, 1, 5);
	lanes_x4 cd_hi = __builtin_shufflevector(c, d, 2, 6, 3, 7);
	lanes_x4 out[4] = {
	        __builtin_shufflevector(ab_lo, cd_lo, 0, 1, 4, 5),
	        __builtin_shufflevector(ab_lo, cd_lo, 2, 3, 6, 7),
	        __builtin_shufflevector(ab_hi, cd_hi, 0, 1, 4, 5),
	        __builtin_shufflevector(ab_hi, cd_hi, 2, 3, 6, 7),
	};

	for (int i = 0; i < 4; i++)
		memcpy(&rows[i][lane], &out[i], sizeof(out[i]));
}

/* @n lanes of @dwords dwords, packed at @from, to rows beginning with @rows, first lane @lane. */
static GCN3_INLINE void lanes_unpack(uint32_t (*rows)[GCN3_LANES], unsigned lane, unsigned n,
        const uint8_t *from, unsigned dwords)
{
	unsigned i = 0;

	if (dwords == 1) {
		vmem_copy(&rows[0][lane], from, 4 * (size_t)n);
		return;
	}
	if (dwords == 4)
		for (; i + 4 <= n; i += 4)
			lanes_transpose4(rows, lane + i, lanes_get4(from + 16 * i),
			        lanes_get4(from + 16 * i + 16), lanes_get4(from + 16 * i + 32),
			        lanes_get4(from + 16 * i + 48));
	for (; i < n; i++)
		for (unsigned k = 0; k < dwords; k++)
			rows[k][lane + i] = vmem_get32(from + 4 * (dwords * i + k));
}

/* The reverse, into private memory. */
static GCN3_INLINE void lanes_pack(
        uint8_t *to, uint32_t (*rows)[GCN3_LANES], unsigned lane, unsigned n, unsigned dwords)
{
	uint32_t words[4 * GCN3_LANES];

	for (unsigned k = 0; k < dwords; k++)
		for (unsigned i = 0; i < n; i++)
			words[dwords * i + k] = rows[k][lane + i];
	memcpy(to, words, 4 * (size_t)n * dwords);
}

static GCN3_INLINE uint32_t lanes_extend(uint32_t v, enum gcn3_width width)
{
	switch (width) {
	case GCN3_U8: return (uint8_t)v;
	case GCN3_S8: return (uint32_t)(int8_t)v;
	case GCN3_U16: return (uint16_t)v;
	case GCN3_S16: return (uint32_t)(int16_t)v;
	case GCN3_DWORDS: break;
	}
	return v;
}

/* One value for all active lanes of a row. */
static GCN3_INLINE void lanes_broadcast(uint32_t *row, const uint32_t *lanes, uint32_t value)
{
	for (unsigned l = 0; l < GCN3_LANES; l++)
		row[l] = (row[l] & ~lanes[l]) | (value & lanes[l]);
}

#endif
