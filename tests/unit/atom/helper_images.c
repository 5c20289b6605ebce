#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foreign.h"
#include "helper_images.h"

static void load(const char *path, struct image *im)
{
	FILE *f = fopen(path, "rb");
	const char *base = strrchr(path, '/') + 1;

	if (!f || fseek(f, 0, SEEK_END)) {
		perror(path);
		exit(1);
	}
	im->size = (size_t)ftell(f);
	im->data = malloc(im->size);
	rewind(f);
	if (!im->data || fread(im->data, 1, im->size, f) != im->size) {
		perror(path);
		exit(1);
	}
	fclose(f);
	snprintf(im->name, sizeof(im->name), "%.*s", (int)(strlen(base) - strlen(".rom")), base);
}

size_t images_load(struct image *images, size_t max)
{
	glob_t found;
	size_t n = 0;

	if (!vbios_images(&found))
		return 0;
	for (; n < found.gl_pathc && n < max; n++)
		load(found.gl_pathv[n], &images[n]);
	globfree(&found);
	return n;
}

void images_free(struct image *images, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(images[i].data);
}
