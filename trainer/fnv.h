/* fnv.h - FNV-1a, 64 bit (Fowler, Noll, Vo; offset basis and prime of the 64-bit variant): notices
 * damage and other data, no protection against intent. */
#ifndef TRAINER_FNV_H
#define TRAINER_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV1A_START 14695981039346656037ull

static inline uint64_t fnv1a(uint64_t h, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 1099511628211ull;
	return h;
}

#endif
