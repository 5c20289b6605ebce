/* abilities.c - see abilities.h. { "format": FORMAT, "boards": { KEY: { "alias_write": true, ... }
 * } }
 */
#include "device/core/abilities.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "device/err.h"

#define FORMAT       "rx580fs-abilities-1"
#define MAX_BURST    31      /* bridge.md 2.11 */
#define MAX_TRANSFER 0x40000 /* bridge.md 2.6 */

struct path {
	char text[4096];
};

/* state_path - the file; folders are made when @make. Return: 0; -ENOENT no home; -errno. */
static int state_path(struct path *p, bool make)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n;

	if (state && *state == '/') /* XDG Base Directory: a relative path is to be ignored */
		n = snprintf(p->text, sizeof(p->text), "%s/rx580fs/abilities.json", state);
	else if (home && *home == '/')
		n = snprintf(
		        p->text, sizeof(p->text), "%s/.local/state/rx580fs/abilities.json", home);
	else
		return -ENOENT;
	if (n < 0 || (size_t)n >= sizeof(p->text))
		return -ENAMETOOLONG;
	for (char *s = make ? strchr(p->text + 1, '/') : NULL; s; s = strchr(s + 1, '/')) {
		*s = '\0';
		int err = mkdir(p->text, 0700) && errno != EEXIST ? -errno : 0;

		*s = '/';
		if (err)
			return err;
	}
	return 0;
}

static void board_key(char *out, size_t size, const struct abilities_board *b)
{
	snprintf(out, size, "%04x:%04x:%04x %s %s %04x:%04x", b->vid, b->pid, b->bcd_device,
	        b->family, b->firmware, b->card_id & 0xFFFF, b->card_id >> 16);
}

/* read_boards - the "boards" object, a reference of its own. Return: NULL when there is no usable
 * file; *err says whether that is worth a word. */
static json_t *read_boards(const char *path, int *err)
{
	json_error_t why;
	json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &why), *boards;

	*err = 0;
	if (!root && access(path, F_OK)) {
		*err = -ENOENT;
		return NULL;
	}
	const char *format = json_string_value(json_object_get(root, "format"));

	boards = json_object_get(root, "boards");
	if (!format || strcmp(format, FORMAT) != 0 || !json_is_object(boards)) {
		*err = rx_fail("card", -EINVAL, "\"%s\" is not a file of abilities: ignored", path);
		boards = NULL;
	}
	json_incref(boards);
	json_decref(root);
	return boards;
}

/* number - 1 to @max; anything else proves nothing: 0. */
static unsigned number(const json_t *board, const char *key, json_int_t max)
{
	json_int_t value = json_integer_value(json_object_get(board, key));

	return value >= 1 && value <= max ? (unsigned)value : 0;
}

int abilities_load(const struct abilities_board *b, struct abilities *out)
{
	struct path path;
	char key[128];
	int err = state_path(&path, false);

	*out = (struct abilities){0};
	if (err)
		return err;
	json_t *boards = read_boards(path.text, &err);

	board_key(key, sizeof(key), b);
	const json_t *board = json_object_get(boards, key);

	/* only the word true proves anything */
	out->alias_write = json_is_true(json_object_get(board, "alias_write"));
	out->sram = json_is_true(json_object_get(board, "sram"));
	out->function_1 = json_is_true(json_object_get(board, "function_1"));
	out->wide = json_is_true(json_object_get(board, "wide"));
	out->engine_burst = number(board, "engine_burst", MAX_BURST);
	out->max_transfer = number(board, "max_transfer", MAX_TRANSFER);
	if (!err && !board)
		err = -ENOENT;
	json_decref(boards);
	return err;
}

/* write_whole - into a file beside @path, then in its place. */
static int write_whole(const char *path, const char *text)
{
	char temporary[4096 + 8];
	size_t len = strlen(text);

	snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
	RX_CLEANUP(close) int fd = mkostemp(temporary, O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, text, len) == (ssize_t)len && !fsync(fd) && !rename(temporary, path))
		return 0;
	int err = errno ? -errno : -EIO;

	unlink(temporary);
	return err;
}

int abilities_store(const struct abilities_board *b, const struct abilities *a)
{
	struct path path;
	char key[128];
	int err = state_path(&path, true), unused;

	if (err)
		return rx_fail("card", err, "no folder to remember the probe's result in: %s",
		        strerror(-err));
	json_t *boards = read_boards(path.text, &unused);

	board_key(key, sizeof(key), b);
	if (!boards)
		boards = json_object();
	json_object_set_new(boards, key,
	        json_pack("{s:b, s:b, s:b, s:b, s:i, s:i}", "alias_write", a->alias_write, "sram",
	                a->sram, "function_1", a->function_1, "wide", a->wide, "engine_burst",
	                (int)a->engine_burst, "max_transfer", (int)a->max_transfer));
	json_t *root = json_pack("{s:s, s:o}", "format", FORMAT, "boards", boards);
	RX_CLEANUP(free) char *text = json_dumps(root, JSON_INDENT(2) | JSON_SORT_KEYS);

	json_decref(root);
	err = text ? write_whole(path.text, text) : -ENOMEM;
	return err ? rx_fail("card", err, "cannot write \"%s\": %s", path.text, strerror(-err)) : 0;
}
