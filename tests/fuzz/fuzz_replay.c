/* fuzz_replay.c - libFuzzer entry: an arbitrary trace. It is read as it is, and once more with a
 * correct last line put to it, so that the commands behind the checksum are reached too. Then it is
 * played: each command of it may be asked for, and some that are not in it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/log.h"
#include "device/scsi/scsi.h"
#include "device/scsi/trace.h"

#define LARGEST_INPUT (1u << 20)
#define LARGEST_DATA  (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void play(struct scsi *s, const uint8_t *cdb, size_t n, enum scsi_dir dir, uint32_t len)
{
	static uint8_t buf[LARGEST_DATA];
	struct scsi_sense sense;
	int got = scsi_exec(s, cdb, n, dir, buf, len, 0, &sense);

	if (got > (int)len || (got == -EIO && sense.key > 15))
		abort();
}

/* ask - what one line of the trace asks for, as far as it can be read. */
static void ask(struct scsi *s, const char *line)
{
	unsigned len = 0, byte;
	char hex[33], dir[8];
	uint8_t cdb[16];
	size_t n = 0;

	if (sscanf(line, "cmd %32[0-9a-f] %7s %u", hex, dir, &len) != 3 || len > LARGEST_DATA)
		return;
	while (n < 16 && sscanf(hex + 2 * n, "%2x", &byte) == 1)
		cdb[n++] = (uint8_t)byte;
	play(s, cdb, n,
	        !strcmp(dir, "in")    ? SCSI_IN
	        : !strcmp(dir, "out") ? SCSI_OUT
	                              : SCSI_NONE,
	        len);
}

static void use(char *text, size_t len)
{
	struct scsi *s;
	char *save = NULL;

	if (scsi_replay_text(&s, "fuzz", text, len))
		return;
	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		ask(s, l);
	play(s, (const uint8_t[6]){0}, 6, SCSI_NONE, 0);
	scsi_free(s);
}

static unsigned count_commands(const char *text)
{
	unsigned n = 0;

	for (const char *p = strstr(text, "\ncmd "); p; p = strstr(p + 1, "\ncmd "))
		n++;
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = size <= LARGEST_INPUT ? malloc(size + 64) : NULL;

	if (!text)
		return 0;
	rx_log_set_stderr(false);
	memcpy(text, data, size);
	use(text, size);
	memcpy(text, data, size);
	text[size] = '\0';
	char *end = strstr(text, "\nend ");
	size_t before = end ? (size_t)(end - text) + 1 : size;

	text[before] = '\0';
	int n = snprintf(text + before, size + 64 - before, "end %u %016llx\n",
	        count_commands(text), (unsigned long long)trace_fnv(TRACE_FNV_START, text, before));

	if (before + (size_t)n < size + 64)
		use(text, before + (size_t)n);
	free(text);
	return 0;
}
