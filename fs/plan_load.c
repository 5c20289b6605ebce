/* plan_load.c - see plan_load.h. */
#include "fs/plan_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "fs/blob.h"
#include "fs/keep_large.h"
#include "fs/nodes.h"
#include "fs/park.h"

struct plan_loading {
	struct plan_loading *next; /* fs->loading */
	uint64_t id;               /* wait_for of its request */
	bool driven;               /* since the last sweep */
	char name[65];
	struct plan *plan;
	char *json;
	size_t len;
	enum { NOTE_NONE, NOTE_BEGUN, NOTE_FAILED } note;
	struct rx_keeping keeping; /* of the text, for the next owner of the card */
};

/* Of the piece that is under way nothing is told yet, so only whole ones are taken back. */
static void drop(struct fs *fs, struct plan_loading *l)
{
	for (struct plan_loading **at = &fs->loading; *at; at = &(*at)->next)
		if (*at == l) {
			*at = l->next;
			break;
		}
	plan_unload(l->plan);
	if (l->note == NOTE_BEGUN)
		rx_keep_cancel(fs->rx, &l->keeping);
	free(l->json);
	free(l);
}

static struct plan_loading *find(struct fs *fs, uint64_t id)
{
	struct plan_loading *l = fs->loading;

	while (l && l->id != id)
		l = l->next;
	return l;
}

void plan_loads_sweep(struct fs *fs)
{
	for (struct plan_loading *l = fs->loading, *next; l; l = next) {
		next = l->next;
		if (!l->driven) {
			rx_log(LOG_INFO, "fs", "plans/%s.json: loading it was given up", l->name);
			drop(fs, l);
		} else {
			l->driven = false;
		}
	}
}

void plan_loads_drop(struct fs *fs)
{
	while (fs->loading)
		drop(fs, fs->loading);
}

static bool is_loading(struct fs *fs, const char *name)
{
	for (struct plan_loading *l = fs->loading; l; l = l->next)
		if (!strcmp(l->name, name))
			return true;
	return false;
}

/* Whether a plan of this name may be loaded now. */
static int check_name(struct fs *fs, const char *name)
{
	struct plan_file *old = plan_file_find(fs, name);

	if (old && plan_file_running(old))
		return rx_fail(
		        "fs", -EBUSY, "plan %s is running; write stop to its run file first", name);
	return fs->rx ? 0 : -ENODEV;
}

/* Check and encode; nothing is sent yet. */
static int begin(struct fs *fs, struct node *n, const char *name, struct plan_loading **out)
{
	static uint64_t last_id;
	char why[512] = "";
	struct plan_loading *l;

	if (is_loading(fs, name))
		return rx_fail("fs", -EBUSY, "plan %s is being loaded already", name);
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	snprintf(l->name, sizeof(l->name), "%s", name);
	l->json = blob_copy(fs, n, &l->len);
	l->id = ++last_id;
	buffers_trim(fs);
	int err = l->json ? plan_load_begin(&l->plan, fs->rx, fs->kernels, name, l->json, l->len,
	                            why, sizeof(why))
	                  : -ENOMEM;

	if (err) {
		if (l->json)
			plan_file_failed(fs, name, why[0] ? why : strerror(-err));
		free(l->json);
		free(l);
		return err;
	}
	l->next = fs->loading;
	fs->loading = *out = l;
	return 0;
}

/* The next piece of the text for the next owner of the card; a long one is sent later (keep_large).
 * Return: 1 there is more; 0 all is there, or cannot be kept, which was said. */
static int send_note(struct fs *fs, struct plan_loading *l)
{
	struct rx_info info;
	int err = 0;

	if (keep_is_large(fs, l->len) || l->note == NOTE_FAILED)
		return 0;
	if (l->note == NOTE_NONE) {
		err = rx_keep_begin(fs->rx, &l->keeping, l->name, l->len);
		l->note = err ? NOTE_FAILED : NOTE_BEGUN;
		return err ? 0 : 1;
	}
	if (l->keeping.done == l->len)
		return 0;
	rx_read_info(fs->rx, &info);
	size_t n = MIN(l->len - l->keeping.done, rx_piece(&info));

	err = rx_keep_more(fs->rx, &l->keeping, l->json + l->keeping.done, n);
	if (!err)
		return 1;
	rx_keep_cancel(fs->rx, &l->keeping);
	l->note = NOTE_FAILED;
	return 0;
}

static int add_packets(struct fs *fs, struct plan_file *f)
{
	RX_CLEANUP(free) uint32_t *dw = NULL;
	RX_CLEANUP(free) char *text = NULL;
	size_t count = 0;
	int err = plan_pm4(f->plan, &dw, &count);

	if (!err)
		err = plan_pm4_text(f->plan, &text);
	if (err)
		return err;
	for (size_t i = 0; i < count; i++)
		put_le32(&dw[i], dw[i]);
	fs_lock(fs);
	bool ok = blob_add(fs, f->dir, "pm4.bin", NODE_PLAN_PM4_BIN, dw, count * 4) &&
	          blob_add(fs, f->dir, "pm4.txt", NODE_PLAN_PM4_TXT, text, strlen(text));
	fs_unlock(fs);
	return ok ? 0 : -ENOMEM;
}

/* The plan is resident: show it in place of the one that was there. Takes @plan, and what is kept
 * already (@sent; NULL: nothing). */
static int install(struct fs *fs, const char *name, struct plan *plan, const char *json, size_t len,
        struct rx_keeping *sent)
{
	struct plan_file *old = plan_file_find(fs, name);
	int err = old ? plan_file_unload(fs, old) : 0;
	struct plan_file *f = err ? NULL : plan_file_new(fs, name);

	if (f) {
		err = plan_file_show(fs, f, plan);
		if (!err)
			err = add_packets(fs, f);
		plan_file_keep(fs, f, json, len, sent);
		return err;
	}
	plan_unload(plan);
	if (sent)
		rx_keep_cancel(fs->rx, sent);
	return err ? err : -ENOMEM;
}

/* All is on the card. From here on nobody is told that it failed because it took too long. */
static int finish(struct request *r, struct plan_loading *l, int (*check)(struct request *r))
{
	int err = check_name(r->fs, l->name);

	if (!err)
		err = check(r);
	if (!err && !park_commit(r->fs->park, r))
		err = -ECANCELED;
	if (!err) {
		err = install(r->fs, l->name, l->plan, l->json, l->len,
		        l->note == NOTE_BEGUN ? &l->keeping : NULL);
		l->plan = NULL;
		l->note = NOTE_NONE;
	}
	drop(r->fs, l);
	return err;
}

static int go_on(struct request *r, struct plan_loading *l, int (*check)(struct request *r))
{
	char why[128];

	l->driven = true;
	int left = plan_load_more(l->plan);

	if (left == 0)
		left = send_note(r->fs, l);
	if (left > 0)
		return request_again(r);
	if (left == 0)
		return finish(r, l, check);
	snprintf(why, sizeof(why), "cannot be written to VRAM: %s", strerror(-left));
	plan_file_failed(r->fs, l->name, why);
	drop(r->fs, l);
	return left;
}

int plan_load_drive(
        struct request *r, struct node *n, const char *name, int (*check)(struct request *r))
{
	struct plan_loading *l = NULL;

	if (r->wait_for) {
		l = find(r->fs, r->wait_for);
		return l ? go_on(r, l, check) : -ECANCELED; /* the card was closed meanwhile */
	}
	int err = check_name(r->fs, name);

	if (!err)
		err = check(r);
	if (!err)
		err = begin(r->fs, n, name, &l);
	if (err)
		return err;
	l->driven = true;
	r->wait_for = l->id;
	return request_again(r);
}

int plan_load_now(struct fs *fs, const char *name, const char *json, size_t len)
{
	struct plan *plan = NULL;
	char why[512] = "";
	int err = check_name(fs, name);

	if (err)
		return err;
	err = plan_load(&plan, fs->rx, fs->kernels, name, json, len, why, sizeof(why));
	if (err) {
		plan_file_failed(fs, name, why[0] ? why : strerror(-err));
		return err;
	}
	return install(fs, name, plan, json, len, NULL);
}
