/* helper_images.h - real VBIOS images for the tests, which are not part of the project: every
 * NAME.rom of the folder foreign.h names.
 */
#ifndef HELPER_IMAGES_H
#define HELPER_IMAGES_H

#include <stddef.h>
#include <stdint.h>

struct image {
	char name[128]; /* without .rom */
	uint8_t *data;
	size_t size;
};

/* images_load - at most @max of them, in order of name; says aloud when there is none.
 * Return: how many. images_free() releases them.
 */
size_t images_load(struct image *images, size_t max);
void images_free(struct image *images, size_t n);

#endif
