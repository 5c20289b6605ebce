/* replay.c - main() for a fuzzer without libFuzzer: runs every file of the folders given once.
 * Exit 77 (skip) when there was none.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LARGEST_INPUT (1u << 20)

static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(LARGEST_INPUT);

	if (!f || !data) {
		perror(path);
		exit(1);
	}
	size_t size = fread(data, 1, LARGEST_INPUT, f);
	/* an exact allocation, so that AddressSanitizer sees an overread of one byte */
	uint8_t *exact = realloc(data, size ? size : 1);

	fclose(f);
	fprintf(stderr, "%s: %zu bytes\n", path, size);
	LLVMFuzzerTestOneInput(exact ? exact : data, size);
	free(exact ? exact : data);
	return 1;
}

static int run_folder(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	char path[4096];
	int n = 0;

	if (!d) {
		perror(folder);
		return 0;
	}
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		n += run_file(path);
	}
	closedir(d);
	return n;
}

int main(int argc, char **argv)
{
	int n = 0;

	for (int i = 1; i < argc; i++)
		n += run_folder(argv[i]);
	printf("%d inputs\n", n);
	return n ? 0 : 77;
}
