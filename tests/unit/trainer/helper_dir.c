/* helper_dir.c - see helper_dir.h. */
#include "tests/unit/trainer/helper_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *dir_new(void)
{
	char *dir = strdup("/tmp/trainer-test-XXXXXX");

	assert_non_null(dir);
	assert_non_null(mkdtemp(dir));
	return dir;
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

void dir_remove(char *dir)
{
	nftw(dir, drop, 16, FTW_DEPTH | FTW_PHYS);
	free(dir);
}

const char *dir_path(const char *dir, const char *name)
{
	static char paths[4][PATH_MAX];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, PATH_MAX, "%s/%s", dir, name);
	return path;
}

void dir_write(const char *dir, const char *name, const void *data, size_t len)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (char *slash = strchr(path + strlen(dir) + 1, '/'); slash;
	        slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

void dir_text(const char *dir, const char *name, const char *text)
{
	dir_write(dir, name, text, strlen(text));
}
