/* The node table: what is built from it, and that docs/interface.md says the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/fs.h"
#include "fs/options.h"

static struct options opt = {
        .card = "virtual", .uid = 12, .gid = 34, .umask = 022, .sample_ms = 1000};

static int setup(void **state)
{
	struct fs *fs = calloc(1, sizeof(*fs));

	*state = fs;
	return fs_init(fs, &opt);
}

static int teardown(void **state)
{
	fs_fini(*state);
	free(*state);
	return 0;
}

static const char *size_word(const struct node_type *t)
{
	switch (t->size) {
	case S_TEXT: return "=";
	case S_EXACT: return "exact";
	case S_GROWS: return "grows";
	case S_ZERO: return "0";
	case S_NONE: break;
	}
	return "";
}

static const char *poll_word(const struct node_type *t)
{
	switch (t->poll) {
	case P_READY: return "ready";
	case P_PRI: return "PRI";
	case P_GROWS: return "IN when longer than read";
	case P_OWN: return t->mode & 0444 ? "IN line or end; OUT room" : "OUT when a slot is free";
	case P_NONE: break;
	}
	return "";
}

static void table_row(const struct node_type *t, char *out, size_t size)
{
	snprintf(out, size, "| `%s`%s | %04o | %s | %s | %s |", t->path,
	        t->flags & N_DAEMON ? " \u25c7" : "", (unsigned)t->mode, size_word(t), poll_word(t),
	        t->help);
}

static char *read_doc(void)
{
	FILE *f = fopen(RX_SOURCE_DIR "/docs/interface.md", "r");
	char *text = calloc(1, 1 << 20);

	assert_non_null(f);
	assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	return text;
}

static void the_document_has_every_row_of_the_table(void **state)
{
	char *doc = read_doc(), row[512];
	unsigned missing = 0;

	(void)state;
	for (unsigned id = NODE_ROOT + 1; id < NODE_COUNT; id++) {
		table_row(&node_types[id], row, sizeof(row));
		if (!strstr(doc, row)) {
			print_error("expected in docs/interface.md: %s\n", row);
			missing++;
		}
	}
	free(doc);
	assert_int_equal(missing, 0);
}

static void the_document_names_no_node_that_is_not_there(void **state)
{
	char *doc = read_doc();
	unsigned rows = 0;

	(void)state;
	/* rows of the node table start with a code word and end in five columns */
	for (char *at = strstr(doc, "\n| `"); at; at = strstr(at + 1, "\n| `")) {
		char *end = strchr(at + 1, '\n');
		unsigned bars = 0;

		for (char *c = at; c < end; c++)
			bars += *c == '|';
		rows += bars == 6;
	}
	free(doc);
	assert_int_equal(rows, NODE_COUNT - 1);
}

static struct node *walk(struct fs *fs, const char *path)
{
	char copy[128], *save = NULL;
	struct node *n = fs->root;

	strcpy(copy, path);
	for (char *w = strtok_r(copy, "/", &save); w && n; w = strtok_r(NULL, "/", &save))
		n = tree_find(n, w);
	return n;
}

static void static_nodes_exist_with_mode_owner_and_umask(void **state)
{
	struct fs *fs = *state;
	struct stat st;

	for (unsigned id = NODE_ROOT + 1; id < NODE_COUNT; id++) {
		const struct node_type *t = &node_types[id];

		if (t->flags & N_DYNAMIC)
			continue;
		struct node *n = walk(fs, t->path);

		if (!n)
			fail_msg("expected node %s", t->path);
		assert_ptr_equal(n->type, t);
		tree_stat(fs, n, &st);
		assert_int_equal(st.st_uid, 12);
		assert_int_equal(st.st_gid, 34);
		if (t->kind != K_LINK)
			assert_int_equal(st.st_mode & 0777, t->mode & ~022u);
	}
}

static void registers_are_found_under_block_and_name(void **state)
{
	struct stat st;
	struct node *n = walk(*state, "regs.d/name/gfx/mmGRBM_STATUS");

	assert_non_null(n);
	tree_stat(*state, n, &st);
	assert_int_equal(st.st_size, 11);
	assert_non_null(walk(*state, "regs.d/name/oss/mmSRBM_STATUS"));
	assert_non_null(walk(*state, "regs.d/name/bif/mmCONFIG_MEMSIZE"));
	assert_null(walk(*state, "regs.d/name/gfx/mmCONFIG_MEMSIZE"));
}

static void a_removed_node_lives_as_long_as_the_kernel_knows_it(void **state)
{
	struct fs *fs = *state;
	struct node *n = tree_add(fs, fs->buffers_dir, "b", NODE_BUFFER);

	n->nlookup = 2;
	n->refs += 2;
	tree_unlink(fs, n);
	assert_null(tree_find(fs->buffers_dir, "b"));
	assert_false(n->linked);
	assert_int_equal(n->refs, 2);
	node_forget(fs, n, 1);
	assert_int_equal(n->refs, 1);
	node_forget(fs, n, 1); /* frees it: the sanitizer would tell if not */
}

static void text_size_is_the_length_of_the_text(void **state)
{
	struct fs *fs = *state;
	struct node *n = walk(fs, "hwmon/name");
	struct text t = {0};

	assert_int_equal(tree_size(fs, n), strlen("amdgpu\n"));
	n = walk(fs, "README");
	n->type->ops->text(fs, n, &t);
	assert_int_equal(tree_size(fs, n), t.len);
	assert_non_null(strstr(t.data, "hardware: unverified"));
	text_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(
	                the_document_has_every_row_of_the_table, setup, teardown),
	        cmocka_unit_test(the_document_names_no_node_that_is_not_there),
	        cmocka_unit_test_setup_teardown(
	                static_nodes_exist_with_mode_owner_and_umask, setup, teardown),
	        cmocka_unit_test_setup_teardown(
	                registers_are_found_under_block_and_name, setup, teardown),
	        cmocka_unit_test_setup_teardown(
	                a_removed_node_lives_as_long_as_the_kernel_knows_it, setup, teardown),
	        cmocka_unit_test_setup_teardown(
	                text_size_is_the_length_of_the_text, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
