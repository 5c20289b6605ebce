/* foreign.h - what others made and the tests judge by: VBIOS images (NAME.rom) and traces of the
 * stock driver. They are no part of the project. RX_VBIOS_DIR and RX_TRACES_DIR name their folders,
 * by default shared/vbios and shared/traces beside the project; a test without them is skipped.
 */
#ifndef TESTS_FOREIGN_H
#define TESTS_FOREIGN_H

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

static inline const char *traces_folder(void)
{
	return foreign_folder("RX_TRACES_DIR", RX_SOURCE_DIR "/../shared/traces");
}

#endif
