/* abilities.h - what a probe has proven about a kind of board with a certain firmware, kept in
 * $XDG_STATE_HOME/rx580fs/abilities.json (~/.local/state when unset). Only boards that exist are
 * kept there; the driver relies on nothing that is not in it.
 */
#ifndef RX_ABILITIES_H
#define RX_ABILITIES_H

#include <stdbool.h>
#include <stdint.h>

struct abilities {
	bool alias_write; /* dword writes whose stray store meets SRAM: bridge.md 2.10 */
	bool sram;        /* the bridge's data SRAM can be written and read back: bridge.md 2.17 */
	bool function_1;  /* the raw engine reaches function 1: bridge.md 2.11 */
	bool wide;        /* the raw engine reaches addresses above 4 GiB: bridge.md 2.11 */
	unsigned engine_burst; /* dwords it puts into one TLP, by byte stores; 0: rtl921x_use_burst
	                        */
	unsigned max_transfer; /* bytes one command may move; 0 unknown: bridge.md 2.6 */
};

/* Which board: anything different is another one, of which nothing is known. */
struct abilities_board {
	uint16_t vid, pid, bcd_device;
	const char *family, *firmware;
	uint32_t card_id; /* configuration dword 0 */
};

/* abilities_load - Return: 0; -ENOENT nothing is known of this board; -EINVAL the file is damaged
 * (logged), which counts as nothing; @out is all false then. */
int abilities_load(const struct abilities_board *b, struct abilities *out);
/* abilities_store - replaces what was known of this board, whole or not at all; makes folders.
 * Return: 0; -errno (logged). */
int abilities_store(const struct abilities_board *b, const struct abilities *a);

#endif
