/* plans.c - looking after the plans that are loaded: what they have done, when they want to be
 * looked at, stopping and dropping all of them. Owner thread.
 */
#include <inttypes.h>
#include <stdio.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"
#include "fs/keep_large.h"
#include "fs/nodes.h"
#include "fs/plan_load.h"
#include "fs/plans.h"

#define STOP_LOOK_MS 2u

static void append_losses(struct plan_file *f, const struct plan_record *rec, size_t n)
{
	char line[64];

	for (size_t i = 0; i < n; i++) {
		int len = snprintf(line, sizeof(line), "%" PRIu64 "\t%.9g\n", rec[i].step,
		        (double)rec[i].loss);

		growing_append(&f->loss, line, (size_t)len);
	}
}

void plan_file_collect(struct fs *fs, struct plan_file *f)
{
	struct plan_record rec[64];
	size_t n;

	while (f->plan && (n = plan_losses(f->plan, f->records, rec, ARRAY_SIZE(rec))) > 0) {
		append_losses(f, rec, n);
		f->records += n;
		f->last_failed = rec[n - 1].status != 0;
	}
	plan_run_update(fs, f);
}

void plan_file_service(struct fs *fs, struct plan_file *f)
{
	f->busy++;
	int ms = plan_service(f->plan);
	f->busy--;
	f->service_err = MIN(ms, 0);
	f->next_service_ns = deadline_in_ms(ms < 0 ? 1000 : (uint64_t)ms);
	plan_file_collect(fs, f);
}

unsigned plans_tick(struct fs *fs)
{
	uint64_t soonest = deadline_in_ms(1000);

	for (struct plan_file *f = fs->plans; f; f = f->next) {
		if (!f->plan || fs_card_gone(fs))
			continue;
		if (deadline_passed(f->next_service_ns))
			plan_file_service(fs, f);
		else
			plan_run_update(fs, f);
		soonest = MIN(soonest, f->next_service_ns);
	}
	uint64_t now = now_ns();

	return soonest <= now ? 1 : (unsigned)((soonest - now) / 1000000u + 1);
}

bool plans_loaded(struct fs *fs)
{
	for (struct plan_file *f = fs->plans; f; f = f->next)
		if (f->plan)
			return true;
	return fs->loading != NULL;
}

void plans_drop(struct fs *fs)
{
	plan_loads_drop(fs);
	while (fs->plans) {
		struct plan_file *f = fs->plans;

		if (f->plan) {
			plan_clear(f->plan);
			plan_unload(f->plan);
		}
		plan_file_remove(fs, f);
	}
}

/* Return: milliseconds until the next look; 0: every plan stands, or cannot be asked. */
static unsigned stop_all(struct fs *fs)
{
	unsigned ms = 0;

	for (struct plan_file *f = fs->plans; f; f = f->next) {
		if (!f->plan || f->service_err || plan_stop(f->plan) != -EINPROGRESS)
			continue;
		plan_file_service(fs, f);
		ms = STOP_LOOK_MS;
	}
	return ms;
}

void plans_stop(struct fs *fs)
{
	uint64_t until = deadline_in_ms(PLAN_BOUNDARY_MS);
	unsigned ms;

	while ((ms = stop_all(fs)) != 0 && !deadline_passed(until))
		sleep_us(ms * 1000u);
}

/* ---- the next owner of the card ---- */

/* The next owner of the card finds it with its text: the one it has, if we found it ourselves. A
 * long text is left to keep_named. */
void plan_file_keep(
        struct fs *fs, struct plan_file *f, const char *json, size_t len, struct rx_keeping *sent)
{
	const struct rx_kept *before = rx_kept_find(fs->rx, 'p', f->name);
	struct rx_kept k;
	int err = 0;

	plan_kept(f->plan, &k);
	if (before)
		k.owner = before->owner;
	f->busy++;
	if (before && before->found)
		err = rx_keep_again(fs->rx, &k);
	else if (sent)
		err = rx_keep_end(fs->rx, sent, &k);
	else if (!keep_is_large(fs, len))
		err = rx_keep(fs->rx, &k, json, len);
	f->busy--;
	fs_count_kept(fs, err);
}
