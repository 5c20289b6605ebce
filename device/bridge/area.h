/* area.h - ranges of a bridge's own addresses, for the lists of what may be touched. */
#ifndef RX_BRIDGE_AREA_H
#define RX_BRIDGE_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/bytes.h"

struct area {
	uint32_t start, end; /* end exclusive */
};

/* area_holds - whether @len bytes at @addr lie inside one of @n areas. */
static inline bool area_holds(const struct area *areas, size_t n, uint32_t addr, uint32_t len)
{
	for (size_t i = 0; i < n; i++)
		if (addr >= areas[i].start &&
		        range_ok(addr - areas[i].start, len, areas[i].end - areas[i].start))
			return true;
	return false;
}

#endif
