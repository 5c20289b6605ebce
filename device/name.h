/* name.h - the one rule for names of buffers, kernels, plans and checkpoints. */
#ifndef RX_NAME_H
#define RX_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define RX_NAME_MAX 64 /* characters */

/* rx_name_ok - 1..64 of [A-Za-z0-9._-], not starting with a dot. @name: @len bytes, no NUL needed.
 */
static inline bool rx_name_ok(const char *name, size_t len)
{
	if (len < 1 || len > RX_NAME_MAX || name[0] == '.')
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = name[i];

		if (!(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
		        c != '.' && c != '_' && c != '-')
			return false;
	}
	return true;
}

#endif
