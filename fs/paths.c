/* paths.c - see paths.h. */
#include "fs/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/bytes.h"
#include "device/err.h"

#define VBIOS ",vbios=" /* of the virtual card; the path ends at the next comma */

/* path_in - where the path begins in a card of these kinds (rx580.h, struct rx_options). Return:
 * the end of @card: there is none. */
static size_t path_in(const char *card)
{
	static const char *const kinds[] = {"sg:", "replay:", "usbip:unix:"};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strncmp(card, kinds[i], strlen(kinds[i])))
			return strlen(kinds[i]);
	const char *word = strncmp(card, "virtual,", 8) ? NULL : strstr(card, VBIOS);

	return word ? (size_t)(word - card) + strlen(VBIOS) : strlen(card);
}

/* pin - the path that begins at @at of *@text. */
static int pin(const char **text, size_t at, const char *folder)
{
	char *whole;

	if (!*text || !(*text)[at] || (*text)[at] == '/')
		return 0;
	if (asprintf(&whole, "%.*s%s/%s", (int)at, *text, folder, *text + at) < 0)
		return -ENOMEM;
	*text = whole;
	return 0;
}

/* pin_tmpdir - $RX580 and what a compiler is told lie in it; both may go elsewhere. */
static int pin_tmpdir(const char *folder)
{
	const char *tmp = getenv("TMPDIR"), *whole = tmp;
	int err = pin(&whole, 0, folder);

	if (err || whole == tmp)
		return err;
	if (setenv("TMPDIR", whole, 1) != 0)
		err = -ENOMEM;
	free((char *)whole);
	return err;
}

int paths_make_absolute(struct options *o)
{
	RX_CLEANUP(free) char *folder = getcwd(NULL, 0);

	if (!folder)
		return rx_fail("fs", -errno, "the current folder: %s", strerror(errno));
	int err = pin_tmpdir(folder);

	if (err || o->foreground || o->run)
		return err; /* it stays here */
	err = pin(&o->vbios, 0, folder);
	if (!err)
		err = pin(&o->firmware, 0, folder);
	return err ? err : pin(&o->card, path_in(o->card), folder);
}
