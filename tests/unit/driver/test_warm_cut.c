/* test_warm_cut.c - an owner of the card that is killed after any of its commands: what the next
 * one finds was true before or is true now, never half of each. And what a buffer's owner and note
 * live through.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/core/rx580_priv.h"
#include "helper_card.h"
#include "helper_lasting.h"

#define CARD         "posted" /* and running: helper_lasting.c gives it 512 MiB */
#define COMMANDS_MAX 500      /* no change of these takes more */

static const struct rx_owner first = {true, 0640, 1000, 100}, second = {true, 0604, 0, 4294967294u};

static struct rx_buffer *put(struct rx580 *rx, const char *name, const struct rx_owner *owner,
        const char *note, unsigned size)
{
	struct rx_buffer *b;

	assert_int_equal(rx_buffer_create_as(rx, name, owner, &b), 0);
	assert_int_equal(rx_buffer_resize(rx, b, size), 0);
	assert_int_equal(rx_buffer_keep(rx, b, owner, note, strlen(note)), 0);
	return b;
}

/* is - whether @name has this owner and note. */
static bool is(struct rx580 *rx, const char *name, const struct rx_owner *owner, const char *note)
{
	const struct rx_kept *k = rx_kept_find(rx, 'b', name);
	void *bytes = NULL;

	if (!k || !rx_buffer_find(rx, name))
		return false;
	if (k->owner.known != owner->known || k->owner.mode != owner->mode ||
	        k->owner.uid != owner->uid || k->owner.gid != owner->gid)
		return false;
	int err = rx_kept_note(rx, k, &bytes);
	bool same = *note ? !err && !strcmp(bytes, note) : err == -ENODATA;

	free(bytes);
	return same;
}

static void owner_and_note_go_with_the_buffer(void **state)
{
	struct lasting l;

	(void)state;
	lasting_new(&l, CARD);
	struct rx580 *rx = lasting_take(&l, RX_ATTACH_WARM);
	struct rx_buffer *b = put(rx, "a", &first, "of a", 5000), *c = put(rx, "c", &first, "", 10);

	put(rx, "gone", &first, "nobody's", 5000);
	assert_int_equal(rx_buffer_resize(rx, b, 9u << 20), 0); /* to another place */
	assert_int_equal(rx_buffer_rename(rx, b, "gone"), 0);
	assert_int_equal(rx_buffer_keep(rx, c, &second, "of c", 4), 0);
	assert_int_equal(rx_buffer_keep(rx, c, &second, NULL, 0), 0);
	rx_buffer_unkeep(rx, put(rx, "open", &first, "unlinked", 100));
	assert_int_equal(rx_buffer_resize(rx, rx_buffer_find(rx, "open"), 300), 0);
	lasting_die(rx);
	rx = lasting_take(&l, RX_ATTACH_WARM);
	lasting_said(&l, "2 things");
	assert_true(is(rx, "gone", &first, "of a"));
	assert_int_equal(rx_buffer_size(rx_buffer_find(rx, "gone")), 9u << 20);
	assert_true(is(rx, "c", &second, ""));
	assert_null(rx_buffer_find(rx, "open"));
	assert_int_equal(rx_buffer_remove(rx, rx_buffer_find(rx, "gone")), 0);
	assert_int_equal(rx_buffer_remove(rx, rx_buffer_find(rx, "c")), 0);
	struct rx_info info;

	rx_read_info(rx, &info);
	uint64_t used = info.vram_used;

	lasting_die(rx);
	rx = lasting_take(&l, RX_ATTACH_WARM);
	rx_read_info(rx, &info);
	if (info.vram_used > used) /* a note nobody frees would be seen here */
		fail_msg("VRAM used: expected at most %d, got %d", (int)used, (int)info.vram_used);
	assert_int_equal(helper_guest_errors(rx), 0);
	rx_close(rx);
	lasting_free(&l);
}

static void owner_of_other_things_changes_alone(void **state)
{
	const struct rx_kept k = {.kind = 'k', .name = "a.cl", .owner = {true, 0600, 1, 2}};
	const struct rx_kept *found;
	struct lasting l;
	void *bytes = NULL;

	(void)state;
	lasting_new(&l, CARD);
	struct rx580 *rx = lasting_take(&l, RX_ATTACH_WARM);

	assert_int_equal(rx_keep(rx, &k, "text", 4), 0);
	assert_int_equal(rx_keep_owner(rx, 'k', "a.cl", &second), 0);
	assert_int_equal(rx_keep_owner(rx, 'k', "b.cl", &second), 0); /* there is none */
	lasting_die(rx);
	rx = lasting_take(&l, RX_ATTACH_WARM);
	found = rx_kept_find(rx, 'k', "a.cl");
	assert_non_null(found);
	assert_int_equal(found->owner.mode, second.mode);
	assert_int_equal(found->owner.uid, second.uid);
	assert_int_equal(found->owner.gid, second.gid);
	assert_int_equal(rx_kept_note(rx, found, &bytes), 0);
	assert_string_equal(bytes, "text");
	free(bytes);
	assert_null(rx_kept_find(rx, 'k', "b.cl"));
	rx_close(rx);
	lasting_free(&l);
}

#define LARGE (1200u << 10) /* above the window */
#define PIECE (64u << 10)

static int keep_in_pieces(struct rx580 *rx, const uint8_t *bytes, size_t upto)
{
	const struct rx_kept k = {.kind = 'k', .name = "large.co"};
	struct rx_keeping keeping;

	assert_int_equal(rx_keep_begin(rx, &keeping, k.name, LARGE), 0);
	while (keeping.done < upto) {
		size_t n = MIN(PIECE, upto - keeping.done);

		assert_int_equal(rx_keep_more(rx, &keeping, bytes + keeping.done, n), 0);
	}
	if (upto == LARGE)
		return rx_keep_end(rx, &keeping, &k);
	rx_keep_cancel(rx, &keeping);
	return -ECANCELED;
}

static void large_note_comes_in_pieces_and_whole_or_not_at_all(void **state)
{
	uint8_t *bytes = malloc(LARGE);
	struct rx_info before, after;
	struct lasting l;
	void *got = NULL;

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < LARGE; i++)
		bytes[i] = (uint8_t)(i * i >> 7);
	lasting_new(&l, CARD);
	struct rx580 *rx = lasting_take(&l, RX_ATTACH_WARM);

	rx_read_info(rx, &before);
	assert_int_equal(keep_in_pieces(rx, bytes, 3 * PIECE), -ECANCELED);
	rx_read_info(rx, &after);
	assert_int_equal(after.vram_used, before.vram_used);
	lasting_die(rx);
	rx = lasting_take(&l, RX_ATTACH_WARM);
	assert_null(rx_kept_find(rx, 'k', "large.co"));
	assert_int_equal(keep_in_pieces(rx, bytes, LARGE), 0);
	rx_read_info(rx, &after);
	assert_int_equal(after.vram_used, before.vram_used + LARGE);
	lasting_die(rx);
	rx = lasting_take(&l, RX_ATTACH_WARM);
	const struct rx_kept *k = rx_kept_find(rx, 'k', "large.co");

	assert_non_null(k);
	assert_int_equal(rx_kept_note(rx, k, &got), 0);
	assert_memory_equal(got, bytes, LARGE);
	free(got);
	free(bytes);
	rx_close(rx);
	lasting_free(&l);
}

/* ---- killed in the middle ---- */

static void change_owner_and_note(struct rx580 *rx)
{
	rx_buffer_keep(rx, rx_buffer_find(rx, "a"), &second, "new words", 9);
}

static bool owner_and_note_are_new(struct rx580 *rx)
{
	return is(rx, "a", &second, "new words") && is(rx, "b", &first, "of b");
}

static void rename_over(struct rx580 *rx)
{
	rx_buffer_rename(rx, rx_buffer_find(rx, "a"), "b");
}

static bool is_renamed(struct rx580 *rx)
{
	return !rx_buffer_find(rx, "a") && is(rx, "b", &first, "of a");
}

static void move_away(struct rx580 *rx)
{
	rx_buffer_resize(rx, rx_buffer_find(rx, "a"), 300000);
}

static bool is_moved(struct rx580 *rx)
{
	return rx_buffer_size(rx_buffer_find(rx, "a")) == 300000 && is(rx, "a", &first, "of a") &&
	       is(rx, "b", &first, "of b");
}

static void remove_it(struct rx580 *rx)
{
	rx_buffer_remove(rx, rx_buffer_find(rx, "a"));
}

static bool is_removed(struct rx580 *rx)
{
	return !rx_buffer_find(rx, "a") && is(rx, "b", &first, "of b");
}

static bool is_as_before(struct rx580 *rx)
{
	return is(rx, "a", &first, "of a") && is(rx, "b", &first, "of b") &&
	       rx_buffer_size(rx_buffer_find(rx, "a")) == 5000;
}

static const struct change {
	const char *name;
	void (*make)(struct rx580 *rx);
	bool (*is_done)(struct rx580 *rx);
} changes[] = {
        {"owner and note", change_owner_and_note, owner_and_note_are_new},
        {"rename over another", rename_over, is_renamed},
        {"grow to another place", move_away, is_moved},
        {"remove", remove_it, is_removed},
};

/* killed_after - the change is cut off after @commands. Return: whether it was through by then. */
static bool killed_after(const struct change *c, unsigned commands, bool inside)
{
	struct lasting l;

	lasting_new(&l, CARD);
	struct rx580 *rx = lasting_take(&l, RX_ATTACH_WARM);

	put(rx, "a", &first, "of a", 5000);
	put(rx, "b", &first, "of b", 5000);
	l.end_after = l.commands + commands;
	l.end_inside = inside;
	c->make(rx);
	bool through = !l.ended;
	struct rx_info info;

	rx_read_info(rx, &info);
	if (!through)
		assert_int_equal(info.state, RX_GONE);
	lasting_die(rx);
	l.end_after = 0;
	rx = lasting_take(&l, RX_ATTACH_WARM);
	bool before = is_as_before(rx);

	if (before == c->is_done(rx) || (through && before))
		fail_msg("%s, killed after %u commands: expected %s, got neither or both; log:\n%s",
		        c->name, commands, through ? "the new state" : "the old state or the new",
		        l.said);
	rx_close(rx);
	lasting_free(&l);
	return through;
}

static void change_that_is_cut_off_is_done_or_not_begun(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		unsigned n = 1;

		/* each of the first ones, then some */
		for (; !killed_after(&changes[i], n, n % 2); n += 1 + n / 4)
			assert_true(n < COMMANDS_MAX);
		print_message("  %s: %u commands\n", changes[i].name, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(owner_and_note_go_with_the_buffer),
	        cmocka_unit_test(owner_of_other_things_changes_alone),
	        cmocka_unit_test(large_note_comes_in_pieces_and_whole_or_not_at_all),
	        cmocka_unit_test(change_that_is_cut_off_is_done_or_not_begun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
