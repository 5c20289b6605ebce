/* helper_variant.h - VBIOS images of boards that do not exist: one that does, or our synthetic one,
 * with tables moved, cut, replaced or taken away. Offsets: atombios.md 1-3, 10, 11.
 */
#ifndef HELPER_VARIANT_H
#define HELPER_VARIANT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define VARIANT_FLASH 0x80000u /* the largest flash: polaris.md 2.1 */

struct variant {
	uint8_t flash[VARIANT_FLASH];
	size_t bytes;  /* of the file */
	uint32_t free; /* where the next moved or new table ends; tables grow down to it */
	uint32_t used; /* nothing of the image lies from here to free */
};

void variant_synth(struct variant *v);
/* variant_load - a real image; its EFI part is given up for room. Return: false without the file.
 */
bool variant_load(struct variant *v, const char *path);

/* Data tables. variant_table: NULL when absent. */
uint8_t *variant_table(struct variant *v, unsigned index);
void variant_drop(struct variant *v, unsigned index);
/* variant_move - to the image's end, with @more bytes of zeros behind it. Return: the new place. */
uint8_t *variant_move(struct variant *v, unsigned index, unsigned more);
/* variant_new - in place of the old one, zero behind its header. */
uint8_t *variant_new(
        struct variant *v, unsigned index, unsigned major, unsigned minor, unsigned bytes);

/* variant_save - seal the checksum and write the file; @path: 64 bytes, for unlink(). */
void variant_save(struct variant *v, char path[64]);

#endif
