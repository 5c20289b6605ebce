/* abilities.c - see abilities.h. { "format": FORMAT, "boards": { KEY: { "alias_write": true, ... }
 * } }
 */
#include "device/core/abilities.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/core/files.h"
#include "device/err.h"

#define FILE_NAME    "abilities.json"
#define FORMAT       "rx580fs-abilities-1"
#define MAX_BURST    31           /* bridge.md 2.11 */
#define MAX_TRANSFER 0x40000      /* bridge.md 2.6 */
#define MAX_BYTES    (256u << 10) /* of the file: hundreds of boards */

static void board_key(char *out, size_t size, const struct abilities_board *b)
{
	snprintf(out, size, "%04x:%04x:%04x %s %s %04x:%04x", b->vid, b->pid, b->bcd_device,
	        b->family, b->firmware, b->card_id & 0xFFFF, b->card_id >> 16);
}

/* read_json - NULL: not there, no file, or no JSON. */
static json_t *read_json(const char *path)
{
	RX_CLEANUP(free) char *text = malloc(MAX_BYTES);
	int n = text ? rx_read_whole(path, text, MAX_BYTES) : -ENOMEM;

	return n < 0 ? NULL : json_loadb(text, (size_t)n, JSON_REJECT_DUPLICATES, NULL);
}

/* read_boards - the "boards" object, a reference of its own. Return: NULL when there is no usable
 * file; *err says whether that is worth a word. */
static json_t *read_boards(const char *path, int *err)
{
	json_t *root = read_json(path), *boards;

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
	struct rx_path path;
	char key[128];
	int err = rx_user_file(&path, RX_STATE, FILE_NAME, false);

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

int abilities_store(const struct abilities_board *b, const struct abilities *a)
{
	struct rx_path path;
	char key[128];
	int err = rx_user_file(&path, RX_STATE, FILE_NAME, true), unused;

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
	err = text ? rx_write_whole(path.text, text, strlen(text)) : -ENOMEM;
	return err ? rx_fail("card", err, "cannot write \"%s\": %s", path.text, strerror(-err)) : 0;
}
