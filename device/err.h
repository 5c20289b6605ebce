/* err.h - error convention: every function returns 0 (or a count >= 0) or -errno.
 * The layer that detects a failure says it once, with rx_fail(); upper layers pass the number on.
 */
#ifndef RX_ERR_H
#define RX_ERR_H

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/log.h"

/* rx_fail - log one error line and return the code: return rx_fail("smu", -ETIMEDOUT, "...", ...);
 */
#define rx_fail(module, code, ...) (rx_log(LOG_ERROR, module, __VA_ARGS__), (code))

static inline void rx_cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void rx_cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* RX_CLEANUP(free) char *p = ...; is released when the variable leaves its scope. */
#define RX_CLEANUP(kind) __attribute__((cleanup(rx_cleanup_##kind)))

#endif
