/* foreign.h - what others made and the tests judge by: VBIOS images (NAME.rom) and traces of the
 * stock driver. They are no part of the project. RX_VBIOS_DIR and RX_TRACES_DIR name their folders,
 * by default shared/vbios and shared/traces beside the project; a test without them is skipped.
 */
#ifndef TESTS_FOREIGN_H
#define TESTS_FOREIGN_H

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline const char *foreign_folder(const char *variable, const char *usual)
{
	const char *folder = getenv(variable);

	return folder ? folder : usual;
}

static inline const char *vbios_folder(void)
{
	return foreign_folder("RX_VBIOS_DIR", RX_SOURCE_DIR "/../shared/vbios");
}

/* vbios_images - their paths, for globfree(). Return: false, said: there are none. */
static inline bool vbios_images(glob_t *found)
{
	char pattern[4096];

	snprintf(pattern, sizeof(pattern), "%s/*.rom", vbios_folder());
	if (!glob(pattern, 0, NULL, found))
		return true;
	fprintf(stderr, "SKIPPED: no VBIOS image %s (set RX_VBIOS_DIR)\n", pattern);
	return false;
}

static inline const char *traces_folder(void)
{
	return foreign_folder("RX_TRACES_DIR", RX_SOURCE_DIR "/../shared/traces");
}

#endif
